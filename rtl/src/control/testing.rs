//! What the native tests of this crate's control units share: the clock, and seeded random numbers.

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

pub(crate) use crate::testing::random;
pub(crate) use {settle, start, tick};
