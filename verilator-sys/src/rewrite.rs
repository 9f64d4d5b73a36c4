//! Makes the C++ of a model faster ([`crate::loops`], [`crate::cut`], [`crate::order`]), if it is what these know.

use std::collections::HashSet;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::dialect;
use crate::error::Error;
use crate::header::HeaderPort;
use crate::loops;
use crate::options::{ModelOptions, SharedModule};
use crate::order::{self, file_name};
use crate::version::{Verilator, KNOWN};
use crate::wrapper::CLASS;

/// What the array is simulated slower without: measured, see docs/benches.md.
const COST: &str = "the array is simulated 2 to 3 times slower";

/// Why the model of `options` is not to be rewritten by what is known before Verilator runs; none if it can be, or if there is
/// nothing to rewrite.
pub(crate) fn unknown_version(options: &ModelOptions, verilator: &Verilator) -> Option<String> {
    let asked = !options.plain && !options.shared.is_empty();
    (asked && !verilator.version.is_known())
        .then(|| format!("the C++ of Verilator {} is not known", verilator.version))
}

/// Rewrites the files in `objects`; gives what stands against it, in which case the files are of no use.
pub(crate) fn rewrite(
    objects: &Path,
    options: &ModelOptions,
    ports: &[HeaderPort],
) -> Result<Option<String>, Error> {
    if let Some(pattern) = missing_pattern(objects, options)? {
        return Ok(Some(format!("the C++ has no {pattern}")));
    }
    // What the units expect of the C++ beyond that: a model that is slower is better than none.
    let done = catch_unwind(AssertUnwindSafe(|| {
        loops::of_repetitions(objects, options)?;
        order::function_by_function(objects, options, ports)
    }));
    match done {
        Ok(done) => done.map(|()| None),
        Err(_) => Ok(Some("the C++ is not what was expected".to_string())),
    }
}

/// The first pattern that is not in the C++ of a shared module, of those without which the units would not find what they look for.
fn missing_pattern(objects: &Path, options: &ModelOptions) -> Result<Option<String>, Error> {
    let mut files = order::sources(objects)?;
    files.iter_mut().for_each(|(_, text)| *text = dialect::older(text));
    for SharedModule { name, .. } in &options.shared {
        let class = format!("{CLASS}_{name}");
        // A module that is nowhere instantiated has no class.
        let Ok(header) = std::fs::read_to_string(objects.join(format!("{class}.h"))) else { continue };
        if !header.contains(loops::FIRST_OF_CLASS) {
            return Ok(Some(format!("`{}` in the class of `{name}`", loops::FIRST_OF_CLASS)));
        }
        let own: String = files
            .iter()
            .filter(|(path, _)| file_name(path).starts_with(&format!("{class}__")))
            .map(|(_, text)| text.as_str())
            .collect();
        for pattern in [format!("({class}* vlSelf) {{\n"), "vlSelf->".to_string()] {
            if !own.contains(&pattern) {
                return Ok(Some(format!("`{}` in the functions of `{name}`", pattern.trim_end())));
            }
        }
        // A reference to the instance under any other name would hide what is read and written.
        if let Some(alias) = alias(&own) {
            return Ok(Some(format!("known name of the instance: `{alias}` in the functions of `{name}`")));
        }
    }
    Ok(None)
}

/// A line of `text` that gives the instance, `vlSelf`, another name.
fn alias(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| line.contains('&') && line.contains("(*vlSelf)"))
}

/// Says once what it costs that models are not rewritten, and why that is.
pub(crate) fn warn(because: &str) {
    static SAID: Mutex<Option<HashSet<String>>> = Mutex::new(None);
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.get_or_insert_default().insert(because.to_string()) {
        log::warn!("{}", message(because));
    }
}

fn message(because: &str) -> String {
    let known: Vec<String> = KNOWN.iter().map(ToString::to_string).collect();
    format!(
        "{because}: the model is compiled as Verilator wrote it, and {COST} (known versions: {})",
        known.join(", ")
    )
}
