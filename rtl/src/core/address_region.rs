//! Which memory a line of the address space belongs to.

use super::WINDOWS;
use crate::config::SCRATCHPAD_ADDRESS;
use hermes_hdl::prelude::*;

/// Whether an address belongs to the scratchpad, and whether it is in one of the windows of
/// [`AccessWindow`](super::AccessWindow).
///
/// Combinational; both outputs are low while `enable` is low. The address is the sum of an operand
/// and an immediate, modulo 2^32. It is not compared with a bound, which would wait for the sum:
/// the operand is added to the distance from the bound to the immediate instead. With `carry` the
/// sum's carry, `borrow` the sign of the distance and `passes` the carry of operand and distance,
/// the address is not below the bound if two of `passes`, not `carry` and not `borrow` hold. Bounds
/// are multiples of 64, so the low six bits of operand and distance have the carry of those of
/// operand and immediate.
#[derive(LogicBlock)]
pub struct AddressRegion {
    /// The lane accesses memory; else both outputs are low.
    pub enable: Signal<In, Bit>,
    /// The address, bits 31:14.
    pub block: Signal<In, Bits<18>>,
    /// The operand, bits 31:6.
    pub operand: Signal<In, Bits<26>>,
    /// The sum of the low six bits of operand and immediate is 64 or more.
    pub low_carry: Signal<In, Bit>,
    /// The sum of operand and immediate, unsigned, is 2^32 or more.
    pub carry: Signal<In, Bit>,
    /// The immediate, unsigned, minus the first byte of the window, bits 32:6. The topmost bit is
    /// the sign.
    #[count(WINDOWS)]
    pub from_base: Vec<Signal<In, Bits<27>>>,
    /// The same for the byte after the window.
    #[count(WINDOWS)]
    pub from_end: Vec<Signal<In, Bits<27>>>,
    /// The address belongs to the scratchpad.
    pub scratchpad: Signal<Out, Bit>,
    /// The address is in a window.
    pub window: Signal<Out, Bit>,
    #[init(Constant::new(u64::from(SCRATCHPAD_ADDRESS >> 14).into()))]
    scratchpad_block: Constant<Bits<18>>,
}

impl Logic for AddressRegion {
    #[hdl_gen]
    fn update(&mut self) {
        self.scratchpad.next = false;
        // Bit 0 of the wide numbers generates the low carry.
        let wide_operand = (bit_cast::<28, 26>(self.operand.val()) << 1) | bits::<28>(1);
        let mut base = bits::<27>(0);
        let mut end = bits::<27>(0);
        let mut wide_base = bits::<28>(0);
        let mut wide_end = bits::<28>(0);
        let mut passes_base = false;
        let mut passes_end = false;
        let mut from = false;
        let mut beyond = false;
        let mut inside = false;
        if self.enable.val() {
            self.scratchpad.next = self.block.val() == self.scratchpad_block.val();
            for i in 0..WINDOWS {
                base = self.from_base[i].val();
                end = self.from_end[i].val();
                wide_base = (bit_cast::<28, 26>(base.get_bits::<26>(0)) << 1)
                    | bit_cast::<28, 1>(self.low_carry.val().into());
                wide_end = (bit_cast::<28, 26>(end.get_bits::<26>(0)) << 1)
                    | bit_cast::<28, 1>(self.low_carry.val().into());
                passes_base = (wide_operand + wide_base).get_bit(27);
                passes_end = (wide_operand + wide_end).get_bit(27);
                from = (passes_base & (!self.carry.val() | !base.get_bit(26)))
                    | (!self.carry.val() & !base.get_bit(26));
                beyond = (passes_end & (!self.carry.val() | !end.get_bit(26)))
                    | (!self.carry.val() & !end.get_bit(26));
                inside |= from & !beyond;
            }
        }
        self.window.next = inside;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::access_window::distance;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;

    #[test]
    fn addresses_in_windows_and_scratchpad() {
        let mut random = hermes_hdl::testing::random();
        let mut unit = AddressRegion::default();
        const LAST: u64 = 0x3ff_ffff;
        let scratchpad = u64::from(SCRATCHPAD_ADDRESS >> 6);
        let bounds = [0, 1, 0x100, 0x101, scratchpad, LAST - 1, LAST];
        for _ in 0..5_000 {
            let immediate = match random.gen_range(0..4) {
                0 => 0,
                1 => random.gen_range(-0x800..0x800),
                _ => random.gen_range(-4..4),
            } as u32;
            let windows: [(u64, u64); WINDOWS] = std::array::from_fn(|_| {
                let base = bounds[random.gen_range(0..bounds.len())];
                let size = [0, 1, 0x100, LAST - base, LAST + 1 - base][random.gen_range(0..5)];
                (base, (base + size).min(LAST + 1))
            });
            for (i, &(base, end)) in windows.iter().enumerate() {
                unit.from_base[i].next = distance(immediate, base);
                unit.from_end[i].next = distance(immediate, end);
            }
            let near =
                [windows[0].0, windows[0].1, windows[1].0, windows[1].1, scratchpad, scratchpad + 0x100];
            let address = match random.gen_range(0..8) {
                0 => random.gen::<u32>(),
                i => ((near[i % near.len()] << 6) as u32).wrapping_add(random.gen_range(-66..66) as u32),
            };
            let operand = address.wrapping_sub(immediate);
            unit.operand.next = bits(u64::from(operand >> 6));
            unit.low_carry.next = (operand & 63) + (immediate & 63) > 63;
            unit.carry.next = operand.checked_add(immediate).is_none();
            unit.block.next = bits(u64::from(address >> 14));
            unit.enable.next = true;
            assert!(simulate(&mut unit, 10));
            let line = u64::from(address >> 6);
            let inside = windows.iter().any(|&(base, end)| (base..end).contains(&line));
            assert_eq!(
                unit.window.val(),
                inside,
                "{operand:#x} + {immediate:#x} = {address:#x} windows {windows:x?}"
            );
            assert_eq!(
                unit.scratchpad.val(),
                (scratchpad..scratchpad + 0x100).contains(&line),
                "address {address:#x}"
            );
            unit.enable.next = false;
            assert!(simulate(&mut unit, 10));
            assert!(!unit.window.val() && !unit.scratchpad.val());
        }
    }
}
