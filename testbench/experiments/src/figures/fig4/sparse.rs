//! Figure 4(e): throughput under sparse traffic.

use super::{offered, WARPS};
use crate::figures::regime::{offered_to, BURST_PACKETS};
use crate::figures::{figure, labels, Results, APPS, QUICK_PACKETS, WAVES};
use crate::plan::{self, Cell};
use crate::report::{Plot, Scale, Section, Series};

/// The load.
const FACTOR: f64 = 0.5;

pub fn cells(scale: plan::Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for app in &APPS {
        for mcw in WARPS {
            let mut parameters = offered(app, FACTOR, mcw, QUICK_PACKETS)?;
            if scale == plan::Scale::Full {
                let threads = parameters.array.cores * parameters.array.lanes * mcw as usize;
                parameters.packets = BURST_PACKETS.max(WAVES * threads);
            }
            let labels = labels(&[("app", app.name), ("mcw", &mcw.to_string())]);
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

pub fn section(results: &Results) -> anyhow::Result<Section> {
    let mut series: Vec<Series> = Vec::new();
    let (mut rows, mut least) = (Vec::new(), f64::INFINITY);
    for mcw in WARPS {
        let mut points = Vec::new();
        for (at, app) in APPS.iter().enumerate() {
            let labels = [("app", app.name), ("mcw", &mcw.to_string())];
            let Some(result) = results.with(&labels) else { continue };
            let (offered, delivered) = (offered_to(result), result.measured.rate().mpps());
            let share = delivered / offered;
            least = least.min(share);
            points.push((at as f64, share));
            let delays = result.measured.delays.as_ref();
            rows.push(vec![
                app.published.to_string(),
                mcw.to_string(),
                figure(offered),
                figure(delivered),
                format!("{share:.4}"),
                delays.map_or(String::new(), |delays| figure(delays.delay.mean)),
                delays.map_or(String::new(), |delays| delays.delay.p99.to_string()),
            ]);
        }
        if !points.is_empty() {
            series.push(Series { name: format!("Hermes-{mcw}"), points, published: false });
        }
    }
    let plot = Plot {
        title: "Delivered over offered, at half of the throughput".to_string(),
        x: "app".to_string(),
        x_scale: Scale::Names(APPS.map(|app| app.published.to_string()).to_vec()),
        y: "delivered / offered".to_string(),
        y_scale: Scale::Linear,
        series,
    };
    let head = [
        "app",
        "MCW",
        "offered, Mpps",
        "delivered, Mpps",
        "delivered / offered",
        "mean delay, cycles",
        "p99",
    ];
    Ok(Section {
        title: "Figure 4(e): throughput under sparse traffic".to_string(),
        sentence: format!(
            "The least of delivered over offered is {least:.4}. The paper: almost the arrival rate."
        ),
        plots: vec![plot],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!("64-byte frames that arrive evenly at about 0.5 T. {}", results.steady_state()),
        assumed: "T as in figure 4(a).".to_string(),
        differs: "The paper shows Gbit/s for traces whose rates it does not tell.".to_string(),
    })
}
