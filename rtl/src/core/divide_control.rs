//! Sequences the dividers of all lanes.

use crate::prelude::*;

/// Runs one division of a warp at a time through the lanes' [`LaneDivider`](super::LaneDivider)s.
///
/// 1. A division is accepted at the edge at which `start_valid` and `start_ready` are high; `load` is high in that
///    cycle. `start_ready` depends on registers only.
/// 2. `step` is high for the 32 cycles after it.
/// 3. `result_valid` is high from the next cycle on, 33 cycles after the one of the acceptance, until the edge with
///    `result_ready` high; the lanes' results stand meanwhile. `start_ready` is high again in the cycle after that.
#[derive(LogicBlock, Default)]
pub struct DivideControl<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    // From execute
    /// A division is offered; its operands are at the lanes' dividers.
    pub start_valid: Signal<In, Bit>,
    /// No division is under way.
    pub start_ready: Signal<Out, Bit>,
    /// Warp slot.
    pub start_slot: Signal<In, Bits<5>>,
    /// Destination register.
    pub start_rd: Signal<In, Bits<5>>,
    /// Lanes that take part.
    pub start_lanes: Signal<In, Bits<LANES>>,

    // To the lanes' dividers
    /// Take the operands.
    pub load: Signal<Out, Bit>,
    /// Find the next bit.
    pub step: Signal<Out, Bit>,

    // To register write-back
    /// The lanes' results are here.
    pub result_valid: Signal<Out, Bit>,
    /// Accepted at this edge.
    pub result_ready: Signal<In, Bit>,
    /// Warp slot.
    pub result_slot: Signal<Out, Bits<5>>,
    /// Destination register.
    pub result_rd: Signal<Out, Bits<5>>,
    /// Lanes whose result counts.
    pub result_lanes: Signal<Out, Bits<LANES>>,

    busy: Register<Bit>,
    /// Steps made; bit 5 is set when all are.
    steps: Register<Bits<6>>,
    slot: Register<Bits<5>>,
    rd: Register<Bits<5>>,
    lanes: Register<Bits<LANES>>,
}

impl<const LANES: usize> Logic for DivideControl<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, steps, slot, rd, lanes);
        self.start_ready.next = !self.busy.q.val();
        self.load.next = self.start_valid.val() & !self.busy.q.val();
        self.step.next = self.busy.q.val() & !self.steps.q.val().get_bit(5);
        self.result_valid.next = self.busy.q.val() & self.steps.q.val().get_bit(5);
        self.result_slot.next = self.slot.q.val();
        self.result_rd.next = self.rd.q.val();
        self.result_lanes.next = self.lanes.q.val();
        if self.busy.q.val() {
            if !self.steps.q.val().get_bit(5) {
                self.steps.d.next = self.steps.q.val() + 1;
            } else if self.result_ready.val() {
                self.busy.d.next = false;
            }
        } else if self.start_valid.val() {
            self.busy.d.next = true;
            self.steps.d.next = bits::<6>(0);
            self.slot.d.next = self.start_slot.val();
            self.rd.d.next = self.start_rd.val();
            self.lanes.d.next = self.start_lanes.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{reset, settle, tick};

    #[test]
    fn thirty_two_steps_then_a_result_that_waits() {
        let mut uut = DivideControl::<4>::default();
        reset!(uut);
        for round in 0..3u64 {
            settle(&mut uut);
            assert!(uut.start_ready.val() && !uut.load.val() && !uut.step.val() && !uut.result_valid.val());
            uut.start_valid.next = true;
            uut.start_slot.next = bits(7 + round);
            uut.start_rd.next = bits(20 + round);
            uut.start_lanes.next = bits(9 + round);
            settle(&mut uut);
            assert!(uut.load.val());
            tick!(uut);
            // Another one is offered meanwhile and must wait.
            uut.start_slot.next = bits(1);
            uut.start_rd.next = bits(1);
            uut.start_lanes.next = bits(1);
            for _ in 0..32 {
                settle(&mut uut);
                assert!(
                    uut.step.val() && !uut.load.val() && !uut.start_ready.val() && !uut.result_valid.val()
                );
                tick!(uut);
            }
            for wait in 0..=round {
                uut.result_ready.next = wait == round;
                settle(&mut uut);
                assert!(uut.result_valid.val() && !uut.step.val() && !uut.load.val());
                assert_eq!(uut.result_slot.val().to_u64(), 7 + round);
                assert_eq!(uut.result_rd.val().to_u64(), 20 + round);
                assert_eq!(uut.result_lanes.val().to_u64(), 9 + round);
                if wait == round {
                    uut.start_valid.next = false;
                }
                tick!(uut);
            }
        }
    }
}
