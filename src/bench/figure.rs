//! Measured figures, what they are held against, and the clock.

use rustix::time::{clock_gettime, ClockId};
use serde::{Serialize, Serializer};

/// Processor time of this thread in seconds: other work on the machine counts less than by the wall
/// clock.
pub fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What a figure should reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(bound) => format!(">= {}", number(bound)),
            Self::AtMost(bound) => format!("<= {}", number(bound)),
        }
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (Self::AtLeast(bound) | Self::AtMost(bound)) = *self;
        serializer.serialize_f64(bound)
    }
}

/// One measured figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
    /// What it must reach.
    pub limit: Option<Bound>,
    /// What it would ideally reach.
    pub goal: Option<Bound>,
}

impl Figure {
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { name: name.into(), value, unit, limit: None, goal: None }
    }

    pub fn limit(self, limit: Bound) -> Self {
        Self { limit: Some(limit), ..self }
    }

    pub fn goal(self, goal: Bound) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// Whether it reaches limit and goal, in a word.
    fn state(&self) -> &'static str {
        let holds = |bound: Option<Bound>| bound.map(|b| b.holds(self.value));
        match (holds(self.limit), holds(self.goal)) {
            (Some(false), _) => "misses the limit",
            (_, Some(false)) => "misses the goal",
            (None, None) => "",
            _ => "ok",
        }
    }
}

/// A number with as many digits as one reads: whole from 1,000 on, otherwise four significant ones.
fn number(value: f64) -> String {
    let magnitude = if value == 0.0 { 3.0 } else { value.abs().log10().floor().clamp(-3.0, 3.0) };
    let digits = (3.0 - magnitude) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// The figures as a table.
pub fn table(figures: &[Figure]) -> String {
    let bound = |bound: Option<Bound>| bound.map_or_else(|| "-".to_string(), Bound::text);
    let mut rows = vec![["figure", "value", "unit", "limit", "goal", ""].map(str::to_string)];
    rows.extend(figures.iter().map(|f| {
        let (name, value, unit) = (f.name.clone(), number(f.value), f.unit.to_string());
        [name, value, unit, bound(f.limit), bound(f.goal), f.state().to_string()]
    }));
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let line = |row: &[String; 6]| {
        let cell = |(column, text): (usize, &String)| match column {
            1 => format!("{text:>width$}", width = widths[column]),
            _ => format!("{text:<width$}", width = widths[column]),
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        cells.join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_four_digits() {
        let values = [0.0, 0.95, 0.012_346, 1.234_56, 12.5, 8192.4, 1.5e7, 2.0];
        let texts = ["0", "0.95", "0.01235", "1.235", "12.5", "8192", "15000000", "2"];
        assert_eq!(values.map(number), texts);
    }

    #[test]
    fn a_figure_is_held_against_limit_and_goal() {
        let figure = Figure::new("ipc", 0.97, "/cycle").limit(Bound::AtLeast(0.95)).goal(Bound::AtLeast(1.0));
        assert_eq!(figure.state(), "misses the goal");
        assert_eq!(Figure { value: 0.5, ..figure.clone() }.state(), "misses the limit");
        assert_eq!(Figure { value: 1.0, ..figure.clone() }.state(), "ok");
        assert_eq!(Figure::new("x", 1.0, "").state(), "");
        assert_eq!(Figure::new("x", 3.0, "s").limit(Bound::AtMost(2.0)).state(), "misses the limit");
        let json = serde_json::to_value(&figure).unwrap();
        let expected =
            serde_json::json!({ "name": "ipc", "value": 0.97, "unit": "/cycle", "limit": 0.95, "goal": 1.0 });
        assert_eq!(json, expected);
        assert_eq!(
            table(&[figure]),
            "figure  value  unit    limit    goal\n\
             ipc      0.97  /cycle  >= 0.95  >= 1  misses the goal"
        );
    }
}
