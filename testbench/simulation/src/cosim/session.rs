//! A run: packets in by their arrival times, verdicts and processed packets out in the order of
//! commits.
//!
//! The host does what the CPU does in the paper (Hermes, section 3.1): at a packet's arrival it
//! writes the packet to its ring slot, and pushes the number of packets that arrived since its last
//! push, one push at a time. A push that finds the task FIFO full is made again.
//!
//! The host is not coherent with the array's caches: what kernels wrote may still be in the L2 when
//! a packet is committed, and the caches may hold what stood in a slot before. So the host cleans
//! and invalidates the caches each time a quarter of the ring has been committed, and at the end of
//! the run; only then it reads the packets of that quarter and uses their slots again. Three
//! quarters of the ring are in flight meanwhile.
//!
//! Records of faults are read as they come: the array keeps 32 of them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hermes_rtl::host::registers::offset;

use super::axi_lite::{Access, Completion};
use super::counters::ReadOut;
use super::device::Device as _;
use super::error::CosimError;
use super::fault_record::{fault_registers, FaultRecord};
use super::host::{Host, INVALIDATE_DATA, L2_BUSY, L2_CLEAN_INVALIDATE};
use super::progress::{Step, Stuck, Watch};
use super::results::{LeftLength, PacketRecord, PacketResult, RunResult};
use super::setup::{ArraySetup, Layout};
use super::simulation::{Event, Simulation};
use super::tracker::{PacketTimes, Tracker};
use crate::iss::LINE;
use crate::slot::{FLAGS_OFFSET, FRAME_OFFSET};
use crate::verdict::Verdict;

/// Cycles that the array rests before idle time is left out.
pub(super) const REST_CYCLES: u64 = 4096;
/// Cycles simulated again before the packet that ends idle time.
pub(super) const WAKE_CYCLES: u64 = 64;
/// Cycles from one progress report to the next.
pub(super) const PROGRESS_CYCLES: u64 = 4096;

/// A packet to be processed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The frame, from the destination address on.
    pub frame: Vec<u8>,
    /// Input port: second word of the descriptor.
    pub port: u32,
    /// Third word of the descriptor.
    pub flags: u32,
    /// Cycle of the run at which it arrives; never less than that of the packet before it.
    pub arrival: u64,
}

/// From when on a packet waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrivals {
    /// From the cycle that [`Packet::arrival`] names, whether there is room for it or not: what an
    /// array that is slower than the line makes packets wait before they find a slot is part of
    /// their delay.
    #[default]
    Scheduled,
    /// From the cycle in which there is a slot for it: for packets that are there from the start
    /// and come as fast as the ring takes them.
    Taken,
}

/// How a run is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Cycles, with packets in flight, without an instruction that retires on any core, after which
    /// the run is given up. It is noticed at most half as many cycles later.
    pub stall_limit: u64,
    /// Cycles, with packets in flight, without a commit, after which the run is given up although
    /// instructions retire: what ends a run of a kernel that does not end, unless the array's
    /// watchdog does.
    pub commit_limit: u64,
    /// What arrival times mean.
    pub arrivals: Arrivals,
    /// Whether to leave out cycles in which the array rests and waits for the next packet. Times of
    /// the run count them, the counters of the array do not.
    pub skip_idle: bool,
    /// Packets that the host gathers before it tells the array of them; fewer where no more come,
    /// or the ring is full. 1: of each as soon as the last push is done.
    pub push_packets: u64,
}

impl Default for RunOptions {
    /// 500,000 cycles without an instruction, 20,000,000 without a commit; packets arrive by their
    /// schedule, idle time is left out, packets are pushed as they come.
    fn default() -> Self {
        let arrivals = Arrivals::default();
        Self { stall_limit: 500_000, commit_limit: 20_000_000, arrivals, skip_idle: true, push_packets: 1 }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Packets committed.
    pub committed: u64,
    /// Packets of the run.
    pub total: u64,
    /// Cycles of the run.
    pub cycles: u64,
}

/// What the register accesses in flight are for.
enum Task {
    None,
    /// Packets are pushed, so many.
    Push(u64),
    /// FAULT_LEVEL is being read.
    FaultLevel,
    /// A fault record is being read: words so far, records behind it.
    FaultRecord(Vec<u32>, u32),
    /// Maintenance of the caches is being started.
    StartMaintenance,
    /// The state of the maintenance is being read.
    PollMaintenance,
    /// The cores' counts of instructions are being read; so many accesses are in flight.
    CountInstructions(usize),
}

struct Run<'a> {
    host: &'a mut Host<Simulation>,
    setup: &'a ArraySetup,
    layout: &'a Layout,
    tracker: Tracker,
    watch: Watch,
    /// What the watch has found.
    stuck: Option<Stuck>,
    task: Task,
    /// The last register access was a push, so that others get their turn.
    pushed_last: bool,
    /// Packets that are gathered for a push.
    push_packets: u64,
    fault_seen: bool,
    /// A warp has finished since the last look at the fault FIFO.
    finished: bool,
    /// Such a look is under way.
    looking: bool,
    /// Packets of the run.
    total: u64,
    /// Packets committed whose results were not read yet.
    unread: VecDeque<(u64, PacketTimes)>,
    /// While maintenance is under way: how many of these can be read after it.
    maintenance: Option<usize>,
    /// How many there were.
    cleanings: u64,
    base: u64,
    skipped: u64,
    slot: Vec<u8>,
    packets: Vec<PacketRecord>,
    faults: Vec<FaultRecord>,
}

/// Runs `packets` through an array whose kernel is loaded and which [`Host::configure`] has set up
/// since the last reset.
///
/// # Errors
/// A frame is too large for a slot, the array breaks a rule or its order, a register does not
/// answer, or the run is stuck ([`RunOptions::stall_limit`], [`RunOptions::commit_limit`]).
pub fn run(
    host: &mut Host<Simulation>,
    setup: &ArraySetup,
    layout: &Layout,
    packets: &[Packet],
    options: RunOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<RunResult, CosimError> {
    let began = Instant::now();
    check_lengths(setup, packets)?;
    // What spawned threads did before is not of this run.
    host.device_mut().take_events(&mut Vec::new());
    host.device_mut().take_formed(&mut Vec::new());
    let ring_end = layout.ring_base.saturating_add(setup.ring_bytes() as u32);
    host.device_mut().count_ring(layout.ring_base..ring_end);
    host.start(setup.eager)?;
    let mut run = Run {
        tracker: Tracker::new(host.info(), 1 << setup.ring_slots_log2),
        watch: Watch::new(&options),
        stuck: None,
        task: Task::None,
        pushed_last: false,
        push_packets: options.push_packets,
        fault_seen: false,
        finished: false,
        looking: false,
        total: packets.len() as u64,
        unread: VecDeque::new(),
        maintenance: None,
        cleanings: 0,
        base: host.device_mut().cycle(),
        skipped: 0,
        slot: Vec::new(),
        packets: Vec::with_capacity(packets.len()),
        faults: Vec::new(),
        host,
        setup,
        layout,
    };
    let deferred_cycles = run.feed(packets, options, progress)?;
    run.finish(began, deferred_cycles)
}

/// Bytes of the largest frame that a ring slot holds.
#[must_use]
pub fn frame_capacity(setup: &ArraySetup) -> usize {
    (1_usize << setup.slot_bytes_log2).saturating_sub(FRAME_OFFSET)
}

/// Makes sure that every frame fits into a slot.
pub(crate) fn check_lengths(setup: &ArraySetup, packets: &[Packet]) -> Result<(), CosimError> {
    let capacity = frame_capacity(setup);
    match packets.iter().position(|packet| packet.frame.len() > capacity) {
        Some(index) => Err(CosimError::FrameTooLarge { index, length: packets[index].frame.len(), capacity }),
        None => Ok(()),
    }
}

/// Address of the slot of packet number `index`.
pub(crate) fn slot_address(setup: &ArraySetup, layout: &Layout, index: u64) -> u32 {
    layout.ring_base + (slot_number(setup, index) << setup.slot_bytes_log2)
}

/// The slot of packet number `index`.
fn slot_number(setup: &ArraySetup, index: u64) -> u32 {
    (index & ((1 << setup.ring_slots_log2) - 1)) as u32
}

/// Appends what the host writes to the slot of a packet that arrived in cycle `arrival`:
/// descriptor, padding and frame, and zeros up to the end of the last line.
pub(crate) fn slot_image(packet: &Packet, arrival: u32, image: &mut Vec<u8>) {
    let start = image.len();
    for word in [packet.frame.len() as u32, packet.port, packet.flags, arrival] {
        image.extend(word.to_le_bytes());
    }
    image.resize(start + FRAME_OFFSET, 0);
    image.extend(&packet.frame);
    image.resize(start + (image.len() - start).next_multiple_of(LINE), 0);
}

/// The little-endian word that `read` reads at `address`.
fn read_u32(
    read: &mut impl FnMut(u32, &mut [u8]) -> Result<(), CosimError>,
    address: u32,
) -> Result<u32, CosimError> {
    let mut bytes = [0; 4];
    read(address, &mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// What packet number `index` left in memory, after the caches were cleaned; `read` reads there.
pub(crate) fn packet_result(
    mut read: impl FnMut(u32, &mut [u8]) -> Result<(), CosimError>,
    setup: &ArraySetup,
    layout: &Layout,
    index: u64,
) -> Result<PacketResult, CosimError> {
    let (slot, address) = (slot_number(setup, index), slot_address(setup, layout, index));
    let verdict = read_u32(&mut read, layout.verdict_base + 4 * slot)?;
    let length = read_u32(&mut read, address)?;
    let cut = read_u32(&mut read, address + FLAGS_OFFSET as u32)? as u16;
    let left = LeftLength { length, cut };
    let mut bytes = vec![0; (length as usize).min(frame_capacity(setup))];
    read(address + FRAME_OFFSET as u32, &mut bytes)?;
    let lists = setup.egress.filter(|_| Verdict(verdict).is_forward());
    let egress = lists.map(|lists| lists.frames(&mut read, slot, &bytes)).transpose()?;
    Ok(PacketResult { index, verdict, bytes, left, egress: egress.unwrap_or_default() })
}

impl Run<'_> {
    /// Cycles since the start of the run, those left out included.
    fn now(&mut self) -> u64 {
        self.host.device_mut().cycle() - self.base + self.skipped
    }

    /// The cycle loop; gives the number of deferred cycles.
    fn feed(
        &mut self,
        packets: &[Packet],
        options: RunOptions,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<u64, CosimError> {
        let total = self.total;
        let (mut deferred, mut last_event, mut next_report) = (0, 0, 0);
        let (mut events, mut formed) = (Vec::new(), Vec::new());
        let mut next = packets.iter().peekable();
        while self.tracker.released() < total {
            let now = self.now();
            while let Some(packet) = next.next_if(|p| p.arrival <= now && self.tracker.has_room()) {
                self.write_slot(packet)?;
                let arrival = match options.arrivals {
                    Arrivals::Scheduled => packet.arrival,
                    Arrivals::Taken => now,
                };
                self.tracker.arrive(arrival, now);
                last_event = now;
            }
            let waiting = next.peek().copied();
            deferred += u64::from(waiting.is_some_and(|p| p.arrival <= now));
            self.start_task()?;
            self.look_for_faults();
            self.host.device_mut().step()?;
            self.end_accesses()?;

            self.host.device_mut().take_formed(&mut formed);
            for (cycle, packets) in formed.drain(..) {
                self.tracker.formed(cycle - self.base + self.skipped, packets);
            }
            self.host.device_mut().take_events(&mut events);
            for (cycle, event) in events.drain(..) {
                last_event = now;
                self.watch.event(now, event);
                self.event(cycle, event)?;
            }
            let in_flight = self.tracker.arrived() > self.tracker.committed();
            let busy = in_flight || self.maintenance.is_some() || waiting.is_none();
            match self.watch.cycle(now, busy) {
                Step::GoOn => {}
                Step::Read => self.count_instructions(),
                Step::GiveUp(stuck) => self.stuck = Some(stuck),
            }
            if let Some(stuck) = self.stuck {
                return Err(self.give_up(stuck));
            }
            if let (Some(packet), false, true) = (waiting, busy, options.skip_idle) {
                self.skip_idle(now - last_event, now, packet.arrival);
            }
            if now >= next_report {
                next_report = now + PROGRESS_CYCLES;
                if matches!(self.task, Task::None) {
                    self.host.attend_firmware()?;
                }
                progress(Progress { committed: self.tracker.committed(), total, cycles: now });
            }
        }
        progress(Progress { committed: total, total, cycles: self.now() });
        Ok(deferred)
    }

    /// Writes the next packet to its slot.
    fn write_slot(&mut self, packet: &Packet) -> Result<(), CosimError> {
        let index = self.tracker.arrived();
        let arrival = self.host.device_mut().cycle() as u32;
        self.slot.clear();
        slot_image(packet, arrival, &mut self.slot);
        let address = slot_address(self.setup, self.layout, index);
        self.host.device_mut().write_memory(address, &self.slot)
    }

    /// Starts the next register accesses if none are in flight: pushes come first, but not twice if
    /// something else waits.
    fn start_task(&mut self) -> Result<(), CosimError> {
        if !matches!(self.task, Task::None) {
            return Ok(());
        }
        let count = self.tracker.not_pushed();
        let others = self.fault_seen || self.maintenance.is_some() || self.maintenance_is_due();
        let all_came = self.tracker.arrived() == self.total;
        let is_due = count >= self.push_packets || all_came || !self.tracker.has_room();
        if count > 0 && is_due && !(self.pushed_last && others) {
            self.pushed_last = true;
            self.tracker.push(count);
            self.task = Task::Push(count);
            self.submit(Access::Write { offset: offset("TASK_PUSH"), value: count as u32 });
            return Ok(());
        }
        self.pushed_last = false;
        if self.fault_seen && self.host.firmware_takes_faults()? {
            self.fault_seen = false;
        } else if self.fault_seen {
            self.fault_seen = false;
            self.task = Task::FaultLevel;
            self.submit(Access::Read { offset: offset("FAULT_LEVEL") });
        } else if self.maintenance.is_some() {
            self.task = Task::PollMaintenance;
            self.submit(Access::Read { offset: offset("L2_MAINTENANCE") });
        } else if others {
            self.maintenance = Some(self.unread.len());
            self.cleanings += 1;
            self.task = Task::StartMaintenance;
            self.submit(Access::Write { offset: offset("INVALIDATE"), value: INVALIDATE_DATA });
            self.submit(Access::Write { offset: offset("L2_MAINTENANCE"), value: L2_CLEAN_INVALIDATE });
        }
        Ok(())
    }

    /// Looks at the level of the fault FIFO when warps have finished, so that its records are read
    /// before they are too many. Runs without faults take the same cycles as without these looks.
    fn look_for_faults(&mut self) {
        if let Some(level) = self.host.device_mut().take_look() {
            self.looking = false;
            self.fault_seen |= level & 0xffff != 0;
        }
        let rests = matches!(self.task, Task::None) && self.maintenance.is_none() && !self.fault_seen;
        if self.finished && rests && !self.looking && !self.host.has_firmware() {
            (self.finished, self.looking) = (false, true);
            self.host.device_mut().look(offset("FAULT_LEVEL"));
        }
    }

    /// Starts to read how many instructions each core has retired, if no other accesses are in
    /// flight.
    fn count_instructions(&mut self) {
        if !matches!(self.task, Task::None) {
            return;
        }
        let accesses = self.watch.accesses(self.host.info().cores);
        self.task = Task::CountInstructions(accesses.len());
        accesses.into_iter().for_each(|access| self.submit(access));
    }

    /// Whether a quarter of the ring has been committed, or all of the run.
    fn maintenance_is_due(&self) -> bool {
        let quarter = (1_usize << self.setup.ring_slots_log2).div_ceil(4);
        let waiting = self.unread.len();
        waiting >= quarter || (waiting > 0 && self.tracker.committed() == self.total)
    }

    fn submit(&mut self, access: Access) {
        self.host.device_mut().submit(access);
    }

    fn end_accesses(&mut self) -> Result<(), CosimError> {
        if matches!(self.task, Task::None) {
            return Ok(());
        }
        while let Some(completion) = self.take_completion()? {
            self.task = match std::mem::replace(&mut self.task, Task::None) {
                Task::None | Task::Push(_) => Task::None,
                Task::StartMaintenance if completion.access.offset() == offset("INVALIDATE") => {
                    Task::StartMaintenance
                }
                Task::StartMaintenance => Task::None,
                Task::PollMaintenance => {
                    if completion.value & L2_BUSY == 0 {
                        self.read_results()?;
                    }
                    Task::None
                }
                Task::CountInstructions(left) => {
                    self.watch.take(completion.access, completion.value);
                    if left > 1 {
                        Task::CountInstructions(left - 1)
                    } else {
                        self.instructions_counted();
                        Task::None
                    }
                }
                Task::FaultLevel => self.read_fault(completion.value & 0xffff),
                Task::FaultRecord(mut words, behind)
                    if words.len() < fault_registers(self.host.info().spawner).len() =>
                {
                    words.push(completion.value);
                    Task::FaultRecord(words, behind)
                }
                Task::FaultRecord(words, behind) => {
                    // The pop was answered.
                    self.faults.push(FaultRecord::from_words(&words, self.host.info().functions));
                    self.read_fault(behind)
                }
            };
        }
        Ok(())
    }

    /// The oldest access that ended. A push that found the task FIFO full is none: its packets are
    /// pushed again, with those that came meanwhile, when the others had their turn.
    fn take_completion(&mut self) -> Result<Option<Completion>, CosimError> {
        let ended = self.host.device_mut().take_completion();
        match (ended, &self.task) {
            (Err(CosimError::RegisterResponse { .. }), &Task::Push(count)) => {
                self.tracker.take_back(count);
                self.task = Task::None;
                Ok(None)
            }
            (ended, _) => ended,
        }
    }

    /// Lets the watch judge what the cores have retired.
    fn instructions_counted(&mut self) {
        let cleaning = self.maintenance.is_some();
        let lines = cleaning.then(|| self.host.device_mut().memory_statistics().total().lines_written);
        self.stuck = self.watch.counted(lines);
    }

    /// Starts to read the oldest of `records` fault records; lets a push go first.
    fn read_fault(&mut self, records: u32) -> Task {
        if records == 0 {
            return Task::None;
        }
        if self.tracker.not_pushed() > 0 {
            self.fault_seen = true;
            return Task::None;
        }
        let registers = fault_registers(self.host.info().spawner);
        for name in registers {
            self.submit(Access::Read { offset: offset(name) });
        }
        self.submit(Access::Write { offset: offset("FAULT_POP"), value: 1 });
        Task::FaultRecord(Vec::with_capacity(registers.len()), records - 1)
    }

    fn event(&mut self, cycle: u64, event: Event) -> Result<(), CosimError> {
        let now = cycle - self.base + self.skipped;
        self.finished |= matches!(event, Event::Finish(_));
        let Some((first, times)) = self.tracker.event(now, cycle, event)? else { return Ok(()) };
        self.unread.extend((first..).zip(times));
        Ok(())
    }

    /// Reads what the packets left that were committed before the maintenance that has just ended;
    /// their slots are free then.
    fn read_results(&mut self) -> Result<(), CosimError> {
        let count = self.maintenance.take().unwrap_or_default();
        for (index, times) in self.unread.drain(..count) {
            let image = self.host.device_mut().image();
            let read = |address, bytes: &mut [u8]| Ok(image.read(address, bytes)?);
            let PacketResult { verdict, bytes, left, egress, .. } =
                packet_result(read, self.setup, self.layout, index)?;
            self.fault_seen |= Verdict(verdict).is_fault();
            self.packets.push(PacketRecord { index, verdict, times, bytes, left, egress });
        }
        self.tracker.release(count as u64);
        Ok(())
    }

    /// Leaves out the time to `arrival` if the array has rested long enough.
    fn skip_idle(&mut self, rested: u64, now: u64, arrival: u64) {
        let quiet = matches!(self.task, Task::None) && self.host.device_mut().outstanding() == 0;
        if quiet && rested > REST_CYCLES && arrival > now + 2 * WAKE_CYCLES {
            self.skipped += arrival - now - WAKE_CYCLES;
        }
    }

    /// The error of a run that is stuck.
    fn give_up(&mut self, stuck: Stuck) -> CosimError {
        let mut state = self.tracker.describe();
        let simulation = self.host.device_mut();
        let cycle = simulation.cycle();
        state += &format!("; {} memory requests are not answered", simulation.outstanding());
        simulation.set_access_limit(10_000);
        state += &self.host.describe();
        stuck.error(self.host, cycle, state)
    }

    /// Ends the accesses in flight and reads what the registers tell about the run.
    fn finish(mut self, began: Instant, deferred_cycles: u64) -> Result<RunResult, CosimError> {
        for _ in 0..10_000 {
            if matches!(self.task, Task::None) {
                break;
            }
            self.host.device_mut().step()?;
            self.end_accesses()?;
        }
        let (rest, lost_faults) = self.host.take_faults()?;
        self.faults.extend(rest);
        let cycles = self.packets.last().map_or(0, |p| p.times.commit + 1);
        let read = read_out(self.host)?;
        Ok(RunResult {
            cycles,
            packets: self.packets,
            skipped_cycles: self.skipped,
            deferred_cycles,
            // The last one is that of the end.
            cache_cleanings: self.cleanings.saturating_sub(1),
            faults: self.faults,
            lost_faults,
            elapsed: began.elapsed(),
            ..read
        })
    }
}

/// Stops the array and reads what its registers and the memory counted; the rest of the result is
/// for the caller to fill in.
pub(super) fn read_out(host: &mut Host<Simulation>) -> Result<RunResult, CosimError> {
    let memory = host.device_mut().memory_statistics();
    let ReadOut { counters, load, fault_count, bus_errors } = host.read_out()?;
    Ok(RunResult {
        packets: Vec::new(),
        cycles: 0,
        skipped_cycles: 0,
        deferred_cycles: 0,
        cache_cleanings: 0,
        counters,
        load,
        faults: Vec::new(),
        lost_faults: 0,
        fault_count,
        bus_errors,
        memory,
        simulated_cycles: host.device_mut().cycle(),
        elapsed: Duration::ZERO,
    })
}
