//! What the assumptions on the CPU/GPU system carry of the gains.

use hermes_qos::baseline::{Pipelining, System};

use super::baseline;
use crate::figures::regime::{offered, BURST_PACKETS};
use crate::figures::{figure, App, Results, APPS, QUICK_PACKETS};
use crate::parameters::Through;
use crate::plan;
use crate::report::Section;

/// The load of the burst.
const FACTOR: f64 = 2.0;

/// The systems: what is assumed, from the one of the other figures to one without any overhead.
fn systems(results: &Results) -> Vec<(String, System)> {
    let usual = System::JOURNAL;
    let dpi = APPS.iter().find(|app| app.name == "dpi");
    let calibrated = dpi.and_then(|dpi| baseline::calibrated(results, dpi, &usual));
    let calibrated = calibrated.map(|system| {
        let efficiency = figure(system.efficiency);
        (format!("efficiency of PCIe {efficiency}, so that DPI takes 6 times its kernel"), system)
    });
    let systems = [
        ("as in figures 4(a) to 4(c), serial", usual),
        ("PCIe of 8 GB/s (the first paper)", System { bandwidth: 8.0, ..usual }),
        ("efficiency of PCIe 0.6", System { efficiency: 0.6, ..usual }),
        ("efficiency of PCIe 0.9", System { efficiency: 0.9, ..usual }),
        ("10 us a transfer", System { transfer_latency: 10_000.0, ..usual }),
        ("1 us a transfer", System { transfer_latency: 1_000.0, ..usual }),
        ("10 us a launch", System { launch: 10_000.0, ..usual }),
        ("no time for launch and end", System { launch: 0.0, synchronization: 0.0, ..usual }),
        ("overlapped", System { pipelining: Pipelining::Overlapped, ..usual }),
        (
            "overlapped, nothing but bytes",
            System {
                pipelining: Pipelining::Overlapped,
                transfer_latency: 0.0,
                launch: 0.0,
                synchronization: 0.0,
                ..usual
            },
        ),
        ("nothing but batches and their kernel", System::NONE),
    ];
    systems.map(|(name, system)| (name.to_string(), system)).into_iter().chain(calibrated).collect()
}

/// What the section says: a row for each system.
pub fn section(results: &Results) -> anyhow::Result<Section> {
    let packets = match results.scale {
        plan::Scale::Quick => QUICK_PACKETS,
        plan::Scale::Full => BURST_PACKETS,
    };
    let mut rows = Vec::new();
    for (name, system) in systems(results) {
        let mut row = vec![name];
        let mut shares = Vec::new();
        for app in &APPS {
            let offered = offered(app, Through::Host, FACTOR);
            let all = baseline::all(results, app, &system, offered, packets);
            let delays = |one: &baseline::Baseline| {
                one.burst.delays.iter().sum::<f64>() / one.burst.delays.len().max(1) as f64
            };
            let closed = [("app", app.name), ("closed", "yes")];
            let mpps = results.all(&closed).map(|result| result.measured.rate().mpps()).reduce(f64::max);
            let of_system = all.iter().map(|one| one.mpps).reduce(f64::max);
            row.push(match mpps.zip(of_system) {
                Some((array, system)) => figure(array / system),
                None => "-".to_string(),
            });
            let bursts = [("app", app.name), ("load", "2.0")];
            let delay = results
                .all(&bursts)
                .filter_map(|result| result.measured.delays.as_ref())
                .map(|delays| delays.delay.mean)
                .reduce(f64::min);
            shares.extend(delay.zip(all.iter().map(delays).reduce(f64::min)).map(|(a, s)| 1.0 - a / s));
        }
        row.push(match shares.len() == APPS.len() {
            true => format!("{:.1} %", 100.0 * shares.iter().sum::<f64>() / shares.len() as f64),
            false => "-".to_string(),
        });
        rows.push(row);
    }
    let spread = |app: &App| {
        let share = baseline::spread(results, app)?;
        Some(format!("{} {} %", app.published, figure(100.0 * share)))
    };
    let spreads: Vec<_> = APPS.iter().filter_map(spread).collect();
    let spreads = match spreads.is_empty() {
        true => String::new(),
        false => {
            format!(" Kernel times of batches of other packets differ by up to: {}.", spreads.join(", "))
        }
    };
    let apps = APPS.map(|app| format!("{}, times the throughput", app.published));
    let head = ["system".to_string()].into_iter().chain(apps);
    Ok(Section {
        title: "What the assumptions on the CPU/GPU system carry".to_string(),
        sentence: format!(
            "Each row changes one thing of the system that figures 4(a) to 4(c) stand beside.{spreads}"
        ),
        plots: Vec::new(),
        head: head.chain(["mean delay less, at 2.0 T".to_string()]).collect(),
        rows,
        measured: format!(
            "Runs of the array and kernel times are those of figures 4(a) and 4(b); each system has the batch that is best \
             for the column. {}",
            results.steady_state()
        ),
        assumed: "The rows. Six times: the paper says that the 30 times that a GPU is faster than a CPU at DPI become 5 with transfers."
            .to_string(),
        differs: "The paper has one system, of which it tells the bandwidth of PCIe.".to_string(),
    })
}
