//! What `hermes kernel` builds and tells, and kernels that an array cannot run.

mod common;

use common::{rows, Folder};

/// The array of these tests, which other tests have too.
const ARRAY: &str = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";

/// An array of 400 bytes on a stack of 256: the compiler warns, `kernel info` tells, and the run
/// does not begin.
#[test]
fn a_stack_that_is_too_small() {
    let folder = Folder::new();
    folder.write(
        "k.c",
        "#include <hermes.h>\nuint32_t kernel(uint32_t packet, struct packet_slot *slot, void *a) {\n\
         uint8_t bytes[400]; for (volatile uint32_t i = 0; i < 400; i++) bytes[i] = packet + i;\n\
         uint32_t sum = 0; for (volatile uint32_t i = 0; i < 400; i++) sum += bytes[i]; return sum; }\n",
    );
    let output = folder.hermes("kernel build k.c -o k.elf --rv32e");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && error.contains("k.c:2:10: warning: stack usage is 4"), "{error}");
    let info = folder.succeed("kernel info k.elf");
    assert!(
        info.contains(" bytes, more than the 256 that a thread gets without --stack-bytes 512"),
        "{info}"
    );
    folder.succeed("gen-trace --kind imix --packets 200 --seed 4 -o in.pcap");
    let run = format!("run --kernel k.elf --pcap in.pcap --verdicts out.csv {ARRAY}");
    folder.fail(&run, &["k.elf needs 4", "and a thread gets 256; --stack-bytes 512 is enough"]);
    assert!(!folder.files().contains(&"out.csv".to_string()));
    folder.fail("cluster --nodes 2 --kernel k.elf", &["k.elf needs 4", "--stack-bytes 512 is enough"]);
    folder.succeed(&format!("{run} --stack-bytes 512"));
    for row in rows(&folder.text("out.csv")) {
        let sum: u32 = (0..400).map(|i| (row.packet as u32 + i) & 0xff).sum();
        assert_eq!(row.verdict, sum, "{row:?}");
    }
    // What calls itself needs nobody knows how much: it runs.
    folder.write(
        "r.S",
        ".globl kernel\nkernel: addi sp, sp, -16\nsw ra, 12(sp)\nbnez zero, 1f\nj 2f\n1: call kernel\n2: lw ra, 12(sp)\n\
         addi sp, sp, 16\nli a0, 3\nret\n",
    );
    folder.succeed("kernel build r.S -o r.elf");
    let info = folder.succeed("kernel info r.elf");
    assert!(info.contains("stack      not known: `kernel` calls itself"), "{info}");
    folder.succeed(&format!("run --kernel r.elf --pcap in.pcap {ARRAY}"));
}

/// What a kernel is built for stands in its file, and an array that lacks it says so before the
/// run.
#[test]
fn extensions_that_the_array_lacks() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 20 --seed 4 -o in.pcap");
    folder.write(
        "k.c",
        "#include <hermes.h>\nuint32_t kernel(uint32_t p, struct packet_slot *s, void *a) { return 0; }\n",
    );
    // The assembler does not know the instruction, the file tells it all the same.
    folder.write(
        "swap.c",
        "#include <hermes.h>\nuint32_t word;\n\
         uint32_t kernel(uint32_t p, struct packet_slot *s, void *a) { return hermes_compare_and_swap(&word, 0, p); }\n",
    );
    folder.succeed("kernel build swap.c -o swap.elf");
    folder.write("k.S", ".option arch, +zba\n.globl kernel\nkernel: sh2add a0, a0, a0\nret\n");
    folder.succeed("kernel build k.c --atomics -o atomics.elf");
    folder.succeed("kernel build k.c --aes -o aes.elf");
    folder.succeed("kernel build k.S -o zba.elf");
    for (kernel, lacks) in [("aes", "zknd, zkne"), ("zba", "zba")] {
        folder.fail(
            &format!("cluster --nodes 2 --kernel {kernel}.elf"),
            &[&format!("kernel {kernel}.elf is built for rv32im"), &format!("; it lacks {lacks}")],
        );
    }
    for (kernel, lacks) in [("atomics", "a"), ("aes", "zknd, zkne"), ("zba", "zba"), ("swap", "zacas")] {
        folder.fail(
            &format!("run --kernel {kernel}.elf --pcap in.pcap {ARRAY}"),
            &[
                &format!("kernel {kernel}.elf is built for rv32im"),
                &format!(", the array has rv32im_zicsr_zbb; it lacks {lacks}"),
            ],
        );
    }
}

/// Packets that each change a word of a line of their own: compare-and-swap costs what an addition
/// does, and that of `lr.w` and `sc.w` does not stand still where comparisons fail.
#[test]
fn compare_and_swap_and_reservations() {
    const LINES: &str = "#include <hermes.h>\n#include <stdatomic.h>\n\
        _Atomic uint32_t lines[64 * 16] __attribute__((aligned(64)));\n\
        uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments) {\n\
        _Atomic uint32_t *word = &lines[(packet & 63) * 16]; uint32_t expected = EXPECT; CHANGE;\n\
        return expected; }\n";
    const CHANGES: [(&str, &str, &str); 4] = [
        ("add", "atomic_fetch_add(word, 1)", "--atomics"),
        ("assembly", "expected = hermes_compare_and_swap((uint32_t *)word, EXPECT, 1)", "--compare-and-swap"),
        (
            "clang",
            "atomic_compare_exchange_strong(word, &expected, 1)",
            "--compare-and-swap --compiler clang",
        ),
        ("reservation", "atomic_compare_exchange_strong(word, &expected, 1)", "--atomics"),
    ];
    let folder = Folder::for_short_runs();
    folder.succeed("gen-trace --kind fixed:64 --packets 64 --seed 4 -o in.pcap");
    let cycles = |name: &str, expect: &str| {
        let (_, change, options) = CHANGES.iter().find(|(known, ..)| *known == name).unwrap();
        let source = LINES.replace("EXPECT", expect).replace("CHANGE", &change.replace("EXPECT", expect));
        folder.write("k.c", source);
        folder.succeed(&format!("kernel build k.c {options} -o k.elf"));
        folder.succeed(&format!(
            "run --kernel k.elf --pcap in.pcap {ARRAY} --compare-and-swap --json k.json --verdicts k.csv"
        ));
        folder.report("k.json")["cycles"].as_u64().expect("cycles")
    };
    let added = cycles("add", "0");
    // All succeed, all fail, half of them do.
    for (name, expected) in [("assembly", ["0", "(packet >> 2 & 1)"]), ("clang", ["1", "(packet >> 2 & 1)"])]
    {
        for expect in expected {
            let swapped = cycles(name, expect);
            println!("{name}, expects {expect}: {swapped} cycles, an addition {added}");
            assert!(swapped * 2 <= added * 3, "{name}, expects {expect}: {swapped} and {added}");
            // What each found is the verdict: 0, a port.
            assert!(folder.text("k.csv").lines().skip(1).all(|line| line.contains(",0x00000000,")), "{name}");
        }
    }
    let all = cycles("reservation", "0");
    for expect in ["1", "(packet >> 2 & 1)"] {
        let some = cycles("reservation", expect);
        println!("lr.w, sc.w: {all} cycles if all succeed, {some} if {expect} is expected");
        assert!(some <= all, "expects {expect}: {some}, {all} if all succeed");
    }
}

/// Threads that poll by `lr.w` alone, at any pace, keep no other from a loop of `lr.w` and `sc.w`
/// on a line of the same bank.
#[test]
fn polls_by_reservations_keep_nobody_from_getting_through() {
    const SOURCE: &str = "
        .option arch, +a
        .globl  kernel
        .type   kernel, @function
    kernel:
        andi    t0, a0, 3
        bnez    t0, 9f
        lla     a1, words
        addi    a3, a1, OFFSET
        bnez    a0, 3f
        li      a4, 50
    1:  lr.w    a5, (a1)
        addi    a5, a5, 1
        sc.w    t0, a5, (a1)
        bnez    t0, 2f
        addi    a4, a4, -1
        bnez    a4, 1b
        li      t0, 1
        sw      t0, 0(a3)
        j       9f
    2:  j       1b
    3:  lr.w    t0, (a3)
        .rept   PACE
        nop
        .endr
        beqz    t0, 3b
    9:  li      a0, 0
        ret
        .size   kernel, . - kernel
        .bss
        .balign 4096
    words:  .space 4096
    ";
    let folder = Folder::for_short_runs();
    folder.succeed("gen-trace --kind fixed:64 --packets 16 --seed 4 -o in.pcap");
    folder.write("k.S", SOURCE);
    for (offset, pace) in [(64, 0), (192, 1), (256, 5), (320, 8)] {
        folder.succeed(&format!("kernel build k.S -D OFFSET={offset} -D PACE={pace} -o k.elf"));
        folder.succeed(&format!(
            "run --kernel k.elf --pcap in.pcap {ARRAY} --compare-and-swap --watchdog 100000 --json k.json"
        ));
        let cycles = folder.report("k.json")["cycles"].as_u64().expect("cycles");
        println!("offset {offset}, pace {pace}: {cycles} cycles");
    }
}

/// Several sources, include folders and macros; functions of `string.h`, numbers of 64 bits and
/// with a point link and run.
#[test]
fn sources_and_libraries() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind tcp-mix --packets 60 --seed 4 -o in.pcap");
    std::fs::create_dir(folder.path("include")).expect("a folder");
    folder.write("include/step.inc", ".macro step\naddi a0, a0, STEP\n.endm\n");
    folder.write("include/next.h", "uint32_t next(uint32_t);\n");
    folder.write("next.S", ".include \"step.inc\"\n.globl next\nnext: step\nret\n");
    folder.write(
        "k.c",
        "#include <hermes.h>\n#include <string.h>\n#include \"next.h\"\n\
         uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *a) {\n\
         uint8_t old[14]; memcpy(old, slot->ethernet, sizeof old);\n\
         memmove(slot->ethernet, old + 6, 6); memmove(slot->ethernet + 6, old, 6);\n\
         if (memcmp(slot->ethernet, old + 6, 6) || strlen((char *)a) != 5) return 9999;\n\
         uint64_t wide = (uint64_t)packet << 33 | 7; float part = packet / 4.0f;\n\
         return next(wide / (packet + 3) % 1000 + (uint32_t)(part * 10)); }\n",
    );
    for more in ["--rv32e", "-O0", "-O s"] {
        folder.succeed(&format!("kernel build k.c next.S -I include -DSTEP=5 {more} -o k.elf"));
        let run = format!("run --argument 0x65766966,0x21 --kernel k.elf --pcap in.pcap --verdicts out.csv --out out.pcap {ARRAY}");
        folder.succeed(&format!("{run} --stack-bytes 512"));
        for row in rows(&folder.text("out.csv")) {
            let packet = row.packet;
            let wide = ((packet << 33 | 7) / (packet + 3) % 1000) as u32;
            assert_eq!(row.verdict, wide + (packet as f32 / 4.0 * 10.0) as u32 + 5, "{more}: {row:?}");
        }
        let swapped = common::frames(folder.path("in.pcap")).into_iter().map(|mut frame| {
            frame[..12].rotate_left(6);
            frame
        });
        assert_eq!(common::frames(folder.path("out.pcap")), swapped.collect::<Vec<_>>());
    }
    folder.succeed("kernel headers -o new/headers");
    assert!(folder.text("new/headers/hermes.h").contains("struct packet_slot"));
    folder.fail(
        "kernel build k.c next.S -o k2.elf -I include -D STEP=K",
        &["-D STEP=K: next.S: expected a number"],
    );
    folder.fail("kernel build k.c none.S -o k2.elf", &["none.S: No such file"]);
}

/// The libraries of kernels and firmware are built once for all that is built alike, whatever it is
/// called and wherever, and programs are the same bytes with them, also where nothing can be kept.
#[test]
fn libraries_are_built_once() {
    let folder = Folder::new();
    folder.write("k.c", "#include <hermes.h>\nuint32_t kernel(void) { return 1; }\n");
    folder.write("same.c", "#include <hermes.h>\nuint32_t kernel(void) { return 1; }\n");
    folder.write("f.c", "#include <hermes_cp.h>\nint main(void) { return 1; }\n");
    folder.write("none", "a file, so no folder of a cache");
    let build = |arguments: &str, cache: &str| {
        let output = folder.hermes_with(arguments, |command| {
            command.env("HERMES_CACHE", folder.path(cache));
        });
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        folder.read("out.elf")
    };
    let kept = || {
        let entries = std::fs::read_dir(folder.path("cache")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("library-") && !name.contains('.')).count()
    };
    let kernel = build("kernel build k.c -o out.elf", "cache");
    assert_eq!(kept(), 1);
    assert_eq!(build("kernel build k.c -o out.elf", "cache"), kernel);
    assert_eq!(build("kernel build k.c -o out.elf", "none"), kernel);
    build("kernel build same.c -o out.elf -D OTHER=1 -O 1", "cache");
    assert_eq!(kept(), 1);
    // Other registers
    build("kernel build k.c -o out.elf --rv32e", "cache");
    assert_eq!(kept(), 2);
    let firmware = build("firmware build f.c -o out.elf", "cache");
    assert_eq!(kept(), 4);
    for cache in ["cache", "none"] {
        assert_eq!(build("firmware build f.c -o out.elf", cache), firmware);
    }
    assert_eq!(kept(), 4);
}

/// The example in Rust against the app's golden model, and panics, which are faults and print
/// their places.
#[test]
fn a_kernel_in_rust() {
    let folder = Folder::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rust");
    let build = |source: &str| {
        let output = std::process::Command::new(format!("{example}/build"))
            .args([source, "k.elf"])
            .current_dir(folder.path("."))
            .env("HERMES", env!("CARGO_BIN_EXE_hermes"))
            .output()
            .expect("a shell");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let source = format!("{example}/dec_ttl.rs");
    let (code, error) = build(&source);
    if code == Some(3) {
        eprintln!("skipped: {error}");
        return;
    }
    assert_eq!(code, Some(0), "{error}");
    let info = folder.succeed("kernel info k.elf");
    assert!(info.contains("registers  32 (RV32I)") && info.contains("built for  rv32im"), "{info}");
    folder.succeed("gen-trace --kind imix --packets 300 --seed 4 --bad-share 40 -o in.pcap");
    let text = folder.succeed(&format!("run --app dec-ttl --kernel k.elf --pcap in.pcap {ARRAY}"));
    assert!(text.contains("every packet and verdict agrees"), "{text}");

    let text = std::fs::read_to_string(&source).expect("the example");
    folder.write("hermes.rs", std::fs::read_to_string(format!("{example}/hermes.rs")).expect("panics"));
    // No packet is as short as that; the second packet is another line's.
    let call = "    match (*slot).dec_ttl() {";
    assert!(text.contains(call));
    let fails = "    if packet == 1 {\n        [0u8; 4][(*slot).length as usize] += 1;\n    }\n    assert!((*slot).length < 9);\n";
    let broken = text.replace("_packet:", "packet:").replace(call, &format!("{fails}{call}"));
    let line = 1 + broken.lines().position(|line| line.contains("[0u8; 4]")).expect("the line");
    folder.write("broken.rs", broken);
    let (code, error) = build("broken.rs");
    assert_eq!(code, Some(0), "{error}");
    let run = format!("run --kernel k.elf --pcap in.pcap {ARRAY} --max-packets 4");
    folder.fail(&run, &["breakpoint", "4 of 4 packets ended with a fault", "`--print` prints"]);
    let output = folder.hermes(&format!("{run} --print"));
    let prints = String::from_utf8_lossy(&output.stdout);
    let at = |packet: u32, line: usize, column: u32| {
        format!("packet {packet} lane {packet}: panicked at broken.rs:{line}:{column}\n")
    };
    let failed = "packet 0 lane 0: assertion failed: (*slot).length < 9\n";
    let expected = [at(0, line + 2, 5), failed.to_string(), at(1, line, 9), at(2, line + 2, 5)].concat();
    assert!(prints.contains(&expected), "{prints}");
}
