//! A run through the packet ports: frames in by their arrival times, frames out as the array sends
//! them.
//!
//! The host only sets the array up: the array writes the frames to the ring, pushes them to its
//! task FIFO and sends what its kernels forward. So the verdict of a packet that does not leave is
//! not seen.

use std::collections::VecDeque;
use std::time::Instant;

use hermes_rtl::host::registers::offset;
use hermes_rtl::host::registers::packet_ports::PortCounterValues;

use super::{Entered, SentFrame};
use crate::cosim::axi_lite::{Access, Completion};
use crate::cosim::device::Device as _;
use crate::cosim::error::CosimError;
use crate::cosim::host::{option, Host};
use crate::cosim::progress::{Step, Stuck, Watch};
use crate::cosim::results::RunResult;
use crate::cosim::session::{
    read_out, Arrivals, Packet, Progress, RunOptions, PROGRESS_CYCLES, REST_CYCLES, WAKE_CYCLES,
};
use crate::cosim::setup::ArraySetup;
use crate::cosim::simulation::{Event, Simulation};
use crate::cosim::tracker::{PacketTimes, Tracker};
use crate::iss::{MemoryImage, LINE};
use crate::slot::capacity;
use crate::verdict::Verdict;

/// Frames that the source has ahead: the one that it offers and the next.
const AHEAD: usize = 2;

/// How the streams behave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// Chance in percent that no beat is offered, and that none is taken, in a cycle; 0 to 90.
    pub stall_percent: u8,
    /// Seed of these gaps.
    pub seed: u64,
    /// The array drops frames that find no slot, instead of letting them wait.
    pub drop_when_full: bool,
}

/// What the packet ports counted since reset, each modulo 2^32: all counters of the register table.
pub type PortCounters = PortCounterValues;

/// What a run through the packet ports gave.
#[derive(Clone, Debug)]
pub struct PortsResult {
    /// All but the packets, which the ports do not tell apart.
    pub run: RunResult,
    /// When each packet that took a slot passed which stage, in the order of arrival. A packet
    /// arrives with the last beat of its frame; with [`Arrivals::Scheduled`] when that would enter
    /// if the array made no frame wait.
    pub times: Vec<PacketTimes>,
    /// The frames that left, in their order; their cycles count from the start of the run.
    pub sent: Vec<SentFrame>,
    /// What the ports counted.
    pub counters: PortCounters,
    /// Numbers of the packets that found no slot and were dropped, in their order, counted from 0
    /// among all that were offered.
    pub dropped: Vec<u64>,
    /// What the ports counted of them, modulo 2^32.
    pub dropped_full: u32,
    /// Packets that were to leave with a length of 0 or above what a slot holds, and the length
    /// that the kernel left in the descriptor: of the last packets, as many as the ring has slots.
    pub wrong_lengths: Vec<(u64, u32)>,
}

/// What a host sees in a cycle of a run, and what it does.
pub struct Attention<'a> {
    /// Cycles since the start of the run, those left out included.
    pub now: u64,
    /// Cycles since reset, as those of the events.
    pub cycle: u64,
    /// Events that were seen since the last call.
    pub events: &'a [(u64, Event)],
    /// Its accesses that ended since the last call, in their order.
    pub answers: &'a [Completion],
    /// Where it puts the accesses to registers that follow those before.
    pub accesses: &'a mut Vec<Access>,
    /// The shared memory, behind the caches of the array.
    pub memory: &'a mut MemoryImage,
}

/// What a host does while packets run: it is called once a cycle. An error ends the run.
pub type Manager<'a> = &'a mut dyn FnMut(Attention<'_>) -> Result<(), CosimError>;

/// Runs `packets` through the packet ports of an array whose kernel is loaded and which
/// [`Host::configure`] has set up since the last reset. The array cuts frames that a slot does not
/// hold.
///
/// # Errors
/// The array has no packet ports, or cannot drop frames and is to, the ring has one slot, a frame
/// is empty, the array breaks a rule or its order, a register does not answer, or the run is stuck
/// ([`RunOptions::stall_limit`], [`RunOptions::commit_limit`]).
pub fn run_through_ports(
    host: &mut Host<Simulation>,
    setup: &ArraySetup,
    packets: &[Packet],
    streams: StreamOptions,
    options: RunOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<PortsResult, CosimError> {
    run_managed(host, setup, packets, streams, options, &mut |_| Ok(()), progress)
}

/// As [`run_through_ports`], with a host that writes registers meanwhile.
///
/// # Errors
/// As [`run_through_ports`].
pub fn run_managed(
    host: &mut Host<Simulation>,
    setup: &ArraySetup,
    packets: &[Packet],
    streams: StreamOptions,
    options: RunOptions,
    manager: Manager<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<PortsResult, CosimError> {
    let began = Instant::now();
    if let Some(index) = packets.iter().position(|packet| packet.frame.is_empty()) {
        return Err(CosimError::EmptyFrame { index });
    }
    option("ring_slots_log2", setup.ring_slots_log2, setup.ring_slots_log2 >= 1, "1 to 20")?;
    let ends = host.device_mut().streams_mut()?;
    ends.source.set_stalls(streams.stall_percent, streams.seed);
    ends.sink.set_stalls(streams.stall_percent, streams.seed.wrapping_add(1));
    host.device_mut().take_formed(&mut Vec::new());
    if streams.drop_when_full && !host.device_mut().streams_mut()?.source.sees_drops() {
        return Err(CosimError::NoDrops);
    }
    host.write("PORTS", 1 | u32::from(streams.drop_when_full) << 1)?;
    host.start(setup.eager)?;
    let run = Run {
        tracker: Tracker::new(host.info(), 1 << setup.ring_slots_log2),
        watch: Watch::new(&options),
        reading: 0,
        accesses: VecDeque::new(),
        answers: Vec::new(),
        base: host.device_mut().cycle(),
        skipped: 0,
        offered: 0,
        dropped: Vec::new(),
        times: Vec::with_capacity(packets.len()),
        sent: Vec::new(),
        host,
    };
    run.feed(packets, options, manager, progress, began)
}

struct Run<'a> {
    host: &'a mut Host<Simulation>,
    tracker: Tracker,
    watch: Watch,
    /// Register accesses of the watch that are in flight.
    reading: usize,
    /// Those in flight, in their order: whether they are of the watch.
    accesses: VecDeque<bool>,
    /// Accesses of the manager that ended and that it has not seen.
    answers: Vec<Completion>,
    base: u64,
    skipped: u64,
    /// Frames that entered, with those that were dropped, and which these were.
    offered: u64,
    dropped: Vec<u64>,
    times: Vec<PacketTimes>,
    sent: Vec<SentFrame>,
}

impl Run<'_> {
    /// Cycles since the start of the run, those left out included.
    fn now(&mut self) -> u64 {
        self.host.device_mut().cycle() - self.base + self.skipped
    }

    /// Counts the cycles of the frames from number `first` on from the start of the run, as all
    /// times of packets.
    fn count_from_the_start(&mut self, first: usize) {
        for frame in &mut self.sent[first..] {
            for cycle in [&mut frame.first_cycle, &mut frame.cycle] {
                *cycle = *cycle - self.base + self.skipped;
            }
        }
    }

    fn feed(
        mut self,
        packets: &[Packet],
        options: RunOptions,
        manager: Manager<'_>,
        progress: &mut dyn FnMut(Progress),
        began: Instant,
    ) -> Result<PortsResult, CosimError> {
        let total = packets.len() as u64;
        let (mut deferred, mut last_event, mut next_report) = (0, 0, 0);
        let (mut events, mut formed, mut entered) = (Vec::new(), Vec::new(), Vec::new());
        let mut accesses = Vec::new();
        let mut next = packets.iter().peekable();
        // When the last beats of the frames that the source has would enter if the array made none
        // wait.
        let (mut expected, mut line_free) = (VecDeque::new(), 0);
        while self.tracker.committed() + (self.dropped.len() as u64) < total {
            let now = self.now();
            let source = &mut self.host.device_mut().streams_mut()?.source;
            while source.waiting() < AHEAD {
                let Some(packet) = next.next_if(|packet| packet.arrival <= now) else { break };
                source.submit(packet.port, packet.frame.clone());
                line_free = packet.arrival.max(line_free) + packet.frame.len().div_ceil(LINE) as u64;
                expected.push_back(line_free);
            }
            let waits = source.waiting();
            let due = next.peek().copied();
            deferred += u64::from(due.is_some_and(|packet| packet.arrival <= now));
            self.host.device_mut().step()?;

            let streams = self.host.device_mut().streams_mut()?;
            streams.source.take_entered(&mut entered);
            let seen = self.sent.len();
            streams.sink.take_frames(&mut self.sent);
            self.count_from_the_start(seen);
            self.host.device_mut().take_formed(&mut formed);
            for (cycle, packets) in formed.drain(..) {
                self.tracker.formed(cycle - self.base + self.skipped, packets);
            }
            self.host.device_mut().take_events(&mut events);
            let answers = std::mem::take(&mut self.answers);
            let simulation = self.host.device_mut();
            let cycle = simulation.cycle();
            manager(Attention {
                now,
                cycle,
                events: &events,
                answers: &answers,
                accesses: &mut accesses,
                memory: simulation.image_mut(),
            })?;
            for access in accesses.drain(..) {
                self.submit(access, false);
            }
            if !entered.is_empty() || !events.is_empty() || self.sent.len() > seen {
                last_event = now;
                self.watch.moved(now);
            }
            for Entered { cycle, dropped } in entered.drain(..) {
                let taken = cycle - self.base + self.skipped;
                let scheduled = expected.pop_front().filter(|_| options.arrivals == Arrivals::Scheduled);
                self.offered += 1;
                if dropped {
                    self.dropped.push(self.offered - 1);
                    continue;
                }
                self.tracker.arrive(scheduled.unwrap_or(taken), taken);
                self.tracker.push(1);
            }
            for (cycle, event) in events.drain(..) {
                let at = cycle - self.base + self.skipped;
                self.watch.event(now, event);
                if let Some((_, times)) = self.tracker.event(at, cycle, event)? {
                    self.tracker.release(times.len() as u64);
                    self.times.extend(times);
                }
            }
            let busy = waits > 0 || self.tracker.arrived() > self.tracker.committed();
            self.watch(now, busy)?;
            if let (Some(packet), false, true) = (due, busy, options.skip_idle) {
                let quiet = self.host.device_mut().outstanding() == 0 && now - last_event > REST_CYCLES;
                if quiet && packet.arrival > now + 2 * WAKE_CYCLES {
                    self.skipped += packet.arrival - now - WAKE_CYCLES;
                }
            }
            if now >= next_report {
                next_report = now + PROGRESS_CYCLES;
                if self.accesses.is_empty() {
                    self.host.attend_firmware()?;
                }
                progress(Progress { committed: self.tracker.committed(), total, cycles: now });
            }
        }
        progress(Progress { committed: total, total, cycles: self.now() });
        self.end_managed(manager)?;
        self.finish(options.stall_limit, deferred, began)
    }

    /// Ends what the manager has submitted, and shows it the answers; it submits no more.
    fn end_managed(&mut self, manager: Manager<'_>) -> Result<(), CosimError> {
        while !self.accesses.is_empty() {
            self.host.device_mut().step()?;
            self.end_accesses()?;
        }
        let (now, answers) = (self.now(), std::mem::take(&mut self.answers));
        let simulation = self.host.device_mut();
        let cycle = simulation.cycle();
        let (events, accesses, memory) = (&[][..], &mut Vec::new(), simulation.image_mut());
        manager(Attention { now, cycle, events, answers: &answers, accesses, memory })
    }

    fn submit(&mut self, access: Access, of_watch: bool) {
        self.accesses.push_back(of_watch);
        self.host.device_mut().submit(access);
    }

    /// Takes the accesses that ended; gives what the watch has found.
    fn end_accesses(&mut self) -> Result<Option<Stuck>, CosimError> {
        let mut stuck = None;
        while !self.accesses.is_empty() {
            let Some(completion) = self.host.device_mut().take_completion()? else { break };
            if self.accesses.pop_front() != Some(true) {
                self.answers.push(completion);
                continue;
            }
            self.watch.take(completion.access, completion.value);
            self.reading -= 1;
            if self.reading == 0 {
                stuck = self.watch.counted(None);
            }
        }
        Ok(stuck)
    }

    /// Ends the run if it is stuck.
    fn watch(&mut self, now: u64, busy: bool) -> Result<(), CosimError> {
        let mut stuck = self.end_accesses()?;
        match self.watch.cycle(now, busy) {
            Step::Read if self.reading == 0 => {
                let accesses = self.watch.accesses(self.host.info().cores);
                self.reading = accesses.len();
                accesses.into_iter().for_each(|access| self.submit(access, true));
            }
            Step::GiveUp(why) => stuck = Some(why),
            Step::GoOn | Step::Read => {}
        }
        stuck.map_or(Ok(()), |stuck| Err(self.give_up(stuck)))
    }

    /// Waits for the last frames, and reads what the registers tell about the run.
    fn finish(mut self, limit: u64, deferred: u64, began: Instant) -> Result<PortsResult, CosimError> {
        let mut last_event = self.now();
        while self.host.read("PORTS_BUSY")? != 0 {
            let seen = self.sent.len();
            self.host.device_mut().streams_mut()?.sink.take_frames(&mut self.sent);
            self.count_from_the_start(seen);
            let now = self.now();
            if self.sent.len() > seen {
                last_event = now;
            } else if now - last_event > limit {
                return Err(self.give_up(Stuck::Stall(now - last_event)));
            }
        }
        let seen = self.sent.len();
        self.host.device_mut().streams_mut()?.sink.take_frames(&mut self.sent);
        self.count_from_the_start(seen);
        let left = self.sent.last().map_or(0, |frame| frame.cycle + 1);
        let counters = PortCounters::read(|register| self.host.read(register.name))?;
        let drops = self.host.device_mut().streams_mut()?.source.sees_drops();
        let dropped_full = if drops { self.host.read("PORTS_DROPPED_FULL")? } else { 0 };
        let (faults, lost_faults) = self.host.take_faults()?;
        let mut run = read_out(self.host)?;
        self.host.device_mut().write_register(offset("PORTS"), 0)?;
        let wrong_lengths = if counters.length_errors > 0 { self.wrong_lengths()? } else { Vec::new() };
        run.cycles = self.times.last().map_or(0, |times| times.commit + 1).max(left);
        (run.skipped_cycles, run.deferred_cycles) = (self.skipped, deferred);
        (run.faults, run.lost_faults) = (faults, lost_faults);
        run.elapsed = began.elapsed();
        let Self { times, sent, dropped, .. } = self;
        Ok(PortsResult { run, times, sent, counters, dropped, dropped_full, wrong_lengths })
    }

    /// The packets whose descriptors the ports could not send by, of those whose slots still have
    /// them.
    fn wrong_lengths(&mut self) -> Result<Vec<(u64, u32)>, CosimError> {
        self.host.clean_caches()?;
        let register = |host: &mut Host<Simulation>, name: &str| host.read(name);
        let (ring, verdicts) = (register(self.host, "RING_BASE")?, register(self.host, "VERDICT_BASE")?);
        let slots = 1_u64 << register(self.host, "RING_SLOTS_LOG2")?;
        let bytes_log2 = register(self.host, "SLOT_BYTES_LOG2")?;
        let total = self.times.len() as u64;
        let image = self.host.device_mut().image();
        let mut wrong = Vec::new();
        for index in total.saturating_sub(slots)..total {
            let slot = (index & (slots - 1)) as u32;
            let verdict = Verdict(image.read_u32(verdicts + 4 * slot)?);
            let length = image.read_u32(ring + (slot << bytes_log2))?;
            if verdict.is_forward() && !(1..=capacity(bytes_log2)).contains(&(length as usize)) {
                wrong.push((index, length));
            }
        }
        Ok(wrong)
    }

    /// The error of a run that is stuck.
    fn give_up(&mut self, stuck: Stuck) -> CosimError {
        let mut state = self.tracker.describe();
        state += &format!("; {} frames left", self.sent.len());
        let simulation = self.host.device_mut();
        let cycle = simulation.cycle();
        state += &format!("; {} memory requests are not answered", simulation.outstanding());
        simulation.set_access_limit(10_000);
        for name in ["TASK_LEVEL", "PENDING", "COMMITTED_PACKETS", "PORTS_FRAMES_IN", "PORTS_NOT_SENT"] {
            match self.host.read(name) {
                Ok(value) => state += &format!("; {name} = {value}"),
                Err(error) => {
                    state += &format!("; {error}");
                    break;
                }
            }
        }
        stuck.error(self.host, cycle, state)
    }
}
