//! A time of overload: how the delay rises, and how long the array takes to come back.

use super::regime::rate;
use super::{figure, labels, App, Results, APPS, QUICK_PACKETS};
use crate::parameters::{Parameters, Through};
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "overload",
    summary: "delay over time while the rate goes from 0.5 T to 2 T and back",
    cells,
    section,
};

/// Values of the MCW.
const WARPS: [u32; 3] = [4, 8, 16];
const QUICK_WARPS: [u32; 1] = [8];
/// Packets of a run.
const PACKETS: usize = 16_384;
/// Load before and after, and between.
const LOADS: (f64, f64) = (0.5, 2.0);

/// The rate goes up after a quarter of the packets, and down again after a half of them.
fn arrivals(app: &App, packets: usize) -> String {
    let (low, high) = (rate(app, Through::Host, LOADS.0), rate(app, Through::Host, LOADS.1));
    // Cycles that a quarter of the packets take at a rate in Gbit/s.
    let cycles = |rate: f64| (packets as f64 / 4.0 * app.frames.mean_wire_bits() / rate).round() as u64;
    let up = cycles(low);
    format!("step:{low}@0,{high}@{up},{low}@{}", up + cycles(high))
}

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (warps, packets) = match scale {
        Scale::Quick => (&QUICK_WARPS[..], QUICK_PACKETS),
        Scale::Full => (&WARPS[..], PACKETS),
    };
    let mut cells = Vec::new();
    for app in &APPS {
        for &mcw in warps {
            let labels = labels(&[("app", app.name), ("mcw", &mcw.to_string())]);
            let arrivals = arrivals(app, packets);
            let parameters = Parameters { mcw, packets, arrivals, ..Parameters::of(app.name)? };
            cells.push(Cell { labels, parameters });
        }
    }
    Ok(cells)
}

/// Mean delay before the overload, the largest, and cycles from its end until the delay is below
/// twice what it was before; none if it does not come back.
fn recovery(course: &[(f64, f64)]) -> Option<(f64, f64, Option<f64>)> {
    let quarter = course.len() / 4;
    let before = course.get(..quarter).filter(|part| !part.is_empty())?;
    let calm = before.iter().map(|(_, delay)| delay).sum::<f64>() / quarter as f64;
    let most = course.iter().map(|(_, delay)| *delay).fold(0.0, f64::max);
    let end = course.get(2 * quarter)?.0;
    // Behind the last group whose delay is high.
    let last = course.iter().rposition(|(_, delay)| *delay > 2.0 * calm);
    let back = match last {
        None => Some(0.0),
        Some(at) => course.get(at + 1).map(|(arrival, _)| (arrival - end).max(0.0)),
    };
    Some((calm, most, back))
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut plots, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for app in &APPS {
        let mut series = Vec::new();
        let mut best: Option<(u32, f64)> = None;
        for result in results.all(&[("app", app.name)]) {
            let Some((calm, most, back)) = recovery(&result.measured.delay_over_time) else { continue };
            let mcw = result.job.parameters.mcw;
            best =
                back.map(|cycles| (mcw, cycles)).filter(|new| best.is_none_or(|old| new.1 < old.1)).or(best);
            let whole = result.measured.whole;
            rows.push(vec![
                app.published.to_string(),
                mcw.to_string(),
                figure(calm),
                figure(most),
                back.map_or("not in this run".to_string(), figure),
                figure(whole.mpps()),
            ]);
            series.push(Series {
                name: format!("MCW {mcw}"),
                points: result.measured.delay_over_time.clone(),
                published: false,
            });
        }
        if let Some((mcw, cycles)) = best {
            told.push(format!("{} {} cycles (MCW {mcw})", app.published, figure(cycles)));
        }
        plots.push(Plot {
            title: format!("Delay over time: {}", app.published),
            x: "arrival, cycle".to_string(),
            x_scale: report::Scale::Linear,
            y: "mean delay, cycles".to_string(),
            y_scale: report::Scale::Linear,
            series,
        });
    }
    let head = [
        "app",
        "MCW",
        "delay before",
        "highest",
        "cycles until it is below twice that before",
        "delivered, Mpps",
    ];
    Ok(Section {
        title: "Overload and recovery".to_string(),
        sentence: match told.is_empty() {
            true => "No run came back.".to_string(),
            false => format!("From the end of the overload until the delay is below twice what it was, with the MCW that is best for it: {}.", told.join("; ")),
        },
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "The first quarter of the packets comes at 0.5 T, the second at 2 T, the rest at 0.5 T; a point is the mean of a 64th of \
                   the packets, which is the resolution of the time until it is back. The host has room for all: nothing is dropped."
            .to_string(),
        assumed: "T as in figure 4.".to_string(),
        differs: "The papers have no such figure.".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_by_hand() {
        let series = |delays: [f64; 8]| {
            delays.iter().enumerate().map(|(at, delay)| (100.0 * at as f64, *delay)).collect::<Vec<_>>()
        };
        // The overload ends with the fourth group; two groups later the delay is what it was.
        let back = recovery(&series([10.0, 10.0, 40.0, 90.0, 50.0, 30.0, 15.0, 10.0]));
        assert_eq!(back, Some((10.0, 90.0, Some(200.0))));
        let never = recovery(&series([10.0, 10.0, 40.0, 90.0, 50.0, 50.0, 50.0, 50.0]));
        assert_eq!(never, Some((10.0, 90.0, None)));
        assert_eq!(recovery(&series([10.0; 8])), Some((10.0, 10.0, Some(0.0))));
        assert_eq!(recovery(&[]), None);
    }
}
