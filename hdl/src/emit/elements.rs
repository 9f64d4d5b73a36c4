//! Makes each element of a vector a variable of its own.
//!
//! A simulator wakes an `always @*` block on any change of a vector that the block reads elements
//! of. Where that would wake a block by what it drives itself ([`super::wakes`]), or where several
//! blocks drive elements of the vector, the elements become variables, and the vector is their
//! concatenation.

use super::node::{concat, slice, Node, VarId};
use super::unit::{Assign, Role, Stmt, Unit, Var};

/// Replaces the elements of `var` by variables of their own in all statements of `unit`. The new
/// variables stand behind all others, so that the numbers of the others stay. `var` itself stays
/// where it is a port, an input of a child or a `Pack`: the elements are assigned to it, or it to
/// the elements.
pub fn split(unit: &mut Unit, var: VarId) {
    let first = unit.vars.len();
    let Var { path, role, count, width, fields } = unit.vars[var].clone();
    let own_role = match role {
        Role::Local | Role::Output => Role::Local,
        _ => Role::Element,
    };
    for i in 0..count {
        let path = format!("{path}[{i}]");
        unit.vars.push(Var { path, role: own_role, count: 1, width, fields: fields.clone() });
    }
    let elements = Elements { var, first, width };
    elements.rename(&mut unit.statements);
    for register in &mut unit.registers {
        for node in [&mut register.clock, &mut register.reset].into_iter().flatten() {
            *node = elements.read(node);
        }
    }
    let from_whole = matches!(role, Role::Input | Role::ChildOutput(_));
    let glue = (0..count).map(|i| {
        let (whole, element) = ((var, i * width), (first + i, 0));
        let ((var, lsb), (source, low)) = if from_whole { (element, whole) } else { (whole, element) };
        Stmt::Assign(Assign { position: 0, var, lsb, width, value: Node::reference(source, low, width) })
    });
    match role {
        Role::Local => {}
        _ if from_whole => drop(unit.statements.splice(0..0, glue)),
        _ => unit.statements.extend(glue),
    }
    number(&mut unit.statements, &mut 0);
}

/// Elements of `width` bits of the vector `var`, which are the variables from `first` on.
struct Elements {
    var: VarId,
    first: VarId,
    width: usize,
}

impl Elements {
    /// The elements that hold `width` bits of the vector from `lsb` on, lowest first: variable,
    /// lowest bit in it, bits.
    fn parts(&self, lsb: usize, width: usize) -> Vec<(VarId, usize, usize)> {
        let mut parts = Vec::new();
        let mut at = lsb;
        while at < lsb + width {
            let low = at % self.width;
            let bits = (self.width - low).min(lsb + width - at);
            parts.push((self.first + at / self.width, low, bits));
            at += bits;
        }
        parts
    }

    fn read(&self, node: &Node) -> Node {
        node.map_refs(&|var, lsb, width| {
            (var == self.var).then(|| {
                let parts = self.parts(lsb, width);
                concat(
                    parts.iter().rev().map(|&(var, lsb, width)| Node::reference(var, lsb, width)).collect(),
                )
            })
        })
    }

    fn rename(&self, statements: &mut Vec<Stmt>) {
        let mut renamed = Vec::new();
        for statement in statements.drain(..) {
            match statement {
                Stmt::Assign(mut a) => {
                    a.value = self.read(&a.value);
                    if a.var != self.var {
                        renamed.push(Stmt::Assign(a));
                        continue;
                    }
                    let (mut low, parts) = (0, self.parts(a.lsb, a.width));
                    let mut reads_itself = false;
                    a.value.for_each_ref(&mut |var, _, _| reads_itself |= var >= self.first);
                    assert!(parts.len() == 1 || !reads_itself, "kernels assign elements one at a time");
                    for (var, lsb, width) in parts {
                        let value = slice(&a.value, low, width);
                        renamed.push(Stmt::Assign(Assign { var, lsb, width, value, ..a }));
                        low += width;
                    }
                }
                Stmt::If { position, condition, mut then, mut otherwise } => {
                    self.rename(&mut then);
                    self.rename(&mut otherwise);
                    renamed.push(Stmt::If { position, condition: self.read(&condition), then, otherwise });
                }
                Stmt::Case { position, subject, mut arms, mut default } => {
                    arms.iter_mut().for_each(|(_, block)| self.rename(block));
                    self.rename(&mut default);
                    renamed.push(Stmt::Case { position, subject: self.read(&subject), arms, default });
                }
            }
        }
        *statements = renamed;
    }
}

/// Numbers the statements anew, in the order in which the kernel executes them.
fn number(statements: &mut [Stmt], next: &mut usize) {
    for statement in statements {
        *next += 1;
        match statement {
            Stmt::Assign(a) => a.position = *next,
            Stmt::If { position, then, otherwise, .. } => {
                *position = *next;
                number(then, next);
                number(otherwise, next);
            }
            Stmt::Case { position, arms, default, .. } => {
                *position = *next;
                arms.iter_mut().for_each(|(_, block)| number(block, next));
                number(default, next);
            }
        }
    }
}
