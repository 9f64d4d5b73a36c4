//! A plain pool of processes, one for each job.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{bail, Context};

use crate::folder::{ErrorFile, Folder};
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
    /// Runs them: models first, one at a time, then the jobs, the longest first. A job that fails,
    /// or whose model does, does not keep the others from running, and leaves an error file. Gives
    /// the number of jobs that failed.
    ///
    /// # Errors
    /// A result that is there is damaged, a process cannot be started, or the end was requested.
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
        std::fs::create_dir_all(folder.results()).with_context(|| folder.results().display().to_string())?;
        for job in &left {
            ErrorFile::remove(&folder.result(&job.key))?;
        }
        let mut failed = 0;
        for model in &plan.models {
            let of_model = |job: &&PlannedJob| job.model == *model;
            if !left.iter().any(of_model) {
                continue;
            }
            step(Step::Model(model.clone()));
            let mut command = Command::new(&self.command);
            command.args(["--quiet", "exp", "model"]).arg(folder.model(model));
            command.arg("-o").arg(folder.receipt(model));
            let Some(error) = self.error_of(&mut command)? else { continue };
            // The jobs of the other models go on.
            for job in left.iter().copied().filter(of_model) {
                let path = ErrorFile::path(&folder.result(&job.key));
                ErrorFile { error: format!("model {model}: {error}") }.write(&path)?;
                step(Step::Job { key: job.key.clone(), cycles: job.estimate.cycles, failed: true });
                failed += 1;
            }
            left.retain(|job| job.model != *model);
        }
        left.sort_by_key(|job| (std::cmp::Reverse(job.estimate.cycles), job.key.clone()));
        Ok(failed + self.run_jobs(folder, &left, step)?)
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
        let result = folder.result(&job.key);
        let mut command = Command::new(&self.command);
        command.args(["--quiet", "exp", "job"]).arg(folder.job(&job.key)).arg("-o").arg(&result);
        let Some(error) = self.error_of(&mut command)? else { return Ok(false) };
        // It tells itself what is wrong, unless it was killed.
        let path = ErrorFile::path(&result);
        if !path.exists() {
            ErrorFile { error }.write(&path)?;
        }
        Ok(true)
    }

    /// Runs a command of ours; gives what it said and how it ended if it failed.
    fn error_of(&self, command: &mut Command) -> anyhow::Result<Option<String>> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let named = || self.command.display().to_string();
        let mut child = hermes_interrupt::spawn_gentle(command).with_context(named)?;
        let errors = child.stderr.take();
        let reader = std::thread::spawn(move || {
            let mut text = Vec::new();
            // What cannot be read was not said.
            let _ = errors.map(|mut errors| errors.read_to_end(&mut text));
            text
        });
        let status = loop {
            if let Some(status) = child.try_wait().with_context(named)? {
                break status;
            }
            if hermes_interrupt::is_requested() {
                // It ends what it has started, and then itself.
                hermes_interrupt::acknowledge();
            }
            std::thread::sleep(POLL);
        };
        let text = reader.join().unwrap_or_default();
        if hermes_interrupt::is_requested() {
            bail!("interrupted; the results that are there are kept");
        }
        let text = String::from_utf8_lossy(&text);
        let said = text.trim().trim_start_matches("error: ");
        Ok((!status.success()).then(|| if said.is_empty() { status.to_string() } else { said.to_string() }))
    }
}

/// Time between two looks at a process.
const POLL: Duration = Duration::from_millis(10);
