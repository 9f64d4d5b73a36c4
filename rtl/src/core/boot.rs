//! The boot sequence that every thread runs in front of its kernel.

use hermes_hdl::prelude::*;

/// Where a warp starts: the boot sequence, in the topmost 256 bytes of the address space, which
/// belong to the core.
pub const BOOT_ADDRESS: u32 = 0xffff_ff00;

/// The words of the boot sequence, by the register that each one sets.
pub mod boot_word {
    /// packetIdx.
    pub const A0: u64 = 0;
    /// The slot address.
    pub const A1: u64 = 1;
    /// The argument block.
    pub const A2: u64 = 2;
    /// The top of the stack.
    pub const SP: u64 = 3;
    /// EXIT: the last word.
    pub const RA: u64 = 4;
}

/// Instructions of the topmost 256 bytes of the address space.
///
/// Word 0 on sets the registers of the calling convention (docs/architecture.md) by reading the
/// core's CSRs: `a0` = packetIdx, `a1` = slot address, `a2` = argument block, `sp` = top of the
/// thread's stack, `ra` = EXIT. `last` marks the word after which the kernel's entry follows. The
/// last word of the region is EXIT; `exit` is high for it. The words in between are zero, which is
/// an illegal instruction.
///
/// Combinational.
#[derive(LogicBlock, Default)]
pub struct BootRom {
    /// Word of the region: bits 7:2 of the PC.
    pub word: Signal<In, Bits<6>>,
    /// Instruction that `word` holds.
    pub instruction: Signal<Out, Bits<32>>,
    /// The kernel's entry comes next.
    pub last: Signal<Out, Bit>,
    /// The word is EXIT: the thread stores its verdict and ends.
    pub exit: Signal<Out, Bit>,
}

impl Logic for BootRom {
    #[hdl_gen]
    fn update(&mut self) {
        self.instruction.next = bits::<32>(0);
        if self.word.val() == bits::<6>(boot_word::A0) {
            // csrr a0, packetIdx
            self.instruction.next = bits::<32>(0xcc00_2573_u64);
        }
        if self.word.val() == bits::<6>(boot_word::A1) {
            // csrr a1, slot address
            self.instruction.next = bits::<32>(0xcc40_25f3_u64);
        }
        if self.word.val() == bits::<6>(boot_word::A2) {
            // csrr a2, argument block
            self.instruction.next = bits::<32>(0xcc50_2673_u64);
        }
        if self.word.val() == bits::<6>(boot_word::SP) {
            // csrr sp, top of the stack
            self.instruction.next = bits::<32>(0xcc60_2173_u64);
        }
        if self.word.val() == bits::<6>(boot_word::RA) {
            // addi ra, x0, -4: the EXIT address
            self.instruction.next = bits::<32>(0xffc0_0093_u64);
        }
        self.last.next = self.word.val() == bits::<6>(boot_word::RA);
        self.exit.next = self.word.val().all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EXIT_ADDRESS;
    use hermes_hdl::prelude::simulate;

    #[test]
    fn words_are_the_calling_convention() {
        let mut rom = BootRom::default();
        let csrr = |rd: u64, csr: u64| csr << 20 | 2 << 12 | rd << 7 | 0x73;
        let words = [csrr(10, 0xcc0), csrr(11, 0xcc4), csrr(12, 0xcc5), csrr(2, 0xcc6), 0xffc0_0093];
        for word in 0..64 {
            rom.word.next = bits::<6>(word);
            assert!(simulate(&mut rom, 10));
            let expected = words.get(word as usize).copied().unwrap_or(0);
            assert_eq!(u64::from(rom.instruction.val()), expected, "word {word}");
            assert_eq!(rom.last.val(), word == 4);
            assert_eq!(rom.exit.val(), BOOT_ADDRESS + 4 * word as u32 == EXIT_ADDRESS);
        }
    }
}
