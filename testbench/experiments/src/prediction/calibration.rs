//! What is known of an array and an app, and its file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{ensure, Context as _};
use serde::{Deserialize, Serialize};

use super::runs::{role, Role};
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

/// A run with arrivals, and its times in cycles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// When the packets arrived.
    pub arrivals: String,
    /// Packets.
    pub packets: usize,
    /// Maximally allowed concurrent warps of a core.
    pub mcw: u32,
    /// From the arrival to the start of the warp, mean.
    pub forming_and_issue: f64,
    /// From the start to the finish, mean.
    pub execution: f64,
    /// From the finish to the commit, mean.
    pub commit_queue: f64,
    /// The p99 of the delay.
    pub p99: f64,
}

/// What is known of an app on an array, and its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Version of the format.
    pub format: u32,
    /// The run of the burst: app, tables, array, memory; its MCW is that of the open runs.
    pub parameters: Parameters,
    /// SHA-256 of the emitted Verilog.
    pub verilog: String,
    /// Lines a packet that moved between the array and its memory, at saturation.
    pub lines: f64,
    /// Runs with all slots busy, by MCW.
    pub saturated: Vec<Saturated>,
    /// Open runs, by rising load.
    pub open: Vec<Open>,
    /// A burst.
    pub burst: Open,
}

impl Calibration {
    /// Of the runs of a calibration among `results`.
    ///
    /// # Errors
    /// Some are missing, or are not of one app and array.
    pub fn of<'a>(
        results: impl IntoIterator<Item = (&'a BTreeMap<String, String>, &'a ResultFile)>,
    ) -> anyhow::Result<Self> {
        let (mut saturated, mut open, mut burst) = (Vec::new(), Vec::new(), None);
        let mut lines = 0.0;
        let mut all: Vec<&ResultFile> = Vec::new();
        for (labels, result) in results {
            let Some(role) = role(labels) else { continue };
            all.push(result);
            match role {
                Role::Saturated => {
                    let rate =
                        computing_rate(result).context("calibration: a run with arrivals, expected none")?;
                    let mpps = result.measured.rate().mpps();
                    lines = result.measured.lines();
                    saturated.push(Saturated { mcw: result.job.parameters.mcw, computing_rate: rate, mpps });
                }
                Role::Open => open.push(Open::of(result)?),
                Role::Burst => burst = Some(result),
            }
        }
        let burst = burst.context("calibration: expected a burst")?;
        let (parameters, verilog) = (burst.job.parameters.clone(), burst.job.verilog.clone());
        for other in all {
            let (job, app) = (&other.job, &parameters.app);
            ensure!(
                job.verilog == verilog && job.parameters.app == *app,
                "calibration: runs of {app} and {}, or of two arrays; expected one of each",
                job.parameters.app
            );
        }
        ensure!(!saturated.is_empty() && !open.is_empty(), "calibration: expected saturated and open runs");
        saturated.sort_by_key(|run| run.mcw);
        // The longer a run with as many packets takes, the lower is its load.
        open.sort_by(|a, b| b.1.total_cmp(&a.1));
        let open = open.into_iter().map(|(run, _)| run).collect();
        let burst = Open::of(burst)?.0;
        Ok(Self { format: FORMAT, parameters, verilog, lines, saturated, open, burst })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is of another version of the format, or is damaged.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let file: Self = read_json(path, "calibration")?;
        let named = || path.display().to_string();
        ensure!(file.format == FORMAT, "{}: format {}: expected {FORMAT}", named(), file.format);
        file.check().with_context(named)?;
        Ok(file)
    }

    fn check(&self) -> anyhow::Result<()> {
        let at_least_0 = |name: &str, value: f64| {
            ensure!(value.is_finite() && value >= 0.0, "{name} {value}: expected a number of at least 0");
            Ok(())
        };
        self.parameters.validate()?;
        at_least_0("lines", self.lines)?;
        for run in &self.saturated {
            let is_rate = run.mpps.is_finite() && run.mpps > 0.0;
            ensure!(is_rate, "saturated: mpps {}: expected a number above 0", run.mpps);
        }
        for run in self.open.iter().chain([&self.burst]) {
            let parameters = self.parameters_of(run);
            parameters.validate().with_context(|| format!("run of {}", run.arrivals))?;
            ensure!(
                parameters.arrival_process()?.is_scheduled(),
                "arrivals `{}`: expected times",
                run.arrivals
            );
            at_least_0("forming_and_issue", run.forming_and_issue)?;
            at_least_0("execution", run.execution)?;
            at_least_0("commit_queue", run.commit_queue)?;
            at_least_0("p99", run.p99)?;
        }
        Ok(())
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

    /// The most warps of a core that its kernel allows.
    #[must_use]
    pub fn most_warps(&self) -> u32 {
        self.saturated.last().map_or(1, |run| run.mcw)
    }

    /// Computing rates by MCW.
    pub(super) fn points(&self) -> Vec<(f64, f64)> {
        self.saturated.iter().map(|run| (f64::from(run.mcw), run.computing_rate)).collect()
    }

    /// The parameters of one of its runs with arrivals.
    pub(super) fn parameters_of(&self, run: &Open) -> Parameters {
        let Open { packets, mcw, .. } = *run;
        Parameters { packets, mcw, arrivals: run.arrivals.clone(), ..self.parameters.clone() }
    }
}

impl Open {
    /// That of a result, and the cycles that a packet of it took in the mean.
    fn of(result: &ResultFile) -> anyhow::Result<(Self, f64)> {
        let Parameters { arrivals, packets, mcw, .. } = &result.job.parameters;
        let measured = &result.measured;
        let delays = measured.delays.as_ref().context("calibration: a run without arrivals")?;
        let run = Self {
            arrivals: arrivals.clone(),
            packets: *packets,
            mcw: *mcw,
            forming_and_issue: delays.queuing.mean,
            execution: delays.stages.execution.mean,
            commit_queue: delays.stages.dcq.mean,
            p99: delays.delay.p99 as f64,
        };
        Ok((run, measured.whole.cycles as f64 / (*packets).max(1) as f64))
    }
}
