//! When a partial warp is formed: the interval of the paper's section 3.3.

use hermes_rtl::config::Config;
use hermes_testbench::metrics::Distribution;

use super::regime::{nominal, offered_to, packets_at, rate};
use super::{figure, labels, App, Results, APPS};
use crate::parameters::{Parameters, Through};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};
use crate::results::ResultFile;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "hermes-timeout",
    summary: "delay against load with several time-outs of warp forming",
    cells,
    section,
};

/// Loads in percent.
const LOADS: [u32; 8] = [2, 5, 10, 20, 40, 60, 80, 100];
const QUICK_LOADS: [u32; 2] = [10, 60];
/// Packets of a run.
const PACKETS: usize = 8_192;
/// Seeds of the arrivals: figures are means.
const SEEDS: [u64; 3] = [1, 2, 3];
/// MCW of the runs.
const MCW: u32 = 16;
/// Time-outs in cycles; `2x` is twice the time in which a warp arrives (section 3.3), and `eager`
/// forms partial warps at once when a slot is idle.
const SETTINGS: [&str; 5] = ["64", "256", "1024", "2x", "eager"];
/// Settings of the adaptive time-out, each with its TIMEOUT_EAGER: as it is after reset, and always
/// waiting for the time-out.
const ADAPTIVE: [(&str, u32); 2] = [("adaptive", 8), ("adaptive, waits", 0)];

/// The apps with the shortest and a longer service.
fn apps() -> impl Iterator<Item = &'static App> {
    APPS.iter().filter(|app| matches!(app.name, "dec-ttl" | "classifier"))
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (loads, seeds) = match scale {
        Scale::Quick => (&QUICK_LOADS[..], &SEEDS[..1]),
        Scale::Full => (&LOADS[..], &SEEDS[..]),
    };
    let mut cells = Vec::new();
    for app in apps() {
        for load in loads {
            let factor = f64::from(*load) / 100.0;
            let arrivals = format!("poisson:{}", rate(app, Through::Host, factor));
            let packets = packets_at(*load, PACKETS, scale);
            let base = Parameters { mcw: MCW, packets, arrivals, ..Parameters::of(app.name)? };
            let warp = base.array.lanes as f64 * 1e3 / (nominal(app, Through::Host) * factor);
            let mut add = |setting: &str, parameters: Parameters| {
                for seed in seeds {
                    let (load, text) = (load.to_string(), seed.to_string());
                    let labels =
                        labels(&[("app", app.name), ("load", &load), ("timeout", setting), ("seed", &text)]);
                    let parameters = Parameters { seed: *seed, packet_seed: *seed, ..parameters.clone() };
                    cells.push(Cell { labels, parameters });
                }
            };
            for setting in SETTINGS {
                let parameters = base.clone();
                let parameters = match setting {
                    "eager" => Parameters { eager: true, ..parameters },
                    "2x" => Parameters { timeout: (2.0 * warp).round() as u32, ..parameters },
                    cycles => Parameters { timeout: cycles.parse()?, ..parameters },
                };
                add(setting, parameters);
            }
            for (setting, timeout_eager) in ADAPTIVE {
                let array = Config { adaptive_timeout: true, ..base.array.clone() };
                add(setting, Parameters { array, timeout_factor: 8, timeout_eager, ..base.clone() });
            }
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut plots, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for app in apps() {
        let mut series = Vec::new();
        // The worst of each setting's p99 over the best at that load.
        let mut worst: Vec<(&str, f64, usize)> = Vec::new();
        let found = |load: &str, setting: &str| {
            Seeds::of(results.all(&[("app", app.name), ("load", load), ("timeout", setting)]).collect())
        };
        for setting in SETTINGS.into_iter().chain(ADAPTIVE.map(|(setting, _)| setting)) {
            let (mut points, mut ratio) = (Vec::new(), 0.0_f64);
            for load in LOADS.iter().chain(&QUICK_LOADS).collect::<std::collections::BTreeSet<_>>() {
                let load = load.to_string();
                let Some(seeds) = found(&load, setting) else { continue };
                let others: Vec<_> = SETTINGS.iter().filter_map(|other| found(&load, other)).collect();
                if others.is_empty() {
                    continue;
                }
                let best = others.iter().map(|other| other.p99).fold(f64::INFINITY, f64::min);
                let most = others.iter().map(|other| other.mpps).fold(0.0, f64::max);
                ratio = ratio.max(seeds.p99 / best);
                points.push((load.parse()?, seeds.p99));
                rows.push(vec![
                    app.published.to_string(),
                    load,
                    setting.to_string(),
                    seeds.timeout.map_or_else(|| "measured".to_string(), |cycles| cycles.to_string()),
                    figure(seeds.offered),
                    figure(seeds.mpps),
                    format!("{:.3}", seeds.mpps / most),
                    figure(seeds.p50),
                    figure(seeds.p99),
                    figure(seeds.p99 / best),
                    figure(seeds.packets_a_warp),
                    seeds.count.to_string(),
                ]);
            }
            if !points.is_empty() {
                worst.push((setting, ratio, points.len()));
                series.push(Series { name: setting.to_string(), points, published: false });
            }
        }
        // One that was not run at every load is not compared.
        let loads = worst.iter().map(|(_, _, loads)| *loads).max().unwrap_or(0);
        let whole = worst.iter().filter(|(_, _, known)| *known == loads);
        let nearest = whole.min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((setting, ratio, _)) = nearest {
            told.push(format!("{}: `{setting}`, within {} times the best", app.published, figure(*ratio)));
        }
        let is_told = nearest.is_some_and(|(setting, ..)| *setting == ADAPTIVE[0].0);
        for (setting, ratio, _) in worst.iter().filter(|(setting, ..)| *setting == ADAPTIVE[0].0 && !is_told)
        {
            told.push(format!("{}: `{setting}` within {}", app.published, figure(*ratio)));
        }
        if !series.is_empty() {
            plots.push(Plot {
                title: format!("p99 of the delay by time-out: {}", app.published),
                x: "load, %".to_string(),
                x_scale: report::Scale::Logarithmic,
                y: "cycles".to_string(),
                y_scale: report::Scale::Logarithmic,
                series,
            });
        }
    }
    let head = [
        "app",
        "load, %",
        "time-out",
        "cycles",
        "offered, Mpps",
        "delivered, Mpps",
        "of the most",
        "delay p50, cycles",
        "p99",
        "p99 over the best",
        "packets a warp",
        "seeds",
    ];
    Ok(Section {
        title: "Time-out of warp forming".to_string(),
        sentence: format!("The setting whose p99 is nearest to the best at every load: {}.", told.join("; ")),
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!("64-byte frames through the host, Poisson arrivals, means of three seeds of tables, packets and arrivals (one in a quick plan), MCW {MCW}; loads in percent of T as in figure 4."),
        assumed: "The best is that of the five fixed settings, of which `2x` knows the load. The adaptive time-out measures it: twice \
                  the time in which a warp arrives, 64 to 1,024 cycles, and with `adaptive` no packet waits for 256 cycles or more \
                  while fewer than two warps for each core are on the cores."
            .to_string(),
        differs: "The paper forms a partial warp after twice the time in which a warp arrives (section 3.3); the array has a \
                  register, 256 cycles unless set, and a bit for eager forming; the adaptive time-out is an option of the array."
            .to_string(),
    })
}

/// Means over the seeds.
struct Seeds {
    count: usize,
    /// In cycles, if it does not follow the traffic.
    timeout: Option<u32>,
    offered: f64,
    mpps: f64,
    p50: f64,
    p99: f64,
    packets_a_warp: f64,
}

impl Seeds {
    /// Of these results; none if there are none.
    fn of(results: Vec<&ResultFile>) -> Option<Self> {
        let mean = |of: &dyn Fn(&ResultFile) -> f64| {
            results.iter().map(|result| of(result)).sum::<f64>() / results.len() as f64
        };
        let delay = |of: fn(&Distribution) -> u64| {
            mean(&|result| result.measured.delays.as_ref().map_or(0.0, |delays| of(&delays.delay) as f64))
        };
        results.first()?;
        Some(Self {
            count: results.len(),
            timeout: results
                .first()
                .map(|result| &result.job.parameters)
                .and_then(|parameters| (parameters.timeout_factor == 0).then_some(parameters.timeout)),
            offered: mean(&offered_to),
            mpps: mean(&|result| result.measured.whole.mpps()),
            p50: delay(|delay| delay.p50),
            p99: delay(|delay| delay.p99),
            packets_a_warp: mean(&|result| {
                result.measured.whole.packets as f64 / result.measured.whole.warps.max(1) as f64
            }),
        })
    }
}
