//! Figure 6 of the Pangaea paper: speed-up against the latency of memory.

use hermes_rtl::config::Config;
use hermes_testbench::golden::media::{MediaKernel, MediaSize};

use super::{baseline, number, parameters, pass, scalar_cells, small_l2, LATENCY};
use crate::figures::{labels, Results};
use crate::media::MediaProgram;
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "pangaea-fig6",
    summary: "speed-up against the latency of memory (Pangaea, figure 6)",
    cells,
    section,
};

const LATENCIES: [&str; 8] = ["2", "10", "30", "60", "100", "200", "500", "1000"];
const QUICK_LATENCIES: [&str; 4] = ["2", "60", "200", "1000"];
/// Lines of a core's instruction cache: 2 KB and 8 KB.
const CACHES: [usize; 2] = [32, 128];
/// The longest latency, at which the hart is measured too.
const LONGEST: &str = "1000";

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let (latencies, caches, of_hart) = match scale {
        Scale::Quick => (&QUICK_LATENCIES[..], &CACHES[..1], &[LATENCY][..]),
        Scale::Full => (&LATENCIES[..], &CACHES[..], &[LATENCY, LONGEST][..]),
    };
    let mut cells = Vec::new();
    for kernel in MediaKernel::ALL {
        // The same runs as in figure 5 at `--quick`.
        for latency in of_hart {
            cells.extend(scalar_cells(kernel, Scale::Quick, latency)?);
        }
        for &lines in caches {
            for latency in latencies {
                let base = parameters(kernel, MediaProgram::Lanes, MediaSize::Quick)?;
                let array = small_l2(Config { instruction_cache_lines: lines, ..base.array.clone() });
                let labels = labels(&[
                    ("kernel", kernel.name()),
                    ("program", "lanes"),
                    ("instruction cache", &lines.to_string()),
                    ("memory", latency),
                ]);
                let memory = (*latency).to_string();
                cells.push(Cell { labels, parameters: Parameters { array, memory, ..base } });
            }
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let mut rows = Vec::new();
    let mut curves = CACHES.map(|_| Vec::new());
    let mut flat: Vec<(f64, &str)> = Vec::new();
    let mut far: Vec<(f64, &str)> = Vec::new();
    for kernel in MediaKernel::ALL {
        let scalar = baseline(results, kernel, LATENCY).map(|(cycles, _)| cycles);
        let late = baseline(results, kernel, LONGEST).map(|(cycles, _)| cycles);
        for (lines, curves) in CACHES.into_iter().zip(&mut curves) {
            let lines = lines.to_string();
            let cycles = |latency: &str| {
                let labels = [
                    ("kernel", kernel.name()),
                    ("program", "lanes"),
                    ("instruction cache", &lines[..]),
                    ("memory", latency),
                ];
                Some(f64::from(pass(results, &labels)?.cycles))
            };
            let mut points = Vec::new();
            for latency in LATENCIES {
                let Some(of_lanes) = cycles(latency) else { continue };
                let kept = cycles("2").map(|at_2| at_2 / of_lanes);
                let a = scalar.map(|scalar| scalar / of_lanes);
                let same = late.filter(|_| latency == LONGEST).map(|late| late / of_lanes);
                if let (Some(a), Ok(at)) = (a, latency.parse()) {
                    points.push((at, a));
                }
                if lines == "32" {
                    flat.extend(kept.filter(|_| latency == LATENCY).map(|kept| (kept, kernel.name())));
                    far.extend(a.filter(|_| latency == LONGEST).map(|a| (a, kernel.name())));
                }
                rows.push(vec![
                    kernel.name().to_string(),
                    format!("{} KB", cache_kilobytes(&lines)),
                    latency.to_string(),
                    number(Some(of_lanes)),
                    number(kept),
                    number(a),
                    number(same),
                ]);
            }
            if !points.is_empty() {
                curves.push(Series { name: kernel.name().to_string(), points, published: false });
            }
        }
    }
    let plots = CACHES
        .iter()
        .zip(curves)
        .map(|(lines, series)| Plot {
            title: format!(
                "Speed-up by latency, instruction caches of {} KB",
                cache_kilobytes(&lines.to_string())
            ),
            x: "cycles to memory".to_string(),
            x_scale: report::Scale::Logarithmic,
            y: "speed-up against a hart at 60 cycles".to_string(),
            y_scale: report::Scale::Linear,
            series,
        })
        .collect();
    let sentence = match (least(&flat), least(&far)) {
        (Some((kept, which)), Some((a, slowest))) => format!(
            "At 60 cycles the cores have at least {} of the speed that they have at 2 ({which}); at 1,000 they are still {} times as fast as the hart at 60 ({slowest}).",
            number(Some(kept)),
            number(Some(a))
        ),
        _ => "No workload has all of its runs.".to_string(),
    };
    let head =
        ["workload", "instruction cache", "latency", "cycles", "of the speed at 2", "A", "hart at 1,000 too"];
    Ok(Section {
        title: "Pangaea, figure 6: latency of memory".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "As in figure 5, column A, with 1/16 of the paper's data (1/32 of k-means and SVM) and an L2 of 16 KB, so that data come from \
                   memory. A is against the hart at a latency of 60; the last column has the hart at 1,000 as well."
            .to_string(),
        assumed: "Data from seed 1.".to_string(),
        differs: "The paper varies the latency of the whole path from its cores to shared memory, here it is that of the memory behind the L2. Its \
                  curves have no numbers but the ends: 1.9 to 5.9 at 1,000, flat to about 60."
            .to_string(),
    })
}

/// The least value, with its workload.
fn least<'a>(values: &[(f64, &'a str)]) -> Option<(f64, &'a str)> {
    values.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))
}

fn cache_kilobytes(lines: &str) -> usize {
    lines.parse::<usize>().unwrap_or(0) * 64 / 1024
}
