//! nextpnr.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use hermes_interrupt::Running;

use super::tools::{read, FlowError, Tool};

/// An ECP5 for nextpnr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// `--25k`, `--45k`, `--85k`.
    pub size: &'static str,
    /// The package, such as `CABGA381`.
    pub package: &'static str,
    /// The speed grade: 6, 7 or 8.
    pub speed: u32,
}

/// How nextpnr places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placer {
    /// By solving for the shortest wires and spreading again and again, with this many times as
    /// much weight as by default (10) on timing.
    Heap(u32),
    /// By forces that spread the cells while they shorten the wires: it leaves a fifth less wire
    /// than the other where memories and carry chains are many.
    Static,
}

/// How hard nextpnr tries what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How it places. How densely nextpnr sets by itself for an ECP5; see
    /// [`keep_room`](super::keep_room).
    pub placer: Placer,
    /// The router is the second one, which negotiates over congested wires. Behind the static
    /// placer the weight of a wire that is used twice grows with each round. Behind HeAP, which
    /// leaves more wires, such weights make new conflicts of the last ones: there it is the same in
    /// all rounds.
    pub router2: bool,
}

impl Default for Effort {
    /// What routed an array.
    fn default() -> Self {
        Self { placer: Placer::Static, router2: true }
    }
}

/// What is to be placed and routed.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement<'a> {
    /// The device.
    pub device: Device,
    /// Where `netlist.json` and, if there are pins, `pins.lpf` are.
    pub folder: &'a Path,
    /// Clock that is wanted in MHz, if the netlist does not say it by a PLL and constraints.
    pub megahertz: Option<f64>,
    /// The netlist has pins.
    pub pins: bool,
    /// Wires are routed, not only guessed from the placement.
    pub route: bool,
    /// How hard it tries what.
    pub effort: Effort,
}

impl Placement<'_> {
    /// Starts an attempt with one seed; it leaves `seed-N.log` and, if it comes to an end,
    /// `seed-N.config` in the folder.
    ///
    /// # Errors
    /// nextpnr does not start, or the log cannot be written.
    pub fn start(&self, nextpnr: &Tool, seed: u32) -> Result<Running, FlowError> {
        let Device { size, package, speed } = self.device;
        let mut arguments: Vec<String> =
            [size, "--package", package, "--json", "netlist.json"].map(String::from).into();
        arguments.extend(["--speed".to_string(), speed.to_string(), "--seed".to_string(), seed.to_string()]);
        match self.effort.placer {
            Placer::Heap(weight) => {
                arguments.extend(["--placer", "heap", "--placer-heap-timingweight"].map(String::from));
                arguments.push(weight.to_string());
            }
            Placer::Static => arguments.extend(["--placer", "static"].map(String::from)),
        }
        arguments.push("--timing-allow-fail".to_string());
        if self.effort.router2 && matches!(self.effort.placer, Placer::Heap(_)) {
            arguments.push("--router2-alt-weights".to_string());
        }
        if let Some(megahertz) = self.megahertz {
            arguments.extend(["--freq".to_string(), megahertz.to_string()]);
        }
        if self.pins {
            arguments.extend(["--lpf", "pins.lpf"].map(String::from));
        } else {
            arguments.push("--lpf-allow-unconstrained".to_string());
        }
        if self.route {
            arguments.extend(["--textcfg".to_string(), format!("seed-{seed}.config")]);
            arguments.extend(
                ["--router", if self.effort.router2 { "router2" } else { "router1" }].map(String::from),
            );
        } else {
            arguments.push("--no-route".to_string());
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = nextpnr.command(self.folder, &arguments);
        // What `--log` writes comes a hundred rounds of the router late.
        let log = self.folder.join(format!("seed-{seed}.log"));
        let log = File::create(&log).map_err(|source| FlowError::File { path: log, source })?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        hermes_interrupt::spawn(&mut command).map_err(|error| nextpnr.cannot_start(error))
    }

    /// What the attempt with this seed has said so far.
    #[must_use]
    pub fn log(&self, seed: u32) -> String {
        std::fs::read_to_string(self.folder.join(format!("seed-{seed}.log"))).unwrap_or_default()
    }

    /// Runs one attempt to its end; gives the clock in MHz.
    ///
    /// # Errors
    /// nextpnr does not start, fails or names no clock.
    pub fn run(&self, nextpnr: &Tool, seed: u32) -> Result<f64, FlowError> {
        let status = self.start(nextpnr, seed)?.wait().map_err(|error| nextpnr.cannot_start(error))?;
        let log = read(&self.folder.join(format!("seed-{seed}.log")))?;
        if !status.success() {
            return Err(nextpnr.failed(status, &log));
        }
        clock(&log).ok_or_else(|| nextpnr.said("no clock in its log"))
    }
}

/// The clock in what nextpnr says, `Max frequency for clock 'clk': 80.10 MHz (PASS at 75.00
/// MHz)`: that of the slowest net, and of each net what was said last.
#[must_use]
pub fn clock(log: &str) -> Option<f64> {
    let said = log.lines().filter_map(|line| {
        let (net, rest) = line.split_once("Max frequency for clock ")?.1.split_once(": ")?;
        Some((net.trim(), rest.split_whitespace().next()?.parse::<f64>().ok()?))
    });
    let clocks: BTreeMap<&str, f64> = said.collect();
    clocks.into_values().reduce(f64::min)
}

/// How many wires were used more than once, in each round of the second router:
/// `iter=3 wires=120 overused=7 ..`.
#[must_use]
pub fn overused(log: &str) -> Vec<u64> {
    let of_line = |line: &str| line.split_once(" overused=")?.1.split_whitespace().next()?.parse().ok();
    log.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_clock_counts() {
        let placed = "Info: Max frequency for clock 'clk': 19.97 MHz (FAIL at 75.00 MHz)\n\
                      Info: Max frequency for clock  'slow': 81.50 MHz (PASS at 75.00 MHz)\n\
                      Info: Max delay <async> -> posedge clk: 19.50 ns\n";
        assert_eq!(clock(placed), Some(19.97));
        let routed = format!("{placed}Info: Max frequency for clock 'clk': 90.10 MHz (PASS at 75.00 MHz)\n");
        assert_eq!(clock(&routed), Some(81.5));
        assert_eq!(clock("Info: no clocks\n"), None);
    }

    #[test]
    fn rounds_of_the_router_are_read() {
        let log = "Info:     iter=1 wires=134 overused=50 overuse=80 archfail=NA\n\
                   Info:     iter=2 wires=140 overused=3 overuse=3 archfail=NA\n";
        assert_eq!(overused(log), [50, 3]);
    }
}
