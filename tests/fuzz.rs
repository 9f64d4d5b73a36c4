//! `hermes fuzz`: a few random programs; the long runs are for people and CI.

mod common;

use common::Folder;

/// A small array, whose model builds fast.
const ARRAY: &str = "--cores 1 --lanes 4 --warps 4";

#[test]
fn random_programs_agree_with_the_reference() {
    let folder = Folder::new();
    for options in ["--seeds 3", "--seeds 2 --rv32e --no-faults --latency 5 --stalls 0 --instructions 200"] {
        let command = format!("fuzz {options} {ARRAY} --packets 20 --coverage coverage.json");
        let text = folder.succeed(&command);
        assert!(text.contains("differences          0\n"), "{text}");
        let retired = text.lines().find(|line| line.starts_with("warp-instructions")).unwrap();
        let count: u64 = retired.split_whitespace().nth(1).unwrap().parse().unwrap();
        assert!(count > 200, "{text}");
        let json: serde_json::Value = serde_json::from_str(&folder.text("coverage.json")).unwrap();
        let covered = |what: &str| json["summary"][what]["covered"].as_u64().unwrap();
        assert!(covered("instructions") > 40 && covered("hazards") > 100, "{text}");
        // What is needed to run them again
        let seeds: u64 = options.split(' ').nth(1).unwrap().parse().unwrap();
        assert_eq!((json["seeds"].as_u64(), json["first_seed"].as_u64()), (Some(seeds), Some(1)), "{json}");
        assert_eq!((&json["configuration"]["lanes"], &json["packets"]), (&4.into(), &20.into()), "{json}");
        let embedded = options.contains("--rv32e");
        assert_eq!((&json["rv32e"], &json["with_faults"]), (&embedded.into(), &(!embedded).into()), "{json}");
        // The same seeds do the same; only the time differs.
        let again = folder.succeed(&command);
        let without_time = |text: &str| {
            text.lines().filter(|l| !l.starts_with("time")).map(String::from).collect::<Vec<_>>()
        };
        assert_eq!(without_time(&text), without_time(&again));
    }
}

#[test]
fn bad_options_are_refused() {
    let folder = Folder::new();
    for (options, part) in [
        ("--latency 9-3", "expected cycles such as 60, a range such as 1-60 (1 to 100000), or dram"),
        ("--latency 0", "expected cycles such as 60"),
        ("--lanes 3", "lanes: 3 is not possible"),
        ("--coverage no/such/file.json", "no/such/file.json"),
    ] {
        let output = folder.hermes(&format!("fuzz --seeds 1 {options}"));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(part), "{options}: {error}");
    }
    assert!(folder.files().is_empty());
}
