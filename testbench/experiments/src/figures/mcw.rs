//! Which MCW is best in which traffic, what a controller could win, and what one wins.

use hermes_rtl::config::Config;
use hermes_testbench::metrics::Delays;

use super::regime::{rate, BURST_PACKETS};
use super::{figure, labels, App, Results, APPS, QUICK_PACKETS};
use crate::parameters::{Parameters, Through};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};
use crate::results::ResultFile;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "mcw",
    summary: "p99 of the delay with every MCW and with firmware that sets it, by traffic",
    cells,
    section,
};

/// Values of the MCW.
const WARPS: [u32; 7] = [1, 2, 4, 8, 16, 24, 32];
const QUICK_WARPS: [u32; 2] = [4, 16];
/// What is worth a controller: more than a tenth.
const WORTH: f64 = 1.1;
/// The most warps of firmware that sets the MCW: what all kernels allow.
const GOVERNED_MOST: u32 = 16;
/// Cycles that this firmware aims at for a warp on the cores, by the order of [`APPS`]: about twice
/// the mean delay of sparse traffic, in which hardly any packet waits.
const TARGETS: [u32; 4] = [16_500, 9_800, 1_350, 800];
/// Traffic: name, and what it is.
const TRAFFIC: [(&str, &str); 3] = [
    ("burst", "even arrivals at 2.0 T"),
    ("sparse", "Poisson arrivals at 0.5 T"),
    ("mixed", "bursts of 2,048 frames at 2.0 T, 0.7 T in the mean"),
];

fn arrivals(app: &App, traffic: &str) -> String {
    let rate = |factor| rate(app, Through::Host, factor);
    match traffic {
        "burst" => format!("constant:{}", rate(2.0)),
        "sparse" => format!("poisson:{}", rate(0.5)),
        _ => format!("onoff:{},peak={},burst=2048", rate(0.7), rate(2.0)),
    }
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (warps, packets) = match scale {
        Scale::Quick => (&QUICK_WARPS[..], QUICK_PACKETS),
        Scale::Full => (&WARPS[..], BURST_PACKETS),
    };
    let mut cells = Vec::new();
    for (app, target) in APPS.iter().zip(TARGETS) {
        for (traffic, _) in TRAFFIC {
            for &mcw in warps {
                let labels = labels(&[("app", app.name), ("traffic", traffic), ("mcw", &mcw.to_string())]);
                let arrivals = arrivals(app, traffic);
                let parameters = Parameters { mcw, packets, arrivals, ..Parameters::of(app.name)? };
                cells.push(Cell { labels, parameters });
            }
            let labels = labels(&[("app", app.name), ("traffic", traffic), ("mcw", "firmware")]);
            let of_app = Parameters::of(app.name)?;
            let parameters = Parameters {
                array: Config { command_threads: 1, ..of_app.array },
                mcw: GOVERNED_MOST,
                delay_target: target,
                packets,
                arrivals: arrivals(app, traffic),
                ..of_app
            };
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

fn row(app: &App, traffic: &str, mcw: &str, result: &ResultFile, delays: &Delays, over: f64) -> Vec<String> {
    vec![
        app.published.to_string(),
        traffic.to_string(),
        mcw.to_string(),
        figure(result.measured.whole.mpps()),
        figure(delays.delay.mean),
        delays.delay.p99.to_string(),
        figure(over),
        delays.delay.iqr.to_string(),
    ]
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    // p99 over the best of its cell, by MCW: the worst over all cells tells a single value.
    let mut worst: Vec<(u32, f64, usize)> = Vec::new();
    let (mut all, mut cell_ratios, mut by_firmware) = (0, Vec::new(), Vec::new());
    for (traffic, about) in TRAFFIC {
        let mut series = Vec::new();
        for app in &APPS {
            let of_cell = [("app", app.name), ("traffic", traffic)];
            let found: Vec<_> = results
                .all(&of_cell)
                .filter_map(|result| Some((result, result.measured.delays.as_ref()?)))
                .collect();
            let (governed, found): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|(result, _)| result.job.parameters.delay_target > 0);
            let Some(best) = found.iter().map(|(_, delays)| delays.delay.p99).min() else { continue };
            let over_best = |delays: &Delays| delays.delay.p99 as f64 / best.max(1) as f64;
            all += 1;
            let mut points = Vec::new();
            for (result, delays) in found {
                let mcw = result.job.parameters.mcw;
                let over = over_best(delays);
                cell_ratios.push((mcw, over, format!("{}, {traffic}", app.published)));
                match worst.iter_mut().find(|(known, ..)| *known == mcw) {
                    Some((_, most, count)) => (*most, *count) = (most.max(over), *count + 1),
                    None => worst.push((mcw, over, 1)),
                }
                points.push((f64::from(mcw), delays.delay.p99 as f64));
                rows.push(row(app, traffic, &mcw.to_string(), result, delays, over));
            }
            for (result, delays) in governed {
                let over = over_best(delays);
                let name = format!("firmware, {} cycles", result.job.parameters.delay_target);
                rows.push(row(app, traffic, &name, result, delays, over));
                by_firmware.push((over, format!("{}, {traffic}", app.published)));
            }
            series.push(Series { name: app.published.to_string(), points, published: false });
        }
        plots.push(Plot {
            title: format!("p99 of the delay, {about}"),
            x: "MCW".to_string(),
            x_scale: report::Scale::Logarithmic,
            y: "cycles".to_string(),
            y_scale: report::Scale::Logarithmic,
            series,
        });
    }
    // Only a value that every kernel allows is one for all.
    let single = worst.iter().filter(|(_, _, count)| *count == all).min_by(|a, b| a.1.total_cmp(&b.1));
    let sentence = match single {
        Some((mcw, over, _)) => {
            let loses = |(known, over, name): &(u32, f64, String)| {
                (known == mcw && *over > WORTH).then(|| format!("{name} {}", figure(*over)))
            };
            let losing: Vec<_> = cell_ratios.iter().filter_map(loses).collect();
            let losing = match losing.is_empty() {
                true => "; no controller could win a tenth".to_string(),
                false => format!("; more than a tenth could be won by: {}", losing.join(", ")),
            };
            format!(
                "With MCW {mcw} for all, the p99 is at most {} times that of the best value for each app and traffic{losing}.",
                figure(*over)
            )
        }
        None => "No MCW was run for all apps and traffic.".to_string(),
    };
    // The same with a value for each app, which costs no controller.
    let of_app = |app: &App| {
        let mut warps: Vec<(u32, f64, usize)> = Vec::new();
        for (mcw, over, name) in &cell_ratios {
            if !name.starts_with(app.published) {
                continue;
            }
            match warps.iter_mut().find(|(known, ..)| known == mcw) {
                Some((_, most, count)) => (*most, *count) = (most.max(*over), *count + 1),
                None => warps.push((*mcw, *over, 1)),
            }
        }
        let in_all = warps.iter().filter(|(_, _, count)| *count == TRAFFIC.len());
        let (mcw, over, _) = in_all.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(format!("{} {} (MCW {mcw})", app.published, figure(*over)))
    };
    let of_apps: Vec<_> = APPS.iter().filter_map(of_app).collect();
    let sentence = match of_apps.is_empty() {
        true => sentence,
        false => format!("{sentence} With a value for each app at most: {}.", of_apps.join(", ")),
    };
    let most = by_firmware.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let sentence = match most {
        Some((over, name)) => {
            format!("{sentence} With firmware that sets it at most {} ({name}).", figure(*over))
        }
        None => sentence,
    };
    let head =
        ["app", "traffic", "MCW", "delivered, Mpps", "mean delay", "p99, cycles", "over the best", "IQR"];
    Ok(Section {
        title: "MCW by traffic".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "64-byte frames by the host, header path, from an empty machine. The p99 of a burst says how long the burst \
                   is. Mixed traffic is one draw of about eight bursts. Firmware: delay-governor.c, which begins with 4 warps of at most 16 and aims at the \
                   cycles of its row for the time of a warp on the cores, about twice the mean delay of sparse traffic."
            .to_string(),
        assumed: "T as in figure 4.".to_string(),
        differs: "The paper tunes the MCW to get other qualities of service. Here the controller is firmware of the command processor \
                  (docs/firmware.md)."
            .to_string(),
    })
}
