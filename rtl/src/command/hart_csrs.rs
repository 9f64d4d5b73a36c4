//! The machine-mode CSRs of one hart.

use crate::types::riscv::{csr, interrupt};
use hermes_hdl::prelude::*;

/// `misa`: RV32, M, I, and instructions that are no standard ones (user-level interrupts).
const MISA: u64 = 0x4080_1100;

/// The CSRs of machine mode of one hart, what a trap does to them, and which interrupt is to be
/// taken (RISC-V privileged specification 1.12, chapter 3).
///
/// 1. CSRs are read in stage X: `read_value` answers `read_number` in the same cycle; it is 0 for
///    what is not there. `minstret` counts what retires in this cycle as well.
/// 2. They are written in stage W, and read with the new value in the next cycle. A write of a
///    counter goes before its increment.
/// 3. `trap_valid` enters a trap at this edge: `mepc`, `mcause`, `mtval` are set, interrupts are
///    off. `trap_return` (`mret`) puts them back to what they were.
/// 4. `interrupt` is high while an interrupt is pending, enabled, and interrupts are on; external
///    goes before software, software before timer. `wake` does not depend on their being on.
/// 5. `hold`: interrupts off and disabled, `mcause` and `mtvec` 0. Other CSRs keep what they hold.
///
/// WARL: `mtvec` is direct (bit 0 clear) or vectored, then with bits 5:2 zero; bit 1 is 0. `mepc`
/// has bits 1:0 zero. `mcause` keeps bits 31 and 4:0. `mip` cannot be written.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct HartCsrs {
    /// Number of the hart; constant.
    pub number: Signal<In, Bits<3>>,
    /// There are atomic instructions; constant.
    pub atomics: Signal<In, Bit>,
    /// The hart is held.
    pub hold: Signal<In, Bit>,
    /// Stage X: number of a CSR.
    pub read_number: Signal<In, Bits<12>>,
    /// Stage X: value of the CSR.
    pub read_value: Signal<Out, Bits<32>>,
    /// Stage W: a CSR is written.
    pub write_valid: Signal<In, Bit>,
    /// Stage W: number of the CSR.
    pub write_number: Signal<In, Bits<12>>,
    /// Stage W: value that is written.
    pub write_value: Signal<In, Bits<32>>,
    /// Stage W: an instruction of the hart retires.
    pub retire: Signal<In, Bit>,
    /// A trap is entered at this edge.
    pub trap_valid: Signal<In, Bit>,
    /// PC of the instruction that raised it, or of the next one, bits 31:2.
    pub trap_pc: Signal<In, Bits<30>>,
    /// Cause of the trap; bit 5: an interrupt.
    pub trap_cause: Signal<In, Bits<6>>,
    /// For `mtval`.
    pub trap_value: Signal<In, Bits<32>>,
    /// Stage W: `mret` retires.
    pub trap_return: Signal<In, Bit>,
    /// An external interrupt is pending.
    pub external: Signal<In, Bit>,
    /// A software interrupt is pending.
    pub software: Signal<In, Bit>,
    /// A timer interrupt is pending.
    pub timer: Signal<In, Bit>,
    /// Cycles since reset of the array, for `time`.
    pub cycle: Signal<In, Bits<64>>,
    /// An interrupt is to be taken at the next instruction boundary.
    pub interrupt: Signal<Out, Bit>,
    /// Cause of the interrupt.
    pub interrupt_cause: Signal<Out, Bits<5>>,
    /// An interrupt is pending and enabled.
    pub wake: Signal<Out, Bit>,
    /// PC to which traps go, bits 31:2.
    pub base: Signal<Out, Bits<30>>,
    /// Interrupts go to `base` + 4 x cause.
    pub vectored: Signal<Out, Bit>,
    /// PC to which `mret` goes, bits 31:2.
    pub return_pc: Signal<Out, Bits<30>>,
    enable: Register<Bit>,
    previous: Register<Bit>,
    /// External, timer, software.
    enables: Register<Bits<3>>,
    base_q: Register<Bits<30>>,
    vectored_q: Register<Bit>,
    scratch: Register<Bits<32>>,
    pc: Register<Bits<30>>,
    cause: Register<Bits<6>>,
    tval: Register<Bits<32>>,
    cycles: Register<Bits<64>>,
    instructions: Register<Bits<64>>,
}

impl Logic for HartCsrs {
    #[hdl_gen]
    fn update(&mut self) {
        // Interrupts
        let mut pending = bits::<3>(0);
        pending = pending.replace_bit(0, self.software.val());
        pending = pending.replace_bit(1, self.timer.val());
        pending = pending.replace_bit(2, self.external.val());
        let wanted = pending & self.enables.q.val();
        self.wake.next = wanted.any();
        self.interrupt.next = wanted.any() & self.enable.q.val();
        self.interrupt_cause.next = bits::<5>(interrupt::TIMER);
        if wanted.get_bit(0) {
            self.interrupt_cause.next = bits::<5>(interrupt::SOFTWARE);
        }
        if wanted.get_bit(2) {
            self.interrupt_cause.next = bits::<5>(interrupt::EXTERNAL);
        }
        self.base.next = self.base_q.q.val();
        self.vectored.next = self.vectored_q.q.val();
        self.return_pc.next = self.pc.q.val();

        // Stage X: what is read. As arms of one `match` the values are ANDed with their number and
        // ORed, which takes fewer LUTs than one choice behind the other.
        let counted = self.instructions.q.val() + bit_cast::<64, 1>(self.retire.val().into());
        let mut value = bits::<32>(0);
        match self.read_number.val().to_u64() {
            csr::MSTATUS => {
                value = bits::<32>(0x1800)
                    .replace_bit(3, self.enable.q.val())
                    .replace_bit(7, self.previous.q.val());
            }
            csr::MISA => value = bits::<32>(MISA).replace_bit(0, self.atomics.val()),
            csr::MIE => {
                value = bits::<32>(0)
                    .replace_bit(3, self.enables.q.val().get_bit(0))
                    .replace_bit(7, self.enables.q.val().get_bit(1))
                    .replace_bit(11, self.enables.q.val().get_bit(2));
            }
            csr::MTVEC => {
                value = (bit_cast::<32, 30>(self.base_q.q.val()) << bits::<6>(2))
                    .replace_bit(0, self.vectored_q.q.val());
            }
            csr::MSCRATCH => value = self.scratch.q.val(),
            csr::MEPC => value = bit_cast::<32, 30>(self.pc.q.val()) << bits::<6>(2),
            csr::MCAUSE => {
                value = bit_cast::<32, 5>(self.cause.q.val().get_bits::<5>(0))
                    .replace_bit(31, self.cause.q.val().get_bit(5));
            }
            csr::MTVAL => value = self.tval.q.val(),
            csr::MIP => {
                value = bits::<32>(0)
                    .replace_bit(3, self.software.val())
                    .replace_bit(7, self.timer.val())
                    .replace_bit(11, self.external.val());
            }
            csr::MHARTID => value = bit_cast::<32, 3>(self.number.val()),
            csr::MCYCLE | csr::CYCLE => value = self.cycles.q.val().get_bits::<32>(0),
            csr::MCYCLEH | csr::CYCLEH => value = self.cycles.q.val().get_bits::<32>(32),
            csr::TIME => value = self.cycle.val().get_bits::<32>(0),
            csr::TIMEH => value = self.cycle.val().get_bits::<32>(32),
            csr::MINSTRET | csr::INSTRET => value = counted.get_bits::<32>(0),
            csr::MINSTRETH | csr::INSTRETH => value = counted.get_bits::<32>(32),
            _ => {}
        }
        self.read_value.next = value;

        // Stage W: what is written
        let writes = self.write_valid.val();
        let written = self.write_value.val();
        let mut ones = bits::<3>(0);
        ones = ones.replace_bit(0, written.get_bit(3));
        ones = ones.replace_bit(1, written.get_bit(7));
        ones = ones.replace_bit(2, written.get_bit(11));
        if writes & (self.write_number.val() == bits::<12>(csr::MSTATUS)) {
            self.enable.d.next = written.get_bit(3);
            self.previous.d.next = written.get_bit(7);
        }
        if writes & (self.write_number.val() == bits::<12>(csr::MIE)) {
            self.enables.d.next = ones;
        }
        if writes & (self.write_number.val() == bits::<12>(csr::MTVEC)) {
            self.vectored_q.d.next = written.get_bit(0);
            self.base_q.d.next = written.get_bits::<30>(2);
            if written.get_bit(0) {
                self.base_q.d.next = written.get_bits::<30>(2) & bits::<30>(0x3fff_fff0);
            }
        }
        if writes & (self.write_number.val() == bits::<12>(csr::MSCRATCH)) {
            self.scratch.d.next = written;
        }
        if writes & (self.write_number.val() == bits::<12>(csr::MEPC)) {
            self.pc.d.next = written.get_bits::<30>(2);
        }
        if writes & (self.write_number.val() == bits::<12>(csr::MCAUSE)) {
            self.cause.d.next = bit_cast::<6, 5>(written.get_bits::<5>(0));
            if written.get_bit(31) {
                self.cause.d.next = bit_cast::<6, 5>(written.get_bits::<5>(0)) | bits::<6>(0x20);
            }
        }
        if writes & (self.write_number.val() == bits::<12>(csr::MTVAL)) {
            self.tval.d.next = written;
        }
        self.cycles.d.next = self.cycles.q.val() + bits::<64>(1);
        if writes & (self.write_number.val() == bits::<12>(csr::MCYCLE)) {
            self.cycles.d.next = (bit_cast::<64, 32>(self.cycles.q.val().get_bits::<32>(32))
                << bits::<6>(32))
                | bit_cast::<64, 32>(written);
        }
        if writes & (self.write_number.val() == bits::<12>(csr::MCYCLEH)) {
            self.cycles.d.next = (bit_cast::<64, 32>(written) << bits::<6>(32))
                | bit_cast::<64, 32>(self.cycles.q.val().get_bits::<32>(0));
        }
        self.instructions.d.next = counted;
        if writes & (self.write_number.val() == bits::<12>(csr::MINSTRET)) {
            self.instructions.d.next = (bit_cast::<64, 32>(self.instructions.q.val().get_bits::<32>(32))
                << bits::<6>(32))
                | bit_cast::<64, 32>(written);
        }
        if writes & (self.write_number.val() == bits::<12>(csr::MINSTRETH)) {
            self.instructions.d.next = (bit_cast::<64, 32>(written) << bits::<6>(32))
                | bit_cast::<64, 32>(self.instructions.q.val().get_bits::<32>(0));
        }

        // Traps
        if self.trap_return.val() {
            self.enable.d.next = self.previous.q.val();
            self.previous.d.next = true;
        }
        if self.trap_valid.val() {
            self.previous.d.next = self.enable.q.val();
            self.enable.d.next = false;
            self.pc.d.next = self.trap_pc.val();
            self.cause.d.next = self.trap_cause.val();
            self.tval.d.next = self.trap_value.val();
        }
        if self.hold.val() {
            self.enable.d.next = false;
            self.enables.d.next = bits::<3>(0);
            self.cause.d.next = bits::<6>(0);
            self.base_q.d.next = bits::<30>(0);
            self.vectored_q.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    const NUMBERS: [u64; 30] = [
        0x300, 0x301, 0x304, 0x305, 0x310, 0x320, 0x323, 0x340, 0x341, 0x342, 0x343, 0x344, 0xb00, 0xb02,
        0xb03, 0xb80, 0xb82, 0xb9f, 0xc00, 0xc01, 0xc02, 0xc80, 0xc81, 0xc82, 0xf11, 0xf12, 0xf13, 0xf14,
        0xf15, 0x33f,
    ];

    /// The CSRs as the specification says it. What is not known yet is `None`.
    #[derive(Default)]
    struct Model {
        mie: bool,
        mpie: Option<bool>,
        enables: u32,
        tvec: u32,
        scratch: Option<u32>,
        epc: Option<u32>,
        cause: u32,
        tval: Option<u32>,
        cycles: u64,
        instructions: u64,
    }

    #[test]
    fn follows_the_specification() {
        // Writes, traps, returns and interrupts at random.
        let mut random = random();
        let mut unit = HartCsrs::default();
        reset!(unit);
        unit.number.next = 5.into();
        unit.atomics.next = true;
        let mut model = Model { cycles: unit.cycles.q.val().to_u64(), ..Model::default() };
        let (mut traps, mut returns, mut interrupts) = (0, 0, 0);
        for step in 0..60_000u64 {
            let read = NUMBERS[random.gen_range(0..NUMBERS.len())];
            let lines: [bool; 3] = [random.gen_bool(0.3), random.gen_bool(0.3), random.gen_bool(0.3)];
            let time = random.gen::<u64>() >> 1;
            let retire = random.gen_bool(0.5);
            let write = retire && random.gen_bool(0.4);
            let number = NUMBERS[random.gen_range(0..NUMBERS.len())];
            let value: u32 = random.gen();
            let trap_return = retire && !write && random.gen_bool(0.1);
            let trap = !write && !trap_return && random.gen_bool(0.05);
            let (pc, cause, tval) =
                (random.gen_range(0..1u64 << 30), random.gen_range(0..64u64), random.gen::<u32>());
            let hold = random.gen_bool(0.01);
            unit.read_number.next = read.into();
            unit.software.next = lines[0];
            unit.timer.next = lines[1];
            unit.external.next = lines[2];
            unit.cycle.next = time.into();
            unit.retire.next = retire;
            unit.write_valid.next = write;
            unit.write_number.next = number.into();
            unit.write_value.next = u64::from(value).into();
            unit.trap_return.next = trap_return;
            unit.trap_valid.next = trap;
            unit.trap_pc.next = pc.into();
            unit.trap_cause.next = cause.into();
            unit.trap_value.next = u64::from(tval).into();
            unit.hold.next = hold;
            settle(&mut unit);

            let pending = u32::from(lines[0]) << 3 | u32::from(lines[1]) << 7 | u32::from(lines[2]) << 11;
            let counted = model.instructions + u64::from(retire);
            let expected = match read {
                0x300 => model.mpie.map(|mpie| 0x1800 | u32::from(model.mie) << 3 | u32::from(mpie) << 7),
                0x301 => Some(MISA as u32 | 1),
                0x304 => Some(model.enables),
                0x305 => Some(model.tvec),
                0x340 => model.scratch,
                0x341 => model.epc,
                0x342 => Some(model.cause),
                0x343 => model.tval,
                0x344 => Some(pending),
                0xb00 | 0xc00 => Some(model.cycles as u32),
                0xb80 | 0xc80 => Some((model.cycles >> 32) as u32),
                0xb02 | 0xc02 => Some(counted as u32),
                0xb82 | 0xc82 => Some((counted >> 32) as u32),
                0xc01 => Some(time as u32),
                0xc81 => Some((time >> 32) as u32),
                0xf14 => Some(5),
                _ => Some(0),
            };
            if let Some(expected) = expected {
                assert_eq!(unit.read_value.val().to_u32(), expected, "step {step}: CSR {read:#x}");
            }
            let wanted = pending & model.enables;
            assert_eq!(unit.wake.val(), wanted != 0, "step {step}");
            assert_eq!(unit.interrupt.val(), wanted != 0 && model.mie, "step {step}");
            if unit.interrupt.val() {
                let first = [11, 3, 7].into_iter().find(|cause| wanted >> cause & 1 == 1);
                assert_eq!(Some(unit.interrupt_cause.val().to_u32()), first, "step {step}");
                interrupts += 1;
            }
            assert_eq!(unit.base.val().to_u32() << 2, model.tvec & !3, "step {step}");
            assert_eq!(unit.vectored.val(), model.tvec & 1 == 1, "step {step}");
            if let Some(epc) = model.epc {
                assert_eq!(unit.return_pc.val().to_u32() << 2, epc, "step {step}");
            }

            model.cycles = model.cycles.wrapping_add(1);
            let old = model.instructions;
            model.instructions = counted;
            let (high, low) = (u64::from(value) << 32, u64::from(value));
            if write {
                match number {
                    0x300 => (model.mie, model.mpie) = (value >> 3 & 1 == 1, Some(value >> 7 & 1 == 1)),
                    0x304 => model.enables = value & 0x888,
                    0x305 if value & 1 == 1 => model.tvec = value & !0x3e,
                    0x305 => model.tvec = value & !3,
                    0x340 => model.scratch = Some(value),
                    0x341 => model.epc = Some(value & !3),
                    0x342 => model.cause = value & 0x8000_001f,
                    0x343 => model.tval = Some(value),
                    0xb00 => model.cycles = (model.cycles - 1) >> 32 << 32 | low,
                    0xb80 => model.cycles = high | (model.cycles - 1) & 0xffff_ffff,
                    0xb02 => model.instructions = old >> 32 << 32 | low,
                    0xb82 => model.instructions = high | old & 0xffff_ffff,
                    _ => {}
                }
            }
            if trap_return {
                returns += 1;
                model.mie = model.mpie.unwrap_or_default();
                model.mpie = Some(true);
            }
            if trap {
                traps += 1;
                (model.mpie, model.mie) = (Some(model.mie), false);
                model.epc = Some((pc << 2) as u32);
                model.cause = (cause as u32 & 31) | (cause as u32 >> 5) << 31;
                model.tval = Some(tval);
            }
            if hold {
                (model.mie, model.enables, model.cause, model.tvec) = (false, 0, 0, 0);
            }
            tick!(unit);
        }
        assert!(traps > 1_000 && returns > 1_000 && interrupts > 1_000, "{traps} {returns} {interrupts}");
    }
}
