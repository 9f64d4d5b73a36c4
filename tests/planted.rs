//! Bugs that kernel writers plant: the tools name each, with its place in the source.

mod common;

use common::Folder;

/// The array of the tests of the apps.
const ARRAY: &str = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";

/// A folder with 20 packets and the kernel `name`, built.
fn folder(name: &str, source: &str) -> Folder {
    let folder = Folder::new();
    folder.write(&format!("{name}.c"), source);
    folder.succeed(&format!("kernel build {name}.c -o {name}.elf --rv32e"));
    folder.succeed("gen-trace --kind fixed:64 --packets 20 -o in.pcap");
    folder
}

fn run(name: &str, more: &str) -> String {
    format!("run --kernel {name}.elf --pcap in.pcap --json report.json {ARRAY} {more}")
}

/// The only cause in the report.
fn cause(folder: &Folder) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_slice(&folder.read("report.json")).unwrap();
    let causes = report["fault_causes"].as_array().unwrap();
    assert_eq!(causes.len(), 1, "{causes:?}");
    causes[0].clone()
}

/// Its need is known: the run does not even begin.
#[test]
fn an_array_that_is_too_large_for_the_stack() {
    let folder = folder("array", include_str!("planted/array.c"));
    folder.fail(&run("array", ""), &["array.elf needs 400 bytes of stack, and a thread gets 256"]);
    folder.succeed(&run("array", "--stack-bytes 512"));
}

/// How deep it goes nobody can know: the guard of the stack tells.
#[test]
fn calls_that_are_too_deep_for_the_stack() {
    let folder = folder("stack", include_str!("planted/stack.c"));
    folder.fail(
        &run("stack", ""),
        &[
            "store access",
            " in backwards",
            "(stack.c:",
            "(12 bytes below the stack of 256 bytes): 20 threads, the first with packet 0",
            "20 of 20 packets ended with a fault",
        ],
    );
    assert!(cause(&folder)["line"].as_str().unwrap().starts_with("stack.c:"));
}

#[test]
fn a_buffer_on_the_stack_that_is_too_small() {
    let folder = folder("buffer", include_str!("planted/buffer.c"));
    let above = "(1 byte above the stack of 256 bytes): 20 threads";
    folder.fail(&run("buffer", ""), &["store access", "(buffer.c:9), `sb ", above]);
}

#[test]
fn a_store_over_the_code() {
    let folder = folder("code", include_str!("planted/code.c"));
    for more in ["", "--no-local-window"] {
        folder.fail(
            &run("code", more),
            &["store access", "(code.c:6)", "(byte 8 of the kernel's code): 20 threads"],
        );
    }
    // The windows are what tells: open ones let it pass.
    folder.succeed(&run("code", "--open-windows"));
}

#[test]
fn a_pointer_that_was_never_set() {
    let folder = folder("null", include_str!("planted/null.c"));
    folder.fail(
        &run("null", ""),
        &["load access", "(null.c:8), `lw ", "address 0x00000000 (the null address)"],
    );
    assert_eq!(cause(&folder)["area"], "the null address");
}

#[test]
fn an_index_beyond_the_argument_block() {
    let folder = folder("behind", include_str!("planted/behind.c"));
    folder.fail(&run("behind", ""), &["load access", "(behind.c:6), `lw ", "(in no area of the run)"]);
}

#[test]
fn a_loop_that_does_not_end() {
    let folder = folder("loop", include_str!("planted/loop.c"));
    folder.fail(
        &run("loop", "--watchdog 3000"),
        &["fault: watchdog at PC ", " in kernel", "(loop.c:7)", "20 of 20 packets ended with a fault"],
    );
    let report: serde_json::Value = serde_json::from_slice(&folder.read("report.json")).unwrap();
    let causes = report["fault_causes"].as_array().unwrap();
    assert!(causes.iter().all(|cause| cause["cause"] == 24 && cause["line"] == "loop.c:7"), "{causes:?}");
    assert_eq!(causes.iter().map(|cause| cause["threads"].as_u64().unwrap()).sum::<u64>(), 20);
}

/// The golden model tells the field.
#[test]
fn a_wrong_field_of_a_packet() {
    let folder = folder("field", include_str!("planted/field.c"));
    let output = folder.hermes(&run("field", "--app dec-ttl"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("packet 0 of the capture, counted from 0:"), "{error}");
    for field in ["IPv4 time to live", "IPv4 header checksum"] {
        let row = error.lines().find(|line| line.contains(field)).expect("the field");
        assert!(row.ends_with("<-- differs"), "{error}");
    }
}

/// With open windows memory itself refuses the store, of which it tells the address.
#[test]
fn a_store_to_memory_that_is_not_there() {
    let folder = folder("nowhere", include_str!("planted/nowhere.c"));
    folder.fail(&run("nowhere", ""), &["fault: store access", "(nowhere.c:6), `sw ", "address 0x50000000"]);
    let open = run("nowhere", "--open-windows");
    let lost = "written, at address 0x50000000 (in no area of the run) in cycle ";
    folder.fail(
        &open,
        &["error: bus error: memory refused 1 line that was ", lost, "memory refused 1 line; with"],
    );
    let report: serde_json::Value = serde_json::from_slice(&folder.read("report.json")).unwrap();
    assert_eq!((&report["bus_errors"], &report["bus_errors_of_writes"]), (&1.into(), &1.into()));
    let response = &report["bus_error_responses"][0];
    assert_eq!(response["address"], 0x5000_0000_u32);
    assert!(response["write"].as_bool().unwrap() && response["cycle"].as_u64().unwrap() > 0, "{response}");
    let text = folder.succeed(&format!("{open} --fail-on-fault=false"));
    assert!(text.contains("\n  bus errors   1\n"), "{text}");
}
