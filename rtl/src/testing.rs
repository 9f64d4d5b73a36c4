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

use hermes_hdl::prelude::*;

/// Gives a signal a value although something else drives it: an output of a child, to see what the
/// kernel of its owner alone makes of it (`Logic::update`), or what a register holds.
pub fn poke<D: Direction, T: Synth>(signal: &mut Signal<D, T>, value: T) {
    signal.next = value;
    signal.update_all();
}

/// Writes a word of a RAM between two cycles.
pub fn poke_word<T: Synth, const A: usize>(ram: &mut RamAsync<T, A>, address: usize, word: T) {
    poke(&mut ram.write_enable, true);
    poke(&mut ram.write_address, (address as u64).into());
    poke(&mut ram.write_data, word);
    for level in [true, false] {
        poke(&mut ram.clock, level.into());
        ram.update();
    }
    poke(&mut ram.write_enable, false);
}
