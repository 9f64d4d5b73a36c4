//! What a struct says about itself.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, DeriveInput, Expr, ExprLit, Field, GenericParam, Lit, Meta, Type};

use crate::types::is_named;

/// The doc comment of an item: its lines without the leading space.
pub fn doc(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(pair) = &attribute.meta {
            if pair.path.is_ident("doc") {
                if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value {
                    let text = text.value();
                    lines.push(text.strip_prefix(' ').unwrap_or(&text).to_string());
                }
            }
        }
    }
    lines.join("\n")
}

/// Whether a type is one of Rust's integers.
pub fn is_integer(ty: &Type) -> bool {
    const INTEGERS: [&str; 11] =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i32", "i64", "bool", "LiteralType", "isize"];
    matches!(ty, Type::Path(p) if p.path.get_ident().is_some_and(|i| INTEGERS.iter().any(|n| i == n)))
}

/// An inherent method `unit_description` for the struct with the given hardware and other fields.
pub fn expand(
    input: &DeriveInput,
    hardware: &[&Field],
    other: &[&Field],
    promises: &TokenStream,
) -> TokenStream {
    let text = doc(&input.attrs);
    let fields = hardware.iter().map(|f| {
        let (name, text) = (f.ident.as_ref().map(ToString::to_string), doc(&f.attrs));
        quote!((#name, #text))
    });
    let parameters = other.iter().filter(|f| is_integer(&f.ty)).map(|f| {
        let ident = &f.ident;
        let name = ident.as_ref().map(ToString::to_string);
        quote!(description.parameter(#name, self.#ident);)
    });
    let parts = hardware.iter().filter(|f| is_named(&f.ty, "Part")).map(|f| {
        let ident = &f.ident;
        let name = ident.as_ref().map(ToString::to_string);
        quote!(description.part(#name, self.#ident.is_there());)
    });
    let generics = input.generics.params.iter().filter_map(|p| match p {
        GenericParam::Const(c) if is_integer(&c.ty) => {
            let (ident, name) = (&c.ident, c.ident.to_string());
            Some(quote!(description.parameter(#name, #ident);))
        }
        _ => None,
    });
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        impl #impl_generics #name #ty_generics #where_clause {
            #[doc(hidden)]
            #[allow(dead_code)]
            fn unit_description(&self, description: &mut unit_info::Description) {
                description.unit(std::any::type_name::<Self>(), #text, file!(), &[#(#fields),*]);
                #(#parameters)*
                #(#parts)*
                #(#generics)*
                #promises
            }
        }
    }
}
