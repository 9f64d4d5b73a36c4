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
    Ok(quote! {
        impl #impl_generics block::Block for #name #ty_generics #where_clause {
            // Marks of rust-hdl's own checks, which nothing here reads.
            fn connect_all(&mut self) {}
            fn update_all(&mut self) {
                if unit_info::Unit::wakes(self) {
                    unit_info::Unit::act(self);
                } else {
                    #(unit_info::Activity::poll(&mut self.#idents);)*
                }
            }
            fn has_changed(&self) -> bool {
                false #(|| self.#idents.has_changed())*
            }
            fn accept(&self, name: &str, probe: &mut dyn probe::Probe) {
                probe.visit_start_scope(name, self);
                #(self.#idents.accept(#names, probe);)*
                probe.visit_end_scope(name, self);
            }
        }
        #description
        #stimulus
        #clocked
        #activity
        #constructor
    })
}
