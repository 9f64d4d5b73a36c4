//! `#[registers(Name)]` at a group of ports: registers for all of it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Error, Ident, Result};

use crate::ports::{Port, Way};
use crate::types::{arguments, element};

/// The unit that `#[registers(Name)]` names, if there is the attribute.
pub fn expand(input: &DeriveInput, ports: &[Port]) -> Result<TokenStream> {
    let Some(attribute) = input.attrs.iter().find(|a| a.path().is_ident("registers")) else {
        return Ok(TokenStream::new());
    };
    let unit: Ident = attribute.parse_args()?;
    let way = ports.first().map(|port| port.way);
    if let Some(port) = ports.iter().find(|p| p.way == Way::Both || Some(p.way) != way || is_vector(p)) {
        return Err(Error::new_spanned(
            port.field,
            "a group with `#[registers(Name)]` has single signals of one direction",
        ));
    }
    let group = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let generics = &input.generics;
    let visibility = &input.vis;
    let (here, there) = (quote!(#group #ty_generics), quote!(unit_info::Flipped<#group #ty_generics>));
    let (d, q) = if way == Some(Way::Out) { (there, here) } else { (here, there) };
    let fields: Vec<_> = ports.iter().map(|p| p.ident).collect();
    let values = ports.iter().map(|p| match arguments(p.ty, "Signal").as_deref() {
        Some([_, value]) => quote!(#value),
        _ => quote!(()),
    });
    let registers: Vec<_> = fields.iter().map(|field| format_ident!("{field}_q")).collect();
    let text = format!(
        "Registers of a group of ports, {group}: q is what d was at the last edge with enable. Reset \
         gives each of them its default."
    );
    Ok(quote! {
        #[doc = #text]
        #[derive(Clone, Default, LogicBlock)]
        #visibility struct #unit #generics #where_clause {
            /// Rising-edge clock.
            pub clock: Signal<In, Clock>,
            /// Synchronous reset, active high.
            pub reset: Signal<In, Bit>,
            /// `d` is taken at this edge.
            pub enable: Signal<In, Bit>,
            /// Next values.
            pub d: #d,
            /// Present values.
            pub q: #q,
            #(#registers: Register<#values>,)*
        }
        impl #impl_generics Logic for #unit #ty_generics #where_clause {
            #[hdl_gen]
            fn update(&mut self) {
                #(self.q.#fields.next = self.#registers.q.val();)*
                if self.enable.val() {
                    #(self.#registers.d.next = self.d.#fields.val();)*
                }
            }
        }
    })
}

/// Whether the port is a `Vec`.
fn is_vector(port: &Port) -> bool {
    !std::ptr::eq(element(port.ty), port.ty)
}
