//! Loops in the place of statements that repeat each other, in the C++ of shared modules and of
//! what is around them.
//!
//! Verilator writes the statements of every instance of a module one after the other, each with
//! variables of its own. Thirty-two lanes are a quarter of a million bytes of code, which the
//! processor fetches once a simulated cycle from beyond its first cache; as loops over arrays they
//! are a fraction of that. Statements that do not depend on each other are brought side by side
//! before ([`arrange`]), and loops whose repetitions do not depend on each other are written so
//! that the compiler makes vectors of them ([`independent`]). What is left is mostly the traffic
//! between the processor and its first cache, which 8 cores in turn do not fit: loops that follow
//! each other become one ([`fuse`]), bits of all lanes are put together in a loop ([`gather`]),
//! lanes write to their memories by rows ([`rows`]), and what no lane wants is not computed.

mod align;
mod arrange;
mod arrays;
mod columns;
mod effects;
mod fuse;
mod gather;
mod independent;
mod operands;
mod repeats;
mod rows;
mod schedule;
mod tokens;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use self::arrays::{Arrays, Element};
use self::columns::Names;
use self::tokens::{is_word, statements, tokens, Statement};
use crate::cut::{self, Body, Cuts};
use crate::dialect;
use crate::order::{file_name, sources};
use verilator_sys::{Error, SharedModule, CLASS};

/// The class of what is in no shared module.
const ROOT: &str = "__024root";
/// What the variables of a class follow.
pub(crate) const FIRST_OF_CLASS: &str = "public:";
/// Types of variables, without their parameters.
const TYPES: [&str; 6] = ["CData", "SData", "IData", "QData", "VlWide", "VlUnpacked"];

/// Writes the classes of the shared modules in `objects` with loops, and large functions in parts.
pub(crate) fn of_repetitions(objects: &Path, shared: &[SharedModule]) -> Result<(), Error> {
    let mut cuts = Cuts::new();
    let mut files = sources(objects)?;
    files.iter_mut().for_each(|(_, text)| *text = dialect::older(text));
    let classes = shared.iter().map(|module| module.name.as_str());
    for name in classes.chain([ROOT]) {
        let class = format!("{CLASS}_{name}");
        let header = objects.join(format!("{class}.h"));
        // A module that is nowhere instantiated has no class.
        let Ok(text) = fs::read_to_string(&header) else { continue };
        let (mut own, others): (Vec<_>, Vec<_>) = files.iter_mut().partition(|(path, _)| {
            let name = file_name(path);
            name == format!("{class}.cpp") || name.starts_with(&format!("{class}__"))
        });
        // Another way to the variables of the root.
        if name == ROOT && own.iter().any(|(_, text)| text.contains("vlSymsp->TOP.")) {
            continue;
        }
        let variables: Vec<(String, &str)> =
            text.lines().filter_map(|line| variable(&tokens(line))).collect();
        let mut members = Arrays::of(variables.iter().map(|(kind, name)| (kind.as_str(), *name)));
        let used: HashSet<&str> = others.iter().flat_map(|(_, text)| text.split(|c| !is_word(c))).collect();
        members.leave(|name| used.contains(name));
        if members.is_empty() && !own.iter().any(|(_, text)| cut::is_long(text)) {
            continue;
        }
        let whole: HashSet<&str> = own.iter().flat_map(|(_, text)| without_address(text)).collect();
        members.order_by_address(|name| whole.contains(name));
        let mut parts_share = String::new();
        let mut written = Vec::with_capacity(own.len());
        for (_, text) in &own {
            written.push(source_with(text, &members, &mut |signature, body| {
                let texts = || own.iter().chain(&others).map(|(_, text)| text.as_str());
                if cut::is_possible(signature, body, texts) {
                    cut::function(signature, body, &mut parts_share, &mut cuts)
                } else {
                    cut::whole(signature, body)
                }
            }));
        }
        for ((path, text), written) in own.iter_mut().zip(written) {
            fs::write(&*path, &written).map_err(Error::io(&*path))?;
            *text = written;
        }
        let class = header_with(&text, &members);
        let class = class.replacen(FIRST_OF_CLASS, &format!("{FIRST_OF_CLASS}\n{parts_share}"), 1);
        fs::write(&header, class).map_err(Error::io(&header))?;
    }
    for (path, text) in &files {
        if let Some(text) = cut::calls(text, &cuts) {
            fs::write(path, text).map_err(Error::io(path))?;
        }
    }
    Ok(())
}

/// The names in `text` that no opening bracket of an address follows.
fn without_address(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || loop {
        rest = &rest[rest.find(is_word)?..];
        let (name, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        rest = after;
        if !after.trim_start().starts_with('[') {
            return Some(name);
        }
    })
}

/// Type and name of the variable that `tokens` declare.
fn variable<'a>(tokens: &[&'a str]) -> Option<(String, &'a str)> {
    let [kind @ .., name, ";"] = tokens else { return None };
    let fits = TYPES.contains(kind.first()?) && !kind.contains(&"=") && !kind.contains(&"*");
    fits.then(|| (kind.join(" "), *name))
}

/// A header with arrays in the place of variables.
fn header_with(text: &str, members: &Arrays) -> String {
    let mut declared = HashSet::new();
    let mut output = String::with_capacity(text.len());
    output.push_str(independent::DEFINITION);
    for line in text.lines() {
        let element = variable(&tokens(line)).and_then(|(_, name)| members.element(name));
        match element {
            Some(element) if declared.insert(element.array.as_str()) => {
                output.push_str(&members.declaration(&element.array));
            }
            Some(_) => continue,
            None => output.push_str(line),
        }
        output.push('\n');
    }
    output
}

/// A source file with loops, and arrays in the place of variables; `function` gives the text of a
/// function with its first line and body.
fn source_with(text: &str, members: &Arrays, function: &mut dyn FnMut(&str, &Body) -> String) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(") {\n") {
        let line = rest[..begin].rfind('\n').map_or(0, |before| before + 1);
        let (signature, body) = (&rest[line..begin + ") {".len()], &rest[begin + ") {\n".len()..]);
        let Some(end) = body.find("\n}\n") else { break };
        output.push_str(&rest[..line]);
        output.push_str(&function(signature, &body_with(&body[..end], members)));
        rest = &body[end + "\n}".len()..];
    }
    output.push_str(rest);
    output
}

/// The body of a function.
fn body_with(text: &str, members: &Arrays) -> Body {
    let tokens = tokens(text);
    let Some(found) = statements(&tokens) else {
        return Body { locals: Vec::new(), statements: vec![with_elements(text, members)] };
    };
    let variables: Vec<(String, &str)> =
        found.iter().filter_map(|s| variable(&tokens[s.begin..s.end])).collect();
    let locals = Arrays::of(variables.iter().map(|(kind, name)| (kind.as_str(), *name)));
    let declares = |s: &Statement| variable(&tokens[s.begin..s.end]).is_some();
    let rest: Vec<&Statement> = found.iter().filter(|s| !declares(s)).collect();
    let unused = unused_zeros(&tokens, &rest, &variables);
    let rest = rest.iter().enumerate().filter(|(at, _)| !unused.contains(at));
    let rest = rest.flat_map(|(_, s)| &tokens[s.begin..s.end]);
    let rest: Vec<&str> = rest.copied().collect();
    let found = statements(&rest).expect("statements without some of them");
    let names = Names { members, locals: &locals };
    let rest = arrange::arrange(&rest, &found, &names);
    let found = statements(&rest).expect("statements in another order");
    let single = variables.iter().filter(|(_, name)| locals.element(name).is_none());
    let single = single.map(|(kind, name)| (name.to_string(), format!("{kind} {name};")));
    Body {
        locals: locals.declarations().chain(single).collect(),
        statements: repeats::texts(&rest, &found, &names),
    }
}

/// Which of `statements` set one of `variables` to 0 before another one sets it without a
/// condition: Verilator does that with all that are local, and for arrays the compiler does not see
/// it.
fn unused_zeros(tokens: &[&str], statements: &[&Statement], variables: &[(String, &str)]) -> HashSet<usize> {
    let names: HashSet<&str> = variables.iter().map(|(_, name)| *name).collect();
    let mut zeros: HashMap<&str, usize> = HashMap::new();
    let mut unused = HashSet::new();
    for (at, statement) in statements.iter().enumerate() {
        let tokens = &tokens[statement.begin..statement.end];
        match tokens {
            [name, "=", "0", ";"] if names.contains(name) => {
                if effects::is_for_later(name) {
                    unused.insert(at);
                } else {
                    zeros.insert(name, at);
                }
                continue;
            }
            [name, "=", value @ ..] if !value.contains(name) => unused.extend(zeros.get(name)),
            _ => {}
        }
        for name in tokens {
            zeros.remove(name);
        }
    }
    unused.extend(zeros.values());
    unused
}

/// `text` with arrays in the place of variables.
fn with_elements(text: &str, members: &Arrays) -> String {
    let mut output = elements(text, members);
    output.push('\n');
    output
}

fn elements(text: &str, members: &Arrays) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(arrow) = rest.find("->") {
        let (before, after) = rest.split_at(arrow + "->".len());
        let (name, after) = after.split_at(after.find(|c| !is_word(c)).unwrap_or(after.len()));
        output.push_str(before);
        rest = after;
        match members.element(name) {
            Some(Element { array, index }) if members.is_by_address(array) => {
                let (address, behind) = bracketed(after);
                output.push_str(&format!("{array}[{}][{index}]", elements(address, members)));
                rest = behind;
            }
            Some(Element { array, index }) => output.push_str(&format!("{array}[{index}]")),
            None => output.push_str(name),
        }
    }
    output.push_str(rest);
    output
}

/// What is in the brackets with which `text` begins, and what follows them.
fn bracketed(text: &str) -> (&str, &str) {
    let begin = text.find('[').map_or(text.len(), |at| at + 1);
    let mut depth = 1;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < begin) {
        depth += match c {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        if depth == 0 {
            return (&text[begin..at], &text[at + 1..]);
        }
    }
    (&text[begin..], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "class Vmodel_core final : public VerilatedModule {\n  public:\n    CData/*0:0*/ __PVT__busy;\n    \
                          IData/*31:0*/ __PVT__lane_0_x;\n    IData/*31:0*/ __PVT__lane_1_x;\n    \
                          IData/*31:0*/ __PVT__lane_2_x;\n    IData/*31:0*/ __PVT__lane_3_x;\n    Vmodel__Syms* const vlSymsp;\n};\n";

    fn source(lines: &str) -> String {
        let body: String = (0..4).map(|i| lines.replace('#', &i.to_string())).collect();
        format!("#include \"Vmodel_core.h\"\n\nVL_INLINE_OPT void Vmodel_core___nba__0(Vmodel_core* vlSelf) {{\n{body}}}\n")
    }

    fn rewritten(name: &str, header: &str, source: &str, root: &str) -> [String; 2] {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("Vmodel_core.h"), header).unwrap();
        fs::write(path("Vmodel_core__0.cpp"), source).unwrap();
        fs::write(path("Vmodel___024root__0.cpp"), root).unwrap();
        let shared = [SharedModule { name: name.into(), inputs: Vec::new() }];
        of_repetitions(folder.path(), &shared).unwrap();
        assert_eq!(fs::read_to_string(path("Vmodel___024root__0.cpp")).unwrap(), root);
        ["Vmodel_core.h", "Vmodel_core__0.cpp"].map(|name| fs::read_to_string(path(name)).unwrap())
    }

    fn plain(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn members_and_locals_are_arrays_and_their_statements_loops() {
        let lines = "    SData/*15:0*/ part_#;\n    part_# = 0;\n    vlSelf->__PVT__lane_#_x = part_#;\n";
        let [header, source] = rewritten("core", HEADER, &source(lines), "x = 1;");
        assert!(
            header.contains("CData/*0:0*/ __PVT__busy;\nIData __PVT__lane_N_x[4];\n    Vmodel__Syms"),
            "{header}"
        );
        let expected = "{ SData part_N[4]; for (unsigned repetition = 0; repetition < 4; ++repetition) { \
                        part_N[0 + 1 * repetition] = 0 ; } \
                        for (unsigned repetition = 0; repetition < 4; ++repetition) { \
                        vlSelf -> __PVT__lane_N_x[0 + 1 * repetition] = part_N[0 + 1 * repetition] ; } }";
        assert!(plain(&source).ends_with(expected), "{source}");
    }

    /// Declarations of variables that are in arrays do not come into a loop with the statements
    /// around them.
    #[test]
    fn declarations_are_in_no_loop() {
        let lines = "    SData part_#;\n    part_# = 1;\n    SData other_#;\n    other_# = 1;\n";
        let [_, source] = rewritten("core", HEADER, &source(lines), "x = 1;");
        let expected = "{ SData other_N[4]; SData part_N[4]; for (unsigned repetition = 0; repetition < 4; ++repetition) { \
                        part_N[0 + 1 * repetition] = 1 ; } \
                        for (unsigned repetition = 0; repetition < 4; ++repetition) { other_N[0 + 1 * repetition] = 1 ; } }";
        assert!(plain(&source).ends_with(expected), "{source}");
    }

    /// Zeros that another value takes the place of are left out, if no condition is around it and
    /// they are not read.
    #[test]
    fn zeros_that_are_not_used_are_left_out() {
        let unused = |text: &str| {
            let tokens = tokens(text);
            let found = statements(&tokens).unwrap();
            let variables = ["a", "b", "__Vdlyvval__x"].map(|name| ("IData".to_string(), name));
            let all: Vec<&Statement> = found.iter().collect();
            let mut unused: Vec<usize> = unused_zeros(&tokens, &all, &variables).into_iter().collect();
            unused.sort_unstable();
            unused
        };
        assert_eq!(unused("a = 0; b = 0; c = 0; a = b; b = a; c = 1U;"), [0]);
        assert_eq!(unused("a = 0; b = 0; if (x) { a = 1U; } b = 1U; a = 2U;"), [1]);
        assert_eq!(unused("a = 0; a = (a + 1U); b = 0;"), [2]);
        assert_eq!(unused("__Vdlyvval__x = 0; if (x) { __Vdlyvval__x = 1U; }"), [0]);
    }

    #[test]
    fn memories_are_ordered_by_address() {
        let header = HEADER.replace("IData/*31:0*/", "VlUnpacked<IData, 16>");
        let text = source("    vlSelf->__PVT__lane_#_x[vlSelf->y[2]] = 1U;\n");
        let [header, rolled] = rewritten("core", &header, &text, "x = 1;");
        assert!(header.contains("IData __PVT__lane_N_x[16][4];"), "{header}");
        assert!(
            plain(&rolled).contains("__PVT__lane_N_x [ vlSelf -> y [ 2 ] ][0 + 1 * repetition] = 1U ;"),
            "{rolled}"
        );
        let members = {
            let names: Vec<String> = (0..4).map(|i| format!("x_{i}")).collect();
            let mut members =
                Arrays::of(names.iter().map(|name| ("VlUnpacked < IData , 16 >", name.as_str())));
            members.order_by_address(|_| false);
            members
        };
        let text = "vlSelf->x_2\n [vlSelf->x_1[3U]] = vlSelf->y;";
        assert_eq!(with_elements(text, &members), "vlSelf->x_N[vlSelf->x_N[3U][1]][2] = vlSelf->y;\n");
        assert_eq!(without_address("a->b[c] = d [e];").collect::<Vec<_>>(), ["a", "c", "e"]);
    }

    /// A module's variables are looked for in what the files of the modules before it have become.
    #[test]
    fn several_modules_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("Vmodel_core.h"), HEADER).unwrap();
        fs::write(path("Vmodel_core__0.cpp"), source("    vlSelf->__PVT__lane_#_x = 0U;\n")).unwrap();
        fs::write(path("Vmodel_bank.h"), HEADER.replace("core", "bank")).unwrap();
        let shared = ["core", "bank"].map(|name| SharedModule { name: name.into(), inputs: Vec::new() });
        of_repetitions(folder.path(), &shared).unwrap();
        for name in ["Vmodel_core.h", "Vmodel_bank.h"] {
            let header = fs::read_to_string(path(name)).unwrap();
            assert!(header.contains("IData __PVT__lane_N_x[4];"), "{name}: {header}");
        }
    }

    #[test]
    fn functions_with_directives_keep_their_statements() {
        let lines = "\n#ifdef VL_DEBUG\n    vlSelf->__PVT__lane_#_x = 0U;\n#endif\n";
        let text = source(&lines.replace("#i", "@i").replace("#e", "@e")).replace('@', "#");
        let [_, source] = rewritten("core", HEADER, &text, "x = 1;");
        for i in 0..4 {
            assert!(
                source
                    .contains(&format!("#ifdef VL_DEBUG\n    vlSelf->__PVT__lane_N_x[{i}] = 0U;\n#endif\n")),
                "{source}"
            );
        }
    }

    #[test]
    fn what_others_use_and_other_modules_stay() {
        let text = source("    vlSelf->__PVT__lane_#_x = 0U;\n");
        let same = [HEADER.to_string(), text.clone()];
        assert_eq!(rewritten("core", HEADER, &text, "vlSymsp->TOP__a.__PVT__lane_2_x = 1;"), same);
        assert_eq!(rewritten("bank", HEADER, &text, "x = 1;"), same);
    }
}
