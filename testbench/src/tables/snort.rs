//! Patterns from rules in the syntax of Snort 2.
//!
//! A rule's pattern is one of its `content` strings: that with `fast_pattern`, otherwise the
//! longest, as Snort itself chooses the string with which it looks for candidates. What else a rule
//! asks for is not evaluated, but counted by option, so that nobody takes a match for an alert of
//! Snort.

use std::collections::BTreeMap;
use std::path::Path;

use super::input::{self, InputError};

/// What a rule begins with.
const ACTIONS: [&str; 8] = ["alert", "log", "pass", "drop", "reject", "sdrop", "activate", "dynamic"];
/// Options that do not say which packets match.
const REMARKS: [&str; 9] =
    ["msg", "sid", "rev", "gid", "classtype", "reference", "metadata", "priority", "fast_pattern"];

/// A pattern to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The bytes; at least one.
    pub bytes: Vec<u8>,
    /// Whether upper and lower case of ASCII letters are the same.
    pub nocase: bool,
    /// The rule's number in the file's syntax (`sid`), if it has one.
    pub sid: Option<u32>,
}

/// The patterns of a rule file. A pattern's number is its place in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatternSet {
    /// The patterns in the order of the rules.
    pub patterns: Vec<Pattern>,
    /// Rules without a pattern that can be searched for.
    pub without_pattern: usize,
    /// Rules that have each of the options that are not evaluated.
    pub not_evaluated: BTreeMap<String, usize>,
}

impl PatternSet {
    /// Reads a rule file, which may be compressed with gzip. Patterns have at least `shortest`
    /// bytes.
    ///
    /// # Errors
    /// The file cannot be read, has a bad line, or has no pattern.
    pub fn read(path: &Path, shortest: usize) -> Result<Self, InputError> {
        let text = input::read_text(path)?;
        let set = Self::parse(&text, shortest);
        let set = set.map_err(|(line, problem)| InputError::line(path, line, problem))?;
        if set.patterns.is_empty() {
            return Err(InputError::file(
                path,
                format!("no rule with a content of {shortest} bytes or more"),
            ));
        }
        Ok(set)
    }

    /// The patterns in a text. Comments and rules that are commented out are skipped; a line that
    /// ends with a backslash goes on in the next one.
    ///
    /// # Errors
    /// The number of the first bad line, and what is wrong with it.
    pub fn parse(text: &str, shortest: usize) -> Result<Self, (usize, String)> {
        let mut set = Self::default();
        let mut lines = (1..).zip(text.lines());
        while let Some((number, first)) = lines.next() {
            let mut line = first.trim().to_string();
            while line.ends_with('\\') && !line.starts_with('#') {
                line.pop();
                let Some((_, more)) = lines.next() else { break };
                line += more.trim();
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            set.add(&line, shortest).map_err(|problem| (number, problem))?;
        }
        Ok(set)
    }

    fn add(&mut self, line: &str, shortest: usize) -> Result<(), String> {
        let action = line.split_whitespace().next().unwrap_or_default();
        if !ACTIONS.contains(&action) {
            return Err(format!(
                "`{action}`: expected a rule, which begins with one of {}",
                ACTIONS.join(", ")
            ));
        }
        let (header, options) = line.split_once('(').ok_or("expected options in parentheses")?;
        let options = options.strip_suffix(')').ok_or("expected `)` at the end of the rule")?;
        let fields = header.split_whitespace().count();
        if fields != 7 {
            return Err(format!("{fields} fields before the options; expected action, protocol, address, port, direction, address, port"));
        }
        let rule = Rule::parse(options)?;
        let mut ignored = rule.ignored;
        let mut candidates: Vec<_> = rule.contents.iter().filter(|c| c.bytes.len() >= shortest).collect();
        candidates.sort_by_key(|c| (std::cmp::Reverse(c.fast), std::cmp::Reverse(c.bytes.len())));
        match candidates.first() {
            None => self.without_pattern += 1,
            Some(Content { bytes, nocase, .. }) => {
                if rule.contents.len() > 1 {
                    ignored.push("further content".into());
                }
                self.patterns.push(Pattern { bytes: bytes.clone(), nocase: *nocase, sid: rule.sid });
                ignored.sort();
                ignored.dedup();
                for option in ignored {
                    *self.not_evaluated.entry(option).or_insert(0) += 1;
                }
            }
        }
        Ok(())
    }
}

/// A `content` that must occur.
struct Content {
    bytes: Vec<u8>,
    nocase: bool,
    fast: bool,
}

#[derive(Default)]
struct Rule {
    contents: Vec<Content>,
    sid: Option<u32>,
    ignored: Vec<String>,
}

impl Rule {
    fn parse(options: &str) -> Result<Self, String> {
        let mut rule = Self::default();
        // Whether modifiers belong to the last of `contents`, and not to a content that must not
        // occur.
        let mut positive = false;
        for option in split(options, ';')? {
            let (name, value) = option.split_once(':').unwrap_or((option, ""));
            let (name, value) = (name.trim(), value.trim());
            if name == "content" {
                positive = rule.content(value)?;
            } else {
                rule.option(name, value, positive)?;
            }
        }
        Ok(rule)
    }

    /// `content:[!]"..."` with the modifiers that Snort 3 writes behind a comma. Whether it must
    /// occur.
    fn content(&mut self, value: &str) -> Result<bool, String> {
        let parts = split(value, ',')?;
        let (text, modifiers) = parts.split_first().ok_or("content: expected a string in quotes")?;
        let (negated, quoted) = match text.strip_prefix('!') {
            Some(rest) => (true, rest.trim()),
            None => (false, *text),
        };
        let bytes = unquote(quoted)?;
        if negated {
            self.ignored.push("negated content".into());
        } else {
            self.contents.push(Content { bytes, nocase: false, fast: false });
        }
        for modifier in modifiers {
            let name = modifier.split([' ', ':']).next().unwrap_or_default();
            self.option(name, "", !negated)?;
        }
        Ok(!negated)
    }

    fn option(&mut self, name: &str, value: &str, positive: bool) -> Result<(), String> {
        match (name, self.contents.last_mut().filter(|_| positive)) {
            ("nocase", Some(content)) => content.nocase = true,
            ("fast_pattern", Some(content)) => content.fast = true,
            // Of a content that must not occur, and is not evaluated itself.
            ("nocase" | "fast_pattern", None) => {}
            ("sid", _) => {
                let sid = value.parse().map_err(|_| format!("sid `{value}`: expected a number"))?;
                self.sid = Some(sid);
            }
            _ if REMARKS.contains(&name) => {}
            _ => self.ignored.push(name.to_string()),
        }
        Ok(())
    }
}

/// The parts of `text` between separators that are not in quotes, without those that are empty.
fn split(text: &str, separator: char) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => {
                parts.push(text[start..at].trim());
                start = at + character.len_utf8();
            }
            _ => {}
        }
    }
    if quoted {
        return Err("expected a closing quote".into());
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    Ok(parts)
}

/// The bytes of a content string: text with `|hex|` parts; `\` before `"`, `\`, `;`, `:` and `|`.
fn unquote(quoted: &str) -> Result<Vec<u8>, String> {
    let text = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let text = text.ok_or_else(|| format!("content `{quoted}`: expected a string in quotes"))?;
    let mut bytes = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                let next = characters.next().filter(|next| "\"\\;:|".contains(*next));
                let next = next.ok_or_else(|| {
                    format!("content {quoted}: expected one of \" \\ ; : | behind a backslash")
                })?;
                bytes.push(next as u8);
            }
            '|' => {
                let hex: String = characters.by_ref().take_while(|c| *c != '|').collect();
                for pair in hex.split_whitespace() {
                    let digits = pair.as_bytes().chunks(2);
                    for digits in digits {
                        let byte = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 2);
                        let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                        bytes.push(byte.ok_or_else(|| {
                            format!("content {quoted}: `{pair}`: expected pairs of hexadecimal digits")
                        })?);
                    }
                }
                let closed = text[..text.len() - characters.as_str().len()].ends_with('|');
                if !closed {
                    return Err(format!("content {quoted}: expected a second |"));
                }
            }
            _ => bytes.extend(character.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    if bytes.is_empty() {
        return Err("content \"\": expected at least one byte".into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(options: &str) -> String {
        format!("alert tcp $EXTERNAL_NET any -> $HOME_NET 80 ({options})")
    }

    fn pattern(options: &str) -> Pattern {
        PatternSet::parse(&rule(options), 1).unwrap().patterns[0].clone()
    }

    #[test]
    fn contents() {
        let options =
            r#"msg:"a; \"quoted\" (message)"; content:"GetInfo|0D 0a|\;x"; nocase; sid:110; rev:4;"#;
        let expected = Pattern { bytes: b"GetInfo\r\n;x".to_vec(), nocase: true, sid: Some(110) };
        assert_eq!(pattern(options), expected);
        assert_eq!(pattern(r#"content:"ab"; nocase; content:"longest"; content:"c";"#).bytes, b"longest");
        assert!(!pattern(r#"content:"ab"; nocase; content:"longest";"#).nocase);
        assert_eq!(pattern(r#"content:"ab"; fast_pattern:only; content:"longest";"#).bytes, b"ab");
        assert_eq!(pattern(r#"content:!"longest"; nocase; content:"ab";"#).bytes, b"ab");
        let snort_3 = pattern(r#"content:"ab|7c 0102|", nocase, depth 5; sid:7;"#);
        assert_eq!((snort_3.bytes, snort_3.nocase), (b"ab|\x01\x02".to_vec(), true));
    }

    #[test]
    fn what_is_not_evaluated_is_counted() {
        let text = [
            "# alert tcp any any -> any any (content:\"disabled\";)".to_string(),
            rule(r#"content:"ab"; depth:2; depth:3; pcre:"/a;b/"; content:!"c";"#),
            rule(r#"flow:established; content:"ab"; \"#),
            r#" content:"cd"; depth:4;)"#.to_string(),
            rule(r#"msg:"nothing to search for"; dsize:>10;"#),
        ]
        .join("\n")
        .replace("\\)", "\\");
        let set = PatternSet::parse(&text, 1).unwrap();
        assert_eq!((set.patterns.len(), set.without_pattern), (2, 1));
        let counted: Vec<_> = set.not_evaluated.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(
            counted,
            [("depth", 2), ("flow", 1), ("further content", 1), ("negated content", 1), ("pcre", 1)]
        );
        assert_eq!(PatternSet::parse(&text, 3).unwrap().without_pattern, 3);
    }

    #[test]
    fn bad_lines() {
        for (line, expected) in [
            ("include other.rules".to_string(), "`include`: expected a rule"),
            ("alert tcp any any -> any any".to_string(), "expected options in parentheses"),
            ("alert tcp any any -> any (content:\"a\";)".to_string(), "6 fields before the options"),
            (rule("content:\"a;"), "expected a closing quote"),
            (rule("content:abc;"), "content `abc`: expected a string in quotes"),
            (rule("content:\"a|0g|\";"), "`0g`: expected pairs of hexadecimal digits"),
            (rule("content:\"a|0d0|\";"), "`0d0`: expected pairs of hexadecimal digits"),
            (rule("content:\"a|0d\";"), "expected a second |"),
            (rule("content:\"\";"), "expected at least one byte"),
            (rule("content:\"\\x\";"), "behind a backslash"),
            (rule("sid:x;"), "sid `x`: expected a number"),
        ] {
            let (number, problem) = PatternSet::parse(&format!("# first\n{line}\n"), 1).unwrap_err();
            assert!(number == 2 && problem.contains(expected), "{line}: {problem}");
        }
    }
}
