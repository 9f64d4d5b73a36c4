//! Which core belongs to which network function.

use crate::control::{indices, RoundRobin};
use crate::host::registers::functions::CoreAssignment;
use crate::ports::WrittenContext;
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
/// 2. In the first cycle in which it is `idle`, and no other core is being copied (or it is its
///    turn), the function that CORE_NF names then becomes its owner.
/// 3. In the next cycle `drop` is high: its caches are dropped.
/// 4. From that cycle on the words of the context are copied, one a cycle, but in cycles in which
///    the registers write a word (`written`): that one goes to every core that its function owns.
///    With the last one the core is open, unless CORE_NF changed meanwhile: then it begins at 1.
///
/// So a core that is idle is open again 11 cycles after its CORE_NF changed, and one more for each
/// word that the registers write meanwhile. A number that no function has owns as one that has: the
/// core is never open, but its bit of `ready` says that nothing runs there. CORE_NF that takes its
/// old number again before step 2 changes nothing.
#[derive(Clone, Debug, LogicBlock)]
#[new(cores: usize, functions: u64)]
pub struct CoreOwner {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high: every core belongs to NF 0, and is open.
    pub reset: Signal<In, Bit>,
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
    /// To the core's context: its owner is NF 0.
    #[count(cores)]
    pub first: Vec<Signal<Out, Bit>>,
    /// To the core: its caches are dropped.
    #[count(cores)]
    pub drop: Vec<Signal<Out, Bit>>,
    /// To the core's context: it takes the word.
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
    /// The owner of `cores` cores, for `functions` network functions.
    ///
    /// # Panics
    /// If `cores` is not 1 to 32, or `functions` not 1 to 8.
    pub fn new(cores: usize, functions: usize) -> Self {
        assert!((1..=32).contains(&cores), "CoreOwner: {cores} cores, expected 1 to 32");
        assert!((1..=8).contains(&functions), "CoreOwner: {functions} functions, expected 1 to 8");
        Self::wired(cores, functions as u64)
    }
}

impl Logic for CoreOwner {
    #[hdl_gen]
    fn update(&mut self) {
        // Cores that change hands and have drained
        let mut drained = bits::<32>(0);
        let mut ready = bits::<32>(0);
        for i in 0..self._cores {
            let wanted = bits::<4>(0)
                .replace_bit(0, self.assignment.wanted.val().get_bit(4 * i))
                .replace_bit(1, self.assignment.wanted.val().get_bit(4 * i + 1))
                .replace_bit(2, self.assignment.wanted.val().get_bit(4 * i + 2))
                .replace_bit(3, self.assignment.wanted.val().get_bit(4 * i + 3));
            let settled = wanted == self.owner[i].q.val();
            drained = drained.replace_bit(i, !settled & self.idle[i].val());
            let is_ready = settled & !self.stale.q.val().get_bit(i);
            ready = ready.replace_bit(i, is_ready);
            self.open[i].next = is_ready & (self.owner[i].q.val() < self.functions.val());
            self.function[i].next = self.owner[i].q.val().get_bits::<3>(0);
            self.first[i].next = !self.owner[i].q.val().any();
            self.drop[i].next = self.dropping.q.val().get_bit(i);

            // One of them changes hands.
            if self.turns.grant.val().get_bit(i) & !self.copying.q.val() {
                self.owner[i].d.next = wanted;
            }
        }
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
