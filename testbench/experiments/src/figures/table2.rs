//! Table 2 of the Hermes paper: the largest throughput.

use super::{figure, labels, path, Results, APPS};
use crate::parameters::{Parameters, Through};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "hermes-table2",
    summary: "largest throughput by MCW, with three kinds of memory",
    cells,
    section,
};

/// Values of the MCW.
pub(super) const WARPS: [u32; 5] = [4, 8, 12, 16, 32];
const QUICK_WARPS: [u32; 2] = [4, 16];

/// What the paper prints, in Gbit/s, by app in the order of [`APPS`] and by MCW.
pub(super) const PUBLISHED: [[Option<f64>; 5]; 4] = [
    [Some(38.7), Some(48.4), Some(48.4), Some(48.5), None],
    [Some(40.87), Some(52.71), Some(55.59), Some(55.24), Some(56.95)],
    [Some(77.4), Some(99.6), Some(100.0), Some(100.1), Some(121.3)],
    [Some(250.4), Some(258.2), Some(240.6), Some(254.2), Some(248.7)],
];

/// The ways to memory: name, what it is, and what it changes.
const WAYS: [(&str, &str); 3] = [
    ("fixed", "two channels of 64 bytes a cycle each way (256 GB/s), 100 cycles"),
    ("shared", "two channels of DRAM, one line a cycle either way (at most 128 GB/s)"),
    (
        "ports",
        "as the first, packets through the packet ports, where they count when they leave; a ring of half of the L2",
    ),
];

fn on(way: &str, parameters: Parameters) -> Parameters {
    let mut parameters = parameters;
    match way {
        "shared" => parameters.memory = "dram:line=1".to_string(),
        "ports" => {
            parameters.through = Through::Ports;
            parameters.array.packet_ports = true;
        }
        _ => {}
    }
    parameters
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (warps, ways) = match scale {
        Scale::Quick => (&QUICK_WARPS[..], &WAYS[..1]),
        Scale::Full => (&WARPS[..], &WAYS[..]),
    };
    let mut cells = Vec::new();
    for app in &APPS {
        for (way, _) in ways {
            for &mcw in warps {
                let labels = labels(&[("app", app.name), ("memory", way), ("mcw", &mcw.to_string())]);
                cells.push(Cell { labels, parameters: on(way, app.saturated(mcw, scale)?) });
            }
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut plots, mut rows, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for (app, published) in APPS.iter().zip(PUBLISHED) {
        let paper: Vec<_> =
            WARPS.iter().zip(published).filter_map(|(mcw, rate)| Some((f64::from(*mcw), rate?))).collect();
        let mut series = Vec::new();
        for (way, _) in WAYS {
            let mut points = Vec::new();
            for (mcw, rate) in WARPS.iter().zip(published) {
                let text = mcw.to_string();
                let Some(result) = results.with(&[("app", app.name), ("memory", way), ("mcw", &text)]) else {
                    continue;
                };
                let measured = &result.measured;
                let array = &result.job.parameters.array;
                let lane_cycles = measured.rate().cycles as f64 * (array.cores * array.lanes) as f64
                    / measured.rate().packets.max(1) as f64;
                points.push((f64::from(*mcw), measured.rate().gbps()));
                rows.push(vec![
                    app.published.to_string(),
                    way.to_string(),
                    text,
                    figure(measured.rate().mpps()),
                    figure(measured.rate().gbps()),
                    rate.map_or("-".to_string(), figure),
                    figure(lane_cycles),
                    figure(measured.lines()),
                    path(result).to_string(),
                ]);
            }
            if let Some(most) = points.iter().map(|p| p.1).max_by(f64::total_cmp) {
                let of_paper = paper.iter().map(|p| p.1).fold(0.0, f64::max);
                ratios.push(format!(
                    "{} {way} {} ({} times the paper's {of_paper})",
                    app.published,
                    figure(most),
                    figure(most / of_paper)
                ));
                series.push(Series {
                    name: format!("{way} memory").replace("ports memory", "ports"),
                    points,
                    published: false,
                });
            }
        }
        if !series.is_empty() {
            series.push(Series { name: "paper".to_string(), points: paper, published: true });
            plots.push(Plot {
                title: format!("Largest throughput: {}", app.published),
                x: "MCW".to_string(),
                x_scale: report::Scale::Logarithmic,
                y: "Gbit/s of frames".to_string(),
                y_scale: report::Scale::Linear,
                series,
            });
        }
    }
    let head = [
        "app",
        "memory",
        "MCW",
        "Mpps",
        "Gbit/s of frames",
        "paper, Gbit/s",
        "lane-cycles a packet",
        "lines moved a packet",
        "packets",
    ];
    let ways: Vec<_> = WAYS.iter().map(|(name, text)| format!("{name}: {text}")).collect();
    Ok(Section {
        title: "Table 2: largest throughput".to_string(),
        sentence: format!("Most Gbit/s of 64-byte frames: {}.", ratios.join("; ")),
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!("All packets there from the start. {} Memory: {}.", results.steady_state(), ways.join("; ")),
        assumed: "Through the ports the ring has room for fewer packets than 8 warps of each core have, so that a larger MCW changes \
                  nothing. Frames of 64 bytes with FCS, 100 filters, 100 rules, 10,000 prefixes.".to_string(),
        differs: "The paper does not tell packet sizes, rules, routes or the clock of its memory (\"over 100GB/s\"), and \
                  computes the table from the computing rate. The fair row is `shared`. DPI at MCW 32 is printed there; our \
                  kernel has 32 registers a thread, which allow 16 warps."
            .to_string(),
    })
}
