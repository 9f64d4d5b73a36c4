//! What statements read and write.

use super::columns::{number, Names};
use super::independent::is_allowed;
use super::tokens::is_name;

/// A variable, or one element or word of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// Name of the array for an element of one.
    pub name: &'a str,
    /// Whether it is a member of the class; others are local to the function.
    pub member: bool,
    /// Number of the element or word; none for all of the variable.
    pub index: Option<u64>,
}

/// What one or several statements read and write.
#[derive(Debug, Default)]
pub(super) struct Effects<'a> {
    pub reads: Vec<Place<'a>>,
    /// In the order in which they are written.
    pub writes: Vec<Place<'a>>,
}

impl<'a> Effects<'a> {
    /// Adds those of the assignment `tokens`; false if it is none, or does more than that.
    pub fn add_assignment(&mut self, tokens: &[&'a str], names: &Names<'a>) -> bool {
        let Some(equals) = outside_of_brackets(tokens, "=") else { return false };
        let at = if tokens.starts_with(&["vlSelf", "->"]) { 2 } else { 0 };
        let begins = |at: usize| tokens.get(at).is_some_and(|token| is_name(token));
        if !begins(at) || tokens[at] == "vlSymsp" || !only_brackets(&tokens[at + 1..equals]) {
            return false;
        }
        self.writes.push(place(tokens, at, names));
        let index = self.add_expression(&tokens[at + 1..equals], names);
        index && tokens.last() == Some(&";") && self.add_expression(&tokens[equals + 1..], names)
    }

    /// Adds those of the expression `tokens`; false if it may do more than read.
    pub fn add_expression(&mut self, tokens: &[&'a str], names: &Names<'a>) -> bool {
        for (at, token) in tokens.iter().enumerate() {
            let next = tokens.get(at + 1).copied();
            match *token {
                // Only inputs of the design are read behind it.
                "vlSymsp" if tokens.get(at + 1..at + 4) != Some(&["->", "TOP", "."]) => return false,
                "vlSelf" if next != Some("->") => return false,
                "vlSelf" | "vlSymsp" => {}
                "{" | "}" | "*=" | "/=" | "+=" | "-=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | "="
                | "++" | "--" => return false,
                name if is_name(name) && next == Some("(") && !is_allowed(name) => return false,
                name if is_name(name) => self.reads.push(place(tokens, at, names)),
                _ => {}
            }
        }
        true
    }
}

/// Whether Verilator has made the variable `name` for the value or an address of a write to a
/// memory, which comes later: under the condition of another variable if this one is set under a
/// condition.
pub(super) fn is_for_later(name: &str) -> bool {
    // The second of each are the names of newer versions.
    ["__Vdlyvval__", "__VdlyVal__", "__Vdlyvdim", "__VdlyDim"].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether two places may be, or contain, the same.
pub(super) fn overlap(a: &Place, b: &Place) -> bool {
    (a.name, a.member) == (b.name, b.member) && same_index(a.index, b.index)
}

/// Whether two indices of one variable may be, or contain, the same.
pub(super) fn same_index(a: Option<u64>, b: Option<u64>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// The place that the name at `at` stands for.
fn place<'a>(tokens: &[&'a str], at: usize, names: &Names<'a>) -> Place<'a> {
    let member = at > 0 && tokens[at - 1] == "->";
    let arrays = names.arrays(member);
    if let Some(element) = arrays.element(tokens[at]) {
        return Place { name: &element.array, member, index: Some(element.index as u64) };
    }
    let word = match tokens.get(at + 1..at + 4) {
        Some(["[", word, "]"]) => number(word).map(|(word, _)| word),
        _ => None,
    };
    Place { name: tokens[at], member, index: word }
}

/// Where `searched` is, outside of all brackets.
fn outside_of_brackets(tokens: &[&str], searched: &str) -> Option<usize> {
    let mut depth = 0;
    tokens.iter().position(|token| {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && *token == searched
    })
}

/// Whether all of `tokens` are in square brackets.
fn only_brackets(tokens: &[&str]) -> bool {
    let mut depth = 0;
    tokens.iter().all(|token| {
        match *token {
            "[" => depth += 1,
            "]" => {
                depth -= 1;
                return depth >= 0;
            }
            _ => {}
        }
        depth > 0
    })
}

#[cfg(test)]
mod tests {
    use super::super::arrays::Arrays;
    use super::super::tokens::tokens;
    use super::*;

    /// The names and indices that an assignment reads and writes; none if it is not only an
    /// assignment.
    fn found(text: &str) -> Option<[Vec<String>; 2]> {
        let names: Vec<String> = (0..4).map(|i| format!("a_{i}")).collect();
        let members = Arrays::of(names.iter().map(|name| ("IData", name.as_str())));
        let tokens = tokens(text);
        let mut effects = Effects::default();
        let names = Names { members: &members, locals: &Arrays::default() };
        let text = |place: &Place| match place.index {
            Some(index) => format!("{} {index}", place.name),
            None => place.name.to_string(),
        };
        let only = effects.add_assignment(&tokens, &names);
        only.then(|| [&effects.reads, &effects.writes].map(|places| places.iter().map(text).collect()))
    }

    #[test]
    fn elements_and_words_are_told_apart() {
        let [reads, writes] = found("vlSelf->a_2 = (w[0xaU] | vlSelf->m[vlSelf->a_1] ^ a_3);").unwrap();
        assert_eq!((reads.join(","), writes.join(",")), ("w 10,m,a_N 1,a_3".into(), "a_N 2".into()));
        let [reads, writes] = found("rows[x][3U] = VL_EXTENDS_II(32,8, vlSymsp->TOP.rst);").unwrap();
        assert_eq!((reads.join(","), writes.join(",")), ("x,VL_EXTENDS_II,TOP,rst".into(), "rows".into()));
    }

    #[test]
    fn what_may_do_more_than_assign_is_told() {
        for text in [
            "IData x;",
            "IData x = 1U;",
            "x += 1U;",
            "f(x);",
            "x = f(y);",
            "x = (y = z);",
            "x = vlSymsp->TOP__other.y;",
            "vlSymsp->TOP.rst = x;",
            "x = g[vlSelf];",
            "{ x = 1U; }",
            "for (i = 0U; i < 3U; ++i) { x = 1U; }",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    /// In old and in new versions; what says whether there is a write is read in any case.
    #[test]
    fn values_and_addresses_of_later_writes_are_known() {
        for name in ["__Vdlyvval__x__v0", "__Vdlyvdim0__x__v0", "__VdlyVal__x__v0", "__VdlyDim0__x__v0"] {
            assert!(is_for_later(name), "{name}");
        }
        for name in ["__Vdlyvset__x__v0", "__VdlySet__x__v0", "__Vdly__x", "__VdlyMask__x__v0", "x"] {
            assert!(!is_for_later(name), "{name}");
        }
    }

    #[test]
    fn all_of_a_variable_overlaps_its_words() {
        let place = |index| Place { name: "w", member: true, index };
        assert!(overlap(&place(None), &place(Some(3))) && overlap(&place(Some(3)), &place(Some(3))));
        assert!(!overlap(&place(Some(2)), &place(Some(3))));
        assert!(!overlap(&place(None), &Place { member: false, ..place(None) }));
    }
}
