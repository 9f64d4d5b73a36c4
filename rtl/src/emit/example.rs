//! The example of `docs/verilog.md`.

use crate::prelude::*;

/// Lets a level through that has been stable for `2^N` cycles.
#[derive(LogicBlock, Default)]
pub struct Debounce<const N: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Level to look at, synchronous to the clock.
    pub raw: Signal<In, Bit>,
    /// The level that was stable last.
    pub level: Signal<Out, Bit>,
    /// High for one cycle when `level` rises.
    pub rose: Signal<Out, Bit>,
    stable: Register<Bit>,
    count: Register<Bits<N>>,
    differs: Signal<Local, Bit>,
}

impl<const N: usize> Logic for Debounce<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stable, count);
        self.level.next = self.stable.q.val();
        self.differs.next = self.raw.val() != self.stable.q.val();
        self.rose.next = false;
        self.count.d.next = 0.into();
        if self.differs.val() {
            self.count.d.next = self.count.q.val() + 1;
            if self.count.q.val().all() {
                self.stable.d.next = self.raw.val();
                self.rose.next = self.raw.val();
            }
        }
    }
}
