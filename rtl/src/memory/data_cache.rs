//! The data cache of a core.

use super::{CacheTags, ReorderBuffer};
use crate::blocks::IndexHash;
use crate::blocks::{QueuePointers, QueueRam};
use crate::ports::{AcceptedWrite, CacheAnswer, CacheRequest, LineRead, LineWritten};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Write-through, direct-mapped data cache of `2^lines_log2` lines with up to 64 outstanding
/// misses: loads stay in order.
///
/// The scheme is that of texture caches that prefetch: the tags are looked up and updated when a
/// load is requested, the lines follow in the same order.
///
/// 1. A request is accepted at the edge at which `request.valid` and `request.ready` are high. In
///    the next cycle at the earliest its tag is checked. A miss requests its line from memory at
///    once (`read.valid` in the cycle after) and counts as present from then on.
/// 2. Hits and misses wait in one queue of 256 entries. At its head a miss waits for its line;
///    `answer.valid` announces that the line of the oldest request can be had. After the edge at
///    which it meets `answer.ready`, `answer.data` and `answer.error` hold that line, until the
///    next such edge. A line that came from memory goes into the data memory at the same time: so
///    what the tag check found is true when the data memory is read.
/// 3. One request a cycle is sustained, hits and misses alike. A hit is announced two cycles after
///    its request was accepted, a miss two cycles after its response.
/// 4. Stores bypass the cache: `store.valid` notifies it that a line was sent to memory under a
///    tag, and when `written.valid` comes with the tag, it removes that line or any other at its
///    place. A load requested after that gets the line as it is written.
/// 5. `drop` invalidates all lines, also those outstanding, an edge later. A load requested after
///    `drop` gets its line from memory.
/// 6. An answer that came with an error goes with `answer.error` to all requests that found its
///    line; three edges after it was taken all lines are invalidated, so that it does not stay.
///
/// A request that was accepted at the edge of a removal or before, and found its line, may still
/// get it from the cache.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(lines_log2: usize)]
pub struct DataCache {
    /// Invalidates all lines.
    pub drop: Signal<In, Bit>,

    // Loads, from the load/store unit
    /// From the load path: a line is requested. `ready` depends on registers only.
    pub request: Flipped<CacheRequest>,
    /// To the load path: the line of the oldest request.
    pub answer: CacheAnswer,

    // Reads from memory
    /// Reads lines, with tags below 64.
    pub read: LineRead,

    // Stores, which bypass the cache
    /// A write that memory accepts at this edge.
    pub store: Flipped<AcceptedWrite>,
    /// A line is written.
    pub written: LineWritten,

    // To the counters
    /// A request found its line (one cycle).
    pub hit: Signal<Out, Bit>,
    /// A request goes to memory (one cycle).
    pub miss: Signal<Out, Bit>,

    #[init(IndexHash::new(lines_log2, 0))]
    request_hash: IndexHash,
    requests: QueuePointers<2>,
    request_lines: RamAsync<LineAddress, 2>,
    request_places: RamAsync<Bits<16>, 2>,
    #[init(CacheTags::new(lines_log2))]
    tags: CacheTags,
    reads: QueuePointers<2>,
    read_lines: RamAsync<LineAddress, 2>,
    read_tags: RamAsync<Bits<6>, 2>,
    reorder: ReorderBuffer,
    waiting: QueuePointers<8>,
    /// Place of the line, and above it whether the line was there.
    waiting_place: QueueRam<17, 8>,
    #[init(RamSized::new(lines_log2))]
    data: RamSized<512>,
    #[init(RamSizedAsync::new(lines_log2))]
    errors: RamSizedAsync<1>,
    #[init(IndexHash::new(lines_log2, 0))]
    store_hash: IndexHash,
    store_places: RamAsync<Bits<16>, 6>,

    // The line taken last: its place, whether that is known, and where it comes from.
    held_known: Register<Bit>,
    held_place: Register<Bits<16>>,
    held_from_data: Register<Bit>,
    held_error: Register<Bit>,
    /// The line taken at the last edge came from memory.
    fill: Register<Bit>,
    /// All lines are to be invalidated.
    dropping: Register<Bit>,
}

impl DataCache {
    /// A cache of `2^lines_log2` lines.
    ///
    /// # Panics
    /// If `lines_log2` is not 1 to 16.
    pub fn new(lines_log2: usize) -> Self {
        Self::wired(lines_log2)
    }
}

impl Logic for DataCache {
    #[hdl_gen]
    fn update(&mut self) {
        // Requests
        self.request.ready.next = !self.requests.full.val();
        self.request_hash.line.next = self.request.line.val();
        self.requests.push.next = self.request.valid.val() && !self.requests.full.val();
        self.request_lines.write_enable.next = self.request.valid.val() && !self.requests.full.val();
        self.request_lines.write_address.next = self.requests.write_address.val();
        self.request_lines.write_data.next = self.request.line.val();
        self.request_lines.read_address.next = self.requests.read_address.val();
        self.request_places.write_enable.next = self.request.valid.val() && !self.requests.full.val();
        self.request_places.write_address.next = self.requests.write_address.val();
        self.request_places.write_data.next = self.request_hash.index.val();
        self.request_places.read_address.next = self.requests.read_address.val();

        // Tag check of the oldest
        self.tags.line.next = self.request_lines.read_data.val();
        self.tags.index.next = self.request_places.read_data.val();
        let moves = !self.requests.empty.val()
            && !self.waiting.full.val()
            && (self.tags.hit.val() || (!self.reorder.full.val() && !self.reads.full.val()));
        let misses = moves && !self.tags.hit.val();
        self.requests.pop.next = moves;
        self.tags.install.next = misses;
        self.reorder.allocate.next = misses;
        self.hit.next = moves && self.tags.hit.val();
        self.miss.next = misses;
        self.waiting.push.next = moves;
        self.waiting_place.push.next = moves;
        self.waiting_place.write_address.next = self.waiting.write_address.val();
        self.waiting_place.write_data.next = (bit_cast::<17, 1>(self.tags.hit.val().into()) << 16)
            | bit_cast::<17, 16>(self.request_places.read_data.val());
        self.waiting_place.read_address.next = self.waiting.read_address.val();

        // Reads from memory
        self.reads.push.next = misses;
        self.read_lines.write_enable.next = misses;
        self.read_lines.write_address.next = self.reads.write_address.val();
        self.read_lines.write_data.next = self.request_lines.read_data.val();
        self.read_lines.read_address.next = self.reads.read_address.val();
        self.read_tags.write_enable.next = misses;
        self.read_tags.write_address.next = self.reads.write_address.val();
        self.read_tags.write_data.next = self.reorder.tag.val();
        self.read_tags.read_address.next = self.reads.read_address.val();
        self.read.valid.next = !self.reads.empty.val();
        self.read.line.next = self.read_lines.read_data.val();
        self.read.tag.next = bit_cast::<7, 6>(self.read_tags.read_data.val());
        self.reads.pop.next = !self.reads.empty.val() && self.read.ready.val();
        self.reorder.response_valid.next = self.read.response.valid.val();
        self.reorder.response_tag.next = self.read.response.tag.val().get_bits::<6>(0);
        self.reorder.response_data.next = self.read.response.data.val();
        self.reorder.response_error.next = self.read.response.error.val();

        // Answer to the oldest request. A hit at the place of the line taken last wants that line
        // once more.
        let again = self.held_known.q.val()
            && (self.waiting_place.front.val().get_bits::<16>(0) == self.held_place.q.val());
        let can_answer = !self.waiting.empty.val()
            && (self.waiting_place.front.val().get_bit(16) || self.reorder.arrived.val());
        self.answer.valid.next = can_answer;
        let take = can_answer && self.answer.ready.val();
        self.waiting.pop.next = take;
        self.waiting_place.pop.next = take;
        self.reorder.take.next = take && !self.waiting_place.front.val().get_bit(16);
        self.data.read_enable.next = take && self.waiting_place.front.val().get_bit(16) && !again;
        self.data.read_address.next = self.waiting_place.front.val().get_bits::<16>(0);
        self.errors.read_address.next = self.waiting_place.front.val().get_bits::<16>(0);
        self.fill.d.next = take && !self.waiting_place.front.val().get_bit(16);
        if take {
            self.held_known.d.next = true;
            self.held_place.d.next = self.waiting_place.front.val().get_bits::<16>(0);
            if !self.waiting_place.front.val().get_bit(16) {
                self.held_from_data.d.next = false;
                self.held_error.d.next = self.reorder.error.val();
            } else if !again {
                self.held_from_data.d.next = true;
                self.held_error.d.next = self.errors.read_data.val().any();
            }
        }
        self.answer.data.next = self.reorder.data.val();
        if self.held_from_data.q.val() {
            self.answer.data.next = self.data.read_data.val();
        }
        self.answer.error.next = self.held_error.q.val();
        self.data.write_enable.next = self.fill.q.val();
        self.data.write_address.next = self.held_place.q.val();
        self.data.write_data.next = self.reorder.data.val();
        self.errors.write_enable.next = self.fill.q.val();
        self.errors.write_address.next = self.held_place.q.val();
        self.errors.write_data.next = bits::<1>(0);
        if self.held_error.q.val() {
            self.errors.write_data.next = bits::<1>(1);
        }

        // Removal and invalidation
        self.store_hash.line.next = self.store.line.val();
        self.store_places.write_enable.next = self.store.valid.val();
        self.store_places.write_address.next = self.store.tag.val();
        self.store_places.write_data.next = self.store_hash.index.val();
        self.store_places.read_address.next = self.written.tag.val();
        self.tags.remove_valid.next = self.written.valid.val();
        self.tags.remove_index.next = self.store_places.read_data.val();
        self.dropping.d.next = self.drop.val() || (self.fill.q.val() && self.held_error.q.val());
        self.tags.drop.next = self.dropping.q.val();
    }
}
