//! A register with synchronous reset.

use crate::emit::literal_value;
use crate::emit::unit_info::{Activity, Clocked, Primitive};
use rust_hdl::prelude::*;

/// `T::BITS` flip-flops with a synchronous, active-high reset.
///
/// `q` takes `d` at the rising edge of `clock`, or the reset value while `reset` is high. Declare
/// it as a field, assign `d` and read `q`: clock and reset are those of the unit, and it keeps its
/// value in cycles in which the kernel does not assign `d`. In Verilog it is a `reg` of the unit
/// that owns it.
#[derive(Clone, Debug, LogicBlock)]
pub struct Register<T: Synth> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Next value, sampled at the rising edge.
    pub d: Signal<In, T>,
    /// Present value.
    pub q: Signal<Out, T>,
    _reset_value: T,
}

impl<T: Synth> Register<T> {
    /// A register that holds `reset_value` during and after reset.
    pub fn new(reset_value: T) -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            d: Signal::default(),
            q: Signal::new_with_default(reset_value),
            _reset_value: reset_value,
        }
    }

    /// The value during and after reset.
    pub fn reset_value(&self) -> T {
        self._reset_value
    }
}

impl<T: Synth> Clocked for Register<T> {
    fn take_clock(&mut self, clock: Clock, reset: Option<bool>) {
        self.clock.next = clock;
        if let Some(reset) = reset {
            self.reset.next = reset;
        }
        self.d.next = self.q.val();
    }
}

impl<T: Synth> Activity for Register<T> {
    fn changed(&self) -> bool {
        // A kernel may read the next value, too.
        self.q.changed || self.d.changed
    }
    fn settle(&mut self) {
        if self.changed() || self.clock.changed || self.reset.changed {
            self.update_all();
        }
    }
}

impl<T: Synth> Default for Register<T> {
    /// A register that resets to the default of `T`: zero, or the first state of an enum.
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Synth> Logic for Register<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.q.next = if self.reset.val() { self._reset_value } else { self.d.val() };
        }
    }
    fn timing(&self) -> Vec<TimingInfo> {
        Primitive::Register { reset_value: literal_value(&self._reset_value.verilog()).to_str_radix(16) }
            .into_timing()
    }
}
