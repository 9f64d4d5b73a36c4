//! `#[derive(LogicStruct)]` and `#[derive(LogicState)]`: types of values with parts, and with
//! names.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Result, Type};

/// Names and types of the fields of a struct.
fn fields(input: &DeriveInput) -> Result<(Vec<&Ident>, Vec<&Type>)> {
    let named = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) if !named.named.is_empty() => Some(named),
            _ => None,
        },
        _ => None,
    };
    let Some(named) = named else {
        let text = "LogicStruct can only be derived for structs with named fields";
        return Err(Error::new_spanned(&input.ident, text));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(&input.generics, "a LogicStruct has no parameters"));
    }
    let names = named.named.iter().filter_map(|field| field.ident.as_ref()).collect();
    Ok((names, named.named.iter().map(|field| &field.ty).collect()))
}

/// The names of an enum, whose codes are 0, 1, 2 and so on.
fn variants(input: &DeriveInput) -> Result<Vec<&Ident>> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "LogicState can only be derived for enums"));
    };
    if data.variants.is_empty() {
        return Err(Error::new_spanned(&input.ident, "a LogicState has a variant at least"));
    }
    for variant in &data.variants {
        if !variant.fields.is_empty() {
            return Err(Error::new_spanned(variant, "a variant of a LogicState has no fields"));
        }
        if variant.discriminant.is_some() {
            return Err(Error::new_spanned(variant, "a variant of a LogicState has no code of its own"));
        }
    }
    Ok(data.variants.iter().map(|variant| &variant.ident).collect())
}

/// A struct as a value: the first field has the lowest bits.
pub fn logic_struct(input: &DeriveInput) -> Result<TokenStream> {
    let (names, types) = fields(input)?;
    let name = &input.ident;
    let name_text = name.to_string();
    let texts: Vec<_> = names.iter().map(ToString::to_string).collect();
    let widths: Vec<_> = names.iter().map(|field| format_ident!("get_my_width_{field}")).collect();
    let offsets: Vec<_> = names.iter().map(|field| format_ident!("get_my_offset_{field}")).collect();
    let below: Vec<_> = (0..types.len()).map(|i| &types[..i]).map(|t| quote!(0 #(+ <#t>::BITS)*)).collect();
    Ok(quote! {
        impl #name {
            #(
                #[doc(hidden)]
                #[allow(dead_code)]
                pub fn #widths(&self) -> usize {
                    <#types>::BITS
                }
                #[doc(hidden)]
                #[allow(dead_code)]
                pub fn #offsets(&self) -> usize {
                    #below
                }
            )*
        }
        impl From<#name> for Bits<{ <#name>::BITS }> {
            fn from(value: #name) -> Self {
                Self::default() #(
                    | (bit_cast::<{ <#name>::BITS }, { <#types>::BITS }>(value.#names.into())
                        << ((#below) as LiteralType))
                )*
            }
        }
        impl synth::Synth for #name {
            const BITS: usize = 0 #(+ <#types>::BITS)*;
            fn descriptor() -> TypeDescriptor {
                let fields = vec![#(Box::new(TypeField {
                    fieldname: #texts.to_string(),
                    kind: <#types as synth::Synth>::descriptor(),
                })),*];
                TypeDescriptor { name: #name_text.to_string(), kind: TypeKind::Composite(fields) }
            }
            fn vcd(self) -> VCDValue {
                VCDValue::Composite(vec![#(Box::new(synth::Synth::vcd(self.#names))),*])
            }
            fn verilog(self) -> VerilogLiteral {
                let bits: Bits<{ <#name>::BITS }> = self.into();
                bits.into()
            }
        }
        impl unit_info::PortValue for #name {}
        impl unit_info::RandomValue for #name {
            fn random(random: &mut dyn FnMut() -> u64) -> Self {
                Self { #(#names: unit_info::RandomValue::random(random)),* }
            }
        }
    })
}

/// An enum as a value: each variant has its number as its code; the first is the default.
pub fn logic_state(input: &DeriveInput) -> Result<TokenStream> {
    let variants = variants(input)?;
    let name = &input.ident;
    let (name_text, first, count) = (name.to_string(), variants[0], variants.len());
    let codes: Vec<_> = (0..count).collect();
    let numbers: Vec<_> = (0..count as u64).collect();
    let texts: Vec<_> = variants.iter().map(ToString::to_string).collect();
    let paths: Vec<_> = texts.iter().map(|text| format!("{name_text}::{text}")).collect();
    Ok(quote! {
        impl synth::Synth for #name {
            const BITS: usize = clog2(#count);
            fn descriptor() -> TypeDescriptor {
                let variants = vec![#(#paths.to_string()),*];
                TypeDescriptor { name: #name_text.to_string(), kind: TypeKind::Enum(variants) }
            }
            fn vcd(self) -> VCDValue {
                VCDValue::String(match self { #(Self::#variants => #texts),* }.into())
            }
            fn verilog(self) -> VerilogLiteral {
                match self { #(Self::#variants => #codes),* }.into()
            }
        }
        impl From<#name> for Bits<{ <#name>::BITS }> {
            fn from(value: #name) -> Self {
                match value { #(#name::#variants => #codes),* }.to_bits()
            }
        }
        impl Default for #name {
            fn default() -> Self {
                Self::#first
            }
        }
        impl unit_info::PortValue for #name {}
        impl unit_info::RandomValue for #name {
            fn random(random: &mut dyn FnMut() -> u64) -> Self {
                match random() % #count as u64 {
                    #(#numbers => Self::#variants,)*
                    _ => Self::#first,
                }
            }
        }
    })
}
