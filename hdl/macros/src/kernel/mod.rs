//! `#[hdl_gen]`: from the `update` of a unit to its kernel in rust-hdl's syntax tree.
//!
//! | file | what it translates |
//! | --- | --- |
//! | `statement` | assignments, `let`, `if`, `match`, `for`, `connect!` |
//! | `comments` | comments in front of statements |
//! | `expression` | operators, literals, casts, method calls |
//! | `name` | paths to signals, with `$` between their parts |
//! | `scope` | what a `let` or a loop variable is called, and which ones are refused |
//! | `locals` | the types of the `let`s, which the compiler finds |
//! | `constants` | constants that a kernel names |
//! | `decided` | conditions that are known when the design is emitted |

mod comments;
mod constants;
mod decided;
mod expression;
mod locals;
mod name;
mod scope;
mod statement;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result};

pub fn expand(function: &ItemFn) -> Result<TokenStream> {
    let receiver = function.sig.receiver().filter(|_| function.sig.inputs.len() == 1);
    let Some(receiver) = receiver else {
        return Err(Error::new_spanned(&function.sig, "a kernel is `fn update(&mut self)`"));
    };
    // The kernel's own `self`: in a kernel that a macro writes, another one would not be the same.
    let this = receiver.self_token;
    let (names, paths) = constants::find(&function.block);
    // Closures for types that nobody asks for would double the compiler's work.
    let mut scope = scope::Scope::default();
    let mut kernel = statement::block(&function.block, &mut scope)?;
    if scope.needs_types.get() {
        let mut typed = scope::Scope::default();
        typed.typed = true;
        kernel = statement::block(&function.block, &mut typed)?;
    }
    let locals = locals::declare(&function.block)?;
    Ok(quote! {
        #[allow(unreachable_patterns, unused_assignments, clippy::collapsible_if)]
        #function

        #[allow(unused_variables, unused_mut, clippy::all, clippy::pedantic)]
        fn hdl(&#this) -> ast::Verilog {
            unit_info::Tree::kernel(|__tree| { #kernel })
        }

        #[doc(hidden)]
        #[allow(unused_variables, unused_assignments, unused_mut, clippy::all, clippy::pedantic)]
        fn timing(&#this) -> Vec<TimingInfo> {
            unit_info::Description::timing(|__unit| {
                #this.unit_description(__unit);
                #(__unit.constant(#names, #paths);)*
                #locals
            })
        }
    })
}

#[cfg(test)]
mod tests;
