//! What depends on what: no other crate names rust-hdl, and this one knows no machine.

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
