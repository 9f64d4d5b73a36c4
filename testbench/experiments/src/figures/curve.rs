//! Delay and throughput against load: what a user asks of the machine first.

use std::collections::BTreeMap;

use super::regime::{offered_to, packets_at, rate};
use super::{figure, label, labels, App, Results, APPS};
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
/// Packets of a run, but at low loads.
const PACKETS: usize = 16_384;
/// MCW of the runs: the best or near it for every app.
const MCW: u32 = 16;
/// Kinds of arrivals: name, and what it is.
const ARRIVALS: [(&str, &str); 3] = [
    ("constant", "even arrivals"),
    ("poisson", "Poisson arrivals"),
    ("onoff", "bursts of 64 frames at twice the throughput"),
];

fn arrivals(app: &App, kind: &str, load: u32) -> String {
    let rate = |factor| rate(app, Through::Ports, factor);
    let mean = rate(f64::from(load) / 100.0);
    match kind {
        "poisson" => format!("poisson:{mean}"),
        "onoff" => format!("onoff:{mean},peak={},burst=64", rate(2.0)),
        _ => format!("constant:{mean}"),
    }
}

/// Seeds of the packets and of when they arrive, where that is at random and delays depend on it.
fn seeds(kind: &str, load: u32, scale: Scale) -> std::ops::RangeInclusive<u64> {
    match scale {
        Scale::Full if kind == "poisson" && load >= 45 => 1..=3,
        _ => 1..=1,
    }
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (loads, kinds) = match scale {
        Scale::Quick => (&QUICK_LOADS[..], &ARRIVALS[..1]),
        Scale::Full => (&LOADS[..], &ARRIVALS[..]),
    };
    let mut cells = Vec::new();
    for app in &APPS {
        for (kind, _) in kinds {
            for load in loads {
                for seed in seeds(kind, *load, scale) {
                    let mut parameters = Parameters {
                        mcw: MCW,
                        packets: packets_at(*load, PACKETS, scale),
                        packet_seed: seed,
                        arrivals: arrivals(app, kind, *load),
                        through: Through::Ports,
                        ..app.parameters()?
                    };
                    parameters.array.packet_ports = true;
                    let (load, seed) = (load.to_string(), seed.to_string());
                    let labels =
                        labels(&[("app", app.name), ("arrivals", kind), ("load", &load), ("seed", &seed)]);
                    cells.push(Cell { labels, parameters });
                }
            }
        }
        // What a load of 100 % is.
        let mut parameters = app.saturated(MCW, scale)?;
        parameters.through = Through::Ports;
        parameters.array.packet_ports = true;
        cells.push(Cell { labels: labels(&[("app", app.name), ("closed", "yes")]), parameters });
    }
    Ok(cells)
}

/// Points of one app with one kind of arrivals.
#[derive(Default)]
struct Curve {
    /// Loads in percent: as planned, and by what was measured.
    loads: Vec<(u32, f64)>,
    /// Million packets a second: offered, delivered.
    delivered: Vec<(f64, f64)>,
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut sentence, mut plots) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, about) in ARRIVALS {
        let [mut median, mut tail, mut delivered] = [Vec::new(), Vec::new(), Vec::new()];
        for app in &APPS {
            // What the app reaches through the ports.
            let Some(closed) = results.with(&[("app", app.name), ("closed", "yes")]) else { continue };
            let most = closed.measured.rate().mpps();
            let mut curve = Curve::default();
            let mut seeds = BTreeMap::<u32, Vec<(f64, f64)>>::new();
            for (found, result) in results.labelled(&[("app", app.name), ("arrivals", kind)]) {
                let Some(delays) = &result.measured.delays else { continue };
                let (offered, whole) = (offered_to(result), result.measured.whole);
                let load = 100.0 * offered / most;
                let planned = label(found, "load").parse().unwrap_or_default();
                let of_load = seeds.entry(planned).or_default();
                of_load.push((delays.delay.p50 as f64, delays.delay.p99 as f64));
                if of_load.len() == 1 {
                    curve.loads.push((planned, load));
                    curve.delivered.push((offered, whole.mpps()));
                }
                // Above its throughput a delay tells how long the run was.
                let interval = delays.delay.p99_interval.filter(|_| planned < 100);
                let dash = |value: Option<u64>| value.map_or("-".to_string(), |value| value.to_string());
                rows.push(vec![
                    app.published.to_string(),
                    kind.to_string(),
                    label(found, "seed").to_string(),
                    figure(load),
                    figure(offered),
                    figure(whole.mpps()),
                    figure(whole.gbps()),
                    delays.delay.p50.to_string(),
                    delays.delay.p99.to_string(),
                    interval.map_or("-".to_string(), |(low, high)| format!("{low} to {high}")),
                    dash(delays.delay.p999),
                    delays.delay.iqr.to_string(),
                    dash(delays.latency.map(|latency| latency.p99)),
                    figure(result.measured.lines()),
                ]);
            }
            let mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
                let point = |(planned, load): &(u32, f64)| {
                    let of_seeds = &seeds[planned];
                    (*load, of_seeds.iter().map(of).sum::<f64>() / of_seeds.len() as f64)
                };
                curve.loads.iter().map(point).collect::<Vec<_>>()
            };
            let (of_median, of_tail) = (mean(&|delays| delays.0), mean(&|delays| delays.1));
            // The highest load below 90 %.
            let below = |points: &[(f64, f64)]| {
                points.iter().filter(|p| p.0 < 90.0).max_by(|a, b| a.0.total_cmp(&b.0)).copied()
            };
            if let (Some(middle), Some(high)) = (below(&of_median), below(&of_tail)) {
                let load = figure(high.0);
                sentence.push(format!(
                    "{}, {about}: {:.0} and {:.0} at {load} % of {} Mpps",
                    app.published,
                    middle.1,
                    high.1,
                    figure(most)
                ));
            }
            let of_delivered = curve.delivered;
            for (all, points) in
                [(&mut median, of_median), (&mut tail, of_tail), (&mut delivered, of_delivered)]
            {
                if !points.is_empty() {
                    all.push(Series { name: app.published.to_string(), points, published: false });
                }
            }
        }
        let load = "load, % of the throughput measured";
        let delay = |title: String, series| Plot {
            title,
            x: load.to_string(),
            x_scale: report::Scale::Linear,
            y: "cycles".to_string(),
            y_scale: report::Scale::Logarithmic,
            series,
        };
        plots.push(delay(format!("p99 of the delay, {about}"), tail));
        plots.push(delay(format!("Median of the delay, {about}"), median));
        if kind == "constant" {
            plots.push(Plot {
                title: format!("Throughput, {about}"),
                x: "offered, Mpps".to_string(),
                x_scale: report::Scale::Linear,
                y: "delivered, Mpps".to_string(),
                y_scale: report::Scale::Linear,
                series: delivered,
            });
        }
    }
    let head = [
        "app",
        "arrivals",
        "seed",
        "load, %",
        "offered, Mpps",
        "delivered, Mpps",
        "Gbit/s of frames",
        "delay p50, cycles",
        "p99",
        "95 % confidence",
        "p99.9",
        "IQR",
        "latency p99",
        "lines moved a packet",
    ];
    Ok(Section {
        title: "Delay against load".to_string(),
        sentence: format!("Median and p99 of the delay in cycles: {}.", sentence.join("; ")),
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "64-byte frames through the packet ports, MCW {MCW}; delay from the scheduled last bit to the commit, latency to the \
             first beat that leaves. Packets count when they leave; the ring takes half of the L2, so that frames are read from \
             there. 100 % is the throughput with all packets there from the start. Above it a delay tells how \
             long the run was, not what the machine is. Poisson arrivals from 45 % on: a row for each of three seeds, whose mean is \
             drawn. The confidence of a p99 is by order statistics, as if delays did not depend on each other. {}",
            results.steady_state()
        ),
        assumed: "100 filters, 100 rules, 10,000 prefixes; destinations spread evenly over the table.".to_string(),
        differs: "The papers have no such figure.".to_string(),
    })
}
