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

/// An input of a kernel: a port of its unit, an output of a child, what a register holds.
pub struct Input<U> {
    pub name: &'static str,
    pub set: fn(&mut U, u64),
}

/// The signal of one bit with this path in a unit.
macro_rules! bit {
    ($unit:ty, $($path:tt)+) => {
        $crate::testing::Input::<$unit> {
            name: stringify!($($path)+),
            set: |unit, value| $crate::testing::poke(&mut unit.$($path)+, value != 0),
        }
    };
}

/// The signal of several bits with this path in a unit.
macro_rules! word {
    ($unit:ty, $($path:tt)+) => {
        $crate::testing::Input::<$unit> {
            name: stringify!($($path)+),
            set: |unit, value| $crate::testing::poke(&mut unit.$($path)+, value.into()),
        }
    };
}

/// The signals of one bit with this path in all elements of a vector of a unit.
macro_rules! each {
    ($unit:ty, $vector:ident . $($path:tt)+) => {
        $crate::testing::Input::<$unit> {
            name: concat!(stringify!($vector), "[i].", stringify!($($path)+)),
            set: |unit, value| {
                for (i, element) in unit.$vector.iter_mut().enumerate() {
                    $crate::testing::poke(&mut element.$($path)+, value >> i & 1 == 1);
                }
            },
        }
    };
}

pub(crate) use {bit, each, word};

/// Each bit of what `sink` gives is the OR of that bit of the inputs: each alone raises it, none
/// does not, and it raises no other. All else stays as it is in the unit.
pub fn is_raised_by<U: Logic>(
    unit: &mut U,
    name: &str,
    width: usize,
    sink: fn(&U) -> u64,
    inputs: &[Input<U>],
) {
    inputs.iter().for_each(|input| (input.set)(unit, 0));
    unit.update();
    assert_eq!(sink(unit), 0, "{name} without an input");
    for input in inputs {
        for bit in 0..width {
            (input.set)(unit, 1 << bit);
            unit.update();
            assert_eq!(sink(unit), 1 << bit, "{name} with bit {bit} of {} alone", input.name);
        }
        (input.set)(unit, 0);
    }
    unit.update();
}

/// What `sink` gives is high while all of `needed` are high and none of `barred`: each of them
/// alone makes it low.
pub fn needs<U: Logic>(
    unit: &mut U,
    name: &str,
    sink: fn(&U) -> bool,
    needed: &[Input<U>],
    barred: &[Input<U>],
) {
    needed.iter().for_each(|input| (input.set)(unit, 1));
    barred.iter().for_each(|input| (input.set)(unit, 0));
    unit.update();
    assert!(sink(unit), "{name} with all that it needs");
    for (inputs, level) in [(needed, 1), (barred, 0)] {
        for input in inputs {
            (input.set)(unit, 1 - level);
            unit.update();
            assert!(!sink(unit), "{name} with {} = {}", input.name, 1 - level);
            (input.set)(unit, level);
        }
    }
    needed.iter().for_each(|input| (input.set)(unit, 0));
    unit.update();
}
