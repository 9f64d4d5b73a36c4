//! The load/store unit of a core.

use super::{Coalescer, LoadPath, StorePath};
use crate::config::CoreOptions;
use crate::ports::{
    CacheAnswer, CacheRequest, LaneRequest, LateResult, LineError, LineWrite, SlotEvent, ValuePlace,
};
use hermes_hdl::prelude::*;

/// Coalesces the memory operations of warps into requests for 64-byte lines, and returns the words
/// that hold the loaded values.
///
/// 1. Up to 32 loads that wait for their lines and any number of stores are in flight, several of
///    one warp slot among them; but a slot's load is offered only after `stored.valid` of all its
///    stores, and its store after `result.last` of all its loads, because reads and writes may
///    overtake each other in memory. Loads complete in the order of acceptance, and so do stores.
///    The mask is never empty and addresses are multiples of the size.
/// 2. Every line request serves all lanes of the operation that want this line. One line a cycle is
///    requested; a line of a store takes a cycle for each four lanes in a row of which one writes
///    to it (see [`StorePath`]). Up to seven operations wait for this, so that an operation of many
///    lines does not hold up the core before it offers more than six others.
/// 3. Where several lanes store to the same byte, the highest lane wins.
/// 4. A load line appears on `read.valid` one cycle after its operation was accepted (first line),
///    its values on `result.valid` two cycles after the answer was accepted. A store line of lanes
///    that are merged in a cycle appears on `write.valid` three cycles after its operation was
///    accepted; `stored.valid` follows `write.written.valid` of its last line by two cycles.
/// 5. Up to 256 lines wait for their answer, which come in the order of the requests, and 32 to be
///    written, in any order.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(options: CoreOptions, words: usize)]
pub struct LoadStoreUnit<const LANES: usize> {
    /// From stage M: an operation. `ready` is low while 32 loads wait for their lines.
    pub request: LaneRequest<LANES>,
    /// `request.ready` will be high in the next cycle, whatever is offered in this one. It may be
    /// low before others are.
    pub ready_next: Signal<Out, Bit>,

    /// To the data cache: a line is requested.
    pub read: CacheRequest,
    /// Writes lines, with tags 0 to 31.
    pub write: LineWrite,

    /// From the data cache: the line of the oldest request.
    pub answer: Flipped<CacheAnswer>,

    /// To register write-back: values of lanes.
    pub result: LateResult<LANES>,
    /// Accepted at this edge.
    pub result_ready: Signal<In, Bit>,
    /// `result_ready` will be high in the next cycle.
    pub result_ready_next: Signal<In, Bit>,
    /// Word for lane `i` of the mask in element `i` modulo their number. It is 0 if no such lane is
    /// in the mask, and while `result.valid` or `result_ready` is low.
    #[count(words)]
    pub result_word: Vec<Signal<Out, Bits<32>>>,
    /// To the extraction of the values.
    pub place: ValuePlace<LANES>,
    /// The line of the values could not be read.
    pub result_error: Flipped<LineError>,
    /// To the hazard check: a store operation is complete.
    pub stored: Flipped<SlotEvent>,

    // To the counters
    /// A line write was requested in this cycle.
    pub line_write: Signal<Out, Bit>,

    coalescer: Coalescer<LANES>,
    #[init(LoadPath::new(options))]
    load: LoadPath<LANES>,
    #[init(StorePath::new(options))]
    store: StorePath<LANES>,
    #[init(words)]
    _words: usize,
}

impl<const LANES: usize> LoadStoreUnit<LANES> {
    /// The unit of a core with these options.
    ///
    /// # Panics
    /// If the words at once are not a power of two.
    pub fn new(options: CoreOptions) -> Self {
        Self::wired(options, LANES.min(options.line_words))
    }
}

impl<const LANES: usize> Logic for LoadStoreUnit<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.coalescer.request);
        self.coalescer.request.valid.next = self.request.valid.val() && self.load.start_ready.val();
        self.request.ready.next = self.coalescer.request.ready.val() && self.load.start_ready.val();
        self.ready_next.next = self.coalescer.ready_next.val() && self.load.ready_next.val();
        self.coalescer.load_ready.next = self.load.line_ready.val();
        self.coalescer.store_ready.next = self.store.line_ready.val();
        connect!(self.store.held, self.coalescer.held);

        connect!(self.request, self.load.start);
        self.load.start.valid.next = self.request.valid.val()
            && self.coalescer.request.ready.val()
            && self.load.start_ready.val()
            && !self.request.store.val();
        self.load.line_valid.next = self.coalescer.load_valid.val();
        connect!(self.coalescer.offered, self.load.offered);
        connect!(self.read, self.load.read);
        connect!(self.answer, self.load.answer);
        connect!(self.result, self.load.result);
        connect!(self.result_error, self.load.result_error);
        connect!(self.place, self.load.place);
        self.load.result_ready.next = self.result_ready.val();
        self.load.result_ready_next.next = self.result_ready_next.val();

        self.store.line_valid.next = self.coalescer.store_valid.val();
        connect!(self.coalescer.offered, self.store.offered);
        self.store.slot.next = self.coalescer.slot.val();
        self.store.entry.next = self.coalescer.entry.val();
        connect!(self.write, self.store.write);
        connect!(self.stored, self.store.stored);

        for i in 0..self._words {
            self.result_word[i].next = self.load.result_word[i].val();
        }

        self.line_write.next = self.store.write.valid.val() && self.write.ready.val();
    }
}
