//! What the project is built from, as `cargo metadata` tells it: licences that fit its own, each
//! crate once but for those that are named here, and no crate that needs a newer Rust.
//!
//! Only crates of this platform count: others are not downloaded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Licences that ask no more of who uses the project than its own do: name the authors.
const LICENCES: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates with another licence: name, licence, why it may be.
const OTHER_LICENCES: [(&str, &str, &str); 1] =
    [("serialport", "MPL-2.0", "binds those who change its own files; they are used as they come")];

/// Crates that are there in more than one version: name, why.
const DUPLICATES: [(&str, &str); 6] = [
    ("bitflags", "nix 0.26 of serialport needs 1, all others 2"),
    ("getrandom", "rand 0.8 needs 0.2, tempfile 0.4"),
    ("rand", "ours and that of rust-hdl-core is 0.8 (see HELD_BACK), that of proptest 0.10"),
    ("rand_core", "as rand"),
    ("syn", "rust-hdl-macros needs 1, what bgpkit-parser derives 2, all others 3"),
    ("vcd", "rust-hdl-core needs 0.6, ours is 0.7"),
];

/// Crates that we need in a version that is not their newest: name, version, why.
const HELD_BACK: [(&str, &str, &str); 4] = [
    ("num-bigint", "^0.4", "rust-hdl-core gives and takes values of it"),
    ("rand", "^0.8", "from 0.9 on, a seed gives other numbers: other traffic, tables and cycles"),
    ("rand_chacha", "^0.3", "that of rand 0.8"),
    ("rust-hdl-core", "=0.46.0", "docs/hdl.md: the back end reads what is not promised to stay"),
];

/// What `cargo metadata` tells of this project and this platform.
fn metadata() -> Value {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc is there");
    let version = String::from_utf8(rustc.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("the host's name");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A package of the graph.
struct Package {
    name: String,
    version: String,
    licence: String,
    rust: Option<String>,
    /// It is a part of this project.
    own: bool,
    /// What it asks for: name and version.
    needs: Vec<(String, String)>,
}

fn packages() -> Vec<Package> {
    let text = |value: &Value| value.as_str().map(str::to_string);
    let package = |value: &Value| Package {
        name: text(&value["name"]).unwrap(),
        version: text(&value["version"]).unwrap(),
        licence: text(&value["license"]).unwrap_or_default(),
        rust: text(&value["rust_version"]),
        own: value["source"].is_null(),
        needs: value["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|need| (text(&need["name"]).unwrap(), text(&need["req"]).unwrap()))
            .collect(),
    };
    let packages: Vec<_> = metadata()["packages"].as_array().unwrap().iter().map(package).collect();
    assert!(packages.len() > 100, "{} packages", packages.len());
    packages
}

/// Whether one may choose licences of [`LICENCES`] so that `expression` holds: names that `OR` (in
/// old manifests a slash), `AND` and parentheses join.
fn fits(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    let fits = any(&mut rest);
    fits && rest.is_empty()
}

fn any(words: &mut &[&str]) -> bool {
    let mut fits = all(words);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        fits |= all(words);
    }
    fits
}

fn all(words: &mut &[&str]) -> bool {
    let mut fits = one(words);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        fits &= one(words);
    }
    fits
}

fn one(words: &mut &[&str]) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let fits = any(words);
            let closed = words.first() == Some(&")");
            *words = words.get(1..).unwrap_or_default();
            fits && closed
        }
        [name, "WITH", exception, rest @ ..] => {
            *words = rest;
            LICENCES.contains(&format!("{name} WITH {exception}").as_str())
        }
        [name, rest @ ..] => {
            *words = rest;
            LICENCES.contains(name)
        }
        [] => false,
    }
}

#[test]
fn which_licences_fit() {
    for good in
        ["MIT", "MIT/Apache-2.0", "MPL-2.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0", "MIT AND ISC"]
    {
        assert!(fits(good), "{good}");
    }
    let with = ["Apache-2.0 WITH LLVM-exception", "GPL-2.0-only OR Apache-2.0 WITH LLVM-exception"];
    assert!(with.iter().all(|good| fits(good)));
    for bad in
        ["", "MPL-2.0", "MIT AND GPL-3.0-only", "(MIT OR ISC) AND MPL-2.0", "MIT WITH x", "(MIT", "MIT)"]
    {
        assert!(!fits(bad), "{bad}");
    }
}

#[test]
fn licences_fit_those_of_the_project() {
    let packages = packages();
    let other = |package: &Package| {
        OTHER_LICENCES.iter().any(|(name, licence, _)| package.name == *name && package.licence == *licence)
    };
    for package in &packages {
        let Package { name, version, licence, .. } = package;
        assert!(
            fits(licence) || other(package),
            "{name} {version}: licence {licence:?}; expected one of {LICENCES:?}, or an entry of OTHER_LICENCES"
        );
    }
    for (name, licence, _) in OTHER_LICENCES {
        let there = packages.iter().any(|package| package.name == name && package.licence == licence);
        assert!(there, "OTHER_LICENCES: {name} is no longer there with {licence}");
        assert!(!fits(licence), "OTHER_LICENCES: {licence} of {name} fits");
    }
}

#[test]
fn crates_are_there_once() {
    let mut versions: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for package in packages() {
        versions.entry(package.name).or_default().insert(package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let named: BTreeSet<_> = DUPLICATES.iter().map(|(name, _)| (*name).to_string()).collect();
    for (name, versions) in &versions {
        assert!(
            named.contains(name),
            "{name}: versions {versions:?}; expected one, or a reason in DUPLICATES \
             (`cargo tree --workspace --duplicates` tells who needs which)"
        );
    }
    for name in named {
        assert!(versions.contains_key(&name), "DUPLICATES: {name} is there once, or not at all");
    }
}

#[test]
fn what_is_held_back_is_named() {
    let packages = packages();
    for (name, version, reason) in HELD_BACK {
        let asked: BTreeSet<_> = packages
            .iter()
            .filter(|package| package.own)
            .flat_map(|package| &package.needs)
            .filter(|(need, _)| need == name)
            .map(|(_, version)| version.as_str())
            .collect();
        assert_eq!(asked, BTreeSet::from([version]), "HELD_BACK: {name}, as {reason}");
    }
}

/// Their requirement is told once, in Cargo.toml; a build with that Rust would fail late.
#[test]
fn no_crate_needs_a_newer_rust() {
    let packages = packages();
    let number = |rust: &str| -> Vec<u32> { rust.split('.').map(|part| part.parse().unwrap()).collect() };
    let ours = env!("CARGO_PKG_RUST_VERSION");
    for Package { name, version, rust, .. } in &packages {
        let Some(rust) = rust else { continue };
        assert!(
            number(rust)[..2] <= number(ours)[..2],
            "{name} {version} needs Rust {rust}; `rust-version` of Cargo.toml is {ours}"
        );
    }
}

/// Crates that serve other designs.
const FOR_OTHERS: [&str; 4] = ["hermes-hdl", "hermes-hdl-macros", "hermes-interrupt", "verilator-sys"];

/// Packages them into `folder`.
fn package(folder: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .args(["package", "--allow-dirty", "--no-verify", "--locked", "--target-dir"])
        .arg(folder)
        .args(FOR_OTHERS.iter().flat_map(|name| ["-p", name]))
        .args(options)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap()
}

/// Each of them can be packaged with what a reader of the package expects.
#[test]
fn what_other_designs_use_can_be_packaged() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = package(folder.path(), &["--offline"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && error.contains("no matching package named `svg`") {
        // The index of this machine lacks the registry's `svg`, in whose place we build our own.
        println!("{error}");
        output = package(folder.path(), &[]);
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for name in FOR_OTHERS {
        let archive = folder.path().join(format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        let listed = Command::new("tar").arg("tzf").arg(&archive).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        for file in ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"] {
            assert!(listed.lines().any(|line| line.ends_with(&format!("/{file}"))), "{name}: no {file}");
        }
    }
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    for package in packages.iter().filter(|package| FOR_OTHERS.iter().any(|name| package["name"] == *name)) {
        for field in ["description", "license", "readme", "rust_version"] {
            assert!(package[field].is_string(), "{}: {field} is missing", package["name"]);
        }
    }
}
