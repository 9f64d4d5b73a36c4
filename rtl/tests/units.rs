//! How units are written: what `docs/writing-units.md` asks for and no macro can see.

mod common;

use std::path::Path;

/// The folders of units, and that of the primitives.
const FOLDERS: [&str; 3] = ["rtl/src", "fpga/src", "hdl/src/prim"];

/// Defaults that no unit writes.
const REFUSED: [&str; 2] = ["Signal::default()", "Register::default()"];

/// What to write instead.
const INSTEAD: &str =
    "a field has its default by itself: `#[count(n)]` at a `Vec`, `#[init(value)]` where a value is decided";

/// The only primitive that is a default itself.
const PRIMITIVE: &str = "hdl/src/prim/register.rs";

/// Local signals that are left: vectors that more than one loop uses, and values whose fields are
/// assigned one by one.
const LOCALS: usize = 28;

/// Every file with a unit: its name, and its lines before the tests.
fn units() -> Vec<(String, Vec<String>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = vec![];
    FOLDERS.iter().for_each(|folder| common::sources(&root.join(folder), &mut files));
    let mut units = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let is_test = name.contains("test") || name.contains("equivalence");
        if text.contains("LogicBlock") && !is_test && name != PRIMITIVE {
            units.push((name, text.lines().map(String::from).collect()));
        }
    }
    units
}

#[test]
fn constructors_say_only_what_they_decide() {
    let units = units();
    assert!(units.len() > 150, "{} units found", units.len());
    let mut faults = Vec::new();
    for (name, lines) in &units {
        for (i, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            for text in REFUSED {
                if line.contains(text) {
                    faults.push(format!("{name}:{}: `{text}`: {INSTEAD}", i + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn locals_are_lets() {
    let mut left = 0;
    let mut faults = Vec::new();
    for (name, lines) in units() {
        for (i, line) in lines.iter().enumerate() {
            let is_plain = line.contains("Signal<Local, Bit>") || line.contains("Signal<Local, Bits<");
            if line.contains("Signal<Local,") && (line.contains("Vec<") || !is_plain) {
                left += 1;
            } else if line.contains("Signal<Local,") {
                faults
                    .push(format!("{name}:{}: write `let` in `update`, where the value is computed", i + 1));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(
        left <= LOCALS,
        "{left} local signals: a `let` in the loop is an element of a vector, and a `let mut` takes a value anew"
    );
}

/// `scripts/unit` finds every proof from the file of its unit.
#[test]
fn every_proof_is_found_from_its_unit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = std::process::Command::new("python3")
        .arg(root.join("scripts/unit"))
        .arg("--list")
        .output()
        .unwrap_or_else(|e| panic!("cannot run python3: {e}; it must be installed for this test"));
    let said = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    assert!(output.status.success(), "{}", said(&output.stderr));
    let list = said(&output.stdout);
    let found: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split_once("; proofs "))
        .flat_map(|(_, names)| names.split_whitespace())
        .collect();
    let record = std::fs::read_to_string(root.join("formal/proofs.toml")).unwrap();
    let record: toml_edit::Document<String> = record.parse().unwrap();
    assert!(record.len() > 50, "{} proofs", record.len());
    let missing: Vec<&str> =
        record.iter().map(|(name, _)| name).filter(|name| !found.contains(name)).collect();
    assert!(missing.is_empty(), "proofs that no unit leads to: {missing:?}");
}
