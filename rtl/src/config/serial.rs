//! Configurations from files: what they leave out has its usual value, what they name is known.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error};

use super::{ArrayOption, Config, OPTIONS};

/// A value in a file.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Given {
    Switch(bool),
    Number(usize),
    Text(String),
}

/// The value of an option, or what was expected.
fn value<E: Error>(option: &ArrayOption, given: Option<&Given>) -> Result<usize, E> {
    match (given, option.is_switch()) {
        (Some(Given::Switch(is_on)), true) => Ok((*is_on).into()),
        (Some(Given::Number(number)), false) => Ok(*number),
        (Some(_), _) => Err(E::custom(format_args!("{}: expected {}", option.name, option.values.words()))),
        (None, _) => option.usual.ok_or_else(|| E::missing_field(option.name)),
    }
}

impl<'de> Deserialize<'de> for Config {
    /// A file of a former version does not name the options that came later: they have their usual
    /// value.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = BTreeMap::<String, Given>::deserialize(deserializer)?;
        let is_known = |name: &str| name == "preset" || OPTIONS.iter().any(|option| option.name == name);
        if let Some(name) = given.keys().find(|name| !is_known(name)) {
            return Err(D::Error::custom(format_args!(
                "{name}: is not known; expected an option of the array"
            )));
        }
        let preset = match given.get("preset") {
            Some(Given::Text(name)) => name.clone(),
            Some(_) => return Err(D::Error::custom("preset: expected a name")),
            None => return Err(D::Error::missing_field("preset")),
        };
        let mut config = Self::with(&preset, |_| 0);
        for option in OPTIONS {
            (option.set)(&mut config, value(option, given.get(option.name))?);
        }
        Ok(config)
    }
}
