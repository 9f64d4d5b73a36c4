//! A report as a list of values, each with the path of names that leads to it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::{anyhow, Context};
use hermes_testbench::input;
use serde_json::Value;

use super::difference::Part;

/// The benches.
const BENCHES: [&str; 10] =
    ["emit", "sim", "cost", "core", "memory", "apps", "spawn", "interrupts", "net", "fig7"];
/// Most bytes of a report.
const MOST_BYTES: u64 = 256 << 20;

/// Which command wrote a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `hermes run` and `hermes fpga run`.
    Run,
    Cluster,
    Bench,
    /// `hermes fpga report`.
    Area,
    /// `hermes fuzz`.
    Coverage,
    /// `hermes profile`.
    Profile,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "hermes run",
            Self::Cluster => "hermes cluster",
            Self::Bench => "hermes bench",
            Self::Area => "hermes fpga report",
            Self::Coverage => "hermes fuzz",
            Self::Profile => "hermes profile",
        })
    }
}

impl Kind {
    /// By what only this kind has.
    fn of(report: &Value) -> Option<Self> {
        let list = |name: &str| report[name].is_array();
        let kinds = [
            (Self::Run, report["run"].is_object() && report["packets"].is_number()),
            (Self::Cluster, list("nodes") && list("ports")),
            (Self::Bench, list("figures")),
            (Self::Area, list("points")),
            (Self::Coverage, report["summary"].is_object()),
            (Self::Profile, report["total"].is_object() && list("functions") && list("instructions")),
        ];
        kinds.into_iter().find(|(_, is)| *is).map(|(kind, _)| kind)
    }

    /// What a value is, by the path that leads to it.
    fn part(self, path: &str) -> Part {
        let first = path.split(['.', '[']).next().unwrap_or_default();
        let last = path.rsplit('.').next().unwrap_or_default();
        match (self, first) {
            (_, "origin") => match last {
                "sha256" => Part::Configuration,
                _ => Part::Origin,
            },
            (Self::Run, "run") => match last {
                // Names of files and devices; what is in the files tells `origin`.
                "capture" | "kernel" | "device" => Part::Origin,
                "seconds" => Part::Figures,
                _ => Part::Configuration,
            },
            (Self::Cluster, "cycles" | "nodes" | "ports") => Part::Figures,
            (Self::Cluster, "kernel") => Part::Origin,
            (Self::Cluster, _) => Part::Configuration,
            // Names of files; what is in them tells `origin`.
            (Self::Profile, "kernel" | "capture") => Part::Origin,
            (Self::Profile, "preset" | "cores" | "lanes" | "warp_slots" | "configuration") => {
                Part::Configuration
            }
            (Self::Bench, "configurations" | "seed") => Part::Configuration,
            (
                Self::Coverage,
                "configuration"
                | "seeds"
                | "first_seed"
                | "instructions_of_a_thread"
                | "packets"
                | "rv32e"
                | "with_faults"
                | "watchdog"
                | "latency"
                | "stalls",
            ) => Part::Configuration,
            (Self::Area, _)
                if path.contains(".config.")
                    || ["board", "memory_bytes", "clock_khz", "kernel"].contains(&last) =>
            {
                Part::Configuration
            }
            (Self::Bench, _) if ["unit", "limit", "goal"].contains(&last) => Part::Configuration,
            _ => Part::Figures,
        }
    }
}

/// The name of an entry of a list, which it keeps when others come before it: figures, inputs;
/// source lines, instructions and functions of a profile, which are in the order of their cost.
fn name_of(entry: &Value) -> Option<String> {
    let text = |field: &str| entry[field].as_str();
    if let Some(name) = text("name").or(text("option")) {
        return Some(name.to_string());
    }
    if let (Some(place), Some(instruction)) = (text("place"), text("instruction")) {
        return Some(format!("{place} {instruction}"));
    }
    let function = text("function")?;
    match (text("file"), entry["line"].as_u64()) {
        (Some(file), Some(line)) => Some(format!("{file}:{line}")),
        _ => Some(function.to_string()),
    }
}

/// The bench whose figures a report has, such as `core`: the word of the command line behind
/// `bench`.
fn bench_of(report: &Value) -> Option<String> {
    let words = report["origin"]["command"].as_array()?.iter().filter_map(Value::as_str);
    let mut behind = words.skip_while(|word| *word != "bench").skip(1);
    let known = behind.find(|word| BENCHES.contains(word))?;
    Some(known.to_string())
}

/// A report.
pub struct Document {
    pub kind: Kind,
    /// The bench, if it is of one.
    pub bench: Option<String>,
    /// Values by their paths, such as `cores[1].ipc`.
    pub values: BTreeMap<Key, Value>,
}

/// Where a value stands: its part first, so that parts stay together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub part: Part,
    pub path: String,
}

impl Document {
    /// The report in a file.
    ///
    /// # Errors
    /// The file cannot be read, is no JSON, or no report.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let name = || input::name(path);
        let bytes = input::read(path, MOST_BYTES).with_context(name)?;
        let expected =
            "expected the JSON of `hermes run`, `fpga run`, `fpga report`, `cluster`, `bench`, `fuzz` or `profile`";
        let report: Value = serde_json::from_slice(input::without_mark(&bytes))
            .map_err(|error| anyhow!("{}: no JSON ({error}); {expected}", name()))?;
        let kind = Kind::of(&report).ok_or_else(|| anyhow!("{}: no report; {expected}", name()))?;
        let bench = if kind == Kind::Bench { bench_of(&report) } else { None };
        let mut document = Self { kind, bench, values: BTreeMap::new() };
        document.add(String::new(), report);
        document.drop_repeated();
        Ok(document)
    }

    /// Drops what stands twice: some fields of the configuration are told beside it.
    fn drop_repeated(&mut self) {
        let fields = self.values.keys().filter_map(|key| {
            let (above, field) = key.path.split_once("configuration.")?;
            Some(Key { part: key.part, path: format!("{above}{field}") })
        });
        for key in fields.collect::<Vec<_>>() {
            self.values.remove(&key);
        }
    }

    /// Values of a part.
    pub fn count(&self, part: Part) -> usize {
        self.values.keys().filter(|key| key.part == part).count()
    }

    fn add(&mut self, path: String, value: Value) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                    self.add(path, value);
                }
            }
            // The words of a command line belong together.
            Value::Array(words) if path == "origin.command" => {
                let words: Vec<_> = words.iter().map(|word| word.as_str().unwrap_or("?")).collect();
                self.insert(path, Value::String(words.join(" ")));
            }
            Value::Array(list) => {
                for (number, value) in list.into_iter().enumerate() {
                    let name = name_of(&value).unwrap_or_else(|| number.to_string());
                    let mut place = format!("{path}[{name}]");
                    if self.has(&place) {
                        place = format!("{path}[{name}, {number}]");
                    }
                    self.add(place, value);
                }
            }
            value => self.insert(path, value),
        }
    }

    /// Whether anything stands at this path or below it.
    fn has(&self, path: &str) -> bool {
        let below = [format!("{path}."), format!("{path}[")];
        self.values
            .keys()
            .any(|key| key.path == path || below.iter().any(|start| key.path.starts_with(start)))
    }

    fn insert(&mut self, path: String, value: Value) {
        let part = self.kind.part(&path);
        self.values.insert(Key { part, path }, value);
    }
}
