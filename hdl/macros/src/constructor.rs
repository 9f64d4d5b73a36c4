//! `#[new(..)]`, `#[init(..)]`, `#[count(..)]` and `#[there(..)]`: constructors that say only what
//! they decide.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Field, Meta, Result};

use crate::describe::is_integer;
use crate::types::{arguments, is_hardware};

/// The tokens in `#[name(..)]`, if there is one; none in `#[name]`.
fn attribute<'a>(attributes: &'a [Attribute], name: &str) -> Result<Option<(&'a Attribute, TokenStream)>> {
    let mut found = attributes.iter().filter(|a| a.path().is_ident(name));
    let Some(first) = found.next() else { return Ok(None) };
    if let Some(second) = found.next() {
        return Err(Error::new_spanned(second, format!("`#[{name}(..)]` stands here twice")));
    }
    match &first.meta {
        Meta::List(list) => Ok(Some((first, list.tokens.clone()))),
        Meta::Path(_) => Ok(Some((first, TokenStream::new()))),
        Meta::NameValue(_) => Err(Error::new_spanned(first, format!("write `#[{name}(..)]`"))),
    }
}

/// What the attributes of a field decide: its value, how many defaults its `Vec` has, or whether
/// its `Part` is there, with its default or with what `#[count(..)]` says.
pub fn decided(attributes: &[Attribute]) -> Result<Option<TokenStream>> {
    let [init, count, there] = ["init", "count", "there"].map(|name| attribute(attributes, name));
    let (init, count, there) = (init?, count?, there?);
    if let (Some((second, _)), true) = (&init, count.is_some() || there.is_some()) {
        let message = "a field has `#[init(..)]`, or `#[count(..)]` and `#[there(..)]`, not both";
        return Err(Error::new_spanned(second, message));
    }
    let empty = [&init, &count, &there].into_iter().flatten().find(|(_, value)| value.is_empty());
    if let Some((attribute, _)) = empty {
        return Err(Error::new_spanned(attribute, "a value stands in the brackets"));
    }
    let values = count.map(|(_, count)| quote!(unit_info::defaults(#count)));
    Ok(match (init, there) {
        (Some((_, value)), _) => Some(value),
        (None, Some((_, there))) => {
            let value = values.unwrap_or_else(|| quote!(Default::default()));
            Some(quote!(unit_info::Part::when(#there, || #value)))
        }
        (None, None) => values,
    })
}

/// Whether a default would be a silent mistake: no elements, no part, or the number 0.
fn needs_value(field: &Field) -> bool {
    let is_open = ["Vec", "Part"].iter().any(|name| arguments(&field.ty, name).is_some());
    is_open || (!is_hardware(field) && is_integer(&field.ty))
}

/// For a struct with `#[new(name: Type, ..)]`: `fn wired(name: Type, ..) -> Self`, in which a
/// field has what its attributes say, else its default. Without `#[new]`, a struct with such a
/// field gets `Default` in this way.
pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else { return Ok(TokenStream::new()) };
    let new = attribute(&input.attrs, "new")?;
    let mut any = false;
    let mut fields = Vec::new();
    for field in &data.fields {
        let (name, ty) = (&field.ident, &field.ty);
        let value = decided(&field.attrs)?;
        any |= value.is_some();
        if value.is_none() && new.is_some() && needs_value(field) {
            return Err(Error::new_spanned(
                field,
                "write `#[count(n)]`, `#[there(condition)]` or `#[init(value)]`: its default is nothing",
            ));
        }
        let value = value.unwrap_or_else(|| quote_spanned!(ty.span()=> <#ty as Default>::default()));
        fields.push(quote!(#name: #value));
    }
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    Ok(match new {
        Some((_, arguments)) => quote! {
            impl #impl_generics #name #ty_generics #where_clause {
                /// The unit with the values that stand at its fields.
                #[allow(clippy::too_many_arguments)]
                fn wired(#arguments) -> Self {
                    Self { #(#fields),* }
                }
            }
        },
        None if any => quote! {
            impl #impl_generics Default for #name #ty_generics #where_clause {
                fn default() -> Self {
                    Self { #(#fields),* }
                }
            }
        },
        None => TokenStream::new(),
    })
}
