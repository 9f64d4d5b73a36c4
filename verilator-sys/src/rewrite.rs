//! Makes the C++ of a model faster ([`crate::loops`], [`crate::cut`], [`crate::order`]), if it is what these know.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Mutex, Once, PoisonError};

use crate::dialect;
use crate::error::Error;
use crate::header::HeaderPort;
use crate::loops;
use crate::options::{ModelOptions, SharedModule};
use crate::order::{self, file_name};
use crate::version::{Verilator, KNOWN};
use crate::wrapper::CLASS;

thread_local! {
    /// Panics of this thread are not told.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What the array is simulated slower without: measured, see docs/benches.md.
const COST: &str = "simulation is slower, by 11 to 16 % for the preset `default`";

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
    let done = quietly(|| {
        loops::of_repetitions(objects, options)?;
        order::function_by_function(objects, options, ports)
    });
    match done {
        Ok(done) => done.map(|()| None),
        Err(_) => Ok(Some("the C++ is not what was expected".to_string())),
    }
}

/// Calls `f`; a panic in it is an `Err` and says nothing: who called tells what comes of it.
fn quietly<T>(f: impl FnOnce() -> T) -> std::thread::Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                usual(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    QUIET.set(false);
    result
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
    let is_alias = |line: &&str| line.contains("vlSelfRef") || line.contains("*vlSelf)");
    // In the first line of a function, `vlSelf` is declared.
    text.lines().map(str::trim).find(|line| is_alias(line) && !line.contains("* vlSelf"))
}

/// Says what it costs that models are not rewritten, and why that is, once for each reason.
pub(crate) fn warn(because: &str) {
    if is_new(because) {
        log::warn!("{}", message(because));
    }
}

/// Whether `because` was not asked about before.
fn is_new(because: &str) -> bool {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(because.to_string())
}

fn message(because: &str) -> String {
    let known: Vec<String> = KNOWN.iter().map(ToString::to_string).collect();
    format!(
        "{because}: the model is compiled as Verilator wrote it, and {COST} (known versions: {})",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    const HEADER: &str = "class Vmodel_core final : public VerilatedModule {\n  public:\n    CData x;\n};\n";
    const SOURCE: &str = "void Vmodel_core___nba__0(Vmodel_core* vlSelf) {\n    vlSelf->x = 1U;\n}\n";

    fn options() -> ModelOptions {
        let shared = vec![SharedModule { name: "core".into(), inputs: Vec::new() }];
        ModelOptions { shared, ..ModelOptions::new("hermes") }
    }

    fn found(header: &str, source: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Vmodel_core.h"), header).unwrap();
        std::fs::write(folder.path().join("Vmodel_core__0.cpp"), source).unwrap();
        rewrite(folder.path(), &options(), &[]).unwrap()
    }

    #[test]
    fn what_is_not_there_is_named() {
        assert_eq!(found(HEADER, SOURCE), None);
        let reference = "    auto& vlSelfRef = std::ref(*vlSelf).get();\n    vlSelfRef.";
        let newer = SOURCE.replace("    vlSelf->", reference);
        assert_eq!(found(HEADER, &newer), None);
        for (header, source, expected) in [
            (HEADER.replace("public:", "public :"), SOURCE.to_string(), "`public:` in the class"),
            (HEADER.into(), SOURCE.replace("* vlSelf", "& vlSelf"), "`(Vmodel_core* vlSelf) {` in the"),
            (HEADER.into(), SOURCE.replace("vlSelf->", "self->"), "`vlSelf->` in the functions of `core`"),
            (
                HEADER.into(),
                newer.replace("auto& vlSelfRef", "auto& other"),
                "known name of the instance: `auto& other",
            ),
            (
                HEADER.into(),
                newer.replace("std::ref(*vlSelf).get()", "at(vlSelf)"),
                "known name of the instance",
            ),
        ] {
            let because = found(&header, &source).unwrap();
            assert!(because.contains(&format!("the C++ has no {expected}")), "{because}");
        }
    }

    #[test]
    fn only_known_versions_are_rewritten_and_only_if_asked() {
        let verilator = |minor| Verilator { name: String::new(), version: Version::new(5, minor) };
        let because = unknown_version(&options(), &verilator(999)).unwrap();
        assert_eq!(because, "the C++ of Verilator 5.999 is not known");
        assert_eq!(unknown_version(&options(), &verilator(6)), None);
        let plain = ModelOptions { plain: true, ..options() };
        for asked in [plain, ModelOptions::new("hermes")] {
            assert_eq!(unknown_version(&asked, &verilator(999)), None);
        }
    }

    #[test]
    fn a_panic_is_a_result() {
        assert!(quietly(|| -> u8 { panic!("nobody sees this") }).is_err());
        assert_eq!(quietly(|| 3).unwrap(), 3);
        assert!(!QUIET.get());
    }

    #[test]
    fn a_reason_is_said_once_with_what_it_costs() {
        assert!(is_new("one reason") && is_new("another reason") && !is_new("one reason"));
        let message = message("one reason");
        for part in ["one reason: ", COST, "5.006, 5.030"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
