//! What others keep in the build cache.

use std::fs;
use std::path::Path;

use crate::about::About;
use crate::cache::{key, Cache, Entry};
use crate::error::Error;
use crate::tools::ProgramFile;

/// The file that was made of `parts` before, or what `make` makes of them now, which is kept in the
/// build cache, that of the environment, as `library-KEY`.
///
/// `parts` name all that the bytes depend on: texts, arguments, the programs that read them (see
/// [`program_file`]). `about` says for people what the file is. Processes and threads that want the
/// same file wait for the one that makes it. Where there is no cache, or it cannot be read or
/// written, the file is made each time.
///
/// # Errors
/// Those of `make`.
pub fn kept<E>(parts: &[&str], about: &str, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
    kept_in(None, "library", parts, about, make)
}

/// As [`kept`], in the cache in `folder`, if it is given, as `KIND-KEY`.
pub(crate) fn kept_in<E>(
    folder: Option<&Path>,
    kind: &str,
    parts: &[&str],
    about: &str,
    make: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let name = format!("{kind}-{}", key(parts.iter().copied()));
    let held = Cache::open(folder).and_then(|cache| Ok((cache.lock(&name, || ())?, cache)));
    let (lock, cache) = match held {
        Ok(held) => held,
        Err(error) => {
            log::debug!("{name}: {error}");
            return make();
        }
    };
    if matches!(cache.lookup(&name), Ok(Entry::Good)) {
        if let Ok(bytes) = fs::read(cache.path(&name)) {
            lock.used();
            return Ok(bytes);
        }
    }
    let bytes = make()?;
    let publish = || -> Result<(), Error> {
        lock.must_write(&cache)?;
        cache.publish_bytes(&name, &bytes)?;
        cache.describe(&name, &About { text: about.to_string(), ..About::default() });
        Ok(())
    };
    // That it cannot be kept is no harm.
    if let Err(error) = publish() {
        log::debug!("{name}: {error}");
    }
    Ok(bytes)
}

/// Which file a program is, a path or a name on the search path: its path, size and time as text,
/// by which another version of it differs. `None`: there is none, or the file only starts one of
/// several (in a folder `shims`).
#[must_use]
pub fn program_file(program: &str) -> Option<String> {
    ProgramFile::find(program).filter(|file| !file.is_shim()).map(|file| format!("{file:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::program;

    /// The cache is that of the environment, which tests of one process share: so the names are
    /// this test's own.
    #[test]
    fn a_file_is_made_once_and_again_if_it_is_damaged_or_of_other_parts() {
        let own = format!("{:?}", std::time::SystemTime::now());
        let make = |parts: &[&str], bytes: &str| {
            let mut made = false;
            let got = kept(parts, "a test", || {
                made = true;
                Ok::<_, ()>(bytes.as_bytes().to_vec())
            });
            (String::from_utf8(got.unwrap()).unwrap(), made)
        };
        assert_eq!(kept(&[&own], "a test", || Err("does not work")), Err("does not work"));
        assert_eq!(make(&[&own], "first"), ("first".to_string(), true));
        assert_eq!(make(&[&own], "second"), ("first".to_string(), false));
        assert_eq!(make(&[&own, "x"], "third"), ("third".to_string(), true));
        let cache = Cache::open(None).unwrap();
        let name = |parts: &[&str]| format!("library-{}", key(parts.iter().copied()));
        assert!(cache.names().unwrap().contains(&name(&[&own])));
        assert_eq!(cache.about(&name(&[&own])).text, "a test");
        fs::write(cache.path(&name(&[&own])), "worst").unwrap();
        assert_eq!(make(&[&own], "fourth"), ("fourth".to_string(), true));
        for parts in [&[own.as_str()][..], &[&own, "x"]] {
            for end in ["", ".sha256", ".about", ".lock"] {
                fs::remove_file(cache.path(&format!("{}{end}", name(parts)))).unwrap();
            }
        }
    }

    #[test]
    fn another_program_is_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let first = program(folder.path(), "tool", "exit 0");
        let known = program_file(&first).unwrap();
        assert_eq!(program_file(&first), Some(known.clone()));
        program(folder.path(), "tool", "exit 10");
        assert_ne!(program_file(&first), Some(known));
        assert_eq!(program_file("a program that nobody has"), None);
    }
}
