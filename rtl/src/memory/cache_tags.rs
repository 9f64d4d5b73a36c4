//! Which lines a data cache holds.

use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Tags of a direct-mapped cache of `2^lines_log2` lines, with the fold of a line's address
/// ([`IndexHash`](super::IndexHash)) as its place.
///
/// 1. `hit` says combinationally whether `line` stands at its place `index`.
/// 2. `install` at an edge puts `line` there, whatever stood there before.
/// 3. `remove_valid` at an edge empties the place `remove_index`. If a line is installed there at
///    the same edge, it may stay.
/// 4. `drop` at an edge invalidates all places. A line that is installed at the same edge is
///    invalidated as well.
/// 5. After reset, and with every 64th `drop`, the tags are wiped, one place a cycle. Meanwhile
///    nothing hits and nothing is installed.
///
/// A place is full if two bits in two memories differ, of which installing changes one and removing
/// the other: so both can happen in the same cycle with one write port each. A tag carries the
/// number of invalidations before it, modulo 64.
#[clocked("empties all places")]
#[derive(Clone, LogicBlock)]
#[new(lines_log2: usize)]
pub struct CacheTags {
    /// Line to look up.
    pub line: Signal<In, LineAddress>,
    /// Place of the line in the cache.
    pub index: Signal<In, Bits<16>>,
    /// The line is in the cache.
    pub hit: Signal<Out, Bit>,
    /// Installs `line` at its place at this edge.
    pub install: Signal<In, Bit>,
    /// Empties a place at this edge.
    pub remove_valid: Signal<In, Bit>,
    /// Place to empty.
    pub remove_index: Signal<In, Bits<16>>,
    /// Invalidates all places at this edge.
    pub drop: Signal<In, Bit>,
    /// Line address (25:0) and number of invalidations (31:26).
    #[init(RamSizedAsync::new(lines_log2))]
    tags: RamSizedAsync<32>,
    #[init(RamSizedAsync::new(lines_log2))]
    installed: RamSizedAsync<1>,
    /// The same once more, with a read port for `remove_index`.
    #[init(RamSizedAsync::new(lines_log2))]
    installed_again: RamSizedAsync<1>,
    #[init(RamSizedAsync::new(lines_log2))]
    removed: RamSizedAsync<1>,
    drops: Register<Bits<6>>,
    #[init(Register::new(true))]
    wiping: Register<Bit>,
    place: Register<Bits<16>>,
    #[init(Constant::new(((1u64 << lines_log2) - 1).into()))]
    last_place: Constant<Bits<16>>,
}

impl CacheTags {
    /// Tags of `2^lines_log2` lines.
    ///
    /// # Panics
    /// If `lines_log2` is not 1 to 16.
    pub fn new(lines_log2: usize) -> Self {
        Self::wired(lines_log2)
    }
}

impl Logic for CacheTags {
    #[hdl_gen]
    fn update(&mut self) {
        let tag =
            (bit_cast::<32, 6>(self.drops.q.val()) << bits::<5>(26)) | bit_cast::<32, 26>(self.line.val());
        self.tags.read_address.next = self.index.val();
        self.installed.read_address.next = self.index.val();
        self.removed.read_address.next = self.index.val();
        self.installed_again.read_address.next = self.remove_index.val();
        self.hit.next = !self.wiping.q.val()
            && (self.installed.read_data.val() ^ self.removed.read_data.val()).any()
            && (self.tags.read_data.val() == tag);

        let mut install_enable = self.install.val();
        let mut install_index = self.index.val();
        let mut install_bit = !self.removed.read_data.val();
        let mut remove_enable = self.remove_valid.val();
        let mut remove_place = self.remove_index.val();
        let mut remove_bit = self.installed_again.read_data.val();
        if self.wiping.q.val() {
            install_enable = true;
            install_index = self.place.q.val();
            install_bit = bits::<1>(0);
            remove_enable = true;
            remove_place = self.place.q.val();
            remove_bit = bits::<1>(0);
            self.place.d.next = self.place.q.val() + bits::<16>(1);
            if self.place.q.val() == self.last_place.val() {
                self.wiping.d.next = false;
            }
        }
        if self.drop.val() {
            self.drops.d.next = self.drops.q.val() + bits::<6>(1);
            if self.drops.q.val().all() {
                // Tags of 64 invalidations before would be valid again.
                self.wiping.d.next = true;
                self.place.d.next = bits::<16>(0);
            }
        }

        self.tags.write_enable.next = self.install.val();
        self.tags.write_address.next = self.index.val();
        self.tags.write_data.next = tag;
        self.installed.write_enable.next = install_enable;
        self.installed.write_address.next = install_index;
        self.installed.write_data.next = install_bit;
        self.installed_again.write_enable.next = install_enable;
        self.installed_again.write_address.next = install_index;
        self.installed_again.write_data.next = install_bit;
        self.removed.write_enable.next = remove_enable;
        self.removed.write_address.next = remove_place;
        self.removed.write_data.next = remove_bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::HashMap;

    /// Eight lines at four places.
    fn place(line: u64) -> u64 {
        line % 4
    }

    #[test]
    fn follows_a_model() {
        let mut rng = random("cache_tags");
        let mut uut = CacheTags::new(2);
        reset!(uut);
        let mut held: HashMap<u64, u64> = HashMap::new();
        // Places that hold a line, invalidated or not.
        let mut full = [false; 4];
        // Cycles until the wiping is over, and invalidations since reset.
        let (mut wiping, mut drops) = (4, 0);
        let mut hits = 0;
        for cycle in 0..20_000 {
            let line = rng.gen_range(0..8);
            let install = rng.gen_bool(0.3);
            let removes = rng.gen_bool(0.1);
            let removed = rng.gen_range(0..4);
            let drop = rng.gen_bool(if cycle % 1000 < 900 { 0.01 } else { 0.5 });
            uut.line.next = bits(line);
            uut.index.next = bits(place(line));
            uut.install.next = install;
            uut.remove_valid.next = removes;
            uut.remove_index.next = bits(removed);
            uut.drop.next = drop;
            settle(&mut uut);
            let hit = held.get(&place(line)) == Some(&line);
            assert_eq!(uut.hit.val(), hit, "cycle {cycle}");
            hits += u32::from(hit);
            let stays = !(removes && place(line) == removed && full[removed as usize]);
            if removes {
                held.remove(&removed);
                full[removed as usize] = false;
            }
            if install && stays {
                held.insert(place(line), line);
                full[place(line) as usize] = true;
            }
            if wiping > 0 {
                held.clear();
                full = [false; 4];
                wiping -= 1;
            }
            if drop {
                held.clear();
                drops += 1;
                if drops % 64 == 0 {
                    wiping = 4;
                }
            }
            tick!(uut);
        }
        println!("{hits} hits, {drops} drops");
        assert!(hits > 1000 && drops > 640);
    }
}
