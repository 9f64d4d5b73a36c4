//! The host that changes a chain while packets flow: it writes memory and registers step by step,
//! and looks for functions that hang.

use std::collections::VecDeque;

use super::adapter::{Adapter, Decision};
use super::became::Became;
use super::events::When;
use super::faults::{Fault, FaultReader};
use super::outcomes::ENDED;
use super::paths::Paths;
use super::steps::{Change, Live, Step};
use super::tally::Tally;
use crate::cosim::{
    argument_words, chain_words, context_words, core_words, edge_words, entry_words, warps_words, Access,
    ArrayInfo, Attention, Completion, CosimError, FaultRecord, Function as Context, FunctionCounts,
    RegisterWord,
};
use crate::hang::{window, Hang, OnHang};
use crate::placed::Chain;
use hermes_rtl::config::WATCHDOG_CAUSE;
use hermes_rtl::host::registers::offset;

/// Cycles from one look at the fault FIFO to the next.
const FAULT_LOOK: u64 = 1 << 10;

/// When a change was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// The cycle of the run in which it began; none if the run ended before.
    pub began: Option<u64>,
    /// Packets that had started at their first function by then.
    pub packets: u64,
    /// The cycle from which on it stands: nothing is in flight that came before it, and all cores
    /// have their functions. None if the run ended before.
    pub stood: Option<u64>,
}

/// A function that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hung {
    /// The function.
    pub function: usize,
    /// The cycle of the run in which the host has noticed.
    pub cycle: u64,
    /// Threads that the watchdog had ended within the window.
    pub faults: u32,
    /// What the host did.
    pub action: OnHang,
}

/// Whose accesses are in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Change,
    Faults,
    Stub(usize),
    Counters,
    Tally,
}

/// What the step under way waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// It has not begun.
    Nothing,
    /// Its writes.
    Writes,
    /// CORE_READY.
    Ready,
    /// ISSUED_WARPS.
    Issued,
    /// COMMITTED_WARPS, which is to reach this.
    Committed(u32),
    /// NF_QUEUED of this number.
    Queued(u32),
    /// So many looks at the fault FIFO.
    Looks(u64),
    /// The counters of numbers whose functions go.
    Tally,
}

/// The host of a run that changes.
pub struct LiveHost<'a> {
    chain: &'a Chain,
    live: &'a Live,
    info: ArrayInfo,
    contexts: Vec<Context>,
    /// What packets visit, and what was written that decides about it.
    pub paths: Paths,
    /// When each change was made.
    pub made: Vec<Made>,
    /// Functions that hang.
    pub hung: Vec<Hung>,
    /// Fault records that were taken out of the FIFO.
    pub faults: Vec<FaultRecord>,
    in_flight: VecDeque<Of>,
    change: usize,
    step: usize,
    wait: Wait,
    next_look: u64,
    reader: FaultReader,
    tally: Tally,
    /// Threads of each function that the watchdog has ended, with the cycle.
    ended: Vec<VecDeque<(u64, u32)>>,
    /// Functions of whose threads one ended with another fault than the watchdog's.
    faulted: Vec<bool>,
    /// The changes, those that the host has decided itself among them.
    changes: Vec<Change>,
    /// Cores are given out anew.
    adapter: Option<Adapter>,
}

impl Hung {
    /// Makes sure that the watchdog has ended so many threads of the function as the host says, of
    /// which this became.
    ///
    /// # Errors
    /// It has ended fewer: the host has done something to a function that does not hang.
    pub fn check(&self, name: &str, became: &Became) -> anyhow::Result<()> {
        let ended = became.verdicts.get(&ENDED).copied().unwrap_or(0);
        anyhow::ensure!(
            ended >= u64::from(self.faults),
            "`{name}` hangs by the fault records, {} threads of it; the watchdog has ended {ended}",
            self.faults
        );
        Ok(())
    }
}

impl<'a> LiveHost<'a> {
    /// Of a chain that was started with these contexts on cores with these numbers.
    #[must_use]
    pub fn new(
        chain: &'a Chain,
        live: &'a Live,
        info: ArrayInfo,
        contexts: Vec<Context>,
        cores: Vec<Option<u32>>,
    ) -> Self {
        let count = contexts.len();
        Self {
            chain,
            live,
            info,
            contexts,
            paths: Paths::new(count, &live.first, &live.first_edges, cores),
            made: vec![Made::default(); live.changes.len()],
            hung: Vec::new(),
            faults: Vec::new(),
            in_flight: VecDeque::new(),
            change: 0,
            step: 0,
            wait: Wait::Nothing,
            next_look: FAULT_LOOK,
            reader: FaultReader::new(info.functions),
            tally: Tally::new(count),
            ended: vec![VecDeque::new(); count],
            faulted: vec![false; count],
            changes: live.changes.clone(),
            adapter: live.adapt.as_ref().map(|adapt| Adapter::new(adapt, chain.shares())),
        }
    }

    /// What the host does in a cycle.
    ///
    /// # Errors
    /// The array told of packets that are where none can be, or memory cannot be written.
    pub fn attend(&mut self, mut at: Attention<'_>) -> Result<(), CosimError> {
        for (cycle, event) in at.events {
            let seen = self.paths.event(*cycle, *event);
            seen.map_err(|message| CosimError::Observer { cycle: *cycle, message })?;
        }
        for answer in at.answers {
            match self.in_flight.pop_front() {
                Some(Of::Change) => self.changed(*answer, &mut at),
                Some(Of::Faults) => self.read(*answer, &mut at),
                Some(Of::Stub(function)) if !self.in_flight.contains(&Of::Stub(function)) => {
                    self.paths.stubs[function].end(at.cycle);
                }
                Some(Of::Counters) => self.counted(*answer, &at),
                Some(Of::Tally) => self.tallied(*answer),
                Some(Of::Stub(_)) | None => {}
            }
        }
        if !self.in_flight.contains(&Of::Counters) {
            let cores = self.info.cores;
            let reading = self.adapter.as_mut().map(|adapter| adapter.reading(at.now, cores));
            for access in reading.into_iter().flatten() {
                self.submit(Of::Counters, access, &mut at);
            }
        }
        self.go_on(&mut at)?;
        let is_due = at.now >= self.next_look || matches!(self.wait, Wait::Looks(_));
        if self.watches() && is_due && !self.reader.is_looking {
            self.next_look = at.now + FAULT_LOOK;
            let accesses = self.reader.begin();
            self.submit_all(Of::Faults, accesses, &mut at);
        }
        Ok(())
    }

    /// What was decided about the cores.
    #[must_use]
    pub fn decisions(&self) -> &[Decision] {
        self.adapter.as_ref().map_or(&[], |adapter| &adapter.decisions)
    }

    /// A register of a reading of the counters was answered: cores may be given out anew.
    fn counted(&mut self, answer: Completion, at: &Attention<'_>) {
        let owners = &self.paths.cores;
        let change = self.adapter.as_mut().and_then(|adapter| adapter.answer(answer, at.now, owners));
        if let Some(change) = change {
            self.changes.push(change);
            self.made.push(Made::default());
        }
    }

    /// Whether a function is looked after.
    fn watches(&self) -> bool {
        self.chain.all().any(|function| function.on_hang.is_some())
    }

    fn submit(&mut self, of: Of, access: Access, at: &mut Attention<'_>) {
        self.in_flight.push_back(of);
        at.accesses.push(access);
    }

    fn submit_all(&mut self, of: Of, accesses: Vec<Access>, at: &mut Attention<'_>) {
        accesses.into_iter().for_each(|access| self.submit(of, access, at));
    }

    fn read_register(&mut self, name: &str, wait: Wait, at: &mut Attention<'_>) {
        self.wait = wait;
        self.submit(Of::Change, Access::Read { offset: offset(name) }, at);
    }

    fn look_at_queue(&mut self, number: u32, at: &mut Attention<'_>) {
        self.write(Of::Change, vec![("NF_SELECT", number)], at);
        self.read_register("NF_QUEUED", Wait::Queued(number), at);
    }

    fn write(&mut self, of: Of, words: Vec<RegisterWord>, at: &mut Attention<'_>) {
        for (name, value) in words {
            self.submit(of, Access::Write { offset: offset(name), value }, at);
        }
    }

    /// Whether accesses of the change are in flight.
    fn is_busy(&self) -> bool {
        self.in_flight.contains(&Of::Change)
    }

    fn is_due(&self, now: u64) -> bool {
        match self.changes.get(self.change).map(|change| change.when) {
            Some(When::Packet(packet)) => self.paths.started() > packet,
            Some(When::Cycle(cycle)) => now >= cycle,
            None => false,
        }
    }

    /// Begins the next change if it is due, and the next step if the one before is done.
    fn go_on(&mut self, at: &mut Attention<'_>) -> Result<(), CosimError> {
        if matches!(self.wait, Wait::Looks(looks) if self.reader.looks >= looks) {
            self.step += usize::from(!self.begin_tally(at));
        }
        while self.wait == Wait::Nothing && !self.is_busy() {
            if self.step == 0 {
                if !self.is_due(at.now) {
                    return Ok(());
                }
                self.made[self.change].began = Some(at.now);
                self.made[self.change].packets = self.paths.started();
                if self.change < self.live.changes.len() {
                    self.paths.changes.begin(at.cycle, self.change + 1);
                }
            }
            let Some(step) = self.changes[self.change].steps.get(self.step).cloned() else {
                self.made[self.change].stood = Some(at.now);
                if self.change < self.live.changes.len() {
                    self.paths.changes.end(at.cycle);
                }
                if let Some(adapter) = &mut self.adapter {
                    adapter.stands(at.now);
                }
                (self.change, self.step) = (self.change + 1, 0);
                continue;
            };
            self.begin(&step, at)?;
            if self.wait == Wait::Nothing {
                self.step += 1;
            }
        }
        Ok(())
    }

    /// Begins a step. One that needs no registers is done with it.
    fn begin(&mut self, step: &Step, at: &mut Attention<'_>) -> Result<(), CosimError> {
        let (chain, live) = (self.chain, self.live);
        let cycle = at.cycle;
        let words = match step {
            Step::Load(function) => {
                for (address, bytes) in chain.function(*function).image() {
                    at.memory.write(address, bytes)?;
                }
                return Ok(());
            }
            Step::Tables(tables) => {
                for (address, bytes) in &live.tables[*tables].data {
                    at.memory.write(*address, bytes)?;
                }
                return Ok(());
            }
            Step::Context { number, function } => {
                self.paths.functions[*number as usize] = Some(*function);
                context_words(*number, &self.contexts[*function])
            }
            Step::Edges { number, edges } => {
                self.paths.edges[*number as usize].begin(cycle, *edges);
                edge_words(*number, edges, self.info.function_branches)
            }
            Step::Entry(number) => {
                self.paths.entry.begin(cycle, *number);
                chain_words(chain.limit, *number)
            }
            Step::Argument { number, tables } => {
                let new = &live.tables[*tables];
                self.paths.tables[new.function].begin(cycle, Some(*tables));
                self.contexts[new.function].argument = new.argument;
                argument_words(*number, new.argument)
            }
            Step::Cores(cores) => {
                self.paths.cores.clone_from(cores);
                core_words(cores, self.info.cores)
            }
            Step::Warps { number, warps } => {
                // Contexts are those of the functions, whatever their numbers.
                if let Some(function) = self.paths.functions[*number as usize] {
                    self.contexts[function].mcw = *warps;
                }
                warps_words(*number, *warps)
            }
            // Nothing else changes the entry then.
            Step::Limit(limit) => chain_words(*limit, live.first.first().map_or(0, |(_, number)| *number)),
            Step::WaitCores => {
                self.read_register("CORE_READY", Wait::Ready, at);
                return Ok(());
            }
            Step::Emptied(number) => {
                self.look_at_queue(*number, at);
                return Ok(());
            }
            Step::Drain => {
                self.read_register("ISSUED_WARPS", Wait::Issued, at);
                return Ok(());
            }
            Step::Free(_) => {
                // The look that is under way may have begun before.
                let looks = self.reader.looks + 1 + u64::from(self.reader.is_looking);
                match self.watches() {
                    true => self.wait = Wait::Looks(looks),
                    false => {
                        self.begin_tally(at);
                    }
                }
                return Ok(());
            }
        };
        self.wait = Wait::Writes;
        self.write(Of::Change, words, at);
        Ok(())
    }

    /// An access of the step under way was answered.
    fn changed(&mut self, answer: Completion, at: &mut Attention<'_>) {
        if self.is_busy() {
            return;
        }
        let live = self.live;
        let step = &self.changes[self.change].steps[self.step];
        let all = u32::MAX >> (32 - self.info.cores);
        match self.wait {
            Wait::Ready if answer.value != all => self.read_register("CORE_READY", Wait::Ready, at),
            Wait::Issued => self.read_register("COMMITTED_WARPS", Wait::Committed(answer.value), at),
            // Both count modulo 2^32, and there are far fewer between them.
            Wait::Committed(issued) if (answer.value.wrapping_sub(issued) as i32) < 0 => {
                self.read_register("COMMITTED_WARPS", Wait::Committed(issued), at);
            }
            Wait::Queued(number) if answer.value != 0 => self.look_at_queue(number, at),
            _ => {
                match step {
                    Step::Edges { number, .. } => self.paths.edges[*number as usize].end(at.cycle),
                    Step::Entry(_) => self.paths.entry.end(at.cycle),
                    Step::Argument { tables, .. } => {
                        self.paths.tables[live.tables[*tables].function].end(at.cycle);
                    }
                    _ => {}
                }
                (self.wait, self.step) = (Wait::Nothing, self.step + 1);
            }
        }
    }

    /// The numbers that have no function any more behind the step under way.
    fn freed(&self) -> Vec<u32> {
        let change = self.changes.get(self.change);
        match change.and_then(|change| change.steps.get(self.step)) {
            Some(Step::Free(numbers)) => numbers.clone(),
            _ => Vec::new(),
        }
    }

    /// Reads their counters, which nothing changes any more; whether there are any.
    fn begin_tally(&mut self, at: &mut Attention<'_>) -> bool {
        let functions = self.paths.functions;
        let of = self.freed().into_iter().filter_map(|number| Some((number, functions[number as usize]?)));
        let accesses = self.tally.read(of);
        let are_read = !accesses.is_empty();
        self.wait = if are_read { Wait::Tally } else { Wait::Nothing };
        self.submit_all(Of::Tally, accesses, at);
        are_read
    }

    /// One of their counters was read.
    fn tallied(&mut self, answer: Completion) {
        self.tally.answer(answer);
        if self.in_flight.contains(&Of::Tally) {
            return;
        }
        for number in self.freed() {
            self.paths.functions[number as usize] = None;
        }
        (self.wait, self.step) = (Wait::Nothing, self.step + 1);
    }

    /// What the array has counted of each function, by the counters that the numbers have at the
    /// end of the run.
    #[must_use]
    pub fn counts(&mut self, numbers: &[FunctionCounts]) -> Vec<FunctionCounts> {
        let mut tally = std::mem::replace(&mut self.tally, Tally::new(0));
        for (number, (counts, function)) in (0..).zip(numbers.iter().zip(&self.paths.functions)) {
            if let Some(function) = function {
                tally.add(number, *function, *counts);
            }
        }
        tally.functions()
    }

    /// A register of the fault FIFO was read, or a record popped.
    fn read(&mut self, answer: Completion, at: &mut Attention<'_>) {
        let (faults, accesses) = self.reader.answer(answer);
        for fault in faults {
            match fault {
                Fault::Record(record) => {
                    self.faults.push(record);
                    let number = record.function.map_or(0, u32::from);
                    if record.cause == WATCHDOG_CAUSE {
                        self.count(number, record.threads.into(), at);
                    } else if let Some(Some(function)) = self.paths.functions.get(number as usize) {
                        self.faulted[*function] = true;
                    }
                }
                // Their cause is not known: that of a function which faults itself may be another.
                Fault::Lost { number, threads } => {
                    let function = self.paths.functions.get(number as usize).copied().flatten();
                    if function.is_some_and(|function| !self.faulted[function]) {
                        self.count(number, threads, at);
                    }
                }
            }
        }
        self.submit_all(Of::Faults, accesses, at);
    }

    /// Counts threads that the watchdog has ended; does what is to be done if they are too many. A
    /// number has its function until all that is known of its faults was read.
    fn count(&mut self, number: u32, threads: u32, at: &mut Attention<'_>) {
        let Some(function) = self.paths.functions.get(number as usize).copied().flatten() else { return };
        let (of_chain, lanes) = (self.chain.function(function), self.info.lanes);
        let Some(Hang { action, .. }) = of_chain.on_hang else { return };
        if self.hung.iter().any(|hung| hung.function == function) {
            return;
        }
        let ended = &mut self.ended[function];
        ended.push_back((at.now, threads));
        while ended.front().is_some_and(|(cycle, _)| cycle + window(of_chain.watchdog) < at.now) {
            ended.pop_front();
        }
        let faults: u32 = ended.iter().map(|(_, threads)| threads).sum();
        // A warp has its slot for as long if few of its threads run.
        let full: u32 = ended.iter().map(|(_, threads)| threads.next_multiple_of(lanes)).sum();
        let warps = if self.adapter.is_some() { 1 } else { of_chain.mcw };
        if u64::from(full) < of_chain.hang_faults(lanes, self.chain.limit, warps) {
            return;
        }
        self.hung.push(Hung { function, cycle: at.now, faults, action });
        let [drop, pass] = of_chain.stubs();
        let entry = match action {
            OnHang::Report => return,
            OnHang::Drop => drop,
            OnHang::Pass => pass,
        };
        self.contexts[function].entry = entry;
        self.paths.stubs[function].begin(at.cycle, Some(action));
        for number in 0..self.paths.functions.len() as u32 {
            if self.paths.functions[number as usize] == Some(function) {
                self.write(Of::Stub(function), entry_words(number, entry), at);
            }
        }
    }
}
