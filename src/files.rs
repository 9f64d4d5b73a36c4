//! The files of a command: what it reads must not be what it writes.
//!
//! Every subcommand declares its files once, and nothing is read or written before they were
//! checked. Two names of one file are found whatever they look like: through symbolic links, hard
//! links and relative paths. `-` is standard input and standard output, each for one file of a
//! command.

use std::path::{Path, PathBuf};

use anyhow::bail;
use hermes_testbench::file_identity::FileIdentity;
use hermes_testbench::input::{self, is_standard};

use crate::print;

/// Variables of the environment that name folders.
const VARIABLES: [&str; 2] = ["HERMES_CACHE", "TMPDIR"];

/// The files of a command, each with the option that names it.
#[derive(Clone, Debug, Default)]
pub struct Files {
    inputs: Vec<Named>,
    outputs: Vec<Named>,
    /// What must have a name in the file system, and what it is.
    named: Vec<(Named, &'static str)>,
}

#[derive(Clone, Debug)]
struct Named {
    option: String,
    path: PathBuf,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // `--out FILE`, but `--table NAME=FILE`
        let space = if self.option.ends_with('=') { "" } else { " " };
        write!(f, "{}{space}{}", self.option, self.path.display())
    }
}

impl Files {
    /// Adds a file that is read, if it was given. `option` is what stands before it on the command
    /// line.
    #[must_use]
    pub fn input(mut self, option: impl Into<String>, path: Option<&Path>) -> Self {
        self.inputs.extend(path.map(|path| Named { option: option.into(), path: path.to_path_buf() }));
        self
    }

    /// Adds a file that is written, if it was given.
    #[must_use]
    pub fn output(mut self, option: impl Into<String>, path: Option<&Path>) -> Self {
        self.outputs.extend(path.map(|path| Named { option: option.into(), path: path.to_path_buf() }));
        self
    }

    /// Adds a file that other programs read or write, so that it cannot be `-`; it is added as an
    /// input or an output beside.
    #[must_use]
    pub fn file(self, option: &'static str, path: Option<&Path>) -> Self {
        self.with_name(option, path, "file")
    }

    /// Adds a folder that is written to.
    #[must_use]
    pub fn folder(self, option: &'static str, path: Option<&Path>) -> Self {
        self.with_name(option, path, "folder")
    }

    fn with_name(mut self, option: &'static str, path: Option<&Path>, what: &'static str) -> Self {
        self.named.extend(path.map(|path| (Named { option: option.into(), path: path.to_path_buf() }, what)));
        self
    }

    /// Every file that is read, with its option.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.inputs.iter().map(|file| (file.option.as_str(), file.path.as_path()))
    }

    /// Adds the files of `other`.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.inputs.extend(other.inputs);
        self.outputs.extend(other.outputs);
        self.named.extend(other.named);
        self
    }

    /// `message`, an error, with the option of the file that it begins with before it, or all
    /// options of that file: libraries name files alone. One that begins with the value of TMPDIR
    /// or HERMES_CACHE gets the name of the variable.
    pub fn with_option(&self, message: String) -> String {
        let variable = |name: &'static str| {
            let path = std::env::var_os(name).filter(|path| !path.is_empty())?;
            Some(Named { option: format!("{name}="), path: path.into() })
        };
        let variables: Vec<_> = VARIABLES.into_iter().filter_map(variable).collect();
        let files = self.inputs.iter().chain(&self.outputs).chain(self.named.iter().map(|(file, _)| file));
        let is_first = |file: &&Named| {
            let rest = message.strip_prefix(&input::name(&file.path));
            file.option.starts_with('-') && rest.is_some_and(|rest| rest.starts_with(':'))
        };
        // A file may be read for two options, and is listed twice if it must have a name.
        let mut options: Vec<_> = files.filter(is_first).map(|file| file.option.as_str()).collect();
        options.sort_unstable();
        options.dedup();
        match options.as_slice() {
            [] => {}
            [option] if option.ends_with('=') => return format!("{option}{message}"),
            options => return format!("{} {message}", options.join(" or ")),
        }
        let below = |file: &&Named| {
            let rest = message.strip_prefix(&file.path.display().to_string());
            rest.is_some_and(|rest| rest.starts_with([':', '/']))
        };
        match variables.iter().find(below) {
            Some(Named { option, .. }) => format!("{option}{message}"),
            None => message,
        }
    }

    /// Makes sure that no output is an input, another output, or a file that may not be written. If
    /// an output is `-`, what else the command prints goes to standard error from now on.
    ///
    /// # Errors
    /// Two names of one file, both with their options; a read-only file; `-` for two files, or for
    /// one that must have a name.
    pub fn check(&self) -> anyhow::Result<()> {
        self.check_standard()?;
        let with_path = |file: &&Named| !is_standard(&file.path);
        let inputs: Vec<_> =
            self.inputs.iter().filter(with_path).map(|file| (file, FileIdentity::of(&file.path))).collect();
        let mut outputs: Vec<(&Named, FileIdentity)> = Vec::new();
        for file in self.outputs.iter().filter(with_path) {
            let identity = FileIdentity::of(&file.path);
            // It could be replaced, if its folder may be written; but it was made read-only to
            // stay.
            if file.path.metadata().is_ok_and(|data| data.is_file() && data.permissions().readonly()) {
                bail!("{file}: is read-only; expected a file that may be written, or none");
            }
            if let Some((other, _)) = inputs.iter().find(|(_, other)| other.is(&identity)) {
                bail!("{file}: would overwrite {other}, which is read; expected another file");
            }
            if let Some((other, _)) = outputs.iter().find(|(_, other)| other.is(&identity)) {
                bail!("{file}: the same file as {other}; expected a file for each");
            }
            outputs.push((file, identity));
        }
        Ok(())
    }

    /// Makes sure that `-` stands for one file each way at most.
    fn check_standard(&self) -> anyhow::Result<()> {
        if let Some((file, what)) = self.named.iter().find(|(file, _)| is_standard(&file.path)) {
            bail!("{file}: expected the name of a {what}");
        }
        let standard = |files: &[Named]| -> Vec<String> {
            files.iter().filter(|file| is_standard(&file.path)).map(ToString::to_string).collect()
        };
        for (files, name) in [(&self.inputs, "standard input"), (&self.outputs, "standard output")] {
            if let [first, second, ..] = standard(files).as_slice() {
                bail!("{second}: {name} is taken by {first}; expected a file");
            }
        }
        if !standard(&self.outputs).is_empty() {
            print::leave_standard_output();
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A folder with a file `in` under three names, and `new` that is not there.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("in"), "input").unwrap();
        fs::create_dir(at("sub")).unwrap();
        fs::hard_link(at("in"), at("hard")).unwrap();
        symlink("in", at("link")).unwrap();
        folder
    }

    #[test]
    fn errors_name_both() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let (input, link, hard, new) = (at("in"), at("link"), at("hard"), at("new"));
        let files = || Files::default().input("--pcap", Some(&input)).input("--rules", None);
        files().output("--json", Some(&new)).output("--out", None).check().unwrap();
        files().input("--rules", Some(&hard)).check().unwrap();
        let error = |files: Files| files.check().unwrap_err().to_string();
        let name = |option: &str, path: &Path| format!("{option} {}", path.display());
        for other in [&input, &link, &hard] {
            let message = error(files().output("--json", Some(&new)).output("--out", Some(other)));
            assert!(message.starts_with(&name("--out", other)), "{message}");
            assert!(message.contains(&name("--pcap", &input)), "{message}");
        }
        let message = error(files().output("--json", Some(&new)).output("--out", Some(&at("sub/../new"))));
        assert!(message.contains(&format!("the same file as {}", name("--json", &new))), "{message}");
        let more = Files::default().output("--wave", Some(&new));
        let message = error(files().output("--json", Some(&new)).and(more));
        assert!(message.starts_with(&name("--wave", &new)), "{message}");
    }
}
