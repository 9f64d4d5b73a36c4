//! A step between Verilator and the C++ compiler.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::header::HeaderPort;
use crate::options::SharedModule;
use crate::version::Version;

/// What changes the C++ of shared modules before it is compiled, so that the model is faster and
/// does the same. Where it cannot, the model is compiled as Verilator wrote it, and a warning says
/// so once.
pub trait Rewriter: fmt::Debug + Sync {
    /// What tells its versions apart; part of the cache key of a model.
    fn version(&self) -> &str;

    /// Arguments for Verilator that it relies on.
    fn verilator_flags(&self) -> &[&str];

    /// Whether it knows the C++ of this version of Verilator.
    fn knows(&self, verilator: Version) -> bool;

    /// Rewrites the files in `objects`, which are those of a design with the ports `ports` and one
    /// shared module at least; gives what stands against it, in which case the files are of no use.
    ///
    /// # Errors
    /// A file cannot be read or written.
    fn rewrite(
        &self,
        objects: &Path,
        shared: &[SharedModule],
        ports: &[HeaderPort],
    ) -> Result<Option<String>, Error>;

    /// What a model costs that was not rewritten, and what would help: the second half of the
    /// warning.
    fn without(&self) -> String;
}

/// Says what it costs that models are not rewritten, and why that is, once for each reason.
pub(crate) fn warn(because: &str, rewriter: &dyn Rewriter) {
    if is_new(because) {
        log::warn!("{because}: the model is compiled as Verilator wrote it, and {}", rewriter.without());
    }
}

/// Whether `because` was not asked about before.
fn is_new(because: &str) -> bool {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(because.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_said_once() {
        assert!(is_new("one reason") && is_new("another reason") && !is_new("one reason"));
    }
}
