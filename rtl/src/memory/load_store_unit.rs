//! The load/store unit of a core.

use super::{Coalescer, LoadPath, StorePath};
use crate::ports::LineWrite;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Coalesces the memory operations of warps into requests for 64-byte lines, and returns the words
/// that hold the loaded values.
///
/// 1. Up to 32 loads that wait for their lines and any number of stores are in flight, several of
///    one warp slot among them; but a slot's load is offered only after `stored_valid` of all its
///    stores, and its store after `result_last` of all its loads, because reads and writes may
///    overtake each other in memory. Loads complete in the order of acceptance, and so do stores.
///    The mask is never empty and addresses are multiples of the size.
/// 2. Every line request serves all lanes of the operation that want this line. One line a cycle is
///    requested; a line of a store takes a cycle for each four lanes in a row of which one writes
///    to it (see [`StorePath`]). Up to seven operations wait for this, so that an operation of many
///    lines does not hold up the core before it offers more than six others.
/// 3. Where several lanes store to the same byte, the highest lane wins.
/// 4. A load line appears on `read_valid` one cycle after its operation was accepted (first line),
///    its values on `result_valid` two cycles after the answer was accepted. A store line of up to
///    four lanes in a row appears on `write.valid` three cycles after its operation was accepted;
///    `stored_valid` follows `write.written.valid` of its last line by two cycles.
/// 5. Up to 256 lines wait for their answer, which come in the order of the requests, and 32 to be
///    written, in any order.
#[derive(Clone, Debug, LogicBlock)]
#[new(load: LoadPath<LANES>, words: usize)]
pub struct LoadStoreUnit<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    // From stage M
    /// An operation is offered.
    pub request_valid: Signal<In, Bit>,
    /// It is accepted at this edge; depends on registers only. Low while 32 loads wait for their
    /// lines.
    pub request_ready: Signal<Out, Bit>,
    /// `request_ready` will be high in the next cycle, whatever is offered in this one. It may be
    /// low before others are.
    pub ready_next: Signal<Out, Bit>,
    /// Warp slot.
    pub request_slot: Signal<In, Bits<5>>,
    /// Store (else load).
    pub request_store: Signal<In, Bit>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub request_size: Signal<In, Bits<2>>,
    /// Loads: extend by the sign.
    pub request_signed: Signal<In, Bit>,
    /// Loads: destination register.
    pub request_rd: Signal<In, Bits<5>>,
    /// Lanes that take part; at least one.
    pub request_mask: Signal<In, Bits<LANES>>,
    /// Byte address of each lane.
    #[count(LANES)]
    pub request_address: Vec<Signal<In, Bits<32>>>,
    /// Register of each lane to store.
    #[count(LANES)]
    pub request_data: Vec<Signal<In, Bits<32>>>,

    // To data cache and memory
    /// A line is to be read.
    pub read_valid: Signal<Out, Bit>,
    /// Accepted at this edge.
    pub read_ready: Signal<In, Bit>,
    /// Line address.
    pub read_line: Signal<Out, LineAddress>,
    /// Writes lines, with tags 0 to 31.
    pub write: LineWrite,

    // From data cache and memory
    /// The line of the oldest read can be had.
    pub answer_valid: Signal<In, Bit>,
    /// Accepted at this edge.
    pub answer_ready: Signal<Out, Bit>,
    /// The line of the answer accepted last.
    pub answer_data: Signal<In, Bits<512>>,
    /// The memory could not read it.
    pub answer_error: Signal<In, Bit>,

    // To register write-back
    /// Values of lanes are here.
    pub result_valid: Signal<Out, Bit>,
    /// Accepted at this edge.
    pub result_ready: Signal<In, Bit>,
    /// `result_ready` will be high in the next cycle.
    pub result_ready_next: Signal<In, Bit>,
    /// Warp slot.
    pub result_slot: Signal<Out, Bits<5>>,
    /// Destination register.
    pub result_rd: Signal<Out, Bits<5>>,
    /// Lanes whose value is here.
    pub result_mask: Signal<Out, Bits<LANES>>,
    /// Word for lane `i` of the mask in element `i` modulo four. It is 0 if no such lane is in the
    /// mask, and while `result_valid` or `result_ready` is low.
    #[count(words)]
    pub result_word: Vec<Signal<Out, Bits<32>>>,
    /// Byte address of each lane of the mask; its place in the line counts.
    #[count(LANES)]
    pub result_address: Vec<Signal<Out, Bits<32>>>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub result_size: Signal<Out, Bits<2>>,
    /// Extend by the sign.
    pub result_signed: Signal<Out, Bit>,
    /// The operation is complete with these lanes.
    pub result_last: Signal<Out, Bit>,
    /// The memory could not read the line of these lanes; their words are whatever the bus carried.
    pub result_error: Signal<Out, Bit>,
    /// Line address of that line.
    pub result_line: Signal<Out, LineAddress>,
    /// A store operation is complete (one cycle, always accepted).
    pub stored_valid: Signal<Out, Bit>,
    /// Its warp slot.
    pub stored_slot: Signal<Out, Bits<5>>,

    // To the counters
    /// A line write was requested in this cycle.
    pub line_write: Signal<Out, Bit>,

    coalescer: Coalescer<LANES>,
    #[init(load)]
    load: LoadPath<LANES>,
    store: StorePath<LANES>,
    #[init(words)]
    _words: usize,
}

impl<const LANES: usize> Default for LoadStoreUnit<LANES> {
    fn default() -> Self {
        let load = LoadPath::default();
        let words = load.result_word.len();
        Self::wired(load, words)
    }
}

impl<const LANES: usize> Logic for LoadStoreUnit<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.coalescer.request_valid.next = self.request_valid.val() && self.load.start_ready.val();
        self.coalescer.request_slot.next = self.request_slot.val();
        self.coalescer.request_store.next = self.request_store.val();
        self.coalescer.request_size.next = self.request_size.val();
        self.coalescer.request_mask.next = self.request_mask.val();
        self.request_ready.next = self.coalescer.request_ready.val() && self.load.start_ready.val();
        self.ready_next.next = self.coalescer.ready_next.val() && self.load.ready_next.val();
        self.coalescer.load_ready.next = self.load.line_ready.val();
        self.coalescer.store_ready.next = self.store.line_ready.val();
        self.coalescer.held_valid.next = self.store.held_valid.val();
        self.coalescer.held_entry.next = self.store.held_entry.val();

        self.load.start.next = self.request_valid.val()
            && self.coalescer.request_ready.val()
            && self.load.start_ready.val()
            && !self.request_store.val();
        self.load.start_slot.next = self.request_slot.val();
        self.load.start_size.next = self.request_size.val();
        self.load.start_signed.next = self.request_signed.val();
        self.load.start_rd.next = self.request_rd.val();
        self.load.line_valid.next = self.coalescer.load_valid.val();
        self.load.line.next = self.coalescer.line.val();
        self.load.lanes.next = self.coalescer.served.val();
        self.load.last.next = self.coalescer.last.val();
        self.read_valid.next = self.load.read_valid.val();
        self.read_line.next = self.load.read_line.val();
        self.load.read_ready.next = self.read_ready.val();
        self.load.answer_valid.next = self.answer_valid.val();
        self.load.answer_data.next = self.answer_data.val();
        self.load.answer_error.next = self.answer_error.val();
        self.answer_ready.next = self.load.answer_ready.val();
        self.result_valid.next = self.load.result_valid.val();
        self.result_slot.next = self.load.result_slot.val();
        self.result_rd.next = self.load.result_rd.val();
        self.result_mask.next = self.load.result_mask.val();
        self.result_last.next = self.load.result_last.val();
        self.result_error.next = self.load.result_error.val();
        self.result_line.next = self.load.result_line.val();
        self.load.result_ready.next = self.result_ready.val();
        self.load.result_ready_next.next = self.result_ready_next.val();

        self.store.line_valid.next = self.coalescer.store_valid.val();
        self.store.line.next = self.coalescer.line.val();
        self.store.lanes.next = self.coalescer.served.val();
        self.store.last.next = self.coalescer.last.val();
        self.store.slot.next = self.coalescer.slot.val();
        self.store.entry.next = self.coalescer.entry.val();
        self.store.size.next = self.coalescer.size.val();
        connect!(self.write, self.store.write);
        self.stored_valid.next = self.store.stored_valid.val();
        self.stored_slot.next = self.store.stored_slot.val();

        for i in 0..LANES {
            self.coalescer.request_address[i].next = self.request_address[i].val();
            self.coalescer.request_data[i].next = self.request_data[i].val();
            self.load.start_address[i].next = self.request_address[i].val();
            self.store.address[i].next = self.coalescer.address[i].val();
            self.store.data[i].next = self.coalescer.data[i].val();
            self.result_address[i].next = self.load.result_address[i].val();
        }
        for i in 0..self._words {
            self.result_word[i].next = self.load.result_word[i].val();
        }
        self.result_size.next = self.load.result_size.val();
        self.result_signed.next = self.load.result_signed.val();

        self.line_write.next = self.store.write.valid.val() && self.write.ready.val();
    }
}
