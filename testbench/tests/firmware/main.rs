//! Firmware on the array: one after the other in one session, mailbox and console, and the examples.

mod debug;
mod events;
// Of the grid only how an array is built.
#[allow(dead_code)]
#[path = "../grid/mod.rs"]
mod grid;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use grid::build;
use hermes_rtl::config::Config;
use hermes_testbench::cosim::{Device as _, Host, MemoryOptions, Simulation};
use hermes_testbench::firmware::{build_firmware, Firmware, FirmwareEnd};
use verilator_sys::ModelLibrary;

/// Cycles that firmware may run.
const LIMIT: u64 = 2_000_000;

fn array() -> &'static ModelLibrary {
    static ARRAY: OnceLock<ModelLibrary> = OnceLock::new();
    ARRAY.get_or_init(|| {
        build(&Config {
            cores: 1,
            lanes: 2,
            warps: 2,
            command_threads: 4,
            uli_channels: 2,
            spawn_slots: 16,
            l2_banks: 2,
            l2_bank_lines: 32,
            ..Config::preset("fpga").unwrap()
        })
    })
}

fn host() -> Host<Simulation> {
    let model = array().instantiate().unwrap();
    Host::new(Simulation::new(model, 1 << 24, MemoryOptions::default()).unwrap()).unwrap()
}

fn program(text: &str) -> Firmware {
    let folder = tempfile::tempdir().unwrap();
    let (source, path) = (folder.path().join("program.c"), folder.path().join("program.elf"));
    std::fs::write(&source, format!("#include \"hermes_cp.h\"\n{text}")).unwrap();
    build_firmware(&[source], &path).unwrap();
    Firmware::read(&path).unwrap()
}

fn example(name: &str) -> Firmware {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-asm/firmware/examples").join(name);
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("example.elf");
    build_firmware(&[source], &path).unwrap();
    Firmware::read(&path).unwrap()
}

/// Attends to the firmware until `done` or its end; also what it wrote to the console.
fn attend(
    host: &mut Host<Simulation>,
    done: impl Fn(&mut Host<Simulation>) -> bool,
) -> (Option<FirmwareEnd>, String) {
    let start = host.device_mut().cycle();
    let mut output = Vec::new();
    loop {
        let end = host.attend_firmware().unwrap();
        output.extend(host.firmware_mut().unwrap().take_output());
        if end.is_some() || done(host) {
            return (end, String::from_utf8(output).unwrap());
        }
        assert!(host.device_mut().cycle() - start < LIMIT, "{output:?}");
        host.device_mut().run(200).unwrap();
    }
}

fn run(host: &mut Host<Simulation>, firmware: &Firmware) -> (FirmwareEnd, String) {
    host.reserve_firmware(firmware).unwrap();
    host.start_firmware(firmware).unwrap();
    let (end, output) = attend(host, |_| false);
    (end.unwrap(), output)
}

/// What one firmware left (registers, data, messages, interrupts, fault) does not matter to the next, nor that it did not end.
#[test]
fn one_after_the_other() {
    let mut host = host();
    let first = program("static int n = 1; int main(void) { n++; puts(\"one\"); return n; }");
    let second =
        program("static int a[500], n = 5; int main(void) { puts(\"two\"); n += a[7]; a[7] = 9; return n; }");
    let fails = program("int main(void) { uint32_t w[4] = {1, 2, 3, 4}; mailbox_send(w); csr_set(mie, 8); *(volatile int *)0xfff80000; return 0; }");
    let threads = program(
        "static struct spawn_descriptor page[16] __attribute__((aligned(1024)));\n\
         static volatile uint32_t words[2];\n\
         extern const uint32_t job[];\n\
         __asm__(\".text\\njob: li t0, 3000\\n1: addi t0, t0, -1\\nbnez t0, 1b\\nsw t0, 0(a1)\\nret\");\n\
         int main(void) { REGISTER(SPAWN_CONTROL) = 1; spawn_page(page); for (int i = 1; i < 8; i++) ((volatile uint32_t *)page)[i] = 0; page[0].argument0 = (uint32_t)words; page[0].shape = 2;\n\
         page[0].completion = (uint32_t)&words[1]; page[0].token = 9; spawn(&page[0], (void *)job); return REGISTER(SPAWN_BUSY); }",
    );
    let counts = program("int main(void) { return REGISTER(SPAWN_BUSY) | REGISTER(SPAWN_CONTROL); }");
    let endless = program("int main(void) { events_enable(~0u); hart_interrupt(0); for (;;) putchar('x'); }");
    for _ in 0..2 {
        assert_eq!(run(&mut host, &first), (FirmwareEnd::Value(2), "one\n".into()));
        assert_eq!(run(&mut host, &second), (FirmwareEnd::Value(5), "two\n".into()));
        let (end, _) = run(&mut host, &fails);
        let FirmwareEnd::Trap { cause: 5, value: 0xfff8_0000, .. } = end else { panic!("{end:?}") };
        assert_eq!(host.firmware_mut().unwrap().receive(), Some([1, 2, 3, 4]));
        // Its threads on the cores run on behind it: the next firmware is loaded when they have ended.
        let (end, _) = run(&mut host, &threads);
        assert_eq!(end, FirmwareEnd::Value(1), "a job runs");
        assert_eq!(run(&mut host, &counts).0, FirmwareEnd::Value(0), "nothing of it is left");
        host.reserve_firmware(&endless).unwrap();
        host.start_firmware(&endless).unwrap();
        host.device_mut().run(5_000).unwrap();
    }
    host.stop_firmware().unwrap();
    assert_eq!(run(&mut host, &first), (FirmwareEnd::Value(2), "one\n".into()));
}

#[test]
fn mailbox_and_console() {
    let mut host = host();
    let echo = example("echo.c");
    host.reserve_firmware(&echo).unwrap();
    host.start_firmware(&echo).unwrap();
    for number in 0..20u32 {
        host.firmware_mut().unwrap().send([number + 1, 10, 20, 30]);
    }
    let text = "the quick brown fox jumps over the lazy dog\n".repeat(3);
    host.firmware_mut().unwrap().type_in(text.as_bytes());
    let mut received = std::cell::RefCell::new(Vec::new());
    let (end, output) = attend(&mut host, |host| {
        let mut received = received.borrow_mut();
        received.extend(host.firmware_mut().unwrap().receive());
        received.len() == 20
    });
    assert_eq!(end, None);
    let expected: Vec<_> = (0..20).map(|number| [31, 21, 11, number + 2]).collect();
    assert_eq!(*received.get_mut(), expected);
    host.firmware_mut().unwrap().type_in(b"\x04");
    let (end, rest) = attend(&mut host, |_| false);
    assert_eq!(end, Some(FirmwareEnd::Value(3)));
    assert_eq!(output + &rest, format!("echo: type a line\n{}", text.to_uppercase()));
}

/// Registers of the array, timer, local memory, multiplication, as the library uses them.
#[test]
fn the_library() {
    let text = r#"
        static volatile uint32_t ticks;
        static uint64_t next;
        LOCAL static int local[4] = {1, 2, 3, 4};
        static void tick(void) { ticks++; next += 2000; timer_at(next); }
        static int skip(uint32_t cause, uint32_t value, struct trap_frame *frame) {
            frame->a[0] = cause << 8;
            frame->pc += 4;
            return cause != 7;
        }
        int main(void) {
            uint32_t begin = csr_read(mcycle);
            if (REGISTER(ID) == 0) return 1;
            if (hart_count() != 4 || hart_number() != 0) return 2;
            REGISTER(COMMIT_WATERMARK) = 123;
            if (REGISTER(COMMIT_WATERMARK) != 123) return 3;
            if (local[0] + local[3] != 5) return 4;
            interrupt_handle(INTERRUPT_TIMER, tick);
            next = time_now() + 2000;
            timer_at(next);
            interrupts_on();
            while (ticks < 5) wait_for_interrupt();
            timer_off();
            interrupts_off();
            exception_handle(skip);
            register uint32_t a0 __asm__("a0") = 0xffffe3fc;
            __asm__ volatile("sw a0, 0(a0)" : "+r"(a0));
            if (a0 != 7 << 8) return 5;
            uint32_t product = begin * 12345u, quotient = product / 77u;
            if (quotient * 77u + product % 77u != product) return 6;
            printf("%u ticks\n", ticks);
            return csr_read(mcycle) - begin > 9000 ? 0 : 7;
        }"#;
    assert_eq!(run(&mut host(), &program(text)), (FirmwareEnd::Value(0), "5 ticks\n".into()));
}

/// A queue between two harts in local memory; the other two sleep.
#[test]
fn two_harts() {
    let (end, output) = run(&mut host(), &example("two-harts.c"));
    assert_eq!(output, "sum 374250\n");
    assert_eq!(end, FirmwareEnd::Value(0));
}

/// Instructions a cycle of one hart and of four, of the program of which section 2.1 of the design has the figures of the cores.
#[test]
fn instructions_a_cycle() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-asm/bench/scalar.c");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scalar.elf");
    build_firmware(&[source], &path).unwrap();
    let (end, output) = run(&mut host(), &Firmware::read(&path).unwrap());
    println!("{output}");
    assert_eq!(end, FirmwareEnd::Value(0), "{output}");
    assert_eq!(output.lines().count(), 2, "{output}");
}

#[test]
fn figure_3() {
    let mut host = host();
    let (end, output) = run(&mut host, &example("figure-3.c"));
    assert_eq!(output, "4 jobs of 64 threads, 0 wrong; worked on meanwhile: yes\n");
    assert_eq!(end, FirmwareEnd::Value(0));
    assert_eq!(host.read("SPAWN_JOBS").unwrap(), 4);
}
