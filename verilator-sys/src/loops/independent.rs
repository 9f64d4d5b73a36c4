//! Loops whose repetitions do not depend on each other, in a form that the compiler makes vectors of.
//!
//! Compilers give up vectors for two reasons here: they cannot tell that an element which is written is not read by another repetition,
//! since elements of different sizes lie in one object; and a statement under a condition might not be allowed without it. Both are
//! known here. The loop says the first, and in the place of conditional statements it computes values and selects.

use std::fmt::Write as _;
use std::ops::Range;

use super::columns::{text, Column, COUNTER};
use super::repeats::Repeats;
use super::tokens::{is_name, Parts, Statement};

/// Fewer repetitions stay as they are.
const LEAST: usize = 8;
/// Statements under a condition that is the same in all repetitions are left out by a jump if they have more tokens.
const LONG: usize = 60;
/// The macro before a loop.
const INDEPENDENT: &str = "HERMES_INDEPENDENT";

/// What the files with the loops need.
pub(super) const DEFINITION: &str = "#ifndef HERMES_INDEPENDENT
#ifdef __clang__
#define HERMES_INDEPENDENT _Pragma(\"clang loop vectorize(assume_safety)\")
#else
#define HERMES_INDEPENDENT _Pragma(\"GCC ivdep\")
#endif
#endif
";

/// Writes `repeats` as loops.
pub(super) fn write(output: &mut String, repeats: &Repeats) {
    let body = Body { repeats };
    if is_independent(repeats) {
        let mut names = 0;
        body.block(output, repeats.statements, &mut names);
    } else {
        body.open(output, false);
        output.push_str(&text(&repeats.columns));
        output.push_str("\n}\n");
    }
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

/// An access to a variable: its name, and where the index of the repetition begins and goes on.
#[derive(Debug, PartialEq, Eq)]
struct Access<'a> {
    name: &'a str,
    /// Index in the first repetition, and step; none without an index.
    index: Option<(u64, i64)>,
}

struct Body<'a> {
    repeats: &'a Repeats<'a>,
}

impl<'a> Body<'a> {
    fn columns(&self, range: Range<usize>) -> &'a [Column<'a>] {
        &self.repeats.columns[range.start - self.repeats.begin..range.end - self.repeats.begin]
    }

    fn open(&self, output: &mut String, independent: bool) {
        if independent {
            let _ = writeln!(output, "{INDEPENDENT}");
        }
        let count = self.repeats.count;
        let _ = writeln!(output, "for (unsigned {COUNTER} = 0; {COUNTER} < {count}; ++{COUNTER}) {{");
    }

    /// Whether no repetition writes what another one reads or writes, and calls nothing.
    fn is_independent(&self) -> bool {
        let columns = &self.repeats.columns;
        let mut written = Vec::new();
        if !self.targets(self.repeats.statements, &mut written) {
            return false;
        }
        let calls = columns.windows(2).any(|pair| match pair {
            [Column::Fixed(name), Column::Fixed("(")] => is_name(name) && !is_allowed(name),
            _ => false,
        });
        // A division by 0 traps.
        let divides = columns.iter().any(|column| matches!(column, Column::Fixed("/" | "%")));
        !calls
            && !divides
            && (0..columns.len()).all(|at| {
                access(columns, at).is_none_or(|found| {
                    written.iter().all(|target: &Access| target.name != found.name || *target == found)
                })
            })
    }

    /// Adds what `statements` write to `written`; gives whether each repetition writes elements of its own.
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

    /// Writes `statements` as loops, each for statements of one form.
    fn block(&self, output: &mut String, statements: &[Statement], names: &mut usize) {
        let mut at = 0;
        while at < statements.len() {
            if let Some(condition) = self.jump(&statements[at]) {
                self.condition(output, &statements[at], condition, names);
                at += 1;
                continue;
            }
            let form = self.form(&statements[at]);
            let alike = |s: &&Statement| self.jump(s).is_none() && self.form(s) == form;
            let group = statements[at..].iter().take_while(alike);
            self.open(output, form != Form::Single);
            for statement in group {
                if form == Form::Selected {
                    self.selected(output, statement, None, names);
                } else {
                    let _ = writeln!(output, "{}", text(self.columns(statement.begin..statement.end)));
                }
                at += 1;
            }
            output.push_str("}\n");
        }
    }

    /// The condition of `statement`, if it is the same in all repetitions and a jump past the statement pays.
    fn jump(&self, statement: &Statement) -> Option<&'a [Column<'a>]> {
        let Parts::If { condition_end, .. } = &statement.parts else { return None };
        let condition = self.columns(statement.begin + 1..*condition_end);
        let long = statement.end - *condition_end > LONG;
        (long && condition.iter().all(Column::is_uniform)).then_some(condition)
    }

    /// Writes `statement` with its condition outside of the loops.
    fn condition(&self, output: &mut String, statement: &Statement, condition: &[Column], names: &mut usize) {
        let Parts::If { then, otherwise, .. } = &statement.parts else { return };
        let _ = writeln!(output, "if {} {{", text(condition));
        self.block(output, then, names);
        output.push_str("}\n");
        if let Some(otherwise) = otherwise {
            output.push_str("else {\n");
            self.block(output, otherwise, names);
            output.push_str("}\n");
        }
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
                    // Selected as well: what the inner condition is does not count then, not even where it is undefined.
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

/// What the addresses in statements are: the brackets that are not those of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Addresses {
    Fixed,
    /// The same in all repetitions.
    Uniform,
    Different,
}

fn addresses(columns: &[Column]) -> Addresses {
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
fn assignment(columns: &[Column]) -> Option<usize> {
    let at = columns.iter().position(|column| *column == Column::Fixed("="))?;
    (columns.last() == Some(&Column::Fixed(";")) && !columns[..at].contains(&Column::Fixed("(")))
        .then_some(at)
}

/// Whether `name` before a parenthesis does not call anything with an effect, or that must not be called without its condition.
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
mod tests {
    use super::super::arrays::Arrays;
    use super::super::columns::Names;
    use super::super::repeats;
    use super::super::tokens::{statements, tokens};

    /// Eight statements like `one`, with the numbers 0 to 7 in the place of `#`, as they are written.
    fn written(one: &str) -> String {
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
        let locals = Arrays::default();
        let text: String =
            (0..8).map(|i| one.replace('#', &i.to_string()).replace('@', &(i + 1).to_string())).collect();
        let tokens = tokens(&text);
        let mut output = String::new();
        repeats::write(
            &mut output,
            &tokens,
            &statements(&tokens).unwrap(),
            &Names { members: &members, locals: &locals },
        );
        let output = output
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
        let expected = "HERMES_INDEPENDENT for (i) { s -> a_N[i] = s -> m_N [ x ][i] ; } \
                        HERMES_INDEPENDENT for (i) { if ( s -> b_N[i] ) { s -> m_N [ x ][i] = 0U ; } } \
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
