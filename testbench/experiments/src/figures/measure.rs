//! The figures that a sweep can draw.

use hermes_testbench::metrics::Delays;

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
