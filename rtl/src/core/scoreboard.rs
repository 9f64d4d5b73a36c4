//! Registers that wait for a value.

use crate::ports::RegisterUse;
use hermes_hdl::prelude::*;

/// The scoreboard: which registers of each warp have a load or division outstanding.
///
/// 1. `set_valid` marks register `set_register` of warp `set_slot`; `clear_valid` takes a mark
///    away. Both show from the next cycle on. A marked register is not marked again, an unmarked
///    one not cleared.
/// 2. `pending` says combinationally whether warp `slot` has a mark on any of `uses.rs1`,
///    `uses.rs2` and `uses.rd`; register 0 is never marked.
/// 3. After reset the marks are wiped, one warp a cycle for 32 cycles, in which nothing is marked.
///    The core keeps this rule since its instruction cache answers no lookup before.
///
/// A mark is the difference of two bits in two memories, of which one changes when it is set and
/// the other when it is cleared: so both can happen in the same cycle with one write port each.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct Scoreboard {
    /// A register is marked.
    pub set_valid: Signal<In, Bit>,
    /// Warp slot.
    pub set_slot: Signal<In, Bits<5>>,
    /// Register, 1 to 31.
    pub set_register: Signal<In, Bits<5>>,
    /// A mark is taken away.
    pub clear_valid: Signal<In, Bit>,
    /// Warp slot.
    pub clear_slot: Signal<In, Bits<5>>,
    /// Register, 1 to 31.
    pub clear_register: Signal<In, Bits<5>>,
    /// Stage D: warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Stage D: registers of the instruction.
    pub uses: RegisterUse,
    /// One of them is marked.
    pub pending: Signal<Out, Bit>,
    set_asked: RamAsync<Bits<32>, 5>,
    set_changed: RamAsync<Bits<32>, 5>,
    clear_asked: RamAsync<Bits<32>, 5>,
    clear_changed: RamAsync<Bits<32>, 5>,
    wiped: Register<Bits<6>>,
    /// A register was marked a cycle ago; `set_valid` is known late.
    set_valid_q: Register<Bit>,
    set_slot_q: Register<Bits<5>>,
    set_register_q: Register<Bits<5>>,
}

impl Logic for Scoreboard {
    #[hdl_gen]
    fn update(&mut self) {
        let wiping = !self.wiped.q.val().get_bit(5);
        self.set_valid_q.d.next = self.set_valid.val();
        self.set_slot_q.d.next = self.set_slot.val();
        self.set_register_q.d.next = self.set_register.val();
        let mut set_enable = self.set_valid_q.q.val();
        let mut set_address = self.set_slot_q.q.val();
        let mut set_row = self.set_changed.read_data.val() ^ (bits::<32>(1) << self.set_register_q.q.val());
        let mut clear_enable = self.clear_valid.val();
        let mut clear_address = self.clear_slot.val();
        let mut clear_row = self.clear_changed.read_data.val() ^ (bits::<32>(1) << self.clear_register.val());
        if wiping {
            self.wiped.d.next = self.wiped.q.val() + bits::<6>(1);
            set_enable = true;
            set_address = self.wiped.q.val().get_bits::<5>(0);
            set_row = bits::<32>(0);
            clear_enable = true;
            clear_address = self.wiped.q.val().get_bits::<5>(0);
            clear_row = bits::<32>(0);
        }
        self.set_changed.read_address.next = self.set_slot_q.q.val();
        self.set_changed.write_enable.next = set_enable;
        self.set_changed.write_address.next = set_address;
        self.set_changed.write_data.next = set_row;
        self.set_asked.read_address.next = self.slot.val();
        self.set_asked.write_enable.next = set_enable;
        self.set_asked.write_address.next = set_address;
        self.set_asked.write_data.next = set_row;
        self.clear_changed.read_address.next = self.clear_slot.val();
        self.clear_changed.write_enable.next = clear_enable;
        self.clear_changed.write_address.next = clear_address;
        self.clear_changed.write_data.next = clear_row;
        self.clear_asked.read_address.next = self.slot.val();
        self.clear_asked.write_enable.next = clear_enable;
        self.clear_asked.write_address.next = clear_address;
        self.clear_asked.write_data.next = clear_row;

        let marks =
            (self.set_asked.read_data.val() ^ self.clear_asked.read_data.val()) & bits::<32>(0xffff_fffe_u64);
        self.pending.next = marks.get_bit(self.uses.rs1.val().index())
            | marks.get_bit(self.uses.rs2.val().index())
            | marks.get_bit(self.uses.rd.val().index())
            | (self.set_valid_q.q.val()
                & (self.set_slot_q.q.val() == self.slot.val())
                & ((self.set_register_q.q.val() == self.uses.rs1.val())
                    | (self.set_register_q.q.val() == self.uses.rs2.val())
                    | (self.set_register_q.q.val() == self.uses.rd.val())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tick;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn marks_are_set_and_cleared_and_wiped_by_reset() {
        let mut rng = hermes_hdl::testing::random();
        let mut unit = Scoreboard::default();
        let mut marks: BTreeSet<(u64, u64)> = BTreeSet::new();
        for round in 0..6000 {
            if round % 1500 == 0 {
                unit.reset.next = true;
                unit.set_valid.next = false;
                unit.clear_valid.next = false;
                tick!(unit);
                unit.reset.next = false;
                for _ in 0..32 {
                    tick!(unit);
                }
                marks.clear();
            }
            let set = (rng.gen_range(0..32), rng.gen_range(1..32));
            let clear = marks.iter().nth(rng.gen_range(0..marks.len().max(1))).copied();
            let sets = !marks.contains(&set) && rng.gen_bool(0.6);
            let clears = clear.is_some() && rng.gen_bool(0.5);
            unit.set_valid.next = sets;
            unit.set_slot.next = set.0.into();
            unit.set_register.next = set.1.into();
            unit.clear_valid.next = clears;
            unit.clear_slot.next = clear.unwrap_or_default().0.into();
            unit.clear_register.next = clear.unwrap_or_default().1.into();
            let slot = rng.gen_range(0..32);
            let asked: [u64; 3] = std::array::from_fn(|_| rng.gen_range(0..32));
            unit.slot.next = slot.into();
            unit.uses.rs1.next = asked[0].into();
            unit.uses.rs2.next = asked[1].into();
            unit.uses.rd.next = asked[2].into();
            assert!(simulate(&mut unit, 20));
            assert_eq!(unit.pending.val(), asked.iter().any(|&r| marks.contains(&(slot, r))));
            tick!(unit);
            if sets {
                marks.insert(set);
            }
            if clears {
                marks.remove(&clear.unwrap());
            }
        }
    }
}
