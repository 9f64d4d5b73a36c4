//! Random values for the inputs of a unit.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{parse_quote, DeriveInput, Field, Generics, Visibility};

use crate::types::{arguments, element, input, is_named};

/// Whether the field is a data input: `Signal<In, T>` or a `Vec` of them, but no clock.
fn is_input(field: &Field) -> bool {
    matches!(
        arguments(element(&field.ty), "Signal").as_deref(),
        Some([direction, value]) if is_named(direction, "In") && !is_named(value, "Clock")
    )
}

/// Whether the field is an input or an output, or a `Vec` of them.
fn is_port(field: &Field) -> bool {
    matches!(
        arguments(element(&field.ty), "Signal").as_deref(),
        Some([direction, _]) if is_named(direction, "In") || is_named(direction, "Out")
    )
}

/// Whether the field may be a port group.
fn may_be_group(field: &Field) -> bool {
    arguments(element(&field.ty), "Signal").is_none() && !matches!(field.vis, Visibility::Inherited)
}

/// `generics` where the values of each type parameter can be random.
pub fn with_random_values(generics: &Generics) -> Generics {
    let mut all = generics.clone();
    for parameter in all.type_params_mut() {
        parameter.bounds.push(parse_quote!(unit_info::RandomValue));
    }
    all
}

/// The implementation of `unit_info::Drive` for the struct.
pub fn expand(unit: &DeriveInput, hardware: &[&Field]) -> TokenStream {
    let named = |f: &Field, name: &str| f.ident.as_ref().is_some_and(|i| i == name);
    let inputs = hardware.iter().filter(|f| is_input(f) && !named(f, "reset")).map(|f| &f.ident);
    let groups = hardware.iter().filter(|f| may_be_group(f)).map(|f| &f.ident);
    let has = |name: &str, ty: &str| input(hardware, name).is_some_and(|value| is_named(value, ty));
    let reset = (has("reset", "Bit") || has("reset", "bool")).then(|| quote!(self.reset.next = level;));
    let has_clock = has("clock", "Clock");
    let clock = has_clock.then(|| quote!(self.clock.next = level.into();));
    let reads = hardware.iter().filter(|f| is_port(f) || may_be_group(f)).map(|f| {
        let field = &f.ident;
        if is_port(f) {
            quote!(unit_info::ReadPort::read(&self.#field, words);)
        } else {
            quote!((&&self.#field).read_outside(words);)
        }
    });
    let name = &unit.ident;
    let (_, ty_generics, where_clause) = unit.generics.split_for_impl();
    let generics = with_random_values(&unit.generics);
    let (impl_generics, ..) = generics.split_for_impl();
    quote! {
        impl #impl_generics unit_info::Drive for #name #ty_generics #where_clause {
            #[allow(unused_variables, unused_imports)]
            fn randomize_inputs(&mut self, random: &mut dyn FnMut() -> u64) {
                use unit_info::{KeepInput as _, RandomInput as _};
                #(unit_info::RandomPort::set_random(&mut self.#inputs, random);)*
                #((&mut &mut self.#groups).randomize(random);)*
            }
            #[allow(unused_variables)]
            fn set_reset(&mut self, level: bool) {
                #reset
            }
            #[allow(unused_variables)]
            fn set_clock(&mut self, level: bool) -> bool {
                #clock
                #has_clock
            }
            #[allow(unused_variables, unused_imports)]
            fn read_ports(&self, words: &mut Vec<u32>) {
                use unit_info::{ReadNothing as _, ReadOutside as _};
                #(#reads)*
            }
        }
    }
}
