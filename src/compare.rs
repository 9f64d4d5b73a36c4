//! `hermes compare`

mod difference;
mod document;

use std::path::PathBuf;

use anyhow::ensure;

use crate::files::Files;
use crate::print;
use difference::{Difference, Part};
use document::Document;

#[derive(clap::Args)]
pub struct Args {
    /// Report to compare with: JSON of `hermes run`, `fpga run`, `fpga report`, `cluster`, `bench`
    /// or `fuzz`
    #[arg(value_name = "A.json")]
    first: PathBuf,
    /// Report of the same command
    #[arg(value_name = "B.json")]
    second: PathBuf,
    /// End with exit code 1 if an option, an input or a figure differs. Versions, command lines and
    /// names of files may differ
    #[arg(long)]
    fail: bool,
    /// Figures that differ by no more than this share of the larger one count as equal
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    tolerance: f64,
}

impl Args {
    /// What is read and written.
    pub fn files(&self) -> Files {
        Files::default().input("A.json", Some(&self.first)).input("B.json", Some(&self.second))
    }
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    ensure!(
        (0.0..=100.0).contains(&args.tolerance),
        "--tolerance {}: expected 0 to 100 percent",
        args.tolerance
    );
    let (first, second) = (Document::read(&args.first)?, Document::read(&args.second)?);
    ensure!(
        first.kind == second.kind,
        "{}: the JSON of {}; expected that of {}, as {}",
        args.second.display(),
        second.kind,
        first.kind,
        args.first.display()
    );
    if let (Some(bench), Some(other)) = (&first.bench, &second.bench) {
        ensure!(
            bench == other,
            "{}: the JSON of hermes bench {other}; expected that of hermes bench {bench}, as {}",
            args.second.display(),
            args.first.display()
        );
    }
    let all = difference::between(&first, &second, args.tolerance / 100.0);
    let count = |part| all.iter().filter(|difference| difference.part == part).count();
    let (configuration, figures) = (count(Part::Configuration), count(Part::Figures));
    print::line(text(&first, &second, &all))?;
    if args.fail && configuration + figures > 0 {
        return Err(print::Exit(1).into());
    }
    Ok(())
}

/// The differences as a table, and a line that counts them.
fn text(first: &Document, second: &Document, all: &[Difference]) -> String {
    let widths = difference::widths(all);
    let mut text = String::new();
    for part in [Part::Origin, Part::Configuration, Part::Figures] {
        let mut rows = all.iter().filter(|difference| difference.part == part).peekable();
        if rows.peek().is_some() {
            text += &format!("{part}\n");
        }
        rows.for_each(|row| text += &format!("  {}\n", row.row(&widths)));
    }
    let count = |part| all.iter().filter(|difference| difference.part == part).count();
    let figures = first.count(Part::Figures).max(second.count(Part::Figures));
    text + &match (count(Part::Configuration), count(Part::Figures)) {
        (0, 0) => format!("{figures} figures and the configuration are equal"),
        (0, differ) => format!("{differ} of {figures} figures differ, with the same configuration"),
        (options, differ) => {
            format!("{differ} of {figures} figures differ, and {options} of the configuration")
        }
    }
}
