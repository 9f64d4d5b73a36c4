//! Figure 4(d): what the delay commit queue adds to the delay.

use super::WARPS;
use crate::figures::measure::cost_of_order;
use crate::figures::regime::offered_to;
use crate::figures::{figure, Results, APPS};
use crate::report::{Plot, Scale, Section, Series};
use crate::results::ResultFile;

pub fn section(results: &Results) -> anyhow::Result<Section> {
    let mut series: Vec<Series> = Vec::new();
    let (mut rows, mut largest, mut lost) = (Vec::new(), (String::new(), 1.0), 0.0_f64);
    for mcw in WARPS {
        let mut points = Vec::new();
        for (at, app) in APPS.iter().enumerate() {
            let labels = [("app", app.name), ("load", "2.0"), ("mcw", &mcw.to_string())];
            let Some(result) = results.with(&labels) else { continue };
            let Some(delays) = &result.measured.delays else { continue };
            lost = lost.max(throughput_lost(result));
            let [with, until_finish, ratio] = cost_of_order(delays);
            points.push((at as f64, ratio));
            if ratio > largest.1 {
                largest = (format!("{}, MCW {mcw}", app.published), ratio);
            }
            let service = delays.service.mean / (delays.service.mean - delays.stages.dcq.mean).max(1.0);
            rows.push(vec![
                app.published.to_string(),
                mcw.to_string(),
                figure(with),
                figure(until_finish),
                format!("{ratio:.3}"),
                format!("{service:.3}"),
                format!("{:.2} %", 100.0 * throughput_lost(result)),
            ]);
        }
        if !points.is_empty() {
            series.push(Series { name: format!("Hermes-{mcw}"), points, published: false });
        }
    }
    let plot = Plot {
        title: "Delay with the delay commit queue over that without".to_string(),
        x: "app".to_string(),
        x_scale: Scale::Names(APPS.map(|app| app.published.to_string()).to_vec()),
        y: "ratio of mean delays".to_string(),
        y_scale: Scale::Linear,
        series,
    };
    let head = [
        "app",
        "MCW",
        "mean delay, cycles",
        "until the finish",
        "ratio",
        "ratio of service",
        "throughput lost at most",
    ];
    Ok(Section {
        title: "Figure 4(d): what the delay commit queue costs".to_string(),
        sentence: format!(
            "The largest ratio is {:.3} ({}); at most {:.2} % of the throughput is lost. The paper: at least 1, largest \
             for DPI and DecTTL, and no throughput lost.",
            largest.1,
            largest.0,
            100.0 * lost
        ),
        plots: vec![plot],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "The bursts of figure 4(a) at 2.0 T: delay until the commit over that until the finish of the same \
                   packets. A slot is free from the finish on, so all that the queue can cost is the time from the last finish to \
                   the last commit."
            .to_string(),
        assumed: String::new(),
        differs: "The paper runs twice, with and without the queue. Here the finish of each packet is seen in one run: what \
                  it would have been committed at without an order."
            .to_string(),
    })
}

/// The share of a run that is behind the last finish, at most: the first warp starts when its last
/// packet is there, or later.
fn throughput_lost(result: &ResultFile) -> f64 {
    let (whole, busy) = (result.measured.whole.cycles as f64, result.measured.busy_cycles as f64);
    let first_warp = (result.job.parameters.array.lanes as f64 - 1.0) * 1e3 / offered_to(result);
    ((whole - first_warp - busy) / whole).max(0.0)
}
