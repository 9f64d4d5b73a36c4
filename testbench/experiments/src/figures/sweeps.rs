//! One parameter each: how throughput depends on sizes of frames and tables, memory and the array.

use super::{figure, label, labels, path, App, Results, APPS, QUICK_PACKETS};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// MCW of the runs: near the best for every app, with half of the packets that 16 needs for a
/// steady state.
const MCW: u32 = 8;
/// Packets of a run: a steady state on the array of the paper.
const PACKETS: usize = 16_384;

/// What is swept.
struct Sweep {
    /// The parameter, as a sweep file names it.
    parameter: &'static str,
    /// What it is, with its unit.
    title: &'static str,
    /// Its values.
    values: &'static [&'static str],
    /// How many of them are runs of [`Scale::Quick`].
    quick: usize,
    /// Apps whose throughput may depend on it.
    apps: &'static [&'static str],
}

const EVERY_APP: &[&str] = &["classifier", "dpi", "route-lookup", "dec-ttl"];

const SIZE: Sweep = Sweep {
    parameter: "frames",
    title: "bytes of a frame without FCS",
    values: &["fixed:60", "fixed:124", "fixed:252", "fixed:508", "fixed:1020", "fixed:1514", "imix"],
    quick: 2,
    apps: EVERY_APP,
};
const RULES: Sweep = Sweep {
    parameter: "filters",
    title: "filters of the classifier",
    values: &["10", "50", "100", "200", "500"],
    quick: 2,
    apps: &["classifier"],
};
const PATTERNS: Sweep = Sweep {
    parameter: "pattern_rules",
    title: "rules whose patterns are searched",
    values: &["10", "50", "100", "500", "2000"],
    quick: 2,
    apps: &["dpi"],
};
const ROUTES: Sweep = Sweep {
    parameter: "prefixes",
    title: "prefixes of the routing table",
    values: &["100", "1000", "10000", "100000"],
    quick: 2,
    apps: &["route-lookup"],
};
const LATENCY: Sweep = Sweep {
    parameter: "memory",
    title: "cycles until the memory answers",
    values: &["20", "50", "100", "200", "400"],
    quick: 2,
    apps: EVERY_APP,
};
const LANES: Sweep = Sweep {
    parameter: "array.lanes",
    title: "lanes of a core",
    values: &["32", "16", "8"],
    quick: 1,
    apps: EVERY_APP,
};
const CHANNELS: Sweep = Sweep {
    parameter: "array.channels",
    title: "channels of memory",
    values: &["2", "1", "4"],
    quick: 1,
    apps: EVERY_APP,
};

macro_rules! experiment {
    ($constant:ident, $name:literal, $sweep:ident, $summary:literal) => {
        #[doc = $summary]
        pub const $constant: Experiment = Experiment {
            name: $name,
            summary: $summary,
            cells: |scale| cells(&$sweep, scale),
            section: |results| section(&$sweep, results),
        };
    };
}

experiment!(BY_SIZE, "size", SIZE, "throughput against the size of frames");
experiment!(BY_RULES, "rules", RULES, "throughput of the classifier against its filters");
experiment!(BY_PATTERNS, "patterns", PATTERNS, "throughput of DPI against its rules");
experiment!(BY_ROUTES, "routes", ROUTES, "throughput of the route look-up against its prefixes");
experiment!(BY_LATENCY, "latency", LATENCY, "throughput against the latency of the memory");
experiment!(BY_LANES, "lanes", LANES, "throughput against the lanes of a core");
experiment!(BY_CHANNELS, "channels", CHANNELS, "throughput against the channels of memory");

/// The apps of a sweep.
fn apps(sweep: &'static Sweep) -> impl Iterator<Item = &'static App> {
    APPS.iter().filter(|app| sweep.apps.contains(&app.name))
}

fn cells(sweep: &'static Sweep, scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let values = match scale {
        Scale::Quick => &sweep.values[..sweep.quick],
        Scale::Full => sweep.values,
    };
    let mut cells = Vec::new();
    for app in apps(sweep) {
        for value in values {
            let packets = match scale {
                Scale::Quick => QUICK_PACKETS,
                Scale::Full => PACKETS,
            };
            let base = Parameters { mcw: MCW, packets, ..Parameters::of(app.name)? };
            let parameters = base.with_text(&format!("{}={value}", sweep.parameter))?;
            let labels = labels(&[("app", app.name), (sweep.parameter, value)]);
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

/// The number in a value: `fixed:60` is 60.
fn number(value: &str) -> Option<f64> {
    let text = value.strip_prefix("fixed:").unwrap_or(value);
    text.parse().ok()
}

fn section(sweep: &'static Sweep, results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut series, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for app in apps(sweep) {
        let mut points = Vec::new();
        for (labels, result) in results.labelled(&[("app", app.name)]) {
            let (value, rate) = (label(labels, sweep.parameter), result.measured.rate());
            points.extend(number(value).map(|number| (number, rate.mpps())));
            rows.push(vec![
                app.published.to_string(),
                value.to_string(),
                figure(rate.mpps()),
                figure(rate.gbps()),
                if result.measured.steady.is_some() { "steady state" } else { "whole run" }.to_string(),
                figure(result.measured.lines()),
                path(result).to_string(),
            ]);
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            let (first, last) = ((figure(first.0), figure(first.1)), (figure(last.0), figure(last.1)));
            told.push(format!("{} {} at {}, {} at {}", app.published, first.1, first.0, last.1, last.0));
        }
        if !points.is_empty() {
            series.push(Series { name: app.published.to_string(), points, published: false });
        }
    }
    let plot = Plot {
        title: format!("Throughput against {}", sweep.title),
        x: sweep.title.to_string(),
        x_scale: report::Scale::Logarithmic,
        y: "Mpps".to_string(),
        y_scale: report::Scale::Logarithmic,
        series,
    };
    let head = ["app", sweep.parameter, "Mpps", "Gbit/s of frames", "of", "lines moved a packet", "packets"];
    Ok(Section {
        title: format!("Throughput against {}", sweep.title),
        sentence: match told.is_empty() {
            true => "It has no result yet.".to_string(),
            false => format!("Million packets a second: {}.", told.join("; ")),
        },
        plots: vec![plot],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "All packets there from the start, 64-byte frames unless said, MCW {MCW}; rates of the steady state, but for quick runs. \
             Packets come by the host: where the payload does not move, a size \
             changes nothing but the bits that are counted."
        ),
        assumed: String::new(),
        differs: "The papers have no such figure.".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_numbers() {
        assert_eq!((number("fixed:60"), number("100"), number("imix")), (Some(60.0), Some(100.0), None));
        for sweep in [&SIZE, &RULES, &PATTERNS, &ROUTES, &LATENCY, &LANES, &CHANNELS] {
            assert!(sweep.quick <= sweep.values.len() && !sweep.apps.is_empty());
        }
    }
}
