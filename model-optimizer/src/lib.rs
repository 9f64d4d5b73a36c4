//! Makes the C++ of a model faster: the step between Verilator and the C++ compiler that
//! [`verilator_sys`] leaves room for.
//!
//! It reads what another program writes, so it knows a list of versions of Verilator and looks for
//! what it relies on first; anything else is left as it is, and the builder compiles the model as
//! Verilator wrote it.
//!
//! [`loops`] writes what is there once for each lane as loops over arrays, [`cut`] takes long
//! functions apart, [`order`] calls each function for all instances in turn, and [`dialect`] undoes
//! differences between the versions.

mod cut;
mod dialect;
mod loops;
mod order;

use std::cell::Cell;
use std::panic::{catch_unwind, set_hook, take_hook, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use verilator_sys::{Error, HeaderPort, Rewriter, SharedModule, Version, CLASS};

use crate::order::file_name;

thread_local! {
    /// Panics of this thread are not told.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What the array is simulated slower without: measured, see docs/benches.md.
const COST: &str = "simulation is slower, by 11 to 16 % for the preset `default`";

/// The versions of Verilator whose C++ the units [`loops`], [`order`] and [`cut`] know. This is the
/// only list: with another version, models are built as Verilator writes them. A version gets here
/// when `scripts/verilators` has passed with it. The Python package 5.48.0 calls itself 5.49.
const KNOWN: [Version; 4] =
    [Version::new(5, 6), Version::new(5, 30), Version::new(5, 38), Version::new(5, 49)];

/// Makes loops of repeated statements, cuts long functions and orders calls, for
/// [`verilator_sys::ModelOptions::rewriter`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Optimizer;

impl Rewriter for Optimizer {
    /// The hash of this crate's sources.
    fn version(&self) -> &str {
        env!("MODEL_OPTIMIZER_SOURCES")
    }

    /// Functions stay whole, and are cut when they have their loops.
    fn verilator_flags(&self) -> &[&str] {
        &["--output-split-cfuncs", "1000000"]
    }

    fn knows(&self, verilator: Version) -> bool {
        KNOWN.contains(&verilator)
    }

    fn rewrite(
        &self,
        objects: &Path,
        shared: &[SharedModule],
        ports: &[HeaderPort],
    ) -> Result<Option<String>, Error> {
        if let Some(pattern) = missing_pattern(objects, shared)? {
            return Ok(Some(format!("the C++ has no {pattern}")));
        }
        // What the units expect of the C++ beyond that: a model that is slower is better than none.
        let done = quietly(|| {
            loops::of_repetitions(objects, shared)?;
            order::function_by_function(objects, shared, ports)
        });
        match done {
            Ok(done) => done.map(|()| None),
            Err(_) => Ok(Some("the C++ is not what was expected".to_string())),
        }
    }

    fn without(&self) -> String {
        let known: Vec<String> = KNOWN.iter().map(ToString::to_string).collect();
        format!("{COST} (known versions: {})", known.join(", "))
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

/// The first pattern that is not in the C++ of a shared module, of those without which the units
/// would not find what they look for.
fn missing_pattern(objects: &Path, shared: &[SharedModule]) -> Result<Option<String>, Error> {
    let mut files = order::sources(objects)?;
    files.iter_mut().for_each(|(_, text)| *text = dialect::older(text));
    for SharedModule { name, .. } in shared {
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

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "class Vmodel_core final : public VerilatedModule {\n  public:\n    CData x;\n};\n";
    const SOURCE: &str = "void Vmodel_core___nba__0(Vmodel_core* vlSelf) {\n    vlSelf->x = 1U;\n}\n";

    fn found(header: &str, source: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("Vmodel_core.h"), header).unwrap();
        std::fs::write(folder.path().join("Vmodel_core__0.cpp"), source).unwrap();
        let shared = [SharedModule { name: "core".into(), inputs: Vec::new() }];
        Optimizer.rewrite(folder.path(), &shared, &[]).unwrap()
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
    fn only_listed_versions_are_known() {
        assert!(Version::new(5, 999) > KNOWN[3] && !Optimizer.knows(Version::new(5, 999)));
        assert!(KNOWN.iter().all(|version| Optimizer.knows(*version)));
        let without = Optimizer.without();
        for part in [COST, "5.006, 5.030"] {
            assert!(without.contains(part), "{without}");
        }
    }

    #[test]
    fn a_panic_is_a_result() {
        assert!(quietly(|| -> u8 { panic!("nobody sees this") }).is_err());
        assert_eq!(quietly(|| 3).unwrap(), 3);
        assert!(!QUIET.get());
    }
}
