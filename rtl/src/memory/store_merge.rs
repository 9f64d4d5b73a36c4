//! Merges the stores of all lanes to one line.

use hermes_hdl::prelude::*;

/// Line data and byte strobes from what the lanes' [`StoreAlign`](super::StoreAlign) units give.
///
/// Where several lanes write the same byte, the highest lane wins, as if the lanes stored one after
/// another in ascending order: a lane gives up the bytes that a higher lane writes in the same
/// word, so that what remains is or-ed together. Combinational; while `enable` is low every strobe
/// is 0. Of one lane alone `data` is its word in each place of the line, which takes no LUTs.
#[derive(Clone, LogicBlock)]
#[new(lanes: usize)]
pub struct StoreMerge {
    /// A line is wanted.
    pub enable: Signal<In, Bit>,
    /// For each lane, the index of the word of the line that it writes. It may be anything if the
    /// lane's strobe is 0.
    #[count(lanes)]
    pub index: Vec<Signal<In, Bits<4>>>,
    /// For each lane, the bytes of the word that it writes.
    #[count(lanes)]
    pub lane_strobe: Vec<Signal<In, Bits<4>>>,
    /// For each lane, the data in place; bytes without strobe do not count.
    #[count(lanes)]
    pub lane_word: Vec<Signal<In, Bits<32>>>,
    /// The line, byte 0 in bits 7:0; bytes that no lane writes are 0 with several lanes.
    pub data: Signal<Out, Bits<512>>,
    /// One bit for each byte of the line that is written.
    pub strobe: Signal<Out, Bits<64>>,

    #[count(lanes)]
    won: Vec<Signal<Local, Bits<4>>>,
    #[count(lanes)]
    won_word: Vec<Signal<Local, Bits<32>>>,
    #[count(16)]
    word: Vec<Signal<Local, Bits<32>>>,
    #[count(16)]
    word_strobe: Vec<Signal<Local, Bits<4>>>,
    #[init(Pack::new(16))]
    pack_data: Pack<Bits<32>, 32, 512>,
    #[init(Pack::new(16))]
    pack_strobe: Pack<Bits<4>, 4, 64>,
    #[init(lanes)]
    _lanes: usize,
    #[init(usize::from(lanes == 1))]
    _alone: usize,
}

impl StoreMerge {
    /// A unit for `lanes` lanes.
    pub fn new(lanes: usize) -> Self {
        Self::wired(lanes)
    }
}

impl Logic for StoreMerge {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..self._lanes {
            self.won[i].next = bits::<4>(0);
            self.won_word[i].next = bits::<32>(0);
        }
        for w in 0..16 {
            self.word[w].next = bits::<32>(0);
            self.word_strobe[w].next = bits::<4>(0);
        }
        if self.enable.val() {
            for i in 0..self._lanes {
                self.won[i].next = self.lane_strobe[i].val();
                for j in 0..self._lanes {
                    if (i < j) && (self.index[i].val() == self.index[j].val()) {
                        self.won[i].next = self.won[i].val() & !self.lane_strobe[j].val();
                    }
                }
                if self.won[i].val().get_bit(0) {
                    self.won_word[i].next = self.lane_word[i].val() & 0xff;
                }
                if self.won[i].val().get_bit(1) {
                    self.won_word[i].next = self.won_word[i].val() | (self.lane_word[i].val() & 0xff00);
                }
                if self.won[i].val().get_bit(2) {
                    self.won_word[i].next = self.won_word[i].val() | (self.lane_word[i].val() & 0xff_0000);
                }
                if self.won[i].val().get_bit(3) {
                    self.won_word[i].next =
                        self.won_word[i].val() | (self.lane_word[i].val() & 0xff00_0000_u64);
                }
            }
        }
        // A lane that writes nothing selects no word, so that this needs no enable: it would cost a
        // LUT a bit.
        for i in 0..self._lanes {
            let mut select = bits::<16>(0);
            if self.lane_strobe[i].val().any() {
                select = bits::<16>(1) << self.index[i].val();
                for w in 0..16 {
                    if select.get_bit(w) {
                        self.word[w].next = self.word[w].val() | self.won_word[i].val();
                        self.word_strobe[w].next = self.word_strobe[w].val() | self.won[i].val();
                    }
                }
            }
        }
        for w in 0..16 {
            self.pack_data.x[w].next = self.word[w].val();
            self.pack_strobe.x[w].next = self.word_strobe[w].val();
            if self._alone > 0 {
                self.pack_data.x[w].next = self.lane_word[0].val();
            }
        }
        self.data.next = self.pack_data.y.val();
        self.strobe.next = self.pack_strobe.y.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{bits_to_line, random, strobe};
    use crate::testing::settle;
    use rand::Rng;

    fn merges(lanes: usize) {
        let mut rng = random("store_merge");
        let mut uut = StoreMerge::new(lanes);
        for round in 0..300 {
            let mut line = [0u8; 64];
            let mut strobes = 0u64;
            let enable = round % 10 != 9;
            for i in 0..lanes {
                // A small range of words makes conflicts likely.
                let word = rng.gen_range(0..if round % 2 == 0 { 2 } else { 16 });
                let lane_strobe: u32 = if rng.gen_bool(0.8) { rng.gen_range(1..16) } else { 0 };
                let data: u32 = rng.gen();
                for byte in 0..4 {
                    if enable && lane_strobe >> byte & 1 == 1 {
                        line[word * 4 + byte] = data.to_le_bytes()[byte];
                        strobes |= 1 << (word * 4 + byte);
                    }
                }
                uut.lane_strobe[i].next = bits(lane_strobe.into());
                uut.lane_word[i].next = bits(data.into());
                uut.index[i].next = bits(word as u64);
            }
            uut.enable.next = enable;
            settle(&mut uut);
            assert_eq!(strobe(uut.strobe.val()), strobes);
            let data = bits_to_line(uut.data.val());
            for (byte, expected) in line.into_iter().enumerate() {
                if lanes > 1 || strobes >> byte & 1 == 1 {
                    assert_eq!(data[byte], expected, "byte {byte}");
                }
            }
        }
    }

    #[test]
    fn highest_lane_wins() {
        merges(1);
        merges(8);
        merges(32);
    }
}
