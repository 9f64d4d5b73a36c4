//! How many packets the host gathers before it tells the array of them (Hermes, section 3.3).

use super::regime::{packets_at, rate};
use super::{figure, label, labels, App, Results, APPS};
use crate::parameters::{Parameters, Through};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "push",
    summary: "delay against the packets that the host gathers for a push",
    cells,
    section,
};

/// Packets of a push.
const PUSHES: [u32; 6] = [1, 8, 32, 64, 128, 512];
const QUICK_PUSHES: [u32; 2] = [1, 64];
/// Loads in percent.
const LOADS: [u32; 3] = [10, 50, 90];
const QUICK_LOADS: [u32; 1] = [50];
/// Packets of a run.
const PACKETS: usize = 8_192;
/// MCW of the runs.
const MCW: u32 = 16;

/// The apps with the shortest and a longer service.
fn apps() -> impl Iterator<Item = &'static App> {
    APPS.iter().filter(|app| matches!(app.name, "dec-ttl" | "dpi"))
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (pushes, loads) = match scale {
        Scale::Quick => (&QUICK_PUSHES[..], &QUICK_LOADS[..]),
        Scale::Full => (&PUSHES[..], &LOADS[..]),
    };
    let mut cells = Vec::new();
    for app in apps() {
        for load in loads {
            for &push_packets in pushes {
                let arrivals = format!("poisson:{}", rate(app, Through::Host, f64::from(*load) / 100.0));
                let packets = packets_at(*load, PACKETS, scale);
                let (load, push) = (load.to_string(), push_packets.to_string());
                let labels = labels(&[("app", app.name), ("load", &load), ("push", &push)]);
                let base = Parameters::of(app.name)?;
                cells.push(Cell {
                    labels,
                    parameters: Parameters { mcw: MCW, packets, arrivals, push_packets, ..base },
                });
            }
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut plots, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for app in apps() {
        let mut series = Vec::new();
        for load in LOADS {
            let load = load.to_string();
            let mut points = Vec::new();
            for (labels, result) in results.labelled(&[("app", app.name), ("load", &load)]) {
                let Some(delays) = &result.measured.delays else { continue };
                let push = result.job.parameters.push_packets;
                points.push((f64::from(push), delays.delay.p99 as f64));
                rows.push(vec![
                    app.published.to_string(),
                    format!("{load} %"),
                    label(labels, "push").to_string(),
                    figure(result.measured.whole.mpps()),
                    figure(delays.delay.mean),
                    delays.delay.p99.to_string(),
                    figure(delays.queuing.mean),
                ]);
            }
            let least = points.iter().min_by(|a, b| a.1.total_cmp(&b.1));
            told.extend(least.map(|(push, p99)| {
                format!("{} at {load} %: {} with {push} packets", app.published, figure(*p99))
            }));
            if !points.is_empty() {
                series.push(Series { name: format!("{load} %"), points, published: false });
            }
        }
        plots.push(Plot {
            title: format!("p99 of the delay against the packets of a push: {}", app.published),
            x: "packets of a push".to_string(),
            x_scale: report::Scale::Logarithmic,
            y: "cycles".to_string(),
            y_scale: report::Scale::Logarithmic,
            series,
        });
    }
    let head =
        ["app", "load", "packets of a push", "delivered, Mpps", "mean delay", "p99", "until the start"];
    Ok(Section {
        title: "Packets of a push".to_string(),
        sentence: match told.is_empty() {
            true => "It has no result yet.".to_string(),
            false => format!("Least p99 of the delay in cycles, {}.", told.join("; ")),
        },
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "64-byte frames by the host, Poisson arrivals, MCW 16, time-out 256 cycles; the host pushes once it has so many \
                   packets, and writes one register for it, about 10 cycles."
            .to_string(),
        assumed: "T as in figure 4.".to_string(),
        differs: "The paper weighs buffer descriptors and bus transactions against the delay, without figures. Here a push costs \
                  one write, so that to gather packets wins nothing until the writes do not keep up."
            .to_string(),
    })
}
