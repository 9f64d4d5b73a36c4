//! Where a network function may fetch its instructions.

use crate::ports::FetchAddress;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Finds instructions that a guarded network function may not fetch.
///
/// 1. `outside` is combinational and belongs to stage I: with `guarded` the line of the PC is not
///    in `base` to `base` + `size`, which are read window 1. The boot region, which belongs to the
///    core, is never outside.
/// 2. A window that reaches beyond the address space ends with it. A change of `base` or `size`
///    takes effect a cycle later.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct FetchWindow {
    /// From the core's context: the network function is guarded.
    pub guarded: Signal<In, Bit>,
    /// From the core's context: first line of read window 1.
    pub base: Signal<In, LineAddress>,
    /// Lines of read window 1.
    pub size: Signal<In, Bits<26>>,
    /// The instruction in stage I.
    pub fetched: FetchAddress,
    /// Stage I: the instruction must not be fetched.
    pub outside: Signal<Out, Bit>,
    first: Register<LineAddress>,
    end: Register<Bits<27>>,
}

impl Logic for FetchWindow {
    #[hdl_gen]
    fn update(&mut self) {
        self.first.d.next = self.base.val();
        self.end.d.next = bit_cast::<27, 26>(self.base.val()) + bit_cast::<27, 26>(self.size.val());
        let line = self.fetched.pc.val().get_bits::<26>(4);
        let is_inside = (line >= self.first.q.val()) & (bit_cast::<27, 26>(line) < self.end.q.val());
        self.outside.next = self.guarded.val() & !self.fetched.boot.val() & !is_inside;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, settle, tick};
    use rand::Rng;

    #[test]
    fn only_read_window_1_and_the_boot_region() {
        let mut random = random();
        let mut unit = FetchWindow::default();
        let (mut inside, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let base = random.gen_range(0..1u64 << 26) >> random.gen_range(0..24);
            let size = random.gen_range(0..1u64 << 26) >> random.gen_range(0..26);
            // Lines at the edges of the window, and others.
            let line = match random.gen_range(0..4) {
                0 => random.gen_range(0..1u64 << 26),
                1 => base.wrapping_add(random.gen_range(0..3)).wrapping_sub(1),
                _ => (base + size).wrapping_add(random.gen_range(0..3)).wrapping_sub(1),
            } % (1 << 26);
            let (guarded, boot) = (random.gen_bool(0.8), random.gen_bool(0.1));
            unit.base.next = base.into();
            unit.size.next = size.into();
            settle(&mut unit);
            tick!(unit);
            unit.guarded.next = guarded;
            unit.fetched.boot.next = boot;
            unit.fetched.pc.next = (line << 4 | random.gen_range(0..16)).into();
            settle(&mut unit);
            let is_inside = (base..(base + size).min(1 << 26)).contains(&line);
            assert_eq!(unit.outside.val(), guarded && !boot && !is_inside, "{base:#x} {size:#x} {line:#x}");
            inside += u32::from(is_inside);
            refused += u32::from(unit.outside.val());
        }
        assert!(inside > 4_000 && refused > 4_000, "{inside} {refused}");
    }
}
