//! Which memory a line of the address space belongs to.

use super::WINDOWS;
use crate::config::SCRATCHPAD_ADDRESS;
use crate::prelude::*;

/// Tells whether a line belongs to the scratchpad and whether it is in one of the windows of [`AccessWindow`](super::AccessWindow).
///
/// Combinational; both outputs are low while `enable` is low. The bounds are checked by the signs of differences: as `<` or `>=`, synthesis
/// may add a comparison for equality to each. With 28 bits that to the end covers what bit 26 of it says, too.
#[derive(LogicBlock)]
pub struct AddressRegion {
    /// The line is wanted.
    pub enable: Signal<In, Bit>,
    /// Line address: bits 31:6.
    pub line: Signal<In, Bits<26>>,
    /// First line of the window.
    pub window_base: Vec<Signal<In, Bits<26>>>,
    /// Line after the window: its first line if it has none; bit 26 is set if it ends with the address space.
    pub window_end: Vec<Signal<In, Bits<27>>>,
    /// The line belongs to the scratchpad.
    pub scratchpad: Signal<Out, Bit>,
    /// The line is in a window.
    pub window: Signal<Out, Bit>,
    scratchpad_block: Constant<Bits<18>>,
    base: Signal<Local, Bits<26>>,
    end: Signal<Local, Bits<27>>,
    from_base: Signal<Local, Bits<27>>,
    from_end: Signal<Local, Bits<28>>,
    inside: Signal<Local, Bit>,
}

impl Default for AddressRegion {
    fn default() -> Self {
        Self {
            enable: Signal::default(),
            line: Signal::default(),
            window_base: vec![Signal::default(); WINDOWS],
            window_end: vec![Signal::default(); WINDOWS],
            scratchpad: Signal::default(),
            window: Signal::default(),
            scratchpad_block: Constant::new(u64::from(SCRATCHPAD_ADDRESS >> 14).into()),
            base: Signal::default(),
            end: Signal::default(),
            from_base: Signal::default(),
            from_end: Signal::default(),
            inside: Signal::default(),
        }
    }
}

impl Logic for AddressRegion {
    #[hdl_gen]
    fn update(&mut self) {
        self.scratchpad.next = false;
        self.base.next = bits::<26>(0);
        self.end.next = bits::<27>(0);
        self.from_base.next = bits::<27>(0);
        self.from_end.next = bits::<28>(0);
        self.inside.next = false;
        if self.enable.val() {
            self.scratchpad.next = self.line.val().get_bits::<18>(8) == self.scratchpad_block.val();
            for i in 0..WINDOWS {
                self.base.next = self.window_base[i].val();
                self.end.next = self.window_end[i].val();
                self.from_base.next =
                    bit_cast::<27, 26>(self.line.val()) - bit_cast::<27, 26>(self.base.val());
                self.from_end.next = bit_cast::<28, 26>(self.line.val()) - bit_cast::<28, 27>(self.end.val());
                self.inside.next =
                    self.inside.val() | (!self.from_base.val().get_bit(26) & self.from_end.val().get_bit(27));
            }
        }
        self.window.next = self.inside.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::equivalence::check_with;
    use rand::Rng;
    use rust_hdl::prelude::simulate;

    #[test]
    fn lines_of_windows_and_scratchpad() {
        let mut random = crate::testing::random();
        let mut unit = AddressRegion::default();
        unit.connect_all();
        unit.enable.next = true;
        const LAST: u64 = 0x3ff_ffff;
        let scratchpad = u64::from(SCRATCHPAD_ADDRESS >> 6);
        let bounds = [0, 1, 0x100, 0x101, scratchpad, LAST - 1, LAST];
        for _ in 0..3_000 {
            let windows: [(u64, u64); WINDOWS] = std::array::from_fn(|_| {
                let base = bounds[random.gen_range(0..bounds.len())];
                // Also beyond the address space.
                let size = [0, 1, 0x100, LAST - base, LAST + 1 - base, LAST][random.gen_range(0..6)];
                (base, base + size)
            });
            for (i, &(base, end)) in windows.iter().enumerate() {
                unit.window_base[i].next = bits(base);
                unit.window_end[i].next = bits(end);
            }
            let near =
                [windows[0].0, windows[0].1, windows[1].0, windows[1].1, scratchpad, scratchpad + 0x100];
            let line = match random.gen_range(0..8) {
                0 => random.gen::<u64>() & LAST,
                i => near[i % near.len()].wrapping_add(random.gen_range(0..3)).wrapping_sub(1) & LAST,
            };
            unit.line.next = bits(line);
            unit.enable.next = true;
            assert!(simulate(&mut unit, 10));
            let inside = windows.iter().any(|&(base, end)| (base..end).contains(&line));
            assert_eq!(unit.window.val(), inside, "line {line:#x} windows {windows:x?}");
            assert_eq!(
                unit.scratchpad.val(),
                (scratchpad..scratchpad + 0x100).contains(&line),
                "line {line:#x}"
            );
            unit.enable.next = false;
            assert!(simulate(&mut unit, 10));
            assert!(!unit.window.val() && !unit.scratchpad.val());
        }
    }

    #[test]
    fn equals_its_verilog() {
        check_with(AddressRegion::default(), 10_000, |unit, random, _| {
            // Close to the bounds, on which it depends.
            let bound = random() & 0x3ff_ffff;
            unit.line.next = bits((bound + random() % 4) & 0x3ff_ffff);
            for (base, end) in unit.window_base.iter_mut().zip(&mut unit.window_end) {
                base.next = bits((bound + random() % 3) & 0x3ff_ffff);
                end.next = bits((bound + random() % 5) & 0x7ff_ffff);
            }
            if random() % 4 == 0 {
                unit.line.next = bits(u64::from(SCRATCHPAD_ADDRESS >> 6) ^ (1 << (random() % 26)));
            }
        });
    }
}
