//! Large functions of shared modules in parts, each of which fits the processor's first cache for
//! code.
//!
//! Verilator can do that as well, but before statements are brought side by side: what the loops of
//! [`crate::loops`] are made of would be in several functions.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::order;

/// Most characters of a part: some 20 KB of code.
const LONGEST: usize = 200_000;

/// The body of a function.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// Name and declaration of each variable.
    pub locals: Vec<(String, String)>,
    /// The statements that do not declare these.
    pub statements: Vec<String>,
}

/// How many parts there are of each function that was cut.
pub(crate) type Cuts = HashMap<String, usize>;

/// Whether a function of so much text may have to be cut.
pub(crate) fn is_long(text: &str) -> bool {
    text.len() > LONGEST
}

/// Whether the function with the first line `signature` and this body is long, and all its calls in
/// `texts` are of the kind that [`calls`] knows: an instance of a shared module's, from outside of
/// its class.
pub(crate) fn is_possible<'a, T: Iterator<Item = &'a str>>(
    signature: &str,
    body: &Body,
    texts: impl Fn() -> T,
) -> bool {
    let long = body.statements.iter().map(String::len).sum::<usize>() > LONGEST;
    let Some(name) = name(signature).filter(|_| long) else { return false };
    let is_known = |text: &str, at: usize| {
        text[..at].ends_with("void ")
            || text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            || order::call(&text[at..], |function| function == name).is_some()
    };
    let called = format!("{name}(");
    texts().all(|text| text.match_indices(&called).all(|(at, _)| is_known(text, at)))
}

/// The function with the first line `signature` and this body, in as many parts as it takes. What
/// the parts share becomes members: their declarations are added to `members`, and their number to
/// `cuts`.
pub(crate) fn function(signature: &str, body: &Body, members: &mut String, cuts: &mut Cuts) -> String {
    let Some(name) = name(signature) else { return whole(signature, body) };
    let parts = parts(&body.statements);
    let used: Vec<Vec<bool>> = parts.iter().map(|statements| uses(statements, &body.locals)).collect();
    let mut lines = vec![Vec::new(); parts.len()];
    for (local, (variable, declaration)) in body.locals.iter().enumerate() {
        let users: Vec<usize> = (0..parts.len()).filter(|part| used[*part][local]).collect();
        match users[..] {
            [] => continue,
            [only] => {
                lines[only].push(declaration.clone());
                continue;
            }
            _ => {}
        }
        let member = format!("{name}__{variable}");
        let _ = writeln!(members, "{}", replaced(declaration, variable, &member));
        users.iter().for_each(|part| lines[*part].push(format!("auto& {variable} = vlSelf->{member};")));
    }
    let mut output = String::new();
    for (number, statements) in parts.iter().enumerate() {
        let signature = signature.replacen(name, &part(name, number), 1);
        output += &written(&signature, lines[number].iter().map(String::as_str), statements);
        output.push('\n');
    }
    cuts.insert(name.to_string(), parts.len());
    output
}

/// The function with the first line `signature` and this body in one part.
pub(crate) fn whole(signature: &str, body: &Body) -> String {
    written(signature, body.locals.iter().map(|(_, declaration)| declaration.as_str()), &body.statements)
}

/// `text` with calls and declarations of all parts in the place of those of functions that were
/// cut.
pub(crate) fn calls(text: &str, cuts: &Cuts) -> Option<String> {
    let mut output = String::with_capacity(text.len());
    let mut found = false;
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((call, after)) = order::call(rest, |function| cuts.contains_key(function)) {
            for number in 0..cuts[call.function] {
                let _ = writeln!(
                    output,
                    "        {}((&vlSymsp->{}));",
                    part(call.function, number),
                    call.instance
                );
            }
            (found, rest) = (true, after);
            continue;
        }
        let (line, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |at| at + 1));
        let declared = name(line).filter(|_| line.trim_end().ends_with(';'));
        match declared.and_then(|name| Some((name, cuts.get(name)?))) {
            Some((name, parts)) => {
                (0..*parts).for_each(|number| output += &line.replacen(name, &part(name, number), 1));
                found = true;
            }
            None => output.push_str(line),
        }
        rest = after;
    }
    found.then_some(output)
}

/// The name in the declaration of a function.
pub(crate) fn name(signature: &str) -> Option<&str> {
    let (_, rest) = signature.split_once("void ")?;
    rest.split_once('(').map(|(name, _)| name)
}

/// Name of a part.
fn part(function: &str, number: usize) -> String {
    match number {
        0 => function.to_string(),
        _ => format!("{function}__part_{number}"),
    }
}

/// `statements` in parts of about the same length.
fn parts(statements: &[String]) -> Vec<Vec<String>> {
    let total: usize = statements.iter().map(String::len).sum();
    let count = total.div_ceil(LONGEST).max(1);
    let everywhere: Vec<String> = statements.iter().filter(|s| is_for_all(s)).cloned().collect();
    let mut parts = vec![everywhere; count];
    let mut before = 0;
    for statement in statements {
        if !is_for_all(statement) {
            parts[(before * count / total.max(1)).min(count - 1)].push(statement.clone());
        }
        before += statement.len();
    }
    parts
}

/// Whether `statement` declares the table of instances, which all parts need.
fn is_for_all(statement: &str) -> bool {
    statement.contains("= vlSelf -> vlSymsp ;")
}

/// Which of `locals` the statements name.
fn uses(statements: &[String], locals: &[(String, String)]) -> Vec<bool> {
    let words: std::collections::HashSet<&str> =
        statements.iter().flat_map(|s| s.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))).collect();
    locals.iter().map(|(name, _)| words.contains(name.as_str())).collect()
}

/// `declaration` of `variable` with another name.
fn replaced(declaration: &str, variable: &str, name: &str) -> String {
    let at = declaration.rfind(variable).expect("a declaration names its variable");
    format!("{}{name}{}", &declaration[..at], &declaration[at + variable.len()..])
}

fn written<'a>(signature: &str, lines: impl Iterator<Item = &'a str>, statements: &[String]) -> String {
    let mut output = format!("{signature}\n");
    lines.for_each(|line| {
        let _ = writeln!(output, "{line}");
    });
    statements.iter().for_each(|statement| output += statement);
    output.push('}');
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNATURE: &str = "VL_INLINE_OPT void Vmodel_core___nba__0(Vmodel_core* vlSelf) {";

    /// Three statements, of which two fit into a part.
    fn body() -> Body {
        let long = |text: &str| format!("{text}{}\n", " ".repeat(LONGEST * 2 / 5));
        let local = |name: &str, declaration: &str| (name.to_string(), declaration.to_string());
        Body {
            locals: vec![
                local("first", "IData first;"),
                local("both", "QData both[4];"),
                local("none", "CData none;"),
            ],
            statements: vec![
                "Vmodel__Syms * const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf -> vlSymsp ;\n".into(),
                long("first = 1U;"),
                long("both[0] = first;"),
                long("vlSelf->x = both[0];"),
            ],
        }
    }

    #[test]
    fn what_parts_share_becomes_a_member() {
        let (mut members, mut cuts) = (String::new(), Cuts::new());
        let text = function(SIGNATURE, &body(), &mut members, &mut cuts);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let table = "Vmodel__Syms * const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf -> vlSymsp ;";
        let shared = "auto& both = vlSelf->Vmodel_core___nba__0__both;";
        let expected = format!(
            "{SIGNATURE} IData first; {shared} {table} first = 1U; both[0] = first; }} \
             VL_INLINE_OPT void Vmodel_core___nba__0__part_1(Vmodel_core* vlSelf) {{ {shared} {table} vlSelf->x = both[0]; }}"
        );
        assert_eq!(text, expected);
        assert_eq!(members, "QData Vmodel_core___nba__0__both[4];\n");
        assert_eq!(cuts, Cuts::from([("Vmodel_core___nba__0".to_string(), 2)]));
    }

    #[test]
    fn all_parts_are_declared_and_called() {
        let cuts = Cuts::from([("f".to_string(), 3)]);
        let text = "void f(Vmodel_core* vlSelf);\nvoid g(Vmodel_core* vlSelf);\n    f((&vlSymsp->TOP__a));\n    g((&vlSymsp->TOP__a));\n";
        let expected = "void f(Vmodel_core* vlSelf);\nvoid f__part_1(Vmodel_core* vlSelf);\nvoid f__part_2(Vmodel_core* vlSelf);\n\
                        void g(Vmodel_core* vlSelf);\n        f((&vlSymsp->TOP__a));\n        f__part_1((&vlSymsp->TOP__a));\n        \
                        f__part_2((&vlSymsp->TOP__a));\n    g((&vlSymsp->TOP__a));\n";
        assert_eq!(calls(text, &cuts).as_deref(), Some(expected));
        assert_eq!(calls("    g((&vlSymsp->TOP__a));\n", &cuts), None);
    }

    #[test]
    fn only_long_functions_with_known_calls_are_cut() {
        let signature = "void f(Vmodel_core* vlSelf) {";
        let known =
            "void f(Vmodel_core* vlSelf);\n    f((\n        &vlSymsp->TOP__a));\n    other_f(vlSelf);\n";
        assert!(is_possible(signature, &body(), || [known].into_iter()));
        assert!(!is_possible(signature, &body(), || [known, "    f(vlSelf);\n"].into_iter()));
        let short = Body { statements: vec!["x = 1U;\n".into()], ..Body::default() };
        assert!(!is_possible(signature, &short, || [known].into_iter()));
    }
}
