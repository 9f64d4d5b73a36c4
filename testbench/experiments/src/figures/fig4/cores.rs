//! Figure 4(f): more cores.

use hermes_rtl::config::Config;

use super::offered;
use crate::figures::regime::{offered_to, BURST_PACKETS};
use crate::figures::{figure, labels, path, Results, APPS, QUICK_PACKETS, WAVES};
use crate::plan::{self, Cell};
use crate::report::{Plot, Scale, Section, Series};

/// Cores of the arrays.
const CORES: [usize; 3] = [8, 17, 28];
/// MCW of the runs.
const MCW: u32 = 8;

pub fn cells(scale: plan::Scale) -> anyhow::Result<Vec<Cell>> {
    let cores = match scale {
        // Models of the larger arrays take minutes.
        plan::Scale::Quick => &CORES[..1],
        plan::Scale::Full => &CORES[..],
    };
    let mut cells = Vec::new();
    for app in &APPS {
        for &cores in cores {
            for traffic in ["burst", "sparse"] {
                let mut parameters = offered(app, 0.5, MCW, BURST_PACKETS)?;
                if traffic == "burst" {
                    parameters.arrivals = "max".to_string();
                    parameters.packets = WAVES * cores * parameters.array.lanes * MCW as usize;
                }
                if scale == plan::Scale::Quick {
                    parameters.packets = QUICK_PACKETS;
                }
                let array = parameters.array;
                parameters.array = Config { cores, channels: 4, l2_banks: array.l2_banks.max(4), ..array };
                let labels =
                    labels(&[("app", app.name), ("cores", &cores.to_string()), ("traffic", traffic)]);
                cells.push(Cell { labels, parameters });
            }
        }
    }
    Ok(cells)
}

pub fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut series, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for app in &APPS {
        let rate = |cores: usize, traffic| {
            let labels = [("app", app.name), ("cores", &cores.to_string()), ("traffic", traffic)];
            results.with(&labels).map(|result| (result, result.measured.rate().mpps()))
        };
        let first = rate(CORES[0], "burst").map(|(_, mpps)| mpps);
        let mut points: Vec<(f64, f64)> = Vec::new();
        for cores in CORES {
            let Some((burst, mpps)) = rate(cores, "burst") else { continue };
            let times = first.map(|first| mpps / first);
            points.extend(times.map(|times| (cores as f64, times)));
            let sparse = rate(cores, "sparse").map(|(result, mpps)| (offered_to(result), mpps));
            rows.push(vec![
                app.published.to_string(),
                cores.to_string(),
                figure(mpps),
                figure(burst.measured.rate().gbps()),
                times.map_or("-".to_string(), figure),
                figure(burst.measured.lines()),
                sparse.map_or("-".to_string(), |(offered, _)| figure(offered)),
                sparse.map_or("-".to_string(), |(_, delivered)| figure(delivered)),
                path(burst).to_string(),
            ]);
        }
        if let Some(last) = points.last().filter(|last| last.0 > CORES[0] as f64) {
            told.push(format!("{} {} times with {} cores", app.published, figure(last.1), last.0));
        }
        if !points.is_empty() {
            series.push(Series { name: app.published.to_string(), points, published: false });
        }
    }
    let plot = Plot {
        title: "Throughput of more cores over that of 8".to_string(),
        x: "cores".to_string(),
        x_scale: Scale::Linear,
        y: "times the throughput".to_string(),
        y_scale: Scale::Linear,
        series,
    };
    let told = match told.is_empty() {
        true => "One array alone was run.".to_string(),
        false => format!("Throughput over that of 8 cores: {}.", told.join(", ")),
    };
    let head = [
        "app",
        "cores",
        "Mpps",
        "Gbit/s of frames",
        "times that of 8",
        "lines moved a packet",
        "sparse: offered, Mpps",
        "delivered, Mpps",
        "packets",
    ];
    Ok(Section {
        title: "Figure 4(f): more cores".to_string(),
        sentence: format!("{told} The paper: near-linear, but for DecTTL, which ends at its line rate."),
        plots: vec![plot],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "MCW {MCW}, four channels for all; bursts: all packets there from the start; sparse: even arrivals at the rate that \
             is offered, about half of what 8 cores with two channels take. {}",
            results.steady_state()
        ),
        assumed: String::new(),
        differs: "The paper's line-card rates are not told; its meshes of 4x4, 5x5 and 6x6 nodes have 8, 17 and 28 cores. \
                  Here all have the same L2 and the same four channels: apps that move lines end at the memory."
            .to_string(),
    })
}
