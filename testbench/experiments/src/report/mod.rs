//! The page: one file of HTML with all plots in it, made from the results of a plan alone.

mod plot;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hermes_testbench::output;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{context, Environment};
use serde::Serialize;

pub use plot::{Plot, Scale, Series};

use crate::figures;
use crate::folder::Folder;
use crate::job::Key;
use crate::parameters::{Parameters, Through};
use crate::plan;
use crate::results::ResultFile;

/// The template of the page; the ending of its name lets everything be escaped.
const TEMPLATE: (&str, &str) = ("page.html", include_str!("page.html"));

/// What an experiment says on the page.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Title.
    pub title: String,
    /// What came out, in a sentence.
    pub sentence: String,
    /// The plots.
    pub plots: Vec<Plot>,
    /// Head of the table.
    pub head: Vec<String>,
    /// Rows of the table.
    pub rows: Vec<Vec<String>>,
    /// How it was measured.
    pub measured: String,
    /// What was assumed.
    pub assumed: String,
    /// What differs from the paper.
    pub differs: String,
}

/// A section as the template shows it.
#[derive(Serialize)]
struct Shown {
    name: String,
    #[serde(flatten)]
    text: Text,
    plots: Vec<String>,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    missing: Vec<String>,
}

/// Its sentences.
#[derive(Serialize)]
struct Text {
    title: String,
    sentence: String,
    measured: String,
    assumed: String,
    differs: String,
}

/// What a report is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Jobs of the plan.
    pub jobs: usize,
    /// Jobs without a result.
    pub missing: usize,
    /// Plots on the page.
    pub plots: usize,
}

/// Writes the page of the plan in `folder` to `index.html` in `output`, from its results and those
/// in `others`. Figures that lack results say which, and why.
///
/// # Errors
/// As [`Folder::find`], or the page cannot be written.
pub fn write_report(folder: &Folder, others: &[PathBuf], output: &Path) -> anyhow::Result<Summary> {
    let plan = folder.plan()?;
    let found = folder.find(&plan, others)?;
    let mut sections = Vec::new();
    for figure in &plan.figures {
        let mut missing: Vec<_> = figure
            .cells
            .iter()
            .filter_map(|cell| found.missing.get(&cell.key).map(|reason| (cell, reason)))
            .map(|(cell, reason)| {
                let labels: Vec<_> =
                    cell.labels.iter().map(|(name, value)| format!("{name} {value}")).collect();
                format!("job {} ({}): {reason}", cell.key, labels.join(", "))
            })
            .collect();
        missing.dedup();
        let section = figures::section_of(figure, plan.scale, &found)?;
        let Section { title, sentence, plots, head, rows, measured, assumed, differs } = section;
        sections.push(Shown {
            name: figure.name.clone(),
            text: Text { title, sentence, measured, assumed, differs },
            plots: plots.iter().map(Plot::svg).collect::<anyhow::Result<_>>()?,
            head,
            rows,
            missing,
        });
    }
    let summary = Summary {
        jobs: plan.jobs.len(),
        missing: found.missing.len(),
        plots: sections.iter().map(|section| section.plots.len()).sum(),
    };
    let page = render(&plan, &sections, &arrays(&found.results), summary)?;
    fs::create_dir_all(output).with_context(|| output.display().to_string())?;
    output::write(&output.join("index.html"), page.as_bytes())?;
    Ok(summary)
}

/// The arrays that results are of, and how many each has: a line each.
fn arrays(results: &BTreeMap<Key, ResultFile>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for result in results.values() {
        let Parameters { array, memory, through, .. } = &result.job.parameters;
        let (cores, lanes, warps) = (array.cores, array.lanes, array.warps);
        let memory = match memory.parse::<u32>() {
            Ok(cycles) => format!("memory that answers after {cycles} cycles"),
            Err(_) => format!("memory `{memory}`"),
        };
        let path = match through {
            Through::Host => "packets by the host",
            Through::Ports => "packets through the ports",
        };
        let text = format!(
            "{cores} cores of {lanes} lanes, {warps} warp slots a core, {} channels of {memory}, {path}",
            array.channels
        );
        *counts.entry(text).or_default() += 1;
    }
    let mut lines: Vec<_> = counts.into_iter().collect();
    lines.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    lines.into_iter().map(|(text, count)| format!("{text}: {count} results")).collect()
}

fn render(
    plan: &plan::Plan,
    sections: &[Shown],
    arrays: &[String],
    summary: Summary,
) -> anyhow::Result<String> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().keep_trailing_newline(true).build()?);
    environment.add_template(TEMPLATE.0, TEMPLATE.1)?;
    let quick = plan.scale == plan::Scale::Quick;
    let (jobs, missing) = (summary.jobs, summary.missing);
    let page = environment.get_template(TEMPLATE.0)?;
    Ok(page.render(context! {
        sections => Serde(sections), arrays => Serde(arrays), quick, jobs, missing,
        version => env!("CARGO_PKG_VERSION"),
    })?)
}
