//! Tells the crate the hash of its sources, in `MODEL_OPTIMIZER_SOURCES`: models that other sources
//! rewrote are built anew.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    let mut files = Vec::new();
    collect(Path::new("src"), &mut files);
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let text = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        hash.update(file.to_string_lossy().as_bytes());
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=MODEL_OPTIMIZER_SOURCES={hash}");
}

/// All files below `folder`.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
