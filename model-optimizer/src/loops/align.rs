//! The first and the last of some repetitions, which Verilator has simplified: a shift by 0 is left
//! out, and so is a mask behind a shift that leaves one bit.

use std::ops::Range;

use super::columns::Token;
use super::operands::close;

/// `tokens` in the form of `model`, another repetition, with what was left out: like
/// `(1U & (x >> 1U))`, `(1U & x)` is `(1U & (x >> 0U))`, and `(x >> 31U)` is `(1U & (x >> 31U))`,
/// if `x` has 32 bits: `is_word` says whether the token at a place is such a variable. None if they
/// do not repeat each other with that either.
pub(super) fn like<'a>(
    tokens: &[Token<'a>],
    model: &[Token<'a>],
    is_word: &dyn Fn(&[Token], usize) -> bool,
) -> Option<Vec<Token<'a>>> {
    let mut alignment = Alignment { tokens, model, is_word, output: Vec::with_capacity(model.len()) };
    let end = alignment.range(0, 0..model.len())?;
    (end == tokens.len()).then_some(alignment.output)
}

struct Alignment<'t, 'a> {
    tokens: &'t [Token<'a>],
    model: &'t [Token<'a>],
    is_word: &'t dyn Fn(&[Token], usize) -> bool,
    output: Vec<Token<'a>>,
}

impl Alignment<'_, '_> {
    /// Brings the tokens from `at` on into the form of the model in `range`, and gives where they
    /// end.
    fn range(&mut self, mut at: usize, range: Range<usize>) -> Option<usize> {
        let mut place = range.start;
        while place < range.end {
            let begin = at;
            if let Some((bit, inner, close)) = self.tested(at, place) {
                self.output.extend([Token::Fixed("("), bit, Token::Fixed("&")]);
                let end = self.range(at + 1, inner)?;
                self.output.push(Token::Fixed(")"));
                if !self.is_bit(at, end + 3) {
                    return None;
                }
                (at, place) = (end + 3, close + 1);
                continue;
            }
            let mask = left_out(masked, self.tokens, at, self.model, place);
            let shift = left_out(shifted, self.tokens, at, self.model, place);
            if let Some((inner, close)) = mask.clone().or(shift) {
                self.output.extend_from_slice(&self.model[place..inner.start]);
                at = self.range(at, inner.clone())?;
                if mask.is_some() && !self.is_bit(begin, at) {
                    return None;
                }
                // The number of a shift becomes 0.
                self.output.extend(self.model[inner.end..=close].iter().map(Token::shape));
                place = close + 1;
            } else if self.tokens.get(at)?.shape() == self.model[place].shape() {
                self.output.push(self.tokens[at]);
                (at, place) = (at + 1, place + 1);
            } else {
                return None;
            }
        }
        Some(at)
    }

    /// Whether a condition that is a mask in the model, `if ((4U & x))`, is a shift in the tokens,
    /// `if ((x >> 31U))`: the mask for these, the place of the `x` in the model, and where the
    /// expression is closed.
    fn tested(&self, at: usize, place: usize) -> Option<(Token<'static>, Range<usize>, usize)> {
        let condition = place >= 2 && is(self.model, place - 2, "if") && is(self.model, place - 1, "(");
        let mask =
            matches!(self.model.get(place + 1), Some(Token::Number(bit, "U")) if bit.is_power_of_two());
        if !(condition && mask && is(self.model, place, "(") && is(self.model, place + 2, "&")) {
            return None;
        }
        let model_close = close(self.model, place)?;
        let (inner, close) = shifted(self.tokens, at)?;
        let Token::Number(shift @ 0..=31, "U") = self.tokens[inner.end + 1] else { return None };
        (close + 1 < self.tokens.len()).then_some((
            Token::Number(1 << shift, "U"),
            place + 3..model_close,
            model_close,
        ))
    }

    /// Whether the tokens from `begin` to `end` are an expression with no value but 0 and 1.
    fn is_bit(&self, begin: usize, end: usize) -> bool {
        let tokens = &self.tokens[begin..end];
        if is(tokens, 0, "(") && close(tokens, 0) == Some(tokens.len() - 1) {
            return self.is_bit(begin + 1, end - 1);
        }
        let mut at = 0;
        let mut operators = Vec::new();
        while at < tokens.len() {
            match &tokens[at] {
                Token::Fixed("(") => at = close(tokens, at).unwrap_or(at),
                Token::Fixed(operator @ ("&" | "|" | "^" | ">>")) => operators.push((*operator, at)),
                Token::Fixed("~" | "-" | "+" | "<<" | "?" | "*") => return false,
                _ => {}
            }
            at += 1;
        }
        match operators[..] {
            [("&", at)] => self.is_bit(begin, begin + at) || self.is_bit(begin + at + 1, end),
            [("|" | "^", at)] => self.is_bit(begin, begin + at) && self.is_bit(begin + at + 1, end),
            [(">>", at)] => tokens[at + 1..] == [Token::Number(31, "U")] && self.is_words(begin, begin + at),
            _ => false,
        }
    }

    /// Whether the tokens from `begin` to `end` are an expression of variables of 32 bits.
    fn is_words(&self, begin: usize, end: usize) -> bool {
        (begin..end).all(|at| match &self.tokens[at] {
            Token::Fixed("(" | ")" | "&" | "|" | "^" | "~" | "->") => true,
            Token::Fixed(_) => is(self.tokens, at + 1, "->") || (self.is_word)(self.tokens, at),
            _ => false,
        })
    }
}

fn is(tokens: &[Token], at: usize, text: &str) -> bool {
    tokens.get(at) == Some(&Token::Fixed(text))
}

/// What is in an expression, and where it is closed.
type Found = (Range<usize>, usize);

/// The expression at `place` of the model, if `find` does not find one at `at` of the tokens as
/// well.
fn left_out(
    find: fn(&[Token], usize) -> Option<Found>,
    tokens: &[Token],
    at: usize,
    model: &[Token],
    place: usize,
) -> Option<Found> {
    let found = find(model, place)?;
    find(tokens, at).is_none().then_some(found)
}

/// The `x` in `(x >> NUMBER)` at `at`.
fn shifted(tokens: &[Token], at: usize) -> Option<Found> {
    let close = is(tokens, at, "(").then(|| close(tokens, at))??;
    let shift = is(tokens, close - 2, ">>") && matches!(tokens[close - 1], Token::Number(..));
    shift.then_some((at + 1..close - 2, close))
}

/// The `x` in `(1U & x)` at `at`.
fn masked(tokens: &[Token], at: usize) -> Option<Found> {
    let begins =
        is(tokens, at, "(") && tokens.get(at + 1) == Some(&Token::Number(1, "U")) && is(tokens, at + 2, "&");
    let close = begins.then(|| close(tokens, at))??;
    Some((at + 3..close, close))
}

#[cfg(test)]
mod tests {
    use super::super::arrays::Arrays;
    use super::super::columns::{classify, Names};
    use super::super::tokens::tokens;
    use super::*;

    /// `text` in the form of `model`, where variables but `q` have 32 bits.
    fn aligned(text: &str, model: &str) -> Option<String> {
        let arrays = Arrays::default();
        let names = Names { members: &arrays, locals: &arrays };
        let [text, model] = [text, model].map(tokens);
        let is_word = |tokens: &[Token], at: usize| matches!(tokens[at], Token::Fixed("m" | "n"));
        let found = like(&classify(&text, &names), &classify(&model, &names), &is_word)?;
        let text = found.iter().map(|token| match token {
            Token::Fixed(token) => token.to_string(),
            Token::Number(value, kind) => format!("{value}{kind}"),
            token => panic!("{token:?}"),
        });
        Some(text.collect())
    }

    #[test]
    fn shifts_and_masks_that_were_left_out_are_put_back() {
        for (text, model, expected) in [
            ("x = (1U & m);", "x = (1U & (m >> 1U));", "x=(1U&(m>>0U));"),
            (
                "x = (1U & ((~ m) & (m | n)));",
                "x = (1U & ((~ (m >> 1U)) & ((m | n) >> 1U)));",
                "x=(1U&((~(m>>0U))&((m|n)>>0U)));",
            ),
            ("x = (m >> 31U);", "x = (1U & (m >> 30U));", "x=(1U&(m>>31U));"),
            ("x = ((m | s->n) >> 31U);", "x = (1U & ((m | s->n) >> 30U));", "x=(1U&((m|s->n)>>31U));"),
            (
                "x = ((m >> 31U) & (~ (n >> 31U)));",
                "x = (1U & ((m >> 30U) & (~ (n >> 30U))));",
                "x=(1U&((m>>31U)&(~(n>>31U))));",
            ),
            ("if ((m >> 31U)) { }", "if ((4U & m)) { }", "if((2147483648U&m)){}"),
            ("x = (m >> 3U);", "x = (m >> 4U);", "x=(m>>3U);"),
        ] {
            assert_eq!(aligned(text, model).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_might_have_another_value_is_left() {
        for (text, model) in [
            ("x = (m >> 30U);", "x = (1U & (m >> 29U));"),
            ("x = (q >> 31U);", "x = (1U & (q >> 30U));"),
            ("x = ((m >> 31U) | n);", "x = (1U & ((m >> 30U) | n));"),
            ("x = (~ (m >> 31U));", "x = (1U & (~ (m >> 30U)));"),
            ("x = ((m + n) >> 31U);", "x = (1U & ((m + n) >> 30U));"),
            ("x = (m >> 31U);", "x = (4U & m);"),
            ("if ((m >> 30U)) { }", "if ((4U & m)) { }"),
            ("if ((q >> 31U)) { }", "if ((4U & q)) { }"),
            ("x = (1U & n);", "x = (1U & (m >> 1U));"),
        ] {
            assert_eq!(aligned(text, model), None, "{text}");
        }
    }
}
