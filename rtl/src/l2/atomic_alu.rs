//! What an atomic operation makes of a word.

use crate::types::riscv::funct5;
use hermes_hdl::prelude::*;

/// The word that an atomic operation writes, from the word that was there and the operand.
///
/// `operation` is the field [`funct5`] of the instruction; `sc.w`, and what has no operation of its
/// own, gives the operand. Combinational.
#[derive(Clone, Default, LogicBlock)]
pub struct AtomicAlu {
    /// Operation, as in [`funct5`].
    pub operation: Signal<In, Bits<5>>,
    /// The word in memory.
    pub old: Signal<In, Bits<32>>,
    /// Operand of the operation.
    pub operand: Signal<In, Bits<32>>,
    /// The word to write.
    pub result: Signal<Out, Bits<32>>,
}

impl Logic for AtomicAlu {
    #[hdl_gen]
    fn update(&mut self) {
        // Signed numbers are compared as unsigned ones with inverted sign bits.
        let mut sign = bits::<32>(0x8000_0000_u64);
        if self.operation.val().get_bit(3) {
            sign = bits::<32>(0);
        }
        let less = (self.old.val() ^ sign) < (self.operand.val() ^ sign);
        self.result.next = self.operand.val();
        if self.operation.val().get_bit(4) {
            // Bit 2 selects the larger number, else the smaller one.
            if less != self.operation.val().get_bit(2) {
                self.result.next = self.old.val();
            }
        } else if self.operation.val() == bits::<5>(funct5::AMOADD) {
            self.result.next = self.old.val() + self.operand.val();
        } else if self.operation.val() == bits::<5>(funct5::AMOXOR) {
            self.result.next = self.old.val() ^ self.operand.val();
        } else if self.operation.val() == bits::<5>(funct5::AMOOR) {
            self.result.next = self.old.val() | self.operand.val();
        } else if self.operation.val() == bits::<5>(funct5::AMOAND) {
            self.result.next = self.old.val() & self.operand.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l2::testing::atomic_result;
    use crate::memory::testing::random;
    use crate::testing::settle;
    use rand::seq::SliceRandom;
    use rand::Rng;

    #[test]
    fn every_operation() {
        let mut rng = random("atomic_alu");
        let mut uut = AtomicAlu::default();
        let corners = [0u32, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
        for operation in [
            funct5::AMOADD,
            funct5::AMOSWAP,
            funct5::SC,
            funct5::AMOXOR,
            funct5::AMOOR,
            funct5::AMOAND,
            funct5::AMOMIN,
            funct5::AMOMAX,
            funct5::AMOMINU,
            funct5::AMOMAXU,
        ] {
            for _ in 0..200 {
                let mut word = || if rng.gen() { *corners.choose(&mut rng).unwrap() } else { rng.gen() };
                let (old, operand) = (word(), word());
                uut.operation.next = bits(operation);
                uut.old.next = bits(old.into());
                uut.operand.next = bits(operand.into());
                settle(&mut uut);
                let expected = atomic_result(operation, old, operand);
                assert_eq!(uut.result.val().to_u32(), expected, "{operation} {old:#x} {operand:#x}");
            }
        }
    }
}
