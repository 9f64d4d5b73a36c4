//! What a job measured, and its file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{ensure, Context};
use hermes_testbench::cosim::{LostCycles, PacketTimes, RunResult};
use hermes_testbench::metrics::{Delays, Load, SteadyState};
use hermes_testbench::slot::SlotPacket;
use serde::{Deserialize, Serialize};

use crate::chains::ChainMeasured;
use crate::job::{read_json, write_json, Job, Key};
use crate::machine::MachineMeasured;
use crate::media::MediaMeasured;
use crate::nodes::NodesMeasured;
use crate::parameters::Through;

/// Packets over a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Packets.
    pub packets: u64,
    /// Their warps.
    pub warps: u64,
    /// Bytes of their frames, without FCS.
    pub bytes: u64,
    /// Cycles.
    pub cycles: u64,
}

/// Bytes that a frame has on the wire besides those that are captured: FCS.
const FCS_BYTES: u64 = 4;

impl Rate {
    /// Million packets a second at 1 GHz.
    #[must_use]
    pub fn mpps(&self) -> f64 {
        1e3 * self.packets as f64 / self.cycles.max(1) as f64
    }

    /// Gbit/s of frames with their FCS at 1 GHz.
    #[must_use]
    pub fn gbps(&self) -> f64 {
        8.0 * (self.bytes + FCS_BYTES * self.packets) as f64 / self.cycles.max(1) as f64
    }
}

/// What a job measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The whole run: from the first arrival to the last commit, through the ports to the last
    /// packet that leaves; with its start and its end.
    pub whole: Rate,
    /// The [steady state](SteadyState), if the packets are enough for one.
    pub steady: Option<Rate>,
    /// Cycles from the first start to the last finish.
    pub busy_cycles: u64,
    /// Packets that came to the array.
    pub offered: u64,
    /// Of these, those that took a slot: all figures but these three are of them.
    pub delivered: u64,
    /// Those that found no slot and were dropped.
    pub dropped: u64,
    /// Cycles in which a packet waited for a free slot of the ring.
    pub deferred_cycles: u64,
    /// The delays of all packets; none where they are all there from the start.
    pub delays: Option<Delays>,
    /// Every delay that occurs, rising, with the number of packets that have it.
    pub histogram: Vec<(u64, u64)>,
    /// Mean arrival, from the first on, and mean delay of each 64th of the packets, in cycles.
    pub delay_over_time: Vec<(f64, f64)>,
    /// Lines that the array read from memory.
    pub lines_read: u64,
    /// Lines that it wrote.
    pub lines_written: u64,
    /// Lines of 64 bytes that descriptors and frames take.
    pub frame_lines: u64,
    /// Lines of the packet ring that were read from memory.
    pub ring_lines_read: u64,
    /// Warp-instructions that retired.
    pub instructions: u64,
    /// Lane-instructions.
    pub lane_instructions: u64,
    /// Cycles with a warp on a core, summed over the cores.
    pub active_cycles: u64,
    /// Cycles with a warp on a core in which none started to execute, by reason, over the cores.
    pub lost_cycles: BTreeMap<String, u64>,
    /// What the load counters tell of the whole run, if the array has them
    /// (`array.load_counters`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
    /// What a workload of several nodes measured: all else is 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodesMeasured>,
    /// What a workload of the Pangaea paper measured: all else is 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaMeasured>,
    /// What was measured of the array itself: all else is 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineMeasured>,
    /// What a chain of network functions measured, beside the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chain: Option<ChainMeasured>,
}

impl Measured {
    /// What a run of `job` gave; `result` has all its packets, which are those that came in:
    /// `dropped` more were offered.
    pub(crate) fn of(
        job: &Job,
        packets: &[SlotPacket],
        dropped: u64,
        result: &RunResult,
    ) -> anyhow::Result<Self> {
        let parameters = &job.parameters;
        let bytes: u64 = packets.iter().map(|packet| packet.wire_length() as u64).sum();
        let times: Vec<_> = result.packets.iter().map(|packet| packet.times).collect();
        let last = |figure: fn(&PacketTimes) -> u64| times.iter().map(figure).max().unwrap_or(0);
        let first = |figure: fn(&PacketTimes) -> u64| times.iter().map(figure).min().unwrap_or(0);
        // Through the ports a packet is done when it leaves, or at its commit if it does not.
        let done: Vec<_> = match parameters.through {
            Through::Host => times.clone(),
            Through::Ports => times.iter().map(|t| at_the_wire(*t)).collect(),
        };
        let end = done.iter().map(|t| t.commit).max().unwrap_or(0);
        let cycles = end - first(|t| t.arrival);
        let wave = (parameters.array.cores * parameters.array.lanes) as u64 * u64::from(parameters.mcw);
        let scheduled = parameters.arrival_process()?.is_scheduled();
        let lengths: Vec<_> = packets.iter().map(|packet| packet.wire_length() as u64).collect();
        let steady = SteadyState::of(&done, &lengths, wave, scheduled);
        let memory = result.memory.total();
        // The packets of a warp are beside each other; one warp is issued in a cycle at most.
        let finishes: Vec<_> = done.chunk_by(|a, b| a.start == b.start).map(|warp| warp[0].finish).collect();
        let warps =
            |from: u64, to: u64| finishes.iter().filter(|at| (from + 1..=to).contains(*at)).count() as u64;
        let sum = |figure: fn(&hermes_testbench::cosim::CoreCounters) -> u32| {
            result.counters.iter().map(|core| u64::from(figure(core))).sum()
        };
        Ok(Self {
            whole: Rate { packets: packets.len() as u64, warps: finishes.len() as u64, bytes, cycles },
            steady: steady.map(|steady| Rate {
                packets: steady.packets,
                warps: warps(steady.from, steady.to),
                bytes: steady.frame_bytes,
                cycles: steady.to - steady.from,
            }),
            busy_cycles: last(|t| t.finish) - first(|t| t.start),
            offered: packets.len() as u64 + dropped,
            delivered: packets.len() as u64,
            dropped,
            deferred_cycles: result.deferred_cycles,
            delays: scheduled.then(|| Delays::of(&times, scheduled)),
            histogram: if scheduled { histogram(&times) } else { Vec::new() },
            delay_over_time: if scheduled { delay_over_time(&times) } else { Vec::new() },
            lines_read: memory.lines_read,
            lines_written: memory.lines_written,
            frame_lines: packets.iter().map(SlotPacket::lines).sum(),
            ring_lines_read: memory.ring_lines_read,
            instructions: sum(|core| core.core.instructions),
            lane_instructions: sum(|core| core.core.lane_instructions),
            active_cycles: sum(|core| core.core.active_cycles),
            lost_cycles: lost(result.counters.iter().map(|core| core.lost)),
            load: result.load.as_ref().map(|load| {
                Load::of(load, sum(|core| core.core.line_reads), cycles, parameters.array.packet_ports)
            }),
            nodes: None,
            media: None,
            machine: None,
            chain: None,
        })
    }

    /// The steady state, or the whole run where it is too short for one.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.steady.unwrap_or(self.whole)
    }

    /// Whether all lines of the frames moved to the array.
    #[must_use]
    pub fn payload_moved(&self, through: Through) -> bool {
        through == Through::Ports || self.ring_lines_read >= self.frame_lines
    }

    /// Lines a packet that moved between the array and its memory.
    #[must_use]
    pub fn lines(&self) -> f64 {
        (self.lines_read + self.lines_written) as f64 / self.whole.packets.max(1) as f64
    }
}

/// The times of a packet whose end is its first beat at the packet ports.
fn at_the_wire(times: PacketTimes) -> PacketTimes {
    let end = times.sent.unwrap_or(times.commit);
    PacketTimes { finish: end, commit: end, ..times }
}

/// The delays that occur, with their numbers.
fn histogram(times: &[PacketTimes]) -> Vec<(u64, u64)> {
    let mut counts = BTreeMap::new();
    for t in times {
        *counts.entry(t.commit - t.arrival).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// Groups of packets whose mean delays tell how it changed.
const GROUPS: usize = 64;

/// The mean arrival and the mean delay of groups of packets, in their order.
fn delay_over_time(times: &[PacketTimes]) -> Vec<(f64, f64)> {
    let first = times.first().map_or(0, |t| t.arrival);
    let mean = |group: &[PacketTimes], figure: fn(&PacketTimes) -> u64| {
        group.iter().map(|t| figure(t) as f64).sum::<f64>() / group.len() as f64
    };
    times
        .chunks(times.len().div_ceil(GROUPS).max(1))
        .map(|group| (mean(group, |t| t.arrival) - first as f64, mean(group, |t| t.commit - t.arrival)))
        .collect()
}

fn lost(cores: impl Iterator<Item = LostCycles>) -> BTreeMap<String, u64> {
    let mut sum = BTreeMap::new();
    for core in cores {
        for (name, cycles) in core.named() {
            *sum.entry(name.to_string()).or_default() += u64::from(cycles);
        }
    }
    sum
}

/// The file of a result. Nothing in it depends on time, machine or path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultFile {
    /// Name of the job.
    pub key: Key,
    /// The job.
    pub job: Job,
    /// Every packet was compared with the golden model of the app, and was right.
    pub golden_checked: bool,
    /// What it measured.
    pub measured: Measured,
}

impl ResultFile {
    /// Reads a file and checks that it is a result of the job called `key`.
    ///
    /// # Errors
    /// The file cannot be read, is of another version of the format, is damaged, or is of another
    /// job.
    pub fn read(path: &Path, key: &Key) -> anyhow::Result<Self> {
        let file: Self = read_json(path, "result")?;
        let named = || path.display().to_string();
        file.job.check_format().with_context(named)?;
        let (found, made) = (&file.key, file.job.key()?);
        ensure!(*found == made, "{}: key {found}: expected {made}, that of the job in the file", named());
        ensure!(found == key, "{}: key {found}: expected {key}, as the file is called", named());
        ensure!(file.golden_checked, "{}: golden_checked false: expected true", named());
        Ok(file)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_json(path, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_by_hand() {
        // 100 packets of 60 bytes, 64 with FCS, in 50 cycles: two a nanosecond.
        let rate = Rate { packets: 100, warps: 4, bytes: 6_000, cycles: 50 };
        assert_eq!((rate.mpps(), rate.gbps()), (2_000.0, 1_024.0));
    }

    #[test]
    fn packets_are_done_when_they_leave() {
        let times = PacketTimes { finish: 5, commit: 9, sent: Some(30), ..PacketTimes::default() };
        let end = |times: PacketTimes| (times.finish, times.commit);
        assert_eq!(end(at_the_wire(times)), (30, 30));
        assert_eq!(end(at_the_wire(PacketTimes { sent: None, ..times })), (9, 9));
    }

    #[test]
    fn the_time_series_is_of_groups() {
        let times =
            |at: u64| PacketTimes { arrival: 100 + at, commit: 110 + 3 * at, ..PacketTimes::default() };
        let times: Vec<_> = (0..128).map(times).collect();
        let series = delay_over_time(&times);
        assert_eq!((series.len(), series[0], series[63]), (64, (0.5, 11.0), (126.5, 263.0)));
    }

    #[test]
    fn delays_that_occur_are_counted() {
        let times = |arrival, commit| PacketTimes { arrival, commit, ..PacketTimes::default() };
        let times = [times(0, 30), times(10, 40), times(5, 20), times(7, 37)];
        assert_eq!(histogram(&times), [(15, 1), (30, 3)]);
    }
}
