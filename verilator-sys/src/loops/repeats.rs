//! Statements that repeat each other, written once in a loop.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::arrays::Arrays;
use super::tokens::{Parts, Statement};

/// Fewer repetitions stay as they are.
const LEAST: usize = 4;
/// Most statements of one repetition.
const LONGEST: usize = 100;
/// The counter of the loops.
const COUNTER: &str = "repetition";

/// Which variables are elements of arrays: members of the class behind `->`, others by themselves.
pub(super) struct Names<'a> {
    pub members: &'a Arrays,
    pub locals: &'a Arrays,
}

/// What a token is, with regard to the same token of another repetition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Token<'a> {
    /// Must be the same.
    Fixed(&'a str),
    /// A number, with its type.
    Number(u64, &'a str),
    /// An element of an array.
    Element(&'a str, usize),
}

/// A token of all repetitions: of number `i`, it is `first + i * step`.
#[derive(Clone, Debug)]
enum Column<'a> {
    Fixed(&'a str),
    Number {
        first: u64,
        step: i64,
        kind: &'a str,
    },
    /// A number with one bit, whose place changes.
    Bit {
        first: u64,
        step: i64,
        kind: &'a str,
    },
    Element {
        array: &'a str,
        first: u64,
        step: i64,
    },
}

/// Repetitions that were found.
struct Repeats<'a> {
    /// Statements of one.
    statements: usize,
    count: usize,
    columns: Vec<Column<'a>>,
}

/// Writes `statements` of `tokens`, with loops for those that repeat each other.
pub(super) fn write(output: &mut String, tokens: &[&str], statements: &[Statement], names: &Names) {
    let tokens = classify(tokens, names);
    Writer { tokens: &tokens }.block(output, statements);
}

fn classify<'a>(tokens: &[&'a str], names: &Names<'a>) -> Vec<Token<'a>> {
    let behind_arrow = |at: usize| at > 0 && tokens[at - 1] == "->";
    let one = |(at, token): (usize, &&'a str)| {
        let arrays = if behind_arrow(at) { names.members } else { names.locals };
        if let Some(element) = arrays.element(token) {
            Token::Element(&element.array, element.index)
        } else if let Some((value, kind)) = number(token) {
            Token::Number(value, kind)
        } else {
            Token::Fixed(token)
        }
    };
    tokens.iter().enumerate().map(one).collect()
}

/// Value and suffix of an integer.
fn number(token: &str) -> Option<(u64, &str)> {
    let digits = token.trim_end_matches(['U', 'L']);
    let kind = &token[digits.len()..];
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    Some((value.ok()?, kind))
}

struct Writer<'a> {
    tokens: &'a [Token<'a>],
}

impl<'a> Writer<'a> {
    fn block(&self, output: &mut String, statements: &[Statement]) {
        let shapes = self.shapes(statements);
        let mut at = 0;
        while at < statements.len() {
            if let Some(repeats) = self.repeats(&statements[at..], &shapes[at..]) {
                at += repeats.statements * repeats.count;
                repeats.write(output);
            } else {
                self.statement(output, &statements[at]);
                at += 1;
            }
        }
    }

    fn statement(&self, output: &mut String, statement: &Statement) {
        let Parts::If { condition_end, then, otherwise } = &statement.parts else {
            write_tokens(output, &self.tokens[statement.begin..statement.end]);
            return;
        };
        write_tokens(output, &self.tokens[statement.begin..*condition_end]);
        output.push_str("{\n");
        self.block(output, then);
        output.push_str("}\n");
        if let Some(otherwise) = otherwise {
            output.push_str("else {\n");
            self.block(output, otherwise);
            output.push_str("}\n");
        }
    }

    /// A number for each statement, which those share that differ in numbers and indices only.
    fn shapes(&self, statements: &[Statement]) -> Vec<usize> {
        let mut known: HashMap<Vec<Token>, usize> = HashMap::new();
        let shape = |token: &Token<'a>| match token {
            Token::Number(_, kind) => Token::Number(0, kind),
            Token::Element(array, _) => Token::Element(array, 0),
            Token::Fixed(_) => token.clone(),
        };
        let mut number = |statement: &Statement| {
            let shape = self.tokens[statement.begin..statement.end].iter().map(shape).collect();
            let next = known.len();
            *known.entry(shape).or_insert(next)
        };
        statements.iter().map(&mut number).collect()
    }

    /// The repetitions with which `statements` begin: those that cover most of them.
    fn repeats(&self, statements: &[Statement], shapes: &[usize]) -> Option<Repeats<'a>> {
        let mut best: Option<Repeats> = None;
        for length in 1..=LONGEST.min(statements.len() / LEAST) {
            let first = &shapes[..length];
            let count = shapes.chunks_exact(length).take_while(|chunk| *chunk == first).count();
            let covered = best.as_ref().map_or(0, |b| b.statements * b.count);
            if count < LEAST || count * length <= covered {
                continue;
            }
            let columns = |count: usize| {
                let repetition = |i: usize| {
                    &self.tokens[statements[i * length].begin..statements[(i + 1) * length - 1].end]
                };
                let repetitions: Vec<_> = (0..count).map(repetition).collect();
                (0..repetitions[0].len()).map(|at| column(&repetitions, at)).collect::<Vec<_>>()
            };
            // As many as go on evenly in all tokens; with fewer, a token may turn out to go on in another way.
            let even = columns(count).iter().map(|(_, count)| *count).min().unwrap_or(0).min(count);
            if even < LEAST || even * length <= covered {
                continue;
            }
            let columns = columns(even).into_iter().map(|(column, _)| column).collect();
            best = Some(Repeats { statements: length, count: even, columns });
        }
        best
    }
}

/// How token `at` goes on from one of `repetitions` to the next, and for how many of them.
fn column<'a>(repetitions: &[&[Token<'a>]], at: usize) -> (Column<'a>, usize) {
    let value = |token: &Token| match token {
        Token::Number(value, _) => *value,
        Token::Element(_, index) => *index as u64,
        Token::Fixed(_) => 0,
    };
    let values: Vec<u64> = repetitions.iter().map(|tokens| value(&tokens[at])).collect();
    let (step, count) = even(&values);
    let first = values[0];
    match repetitions[0][at] {
        Token::Fixed(token) => (Column::Fixed(token), count),
        Token::Element(array, _) => (Column::Element { array, first, step }, count),
        Token::Number(_, kind) => {
            let bits = values.iter().take_while(|v| v.is_power_of_two());
            let bits: Vec<u64> = bits.map(|v| u64::from(v.trailing_zeros())).collect();
            let (bit_step, bit_count) = even(&bits);
            if bit_count > count {
                (Column::Bit { first: bits[0], step: bit_step, kind }, bit_count)
            } else {
                (Column::Number { first, step, kind }, count)
            }
        }
    }
}

/// The difference of the first two `values`, and how many values go on with it.
fn even(values: &[u64]) -> (i64, usize) {
    let [first, second, ..] = values else { return (0, values.len()) };
    let step = second.wrapping_sub(*first);
    let count = 1 + values.windows(2).take_while(|pair| pair[1].wrapping_sub(pair[0]) == step).count();
    (step as i64, count)
}

impl Repeats<'_> {
    fn write(&self, output: &mut String) {
        let _ = writeln!(output, "for (unsigned {COUNTER} = 0; {COUNTER} < {}; ++{COUNTER}) {{", self.count);
        for column in &self.columns {
            match column {
                Column::Fixed(token) => output.push_str(token),
                Column::Number { first, step: 0, kind } => {
                    let _ = write!(output, "{first}{kind}");
                }
                Column::Number { first, step, kind } => {
                    let _ = write!(output, "({})", index(*first, *step, kind));
                }
                Column::Bit { first, step, kind } => {
                    let _ = write!(output, "(1{kind} << ({}))", index(*first, *step, ""));
                }
                Column::Element { array, first, step: 0 } => {
                    let _ = write!(output, "{array}[{first}]");
                }
                Column::Element { array, first, step } => {
                    let _ = write!(output, "{array}[{}]", index(*first, *step, ""));
                }
            }
            output.push(' ');
        }
        output.push_str("\n}\n");
    }
}

/// `first + counter * step`.
fn index(first: u64, step: i64, kind: &str) -> String {
    let (sign, step) = (if step < 0 { '-' } else { '+' }, step.unsigned_abs());
    format!("{first}{kind} {sign} {step}{kind} * {COUNTER}")
}

fn write_tokens(output: &mut String, tokens: &[Token]) {
    for token in tokens {
        let _ = match token {
            Token::Fixed(token) => write!(output, "{token} "),
            Token::Number(value, kind) => write!(output, "{value}{kind} "),
            Token::Element(array, index) => write!(output, "{array}[{index}] "),
        };
    }
    output.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{statements, tokens};
    use super::*;

    fn written(text: &str) -> String {
        let names: Vec<String> =
            (0..8).flat_map(|i| [format!("a_{i}"), format!("b_{i}_x"), format!("c_{i}")]).collect();
        let members = Arrays::of(names.iter().map(|name| ("IData", name.as_str())));
        let locals = Arrays::of(names.iter().filter(|n| n.starts_with('c')).map(|n| ("IData", n.as_str())));
        let tokens = tokens(text);
        let mut output = String::new();
        let names = Names { members: &members, locals: &locals };
        write(&mut output, &tokens, &statements(&tokens).unwrap(), &names);
        output.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn repeated(order: impl Iterator<Item = usize>, one: impl Fn(usize) -> String) -> String {
        order.map(one).collect()
    }

    #[test]
    fn statements_that_repeat_each_other_are_a_loop() {
        let text = repeated(0..8, |i| format!("s->a_{i} = (s->b_{i}_x >> {i}U); c_{i} = 3U;"));
        let head = "for (unsigned repetition = 0; repetition < 8; ++repetition) {";
        let index = "[0 + 1 * repetition]";
        let body =
            format!("s -> a_N{index} = ( s -> b_N_x{index} >> (0U + 1U * repetition) ) ; c_N{index} = 3U ;");
        assert_eq!(written(&text), format!("{head} {body} }}"));
        let text = repeated((0..8).rev(), |i| format!("s->a_{i} = {}ULL & m;", 1u64 << (4 * i)));
        let body = "s -> a_N[7 - 1 * repetition] = (1ULL << (28 - 4 * repetition)) & m ;";
        assert_eq!(written(&text), format!("{head} {body} }}"));
    }

    #[test]
    fn what_does_not_go_on_evenly_is_not_in_the_loop() {
        let text = repeated([0, 1, 2, 3, 5, 4].into_iter(), |i| format!("s->a_{i} = 0U;"));
        let expected = "for (unsigned repetition = 0; repetition < 4; ++repetition) { \
                        s -> a_N[0 + 1 * repetition] = 0U ; } s -> a_N[5] = 0U ; s -> a_N[4] = 0U ;";
        assert_eq!(written(&text), expected);
        let text = repeated([3, 0, 2, 1].into_iter(), |i| format!("s->a_{i} = 0U;"));
        assert!(!written(&text).contains("for"));
        // Seven is no power of two.
        let text = repeated([1, 2, 4, 7].into_iter(), |i| format!("x = {i}U;"));
        assert!(!written(&text).contains("for"));
    }

    #[test]
    fn blocks_of_conditions_are_looked_into() {
        let inner = repeated(0..8, |i| format!("c_{i} = 0U;"));
        let text = written(&format!("if (s->a_1) {{ {inner} }} else {{ x = 1U; }}"));
        let expected = "if ( s -> a_N[1] ) { for (unsigned repetition = 0; repetition < 8; ++repetition) { \
                        c_N[0 + 1 * repetition] = 0U ; } } else { x = 1U ; }";
        assert_eq!(text, expected);
    }

    /// Members and locals may have the same name.
    #[test]
    fn only_members_are_behind_arrows() {
        assert_eq!(written("s->c_1 = c_1; b_1_x = s->a_1;"), "s -> c_N[1] = c_N[1] ; b_1_x = s -> a_N[1] ;");
    }
}
