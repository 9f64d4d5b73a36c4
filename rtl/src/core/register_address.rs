//! Where a warp's register stands in the register file.

use hermes_hdl::prelude::*;

/// Address of a register in the 512 registers of a lane: 16 warps of 32 registers or 32 warps of
/// 16.
///
/// Combinational.
#[derive(LogicBlock, Default)]
pub struct RegisterAddress {
    /// Warp slot, below 16 for kernels with 32 registers.
    pub slot: Signal<In, Bits<5>>,
    /// Register, below 16 for kernels with 16 registers.
    pub register: Signal<In, Bits<5>>,
    /// The kernel has 16 registers (RV32E).
    pub small_registers: Signal<In, Bit>,
    /// Address of the register.
    pub address: Signal<Out, Bits<9>>,
}

impl Logic for RegisterAddress {
    #[hdl_gen]
    fn update(&mut self) {
        self.address.next =
            (bit_cast::<9, 5>(self.slot.val()) << bits::<3>(5)) | bit_cast::<9, 5>(self.register.val());
        if self.small_registers.val() {
            self.address.next =
                (bit_cast::<9, 5>(self.slot.val()) << bits::<3>(4)) | bit_cast::<9, 5>(self.register.val());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::prelude::simulate;

    #[test]
    fn every_register_of_every_warp_has_its_own_address() {
        let mut unit = RegisterAddress::default();
        for (small, slots, registers) in [(false, 16, 32), (true, 32, 16)] {
            let mut seen = [false; 512];
            unit.small_registers.next = small;
            for slot in 0..slots {
                for register in 0..registers {
                    unit.slot.next = bits::<5>(slot);
                    unit.register.next = bits::<5>(register);
                    assert!(simulate(&mut unit, 10));
                    let address = unit.address.val().index();
                    assert!(!seen[address], "{address}");
                    seen[address] = true;
                }
            }
        }
    }
}
