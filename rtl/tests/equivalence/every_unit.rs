//! No unit is forgotten: each is in the table.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../common/mod.rs"]
mod common;

/// Why decoders of registers are no lines of the table: each is a child of the unit of its block.
const IN_BLOCK: &str = "is compared within the unit of its block";

/// Units that are compared only within others, and why.
const WITHIN: &[(&str, &str)] = &[
    ("BranchDecoder", IN_BLOCK),
    ("CommandInterruptDecoder", IN_BLOCK),
    ("ConsoleDecoder", IN_BLOCK),
    ("DebugDecoder", IN_BLOCK),
    ("FunctionDecoder", IN_BLOCK),
    ("HostInterruptDecoder", IN_BLOCK),
    ("LoadCounterDecoder", IN_BLOCK),
    ("MailboxDecoder", IN_BLOCK),
    ("NetDecoder", IN_BLOCK),
    ("PacketWatchDecoder", IN_BLOCK),
    ("SpawnDecoder", IN_BLOCK),
    ("TaskDecoder", IN_BLOCK),
    ("TimeDecoder", IN_BLOCK),
];

/// Path from `rtl` and text of each file of `rtl/src`.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    common::sources(&root.join("src"), &mut files);
    let text = |path: PathBuf| {
        (path.strip_prefix(root).unwrap().display().to_string(), fs::read_to_string(&path).unwrap())
    };
    files.into_iter().map(text).collect()
}

/// The units that a file declares: structures that derive `LogicBlock`, and what the register
/// macros make.
fn declared(path: &str, text: &str) -> Vec<String> {
    if path.ends_with("tests.rs") || path.ends_with("testing.rs") {
        return Vec::new();
    }
    let word = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(String::from);
    let mut names = Vec::new();
    let mut derived = false;
    for line in text.split("\nmod tests {").next().unwrap_or_default().lines() {
        if line.starts_with("#[derive(") && line.contains("LogicBlock")
            || line.starts_with("#[register_file(")
        {
            derived = true;
        } else if let Some(name) = line.strip_prefix("#[register_block(") {
            names.extend(word(name));
        } else if let Some((_, name)) = line.split_once("struct ").filter(|_| derived) {
            names.extend(word(name));
            derived = false;
        }
    }
    names
}

/// The type of a line of the table: the last name with a capital before the arguments, those of
/// the type too.
fn type_of(unit: &str) -> String {
    let path = unit.split(['(', '<']).next().unwrap_or_default();
    let names = path.split("::").map(str::trim);
    names.filter(|n| n.starts_with(|c: char| c.is_uppercase())).last().unwrap_or_default().to_string()
}

#[test]
fn every_unit_is_compared_with_its_verilog() {
    let texts = texts();
    let mut units: BTreeMap<String, &str> = BTreeMap::new();
    for (path, text) in &texts {
        units.extend(declared(path, text).into_iter().map(|name| (name, path.as_str())));
    }
    assert!(units.len() > 200, "{} units found", units.len());
    let table: BTreeSet<String> = super::TABLE.iter().map(|(_, _, unit)| type_of(unit)).collect();
    let compared = |name: &str| table.contains(name);
    let within: BTreeSet<&str> = WITHIN.iter().map(|(name, _)| *name).collect();
    let forgotten: Vec<String> = units
        .iter()
        .filter(|(name, _)| !compared(name) && !within.contains(name.as_str()))
        .map(|(name, path)| format!("{path}: {name} is not compared with its Verilog: add a line to the table of rtl/tests/equivalence/main.rs"))
        .collect();
    assert!(forgotten.is_empty(), "{}", forgotten.join("\n"));
    for (name, why) in WITHIN {
        assert!(units.contains_key(*name), "{name}, which {why}: there is no such unit");
        assert!(!compared(name), "{name} is compared: it needs no exception");
    }
}

#[test]
fn types_are_read_from_the_lines_of_the_table() {
    assert_eq!(type_of("Watchdog::new(32)"), "Watchdog");
    assert_eq!(type_of("hermes_rtl::l2::Bank::<8, 3>::new(Choice::Second)"), "Bank");
    assert_eq!(type_of("SyncFifo::<hermes_rtl::control::FaultRecord, 2, 3>::default()"), "SyncFifo");
}

#[test]
fn lines_stand_in_the_order_of_their_names() {
    let names: Vec<(&str, &str)> = super::TABLE.iter().map(|(folder, test, _)| (*folder, *test)).collect();
    let unordered = names.windows(2).find(|pair| pair[0] >= pair[1]);
    assert_eq!(
        unordered, None,
        "folders and tests are sorted, so that each is found and none is there twice"
    );
}
