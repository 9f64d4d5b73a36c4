//! Data of the user's own in and out of a run, and what the user expects of it.

mod common;

use common::{frames, rows, Folder};

/// The array of these tests, which other tests have too.
const ARRAY: &str = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";

/// A kernel with a table, an argument block, and results of its own.
const TABLES: &str = include_str!("kernels/tables.c");

/// Packets, and a kernel `k.elf` of this text in C.
fn folder(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("k.c", text);
    folder.succeed("kernel build k.c -o k.elf --rv32e");
    folder.succeed("gen-trace --kind imix --packets 60 --seed 4 -o in.pcap");
    folder
}

/// The word number `n` of `bytes`.
fn word(bytes: &[u8], n: usize) -> u32 {
    u32::from_le_bytes(bytes[4 * n..][..4].try_into().expect("4 bytes"))
}

/// Tables come to where their pointers say, the argument block is what was given, and what the
/// kernel wrote is dumped.
#[test]
fn tables_arguments_and_dumps() {
    let folder = folder(TABLES);
    let table: Vec<u8> = (0..40_u32).flat_map(|n| (n * n + 1).to_le_bytes()).collect();
    folder.write("table.bin", &table);
    folder.write("more.bin", [7; 5]);
    folder.write("argument.bin", [3_u32.to_le_bytes(), 0x1000_u32.to_le_bytes()].concat());
    let run = format!(
        "run --kernel k.elf --pcap in.pcap {ARRAY} --table squares=table.bin --table more=more.bin --verdicts out.csv \
         --dump seen=seen.bin --dump squares=squares.bin --dump more=more.out"
    );
    for argument in ["argument.bin", "3,0x1000"] {
        folder.succeed(&format!("{run} --argument {argument}"));
        let rows = rows(&folder.text("out.csv"));
        assert_eq!(rows.len(), 60);
        for row in &rows {
            // squares[packet % (squares_bytes / 4)] * argument[0] + argument[1] + more[4]
            let n = row.packet as u32 % 40;
            assert_eq!(row.verdict, (n * n + 1) * 3 + 0x1000 + 7, "{row:?}");
        }
        let seen = folder.read("seen.bin");
        assert_eq!(seen.len(), 64 * 4);
        for row in &rows {
            assert_eq!(word(&seen, row.packet as usize), row.verdict ^ 0xff);
        }
        // Packet 0 stores to the first word of the table.
        let squares = folder.read("squares.bin");
        assert_eq!((word(&squares, 0), &squares[4..]), (0xabcd, &table[4..]));
        assert_eq!(folder.read("more.out"), [7; 5]);
    }
    // By address: the same bytes as by name.
    let info = folder.succeed("kernel info k.elf");
    let line = info.lines().find(|line| line.ends_with(" seen")).expect("a symbol");
    let address = line.split_whitespace().nth(1).expect("an address");
    folder.succeed(&format!("{run} --argument 3,4096 --dump {address}:256=again.bin"));
    assert_eq!(folder.read("seen.bin"), folder.read("again.bin"));
}

/// What cannot be placed or dumped is told before the run, and nothing is written.
#[test]
fn data_that_cannot_be_used() {
    let folder = folder(TABLES);
    folder.write("t.bin", [1; 8]);
    folder.write("empty.bin", "");
    let before = folder.files();
    let run = format!("run --kernel k.elf --pcap in.pcap {ARRAY} --out new");
    for (options, expected) in [
        (
            "--table square=t.bin",
            "--table square=t.bin: k.elf: has no symbol `square`; near it are `squares`",
        ),
        ("--table qqq=t.bin", "has no symbol `qqq`; `hermes kernel info` lists its symbols"),
        ("--table kernel=t.bin", "`kernel` is a function; expected a variable, a pointer of 4 bytes"),
        ("--table seen=t.bin", "`seen` has 256 bytes; expected a pointer of 4 bytes"),
        ("--table squares=empty.bin", "--table squares=empty.bin: is empty"),
        ("--table squares=/dev/zero", "/dev/zero: larger than 256 MiB; expected a smaller"),
        ("--table squares=none.bin", "none.bin: No such file"),
        ("--table squares=t.bin --table squares=t.bin", "squares is given twice"),
        ("--argument none.bin", "--argument none.bin: No such file"),
        ("--dump what=new2", "--dump what=new2: k.elf: has no symbol `what`"),
        ("--dump squares=none/new", "--dump squares=none/new: No such file"),
        ("--dump 0xfffffff0:32=new2", "32 bytes from 0xfffffff0 on end beyond the memory"),
    ] {
        folder.fail(&format!("{run} {options}"), &[expected]);
    }
    folder.fail(
        &format!("run --app dec-ttl --pcap in.pcap {ARRAY} --argument 1"),
        &["--argument: dec-ttl has an argument block of its own"],
    );
    for (options, expected) in [
        ("--table squares", "expected NAME=FILE"),
        ("--dump 4:x=new2", "expected SYMBOL=FILE or ADDRESS:LENGTH=FILE"),
        ("--argument 1,,2", "expected words below 2^32"),
    ] {
        let output = folder.hermes(&format!("{run} {options}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(expected), "{error}");
    }
    // Labels in assembly have no size, unless the source tells.
    folder.write(
        "k.S",
        ".globl kernel\nkernel: ret\n.data\nlabel: .word 1, 2\nsized: .word 3, 4\n.size sized, 8\n",
    );
    folder.succeed("kernel build k.S -o s.elf");
    let run = format!("run --kernel s.elf --pcap in.pcap {ARRAY}");
    folder.fail(&format!("{run} --dump label=new"), &["does not tell the size of `label`; expected `.size`"]);
    assert_eq!(folder.files().len(), before.len() + 2);
    folder.succeed(&format!("{run} --dump sized=sized.bin"));
    assert_eq!(folder.read("sized.bin"), [3, 0, 0, 0, 4, 0, 0, 0]);
}

/// Runs that come out as expected succeed; others tell the first difference, after everything was
/// written.
#[test]
fn expected_packets_and_verdicts() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 80 --seed 8 --bad-share 30 -o in.pcap");
    let run = format!("run --app dec-ttl --pcap in.pcap {ARRAY} --out out.pcap --verdicts out.csv");
    folder.succeed(&run);
    let verdicts: Vec<_> = rows(&folder.text("out.csv")).iter().map(|row| row.verdict).collect();
    let good = frames(folder.path("out.pcap"));
    std::fs::copy(folder.path("out.pcap"), folder.path("good.pcap")).expect("a copy");
    std::fs::copy(folder.path("out.csv"), folder.path("good.csv")).expect("a copy");
    folder.succeed(&format!("{run} --expect good.pcap --expect-verdicts good.csv"));

    // A byte of the third packet; only the two columns that count, with one verdict changed.
    let mut bytes = folder.read("good.pcap");
    let third = 24 + 16 + good[0].len() + 16 + good[1].len() + 16;
    bytes[third + 22] ^= 1;
    folder.write("bad.pcap", &bytes);
    let csv = |verdicts: &[u32]| {
        let lines = verdicts.iter().enumerate().map(|(packet, verdict)| format!("{packet},{verdict}\n"));
        format!("packetIdx,verdict\n{}", lines.collect::<String>())
    };
    folder.write("short.csv", csv(&verdicts[..79]));
    let mut other = verdicts.clone();
    other[5] ^= 1;
    folder.write("bad.csv", csv(&other));
    folder.write("same.csv", csv(&verdicts));
    folder.succeed(&format!("{run} --expect-verdicts same.csv"));
    for (options, expected) in [
        ("--expect bad.pcap", "1 of "),
        ("--expect bad.pcap", "the first, packet 2 of the file, counted from 0:\npacket "),
        ("--expect bad.pcap", "IPv4 time to live"),
        (
            "--expect-verdicts bad.csv",
            "1 of 80 packets differ from --expect-verdicts bad.csv; the first:\npacket 5 ",
        ),
        ("--expect-verdicts short.csv", "has 79 verdicts, but 80 packets were committed"),
    ] {
        for name in ["out.pcap", "out.csv"] {
            std::fs::remove_file(folder.path(name)).expect("it was written");
        }
        folder.fail(&format!("{run} {options}"), &[expected]);
        assert_eq!(folder.read("out.pcap"), folder.read("good.pcap"));
        assert_eq!(folder.read("out.csv"), folder.read("good.csv"));
    }
    folder.fail(&format!("{run} --expect none.pcap"), &["--expect none.pcap: No such file"]);
    folder.fail(
        &format!("{run} --expect-verdicts in.pcap"),
        &["--expect-verdicts or --pcap in.pcap: no text; expected verdicts"],
    );
}

/// The golden model of `examples/`, and the app's kernel as one of the user's own.
#[test]
fn a_golden_model_in_python() {
    let folder = Folder::new();
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels-asm/c/dec-ttl.c");
    std::fs::copy(sources, folder.path("mine.c")).expect("a copy");
    folder.succeed("kernel build mine.c -o mine.elf --rv32e");
    folder.succeed("gen-trace --kind imix --packets 300 --seed 8 --bad-share 40 -o in.pcap");
    let run = |golden: &str| {
        let arguments = format!("run --kernel mine.elf --pcap in.pcap {ARRAY} --out out.pcap");
        folder.hermes_with(&arguments, |command| {
            command.args(["--golden", golden]);
        })
    };
    let script = concat!("python3 '", env!("CARGO_MANIFEST_DIR"), "/examples/golden/dec_ttl.py'");
    let output = run(script);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("every packet and verdict agrees"), "{output:?}");

    let _ = std::fs::remove_file(folder.path("out.pcap"));
    // One verdict changed on its way: the run tells, after it has written everything.
    let output = run(&format!("{script} && sed -i 's/^7,.*/7,9/' \"$HERMES_VERDICTS\""));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1)
            && error
                .contains("1 of 300 packets differ from the golden model of --golden; the first:\npacket 7 "),
        "{error}"
    );
    assert!(!frames(folder.path("out.pcap")).is_empty());
    assert!(String::from_utf8_lossy(&output.stdout).contains("golden model differs"));

    // Programs that fail end the run before it begins.
    let _ = std::fs::remove_file(folder.path("out.pcap"));
    let output = run("exit 5");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1) && error.contains("--golden `exit 5`: ended with exit status: 5"),
        "{error}"
    );
    assert!(!folder.files().contains(&"out.pcap".to_string()));
    // One that does not end is ended, with what it has started.
    let output = folder.hermes_with(
        &format!("run --kernel mine.elf --pcap in.pcap {ARRAY} --golden-timeout 0.3 --out out.pcap"),
        |command| {
            command.args(["--golden", "sleep 1000 & wait"]);
        },
    );
    let error = String::from_utf8_lossy(&output.stderr);
    let expected =
        "--golden `sleep 1000 & wait`: did not end within 0.3 s; --golden-timeout SECONDS gives it more";
    assert!(output.status.code() == Some(1) && error.contains(expected), "{error}");
    assert!(!folder.files().contains(&"out.pcap".to_string()));
    folder.fail(
        "run --app fragment --mtu 300 --pcap in.pcap --golden true",
        &["--golden: fragment sends other frames than those in the slots"],
    );
    // It takes the place of an app's own.
    let with_app = |golden: &str, more: &str| {
        folder.hermes_with(&format!("run --app dec-ttl --pcap in.pcap {ARRAY} {more}"), |command| {
            command.args(["--golden", golden]);
        })
    };
    let output = with_app(script, "");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("every packet and verdict agrees"),
        "{output:?}"
    );
    let output = with_app(&format!("{script} && sed -i 's/^7,.*/7,9/' \"$HERMES_VERDICTS\""), "");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1)
            && error.contains("1 of 300 packets differ from the golden model of --golden"),
        "{error}"
    );
}

/// A kernel that shortens a packet, lengthens it, or leaves it as it is.
const LENGTHS: &str = "#include <hermes.h>
uint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)
{
    if (packet % 3 == 1)
        slot->length -= 10;
    if (packet % 3 == 2) {
        for (uint32_t byte = 0; byte < 200; byte++)
            slot->ethernet[slot->length + byte] = byte;
        slot->length += 200;
    }
    return packet % 5 == 4 ? VERDICT_DROP | 1 : 0;
}
";

/// The capture that is written has records whose length on the wire follows the frames.
#[test]
fn lengths_follow_the_kernel() {
    let folder = folder(LENGTHS);
    let run = format!("run --kernel k.elf --pcap in.pcap {ARRAY}");
    folder.succeed(&format!("{run} --out out.pcap"));
    let capture = |name: &str| hermes_testbench::traffic::read(&folder.path(name), None).unwrap().frames;
    let before = capture("in.pcap");
    let forwarded = (0..).zip(&before).filter(|(packet, _)| packet % 5 != 4);
    let expected: Vec<_> = forwarded
        .map(|(packet, frame)| match packet % 3 {
            0 => frame.data.len(),
            1 => frame.data.len() - 10,
            _ => frame.data.len() + 200,
        })
        .collect();
    let after = capture("out.pcap");
    assert_eq!(after.iter().map(|frame| frame.data.len()).collect::<Vec<_>>(), expected);
    assert!(after.iter().all(|frame| frame.wire_length as usize == frame.data.len()));
    folder.succeed(&format!(
        "iss --kernel k.elf --pcap in.pcap {} --packet 2 -o one.pcap",
        "--cores 1 --lanes 4"
    ));
    let one = &capture("one.pcap")[0];
    assert_eq!((one.data.len(), one.wire_length as usize), (before[2].data.len() + 200, one.data.len()));
}

/// A length beyond the slot, and none, is an error that names the packet; nothing is written.
#[test]
fn lengths_beyond_the_slot() {
    let folder = folder(LENGTHS);
    folder.succeed("gen-trace --kind fixed:64 --packets 20 -o small.pcap");
    let array = "--cores 1 --lanes 4 --warps 4";
    let wrong = "packet 2 of the capture, counted from 0: the kernel set its length to 264; expected 1 to 110, what a slot of 128 bytes holds";
    let run = "--kernel k.elf --pcap small.pcap";
    // The bytes behind the slot are those of another packet: windows do not tell.
    folder.fail(&format!("run {run} {ARRAY} --out new.pcap --json new.json"), &[wrong, "packets in all"]);
    folder.fail(&format!("iss {run} {array} --packet 2"), &[wrong]);
    assert!(!folder.path("new.pcap").exists() && !folder.path("new.json").exists());
    folder.succeed(&format!("run {run} {ARRAY} --slot-bytes 512 --out new.pcap"));
    folder.fail(
        &format!("run --kernel k.elf --pcap in.pcap {ARRAY} --slot-bytes 128"),
        &["--slot-bytes 128: the frames of the capture need slots of 2048 bytes"],
    );
    let output = folder.hermes(&format!("run {run} {ARRAY} --slot-bytes 100"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("expected a power of two, 128 to 65536"));
    folder.write(
        "zero.c",
        "#include <hermes.h>\nuint32_t kernel(uint32_t packet, struct packet_slot *slot, void *arguments)\n{ slot->length = LEN; return 0; }",
    );
    for (length, ports) in [("0", true), ("5000", true), ("0xffffffff", false)] {
        folder.succeed(&format!("kernel build zero.c -o zero.elf --rv32e -D LEN={length}"));
        let number = if ports { length } else { "4294967295" };
        let wrong =
            format!("packet 0 of the capture, counted from 0: the kernel set its length to {number};");
        folder.fail(
            &format!("run --kernel zero.elf --pcap small.pcap {ARRAY}"),
            &[&wrong, "20 packets in all"],
        );
        if ports {
            let run = format!("run --app dec-ttl --kernel zero.elf --pcap small.pcap --through ports {ARRAY} --packet-ports");
            folder.fail(&run, &[&wrong, "20 packets in all"]);
        }
    }
}
