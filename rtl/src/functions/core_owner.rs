//! Which core belongs to which network function.

use super::CoreClear;
use crate::blocks::{indices, RoundRobin};
use crate::host::registers::functions::CoreAssignment;
use crate::ports::{RowClear, WrittenContext};
use crate::types::FunctionIndex;
use hermes_hdl::prelude::*;

/// Words of a context, from NF_ENTRY to NF_MCW.
pub const CONTEXT_WORDS: usize = 10;

/// Hands cores from one network function to another.
///
/// A core changes hands when its CORE_NF (`assignment.wanted`) is another number than that of its
/// owner:
///
/// 1. From the same cycle on it is not `open`: no warp is chosen for it.
/// 2. From the first cycle in which it is `idle` on, its registers and scratchpad are cleared, a
///    row a cycle (see [`CoreClear`]), unless that was done since it was open.
/// 3. Then, when no other core is being copied and it is its turn, the function that CORE_NF names
///    by then becomes its owner.
/// 4. In the next cycle `drop` is high: its caches are dropped.
/// 5. From that cycle on the words of the context are copied, one a cycle, but in cycles in which
///    the registers write a word (`written`): that one goes to every core that its function owns.
///    With the last one the core is open, unless CORE_NF changed meanwhile: then it begins at 1.
///
/// So a core that is idle is open again 12 cycles and one for each row after its CORE_NF changed,
/// and one more for each word that the registers write meanwhile. A number that no function has
/// owns as one that has: the core is never open, but its bit of `ready` says that nothing runs
/// there. From there it goes on without being cleared once more. CORE_NF that takes its old number
/// again before step 3 gives the core back to its owner as it is: rows that step 2 had cleared by
/// then are zero.
#[clocked("every core belongs to NF 0, and is open")]
#[derive(Clone, LogicBlock)]
#[new(cores: usize, functions: u64, rows: usize)]
pub struct CoreOwner {
    /// From and to the registers.
    pub assignment: CoreAssignment,
    /// From each core and the control path: the core has no warp and no fault record.
    #[count(cores)]
    pub idle: Vec<Signal<In, Bit>>,
    /// To warp issue: warps may start on the core.
    #[count(cores)]
    pub open: Vec<Signal<Out, Bit>>,
    /// The function that owns the core.
    #[count(cores)]
    pub function: Vec<Signal<Out, FunctionIndex>>,
    /// To the core's context: NF 0 owns the core.
    #[count(cores)]
    pub first: Vec<Signal<Out, Bit>>,
    /// To the core: the caches are dropped.
    #[count(cores)]
    pub drop: Vec<Signal<Out, Bit>>,
    /// To the core: rows of registers and scratchpad are cleared.
    #[count(cores)]
    pub rows: Vec<RowClear>,
    /// To the core's context: the word is taken.
    #[count(cores)]
    pub take: Vec<Signal<Out, Bit>>,
    /// To the contexts: number of the word.
    pub word: Signal<Out, Bits<4>>,
    /// To the contexts: the word.
    pub data: Signal<Out, Bits<32>>,
    /// From the table of contexts: a word is written.
    pub written: Flipped<WrittenContext>,
    /// To the table of contexts: function whose word is copied.
    pub copy_function: Signal<Out, FunctionIndex>,
    /// To the table of contexts: number of the word.
    pub copy_word: Signal<Out, Bits<4>>,
    /// From the table of contexts: the word.
    pub copy_data: Signal<In, Bits<32>>,
    turns: RoundRobin,
    #[init((0..cores).map(|_| CoreClear::new(rows)).collect())]
    clears: Vec<CoreClear>,
    /// Cores that were cleared since they were open.
    clean: Register<Bits<32>>,
    #[count(cores)]
    owner: Vec<Register<Bits<4>>>,
    /// Cores whose context is not copied yet.
    stale: Register<Bits<32>>,
    dropping: Register<Bits<32>>,
    copying: Register<Bit>,
    copied_core: Register<Bits<5>>,
    next_word: Register<Bits<4>>,
    #[init(indices(cores))]
    index: Vec<Constant<Bits<5>>>,
    #[init(Constant::new(functions.into()))]
    functions: Constant<Bits<4>>,
    #[init(Constant::new((CONTEXT_WORDS as u64 - 1).into()))]
    last_word: Constant<Bits<4>>,
    #[init(cores)]
    _cores: usize,
}

impl CoreOwner {
    /// The owner of `cores` cores with `rows` rows to clear, for `functions` network functions.
    ///
    /// # Panics
    /// If `cores` is not 1 to 32, `functions` not 1 to 8, or `rows` not 1 to 4,096.
    pub fn new(cores: usize, functions: usize, rows: usize) -> Self {
        assert!((1..=32).contains(&cores), "CoreOwner: {cores} cores, expected 1 to 32");
        assert!((1..=8).contains(&functions), "CoreOwner: {functions} functions, expected 1 to 8");
        Self::wired(cores, functions as u64, rows)
    }
}

impl Logic for CoreOwner {
    #[hdl_gen]
    fn update(&mut self) {
        // Cores that change hands, have drained and are cleared
        let mut drained = bits::<32>(0);
        let mut ready = bits::<32>(0);
        let mut cleaned = self.clean.q.val();
        for i in 0..self._cores {
            let wanted = bits::<4>(0)
                .replace_bit(0, self.assignment.wanted.val().get_bit(4 * i))
                .replace_bit(1, self.assignment.wanted.val().get_bit(4 * i + 1))
                .replace_bit(2, self.assignment.wanted.val().get_bit(4 * i + 2))
                .replace_bit(3, self.assignment.wanted.val().get_bit(4 * i + 3));
            let settled = wanted == self.owner[i].q.val();
            let is_drained = !settled & self.idle[i].val();
            let is_clean = self.clean.q.val().get_bit(i);
            self.clears[i].clear.next = is_drained & !is_clean;
            connect!(self.rows[i], self.clears[i].rows);
            drained = drained.replace_bit(i, is_drained & is_clean);
            let is_ready = settled & !self.stale.q.val().get_bit(i);
            ready = ready.replace_bit(i, is_ready);
            let is_open = is_ready & (self.owner[i].q.val() < self.functions.val());
            self.open[i].next = is_open;
            if is_open {
                cleaned = cleaned.replace_bit(i, false);
            }
            if self.clears[i].cleared.val() {
                cleaned = cleaned.replace_bit(i, true);
            }
            self.function[i].next = self.owner[i].q.val().get_bits::<3>(0);
            self.first[i].next = !self.owner[i].q.val().any();
            self.drop[i].next = self.dropping.q.val().get_bit(i);

            // One of them changes hands.
            if self.turns.grant.val().get_bit(i) & !self.copying.q.val() {
                self.owner[i].d.next = wanted;
            }
        }
        self.clean.d.next = cleaned;
        self.assignment.ready.next = ready;
        self.turns.request.next = drained;
        let changes = self.turns.any.val() & !self.copying.q.val();
        self.turns.advance.next = changes;
        self.dropping.d.next = bits::<32>(0);
        if changes {
            self.dropping.d.next = self.turns.grant.val();
            self.stale.d.next = self.stale.q.val() | self.turns.grant.val();
            self.copying.d.next = true;
            self.copied_core.d.next = self.turns.index.val();
            self.next_word.d.next = bits::<4>(0);
        }

        // Its context is copied.
        let mut copied_function = bits::<3>(0);
        for i in 0..self._cores {
            if self.copied_core.q.val() == self.index[i].val() {
                copied_function = self.owner[i].q.val().get_bits::<3>(0);
            }
        }
        self.copy_function.next = copied_function;
        self.copy_word.next = self.next_word.q.val();
        self.word.next = self.next_word.q.val();
        self.data.next = self.copy_data.val();
        if self.written.valid.val() {
            self.word.next = self.written.word.val();
            self.data.next = self.written.data.val();
        }
        let copies = self.copying.q.val() & !self.written.valid.val();
        for i in 0..self._cores {
            let is_copied = copies & (self.copied_core.q.val() == self.index[i].val());
            let follows = self.written.valid.val()
                & (self.owner[i].q.val() == bit_cast::<4, 3>(self.written.function.val()));
            self.take[i].next = is_copied | follows;
        }
        if copies {
            self.next_word.d.next = self.next_word.q.val() + 1;
            if self.next_word.q.val() == self.last_word.val() {
                self.copying.d.next = false;
                self.stale.d.next = self.stale.q.val() & !(bits::<32>(1) << self.copied_core.q.val());
            }
        }
    }
}

#[cfg(test)]
#[path = "core_owner_tests.rs"]
mod tests;
