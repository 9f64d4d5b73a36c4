//! Figures 4(a) to 4(c): the array beside the CPU/GPU system.

use hermes_qos::baseline::{Pipelining, System};
use hermes_testbench::metrics::Distribution;

use super::baseline::{self, Baseline};
use super::{EVERY, FACTORS, IMIX, WARPS};
use crate::figures::regime::{self, nominal, BURST_PACKETS};
use crate::figures::{figure, path, App, Results, QUICK_PACKETS};
use crate::parameters::Through;
use crate::plan;
use crate::report::{Plot, Scale, Section, Series};
use crate::results::ResultFile;

/// A figure of a run; none where it was not measured.
type OfRun = fn(&ResultFile) -> Option<f64>;

/// What one of the figures is about.
struct Metric {
    title: &'static str,
    /// Name of the axis.
    axis: &'static str,
    /// Of a run of the array.
    array: OfRun,
    /// Of the CPU/GPU system.
    baseline: fn(&Baseline, &App) -> f64,
    /// Whether more is better.
    more: bool,
    /// The loads that it is shown for.
    loads: &'static [(&'static str, f64)],
    /// What the paper says.
    published: &'static str,
    /// How it was measured.
    measured: &'static str,
    /// A figure of the array that stands beside: name, and what it is of a run.
    beside: Option<(&'static str, OfRun)>,
}

/// Figure 4(a).
pub fn throughput(results: &Results) -> anyhow::Result<Section> {
    let metric = Metric {
        title: "Figure 4(a): throughput under burst traffic",
        axis: "Gbit/s of frames",
        array: |result| Some(result.measured.rate().gbps()),
        baseline: |system, app| baseline::gbps(system.mpps, app),
        more: true,
        // Above 1 the throughput is the same whatever the load.
        loads: &FACTORS[..1],
        published: "up to 5 times that of the CPU/GPU system",
        measured:
            "All packets there from the start, as in figure 5; the CPU/GPU system on a long stream at 2.0 T.",
        beside: None,
    };
    section(results, &metric)
}

/// Figure 4(b).
pub fn delay(results: &Results) -> anyhow::Result<Section> {
    let metric = Metric {
        title: "Figure 4(b): delay under burst traffic",
        axis: "mean delay, us",
        array: |result| result.measured.delays.as_ref().map(|delays| delays.delay.mean / 1e3),
        baseline: |system, _| system.burst.delays.iter().sum::<f64>() / system.burst.delays.len() as f64 / 1e3,
        more: false,
        loads: &FACTORS,
        published: "81.2 % less on average, with the best MCW of each app",
        measured: "Bursts of 16,384 packets (2,048 of a quick plan) that arrive evenly at an empty array; delay from the scheduled last bit to the \
                   commit. In a burst the mean delay is about half of the time to drain: it tells throughput once more, so \
                   1.1 T stands beside 2.0 T.",
        beside: None,
    };
    section(results, &metric)
}

/// Figure 4(c).
pub fn variance(results: &Results) -> anyhow::Result<Section> {
    let metric = Metric {
        title: "Figure 4(c): delay variance under burst traffic",
        axis: "interquartile range, us",
        array: |result| result.measured.delays.as_ref().map(|delays| delays.delay.iqr as f64 / 1e3),
        baseline: |system, _| {
            Distribution::of(system.burst.delays.iter().map(|delay| delay.round() as u64)).iqr as f64 / 1e3
        },
        more: false,
        loads: &FACTORS,
        published: "72.9 % less on average",
        measured: "The bursts of figure 4(b); interquartile range of the delays of all packets, and beside it that of the \
                   mean delays of warps, the paper's grain.",
        beside: Some(("of warps, us", |result| {
            result.measured.delays.as_ref().map(|delays| delays.delay_iqr_of_warps / 1e3)
        })),
    };
    section(results, &metric)
}

/// How many times as good, or by how many percent less.
fn gain(metric: &Metric, array: f64, system: f64) -> String {
    match metric.more {
        true => format!("{} times", figure(array / system)),
        false => less(1.0 - array / system),
    }
}

/// A share that is less, or more.
fn less(share: f64) -> String {
    match share < 0.0 {
        true => format!("{:.1} % more", -100.0 * share),
        false => format!("{:.1} % less", 100.0 * share),
    }
}

/// The CPU/GPU system in two ways of choosing its batch.
struct Chosen {
    /// The batch that is best for the figure: its value and its size.
    best: (f64, usize),
    /// The batch with the best throughput.
    quickest: (f64, usize),
}

fn chosen(metric: &Metric, app: &App, all: &[Baseline]) -> Option<Chosen> {
    let value = |system: &&Baseline| (metric.baseline)(system, app);
    let order = |a: &&Baseline, b: &&Baseline| value(a).total_cmp(&value(b));
    let best = if metric.more { all.iter().max_by(order) } else { all.iter().min_by(order) }?;
    let quickest = all.iter().max_by(|a, b| a.mpps.total_cmp(&b.mpps))?;
    let pair = |system: &Baseline| ((metric.baseline)(system, app), system.size);
    Some(Chosen { best: pair(best), quickest: pair(quickest) })
}

/// Gains of all apps against one kind of system.
#[derive(Default)]
struct Gains(Vec<f64>);

impl Gains {
    fn add(&mut self, metric: &Metric, array: f64, system: f64) {
        self.0.push(if metric.more { array / system } else { 1.0 - array / system });
    }

    /// The best app where more is better, the mean otherwise.
    fn told(&self, metric: &Metric) -> String {
        match metric.more {
            true => format!("{} times", figure(self.0.iter().copied().fold(0.0, f64::max))),
            false => less(self.0.iter().sum::<f64>() / self.0.len() as f64),
        }
    }
}

fn section(results: &Results, metric: &Metric) -> anyhow::Result<Section> {
    let (mut rows, mut plots, mut sentences) = (Vec::new(), Vec::new(), Vec::new());
    for (load, factor) in metric.loads {
        let mut series: Vec<Series> = Vec::new();
        let mut add = |name: String, at: usize, value: f64| {
            // A logarithmic axis has no 0.
            let point = Some((at as f64, value)).filter(|(_, value)| *value > 0.0);
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.extend(point),
                None => series.push(Series { name, points: point.into_iter().collect(), published: false }),
            }
        };
        let [mut serial_gains, mut overlapped_gains, mut quickest_gains] =
            [Gains::default(), Gains::default(), Gains::default()];
        let mut words = Vec::new();
        for (at, app) in EVERY.iter().enumerate() {
            let offered = regime::offered(app, Through::Host, *factor);
            let packets = match results.scale {
                plan::Scale::Quick => QUICK_PACKETS,
                plan::Scale::Full => BURST_PACKETS,
            };
            let system = |pipelining| {
                let system = System { pipelining, ..System::JOURNAL };
                chosen(metric, app, &baseline::all(results, app, &system, offered, packets))
            };
            let (Some(serial), Some(overlapped)) =
                (system(Pipelining::Serial), system(Pipelining::Overlapped))
            else {
                continue;
            };
            if metric.more {
                add("offered".to_string(), at, baseline::gbps(offered, app));
            }
            add("CPU/GPU, serial".to_string(), at, serial.best.0);
            add("CPU/GPU, overlapped".to_string(), at, overlapped.best.0);
            let mut best: Option<(u32, f64)> = None;
            for mcw in WARPS {
                let text = mcw.to_string();
                let of_run = if metric.more { ("closed", "yes") } else { ("load", *load) };
                let Some(result) = results.with(&[("app", app.name), of_run, ("mcw", &text)]) else {
                    continue;
                };
                let Some(value) = (metric.array)(result) else { continue };
                add(format!("Hermes-{mcw}"), at, value);
                let is_better = |(_, best): (u32, f64)| if metric.more { value > best } else { value < best };
                if best.is_none_or(is_better) {
                    best = Some((mcw, value));
                }
                let mut row = vec![
                    app.published.to_string(),
                    format!("{load} T, {} Mpps", figure(offered)),
                    format!("Hermes-{mcw}"),
                    figure(value),
                    figure(result.measured.rate().mpps()),
                    figure(result.measured.lines()),
                    path(result).to_string(),
                    format!("{} ({})", figure(serial.best.0), serial.best.1),
                    gain(metric, value, serial.best.0),
                    format!("{} ({})", figure(overlapped.best.0), overlapped.best.1),
                    gain(metric, value, overlapped.best.0),
                ];
                let beside = metric.beside.map(|(_, of)| of(result).map_or("-".to_string(), figure));
                row.extend(beside);
                rows.push(row);
            }
            if let Some((mcw, value)) = best {
                // The gains told are those of the paper's four apps.
                if app.name != IMIX.name {
                    serial_gains.add(metric, value, serial.best.0);
                    overlapped_gains.add(metric, value, overlapped.best.0);
                    quickest_gains.add(metric, value, serial.quickest.0);
                }
                let of_serial = gain(metric, value, serial.best.0);
                words.push(format!("{} {of_serial} (MCW {mcw})", app.published));
            }
        }
        if words.is_empty() {
            continue;
        }
        let (serial, overlapped) = (serial_gains.told(metric), overlapped_gains.told(metric));
        let told = match metric.more {
            true => format!("the best app has {serial} the throughput of the serial system, {overlapped} that of the overlapped one"),
            false => format!(
                "on average {serial} than the serial system with the batch that is best for it ({} with the batch of its best \
                 throughput), {overlapped} than the overlapped one",
                quickest_gains.told(metric)
            ),
        };
        sentences.push(format!("At {load} T {told}; against the serial one: {}", words.join(", ")));
        plots.push(Plot {
            title: format!("{}, {load} T", metric.title),
            x: "app".to_string(),
            x_scale: Scale::Names(EVERY.map(|app| app.published.to_string()).to_vec()),
            y: metric.axis.to_string(),
            y_scale: Scale::Logarithmic,
            series,
        });
    }
    let head = [
        "app",
        "line-card rate",
        "array",
        metric.axis,
        "Mpps",
        "lines moved a packet",
        "packets",
        "CPU/GPU serial (batch)",
        "gain",
        "CPU/GPU overlapped (batch)",
        "gain",
    ];
    if metric.more {
        sentences.extend(throughputs(results));
    }
    Ok(Section {
        title: metric.title.to_string(),
        sentence: format!("{}. The paper: {}.", sentences.join(". "), metric.published),
        plots,
        head: head.into_iter().chain(metric.beside.map(|(name, _)| name)).map(str::to_string).collect(),
        rows,
        measured: format!("64-byte frames, but for DPI with IMIX, which is in no mean. {} {}", metric.measured, results.steady_state()),
        assumed: "T is about the throughput of an app at its best MCW. CPU/GPU: the size of a batch that is best for the \
                  figure, of those in the plan (256 to 16,384 packets); kernel time of this array for the batch, with its \
                  best MCW; PCIe of 16 GB/s each way at an efficiency of 0.75, 1.5 us a transfer, 4 us a launch, 2 us to \
                  notice its end; frame and 16 bytes to the GPU, the frame or, of DPI, classification and routes, 4 bytes \
                  back. Serial: one batch after the other, as the paper's sum of three components; overlapped: three \
                  stages at once. A delay variance is smallest where all packets are one batch that waits for the last of \
                  them."
            .to_string(),
        differs: "The paper gives no rates, no batch sizes and no times around its kernels. Its GPU is a simulated one; here the \
                  kernel has the time of this array, so the gain is large where the transfer is most of the time."
            .to_string(),
    })
}

/// T of every app, as it was measured and as plans assume it.
fn throughputs(results: &Results) -> Option<String> {
    let of_app = |app: &App| {
        let labels = [("app", app.name), ("closed", "yes")];
        let most = results.all(&labels).map(|result| result.measured.rate().mpps()).reduce(f64::max)?;
        let assumed = figure(nominal(app, Through::Host));
        Some(format!("{} {} (plans assume {assumed})", app.published, figure(most)))
    };
    let all: Vec<_> = EVERY.iter().filter_map(of_app).collect();
    (!all.is_empty()).then(|| format!("T in Mpps: {}", all.join(", ")))
}
