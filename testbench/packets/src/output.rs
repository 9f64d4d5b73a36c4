//! Files that appear complete or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::input::is_standard;
use crate::staging::StagedFile;

/// A file being written: it gets its name when [`OutputFile::commit`] succeeds; dropped before, or
/// if the process is killed, it leaves nothing.
///
/// A path that is no regular file (a pipe, a terminal) is written straight; so is standard output,
/// whose name is `-`.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Staged(BufWriter<StagedFile>),
    Direct(BufWriter<File>),
    Standard(BufWriter<io::Stdout>),
}

impl OutputFile {
    /// Starts a file that will be called `path`.
    ///
    /// # Errors
    /// If its folder does not exist or may not be written, or the file is there and read-only; the
    /// message names the path.
    pub fn create(path: &Path) -> io::Result<Self> {
        let named = |error| named(path, error);
        if is_standard(path) {
            let target = Target::Standard(BufWriter::new(io::stdout()));
            return Ok(Self { path: path.to_path_buf(), target });
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        std::fs::metadata(folder).map_err(named)?;
        if path.is_dir() {
            return Err(named(io::Error::other("is a directory")));
        }
        // It could be replaced, if its folder may be written; but it was made read-only to stay.
        if path.metadata().is_ok_and(|data| data.is_file() && data.permissions().readonly()) {
            return Err(named(io::Error::other("is read-only")));
        }
        let target = if path.exists() && !path.is_file() {
            Target::Direct(BufWriter::new(File::options().write(true).open(path).map_err(named)?))
        } else {
            Target::Staged(BufWriter::new(StagedFile::create_in(folder).map_err(named)?))
        };
        Ok(Self { path: path.to_path_buf(), target })
    }

    /// Writes a value as JSON for people, with the end of a line behind it.
    ///
    /// # Errors
    /// Any of the file system; the message names the path.
    pub fn write_json(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *self, value)?;
        self.write_all(b"\n")
    }

    /// Gives the file its name, replacing a file that had it.
    ///
    /// # Errors
    /// Any of the file system; the message names the path.
    pub fn commit(self) -> io::Result<()> {
        let path = self.path;
        let result = match self.target {
            Target::Staged(file) => {
                file.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.persist(&path))
            }
            Target::Direct(mut file) => file.flush(),
            Target::Standard(mut output) => output.flush(),
        };
        result.map_err(|error| named(&path, error))
    }
}

/// Writes a file that appears whole or not at all.
///
/// # Errors
/// As [`OutputFile::create`] and [`OutputFile::commit`].
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// The error, with the path in its message.
fn named(path: &Path, error: io::Error) -> io::Error {
    if is_standard(path) {
        return io::Error::new(error.kind(), format!("standard output: {error}"));
    }
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = match &mut self.target {
            Target::Staged(file) => file.write(bytes),
            Target::Direct(file) => file.write(bytes),
            Target::Standard(output) => output.write(bytes),
        };
        result.map_err(|error| named(&self.path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = match &mut self.target {
            Target::Staged(file) => file.flush(),
            Target::Direct(file) => file.flush(),
            Target::Standard(output) => output.flush(),
        };
        result.map_err(|error| named(&self.path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appears_at_commit_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is left of a file not committed");
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(!path.exists());
        file.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
    }

    #[test]
    fn a_read_only_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        std::fs::write(&path, "old").unwrap();
        let mut permissions = path.metadata().unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        let error = write(&path, b"new").unwrap_err().to_string();
        assert!(error.ends_with("out.csv: is read-only"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn errors_name_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let error = OutputFile::create(&folder.path().join("none/out.csv")).unwrap_err().to_string();
        assert!(error.contains("none/out.csv"), "{error}");
        let error = OutputFile::create(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is a directory"), "{error}");
        let full = Path::new("/dev/full");
        if full.exists() {
            let mut file = OutputFile::create(full).unwrap();
            let error = file.write_all(&[0; 1 << 20]).unwrap_err().to_string();
            assert!(error.starts_with("/dev/full: "), "{error}");
        }
    }
}
