//! What several tests of the sources need.

use std::path::{Path, PathBuf};

/// Adds the Rust files of `folder` and below to `list`.
pub fn sources(folder: &Path, list: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, list);
        } else if path.extension().is_some_and(|e| e == "rs") {
            list.push(path);
        }
    }
}
