//! `hermes run`: packets through the emitted array. Models are few and small; what can vary without
//! another model varies.

#[path = "../common/mod.rs"]
mod common;
mod faults;

use common::{check_order, frames, rows, Folder};

/// The arrays of these tests: each is a model to build.
const ARRAYS: [&str; 3] =
    ["--cores 1 --lanes 1 --warps 2", "--cores 1 --lanes 4 --warps 4", "--cores 2 --lanes 2 --warps 4"];

/// What is set at run time: MCW, timing of the memory, line rate.
const SETTINGS: [&str; 4] = [
    "--mcw 1 --mem-latency 1 --line-rate max",
    "--mcw 2 --mem-latency 200 --line-rate 4",
    "--mcw 2 --mem-latency 7 --line-rate trace",
    "--memory dram:line=2,queue=8 --arrivals onoff:20,peak=80,burst=9 --timeout 40",
];

/// Verdicts and processed packets do not depend on the array, its settings, or when packets arrive.
/// Each app has one half of the arrays with their settings.
#[test]
fn results_do_not_depend_on_the_array() {
    let apps = [("dec-ttl", "imix", 30), ("check-ip-header", "tcp-mix", 50)];
    for (half, (app, kind, share)) in apps.into_iter().enumerate() {
        let folder = Folder::new();
        folder.succeed(&format!(
            "gen-trace --kind {kind} --packets 80 --seed 5 --bad-share {share} -o in.pcap"
        ));
        let mut expected: Option<(Vec<u32>, Vec<u8>)> = None;
        for (number, array) in ARRAYS.into_iter().enumerate() {
            for settings in SETTINGS.into_iter().skip((half + number) % 2).step_by(2) {
                let files = "--out out.pcap --verdicts out.csv";
                let text =
                    folder.succeed(&format!("run --app {app} --pcap in.pcap {files} {array} {settings}"));
                assert!(text.contains("every packet and verdict agrees"), "{text}");
                let rows = rows(&folder.text("out.csv"));
                assert_eq!(rows.len(), 80);
                check_order(&rows);
                let got = (rows.iter().map(|row| row.verdict).collect(), folder.read("out.pcap"));
                let expected = expected.get_or_insert_with(|| got.clone());
                assert!(*expected == got, "{app} {array} {settings}: other results than with {}", ARRAYS[0]);
            }
        }
        let (verdicts, _) = expected.expect("there were runs");
        let forwarded = verdicts.iter().filter(|verdict| **verdict == 0).count();
        assert!((27..80).contains(&forwarded), "{app}: {forwarded} of 80 forwarded");
        assert_eq!(
            frames(folder.path("out.pcap")).len(),
            forwarded,
            "the capture holds the forwarded packets"
        );
    }
}

/// Presets without a local window take one: a kernel has its words on the stack, and a store below
/// the stack is told as that.
#[test]
fn a_node_takes_a_local_window() {
    let folder = Folder::new();
    folder.write("stack.c", include_str!("../kernels/stack.c"));
    folder.succeed("kernel build stack.c -o stack.elf");
    folder.succeed("gen-trace --kind fixed:64 --packets 40 -o in.pcap");
    // The array of the tests of clusters
    let array = "--preset node --cores 1 --lanes 4 --warps 4 --l2-lines 16 --l1-lines 16 --command-threads 0 --local-window";
    let run = format!("run --kernel stack.elf --pcap in.pcap {array} --fail-on-fault=false");
    let output = folder.hermes(&format!("{run} --verdicts out.csv"));
    let warning = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{warning}");
    for part in ["fault: store access", "stack.c:13", "below the stack of 256 bytes", "packet 7"] {
        assert!(warning.contains(part), "expected {part:?} in {warning}");
    }
    for row in rows(&folder.text("out.csv")) {
        let expected = if row.packet == 7 { 0xc000_0007 } else { row.packet as u32 };
        assert_eq!(row.verdict, expected, "packet {}", row.packet);
    }
}

/// Odd packets never come to an end; the watchdog gives them their verdict. The others stand at the
/// lower address, and go first.
#[test]
fn a_kernel_that_does_not_end_is_ended() {
    let folder = Folder::new();
    let kernel = ".text\n.globl kernel\nkernel: andi t0, a0, 1\nbnez t0, 1f\nret\n1: j 1b\n";
    folder.write("endless.S", kernel);
    folder.succeed("kernel build endless.S -o endless.elf");
    folder.succeed("gen-trace --kind imix --packets 50 --seed 2 -o in.pcap");
    let text = folder.succeed(&format!(
        "run --kernel endless.elf --pcap in.pcap --watchdog 400 --fail-on-fault=false --verdicts out.csv {}",
        ARRAYS[1]
    ));
    assert!(text.contains("fault: watchdog"), "{text}");
    let rows = rows(&folder.text("out.csv"));
    assert_eq!(rows.len(), 50);
    check_order(&rows);
    for row in rows {
        assert_eq!(row.verdict, if row.packet % 2 == 1 { 0xc000_0018 } else { row.packet as u32 });
        assert!((400..1_200).contains(&(row.finish - row.start)), "{row:?}");
    }
}

/// Throughput, delays and line rates are at the clock that is stated, and the cycles are the same.
#[test]
fn another_clock() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:64 --packets 40 --seed 2 -o in.pcap");
    let run = format!("run --app dec-ttl --pcap in.pcap {}", ARRAYS[1]);
    folder.succeed(&format!("{run} --json a.json"));
    let text = folder.succeed(&format!("{run} --clock 50 --json b.json"));
    assert!(
        text.contains("Gbit/s at 50 MHz") && text.contains("ns at 50 MHz, where a cycle is 20.000 ns"),
        "{text}"
    );
    let [a, b] = ["a.json", "b.json"].map(|name| folder.report(name));
    assert_eq!((&a["run"]["clock_mhz"], &b["run"]["clock_mhz"]), (&1000.0.into(), &50.0.into()));
    assert_eq!((&a["cycles"], &a["delay"]), (&b["cycles"], &b["delay"]));
    let gigabits = |report: &serde_json::Value| report["throughput_gbps"].as_f64().unwrap();
    assert!((gigabits(&a) / gigabits(&b) - 20.0).abs() < 1e-6);
    // 64 bytes, and 24 beside them on the wire: 704 bits, which take 176 ns, or 88 cycles at 500
    // MHz.
    folder.succeed(&format!("{run} --clock 500 --line-rate 4 --verdicts out.csv"));
    let rows = rows(&folder.text("out.csv"));
    assert!(rows.windows(2).all(|pair| pair[1].arrival - pair[0].arrival == 88), "{rows:?}");
}

/// Arrivals, what packets wait for, and when they leave the ports, in all that is written.
#[test]
fn arrivals_and_stages() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind fixed:60 --packets 300 --seed 2 -o in.pcap");
    let run = |options: &str| {
        let array = format!("{} --packet-ports", ARRAYS[1]);
        let files = "--verdicts out.csv --json out.json";
        let text = folder.succeed(&format!("run --app dec-ttl --pcap in.pcap {array} {files} {options}"));
        let rows = rows(&folder.text("out.csv"));
        check_order(&rows);
        (text, rows, folder.report("out.json"))
    };
    for through in ["host", "ports"] {
        let sparse = format!("--through {through} --arrivals poisson:1,port=1000 --max-packets 100");
        let (text, first, report) = run(&sparse);
        assert!(text.contains("arrivals poisson:1,port=1000 (seed 1)"), "{text}");
        assert_eq!((&report["run"]["timeout"], &report["run"]["arrivals_seed"]), (&256.into(), &1.into()));
        // The trace changes nothing, and tells when warps were formed.
        let (text, again, report) = run(&format!("{sparse} --forming-times"));
        assert!(text.contains("    forming ") && text.contains("    issue "), "{text}");
        assert!(report["stages"]["issue"]["max"].as_u64() >= Some(1), "{report}");
        for (usual, formed) in first.iter().zip(&again) {
            assert!(usual.formed.is_none() && formed.formed.is_some(), "{formed:?}");
            assert_eq!((usual.start, usual.commit, usual.sent), (formed.start, formed.commit, formed.sent));
        }
        let (_, other, _) = run(&format!("{sparse} --arrivals-seed 2"));
        let arrivals = |rows: &[common::Row]| rows.iter().map(|row| row.arrival).collect::<Vec<_>>();
        assert!(arrivals(&first) == arrivals(&again) && arrivals(&first) != arrivals(&other));
        // 672 bits each at 1 Gbit/s.
        let mean = first.last().expect("packets").arrival as f64 / 100.0;
        assert!((500.0..850.0).contains(&mean), "{mean}");
        let sent = first.iter().filter(|row| row.sent.is_some()).count();
        assert_eq!(sent, if through == "ports" { 100 } else { 0 });
        assert_eq!(report["latency"].is_null(), through == "host");
        assert_eq!(report["loss"].is_null(), through == "host");
        // A packet waits for others as long as it is told to, or not at all.
        let waits = |rows: &[common::Row]| rows.iter().map(|row| row.start - row.in_slot).max().unwrap();
        let (usual, (_, short, _), (_, eager, report)) =
            (waits(&first), run(&format!("{sparse} --timeout 40")), run(&format!("{sparse} --eager")));
        assert!(usual > 256 && waits(&short) < usual - 150 && waits(&eager) < usual - 150);
        assert_eq!((&report["run"]["eager"], &report["run"]["timeout"]), (&true.into(), &256.into()));
        assert_eq!(report["run"]["adaptive_timeout"], false);
        // Sparse traffic leaves the core idle: what waits does so for a few warps there.
        // On the array that drops packets elsewhere.
        let (text, adaptive, report) = run(&format!("{sparse} --timeout adaptive --drop-when-full"));
        assert!(waits(&adaptive) < usual - 100 && text.contains(", adaptive time-out"), "{text}");
        assert_eq!(report["run"]["adaptive_timeout"], true);
        assert_eq!(report["run"]["configuration"]["adaptive_timeout"], true);
    }
    // 128 packets are 8 times those on the core at a time.
    let (text, _, report) = run("--arrivals max --mcw 4");
    assert!(text.contains("  steady state ") && text.contains("with `max` none has a time"), "{text}");
    let steady = &report["steady_state"];
    assert!(steady["packets"].as_u64() > Some(190) && steady["packets_per_cycle"].as_f64() > Some(0.0));
    assert_eq!(report["delays_count_from_schedule"], false);
    let (text, _, report) = run("--max-packets 127 --arrivals max --mcw 4");
    assert!(text.contains("steady state not told of fewer than 128 packets"), "{text}");
    assert!(report["steady_state"].is_null() && report["deferred_cycles"].is_u64());
}

/// Lanes of one instruction go to different memories, and fault for different reasons.
#[test]
fn lanes_of_one_access_part() {
    let folder = Folder::new();
    folder.write("memories.S", include_str!("../kernels/memories.S"));
    folder.succeed("kernel build memories.S -o memories.elf --rv32e");
    folder.succeed("gen-trace --kind imix --packets 100 --seed 2 -o in.pcap");
    let run = "run --kernel memories.elf --pcap in.pcap --verdicts out.csv --fail-on-fault=false";
    folder.succeed(&format!("{run} {}", ARRAYS[1]));
    let rows = rows(&folder.text("out.csv"));
    assert_eq!(rows.len(), 100);
    for row in rows {
        // Lane of the packet: warps are full.
        let expected = match row.packet % 4 {
            1 => 0xc000_0004,
            2 => 0xc000_0005,
            _ => 3 * row.packet as u32 + 7,
        };
        assert_eq!(row.verdict, expected, "packet {}", row.packet);
    }
}

/// Packets of one warp diverge and cores finish out of order; commits come in the order of arrival
/// all the same.
#[test]
fn commits_keep_the_order_of_arrival() {
    let folder = Folder::new();
    folder.write("classes.S", include_str!("../kernels/classes.S"));
    folder.succeed("kernel build classes.S -o classes.elf --rv32e");
    folder.succeed("gen-trace --kind fixed:60 --packets 120 --seed 9 -o in.pcap");
    let run = "run --kernel classes.elf --pcap in.pcap --verdicts out.csv --json out.json --out out.pcap";
    for array in &ARRAYS[1..] {
        let text = folder.succeed(&format!("{run} {array} --mem-latency 20"));
        assert!(text.contains("none for this kernel"), "{text}");
        let rows = rows(&folder.text("out.csv"));
        check_order(&rows);
        for (row, frame) in rows.iter().zip(frames(folder.path("in.pcap"))) {
            let sum: u32 = (1..=u32::from(frame[29])).map(|rounds| rounds * (1 + rounds % 2)).sum();
            assert_eq!(row.verdict, sum, "packet {}", row.packet);
        }
        let early = rows.windows(2).filter(|pair| pair[1].finish < pair[0].finish).count();
        assert!(early > 0, "{array}: no warp finished before an earlier one");
        let report: serde_json::Value = serde_json::from_str(&folder.text("out.json")).expect("JSON");
        let cores = report["cores"].as_array().expect("a list");
        for core in cores {
            assert!(core["divergent"].as_u64() > Some(0), "no divergence: {core}");
        }
    }
}

/// A kernel in C: calls, stack, constants, bytes stored to the packet.
#[test]
fn kernel_in_c() {
    let folder = Folder::new();
    folder.write("ports.c", include_str!("../kernels/ports.c"));
    folder.succeed("kernel build ports.c -o ports.elf");
    let info = folder.succeed("kernel info ports.elf");
    assert!(
        info.contains("entry      0x0000") && info.contains("32 (RV32I)") && info.contains(" mix"),
        "{info}"
    );
    folder.succeed("gen-trace --kind tcp-mix --packets 100 --seed 2 --bad-share 10 -o in.pcap");
    let run = "run --kernel ports.elf --pcap in.pcap --verdicts out.csv --out out.pcap";
    folder.succeed(&format!("{run} {} --mem-latency 10", ARRAYS[1]));
    let rows = rows(&folder.text("out.csv"));
    check_order(&rows);

    let mut forwarded = Vec::new();
    for (row, frame) in rows.iter().zip(frames(folder.path("in.pcap"))) {
        if frame.len() < 34 || frame[12..14] != [8, 0] {
            assert_eq!(row.verdict, 0x8000_0001, "packet {}", row.packet);
            continue;
        }
        let mix = (1..=8_u32).zip(frame[26..34].iter().rev()).fold(1_u32, |rest, (count, byte)| {
            rest << [3, 5, 7, 11][count as usize & 3] ^ rest >> 9 ^ u32::from(*byte)
        });
        assert_eq!(row.verdict, mix & 7, "packet {}", row.packet);
        forwarded.push([&[2], &frame[1..]].concat());
    }
    assert!(rows.iter().any(|row| row.verdict == 0x8000_0001) && !forwarded.is_empty());
    assert_eq!(frames(folder.path("out.pcap")), forwarded);
}

/// The same run twice gives the same bytes.
#[test]
fn runs_repeat() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 64 --seed 4 --bad-share 20 -o in.pcap");
    let run = |name: &str| {
        let files = format!("--out {name}.pcap --json {name}.json --verdicts {name}.csv");
        let options = "--line-rate 10 --mem-latency 33";
        folder.succeed(&format!("run --app dec-ttl --pcap in.pcap {files} {options} {}", ARRAYS[2]))
    };
    assert_eq!(run("a"), run("b"));
    assert_eq!(folder.report("a.json"), folder.report("b.json"));
    for kind in ["pcap", "csv"] {
        assert_eq!(folder.read(&format!("a.{kind}")), folder.read(&format!("b.{kind}")), "{kind}");
    }
}

/// Frames that are not the usual ones are processed and counted.
#[test]
fn unusual_frames() {
    let folder = Folder::new();
    let mut capture: Vec<u8> =
        [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 262_144, 1_u32].iter().flat_map(|w| w.to_le_bytes()).collect();
    // (bytes of the frame that the capture holds, bytes on the wire, byte 13: the EtherType's
    // second)
    for (time, (bytes, wire, kind)) in
        [(60, 60, 6), (96, 1514, 0), (70_000, 70_000, 0), (0, 0, 0), (9, 60, 0)].iter().enumerate()
    {
        let header = [1, time as u32, *bytes as u32, *wire as u32];
        capture.extend(header.iter().flat_map(|word| word.to_le_bytes()));
        let mut frame = vec![0; *bytes];
        for (position, value) in [(12, 8), (13, *kind), (14, 0x45), (22, 9)] {
            if let Some(byte) = frame.get_mut(position) {
                *byte = value;
            }
        }
        capture.extend(frame);
    }
    folder.write("in.pcap", capture);
    let text = folder.succeed(&format!(
        "run --app dec-ttl --pcap in.pcap --verdicts out.csv --out out.pcap {}",
        ARRAYS[1]
    ));
    assert!(text.contains("3 not IPv4, 2 cut by the capture, 1 larger than a slot"), "{text}");
    let verdicts: Vec<_> = rows(&folder.text("out.csv")).iter().map(|row| row.verdict).collect();
    assert_eq!(verdicts, [0x8000_0001, 0, 0, 0x8000_0002, 0x8000_0002]);
    let lengths: Vec<_> = frames(folder.path("out.pcap")).iter().map(Vec::len).collect();
    assert_eq!(lengths, [96, 65_518], "the slot holds 64 KiB less 18 bytes");
    // A capture of no packets is no error.
    folder.write("none.pcap", &folder.read("in.pcap")[..24]);
    let text = folder.succeed(&format!("run --app dec-ttl --pcap none.pcap {}", ARRAYS[1]));
    assert!(text.contains("packets      0"), "{text}");
    let text = folder.succeed(&format!("run --app dec-ttl --pcap in.pcap --max-packets 2 {}", ARRAYS[1]));
    assert!(text.contains("packets      2"), "{text}");
}

/// What leaves the packet ports is what the host finds in the ring.
#[test]
fn packets_pass_through_the_ports() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 120 --seed 9 --bad-share 30 -o in.pcap");
    let array = "--cores 1 --lanes 4 --warps 4 --packet-ports";
    let run = format!("run --app dec-ttl --pcap in.pcap {array} --mem-latency 20");
    folder.succeed(&format!("{run} --out host.pcap"));
    let text = folder.succeed(&format!("{run} --through ports --out ports.pcap"));
    assert!(text.contains("not sent: drop or fault"), "{text}");
    assert!(folder.read("host.pcap") == folder.read("ports.pcap"), "other packets than with a host");
    // A kernel of the user's own needs a golden model, since the ports do not tell which packet a
    // frame was.
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels-asm/c/dec-ttl.c"), folder.path("mine.c"))
        .unwrap();
    folder.succeed("kernel build mine.c -o mine.elf --rv32e");
    let own = format!(
        "run --kernel mine.elf --pcap in.pcap {array} --mem-latency 20 --through ports --out own.pcap"
    );
    folder.fail(&own, &["--through ports: expected --app or --golden"]);
    let script = concat!("python3 '", env!("CARGO_MANIFEST_DIR"), "/examples/golden/dec_ttl.py'");
    let with = |golden: &str| {
        folder.hermes_with(&own, |command| {
            command.args(["--golden", golden]);
        })
    };
    let output = with(script);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("every packet and verdict agrees"), "{output:?}");
    assert!(text.contains("not sent: drop or fault"), "{text}");
    assert!(folder.read("own.pcap") == folder.read("host.pcap"), "other packets than with a host");
    let all = "n=0; while [ $n -lt 120 ]; do echo $n,0; n=$((n+1)); done > \"$HERMES_VERDICTS\"; cat";
    let output = with(all);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1)
            && error.contains("what left differs from the golden model of --golden"),
        "{error}"
    );
}

/// Divisions of 64 bits come from the compiler's library, which is not that for 64-bit processors.
#[test]
fn kernel_in_c_with_wide_divisions() {
    let folder = Folder::new();
    folder.write("divisions.c", include_str!("../kernels/divisions.c"));
    folder.succeed("gen-trace --kind tcp-mix --packets 200 --seed 2 -o in.pcap");
    for class in ["", "--rv32e"] {
        folder.succeed(&format!("kernel build divisions.c -o divisions.elf {class}"));
        folder
            .succeed(&format!("run --kernel divisions.elf --pcap in.pcap --verdicts out.csv {}", ARRAYS[1]));
        let rows = rows(&folder.text("out.csv"));
        check_order(&rows);
        let fold = |value: u64| value as u32 ^ (value >> 32) as u32;
        for (row, frame) in rows.iter().zip(frames(folder.path("in.pcap"))) {
            let number =
                |at: usize| frame[at..at + 8].iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
            let (a, b) = (number(0) >> (row.packet % 64), number(8) >> (row.packet * 7 % 64) | 1);
            let (signed_a, signed_b) = (a as i64, b as i64);
            let expected = fold(a / b)
                ^ fold(a % b)
                ^ fold((signed_a / signed_b) as u64).wrapping_mul(3)
                ^ fold((signed_a % signed_b) as u64).wrapping_mul(5);
            assert_eq!(row.verdict, expected & 0x7fff_ffff, "{class} packet {}", row.packet);
        }
    }
}

/// A warp that takes longer than half a million cycles, in which nothing but instructions tells
/// that it goes on; and one that never ends.
#[test]
fn long_and_endless_kernels() {
    let folder = Folder::new();
    let count = "kernel: li t0, 260000\n1: addi t0, t0, -1\nbnez t0, 1b\nret\n";
    folder.write("long.S", format!(".text\n.globl kernel\n{count}"));
    folder.write("endless.S", ".text\n.globl kernel\nkernel: j kernel\n");
    folder.succeed("kernel build long.S -o long.elf");
    folder.succeed("kernel build endless.S -o endless.elf");
    folder.succeed("gen-trace --kind imix --packets 1 --seed 2 -o in.pcap");
    let array = "--cores 1 --lanes 1 --warps 2 --mcw 1";
    folder.succeed(&format!("run --kernel long.elf --pcap in.pcap --verdicts out.csv {array}"));
    let rows = rows(&folder.text("out.csv"));
    check_order(&rows);
    assert!(rows.iter().all(|row| row.finish - row.start > 510_000), "{rows:?}");
    folder.fail(
        &format!("run --kernel endless.elf --pcap in.pcap --commit-limit 600000 --verdicts none.csv {array}"),
        &[
            "no packet was committed for 600001 cycles",
            "\nwarps on cores: at PC 0x",
            " in kernel",
            "0 committed",
            "--watchdog CYCLES",
            "--commit-limit CYCLES",
        ],
    );
    assert!(!folder.files().contains(&"none.csv".to_string()));
    let help = folder.succeed("help run");
    assert!(help.contains("no instruction was retired for 500,000 cycles"), "{help}");
    assert!(help.contains("--commit-limit <CYCLES>") && help.contains("[default: 20000000]"), "{help}");
}

/// Frames that find no slot are dropped, counted and told; the others leave in order. With the
/// switch off the same array lets all of them wait.
#[test]
fn frames_without_a_slot_are_dropped_or_wait() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 750 --seed 3 --bad-share 10 -o in.pcap");
    let array =
        "--cores 1 --lanes 4 --warps 4 --packet-ports --drop-when-full --adaptive-timeout --ring-slots 64";
    let run = |rate: u32, when_full: &str| {
        let options = format!("--line-rate {rate} --through ports --when-full {when_full} {array}");
        let text = folder.succeed(&format!(
            "run --app dec-ttl --pcap in.pcap {options} --out out.pcap --json out.json --verdicts out.csv"
        ));
        let report: serde_json::Value = serde_json::from_str(&folder.text("out.json")).expect("JSON");
        let count = |name: &str| report["loss"][name].as_u64().expect("a number");
        let csv = folder.text("out.csv");
        let verdicts: Vec<_> = csv.lines().skip(1).map(|row| row.split(',').nth(1).unwrap()).collect();
        let dropped = verdicts.iter().filter(|verdict| **verdict == "dropped").count() as u64;
        assert_eq!((verdicts.len(), dropped), (750, count("dropped_full")), "{csv}");
        assert_eq!((count("offered"), count("delivered") + count("dropped")), (750, 750));
        assert_eq!(report["packets"], count("delivered"));
        let numbers = csv.lines().skip(1).map(|row| row.split(',').next().unwrap().parse::<usize>());
        assert!(numbers.map(Result::unwrap).eq(0..750));
        (text, dropped)
    };
    let (text, dropped) = run(400, "drop");
    assert!((50..700).contains(&dropped), "{dropped}");
    let told = format!("{dropped} of 750 frames (");
    let rest = format!(": {dropped} found no free slot; {} were delivered", 750 - dropped);
    assert!(text.contains(&told) && text.contains(&rest), "{text}");
    let (text, dropped) = run(400, "wait");
    assert!(dropped == 0 && !text.contains("no free slot;"), "{text}");
    // Without overload nothing is dropped.
    assert_eq!(run(4, "drop").1, 0);
}

/// Packets of 1,514 bytes, searched byte by byte by all warps that one core of the paper holds:
/// more than half a million cycles from one commit to the next.
#[test]
#[ignore = "builds a core of the paper preset and simulates 2 million cycles"]
fn large_packets_are_searched_on_one_core() {
    let folder = Folder::new();
    folder.succeed("gen-rules --kind snort --count 100 -o snort.rules");
    folder.succeed("gen-trace --kind fixed:1514 --packets 600 --patterns snort.rules -o in.pcap");
    for app in ["dpi", "nids"] {
        let run = format!("run --app {app} --rules snort.rules --pcap in.pcap --verdicts out.csv");
        folder.succeed(&format!("{run} --preset paper --cores 1"));
        let rows = rows(&folder.text("out.csv"));
        check_order(&rows);
        assert!(rows[0].commit > 500_000, "{:?}", rows[0]);
    }
}

/// With a line rate far above what the array computes, the delay of a packet counts from when its
/// schedule lets it come.
#[test]
fn delays_under_overload_count_from_the_schedule() {
    let folder = Folder::new();
    // More packets than the ring has slots (4,096), so that the last ones wait for one.
    folder.succeed("gen-trace --kind fixed:60 --packets 12000 --seed 2 -o in.pcap");
    for through in ["host", "ports"] {
        let run = |rate: &str| {
            let options =
                format!("--line-rate {rate} --verdicts {rate}.csv --json out.json --through {through}");
            let array = "--cores 1 --lanes 4 --warps 4 --packet-ports";
            folder.succeed(&format!("run --app dec-ttl --pcap in.pcap {options} {array}"));
            let report: serde_json::Value = serde_json::from_str(&folder.text("out.json")).expect("JSON");
            (rows(&folder.text(&format!("{rate}.csv"))), report["delay"]["max"].as_u64().expect("a number"))
        };
        let (rows, longest) = run("100");
        for (row, number) in rows.iter().zip(1_u64..) {
            // 84 bytes on the wire for each frame; the ports take one cycle more for its only beat.
            let whole = (number * 672).div_ceil(100);
            assert_eq!(row.arrival, whole + u64::from(through == "ports"), "{row:?}");
        }
        let last = rows.last().expect("packets");
        assert_eq!(longest, rows.iter().map(|row| row.commit - row.arrival).max().unwrap_or(0));
        assert!(last.commit - last.arrival > last.arrival / 2, "no overload: {last:?}");
    }
}
