//! How many instructions each warp has retired.

use crate::ports::{Counted, SlotStart};
use hermes_hdl::prelude::*;

/// The `instret` counters of the warps: warp-instructions retired since the start of the warp,
/// modulo 2^32, without those of the boot sequence.
///
/// `instructions` answers `slot` combinationally: what the warp retired and has in stages R to W in
/// front of the instruction in stage D, which reads it. If one of these faults, the reader is
/// flushed and replayed. `retire` counts from the next cycle on, as one in front until its counter
/// is written a cycle later; the first instruction of a warp, which belongs to the boot sequence,
/// sets the counter to zero then.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct InstructionCount {
    /// From warp issue.
    pub start: SlotStart,
    /// Stage D: warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Stage R: whether it holds an instruction, and one that counts.
    pub read: Counted,
    /// Stage R: warp slot.
    pub read_slot: Signal<In, Bits<5>>,
    /// Stage X: whether it holds an instruction, and one that counts.
    pub execute: Counted,
    /// Stage X: warp slot.
    pub execute_slot: Signal<In, Bits<5>>,
    /// Stage W holds an instruction.
    pub write_valid: Signal<In, Bit>,
    /// Stage W: warp slot.
    pub write_slot: Signal<In, Bits<5>>,
    /// Stage W: in the boot region, EXIT included.
    pub write_boot: Signal<In, Bit>,
    /// From stage W: the instruction there retires.
    pub retire: Signal<In, Bit>,
    /// Instructions that the warp retires before that in stage D.
    pub instructions: Signal<Out, Bits<32>>,
    asked: RamAsync<Bits<32>, 5>,
    changed: RamAsync<Bits<32>, 5>,
    fresh: Register<Bits<32>>,
    // What retired a cycle ago
    retired: Register<Bit>,
    retired_slot: Register<Bits<5>>,
    retired_boot: Register<Bit>,
}

impl Logic for InstructionCount {
    #[hdl_gen]
    fn update(&mut self) {
        self.retired.d.next = self.retire.val();
        self.retired_slot.d.next = self.write_slot.val();
        self.retired_boot.d.next = self.write_boot.val();
        self.changed.read_address.next = self.retired_slot.q.val();
        let mut started = bits::<32>(0);
        if self.start.valid.val() {
            started = bits::<32>(1) << self.start.slot.val();
        }
        let mut cleared = bits::<32>(0);
        if self.retired.q.val() {
            cleared = bits::<32>(1) << self.retired_slot.q.val();
        }
        self.fresh.d.next = (self.fresh.q.val() & !cleared) | started;
        let first = self.fresh.q.val().get_bit(self.retired_slot.q.val().index());
        let mut count = self.changed.read_data.val() + bits::<32>(1);
        if first {
            count = bits::<32>(0);
        }
        let writes = self.retired.q.val() & (first | !self.retired_boot.q.val());
        self.changed.write_enable.next = writes;
        self.changed.write_address.next = self.retired_slot.q.val();
        self.changed.write_data.next = count;
        self.asked.write_enable.next = writes;
        self.asked.write_address.next = self.retired_slot.q.val();
        self.asked.write_data.next = count;
        self.asked.read_address.next = self.slot.val();
        let mut flying = bits::<32>(0);
        if self.read.valid.val() & !self.read.boot.val() & (self.read_slot.val() == self.slot.val()) {
            flying = bits::<32>(1);
        }
        if self.execute.valid.val() & !self.execute.boot.val() & (self.execute_slot.val() == self.slot.val())
        {
            flying = flying + bits::<32>(1);
        }
        if self.write_valid.val() & !self.write_boot.val() & (self.write_slot.val() == self.slot.val()) {
            flying = flying + bits::<32>(1);
        }
        if self.retired.q.val() & !self.retired_boot.q.val() & (self.retired_slot.q.val() == self.slot.val())
        {
            flying = flying + bits::<32>(1);
        }
        self.instructions.next = self.asked.read_data.val() + flying;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tick;
    use hermes_hdl::prelude::simulate;

    #[test]
    fn counts_from_the_end_of_the_boot_sequence() {
        let mut unit = InstructionCount::default();
        for slot in [3, 5] {
            unit.start.valid.next = true;
            unit.start.slot.next = u64::into(slot);
            tick!(unit);
        }
        unit.start.valid.next = false;
        let mut retire = |slot: u64, boot: bool| {
            unit.write_valid.next = true;
            unit.retire.next = true;
            unit.write_slot.next = slot.into();
            unit.write_boot.next = boot;
            unit.execute.valid.next = true;
            unit.execute_slot.next = 3.into();
            unit.slot.next = 3.into();
            assert!(simulate(&mut unit, 10));
            let before = unit.instructions.val().index();
            tick!(unit);
            before
        };
        retire(3, true);
        // One in stage X, and the retiring one if it is of the same warp and of its kernel.
        assert_eq!(retire(3, true), 1);
        assert_eq!(retire(3, false), 2);
        assert_eq!(retire(3, false), 3);
        assert_eq!(retire(5, true), 3);
        assert_eq!(retire(5, false), 3);
        // EXIT of some lanes does not count, and does not start anew.
        assert_eq!(retire(3, true), 3);
        assert_eq!(retire(3, false), 4);
        assert_eq!(retire(5, false), 4);
        // And one in stage R.
        unit.read.valid.next = true;
        for (slot, boot, more) in [(3, false, 1), (3, true, 0), (4, false, 0)] {
            unit.read_slot.next = u64::into(slot);
            unit.read.boot.next = boot;
            assert!(simulate(&mut unit, 10));
            assert_eq!(unit.instructions.val().index(), 4 + more);
        }
    }
}
