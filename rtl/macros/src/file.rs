//! `#[register_file]`: the register file from its list of blocks.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Data, DataStruct, DeriveInput, Error, Field, Fields, GenericArgument, PathArguments, Result, Token, Type,
};

/// `#[register_file(core_select = block.port, second_master = Part)]`.
pub struct Arguments {
    block: Ident,
    port: Ident,
    /// The part of the array that accesses the registers too.
    second_master: Option<Ident>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream) -> Result<Self> {
        let key: Ident = input.parse()?;
        if key != "core_select" {
            return Err(Error::new_spanned(key, "expected `core_select = block.port`"));
        }
        input.parse::<Token![=]>()?;
        let block = input.parse()?;
        input.parse::<Token![.]>()?;
        let mut arguments = Self { block, port: input.parse()?, second_master: None };
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
            let key: Ident = input.parse()?;
            if key != "second_master" {
                return Err(Error::new_spanned(key, "expected `second_master = Part`"));
            }
            input.parse::<Token![=]>()?;
            arguments.second_master = Some(input.parse()?);
        }
        Ok(arguments)
    }
}

/// How many of a block there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    One,
    /// One if the configuration has the part that it belongs to.
    Optional,
    /// One unit with the ports of each core.
    PerCore,
}

/// A block of the list.
struct Listed<'a> {
    field: &'a Field,
    name: &'a Ident,
    group: &'a Type,
    count: Count,
    /// The unit that decodes it.
    unit: Ident,
}

/// `Group` of `wrapper<Group>`.
fn inside<'a>(ty: &'a Type, wrapper: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|s| s.ident == wrapper)?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    let mut arguments = list.args.iter();
    match (arguments.next(), arguments.next()) {
        (Some(GenericArgument::Type(group)), None) => Some(group),
        _ => None,
    }
}

fn listed(field: &Field) -> Result<Listed<'_>> {
    let Some(name) = &field.ident else { return Err(Error::new_spanned(field, "a block has a name")) };
    let (group, count) = match (inside(&field.ty, "Optional"), inside(&field.ty, "PerCore")) {
        (Some(group), _) => (group, Count::Optional),
        (_, Some(group)) => (group, Count::PerCore),
        _ => (&field.ty, Count::One),
    };
    let unit = format_ident!("{name}_registers");
    Ok(Listed { field, name, group, count, unit })
}

/// The fields of a block: its ports, and the unit.
fn fields(listed: &Listed) -> (TokenStream, TokenStream) {
    let Listed { field, name, group, count, unit } = listed;
    let docs: Vec<_> = field.attrs.iter().filter(|a| a.path().is_ident("doc")).collect();
    let block = quote!(<#group as RegisterBlock>);
    match count {
        Count::One => (
            quote!(#(#docs)* pub #name: Flipped<#group>,),
            quote!(#[init(#block::unit(config))] #unit: #block::Unit,),
        ),
        Count::Optional => (
            quote! {
                #(#docs)*
                #[there(#block::PART.is_in(config))]
                pub #name: unit_info::Part<Flipped<#group>>,
            },
            quote! {
                #[init(unit_info::Part::when(#block::PART.is_in(config), || #block::unit(config)))]
                #unit: unit_info::Part<#block::Unit>,
            },
        ),
        Count::PerCore => (
            quote!(#(#docs)* #[count(config.cores)] pub #name: Vec<Flipped<#group>>,),
            quote!(#[init(#block::unit(config))] #unit: #block::Unit,),
        ),
    }
}

/// The connections of a block.
fn connections(listed: &Listed, select: &TokenStream) -> TokenStream {
    let Listed { name, unit, count, .. } = listed;
    match count {
        Count::Optional => quote! {
            if self.#name.is_there() {
                connect!(self.bus.request, self.#unit.request);
                connect!(*self.#name, self.#unit.hardware);
            }
        },
        Count::One | Count::PerCore => {
            let select = (*count == Count::PerCore).then(|| quote!(self.#unit.select.next = #select;));
            quote! {
                connect!(self.bus.request, self.#unit.request);
                connect!(self.#name, self.#unit.hardware);
                #select
            }
        }
    }
}

/// What a second master adds.
#[derive(Default)]
struct Second {
    ports: TokenStream,
    units: TokenStream,
    /// Whether there is one.
    is_there: TokenStream,
    kernel: TokenStream,
}

/// The second master, if the array has `part`.
fn second(part: &Ident, blocks: &[Listed]) -> Second {
    let is_there = quote!(Part::#part.is_in(config));
    let ports = quote! {
        /// Accesses of the command processor.
        #[there(#is_there)]
        pub access: unit_info::Part<crate::ports::RegisterAccess>,
        /// The access of this cycle is one of the command processor.
        #[there(#is_there)]
        pub by_command: unit_info::Part<Signal<Out, Bit>>,
        /// The access of the cycle before was, which made the events of this cycle.
        #[there(#is_there)]
        pub was_by_command: unit_info::Part<Signal<Out, Bit>>,
    };
    let units = quote! {
        #[there(#is_there)]
        port: unit_info::Part<crate::host::RegisterPort>,
    };
    let requests = blocks.iter().map(|Listed { name, unit, count, .. }| match count {
        Count::Optional => quote! {
            if self.#name.is_there() {
                connect!(self.port.request, self.#unit.request);
                own_delay = own_delay || (self.#unit.answer.known.val() && self.#unit.answer.delay.val());
            }
        },
        _ => quote! {
            connect!(self.port.request, self.#unit.request);
            own_delay = own_delay || (self.#unit.answer.known.val() && self.#unit.answer.delay.val());
        },
    });
    // A block may delay in a cycle in which the access is none of its own.
    let kernel = quote! {
        if self.port.is_there() {
            connect!(self.bus.request, self.port.host);
            connect!(*self.access, self.port.access);
            let mut own_delay = false;
            #(#requests)*
            self.port.answer.known.next = known;
            self.port.answer.value.next = value;
            self.port.answer.delay.next = own_delay;
            connect!(self.port.host_answer, self.bus.answer);
            self.bus.hold.next = self.port.hold.val();
            self.by_command.next = self.port.by_command.val();
            self.was_by_command.next = self.port.was_by_command.val();
        }
    };
    Second { ports, units, is_there, kernel }
}

pub fn expand(arguments: &Arguments, input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(DataStruct { fields: Fields::Named(named), .. }) = &input.data else {
        return Err(Error::new_spanned(input, "a register file is a struct with named fields"));
    };
    let blocks = named.named.iter().map(listed).collect::<Result<Vec<_>>>()?;
    let Some(choice) = blocks.iter().find(|b| *b.name == arguments.block) else {
        return Err(Error::new_spanned(&arguments.block, "no block has this name"));
    };
    let (select_unit, select_port) = (&choice.unit, &arguments.port);
    let select = quote!(self.#select_unit.hardware.#select_port.val());
    let (ports, units): (Vec<_>, Vec<_>) = blocks.iter().map(fields).unzip();
    let connections = blocks.iter().map(|b| connections(b, &select));
    let always: Vec<_> = blocks.iter().filter(|b| b.count != Count::Optional).map(|b| &b.unit).collect();
    let optional =
        blocks.iter().filter(|b| b.count == Count::Optional).map(|Listed { name, unit, .. }| {
            quote! {
                if self.#name.is_there() {
                    known = known || self.#unit.answer.known.val();
                    value = value | self.#unit.answer.value.val();
                    delay = delay || self.#unit.answer.delay.val();
                }
            }
        });
    let groups = blocks.iter().map(|b| b.group);
    let fixed = blocks.iter().filter(|b| b.count != Count::Optional).map(|b| {
        let (group, message) =
            (b.group, format!("block `{}` belongs to a part: list it as Optional<..>", b.name));
        quote!(
            const _: () = assert!(matches!(<#group as RegisterBlock>::PART, Part::Always), #message);
        )
    });
    let none = || Second { is_there: quote!(false), ..Second::default() };
    let Second { ports: second_ports, units: second_units, is_there, kernel: second_kernel } =
        arguments.second_master.as_ref().map_or_else(none, |part| second(part, &blocks));
    let (name, visibility, attributes) = (&input.ident, &input.vis, &input.attrs);
    Ok(quote! {
        #(#attributes)*
        #[derive(Clone, LogicBlock)]
        #[new(config: &crate::config::Config)]
        #visibility struct #name {
            /// Rising-edge clock.
            pub clock: Signal<In, Clock>,
            /// Synchronous reset, active high.
            pub reset: Signal<In, Bit>,
            /// From the host.
            pub axil: crate::ports::AxiLite,
            #(#ports)*
            #second_ports
            #[init(crate::host::AxiLiteSlave::new(#is_there))]
            bus: crate::host::AxiLiteSlave,
            #(#units)*
            #second_units
        }

        impl #name {
            /// The entries of its blocks, in the order of the blocks.
            pub const BLOCKS: &'static [&'static [RegisterSpec]] = &[#(<#groups as RegisterBlock>::REGISTERS),*];
        }

        #(#fixed)*

        impl Logic for #name {
            #[hdl_gen]
            #[allow(unused_mut)]
            fn update(&mut self) {
                connect!(self.axil, self.bus.axil);
                #(#connections)*
                let mut known = #(self.#always.answer.known.val())||*;
                let mut value = #(self.#always.answer.value.val())|*;
                let mut delay = #(self.#always.answer.delay.val())||*;
                #(#optional)*
                self.bus.answer.known.next = known;
                self.bus.answer.value.next = value;
                self.bus.answer.delay.next = delay;
                #second_kernel
            }
        }
    })
}
