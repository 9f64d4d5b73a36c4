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
    folder.fail(&run("array", ""), &["array.elf needs 4", "bytes of stack, and a thread gets 256"]);
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
            "below the stack of 256 bytes): 20 threads, the first with packet 0",
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
    for more in ["", "--local-window=false"] {
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
