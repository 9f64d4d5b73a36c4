//! The register TASK_PUSH.

use hermes_hdl::prelude::*;

/// Takes the host's packet counts and offers them to the task FIFO; the bus never waits for room.
///
/// 1. In the first cycle of a write it is decided whether the count is taken. It is not if the FIFO
///    is full, or if the count before it still waits: then `refused` is high, and the write is done
///    with an error.
/// 2. A count that is taken is offered from the next cycle on until the FIFO takes it, once.
///    `delay` holds the write up for two cycles, whether the FIFO took the count by then or not:
///    only the packet ports can have filled it meanwhile.
/// 3. `room` counts the free entries of the FIFO that no count waits for. So many writes are taken,
///    if nobody else fills the FIFO.
#[clocked]
#[derive(Clone, LogicBlock)]
#[held(task_valid, task_ready, task_count)]
pub struct TaskPush {
    /// TASK_PUSH is written; tried again, with the same count, after a cycle with `delay`.
    pub write: Signal<In, Bit>,
    /// Number of packets.
    pub count: Signal<In, Bits<32>>,
    /// The write cannot end in this cycle.
    pub delay: Signal<Out, Bit>,
    /// The write ends in this cycle, and its count is not taken.
    pub refused: Signal<Out, Bit>,
    /// Register TASK_ROOM.
    pub room: Signal<Out, Bits<11>>,

    /// Entries in the task FIFO, 0 to 1,024.
    pub level: Signal<In, Bits<11>>,
    /// To the task FIFO: a count is offered.
    pub task_valid: Signal<Out, Bit>,
    /// From the task FIFO: the count is taken.
    pub task_ready: Signal<In, Bit>,
    /// To the task FIFO: the count.
    pub task_count: Signal<Out, Bits<32>>,

    held_valid: Register<Bit>,
    held_count: Register<Bits<32>>,
    /// The count was taken a cycle ago.
    fresh: Register<Bit>,
    /// The count was taken; the write can end.
    taken: Register<Bit>,
    #[init(Constant::new(1024.into()))]
    capacity: Constant<Bits<11>>,
}

impl Logic for TaskPush {
    #[hdl_gen]
    fn update(&mut self) {
        let full = self.level.val() == self.capacity.val();
        let first = self.write.val() & !self.fresh.q.val() & !self.taken.q.val();
        self.refused.next = first & (full | self.held_valid.q.val());
        self.delay.next = (first & !full & !self.held_valid.q.val()) | self.fresh.q.val();

        self.fresh.d.next = false;
        if self.held_valid.q.val() & self.task_ready.val() {
            self.held_valid.d.next = false;
        }
        if first & !full & !self.held_valid.q.val() {
            self.held_valid.d.next = true;
            self.held_count.d.next = self.count.val();
            self.fresh.d.next = true;
        }
        if self.fresh.q.val() {
            self.taken.d.next = true;
        } else if self.write.val() {
            self.taken.d.next = false;
        }
        self.task_valid.next = self.held_valid.q.val();
        self.task_count.next = self.held_count.q.val();

        self.room.next = self.capacity.val() - self.level.val();
        if self.held_valid.q.val() & !full {
            self.room.next = self.capacity.val() - self.level.val() - bits::<11>(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// Writes at random times beside a FIFO that others fill and empty too. Every write ends within
    /// three cycles in which it is tried; what it took comes to the FIFO once, in order, and
    /// nothing else; the host knows before whether there is room.
    #[test]
    fn what_is_taken_comes_to_the_fifo_once_and_the_bus_never_waits() {
        let mut random = random();
        let mut unit = TaskPush::default();
        reset!(unit);
        let mut level: u64 = 1000;
        let mut expected = VecDeque::new();
        let (mut tries, mut refusals, mut pushed, mut waited) = (0, 0, 0, 0);
        for cycle in 0..30_000u64 {
            // Phases in which the FIFO fills and drains; in every other one somebody else fills it
            // as well.
            let (fills, others) = (cycle / 512 % 2 == 0, cycle / 1024 % 2 == 0);
            let other = others && level < 1024 && random.gen_bool(0.3);
            let write = tries > 0 && random.gen_bool(0.8) || tries == 0 && random.gen_bool(0.3);
            if write && tries == 0 {
                unit.count.next = u64::from(random.gen::<u32>()).into();
            }
            unit.write.next = write;
            unit.level.next = level.into();
            // The other one goes first.
            unit.task_ready.next = level < 1024 && !other;
            settle(&mut unit);
            let free = (1024 - level).saturating_sub(u64::from(unit.task_valid.val() && level < 1024));
            assert_eq!(unit.room.val().to_u64(), free, "cycle {cycle}");
            assert_eq!(unit.task_valid.val(), !expected.is_empty(), "cycle {cycle}");
            if write {
                let full = level == 1024 || !expected.is_empty();
                assert_eq!(unit.refused.val(), tries == 0 && full, "cycle {cycle}");
                if tries == 0 && !full {
                    assert!(unit.delay.val(), "cycle {cycle}");
                    expected.push_back(unit.count.val().to_u64());
                }
                tries += 1;
                if unit.delay.val() {
                    assert!(tries < 3, "cycle {cycle}: the bus waits");
                } else {
                    refusals += u64::from(unit.refused.val());
                    waited += u64::from(!unit.refused.val() && unit.task_valid.val());
                    tries = 0;
                }
            } else {
                assert!(!unit.refused.val());
            }
            // A count that is taken in this cycle is offered in the next one.
            let mut popped = false;
            if unit.task_valid.val() && unit.task_ready.val() {
                assert_eq!(expected.pop_front(), Some(unit.task_count.val().to_u64()), "cycle {cycle}");
                popped = true;
                pushed += 1;
            }
            level += u64::from(popped || other);
            if level > 0 && random.gen_bool(if fills { 0.05 } else { 0.6 }) {
                level -= 1;
            }
            tick!(unit);
        }
        assert!(refusals > 200 && pushed > 1_000 && waited > 20, "{refusals} {pushed} {waited}");
    }
}
