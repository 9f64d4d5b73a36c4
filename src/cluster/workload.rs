//! Kernels of `hermes cluster` whose work is known: what they are told is checked before they
//! start, and what they did behind their end.

use anyhow::{anyhow, bail, ensure};
use hermes_testbench::cluster::{Jacobi, JacobiTimes, NodeReport, WorkloadError, WORKLOAD};
use hermes_testbench::input;
use hermes_testbench::kernel::Kernel;
use serde::Serialize;

use super::Args;

/// Iterations in front of those whose mean is told.
const FIRST: usize = 2;

/// Such a kernel, with what it is told.
#[derive(Clone, Copy)]
pub enum KnownWorkload {
    /// `kernels-asm/c/jacobi.c`
    Jacobi(Jacobi),
}

/// What it measured on node 0, and whether all nodes did what they should.
#[derive(Serialize)]
pub struct WorkloadReport {
    /// Its name.
    pub name: &'static str,
    /// Iterations.
    iterations: usize,
    /// The last residual.
    residual: Option<u32>,
    /// Cycles of each iteration.
    times: Vec<JacobiTimes>,
    /// The first word that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
}

impl KnownWorkload {
    /// The one that `kernel` says that it is, for so many packets on arrays of `lanes` lanes, with
    /// `on_cores` warps on their cores at once.
    ///
    /// # Errors
    /// It is not known here, or cannot do what it is told: the file, the option, the value, and
    /// what was expected.
    pub fn find(
        kernel: &Kernel,
        args: &Args,
        packets: usize,
        lanes: usize,
        on_cores: usize,
    ) -> anyhow::Result<Option<Self>> {
        let Some(name) = kernel.text(WORKLOAD) else { return Ok(None) };
        let file = input::name(&args.kernel);
        ensure!(
            name == Jacobi::NAME,
            "{file}: {WORKLOAD} \"{name}\": expected {}, or a kernel without that variable",
            Jacobi::NAME
        );
        ensure!(args.queues.is_some(), "{file}: expected --queues, with the firmware of that mode");
        let wrong = |option: &'static str| {
            let file = &file;
            move |error: WorkloadError| anyhow!("{file}: {option}: {error}")
        };
        let jacobi = Jacobi::from_own(&args.own, lanes).map_err(wrong("--own"))?;
        jacobi.check(on_cores, u64::MAX).map_err(wrong("--own"))?;
        jacobi.check(on_cores, args.heap.into()).map_err(wrong("--heap"))?;
        let threads = jacobi.warps as usize * lanes;
        ensure!(
            packets == threads,
            "{file}: --packets {packets}: expected {threads}, one for each of {lanes} threads of {} warps",
            jacobi.warps
        );
        Ok(Some(Self::Jacobi(jacobi)))
    }

    /// Compares what the nodes have with the plain model.
    pub fn report(self, nodes: &[NodeReport]) -> WorkloadReport {
        let Self::Jacobi(jacobi) = self;
        let golden = jacobi.golden(nodes.len());
        let compared: Result<Vec<_>, _> = nodes
            .iter()
            .enumerate()
            .map(|(number, node)| jacobi.compare(&golden, number, &node.heap))
            .collect();
        let (times, wrong) = match compared {
            Ok(times) => (times.into_iter().next().unwrap_or_default(), None),
            Err(wrong) => (Vec::new(), Some(wrong)),
        };
        WorkloadReport {
            name: Jacobi::NAME,
            iterations: golden.residuals.len(),
            residual: golden.residuals.last().copied(),
            times,
            wrong,
        }
    }
}

impl WorkloadReport {
    /// As text.
    pub fn text(&self) -> String {
        if let Some(wrong) = &self.wrong {
            return wrong.clone();
        }
        let skipped = FIRST.min(self.times.len().saturating_sub(1));
        let behind = &self.times[skipped..];
        let mean = |what: fn(&JacobiTimes) -> u32| {
            behind.iter().map(|times| u64::from(what(times))).sum::<u64>() / behind.len().max(1) as u64
        };
        format!(
            "{} iterations, last residual {}; {} cycles each behind the first {skipped}: {} to compute, {} until the node had, {} until all had; every word and residual as expected",
            self.iterations,
            self.residual.unwrap_or(0),
            mean(JacobiTimes::all),
            mean(|times| times.compute),
            mean(|times| times.wait),
            mean(|times| times.reduce)
        )
    }

    /// # Errors
    /// A word is wrong.
    pub fn check(&self) -> anyhow::Result<()> {
        match &self.wrong {
            Some(wrong) => bail!("{}: {wrong}", self.name),
            None => Ok(()),
        }
    }
}
