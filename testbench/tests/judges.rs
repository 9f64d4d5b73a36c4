//! Programs of others on the command processor: tests that end by a store to the symbol `tohost`
//! (1: passed) and may leave a signature in memory. `HERMES_JUDGES` names a folder with their ELF
//! files, at any depth; other files there are passed over. The signature of FILE.elf is compared
//! with FILE.signature beside it, 32-bit words in hexadecimal, one a line; without that file, an
//! architecture test (symbol `rvtest_entry_point`) is compared with what Spike (`spike`) leaves of
//! the same ELF file. Each program runs in lock-step with the reference simulator too. See
//! docs/judges.md.
//!
//!     scripts/judges FOLDER

// Of the grid only one array of these tests.
#[allow(dead_code)]
mod grid;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use grid::build;
use hermes_rtl::config::Config;
use hermes_testbench::command::{CommandBench, Ended};
use hermes_testbench::cosim::{Host, Latency, MemoryOptions, Simulation};
use hermes_testbench::harts::machine::Abilities;
use hermes_testbench::kernel::{Executable, RegisterClass, Segment};
use hermes_testbench::test_seed;
use verilator_sys::ModelLibrary;

/// Cycles that a program may take.
const LIMIT: u64 = 5_000_000;
/// Bytes of the shared memory: programs of others begin at 0x8000_0000.
const MEMORY_BYTES: u64 = 1 << 32;
/// What a program stores to `tohost` if it has passed.
const PASSED: u32 = 1;
/// A region of a signature is aligned, so it may end with so many words that the file does not
/// have.
const PADDING_WORDS: usize = 3;
/// Lowest byte of `e_flags` in an ELF file of 32 bits, and its bit that says that there are
/// compressed instructions.
const E_FLAGS: usize = 0x24;
const COMPRESSED: u8 = 1;

/// Programs that must fail, by the name of their file, and why. One that passes is an error too.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("rv32mi-p-breakpoint", "wants the CSRs of triggers (Sdtrig) or their trap as `ebreak`; there are none"),
    ("rv32mi-p-pmpaddr", "wants physical memory protection; there is none"),
    ("rv32ui-p-ma_data", "wants loads and stores that are not aligned; they are exceptions"),
];

/// The arrays: one hart whose loads go to the L2, and four with all options, three of which load
/// and store meanwhile.
fn arrays() -> [(&'static str, Config); 2] {
    let one = Config {
        cores: 1,
        lanes: 1,
        warps: 2,
        atomics: true,
        command_threads: 1,
        instruction_cache_lines: 32,
        l2_banks: 2,
        l2_bank_lines: 32,
        trace: true,
        ..Config::preset("fpga").unwrap()
    };
    let four = Config { command_threads: 4, command_cache_lines: 16, uli_channels: 2, ..one.clone() };
    [("one hart, no data cache", one), ("four harts, data cache", four)]
}

/// The ELF files below `folder`, in the order of their paths.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(programs(&path));
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF")) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn symbol(program: &Executable, name: &str) -> Option<u32> {
    program.symbol(name).ok().map(|symbol| symbol.address)
}

/// Reads a program. One may have compressed instructions behind a look at `misa`, so that the file
/// says that it has some.
fn read(path: &Path) -> Result<Executable, String> {
    let mut bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    if let Some(flags) = bytes.get_mut(E_FLAGS) {
        *flags &= !COMPRESSED;
    }
    let copy = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(copy.path(), &bytes).unwrap();
    Executable::read(copy.path()).map_err(|e| e.to_string())
}

/// What a hart does beside the program: it adds to a word of its own, for ever.
fn beside(hart: u32) -> Executable {
    // lui x6, 0x20 + hart; 1: lw x5, 0(x6); addi x5, x5, 1; mul x7, x5, x5; sw x7, 4(x6); sw x5,
    // 0(x6); j 1b
    let words = [
        (0x20 + hart) << 12 | 0x337,
        0x0003_2283,
        0x0012_8293,
        0x0252_83b3,
        0x0073_2223,
        0x0053_2023,
        0xfedf_f06f,
    ];
    let entry = 0x1_0000 + 0x1000 * hart;
    let bytes = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    let segments = vec![
        Segment { address: entry, run_address: entry, bytes, writable: false },
        Segment {
            address: (0x20 + hart) << 12,
            run_address: (0x20 + hart) << 12,
            bytes: vec![0; 8],
            writable: true,
        },
    ];
    Executable { entry, segments, registers: RegisterClass::Rv32i, symbols: vec![], arch: None }
}

/// The words of a signature file.
fn signature_file(path: &Path) -> Option<Vec<u32>> {
    let text = std::fs::read_to_string(path.with_extension("signature")).ok()?;
    let word = |line: &str| {
        u32::from_str_radix(line.trim(), 16).unwrap_or_else(|e| panic!("{}: {line}: {e}", path.display()))
    };
    Some(text.lines().filter(|line| !line.trim().is_empty()).map(word).collect())
}

/// The signature that Spike leaves of the program at `path`.
fn on_spike(path: &Path) -> Vec<u32> {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("program.signature");
    let mut command = Command::new("spike");
    command.args(["--isa=rv32ima_zicsr_zifencei_zbb", "--priv=m", "--pmpregions=0", "--triggers=0"]);
    command.arg(format!("+signature={}", saved.display())).arg("+signature-granularity=4").arg(path);
    let status = command.status().unwrap_or_else(|e| panic!("spike: {e}"));
    assert!(status.success(), "{}: not passed on Spike", path.display());
    signature_file(&saved).unwrap_or_else(|| panic!("{}: no signature of Spike", path.display()))
}

/// Runs a program; an error says what is wrong, and where.
fn judge(
    library: &ModelLibrary,
    config: &Config,
    memory: &MemoryOptions,
    path: &Path,
) -> Result<Ended, String> {
    let program = read(path)?;
    let tohost =
        symbol(&program, "tohost").ok_or("no symbol tohost; expected where the program stores its result")?;
    let bench = CommandBench::new(library.clone(), memory.clone(), Abilities::of(config));
    let bench = bench.going_on_at_break().ending_at_store(tohost);
    let mut harts = vec![program.clone()];
    harts.extend((1..config.command_threads as u32).map(beside));
    let simulation = Simulation::new(library.instantiate().unwrap(), MEMORY_BYTES, memory.clone()).unwrap();
    let ended =
        bench.run_harts_on(&mut Host::new(simulation).unwrap(), &harts, LIMIT).map_err(|e| e.to_string())?;
    let result = ended.memory.read_u32(tohost).unwrap();
    if let Some(fault) = ended.fault {
        return Err(format!("locked up: {fault:x?}"));
    }
    if result != PASSED {
        return Err(format!("tohost is {result:#x}: check {}", result >> 1));
    }
    let region = symbol(&program, "begin_signature").zip(symbol(&program, "end_signature"));
    let file = signature_file(path);
    if let Some((begin, end)) =
        region.filter(|_| file.is_some() || symbol(&program, "rvtest_entry_point").is_some())
    {
        let expected = file.unwrap_or_else(|| on_spike(path));
        let words = ((end - begin) / 4) as usize;
        if words < expected.len() || words > expected.len() + PADDING_WORDS {
            return Err(format!("the signature has {words} words; expected {}", expected.len()));
        }
        for (index, expected) in (0..).zip(expected) {
            let found = ended.memory.read_u32(begin + 4 * index).unwrap();
            if found != expected {
                return Err(format!(
                    "signature, word {index}: expected {expected:#010x}, found {found:#010x}"
                ));
            }
        }
    }
    Ok(ended)
}

#[test]
#[ignore = "needs programs of others: HERMES_JUDGES"]
fn programs_of_others() {
    let folder = std::env::var_os("HERMES_JUDGES").expect("HERMES_JUDGES: expected a folder of ELF files");
    let paths = programs(Path::new(&folder));
    assert!(!paths.is_empty(), "HERMES_JUDGES: no ELF file below {}", folder.to_string_lossy());
    let memory = MemoryOptions {
        latency: Latency::Random(1, 40),
        stall_percent: 20,
        seed: test_seed(),
        failing: Vec::new(),
    };
    let exceptions = BTreeMap::from(EXCEPTIONS);
    let mut failed = 0;
    for (name, config) in arrays() {
        let library = build(&config);
        let (mut passed, mut named, mut instructions) = (0, 0, 0);
        for path in &paths {
            let stem = path.file_stem().unwrap().to_string_lossy();
            match (judge(&library, &config, &memory, path), exceptions.get(&*stem)) {
                (Ok(ended), None) => {
                    passed += 1;
                    instructions += ended.seen.instructions;
                }
                (Err(error), Some(reason)) => {
                    named += 1;
                    println!("exception {stem}: {error} ({reason})");
                }
                (Err(error), None) => {
                    failed += 1;
                    println!("FAILED {}: {error}", path.display());
                }
                (Ok(_), Some(_)) => {
                    failed += 1;
                    println!("FAILED {}: passes, but is an exception", path.display());
                }
            }
        }
        println!(
            "{name}: {passed} of {} passed, {named} exceptions, {instructions} instructions",
            paths.len()
        );
    }
    assert_eq!(failed, 0, "programs failed");
}

/// A program that leaves `word` as signature and stores `result` to `tohost`; the file beside it
/// says that the signature is 0x1234.
fn small_program(folder: &Path, name: &str, word: u32, result: u32) -> PathBuf {
    let (source, path) = (folder.join("small.S"), folder.join(name));
    let text = format!(
        ".globl _start\n_start: li t0, {word}\nla t1, begin_signature\nsw t0, 0(t1)\nli t0, {result}\nla t1, tohost\n1: sw t0, 0(t1)\nj 1b\n\
         .data\n.balign 64\n.globl tohost, begin_signature, end_signature\n\
         tohost: .word 0\n.balign 64\nbegin_signature: .word 0, 0\nend_signature:\n"
    );
    std::fs::write(&source, text).unwrap();
    std::fs::write(path.with_extension("signature"), "00001234\n00000000\n").unwrap();
    let mut command = Command::new("riscv64-unknown-elf-gcc");
    command.args(["-march=rv32i", "-mabi=ilp32", "-nostdlib", "-static", "-mno-relax"]);
    command.arg("-Wl,-m,elf32lriscv,--no-relax,-Ttext=0x80000000");
    assert!(command.arg("-o").arg(&path).arg(&source).status().unwrap().success());
    path
}

/// What a program says is told, and a signature that differs is noticed.
#[test]
fn verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let config = grid::one_hart();
    let library = build(&config);
    let memory = MemoryOptions {
        latency: Latency::Random(1, 40),
        stall_percent: 20,
        seed: test_seed(),
        failing: Vec::new(),
    };
    let result = |name, word, result| {
        let path = small_program(folder.path(), name, word, result);
        judge(&library, &config, &memory, &path).map(|ended| ended.seen.instructions > 5)
    };
    assert_eq!(result("passes.elf", 0x1234, 1), Ok(true));
    assert_eq!(result("fails.elf", 0x1234, 7), Err("tohost is 0x7: check 3".into()));
    let error = "signature, word 0: expected 0x00001234, found 0x00001235";
    assert_eq!(result("differs.elf", 0x1235, 1), Err(error.into()));
    assert_eq!(programs(folder.path()).len(), 3);
}
