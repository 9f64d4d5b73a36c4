//! Packets of every length and of any bytes.

use std::path::Path;

use hermes_testbench::cosim::{frame_capacity, ArraySetup, Host};
use hermes_testbench::slot::{self, SlotPacket};
use hermes_testbench::traffic::{self, Frame, Generator, Kind, Traffic};
use rand::seq::SliceRandom as _;
use rand::{Rng as _, RngCore as _};
use rand_chacha::ChaCha8Rng;

use super::array::*;

/// Apps that need no tables: one stores to its packets, one only reads them.
const APPS: [&str; 2] = ["dec-ttl", "check-ip-header"];

/// Runs frames through the apps; all verdicts and bytes are those of the golden models.
fn golden(frames: &[Vec<u8>], slot_bytes_log2: u32, random: &mut ChaCha8Rng, case: &str) {
    for name in APPS {
        let (app, kernel) = app(name);
        let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
        let setup = ArraySetup { slot_bytes_log2, ..setup() };
        let layout = prepare(&mut host, &kernel, &setup);
        let result = process(&mut host, &setup, &layout, &arriving(frames.iter().cloned())).unwrap();
        for (frame, got) in frames.iter().zip(&result.packets) {
            check(app.as_ref(), frame, got, &format!("{case}, {name}"));
        }
        assert_eq!((result.fault_count, result.bus_errors), (0, 0), "{case}, {name}");
    }
}

/// From no byte to as many as a slot holds; random bytes, and good packets that are cut or end in
/// random bytes.
#[test]
fn packets_of_every_length() {
    let mut random = random();
    let longest = frame_capacity(&setup());
    let traffic = Traffic { kind: Kind::Fixed(longest), seed: random.gen(), bad_share: 0.0, rate: 100.0 };
    let good: Vec<_> = Generator::new(traffic).take(longest + 1).map(|frame| frame.data).collect();
    let frames: Vec<Vec<u8>> = (0..=longest)
        .flat_map(|length| {
            let mut bytes = vec![0; length];
            random.fill_bytes(&mut bytes);
            let mut ends = good[length].clone();
            ends.truncate(length);
            if let Some(tail) = ends.get_mut(14 + length % 40..) {
                random.fill_bytes(tail);
            }
            [bytes, good[length][..length].to_vec(), ends]
        })
        .collect();
    golden(&frames, SLOT_BYTES_LOG2, &mut random, "every length");
}

/// One change of a header: what a parser might believe.
fn spoil(frame: &mut Vec<u8>, random: &mut ChaCha8Rng) {
    let edges = [0, 1, 4, 5, 19, 20, 21, 0x45, 0x46, 0x4f, 0x60, 0x7f, 0x80, 0xff];
    let at = random.gen_range(12..38).min(frame.len().saturating_sub(1));
    match random.gen_range(0..5) {
        0 => frame.truncate(at),
        1 if !frame.is_empty() => frame[at] = *edges.choose(random).unwrap(),
        2 if frame.len() > 17 => frame[16..18].copy_from_slice(&random.gen::<[u8; 2]>()),
        3 if frame.len() > 14 => frame[14] = 0x40 | random.gen_range(0..16),
        _ => {
            let bytes: Vec<u8> = (0..random.gen_range(0..40)).map(|_| random.gen()).collect();
            frame.splice(at..at, bytes);
        }
    }
}

/// A capture that the test makes itself: packets whose headers lie.
#[test]
fn packets_with_spoiled_headers() {
    let mut random = random();
    let traffic = Traffic { kind: Kind::Fixed(120), seed: random.gen(), bad_share: 30.0, rate: 100.0 };
    let frames: Vec<Vec<u8>> = Generator::new(traffic)
        .take(600)
        .map(|frame| {
            let mut bytes = frame.data;
            for _ in 0..random.gen_range(1..4) {
                spoil(&mut bytes, &mut random);
            }
            bytes
        })
        .collect();
    golden(&frames, SLOT_BYTES_LOG2, &mut random, "spoiled headers");
}

/// Malformed captures in the folder that `HERMES_CAPTURES` names, such as those of test suites of
/// other network tools: the reader takes a file or refuses it with an error, and the array agrees
/// with the golden models on every packet.
#[test]
fn malformed_captures_of_others() {
    let Some(folder) = std::env::var_os("HERMES_CAPTURES") else {
        println!("HERMES_CAPTURES is not set: nothing is tried");
        return;
    };
    let mut paths: Vec<_> =
        std::fs::read_dir(Path::new(&folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut random = random();
    let mut frames: Vec<Frame> = Vec::new();
    let mut refused = 0;
    for path in &paths {
        match traffic::read(path, Some(200)) {
            Ok(capture) => frames.extend(capture.frames),
            Err(error) => {
                println!("{error}");
                refused += 1;
            }
        }
    }
    println!("{} files, {refused} of them refused, {} packets", paths.len(), frames.len());
    assert!(!frames.is_empty());
    let slot_bytes_log2 = slot::bytes_log2_for(&frames, 0);
    let bytes: Vec<_> = frames.iter().map(|frame| SlotPacket::new(frame, slot_bytes_log2).frame).collect();
    golden(&bytes, slot_bytes_log2, &mut random, "captures");
}
