//! The form of statements and lines.

use super::node::{Ex, Node};
use super::unit::{Assign, Stmt};

/// Longest line before it is wrapped.
pub const LINE: usize = 110;

/// Breaks a line that is too long at spaces.
pub fn wrap(line: &str) -> String {
    if line.len() <= LINE {
        return line.to_string();
    }
    let indent = line.len() - line.trim_start().len();
    let mut out = String::new();
    let mut current = String::new();
    for word in line.trim_start().split(' ') {
        if !current.is_empty() && indent + current.len() + 1 + word.len() > LINE {
            if !out.is_empty() {
                out.push('\n');
            }
            let extra = if out.is_empty() { 0 } else { 4 };
            out.push_str(&" ".repeat(indent + extra));
            out.push_str(&current);
            current = word.to_string();
        } else {
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
    }
    let extra = if out.is_empty() { 0 } else { 4 };
    format!("{out}{}{}{current}", if out.is_empty() { "" } else { "\n" }, " ".repeat(indent + extra))
}

/// Where a value is assigned, and that value: if all bits but some that stand side by side keep
/// theirs, it is those.
pub fn changed(a: &Assign) -> (usize, &Node) {
    let whole = (a.lsb, &a.value);
    let Ex::Concat(parts) = &a.value.ex else { return whole };
    let (mut position, mut found) = (a.lsb + a.width, None);
    for part in parts {
        position -= part.width;
        if part.ex != Ex::Ref(a.var, position) && found.replace((position, part)).is_some() {
            return whole;
        }
    }
    found.unwrap_or(whole)
}

/// `head` and the only statement of its block, whose text is `lines`, if that is an assignment and
/// fits behind it: then the block needs no `begin`.
pub fn on_one_line(head: &str, block: &[Stmt], lines: &[String]) -> Option<String> {
    let ([Stmt::Assign(_)], [line]) = (block, lines) else { return None };
    // The assignment of a temporary may stand in front of it.
    let whole = format!("{head} {}", line.trim_start());
    (whole.len() <= LINE && line.matches(';').count() == 1).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::super::node::concat;
    use super::*;

    /// An assignment of a value of these parts, the first one on top, to bits of variable 0 from
    /// `lsb` on.
    fn assign(lsb: usize, parts: Vec<Node>) -> Assign {
        let value = concat(parts);
        Assign { position: 1, var: 0, lsb, width: value.width, value }
    }

    fn own(lsb: usize, width: usize) -> Node {
        Node::reference(0, lsb, width)
    }

    #[test]
    fn bits_that_keep_their_value_are_not_assigned() {
        let other = Node::reference(1, 3, 2);
        let expected = |lsb| (lsb, &other);
        assert_eq!(changed(&assign(0, vec![own(5, 3), other.clone(), own(0, 3)])), expected(3));
        assert_eq!(changed(&assign(0, vec![other.clone(), own(0, 6)])), expected(6));
        assert_eq!(changed(&assign(8, vec![own(10, 6), other.clone()])), expected(8));
    }

    #[test]
    fn bits_of_another_place_or_variable_are_assigned() {
        let other = Node::reference(1, 3, 2);
        for parts in [
            vec![own(4, 3), other.clone(), own(0, 3)],
            vec![Node::reference(2, 5, 3), other.clone(), own(0, 3)],
            vec![other.clone(), own(2, 4), other.clone()],
            vec![other.clone()],
        ] {
            let a = assign(0, parts);
            assert_eq!(changed(&a), (0, &a.value));
        }
    }

    #[test]
    fn one_assignment_is_on_the_line_of_its_condition_if_it_fits() {
        let block = [Stmt::Assign(assign(0, vec![own(0, 8)]))];
        let lines = |line: &str| vec![format!("        {line}")];
        let whole = on_one_line("    if (a)", &block, &lines("x = y;"));
        assert_eq!(whole.as_deref(), Some("    if (a) x = y;"));
        let long = format!("x = {};", "y".repeat(LINE));
        for text in [
            lines("of_x = a; x = y[of_x];"),
            lines(&long),
            vec![],
            [lines("// Why"), lines("x = y;")].concat(),
        ] {
            assert_eq!(on_one_line("    if (a)", &block, &text), None, "{text:?}");
        }
        assert_eq!(on_one_line("    if (a)", &[], &lines("x = y;")), None);
    }
}
