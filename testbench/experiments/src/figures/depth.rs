//! How full the queues of the control path become (Hermes, section 3.3).

use super::regime::{packets_at, rate};
use super::{figure, labels, Results, APPS};
use crate::parameters::{Parameters, Through};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "depth",
    summary: "how full task FIFO, delay commit queue and warp slots become, against load",
    cells,
    section,
};

/// Loads in percent.
const LOADS: [u32; 7] = [10, 30, 50, 70, 90, 110, 200];
const QUICK_LOADS: [u32; 2] = [50, 110];
/// Packets of a run.
const PACKETS: usize = 16_384;
/// MCW of the runs.
const MCW: u32 = 16;

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let loads = match scale {
        Scale::Quick => &QUICK_LOADS[..],
        Scale::Full => &LOADS[..],
    };
    let mut cells = Vec::new();
    for app in &APPS {
        for load in loads {
            let arrivals = format!("poisson:{}", rate(app, Through::Host, f64::from(*load) / 100.0));
            let packets = packets_at(*load, PACKETS, scale);
            let mut parameters = Parameters { mcw: MCW, packets, arrivals, ..Parameters::of(app.name)? };
            parameters.array.load_counters = true;
            let labels = labels(&[("app", app.name), ("load", &load.to_string())]);
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let mut rows = Vec::new();
    let [mut tasks, mut queue, mut slots] = [Vec::new(), Vec::new(), Vec::new()];
    let (mut most_tasks, mut most_queue) = (0, 0);
    for app in &APPS {
        let [mut of_tasks, mut of_queue, mut of_slots] = [Vec::new(), Vec::new(), Vec::new()];
        for load in LOADS {
            let load_text = load.to_string();
            let Some(result) = results.with(&[("app", app.name), ("load", &load_text)]) else { continue };
            let Some(counted) = &result.measured.load else { continue };
            let x = f64::from(load);
            of_tasks.push((x, f64::from(counted.high_tasks)));
            of_queue.push((x, f64::from(counted.high_commit_queue)));
            of_slots.push((x, counted.mean_busy_slots));
            most_tasks = most_tasks.max(counted.high_tasks);
            most_queue = most_queue.max(counted.high_commit_queue);
            rows.push(vec![
                app.published.to_string(),
                format!("{load} %"),
                counted.high_tasks.to_string(),
                counted.high_commit_queue.to_string(),
                counted.commit_queue_full_cycles.to_string(),
                figure(counted.mean_busy_slots),
                counted.formed_full.to_string(),
                counted.formed_timeout.to_string(),
                format!("{:.1} %", 100.0 * counted.l1_hit_rate),
            ]);
        }
        for (all, points) in [(&mut tasks, of_tasks), (&mut queue, of_queue), (&mut slots, of_slots)] {
            if !points.is_empty() {
                all.push(Series { name: app.published.to_string(), points, published: false });
            }
        }
    }
    let plot = |title: &str, y: &str, series| Plot {
        title: title.to_string(),
        x: "load, %".to_string(),
        x_scale: report::Scale::Linear,
        y: y.to_string(),
        y_scale: report::Scale::Linear,
        series,
    };
    let head = [
        "app",
        "load",
        "most entries of the task FIFO",
        "most warps in the delay commit queue",
        "cycles with it full",
        "busy slots of a core, mean",
        "warps formed full",
        "by time-out",
        "hit rate of the L1",
    ];
    Ok(Section {
        title: "Depth of the queues".to_string(),
        sentence: match rows.is_empty() {
            true => "It has no result yet.".to_string(),
            false => format!(
                "At most {most_tasks} entries of the task FIFO and {most_queue} warps in the delay commit queue."
            ),
        },
        plots: vec![
            plot("Most warps in the delay commit queue", "warps", queue),
            plot("Most entries of the task FIFO", "entries", tasks),
            plot("Busy warp slots of a core", "slots", slots),
        ],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "Load counters of the array (array.load_counters), read after the run; 64-byte frames by the host, Poisson arrivals, \
                   MCW 16. An entry of the task FIFO is what the host pushed at once, so it has any number of packets."
            .to_string(),
        assumed: "T as in figure 4.".to_string(),
        differs: "The paper says that 1,024 entries of both suffice, and shows no figure.".to_string(),
    })
}
