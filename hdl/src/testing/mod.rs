//! What tests of units share: random numbers, a clock cycle, and a unit natively against its
//! Verilog.
//!
//! [`check`] and its like run the native simulation and the Verilated Verilog with the same random
//! inputs and compare all outputs. `HERMES_EVENT_DRIVEN` plays the same inputs to Icarus Verilog,
//! `HERMES_MUTATIONS` measures how many single faults in the Verilog they notice; `docs/verilog.md`
//! and `docs/verification.md` say how.

mod equivalence;
pub(crate) mod event_driven;
pub(crate) mod mutation;

pub use equivalence::{check, check_events, check_events_with, check_synthesized_with, check_with};
pub use event_driven::Played;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::{simulate, Block};

/// The seed of a random test: that of `HERMES_SEED`, or a fixed one; printed for the reader of a
/// failure.
///
/// # Panics
/// If `HERMES_SEED` is not a number.
pub fn seed() -> u64 {
    let seed = match std::env::var("HERMES_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("HERMES_SEED: `{text}` is not a number")),
        Err(_) => 0x4845_524d,
    };
    println!("HERMES_SEED={seed}");
    seed
}

/// One in `part` of the cases of a test that goes through all of them, from a random one on; all of
/// them if `HERMES_ALL` is 1.
pub fn one_in<I: Iterator>(part: usize, cases: I) -> impl Iterator<Item = I::Item> {
    use rand::Rng;
    let all = std::env::var("HERMES_ALL").is_ok_and(|value| value == "1");
    let (first, step) = if all { (0, 1) } else { (random().gen_range(0..part), part) };
    cases.skip(first).step_by(step)
}

/// Random numbers from [`seed`].
#[must_use]
pub fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed())
}

/// Lets combinational logic settle.
///
/// # Panics
/// If it does not.
pub fn settle<B: Block>(unit: &mut B) {
    assert!(simulate(unit, 200), "the logic does not settle");
}
