//! Which functions each packet visited, as the array tells, and what must come out by that.

use std::collections::{BTreeMap, HashMap};

use anyhow::{bail, ensure, Context};

use super::became::{Became, Bounds, Checked};
use super::steps::Live;
use crate::apps::App;
use crate::chain::edges::Edges;
use crate::chain::hang::OnHang;
use crate::chain::placed::{Chain, STUB_DROPS, STUB_PASSES};
use crate::chain::simulated::Stop;
use crate::chain::visits::{numbers, FunctionTimes};
use crate::cosim::{Event, FunctionCounts, PacketRange, PortsResult, WarpSlot};
use crate::golden::Golden;
use crate::outcome::check_ports_against;
use crate::slot::SlotPacket;
use crate::verdict::{Verdict, FAULT};
use hermes_rtl::config::WATCHDOG_CAUSE;

/// Cycles from the answer to a write of a register until all of the array has its value, and a few.
const SETTLED: u64 = 8;

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
    fn check_way(&self, index: usize, live: &Live) -> anyhow::Result<()> {
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
    fn changes_of(&self, index: usize) -> Vec<usize> {
        let seen = &self.packets[index];
        let (first, last) = (seen.first(), seen.last());
        self.changes.between(first.map_or(0, |seen| seen.start), last.map_or(0, |seen| seen.finish))
    }

    /// The edges by which packets that finish here may go on.
    fn edges_at(&self, seen: Seen) -> Vec<Edges> {
        let edges = &self.edges[usize::from(seen.number)];
        edges.between(seen.finish.saturating_sub(SETTLED), seen.finish)
    }

    /// What may come out for a packet by the functions that it visited: one thing, but while tables
    /// change or a function is bent to a stub.
    fn outcomes(&self, chain: &Chain, live: &Live, index: usize, packet: &SlotPacket) -> Vec<Outcome> {
        let seen = &self.packets[index];
        // The chain before a change, or that behind it, must explain the whole way.
        let graphs: Vec<_> = self.changes_of(index).into_iter().map(|changes| live.graph(changes)).collect();
        let mut outcomes =
            vec![Outcome { golden: None, stops: Vec::new(), graphs: (0..graphs.len()).collect() }];
        for (place, at) in seen.iter().enumerate() {
            let next = seen.get(place + 1);
            let to = next.map(|next| usize::from(next.number));
            let to_function = next.map(|next| usize::from(next.function));
            let edges = self.edges_at(*at);
            let leads = |graph: &usize, verdict: Verdict| {
                let mut functions = graphs[*graph].iter();
                let here = functions.find(|(function, _)| *function == usize::from(at.function));
                here.is_some_and(|(_, edges)| edges.of(verdict) == to_function)
            };
            let mut next: Vec<Outcome> = Vec::new();
            for before in &outcomes {
                let frame = before.golden.as_ref().map_or(&packet.frame, |golden| &golden.frame);
                let packet = SlotPacket { frame: frame.clone(), ..packet.clone() };
                for (golden, by_kernel) in self.at_function(chain, live, index as u64, &packet, *at) {
                    if !edges.iter().any(|edges| edges.of(golden.verdict) == to) {
                        continue;
                    }
                    let instead = (!by_kernel).then_some(golden.verdict);
                    let stop = Stop { function: usize::from(at.function), instead };
                    let mut stops = before.stops.clone();
                    stops.push((stop, golden.verdict));
                    let graphs = before.graphs.iter().copied();
                    let graphs: Vec<_> = graphs.filter(|graph| leads(graph, golden.verdict)).collect();
                    if graphs.is_empty() {
                        continue;
                    }
                    let outcome = Outcome { golden: Some(golden), stops, graphs };
                    if !next.contains(&outcome) {
                        next.push(outcome);
                    }
                }
            }
            outcomes = next;
        }
        outcomes
    }

    /// What a function may make of a packet, and whether its kernel does so: else the watchdog or a
    /// stub does, which come first.
    fn at_function(
        &self,
        chain: &Chain,
        live: &Live,
        index: u64,
        packet: &SlotPacket,
        seen: Seen,
    ) -> Vec<(Golden, bool)> {
        let number = usize::from(seen.function);
        let function = chain.function(number);
        let (from, to) = (seen.start, seen.finish);
        let mut found = Vec::new();
        // What the watchdog has ended is known by its time, of functions that are let hang.
        let watchdog = u64::from(function.watchdog);
        if function.on_hang.is_some() && watchdog > 0 && to - from + SETTLED >= watchdog {
            let verdict = Verdict(FAULT | u32::from(WATCHDOG_CAUSE));
            found.push((Golden { verdict, frame: packet.frame.clone() }, false));
        }
        // The kernel comes last: it may hang where a stub does the same.
        for stub in self.stubs[number].between(from, to).into_iter().rev() {
            let unchanged = |verdict| (Golden { verdict, frame: packet.frame.clone() }, false);
            match stub {
                Some(OnHang::Drop) => found.push(unchanged(STUB_DROPS)),
                Some(OnHang::Pass) => found.push(unchanged(STUB_PASSES)),
                _ => {
                    for tables in self.tables[number].between(from, to) {
                        let app: Option<&dyn App> = match tables {
                            Some(tables) => Some(&*live.tables[tables].app),
                            None => function.app.as_deref(),
                        };
                        found.extend(app.map(|app| (app.golden(index, packet), true)));
                    }
                }
            }
        }
        found
    }

    /// Compares what left the packet ports with the golden models of the functions that each packet
    /// visited, and the counters of the numbers with what became of the packets there.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(
        &self,
        chain: &Chain,
        live: &Live,
        packets: &[SlotPacket],
        ports: &PortsResult,
        counts: &[FunctionCounts],
    ) -> anyhow::Result<Checked> {
        ensure!(
            self.packets.len() == packets.len(),
            "{} of {} packets were started",
            self.packets.len(),
            packets.len()
        );
        let mut choices = Vec::with_capacity(packets.len());
        // Frames that may have left before the packet: with each of them the outcome of the packet
        // before that leads there.
        let mut left = BTreeMap::from([(0_usize, (0_usize, 0_usize))]);
        let mut trail = Vec::with_capacity(packets.len());
        for (index, packet) in packets.iter().enumerate() {
            self.check_way(index, live)?;
            let outcomes = self.outcomes(chain, live, index, packet);
            let mut next = BTreeMap::new();
            for before in left.keys().copied() {
                for (number, outcome) in outcomes.iter().enumerate() {
                    match outcome.leaves() {
                        None => {
                            next.entry(before).or_insert((before, number));
                        }
                        Some(golden) => {
                            let sent = ports.sent.get(before).filter(|sent| {
                                sent.bytes == golden.frame && Verdict::forward(sent.port) == golden.verdict
                            });
                            if sent.is_some() {
                                next.entry(before + 1).or_insert((before, number));
                            }
                        }
                    }
                }
            }
            if next.is_empty() {
                return Err(self.difference(chain, live, index, packets, ports, &left, &outcomes));
            }
            choices.push(outcomes);
            trail.push(next.clone());
            left = next;
        }
        // All that left.
        let mut at = ports.sent.len();
        let expected = left.keys().copied().last().unwrap_or(0);
        ensure!(left.contains_key(&at), "{at} frames left; expected {expected}");
        let mut chosen = Vec::with_capacity(packets.len());
        let mut of_numbers = vec![Bounds::default(); counts.len()];
        for ((outcomes, steps), seen) in choices.iter().zip(&trail).zip(&self.packets).rev() {
            let (before, number) = steps.get(&at).copied().unwrap_or_default();
            at = before;
            let outcome = outcomes.get(number).context("an outcome")?;
            let alike = outcomes.iter().filter(|other| other.leaves() == outcome.leaves());
            for (place, seen) in seen.iter().enumerate() {
                let verdicts = alike.clone().map(|other| other.stops[place].1);
                of_numbers.get_mut(usize::from(seen.number)).context("a number")?.add(verdicts);
            }
            chosen.push(outcome.clone());
        }
        chosen.reverse();
        let golden: Vec<_> = chosen.iter().filter_map(|outcome| outcome.golden.clone()).collect();
        let records = check_ports_against(&golden, packets, ports)?;
        let functions = vec![Became::default(); self.times.len()];
        let mut checked = Checked { records, functions, ways: Vec::with_capacity(chosen.len()) };
        for (outcome, seen) in chosen.iter().zip(&self.packets) {
            let starts = outcome.stops.iter().zip(seen);
            checked.ways.push(starts.map(|((stop, _), seen)| (*stop, seen.start)).collect());
            for (stop, verdict) in &outcome.stops {
                *checked.functions[stop.function].verdicts.entry(*verdict).or_default() += 1;
            }
        }
        for (number, (bounds, got)) in of_numbers.iter().zip(counts).enumerate() {
            bounds.check(number, got)?;
        }
        Ok(checked)
    }

    /// What is wrong with a packet that none of its outcomes explains.
    #[allow(clippy::too_many_arguments)]
    fn difference(
        &self,
        chain: &Chain,
        live: &Live,
        index: usize,
        packets: &[SlotPacket],
        ports: &PortsResult,
        left: &BTreeMap<usize, (usize, usize)>,
        outcomes: &[Outcome],
    ) -> anyhow::Error {
        let names = |seen: &Seen| chain.function(usize::from(seen.function)).name.clone();
        let way: Vec<_> = self.packets[index].iter().map(names).collect();
        let way = format!("packet {index}, which visited {}", way.join(", "));
        let Some(outcome) = outcomes.first() else {
            let last = self.packets[index].last();
            let last = last.map(|seen| self.at_function(chain, live, index as u64, &packets[index], *seen));
            let verdicts: Vec<_> =
                last.iter().flatten().map(|(golden, _)| golden.verdict.to_string()).collect();
            return anyhow::anyhow!(
                "{way}, ended there or went on against the golden model, which has {}",
                verdicts.join(" or ")
            );
        };
        let frame = left.keys().next().and_then(|at| ports.sent.get(*at));
        match (outcome.leaves(), frame) {
            (Some(golden), Some(sent)) => {
                let got = Golden { verdict: Verdict::forward(sent.port), frame: sent.bytes.clone() };
                match crate::golden::Difference::find(index as u64, golden.clone(), got) {
                    Some(difference) => anyhow::anyhow!("{way}:\n{difference}"),
                    None => anyhow::anyhow!("{way}: another frame left"),
                }
            }
            _ => anyhow::anyhow!("{way} was to leave; only {} frames left", ports.sent.len()),
        }
    }
}

/// What may become of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outcome {
    /// Verdict and frame behind the last function.
    golden: Option<Golden>,
    /// The functions that it visited, with the verdict of each.
    stops: Vec<(Stop, Verdict)>,
    /// The graphs, of those that there may have been meanwhile, that it went through.
    graphs: Vec<usize>,
}

impl Outcome {
    /// The frame that leaves.
    fn leaves(&self) -> Option<&Golden> {
        self.golden.as_ref().filter(|golden| golden.verdict.is_forward())
    }
}
