//! Arbitration of the warps at the path of atomic operations.

use hermes_hdl::prelude::*;

/// Arbitrates among the warps of a core for the path of atomic operations, so that warps that retry
/// again and again, as for a lock, do not starve the warp that they wait for.
///
/// 1. A warp that is turned away at the path (`wants`) is owed an operation. A warp that had one is
///    `refused` another one until every warp that is owed one has had it.
/// 2. A warp that is owed an operation may have taken another path. If the path is free for 256
///    cycles and no warp takes it, all debts are forgotten, and `wake` is high for a cycle: warps
///    that wait for the path retry.
/// 3. `refused` and `wake` depend on registers and on `slot` only.
#[clocked("no warp is owed anything")]
#[derive(LogicBlock, Default)]
pub struct AtomicTurns {
    /// Stage D: warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Stage D: an atomic instruction is turned away. The path is busy, or `refused` is high.
    pub wants: Signal<In, Bit>,
    /// An operation is in flight.
    pub busy: Signal<In, Bit>,
    /// From stage W: the path takes an operation at this edge.
    pub start_valid: Signal<In, Bit>,
    /// Warp slot of the operation.
    pub start_slot: Signal<In, Bits<5>>,
    /// Stage D: other warps come first.
    pub refused: Signal<Out, Bit>,
    /// Warps that wait for the path retry.
    pub wake: Signal<Out, Bit>,
    /// Slots that are owed an operation, or had one since the others were.
    wanting: Register<Bits<32>>,
    served: Register<Bits<32>>,
    patience: Register<Bits<8>>,
}

impl Logic for AtomicTurns {
    #[hdl_gen]
    fn update(&mut self) {
        let owed = self.wanting.q.val() & !self.served.q.val();
        self.refused.next = self.served.q.val().get_bit(self.slot.val().index()) & owed.any();

        let mut turned_away = bits::<32>(0);
        if self.wants.val() {
            turned_away = bits::<32>(1) << self.slot.val();
        }
        let mut starts = bits::<32>(0);
        if self.start_valid.val() {
            starts = bits::<32>(1) << self.start_slot.val();
        }
        // No warp is owed an operation: a new round begins.
        if owed.any() {
            self.served.d.next = self.served.q.val() | starts;
        } else if self.start_valid.val() {
            self.served.d.next = starts;
        }
        self.wanting.d.next = (self.wanting.q.val() | turned_away) & !starts;

        self.wake.next = self.patience.q.val().all();
        self.patience.d.next = bits::<8>(0);
        if owed.any() & !self.busy.val() & !self.start_valid.val() {
            self.patience.d.next = self.patience.q.val() + bits::<8>(1);
        }
        if self.wake.val() {
            self.wanting.d.next = bits::<32>(0);
            self.served.d.next = bits::<32>(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// Warps that ask all the time, more often than others: between two operations of one, no other
    /// that asked throughout had more than two.
    #[test]
    fn everybody_has_a_turn() {
        let mut random = hermes_hdl::testing::random();
        let mut uut = AtomicTurns::default();
        reset!(uut);
        let warps = [3usize, 4, 17, 31];
        let mut since = [0u32; 4];
        let (mut left, mut operations) = (0, [0u32; 4]);
        for _ in 0..6_000 {
            // The first warp comes to stage D far more often than the last.
            let warp = [0, 0, 0, 0, 1, 1, 1, 2, 2, 3][random.gen_range(0..10)];
            uut.slot.next = bits(warps[warp] as u64);
            uut.busy.next = left > 0;
            uut.wants.next = false;
            uut.start_valid.next = false;
            settle(&mut uut);
            assert!(!uut.wake.val());
            let starts = left == 0 && !uut.refused.val();
            uut.wants.next = !starts;
            uut.start_valid.next = starts;
            uut.start_slot.next = bits(warps[warp] as u64);
            settle(&mut uut);
            tick!(uut);
            left = if starts { random.gen_range(1..12) } else { left.max(1) - 1 };
            if starts {
                operations[warp] += 1;
                since[warp] = 0;
                for other in (0..4).filter(|other| *other != warp) {
                    since[other] += 1;
                }
                // At most two rounds of the three others, and what they had before this one asked
                // for the first time.
                assert!(since.iter().all(|since| *since <= 9), "{since:?}");
            }
        }
        assert!(operations.iter().all(|count| *count > 100), "{operations:?}");
    }

    #[test]
    fn a_warp_that_went_away_is_forgotten() {
        let mut uut = AtomicTurns::default();
        reset!(uut);
        let mut step = |slot: u64, wants, busy, start| {
            uut.slot.next = bits(slot);
            uut.wants.next = wants;
            uut.busy.next = busy;
            uut.start_valid.next = start;
            uut.start_slot.next = bits(slot);
            settle(&mut uut);
            let answer = (uut.refused.val(), uut.wake.val());
            tick!(uut);
            answer
        };
        // Warp 5 has an operation; warp 9 asks meanwhile and does not come back.
        assert_eq!(step(5, false, false, true), (false, false));
        assert_eq!(step(9, true, true, false), (false, false));
        for _ in 0..40 {
            assert_eq!(step(5, false, true, false), (true, false));
        }
        let waited = (0..1_000).find(|_| step(5, true, false, false).1).expect("the debt is forgotten");
        assert_eq!(waited, 255);
        assert_eq!(step(5, false, false, true), (false, false));
    }
}
