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
/// 2. A miss (`hit_valid` high, `hit` and `stall` low) starts a fill if the fill machine is idle; else it is forgotten. Either way
///    `filled` is high for a cycle at some later time: then every waiting slot looks up again.
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
        self.miss.next = self.looked_up.q.val() && !self.is_hit.val() && !self.stall.val();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{line_to_bits, random, reset, settle, tick, LineMemory};
    use rand::Rng;
    use rand_chacha::ChaCha8Rng;

    /// A fetch stage: every slot wants the instructions of a sequence of PCs and waits while they miss.
    struct Bench {
        uut: InstructionCache<2, 6>,
        rng: ChaCha8Rng,
        /// Which version of the memory lines hold; a flush makes the new version visible.
        memory: LineMemory,
        /// PC wanted by each slot, and whether it waits for `filled`.
        slots: Vec<(u32, bool)>,
        /// Lookup in flight.
        looked_up: Option<(usize, u32)>,
        /// Line requested and not yet answered, and whether the request was accepted.
        request: Option<u32>,
        fetches: usize,
        hits: usize,
        latency: f64,
        /// No lookups for now.
        quiet: bool,
    }

    fn fails(line: u32) -> bool {
        line % 7 == 3
    }

    impl Bench {
        fn new(name: &str, slots: usize, latency: f64) -> Self {
            let mut uut = InstructionCache::default();
            reset!(uut);
            Self {
                uut,
                rng: random(name),
                memory: LineMemory::default(),
                slots: vec![(0, false); slots],
                looked_up: None,
                request: None,
                fetches: 0,
                hits: 0,
                latency,
                quiet: false,
            }
        }

        fn word(&self, pc: u32) -> u32 {
            let line = self.memory.read(pc >> 6);
            let offset = (pc & 63) as usize;
            u32::from_le_bytes(line[offset..offset + 4].try_into().unwrap())
        }

        /// One cycle: `next_pc` gives the PC after a hit.
        fn cycle(&mut self, flush: bool, next_pc: &mut dyn FnMut(&mut ChaCha8Rng, usize, u32) -> u32) {
            let stall = self.rng.gen_bool(0.2);
            let ready: Vec<usize> = (0..self.slots.len())
                .filter(|&s| !self.slots[s].1 && self.looked_up.map(|l| l.0) != Some(s))
                .collect();
            let lookup = (!ready.is_empty() && !self.quiet && self.rng.gen_bool(0.9)).then(|| {
                let slot = ready[self.rng.gen_range(0..ready.len())];
                (slot, self.slots[slot].0)
            });
            self.uut.stall.next = stall;
            self.uut.flush.next = flush;
            self.uut.lookup_enable.next = lookup.is_some();
            if let Some((slot, pc)) = lookup {
                self.uut.lookup_slot.next = bits(slot as u64);
                self.uut.lookup_word.next = bits((pc >> 2).into());
            }
            self.uut.fetch_ready.next = self.rng.gen_bool(0.7);
            let respond = self.request.filter(|_| self.rng.gen_bool(self.latency));
            self.uut.response_valid.next = respond.is_some();
            if let Some(line) = respond {
                self.uut.response_data.next = line_to_bits(&self.memory.read(line));
                self.uut.response_error.next = fails(line);
                self.request = None;
            }
            settle(&mut self.uut);

            if self.uut.filled.val() {
                for slot in &mut self.slots {
                    slot.1 = false;
                }
            }
            assert_eq!(self.uut.hit_valid.val(), self.looked_up.is_some());
            if let Some((slot, pc)) = self.looked_up {
                if self.uut.hit.val() {
                    let expected = if fails(pc >> 6) { 0 } else { self.word(pc) };
                    assert_eq!(self.uut.instruction.val().to_u32(), expected, "pc {pc:#x}");
                    assert_eq!(self.uut.error.val(), fails(pc >> 6));
                } else {
                    assert!(!self.uut.error.val());
                }
                if !stall {
                    if self.uut.hit.val() {
                        self.hits += 1;
                        self.slots[slot].0 = next_pc(&mut self.rng, slot, pc);
                    } else {
                        self.slots[slot].1 = true;
                    }
                }
            }
            if !stall {
                self.looked_up = lookup;
            }
            if self.uut.fetch_miss.val() {
                self.fetches += 1;
            }
            if self.uut.fetch_valid.val() && self.uut.fetch_ready.val() {
                assert!(self.request.is_none() && respond.is_none());
                self.request = Some(self.uut.fetch_line.val().to_u32());
            }
            tick!(self.uut);
        }
    }

    #[test]
    fn random_programs() {
        for latency in [1.0, 0.1] {
            let mut bench = Bench::new("instruction_cache", 8, latency);
            for _ in 0..10_000 {
                bench.cycle(false, &mut |rng, _, pc| {
                    if rng.gen_bool(0.03) {
                        rng.gen_range(0..256) * 4
                    } else {
                        pc.wrapping_add(4) % 1024
                    }
                });
            }
            println!("{} hits, {} fetches", bench.hits, bench.fetches);
            assert!(bench.hits > 1000 && bench.fetches > 50);
        }
    }

    #[test]
    fn slots_that_share_a_place_make_progress() {
        let mut bench = Bench::new("instruction_cache", 8, 1.0);
        let mut hits = [0; 8];
        // All lines have index 0 of the 4 lines of this cache.
        for (slot, wanted) in bench.slots.iter_mut().enumerate() {
            wanted.0 = slot as u32 * 256;
        }
        for _ in 0..20_000 {
            bench.cycle(false, &mut |_, slot, pc| {
                hits[slot] += 1;
                pc ^ 4
            });
        }
        println!("{hits:?}");
        assert!(hits.iter().all(|&h| h > 40), "{hits:?}");
    }

    #[test]
    fn one_slot_runs_without_misses_in_a_loop() {
        let mut bench = Bench::new("instruction_cache", 1, 1.0);
        for _ in 0..4_000 {
            // Lines 0 to 2, which do not fail; all fit.
            bench.cycle(false, &mut |_, _, pc| (pc + 4) % 192);
        }
        assert_eq!(bench.fetches, 3);
        assert!(bench.hits > 1000);
    }

    #[test]
    fn flush_makes_new_instructions_visible() {
        let mut bench = Bench::new("instruction_cache", 8, 0.2);
        for round in 0..200 {
            let cycles = bench.rng.gen_range(1..150);
            for _ in 0..cycles {
                bench.cycle(false, &mut |rng, _, pc| {
                    if rng.gen_bool(0.05) {
                        rng.gen_range(0..128) * 4
                    } else {
                        (pc + 4) % 512
                    }
                });
            }
            // A lookup before the flush may still see the old line: let it leave first.
            bench.quiet = true;
            while bench.looked_up.is_some() {
                bench.cycle(false, &mut |_, _, pc| pc);
            }
            bench.quiet = false;
            for line in 0..8 {
                bench.memory.write(line, &[round as u8 ^ line as u8; 64], bench.rng.gen());
            }
            bench.cycle(true, &mut |_, _, pc| pc);
        }
        assert!(bench.hits > 500, "{} hits", bench.hits);
    }

    #[test]
    #[should_panic(expected = "expected L + 4")]
    fn widths_are_checked() {
        InstructionCache::<6, 9>::default();
    }
}
