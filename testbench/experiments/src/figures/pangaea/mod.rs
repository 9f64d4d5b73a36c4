//! Figures and tables of the Pangaea paper (sections 5 and 6).

pub mod cores;
pub mod fig5;
pub mod fig6;
pub mod kmeans;
pub mod tables;

use hermes_rtl::config::Config;
use hermes_testbench::golden::media::{MediaKernel, MediaSize};

use super::{labels, Results};
use crate::media::{Media, MediaMeasured, MediaProgram, Pass};
use crate::parameters::Parameters;
use crate::plan::{Cell, Scale};
use crate::results::ResultFile;

/// LUTs of four inputs of the two cores and the thread spawner, and of a command processor with one
/// hart, by `hermes bench cost` and docs/command-processor.md.
const CORES_LUTS: f64 = 58_000.0 + 748.0;
const PROCESSOR_LUTS: f64 = 7_694.0;
/// Width of the SIMD unit of the paper's CPU.
const CPU_LANES: f64 = 4.0;

/// What the paper's Figure 5 tells in its text: the largest, and of k-means and SVM.
fn published(kernel: MediaKernel) -> Option<f64> {
    match kernel {
        MediaKernel::Linear => Some(8.8),
        MediaKernel::Kmeans => Some(1.9),
        MediaKernel::Svm => Some(3.6),
        _ => None,
    }
}

/// Size of the data, and what of the array follows from it: 1/16 of the data would fit into the L2
/// of the preset, which is cut to 16 KB then.
fn size(scale: Scale) -> MediaSize {
    match scale {
        Scale::Quick => MediaSize::Quick,
        Scale::Full => MediaSize::Paper,
    }
}

fn with_l2(array: Config, scale: Scale) -> Config {
    match scale {
        Scale::Quick => small_l2(array),
        Scale::Full => array,
    }
}

/// Two banks of 8 KB.
fn small_l2(array: Config) -> Config {
    Config { l2_bank_lines: 128, ..array }
}

fn parameters(kernel: MediaKernel, program: MediaProgram, size: MediaSize) -> anyhow::Result<Parameters> {
    Parameters::of_media(Media { kernel, program, size })
}

const PROGRAMS: [(&str, MediaProgram); 2] =
    [("scalar 1", MediaProgram::Scalar1), ("scalar 2", MediaProgram::Scalar2)];

/// The two scalar programs of a workload, with an array of one core: it does not matter to them.
fn scalar_cells(kernel: MediaKernel, scale: Scale, latency: &str) -> anyhow::Result<Vec<Cell>> {
    let cell = |(name, program): (&str, MediaProgram)| {
        let base = parameters(kernel, program, size(scale))?;
        let labels = labels(&[("kernel", kernel.name()), ("program", name), ("latency", latency)]);
        let array = with_l2(base.array.clone(), scale);
        Ok(Cell { labels, parameters: Parameters { array, memory: latency.to_string(), ..base } })
    };
    PROGRAMS.into_iter().map(cell).collect()
}

fn media(result: &ResultFile) -> Option<&MediaMeasured> {
    result.measured.media.as_ref()
}

/// The last pass of the run with these labels.
fn pass(results: &Results, labels: &[(&str, &str)]) -> Option<Pass> {
    Some(media(results.with(labels)?)?.pass())
}

/// Cycles of the quickest scalar program, and its name.
fn baseline(results: &Results, kernel: MediaKernel, latency: &str) -> Option<(f64, &'static str)> {
    let of = |(name, _): (&'static str, MediaProgram)| {
        let labels = [("kernel", kernel.name()), ("program", name), ("latency", latency)];
        Some((f64::from(pass(results, &labels)?.cycles), name))
    };
    // Both must be there: the other one may be quicker.
    let [a, b] = [of(PROGRAMS[0])?, of(PROGRAMS[1])?];
    Some(if b.0 < a.0 { b } else { a })
}

/// Cycles of the baseline's serial part, which a SIMD unit makes no faster: of k-means the sums.
fn serial(results: &Results, kernel: MediaKernel) -> Option<f64> {
    if kernel != MediaKernel::Kmeans {
        return Some(0.0);
    }
    let labels = [("kernel", kernel.name()), ("program", PROGRAMS[1].0), ("latency", LATENCY)];
    let measured = media(results.with(&labels)?)?;
    let search: u32 = measured.times.iter().map(|[begin, end, _]| end - begin).sum();
    Some(f64::from(measured.pass().cycles) - f64::from(search))
}

/// Cycles from a request to the memory to its answer.
const LATENCY: &str = "60";

/// Baseline over the same with a hart whose parallel part is four times as fast.
fn against_simd(baseline: f64, serial: f64, lanes: f64) -> f64 {
    (serial + (baseline - serial) / CPU_LANES) / lanes
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_string(), super::figure)
}
