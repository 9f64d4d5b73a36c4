//! Test support that all folders share.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The seed of a random test: that of `HERMES_SEED`, or a fixed one; printed for the reader of a failure.
pub(crate) fn seed() -> u64 {
    let seed = match std::env::var("HERMES_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("HERMES_SEED: `{text}` is not a number")),
        Err(_) => 0x4845_524d,
    };
    println!("HERMES_SEED={seed}");
    seed
}

/// One in `part` of the cases of a test that goes through all of them, from a random one on; all of them if `HERMES_ALL` is 1.
pub(crate) fn one_in<I: Iterator>(part: usize, cases: I) -> impl Iterator<Item = I::Item> {
    use rand::Rng;
    let all = std::env::var("HERMES_ALL").is_ok_and(|value| value == "1");
    let (first, step) = if all { (0, 1) } else { (random().gen_range(0..part), part) };
    cases.skip(first).step_by(step)
}

/// Random numbers from [`seed`].
pub(crate) fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed())
}
