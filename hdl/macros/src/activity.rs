//! Which units a pass of the native simulation has to look at.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Field, Generics, Ident};

use crate::clocked;
use crate::types::is_named;

/// Implements `unit_info::Fields` for a unit or a group: the one list of its fields by which every
/// pass goes: the compiler checks it once, and not a list for each kind of pass.
pub fn fields(name: &Ident, generics: &Generics, fields: &[&Ident]) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        impl #impl_generics unit_info::Fields for #name #ty_generics #where_clause {
            fn pass<P: unit_info::Pass>(&mut self) {
                #(P::over(&mut self.#fields);)*
            }
            fn any<Q: unit_info::Question>(&self) -> bool {
                false #(|| Q::of(&self.#fields))*
            }
        }
    }
}

/// Implements `unit_info::Unit` and `Activity` for a unit; `watch` looks at its ports in each pass.
pub fn expand(unit: &DeriveInput, hardware: &[&Field], watch: &TokenStream) -> TokenStream {
    let idents: Vec<_> = hardware.iter().filter_map(|f| f.ident.as_ref()).collect();
    let mark = hardware.iter().find(|f| is_named(&f.ty, "Signal")).and_then(|f| f.ident.as_ref());
    let first = mark.map_or(quote!(true), |mark| quote!(unit_info::is_first(&mut self.#mark)));
    let clocks = clocked::give(hardware);
    let name = &unit.ident;
    let fields = fields(name, &unit.generics, &idents);
    let (impl_generics, ty_generics, where_clause) = unit.generics.split_for_impl();
    quote! {
        #fields
        impl #impl_generics unit_info::Unit for #name #ty_generics #where_clause {
            fn is_first(&mut self) -> bool {
                #first
            }
            fn prepare(&mut self) {
                #watch
                #clocks
            }
        }
        impl #impl_generics unit_info::Activity for #name #ty_generics #where_clause {
            fn changed(&self) -> bool {
                unit_info::Fields::any::<unit_info::ChangedOutside>(self)
            }
            fn settle(&mut self) {
                unit_info::pass_unit::<Self, unit_info::Settle>(self);
            }
        }
    }
}
