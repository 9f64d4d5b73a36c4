//! `hermes_proxy.h` on the array: programs whose threads fault, in `lane-traps/`. Each tells by its
//! value what came of it.

mod common;

use common::Folder;

/// An array whose lanes can trap, small: that of the example in `firmware.rs`.
const TRAPS: &str = "--preset fpga --cores 1 --lanes 2 --warps 4 --command-threads 1 --uli-channels 2 --spawn-slots 8 --atomics \
                     --local-window";

/// The value of the program that these sources make.
fn value_of(sources: &[&str]) -> i32 {
    value_with(sources, "")
}

/// The same, built with these options.
fn value_with(sources: &[&str], options: &str) -> i32 {
    value_on(TRAPS, sources, options).0
}

/// The value of a program on this array, and all that it prints.
fn value_on(array: &str, sources: &[&str], options: &str) -> (i32, String) {
    let folder = Folder::new();
    let home = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lane-traps");
    let sources: Vec<String> = sources.iter().map(|name| format!("{home}/{name}.c")).collect();
    folder.succeed(&format!("firmware build --atomics {options} {} -o program.elf", sources.join(" ")));
    let output = folder.hermes(&format!("run --firmware program.elf --firmware-timeout 400000000 {array}"));
    let status = output.status.code().expect("an exit code");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    eprintln!("{}", text.concat());
    (status, text.concat())
}

/// A lane that asked meets the others where it left, in a function that a function called.
#[test]
fn a_trap_keeps_the_call_depth() {
    let percent = value_of(&["depth"]);
    assert!((100..150).contains(&percent), "{percent} % of the time without a request");
}

/// A lane that asks while it holds a lock runs before those that wait for it, in whatever order the
/// sources are linked.
#[test]
fn a_lock_is_given_back_in_any_order_of_sources() {
    assert_eq!(value_of(&["lock-main", "lock"]), 2);
    assert_eq!(value_of(&["lock", "lock-main"]), 2);
}

#[test]
fn a_thread_sees_what_was_stored_for_it() {
    assert_eq!(value_of(&["stores"]), 0);
}

#[test]
fn loads_and_stores_that_there_are_not_go_to_the_program() {
    assert_eq!(value_of(&["encodings"]), 6);
}

/// 20 that no array has, `amocas.w`, which this one has not, and an `lr.w` of two registers.
#[test]
fn atomic_operations_that_there_are_not_go_to_the_program() {
    assert_eq!(value_of(&["atomics"]), 22);
}

/// A job that ends is noticed while lanes ask: within three requests of others, some 1,000 cycles
/// each.
#[test]
fn lanes_that_ask_do_not_hold_the_program_up() {
    for options in ["", "-D HOSTILE"] {
        let thousands = value_with(&["starve"], options);
        assert!(thousands < 8, "{options}: noticed after {thousands},000 cycles");
    }
}

/// Two cores, whose warps in slots of one number share a bit.
fn many_warps() -> String {
    TRAPS.replace("--cores 1", "--cores 2").replace("--warps 4", "--warps 32")
}

#[test]
fn threads_with_16_registers_ask_alike() {
    for (program, expected) in [("stores", 0), ("encodings", 6), ("regions", 0), ("closing", 0)] {
        assert_eq!(value_with(&[program], "--rv32e"), expected, "{program}");
    }
    assert!((100..150).contains(&value_with(&["depth"], "--rv32e")));
    let example = ["../../kernels-asm/firmware/examples/lane-traps"];
    for options in ["", "--rv32e"] {
        let (value, text) = value_on(&many_warps(), &example, options);
        assert!(value == 0 && text.contains("24 threads, 0 wrong"), "{options}: {text}");
    }
}

#[test]
fn instructions_with_registers_that_threads_lack_go_to_the_program() {
    assert_eq!(value_with(&["upper"], "--rv32e"), 18);
}

#[test]
fn threads_of_another_register_class_are_refused_and_write_nothing() {
    let array = TRAPS.replace("--warps 4", "--warps 32");
    let (_, text) = value_on(&array, &["narrow"], "");
    assert!(text.contains("0 words behind the area changed"), "{text}");
    let (value, text) = value_on(&array, &["narrow"], "-D CLASS=1");
    assert!(value == 5 && text.contains("KERNEL_CLASS 1; built for threads with 32 registers"), "{text}");
    let (value, text) = value_on(&array, &["narrow"], "-D CLASS=0 --rv32e");
    assert!(value == 5 && text.contains("KERNEL_CLASS 0; built for threads with 16 registers"), "{text}");
}

#[test]
fn a_thread_that_is_ended_is_told_with_its_instruction() {
    let (_, text) = value_on(TRAPS, &["kill"], "");
    assert!(text.contains("1 was in the thread") && text.contains("address 0x700000"), "{text}");
}

#[test]
fn a_place_that_there_is_not_asks_nothing() {
    assert_eq!(value_of(&["places"]), 3);
}

/// Of four threads the second, whose warp the watchdog ended meanwhile, is not served.
#[test]
fn a_late_answer_is_nobodys_and_a_request_is_served_once() {
    assert_eq!(value_of(&["late"]), 0b1101);
}

#[test]
fn a_thread_alone_moves_a_window_once_a_region() {
    assert_eq!(value_of(&["regions"]), 0);
}

#[test]
fn a_fault_is_recorded_or_traps_while_the_entry_changes() {
    assert_eq!(value_of(&["toggled"]), 100);
}

#[test]
fn a_load_that_failed_ends_its_thread_behind_a_trap() {
    assert_eq!(value_of(&["failed"]), 100);
}

/// Memory is as if the windows had been open all the while.
#[test]
fn windows_that_close_at_random_lose_nothing() {
    assert_eq!(value_of(&["closing"]), 0);
}

/// The same with 100,000 lanes that trap.
#[test]
#[ignore = "minutes: 100,000 lanes trap"]
fn windows_that_close_at_random_lose_nothing_in_the_long_run() {
    assert_eq!(value_with(&["closing"], "-D RETRIES=100000"), 0);
}
