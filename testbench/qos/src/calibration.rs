//! What the model of the array is fitted to: a few runs of one app on one array and memory.
//!
//! | runs | what they give |
//! | --- | --- |
//! | all slots busy, at a few MCWs | computing rates (equation 1), which hold for many active warps |
//! | open: even arrivals at a few loads | computing rates with few active warps: by Little's law the warps of a core are the time that one takes over the interval at which they come. Rates of full slots are 10 to 90 % too high there |
//! | a burst on an empty machine | how much more work a warp is while the cores run in step: caches are cold, and all warps want the memory at once |

use crate::computing_rate::{ComputingRates, RatesError};
use crate::machine::{form, run, Array, Predicted, Service};

/// Steps by which a fitted number is halved in on.
const STEPS: usize = 14;
/// The widest shape of the work.
const WIDEST: f64 = 0.4;
/// Limits of the excess.
const EXCESS: (f64, f64) = (0.7, 3.0);
/// Active warps above which an open run tells a rate: with fewer a warp is mostly alone.
const ALONE: f64 = 1.15;

/// A run with arrivals, and its mean times in cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The cycle in which each packet arrived; they do not fall.
    pub arrivals: Vec<u64>,
    /// Maximally allowed concurrent warps of a core.
    pub mcw: usize,
    /// Cycles that the oldest waiting packet waits for a full warp.
    pub timeout: u64,
    /// From the arrival to the start of the warp.
    pub forming_and_issue: f64,
    /// From the start to the finish.
    pub execution: f64,
    /// From the finish to the commit.
    pub commit_queue: f64,
}

/// The runs are not enough, or cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// The computing rates.
    #[error(transparent)]
    Rates(#[from] RatesError),
    /// A run of few packets.
    #[error("a run of {0} warps: expected at least two for each core")]
    Short(usize),
}

/// Fits a [`Service`] of an array with `cores` and `lanes` to computing rates by MCW, from 1 on, to
/// `open` runs by rising load, and to a burst.
///
/// # Errors
/// The runs are not enough.
pub fn fit(
    cores: usize,
    lanes: usize,
    saturated: &[(f64, f64)],
    open: &[Observed],
    burst: &Observed,
) -> Result<Service, CalibrationError> {
    let closed = ComputingRates::new(saturated)?;
    let mut points = vec![(1.0, closed.at(1.0))];
    let (mut idle_lane, mut active) = (0.0, Vec::new());
    for observed in open {
        let warps = form(&observed.arrivals, lanes, observed.timeout);
        let (Some(first), Some(last)) = (warps.first(), warps.last()) else {
            return Err(CalibrationError::Short(0));
        };
        if warps.len() < 2 * cores {
            return Err(CalibrationError::Short(warps.len()));
        }
        let interval = cores as f64 * (last.formed - first.formed) / (warps.len() - 1) as f64;
        let busy = observed.execution / interval;
        let idle = lanes as f64 - observed.arrivals.len() as f64 / warps.len() as f64;
        // The lowest load whose warps are partial tells what a lane without a packet saves.
        if idle_lane == 0.0 && idle > 0.5 {
            let work =
                if busy > 1.0 { interval / closed.at_power(busy) } else { observed.execution / points[0].1 };
            idle_lane = ((1.0 - work) / idle).max(0.0);
        }
        let part = 1.0 - idle_lane * idle;
        // With all slots busy the run was overloaded: it tells no more than those of full slots.
        let tells = busy > ALONE && busy < observed.mcw as f64;
        if tells && busy > points[points.len() - 1].0 {
            points.push((busy, interval / part));
        }
        active.push(busy.max(1.0));
    }
    let known = points[points.len() - 1].0;
    points.extend(saturated.iter().filter(|point| point.0 > known));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut service = Service {
        rates: ComputingRates::new(&points)?,
        full: closed,
        idle_lane,
        spread: Vec::new(),
        excess: 1.0,
        excess_from: burst.mcw as f64,
    };
    let array = |observed: &Observed| Array { cores, lanes, mcw: observed.mcw, timeout: observed.timeout };
    let predict = |service: &Service, observed: &Observed| {
        run(&array(observed), service, &observed.arrivals).unwrap_or_default()
    };
    let mut spread = Vec::new();
    for (observed, busy) in open.iter().zip(&active) {
        let with = |shape| Service { spread: vec![(1.0, shape)], ..service.clone() };
        let shape =
            halve((0.0, WIDEST), observed.commit_queue, |shape| predict(&with(shape), observed).commit_queue);
        if spread.last().is_none_or(|(before, _)| before < busy) {
            spread.push((*busy, shape));
        }
    }
    // The two depend on each other.
    let core_time = |predicted: Predicted| predicted.forming_and_issue + predicted.execution;
    let in_burst = burst.mcw as f64;
    spread.retain(|(busy, _)| *busy < in_burst);
    service.spread.clone_from(&spread);
    for _ in 0..3 {
        let with = |excess| Service { excess, ..service.clone() };
        service.excess = halve(EXCESS, burst.forming_and_issue + burst.execution, |excess| {
            core_time(predict(&with(excess), burst))
        });
        let with = |shape| {
            let mut spread = spread.clone();
            spread.push((in_burst, shape));
            Service { spread, ..service.clone() }
        };
        let shape =
            halve((0.0, WIDEST), burst.commit_queue, |shape| predict(&with(shape), burst).commit_queue);
        service = with(shape);
    }
    Ok(service)
}

/// Where `function`, which rises, has `value`, by halving `limits`; the nearest of them if it is
/// beyond.
fn halve(limits: (f64, f64), value: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = limits;
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if function(middle) < value {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARRAY: Array = Array { cores: 2, lanes: 4, mcw: 8, timeout: 400 };

    fn observed(service: &Service, interval: u64, packets: u64) -> Observed {
        let arrivals: Vec<_> = (0..packets).map(|number| number * interval).collect();
        let Predicted { forming_and_issue, execution, commit_queue, .. } =
            run(&ARRAY, service, &arrivals).unwrap();
        let Array { mcw, timeout, .. } = ARRAY;
        Observed { arrivals, mcw, timeout, forming_and_issue, execution, commit_queue }
    }

    /// A machine that is the model itself: what it was made of is found again.
    #[test]
    fn finds_what_it_was_made_of() {
        let saturated = [(1.0, 800.0), (4.0, 320.0), (8.0, 250.0)];
        let truth = Service {
            rates: ComputingRates::new(&saturated).unwrap(),
            full: ComputingRates::new(&saturated).unwrap(),
            idle_lane: 0.0,
            spread: vec![(1.0, 0.06)],
            excess: 1.3,
            excess_from: 8.0,
        };
        let open = [80, 50, 36].map(|interval| observed(&truth, interval, 1_200));
        let burst = observed(&truth, 14, 400);
        let fitted = fit(ARRAY.cores, ARRAY.lanes, &saturated, &open, &burst).unwrap();
        for interval in [10, 18, 30, 44, 60, 200] {
            let (expected, found) = (observed(&truth, interval, 800), observed(&fitted, interval, 800));
            let sum = |o: &Observed| o.forming_and_issue + o.execution + o.commit_queue;
            let error = (sum(&found) - sum(&expected)) / sum(&expected);
            assert!(
                error.abs() < 0.1,
                "{interval}: {found:?} {expected:?} {fitted:?}",
                found = sum(&found),
                expected = sum(&expected)
            );
        }
        assert!((fitted.excess - 1.3).abs() < 0.2, "{fitted:?}");
        assert_eq!(fitted.idle_lane, 0.0);
    }

    /// Partial warps of an app whose time grows with its packets.
    #[test]
    fn lanes_without_packets_save_work() {
        let saturated = [(1.0, 800.0), (4.0, 320.0)];
        let truth = Service {
            rates: ComputingRates::new(&saturated).unwrap(),
            full: ComputingRates::new(&saturated).unwrap(),
            idle_lane: 0.1,
            spread: Vec::new(),
            excess: 1.0,
            excess_from: 8.0,
        };
        let open = [300, 60].map(|interval| observed(&truth, interval, 800));
        let fitted = fit(ARRAY.cores, ARRAY.lanes, &saturated, &open, &observed(&truth, 20, 400)).unwrap();
        assert!((fitted.idle_lane - 0.1).abs() < 0.03, "{fitted:?}");
    }

    #[test]
    fn what_is_not_enough_is_refused() {
        let few = Observed {
            arrivals: vec![0, 1],
            mcw: 8,
            timeout: 1,
            forming_and_issue: 0.0,
            execution: 1.0,
            commit_queue: 0.0,
        };
        let saturated = [(1.0, 100.0)];
        assert_eq!(fit(2, 4, &saturated, std::slice::from_ref(&few), &few), Err(CalibrationError::Short(1)));
        assert_eq!(fit(2, 4, &[], &[], &few), Err(CalibrationError::Rates(RatesError::None)));
    }
}
