//! Outstanding writes, and their completion in order.

use crate::blocks::QueuePointers;
use crate::ports::{TaggedWrite, WindowLine};
use hermes_hdl::prelude::*;

/// Gives each line write a tag and reports when all writes up to the end of a frame are performed.
///
/// 1. A write passes in the cycle in which it is offered, while fewer than `2^A` are outstanding,
///    32 or 64. Tags are given round-robin, from 0 to `2^A` - 1.
/// 2. `write.written.valid` may name the tags in any order. `completed` is high for one cycle for
///    each write with `line.end`, in their order, once that write and all before it are performed:
///    at the earliest in the cycle after `write.written.valid`. One write a cycle is accounted for.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct WriteWindow<const A: usize> {
    /// From the line builder: a line is to be written. `ready` follows `write.ready`.
    pub line: Flipped<WindowLine>,
    /// To memory: writes, and their answers.
    pub write: TaggedWrite,
    /// All writes of a frame are performed, and those of the frames before.
    pub completed: Signal<Out, Bit>,
    /// No write is outstanding.
    pub empty: Signal<Out, Bit>,

    window: QueuePointers<A>,
    ends: RamAsync<Bit, A>,
    performed: Register<Bits<64>>,
}

impl<const A: usize> Logic for WriteWindow<A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.write.valid.next = self.line.valid.val() && !self.window.full.val();
        self.line.ready.next = self.write.ready.val() && !self.window.full.val();
        self.write.tag.next = bit_cast::<6, A>(self.window.write_address.val());
        let push = self.line.valid.val() && self.write.ready.val() && !self.window.full.val();
        self.window.push.next = push;
        self.ends.write_enable.next = push;
        self.ends.write_address.next = self.window.write_address.val();
        self.ends.write_data.next = self.line.end.val();

        let mut marks = self.performed.q.val();
        if push {
            marks = marks.replace_bit(self.window.write_address.val().index(), false);
        }
        if self.write.written.valid.val() {
            marks = marks.replace_bit(self.write.written.tag.val().index(), true);
        }
        self.performed.d.next = marks;

        let pop = !self.window.empty.val()
            && self.performed.q.val().get_bit(self.window.read_address.val().index());
        self.window.pop.next = pop;
        self.ends.read_address.next = self.window.read_address.val();
        self.completed.next = pop && self.ends.read_data.val();
        self.empty.next = self.window.empty.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[test]
    fn completes_in_order() {
        check::<6>();
        check::<5>();
    }

    fn check<const A: usize>() {
        let mut rng = random("write_window");
        let mut uut = WriteWindow::<A>::default();
        let room = 1 << A;
        reset!(uut);
        // Writes in their order: end of a frame, performed.
        let mut under_way: VecDeque<(u64, bool, bool)> = VecDeque::new();
        let (mut completed, mut expected, mut full) = (0, 0, 0);
        for cycle in 0..6_000 {
            let slow = cycle / 300 % 2 == 0;
            uut.line.valid.next = rng.gen_bool(0.8);
            uut.line.end.next = rng.gen_bool(0.3);
            uut.write.ready.next = rng.gen_bool(0.8);
            let open: Vec<usize> = (0..under_way.len()).filter(|&i| !under_way[i].2).collect();
            let chosen = (!open.is_empty() && rng.gen_bool(if slow { 0.2 } else { 0.9 }))
                .then(|| open[rng.gen_range(0..open.len())]);
            uut.write.written.valid.next = chosen.is_some();
            uut.write.written.tag.next = bits(chosen.map_or(0, |i| under_way[i].0));
            settle(&mut uut);
            full += u64::from(under_way.len() == room);
            assert_eq!(uut.line.ready.val(), uut.write.ready.val() && under_way.len() < room);
            completed += u64::from(uut.completed.val());
            if let Some((_, end, true)) = under_way.front().copied() {
                assert_eq!(uut.completed.val(), end, "cycle {cycle}");
                under_way.pop_front();
                if let Some(chosen) = chosen {
                    under_way[chosen - 1].2 = true;
                }
            } else {
                assert!(!uut.completed.val());
                if let Some(chosen) = chosen {
                    under_way[chosen].2 = true;
                }
            }
            if uut.write.valid.val() && uut.write.ready.val() {
                assert!(uut.write.tag.val().to_u64() < room as u64);
                under_way.push_back((uut.write.tag.val().to_u64(), uut.line.end.val(), false));
                expected += u64::from(uut.line.end.val());
            }
            tick!(uut);
        }
        let inside = under_way.iter().filter(|write| write.1).count() as u64;
        assert_eq!(completed + inside, expected);
        assert!(completed > 500 && full > 0, "{completed} {full}");
    }
}
