//! Kernels as other build systems and several sources make them: names that are there twice,
//! addresses and start-up codes that a kernel has not.

mod common;

use common::{rows, Folder};

/// The array of these tests, which other tests have too.
const ARRAY: &str = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";

/// A folder with 6 packets.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:64 --packets 6 --seed 1 -o in.pcap");
    folder
}

/// The verdicts of `k.elf`.
fn verdicts(folder: &Folder, more: &str) -> Vec<u32> {
    folder.succeed(&format!("run --kernel k.elf --pcap in.pcap {ARRAY} --verdicts out.csv {more}"));
    rows(&folder.text("out.csv")).iter().map(|row| row.verdict).collect()
}

/// Links `k.c` with a linker script, as a build system does that does not know Hermes.
fn link(folder: &Folder, script: &str, more: &[&str]) {
    folder.write("k.ld", script);
    let output = std::process::Command::new("riscv64-unknown-elf-gcc")
        .args(["-march=rv32im_zicsr", "-mabi=ilp32", "-O2", "-ffreestanding", "-nostdlib", "-T", "k.ld"])
        .args(more)
        .args(["k.c", "-o", "k.elf"])
        .current_dir(folder.path("."))
        .output()
        .expect("the compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_entry_is_the_global_symbol() {
    let folder = folder();
    folder.write(
        "a.c",
        "#include <hermes.h>\n\
         static __attribute__((noinline)) uint32_t kernel(uint32_t x) { __asm__ volatile(\"\"); return x * 3 + 7; }\n\
         uint32_t helper(uint32_t x) { return kernel(x) + 1; }\n",
    );
    folder.write(
        "b.c",
        "#include <hermes.h>\nuint32_t helper(uint32_t);\n\
         uint32_t kernel(uint32_t packet) { return (helper(packet) & 1) + 40; }\n",
    );
    for sources in ["a.c b.c", "b.c a.c"] {
        folder.succeed(&format!("kernel build {sources} -o k.elf --rv32e"));
        assert_eq!(verdicts(&folder, ""), [40, 41, 40, 41, 40, 41], "{sources}");
    }
}

#[test]
fn options_name_the_global_symbol() {
    let folder = folder();
    folder.write(
        "a.c",
        "#include <hermes.h>\nstatic uint32_t *volatile rules; static volatile uint32_t rules_bytes;\n\
         uint32_t own(void) { return rules ? 1000 : rules_bytes; }\n",
    );
    folder.write(
        "b.c",
        "#include <hermes.h>\nuint32_t *rules, rules_bytes;\nuint32_t own(void);\n\
         uint32_t kernel(void) { return (rules ? rules[0] : 5) + rules_bytes * 100 + own(); }\n",
    );
    folder.write("rules", 42_u32.to_le_bytes());
    for sources in ["a.c b.c", "b.c a.c"] {
        folder.succeed(&format!("kernel build {sources} -o k.elf"));
        assert_eq!(verdicts(&folder, "--table rules=rules --dump rules=dump"), [442; 6], "{sources}");
        assert_eq!(folder.read("dump"), 42_u32.to_le_bytes());
    }
    // The number of bytes is another source's.
    let text = folder.text("b.c").replace(", rules_bytes;", ";").replace("rules_bytes", "0");
    folder.write("c.c", text);
    folder.succeed("kernel build a.c c.c -o k.elf");
    let run = format!("run --kernel k.elf --pcap in.pcap {ARRAY}");
    folder.fail(
        &format!("{run} --table rules=rules"),
        &["--table rules=rules: k.elf: `rules_bytes` is local (`static`), and `rules` is not"],
    );
    // Each source has its own, and none is global.
    folder.write("d.c", folder.text("a.c").replace("own", "other"));
    folder.write(
        "e.c",
        "#include <hermes.h>\nuint32_t own(void), other(void);\nuint32_t kernel(void) { return own() + other(); }\n",
    );
    folder.succeed("kernel build a.c d.c e.c -o k.elf");
    folder.fail(&format!("{run} --table rules=rules"), &["k.elf: symbol `rules` is ambiguous: it is local"]);
    folder.fail(&format!("{run} --dump rules=new"), &["k.elf: symbol `rules` is ambiguous: it is local"]);
}

const CONSTANTS: &str =
    "#include <stdint.h>\nvolatile uint32_t counter[4] = {5, 6, 7, 8};\nvolatile uint32_t zero;\n\
    uint32_t kernel(uint32_t p, void *s, void *a) { return counter[1] + zero; }\n";

/// Data is where the program expects it, whatever its load address is.
#[test]
fn load_addresses_are_those_of_the_run() {
    let folder = folder();
    folder.write("k.c", CONSTANTS);
    link(
        &folder,
        "ENTRY(kernel)\nMEMORY { rom (rx) : ORIGIN = 0x1000, LENGTH = 16K\nmem (rw) : ORIGIN = 0x8000, LENGTH = 16K }\n\
         SECTIONS { .text : { *(.text*) } > rom\n.data : { *(.sdata*) *(.data*) } > mem AT> rom\n\
         .bss : { *(.sbss*) *(.bss*) } > mem }\n",
        &[],
    );
    let info = folder.succeed("kernel info k.elf");
    assert!(info.contains("segment    0x00008000, "), "{info}");
    assert_eq!(verdicts(&folder, "--dump counter=dump"), [6; 6]);
    assert_eq!(folder.read("dump"), [5_u32, 6, 7, 8].map(u32::to_le_bytes).concat());
}

#[test]
fn a_global_pointer_that_nothing_sets() {
    let folder = folder();
    let script = "ENTRY(kernel)\nSECTIONS { . = 0x1000; .text : { *(.text*) } .rodata : { *(.rodata*) } . = ALIGN(4096);\n\
        .data : { __global_pointer$ = . + 0x800; *(.sdata*) *(.data*) } .bss : { *(.sbss*) *(.bss*) *(COMMON) } }\n";
    folder.write("k.c", CONSTANTS);
    link(&folder, script, &["-g"]);
    let run = format!("run --kernel k.elf --pcap in.pcap {ARRAY}");
    folder.fail(&run, &["k.elf: uses gp at 0x0000100", "kernel", "and nothing sets it", "--no-relax"]);
    link(&folder, script, &["-Wl,--no-relax"]);
    assert_eq!(verdicts(&folder, ""), [6; 6]);
    // A kernel that sets it.
    let text = CONSTANTS.replace("kernel(", "body(")
        + "__asm__(\".globl kernel\\nkernel: .option push\\n.option norelax\\nla gp, __global_pointer$\\n\
           .option pop\\nj body\");\n";
    folder.write("k.c", text);
    link(&folder, script, &[]);
    assert_eq!(verdicts(&folder, ""), [6; 6]);
}

/// What a start-up code would have to do is refused by name.
#[test]
fn what_needs_a_start_up_code() {
    let folder = folder();
    let kernel = "volatile uint32_t x = 1;\nuint32_t kernel(void) { return x; }\n";
    for (text, expected) in [
        (
            "static __attribute__((constructor)) void first(void);\nextern volatile uint32_t x;\n\
             static void first(void) { x = 5; }\n",
            "k.c: has a constructor `first` (section .init_array), which nothing calls; expected none: \
             set the values where they are declared",
        ),
        (
            "extern volatile uint32_t x;\n__attribute__((constructor(101))) void early(void) { x = 5; }\n",
            "k.c: has a constructor `early` (section .init_array.00101)",
        ),
        (
            "extern volatile uint32_t x;\n__attribute__((destructor)) void last(void) { x = 5; }\n",
            "k.c: has a destructor `last` (section .fini_array), which nothing calls; expected none",
        ),
        (
            "void old(void) {}\n__attribute__((section(\".ctors\"), used)) static void (*const list)(void) = old;\n",
            "k.c: has a constructor `old` (section .ctors)",
        ),
        (
            "_Thread_local volatile uint32_t mine = 3;\nuint32_t more(void) { return mine; }\n",
            "k.c: has thread-local data `mine` (section .tdata), and its threads have no thread pointer",
        ),
        (
            "_Thread_local volatile uint32_t none;\nuint32_t more(void) { return none; }\n",
            "k.c: has thread-local data `none` (section .tbss)",
        ),
    ] {
        folder.write("k.c", format!("#include <hermes.h>\n{text}{kernel}"));
        folder.fail("kernel build k.c -o none.elf", &[expected]);
        assert!(!folder.files().contains(&"none.elf".to_string()));
    }
}

/// A text may be the last of the kernel, and end within a word.
#[test]
fn prints_have_their_end() {
    let folder = folder();
    for text in ["", "a", "ab", "abc", "abcd", "abcde"] {
        folder.write(
            "k.c",
            format!("#include <hermes.h>\nuint32_t kernel(uint32_t packet) {{ hermes_print(\"{text}%u!\", packet + 65); return 0; }}\n"),
        );
        folder.succeed("kernel build k.c -o k.elf -D HERMES_PRINT");
        let iss = "iss --kernel k.elf --pcap in.pcap --cores 1 --lanes 4 --warps 4 --packet 0 --print";
        let lines = folder.succeed(iss);
        assert!(lines.lines().any(|line| line.ends_with(&format!(": {text}65!"))), "{lines}");
    }
}
