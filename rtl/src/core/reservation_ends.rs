//! When reservations of `lr.w` end because their warp left the loop.

use crate::blocks::BinaryEncoder;
use crate::ports::{AccessQuery, ReservationEnd, SlotEvent};
use crate::types::riscv::funct5;
use hermes_hdl::prelude::*;

/// Tells the banks of the L2 that a warp did what a loop of `lr.w` and `sc.w` does not, so that its
/// reservations end at once and not by time.
///
/// A loop that the RISC-V unprivileged specification (14.3) calls constrained has no memory access
/// but its `lr.w` and `sc.w`, and no `fence`. So the reservations of a warp that executed `lr.w`
/// end
///
/// 1. when an instruction of it enters stage R that loads, stores (the end of a thread stores its
///    verdict), is a `fence`, or is an atomic operation other than `sc.w`, also another `lr.w`
///    without `sc.w` in between: the warp left its loop (`left`). Stage D holds all of these until
///    the `lr.w` is complete;
/// 2. when its next `sc.w` is complete: those of lanes that took no part are left over from lanes
///    that compared without success. If the warp then leaves the loop without another `lr.w`, there
///    is a second message.
///
/// A message a warp: `end` is high for one cycle. Without `lr.w` since the last message there is
/// none. Messages of several warps follow each other, lowest slot first, from two cycles after the
/// event on; the next `lr.w` of the warp takes longer to the L2.
#[clocked("no warp has a reservation")]
#[derive(LogicBlock, Default)]
pub struct ReservationEnds {
    /// Stages D and R advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage D: access of the instruction.
    pub decode: AccessQuery,
    /// Stage D: word of the instruction.
    pub decode_word: Signal<In, Bits<32>>,
    /// The instruction that was in stage D entered stage R in this cycle.
    pub entered: Signal<In, Bit>,
    /// Stage R: warp slot of the instruction.
    pub read_slot: Signal<In, Bits<5>>,
    /// The path of atomic operations takes an operation at this edge.
    pub start_valid: Signal<In, Bit>,
    /// `funct5` of that operation.
    pub start_operation: Signal<In, Bits<5>>,
    /// The operation is complete; its warp slot.
    pub done: SlotEvent,
    /// To the banks of the L2.
    pub end: ReservationEnd,
    /// The instruction in stage R is `lr.w`.
    reserves_r: Register<Bit>,
    /// The instruction in stage R is an access other than `sc.w`, or a `fence`.
    leaves_r: Register<Bit>,
    /// The operation in flight is `sc.w`.
    conditional: Register<Bit>,
    /// Slots that executed `lr.w` since their last message.
    reserved: Register<Bits<32>>,
    /// Slots that executed `sc.w` behind that, and neither `lr.w` nor another access since.
    tried: Register<Bits<32>>,
    /// Slots whose message is still to be sent, and those of them that left their loop.
    ending: Register<Bits<32>>,
    ending_left: Register<Bits<32>>,
    message_left: Register<Bit>,
    message_valid: Register<Bit>,
    message_slot: Register<Bits<5>>,
    encoder: BinaryEncoder,
}

impl Logic for ReservationEnds {
    #[hdl_gen]
    fn update(&mut self) {
        let funct5 = self.decode_word.val().get_bits::<5>(27);
        if self.advance.val() {
            self.reserves_r.d.next = self.decode.atomic.val() & (funct5 == bits::<5>(funct5::LR));
            self.leaves_r.d.next = (self.decode.load.val()
                & !(self.decode.atomic.val() & (funct5 == bits::<5>(funct5::SC))))
                | self.decode.store.val()
                | self.decode.fence.val();
        }
        let mut entering = bits::<32>(0);
        if self.entered.val() {
            entering = bits::<32>(1) << self.read_slot.val();
        }
        let mut reserving = bits::<32>(0);
        if self.reserves_r.q.val() {
            reserving = entering;
        }
        let mut leaving = bits::<32>(0);
        if self.leaves_r.q.val() {
            leaving = entering;
        }
        if self.start_valid.val() {
            self.conditional.d.next = self.start_operation.val() == bits::<5>(funct5::SC);
        }
        let mut completing = bits::<32>(0);
        if self.done.valid.val() & self.conditional.q.val() {
            completing = bits::<32>(1) << self.done.slot.val();
        }
        let completed = completing & self.reserved.q.val();
        // A `lr.w` that follows `sc.w` stays in the loop.
        let left = leaving & (self.reserved.q.val() | (self.tried.q.val() & !reserving));
        self.reserved.d.next = (self.reserved.q.val() & !(left | completed)) | reserving;
        self.tried.d.next = ((self.tried.q.val() & !leaving) | completed) & !reserving;

        let chosen = self.ending.q.val() & (!self.ending.q.val() + bits::<32>(1));
        self.ending.d.next = (self.ending.q.val() & !chosen) | left | completed;
        self.ending_left.d.next = (self.ending_left.q.val() & !chosen) | left;
        self.message_left.d.next = (self.ending_left.q.val() & chosen).any();
        self.end.left.next = self.message_left.q.val();
        self.encoder.one_hot.next = chosen;
        self.message_valid.d.next = self.ending.q.val().any();
        self.message_slot.d.next = self.encoder.index.val();
        self.end.valid.next = self.message_valid.q.val();
        self.end.slot.next = self.message_slot.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::BTreeSet;

    /// What a warp does.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Does {
        /// A load, a store, a `fence`.
        Access(usize),
        /// An atomic operation, by `funct5`.
        Atomic(u64),
        Nothing,
    }

    /// A message of a warp that left its loop.
    const LEFT: u64 = 32;

    struct Bench {
        unit: ReservationEnds,
        /// Messages, by cycle: the slot, bit 5 if the warp left its loop.
        messages: Vec<u64>,
    }

    impl Bench {
        fn new() -> Self {
            let mut unit = ReservationEnds::default();
            reset!(unit);
            Self { unit, messages: Vec::new() }
        }

        fn cycle(&mut self) {
            settle(&mut self.unit);
            if self.unit.end.valid.val() {
                let left = u64::from(self.unit.end.left.val()) << 5;
                self.messages.push(left | self.unit.end.slot.val().to_u64());
            }
            tick!(self.unit);
            self.unit.entered.next = false;
            self.unit.start_valid.next = false;
            self.unit.done.valid.next = false;
        }

        /// An instruction of a warp goes from stage D to stage R.
        fn enter(&mut self, slot: u64, does: Does) {
            let unit = &mut self.unit;
            let funct5 = if let Does::Atomic(operation) = does { operation } else { 2 };
            unit.decode_word.next = (funct5 << 27 | 0x202f).into();
            unit.decode.atomic.next = matches!(does, Does::Atomic(_));
            unit.decode.load.next = matches!(does, Does::Atomic(_) | Does::Access(0));
            unit.decode.store.next = does == Does::Access(1);
            unit.decode.fence.next = does == Does::Access(2);
            unit.advance.next = true;
            self.cycle();
            self.unit.entered.next = true;
            self.unit.read_slot.next = slot.into();
            self.unit.advance.next = false;
            self.cycle();
        }

        /// The operation of a warp passes and is complete.
        fn perform(&mut self, slot: u64, operation: u64) {
            self.unit.start_valid.next = true;
            self.unit.start_operation.next = operation.into();
            self.cycle();
            self.unit.done.valid.next = true;
            self.unit.done.slot.next = slot.into();
            self.cycle();
        }

        fn messages(&mut self) -> Vec<u64> {
            for _ in 0..4 {
                self.cycle();
            }
            std::mem::take(&mut self.messages)
        }
    }

    #[test]
    fn what_ends_reservations() {
        let others = [0, 1, 2, 4, 5, 8, 28].map(Does::Atomic);
        for does in [Does::Access(0), Does::Access(1), Does::Access(2)].into_iter().chain(others) {
            let mut bench = Bench::new();
            // Nobody has a reservation.
            bench.enter(5, does);
            if does == Does::Atomic(2) {
                bench = Bench::new();
            }
            assert_eq!(bench.messages(), Vec::<u64>::new(), "{does:?}");
            bench.enter(5, Does::Atomic(2));
            bench.perform(5, 2);
            bench.enter(5, Does::Nothing);
            bench.enter(6, does);
            assert_eq!(bench.messages(), Vec::<u64>::new(), "{does:?} of another warp");
            bench.enter(5, does);
            assert_eq!(bench.messages(), [LEFT | 5], "{does:?}");
            bench.enter(5, Does::Access(0));
            let again = if does == Does::Atomic(2) { vec![LEFT | 5] } else { vec![] };
            assert_eq!(bench.messages(), again, "{does:?}, and another one");
        }
    }

    #[test]
    fn behind_a_conditional_store_reservations_of_other_lanes_end() {
        let mut bench = Bench::new();
        bench.enter(9, Does::Atomic(2));
        bench.perform(9, 2);
        bench.enter(9, Does::Atomic(3));
        assert_eq!(bench.messages(), Vec::<u64>::new());
        bench.perform(9, 3);
        assert_eq!(bench.messages(), [9]);
        // Without reservation there is nothing to say.
        bench.enter(9, Does::Atomic(3));
        bench.perform(9, 3);
        assert_eq!(bench.messages(), Vec::<u64>::new());
        // The next `lr.w` stays in the loop; what comes behind its `sc.w` does not.
        bench.enter(9, Does::Atomic(2));
        bench.perform(9, 2);
        assert_eq!(bench.messages(), Vec::<u64>::new());
        bench.enter(9, Does::Atomic(3));
        bench.perform(9, 3);
        assert_eq!(bench.messages(), [9]);
        bench.enter(9, Does::Access(0));
        assert_eq!(bench.messages(), [LEFT | 9]);
        bench.enter(9, Does::Access(0));
        assert_eq!(bench.messages(), Vec::<u64>::new());
    }

    /// Many warps at once: every warp that has to has one message, within a few cycles.
    #[test]
    fn one_message_a_warp() {
        let mut random = hermes_hdl::testing::random();
        for _ in 0..200 {
            let mut bench = Bench::new();
            let slots: BTreeSet<u64> = (0..random.gen_range(1..9)).map(|_| random.gen_range(0..32)).collect();
            for slot in &slots {
                bench.enter(*slot, Does::Atomic(2));
            }
            let leaves: Vec<u64> = slots.iter().copied().filter(|_| random.gen_bool(0.7)).collect();
            for slot in &leaves {
                bench.unit.done.valid.next = true;
                bench.unit.done.slot.next = random.gen_range(0..32u64).into();
                bench.enter(*slot, Does::Access(random.gen_range(0..3)));
            }
            let mut messages = bench.messages();
            messages.sort_unstable();
            assert_eq!(messages, leaves.iter().map(|slot| LEFT | slot).collect::<Vec<_>>());
        }
    }
}
