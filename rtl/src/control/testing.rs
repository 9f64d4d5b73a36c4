//! What the native tests of this crate's control units share: the clock, and seeded random numbers.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Propagates the inputs set with `next` to the outputs, without a clock edge.
macro_rules! settle {
    ($unit:expr) => {
        assert!(rust_hdl::prelude::simulate(&mut $unit, 100), "the unit does not settle")
    };
}

/// One whole clock cycle: settles the inputs, then a rising and a falling edge.
macro_rules! tick {
    ($unit:expr) => {{
        $crate::control::testing::settle!($unit);
        $unit.clock.next = true.into();
        $crate::control::testing::settle!($unit);
        $unit.clock.next = false.into();
        $crate::control::testing::settle!($unit);
    }};
}

/// Connects the unit and holds its reset for two cycles.
macro_rules! start {
    ($unit:expr) => {{
        rust_hdl::prelude::Block::connect_all(&mut $unit);
        $unit.reset.next = true;
        $crate::control::testing::tick!($unit);
        $crate::control::testing::tick!($unit);
        $unit.reset.next = false;
        $crate::control::testing::settle!($unit);
    }};
}

pub(crate) use {settle, start, tick};

/// Random numbers from the seed in `HERMES_SEED`, or from a fixed one; prints the seed.
pub(crate) fn random() -> ChaCha8Rng {
    let seed = match std::env::var("HERMES_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("HERMES_SEED: `{text}` is not a number")),
        Err(_) => 0x4845_524d,
    };
    println!("HERMES_SEED={seed}");
    ChaCha8Rng::seed_from_u64(seed)
}
