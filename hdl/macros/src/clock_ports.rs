//! `#[clocked]` at a unit: the ports that almost every unit has.

use proc_macro2::TokenStream;
use quote::{quote, ToTokens};
use syn::parse::Parser;
use syn::{Error, Field, Fields, ItemStruct, LitStr, Result};

/// The struct with `clock` and `reset` in front of its fields; `attribute` may say in a string
/// what the reset does.
pub fn expand(attribute: TokenStream, mut unit: ItemStruct) -> Result<TokenStream> {
    let effect = match attribute.is_empty() {
        true => String::new(),
        false => effect_of(&syn::parse2::<LitStr>(attribute)?.value()),
    };
    let name = unit.ident.clone();
    let Fields::Named(fields) = &mut unit.fields else {
        return Err(Error::new_spanned(name, "`#[clocked]` stands at a struct with named fields"));
    };
    let own = |field: &&Field| field.ident.as_ref().is_some_and(|name| name == "clock" || name == "reset");
    if let Some(field) = fields.named.iter().find(own) {
        return Err(Error::new_spanned(field, "`#[clocked]` declares `clock` and `reset`: leave this out"));
    }
    let reset = format!(" Synchronous reset, active high{effect}.");
    let ports = [
        quote!(#[doc = " Rising-edge clock."] pub clock: Signal<In, Clock>),
        quote!(#[doc = #reset] pub reset: Signal<In, Bit>),
    ];
    for (index, port) in ports.into_iter().enumerate() {
        fields.named.insert(index, Field::parse_named.parse2(port)?);
    }
    Ok(unit.into_token_stream())
}

/// What follows "active high": a sentence of its own if it begins as one.
fn effect_of(text: &str) -> String {
    let link = if text.starts_with(char::is_uppercase) { ". " } else { ": " };
    format!("{link}{}", text.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(attribute: &str, unit: &str) -> Result<String> {
        Ok(expand(attribute.parse()?, syn::parse_str(unit)?)?.to_string())
    }

    fn whole(unit: &str) -> String {
        syn::parse_str::<ItemStruct>(unit).unwrap().into_token_stream().to_string()
    }

    #[test]
    fn clock_and_reset_stand_in_front() {
        let unit = "struct A<const N: usize> {
            #[doc = \" Rising-edge clock.\"]
            pub clock: Signal<In, Clock>,
            #[doc = \" Synchronous reset, active high: it is empty.\"]
            pub reset: Signal<In, Bit>,
            pub busy: Signal<Out, Bit>,
        }";
        let short = "struct A<const N: usize> { pub busy: Signal<Out, Bit>, }";
        assert_eq!(expanded("\"it is empty\"", short).unwrap(), whole(unit));
        let plain = unit.replace(": it is empty.", ".");
        assert_eq!(expanded("", short).unwrap(), whole(&plain));
        let sentence = unit.replace(": it is empty.", ". The contents stay.");
        assert_eq!(expanded("\"The contents stay\"", short).unwrap(), whole(&sentence));
    }

    #[test]
    fn what_has_no_room_for_them_is_refused() {
        let refused = |attribute, unit| expanded(attribute, unit).unwrap_err().to_string();
        assert_eq!(refused("", "struct A(Bit);"), "`#[clocked]` stands at a struct with named fields");
        assert_eq!(
            refused("", "struct A { reset: Signal<In, Bit> }"),
            "`#[clocked]` declares `clock` and `reset`: leave this out"
        );
        assert_eq!(refused("5", "struct A { a: Bit }"), "expected string literal");
    }
}
