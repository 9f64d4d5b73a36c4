//! `hermes exp` and `hermes sweep`: plans of simulations, the simulations, and the page of them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{bail, ensure, Context};
use hermes_experiments::{
    figures, write_report, ErrorFile, Figure, Folder, JobFile, LogFile, ModelFile, Plan, Planned, Pool,
    Scale, Step, Summary, Sweep,
};
use hermes_testbench::output::{self, OutputFile};
use verilator_sys::ModelLibrary;

use crate::files::Files;
use crate::origin;
use crate::print;

#[derive(clap::Subcommand)]
pub enum Command {
    /// List the experiments
    List,
    /// Make a plan of experiments: a folder with a file for each simulation, and a Snakefile
    Plan(PlanArgs),
    /// Build the model of a file of a plan into the cache
    Model(ModelArgs),
    /// Simulate the job of a file of a plan
    Job(JobArgs),
    /// Run the jobs of a plan that have no results yet, and write the page
    Run(RunArgs),
    /// Write the page from the results of a plan
    Report(ReportArgs),
}

#[derive(clap::Args)]
pub struct PlanArgs {
    /// Experiments, as `hermes exp list` has them; `all` but those of the other papers, which
    /// `pangaea`, `compnet` and `gnet` are
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Runs of 2,048 packets and few points, to see that all works
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Runs as long as the figures need them (the default)
    #[arg(long)]
    full: bool,
    /// Folder of the plan; results that it has stay
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(clap::Args)]
pub struct ModelArgs {
    /// Its file in the plan
    #[arg(value_name = "models/MODEL.json")]
    file: PathBuf,
    /// File that is written once the model is built
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct JobArgs {
    /// Its file in the plan
    #[arg(value_name = "jobs/KEY.json")]
    file: PathBuf,
    /// File of the result. Beside it KEY.log.json has times and speed, KEY.error.json why it failed
    #[arg(short, long, value_name = "results/KEY.json")]
    output: PathBuf,
}

#[derive(clap::Args)]
pub struct RunArgs {
    /// Folder of the plan
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Simulations at a time; as many as processors unless given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

#[derive(clap::Args)]
pub struct ReportArgs {
    /// Folder of the plan
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder of the page, instead of DIR/report
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Folder with more results of the same jobs, such as those of another machine; may be given
    /// several times
    #[arg(long, value_name = "DIR")]
    results: Vec<PathBuf>,
}

#[derive(clap::Args)]
pub struct SweepArgs {
    /// Parameters and their values (docs/experiments.md)
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Folder of the plan; `hermes exp run` runs it
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

impl Command {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let files = Files::default();
        match self {
            Self::List => files,
            Self::Plan(args) => files.folder("-o", Some(&args.output)),
            Self::Model(args) => {
                files.input("exp model", Some(&args.file)).output("-o", args.output.as_deref())
            }
            Self::Job(args) => files
                .input("exp job", Some(&args.file))
                .output("-o", Some(&args.output))
                .file("-o", Some(&args.output)),
            Self::Run(args) => files.folder("exp run", Some(&args.folder)),
            Self::Report(args) => files.folder("-o", args.output.as_deref()),
        }
    }
}

impl SweepArgs {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().input("sweep", Some(&self.file)).folder("-o", Some(&self.output))
    }
}

pub fn execute(command: &Command, quiet: bool) -> anyhow::Result<()> {
    match command {
        Command::List => {
            let width = figures::every().map(|one| one.name.len()).max().unwrap_or(0);
            let rows = figures::every().map(|one| format!("{:<width$} {}", one.name, one.summary));
            print::line(rows.collect::<Vec<_>>().join("\n"))
        }
        Command::Plan(args) => {
            let scale = if args.quick { Scale::Quick } else { Scale::Full };
            write_plan(&Planned::of(&args.names, scale)?, &args.output)
        }
        Command::Model(args) => {
            let model = ModelFile::read(&args.file)?;
            build(&model, quiet).with_context(|| args.file.display().to_string())?;
            let receipt = format!("{}\n", model.verilog);
            Ok(args.output.as_deref().map_or(Ok(()), |path| output::write(path, receipt.as_bytes()))?)
        }
        Command::Job(args) => job(args, quiet),
        Command::Run(args) => run(args, quiet),
        Command::Report(args) => {
            let folder = Folder::new(&args.folder);
            report(&folder, &args.results, args.output.as_deref())
        }
    }
}

pub fn sweep(args: &SweepArgs) -> anyhow::Result<()> {
    write_plan(&Sweep::read(&args.file)?.plan()?, &args.output)
}

fn write_plan(planned: &Planned, path: &Path) -> anyhow::Result<()> {
    Folder::new(path).write(planned)?;
    let (jobs, models) = (planned.jobs.len(), planned.models.len());
    let cycles: u64 = planned.jobs.iter().map(|job| job.estimate.cycles).sum();
    let path = path.display();
    print::line(format_args!(
        "{path}: {jobs} jobs on {models} models, about {:.1} million cycles; `hermes exp run {path}` runs them",
        cycles as f64 / 1e6
    ))
}

fn build(model: &ModelFile, quiet: bool) -> anyhow::Result<ModelLibrary> {
    let spinner = print::spinner(quiet);
    let library = model.build(&mut |step| spinner.set_message(step.to_string()));
    spinner.finish_and_clear();
    library
}

/// Runs a job. What makes it fail is kept beside where its result would be.
fn job(args: &JobArgs, quiet: bool) -> anyhow::Result<()> {
    match simulate(args, quiet) {
        Ok(()) => ErrorFile::remove(&args.output),
        // Nothing is wrong with a job that was interrupted.
        Err(error) if hermes_interrupt::is_requested() => Err(error),
        Err(error) => {
            // The folder may be what is wrong; the error is told either way. The page shows it, and
            // does not depend on where it was made.
            let text = format!("{error:#}").replace(&format!("{}: ", args.file.display()), "");
            let _ = ErrorFile { error: text }.write(&ErrorFile::path(&args.output));
            Err(error)
        }
    }
}

fn simulate(args: &JobArgs, quiet: bool) -> anyhow::Result<()> {
    let file = JobFile::read(&args.file)?;
    // A folder that is not there is told before an hour of simulation.
    let mut output = OutputFile::create(&args.output)?;
    let began = Instant::now();
    let named = || args.file.display().to_string();
    let library = build(&file.model_file(), quiet).with_context(named)?;
    let bar = print::progress(file.job.parameters.packets as u64, quiet);
    let done = hermes_experiments::execute(&file, &library, &mut |at| bar.set_position(at.committed));
    bar.finish_and_clear();
    let (result, simulated_cycles) = done.with_context(named)?;
    output.write_json(&result)?;
    output.commit()?;
    LogFile {
        commit: origin::commit().map(str::to_string),
        seconds: began.elapsed().as_secs_f64(),
        simulated_cycles,
    }
    .write(&LogFile::path(&args.output))
}

/// Runs the jobs of `plan` that have no results in `folder` yet, `jobs` at a time; gives how many
/// failed.
pub fn run_jobs(folder: &Folder, plan: &Plan, jobs: Option<u16>, quiet: bool) -> anyhow::Result<usize> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let pool = Pool {
        command: std::env::current_exe().context("the hermes command")?,
        processes: jobs.map_or(processors, usize::from),
    };
    let bar = print::progress(0, quiet);
    if let Some(style) = print::cycles_style() {
        bar.set_style(style);
    }
    let failed = pool.run(folder, plan, &mut |step| match step {
        Step::Begin { jobs, done, cycles } => {
            bar.set_length(cycles);
            if !quiet {
                print::note(format_args!("{jobs} jobs to run, {done} have their results"));
            }
        }
        Step::Model(model) => bar.set_message(format!("building model {model}")),
        Step::Job { key, cycles, failed } => {
            bar.inc(cycles);
            bar.set_message("");
            if failed {
                bar.suspend(|| print::note(format_args!("job {key} failed")));
            }
        }
    });
    bar.finish_and_clear();
    failed
}

/// What the figures of a plan say of the results in its folder, a sentence each.
pub fn sentences(folder: &Folder, plan: &Plan) -> anyhow::Result<Vec<String>> {
    let found = folder.find(plan, &[])?;
    let text = |figure: &Figure| Ok(figures::section_of(figure, plan.scale, &found)?.sentence);
    plan.figures.iter().map(text).collect()
}

fn run(args: &RunArgs, quiet: bool) -> anyhow::Result<()> {
    let folder = Folder::new(&args.folder);
    let failed = run_jobs(&folder, &folder.plan()?, args.jobs, quiet)?;
    let told = || format!("{failed} jobs failed; results/KEY.error.json say why");
    match report(&folder, &[], None) {
        Err(error) if failed > 0 => Err(error.context(told())),
        other => {
            ensure!(failed == 0, told());
            other
        }
    }
}

/// Writes the page of the plan in `folder`.
pub fn report(folder: &Folder, others: &[PathBuf], output: Option<&Path>) -> anyhow::Result<()> {
    let output = output.map_or_else(|| folder.report(), Path::to_path_buf);
    let Summary { jobs, missing, plots } = write_report(folder, others, &output)?;
    let page = output.join("index.html");
    print::line(format_args!("{}: {plots} plots of {} of {jobs} results", page.display(), jobs - missing))?;
    if missing > 0 {
        bail!("{missing} of {jobs} results are missing; the page names them");
    }
    Ok(())
}
