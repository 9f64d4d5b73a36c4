//! Rules in the forms of Snort 2, Snort 3 and Emerging Threats, with all the freedom that the
//! syntax gives: white space, line ends, comments, hexadecimal digits, quotes, lists.

use hermes_testbench::tables::PatternSet;
use rand::Rng;

use super::{each, one};

/// What the rules of a file are.
#[derive(Default)]
struct Expected {
    patterns: Vec<(Vec<u8>, bool, Option<u32>)>,
    /// How many rules are left out.
    left_out: usize,
}

/// White space between two parts: anything in Snort 3; in Snort 2 a rule stays in its line, but for
/// backslashes.
fn space(random: &mut impl Rng, lines: bool) -> &'static str {
    let all = ["", " ", "\t", " \\\n  ", " \\\r\n\t", "\n   ", "\r\n", " # why\n ", " /* not; this) */ "];
    one(random, &all[..if lines { all.len() } else { 5 }])
}

/// A content of these bytes in quotes, with some of them in hexadecimal.
fn quoted(random: &mut impl Rng, bytes: &[u8]) -> String {
    let (mut text, mut hex) = ("\"".to_string(), false);
    for byte in bytes {
        let printable = byte.is_ascii_graphic() || *byte == b' ';
        let wanted = !printable || random.gen_ratio(1, 4);
        if wanted != hex {
            text.push('|');
            hex = wanted;
        }
        if hex {
            let digits = if random.gen() { format!("{byte:02x}") } else { format!("{byte:02X}") };
            let blanks = [one(random, &["", " ", "  "]), one(random, &["", "", " "])];
            text += &format!("{}{}{}{}", blanks[0], &digits[..1], blanks[1], &digits[1..]);
        } else if b"\"\\;:|".contains(byte) {
            // A colon and a semicolon may stand alone.
            let alone = b":;".contains(byte) && random.gen();
            text += if alone { "" } else { "\\" };
            text.push(char::from(*byte));
        } else {
            text.push(char::from(*byte));
        }
    }
    text += if hex { "|\"" } else { "\"" };
    text
}

/// Options that are not evaluated, among them such as break a parser.
const OTHERS: [&str; 22] = [
    "msg:\"a; b (c) \\\"d\\\" e\"",
    "msg:\"content:|22|x|22|\"",
    "pcre:\"/a\"b;c/Ri\"",
    "pcre:\"/[\"']\\s*;/\"",
    "pcre:!\"/x\\\"/\"",
    "regex:\"/a[^\"]+\"/i\"",
    "pcre:\"m|^/x\\.php|Ui\"",
    "reference:url,example.org/a(b)?c=d",
    "metadata:policy balanced-ips drop, service http",
    "flow:to_server,established",
    "byte_test:1,&,0x80,0,relative",
    "dsize:>10",
    "threshold: type limit, track by_src, count 1, seconds 60",
    "classtype:trojan-activity",
    "rev:3",
    "http_uri",
    "http.uri",
    "pkt_data",
    "isdataat:!1,relative",
    "flowbits:set,a.b",
    "startswith",
    "content:!\"never this long a content\"",
];

fn rule(random: &mut impl Rng, expected: &mut Expected, lines: bool) -> String {
    let action = one(random, &["alert", "drop", "block", "pass", "reject", "rewrite", "react", "log"]);
    let service = random.gen_ratio(1, 5);
    let protocol = one(
        random,
        if service {
            &["http", "dns", "tls", "file", "smb"]
        } else {
            &["tcp", "udp", "ip", "icmp", "tcp-pkt"]
        },
    );
    let mut text = format!("{action} {protocol}");
    if !random.gen_ratio(1, 3) {
        for side in 0..2 {
            let address =
                one(random, &["any", "$HOME_NET", "![10.0.0.0/8, 192.0.2.1]", "[$A,$B, ! [10.1.0.0/16]]"]);
            let port = one(random, &["any", "80", "[80, 443,8000:8080]", "!$PORTS", "1024:"]);
            let direction = if side == 0 { one(random, &[" ->", " <>"]) } else { "" };
            text += &format!(" {address} {port}{direction}");
        }
    }
    text += space(random, lines);
    text += "(";
    let mut contents: Vec<(Vec<u8>, bool, bool)> = Vec::new();
    let sid = random.gen::<bool>().then(|| random.gen_range(1..1_000_000_u32));
    let mut options = Vec::new();
    for _ in 0..random.gen_range(0..4) {
        options.push(one(random, &OTHERS).to_string());
    }
    options.extend(sid.map(|sid| format!("sid{}:{}{sid}", space(random, false), space(random, false))));
    for _ in 0..random.gen_range(0..3) {
        let bytes: Vec<u8> = (0..random.gen_range(1..20)).map(|_| random.gen()).collect();
        // Lengths differ, so that the longest is one.
        if contents.iter().any(|(known, ..)| known.len() == bytes.len()) {
            continue;
        }
        let (nocase, fast) =
            (random.gen(), random.gen_ratio(1, 4) && !contents.iter().any(|content| content.2));
        let (modifiers, snort_3) = (
            [(nocase, "nocase"), (fast, "fast_pattern"), (random.gen(), "depth 9")]
                .into_iter()
                .filter(|m| m.0),
            random.gen::<bool>(),
        );
        let mut option = format!("content:{}{}", space(random, false), quoted(random, &bytes));
        for (_, modifier) in modifiers {
            let (between, modifier) =
                if snort_3 { (",", modifier.to_string()) } else { (";", modifier.replace(' ', ":")) };
            option += &format!("{}{between}{}{modifier}", space(random, false), space(random, false));
        }
        contents.push((bytes, nocase, fast));
        options.push(option);
    }
    for option in options {
        text += &format!("{}{option}{};", space(random, lines), space(random, false));
    }
    text += space(random, lines);
    text += ")";
    contents.sort_by_key(|(bytes, _, fast)| (!fast, usize::MAX - bytes.len()));
    match contents.into_iter().next() {
        Some((bytes, nocase, _)) if !service => expected.patterns.push((bytes, nocase, sid)),
        _ => expected.left_out += 1,
    }
    text
}

/// Ways to spoil a rule of one line, and a part of what is said of it.
const BROKEN: [(&str, &str); 8] = [
    ("alert tcp any any -> any any (content:\"abc|\"; sid:1;)", "expected a second |"),
    ("alert tcp any any -> any any (content:\"a|4+1|\"; sid:1;)", "expected pairs of hexadecimal digits"),
    ("alert tcp any any -> any any (content:\"abc\"; sid:+1;)", "sid `+1`: expected a number"),
    ("alert tcp any any -> any any (content:\"abc; sid:1;)", "expected a closing quote"),
    ("alert tcp any any -> any any (content:\"abc\" nocase; sid:1;)", "expected ; or ,"),
    ("alert tcp any any -> any any (nocase content:\"abc\"; sid:1;)", "expected an option"),
    ("alert tcp any any any any (content:\"abc\"; sid:1;)", "6 fields before the options"),
    ("allow tcp any any -> any any (content:\"abc\"; sid:1;)", "`allow`: expected a rule"),
];

pub fn test(count: usize) {
    let (mut rules, mut left_out) = (0, 0);
    each(count, |number, random| {
        let mut expected = Expected::default();
        let mut text = String::new();
        let lines = random.gen();
        for _ in 0..random.gen_range(1..8) {
            match random.gen_range(0..6) {
                0 => text += "# alert tcp any any -> any any (content:\"disabled\"; sid:9;)\n\n",
                1 if lines => text += "#begin\nnothing (\n#end\n",
                _ => {
                    text += &rule(random, &mut expected, lines);
                    text += one(random, &["\n", "\r\n", " \n\n"]);
                }
            }
        }
        let set =
            PatternSet::parse(&text, 1).unwrap_or_else(|error| panic!("file {number}: {error:?}\n{text}"));
        let patterns: Vec<_> =
            set.patterns.iter().map(|pattern| (pattern.bytes.clone(), pattern.nocase, pattern.sid)).collect();
        assert_eq!(patterns, expected.patterns, "file {number}\n{text}");
        assert_eq!(
            set.left_out.values().map(Vec::len).sum::<usize>(),
            expected.left_out,
            "file {number}\n{text}"
        );
        rules += patterns.len();
        left_out += expected.left_out;
        let (bad, part) = one(random, &BROKEN);
        let (line, problem) = PatternSet::parse(&format!("{text}{bad}\n"), 1).unwrap_err();
        assert!(problem.contains(part), "file {number}: {problem}\n{text}{bad}");
        assert_eq!(line, 1 + text.matches('\n').count(), "file {number}\n{text}{bad}");
    });
    println!("{count} files with {rules} patterns; {left_out} rules left out");
    assert!(rules > count / 2 && left_out > count / 4);
}
