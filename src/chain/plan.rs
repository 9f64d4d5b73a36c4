//! `hermes chain plan`

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::chain::profile::{Form, Profile};
use hermes_testbench::chain::schedule::feedback::{excess, Stayed};
use hermes_testbench::chain::schedule::{split, Demand, Infeasible, Share, Split};
use hermes_testbench::chain::{limit_for, Chain, Surroundings};
use hermes_testbench::cosim::Latency;
use hermes_testbench::input;
use hermes_testbench::metrics::Clock;
use hermes_testbench::output::OutputFile;
use hermes_testbench::traffic;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::profiles::{self, frames, reaching, Measurer, ProfileArgs};
use super::{each_on_its_line, ChainArg};
use crate::array::ArrayArgs;
use crate::files::Files;
use crate::origin::Origin;
use crate::print;
use crate::run::memory_timing::MemoryArgs;
use crate::run::MEMORY_BYTES;

/// Most bytes of the file of a split.
const MOST_BYTES: u64 = 1 << 20;
/// Most bytes of the report of a run.
const MOST_REPORT_BYTES: u64 = 64 << 20;
/// Part by which the packets of a run may be longer or shorter than those of the plan.
const MOST_OFF: f64 = 0.1;
/// Fields of a configuration that do not say how fast a function is.
const FREE_FIELDS: [&str; 4] = ["preset", "network_functions", "function_branches", "packet_ports"];

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    chain: ChainArg,
    /// Profiles of functions, of `hermes nf bench --json`; may be given several times. The others
    /// come from the cache, or are measured
    #[arg(long, value_name = "FILE")]
    profile: Vec<PathBuf>,
    /// Capture whose packets the functions are measured with, instead of packets that are made
    #[arg(long, value_name = "IN", conflicts_with = "bytes")]
    pcap: Option<PathBuf>,
    /// Bytes of the frames that are made, without FCS
    #[arg(long, value_name = "N", default_value_t = 508, value_parser = clap::value_parser!(u16).range(60..=9000))]
    bytes: u16,
    /// Millions of packets a second that the chain must carry
    #[arg(long, value_name = "MPPS", value_parser = rate)]
    rate: Option<f64>,
    /// Report of a run of the chain, of `hermes chain run --json`: what it shows of the functions
    /// beyond their profiles is taken into account
    #[arg(long, value_name = "REPORT.json")]
    feedback: Option<PathBuf>,
    /// What is taken for the cost between measured points: lines between them, or the line of the
    /// paper
    #[arg(long, value_enum, value_name = "interpolated|linear", default_value = "interpolated")]
    model: Model,
    /// Clock of the array that the rates are for
    #[arg(long, value_name = "MHZ", default_value = "1000", help_heading = "Surroundings")]
    clock: Clock,
    #[command(flatten)]
    memory: MemoryArgs,
    /// Write the split as JSON, for `hermes chain run --plan`
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    measurement: ProfileArgs,
    #[command(flatten)]
    array: ArrayArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Model {
    Interpolated,
    Linear,
}

fn rate(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number")?;
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err("expected a number above 0".into())
    }
}

/// A function of a split.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedFunction {
    /// Its name.
    pub name: String,
    /// Its cores.
    pub cores: usize,
    /// Most warps of it on a core.
    pub mcw: u32,
    /// Part of the warps that reach it.
    visits: f64,
    /// Core-cycles a packet that its profile has, at its knee on one core.
    core_cycles_per_packet: f64,
    /// Millions of packets of the chain a second that it would carry.
    mpps: f64,
    /// What it costs, for `chain run --adapt`.
    #[serde(default)]
    demand: Option<Demand>,
}

/// A split of the cores.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanReport {
    /// The functions, in the order of the visits.
    pub functions: Vec<PlannedFunction>,
    /// Most warps in flight: CHAIN_LIMIT.
    pub limit: u32,
    /// Packets a cycle that are expected.
    packets_per_cycle: f64,
    /// Millions of packets a second.
    mpps: f64,
    /// Gbit/s of the frames that come in, without FCS.
    gbps: f64,
    /// The clock.
    clock_mhz: String,
}

impl PlanReport {
    /// Reads what `hermes chain plan --json` wrote, for a chain of functions with these names.
    pub fn read<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> anyhow::Result<Self> {
        let named = || path.display().to_string();
        let bytes = input::read(path, MOST_BYTES).with_context(named)?;
        let plan: Self = serde_json::from_slice(&bytes)
            .with_context(|| format!("{}: expected a split of `hermes chain plan --json`", named()))?;
        let expected: Vec<_> = names.collect();
        let found: Vec<_> = plan.functions.iter().map(|function| function.name.as_str()).collect();
        ensure!(
            found == expected,
            "{}: functions: {}; expected {}, those of the chain",
            named(),
            found.join(", "),
            expected.join(", ")
        );
        for PlannedFunction { name, cores, mcw, .. } in &plan.functions {
            ensure!(
                *cores > 0 && *mcw > 0,
                "{}: {name}: {cores} cores, MCW {mcw}: expected 1 or more",
                named()
            );
        }
        Ok(plan)
    }

    /// What each function costs, on an array of `cores` cores that runs at most `most` warps of
    /// each on a core. The file is called `path`.
    ///
    /// # Errors
    /// It does not say so, or no split can be made by it.
    pub fn demands(
        &self,
        path: &Path,
        cores: usize,
        most: impl Iterator<Item = u32>,
    ) -> anyhow::Result<Vec<Demand>> {
        let demand = |(function, most): (&PlannedFunction, u32)| {
            let named = || format!("{}: {}", path.display(), function.name);
            let demand = function.demand.clone().with_context(|| {
                format!(
                    "{}: no demand; expected a file of this version of `hermes chain plan --json`",
                    named()
                )
            })?;
            demand.check(cores).map_err(|told| anyhow!("{}: demand: {told}", named()))?;
            Ok(Demand { most_warps: demand.most_warps.min(most), ..demand })
        };
        self.functions.iter().zip(most).map(demand).collect()
    }

    /// What each function gets.
    pub fn shares(&self) -> Vec<Share> {
        self.functions.iter().map(|function| Share { cores: function.cores, warps: function.mcw }).collect()
    }
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { functions, limit, packets_per_cycle, mpps, gbps, clock_mhz } = self;
        writeln!(
            f,
            "{mpps:.3} million packets/s, {gbps:.2} Gbit/s at {clock_mhz} are expected ({packets_per_cycle:.5} packets a cycle)"
        )?;
        writeln!(f, "at most {limit} warps in flight")?;
        writeln!(f)?;
        write!(
            f,
            "{:<16} {:>5} {:>4} {:>7} {:>18} {:>7} {:>12} {:>6}",
            "function", "cores", "MCW", "visits", "core cycles/packet", "C", "Mpackets/s", "busy"
        )?;
        for one in functions {
            let PlannedFunction { name, cores, mcw, visits, core_cycles_per_packet, mpps: own, .. } = one;
            let excess = one.demand.as_ref().map_or(0.0, |demand| demand.excess);
            let busy = 1e2 * mpps / own;
            write!(
                f,
                "\n{name:<16} {cores:>5} {mcw:>4} {visits:>7.3} {core_cycles_per_packet:>18.1} {excess:>7.0} {own:>12.3} {busy:>4.0} %"
            )?;
        }
        Ok(())
    }
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let files = self.chain.files().input("--pcap", self.pcap.as_deref());
        let add = |files: Files, path: &PathBuf| files.input("--profile", Some(path));
        let files = files.input("--feedback", self.feedback.as_deref());
        self.profile.iter().fold(files, add).output("--json", self.json.as_deref())
    }
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    let (plan, files) = args.chain.read(args.files())?;
    let given = profiles::read(&args.profile)?;
    let mut config = args.array.config()?;
    if config.network_functions == 0 {
        config.network_functions = plan.functions.len().next_power_of_two().max(2);
        config.function_branches = plan.branching().is_some();
    }
    config.packet_ports = true;
    config.validate()?;
    let measured = args.measurement.packets();
    let mut frames = match &args.pcap {
        // A run that is fed back had all of them.
        Some(path) => traffic::read(path, args.feedback.is_none().then_some(measured))?.frames,
        None => frames(&plan, args.bytes.into(), measured)?,
    };
    ensure!(!frames.is_empty(), "no packets; expected one or more");
    let bytes: usize = frames.iter().map(|frame| frame.data.len()).sum();
    let frame_bytes = bytes as f64 / frames.len() as f64;
    frames.truncate(measured);
    let json = args.json.as_deref().map(OutputFile::create).transpose()?;
    let longest = frames.iter().map(|frame| frame.data.len()).max().unwrap_or(0);
    let on = Surroundings {
        config: &config,
        memory_bytes: MEMORY_BYTES,
        frame_bytes: Some(u32::try_from(longest)?),
    };
    let chain = plan.place(on).map_err(each_on_its_line)?;
    let reaching = reaching(&chain, &config, &frames)?;
    let latency = args.memory.latency()?;
    let mut measurer = Measurer::new(&config, &args.measurement, latency, quiet)?;
    let (mut demands, mut measured) = (Vec::new(), Vec::new());
    let form = match args.model {
        Model::Interpolated => Form::Interpolated,
        Model::Linear => Form::Linear,
    };
    for (number, (function, here)) in chain.functions.iter().zip(reaching).enumerate() {
        let part = here.len() as f64 / frames.len() as f64;
        ensure!(part > 0.0, "`{}`: none of {} packets reaches it", function.name, frames.len());
        // A warp takes as long with fewer lanes, so it counts while one is left.
        let visits = 1.0 - (1.0 - part).powi(config.lanes as i32);
        let profile = measurer.profile(&plan.alone(number), here, &given)?;
        let limit = plan.functions[number].manifest.max_latency.as_ref();
        demands.push(Demand {
            name: function.name.clone(),
            cost: profile.cost(form)?,
            visits,
            most_warps: function.mcw,
            max_latency: limit.map(|cycles| f64::from(*cycles.get_ref())),
            excess: 0.0,
        });
        measured.push(profile);
    }
    if let Some(path) = &args.feedback {
        let of = PlannedFor { chain: &chain, config: &config, latency, frame_bytes };
        feed_back(path, &mut demands, of)?;
    }
    let per_cycle = args.rate.map(|mpps| mpps / args.clock.megahertz());
    let found = split(config.lanes as u32, config.cores, &demands, per_cycle);
    let found = found.map_err(|error| infeasible(args, &error))?;
    let report = report(&found, &demands, &measured, frame_bytes, args.clock);
    if let Some(mut json) = json {
        json.write_json(&Origin::of(&files).with(&report))?;
        json.commit()?;
    }
    print::line(report)
}

/// What a plan is for.
struct PlannedFor<'a> {
    chain: &'a Chain,
    config: &'a Config,
    latency: Latency,
    frame_bytes: f64,
}

/// What a run of the chain has shown of a function.
#[derive(Deserialize)]
struct RanFunction {
    name: String,
    kernel: String,
    tables: String,
    cores: usize,
    mcw: u32,
    packets: u64,
    warps: u64,
    core_cycles_per_packet: f64,
    stay: RanStay,
}

#[derive(Deserialize)]
struct RanStay {
    mean: f64,
}

#[derive(Deserialize)]
struct RanChain {
    packets: u64,
    bytes: u64,
    #[serde(default)]
    mode: Option<String>,
    memory: String,
    config: Map<String, Value>,
    functions: Vec<RanFunction>,
    #[serde(default)]
    changes: Vec<serde_json::Value>,
    #[serde(default)]
    decisions: Vec<serde_json::Value>,
    #[serde(default)]
    hung: Vec<serde_json::Value>,
}

/// Takes what the report of a run at `path` shows of the functions into their demands: C.
///
/// # Errors
/// It is no report, of another chain, array, memory, mode or size of packets, of functions with
/// other kernels or tables, or of a chain that changed while it ran.
fn feed_back(path: &Path, demands: &mut [Demand], of: PlannedFor<'_>) -> anyhow::Result<()> {
    let PlannedFor { chain, config, latency, frame_bytes } = of;
    let named = || format!("--feedback {}", path.display());
    let bytes = input::read(path, MOST_REPORT_BYTES).with_context(named)?;
    let ran: RanChain = serde_json::from_slice(&bytes).with_context(|| {
        format!("{}: expected a report of this version of `hermes chain run --json`", named())
    })?;
    let names = |names: Vec<&str>| names.join(", ");
    let expected = names(demands.iter().map(|demand| demand.name.as_str()).collect());
    let found = names(ran.functions.iter().map(|function| function.name.as_str()).collect());
    ensure!(found == expected, "{}: functions: {found}; expected {expected}, those of the chain", named());
    let Value::Object(expected) = serde_json::to_value(config)? else { bail!("the array is no map") };
    for (field, expected) in expected.iter().filter(|(field, _)| !FREE_FIELDS.contains(&field.as_str())) {
        let found = ran.config.get(field).unwrap_or(&Value::Null);
        ensure!(
            found == expected,
            "{}: config: {field}: {found}; expected {expected}, as of the array of the plan",
            named()
        );
    }
    ensure!(
        ran.memory == latency.to_string(),
        "{}: memory: {}; expected {latency}, that of the plan (--memory, --mem-latency)",
        named(),
        ran.memory
    );
    ensure!(
        ran.mode.as_deref() != Some("temporal"),
        "{}: mode: temporal, in which functions are on the cores in turns; expected gnet, fair or none",
        named()
    );
    let mean = ran.bytes as f64 / ran.packets.max(1) as f64;
    let off = (mean / frame_bytes - 1.0).abs();
    ensure!(
        off <= MOST_OFF,
        "{}: bytes: {mean:.1} of a packet in the mean; expected {:.1} to {:.1}, as of the packets of the plan \
         (--pcap, --bytes)",
        named(),
        frame_bytes * (1.0 - MOST_OFF),
        frame_bytes * (1.0 + MOST_OFF)
    );
    for (function, ran) in chain.functions.iter().zip(&ran.functions) {
        let [kernel, tables] = [function.kernel_digest(), function.table_digest()];
        for (field, found, expected) in [("kernel", &ran.kernel, kernel), ("tables", &ran.tables, tables)] {
            ensure!(
                *found == expected,
                "{}: {}: {field}: {found}; expected {expected}, SHA-256 of those of the chain",
                named(),
                ran.name
            );
        }
    }
    ensure!(
        ran.changes.is_empty() && ran.decisions.is_empty(),
        "{}: cores or functions changed in the run; expected one without --events and --adapt",
        named()
    );
    ensure!(ran.hung.is_empty(), "{}: a function hung in the run; expected one in which none does", named());
    for (demand, ran) in demands.iter_mut().zip(&ran.functions) {
        let good = |value: f64| value.is_finite() && value >= 0.0;
        ensure!(
            (1..=32).contains(&ran.cores)
                && (1..=32).contains(&ran.mcw)
                && good(ran.core_cycles_per_packet)
                && good(ran.stay.mean),
            "{}: {}: expected 1 to 32 cores, MCW 1 to 32, and numbers that are not negative",
            named(),
            ran.name
        );
        let stayed = Stayed {
            share: Share { cores: ran.cores, warps: ran.mcw },
            visits: ran.warps,
            stay: ran.stay.mean,
            core_cycles: ran.core_cycles_per_packet * ran.packets as f64,
        };
        demand.excess = excess(demand, &stayed);
    }
    Ok(())
}

/// What is told where no split does what is asked, in the units of the command.
fn infeasible(args: &Args, error: &Infeasible) -> anyhow::Error {
    match (error, args.rate) {
        (Infeasible::Rate { best, .. }, Some(rate)) => anyhow!(
            "infeasible: --rate {rate}: {error}; expected at most {:.3} million packets/s at {}",
            best * args.clock.megahertz(),
            args.clock
        ),
        _ => anyhow!("infeasible: {error}"),
    }
}

fn report(
    split: &Split,
    demands: &[Demand],
    profiles: &[Profile],
    frame_bytes: f64,
    clock: Clock,
) -> PlanReport {
    let row = |number: usize| {
        let (share, demand, profile) = (split.shares[number], &demands[number], &profiles[number]);
        let knee = profile.samples.iter().find(|one| one.cores == 1 && one.warps == profile.knee);
        PlannedFunction {
            name: demand.name.clone(),
            cores: share.cores,
            mcw: share.warps,
            visits: demand.visits,
            core_cycles_per_packet: knee.map_or(0.0, |sample| sample.core_cycles()),
            mpps: split.rates[number] * clock.megahertz(),
            demand: Some(demand.clone()),
        }
    };
    PlanReport {
        functions: (0..demands.len()).map(row).collect(),
        limit: limit_for(&split.shares),
        packets_per_cycle: split.rate,
        mpps: split.rate * clock.megahertz(),
        gbps: split.rate * 8.0 * frame_bytes * clock.gigahertz(),
        clock_mhz: clock.to_string(),
    }
}
