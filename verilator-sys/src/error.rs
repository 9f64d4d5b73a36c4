//! What can go wrong between Verilog text and a running model.

use std::path::PathBuf;

use crate::options::Direction;

/// An error of building, loading or running a Verilated model.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program that the build needs is not installed.
    #[error("`{program}` was not found: install it (Debian and Ubuntu: `apt-get install verilator clang g++ make zlib1g-dev`)")]
    ToolMissing {
        /// The program as it was called.
        program: String,
    },
    /// The installed Verilator is older than version 5.006.
    #[error("Verilator 5.006 or newer is needed, but `{program} --version` says `{found}`")]
    VersionTooOld {
        /// The program as it was called.
        program: String,
        /// The first line of its answer.
        found: String,
    },
    /// Verilator did not accept the design.
    #[error("Verilator failed on `{top}`:\n{stderr}")]
    Verilator {
        /// The top module.
        top: String,
        /// What Verilator wrote to its standard error.
        stderr: String,
    },
    /// The C++ compiler or the linker failed.
    #[error("compiling the model of `{top}` failed:\n{stderr}")]
    Compiler {
        /// The top module.
        top: String,
        /// What make, the compiler or the linker wrote to standard error.
        stderr: String,
    },
    /// The design has no port of this name.
    #[error("`{top}` has no port `{port}`; it has {ports}")]
    MissingPort {
        /// The top module.
        top: String,
        /// The port that was asked for.
        port: String,
        /// Names of the ports that exist.
        ports: String,
    },
    /// The port is not as wide as was asked for.
    #[error("port `{port}` of `{top}` is {found} bits wide; expected {expected}")]
    WidthMismatch {
        /// The top module.
        top: String,
        /// The port.
        port: String,
        /// Its width in bits.
        found: usize,
        /// The width that was asked for.
        expected: usize,
    },
    /// The port goes the other way.
    #[error("port `{port}` of `{top}` is an {found}; expected an {expected}")]
    DirectionMismatch {
        /// The top module.
        top: String,
        /// The port.
        port: String,
        /// Its direction.
        found: Direction,
        /// The direction that was asked for.
        expected: Direction,
    },
    /// The options cannot be used.
    #[error("{field}: `{value}` is not possible; expected {expected}")]
    Option {
        /// The field of [`crate::ModelOptions`].
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// No folder for the cache: neither the options nor the environment name one.
    #[error("no folder for the build cache: set HERMES_CACHE, XDG_CACHE_HOME or HOME")]
    NoCacheFolder,
    /// A shared library that was just built cannot be loaded.
    #[error("loading {path}: {reason}", path = path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The loader's reason. It is part of the message, and so no source of this error.
        reason: libloading::Error,
    },
    /// A waveform was asked from a model built without `trace`.
    #[error("the model of `{top}` was built without tracing; set `trace` in its options")]
    NoTrace {
        /// The top module.
        top: String,
    },
    /// The model stopped by itself: `$stop`, a combinational loop that does not settle, and the
    /// like.
    #[error("the model of `{top}` stopped at time {time}: {message}")]
    Model {
        /// The top module.
        top: String,
        /// Half cycles since the model was made.
        time: u64,
        /// Verilator's message.
        message: String,
    },
    /// A file or folder could not be used.
    #[error("{path}: {reason}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason. It is part of the message, and so no source of this error.
        reason: std::io::Error,
    },
    /// The cache has no usable model of the design, and may not be written.
    #[error("{path}: has no model of this array, and may not be written ({reason}); expected a folder to write to in HERMES_CACHE", path = path.display())]
    ReadOnlyCache {
        /// The folder of the cache.
        path: PathBuf,
        /// The system's reason.
        reason: std::io::Error,
    },
}

impl Error {
    /// The error of a file or folder `path`.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |reason| Self::Io { path, reason: without_path(reason) }
    }
}

/// An error of `tempfile` without the name of a temporary file, which nobody has asked for.
fn without_path(error: std::io::Error) -> std::io::Error {
    match error.to_string().split_once(" at path \"") {
        Some((text, _)) => std::io::Error::new(error.kind(), text.to_string()),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error of a temporary file names the folder that it should have been in, and no other
    /// path.
    #[test]
    fn the_name_of_a_temporary_file_is_left_out() {
        let folder = PathBuf::from("/nowhere");
        let error = tempfile::Builder::new().tempdir_in(&folder).map_err(Error::io(&folder)).unwrap_err();
        assert_eq!(error.to_string(), "/nowhere: No such file or directory (os error 2)");
    }
}
