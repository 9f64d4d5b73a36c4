//! Figure 5 of the Pangaea paper: speed-up against a CPU alone, with 4-wide SIMD.

use hermes_rtl::config::Config;
use hermes_testbench::golden::media::MediaKernel;

use super::{
    against_simd, baseline, media, number, parameters, published, scalar_cells, serial, size, with_l2,
    CORES_LUTS, LATENCY, PROCESSOR_LUTS,
};
use crate::figures::{labels, Results};
use crate::media::MediaProgram;
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "pangaea-fig5",
    summary: "speed-up of two cores against a hart alone (Pangaea, figure 5)",
    cells,
    section,
};

/// Lanes of a core.
const LANES: [usize; 2] = [8, 4];

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for kernel in MediaKernel::ALL {
        cells.extend(scalar_cells(kernel, scale, LATENCY)?);
        for lanes in LANES {
            let base = parameters(kernel, MediaProgram::Lanes, size(scale))?;
            let array = with_l2(Config { lanes, ..base.array.clone() }, scale);
            let labels =
                labels(&[("kernel", kernel.name()), ("program", "lanes"), ("lanes", &lanes.to_string())]);
            cells.push(Cell { labels, parameters: Parameters { array, ..base } });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let mut rows = Vec::new();
    let names: Vec<_> = MediaKernel::ALL.map(|kernel| kernel.name().to_string()).to_vec();
    let mut series = ["A: against a hart", "B: against a hart with 4-wide SIMD"].map(|name| Series {
        name: name.to_string(),
        points: Vec::new(),
        published: false,
    });
    let mut paper = Vec::new();
    let mut told = Vec::new();
    for (at, kernel) in MediaKernel::ALL.into_iter().enumerate() {
        let run = |lanes: &str| {
            let labels = [("kernel", kernel.name()), ("program", "lanes"), ("lanes", lanes)];
            results.with(&labels).and_then(media)
        };
        let lanes = run("8");
        let cycles = lanes.map(|lanes| f64::from(lanes.pass().cycles));
        let scalar = baseline(results, kernel, LATENCY);
        let a = scalar.zip(cycles).map(|((scalar, _), lanes)| scalar / lanes);
        let b = scalar
            .zip(cycles)
            .zip(serial(results, kernel))
            .map(|(((scalar, _), lanes), serial)| against_simd(scalar, serial, lanes));
        let c = a.map(|a| a / (CORES_LUTS / PROCESSOR_LUTS));
        let narrow = run("4").map(|lanes| f64::from(lanes.pass().cycles));
        let d = scalar.zip(narrow).map(|((scalar, _), lanes)| scalar / lanes);
        for (series, value) in series.iter_mut().zip([a, b]) {
            series.points.extend(value.map(|value| (at as f64, value)));
        }
        paper.extend(published(kernel).map(|value| (at as f64, value)));
        if let (Some(a), Some(b)) = (a, b) {
            told.push(format!("{} {} ({})", kernel.name(), number(Some(a)), number(Some(b))));
        }
        let pass = lanes.map(|lanes| lanes.pass());
        let of_core = pass.map(|pass| {
            let cores = 2.0;
            f64::from(pass.instructions) / (cores * f64::from(pass.cycles))
        });
        let lost = pass.map_or_else(
            || "-".to_string(),
            |pass| {
                let share = |cycles: u32| 100.0 * f64::from(cycles) / f64::from(pass.active_cycles.max(1));
                pass.lost.map(|cycles| format!("{:.0}", share(cycles))).join(", ")
            },
        );
        let first = lanes.and_then(|lanes| Some(f64::from(lanes.passes.first()?.cycles)));
        let accesses =
            lanes.map(|lanes| 400.0 * f64::from(lanes.code_accesses) / f64::from(lanes.code_bytes.max(1)));
        rows.push(vec![
            kernel.name().to_string(),
            scalar.map_or_else(|| "-".to_string(), |(cycles, name)| format!("{cycles:.0} ({name})")),
            number(cycles),
            number(first),
            number(a),
            number(b),
            number(c),
            number(d),
            published(kernel).map_or_else(|| "3.6 to 8.8".to_string(), |value| value.to_string()),
            number(of_core),
            number(pass.map(|pass| f64::from(pass.threads))),
            lanes.map_or_else(|| "-".to_string(), |lanes| lanes.code_bytes.to_string()),
            number(accesses),
            lost,
        ]);
    }
    let [first, second] = series;
    let paper = Series { name: "paper".to_string(), points: paper, published: true };
    let plot = Plot {
        title: "Two cores against one hart".to_string(),
        x: "workload".to_string(),
        x_scale: report::Scale::Names(names),
        y: "speed-up".to_string(),
        y_scale: report::Scale::Linear,
        series: vec![first, second, paper],
    };
    let head = [
        "workload",
        "hart, cycles",
        "cores, cycles",
        "first pass",
        "A",
        "B",
        "C",
        "D",
        "paper",
        "instructions a cycle of a core",
        "threads",
        "bytes of code",
        "loads and stores, % of it",
        "lost, %: memory, fetch, divergence, scoreboard, conflict",
    ];
    Ok(Section {
        title: "Pangaea, figure 5: speed-up of two cores".to_string(),
        sentence: match told.is_empty() {
            true => "No workload has all of its runs.".to_string(),
            false => format!("Against a hart (against one with 4-wide SIMD): {}.", told.join(", ")),
        },
        plots: vec![plot],
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "Cycles from the first store of the program to the end of the last job as the hart has seen it, second pass over the data \
                   (k-means and SVM: one pass); the quicker one of two scalar programs with the same inner function. Memory answers after 60 \
                   cycles. Every byte of every run is compared with a golden model. A: against a hart of the command processor. B: against a hart \
                   whose parallel part is four times as fast. C: A for the same LUTs, as one command processor may be copied without loss. D: as A, \
                   with 4 lanes a core."
            .to_string(),
        assumed: "58,748 LUT4 for two cores with the spawner, 7,694 for a command processor with one hart. Data from seed 1.".to_string(),
        differs: "The paper's CPU issues two instructions a cycle and has 4-wide SIMD, its cores have 4-wide units with SIMD-8 instructions, \
                  multiply-add (55 % of its bicubic) and 64 registers, of which nothing is here: B can reach 4.2 at most. Quick runs have 1/16 of \
                  the paper's data (1/32 of k-means and SVM) and an L2 of 16 KB."
            .to_string(),
    })
}
