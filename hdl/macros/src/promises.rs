//! `#[held]`, `#[one_hot]` and `#[never]`: what a unit or a group of ports promises of its ports.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Error, Field, Result, Token};

use crate::ports::{Port, Way};
use crate::types::{arguments, is_named};

/// A valid, its ready, and what goes with them.
struct Handshake {
    names: Vec<String>,
}

/// The handshake that `#[held(valid, ready, payload, ..)]` names.
fn named(attribute: &Attribute, fields: &[&Ident]) -> Result<Handshake> {
    let names = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)?;
    if let Some(name) = names.iter().find(|name| !fields.contains(name)) {
        return Err(Error::new_spanned(name, "there is no port of this name"));
    }
    if names.len() < 3 {
        return Err(Error::new_spanned(attribute, "write `#[held(valid, ready, payload, ..)]`"));
    }
    Ok(Handshake { names: names.iter().map(ToString::to_string).collect() })
}

/// The handshakes of a group: each `..valid` with the `..ready` of the same begin. With them go the
/// ports of this begin that have the direction of the valid.
fn found(attribute: &Attribute, ports: &[Port]) -> Result<Vec<Handshake>> {
    let name = |port: &Port| port.ident.to_string();
    let opposite = |way: Way| if way == Way::In { Way::Out } else { Way::In };
    let mut all = Vec::new();
    for valid in ports.iter().filter(|port| port.way != Way::Both) {
        let text = name(valid);
        let Some(begin) = text.strip_suffix("valid") else { continue };
        let ready = format!("{begin}ready");
        if !ports.iter().any(|port| name(port) == ready && port.way == opposite(valid.way)) {
            continue;
        }
        let goes_with =
            |port: &&Port| port.way == valid.way && name(port).starts_with(begin) && name(port) != text;
        let payload = ports.iter().filter(goes_with).map(name);
        let names = [text.clone(), ready].into_iter().chain(payload).collect();
        all.push(Handshake { names });
    }
    if all.is_empty() {
        return Err(Error::new_spanned(attribute, "the group has no valid with a ready"));
    }
    Ok(all)
}

/// The statements that note the handshakes in a `unit_info::Description` called `description`.
fn notes(handshakes: &[Handshake]) -> TokenStream {
    let names = handshakes.iter().map(|handshake| &handshake.names);
    quote!(#(description.held(&[#(#names),*]);)*)
}

/// What a group with `#[held]` or `#[held(..)]` promises.
pub fn of_group(input: &DeriveInput, ports: &[Port]) -> Result<TokenStream> {
    let fields: Vec<_> = ports.iter().map(|port| port.ident).collect();
    let mut all = Vec::new();
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("held")) {
        if matches!(attribute.meta, syn::Meta::Path(_)) {
            all.extend(found(attribute, ports)?);
        } else {
            all.push(named(attribute, &fields)?);
        }
    }
    Ok(notes(&all))
}

/// The two ports of each `#[never(first, second)]` of a unit.
fn never(input: &DeriveInput, hardware: &[&Field]) -> Result<Vec<[Ident; 2]>> {
    let is_bit = |field: &Field| match arguments(&field.ty, "Signal").as_deref() {
        Some([_, value]) => is_named(value, "Bit"),
        _ => false,
    };
    let named = |name: &Ident| hardware.iter().find(|field| field.ident.as_ref() == Some(name));
    let pair = |attribute: &Attribute| {
        let names = attribute.parse_args_with(Punctuated::<Ident, Token![,]>::parse_terminated)?;
        for name in &names {
            match named(name) {
                None => return Err(Error::new_spanned(name, "there is no port of this name")),
                Some(field) if is_bit(field) => {}
                Some(_) => {
                    return Err(Error::new_spanned(name, "a port of one bit, `Signal<_, Bit>`, stands here"))
                }
            }
        }
        if ["clock", "reset"].iter().any(|port| named(&Ident::new(port, Span::call_site())).is_none()) {
            return Err(Error::new_spanned(attribute, "`#[never]` is looked at by `clock` and `reset`"));
        }
        let names: Vec<Ident> = names.into_iter().collect();
        match <[Ident; 2]>::try_from(names) {
            Ok(pair) if pair[0] != pair[1] => Ok(pair),
            _ => Err(Error::new_spanned(attribute, "write `#[never(first, second)]`, two ports")),
        }
    };
    input.attrs.iter().filter(|a| a.path().is_ident("never")).map(pair).collect()
}

/// What a native test of the unit's own crate sees of `#[never(..)]` in a pass: at a rising edge
/// without reset the two ports are not both high.
pub fn watch(input: &DeriveInput, hardware: &[&Field]) -> Result<TokenStream> {
    let pairs = never(input, hardware)?;
    let name = input.ident.to_string();
    let checks = pairs.iter().map(|[first, second]| {
        let text = format!("{name}: {first} and {second} are both high");
        quote! {
            #[cfg(test)]
            {
                let is_edge = self.clock.pos_edge() && !self.reset.val();
                assert!(!(is_edge && self.#first.val() && self.#second.val()), #text);
            }
        }
    });
    Ok(quote!(#(#checks)*))
}

/// What a unit with `#[held(..)]` and `#[never(..)]`, and outputs with `#[one_hot]`, promises.
pub fn of_unit(input: &DeriveInput, hardware: &[&Field]) -> Result<TokenStream> {
    let fields: Vec<_> = hardware.iter().filter_map(|field| field.ident.as_ref()).collect();
    let held = input.attrs.iter().filter(|a| a.path().is_ident("held"));
    let all: Vec<_> = held.map(|attribute| named(attribute, &fields)).collect::<Result<_>>()?;
    let handshakes = notes(&all);
    let mut one_hot = Vec::new();
    for field in hardware {
        if !field.attrs.iter().any(|a| a.path().is_ident("one_hot")) {
            continue;
        }
        match arguments(&field.ty, "Signal").as_deref() {
            Some([direction, _]) if is_named(direction, "Out") => {
                one_hot.extend(field.ident.as_ref().map(ToString::to_string));
            }
            _ => return Err(Error::new_spanned(field, "an output, `Signal<Out, Bits<N>>`, is one-hot")),
        }
    }
    let never = never(input, hardware)?;
    let never = never.iter().map(|pair| pair.each_ref().map(ToString::to_string));
    let never = never.map(|[first, second]| quote!(description.never(&[#first, #second]);));
    Ok(quote!(#handshakes #(description.one_hot(#one_hot);)* #(#never)*))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a unit with this attribute.
    fn said(attribute: &str, ports: &str) -> String {
        let unit = format!("{attribute} struct A {{ {ports} }}");
        let unit: DeriveInput = syn::parse_str(&unit).unwrap();
        let syn::Data::Struct(data) = &unit.data else { unreachable!() };
        let fields: Vec<&Field> = data.fields.iter().collect();
        watch(&unit, &fields).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn what_never_is_together_are_two_ports_of_one_bit() {
        let ports = "clock: Signal<In, Clock>, reset: Signal<In, Bit>, push: Signal<In, Bit>, \
                     full: Signal<Out, Bit>, level: Signal<Out, Bits<4>>, count: Register<Bit>";
        assert_eq!(said("#[never(push, full)]", ports), "");
        let one_bit = "a port of one bit, `Signal<_, Bit>`, stands here";
        let two = "write `#[never(first, second)]`, two ports";
        for (attribute, expected) in [
            ("#[never(push, fall)]", "there is no port of this name"),
            ("#[never(push, level)]", one_bit),
            ("#[never(count, full)]", one_bit),
            ("#[never(push, push)]", two),
            ("#[never(push)]", two),
        ] {
            assert_eq!(said(attribute, ports), expected, "{attribute}");
        }
        let without = ports.replace("reset: Signal<In, Bit>,", "");
        let expected = "`#[never]` is looked at by `clock` and `reset`";
        assert_eq!(said("#[never(push, full)]", &without), expected);
    }
}
