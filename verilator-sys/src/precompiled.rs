//! The header that all models include, compiled once: the compiler takes longer for it than for the
//! code of a small model.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::{Cache, Entry};
use crate::compile::{make, run_make};
use crate::error::Error;
use crate::options::{BuildStep, ModelOptions};
use crate::tools::Tools;
use crate::wrapper::CLASS;

/// What models include, Verilator's classes and the wrapper alike.
const INCLUDES: &str =
    "#include \"verilated.h\"\n#include <cstdint>\n#include <cstdio>\n#include <exception>\n\
                        #include <memory>\n#include <stdexcept>\n#include <string>\n";

/// The compiled header for a model in the folder `objects`, from the cache or made; none where it
/// does not pay or cannot be made. A model that is optimized has it for one file of many.
pub(crate) fn header(
    objects: &Path,
    options: &ModelOptions,
    tools: &Tools,
    cache: &Cache,
    step: &mut dyn FnMut(BuildStep),
) -> Result<Option<PathBuf>, Error> {
    if options.optimize || options.trace || !tools.is_clang() {
        return Ok(None);
    }
    let Some(root) = tools.root(options) else { return Ok(None) };
    let path = root.join("include/verilated.h");
    // The compiler refuses what it made of a header that was written again.
    let Ok(written) = path.metadata().and_then(|data| data.modified()) else { return Ok(None) };
    let header = format!("header-{}", tools.header_key(options, &format!("{written:?} {INCLUDES}")));
    let (source, name) = (format!("{header}.cpp"), format!("{header}.pch"));
    let _lock = cache.lock(&name, || step(BuildStep::Waiting))?;
    if cache.lookup(&source)? == Entry::Good && cache.lookup(&name)? == Entry::Good {
        return Ok(Some(cache.path(&name)));
    }
    // Compiled where it stays: the compiler refuses what was made of a file that is gone.
    let text = objects.join("hermes_header.cpp");
    fs::write(&text, INCLUDES).map_err(Error::io(&text))?;
    cache.publish(&source, &text)?;
    let mut command = make(objects, options, tools, "-x c++-header");
    command.arg(format!("VPATH={}", cache.folder().display()));
    command.arg(format!("VM_FAST={header}")).arg("VM_SLOW=").arg("VM_PARALLEL_BUILDS=1");
    command.args(["-f", &format!("{CLASS}.mk")]).arg(format!("{header}.o"));
    match run_make(command, options, &mut |_| {}) {
        Ok(()) => cache.publish(&name, &objects.join(format!("{header}.o"))).map(Some),
        Err(error) => {
            log::debug!("the header of models cannot be compiled ahead: {error}");
            Ok(None)
        }
    }
}
