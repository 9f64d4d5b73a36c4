//! `hermes fpga build`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{ensure, Context};
use hermes_fpga::board::Settings;
use hermes_fpga::flow::{self, Cells, Effort, Placement, Placer, Progress, RaceOptions, Tool, Winner};
use hermes_rtl::config::Config;
use hermes_testbench::output::{self, OutputFile};
use hermes_testbench::staging::StagingFolder;
use serde::Serialize;

use super::target::TargetArgs;
use crate::files::Files;
use crate::origin::Origin;
use crate::print;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Folder to write to; made if it does not exist: Verilog of the board's top, pins, nextpnr's
    /// log, bitstream
    #[arg(short, long, value_name = "DIR", help_heading = "Outputs")]
    output: PathBuf,
    /// Seeds of the placer, in the order in which they are tried: the first that meets the clock
    /// wins
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [1, 2, 3, 4], help_heading = "Placing and routing")]
    seeds: Vec<u32>,
    /// Seeds that are tried at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64), help_heading = "Placing and routing")]
    jobs: u8,
    /// Minutes after which placing and routing are given up
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000), help_heading = "Placing and routing")]
    limit: u32,
    /// Place with nextpnr's HeAP, which weighs timing so many times as much as the length of wires
    /// (its own default is 10), instead of the static placer, and route with weights of conflicts
    /// that do not grow
    #[arg(long, value_name = "N", help_heading = "Placing and routing")]
    timing_weight: Option<u32>,
    /// Keep so many percent of the device's LUTs empty, so that the wires of the others have room;
    /// 20 by default, or what the array leaves
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=70), help_heading = "Placing and routing")]
    room: Option<u8>,
    /// Write Verilog and pins only, for tools of one's own
    #[arg(long, help_heading = "Outputs")]
    sources_only: bool,
    /// Write what the array takes, the clock that was reached and the times as JSON, also if the
    /// clock was not met
    #[arg(long, value_name = "FILE", conflicts_with = "sources_only", help_heading = "Outputs")]
    json: Option<PathBuf>,
}

impl Args {
    /// What is written: a folder and a report.
    pub fn files(&self) -> Files {
        Files::default().folder("-o", Some(&self.output)).output("--json", self.json.as_deref())
    }
}

/// Percent of the LUTs that are kept empty unless others are asked for. The placers fill tiles to
/// more than their wires suffice for.
const ROOM: usize = 20;
/// Rounds of the router without progress after which a seed is given up. The last wires can take
/// hundreds of rounds, each of which is short then.
const PATIENCE: usize = 400;

/// What a build made, for people and programs.
struct Built {
    cells: Cells,
    winner: Winner,
    synthesis: Duration,
    routing: Duration,
}

/// The same as JSON.
#[derive(Serialize)]
struct Report<'a> {
    board: &'a str,
    config: &'a Config,
    memory_bytes: u64,
    luts: usize,
    flip_flops: usize,
    block_rams: usize,
    multipliers: usize,
    /// Clock of the array, and what the routed array could have.
    clock_khz: u32,
    routed_khz: u32,
    seed: u32,
    synthesis_seconds: f64,
    routing_seconds: f64,
}

impl Built {
    fn report<'a>(&self, settings: &'a Settings) -> Report<'a> {
        Report {
            board: settings.board.name,
            config: &settings.config,
            memory_bytes: 1 << settings.memory_log2,
            luts: self.cells.luts(),
            flip_flops: self.cells.flip_flops(),
            block_rams: self.cells.block_rams(),
            multipliers: self.cells.multipliers(),
            clock_khz: settings.pll.kilohertz,
            routed_khz: (self.winner.megahertz * 1e3) as u32,
            seed: self.winner.seed,
            synthesis_seconds: self.synthesis.as_secs_f64(),
            routing_seconds: self.routing.as_secs_f64(),
        }
    }

    fn lines(&self, settings: &Settings) -> String {
        let Self { cells, winner, synthesis, routing } = self;
        let others: String =
            winner.others.iter().map(|(seed, what)| format!("seed {seed}       {what}\n")).collect();
        format!(
            "board        {}\nLUTs         {}\nflip-flops   {}\nblock RAMs   {}\nmultipliers  {}\n\
             clock        {:.2} MHz routed, {:.2} MHz wanted, seed {}\n{others}\
             time         {:.0} s synthesis, {:.0} s placing and routing",
            settings.board.title,
            cells.luts(),
            cells.flip_flops(),
            cells.block_rams(),
            cells.multipliers(),
            winner.megahertz,
            f64::from(settings.pll.kilohertz) / 1e3,
            winner.seed,
            synthesis.as_secs_f64(),
            routing.as_secs_f64(),
        )
    }
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    ensure!(!args.seeds.is_empty(), "--seeds: expected at least one");
    let settings = args.target.settings()?;
    let tools = (!args.sources_only)
        .then(|| Ok::<_, flow::FlowError>((Tool::yosys()?, Tool::nextpnr_ecp5()?, Tool::ecppack()?)))
        .transpose()?;
    let mut json = args.json.as_deref().map(OutputFile::create).transpose()?;
    let design = settings.emit()?;
    let folder = &args.output;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let top = settings.top();
    let verilog = hermes_artefacts::verilog(&design, &settings.config, false);
    let sources = || {
        output::write(&folder.join(format!("{top}.v")), verilog.as_bytes())?;
        output::write(&folder.join(format!("{top}.lpf")), settings.constraints().as_bytes())
    };
    let Some((yosys, nextpnr, ecppack)) = tools else { return Ok(sources()?) };

    let staging = StagingFolder::create_in(folder)?;
    let spinner = print::spinner(quiet);
    spinner.set_message("synthesis");
    let began = Instant::now();
    let cells = flow::synthesize(&yosys, staging.path(), &verilog, top)?;
    let synthesis = began.elapsed();
    log::info!("synthesized in {:.0} s: {} LUTs", synthesis.as_secs_f64(), cells.luts());
    let left = 100 - (100 * cells.luts()).div_ceil(settings.board.capacity.luts).min(100);
    let room = args.room.map_or(ROOM.min(left), usize::from);
    ensure!(
        room <= left,
        "--room {room}: expected {left} at most, since the array takes {} of {} LUTs",
        cells.luts(),
        settings.board.capacity.luts
    );
    if room > 0 {
        flow::keep_room(staging.path(), top, &settings.board.device, room as f64 / 100.0)?;
    }
    std::fs::write(staging.path().join("pins.lpf"), settings.constraints())?;
    let placement = Placement {
        device: settings.board.device,
        folder: staging.path(),
        megahertz: None,
        pins: true,
        route: true,
        effort: Effort {
            placer: args.timing_weight.map_or(Placer::Static, Placer::Heap),
            ..Effort::default()
        },
    };
    let options = RaceOptions {
        seeds: args.seeds.clone(),
        jobs: args.jobs.into(),
        megahertz: f64::from(settings.pll.kilohertz) / 1e3,
        patience: PATIENCE,
        limit: Duration::from_secs(60 * u64::from(args.limit)),
    };
    let began = Instant::now();
    let mut progress = |states: &[Progress]| spinner.set_message(told(states));
    let winner = flow::race(&placement, &nextpnr, &options, &mut progress)?;
    let routing = began.elapsed();
    spinner.finish_and_clear();
    ecppack.run(staging.path(), &["--compress", "--input", &winner.config, "--bit", "board.bit"])?;
    let log = staging.path().join(format!("seed-{}.log", winner.seed));
    // All files are of one build.
    sources()?;
    output::write(&folder.join(format!("{top}.nextpnr.log")), &std::fs::read(log)?)?;
    output::write(&folder.join(format!("{top}.bit")), &std::fs::read(staging.path().join("board.bit"))?)?;
    staging.close()?;
    let built = Built { cells, winner, synthesis, routing };
    print::line(built.lines(&settings))?;
    if let Some(json) = &mut json {
        json.write_json(&Origin::of(&args.files()).with(&built.report(&settings)))?;
    }
    json.map_or(Ok(()), OutputFile::commit)?;
    ensure!(
        built.winner.megahertz >= options.megahertz,
        "the clock of {:.2} MHz was not met: {:.2} MHz; the bitstream was written, but is not to be trusted: give --clock {:.0}, or other --seeds",
        options.megahertz,
        built.winner.megahertz,
        built.winner.megahertz.floor()
    );
    Ok(())
}

/// How far the seeds are.
fn told(states: &[Progress]) -> String {
    let of = |state: &Progress| match state.overused {
        None => format!("seed {}: placing", state.seed),
        Some(wires) => format!("seed {}: {wires} wires used twice", state.seed),
    };
    states.iter().map(of).collect::<Vec<_>>().join(", ")
}
