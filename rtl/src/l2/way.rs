//! The state of the lines in one way of a bank.

use crate::ports::PlaceState;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// One way: for each set a place for a line, with the address of the line, which of its bytes were
/// written, and whether it is on its way from or to memory.
///
/// 1. The outputs describe, in the same cycle, the place in `set`, compared with `line`.
/// 2. A line is here by a fetch (all bytes are valid; the written ones are marked) or by writes
///    alone (the written bytes are valid). While it is fetched it counts as here.
/// 3. `clear`, `drop`, `clean`, `leave`, `fetch`, `take` and `write` change the place in `set` at
///    the edge; `filled` and `acknowledged` report at any time that a fetch or a write-back is
///    complete. They carry the toggle that stood on `fetch_toggle` or `leave_toggle` when it began:
///    a transfer of a place is outstanding while the toggle of its beginning differs from that of
///    its end, so that each memory has a single writer.
#[derive(Clone, LogicBlock)]
#[new(sets_log2: usize, look_up_cycle: bool)]
pub struct L2Way {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,

    /// Set to look up.
    pub set: Signal<In, Bits<16>>,
    /// Line to look up.
    pub line: Signal<In, LineAddress>,

    /// To the choice of the victim.
    pub place: PlaceState,
    /// The line in the place is `line`.
    pub hit: Signal<Out, Bit>,
    /// The line in the place came by a fetch.
    pub fetched: Signal<Out, Bit>,
    /// All its bytes are valid.
    pub complete: Signal<Out, Bit>,
    /// Line address of the line in the place.
    pub tag: Signal<Out, LineAddress>,
    /// Bytes of the line that were written.
    pub dirty: Signal<Out, Bits<64>>,
    /// The line that is being written back from the place (`place.leaving`) is `line`.
    pub line_leaves: Signal<Out, Bit>,
    /// Toggle of a fetch that begins now.
    pub fetch_toggle: Signal<Out, Bit>,
    /// Toggle of a write-back that begins now.
    pub leave_toggle: Signal<Out, Bit>,

    /// The place becomes empty, with no transfer outstanding.
    pub clear: Signal<In, Bit>,
    /// The line is invalidated.
    pub drop: Signal<In, Bit>,
    /// No byte counts as written any more.
    pub clean: Signal<In, Bit>,
    /// The write-back of the line that is here begins.
    pub leave: Signal<In, Bit>,
    /// `line` takes the place; its fetch begins.
    pub fetch: Signal<In, Bit>,
    /// `line` takes the place by a write of the bytes in `strobe`.
    pub take: Signal<In, Bit>,
    /// The bytes in `strobe` of the line here are written.
    pub write: Signal<In, Bit>,
    /// Bytes written.
    pub strobe: Signal<In, Bits<64>>,

    /// A fetch is complete.
    pub filled: Signal<In, Bit>,
    /// Set of the fetch.
    pub filled_set: Signal<In, Bits<16>>,
    /// Toggle of the fetch.
    pub filled_toggle: Signal<In, Bit>,
    /// The line is valid; otherwise memory could not read it, and nothing is here.
    pub filled_good: Signal<In, Bit>,
    /// A write-back is complete.
    pub acknowledged: Signal<In, Bit>,
    /// Set of the write-back.
    pub acknowledged_set: Signal<In, Bits<16>>,
    /// Toggle of the write-back.
    pub acknowledged_toggle: Signal<In, Bit>,

    #[init(RamSizedAsync::new(sets_log2))]
    tags: RamSizedAsync<26>,
    #[init(RamSizedAsync::new(sets_log2))]
    gone: RamSizedAsync<26>,
    #[init(RamSizedAsync::new(sets_log2))]
    written: RamSizedAsync<64>,
    /// Of the bytes written: whether there are any, and whether all are. Known without a look at
    /// 64 bits.
    #[init(RamSizedAsync::new(sets_log2))]
    amount: RamSizedAsync<2>,
    #[init(RamSizedAsync::new(sets_log2))]
    state: RamSizedAsync<4>,
    #[init(RamSizedAsync::new(sets_log2))]
    ends: RamSizedAsync<2>,
    #[init(RamSizedAsync::new(sets_log2))]
    acknowledgements: RamSizedAsync<1>,
    /// Outputs of the look-up a cycle later, a bit each (with a cycle for the look-up).
    #[init(Part::when(look_up_cycle, || LaneRegisters::new(1)))]
    look: Part<LaneRegisters<8>>,
}

/// Bits of the state of a place.
const VALID: usize = 0;
const FETCHED: usize = 1;
const FETCH_TOGGLE: usize = 2;
const LEAVE_TOGGLE: usize = 3;
/// Bits of how much of a place was written.
const SOME: usize = 0;
const ALL: usize = 1;
/// Bits of what the end of a fetch leaves.
const END_TOGGLE: usize = 0;
const GOOD: usize = 1;

impl L2Way {
    /// A way of `2^sets_log2` sets, whose look-up has a cycle of its own with `look_up_cycle`.
    ///
    /// # Panics
    /// If `sets_log2` is not 1 to 16.
    pub fn new(sets_log2: usize, look_up_cycle: bool) -> Self {
        Self::wired(sets_log2, look_up_cycle)
    }
}

impl Logic for L2Way {
    #[hdl_gen]
    fn update(&mut self) {
        self.tags.read_address.next = self.set.val();
        self.gone.read_address.next = self.set.val();
        self.written.read_address.next = self.set.val();
        self.amount.read_address.next = self.set.val();
        self.state.read_address.next = self.set.val();
        self.ends.read_address.next = self.set.val();
        self.acknowledgements.read_address.next = self.set.val();

        // The contents of the place.
        let valid = self.state.read_data.val().get_bit(VALID);
        let by_fetch = self.state.read_data.val().get_bit(FETCHED);
        let under_way = valid
            && by_fetch
            && (self.state.read_data.val().get_bit(FETCH_TOGGLE)
                != self.ends.read_data.val().get_bit(END_TOGGLE));
        let here = valid && (!by_fetch || under_way || self.ends.read_data.val().get_bit(GOOD));
        let same = self.tags.read_data.val() == self.line.val();
        let leaves = self.state.read_data.val().get_bit(LEAVE_TOGGLE)
            != self.acknowledgements.read_data.val().get_bit(0);
        let whole = by_fetch || self.amount.read_data.val().get_bit(ALL);
        let holds_writes = here && self.amount.read_data.val().get_bit(SOME);
        let same_leaves = leaves && (self.gone.read_data.val() == self.line.val());
        if self.look.is_there() {
            self.look.write_enable.next = true;
            self.look.d[0].next = bits::<8>(0)
                .replace_bit(0, here)
                .replace_bit(1, here && same)
                .replace_bit(2, under_way)
                .replace_bit(3, by_fetch)
                .replace_bit(4, whole)
                .replace_bit(5, holds_writes)
                .replace_bit(6, leaves)
                .replace_bit(7, same_leaves);
            self.place.present.next = self.look.q[0].val().get_bit(0);
            self.hit.next = self.look.q[0].val().get_bit(1);
            self.place.fetching.next = self.look.q[0].val().get_bit(2);
            self.fetched.next = self.look.q[0].val().get_bit(3);
            self.complete.next = self.look.q[0].val().get_bit(4);
            self.place.changed.next = self.look.q[0].val().get_bit(5);
            self.place.leaving.next = self.look.q[0].val().get_bit(6);
            self.line_leaves.next = self.look.q[0].val().get_bit(7);
        } else {
            self.place.present.next = here;
            self.hit.next = here && same;
            self.place.fetching.next = under_way;
            self.fetched.next = by_fetch;
            self.complete.next = whole;
            self.place.changed.next = holds_writes;
            self.place.leaving.next = leaves;
            self.line_leaves.next = same_leaves;
        }
        self.tag.next = self.tags.read_data.val();
        self.dirty.next = self.written.read_data.val();
        self.fetch_toggle.next = !self.ends.read_data.val().get_bit(END_TOGGLE);
        self.leave_toggle.next = !self.state.read_data.val().get_bit(LEAVE_TOGGLE);

        // Changes of the place in the set.
        self.tags.write_enable.next = self.fetch.val() || self.take.val();
        self.tags.write_address.next = self.set.val();
        self.tags.write_data.next = self.line.val();
        self.gone.write_enable.next = self.leave.val();
        self.gone.write_address.next = self.set.val();
        self.gone.write_data.next = self.tags.read_data.val();
        let marks = self.clear.val()
            || self.drop.val()
            || self.clean.val()
            || self.fetch.val()
            || self.take.val()
            || self.write.val();
        let together = self.written.read_data.val() | self.strobe.val();
        self.written.write_enable.next = marks;
        self.written.write_address.next = self.set.val();
        self.written.write_data.next = bits::<64>(0);
        self.amount.write_enable.next = marks;
        self.amount.write_address.next = self.set.val();
        self.amount.write_data.next = bits::<2>(0);
        if self.take.val() {
            self.written.write_data.next = self.strobe.val();
            self.amount.write_data.next = bits::<2>(0)
                .replace_bit(SOME, self.strobe.val().any())
                .replace_bit(ALL, self.strobe.val().all());
        } else if self.write.val() {
            self.written.write_data.next = together;
            self.amount.write_data.next = bits::<2>(0)
                .replace_bit(SOME, self.amount.read_data.val().get_bit(SOME) || self.strobe.val().any())
                .replace_bit(ALL, together.all());
        }
        let mut new_state = self.state.read_data.val();
        if self.fetch.val() || self.take.val() {
            new_state = new_state.replace_bit(VALID, true);
            new_state = new_state.replace_bit(FETCHED, self.fetch.val());
        } else if self.drop.val() {
            new_state = new_state.replace_bit(VALID, false);
        }
        if self.fetch.val() {
            new_state = new_state.replace_bit(FETCH_TOGGLE, !self.ends.read_data.val().get_bit(END_TOGGLE));
        }
        if self.leave.val() {
            new_state =
                new_state.replace_bit(LEAVE_TOGGLE, !self.state.read_data.val().get_bit(LEAVE_TOGGLE));
        }
        if self.clear.val() {
            new_state = bits::<4>(0);
        }
        self.state.write_enable.next =
            self.clear.val() || self.drop.val() || self.leave.val() || self.fetch.val() || self.take.val();
        self.state.write_address.next = self.set.val();
        self.state.write_data.next = new_state;

        // Ends of fetches and write-backs.
        self.ends.write_enable.next = self.clear.val() || self.filled.val();
        self.ends.write_address.next = self.filled_set.val();
        self.ends.write_data.next = bits::<2>(0)
            .replace_bit(END_TOGGLE, self.filled_toggle.val())
            .replace_bit(GOOD, self.filled_good.val());
        self.acknowledgements.write_enable.next = self.clear.val() || self.acknowledged.val();
        self.acknowledgements.write_address.next = self.acknowledged_set.val();
        self.acknowledgements.write_data.next = bits::<1>(0).replace_bit(0, self.acknowledged_toggle.val());
        if self.clear.val() {
            self.ends.write_address.next = self.set.val();
            self.ends.write_data.next = bits::<2>(0);
            self.acknowledgements.write_address.next = self.set.val();
            self.acknowledgements.write_data.next = bits::<1>(0);
        }
    }
}
