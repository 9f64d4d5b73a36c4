//! The picture of an area report: bars, as SVG.

use anyhow::anyhow;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Area;

/// Pixels of the column of names, of a column of bars, of the room for the number behind a bar, of
/// a row, and around everything.
const NAMES: i32 = 430;
const BARS: i32 = 150;
const NUMBERS: i32 = 60;
const ROW: i32 = 20;
const MARGIN: i32 = 12;
/// Rows above the bars: title, legend, heads of the columns.
const HEAD: i32 = 3;
const FONT: (&str, i32) = ("sans-serif", 12);
const CONTROL: RGBColor = RGBColor(213, 94, 0);
const OTHER: RGBColor = RGBColor(0, 114, 178);

/// A bar of each column: a unit, or an array of a sweep.
#[derive(Clone)]
pub struct Row {
    pub name: String,
    pub whole: Area,
    /// What of it belongs to the control path.
    pub control: Area,
}

type Column = (&'static str, fn(&Area) -> usize);

const COLUMNS: [Column; 4] = [
    ("LUTs of 4 inputs", |area| area.luts),
    ("flip-flops", |area| area.flip_flops),
    ("block RAMs of 18 kbit", |area| area.block_rams),
    ("multipliers 18 x 18", |area| area.multipliers),
];

/// The rows as SVG: a bar for each figure, as long as its share of the largest one in the column,
/// with the control path in a colour of its own. The same rows give the same bytes.
pub fn draw(title: &str, rows: &[Row]) -> anyhow::Result<String> {
    let width = 2 * MARGIN + NAMES + COLUMNS.len() as i32 * (BARS + NUMBERS);
    let height = 2 * MARGIN + (HEAD + rows.len() as i32) * ROW;
    let mut svg = String::new();
    draw_on(SVGBackend::with_string(&mut svg, (width as u32, height as u32)), title, rows)
        .map_err(|error| anyhow!("the picture: {error}"))?;
    Ok(svg)
}

fn draw_on<B: DrawingBackend>(
    backend: B,
    title: &str,
    rows: &[Row],
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let root = backend.into_drawing_area();
    root.fill(&WHITE)?;
    let line = |row: i32| MARGIN + row * ROW + ROW / 2;
    let text = |text: &str, x: i32, row: i32, side: HPos| {
        let style = TextStyle::from(FONT).pos(Pos::new(side, VPos::Center));
        root.draw(&Text::new(text.to_string(), (x, line(row)), style))
    };
    let bar = |from: i32, to: i32, row: i32, colour: RGBColor| {
        let (top, bottom) = (line(row) - ROW / 2 + 2, line(row) + ROW / 2 - 2);
        root.draw(&Rectangle::new([(from, top), (to, bottom)], colour.filled()))
    };
    text(title, MARGIN, 0, HPos::Left)?;
    for (x, colour, name) in [(0, CONTROL, "control path"), (130, OTHER, "all else")] {
        bar(MARGIN + x, MARGIN + x + ROW, 1, colour)?;
        text(name, MARGIN + x + ROW + 6, 1, HPos::Left)?;
    }
    for (row, number) in rows.iter().zip(HEAD..) {
        text(&row.name, MARGIN + NAMES - 6, number, HPos::Right)?;
    }
    for ((name, figure), column) in COLUMNS.iter().zip(0..) {
        let left = MARGIN + NAMES + column * (BARS + NUMBERS);
        text(name, left, 2, HPos::Left)?;
        let most = rows.iter().map(|row| figure(&row.whole)).max().unwrap_or(0).max(1);
        let pixels = |amount: usize| (amount * BARS as usize / most) as i32;
        for (row, number) in rows.iter().zip(HEAD..) {
            let (whole, control) = (figure(&row.whole), figure(&row.control));
            if whole == 0 {
                continue;
            }
            if control > 0 {
                bar(left, left + pixels(control), number, CONTROL)?;
            }
            if whole > control {
                bar(left + pixels(control), left + pixels(whole), number, OTHER)?;
            }
            text(&whole.to_string(), left + pixels(whole) + 5, number, HPos::Left)?;
        }
    }
    root.present()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(luts: usize, block_rams: usize) -> Area {
        Area { luts, flip_flops: 0, block_rams, multipliers: 0 }
    }

    /// Rectangles of a colour: left edge and width.
    fn bars(svg: &str, colour: RGBColor) -> Vec<(i32, i32)> {
        let fill = format!("fill=\"#{:02X}{:02X}{:02X}\"", colour.0, colour.1, colour.2);
        let number = |line: &str, name: &str| -> i32 {
            let (_, rest) = line.split_once(&format!(" {name}=\"")).expect("an attribute");
            rest.split('"').next().unwrap().parse().expect("a number")
        };
        let rectangles = svg.lines().filter(|line| line.starts_with("<rect") && line.contains(&fill));
        // The first of each colour is that of the legend.
        rectangles.skip(1).map(|line| (number(line, "x"), number(line, "width"))).collect()
    }

    #[test]
    fn bars_are_as_long_as_the_figures() {
        let rows = [
            Row { name: "a & b".to_string(), whole: area(300, 2), control: area(60, 0) },
            Row { name: "dispatch".to_string(), whole: area(100, 0), control: area(100, 0) },
        ];
        let svg = draw("Area <1>", &rows).unwrap();
        let (luts, rams) = (MARGIN + NAMES, MARGIN + NAMES + 2 * (BARS + NUMBERS));
        assert_eq!(bars(&svg, CONTROL), [(luts, BARS / 5), (luts, BARS / 3)]);
        assert_eq!(bars(&svg, OTHER), [(luts + BARS / 5, BARS - BARS / 5), (rams, BARS)]);
        for text in ["a &amp; b", "Area &lt;1&gt;", "\n300\n", "\n100\n", "\n2\n", "flip-flops"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert!(!svg.contains("\n0\n"), "{svg}");
        assert_eq!(svg, draw("Area <1>", &rows).unwrap());
    }
}
