//! `#[hdl_gen]`: from the `update` of a unit to its kernel in rust-hdl's syntax tree.
//!
//! | file | what it translates |
//! | --- | --- |
//! | `statement` | assignments, `let`, `if`, `match`, `for`, `connect!` |
//! | `always` | conditions that hold at each edge |
//! | `comments` | comments in front of statements |
//! | `expression` | operators, literals, casts, method calls |
//! | `name` | paths to signals, with `$` between their parts |
//! | `scope` | what a `let` or a loop variable is called, and which ones are refused |
//! | `locals` | the types of the `let`s, which the compiler finds |
//! | `constants` | constants that a kernel names |
//! | `decided` | conditions that are known when the design is emitted |
//! | `part` | functions into which a long kernel is divided |
//! | `compact` | many steps as one text |
//! | `mutants` | faults that a run of the tests can choose, with the feature `mutants` |

mod always;
mod comments;
mod compact;
mod constants;
mod decided;
mod expression;
mod locals;
#[cfg(feature = "mutants")]
mod mutants;
mod name;
mod part;
mod scope;
mod statement;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result};

/// The steps that make the tree of a function, with or without the types of its `let`s: closures
/// for types that nobody asks for would double the compiler's work.
fn steps(function: &ItemFn, parameters: &[part::Parameter]) -> Result<TokenStream> {
    let mut scope = scope::Scope::with(parameters);
    let steps = statement::block(&function.block, &mut scope)?;
    if !scope.needs_types.get() {
        return Ok(compact::compact(steps));
    }
    let mut typed = scope::Scope::with(parameters);
    typed.typed = true;
    let steps = compact::compact(statement::block(&function.block, &mut typed)?);
    let values = parameters.iter().map(
        |part::Parameter { name, ty }| quote!(let #name = <#ty as ::core::default::Default>::default();),
    );
    Ok(quote!(#(#values)* #steps))
}

pub fn expand(function: &ItemFn) -> Result<TokenStream> {
    #[cfg(feature = "mutants")]
    let function = &mutants::mark(function);
    if function.sig.ident != "update" {
        return part::expand(function);
    }
    let receiver = function.sig.receiver().filter(|_| function.sig.inputs.len() == 1);
    let Some(receiver) = receiver else {
        return Err(Error::new_spanned(&function.sig, "a kernel is `fn update(&mut self)`"));
    };
    // The kernel's own `self`: in a kernel that a macro writes, another one would not be the same.
    let this = receiver.self_token;
    let (names, paths) = constants::find(&function.block);
    let kernel = steps(function, &[])?;
    let locals = locals::declare(&function.block)?;
    let function = always::natively(function);
    Ok(quote! {
        #[allow(unreachable_patterns, unused_assignments, clippy::collapsible_if)]
        #function

        #[allow(unused_variables, unused_mut, clippy::all, clippy::pedantic, unused_parens)]
        fn hdl(&#this) -> ast::Verilog {
            unit_info::Tree::kernel(|__tree| { #kernel })
        }

        #[doc(hidden)]
        #[allow(unused_variables, unused_assignments, unused_mut, clippy::all, clippy::pedantic, unused_parens)]
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
