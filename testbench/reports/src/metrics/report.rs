use std::collections::BTreeMap;
use std::fmt;

use hermes_rtl::config::Config;
use serde::{Serialize, Serializer};

use super::{name_verdicts, Clock, Delays, FaultCause, Load, PacketRecord, SteadyState};
use crate::cosim::{
    BusErrors, ChannelStatistics, FaultRecord, Latency, LoadCounters, LostCycles, MemoryStatistics,
};
use crate::races::RaceReport;
use crate::traffic::ArrivalProcess;
use crate::verdict::Verdict;

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
        /// How packets arrive, in the words of `--line-rate`.
        line_rate: String,
        /// How packets arrive.
        #[serde(serialize_with = "as_text")]
        arrivals: ArrivalProcess,
        /// Seed of random arrivals.
        arrivals_seed: Option<u64>,
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
    /// Whether packets have times at which they should come.
    fn is_scheduled(&self) -> bool {
        match self {
            Self::Simulation { arrivals, .. } => arrivals.is_scheduled(),
            Self::Board(_) => false,
        }
    }

    /// Clock of the array.
    pub(super) fn clock(&self) -> Clock {
        match self {
            Self::Simulation { clock_mhz, .. } => *clock_mhz,
            Self::Board(board) => Clock::from_kilohertz(board.clock_khz),
        }
    }
}

/// Frames that the packet ports took and dropped. Those offered are those delivered and those
/// dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Loss {
    /// Frames that came to the packet ports.
    pub offered: u64,
    /// Of these, those that took a slot.
    pub delivered: u64,
    /// Those that were dropped there.
    pub dropped: u64,
    /// Of the dropped ones, those that found no slot; the others were malformed.
    pub dropped_full: u64,
    /// Dropped over offered (RFC 2544, 26.3).
    pub loss: f64,
}

impl Loss {
    /// Of `offered` frames `malformed` ones, and `dropped_full` that found no slot.
    #[must_use]
    pub fn new(offered: u64, malformed: u64, dropped_full: u64) -> Self {
        let dropped = malformed + dropped_full;
        let loss = dropped as f64 / offered.max(1) as f64;
        Self { offered, delivered: offered.saturating_sub(dropped), dropped, dropped_full, loss }
    }
}

/// What else belongs to the times of a run in simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Waits {
    /// Cycles in which a packet that had arrived found no free slot of the ring.
    pub deferred_cycles: u64,
    /// How many times the host cleaned the caches before the end, each time a quarter of its ring
    /// had been committed: it takes the slots back then, and the array has pauses.
    pub cache_cleanings: u64,
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
    /// Cycles that the oldest waiting packet waits for a full warp; with `adaptive_timeout` until
    /// the array has measured how packets arrive.
    pub timeout: u32,
    /// Whether this time follows the traffic.
    pub adaptive_timeout: bool,
    /// Whether a partial warp is formed at once when a warp slot is idle.
    pub eager: bool,
    /// What was around the array.
    #[serde(flatten)]
    pub environment: Environment,
    /// Bytes of a packet slot.
    pub slot_bytes: usize,
    /// The whole configuration of the array.
    pub configuration: Config,
}

impl RunFacts {
    /// Packets that are on the cores at a time at most.
    pub(super) fn wave(&self) -> u64 {
        (self.cores * self.lanes) as u64 * u64::from(self.mcw)
    }
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
    /// The same of the middle of the run, if it is long enough; a board does not see that, nor the
    /// next ones.
    pub steady_state: Option<SteadyState>,
    /// What packets waited for besides.
    #[serde(flatten)]
    pub waits: Option<Waits>,
    /// Frames that were lost, through the packet ports.
    pub loss: Option<Loss>,
    /// When packets passed the stages.
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
    /// What the load counters tell, if the array has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
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
        let lengths: Vec<u64> = lengths.collect();
        let times: Vec<_> = records.iter().filter_map(|record| record.times).collect();
        let scheduled = run.environment.is_scheduled();
        let steady_state = SteadyState::of(&times, &lengths, run.wave(), scheduled);
        let first = times.iter().map(|t| t.arrival).min().unwrap_or(0);
        let cycles = times.iter().map(|t| t.commit).max().unwrap_or(0) - first;
        let report = Self::without_times(run, records, cycles, lengths.into_iter(), cores, faults, counted);
        Self { delays: Some(Delays::of(&times, scheduled)), steady_state, golden_checked, ..report }
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
            steady_state: None,
            waits: None,
            loss: None,
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
            load: None,
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

    /// Adds what the load counters tell, if the array has them.
    pub fn set_load(&mut self, counters: Option<&LoadCounters>) {
        let line_reads = self.cores.iter().map(|core| core.line_reads).sum();
        let ports = self.run.configuration.packet_ports;
        self.load = counters.map(|counters| Load::of(counters, line_reads, self.cycles, ports));
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
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
