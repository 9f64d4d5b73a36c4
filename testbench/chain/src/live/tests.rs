//! What was in force when, and faults.

use std::collections::VecDeque;

use hermes_rtl::config::WATCHDOG_CAUSE;
use hermes_rtl::host::registers::offset;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::faults::{Fault, FaultReader};
use super::paths::{History, Paths};
use crate::cosim::{Access, Completion, Event, PacketRange, WarpSlot};
use crate::edges::Edges;
use crate::visits::VisitLog;

#[test]
fn what_is_in_force() {
    let mut history = History::new(1);
    history.begin(100, 2);
    assert_eq!(history.between(50, 99), [1]);
    assert_eq!(history.between(50, 100), [1, 2]);
    assert_eq!(history.between(5_000, 6_000), [1, 2], "it was not answered");
    history.end(110);
    assert_eq!(history.between(115, 120), [1, 2]);
    assert_eq!(history.between(119, 400), [2]);
    history.begin(300, 3);
    history.end(310);
    assert_eq!(history.between(200, 400), [2, 3]);
    assert_eq!(history.between(90, 400), [1, 2, 3]);
    assert_eq!(history.between(400, 401), [3]);
}

/// Lanes of a warp that go different ways wait from their own finish on, whatever the others do
/// meanwhile: in a run whose host may change the chain as in one whose host does not.
#[test]
fn lanes_that_branch_wait_each_by_itself() {
    let seed = crate::test_seed();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let first: Vec<_> = (0..4).map(|number| (number, number as u32)).collect();
    let mut log = VisitLog::new(4);
    let mut paths = Paths::new(4, &first, &[Edges::default(); 4], vec![Some(0)]);
    let mut cycle = 10;
    for warp in 0..200 {
        let slot = WarpSlot { core: 0, slot: 0 };
        let packets = PacketRange { first: 4 * warp, count: 4 };
        let mut event = |event| {
            cycle += random.gen_range(1..50);
            log.event(cycle, event).unwrap();
            paths.event(cycle, event).unwrap();
            random.gen_range(1..16)
        };
        event(Event::Issue(slot, packets));
        let mut lanes = event(Event::Finish(slot));
        for function in 1..4 {
            // Other lanes than before, and some of them again.
            event(Event::Hop { slot, packets, lanes, function });
            lanes = event(Event::Finish(slot));
        }
        event(Event::Commit(slot, packets));
    }
    assert_eq!(paths.times, log.functions(), "seed {seed}");
    let longest = |function: usize| *paths.times[function].waits.iter().max().unwrap();
    assert!(longest(1) < 50 && longest(3) > 100, "seed {seed}");
    let met = paths.packets.iter().zip(log.ways()).all(|(seen, way)| seen.len() == way.len());
    assert!(met, "seed {seed}");
}

/// The fault registers of an array on which functions fault whenever they like.
#[derive(Default)]
struct Array {
    fifo: VecDeque<(u32, u32)>,
    lost: u32,
    faulted: [u32; 8],
    selected: usize,
}

impl Array {
    /// A warp of `number` faults with so many threads.
    fn fault(&mut self, number: u32, threads: u32) {
        self.faulted[number as usize] += threads;
        match self.fifo.len() < 32 {
            true => self.fifo.push_back((number, threads)),
            false => self.lost += 1,
        }
    }

    fn access(&mut self, access: Access) -> Completion {
        let at = |name| offset(name);
        let value = match access {
            Access::Read { offset } if offset == at("FAULT_LEVEL") => {
                self.fifo.len() as u32 | self.lost << 16
            }
            Access::Read { offset } if offset == at("NF_FAULTED") => self.faulted[self.selected],
            Access::Read { offset } if offset == at("FAULT_INFO") => {
                let (number, threads) = self.fifo[0];
                threads << 24 | number << 13 | u32::from(WATCHDOG_CAUSE)
            }
            Access::Write { offset, value } if offset == at("NF_SELECT") => {
                self.selected = value as usize;
                0
            }
            Access::Write { offset, .. } if offset == at("FAULT_POP") => {
                self.fifo.pop_front();
                0
            }
            _ => 0,
        };
        Completion { access, value, response: 0 }
    }
}

/// What a look finds, added to `found`; `between` is what happens between two accesses.
fn look(
    reader: &mut FaultReader,
    array: &mut Array,
    found: &mut [u32; 8],
    mut between: impl FnMut(&mut Array),
) {
    let mut accesses = VecDeque::from(reader.begin());
    while let Some(access) = accesses.pop_front() {
        between(array);
        let (faults, more) = reader.answer(array.access(access));
        accesses.extend(more);
        for fault in faults {
            let (number, threads) = match fault {
                Fault::Record(record) => (record.function.map_or(0, u32::from), record.threads.into()),
                Fault::Lost { number, threads } => {
                    assert!(array.lost > 0, "nothing was lost");
                    (number, threads)
                }
            };
            found[number as usize] += threads;
            let (found, faulted) = (found[number as usize], array.faulted[number as usize]);
            assert!(found <= faulted, "number {number}: {found} of {faulted} threads");
        }
    }
    assert!(!reader.is_looking);
}

/// A function that floods the FIFO hides no fault of another one, and none is counted twice.
#[test]
fn a_flood_of_faults_hides_none() {
    let seed = crate::test_seed();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for flood in [0, 1, 8, 100, 1_000] {
        let (mut reader, mut array, mut found) = (FaultReader::new(8), Array::default(), [0; 8]);
        for _ in 0..200 {
            // The FIFO is full when the watchdog ends a warp of the other one.
            (0..random.gen_range(0..=flood)).for_each(|_| array.fault(1, 3));
            if random.gen_range(0..4) == 0 {
                array.fault(0, random.gen_range(1..5));
            }
            look(&mut reader, &mut array, &mut found, |array| {
                if random.gen_range(0..1_000) < flood {
                    array.fault(random.gen_range(0..3), 4);
                }
            });
        }
        look(&mut reader, &mut array, &mut found, |_| {});
        assert_eq!(found, array.faulted, "seed {seed}, flood {flood}");
        assert_eq!(array.lost > 0, flood > 32, "seed {seed}, flood {flood}");
    }
}
