//! The record of planted faults (`rtl/planted-faults.toml`) still fits the sources:
//! `scripts/mutation --planted` could put each of them in.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{Document, TableLike};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where the sources of a test are: those of a library, or of an integration test.
fn folder_of(package: &str, target: &str) -> PathBuf {
    let crates = [
        ("hermes", ""),
        ("hermes-artefacts", "artefacts"),
        ("hermes-hdl", "hdl"),
        ("hermes-rtl", "rtl"),
        ("hermes-testbench", "testbench"),
        ("verilator-sys", "verilator-sys"),
    ];
    let found = crates.iter().find(|(name, _)| *name == package);
    let (_, folder) = found.unwrap_or_else(|| panic!("no package is called {package}"));
    root().join(folder).join(if target == "lib" { "src" } else { "tests" })
}

/// Whether a test with the last part of this name, and in a file that its path leads to, is there.
fn is_there(package: &str, target: &str, test: &str) -> bool {
    let mut path: Vec<&str> = test.split("::").collect();
    let name = path.pop().unwrap();
    let declaration = format!("fn {name}()");
    let mut files = Vec::new();
    common::sources(&folder_of(package, target), &mut files);
    files.iter().any(|file| {
        let text = fs::read_to_string(file).unwrap();
        let place = file.to_string_lossy().replace('\\', "/");
        let declared =
            text.match_indices(&declaration).any(|(at, _)| text[..at].trim_end().ends_with("#[test]"));
        // Modules called `tests` stand beside their unit or in its file.
        declared
            && path
                .iter()
                .filter(|part| !part.ends_with("tests") || place.contains(*part))
                .all(|part| place.contains(part))
    })
}

fn text<'a>(name: &str, entry: &'a dyn TableLike, key: &str) -> &'a str {
    entry
        .get(key)
        .and_then(|item| item.as_str())
        .unwrap_or_else(|| panic!("{name}: `{key}` is missing or no text"))
}

#[test]
fn every_fault_on_record_can_be_planted_and_its_test_is_there() {
    let record = fs::read_to_string(root().join("rtl/planted-faults.toml")).unwrap();
    let document = Document::parse(record).unwrap();
    for (name, entry) in document.iter() {
        let entry = entry.as_table_like().unwrap_or_else(|| panic!("{name}: expected a table"));
        let keys: Vec<&str> = entry.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["file", "find", "replace", "test", "why"], "{name}");
        let (file, find, replace) =
            (text(name, entry, "file"), text(name, entry, "find"), text(name, entry, "replace"));
        let source =
            fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
        assert_eq!(source.matches(find).count(), 1, "{name}: how often {file} has the text to find");
        assert!(find != replace && !text(name, entry, "why").is_empty(), "{name}");
        let test: Vec<&str> = entry
            .get("test")
            .and_then(|item| item.as_array())
            .map_or(vec![], |array| array.iter().filter_map(|value| value.as_str()).collect());
        let [package, target, test] = test[..] else {
            panic!("{name}: `test` is not package, target and name")
        };
        assert!(is_there(package, target, test), "{name}: no test {test} in {package}");
    }
    assert!(document.iter().count() >= 26);
}
