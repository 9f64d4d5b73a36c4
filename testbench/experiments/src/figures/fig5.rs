//! Figure 5 of the Hermes paper: computing rates against the MCW.

use super::measure::computing_rate;
use super::table2;
use super::{figure, label, labels, path, Results, APPS};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "hermes-fig5",
    summary: "computing rate against the MCW (equation 1)",
    cells: saturated_cells,
    section,
};

/// Values of the MCW.
const WARPS: [u32; 8] = [1, 2, 4, 8, 12, 16, 24, 32];
const QUICK_WARPS: [u32; 4] = [1, 4, 8, 16];

/// The runs: every app at saturation, with every MCW.
pub(super) fn saturated_cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let warps = match scale {
        Scale::Quick => &QUICK_WARPS[..],
        Scale::Full => &WARPS[..],
    };
    let mut cells = Vec::new();
    for app in &APPS {
        for &mcw in warps {
            let labels = labels(&[("app", app.name), ("mcw", &mcw.to_string())]);
            cells.push(Cell { labels, parameters: app.saturated(mcw, scale)? });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let mut series = Vec::new();
    let mut rows = Vec::new();
    let mut best = Vec::new();
    let mut ratios = Vec::new();
    for (app, published) in APPS.iter().zip(table2::PUBLISHED) {
        let mut points = Vec::new();
        for (labels, result) in results.labelled(&[("app", app.name)]) {
            let Some(rate) = computing_rate(result) else { continue };
            let measured = &result.measured;
            points.push((f64::from(result.job.parameters.mcw), rate));
            rows.push(vec![
                app.published.to_string(),
                label(labels, "mcw").to_string(),
                figure(rate),
                figure(measured.rate().mpps()),
                figure(measured.rate().gbps()),
                figure(measured.lines()),
                path(result).to_string(),
            ]);
        }
        if let (Some(first), Some(least)) = (points.first(), points.iter().min_by(|a, b| a.1.total_cmp(&b.1)))
        {
            best.push(format!(
                "{} {} at MCW {} (MCW {} takes {} times as long)",
                app.published,
                figure(least.1),
                least.0,
                first.0,
                figure(first.1 / least.1)
            ));
        }
        // By equation 1 the rate is the inverse of the throughput.
        let of_16 = points.iter().find(|(mcw, _)| *mcw == 16.0).map(|(_, rate)| *rate);
        if let Some(of_16) = of_16 {
            let ours = points.iter().map(|(mcw, rate)| (*mcw, rate / of_16)).collect();
            ratios.push(Series { name: app.published.to_string(), points: ours, published: false });
            let paper_of_16 = published[3].unwrap_or(1.0);
            let paper = table2::WARPS.iter().zip(published);
            let paper =
                paper.filter_map(|(mcw, gbps)| Some((f64::from(*mcw), paper_of_16 / gbps?))).collect();
            ratios.push(Series { name: "paper".to_string(), points: paper, published: true });
        }
        if !points.is_empty() {
            series.push(Series { name: app.published.to_string(), points, published: false });
        }
    }
    let plots = match series.is_empty() {
        true => Vec::new(),
        false => vec![Plot {
            title: "Computing rate against the MCW".to_string(),
            x: "MCW: maximally allowed concurrent warps of a core".to_string(),
            x_scale: report::Scale::Logarithmic,
            y: "cycles between two warps of a core".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
    };
    let relative = (!ratios.is_empty()).then(|| Plot {
        title: "Computing rate over that of MCW 16".to_string(),
        x: "MCW".to_string(),
        x_scale: report::Scale::Logarithmic,
        y: "CR(M) / CR(16)".to_string(),
        y_scale: report::Scale::Linear,
        series: ratios,
    });
    let head = [
        "app",
        "MCW",
        "computing rate, cycles",
        "Mpps",
        "Gbit/s of frames",
        "lines moved a packet",
        "packets",
    ];
    Ok(Section {
        title: "Figure 5: computing rates".to_string(),
        sentence: format!("Fewest cycles between two finished warps of a core: {}.", best.join("; ")),
        plots: plots.into_iter().chain(relative).collect(),
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "CR = cores x cycles / warps (equation 1), all packets there from the start, 64-byte frames. {}",
            results.steady_state()
        ),
        assumed: "100 filters (ClassBench, acl), patterns of 100 rules in the form of Snort, a table of 10,000 prefixes; \
                  the paper does not tell its numbers."
            .to_string(),
        differs: "The paper's curves have no numbers; its CR over that of MCW 16 follows from its Table 2 (hollow diamonds). Our kernels \
                  are of RISC-V, with registers for 32 or 16 warps."
            .to_string(),
    })
}
