//! From a coalesced store to write requests and their completion.

use super::{QueuePointers, StoreAlign, StoreMerge};
use crate::prelude::*;

/// Builds the line and byte strobes of a coalesced store, requests the write and tells when an operation is complete.
///
/// 1. A line is taken at the edge at which `line_valid` and `line_ready` are high. In the next cycle its data is merged
///    from `size`, `offset` and `data`, which must still stand then and until `idle` is high; in the cycle after that
///    `write_valid` offers it. One line a cycle is sustained.
/// 2. Where several lanes write the same byte, the highest lane wins.
/// 3. Write responses come in the order of the requests; `stored_valid` is high for one cycle, two cycles at the
///    earliest after the request, and one cycle after the response to the last line of an operation.
/// 4. Up to 32 lines wait for their response.
#[derive(Clone, Debug, LogicBlock)]
pub struct StorePath<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    /// A line is offered by the coalescer.
    pub line_valid: Signal<In, Bit>,
    /// It is taken at this edge.
    pub line_ready: Signal<Out, Bit>,
    /// Line address.
    pub line: Signal<In, Bits<26>>,
    /// Lanes that write to it.
    pub lanes: Signal<In, Bits<LANES>>,
    /// It is the last line of its operation.
    pub last: Signal<In, Bit>,
    /// Warp slot of the operation.
    pub slot: Signal<In, Bits<5>>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub size: Signal<In, Bits<2>>,
    /// Byte offset of each lane.
    pub offset: Vec<Signal<In, Bits<6>>>,
    /// Register of each lane.
    pub data: Vec<Signal<In, Bits<32>>>,
    /// `size`, `offset` and `data` may change after this cycle.
    pub idle: Signal<Out, Bit>,

    /// A write is requested.
    pub write_valid: Signal<Out, Bit>,
    /// It is accepted at this edge.
    pub write_ready: Signal<In, Bit>,
    /// Its line address.
    pub write_line: Signal<Out, Bits<26>>,
    /// The line, byte 0 in bits 7:0.
    pub write_data: Signal<Out, Bits<512>>,
    /// Bytes to write.
    pub write_strobe: Signal<Out, Bits<64>>,
    /// The oldest write is done.
    pub write_done_valid: Signal<In, Bit>,

    /// A store operation is complete.
    pub stored_valid: Signal<Out, Bit>,
    /// Its warp slot.
    pub stored_slot: Signal<Out, Bits<5>>,

    merging: Register<Bit>,
    merge_line: Register<Bits<26>>,
    merge_lanes: Register<Bits<LANES>>,
    out_valid: Register<Bit>,
    out_line: Register<Bits<26>>,
    out_data: Register<Bits<512>>,
    out_strobe: Register<Bits<64>>,
    done: Register<Bit>,
    done_slot: Register<Bits<5>>,

    align: Vec<StoreAlign>,
    merge: StoreMerge<LANES>,
    waiting: QueuePointers<5>,
    waiting_slot: RamAsync<Bits<5>, 5>,
    waiting_last: RamAsync<Bit, 5>,

    move_on: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    space: Signal<Local, Bit>,
}

impl<const LANES: usize> Default for StorePath<LANES> {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            line_valid: Signal::default(),
            line_ready: Signal::default(),
            line: Signal::default(),
            lanes: Signal::default(),
            last: Signal::default(),
            slot: Signal::default(),
            size: Signal::default(),
            offset: (0..LANES).map(|_| Signal::default()).collect(),
            data: (0..LANES).map(|_| Signal::default()).collect(),
            idle: Signal::default(),
            write_valid: Signal::default(),
            write_ready: Signal::default(),
            write_line: Signal::default(),
            write_data: Signal::default(),
            write_strobe: Signal::default(),
            write_done_valid: Signal::default(),
            stored_valid: Signal::default(),
            stored_slot: Signal::default(),
            merging: Register::default(),
            merge_line: Register::default(),
            merge_lanes: Register::default(),
            out_valid: Register::default(),
            out_line: Register::default(),
            out_data: Register::default(),
            out_strobe: Register::default(),
            done: Register::default(),
            done_slot: Register::default(),
            align: (0..LANES).map(|_| StoreAlign::default()).collect(),
            merge: StoreMerge::default(),
            waiting: QueuePointers::default(),
            waiting_slot: RamAsync::default(),
            waiting_last: RamAsync::default(),
            move_on: Signal::default(),
            take: Signal::default(),
            space: Signal::default(),
        }
    }
}

impl<const LANES: usize> Logic for StorePath<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, merging, merge_line, merge_lanes, out_valid, out_line, out_data);
        dff_setup!(self, clock, out_strobe, done, done_slot);
        clock!(self, clock, waiting);
        self.waiting_slot.clock.next = self.clock.val();
        self.waiting_last.clock.next = self.clock.val();

        // Offer to memory, merge stage, and the line that comes from the coalescer.
        self.move_on.next = !self.out_valid.q.val() || self.write_ready.val();
        self.space.next = (!self.merging.q.val() || self.move_on.val()) && !self.waiting.full.val();
        self.take.next = self.line_valid.val() && self.space.val();
        self.line_ready.next = self.space.val();
        self.idle.next = !self.merging.q.val() || !self.out_valid.q.val();
        if self.move_on.val() {
            self.out_valid.d.next = self.merging.q.val();
            self.merging.d.next = false;
            if self.merging.q.val() {
                self.out_line.d.next = self.merge_line.q.val();
                self.out_data.d.next = self.merge.data.val();
                self.out_strobe.d.next = self.merge.strobe.val();
            }
        }
        if self.take.val() {
            self.merging.d.next = true;
            self.merge_line.d.next = self.line.val();
            self.merge_lanes.d.next = self.lanes.val();
        }

        self.merge.enable.next = self.merging.q.val();
        for i in 0..LANES {
            self.align[i].enable.next = self.merging.q.val() && self.merge_lanes.q.val().get_bit(i);
            self.align[i].offset.next = self.offset[i].val();
            self.align[i].size.next = self.size.val();
            self.align[i].data.next = self.data[i].val();
            self.merge.select[i].next = self.align[i].select.val();
            self.merge.lane_strobe[i].next = self.align[i].strobe.val();
            self.merge.index[i].next = self.offset[i].val().get_bits::<4>(2);
            self.merge.lane_word[i].next = self.align[i].word.val();
        }

        self.write_valid.next = self.out_valid.q.val();
        self.write_line.next = self.out_line.q.val();
        self.write_data.next = self.out_data.q.val();
        self.write_strobe.next = self.out_strobe.q.val();

        // Lines whose response is outstanding.
        self.waiting.push.next = self.take.val();
        self.waiting_slot.write_enable.next = self.take.val();
        self.waiting_slot.write_address.next = self.waiting.write_address.val();
        self.waiting_slot.write_data.next = self.slot.val();
        self.waiting_slot.read_address.next = self.waiting.read_address.val();
        self.waiting_last.write_enable.next = self.take.val();
        self.waiting_last.write_address.next = self.waiting.write_address.val();
        self.waiting_last.write_data.next = self.last.val();
        self.waiting_last.read_address.next = self.waiting.read_address.val();
        // A response that nobody waits for would be an error of the memory; it is ignored.
        self.waiting.pop.next = self.write_done_valid.val() && !self.waiting.empty.val();
        self.done.d.next =
            self.write_done_valid.val() && !self.waiting.empty.val() && self.waiting_last.read_data.val();
        self.done_slot.d.next = self.waiting_slot.read_data.val();
        self.stored_valid.next = self.done.q.val();
        self.stored_slot.next = self.done_slot.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{bits_to_line, reset, settle, strobe, tick};

    #[test]
    fn two_cycles_from_the_coalescer_to_the_request() {
        let mut uut = StorePath::<2>::default();
        reset!(uut);
        uut.line_valid.next = true;
        uut.line.next = bits(77);
        uut.lanes.next = bits(3);
        uut.last.next = true;
        uut.slot.next = bits(9);
        uut.size.next = bits(1);
        uut.offset[0].next = bits(6);
        uut.offset[1].next = bits(62);
        uut.data[0].next = bits(0xaaaa_1234);
        uut.data[1].next = bits(0xbbbb_5678);
        settle(&mut uut);
        assert!(uut.line_ready.val() && !uut.write_valid.val());
        tick!(uut);
        uut.line_valid.next = false;
        settle(&mut uut);
        assert!(!uut.write_valid.val() && uut.idle.val());
        tick!(uut);
        assert!(uut.write_valid.val());
        assert_eq!(uut.write_line.val().to_u32(), 77);
        let mut line = [0; 64];
        line[6..8].copy_from_slice(&[0x34, 0x12]);
        line[62..].copy_from_slice(&[0x78, 0x56]);
        assert_eq!(bits_to_line(uut.write_data.val()), line);
        assert_eq!(strobe(uut.write_strobe.val()), 0b11 << 6 | 0b11 << 62);

        uut.write_ready.next = true;
        tick!(uut);
        uut.write_done_valid.next = true;
        settle(&mut uut);
        assert!(!uut.write_valid.val() && !uut.stored_valid.val());
        tick!(uut);
        assert!(uut.stored_valid.val());
        assert_eq!(uut.stored_slot.val().to_u32(), 9);
        // Nobody waits for a second response.
        tick!(uut);
        assert!(!uut.stored_valid.val());
    }

    #[test]
    fn thirty_two_lines_wait_for_their_response() {
        let mut uut = StorePath::<1>::default();
        reset!(uut);
        uut.line_valid.next = true;
        uut.lanes.next = bits(1);
        uut.write_ready.next = true;
        for cycle in 0..40 {
            // Every fourth line completes an operation.
            uut.last.next = cycle % 4 == 3;
            uut.slot.next = bits(cycle / 4);
            settle(&mut uut);
            assert_eq!(uut.line_ready.val(), cycle < 32);
            tick!(uut);
        }
        uut.line_valid.next = false;
        uut.write_done_valid.next = true;
        for n in 0..34 {
            settle(&mut uut);
            assert_eq!(uut.stored_valid.val(), n > 0 && n <= 32 && n % 4 == 0, "{n}");
            if uut.stored_valid.val() {
                assert_eq!(uut.stored_slot.val().to_u32(), n / 4 - 1);
            }
            tick!(uut);
        }
    }
}
