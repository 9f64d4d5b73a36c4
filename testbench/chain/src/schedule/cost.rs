//! How long a warp is at a function, by the warps on each of its cores and by its cores.

use serde::{Deserialize, Serialize};

/// The paper's form of it (G-NET, equation 1): `L = k1 B + b1 + k2 B N + b2` cycles, where B are
/// the threads on a core and N the cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// Cycles for each thread on a core.
    pub k1: f64,
    /// Cycles that a lone thread takes.
    pub b1: f64,
    /// Cycles for each thread on all cores: what further cores add through the L2 and the channels
    /// of the memory.
    pub k2: f64,
    /// Cycles from the finish of a warp to the start of the next one in its slot.
    pub b2: f64,
}

/// What was measured: with `warps` on each of `cores` cores, all slots always busy, a slot took
/// `cycles` from the start of a warp to the start of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Cores of the function.
    pub cores: usize,
    /// Warps on each of them.
    pub warps: u32,
    /// Cycles from start to start.
    pub cycles: f64,
}

/// How long a warp is at a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cost {
    /// A line, of warps of so many lanes.
    Linear(Linear, u32),
    /// What was measured, with lines between the points.
    Measured(Measured),
}

/// Measured points: those of one core by their warps, and what further cores add for each warp of
/// a core, by the cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    one_core: Vec<(f64, f64)>,
    further: Vec<(f64, f64)>,
}

impl Measured {
    /// Of measured points; none without one of a single core.
    #[must_use]
    pub fn of(points: &[Point]) -> Option<Self> {
        let one = |point: &&Point| point.cores == 1;
        let mut one_core: Vec<_> =
            points.iter().filter(one).map(|point| (f64::from(point.warps), point.cycles)).collect();
        one_core.sort_by(|a, b| a.0.total_cmp(&b.0));
        if one_core.is_empty() {
            return None;
        }
        let mut further = vec![(1.0, 0.0)];
        for point in points.iter().filter(|point| point.cores > 1) {
            let warps = f64::from(point.warps);
            further.push((point.cores as f64, (point.cycles - on_line(&one_core, warps)) / warps));
        }
        further.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some(Self { one_core, further })
    }

    fn cycles(&self, warps: f64, cores: f64) -> f64 {
        on_line(&self.one_core, warps) + warps * on_line(&self.further, cores)
    }

    fn scaled(&self, factor: f64) -> Self {
        let scale = |points: &[(f64, f64)]| points.iter().map(|(at, value)| (*at, factor * value)).collect();
        Self { one_core: scale(&self.one_core), further: scale(&self.further) }
    }
}

/// The value at `x` on the lines through `points`, which rise in x; beyond the ends the line of the
/// last two goes on. Below the first point the value is that of this point: a slot does not become
/// faster than a lone warp.
fn on_line(points: &[(f64, f64)], x: f64) -> f64 {
    let [first, .., last] = points else { return points.first().map_or(0.0, |point| point.1) };
    if x <= first.0 {
        return first.1;
    }
    let pair = points.windows(2).find(|pair| x <= pair[1].0).or_else(|| points.windows(2).last());
    let Some([a, b]) = pair else { return last.1 };
    a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0)
}

impl Cost {
    /// Cycles from the start of a warp to the start of the next one in its slot, with so many warps
    /// on each of so many cores, all of them always busy.
    #[must_use]
    pub fn cycles(&self, warps: u32, cores: usize) -> f64 {
        self.cycles_at(f64::from(warps), cores)
    }

    /// The same, with so many warps on a core in the mean.
    #[must_use]
    pub fn cycles_at(&self, warps: f64, cores: usize) -> f64 {
        match self {
            Self::Linear(Linear { k1, b1, k2, b2 }, lanes) => {
                let threads = warps * f64::from(*lanes);
                k1 * threads + b1 + k2 * threads * cores as f64 + b2
            }
            Self::Measured(measured) => measured.cycles(warps, cores as f64),
        }
    }

    /// The same with all cycles `factor` times as many.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Linear(Linear { k1, b1, k2, b2 }, lanes) => {
                let [k1, b1, k2, b2] = [k1, b1, k2, b2].map(|value| factor * value);
                Self::Linear(Linear { k1, b1, k2, b2 }, *lanes)
            }
            Self::Measured(measured) => Self::Measured(measured.scaled(factor)),
        }
    }
}

impl Linear {
    /// The line through measured points of warps of `lanes` lanes, whose slots stayed empty for
    /// `empty` cycles between two warps: k1 and b1 by least squares of the relative errors over the
    /// points of one core, k2 over those of further cores; none without a point of one core.
    #[must_use]
    pub fn fit(points: &[Point], lanes: u32, empty: f64) -> Option<Self> {
        let threads = |point: &Point| f64::from(point.warps * lanes);
        let one: Vec<_> = points.iter().filter(|point| point.cores == 1).collect();
        // Weighted by 1/L^2, so that short and long batches count alike.
        let sum = |figure: &dyn Fn(f64, f64) -> f64| -> f64 {
            one.iter().map(|point| figure(threads(point), point.cycles) / point.cycles.powi(2)).sum()
        };
        let (weight, x, y) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, y| y));
        let (xx, xy) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
        let spread = weight * xx - x * x;
        let slope = match one.len() {
            0 => return None,
            1 => 0.0,
            _ => (weight * xy - x * y) / spread,
        };
        let base = (y - slope * x) / weight;
        // What a core adds for each thread, by the cores: a line through the point of one core.
        let further = points.iter().filter(|point| point.cores > 1);
        let (mut above, mut below) = (0.0, 0.0);
        for point in further {
            let more = (point.cores - 1) as f64 * threads(point);
            let alone = one.iter().find(|one| one.warps == point.warps);
            let alone = alone.map_or(base + slope * threads(point), |one| one.cycles);
            above += more * (point.cycles - alone);
            below += more * more;
        }
        let k2 = if below > 0.0 { above / below } else { 0.0 };
        Some(Self { k1: slope - k2, b1: base - empty, k2, b2: empty })
    }
}

/// How far a model is from measured points: mean and largest of |predicted / measured - 1|.
#[must_use]
pub fn errors(predicted: impl IntoIterator<Item = (f64, f64)>) -> (f64, f64) {
    let (mut sum, mut worst, mut count) = (0.0, 0.0_f64, 0.0);
    for (predicted, measured) in predicted {
        let error = (predicted / measured - 1.0).abs();
        (sum, worst, count) = (sum + error, worst.max(error), count + 1.0);
    }
    (if count > 0.0 { sum / count } else { 0.0 }, worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(cores: usize, warps: u32, cycles: f64) -> Point {
        Point { cores, warps, cycles }
    }

    /// L = 2 B + 100 + 0.5 B N + 4 of warps of 32 threads.
    const LINE: Linear = Linear { k1: 2.0, b1: 100.0, k2: 0.5, b2: 4.0 };

    #[test]
    fn equation_1_by_hand() {
        let cost = Cost::Linear(LINE, 32);
        // 64 threads on each of 4 cores: 128 + 100 + 128 + 4.
        assert_eq!(cost.cycles(2, 4), 360.0);
        assert_eq!(cost.scaled(0.5).cycles(2, 4), 180.0);
    }

    #[test]
    fn a_line_is_found_again() {
        let cost = Cost::Linear(LINE, 32);
        let at = |(cores, warps)| point(cores, warps, cost.cycles(warps, cores));
        let points = [(1, 1), (1, 2), (1, 4), (1, 8), (2, 4), (4, 4)].map(at);
        let found = Linear::fit(&points, 32, 4.0).unwrap();
        for (found, expected) in
            [(found.k1, LINE.k1), (found.b1, LINE.b1), (found.k2, LINE.k2), (found.b2, LINE.b2)]
        {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert_eq!(Linear::fit(&points[4..], 32, 4.0), None);
    }

    #[test]
    fn between_points_lines_lie() {
        let points = [point(1, 1, 100.0), point(1, 2, 120.0), point(1, 8, 480.0), point(4, 2, 150.0)];
        let cost = Cost::Measured(Measured::of(&points).unwrap());
        let close = |warps, cores, expected: f64| {
            let cycles = cost.cycles(warps, cores);
            assert!((cycles - expected).abs() < 1e-9, "{warps} {cores}: {cycles}, expected {expected}");
        };
        for (warps, expected) in [(1, 100.0), (2, 120.0), (5, 300.0), (8, 480.0), (10, 600.0)] {
            close(warps, 1, expected);
        }
        // Four cores add 15 cycles for each warp of a core, two a third of that.
        close(2, 4, 150.0);
        close(4, 4, 240.0 + 60.0);
        close(2, 2, 130.0);
        assert_eq!(Measured::of(&points[3..]), None);
        let one = Cost::Measured(Measured::of(&points[..1]).unwrap());
        assert_eq!((one.cycles(1, 1), one.cycles(4, 2)), (100.0, 100.0));
    }

    #[test]
    fn errors_are_relative() {
        assert_eq!(errors([(110.0, 100.0), (80.0, 100.0), (100.0, 100.0)]).1, 0.19999999999999996);
        assert!((errors([(110.0, 100.0), (80.0, 100.0)]).0 - 0.15).abs() < 1e-9);
        assert_eq!(errors([]), (0.0, 0.0));
    }
}
