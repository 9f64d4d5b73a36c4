//! Comments of a kernel. They are no tokens, so they are read from the source text of its blocks;
//! where the compiler has no text of a block, or another one than its tokens (a kernel that a macro
//! writes), there are none.

use quote::ToTokens;
use syn::{Block, Stmt};

/// The comment in front of each statement of `block`: lines without their slashes, empty if there
/// is none.
pub fn of(block: &Block) -> Vec<String> {
    let text = block.brace_token.span.join().source_text();
    let found = text.filter(|text| text.contains("//")).and_then(|text| {
        let inside = text.strip_prefix('{')?.strip_suffix('}')?;
        attach(inside, &block.stmts)
    });
    found.unwrap_or_else(|| vec![String::new(); block.stmts.len()])
}

/// The comments of `text` by statement. A place in the text and one in the tokens are the same if
/// as many characters that are no white space stand before it.
fn attach(text: &str, statements: &[Stmt]) -> Option<Vec<String>> {
    let (code, comments) = split(text)?;
    let mut place = 0;
    let (mut tokens, mut found) = (String::new(), Vec::new());
    for statement in statements {
        let own = comments.iter().filter(|(at, _)| *at == place).map(|(_, line)| line.as_str());
        found.push(own.collect::<Vec<_>>().join("\n"));
        let words = statement.to_token_stream().to_string();
        tokens.extend(words.chars().filter(|c| !c.is_whitespace()));
        place = tokens.len();
    }
    (code == tokens).then_some(found)
}

/// The text without comments and white space, and each comment that has a line of its own, with the
/// length of what stands before it. Nothing if the text has doc comments, which are tokens.
fn split(text: &str) -> Option<(String, Vec<(usize, String)>)> {
    let (mut code, mut comments) = (String::new(), Vec::new());
    let (mut rest, mut starts_line) = (text, true);
    while let Some(c) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("//") {
            if comment.starts_with(['/', '!']) {
                return None;
            }
            let end = comment.find('\n').unwrap_or(comment.len());
            if starts_line {
                comments.push((code.len(), comment[..end].trim().to_string()));
            }
            rest = &comment[end..];
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/")?.1;
            starts_line = false;
        } else if c == '"' {
            let end = string_end(rest)?;
            code.extend(rest[..end].chars().filter(|c| !c.is_whitespace()));
            rest = &rest[end..];
            starts_line = false;
        } else {
            starts_line = c == '\n' || (starts_line && c.is_whitespace());
            code.extend(Some(c).filter(|c| !c.is_whitespace()));
            rest = &rest[c.len_utf8()..];
        }
    }
    Some((code, comments))
}

/// Length of the string literal at the start of `text`.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return Some(at + 1),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attached(text: &str) -> Option<Vec<String>> {
        let block: Block = syn::parse_str(&format!("{{{text}}}")).unwrap();
        attach(text, &block.stmts)
    }

    #[test]
    fn a_comment_belongs_to_the_statement_behind_it() {
        let text = "
            // First,
            //  in two lines.
            let a = self.x.val() & 3; // beside
            self.y.next = a;

            /* block */ // inside
            // Then
            if a == 1 {
                // within
                self.z.next = \"// no comment\";
            } // end
        ";
        assert_eq!(attached(text).unwrap(), ["First,\nin two lines.", "", "Then"]);
    }

    #[test]
    fn text_that_is_not_that_of_the_tokens_gives_none() {
        let block: Block = syn::parse_str("{ self.y.next = true; }").unwrap();
        assert_eq!(attach("// A comment\n self.y.next = $value;", &block.stmts), None);
        assert_eq!(attached("/// Doc\n let a = 1;"), None);
        assert_eq!(attached("self.y.next = true;").unwrap(), [""]);
    }
}
