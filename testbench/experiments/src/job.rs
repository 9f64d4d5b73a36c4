//! A job: one simulation, and its file.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{ensure, Context};
use hermes_testbench::output::OutputFile;
use hermes_testbench::traffic::{ArrivalProcess, Kind, WIRE_OVERHEAD_BYTES};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::digest;
use crate::model_file::{ModelFile, ModelKey};
use crate::parameters::Parameters;

/// Version of the format of jobs and results: another one has other fields, or fields that mean
/// something else.
pub const FORMAT: u32 = 4;

/// Hexadecimal digits of a key.
const KEY_DIGITS: usize = 16;
/// Most bytes of a file that is read.
const MOST_BYTES: u64 = 64 << 20;

/// Name of a job: the first digits of the SHA-256 of what it depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key(String);

impl Key {
    /// That of a digest: its first digits.
    pub(crate) fn of(digest: &str) -> Self {
        Self(digest.chars().take(KEY_DIGITS).collect())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match text.len() == KEY_DIGITS && text.bytes().all(is_digit) {
            true => Ok(Self(text.to_string())),
            false => Err(format!("key `{text}`: expected {KEY_DIGITS} hexadecimal digits")),
        }
    }
}

impl TryFrom<String> for Key {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.0
    }
}

/// What a result depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Version of the format.
    pub format: u32,
    /// SHA-256 of the emitted Verilog.
    pub verilog: String,
    /// SHA-256 of the kernel's ELF file.
    pub kernel: String,
    /// SHA-256 of entry and segments of the firmware, if one runs.
    pub firmware: Option<String>,
    /// SHA-256 of the app's tables.
    pub tables: String,
    /// What it simulates.
    pub parameters: Parameters,
}

impl Job {
    /// Its name.
    ///
    /// # Errors
    /// It cannot be written as JSON, which is an error of this program.
    pub fn key(&self) -> anyhow::Result<Key> {
        Ok(Key::of(&digest(serde_json::to_string(self)?.as_bytes())))
    }
}

/// What a job takes, roughly; its result does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// Simulated cycles.
    pub cycles: u64,
    /// Bytes of memory.
    pub bytes: u64,
}

/// Bytes of the model and of the process around it.
const MODEL_BYTES: u64 = 400 << 20;

impl Estimate {
    /// Lane-cycles that a packet takes at saturation, measured with 64-byte frames on the array of
    /// the paper.
    fn lane_cycles(app: &str, frame_bytes: usize) -> f64 {
        match app {
            "dec-ttl" => 190.0,
            "route-lookup" => 310.0,
            "check-ip-header" => 330.0,
            "classifier" => 1_800.0,
            // These look at every byte.
            "dpi" | "nids" | "ipsec" => 23.0 * frame_bytes as f64,
            _ => 1_000.0,
        }
    }

    /// What a job with these parameters takes.
    ///
    /// # Errors
    /// Packets or arrivals are not known.
    pub fn of(parameters: &Parameters) -> anyhow::Result<Self> {
        if let Some(nodes) = &parameters.nodes {
            return Ok(nodes.estimate());
        }
        if let Some(machine) = parameters.machine {
            return Ok(machine.estimate(&parameters.array));
        }
        if let Some(media) = parameters.media {
            return Ok(media.estimate(&parameters.array));
        }
        if let (Some(chain), Kind::Fixed(bytes)) = (&parameters.chain, parameters.kind()?) {
            return Ok(chain.estimate(parameters.packets, bytes));
        }
        // The mean of a frame, and what its slot takes.
        let kind = parameters.kind()?;
        let frame_bytes = kind.mean_bytes().round() as usize;
        let slot_bytes = match kind {
            Kind::Fixed(bytes) => (bytes + 64).next_power_of_two(),
            Kind::Imix | Kind::TcpMix | Kind::Bimodal(_) => 2048,
        };
        let packets = parameters.packets as f64;
        let lanes = (parameters.array.cores * parameters.array.lanes) as f64;
        let busy = packets * Self::lane_cycles(&parameters.app, frame_bytes) / lanes;
        let bits = 8 * (frame_bytes as u64 + WIRE_OVERHEAD_BYTES);
        let rate = match parameters.arrival_process()? {
            ArrivalProcess::Constant { rate }
            | ArrivalProcess::Poisson { rate, .. }
            | ArrivalProcess::OnOff { rate, .. } => rate,
            ArrivalProcess::Step(steps) => steps.iter().map(|step| step.rate).fold(f64::INFINITY, f64::min),
            ArrivalProcess::Trace { .. } | ArrivalProcess::Max => f64::INFINITY,
        };
        let arriving = packets * bits as f64 / rate;
        // A classifier and a search look at every filter and rule.
        let tables = match parameters.app.as_str() {
            "classifier" => parameters.filters as f64 / 100.0,
            _ => 1.0,
        };
        // The ring in memory, and the frames as the host has them, before and after.
        let frames = 3 * (parameters.packets * frame_bytes) as u64;
        let ring = ((parameters.packets * slot_bytes) as u64).min(1 << 30);
        let cycles = (busy * tables.max(0.2)).max(arriving) as u64 + 10_000;
        Ok(Self { cycles, bytes: MODEL_BYTES + ring + frames })
    }
}

/// The file of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFile {
    /// Name of the job.
    pub key: Key,
    /// The model that it runs on.
    pub model: ModelKey,
    /// What it takes, roughly.
    pub estimate: Estimate,
    /// The job.
    pub job: Job,
}

impl JobFile {
    /// Reads a file and checks that its key fits.
    ///
    /// # Errors
    /// The file cannot be read, is of another version of the format, or is damaged.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let file: Self = read_json(path, "job")?;
        let named = || format!("{}", path.display());
        file.job.check_format().with_context(named)?;
        let key = file.job.key()?;
        let found = &file.key;
        ensure!(*found == key, "{}: key {found}: expected {key}, that of the job in the file", named());
        file.job.parameters.validate().with_context(named)?;
        let (found, model) = (&file.model, file.model_file().key());
        ensure!(*found == model, "{}: model {found}: expected {model}, that of its Verilog", named());
        Ok(file)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_json(path, self)
    }

    /// The model that it runs on.
    #[must_use]
    pub fn model_file(&self) -> ModelFile {
        ModelFile { verilog: self.job.verilog.clone(), array: self.job.parameters.array.clone() }
    }
}

impl Job {
    /// Whether it is of this version.
    ///
    /// # Errors
    /// It is not.
    pub fn check_format(&self) -> anyhow::Result<()> {
        ensure!(self.format == FORMAT, "format {}: expected {FORMAT}", self.format);
        Ok(())
    }
}

/// Reads a JSON file that is a `what`.
///
/// # Errors
/// It cannot be read or is no such file; the message names the file, the field and the line.
pub fn read_json<T: DeserializeOwned>(path: &Path, what: &str) -> anyhow::Result<T> {
    let bytes =
        hermes_testbench::input::read(path, MOST_BYTES).with_context(|| path.display().to_string())?;
    // A file of another version may have other fields: that it is one is told first.
    #[derive(Deserialize)]
    struct Version {
        format: Option<u32>,
    }
    #[derive(Deserialize)]
    struct Outer {
        format: Option<u32>,
        job: Option<Version>,
    }
    let version = |outer: Outer| outer.format.or(outer.job.and_then(|job| job.format));
    if let Some(format) = serde_json::from_slice(&bytes).ok().and_then(version) {
        ensure!(format == FORMAT, "{}: format {format}: expected {FORMAT}", path.display());
    }
    serde_json::from_slice(&bytes).with_context(|| format!("{}: expected a {what}", path.display()))
}

/// Writes a JSON file, whole or not at all.
///
/// # Errors
/// Any of the file system; the message names the file.
pub fn write_json(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_json(value)?;
    Ok(file.commit()?)
}
