//! `hermes firmware` and `hermes run --firmware`: the examples on the array, what goes wrong in
//! firmware, and what cannot be run.

mod common;

use std::path::Path;

use common::Folder;

/// A small array.
const ARRAY: &str = "--preset fpga --cores 1 --lanes 2 --warps 2";

/// A folder with every example built.
fn examples() -> Folder {
    let folder = Folder::new();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels-asm/firmware/examples");
    for name in ["figure-3", "echo", "mcw-governor", "fault-log", "two-harts"] {
        folder.succeed(&format!("firmware build {}/{name}.c -o {name}.elf", sources.display()));
    }
    folder
}

/// Builds `text` as NAME.c to NAME.elf.
fn build(folder: &Folder, name: &str, text: &str) {
    folder.write(&format!("{name}.c"), format!("#include \"hermes_cp.h\"\n{text}"));
    folder.succeed(&format!("firmware build {name}.c -o {name}.elf"));
}

#[test]
fn examples_run() {
    let folder = examples();
    let output = folder.succeed(&format!("run --firmware figure-3.elf {ARRAY}"));
    assert_eq!(output, "4 jobs of 64 threads, 0 wrong; worked on meanwhile: yes\n");

    folder.write("in.txt", "first line\nsecond line, longer than the sixteen bytes of the array\n\x04");
    let echo = folder.hermes(&format!("run --firmware echo.elf --firmware-input in.txt {ARRAY}"));
    let text = String::from_utf8_lossy(&echo.stdout);
    assert_eq!(
        text,
        "echo: type a line\nFIRST LINE\nSECOND LINE, LONGER THAN THE SIXTEEN BYTES OF THE ARRAY\n",
        "{}",
        String::from_utf8_lossy(&echo.stderr)
    );
    assert_eq!(echo.status.code(), Some(2), "the value of main");

    let info = folder.succeed("firmware info two-harts.elf");
    assert!(info.contains("entry      0x00010000\n") && info.contains("harts      2\n"), "{info}");
    assert!(info.contains(" main\n"), "{info}");
}

/// An array whose lanes can trap, with atomic operations, small.
const TRAPS: &str = "--preset fpga --cores 1 --lanes 2 --warps 4 --command-threads 1 --uli-channels 2 --spawn-slots 8 --atomics \
                     --local-window";

/// Threads that fault, and what the command processor makes of it: the example; threads that are
/// beyond help, whose fault is told, beside others that go on.
#[test]
fn lanes_that_fault_ask_the_command_processor() {
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels-asm/firmware/examples/lane-traps.c");
    folder.succeed(&format!("firmware build --atomics {} -o traps.elf", example.display()));
    let output = folder.succeed(&format!("run --firmware traps.elf {TRAPS}"));
    assert!(output.starts_with(".24 threads, 0 wrong; "), "{output}");
    assert!(output.contains("accesses made 32, services 25, instructions 24"), "{output}");

    let text = "#include \"hermes_proxy.h\"
        static struct spawn_descriptor page[16] __attribute__((aligned(1024)));
        static volatile uint32_t completion, done[8], shared[20];
        static void thread(uint32_t number, volatile uint32_t *words) {
            if (number == 1) words = (volatile uint32_t *)0x40;
            if (number == 2) words = done + 6;
            if (number == 3) __asm__ volatile(\".word 0\");
            if (number == 4) words += 18;
            words[number & 1] = number;
            done[number] = 1;
        }
        ULI_HANDLER_PLAIN(job_done) {}
        int main(void) {
            REGISTER(SPAWN_CONTROL) = 1;
            if (!spawn_page(page)) return 1000;
            REGISTER(READ_WINDOW_0_BASE) = REGISTER(WRITE_WINDOW_0_BASE) = (uint32_t)&proxy_area;
            REGISTER(READ_WINDOW_0_SIZE) = REGISTER(WRITE_WINDOW_0_SIZE) = sizeof proxy_area;
            proxy_region(shared, 18 * 4, 1);
            proxy_region(done, sizeof done, 1);
            proxy_start();
            page[0].argument0 = (uint32_t)shared;
            page[0].shape = 6;
            page[0].completion = (uint32_t)&completion;
            page[0].token = 9;
            uli_arm(ULI_WRITTEN, 0, job_done, uli_word(&completion));
            spawn(&page[0], thread);
            uint32_t word = proxy_wait(&completion, 9);
            printf(\"%x: %u%u%u%u%u%u, ended %u\\n\", word, done[0], done[1], done[2], done[3], done[4], done[5], proxy_kills);
            return 0;
        }";
    folder.write("ends.c", text);
    folder.succeed("firmware build --atomics ends.c -o ends.elf");
    let ends = folder.hermes(&format!("run --firmware ends.elf {TRAPS}"));
    let (told, said) = (String::from_utf8_lossy(&ends.stdout), String::from_utf8_lossy(&ends.stderr));
    // Outside every region: thread 1, and 4, one word behind its end; thread 3 has no instruction.
    assert_eq!(told, "80000009: 101001, ended 3\n", "{said}");
    assert!(said.contains("3 threads of the thread spawner ended with a fault"), "{said}");
    assert!(said.contains("in proxy_page"), "{said}");
}

/// The table has the cycles that the program itself has counted.
#[test]
fn the_profile_counts_what_the_program_counts() {
    let folder = Folder::new();
    let text = "static volatile uint32_t factor = 7; int main(void) { uint32_t first = csr_read(mcycle), sum = 1; for (uint32_t i = 0; i < 300; i++) sum = sum * factor + 1;\n\
                uint32_t last = csr_read(mcycle); printf(\"%u\\n\", last - first); return sum == 0; }";
    build(&folder, "counts", text);
    let output = folder.succeed(&format!("run --firmware counts.elf --firmware-profile {ARRAY}"));
    let number = |line: &str| line.split_whitespace().find_map(|word| word.parse::<u64>().ok()).unwrap();
    let row =
        |name: &str| number(output.lines().find(|line| line.trim_start().starts_with(name)).expect(name));
    let counted = number(output.lines().next().unwrap());
    assert_eq!(row("cycles"), counted, "{output}");
    let lost: u64 = output.lines().skip(3).take(10).map(number).sum();
    assert_eq!(row("instructions") + lost, counted, "{output}");
    assert!(row("jumps") >= 598 && row("loads") > 3000 && row("use of a product") >= 300, "{output}");
    let refused = folder.hermes(&format!("run --firmware counts.elf --firmware-profile --pcap x {ARRAY}"));
    assert_eq!(refused.status.code(), Some(2), "a wrong use of options");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cannot be used with '--pcap"));
}

#[test]
fn beside_packets() {
    let folder = examples();
    folder.succeed("gen-trace --kind imix --packets 300 --seed 3 -o in.pcap");
    let run = format!("run --app dec-ttl --pcap in.pcap {ARRAY}");
    let output = folder.hermes(&format!("{run} --firmware mcw-governor.elf"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains(" looks, ") && text.contains(" changes, MCW "), "{text}");
    assert!(text.contains("packets"), "{text}");
    // Its value is the number of changes.
    let changes = text.split(" looks, ").nth(1).unwrap().split(' ').next().unwrap().parse::<i32>().unwrap();
    assert_eq!(output.status.code(), Some(changes.min(255)), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every packet of this kernel faults. The first records may still be the host's, until the
/// firmware takes them.
#[test]
fn faults_are_logged() {
    let folder = examples();
    folder.succeed("gen-trace --kind imix --packets 300 --seed 3 -o in.pcap");
    folder.write("bad.S", ".include \"packet.inc\"\n.globl kernel\nkernel: .word 0\n");
    folder.succeed("kernel build bad.S -o bad.elf");
    let run = format!("run --kernel bad.elf --pcap in.pcap --fail-on-fault=false {ARRAY}");
    let output = folder.hermes(&format!("{run} --firmware fault-log.elf"));
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains(": cause 2 at 00001000, value 00000000, packet "), "{text}{error}");
    let logged = text.lines().filter(|line| line.contains(": cause 2 at ")).count();
    assert!(logged > 20, "{text}{error}");
    assert_eq!(output.status.code(), Some(logged.min(255) as i32), "{text}{error}");
    // No packet faults: the end of the packets wakes it.
    folder.succeed(&format!("run --app dec-ttl --pcap in.pcap {ARRAY} --firmware fault-log.elf"));
}

/// Kernels neither store to the firmware nor load from it: their windows are closed there, whatever
/// the firmware does.
#[test]
fn kernels_are_kept_out_of_firmware() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 40 --seed 3 -o in.pcap");
    build(
        &folder,
        "guarded",
        "static volatile uint32_t words[64] = {1, 2, 3, 4};\n\
         int main(void) { uint32_t w[4], sum = 0; while (!mailbox_receive(w)) ; acquire(); for (int i = 0; i < 64; i++) sum += words[i]; return sum; }",
    );
    // From the first to the last word of the firmware; the first and the last bytes outside it are
    // open.
    let info = folder.succeed("firmware info guarded.elf");
    assert!(info.contains("entry      0x00010000\n"), "{info}");
    for (access, cause) in [("sw zero, 0(t0)", "fault: store access"), ("lw t1, 0(t0)", "fault: load access")]
    {
        let kernel = |address: &str| {
            format!(".include \"packet.inc\"\n.globl kernel\nkernel:\n    li t0, {address}\n    {access}\n    li a0, 1\n    ret\n")
        };
        let run =
            |name: &str| format!("run --kernel {name}.elf --pcap in.pcap {ARRAY} --firmware guarded.elf");
        for address in ["0x10000", "0x10040", "0x10400"] {
            folder.write("inside.S", kernel(address));
            folder.succeed("kernel build inside.S -o inside.elf");
            folder.fail(&run("inside"), &["40 threads", cause]);
            let output = folder.hermes(&format!("{} --fail-on-fault=false", run("inside")));
            assert_eq!(
                output.status.code(),
                Some(10),
                "{address}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        folder.write("outside.S", kernel("0x8000"));
        folder.succeed("kernel build outside.S -o outside.elf");
        assert_eq!(folder.hermes(&run("outside")).status.code(), Some(10));
    }
}

/// A reader of the output that goes away does not keep the results from their files, nor changes
/// the exit code.
#[test]
fn output_that_nobody_reads() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 50 --seed 3 -o in.pcap");
    build(
        &folder,
        "talk",
        "int main(void) { uint32_t w[4]; while (!mailbox_receive(w)) puts(\"words\"); return 3; }",
    );
    let run = format!("run --app dec-ttl --pcap in.pcap --out out.pcap {ARRAY} --firmware talk.elf");
    let output = folder.hermes_with(&run, |command| {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        command.stdout(writer);
    });
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path("out.pcap").exists());
}

/// Threads that firmware starts on the cores and that fault are told, also if the firmware does not
/// look.
#[test]
fn threads_that_fault_are_told() {
    let folder = Folder::new();
    build(
        &folder,
        "threads",
        "static struct spawn_descriptor page[16] __attribute__((aligned(1024)));\n\
         static const uint32_t job = 0;\n\
         int main(void) { REGISTER(SPAWN_CONTROL) = 1; spawn_page(page); for (int i = 1; i < 8; i++) ((volatile uint32_t *)page)[i] = 0; page[0].shape = 2; spawn(&page[0], (void *)&job);\n\
         while (REGISTER(SPAWN_BUSY)) ; return 0; }",
    );
    folder.fail(
        &format!("run --firmware threads.elf {ARRAY}"),
        &[
            "fault: illegal instruction at PC 0x",
            " in job",
            "2 threads of the thread spawner, the first thread 0 of the job in slot 0",
            "threads.elf: 2 threads of the thread spawner ended with a fault",
        ],
    );
    // Beside packets they are no packets' faults.
    folder.succeed("gen-trace --kind fixed:64 --packets 20 -o in.pcap");
    build(
        &folder,
        "beside",
        "static struct spawn_descriptor page[16] __attribute__((aligned(1024)));\n\
         uint32_t shared;\nstatic void job(void) { shared++; }\n\
         int main(void) { uint32_t w[4]; REGISTER(SPAWN_CONTROL) = 1; spawn_page(page); for (int i = 1; i < 8; i++) ((volatile uint32_t *)page)[i] = 0; page[0].shape = 2 | (REGISTER(KERNEL_CLASS) ? SPAWN_RV32E : 0); spawn(&page[0], job);\n\
         while (REGISTER(SPAWN_BUSY)) ; while (!mailbox_receive(w)) ; return 0; }",
    );
    let run = format!("run --app dec-ttl --pcap in.pcap --firmware beside.elf {ARRAY} --json report.json");
    let told = [
        "fault: load access at PC 0x",
        " in job",
        "(beside.c:4)",
        "(byte 0 of shared): 2 threads of the thread spawner",
    ];
    folder.fail(
        &format!("{run} --fail-on-fault"),
        &[&told[..], &["2 threads of the thread spawner ended with a fault"]].concat(),
    );
    let report = folder.report("report.json");
    let cause = &report["fault_causes"][0];
    assert!(
        cause["first_packet"].is_null() && cause["first_spawned"] == serde_json::json!([0, 0]),
        "{cause}"
    );
    assert_eq!(report["verdicts"]["forward: port 0"], 20);
    // Alone they reach it, and race: both add to one word.
    folder.fail(
        &format!("run --firmware beside.elf --races --firmware-timeout 60000 {ARRAY}"),
        &["race: ", " in job", "(beside.c:4)", "by thread 1 of the job in slot 0", "(byte 0 of shared)"],
    );
}

/// What firmware asks for that the array does not have, or that was not set up.
#[test]
fn misuse_of_channels_and_spawner_is_named() {
    let folder = Folder::new();
    build(
        &folder,
        "channel",
        "ULI_HANDLER(done)\n{\n}\nuint32_t word;\nint main(void) { uli_arm(ULI_WRITTEN, 5, done, uli_word(&word)); return 0; }",
    );
    let run = |name: &str, more: &str| format!("run --firmware {name}.elf {ARRAY} {more}");
    folder.fail(&run("channel", ""), &["illegal instruction", "EMONITOR of channel 5", "--uli-channels"]);
    // Harts alone take away neither channels nor spawner.
    build(
        &folder,
        "harts",
        "int main(void) { printf(\"%u %u %u\", REGISTER(CONFIG) >> 26 & 1, REGISTER(CONFIG) >> 27 & 1, REGISTER(CP_STATUS) >> 24 & 15); return 0; }",
    );
    assert_eq!(folder.succeed(&run("harts", "--command-threads 2")), "1 1 2");
    build(
        &folder,
        "page",
        "static struct spawn_descriptor page[16] __attribute__((aligned(1024)));\nstatic void job(void) {}\n\
         int main(void) { volatile uint32_t done = 0; REGISTER(SPAWN_CONTROL) = 1; page[0].shape = 1; page[0].completion = (uint32_t)&done; page[0].token = 1; spawn(&page[0], job); while (!done) ; return 0; }",
    );
    folder
        .fail(&run("page", "--firmware-timeout 20000"), &["has no descriptor page", "not at its end after"]);
    build(
        &folder,
        "shape",
        "static struct spawn_descriptor page[16] __attribute__((aligned(1024)));\nstatic void job(void) {}\n\
         int main(void) { REGISTER(SPAWN_CONTROL) = 1; spawn_page(page); for (int i = 1; i < 8; i++) ((volatile uint32_t *)page)[i] = 0; page[0].shape = 1 | SPAWN_RV32E; spawn(&page[0], job); while (!REGISTER(SPAWN_ERRORS)) ; printf(\"%f %d%%\", 1.5, 7); return 0; }",
    );
    let output = folder.hermes(&run("shape", ""));
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && error.contains("the thread spawner rejected 1 descriptor"), "{error}");
    assert_eq!(text, "[%f is not supported] 7%");
}

/// The options of the compiler, all four at once, and what they refuse, as in `kernel build`.
#[test]
fn options_of_the_compiler() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("headers")).expect("a folder");
    folder.write("headers/step.h", "#define STEP 5\n");
    folder.write(
        "options.c",
        "#include \"hermes_cp.h\"\n#include \"step.h\"\nstatic uint32_t sum;\nint main(void)\n{\n\
         __atomic_fetch_add(&sum, STEP * FACTOR + ONE, __ATOMIC_RELAXED);\n#ifdef __OPTIMIZE_SIZE__\nputs(\"small\");\n#elif defined __OPTIMIZE__\nputs(\"fast\");\n#endif\n\
         printf(\"%u\", sum);\nreturn 0;\n}\n",
    );
    let build = |options: &str| format!("firmware build options.c -o options.elf {options}");
    let run = format!("run --firmware options.elf {ARRAY}");
    for (level, text) in [("-O s", "small\n"), ("-O0", ""), ("-O 3", "fast\n"), ("", "fast\n")] {
        folder.succeed(&build(&format!("-I headers -D FACTOR=8 -D ONE --atomics {level}")));
        let told = folder.succeed(&format!("run --firmware options.elf {TRAPS}"));
        assert_eq!(told, format!("{text}41"), "{level}");
    }
    folder.fail(&run, &["options.elf: is built for rv32ima", "they lack a; expected --atomics"]);
    std::fs::remove_file(folder.path("options.elf")).expect("a file");
    folder.fail(&build("-I headers -D FACTOR=8 -D ONE"), &["options.c", "`__atomic_fetch_add_4'"]);
    folder.fail(&build("-I headers -D FACTOR=8 --atomics"), &["options.c:6:", "'ONE' undeclared"]);
    folder.fail(&build("-D FACTOR=8 -D ONE --atomics"), &["step.h: No such file"]);
    folder.write("k.c", "#include <hermes.h>\nuint32_t kernel(void) { return 0; }\n");
    for build in [build(""), "kernel build k.c -o options.elf".to_string()] {
        folder.fail(&format!("{build} -I headers -I none"), &["-I none: No such file or directory"]);
        folder.fail(&format!("{build} -I options.c"), &["-I options.c: expected a folder"]);
        for (options, parts) in [
            ("-O 4", ["invalid value '4' for '-O <LEVEL>'", "[possible values: 0, 1, 2, 3, s, z, g]"]),
            ("-O fast", ["invalid value 'fast' for '-O <LEVEL>'", "[possible values: 0, 1, 2, 3, s, z, g]"]),
            ("-D 1st=2", ["invalid value '1st=2' for '-D <NAME[=VALUE]>'", "expected NAME or NAME=VALUE"]),
        ] {
            let output = folder.hermes(&format!("{build} {options}"));
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{error}");
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }
    assert!(!folder.path("options.elf").exists());
}

/// A handler of a user-level interrupt is no plain function, and a plain function no such handler.
#[test]
fn what_is_no_handler_is_named() {
    let folder = Folder::new();
    let refused = |name: &str, text: &str, options: &str, parts: &[&str]| {
        folder.write(
            &format!("{name}.c"),
            format!("#include \"hermes_cp.h\"\nstatic volatile uint32_t word, seen;\n{text}"),
        );
        folder.fail(&format!("firmware build {name}.c -o {name}.elf {options}"), parts);
        assert!(!folder.path(&format!("{name}.elf")).exists());
    };
    let plain = "static void done(void)\n{\n    seen = word;\n}\n\
                 int main(void)\n{\n    uli_arm(ULI_WRITTEN, 0, done, uli_word(&word));\n    while (!seen) ;\n    return 0;\n}\n";
    for level in ["-O 0", "-O 1", "-O 2", "-O s", "-O 2 --atomics"] {
        refused(
            "plain",
            plain,
            level,
            &[
                "plain.c: EMONITOR at 0x",
                " main",
                "(plain.c:9) arms a channel with 0x",
                " done (plain.c:",
                "which ends with `ret` at 0x",
                "as `ULI_HANDLER(name)` defines one",
            ],
        );
    }
    refused(
        "trap",
        "__attribute__((interrupt)) static void done(void) { seen = word; }\n\
         int main(void) { uli_arm(ULI_WRITTEN, 0, done, uli_word(&word)); while (!seen) ; return 0; }",
        "",
        &["trap.c: EMONITOR at 0x", " done (trap.c:3), which ends with `mret` at 0x"],
    );
    refused(
        "none",
        "int main(void) { uli_arm(ULI_WRITTEN, 0, 0, uli_word(&word)); return 0; }",
        "",
        &["none.c: EMONITOR at 0x", "0x00000000, where the firmware has no instruction"],
    );
    // What is built elsewhere is refused where it is run. The entry in assembly ends with a jump.
    folder.write("far.S", ".globl far\n.type far, @function\nfar:\n    beqz a0, 1f\n    .word 0x100b\n1:  j far\n.size far, . - far\n");
    folder.write(
        "chosen.c",
        "#include \"hermes_cp.h\"\nvoid far(void);\nstatic volatile uint32_t word, seen, which;\n\
         ULI_HANDLER(good)\n{\n    seen = 1;\n}\nstatic void bad(void)\n{\n    seen = 2;\n}\nstatic void (*const handlers[])(void) = {good, bad, far};\n\
         int main(void)\n{\n    which = WHICH;\n    uli_arm(ULI_EVENT, 0, handlers[which], EVENT_DOORBELL(0));\n    return VALUE;\n}\n",
    );
    let run = |which: &str, value: &str| {
        folder.succeed(&format!(
            "firmware build chosen.c far.S -o chosen.elf -D WHICH={which} -D VALUE={value}"
        ));
        format!("run --firmware chosen.elf {ARRAY}")
    };
    for which in ["0", "2"] {
        folder.succeed(&run(which, "0"));
    }
    // Only the run can tell which one it is.
    folder.fail(
        &run("1", "0"),
        &[
            "chosen.elf: hart 0 has armed channel 0 with 0x",
            " bad (chosen.c:10), which ends with `ret` at 0x",
            "main returned 0",
        ],
    );
    folder.fail(&run("1", "5"), &["hart 0 has armed channel 0 with 0x", "main returned 5"]);
    // The other way round.
    refused(
        "swapped",
        "ULI_HANDLER(tick)\n{\n}\nint main(void) { interrupt_handle(INTERRUPT_SOFTWARE, 0); interrupt_handle(INTERRUPT_TIMER, tick); for (;;) ; }",
        "",
        &["swapped.c: interrupt_handle at 0x", " main", " is given 0x", " tick", "which ends with ERETURN at 0x", "expected a plain function"],
    );
    build(
        &folder,
        "outside",
        "static interrupt_handler volatile chosen;\nULI_HANDLER(tick)\n{\n}\n\
         int main(void) { timer_at(0); chosen = tick; interrupt_handle(INTERRUPT_TIMER, chosen); interrupts_on(); for (;;) wait_for_interrupt(); }",
    );
    folder.fail(
        &format!("run --firmware outside.elf {ARRAY} --uli-channels 0"),
        &[
            "illegal instruction",
            " tick+0x",
            "ERETURN outside of a user-level interrupt",
            "are plain functions",
        ],
    );
}

#[test]
fn what_goes_wrong_is_explained() {
    let folder = Folder::new();
    let fails = |name: &str, text: &str, options: &str, parts: &[&str]| {
        build(&folder, name, text);
        folder.fail(&format!("run --firmware {name}.elf {ARRAY} {options}"), parts);
    };
    fails(
        "trap",
        "static __attribute__((noinline)) int fails(volatile int *p)\n{\n    return *p;\n}\n\
         int main(void) { return fails((volatile int *)0xfff80000); }",
        "",
        &[
            "trap.elf: hart 0: load where there is no memory or register at 0x",
            " fails",
            "(trap.c:4)",
            "value 0xfff80000",
        ],
    );
    fails(
        "stack",
        "static int deep(int n) { volatile int a[40]; for (int i = 0; i < 40; i++) a[i] = n; return deep(n + 1) + a[n % 40]; }\n\
         int main(void) { return deep(0); }",
        "",
        &["stack.elf: hart 0: stack overflow"],
    );
    fails(
        "locked",
        "int main(void) { csr_write(mtvec, 0xfff80000); __asm__ volatile(\"ecall\"); return 0; }",
        "",
        &[
            "locked.elf: hart 0 is locked up at 0xfff80000: an exception came before the trap handler had executed",
        ],
    );
    fails(
        "handler",
        "__attribute__((aligned(64))) void handler(void)\n{\n    __asm__ volatile(\".word 0\");\n}\n\
         int main(void) { csr_write(mtvec, (uint32_t)handler); __asm__ volatile(\"ecall\"); return 0; }",
        "",
        &["handler.elf: hart 0 is locked up at 0x", " handler (handler.c:3): an exception"],
    );
    fails(
        "endless",
        "int main(void)\n{\n    for (;;) ;\n}",
        "--firmware-timeout 20000 --command-threads 2",
        &[
            "endless.elf: not at its end after 2",
            "cycles (--firmware-timeout); hart 0 at 0x",
            " main (endless.c:4); hart 1 at 0x",
            "crt0.S:",
        ],
    );
    build(&folder, "value", "int main(void) { puts(\"text\"); return 300; }");
    let output = folder.hermes(&format!("run --firmware value.elf {ARRAY}"));
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(255), &b"text\n"[..]));
}

#[test]
fn what_cannot_be_run() {
    let folder = Folder::new();
    build(&folder, "two", "FIRMWARE_HARTS(2); int main(void) { return 0; }");
    build(&folder, "one", "int main(void) { return 0; }");
    folder.succeed("gen-trace --kind imix --packets 4 --seed 3 -o in.pcap");
    folder.write("far.S", ".globl kernel\nkernel: ret\n");
    folder.succeed("kernel build far.S -o far.elf");
    let run = format!("run {ARRAY} --out out.pcap --json out.json --firmware");
    let packets = "--app dec-ttl --pcap in.pcap";
    folder.fail(&format!("{run} none.elf {packets}"), &["none.elf: No such file"]);
    folder.fail(&format!("{run} in.pcap {packets}"), &["in.pcap: not an ELF file", "hermes firmware build"]);
    folder.fail(
        &format!("{run} two.elf {packets} --command-threads 1"),
        &["two.elf: firmware_harts is 2, and the array has 1; expected --command-threads 2"],
    );
    folder.fail(&format!("{run} one.elf"), &["--out: expected --pcap with it"]);
    folder.fail(&format!("{run} one.elf --app dec-ttl"), &["--app: expected --pcap with it"]);
    // A kernel as firmware: where the other kernel is.
    folder.fail(
        &format!("{run} far.elf {packets}"),
        &["far.elf: segment 0x00001000", "overlaps the kernel dec-ttl at 0x00001000"],
    );
    folder.write("bad.c", "int main(void) { return missing; }\n");
    folder.fail("firmware build bad.c -o bad.elf", &["bad.c", "missing"]);
    folder.fail("firmware build none.c -o bad.elf", &["none.c: No such file"]);
    folder.fail("firmware build one.elf -o bad.elf", &["expected a name that ends with .S, .s or .c"]);
    let files = folder.files();
    assert!(!files.iter().any(|name| name.starts_with("out.") || name == "bad.elf"), "{files:?}");
}
