//! The example of `docs/verilog.md`.

use crate::prelude::*;

/// A change of the level.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct Change {
    /// The level rose; otherwise it fell.
    pub rise: Bit,
    /// Cycles since the change before, modulo 2^12.
    pub age: Bits<12>,
}

/// Lets a level through that has been stable for `2^N` cycles.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct Debounce<const N: usize> {
    /// Level to look at, synchronous to the clock.
    pub raw: Signal<In, Bit>,
    /// The level that was stable last.
    pub level: Signal<Out, Bit>,
    /// The last change of `level`.
    pub last: Signal<Out, Change>,
    /// The last change came within 16 cycles of the one before.
    pub quick: Signal<Out, Bit>,
    stable: Register<Bit>,
    count: Register<Bits<N>>,
    age: Register<Bits<12>>,
    change: Register<Change>,
}

impl<const N: usize> Logic for Debounce<N> {
    #[hdl_gen]
    fn update(&mut self) {
        self.level.next = self.stable.q.val();
        self.last.next = self.change.q.val();
        self.quick.next = self.change.q.val().age < 16;
        let differs = self.raw.val() != self.stable.q.val();
        self.count.d.next = 0.into();
        self.age.d.next = self.age.q.val() + 1;
        if differs {
            self.count.d.next = self.count.q.val() + 1;
            if self.count.q.val().all() {
                self.stable.d.next = self.raw.val();
                self.age.d.next = 0.into();
                self.change.d.next.rise = self.raw.val();
                self.change.d.next.age = self.age.q.val();
            }
        }
    }
}
