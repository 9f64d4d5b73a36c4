//! The requesting warp that has been on the core longest.

use crate::ports::SlotStart;
use hermes_hdl::prelude::*;

/// Chooses the requesting warp slot whose warp started first.
///
/// 1. `start` starts a warp in its slot; it is younger than all others from the next
///    cycle on.
/// 2. `choice` answers `request` combinationally with one bit, or none if nothing is requested.
///
/// Every slot keeps the set of those that are older than it.
#[clocked]
#[derive(LogicBlock)]
pub struct OldestFirst {
    /// From warp issue.
    pub start: SlotStart,
    /// Slots to choose from.
    pub request: Signal<In, Bits<32>>,
    /// The oldest of them, one-hot.
    pub choice: Signal<Out, Bits<32>>,
    #[count(32)]
    older: Vec<Register<Bits<32>>>,
    #[init(crate::blocks::indices(32))]
    number: Vec<Constant<Bits<5>>>,
    #[init(Pack::new(32))]
    chosen: Pack<Bit, 1, 32>,
}

impl Logic for OldestFirst {
    #[hdl_gen]
    fn update(&mut self) {
        let mut started = bits::<32>(0);
        if self.start.valid.val() {
            started = bits::<32>(1) << self.start.slot.val();
        }
        for i in 0..32 {
            self.older[i].d.next = self.older[i].q.val() & !started;
            if self.start.valid.val() & (self.start.slot.val() == self.number[i].val()) {
                self.older[i].d.next = !started;
            }
            self.chosen.x[i].next =
                self.request.val().get_bit(i) & !(self.older[i].q.val() & self.request.val()).any();
        }
        self.choice.next = self.chosen.y.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;

    #[test]
    fn the_oldest_is_chosen() {
        let mut rng = hermes_hdl::testing::random();
        let mut unit = OldestFirst::default();
        let mut order: Vec<usize> = vec![];
        for _ in 0..500 {
            let slot = rng.gen_range(0..32);
            unit.start.valid.next = true;
            unit.start.slot.next = (slot as u64).into();
            unit.clock.next = Clock { clk: true };
            assert!(simulate(&mut unit, 10));
            unit.clock.next = Clock { clk: false };
            unit.start.valid.next = false;
            order.retain(|&other| other != slot);
            order.push(slot);
            let request = rng.gen::<u32>() & rng.gen::<u32>() & order.iter().fold(0, |set, s| set | 1 << s);
            unit.request.next = u64::from(request).into();
            assert!(simulate(&mut unit, 10));
            let oldest = order.iter().find(|&&slot| request >> slot & 1 == 1);
            assert_eq!(unit.choice.val().to_u32(), oldest.map_or(0, |slot| 1 << slot));
        }
    }
}
