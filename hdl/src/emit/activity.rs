//! Which units a pass of the native simulation has to look at.

use rust_hdl::prelude::{Atom, Block, Constant, Direction, In, Local, Logic, Out, Signal, Synth};

/// What can tell whether it changed in the last pass of the native simulation, so that `update` of
/// a unit need not run in a pass in which nothing that it reads is other than in its last run.
/// `#[derive(LogicBlock)]` and `#[derive(Ports)]` implement it.
///
/// rust-hdl repeats passes over the whole design until no signal changes, a level of the hierarchy
/// a pass, and each calls `update` of every unit. What `update` computes follows from the unit's
/// own signals, the outputs of its children, and `d` and `q` of its registers alone (primitives
/// remember words, but change them at a clock edge only, which is a change of their clock). So
/// passes, values and their order are those of rust-hdl; only runs without effect are left out.
pub trait Activity: Block {
    /// As the owner sees it: one of its signals changed, of a unit one of its outputs.
    fn changed(&self) -> bool;
    /// As the owner of the owner sees it: an output changed.
    fn changed_outside(&self) -> bool {
        false
    }
    /// A pass in which neither `update` of the owner runs nor an input of it was set.
    fn settle(&mut self);
    /// A pass in which `update` of the owner does not run: its inputs may still have come from
    /// outside.
    fn poll(&mut self) {
        self.settle();
    }
}

/// What a pass does at each field of a unit or group.
pub trait Pass {
    /// Does it.
    fn over<A: Activity>(field: &mut A);
}

/// The pass in which `update` of the owner has just run.
#[derive(Clone, Copy, Debug)]
pub struct Update;

/// The pass of [`Activity::poll`].
#[derive(Clone, Copy, Debug)]
pub struct Poll;

/// The pass of [`Activity::settle`].
#[derive(Clone, Copy, Debug)]
pub struct Settle;

impl Pass for Update {
    fn over<A: Activity>(field: &mut A) {
        field.update_all();
    }
}

impl Pass for Poll {
    fn over<A: Activity>(field: &mut A) {
        field.poll();
    }
}

impl Pass for Settle {
    fn over<A: Activity>(field: &mut A) {
        field.settle();
    }
}

/// What is asked of each field of a unit or group.
pub trait Question {
    /// The answer of one field.
    fn of<A: Activity>(field: &A) -> bool;
}

/// [`Activity::changed`].
#[derive(Clone, Copy, Debug)]
pub struct Changed;

/// [`Activity::changed_outside`].
#[derive(Clone, Copy, Debug)]
pub struct ChangedOutside;

/// Whether anything changed, also deep inside: `Block::has_changed`.
#[derive(Clone, Copy, Debug)]
pub struct AnyChange;

impl Question for Changed {
    fn of<A: Activity>(field: &A) -> bool {
        field.changed()
    }
}

impl Question for ChangedOutside {
    fn of<A: Activity>(field: &A) -> bool {
        field.changed_outside()
    }
}

impl Question for AnyChange {
    fn of<A: Activity>(field: &A) -> bool {
        field.has_changed()
    }
}

/// The fields of a unit or group, one after the other; the derive macros implement it.
pub trait Fields {
    /// Does the same at each of them.
    fn pass<P: Pass>(&mut self);
    /// Whether one of them answers yes; those after it are not asked.
    fn any<Q: Question>(&self) -> bool;
}

/// A unit, as a pass sees it; `#[derive(LogicBlock)]` implements it.
pub trait Unit: Activity + Fields {
    /// Whether the unit never ran, and notes that it does.
    fn is_first(&mut self) -> bool;
    /// What comes before `update`: clock and reset go to children and registers.
    fn prepare(&mut self);
}

/// A pass over a unit: `update` runs if anything that it reads changed, and once in a new unit;
/// else the pass `P` goes to the fields.
pub fn pass_unit<U: Unit, P: Pass>(unit: &mut U) {
    if unit.is_first() || unit.any::<Changed>() {
        unit.prepare();
        unit.update();
        unit.pass::<Update>();
    } else {
        unit.pass::<P>();
    }
}

/// Whether a unit never ran, and notes that it does: at its first signal, in rust-hdl's mark
/// "connected", which nothing else here reads.
pub fn is_first<D: Direction, T: Synth>(signal: &mut Signal<D, T>) -> bool {
    let first = !signal.connected();
    signal.connect();
    first
}

macro_rules! signals {
    ($way:ty, $outside:literal) => {
        impl<T: Synth> Activity for Signal<$way, T> {
            fn changed(&self) -> bool {
                self.changed
            }
            fn changed_outside(&self) -> bool {
                $outside && self.changed
            }
            fn settle(&mut self) {}
            fn poll(&mut self) {
                self.update_all();
            }
        }
    };
}
signals!(In, false);
signals!(Out, true);
signals!(Local, false);

impl<T: Synth> Activity for Constant<T> {
    fn changed(&self) -> bool {
        false
    }
    fn settle(&mut self) {}
}

/// Makes a bundle of signals of rust-hdl's own macro `LogicInterface` a field of units.
#[macro_export]
macro_rules! interface {
    ($group:ty) => {
        impl $crate::prelude::unit_info::Clocked for $group {
            fn take_clock(&mut self, _clock: $crate::prelude::Clock, _reset: Option<bool>) {}
        }
        impl $crate::prelude::unit_info::Activity for $group {
            fn changed(&self) -> bool {
                $crate::prelude::Block::has_changed(self)
            }
            fn changed_outside(&self) -> bool {
                $crate::prelude::Block::has_changed(self)
            }
            fn settle(&mut self) {}
            fn poll(&mut self) {
                $crate::prelude::Block::update_all(self);
            }
        }
        impl $crate::prelude::unit_info::ReadPort for $group {
            fn read(&self, words: &mut Vec<u32>) {
                $crate::prelude::unit_info::read_signals(self, words);
            }
        }
    };
}

impl<A: Activity> Activity for Vec<A> {
    fn changed(&self) -> bool {
        self.iter().any(Activity::changed)
    }
    fn changed_outside(&self) -> bool {
        self.iter().any(Activity::changed_outside)
    }
    fn settle(&mut self) {
        self.iter_mut().for_each(Activity::settle);
    }
    fn poll(&mut self) {
        self.iter_mut().for_each(Activity::poll);
    }
}
