//! Loads of the command processor that need not go to the L2.

use super::{CommandCache, CommandOutcome, CommandResult};
use crate::memory::LoadValue;
use crate::ports::LineResponse;
use crate::types::riscv::csr;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// The data cache in the pipeline ([`CommandCache`]), and CSR `muncached` of each hart.
///
/// 1. `look_enable` in stage X looks up what a load, store or atomic operation addresses. In the
///    next cycle, stage W, `hit` tells that the part of the hart has it and that it is not in the
///    uncached range, and `value` is what a load gives.
/// 2. A store that retires (`outcome`) writes into the line, if the part has it.
/// 3. A line that comes for a load goes into the part of its hart. `filling` of the hart is high
///    from the next cycle on until the line is there. Nothing is installed if the line could not be
///    read, if the load is in the uncached range, or if the part was emptied after the load
///    started.
/// 4. An atomic operation that retires removes the line (rule C4).
/// 5. The part of a hart is emptied when `fence` with reads after it, `fence.i`, an atomic
///    operation with `aq` or a write of `muncached` retires, while the hart is held, and by
///    `invalidate` (C6).
/// 6. `muncached` is a range of addresses whose loads go to the L2: 0 for none; bits 1:0 = 11:
///    2^(k+1) bytes, k the number of trailing ones; else the word. It is 0 while the hart is held.
#[clocked("the cache is empty")]
#[derive(LogicBlock)]
#[new(harts: usize, lines: usize)]
pub struct CachedLoads {
    /// Harts that run; the others are held.
    pub run: Signal<In, Bits<8>>,
    /// All parts are emptied.
    pub invalidate: Signal<In, Bit>,
    /// Stage X: an address is looked up.
    pub look_enable: Signal<In, Bit>,
    /// Stage X: the hart.
    pub look_hart: Signal<In, Bits<3>>,
    /// Stage X: the address.
    pub look_address: Signal<In, Bits<32>>,
    /// Stage X: `muncached` of the hart.
    pub uncached: Signal<Out, Bits<32>>,
    /// Stage W: the instruction.
    pub result: Signal<In, CommandResult>,
    /// Stage W: outcome of the instruction.
    pub outcome: Signal<In, CommandOutcome>,
    /// Stage W: a load gets its value here.
    pub hit: Signal<Out, Bit>,
    /// Stage W: the value, extended; with `hit`.
    pub value: Signal<Out, Bits<32>>,
    /// The line of a load; the tag is the hart.
    pub response: LineResponse,
    /// A bit for each hart: its line is being written.
    pub filling: Signal<Out, Bits<8>>,
    #[init(CommandCache::new(harts, lines))]
    cache: CommandCache,
    load_value: LoadValue,
    /// Line of the load of each hart.
    lines: RamAsync<LineAddress, 3>,
    /// Harts whose load is to be installed.
    wanted: Register<Bits<8>>,
    #[count(harts)]
    range: Vec<Register<Bits<32>>>,
    /// Mask of the address bits that the range of each hart does not compare, a cycle later: a hart
    /// is fetched again behind a write of its range.
    #[count(harts)]
    ignored: Vec<Register<Bits<32>>>,
    #[init((0..harts as u64).map(|hart| Constant::new(hart.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
    #[init(harts)]
    _harts: usize,
}

impl CachedLoads {
    /// A data cache for `harts` harts with `lines` lines each.
    ///
    /// # Panics
    /// As [`CommandCache::new`].
    pub fn new(harts: usize, lines: usize) -> Self {
        Self::wired(harts, lines)
    }
}

impl Logic for CachedLoads {
    #[hdl_gen]
    fn update(&mut self) {
        let last = self.result.val();
        let becomes = self.outcome.val();
        connect!(self.look_enable, self.cache.look_enable);
        connect!(self.look_hart, self.cache.look_hart);
        connect!(self.look_address, self.cache.look_address);

        // The uncached range: which bits of an address count
        let mut looked_range = bits::<32>(0);
        let mut here = bits::<32>(0);
        let mut within = bits::<32>(0);
        for h in 0..self._harts {
            self.ignored[h].d.next = bits::<32>(3);
            if self.range[h].q.val().get_bit(0) {
                self.ignored[h].d.next = self.range[h].q.val() ^ (self.range[h].q.val() + bits::<32>(1));
            }
            if self.look_hart.val() == self.number[h].val() {
                looked_range = self.range[h].q.val();
            }
            if last.hart == self.number[h].val() {
                here = self.range[h].q.val();
                within = self.ignored[h].q.val();
            }
        }
        self.uncached.next = looked_range;
        let passes = here.any() & !((last.address ^ here) & !within).any();

        // W: the value of a load
        self.hit.next = self.cache.hit.val() & !passes;
        self.load_value.enable.next = true;
        self.load_value.word.next = self.cache.word.val();
        self.load_value.offset.next = last.address.get_bits::<2>(0);
        self.load_value.size.next = last.word.get_bits::<2>(12);
        self.load_value.sign_extend.next = !last.word.get_bit(14);
        self.value.next = self.load_value.data.val();

        // W: what an instruction does to its line
        self.cache.store.next = becomes.store;
        self.cache.store_data.next = last.data;
        self.cache.store_strobe.next = last.strobe;
        self.cache.remove.next = becomes.retire & last.atomic;

        // W: what it does to the part of its hart
        let writes =
            becomes.retire & last.csr_write & (last.word.get_bits::<12>(20) == bits::<12>(csr::MUNCACHED));
        let mut drops = !self.run.val();
        if self.invalidate.val() {
            drops = bits::<8>(0xff);
        }
        if writes | (becomes.retire & last.acquire) {
            drops = drops | (bits::<8>(1) << last.hart);
        }
        self.cache.drop.next = drops;
        for h in 0..self._harts {
            if writes & (last.hart == self.number[h].val()) {
                self.range[h].d.next = becomes.csr_value;
            }
            if !self.run.val().get_bit(h) {
                self.range[h].d.next = bits::<32>(0);
            }
        }

        // Fills
        self.lines.write_enable.next = becomes.load;
        self.lines.write_address.next = last.hart;
        self.lines.write_data.next = last.address.get_bits::<26>(6);
        self.lines.read_address.next = self.response.tag.val().get_bits::<3>(0);
        let mut starts = bits::<8>(0);
        if becomes.load & !passes {
            starts = bits::<8>(1) << last.hart;
        }
        let mut comes = bits::<8>(0);
        if self.response.valid.val() {
            comes = bits::<8>(1) << self.response.tag.val().get_bits::<3>(0);
        }
        self.wanted.d.next = ((self.wanted.q.val() & !comes) | starts) & !drops;
        self.cache.fill_valid.next = (comes & self.wanted.q.val()).any();
        self.cache.fill_hart.next = self.response.tag.val().get_bits::<3>(0);
        self.cache.fill_line.next = self.lines.read_data.val();
        self.cache.fill_data.next = self.response.data.val();
        self.cache.fill_error.next = self.response.error.val();
        self.filling.next = self.cache.filling.val();
    }
}
