//! The runs of a calibration: some with all slots busy, some open ones, and a burst.

use std::collections::BTreeMap;

use anyhow::Context as _;
use hermes_testbench::metrics::SteadyState;
use hermes_testbench::traffic::{Generator, Kind, Traffic, WIRE_OVERHEAD_BYTES};

use crate::figures::computing_rate;
use crate::parameters::Parameters;
use crate::plan::{Cell, Scale};
use crate::results::ResultFile;
use crate::workload::Program;

/// Values of the MCW of runs with all slots busy, of which a kernel may not allow all.
pub(crate) const SATURATED: [u32; 5] = [1, 4, 8, 16, 32];
/// Most warps of a core in open runs.
const OPEN_WARPS: u32 = 16;
/// Loads of open runs, in percent.
const LOADS: [u32; 3] = [30, 60, 90];
/// The load of the burst.
const BURST: f64 = 2.0;
/// Packets of open runs and of the burst, at least.
const PACKETS: usize = 16_384;
/// How many times as many packets as threads such a run has at least: fewer are no queue.
const WAVES: usize = 4;
/// Packets of every run with [`Scale::Quick`].
const QUICK_PACKETS: usize = 2_048;
/// Packets of runs with all slots busy, at least.
const LEAST_PACKETS: usize = 32_768;
/// Name of the label that tells the runs of a calibration.
const LABEL: &str = "calibration";

/// What a run of a calibration is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// All slots busy.
    Saturated,
    /// Even arrivals that the array keeps up with.
    Open,
    /// Faster arrivals than that.
    Burst,
}

const ROLES: [(Role, &str); 3] =
    [(Role::Saturated, "saturated"), (Role::Open, "open"), (Role::Burst, "burst")];

/// What a run with these labels is for, if it is one of a calibration.
pub fn role(labels: &BTreeMap<String, String>) -> Option<Role> {
    let name = labels.get(LABEL)?;
    ROLES.iter().find(|(_, known)| known == name).map(|(role, _)| *role)
}

pub(crate) fn cell(role: Role, parameters: Parameters) -> Cell {
    let name = ROLES.iter().find(|(known, _)| *known == role).map_or("", |(_, name)| *name);
    let pairs = [(LABEL, name), ("app", &parameters.app)];
    let labels = pairs.map(|(name, value)| (name.to_string(), value.to_string())).into();
    Cell { labels, parameters }
}

/// The most warps of a core that the kernel of `base` allows on its array.
///
/// # Errors
/// The parameters cannot be used, or the kernel cannot be built.
pub fn most_warps(base: &Parameters) -> anyhow::Result<u32> {
    Ok(Program::create(base)?.most_warps(base.array.warps))
}

/// The runs with all slots busy: `base` at a few MCWs up to `most`.
#[must_use]
pub fn saturated_cells(base: &Parameters, most: u32, scale: Scale) -> Vec<Cell> {
    let threads = base.array.cores * base.array.lanes;
    let of = |mcw: u32| {
        let packets = match scale {
            Scale::Quick => QUICK_PACKETS,
            Scale::Full => LEAST_PACKETS.max(SteadyState::fewest(threads as u64 * u64::from(mcw)) as usize),
        };
        let parameters = Parameters { mcw, packets, arrivals: "max".to_string(), ..base.clone() };
        cell(Role::Saturated, parameters)
    };
    // The most warps are one of the points, whatever number they are.
    let mut values: Vec<_> = SATURATED.into_iter().filter(|mcw| *mcw < most).collect();
    values.push(most);
    values.into_iter().map(of).collect()
}

/// The open runs and the burst of an array that does `mpps` million packets a second at best.
///
/// # Errors
/// The kind of packets is not known.
pub fn open_cells(base: &Parameters, most: u32, mpps: f64, scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mcw = most.min(OPEN_WARPS);
    let threads = base.array.cores * base.array.lanes * mcw as usize;
    let packets = match scale {
        Scale::Quick => QUICK_PACKETS,
        Scale::Full => PACKETS.max(WAVES * threads),
    };
    let base = Parameters { mcw, packets, ..base.clone() };
    let of = |load: f64| -> anyhow::Result<Parameters> {
        Ok(Parameters { arrivals: format!("constant:{}", gbps(&base, mpps * load)?), ..base.clone() })
    };
    let mut cells = Vec::new();
    for load in LOADS {
        cells.push(cell(Role::Open, of(f64::from(load) / 100.0)?));
    }
    cells.push(cell(Role::Burst, of(BURST)?));
    Ok(cells)
}

/// Million packets a second at the best MCW of runs with all slots busy.
///
/// # Errors
/// There are none.
pub fn throughput<'a>(results: impl IntoIterator<Item = &'a ResultFile>) -> anyhow::Result<f64> {
    let closed = results.into_iter().filter(|result| computing_rate(result).is_some());
    closed
        .map(|result| result.measured.rate().mpps())
        .max_by(f64::total_cmp)
        .context("calibration: expected runs with all slots busy")
}

/// Gbit/s on the wire of so many million packets a second, with four digits, so that what the text
/// of a job says is what runs.
pub(super) fn gbps(parameters: &Parameters, mpps: f64) -> anyhow::Result<f64> {
    let lengths = lengths(parameters)?;
    let bytes: u64 = lengths.iter().map(|length| u64::from(*length) + WIRE_OVERHEAD_BYTES).sum();
    let rate = mpps * 8e-3 * bytes as f64 / lengths.len().max(1) as f64;
    let text = format!("{rate:.3e}");
    text.parse().with_context(|| format!("rate {text}: expected a number"))
}

/// Lengths in bytes, without FCS, of the packets of a run. Those of mixed sizes come in another
/// order than in the run, whose packets are aimed at its tables.
pub(super) fn lengths(parameters: &Parameters) -> anyhow::Result<Vec<u32>> {
    let Parameters { packets, packet_seed: seed, .. } = *parameters;
    Ok(match parameters.kind()? {
        Kind::Fixed(bytes) => vec![bytes as u32; packets],
        kind => {
            let traffic = Traffic { kind, seed, bad_share: 0.0, rate: 100.0 };
            Generator::new(traffic).take(packets).map(|frame| frame.wire_length).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_a_calibration() {
        let base = Parameters::of("dec-ttl").unwrap();
        let saturated = saturated_cells(&base, 16, Scale::Full);
        let seen: Vec<_> = saturated.iter().map(|cell| cell.parameters.mcw).collect();
        assert_eq!(seen, [1, 4, 8, 16]);
        assert!(saturated.iter().all(|cell| role(&cell.labels) == Some(Role::Saturated)));
        let few: Vec<_> =
            saturated_cells(&base, 12, Scale::Quick).iter().map(|cell| cell.parameters.mcw).collect();
        assert_eq!(few, [1, 4, 8, 12]);
        // 1,000 Mpps of frames that take 84 bytes of the wire are 672 Gbit/s.
        let open = open_cells(&base, 32, 1_000.0, Scale::Full).unwrap();
        let seen: Vec<_> =
            open.iter().map(|cell| (cell.parameters.arrivals.as_str(), cell.parameters.mcw)).collect();
        assert_eq!(
            seen,
            [("constant:201.6", 16), ("constant:403.2", 16), ("constant:604.8", 16), ("constant:1344", 16)]
        );
        assert_eq!(role(&open[3].labels), Some(Role::Burst));
        assert_eq!(role(&BTreeMap::new()), None);
    }

    #[test]
    fn lengths_of_a_run() {
        let base = Parameters { packets: 12, ..Parameters::of("dec-ttl").unwrap() };
        assert_eq!(lengths(&base).unwrap(), [60; 12]);
        let imix = lengths(&Parameters { frames: "imix".to_string(), ..base }).unwrap();
        let counts = [64, 594, 1518].map(|bytes| imix.iter().filter(|length| **length == bytes).count());
        assert_eq!(counts, [7, 4, 1], "{imix:?}");
    }
}
