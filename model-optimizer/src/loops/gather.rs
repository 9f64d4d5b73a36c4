//! Expressions that put bits of all lanes together, `(x[3] << 3U) | ((x[2] << 2U) | ...)`, as
//! loops.

use std::fmt::Write as _;

use super::align;
use super::columns::{self, column, write_tokens, Column, Token};
use super::{fuse, independent, operands};

/// Fewer terms stay as they are.
const LEAST: usize = 8;

/// The assignment `tokens` with a loop over most terms of its value, if that is an or of terms that
/// repeat each other. With `narrow`, the variable that it is assigned to has 32 bits or fewer.
pub(super) fn assignment(
    tokens: &[Token],
    narrow: bool,
    is_word: &dyn Fn(&[Token], usize) -> bool,
) -> Option<String> {
    let equals = tokens.iter().position(|token| *token == Token::Fixed("="))?;
    let (target, value) = (&tokens[..equals], &tokens[equals + 1..tokens.len() - 1]);
    let ends = tokens.last() == Some(&Token::Fixed(";"));
    if !ends || target.contains(&Token::Fixed("(")) {
        return None;
    }
    let mut terms = Vec::new();
    operands::add(value, "|", &mut terms);
    let (from, to, columns) = repeated(&terms, is_word)?;
    if !independent::reads_only(&columns) || columns.iter().all(Column::is_uniform) {
        return None;
    }
    let kind = if narrow { "IData" } else { "QData" };
    let mut output = format!("{{\n{kind} gathered = 0;\n");
    let _ = writeln!(
        output,
        "{}\n{}\ngathered |= {};\n}}",
        fuse::INDEPENDENT,
        fuse::head(to - from),
        columns::text(&columns)
    );
    write_tokens(&mut output, target);
    output.push_str("= gathered");
    for term in terms[..from].iter().chain(&terms[to..]) {
        output.push_str(" | ");
        write_tokens(&mut output, term);
    }
    output.push_str(";\n}\n");
    Some(output)
}

/// The longest run of `terms` that repeat each other: from where to where, and how they go on.
fn repeated<'a>(
    terms: &[&[Token<'a>]],
    is_word: &dyn Fn(&[Token], usize) -> bool,
) -> Option<(usize, usize, Vec<Column<'a>>)> {
    let shapes: Vec<Vec<Token>> = terms.iter().map(|term| term.iter().map(Token::shape).collect()).collect();
    let (mut from, mut to) = (0, 0);
    let mut begin = 0;
    for at in 1..=shapes.len() {
        if at == shapes.len() || shapes[at] != shapes[begin] {
            if at - begin > to - from {
                (from, to) = (begin, at);
            }
            begin = at;
        }
    }
    if to - from < LEAST {
        return None;
    }
    let mut repetitions: Vec<Vec<Token>> = terms[from..to].iter().map(|term| term.to_vec()).collect();
    if let Some(before) = from.checked_sub(1).and_then(|at| align::like(terms[at], terms[from], is_word)) {
        repetitions.insert(0, before);
        from -= 1;
    }
    if let Some(after) = terms.get(to).and_then(|term| align::like(term, terms[to - 1], is_word)) {
        repetitions.push(after);
        to += 1;
    }
    // One that was simplified may turn out to go on in another way.
    for (first, last) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let some: Vec<&[Token]> =
            repetitions[first..repetitions.len() - last].iter().map(Vec::as_slice).collect();
        let columns: Vec<_> = (0..some[0].len()).map(|at| column(&some, at)).collect();
        if some.len() >= LEAST && columns.iter().all(|(_, count)| *count >= some.len()) {
            let columns = columns.into_iter().map(|(column, _)| column).collect();
            return Some((from + first, to - last, columns));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::arrays::Arrays;
    use super::super::columns::{classify, Names};
    use super::super::tokens::tokens;
    use super::*;

    fn written(text: &str) -> Option<String> {
        let names: Vec<String> = (0..16).map(|i| format!("a_{i}")).collect();
        let members = Arrays::of(names.iter().map(|name| ("CData", name.as_str())));
        let tokens = tokens(text);
        let locals = Arrays::default();
        let tokens = classify(&tokens, &Names { members: &members, locals: &locals });
        let text = assignment(&tokens, true, &|_, _| false)?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// An or, as Verilator writes it: the last lane first, without a shift for the first lane.
    fn nested(lanes: std::ops::Range<usize>, one: impl Fn(usize) -> String, last: &str) -> String {
        lanes.rev().fold(String::new(), |text, i| format!("{text}({} | ", one(i))) + last
    }

    #[test]
    fn bits_of_all_lanes_are_put_together_in_a_loop() {
        let one = |i: usize| format!("((IData)(vlSelf->a_{i}) << {i}U)");
        let value = nested(1..16, one, "(IData)(vlSelf->a_0)") + &")".repeat(15);
        let expected = "{ IData gathered = 0; HERMES_INDEPENDENT for (unsigned repetition = 0; repetition < 15; ++repetition) { \
                        gathered |= ( ( IData ) ( vlSelf -> a_N[15 - 1 * repetition] ) << (15U - 1U * repetition) ) ; } \
                        vlSelf -> x = gathered | ( IData ) ( vlSelf -> a_N[0] ) ; }";
        assert_eq!(written(&format!("vlSelf->x = {value};")).as_deref(), Some(expected));
    }

    /// The variable that is assigned to may be read.
    #[test]
    fn other_terms_are_added_behind_the_loop() {
        let one = |i: usize| format!("({} & vlSelf->w[{i}U])", 1 << i);
        let value = nested(0..8, one, "(4294967040U & vlSelf->x)") + &")".repeat(8);
        let text = written(&format!("vlSelf->x = {value};")).unwrap();
        assert!(
            text.contains(
                "gathered |= ( (1 << (7 - 1 * repetition)) & vlSelf -> w [ (7U - 1U * repetition) ] ) ;"
            ),
            "{text}"
        );
        assert!(text.ends_with("vlSelf -> x = gathered | ( 4294967040U & vlSelf -> x ) ; }"), "{text}");
    }

    #[test]
    fn what_is_no_or_of_many_alike_stays() {
        let few = nested(1..8, |i| format!("(vlSelf->a_{i} << {i}U)"), "y") + &")".repeat(7);
        let call = nested(0..12, |i| format!("f(vlSelf->a_{i})"), "y") + &")".repeat(12);
        let sum = nested(0..12, |i| format!("vlSelf->a_{i}"), "y").replace('|', "+") + &")".repeat(12);
        let same = nested(0..12, |_| "vlSelf->a_1".into(), "y") + &")".repeat(12);
        for value in [few, call, sum, same, "(c ? x | y : z)".into()] {
            assert_eq!(written(&format!("vlSelf->x = {value};")), None, "{value}");
        }
    }
}
