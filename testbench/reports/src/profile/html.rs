//! The profile as a page.

use minijinja::value::Serde;
use minijinja::{context, Environment, Value};
use serde::Serialize;

use super::report::ProfileReport;
use super::text::{main_reason, percent};
use crate::timeline::Cost;

/// The template of the page, in the language of Jinja; the ending of its name lets everything be
/// escaped.
const TEMPLATE: (&str, &str) = ("report.html", include_str!("report.html"));

/// A cost as the page shows it.
#[derive(Serialize)]
struct Figures {
    cycles: u64,
    share: String,
    /// Percent of the largest cost beside it, for the bar.
    bar: String,
    instructions: u64,
    simd: String,
    mostly: &'static str,
    reasons: Vec<u64>,
}

impl ProfileReport {
    /// The profile as one page of HTML, which needs nothing beside it.
    ///
    /// # Errors
    /// The template does not fit; that is an error of this program.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        let used: Vec<usize> = self
            .total
            .reasons()
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(index, _)| index)
            .collect();
        let total = self.total.cycles();
        let figures = |cost: &Cost, most: u64| {
            Serde(Figures {
                cycles: cost.cycles(),
                share: format!("{:.1}", percent(cost.cycles(), total)),
                bar: format!("{:.1}", percent(cost.cycles(), most)),
                instructions: cost.instructions,
                simd: cost
                    .simd(self.facts.lanes)
                    .map_or(String::new(), |simd| format!("{:.1}", 100.0 * simd)),
                mostly: main_reason(cost),
                reasons: used.iter().map(|index| cost.reasons()[*index]).collect(),
            })
        };
        let known = |cost: &Cost, most| (cost.cycles() > 0).then(|| figures(cost, most));
        let most = |costs: &mut dyn Iterator<Item = u64>| costs.max().unwrap_or(0);
        let most_line = most(&mut self.lines.iter().map(|line| line.cost.cycles()));
        let most_function = most(&mut self.functions.iter().map(|function| function.cost.cycles()));
        let most_instruction = most(&mut self.instructions.iter().map(|code| code.cost.cycles()));

        let reasons: Vec<_> = used
            .iter()
            .map(|index| {
                let cycles = self.total.reasons()[*index];
                context! { name => Cost::REASONS[*index], cycles, share => format!("{:.1}", percent(cycles, total)) }
            })
            .collect();
        // Where a line is on the page, if its file was found.
        let anchor = |file: &Option<String>, line: Option<u32>| {
            let source = self.sources.iter().position(|source| Some(&source.file) == file.as_ref())?;
            Some(format!("s{source}-{}", line?))
        };
        let lines: Vec<_> = self
            .lines
            .iter()
            .map(|line| {
                let link = anchor(&line.file, line.line);
                let (name, function) = (line.name(), &line.function);
                context! { name, function, link, cost => figures(&line.cost, most_line) }
            })
            .collect();
        let functions: Vec<_> = self
            .functions
            .iter()
            .map(|row| context! { name => row.function.as_str(), cost => figures(&row.cost, most_function) })
            .collect();
        let sources: Vec<Value> = self
            .sources
            .iter()
            .map(|source| {
                let line = |(number, line): (u32, &super::SourceLine)| {
                    let cost = line.cost.as_ref().and_then(|cost| known(cost, most_line));
                    let anchor = anchor(&Some(source.file.clone()), Some(number));
                    context! { number, anchor, text => line.text.as_str(), cost }
                };
                let lines: Vec<_> = (1..).zip(&source.lines).map(line).collect();
                context! { file => source.file.as_str(), lines }
            })
            .collect();
        let instructions: Vec<_> = self
            .instructions
            .iter()
            .map(|code| {
                let line = code.file.as_ref().zip(code.line).map(|(file, line)| format!("{file}:{line}"));
                context! {
                    address => format!("{:08x}", code.address), place => code.place.as_str(),
                    text => code.instruction.as_str(),
                    line, link => anchor(&code.file, code.line), cost => known(&code.cost, most_instruction),
                }
            })
            .collect();
        let mut environment = Environment::new();
        environment.add_template(TEMPLATE.0, TEMPLATE.1)?;
        environment.get_template(TEMPLATE.0)?.render(context! {
            facts => Serde(&self.facts), warps => self.warps, total => figures(&self.total, total),
            reasons, lines, functions, sources, instructions,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FunctionCost, InstructionCost, LineCost, ProfileFacts, SourceFile, SourceLine};
    use super::*;

    /// What users name and write is escaped, and links lead to lines that are there.
    #[test]
    fn everything_is_escaped() {
        let cost = Cost { instructions: 2, lane_instructions: 3, execute: 2, ..Cost::default() };
        let bad = || "<i>'\"&".to_string();
        let text = |text: &str, cost| SourceLine { text: text.to_string(), cost };
        let report = ProfileReport {
            facts: ProfileFacts {
                kernel: bad(),
                capture: bad(),
                preset: bad(),
                lanes: 2,
                ..ProfileFacts::default()
            },
            warps: 1,
            total: cost,
            lines: vec![LineCost { file: Some(bad()), line: Some(2), function: bad(), cost }],
            functions: vec![FunctionCost { function: bad(), cost }],
            instructions: vec![InstructionCost {
                address: 0x1000,
                place: bad(),
                instruction: bad(),
                file: Some(bad()),
                line: Some(2),
                cost,
            }],
            sources: vec![SourceFile {
                file: bad(),
                lines: vec![text("", None), text("if (a<i>b)", Some(cost))],
            }],
        };
        let page = report.html().unwrap();
        assert!(!page.contains("<i>") && page.contains("if (a&lt;i&gt;b)"), "{page}");
        assert_eq!(page.matches("href=\"#s0-2\"").count(), 2, "{page}");
        assert_eq!(page.matches("id=\"s0-2\"").count(), 1, "{page}");
        assert!(page.contains("<td>75.0</td>"), "{page}");
    }
}
