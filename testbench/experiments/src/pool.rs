//! A plain pool of processes, one for each job.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex, PoisonError};

use anyhow::{bail, Context};

use crate::folder::Folder;
use crate::job::Key;
use crate::model_file::ModelKey;
use crate::plan::{Plan, PlannedJob};

/// How `exp run` gets on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many jobs of so many cycles are to run; the others have their results.
    Begin {
        /// Jobs.
        jobs: usize,
        /// Jobs that have their results.
        done: usize,
        /// Cycles of those that are to run, estimated.
        cycles: u64,
    },
    /// A model is built, or found in the cache.
    Model(ModelKey),
    /// A job has ended.
    Job {
        /// Its name.
        key: Key,
        /// Cycles that were estimated.
        cycles: u64,
        /// Whether it failed; its error file tells why.
        failed: bool,
    },
}

/// Runs the jobs of a plan that have no results yet, each in a process of its own.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The `hermes` command.
    pub command: PathBuf,
    /// Processes at a time.
    pub processes: usize,
}

impl Pool {
    /// Runs them: models first, one at a time, then the jobs, the longest first. A job that fails
    /// does not keep the others from running. Gives the number of jobs that failed.
    ///
    /// # Errors
    /// A model cannot be built, a result that is there is damaged, a process cannot be started, or
    /// the end was requested.
    pub fn run(&self, folder: &Folder, plan: &Plan, step: &mut dyn FnMut(Step)) -> anyhow::Result<usize> {
        let mut left: Vec<&PlannedJob> = Vec::new();
        for job in &plan.jobs {
            if !folder.has(&job.key)? {
                left.push(job);
            }
        }
        let done = plan.jobs.len() - left.len();
        let cycles = left.iter().map(|job| job.estimate.cycles).sum();
        step(Step::Begin { jobs: left.len(), done, cycles });
        for model in plan.models.iter().filter(|model| left.iter().any(|job| job.model == **model)) {
            step(Step::Model(model.clone()));
            let mut command = Command::new(&self.command);
            command.args(["--quiet", "exp", "model"]).arg(folder.model(model));
            command.arg("-o").arg(folder.receipt(model));
            let output = hermes_interrupt::output(&mut command)
                .with_context(|| format!("{}", self.command.display()))?;
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr);
                bail!("model {model}: {}", text.trim_end());
            }
        }
        left.sort_by_key(|job| (std::cmp::Reverse(job.estimate.cycles), job.key.clone()));
        self.run_jobs(folder, &left, step)
    }

    fn run_jobs(
        &self,
        folder: &Folder,
        jobs: &[&PlannedJob],
        step: &mut dyn FnMut(Step),
    ) -> anyhow::Result<usize> {
        let (next, first_error) = (AtomicUsize::new(0), Mutex::new(None));
        let mut failures = 0;
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..self.processes.clamp(1, jobs.len().max(1)) {
                let (sender, next, first_error) = (sender.clone(), &next, &first_error);
                scope.spawn(move || loop {
                    let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                    match self.run_job(folder, job) {
                        Ok(failed) => {
                            let (key, cycles) = (job.key.clone(), job.estimate.cycles);
                            // Nobody who does not listen any more wants to know.
                            let _ = sender.send(Step::Job { key, cycles, failed });
                        }
                        Err(error) => {
                            next.store(jobs.len(), Ordering::Relaxed);
                            first_error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for done in receiver {
                failures += usize::from(matches!(done, Step::Job { failed: true, .. }));
                step(done);
            }
        });
        match first_error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(failures),
        }
    }

    /// Runs one; gives whether it failed.
    fn run_job(&self, folder: &Folder, job: &PlannedJob) -> anyhow::Result<bool> {
        let mut command = Command::new(&self.command);
        command.args(["--quiet", "exp", "job"]).arg(folder.job(&job.key));
        command.arg("-o").arg(folder.result(&job.key));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let named = || format!("job {} by {}", job.key, self.command.display());
        let mut child = hermes_interrupt::spawn(&mut command).with_context(named)?;
        let status = child.wait().with_context(named)?;
        if hermes_interrupt::is_requested() {
            bail!("interrupted; the results that are there are kept");
        }
        Ok(!status.success())
    }
}
