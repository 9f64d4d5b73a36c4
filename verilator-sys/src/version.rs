//! Which Verilator a program is.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::run::{first_line, run};

/// The oldest that builds models.
const OLDEST: Version = Version::new(5, 6);
/// From this version on, Verilator's graph of the data flow is left out. It puts signals outside of
/// a shared module in the place of its inputs (seen with 5.038), and takes `always` blocks apart,
/// so that the code of a core grows to five times its size (seen with 5.049).
const WITHOUT_GRAPH: Version = Version::new(5, 31);
/// Verilator's own record of its version, in its folder: packages that are not built from a release
/// say no version.
const HEADER: &str = "include/verilated_config.h";

/// A version of Verilator: 5.006 and 5.6 are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// Version `major.minor`.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Of `5.006`, with or without more behind it.
    fn parse(text: &str) -> Option<Self> {
        let (major, rest) = text.split_once('.')?;
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        Some(Self { major: major.parse().ok()?, minor: digits.parse().ok()? })
    }

    /// Of the answer to `--version`, such as `Verilator 5.006 2023-01-22 rev (Debian 5.006-3)`.
    fn of_answer(line: &str) -> Option<Self> {
        Self::parse(line.strip_prefix("Verilator ")?.trim_start())
    }

    /// Of the header, such as `#define VERILATOR_VERSION "5.30"`.
    fn of_header(text: &str) -> Option<Self> {
        let value = text.lines().find_map(|line| line.trim().strip_prefix("#define VERILATOR_VERSION "))?;
        Self::parse(value.trim().trim_matches('"'))
    }

    /// Further flags that this version needs; with `shared`, for a design with shared modules.
    pub(crate) fn flags(self, shared: bool) -> &'static [&'static str] {
        match (self >= WITHOUT_GRAPH, shared) {
            (false, _) => &[],
            (true, false) => &["-fno-dfg"],
            // Parts of an `always` block come in an order that differs between instances: they
            // would not share their functions.
            (true, true) => &["-fno-dfg", "-fno-split"],
        }
    }
}

/// As Verilator writes it: three digits behind the point.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.major, self.minor)
    }
}

/// A Verilator program that was asked for its version.
#[derive(Clone, Debug)]
pub(crate) struct Verilator {
    /// What it calls itself and its version: different for different versions, also where its
    /// answer is not.
    pub(crate) name: String,
    pub(crate) version: Version,
}

impl Verilator {
    /// Asks `program`.
    ///
    /// # Errors
    /// There is no such program, neither its answer nor its header names a version, or the version
    /// is too old.
    pub(crate) fn ask(program: &str) -> Result<Self, Error> {
        let answer = first_line(&run(Command::new(program).arg("--version"), program)?);
        let version = match Version::of_answer(&answer) {
            Some(version) => Some(version),
            None => fs::read_to_string(root(program)?.join(HEADER))
                .ok()
                .and_then(|text| Version::of_header(&text)),
        };
        match version.filter(|version| *version >= OLDEST) {
            Some(version) => Ok(Self { name: format!("Verilator {version}: {}", answer.trim()), version }),
            None => Err(Error::VersionTooOld { program: program.to_string(), found: answer }),
        }
    }
}

/// The folder with the run-time library of the Verilator `program`.
pub(crate) fn root(program: &str) -> Result<PathBuf, Error> {
    let root = run(Command::new(program).args(["--getenv", "VERILATOR_ROOT"]), program)?;
    Ok(Path::new(root.trim()).to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::program;

    #[test]
    fn versions_are_read() {
        let debian = Version::of_answer("Verilator 5.006 2023-01-22 rev (Debian 5.006-3)");
        assert_eq!(debian, Some(Version::new(5, 6)));
        assert_eq!(Version::of_answer("Verilator 5.049 devel rev v5.048-12"), Some(Version::new(5, 49)));
        let header = "\n#define VERILATOR_PRODUCT \"Verilator\"\n#define VERILATOR_VERSION \"5.30\"\n";
        assert_eq!(Version::of_header(header), Some(Version::new(5, 30)));
        for other in ["", " rev UNKNOWN.REV", "Icarus 5.006", "Verilator five", "Verilator 5"] {
            assert_eq!(Version::of_answer(other), None, "{other}");
        }
        assert_eq!(Version::new(5, 6).to_string(), "5.006");
    }

    #[test]
    fn newer_is_more() {
        assert!(Version::new(5, 6) < Version::new(5, 30) && Version::new(4, 228) < OLDEST);
        assert!(Version::new(5, 30).flags(true).is_empty());
        assert_eq!(Version::new(5, 38).flags(false), ["-fno-dfg"]);
        assert_eq!(Version::new(5, 38).flags(true), ["-fno-dfg", "-fno-split"]);
    }

    /// The Python packages answer all the same: their header tells them apart.
    #[test]
    fn a_program_without_a_version_has_it_in_its_header() {
        let named = |version: &str| {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("include")).unwrap();
            let header = format!("#define VERILATOR_VERSION \"{version}\"\n");
            fs::write(folder.path().join(HEADER), header).unwrap();
            let answers = format!(
                "case \"$1\" in --version) echo ' rev UNKNOWN.REV';; --getenv) echo '{}';; esac",
                folder.path().display()
            );
            Verilator::ask(&program(folder.path(), "verilator", &answers))
        };
        let [older, newer] = ["5.30", "5.38"].map(|version| named(version).unwrap());
        assert_eq!((older.version, newer.version), (Version::new(5, 30), Version::new(5, 38)));
        assert_ne!(older.name, newer.name);
        for wrong in ["4.228", "none"] {
            let error = named(wrong).unwrap_err();
            assert!(
                matches!(&error, Error::VersionTooOld { found, .. } if found.contains("UNKNOWN")),
                "{error}"
            );
        }
    }
}
