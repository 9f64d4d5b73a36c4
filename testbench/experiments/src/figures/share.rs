//! The six tasks of a router: which take the time (Hermes, section 4.2).

use super::{figure, labels, Results, QUICK_PACKETS};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment =
    Experiment { name: "hermes-share", summary: "lane-cycles of the six tasks of a router", cells, section };

/// The tasks: app, name in the paper, whether it is one of the three that are said to take nearly
/// 90 % of the time.
const TASKS: [(&str, &str, bool); 6] = [
    ("check-ip-header", "CheckIPHeader", false),
    ("classifier", "Packet classification", true),
    ("route-lookup", "Routing table lookup", true),
    ("dec-ttl", "DecTTL", false),
    ("fragment", "Fragmentation", false),
    ("dpi", "DPI", true),
];
/// Kinds of frames.
const FRAMES: [(&str, &str); 2] = [("64 B", "fixed:60"), ("IMIX", "imix")];
/// Packets of a run: those of long frames are searched byte by byte.
const PACKETS: usize = 8_192;
/// MCW of the runs.
const MCW: u32 = 8;

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (frames, packets) = match scale {
        Scale::Quick => (&FRAMES[..1], QUICK_PACKETS),
        Scale::Full => (&FRAMES[..], PACKETS),
    };
    let mut cells = Vec::new();
    for (name, kind) in frames {
        for (app, _, _) in TASKS {
            let labels = labels(&[("app", app), ("frames", name)]);
            let parameters =
                Parameters { mcw: MCW, packets, frames: (*kind).to_string(), ..Parameters::of(app)? };
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut series, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for (frames, _) in FRAMES {
        let times: Vec<_> = TASKS
            .iter()
            .enumerate()
            .filter_map(|(at, (app, name, large))| {
                let result = results.with(&[("app", app), ("frames", frames)])?;
                let (measured, array) = (&result.measured, &result.job.parameters.array);
                let lane_cycles = (measured.busy_cycles as usize * array.cores * array.lanes) as f64;
                Some((at, *name, *large, lane_cycles / measured.whole.packets.max(1) as f64, measured))
            })
            .collect();
        let sum: f64 = times.iter().map(|(_, _, _, cycles, _)| cycles).sum();
        let large: f64 =
            times.iter().filter(|(_, _, large, _, _)| *large).map(|(_, _, _, cycles, _)| cycles).sum();
        // A share is of all six.
        let whole = times.len() == TASKS.len();
        if whole {
            told.push(format!("{:.0} % with frames of {frames}", 100.0 * large / sum));
        }
        let mut points = Vec::new();
        for (at, name, _, cycles, measured) in &times {
            let share = 100.0 * cycles / sum;
            if whole {
                points.push((*at as f64, share));
            }
            rows.push(vec![
                (*name).to_string(),
                frames.to_string(),
                figure(*cycles),
                if whole { format!("{share:.1} %") } else { "-".to_string() },
                figure(measured.lane_instructions as f64 / measured.whole.packets.max(1) as f64),
                figure(measured.lines()),
            ]);
        }
        if !points.is_empty() {
            series.push(Series { name: frames.to_string(), points, published: false });
        }
    }
    let plot = Plot {
        title: "Share of the time of each task".to_string(),
        x: "task".to_string(),
        x_scale: report::Scale::Names(TASKS.map(|(_, name, _)| name.to_string()).to_vec()),
        y: "% of the lane-cycles of all six".to_string(),
        y_scale: report::Scale::Linear,
        series,
    };
    let head = [
        "task",
        "frames",
        "lane-cycles a packet",
        "share",
        "lane-instructions a packet",
        "lines moved a packet",
    ];
    Ok(Section {
        title: "Tasks of a router".to_string(),
        sentence: match told.is_empty() {
            true => "A share is of all six tasks, of which some have no result yet.".to_string(),
            false => format!(
                "DPI, classification and routes take {} of the lane-cycles. The paper: nearly 90 %.",
                told.join(", ")
            ),
        },
        plots: vec![plot],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "Each task as a kernel of its own, MCW {MCW}, all packets there from the start; lane-cycles are the cycles from the \
             first start to the last finish by all lanes of the array."
        ),
        assumed: "Fragments of at most 576 bytes.".to_string(),
        differs: "The paper profiles one router; its traces and rules are others.".to_string(),
    })
}
