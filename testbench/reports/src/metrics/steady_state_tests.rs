//! Steady state and delays of a recorded run, against a program in another language.

use std::process::Command;

use serde_json::{json, Value};

use super::*;

/// The folder of the recorded run: 600 packets of dec-ttl through the packet ports of an array with
/// one core, four lanes and four warp slots, with `--arrivals poisson:6 --forming-times`.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/metrics");

/// Times and lengths of the packets in a CSV file.
fn recorded(text: &str) -> (Vec<PacketTimes>, Vec<u64>) {
    let mut lines = text.lines();
    let names: Vec<_> = lines.next().unwrap().split(',').collect();
    let packet = |line: &str| {
        let fields: Vec<_> = line.split(',').collect();
        let field = |name: &str| {
            let place = names.iter().position(|known| *known == name).unwrap();
            fields[place].parse().ok()
        };
        let time = |name: &str| field(name).unwrap();
        let times = PacketTimes {
            arrival: time("arrival"),
            in_slot: time("inSlot"),
            start: time("start"),
            finish: time("finish"),
            commit: time("commit"),
            formed: field("formed"),
            sent: field("sent"),
            ..PacketTimes::default()
        };
        (times, time("length"))
    };
    lines.map(packet).unzip()
}

/// What the program in Python prints, of the same file.
fn figures(text: &str) -> Value {
    let (times, lengths) = recorded(text);
    let steady_state = SteadyState::of(&times, &lengths, 16, true).unwrap();
    json!({ "whole": Delays::of(&times, true), "steady_state": steady_state })
}

/// Asserts that two values are the same, but for the last digits of numbers.
fn compare(path: &str, ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{path}: {a:?}, {b:?}");
            a.iter().for_each(|(name, value)| compare(&format!("{path}.{name}"), value, &b[name]));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-9 * b.abs(), "{path}: {a}, {b}");
        }
        _ => assert_eq!(ours, theirs, "{path}"),
    }
}

/// What the program prints of `text`; none without Python.
fn by_python(text: &str) -> Option<Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.csv");
    std::fs::write(&path, text).unwrap();
    match Command::new("python3").arg(format!("{FOLDER}/qos.py")).arg(&path).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(serde_json::from_slice(&output.stdout).unwrap())
        }
        Err(error) => {
            println!("skipped: python3: {error}");
            None
        }
    }
}

#[test]
fn a_recorded_run_has_the_figures_of_another_program() {
    let text = std::fs::read_to_string(format!("{FOLDER}/run.csv")).unwrap();
    let ours = figures(&text);
    let kept = std::fs::read_to_string(format!("{FOLDER}/run.json")).unwrap();
    compare("run.json", &ours, &serde_json::from_str(&kept).unwrap());
    if let Some(theirs) = by_python(&text) {
        compare("qos.py", &ours, &theirs);
    }
    assert!(ours["whole"]["latency"]["p99"].is_u64() && ours["whole"]["stages"]["ring"]["max"].is_u64());
}

/// So many packets that the 99.9th percentile is told, too.
#[test]
fn a_long_run_has_the_figures_of_another_program() {
    let mut text = "packetIdx,verdict,arrival,start,finish,commit,inSlot,formed,sent,length\n".to_string();
    let mut random = 1_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let (mut start, mut commit) = (0, 0);
    for packet in 0..16_001_u64 {
        let (arrival, length) = (10 * packet, 60 + next(1455));
        let in_slot = arrival + next(9);
        if packet % 4 == 0 {
            start = (in_slot + 40).max(start) + 100 + next(400);
        }
        let formed = start - next(50);
        let finish = start + 50 + next(900);
        commit = finish.max(commit) + 2;
        let sent = if next(4) > 0 { (commit + 5 + next(50)).to_string() } else { String::new() };
        text += &format!(
            "{packet},0x00000000,{arrival},{start},{finish},{commit},{in_slot},{formed},{sent},{length}\n"
        );
    }
    let ours = figures(&text);
    assert!(ours["whole"]["delay"]["p999"].as_u64() > ours["whole"]["delay"]["p99"].as_u64());
    if let Some(theirs) = by_python(&text) {
        compare("qos.py", &ours, &theirs);
    }
}

#[test]
fn what_is_too_short_has_no_steady_state() {
    let times: Vec<_> = (0..160)
        .map(|cycle| PacketTimes { finish: cycle, commit: cycle, ..PacketTimes::default() })
        .collect();
    let of = |times: &[PacketTimes], wave| SteadyState::of(times, &[64; 160], wave, true);
    let steady = of(&times, 20).unwrap();
    assert_eq!((steady.packets, steady.from, steady.to), (110, 39, 149));
    assert!((steady.packets_per_cycle - 1.0).abs() < 1e-9 && (steady.bits_per_cycle - 512.0).abs() < 1e-9);
    assert_eq!(SteadyState::fewest(20), 160);
    assert!(of(&times, 21).is_none() && of(&times[..159], 20).is_none());
    // All at once, and no packets.
    assert!(of(&vec![times[7]; 160], 20).is_none() && SteadyState::of(&[], &[], 0, true).is_none());
}
