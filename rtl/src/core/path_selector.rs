//! Chooses which lanes of a diverged warp run next.

use crate::ports::{PathContext, PathStart, SlotEvent};
use hermes_hdl::prelude::*;

/// Selects, among the lanes of a warp that are still alive, those that stand at the preferred PC:
/// deepest call first, then lowest PC (docs/shader-core.md, after Collange's Simty, 2017).
///
/// The smallest key is found in a tournament: its first round, of pairs of lanes, takes a cycle, as
/// does every two rounds after that. `n` be the cycles of a tournament: 1 with one or two lanes, 2
/// with four or eight, 3 with more.
///
/// 1. `start.valid` in cycle 0, while `ready` is high, names the slot and its living lanes (at
///    least one); their PCs are in the lanes' memories from cycle 1 on.
/// 2. `read.slot` addresses these memories in cycle 1, `key` answers in cycle 2. The smallest key
///    is found in the `n` cycles from then on, the lanes that have it in cycle `n` + 2, the
///    smallest key of the others from cycle `n` + 3 on: until then `key` holds.
/// 3. `valid` is high in cycle 2`n` + 3, with the chosen PC and lanes and the pending path with the
///    highest priority. A selection can start every `n` + 2 cycles.
#[clocked]
#[derive(LogicBlock)]
#[new(pairs: usize, alone: usize, middle: usize, middle_games: usize, late: usize, late_games: usize, tournament: usize, cycles: usize)]
pub struct PathSelector<const LANES: usize> {
    /// A selection can start.
    pub ready: Signal<Out, Bit>,
    /// From stage W: choose the next path of a warp.
    pub start: PathStart<LANES>,
    /// To the lanes: the paths that they stored for this warp slot are read; they answer in `key`.
    pub read: Flipped<SlotEvent>,
    /// The PCs read, one key a lane (see `Lane::path_key`); they are stable until the next read.
    #[count(LANES)]
    pub key: Vec<Signal<In, Bits<36>>>,
    /// The selection is made; the context of the warp is written at this edge.
    pub valid: Signal<Out, Bit>,
    /// With `valid`: where the warp goes on.
    pub chosen: Flipped<PathContext<LANES>>,
    /// A selection is in cycle 1, 2, ... up to the last; there may be two.
    #[count(cycles)]
    cycle: Vec<Register<Bit>>,
    /// The selection that looks for the smallest key.
    first_slot: Register<Bits<5>>,
    first_alive: Register<Bits<LANES>>,
    /// The selection that looks for the second.
    second_slot: Register<Bits<5>>,
    second_alive: Register<Bits<LANES>>,
    second_active: Register<Bits<LANES>>,
    best: Register<Bits<36>>,
    second_best: Register<Bits<36>>,
    /// A tournament begins.
    playing: Register<Bit>,
    /// Lanes that take part in it.
    standing: Register<Bits<LANES>>,
    /// Winners of the pairs of lanes.
    #[count(pairs + alone)]
    winner: Vec<Signal<Local, Bits<36>>>,
    /// Winners of the pairs a cycle later, if they are more than one.
    #[count(middle)]
    middle: Vec<Register<Bits<36>>>,
    /// Keys of the second tournament step: `middle`, then the winners of each pair of these, over
    /// two rounds.
    #[count(middle + middle_games)]
    middle_player: Vec<Signal<Local, Bits<36>>>,
    /// Winners of the second step a cycle later, if they are more than one.
    #[count(late)]
    late: Vec<Register<Bits<36>>>,
    /// Keys of the last tournament step: `late`, then the winners of each pair of these, to the
    /// last.
    #[count(late + late_games)]
    late_player: Vec<Signal<Local, Bits<36>>>,
    #[init(Pack::new(LANES))]
    stands: Pack<Bit, 1, LANES>,
    #[init(pairs)]
    _pairs: usize,
    #[init(alone)]
    _alone: usize,
    #[init(middle)]
    _middle: usize,
    #[init(middle_games)]
    _middle_games: usize,
    #[init((middle + middle_games).saturating_sub(late.max(1)))]
    _middle_last: usize,
    #[init(late)]
    _late: usize,
    #[init(late_games)]
    _late_games: usize,
    #[init((late + late_games).saturating_sub(1))]
    _late_last: usize,
    #[init(cycles - 1)]
    _cycles: usize,
    #[init(tournament + 1)]
    _held: usize,
    #[init(tournament)]
    _first_end: usize,
    #[init(tournament + 1)]
    _stands: usize,
    #[init(2 * tournament + 1)]
    _second_end: usize,
}

impl<const LANES: usize> Default for PathSelector<LANES> {
    fn default() -> Self {
        // A lane that has no other wins without a game.
        let (pairs, alone) = (LANES / 2, LANES % 2);
        // Of the winners of the first round up to four play two more rounds for one place.
        let middle = if pairs > 1 { pairs } else { 0 };
        let middle_games = if middle > 2 { middle / 2 + middle / 4 } else { middle / 2 };
        let late = if middle > 4 { middle / 4 } else { 0 };
        let late_games = late.saturating_sub(1);
        let tournament = 1 + usize::from(middle > 0) + usize::from(late > 0);
        let cycles = 2 * tournament + 3;
        Self::wired(pairs, alone, middle, middle_games, late, late_games, tournament, cycles)
    }
}

impl<const LANES: usize> Logic for PathSelector<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..self._cycles {
            self.cycle[i + 1].d.next = self.cycle[i].q.val();
        }
        self.cycle[0].d.next = self.start.valid.val();
        if self.start.valid.val() {
            self.first_slot.d.next = self.start.slot.val();
            self.first_alive.d.next = self.start.alive.val();
        }
        self.read.slot.next = self.first_slot.q.val();
        self.read.valid.next = self.cycle[0].q.val();

        // The keys are needed until the second tournament has begun, and the next selection reads
        // in the cycle after that at the earliest.
        self.ready.next = true;
        for i in 0..self._held {
            if self.cycle[i].q.val() {
                self.ready.next = false;
            }
        }

        // Who takes part: in the first choice all lanes that live, in the second those that were
        // not chosen. It is known a cycle ahead.
        self.playing.d.next = self.cycle[0].q.val() | self.cycle[self._stands].q.val();
        self.standing.d.next = self.first_alive.q.val();
        if self.cycle[self._stands].q.val() {
            self.standing.d.next = self.first_alive.q.val() & !self.stands.y.val();
        }

        // Each game takes the sign of a difference: as `<`, it may become a comparison for equality
        // besides.
        let mut left = false;
        let mut right = false;
        let mut left_key = bits::<36>(0);
        let mut right_key = bits::<36>(0);
        let mut difference = bits::<37>(0);
        let mut champion = bits::<36>(0xf_ffff_ffff_u64);
        for i in 0..self._pairs {
            self.winner[i].next = bits::<36>(0xf_ffff_ffff_u64);
        }
        if self.playing.q.val() {
            // Pairs of lanes: the keys are compared as they come, and lanes that take no part lose,
            // so that each bit of the winner, all ones if there is none, is a function of four.
            for i in 0..self._pairs {
                left_key = self.key[2 * i].val();
                right_key = self.key[2 * i + 1].val();
                difference = bit_cast::<37, 36>(right_key) - bit_cast::<37, 36>(left_key);
                right = self.standing.q.val().get_bit(2 * i + 1)
                    & (!self.standing.q.val().get_bit(2 * i) | difference.get_bit(36));
                left = self.standing.q.val().get_bit(2 * i) & !right;
                if left {
                    self.winner[i].next = left_key;
                }
                if right {
                    self.winner[i].next = self.winner[i].val() & right_key;
                }
            }
        }
        if self._pairs == 1 {
            champion = self.winner[0].val();
        }
        if self._alone > 0 {
            if self.standing.q.val().get_bit(0) {
                champion = self.key[0].val();
            }
        }
        // All later rounds: the players are numbered in the order of their games.
        for i in 0..self._middle {
            self.middle[i].d.next = self.winner[i].val();
            self.middle_player[i].next = self.middle[i].q.val();
        }
        for i in 0..self._middle_games {
            left_key = self.middle_player[2 * i].val();
            right_key = self.middle_player[2 * i + 1].val();
            difference = bit_cast::<37, 36>(left_key) - bit_cast::<37, 36>(right_key);
            self.middle_player[i + self._middle].next = right_key;
            if difference.get_bit(36) {
                self.middle_player[i + self._middle].next = left_key;
            }
        }
        for i in 0..self._late {
            self.late[i].d.next = self.middle_player[i + self._middle_last].val();
            self.late_player[i].next = self.late[i].q.val();
        }
        for i in 0..self._late_games {
            left_key = self.late_player[2 * i].val();
            right_key = self.late_player[2 * i + 1].val();
            difference = bit_cast::<37, 36>(left_key) - bit_cast::<37, 36>(right_key);
            self.late_player[i + self._late].next = right_key;
            if difference.get_bit(36) {
                self.late_player[i + self._late].next = left_key;
            }
        }
        if self._late > 0 {
            champion = self.late_player[self._late_last].val();
        } else if self._middle > 0 {
            champion = self.middle_player[self._middle_last].val();
        }
        if self.cycle[self._first_end].q.val() {
            self.best.d.next = champion;
        }
        if self.cycle[self._second_end].q.val() {
            self.second_best.d.next = champion;
        }

        // No living lane has a smaller key than the best: those that have no greater one have it.
        // The difference takes fewer LUTs than a comparison for equality.
        let mut chosen_key = bits::<36>(0);
        let mut excess = bits::<37>(0);
        for i in 0..LANES {
            self.stands.x[i].next = false;
            if self.cycle[self._stands].q.val() {
                chosen_key = self.key[i].val();
                excess = bit_cast::<37, 36>(self.best.q.val()) - bit_cast::<37, 36>(chosen_key);
                self.stands.x[i].next = self.first_alive.q.val().get_bit(i) & !excess.get_bit(36);
            }
        }
        if self.cycle[self._stands].q.val() {
            self.second_slot.d.next = self.first_slot.q.val();
            self.second_alive.d.next = self.first_alive.q.val();
            self.second_active.d.next = self.stands.y.val();
        }
        self.valid.next = self.cycle[self._cycles].q.val();
        self.chosen.slot.next = self.second_slot.q.val();
        self.chosen.alive.next = self.second_alive.q.val();
        self.chosen.active.next = self.second_active.q.val();
        self.chosen.pc.next = self.best.q.val().get_bits::<30>(0);
        self.chosen.depth.next = !self.best.q.val().get_bits::<6>(30);
        self.chosen.waiting.next = self.second_best.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tick;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;
    use std::collections::VecDeque;

    fn deepest_then_lowest<const LANES: usize>() {
        let mut rng = hermes_hdl::testing::random();
        let mut unit = PathSelector::<LANES>::default();
        assert!(simulate(&mut unit, 20));
        // The selections in flight: the living lanes, and depth and PC of each lane.
        let mut started: VecDeque<(u64, Vec<(u64, u64)>)> = VecDeque::new();
        let tournament = [1, 1, 2, 2, 3, 3][LANES.ilog2() as usize];
        let cycles = 2 * tournament + 2;
        let (mut chosen, mut last_start) = (0, None);
        for cycle in 0..1_000u64 {
            assert_eq!(unit.ready.val(), last_start.is_none_or(|start| cycle - start >= tournament + 2));
            unit.start.valid.next = unit.ready.val() && rng.gen_bool(0.9);
            unit.start.slot.next = (cycle % 32).into();
            if unit.start.valid.next {
                last_start = Some(cycle);
                let threads = (0..LANES).map(|_| (rng.gen_range(0..3), rng.gen_range(0..4))).collect();
                let alive = rng.gen_range(1..1u64 << LANES);
                unit.start.alive.next = alive.into();
                started.push_back((alive, threads));
            }
            let (read, slot) = (unit.read.valid.val(), unit.read.slot.val().to_u64());
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
            assert_eq!(unit.chosen.slot.val().to_u64(), (cycle - cycles) % 32);
            assert_eq!(u64::from(unit.chosen.alive.val()), alive);
            assert_eq!(u64::from(unit.chosen.pc.val()), pc);
            assert_eq!(u64::from(unit.chosen.depth.val()), depth);
            assert_eq!(u64::from(unit.chosen.active.val()), active);
            let key = |l: usize| (63 - threads[l].0) << 30 | threads[l].1;
            let waiting = living().filter(|&l| active >> l & 1 == 0).map(key).min();
            assert_eq!(u64::from(unit.chosen.waiting.val()), waiting.unwrap_or(0xf_ffff_ffff));
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
