//! From a coalesced load to read requests, and from their responses to the lanes' values.

use super::{LoadAlign, QueuePointers};
use crate::prelude::*;

/// Requests the lines of coalesced loads and extracts every lane's value from the responses.
///
/// 1. At an edge with `start` high, which needs `start_ready`, what the extraction needs of the operation is stored
///    under the next of 16 tags. Operations keep their order, so their lines need no tag: a response belongs to the oldest
///    operation, whose tag is free again once its last response was accepted.
/// 2. A line is taken at the edge at which `line_valid` and `line_ready` are high; `read_valid` offers it from the next
///    cycle on. One line a cycle is sustained; up to 4 wait for `read_ready` and up to 32 for their response.
/// 3. Responses come in the order of the requests. The line is registered when it is accepted; the result is offered
///    from the next cycle on. One line a cycle is sustained.
#[derive(Clone, Debug, LogicBlock)]
pub struct LoadPath<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    /// A load operation starts.
    pub start: Signal<In, Bit>,
    /// A tag is free; depends on registers only.
    pub start_ready: Signal<Out, Bit>,
    /// Its warp slot.
    pub start_slot: Signal<In, Bits<5>>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub start_size: Signal<In, Bits<2>>,
    /// Extend by the sign.
    pub start_signed: Signal<In, Bit>,
    /// Destination register.
    pub start_rd: Signal<In, Bits<5>>,
    /// Byte offset of each lane in its line.
    pub start_offset: Vec<Signal<In, Bits<6>>>,

    /// A line is offered by the coalescer.
    pub line_valid: Signal<In, Bit>,
    /// It is taken at this edge.
    pub line_ready: Signal<Out, Bit>,
    /// Line address.
    pub line: Signal<In, Bits<26>>,
    /// Lanes that read from it.
    pub lanes: Signal<In, Bits<LANES>>,
    /// It is the last line of its operation.
    pub last: Signal<In, Bit>,

    /// A line is requested.
    pub read_valid: Signal<Out, Bit>,
    /// It is accepted at this edge.
    pub read_ready: Signal<In, Bit>,
    /// Its line address.
    pub read_line: Signal<Out, Bits<26>>,
    /// The response to the oldest request is here.
    pub response_valid: Signal<In, Bit>,
    /// It is accepted at this edge.
    pub response_ready: Signal<Out, Bit>,
    /// The line, byte 0 in bits 7:0.
    pub response_data: Signal<In, Bits<512>>,
    /// The memory could not read it.
    pub response_error: Signal<In, Bit>,

    /// Values of lanes are here.
    pub result_valid: Signal<Out, Bit>,
    /// They are accepted at this edge.
    pub result_ready: Signal<In, Bit>,
    /// Warp slot.
    pub result_slot: Signal<Out, Bits<5>>,
    /// Destination register.
    pub result_rd: Signal<Out, Bits<5>>,
    /// Lanes whose value is here.
    pub result_mask: Signal<Out, Bits<LANES>>,
    /// Value of each lane; 0 for lanes that are not in the mask.
    pub result_data: Vec<Signal<Out, Bits<32>>>,
    /// The operation is complete with these lanes.
    pub result_last: Signal<Out, Bit>,
    /// The memory could not read the line; the values are whatever the bus carried.
    pub result_error: Signal<Out, Bit>,

    requests: QueuePointers<2>,
    request_line: RamAsync<Bits<26>, 2>,
    waiting: QueuePointers<5>,
    waiting_last: RamAsync<Bit, 5>,
    waiting_lanes: RamAsync<Bits<LANES>, 5>,
    tags: QueuePointers<4>,
    tag_slot: RamAsync<Bits<5>, 4>,
    tag_size: RamAsync<Bits<2>, 4>,
    tag_signed: RamAsync<Bit, 4>,
    tag_rd: RamAsync<Bits<5>, 4>,
    tag_offset: Vec<RamAsync<Bits<6>, 4>>,
    align: Vec<LoadAlign>,

    held: Register<Bit>,
    held_line: Register<Bits<512>>,
    held_error: Register<Bit>,
    held_slot: Register<Bits<5>>,
    held_last: Register<Bit>,
    held_lanes: Register<Bits<LANES>>,
    held_size: Register<Bits<2>>,
    held_signed: Register<Bit>,
    held_rd: Register<Bits<5>>,
    held_offset: Vec<Register<Bits<6>>>,

    space: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    room: Signal<Local, Bit>,
    receive: Signal<Local, Bit>,
}

impl<const LANES: usize> Default for LoadPath<LANES> {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            start: Signal::default(),
            start_ready: Signal::default(),
            start_slot: Signal::default(),
            start_size: Signal::default(),
            start_signed: Signal::default(),
            start_rd: Signal::default(),
            start_offset: (0..LANES).map(|_| Signal::default()).collect(),
            line_valid: Signal::default(),
            line_ready: Signal::default(),
            line: Signal::default(),
            lanes: Signal::default(),
            last: Signal::default(),
            read_valid: Signal::default(),
            read_ready: Signal::default(),
            read_line: Signal::default(),
            response_valid: Signal::default(),
            response_ready: Signal::default(),
            response_data: Signal::default(),
            response_error: Signal::default(),
            result_valid: Signal::default(),
            result_ready: Signal::default(),
            result_slot: Signal::default(),
            result_rd: Signal::default(),
            result_mask: Signal::default(),
            result_data: (0..LANES).map(|_| Signal::default()).collect(),
            result_last: Signal::default(),
            result_error: Signal::default(),
            requests: QueuePointers::default(),
            request_line: RamAsync::default(),
            waiting: QueuePointers::default(),
            waiting_last: RamAsync::default(),
            waiting_lanes: RamAsync::default(),
            tags: QueuePointers::default(),
            tag_slot: RamAsync::default(),
            tag_size: RamAsync::default(),
            tag_signed: RamAsync::default(),
            tag_rd: RamAsync::default(),
            tag_offset: (0..LANES).map(|_| RamAsync::default()).collect(),
            align: (0..LANES).map(|_| LoadAlign::default()).collect(),
            held: Register::default(),
            held_line: Register::default(),
            held_error: Register::default(),
            held_slot: Register::default(),
            held_last: Register::default(),
            held_lanes: Register::default(),
            held_size: Register::default(),
            held_signed: Register::default(),
            held_rd: Register::default(),
            held_offset: (0..LANES).map(|_| Register::default()).collect(),
            space: Signal::default(),
            take: Signal::default(),
            room: Signal::default(),
            receive: Signal::default(),
        }
    }
}

impl<const LANES: usize> Logic for LoadPath<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, held_line, held_error, held_slot, held_last, held_lanes);
        dff_setup!(self, clock, held_size, held_signed, held_rd);
        clock!(self, clock, requests, waiting, tags);
        self.request_line.clock.next = self.clock.val();
        self.tag_slot.clock.next = self.clock.val();
        self.waiting_last.clock.next = self.clock.val();
        self.waiting_lanes.clock.next = self.clock.val();
        self.tag_size.clock.next = self.clock.val();
        self.tag_signed.clock.next = self.clock.val();
        self.tag_rd.clock.next = self.clock.val();

        // What the extraction needs of an operation, by its tag.
        self.start_ready.next = !self.tags.full.val();
        self.tags.push.next = self.start.val();
        self.tag_slot.write_enable.next = self.start.val();
        self.tag_slot.write_address.next = self.tags.write_address.val();
        self.tag_slot.write_data.next = self.start_slot.val();
        self.tag_size.write_enable.next = self.start.val();
        self.tag_size.write_address.next = self.tags.write_address.val();
        self.tag_size.write_data.next = self.start_size.val();
        self.tag_signed.write_enable.next = self.start.val();
        self.tag_signed.write_address.next = self.tags.write_address.val();
        self.tag_signed.write_data.next = self.start_signed.val();
        self.tag_rd.write_enable.next = self.start.val();
        self.tag_rd.write_address.next = self.tags.write_address.val();
        self.tag_rd.write_data.next = self.start_rd.val();
        for i in 0..LANES {
            self.tag_offset[i].clock.next = self.clock.val();
            self.tag_offset[i].write_enable.next = self.start.val();
            self.tag_offset[i].write_address.next = self.tags.write_address.val();
            self.tag_offset[i].write_data.next = self.start_offset[i].val();
        }

        // A line goes into both queues: requests to make, and responses to wait for.
        self.space.next = !self.requests.full.val() && !self.waiting.full.val();
        self.take.next = self.line_valid.val() && self.space.val();
        self.line_ready.next = self.space.val();
        self.requests.push.next = self.take.val();
        self.request_line.write_enable.next = self.take.val();
        self.request_line.write_address.next = self.requests.write_address.val();
        self.request_line.write_data.next = self.line.val();
        self.request_line.read_address.next = self.requests.read_address.val();
        self.requests.pop.next = !self.requests.empty.val() && self.read_ready.val();
        self.read_valid.next = !self.requests.empty.val();
        self.read_line.next = self.request_line.read_data.val();
        self.waiting.push.next = self.take.val();
        self.waiting_last.write_enable.next = self.take.val();
        self.waiting_last.write_address.next = self.waiting.write_address.val();
        self.waiting_last.write_data.next = self.last.val();
        self.waiting_last.read_address.next = self.waiting.read_address.val();
        self.waiting_lanes.write_enable.next = self.take.val();
        self.waiting_lanes.write_address.next = self.waiting.write_address.val();
        self.waiting_lanes.write_data.next = self.lanes.val();
        self.waiting_lanes.read_address.next = self.waiting.read_address.val();

        // Response: the line and all that belongs to it are registered together.
        self.tag_slot.read_address.next = self.tags.read_address.val();
        self.tag_size.read_address.next = self.tags.read_address.val();
        self.tag_signed.read_address.next = self.tags.read_address.val();
        self.tag_rd.read_address.next = self.tags.read_address.val();
        self.room.next = !self.held.q.val() || self.result_ready.val();
        // A response that nobody waits for would be an error of the memory; it is dropped.
        self.receive.next = self.response_valid.val() && self.room.val() && !self.waiting.empty.val();
        self.response_ready.next = self.room.val();
        self.waiting.pop.next = self.receive.val();
        self.tags.pop.next = self.receive.val() && self.waiting_last.read_data.val();
        if self.room.val() {
            self.held.d.next = self.receive.val();
        }
        if self.receive.val() {
            self.held_line.d.next = self.response_data.val();
            self.held_error.d.next = self.response_error.val();
            self.held_slot.d.next = self.tag_slot.read_data.val();
            self.held_last.d.next = self.waiting_last.read_data.val();
            self.held_lanes.d.next = self.waiting_lanes.read_data.val();
            self.held_size.d.next = self.tag_size.read_data.val();
            self.held_signed.d.next = self.tag_signed.read_data.val();
            self.held_rd.d.next = self.tag_rd.read_data.val();
        }

        self.result_valid.next = self.held.q.val();
        self.result_slot.next = self.held_slot.q.val();
        self.result_rd.next = self.held_rd.q.val();
        self.result_mask.next = self.held_lanes.q.val();
        self.result_last.next = self.held_last.q.val();
        self.result_error.next = self.held_error.q.val();
        for i in 0..LANES {
            self.tag_offset[i].read_address.next = self.tags.read_address.val();
            self.held_offset[i].clock.next = self.clock.val();
            self.held_offset[i].reset.next = self.reset.val();
            self.held_offset[i].d.next = self.held_offset[i].q.val();
            if self.receive.val() {
                self.held_offset[i].d.next = self.tag_offset[i].read_data.val();
            }
            self.align[i].enable.next = self.held.q.val() && self.held_lanes.q.val().get_bit(i);
            self.align[i].line.next = self.held_line.q.val();
            self.align[i].offset.next = self.held_offset[i].q.val();
            self.align[i].size.next = self.held_size.q.val();
            self.align[i].sign_extend.next = self.held_signed.q.val();
            self.result_data[i].next = self.align[i].data.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{line_to_bits, reset, settle, tick};

    /// Starts a load of the word at offset `4 * n` by slot `n`.
    fn start(uut: &mut LoadPath<1>, n: u64) {
        uut.start.next = true;
        uut.start_slot.next = bits(n);
        uut.start_size.next = bits(2);
        uut.start_rd.next = bits(n + 10);
        uut.start_offset[0].next = bits(n * 4);
    }

    #[test]
    fn thirty_two_lines_wait_for_their_response() {
        let mut uut = LoadPath::<1>::default();
        reset!(uut);
        uut.line_valid.next = true;
        uut.lanes.next = bits(1);
        let mut taken = 0;
        for cycle in 0..60 {
            // Every operation has three lines and starts with the first of them; memory accepts requests only from cycle
            // 10 on.
            uut.read_ready.next = cycle >= 10;
            start(&mut uut, taken / 3);
            uut.last.next = taken % 3 == 2;
            uut.line.next = bits(100 + taken);
            settle(&mut uut);
            assert_eq!(uut.line_ready.val(), if cycle < 10 { taken < 4 } else { taken < 32 && cycle > 10 });
            uut.start.next = uut.line_ready.val() && taken % 3 == 0;
            if uut.line_ready.val() {
                taken += 1;
            }
            tick!(uut);
        }
        assert_eq!(taken, 32);
        uut.line_valid.next = false;
        uut.start.next = false;

        // The responses come in order; the result of each follows in the next cycle.
        let line: [u8; 64] = std::array::from_fn(|i| i as u8 / 4);
        uut.result_ready.next = true;
        for n in 0..33u32 {
            uut.response_valid.next = n < 32;
            uut.response_data.next = line_to_bits(&line);
            uut.response_error.next = n == 5;
            settle(&mut uut);
            assert!(uut.response_ready.val());
            assert_eq!(uut.result_valid.val(), n > 0);
            if n > 0 {
                let slot = (n - 1) / 3;
                assert_eq!(uut.result_slot.val().to_u32(), slot);
                assert_eq!(uut.result_rd.val().to_u32(), slot + 10);
                assert_eq!(uut.result_data[0].val().to_u32(), slot * 0x0101_0101);
                assert_eq!(uut.result_last.val(), n % 3 == 0);
                assert_eq!(uut.result_error.val(), n == 6);
            }
            tick!(uut);
        }
        settle(&mut uut);
        assert!(!uut.result_valid.val());
    }

    #[test]
    fn sixteen_operations_have_a_tag() {
        let mut uut = LoadPath::<1>::default();
        reset!(uut);
        uut.lanes.next = bits(1);
        uut.last.next = true;
        uut.read_ready.next = true;
        uut.line_valid.next = true;
        for n in 0..16 {
            start(&mut uut, n);
            settle(&mut uut);
            assert!(uut.start_ready.val());
            tick!(uut);
        }
        uut.start.next = false;
        uut.line_valid.next = false;
        settle(&mut uut);
        assert!(!uut.start_ready.val());
        uut.response_valid.next = true;
        tick!(uut);
        assert!(uut.start_ready.val());
    }

    #[test]
    fn a_response_that_nobody_waits_for_is_dropped() {
        let mut uut = LoadPath::<1>::default();
        reset!(uut);
        uut.response_valid.next = true;
        settle(&mut uut);
        assert!(uut.response_ready.val());
        tick!(uut);
        assert!(!uut.result_valid.val());
    }
}
