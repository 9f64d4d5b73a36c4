//! `#[new(..)]` and `#[init(..)]`: constructors that say only what they decide.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Meta, Result};

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

/// For a struct with `#[new(name: Type, ..)]` or fields with `#[init(value)]`: `fn wired(name: Type, ..) -> Self`, in which
/// a field has its `#[init(value)]`, else its default.
///
/// Without `#[new]` the struct also gets `Default`.
pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else { return Ok(TokenStream::new()) };
    let new = attribute(&input.attrs, "new")?;
    let mut decided = false;
    let mut fields = Vec::new();
    for field in &data.fields {
        let (name, ty) = (&field.ident, &field.ty);
        let value = match attribute(&field.attrs, "init")? {
            Some((attribute, value)) => {
                if value.is_empty() {
                    return Err(Error::new_spanned(attribute, "`#[init(..)]` needs a value"));
                }
                decided = true;
                value
            }
            None => quote_spanned!(ty.span()=> <#ty as Default>::default()),
        };
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
        None if decided => quote! {
            impl #impl_generics Default for #name #ty_generics #where_clause {
                fn default() -> Self {
                    Self { #(#fields),* }
                }
            }
        },
        None => TokenStream::new(),
    })
}
