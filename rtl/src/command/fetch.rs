//! Stages F and I: instructions come from the cache.

use super::HartTurns;
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
/// 5. One line is fetched at a time. Harts take turns (`HartTurns`): one that had a line is refused
///    another while a hart waits that was turned away. Else two harts whose lines share a set of
///    the cache could keep a third one out for ever. The miss of a refused hart starts no fill.
/// 6. A cycle with `stall` high holds the instructions in stages I and D; none is fetched in it.
#[clocked]
#[derive(LogicBlock)]
#[new(lines: usize, ways: usize)]
pub struct CommandFetch {
    /// Stage F: a hart fetches; low while `stall` is high.
    pub issue_valid: Signal<In, Bit>,
    /// Stage F: hart that fetches.
    pub issue_hart: Signal<In, Bits<3>>,
    /// Stage F: PC of the instruction, bits 31:2.
    pub issue_pc: Signal<In, Bits<30>>,
    /// Stage F: the hart takes `debug_word`.
    pub issue_debug: Signal<In, Bit>,
    /// The word of CP_EXECUTE.
    pub debug_word: Signal<In, Bits<32>>,
    /// The instructions in stages I and D stay there. Only while `decode_valid` is high.
    pub stall: Signal<In, Bit>,
    /// Harts whose instructions in stages F and I are dropped.
    pub drop_fetched: Signal<In, Bits<8>>,
    /// Harts whose instruction in stage D is dropped as well.
    pub drop_decoded: Signal<In, Bits<8>>,
    /// Harts that go on elsewhere, are held or stopped: they wait for no line any more, as those of
    /// `drop_decoded`.
    pub gone: Signal<In, Bits<8>>,
    /// Every line of the cache is invalidated.
    pub flush: Signal<In, Bit>,
    /// Stage D holds an instruction.
    pub decode_valid: Signal<Out, Bit>,
    /// The same before it is known whether the instruction leaves: early, for the choice of stage
    /// F.
    pub decode_holds: Signal<Out, Bit>,
    /// As `miss_valid`, as early.
    pub miss_holds: Signal<Out, Bit>,
    /// Hart of the instruction in stage D; that of the miss as well.
    pub decode_hart: Signal<Out, Bits<3>>,
    /// PC of the instruction in stage D, bits 31:2; that of the miss as well.
    pub decode_pc: Signal<Out, Bits<30>>,
    /// Word of the instruction in stage D.
    pub decode_word: Signal<Out, Bits<32>>,
    /// The instruction in stage D is one of CP_EXECUTE.
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
    turns: HartTurns,
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
    /// An instruction was looked up for `missed_hart`: it was in stage D in the cycle before.
    looked_up: Register<Bit>,
    /// A miss was recorded in the cycle before.
    missed: Register<Bit>,
    missed_hart: Register<Bits<3>>,
    /// Harts that were refused a line in the cycle before.
    held_back: Register<Bits<8>>,
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
        self.cache.wanted.next = misses & !self.turns.held_back.val().get_bit(self.hart_d.q.val().index());
        self.miss_valid.next = misses;
        self.decode_valid.next = live & (self.outside_d.q.val() | self.hit_d.q.val());
        self.decode_holds.next = self.valid_d.q.val() & (self.outside_d.q.val() | self.hit_d.q.val());
        self.decode_hart.next = self.hart_d.q.val();
        self.decode_pc.next = self.pc_d.q.val();
        self.decode_word.next = self.word_d.q.val();
        self.decode_debug.next = self.debug_d.q.val();
        self.decode_error.next = self.outside_d.q.val() | self.error_d.q.val();
        // Who was refused, and is no more, looks up again.
        self.held_back.d.next = self.turns.held_back.val();
        let let_in = self.held_back.q.val() & !self.turns.held_back.val();
        self.filled.next = self.cache.filled.val() | let_in.any();

        // Lines
        connect!(self.fetch, self.cache.fetch);
        self.looked_up.d.next = live;
        self.missed.d.next = misses;
        self.missed_hart.d.next = self.hart_d.q.val();
        self.turns.hart.next = self.missed_hart.q.val();
        self.turns.live.next = self.looked_up.q.val();
        self.turns.turned_away.next = self.missed.q.val() & !self.cache.fetch_miss.val();
        self.turns.starts.next = self.cache.fetch_miss.val();
        self.turns.gone.next = self.gone.val() | self.drop_decoded.val();
        always!(one_line_is_fetched_at_a_time, !self.cache.fetch_miss.val() | !self.filling.q.val());
        always!(a_line_that_comes_is_awaited, !self.fetch.response.valid.val() | self.filling.q.val());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};

    /// All eight harts start at the same time, before the cache is cleared after reset or
    /// INVALIDATE: a miss in every cycle must not keep the fill machine from taking one.
    #[test]
    fn harts_that_miss_in_every_cycle_get_a_line() {
        for offset in 0..80 {
            let mut unit = CommandFetch::new(64, 1);
            reset!(unit);
            unit.fetch.ready.next = true;
            let (mut waits, mut in_flight) = ([false; 8], [false; 8]);
            let (mut turn, mut requests) = (0, 0);
            for cycle in 0..200 {
                let free = (0..8).map(|i| (turn + i) % 8).find(|hart| !waits[*hart] && !in_flight[*hart]);
                let next = free.filter(|_| cycle >= offset);
                unit.issue_valid.next = next.is_some();
                unit.issue_hart.next = (next.unwrap_or(0) as u64).into();
                unit.issue_pc.next = (0x1000 * (next.unwrap_or(0) as u64 + 1)).into();
                settle(&mut unit);
                let hart = unit.decode_hart.val().to_u64() as usize;
                if unit.filled.val() {
                    waits = [false; 8];
                }
                if unit.miss_valid.val() {
                    (waits[hart], in_flight[hart]) = (true, false);
                }
                requests += usize::from(unit.fetch.valid.val());
                if let Some(hart) = next {
                    in_flight[hart] = true;
                    turn = hart + 1;
                }
                tick!(unit);
            }
            assert!(requests > 0, "harts that start {offset} cycles after the reset get no line");
        }
    }

    /// Eight harts, each of which goes on to another line with each instruction, all of one set of
    /// the cache. Hart 0 fetches before hart 1, that before hart 2 and so on, so that the last is
    /// always last at the cache. Before a hart goes on each other one goes on three times at most:
    /// with a line that it had, and with two more.
    #[test]
    fn harts_take_turns_at_lines() {
        let mut unit = CommandFetch::new(16, 1);
        reset!(unit);
        unit.fetch.ready.next = true;
        // Next line of each hart, whether it waits for it; what is in stages I and D.
        let (mut line, mut waits) = ([0u64; 8], [false; 8]);
        let (mut stage_i, mut stage_d) = (None::<usize>, None::<usize>);
        let (mut in_flight, mut answer_in) = ([false; 8], 0);
        // Instructions, and those of all since each hart had one.
        let (mut counts, mut passed) = ([0; 8], [[0; 8]; 8]);
        for cycle in 0..20_000 {
            let next = (0..8).find(|hart| !waits[*hart] && !in_flight[*hart]);
            unit.issue_valid.next = next.is_some();
            unit.issue_hart.next = (next.unwrap_or(0) as u64).into();
            let number = |hart: usize| 0x1000 + 0x1000 * hart as u64 + 16 * line[hart];
            unit.issue_pc.next = (16 * next.map_or(0, number)).into();
            unit.fetch.response.valid.next = answer_in == 1;
            settle(&mut unit);
            if unit.filled.val() {
                waits = [false; 8];
            }
            let hart = unit.decode_hart.val().to_u64() as usize;
            if unit.decode_valid.val() || unit.miss_valid.val() {
                assert_eq!(stage_d, Some(hart), "cycle {cycle}");
                in_flight[hart] = false;
            }
            if unit.miss_valid.val() {
                waits[hart] = true;
            }
            if unit.decode_valid.val() {
                line[hart] += 1;
                counts[hart] += 1;
                passed[hart] = [0; 8];
                for (other, passed) in passed.iter_mut().enumerate().filter(|(other, _)| *other != hart) {
                    passed[hart] += 1;
                    assert!(passed[hart] <= 3, "cycle {cycle}: hart {other} waits while hart {hart} goes on");
                }
            }
            answer_in = if unit.fetch.valid.val() { 10 } else { usize::max(answer_in, 1) - 1 };
            stage_d = stage_i;
            stage_i = next;
            if let Some(hart) = next {
                in_flight[hart] = true;
            }
            tick!(unit);
        }
        assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    }
}
