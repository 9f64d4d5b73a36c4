//! `hermes fpga report`

use std::path::PathBuf;
use std::str::FromStr;

use hermes_fpga::board::{Board, Settings};
use hermes_fpga::flow::{self, Cells, Tool, Units};
use hermes_rtl::config::Config;
use hermes_testbench::output::OutputFile;
use serde::Serialize;

use super::target::TargetArgs;
use crate::files::Files;
use crate::origin::Origin;
use crate::print;

/// The instance that has the control path: task FIFO, warp former and issue, DCQ and its LUTs (Hermes, section 3).
const CONTROL: &str = "dispatch";
/// Units that the text shows, the largest ones; JSON has all.
const SHOWN: usize = 30;

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Values of a parameter, each of which is synthesized: cores, lanes, warps, l1-lines, l2-lines or instruction-cache-lines; several give every
    /// combination
    #[arg(long, value_name = "NAME=N,N", help_heading = "What to measure")]
    sweep: Vec<Sweep>,
    /// How deep units are told apart: those inside deeper ones count for the one that they are in
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=20), help_heading = "What to measure")]
    depth: u8,
    /// Write all figures as JSON
    #[arg(short = 'o', visible_alias = "output", long, value_name = "FILE", help_heading = "Outputs")]
    json: Option<PathBuf>,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().output("--json", self.json.as_deref())
    }
}

/// A parameter of the array.
type Field = fn(&mut Config) -> &mut usize;

/// Parameters that can be swept.
const FIELDS: [(&str, Field); 6] = [
    ("cores", |config| &mut config.cores),
    ("lanes", |config| &mut config.lanes),
    ("warps", |config| &mut config.warps),
    ("l1-lines", |config| &mut config.l1_lines),
    ("l2-lines", |config| &mut config.l2_bank_lines),
    ("instruction-cache-lines", |config| &mut config.instruction_cache_lines),
];

/// A parameter and its values.
#[derive(Clone, Debug)]
struct Sweep {
    name: &'static str,
    field: Field,
    values: Vec<usize>,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = FIELDS.map(|(name, _)| name).join(", ");
        let expected = || format!("expected NAME=N,N, NAME one of {names}");
        let (wanted, values) = text.split_once('=').ok_or_else(expected)?;
        let (name, field) = FIELDS.into_iter().find(|(name, _)| *name == wanted).ok_or_else(expected)?;
        let values = values.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| expected())?;
        Ok(Self { name, field, values })
    }
}

/// What something takes of the device.
#[derive(Clone, Copy, Debug, Serialize)]
struct Area {
    /// LUTs of four inputs, those behind carry chains and distributed memories included.
    luts: usize,
    flip_flops: usize,
    /// 18 kbit each.
    block_rams: usize,
    /// 18 x 18 bits each.
    multipliers: usize,
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
    total: Area,
    control_path: Area,
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
    let all = combinations(&settings, &args.sweep)?;
    let yosys = Tool::yosys()?;
    let mut json = args.json.as_deref().map(OutputFile::create).transpose()?;
    let spinner = print::spinner(quiet);
    let mut points = Vec::new();
    for (settings, number) in all.iter().zip(1..) {
        spinner.set_message(format!("synthesizing array {number} of {}", all.len()));
        points.push(measure(&yosys, settings, args.depth.into())?);
    }
    spinner.finish_and_clear();
    if let Some(json) = &mut json {
        json.write_json(&Origin::of(&args.files()).with(&Points { points: &points }))?;
    }
    json.map(OutputFile::commit).transpose()?;
    let text = match points.as_slice() {
        [point] => of_units(point, &settings.board),
        points => of_points(points, &args.sweep, &settings.board),
    };
    print::line(text)
}

/// Every combination of the values.
fn combinations(settings: &Settings, sweeps: &[Sweep]) -> anyhow::Result<Vec<Settings>> {
    let mut all = vec![settings.clone()];
    for Sweep { field, values, .. } in sweeps {
        let mut next = Vec::new();
        for settings in &all {
            for value in values {
                let mut settings = settings.clone();
                *field(&mut settings.config) = *value;
                settings.config.validate()?;
                next.push(settings);
            }
        }
        all = next;
    }
    Ok(all)
}

fn measure(yosys: &Tool, settings: &Settings, depth: usize) -> anyhow::Result<Point> {
    let folder = tempfile::tempdir()?;
    let top = settings.top();
    flow::synthesize(yosys, folder.path(), &settings.emit()?.verilog(), top)?;
    let units = Units::read(yosys, folder.path(), top, depth)?;
    let unit = |(name, cells): (&str, &Cells)| Unit { name: name.to_string(), area: cells.into() };
    Ok(Point {
        board: settings.board.name,
        config: settings.config.clone(),
        memory_bytes: 1 << settings.memory_log2,
        total: (&units.total()).into(),
        control_path: (&units.inside(CONTROL)).into(),
        units: units.largest_first().into_iter().map(unit).collect(),
    })
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
    text + &format!(
        "{}: {:.0} % of {} LUTs, {:.0} % of {} block RAMs, {:.0} % of {} multipliers",
        board.title,
        percent(point.total.luts, board.capacity.luts),
        board.capacity.luts,
        percent(point.total.block_rams, board.capacity.block_rams),
        board.capacity.block_rams,
        percent(point.total.multipliers, board.capacity.multipliers),
        board.capacity.multipliers
    )
}

fn of_points(points: &[Point], sweeps: &[Sweep], board: &Board) -> String {
    let mut text = format!("LUTs in percent of those of {}\n{HEAD}", board.title);
    for point in points {
        let mut config = point.config.clone();
        let value = |Sweep { name, field, .. }: &Sweep| format!("{name} {}", field(&mut config));
        let name = sweeps.iter().map(value).collect::<Vec<_>>().join(", ");
        let control = percent(point.control_path.luts, point.total.luts);
        let name = format!("{name}; control path {} LUTs, {control:.1} %", point.control_path.luts);
        text += &row(&name, &point.total, percent(point.total.luts, board.capacity.luts));
    }
    text.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_measured() {
        let board = Board::find("ulx3s").unwrap();
        let settings = board.settings(board.config(), None, None, None).unwrap();
        let sweep = |text: &str| text.parse::<Sweep>();
        let sweeps = [sweep("lanes=2,4").unwrap(), sweep("warps=4,8,16").unwrap()];
        let all = combinations(&settings, &sweeps).unwrap();
        let sizes: Vec<_> = all.iter().map(|s| (s.config.lanes, s.config.warps)).collect();
        assert_eq!(sizes, [(2, 4), (2, 8), (2, 16), (4, 4), (4, 8), (4, 16)]);
        assert!(combinations(&settings, &[sweep("lanes=3").unwrap()])
            .unwrap_err()
            .to_string()
            .contains("lanes: 3"));
        for wrong in ["lanes", "lanes=", "lanes=x", "colours=3"] {
            assert!(sweep(wrong).unwrap_err().contains("expected NAME=N,N"), "{wrong}");
        }
    }
}
