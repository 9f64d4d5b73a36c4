//! Files of the formats that have a grammar, made from a seed, are read as they were made, and as
//! other programs read them: routing tables (bgpkit, `bgpdump`), captures (`tshark`), programs
//! (`readelf`), and rules, which no other program at hand reads. A program that is not installed
//! is left out, which is told.
//!
//! `HERMES_SEED` repeats a run. A small number of files is made each time; the ignored tests make
//! 10,000 of each format.

mod elf;
mod mrt;
mod pcapng;
mod rules;

use std::process::Command;

use hermes_testbench::test_seed;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Files of each format: each time, and by the ignored tests.
const FEW: usize = 80;
const MANY: usize = 10_000;

/// Calls `test` with as many numbers and random generators; a failure names the seed.
fn each(count: usize, mut test: impl FnMut(usize, &mut ChaCha8Rng)) {
    let seed = test_seed();
    for number in 0..count {
        let mut random = ChaCha8Rng::seed_from_u64(seed.wrapping_add(number as u64));
        test(number, &mut random);
    }
}

/// What `program` prints, or `None` where it is not installed.
fn output(program: &str, arguments: &[&str], files: &[std::path::PathBuf]) -> Option<String> {
    let output = match Command::new(program).args(arguments).args(files).output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: {program} is not installed");
            return None;
        }
        Err(error) => panic!("{program}: {error}"),
    };
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// One of `items`.
fn one<T: Copy>(random: &mut impl Rng, items: &[T]) -> T {
    items[random.gen_range(0..items.len())]
}

#[test]
fn files_made_from_a_seed() {
    mrt::test(FEW);
    pcapng::test(FEW);
    elf::test(FEW);
    rules::test(FEW);
}

#[test]
#[ignore = "10,000 files, each read by bgpdump as well: half a minute"]
fn many_routing_tables() {
    mrt::test(MANY);
}

#[test]
#[ignore = "10,000 sections, read by tshark as well: a minute"]
fn many_captures() {
    pcapng::test(MANY);
}

#[test]
#[ignore = "10,000 files, read by readelf as well: ten seconds"]
fn many_programs() {
    elf::test(MANY);
}

#[test]
#[ignore = "10,000 rule files: ten seconds"]
fn many_rule_files() {
    rules::test(MANY);
}
