//! Where a report comes from: what is needed to make it again.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::files::Files;

/// The git commit that this command was built from; empty if it is not known.
const COMMIT: &str = env!("HERMES_COMMIT");

/// The git commit that this command was built from, if it is known.
pub fn commit() -> Option<&'static str> {
    Some(COMMIT).filter(|commit| !commit.is_empty())
}

/// Version and commit, as `hermes --version` shows them.
pub const VERSION: &str = env!("HERMES_VERSION");

/// What a report was made with.
#[derive(Clone, Debug, Serialize)]
pub struct Origin {
    generator: &'static str,
    version: &'static str,
    commit: Option<&'static str>,
    /// The command line, word by word.
    command: Vec<String>,
    inputs: Vec<Input>,
}

/// A file that was read.
#[derive(Clone, Debug, Serialize)]
struct Input {
    option: String,
    path: String,
    /// Of its contents; none if it is no regular file, which can be read only once.
    sha256: Option<String>,
}

/// The command line, word by word.
fn command() -> Vec<String> {
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("hermes".to_string()).chain(arguments).collect()
}

/// Version, commit and command line, for files that are no reports.
pub fn maker() -> Map<String, Value> {
    let fields = [
        ("generator", "hermes".into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("commit", commit().into()),
        ("command", command().join(" ").into()),
    ];
    fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

impl Origin {
    /// Of this process, which reads `files`.
    pub fn of(files: &Files) -> Self {
        let input = |(option, path): (&str, &Path)| Input {
            option: option.trim_end_matches('=').to_string(),
            path: path.display().to_string(),
            sha256: digest(path).ok().flatten(),
        };
        Self {
            generator: "hermes",
            version: env!("CARGO_PKG_VERSION"),
            commit: commit(),
            command: command(),
            inputs: files.inputs().map(input).collect(),
        }
    }

    /// `report`, with this before it. It must be a map in JSON.
    pub fn with<'a, T: Serialize>(&'a self, report: &'a T) -> impl Serialize + 'a {
        #[derive(Serialize)]
        struct Whole<'a, T> {
            origin: &'a Origin,
            #[serde(flatten)]
            report: &'a T,
        }
        Whole { origin: self, report }
    }
}

/// SHA-256 of a regular file in hexadecimal; none for other files.
fn digest(path: &Path) -> io::Result<Option<String>> {
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let mut hash = Sha256::new();
    let (mut file, mut buffer) = (File::open(path)?, vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            bytes => hash.update(&buffer[..bytes]),
        }
    }
    let text = hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    Ok(Some(text))
}
