//! The record of a fault.

use crate::blocks::PopulationCount;
use crate::ports::FaultRecord;
use hermes_hdl::prelude::*;

/// Describes the faulting lanes of one warp-instruction: how many, and packetIdx and value of the
/// lowest.
///
/// Combinational; `LANES` is a power of two; the outputs mean something while `lanes` is not empty.
#[derive(LogicBlock)]
pub struct FaultEncoder<const LANES: usize> {
    /// Lanes that fault.
    pub lanes: Signal<In, Bits<LANES>>,
    /// packetIdx of lane 0.
    pub packet: Signal<In, Bits<32>>,
    /// The value is the lane's address (misaligned load, store or `jalr`), else `shared_value`.
    pub value_is_address: Signal<In, Bit>,
    /// Address of every lane.
    #[count(LANES)]
    pub address: Vec<Signal<In, Bits<32>>>,
    /// Value of faults that are the same in every lane.
    pub shared_value: Signal<In, Bits<32>>,
    /// Record of the lanes that fault.
    pub record: FaultRecord,
    count: PopulationCount<LANES>,
    #[init((0..LANES as u64).map(|lane| Constant::new(lane.into())).collect())]
    lane_number: Vec<Constant<Bits<5>>>,
    #[init(LANES / 2)]
    _pairs: usize,
    #[init(LANES % 2)]
    _alone: usize,
}

impl<const LANES: usize> Logic for FaultEncoder<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.count.set.next = self.lanes.val();
        self.record.threads.next = self.count.count.val();
        // Each pair of lanes offers the address of its lower lane that faults, and only that of the
        // first pair with such a lane is not zero where all are or-ed.
        let mut below = false;
        let mut pair_address = bits::<32>(0);
        let mut chosen = bits::<32>(0);
        let mut chosen_lane = bits::<5>(0);
        if self.lanes.val().any() {
            for i in 0..self._pairs {
                pair_address = self.address[2 * i + 1].val();
                if self.lanes.val().get_bit(2 * i) {
                    pair_address = self.address[2 * i].val();
                }
                if !below & (self.lanes.val().get_bit(2 * i) | self.lanes.val().get_bit(2 * i + 1)) {
                    chosen = chosen | pair_address;
                    chosen_lane = chosen_lane | self.lane_number[2 * i].val();
                    if !self.lanes.val().get_bit(2 * i) {
                        chosen_lane = chosen_lane | self.lane_number[2 * i + 1].val();
                    }
                }
                below = below | self.lanes.val().get_bit(2 * i) | self.lanes.val().get_bit(2 * i + 1);
            }
            if self._alone > 0 {
                chosen = self.address[0].val();
            }
        }
        self.record.packet.next = self.packet.val() + bit_cast::<32, 5>(chosen_lane);
        self.record.value.next = self.shared_value.val();
        if self.value_is_address.val() {
            self.record.value.next = chosen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;

    #[test]
    fn the_lowest_faulting_lane_is_recorded() {
        check::<1>();
        check::<2>();
        check::<8>();
    }

    fn check<const LANES: usize>() {
        let mut unit = FaultEncoder::<LANES>::default();
        unit.packet.next = 100.into();
        unit.shared_value.next = 77.into();
        for (lane, address) in unit.address.iter_mut().enumerate() {
            address.next = (1000 + lane as u64).into();
        }
        for set in 1..1u64 << LANES {
            unit.lanes.next = set.into();
            let lowest = u64::from(set.trailing_zeros());
            for by_address in [false, true] {
                unit.value_is_address.next = by_address;
                assert!(simulate(&mut unit, 20));
                assert_eq!(unit.record.threads.val().index(), set.count_ones() as usize);
                assert_eq!(u64::from(unit.record.packet.val()), 100 + lowest);
                let expected = if by_address { 1000 + lowest } else { 77 };
                assert_eq!(u64::from(unit.record.value.val()), expected);
            }
        }
    }
}
