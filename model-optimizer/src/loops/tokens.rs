//! Tokens and statements of the C++ that Verilator writes: the little of the language that it uses.

use std::collections::HashMap;

/// A statement, as the range of its tokens and what it consists of.
#[derive(Debug)]
pub(super) struct Statement {
    /// First token.
    pub begin: usize,
    /// Behind the last token.
    pub end: usize,
    pub parts: Parts,
}

#[derive(Debug)]
pub(super) enum Parts {
    /// Nothing that is looked into: an assignment, a declaration, a loop.
    Plain,
    /// `if`, with the end of its condition.
    If { condition_end: usize, then: Vec<Statement>, otherwise: Option<Vec<Statement>> },
}

/// Operators of more than one character.
const OPERATORS: [&str; 22] = [
    "<<=", ">>=", "->", "<<", ">>", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "&&", "||", "::", "++", "--",
];

/// The tokens of `text`, without comments.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return found };
        let end = if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        } else if rest.starts_with("/*") {
            rest = &rest[rest.find("*/").map_or(rest.len(), |at| at + 2)..];
            continue;
        } else if first == '"' || first == '\'' {
            quoted(rest, first)
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            OPERATORS.iter().find(|o| rest.starts_with(**o)).map_or(first.len_utf8(), |o| o.len())
        };
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
}

/// Length of the literal in quotation marks at the beginning of `text`.
fn quoted(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == mark && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// Letters, digits and the underscore.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether `token` is a name or a keyword.
pub(super) fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// The statements in `tokens`; none if they are not what is expected.
pub(super) fn statements(tokens: &[&str]) -> Option<Vec<Statement>> {
    let mut open = Vec::new();
    let mut closing = HashMap::new();
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => open.push(at),
            ")" | "]" | "}" => {
                closing.insert(open.pop()?, at);
            }
            // A line of the preprocessor, whose end is not a token.
            "#" => return None,
            _ => {}
        }
    }
    open.is_empty().then_some(())?;
    Parser { tokens, closing }.block(0, tokens.len())
}

struct Parser<'a> {
    tokens: &'a [&'a str],
    /// The closing bracket of each opening one.
    closing: HashMap<usize, usize>,
}

impl Parser<'_> {
    fn block(&self, begin: usize, end: usize) -> Option<Vec<Statement>> {
        let mut found = Vec::new();
        let mut at = begin;
        while at < end {
            let statement = self.statement(at, end)?;
            at = statement.end;
            found.push(statement);
        }
        Some(found)
    }

    fn statement(&self, begin: usize, limit: usize) -> Option<Statement> {
        let plain = |end| Some(Statement { begin, end, parts: Parts::Plain });
        match self.tokens[begin] {
            "if" => self.condition(begin, limit),
            "{" => plain(self.close(begin)? + 1),
            "for" | "while" | "switch" => {
                let body = self.close(begin + 1)? + 1;
                plain(self.statement(body, limit)?.end)
            }
            "do" => {
                let after = self.close(begin + 1)? + 1;
                plain(self.semicolon(after, limit)?)
            }
            _ => plain(self.semicolon(begin, limit)?),
        }
    }

    fn condition(&self, begin: usize, limit: usize) -> Option<Statement> {
        let condition_end = self.close(begin + 1)? + 1;
        let (then, mut end) = self.branch(condition_end, limit)?;
        let mut otherwise = None;
        if end < limit && self.tokens[end] == "else" {
            let (statements, after) = self.branch(end + 1, limit)?;
            (otherwise, end) = (Some(statements), after);
        }
        Some(Statement { begin, end, parts: Parts::If { condition_end, then, otherwise } })
    }

    /// The statements of a branch, with or without braces, and where it ends.
    fn branch(&self, begin: usize, limit: usize) -> Option<(Vec<Statement>, usize)> {
        if self.tokens.get(begin) == Some(&"{") {
            let close = self.close(begin)?;
            return Some((self.block(begin + 1, close)?, close + 1));
        }
        let statement = self.statement(begin, limit)?;
        let end = statement.end;
        Some((vec![statement], end))
    }

    /// Behind the semicolon that ends a statement.
    fn semicolon(&self, begin: usize, limit: usize) -> Option<usize> {
        let mut at = begin;
        while at < limit {
            if self.tokens[at] == ";" {
                return Some(at + 1);
            }
            at = self.closing.get(&at).copied().unwrap_or(at) + 1;
        }
        None
    }

    fn close(&self, open: usize) -> Option<usize> {
        self.closing.get(&open).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found() {
        let text = "if ((1U & (~ (IData)(vlSelf->__PVT__a_7)))) { // why\n x[0xfULL] /*31:0*/ <<= f(\"a \\\" ;\"); }";
        let expected = [
            "if",
            "(",
            "(",
            "1U",
            "&",
            "(",
            "~",
            "(",
            "IData",
            ")",
            "(",
            "vlSelf",
            "->",
            "__PVT__a_7",
            ")",
            ")",
            ")",
            ")",
            "{",
            "x",
            "[",
            "0xfULL",
            "]",
            "<<=",
            "f",
            "(",
            "\"a \\\" ;\"",
            ")",
            ";",
            "}",
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn statements_are_found() {
        let text = "x = f(a, b); if (c) { y = 1U; z = 2U; } else if (d) { w = 3U; } for (i = 0; i < 3; ++i) { v = i; } u = 1U;";
        let tokens = tokens(text);
        let found = statements(&tokens).unwrap();
        let texts: Vec<String> = found.iter().map(|s| tokens[s.begin..s.end].concat()).collect();
        assert_eq!(texts[0], "x=f(a,b);");
        assert_eq!(texts[2], "for(i=0;i<3;++i){v=i;}");
        assert_eq!(texts[3], "u=1U;");
        let Parts::If { then, otherwise: Some(otherwise), condition_end } = &found[1].parts else {
            panic!("{:?}", found[1]);
        };
        assert_eq!(tokens[found[1].begin..*condition_end].concat(), "if(c)");
        assert_eq!((then.len(), otherwise.len()), (2, 1));
        assert!(matches!(otherwise[0].parts, Parts::If { otherwise: None, .. }));
    }

    #[test]
    fn what_does_not_fit_is_no_list_of_statements() {
        for text in ["x = 1U", "x = (1U;", "x = 1U); y = 2U;", "if (x", "\n#ifdef X\nx = 1U;\n"] {
            assert!(statements(&tokens(text)).is_none(), "{text}");
        }
    }
}
