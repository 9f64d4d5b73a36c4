//! The files that every kernel may include, the library, and the linker script.

use std::path::Path;

use super::build::BuildError;
use crate::input::{self, MOST_PROGRAM_BYTES};

/// Include file of kernels in assembly.
pub const PACKET_INC: &str = include_str!("../../../../kernels-asm/include/packet.inc");
/// Include file of kernels in C.
pub const HERMES_H: &str = include_str!("../../../../kernels-asm/include/hermes.h");
/// Linker script of every kernel.
const LINKER_SCRIPT: &str = include_str!("../../../../kernels-asm/kernel.ld");

/// Files in `kernels-asm` with their names and texts.
macro_rules! files {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../kernels-asm/", $folder, "/", $name)))),*]
    };
}

/// A file's name and text.
type Source = (&'static str, &'static str);

/// What sources include: of kernels in assembly, in C, also as network functions, and of those that
/// use the memories of other nodes.
const INCLUDES: &[Source] = files! { "include":
    "packet.inc" "check.inc" "classify.inc" "payload.inc" "route.inc" "ttl.inc"
    "hermes.h" "hermes_atomic.h" "hermes_nf.h" "string.h"
    "hermes_shmem.h" "hermes_collectives.h" "hermes_shmem.inc"
};
/// What the library's own sources include.
const LIBRARY_INCLUDES: &[Source] = files! { "lib": "hermes_context.inc" "hermes_queue.inc" };
/// The library of `hermes_shmem.h` and `hermes_collectives.h`, a file for each subject.
const LIBRARY: &[Source] = files! { "lib":
    "hermes_shmem.S" "hermes_put_value.S" "hermes_wait.S" "hermes_each_lane.S" "hermes_collectives.c"
};
/// What the functions of `string.h` include.
const STRING_INCLUDES: &[Source] = files! { "lib/string": "words.h" };
/// The functions of `string.h`, a file for each, so that only those that are called are linked.
const STRING: &[Source] = files! { "lib/string": "memcpy.c" "memmove.c" "memset.c" "memcmp.c" "strlen.c" };

/// Names of the library's sources, and whether they have atomic instructions. Those in C are for
/// kernels in C, which need a compiler anyway.
pub(super) fn library(in_c: bool) -> impl Iterator<Item = (&'static str, bool)> {
    let named = |atomics| move |(name, _): &Source| (*name, atomics);
    let all = LIBRARY.iter().map(named(true)).chain(STRING.iter().map(named(false)));
    all.filter(move |(name, _)| in_c || name.ends_with(".S"))
}

/// The text of the include file or source of the library called `name`.
pub(crate) fn built_in(name: &str) -> Option<&'static str> {
    let parts = [INCLUDES, LIBRARY_INCLUDES, LIBRARY, STRING_INCLUDES, STRING];
    parts.into_iter().flatten().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The texts that the library's sources may include.
pub(super) fn library_includes() -> Vec<&'static str> {
    let parts = [INCLUDES, LIBRARY_INCLUDES, STRING_INCLUDES];
    parts.into_iter().flatten().map(|(_, text)| *text).collect()
}

/// Writes everything that a build needs to `folder`.
pub(super) fn write_all(folder: &Path) -> Result<(), BuildError> {
    let parts = [INCLUDES, LIBRARY_INCLUDES, LIBRARY, STRING_INCLUDES, STRING];
    parts.into_iter().flatten().try_for_each(|(name, text)| write(folder, name, text))?;
    write(folder, "kernel.ld", LINKER_SCRIPT)
}

/// Writes the include files of kernels and the linker script `kernel.ld` to `folder`, for editors
/// and other build systems; replaces files of these names. The folder is made if it is not there.
///
/// # Errors
/// [`BuildError::File`] for the folder, [`BuildError::Output`] for a file.
pub fn write_headers(folder: &Path) -> Result<(), BuildError> {
    let failed = |source| BuildError::File { path: folder.to_path_buf(), source };
    std::fs::create_dir_all(folder).map_err(failed)?;
    for (name, text) in INCLUDES.iter().chain(&[("kernel.ld", LINKER_SCRIPT)]) {
        crate::output::write(&folder.join(name), text.as_bytes()).map_err(BuildError::Output)?;
    }
    Ok(())
}

/// Makes sure that `source` can be read, and that the assembler does not meet a byte order mark:
/// compilers skip it, the assembler finds an instruction that nobody sees.
pub(crate) fn read_source(source: &Path) -> Result<(), BuildError> {
    let failed = |error| BuildError::File { path: source.to_path_buf(), source: error };
    let bytes = input::read(source, MOST_PROGRAM_BYTES).map_err(failed)?;
    let assembly = source.extension().is_some_and(|end| end.eq_ignore_ascii_case("s"));
    if assembly && input::without_mark(&bytes).len() < bytes.len() {
        return Err(failed(std::io::Error::other(
            "begins with a byte order mark; expected UTF-8 without one",
        )));
    }
    Ok(())
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), BuildError> {
    super::tool::write_file(&folder.join(name), text)
}

#[cfg(test)]
#[path = "include_tests.rs"]
mod tests;
