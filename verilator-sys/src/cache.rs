//! The build cache: files named by a hash of everything that went into them, each with a checksum
//! beside it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::about::{self, About};
use crate::error::Error;

/// How the names of entries begin.
const KINDS: [&str; 5] = ["model-", "runtime-", "header-", "library-", "tools-"];

/// A folder of built files.
///
/// An entry is `NAME` and `NAME.sha256`, and for people `NAME.about`. They are written beside and
/// renamed, so that a reader never sees half a file; a file that does not match its checksum counts
/// as damaged. `NAME.lock` is held while an entry is checked or made; its time is that of the
/// latest use.
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
pub(crate) enum EntryLock {
    /// Held.
    Held(File),
    /// The cache may only be read, so that nobody can change the entry either; why.
    ReadOnly(io::Error),
}

impl EntryLock {
    /// Remembers that the entry was used now. That it cannot be remembered is no harm.
    pub(crate) fn used(&self) {
        if let Self::Held(file) = self {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Makes sure that the entry may be written.
    pub(crate) fn must_write(&self, cache: &Cache) -> Result<(), Error> {
        match self {
            Self::Held(_) => Ok(()),
            Self::ReadOnly(reason) => {
                let reason = io::Error::new(reason.kind(), reason.to_string());
                Err(Error::ReadOnlyCache { path: cache.folder.clone(), reason })
            }
        }
    }
}

/// Whether an error says that something may not be written.
fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whether `path` still is `file`: somebody may have removed it, and made another one.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (held, there) = (file.metadata().map(number), path.metadata().map(number));
    held.is_ok_and(|held| there.is_ok_and(|there| held == there))
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

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
        if !folder.is_dir() {
            fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        }
        let folder = folder.canonicalize().map_err(Error::io(&folder))?;
        Ok(Self { folder })
    }

    /// Where it is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the entry `name` is or will be.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Waits until no other thread or process holds the entry; calls `waiting` if that is not at
    /// once. In a cache that may only be read there is nothing to wait for.
    pub(crate) fn lock(&self, name: &str, waiting: impl FnOnce()) -> Result<EntryLock, Error> {
        let path = self.path(&format!("{name}.lock"));
        let mut waiting = Some(waiting);
        loop {
            let file = match File::options().create(true).truncate(false).write(true).open(&path) {
                Ok(file) => file,
                Err(error) if is_read_only(&error) => return Ok(EntryLock::ReadOnly(error)),
                Err(error) => return Err(Error::io(&path)(error)),
            };
            if file.try_lock().is_err() {
                if let Some(waiting) = waiting.take() {
                    waiting();
                }
                file.lock().map_err(Error::io(&path))?;
            }
            // Whoever removed the entry removed its lock too.
            if is_at(&file, &path) {
                return Ok(EntryLock::Held(file));
            }
        }
    }

    /// Locks the entry if nobody holds it. The lock must be there.
    pub(crate) fn try_lock(&self, name: &str) -> Option<EntryLock> {
        let path = self.path(&format!("{name}.lock"));
        let file = File::options().create(true).truncate(false).write(true).open(&path).ok()?;
        (file.try_lock().is_ok() && is_at(&file, &path)).then_some(EntryLock::Held(file))
    }

    /// Whether there is anything by this name.
    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).symlink_metadata().is_ok()
    }

    /// Looks the entry up and checks it against its checksum.
    pub(crate) fn lookup(&self, name: &str) -> Result<Entry, Error> {
        let path = self.path(name);
        let found = match checksum(&path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Entry::Missing),
            // What should be a file and is none.
            Err(_) if !path.is_file() => return Ok(Entry::Damaged),
            Err(e) => return Err(Error::io(path)(e)),
        };
        let stored = fs::read_to_string(self.path(&format!("{name}.sha256"))).unwrap_or_default();
        Ok(if stored.trim() == found { Entry::Good } else { Entry::Damaged })
    }

    /// What is said of an entry.
    pub(crate) fn about(&self, name: &str) -> About {
        fs::read_to_string(self.path(&format!("{name}.about")))
            .map_or_else(|_| About::default(), |text| About::parse(&text))
    }

    /// Says what an entry is. That it cannot be said is no harm.
    pub(crate) fn describe(&self, name: &str, about: &About) {
        let _ = self.place(&mut about.to_text().as_bytes(), &format!("{name}.about"));
    }

    /// Names of all entries: built files, by their checksums; and those of which only the lock is
    /// there.
    pub(crate) fn names(&self) -> Result<Vec<String>, Error> {
        let entries = fs::read_dir(&self.folder).map_err(Error::io(&self.folder))?;
        let names = entries.flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let name =
                [".sha256", ".lock", ".about"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
            let is_entry = KINDS.iter().any(|kind| name.starts_with(kind));
            is_entry.then(|| name.to_string())
        });
        Ok(names.collect::<BTreeSet<_>>().into_iter().collect())
    }

    /// How long the model of `verilog_bytes` takes to build, as the models that were built here
    /// tell, if there are any.
    pub(crate) fn estimate(&self, verilog_bytes: usize, trace: bool) -> Duration {
        let names = self.names().unwrap_or_default();
        about::estimate(names.iter().map(|name| self.about(name)), verilog_bytes, trace)
    }

    /// Copies `file` into the cache as `name`. The caller holds the lock of the entry.
    pub(crate) fn publish(&self, name: &str, file: &Path) -> Result<PathBuf, Error> {
        let bytes = fs::read(file).map_err(Error::io(file))?;
        self.publish_bytes(name, &bytes)
    }

    /// Writes `bytes` into the cache as `name`. The caller holds the lock of the entry.
    pub(crate) fn publish_bytes(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let sum = hex(&Sha256::digest(bytes));
        // What is no file cannot be replaced by one.
        if self.path(name).is_dir() {
            fs::remove_dir_all(self.path(name)).map_err(Error::io(self.path(name)))?;
        }
        self.place(&mut sum.as_bytes(), &format!("{name}.sha256"))?;
        self.place(&mut &bytes[..], name)
    }

    /// Writes a file beside, and gives it its name.
    fn place(&self, contents: &mut dyn io::Read, name: &str) -> Result<PathBuf, Error> {
        let path = self.path(name);
        let mut builder = tempfile::Builder::new();
        // As of an ordinary file: others may use the cache as well.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut beside = builder.tempfile_in(&self.folder).map_err(Error::io(&self.folder))?;
        io::copy(contents, &mut beside).map_err(Error::io(beside.path()))?;
        beside.as_file().sync_all().map_err(Error::io(beside.path()))?;
        beside.persist(&path).map_err(|e| Error::io(&path)(e.error))?;
        Ok(path)
    }
}

/// A name for content: the SHA-256 of `parts`, each preceded by its length so that no two lists
/// look alike.
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
