//! The copy of the descriptor page.

use hermes_hdl::prelude::*;

/// The word TOKEN of a descriptor.
const TOKEN: u64 = 7;

/// Words 0 to 7 of up to 16 descriptors, as they were written last.
///
/// 1. A write takes effect at the edge at which `write_valid` is high.
/// 2. The words of `read_slot` answer in the same cycle, and so do COMPLETION and TOKEN of
///    `end_slot`.
/// 3. Words that were never written are undefined; nothing is reset.
#[derive(Clone, LogicBlock)]
pub struct SpawnPage {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// A word is written.
    pub write_valid: Signal<In, Bit>,
    /// Descriptor of the word.
    pub write_slot: Signal<In, Bits<4>>,
    /// The word of the descriptor.
    pub write_word: Signal<In, Bits<3>>,
    /// Value of the word.
    pub write_data: Signal<In, Bits<32>>,
    /// From the issue: the descriptor to read.
    pub read_slot: Signal<In, Bits<4>>,
    /// Word 0, ENTRY: address of the threads' first instruction.
    pub entry: Signal<Out, Bits<32>>,
    /// Word 1, ARG0.
    pub argument_0: Signal<Out, Bits<32>>,
    /// Word 2, ARG1.
    pub argument_1: Signal<Out, Bits<32>>,
    /// Word 3, SHAPE: number of threads, class, acquire.
    pub shape: Signal<Out, Bits<32>>,
    /// Word 4: must be zero.
    pub reserved: Signal<Out, Bits<32>>,
    /// Word 5, CORES: the cores that may run the threads.
    pub cores: Signal<Out, Bits<32>>,
    /// Word 7, TOKEN.
    pub token: Signal<Out, Bits<32>>,
    /// From the completion writer: the descriptor of the job that ended.
    pub end_slot: Signal<In, Bits<4>>,
    /// Word 6 of the ended job, COMPLETION: address of the completion word.
    pub end_completion: Signal<Out, Bits<32>>,
    /// Word 7 of the ended job, TOKEN.
    pub end_token: Signal<Out, Bits<32>>,
    #[count(8)]
    words: Vec<RamAsync<Bits<32>, 4>>,
    /// A second read port of word 7.
    tokens: RamAsync<Bits<32>, 4>,
    #[init((0..8u64).map(|word| Constant::new(word.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
}

impl Logic for SpawnPage {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..8 {
            self.words[i].write_enable.next =
                self.write_valid.val() & (self.write_word.val() == self.number[i].val());
            self.words[i].write_address.next = self.write_slot.val();
            self.words[i].write_data.next = self.write_data.val();
            self.words[i].read_address.next = self.read_slot.val();
        }
        self.words[6].read_address.next = self.end_slot.val();
        self.tokens.write_enable.next = self.write_valid.val() & (self.write_word.val() == bits::<3>(TOKEN));
        self.tokens.write_address.next = self.write_slot.val();
        self.tokens.write_data.next = self.write_data.val();
        self.tokens.read_address.next = self.end_slot.val();

        self.entry.next = self.words[0].read_data.val();
        self.argument_0.next = self.words[1].read_data.val();
        self.argument_1.next = self.words[2].read_data.val();
        self.shape.next = self.words[3].read_data.val();
        self.reserved.next = self.words[4].read_data.val();
        self.cores.next = self.words[5].read_data.val();
        self.token.next = self.words[7].read_data.val();
        self.end_completion.next = self.words[6].read_data.val();
        self.end_token.next = self.tokens.read_data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, settle, tick};
    use rand::Rng;

    #[test]
    fn keeps_the_words_of_every_descriptor() {
        let mut random = random();
        let mut unit = SpawnPage::default();
        let mut page = [[None::<u32>; 8]; 16];
        for cycle in 0..4_000 {
            let (slot, word) = (random.gen_range(0..16usize), random.gen_range(0..8usize));
            let (read, end) = (random.gen_range(0..16usize), random.gen_range(0..16usize));
            let data: u32 = random.gen();
            unit.write_valid.next = random.gen();
            unit.write_slot.next = (slot as u64).into();
            unit.write_word.next = (word as u64).into();
            unit.write_data.next = u64::from(data).into();
            unit.read_slot.next = (read as u64).into();
            unit.end_slot.next = (end as u64).into();
            settle(&mut unit);
            let shown = [
                (page[read][0], unit.entry.val()),
                (page[read][1], unit.argument_0.val()),
                (page[read][2], unit.argument_1.val()),
                (page[read][3], unit.shape.val()),
                (page[read][4], unit.reserved.val()),
                (page[read][5], unit.cores.val()),
                (page[read][7], unit.token.val()),
                (page[end][6], unit.end_completion.val()),
                (page[end][7], unit.end_token.val()),
            ];
            for (number, (expected, value)) in shown.into_iter().enumerate() {
                if let Some(expected) = expected {
                    assert_eq!(value.to_u32(), expected, "cycle {cycle}, output {number}");
                }
            }
            if unit.write_valid.val() {
                page[slot][word] = Some(data);
            }
            tick!(unit);
        }
    }
}
