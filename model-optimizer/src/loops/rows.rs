//! Writes of lanes to memories, at the address that each has for itself.
//!
//! Compilers make no vectors of these: the addresses might differ. Mostly no lane writes, or all
//! have the same address: then their words are a row of a memory that is ordered by address.

use std::fmt::Write as _;

use super::columns::{text, Column};
use super::fuse;
use super::independent::{addresses, assignment, Addresses, Body};
use super::tokens::{is_name, Parts, Statement};

impl Body<'_, '_> {
    /// The statement `if (CONDITION) { MEMORY[ADDRESS] = VALUE; }` as a write to a row of the
    /// memory, if the address is the same in all repetitions when it is executed. None if it is not
    /// such a statement. The condition must be met in one repetition.
    pub fn write_of_row(&self, statement: &Statement) -> Option<String> {
        let Parts::If { condition_end, then, otherwise: None } = &statement.parts else { return None };
        let [Statement { begin, end, parts: Parts::Plain }] = then[..] else { return None };
        let condition = self.columns(statement.begin + 1..*condition_end);
        let columns = self.columns(begin..end);
        let equals = assignment(columns)?;
        let open = columns[..equals].iter().position(|column| *column == Column::Fixed("["))?;
        let (address, lane) = (&columns[open + 1..equals - 1], columns[equals - 1]);
        let value = &columns[equals + 1..columns.len() - 1];
        let fixed = [condition, value].iter().all(|columns| addresses(columns) == Addresses::Fixed);
        if !matches!(lane, Column::Lane { .. }) || !fixed {
            return None;
        }
        let [first, second] = elements(address)?;
        let [condition, memory, address, lane, value] =
            [condition, &columns[..open], address, &[lane], value].map(text);
        let head = fuse::head(self.repeats.count);
        let others = self.repeats.count - 1;
        let mut output = String::new();
        let _ = writeln!(output, "if (std::memcmp(&{first}, &{second}, {others} * sizeof({first}))) {{");
        let _ = writeln!(output, "{head}\nif {condition} {memory}[ {address}{lane} = {value};\n}}");
        let _ = writeln!(output, "}} else {{\nconst unsigned row = {first};\n{}\n{head}", fuse::INDEPENDENT);
        let _ = writeln!(output, "const auto before = {memory}[ row {lane}; const auto value = {value};");
        let _ = writeln!(output, "{memory}[ row {lane} = (bool){condition} ? value : before;\n}}\n}}");
        Some(output)
    }

    /// Whether any repetition meets the condition of `statement`, as an expression, if the
    /// condition is an element of an array.
    pub fn some(&self, statement: &Statement) -> Option<String> {
        let Parts::If { condition_end, .. } = statement.parts else { return None };
        let [Column::Fixed("("), condition @ .., Column::Fixed(")")] =
            self.columns(statement.begin + 1..condition_end)
        else {
            return None;
        };
        let [first, _] = elements(condition)?;
        Some(format!("hermes_any(&{first}, {})", self.repeats.count))
    }
}

/// The first two elements of the array of which `columns` is one after the other.
fn elements(columns: &[Column]) -> Option<[String; 2]> {
    let [path @ .., Column::Element { array, first: 0, step: 1 }] = columns else { return None };
    let plain = |column: &Column| matches!(column, Column::Fixed(name) if is_name(name) || *name == "->");
    let element = |first: u64| text(path) + &text(&[Column::Element { array, first, step: 0 }]);
    path.iter().all(plain).then(|| [0, 1].map(element))
}

#[cfg(test)]
mod tests {
    use super::super::independent::tests::written;

    /// Behind the question whether any lane writes, one loop for lanes whose addresses differ, and
    /// one for a row.
    #[test]
    fn lanes_with_the_same_address_write_a_row() {
        let text = written("if (s->b_#) { s->m_#[s->a_#] = (s->a_# + 1U); }");
        let expected = [
            "if (hermes_any(&s -> b_N[0] , 8)) {",
            "if (std::memcmp(&s -> a_N[0] , &s -> a_N[1] , 7 * sizeof(s -> a_N[0] ))) {",
            "for (i) { if ( s -> b_N[i] ) s -> m_N [ s -> a_N[i] ][i] = ( s -> a_N[i] + 1U ) ; }",
            "} else { const unsigned row = s -> a_N[0] ; HERMES_INDEPENDENT for (i) {",
            "const auto before = s -> m_N [ row ][i] ; const auto value = ( s -> a_N[i] + 1U ) ;",
            "s -> m_N [ row ][i] = (bool)( s -> b_N[i] ) ? value : before; } } }",
        ];
        assert_eq!(text, expected.join(" "));
    }

    /// Of a condition that is not an element, nothing is known before the loop.
    #[test]
    fn other_writes_are_one_after_the_other() {
        for one in [
            "if (s->b_# & x) { s->m_#[s->a_#] = 1U; }",
            "if (s->b_#) { s->m_#[s->m_#[s->a_#]] = 1U; }",
            "s->m_#[s->a_#] = 1U;",
        ] {
            let text = written(one);
            assert!(
                text.contains("for (i)") && !text.contains("row") && !text.contains("INDEPENDENT"),
                "{text}"
            );
        }
    }
}
