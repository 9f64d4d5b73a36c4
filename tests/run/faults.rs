//! Threads that fault in a run: every packet is committed, and what faulted is told.

use crate::common::{check_order, frames, rows, Folder};
use crate::ARRAYS;

/// A fault ends its thread only: every packet is committed, in order, with the cause as its
/// verdict.
#[test]
fn faults_lose_no_packet() {
    let folder = Folder::new();
    folder.write("faults.S", include_str!("../kernels/faults.S"));
    folder.succeed("kernel build faults.S -o faults.elf");
    folder.succeed("gen-trace --kind fixed:60 --packets 100 --seed 6 -o in.pcap");
    for array in &ARRAYS[1..] {
        let options = "--verdicts out.csv --json out.json --fail-on-fault=false --mem-latency 30";
        folder.succeed(&format!("run --kernel faults.elf --pcap in.pcap {options} {array}"));
        let rows = rows(&folder.text("out.csv"));
        check_order(&rows);
        let expected: Vec<u32> = frames(folder.path("in.pcap"))
            .iter()
            .map(|frame| [0xc000_0002, 0xc000_0004, 0xc000_000b, 9][usize::from(frame[29] & 3)])
            .collect();
        assert_eq!(rows.iter().map(|row| row.verdict).collect::<Vec<_>>(), expected);
        let report: serde_json::Value = serde_json::from_str(&folder.text("out.json")).expect("JSON");
        let faults = expected.iter().filter(|verdict| **verdict != 9).count();
        assert_eq!(report["faults"], faults);
        assert!(report["verdicts"]["fault: load address misaligned"].as_u64() > Some(0), "{report}");
    }
}

/// Threads that fault are told of, a line for each cause and PC; with a kernel of one's own they
/// fail the run, after everything was written.
#[test]
fn faults_fail_the_run_unless_they_may() {
    let folder = Folder::new();
    folder.write("faults.S", include_str!("../kernels/faults.S"));
    folder.succeed("kernel build faults.S -o faults.elf");
    // No more faults than the fault FIFO has room for: 32.
    folder.succeed("gen-trace --kind fixed:60 --packets 40 --seed 6 -o in.pcap");
    let kinds: Vec<u8> = frames(folder.path("in.pcap")).iter().map(|frame| frame[29] & 3).collect();
    let line = |kind: u8, cause: &str, pc: u32, what: &str| {
        let threads = kinds.iter().filter(|other| **other == kind).count();
        let first = kinds.iter().position(|other| *other == kind).expect("a packet of each kind");
        format!(
            "fault: {cause} at PC {pc:#010x} in {what}: {threads} thread{s}, the first with packet {first}\n",
            s = if threads == 1 { "" } else { "s" }
        )
    };
    let info = folder.succeed("kernel info faults.elf");
    let pc = |symbol: &str| {
        let line = info.lines().find(|line| line.ends_with(&format!(" {symbol}"))).expect(&info);
        let address = line.split_whitespace().nth(1).and_then(|text| text.strip_prefix("0x")).expect(line);
        u32::from_str_radix(address, 16).expect(line)
    };
    // The frame of the first such packet, at an odd address of its slot.
    let first = kinds.iter().position(|kind| *kind == 1).expect("such a packet");
    let (ring, byte) = (0x1040, first * 128 + 1);
    let address = ring + byte;
    let misaligned = format!(
        "misaligned (faults.S:21), `lw t0,1(a1)`, address {address:#010x} (byte {byte} of the packet ring)"
    );
    let lines = [
        line(0, "illegal instruction", pc("illegal"), "illegal (faults.S:17), `.word 0xffffffff`"),
        line(1, "load address misaligned", pc("misaligned"), &misaligned),
        line(2, "environment call", pc("call"), "call (faults.S:24), `ecall`"),
    ];
    let run = format!(
        "run --kernel faults.elf --pcap in.pcap --verdicts out.csv --json out.json --out out.pcap {}",
        ARRAYS[1]
    );
    let app = format!("run --app dec-ttl {}", &run[4..]);
    let faulted = kinds.iter().filter(|kind| **kind != 3).count();
    for (arguments, fails) in [
        (run.clone(), true),
        (format!("{run} --fail-on-fault"), true),
        (format!("{run} --fail-on-fault=true"), true),
        (format!("{run} --fail-on-fault=false"), false),
    ] {
        for name in ["out.csv", "out.json", "out.pcap"] {
            let _ = std::fs::remove_file(folder.path(name));
        }
        let output = folder.hermes(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(i32::from(fails)), "{arguments}\n{error}");
        for line in &lines {
            assert_eq!(error.matches(line.as_str()).count(), 1, "{arguments}\nexpected {line}\n{error}");
        }
        let summary = format!("error: {faulted} of 40 packets ended with a fault");
        assert_eq!(error.contains(&summary), fails, "{error}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("faults       {faulted}")));
        assert_eq!(rows(&folder.text("out.csv")).len(), 40);
        assert_eq!(frames(folder.path("out.pcap")).len(), 40 - faulted);
        let report: serde_json::Value = serde_json::from_str(&folder.text("out.json")).expect("JSON");
        assert_eq!(report["fault_causes"].as_array().map(Vec::len), Some(3), "{report}");
    }
    // With -q a run that may fault says nothing; one that may not does.
    let output = folder.hermes(&format!("-q {run} --fail-on-fault=false"));
    assert!(output.status.success() && output.stderr.is_empty());
    let output = folder.hermes(&format!("-q {run}"));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&lines[0]));
    // Nobody reads the report: the faults are told all the same.
    let unread = format!("{{ {} {run}; echo exit code $? >&2; }} | true", env!("CARGO_BIN_EXE_hermes"));
    let mut command = std::process::Command::new("sh");
    folder.surround(&mut command);
    let output = command.args(["-c", &unread]).output();
    let error = String::from_utf8_lossy(&output.expect("sh runs").stderr).into_owned();
    assert!(error.contains(&lines[0]) && error.ends_with("exit code 1\n"), "{error}");
    // The verdicts of an app do not agree with its golden model when its kernel is another one, and
    // that is told first.
    folder.fail(&app, &["packets differ from the golden model"]);
}

/// Records of faults are read while the run goes on, so that a place counts all of its threads, and
/// the first of them, however many there are. Where they come faster than they can be read, what is
/// lost is told by its cause.
#[test]
fn every_place_counts_its_threads() {
    let folder = Folder::new();
    folder.write("one.S", ".globl kernel\nkernel: lw a0, 0(zero)\nret\n");
    let illegal = " .word 0xffffffff\n".repeat(64);
    let jump = "andi t0, a0, 63\nslli t0, t0, 2\nla t1, table\nadd t1, t1, t0\njr t1";
    folder.write("many.S", format!(".globl kernel\nkernel: {jump}\ntable:\n{illegal}"));
    folder.succeed("gen-trace --kind fixed:64 --packets 1000 -o in.pcap");
    let run = |name: &str| {
        folder.succeed(&format!("kernel build {name}.S -o {name}.elf"));
        let run = format!("run --kernel {name}.elf --pcap in.pcap --json out.json {}", ARRAYS[1]);
        let output = folder.hermes(&run);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains("1000 of 1000 packets ended with a fault"), "{error}");
        let report: serde_json::Value = serde_json::from_str(&folder.text("out.json")).expect("JSON");
        (error, report)
    };
    let threads = |causes: &[serde_json::Value]| -> u64 {
        causes.iter().map(|cause| cause["threads"].as_u64().expect("a count")).sum()
    };
    let (error, report) = run("one");
    assert!(error.contains("(the null address): 1000 threads, the first with packet 0\n"), "{error}");
    assert!(!error.contains("not on record"), "{error}");
    assert_eq!(report["fault_causes"].as_array().map(Vec::len), Some(1), "{report}");
    // Each lane at a place of its own: a warp has as many records as lanes.
    let (error, report) = run("many");
    let causes = report["fault_causes"].as_array().expect("causes");
    let (told, lost): (Vec<_>, Vec<_>) = causes.iter().cloned().partition(|cause| cause["pc"].is_number());
    assert_eq!((told.len(), threads(causes)), (64, 1000), "{report}");
    // More than the 32 that the array keeps
    assert!(threads(&told) > 200 && lost.len() <= 1, "{report}");
    assert!(error.contains(" more causes or PCs: "), "{error}");
}
