//! The whole machine under stress: arrays with random options and odd sizes, random programs of
//! cores and harts in lock-step with the reference, packets through the ports or the ring beside
//! puts, gets and atomic operations over a network that loses, repeats and damages frames, a memory
//! that answers late and stalls, chains of network functions, and resets in the middle of the
//! packets. Every array has the assertions of its units. Jobs of the thread spawner do not run, nor
//! do harts while packets pass; chains do not branch.
//!
//! `HERMES_SEED` is the seed of the first array, which is printed with what it is. Ten minutes of
//! arrays: `cargo test -p hermes-testbench --test stress -- --ignored --nocapture`, or as long as
//! `HERMES_STRESS_SECONDS` says.

mod arrays;
mod functions;
mod network;
mod rounds;

use std::time::{Duration, Instant};

use hermes_rtl::config::Config;
use hermes_testbench::{model, test_seed};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use rounds::{Rounds, Seen};

/// Seconds of the long test, unless the environment says otherwise.
const SECONDS: u64 = 600;

/// One array, drawn with `seed`, and everything on it.
fn stress(seed: u64, rounds: Rounds) -> Seen {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let config = arrays::draw(&mut random);
    println!("HERMES_SEED={seed}: {}", serde_json::to_string(&config).unwrap());
    let began = Instant::now();
    let library = model::brief(&hermes_rtl::top::emit_top(&config).unwrap()).unwrap();
    let built = began.elapsed();
    let compared = rounds::programs(&config, &library, rounds, &mut random);
    let instructions = rounds::firmware(&config, &library, rounds, &mut random);
    let seen = rounds::packets(&config, &library, rounds, &mut random);
    println!(
        "    {compared} warp-instructions and {instructions} of harts compared, {} packets, {} commands, \
         {:?} frames lost, damaged and repeated, {} of {} runs interrupted by a reset; {:.0} s, {:.0} s of them to build",
        seen.packets,
        seen.commands,
        seen.faults,
        seen.interrupted,
        seen.runs,
        began.elapsed().as_secs_f64(),
        built.as_secs_f64()
    );
    assert!(compared > 0 && seen.packets > 0);
    assert!(config.command_threads == 0 || instructions > 0);
    assert!(!config.network || seen.commands > 0);
    seen
}

/// The first seed of an array like this.
fn seed_of(is_like: impl Fn(&Config) -> bool) -> u64 {
    let draws = |seed: &u64| is_like(&arrays::draw(&mut ChaCha8Rng::seed_from_u64(*seed)));
    (1..10_000).find(draws).expect("such an array is drawn")
}

/// One with branching network functions and packet ports.
#[test]
fn a_random_array_that_branches_works() {
    let is_chain = |config: &Config| config.function_branches && config.packet_ports && config.cores > 1;
    let seen = stress(seed_of(is_chain), Rounds::FEW);
    assert!(seen.interrupted > 0 && seen.visits > 0);
}

/// One with network interface, harts and thread spawner.
#[test]
fn a_random_array_with_network_and_harts_works() {
    let is_whole = |config: &Config| config.network && config.command_threads > 1 && config.spawn_slots > 0;
    let seen = stress(seed_of(is_whole), Rounds::FEW);
    assert!(seen.interrupted > 0 && seen.faults.iter().all(|count| *count > 0), "{:?}", seen.faults);
}

#[test]
#[ignore = "ten minutes"]
fn random_arrays_work() {
    let seconds = std::env::var("HERMES_STRESS_SECONDS")
        .map_or(SECONDS, |text| text.parse().expect("HERMES_STRESS_SECONDS: expected a number of seconds"));
    let (first, began) = (test_seed(), Instant::now());
    let mut interrupted = 0;
    for seed in first.. {
        interrupted += stress(seed, Rounds::MANY).interrupted;
        if began.elapsed() > Duration::from_secs(seconds) {
            println!("{} arrays", seed - first + 1);
            break;
        }
    }
    assert!(interrupted > 0);
}
