//! Decoder of the instructions that only the command processor has.

use crate::prelude::*;

/// Decides on the instructions that the command processor executes otherwise than the cores: those
/// of opcodes 0x73 (`ecall`, `ebreak`, CSRs) and 0x0f (`fence`, `fence.i`).
///
/// Combinational. `known` says whether the word is one of these; if not, the other outputs are low
/// and [`Decoder`](crate::core::Decoder) decides. There are no CSRs yet: their instructions are
/// illegal, and so are `mret` and `wfi`.
#[derive(LogicBlock, Default)]
pub struct SystemDecoder {
    /// The instruction word.
    pub instruction: Signal<In, Bits<32>>,
    /// It is for this unit to decide.
    pub known: Signal<Out, Bit>,
    /// It waits until the stores of the hart are acknowledged: `fence` with writes before it, or
    /// `fence.i`.
    pub release: Signal<Out, Bit>,
    /// `fence.i`: the instruction cache is emptied, and what comes next is fetched again.
    pub refetch: Signal<Out, Bit>,
    /// It raises an exception.
    pub fault: Signal<Out, Bit>,
    /// Cause of the exception: 2 illegal instruction, 3 breakpoint, 11 environment call.
    pub cause: Signal<Out, Bits<5>>,
}

impl Logic for SystemDecoder {
    #[hdl_gen]
    fn update(&mut self) {
        let opcode = self.instruction.val().get_bits::<7>(0);
        let funct3 = self.instruction.val().get_bits::<3>(12);
        self.known.next = false;
        self.release.next = false;
        self.refetch.next = false;
        self.fault.next = false;
        self.cause.next = bits::<5>(2);
        if opcode == bits::<7>(0x73) {
            self.known.next = true;
            self.fault.next = true;
            if self.instruction.val() == bits::<32>(0x0000_0073) {
                self.cause.next = bits::<5>(11);
            }
            if self.instruction.val() == bits::<32>(0x0010_0073) {
                self.cause.next = bits::<5>(3);
            }
        } else if opcode == bits::<7>(0x0f) {
            self.known.next = true;
            if funct3 == bits::<3>(0) {
                // Output and memory writes before the fence: nothing else leaves a hart unordered.
                self.release.next = self.instruction.val().get_bit(24) | self.instruction.val().get_bit(26);
            } else if funct3 == bits::<3>(1) {
                self.release.next = true;
                self.refetch.next = true;
            } else {
                self.fault.next = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::settle;

    /// known, release, refetch, cause of an exception
    fn decode(word: u32) -> (bool, bool, bool, Option<u32>) {
        let mut unit = SystemDecoder::default();
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
            (0x3020_0073, (true, false, false, Some(2))),  // mret
            (0x1050_0073, (true, false, false, Some(2))),  // wfi
            (0x3400_2573, (true, false, false, Some(2))),  // csrr a0, mscratch
            (0xc000_2573, (true, false, false, Some(2))),  // csrr a0, cycle
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
}
