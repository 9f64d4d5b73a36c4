//! Configurations from files: what they leave out has its usual value, what they name is known.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::{ArrayOption, Config, OPTIONS};

/// A value in a file.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Given {
    Switch(bool),
    Number(usize),
    Other(f64),
    Text(String),
    /// A list, an object, or nothing.
    Compound(IgnoredAny),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(is_on) => write!(f, "{is_on}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Other(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "`{text}`"),
            Self::Compound(_) => f.write_str("what stands there"),
        }
    }
}

/// The values of a file by their names, each once.
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Vec<(String, Given)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the options of an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Self::Value::new();
        while let Some((name, value)) = map.next_entry::<String, Given>()? {
            if name != "preset" && ArrayOption::find(&name).is_none() {
                let message = format_args!("{name}: is not known; expected an option of the array");
                return Err(A::Error::custom(message));
            }
            if fields.iter().any(|(other, _)| *other == name) {
                return Err(A::Error::custom(format_args!("{name}: stands there twice; expected once")));
            }
            fields.push((name, value));
        }
        Ok(fields)
    }
}

/// The value of an option, or what was expected.
fn value<E: Error>(option: &ArrayOption, given: Option<&Given>) -> Result<usize, E> {
    match (given, option.is_switch()) {
        (Some(Given::Switch(is_on)), true) => Ok((*is_on).into()),
        (Some(Given::Number(number)), false) => Ok(*number),
        (Some(other), _) => {
            let (name, values) = (option.name, option.values.words());
            Err(E::custom(format_args!("{name}: {other} is not possible; expected {values}")))
        }
        (None, _) => option.usual.ok_or_else(|| E::missing_field(option.name)),
    }
}

impl<'de> Deserialize<'de> for Config {
    /// A file need not name an option that has a usual value: those of former versions do not name
    /// what came later.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = deserializer.deserialize_map(Fields)?;
        let given = |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value);
        let preset = match given("preset") {
            Some(Given::Text(name)) => name,
            Some(other) => {
                let message = format_args!("preset: {other} is not possible; expected a name");
                return Err(D::Error::custom(message));
            }
            None => return Err(D::Error::missing_field("preset")),
        };
        let mut config = Self::with(preset, |_| 0);
        for option in OPTIONS {
            (option.set)(&mut config, value(option, given(option.name))?);
        }
        Ok(config)
    }
}
