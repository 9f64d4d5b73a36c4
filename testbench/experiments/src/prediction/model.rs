//! Delays that follow from what is known.

use anyhow::{ensure, Context as _};
use hermes_qos::calibration::{fit, Observed};
use hermes_qos::machine::{self, Array, Predicted, Service};
use hermes_qos::{unified, ComputingRates};
use hermes_testbench::metrics::Clock;
use hermes_testbench::traffic::ArrivalProcess;

use super::calibration::{Calibration, Open};
use super::runs::lengths;
use crate::parameters::{Parameters, Through};

/// A calibration, and our model of the array fitted to it.
#[derive(Clone, Debug)]
pub struct Model {
    calibration: Calibration,
    service: Service,
    /// Computing rates of the equations: none rises with the MCW, and between two that were
    /// measured they are on the power law through them, as those of our model.
    rates: ComputingRates,
    tail_margin: f64,
}

/// What is predicted of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Packets offered over what the array can do with the MCW of the run.
    pub load: f64,
    /// By our model.
    pub ours: Predicted,
    /// The mean delay by the equations of the Hermes paper, in cycles.
    pub equations: Option<f64>,
}

/// Fields that a run may have otherwise than the calibration.
const FREE: [&str; 6] = ["mcw", "packets", "packet_seed", "arrivals", "timeout", "frames"];

impl Model {
    /// Fits the model.
    ///
    /// # Errors
    /// The runs of the calibration are not enough, or are of what the model does not know.
    pub fn of(calibration: Calibration) -> anyhow::Result<Self> {
        check_known(&calibration.parameters)?;
        let observed = |run: &Open| -> anyhow::Result<Observed> {
            let parameters = calibration.parameters_of(run);
            Ok(Observed {
                arrivals: arrivals(&parameters)?,
                mcw: run.mcw as usize,
                timeout: u64::from(parameters.timeout),
                forming_and_issue: run.forming_and_issue,
                execution: run.execution,
                commit_queue: run.commit_queue,
            })
        };
        let open: Vec<_> = calibration.open.iter().map(observed).collect::<anyhow::Result<_>>()?;
        let array = &calibration.parameters.array;
        let points = calibration.points();
        let burst = observed(&calibration.burst)?;
        let service = fit(array.cores, array.lanes, &points, &open, &burst).context("calibration")?;
        let closed = ComputingRates::new(&points).context("calibration")?;
        let power = |mcw: u32| (f64::from(mcw), closed.at_power(f64::from(mcw)));
        let dense: Vec<_> = (1..=calibration.most_warps()).map(power).collect();
        let rates = ComputingRates::new(&dense)?.monotone();
        let mut model = Self { calibration, service, rates, tail_margin: 1.0 };
        for run in &model.calibration.open {
            let predicted = model.predict(&model.calibration.parameters_of(run))?;
            model.tail_margin = f64::max(model.tail_margin, run.p99 / predicted.ours.p99.max(1.0));
        }
        Ok(model)
    }

    /// The calibration.
    #[must_use]
    pub const fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// How many times as long as predicted the p99 of the open runs of the calibration is at most:
    /// 1 or more. The model tells short tails, since it knows nothing of caches and channels.
    #[must_use]
    pub const fn tail_margin(&self) -> f64 {
        self.tail_margin
    }

    /// The delays of a run with `parameters`, which are those of the calibration but for MCW,
    /// packets, their sizes and seed, arrivals and time-out.
    ///
    /// # Errors
    /// The first field that the model cannot tell: its name and what was expected.
    pub fn predict(&self, parameters: &Parameters) -> anyhow::Result<Prediction> {
        let known = &self.calibration.parameters;
        known.same_but_for(parameters, &FREE, "that of the calibration")?;
        let other_bytes = parameters.frames != known.frames;
        ensure!(
            !other_bytes || parameters.work_is_of_headers(),
            "frames {}: expected {}, those of the calibration: the work of {} is of every byte, or comes through the ports",
            parameters.frames,
            known.frames,
            known.app
        );
        self.predict_with(parameters, known.array.cores)
    }

    /// As [`Self::predict`], on an array that is the same but for its number of cores.
    pub(super) fn predict_with(&self, parameters: &Parameters, cores: usize) -> anyhow::Result<Prediction> {
        let most = self.calibration.most_warps();
        let mcw = parameters.mcw;
        ensure!((1..=most).contains(&mcw), "mcw {mcw}: expected 1 to {most}, as the calibration has them");
        ensure!(
            !matches!(parameters.arrival_process()?, ArrivalProcess::Max | ArrivalProcess::Trace { .. }),
            "arrivals `{}`: expected times that follow from a rate; without them there is no delay",
            parameters.arrivals
        );
        let cycles = arrivals(parameters)?;
        let lanes = self.calibration.parameters.array.lanes;
        let array = Array { cores, lanes, mcw: mcw as usize, timeout: u64::from(parameters.timeout) };
        let ours = machine::run(&array, &self.service, &cycles).context("packets 0: expected at least 1")?;
        // The equations know full warps alone.
        let mut full = machine::form(&cycles, lanes, u64::MAX);
        full.retain(|warp| warp.packets == lanes);
        let intervals = machine::intervals(&full, cores);
        let equations = unified::delay(&self.rates, mcw as usize, &intervals);
        let time = cycles.last().copied().unwrap_or(0).max(1) as f64;
        let offered = cycles.len() as f64 / time;
        let can = (cores * lanes) as f64 / self.rates.at(f64::from(mcw));
        Ok(Prediction { load: offered / can, ours, equations })
    }
}

/// Makes sure that a run with these parameters can be told from a calibration.
///
/// # Errors
/// The field that the model does not know.
pub fn check_known(parameters: &Parameters) -> anyhow::Result<()> {
    ensure!(!parameters.eager, "eager true: expected false; the model forms warps by a time-out");
    let factor = parameters.timeout_factor;
    ensure!(factor == 0, "timeout_factor {factor}: expected 0; the model forms warps by a fixed time-out");
    let push = parameters.push_packets;
    ensure!(push == 1, "push_packets {push}: expected 1; the model knows no host that gathers packets");
    Ok(())
}

impl Parameters {
    /// Whether the work of a packet does not depend on its length: the app reads headers, and the
    /// host brings the packets.
    pub(crate) fn work_is_of_headers(&self) -> bool {
        self.through == Through::Host
            && matches!(
                self.app.as_str(),
                "dec-ttl" | "check-ip-header" | "route-lookup" | "classifier" | "classifier-bv"
            )
    }
}

/// The cycles in which the packets of a run arrive.
fn arrivals(parameters: &Parameters) -> anyhow::Result<Vec<u64>> {
    let process = parameters.arrival_process()?;
    Ok(process.arrivals_of_lengths(&lengths(parameters)?, Clock::GIGAHERTZ, parameters.packet_seed))
}
