//! A long kernel in several functions: `update` calls them as `self.name(value, ..);`.
//!
//! A part is a function `fn name(&mut self, value: Type, ..)` with `#[hdl_gen]`, in an `impl` of
//! the unit. It stands in the circuit where it is called, once. The values that it is given are
//! `let`s of the caller, by the names that they have there; what it finds out for others goes
//! through signals of the unit, such as a `Signal<Local, T>`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Error, Expr, ExprMethodCall, FnArg, Ident, ItemFn, Pat, Receiver, ReceiverKind, Result, ReturnType, Type,
};

use super::scope::Scope;
use super::{always, constants, locals, steps};

/// A value that a part is given.
pub struct Parameter<'a> {
    pub name: &'a Ident,
    pub ty: &'a Type,
}

fn tree_of(name: &Ident) -> Ident {
    format_ident!("{name}_hdl")
}

fn locals_of(name: &Ident) -> Ident {
    format_ident!("{name}_locals")
}

fn parameters(function: &ItemFn) -> Result<Vec<Parameter<'_>>> {
    let typed = function.sig.inputs.iter().filter_map(|argument| match argument {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    let parameter = |typed: &'_ syn::PatType| match typed.pat.as_ref() {
        Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() => Ok(()),
        other => Err(Error::new_spanned(other, "a value that a part is given is `name: Type`")),
    };
    let mut list = Vec::new();
    for typed in typed {
        parameter(typed)?;
        if let Pat::Ident(name) = typed.pat.as_ref() {
            list.push(Parameter { name: &name.ident, ty: &typed.ty });
        }
    }
    Ok(list)
}

fn is_mutable(receiver: &Receiver) -> bool {
    matches!(receiver.kind, ReceiverKind::Reference(_, _, Some(_)))
}

/// The function, and what makes its tree and its `let`s.
pub fn expand(function: &ItemFn) -> Result<TokenStream> {
    let signature = &function.sig;
    let Some(receiver) = signature.receiver().filter(|receiver| is_mutable(receiver)) else {
        return Err(Error::new_spanned(
            signature,
            "a part of a kernel is `fn name(&mut self, value: Type, ..)`",
        ));
    };
    if let ReturnType::Type(_, ty) = &signature.output {
        let message =
            "a part of a kernel gives back nothing: what others want to know is a `Signal<Local, T>`";
        return Err(Error::new_spanned(ty, message));
    }
    let this = receiver.self_token;
    let parameters = parameters(function)?;
    let (names, paths) = constants::find(&function.block);
    let tree = steps(function, &parameters)?;
    let lets = locals::declare(&function.block)?;
    let function = &always::natively(function);
    let vis = &function.vis;
    let (tree_of, locals_of) = (tree_of(&signature.ident), locals_of(&signature.ident));
    let values = parameters.iter().map(|Parameter { name, ty }| quote!(#name: #ty));
    let (name, known) = (signature.ident.to_string(), parameters.iter().map(|value| value.name.to_string()));
    Ok(quote! {
        #[allow(unreachable_patterns, unused_assignments, clippy::collapsible_if, clippy::too_many_arguments)]
        #function

        #[doc(hidden)]
        #[allow(unused_variables, unused_mut, clippy::all, clippy::pedantic, unused_parens)]
        #vis fn #tree_of(&#this, __tree: &mut unit_info::Tree, __given: &[&str]) {
            unit_info::Tree::same_names(#name, __given, &[#(#known),*]);
            #tree
        }

        #[doc(hidden)]
        #[allow(unused_variables, unused_assignments, unused_mut, clippy::all, clippy::pedantic, unused_parens)]
        #vis fn #locals_of(&#this, __unit: &mut unit_info::Description, #(#values),*) {
            #(__unit.constant(#names, #paths);)*
            #lets
        }
    })
}

/// Whether it is `self.name(..)`.
pub fn is_call(node: &ExprMethodCall) -> bool {
    matches!(node.receiver.as_ref(), Expr::Path(path) if path.path.is_ident("self"))
}

/// The steps of the part that is called here.
pub fn steps_of_call(node: &ExprMethodCall, scope: &Scope) -> Result<TokenStream> {
    if scope.in_branch() || scope.in_loop() {
        let message = "a part of a kernel stands in the circuit once: outside of loops, and of branches that are not decided";
        return Err(Error::new_spanned(node, message));
    }
    for argument in &node.args {
        let is_let = matches!(argument, Expr::Path(path)
            if path.path.get_ident().is_some_and(|name| scope.find(&name.to_string()).is_some()));
        if !is_let {
            let message = "a part of a kernel is given `let`s, by the names of its parameters";
            return Err(Error::new_spanned(argument, message));
        }
    }
    let (this, tree_of) = (&node.receiver, tree_of(&node.method));
    let names = node.args.iter().map(|argument| quote!(#argument).to_string());
    Ok(quote!(#this.#tree_of(__tree, &[#(#names),*]);))
}

/// Declarations of the `let`s of the part that is called here.
pub fn locals_of_call(node: &ExprMethodCall) -> TokenStream {
    let (this, locals_of, values) = (&node.receiver, locals_of(&node.method), &node.args);
    quote!(#this.#locals_of(__unit, #values);)
}
