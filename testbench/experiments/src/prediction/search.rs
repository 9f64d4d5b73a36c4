//! Which arrays meet a target, by the model.

use anyhow::{ensure, Context as _};
use hermes_rtl::config::Config;

use super::model::{Model, Prediction};
use super::runs::gbps;
use crate::parameters::Parameters;

/// What an array has to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Million packets a second.
    pub mpps: f64,
    /// The p99 of the delay, in cycles, at most.
    pub delay_p99: f64,
    /// When packets arrive, at that rate: `constant` or `poisson`.
    pub arrivals: String,
    /// Packets that are predicted.
    pub packets: usize,
}

/// Arrays that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Most shader cores.
    pub cores: usize,
}

/// An array that was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The run that was predicted.
    pub parameters: Parameters,
    /// What it takes, by the cost of a core.
    pub cost: f64,
    /// What is predicted of it.
    pub prediction: Prediction,
    /// The p99 of the delay in cycles with the margin of the model.
    pub p99: f64,
    /// Whether it meets the target.
    pub is_enough: bool,
}

/// Values of the MCW that are looked at.
const WARPS: [u32; 8] = [1, 2, 4, 8, 12, 16, 24, 32];
/// The load above which packets that are dealt with in the mean wait without an end.
const MOST_LOAD: f64 = 0.97;

/// Every array of `space` with the lanes, memory and channels of a calibration, which does not know
/// what other cores do to the memory: arrays whose lines are more than the channels carry, one line
/// a cycle each, are left out. `core_cost` is what a core takes. The p99 is longer than predicted
/// by the [margin](Model::tail_margin) of the model.
///
/// # Errors
/// The arrivals are not known.
pub fn candidates(
    model: &Model,
    target: &Target,
    space: Space,
    core_cost: f64,
) -> anyhow::Result<Vec<Candidate>> {
    let known = &model.calibration().parameters;
    ensure!(
        matches!(target.arrivals.as_str(), "constant" | "poisson"),
        "arrivals `{}`: expected constant or poisson",
        target.arrivals
    );
    let base = Parameters { packets: target.packets, ..known.clone() };
    let arrivals = format!("{}:{}", target.arrivals, gbps(&base, target.mpps)?);
    // Lines that move in a cycle of 1 ns.
    let lines = target.mpps * 1e-3 * model.calibration().lines;
    let mut found = Vec::new();
    for cores in 1..=space.cores {
        let array = Config { cores, ..known.array.clone() };
        if array.validate().is_err() || lines > array.channels as f64 {
            continue;
        }
        let most = model.calibration().most_warps();
        for mcw in WARPS.into_iter().filter(|mcw| *mcw <= most) {
            let parameters =
                Parameters { array: array.clone(), mcw, arrivals: arrivals.clone(), ..base.clone() };
            let prediction = model.predict_with(&parameters, cores)?;
            let p99 = prediction.ours.p99 * model.tail_margin();
            let is_enough = prediction.load <= MOST_LOAD && p99 <= target.delay_p99;
            found.push(Candidate { parameters, cost: core_cost * cores as f64, prediction, p99, is_enough });
        }
    }
    Ok(found)
}

/// Those that meet the target and of which no other is both as cheap and as fast, by rising cost.
#[must_use]
pub fn pareto_front(candidates: &[Candidate]) -> Vec<&Candidate> {
    let mut enough: Vec<_> = candidates.iter().filter(|one| one.is_enough).collect();
    let delay = |one: &Candidate| one.p99;
    enough.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(delay(a).total_cmp(&delay(b))));
    let mut best = f64::INFINITY;
    enough.retain(|one| {
        let is_better = delay(one) < best;
        best = best.min(delay(one));
        is_better
    });
    enough
}

/// LUTs of a core with so many lanes, in the figures that `hermes bench cost --json` wrote.
///
/// # Errors
/// They have none of it.
pub fn luts_of_core(figures: &serde_json::Value, lanes: usize) -> anyhow::Result<f64> {
    let name = format!("luts_{lanes}_lanes");
    let entries = figures["figures"]
        .as_array()
        .context("figures: expected a list, as `hermes bench cost` writes it")?;
    let found = entries.iter().find(|figure| figure["name"] == name.as_str());
    let value = found.and_then(|figure| figure["value"].as_f64());
    value.with_context(|| format!("figures: no {name}; expected `hermes bench cost --lanes {lanes}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_qos::machine::Predicted;

    fn candidate(cost: f64, p99: f64, is_enough: bool) -> Candidate {
        let ours = Predicted { p99, ..Predicted::default() };
        let prediction = Prediction { load: 0.5, ours, equations: None };
        Candidate { parameters: Parameters::of("dec-ttl").unwrap(), cost, prediction, p99, is_enough }
    }

    #[test]
    fn nothing_of_the_front_is_beaten() {
        let all = [
            (3.0, 90.0, true),
            (1.0, 300.0, true),
            (2.0, 300.0, true),
            (1.0, 400.0, true),
            (4.0, 10.0, false),
        ];
        let all = all.map(|(cost, p99, is_enough)| candidate(cost, p99, is_enough));
        let seen: Vec<_> = pareto_front(&all).iter().map(|one| (one.cost, one.p99)).collect();
        assert_eq!(seen, [(1.0, 300.0), (3.0, 90.0)]);
        // By looking at every pair.
        for one in pareto_front(&all) {
            assert!(!all
                .iter()
                .any(|other| other.is_enough && other.cost <= one.cost && other.p99 < one.p99));
        }
        // And nothing that no other beats is missing.
        let beats = |a: &Candidate, b: &Candidate| {
            a.cost <= b.cost && a.p99 <= b.p99 && (a.cost, a.p99) != (b.cost, b.p99)
        };
        let unbeaten =
            |one: &&Candidate| one.is_enough && !all.iter().any(|other| other.is_enough && beats(other, one));
        assert_eq!(all.iter().filter(unbeaten).count(), seen.len());
    }

    #[test]
    fn costs_are_found_by_lanes() {
        let figures = serde_json::json!({"figures": [{"name": "luts_8_lanes", "value": 12_000.0}]});
        assert_eq!(luts_of_core(&figures, 8).unwrap(), 12_000.0);
        let error = luts_of_core(&figures, 4).unwrap_err().to_string();
        assert!(error.contains("no luts_4_lanes"), "{error}");
        assert!(luts_of_core(&serde_json::json!({}), 4).is_err());
    }
}
