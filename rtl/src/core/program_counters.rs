//! The PCs at which the warps run.

use hermes_hdl::prelude::*;

/// PC of the running lanes of every warp, with a write port for each of the three stages that set
/// it.
///
/// - Stage C moves on to the next instruction (`sequential_*`).
/// - Stage D replays an instruction that cannot be executed yet (`replay_*`).
/// - Stage W and path selection go to the next path (`jump_*`).
///
/// `pc` answers `slot` combinationally; a write shows from the next cycle on. Where several ports
/// write the same slot at one edge, jump goes before replay and replay before sequential. A slot
/// that starts is written by its first instruction, whose PC is known without this unit. PCs are
/// bits 31:2.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct ProgramCounters {
    /// Warp slot read.
    pub slot: Signal<In, Bits<5>>,
    /// PC of the warp in `slot`, bits 31:2.
    pub pc: Signal<Out, Bits<30>>,
    /// Stage C writes `slot`.
    pub sequential_valid: Signal<In, Bit>,
    /// PC after the instruction in stage C.
    pub sequential_pc: Signal<In, Bits<30>>,
    /// Stage D replays an instruction.
    pub replay_valid: Signal<In, Bit>,
    /// Warp slot.
    pub replay_slot: Signal<In, Bits<5>>,
    /// PC of the instruction in stage D.
    pub replay_pc: Signal<In, Bits<30>>,
    /// Stage W or path selection writes.
    pub jump_valid: Signal<In, Bit>,
    /// Warp slot.
    pub jump_slot: Signal<In, Bits<5>>,
    /// PC of the path.
    pub jump_pc: Signal<In, Bits<30>>,
    sequential: RamAsync<Bits<30>, 5>,
    replay: RamAsync<Bits<30>, 5>,
    jump: RamAsync<Bits<30>, 5>,
    replayed: Register<Bits<32>>,
    jumped: Register<Bits<32>>,
}

impl Logic for ProgramCounters {
    #[hdl_gen]
    fn update(&mut self) {
        self.sequential.write_enable.next = self.sequential_valid.val();
        self.sequential.write_address.next = self.slot.val();
        self.sequential.write_data.next = self.sequential_pc.val();
        self.sequential.read_address.next = self.slot.val();
        self.replay.write_enable.next = self.replay_valid.val();
        self.replay.write_address.next = self.replay_slot.val();
        self.replay.write_data.next = self.replay_pc.val();
        self.replay.read_address.next = self.slot.val();
        self.jump.write_enable.next = self.jump_valid.val();
        self.jump.write_address.next = self.jump_slot.val();
        self.jump.write_data.next = self.jump_pc.val();
        self.jump.read_address.next = self.slot.val();

        // Which memory holds the latest PC of a slot
        let mut moving = bits::<32>(0);
        if self.sequential_valid.val() {
            moving = bits::<32>(1) << self.slot.val();
        }
        let mut replaying = bits::<32>(0);
        if self.replay_valid.val() {
            replaying = bits::<32>(1) << self.replay_slot.val();
        }
        let mut jumping = bits::<32>(0);
        if self.jump_valid.val() {
            jumping = bits::<32>(1) << self.jump_slot.val();
        }
        self.replayed.d.next = ((self.replayed.q.val() & !moving) | replaying) & !jumping;
        self.jumped.d.next = (self.jumped.q.val() & !(moving | replaying)) | jumping;

        self.pc.next = self.sequential.read_data.val();
        if self.replayed.q.val().get_bit(self.slot.val().index()) {
            self.pc.next = self.replay.read_data.val();
        }
        if self.jumped.q.val().get_bit(self.slot.val().index()) {
            self.pc.next = self.jump.read_data.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;

    #[test]
    fn the_latest_write_is_read() {
        let mut rng = hermes_hdl::testing::random();
        let mut unit = ProgramCounters::default();
        let mut pcs = [None; 32];
        for _ in 0..5000 {
            let slot = rng.gen_range(0..4);
            unit.slot.next = (slot as u64).into();
            let writes: [bool; 3] = std::array::from_fn(|_| rng.gen_bool(0.5));
            let slots: [usize; 2] = std::array::from_fn(|_| rng.gen_range(0..4));
            let values: [u64; 3] = std::array::from_fn(|_| rng.gen_range(0..1 << 30));
            unit.sequential_valid.next = writes[0];
            unit.sequential_pc.next = values[0].into();
            unit.replay_valid.next = writes[1];
            unit.replay_slot.next = (slots[0] as u64).into();
            unit.replay_pc.next = values[1].into();
            unit.jump_valid.next = writes[2];
            unit.jump_slot.next = (slots[1] as u64).into();
            unit.jump_pc.next = values[2].into();
            assert!(simulate(&mut unit, 20));
            if let Some(pc) = pcs[slot] {
                assert_eq!(u64::from(unit.pc.val()), pc);
            }
            unit.clock.next = Clock { clk: true };
            assert!(simulate(&mut unit, 20));
            unit.clock.next = Clock { clk: false };
            for (write, (slot, value)) in
                writes.iter().zip([slot, slots[0], slots[1]].into_iter().zip(values))
            {
                if *write {
                    pcs[slot] = Some(value);
                }
            }
        }
    }
}
