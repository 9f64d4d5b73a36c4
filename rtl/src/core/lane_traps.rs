//! Whether lanes that fault go to the trap entry.

use crate::blocks::PopulationCount;
use crate::ports::LaneTrapControl;
use hermes_hdl::prelude::*;

/// Decides whether the lanes that fault in stage W go to the page of FAULT_ENTRY, and counts them.
///
/// They do if the registers name the cause and the kind of warp, and the instruction is not in the
/// page itself: a fault in the page ends its lanes, so that no lane traps for ever. A load that
/// failed ends its lanes, too.
///
/// `traps` answers the other inputs of stage W in the same cycle; `trapped` follows `fires` by one
/// cycle. The registers count as they are when an instruction comes to stage W: while it stays
/// there, its fault is either recorded or traps, whatever is written meanwhile.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct LaneTraps<const LANES: usize> {
    /// From the registers.
    pub control: LaneTrapControl,
    /// Stage W takes the next instruction at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage W: the warp is one of spawned threads.
    pub spawned: Signal<In, Bit>,
    /// Stage W: cause of the fault.
    pub cause: Signal<In, Bits<5>>,
    /// Stage W: address of the instruction.
    pub pc: Signal<In, Bits<32>>,
    /// Stage W: the fault is that of a load that failed.
    pub load_failed: Signal<In, Bit>,
    /// Stage W: lanes that fault.
    pub lanes: Signal<In, Bits<LANES>>,
    /// Stage W: the instruction retires at this edge.
    pub fires: Signal<In, Bit>,
    /// Lanes that fault go to the trap entry.
    pub traps: Signal<Out, Bit>,
    /// Bits 31:12 of the trap entry.
    pub page: Signal<Out, Bits<20>>,
    /// Lanes that went there.
    pub trapped: Signal<Out, Bits<6>>,
    count: PopulationCount<LANES>,
    trapped_q: Register<Bits<6>>,
    /// The registers, as the instruction in stage W found them.
    page_w: Register<Bits<20>>,
    causes_w: Register<Bits<12>>,
    spawned_w: Register<Bit>,
    packets_w: Register<Bit>,
}

/// Causes that can trap: 2 to 7 and 11. Of 0 and 1 the address of the next instruction is not one
/// to go back to; the watchdog (24) ends whoever runs too long.
pub const TRAP_CAUSES: u64 = 0x8fc;

impl<const LANES: usize> Logic for LaneTraps<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        if self.advance.val() {
            self.page_w.d.next = self.control.page.val();
            self.causes_w.d.next = self.control.causes.val();
            self.spawned_w.d.next = self.control.spawned.val();
            self.packets_w.d.next = self.control.packets.val();
        }
        self.page.next = self.page_w.q.val();
        let causes = bit_cast::<32, 12>(self.causes_w.q.val()) & bits::<32>(TRAP_CAUSES);
        let mut kind = self.packets_w.q.val();
        if self.spawned.val() {
            kind = self.spawned_w.q.val();
        }
        let named = causes.get_bit(self.cause.val().index());
        let outside = self.pc.val().get_bits::<20>(12) != self.page_w.q.val();
        let goes_there = kind & named & outside & !self.load_failed.val();
        self.traps.next = goes_there;
        self.count.set.next = self.lanes.val();
        self.trapped_q.d.next = bits::<6>(0);
        if goes_there & self.fires.val() {
            self.trapped_q.d.next = self.count.count.val();
        }
        self.trapped.next = self.trapped_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn traps_by_cause_kind_and_place() {
        let mut random = random();
        let mut unit = LaneTraps::<4>::default();
        reset!(unit);
        let (mut counted, mut trapped, mut changed) = (None::<u64>, 0, 0);
        // The registers as the instruction found them: all 0 after a reset.
        let mut held = (0u64, 0u64, false, false);
        for cycle in 0..6_000 {
            let (cause, pc) = (random.gen_range(0..16u64), random.gen_range(0..8u64) << 11);
            let (causes, page) = (random.gen::<u64>() & 0xfff, random.gen_range(0..4u64));
            let [spawned, of_spawned, of_packets, failed, fires] = [(); 5].map(|()| random.gen::<bool>());
            let lanes = random.gen_range(0..16u64);
            unit.control.page.next = bits(page);
            unit.control.causes.next = bits(causes);
            unit.control.spawned.next = of_spawned;
            unit.control.packets.next = of_packets;
            unit.spawned.next = spawned;
            unit.cause.next = bits(cause);
            unit.pc.next = bits(pc);
            unit.load_failed.next = failed;
            unit.lanes.next = bits(lanes);
            unit.fires.next = fires;
            let advance = random.gen_bool(0.4);
            unit.advance.next = advance;
            settle(&mut unit);
            let kind = if spawned { held.2 } else { held.3 };
            let named = [2, 3, 4, 5, 6, 7, 11].contains(&cause) && held.1 >> cause & 1 != 0;
            let expected = kind && named && pc >> 12 != held.0 && !failed;
            assert_eq!(unit.traps.val(), expected, "cycle {cycle}");
            assert_eq!(unit.page.val().to_u64(), held.0, "cycle {cycle}");
            changed += u32::from(!advance && held != (page, causes, of_spawned, of_packets));
            if advance {
                held = (page, causes, of_spawned, of_packets);
            }
            if let Some(lanes) = counted {
                assert_eq!(unit.trapped.val().to_u64(), lanes, "cycle {cycle}");
            }
            counted = Some(if expected && fires { u64::from(lanes.count_ones()) } else { 0 });
            trapped += u32::from(expected);
            tick!(unit);
        }
        assert!(trapped > 200 && changed > 1_000, "{trapped} trapped, {changed} changed");
    }
}
