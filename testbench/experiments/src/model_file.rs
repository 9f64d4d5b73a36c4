//! A model that jobs run on, and its file.

use std::fmt;
use std::path::Path;

use anyhow::{ensure, Context};
use hermes_hdl::emit::Design;
use hermes_rtl::config::Config;
use hermes_rtl::top::emit_top;
use serde::{Deserialize, Serialize};
use verilator_sys::{BuildStep, Model, ModelLibrary, ModelOptions};

use crate::digest::digest;
use crate::job::{read_json, write_json, Key};

/// Name of a model: the first digits of the SHA-256 of its Verilog.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelKey(Key);

impl TryFrom<String> for ModelKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}

impl From<ModelKey> for String {
    fn from(key: ModelKey) -> Self {
        key.0.into()
    }
}

impl fmt::Display for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A model that jobs run on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// SHA-256 of the emitted Verilog.
    pub verilog: String,
    /// Configuration of the array.
    pub array: Config,
}

impl ModelFile {
    /// The model of an array.
    ///
    /// # Errors
    /// The array is not possible.
    pub fn of(array: &Config) -> anyhow::Result<Self> {
        Ok(Self { verilog: digest(emit_top(array)?.verilog().as_bytes()), array: array.clone() })
    }

    /// Its name.
    #[must_use]
    pub fn key(&self) -> ModelKey {
        ModelKey(Key::of(&self.verilog))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or is no such file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let file: Self = read_json(path, "model")?;
        file.array.validate().with_context(|| format!("{}: array", path.display()))?;
        Ok(file)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_json(path, self)
    }

    /// The model, from the cache or built now.
    ///
    /// # Errors
    /// This program emits other Verilog for the array, or Verilator or the compiler fails.
    pub fn build(&self, step: &mut dyn FnMut(BuildStep)) -> anyhow::Result<ModelLibrary> {
        let design = emit_top(&self.array)?;
        self.check(&design)?;
        let options = ModelOptions {
            about: format!("{}, for experiments", self.array.preset),
            ..hermes_testbench::model::options(&design)
        };
        Ok(Model::build_with_progress(&design.verilog(), &options, step)?)
    }

    fn check(&self, design: &Design) -> anyhow::Result<()> {
        let (found, expected) = (digest(design.verilog().as_bytes()), &self.verilog);
        ensure!(
            found == *expected,
            "verilog {expected}: this version of hermes emits {found} for the array; \
             make the plan again with it"
        );
        Ok(())
    }
}
