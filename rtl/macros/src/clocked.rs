//! Clock and reset, which reach every child of a unit by themselves.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Field};

use crate::types::{arguments, element, is_named};

/// Whether a field has a clock to be given: it is neither a signal nor a constant.
fn is_child(field: &Field) -> bool {
    let ty = element(&field.ty);
    !is_named(ty, "Signal") && !is_named(ty, "Constant")
}

/// Whether the struct has the input `name`.
fn has_input(hardware: &[&Field], name: &str) -> bool {
    hardware.iter().any(|f| {
        f.ident.as_ref().is_some_and(|i| i == name)
            && matches!(arguments(&f.ty, "Signal").as_deref(), Some([direction, _]) if is_named(direction, "In"))
    })
}

/// What `update_all` does before `update`: the children get the unit's own clock and reset.
pub fn give(hardware: &[&Field]) -> TokenStream {
    if !has_input(hardware, "clock") {
        return TokenStream::new();
    }
    let children = hardware.iter().filter(|f| is_child(f)).map(|f| &f.ident);
    let reset = if has_input(hardware, "reset") { quote!(Some(self.reset.val())) } else { quote!(None) };
    quote! {
        let (clock, reset): (Clock, Option<bool>) = (self.clock.val(), #reset);
        #(unit_info::Clocked::take_clock(&mut self.#children, clock, reset);)*
    }
}

/// The trait by which a unit takes clock and reset from its owner.
pub fn expand(input: &DeriveInput, hardware: &[&Field]) -> TokenStream {
    let take = |name: &str, value: TokenStream| {
        let ident = format_ident!("{name}");
        has_input(hardware, name).then(|| quote!(self.#ident.next = #value;))
    };
    let clock = take("clock", quote!(clock));
    let reset = take("reset", quote!(reset)).map(|set| quote!(if let Some(reset) = reset { #set }));
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        impl #impl_generics unit_info::Clocked for #name #ty_generics #where_clause {
            #[allow(unused_variables)]
            fn take_clock(&mut self, clock: Clock, reset: Option<bool>) {
                #clock
                #reset
            }
        }
    }
}
