//! The folder of a plan.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context};
use hermes_testbench::output;
use serde::{Deserialize, Serialize};

use crate::job::{read_json, write_json, JobFile, Key, FORMAT};
use crate::model_file::{ModelFile, ModelKey};
use crate::plan::{Plan, Planned};
use crate::results::ResultFile;
use crate::snakefile;

/// The folder of a plan: `plan.json`, `Snakefile`, and folders of jobs, models and results.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

/// What a job that failed leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorFile {
    /// Why it failed.
    pub error: String,
}

/// The results of a plan.
#[derive(Debug, Default)]
pub struct Found {
    /// By key.
    pub results: BTreeMap<Key, ResultFile>,
    /// Why there is none, by key.
    pub missing: BTreeMap<Key, String>,
}

impl Folder {
    /// The folder at `path`.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// Writes plan, jobs, models and Snakefile. Results that are there stay.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&self, planned: &Planned) -> anyhow::Result<()> {
        for folder in ["jobs", "models", "results"] {
            let path = self.0.join(folder);
            fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        // Files that are there stay as they are: engines look at their times.
        for job in planned.jobs.iter().filter(|job| self.read_job(&job.key).ok().as_ref() != Some(job)) {
            job.write(&self.job(&job.key))?;
        }
        for model in &planned.models {
            let path = self.model(&model.key());
            if ModelFile::read(&path).ok().as_ref() != Some(model) {
                model.write(&path)?;
            }
        }
        output::write(&self.0.join("Snakefile"), snakefile::text(&planned.plan)?.as_bytes())?;
        // Last: a plan that is there is whole.
        write_json(&self.0.join("plan.json"), &planned.plan)
    }

    /// Reads the plan.
    ///
    /// # Errors
    /// It is not there, of another version of the format, or damaged.
    pub fn plan(&self) -> anyhow::Result<Plan> {
        let path = self.0.join("plan.json");
        let plan: Plan = read_json(&path, "plan")?;
        let format = plan.format;
        ensure!(format == FORMAT, "{}: format {format}: expected {FORMAT}", path.display());
        let known: HashSet<_> = plan.jobs.iter().map(|job| &job.key).collect();
        for figure in &plan.figures {
            let strange = figure.cells.iter().find(|cell| !known.contains(&cell.key));
            if let Some(cell) = strange {
                let (path, name) = (path.display(), &figure.name);
                bail!("{path}: figures: {name}: key {}: expected one of the plan's jobs", cell.key);
            }
        }
        for job in &plan.jobs {
            let (path, key, model) = (path.display(), &job.key, &job.model);
            ensure!(plan.models.contains(model), "{path}: job {key}: model {model}: expected one of models");
        }
        Ok(plan)
    }

    /// The file of a job.
    #[must_use]
    pub fn job(&self, key: &Key) -> PathBuf {
        self.0.join("jobs").join(format!("{key}.json"))
    }

    /// The file of a model.
    #[must_use]
    pub fn model(&self, key: &ModelKey) -> PathBuf {
        self.0.join("models").join(format!("{key}.json"))
    }

    /// The file that tells that a model was built.
    #[must_use]
    pub fn receipt(&self, key: &ModelKey) -> PathBuf {
        self.0.join("models").join(format!("{key}.done"))
    }

    /// The file of a result.
    #[must_use]
    pub fn result(&self, key: &Key) -> PathBuf {
        self.results().join(format!("{key}.json"))
    }

    /// The folder of the results.
    #[must_use]
    pub fn results(&self) -> PathBuf {
        self.0.join("results")
    }

    /// The folder of the page.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.0.join("report")
    }

    /// The results of `plan` in this folder, and in `others`, which are folders of results or of
    /// plans. What else lies there does not matter.
    ///
    /// # Errors
    /// A result is damaged or of another version, two of a job differ, or there is none at all.
    pub fn find(&self, plan: &Plan, others: &[PathBuf]) -> anyhow::Result<Found> {
        let mut folders = vec![self.results()];
        for other in others {
            let inner = other.join("results");
            let folder = if inner.is_dir() { inner } else { other.clone() };
            ensure!(folder.is_dir(), "{}: expected a folder with results", folder.display());
            folders.push(folder);
        }
        let (mut found, mut failed) = (Found::default(), false);
        for job in &plan.jobs {
            let key = &job.key;
            let mut known: Option<(PathBuf, ResultFile)> = None;
            let mut error = None;
            for folder in &folders {
                let path = folder.join(format!("{key}.json"));
                if !path.exists() {
                    error = error.or(read_error(folder, key)?);
                    continue;
                }
                let result = ResultFile::read(&path, key)?;
                if let Some((first, other)) = &known {
                    let (first, second) = (first.display(), path.display());
                    ensure!(result == *other, "{second}: differs from {first}; expected the same result");
                }
                known.get_or_insert((path, result));
            }
            match known {
                Some((_, result)) => {
                    found.results.insert(key.clone(), result);
                }
                None => {
                    failed |= error.is_some();
                    let reason = error.unwrap_or_else(|| "it has not run yet".to_string());
                    found.missing.insert(key.clone(), reason);
                }
            }
        }
        let names = || folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ");
        ensure!(
            failed || !found.results.is_empty(),
            "{}: no result of the plan's {} jobs; `hermes exp run` makes them",
            names(),
            plan.jobs.len()
        );
        Ok(found)
    }

    /// Whether the result of a job is there.
    ///
    /// # Errors
    /// It is, and is damaged.
    pub fn has(&self, key: &Key) -> anyhow::Result<bool> {
        let path = self.result(key);
        Ok(path.exists() && ResultFile::read(&path, key).map(|_| true)?)
    }

    /// Reads the file of a job of the plan.
    ///
    /// # Errors
    /// As [`JobFile::read`].
    pub fn read_job(&self, key: &Key) -> anyhow::Result<JobFile> {
        JobFile::read(&self.job(key))
    }
}

impl ErrorFile {
    /// Removes that of a job whose result is to be `result`, if an earlier try left one.
    ///
    /// # Errors
    /// Any of the file system but that there is none.
    pub fn remove(result: &Path) -> anyhow::Result<()> {
        let path = Self::path(result);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| path.display().to_string())
            }
            _ => Ok(()),
        }
    }

    /// Where it is of a job whose result is to be `result`.
    #[must_use]
    pub fn path(result: &Path) -> PathBuf {
        result.with_extension("error.json")
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_json(path, self)
    }
}

/// What of a run depends on time and machine; the page does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogFile {
    /// The git commit that `hermes` was built from, if it is known.
    pub commit: Option<String>,
    /// Wall-clock time of the simulation, with that of the model if it was not there.
    pub seconds: f64,
    /// Cycles simulated.
    pub simulated_cycles: u64,
}

impl LogFile {
    /// Where it is of a job whose result is `result`.
    #[must_use]
    pub fn path(result: &Path) -> PathBuf {
        result.with_extension("log.json")
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_json(path, self)
    }
}

fn read_error(folder: &Path, key: &Key) -> anyhow::Result<Option<String>> {
    let path = ErrorFile::path(&folder.join(format!("{key}.json")));
    Ok(if path.exists() { Some(read_json::<ErrorFile>(&path, "failed job")?.error) } else { None })
}
