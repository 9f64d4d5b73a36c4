//! What to build.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::Error;
use crate::rewriter::Rewriter;

/// Which way a port goes, seen from the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Driven by the Rust side.
    Input,
    /// Driven by the design.
    Output,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
        })
    }
}

/// One port of the top module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// Name as in the Verilog.
    pub name: String,
    /// Which way it goes.
    pub direction: Direction,
    /// Bits, at least 1.
    pub width: usize,
}

impl Port {
    /// A port of `width` bits.
    pub fn new(name: impl Into<String>, direction: Direction, width: usize) -> Self {
        Self { name: name.into(), direction, width }
    }
}

/// A module whose instances share their code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedModule {
    /// Its name.
    pub name: String,
    /// Its inputs, except those that are connected to the same signal in all instances, such as the
    /// clock: those named here stay variables of the instance, where Verilator would put the
    /// signals outside in their place.
    pub inputs: Vec<String>,
}

/// What to build from the Verilog text, and how.
#[derive(Clone, Debug)]
pub struct ModelOptions {
    /// Name of the top module.
    pub top: String,
    /// Ports that the caller relies on; each must exist with this direction and width. The model
    /// has all ports of the design, whether listed here or not.
    pub ports: Vec<Port>,
    /// Whether [`crate::Model::trace`] can write waveforms (FST). Costs build time and some speed.
    pub trace: bool,
    /// Modules whose instances share their code. Worth it for large modules with several instances:
    /// the model is built sooner, and its code fits the processor's caches better.
    pub shared: Vec<SharedModule>,
    /// What makes the C++ of [`ModelOptions::shared`] faster; without it, the model is compiled as
    /// Verilator writes it.
    pub rewriter: Option<&'static dyn Rewriter>,
    /// Whether the compiler optimizes what runs every cycle. Without that a model is built in half
    /// to a third of the time, and takes three to five times as long for a cycle: for short runs.
    /// By default it does, unless `$HERMES_UNOPTIMIZED` is there and not empty.
    pub optimize: bool,
    /// Further arguments for Verilator.
    pub verilator_flags: Vec<String>,
    /// Further arguments for the C++ compiler, after those chosen by this crate.
    pub cxx_flags: Vec<String>,
    /// Compiler processes at once. Not part of the cache key.
    pub jobs: usize,
    /// The Verilator program.
    pub verilator: String,
    /// The C++ compiler.
    pub compiler: String,
    /// What the model is of, in words; it stands beside the model in the cache, for people. Not
    /// part of the cache key.
    pub about: String,
    /// Folder of the build cache; by default `$HERMES_CACHE`, `$XDG_CACHE_HOME/hermes` or
    /// `~/.cache/hermes`.
    pub cache: Option<PathBuf>,
}

impl ModelOptions {
    /// Options for the module `top`: no tracing, one flat model, optimized (but for
    /// `$HERMES_UNOPTIMIZED`), as many compiler processes as the machine has processors,
    /// `verilator` from the search path (or `$VERILATOR`), and of the compilers there the newest
    /// `clang++-NUMBER`, else `clang++`, else `g++` (or `$CXX`).
    pub fn new(top: impl Into<String>) -> Self {
        let program =
            |variable, default: fn() -> String| std::env::var(variable).unwrap_or_else(|_| default());
        Self {
            top: top.into(),
            ports: Vec::new(),
            trace: false,
            shared: Vec::new(),
            rewriter: None,
            optimize: std::env::var_os("HERMES_UNOPTIMIZED").is_none_or(|value| value.is_empty()),
            verilator_flags: Vec::new(),
            cxx_flags: Vec::new(),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            verilator: program("VERILATOR", || "verilator".to_string()),
            compiler: program("CXX", usual_compiler),
            about: String::new(),
            cache: None,
        }
    }

    /// What rewrites the C++, if there is something to rewrite.
    pub(crate) fn rewriter(&self) -> Option<&'static dyn Rewriter> {
        self.rewriter.filter(|_| !self.shared.is_empty())
    }

    /// Checks the fields that become names in generated files.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let identifier = |field, value: &String| {
            let mut chars = value.chars();
            let head = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if head && chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
                Ok(())
            } else {
                Err(Error::Option { field, value: value.clone(), expected: "a plain Verilog identifier" })
            }
        };
        identifier("top", &self.top)?;
        for module in &self.shared {
            identifier("shared", &module.name)?;
            module.inputs.iter().try_for_each(|input| identifier("shared", input))?;
        }
        self.ports.iter().try_for_each(|port| identifier("ports", &port.name))
    }
}

/// The newest Clang by the number in its name, `clang++` without one, or `g++`: Clang's models are
/// faster than GCC's by a quarter, and it compiles them in half the time; those of Clang 19 and
/// newer are faster than those of 14 by another quarter.
fn usual_compiler() -> String {
    newest_program("clang++").unwrap_or_else(|| "g++".to_string())
}

/// The program `name` of the search path that has the highest number behind its name, such as
/// `clang-22` for `clang`; `name` itself if there is none with a number; `None` if there is
/// neither.
#[must_use]
pub fn newest_program(name: &str) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let files = std::env::split_paths(&path).filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    newest(name, files.flatten().filter_map(|file| file.file_name().into_string().ok()))
}

/// As [`newest_program`], of the programs with these names.
fn newest(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let version = |found: &str| match found.strip_prefix(name)? {
        "" => Some(0),
        number => number.strip_prefix('-')?.parse::<u32>().ok(),
    };
    let found = names.filter_map(|name| version(&name).map(|version| (version, name))).max();
    found.map(|(_, name)| name)
}

/// A step of a build, for progress displays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildStep {
    /// Another process builds the same model.
    Waiting,
    /// A stored model was damaged and is built again.
    Damaged,
    /// The model is not in the cache, and is built now.
    Building {
        /// How long that takes, about: models that were built here before tell it.
        estimate: Duration,
    },
    /// Verilator runs.
    Verilating,
    /// The C++ compiler runs; the last number is the count of files, where known.
    Compiling {
        /// Files begun.
        done: usize,
        /// Files in all.
        total: usize,
    },
    /// The shared library is linked.
    Linking,
    /// The model is built and in the cache.
    Built {
        /// How long that took.
        elapsed: Duration,
    },
}

impl fmt::Display for BuildStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting => f.write_str("waiting for another process that builds the same model"),
            Self::Damaged => f.write_str("the stored model is damaged, building it again"),
            Self::Building { estimate } => {
                write!(f, "building the model, about {:.0} s, once", estimate.as_secs_f64().max(1.0))
            }
            Self::Verilating => f.write_str("running Verilator"),
            Self::Compiling { done, total } => write!(f, "compiling the model, file {done} of {total}"),
            Self::Linking => f.write_str("linking the model"),
            Self::Built { elapsed } => write!(f, "built the model in {:.0} s", elapsed.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_clang_compiles() {
        let of = |program: &str, names: &str| newest(program, names.split_whitespace().map(String::from));
        let names = "g++ clang++-9 clang++-22 clang clang++ clang++-x clang++-19 clang-99 clang-format-100";
        assert_eq!(of("clang++", names).as_deref(), Some("clang++-22"));
        assert_eq!(of("clang", names).as_deref(), Some("clang-99"));
        assert_eq!(of("clang++", "clang++ clang-22 g++-12").as_deref(), Some("clang++"));
        assert_eq!(of("clang++", "clang-22 gcc"), None);
    }

    #[test]
    fn names_must_be_plain_identifiers() {
        assert!(ModelOptions::new("top_1").validate().is_ok());
        for bad in ["", "1top", "top;rm", "a b", "a$b"] {
            let error = ModelOptions::new(bad).validate().unwrap_err().to_string();
            assert_eq!(error, format!("top: `{bad}` is not possible; expected a plain Verilog identifier"));
        }
    }
}
