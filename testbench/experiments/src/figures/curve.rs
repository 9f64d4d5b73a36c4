//! Delay and throughput against load: what a user asks of the machine first.

use super::regime::{offered_to, rate};
use super::{figure, labels, path, Results, APPS, QUICK_PACKETS};
use crate::parameters::{Parameters, Through};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "curve",
    summary: "delay and throughput against load, through the ports",
    cells,
    section,
};

/// Loads in percent of what the apps reach through the ports.
const LOADS: [u32; 10] = [5, 10, 20, 30, 45, 60, 75, 90, 100, 110];
const QUICK_LOADS: [u32; 4] = [20, 50, 80, 110];
/// Packets of a run.
const PACKETS: usize = 16_384;
/// MCW of the runs: the best or near it for every app.
const MCW: u32 = 16;
fn parameters(app: &str, scale: Scale, arrivals: String) -> anyhow::Result<Parameters> {
    let mut parameters = Parameters { mcw: MCW, arrivals, through: Through::Ports, ..Parameters::of(app)? };
    parameters.array.packet_ports = true;
    parameters.packets = match scale {
        Scale::Quick => QUICK_PACKETS,
        Scale::Full => PACKETS,
    };
    Ok(parameters)
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let loads = match scale {
        Scale::Quick => &QUICK_LOADS[..],
        Scale::Full => &LOADS[..],
    };
    let mut cells = Vec::new();
    for app in &APPS {
        for load in loads {
            let rate = rate(app, Through::Ports, f64::from(*load) / 100.0);
            let labels = labels(&[("app", app.name), ("arrivals", "constant"), ("load", &load.to_string())]);
            cells.push(Cell { labels, parameters: parameters(app.name, scale, rate.to_string())? });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut sentence) = (Vec::new(), Vec::new());
    let [mut median, mut tail, mut through] = [Vec::new(), Vec::new(), Vec::new()];
    for app in &APPS {
        let of_app: Vec<_> = results.found().filter(|(labels, _)| labels["app"] == app.name).collect();
        let most = of_app.iter().map(|(_, result)| result.measured.whole.mpps()).fold(0.0, f64::max);
        let [mut p50, mut p99, mut rates] = [Vec::new(), Vec::new(), Vec::new()];
        for (labels, result) in &of_app {
            let Some(delays) = &result.measured.delays else { continue };
            let offered = offered_to(result);
            let load = 100.0 * offered / most.max(1e-9);
            let delivered = result.measured.whole.mpps();
            p50.push((load, delays.delay.p50 as f64));
            p99.push((load, delays.delay.p99 as f64));
            rates.push((offered, delivered));
            rows.push(vec![
                app.published.to_string(),
                labels["arrivals"].clone(),
                figure(load),
                figure(offered),
                figure(delivered),
                figure(result.measured.whole.gbps()),
                delays.delay.p50.to_string(),
                delays.delay.p99.to_string(),
                delays.delay.iqr.to_string(),
                figure(result.measured.lines()),
                path(result).to_string(),
            ]);
        }
        // The highest load below 90 %.
        let below = |points: &[(f64, f64)]| {
            points.iter().filter(|p| p.0 < 90.0).max_by(|a, b| a.0.total_cmp(&b.0)).copied()
        };
        if let (Some(middle), Some(high)) = (below(&p50), below(&p99)) {
            sentence.push(format!(
                "{} {} and {} at {} % of {} Mpps",
                app.published,
                middle.1,
                high.1,
                figure(high.0),
                figure(most)
            ));
        }
        for (all, points) in [(&mut median, p50), (&mut tail, p99), (&mut through, rates)] {
            if !points.is_empty() {
                all.push(Series { name: app.published.to_string(), points, published: false });
            }
        }
    }
    let plot = |title: &str, x: &str, y: &str, y_scale, series: Vec<Series>| Plot {
        title: title.to_string(),
        x: x.to_string(),
        x_scale: report::Scale::Linear,
        y: y.to_string(),
        y_scale,
        series,
    };
    let load = "load, % of the throughput measured";
    let logarithmic = report::Scale::Logarithmic;
    let plots = [
        plot("p99 of the delay against load", load, "cycles", logarithmic.clone(), tail),
        plot("Median delay against load", load, "cycles", logarithmic, median),
        plot(
            "Throughput against offered load",
            "offered, Mpps",
            "delivered, Mpps",
            report::Scale::Linear,
            through,
        ),
    ];
    let head = [
        "app",
        "arrivals",
        "load, %",
        "offered, Mpps",
        "delivered, Mpps",
        "Gbit/s of frames",
        "delay p50, cycles",
        "p99",
        "IQR",
        "lines moved a packet",
        "packets",
    ];
    Ok(Section {
        title: "Delay against load".to_string(),
        sentence: format!("Median and p99 of the delay in cycles: {}.", sentence.join("; ")),
        plots: plots.into_iter().filter(|plot| !plot.series.is_empty()).collect(),
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "64-byte frames through the packet ports, MCW {MCW}; delay from the scheduled last bit to the commit. Above \
             100 % a delay tells how long the run was, not what the machine is."
        ),
        assumed: "100 filters, 100 rules, 10,000 prefixes; destinations spread evenly over the table.".to_string(),
        differs: "The papers have no such figure.".to_string(),
    })
}
