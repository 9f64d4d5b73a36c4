//! `#[derive(LogicBlock)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, Result};

use crate::types::is_hardware;
use crate::{activity, clocked, constructor, describe, promises, stimulus};

/// The fields that are hardware, and the others: those whose name begins with an underscore.
fn fields(input: &DeriveInput) -> Result<(Vec<&Field>, Vec<&Field>)> {
    let error = || Error::new(input.span(), "LogicBlock can only be derived for structs with named fields");
    let Data::Struct(data) = &input.data else { return Err(error()) };
    let Fields::Named(named) = &data.fields else { return Err(error()) };
    Ok(named.named.iter().partition(|f| is_hardware(f)))
}

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let (hardware, other) = fields(input)?;
    let promises = promises::of_unit(input, &hardware)?;
    let description = describe::expand(input, &hardware, &other, &promises);
    let stimulus = stimulus::expand(input, &hardware);
    let constructor = constructor::expand(input)?;
    let clocked = clocked::expand(input, &hardware);
    let watch = promises::watch(input, &hardware)?;
    let activity = activity::expand(input, &hardware, &watch);
    let idents: Vec<_> = hardware.iter().filter_map(|f| f.ident.as_ref()).collect();
    let names: Vec<_> = idents.iter().map(ToString::to_string).collect();
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let shown = name.to_string();
    let names = names.join(" ");
    Ok(quote! {
        impl #impl_generics block::Block for #name #ty_generics #where_clause {
            // Marks of rust-hdl's own checks, which nothing here reads.
            fn connect_all(&mut self) {}
            fn update_all(&mut self) {
                unit_info::pass_unit::<Self, unit_info::Poll>(self);
            }
            fn has_changed(&self) -> bool {
                unit_info::Fields::any::<unit_info::AnyChange>(self)
            }
            fn accept(&self, name: &str, probe: &mut dyn probe::Probe) {
                probe.visit_start_scope(name, self);
                unit_info::accept(&[#(&self.#idents),*], #names, probe);
                probe.visit_end_scope(name, self);
            }
        }
        impl #impl_generics std::fmt::Debug for #name #ty_generics #where_clause {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                unit_info::show(#shown, self, f)
            }
        }
        #description
        #stimulus
        #clocked
        #activity
        #constructor
    })
}
