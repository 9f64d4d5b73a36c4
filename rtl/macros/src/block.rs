//! `#[register_block]`: port group, table and unit of a block of registers.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Data, DataStruct, DeriveInput, Error, Fields, Result, Token};

use crate::entry::{Bits, Entry, Kind};
use crate::unit;

/// `#[register_block(Unit, part = PacketPorts, selected, values = Values)]`.
pub struct Arguments {
    unit: Ident,
    part: Ident,
    selected: bool,
    values: Option<Ident>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut arguments =
            Self { unit: input.parse()?, part: format_ident!("Always"), selected: false, values: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            let key: Ident = input.parse()?;
            match key.to_string().as_str() {
                "selected" => arguments.selected = true,
                "part" | "values" => {
                    input.parse::<Token![=]>()?;
                    let value: Ident = input.parse()?;
                    if key == "part" {
                        arguments.part = value;
                    } else {
                        arguments.values = Some(value);
                    }
                }
                _ => return Err(Error::new_spanned(key, "expected `part`, `selected` or `values`")),
            }
        }
        Ok(arguments)
    }
}

/// The ports of a register, as the hardware has them: what it shows goes out, what the host writes
/// comes in.
fn ports(entry: &Entry) -> Vec<TokenStream> {
    let port = |bits: &Bits, out: bool| {
        let (name, ty, text) = (&bits.port, bits.ty(), entry.port_doc(bits));
        let direction = if out { quote!(Out) } else { quote!(In) };
        quote!(#[doc = #text] pub #name: Signal<#direction, #ty>)
    };
    let shown = entry.kind == Kind::ReadOnly;
    let mut list: Vec<_> = entry.ports.iter().map(|bits| port(bits, shown)).collect();
    list.extend(entry.state.iter().map(|bits| port(bits, true)));
    if let Some(name) = &entry.on_read {
        let text = format!("The host reads {} in this cycle.", entry.name);
        list.push(quote!(#[doc = #text] pub #name: Signal<In, Bit>));
    }
    list
}

/// The registers as plain values for software.
fn values(name: &Ident, group: &Ident, entries: &[Entry]) -> TokenStream {
    let entries: Vec<_> = entries.iter().filter(|e| e.kind == Kind::ReadOnly).collect();
    let text = format!("Values of the registers of [`{group}`] that are read only.");
    let fields = entries.iter().map(|e| &e.field);
    let docs = entries.iter().map(|e| format!("{}.", e.description));
    let reads = entries.iter().map(|e| {
        let (field, name) = (&e.field, &e.name);
        quote!(#field: read(Self::register(#name))?)
    });
    let (pairs, texts) = (entries.iter().map(|e| &e.field), entries.iter().map(|e| e.field.to_string()));
    let count = entries.len();
    let ports: Vec<_> = entries.iter().map(|e| &e.field).collect();
    // Only registers that are one port of 32 bits have the type of their values.
    let drive = entries.iter().all(|e| e.ports.len() == 1 && e.ports[0].width == 32).then(|| {
        quote! {
            /// Gives the values to the ports of the unit that decodes the registers.
            #[cfg(test)]
            pub(crate) fn drive(&self, ports: &mut unit_info::Flipped<#group>) {
                #(ports.#ports.next = u64::from(self.#ports).into();)*
            }
        }
    });
    quote! {
        #[doc = #text]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
        pub struct #name {
            #(#[doc = #docs] pub #fields: u32),*
        }

        impl #name {
            /// Reads the registers one by one, in the order of their offsets.
            ///
            /// # Errors
            /// The first that `read` returns.
            pub fn read<E>(
                mut read: impl FnMut(&'static crate::host::registers::RegisterSpec) -> Result<u32, E>,
            ) -> Result<Self, E> {
                Ok(Self { #(#reads),* })
            }

            fn register(name: &str) -> &'static crate::host::registers::RegisterSpec {
                let list = <#group as crate::host::registers::RegisterBlock>::REGISTERS;
                list.iter().find(|register| register.name == name).expect("the register is in its block")
            }

            /// The values with the names of their fields, in the order of the registers.
            #[must_use]
            pub fn named(&self) -> [(&'static str, u32); #count] {
                [#((#texts, self.#pairs)),*]
            }

            #drive
        }
    }
}

pub fn expand(arguments: &Arguments, input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(DataStruct { fields: Fields::Named(fields), .. }) = &input.data else {
        return Err(Error::new_spanned(input, "a block of registers is a struct with named fields"));
    };
    let entries = fields.named.iter().map(Entry::read).collect::<Result<Vec<_>>>()?;
    let Arguments { unit, part, selected, values: values_name } = arguments;
    if let (true, Some(entry)) =
        (selected, entries.iter().find(|e| e.kind != Kind::ReadOnly || e.bits != 32 || e.ports.len() != 1))
    {
        let message =
            "a block of which one is selected has registers of the kind ReadOnly<32> without fields";
        return Err(Error::new_spanned(&entry.field, message));
    }
    let (group, visibility) = (&input.ident, &input.vis);
    let docs = input.attrs.iter().filter(|a| a.path().is_ident("doc"));
    let ports = entries.iter().flat_map(ports);
    let specs = entries.iter().map(|e| {
        let Entry { name, offset, bits, reset, access, description, named, .. } = e;
        let reserved = e.reserved & !e.beside;
        let fields = named.iter().map(|Bits { port, lsb, width }| {
            let name = port.to_string();
            quote!(crate::host::registers::RegisterField { name: #name, lsb: #lsb, width: #width })
        });
        let fixed = match &e.value {
            Some(value) => quote!(Some(|config| #value)),
            None => quote!(None),
        };
        let reset_of = match &e.reset_of {
            Some(value) => quote!(Some(|config| #value)),
            None => quote!(None),
        };
        let unset = match &e.unset {
            Some(why) => quote!(Some(#why)),
            None => quote!(None),
        };
        quote! {
            crate::host::registers::RegisterSpec {
                name: #name,
                offset: #offset,
                access: crate::host::registers::Access::#access,
                bits: #bits,
                reset: #reset,
                reset_of: #reset_of,
                unset: #unset,
                reserved: #reserved,
                fields: &[#(#fields),*],
                fixed: #fixed,
                part: crate::host::registers::Part::#part,
                description: #description,
            }
        }
    });
    let fixed: Vec<_> = entries.iter().filter_map(|e| e.value.as_ref()).collect();
    let made = match (selected, fixed.is_empty()) {
        (true, _) => quote!(#unit::new(config.cores)),
        (false, false) => quote!(#unit::new(#(#fixed),*)),
        (false, true) => quote!(#unit::default()),
    };
    let decoder = unit::expand(unit, group, visibility, &entries, *selected);
    let values = values_name.as_ref().map(|name| values(name, group, &entries));
    Ok(quote! {
        #(#docs)*
        #[derive(Ports)]
        #visibility struct #group { #(#ports),* }

        impl crate::host::registers::RegisterBlock for #group {
            type Unit = #unit;
            const PART: crate::host::registers::Part = crate::host::registers::Part::#part;
            #[allow(unused_variables)]
            const REGISTERS: &'static [crate::host::registers::RegisterSpec] = &[#(#specs),*];
            #[allow(unused_variables)]
            fn unit(config: &crate::config::Config) -> Self::Unit {
                #made
            }
        }

        #decoder
        #values
    })
}
