//! Brackets, and the operands of an expression that is an or, or an and, of several.

use super::columns::{Column, Token};

/// Operators between operands. Verilator puts brackets around each of several, so that these are
/// not mixed with another one.
const OPERATORS: [&str; 15] =
    ["?", "|", "&", "^", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "+", "-", ":"];

/// A part of an expression.
pub(super) trait Part {
    /// The text of a name, bracket or operator. What ends an address is a closing bracket.
    fn symbol(&self) -> Option<&str>;
}

impl Part for Token<'_> {
    fn symbol(&self) -> Option<&str> {
        match self {
            Self::Fixed(text) => Some(text),
            Self::Lane(_) => Some("]"),
            _ => None,
        }
    }
}

impl Part for Column<'_> {
    fn symbol(&self) -> Option<&str> {
        match self {
            Self::Fixed(text) => Some(text),
            Self::Lane { .. } => Some("]"),
            _ => None,
        }
    }
}

/// The bracket that closes the one at `at`.
pub(super) fn close(expression: &[impl Part], at: usize) -> Option<usize> {
    let mut depth = 0;
    for (place, part) in expression.iter().enumerate().skip(at) {
        match part.symbol() {
            Some("(" | "[" | "{") => depth += 1,
            Some(")" | "]" | "}") => {
                depth -= 1;
                if depth == 0 {
                    return Some(place);
                }
            }
            _ => {}
        }
    }
    None
}

/// `expression` without the brackets around all of it.
pub(super) fn without_brackets<T: Part>(mut expression: &[T]) -> &[T] {
    while expression.first().and_then(Part::symbol) == Some("(")
        && close(expression, 0) == Some(expression.len() - 1)
    {
        expression = &expression[1..expression.len() - 1];
    }
    expression
}

/// Adds the operands that `operator` connects to `expression`, also within brackets; all of it, if
/// it does not.
pub(super) fn add<'t, T: Part>(expression: &'t [T], operator: &str, operands: &mut Vec<&'t [T]>) {
    let inner = without_brackets(expression);
    let mut cuts = Vec::new();
    let mut at = 0;
    while at < inner.len() {
        match inner[at].symbol() {
            Some("(" | "[") => at = close(inner, at).unwrap_or(inner.len()),
            Some(found) if found == operator => cuts.push(at),
            Some(found) if OPERATORS.contains(&found) => {
                cuts.clear();
                break;
            }
            _ => {}
        }
        at += 1;
    }
    if cuts.is_empty() {
        operands.push(expression);
        return;
    }
    let mut begin = 0;
    for cut in cuts.into_iter().chain([inner.len()]) {
        add(&inner[begin..cut], operator, operands);
        begin = cut + 1;
    }
}
