//! What a sweep says: each of its figures against the parameter along the horizontal axis, a line
//! for each combination of the others.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::{figure, path, Measure, Results, MEASURES};
use crate::report::{Plot, Scale, Section, Series};
use crate::results::ResultFile;

pub(super) fn section(results: &Results) -> anyhow::Result<Section> {
    let axes = results.axes.context("expected what the sweep draws")?;
    let names: Vec<&String> = match results.cells.first() {
        Some((cell, _)) => cell.labels.keys().collect(),
        None => Vec::new(),
    };
    let mut values: Vec<&String> = Vec::new();
    for (labels, _) in results.found() {
        values.extend(labels.get(&axes.x).filter(|value| !values.contains(value)));
    }
    let numbers: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
    let scale = match &numbers {
        Some(_) => Scale::Linear,
        None => Scale::Names(values.iter().map(|value| (*value).clone()).collect()),
    };
    let place = |value: &String| match value.parse() {
        Ok(number) if numbers.is_some() => number,
        _ => values.iter().position(|other| *other == value).unwrap_or(0) as f64,
    };
    // What tells a line from the others.
    let others = |labels: &BTreeMap<String, String>| {
        let others: Vec<_> = labels.iter().filter(|(name, _)| **name != axes.x).collect();
        match others.is_empty() {
            true => "all".to_string(),
            false => {
                others.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
            }
        }
    };
    let mut plots = Vec::new();
    for measure in MEASURES.iter().filter(|measure| axes.y.iter().any(|name| name == measure.name)) {
        let mut series: Vec<Series> = Vec::new();
        for (labels, result) in results.found() {
            let (Some(y), Some(x)) = ((measure.of)(result), labels.get(&axes.x)) else { continue };
            let name = others(labels);
            let point = (place(x), y);
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name, points: vec![point], published: false }),
            }
        }
        for series in &mut series {
            series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        if !series.is_empty() {
            plots.push(Plot {
                title: format!("{}: {}", results.title, measure.title),
                x: axes.x.clone(),
                x_scale: scale.clone(),
                y: measure.title.to_string(),
                y_scale: Scale::Linear,
                series,
            });
        }
    }
    // Figures that no array of the sweep can have are no columns.
    let can_be = |measure: &&Measure| {
        let mut arrays = results.found().map(|(_, result)| &result.job.parameters.array);
        arrays.any(|array| measure.is_of(array))
    };
    let columns: Vec<_> = MEASURES.iter().filter(can_be).collect();
    let row = |(labels, result): (&BTreeMap<String, String>, &ResultFile)| {
        let labels = names.iter().map(|name| labels.get(*name).cloned().unwrap_or_default());
        let figures = columns.iter().map(|m| (m.of)(result).map_or("-".to_string(), figure));
        labels.chain([path(result).to_string()]).chain(figures).collect::<Vec<_>>()
    };
    let head = names.iter().map(|name| (*name).clone()).chain(["packets move through".to_string()]);
    let rows: Vec<_> = results.found().map(row).collect();
    Ok(Section {
        title: results.title.to_string(),
        sentence: format!("A sweep of {}: {} runs.", names_of(&names), rows.len()),
        plots,
        head: head.chain(columns.iter().map(|measure| measure.title.to_string())).collect(),
        rows,
        measured: "Rates are those of the steady state where a run has at least eight times the threads of the \
                   array, and of the whole run otherwise. Delays count from the scheduled arrival; where all packets are \
                   there from the start there are none."
            .to_string(),
        ..Section::default()
    })
}

fn names_of(names: &[&String]) -> String {
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
}
