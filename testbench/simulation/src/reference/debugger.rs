//! What a debugger does to a warp on the reference simulator: the lanes are its threads.

use std::collections::{BTreeMap, VecDeque};

use hermes_rtl::config::EXIT_ADDRESS;

use super::run::{Executed, Reference};
use crate::iss::{Cause, Class, Fault};

/// Why a warp stopped. Lanes count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A lane stands in front of an instruction with a breakpoint.
    Breakpoint(usize),
    /// A lane has accessed what is watched.
    Watch {
        /// The lane.
        lane: usize,
        /// The first watched byte that it accessed.
        address: u32,
        /// What is watched for.
        watch: Watch,
    },
    /// A lane has executed the instruction that it was to execute.
    Step(usize),
    /// A lane stands in front of an instruction that faults.
    Fault(usize, Fault),
    /// The lanes that may go on are at their ends, others are not.
    Waits(usize),
    /// All lanes have ended.
    End,
}

/// Accesses that are watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watch {
    /// Loads.
    Read,
    /// Stores.
    Write,
    /// Both.
    Access,
}

/// How lanes go on; a bit for each lane. Lanes in neither set stand still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resume {
    /// Lanes that go on until something stops the warp.
    pub go: u32,
    /// Lanes that execute one instruction.
    pub step: u32,
    /// Lanes of these that take the fault in front of which they stand: they end with it. Others
    /// try the instruction again. `ebreak` and `ecall` always end a lane.
    pub take: u32,
}

/// A warp under a debugger.
pub struct Debugger {
    run: Reference,
    /// How many there are at an address.
    breakpoints: BTreeMap<u32, u32>,
    /// First byte, bytes, accesses.
    watched: Vec<(u32, u32, Watch)>,
    /// Lanes that breakpoints and watches stop.
    stopping: u32,
    /// The lane that tells first of those that stop at an instruction.
    first: usize,
    resumed: Resume,
    /// Lanes that have told of the breakpoint in front of which they stand.
    told: u32,
    /// Faults in front of which lanes stand, with their instruction.
    faults: Vec<Option<(u32, Fault)>>,
    /// Stops that are still to be told.
    pending: VecDeque<Stop>,
}

impl Debugger {
    /// Takes over a warp that was [formed](Reference::form_warp).
    #[must_use]
    pub fn new(run: Reference) -> Self {
        let lanes = run.threads().len();
        Self {
            run,
            breakpoints: BTreeMap::new(),
            watched: Vec::new(),
            stopping: u32::MAX,
            first: 0,
            resumed: Resume::default(),
            told: 0,
            faults: vec![None; lanes],
            pending: VecDeque::new(),
        }
    }

    /// The warp.
    #[must_use]
    pub fn run(&self) -> &Reference {
        &self.run
    }

    /// The warp, to be changed.
    pub fn run_mut(&mut self) -> &mut Reference {
        &mut self.run
    }

    /// The warp, without the debugger. Lanes that stand in front of a fault end with it when they
    /// go on.
    #[must_use]
    pub fn into_run(self) -> Reference {
        self.run
    }

    /// Breakpoints and watches stop the lanes in `set` alone, a bit for each.
    pub fn stop_only(&mut self, set: u32) {
        self.stopping = set;
    }

    /// Of lanes that stop at one instruction, `lane` tells first, then the others from lane 0 on.
    pub fn prefer(&mut self, lane: usize) {
        self.first = lane;
    }

    /// Sets a breakpoint at the instruction at `address`.
    pub fn insert_breakpoint(&mut self, address: u32) {
        *self.breakpoints.entry(address).or_default() += 1;
    }

    /// Removes a breakpoint; `false` if there was none.
    pub fn remove_breakpoint(&mut self, address: u32) -> bool {
        let Some(count) = self.breakpoints.get_mut(&address) else { return false };
        *count -= 1;
        if *count == 0 {
            self.breakpoints.remove(&address);
        }
        true
    }

    /// Watches `bytes` bytes from `address` on.
    pub fn insert_watch(&mut self, address: u32, bytes: u32, watch: Watch) {
        self.watched.push((address, bytes, watch));
    }

    /// Ends a watch; `false` if there was none like it.
    pub fn remove_watch(&mut self, address: u32, bytes: u32, watch: Watch) -> bool {
        let found = self.watched.iter().position(|watched| *watched == (address, bytes, watch));
        found.map(|position| self.watched.remove(position)).is_some()
    }

    /// Writes x1 to x31 of a lane, or its PC as number 32.
    pub fn set_register(&mut self, lane: usize, number: u32, value: u32) {
        let hart = &mut self.run.warp.threads[lane].hart;
        match number {
            1..=31 => hart.x[number as usize] = value,
            32 => {
                hart.pc = value;
                self.told &= !(1 << lane);
            }
            _ => {}
        }
    }

    /// Lets lanes go on at the next [`Self::advance`].
    pub fn resume(&mut self, resume: Resume) {
        self.resumed = resume;
        for lane in 0..self.faults.len() {
            if (resume.go | resume.step) >> lane & 1 == 0 {
                continue;
            }
            let Some((pc, fault)) = self.faults[lane].take() else { continue };
            let ends = matches!(fault.cause, Cause::Breakpoint | Cause::EnvironmentCall);
            if self.run.threads()[lane].hart.pc == pc && (ends || resume.take >> lane & 1 != 0) {
                self.run.end_lane(lane, fault);
                if resume.step >> lane & 1 != 0 {
                    self.pending.push_back(Stop::Step(lane));
                }
            }
        }
    }

    /// Executes up to `most` warp-instructions; why the warp stopped, if it did.
    pub fn advance(&mut self, most: u32) -> Option<Stop> {
        let stop = self.take_pending().or_else(|| (0..most).find_map(|_| self.step()));
        if stop.is_some() {
            self.resumed = Resume::default();
        }
        stop
    }

    fn step(&mut self) -> Option<Stop> {
        let threads = self.run.threads().iter();
        let moving = threads.filter(|thread| thread.hart.pc != EXIT_ADDRESS);
        let moving = moving.fold(0, |set, thread| set | 1 << thread.place.lane);
        if moving == 0 {
            // The verdicts are stored when nobody looks any more.
            while self.run.step_among(u32::MAX).is_some() {}
            return Some(Stop::End);
        }
        let may = self.resumed.go | self.resumed.step;
        let Some((pc, active)) = self.run.warp.preferred_among(moving & may) else {
            return Some(Stop::Waits((may & !moving).trailing_zeros().min(31) as usize));
        };
        let in_front = active & self.stopping & !self.told;
        if self.breakpoints.contains_key(&pc) && in_front != 0 {
            let own = in_front >> self.first & 1 != 0;
            let lane = if own { self.first } else { in_front.trailing_zeros() as usize };
            self.told |= 1 << lane;
            return Some(Stop::Breakpoint(lane));
        }
        let executed = self.run.step_among(active)?;
        self.told &= !active;
        for (lane, _) in &executed.faults {
            self.run.undo_fault(*lane, pc);
        }
        // The other lanes that faulted come to their instruction again.
        let own = executed.faults.iter().find(|(lane, _)| *lane == self.first);
        if let Some((lane, fault)) = own.or(executed.faults.first()) {
            self.faults[*lane] = Some((pc, *fault));
            self.pending.push_back(Stop::Fault(*lane, *fault));
        }
        self.look(&executed);
        let stepped = executed.sound() & self.resumed.step;
        let step = || (stepped != 0).then(|| Stop::Step(stepped.trailing_zeros() as usize));
        self.take_pending().or_else(step)
    }

    /// The first stop that is still to be told, of the lanes that may go on: while a debugger lets
    /// one lane go on alone, it expects to hear of no other.
    fn take_pending(&mut self) -> Option<Stop> {
        let may = self.resumed.go | self.resumed.step;
        let told = |stop: &Stop| match stop {
            Stop::Breakpoint(lane) | Stop::Step(lane) | Stop::Waits(lane) | Stop::Fault(lane, _) => {
                may >> lane & 1 != 0
            }
            Stop::Watch { lane, .. } => may >> lane & 1 != 0,
            Stop::End => true,
        };
        let position = self.pending.iter().position(told)?;
        self.pending.remove(position)
    }

    /// Tells of accesses to what is watched.
    fn look(&mut self, executed: &Executed) {
        let Some(instruction) = executed.instruction else { return };
        let (reads, writes) = match instruction.op.class() {
            Class::Load => (true, false),
            Class::Store => (false, true),
            Class::Atomic => (true, true),
            _ => return,
        };
        for lane in (0..self.faults.len()).filter(|lane| (executed.sound() & self.stopping) >> lane & 1 != 0)
        {
            let first = u64::from(executed.retired.values[lane]);
            let end = first + u64::from(instruction.op.access_bytes());
            let hit = |(address, bytes, watch): &&(u32, u32, Watch)| {
                let from = u64::from(*address);
                let kind = match watch {
                    Watch::Read => reads,
                    Watch::Write => writes,
                    Watch::Access => true,
                };
                kind && from < end && first < from + u64::from(*bytes)
            };
            if let Some((address, _, watch)) = self.watched.iter().find(hit) {
                let address = (*address).max(first as u32);
                self.pending.push_back(Stop::Watch { lane, address, watch: *watch });
            }
        }
    }
}
