//! Faults in kernels that a run of the tests can choose: mutation of the source.
//!
//! With the feature `mutants` every place of a kernel where a small fault can stand holds both,
//! what is written there and the fault: `if unit_info::is_mutant(NUMBER) { fault } else { sound }`.
//! All faults of a crate are compiled at once; the variable `HERMES_MUTANT` turns one of them on,
//! in the native simulation and in the Verilog alike. `scripts/mutation --source` drives it.

use std::io::Write as _;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    parse_quote, BinOp, Expr, ExprAssign, ExprBinary, ExprCast, ExprForLoop, ExprIf, ExprIndex, ExprMatch,
    ExprUnary, ItemFn, Local, Member, Pat, Stmt, UnOp,
};

use super::decided::is_decided;

/// The function with its faults; the list of them is appended to the file that the variable
/// `HERMES_MUTANT_LIST` names, a line each: number, place in the source, what the fault is.
pub fn mark(function: &ItemFn) -> ItemFn {
    let mut marked = function.clone();
    // What another macro wrote has no place of its own in the source.
    if function.block.brace_token.span.join().source_text().is_none() {
        return marked;
    }
    let mut marker = Marker { place, branches: 0, locals: Vec::new(), found: Vec::new() };
    marker.visit_block_mut(&mut marked.block);
    marked.attrs.push(parse_quote!(#[allow(unused_parens, unused_braces)]));
    if let Some(list) = std::env::var_os("HERMES_MUTANT_LIST") {
        let text: String = marker.found.iter().map(|line| format!("{line}\n")).collect();
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&list);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .unwrap_or_else(|error| panic!("HERMES_MUTANT_LIST, {}: {error}", list.display()));
    }
    marked
}

/// File, line and column.
fn place(span: Span) -> String {
    let start = span.unwrap().start();
    format!("{}:{}:{}", start.file(), start.line(), start.column())
}

/// FNV-1a: the number of a fault is the same as long as its text is.
fn number(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

struct Marker {
    place: fn(Span) -> String,
    /// Branches of the circuit around this place.
    branches: usize,
    /// Names of the `let`s so far.
    locals: Vec<String>,
    found: Vec<String>,
}

impl Marker {
    /// `sound`, or `fault` if it is turned on.
    fn choice(&mut self, at: Span, what: &str, fault: &Expr, sound: &Expr) -> Expr {
        let condition = self.condition(at, what);
        parse_quote!((if #condition { #fault } else { #sound }))
    }

    fn condition(&mut self, at: Span, what: &str) -> Expr {
        let text = format!("{} {what}", (self.place)(at));
        let number = number(&text);
        self.found.push(format!("{number:016x} {text}"));
        parse_quote!(unit_info::is_mutant(#number))
    }

    /// Whether the expression reads a signal or a `let`: it is a part of the circuit, and no number
    /// that is known when the design is emitted.
    fn is_hardware(&self, expression: &Expr) -> bool {
        let mut reads = Reads { locals: &self.locals, found: false };
        reads.visit_expr(expression);
        reads.found
    }

    /// The faults that can stand in place of an expression: the place of each, what it is, and its
    /// expression.
    fn faults(&self, expression: &Expr) -> Vec<(Span, &'static str, Expr)> {
        match expression {
            Expr::Binary(node) => self.faults_of_binary(node),
            Expr::Unary(ExprUnary { op: UnOp::Not(_), expr, .. }) if self.is_hardware(expr) => {
                vec![(expression.span(), "without its `!`", (**expr).clone())]
            }
            _ => Vec::new(),
        }
    }

    fn faults_of_binary(&self, node: &ExprBinary) -> Vec<(Span, &'static str, Expr)> {
        let [left, right] = [&node.left, &node.right].map(|side| self.is_hardware(side));
        let with =
            |what, op: BinOp| vec![(node.span(), what, Expr::Binary(ExprBinary { op, ..node.clone() }))];
        let (is_chain, span) =
            (matches!(&*node.left, Expr::Binary(inner) if same(&inner.op, &node.op)), node.op.span());
        // A chain begins where its first term does: each other term has the place of its own.
        let without_right = |what| (node.right.span(), what, (*node.left).clone());
        match &node.op {
            BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::And(_) | BinOp::Or(_) if left && right => {
                let mut faults = vec![without_right("without the term on the right")];
                // In a chain each term is left out once.
                if !is_chain {
                    faults.push((node.span(), "without the term on the left", (*node.right).clone()));
                }
                faults
            }
            BinOp::Add(_) | BinOp::Sub(_) if left => vec![without_right("without what is added")],
            BinOp::Gt(_) if left => with("`>=` for `>`", BinOp::Ge(syn::token::Ge { spans: [span; 2] })),
            BinOp::Ge(_) if left => with("`>` for `>=`", BinOp::Gt(syn::token::Gt { spans: [span] })),
            BinOp::Lt(_) if left => with("`<=` for `<`", BinOp::Le(syn::token::Le { spans: [span; 2] })),
            BinOp::Le(_) if left => with("`<` for `<=`", BinOp::Lt(syn::token::Lt { spans: [span] })),
            _ => Vec::new(),
        }
    }

    fn inside_branch(&mut self, is_branch: bool, inside: impl FnOnce(&mut Self)) {
        self.branches += usize::from(is_branch);
        inside(self);
        self.branches -= usize::from(is_branch);
    }
}

fn same(one: &BinOp, other: &BinOp) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

impl VisitMut for Marker {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        let faults = self.faults(expression);
        visit_mut::visit_expr_mut(self, expression);
        for (at, what, fault) in faults {
            *expression = self.choice(at, what, &fault, expression);
        }
    }

    fn visit_expr_assign_mut(&mut self, node: &mut ExprAssign) {
        self.visit_expr_mut(&mut node.right);
    }

    // Numbers that are known when the design is emitted.
    fn visit_expr_index_mut(&mut self, _node: &mut ExprIndex) {}
    fn visit_expr_cast_mut(&mut self, _node: &mut ExprCast) {}

    fn visit_expr_for_loop_mut(&mut self, node: &mut ExprForLoop) {
        self.visit_block_mut(&mut node.body);
    }

    fn visit_expr_if_mut(&mut self, node: &mut ExprIf) {
        let is_branch = !is_decided(&node.cond);
        if is_branch {
            let (at, sound) = (node.cond.span(), (*node.cond).clone());
            self.visit_expr_mut(&mut node.cond);
            *node.cond = self.choice(at, "always taken", &parse_quote!(true), &node.cond);
            if let Some((_, Expr::If(inner))) = node.else_branch.as_ref().map(|(e, b)| (e, &**b)) {
                if !is_decided(&inner.cond) {
                    let later = &inner.cond;
                    let fault: Expr = parse_quote!((#sound) & !(#later));
                    *node.cond = self.choice(at, "after the next condition", &fault, &node.cond);
                }
            }
        }
        self.inside_branch(is_branch, |this| {
            this.visit_block_mut(&mut node.then_branch);
            if let Some((_, otherwise)) = &mut node.else_branch {
                this.visit_expr_mut(otherwise);
            }
        });
    }

    fn visit_expr_match_mut(&mut self, node: &mut ExprMatch) {
        self.visit_expr_mut(&mut node.expr);
        self.inside_branch(true, |this| {
            node.arms.iter_mut().for_each(|arm| this.visit_expr_mut(&mut arm.body))
        });
    }

    fn visit_local_mut(&mut self, node: &mut Local) {
        visit_mut::visit_local_mut(self, node);
        let pattern = match &node.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        if let Pat::Ident(name) = pattern {
            self.locals.push(name.ident.to_string());
        }
    }

    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        let write = match statement {
            Stmt::Expr(Expr::Assign(node), _) if self.branches > 0 && is_next_of_register(&node.left) => {
                Some(node.span())
            }
            _ => None,
        };
        visit_mut::visit_stmt_mut(self, statement);
        if let Some(at) = write {
            let condition = self.condition(at, "left out");
            *statement = parse_quote!(if #condition {} else { #statement });
        }
    }
}

/// Whether it is `.d.next`, the next value of a register.
fn is_next_of_register(expression: &Expr) -> bool {
    let field = |expression: &Expr, name: &str| match expression {
        Expr::Field(node) if matches!(&node.member, Member::Named(member) if member == name) => {
            Some((*node.base).clone())
        }
        _ => None,
    };
    field(expression, "next").and_then(|register| field(&register, "d")).is_some()
}

/// Looks for signals and `let`s.
struct Reads<'a> {
    locals: &'a [String],
    found: bool,
}

impl<'ast> Visit<'ast> for Reads<'_> {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        self.found |= match expression {
            Expr::MethodCall(node) => node.method == "val",
            Expr::Path(node) => {
                node.path.get_ident().is_some_and(|name| self.locals.iter().any(|l| name == l))
            }
            _ => false,
        };
        visit::visit_expr(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens as _;

    /// The function with its faults, and what they are.
    fn marked(function: &ItemFn) -> (String, Vec<String>) {
        let place = |_: Span| "f.rs:1:1".to_string();
        let mut marker = Marker { place, branches: 0, locals: Vec::new(), found: Vec::new() };
        let mut function = function.clone();
        marker.visit_block_mut(&mut function.block);
        let found = marker.found.iter().map(|line| line.splitn(3, ' ').nth(2).unwrap().to_string());
        (function.to_token_stream().to_string(), found.collect())
    }

    #[test]
    fn each_place_has_its_faults() {
        let (_, found) = marked(&parse_quote! {
            fn update(&mut self) {
                let a = self.x.val() & !self.y.val() & self.z.val();
                if a || self.y.val() {
                    self.count.d.next = self.count.q.val() + 1;
                } else if self.count.q.val() > 3 {
                    self.out.next = true;
                }
            }
        });
        assert_eq!(
            found,
            [
                "without its `!`",
                "without the term on the right",
                "without the term on the left",
                "without the term on the right",
                "without the term on the right",
                "without the term on the left",
                "always taken",
                "after the next condition",
                "without what is added",
                "left out",
                "`>=` for `>`",
                "always taken",
            ]
        );
    }

    #[test]
    fn numbers_that_are_known_have_none() {
        let function: ItemFn = parse_quote! {
            fn update(&mut self) {
                for i in 0..self._lanes + 1 {
                    self.y[i + 1].next = self.x[N & 3].val();
                }
                if self._banks > 1 {
                    self.z.next = bits::<4>((A | B) as u64);
                }
            }
        };
        let (text, found) = marked(&function);
        assert_eq!((text, found), (function.to_token_stream().to_string(), vec![]));
    }

    #[test]
    fn a_fault_stands_beside_what_is_sound() {
        let (text, _) = marked(&parse_quote! {
            fn update(&mut self) {
                self.y.next = !self.x.val();
            }
        });
        let number = number("f.rs:1:1 without its `!`");
        let expected: ItemFn = parse_quote! {
            fn update(&mut self) {
                self.y.next = (if unit_info::is_mutant(#number) { self.x.val() } else { !self.x.val() });
            }
        };
        assert_eq!(text, expected.to_token_stream().to_string());
    }

    #[test]
    fn numbers_follow_from_the_text_alone() {
        assert_eq!(number(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(number("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
