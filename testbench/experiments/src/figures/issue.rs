//! Which core gets a warp: the next one with room, or the least "hot" one (section 3.3).

use hermes_rtl::config::Config;

use super::{figure, label, labels, Results, QUICK_PACKETS};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "hermes-issue",
    summary: "delay and throughput with warps issued in turn, and to the least occupied core",
    cells,
    section,
};

/// Offered on the wire, in Gbit/s.
const LOADS: [&str; 3] = ["10", "20", "40"];
const QUICK_LOADS: [&str; 1] = ["40"];
/// All packets are there from the start.
const SATURATED: &str = "all at once";
/// Packets of a run: warps of long frames take long to simulate.
const PACKETS: usize = 4_096;
/// MCW of the runs.
const MCW: u32 = 16;
/// The two ways, and whether they are the option of the array.
const ISSUES: [(&str, bool); 2] = [("in turn", false), ("least occupied", true)];

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (loads, packets) = match scale {
        Scale::Quick => (&QUICK_LOADS[..], QUICK_PACKETS / 2),
        Scale::Full => (&LOADS[..], PACKETS),
    };
    let mut cells = Vec::new();
    for load in loads.iter().copied().chain([SATURATED]) {
        for (issue, least_occupied_issue) in ISSUES {
            let base = Parameters::of("dpi")?;
            let parameters = Parameters {
                array: Config { least_occupied_issue, ..base.array },
                mcw: MCW,
                packets,
                frames: "tcp-mix".to_string(),
                arrivals: match load {
                    SATURATED => "max".to_string(),
                    rate => format!("poisson:{rate}"),
                },
                ..base
            };
            cells.push(Cell { labels: labels(&[("load", load), ("issue", issue)]), parameters });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let mut rows = Vec::new();
    let mut plots: Vec<Plot> = ["mean", "p99"]
        .map(|what| Plot {
            title: format!("{what} of the delay by issue"),
            x: "load, Gbit/s on the wire".to_string(),
            x_scale: report::Scale::Linear,
            y: "cycles".to_string(),
            y_scale: report::Scale::Linear,
            series: Vec::new(),
        })
        .to_vec();
    for (issue, _) in ISSUES {
        let mut points = [Vec::new(), Vec::new()];
        for (found, result) in results.labelled(&[("issue", issue)]) {
            let load = label(found, "load");
            let delay = result.measured.delays.as_ref().map(|delays| &delays.delay);
            let cycles = |value: Option<f64>| value.map_or_else(|| "-".to_string(), figure);
            rows.push(vec![
                load.to_string(),
                issue.to_string(),
                format!("{:.3}", result.measured.whole.mpps()),
                cycles(delay.map(|delay| delay.mean)),
                cycles(delay.map(|delay| delay.p99 as f64)),
                cycles(delay.map(|delay| delay.iqr as f64)),
            ]);
            if let (Some(delay), Ok(load)) = (delay, load.parse()) {
                points[0].push((load, delay.mean));
                points[1].push((load, delay.p99 as f64));
            }
        }
        for (plot, points) in plots.iter_mut().zip(points) {
            plot.series.push(Series { name: issue.to_string(), points, published: false });
        }
    }
    // What the least occupied core gains: the worst and the best ratio over the loads.
    let gain = |of: &dyn Fn(&crate::results::ResultFile) -> Option<f64>| {
        let ratios: Vec<f64> = LOADS
            .into_iter()
            .chain([SATURATED])
            .filter_map(|load| {
                let of = |issue| results.with(&[("load", load), ("issue", issue)]).and_then(of);
                Some(of(ISSUES[1].0)? / of(ISSUES[0].0)?)
            })
            .collect();
        let least = ratios.iter().copied().reduce(f64::min)?;
        let most = ratios.iter().copied().reduce(f64::max)?;
        Some(format!("{least:.3} to {most:.3}"))
    };
    let delays = |of: fn(&hermes_testbench::metrics::Distribution) -> f64| {
        gain(&|result| result.measured.delays.as_ref().map(|delays| of(&delays.delay)))
    };
    let told = [
        ("mean delay", delays(|delay| delay.mean)),
        ("p99", delays(|delay| delay.p99 as f64)),
        ("throughput", gain(&|result| Some(result.measured.whole.mpps()))),
    ];
    let told: Vec<_> =
        told.into_iter().filter_map(|(what, range)| range.map(|range| format!("{what} {range}"))).collect();
    let head = ["load, Gbit/s", "issue", "delivered, Mpps", "mean delay, cycles", "p99", "IQR"];
    Ok(Section {
        title: "Issue to the least occupied core".to_string(),
        sentence: format!(
            "Least occupied over in turn: {}. The paper: \"negligible\".",
            if told.is_empty() { "not measured".to_string() } else { told.join(", ") }
        ),
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "DPI of TCP connections through the host, in which most frames are short or as long as can be, Poisson arrivals, MCW {MCW}; \
             and all packets there from the start. Whole runs."
        ),
        assumed: "A warp takes as long as its longest frame: frames of two sizes are where cores differ most.".to_string(),
        differs: "The paper tells neither traffic nor figures; its hardware tracks the occupancy as ours.".to_string(),
    })
}
