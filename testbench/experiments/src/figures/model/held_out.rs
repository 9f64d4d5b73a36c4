//! Our model and the paper's equations on runs that neither knows.

use anyhow::Context as _;

use super::closed;
use crate::figures::regime::{nominal, BURST_PACKETS};
use crate::figures::{figure, label, App, Results, APPS, QUICK_PACKETS};
use crate::parameters::{Parameters, Through};
use crate::plan::{self, Cell, PlannedCell};
use crate::prediction::{self, held_out, role, Calibration, Class, Errors, Model, Role};
use crate::report::{Plot, Scale, Section, Series};
use crate::results::ResultFile;

/// Runs of each app that are held out.
const RUNS: usize = 12;
const QUICK_RUNS: usize = 4;
/// What draws those of the first app; the next number those of the next.
const SEED: u64 = 2_026;

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
        if prediction::SATURATED.contains(&parameters.mcw) {
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

/// Errors of a class of runs.
#[derive(Default)]
struct OfClass {
    /// Mean delay by the equations.
    equations: Errors,
    /// Mean delay by our model.
    ours: Errors,
    /// p99 by our model.
    tail: Errors,
}

/// What has no prediction, and why.
fn left_out(app: &str, reason: &anyhow::Error) -> String {
    format!(" {app} is left out: {reason:#}.")
}

pub fn section(results: &Results) -> anyhow::Result<Section> {
    let mut rows = Vec::new();
    let mut classes = Class::ALL.map(|class| (class, OfClass::default()));
    let [mut of_equations, mut of_ours] = [Vec::new(), Vec::new()];
    let (mut notes, mut calibrated) = (String::new(), Vec::new());
    let mut apps: Vec<&str> = results.cells.iter().map(|(cell, _)| label(&cell.labels, "app")).collect();
    apps.sort_unstable();
    apps.dedup();
    for app in apps {
        let of_app = [("app", app)];
        // A calibration that lacks runs is none.
        let lacks = |(cell, result): &(&PlannedCell, Option<&ResultFile>)| {
            label(&cell.labels, "app") == app && role(&cell.labels).is_some() && result.is_none()
        };
        if results.cells.iter().any(lacks) {
            notes += &format!(" {app} lacks runs of its calibration.");
            continue;
        }
        let model = match Calibration::of(results.labelled(&of_app)).and_then(Model::of) {
            Ok(model) => model,
            Err(error) => {
                notes += &left_out(app, &error);
                continue;
            }
        };
        let warps: Vec<_> = model.calibration().saturated.iter().map(|run| run.mcw.to_string()).collect();
        calibrated.push(format!("{app} MCW {}", warps.join(", ")));
        for (labels, result) in results.labelled(&of_app) {
            let Some(drawn) = Class::find(label(labels, prediction::LABEL)) else { continue };
            let (Some(delays), parameters) = (&result.measured.delays, &result.job.parameters) else {
                continue;
            };
            let predicted = match model.predict(parameters) {
                Ok(predicted) => predicted,
                Err(error) => {
                    notes += &left_out(app, &error);
                    continue;
                }
            };
            // Rates were drawn before the throughput was measured.
            let class = match drawn {
                Class::Sparse | Class::Busy if predicted.load < 0.8 => Class::Sparse,
                Class::Sparse | Class::Busy => Class::Busy,
                other => other,
            };
            let known = classes.iter_mut().find(|(known, _)| *known == class);
            let (_, errors) = known.context("every class has its errors")?;
            let (measured, p99) = (delays.delay.mean, delays.delay.p99 as f64);
            let equations = predicted.equations;
            rows.push(vec![
                app.to_string(),
                class.name().to_string(),
                parameters.arrivals.clone(),
                parameters.mcw.to_string(),
                parameters.frames.clone(),
                format!("{} %", figure(100.0 * predicted.load)),
                figure(measured),
                equations.map_or("-".to_string(), figure),
                errors.equations.add(equations, measured),
                figure(predicted.ours.mean),
                errors.ours.add(Some(predicted.ours.mean), measured),
                figure(p99),
                figure(predicted.ours.p99),
                errors.tail.add(Some(predicted.ours.p99), p99),
            ]);
            of_ours.push((measured, predicted.ours.mean));
            of_equations.extend(equations.map(|equations| (measured, equations)));
        }
    }
    let told = |(class, errors): &(Class, OfClass)| {
        format!(
            "{}: our model {}, its p99 {}, the equations {}",
            class.name(),
            errors.ours.told(),
            errors.tail.told(),
            errors.equations.told()
        )
    };
    let sentence = match (rows.is_empty(), calibrated.is_empty()) {
        (true, true) => "No app has all runs of its calibration.".to_string(),
        (true, false) => "The calibration alone; no run is held out yet.".to_string(),
        _ => {
            let with_runs = classes.iter().filter(|(_, errors)| errors.ours.mean_and_worst().is_some());
            format!("|error|, {}.", with_runs.map(told).collect::<Vec<_>>().join("; "))
        }
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
        sentence: sentence + &notes,
        plots,
        head: head.map(str::to_string).to_vec(),
        rows,
        measured: format!(
            "Rates, kinds of arrivals, packets and MCW are drawn by a seed. A calibration has runs with all slots busy ({}), even \
             arrivals at about 30, 60 and 90 % of the throughput, and a burst of twice the throughput. Sparse traffic has at least \
             MCW 12, or the most that a kernel allows; even frames of other sizes only for apps that read headers alone. Tables are \
             those of the calibration.",
            calibrated.join("; ")
        ),
        assumed: "Loads choose the rates of jobs before anything is measured; the column tells them by what was, with the MCW of the \
                  run."
            .to_string(),
        differs: "The paper tests its equations on the traffic that they were made for; its 7.8 % is a geometric mean. Here they get \
                  the computing rates of the calibration, between its MCWs by a power law, none rising with the MCW. Our model \
                  is a discrete-event one of the array: warps are formed, wait for a slot, share a core and commit in order."
            .to_string(),
    })
}
