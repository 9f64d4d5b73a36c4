//! The figures that a sweep can draw.

use hermes_rtl::config::Config;
use hermes_testbench::metrics::{Delays, Load};

use crate::results::ResultFile;

/// A figure of a result.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Name in a sweep file.
    pub name: &'static str,
    /// What it is, with its unit.
    pub title: &'static str,
    /// Of a result; none where it was not measured.
    pub(crate) of: fn(&ResultFile) -> Option<f64>,
}

/// Every one. Rates are of the steady state, or of the whole run where it is too short for one.
pub const MEASURES: &[Measure] = &[
    Measure { name: "mpps", title: "million packets a second", of: |r| Some(r.measured.rate().mpps()) },
    Measure { name: "gbps", title: "Gbit/s of frames", of: |r| Some(r.measured.rate().gbps()) },
    Measure { name: "delay_mean", title: "mean delay, cycles", of: |r| delays(r, |d| d.delay.mean) },
    Measure { name: "delay_p50", title: "median delay, cycles", of: |r| delays(r, |d| d.delay.p50 as f64) },
    Measure {
        name: "delay_p95",
        title: "p95 of the delay, cycles",
        of: |r| delays(r, |d| d.delay.p95 as f64),
    },
    Measure {
        name: "delay_p99",
        title: "p99 of the delay, cycles",
        of: |r| delays(r, |d| d.delay.p99 as f64),
    },
    Measure {
        name: "delay_iqr",
        title: "delay variance (IQR), cycles",
        of: |r| delays(r, |d| d.delay.iqr as f64),
    },
    Measure {
        name: "queuing_mean",
        title: "mean queuing delay, cycles",
        of: |r| delays(r, |d| d.queuing.mean),
    },
    Measure {
        name: "service_mean",
        title: "mean service delay, cycles",
        of: |r| delays(r, |d| d.service.mean),
    },
    Measure { name: "computing_rate", title: "computing rate, cycles a warp of a core", of: computing_rate },
    Measure { name: "lines", title: "lines moved a packet", of: |r| Some(r.measured.lines()) },
    Measure { name: "simd_efficiency", title: "SIMD efficiency", of: |r| Some(simd_efficiency(r)) },
    Measure {
        name: "deferred_cycles",
        title: "cycles without a free slot",
        of: |r| Some(r.measured.deferred_cycles as f64),
    },
    Measure {
        name: "busy_slots",
        title: "busy warp slots of a core, mean",
        of: |r| load(r, |l| Some(l.mean_busy_slots)),
    },
    Measure {
        name: "formed_full",
        title: "warps formed full",
        of: |r| load(r, |l| Some(l.formed_full as f64)),
    },
    Measure {
        name: "formed_timeout",
        title: "warps formed by time-out",
        of: |r| load(r, |l| Some(l.formed_timeout as f64)),
    },
    Measure {
        name: "formed_eager",
        title: "warps formed for an idle slot",
        of: |r| load(r, |l| Some(l.formed_eager as f64)),
    },
    Measure { name: "l1_hit_rate", title: "hit rate of the L1", of: |r| load(r, |l| Some(l.l1_hit_rate)) },
    Measure {
        name: "commit_queue_full",
        title: "cycles with a full delay commit queue",
        of: |r| load(r, |l| Some(l.commit_queue_full_cycles as f64)),
    },
    Measure {
        name: "high_tasks",
        title: "most entries of the task FIFO",
        of: |r| load(r, |l| Some(l.high_tasks.into())),
    },
    Measure {
        name: "high_commit_queue",
        title: "most warps in the delay commit queue",
        of: |r| load(r, |l| Some(l.high_commit_queue.into())),
    },
    Measure {
        name: "high_ring",
        title: "most slots of the ring in use",
        of: |r| load(r, |l| l.high_ring.map(f64::from)),
    },
    Measure {
        name: "offered",
        title: "packets that came to the array",
        of: |r| Some(r.measured.offered as f64),
    },
    Measure {
        name: "delivered",
        title: "packets that took a slot",
        of: |r| Some(r.measured.delivered as f64),
    },
    Measure {
        name: "dropped",
        title: "packets that found no slot and were dropped",
        of: |r| Some(r.measured.dropped as f64),
    },
];

/// Those that load counters give.
const OF_LOAD: [&str; 9] = [
    "busy_slots",
    "formed_full",
    "formed_timeout",
    "formed_eager",
    "l1_hit_rate",
    "commit_queue_full",
    "high_tasks",
    "high_commit_queue",
    "high_ring",
];

impl Measure {
    /// Whether an array with this configuration can have it.
    pub(crate) fn is_of(&self, array: &Config) -> bool {
        (array.load_counters || !OF_LOAD.contains(&self.name))
            && (array.packet_ports || self.name != "high_ring")
    }

    /// What such an array has, by the names in a sweep file.
    pub(crate) fn needs(&self) -> &'static str {
        match self.name {
            "high_ring" => "array.load_counters = true and array.packet_ports = true",
            _ => "array.load_counters = true",
        }
    }
}

/// A figure of the load counters, if the array has them.
fn load(result: &ResultFile, figure: fn(&Load) -> Option<f64>) -> Option<f64> {
    result.measured.load.as_ref().and_then(figure)
}

/// What order costs: the mean delay until the commit, that until the finish, and their ratio.
pub(crate) fn cost_of_order(delays: &Delays) -> [f64; 3] {
    let (with, waiting) = (delays.delay.mean, delays.stages.dcq.mean);
    [with, with - waiting, with / (with - waiting).max(1.0)]
}

fn delays(result: &ResultFile, figure: fn(&Delays) -> f64) -> Option<f64> {
    result.measured.delays.as_ref().map(figure)
}

/// The mean time between two finished warps of a core (Hermes, equation 1), of a run whose slots
/// are all busy: one with all packets there from the start.
pub fn computing_rate(result: &ResultFile) -> Option<f64> {
    let rate = result.measured.rate();
    let closed = result.measured.delays.is_none();
    closed.then(|| hermes_qos::computing_rate(result.job.parameters.array.cores, rate.cycles, rate.warps))
}

fn simd_efficiency(result: &ResultFile) -> f64 {
    let possible = result.measured.instructions * result.job.parameters.array.lanes as u64;
    result.measured.lane_instructions as f64 / possible.max(1) as f64
}
