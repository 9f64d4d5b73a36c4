//! What depends on what: no other crate names rust-hdl, and this one knows no machine; the floors
//! of the testbench use those below them, and no folder of a crate uses another that uses it.

#[path = "layers/circles.rs"]
mod circles;

use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn manifest(folder: &Path) -> DocumentMut {
    read(&folder.join("Cargo.toml")).parse().unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// Every crate of the workspace: its folder from the root.
fn crates() -> Vec<String> {
    let manifest = manifest(&root());
    let members = manifest["workspace"]["members"].as_array().unwrap();
    let members = members.iter().map(|member| member.as_str().unwrap().to_string());
    members.chain([String::from(".")]).collect()
}

/// The packages that a crate needs, for whatever purpose.
fn dependencies(manifest: &DocumentMut) -> Vec<String> {
    ["dependencies", "dev-dependencies", "build-dependencies"]
        .iter()
        .filter_map(|kind| manifest.get(kind).and_then(Item::as_table_like))
        .flat_map(|table| table.iter().map(|(name, _)| name.to_string()))
        .collect()
}

/// All Rust files of a folder and below; not those of other crates and of builds.
fn sources(folder: &Path, list: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.join("Cargo.toml").exists() && !path.ends_with("target") {
            sources(&path, list);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            list.push(path);
        }
    }
}

#[test]
fn no_other_crate_names_rust_hdl() {
    let (mut faults, mut files) = (Vec::new(), 0);
    for name in crates().iter().filter(|name| *name != "hdl") {
        let folder = root().join(name);
        let needed = dependencies(&manifest(&folder));
        faults.extend(
            needed.iter().filter(|need| need.starts_with("rust-hdl")).map(|need| format!("{name}: {need}")),
        );
        let mut list = Vec::new();
        sources(&folder, &mut list);
        files += list.len();
        faults.extend(
            list.iter().filter(|path| read(path).contains("rust_hdl")).map(|path| path.display().to_string()),
        );
    }
    assert!(files > 400, "{files} files found");
    assert!(faults.is_empty(), "rust-hdl is used through `hermes_hdl::prelude`: {faults:?}");
}

#[test]
fn this_crate_needs_none_of_a_machine() {
    let own = ["hermes-hdl", "hermes-hdl-macros", "verilator-sys"];
    for name in ["hdl", "hdl/macros"] {
        let mut others = dependencies(&manifest(&root().join(name)));
        others.retain(|need| need.starts_with("hermes") || need == "verilator-sys");
        assert!(others.iter().all(|need| own.contains(&need.as_str())), "{name} needs {others:?}");
    }
}

/// The floors of the testbench, from the lowest: a crate needs those of lower lines alone.
const FLOORS: [&[&str]; 7] =
    [&["packets"], &["programs"], &["reference"], &["simulation"], &["checks"], &["reports", "chain"], &[""]];

/// Crates beside the floors that may need them.
const ABOVE: [&str; 2] = ["", "testbench/experiments"];

/// What of `needed` is no lower floor of the crate on `floor`: the names of the packages.
fn arrows_back(floor: usize, needed: &[String]) -> Vec<String> {
    let level = |need: &str| {
        let name = if need == "hermes-testbench" { "" } else { need.strip_prefix("hermes-")? };
        FLOORS.iter().position(|floor| floor.contains(&name))
    };
    needed.iter().filter(|need| level(need).is_some_and(|level| level >= floor)).cloned().collect()
}

#[test]
fn floors_need_lower_ones_alone() {
    let mut faults = Vec::new();
    let floors =
        FLOORS.iter().enumerate().flat_map(|(level, names)| names.iter().map(move |name| (level, name)));
    let mut folders: Vec<_> = floors
        .map(|(level, name)| (format!("testbench/{name}").trim_end_matches('/').to_string(), level))
        .collect();
    for name in crates() {
        if !ABOVE.contains(&name.trim_matches('.')) && folders.iter().all(|(folder, _)| *folder != name) {
            folders.push((name, 0));
        }
    }
    assert!(folders.len() > 15, "{folders:?}");
    for (folder, level) in folders {
        let back = arrows_back(level, &dependencies(&manifest(&root().join(&folder))));
        faults.extend(back.into_iter().map(|need| format!("{folder} needs {need}")));
    }
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn arrows_back_are_found() {
    let needed = ["hermes-packets", "hermes-chain", "hermes-rtl", "hermes-testbench", "rand"];
    let needed = needed.map(String::from);
    assert_eq!(arrows_back(0, &needed), ["hermes-packets", "hermes-chain", "hermes-testbench"]);
    assert_eq!(arrows_back(5, &needed), ["hermes-chain", "hermes-testbench"]);
    assert_eq!(arrows_back(6, &needed), ["hermes-testbench"]);
}

/// Crates whose folders do not use each other in circles.
const WITHOUT_CIRCLES: [&str; 9] = [
    "hdl",
    "rtl",
    "testbench/packets",
    "testbench/programs",
    "testbench/reference",
    "testbench/simulation",
    "testbench/checks",
    "testbench/reports",
    "testbench/chain",
];

#[test]
fn folders_do_not_use_each_other_in_circles() {
    for name in WITHOUT_CIRCLES {
        let folder = root().join(name).join("src");
        let mut list = Vec::new();
        sources(&folder, &mut list);
        assert!(list.len() > 10, "{name}");
        let files = list.iter().map(|path| (path.strip_prefix(&folder).unwrap().to_path_buf(), read(path)));
        let circle = circles::find(files.collect());
        assert!(circle.is_empty(), "{name}: {}", circle.join("; "));
    }
}

/// Two folders with these files: what is found.
fn circle_of(a: &str, b: &str) -> Vec<String> {
    let file = |name: &str, text: &str| (PathBuf::from(name), text.to_string());
    circles::find(vec![
        file("lib.rs", "pub mod a;\npub mod b;\npub use b::B;\n"),
        file("a/mod.rs", "mod deep;\n#[cfg(test)]\nmod tests;\n"),
        file("a/deep.rs", a),
        file("a/tests.rs", "use crate::b::B;\n"),
        file("b.rs", b),
    ])
}

#[test]
fn circles_are_found() {
    let found = ["a: a/deep.rs uses b", "b: b.rs uses a"];
    for a in [
        "use crate::b::B;",
        "use crate::{b::{B, C}, c};",
        "use super::super::b::B;",
        "fn f() -> crate::b::B {}",
        "use crate::{\n    c::{d, e},\n    b,\n};",
    ] {
        assert_eq!(circle_of(a, "use crate::a::A;"), found, "{a}");
        assert_eq!(circle_of(a, "use super::a::A;"), found, "{a}");
        assert!(circle_of(a, "use crate::c::A;").is_empty(), "{a}");
    }
    for a in [
        "// crate::b\n/// [`B`](crate::b::B)",
        "use super::b::B;",
        "use crate::a::b::B;",
        "macro_rules! m { () => { $crate::b::B } }",
        "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}",
    ] {
        assert!(circle_of(a, "use crate::a::A;").is_empty(), "{a}");
    }
}
