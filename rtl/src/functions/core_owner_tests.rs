//! Tests of the owner of the cores, with the table of contexts and copies as models.

use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::Rng;

const CORES: usize = 3;
const FUNCTIONS: usize = 4;
const ROWS: usize = 6;

struct Bench {
    unit: CoreOwner,
    table: [[u32; CONTEXT_WORDS]; 8],
    /// Words that each core has.
    copies: [[u32; CONTEXT_WORDS]; CORES],
    wanted: [u64; CORES],
    cycle: u64,
}

impl Bench {
    fn new() -> Self {
        let mut unit = CoreOwner::new(CORES, FUNCTIONS, ROWS);
        reset!(unit);
        let table = [[0; CONTEXT_WORDS]; 8];
        Self { unit, table, copies: [[0; CONTEXT_WORDS]; CORES], wanted: [0; CORES], cycle: 0 }
    }

    /// A cycle in which cores are idle and a word of a function is written; returns what it shows.
    fn step(&mut self, idle: [bool; CORES], written: Option<(usize, usize, u32)>) -> Shown {
        let unit = &mut self.unit;
        let all = (0..CORES).map(|core| u128::from(self.wanted[core]) << (4 * core)).sum::<u128>();
        unit.assignment.wanted.next =
            bits::<128>(all as u64) | (bits::<128>((all >> 64) as u64) << bits::<7>(64));
        for (port, is_idle) in unit.idle.iter_mut().zip(idle) {
            port.next = is_idle;
        }
        let (function, word, data) = written.unwrap_or((7, 3, 0xdead));
        unit.written.valid.next = written.is_some();
        unit.written.function.next = (function as u64).into();
        unit.written.word.next = (word as u64).into();
        unit.written.data.next = u64::from(data).into();
        settle(unit);
        let (function, word) = (unit.copy_function.val().index(), unit.copy_word.val().index());
        let copied = self.table[function].get(word).copied().unwrap_or(0);
        unit.copy_data.next = u64::from(copied).into();
        settle(unit);
        let shown = Shown {
            open: std::array::from_fn(|core| unit.open[core].val()),
            function: std::array::from_fn(|core| unit.function[core].val().index()),
            drop: std::array::from_fn(|core| unit.drop[core].val()),
            ready: unit.assignment.ready.val().to_u64(),
            row: std::array::from_fn(|core| {
                unit.rows[core].valid.val().then(|| unit.rows[core].row.val().index())
            }),
        };
        for core in 0..CORES {
            if unit.take[core].val() {
                self.copies[core][unit.word.val().index()] = unit.data.val().to_u64() as u32;
            }
        }
        if let Some((function, word, data)) = written {
            self.table[function][word] = data;
        }
        tick!(*unit);
        self.cycle += 1;
        shown
    }
}

struct Shown {
    open: [bool; CORES],
    function: [usize; CORES],
    drop: [bool; CORES],
    ready: u64,
    row: [Option<usize>; CORES],
}

#[test]
fn an_idle_core_is_open_again_when_it_is_cleared_and_copied() {
    for writes in [0, 1, 5] {
        let mut bench = Bench::new();
        for word in 0..CONTEXT_WORDS {
            bench.step([false; CORES], Some((2, word, 100 + word as u32)));
        }
        assert!(bench.step([true; CORES], None).open[1]);
        bench.wanted[1] = 2;
        let (mut cycles, mut drops) = (0, vec![]);
        loop {
            let written = (9..9 + writes).contains(&cycles).then_some((1, 0, 7));
            let shown = bench.step([true; CORES], written);
            assert!(shown.open[0] && shown.open[2]);
            assert_eq!(shown.ready >> 1 & 1 == 1, shown.open[1]);
            drops.extend(shown.drop[1].then_some(cycles));
            assert!(!shown.drop[0] && !shown.drop[2]);
            assert_eq!(shown.row, [None, (1..=ROWS).contains(&cycles).then(|| cycles - 1), None]);
            if shown.open[1] {
                break;
            }
            cycles += 1;
        }
        assert_eq!(cycles, 12 + ROWS + writes, "with {writes} writes");
        assert_eq!(drops, [ROWS + 2]);
        assert_eq!(bench.copies[1], std::array::from_fn(|word| 100 + word as u32));
    }
}

/// A number that is taken back before the core has drained changes nothing.
#[test]
fn taken_back_before_the_core_drained() {
    let mut bench = Bench::new();
    bench.wanted[0] = 3;
    for _ in 0..50 {
        let shown = bench.step([false, true, true], None);
        assert!(!shown.open[0] && shown.function[0] == 0 && shown.ready == 6);
    }
    bench.wanted[0] = 0;
    let shown = bench.step([false, true, true], None);
    assert!(shown.open[0] && !shown.drop[0]);
}

/// A core without a function is clean: it goes on at once.
#[test]
fn a_core_is_cleared_once_for_each_function_that_ran_there() {
    let mut bench = Bench::new();
    let mut rows = 0;
    for (wanted, cleared) in [(2, ROWS), (8, ROWS), (9, 0), (3, 0), (0, ROWS)] {
        bench.wanted[2] = wanted;
        let before = rows;
        for _ in 0..40 {
            rows += usize::from(bench.step([true; CORES], None).row[2].is_some());
        }
        assert_eq!(rows - before, cleared, "to {wanted}");
    }
}

/// CORE_NF and words are written at any time, and cores drain as they like: the owner changes on
/// idle cores alone, an open core has all words of its owner as they stand, and every change ends.
#[test]
fn cores_change_hands_at_any_time() {
    let mut random = random();
    let mut bench = Bench::new();
    let mut busy = [false; CORES];
    let mut owner = [0; CORES];
    let mut closed = [0; CORES];
    // Rows cleared one after the other since the core was open, in their order.
    let mut cleared = [0; CORES];
    // When CORE_NF changed last.
    let mut changed = [0; CORES];
    let (mut changes, mut opened, mut again) = (0, 0, 0);
    for cycle in 0..60_000 {
        // In phases, so that changes end as well.
        let rate = [0.001, 0.05, 0.3, 0.01][cycle / 500 % 4];
        for core in 0..CORES {
            if random.gen_bool(rate) {
                again += usize::from(closed[core] > 0);
                changed[core] = cycle;
                // Also numbers that no function has.
                bench.wanted[core] = random.gen_range(0..10);
            }
        }
        let written = random
            .gen_bool(0.3)
            .then(|| (random.gen_range(1..FUNCTIONS), random.gen_range(0..CONTEXT_WORDS), random.gen()));
        let table = bench.table;
        let copies = bench.copies;
        let shown = bench.step(busy.map(|busy| !busy), written);
        for core in 0..CORES {
            assert!(shown.row[core].is_none() || !busy[core], "cycle {cycle}");
            match shown.row[core] {
                Some(row) if cleared[core] < ROWS => {
                    cleared[core] = if row == cleared[core] { row + 1 } else { usize::from(row == 0) };
                }
                _ => {}
            }
            if shown.open[core] {
                cleared[core] = 0;
            }
            if shown.function[core] != owner[core] {
                assert_eq!(cleared[core], ROWS, "cycle {cycle}: core {core} changes hands");
                changes += 1;
                owner[core] = shown.function[core];
            }
            let wanted = bench.wanted[core] as usize;
            if shown.open[core] {
                assert!(wanted < FUNCTIONS && shown.function[core] == wanted, "cycle {cycle}");
                assert!(wanted == 0 || copies[core] == table[wanted], "cycle {cycle}: core {core}");
                opened += usize::from(closed[core] > 0);
            }
            assert!(!shown.drop[core] || !busy[core], "cycle {cycle}");
            assert!(shown.open[core] == (shown.ready >> core & 1 == 1) || wanted >= FUNCTIONS);
            closed[core] = if shown.open[core] { 0 } else { closed[core] + 1 };
            // A warp starts on an open core alone, and ends some time.
            busy[core] = if busy[core] { random.gen_bool(0.9) } else { shown.open[core] && random.gen() };
            let is_late = closed[core] > 400 && cycle - changed[core] > 400;
            assert!(wanted >= FUNCTIONS || !is_late, "cycle {cycle}: core {core} is closed");
        }
    }
    assert!(changes > 1_000 && opened > 500 && again > 500, "{changes} {opened} {again}");
}
