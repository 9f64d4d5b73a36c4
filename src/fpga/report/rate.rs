//! Packets for cycles and LUTs: a figure that other packet processors can be held against, whatever
//! their clock.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::input;
use serde::{Deserialize, Serialize};

/// Most bytes of a report.
const MOST_BYTES: u64 = 256 << 20;

/// What `hermes run --json` and `hermes fpga run --json` write, as far as it is needed.
#[derive(Deserialize)]
struct Report {
    run: Facts,
    packets: u64,
    frame_bytes: u64,
    cycles: u64,
}

#[derive(Deserialize)]
struct Facts {
    kernel: String,
    configuration: Config,
}

/// A run of packets through an array.
pub struct Run {
    path: PathBuf,
    report: Report,
}

/// How fast an array of some size is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// App or kernel file.
    pub kernel: String,
    /// Bytes of a frame on average, without FCS.
    pub bytes_per_packet: f64,
    /// Packets that are committed in 1,000 cycles.
    pub packets_per_kilocycle: f64,
    /// The same for 1,000 LUTs of four inputs, those of the whole board counted.
    pub packets_per_kilocycle_per_kilolut: f64,
}

impl Run {
    /// Reads the report of a run.
    ///
    /// # Errors
    /// The file cannot be read, is no report of a run, or tells of a run without packets.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let name = || input::name(path);
        let bytes = input::read(path, MOST_BYTES).with_context(name)?;
        let report: Report = serde_json::from_slice(input::without_mark(&bytes)).map_err(|error| {
            anyhow!(
                "{}: no report of a run ({error}); expected the JSON of `hermes run` or `fpga run`",
                name()
            )
        })?;
        for (field, value) in [("packets", report.packets), ("cycles", report.cycles)] {
            ensure!(value > 0, "{}: {field}: 0; expected at least 1", name());
        }
        Ok(Self { path: path.to_path_buf(), report })
    }

    /// Whether the run was on this array. The name of the preset, the output for faults, which
    /// boards add, and the trace buffer, with which a run takes the same cycles, do not count.
    pub fn is_of(&self, config: &Config) -> bool {
        let array = |config: &Config| Config {
            preset: String::new(),
            fault_output: true,
            trace_buffer: 0,
            trace: false,
            ..config.clone()
        };
        array(&self.report.run.configuration) == array(config)
    }

    /// Makes sure that the run was on one of these arrays.
    ///
    /// # Errors
    /// It was on another one.
    pub fn check(&self, configs: &[Config]) -> anyhow::Result<()> {
        let name = input::name(&self.path);
        ensure!(
            configs.iter().any(|config| self.is_of(config)),
            "{name}: run.configuration: another array than those of the report; expected a run with the same \
             options"
        );
        Ok(())
    }

    /// What it says of an array that takes so many LUTs.
    pub fn rate(&self, luts: usize) -> Rate {
        let Report { run, packets, frame_bytes, cycles } = &self.report;
        let packets_per_kilocycle = 1e3 * *packets as f64 / *cycles as f64;
        Rate {
            kernel: run.kernel.clone(),
            bytes_per_packet: *frame_bytes as f64 / *packets as f64,
            packets_per_kilocycle,
            packets_per_kilocycle_per_kilolut: 1e3 * packets_per_kilocycle / luts.max(1) as f64,
        }
    }
}

impl Rate {
    /// The figures in a line.
    pub fn text(&self) -> String {
        format!(
            "{}, {:.1} bytes a packet: {:.2} packets in 1,000 cycles, {:.2} for 1,000 LUTs of four inputs",
            self.kernel,
            self.bytes_per_packet,
            self.packets_per_kilocycle,
            self.packets_per_kilocycle_per_kilolut
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(report: &serde_json::Value) -> anyhow::Result<Run> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, report.to_string()).unwrap();
        Run::read(&path)
    }

    fn report(packets: u64, cycles: u64) -> serde_json::Value {
        let configuration = Config::preset("fpga").unwrap();
        serde_json::json!({
            "run": { "kernel": "dec-ttl", "configuration": configuration },
            "packets": packets, "frame_bytes": 64 * packets, "cycles": cycles, "faults": 0
        })
    }

    #[test]
    fn packets_are_held_against_cycles_and_luts() {
        let rate = read(&report(100, 2000)).unwrap().rate(40_000);
        assert_eq!(rate.packets_per_kilocycle, 50.0);
        assert_eq!(rate.packets_per_kilocycle_per_kilolut, 1.25);
        assert_eq!(
            rate.text(),
            "dec-ttl, 64.0 bytes a packet: 50.00 packets in 1,000 cycles, 1.25 for 1,000 LUTs of four inputs"
        );
    }

    #[test]
    fn a_run_belongs_to_its_array() {
        let run = read(&report(1, 1)).unwrap();
        let config = Config::preset("fpga").unwrap();
        let board = Config { preset: "mine".to_string(), fault_output: true, ..config.clone() };
        assert!(run.check(&[board]).is_ok());
        let other = Config { lanes: 4, ..config };
        let error = run.check(&[other]).unwrap_err().to_string();
        assert!(error.contains("run.json: run.configuration: another array"), "{error}");
    }

    #[test]
    fn what_is_no_run_is_refused() {
        let mut wrong = report(1, 1);
        wrong["run"]["configuration"]["lanes"] = "many".into();
        for (report, message) in [
            (report(1, 0), "run.json: cycles: 0; expected at least 1"),
            (report(0, 1), "run.json: packets: 0; expected at least 1"),
            (serde_json::json!({ "points": [] }), "run.json: no report of a run (missing field"),
            (wrong, "no report of a run (lanes: `many` is not possible; expected 1, 2, 4, 8, 16 or 32"),
        ] {
            let error = read(&report).err().unwrap().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
