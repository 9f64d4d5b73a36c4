//! The language of a source, by its name.

use std::path::Path;

use super::BuildError;

/// The language of a source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Assembly,
    C,
}

impl Language {
    /// What the name of `source` says.
    pub fn of(source: &Path) -> Result<Self, BuildError> {
        match source.extension().and_then(|extension| extension.to_str()) {
            Some("S" | "s") => Ok(Self::Assembly),
            Some("c") => Ok(Self::C),
            _ => Err(BuildError::Language(source.to_path_buf())),
        }
    }
}
