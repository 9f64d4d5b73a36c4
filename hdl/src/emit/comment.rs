//! Doc comments of Rust as comments of Verilog.

/// Widest line of prose.
pub const COLUMNS: usize = 100;

/// Fewest columns that a comment beside a port needs; a longer one with less room stands above the
/// port.
const ROOM: usize = 36;

/// Whether `text` is the path of an item of Rust, such as `a::Name` or `Name`.
fn is_path(text: &str) -> bool {
    let name = text.trim_end_matches("()").trim_end_matches('!');
    !name.is_empty()
        && name.split("::").all(|part| {
            !part.starts_with(|c: char| c.is_ascii_digit())
                && !part.is_empty()
                && part.chars().all(|c| c.is_alphanumeric() || c == '_')
        })
}

/// `a::b::Name::new` as `Name::new`: the modules say nothing to a reader of Verilog.
fn without_modules(path: &str) -> &str {
    let mut rest = path;
    while let Some((first, after)) = rest.split_once("::") {
        if !first.starts_with(|c: char| c.is_ascii_lowercase()) {
            break;
        }
        rest = after;
    }
    rest
}

/// The text of a link or of a code span, which may be a path.
fn shown(text: &str) -> String {
    let code = text.strip_prefix('`').and_then(|t| t.strip_suffix('`'));
    match code {
        Some(code) if is_path(code) => format!("`{}`", without_modules(code)),
        None if is_path(text) => without_modules(text).to_string(),
        _ => text.to_string(),
    }
}

/// What stands in brackets at the start of `text`, and the rest.
fn bracketed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let inside = text.strip_prefix(open)?;
    let end = inside.find([open, close])?;
    let rest = inside[end..].strip_prefix(close)?;
    Some((&inside[..end], rest))
}

/// The link at the start of `text`: what it shows, and the rest. An index such as `[7:0]` is no
/// link.
fn link(text: &str) -> Option<(String, &str)> {
    let (inside, rest) = bracketed(text, '[', ']')?;
    if let Some((_, after)) = bracketed(rest, '(', ')') {
        return Some((shown(inside), after));
    }
    if let Some((_, after)) = bracketed(rest, '[', ']').filter(|(target, _)| !target.contains(':')) {
        return Some((shown(inside), after));
    }
    let code = inside.len() > 2 && inside.starts_with('`') && inside.ends_with('`');
    let named = is_path(inside) && inside.contains(|c: char| c.is_ascii_lowercase() || c == ':');
    (code || named).then(|| (shown(inside), rest))
}

/// A line that says where a link leads: `[text]: path`.
fn is_target(line: &str) -> bool {
    bracketed(line.trim(), '[', ']').is_some_and(|(_, rest)| {
        rest.strip_prefix(": ").is_some_and(|to| {
            !to.contains(' ') && (to.contains("::") || to.contains("//") || to.contains('#'))
        })
    })
}

/// `doc` without the links of rustdoc: their text stands alone. Indices and code keep their
/// brackets.
pub fn plain(doc: &str) -> String {
    let lines: Vec<&str> = doc.lines().filter(|line| !is_target(line)).collect();
    let doc = lines.join("\n");
    let mut text = String::new();
    let mut rest = doc.as_str();
    while let Some(at) = rest.find(['[', '`']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_index = text.ends_with(|c: char| c.is_alphanumeric() || "_])`".contains(c));
        if let Some((shown, after)) = link(rest).filter(|_| !is_index) {
            text.push_str(&shown);
            rest = after;
            continue;
        }
        // A code span as a whole, or the one character.
        let code = rest.strip_prefix('`').and_then(|code| code.find('`')).map(|end| end + 2);
        let taken = code.unwrap_or(1);
        text.push_str(&shown(&rest[..taken]));
        rest = &rest[taken..];
    }
    text + rest
}

/// `text` in lines of at most `width` characters, if its words allow it.
pub fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// The characters of the mark that makes `text` an item of a list, and of the space behind it:
/// `- `, `* `, `12. ` or `12) `.
fn mark(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_item = match digits {
        0 => text.starts_with("- ") || text.starts_with("* "),
        _ => text[digits..].starts_with(". ") || text[digits..].starts_with(") "),
    };
    if is_item {
        digits.max(1) + usize::from(digits > 0) + 1
    } else {
        0
    }
}

/// `text` as comment lines that begin with `indent`. What a line of the text begins with is kept,
/// and lines are only broken where they are too long; what follows of an item of a list then stands
/// under its text.
pub fn lines(text: &str, indent: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let whole = format!("{indent}// {line}");
        if whole.chars().count() <= COLUMNS {
            out.push(whole.trim_end().to_string());
            continue;
        }
        let start = line.len() - line.trim_start().len();
        let (mark, item) = line[start..].split_at(mark(&line[start..]));
        let head = format!("{indent}// {}", &line[..start]);
        let under = " ".repeat(mark.len());
        let room = COLUMNS.saturating_sub(head.chars().count() + mark.len());
        let before = |i: usize| if i == 0 { mark } else { &under };
        let parts = fold(item, room).into_iter().enumerate();
        out.extend(parts.map(|(i, part)| format!("{head}{}{part}", before(i))));
    }
    out
}

/// The comment of a statement at this indentation: its lines as they are, or folded anew if one is
/// too long.
pub fn of_statement(text: &str, indent: &str) -> Vec<String> {
    let text = plain(text);
    let room = COLUMNS.saturating_sub(indent.len() + 3);
    if text.lines().all(|line| line.chars().count() <= room) {
        lines(&text, indent)
    } else {
        lines(&fold(&text, room).join("\n"), indent)
    }
}

/// `declaration` with `comment` beside it, in as many lines as it needs, or above it where there is
/// no room beside it.
pub fn beside(declaration: &str, comment: &str) -> Vec<String> {
    if comment.is_empty() {
        return vec![declaration.trim_end().to_string()];
    }
    let column = declaration.chars().count() + 2;
    let room = COLUMNS.saturating_sub(column + 3);
    if room < ROOM && comment.chars().count() > room {
        let indent = declaration.len() - declaration.trim_start().len();
        let mut all = lines(comment, &declaration[..indent]);
        all.push(declaration.trim_end().to_string());
        return all;
    }
    let parts = fold(comment, room).into_iter().enumerate();
    let before = |i: usize| if i == 0 { format!("{declaration}  ") } else { " ".repeat(column) };
    parts.map(|(i, part)| format!("{}// {part}", before(i))).collect()
}

/// The first sentence of a doc comment, in one line and without marks of code.
pub fn first_sentence(doc: &str) -> Option<String> {
    let doc = plain(doc);
    let first = doc.split("\n\n").next().unwrap_or("").replace('\n', " ");
    let mut end = first.len();
    for (at, _) in first.match_indices(". ") {
        if !["e.g", "i.e", "cf"].iter().any(|short| first[..at].ends_with(short)) {
            end = at;
            break;
        }
    }
    let sentence = first[..end].trim().trim_end_matches('.').replace('`', "");
    (!sentence.is_empty()).then_some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_their_text() {
        let cases = [
            ("See [`Name`].", "See `Name`."),
            ("See [`crate::a::Name::new`] too", "See `Name::new` too"),
            ("As [the page](../docs/page.md) says", "As the page says"),
            ("As [the page][page] says", "As the page says"),
            ("A [Name] and [a::Other]", "A Name and Other"),
            ("`crate::a::Name` in code", "`Name` in code"),
            ("Bits [7:0] of x[i], word [N] of `a[i](b)`", "Bits [7:0] of x[i], word [N] of `a[i](b)`"),
            ("A sum [1] and `open", "A sum [1] and `open"),
            ("One.\n\n[page]: https://example.org/", "One.\n"),
        ];
        for (doc, text) in cases {
            assert_eq!(plain(doc), text);
        }
    }

    #[test]
    fn first_sentences_are_whole_however_long() {
        let long = "word ".repeat(40);
        assert_eq!(first_sentence(&format!("{long}\nend. More")), Some(format!("{long} end")));
        assert_eq!(first_sentence("Bits, e.g. `x`. More"), Some("Bits, e.g. x".to_string()));
        assert_eq!(first_sentence("\n"), None);
    }

    #[test]
    fn long_comments_are_broken_at_100_columns() {
        let comment = "word ".repeat(30);
        let beside_port = beside("    input  wire clk,", &comment);
        assert!(beside_port.len() > 1 && beside_port[0].starts_with("    input  wire clk,  // word word"));
        assert!(beside_port[1].starts_with(&format!("{}// word", " ".repeat(22))));
        let name = "n".repeat(70);
        let above = beside(&format!("    input  wire {name},"), &comment);
        assert!(above[0].starts_with("    // word") && above.last().unwrap().ends_with(&format!("{name},")));
        for line in beside_port.iter().chain(&above) {
            assert!(line.len() <= COLUMNS, "{line}");
        }
        assert_eq!(lines("- item\n\nend", ""), ["// - item", "//", "// end"]);
        assert_eq!(lines(&format!("  {comment}"), "").len(), 2);
    }

    #[test]
    fn folded_items_stand_under_their_text() {
        let comment = "word ".repeat(30);
        for (mark, under) in [("- ", "  "), ("  - ", "    "), ("12. ", "    "), ("1) ", "   "), ("1.5 ", "")]
        {
            let folded = lines(&format!("{mark}{comment}"), "    ");
            assert_eq!(folded.len(), 2, "{folded:?}");
            assert!(folded[0].starts_with(&format!("    // {mark}word")), "{folded:?}");
            assert!(folded[1].starts_with(&format!("    // {under}word")), "{folded:?}");
            assert!(folded.iter().all(|line| line.len() <= COLUMNS), "{folded:?}");
        }
    }
}
