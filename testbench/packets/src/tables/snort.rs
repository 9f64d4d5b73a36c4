//! Patterns from rules in the syntax of Snort 2, Snort 3 and Suricata.
//!
//! A rule's pattern is one of its `content` strings: that with `fast_pattern`, otherwise the
//! longest, as Snort itself chooses the string with which it looks for candidates. What else a rule
//! asks for is not evaluated, but counted by option, so that nobody takes a match for an alert of
//! Snort. Rules that give no pattern are left out, and named.

use std::collections::BTreeMap;
use std::path::Path;

use super::input::{self, InputError};
use super::snort_rule::{rules, Rule, Setting};
use crate::input::decimal;

/// Options that do not say which packets match.
const REMARKS: [&str; 10] =
    ["msg", "sid", "rev", "gid", "classtype", "reference", "metadata", "priority", "fast_pattern", "rem"];
/// Protocols whose packets have the contents of a rule in their payload. Other names are those of
/// services, whose rules look into what the service decodes.
const PROTOCOLS: [&str; 12] =
    ["tcp", "udp", "icmp", "ip", "ipv4", "ipv6", "ip4", "ip6", "icmpv4", "icmpv6", "tcp-pkt", "tcp-stream"];

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
    /// Rules that give no pattern, by the reason: `sid N`, or `line N` of one without a number.
    pub left_out: BTreeMap<String, Vec<String>>,
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
            let left_out: String = set.reasons(2).iter().map(|reason| format!("; {reason}")).collect();
            return Err(InputError::file(
                path,
                format!("no rule with a content of {shortest} bytes or more{left_out}"),
            ));
        }
        Ok(set)
    }

    /// The patterns in a text. Comments and rules that are commented out are skipped; a rule may go
    /// over several lines.
    ///
    /// # Errors
    /// The number of the line where the first bad rule begins, and what is wrong with it.
    pub fn parse(text: &str, shortest: usize) -> Result<Self, (usize, String)> {
        let mut set = Self::default();
        for rule in rules(text)? {
            set.add(&rule, shortest).map_err(|problem| (rule.line, problem))?;
        }
        Ok(set)
    }

    /// Each reason for which rules were left out, with their number and the names of the first
    /// `most` of them.
    #[must_use]
    pub fn reasons(&self, most: usize) -> Vec<String> {
        let reason = |(reason, rules): (&String, &Vec<String>)| {
            let (count, plural) = (rules.len(), if rules.len() == 1 { "" } else { "s" });
            let mut names = rules[..count.min(most)].join(", ");
            if count > most {
                names += &format!(" and {} more", count - most);
            }
            format!("{count} rule{plural} left out, {reason}: {names}")
        };
        self.left_out.iter().map(reason).collect()
    }

    fn add(&mut self, rule: &Rule, shortest: usize) -> Result<(), String> {
        let contents = Contents::of(&rule.options)?;
        let mut ignored = contents.ignored;
        let mut candidates: Vec<_> = contents.contents.iter().filter(|c| c.bytes.len() >= shortest).collect();
        candidates.sort_by_key(|c| (std::cmp::Reverse(c.fast), std::cmp::Reverse(c.bytes.len())));
        let reason = match candidates.first() {
            _ if !PROTOCOLS.contains(&rule.protocol.as_str()) => {
                format!("of the service {}", rule.protocol)
            }
            None if contents.contents.is_empty() => "without a content".to_string(),
            None => format!("with no content of {shortest} bytes or more"),
            Some(Content { bytes, nocase, .. }) => {
                if contents.contents.len() > 1 {
                    ignored.push("further content".into());
                }
                self.patterns.push(Pattern { bytes: bytes.clone(), nocase: *nocase, sid: contents.sid });
                ignored.sort();
                ignored.dedup();
                for option in ignored {
                    *self.not_evaluated.entry(option).or_insert(0) += 1;
                }
                return Ok(());
            }
        };
        let name = contents.sid.map_or_else(|| format!("line {}", rule.line), |sid| format!("sid {sid}"));
        self.left_out.entry(reason).or_default().push(name);
        Ok(())
    }
}

/// A `content` that must occur.
struct Content {
    bytes: Vec<u8>,
    nocase: bool,
    fast: bool,
}

/// What the options of a rule say of its contents.
#[derive(Default)]
struct Contents {
    contents: Vec<Content>,
    sid: Option<u32>,
    ignored: Vec<String>,
}

impl Contents {
    fn of(options: &[Setting]) -> Result<Self, String> {
        let mut found = Self::default();
        // Whether modifiers belong to the last of `contents`, and not to a content that must not
        // occur.
        let mut positive = false;
        for option in options {
            match option.name.as_str() {
                "content" => positive = found.content(option)?,
                name => found.option(name, &option.value, positive)?,
            }
        }
        Ok(found)
    }

    /// `content:[!]"..."` with the modifiers that Snort 3 writes behind a comma. Whether it must
    /// occur.
    fn content(&mut self, option: &Setting) -> Result<bool, String> {
        let Setting { negated, text, value, .. } = option;
        let text = text.as_ref().ok_or_else(|| format!("content `{value}`: expected a string in quotes"))?;
        let bytes = bytes(text)?;
        if *negated {
            self.ignored.push("negated content".into());
        } else {
            self.contents.push(Content { bytes, nocase: false, fast: false });
        }
        for modifier in value.split(',').map(str::trim).filter(|modifier| !modifier.is_empty()) {
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
                let sid = decimal(value).ok_or_else(|| format!("sid `{value}`: expected a number"))?;
                self.sid = Some(sid);
            }
            _ if REMARKS.contains(&name) => {}
            _ => self.ignored.push(name.to_string()),
        }
        Ok(())
    }
}

/// The bytes of a content string: text with `|hex|` parts, in which white space does not count; `\`
/// before `"`, `\`, `;`, `:` and `|`.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let wrong = |problem: &str| format!("content \"{text}\": {problem}");
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '\\' => {
                let next = rest.chars().next().filter(|next| "\"\\;:|".contains(*next));
                let next = next.ok_or_else(|| wrong("expected one of \" \\ ; : | behind a backslash"))?;
                rest = &rest[1..];
                bytes.push(next as u8);
            }
            '|' => {
                let (hex, behind) = rest.split_once('|').ok_or_else(|| wrong("expected a second |"))?;
                rest = behind;
                let digits: Vec<u32> = hex
                    .chars()
                    .filter(|digit| !digit.is_whitespace())
                    .map(|digit| digit.to_digit(16))
                    .collect::<Option<_>>()
                    .filter(|digits: &Vec<_>| digits.len() % 2 == 0)
                    .ok_or_else(|| wrong(&format!("`{hex}`: expected pairs of hexadecimal digits")))?;
                bytes.extend(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8));
            }
            _ => bytes.extend(character.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    if bytes.is_empty() {
        return Err(wrong("expected at least one byte"));
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
        assert_eq!(set.patterns.len(), 2);
        assert_eq!(set.reasons(9), ["1 rule left out, without a content: line 5"]);
        let counted: Vec<_> = set.not_evaluated.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(
            counted,
            [("depth", 2), ("flow", 1), ("further content", 1), ("negated content", 1), ("pcre", 1)]
        );
        assert_eq!(
            PatternSet::parse(&text, 3).unwrap().reasons(1),
            [
                "2 rules left out, with no content of 3 bytes or more: line 2 and 1 more",
                "1 rule left out, without a content: line 5"
            ]
        );
    }

    /// The patterns as text, and why rules were left out.
    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let set = PatternSet::parse(text, 1).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let show =
            |p: &Pattern| format!("{}{}", p.bytes.escape_ascii(), if p.nocase { " nocase" } else { "" });
        (set.patterns.iter().map(show).collect(), set.reasons(9))
    }

    #[test]
    fn spaces_and_quotes() {
        let bytes = |content: &str| read(&rule(&format!("content:{content}; sid:1;"))).0.concat();
        assert_eq!(bytes(r#""Host|3 a20|x""#), "Host: x");
        assert_eq!(bytes(r#""|0D0A|a| 0 d 0 a |""#), "\\r\\na\\r\\n");
        assert_eq!(bytes(r#""a;b)c,d""#), "a;b)c,d");
        assert_eq!(bytes(r#" ! "no" , nocase; content : "yes" , nocase"#), "yes nocase");
        for pcre in [r#""/a"b/""#, r#""/["']+x=";y/Ri""#, r#""/a\"/""#, r#"!"/("|')/s""#, r#""/";/""#] {
            let (patterns, _) = read(&rule(&format!(r#"pcre:{pcre}; content:"abc"; sid:1;"#)));
            assert_eq!(patterns, ["abc"], "{pcre}");
        }
        assert_eq!(read(&rule(r#"msg:"a "word" here"; content:"abc"; sid:1;"#)).0, ["abc"]);
        assert_eq!(read(&rule(r#"content:"abc"; sid:1"#)).0, ["abc"], "no semicolon at the end");
        let (patterns, _) = read(
            "alert tcp [10.0.0.0/8, ![10.1.0.0/16, 10.2.0.0/16]] any -> ! $X [80, 443] (content:\"a\";)",
        );
        assert_eq!(patterns, ["a"]);
    }

    #[test]
    fn rules_of_snort_3() {
        let text = r#"
# alert tcp any any -> any any (content:"disabled";)
block tcp any any -> any 80
(
    msg:"over lines"; # why
    flow:to_server,
        established;
    content:"first", nocase, depth 9;
    /* content:"not this one"; */
    sid:1; rev:2;
)
alert tcp ( content:"header"; sid:2; )
alert http ( msg:"service"; content:"abcd"; sid:3; )
alert file (content:"PK"; sid:4;)
alert http (content:"abcd"; gid:1;)
#begin
alert udp (content:"skipped";)
#end
react udp any any <> any any (content:"both"; sid:5;) rewrite ip any any -> any any (content:"same line"; sid:6;)
"#;
        let (patterns, left_out) = read(text);
        assert_eq!(patterns, ["first nocase", "header", "both", "same line"]);
        assert_eq!(
            left_out,
            [
                "1 rule left out, of the service file: sid 4",
                "2 rules left out, of the service http: sid 3, line 15"
            ]
        );
    }

    #[test]
    fn rules_of_suricata() {
        let text = concat!(
            r#"alert http $HOME_NET any -> $EXTERNAL_NET any (msg:"ET MALWARE x"; flow:established,to_server; "#,
            r#"http.uri; content:"/gate.php"; startswith; pcre:"/^\/[a-z]{2}"/U"; sid:2000001; rev:1;)"#,
            "\r\n",
            r#"drop tcp-pkt any any -> [$HOME_NET,!10.0.0.1] [1024:, !5000] (msg:"ET y"; content:"|de ad be ef|"; "#,
            r#"metadata:created_at 2020_01_01, updated_at 2020_01_02; reference:url,x.org/a(b); sid:2000002;)"#,
            "\r\n",
            r#"rejectboth tls any any -> any any (tls.sni; content:"x.org"; sid:2000003;)"#,
        );
        let (patterns, left_out) = read(text);
        assert_eq!(patterns, ["\\xde\\xad\\xbe\\xef"]);
        assert_eq!(
            left_out,
            [
                "1 rule left out, of the service http: sid 2000001",
                "1 rule left out, of the service tls: sid 2000003"
            ]
        );
    }

    #[test]
    fn lines_that_go_on() {
        let text = "alert tcp any any \\\n  -> any any \\\r\n ( msg:\"a \\\n   b\"; content:\"a\\\n  b\"; \\\n sid:1;)\n\
                    alert tcp any any -> any any (sid:+2; content:\"c\";)";
        let (line, problem) = PatternSet::parse(text, 1).unwrap_err();
        assert_eq!((line, problem.as_str()), (7, "sid `+2`: expected a number"));
        assert_eq!(read(&text.replace('+', "")).0, ["ab", "c"]);
    }

    #[test]
    fn files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.rules");
        std::fs::write(&path, format!("\u{feff}{}\n", rule("content:\"abcd\"; sid:1;"))).unwrap();
        assert_eq!(PatternSet::read(&path, 1).unwrap().patterns.len(), 1);
        std::fs::write(&path, "alert dns (content:\"abcd\"; sid:9;)\n").unwrap();
        let error = PatternSet::read(&path, 1).unwrap_err().to_string();
        let expected =
            "no rule with a content of 1 bytes or more; 1 rule left out, of the service dns: sid 9";
        assert!(error.ends_with(expected), "{error}");
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
            (rule("content:\"abc|\";"), "expected a second |"),
            (rule("content:\"|\";"), "expected a second |"),
            (rule("content:\"a|+1|\";"), "`+1`: expected pairs of hexadecimal digits"),
            (rule("content:\"a\"b\";"), "content: expected ; or , behind the closing quote"),
            (rule("content:\"a\" nocase;"), "content: expected ; or , behind the closing quote"),
            (rule("nocase depth:3;"), "`nocase depth:3`: expected an option"),
            (rule("flow:established\n content:\"a\";"), "flow: expected ; at the end of `established`"),
            (rule("sid:-5;"), "sid `-5`: expected a number"),
            ("alert tcp any any - any any (content:\"a\";)".to_string(), "`-`: expected one of ->"),
            ("alert tcp [80, any -> any any (content:\"a\";)".to_string(), "expected `]`"),
            ("alert tcp any any -> any any (content:\"a\";".to_string(), "expected `)` at the end"),
            (
                "alert tcp any any -> any any\nalert tcp any any -> any any (sid:1;)".to_string(),
                "expected options in",
            ),
            ("/* alert".to_string(), "`/*`: expected `*/`"),
            (rule("content:\"\";"), "expected at least one byte"),
            (rule("content:\"\\x\";"), "behind a backslash"),
            (rule("sid:x;"), "sid `x`: expected a number"),
        ] {
            let (number, problem) = PatternSet::parse(&format!("# first\n{line}\n"), 1).unwrap_err();
            assert!(number == 2 && problem.contains(expected), "{line}: {problem}");
        }
    }
}
