//! What differs between two reports.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::document::Document;

/// What a value of a report is, in the order in which differences are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Who made the report, and of which files.
    Origin,
    /// What was asked for: options, the array, contents of inputs.
    Configuration,
    /// What came of it.
    Figures,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Origin => "made with",
            Self::Configuration => "configuration",
            Self::Figures => "figures",
        })
    }
}

/// A value that two reports do not share.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub part: Part,
    /// Path, value of the first, value of the second, second less first, that in percent of the
    /// first.
    cells: [String; 5],
}

/// Columns of [`Difference`].
type Widths = [usize; 5];

impl Difference {
    /// One line, with columns of these widths.
    pub fn row(&self, widths: &Widths) -> String {
        let [path, first, second, absolute, relative] = &self.cells;
        let [path_width, first_width, second_width, absolute_width, relative_width] = *widths;
        let row = if self.part == Part::Figures {
            format!(
                "{path:<path_width$}  {first:>first_width$}  {second:>second_width$}  \
                 {absolute:>absolute_width$}  {relative:>relative_width$}"
            )
        } else {
            format!("{path:<path_width$}  {first} -> {second}  {absolute}  {relative}")
        };
        row.trim_end().to_string()
    }
}

/// Widths of the columns: those of the numbers follow the figures alone, since other values can be
/// long.
pub fn widths(all: &[Difference]) -> Widths {
    let mut widths = [0; 5];
    for Difference { part, cells } in all {
        for (column, cell) in cells.iter().enumerate() {
            if column == 0 || *part == Part::Figures {
                widths[column] = widths[column].max(cell.chars().count());
            }
        }
    }
    widths
}

/// Everything that differs; figures by more than `tolerance`, a share of the larger one.
pub fn between(first: &Document, second: &Document, tolerance: f64) -> Vec<Difference> {
    let keys: BTreeSet<_> = first.values.keys().chain(second.values.keys()).collect();
    let difference = |key: &&super::document::Key| {
        let (a, b) = (first.values.get(key), second.values.get(key));
        // What is no regular file has no digest, and may hold the same; its path tells that it is
        // another one.
        let not_known = |value: Option<&Value>| value.is_none_or(Value::is_null);
        if a == b || key.path.ends_with(".sha256") && (not_known(a) || not_known(b)) {
            return None;
        }
        let numbers = a.and_then(Value::as_f64).zip(b.and_then(Value::as_f64));
        let (absolute, relative) = match numbers {
            Some((a, b))
                if key.part == Part::Figures && (a - b).abs() <= tolerance * a.abs().max(b.abs()) =>
            {
                return None;
            }
            Some((a, b)) if a != 0.0 => (signed(b - a), format!("{:+.2} %", 100.0 * (b - a) / a.abs())),
            Some((a, b)) => (signed(b - a), "-".to_string()),
            None => (String::new(), String::new()),
        };
        let cells = [key.path.clone(), shown(a), shown(b), absolute, relative];
        Some(Difference { part: key.part, cells })
    };
    keys.iter().filter_map(difference).collect()
}

/// A value as one reads it; a dash if there is none.
fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".to_string(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) if number.is_f64() => rounded(number.as_f64().unwrap_or_default()),
        Some(other) => other.to_string(),
    }
}

/// A number with six digits behind the point at most.
fn rounded(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A number with its sign.
fn signed(value: f64) -> String {
    let text = rounded(value);
    if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}
