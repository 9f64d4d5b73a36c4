//! Files and folders that are there only while a process writes them, however it ends.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{flock, FlockOperation};
use tempfile::{Builder, NamedTempFile, TempDir};

/// What the names of hidden files and folders begin with.
const PREFIX: &str = ".hermes-";

/// The staging folders of this process.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the staging folders of this process, which is about to end without dropping them.
pub fn remove_all() {
    // The latest first: it may be in one of the others.
    for folder in folders().drain(..).rev() {
        let _ = fs::remove_dir_all(folder);
    }
}

/// A folder for temporary files, which goes when it is dropped; its name begins with `prefix`.
///
/// # Errors
/// The folder of temporary files (`TMPDIR`) is not there or may not be written; the message names
/// it.
pub fn temporary_folder(prefix: &str) -> io::Result<TempDir> {
    let made = Builder::new().prefix(prefix).tempdir();
    made.map_err(|error| {
        let error = without_path(error);
        io::Error::new(error.kind(), format!("{}: {error}", std::env::temp_dir().display()))
    })
}

/// An error of `tempfile` without the name of a temporary file, which nobody has asked for.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((text, _)) => io::Error::new(error.kind(), text.to_string()),
        None => error,
    }
}

/// A file without its name yet.
///
/// Where the system can (on Linux, with most file systems), it has no name at all, so that nothing
/// is left of it if the process is killed; elsewhere it has a hidden one.
#[derive(Debug)]
pub enum StagedFile {
    /// No name, and the folder for which it is meant.
    Unnamed(File, PathBuf),
    /// A hidden name.
    Hidden(NamedTempFile),
}

impl StagedFile {
    /// An empty file in `folder`, with the permissions of an ordinary new one.
    ///
    /// # Errors
    /// The folder does not exist or may not be written.
    pub fn create_in(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed::create_in(folder) {
            return Ok(Self::Unnamed(file, folder.to_path_buf()));
        }
        Self::hidden_in(folder)
    }

    fn hidden_in(folder: &Path) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(folder).map(Self::Hidden).map_err(without_path)
    }

    /// Gives the file its name, in the same folder; replaces a file that has it.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn persist(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Hidden(file) => file.persist(path).map(drop).map_err(|error| error.error),
            #[cfg(target_os = "linux")]
            Self::Unnamed(file, folder) => match unnamed::link(&file, path) {
                // A name that is taken can be replaced only by renaming.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let hidden =
                        Builder::new().prefix(PREFIX).make_in(folder, |name| unnamed::link(&file, name))?;
                    hidden.persist(path).map(drop).map_err(|error| error.error)
                }
                other => other,
            },
            #[cfg(not(target_os = "linux"))]
            Self::Unnamed(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unnamed(file, _) => file.write(bytes),
            Self::Hidden(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Unnamed(file, _) => file.flush(),
            Self::Hidden(file) => file.flush(),
        }
    }
}

#[cfg(target_os = "linux")]
mod unnamed {
    //! Linux makes files without a name (`O_TMPFILE`) and names them by their descriptor.

    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    use rustix::fs::{linkat, open, AtFlags, Mode, OFlags, CWD};

    /// Where a process finds its descriptors.
    const DESCRIPTORS: &str = "/proc/self/fd";

    /// `None` if this system or this file system cannot do it.
    pub fn create_in(folder: &Path) -> Option<File> {
        if !Path::new(DESCRIPTORS).is_dir() {
            return None;
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        open(folder, flags, Mode::from_raw_mode(0o666)).ok().map(File::from)
    }

    pub fn link(file: &File, path: &Path) -> io::Result<()> {
        let descriptor = format!("{DESCRIPTORS}/{}", file.as_raw_fd());
        Ok(linkat(CWD, descriptor, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }
}

/// A hidden folder for files that must have a name while they are written. It goes when it is
/// dropped; what killed processes left of such folders goes when the next one is made beside it.
#[derive(Debug)]
pub struct StagingFolder {
    /// `None` when it is gone.
    folder: Option<TempDir>,
    /// Locked as long as the process lives.
    _lock: File,
}

impl StagingFolder {
    /// A new folder in `parent`.
    ///
    /// # Errors
    /// `parent` does not exist or may not be written.
    pub fn create_in(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent);
        let folder = Builder::new().prefix(PREFIX).tempdir_in(parent).map_err(without_path)?;
        // The lock has its name when it is held, so that it never looks abandoned.
        let fresh = folder.path().join("new-lock");
        let lock = File::create(&fresh)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            fs::rename(fresh, folder.path().join("lock"))?;
        }
        folders().push(folder.path().to_path_buf());
        Ok(Self { folder: Some(folder), _lock: lock })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// Any of the file system.
    pub fn close(mut self) -> io::Result<()> {
        folders().retain(|other| other != self.path());
        self.folder.take().map_or(Ok(()), TempDir::close)
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        folders().retain(|other| other != self.path());
    }
}

/// Removes the staging folders in `parent` whose processes are gone. What cannot be removed stays.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let Ok(lock) = File::open(entry.path().join("lock")) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_name_what_is_temporary() {
        let folder = tempfile::tempdir().unwrap();
        for error in [
            StagingFolder::create_in(&folder.path().join("none")).unwrap_err(),
            StagedFile::hidden_in(&folder.path().join("none")).unwrap_err(),
        ] {
            assert_eq!(error.to_string(), "No such file or directory (os error 2)");
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let name =
            |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn files_get_their_names_at_the_end_and_replace_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for (stage, text) in [
            (StagedFile::create_in as fn(&Path) -> io::Result<StagedFile>, "one"),
            (StagedFile::create_in, "two"),
            (StagedFile::hidden_in, "three"),
        ] {
            let mut file = stage(folder.path()).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            assert!(fs::read_to_string(&path).unwrap_or_default() != text);
            file.persist(&path).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(folder.path()), ["out"]);
        }
        drop(StagedFile::create_in(folder.path()).unwrap());
        drop(StagedFile::hidden_in(folder.path()).unwrap());
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[cfg(unix)]
    #[test]
    fn files_have_the_permissions_of_new_ones() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let [ordinary, staged] = ["ordinary", "staged"].map(|name| folder.path().join(name));
        fs::write(&ordinary, "").unwrap();
        StagedFile::create_in(folder.path()).unwrap().persist(&staged).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ordinary), mode(&staged));
    }

    #[test]
    fn folders_of_the_dead_go_and_those_of_the_living_stay() {
        let parent = tempfile::tempdir().unwrap();
        // Of a process that died: nobody holds the lock.
        let dead = parent.path().join(".hermes-dead");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("lock"), "").unwrap();
        fs::write(dead.join("wave.fst"), "half").unwrap();
        // Not ours.
        fs::create_dir(parent.path().join(".hermes-other")).unwrap();
        let first = StagingFolder::create_in(parent.path()).unwrap();
        assert!(!dead.exists());
        fs::write(first.path().join("wave.fst"), "half").unwrap();
        let second = StagingFolder::create_in(parent.path()).unwrap();
        assert!(first.path().join("wave.fst").exists());
        first.close().unwrap();
        drop(second);
        assert_eq!(names(parent.path()), [".hermes-other"]);
    }
}
