//! Firmware with data, and the workloads of the Pangaea paper: every byte by their golden models,
//! of the threads on the cores and of both scalar programs.

mod common;

use std::path::Path;

use common::Folder;

/// The array of the tests of firmware.
const ARRAY: &str = "--preset fpga --cores 1 --lanes 2 --warps 2";
/// One with a local window, and caches of the harts.
const WINDOW: &str = "--preset pangaea --cores 1 --lanes 4 --warps 3 --command-threads 1";
/// Workloads with sizes so small that all programs run to their ends.
const SMALL: [(&str, &str); 6] = [
    ("linear", "--width 16 --height 20"),
    ("sepia", "--width 12 --height 20"),
    ("fgt", "--width 16 --height 16"),
    ("bicubic", "--width 16 --height 16"),
    ("kmeans", "--width 64"),
    ("svm", "--width 32 --height 16"),
];

/// Builds a program of `kernels-asm/media` to NAME.elf.
fn build(folder: &Folder, name: &str, program: u32) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("kernels-asm/media/{name}.c"));
    let source = source.display();
    folder.succeed(&format!("firmware build {source} -D MEDIA_PROGRAM={program} -o {name}.elf"));
}

/// Makes data of a size for a program.
fn data(folder: &Folder, name: &str, size: &str) {
    folder
        .succeed(&format!("gen-media {name} {size} --seed 3 -o in.bin --blank blank.bin --expect want.bin"));
}

/// The run of NAME.elf with its data.
fn run(name: &str, array: &str) -> String {
    format!("run --firmware {name}.elf {array} --table input=in.bin --table output=blank.bin --expect-dump output=want.bin")
}

#[test]
fn every_program_makes_every_byte() {
    let folder = Folder::new();
    for (name, size) in SMALL {
        data(&folder, name, size);
        for program in 0..3 {
            build(&folder, name, program);
            let output = folder.succeed(&run(name, ARRAY));
            let warps = output.lines().last().unwrap_or_default();
            assert!(warps.starts_with("pass 2: "), "{name} {program}: {output}");
            assert_eq!(warps.ends_with(" 0 of warps"), program > 0, "{name} {program}: {output}");
        }
    }
}

/// With a local window, other lanes, and memory that answers late.
#[test]
fn on_other_arrays() {
    let folder = Folder::new();
    let array = format!("{WINDOW} --mem-latency 200");
    for (name, size) in [SMALL[0], SMALL[4]] {
        data(&folder, name, size);
        build(&folder, name, 0);
        folder.succeed(&run(name, &array));
    }
}

/// Threads have stacks, tables come to where their pointers say, and what was written is dumped.
#[test]
fn firmware_with_data() {
    let folder = Folder::new();
    let text = "#include \"hermes_media.h\"\n\
        uint32_t sums[4];\n\
        static __attribute__((noinline)) void fill(volatile uint32_t *words, uint32_t with) { for (int i = 0; i < 40; i++) words[i] = with + i; }\n\
        static void thread(uint32_t number) { uint32_t words[40]; fill(words, input[number]); sums[number] = words[39]; }\n\
        int main(void) { media_setup(0); media_start(0, (media_thread)thread, 4, 0, 0); media_wait(0); return (int)input_bytes; }\n";
    folder.write("f.c", text);
    folder.write("in.bin", [5_u32, 6, 7, 8].map(u32::to_le_bytes).concat());
    folder.write("want.bin", [44_u32, 45, 46, 47].map(u32::to_le_bytes).concat());
    folder.succeed("firmware build f.c -o f.elf");
    let run = format!("run --firmware f.elf {ARRAY} --table input=in.bin");
    let done = folder.hermes(&format!("{run} --dump sums=sums.bin --expect-dump sums=want.bin"));
    assert_eq!(done.status.code(), Some(16), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(folder.read("sums.bin"), folder.read("want.bin"));
    // A stack that is too small for the thread, where nobody else's is hit.
    let small = format!("run --firmware f.elf {WINDOW} --stack-bytes 64 --table input=in.bin");
    let error = String::from_utf8_lossy(&folder.hermes(&small).stderr).into_owned();
    assert!(error.contains("below the stack of 64 bytes"), "{error}");
    // Bytes that differ, also where `main` has a value of its own.
    folder.write("other.bin", [44_u32, 45, 46, 303].map(u32::to_le_bytes).concat());
    let done = folder.hermes(&format!("{run} --expect-dump sums=other.bin"));
    let error = String::from_utf8_lossy(&done.stderr);
    let expected = "--expect-dump sums=other.bin: 1 of 16 bytes differ; the first, byte 13 at 0x";
    assert!(error.contains(expected) && error.contains("is 0x00; expected 0x01"), "{error}");
    assert_eq!(done.status.code(), Some(16));
}

#[test]
fn what_cannot_be_used_is_named() {
    let folder = Folder::new();
    folder.write(
        "f.c",
        "#include \"hermes_cp.h\"\nuint32_t *cleared; TABLE uint8_t small; uint32_t results[2];\nint main(void) { return cleared != 0 || results[0] || small; }\n",
    );
    folder.succeed("firmware build f.c -o f.elf");
    folder.write("t.bin", [1; 12]);
    let before = folder.files();
    for (options, expected) in [
        ("--table cleared=t.bin", "`cleared` is in .bss, which the start-up code clears; expected `TABLE`"),
        ("--table small=t.bin", "`small` has 1 bytes; expected a pointer of 4 bytes"),
        ("--table none=t.bin", "f.elf: has no symbol `none`"),
        ("--dump result=d.bin", "has no symbol `result`; near it are `results`"),
        ("--expect-dump results=t.bin", "the file has 12 bytes; expected 8, as many as `results` has"),
        ("--expect-dump 0x3ffffff8:12=t.bin", "end beyond the memory of 1073741824 bytes"),
    ] {
        folder.fail(&format!("run --firmware f.elf {ARRAY} {options}"), &[expected]);
    }
    folder.fail(
        "gen-media linear --width 18 -o x.bin",
        &["--width 18: linear takes 4 to 4096, a multiple of 4"],
    );
    assert_eq!(folder.files(), before);

    // Programs look at their headers themselves.
    build(&folder, "linear", 0);
    data(&folder, "linear", SMALL[0].1);
    let good = folder.read("in.bin");
    let mut wide = good.clone();
    wide[..4].copy_from_slice(&18_u32.to_le_bytes());
    for (input, expected) in [
        (&wide[..], "input: width 18: expected 4 to 4096, a multiple of 4\n"),
        (&good[..good.len() - 4], "input has 1020 bytes, output 960; expected 1024 and 960"),
        (&good[..16], "input has 16 bytes; expected 64 and more, its header\n"),
    ] {
        folder.write("in.bin", input);
        let done = folder.hermes(&run("linear", ARRAY));
        let told = String::from_utf8_lossy(&done.stdout);
        assert!(told.contains(expected) && done.status.code() == Some(2), "{told}");
    }
}
