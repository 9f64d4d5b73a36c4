//! What is known of an array and an app, and the delays that follow from it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{ensure, Context as _};
use hermes_qos::calibration::{fit, Observed};
use hermes_qos::machine::{self, Array, Predicted, Service};
use hermes_qos::{unified, ComputingRates};
use hermes_testbench::metrics::Clock;
use serde::{Deserialize, Serialize};

use super::runs::{lengths, role, Role};
use crate::figures::computing_rate;
use crate::job::{read_json, write_json, FORMAT};
use crate::parameters::Parameters;
use crate::results::ResultFile;

/// A run with all slots busy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saturated {
    /// Maximally allowed concurrent warps of a core.
    pub mcw: u32,
    /// Cycles between two finished warps of a core.
    pub computing_rate: f64,
    /// Million packets a second.
    pub mpps: f64,
}

/// A run with arrivals, and its mean times in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// When the packets arrived.
    pub arrivals: String,
    /// Packets.
    pub packets: usize,
    /// Maximally allowed concurrent warps of a core.
    pub mcw: u32,
    /// From the arrival to the start of the warp.
    pub forming_and_issue: f64,
    /// From the start to the finish.
    pub execution: f64,
    /// From the finish to the commit.
    pub commit_queue: f64,
}

/// What is known of an app on an array, and its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Version of the format.
    pub format: u32,
    /// The app, the array and its memory; MCW, packets and arrivals are those of one of the runs.
    pub parameters: Parameters,
    /// SHA-256 of the emitted Verilog.
    pub verilog: String,
    /// Lines a packet that moved between the array and its memory, at saturation.
    pub lines: f64,
    /// Runs with all slots busy, by MCW.
    pub saturated: Vec<Saturated>,
    /// Open runs, by load.
    pub open: Vec<Open>,
    /// A burst.
    pub burst: Open,
}

/// What is predicted of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Packets offered over what the array can do at its best MCW.
    pub load: f64,
    /// By our model.
    pub ours: Predicted,
    /// The mean delay by the equations of the Hermes paper, in cycles.
    pub equations: Option<f64>,
}

impl Calibration {
    /// Of the runs of a calibration among `results`.
    ///
    /// # Errors
    /// Some are missing, or are not of one app and array.
    pub fn of<'a>(
        results: impl IntoIterator<Item = (&'a BTreeMap<String, String>, &'a ResultFile)>,
    ) -> anyhow::Result<Self> {
        let (mut saturated, mut open, mut burst, mut first) = (Vec::new(), Vec::new(), Vec::new(), None);
        let mut lines = 0.0;
        for (labels, result) in results {
            let Some(role) = role(labels) else { continue };
            let job = &result.job;
            let (array, app, verilog) =
                first.get_or_insert((job.parameters.clone(), job.parameters.app.clone(), &job.verilog));
            ensure!(
                array.array == job.parameters.array && *app == job.parameters.app && *verilog == &job.verilog,
                "calibration: runs of {app} and {}, or of two arrays; expected one of each",
                job.parameters.app
            );
            match role {
                Role::Saturated => {
                    let rate =
                        computing_rate(result).context("calibration: a run with arrivals, expected none")?;
                    let mpps = result.measured.rate().mpps();
                    lines = result.measured.lines();
                    saturated.push(Saturated { mcw: job.parameters.mcw, computing_rate: rate, mpps });
                }
                Role::Open => open.push(Open::of(result)?),
                Role::Burst => burst.push(Open::of(result)?),
            }
        }
        saturated.sort_by_key(|run| run.mcw);
        let (parameters, _, verilog) = first.context("calibration: expected its runs, found none")?;
        let burst = burst.pop().context("calibration: expected a burst")?;
        ensure!(!saturated.is_empty() && !open.is_empty(), "calibration: expected saturated and open runs");
        let verilog = verilog.clone();
        let mut calibration = Self { format: FORMAT, parameters, verilog, lines, saturated, open, burst };
        let mut by_rate = Vec::new();
        for run in calibration.open.drain(..) {
            let parameters = Parameters { packets: run.packets, ..calibration.parameters.clone() };
            let cycles = arrivals(&Parameters { arrivals: run.arrivals.clone(), ..parameters })?;
            by_rate.push((std::cmp::Reverse(cycles.last().copied().unwrap_or(0) / run.packets as u64), run));
        }
        by_rate.sort_by_key(|(interval, _)| *interval);
        calibration.open = by_rate.into_iter().map(|(_, run)| run).collect();
        Ok(calibration)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is of another version of the format, or is damaged.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let file: Self = read_json(path, "calibration")?;
        let named = || path.display().to_string();
        ensure!(file.format == FORMAT, "{}: format {}: expected {FORMAT}", named(), file.format);
        file.parameters.validate().with_context(named)?;
        file.service().with_context(named)?;
        Ok(file)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_json(path, self)
    }

    /// Million packets a second at the best MCW.
    #[must_use]
    pub fn throughput(&self) -> f64 {
        self.saturated.iter().map(|run| run.mpps).fold(0.0, f64::max)
    }

    /// Computing rates by MCW.
    ///
    /// # Errors
    /// They cannot be used.
    pub fn rates(&self) -> anyhow::Result<ComputingRates> {
        Ok(ComputingRates::new(&self.points())?)
    }

    fn points(&self) -> Vec<(f64, f64)> {
        self.saturated.iter().map(|run| (f64::from(run.mcw), run.computing_rate)).collect()
    }

    /// What the model knows of the cores.
    ///
    /// # Errors
    /// The runs are not enough.
    pub fn service(&self) -> anyhow::Result<Service> {
        let observed = |run: &Open| -> anyhow::Result<Observed> {
            let Open { packets, mcw, forming_and_issue, execution, commit_queue, .. } = *run;
            let (base, text) = (self.parameters.clone(), run.arrivals.clone());
            let parameters = Parameters { packets, mcw, arrivals: text, ..base };
            Ok(Observed {
                arrivals: arrivals(&parameters)?,
                mcw: mcw as usize,
                timeout: u64::from(parameters.timeout),
                forming_and_issue,
                execution,
                commit_queue,
            })
        };
        let open: Vec<_> = self.open.iter().map(observed).collect::<anyhow::Result<_>>()?;
        let array = &self.parameters.array;
        fit(array.cores, array.lanes, &self.points(), &open, &observed(&self.burst)?).context("calibration")
    }

    /// The delays of a run with `parameters`, which are those of this calibration but for MCW,
    /// packets, their sizes and seed, arrivals and time-out. `service` is that of [`Self::service`].
    ///
    /// # Errors
    /// The parameters are of another app, array or memory, or have no times of arrivals.
    pub fn predict(&self, service: &Service, parameters: &Parameters) -> anyhow::Result<Prediction> {
        let known = &self.parameters;
        let is_same = parameters.app == known.app && parameters.array == known.array;
        ensure!(
            is_same,
            "app {}: expected {} on the array of the calibration, or a calibration of this one",
            parameters.app,
            known.app
        );
        let tables = |p: &Parameters| (p.seed, p.prefixes, p.filters, p.pattern_rules);
        ensure!(
            tables(parameters) == tables(known),
            "seed, prefixes, filters, pattern_rules {:?}: expected {:?}, the tables of the calibration",
            tables(parameters),
            tables(known)
        );
        let (memory, expected) = (&parameters.memory, &known.memory);
        ensure!(memory == expected, "memory {memory}: expected {expected}, that of the calibration");
        ensure!(!parameters.eager, "eager true: expected false; the model forms warps by a time-out");
        ensure!(
            parameters.arrival_process()?.is_scheduled(),
            "arrivals `max`: expected times; without them there is no delay"
        );
        self.predict_with(service, parameters, known.array.cores)
    }

    /// As [`Self::predict`], on an array that is the same but for its number of cores.
    pub(super) fn predict_with(
        &self,
        service: &Service,
        parameters: &Parameters,
        cores: usize,
    ) -> anyhow::Result<Prediction> {
        let cycles = arrivals(parameters)?;
        let lanes = self.parameters.array.lanes;
        let (mcw, timeout) = (parameters.mcw as usize, u64::from(parameters.timeout));
        let array = Array { cores, lanes, mcw, timeout };
        let ours = machine::run(&array, service, &cycles).context("packets 0: expected at least 1")?;
        // The equations know full warps alone.
        let full = machine::form(&cycles, lanes, u64::MAX);
        let intervals = machine::intervals(&full, cores);
        let equations = unified::delay(&self.rates()?, mcw, &intervals);
        let time = cycles.last().copied().unwrap_or(0).max(1) as f64;
        let offered = 1e3 * cycles.len() as f64 / time;
        Ok(Prediction { load: offered / self.throughput(), ours, equations })
    }
}

impl Open {
    fn of(result: &ResultFile) -> anyhow::Result<Self> {
        let Parameters { arrivals, packets, mcw, .. } = &result.job.parameters;
        let delays = result.measured.delays.as_ref().context("calibration: a run without arrivals")?;
        let stages = &delays.stages;
        Ok(Self {
            arrivals: arrivals.clone(),
            packets: *packets,
            mcw: *mcw,
            forming_and_issue: delays.queuing.mean,
            execution: stages.execution.mean,
            commit_queue: stages.dcq.mean,
        })
    }
}

/// The cycles in which the packets of a run arrive.
pub(super) fn arrivals(parameters: &Parameters) -> anyhow::Result<Vec<u64>> {
    let process = parameters.arrival_process()?;
    Ok(process.arrivals_of_lengths(&lengths(parameters)?, Clock::GIGAHERTZ, parameters.packet_seed))
}
