//! Finds the source files of a program.

use std::path::{Component, Path, PathBuf};

use crate::apps::built_in_source;
use crate::kernel::{base_name, WORK_FOLDER};

/// The largest source file that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Finds source files: in folders of the user's, where the compiler found them, or among those that
/// are built in.
#[derive(Clone, Debug, Default)]
pub struct SourceFinder {
    folders: Vec<PathBuf>,
}

impl SourceFinder {
    /// Looks in these folders first.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// Where the file may be that the compiler called `path`, in the order in which it is looked
    /// for.
    fn candidates<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = PathBuf> + 'a {
        let below =
            self.folders.iter().flat_map(move |folder| tails(path).map(move |tail| folder.join(tail)));
        below.chain([path.to_path_buf()])
    }

    /// Where the file is whose text [`Self::text`] gives; `None` if it is nowhere or built in.
    #[must_use]
    pub fn path(&self, file: &str) -> Option<PathBuf> {
        self.candidates(Path::new(file)).find(|path| is_source(path))
    }

    /// The text of the file that the compiler called `file`, its folder before its name. `None` if
    /// it is nowhere, or too large for a source.
    #[must_use]
    pub fn text(&self, file: &str) -> Option<String> {
        let path = Path::new(file);
        if let Some(text) = self.candidates(path).find_map(|path| read(&path)) {
            return Some(text);
        }
        // What is built in is written to a folder that goes when the kernel is built.
        let is_built_in = path.components().any(|part| match part {
            Component::Normal(name) => name.to_string_lossy().starts_with(WORK_FOLDER),
            _ => false,
        });
        is_built_in.then(|| built_in_source(base_name(file)).map(str::to_string)).flatten()
    }
}

/// The ends of a path: all of it first, its name last.
fn tails(path: &Path) -> impl Iterator<Item = PathBuf> {
    let parts: Vec<_> = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let tails: Vec<PathBuf> = (0..parts.len()).map(|first| parts[first..].iter().collect()).collect();
    tails.into_iter()
}

/// Whether there is a file that is not too large for a source.
fn is_source(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.len() <= MOST_BYTES)
}

fn read(path: &Path) -> Option<String> {
    is_source(path)
        .then(|| std::fs::read(path).ok())
        .flatten()
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_given_folders_then_where_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("moved/sub")).unwrap();
        std::fs::write(at("k.c"), "old").unwrap();
        std::fs::write(at("moved/sub/k.c"), "moved").unwrap();
        std::fs::write(at("moved/n.c"), "n").unwrap();
        let there = at("k.c").display().to_string();
        let none = SourceFinder::default();
        let moved = SourceFinder::new(vec![at("moved")]);
        assert_eq!(none.text(&there).as_deref(), Some("old"));
        assert_eq!(none.text("/none/k.c"), None);
        assert_eq!(moved.text("/none/sub/k.c").as_deref(), Some("moved"));
        assert_eq!(moved.text("/none/deep/n.c").as_deref(), Some("n"));
        assert_eq!(moved.text(&there).as_deref(), Some("old"));
        assert_eq!(none.path(&there), Some(at("k.c")));
        assert_eq!(moved.path("/none/sub/k.c"), Some(at("moved/sub/k.c")));
        assert_eq!(none.path("/none/k.c"), None);
        assert_eq!(none.text("/none/dec-ttl.S"), None, "not that of the app");
        let built_in = format!("/none/{WORK_FOLDER}x/dec-ttl.S");
        assert!(none.text(&built_in).unwrap().contains("decrement_ttl"));
    }
}
