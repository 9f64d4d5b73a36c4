//! Firmware on the array: one after the other in one session, mailbox and console, and the
//! examples.

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
use hermes_testbench::cosim::{
    CosimError, Descriptor, Device as _, Disturbance, FirmwareLink, Host, MemoryOptions, Simulation,
};
use hermes_testbench::firmware::{build_firmware, Firmware, FirmwareEnd};
use verilator_sys::ModelLibrary;

/// Cycles that firmware may run.
const LIMIT: u64 = 2_000_000;

fn config() -> Config {
    Config {
        cores: 1,
        lanes: 2,
        warps: 2,
        command_threads: 4,
        uli_channels: 2,
        spawn_slots: 16,
        l2_banks: 2,
        l2_bank_lines: 32,
        ..Config::preset("fpga").unwrap()
    }
}

fn host() -> Host<Simulation> {
    static ARRAY: OnceLock<ModelLibrary> = OnceLock::new();
    host_of(ARRAY.get_or_init(|| build(&config())))
}

fn host_of(array: &ModelLibrary) -> Host<Simulation> {
    let model = array.instantiate().unwrap();
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

/// What one firmware left (registers, data, messages, interrupts, fault) does not matter to the
/// next, nor that it did not end.
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
        // Its threads on the cores run on behind it: the next firmware is loaded when they have
        // ended.
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

/// Console input that firmware did not read is not for the next one.
#[test]
fn input_of_another_firmware() {
    let mut host = host();
    let deaf = program("int main(void) { for (volatile int i = 0; i < 100; i++) ; return 0; }");
    let listens = program("int main(void) { int n = 0; while (console_get() >= 0) n++; return n; }");
    for bytes in [40, 16, 1] {
        host.reserve_firmware(&deaf).unwrap();
        host.start_firmware(&deaf).unwrap();
        host.firmware_mut().unwrap().type_in(&vec![b'x'; bytes]);
        assert_eq!(attend(&mut host, |_| false).0, Some(FirmwareEnd::Value(0)));
        assert!(host.read("CONSOLE_IN").unwrap() < 16, "some bytes came");
        assert_eq!(run(&mut host, &listens).0, FirmwareEnd::Value(0));
    }
}

/// Each firmware of a session has its own descriptor page: what one stores where the page of
/// another one was starts nothing.
#[test]
fn a_page_for_each_firmware() {
    let job = "__asm__(\".pushsection .text.job\\n.balign 64\\njob: sw a2, 0(a1)\\nret\\n.popsection\");\n\
               extern const uint32_t job[];\n\
               static volatile uint32_t result[16] __attribute__((aligned(64))), done[16] __attribute__((aligned(64)));\n\
               static void fill(volatile uint32_t *d, uint32_t value) { d[1] = (uint32_t)result; d[2] = value; d[3] = 1; d[4] = d[5] = 0; d[6] = (uint32_t)done; d[7] = 5; release(); d[0] = (uint32_t)job; release(); }\n\
               static int run(volatile uint32_t *d, uint32_t value) { done[0] = 0; fill(d, value); while (spawn_busy()) ; acquire(); return done[0] == 5 && result[0] == value; }\n";
    let owns = |at: u32, other: u32| {
        program(&format!(
            "{job}int main(void) {{ REGISTER(SPAWN_CONTROL) = 1; uint32_t before = REGISTER(SPAWN_JOBS);\n\
             volatile uint32_t *page = (void *){at:#x}u, *other = (void *){other:#x}u;\n\
             if (REGISTER(SPAWN_BASE) != 0) return 1;\n\
             fill(page, 1); if (spawn_busy() || REGISTER(SPAWN_JOBS) != before) return 2;\n\
             if (!spawn_page((void *)page)) return 3;\n\
             if (!run(page, 7) || !run(page + 16 * 15, 8)) return 4;\n\
             fill(other, 9); for (volatile int i = 0; i < 50; i++) ;\n\
             return REGISTER(SPAWN_JOBS) - before == 2 && result[0] == 8 ? 0 : 5; }}"
        ))
    };
    let mut host = host();
    let (first, second) = (owns(0x20_0000, 0x20_0400), owns(0x20_0400, 0x20_0000));
    for _ in 0..2 {
        assert_eq!(run(&mut host, &first).0, FirmwareEnd::Value(0));
        assert_eq!(run(&mut host, &second).0, FirmwareEnd::Value(0));
    }
    assert_eq!(host.read("SPAWN_JOBS").unwrap(), 8);
}

/// A hart that ends the firmware while others send messages: the end is the value of that hart, not
/// a message, at whatever time it comes; and of two that end at once it is one.
#[test]
fn a_message_is_not_taken_for_the_end() {
    let mut host = host();
    let mut messages = 0;
    for turns in (0..4).map(|i| 287 * i) {
        let sends = program(&format!(
            "FIRMWARE_HARTS(3);\n\
             static void send(void *word) {{ for (uint32_t n = 0;; n++) {{ uint32_t w[4] = {{0x123, n, 0, 0}}; mailbox_send(w); }} }}\n\
             static void ends(void *turns) {{ for (uint32_t i = (uint32_t)turns; i; i--) __asm__ volatile(\"\"); firmware_end(8); }}\n\
             int main(void) {{ hart_start(1, send, 0); hart_start(2, ends, (void *){turns});\n\
             for (uint32_t i = {turns}; i; i--) __asm__ volatile(\"\"); return 7; }}"
        ));
        host.reserve_firmware(&sends).unwrap();
        host.start_firmware(&sends).unwrap();
        let end = loop {
            if let Some(end) = host.attend_firmware().unwrap() {
                break end;
            }
            assert!(host.device_mut().cycle() < 10 * LIMIT);
            host.device_mut().run(7).unwrap();
        };
        assert!(matches!(end, FirmwareEnd::Value(7 | 8)), "{turns}: {end:?}");
        while let Some(words) = host.firmware_mut().unwrap().receive() {
            assert_eq!((words[0], words[1] < 1000), (0x123, true), "{turns}: {words:?}");
            messages += 1;
        }
        // Nothing comes behind the last words.
        host.device_mut().run(2_000).unwrap();
        assert_eq!(host.take_message().unwrap(), None, "{turns}");
    }
    assert!(messages > 4, "{messages}");
}

/// Fault records are the host's again when firmware that took them has ended, in whatever way.
#[test]
fn fault_records_after_the_end() {
    let mut host = host();
    for (rest, ends) in
        [("return 3;", Some(FirmwareEnd::Value(3))), ("return *(volatile int *)0xfff80000;", None)]
    {
        let takes = program(&format!("int main(void) {{ REGISTER(CP_CONTROL) |= 1u << 10; {rest} }}"));
        let (end, _) = run(&mut host, &takes);
        assert!(
            ends.map_or(matches!(end, FirmwareEnd::Trap { cause: 5, .. }), |ends| ends == end),
            "{end:?}"
        );
        assert!(!host.firmware_takes_faults().unwrap());
        // Threads of an illegal instruction.
        host.enable_spawner(4, 0).unwrap();
        host.device_mut().write_memory(0x8000, &[0; 64]).unwrap();
        host.spawn(0, &Descriptor { entry: 0x8000, threads: 3, ..Descriptor::default() }).unwrap();
        host.wait_for_jobs(1).unwrap();
        let (faults, lost) = host.take_faults().unwrap();
        assert_eq!((faults.len(), lost), (2, 0), "a record for each warp");
        assert!(host.take_faults().unwrap().0.is_empty());
    }
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

/// Instructions a cycle of one hart and of four without data cache, in thousandths: at least the
/// limits. Cycles are the same in every run.
#[test]
fn instructions_a_cycle() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels-asm/bench/scalar.c");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scalar.elf");
    build_firmware(&[source], &path).unwrap();
    let (end, output) = run(&mut host(), &Firmware::read(&path).unwrap());
    println!("{output}");
    assert_eq!(end, FirmwareEnd::Value(0), "{output}");
    let figures: Vec<u32> =
        output.lines().filter_map(|line| line.split(": ").last()?.split(' ').next()?.parse().ok()).collect();
    let [one, four] = figures[..] else { panic!("{output}") };
    assert!(one >= 500 && four >= 900, "{output}");
}

#[test]
fn figure_3() {
    let mut host = host();
    let (end, output) = run(&mut host, &example("figure-3.c"));
    assert_eq!(output, "4 jobs of 64 threads, 0 wrong; worked on meanwhile: yes\n");
    assert_eq!(end, FirmwareEnd::Value(0));
    assert_eq!(host.read("SPAWN_JOBS").unwrap(), 4);
}

/// Memory that stops answering: the error names the hart and where it is. When memory answers again
/// the harts become quiet, and other firmware runs.
#[test]
fn memory_that_does_not_answer_is_told_with_the_hart() {
    let waits = program(
        "FIRMWARE_HARTS(2);\n\
         static volatile uint32_t words[4096];\n\
         static void sleep(void *argument) { (void)argument; for (;;) wait_for_interrupt(); }\n\
         int main(void) { hart_start(1, sleep, 0); for (uint32_t i = 0;; i = (i + 64) & 4095) (void)words[i]; }",
    );
    let mut host = host();
    host.reserve_firmware(&waits).unwrap();
    host.start_firmware(&waits).unwrap();
    host.device_mut().run(100_000).unwrap();
    let never = Disturbance { longest_pause: u32::MAX, longest_run: 1, ..Disturbance::default() };
    host.device_mut().disturb_memory(never);
    host.device_mut().run(2_000).unwrap();
    let error = FirmwareLink::stop(&mut host).unwrap_err();
    let CosimError::HartBusy { hart: 0, pc, .. } = error else { panic!("{error}") };
    let place = waits.place(pc).to_string();
    assert!(place.contains("main"), "{place}");
    host.device_mut().disturb_memory(Disturbance::default());
    FirmwareLink::stop(&mut host).unwrap();
}
