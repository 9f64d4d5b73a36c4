//! Figure 4(f): more cores.

use hermes_rtl::config::Config;

use super::offered;
use crate::figures::regime::BURST_PACKETS;
use crate::figures::{figure, labels, Results, APPS, QUICK_PACKETS};
use crate::plan::{self, Cell};
use crate::report::{Plot, Scale, Section, Series};

/// Cores of the arrays.
const CORES: [usize; 3] = [8, 17, 28];
/// MCW of the runs.
const MCW: u32 = 8;

pub fn cells(scale: plan::Scale) -> anyhow::Result<Vec<Cell>> {
    let (cores, packets) = match scale {
        // Models of the larger arrays take minutes.
        plan::Scale::Quick => (&CORES[..1], QUICK_PACKETS),
        plan::Scale::Full => (&CORES[..], 4 * BURST_PACKETS),
    };
    let mut cells = Vec::new();
    for app in &APPS {
        for &cores in cores {
            for traffic in ["burst", "sparse"] {
                let mut parameters = offered(app, 0.5, MCW, packets.min(BURST_PACKETS))?;
                if traffic == "burst" {
                    parameters.arrivals = "max".to_string();
                    parameters.packets = packets;
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
        let mut points: Vec<(f64, f64)> = Vec::new();
        for cores in CORES {
            let text = cores.to_string();
            let find = |traffic| results.with(&[("app", app.name), ("cores", &text), ("traffic", traffic)]);
            let Some(burst) = find("burst") else { continue };
            let mpps = burst.measured.rate().mpps();
            let first = points.first().map_or(mpps, |point| point.1);
            points.push((cores as f64, mpps));
            let sparse = find("sparse").map(|result| result.measured.whole.mpps());
            rows.push(vec![
                app.published.to_string(),
                text.clone(),
                figure(mpps),
                figure(burst.measured.rate().gbps()),
                figure(mpps / first),
                figure(burst.measured.lines()),
                sparse.map_or(String::new(), figure),
            ]);
        }
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            if last.0 > first.0 {
                let times = [last.0, last.1 / first.1].map(figure);
                told.push(format!("{} {} times with {} cores", app.published, times[1], times[0]));
            }
            let points = points.iter().map(|(cores, mpps)| (*cores, mpps / first.1)).collect();
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
        "sparse, Mpps",
    ];
    Ok(Section {
        title: "Figure 4(f): more cores".to_string(),
        sentence: format!("{told} The paper: near-linear, but for DecTTL, which ends at its line rate."),
        plots: if plot.series.is_empty() { Vec::new() } else { vec![plot] },
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "MCW {MCW}, four channels for all; bursts: all packets there from the start; sparse: half of the throughput of 8 \
             cores. {}",
            results.steady_state()
        ),
        assumed: String::new(),
        differs: "The paper's line-card rates are not told; its meshes of 4x4, 5x5 and 6x6 nodes have 8, 17 and 28 cores. \
                  Here the L2 has the same banks for all."
            .to_string(),
    })
}
