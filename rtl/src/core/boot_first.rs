//! A warp of spawned threads issues its boot sequence first.

use crate::ports::SlotStart;
use hermes_hdl::prelude::*;

/// Instructions of the boot sequence, and the first of the entry.
pub const FIRST_ISSUES: u64 = 6;

/// Chooses the warp that issues before its turn: one of spawned threads that has just started, for
/// the instructions of its boot sequence and the first of its entry.
///
/// 1. `start.valid` in cycle t: from t + 1 on the warp goes first, for [`FIRST_ISSUES`] cycles with
///    `advance`. A fresh warp waits for nothing until then, so that these are its first
///    instructions.
/// 2. `first_valid` and `first_slot` tell a cycle before who goes first. A warp that starts while
///    another one goes first takes its turns like all others.
///
/// The next warp of spawned threads can start only when one has ended, for which it needs turns of
/// its own: the others are passed over by [`FIRST_ISSUES`] instructions for each spawned warp of a
/// core in a round at most.
#[clocked("nobody goes first")]
#[derive(Clone, Default, LogicBlock)]
pub struct BootFirst {
    /// The warp of spawned threads that starts.
    pub start: SlotStart,
    /// The present choice issues.
    pub advance: Signal<In, Bit>,
    /// In the next cycle a warp goes first.
    pub first_valid: Signal<Out, Bit>,
    /// Slot of the warp that goes first.
    pub first_slot: Signal<Out, Bits<5>>,
    left: Register<Bits<3>>,
    slot: Register<Bits<5>>,
}

impl Logic for BootFirst {
    #[hdl_gen]
    fn update(&mut self) {
        let idle = !self.left.q.val().any();
        let ends = self.advance.val() & (self.left.q.val() == bits::<3>(1));
        self.first_valid.next = self.start.valid.val();
        self.first_slot.next = self.start.slot.val();
        if !idle {
            self.first_valid.next = !ends;
            self.first_slot.next = self.slot.q.val();
        }
        if idle & self.start.valid.val() {
            self.left.d.next = bits::<3>(FIRST_ISSUES);
            self.slot.d.next = self.start.slot.val();
        } else if !idle & self.advance.val() {
            self.left.d.next = self.left.q.val() - bits::<3>(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn goes_first_for_its_first_instructions() {
        let mut random = random();
        let mut unit = BootFirst::default();
        reset!(unit);
        // The warp that goes first, and the instructions that it still issues so.
        let mut first: Option<(u64, u64)> = None;
        let (mut served, mut passed) = (0, 0);
        for cycle in 0..5_000 {
            let (start, slot) = (random.gen_bool(0.1), random.gen_range(0..32u64));
            unit.start.valid.next = start;
            unit.start.slot.next = slot.into();
            unit.advance.next = random.gen_bool(0.7);
            settle(&mut unit);
            let next = match first {
                None => start.then_some((slot, FIRST_ISSUES)),
                Some((slot, left)) => {
                    passed += u32::from(start);
                    let left = left - u64::from(unit.advance.val());
                    (left > 0).then_some((slot, left))
                }
            };
            served += u32::from(first.is_some() && next.is_none());
            assert_eq!(unit.first_valid.val(), next.is_some(), "cycle {cycle}");
            if let Some((slot, _)) = next {
                assert_eq!(unit.first_slot.val().to_u64(), slot, "cycle {cycle}");
            }
            first = next;
            tick!(unit);
        }
        assert!(served > 200 && passed > 100, "{served} served, {passed} started meanwhile");
    }
}
