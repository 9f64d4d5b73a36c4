//! Loops whose repetitions do not depend on each other, in a form that the compiler makes vectors
//! of.
//!
//! Compilers give up vectors for two reasons here: they cannot tell that an element which is
//! written is not read by another repetition, since elements of different sizes lie in one object;
//! and a statement under a condition might not be allowed without it. Both are known here. The loop
//! says the first, and in the place of conditional statements it computes values and selects.

use std::fmt::Write as _;
use std::ops::Range;

use super::columns::{text, Column, Names};
use super::fuse::{self, Access, Loop, Piece};
use super::repeats::Repeats;
use super::tokens::{is_name, Parts, Statement};
use super::{effects, operands};

/// Fewer repetitions stay as they are.
const LEAST: usize = 8;
/// Statements under a condition that is the same in all repetitions are left out by a jump if they
/// have more tokens.
const LONG: usize = 60;

/// What the files with the loops need.
pub(super) const DEFINITION: &str = "#ifndef HERMES_INDEPENDENT
#ifdef __clang__
#define HERMES_INDEPENDENT _Pragma(\"clang loop vectorize(assume_safety)\")
#else
#define HERMES_INDEPENDENT _Pragma(\"GCC ivdep\")
#endif
#include <cstring>
template <class T> static inline bool hermes_any(const T* values, unsigned count) {
    T found = 0;
    for (unsigned i = 0; i < count; ++i) found |= values[i];
    return found;
}
#endif
";

/// The loops of `repeats`.
pub(super) fn loops<'a>(repeats: &Repeats<'a>, names: &Names<'a>) -> Vec<Piece<'a>> {
    if is_independent(repeats) {
        let mut conditions = 0;
        return Body { repeats }.block(repeats.statements, names, &mut conditions);
    }
    vec![Piece::Text(format!("{}\n{}\n}}\n", fuse::head(repeats.count), text(&repeats.columns)))]
}

/// Whether `repeats` are written as independent loops.
pub(super) fn is_independent(repeats: &Repeats) -> bool {
    repeats.count >= LEAST && Body { repeats }.is_independent()
}

/// How statements are written in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Values are computed and selected.
    Selected,
    /// As they are, for vectors.
    Plain,
    /// As they are, each repetition by itself: their addresses differ.
    Single,
}

/// What is to become loops.
pub(super) struct Body<'r, 'a> {
    pub repeats: &'r Repeats<'a>,
}

impl<'r, 'a> Body<'r, 'a> {
    pub fn columns(&self, range: Range<usize>) -> &'r [Column<'a>] {
        &self.repeats.columns[range.start - self.repeats.begin..range.end - self.repeats.begin]
    }

    /// Whether no repetition writes what another one reads or writes, and calls nothing.
    fn is_independent(&self) -> bool {
        let columns = &self.repeats.columns;
        let mut written = Vec::new();
        if !self.targets(self.repeats.statements, &mut written) {
            return false;
        }
        without_effects(columns)
            && (0..columns.len()).all(|at| {
                access(columns, at).is_none_or(|found| {
                    written.iter().all(|target: &Access| target.name != found.name || *target == found)
                })
            })
    }

    /// Adds what `statements` write to `written`; gives whether each repetition writes elements of
    /// its own.
    fn targets(&self, statements: &[Statement], written: &mut Vec<Access<'a>>) -> bool {
        statements.iter().all(|statement| match &statement.parts {
            Parts::If { then, otherwise, .. } => {
                self.targets(then, written)
                    && otherwise.as_ref().is_none_or(|otherwise| self.targets(otherwise, written))
            }
            Parts::Plain => {
                let columns = self.columns(statement.begin..statement.end);
                let Some(assignment) = assignment(columns) else { return false };
                let at = if columns.get(1) == Some(&Column::Fixed("->")) { 2 } else { 0 };
                let Some(target) = access(&columns[..assignment], at) else { return false };
                let own = target.index.is_some_and(|(_, step)| step != 0);
                written.push(target);
                own
            }
        })
    }

    /// `statements` as loops, each for statements of one form.
    fn block(&self, statements: &[Statement], names: &Names, conditions: &mut usize) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < statements.len() {
            let statement = &statements[at];
            if let Some(condition) = self.jump(statement) {
                pieces.push(Piece::Text(self.condition(statement, condition, names, conditions)));
                at += 1;
                continue;
            }
            let (form, guard) = (self.form(statement), self.guard(statement));
            let write =
                guard.as_ref().filter(|_| form == Form::Single).and_then(|_| self.write_of_row(statement));
            let alike =
                |s: &&Statement| self.jump(s).is_none() && self.form(s) == form && self.guard(s) == guard;
            let count = if write.is_some() { 1 } else { statements[at..].iter().take_while(alike).count() };
            let group = &statements[at..at + count];
            let piece = match write {
                Some(write) => Piece::Text(write),
                None if form == Form::Single => Piece::Text(self.single(group)),
                None => Piece::Loop(self.group(group, form, names, conditions)),
            };
            pieces.push(match guard {
                Some(guard) => {
                    Piece::Text(format!("if ({guard}) {{\n{}}}\n", fuse::texts(vec![piece]).concat()))
                }
                None => piece,
            });
            at += count;
        }
        pieces
    }

    /// The loop of `statements`, one repetition after the other.
    fn single(&self, statements: &[Statement]) -> String {
        let texts = statements.iter().map(|s| text(self.columns(s.begin..s.end)) + "\n");
        format!("{}\n{}}}\n", fuse::head(self.repeats.count), texts.collect::<String>())
    }

    /// The loop of `statements`.
    fn group(&self, statements: &[Statement], form: Form, names: &Names, conditions: &mut usize) -> Loop<'a> {
        let mut body = String::new();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut width = 0;
        for statement in statements {
            let columns = self.columns(statement.begin..statement.end);
            if form == Form::Selected {
                self.selected(&mut body, statement, None, conditions);
            } else {
                let _ = writeln!(body, "{}", text(columns));
            }
            reads.extend((0..columns.len()).filter_map(|at| access(columns, at)));
            width = columns.iter().map(|column| bytes(column, names)).max().unwrap_or(0).max(width);
        }
        self.targets(statements, &mut writes);
        Loop { count: self.repeats.count, width, body, reads, writes }
    }

    /// What has to be met for `statement` to have an effect in any repetition, if a jump past it
    /// pays.
    fn guard(&self, statement: &Statement) -> Option<String> {
        let Parts::If { condition_end, otherwise: None, .. } = &statement.parts else { return None };
        if self.form(statement) == Form::Single {
            return self.some(statement);
        }
        let long = statement.end - *condition_end > LONG;
        let mut factors = Vec::new();
        // Each of them has to be met.
        operands::add(self.columns(statement.begin + 1..*condition_end), "&", &mut factors);
        let uniform = factors.iter().filter(|factor| factor.iter().all(Column::is_uniform));
        let inner = |factor: &&[Column]| text(operands::without_brackets(factor));
        let uniform: Vec<String> = uniform.map(|factor| format!("({})", inner(factor))).collect();
        (long && !uniform.is_empty()).then(|| uniform.join(" && "))
    }

    /// The condition of `statement`, if it is the same in all repetitions and a jump past the
    /// statement pays.
    fn jump(&self, statement: &Statement) -> Option<&'r [Column<'a>]> {
        let Parts::If { condition_end, .. } = &statement.parts else { return None };
        let condition = self.columns(statement.begin + 1..*condition_end);
        let long = statement.end - *condition_end > LONG;
        (long && condition.iter().all(Column::is_uniform)).then_some(condition)
    }

    /// `statement` with its condition outside of the loops.
    fn condition(
        &self,
        statement: &Statement,
        condition: &[Column],
        names: &Names,
        conditions: &mut usize,
    ) -> String {
        let Parts::If { then, otherwise, .. } = &statement.parts else { return String::new() };
        let mut block =
            |statements: &[Statement]| fuse::texts(self.block(statements, names, conditions)).concat();
        let mut output = format!("if {} {{\n{}}}\n", text(condition), block(then));
        if let Some(otherwise) = otherwise {
            let _ = writeln!(output, "else {{\n{}}}", block(otherwise));
        }
        output
    }

    fn form(&self, statement: &Statement) -> Form {
        let columns = self.columns(statement.begin..statement.end);
        let conditional = matches!(statement.parts, Parts::If { .. });
        match addresses(columns) {
            Addresses::Fixed => Form::Selected,
            Addresses::Uniform if !conditional => Form::Selected,
            Addresses::Uniform => Form::Plain,
            Addresses::Different => Form::Single,
        }
    }

    /// Writes `statement` without conditions: it has an effect if `met`.
    fn selected(&self, output: &mut String, statement: &Statement, met: Option<&str>, names: &mut usize) {
        match &statement.parts {
            Parts::Plain => {
                let columns = self.columns(statement.begin..statement.end);
                let Some(met) = met else {
                    let _ = writeln!(output, "{}", text(columns));
                    return;
                };
                let at = assignment(columns).expect("targets were found");
                let (target, value) = (text(&columns[..at]), text(&columns[at + 1..columns.len() - 1]));
                if is_for_later(columns) {
                    let _ = writeln!(output, "{target} = {value};");
                    return;
                }
                let _ = writeln!(
                    output,
                    "{{ const auto before = {target}; const auto value = {value}; {target} = {met} ? value : before; }}"
                );
            }
            Parts::If { condition_end, then, otherwise } => {
                *names += 1;
                let name = format!("met_{names}");
                let condition = text(self.columns(statement.begin + 1..*condition_end));
                let _ = match met {
                    None => writeln!(output, "const bool {name} = (bool){condition};"),
                    // Selected as well: what the inner condition is does not count then, not even
                    // where it is undefined.
                    Some(met) => writeln!(
                        output,
                        "const bool own_{name} = (bool){condition}; const bool {name} = {met} ? own_{name} : false;"
                    ),
                };
                then.iter().for_each(|statement| self.selected(output, statement, Some(&name), names));
                if let Some(otherwise) = otherwise {
                    let other = format!("not_{name}");
                    let and = met.map_or(String::new(), |met| format!(" & {met}"));
                    let _ = writeln!(output, "const bool {other} = !{name}{and};");
                    otherwise.iter().for_each(|s| self.selected(output, s, Some(&other), names));
                }
            }
        }
    }
}

/// Whether `columns` call nothing that has an effect or fails, assignments left aside.
fn without_effects(columns: &[Column]) -> bool {
    let calls = columns.windows(2).any(|pair| match pair {
        [Column::Fixed(name), Column::Fixed("(")] => is_name(name) && !is_allowed(name),
        _ => false,
    });
    // A division by 0 traps.
    let divides = columns.iter().any(|column| matches!(column, Column::Fixed("/" | "%")));
    !calls && !divides
}

/// Whether the expression `columns` reads what vectors can be made of, and has no effect.
pub(super) fn reads_only(columns: &[Column]) -> bool {
    without_effects(columns) && addresses(columns) != Addresses::Different
}

/// Whether the statement `columns` sets a value or address for a write that comes later, and only
/// if another variable says so: then it may have any other value as well.
fn is_for_later(columns: &[Column]) -> bool {
    columns.iter().find_map(|column| match column {
        Column::Element { array, .. } => Some(effects::is_for_later(array)),
        _ => None,
    }) == Some(true)
}

/// Bytes of the variable or number that `column` is; 0 for other tokens.
fn bytes(column: &Column, names: &Names) -> usize {
    match *column {
        Column::Element { array, .. } => names.bytes(array),
        Column::Fixed("QData") | Column::Number { kind: "ULL", .. } | Column::Bit { kind: "ULL", .. } => 8,
        Column::Fixed(name) if is_name(name) => names.bytes(name),
        _ => 0,
    }
}

/// What the addresses in statements are: the brackets that are not those of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Addresses {
    Fixed,
    /// The same in all repetitions.
    Uniform,
    Different,
}

pub(super) fn addresses(columns: &[Column]) -> Addresses {
    let mut found = Addresses::Fixed;
    let mut depth = 0;
    let mut at = 0;
    while at < columns.len() {
        match columns[at] {
            Column::Fixed("[") if word(columns, at).is_some() => at += 2,
            Column::Fixed("[") => {
                depth += 1;
                found = Addresses::Uniform;
            }
            Column::Fixed("]") | Column::Lane { .. } => depth -= 1,
            column if depth > 0 && !column.is_uniform() => return Addresses::Different,
            _ => {}
        }
        at += 1;
    }
    found
}

/// The index of a word, if that is all there is in the brackets at `at`.
fn word(columns: &[Column], at: usize) -> Option<(u64, i64)> {
    match columns[at..] {
        [Column::Fixed("["), Column::Number { first, step, .. }, Column::Fixed("]"), ..] => {
            Some((first, step))
        }
        _ => None,
    }
}

/// The access whose name is at `at`, if there is one.
fn access<'a>(columns: &[Column<'a>], at: usize) -> Option<Access<'a>> {
    match columns[at] {
        Column::Element { array, first, step } => Some(Access { name: array, index: Some((first, step)) }),
        Column::Fixed(name) if is_name(name) => {
            let lane = || {
                let mut depth = 0;
                columns[at + 1..].iter().find_map(|column| {
                    match column {
                        Column::Fixed("[") => depth += 1,
                        Column::Fixed("]") => depth -= 1,
                        Column::Lane { first, step } if depth == 1 => return Some(Some((*first, *step))),
                        Column::Lane { .. } => depth -= 1,
                        _ => {}
                    }
                    (depth == 0).then_some(None)
                })?
            };
            let bracket = columns.get(at + 1) == Some(&Column::Fixed("["));
            let index = if bracket { word(columns, at + 1).or_else(lane) } else { None };
            Some(Access { name, index })
        }
        _ => None,
    }
}

/// The place of `=` in an assignment.
pub(super) fn assignment(columns: &[Column]) -> Option<usize> {
    let at = columns.iter().position(|column| *column == Column::Fixed("="))?;
    (columns.last() == Some(&Column::Fixed(";")) && !columns[..at].contains(&Column::Fixed("(")))
        .then_some(at)
}

/// Whether `name` before a parenthesis does not call anything with an effect, or that must not be
/// called without its condition.
pub(super) fn is_allowed(name: &str) -> bool {
    name == "if"
        || ["VL_EXTENDS_", "VL_LTS_", "VL_GTS_", "VL_LTES_", "VL_GTES_", "VL_MULS_", "VL_SHIFTRS_"]
            .iter()
            .any(|known| {
                name.strip_prefix(known)
                    .is_some_and(|sizes| sizes.bytes().all(|size| matches!(size, b'I' | b'Q')))
            })
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::arrays::Arrays;
    use super::super::columns::Names;
    use super::super::repeats;
    use super::super::tokens::{statements, tokens};

    /// Eight statements like `one`, with the numbers 0 to 7 in the place of `#`, as they are
    /// written.
    pub fn written(one: &str) -> String {
        let names: Vec<(&str, String)> = (0..8)
            .flat_map(|i| {
                [
                    ("IData", format!("a_{i}")),
                    ("CData", format!("b_{i}")),
                    ("VlUnpacked < IData , 4 >", format!("m_{i}")),
                ]
            })
            .collect();
        let mut members = Arrays::of(names.iter().map(|(kind, name)| (*kind, name.as_str())));
        members.order_by_address(|_| false);
        let later: Vec<String> =
            (0..8).flat_map(|i| ["val", "set"].map(|kind| format!("__Vdlyv{kind}__x_{i}"))).collect();
        let locals = Arrays::of(later.iter().map(|name| ("CData", name.as_str())));
        let text: String =
            (0..8).map(|i| one.replace('#', &i.to_string()).replace('@', &(i + 1).to_string())).collect();
        let tokens = tokens(&text);
        let names = Names { members: &members, locals: &locals };
        let output = repeats::texts(&tokens, &statements(&tokens).unwrap(), &names)
            .concat()
            .replace("0 + 1 * repetition", "i")
            .replace("unsigned repetition = 0; repetition < 8; ++repetition", "i");
        output.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn conditions_of_each_become_selections() {
        let text = written("if ((s->b_# & x)) { s->a_# = (s->a_# + 1U); } else if (y) { s->a_# = 0U; }");
        let select = |met: &str, value: &str| {
            format!("{{ const auto before = s -> a_N[i] ; const auto value = {value} ; s -> a_N[i] = {met} ? value : before; }}")
        };
        let expected = [
            "HERMES_INDEPENDENT for (i) { const bool met_1 = (bool)( ( s -> b_N[i] & x ) ) ;",
            &select("met_1", "( s -> a_N[i] + 1U )"),
            "const bool not_met_1 = !met_1;",
            "const bool own_met_2 = (bool)( y ) ; const bool met_2 = not_met_1 ? own_met_2 : false;",
            &select("met_2", "0U"),
            "}",
        ];
        assert_eq!(text, expected.join(" "));
    }

    /// The part of a condition that is the same in all repetitions is asked before the loop, if
    /// much depends on it.
    #[test]
    fn a_factor_of_all_is_left_outside() {
        let sum = vec!["s->b_#"; 20].join(" + ");
        let text = written(&format!("if ((((IData)(x)) & (s->b_#))) {{ s->a_# = ({sum}); }}"));
        assert!(
            text.starts_with("if ((( IData ) ( x ) )) { HERMES_INDEPENDENT for (i) { const bool met_1"),
            "{text}"
        );
        for other in ["|", "^", "=="] {
            let text = written(&format!("if ((((IData)(x)) {other} (s->b_#))) {{ s->a_# = ({sum}); }}"));
            assert!(text.starts_with("HERMES_INDEPENDENT for (i) {"), "{text}");
        }
    }

    /// Values for a write that comes later are set without a condition: only the condition of the
    /// write counts.
    #[test]
    fn values_for_later_have_no_condition() {
        let text = written("if ((s->b_#)) { __Vdlyvval__x_# = s->a_#; __Vdlyvset__x_# = 1U; }");
        assert!(
            text.contains(
                "{ const bool met_1 = (bool)( ( s -> b_N[i] ) ) ; __Vdlyvval__x_N[i] = s -> a_N[i] ;"
            ),
            "{text}"
        );
        assert!(text.contains("__Vdlyvset__x_N[i] = met_1 ? value : before;"), "{text}");
    }

    #[test]
    fn a_condition_of_all_is_left_outside_if_much_depends_on_it() {
        let sum = vec!["s->b_#"; 20].join(" + ");
        let text = written(&format!("if ((1U & x)) {{ s->a_# = ({sum}); }}"));
        assert!(
            text.starts_with(
                "if ( ( 1U & x ) ) { HERMES_INDEPENDENT for (i) { s -> a_N[i] = ( s -> b_N[i] +"
            ),
            "{text}"
        );
    }

    #[test]
    fn memories_keep_their_conditions() {
        let text = written(
            "s->a_# = s->m_#[x]; if (s->b_#) { s->m_#[x] = 0U; } if (y) { s->m_#[s->b_#] = s->a_#; }",
        );
        let expected = "HERMES_INDEPENDENT for (i) { { s -> a_N[i] = s -> m_N [ x ][i] ; } \
                        { if ( s -> b_N[i] ) { s -> m_N [ x ][i] = 0U ; } } } \
                        for (i) { if ( y ) { s -> m_N [ s -> b_N[i] ][i] = s -> a_N[i] ; } }";
        assert_eq!(text, expected);
    }

    /// Each of these loops runs one repetition after the other.
    #[test]
    fn what_depends_on_other_repetitions_stays() {
        for one in [
            "s->a_@ = s->a_#;",
            "x = (x | s->a_#);",
            "s->a_# = s->a_3;",
            "s->a_# = s->m_#[s->a_1];",
            "w[#U] = w[@U];",
            "rows[x][#U] = 0U;",
            "s->a_# = f(s->b_#);",
            "s->a_# = (y / s->b_#);",
            "VL_ASSIGN(s->a_#, 1U);",
            "if (s->b_#) { x = 1U; }",
        ] {
            let text = written(one);
            assert!(text.contains("for (") && !text.contains("HERMES_INDEPENDENT"), "{one}: {text}");
        }
        for one in ["w[#U] = (w[#U] + s->a_#);", "s->a_# = VL_EXTENDS_II(32, 8, s->b_#);"] {
            assert!(written(one).contains("HERMES_INDEPENDENT"), "{one}: {}", written(one));
        }
    }
}
