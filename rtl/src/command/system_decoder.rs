//! Decoder of the instructions that only the command processor has.

use super::{scenario, CsrMap};
use crate::types::riscv::{cause, csr, funct3, instruction, opcode};
use hermes_hdl::prelude::*;

/// Decides on the instructions that the command processor executes otherwise than the cores: those
/// of opcodes 0x73 (`ecall`, `ebreak`, `mret`, `wfi`, CSRs), 0x0f (`fence`, `fence.i`) and custom-0
/// (EMONITOR, ERETURN, SIGNAL, SIGNAL.RANGE).
///
/// Combinational. `known` says whether the word is one of these; if not, the other outputs are low
/// and [`Decoder`](crate::core::Decoder) decides. `plain` is then the word, else an instruction
/// with the same registers and immediate. [`CsrMap`] says which CSRs there are; without channels
/// (`channels` is 0) custom-0 is illegal.
///
/// | funct3 of custom-0 | | |
/// | --- | --- | --- |
/// | 0 | EMONITOR rd, rs1, rs2 | scenario in bits 31:28, channel in bits 27:25; rs1 handler, rs2 parameter |
/// | 1 | ERETURN | all other fields 0 |
/// | 2 | SIGNAL rs2, imm(rs1) | a store that waits until the hart's earlier stores are acknowledged |
/// | 3 | SIGNAL.RANGE rd, rs1 | bits 31:20 are 0; rs1 descriptor page |
#[derive(LogicBlock)]
#[new(queues: bool)]
pub struct SystemDecoder {
    /// The instruction word.
    pub instruction: Signal<In, Bits<32>>,
    /// Channels of a hart; constant.
    pub channels: Signal<In, Bits<4>>,
    /// There is a data cache; constant.
    pub cached: Signal<In, Bit>,
    /// The word is one of CP_EXECUTE.
    pub debug: Signal<In, Bit>,
    /// The instruction is for this unit to decide.
    pub known: Signal<Out, Bit>,
    /// The word for the decoder of the cores.
    pub plain: Signal<Out, Bits<32>>,
    /// The instruction waits until the stores of the hart are acknowledged: `fence` with writes
    /// before it, `fence.i`, SIGNAL, SIGNAL.RANGE, and a read of CSR 0x805.
    pub release: Signal<Out, Bit>,
    /// Later loads must see what others wrote before: `fence` with reads after it, `fence.i`.
    pub acquire: Signal<Out, Bit>,
    /// `fence.i`: the instruction cache is emptied, and what comes next is fetched again.
    pub refetch: Signal<Out, Bit>,
    /// The instruction reads a CSR.
    pub csr: Signal<Out, Bit>,
    /// The instruction writes a CSR.
    pub csr_write: Signal<Out, Bit>,
    /// EMONITOR.
    pub monitor: Signal<Out, Bit>,
    /// ERETURN.
    pub leave: Signal<Out, Bit>,
    /// The instruction is SIGNAL.
    pub signal: Signal<Out, Bit>,
    /// SIGNAL.RANGE.
    pub page: Signal<Out, Bit>,
    /// `mret`.
    pub trap_return: Signal<Out, Bit>,
    /// `wfi`.
    pub sleep: Signal<Out, Bit>,
    /// The instruction raises an exception.
    pub fault: Signal<Out, Bit>,
    /// Cause of the exception: 2 illegal instruction, 3 breakpoint, 11 environment call.
    pub cause: Signal<Out, Bits<5>>,
    map: CsrMap,
    #[init(queues)]
    _queues: bool,
}

impl SystemDecoder {
    /// The decoder; `queues`: there are command queues, and so scenario 11 of EMONITOR.
    pub fn new(queues: bool) -> Self {
        Self::wired(queues)
    }
}

impl Logic for SystemDecoder {
    #[hdl_gen]
    fn update(&mut self) {
        let opcode = self.instruction.val().get_bits::<7>(0);
        let funct3 = self.instruction.val().get_bits::<3>(12);
        let rd_only = self.instruction.val() & bits::<32>(0xf80);
        self.known.next = false;
        self.plain.next = self.instruction.val();
        self.release.next = false;
        self.acquire.next = false;
        self.refetch.next = false;
        self.csr.next = false;
        self.csr_write.next = false;
        self.monitor.next = false;
        self.leave.next = false;
        self.signal.next = false;
        self.page.next = false;
        self.trap_return.next = false;
        self.sleep.next = false;
        self.fault.next = false;
        self.cause.next = bits::<5>(cause::ILLEGAL_INSTRUCTION);
        let with_channels = self.channels.val().any();
        let number = self.instruction.val().get_bits::<12>(20);
        self.map.number.next = number;
        self.map.channels.next = self.channels.val();
        self.map.cached.next = self.cached.val();
        self.map.debug.next = self.debug.val();
        let writes =
            (funct3.get_bits::<2>(0) == bits::<2>(1)) | self.instruction.val().get_bits::<5>(15).any();
        if opcode == bits::<7>(opcode::SYSTEM) {
            self.known.next = true;
            if !funct3.get_bits::<2>(0).any() {
                self.fault.next = true;
                self.plain.next = bits::<32>(instruction::NOP);
                if self.instruction.val() == bits::<32>(instruction::MRET) {
                    self.trap_return.next = true;
                    self.fault.next = false;
                }
                if self.instruction.val() == bits::<32>(instruction::WFI) {
                    self.sleep.next = true;
                    self.fault.next = false;
                }
                if self.instruction.val() == bits::<32>(instruction::ECALL) {
                    self.cause.next = bits::<5>(cause::ECALL);
                }
                if self.instruction.val() == bits::<32>(instruction::EBREAK) {
                    self.cause.next = bits::<5>(cause::BREAKPOINT);
                }
            } else {
                self.csr.next = true;
                self.csr_write.next = writes;
                self.fault.next = !self.map.there.val() | (writes & self.map.read_only.val());
                self.release.next = number == bits::<12>(csr::SPAWNBUSY);
                // addi rd, rs1, 0 or addi rd, x0, number
                self.plain.next = (self.instruction.val() & bits::<32>(0xf_8f80)) | bits::<32>(0x13);
                if funct3.get_bit(2) {
                    self.plain.next = rd_only
                        | bits::<32>(0x13)
                        | (bit_cast::<32, 5>(self.instruction.val().get_bits::<5>(15)) << bits::<6>(20));
                }
            }
        } else if opcode == bits::<7>(opcode::MISC_MEM) {
            self.known.next = true;
            if funct3 == bits::<3>(funct3::FENCE) {
                // Output and memory writes before the fence: nothing else leaves a hart unordered.
                self.release.next = self.instruction.val().get_bit(24) | self.instruction.val().get_bit(26);
                self.acquire.next = self.instruction.val().get_bit(21);
            } else if funct3 == bits::<3>(funct3::FENCE_I) {
                self.release.next = true;
                self.acquire.next = true;
                self.refetch.next = true;
            } else {
                self.fault.next = true;
            }
        } else if with_channels & (opcode == bits::<7>(opcode::CUSTOM_0)) {
            self.known.next = true;
            if funct3 == bits::<3>(funct3::EMONITOR) {
                // add rd, rs1, rs2
                self.monitor.next = true;
                self.plain.next = (self.instruction.val() & bits::<32>(0x1ff_8f80)) | bits::<32>(0x33);
                // Scenarios 4 to 15 are reserved, but for 11 with command queues.
                self.fault.next = self.instruction.val().get_bits::<2>(30).any()
                    | (bit_cast::<4, 3>(self.instruction.val().get_bits::<3>(25)) >= self.channels.val());
                if self._queues {
                    if self.instruction.val().get_bits::<4>(28) == bits::<4>(scenario::STAGED) {
                        self.fault.next =
                            bit_cast::<4, 3>(self.instruction.val().get_bits::<3>(25)) >= self.channels.val();
                    }
                }
            } else if funct3 == bits::<3>(funct3::ERETURN) {
                self.leave.next = true;
                self.plain.next = bits::<32>(instruction::NOP);
                self.fault.next = self.instruction.val() != bits::<32>(instruction::ERETURN);
            } else if funct3 == bits::<3>(funct3::SIGNAL) {
                // sw rs2, imm(rs1)
                self.signal.next = true;
                self.release.next = true;
                self.plain.next = (self.instruction.val() & bits::<32>(0xffff_ff80_u64)) | bits::<32>(0x23);
            } else if funct3 == bits::<3>(funct3::SIGNAL_RANGE) {
                self.page.next = true;
                self.release.next = true;
                self.plain.next = (self.instruction.val() & bits::<32>(0xf_8f80)) | bits::<32>(0x13);
                self.fault.next = self.instruction.val().get_bits::<12>(20).any();
            } else {
                self.fault.next = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::settle;

    /// known, release, refetch, cause of an exception
    fn decode(word: u32) -> (bool, bool, bool, Option<u32>) {
        let mut unit = SystemDecoder::new(false);
        unit.instruction.next = u64::from(word).into();
        settle(&mut unit);
        let cause = unit.fault.val().then(|| unit.cause.val().to_u32());
        (unit.known.val(), unit.release.val(), unit.refetch.val(), cause)
    }

    #[test]
    fn its_instructions_and_no_others() {
        for (word, expected) in [
            (0x0000_0073, (true, false, false, Some(11))), // ecall
            (0x0010_0073, (true, false, false, Some(3))),  // ebreak
            (0x3020_0073, (true, false, false, None)),     // mret
            (0x1050_0073, (true, false, false, None)),     // wfi
            (0x1020_0073, (true, false, false, Some(2))),  // sret
            (0x3020_00f3, (true, false, false, Some(2))),  // mret with rd
            (0x3400_2573, (true, false, false, None)),     // csrr a0, mscratch
            (0x3050_1073, (true, false, false, None)),     // csrw mtvec, zero
            (0xc000_2573, (true, false, false, None)),     // csrr a0, cycle
            (0xc000_1573, (true, false, false, Some(2))),  // csrrw a0, cycle, zero
            (0x3060_2573, (true, false, false, Some(2))),  // csrr a0, mcounteren
            (0x8000_2573, (true, false, false, Some(2))),  // csrr a0, uliepc
            (0x0ff0_000f, (true, true, false, None)),      // fence
            (0x0220_000f, (true, false, false, None)),     // fence r, r
            (0x0230_000f, (true, false, false, None)),     // fence r, rw
            (0x0110_000f, (true, true, false, None)),      // fence w, w
            (0x0440_000f, (true, true, false, None)),      // fence o, o
            (0x0880_000f, (true, false, false, None)),     // fence i, i
            (0x8330_000f, (true, true, false, None)),      // fence.tso
            (0x0000_100f, (true, true, true, None)),       // fence.i
            (0x0000_200f, (true, false, false, Some(2))),
            (0x0000_0013, (false, false, false, None)), // nop
            (0x0000_100b, (false, false, false, None)), // custom-0
        ] {
            assert_eq!(decode(word), expected, "{word:#010x}");
        }
    }

    /// What the unit makes of a word with two channels: the outputs that are high, or the cause of
    /// an exception.
    fn with_channels(word: u32) -> (Vec<&'static str>, Option<u32>) {
        let mut unit = SystemDecoder::new(false);
        unit.instruction.next = u64::from(word).into();
        unit.channels.next = 2.into();
        settle(&mut unit);
        assert!(unit.known.val(), "{word:#010x}");
        let high = [
            ("release", unit.release.val()),
            ("csr", unit.csr.val()),
            ("csr_write", unit.csr_write.val()),
            ("monitor", unit.monitor.val()),
            ("leave", unit.leave.val()),
            ("signal", unit.signal.val()),
            ("page", unit.page.val()),
            ("trap_return", unit.trap_return.val()),
            ("sleep", unit.sleep.val()),
        ];
        let names = high.into_iter().filter(|(_, high)| *high).map(|(name, _)| name).collect();
        (names, unit.fault.val().then(|| unit.cause.val().to_u32()))
    }

    #[test]
    fn instructions_of_user_level_interrupts() {
        for (word, names) in [
            (0x12c5_850b, &["monitor"][..]), // emonitor a0, a1, a2, scenario 1, channel 1
            (0x22c5_850b, &["monitor"]),     // scenario 2
            (0x32c5_850b, &["monitor"]),     // scenario 3
            (0x0200_000b, &["monitor"]),     // disarm channel 1
            (0x0000_100b, &["leave"]),       // ereturn
            (0x00c5_a00b, &["release", "signal"]), // signal a2, 0(a1)
            (0x04c5_a00b, &["release", "signal"]), // signal a2, 64(a1)
            (0x0005_b50b, &["release", "page"]), // signal.range a0, a1
            (0x8000_2573, &["csr"]),         // csrr a0, uliepc
            (0x8020_1073, &["csr", "csr_write"]), // csrw ulipend, zero
            (0x8015_f073, &["csr", "csr_write"]), // csrci ulictl, 11
            (0x8030_2573, &["csr"]),         // csrr a0, uliarm
            (0x8310_2573, &["csr"]),         // csrr a0, 0x831
            (0x8050_2573, &["release", "csr"]), // csrr a0, spawnbusy
            (0x3050_2573, &["csr"]),         // csrr a0, mtvec
            (0x3020_0073, &["trap_return"]), // mret
            (0x1050_0073, &["sleep"]),       // wfi
        ] {
            assert_eq!(with_channels(word), (names.to_vec(), None), "{word:#010x}");
        }
        for word in [
            0x42c5_850b, // scenario 4
            0x14c5_850b, // channel 2
            0x0000_108b, // ereturn with rd
            0x0200_100b, // ereturn with funct7
            0x1005_b50b, // signal.range with bits above
            0x0000_400b, // funct3 4
            0x0000_700b, // funct3 7
            0x8030_1073, // csrw uliarm
            0x8050_1073, // csrw spawnbusy
            0x8060_2573, // csrr a0, 0x806
            0x8120_2573, // csrr a0, 0x812
            0x8101_1073, // csrw 0x810, sp
            0x3a00_2573, // csrr a0, pmpcfg0
            0x1020_0073, // sret
        ] {
            assert_eq!(with_channels(word).1, Some(2), "{word:#010x}");
        }
    }

    #[test]
    fn fences_with_reads_after_them_acquire() {
        for (word, acquires) in [
            (0x0ff0_000f_u32, true), // fence
            (0x0220_000f, true),     // fence r, r
            (0x0230_000f, true),     // fence r, rw
            (0x0010_000f, false),    // fence 0, w
            (0x0110_000f, false),    // fence w, w
            (0x0440_000f, false),    // fence o, o
            (0x8330_000f, true),     // fence.tso
            (0x0000_100f, true),     // fence.i
            (0x0000_0073, false),    // ecall
        ] {
            let mut unit = SystemDecoder::new(false);
            unit.instruction.next = u64::from(word).into();
            settle(&mut unit);
            assert_eq!(unit.acquire.val(), acquires, "{word:#010x}");
        }
    }

    #[test]
    fn scenario_11_is_there_with_command_queues() {
        for queues in [false, true] {
            for scenario in 0..16 {
                let mut unit = SystemDecoder::new(queues);
                unit.instruction.next = (scenario << 28 | 0x02c5_850b_u64).into();
                unit.channels.next = 2.into();
                settle(&mut unit);
                let there = scenario < 4 || scenario == 11 && queues;
                assert_eq!(unit.fault.val(), !there, "scenario {scenario}, command queues: {queues}");
            }
        }
    }

    #[test]
    fn the_uncached_range_is_there_with_a_data_cache() {
        for cached in [false, true] {
            let mut unit = SystemDecoder::new(false);
            unit.instruction.next = 0x7c05_1073u64.into();
            unit.cached.next = cached;
            settle(&mut unit);
            assert_eq!(unit.fault.val(), !cached);
        }
    }

    #[test]
    fn the_debug_register_is_there_for_words_of_the_host() {
        for debug in [false, true] {
            let mut unit = SystemDecoder::new(false);
            unit.instruction.next = 0x7b20_2573u64.into();
            unit.debug.next = debug;
            settle(&mut unit);
            assert_eq!(unit.fault.val(), !debug);
        }
    }

    #[test]
    fn the_plain_word_has_the_same_registers() {
        for (word, plain) in [
            (0x12c5_850b_u32, 0x00c5_8533u32), // add a0, a1, a2
            (0x04c5_a00b, 0x04c5_a023),        // sw a2, 64(a1)
            (0x0005_b50b, 0x0005_8513),        // addi a0, a1, 0
            (0x8025_9573, 0x0005_8513),        // csrrw a0, ulipend, a1
            (0x8025_d573, 0x00b0_0513),        // csrrwi a0, ulipend, 11: addi a0, x0, 11
        ] {
            let mut unit = SystemDecoder::new(false);
            unit.instruction.next = u64::from(word).into();
            unit.channels.next = 2.into();
            settle(&mut unit);
            assert_eq!(unit.plain.val().to_u32(), plain, "{word:#010x}");
        }
    }
}
