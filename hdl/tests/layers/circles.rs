//! Circles of the folders of a crate, or of files beside `lib.rs`: which of them use each other,
//! tests left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The path of the module in this file, from the root of the crate.
fn module(path: &Path) -> Vec<String> {
    let mut parts: Vec<_> =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib") {
        parts.pop();
    }
    parts
}

/// The file without comments and without the tests at its end.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut code: Vec<&str> = Vec::new();
    for line in lines {
        let is_test =
            code.iter().rev().take_while(|line| line.starts_with("#[")).any(|l| *l == "#[cfg(test)]");
        if is_test && line.starts_with("mod ") && line.ends_with('{') {
            break;
        }
        code.push(line);
    }
    code.join("\n")
}

/// The files of the modules that the file declares for tests alone: their paths without extension.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = match path.file_name().is_some_and(|name| name == "mod.rs" || name == "lib.rs") {
        true => path.parent().unwrap_or(Path::new("")).to_path_buf(),
        false => path.with_extension(""),
    };
    let (mut list, mut is_test, mut other) = (Vec::new(), false, None);
    for line in text.lines() {
        if let Some(attribute) = line.strip_prefix("#[") {
            is_test |= attribute == "cfg(test)]";
            // The path is from the folder of the file.
            let beside = path.parent().unwrap_or(Path::new(""));
            let named = attribute.strip_prefix("path = \"").and_then(|rest| rest.strip_suffix("\"]"));
            other = named.map(|name| beside.join(name).with_extension("")).or(other);
            continue;
        }
        let name = line.split("mod ").nth(1).and_then(|rest| rest.strip_suffix(';'));
        if let (true, Some(name)) = (is_test, name) {
            list.push(other.clone().unwrap_or_else(|| folder.join(name)));
        }
        (is_test, other) = (false, None);
    }
    list
}

/// The first names of what stands at the beginning of `text`: one, or those of a list in braces.
fn first_names(text: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(list) = text.strip_prefix('{') else { return vec![word(text)] };
    let (mut depth, mut names, mut start) = (0, Vec::new(), 0);
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            ',' if depth == 0 => {
                names.push(word(&list[start..at]));
                start = at + 1;
            }
            '}' if depth == 0 => {
                names.push(word(&list[start..at]));
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

/// What a file uses by paths from the root of the crate.
fn used(module: &[String], code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back();
        if before.is_none_or(|c| c != '$' && c != '_' && !c.is_alphanumeric()) {
            names.extend(first_names(&code[at + "crate::".len()..]));
        }
    }
    let to_root = "super::".repeat(module.len());
    for (at, _) in code.match_indices(&to_root) {
        let rest = &code[at + to_root.len()..];
        if !code[..at].ends_with("super::") && !rest.starts_with("super::") {
            names.extend(first_names(rest));
        }
    }
    names
}

/// The arrows of a circle of folders, as `folder: file uses folder`; none if there is no circle.
/// `files` are the paths from `src`, and their text.
pub fn find(files: Vec<(PathBuf, String)>) -> Vec<String> {
    let tests: Vec<PathBuf> = files.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    let is_test = |path: &Path| {
        let module = path.with_extension("");
        tests.iter().any(|test| module.starts_with(test))
    };
    let mut arrows: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| !is_test(path)) {
        let module = module(path);
        let Some(folder) = module.first() else { continue };
        for name in used(&module, &code(text)).into_iter().filter(|name| name != folder) {
            arrows.entry(folder.clone()).or_default().entry(name).or_insert(path.display().to_string());
        }
    }
    let reached = |from: &String| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(folder) = next.pop() {
            for to in arrows.get(folder).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(to) {
                    next.push(to);
                }
            }
        }
        reached
    };
    let in_circle = |from: &String, to: &String| reached(to).contains(from);
    let all = arrows.iter().flat_map(|(from, to)| to.iter().map(move |(to, file)| (from, to, file)));
    all.filter(|(from, to, _)| in_circle(from, to))
        .map(|(from, to, file)| format!("{from}: {file} uses {to}"))
        .collect()
}
