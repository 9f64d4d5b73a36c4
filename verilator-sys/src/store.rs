//! What is in the build cache, and how to get rid of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::cache::Cache;
use crate::error::Error;

/// What an entry of the cache consists of: it, and what stands beside it.
const PARTS: [&str; 4] = ["", ".sha256", ".about", ".lock"];
/// Files that a process which was killed left while it wrote them are this old at least.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// A file in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes, with what stands beside it.
    pub bytes: u64,
    /// Time since it was used.
    pub unused: Duration,
    /// What it is of, if that was said when it was built.
    pub about: Option<String>,
}

/// What [`clean`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// What is gone.
    pub removed: Vec<Stored>,
    /// What another process checks or builds, and stays.
    pub in_use: Vec<Stored>,
}

/// The folder of the cache (that of the environment, unless `folder` is given), and the models and
/// run-time libraries in it, that used last first.
///
/// # Errors
/// The folder cannot be made or read.
pub fn list(folder: Option<&Path>) -> Result<(PathBuf, Vec<Stored>), Error> {
    let cache = Cache::open(folder)?;
    let mut all: Vec<_> = cache.names()?.iter().filter_map(|name| stored(&cache, name)).collect();
    all.sort_by(|a, b| (a.unused, &a.path).cmp(&(b.unused, &b.path)));
    Ok((cache.folder().to_path_buf(), all))
}

/// Removes what was not used for `unused`. An entry that another process checks or builds stays;
/// one that is loaded goes on to work there.
///
/// # Errors
/// The folder cannot be read, or a file not removed.
pub fn clean(folder: Option<&Path>, unused: Duration) -> Result<Cleaned, Error> {
    let cache = Cache::open(folder)?;
    let mut cleaned = Cleaned::default();
    for name in cache.names()? {
        let Some(entry) = stored(&cache, &name).filter(|entry| entry.unused >= unused) else { continue };
        let Some(_lock) = cache.try_lock(&name) else {
            cleaned.in_use.push(entry);
            continue;
        };
        // The lock last: until then nobody else has the entry.
        for part in PARTS {
            remove(&cache.path(&format!("{name}{part}")))?;
        }
        cleaned.removed.push(entry);
    }
    remove_abandoned(cache.folder());
    Ok(cleaned)
}

/// Removes a file that may be there.
fn remove(path: &Path) -> Result<(), Error> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path)(error)),
        _ => Ok(()),
    }
}

/// Removes what processes that were killed left while they wrote it.
fn remove_abandoned(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let old = entry.metadata().is_ok_and(|data| data.is_file() && age(data.modified().ok()) >= ABANDONED);
        if old && entry.file_name().to_string_lossy().starts_with(".tmp") {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn age(time: Option<SystemTime>) -> Duration {
    time.and_then(|time| time.elapsed().ok()).unwrap_or_default()
}

/// The entry called `name`; none if it is gone, or nothing but its lock, which somebody may hold.
fn stored(cache: &Cache, name: &str) -> Option<Stored> {
    let metadata = |part: &&str| cache.path(&format!("{name}{part}")).metadata().ok();
    let bytes = PARTS.iter().filter_map(metadata).map(|data| data.len()).sum();
    let last = PARTS.iter().filter_map(metadata).filter_map(|data| data.modified().ok()).max()?;
    let about = Some(cache.about(name).text).filter(|text| !text.is_empty());
    Some(Stored { path: cache.path(name), bytes, unused: age(Some(last)), about })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::About;

    /// A cache with two models, of which the first was not used for ten days, and a run-time
    /// library.
    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(folder.path())).unwrap();
        let file = folder.path().join("built");
        fs::write(&file, "bytes").unwrap();
        for name in ["model-a.so", "model-b.so", "runtime-c.a"] {
            let lock = cache.lock(name, || ()).unwrap();
            cache.publish(name, &file).unwrap();
            lock.used();
        }
        cache.describe("model-b.so", &About { text: "an array".into(), ..About::default() });
        let old = SystemTime::now() - Duration::from_secs(10 * 24 * 3600);
        for part in ["", ".sha256", ".lock"] {
            let path = cache.path(&format!("model-a.so{part}"));
            fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        }
        (folder, cache)
    }

    fn names(all: &[Stored]) -> Vec<String> {
        all.iter().map(|entry| entry.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_is_there_is_listed_the_latest_first() {
        let (folder, _) = cache();
        let (_, all) = list(Some(folder.path())).unwrap();
        assert_eq!(names(&all)[2], "model-a.so");
        assert!(
            all[2].unused >= Duration::from_secs(9 * 24 * 3600) && all[0].unused < Duration::from_secs(3600)
        );
        let about: Vec<_> = all.iter().filter_map(|entry| entry.about.as_deref()).collect();
        assert_eq!(about, ["an array"]);
        assert!(all.iter().all(|entry| entry.bytes >= 5 + 64));
    }

    #[test]
    fn what_is_old_goes_and_what_is_in_use_stays() {
        let (folder, cache) = cache();
        let day = Duration::from_secs(24 * 3600);
        let left = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            entries.filter(|entry| entry.as_ref().unwrap().file_name() != "built").count()
        };
        let cleaned = clean(Some(folder.path()), 11 * day).unwrap();
        assert_eq!((cleaned, left()), (Cleaned::default(), 3 + 4 + 3));
        let cleaned = clean(Some(folder.path()), day).unwrap();
        assert_eq!((names(&cleaned.removed), left()), (vec!["model-a.so".to_string()], 4 + 3));
        let held = cache.lock("model-b.so", || ()).unwrap();
        let cleaned = clean(Some(folder.path()), Duration::ZERO).unwrap();
        assert_eq!(names(&cleaned.removed), ["runtime-c.a"]);
        assert_eq!((names(&cleaned.in_use), left()), (vec!["model-b.so".to_string()], 4));
        drop(held);
        clean(Some(folder.path()), Duration::ZERO).unwrap();
        assert_eq!(left(), 0);
    }

    #[test]
    fn a_lock_that_was_removed_is_not_waited_for() {
        let (folder, cache) = cache();
        let held = cache.lock("model-a.so", || ()).unwrap();
        let (told, heard) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| cache.lock("model-a.so", || told.send(()).unwrap()));
            heard.recv_timeout(Duration::from_secs(10)).expect("the second one waits");
            fs::remove_file(folder.path().join("model-a.so.lock")).unwrap();
            drop(held);
            let _second = second.join().unwrap().unwrap();
            assert!(folder.path().join("model-a.so.lock").exists());
            assert!(cache.try_lock("model-a.so").is_none(), "the second one holds the new lock");
        });
    }
}
