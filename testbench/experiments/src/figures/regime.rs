//! Traffic by its load: the papers name regimes, not rates.

use hermes_testbench::traffic::ArrivalProcess;

use super::{App, APPS, QUICK_PACKETS};
use crate::parameters::Through;
use crate::plan::Scale;
use crate::results::ResultFile;

/// Bits of a 64-byte frame on the wire, with preamble, FCS and gap.
pub const WIRE_BITS: f64 = 8.0 * 84.0;
/// Packets of a burst.
pub const BURST_PACKETS: usize = 16_384;

/// Million packets a second that an app reaches at its best MCW on the array of the paper, about:
/// by the order of [`APPS`], host and ports. They choose the rates of jobs, which a plan must know
/// before anything is measured; the page tells loads by what was measured.
const THROUGHPUT: [(f64, f64); 4] = [(165.0, 132.0), (270.0, 234.0), (910.0, 121.0), (1_430.0, 419.0)];

/// What an app reaches, in million packets a second.
pub fn nominal(app: &App, through: Through) -> f64 {
    let of_app = APPS.iter().zip(THROUGHPUT).find(|(one, _)| one.name == app.name);
    let (host, ports) = of_app.map_or((1.0, 1.0), |(_, rates)| rates);
    match through {
        Through::Host => host,
        Through::Ports => ports,
    }
}

/// Gbit/s on the wire of a load of `factor`, with a digit behind the point, so that what the text
/// of a job says is what runs.
pub fn rate(app: &App, through: Through, factor: f64) -> f64 {
    (nominal(app, through) * factor * WIRE_BITS / 1e3 * 10.0).round() / 10.0
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
    rate / WIRE_BITS * 1e3
}
