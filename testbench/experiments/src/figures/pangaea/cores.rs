//! Speed-up with 1 to 8 cores: the paper expects that it grows with their number (section 5.1).

use hermes_rtl::config::Config;
use hermes_testbench::golden::media::MediaKernel;

use super::{baseline, number, parameters, pass, scalar_cells, size, with_l2, LATENCY};
use crate::figures::{labels, Results};
use crate::media::MediaProgram;
use crate::parameters::Parameters;
use crate::plan::{Cell, Experiment, Scale};
use crate::report::{self, Plot, Section, Series};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    name: "pangaea-cores",
    summary: "speed-up of 1 to 8 cores against a hart alone (Pangaea, section 5.1)",
    cells,
    section,
};

const CORES: [usize; 4] = [1, 2, 4, 8];
const QUICK_CORES: [usize; 2] = [1, 2];

fn cells(scale: Scale) -> anyhow::Result<Vec<Cell>> {
    let cores = match scale {
        Scale::Quick => &QUICK_CORES[..],
        Scale::Full => &CORES[..],
    };
    let mut cells = Vec::new();
    for kernel in MediaKernel::ALL {
        cells.extend(scalar_cells(kernel, scale, LATENCY)?);
        for &cores in cores {
            let base = parameters(kernel, MediaProgram::Lanes, size(scale))?;
            let array = with_l2(Config { cores, ..base.array.clone() }, scale);
            let labels =
                labels(&[("kernel", kernel.name()), ("program", "lanes"), ("cores", &cores.to_string())]);
            cells.push(Cell { labels, parameters: Parameters { array, ..base } });
        }
    }
    Ok(cells)
}

fn section(results: &Results) -> anyhow::Result<Section> {
    let (mut rows, mut series, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for kernel in MediaKernel::ALL {
        let scalar = baseline(results, kernel, LATENCY);
        let of = |cores: usize| {
            let cores = cores.to_string();
            let labels = [("kernel", kernel.name()), ("program", "lanes"), ("cores", &cores[..])];
            Some(scalar?.0 / f64::from(pass(results, &labels)?.cycles))
        };
        let values = CORES.map(of);
        let points: Vec<_> =
            CORES.iter().zip(values).filter_map(|(cores, value)| Some((*cores as f64, value?))).collect();
        if let (Some((one, slow)), Some((most, fast))) = (points.first(), points.last()) {
            if most > one {
                told.push(format!("{} {}", kernel.name(), number(Some(fast / slow))));
            }
        }
        series.push(Series { name: kernel.name().to_string(), points, published: false });
        rows.push(std::iter::once(kernel.name().to_string()).chain(values.map(number)).collect());
    }
    let plot = Plot {
        title: "Speed-up against a hart by cores".to_string(),
        x: "cores".to_string(),
        x_scale: report::Scale::Logarithmic,
        y: "speed-up".to_string(),
        y_scale: report::Scale::Logarithmic,
        series,
    };
    Ok(Section {
        title: "Pangaea: speed-up by cores".to_string(),
        sentence: match told.is_empty() {
            true => "No workload has runs with several numbers of cores.".to_string(),
            false => format!("Most cores against one core: {}.", told.join(", ")),
        },
        plots: vec![plot],
        head: ["workload", "1 core", "2", "4", "8"].map(str::to_string).to_vec(),
        rows,
        measured: "As in figure 5, column A.".to_string(),
        assumed: "Data from seed 1.".to_string(),
        differs: "The paper expects that throughput grows roughly with the cores, and shows no figure. k-means is bound by what the hart adds up."
            .to_string(),
    })
}
