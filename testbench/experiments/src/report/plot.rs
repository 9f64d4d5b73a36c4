//! A plot as SVG: lines with marks, by a palette that people who see few colours can tell apart.

use std::fmt::Write as _;

use anyhow::{anyhow, ensure};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width and height of the picture, in its own units.
const SIZE: (u32, u32) = (760, 400);
/// Width of the legend.
const LEGEND: i32 = 200;
const FONT: (&str, i32) = ("sans-serif", 14);
/// The palette of Okabe and Ito without its yellow, which is not seen on white.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(60, 60, 60),
];

/// How values lie along an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; values are above 0.
    Logarithmic,
    /// Names, one beside the other; values are their numbers from 0.
    Names(Vec<String>),
}

/// Points of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// The points, by rising x.
    pub points: Vec<(f64, f64)>,
    /// Figures that the paper prints: hollow diamonds in the colour of the series before them,
    /// without a line.
    pub published: bool,
}

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it shows: title of the picture.
    pub title: String,
    /// Name of the horizontal axis, with its unit.
    pub x: String,
    /// How values lie along it.
    pub x_scale: Scale,
    /// Name of the vertical axis, with its unit.
    pub y: String,
    /// How values lie along it.
    pub y_scale: Scale,
    /// The series.
    pub series: Vec<Series>,
}

/// The values of an axis: what is drawn at them, from 0 to 1.
struct Range {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Range {
    fn of(scale: &Scale, values: impl Iterator<Item = f64> + Clone, from_zero: bool) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = match scale {
            Scale::Names(names) => (-0.5, names.len() as f64 - 0.5),
            Scale::Linear => {
                let low = if from_zero { 0.0 } else { least };
                let room = (most - low).max(most.abs() * 1e-3);
                let room = if room > 0.0 { room } else { 1.0 };
                (if from_zero { 0.0 } else { low - room * 0.04 }, most + room * 0.06)
            }
            Scale::Logarithmic => (least / 1.15, most * 1.15),
        };
        Self { scale: scale.clone(), low, high }
    }

    /// Where a value lies, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Logarithmic => libm::log(value / self.low) / libm::log(self.high / self.low),
            _ => (value - self.low) / (self.high - self.low),
        }
    }

    /// Values that are named on the axis.
    fn ticks(&self) -> Vec<(f64, String)> {
        match &self.scale {
            Scale::Names(names) => (0..).map(f64::from).zip(names.iter().cloned()).collect(),
            Scale::Linear => {
                let raw = (self.high - self.low) / 6.0;
                let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
                let step =
                    [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|s| *s >= raw).unwrap_or(raw);
                let first = (self.low / step).ceil() as i64;
                let last = (self.high / step).floor() as i64;
                (first..=last).map(|n| n as f64 * step).map(|value| (value, number(value))).collect()
            }
            Scale::Logarithmic => {
                let exponents = libm::log10(self.low).floor() as i32..=libm::log10(self.high).ceil() as i32;
                let wide = self.high / self.low > 60.0;
                let digits: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
                exponents
                    .flat_map(|exponent| {
                        digits.iter().map(move |digit| digit * libm::pow(10.0, f64::from(exponent)))
                    })
                    .filter(|value| (self.low..=self.high).contains(value))
                    .map(|value| (value, number(value)))
                    .collect()
            }
        }
    }
}

/// A number with as many digits as an axis needs.
fn number(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 1e6 => return format!("{}M", trimmed(format!("{:.2}", value / 1e6))),
        v if v >= 1e4 => return format!("{}k", trimmed(format!("{:.1}", value / 1e3))),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.4}"),
    };
    trimmed(text)
}

fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// Pixels around the drawing area: left, top, right of it to the legend, below.
const LEFT: i32 = 78;
const TOP: i32 = 40;
const BOTTOM: i32 = 58;

impl Plot {
    /// The picture. The same plot gives the same bytes.
    ///
    /// # Errors
    /// A value is no number, or not above 0 on a logarithmic axis.
    pub fn svg(&self) -> anyhow::Result<String> {
        let points = || self.series.iter().flat_map(|series| series.points.iter().copied());
        for (x, y) in points() {
            let fits = |scale: &Scale, value: f64| {
                value.is_finite() && (*scale != Scale::Logarithmic || value > 0.0)
            };
            ensure!(
                fits(&self.x_scale, x) && fits(&self.y_scale, y),
                "plot `{}`: a point at {x}, {y} cannot be drawn",
                self.title
            );
        }
        ensure!(points().next().is_some(), "plot `{}`: no points", self.title);
        let mut text = String::new();
        let backend = SVGBackend::with_string(&mut text, SIZE);
        self.draw(backend).map_err(|error| anyhow!("plot `{}`: {error}", self.title))?;
        Ok(self.named(&text))
    }

    /// The picture with a title and a description for those who do not see it, as wide as the page.
    fn named(&self, text: &str) -> String {
        let (_, rest) = text.split_once('>').unwrap_or(("", text));
        let mut svg = format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>\n<desc>",
            SIZE.0,
            SIZE.1,
            escaped(&self.title)
        );
        let _ = write!(svg, "{} against {}.", escaped(&self.y), escaped(&self.x));
        for series in &self.series {
            let most = series.points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
            let least = series.points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            let _ = write!(svg, " {}: {} to {}.", escaped(&series.name), number(least), number(most));
        }
        svg + "</desc>" + rest
    }

    fn draw<B: DrawingBackend>(&self, backend: B) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        let root = backend.into_drawing_area();
        root.fill(&WHITE)?;
        let points = || self.series.iter().flat_map(|series| series.points.iter().copied());
        let x = Range::of(&self.x_scale, points().map(|p| p.0), false);
        let y = Range::of(&self.y_scale, points().map(|p| p.1), true);
        let right = SIZE.0 as i32 - LEGEND;
        let (width, height) = (right - LEFT, SIZE.1 as i32 - TOP - BOTTOM);
        let across = |value: f64| LEFT + (x.place(value) * f64::from(width)).round() as i32;
        let up = |value: f64| TOP + height - (y.place(value) * f64::from(height)).round() as i32;
        let text = |text: &str, at: (i32, i32), side: HPos, colour: RGBColor| {
            let style = TextStyle::from(FONT).color(&colour).pos(Pos::new(side, VPos::Center));
            root.draw(&Text::new(text.to_string(), at, style))
        };
        let line = |from: (i32, i32), to: (i32, i32), colour: RGBColor| {
            root.draw(&PathElement::new(vec![from, to], colour.stroke_width(1)))
        };
        text(&self.title, (LEFT, 16), HPos::Left, BLACK)?;
        let (grey, floor) = (RGBColor(215, 215, 215), TOP + height);
        for (value, name) in y.ticks() {
            line((LEFT, up(value)), (right, up(value)), grey)?;
            text(&name, (LEFT - 8, up(value)), HPos::Right, BLACK)?;
        }
        for (value, name) in x.ticks() {
            line((across(value), floor), (across(value), floor + 5), BLACK)?;
            text(&name, (across(value), floor + 16), HPos::Center, BLACK)?;
        }
        line((LEFT, floor), (right, floor), BLACK)?;
        line((LEFT, TOP), (LEFT, floor), BLACK)?;
        text(&self.x, (LEFT + width / 2, SIZE.1 as i32 - 14), HPos::Center, BLACK)?;
        let turned = TextStyle::from(FONT)
            .transform(FontTransform::Rotate270)
            .pos(Pos::new(HPos::Center, VPos::Center));
        root.draw(&Text::new(self.y.clone(), (16, TOP + height / 2), turned))?;

        let mut number = 0;
        for (series, row) in self.series.iter().zip(0..) {
            if !series.published && row > 0 {
                number += 1;
            }
            let colour = PALETTE[number % PALETTE.len()];
            let at: Vec<_> = series.points.iter().map(|(x, y)| (across(*x), up(*y))).collect();
            // Nothing lies between two names.
            if !series.published && !matches!(self.x_scale, Scale::Names(_)) {
                root.draw(&PathElement::new(at.clone(), colour.stroke_width(2)))?;
            }
            let legend = (right + 16, TOP + 8 + 20 * row);
            for place in at.iter().copied().chain([legend]) {
                let shape = if series.published { None } else { Some(number) };
                mark(&root, place, shape, colour)?;
            }
            text(&series.name, (legend.0 + 12, legend.1), HPos::Left, BLACK)?;
        }
        root.present()
    }
}

/// A mark: the shape tells series apart where colours do not; none is a hollow diamond.
fn mark<B: DrawingBackend>(
    root: &DrawingArea<B, plotters::coord::Shift>,
    (x, y): (i32, i32),
    shape: Option<usize>,
    colour: RGBColor,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let path = |points: &[(i32, i32)]| points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>();
    let diamond = [(0, -6), (6, 0), (0, 6), (-6, 0), (0, -6)];
    match shape.map(|shape| shape % 4) {
        None => root.draw(&PathElement::new(path(&diamond), colour.stroke_width(2))),
        Some(0) => root.draw(&Circle::new((x, y), 4, colour.filled())),
        Some(1) => root.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], colour.filled())),
        Some(2) => root.draw(&Polygon::new(path(&[(0, -5), (5, 4), (-5, 4)]), colour.filled())),
        Some(_) => root.draw(&Polygon::new(path(&diamond[..4]), colour.filled())),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let series = |name: &str, points: &[(f64, f64)], published| Series {
            name: name.to_string(),
            points: points.to_vec(),
            published,
        };
        Plot {
            title: "a <b>".to_string(),
            x: "MCW".to_string(),
            x_scale: Scale::Logarithmic,
            y: "Gbit/s".to_string(),
            y_scale: Scale::Linear,
            series: vec![
                series("ours", &[(1.0, 10.0), (32.0, 40.0)], false),
                series("paper", &[(4.0, 20.0)], true),
                series("other", &[(1.0, 5.0)], false),
            ],
        }
    }

    #[test]
    fn has_its_points_and_names() {
        let svg = plot().svg().unwrap();
        assert_eq!(svg, plot().svg().unwrap());
        for text in
            ["<title>a &lt;b&gt;</title>", "Gbit/s against MCW. ours: 10 to 40.", "\npaper\n", "\nMCW\n"]
        {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        // One circle a point of the first series, and one in the legend; squares for the next one.
        assert_eq!(svg.matches("<circle").count(), 3, "{svg}");
        // The value 40 lies above the value 10, and at 1 and 32 are the ends of the axis.
        let circles: Vec<(f64, f64)> = svg
            .match_indices("<circle")
            .map(|(at, _)| {
                let of = |name: &str| {
                    let rest = &svg[at..][svg[at..].find(name).unwrap() + name.len()..];
                    rest.split('"').next().unwrap().parse().unwrap()
                };
                (of("cx=\""), of("cy=\""))
            })
            .collect();
        assert!(circles[0].0 < circles[1].0 && circles[0].1 > circles[1].1, "{circles:?}");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let mut zero = plot();
        zero.series[0].points[0].0 = 0.0;
        assert!(zero.svg().unwrap_err().to_string().contains("cannot be drawn"));
        let mut none = plot();
        none.series.clear();
        assert!(none.svg().unwrap_err().to_string().contains("no points"));
    }

    #[test]
    fn ticks_are_round() {
        let names = |low: f64, high: f64, scale| {
            Range { scale, low, high }.ticks().into_iter().map(|tick| tick.1).collect::<Vec<_>>()
        };
        assert_eq!(names(0.0, 105.0, Scale::Linear), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(names(0.9, 37.0, Scale::Logarithmic), ["1", "2", "5", "10", "20"]);
        assert_eq!(names(90.0, 40_000.0, Scale::Logarithmic), ["100", "1000", "10k"]);
        assert_eq!(number(1_250_000.0), "1.25M");
    }
}
