//! The data memory of a core.

use super::{MemoryStage, FROM_MEMORY, FROM_SCRATCHPAD};
use crate::config::CoreOptions;
use crate::memory::{AtomicPath, DataCache, LoadStoreUnit, LoadValue, Scratchpad};
use crate::ports::{
    AtomicAnswer, AtomicRequest, LateResult, LineError, LineRead, LineWrite, Look, MemoryRequest,
    RegisterRead, RowClear, SlotEvent,
};
use hermes_hdl::prelude::*;

/// The memories that the loads and stores of a core access: shared memory through the load/store
/// unit and the data cache, the scratchpad, and with atomic instructions the path of these to the
/// L2. This unit is wiring; function and timing of each part are in its own contract.
///
/// 1. An operation is accepted at the edge at which `request.valid` and `request.ready` are high,
///    into [`MemoryStage`]. From there it goes to the scratchpad with `request.scratchpad`, as an
///    atomic operation to [`AtomicPath`] with `request_atomic.valid`, but never with both, and else
///    to [`LoadStoreUnit`], whose rule for the order of the loads and stores of a warp slot holds
///    from acceptance on.
/// 2. Values return from two units, with the priority that [`LateResults`](super::LateResults)
///    gives them: shared memory ([`FROM_MEMORY`]), with loads and atomic operations, and the
///    scratchpad ([`FROM_SCRATCHPAD`]). Those of the scratchpad are taken at the edge at which
///    their `result.valid` is high, those of shared memory where `result_ready` is high as well,
///    which must be low if the scratchpad has some. Their words are registered as they come, and
///    `data` holds the values in the cycle after that.
/// 3. `data` is 0 after a cycle in which nothing is taken.
/// 4. `drop`, or an atomic operation that acquires, invalidates the data cache.
/// 5. Stores and atomic operations share the port for writes. Every answer of memory is accepted.
#[clocked]
#[derive(LogicBlock)]
#[new(options: CoreOptions, words: usize)]
pub struct DataMemory<const LANES: usize> {
    /// From the registers, the packet ports or a `fence`: invalidate the data cache.
    pub drop: Signal<In, Bit>,

    // From stage W
    /// An operation.
    pub request: MemoryRequest<LANES>,
    /// Byte address of each lane, a multiple of the size.
    #[count(LANES)]
    pub request_address: Vec<Signal<In, Bits<32>>>,
    /// Register of each lane to store, or operand of the atomic operation.
    #[count(LANES)]
    pub request_data: Vec<Signal<In, Bits<32>>>,
    /// The operation, if it is an atomic one (only with atomic instructions).
    #[there(options.atomics)]
    pub request_atomic: Part<AtomicRequest>,
    /// To the registers: the value that `amocas.w` compares with is to be read (only with
    /// compare-and-swap).
    #[there(options.atomics && options.compare_and_swap)]
    pub compare_read: Part<RegisterRead>,
    /// Value of the register in each lane, in the cycle after it was read.
    #[there(options.atomics && options.compare_and_swap)]
    #[count(LANES)]
    pub compare_value: Part<Vec<Signal<In, Bits<32>>>>,

    // To register write-back, from shared memory and from the scratchpad
    /// The scratchpad has values of lanes in the next cycle.
    pub scratchpad_next: Signal<Out, Bit>,
    /// Values of lanes, by where they come from.
    #[count(2)]
    pub result: Vec<LateResult<LANES>>,
    /// The values from shared memory are taken at this edge if they are here; those from the
    /// scratchpad always are.
    pub result_ready: Signal<In, Bit>,
    /// `result_ready` will be high in the next cycle.
    pub result_ready_next: Signal<In, Bit>,
    /// The line of the values from shared memory, `result[FROM_MEMORY]`, could not be read.
    pub result_error: Flipped<LineError>,
    /// Value of each lane that is taken, undefined for other lanes; 0 while nothing is taken.
    #[count(LANES)]
    pub data: Vec<Signal<Out, Bits<32>>>,

    // To the hazard check and the scheduler
    /// The last values of a load from shared memory are taken at this edge.
    pub loaded_valid: Signal<Out, Bit>,
    /// A store to shared memory completes.
    pub stored: Flipped<SlotEvent>,
    /// A store to the scratchpad completes.
    pub scratchpad_stored: Flipped<SlotEvent>,
    /// An atomic operation is in flight.
    pub atomic_busy: Signal<Out, Bit>,
    /// Warp slot of the atomic operation; undefined if there is none.
    pub atomic_slot: Signal<Out, Bits<5>>,
    /// The atomic operation is complete with this cycle.
    pub atomic_done: Signal<Out, Bit>,

    // Reads of memory
    /// Lines of the data cache, with tags below 64.
    pub read: LineRead,

    // Writes of memory
    /// Stores, with tags 0 to 31, and atomic operations, with tag 32 + lane.
    pub write: LineWrite,
    /// With the answers of atomic operations (only with atomic instructions).
    #[there(options.atomics)]
    pub atomic_answer: Part<AtomicAnswer>,

    // To the counters, each high for one cycle
    /// A data line was found in the data cache.
    pub hit: Signal<Out, Bit>,
    /// A data line goes to be read from memory.
    pub miss: Signal<Out, Bit>,
    /// A data line is written; atomic operations do not count.
    pub line_write: Signal<Out, Bit>,

    /// To the warps that wait for writes (only with atomic instructions and a network interface).
    #[there(options.atomics && options.network)]
    pub look: Part<Look>,
    /// From the owner of the cores: a row of the scratchpad is cleared (only with network
    /// functions).
    #[there(options.functions())]
    pub clear: Part<Flipped<RowClear>>,
    #[init(MemoryStage::new(options.atomics))]
    stage: MemoryStage<LANES>,
    #[init(LoadStoreUnit::new(options))]
    load_store: LoadStoreUnit<LANES>,
    #[init(DataCache::new(options.l1_lines.ilog2() as usize))]
    data_cache: DataCache,
    #[init(Scratchpad::new(options.functions()))]
    scratchpad: Scratchpad<LANES>,
    #[init(Part::when(options.atomics, || AtomicPath::new(options)))]
    atomic_path: Part<AtomicPath<LANES>>,
    #[count(LANES)]
    loaded: Vec<LoadValue>,
    /// The words taken in the last cycle, and the addresses, of which the place in the word counts.
    #[init(LaneRegisters::new(LANES))]
    word: LaneRegisters<32>,
    #[init(LaneRegisters::new(LANES))]
    address: LaneRegisters<32>,
    size_q: Register<Bits<2>>,
    sign_extend_q: Register<Bit>,
    loads: Register<Bit>,
    #[init(words)]
    _words: usize,
    #[init(LANES / words)]
    _share: usize,
}

impl<const LANES: usize> DataMemory<LANES> {
    /// The data memory of a core with these options.
    ///
    /// # Panics
    /// If the lines of the cache are not a power of two from 2 to 65536, the lanes not one up to
    /// 32, or the words at once not a power of two.
    pub fn new(options: CoreOptions) -> Self {
        let CoreOptions { l1_lines, line_words, .. } = options;
        assert!(l1_lines.is_power_of_two(), "DataMemory: {l1_lines} lines");
        Self::wired(options, LANES.min(line_words))
    }
}

impl<const LANES: usize> Logic for DataMemory<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // Operations to the unit that makes them
        connect!(self.request, self.stage.request);
        self.stage.memory_ready.next = self.load_store.request.ready.val();
        self.stage.scratchpad_ready.next = self.scratchpad.request.ready.val();
        self.stage.ready_next.next = self.load_store.ready_next.val() & self.scratchpad.ready_next.val();
        connect!(self.stage.held, self.load_store.request);
        self.load_store.request.valid.next = self.stage.held_valid.val() & !self.stage.held_scratchpad.val();
        connect!(self.stage.held, self.scratchpad.request);
        self.scratchpad.request.valid.next = self.stage.held_valid.val() & self.stage.held_scratchpad.val();
        if self.clear.is_there() {
            connect!(self.clear, self.scratchpad.clear);
        }
        for i in 0..LANES {
            self.stage.request_address[i].next = self.request_address[i].val();
            self.stage.request_data[i].next = self.request_data[i].val();
        }

        // Reads
        connect!(self.load_store.read, self.data_cache.request);
        connect!(self.load_store.answer, self.data_cache.answer);
        connect!(self.read, self.data_cache.read);
        self.data_cache.drop.next = self.drop.val();

        // Writes, which the data cache observes
        if !self.request_atomic.is_there() {
            connect!(self.write, self.load_store.write);
            connect!(self.load_store.write, self.data_cache.store);
            self.data_cache.store.valid.next = self.load_store.write.valid.val() & self.write.ready.val();
        }
        connect!(self.write.written, self.data_cache.written);

        // Results
        connect!(self.result[FROM_MEMORY], self.load_store.result);
        connect!(self.result_error, self.load_store.result_error);
        self.load_store.result_ready.next = self.result_ready.val();
        self.load_store.result_ready_next.next = self.result_ready_next.val();
        self.scratchpad_next.next = self.scratchpad.result_next.val();
        connect!(self.result[FROM_SCRATCHPAD], self.scratchpad.result);
        self.loaded_valid.next =
            self.load_store.result.valid.val() & self.load_store.result.last.val() & self.result_ready.val();
        connect!(self.stored, self.load_store.stored);
        connect!(self.scratchpad_stored, self.scratchpad.stored);
        let mut atomic_held = false;
        self.atomic_busy.next = false;
        self.atomic_slot.next = bits::<5>(0);
        self.atomic_done.next = false;
        self.hit.next = self.data_cache.hit.val();
        self.miss.next = self.data_cache.miss.val();
        self.line_write.next = self.load_store.line_write.val();

        // Values: the words of memory are 0 when the scratchpad's are taken, and the other way
        // round.
        let mut from_memory = self.load_store.result.valid.val() & self.result_ready.val();
        let from_scratchpad = self.scratchpad.result.valid.val();
        let mut size = self.load_store.place.size.val();
        let mut sign_extend = self.load_store.place.signed.val();
        for i in 0..LANES {
            self.address.d[i].next = self.load_store.place.address[i].val();
        }
        // A word of the line stands for several lanes.
        for w in 0..self._words {
            for s in 0..self._share {
                if !self.request_atomic.is_there() {
                    self.word.d[w + s * self._words].next = self.load_store.result_word[w].val()
                        | self.scratchpad.result_word[w + s * self._words].val();
                }
                if self.request_atomic.is_there() {
                    self.atomic_path.load_word[w + s * self._words].next =
                        self.load_store.result_word[w].val();
                }
            }
        }

        // Atomic operations, if configured, share the path of stores, and their values return like
        // those of loads. The data cache treats them as stores.
        if self.look.is_there() {
            connect!(self.look, self.atomic_path.look);
        }
        if self.compare_read.is_there() {
            connect!(self.compare_read, self.atomic_path.compare_read);
            for i in 0..LANES {
                self.atomic_path.compare_value[i].next = self.compare_value[i].val();
            }
        }
        if self.request_atomic.is_there() {
            connect!(self.request_atomic, self.stage.request_atomic);
            self.atomic_path.request_valid.next =
                self.stage.held_valid.val() & self.stage.held_atomic.valid.val();
            connect!(self.stage.held, self.atomic_path.request);
            self.atomic_path.request_operation.next = self.stage.held_atomic.operation.val();
            self.atomic_path.request_acquire.next = self.stage.held_atomic.acquire.val();
            if self.stage.held_atomic.valid.val() {
                self.load_store.request.valid.next = false;
                self.stage.memory_ready.next = self.atomic_path.request_ready.val();
            }
            // An atomic operation waits in stage M until the one before it is complete.
            atomic_held = self.stage.held_valid.val() & self.stage.held_atomic.valid.val();
            if (self.request_atomic.valid.val() | atomic_held)
                & (atomic_held | !self.atomic_path.request_ready.val())
            {
                self.stage.ready_next.next = false;
            }

            connect!(self.load_store.write, self.atomic_path.store);
            connect!(self.write, self.atomic_path.write);
            connect!(*self.atomic_answer, self.atomic_path.answer);
            connect!(self.atomic_path.write, self.data_cache.store);
            self.data_cache.store.valid.next = self.atomic_path.write.valid.val() & self.write.ready.val();
            if self.atomic_path.acquire.val() {
                self.data_cache.drop.next = true;
            }

            connect!(self.load_store.result, self.atomic_path.load);
            connect!(self.load_store.result_error, self.atomic_path.load_error);
            self.atomic_path.result_ready.next = self.result_ready.val();
            connect!(self.result[FROM_MEMORY], self.atomic_path.result);
            connect!(self.result_error, self.atomic_path.result_error);
            self.atomic_busy.next = self.atomic_path.busy.val();
            self.atomic_slot.next = self.atomic_path.slot.val();
            if atomic_held {
                self.atomic_busy.next = true;
                self.atomic_slot.next = self.stage.held.slot.val();
            }
            self.atomic_done.next = self.atomic_path.done.val();

            from_memory = self.atomic_path.result.valid.val() & self.result_ready.val();
            if !self.load_store.result.valid.val() {
                size = bits::<2>(2);
            }
            for i in 0..LANES {
                self.word.d[i].next =
                    self.atomic_path.result_word[i].val() | self.scratchpad.result_word[i].val();
                if !self.load_store.result.valid.val() {
                    self.address.d[i].next = bits::<32>(0);
                }
            }
        }

        // The results that are taken in this cycle
        if from_scratchpad {
            size = self.scratchpad.place.size.val();
            sign_extend = self.scratchpad.place.signed.val();
            for i in 0..LANES {
                self.address.d[i].next = self.scratchpad.place.address[i].val();
            }
        }
        let taken = from_memory | from_scratchpad;
        self.loads.d.next = taken;
        self.size_q.d.next = size;
        self.sign_extend_q.d.next = sign_extend;
        self.word.write_enable.next = taken;
        self.address.write_enable.next = taken;

        // Their values, a cycle later
        for i in 0..LANES {
            self.loaded[i].enable.next = self.loads.q.val();
            self.loaded[i].word.next = self.word.q[i].val();
            self.loaded[i].offset.next = self.address.q[i].val().get_bits::<2>(0);
            self.loaded[i].size.next = self.size_q.q.val();
            self.loaded[i].sign_extend.next = self.sign_extend_q.q.val();
            self.data[i].next = self.loaded[i].data.val();
        }
    }
}
