//! `#[derive(Ports)]`: groups of ports.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, ToTokens};
use syn::{Data, DataStruct, DeriveInput, Error, Field, Fields, Generics, Result, Type};

use crate::activity;
use crate::constructor;
use crate::describe::doc;
use crate::group_registers;
use crate::promises;
use crate::stimulus::with_random_values;
use crate::types::{arguments, element, is_named};

/// Which way the values of a port go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    In,
    Out,
    /// A group inside the group has both.
    Both,
}

/// A port of the group, or a group inside it.
pub struct Port<'a> {
    pub field: &'a Field,
    pub ident: &'a Ident,
    pub ty: &'a Type,
    pub way: Way,
    /// Its value in `Default::default()`.
    value: TokenStream,
}

fn port(field: &Field) -> Result<Port<'_>> {
    let Field { ident: Some(ident), ty, .. } = field else {
        return Err(Error::new_spanned(field, "a port has a name"));
    };
    let way = match arguments(element(ty), "Signal").as_deref() {
        Some([direction, _]) if is_named(direction, "In") => Way::In,
        Some([direction, _]) if is_named(direction, "Out") => Way::Out,
        Some(_) => return Err(Error::new_spanned(ty, "a port is a `Signal<In, T>` or a `Signal<Out, T>`")),
        None => Way::Both,
    };
    let decided = constructor::decided(&field.attrs)?;
    if decided.is_none() && ["Vec", "Part"].iter().any(|name| arguments(ty, name).is_some()) {
        return Err(Error::new_spanned(
            field,
            "write `#[count(n)]`, `#[there(condition)]` or `#[init(value)]`: its default is nothing",
        ));
    }
    let value = decided.unwrap_or_else(|| quote!(Default::default()));
    Ok(Port { field, ident, ty, way, value })
}

fn ports(input: &DeriveInput) -> Result<Vec<Port<'_>>> {
    match &input.data {
        Data::Struct(DataStruct { fields: Fields::Named(named), .. }) => {
            named.named.iter().map(port).collect()
        }
        _ => Err(Error::new_spanned(input, "Ports can only be derived for structs with named fields")),
    }
}

/// The struct with the directions turned round.
fn flipped(input: &DeriveInput, name: &Ident, ports: &[Port]) -> TokenStream {
    let (visibility, generics) = (&input.vis, &input.generics);
    let where_clause = &generics.where_clause;
    let text =
        format!("[`{}`] as the unit at the other end has it: inputs and outputs exchanged.", input.ident);
    let fields = ports.iter().map(|Port { field, ident, ty, .. }| {
        let docs = field.attrs.iter().filter(|a| a.path().is_ident("doc"));
        let visibility = &field.vis;
        quote!(#(#docs)* #visibility #ident: unit_info::Flipped<#ty>)
    });
    quote! {
        #[doc = #text]
        #visibility struct #name #generics #where_clause { #(#fields),* }
    }
}

/// `connect!` between one type and another: each of `fields`, by its name in both.
fn connection(generics: &Generics, one: &TokenStream, other: &TokenStream, fields: &[&Ident]) -> TokenStream {
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let names = fields.iter().map(ToString::to_string);
    quote! {
        impl #impl_generics unit_info::Connect<#other> for #one #where_clause {
            #[allow(unused_variables)]
            fn connect(&mut self, other: &mut #other) {
                #(unit_info::Connect::connect(&mut self.#fields, &mut other.#fields);)*
            }
            #[allow(unused_variables)]
            fn connections(&self, other: &#other, links: &mut unit_info::Links) {
                #(links.pair(#names, &self.#fields, &other.#fields);)*
            }
        }
    }
}

/// The groups that `#[part_of(Group)]` names, and how the part is connected with each of them and
/// with its other end.
fn wholes(input: &DeriveInput, ports: &[Port], names: [&Ident; 2]) -> Result<TokenStream> {
    let (_, ty_generics, _) = input.generics.split_for_impl();
    let fields: Vec<_> = ports.iter().map(|p| p.ident).collect();
    let mut all = TokenStream::new();
    for attribute in input.attrs.iter().filter(|a| a.path().is_ident("part_of")) {
        let whole: Type = attribute.parse_args()?;
        for whole in [whole.to_token_stream(), quote!(unit_info::Flipped<#whole>)] {
            for part in names {
                let part = quote!(#part #ty_generics);
                all.extend(connection(&input.generics, &whole, &part, &fields));
                all.extend(connection(&input.generics, &part, &whole, &fields));
            }
        }
    }
    Ok(all)
}

/// What a group needs: to be made, to stand in a unit, to be connected, to be described, to be
/// driven in tests.
fn implement(
    input: &DeriveInput,
    ports: &[Port],
    name: &Ident,
    other: &Ident,
    inputs: Way,
    promises: &TokenStream,
) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let with_random_values = with_random_values(&input.generics);
    let (random_generics, ..) = with_random_values.split_for_impl();
    let text = doc(&input.attrs);
    let is_separate = input.attrs.iter().any(|a| a.path().is_ident("separate"));
    let separate = is_separate.then(|| quote!(description.separate();));
    let fields: Vec<_> = ports.iter().map(|p| p.ident).collect();
    let names: Vec<_> = fields.iter().map(ToString::to_string).collect();
    let all_names = names.join(" ");
    let list = activity::fields(name, &input.generics, &fields);
    let docs = ports.iter().map(|p| doc(&p.field.attrs));
    let values = ports.iter().map(|p| &p.value);
    let random: Vec<_> =
        ports.iter().filter(|p| p.way == inputs || p.way == Way::Both).map(|p| p.ident).collect();
    let connections = [name, other].map(|that| {
        connection(&input.generics, &quote!(#name #ty_generics), &quote!(#that #ty_generics), &fields)
    });
    quote! {
        impl #impl_generics Default for #name #ty_generics #where_clause {
            fn default() -> Self {
                Self { #(#fields: #values),* }
            }
        }
        impl #impl_generics Clone for #name #ty_generics #where_clause {
            fn clone(&self) -> Self {
                Self { #(#fields: self.#fields.clone()),* }
            }
        }
        impl #impl_generics std::fmt::Debug for #name #ty_generics #where_clause {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                unit_info::show(stringify!(#name), self, f)
            }
        }
        impl #impl_generics logic::Logic for #name #ty_generics #where_clause {
            fn update(&mut self) {}
            fn timing(&self) -> Vec<TimingInfo> {
                let fields: &[(&str, &str)] = &[#((#names, #docs)),*];
                unit_info::Description::timing(|description| {
                    description.unit(std::any::type_name::<Self>(), #text, file!(), fields);
                    #promises
                    #separate
                })
            }
        }
        impl #impl_generics block::Block for #name #ty_generics #where_clause {
            fn connect_all(&mut self) {}
            fn update_all(&mut self) {
                unit_info::Fields::pass::<unit_info::Update>(self);
            }
            fn has_changed(&self) -> bool {
                unit_info::Fields::any::<unit_info::AnyChange>(self)
            }
            fn accept(&self, name: &str, probe: &mut dyn probe::Probe) {
                probe.visit_start_namespace(name, self);
                unit_info::accept(&[#(&self.#fields),*], #all_names, probe);
                probe.visit_end_namespace(name, self);
            }
        }
        impl #impl_generics unit_info::Clocked for #name #ty_generics #where_clause {
            fn take_clock(&mut self, _clock: Clock, _reset: Option<bool>) {}
        }
        #list
        impl #impl_generics unit_info::Activity for #name #ty_generics #where_clause {
            fn changed(&self) -> bool {
                unit_info::Fields::any::<unit_info::Changed>(self)
            }
            fn changed_outside(&self) -> bool {
                unit_info::Fields::any::<unit_info::ChangedOutside>(self)
            }
            fn poll(&mut self) {
                self.update_all();
            }
            fn settle(&mut self) {}
        }
        impl #impl_generics unit_info::PortGroup for #name #ty_generics #where_clause {
            type Flipped = #other #ty_generics;
        }
        #(#connections)*
        impl #random_generics unit_info::ReadPort for #name #ty_generics #where_clause {
            fn read(&self, words: &mut Vec<u32>) {
                #(unit_info::ReadPort::read(&self.#fields, words);)*
            }
        }
        impl #random_generics unit_info::RandomPort for #name #ty_generics #where_clause {
            #[allow(unused_variables)]
            fn set_random(&mut self, random: &mut dyn FnMut() -> u64) {
                #(unit_info::RandomPort::set_random(&mut self.#random, random);)*
            }
        }
    }
}

pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let ports = ports(input)?;
    let (name, other) = (&input.ident, format_ident!("{}Flipped", input.ident, span = input.ident.span()));
    let promises = promises::of_group(input, &ports)?;
    let there = implement(input, &ports, name, &other, Way::In, &promises);
    let back = implement(input, &ports, &other, name, Way::Out, &promises);
    let flipped = flipped(input, &other, &ports);
    let wholes = wholes(input, &ports, [name, &other])?;
    let registers = group_registers::expand(input, &ports)?;
    Ok(quote!(#there #flipped #back #wholes #registers))
}
