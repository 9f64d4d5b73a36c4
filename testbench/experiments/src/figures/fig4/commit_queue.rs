//! Figure 4(d): what the delay commit queue adds to the delay.

use super::WARPS;
use crate::figures::{figure, Results, APPS};
use crate::report::{Plot, Scale, Section, Series};

pub fn section(results: &Results) -> anyhow::Result<Section> {
    let mut series: Vec<Series> = Vec::new();
    let (mut rows, mut largest) = (Vec::new(), (String::new(), 1.0));
    for mcw in WARPS {
        let mut points = Vec::new();
        for (at, app) in APPS.iter().enumerate() {
            let labels = [("app", app.name), ("load", "2.0"), ("mcw", &mcw.to_string())];
            let Some(delays) = results.with(&labels).and_then(|result| result.measured.delays.as_ref())
            else {
                continue;
            };
            let (with, waiting) = (delays.delay.mean, delays.stages.dcq.mean);
            let ratio = with / (with - waiting).max(1.0);
            points.push((at as f64, ratio));
            if ratio > largest.1 {
                largest = (format!("{}, MCW {mcw}", app.published), ratio);
            }
            let service = delays.service.mean / (delays.service.mean - waiting).max(1.0);
            rows.push(vec![
                app.published.to_string(),
                mcw.to_string(),
                figure(with),
                figure(with - waiting),
                format!("{ratio:.3}"),
                format!("{service:.3}"),
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
    let head = ["app", "MCW", "mean delay, cycles", "until the finish", "ratio", "ratio of service"];
    Ok(Section {
        title: "Figure 4(d): what the delay commit queue costs".to_string(),
        sentence: format!(
            "The largest ratio is {:.3} ({}). The paper: at least 1, largest for DPI and DecTTL.",
            largest.1, largest.0
        ),
        plots: if plot.series.is_empty() { Vec::new() } else { vec![plot] },
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "The bursts of figure 4(a) at 2.0 T: delay until the commit over that until the finish of the same \
                   packets. By the paper throughput does not change: slots of warps are free from the finish on."
            .to_string(),
        assumed: String::new(),
        differs: "The paper runs twice, with and without the queue. Here the finish of each packet is seen in one run: what \
                  it would have been committed at without an order."
            .to_string(),
    })
}
