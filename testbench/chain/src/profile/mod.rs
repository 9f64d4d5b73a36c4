//! What a function costs by its warps and cores, measured on the simulated array before a chain
//! runs: nBench of the G-NET paper (section 5.2).
//!
//! The function has the array to itself, on one core with several numbers of warps and on several
//! cores with as many warps as are of use; all other cores stand still. Packets come as fast as the
//! array takes them, so every warp slot is busy, and its cycles follow from the rate.

mod measure;

use std::fmt;
use std::path::Path;

use anyhow::{ensure, Context};
use serde::{Deserialize, Serialize};

pub use measure::{rate_of, Bench, Window};

use super::schedule::{errors, Cost, Linear, Measured, Point};

/// Version of the file of a profile.
pub const FORMAT: u32 = 1;
/// Most bytes of it.
const MOST_BYTES: u64 = 1 << 20;
/// Part of the largest rate of a core from which on more warps only add latency.
const KNEE: f64 = 0.97;

/// What was measured with so many warps on each of so many cores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Cores of the function.
    pub cores: usize,
    /// Warps on each.
    pub warps: u32,
    /// Cycles from the start of a warp to the start of the next one in its slot: cores x warps x
    /// lanes over the rate.
    pub cycles: f64,
    /// Packets a cycle.
    pub rate: f64,
    /// Cycles from the start of a warp to its finish, in the mean over the packets.
    pub stay: f64,
}

impl Sample {
    /// Core-cycles a packet.
    #[must_use]
    pub fn core_cycles(&self) -> f64 {
        self.cores as f64 / self.rate
    }

    fn point(&self) -> Point {
        Point { cores: self.cores, warps: self.warps, cycles: self.cycles }
    }
}

/// Mean and largest relative error of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub worst: f64,
}

impl From<(f64, f64)> for Errors {
    fn from((mean, worst): (f64, f64)) -> Self {
        Self { mean, worst }
    }
}

/// Which form a cost has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Lines between what was measured.
    #[default]
    Interpolated,
    /// The paper's form.
    Linear,
}

/// The profile of a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the format.
    pub format: u32,
    /// The function.
    pub function: String,
    /// SHA-256 of all that it depends on: Verilog, kernel and tables, packets, memory, points.
    pub key: String,
    /// Lanes of a core.
    pub lanes: u32,
    /// Packets that it was measured with; they come again as often as a run needs.
    pub packets: usize,
    /// Mean bytes of their frames as they reached the function, without FCS.
    pub frame_bytes: f64,
    /// What was measured.
    pub samples: Vec<Sample>,
    /// Warps on a core beyond which the rate does not rise by 3 %.
    pub knee: u32,
    /// The paper's form of it.
    pub linear: Linear,
    /// How far this form is from what was measured.
    pub linear_error: Errors,
    /// How far the lines between the neighbours of a point are from it, of the points of one core
    /// that have two.
    pub interpolation_error: Errors,
}

impl Profile {
    /// The profile of `function` by what was measured.
    ///
    /// # Errors
    /// There is no sample of one core.
    pub fn of(
        function: &str,
        key: &str,
        lanes: u32,
        frames: &[Vec<u8>],
        samples: Vec<Sample>,
    ) -> anyhow::Result<Self> {
        let knee = knee(&samples).with_context(|| format!("{function}: no measurement on one core"))?;
        let points: Vec<_> = samples.iter().map(Sample::point).collect();
        // A slot is empty from a finish to the next start.
        let empty = samples.iter().map(|sample| sample.cycles - sample.stay);
        let empty = empty.fold(f64::INFINITY, f64::min).max(0.0);
        let linear = Linear::fit(&points, lanes, empty).context("no measurement on one core")?;
        let line = Cost::Linear(linear, lanes);
        let of_line = points.iter().map(|point| (line.cycles(point.warps, point.cores), point.cycles));
        let bytes: usize = frames.iter().map(Vec::len).sum();
        Ok(Self {
            format: FORMAT,
            function: function.to_string(),
            key: key.to_string(),
            lanes,
            packets: frames.len(),
            frame_bytes: bytes as f64 / frames.len().max(1) as f64,
            knee,
            linear,
            linear_error: errors(of_line).into(),
            interpolation_error: errors(left_out(&points)).into(),
            samples,
        })
    }

    /// What it costs, in one form or the other.
    ///
    /// # Errors
    /// The file of the profile has no point of one core.
    pub fn cost(&self, form: Form) -> anyhow::Result<Cost> {
        let points: Vec<_> = self.samples.iter().map(Sample::point).collect();
        let measured = Measured::of(&points);
        let measured = measured.with_context(|| format!("{}: no measurement on one core", self.function))?;
        Ok(match form {
            Form::Interpolated => Cost::Measured(measured),
            Form::Linear => Cost::Linear(self.linear, self.lanes),
        })
    }

    /// Reads the profiles in a file.
    ///
    /// # Errors
    /// It cannot be read, or has something else than profiles of this version.
    pub fn read(path: &Path) -> anyhow::Result<Vec<Self>> {
        #[derive(Deserialize)]
        struct File {
            profiles: Vec<Profile>,
        }
        let named = || path.display().to_string();
        let bytes = crate::input::read(path, MOST_BYTES).with_context(named)?;
        let file: File = serde_json::from_slice(&bytes)
            .with_context(|| format!("{}: expected profiles of `hermes nf bench --json`", named()))?;
        for profile in &file.profiles {
            let format = profile.format;
            ensure!(format == FORMAT, "{}: format {format}: expected {FORMAT}", named());
            for Sample { cores, warps, cycles, rate, .. } in &profile.samples {
                let good = |value: &f64| value.is_finite() && *value > 0.0;
                ensure!(
                    *cores > 0 && *warps > 0 && good(cycles) && good(rate),
                    "{}: samples: {cores} cores, {warps} warps, {cycles} cycles, rate {rate}: \
                     expected numbers above 0",
                    named()
                );
            }
            profile.cost(Form::Interpolated).with_context(named)?;
        }
        Ok(file.profiles)
    }

    /// The text of a file with `profiles`.
    ///
    /// # Errors
    /// A number is none in JSON.
    pub fn text(profiles: &[Self]) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&serde_json::json!({ "profiles": profiles }))
    }
}

/// The fewest warps of those measured on one core that reach 97 % of its largest rate.
fn knee(samples: &[Sample]) -> Option<u32> {
    let one = || samples.iter().filter(|sample| sample.cores == 1);
    let best = one().map(|sample| sample.rate).fold(0.0, f64::max);
    one().filter(|sample| sample.rate >= KNEE * best).map(|sample| sample.warps).min()
}

/// Each point of one core between two others, as the line through these has it, and as it is.
fn left_out(points: &[Point]) -> Vec<(f64, f64)> {
    let mut one: Vec<_> = points.iter().filter(|point| point.cores == 1).copied().collect();
    one.sort_by_key(|point| point.warps);
    let predicted = |of: &[Point]| {
        let around = Measured::of(&[of[0], of[2]])?;
        Some((Cost::Measured(around).cycles(of[1].warps, 1), of[1].cycles))
    };
    one.windows(3).filter_map(predicted).collect()
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} packets of {:.0} bytes in the mean, knee at {} warps",
            self.function, self.packets, self.frame_bytes, self.knee
        )?;
        writeln!(
            f,
            "{:>5} {:>5} {:>14} {:>14} {:>12} {:>18}",
            "cores", "warps", "cycles a warp", "on the core", "packets/cyc", "core cycles/packet"
        )?;
        for sample in &self.samples {
            let Sample { cores, warps, cycles, rate, stay } = sample;
            let core_cycles = sample.core_cycles();
            writeln!(
                f,
                "{cores:>5} {warps:>5} {cycles:>14.0} {stay:>14.0} {rate:>12.5} {core_cycles:>18.1}"
            )?;
        }
        let Linear { k1, b1, k2, b2 } = self.linear;
        let percent =
            |errors: Errors| format!("{:.1} %, at most {:.1} %", 1e2 * errors.mean, 1e2 * errors.worst);
        writeln!(
            f,
            "L = {k1:.2} B + {b1:.0} + {k2:.3} B N + {b2:.0}: off by {}",
            percent(self.linear_error)
        )?;
        write!(f, "lines between neighbours: off by {}", percent(self.interpolation_error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(cores: usize, warps: u32, cycles: f64) -> Sample {
        let rate = 4.0 * cores as f64 * f64::from(warps) / cycles;
        Sample { cores, warps, cycles, rate, stay: cycles - 5.0 }
    }

    fn profile() -> Profile {
        let samples = [(1, 1, 100.0), (1, 2, 110.0), (1, 4, 200.0), (1, 8, 400.0), (2, 4, 220.0)];
        let samples = samples.map(|(cores, warps, cycles)| sample(cores, warps, cycles));
        Profile::of("f", "k", 4, &[vec![0; 60], vec![0; 100]], samples.to_vec()).unwrap()
    }

    #[test]
    fn a_profile_by_hand() {
        let profile = profile();
        // 4, 7.3, 8 and 8 packets in 100 cycles.
        assert_eq!((profile.knee, profile.frame_bytes, profile.linear.b2), (4, 80.0, 5.0));
        assert_eq!(profile.samples[4].core_cycles(), 2.0 / (4.0 * 8.0 / 220.0));
        // At 2 the line through 1 and 4 has 133, at 4 that through 2 and 8 has 207.
        let worst = (100.0 + 100.0 / 3.0) / 110.0 - 1.0;
        assert!((profile.interpolation_error.worst - worst).abs() < 1e-9, "{profile:?}");
        assert!(profile.linear_error.worst > 0.0 && profile.linear.k2 > 0.0, "{profile:?}");
        let text = profile.to_string();
        assert!(text.contains("knee at 4 warps") && text.contains("lines between neighbours"), "{text}");
        assert!(Profile::of("f", "k", 4, &[], vec![sample(2, 1, 1.0)]).is_err());
    }

    #[test]
    fn files_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.json");
        let profile = profile();
        std::fs::write(&path, Profile::text(std::slice::from_ref(&profile)).unwrap()).unwrap();
        assert_eq!(Profile::read(&path).unwrap(), std::slice::from_ref(&profile));
        let mut value = serde_json::json!({ "origin": {}, "profiles": [profile] });
        let error = |value: &serde_json::Value| {
            std::fs::write(&path, value.to_string()).unwrap();
            format!("{:#}", Profile::read(&path).unwrap_err())
        };
        value["profiles"][0]["format"] = 7.into();
        assert!(error(&value).ends_with("p.json: format 7: expected 1"), "{}", error(&value));
        value["profiles"][0]["format"] = FORMAT.into();
        value["profiles"][0]["samples"][0]["cycles"] = 0.into();
        assert!(error(&value).contains("samples: 1 cores, 1 warps, 0 cycles"), "{}", error(&value));
        value["profiles"][0]["samples"] = serde_json::json!([]);
        assert!(error(&value).contains("no measurement on one core"), "{}", error(&value));
        value["profiles"][0]["more"] = 1.into();
        let told = error(&value);
        assert!(told.contains("expected profiles") && told.contains("`more`"), "{told}");
    }
}
