//! `hermes model`: delays that are to be expected of an array, from a few runs of it.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Context as _};
use hermes_experiments::prediction::{
    candidates, check_known, held_out, luts_of_core, most_warps, open_cells, pareto_front, saturated_cells,
    throughput, Calibration, Candidate, Model, Prediction, Space, Target,
};
use hermes_experiments::{Cell, Folder, Parameters, Plan, Planned, Scale};
use hermes_rtl::config::Config;
use hermes_testbench::input;
use hermes_testbench::output::OutputFile;

use crate::exp;
use crate::files::Files;
use crate::print;

/// Name of the experiment on whose page calibrations and held-out runs are.
const EXPERIMENT: &str = "model";
/// Name of the file of a calibration.
const FILE: &str = "calibration.json";
/// Most bytes of a file of figures.
const MOST_BYTES: u64 = 1 << 20;
/// Fields in which calibrations of a search may differ: runs, and what has a cost.
const WITH_COST: [&str; 6] = ["mcw", "packets", "arrivals", "array.preset", "array.cores", "array.lanes"];
/// Packets of a held-out run.
const PACKETS: usize = 16_384;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Run an app with all slots busy, at three loads and in a burst, and fit the model to that
    Calibrate(Box<CalibrateArgs>),
    /// Predict the delays of a run
    Predict(PredictArgs),
    /// Draw runs by a seed, simulate them, and tell how far predictions are from them
    Check(CheckArgs),
    /// Find the arrays that deal with a rate within a delay, and run the best of them
    Search(SearchArgs),
}

#[derive(clap::Args)]
pub struct CalibrateArgs {
    /// App, as `hermes apps` lists them
    #[arg(long, value_name = "NAME")]
    app: String,
    /// Preset that the array starts from; `paper` with two channels unless given
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A parameter, as a sweep names it (docs/experiments.md): `array.cores=4`, `memory=60`; may be
    /// given several times
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Runs of 2,048 packets, to see that all works
    #[arg(long)]
    quick: bool,
    /// Folder of the runs; `calibration.json` there has what is known
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Simulations at a time; as many as processors unless given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

#[derive(clap::Args)]
pub struct PredictArgs {
    /// Folder of a calibration
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// When packets arrive, as `hermes run --arrivals` has it
    #[arg(long, value_name = "SPEC")]
    arrivals: String,
    /// A parameter, as a sweep names it: `mcw=8`, `packets=4096`; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// File for the prediction as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(clap::Args)]
pub struct CheckArgs {
    /// Folder of a calibration; the runs and the page go there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// What draws the runs
    #[arg(long, value_name = "N")]
    seed: u64,
    /// Runs
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    runs: u16,
    /// Packets of a run
    #[arg(long, value_name = "N", default_value_t = PACKETS as u32, value_parser = clap::value_parser!(u32).range(256..=1_048_576))]
    packets: u32,
    /// Simulations at a time; as many as processors unless given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

#[derive(clap::Args)]
pub struct SearchArgs {
    /// Folders of calibrations of one app, such as those of arrays with other lanes or channels
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Million packets a second that arrive
    #[arg(long, value_name = "MPPS")]
    throughput: f64,
    /// The p99 of the delay in cycles, at most
    #[arg(long, value_name = "CYCLES")]
    delay_p99: f64,
    /// When packets arrive: `constant` or `poisson`
    #[arg(long, value_name = "WORD", default_value = "poisson")]
    arrivals: String,
    /// Most cores
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=32))]
    cores: u16,
    /// Figures of `hermes bench cost --json`, whose LUTs are the cost of a core; its lanes are
    /// unless given
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Run so many of the cheapest on the hardware, with predictions beside; needs `-o`
    #[arg(long, value_name = "N", default_value_t = 0, requires = "output")]
    run: usize,
    /// Folder of these runs
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Simulations at a time; as many as processors unless given
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl Command {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let files = Files::default();
        match self {
            Self::Calibrate(args) => files.folder("-o", Some(&args.output)),
            Self::Predict(args) => files
                .input("model predict", Some(&args.folder.join(FILE)))
                .output("--json", args.json.as_deref()),
            Self::Check(args) => files
                .input("model check", Some(&args.folder.join(FILE)))
                .folder("model check", Some(&args.folder)),
            Self::Search(args) => {
                files.input("--costs", args.costs.as_deref()).folder("-o", args.output.as_deref())
            }
        }
    }
}

pub fn execute(command: &Command, quiet: bool) -> anyhow::Result<()> {
    match command {
        Command::Calibrate(args) => calibrate(args, quiet),
        Command::Predict(args) => predict(args),
        Command::Check(args) => check(args, quiet),
        Command::Search(args) => search(args, quiet),
    }
}

/// `base` with what `--set` says.
fn with(base: Parameters, texts: &[String]) -> anyhow::Result<Parameters> {
    texts.iter().try_fold(base, |parameters, text| parameters.with_text(text).context("--set"))
}

fn calibrate(args: &CalibrateArgs, quiet: bool) -> anyhow::Result<()> {
    let scale = if args.quick { Scale::Quick } else { Scale::Full };
    let mut base = Parameters::of(&args.app)?;
    if let Some(preset) = &args.preset {
        base.array = Config::preset(preset).context("--preset")?;
    }
    for name in ["app", "mcw", "packets", "arrivals"] {
        let is_set = args.set.iter().any(|text| text.split('=').next() == Some(name));
        ensure!(!is_set, "--set {name}: expected another parameter; a calibration has its own runs of --app");
    }
    let mut base = with(base, &args.set)?;
    base.mcw = base.mcw.min(base.array.warps as u32);
    base.validate()?;
    check_known(&base)?;
    let most = most_warps(&base)?;
    let folder = Folder::new(&args.output);
    let path = args.output.join(FILE);
    // What is known of other runs does not stay beside these.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| path.display().to_string());
        }
        _ => {}
    }
    let mut cells = saturated_cells(&base, most, scale);
    // Loads of open runs are told by what the array does at best.
    let plan = write(&folder, scale, &cells)?;
    run(&folder, &plan, args.jobs, quiet)?;
    let found = folder.find(&plan, &[])?;
    cells.extend(open_cells(&base, most, throughput(found.results.values())?, scale)?);
    let plan = write(&folder, scale, &cells)?;
    run(&folder, &plan, args.jobs, quiet)?;
    let model = Model::of(calibration_of(&folder, &plan)?)?;
    let calibration = model.calibration();
    calibration.write(&path)?;
    let rates: Vec<_> = calibration
        .saturated
        .iter()
        .map(|run| format!("{:.0} at MCW {}", run.computing_rate, run.mcw))
        .collect();
    print::line(format_args!(
        "{}: {} at {:.1} million packets a second; cycles between two warps of a core: {}",
        path.display(),
        args.app,
        calibration.throughput(),
        rates.join(", ")
    ))
}

fn write(folder: &Folder, scale: Scale, cells: &[Cell]) -> anyhow::Result<Plan> {
    let planned = Planned::of_cells(EXPERIMENT, scale, cells.to_vec())?;
    folder.write(&planned)?;
    Ok(planned.plan)
}

fn run(folder: &Folder, plan: &Plan, jobs: Option<u16>, quiet: bool) -> anyhow::Result<()> {
    let failed = exp::run_jobs(folder, plan, jobs, quiet)?;
    ensure!(failed == 0, "{failed} jobs failed; results/KEY.error.json say why");
    Ok(())
}

fn calibration_of(folder: &Folder, plan: &Plan) -> anyhow::Result<Calibration> {
    let found = folder.find(plan, &[])?;
    let cells = plan.figures.iter().flat_map(|figure| &figure.cells);
    Calibration::of(cells.filter_map(|cell| Some((&cell.labels, found.results.get(&cell.key)?))))
}

/// The calibration in a folder, with the model fitted to it.
fn read(folder: &Path) -> anyhow::Result<Model> {
    let path = folder.join(FILE);
    Model::of(Calibration::read(&path)?).with_context(|| path.display().to_string())
}

fn predict(args: &PredictArgs) -> anyhow::Result<()> {
    let model = read(&args.folder)?;
    let base = Parameters { arrivals: args.arrivals.clone(), ..model.calibration().parameters.clone() };
    let parameters = with(base, &args.set)?;
    parameters.validate()?;
    let prediction = model.predict(&parameters)?;
    if let Some(path) = &args.json {
        let mut file = OutputFile::create(path)?;
        file.write_json(&as_json(&parameters, &prediction))?;
        file.commit()?;
    }
    let Prediction { load, ours, equations } = prediction;
    let equations = equations.map_or("-".to_string(), |cycles| format!("{cycles:.0}"));
    let lines = [
        format!("{:<34}{}, {}", "MCW, packets", parameters.mcw, parameters.packets),
        format!("{:<34}{:.1} % of what this MCW can do", "load", 100.0 * load),
        format!(
            "{:<34}{:.1} million packets/s",
            "at the best MCW the array can do",
            model.calibration().throughput()
        ),
        format!("{:<34}{:.0}", "mean delay, cycles", ours.mean),
        format!("{:<34}{:.0}", "  until the warp starts", ours.forming_and_issue),
        format!("{:<34}{:.0}", "  on a core", ours.execution),
        format!("{:<34}{:.0}", "  in the delay commit queue", ours.commit_queue),
        format!("{:<34}{:.0}, {:.0}, {:.0}", "p50, p99, interquartile range", ours.p50, ours.p99, ours.iqr),
        format!("{:<34}{equations}", "mean by the paper's equations"),
    ];
    print::line(lines.join("\n"))
}

fn as_json(parameters: &Parameters, prediction: &Prediction) -> serde_json::Value {
    let Prediction { load, ours, equations } = prediction;
    serde_json::json!({
        "parameters": parameters,
        "load": load,
        "mean": ours.mean,
        "p50": ours.p50,
        "p99": ours.p99,
        "iqr": ours.iqr,
        "forming_and_issue": ours.forming_and_issue,
        "execution": ours.execution,
        "commit_queue": ours.commit_queue,
        "equations": equations,
    })
}

fn check(args: &CheckArgs, quiet: bool) -> anyhow::Result<()> {
    let model = read(&args.folder)?;
    let calibration = model.calibration();
    let folder = Folder::new(&args.folder);
    let old = folder.plan()?;
    let base = &calibration.parameters;
    let most = calibration.most_warps();
    let (runs, packets) = (usize::from(args.runs), args.packets as usize);
    // The calibration stays in the plan: the page predicts from its runs.
    let mut cells = Vec::new();
    for cell in old.figures.iter().flat_map(|figure| &figure.cells) {
        if cell.labels.contains_key("calibration") {
            let parameters = folder.read_job(&cell.key)?.job.parameters;
            cells.push(Cell { labels: cell.labels.clone(), parameters });
        }
    }
    cells.extend(held_out(base, most, calibration.throughput(), args.seed, runs, packets)?);
    let plan = write(&folder, old.scale, &cells)?;
    run(&folder, &plan, args.jobs, quiet)?;
    // As it would be read: the last digit of a number may differ.
    let made = serde_json::to_string(&calibration_of(&folder, &plan)?)?;
    let made: Calibration = serde_json::from_str(&made)?;
    let path = args.folder.join(FILE);
    ensure!(
        made == *calibration,
        "{}: differs from the runs beside it; expected that of the same hardware and kernel: calibrate again",
        path.display()
    );
    print::line(exp::sentences(&folder, &plan)?.join("\n"))?;
    exp::report(&folder, &[], None)
}

fn search(args: &SearchArgs, quiet: bool) -> anyhow::Result<()> {
    let figure = |name: &str, value: f64| {
        ensure!(value.is_finite() && value > 0.0, "{name} {value}: expected a number above 0");
        Ok(())
    };
    figure("--throughput", args.throughput)?;
    figure("--delay-p99", args.delay_p99)?;
    let costs = args.costs.as_deref().map(read_costs).transpose()?;
    let target = Target {
        mpps: args.throughput,
        delay_p99: args.delay_p99,
        arrivals: args.arrivals.clone(),
        packets: PACKETS,
    };
    let (mut found, mut first) = (Vec::new(), None);
    for path in &args.folders {
        ensure!(
            args.output.as_ref() != Some(path),
            "-o {}: is a calibration; expected another folder",
            path.display()
        );
        let model = read(path)?;
        let known = &model.calibration().parameters;
        let first = first.get_or_insert_with(|| known.clone());
        first
            .same_but_for(known, &WITH_COST, "as in the first folder")
            .with_context(|| path.display().to_string())?;
        let lanes = known.array.lanes;
        let cost = match (&costs, &args.costs) {
            (Some(costs), Some(file)) => {
                luts_of_core(costs, lanes).with_context(|| file.display().to_string())?
            }
            _ => lanes as f64,
        };
        let space = Space { cores: usize::from(args.cores) };
        let all = candidates(&model, &target, space, cost).context("--throughput")?;
        if !quiet && all.is_empty() {
            let channels = known.array.channels;
            print::note(format_args!("{}: {channels} channels carry fewer lines than that", path.display()));
        }
        found.extend(all);
    }
    let front = pareto_front(&found);
    let unit = if costs.is_some() { "LUTs" } else { "lanes" };
    let text = |one: &Candidate| {
        let Candidate { parameters, cost, prediction, p99: _, is_enough: _ } = one;
        let array = &parameters.array;
        format!(
            "{:>5} cores {:>3} lanes {:>2} channels  MCW {:>2}  {cost:>9.0} {unit}  load {:>5.1} %  mean {:>7.0}  p99 {:>7.0}",
            array.cores,
            array.lanes,
            array.channels,
            parameters.mcw,
            100.0 * prediction.load,
            prediction.ours.mean,
            one.p99
        )
    };
    let enough = found.iter().filter(|one| one.is_enough).count();
    ensure!(
        !front.is_empty(),
        "no array meets the target, of {} with their MCWs; expected more cores or channels, less throughput or a longer delay",
        found.len()
    );
    print::line(format_args!(
        "{} arrays with their MCWs, {enough} of them meet the target; those that none other beats, with the margin of each \
         calibration in the p99:",
        found.len()
    ))?;
    for one in &front {
        print::line(text(one))?;
    }
    match &args.output {
        Some(output) if args.run > 0 => {
            measure(&front[..args.run.min(front.len())], &target, output, args.jobs, quiet)
        }
        _ => Ok(()),
    }
}

/// Runs candidates on the hardware; tells what was predicted beside what is measured.
fn measure(
    chosen: &[&Candidate],
    target: &Target,
    output: &Path,
    jobs: Option<u16>,
    quiet: bool,
) -> anyhow::Result<()> {
    let folder = Folder::new(output);
    let cells = chosen.iter().enumerate().map(|(number, one)| Cell {
        labels: [("candidate".to_string(), number.to_string())].into(),
        parameters: one.parameters.clone(),
    });
    let planned =
        Planned::of_runs("Candidates", "candidate", &["mpps", "delay_mean", "delay_p99"], cells.collect())?;
    folder.write(&planned)?;
    let plan = planned.plan;
    run(&folder, &plan, jobs, quiet)?;
    let found = folder.find(&plan, &[])?;
    let cells = plan.figures.iter().flat_map(|figure| &figure.cells);
    for (cell, one) in cells.zip(chosen) {
        let result = found.results.get(&cell.key).context("a result of the plan")?;
        let delays = result.measured.delays.as_ref().context("a run with arrivals")?;
        let array = &one.parameters.array;
        let met = if delays.delay.p99 as f64 <= target.delay_p99 { "met" } else { "missed" };
        print::line(format_args!(
            "{} cores, {} lanes, MCW {}: target {met}: p99 {} (predicted {:.0}), mean {:.0} ({:.0}), {:.1} Mpps delivered",
            array.cores,
            array.lanes,
            one.parameters.mcw,
            delays.delay.p99,
            one.p99,
            delays.delay.mean,
            one.prediction.ours.mean,
            result.measured.whole.mpps()
        ))?;
    }
    exp::report(&folder, &[], None)
}

fn read_costs(path: &Path) -> anyhow::Result<serde_json::Value> {
    let bytes = input::read(path, MOST_BYTES).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&bytes)
        .with_context(|| format!("{}: expected JSON of `hermes bench cost`", path.display()))
}
