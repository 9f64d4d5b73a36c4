//! The instruction cache of a core.

use crate::ports::{FetchedWord, LineRead, Lookup};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// What the fill machine is doing.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum FillState {
    /// Invalidates one set a cycle.
    Clear,
    /// Takes the next miss.
    Idle,
    /// Offers the request for the line.
    Request,
    /// Waits for the line.
    Wait,
    /// Writes one word of the line a cycle.
    Fill,
    /// Waits until the slot that missed has looked up again.
    Hold,
}

/// Instruction cache of lines of 64 bytes with 1, 2 or 4 ways.
///
/// 1. Lookup: a cycle with `lookup.enable` high and `stall` low; in the next cycle `hit_valid` is
///    high, and `fetched` answers it. A cycle with `stall` high takes no
///    lookup and holds these outputs.
/// 2. A lookup that misses is recorded at the next edge with `stall` low. In the cycles after it,
///    up to the one with `stall` low, `wanted` says whether it matters; with both the miss starts a
///    fill if the fill machine is idle, else it is forgotten. Either way `filled` is high in some
///    later cycle (not the next one, at whose end the slot may start to wait): then every waiting
///    slot looks up again.
/// 3. After a fill the machine takes no new miss until the slot that started it has looked up
///    again, so that slots whose lines share a set of the cache cannot thrash for ever. If it does
///    not, the machine goes on after 256 cycles without `stall`.
/// 4. `flush` invalidates every line, one set a cycle; lookups from the cycle of `flush` on miss
///    until that is done. A fill in flight is abandoned as well. The same happens after reset.
/// 5. If the memory reports an error, the words of the line read 0 (an illegal instruction) and
///    `fetched.error` comes with `fetched.hit`, until the line is replaced or invalidated.
///
/// A fill goes into an empty way of its set if there is one, else into the ways round-robin. It
/// writes one word a cycle: `filled` is high 17 cycles after the response. A lookup in a set whose
/// tags change in the same cycle misses: which of its tags the RAM gives then is open, and so is
/// the word, if it is written too.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(ways: usize, sets: usize, sets_log2: usize)]
pub struct InstructionCache {
    // From the front end
    /// From stage C: looks up `word` for `slot`.
    pub lookup: Flipped<Lookup>,
    /// From stage D: the lookup before the one that the outputs answer still matters. If not, its
    /// miss starts no fill.
    pub wanted: Signal<In, Bit>,
    /// The stages stall: takes no lookup and holds the answer of the last one.
    pub stall: Signal<In, Bit>,
    /// From the INVALIDATE register: invalidates every line.
    pub flush: Signal<In, Bit>,

    // To stages I and D, and to the scheduler
    /// The outputs answer a lookup.
    pub hit_valid: Signal<Out, Bit>,
    /// The instruction.
    pub fetched: Flipped<FetchedWord>,
    /// Slots that wait for a line look up again.
    pub filled: Signal<Out, Bit>,

    // To and from the memory master
    /// Requests lines, one at a time.
    pub fetch: LineRead,

    // To the counters
    /// A fill starts (one cycle).
    pub fetch_miss: Signal<Out, Bit>,

    /// The words of each way.
    #[init((0..ways).map(|_| RamSized::new(sets_log2 + 4)).collect())]
    words: Vec<RamSized<32>>,
    /// Of each way: error (27), valid (26), line address (25:0).
    #[init((0..ways).map(|_| RamSized::new(sets_log2)).collect())]
    tags: Vec<RamSized<28>>,

    // The lookup that the outputs answer.
    looked_up: Register<Bit>,
    looked_slot: Register<Bits<5>>,
    looked_line: Register<LineAddress>,
    /// The lookup was made while lines were being invalidated or the tags of its set changed.
    blocked: Register<Bit>,

    // The lookup before it, if it missed.
    missed: Register<Bit>,
    missed_slot: Register<Bits<5>>,
    missed_line: Register<LineAddress>,
    /// Index of the way for the missed line.
    missed_way: Register<Bits<2>>,

    // The fill machine.
    state: Register<FillState>,
    owner: Register<Bits<5>>,
    fill_line: Register<LineAddress>,
    fill_error: Register<Bit>,
    buffer: Register<Bits<512>>,
    count: Register<Bits<4>>,
    clear_index: Register<Bits<12>>,
    fill_way: Register<Bits<2>>,
    /// Way that is filled next if all are full.
    turn: Register<Bits<2>>,
    hold_count: Register<Bits<8>>,
    flush_waits: Register<Bit>,
    /// A miss that matters was recorded.
    miss: Register<Bit>,
    /// The fill machine has its slot, line and way.
    prepared: Register<Bit>,
    /// A miss was forgotten.
    retry: Register<Bit>,
    wake: Register<Bit>,

    #[init(Constant::new((sets as u64 - 1).into()))]
    last_set: Constant<Bits<12>>,
    #[init(Constant::new((ways as u64 - 1).into()))]
    last_way: Constant<Bits<2>>,
    #[init((0..ways as u64).map(|way| Constant::new(way.into())).collect())]
    number: Vec<Constant<Bits<2>>>,
    #[init(ways)]
    _ways: usize,
}

impl InstructionCache {
    /// A cache of `lines` lines in sets of `ways`.
    ///
    /// # Panics
    /// If `ways` is not 1, 2 or 4, or `lines` is not a power of two, from 2 to 4,096 times the
    /// ways.
    pub fn new(lines: usize, ways: usize) -> Self {
        assert!(matches!(ways, 1 | 2 | 4), "InstructionCache: {ways} ways, expected 1, 2 or 4");
        let sets = lines / ways;
        assert!(
            lines.is_power_of_two() && (2..=4096).contains(&sets),
            "InstructionCache: {lines} lines in {ways} ways, expected a power of two, 2 to 4096 a way"
        );
        let sets_log2 = sets.ilog2() as usize;
        Self::wired(ways, sets, sets_log2)
    }
}

impl Logic for InstructionCache {
    #[hdl_gen]
    fn update(&mut self) {
        // A flush that comes while the fill machine cannot start to invalidate lines waits.
        let drop_all = self.flush.val() || self.flush_waits.q.val();
        self.flush_waits.d.next = drop_all;

        // Lookup.
        let looks_up = self.lookup.enable.val() && !self.stall.val();
        if !self.stall.val() {
            self.looked_up.d.next = self.lookup.enable.val();
        }

        // Its answer.
        let mut is_hit = false;
        let mut is_error = false;
        // A miss gives any word, so that the first way need not be compared for it.
        self.fetched.word.next = self.words[0].read_data.val();
        let mut choice = self.turn.q.val() & self.last_way.val();
        for way in 0..self._ways {
            let hits = self.looked_up.q.val()
                && !self.blocked.q.val()
                && self.tags[way].read_data.val().get_bit(26)
                && (self.tags[way].read_data.val().get_bits::<26>(0) == self.looked_line.q.val());
            if hits {
                is_hit = true;
                is_error = self.tags[way].read_data.val().get_bit(27);
                self.fetched.word.next = self.words[way].read_data.val();
            }
            if !self.tags[way].read_data.val().get_bit(26) {
                choice = self.number[way].val();
            }
        }
        if !self.stall.val() {
            self.missed.d.next = self.looked_up.q.val() && !is_hit;
            self.missed_slot.d.next = self.looked_slot.q.val();
            self.missed_line.d.next = self.looked_line.q.val();
            self.missed_way.d.next = choice;
        }
        // The fill machine is notified a cycle later; an idle one has slot, line and way by then.
        self.miss.d.next = self.missed.q.val() && self.wanted.val() && !self.stall.val();
        self.prepared.d.next = false;
        self.hit_valid.next = self.looked_up.q.val();
        self.fetched.hit.next = is_hit;
        self.fetched.error.next = is_error;
        self.filled.next = self.wake.q.val();

        // Fill machine.
        self.fetch.valid.next = false;
        // Bit 6: a fetch
        self.fetch.tag.next = bits::<7>(0x40);
        self.fetch.line.next = self.fill_line.q.val();
        self.fetch_miss.next = false;
        let mut word_write = false;
        let word_address = (bit_cast::<16, 12>(self.fill_line.q.val().get_bits::<12>(0)) << bits::<4>(4))
            | bit_cast::<16, 4>(self.count.q.val());
        let mut tag_write = false;
        let mut tag_address = self.fill_line.q.val().get_bits::<16>(0);
        let mut tag_data = bits::<28>(0);
        self.wake.d.next = false;
        if self.miss.q.val() {
            self.retry.d.next = true;
        }
        match self.state.q.val() {
            FillState::Clear => {
                tag_write = true;
                tag_address = bit_cast::<16, 12>(self.clear_index.q.val());
                self.clear_index.d.next = self.clear_index.q.val() + 1;
                if drop_all {
                    self.clear_index.d.next = bits::<12>(0);
                    self.flush_waits.d.next = false;
                } else if self.clear_index.q.val() == self.last_set.val() {
                    self.state.d.next = FillState::Idle;
                }
            }
            FillState::Idle => {
                self.wake.d.next = self.retry.q.val();
                self.retry.d.next = false;
                // There may be a miss in every cycle: then the next one is taken.
                if !self.miss.q.val() || !self.prepared.q.val() {
                    self.prepared.d.next = true;
                    self.owner.d.next = self.missed_slot.q.val();
                    self.fill_line.d.next = self.missed_line.q.val();
                    self.fill_way.d.next = self.missed_way.q.val();
                }
                if drop_all {
                    self.retry.d.next = self.miss.q.val();
                    self.clear_index.d.next = bits::<12>(0);
                    self.flush_waits.d.next = false;
                    self.state.d.next = FillState::Clear;
                } else if self.miss.q.val() {
                    if self.prepared.q.val() {
                        self.fetch_miss.next = true;
                        self.turn.d.next = self.turn.q.val() + bits::<2>(1);
                        self.state.d.next = FillState::Request;
                    } else {
                        self.retry.d.next = true;
                    }
                }
            }
            FillState::Request => {
                self.fetch.valid.next = true;
                if self.fetch.ready.val() {
                    self.state.d.next = FillState::Wait;
                }
            }
            FillState::Wait => {
                self.count.d.next = bits::<4>(0);
                if self.fetch.response.valid.val() {
                    self.fill_error.d.next = self.fetch.response.error.val();
                    if self.fetch.response.error.val() {
                        self.buffer.d.next = bits::<512>(0);
                    } else {
                        self.buffer.d.next = self.fetch.response.data.val();
                    }
                    self.state.d.next = FillState::Fill;
                }
            }
            FillState::Fill => {
                // The old line loses its tag with its first word; the new one gets it with its
                // last.
                word_write = true;
                self.buffer.d.next = self.buffer.q.val() >> 32;
                self.count.d.next = self.count.q.val() + 1;
                tag_write = !self.count.q.val().any();
                self.hold_count.d.next = bits::<8>(0);
                if drop_all {
                    self.retry.d.next = true;
                    self.clear_index.d.next = bits::<12>(0);
                    self.flush_waits.d.next = false;
                    self.state.d.next = FillState::Clear;
                } else if self.count.q.val().all() {
                    tag_write = true;
                    tag_data = bit_cast::<28, 26>(self.fill_line.q.val()) | 0x400_0000;
                    if self.fill_error.q.val() {
                        tag_data = bit_cast::<28, 26>(self.fill_line.q.val()) | 0xc00_0000;
                    }
                    self.wake.d.next = true;
                    self.state.d.next = FillState::Hold;
                }
            }
            FillState::Hold => {
                if !self.stall.val() {
                    self.hold_count.d.next = self.hold_count.q.val() + 1;
                }
                if drop_all {
                    self.retry.d.next = true;
                    self.clear_index.d.next = bits::<12>(0);
                    self.flush_waits.d.next = false;
                    self.state.d.next = FillState::Clear;
                } else if (looks_up && (self.lookup.slot.val() == self.owner.q.val()))
                    || self.hold_count.q.val().all()
                {
                    self.state.d.next = FillState::Idle;
                }
            }
        }

        // Memories.
        let same_set = tag_write
            && ((self.lookup.word.val().get_bits::<12>(4) & self.last_set.val())
                == (tag_address.get_bits::<12>(0) & self.last_set.val()));
        if !self.stall.val() {
            self.looked_slot.d.next = self.lookup.slot.val();
            self.looked_line.d.next = self.lookup.word.val().get_bits::<26>(4);
            self.blocked.d.next = drop_all || (self.state.q.val() == FillState::Clear) || same_set;
        }
        for way in 0..self._ways {
            self.words[way].read_enable.next = !self.stall.val();
            self.words[way].read_address.next = self.lookup.word.val().get_bits::<16>(0);
            self.words[way].write_enable.next =
                word_write && (self.fill_way.q.val() == self.number[way].val());
            self.words[way].write_address.next = word_address;
            self.words[way].write_data.next = self.buffer.q.val().get_bits::<32>(0);
            self.tags[way].read_enable.next = !self.stall.val();
            self.tags[way].read_address.next = self.lookup.word.val().get_bits::<16>(4);
            self.tags[way].write_enable.next = tag_write
                && ((self.state.q.val() == FillState::Clear)
                    || (self.fill_way.q.val() == self.number[way].val()));
            self.tags[way].write_address.next = tag_address;
            self.tags[way].write_data.next = tag_data;
        }
    }
}

#[cfg(test)]
#[path = "instruction_cache_collision_tests.rs"]
mod collision_tests;
