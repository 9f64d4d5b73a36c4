//! The `let`s of a kernel with the types that the compiler finds for them.
//!
//! Nothing of the kernel is run: a `let` takes a default value of the type of its expression, which
//! stands in a branch that is never taken. The compiler drops such a branch early; a closure it
//! would compile for every `let`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Error, Expr, ExprForLoop, ExprIf, Ident, Lit, Local, Pat, Result, Stmt};

use super::decided::is_decided;
use super::part;

/// The parts of `let name: type = value`.
pub struct Let<'a> {
    pub name: &'a Ident,
    pub ty: TokenStream,
    pub value: &'a Expr,
}

/// Takes a `let` apart.
pub fn parts(local: &Local) -> Result<Let<'_>> {
    let (pattern, ty) = match &local.pat {
        Pat::Type(typed) => {
            let ty = &typed.ty;
            (typed.pat.as_ref(), quote!(: #ty))
        }
        pattern => (pattern, TokenStream::new()),
    };
    match (pattern, &local.init) {
        (Pat::Ident(name), Some(init)) if init.diverge.is_none() => {
            Ok(Let { name: &name.ident, ty, value: &init.expr })
        }
        _ => Err(Error::new_spanned(local, "a kernel knows `let name = value`, one name and its value")),
    }
}

/// The parts of `for index in from..to`.
pub struct Range<'a> {
    pub index: &'a Ident,
    pub from: &'a Expr,
    pub to: &'a Expr,
}

/// Takes the head of a loop apart.
pub fn range(node: &ExprForLoop) -> Result<Range<'_>> {
    let (Pat::Ident(index), Expr::Range(range)) = (node.pat.as_ref(), node.expr.as_ref()) else {
        return Err(Error::new_spanned(&node.expr, "a loop of a kernel is `for index in from..to`"));
    };
    if matches!(range.limits, syn::RangeLimits::Closed(_)) {
        let message = "`..=` does not translate to Verilog: write an exclusive range";
        return Err(Error::new_spanned(range, message));
    }
    match (&range.start, &range.end) {
        (Some(from), Some(to)) => Ok(Range { index: &index.ident, from, to }),
        _ => Err(Error::new_spanned(range, "a loop of a kernel needs both ends: `for index in from..to`")),
    }
}

fn is_zero(expression: &Expr) -> bool {
    matches!(expression, Expr::Lit(literal) if matches!(&literal.lit, Lit::Int(value) if value.base10_digits() == "0"))
}

/// Declarations of all `let`s in `block`, for code that has the description `__unit`.
pub fn declare(block: &Block) -> Result<TokenStream> {
    inside(block, &mut Vec::new())
}

/// As [`declare`]; `counts` are the ends of the loops around the block.
fn inside(block: &Block, counts: &mut Vec<TokenStream>) -> Result<TokenStream> {
    let mut out = TokenStream::new();
    for statement in &block.stmts {
        match statement {
            Stmt::Local(local) => {
                let Let { name, ty, value } = parts(local)?;
                let text = name.to_string();
                // What is wrong with the type is wrong with the value.
                let span = value.span().resolved_at(Span::call_site());
                let declared = quote_spanned!(span=> __unit.locals.declare(#text, &[#(#counts),*]));
                out.extend(quote!(let mut #name #ty = if false { #value } else { #declared };));
            }
            Stmt::Expr(Expr::ForLoop(node), _) => {
                let Range { index, from, to } = range(node)?;
                counts.push(quote!(unit_info::count(#to)));
                let body = inside(&node.body, counts)?;
                counts.pop();
                if body.is_empty() {
                    continue;
                }
                if !is_zero(from) {
                    let message = "a loop with a `let` begins at 0: the `let` is an element of a vector";
                    return Err(Error::new_spanned(from, message));
                }
                out.extend(quote!({
                    let #index = unit_info::first(#from..#to);
                    #body
                }));
            }
            Stmt::Expr(Expr::If(node), _) => out.extend(decided(node, counts)?),
            Stmt::Expr(Expr::MethodCall(node), _) if part::is_call(node) => {
                out.extend(part::locals_of_call(node));
            }
            // Branches have no `let`: the kernel's translation refuses them.
            _ => {}
        }
    }
    Ok(out)
}

/// Declarations of the `let`s in an `if` that is decided when the design is emitted.
fn decided(node: &ExprIf, counts: &mut Vec<TokenStream>) -> Result<TokenStream> {
    if !is_decided(&node.cond) {
        return Ok(TokenStream::new());
    }
    let condition = &node.cond;
    let then = inside(&node.then_branch, counts)?;
    let otherwise = match node.else_branch.as_ref().map(|(_, otherwise)| otherwise.as_ref()) {
        Some(Expr::If(inner)) => decided(inner, counts)?,
        Some(Expr::Block(inner)) => inside(&inner.block, counts)?,
        _ => TokenStream::new(),
    };
    Ok(quote!(if #condition { #then } else { #otherwise }))
}
