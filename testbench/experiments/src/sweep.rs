//! A plan of the user's own: values of parameters, all combinations of them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{bail, ensure, Context};
use hermes_rtl::config::Config;
use hermes_testbench::input;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::figures::MEASURES;
use crate::parameters::Parameters;
use crate::plan::{Cell, Planned, Scale, MOST_JOBS};

/// Most bytes of a sweep file.
const MOST_BYTES: u64 = 1 << 20;

/// What a sweep draws.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axes {
    /// The parameter along the horizontal axis.
    pub x: String,
    /// The figures that are drawn, each in a plot of its own.
    pub y: Vec<String>,
}

/// What a sweep file has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SweepFile {
    /// Title on the page.
    title: String,
    /// Preset that the array starts from.
    preset: Option<String>,
    /// Parameters with one value.
    #[serde(default)]
    set: Map<String, Value>,
    /// Parameters with several values.
    sweep: Map<String, Value>,
    /// What is drawn.
    plot: Axes,
}

/// All combinations of values of parameters.
#[derive(Clone, Debug)]
pub struct Sweep {
    title: String,
    axes: Axes,
    cells: Vec<Cell>,
}

impl Sweep {
    /// Reads a sweep file, a TOML document:
    ///
    /// ```toml
    /// title = "Delay against load"
    /// preset = "default"          # `paper` with two channels, if not given
    ///
    /// [set]                       # parameters with one value
    /// app = "dec-ttl"
    /// packets = 4096
    /// array.l1_lines = 256        # fields of the array's configuration
    ///
    /// [sweep]                     # parameters with several; every combination is a job
    /// mcw = [4, 8]
    /// arrivals = ["constant:100", "poisson:100"]
    ///
    /// [plot]
    /// x = "arrivals"
    /// y = ["gbps", "delay_p99"]
    /// ```
    ///
    /// # Errors
    /// The file cannot be read; a field is not known or has a value that cannot be used; there are
    /// too many combinations. The message names the file and the field.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let named = || path.display().to_string();
        let text = input::read(path, MOST_BYTES).map_err(anyhow::Error::from).and_then(|bytes| {
            input::text(bytes).map_err(|_| anyhow::anyhow!("expected a sweep as text in TOML"))
        });
        Self::parse(&text.with_context(named)?).with_context(named)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let file: SweepFile =
            toml_edit::de::from_str(text).map_err(|error| anyhow::anyhow!("{}", error.to_string().trim()))?;
        let mut base = Parameters::of("dec-ttl")?;
        if let Some(preset) = &file.preset {
            base.array = Config::preset(preset).context("preset")?;
        }
        for (name, value) in flat(&file.set) {
            base = base.with(&name, value).with_context(|| format!("set.{name}"))?;
        }
        let fields = flat(&file.sweep);
        let set = flat(&file.set);
        for (at, (name, _)) in fields.iter().enumerate() {
            let again = fields[..at].iter().chain(&set).any(|(other, _)| other == name);
            ensure!(!again, "sweep.{name}: named twice; expected it once, in [set] or in [sweep]");
        }
        ensure!(!fields.is_empty(), "sweep: expected a parameter with a list of values");
        let mut cells = vec![Cell { labels: BTreeMap::new(), parameters: base }];
        for (name, values) in &fields {
            let Value::Array(values) = values else {
                bail!("sweep.{name} {values}: expected a list of values");
            };
            ensure!(!values.is_empty(), "sweep.{name}: expected at least one value");
            for (at, value) in values.iter().enumerate() {
                ensure!(
                    !values[..at].contains(value),
                    "sweep.{name} {value}: occurs twice; expected it once"
                );
            }
            let jobs = cells.len() * values.len();
            ensure!(jobs <= MOST_JOBS, "sweep: {jobs} jobs and more; expected at most {MOST_JOBS}");
            let mut next = Vec::with_capacity(jobs);
            for cell in &cells {
                for value in values {
                    let parameters = cell
                        .parameters
                        .with(name, value.clone())
                        .with_context(|| format!("sweep.{name} {value}"))?;
                    let mut labels = cell.labels.clone();
                    labels.insert(name.clone(), word(value));
                    next.push(Cell { labels, parameters });
                }
            }
            cells = next;
        }
        for cell in &cells {
            cell.parameters.validate().with_context(|| format!("{:?}", cell.labels))?;
        }
        let Axes { x, y } = &file.plot;
        let is_swept = fields.iter().any(|(name, _)| name == x);
        ensure!(is_swept, "plot.x `{x}`: expected a parameter of [sweep]");
        ensure!(!y.is_empty(), "plot.y: expected at least one of {}", measures());
        for (at, name) in y.iter().enumerate() {
            ensure!(!y[..at].contains(name), "plot.y `{name}`: occurs twice; expected it once");
            let Some(measure) = MEASURES.iter().find(|measure| measure.name == name) else {
                bail!("plot.y `{name}`: not known; expected one of {}", measures());
            };
            let can_be = cells.iter().any(|cell| measure.is_of(&cell.parameters.array));
            ensure!(can_be, "plot.y `{name}`: expected an array with {}", measure.needs());
        }
        Ok(Self { title: file.title, axes: file.plot, cells })
    }

    /// The plan of it.
    ///
    /// # Errors
    /// A kernel cannot be built, or no combination is possible.
    pub fn plan(self) -> anyhow::Result<Planned> {
        Planned::of_figure(&self.title, Some(self.axes), Scale::Full, self.cells)
    }
}

fn measures() -> String {
    MEASURES.iter().map(|measure| measure.name).collect::<Vec<_>>().join(", ")
}

/// A value without the quotes of text.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The fields of a table, those of the array with its name before theirs.
fn flat(table: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut fields = Vec::new();
    for (name, value) in table {
        match value {
            Value::Object(inner) if name == "array" => {
                fields.extend(inner.iter().map(|(field, value)| (format!("array.{field}"), value.clone())));
            }
            _ => fields.push((name.clone(), value.clone())),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "title = \"t\"\npreset = \"default\"\n[set]\napp = \"dec-ttl\"\npackets = 64\n\
                        array.l1_lines = 256\n[sweep]\nmcw = [1, 2]\narray.lanes = [4, 8]\n\
                        [plot]\nx = \"mcw\"\ny = [\"mpps\"]\n";

    #[test]
    fn every_combination_is_a_cell() {
        let sweep = Sweep::parse(GOOD).unwrap();
        let seen: Vec<_> = sweep
            .cells
            .iter()
            .map(|cell| (cell.parameters.mcw, cell.parameters.array.lanes, cell.labels["mcw"].as_str()))
            .collect();
        assert_eq!(seen.len(), 4);
        for expected in [(1, 4, "1"), (1, 8, "1"), (2, 4, "2"), (2, 8, "2")] {
            assert!(seen.contains(&expected), "{seen:?}");
        }
        assert!(sweep.cells.iter().all(|c| c.parameters.array.l1_lines == 256 && c.parameters.packets == 64));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("mcw = [1, 2]", "mcw = 1", "sweep.mcw 1: expected a list of values"),
            ("mcw = [1, 2]", "mcw = []", "sweep.mcw: expected at least one value"),
            ("mcw = [1, 2]", "mcw = [\"a\"]", "sweep.mcw \"a\": expected another kind of value"),
            ("mcw = [1, 2]", "mcw = [0]", "mcw 0: expected 1 to"),
            ("mcw = [1, 2]", "warps = [1]", "sweep.warps 1: not known; expected one of app"),
            ("array.lanes = [4, 8]", "array.lanes = [3]", "array: "),
            ("array.l1_lines = 256", "array.lines = 256", "set.array.lines: not known"),
            ("x = \"mcw\"", "x = \"seed\"", "plot.x `seed`: expected a parameter of [sweep]"),
            ("y = [\"mpps\"]", "y = [\"speed\"]", "plot.y `speed`: not known; expected one of mpps"),
            ("mcw = [1, 2]", "mcw = [1, 1]", "sweep.mcw 1: occurs twice"),
            ("mcw = [1, 2]", "mcw = [1, 2]\npackets = [32]", "sweep.packets: named twice"),
            ("y = [\"mpps\"]", "y = [\"mpps\", \"mpps\"]", "plot.y `mpps`: occurs twice"),
            (
                "y = [\"mpps\"]",
                "y = [\"busy_slots\"]",
                "plot.y `busy_slots`: expected an array with array.load_counters = true",
            ),
            (
                "packets = 64\narray.l1_lines = 256\n[sweep]\nmcw = [1, 2]\narray.lanes = [4, 8]\n[plot]\nx = \"mcw\"\ny = [\"mpps\"]",
                "packets = 64\narray.load_counters = true\n[sweep]\nmcw = [1, 2]\n[plot]\nx = \"mcw\"\ny = [\"high_ring\"]",
                "plot.y `high_ring`: expected an array with array.load_counters = true and array.packet_ports",
            ),
            ("array.lanes = [4, 8]", "array.preset = [\"fpga\"]", "expected `preset` beside"),
            ("title = \"t\"", "name = \"t\"", "unknown field `name`"),
            ("\"default\"", "\"huge\"", "preset: "),
        ];
        for (from, to, expected) in cases {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD, "{from}");
            let error = format!("{:#}", Sweep::parse(&text).unwrap_err());
            assert!(error.contains(expected), "{to}: {error}; expected {expected}");
        }
        let long: Vec<_> = (1..400).map(|seed| seed.to_string()).collect();
        let values = long.join(",");
        let text =
            GOOD.replace("mcw = [1, 2]", &format!("mcw = [1, 2]\nseed = [{values}]\nprefixes = [{values}]"));
        let error = format!("{:#}", Sweep::parse(&text).unwrap_err());
        assert!(error.contains("expected at most 100000"), "{error}");
    }
}
