//! The C of docs/integration.md: it compiles without a warning against the emitted header, and what
//! it does to the registers brings up a simulated array and serves its interrupt.

// Of the grid only the array of these tests.
#[allow(dead_code)]
mod grid;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use grid::{build_brief, seen_by_host};
use hermes_rtl::config::Config;
use hermes_rtl::host::registers::registers_of;
use hermes_testbench::cosim::{host_interrupt, Device, Host, Latency, MemoryOptions, Simulation};

/// The pieces of the page that use registers, and the functions that they become here, in the order
/// of the page.
const FUNCTIONS: [&str; 3] = [
    "static void bring_up(uint32_t ring, uint32_t verdicts, uint32_t entry, uint32_t rv32e, uint32_t argument, \
     uint32_t stacks)",
    "static void watch(uint32_t pushed)",
    "static void handler(void)",
];

/// Around the pieces. In C `reg` is an access to memory, as on the host of a user. In C++ it is an
/// object that writes the access to standard output and takes the answer from standard input, so
/// that the same text drives the array.
const FRAME: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hermes_top_registers.h"

#ifdef __cplusplus
struct Register {
    uint32_t offset;
    void operator=(uint32_t value) const {
        printf("write %u %u\n", offset, value);
        answer();
    }
    operator uint32_t() const {
        printf("read %u\n", offset);
        return answer();
    }
    static uint32_t answer() {
        unsigned value = 0;
        fflush(stdout);
        if (scanf("%u", &value) != 1)
            exit(2);
        return value;
    }
};
static Register reg(uint32_t offset) { return Register{offset}; }
#else
static volatile uint32_t *base;
#define reg(offset) base[(offset) / 4]
#endif

static uint32_t done;

FUNCTIONS

int main(int count, char **text) {
    uint32_t a[6] = {0};
    for (int i = 0; i < 6 && i + 2 < count; i++)
        a[i] = (uint32_t)strtoul(text[i + 2], NULL, 0);
    if (count < 2)
        return 3;
    if (!strcmp(text[1], "bring_up"))
        bring_up(a[0], a[1], a[2], a[3], a[4], a[5]);
    else if (!strcmp(text[1], "watch"))
        watch(a[0]);
    else if (!strcmp(text[1], "handler"))
        handler();
    else
        return 3;
    printf("done %u\n", (unsigned)done);
    return 0;
}
"#;

/// The indented pieces of the page that name a register of the header.
fn pieces() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/integration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let indented = |line: &str| line.starts_with("    ");
    let lines: Vec<&str> = page.lines().collect();
    lines
        .chunk_by(|a, b| indented(a) == indented(b))
        .filter(|piece| indented(piece[0]) && piece.iter().any(|line| line.contains("reg(HERMES_")))
        .map(|piece| piece.join("\n"))
        .collect()
}

/// Compiles the program; returns that of it which drives an array.
fn compile(folder: &Path, config: &Config) -> PathBuf {
    let header = hermes_artefacts::c_header("hermes_top", &registers_of(config));
    std::fs::write(folder.join("hermes_top_registers.h"), header).unwrap();
    let pieces = pieces();
    assert_eq!(pieces.len(), FUNCTIONS.len(), "pieces of C in the page: {pieces:#?}");
    let functions: Vec<_> =
        FUNCTIONS.iter().zip(&pieces).map(|(head, body)| format!("{head} {{\n{body}\n}}\n")).collect();
    let text = FRAME.replace("FUNCTIONS", &functions.join("\n"));
    for (compiler, file, standard) in [("cc", "page.c", "-std=c99"), ("c++", "page.cpp", "-std=c++17")] {
        std::fs::write(folder.join(file), &text).unwrap();
        let output = Command::new(compiler)
            .args([standard, "-O1", "-Wall", "-Wextra", "-Werror", "-o", &format!("{file}.out"), file])
            .current_dir(folder)
            .output()
            .unwrap_or_else(|e| panic!("cannot run {compiler}: {e}; it must be installed for this test"));
        assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    }
    folder.join("page.cpp.out")
}

/// Runs a function of the program, whose accesses go to the array; returns `done`.
fn call(program: &Path, function: &str, arguments: &[u32], array: &mut Simulation) -> u32 {
    let mut child = Command::new(program)
        .arg(function)
        .args(arguments.iter().map(ToString::to_string))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut answers, accesses) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut done = None;
    for line in BufReader::new(accesses).lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse::<u32>().unwrap();
        let answer = match words[0] {
            "write" => array.write_register(number(1), number(2)).map(|()| 0).unwrap(),
            "read" => array.read_register(number(1)).unwrap(),
            _ => {
                done = Some(number(1));
                continue;
            }
        };
        writeln!(answers, "{answer}").unwrap();
    }
    assert!(child.wait().unwrap().success(), "{function}");
    done.unwrap_or_else(|| panic!("{function} did not come to its end"))
}

/// Packets that wait in the ring run after the bring-up; the interrupt comes when all are done, and
/// not before, and the handler ends it.
#[test]
fn the_c_of_the_page_serves_an_array() {
    // Eight warp slots: the page sets MCW to 8.
    let config = seen_by_host();
    let folder = tempfile::tempdir().unwrap();
    let program = compile(folder.path(), &config);
    let memory = MemoryOptions { latency: Latency::Fixed(20), ..MemoryOptions::default() };
    let simulation = Simulation::new(build_brief(&config).instantiate().unwrap(), 8 << 20, memory).unwrap();
    let mut host = Host::new(simulation).unwrap();

    let (entry, argument, verdicts, stacks, ring) = (0x1000, 0x2000, 0x1_0000, 0x2_0000, 0x40_0000);
    // addi a0, a0, 64; ret: the verdict tells that the thread had its packetIdx.
    let kernel: Vec<u8> = [0x0405_0513_u32, 0x0000_8067].iter().flat_map(|word| word.to_le_bytes()).collect();
    host.device_mut().write_memory(entry, &kernel).unwrap();
    call(&program, "bring_up", &[ring, verdicts, entry, 0, argument, stacks], host.device_mut());

    let pushed = 20;
    call(&program, "watch", &[pushed], host.device_mut());
    host.write("TASK_PUSH", pushed - 1).unwrap();
    host.device_mut().run(5_000).unwrap();
    assert_eq!(host.read("COMMITTED_PACKETS").unwrap(), pushed - 1);
    assert!(!host.wait_for_interrupt(100).unwrap(), "one packet is missing still");
    host.write("TASK_PUSH", 1).unwrap();
    assert!(host.wait_for_interrupt(5_000).unwrap());
    assert_eq!(host.read("HOST_IRQ_PENDING").unwrap(), host_interrupt::WATERMARK);
    assert_eq!(call(&program, "handler", &[], host.device_mut()), pushed);
    assert!(!host.wait_for_interrupt(100).unwrap(), "the handler cleared it");
    assert_eq!(host.read("FAULTS").unwrap(), 0);

    // Where the page says that they are
    host.clean_and_invalidate_caches().unwrap();
    let mut last = [0; 4];
    host.device_mut().read_memory(verdicts + 4 * (pushed - 1), &mut last).unwrap();
    assert_eq!(u32::from_le_bytes(last), pushed - 1 + 64, "the verdict of the last packet");
}
