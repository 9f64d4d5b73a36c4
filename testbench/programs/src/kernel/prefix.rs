//! Names of folders in debug information, so that a file is the same bytes wherever it is built.

use std::path::{Path, PathBuf};

/// Folders that are called otherwise in debug information: the one in which the tool works is `.`,
/// so that a debugger that works in the same one, or in a copy, finds the sources; temporary ones
/// have a name that stays.
#[derive(Clone, Debug)]
pub(crate) struct PrefixMap(Vec<(PathBuf, &'static str)>);

impl PrefixMap {
    /// `folder`, a temporary one, is called `name`.
    pub fn new(folder: &Path, name: &'static str) -> Self {
        // A shell tells the folder by the names of links that lead to it, and the compiler
        // believes it.
        let named = std::env::var_os("PWD").map(PathBuf::from);
        let own = named.into_iter().chain(std::env::current_dir());
        // Everything is below the root.
        let own = own.filter(|folder| folder.is_absolute() && folder.parent().is_some());
        let mut map: Vec<_> = own.map(|folder| (folder, ".")).collect();
        map.dedup();
        // What comes last counts.
        map.extend(std::fs::canonicalize(folder).ok().map(|folder| (folder, name)));
        map.push((folder.to_path_buf(), name));
        Self(map)
    }

    /// `text` with the folders called so.
    pub fn replace(&self, text: &str) -> String {
        // What comes last counts.
        let last_first = self.0.iter().rev();
        last_first
            .fold(text.to_string(), |text, (folder, name)| text.replace(&*folder.to_string_lossy(), name))
    }

    /// The flags of a tool whose option it is, such as `-ffile-prefix-map=`; the old name and the
    /// new one with `=` between them.
    pub fn flags<'a>(&'a self, option: &'a str) -> impl Iterator<Item = String> + 'a {
        self.0.iter().map(move |(folder, name)| format!("{option}{}={name}", folder.display()))
    }
}
