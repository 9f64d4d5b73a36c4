//! The data cache of the command processor.

use crate::blocks::WordSelect;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Lines whose valid bits stand in one register.
const GROUP: usize = 16;

/// Data cache with a part for each hart, of as many lines of 64 bytes each, direct-mapped. A hart
/// finds only what its own fills and stores put into its part, so harts are to each other what
/// cores are (decision D10, rules C4 to C6).
///
/// 1. `look_enable` in stage X looks an address up. In the next cycle, stage W, `hit` tells whether
///    the part of the hart has its line, and `word` is the word, with the bytes of a store right
///    before it.
/// 2. The other inputs of stage W are about that address. `store` writes bytes into the word, if it
///    hits; else nothing is written and no line is fetched. `remove` drops the line.
/// 3. `drop` empties the parts of harts at the edge. It goes before all else.
/// 4. `fill_valid` brings a line for the part of a hart. It is put into the line buffer, which is
///    one for all harts: if it is in use, or with `fill_error`, nothing is installed. From the next
///    cycle on `filling` of the hart is high until the last of the sixteen words is written; that
///    of a cycle is not if a store hits. The line is valid with the last word. `drop` of the hart
///    ends the fill.
/// 5. A lookup of a hart misses while its line is filled: it waits for its load then.
///
/// The memory has words as wide as a store: a store writes the whole word with its bytes changed,
/// which the load behind it needs in any case, since it reads the memory in the cycle in which the
/// store writes it.
#[clocked("the cache is empty")]
#[derive(Clone, LogicBlock)]
#[new(harts: usize, lines: usize, lines_log2: usize, harts_log2: usize)]
pub struct CommandCache {
    /// Stage X: an address is looked up.
    pub look_enable: Signal<In, Bit>,
    /// Stage X: the hart.
    pub look_hart: Signal<In, Bits<3>>,
    /// Stage X: the address.
    pub look_address: Signal<In, Bits<32>>,
    /// Stage W: the part of the hart has the line.
    pub hit: Signal<Out, Bit>,
    /// Stage W: the word at the address; with `hit`.
    pub word: Signal<Out, Bits<32>>,
    /// Stage W: the instruction is a store that retires.
    pub store: Signal<In, Bit>,
    /// Stage W: bytes of the store, in place.
    pub store_data: Signal<In, Bits<32>>,
    /// Stage W: bytes that are stored, that of bits 7:0 in bit 0.
    pub store_strobe: Signal<In, Bits<4>>,
    /// Stage W: the line is dropped from the part of the hart.
    pub remove: Signal<In, Bit>,
    /// A bit for each hart: its part is emptied.
    pub drop: Signal<In, Bits<8>>,
    /// A line comes.
    pub fill_valid: Signal<In, Bit>,
    /// The hart whose load asked for it.
    pub fill_hart: Signal<In, Bits<3>>,
    /// Line address of the line that comes.
    pub fill_line: Signal<In, LineAddress>,
    /// The line, byte 0 in bits 7:0.
    pub fill_data: Signal<In, Bits<512>>,
    /// The line could not be read.
    pub fill_error: Signal<In, Bit>,
    /// A bit for each hart: its line is being written.
    pub filling: Signal<Out, Bits<8>>,
    #[init(RamSized::new(lines_log2 + harts_log2 + 4))]
    words: RamSized<32>,
    #[init(RamSized::new(lines_log2 + harts_log2))]
    tags: RamSized<26>,
    /// A bit for each line, 16 lines in a group; the groups of hart 0 come first.
    #[count(harts * lines / GROUP)]
    valid: Vec<Register<Bits<GROUP>>>,
    // Stage W
    looked: Register<Bit>,
    hart_q: Register<Bits<3>>,
    address_q: Register<Bits<32>>,
    /// The word before was stored in the cycle in which this one was read.
    same_word: Register<Bit>,
    stored_word: Register<Bits<32>>,
    // Line buffer
    buffer_used: Register<Bit>,
    buffer_hart: Register<Bits<3>>,
    buffer_line: Register<LineAddress>,
    buffer_data: Register<Bits<512>>,
    buffer_word: Register<Bits<4>>,
    select: WordSelect,
    #[init((0..harts as u64).map(|hart| Constant::new(hart.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
    #[init((0..harts * lines / GROUP).map(|group| Constant::new((group as u64).into())).collect())]
    group: Vec<Constant<Bits<8>>>,
    /// Hart of each group.
    #[init((0..harts * lines / GROUP).map(|group| Constant::new(((group * GROUP / lines) as u64).into())).collect())]
    group_hart: Vec<Constant<Bits<3>>>,
    /// Mask of the bits of a line address that are the place in a part.
    #[init(Constant::new((lines as u64 - 1).into()))]
    place_bits: Constant<Bits<16>>,
    #[init(Constant::new((lines_log2 as u64).into()))]
    part_shift: Constant<Bits<4>>,
    #[init(harts)]
    _harts: usize,
    #[init(harts * lines / GROUP)]
    _groups: usize,
}

impl CommandCache {
    /// A cache for `harts` harts with `lines` lines each.
    ///
    /// # Panics
    /// If `harts` is not 1, 2, 4 or 8, or `lines` no power of two from 16 to 512.
    pub fn new(harts: usize, lines: usize) -> Self {
        assert!(matches!(harts, 1 | 2 | 4 | 8), "CommandCache: {harts} harts, expected 1, 2, 4 or 8");
        let possible = lines.is_power_of_two() && (16..=512).contains(&lines);
        assert!(possible, "CommandCache: {lines} lines, expected a power of two from 16 to 512");
        Self::wired(harts, lines, lines.ilog2() as usize, harts.ilog2() as usize)
    }
}

impl Logic for CommandCache {
    #[hdl_gen]
    fn update(&mut self) {
        // Stage X
        let look_line = self.look_address.val().get_bits::<26>(6);
        let look_place = bit_cast::<16, 26>(look_line) & self.place_bits.val();
        let look_entry = (bit_cast::<16, 3>(self.look_hart.val()) << self.part_shift.val()) | look_place;
        let look_word =
            (look_entry << bits::<4>(4)) | bit_cast::<16, 4>(self.look_address.val().get_bits::<4>(2));
        self.words.read_enable.next = self.look_enable.val();
        self.words.read_address.next = look_word;
        self.tags.read_enable.next = self.look_enable.val();
        self.tags.read_address.next = look_entry;
        let fills_it = self.buffer_used.q.val() & (self.buffer_hart.q.val() == self.look_hart.val());
        self.looked.d.next = self.look_enable.val() & !fills_it;
        if self.look_enable.val() {
            self.hart_q.d.next = self.look_hart.val();
            self.address_q.d.next = self.look_address.val();
        }

        // Stage W
        let line = self.address_q.q.val().get_bits::<26>(6);
        let place = bit_cast::<16, 26>(line) & self.place_bits.val();
        let entry = (bit_cast::<16, 3>(self.hart_q.q.val()) << self.part_shift.val()) | place;
        let word_address =
            (entry << bits::<4>(4)) | bit_cast::<16, 4>(self.address_q.q.val().get_bits::<4>(2));
        let mut is_valid = false;
        for g in 0..self._groups {
            if entry.get_bits::<8>(4) == self.group[g].val() {
                is_valid = self.valid[g].q.val().get_bit(entry.get_bits::<4>(0).index());
            }
        }
        let hits = self.looked.q.val() & is_valid & (self.tags.read_data.val() == line);
        let mut found = self.words.read_data.val();
        if self.same_word.q.val() {
            found = self.stored_word.q.val();
        }
        self.hit.next = hits;
        self.word.next = found;

        let stores = self.store.val() & hits;
        let mut mask = bits::<32>(0);
        if self.store_strobe.val().get_bit(0) {
            mask = mask | 0x0000_00ffu64;
        }
        if self.store_strobe.val().get_bit(1) {
            mask = mask | 0x0000_ff00u64;
        }
        if self.store_strobe.val().get_bit(2) {
            mask = mask | 0x00ff_0000u64;
        }
        if self.store_strobe.val().get_bit(3) {
            mask = mask | 0xff00_0000u64;
        }
        let merged = (found & !mask) | (self.store_data.val() & mask);
        self.stored_word.d.next = merged;
        self.same_word.d.next = stores & (look_word == word_address);

        // Line buffer
        let drop_filled = self.drop.val().get_bit(self.buffer_hart.q.val().index());
        let takes = self.fill_valid.val()
            & !self.fill_error.val()
            & !self.buffer_used.q.val()
            & !self.drop.val().get_bit(self.fill_hart.val().index());
        let fills = self.buffer_used.q.val() & !stores;
        let ends = fills & self.buffer_word.q.val().all();
        always!(the_line_buffer_is_free_for_a_line, !takes | !self.buffer_used.q.val());
        let buffer_place = bit_cast::<16, 26>(self.buffer_line.q.val()) & self.place_bits.val();
        let buffer_entry =
            (bit_cast::<16, 3>(self.buffer_hart.q.val()) << self.part_shift.val()) | buffer_place;
        self.buffer_used.d.next = takes | (self.buffer_used.q.val() & !ends & !drop_filled);
        if takes {
            self.buffer_hart.d.next = self.fill_hart.val();
            self.buffer_line.d.next = self.fill_line.val();
            self.buffer_data.d.next = self.fill_data.val();
            self.buffer_word.d.next = bits::<4>(0);
        } else if fills {
            self.buffer_word.d.next = self.buffer_word.q.val() + bits::<4>(1);
        }
        self.select.enable.next = true;
        self.select.line.next = self.buffer_data.q.val();
        self.select.index.next = self.buffer_word.q.val();

        // One write: of a store, else of the line that is filled
        self.words.write_enable.next = stores | fills;
        self.words.write_address.next =
            (buffer_entry << bits::<4>(4)) | bit_cast::<16, 4>(self.buffer_word.q.val());
        self.words.write_data.next = self.select.word.val();
        if stores {
            self.words.write_address.next = word_address;
            self.words.write_data.next = merged;
        }
        self.tags.write_enable.next = ends;
        self.tags.write_address.next = buffer_entry;
        self.tags.write_data.next = self.buffer_line.q.val();

        // Which lines are there. What stood at the place of a fill is still marked while its words
        // go: no lookup of the hart finds it, and the fill ends with its last word or with a drop
        // of the part.
        let one = bits::<GROUP>(1);
        for g in 0..self._groups {
            let mut there = self.valid[g].q.val();
            if hits & self.remove.val() & (entry.get_bits::<8>(4) == self.group[g].val()) {
                there = there & !(one << entry.get_bits::<4>(0));
            }
            if ends & (buffer_entry.get_bits::<8>(4) == self.group[g].val()) {
                there = there | (one << buffer_entry.get_bits::<4>(0));
            }
            if self.drop.val().get_bit(self.group_hart[g].val().index()) {
                there = bits::<GROUP>(0);
            }
            self.valid[g].d.next = there;
        }
        let mut under_way = bits::<8>(0);
        for h in 0..self._harts {
            if self.buffer_hart.q.val() == self.number[h].val() {
                under_way = under_way.replace_bit(h, self.buffer_used.q.val());
            }
        }
        self.filling.next = under_way;
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
