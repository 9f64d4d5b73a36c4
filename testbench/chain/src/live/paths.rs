//! Which functions each packet visited, as the array tells, and what was in force meanwhile.

use std::collections::HashMap;

use anyhow::{bail, ensure};

use super::steps::Live;
use crate::cosim::{Event, PacketRange, WarpSlot};
use crate::edges::Edges;
use crate::hang::OnHang;
use crate::visits::{numbers, FunctionTimes};

/// Cycles from the answer to a write of a register until all of the array has its value, and a few.
pub(super) const SETTLED: u64 = 8;

/// A packet at a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The function.
    pub function: u16,
    /// Its number on the array.
    pub number: u8,
    /// The cycle of the start.
    pub start: u64,
    /// The cycle of the finish.
    pub finish: u64,
}

/// A value that changes by writes of a register: each with the cycle in which the write began and
/// that in which it was answered.
#[derive(Clone, Debug)]
pub struct History<T> {
    values: Vec<(u64, u64, T)>,
}

impl<T: Copy + PartialEq> History<T> {
    /// `value` from the start on.
    pub fn new(value: T) -> Self {
        Self { values: vec![(0, 0, value)] }
    }

    /// `value` is being written from `cycle` on.
    pub fn begin(&mut self, cycle: u64, value: T) {
        self.values.push((cycle, u64::MAX - SETTLED, value));
    }

    /// The last write was answered.
    pub fn end(&mut self, cycle: u64) {
        if let Some(last) = self.values.last_mut() {
            last.1 = cycle;
        }
    }

    /// The values that may have been in force from `from` to `to`.
    pub fn between(&self, from: u64, to: u64) -> Vec<T> {
        let settled = |at: &(u64, u64, T)| at.1 + SETTLED < from;
        // Both times rise from one value to the next.
        let first = self.values.partition_point(settled).saturating_sub(1);
        let begun = self.values[first..].iter().take_while(|at| at.0 <= to);
        let mut values = Vec::new();
        for (_, _, value) in begun {
            if !values.contains(value) {
                values.push(*value);
            }
        }
        values
    }
}

/// A warp on a core.
#[derive(Clone, Copy, Debug)]
struct Running {
    function: u16,
    number: u8,
    packets: PacketRange,
    lanes: u32,
    start: u64,
}

/// Follows packets from function to function by the events of the array, and keeps what the host
/// has written that decides about them.
#[derive(Clone, Debug)]
pub struct Paths {
    /// The function of each number.
    pub functions: [Option<usize>; 8],
    /// Where packets go behind a number, by numbers.
    pub edges: Vec<History<Edges>>,
    /// Where new packets go.
    pub entry: History<u32>,
    /// Changes that were made.
    pub changes: History<usize>,
    /// The tables of each function: those that it began with, or new ones by their place.
    pub tables: Vec<History<Option<usize>>>,
    /// The stub that each function was bent to.
    pub stubs: Vec<History<Option<OnHang>>>,
    /// What each packet visited.
    pub packets: Vec<Vec<Seen>>,
    /// How long packets waited for each function and were there.
    pub times: Vec<FunctionTimes>,
    /// Warps that each function got.
    pub warps: Vec<u32>,
    /// The numbers of the cores, as the host has written them last.
    pub cores: Vec<Option<u32>>,
    running: HashMap<WarpSlot, Running>,
    /// Packets that finished at a function and were not committed, and when they did last.
    finished: HashMap<u32, u64>,
    /// Warps on each core that has some, and since when it has.
    busy: HashMap<u8, (u32, u64)>,
}

impl Paths {
    /// Of `count` functions, those in `first` with their numbers and `edges`, which are by
    /// functions, on cores with these numbers.
    #[must_use]
    pub fn new(count: usize, first: &[(usize, u32)], edges: &[Edges], cores: Vec<Option<u32>>) -> Self {
        let mut functions = [None; 8];
        let mut of_numbers = vec![History::new(Edges::default()); functions.len()];
        let number_of = |function: usize| {
            let found = first.iter().find(|(other, _)| *other == function);
            found.map(|(_, number)| *number as usize)
        };
        for ((function, number), edges) in first.iter().copied().zip(edges) {
            functions[number as usize] = Some(function);
            of_numbers[number as usize] = History::new(edges.map_ends(number_of));
        }
        Self {
            functions,
            edges: of_numbers,
            entry: History::new(first.first().map_or(0, |(_, number)| *number)),
            changes: History::new(0),
            tables: vec![History::new(None); count],
            stubs: vec![History::new(None); count],
            packets: Vec::new(),
            times: vec![FunctionTimes::default(); count],
            warps: vec![0; count],
            cores,
            running: HashMap::new(),
            finished: HashMap::new(),
            busy: HashMap::new(),
        }
    }

    /// Packets that have started at their first function.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Takes an event of a cycle.
    ///
    /// # Errors
    /// Packets are at a number without a function, or come to their first one out of order.
    pub fn event(&mut self, cycle: u64, event: Event) -> Result<(), String> {
        match event {
            Event::Issue(slot, packets) => {
                if u64::from(packets.first) != self.started() & u64::from(u32::MAX) {
                    return Err(format!("packets from {} on start behind {}", packets.first, self.started()));
                }
                let count = self.packets.len() + packets.count as usize;
                self.packets.resize_with(count, Vec::new);
                let lanes = u32::MAX >> (32 - packets.count.clamp(1, 32));
                self.start(slot, packets, lanes, None, cycle)
            }
            Event::Hop { slot, packets, lanes, function } => {
                self.start(slot, packets, lanes, Some(function), cycle)
            }
            Event::Finish(slot) => {
                self.finish(slot, cycle);
                Ok(())
            }
            Event::Commit(_, packets) => {
                for packet in numbers(packets, u32::MAX >> (32 - packets.count.clamp(1, 32))) {
                    self.finished.remove(&packet);
                }
                Ok(())
            }
            Event::Spawn(_) => Ok(()),
        }
    }

    fn start(
        &mut self,
        slot: WarpSlot,
        packets: PacketRange,
        lanes: u32,
        number: Option<u8>,
        cycle: u64,
    ) -> Result<(), String> {
        let number = match number {
            Some(number) => number,
            None => self.entry_of(slot, cycle)?,
        };
        let function = self.functions.get(usize::from(number)).copied().flatten();
        let Some(function) = function else {
            return Err(format!(
                "packets from {} on are at number {number}, which has no function",
                packets.first
            ));
        };
        self.warps[function] += 1;
        for packet in numbers(packets, lanes) {
            let waited = self.finished.remove(&packet).map(|finish| cycle - finish);
            self.times[function].waits.extend(waited);
        }
        self.busy.entry(slot.core).or_insert((0, cycle)).0 += 1;
        let function = function as u16;
        self.running.insert(slot, Running { function, number, packets, lanes, start: cycle });
        Ok(())
    }

    /// The number at which a warp of new packets starts on a core: while the host changes it, no
    /// core changes its own.
    fn entry_of(&self, slot: WarpSlot, cycle: u64) -> Result<u8, String> {
        let owner = self.cores.get(usize::from(slot.core)).copied().flatten();
        match self.entry.between(cycle, cycle)[..] {
            [number] => Ok(number as u8),
            ref numbers => {
                (numbers.iter().find(|number| Some(**number) == owner).map(|number| *number as u8))
                    .ok_or_else(|| format!("new packets start on core {}, which is of {owner:?}", slot.core))
            }
        }
    }

    fn finish(&mut self, slot: WarpSlot, cycle: u64) {
        let Some(Running { function, number, packets, lanes, start }) = self.running.remove(&slot) else {
            return;
        };
        for packet in numbers(packets, lanes) {
            self.packets[packet as usize].push(Seen { function, number, start, finish: cycle });
            self.finished.insert(packet, cycle);
        }
        let times = &mut self.times[usize::from(function)];
        times.stays.extend(std::iter::repeat_n(cycle - start, lanes.count_ones() as usize));
        if let Some((warps, since)) = self.busy.get_mut(&slot.core) {
            *warps -= 1;
            if *warps == 0 {
                times.core_cycles += cycle - *since;
                self.busy.remove(&slot.core);
            }
        }
    }

    /// Makes sure that packet number `index` went as the chain was when it finished at each
    /// function, and through one of the chains as they followed each other.
    ///
    /// # Errors
    /// It did not.
    pub(super) fn check_way(&self, index: usize, live: &Live) -> anyhow::Result<()> {
        let seen = &self.packets[index];
        let way = || seen.iter().map(|seen| usize::from(seen.function));
        let Some(first) = seen.first() else { bail!("packet {index} was at no function") };
        let entries = self.entry.between(first.start.saturating_sub(SETTLED), first.start);
        ensure!(
            entries.contains(&first.number.into()),
            "packet {index} started at number {} in cycle {}; expected {entries:?}",
            first.number,
            first.start
        );
        for (at, next) in seen.iter().zip(&seen[1..]) {
            let expected = self.edges_at(*at);
            ensure!(
                expected.iter().any(|edges| edges.targets().contains(&next.number.into())),
                "packet {index} went from number {} to {} in cycle {}; expected {expected:?}",
                at.number,
                next.number,
                at.finish
            );
            ensure!(
                next.number > at.number && next.start > at.finish,
                "packet {index} went back from number {} to {}",
                at.number,
                next.number
            );
        }
        let is_way = |graph: Vec<(usize, Edges)>| {
            let leads = |(from, to): (usize, usize)| {
                let at = graph.iter().find(|(function, _)| *function == from);
                at.is_some_and(|(_, edges)| edges.targets().contains(&to))
            };
            let first = graph.first().map(|(function, _)| *function);
            way().next() == first && way().zip(way().skip(1)).all(leads)
        };
        ensure!(
            self.changes_of(index).into_iter().any(|changes| is_way(live.graph(changes))),
            "packet {index} visited functions {:?}, which were never a way through the chain",
            way().collect::<Vec<_>>()
        );
        Ok(())
    }

    /// How many changes may have been made while the packet was on its way.
    pub(super) fn changes_of(&self, index: usize) -> Vec<usize> {
        let seen = &self.packets[index];
        let (first, last) = (seen.first(), seen.last());
        self.changes.between(first.map_or(0, |seen| seen.start), last.map_or(0, |seen| seen.finish))
    }

    /// The edges by which packets that finish here may go on.
    pub(super) fn edges_at(&self, seen: Seen) -> Vec<Edges> {
        let edges = &self.edges[usize::from(seen.number)];
        edges.between(seen.finish.saturating_sub(SETTLED), seen.finish)
    }
}
