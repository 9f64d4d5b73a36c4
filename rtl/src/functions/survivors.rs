//! Lanes of a warp whose packets go on.

use crate::types::WarpSlot;
use hermes_hdl::prelude::*;

/// Notes for each warp of a core with which lanes it started, and which of them forwarded their
/// packets when they ended.
///
/// 1. `survivors` and `ended` answer, a cycle later, the `finish_slot` of the cycle: together they
///    are the lanes with which the warp of this slot started last. All of them must have ended
///    (`exit`) since then, each once; what the slot's warps before it left counts for nothing.
/// 2. An `exit` counts from the next cycle on.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct Survivors<const LANES: usize> {
    /// From warp issue: a warp starts in this cycle.
    pub start: Signal<In, Bit>,
    /// Slot of the warp that starts.
    pub start_slot: Signal<In, WarpSlot>,
    /// Lanes with which the warp starts.
    pub start_lanes: Signal<In, Bits<LANES>>,
    /// From stage W: threads end.
    pub exit: Signal<In, Bit>,
    /// Slot of their warp.
    pub exit_slot: Signal<In, WarpSlot>,
    /// Lanes of the threads that end.
    pub exit_lanes: Signal<In, Bits<LANES>>,
    /// The lanes among them whose verdict is to drop the packet, or a fault; other bits are
    /// ignored.
    pub drops: Signal<In, Bits<LANES>>,
    /// From the front end: slot of the warp that is offered as finished.
    pub finish_slot: Signal<In, WarpSlot>,
    /// To the control path: lanes of the finished warp that forward their packets.
    pub survivors: Signal<Out, Bits<LANES>>,
    /// To the control path: other lanes of the finished warp.
    pub ended: Signal<Out, Bits<LANES>>,
    started: RamAsync<Bits<LANES>, 5>,
    forwarded: RamAsync<Bits<LANES>, 5>,
    /// The same once more, with a read port for `finish_slot`.
    offered: RamAsync<Bits<LANES>, 5>,
    started_q: Register<Bits<LANES>>,
    offered_q: Register<Bits<LANES>>,
}

impl<const LANES: usize> Logic for Survivors<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.started.write_enable.next = self.start.val();
        self.started.write_address.next = self.start_slot.val();
        self.started.write_data.next = self.start_lanes.val();
        self.started.read_address.next = self.finish_slot.val();

        let updated = (self.forwarded.read_data.val() & !self.exit_lanes.val())
            | (self.exit_lanes.val() & !self.drops.val());
        self.forwarded.read_address.next = self.exit_slot.val();
        self.forwarded.write_enable.next = self.exit.val();
        self.forwarded.write_address.next = self.exit_slot.val();
        self.forwarded.write_data.next = updated;
        self.offered.write_enable.next = self.exit.val();
        self.offered.write_address.next = self.exit_slot.val();
        self.offered.write_data.next = updated;
        self.offered.read_address.next = self.finish_slot.val();

        self.started_q.d.next = self.started.read_data.val();
        self.offered_q.d.next = self.offered.read_data.val();
        self.survivors.next = self.started_q.q.val() & self.offered_q.q.val();
        self.ended.next = self.started_q.q.val() & !self.offered_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, settle, tick};
    use rand::seq::IteratorRandom;
    use rand::Rng;

    #[derive(Clone, Copy)]
    struct Warp {
        started: u64,
        running: u64,
        forwarded: u64,
    }

    #[test]
    fn survivors_are_lanes_of_the_start_that_forwarded() {
        let mut random = random();
        let mut unit = Survivors::<8>::default();
        let mut warps: [Option<Warp>; 32] = [None; 32];
        let mut expected: Option<(u64, u64)> = None;
        let (mut finished, mut mixed) = (0, 0);
        for cycle in 0..40_000 {
            settle(&mut unit);
            if let Some((survivors, ended)) = expected.take() {
                assert_eq!(unit.survivors.val().to_u64(), survivors, "cycle {cycle}");
                assert_eq!(unit.ended.val().to_u64(), ended, "cycle {cycle}");
            }
            let slot = random.gen_range(0..6usize);
            let lanes = random.gen_range(1..256u64);
            unit.start.next = warps[slot].is_none();
            unit.start_slot.next = (slot as u64).into();
            unit.start_lanes.next = lanes.into();
            let exits = (0..32).filter(|&s| warps[s].is_some_and(|w| w.running > 0)).choose(&mut random);
            let at = exits.unwrap_or(31);
            let running = warps[at].map_or(0, |warp| warp.running);
            let leaving = running & random.gen_range(1..256u64);
            let drops = random.gen_range(0..256u64);
            unit.exit.next = leaving != 0;
            unit.exit_slot.next = (at as u64).into();
            unit.exit_lanes.next = (if leaving == 0 { random.gen_range(0..256) } else { leaving }).into();
            unit.drops.next = drops.into();
            let done = (0..32).filter(|&s| warps[s].is_some_and(|w| w.running == 0)).choose(&mut random);
            unit.finish_slot.next = (done.unwrap_or(random.gen_range(0..32)) as u64).into();
            settle(&mut unit);
            if let Some(slot) = done.filter(|_| random.gen_bool(0.4)) {
                let warp = warps[slot].take().unwrap();
                expected = Some((warp.forwarded, warp.started & !warp.forwarded));
                finished += 1;
                mixed += usize::from(warp.forwarded != 0 && warp.forwarded != warp.started);
            }
            if unit.start.val() {
                warps[slot] = Some(Warp { started: lanes, running: lanes, forwarded: 0 });
            }
            if let Some(warp) = warps[at].as_mut().filter(|_| leaving != 0) {
                warp.running &= !leaving;
                warp.forwarded |= leaving & !drops;
            }
            tick!(unit);
        }
        assert!(finished > 1_000 && mixed > 500, "{finished} {mixed}");
    }
}
