//! Turns of the harts at what they share.

use hermes_hdl::prelude::*;

/// Turns of the harts at an operation of which one is under way for all of them: without it a hart
/// that comes back again and again, as one that waits in a loop for a lock, could keep another one
/// out for ever.
///
/// 1. `turned_away` in stage W: the operation of `hart` does not start, it will be replayed. The
///    hart is owed one, until the next instruction of it in stage W (`live`), or until it goes on
///    elsewhere, is held or stopped (`gone`).
/// 2. A hart that had an operation (`starts`) is `refused` another one until each hart that is owed
///    one has had it, or wants it no more. So between two operations of a hart that waits each
///    other hart has two at most.
/// 3. `refused` depends on registers and on `hart` only, `held_back`, which has the bit of every
///    hart that is, on registers. Unless an operation started in the cycle before, whom `held_back`
///    did not have then is not refused now.
#[clocked("no hart is owed anything")]
#[derive(Clone, LogicBlock, Default)]
pub struct HartTurns {
    /// Stage W: hart of the instruction.
    pub hart: Signal<In, Bits<3>>,
    /// Stage W holds an instruction.
    pub live: Signal<In, Bit>,
    /// Stage W: the operation of the hart is turned away: one is under way, or `refused` is high.
    /// Only with `live`, as the next.
    pub turned_away: Signal<In, Bit>,
    /// Stage W: the operation of the hart starts.
    pub starts: Signal<In, Bit>,
    /// Harts that go on elsewhere at this edge, are held, or are stopped.
    pub gone: Signal<In, Bits<8>>,
    /// Stage W: other harts come first.
    pub refused: Signal<Out, Bit>,
    /// Harts of which that would be so: until it is no more, they need not come back.
    pub held_back: Signal<Out, Bits<8>>,
    /// Harts that were turned away, and that had an operation since others were.
    wanting: Register<Bits<8>>,
    served: Register<Bits<8>>,
}

impl Logic for HartTurns {
    #[hdl_gen]
    fn update(&mut self) {
        let owed = self.wanting.q.val() & !self.served.q.val();
        self.refused.next = self.served.q.val().get_bit(self.hart.val().index()) & owed.any();
        self.held_back.next = bits::<8>(0);
        if owed.any() {
            self.held_back.next = self.served.q.val();
        }

        always!(
            a_refused_hart_does_not_start,
            !(self.starts.val() & self.served.q.val().get_bit(self.hart.val().index()) & owed.any())
        );
        let of_hart = bits::<8>(1) << self.hart.val();
        let mut seen = bits::<8>(0);
        if self.live.val() {
            seen = of_hart;
        }
        let mut away = bits::<8>(0);
        if self.turned_away.val() {
            away = of_hart;
        }
        let mut started = bits::<8>(0);
        if self.starts.val() {
            started = of_hart;
        }
        self.wanting.d.next = ((self.wanting.q.val() & !seen) | away) & !self.gone.val();
        // No hart is owed an operation: a new round begins.
        self.served.d.next = started;
        if owed.any() {
            self.served.d.next = self.served.q.val() | started;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Harts that come back at once, and others that come seldom; some go elsewhere while they
    /// wait: who waits waits for two operations of each other hart at most, and an operation is
    /// refused only for one that waits.
    #[test]
    fn who_waits_gets_its_turn() {
        let mut random = random();
        let mut unit = HartTurns::default();
        reset!(unit);
        // Operations of each other hart since this one waits.
        let mut passed = [[0; 8]; 8];
        let mut waits = [false; 8];
        let (mut left, mut counts, mut refusals, mut went) = (0, [0; 8], 0, 0);
        for cycle in 0..60_000 {
            // Hart 0 comes far more often than hart 7.
            let hart = (random.gen_range(0..64u32) + 1).ilog2() as usize;
            let live = random.gen_bool(0.9);
            // One that waits comes back with its operation, but for code that was changed.
            let asks = live && (if waits[hart] { random.gen_bool(0.98) } else { random.gen_bool(0.7) });
            let gone: u64 = if random.gen_bool(0.02) { 1 << random.gen_range(0..8) } else { 0 };
            unit.hart.next = (hart as u64).into();
            unit.live.next = live;
            unit.gone.next = gone.into();
            unit.turned_away.next = false;
            unit.starts.next = false;
            settle(&mut unit);
            let refused = unit.refused.val();
            assert!(!refused || waits.iter().any(|waits| *waits), "cycle {cycle}: refused for nobody");
            assert_eq!(unit.held_back.val().get_bit(hart), refused, "cycle {cycle}");
            let starts = asks && left == 0 && !refused;
            unit.turned_away.next = asks && !starts;
            unit.starts.next = starts;
            refusals += usize::from(asks && refused && left == 0);
            left = if starts { random.gen_range(1..8) } else { usize::max(left, 1) - 1 };
            if starts {
                counts[hart] += 1;
                for other in (0..8).filter(|other| waits[*other]) {
                    passed[other][hart] += 1;
                    assert!(passed[other][hart] <= 2 || hart == other, "cycle {cycle}: hart {other} waits");
                }
            }
            if live {
                waits[hart] = asks && !starts;
            }
            for hart in (0..8).filter(|hart| gone >> hart & 1 == 1) {
                went += usize::from(waits[hart]);
                waits[hart] = false;
            }
            for (waits, passed) in waits.iter().zip(&mut passed).filter(|(waits, _)| !**waits) {
                assert!(!waits);
                *passed = [0; 8];
            }
            tick!(unit);
        }
        assert!(counts[..6].iter().all(|count| *count > 300), "{counts:?}");
        assert!(refusals > 1_000 && went > 100, "{refusals} {went}");
    }
}
