//! What the native tests of all folders share: a unit's clock and reset, and seeded random numbers.

/// Gives a unit one clock cycle: settles its inputs, then a rising and a falling edge.
macro_rules! tick {
    ($unit:expr) => {{
        $crate::testing::settle(&mut $unit);
        $unit.clock.next = true.into();
        $crate::testing::settle(&mut $unit);
        $unit.clock.next = false.into();
        $crate::testing::settle(&mut $unit);
    }};
}

/// Holds a unit's reset for two cycles.
macro_rules! reset {
    ($unit:expr) => {{
        $unit.reset.next = true;
        $crate::testing::tick!($unit);
        $crate::testing::tick!($unit);
        $unit.reset.next = false;
        $crate::testing::settle(&mut $unit);
    }};
}

pub(crate) use hermes_hdl::testing::{random, settle};
pub(crate) use {reset, tick};
