//! From a coalesced store to write requests and their completion.

use super::{StoreAlign, StoreMerge};
use crate::blocks::QueuePointers;
use crate::config::CoreOptions;
use crate::ports::{CoalescedLine, HeldEntry, LineWrite, SlotEvent};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Builds the line and byte strobes of a coalesced store, requests the write and reports when an
/// operation is complete.
///
/// 1. A line is taken at the edge at which `line_valid` and `line_ready` are high. From the next
///    cycle on its data is merged from `held.size`, `held.address` and `held.data` of `held.entry`,
///    which must stand while `held.valid` is high; in the cycle after that `write.valid` offers it.
/// 2. A group of lanes in a row is merged in a cycle: of four, 0 to 3, 4 to 7 and so on, or of two,
///    or one. So a line takes a cycle for each group of which a lane writes to it. Where several
///    lanes write the same byte, the highest lane wins.
/// 3. Every line has a tag of its own, 0 to 31. `write.written.valid` with the tag says that the
///    line is written: in any order, in the cycle after its request was accepted at the earliest.
///    Operations complete in the order of their acceptance, one a cycle: `stored.valid` is high for
///    one cycle, two cycles after the last line of an operation was written at the earliest.
/// 4. Up to 32 lines wait to be written.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(group: usize, groups: usize)]
pub struct StorePath<const LANES: usize> {
    /// From the coalescer: a line is offered.
    pub line_valid: Signal<In, Bit>,
    /// The line is taken at this edge.
    pub line_ready: Signal<Out, Bit>,
    /// From the coalescer: the line.
    pub offered: CoalescedLine<LANES>,
    /// Warp slot of the operation.
    pub slot: Signal<In, Bits<5>>,
    /// Entry of the operation in the coalescer.
    pub entry: Signal<In, Bits<3>>,
    /// To and from the coalescer: the entry of the line that is merged.
    pub held: HeldEntry<LANES>,

    /// To memory, with tags 0 to 31.
    pub write: LineWrite,

    /// To the hazard check: a store operation is complete.
    pub stored: Flipped<SlotEvent>,

    merging: Register<Bit>,
    merge_line: Register<LineAddress>,
    /// Lanes that are still to be merged.
    merge_lanes: Register<Bits<LANES>>,
    merge_entry: Register<Bits<3>>,
    merge_tag: Register<Bits<5>>,
    /// The line has the data of a group.
    merge_begun: Register<Bit>,
    out_valid: Register<Bit>,
    out_line: Register<LineAddress>,
    out_data: LineRegister,
    out_strobe: Register<Bits<64>>,
    out_tag: Register<Bits<5>>,
    /// Lines that are written while an older one is not, by tag.
    written: Register<Bits<32>>,
    /// An operation was complete a cycle ago.
    stored_q: Register<Bit>,
    slot_of_stored: Register<Bits<5>>,

    #[count(group)]
    align: Vec<StoreAlign>,
    #[init(StoreMerge::new(group))]
    merge: StoreMerge,
    waiting: QueuePointers<5>,
    waiting_slot: RamAsync<Bits<5>, 5>,
    waiting_last: RamAsync<Bit, 5>,

    /// The group that is merged now: the lowest that has lanes left.
    #[count(groups)]
    chosen: Vec<Signal<Local, Bit>>,
    #[count(group)]
    writes: Vec<Signal<Local, Bit>>,
    #[count(group)]
    group_offset: Vec<Signal<Local, Bits<6>>>,
    #[count(group)]
    group_data: Vec<Signal<Local, Bits<32>>>,
    #[init(group)]
    _group: usize,
    #[init(groups)]
    _groups: usize,
}

impl<const LANES: usize> StorePath<LANES> {
    /// The path of a core with these options.
    ///
    /// # Panics
    /// If the lanes a cycle are not a power of two.
    pub fn new(options: CoreOptions) -> Self {
        let words = options.line_words;
        assert!(words.is_power_of_two(), "StorePath: {words} lanes a cycle, expected a power of two");
        let group = LANES.min(words);
        let groups = LANES / group;
        Self::wired(group, groups)
    }
}

impl<const LANES: usize> Logic for StorePath<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // The group that is merged now, and what its lanes store
        let mut wanted = false;
        let mut earlier = false;
        let mut rest = bits::<LANES>(0);
        for g in 0..self._groups {
            self.chosen[g].next = false;
        }
        for s in 0..self._group {
            self.writes[s].next = false;
            self.group_offset[s].next = bits::<6>(0);
            self.group_data[s].next = bits::<32>(0);
        }
        if self.merging.q.val() {
            rest = self.merge_lanes.q.val();
            for g in 0..self._groups {
                wanted = false;
                for s in 0..self._group {
                    if self.merge_lanes.q.val().get_bit(g * self._group + s) {
                        wanted = true;
                    }
                }
                self.chosen[g].next = wanted && !earlier;
                earlier = earlier || wanted;
                for s in 0..self._group {
                    if self.chosen[g].val() {
                        self.writes[s].next = self.merge_lanes.q.val().get_bit(g * self._group + s);
                        self.group_offset[s].next = self.group_offset[s].val()
                            | self.held.address[g * self._group + s].val().get_bits::<6>(0);
                        self.group_data[s].next =
                            self.group_data[s].val() | self.held.data[g * self._group + s].val();
                        rest = rest.replace_bit(g * self._group + s, false);
                    }
                }
            }
        }
        let finishes = !rest.any();

        // Offer to memory, merge stage, and the line that comes from the coalescer.
        let move_on = !self.out_valid.q.val() || self.write.ready.val();
        let space = (!self.merging.q.val() || (move_on && finishes)) && !self.waiting.full.val();
        let take = self.line_valid.val() && space;
        self.line_ready.next = space;
        self.held.valid.next = self.merging.q.val();
        self.held.entry.next = self.merge_entry.q.val();
        // The first group also writes the bytes that no lane writes, whose strobe is 0: what merges
        // a lane costs a LUT for every other bit of the line already.
        self.out_data.write_enable.next = self.merging.q.val() && move_on;
        self.out_data.write_data.next = self.merge.data.val();
        self.out_data.write_strobe.next = self.merge.strobe.val();
        if !self.merge_begun.q.val() {
            self.out_data.write_strobe.next = bits::<64>(0xffff_ffff_ffff_ffff_u64);
        }
        if move_on {
            self.out_valid.d.next = self.merging.q.val() && finishes;
            if self.merging.q.val() {
                self.out_line.d.next = self.merge_line.q.val();
                self.out_strobe.d.next = self.merge.strobe.val();
                if self.merge_begun.q.val() {
                    self.out_strobe.d.next = self.out_strobe.q.val() | self.merge.strobe.val();
                }
                self.out_tag.d.next = self.merge_tag.q.val();
                self.merge_lanes.d.next = rest;
                self.merge_begun.d.next = true;
                if finishes {
                    self.merging.d.next = false;
                }
            }
        }
        if take {
            self.merging.d.next = true;
            self.merge_begun.d.next = false;
            self.merge_line.d.next = self.offered.line.val();
            self.merge_lanes.d.next = self.offered.lanes.val();
            self.merge_entry.d.next = self.entry.val();
            self.merge_tag.d.next = self.waiting.write_address.val();
        }

        self.merge.enable.next = self.merging.q.val();
        for s in 0..self._group {
            self.align[s].enable.next = self.writes[s].val();
            self.align[s].offset.next = self.group_offset[s].val().get_bits::<2>(0);
            self.align[s].size.next = self.held.size.val();
            self.align[s].data.next = self.group_data[s].val();
            self.merge.lane_strobe[s].next = self.align[s].strobe.val();
            self.merge.index[s].next = self.group_offset[s].val().get_bits::<4>(2);
            self.merge.lane_word[s].next = self.align[s].word.val();
        }

        self.write.valid.next = self.out_valid.q.val();
        self.write.line.next = self.out_line.q.val();
        self.write.data.next = self.out_data.line.val();
        self.write.strobe.next = self.out_strobe.q.val();
        self.write.tag.next = bit_cast::<6, 5>(self.out_tag.q.val());

        // Lines that are not written yet, or behind such a line; the place in this queue is the
        // tag.
        self.waiting.push.next = take;
        self.waiting_slot.write_enable.next = take;
        self.waiting_slot.write_address.next = self.waiting.write_address.val();
        self.waiting_slot.write_data.next = self.slot.val();
        self.waiting_slot.read_address.next = self.waiting.read_address.val();
        self.waiting_last.write_enable.next = take;
        self.waiting_last.write_address.next = self.waiting.write_address.val();
        self.waiting_last.write_data.next = self.offered.last.val();
        self.waiting_last.read_address.next = self.waiting.read_address.val();
        let mut arriving = bits::<32>(0);
        if self.write.written.valid.val() {
            arriving = bits::<32>(1) << self.write.written.tag.val().get_bits::<5>(0);
        }
        let complete = !self.waiting.empty.val()
            && self.written.q.val().get_bit(self.waiting.read_address.val().index());
        let mut leaving = bits::<32>(0);
        if complete {
            leaving = bits::<32>(1) << self.waiting.read_address.val();
        }
        self.written.d.next = (self.written.q.val() | arriving) & !leaving;
        self.waiting.pop.next = complete;
        self.stored_q.d.next = complete && self.waiting_last.read_data.val();
        self.slot_of_stored.d.next = self.waiting_slot.read_data.val();
        self.stored.valid.next = self.stored_q.q.val();
        self.stored.slot.next = self.slot_of_stored.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{bits_to_line, random, strobe};
    use crate::testing::{reset, settle, tick};
    use rand::seq::SliceRandom;

    #[test]
    fn two_cycles_from_the_coalescer_to_the_request() {
        let mut uut = StorePath::<2>::new(CoreOptions::default());
        reset!(uut);
        uut.line_valid.next = true;
        uut.offered.line.next = bits(77);
        uut.offered.lanes.next = bits(3);
        uut.offered.last.next = true;
        uut.slot.next = bits(9);
        uut.entry.next = bits(2);
        uut.held.size.next = bits(1);
        uut.held.address[0].next = bits(6);
        uut.held.address[1].next = bits(62);
        uut.held.data[0].next = bits(0xaaaa_1234);
        uut.held.data[1].next = bits(0xbbbb_5678);
        settle(&mut uut);
        assert!(uut.line_ready.val() && !uut.write.valid.val());
        tick!(uut);
        uut.line_valid.next = false;
        settle(&mut uut);
        assert!(!uut.write.valid.val() && uut.held.valid.val());
        assert_eq!(uut.held.entry.val().to_u32(), 2);
        tick!(uut);
        assert!(uut.write.valid.val() && !uut.held.valid.val());
        assert_eq!(uut.write.line.val().to_u32(), 77);
        let mut line = [0; 64];
        line[6..8].copy_from_slice(&[0x34, 0x12]);
        line[62..].copy_from_slice(&[0x78, 0x56]);
        assert_eq!(bits_to_line(uut.write.data.val()), line);
        assert_eq!(strobe(uut.write.strobe.val()), 0b11 << 6 | 0b11 << 62);

        uut.write.ready.next = true;
        tick!(uut);
        uut.write.written.valid.next = true;
        settle(&mut uut);
        assert!(!uut.write.valid.val() && !uut.stored.valid.val());
        tick!(uut);
        uut.write.written.valid.next = false;
        settle(&mut uut);
        assert!(!uut.stored.valid.val());
        tick!(uut);
        assert!(uut.stored.valid.val());
        assert_eq!(uut.stored.slot.val().to_u32(), 9);
        tick!(uut);
        assert!(!uut.stored.valid.val());
    }

    /// A line takes a cycle for each group of lanes that writes to it; the highest lane wins.
    #[test]
    fn groups_of_lanes_are_merged_one_after_the_other() {
        let mut uut = StorePath::<32>::new(CoreOptions::default());
        reset!(uut);
        uut.write.ready.next = true;
        uut.held.size.next = bits(2);
        for i in 0..32 {
            uut.held.address[i].next = bits(4 * (i as u64 % 16));
            uut.held.data[i].next = bits(100 + i as u64);
        }
        let words =
            |values: [u32; 16]| -> Vec<u8> { values.iter().flat_map(|value| value.to_le_bytes()).collect() };
        let upper = std::array::from_fn(|i| 116 + i as u32);
        let mut mixed = upper;
        mixed[0] = 100;
        let cases = [
            (0xffff, 4, std::array::from_fn(|i| 100 + i as u32)),
            (0xffff_0000, 4, upper),
            (0xfffe_0001, 5, mixed),
            (u32::MAX, 8, upper),
        ];
        for (lanes, cycles, expected) in cases {
            uut.line_valid.next = true;
            uut.offered.lanes.next = bits(lanes.into());
            settle(&mut uut);
            assert!(uut.line_ready.val());
            tick!(uut);
            uut.line_valid.next = false;
            settle(&mut uut);
            let mut taken = 0;
            while !uut.write.valid.val() {
                tick!(uut);
                taken += 1;
            }
            assert_eq!(taken, cycles, "{lanes:#x}");
            assert_eq!(bits_to_line(uut.write.data.val()).to_vec(), words(expected), "{lanes:#x}");
            assert_eq!(strobe(uut.write.strobe.val()), u64::MAX);
            tick!(uut);
        }
    }

    #[test]
    fn operations_complete_in_order() {
        let mut rng = random("store_path");
        let mut uut = StorePath::<1>::new(CoreOptions::default());
        reset!(uut);
        uut.line_valid.next = true;
        uut.offered.lanes.next = bits(1);
        uut.write.ready.next = true;
        let mut tags = vec![];
        for cycle in 0..40 {
            // Every fourth line completes an operation.
            uut.offered.last.next = cycle % 4 == 3;
            uut.slot.next = bits(cycle / 4);
            settle(&mut uut);
            assert_eq!(uut.line_ready.val(), cycle < 32);
            if uut.write.valid.val() {
                tags.push(uut.write.tag.val());
            }
            tick!(uut);
        }
        assert_eq!(tags, (0..32).map(bits).collect::<Vec<Bits<6>>>());
        uut.line_valid.next = false;
        // The lines are written in any order.
        tags.shuffle(&mut rng);
        let mut written = [false; 32];
        let mut stored = 0;
        for n in 0..70 {
            uut.write.written.valid.next = n < 32;
            uut.write.written.tag.next = tags[n.min(31)];
            settle(&mut uut);
            if uut.stored.valid.val() {
                assert!(written[..4 * stored + 4].iter().all(|&w| w), "operation {stored}");
                assert_eq!(uut.stored.slot.val().index(), stored);
                stored += 1;
            }
            written[tags[n.min(31)].index()] = true;
            tick!(uut);
        }
        assert_eq!(stored, 8);
    }
}
