//! Delays from a file.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

use super::{ServiceDelays, LONGEST};
use crate::input;

/// The delays that come with Hermes.
const COSTS: &str = include_str!("service-costs.toml");
/// Most bytes of a file of delays.
const MOST_BYTES: u64 = 1 << 20;

/// Which of the stated values of a delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// The least: conclusions hold at these.
    Low,
    /// Between.
    #[default]
    Middle,
    /// The most.
    High,
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "low" => Ok(Self::Low),
            "middle" => Ok(Self::Middle),
            "high" => Ok(Self::High),
            _ => Err(format!("level `{text}`: expected low, middle or high")),
        }
    }
}

/// Why delays cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CostsError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no such file.
    #[error("{path}: {problem}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The field, and what was expected.
        problem: String,
    },
    /// There is no such name or level.
    #[error("{0}")]
    Name(String),
}

/// A delay with where it is from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cost {
    low: u32,
    middle: u32,
    high: u32,
    source: String,
}

/// Delays of one who serves, low, middle and high, each with where it is from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    about: String,
    visible: Cost,
    poll: Cost,
    service: Cost,
    doorbell: Cost,
    completion: Cost,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct All {
    dgpu: Stated,
    apu: Stated,
}

/// Who serves, by name or from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceCosts {
    /// As the user named it: for a file, its name.
    pub name: String,
    /// Who it is, if that is stated.
    pub about: Option<String>,
    /// The delays.
    pub delays: ServiceDelays,
    /// What each of them is from, if that is stated.
    pub sources: Vec<(&'static str, String)>,
}

impl ServiceCosts {
    /// Whether `name` is one of those that come with Hermes, and no file.
    #[must_use]
    pub fn is_stated(name: &str) -> bool {
        matches!(name.split([':', ',']).next(), Some("dgpu" | "apu"))
    }

    /// Those called `name`: `dgpu` or `apu`, with `:low`, `:middle` or `:high` behind it (`:middle`
    /// unless given), and then other values of single delays, such as `dgpu:low,visible=0`; else a
    /// file in TOML with the five delays in nanoseconds.
    ///
    /// # Errors
    /// [`CostsError`] names the file and the field.
    pub fn find(name: &str) -> Result<Self, CostsError> {
        if !Self::is_stated(name) {
            return Self::read(Path::new(name));
        }
        let mut parts = name.split(',');
        let stated = parts.next().unwrap_or(name);
        let (who, level) = stated.split_once(':').unwrap_or((stated, "middle"));
        let level = level.parse().map_err(CostsError::Name)?;
        let own = || Path::new("service-costs.toml").to_path_buf();
        let all: All = toml_edit::de::from_str(COSTS)
            .map_err(|error| CostsError::Format { path: own(), problem: error.to_string() })?;
        let stated = if who == "dgpu" { all.dgpu } else { all.apu };
        let mut costs = stated.at(name, level);
        for part in parts {
            costs.set(part)?;
        }
        Ok(costs)
    }

    /// Gives one delay another value, as `NAME=VALUE` says.
    fn set(&mut self, part: &str) -> Result<(), CostsError> {
        let wrong = |expected: String| CostsError::Name(format!("`{part}`: expected {expected}"));
        let names = || self.delays.named().map(|(name, _)| name).join(", ");
        let form = || wrong(format!("NAME=VALUE, the name one of {}", names()));
        let (name, value) = part.split_once('=').ok_or_else(form)?;
        let value = value.parse().ok().filter(|value| *value <= LONGEST);
        let value = value.ok_or_else(|| wrong(format!("0 to {LONGEST} ns")));
        let place = match name {
            "visible" => &mut self.delays.visible,
            "poll" => &mut self.delays.poll,
            "service" => &mut self.delays.service,
            "doorbell" => &mut self.delays.doorbell,
            "completion" => &mut self.delays.completion,
            _ => return Err(form()),
        };
        *place = value?;
        self.sources.iter_mut().filter(|(source, _)| *source == name).for_each(|(_, source)| {
            *source = "as given".to_string();
        });
        Ok(())
    }

    /// Those in a file.
    fn read(path: &Path) -> Result<Self, CostsError> {
        let error = |source| CostsError::Read { path: path.to_path_buf(), source };
        let format = |problem: String| CostsError::Format { path: path.to_path_buf(), problem };
        let bytes = input::read(path, MOST_BYTES).map_err(error)?;
        let text = String::from_utf8(bytes).map_err(|_| format("expected text in UTF-8".to_string()))?;
        // Wide, so that a value out of range is told as one.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Wide {
            visible: i64,
            poll: i64,
            service: i64,
            doorbell: i64,
            completion: i64,
        }
        let wide: Wide = toml_edit::de::from_str(&text).map_err(|error| format(error.to_string()))?;
        let narrow = |name: &str, value: i64| {
            let value_in_range = u32::try_from(value).ok().filter(|value| *value <= LONGEST);
            value_in_range.ok_or_else(|| format(format!("{name} = {value}: expected 0 to {LONGEST} ns")))
        };
        let delays = ServiceDelays {
            visible: narrow("visible", wide.visible)?,
            poll: narrow("poll", wide.poll)?,
            service: narrow("service", wide.service)?,
            doorbell: narrow("doorbell", wide.doorbell)?,
            completion: narrow("completion", wide.completion)?,
        };
        Ok(Self { name: input::name(path), about: None, delays, sources: Vec::new() })
    }
}

impl Stated {
    fn at(self, name: &str, level: Level) -> ServiceCosts {
        let value = |cost: &Cost| match level {
            Level::Low => cost.low,
            Level::Middle => cost.middle,
            Level::High => cost.high,
        };
        let delays = ServiceDelays {
            visible: value(&self.visible),
            poll: value(&self.poll),
            service: value(&self.service),
            doorbell: value(&self.doorbell),
            completion: value(&self.completion),
        };
        let sources = vec![
            ("visible", self.visible.source),
            ("poll", self.poll.source),
            ("service", self.service.source),
            ("doorbell", self.doorbell.source),
            ("completion", self.completion.source),
        ];
        ServiceCosts { name: name.to_string(), about: Some(self.about), delays, sources }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stated_delays() {
        let low = ServiceCosts::find("dgpu:low").unwrap();
        let expected = ServiceDelays { visible: 300, poll: 20, service: 50, doorbell: 300, completion: 600 };
        assert_eq!((low.delays, low.sources.len()), (expected, 5));
        assert!(low.sources.iter().all(|(_, source)| !source.is_empty()));
        assert_eq!(ServiceCosts::find("apu").unwrap(), {
            let middle = ServiceCosts::find("apu:middle").unwrap();
            ServiceCosts { name: "apu".to_string(), ..middle }
        });
        for who in ["dgpu", "apu"] {
            let at = |level: &str| ServiceCosts::find(&format!("{who}:{level}")).unwrap().delays.named();
            for ((low, middle), high) in at("low").iter().zip(at("middle")).zip(at("high")) {
                assert!(low.1 < middle.1 && middle.1 < high.1, "{who} {}", low.0);
            }
        }
    }

    #[test]
    fn single_delays_with_other_values() {
        let low = ServiceCosts::find("dgpu:low").unwrap().delays;
        let one = ServiceCosts::find("dgpu:low,visible=0,poll=7").unwrap();
        assert_eq!(one.delays, ServiceDelays { visible: 0, poll: 7, ..low });
        assert_eq!((one.sources[0].1.as_str(), one.sources[2].1.starts_with("assumed")), ("as given", true));
        assert_eq!(ServiceCosts::find("apu,service=3").unwrap().delays.service, 3);
        let names = "NAME=VALUE, the name one of visible, poll, service, doorbell, completion";
        for (text, expected) in [
            ("apu,look=1", format!("`look=1`: expected {names}")),
            ("apu,visible", format!("`visible`: expected {names}")),
            ("apu,visible=-1", "`visible=-1`: expected 0 to 1000000 ns".to_string()),
            ("apu:low,poll=1000001", "`poll=1000001`: expected 0 to 1000000 ns".to_string()),
        ] {
            assert_eq!(ServiceCosts::find(text).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn files_and_what_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("costs.toml");
        let good = "visible = 1\npoll = 2\nservice = 3\ndoorbell = 4\ncompletion = 1000000\n";
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            ServiceCosts::find(path.to_str().unwrap()).map_err(|error| error.to_string())
        };
        let expected = ServiceDelays { visible: 1, poll: 2, service: 3, doorbell: 4, completion: 1_000_000 };
        assert_eq!(read(good).unwrap().delays, expected);
        for (text, expected) in [
            (good.replace("poll = 2\n", ""), "missing field `poll`"),
            (good.replace("= 2", "= -2"), "poll = -2: expected 0 to 1000000 ns"),
            (good.replace("1000000", "1000001"), "completion = 1000001: expected 0 to 1000000 ns"),
            (good.replace("poll", "look"), "unknown field `look`"),
            (good.replace("= 2", "= \"much\""), "poll"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(expected) && error.contains("costs.toml"), "{error}");
        }
        let error = ServiceCosts::find("dgpu:fast").unwrap_err().to_string();
        assert_eq!(error, "level `fast`: expected low, middle or high");
        let error = ServiceCosts::find("gpu").unwrap_err().to_string();
        assert!(error.starts_with("gpu: "), "{error}");
    }
}
