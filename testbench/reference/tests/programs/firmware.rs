//! The library and the examples on the reference simulator of the harts, and what cannot be loaded.

use std::path::{Path, PathBuf};

use hermes_programs::firmware::{
    build_firmware, build_firmware_with, Firmware, FirmwareEnd, FirmwareOptions,
};
use hermes_reference::harts::machine::{Abilities, MachineSystem, SystemEnd};

/// Cycles that a program may take.
const LIMIT: u64 = 3_000_000;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels-asm/firmware/examples")
}

fn build(source: &Path) -> Firmware {
    build_with(source, &FirmwareOptions::default())
}

fn build_with(source: &Path, options: &FirmwareOptions) -> Firmware {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("firmware.elf");
    build_firmware_with(&[source.to_path_buf()], options, &path).unwrap_or_else(|error| panic!("{error}"));
    Firmware::read(&path).unwrap()
}

/// Firmware from the text of a C source.
fn program(text: &str) -> Firmware {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    std::fs::write(&source, format!("#include \"hermes_cp.h\"\n{text}")).unwrap();
    build(&source)
}

fn system(firmware: &Firmware, harts: u32) -> MachineSystem {
    let mut system = MachineSystem::new(&firmware.executable, harts, Abilities::ALL).unwrap();
    // CP_STATUS says how many harts there are.
    system.shared.registers.set(0x304, harts << 24);
    // CONFIG: there are user-level interrupts.
    system.shared.registers.set(0x008, 1 << 27);
    system
}

/// Runs the program to its end; also what it wrote to the console.
fn run(system: &mut MachineSystem) -> (FirmwareEnd, String) {
    let end = system.run(LIMIT, |_, _| {});
    let SystemEnd::Ended(words) = end else { panic!("{end:?} at {:#x}", system.harts[0].hart.pc) };
    let output = String::from_utf8(std::mem::take(&mut system.shared.registers.output)).unwrap();
    (FirmwareEnd::of_words(words), output)
}

fn run_text(text: &str) -> (FirmwareEnd, String) {
    run(&mut system(&program(text), 1))
}

/// Constructors run in their order before `main`; what the start-up code does not do is refused by
/// name.
#[test]
fn constructors_and_what_is_refused() {
    let text = "static volatile uint32_t order;\n\
        __attribute__((constructor)) static void last(void) { order = order * 10 + 3; }\n\
        __attribute__((constructor(102))) static void second(void) { order = order * 10 + 2; }\n\
        __attribute__((constructor(101))) static void first(void) { order = order * 10 + 1; }\n\
        int main(void) { return order; }";
    assert_eq!(run_text(text).0, FirmwareEnd::Value(123));
    let refused = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("program.c");
        std::fs::write(&source, format!("#include \"hermes_cp.h\"\n{text}")).unwrap();
        let output = folder.path().join("firmware.elf");
        let error = build_firmware(&[source], &output).unwrap_err().to_string();
        assert!(!output.exists());
        error
    };
    let error = refused("_Thread_local volatile uint32_t mine; int main(void) { return mine; }");
    assert!(error.contains("program.c: has thread-local data `mine` (section .tbss"), "{error}");
    let error = refused("volatile int x; __attribute__((destructor)) void at_end(void) { x = 5; } int main(void) { return 1; }");
    assert!(error.contains("program.c: has a destructor `at_end` (section .fini_array)"), "{error}");
}

#[test]
fn main_ends_the_firmware() {
    assert_eq!(run_text("int main(void) { return 42; }"), (FirmwareEnd::Value(42), String::new()));
    let (end, _) = run_text("int main(void) { return -1; }");
    assert_eq!(end, FirmwareEnd::Value(0x7fff_ffff), "31 bits");
    let (end, _) = run_text("static void f(void) { firmware_end(7); } int main(void) { f(); return 1; }");
    assert_eq!(end, FirmwareEnd::Value(7));
}

#[test]
fn print_formats() {
    let text = r#"int main(void) {
        int n = printf("%d|%5d|%-5d|%05d|%u|%x|%X|%08x|%c|%s|%6s|%-6s|%%|%i\n", -7, 42, -42, -42, 4000000000u, 0xbeef,
                       0xbeef, 0xabc, 'z', "text", "ab", "cd", 0);
        printf("%lu %ld %p %llu %u %lld\n", 5ul, -5l, (void *)0x1000, 5000000000ull, 7u, -5000000000ll);
        puts("end");
        return n;
    }"#;
    let (end, output) = run_text(text);
    let first = "-7|   42|-42  |-0042|4000000000|beef|BEEF|00000abc|z|text|    ab|cd    |%|0\n";
    assert_eq!(output, format!("{first}5 -5 1000 5000000000 7 -5000000000\nend\n"));
    assert_eq!(end, FirmwareEnd::Value(first.len() as u32));
}

/// Data that is set, data that is zero, and data in local memory, which the linker places and hart
/// 0 copies.
#[test]
fn memory_is_prepared() {
    let text = r#"
        static int set = 5, zero;
        LOCAL static int local = 9;
        LOCAL static int more[100] = {1, 2, 3};
        int main(void) {
            return zero == 0 && set == 5 && local == 9 && more[2] == 3 && more[99] == 0 && (uintptr_t)&local >= 0xfffe0000 ? 0 : 1;
        }"#;
    let firmware = program(text);
    let mut system = system(&firmware, 1);
    system.shared.local.fill(0xee);
    assert_eq!(run(&mut system).0, FirmwareEnd::Value(0));
    let most = "LOCAL int big[2048 - 18]; int main(void) { return big[0]; }";
    assert_eq!(run_text(most).0, FirmwareEnd::Value(0));
}

#[test]
fn traps_are_explained() {
    let text = "static __attribute__((noinline)) void fails(volatile int *p) { *p = 1; }\n\
                int main(void)\n{\n    fails((volatile int *)0xfff80000);\n    return 0;\n}\n";
    let firmware = program(text);
    let (end, _) = run(&mut system(&firmware, 1));
    let FirmwareEnd::Trap { cause: 7, value: 0xfff8_0000, hart: 0, .. } = end else { panic!("{end:?}") };
    let text = end.explain(&firmware);
    assert!(text.contains("hart 0: store where there is no memory or register"), "{text}");
    assert!(text.contains(" fails") && text.contains("(program.c:2)"), "{text}");

    let (end, _) =
        run_text("int main(void) { csr_write(mie, 8); hart_interrupt(0); interrupts_on(); return 0; }");
    let FirmwareEnd::Trap { cause, .. } = end else { panic!("{end:?}") };
    assert_eq!(cause, 1 << 30 | 3, "an interrupt without a handler");
}

#[test]
fn stack_overflow_is_noticed() {
    let deep = |calls: u32| {
        format!(
            "static int deep(int n) {{ volatile int a[40]; for (int i = 0; i < 40; i++) a[i] = n; return n ? deep(n - 1) + a[n % 40] : 0; }}\n\
             int main(void) {{ return deep({calls}); }}"
        )
    };
    let firmware = program(&deep(16));
    let (end, _) = run(&mut system(&firmware, 1));
    assert!(matches!(end, FirmwareEnd::StackOverflow { hart: 0, .. }), "{end:?}");
    assert!(end.explain(&firmware).contains("stack overflow"), "{}", end.explain(&firmware));
    // A trap that finds no room for the saved registers.
    let text = "int main(void) { __asm__ volatile(\"addi sp, tp, 16\\n.word 0\"); return 0; }";
    let (end, _) = run_text(text);
    assert!(matches!(end, FirmwareEnd::StackOverflow { .. }), "{end:?}");
    // A few frames have room.
    assert_eq!(run_text(&deep(5)).0, FirmwareEnd::Value(15));
}

#[test]
fn exceptions_can_be_handled() {
    let text = r#"
        static int skip(uint32_t cause, uint32_t value, struct trap_frame *frame) {
            if (cause != 2) return 1;
            frame->a[0] = value;
            frame->pc += 4;
            return 0;
        }
        int main(void) {
            exception_handle(skip);
            register uint32_t a0 __asm__("a0") = 0;
            __asm__ volatile(".word 0x00c0ffee & ~3" : "+r"(a0));
            return (int)a0;
        }"#;
    assert_eq!(run_text(text).0, FirmwareEnd::Value(0x00c0_ffec));
}

/// An exception in an interrupt handler leaves interrupts of both kinds as they were.
#[test]
fn traps_in_handlers() {
    let text = r#"
        static volatile uint32_t ticks;
        static int skip(uint32_t cause, uint32_t value, struct trap_frame *frame) {
            if (cause != 11) return 1;
            frame->pc += 4;
            return 0;
        }
        static void tick(void) { __asm__ volatile("ecall"); ticks++; timer_off(); }
        int main(void) {
            exception_handle(skip);
            interrupt_handle(INTERRUPT_TIMER, tick);
            timer_at(time_now() + 300);
            interrupts_on();
            while (!ticks) wait_for_interrupt();
            __asm__ volatile("ecall");
            return (csr_read(ulictl) & 1) | (csr_read(mstatus) & 8);
        }"#;
    assert_eq!(run_text(text).0, FirmwareEnd::Value(8), "not blocked, interrupts on");
}

#[test]
fn timer_and_software_interrupts() {
    let text = r#"
        static volatile uint32_t ticks, rung;
        static uint64_t next;
        static void tick(void) { ticks++; next += 500; timer_at(next); }
        static void ring(void) { hart_interrupt_clear(); rung++; }
        int main(void) {
            interrupt_handle(INTERRUPT_TIMER, tick);
            interrupt_handle(INTERRUPT_SOFTWARE, ring);
            next = time_now() + 500;
            timer_at(next);
            interrupts_on();
            while (ticks < 10) wait_for_interrupt();
            timer_off();
            hart_interrupt(0);
            while (!rung) ;
            uint64_t late = time_now() - (next - 500);
            return late < 400 && rung == 1 ? (int)ticks : 99;
        }"#;
    assert_eq!(run_text(text).0, FirmwareEnd::Value(10));
}

/// A channel is made pending by the program itself; another hart writes the word that a channel
/// watches.
#[test]
fn user_level_interrupts() {
    let text = r#"
        FIRMWARE_HARTS(2);
        static volatile uint32_t word, seen, forced;
        ULI_HANDLER(on_write) { seen = word; }
        ULI_HANDLER_PLAIN(on_force) { forced++; }
        static void write_it(void *value) { word = (uint32_t)value; }
        int main(void) {
            if (uli_arm(ULI_WRITTEN, 0, on_write, uli_word(&word))) return 1;
            if (uli_arm(ULI_WRITTEN, 1, on_force, uli_range((void *)0x200000, 64))) return 2;
            csr_set(ulipend, 2);
            if (forced != 1) return 3;
            word = 5;
            if (seen) return 4;
            hart_start(1, write_it, (void *)77);
            uli_wait(&seen);
            if (seen != 77 || csr_read(ulicause) != 0x100) return 5;
            if (uli_disarm(0) != (ULI_WAS_ARMED | 0x100)) return 6;
            return 0;
        }"#;
    let firmware = program(text);
    assert_eq!(firmware.harts, 2);
    assert_eq!(run(&mut system(&firmware, 2)).0, FirmwareEnd::Value(0));
}

#[test]
fn example_two_harts() {
    let firmware = build(&examples().join("two-harts.c"));
    for harts in [2, 4, 8] {
        let (end, output) = run(&mut system(&firmware, harts));
        assert_eq!((end, output.as_str()), (FirmwareEnd::Value(0), "sum 374250\n"), "{harts}");
    }
}

#[test]
fn example_echo() {
    let firmware = build(&examples().join("echo.c"));
    let mut system = system(&firmware, 1);
    system.shared.registers.type_in(b"hello, Hermes 1\n");
    let end = system.run(20_000, |_, _| {});
    assert_eq!(end, SystemEnd::Idle, "it waits for events");
    assert!(system.shared.registers.send([1, 2, 3, 4]));
    assert_eq!(system.run(20_000, |_, _| {}), SystemEnd::Idle);
    assert_eq!(system.shared.registers.sent, [[5, 4, 3, 2]]);
    system.shared.registers.type_in(b"x\n\x04");
    let (end, output) = run(&mut system);
    assert_eq!((end, output.as_str()), (FirmwareEnd::Value(2), "echo: type a line\nHELLO, HERMES 1\nX\n"));
}

#[test]
fn example_governor() {
    let firmware = build(&examples().join("mcw-governor.c"));
    let mut system = system(&firmware, 1);
    let offset = hermes_rtl::host::registers::offset;
    system.shared.registers.set(offset("CONFIG"), 2 << 8);
    system.shared.registers.set(offset("MCW"), 8);
    // Few packets wait: down to 4. More: up at once, by one for each 32 that wait, to 8 at most.
    system.run(40_000, |_, _| {});
    assert_eq!(system.shared.registers.get(offset("MCW")), 4);
    for (waiting, expected) in [(33, 5), (200, 8)] {
        system.shared.registers.set(offset("BACKLOG"), waiting);
        system.run(2_000, |_, _| {});
        assert_eq!(system.shared.registers.get(offset("MCW")), expected, "{waiting}");
    }
    assert!(system.shared.registers.send([0, 1, 0, 0]));
    let (end, output) = run(&mut system);
    assert_eq!(end, FirmwareEnd::Value(6), "{output}");
    assert!(output.ends_with("MCW 8 at the end\n"), "{output}");
}

/// The MCW becomes what commits in the time that is aimed at, and one more: up while packets wait,
/// down while warps stay for longer.
#[test]
fn example_delay_governor() {
    let firmware = build(&examples().join("delay-governor.c"));
    let mut system = system(&firmware, 1);
    let offset = hermes_rtl::host::registers::offset;
    system.shared.registers.set(offset("CONFIG"), 2 << 8);
    system.shared.registers.set(offset("MCW"), 16);
    let mut committed = 0;
    // Warps that commit in 500 cycles, those on the cores, packets that wait, and the MCW, on two
    // cores with 2,000 cycles to aim at.
    let cases =
        [(0, 10, 5, 4..=4), (5, 8, 5, 10..=12), (5, 40, 0, 10..=12), (1, 40, 9, 2..=3), (5, 4, 0, 2..=3)];
    for (commits, on_cores, waiting, expected) in cases {
        system.shared.registers.set(offset("BACKLOG"), waiting);
        for step in 0..100 {
            committed += u32::from(step % 5 < commits);
            system.shared.registers.set(offset("COMMITTED_WARPS"), committed);
            system.shared.registers.set(offset("ISSUED_WARPS"), committed + on_cores);
            system.run(100, |_, _| {});
        }
        let mcw = system.shared.registers.get(offset("MCW"));
        assert!(expected.contains(&mcw), "{mcw}; {commits} {on_cores} {waiting}");
    }
    assert!(system.shared.registers.send([0, 1, 0, 0]));
    let (end, output) = run(&mut system);
    assert!(matches!(end, FirmwareEnd::Value(2..)), "{output}");
    assert!(output.contains(" changes, MCW "), "{output}");
}

/// Every example builds without a warning, and says where its lines are.
#[test]
fn every_example_builds() {
    let mut count = 0;
    for entry in std::fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        // The page of lane traps looks by atomic operations.
        let atomics = path.ends_with("lane-traps.c");
        let firmware = build_with(&path, &FirmwareOptions { atomics, ..FirmwareOptions::default() });
        let place = firmware.place(firmware.executable.symbol("main").unwrap().address);
        assert_eq!(place.symbol, Some(("main".to_string(), 0)));
        assert!(place.line.is_some(), "{place}");
        count += 1;
    }
    assert_eq!(count, 9);
}

#[test]
fn what_cannot_be_built() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let fails = |name: &str, text: &str, expected: &str| {
        std::fs::write(at(name), text).unwrap();
        let error = build_firmware(&[at(name)], &at("none.elf")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!at("none.elf").exists());
    };
    fails("a.c", "int main(void) { return missing; }", "a.c");
    fails("b.c", "int start(void) { return 0; }", "main");
    fails("c.rs", "", "expected a name that ends with .S, .s or .c");
    fails("d.c", "#include \"hermes_cp.h\"\nLOCAL int big[2048]; int main(void) { return big[0]; }", "local");
    let error = build_firmware(&[at("none.c")], &at("none.elf")).unwrap_err();
    assert!(format!("{:#}", anyhow::Error::from(error)).contains("none.c: No such file"));
}

#[test]
fn what_cannot_be_loaded() {
    let firmware = program("FIRMWARE_HARTS(2); int main(void) { return 0; }");
    let fails = |harts, memory, others: &[(String, u32, usize)], expected: &str| {
        let error = firmware.check(harts, memory, others).unwrap_err();
        assert!(error.contains("firmware.elf: ") && error.contains(expected), "{error}");
    };
    firmware.check(2, 1 << 24, &[("the kernel".into(), 0x1000, 0xf000)]).unwrap();
    fails(0, 1 << 24, &[], "no command processor; expected --command-threads 1 or more");
    fails(1, 1 << 24, &[], "firmware_harts is 2, and the array has 1; expected --command-threads 2");
    fails(2, 0x1_0100, &[], "ends outside the shared memory");
    fails(
        2,
        1 << 24,
        &[("the kernel k.elf".into(), 0x1000, 0xf001)],
        "overlaps the kernel k.elf at 0x00001000",
    );

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.elf");
    let build_with = |flags: &[&str], text: &str| {
        let source = folder.path().join("bad.c");
        std::fs::write(&source, text).unwrap();
        let mut command = std::process::Command::new("riscv64-unknown-elf-gcc");
        command
            .args(flags)
            .args(["-nostdlib", "-ffreestanding", "-Wl,--no-relax", "-o"])
            .arg(&path)
            .arg(&source);
        assert!(command.status().unwrap().success());
        Firmware::read(&path).err().unwrap().to_string()
    };
    let text = "void _start(void) { for (;;) ; }";
    let i = ["-march=rv32i", "-mabi=ilp32", "-Wl,-m,elf32lriscv"];
    for (flags, expected) in [
        (&["-march=rv32ic", "-mabi=ilp32", "-Wl,-m,elf32lriscv"][..], "compressed instructions"),
        (&["-march=rv32e", "-mabi=ilp32e", "-Wl,-m,elf32lriscv"], "RV32E in e_flags); expected RV32I"),
        (&["-march=rv64i", "-mabi=lp64"], "64-bit ELF file; expected 32-bit RISC-V"),
        (&[i[0], i[1], i[2], "-Wl,-Ttext=0xfff00000"], "outside the shared memory"),
        (&[i[0], i[1], i[2], "-Wl,-e,0x13"], "e_entry is 0x00000013"),
    ] {
        let error = build_with(flags, text);
        assert!(error.contains(expected) && error.contains("bad.elf"), "{error}");
    }
    let error = build_with(&i, "const unsigned firmware_harts = 9; unsigned _start(void) { return *(volatile const unsigned *)&firmware_harts; }");
    assert!(error.contains("firmware_harts is 9; expected 1 to 8"), "{error}");
    std::fs::write(&path, "text").unwrap();
    let error = Firmware::read(&path).err().unwrap().to_string();
    assert!(error.contains("hermes firmware build"), "{error}");
}
