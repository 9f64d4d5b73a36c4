//! The figures and tables of the papers, and those of a sweep.
//!
//! A figure says which runs it wants, and what came of them. Its file has both.

mod area;
mod compnet;
mod curve;
mod depth;
mod fig4;
mod fig5;
mod gnet;
mod hol;
mod issue;
mod mcw;
mod measure;
mod model;
mod overload;
mod pangaea;
mod push;
mod regime;
mod rfc2544;
mod share;
mod sweeps;
mod swept;
mod table2;
#[cfg(test)]
mod tests;
mod timeout;

use std::collections::BTreeMap;

use anyhow::Context as _;
use hermes_testbench::traffic::Kind;

pub(crate) use measure::computing_rate;
pub use measure::{Measure, MEASURES};

use crate::folder::Found;
use crate::parameters::{Parameters, Through};
use crate::plan::{Experiment, Figure, PlannedCell, Scale};
use crate::report::Section;
use crate::results::ResultFile;
use crate::sweep::Axes;

/// Every experiment, in the order of the page.
pub const ALL: &[Experiment] = &[
    curve::EXPERIMENT,
    fig4::THROUGHPUT,
    fig4::DELAY,
    fig4::VARIANCE,
    fig4::ASSUMPTIONS,
    fig4::COMMIT_QUEUE,
    fig4::SPARSE,
    fig4::CORES,
    fig5::EXPERIMENT,
    table2::EXPERIMENT,
    model::BURST,
    model::SPARSE,
    model::HELD_OUT,
    timeout::EXPERIMENT,
    issue::EXPERIMENT,
    share::EXPERIMENT,
    area::EXPERIMENT,
    rfc2544::EXPERIMENT,
    mcw::EXPERIMENT,
    overload::EXPERIMENT,
    push::EXPERIMENT,
    depth::EXPERIMENT,
    sweeps::BY_SIZE,
    sweeps::BY_RULES,
    sweeps::BY_PATTERNS,
    sweeps::BY_ROUTES,
    sweeps::BY_LATENCY,
    sweeps::BY_LANES,
    sweeps::BY_CHANNELS,
    hol::EXPERIMENT,
];

/// The experiments of the Pangaea paper, which are no part of `all`: `pangaea` are all of them.
pub const PANGAEA: &[Experiment] = &[
    pangaea::fig5::EXPERIMENT,
    pangaea::cores::EXPERIMENT,
    pangaea::kmeans::EXPERIMENT,
    pangaea::fig6::EXPERIMENT,
    pangaea::tables::TABLE_2,
    pangaea::tables::TABLE_3,
    pangaea::tables::TABLE_5,
];

/// The experiments of the ComP-Net paper, which are no part of `all`: `compnet` are all of them.
pub const COMPNET: &[Experiment] = &[
    compnet::fig7::EXPERIMENT,
    compnet::fig8a::EXPERIMENT,
    compnet::fig8b::EXPERIMENT,
    compnet::service::EXPERIMENT,
    compnet::fig8c::EXPERIMENT,
    compnet::fig9::EXPERIMENT,
    compnet::fig10::EXPERIMENT,
    compnet::fig10b::EXPERIMENT,
    compnet::fig10::TRAINING,
    compnet::assumptions::EXPERIMENT,
];

/// The experiments of the G-NET paper, which are no part of `all`: `gnet` are all of them.
pub const GNET: &[Experiment] = gnet::ALL;

/// All experiments, those of [`ALL`] first.
pub fn every() -> impl Iterator<Item = &'static Experiment> {
    ALL.iter().chain(PANGAEA).chain(COMPNET).chain(GNET)
}

/// The apps of the papers' figures: name here, name there, packets of a run with a steady state.
/// `dec-ttl` stands for the three that are alike (Hermes, section 4.2).
const APPS: [App; 4] = [
    App::of("classifier", "Packet classification", 32_768, (165.0, 132.0)),
    App::of("dpi", "DPI", 32_768, (270.0, 234.0)),
    App::of("route-lookup", "Routing table lookup", 65_536, (910.0, 121.0)),
    App::of("dec-ttl", "DecTTL", 65_536, (1_430.0, 419.0)),
];

/// Packets of a run with [`Scale::Quick`].
const QUICK_PACKETS: usize = 2_048;
/// Waves that a run has at least for a steady state.
const WAVES: usize = hermes_testbench::metrics::SteadyState::fewest(1) as usize;

/// An app of the papers' figures, with its frames.
#[derive(Clone, Copy, Debug)]
struct App {
    /// Name in labels.
    name: &'static str,
    /// The app that runs.
    runs: &'static str,
    /// Kind of its frames.
    frames: Kind,
    published: &'static str,
    packets: usize,
    /// Million packets a second that it reaches at its best MCW on the array of the paper, about:
    /// from the host and through the ports. They choose the rates of jobs, which a plan must know
    /// before anything is measured; the page tells loads by what was measured.
    throughput: (f64, f64),
}

impl App {
    /// An app with frames of 64 bytes.
    const fn of(name: &'static str, published: &'static str, packets: usize, throughput: (f64, f64)) -> Self {
        Self { name, runs: name, frames: Kind::Fixed(60), published, packets, throughput }
    }

    /// A run of it.
    fn parameters(&self) -> anyhow::Result<Parameters> {
        Ok(Parameters { frames: self.frames.to_string(), ..Parameters::of(self.runs)? })
    }

    /// A run of it at saturation, with an MCW.
    fn saturated(&self, mcw: u32, scale: Scale) -> anyhow::Result<Parameters> {
        let parameters = Parameters { mcw, ..self.parameters()? };
        let threads = parameters.array.cores * parameters.array.lanes * mcw as usize;
        let packets = match scale {
            Scale::Quick => QUICK_PACKETS,
            Scale::Full => self.packets.max(WAVES * threads),
        };
        Ok(Parameters { packets, ..parameters })
    }
}

/// The results of a figure.
#[derive(Debug)]
pub struct Results<'a> {
    /// How much was measured.
    pub scale: Scale,
    /// What a sweep draws.
    pub axes: Option<&'a Axes>,
    /// Name of the figure.
    pub title: &'a str,
    /// Its runs, with their results if there are any.
    pub cells: Vec<(&'a PlannedCell, Option<&'a ResultFile>)>,
}

impl Results<'_> {
    /// The results that there are, with their labels.
    fn found(&self) -> impl Iterator<Item = (&BTreeMap<String, String>, &ResultFile)> {
        self.cells.iter().filter_map(|(cell, result)| result.map(|result| (&cell.labels, result)))
    }

    /// The results whose labels have these among them.
    fn all<'s>(&'s self, labels: &'s [(&str, &str)]) -> impl Iterator<Item = &'s ResultFile> {
        self.labelled(labels).map(|(_, result)| result)
    }

    /// As [`Self::all`], with all of their labels.
    fn labelled<'s>(
        &'s self,
        labels: &'s [(&str, &str)],
    ) -> impl Iterator<Item = (&'s BTreeMap<String, String>, &'s ResultFile)> {
        self.found().filter(move |(found, _)| fits(found, labels))
    }

    /// The result whose labels are these, if it is there.
    fn with(&self, labels: &[(&str, &str)]) -> Option<&ResultFile> {
        self.found().find(|(found, _)| fits(found, labels)).map(|(_, result)| result)
    }

    /// How a steady state was measured, for the page.
    fn steady_state(&self) -> String {
        match self.scale {
            Scale::Full => "Steady state: packets that finish from the first quarter to the last sixteenth of \
                            a run that is at least eight times the threads of the array; the ring has four times \
                            the packets, so the host does not clean the caches in between."
                .to_string(),
            Scale::Quick => format!("Whole runs of {QUICK_PACKETS} packets, no steady state."),
        }
    }
}

/// What a figure of a plan says of the results that were found.
///
/// # Errors
/// It has results that do not belong to it.
pub fn section_of(figure: &Figure, scale: Scale, found: &Found) -> anyhow::Result<Section> {
    let cells: Vec<_> = figure.cells.iter().map(|cell| (cell, found.results.get(&cell.key))).collect();
    let results = Results { scale, axes: figure.axes.as_ref(), title: &figure.name, cells };
    let section = section(&figure.name, &results).with_context(|| format!("figure {}", figure.name))?;
    let none = results.cells.iter().all(|(_, result)| result.is_none());
    Ok(match none {
        true => Section {
            sentence: "It has no result yet.".to_string(),
            plots: Vec::new(),
            rows: Vec::new(),
            ..section
        },
        false => section,
    })
}

/// What a figure says.
///
/// # Errors
/// It has results that do not belong to it.
pub fn section(name: &str, results: &Results) -> anyhow::Result<Section> {
    let mut section = if results.axes.is_some() {
        swept::section(results)?
    } else {
        let experiment = every().find(|one| one.name == name);
        let experiment = experiment.with_context(|| format!("experiment `{name}`: this version has none"))?;
        (experiment.section)(results)?
    };
    // Where results lack, a plot may have nothing to show.
    section.plots.retain(|plot| plot.series.iter().any(|series| !series.points.is_empty()));
    Ok(section)
}

/// The labels of a run.
fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
}

/// Whether a run has these labels.
fn fits(found: &BTreeMap<String, String>, labels: &[(&str, &str)]) -> bool {
    labels.iter().all(|(name, value)| label(found, name) == *value)
}

/// A label of a run; nothing if it has none of this name, which a plan of ours always has.
fn label<'a>(labels: &'a BTreeMap<String, String>, name: &str) -> &'a str {
    labels.get(name).map_or("", String::as_str)
}

/// A number with digits that mean something.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// What is said of a run's throughput: whether its payload moved.
fn path(result: &ResultFile) -> &'static str {
    let through = result.job.parameters.through;
    match (through, result.measured.payload_moved(through)) {
        (Through::Ports, _) => "ports",
        (Through::Host, true) => "host, all lines read",
        (Through::Host, false) => "header path",
    }
}
