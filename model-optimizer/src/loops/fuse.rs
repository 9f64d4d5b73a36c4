//! Loops that follow each other as one: what one writes and the next one reads stays in the
//! processor's registers.

use std::fmt::Write as _;

use super::columns::COUNTER;

/// The macro before a loop whose repetitions do not depend on each other.
pub(super) const INDEPENDENT: &str = "HERMES_INDEPENDENT";
/// Most characters of a loop that others are added to.
const LONGEST: usize = 4_000;

/// An access to a variable: its name, and where the index of the repetition begins and goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Access<'a> {
    pub name: &'a str,
    /// Index in the first repetition, and step; none without an index.
    pub index: Option<(u64, i64)>,
}

/// A part of the output.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    Text(String),
    Loop(Loop<'a>),
}

/// A loop whose repetitions do not depend on each other.
#[derive(Debug)]
pub(super) struct Loop<'a> {
    pub count: usize,
    /// Bytes of the largest element: how many there are in a vector.
    pub width: usize,
    pub body: String,
    pub reads: Vec<Access<'a>>,
    pub writes: Vec<Access<'a>>,
}

impl Loop<'_> {
    /// Whether the loops are the same as one with both bodies: no repetition writes what another
    /// one accesses.
    fn fits(&self, next: &Self) -> bool {
        let apart = |writes: &[Access], accesses: &[Access]| {
            writes.iter().all(|write| {
                accesses.iter().all(|access| access.name != write.name || access.index == write.index)
            })
        };
        self.count == next.count
            && self.width == next.width
            && self.body.len() + next.body.len() < LONGEST
            && apart(&self.writes, &next.reads)
            && apart(&self.writes, &next.writes)
            && apart(&next.writes, &self.reads)
    }

    fn text(&self) -> String {
        let mut output = String::new();
        let _ = writeln!(output, "{INDEPENDENT}\n{}\n{}}}", head(self.count), self.body);
        output
    }
}

/// The beginning of a loop.
pub(super) fn head(count: usize) -> String {
    format!("for (unsigned {COUNTER} = 0; {COUNTER} < {count}; ++{COUNTER}) {{")
}

/// The texts of `pieces`: one by one, loops that fit each other as one.
pub(super) fn texts(pieces: Vec<Piece>) -> Vec<String> {
    let mut texts = Vec::with_capacity(pieces.len());
    let mut open: Option<Loop> = None;
    for piece in pieces {
        match (piece, &mut open) {
            (Piece::Loop(next), Some(before)) if before.fits(&next) => {
                before.body = format!("{{\n{}}}\n{{\n{}}}\n", before.body, next.body);
                before.reads.extend(next.reads);
                before.writes.extend(next.writes);
            }
            (Piece::Loop(next), _) => texts.extend(open.replace(next).map(|before| before.text())),
            (Piece::Text(text), _) => {
                texts.extend(open.take().map(|before| before.text()));
                texts.push(text);
            }
        }
    }
    texts.extend(open.map(|before| before.text()));
    texts
}

#[cfg(test)]
mod tests {
    use super::super::independent::tests::written;

    fn loops(one: &str) -> usize {
        written(one).matches("for (i)").count()
    }

    #[test]
    fn a_loop_that_uses_what_the_one_before_writes_is_part_of_it() {
        // Both have a form of their own, so that they are two loops to begin with.
        let text = written("s->a_# = x; if ((s->b_#)) { s->a_# = rows[x][#U]; }");
        assert!(text.starts_with("HERMES_INDEPENDENT for (i) { { s -> a_N[i] = x ; } { if"), "{text}");
        assert_eq!(text.matches("for (i)").count(), 1);
    }

    #[test]
    fn loops_of_other_sizes_and_single_ones_are_apart() {
        // Elements of one byte, and of four.
        assert_eq!(loops("s->b_# = x; if ((y)) { s->a_# = rows[x][#U]; }"), 2);
        // One repetition after the other.
        assert_eq!(loops("s->a_# = x; s->m_#[s->a_#] = y;"), 2);
    }
}
