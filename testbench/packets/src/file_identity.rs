//! Whether two paths stand for one file: through symbolic links, hard links and relative parts,
//! whether it is there or not.

use std::io;
use std::path::{Path, PathBuf};

/// Which file a path stands for, there or not.
#[derive(Debug)]
pub struct FileIdentity {
    /// The file itself; `None` if there is none.
    file: Option<File>,
    /// Its path without links. Empty if it is no regular file: what a device or a pipe is given
    /// twice, it gets twice.
    path: PathBuf,
}

/// Device and number of a file.
#[cfg(unix)]
type File = (u64, u64);
#[cfg(not(unix))]
type File = ();

impl FileIdentity {
    /// That of `path`, through symbolic links and relative parts. The file need not exist.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        match path.metadata() {
            Ok(metadata) if !metadata.is_file() => Self { file: None, path: PathBuf::new() },
            Ok(metadata) => Self { file: number(&metadata), path: real(path) },
            Err(_) => Self { file: None, path: real(path) },
        }
    }

    /// Whether both paths stand for one file. Devices and pipes are never equal: what they are
    /// given twice, they get twice.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let same_file = self.file.is_some() && self.file == other.file;
        same_file || (!self.path.as_os_str().is_empty() && self.path == other.path)
    }
}

#[cfg(unix)]
fn number(metadata: &std::fs::Metadata) -> Option<File> {
    use std::os::unix::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn number(_: &std::fs::Metadata) -> Option<File> {
    None
}

/// Links that are followed one after the other; more of them are a circle.
const MOST_LINKS: usize = 40;

/// The path of a file without links and dots, as far as it exists. The file need not exist: a link
/// may point to nothing yet.
fn real(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = path.canonicalize() {
            return real;
        }
        match std::fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => break,
        }
    }
    let in_folder = |folder: PathBuf| Some(folder.join(path.file_name()?));
    let folder: io::Result<_> = folder_of(&path).canonicalize();
    folder.ok().and_then(in_folder).or_else(|| std::path::absolute(&path).ok()).unwrap_or(path)
}

/// The folder in which `path` lies.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A folder with a file `in`, and `new` that is not there; both under many names.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("in"), "input").unwrap();
        fs::write(at("other"), "input").unwrap();
        fs::create_dir(at("sub")).unwrap();
        fs::hard_link(at("in"), at("hard")).unwrap();
        symlink(at("in"), at("absolute-link")).unwrap();
        symlink("in", at("link")).unwrap();
        symlink("../link", at("sub/link-to-link")).unwrap();
        symlink(".", at("here")).unwrap();
        symlink("../new", at("sub/link-to-new")).unwrap();
        symlink("sub/link-to-new", at("link-to-link-to-new")).unwrap();
        symlink("circle", at("circle")).unwrap();
        folder
    }

    #[test]
    fn every_name_of_a_file_is_known() {
        let folder = folder();
        let known = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|name| FileIdentity::of(&folder.path().join(name)));
            assert_eq!(a.is(&b), b.is(&a));
            a.is(&b)
        };
        let there =
            ["in", "./in", "sub/../in", "hard", "link", "absolute-link", "sub/link-to-link", "here/here/in"];
        let not_there = ["new", "sub/../new", "here/new", "sub/link-to-new", "link-to-link-to-new"];
        for names in [&there[..], &not_there] {
            for a in names {
                for b in names {
                    assert!(known(a, b), "{a} and {b}");
                }
                for b in ["other", "sub/new", "none/new", "circle", "sub"] {
                    assert!(!known(a, b), "{a} and {b}");
                }
            }
        }
        assert!(there.iter().all(|a| not_there.iter().all(|b| !known(a, b))));
        assert!(known("none/x", "none/x") && known("circle", "circle"));
        // Devices take what they are given.
        let null = || FileIdentity::of(Path::new("/dev/null"));
        assert!(!null().is(&null()));
    }

    #[test]
    fn relative_paths_are_those_of_the_working_folder() {
        let identity = |path: &str| FileIdentity::of(Path::new(path));
        assert!(identity("none.pcap").is(&identity("./none.pcap")));
        let absolute = std::env::current_dir().unwrap().join("none.pcap");
        assert!(identity("none.pcap").is(&FileIdentity::of(&absolute)));
        assert!(identity("Cargo.toml").is(&identity("src/../Cargo.toml")));
        assert!(!identity("none.pcap").is(&identity("none.json")));
    }
}
