//! `always!(name, condition);`: what holds at each rising edge without reset.
//!
//! In the Verilog it is an assertion beside the module, under its name; the module has nothing of
//! it. Native tests of the unit's own crate panic where it does not hold.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{parse_quote, Block, Error, Expr, ItemFn, Macro, Result, Stmt, Token};

use super::expression::value;
use super::scope::Scope;
use super::statement::ends;

/// The name and the condition.
fn parts(node: &Macro) -> Result<(String, Expr)> {
    let error = || Error::new_spanned(node, "write `always!(name, condition);`");
    let [Expr::Path(name), condition] = <[Expr; 2]>::try_from(ends(node)?).map_err(|_| error())? else {
        return Err(error());
    };
    let name = name.path.get_ident().ok_or_else(error)?.to_string();
    Ok((name, condition))
}

/// The steps that note the condition.
pub fn steps(node: &Macro, scope: &Scope) -> Result<TokenStream> {
    let (name, condition) = parts(node)?;
    if scope.in_branch() {
        let message = "`always!` stands outside of branches: write the branch's condition into it";
        return Err(Error::new_spanned(node, message));
    }
    let condition = value(&condition, scope)?;
    Ok(quote!(#condition __tree.always(#name);))
}

/// What stands in the native function for `always!(name, condition)`.
fn look(node: &Macro, this: Token![self]) -> Option<Stmt> {
    let (name, condition) = parts(node).ok()?;
    let text = format!("{name} does not hold");
    Some(parse_quote! {
        #[cfg(test)]
        {
            let is_edge = #this.clock.pos_edge() && !#this.reset.val();
            assert!(!is_edge || (#condition), #text);
        }
    })
}

fn block(block: &mut Block, this: Token![self]) {
    for statement in &mut block.stmts {
        match statement {
            Stmt::Macro(node) if node.mac.path.is_ident("always") => {
                if let Some(native) = look(&node.mac, this) {
                    *statement = native;
                }
            }
            Stmt::Expr(expression, _) => inside(expression, this),
            _ => {}
        }
    }
}

/// The bodies of loops and branches.
fn inside(expression: &mut Expr, this: Token![self]) {
    match expression {
        Expr::ForLoop(node) => block(&mut node.body, this),
        Expr::Block(node) => block(&mut node.block, this),
        Expr::If(node) => {
            block(&mut node.then_branch, this);
            if let Some((_, otherwise)) = &mut node.else_branch {
                inside(otherwise, this);
            }
        }
        _ => {}
    }
}

/// The function as it runs: with a look at each condition in tests of its crate.
pub fn natively(function: &ItemFn) -> ItemFn {
    let mut native = function.clone();
    if let Some(receiver) = function.sig.receiver() {
        block(&mut native.block, receiver.self_token);
    }
    native
}
