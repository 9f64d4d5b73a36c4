//! `hermes bench cost`: what one core, or the command processor, takes of an ECP5, by Yosys, and
//! its clock, by nextpnr.
//!
//! It stands alone, without the memory path and the control of the array. For the clock its ports,
//! of which it has more than the device has pins, are behind shift registers.

use std::fmt::Write as _;

use anyhow::{anyhow, bail, ensure};
use hermes_fpga::flow::{self, Cells, Device, Effort, Placement, Placer, Tool};
use hermes_hdl::emit::{Design, Direction};
use hermes_rtl::config::{Config, CoreOptions};
use hermes_testbench::staging::temporary_folder;

use super::figure::{Bound, Figure};
use super::Subject;
use crate::print;

#[derive(clap::Args)]
pub struct Args {
    /// Lanes of the cores to synthesize
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [4, 8, 32])]
    lanes: Vec<usize>,
    /// Measure command processors with so many hardware threads instead, as in the preset
    /// `pangaea`: 1, 2, 4 or 8
    #[arg(long, value_name = "N,N", value_delimiter = ',', conflicts_with_all = ["lanes", "clock_lanes"])]
    command_threads: Vec<usize>,
    /// Measure what so many network functions, 2, 4 or 8, add to the cores: each size is measured
    /// without and with them, both with a local window; two sizes or more give what they add to a
    /// lane and to a core
    #[arg(long, value_name = "N", conflicts_with = "command_threads")]
    network_functions: Option<usize>,
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

/// The smallest of the open GPU cores that were measured with these tools, LUTs a lane.
const OPEN_CORE_LUTS: f64 = 3700.0;
/// The slowest of them.
const OPEN_CORE_MEGAHERTZ: f64 = 38.0;
/// Name of the part with shift registers around it.
const PINS: &str = "part_pins";

/// What is measured by itself.
struct Part {
    /// `8_lanes`, the end of the figures' names.
    name: String,
    /// `a core of 8 lanes`.
    text: String,
    design: Design,
    /// Lanes, of a core.
    lanes: Option<usize>,
    /// The configuration of a command processor.
    config: Option<Config>,
}

impl Part {
    /// A core as the presets' test cores have it, or with a local window, without and with
    /// `functions`.
    fn core(lanes: usize, functions: Option<usize>) -> anyhow::Result<Self> {
        let known = matches!(lanes, 1 | 2 | 4 | 8 | 16 | 32);
        ensure!(known, "lanes: {lanes} is not possible; expected 1, 2, 4, 8, 16 or 32");
        let plain = CoreOptions::default();
        let windowed = CoreOptions { local_window: true, ..plain };
        let (options, name, text) = match functions {
            None => (plain, "", ""),
            Some(0) => (windowed, "_without_functions", " without network functions"),
            Some(functions) => {
                let options = CoreOptions { network_functions: functions, ..windowed };
                (options, "_with_functions", " with network functions")
            }
        };
        Ok(Self {
            name: format!("{lanes}_lanes{name}"),
            text: format!("a core of {lanes} lanes{text}"),
            design: hermes_rtl::core::emit_core(lanes, options)?,
            lanes: Some(lanes),
            config: None,
        })
    }

    fn command(threads: usize) -> anyhow::Result<Self> {
        let known = matches!(threads, 1 | 2 | 4 | 8);
        ensure!(known, "command-threads: {threads} is not possible; expected 1, 2, 4 or 8");
        let config = Config { command_threads: threads, ..Config::preset("pangaea")? };
        Ok(Self {
            name: format!("{threads}_command_threads"),
            text: format!("a command processor of {threads} hardware threads"),
            design: hermes_rtl::command::emit_processor(&config)?,
            lanes: None,
            config: Some(config),
        })
    }
}

pub fn measure(args: &Args, on: &mut Subject, quiet: bool) -> anyhow::Result<Vec<Figure>> {
    let commands = !args.command_threads.is_empty();
    ensure!(commands || !args.lanes.is_empty() || !args.no_clock, "nothing to measure: --lanes is empty");
    // Without network functions, and with them.
    let variants = match args.network_functions {
        None => vec![None],
        Some(functions @ (2 | 4 | 8)) => vec![Some(0), Some(functions)],
        Some(other) => bail!("network-functions: {other} is not possible; expected 2, 4 or 8"),
    };
    let cores = |lanes: &usize| {
        let lanes = *lanes;
        variants.clone().into_iter().map(move |functions| Part::core(lanes, functions))
    };
    let parts: Vec<Part> = if commands {
        args.command_threads.iter().map(|threads| Part::command(*threads)).collect::<anyhow::Result<_>>()?
    } else {
        args.lanes.iter().flat_map(cores).collect::<anyhow::Result<_>>()?
    };
    parts.iter().filter_map(|part| part.config.as_ref()).for_each(|config| on.add(config));
    let yosys = Tool::yosys()?;
    let mut clocks = Vec::new();
    let mut nextpnr = None;
    if !args.no_clock {
        // Installed or not, that is told before anything is measured.
        let found = Tool::nextpnr_ecp5();
        nextpnr = Some(found.map_err(|error| anyhow!("{error}; --no-clock leaves the clock out"))?);
        clocks = match args.command_threads.last() {
            Some(threads) => vec![Part::command(*threads)?],
            None => cores(&args.clock_lanes).collect::<anyhow::Result<_>>()?,
        };
    }

    let mut figures = Vec::new();
    for part in &parts {
        let cells = with_spinner(quiet, &format!("synthesizing {}", part.text), || {
            let (text, top) = (part.design.verilog(), &part.design.top);
            flow::synthesize(&yosys, temporary_folder("hermes-")?.path(), &text, top)
                .map_err(anyhow::Error::from)
        })?;
        figures.extend(cost(part, &cells));
    }
    if let (Some(_), Some(fewest), Some(most)) =
        (args.network_functions, args.lanes.iter().min(), args.lanes.iter().max())
    {
        figures.extend(of_functions(&figures, *fewest, *most));
    }
    let mut without = None;
    for (nextpnr, part) in nextpnr.iter().flat_map(|nextpnr| clocks.iter().map(move |part| (nextpnr, part))) {
        let work = if args.route { "placing and routing" } else { "placing" };
        let megahertz = with_spinner(quiet, &format!("{work} {}", part.text), || {
            place(&yosys, nextpnr, &part.design, args.route)
        })?;
        let figure = Figure::new(format!("clock_mhz_{}", part.name), megahertz, "MHz");
        let (limit, goal) = match without.replace(megahertz) {
            None => (OPEN_CORE_MEGAHERTZ, 75.0),
            Some(without) => (without - 2.0, without),
        };
        figures.push(figure.limit(Bound::AtLeast(limit)).goal(Bound::AtLeast(goal)));
    }
    Ok(figures)
}

/// What network functions add to a lane and to a core, of the LUTs of the cores with the fewest and
/// the most lanes: none if these are the same.
fn of_functions(figures: &[Figure], fewest: usize, most: usize) -> Vec<Figure> {
    let value = |name: String| figures.iter().find(|figure| figure.name == name).map(|figure| figure.value);
    let added = |lanes: usize| {
        let with = value(format!("luts_{lanes}_lanes_with_functions"))?;
        Some(with - value(format!("luts_{lanes}_lanes_without_functions"))?)
    };
    let (Some(of_fewest), Some(of_most)) = (added(fewest), added(most)) else { return Vec::new() };
    if fewest == most {
        return Vec::new();
    }
    let a_lane = (of_most - of_fewest) / (most as f64 - fewest as f64);
    let a_core = of_fewest - a_lane * fewest as f64;
    let figure = |name: &str, value, limit, goal| {
        let figure = Figure::new(name, value, "LUTs");
        figure.limit(Bound::AtMost(limit)).goal(Bound::AtMost(goal))
    };
    vec![
        figure("functions_luts_a_lane", a_lane, 8.0, 6.0),
        figure("functions_luts_a_core", a_core, 700.0, 500.0),
    ]
}

fn with_spinner<T>(quiet: bool, message: &str, work: impl FnOnce() -> T) -> T {
    let spinner = print::spinner(quiet);
    spinner.set_message(message.to_string());
    let result = work();
    spinner.finish_and_clear();
    result
}

fn cost(part: &Part, cells: &Cells) -> Vec<Figure> {
    let (luts, name) = (cells.luts() as f64, &part.name);
    let mut figures = vec![Figure::new(format!("luts_{name}"), luts, "LUTs")];
    if let Some(lanes) = part.lanes {
        let per_lane = Figure::new(format!("luts_per_lane_{name}"), luts / lanes as f64, "LUTs/lane");
        // The bounds are for full cores: small ones share their control among few lanes.
        figures.push(if lanes == 32 {
            per_lane.limit(Bound::AtMost(OPEN_CORE_LUTS)).goal(Bound::AtMost(1000.0))
        } else {
            per_lane
        });
    }
    figures.extend([
        Figure::new(format!("registers_{name}"), cells.flip_flops() as f64, "flip-flops"),
        Figure::new(format!("block_rams_{name}"), cells.block_rams() as f64, "18-kbit RAMs"),
        Figure::new(format!("dsps_{name}"), cells.multipliers() as f64, "18x18 multipliers"),
    ]);
    figures
}

/// The clock in MHz that nextpnr finds for a part: with wires as long as the placement makes them,
/// or as routed.
fn place(yosys: &Tool, nextpnr: &Tool, design: &Design, route: bool) -> anyhow::Result<f64> {
    let folder = temporary_folder("hermes-")?;
    flow::synthesize(yosys, folder.path(), &(design.verilog() + &pins(design)), PINS)?;
    let placement = Placement {
        device: Device { size: "--85k", package: "CABGA756", speed: 6 },
        folder: folder.path(),
        megahertz: Some(75.0),
        pins: false,
        route,
        effort: Effort { placer: Placer::Heap(40), router2: false },
    };
    Ok(placement.run(nextpnr, 1)?)
}

/// A module around the part with shift registers at its inputs and outputs.
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
             {top} part (\n        .clk(clk),\n        .rst(rst){connections}\n    );\n\
         endmodule\n",
        top = design.top,
    )
}

fn is_clock(port: &str) -> bool {
    matches!(port, "clk" | "rst")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A line through what two sizes of a core cost more.
    #[test]
    fn functions_cost_so_much_a_lane_and_a_core() {
        let luts = |name: &str, value| Figure::new(name, value, "LUTs");
        let figures = [
            luts("luts_4_lanes_without_functions", 8_000.0),
            luts("luts_4_lanes_with_functions", 8_430.0),
            luts("luts_32_lanes_without_functions", 70_000.0),
            luts("luts_32_lanes_with_functions", 70_598.0),
        ];
        let found = of_functions(&figures, 4, 32);
        let found: Vec<_> = found.iter().map(|figure| (figure.name.as_str(), figure.value)).collect();
        assert_eq!(found, [("functions_luts_a_lane", 6.0), ("functions_luts_a_core", 406.0)]);
        assert!(of_functions(&figures, 4, 4).is_empty() && of_functions(&figures, 4, 8).is_empty());
    }

    /// The module around the core connects every port, and its nets are as wide as all of them.
    #[test]
    fn every_port_is_behind_a_shift_register() {
        let design = Part::core(1, None).unwrap().design;
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
