//! The profile as text.

use std::collections::BTreeSet;
use std::fmt;

use super::report::{InstructionCost, LineCost, ProfileReport};
use crate::timeline::Cost;

/// Lines of source that are shown before and behind one that costs much.
const CONTEXT: usize = 1;

/// A profile, to be printed with the lines that cost most.
#[derive(Clone, Copy, Debug)]
pub struct ProfileText<'a> {
    /// The profile.
    pub report: &'a ProfileReport,
    /// How many lines and functions are shown, those with the most cycles; 0: all.
    pub top: usize,
}

/// A share in percent; nothing of nothing is nothing.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// The reason with the most cycles, the first of those with the same; empty without cycles.
pub(super) fn main_reason(cost: &Cost) -> &'static str {
    let reasons = Cost::REASONS.iter().zip(cost.reasons());
    let most = reasons.rev().max_by_key(|(_, cycles)| *cycles);
    most.filter(|(_, cycles)| *cycles > 0).map_or("", |(name, _)| name)
}

impl ProfileText<'_> {
    fn shown(&self, all: usize) -> usize {
        if self.top == 0 {
            all
        } else {
            self.top.min(all)
        }
    }

    /// The most expensive lines.
    fn top_lines(&self) -> &[LineCost] {
        &self.report.lines[..self.shown(self.report.lines.len())]
    }

    /// Cycles, share, instructions and SIMD share of a cost.
    fn figures(&self, cost: &Cost) -> String {
        let (cycles, total) = (cost.cycles(), self.report.total.cycles());
        let simd = cost.simd(self.report.facts.lanes);
        let simd = simd.map_or(String::new(), |simd| format!("{:.1}", 100.0 * simd));
        format!("{cycles:>11} {:>6.1} {:>10} {simd:>6}", percent(cycles, total), cost.instructions)
    }

    fn table<'t>(
        &self,
        f: &mut fmt::Formatter<'_>,
        what: &str,
        all: usize,
        rows: impl Iterator<Item = (String, &'t Cost)>,
    ) -> fmt::Result {
        let shown = self.shown(all);
        let of = if shown < all { format!(", {shown} of {all}") } else { String::new() };
        writeln!(f, "\n{what}{of}")?;
        // Reasons that nothing waited for take no room.
        let used: Vec<usize> =
            self.report.total.reasons().iter().enumerate().filter(|(_, n)| **n > 0).map(|(i, _)| i).collect();
        write!(f, "{:>11} {:>6} {:>10} {:>6}", "cycles", "%", "instr.", "SIMD %")?;
        used.iter().try_for_each(|index| write!(f, " {:>9}", Cost::REASONS[*index]))?;
        writeln!(f)?;
        for (name, cost) in rows.take(shown) {
            write!(f, "{}", self.figures(cost))?;
            let reasons = cost.reasons();
            used.iter().try_for_each(|index| write!(f, " {:>9}", reasons[*index]))?;
            writeln!(f, "  {name}")?;
        }
        Ok(())
    }

    fn source(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for source in &self.report.sources {
            let top = self.top_lines().iter().filter(|line| line.file.as_ref() == Some(&source.file));
            let mut numbers = BTreeSet::new();
            for number in top.filter_map(|line| line.line) {
                let number = number as usize;
                numbers.extend(number.saturating_sub(CONTEXT).max(1)..=number + CONTEXT);
            }
            numbers.retain(|number| *number <= source.lines.len());
            if numbers.is_empty() {
                continue;
            }
            writeln!(f, "\nsource of {}", source.file)?;
            writeln!(f, "{:>11} {:>6} {:>10} {:>6} {:<9} line", "cycles", "%", "instr.", "SIMD %", "mostly")?;
            let mut last = 0;
            for number in numbers {
                if last > 0 && number > last + 1 {
                    writeln!(f, "{:>11}", "...")?;
                }
                last = number;
                let line = &source.lines[number - 1];
                let (figures, reason) =
                    line.cost.map_or_else(Default::default, |cost| (self.figures(&cost), main_reason(&cost)));
                writeln!(
                    f,
                    "{}",
                    format!("{figures:<36} {reason:<9} {number:>5}  {}", line.text).trim_end()
                )?;
            }
        }
        Ok(())
    }

    fn disassembly(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top: BTreeSet<_> = self.top_lines().iter().map(|line| (&line.file, line.line)).collect();
        let functions: BTreeSet<_> =
            self.top_lines().iter().filter(|line| line.file.is_none()).map(|line| &*line.function).collect();
        let shown = |code: &&InstructionCost| match code.file {
            Some(_) => top.contains(&(&code.file, code.line)),
            None => functions.contains(function(&code.place)),
        };
        writeln!(f, "\ninstructions of these lines")?;
        writeln!(f, "{:>11} {:>6} {:>10} {:>6} {:<9} pc", "cycles", "%", "instr.", "SIMD %", "mostly")?;
        let mut current = "";
        for code in self.report.instructions.iter().filter(shown) {
            if function(&code.place) != current {
                current = function(&code.place);
                writeln!(f, "{:>11} in {}", "", code.place)?;
            }
            let (figures, reason) = (self.figures(&code.cost), main_reason(&code.cost));
            let line = code
                .file
                .as_ref()
                .zip(code.line)
                .map_or(String::new(), |(file, line)| format!("{file}:{line}"));
            let text =
                format!("{figures:<36} {reason:<9} {:08x} {:<28} {line}", code.address, code.instruction);
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}

/// The function in `kernel+0x10`.
fn function(place: &str) -> &str {
    place.rsplit_once("+0x").map_or(place, |(function, _)| function)
}

impl fmt::Display for ProfileText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProfileReport { facts, warps, total, lines, functions, .. } = self.report;
        writeln!(f, "profile of {} on {}", facts.kernel, facts.capture)?;
        let (cores, lanes, slots) = (facts.cores, facts.lanes, facts.warp_slots);
        let plural = if cores == 1 { "" } else { "s" };
        writeln!(
            f,
            "  array        {}: {cores} core{plural} x {lanes} lanes, {slots} warp slots",
            facts.preset
        )?;
        writeln!(f, "  warps        {warps}, {} warp-cycles from issue to finish", total.cycles())?;
        let simd = 100.0 * total.simd(lanes).unwrap_or(0.0);
        writeln!(f, "  instructions {}, SIMD {simd:.1} %", total.instructions)?;
        for (name, cycles) in Cost::REASONS.iter().zip(total.reasons()).filter(|(_, cycles)| *cycles > 0) {
            writeln!(f, "  {name:<12} {cycles:>12} {:>5.1} %", percent(cycles, total.cycles()))?;
        }
        let rows = lines.iter().map(|line| (line.name(), &line.cost));
        self.table(f, "source lines by warp-cycles", lines.len(), rows)?;
        let rows = functions.iter().map(|function| (function.function.clone(), &function.cost));
        self.table(f, "functions and labels by warp-cycles", functions.len(), rows)?;
        self.source(f)?;
        self.disassembly(f)
    }
}
