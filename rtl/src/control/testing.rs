//! What the native tests of this crate's control units share: the clock, and seeded random numbers.

/// Propagates the inputs set with `next` to the outputs, without a clock edge.
macro_rules! settle {
    ($unit:expr) => {
        assert!(hermes_hdl::prelude::simulate(&mut $unit, 100), "the unit does not settle")
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

/// Holds the unit's reset for two cycles.
macro_rules! start {
    ($unit:expr) => {{
        $unit.reset.next = true;
        $crate::control::testing::tick!($unit);
        $crate::control::testing::tick!($unit);
        $unit.reset.next = false;
        $crate::control::testing::settle!($unit);
    }};
}

/// The choices that a round-robin arbiter makes in two rounds of four requests; `$index` is its
/// output with the number.
macro_rules! two_rounds {
    ($unit:expr, $index:ident) => {{
        $crate::control::testing::start!($unit);
        $unit.request.next = 0x8000_4003.into();
        $unit.advance.next = true;
        let choice = |_| {
            $crate::control::testing::settle!($unit);
            let index = $unit.$index.val().index();
            $crate::control::testing::tick!($unit);
            index
        };
        (0..8).map(choice).collect::<Vec<usize>>()
    }};
}

/// Which of the requests a round-robin arbiter chooses after number `last`.
pub(crate) fn in_turn(request: u32, last: usize) -> Option<usize> {
    (1..=32).map(|distance| (last + distance) % 32).find(|&i| request >> i & 1 == 1)
}

pub(crate) use hermes_hdl::testing::random;
pub(crate) use {settle, start, tick, two_rounds};
