//! What a file of changes has, as it is written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::{DeserializeSeed, Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_spanned::Spanned;

use crate::manifest::RawInputs;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub event: Vec<RawEvent>,
}

/// `[[event]]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEvent {
    pub packet: Option<Spanned<u64>>,
    pub cycle: Option<Spanned<u64>>,
    pub insert: Option<Spanned<PathBuf>>,
    pub before: Option<Spanned<String>>,
    pub after: Option<Spanned<String>>,
    pub remove: Option<Spanned<String>>,
    pub replace: Option<Spanned<String>>,
    pub by: Option<Spanned<PathBuf>>,
    pub name: Option<Spanned<String>>,
    pub table: Option<Spanned<String>>,
    pub inputs: Option<Spanned<RawInputs>>,
    pub cores: Option<Spanned<RawCores>>,
    pub entry: Option<Spanned<PathBuf>>,
}

/// How many cores a function gets, or all of them.
#[derive(Clone, Debug)]
pub(super) enum RawCores {
    Count(u32),
    Split(BTreeMap<String, u32>),
}

impl<'de> Deserialize<'de> for RawCores {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(CoresVisitor)
    }
}

/// Tells by name which value of a table is wrong.
struct CoresVisitor;

impl<'de> Visitor<'de> for CoresVisitor {
    type Value = RawCores;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number of cores, 1 or more, or { NAME = CORES, .. }")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<RawCores, E> {
        let count = u32::try_from(value);
        count.map(RawCores::Count).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawCores, A::Error> {
        let mut split = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            let cores = map.next_value_seed(CountOf(&name))?;
            split.insert(name, cores);
        }
        Ok(RawCores::Split(split))
    }
}

/// The number of cores of the function of this name.
struct CountOf<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for CountOf<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<u32, D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for CountOf<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a number of cores of `{}`, 1 or more", self.0)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u32, E> {
        u32::try_from(value).map_err(|_| E::invalid_value(Unexpected::Signed(value), &self))
    }
}
