//! Short runs take the cycles on record, to the cycle of every packet, and give the same verdicts
//! and bytes.
//!
//! The machine is deterministic, so a change of `tests/golden.txt` in either direction is a change
//! of the hardware or of the test bench. It is made on purpose and is a line of that file, with its
//! reason:
//!
//!     HERMES_REASON="what changed, and why" cargo test --test golden

mod common;

use std::fmt::Write as _;
use std::path::PathBuf;

use common::Folder;
use sha2::{Digest, Sha256};

const HEAD: &str =
    "# Run, cycles, hash of verdicts, times and bytes of every packet, reason of the last change. See tests/golden.rs.\n";

/// The array of most tests, so that its model is built already.
const SMALL: &str = "--cores 1 --lanes 4 --warps 4 --mem-latency 20";

/// Name, app with its inputs, traffic, and array with how it is run.
const RUNS: &[(&str, &str, &str, &str)] = &[
    ("dec-ttl-default", "dec-ttl", "--kind imix --packets 400 --bad-share 10", "--preset default"),
    ("dec-ttl-dram", "dec-ttl", "--kind imix --packets 200", "--preset default --memory dram --mcw 8"),
    ("dec-ttl-sparse", "dec-ttl", "--kind imix --packets 60", "--preset default --line-rate 2"),
    (
        "dec-ttl-ports",
        "dec-ttl",
        "--kind imix --packets 200 --bad-share 10",
        "--cores 1 --lanes 4 --warps 4 --through ports",
    ),
    ("check-ip-header", "check-ip-header", "--kind fixed:64 --packets 300 --bad-share 30", SMALL),
    (
        "route-lookup",
        "route-lookup --routes routes.txt",
        "--kind imix --packets 200 --routes routes.txt",
        SMALL,
    ),
    ("classifier", "classifier --rules fw.rules", "--kind tcp-mix --packets 60 --rules fw.rules", SMALL),
    ("dpi", "dpi --rules snort.rules", "--kind imix --packets 40 --patterns snort.rules", SMALL),
    ("fragment", "fragment --mtu 400", "--kind imix --packets 60", SMALL),
    (
        "router",
        "router --rules fw.rules --routes routes.txt",
        "--kind imix --packets 100 --bad-share 20",
        SMALL,
    ),
];

/// Random programs in lock-step with the reference, with and without atomic operations.
const FUZZ: &[(&str, &str)] = &[
    ("fuzz", "--seeds 2 --cores 1 --lanes 4 --warps 4 --packets 20"),
    ("fuzz-atomics", "--atomics --seeds 2 --cores 1 --lanes 4 --warps 4 --packets 20"),
];

fn hash(parts: &[Vec<u8>]) -> String {
    let digest = Sha256::digest(parts.concat());
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Cycles and hash of a run of an app.
fn app(folder: &Folder, app: &str, traffic: &str, array: &str) -> String {
    folder.succeed(&format!("gen-trace {traffic} --seed 7 -o in.pcap"));
    folder.succeed(&format!(
        "run --app {app} --pcap in.pcap --out out.pcap --json out.json --verdicts out.csv {array}"
    ));
    let report: serde_json::Value = serde_json::from_str(&folder.text("out.json")).expect("JSON");
    format!("{} {}", report["cycles"], hash(&[folder.read("out.csv"), folder.read("out.pcap")]))
}

/// Cycles and hash of what `hermes fuzz` says.
fn fuzz(folder: &Folder, options: &str) -> String {
    let text = folder.succeed(&format!("fuzz {options}"));
    let counted = text.lines().find_map(|line| line.strip_suffix(" cycles"));
    let cycles = counted.and_then(|line| line.split(' ').next_back()).expect("the cycles");
    let told = text.lines().filter(|line| !line.starts_with("time")).collect::<Vec<_>>().join("\n");
    format!("{} {}", cycles, hash(&[told.into_bytes()]))
}

#[test]
fn runs_take_the_cycles_on_record() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt");
    let reason = std::env::var("HERMES_REASON").ok().filter(|reason| !reason.trim().is_empty());
    let record = std::fs::read_to_string(&path).unwrap_or_default();
    let folder = Folder::new();
    folder.succeed("gen-routes --count 3000 --ports 30 --seed 1 -o routes.txt");
    folder.succeed("gen-rules --kind fw --count 200 --deny 20 --seed 2 -o fw.rules");
    folder.succeed("gen-rules --kind snort --count 60 --seed 3 -o snort.rules");
    let runs = RUNS.iter().map(|&(name, what, traffic, array)| (name, app(&folder, what, traffic, array)));
    let programs = FUZZ.iter().map(|&(name, options)| (name, fuzz(&folder, options)));
    let (mut text, mut differences) = (HEAD.to_string(), Vec::new());
    for (name, found) in runs.chain(programs) {
        let known = record.lines().find(|line| line.split(' ').next() == Some(name)).unwrap_or_default();
        if known.starts_with(&format!("{name} {found} ")) {
            let _ = writeln!(text, "{known}");
        } else {
            differences.push(format!("{name}: {found}, on record: {known}"));
            let _ = writeln!(text, "{name} {found} {}", reason.as_deref().unwrap_or("-"));
        }
    }
    if reason.is_some() {
        std::fs::write(path, text).unwrap();
        return;
    }
    assert!(
        differences.is_empty(),
        "runs differ from tests/golden.txt (cycles, hash):\n{}\nif that is meant, HERMES_REASON=\"why\" writes it to the record",
        differences.join("\n")
    );
}

/// A command processor whose harts are held, a thread spawner without jobs and a network interface
/// without traffic cost packets no cycle, and no verdict, byte or time of a packet is another. The
/// arrays with these parts are those of the tests of GDB and of clusters.
#[test]
fn parts_that_are_idle_cost_no_cycle() {
    let on = |folder: &Folder, array: &str| {
        app(folder, "dec-ttl", "--kind imix --packets 200 --bad-share 10", array)
    };
    let run = |array: &str| on(&Folder::new(), array);
    let fpga = "--preset fpga --cores 1 --lanes 2 --warps 2 --mem-latency 20";
    let command = "--command-threads 2 --uli-channels 2 --spawn-slots 16";
    assert_eq!(run(&format!("{fpga} {command}")), run(fpga), "command processor and thread spawner");
    // The network interface needs atomic operations.
    let small = format!("{SMALL} --l2-lines 16 --l1-lines 16 --atomics");
    let alone = on(&Folder::for_short_runs(), &small);
    assert_eq!(run(&format!("{small} --network")), alone, "network interface");
}
