//! Which lines belong to the command rings.

use hermes_hdl::prelude::*;

/// The addresses of the rings of all queue areas, as a base and a mask of line addresses.
///
/// The areas, of `2^area_log2` bytes each, follow each other from a base that is aligned to their
/// sum. Each begins with its rings, 64 lines each. A line is one of a ring if it equals the base in
/// the bits of `mask`. `mask` follows `area_log2` by one cycle. If the area is smaller than its
/// rings, all of it are rings.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(rings_log2: usize, areas_log2: usize)]
pub struct RingWindow {
    /// Bytes of an area, as a power of two, 6 to 31.
    pub area_log2: Signal<In, Bits<5>>,
    /// Bits of a line address that are the same for all lines of rings.
    pub mask: Signal<Out, Bits<26>>,
    mask_q: Register<Bits<26>>,
    #[init(Constant::new(((1u64 << (rings_log2 + 6)) - 1).into()))]
    within_rings: Constant<Bits<26>>,
    #[init(Constant::new(((1u64 << areas_log2) - 1).into()))]
    areas: Constant<Bits<26>>,
}

impl RingWindow {
    /// For `2^areas_log2` areas with `2^rings_log2` rings each.
    ///
    /// # Panics
    /// If there are more than 1024 rings in an area or more than 8 areas.
    pub fn new(rings_log2: usize, areas_log2: usize) -> Self {
        assert!(rings_log2 <= 10, "RingWindow: 2^{rings_log2} rings, expected at most 2^10");
        assert!(areas_log2 <= 3, "RingWindow: 2^{areas_log2} areas, expected at most 2^3");
        Self::wired(rings_log2, areas_log2)
    }
}

impl Logic for RingWindow {
    #[hdl_gen]
    fn update(&mut self) {
        let area_lines_log2 = self.area_log2.val() - bits::<5>(6);
        let number_of_area = self.areas.val() << area_lines_log2;
        self.mask_q.d.next = !(self.within_rings.val() | number_of_area);
        self.mask.next = self.mask_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, tick};
    use rand::Rng;

    #[test]
    fn the_mask_finds_the_rings() {
        let mut rng = random("ring_window");
        for (rings_log2, areas_log2, area_log2) in
            [(0, 0, 13), (5, 0, 20), (8, 3, 21), (8, 1, 24), (10, 2, 23)]
        {
            let mut uut = RingWindow::new(rings_log2, areas_log2);
            reset!(uut);
            uut.area_log2.next = bits(area_log2);
            tick!(uut);
            let mask = uut.mask.val().to_u32();
            let all = 1u64 << (area_log2 + areas_log2 as u64);
            let base = rng.gen_range(0..(1u64 << 32) / all) * all;
            let is_ring = |address: u64| (address as u32 ^ base as u32) >> 6 & mask == 0;
            let mut found = 0;
            for _ in 0..5_000 {
                let near: bool = rng.gen();
                let address = if near { base + rng.gen_range(0..all) } else { rng.gen_range(0..1 << 32) };
                let within = address >= base && address < base + all;
                let expected = within && (address - base) % (1 << area_log2) < 4096 << rings_log2;
                assert_eq!(is_ring(address), expected, "{address:#x}, base {base:#x}");
                found += u32::from(expected);
            }
            assert!(found > 10, "{found}");
        }
    }
}
