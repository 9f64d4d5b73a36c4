//! Our model and the paper's equations on runs that neither knows.

use anyhow::Context as _;

use super::{closed, Errors};
use crate::figures::regime::{nominal, BURST_PACKETS};
use crate::figures::{figure, label, App, Results, APPS, QUICK_PACKETS};
use crate::parameters::{Parameters, Through};
use crate::plan::{self, Cell};
use crate::prediction::{self, held_out, role, Calibration, Class, Role};
use crate::report::{Plot, Scale, Section, Series};

/// Runs of each app that are held out.
const RUNS: usize = 12;
const QUICK_RUNS: usize = 4;
/// What draws those of the first app; the next number those of the next.
const SEED: u64 = 101;

/// The most warps that the kernel of an app allows.
fn most(app: &App) -> u32 {
    if app.name == "dpi" {
        16
    } else {
        32
    }
}

pub fn cells(scale: plan::Scale) -> anyhow::Result<Vec<Cell>> {
    let mut cells = Vec::new();
    // Runs of figure 5.
    for cell in closed(scale)? {
        let parameters = cell.parameters;
        if matches!(parameters.mcw, 1 | 4 | 8 | 16 | 32) {
            cells.push(prediction::cell(Role::Saturated, parameters));
        }
    }
    let (runs, packets) = match scale {
        plan::Scale::Quick => (QUICK_RUNS, QUICK_PACKETS),
        plan::Scale::Full => (RUNS, BURST_PACKETS),
    };
    for (app, seed) in APPS.iter().zip(SEED..) {
        let (base, mpps) = (Parameters::of(app.name)?, nominal(app, Through::Host));
        cells.extend(prediction::open_cells(&base, most(app), mpps, scale)?);
        cells.extend(held_out(&base, most(app), mpps, seed, runs, packets)?);
    }
    Ok(cells)
}

/// Errors of a class of runs: of the equations, and of our model.
#[derive(Default)]
struct Both {
    equations: Errors,
    ours: Errors,
}

pub fn section(results: &Results) -> anyhow::Result<Section> {
    let mut rows = Vec::new();
    let mut classes = Class::ALL.map(|class| (class, Both::default()));
    let mut tail = Errors::default();
    let [mut of_equations, mut of_ours] = [Vec::new(), Vec::new()];
    let mut apps: Vec<&str> = results.found().map(|(labels, _)| label(labels, "app")).collect();
    apps.dedup();
    apps.sort_unstable();
    apps.dedup();
    for app in apps {
        let of_app = [("app", app)];
        // Without the whole calibration there is no prediction.
        let wanted = results
            .cells
            .iter()
            .filter(|(cell, _)| label(&cell.labels, "app") == app && role(&cell.labels).is_some());
        if wanted.clone().count() == 0 || wanted.clone().any(|(_, result)| result.is_none()) {
            continue;
        }
        let calibration = Calibration::of(results.labelled(&of_app))?;
        let service = calibration.service()?;
        for (labels, result) in results.labelled(&of_app) {
            let Some(class) = Class::find(label(labels, prediction::LABEL)) else { continue };
            let (Some(delays), parameters) = (&result.measured.delays, &result.job.parameters) else {
                continue;
            };
            let predicted = calibration.predict(&service, parameters)?;
            let measured = delays.delay.mean;
            let (_, both) = classes
                .iter_mut()
                .find(|(known, _)| *known == class)
                .context("every class has its errors")?;
            let equations = predicted.equations;
            let mut tail_of = Errors::default();
            let p99 = delays.delay.p99 as f64;
            tail.add(Some(predicted.ours.p99), p99);
            rows.push(vec![
                app.to_string(),
                class.name().to_string(),
                parameters.arrivals.clone(),
                parameters.mcw.to_string(),
                parameters.frames.clone(),
                format!("{} %", figure(100.0 * predicted.load)),
                figure(measured),
                equations.map_or("-".to_string(), figure),
                both.equations.add(equations, measured),
                figure(predicted.ours.mean),
                both.ours.add(Some(predicted.ours.mean), measured),
                figure(p99),
                figure(predicted.ours.p99),
                tail_of.add(Some(predicted.ours.p99), p99),
            ]);
            of_ours.push((measured, predicted.ours.mean));
            of_equations.extend(equations.map(|equations| (measured, equations)));
        }
    }
    let told = |(class, both): &(Class, Both)| {
        let text = |errors: &Errors| {
            let percent = |value: f64| figure(100.0 * value);
            errors.mean_and_worst().map_or("-".to_string(), |(mean, worst)| {
                format!("{} % (worst {} %)", percent(mean), percent(worst))
            })
        };
        format!("{}: {}, by the equations {}", class.name(), text(&both.ours), text(&both.equations))
    };
    let sentence = match rows.is_empty() {
        true => "No app has all runs of its calibration.".to_string(),
        false => format!(
            "Mean |error| of our model: {}. Of its p99: {}.",
            classes.iter().map(told).collect::<Vec<_>>().join("; "),
            tail.told()
        ),
    };
    let mut exact: Vec<_> = of_ours.iter().map(|(measured, _)| (*measured, *measured)).collect();
    exact.sort_by(|a, b| a.0.total_cmp(&b.0));
    for points in [&mut of_ours, &mut of_equations] {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let series = |name: &str, points| Series { name: name.to_string(), points, published: false };
    let plots = vec![Plot {
        title: "Predicted against measured delay".to_string(),
        x: "measured mean delay, cycles".to_string(),
        x_scale: Scale::Logarithmic,
        y: "predicted mean delay, cycles".to_string(),
        y_scale: Scale::Logarithmic,
        series: vec![
            series("exact", exact),
            series("our model", of_ours),
            series("equations of the paper", of_equations),
        ],
    }];
    let head = [
        "app",
        "traffic",
        "arrivals",
        "MCW",
        "frames",
        "load",
        "measured delay",
        "equations",
        "error",
        "our model",
        "error",
        "measured p99",
        "our model",
        "error",
    ];
    Ok(Section {
        title: "Predictions of runs that were held out".to_string(),
        sentence,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: "Rates, arrivals, MCW and the seed of packets are drawn by a seed; none is of the calibration, which has \
                   runs with all slots busy at MCW 1, 4, 8, 16 and 32, even arrivals at 30, 60 and 90 % of the throughput, and a burst \
                   of twice the throughput. Even frames of other sizes only for apps that read headers alone."
            .to_string(),
        assumed: "Loads choose the rates of jobs before anything is measured; the column tells them by what was.".to_string(),
        differs: "The paper tests its equations on the traffic that they were made for. Ours is a discrete-event model of the array: \
                  warps are formed, wait for a slot, share a core and commit in order."
            .to_string(),
    })
}
