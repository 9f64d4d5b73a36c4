//! Comments that stand alone on their lines end at column 100, but for rows of tables.
//!
//! Comments of fields and variants in the units stand alone: a reader of one field, be it a
//! register, a child, a state or a part of a value, knows what it is. What is refused is as for
//! ports, of which `rtl/tests/golden/port_comments.rs` reads the comments in the Verilog
//! (`rtl/tests/common/stands_alone.rs`): a comment that begins with a pronoun or with a word that
//! asks, and one that only repeats the name.

#[path = "../rtl/tests/common/stands_alone.rs"]
mod stands_alone;

use std::fs;
use std::path::{Path, PathBuf};

use stands_alone::{pronoun, repeats};

/// Folders with code that people read.
const FOLDERS: [&str; 11] = [
    "artefacts",
    "formal",
    "fpga",
    "hdl",
    "kernels-asm",
    "model-optimizer",
    "rtl",
    "src",
    "testbench",
    "tests",
    "verilator-sys",
];

/// Folders with units, whose fields and variants have comments that stand alone.
const UNITS: [&str; 2] = ["rtl/src", "hdl/src/prim"];

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// The text of the comment that a line consists of, in a file with this extension.
fn comment<'a>(line: &'a str, extension: &str) -> Option<&'a str> {
    let marks: &[&str] = match extension {
        "rs" => &["//!", "///", "//"],
        "sv" | "vh" | "v" => &["//"],
        "c" | "h" => &["//", "/*", "* "],
        "S" | "inc" => &["//", "/*", "# "],
        _ => &[],
    };
    let text = line.trim_start();
    marks.iter().find_map(|mark| text.strip_prefix(mark)).map(str::trim)
}

fn too_long(text: &str, extension: &str) -> Vec<String> {
    text.lines()
        .filter(|line| line.chars().count() > 100)
        .filter(|line| comment(line, extension).is_some_and(|text| !text.starts_with('|')))
        .map(String::from)
        .collect()
}

/// A field or variant with its comment, and the line in which that begins, from 1 on.
#[derive(Debug, PartialEq)]
struct Field {
    line: usize,
    name: String,
    comment: String,
}

/// The name of the field that this line declares, also of a variant or in the list of options.
fn field_of(line: &str) -> Option<&str> {
    let (declaration, ty) = line.split_once(':')?;
    let (visibility, name) = declaration.rsplit_once(' ').unwrap_or(("", declaration));
    let is_visibility = ["", "pub"].contains(&visibility) || visibility.ends_with(')');
    let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (is_visibility && is_name && !name.is_empty() && !ty.starts_with(':')).then_some(name)
}

/// The name of the variant that this line declares, in the letters of a field.
fn variant_of(line: &str) -> Option<String> {
    let end = line.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let is_variant = name.starts_with(|c: char| c.is_ascii_uppercase())
        && [",", " {", "(", " ="].iter().any(|next| rest.starts_with(next));
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.push(letter.to_ascii_lowercase());
    }
    is_variant.then_some(words)
}

/// The fields and variants with comments in the text of a source file.
fn fields(text: &str) -> Vec<Field> {
    let (mut found, mut above, mut in_attribute) = (Vec::new(), Vec::new(), false);
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if let Some(said) = line.strip_prefix("///") {
            above.push((index + 1, said.trim()));
        } else if in_attribute || line.starts_with("#[") {
            in_attribute = !line.ends_with(']');
        } else {
            let name = field_of(line).map(String::from).or_else(|| variant_of(line));
            if let (Some(name), Some((first, _))) = (name, above.first()) {
                let comment: Vec<&str> = above.iter().map(|(_, said)| *said).collect();
                found.push(Field { line: *first, name, comment: comment.join(" ") });
            }
            above.clear();
        }
    }
    found
}

/// What is wrong with the comment of a field, with its line.
fn fault(field: &Field) -> Option<String> {
    let Field { line, name, comment } = field;
    let reason = match pronoun(comment) {
        Some(word) => format!("begins with `{word}`"),
        None if repeats(name, comment) => "only repeats the name".to_string(),
        None => return None,
    };
    Some(format!("{line}: {name}: `{comment}` {reason}"))
}

#[test]
fn comments_end_at_column_100() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in FOLDERS {
        files_below(&root.join(folder), &mut files);
    }
    let (mut read, mut found) = (0, Vec::new());
    for path in files {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if !["rs", "sv", "vh", "v", "c", "h", "S", "inc"].contains(&extension) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let lines = too_long(&text, extension);
        found.extend(lines.into_iter().map(|line| format!("{}: {line}", path.display())));
        read += 1;
    }
    assert!(read > 700, "{read} files");
    assert!(found.is_empty(), "{} lines:\n{}", found.len(), found.join("\n"));
}

#[test]
fn what_is_too_long() {
    let (word, row) = ("x".repeat(100), format!("/// | {} |", "x".repeat(100)));
    assert_eq!(too_long(&format!("/// {word}\n{row}\nlet a = 1; // {word}"), "rs").len(), 1);
    assert_eq!(too_long(&format!("// {word}\n"), "sv").len(), 1);
    assert_eq!(too_long(&format!("/* {word} */\n * {word}\n#define {word}"), "c").len(), 2);
    assert_eq!(too_long(&format!("# {word}\n#define {word}"), "S").len(), 1);
}

#[test]
fn comments_of_fields_stand_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in UNITS {
        files_below(&root.join(folder), &mut files);
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    let (mut count, mut found) = (0, Vec::new());
    for path in files {
        let list = fields(&fs::read_to_string(&path).unwrap());
        count += list.len();
        found.extend(list.iter().filter_map(fault).map(|fault| format!("{}:{fault}", path.display())));
    }
    assert!(count > 4_000, "only {count} fields with comments were read");
    assert!(
        found.is_empty(),
        "{} comments do not stand alone (docs/writing-units.md):\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn faults_of_comments_of_fields_are_found() {
    let text = "\
/// What is no field.
pub struct Row {
    /// It is switched on.
    pub on: Bit,
    /// Which byte
    /// the host reads.
    #[init(
        Constant::new(1)
    )]
    pub(super) place: Register<Bits<4>>,
    /// Index of its queue.
    queue: Bits<8>,
    // That is no documentation.
    plain: Bit,
    /// Stage X: it is valid.
    valid_x: Bit,
    /// Stage X: which lanes run; it is zero in reset.
    lanes_x: Bits<8>,
    /// The queue.
    command_queue: Bits<8>,
}
enum Error {
    /// It is out of range.
    Range {
        /// Its value.
        value: usize,
    },
    /// No memory.
    NoMemory,
    /// They differ.
    Unlike(usize, usize),
}
    /// How many there are.
    (core control) cores: usize = 1,
/// This is a function.
fn of(row: Row) {}
/// That is a constant.
const LIMIT: u64 = 1;
/// They are made of
std::vec::Vec;
";
    let list = fields(text);
    let names: Vec<&str> = list.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "on",
            "place",
            "queue",
            "valid_x",
            "lanes_x",
            "command_queue",
            "range",
            "value",
            "no_memory",
            "unlike",
            "cores"
        ]
    );
    let faults: Vec<String> = list.iter().filter_map(fault).collect();
    let expected = [
        "3: on: `It is switched on.` begins with `it`",
        "5: place: `Which byte the host reads.` begins with `which`",
        "15: valid_x: `Stage X: it is valid.` begins with `it`",
        "19: command_queue: `The queue.` only repeats the name",
        "23: range: `It is out of range.` begins with `it`",
        "25: value: `Its value.` begins with `its`",
        "28: no_memory: `No memory.` only repeats the name",
        "30: unlike: `They differ.` begins with `they`",
        "33: cores: `How many there are.` begins with `how`",
    ];
    assert_eq!(faults, expected);
}
