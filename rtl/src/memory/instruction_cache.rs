//! The instruction cache of a core.

use crate::prelude::*;

/// What the fill machine is doing.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum FillState {
    /// Drops one line a cycle.
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

/// Direct-mapped instruction cache of `2^L` lines of 64 bytes.
///
/// 1. Lookup: a cycle with `lookup_enable` high and `stall` low; in the next cycle `hit_valid` is high, and `hit`,
///    `instruction` and `error` answer it. A cycle with `stall` high takes no lookup and holds these outputs.
/// 2. A miss (`hit_valid` and `wanted` high, `hit` and `stall` low) starts a fill if the fill machine is idle; else it is forgotten. Either way
///    `filled` is high in some later cycle (not that of the miss, whose slot may start to wait at its end): then every
///    waiting slot looks up again.
/// 3. After a fill the machine takes no new miss until the slot that started it has looked up again, so that slots whose
///    lines share a place in the cache cannot thrash for ever. If it does not, the machine goes on after 256 cycles without `stall`.
/// 4. `flush` drops every line, one a cycle; lookups from the cycle of `flush` on miss until that is done. A fill under way
///    is dropped as well. The same happens after reset.
/// 5. If the memory reports an error, the words of the line read 0 (an illegal instruction) and `error` comes with `hit`,
///    until the line is replaced or dropped.
///
/// A fill writes one word a cycle: `filled` is high 17 cycles after the response. `W` is the width of a word address
/// in the cache, `L + 4`.
#[derive(Clone, Debug, LogicBlock)]
pub struct InstructionCache<const L: usize, const W: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    // From fetch
    /// Looks up `lookup_word` for `lookup_slot`.
    pub lookup_enable: Signal<In, Bit>,
    /// Warp slot.
    pub lookup_slot: Signal<In, Bits<5>>,
    /// Bits 31:2 of the PC.
    pub lookup_word: Signal<In, Bits<30>>,
    /// The lookup that the outputs answer still matters; if not, its miss starts no fill.
    pub wanted: Signal<In, Bit>,
    /// Takes no lookup and holds the answer of the last one.
    pub stall: Signal<In, Bit>,
    /// Drops every line.
    pub flush: Signal<In, Bit>,

    // To decode
    /// The outputs answer a lookup.
    pub hit_valid: Signal<Out, Bit>,
    /// The instruction is in the cache.
    pub hit: Signal<Out, Bit>,
    /// The instruction; meaningful with `hit`.
    pub instruction: Signal<Out, Bits<32>>,
    /// The memory could not read the line of this instruction; only with `hit`.
    pub error: Signal<Out, Bit>,
    /// Slots that wait for a line look up again.
    pub filled: Signal<Out, Bit>,

    // To and from the memory master
    /// A line is requested.
    pub fetch_valid: Signal<Out, Bit>,
    /// Accepted at this edge.
    pub fetch_ready: Signal<In, Bit>,
    /// Line address.
    pub fetch_line: Signal<Out, Bits<26>>,
    /// The line is here (always accepted).
    pub response_valid: Signal<In, Bit>,
    /// The line, byte 0 in bits 7:0.
    pub response_data: Signal<In, Bits<512>>,
    /// The memory could not read it.
    pub response_error: Signal<In, Bit>,

    // To the counters
    /// A fill starts (one cycle).
    pub fetch_miss: Signal<Out, Bit>,

    words: RamSync<Bits<32>, W>,
    /// Error (27), valid (26), line address (25:0).
    tags: RamSync<Bits<28>, L>,

    // The lookup that the outputs answer.
    looked_up: Register<Bit>,
    looked_slot: Register<Bits<5>>,
    looked_line: Register<Bits<26>>,
    /// It was made while lines were being dropped.
    blocked: Register<Bit>,

    // The fill machine.
    state: Register<FillState>,
    owner: Register<Bits<5>>,
    fill_line: Register<Bits<26>>,
    fill_error: Register<Bit>,
    buffer: Register<Bits<512>>,
    count: Register<Bits<4>>,
    clear_index: Register<Bits<L>>,
    hold_count: Register<Bits<8>>,
    flush_waits: Register<Bit>,
    /// A miss was forgotten.
    retry: Register<Bit>,
    wake: Register<Bit>,

    drop_all: Signal<Local, Bit>,
    is_hit: Signal<Local, Bit>,
    miss: Signal<Local, Bit>,
    lookup: Signal<Local, Bit>,
}

impl<const L: usize, const W: usize> Default for InstructionCache<L, W> {
    /// # Panics
    /// If `W` is not `L + 4`.
    fn default() -> Self {
        assert!(
            L >= 1 && L <= 16 && W == L + 4,
            "InstructionCache: W is {W}, expected L + 4 with L = {L} in 1 to 16"
        );
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            lookup_enable: Signal::default(),
            lookup_slot: Signal::default(),
            lookup_word: Signal::default(),
            wanted: Signal::default(),
            stall: Signal::default(),
            flush: Signal::default(),
            hit_valid: Signal::default(),
            hit: Signal::default(),
            instruction: Signal::default(),
            error: Signal::default(),
            filled: Signal::default(),
            fetch_valid: Signal::default(),
            fetch_ready: Signal::default(),
            fetch_line: Signal::default(),
            response_valid: Signal::default(),
            response_data: Signal::default(),
            response_error: Signal::default(),
            fetch_miss: Signal::default(),
            words: RamSync::default(),
            tags: RamSync::default(),
            looked_up: Register::default(),
            looked_slot: Register::default(),
            looked_line: Register::default(),
            blocked: Register::default(),
            state: Register::default(),
            owner: Register::default(),
            fill_line: Register::default(),
            fill_error: Register::default(),
            buffer: Register::default(),
            count: Register::default(),
            clear_index: Register::default(),
            hold_count: Register::default(),
            flush_waits: Register::default(),
            retry: Register::default(),
            wake: Register::default(),
            drop_all: Signal::default(),
            is_hit: Signal::default(),
            miss: Signal::default(),
            lookup: Signal::default(),
        }
    }
}

impl<const L: usize, const W: usize> Logic for InstructionCache<L, W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, looked_up, looked_slot, looked_line, blocked, state, owner, fill_line);
        dff_setup!(self, clock, fill_error, buffer, count, clear_index, hold_count, flush_waits, retry, wake);
        self.words.clock.next = self.clock.val();
        self.tags.clock.next = self.clock.val();

        // A flush that comes while the fill machine cannot start to drop lines waits.
        self.drop_all.next = self.flush.val() || self.flush_waits.q.val();
        self.flush_waits.d.next = self.drop_all.val();

        // Lookup.
        self.lookup.next = self.lookup_enable.val() && !self.stall.val();
        self.words.read_enable.next = self.lookup.val();
        self.words.read_address.next = self.lookup_word.val().get_bits::<W>(0);
        self.tags.read_enable.next = self.lookup.val();
        self.tags.read_address.next = self.lookup_word.val().get_bits::<L>(4);
        if !self.stall.val() {
            self.looked_up.d.next = self.lookup_enable.val();
        }
        if self.lookup.val() {
            self.looked_slot.d.next = self.lookup_slot.val();
            self.looked_line.d.next = self.lookup_word.val().get_bits::<26>(4);
            self.blocked.d.next = self.drop_all.val() || (self.state.q.val() == FillState::Clear);
        }

        // Its answer.
        self.is_hit.next = self.looked_up.q.val()
            && !self.blocked.q.val()
            && self.tags.read_data.val().get_bit(26)
            && (self.tags.read_data.val().get_bits::<26>(0) == self.looked_line.q.val());
        self.miss.next =
            self.looked_up.q.val() && self.wanted.val() && !self.is_hit.val() && !self.stall.val();
        self.hit_valid.next = self.looked_up.q.val();
        self.hit.next = self.is_hit.val();
        self.instruction.next = self.words.read_data.val();
        self.error.next = self.is_hit.val() && self.tags.read_data.val().get_bit(27);
        self.filled.next = self.wake.q.val();

        // Fill machine.
        self.fetch_valid.next = false;
        self.fetch_line.next = self.fill_line.q.val();
        self.fetch_miss.next = false;
        self.words.write_enable.next = false;
        self.words.write_address.next = (bit_cast::<W, L>(self.fill_line.q.val().get_bits::<L>(0)) << 4)
            | bit_cast::<W, 4>(self.count.q.val());
        self.words.write_data.next = self.buffer.q.val().get_bits::<32>(0);
        self.tags.write_enable.next = false;
        self.tags.write_address.next = self.fill_line.q.val().get_bits::<L>(0);
        self.tags.write_data.next = bits::<28>(0);
        self.wake.d.next = false;
        if self.miss.val() {
            self.retry.d.next = true;
        }
        match self.state.q.val() {
            FillState::Clear => {
                self.tags.write_enable.next = true;
                self.tags.write_address.next = self.clear_index.q.val();
                self.clear_index.d.next = self.clear_index.q.val() + 1;
                if self.drop_all.val() {
                    self.clear_index.d.next = bits::<L>(0);
                    self.flush_waits.d.next = false;
                } else if self.clear_index.q.val().all() {
                    self.state.d.next = FillState::Idle;
                }
            }
            FillState::Idle => {
                self.wake.d.next = self.retry.q.val();
                self.retry.d.next = false;
                if self.drop_all.val() {
                    self.retry.d.next = self.miss.val();
                    self.clear_index.d.next = bits::<L>(0);
                    self.flush_waits.d.next = false;
                    self.state.d.next = FillState::Clear;
                } else if self.miss.val() {
                    self.fetch_miss.next = true;
                    self.owner.d.next = self.looked_slot.q.val();
                    self.fill_line.d.next = self.looked_line.q.val();
                    self.state.d.next = FillState::Request;
                }
            }
            FillState::Request => {
                self.fetch_valid.next = true;
                if self.fetch_ready.val() {
                    self.state.d.next = FillState::Wait;
                }
            }
            FillState::Wait => {
                self.count.d.next = bits::<4>(0);
                if self.response_valid.val() {
                    self.fill_error.d.next = self.response_error.val();
                    if self.response_error.val() {
                        self.buffer.d.next = bits::<512>(0);
                    } else {
                        self.buffer.d.next = self.response_data.val();
                    }
                    self.state.d.next = FillState::Fill;
                }
            }
            FillState::Fill => {
                // The old line loses its tag with its first word; the new one gets it with its last.
                self.words.write_enable.next = true;
                self.buffer.d.next = self.buffer.q.val() >> 32;
                self.count.d.next = self.count.q.val() + 1;
                self.tags.write_enable.next = !self.count.q.val().any();
                self.hold_count.d.next = bits::<8>(0);
                if self.drop_all.val() {
                    self.retry.d.next = true;
                    self.clear_index.d.next = bits::<L>(0);
                    self.flush_waits.d.next = false;
                    self.state.d.next = FillState::Clear;
                } else if self.count.q.val().all() {
                    self.tags.write_enable.next = true;
                    self.tags.write_data.next = bit_cast::<28, 26>(self.fill_line.q.val()) | 0x400_0000;
                    if self.fill_error.q.val() {
                        self.tags.write_data.next = bit_cast::<28, 26>(self.fill_line.q.val()) | 0xc00_0000;
                    }
                    self.wake.d.next = true;
                    self.state.d.next = FillState::Hold;
                }
            }
            FillState::Hold => {
                if !self.stall.val() {
                    self.hold_count.d.next = self.hold_count.q.val() + 1;
                }
                if self.drop_all.val() {
                    self.retry.d.next = true;
                    self.clear_index.d.next = bits::<L>(0);
                    self.flush_waits.d.next = false;
                    self.state.d.next = FillState::Clear;
                } else if (self.lookup.val() && (self.lookup_slot.val() == self.owner.q.val()))
                    || self.hold_count.q.val().all()
                {
                    self.state.d.next = FillState::Idle;
                }
            }
        }
    }
}
