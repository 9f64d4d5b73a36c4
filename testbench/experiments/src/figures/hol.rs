//! Head-of-line blocking: what long frames among short ones cost those that wait for them, as
//! packets leave in the order in which they came.

use super::measure::cost_of_order;
use super::{figure, label, labels, Results, QUICK_PACKETS};
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "hol",
    summary: "delay behind older packets against the share of long frames",
    cells,
    section,
};

/// Percent of the frames that are long.
const SHARES: [u32; 7] = [0, 1, 3, 10, 30, 60, 100];
const QUICK_SHARES: [u32; 2] = [0, 10];
/// Offered on the wire, in Gbit/s: below what the array reaches with any share.
const LOADS: [&str; 2] = ["20", "40"];
/// Packets of a run: long frames take long to simulate.
const PACKETS: usize = 2_048;
/// MCW of the runs.
const MCW: u32 = 16;

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (shares, loads, packets) = match scale {
        Scale::Quick => (&QUICK_SHARES[..], &LOADS[1..], QUICK_PACKETS / 2),
        Scale::Full => (&SHARES[..], &LOADS[..], PACKETS),
    };
    let mut cells = Vec::new();
    for load in loads {
        for share in shares {
            let parameters = Parameters {
                mcw: MCW,
                packets,
                frames: format!("bimodal:{share}"),
                arrivals: format!("poisson:{load}"),
                ..Parameters::of("dpi")?
            };
            cells.push(Cell { labels: labels(&[("load", load), ("long", &share.to_string())]), parameters });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    let mut worst: Option<(f64, String)> = None;
    for load in LOADS {
        let mut points = Vec::new();
        for (found, result) in results.labelled(&[("load", load)]) {
            let share = label(found, "long");
            let Some(delays) = &result.measured.delays else { continue };
            let [with, until_finish, ratio] = cost_of_order(delays);
            points.extend(share.parse().ok().map(|share: f64| (share, ratio)));
            if worst.as_ref().is_none_or(|(most, _)| ratio > *most) {
                worst = Some((ratio, format!("{share} % long frames at {load} Gbit/s")));
            }
            rows.push(vec![
                share.to_string(),
                load.to_string(),
                figure(result.measured.whole.mpps()),
                figure(with),
                figure(until_finish),
                format!("{ratio:.3}"),
                delays.stages.dcq.p50.to_string(),
                delays.stages.dcq.p99.to_string(),
                delays.delay.p99.to_string(),
            ]);
        }
        if !points.is_empty() {
            series.push(Series { name: format!("{load} Gbit/s"), points, published: false });
        }
    }
    let head = [
        "long frames, %",
        "load, Gbit/s",
        "delivered, Mpps",
        "mean delay, cycles",
        "until the finish",
        "ratio",
        "behind older packets: p50",
        "p99",
        "delay p99",
    ];
    Ok(Section {
        title: "Head-of-line blocking".to_string(),
        sentence: match worst {
            None => "Not measured.".to_string(),
            Some((ratio, place)) => {
                format!("Order costs most with {place}: {ratio:.3} times the mean delay until the finish.")
            }
        },
        plots: vec![Plot {
            title: "Delay with order over that until the finish".to_string(),
            x: "long frames, %".to_string(),
            x_scale: report::Scale::Linear,
            y: "ratio of mean delays".to_string(),
            y_scale: report::Scale::Linear,
            series,
        }],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "DPI of frames of 64 bytes and of 1,518, with FCS, at random places, from the host; Poisson arrivals, MCW {MCW}. A warp takes as \
             long as its longest frame, and commits behind all older warps: time from the finish to the commit is what it waits for them. \
             Whole runs."
        ),
        assumed: String::new(),
        differs: "The papers have no such figure.".to_string(),
    })
}
