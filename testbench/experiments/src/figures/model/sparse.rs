//! Figure 7: equation 4 under sparse traffic.

use anyhow::Context as _;
use hermes_qos::sparse;

use super::{closed, forming, intervals, offered_to, rates, Errors};
use crate::figures::regime::{even, packets_at};
use crate::figures::{figure, labels, Results, APPS};
use crate::parameters::{Parameters, Through};
use crate::plan::{self, Cell};
use crate::report::{Plot, Scale, Section, Series};

/// Loads in percent.
const LOADS: [u32; 7] = [10, 20, 35, 50, 65, 80, 90];
const QUICK_LOADS: [u32; 2] = [20, 65];
/// Packets of a run.
const PACKETS: usize = 16_384;
/// MCW of the runs.
const MCW: u32 = 16;

pub fn cells(scale: plan::Scale) -> anyhow::Result<Vec<Cell>> {
    let loads = match scale {
        plan::Scale::Quick => &QUICK_LOADS[..],
        plan::Scale::Full => &LOADS[..],
    };
    let mut cells = closed(scale)?;
    for app in &APPS {
        for load in loads {
            let arrivals = even(app, Through::Host, f64::from(*load) / 100.0);
            let packets = packets_at(*load, PACKETS, scale);
            let parameters = Parameters { mcw: MCW, packets, arrivals, ..Parameters::of(app.name)? };
            let labels = labels(&[("app", app.name), ("load", &load.to_string())]);
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

pub fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    let (mut plain, mut ours) = (Errors::default(), Errors::default());
    for app in &APPS {
        let Some(rates) = rates(results, app, MCW) else { continue };
        let monotone = rates.monotone();
        let [mut measured_points, mut paper_points, mut our_points] = [Vec::new(), Vec::new(), Vec::new()];
        for (labels, result) in results.labelled(&[("app", app.name)]) {
            let Some(load) = labels.get("load") else { continue };
            let Some(delays) = &result.measured.delays else { continue };
            let (_, interval) = intervals(result);
            let (waiting, between) = forming(result);
            let (by_paper, by_us) = (sparse::delay(&rates, interval), sparse::delay(&monotone, between));
            let (by_us, measured) = (by_us.map(|service| service + waiting), delays.delay.mean);
            // The cores cannot do it, by the rates.
            let too_slow = || "too slow".to_string();
            let load: f64 = load.parse().with_context(|| format!("load {load}: expected percent"))?;
            rows.push(vec![
                app.published.to_string(),
                format!("{load} %"),
                figure(offered_to(result)),
                figure(interval),
                sparse::active_warps(&rates, interval).map_or("-".to_string(), figure),
                figure(measured),
                by_paper.map_or_else(too_slow, figure),
                plain.add(by_paper, measured),
                by_us.map_or_else(too_slow, figure),
                ours.add(by_us, measured),
            ]);
            measured_points.push((load, measured));
            paper_points.extend(by_paper.map(|delay| (load, delay)));
            our_points.extend(by_us.map(|delay| (load, delay)));
        }
        if !measured_points.is_empty() {
            let series = |name: &str, points| Series { name: name.to_string(), points, published: false };
            plots.push(Plot {
                title: format!("Delay under sparse traffic: {}", app.published),
                x: "load, %".to_string(),
                x_scale: Scale::Linear,
                y: "mean delay, cycles".to_string(),
                y_scale: Scale::Linear,
                series: vec![
                    series("measured", measured_points),
                    series("equation 4", paper_points),
                    series("with forming", our_points),
                ],
            });
        }
    }
    let head = [
        "app",
        "load",
        "offered, Mpps",
        "C, cycles",
        "active warps",
        "measured delay",
        "equation 4",
        "error",
        "with forming",
        "error",
    ];
    Ok(Section {
        title: "Figure 7: the sparse model".to_string(),
        sentence: format!(
            "|error| of equation 4: {}; with the time in which warps are formed and the falling branch of the computing rate: \
             {}. The paper: 9.1 % on average.",
            plain.told(),
            ours.told()
        ),
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!("64-byte frames that arrive evenly, MCW {MCW}; computing rates are those of figure 5, of other runs."),
        assumed: "Loads are of T as in figure 4.".to_string(),
        differs: "The paper's traces are not told. Its model takes computing rates of full slots for a core with fewer warps, and \
                  leaves out the time in which a warp is formed, which is most of the delay at low loads."
            .to_string(),
    })
}
