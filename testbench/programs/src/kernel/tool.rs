//! Runs of the tools that build programs, and what they made before.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::build::{BuildError, ASSEMBLER};
use super::prefix::PrefixMap;

/// Variables by which GCC finds other parts of itself, and other include files.
const COMPILER_VARIABLES: [&str; 5] =
    ["CPATH", "C_INCLUDE_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH"];

/// A tool that is to run.
pub(crate) struct ToolRun {
    command: Command,
    /// The Debian package that brings it.
    package: &'static str,
    /// The source it works on.
    source: PathBuf,
}

impl ToolRun {
    /// `command` on `source`; `package` brings the program.
    pub fn new(command: Command, package: &'static str, source: &Path) -> Self {
        Self { command, package, source: source.to_path_buf() }
    }

    /// Runs it; its messages are the error's text, or warnings.
    pub fn run(mut self) -> Result<(), BuildError> {
        let command = &mut self.command;
        log::debug!("{command:?}");
        let tool = command.get_program().to_string_lossy().into_owned();
        let Output { status, stdout, stderr } = command.output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => BuildError::Missing { tool: tool.clone(), package: self.package },
            _ => BuildError::File { path: tool.clone().into(), source: error },
        })?;
        let message = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        let message = message.trim().to_string();
        if !status.success() {
            return Err(BuildError::Tool { tool, source_file: self.source, message });
        }
        if !message.is_empty() {
            log::warn!("{message}");
        }
        Ok(())
    }
}

/// Lets `runs` make the file `output` of sources that come with Hermes, unless the build cache has
/// it: then it is the same bytes. `texts` are these sources and all that they include, `about` says
/// what the file is, and `names` what their folder is called in it.
///
/// # Errors
/// As [`ToolRun::run`]; [`BuildError::File`] for `output`.
pub(crate) fn make_once(
    runs: Vec<ToolRun>,
    texts: &[&str],
    about: &str,
    names: &PrefixMap,
    output: &Path,
) -> Result<(), BuildError> {
    let failed = |error| BuildError::File { path: output.to_path_buf(), source: error };
    let commands: Vec<String> = runs.iter().map(|run| names.replace(&format!("{:?}", run.command))).collect();
    // The compiler starts the assembler.
    let programs = runs.iter().map(|run| run.command.get_program().to_string_lossy());
    let programs = programs.chain([ASSEMBLER.into()]).map(|program| verilator_sys::program_file(&program));
    // A program that is not there says so when it is run.
    let Some(programs) = programs.collect::<Option<Vec<_>>>() else {
        return runs.into_iter().try_for_each(ToolRun::run);
    };
    let variables = COMPILER_VARIABLES.map(|name| format!("{name}={:?}", std::env::var_os(name)));
    let all: Vec<String> = programs.into_iter().chain(commands).chain(variables).collect();
    let parts: Vec<&str> = all.iter().map(String::as_str).chain(texts.iter().copied()).collect();
    let mut made = false;
    let bytes = verilator_sys::kept(&parts, about, || {
        made = true;
        runs.into_iter().try_for_each(ToolRun::run)?;
        std::fs::read(output).map_err(failed)
    })?;
    match made {
        true => Ok(()),
        false => std::fs::write(output, bytes).map_err(failed),
    }
}

/// Writes a source or include file.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), BuildError> {
    std::fs::write(path, text).map_err(|source| BuildError::File { path: path.to_path_buf(), source })
}
