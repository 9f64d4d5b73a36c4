//! Stages F and I: instructions come from the cache.

use crate::memory::InstructionCache;
use crate::ports::LineRead;
use hermes_hdl::prelude::*;

/// Looks up instructions in the instruction cache that all harts share, and holds that of stage D.
///
/// 1. `issue_valid` with hart and PC in stage F; two cycles later, in stage D, it is on the
///    `decode_` outputs, if the cache has it and its hart was not dropped meanwhile.
/// 2. If the cache does not have it, `miss_valid` is high in its cycle of stage D instead: the hart
///    waits for `filled` and looks up again.
/// 3. From 0xfff0_0000 on there is no memory: nothing is looked up, and the instruction comes with
///    `decode_error`.
/// 4. With `issue_debug` nothing is looked up either: the instruction is `debug_word`, which must
///    stand in the cycle after.
/// 5. A cycle with `stall` high holds the instructions in stages I and D; none is fetched in it.
#[derive(LogicBlock)]
#[new(lines: usize, ways: usize)]
pub struct CommandFetch {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stage F: a hart fetches; low while `stall` is high.
    pub issue_valid: Signal<In, Bit>,
    /// The hart.
    pub issue_hart: Signal<In, Bits<3>>,
    /// Its PC, bits 31:2.
    pub issue_pc: Signal<In, Bits<30>>,
    /// It takes `debug_word`.
    pub issue_debug: Signal<In, Bit>,
    /// The word of CP_EXECUTE.
    pub debug_word: Signal<In, Bits<32>>,
    /// The instructions in stages I and D stay there. Only while `decode_valid` is high.
    pub stall: Signal<In, Bit>,
    /// Harts whose instructions in stages F and I are dropped.
    pub drop_fetched: Signal<In, Bits<8>>,
    /// Harts whose instruction in stage D is dropped as well.
    pub drop_decoded: Signal<In, Bits<8>>,
    /// Every line of the cache is invalidated.
    pub flush: Signal<In, Bit>,
    /// Stage D holds an instruction.
    pub decode_valid: Signal<Out, Bit>,
    /// The same before it is known whether the instruction leaves: early, for the choice of stage F.
    pub decode_holds: Signal<Out, Bit>,
    /// As `miss_valid`, as early.
    pub miss_holds: Signal<Out, Bit>,
    /// Its hart; that of the miss as well.
    pub decode_hart: Signal<Out, Bits<3>>,
    /// Its PC, bits 31:2; that of the miss as well.
    pub decode_pc: Signal<Out, Bits<30>>,
    /// Its word.
    pub decode_word: Signal<Out, Bits<32>>,
    /// It is one of CP_EXECUTE.
    pub decode_debug: Signal<Out, Bit>,
    /// The word could not be fetched.
    pub decode_error: Signal<Out, Bit>,
    /// The instruction in stage D is not in the cache.
    pub miss_valid: Signal<Out, Bit>,
    /// Harts that wait for a line look up again from the next cycle on.
    pub filled: Signal<Out, Bit>,
    /// Harts for which a line is requested or awaited.
    pub outstanding: Signal<Out, Bits<8>>,
    /// To memory: lines of the instruction cache, one at a time.
    pub fetch: LineRead,
    #[init(InstructionCache::new(lines, ways))]
    cache: InstructionCache,
    valid_i: Register<Bit>,
    hart_i: Register<Bits<3>>,
    pc_i: Register<Bits<30>>,
    outside_i: Register<Bit>,
    debug_i: Register<Bit>,
    valid_d: Register<Bit>,
    hart_d: Register<Bits<3>>,
    pc_d: Register<Bits<30>>,
    outside_d: Register<Bit>,
    debug_d: Register<Bit>,
    hit_d: Register<Bit>,
    error_d: Register<Bit>,
    word_d: Register<Bits<32>>,
    /// A miss was recorded in the cycle before.
    missed: Register<Bit>,
    missed_hart: Register<Bits<3>>,
    /// The cache requests or awaits a line.
    filling: Register<Bit>,
    filling_hart: Register<Bits<3>>,
}

impl CommandFetch {
    /// Stages F and I with an instruction cache of `lines` lines in sets of `ways`.
    ///
    /// # Panics
    /// As [`InstructionCache::new`].
    pub fn new(lines: usize, ways: usize) -> Self {
        Self::wired(lines, ways)
    }
}

impl Logic for CommandFetch {
    #[hdl_gen]
    fn update(&mut self) {
        // F
        let outside = self.issue_pc.val().get_bits::<12>(18).all() & !self.issue_debug.val();
        self.cache.stall.next = self.stall.val();
        self.cache.lookup.enable.next = self.issue_valid.val() & !outside & !self.issue_debug.val();
        self.cache.lookup.slot.next = bit_cast::<5, 3>(self.issue_hart.val());
        self.cache.lookup.word.next = self.issue_pc.val();
        self.cache.flush.next = self.flush.val();
        let live = self.valid_d.q.val() & !self.drop_decoded.val().get_bit(self.hart_d.q.val().index());
        let fetched = self.valid_i.q.val() & !self.drop_fetched.val().get_bit(self.hart_i.q.val().index());
        if self.stall.val() {
            self.valid_i.d.next = fetched;
            self.valid_d.d.next = live;
        } else {
            self.valid_i.d.next =
                self.issue_valid.val() & !self.drop_fetched.val().get_bit(self.issue_hart.val().index());
            self.hart_i.d.next = self.issue_hart.val();
            self.pc_i.d.next = self.issue_pc.val();
            self.outside_i.d.next = outside;
            self.debug_i.d.next = self.issue_debug.val();

            // I
            self.valid_d.d.next = fetched;
            self.hart_d.d.next = self.hart_i.q.val();
            self.pc_d.d.next = self.pc_i.q.val();
            self.outside_d.d.next = self.outside_i.q.val();
            self.hit_d.d.next = self.cache.fetched.hit.val();
            self.error_d.d.next = self.cache.fetched.error.val();
            self.word_d.d.next = self.cache.fetched.word.val();
            self.debug_d.d.next = self.debug_i.q.val();
            if self.debug_i.q.val() {
                self.hit_d.d.next = true;
                self.error_d.d.next = false;
                self.word_d.d.next = self.debug_word.val();
            }
        }

        // D
        let missing = self.valid_d.q.val() & !self.outside_d.q.val() & !self.hit_d.q.val();
        let misses = live & missing;
        self.miss_holds.next = missing;
        self.cache.wanted.next = misses;
        self.miss_valid.next = misses;
        self.decode_valid.next = live & (self.outside_d.q.val() | self.hit_d.q.val());
        self.decode_holds.next = self.valid_d.q.val() & (self.outside_d.q.val() | self.hit_d.q.val());
        self.decode_hart.next = self.hart_d.q.val();
        self.decode_pc.next = self.pc_d.q.val();
        self.decode_word.next = self.word_d.q.val();
        self.decode_debug.next = self.debug_d.q.val();
        self.decode_error.next = self.outside_d.q.val() | self.error_d.q.val();
        self.filled.next = self.cache.filled.val();

        // Lines
        connect!(self.fetch, self.cache.fetch);
        self.missed.d.next = misses;
        self.missed_hart.d.next = self.hart_d.q.val();
        if self.cache.fetch_miss.val() {
            self.filling.d.next = true;
            self.filling_hart.d.next = self.missed_hart.q.val();
        } else if self.fetch.response.valid.val() {
            self.filling.d.next = false;
        }
        let mut missed_harts = bits::<8>(0);
        if self.missed.q.val() {
            missed_harts = bits::<8>(1) << self.missed_hart.q.val();
        }
        let mut filling_harts = bits::<8>(0);
        if self.filling.q.val() {
            filling_harts = bits::<8>(1) << self.filling_hart.q.val();
        }
        self.outstanding.next = missed_harts | filling_harts;
    }
}
