//! Chooses which lanes of a diverged warp run next.

use crate::prelude::*;

/// Selects, among the lanes of a warp that are still alive, those that stand at the preferred PC: deepest call
/// first, then lowest PC (DESIGN.md section 3, after Collange's Simty, 2017).
///
/// 1. `start_valid` in cycle 0, while `ready` is high, names the slot and its living lanes (at least one); their PCs are in the lanes'
///    memories from cycle 1 on.
/// 2. `read_slot` addresses these memories in cycle 1, `key` answers in cycle 2. The smallest key is found in
///    cycle 2, the lanes that have it in cycle 3, the smallest key of the others in cycle 4: until then `key` holds.
/// 3. `valid` is high in cycle 5, with the chosen PC and lanes and the best path on which lanes wait. A selection can start
///    every third cycle.
#[derive(LogicBlock)]
pub struct PathSelector<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// A selection can start.
    pub ready: Signal<Out, Bit>,
    /// A selection starts.
    pub start_valid: Signal<In, Bit>,
    /// Warp slot.
    pub start_slot: Signal<In, Bits<5>>,
    /// Living lanes of the warp.
    pub start_alive: Signal<In, Bits<LANES>>,
    /// Slot whose PCs the lanes read.
    pub read_slot: Signal<Out, Bits<5>>,
    /// They are read at this edge.
    pub read: Signal<Out, Bit>,
    /// The PCs read, one key a lane (see `Lane::path_key`); they stay until the next read.
    pub key: Vec<Signal<In, Bits<36>>>,
    /// The selection is made; the context of the warp is written at this edge.
    pub valid: Signal<Out, Bit>,
    /// Warp slot.
    pub slot: Signal<Out, Bits<5>>,
    /// Living lanes.
    pub alive: Signal<Out, Bits<LANES>>,
    /// Lanes that run.
    pub active: Signal<Out, Bits<LANES>>,
    /// Their PC, bits 31:2.
    pub pc: Signal<Out, Bits<30>>,
    /// Their call depth.
    pub depth: Signal<Out, Bits<6>>,
    /// The smallest key of the other living lanes; all ones if there are none.
    pub waiting: Signal<Out, Bits<36>>,
    read_valid: Register<Bit>,
    read_slot_held: Register<Bits<5>>,
    read_alive: Register<Bits<LANES>>,
    compare_valid: Register<Bit>,
    compare_slot: Register<Bits<5>>,
    compare_alive: Register<Bits<LANES>>,
    choose_valid: Register<Bit>,
    choose_slot: Register<Bits<5>>,
    choose_alive: Register<Bits<LANES>>,
    second_valid: Register<Bit>,
    second_slot: Register<Bits<5>>,
    second_alive: Register<Bits<LANES>>,
    second_active: Register<Bits<LANES>>,
    done_valid: Register<Bit>,
    done_slot: Register<Bits<5>>,
    done_alive: Register<Bits<LANES>>,
    done_active: Register<Bits<LANES>>,
    best: Register<Bits<36>>,
    second_best: Register<Bits<36>>,
    /// A tournament is held, in cycles 2 and 4.
    playing: Register<Bit>,
    /// Lanes that take part in it.
    standing: Register<Bits<LANES>>,
    left: Signal<Local, Bit>,
    right: Signal<Local, Bit>,
    left_key: Signal<Local, Bits<36>>,
    right_key: Signal<Local, Bits<36>>,
    difference: Signal<Local, Bits<37>>,
    /// Winners: of the pairs of lanes, then of each pair of the winners before.
    winner: Vec<Signal<Local, Bits<36>>>,
    chosen_key: Signal<Local, Bits<36>>,
    excess: Signal<Local, Bits<37>>,
    stands: Pack<Bit, 1, LANES>,
    _pairs: usize,
    _later: usize,
    _alone: usize,
    _winners: usize,
    _last: usize,
}

impl<const LANES: usize> Default for PathSelector<LANES> {
    fn default() -> Self {
        // A lane that has no other wins without a game.
        let (games, alone) = (LANES - 1, LANES % 2);
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            ready: Signal::default(),
            start_valid: Signal::default(),
            start_slot: Signal::default(),
            start_alive: Signal::default(),
            read_slot: Signal::default(),
            read: Signal::default(),
            key: vec![Signal::default(); LANES],
            valid: Signal::default(),
            slot: Signal::default(),
            alive: Signal::default(),
            active: Signal::default(),
            pc: Signal::default(),
            depth: Signal::default(),
            waiting: Signal::default(),
            read_valid: Register::default(),
            read_slot_held: Register::default(),
            read_alive: Register::default(),
            compare_valid: Register::default(),
            compare_slot: Register::default(),
            compare_alive: Register::default(),
            choose_valid: Register::default(),
            choose_slot: Register::default(),
            choose_alive: Register::default(),
            second_valid: Register::default(),
            second_slot: Register::default(),
            second_alive: Register::default(),
            second_active: Register::default(),
            done_valid: Register::default(),
            done_slot: Register::default(),
            done_alive: Register::default(),
            done_active: Register::default(),
            best: Register::default(),
            second_best: Register::default(),
            playing: Register::default(),
            standing: Register::default(),
            left: Signal::default(),
            right: Signal::default(),
            left_key: Signal::default(),
            right_key: Signal::default(),
            difference: Signal::default(),
            winner: vec![Signal::default(); games + alone],
            chosen_key: Signal::default(),
            excess: Signal::default(),
            stands: Pack::new(LANES),
            _pairs: LANES / 2,
            _later: games - LANES / 2,
            _alone: alone,
            _winners: games + alone,
            _last: games + alone - 1,
        }
    }
}

impl<const LANES: usize> Logic for PathSelector<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            read_valid,
            read_slot_held,
            read_alive,
            compare_valid,
            compare_slot,
            compare_alive,
            choose_valid,
            choose_slot,
            choose_alive,
            second_valid,
            second_slot,
            second_alive,
            second_active,
            done_valid,
            done_slot,
            done_alive,
            done_active,
            best,
            second_best,
            playing,
            standing
        );
        self.read_valid.d.next = self.start_valid.val();
        self.read_slot_held.d.next = self.start_slot.val();
        self.read_alive.d.next = self.start_alive.val();
        self.read_slot.next = self.read_slot_held.q.val();
        self.read.next = self.read_valid.q.val();

        self.compare_valid.d.next = self.read_valid.q.val();
        self.compare_slot.d.next = self.read_slot_held.q.val();
        self.compare_alive.d.next = self.read_alive.q.val();

        // The tournament is for the first choice in cycle 2, for the second in cycle 4: a selection that starts in cycle 3 has it
        // in cycle 5, and its read is the first to change the keys.
        self.ready.next = !(self.read_valid.q.val() | self.compare_valid.q.val());

        // Who takes part: in the first choice all that live, in the second those that were not chosen. It is known a cycle before.
        self.playing.d.next = self.read_valid.q.val() | self.choose_valid.q.val();
        self.standing.d.next = self.read_alive.q.val();
        if self.choose_valid.q.val() {
            self.standing.d.next = self.choose_alive.q.val() & !self.stands.y.val();
        }

        // Each game takes the sign of a difference: as `<`, it may become a comparison for equality besides.
        self.left.next = false;
        self.right.next = false;
        self.left_key.next = bits::<36>(0);
        self.right_key.next = bits::<36>(0);
        self.difference.next = bits::<37>(0);
        for i in 0..self._winners {
            self.winner[i].next = bits::<36>(0xf_ffff_ffff_u64);
        }
        if self.playing.q.val() {
            // Pairs of lanes: the keys are compared as they come, and lanes that take no part lose, so that each bit of the winner, all ones if
            // there is none, is a function of four.
            for i in 0..self._pairs {
                self.left_key.next = self.key[2 * i].val();
                self.right_key.next = self.key[2 * i + 1].val();
                self.difference.next =
                    bit_cast::<37, 36>(self.right_key.val()) - bit_cast::<37, 36>(self.left_key.val());
                self.right.next = self.standing.q.val().get_bit(2 * i + 1)
                    & (!self.standing.q.val().get_bit(2 * i) | self.difference.val().get_bit(36));
                self.left.next = self.standing.q.val().get_bit(2 * i) & !self.right.val();
                if self.left.val() {
                    self.winner[i].next = self.left_key.val();
                }
                if self.right.val() {
                    self.winner[i].next = self.winner[i].val() & self.right_key.val();
                }
            }
            for i in 0..self._alone {
                if self.standing.q.val().get_bit(i) {
                    self.winner[i].next = self.key[i].val();
                }
            }
            // All later rounds: the winners are numbered in the order of their games, and the last of them is the winner.
            for i in 0..self._later {
                self.left_key.next = self.winner[2 * i].val();
                self.right_key.next = self.winner[2 * i + 1].val();
                self.difference.next =
                    bit_cast::<37, 36>(self.left_key.val()) - bit_cast::<37, 36>(self.right_key.val());
                if self.difference.val().get_bit(36) {
                    self.winner[i + self._pairs].next = self.left_key.val();
                } else {
                    self.winner[i + self._pairs].next = self.right_key.val();
                }
            }
        }
        if self.compare_valid.q.val() {
            self.best.d.next = self.winner[self._last].val();
        }
        if self.second_valid.q.val() {
            self.second_best.d.next = self.winner[self._last].val();
        }
        self.choose_valid.d.next = self.compare_valid.q.val();
        self.choose_slot.d.next = self.compare_slot.q.val();
        self.choose_alive.d.next = self.compare_alive.q.val();

        // No living lane has a smaller key than the best: those that have no greater one have it. The difference takes fewer LUTs than
        // a comparison for equality.
        self.chosen_key.next = bits::<36>(0);
        self.excess.next = bits::<37>(0);
        for i in 0..LANES {
            self.stands.x[i].next = false;
            if self.choose_valid.q.val() {
                self.chosen_key.next = self.key[i].val();
                self.excess.next =
                    bit_cast::<37, 36>(self.best.q.val()) - bit_cast::<37, 36>(self.chosen_key.val());
                self.stands.x[i].next = self.choose_alive.q.val().get_bit(i) & !self.excess.val().get_bit(36);
            }
        }
        self.second_valid.d.next = self.choose_valid.q.val();
        self.second_slot.d.next = self.choose_slot.q.val();
        self.second_alive.d.next = self.choose_alive.q.val();
        self.second_active.d.next = self.stands.y.val();
        self.done_valid.d.next = self.second_valid.q.val();
        self.done_slot.d.next = self.second_slot.q.val();
        self.done_alive.d.next = self.second_alive.q.val();
        self.done_active.d.next = self.second_active.q.val();
        self.valid.next = self.done_valid.q.val();
        self.slot.next = self.done_slot.q.val();
        self.alive.next = self.done_alive.q.val();
        self.active.next = self.done_active.q.val();
        self.pc.next = self.best.q.val().get_bits::<30>(0);
        self.depth.next = !self.best.q.val().get_bits::<6>(30);
        self.waiting.next = self.second_best.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::tick;
    use rand::Rng;
    use rust_hdl::prelude::simulate;
    use std::collections::VecDeque;

    fn deepest_then_lowest<const LANES: usize>() {
        let mut rng = crate::testing::random();
        let mut unit = PathSelector::<LANES>::default();
        unit.connect_all();
        assert!(simulate(&mut unit, 20));
        // What is under way: the living lanes, and depth and PC of each lane.
        let mut started: VecDeque<(u64, Vec<(u64, u64)>)> = VecDeque::new();
        let mut chosen = 0;
        for cycle in 0..700u64 {
            unit.start_valid.next = unit.ready.val() && rng.gen_bool(0.9);
            unit.start_slot.next = (cycle % 32).into();
            if unit.start_valid.next {
                let threads = (0..LANES).map(|_| (rng.gen_range(0..3), rng.gen_range(0..4))).collect();
                let alive = rng.gen_range(1..1u64 << LANES);
                unit.start_alive.next = alive.into();
                started.push_back((alive, threads));
            }
            let (read, slot) = (unit.read.val(), unit.read_slot.val().to_u64());
            assert!(!read || slot == (cycle - 1) % 32);
            tick!(unit);
            if read {
                // The memories of the lanes answer, and hold their answer until the next read.
                let (_, threads) = started.back().unwrap();
                for (key, (depth, pc)) in unit.key.iter_mut().zip(threads) {
                    key.next = ((63 - depth) << 30 | pc).into();
                }
                assert!(simulate(&mut unit, 20));
            }
            if !unit.valid.val() {
                continue;
            }
            let (alive, threads) = started.pop_front().unwrap();
            let living = || (0..LANES).filter(|lane| alive >> lane & 1 == 1);
            let depth = living().map(|lane| threads[lane].0).max().unwrap();
            let pc = living().filter(|&l| threads[l].0 == depth).map(|l| threads[l].1).min().unwrap();
            let active = living().filter(|&l| threads[l] == (depth, pc)).fold(0, |set, l| set | 1 << l);
            assert_eq!(unit.slot.val().to_u64(), (cycle - 4) % 32);
            assert_eq!(u64::from(unit.alive.val()), alive);
            assert_eq!(u64::from(unit.pc.val()), pc);
            assert_eq!(u64::from(unit.depth.val()), depth);
            assert_eq!(u64::from(unit.active.val()), active);
            let key = |l: usize| (63 - threads[l].0) << 30 | threads[l].1;
            let waiting = living().filter(|&l| active >> l & 1 == 0).map(key).min();
            assert_eq!(u64::from(unit.waiting.val()), waiting.unwrap_or(0xf_ffff_ffff));
            chosen += 1;
        }
        assert!(chosen > 150);
    }

    #[test]
    fn chooses_deepest_then_lowest() {
        deepest_then_lowest::<1>();
        deepest_then_lowest::<2>();
        deepest_then_lowest::<8>();
        deepest_then_lowest::<32>();
    }
}
