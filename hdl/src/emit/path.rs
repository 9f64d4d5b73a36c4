//! The paths and index expressions in rust-hdl's kernels, which it keeps as text:
//! `lane[2*i+1]$x$next`.

use std::collections::HashMap;
use std::iter::Peekable;
use std::str::Chars;

use num_bigint::BigInt;

/// Values of loop variables, `_fields`, const parameters and constants.
pub type Environment = HashMap<String, BigInt>;

/// Replaces every index expression by its value: `lane[2*i+1]$x` is `lane$7$x` for `i` = 3, the
/// form in which rust-hdl names the elements of a `Vec`.
pub fn resolve(path: &str, environment: &Environment) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = path;
    while let Some(open) = rest.find('[') {
        let mut depth = 0usize;
        let close = rest[open..].char_indices().find(|(_, c)| {
            match c {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some((length, _)) = close else { return Err(format!("unbalanced brackets in `{path}`")) };
        let index = evaluate(&rest[open + 1..open + length], environment)?;
        text.push_str(&rest[..open]);
        text.push('$');
        text.push_str(&index.to_string());
        rest = &rest[open + length + 1..];
    }
    text.push_str(rest);
    Ok(text)
}

/// The value of an integer expression: `+ - * / %`, parentheses, numbers and names.
pub fn evaluate(text: &str, environment: &Environment) -> Result<BigInt, String> {
    let mut parser = Parser { chars: text.chars().peekable(), environment };
    let value = parser.sum()?;
    match parser.chars.next() {
        None => Ok(value),
        Some(c) => Err(format!("index `{text}`: `{c}` cannot be evaluated")),
    }
}

/// A Rust integer literal.
pub fn number(text: &str) -> Option<BigInt> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0b") => (&digits[2..], 2),
        Some("0o") => (&digits[2..], 8),
        _ => (digits.as_str(), 10),
    };
    let digits = ["usize", "isize", "u8", "u16", "u32", "u64", "u128", "i32", "i64"]
        .iter()
        .find_map(|s| digits.strip_suffix(s))
        .unwrap_or(digits);
    BigInt::parse_bytes(digits.as_bytes(), radix)
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    environment: &'a Environment,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<BigInt, String> {
        let mut value = self.product()?;
        while let Some(op) = self.chars.next_if(|c| matches!(c, '+' | '-')) {
            let right = self.product()?;
            value = if op == '+' { value + right } else { value - right };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<BigInt, String> {
        let mut value = self.atom()?;
        while let Some(op) = self.chars.next_if(|c| matches!(c, '*' | '/' | '%')) {
            let right = self.atom()?;
            if op != '*' && right == BigInt::default() {
                return Err("index divides by zero".to_string());
            }
            value = match op {
                '*' => value * right,
                '/' => value / right,
                _ => value % right,
            };
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<BigInt, String> {
        if self.chars.next_if_eq(&'(').is_some() {
            let value = self.sum()?;
            return match self.chars.next() {
                Some(')') => Ok(value),
                _ => Err("index with an open parenthesis".to_string()),
            };
        }
        let mut word = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$')) {
            word.push(c);
        }
        if let Some(value) = self.environment.get(&word) {
            return Ok(value.clone());
        }
        if let Some(value) = number(&word) {
            return Ok(value);
        }
        // Spaces are gone from the text, so that `i as usize` reads `iasusize`.
        let cast = word.rfind("as").map(|at| &word[..at]);
        if let Some(value) =
            cast.and_then(|name| self.environment.get(name).cloned().or_else(|| number(name)))
        {
            return Ok(value);
        }
        Err(format!("`{word}` has no value that is known when the design is emitted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_index_expressions() {
        let environment = Environment::from([("i".to_string(), 3.into()), ("_n".to_string(), 8.into())]);
        let resolve = |p| resolve(p, &environment);
        assert_eq!(resolve("tree[2*i+1]$y").unwrap(), "tree$7$y");
        assert_eq!(resolve("x[(_n-1)/2+iasusize]").unwrap(), "x$6");
        assert_eq!(resolve("a[i]$b[0x1_0usize]$next").unwrap(), "a$3$b$16$next");
        assert!(resolve("x[j]").unwrap_err().contains("`j`"));
        assert!(resolve("x[i<<1]").unwrap_err().contains('<'));
    }
}
