//! The order in which the functions of shared modules are called.
//!
//! Verilator calls all functions of one instance, then all of the next. The code of a large module
//! is larger than the processor's first cache, so that every instance fetches all of it again.
//! Called function by function, each for all instances, the code of a function serves all of them
//! once it is fetched.

use std::fs;
use std::path::{Path, PathBuf};

use verilator_sys::{Direction, Error, HeaderPort, SharedModule, CLASS};

/// Brings the calls in the C++ files of `objects` into the order function by function. Modules
/// whose functions do more than read inputs of the design outside their instance, so that the order
/// might matter, keep theirs.
pub(crate) fn function_by_function(
    objects: &Path,
    shared: &[SharedModule],
    ports: &[HeaderPort],
) -> Result<(), Error> {
    let files = sources(objects)?;
    let inputs = ports.iter().filter(|p| p.port.direction == Direction::Input);
    let inputs: Vec<String> = inputs.map(|p| format!("TOP.{}", p.member)).collect();
    let mut classes = Vec::new();
    for SharedModule { name, .. } in shared {
        let class = format!("{CLASS}_{name}__");
        let mut closed = true;
        for (_, text) in files.iter().filter(|(path, _)| file_name(path).starts_with(&class)) {
            closed &= outside(text).all(|found| inputs.contains(&found));
        }
        if closed {
            classes.push(class);
        } else {
            log::debug!("`{name}` refers to what is outside; its instances are called one after the other");
        }
    }
    for (path, text) in &files {
        if let Some(text) = reorder(text, &classes) {
            fs::write(path, text).map_err(Error::io(path))?;
        }
    }
    Ok(())
}

/// The C++ files of the model, with their texts.
pub(crate) fn sources(objects: &Path) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(objects).map_err(Error::io(objects))? {
        let path = entry.map_err(Error::io(objects))?.path();
        if path.extension().is_some_and(|extension| extension == "cpp") {
            let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
            files.push((path, text));
        }
    }
    Ok(files)
}

/// Name of a file without its folder.
pub(crate) fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// What the functions in `text` refer to by the table of all instances. Functions with loops have
/// spaces between their tokens.
fn outside(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("vlSymsp").skip(1).filter_map(|rest| {
        let (instance, rest) = identifier(rest.trim_start().strip_prefix("->")?.trim_start())?;
        let member = rest.trim_start().strip_prefix('.').and_then(|rest| identifier(rest.trim_start()));
        Some(member.map_or(instance.to_string(), |(member, _)| format!("{instance}.{member}")))
    })
}

/// A call of a function for one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    pub function: &'a str,
    pub instance: &'a str,
}

/// `text` with the calls of functions of `classes` in their new order, if it has any.
fn reorder(text: &str, classes: &[String]) -> Option<String> {
    let mut output = String::with_capacity(text.len());
    let mut calls = Vec::new();
    let mut moved = false;
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((call, after)) =
            call(rest, |function| classes.iter().any(|class| function.starts_with(class.as_str())))
        {
            calls.push(call);
            rest = after;
            continue;
        }
        moved |= write_calls(&mut output, &calls);
        calls.clear();
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        output.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    moved |= write_calls(&mut output, &calls);
    moved.then_some(output)
}

/// The statement `FUNCTION((&vlSymsp->INSTANCE));` at the beginning of `text`, which may be broken
/// into lines, and what follows. `is_wanted` tells which functions count.
pub(crate) fn call(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<(Call<'_>, &str)> {
    let text = text.trim_start();
    let (function, rest) = identifier(text)?;
    if !is_wanted(function) {
        return None;
    }
    let mut rest = rest;
    for token in ["(", "(", "&", "vlSymsp", "->"] {
        rest = rest.trim_start().strip_prefix(token)?;
    }
    let (instance, mut rest) = identifier(rest.trim_start())?;
    for token in [")", ")", ";"] {
        rest = rest.trim_start().strip_prefix(token)?;
    }
    Some((Call { function, instance }, rest.strip_prefix('\n').unwrap_or(rest)))
}

fn identifier(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Writes calls that follow each other: those of an instance stay in their order. Gives whether
/// there were any.
fn write_calls(output: &mut String, calls: &[Call]) -> bool {
    for call in function_major(calls) {
        output.push_str(&format!("        {}((&vlSymsp->{}));\n", call.function, call.instance));
    }
    !calls.is_empty()
}

fn function_major<'a>(calls: &[Call<'a>]) -> Vec<Call<'a>> {
    let mut instances: Vec<(&str, std::collections::VecDeque<&str>)> = Vec::new();
    for call in calls {
        match instances.iter_mut().find(|(instance, _)| *instance == call.instance) {
            Some((_, functions)) => functions.push_back(call.function),
            None => instances.push((call.instance, [call.function].into())),
        }
    }
    let mut ordered = Vec::with_capacity(calls.len());
    while let Some(function) = instances.iter().find_map(|(_, functions)| functions.front().copied()) {
        for (instance, functions) in &mut instances {
            if functions.front() == Some(&function) {
                functions.pop_front();
                ordered.push(Call { function, instance });
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use verilator_sys::Port;

    fn classes() -> Vec<String> {
        vec!["Vmodel_core__".to_string()]
    }

    #[test]
    fn calls_that_follow_each_other_are_ordered_by_function() {
        let text = "void Vmodel___024root___eval_nba(Vmodel___024root* vlSelf) {\n    \
                    Vmodel_core___nba__0((&vlSymsp->TOP__a));\n    \
                    Vmodel_core___nba__1((&vlSymsp->TOP__a));\n    \
                    Vmodel_core___nba__0((&vlSymsp->TOP__b));\n    \
                    Vmodel_core___nba__1((\n        &vlSymsp->TOP__b));\n    \
                    Vmodel___024root___nba__0(vlSelf);\n    \
                    Vmodel_core___nba__2((&vlSymsp->TOP__b));\n    \
                    Vmodel_core___nba__2((&vlSymsp->TOP__a));\n}\n";
        let expected = "void Vmodel___024root___eval_nba(Vmodel___024root* vlSelf) {\n        \
                        Vmodel_core___nba__0((&vlSymsp->TOP__a));\n        \
                        Vmodel_core___nba__0((&vlSymsp->TOP__b));\n        \
                        Vmodel_core___nba__1((&vlSymsp->TOP__a));\n        \
                        Vmodel_core___nba__1((&vlSymsp->TOP__b));\n    \
                        Vmodel___024root___nba__0(vlSelf);\n        \
                        Vmodel_core___nba__2((&vlSymsp->TOP__b));\n        \
                        Vmodel_core___nba__2((&vlSymsp->TOP__a));\n}\n";
        assert_eq!(reorder(text, &classes()).as_deref(), Some(expected));
    }

    /// An instance's functions keep their order, also where one runs twice or only in one instance.
    #[test]
    fn the_order_within_an_instance_stays() {
        let call = |function, instance| Call { function, instance };
        let calls =
            [call("f", "a"), call("g", "a"), call("f", "a"), call("g", "b"), call("h", "b"), call("f", "b")];
        let ordered = function_major(&calls);
        assert_eq!(ordered.len(), calls.len());
        for instance in ["a", "b"] {
            let of = |calls: &[Call]| {
                calls
                    .iter()
                    .filter(|c| c.instance == instance)
                    .map(|c| c.function.to_string())
                    .collect::<Vec<_>>()
            };
            assert_eq!(of(&ordered), of(&calls), "{instance}");
        }
    }

    #[test]
    fn other_text_stays() {
        let text = "void Vmodel_core___nba__0(Vmodel_core* vlSelf);\n    Vmodel_other___nba__0((&vlSymsp->TOP__a));\n";
        assert_eq!(reorder(text, &classes()), None);
    }

    #[test]
    fn references_to_the_outside_are_found() {
        let text = "if (vlSymsp->TOP.rst) { x = vlSymsp -> TOP__hermes__core_1\n . __PVT__y ; } f(vlSymsp);";
        assert_eq!(outside(text).collect::<Vec<_>>(), ["TOP.rst", "TOP__hermes__core_1.__PVT__y"]);
    }

    /// A module that reads another one keeps its order.
    #[test]
    fn only_closed_modules_are_reordered() {
        let calls = "    Vmodel_core___nba__0((&vlSymsp->TOP__a));\n    Vmodel_core___nba__1((&vlSymsp->TOP__a));\n    \
                     Vmodel_core___nba__0((&vlSymsp->TOP__b));\n";
        let shared = [SharedModule { name: "core".into(), inputs: Vec::new() }];
        let port =
            |name: &str, direction| HeaderPort { port: Port::new(name, direction, 1), member: name.into() };
        let ports = [port("rst", Direction::Input), port("busy", Direction::Output)];
        for (reference, changes) in [
            ("TOP.rst", true),
            ("TOP.busy", false),
            ("TOP__b.__PVT__x", false),
            // As functions with loops are written.
            (" TOP . rst", true),
            (" TOP__b . __PVT__x", false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("Vmodel___024root__0.cpp");
            fs::write(&root, calls).unwrap();
            fs::write(folder.path().join("Vmodel_core__0.cpp"), format!("x = vlSymsp->{reference};"))
                .unwrap();
            function_by_function(folder.path(), &shared, &ports).unwrap();
            assert_eq!(fs::read_to_string(&root).unwrap() != calls, changes, "{reference}");
        }
    }
}
