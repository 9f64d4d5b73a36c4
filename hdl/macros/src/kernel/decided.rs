//! Conditions that are known when the design is emitted: of them one branch is translated.

use syn::{BinOp, Expr, ExprCall, ExprIf, Member, Stmt, UnOp};

/// Whether the condition asks for nothing but parts that are there and numbers of the
/// configuration: `self.part.is_there()`, `self._banks > 1`, and what `!`, `&&`, `||` and
/// comparisons make of them.
pub fn is_decided(condition: &Expr) -> bool {
    match condition {
        Expr::Paren(node) => is_decided(&node.expr),
        Expr::Group(node) => is_decided(&node.expr),
        Expr::MethodCall(node) => node.method == "is_there" && is_field(&node.receiver),
        Expr::Unary(node) => matches!(node.op, UnOp::Not(_)) && is_decided(&node.expr),
        Expr::Binary(node) => match node.op {
            BinOp::And(_) | BinOp::Or(_) => is_decided(&node.left) && is_decided(&node.right),
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                is_number(&node.left) && is_number(&node.right)
            }
            _ => false,
        },
        // A fault that a run of the tests can choose.
        Expr::Call(node) => is_mutant(node),
        field => is_parameter(field),
    }
}

/// Whether it is `unit_info::is_mutant(..)`.
fn is_mutant(node: &ExprCall) -> bool {
    let Expr::Path(function) = &*node.func else { return false };
    function.path.segments.last().is_some_and(|name| name.ident == "is_mutant")
}

/// The values of `if is_mutant(..) { fault } else { sound }`.
pub fn mutant(node: &ExprIf) -> Option<(&Expr, &Expr)> {
    let (Expr::Call(call), Some((_, otherwise))) = (&*node.cond, &node.else_branch) else { return None };
    let Expr::Block(otherwise) = &**otherwise else { return None };
    match (node.then_branch.stmts.as_slice(), otherwise.block.stmts.as_slice()) {
        ([Stmt::Expr(fault, None)], [Stmt::Expr(sound, None)]) if is_mutant(call) => Some((fault, sound)),
        _ => None,
    }
}

/// Whether it is a field of the unit, one of its fields, or an element of one with a literal
/// number.
fn is_field(expression: &Expr) -> bool {
    match expression {
        Expr::Field(node) => is_field(&node.base) || is_self(&node.base),
        Expr::Index(node) => matches!(*node.index, Expr::Lit(_)) && is_field(&node.expr),
        _ => false,
    }
}

fn is_self(expression: &Expr) -> bool {
    matches!(expression, Expr::Path(path) if path.path.is_ident("self"))
}

/// Whether it is `self._name`.
fn is_parameter(expression: &Expr) -> bool {
    let Expr::Field(node) = expression else { return false };
    let is_plain = matches!(&node.member, Member::Named(name) if name.to_string().starts_with('_'));
    is_plain && is_self(&node.base)
}

/// Whether it is made of literals, constants and parameters alone: a loop variable is none of them.
fn is_number(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(_) => true,
        Expr::Paren(node) => is_number(&node.expr),
        Expr::Group(node) => is_number(&node.expr),
        Expr::Path(path) => {
            let last = path.path.segments.last().map(|segment| segment.ident.to_string());
            last.is_some_and(|name| super::constants::is_constant_name(&name))
        }
        Expr::Binary(node) => is_number(&node.left) && is_number(&node.right),
        other => is_parameter(other),
    }
}
