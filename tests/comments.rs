//! Comments that stand alone on their lines end at column 100, but for rows of tables.

use std::fs;
use std::path::{Path, PathBuf};

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
