//! Tokens of statements that repeat each other, and how each goes on from one repetition to the
//! next.

use std::fmt::Write as _;

use super::arrays::Arrays;

/// The counter of the loops.
pub(super) const COUNTER: &str = "repetition";

/// Which variables are elements of arrays: members of the class behind `->`, others by themselves.
pub(super) struct Names<'a> {
    pub members: &'a Arrays,
    pub locals: &'a Arrays,
}

impl<'a> Names<'a> {
    /// The arrays of members, or of locals.
    pub fn arrays(&self, member: bool) -> &'a Arrays {
        if member {
            self.members
        } else {
            self.locals
        }
    }

    /// Bytes of an element of the array `name`, of whichever; 0 if there is no such array.
    pub fn bytes(&self, name: &str) -> usize {
        self.members.bytes(name).max(self.locals.bytes(name))
    }
}

/// What a token is, with regard to the same token of another repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Token<'a> {
    /// Must be the same.
    Fixed(&'a str),
    /// A number, with its type.
    Number(u64, &'a str),
    /// An element of an array.
    Element(&'a str, usize),
    /// The end of an address in an array that is ordered by address, and the index.
    Lane(usize),
}

impl Token<'_> {
    /// What must be the same in all repetitions.
    pub fn shape(&self) -> Self {
        match *self {
            Self::Number(_, kind) => Token::Number(0, kind),
            Self::Element(array, _) => Token::Element(array, 0),
            Self::Lane(_) => Token::Lane(0),
            fixed @ Self::Fixed(_) => fixed,
        }
    }
}

/// A token of all repetitions: of number `i`, it is `first + i * step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column<'a> {
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
    Lane {
        first: u64,
        step: i64,
    },
}

/// What the tokens of C++ are.
pub(super) fn classify<'a>(tokens: &[&'a str], names: &Names<'a>) -> Vec<Token<'a>> {
    let mut found: Vec<Token> = Vec::with_capacity(tokens.len());
    // For each open bracket, the index that follows where it is an address.
    let mut open = Vec::new();
    let mut lane = None;
    for (at, token) in tokens.iter().enumerate() {
        let arrays = names.arrays(at > 0 && tokens[at - 1] == "->");
        found.push(match *token {
            "[" => {
                open.push(lane.take());
                Token::Fixed(token)
            }
            "]" => open.pop().flatten().map_or(Token::Fixed(token), Token::Lane),
            _ => match arrays.element(token) {
                Some(element) if arrays.is_by_address(&element.array) => {
                    lane = Some(element.index);
                    Token::Fixed(&element.array)
                }
                Some(element) => Token::Element(&element.array, element.index),
                None => number(token).map_or(Token::Fixed(token), |(value, kind)| Token::Number(value, kind)),
            },
        });
    }
    found
}

/// Value and suffix of an integer.
pub(super) fn number(token: &str) -> Option<(u64, &str)> {
    let digits = token.trim_end_matches(['U', 'L']);
    let kind = &token[digits.len()..];
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    Some((value.ok()?, kind))
}

/// How token `at` goes on from one of `repetitions` to the next, and for how many of them.
pub(super) fn column<'a>(repetitions: &[&[Token<'a>]], at: usize) -> (Column<'a>, usize) {
    let value = |token: &Token| match token {
        Token::Number(value, _) => *value,
        Token::Element(_, index) | Token::Lane(index) => *index as u64,
        Token::Fixed(_) => 0,
    };
    let values: Vec<u64> = repetitions.iter().map(|tokens| value(&tokens[at])).collect();
    let (step, count) = even(&values);
    let first = values[0];
    match repetitions[0][at] {
        Token::Fixed(token) => (Column::Fixed(token), count),
        Token::Element(array, _) => (Column::Element { array, first, step }, count),
        Token::Lane(_) => (Column::Lane { first, step }, count),
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

impl Column<'_> {
    /// Whether it is the same in all repetitions.
    pub fn is_uniform(&self) -> bool {
        match *self {
            Self::Fixed(_) => true,
            Self::Number { step, .. }
            | Self::Bit { step, .. }
            | Self::Element { step, .. }
            | Self::Lane { step, .. } => step == 0,
        }
    }

    fn write(&self, output: &mut String) {
        let _ = match *self {
            Self::Fixed(token) => write!(output, "{token}"),
            Self::Number { first, step: 0, kind } => write!(output, "{first}{kind}"),
            Self::Number { first, step, kind } => write!(output, "({})", index(first, step, kind)),
            Self::Bit { first, step, kind } => write!(output, "(1{kind} << ({}))", index(first, step, "")),
            Self::Element { array, first, step } => write!(output, "{array}[{}]", index(first, step, "")),
            Self::Lane { first, step } => write!(output, "][{}]", index(first, step, "")),
        };
        output.push(' ');
    }
}

/// `first + counter * step`.
fn index(first: u64, step: i64, kind: &str) -> String {
    if step == 0 {
        return format!("{first}{kind}");
    }
    let (sign, step) = (if step < 0 { '-' } else { '+' }, step.unsigned_abs());
    format!("{first}{kind} {sign} {step}{kind} * {COUNTER}")
}

/// The text of `columns`, within a loop.
pub(super) fn text(columns: &[Column]) -> String {
    let mut output = String::new();
    columns.iter().for_each(|column| column.write(&mut output));
    output
}

pub(super) fn write_tokens(output: &mut String, tokens: &[Token]) {
    for token in tokens {
        let _ = match token {
            Token::Fixed(token) => write!(output, "{token} "),
            Token::Number(value, kind) => write!(output, "{value}{kind} "),
            Token::Element(array, index) => write!(output, "{array}[{index}] "),
            Token::Lane(index) => write!(output, "][{index}] "),
        };
    }
    output.push('\n');
}
