//! Writes equal statements that follow each other as a loop.
//!
//! Loops of a kernel are unrolled before the back end reasons about bits. Here, in the finished
//! text of a block, statements that differ only in numbers that count are a `for` again: in the
//! places of vectors, and in literals that are the number of the turn. Names stay, so elements that
//! are variables of their own (`lane_0`) are in no loop.

/// Equal pieces from which on they are a loop.
const LEAST: usize = 4;
/// Turns of a loop at most: as many as Verilator unrolls.
const MOST: usize = 64;
/// Statements of a piece at most.
const LONGEST: usize = 8;

/// The lines of a block with loops in it, whose variables are `indices`: the next one in each loop
/// inside of another. Lines are not wrapped yet. Returned with them is how many indices they use.
pub(super) fn roll(lines: &[String], indices: &[String]) -> (Vec<String>, usize) {
    let Some((index, inner)) = indices.split_first() else { return (lines.to_vec(), 0) };
    let statements = statements(lines);
    let (mut out, mut used) = (Vec::new(), 0);
    let mut first = 0;
    while first < statements.len() {
        if let Some((length, turns)) = longest(&statements[first..]) {
            let last = first + length * turns;
            out.extend(comments(statements[first].0).cloned());
            let (body, depth) = roll(&turn(&statements[first..last], length, index), inner);
            used = used.max(depth + 1);
            write(index, turns, &body, &mut out);
            first = last;
        } else {
            // What stands inside of the statement
            let (text, depth) = inside(statements[first].0, indices);
            used = used.max(depth);
            out.extend(text);
            first += 1;
        }
    }
    (out, used)
}

/// A statement: its lines with the comments in front of it, and the tokens of the lines.
type Statement<'a> = (&'a [String], Vec<Token<'a>>);

/// Part of a line. Tokens of equal statements are equal, but for the numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    /// What does not count.
    Text(&'a str),
    /// `[5]`.
    Bit(usize),
    /// `[7:4]`: the lowest bit and the width.
    Bits(usize, usize),
    /// `4'd3`: width and value, and its text.
    Literal(usize, usize, &'a str),
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}

/// The comments in front of a statement.
fn comments(lines: &[String]) -> impl Iterator<Item = &String> {
    lines.iter().take_while(|line| is_comment(line))
}

/// By how much a line makes blocks deeper.
fn depth(line: &str) -> isize {
    if is_comment(line) {
        return 0;
    }
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words
        .map(|word| match word {
            "begin" | "case" => 1,
            "end" | "endcase" => -1,
            _ => 0,
        })
        .sum()
}

/// The statements that stand side by side in `lines`.
fn statements(lines: &[String]) -> Vec<Statement<'_>> {
    let (mut all, mut start, mut open) = (Vec::new(), 0, 0);
    for (position, line) in lines.iter().enumerate() {
        open += depth(line);
        if open == 0 && !is_comment(line) {
            let own = &lines[start..=position];
            all.push((
                own,
                own.iter().filter(|line| !is_comment(line)).flat_map(|line| tokens(line)).collect(),
            ));
            start = position + 1;
        }
    }
    all
}

/// The tokens of a line.
fn tokens(line: &str) -> Vec<Token<'_>> {
    let (mut all, mut rest) = (Vec::new(), line);
    while !rest.is_empty() {
        let length = match rest.as_bytes()[0] {
            b'[' => 1 + rest[1..].find(['[', ']']).unwrap_or(0),
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '\''))
                .unwrap_or(rest.len()),
            _ => 1,
        };
        let (text, behind) = rest.split_at(length);
        all.push(place(text).or_else(|| literal(text)).unwrap_or(Token::Text(text)));
        rest = behind;
    }
    all
}

/// `[5` or `[7:4`, whose bracket closes behind it.
fn place(text: &str) -> Option<Token<'_>> {
    let inner = text.strip_prefix('[')?;
    match inner.split_once(':') {
        None => Some(Token::Bit(inner.parse().ok()?)),
        Some((high, low)) => {
            let (high, low): (usize, usize) = (high.parse().ok()?, low.parse().ok()?);
            Some(Token::Bits(low, high.checked_sub(low)? + 1))
        }
    }
}

/// `4'd3`, `8'h1f`, `1'b1`.
fn literal(text: &str) -> Option<Token<'_>> {
    let (width, value) = text.split_once('\'')?;
    let radix = match value.chars().next()? {
        'b' => 2,
        'd' => 10,
        'h' => 16,
        _ => return None,
    };
    Some(Token::Literal(width.parse().ok()?, usize::from_str_radix(&value[1..], radix).ok()?, text))
}

/// The length of a piece, in statements, and how many equal ones there are from the first statement
/// on: what saves most lines.
fn longest(statements: &[Statement]) -> Option<(usize, usize)> {
    let mut best = None;
    for length in 1..=LONGEST.min(statements.len() / LEAST) {
        let piece = |turn: usize| statements.get(turn * length..(turn + 1) * length);
        let goes_on = |turn: usize| {
            piece(turn).is_some_and(|own| {
                let pairs = statements.iter().zip(&statements[length..]).zip(own);
                pairs.take(length).all(|((first, second), own)| follows(&first.1, &second.1, own, turn))
            })
        };
        let turns = 1 + (1..MOST).take_while(|turn| goes_on(*turn)).count();
        let lines: usize = statements[..length].iter().map(|(lines, _)| lines.len()).sum();
        let saved = (turns - 1) * lines;
        if turns >= LEAST && saved > 2 && best.is_none_or(|(most, _, _)| saved > most) {
            best = Some((saved, length, turns));
        }
        // Two turns as one would not be better.
        if turns == MOST {
            break;
        }
    }
    best.map(|(_, length, turns)| (length, turns))
}

/// Whether a statement of piece number `turn` goes on with the steps between those of the first two
/// pieces. Only those of the first one may have comments.
fn follows(first: &[Token], second: &[Token], (lines, own): &Statement, turn: usize) -> bool {
    let counts = |from: usize, next: usize, to: usize| to + turn * from == from + turn * next;
    first.len() == second.len()
        && first.len() == own.len()
        && !lines.iter().any(|line| is_comment(line))
        && first.iter().zip(second).zip(own).all(|((a, b), c)| match (a, b, c) {
            (Token::Bit(a), Token::Bit(b), Token::Bit(c)) => counts(*a, *b, *c),
            (Token::Bits(a, width), Token::Bits(b, same), Token::Bits(c, too)) => {
                width == same && width == too && counts(*a, *b, *c)
            }
            (Token::Literal(width, 0, _), Token::Literal(same, 1, _), Token::Literal(too, value, _)) => {
                width == same && width == too && *width < 32 && *value == turn
            }
            _ => a == b && a == c,
        })
}

/// The lines of all turns as one, with `index` for the number of the turn. The comments in front of
/// the first statement are left out.
fn turn(statements: &[Statement], length: usize, index: &str) -> Vec<String> {
    let (mut lines, next) = (Vec::new(), &statements[length..]);
    for (number, ((own, tokens), (_, then))) in statements[..length].iter().zip(next).enumerate() {
        let mut pairs = tokens.iter().zip(then);
        let skipped = if number == 0 { comments(own).count() } else { 0 };
        for line in &own[skipped..] {
            if is_comment(line) {
                lines.push(format!("    {line}"));
                continue;
            }
            let mut text = String::from("    ");
            for _ in 0..self::tokens(line).len() {
                let (token, then) = pairs.next().expect("a line has as many tokens as before");
                text.push_str(&counted(*token, *then, index));
            }
            lines.push(text);
        }
    }
    lines
}

/// A token of the first piece, with that of the second one, by the number of the turn.
fn counted(token: Token, next: Token, index: &str) -> String {
    let place = |from: usize, next: usize| {
        let times = |step: usize| if step == 1 { index.to_string() } else { format!("{step}*{index}") };
        if next < from {
            format!("{from} - {}", times(from - next))
        } else if from > 0 {
            format!("{} + {from}", times(next - from))
        } else {
            times(next - from)
        }
    };
    match (token, next) {
        (Token::Bit(from), Token::Bit(to)) if from != to => format!("[{}", place(from, to)),
        (Token::Bit(from), _) => format!("[{from}"),
        (Token::Bits(from, width), Token::Bits(to, _)) if from != to => {
            format!("[{} +: {width}", place(from, to))
        }
        (Token::Bits(from, width), _) => format!("[{}:{from}", from + width - 1),
        (Token::Literal(width, from, _), Token::Literal(_, to, _)) if from != to => {
            if width == 1 {
                format!("{index}[0]")
            } else {
                format!("{index}[{}:0]", width - 1)
            }
        }
        (Token::Literal(_, _, text) | Token::Text(text), _) => text.to_string(),
    }
}

/// Writes a loop with this body.
fn write(index: &str, turns: usize, body: &[String], out: &mut Vec<String>) {
    let first = body.first().map_or("", String::as_str);
    let indent = &first[4..first.len() - first.trim_start().len()];
    let head = format!("{indent}for ({index} = 0; {index} < {turns}; {index} = {index} + 1)");
    match body {
        [line] if head.len() + 1 + line.trim_start().len() <= super::lines::LINE => {
            out.push(format!("{head} {}", line.trim_start()));
        }
        _ => {
            out.push(format!("{head} begin"));
            out.extend_from_slice(body);
            out.push(format!("{indent}end"));
        }
    }
}

/// The lines of one statement with loops in its blocks.
fn inside(lines: &[String], indices: &[String]) -> (Vec<String>, usize) {
    let (mut out, mut used, mut position) = (Vec::new(), 0, 0);
    while position < lines.len() {
        out.push(lines[position].clone());
        position += 1;
        if is_comment(&lines[position - 1]) || !lines[position - 1].ends_with(" begin") {
            continue;
        }
        let (start, mut open) = (position, 1);
        while open > 0 {
            // `end else begin` closes the block and opens the next one.
            open += depth(&lines[position]);
            if open == 1 && lines[position].trim_start().starts_with("end else") {
                break;
            }
            position += 1;
        }
        let end = if open == 0 { position - 1 } else { position };
        let (text, depth) = roll(&lines[start..end], indices);
        used = used.max(depth);
        out.extend(text);
        position = end;
    }
    (out, used)
}

#[cfg(test)]
#[path = "loops_tests.rs"]
mod tests;
