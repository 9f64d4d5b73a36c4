//! Which jobs make which figures.

use std::collections::{BTreeMap, HashMap};

use anyhow::{bail, ensure, Context};
use hermes_rtl::config::Config;
use serde::{Deserialize, Serialize};

use crate::chains::ChainWork;
use crate::figures;
use crate::job::{Estimate, Job, JobFile, Key, FORMAT};
use crate::machine::Machine;
use crate::media::MediaRun;
use crate::model_file::{ModelFile, ModelKey};
use crate::nodes::{Nodes, NodesRun};
use crate::parameters::Parameters;
use crate::sweep::Axes;
use crate::workload::Program;

/// Most jobs of a plan.
pub const MOST_JOBS: usize = 100_000;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// 2,048 packets and few points: to see that all works. No steady state is claimed.
    Quick,
    /// As the papers' figures need it.
    Full,
}

/// A run that a figure wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What tells it from the others of the figure, by name.
    pub labels: BTreeMap<String, String>,
    /// What it simulates.
    pub parameters: Parameters,
}

/// An experiment of the papers.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Name on the command line; figures of the papers have the name of the paper before theirs.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub summary: &'static str,
    /// The runs that it wants.
    pub(crate) cells: fn(Scale) -> anyhow::Result<Vec<Cell>>,
    /// What it says on the page.
    pub(crate) section: fn(&figures::Results) -> anyhow::Result<crate::report::Section>,
}

/// A figure of a plan: its runs by the keys of their jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name of the experiment, or title of the sweep.
    pub name: String,
    /// What a sweep draws; none for experiments of the papers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axes: Option<Axes>,
    /// Its runs.
    pub cells: Vec<PlannedCell>,
}

/// A run of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCell {
    /// What tells it from the others of the figure.
    pub labels: BTreeMap<String, String>,
    /// Its job.
    pub key: Key,
}

/// A job of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedJob {
    /// Its name.
    pub key: Key,
    /// The model that it runs on.
    pub model: ModelKey,
    /// What it takes.
    pub estimate: Estimate,
}

/// What `plan.json` has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of the format.
    pub format: u32,
    /// How much is measured.
    pub scale: Scale,
    /// The figures of the page, in their order.
    pub figures: Vec<Figure>,
    /// The jobs, by key.
    pub jobs: Vec<PlannedJob>,
    /// The models, by key.
    pub models: Vec<ModelKey>,
}

/// Digests of what a job runs, and the most warps of a core.
#[derive(Clone)]
struct PlannedProgram {
    kernel: String,
    firmware: Option<String>,
    tables: String,
    most_warps: u32,
}

/// Makes jobs of parameters; what many jobs have in common is made once.
#[derive(Default)]
pub(crate) struct Planner {
    /// Models by the configuration of their array in JSON.
    models: HashMap<String, ModelFile>,
    /// Programs by what they depend on.
    programs: HashMap<String, PlannedProgram>,
    /// SHA-256 of kernel and firmware of workloads on several nodes, by what they are.
    loaded: HashMap<String, String>,
    /// Jobs by key.
    jobs: BTreeMap<Key, JobFile>,
}

impl Planner {
    fn model(&mut self, array: &Config) -> anyhow::Result<&ModelFile> {
        let name = serde_json::to_string(array)?;
        if !self.models.contains_key(&name) {
            self.models.insert(name.clone(), ModelFile::of(array)?);
        }
        self.models.get(&name).context("a model that was just made")
    }

    fn program(&mut self, parameters: &Parameters) -> anyhow::Result<PlannedProgram> {
        let Parameters { app, array, seed, prefixes, filters, pattern_rules, .. } = parameters;
        let Parameters { delay_target, media, machine, nodes, chain, .. } = parameters;
        let Config { aes, warps, .. } = array;
        let name = format!(
            "{app} {aes} {warps} {seed} {prefixes} {filters} {pattern_rules} {delay_target} {media:?} {machine:?} {nodes:?}"
        );
        if let Some(known) = self.programs.get(&name) {
            return Ok(known.clone());
        }
        let of_workload = match (media, nodes, chain) {
            _ if machine.is_some() => machine.map(Machine::digests).transpose()?,
            (Some(media), ..) => Some(MediaRun::create(*media, *seed)?.digests),
            (None, Some(nodes), _) => Some([self.loaded(nodes)?, nodes.delays_digest()?]),
            // Its kernels lie where there is room beside the others.
            (None, None, Some(chain)) => {
                let name = format!("{name} {:?} {:?} {}", chain.functions, chain.behind, parameters.frames);
                let made = self.programs.get(&name).map(|made| [made.kernel.clone(), made.tables.clone()]);
                let digests = match made {
                    Some(digests) => digests,
                    None => {
                        ChainWork::create(&Parameters { packets: 32, ..parameters.clone() }, chain)?.digests
                    }
                };
                let [kernel, tables] = digests;
                let made = PlannedProgram { kernel, firmware: None, tables, most_warps: u32::MAX };
                self.programs.insert(name, made.clone());
                return Ok(made);
            }
            (None, None, None) => None,
        };
        if let Some([kernel, tables]) = of_workload {
            let made = PlannedProgram { kernel, firmware: None, tables, most_warps: u32::MAX };
            self.programs.insert(name, made.clone());
            return Ok(made);
        }
        let program = Program::create(parameters)?;
        let most = program.most_warps(array.warps);
        let firmware = program.firmware.map(|(_, digest)| digest);
        let (kernel, tables) = (program.kernel_digest, program.tables_digest);
        let made = PlannedProgram { kernel, firmware, tables, most_warps: most };
        self.programs.insert(name, made.clone());
        Ok(made)
    }

    /// The job of `parameters`; none if the registers of the kernel do not allow so many warps.
    fn job(&mut self, parameters: &Parameters) -> anyhow::Result<Option<Key>> {
        parameters.validate()?;
        let PlannedProgram { kernel, firmware, tables, most_warps } = self.program(parameters)?;
        if parameters.mcw > most_warps {
            return Ok(None);
        }
        let model = self.model(&parameters.array)?;
        let job = Job {
            format: FORMAT,
            verilog: model.verilog.clone(),
            kernel,
            firmware,
            tables,
            parameters: parameters.clone(),
        };
        let (key, model) = (job.key()?, model.key());
        let estimate = Estimate::of(parameters)?;
        ensure!(self.jobs.len() < MOST_JOBS, "more than {MOST_JOBS} jobs; expected fewer values");
        self.jobs.insert(key.clone(), JobFile { key: key.clone(), model, estimate, job });
        Ok(Some(key))
    }

    /// SHA-256 of the programs of a workload on several nodes; each is built once.
    fn loaded(&mut self, nodes: &Nodes) -> anyhow::Result<String> {
        let program = nodes.program();
        if let Some(known) = self.loaded.get(&program) {
            return Ok(known.clone());
        }
        let [made, _] = NodesRun::create(nodes)?.digests;
        self.loaded.insert(program, made.clone());
        Ok(made)
    }

    /// A figure of `cells`. A cell with more warps than the registers of its kernel allow is left
    /// out of a figure of the papers, and an error in a sweep, which has `axes`.
    pub(crate) fn figure(
        &mut self,
        name: &str,
        axes: Option<Axes>,
        cells: Vec<Cell>,
    ) -> anyhow::Result<Figure> {
        let mut planned = Vec::new();
        for Cell { labels, parameters } in cells {
            let key = self.job(&parameters).with_context(|| format!("{name}: {labels:?}"))?;
            let Parameters { app, mcw, .. } = &parameters;
            let fits = key.is_some() || axes.is_none();
            ensure!(fits, "{name}: mcw {mcw}: expected fewer warps, as the registers of {app} allow");
            planned.extend(key.map(|key| PlannedCell { labels, key }));
        }
        ensure!(!planned.is_empty(), "{name}: no run is left; expected an MCW that its kernels allow");
        Ok(Figure { name: name.to_string(), axes, cells: planned })
    }

    /// The plan of `figures`, with all jobs and models.
    pub(crate) fn plan(self, scale: Scale, figures: Vec<Figure>) -> Planned {
        let jobs = self.jobs.values().map(|file| PlannedJob {
            key: file.key.clone(),
            model: file.model.clone(),
            estimate: file.estimate,
        });
        // Arrays may differ in what is no hardware: the name of their preset.
        let mut models: Vec<_> = self.models.into_values().collect();
        models.sort_by_key(|model| (model.key(), model.array.preset.clone()));
        models.dedup_by_key(|model| model.key());
        let names = models.iter().map(ModelFile::key).collect();
        Planned {
            plan: Plan { format: FORMAT, scale, figures, jobs: jobs.collect(), models: names },
            jobs: self.jobs.into_values().collect(),
            models,
        }
    }
}

/// A plan with the files of its jobs and models.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The files of the jobs.
    pub jobs: Vec<JobFile>,
    /// The files of the models.
    pub models: Vec<ModelFile>,
}

impl Planned {
    /// A figure of an experiment, with runs of the caller's.
    ///
    /// # Errors
    /// A kernel cannot be built, or a run is not possible.
    pub fn of_cells(name: &str, scale: Scale, cells: Vec<Cell>) -> anyhow::Result<Self> {
        Self::of_figure(name, None, scale, cells)
    }

    /// Runs of the caller's, drawn as a sweep is: the figures `y` against the label `x`.
    ///
    /// # Errors
    /// As [`Self::of_cells`].
    pub fn of_runs(title: &str, x: &str, y: &[&str], cells: Vec<Cell>) -> anyhow::Result<Self> {
        let axes = Axes { x: x.to_string(), y: y.iter().map(|name| (*name).to_string()).collect() };
        Self::of_figure(title, Some(axes), Scale::Full, cells)
    }

    /// A plan of one figure.
    pub(crate) fn of_figure(
        name: &str,
        axes: Option<Axes>,
        scale: Scale,
        cells: Vec<Cell>,
    ) -> anyhow::Result<Self> {
        let mut planner = Planner::default();
        let figure = planner.figure(name, axes, cells)?;
        Ok(planner.plan(scale, vec![figure]))
    }

    /// The experiments called `names`; `all` are all but those of the other papers, which
    /// `pangaea`, `compnet` and `gnet` are.
    ///
    /// # Errors
    /// A name is not known, or a kernel cannot be built.
    pub fn of(names: &[String], scale: Scale) -> anyhow::Result<Self> {
        let mut chosen: Vec<&Experiment> = Vec::new();
        for name in names {
            let found: Vec<_> = match name.as_str() {
                "all" => figures::ALL.iter().collect(),
                "compnet" => figures::COMPNET.iter().collect(),
                "pangaea" => figures::PANGAEA.iter().collect(),
                "gnet" => figures::GNET.iter().collect(),
                _ => figures::every().filter(|one| name == one.name).collect(),
            };
            if found.is_empty() {
                let known: Vec<_> = figures::every().map(|one| one.name).collect();
                bail!(
                    "experiment `{name}`: not known; expected all, pangaea, compnet, gnet or one of {}",
                    known.join(", ")
                );
            }
            chosen.extend(found);
        }
        // On the page they stand in the order of the papers, once each.
        let is_chosen = |one: &&Experiment| chosen.iter().any(|chosen| chosen.name == one.name);
        let mut planner = Planner::default();
        let mut planned = Vec::new();
        for experiment in figures::every().filter(is_chosen) {
            planned.push(planner.figure(experiment.name, None, (experiment.cells)(scale)?)?);
        }
        Ok(planner.plan(scale, planned))
    }
}
