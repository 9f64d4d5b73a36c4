//! Which warps have operations outstanding.

use crate::ports::SlotEvent;
use hermes_hdl::prelude::*;

/// Tracks for every warp slot whether it has operations outstanding, for a kind of operation that
/// completes in the order in which it starts.
///
/// 1. `start_valid` starts an operation of `start_slot`; `busy` shows it from the next cycle on.
/// 2. `done.valid` completes the oldest operation, which is one of `done.slot` and started two
///    cycles before or earlier. The slot stops being busy with the next cycle if none of its
///    operations started after the completed one.
/// 3. `slot_busy` and `other_busy` answer `slot` and `other_slot` combinationally.
///
/// Up to 63 operations are outstanding. For each slot the number of its youngest operation is kept,
/// so that no counter per slot is needed.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct OutstandingOperations {
    /// An operation starts.
    pub start_valid: Signal<In, Bit>,
    /// Warp slot of the operation that starts.
    pub start_slot: Signal<In, Bits<5>>,
    /// The oldest operation completes.
    pub done: SlotEvent,
    /// Slots with operations outstanding.
    pub busy: Signal<Out, Bits<32>>,
    /// Slot to look up.
    pub slot: Signal<In, Bits<5>>,
    /// The slot has operations outstanding.
    pub slot_busy: Signal<Out, Bit>,
    /// Another slot to look up.
    pub other_slot: Signal<In, Bits<5>>,
    /// The other slot has operations outstanding.
    pub other_busy: Signal<Out, Bit>,
    /// An operation started a cycle ago; `start_valid` is known late.
    start_q: Register<Bit>,
    start_slot_q: Register<Bits<5>>,
    youngest: RamAsync<Bits<6>, 5>,
    started: Register<Bits<6>>,
    completed: Register<Bits<6>>,
    busy_q: Register<Bits<32>>,
}

impl Logic for OutstandingOperations {
    #[hdl_gen]
    fn update(&mut self) {
        self.start_q.d.next = self.start_valid.val();
        self.start_slot_q.d.next = self.start_slot.val();
        self.youngest.write_enable.next = self.start_q.q.val();
        self.youngest.write_address.next = self.start_slot_q.q.val();
        self.youngest.write_data.next = self.started.q.val();
        self.youngest.read_address.next = self.done.slot.val();
        let mut set = bits::<32>(0);
        if self.start_q.q.val() {
            self.started.d.next = self.started.q.val() + bits::<6>(1);
            set = bits::<32>(1) << self.start_slot_q.q.val();
        }
        let mut cleared = bits::<32>(0);
        if self.done.valid.val() {
            self.completed.d.next = self.completed.q.val() + bits::<6>(1);
            if self.youngest.read_data.val() == self.completed.q.val() {
                cleared = bits::<32>(1) << self.done.slot.val();
            }
        }
        self.busy_q.d.next = (self.busy_q.q.val() & !cleared) | set;
        self.busy.next = self.busy_q.q.val() | set;
        self.slot_busy.next = self.busy_q.q.val().get_bit(self.slot.val().index())
            | (self.start_q.q.val() & (self.start_slot_q.q.val() == self.slot.val()));
        self.other_busy.next = self.busy_q.q.val().get_bit(self.other_slot.val().index())
            | (self.start_q.q.val() & (self.start_slot_q.q.val() == self.other_slot.val()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn a_slot_is_busy_until_its_last_operation_completes() {
        let mut rng = hermes_hdl::testing::random();
        let mut unit = OutstandingOperations::default();
        let mut queue: VecDeque<u64> = VecDeque::new();
        let mut just_started = false;
        for _ in 0..5000 {
            let start = queue.len() < 60 && rng.gen_bool(0.5);
            let slot = rng.gen_range(0..6);
            let done = queue.len() > usize::from(just_started) && rng.gen_bool(0.5);
            let (one, other) = (rng.gen_range(0..6), rng.gen_range(0..6));
            unit.slot.next = one.into();
            unit.other_slot.next = other.into();
            unit.start_valid.next = start;
            unit.start_slot.next = slot.into();
            unit.done.valid.next = done;
            unit.done.slot.next = queue.front().copied().unwrap_or(31).into();
            assert!(simulate(&mut unit, 20));
            let expected = queue.iter().fold(0, |set, slot| set | 1u64 << slot);
            assert_eq!(u64::from(unit.busy.val()), expected);
            let asked = (unit.slot_busy.val(), unit.other_busy.val());
            assert_eq!(asked, (expected >> one & 1 == 1, expected >> other & 1 == 1));
            unit.clock.next = Clock { clk: true };
            assert!(simulate(&mut unit, 20));
            unit.clock.next = Clock { clk: false };
            if done {
                queue.pop_front();
            }
            if start {
                queue.push_back(slot);
            }
            just_started = start;
        }
    }
}
