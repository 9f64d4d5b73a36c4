//! Kernels are short: what is longer decides several things, and is divided
//! (docs/writing-units.md).

mod common;

use std::fs;
use std::path::Path;

const MOST_LINES: usize = 250;

/// The lines of each function with `#[hdl_gen]` in a text, by its name. What it states with
/// `always!` is not counted: that decides nothing.
fn kernels(text: &str) -> Vec<(String, usize)> {
    let mut lines = text.lines();
    let mut list = Vec::new();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.trim() != "#[hdl_gen]" {
            continue;
        }
        let end = format!("{indent}}}");
        let mut is_stated = false;
        let decides = |line: &&str| {
            let is_part = is_stated || line.trim().starts_with("always!(");
            is_stated = is_part && !line.ends_with(");");
            !is_part
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != end).filter(decides).collect();
        let name = body.iter().find_map(|line| line.split("fn ").nth(1)).unwrap_or_default();
        let name = name.split('(').next().unwrap_or_default();
        list.push((name.to_string(), body.len() + 1));
    }
    list
}

#[test]
fn no_kernel_is_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in [root.join("src"), root.join("../fpga/src"), root.join("../hdl/src")] {
        common::sources(&folder, &mut files);
    }
    let mut all = Vec::new();
    for path in &files {
        let found = kernels(&fs::read_to_string(path).unwrap());
        all.extend(found.into_iter().map(|(name, lines)| (lines, name, path.display().to_string())));
    }
    assert!(all.len() > 200, "{} kernels", all.len());
    all.sort();
    let long: Vec<_> = all.iter().filter(|(lines, ..)| *lines > MOST_LINES).collect();
    assert!(long.is_empty(), "kernels above {MOST_LINES} lines: {long:?}");
}

#[test]
fn lines_of_a_kernel_are_counted() {
    let text = "impl A {\n    #[hdl_gen]\n    fn part(&mut self) {\n        a();\n        always!(b, c);\n        always!(\n            d,\n            e(f)\n        );\n    }\n}\nimpl Logic for A {\n    #[hdl_gen]\n    fn update(&mut self) {\n        if a {\n        }\n    }\n}\n";
    assert_eq!(kernels(text), [("part".to_string(), 3), ("update".to_string(), 4)]);
}
