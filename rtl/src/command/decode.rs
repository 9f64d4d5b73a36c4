//! Stage D: the instruction is decoded.

use super::{CommandInstruction, SystemDecoder};
use crate::core::{AluDecoder, Decoder};
use crate::types::BSource;
use hermes_hdl::prelude::*;

/// Decodes RV32IM_Zbb_Zicsr_Zifencei with machine mode, and A where it is, for the command
/// processor, and finds the target of `jal` and of branches.
///
/// Combinational. An instruction that is not one of these raises exception 2. A
/// `jal` and a branch backward ask for the target to be fetched next (`redirects`, `target`): a
/// branch backward is predicted as taken, one forward as not taken.
#[derive(LogicBlock)]
#[new(queues: bool, compares: bool)]
pub struct CommandDecode {
    /// The instruction word; ignored with `error`.
    pub word: Signal<In, Bits<32>>,
    /// Hart of the instruction.
    pub hart: Signal<In, Bits<3>>,
    /// PC of the instruction, bits 31:2.
    pub pc: Signal<In, Bits<30>>,
    /// Channels of user-level interrupts of a hart; 0: none; constant.
    pub channels: Signal<In, Bits<4>>,
    /// There are atomic instructions; constant.
    pub atomics: Signal<In, Bit>,
    /// There is a data cache, and so `muncached`; constant.
    pub cached: Signal<In, Bit>,
    /// The word is one of CP_EXECUTE.
    pub debug: Signal<In, Bit>,
    /// There is no word: its line could not be read, or there is no memory at the PC.
    pub error: Signal<In, Bit>,
    /// First source register; 0 when the instruction has none.
    pub rs1: Signal<Out, Bits<5>>,
    /// Second source register; 0 when the instruction has none.
    pub rs2: Signal<Out, Bits<5>>,
    /// The instruction, for stage R.
    pub decoded: Signal<Out, CommandInstruction>,
    /// The hart goes on at `target`.
    pub redirects: Signal<Out, Bit>,
    /// PC + immediate, bits 31:2.
    pub target: Signal<Out, Bits<30>>,
    #[init(Decoder::new(compares))]
    decoder: Decoder,
    #[init(SystemDecoder::new(queues))]
    system: SystemDecoder,
    alu: AluDecoder,
}

impl CommandDecode {
    /// The decoder; `queues`: there are command queues, `compares`: compare-and-swap.
    pub fn new(queues: bool, compares: bool) -> Self {
        Self::wired(queues, compares)
    }
}

impl Logic for CommandDecode {
    #[hdl_gen]
    fn update(&mut self) {
        self.decoder.instruction.next = self.system.plain.val();
        self.decoder.exit.next = false;
        self.decoder.voided.next = false;
        self.decoder.small_registers.next = false;
        self.decoder.aes_enabled.next = false;
        self.decoder.atomics_enabled.next = self.atomics.val();
        self.system.instruction.next = self.word.val();
        self.system.channels.next = self.channels.val();
        self.system.cached.next = self.cached.val();
        self.system.debug.next = self.debug.val();
        self.alu.operation.next = self.decoder.operation.val();

        // The divide unit of the cores also counts bits.
        let count = self.decoder.controls.divide.val() & !self.decoder.controls.funct3.val().get_bit(2);
        let divide = self.decoder.controls.divide.val() & self.decoder.controls.funct3.val().get_bit(2);
        let mut fault = self.decoder.fault.val();
        let mut cause = bits::<5>(2);
        if self.system.known.val() {
            fault = self.system.fault.val();
            cause = self.system.cause.val();
        }
        if self.error.val() {
            fault = true;
            cause = bits::<5>(1);
        }
        let there = !fault & !self.system.known.val();
        let has_rd = self.system.csr.val() | self.system.monitor.val() | self.system.page.val();
        let sum = (bit_cast::<32, 30>(self.pc.val()) << 2) + self.decoder.controls.immediate.val();
        let backward = self.decoder.controls.branch.val() & self.word.val().get_bit(31);
        let predicted = !fault & (self.decoder.controls.jump.val() | backward);
        self.rs1.next = self.decoder.query.rs1.val();
        self.rs2.next = self.decoder.query.rs2.val();
        self.redirects.next = predicted;
        self.target.next = sum.get_bits::<30>(2);

        self.decoded.next.hart = self.hart.val();
        self.decoded.next.pc = self.pc.val();
        self.decoded.next.word = self.word.val();
        self.decoded.next.debug = self.debug.val();
        self.decoded.next.rd = bits::<5>(0);
        if there | (!fault & has_rd) {
            self.decoded.next.rd = self.decoder.controls.rd.val();
        }
        self.decoded.next.control = self.alu.control.val();
        self.decoded.next.takes_immediate = self.decoder.arithmetic.b_source.val() == BSource::Immediate;
        self.decoded.next.immediate = self.decoder.controls.immediate.val();
        if self.decoder.controls.branch.val() | self.decoder.controls.jump.val() | self.decoder.a_is_pc.val()
        {
            self.decoded.next.immediate = sum;
        }
        self.decoded.next.branch = there & self.decoder.controls.branch.val();
        self.decoded.next.predicted = predicted;
        self.decoded.next.jump = there & self.decoder.controls.jump.val();
        self.decoded.next.jump_register = there & self.decoder.controls.jump_register.val();
        self.decoded.next.load = there & self.decoder.controls.load.val() & !self.decoder.query.atomic.val();
        self.decoded.next.store =
            (there | (!fault & self.system.signal.val())) & self.decoder.controls.store.val();
        self.decoded.next.atomic = there & self.decoder.query.atomic.val();
        self.decoded.next.count = there & count;
        self.decoded.next.multiply = there & self.decoder.controls.multiply.val();
        self.decoded.next.divide = there & divide;
        self.decoded.next.late = (there
            & (self.decoder.controls.multiply.val()
                | (self.decoder.controls.load.val() & !self.decoder.query.atomic.val())))
            | (!fault & self.system.page.val());
        self.decoded.next.release = !fault & self.system.release.val();
        self.decoded.next.acquire = (!fault & self.system.acquire.val())
            | (there & self.decoder.query.atomic.val() & self.word.val().get_bit(26));
        self.decoded.next.refetch = !fault & self.system.refetch.val();
        self.decoded.next.csr = !fault & self.system.csr.val();
        self.decoded.next.csr_write = !fault & self.system.csr_write.val();
        self.decoded.next.monitor = !fault & self.system.monitor.val();
        self.decoded.next.leave = !fault & self.system.leave.val();
        self.decoded.next.page = !fault & self.system.page.val();
        self.decoded.next.trap_return = !fault & self.system.trap_return.val();
        self.decoded.next.sleep = !fault & self.system.sleep.val();
        self.decoded.next.fault = fault;
        self.decoded.next.cause = cause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::settle;

    fn decode(word: u32, pc: u32, error: bool) -> CommandDecode {
        let mut unit = CommandDecode::new(false, false);
        unit.word.next = u64::from(word).into();
        unit.pc.next = u64::from(pc >> 2).into();
        unit.error.next = error;
        settle(&mut unit);
        unit
    }

    #[test]
    fn what_is_not_there_raises_an_exception() {
        for (word, cause) in [
            (0x0000_0000, Some(2)),
            (0x02b5_0533, None),    // mul a0, a0, a1
            (0x02b5_1533, None),    // mulh
            (0x02b5_4533, None),    // div
            (0x02b5_7533, None),    // remu
            (0x1005_252f, Some(2)), // lr.w
            (0x22b5_0533, Some(2)), // aes32esi
            (0x0000_100b, Some(2)), // custom-0
            (0x3400_2573, None),    // csrr a0, mscratch
            (0x3060_2573, Some(2)), // csrr a0, mcounteren
            (0x0000_0073, Some(11)),
            (0x0010_0073, Some(3)),
            (0x6005_1513, None), // clz a0, a0
            (0x6025_1513, None), // cpop a0, a0
            (0x0000_100f, None), // fence.i
            (0x0005_2503, None), // lw a0, 0(a0)
        ] {
            let unit = decode(word, 0x1000, false);
            let decoded = unit.decoded.val();
            assert_eq!(decoded.fault.then(|| decoded.cause.to_u32()), cause, "{word:#010x}");
            if cause.is_some() {
                let acts =
                    decoded.load | decoded.store | decoded.branch | decoded.jump | decoded.jump_register;
                assert!(!acts && !decoded.rd.any() && !unit.redirects.val(), "{word:#010x}");
            }
        }
        let unit = decode(0x0005_2503, 0x1000, true);
        assert!(unit.decoded.val().fault && !unit.decoded.val().load);
        assert_eq!(unit.decoded.val().cause.to_u32(), 1);
    }

    #[test]
    fn jumps_and_branches_backward_redirect() {
        for (word, redirects, target) in [
            (0xff1f_f06f, true, 0xff0u64), // j -16
            (0x0100_006f, true, 0x1010),   // j 16
            (0xfe00_0ce3, true, 0xff8),    // beqz zero, -8
            (0x0000_0463, false, 0x1008),  // beqz zero, 8
            (0x0005_0067, false, 0x1000),  // jr a0
            (0xff05_0513, false, 0xff0),   // addi a0, a0, -16
        ] {
            let unit = decode(word, 0x1000, false);
            assert_eq!(unit.redirects.val(), redirects, "{word:#010x}");
            assert_eq!(unit.decoded.val().predicted, redirects, "{word:#010x}");
            assert_eq!(unit.target.val().to_u64() << 2, target, "{word:#010x}");
        }
    }

    #[test]
    fn atomic_operations_where_they_are() {
        for (word, legal) in [
            (0x1005_252f_u32, true), // lr.w a0, (a0)
            (0x1405_252f, true),     // lr.w.aq
            (0x18b5_252f, true),     // sc.w a0, a1, (a0)
            (0x00b5_252f, true),     // amoadd.w
            (0xe4b5_252f, true),     // amomaxu.w.aq
            (0x10b5_252f, false),    // lr.w with rs2
            (0x00b5_352f, false),    // amoadd.d
        ] {
            let mut unit = CommandDecode::new(false, false);
            unit.word.next = u64::from(word).into();
            unit.atomics.next = true;
            settle(&mut unit);
            let decoded = unit.decoded.val();
            assert_eq!((decoded.atomic, decoded.fault), (legal, !legal), "{word:#010x}");
            assert_eq!(decoded.acquire, legal && word >> 26 & 1 == 1, "{word:#010x}");
            assert!(!decoded.load && !decoded.store && !decoded.late, "{word:#010x}");
            assert_eq!(decoded.rd.to_u32(), if legal { 10 } else { 0 });
        }
    }

    #[test]
    fn counts_are_no_divisions() {
        let unit = decode(0x6015_1513, 0x1000, false); // ctz a0, a0
        assert!(unit.decoded.val().count && unit.decoded.val().rd.to_u32() == 10);
        assert!(!unit.decoded.val().divide && !unit.decoded.val().late);
        let unit = decode(0x02b5_4533, 0x1000, false); // div a0, a0, a1
        assert!(unit.decoded.val().divide && !unit.decoded.val().count && !unit.decoded.val().late);
        let unit = decode(0x02b5_1533, 0x1000, false); // mulh a0, a0, a1
        assert!(unit.decoded.val().multiply && unit.decoded.val().late);
        let unit = decode(0x1234_5517, 0x1000, false); // auipc a0, 0x12345
        assert_eq!(unit.decoded.val().immediate.to_u32(), 0x1234_6000);
    }
}
