//! The build cache: files named by a hash of everything that went into them, each with a checksum beside it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::Error;

/// A folder of built files.
///
/// An entry is `NAME` and `NAME.sha256`. Both are written beside and renamed, so that a reader never sees half a file;
/// a file that does not match its checksum counts as damaged. `NAME.lock` is held while an entry is checked or made.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
}

/// What the cache holds under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Missing,
    Damaged,
    Good,
}

/// Keeps the lock of an entry until dropped (the system frees it if the process dies).
#[derive(Debug)]
pub(crate) struct EntryLock(#[allow(dead_code, reason = "held, not read")] File);

impl Cache {
    /// The cache in `folder`, or in the folder that the environment names.
    pub(crate) fn open(folder: Option<&Path>) -> Result<Self, Error> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = folder
            .map(Path::to_path_buf)
            .or_else(|| variable("HERMES_CACHE"))
            .or_else(|| variable("XDG_CACHE_HOME").map(|p| p.join("hermes")))
            .or_else(|| variable("HOME").map(|p| p.join(".cache/hermes")))
            .ok_or(Error::NoCacheFolder)?;
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        let folder = folder.canonicalize().map_err(Error::io(&folder))?;
        Ok(Self { folder })
    }

    /// Where the entry `name` is or will be.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Waits until no other thread or process holds the entry; calls `waiting` if that is not at once.
    pub(crate) fn lock(&self, name: &str, waiting: impl FnOnce()) -> Result<EntryLock, Error> {
        let path = self.path(&format!("{name}.lock"));
        let file =
            File::options().create(true).truncate(false).write(true).open(&path).map_err(Error::io(&path))?;
        if fs4::FileExt::try_lock(&file).is_err() {
            waiting();
            fs4::FileExt::lock(&file).map_err(Error::io(&path))?;
        }
        Ok(EntryLock(file))
    }

    /// Looks the entry up and checks it against its checksum.
    pub(crate) fn lookup(&self, name: &str) -> Result<Entry, Error> {
        let path = self.path(name);
        let found = match checksum(&path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Entry::Missing),
            Err(e) => return Err(Error::io(path)(e)),
        };
        let stored = fs::read_to_string(self.path(&format!("{name}.sha256"))).unwrap_or_default();
        Ok(if stored.trim() == found { Entry::Good } else { Entry::Damaged })
    }

    /// Copies `file` into the cache as `name`. The caller holds the lock of the entry.
    pub(crate) fn publish(&self, name: &str, file: &Path) -> Result<PathBuf, Error> {
        let sum = checksum(file).map_err(Error::io(file))?;
        let place = |contents: &mut dyn io::Read, name: &str| {
            let path = self.path(name);
            let mut beside =
                tempfile::NamedTempFile::new_in(&self.folder).map_err(Error::io(&self.folder))?;
            io::copy(contents, &mut beside).map_err(Error::io(beside.path()))?;
            beside.as_file().sync_all().map_err(Error::io(beside.path()))?;
            beside.persist(&path).map_err(|e| Error::io(&path)(e.error))?;
            Ok::<_, Error>(path)
        };
        place(&mut sum.as_bytes(), &format!("{name}.sha256"))?;
        place(&mut File::open(file).map_err(Error::io(file))?, name)
    }
}

/// A name for content: the SHA-256 of `parts`, each preceded by its length so that no two lists look alike.
pub(crate) fn key<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}

fn checksum(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&buffer[..n]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_lists_apart() {
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_ne!(key(["a"]), key(["a", ""]));
        assert_eq!(key(["a", "b"]), key(["a", "b"]));
    }

    #[test]
    fn damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(folder.path())).unwrap();
        assert_eq!(cache.lookup("x").unwrap(), Entry::Missing);
        let source = folder.path().join("source");
        fs::write(&source, "some bytes").unwrap();
        let path = cache.publish("x", &source).unwrap();
        assert_eq!(cache.lookup("x").unwrap(), Entry::Good);
        fs::write(&path, "same bytes").unwrap();
        assert_eq!(cache.lookup("x").unwrap(), Entry::Damaged);
        fs::remove_file(cache.path("x.sha256")).unwrap();
        assert_eq!(cache.lookup("x").unwrap(), Entry::Damaged);
    }

    #[test]
    fn a_lock_is_held_until_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(folder.path())).unwrap();
        let first = cache.lock("x", || panic!("nobody holds it")).unwrap();
        let (told, heard) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let cache = &cache;
            let second = scope.spawn(move || cache.lock("x", || told.send(()).unwrap()).map(drop));
            heard.recv_timeout(std::time::Duration::from_secs(10)).expect("the second one waits");
            drop(first);
            second.join().unwrap().unwrap();
        });
    }
}
