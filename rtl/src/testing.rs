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

/// Random numbers from [`seed`].
pub(crate) fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed())
}
