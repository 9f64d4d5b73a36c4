//! Figure 5 of the Hermes paper: computing rates against the MCW.

use super::measure::computing_rate;
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
    for app in &APPS {
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
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "CR = cores x cycles / warps (equation 1), all packets there from the start, 64-byte frames. {}",
            results.steady_state()
        ),
        assumed: "100 filters (ClassBench, acl), patterns of 100 rules in the form of Snort, a table of 10,000 prefixes; \
                  the paper does not tell its numbers."
            .to_string(),
        differs: "The paper's curves have no numbers; its CR can be computed from Table 2, which stands below. Our kernels \
                  are of RISC-V, with registers for 32 or 16 warps."
            .to_string(),
    })
}
