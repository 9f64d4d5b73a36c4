//! Statements that repeat each other, written once in a loop.

use std::collections::HashMap;

use super::columns::{classify, column, write_tokens, Column, Names, Token};
use super::fuse::{self, Piece};
use super::tokens::{Parts, Statement};
use super::{align, gather, independent};

/// Fewer repetitions stay as they are.
pub(super) const LEAST: usize = 4;
/// Most statements of one repetition.
const LONGEST: usize = 100;

/// Repetitions that were found.
pub(super) struct Repeats<'a> {
    /// Statements of one; the places of tokens are those in `columns`, from `begin` on.
    pub statements: &'a [Statement],
    pub begin: usize,
    pub count: usize,
    pub columns: Vec<Column<'a>>,
}

/// The text of `statements` of `tokens`, with loops for those that repeat each other: one by one,
/// and each loop by itself.
pub(super) fn texts(tokens: &[&str], statements: &[Statement], names: &Names) -> Vec<String> {
    let tokens = classify(tokens, names);
    Writer { tokens: &tokens, names }.block(statements)
}

struct Writer<'a> {
    tokens: &'a [Token<'a>],
    names: &'a Names<'a>,
}

impl<'a> Writer<'a> {
    fn block(&self, statements: &'a [Statement]) -> Vec<String> {
        let shapes = self.shapes(statements);
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < statements.len() {
            let Some(repeats) = self.repeats(&statements[at..], &shapes[at..]) else {
                pieces.push(Piece::Text(self.statement(&statements[at])));
                at += 1;
                continue;
            };
            // A repetition may begin before `at`: then these are the end of one and the beginning
            // of the next, and depend on each other.
            let shifted = || {
                let mut later = (1..repeats.statements.len()).filter_map(|by| {
                    let repeats = self.repeats(&statements[at + by..], &shapes[at + by..])?;
                    independent::is_independent(&repeats).then_some((by, repeats))
                });
                later.find(|(_, later)| {
                    later.statements.len() == repeats.statements.len() && later.count + 1 >= repeats.count
                })
            };
            let (by, repeats) =
                if independent::is_independent(&repeats) { None } else { shifted() }.unwrap_or((0, repeats));
            pieces.extend(
                statements[at..at + by].iter().map(|statement| Piece::Text(self.statement(statement))),
            );
            at += by + repeats.statements.len() * repeats.count;
            pieces.extend(independent::loops(&repeats, self.names));
        }
        fuse::texts(pieces)
    }

    fn statement(&self, statement: &'a Statement) -> String {
        let mut output = String::new();
        let Parts::If { condition_end, then, otherwise } = &statement.parts else {
            let tokens = &self.tokens[statement.begin..statement.end];
            let gathered =
                gather::assignment(tokens, self.is_narrow(tokens), &|tokens, at| self.is_word(tokens, at));
            if let Some(gathered) = gathered {
                return gathered;
            }
            write_tokens(&mut output, tokens);
            return output;
        };
        write_tokens(&mut output, &self.tokens[statement.begin..*condition_end]);
        output.push_str("{\n");
        output.extend(self.block(then));
        output.push_str("}\n");
        if let Some(otherwise) = otherwise {
            output.push_str("else {\n");
            output.extend(self.block(otherwise));
            output.push_str("}\n");
        }
        output
    }

    /// A number for each statement, which those share that differ in numbers and indices only.
    fn shapes(&self, statements: &[Statement]) -> Vec<usize> {
        let mut known: HashMap<Vec<Token>, usize> = HashMap::new();
        let mut number = |statement: &Statement| {
            let shape = self.tokens[statement.begin..statement.end].iter().map(Token::shape).collect();
            let next = known.len();
            *known.entry(shape).or_insert(next)
        };
        statements.iter().map(&mut number).collect()
    }

    /// The repetitions with which `statements` begin: those that cover most of them.
    fn repeats(&self, statements: &'a [Statement], shapes: &[usize]) -> Option<Repeats<'a>> {
        let mut best: Option<Repeats> = None;
        for length in 1..=LONGEST.min(statements.len() / LEAST) {
            let covered = best.as_ref().map_or(0, |b| b.statements.len() * b.count);
            let found = self.of_length(length, statements, shapes, covered);
            best = found.or(best);
        }
        best
    }

    /// The repetitions of `length` statements, if they cover more than `covered`.
    fn of_length(
        &self,
        length: usize,
        statements: &'a [Statement],
        shapes: &[usize],
        covered: usize,
    ) -> Option<Repeats<'a>> {
        // The first one may be simplified: the others are like the second.
        let alike = |from: usize| {
            let mut chunks = shapes[from..].chunks_exact(length);
            let model = chunks.next();
            model.map_or(0, |model| 1 + chunks.take_while(|chunk| *chunk == model).count())
        };
        let first_is_alike = shapes[..length] == shapes[length..2 * length];
        let count = if first_is_alike { alike(0) } else { 1 + alike(length) };
        // One more may be simplified at the end.
        if count + 1 < LEAST || (count + 1) * length <= covered {
            return None;
        }
        let slice = |i: usize| {
            let statements = &statements[i * length..(i + 1) * length];
            &self.tokens[statements[0].begin..statements[length - 1].end]
        };
        let is_word = |tokens: &[Token], at: usize| self.is_word(tokens, at);
        let aligned = if first_is_alike { None } else { Some(align::like(slice(0), slice(1), &is_word)?) };
        let more = (count + 1) * length <= statements.len();
        let last = more.then(|| align::like(slice(count), slice(count - 1), &is_word)).flatten();
        let mut repetitions: Vec<&[Token]> = (0..count).map(slice).collect();
        if let Some(aligned) = &aligned {
            repetitions[0] = aligned;
        }
        repetitions.extend(last.as_deref());
        let columns = |count: usize| {
            let repetitions = &repetitions[..count];
            (0..repetitions[0].len()).map(|at| column(repetitions, at)).collect::<Vec<_>>()
        };
        // As many as go on evenly in all tokens; with fewer, a token may turn out to go on in
        // another way.
        let count = repetitions.len();
        let even = columns(count).iter().map(|(_, count)| *count).min().unwrap_or(0).min(count);
        if even < LEAST || even * length <= covered {
            return None;
        }
        let columns = columns(even).into_iter().map(|(column, _)| column).collect();
        let statements = &statements[length..2 * length];
        Some(Repeats { statements, begin: statements[0].begin, count: even, columns })
    }

    /// Whether the assignment `tokens` is one to a variable of 32 bits or fewer.
    fn is_narrow(&self, tokens: &[Token]) -> bool {
        let (arrays, target) = match tokens {
            [Token::Fixed("vlSelf"), Token::Fixed("->"), target, ..] => (self.names.arrays(true), target),
            [target, ..] => (self.names.arrays(false), target),
            [] => return false,
        };
        match target {
            Token::Fixed(name) => arrays.is_narrow(name),
            Token::Element(array, _) => (1..=4).contains(&arrays.bytes(array)),
            _ => false,
        }
    }

    /// Whether the token at `at` names a variable of 32 bits.
    fn is_word(&self, tokens: &[Token], at: usize) -> bool {
        let arrays = self.names.arrays(at > 0 && tokens[at - 1] == Token::Fixed("->"));
        matches!(tokens[at], Token::Fixed(name) if arrays.is_word(name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::arrays::Arrays;
    use super::super::tokens::{statements, tokens};
    use super::*;

    fn written(text: &str) -> String {
        let names: Vec<String> =
            (0..32).flat_map(|i| [format!("a_{i}"), format!("b_{i}_x"), format!("c_{i}")]).collect();
        let members = Arrays::of(names.iter().map(|name| ("IData", name.as_str())));
        let locals = names.iter().map(String::as_str).filter(|name| name.starts_with('c')).chain(["m"]);
        let locals = Arrays::of(locals.map(|name| ("IData", name)));
        let tokens = tokens(text);
        let names = Names { members: &members, locals: &locals };
        let output = texts(&tokens, &statements(&tokens).unwrap(), &names).concat();
        output.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn repeated(order: impl Iterator<Item = usize>, one: impl Fn(usize) -> String) -> String {
        order.map(one).collect()
    }

    #[test]
    fn statements_that_repeat_each_other_are_a_loop() {
        let text = repeated(0..8, |i| format!("s->a_{i} = (s->b_{i}_x >> {i}U); c_{i} = 3U;"));
        let head = "HERMES_INDEPENDENT for (unsigned repetition = 0; repetition < 8; ++repetition) {";
        let index = "[0 + 1 * repetition]";
        let body =
            format!("s -> a_N{index} = ( s -> b_N_x{index} >> (0U + 1U * repetition) ) ; c_N{index} = 3U ;");
        assert_eq!(written(&text), format!("{head} {body} }}"));
        let text = repeated((0..8).rev(), |i| format!("s->a_{i} = {}ULL & m;", 1u64 << (4 * i)));
        let body = "s -> a_N[7 - 1 * repetition] = (1ULL << (28 - 4 * repetition)) & m ;";
        assert_eq!(written(&text), format!("{head} {body} }}"));
    }

    #[test]
    fn what_does_not_go_on_evenly_is_not_in_the_loop() {
        let text = repeated([0, 1, 2, 3, 5, 4].into_iter(), |i| format!("s->a_{i} = 0U;"));
        let expected = "for (unsigned repetition = 0; repetition < 4; ++repetition) { \
                        s -> a_N[0 + 1 * repetition] = 0U ; } s -> a_N[5] = 0U ; s -> a_N[4] = 0U ;";
        assert_eq!(written(&text), expected);
        let text = repeated([3, 0, 2, 1].into_iter(), |i| format!("s->a_{i} = 0U;"));
        assert!(!written(&text).contains("for"));
        // Seven is no power of two.
        let text = repeated([1, 2, 4, 7].into_iter(), |i| format!("x = {i}U;"));
        assert!(!written(&text).contains("for"));
    }

    #[test]
    fn blocks_of_conditions_are_looked_into() {
        let inner = repeated(0..8, |i| format!("c_{i} = 0U;"));
        let text = written(&format!("if (s->a_1) {{ {inner} }} else {{ x = 1U; }}"));
        let expected = "if ( s -> a_N[1] ) { HERMES_INDEPENDENT for (unsigned repetition = 0; repetition < 8; ++repetition) { \
                        c_N[0 + 1 * repetition] = 0U ; } } else { x = 1U ; }";
        assert_eq!(text, expected);
    }

    /// Verilator leaves a shift by 0 out, and a mask of one bit.
    #[test]
    fn simplified_repetitions_are_in_the_loop() {
        let one = |i| match i {
            0 => "s->a_0 = (1U & m);".to_string(),
            31 => "s->a_31 = (m >> 31U);".to_string(),
            i => format!("s->a_{i} = (1U & (m >> {i}U));"),
        };
        let body = "s -> a_N[0 + 1 * repetition] = ( 1U & ( m >> (0U + 1U * repetition) ) ) ;";
        let head = "HERMES_INDEPENDENT for (unsigned repetition = 0; repetition < 32; ++repetition) {";
        assert_eq!(written(&repeated(0..32, one)), format!("{head} {body} }}"));
        let back = body.replace("0U + 1U *", "31U - 1U *").replace("0 + 1 *", "31 - 1 *");
        assert_eq!(written(&repeated((0..32).rev(), one)), format!("{head} {back} }}"));
    }

    /// The first statements end a repetition of which the rest is elsewhere.
    #[test]
    fn loops_begin_where_repetitions_do() {
        let text = repeated(0..10, |i| format!("s->a_{i} = 0U; if (x) {{ s->a_{i} = s->b_{i}_x; }}"));
        let text = text.strip_prefix("s->a_0 = 0U; ").unwrap();
        let begin = "if ( x ) { s -> a_N[0] = s -> b_N_x[0] ; } HERMES_INDEPENDENT for (unsigned repetition = 0; repetition < 9;";
        assert!(written(text).starts_with(begin), "{}", written(text));
    }

    /// Members and locals may have the same name.
    #[test]
    fn only_members_are_behind_arrows() {
        assert_eq!(written("s->c_1 = c_1; b_1_x = s->a_1;"), "s -> c_N[1] = c_N[1] ; b_1_x = s -> a_N[1] ;");
    }
}
