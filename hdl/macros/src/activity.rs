//! Which units a pass of the native simulation has to look at.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Field};

use crate::clocked;
use crate::types::is_named;

/// Implements `unit_info::Unit` and `Activity` for a unit; `watch` looks at its ports in each pass.
pub fn expand(unit: &DeriveInput, hardware: &[&Field], watch: &TokenStream) -> TokenStream {
    let idents: Vec<_> = hardware.iter().filter_map(|f| f.ident.as_ref()).collect();
    let mark = hardware.iter().find(|f| is_named(&f.ty, "Signal")).and_then(|f| f.ident.as_ref());
    let first = mark.map_or(quote!(true), |mark| quote!(unit_info::is_first(&mut self.#mark)));
    let clocks = clocked::give(hardware);
    let name = &unit.ident;
    let (impl_generics, ty_generics, where_clause) = unit.generics.split_for_impl();
    quote! {
        impl #impl_generics unit_info::Unit for #name #ty_generics #where_clause {
            fn wakes(&mut self) -> bool {
                #first #(|| unit_info::Activity::changed(&self.#idents))*
            }
            fn act(&mut self) {
                #watch
                #clocks
                logic::Logic::update(self);
                #(block::Block::update_all(&mut self.#idents);)*
            }
        }
        impl #impl_generics unit_info::Activity for #name #ty_generics #where_clause {
            fn changed(&self) -> bool {
                false #(|| unit_info::Activity::changed_outside(&self.#idents))*
            }
            fn settle(&mut self) {
                if unit_info::Unit::wakes(self) {
                    unit_info::Unit::act(self);
                } else {
                    #(unit_info::Activity::settle(&mut self.#idents);)*
                }
            }
        }
    }
}
