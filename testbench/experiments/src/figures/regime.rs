//! Traffic by its load: the papers name regimes, not rates.

use hermes_testbench::traffic::{ArrivalProcess, Kind};

use super::{App, QUICK_PACKETS};
use crate::parameters::Through;
use crate::plan::Scale;
use crate::results::ResultFile;

/// Packets of a burst.
pub const BURST_PACKETS: usize = 16_384;

/// What an app reaches, in million packets a second.
pub fn nominal(app: &App, through: Through) -> f64 {
    match through {
        Through::Host => app.throughput.0,
        Through::Ports => app.throughput.1,
    }
}

/// Gbit/s on the wire of a load of `factor`, with a digit behind the point, so that what the text
/// of a job says is what runs.
pub fn rate(app: &App, through: Through, factor: f64) -> f64 {
    (nominal(app, through) * factor * app.frames.mean_wire_bits() / 1e3 * 10.0).round() / 10.0
}

/// Million packets a second that [`rate`] is.
pub fn offered(app: &App, through: Through, factor: f64) -> f64 {
    rate(app, through, factor) / app.frames.mean_wire_bits() * 1e3
}

/// Packets of a run at a load in percent: a quarter of `packets` at low loads, at which a packet
/// takes longest to simulate and delays differ least.
pub fn packets_at(load: u32, packets: usize, scale: Scale) -> usize {
    match scale {
        Scale::Quick => QUICK_PACKETS,
        Scale::Full if load < 30 => packets / 4,
        Scale::Full => packets,
    }
}

/// Even arrivals at a load of `factor`.
pub fn even(app: &App, through: Through, factor: f64) -> String {
    format!("constant:{}", rate(app, through, factor))
}

/// Million packets a second that the arrivals of a run offer in the mean; 0 if they have no rate.
pub fn offered_to(result: &ResultFile) -> f64 {
    let rate = match result.job.parameters.arrival_process() {
        Ok(
            ArrivalProcess::Constant { rate }
            | ArrivalProcess::Poisson { rate, .. }
            | ArrivalProcess::OnOff { rate, .. },
        ) => rate,
        _ => 0.0,
    };
    rate / result.job.parameters.kind().unwrap_or(Kind::Fixed(60)).mean_wire_bits() * 1e3
}
