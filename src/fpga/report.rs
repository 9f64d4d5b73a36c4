//! `hermes fpga report`

use std::io::Write as _;
use std::path::PathBuf;

use hermes_fpga::board::{Board, Settings};
use hermes_fpga::flow::{self, Cells, Tool, Units};
use hermes_rtl::config::Config;
use hermes_testbench::output::OutputFile;
use hermes_testbench::staging::temporary_folder;
use serde::Serialize;

use super::target::TargetArgs;
use crate::files::Files;
use crate::origin::Origin;
use crate::print;

mod picture;
mod rate;
mod sweep;

use rate::{Rate, Run};
use sweep::{combinations, Sweep};

/// The instance that has the control path: task FIFO, warp former and issue, DCQ and its LUTs
/// (Hermes, section 3).
const CONTROL: &str = "dispatch";
/// The instances of the thread spawner and of the command processor (Pangaea, section 5.2).
const SPAWNER: &str = "array.spawner";
const COMMAND: &str = "array.command";
/// Units that the text shows, the largest ones; JSON has all.
const SHOWN: usize = 30;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Values of an option of the array, each of which is synthesized: `lanes=2,4`,
    /// `local-window=true,false`; several give every combination
    #[arg(long, value_name = "NAME=VALUE,VALUE", help_heading = "What to measure")]
    sweep: Vec<Sweep>,
    /// JSON of a run on such an array (`hermes run`, `hermes fpga run`): tells packets in 1,000
    /// cycles for 1,000 LUTs; may be given several times
    #[arg(long, value_name = "FILE", help_heading = "What to measure")]
    run: Vec<PathBuf>,
    /// How deep units are told apart: those inside deeper ones count for the one that they are in
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=20), help_heading = "What to measure")]
    depth: u8,
    /// Write all figures as JSON
    #[arg(short = 'o', visible_alias = "output", long, value_name = "FILE", help_heading = "Outputs")]
    json: Option<PathBuf>,
    /// Draw the figures as SVG: a bar for each unit, or for each array of a sweep, the control path
    /// in a colour of its own
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    svg: Option<PathBuf>,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        let runs = self.run.iter().fold(Files::default(), |files, run| files.input("--run", Some(run)));
        runs.output("--json", self.json.as_deref()).output("--svg", self.svg.as_deref())
    }
}

/// What something takes of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Area {
    /// LUTs of four inputs, those behind carry chains and distributed memories included.
    luts: usize,
    flip_flops: usize,
    /// 18 kbit each.
    block_rams: usize,
    /// 18 x 18 bits each.
    multipliers: usize,
}

impl Area {
    /// What both take.
    fn and(self, other: Self) -> Self {
        Self {
            luts: self.luts + other.luts,
            flip_flops: self.flip_flops + other.flip_flops,
            block_rams: self.block_rams + other.block_rams,
            multipliers: self.multipliers + other.multipliers,
        }
    }
}

impl From<&Cells> for Area {
    fn from(cells: &Cells) -> Self {
        Self {
            luts: cells.luts(),
            flip_flops: cells.flip_flops(),
            block_rams: cells.block_rams(),
            multipliers: cells.multipliers(),
        }
    }
}

/// One array on one board.
#[derive(Serialize)]
struct Point {
    board: &'static str,
    config: Config,
    memory_bytes: usize,
    /// The clock that the board makes for the array; whether it is reached, `hermes fpga build`
    /// tells.
    clock_khz: u32,
    total: Area,
    control_path: Area,
    /// Of an array that has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    command_processor: Option<Area>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_spawner: Option<Area>,
    /// The runs on this array.
    rates: Vec<Rate>,
    units: Vec<Unit>,
}

#[derive(Serialize)]
struct Unit {
    name: String,
    #[serde(flatten)]
    area: Area,
}

/// The JSON file, but for where it comes from.
#[derive(Serialize)]
struct Points<'a> {
    points: &'a [Point],
}

pub fn execute(args: &Args, quiet: bool) -> anyhow::Result<()> {
    let settings = args.target.settings()?;
    let configs = combinations(&settings.config, &args.sweep);
    for config in &configs {
        config.validate().map_err(crate::array::by_option)?;
        settings.board.check(config)?;
    }
    let runs = args.run.iter().map(|path| Run::read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    runs.iter().try_for_each(|run| run.check(&configs))?;
    let yosys = Tool::yosys()?;
    let mut json = args.json.as_deref().map(OutputFile::create).transpose()?;
    let mut svg = args.svg.as_deref().map(OutputFile::create).transpose()?;
    let spinner = print::spinner(quiet);
    let mut points = Vec::new();
    for (config, number) in configs.iter().zip(1..) {
        spinner.set_message(format!("synthesizing array {number} of {}", configs.len()));
        let settings = Settings { config: config.clone(), ..settings.clone() };
        points.push(measure(&yosys, &settings, args.depth.into(), &runs)?);
    }
    spinner.finish_and_clear();
    if let Some(json) = &mut json {
        json.write_json(&Origin::of(&args.files()).with(&Points { points: &points }))?;
    }
    if let Some(svg) = &mut svg {
        svg.write_all(picture_of(&points, &args.sweep, &settings.board)?.as_bytes())?;
    }
    json.into_iter().chain(svg).try_for_each(OutputFile::commit)?;
    let text = match points.as_slice() {
        [point] => of_units(point, &settings.board),
        points => of_points(points, &args.sweep, &settings.board),
    };
    print::line(text)
}

fn measure(yosys: &Tool, settings: &Settings, depth: usize, runs: &[Run]) -> anyhow::Result<Point> {
    let folder = temporary_folder("hermes-")?;
    let top = settings.top();
    flow::synthesize(yosys, folder.path(), &settings.emit()?.verilog(), top)?;
    let units = Units::read(yosys, folder.path(), top, depth)?;
    let unit = |(name, cells): (&str, &Cells)| Unit { name: name.to_string(), area: cells.into() };
    let total = Area::from(&units.total());
    let of_this = runs.iter().filter(|run| run.is_of(&settings.config));
    Ok(Point {
        board: settings.board.name,
        config: settings.config.clone(),
        memory_bytes: 1 << settings.memory_log2,
        clock_khz: settings.pll.kilohertz,
        total,
        control_path: (&units.inside(CONTROL)).into(),
        command_processor: (settings.config.command_threads > 0).then(|| (&units.inside(COMMAND)).into()),
        thread_spawner: (settings.config.spawn_slots > 0).then(|| (&units.inside(SPAWNER)).into()),
        rates: of_this.map(|run| run.rate(total.luts)).collect(),
        units: units.largest_first().into_iter().map(unit).collect(),
    })
}

/// The parameters that are swept, with their values in `point`.
fn swept(point: &Point, sweeps: &[Sweep]) -> String {
    sweeps.iter().map(|sweep| sweep.describe(&point.config)).collect::<Vec<_>>().join(", ")
}

/// The figures as SVG: units of one array, or several arrays.
fn picture_of(points: &[Point], sweeps: &[Sweep], board: &Board) -> anyhow::Result<String> {
    match points {
        [point] => {
            let row = |unit: &Unit| {
                let in_control = unit.name.split('.').any(|part| part == CONTROL);
                let control = if in_control { unit.area } else { Area::default() };
                picture::Row { name: unit.name.clone(), whole: unit.area, control }
            };
            let all: Vec<_> = point.units.iter().map(row).collect();
            let (shown, rest) = all.split_at(all.len().min(SHOWN));
            let mut rows = shown.to_vec();
            if !rest.is_empty() {
                let sum =
                    |of: fn(&picture::Row) -> Area| rest.iter().map(of).fold(Area::default(), Area::and);
                let name = format!("{} smaller ones", rest.len());
                rows.push(picture::Row {
                    name,
                    whole: sum(|row| row.whole),
                    control: sum(|row| row.control),
                });
            }
            let Area { luts, flip_flops, block_rams, multipliers } = point.total;
            let title = format!(
                "{}, by unit: {luts} LUTs, {flip_flops} flip-flops, {block_rams} block RAMs, {multipliers} \
                 multipliers",
                board.title
            );
            picture::draw(&title, &rows)
        }
        points => {
            let row = |point: &Point| picture::Row {
                name: swept(point, sweeps),
                whole: point.total,
                control: point.control_path,
            };
            picture::draw(board.title, &points.iter().map(row).collect::<Vec<_>>())
        }
    }
}

/// `part` of `whole` in percent.
fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn row(name: &str, area: &Area, share: f64) -> String {
    let Area { luts, flip_flops, block_rams, multipliers } = area;
    format!("{luts:>7} {share:>5.1} % {flip_flops:>7} {block_rams:>5} {multipliers:>5}  {name}\n")
}

const HEAD: &str = "   LUTs   share flip-fl.  RAMs  mult.\n";

fn of_units(point: &Point, board: &Board) -> String {
    let share = |area: &Area| percent(area.luts, point.total.luts);
    let mut text = HEAD.to_string();
    for Unit { name, area } in point.units.iter().take(SHOWN) {
        text += &row(name, area, share(area));
    }
    if point.units.len() > SHOWN {
        text += &format!("{:15} and {} smaller ones\n", "", point.units.len() - SHOWN);
    }
    text += &row("all", &point.total, 100.0);
    text += &row(
        "of these the control path: task FIFO, warp former and issue, DCQ, LUTs",
        &point.control_path,
        share(&point.control_path),
    );
    let parts =
        [("the command processor", &point.command_processor), ("the thread spawner", &point.thread_spawner)];
    for (name, area) in parts {
        if let Some(area) = area {
            text += &row(&format!("of these {name}"), area, share(area));
        }
    }
    text += &format!(
        "{}: {:.0} % of {} LUTs, {:.0} % of {} block RAMs, {:.0} % of {} multipliers",
        board.title,
        percent(point.total.luts, board.capacity.luts),
        board.capacity.luts,
        percent(point.total.block_rams, board.capacity.block_rams),
        board.capacity.block_rams,
        percent(point.total.multipliers, board.capacity.multipliers),
        board.capacity.multipliers
    );
    point.rates.iter().fold(text, |text, rate| text + "\n" + &rate.text())
}

fn of_points(points: &[Point], sweeps: &[Sweep], board: &Board) -> String {
    let mut text = format!("LUTs in percent of those of {}\n{HEAD}", board.title);
    for point in points {
        let control = percent(point.control_path.luts, point.total.luts);
        let name = swept(point, sweeps);
        let name = format!("{name}; control path {} LUTs, {control:.1} %", point.control_path.luts);
        text += &row(&name, &point.total, percent(point.total.luts, board.capacity.luts));
    }
    for point in points {
        for rate in &point.rates {
            text += &format!("{}: {}\n", swept(point, sweeps), rate.text());
        }
    }
    text.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lanes: usize, units: usize) -> Point {
        let area = |luts| Area { luts, flip_flops: 2 * luts, block_rams: 1, multipliers: 0 };
        let name = |number| match number {
            0 => format!("array.{CONTROL}.fifo"),
            _ => format!("array.unit_{number}"),
        };
        let unit = |number| Unit { name: name(number), area: area(100 - number) };
        Point {
            board: "ulx3s",
            config: Config { lanes, ..Config::preset("fpga").unwrap() },
            memory_bytes: 1 << 17,
            clock_khz: 40_000,
            total: area(1000 * lanes),
            control_path: area(100),
            command_processor: None,
            thread_spawner: None,
            rates: vec![Rate {
                kernel: "router".to_string(),
                bytes_per_packet: 64.0,
                packets_per_kilocycle: 10.0,
                packets_per_kilocycle_per_kilolut: 10.0 / lanes as f64,
            }],
            units: (0..units).map(unit).collect(),
        }
    }

    #[test]
    fn a_sweep_has_a_row_and_a_bar_for_each_array() {
        let board = Board::find("ulx3s").unwrap();
        let (sweeps, points) = (["lanes=2,4".parse().unwrap()], [point(2, 3), point(4, 3)]);
        let text = of_points(&points, &sweeps, &board);
        assert!(text.contains("   2000   2.4 %    4000     1     0  lanes 2; control path 100 LUTs, 5.0 %"));
        assert!(
            text.contains("lanes 4: router, 64.0 bytes a packet: 10.00 packets in 1,000 cycles, 2.50 for")
        );
        let svg = picture_of(&points, &sweeps, &board).unwrap();
        assert!(svg.contains("\nlanes 2\n") && svg.contains("\nlanes 4\n") && !svg.contains("unit_1"));
    }

    #[test]
    fn command_processor_and_spawner_have_rows_of_their_own() {
        let board = Board::find("ulx3s-cp").unwrap();
        let area = |luts| Some(Area { luts, flip_flops: 7, block_rams: 1, multipliers: 0 });
        let with = Point { command_processor: area(500), thread_spawner: area(16), ..point(2, 3) };
        let text = of_units(&with, &board);
        for line in [
            "    500  25.0 %       7     1     0  of these the command processor",
            "     16   0.8 %       7     1     0  of these the thread spawner",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!of_units(&point(2, 3), &board).contains("of these the command processor"));
    }

    #[test]
    fn one_array_has_a_bar_for_each_unit() {
        let board = Board::find("ulx3s").unwrap();
        let text = of_units(&point(2, SHOWN + 3), &board);
        assert!(text.contains("and 3 smaller ones") && text.ends_with("5.00 for 1,000 LUTs of four inputs"));
        let svg = picture_of(&[point(2, SHOWN + 3)], &[], &board).unwrap();
        for text in [&format!("array.{CONTROL}.fifo"), "array.unit_29", "3 smaller ones", "\n207\n"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(!svg.contains("array.unit_30"), "{svg}");
    }
}
