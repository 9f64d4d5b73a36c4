//! Figure 6: equation 3 under burst traffic.

use hermes_qos::burst;

use super::{closed, forming, intervals, offered_to, rates, Errors};
use crate::figures::fig4::even_bursts;
use crate::figures::{figure, Results, APPS};
use crate::plan::{self, Cell};
use crate::report::{Plot, Scale, Section, Series};

pub fn cells(scale: plan::Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = closed(scale)?;
    cells.extend(even_bursts(scale)?);
    Ok(cells)
}

pub fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    let (mut plain, mut ours) = (Errors::default(), Errors::default());
    for app in &APPS {
        let Some(rates) = rates(results, app, u32::MAX) else { continue };
        let [mut measured_points, mut predicted_points] = [Vec::new(), Vec::new()];
        for (labels, result) in results.labelled(&[("app", app.name)]) {
            let Some(load) = labels.get("load") else { continue };
            let (Some(delays), parameters) = (&result.measured.delays, &result.job.parameters) else {
                continue;
            };
            let (_, interval) = intervals(result);
            let mcw = parameters.mcw as usize;
            let rate = rates.at(mcw as f64);
            if interval >= rate {
                continue;
            }
            let lanes = parameters.array.cores * parameters.array.lanes;
            let groups = (parameters.packets as f64 / lanes as f64 / mcw as f64).max(1.0);
            let by_paper = burst::delay(groups, mcw, rate, interval);
            let by_us = by_paper + forming(result).0;
            let measured = delays.delay.mean;
            rows.push(vec![
                app.published.to_string(),
                format!("{load} T, {} Mpps", figure(offered_to(result))),
                mcw.to_string(),
                figure(rate),
                figure(interval),
                figure(measured),
                figure(by_paper),
                plain.add(Some(by_paper), measured),
                figure(by_us),
                ours.add(Some(by_us), measured),
            ]);
            if load == "2.0" {
                measured_points.push((mcw as f64, measured));
                predicted_points.push((mcw as f64, by_paper));
            }
        }
        if !measured_points.is_empty() {
            plots.push(Plot {
                title: format!("Delay in a burst of 2.0 T: {}", app.published),
                x: "MCW".to_string(),
                x_scale: Scale::Logarithmic,
                y: "mean delay, cycles".to_string(),
                y_scale: Scale::Linear,
                series: vec![
                    Series { name: "measured".to_string(), points: measured_points, published: false },
                    Series { name: "equation 3".to_string(), points: predicted_points, published: false },
                ],
            });
        }
    }
    let head = [
        "app",
        "line-card rate",
        "MCW",
        "CR, cycles",
        "C, cycles",
        "measured delay",
        "equation 3",
        "error",
        "with forming",
        "error",
    ];
    Ok(Section {
        title: "Figure 6: the burst model".to_string(),
        sentence: format!(
            "|error| of equation 3: {}; with the time in which warps are formed: {}. The paper: 7.8 %, a geometric mean.",
            plain.told(),
            ours.told()
        ),
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "The bursts of figure 4, but for those that the array keeps up with; computing rates are those of figure 5, \
                   of other runs."
            .to_string(),
        assumed: String::new(),
        differs: "The paper's model leaves out forming, the delay commit queue and the start from an empty machine, whose \
                  first warps meet cold caches."
            .to_string(),
    })
}
