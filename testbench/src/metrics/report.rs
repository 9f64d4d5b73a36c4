use std::collections::BTreeMap;
use std::fmt;

use hermes_rtl::config::Config;
use serde::{Serialize, Serializer};

use super::{name_verdicts, BusErrors, Clock, Distribution, FaultCause, PacketRecord};
use crate::cosim::{ChannelStatistics, FaultRecord, Latency, LostCycles, MemoryStatistics, PacketTimes};
use crate::races::RaceReport;
use crate::verdict::Verdict;
use crate::words::number_of;

/// Verdicts that the text shows, the most frequent ones; JSON has all.
const SHOWN_VERDICTS: usize = 16;

/// Work of one core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CoreWork {
    /// Warp-instructions retired.
    pub instructions: u64,
    /// Lane-instructions retired: active lanes summed over the warp-instructions.
    pub lane_instructions: u64,
    /// Cycles with a warp on the core.
    pub active_cycles: u64,
    /// Cycles with a warp on the core in which none could issue.
    pub stall_cycles: u64,
    /// Warp-instructions retired while lanes of the warp waited at another PC.
    pub divergent: u64,
    /// Lines of data that loads read from the L2: those that the L1 did not have.
    pub line_reads: u64,
    /// Lines of data that stores wrote.
    pub line_writes: u64,
    /// Lines that the instruction cache fetched.
    pub fetch_misses: u64,
    /// Lines read, data and instructions, that the L2 had.
    pub l2_read_hits: u64,
    /// Lines read, data and instructions, that came from memory.
    pub l2_read_misses: u64,
    /// Warp-instructions per cycle of the run.
    pub ipc: f64,
    /// Share of the lanes that executed the warp-instructions: 0 to 1.
    pub simd_efficiency: f64,
    /// Cycles of the run without a warp on the core.
    pub no_warp: u64,
    /// Cycles with a warp on the core in which none started to execute an instruction.
    pub lost: LostCycles,
}

fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Traffic of one channel of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChannelWork {
    /// What the memory model counted.
    #[serde(flatten)]
    pub counted: ChannelStatistics,
    /// Lines read per cycle, from the reset to the end of the run: 1 is all that the AXI4 port can
    /// carry.
    pub read_use: f64,
    /// Lines written per cycle: 1 is all that the AXI4 port can carry.
    pub write_use: f64,
    /// DRAM: share of the cycles in which the data bus carried a line, 0 to 1.
    pub bus_use: f64,
}

/// What was around the array in a run.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Environment {
    /// The simulated memory and traffic.
    Simulation {
        /// Line rate.
        line_rate: String,
        /// Channels of the memory.
        channels: usize,
        /// Timing of the memory.
        #[serde(serialize_with = "as_text")]
        memory: Latency,
        /// Clock that cycles are told at.
        clock_mhz: Clock,
    },
    /// A board.
    Board(BoardRun),
}

/// A run on a board.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardRun {
    /// Serial device.
    pub device: String,
    /// Bits per second of the serial line.
    pub baud: u32,
    /// Clock of the array in kHz.
    pub clock_khz: u32,
    /// Bytes of the packet memory.
    pub memory_bytes: u64,
    /// Slots of the packet ring.
    pub ring_slots: u32,
    /// Seconds that the packets took, with their way to the board and back.
    pub seconds: f64,
}

impl Environment {
    /// Clock of the array.
    fn clock(&self) -> Clock {
        match self {
            Self::Simulation { clock_mhz, .. } => *clock_mhz,
            Self::Board(board) => Clock::from_kilohertz(board.clock_khz),
        }
    }
}

/// When packets passed the stages, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Delays {
    /// Commit less arrival. With a line rate a packet arrives when its schedule says, even if it
    /// finds no slot free.
    pub delay: Distribution,
    /// Start less arrival: time until the packet's warp was issued.
    pub queuing: Distribution,
    /// Commit less start: time on the core and in the DCQ.
    pub service: Distribution,
}

impl Delays {
    /// The delays of packets with these times.
    fn of(times: &[PacketTimes]) -> Self {
        let distribution = |figure: fn(&PacketTimes) -> u64| Distribution::of(times.iter().map(figure));
        Self {
            delay: distribution(|t| t.commit - t.arrival),
            queuing: distribution(|t| t.start.saturating_sub(t.arrival)),
            service: distribution(|t| t.commit - t.start),
        }
    }
}

/// What a run was made with; it stands in the report so that the figures can be read later.
#[derive(Clone, Debug, Serialize)]
pub struct RunFacts {
    /// App or kernel file.
    pub kernel: String,
    /// What was read of the app's inputs.
    pub inputs: Vec<String>,
    /// Capture.
    pub capture: String,
    /// Preset that the configuration started from.
    pub preset: String,
    /// Shader cores.
    pub cores: usize,
    /// Lanes of a core.
    pub lanes: usize,
    /// Warp slots of a core.
    pub warps: usize,
    /// Maximally allowed concurrent warps per core.
    pub mcw: u32,
    /// What was around the array.
    #[serde(flatten)]
    pub environment: Environment,
    /// Bytes of a packet slot.
    pub slot_bytes: usize,
    /// The whole configuration of the array.
    pub configuration: Config,
}

/// What of the frames moved to the cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrameLines {
    /// Lines of 64 bytes that descriptors and frames take.
    pub all: u64,
    /// Lines of the packet ring that were read from memory; on a board, where memory does not
    /// count, lines that loads read from the L2, tables among them.
    pub read: u64,
    /// Whether they are as many.
    pub payload_moved: bool,
}

impl FrameLines {
    /// `read` of `all` lines.
    #[must_use]
    pub const fn new(all: u64, read: u64) -> Self {
        Self { all, read, payload_moved: read >= all }
    }
}

/// Packets that are not what most are. They were processed; nothing is skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Frames whose EtherType is not IPv4.
    pub not_ipv4: usize,
    /// Frames cut by the capture's snap length.
    pub cut_by_capture: usize,
    /// Frames larger than the largest slot, cut to its size.
    pub larger_than_slot: usize,
}

/// The figures of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What the run was made with.
    pub run: RunFacts,
    /// Packets committed.
    pub packets: usize,
    /// Bytes of their frames on the wire, without preamble, FCS and gap.
    pub frame_bytes: u64,
    /// Cycles from the first arrival to the last commit; on a board those in which packets were on
    /// the cores or in the DCQ.
    pub cycles: u64,
    /// Packets over the time of `cycles`, at the clock of the run or of the board.
    pub packets_per_second: f64,
    /// Bits of the committed frames over the time of `cycles`, at the clock of the run or of the
    /// board: more than what moved, if `frame_lines` tells so.
    pub throughput_gbps: f64,
    /// What of the frames moved, where the host writes them to memory and reads them there.
    pub frame_lines: Option<FrameLines>,
    /// When packets passed the stages; a board does not see that.
    #[serde(flatten)]
    pub delays: Option<Delays>,
    /// Packets of each verdict, by name.
    pub verdicts: BTreeMap<String, usize>,
    /// Threads that ended with a fault.
    pub faults: u64,
    /// What they faulted of.
    pub fault_causes: Vec<FaultCause>,
    /// The records of the fault FIFO, in the order in which the host read them.
    pub fault_records: Vec<FaultRecord>,
    /// Accesses that memory has refused.
    #[serde(flatten)]
    pub bus_errors: BusErrors,
    /// Data races and stores into other packets, if they were looked for.
    #[serde(flatten)]
    pub races: Option<RaceReport>,
    /// Packets that are not what most are.
    pub counted: Counted,
    /// Active lanes over lanes, of all warp-instructions: 0 to 1.
    pub simd_efficiency: f64,
    /// Work of each core.
    pub cores: Vec<CoreWork>,
    /// Traffic of each channel of the memory.
    pub memory: Vec<ChannelWork>,
    /// Whether every packet was compared with the app's golden model (and was right).
    pub golden_checked: bool,
    /// Whether a packet is otherwise than a golden model says, which the error tells in full.
    #[serde(skip)]
    pub golden_differs: bool,
}

impl Report {
    /// The figures of `records`, in commit order and with their times, whose frames had `lengths`
    /// bytes on the wire. What is derived in `cores` is filled in: [`CoreWork::ipc`],
    /// [`CoreWork::simd_efficiency`], [`CoreWork::no_warp`].
    pub fn new(
        run: RunFacts,
        records: &[PacketRecord],
        lengths: impl Iterator<Item = u64>,
        cores: Vec<CoreWork>,
        faults: u64,
        counted: Counted,
        golden_checked: bool,
    ) -> Self {
        let times: Vec<_> = records.iter().filter_map(|record| record.times).collect();
        let first = times.iter().map(|t| t.arrival).min().unwrap_or(0);
        let cycles = times.iter().map(|t| t.commit).max().unwrap_or(0) - first;
        let report = Self::without_times(run, records, cycles, lengths, cores, faults, counted);
        Self { delays: Some(Delays::of(&times)), golden_checked, ..report }
    }

    /// Notes the outcome of a comparison with a golden model of the user's own, if there is one
    /// (`golden`): whether all packets agree.
    pub fn set_compared(&mut self, golden: bool, agree: bool) {
        self.golden_checked |= golden && agree;
        self.golden_differs |= golden && !agree;
    }

    /// As [`Self::new`], of packets whose times were not seen, in a run of `cycles`; not compared
    /// with a golden model.
    pub fn without_times(
        run: RunFacts,
        records: &[PacketRecord],
        cycles: u64,
        lengths: impl Iterator<Item = u64>,
        cores: Vec<CoreWork>,
        faults: u64,
        counted: Counted,
    ) -> Self {
        let frame_bytes: u64 = lengths.sum();
        let per_cycle = |amount: f64| if cycles == 0 { 0.0 } else { amount / cycles as f64 };
        let efficiency = |lanes: u64, instructions: u64| {
            let possible = instructions as f64 * run.lanes as f64;
            if instructions == 0 {
                0.0
            } else {
                lanes as f64 / possible
            }
        };
        let sum = |figure: fn(&CoreWork) -> u64| cores.iter().map(figure).sum();
        let simd_efficiency = efficiency(sum(|core| core.lane_instructions), sum(|core| core.instructions));
        let cores = cores.iter().map(|core| CoreWork {
            ipc: per_cycle(core.instructions as f64),
            simd_efficiency: efficiency(core.lane_instructions, core.instructions),
            no_warp: cycles.saturating_sub(core.active_cycles),
            ..*core
        });
        let cores = cores.collect();
        let gigahertz = run.environment.clock().gigahertz();
        let mut report = Self {
            run,
            packets: records.len(),
            frame_bytes,
            cycles,
            packets_per_second: per_cycle(records.len() as f64) * gigahertz * 1e9,
            throughput_gbps: per_cycle(frame_bytes as f64 * 8.0) * gigahertz,
            frame_lines: None,
            delays: None,
            verdicts: BTreeMap::new(),
            faults,
            fault_causes: Vec::new(),
            fault_records: Vec::new(),
            bus_errors: BusErrors::default(),
            races: None,
            counted,
            simd_efficiency,
            cores,
            memory: Vec::new(),
            golden_checked: false,
            golden_differs: false,
        };
        report.name_verdicts(records, Verdict::to_string);
        report
    }
}

impl Report {
    /// Counts the verdicts of `records` again, under the names that `name` gives them
    /// ([`name_verdicts`]).
    pub fn name_verdicts(&mut self, records: &[PacketRecord], name: impl Fn(&Verdict) -> String) {
        self.verdicts = name_verdicts(records, self.faults, &self.fault_records, name);
    }
}

impl Report {
    /// Threads of the thread spawner that ended with a fault, of those that are on record.
    #[must_use]
    pub fn spawned_faults(&self) -> u64 {
        let spawned = self.fault_records.iter().filter(|fault| fault.job.is_some());
        spawned.map(|fault| u64::from(fault.threads)).sum::<u64>().min(self.faults)
    }

    /// Adds what the memory did.
    pub fn set_memory(&mut self, memory: &MemoryStatistics) {
        let per_cycle = |count: u64| count as f64 / memory.cycles.max(1) as f64;
        let channel = |counted: &ChannelStatistics| ChannelWork {
            counted: *counted,
            read_use: per_cycle(counted.lines_read),
            write_use: per_cycle(counted.lines_written),
            bus_use: per_cycle(counted.bus_cycles),
        };
        self.memory = memory.channels.iter().map(channel).collect();
    }

    /// What was around the array.
    fn fmt_environment(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slot_bytes = self.run.slot_bytes;
        match &self.run.environment {
            Environment::Simulation { line_rate, channels, memory, .. } => writeln!(
                f,
                "  environment  line rate {line_rate}, {} ({}), slots of {slot_bytes} bytes",
                number_of(*channels as u64, "memory channel"),
                match memory {
                    Latency::Dram(_) => memory.to_string(),
                    _ => format!("latency {memory} cycles"),
                },
            ),
            Environment::Board(board) => writeln!(
                f,
                "  environment  board at {} ({} baud), {}, {} bytes of packet memory, {} slots of {slot_bytes} bytes",
                board.device,
                board.baud,
                self.run.environment.clock(),
                board.memory_bytes,
                board.ring_slots,
            ),
        }
    }

    /// Packets and frame bits in a second, and the lines that moved for them.
    fn fmt_throughput(&self, f: &mut fmt::Formatter<'_>, when: &str, digits: usize) -> fmt::Result {
        let of_packet = |lines: u64| lines as f64 / self.packets.max(1) as f64;
        let sum = |lines: fn(&ChannelStatistics) -> u64| {
            of_packet(self.memory.iter().map(|channel| lines(&channel.counted)).sum())
        };
        write!(f, "  throughput   {:.3} million packets/s {when}", self.packets_per_second / 1e6)?;
        if !self.memory.is_empty() {
            let (read, written) = (sum(|c| c.lines_read), sum(|c| c.lines_written));
            write!(f, "; {read:.2} lines of 64 bytes a packet read from memory, {written:.2} written")?;
        }
        write!(
            f,
            "\n  frames       {:.digits$} Gbit/s {when} (frame bytes, without preamble and FCS)",
            self.throughput_gbps
        )?;
        match self.frame_lines {
            Some(FrameLines { all, read, payload_moved: false }) => writeln!(
                f,
                ", payload not moved: {:.2} of the {:.2} lines of a packet were read",
                of_packet(read),
                of_packet(all)
            ),
            _ => writeln!(f),
        }
    }

    /// What the run took, its throughput, and what packets waited for.
    fn fmt_times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = self.run.environment.clock();
        match &self.run.environment {
            Environment::Simulation { .. } => {
                writeln!(f, "  cycles       {} from the first arrival to the last commit", self.cycles)?;
                self.fmt_throughput(f, &format!("at {clock}"), 2)?;
            }
            Environment::Board(board) => {
                writeln!(
                    f,
                    "  busy cycles  {} with packets on the cores or waiting for their commit; {:.1} s with the way to the board and back",
                    self.cycles, board.seconds
                )?;
                self.fmt_throughput(f, &format!("at {clock} over the busy cycles"), 3)?;
            }
        }
        let Some(Delays { delay, queuing, service }) = &self.delays else { return Ok(()) };
        let (unit, time, digits) = match clock {
            Clock::GIGAHERTZ => ("cycles (= ns at 1 GHz)".to_string(), 1.0, 0),
            _ => (
                format!("ns at {clock}, where a cycle is {:.3} ns", clock.nanoseconds()),
                clock.nanoseconds(),
                1,
            ),
        };
        writeln!(
            f,
            "  delay        {:>10} {:>8} {:>8} {:>8} {:>8}  {unit}",
            "mean", "p50", "p95", "p99", "iqr"
        )?;
        for (name, d) in [("total", delay), ("queuing", queuing), ("service", service)] {
            write!(f, "    {name:<10} {:>10.1}", d.mean * time)?;
            for cycles in [d.p50, d.p95, d.p99, d.iqr] {
                write!(f, " {:>8.digits$}", cycles as f64 * time)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    /// What all cores read from the L2.
    fn fmt_caches(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |figure: fn(&CoreWork) -> u64| self.cores.iter().map(figure).sum::<u64>();
        let (loads, fetches) = (sum(|c| c.line_reads), sum(|c| c.fetch_misses));
        let (hits, misses) = (sum(|c| c.l2_read_hits), sum(|c| c.l2_read_misses));
        let percent = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
        writeln!(
            f,
            "  L2           {} lines read ({loads} for loads, {fetches} of instructions), {:.1} % hits; {} written",
            hits + misses,
            percent(hits, hits + misses),
            sum(|c| c.line_writes)
        )
    }

    /// A line for each channel of the memory.
    fn fmt_memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, channel) in self.memory.iter().enumerate() {
            let ChannelWork { counted: c, read_use, write_use, bus_use } = channel;
            write!(
                f,
                "  memory {number:<5} {} lines read ({:.1} % of the cycles), {} written ({:.1} %), at most {} requests at a time",
                c.lines_read,
                100.0 * read_use,
                c.lines_written,
                100.0 * write_use,
                c.most_outstanding
            )?;
            if let Environment::Simulation { memory: Latency::Dram(_), .. } = self.run.environment {
                write!(
                    f,
                    "; {} row hits, {} misses, {} refreshes, data bus used {:.1} %",
                    c.row_hits,
                    c.row_misses,
                    c.refreshes,
                    100.0 * bus_use
                )?;
            }
            writeln!(f)?;
        }
        Ok(())
    }

    /// A table of the cycles that each core lost, and their mean, in percent of the run's cycles.
    fn fmt_lost_cycles(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = LostCycles::default().named().map(|(name, _)| name);
        write!(f, "  lost cycles  {:>10}", "no warp")?;
        names.iter().try_for_each(|name| write!(f, " {name:>10}"))?;
        writeln!(f, "  % of the cycles")?;
        let lost = |core: &CoreWork| {
            let reasons = core.lost.named().map(|(_, cycles)| u64::from(cycles));
            [core.no_warp].into_iter().chain(reasons)
        };
        let mut row = |name: &str, cores: &[CoreWork]| {
            let all = (self.cycles * cores.len() as u64).max(1) as f64;
            write!(f, "    {name:<10}")?;
            for column in 0..=names.len() {
                let cycles: u64 = cores.iter().filter_map(|core| lost(core).nth(column)).sum();
                write!(f, " {:>10.1}", 100.0 * cycles as f64 / all)?;
            }
            writeln!(f)
        };
        for (number, core) in self.cores.iter().enumerate() {
            row(&format!("core {number}"), std::slice::from_ref(core))?;
        }
        if self.cores.len() > 1 {
            row("all cores", &self.cores)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    /// The table that `hermes run` prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = &self.run;
        writeln!(f, "{} on {}", run.kernel, run.capture)?;
        writeln!(
            f,
            "  array        {}: {} x {}, {}, MCW {}",
            run.preset,
            number_of(run.cores as u64, "core"),
            number_of(run.lanes as u64, "lane"),
            number_of(run.warps as u64, "warp slot"),
            run.mcw
        )?;
        self.fmt_environment(f)?;
        for note in &run.inputs {
            writeln!(f, "  input        {note}")?;
        }
        let mean_bytes = if self.packets == 0 { 0.0 } else { self.frame_bytes as f64 / self.packets as f64 };
        writeln!(f, "  packets      {} of {mean_bytes:.1} bytes on average (without FCS)", self.packets)?;
        self.fmt_times(f)?;
        writeln!(f, "  verdicts")?;
        let mut verdicts: Vec<_> = self.verdicts.iter().collect();
        verdicts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (name, count) in verdicts.iter().take(SHOWN_VERDICTS) {
            writeln!(f, "    {name:<24} {count:>10}")?;
        }
        if let Some(rest) = verdicts.get(SHOWN_VERDICTS..).filter(|rest| !rest.is_empty()) {
            let packets: usize = rest.iter().map(|(_, count)| **count).sum();
            writeln!(f, "    {:<24} {packets:>10}", format!("{} other verdicts", rest.len()))?;
        }
        let spawned = match self.spawned_faults() {
            0 => String::new(),
            spawned => format!(", {spawned} of them of the thread spawner"),
        };
        writeln!(f, "  faults       {}{spawned}", self.faults)?;
        if self.bus_errors.count > 0 {
            writeln!(f, "  bus errors   {}", self.bus_errors.count)?;
        }
        if let Some(RaceReport { races, foreign_stores }) = &self.races {
            let stores = match foreign_stores.len() {
                0 => String::new(),
                _ => "; stores into other packets".to_string(),
            };
            let pairs = match races.len() {
                0 => "none".to_string(),
                1 => "1 pair of instructions".to_string(),
                count => format!("{count} pairs of instructions"),
            };
            writeln!(f, "  races        {pairs}{stores}")?;
        }
        let Counted { not_ipv4, cut_by_capture, larger_than_slot } = self.counted;
        writeln!(
            f,
            "  counted      {not_ipv4} not IPv4, {cut_by_capture} cut by the capture, {larger_than_slot} larger than a slot"
        )?;
        let ipc: Vec<_> = self.cores.iter().map(|core| format!("{:.3}", core.ipc)).collect();
        writeln!(f, "  IPC per core {}", ipc.join(" "))?;
        writeln!(f, "  SIMD         {:.1} % of the lanes active", 100.0 * self.simd_efficiency)?;
        self.fmt_lost_cycles(f)?;
        self.fmt_caches(f)?;
        self.fmt_memory(f)?;
        write!(
            f,
            "  golden model {}",
            match (self.golden_checked, self.golden_differs) {
                (true, _) => "every packet and verdict agrees",
                (false, true) => "differs",
                (false, false) => "none for this kernel",
            }
        )
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
