//! Codes of the verdicts with which the lanes of a warp ended.

use crate::types::WarpSlot;
use hermes_hdl::prelude::*;

/// Notes for each warp of a core the code of each lane's verdict, by which packets branch.
///
/// 1. A code has four bits: 0 to 7 the port to which the packet is forwarded, 8 any other port, 9
///    drop, 10 fault. It follows from bits 31:30 of the verdict, and of a forward from all others.
/// 2. `codes` answers, a cycle later, the `finish_slot` of the cycle: four bits a lane, lane 0
///    lowest. Those of lanes that have not ended since the last start of the slot are undefined.
/// 3. An `exit` counts from the next cycle on.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct VerdictCodes<const LANES: usize> {
    /// From stage W: threads end.
    pub exit: Signal<In, Bit>,
    /// Slot of their warp.
    pub exit_slot: Signal<In, WarpSlot>,
    /// Lanes of the threads that end.
    pub exit_lanes: Signal<In, Bits<LANES>>,
    /// Verdict of each lane; those of lanes that do not end are ignored.
    #[count(LANES)]
    pub verdict: Vec<Signal<In, Bits<32>>>,
    /// From the front end: slot of the warp that is offered as finished.
    pub finish_slot: Signal<In, WarpSlot>,
    /// To the control path: the codes of its lanes.
    pub codes: Signal<Out, Bits<128>>,
    #[count(LANES)]
    kept: Vec<RamAsync<Bits<4>, 5>>,
    #[count(LANES)]
    offered: Vec<Register<Bits<4>>>,
}

/// Code of a packet that is forwarded to a port above 7.
pub const OTHER_PORT: u64 = 8;
/// Code of a packet that is dropped.
pub const DROPPED: u64 = 9;
/// Code of a packet whose thread ended with a fault.
pub const FAULTED: u64 = 10;
/// Codes that there are.
pub const VERDICT_CODES: usize = 11;

impl<const LANES: usize> Logic for VerdictCodes<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        let mut all = bits::<128>(0);
        for i in 0..LANES {
            let mut code = bits::<4>(OTHER_PORT);
            if !self.verdict[i].val().get_bits::<28>(3).any() {
                code = bit_cast::<4, 3>(self.verdict[i].val().get_bits::<3>(0));
            }
            if self.verdict[i].val().get_bit(31) {
                code = bits::<4>(DROPPED);
                if self.verdict[i].val().get_bit(30) {
                    code = bits::<4>(FAULTED);
                }
            }
            self.kept[i].write_enable.next = self.exit.val() & self.exit_lanes.val().get_bit(i);
            self.kept[i].write_address.next = self.exit_slot.val();
            self.kept[i].write_data.next = code;
            self.kept[i].read_address.next = self.finish_slot.val();
            self.offered[i].d.next = self.kept[i].read_data.val();
            all = all | (bit_cast::<128, 4>(self.offered[i].q.val()) << (4 * i as u64));
        }
        self.codes.next = all;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, settle, tick};
    use rand::Rng;

    /// The code of a verdict, by its bits.
    fn code(verdict: u32) -> u64 {
        match verdict >> 30 {
            2 => DROPPED,
            3 => FAULTED,
            _ => u64::from(verdict.min(8)),
        }
    }

    #[test]
    fn each_lane_keeps_the_code_of_its_last_verdict() {
        let mut random = random();
        let mut unit = VerdictCodes::<8>::default();
        let mut kept = [[None; 8]; 32];
        let mut asked: Option<usize> = None;
        let mut seen = [0; VERDICT_CODES];
        for cycle in 0..20_000 {
            settle(&mut unit);
            if let Some(slot) = asked {
                for (lane, code) in kept[slot].iter().enumerate() {
                    let Some(code) = code else { continue };
                    let shown = unit.codes.val().to_u128() >> (4 * lane) & 15;
                    assert_eq!(shown, u128::from(*code), "cycle {cycle}: slot {slot}, lane {lane}");
                    seen[*code as usize] += 1;
                }
                assert_eq!(unit.codes.val().to_u128() >> 32, 0);
            }
            let at = random.gen_range(0..32usize);
            unit.finish_slot.next = (at as u64).into();
            let (slot, lanes) = (random.gen_range(0..32usize), random.gen_range(0..256u64));
            let exit = random.gen_bool(0.8);
            unit.exit.next = exit;
            unit.exit_slot.next = (slot as u64).into();
            unit.exit_lanes.next = lanes.into();
            let before = kept[at];
            for (lane, verdict) in unit.verdict.iter_mut().enumerate() {
                let near = random.gen_range(0..12u32);
                let far = 8u32 << random.gen_range(0..28);
                let word = [near, far, random.gen::<u32>() | 1 << 31, random.gen()][random.gen_range(0..4)];
                verdict.next = u64::from(word).into();
                if exit && lanes >> lane & 1 == 1 {
                    kept[slot][lane] = Some(code(word));
                }
            }
            // What ends in the cycle of the question is not in the answer.
            asked = (slot != at || !exit || kept[at] == before).then_some(at);
            tick!(unit);
        }
        assert!(seen.iter().all(|&times| times > 100), "{seen:?}");
    }
}
