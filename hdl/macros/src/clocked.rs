//! Clock and reset, which reach every child of a unit by themselves.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Field};

use crate::types::{element, input, is_named};

/// Whether a field has a clock to be given: it is neither a signal nor a constant.
fn is_child(field: &Field) -> bool {
    let ty = element(&field.ty);
    !is_named(ty, "Signal") && !is_named(ty, "Constant")
}

/// What `update_all` does before `update`: the children get the unit's own clock and reset.
pub fn give(hardware: &[&Field]) -> TokenStream {
    if input(hardware, "clock").is_none() {
        return TokenStream::new();
    }
    let children = hardware.iter().filter(|f| is_child(f)).map(|f| &f.ident);
    let reset =
        if input(hardware, "reset").is_some() { quote!(Some(self.reset.val())) } else { quote!(None) };
    quote! {
        let (clock, reset): (Clock, Option<bool>) = (self.clock.val(), #reset);
        #(unit_info::Clocked::take_clock(&mut self.#children, clock, reset);)*
    }
}

/// The trait by which a unit takes clock and reset from its owner.
pub fn expand(unit: &DeriveInput, hardware: &[&Field]) -> TokenStream {
    let take = |name: &str, value: TokenStream| {
        let ident = format_ident!("{name}");
        input(hardware, name).map(|_| quote!(self.#ident.next = #value;))
    };
    let clock = take("clock", quote!(clock));
    let reset = take("reset", quote!(reset)).map(|set| quote!(if let Some(reset) = reset { #set }));
    let name = &unit.ident;
    let (impl_generics, ty_generics, where_clause) = unit.generics.split_for_impl();
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
