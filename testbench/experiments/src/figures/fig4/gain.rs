//! Figures 4(a) to 4(c): the array beside the CPU/GPU system.

use hermes_qos::baseline::Pipelining;
use hermes_testbench::metrics::Distribution;

use super::baseline::{self, Baseline};
use super::{FACTORS, WARPS};
use crate::figures::{figure, Results, APPS};
use crate::report::{Plot, Scale, Section, Series};
use crate::results::ResultFile;

/// What one of the figures is about.
struct Metric {
    title: &'static str,
    /// Name of the axis.
    axis: &'static str,
    /// Of a run of the array.
    array: fn(&ResultFile) -> Option<f64>,
    /// Of the CPU/GPU system.
    baseline: fn(&Baseline) -> f64,
    /// Whether more is better.
    more: bool,
    /// The loads that it is shown for.
    loads: &'static [(&'static str, f64)],
    /// What the paper says.
    published: &'static str,
}

/// Figure 4(a).
pub fn throughput(results: &Results) -> anyhow::Result<Section> {
    let metric = Metric {
        title: "Figure 4(a): throughput under burst traffic",
        axis: "Gbit/s of frames",
        array: |result| Some(result.measured.whole.gbps()),
        baseline: |system| baseline::gbps(system.mpps),
        more: true,
        // Above 1 the throughput is the same whatever the load.
        loads: &FACTORS[..1],
        published: "up to 5 times that of the CPU/GPU system",
    };
    section(results, &metric)
}

/// Figure 4(b).
pub fn delay(results: &Results) -> anyhow::Result<Section> {
    let metric = Metric {
        title: "Figure 4(b): delay under burst traffic",
        axis: "mean delay, us",
        array: |result| result.measured.delays.as_ref().map(|delays| delays.delay.mean / 1e3),
        baseline: |system| system.burst.delays.iter().sum::<f64>() / system.burst.delays.len() as f64 / 1e3,
        more: false,
        loads: &FACTORS,
        published: "81.2 % less on average, with the best MCW of each app",
    };
    section(results, &metric)
}

/// Figure 4(c).
pub fn variance(results: &Results) -> anyhow::Result<Section> {
    let metric = Metric {
        title: "Figure 4(c): delay variance under burst traffic",
        axis: "interquartile range, us",
        array: |result| result.measured.delays.as_ref().map(|delays| delays.delay.iqr as f64 / 1e3),
        baseline: |system| {
            Distribution::of(system.burst.delays.iter().map(|delay| delay.round() as u64)).iqr as f64 / 1e3
        },
        more: false,
        loads: &FACTORS,
        published: "72.9 % less on average",
    };
    section(results, &metric)
}

/// How many times as good, or by how many percent less.
fn gain(metric: &Metric, array: f64, system: f64) -> String {
    match metric.more {
        true => format!("{} times", figure(array / system)),
        false => format!("{:.1} % less", 100.0 * (1.0 - array / system)),
    }
}

fn section(results: &Results, metric: &Metric) -> anyhow::Result<Section> {
    let names = APPS.map(|app| app.published.to_string());
    let (mut rows, mut plots, mut sentences) = (Vec::new(), Vec::new(), Vec::new());
    for (load, _) in metric.loads {
        let mut series: Vec<Series> = Vec::new();
        let mut add = |name: String, at: usize, value: f64| {
            let point = (at as f64, value);
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name, points: vec![point], published: false }),
            }
        };
        let (mut serial_gains, mut overlapped_gains, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (at, app) in APPS.iter().enumerate() {
            let system = |pipelining| baseline::of(results, app, pipelining, load);
            let (Some(serial), Some(overlapped)) =
                (system(Pipelining::Serial), system(Pipelining::Overlapped))
            else {
                continue;
            };
            let (of_serial, of_overlapped) = ((metric.baseline)(&serial), (metric.baseline)(&overlapped));
            add("CPU/GPU, serial".to_string(), at, of_serial);
            add("CPU/GPU, overlapped".to_string(), at, of_overlapped);
            let mut best: Option<(u32, f64)> = None;
            for mcw in WARPS {
                let labels = [("app", app.name), ("load", *load), ("mcw", &mcw.to_string())];
                let Some(value) = results.with(&labels).and_then(metric.array) else { continue };
                add(format!("Hermes-{mcw}"), at, value);
                let is_better = |(_, best): (u32, f64)| if metric.more { value > best } else { value < best };
                if best.is_none_or(is_better) {
                    best = Some((mcw, value));
                }
                rows.push(vec![
                    app.published.to_string(),
                    format!("{load} T"),
                    format!("Hermes-{mcw}"),
                    figure(value),
                    figure(of_serial),
                    serial.size.to_string(),
                    gain(metric, value, of_serial),
                    figure(of_overlapped),
                    gain(metric, value, of_overlapped),
                ]);
            }
            if let Some((mcw, value)) = best {
                let ratio = |system: f64| if metric.more { value / system } else { 1.0 - value / system };
                serial_gains.push(ratio(of_serial));
                overlapped_gains.push(ratio(of_overlapped));
                words.push(format!("{} {} (MCW {mcw})", app.published, gain(metric, value, of_serial)));
            }
        }
        if words.is_empty() {
            continue;
        }
        let mean = |gains: &[f64]| gains.iter().sum::<f64>() / gains.len() as f64;
        let most = |gains: &[f64]| gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let told = match metric.more {
            true => format!(
                "best app {} times the serial system, {} times the overlapped one",
                figure(most(&serial_gains)),
                figure(most(&overlapped_gains))
            ),
            false => format!(
                "on average {:.1} % less than the serial system, {:.1} % less than the overlapped one",
                100.0 * mean(&serial_gains),
                100.0 * mean(&overlapped_gains)
            ),
        };
        sentences.push(format!("At {load} T: {told}; {}", words.join(", ")));
        plots.push(Plot {
            title: format!("{}, {load} T", metric.title),
            x: "app".to_string(),
            x_scale: Scale::Names(names.to_vec()),
            y: metric.axis.to_string(),
            y_scale: Scale::Logarithmic,
            series: series.into_iter().filter(|s| s.points.iter().all(|p| p.1 > 0.0)).collect(),
        });
    }
    let head = [
        "app",
        "line-card rate",
        "array",
        metric.axis,
        "CPU/GPU serial",
        "its batch",
        "gain",
        "CPU/GPU overlapped",
        "gain",
    ];
    Ok(Section {
        title: metric.title.to_string(),
        sentence: format!("{}. The paper: {}.", sentences.join(". "), metric.published),
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "Bursts of 64-byte frames that arrive evenly from an empty array on; T is about the throughput of the app \
                   at its best MCW, so a line-card rate of 2.0 T is a burst. Delay from the scheduled last bit to the commit. \
                   In a burst the mean delay is about half of the time to drain: it tells throughput once more, so 1.1 T \
                   stands beside."
            .to_string(),
        assumed: "CPU/GPU: batches of 256 to 16,384 packets, the size with the best throughput of a long stream; kernel \
                  time of this array for the batch, with the better of MCW 16 and 32; PCIe of 16 GB/s each way at an \
                  efficiency of 0.75, 1.5 us a transfer, 4 us a launch, 2 us to notice its end; frame and 16 bytes to \
                  the GPU, the frame or, of DPI, classification and routes, 4 bytes back. Serial: one batch after the \
                  other, as the paper's sum of three components; overlapped: three stages at once."
            .to_string(),
        differs: "The paper gives no rates, no batch sizes and no times around its kernels. Its GPU is a simulated one; \
                  here the kernel has the time of this array, which is much faster than PCIe for DecTTL and slower \
                  for classification: so the gain is large where the transfer is most of the time."
            .to_string(),
    })
}
