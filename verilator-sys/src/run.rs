//! Runs programs.

use std::io;
use std::process::{Command, Output};

use crate::error::Error;

/// The error of a program that could not be started.
pub(crate) fn missing(program: &str) -> impl FnOnce(io::Error) -> Error + '_ {
    move |e| match e.kind() {
        io::ErrorKind::NotFound => Error::ToolMissing { program: program.to_string() },
        _ => Error::io(program)(e),
    }
}

pub(crate) fn output(command: &mut Command, program: &str) -> Result<Output, Error> {
    hermes_interrupt::output(command).map_err(missing(program))
}

/// Standard output of a command that asks a program for something.
pub(crate) fn run(command: &mut Command, program: &str) -> Result<String, Error> {
    let output = output(command, program)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_string()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::path::Path;

    /// A program `name` in `folder` that is a shell script.
    pub(crate) fn program(folder: &Path, name: &str, script: &str) -> String {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path.to_string_lossy().into_owned()
    }
}
