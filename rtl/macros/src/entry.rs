//! The declaration of a register: a field of a `#[register_block]`.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    bracketed, Attribute, Error, Expr, ExprLit, Field, GenericArgument, Lit, LitInt, LitStr, Meta,
    MetaNameValue, PathArguments, Result, Token, Type,
};

/// How the host may use a register, and what the hardware has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Keeps what the host wrote.
    ReadWrite,
    /// Shows a value of the hardware.
    ReadOnly,
    /// Shows a value that is known when the array is made.
    Fixed,
    /// A write is an event, in the cycle after the access.
    WriteOnly,
    /// A write is an event, in the cycle of the access, which the hardware may delay or refuse;
    /// reads show its state, if it has one.
    Strobe,
    /// A write is an event, in the cycle after the access; reads show a value of the hardware.
    Command,
}

impl Kind {
    /// The state of `Access` that says it to users.
    pub fn access(self) -> Ident {
        format_ident!(
            "{}",
            match self {
                Self::ReadWrite => "ReadWrite",
                Self::ReadOnly | Self::Fixed => "ReadOnly",
                Self::WriteOnly | Self::Strobe => "WriteOnly",
                Self::Command => "Command",
            }
        )
    }
}

/// A number without the suffix that says its type.
pub fn number(value: usize) -> Literal {
    Literal::usize_unsuffixed(value)
}

/// Some bits of a register, which are a port of the block.
#[derive(Clone)]
pub struct Bits {
    /// Name of the port.
    pub port: Ident,
    /// The lowest of the bits.
    pub lsb: usize,
    /// How many.
    pub width: usize,
}

impl Bits {
    /// The type of the value.
    pub fn ty(&self) -> TokenStream {
        match self.width {
            1 => quote!(Bit),
            width => {
                let width = number(width);
                quote!(Bits<#width>)
            }
        }
    }
}

/// `run[0]` or `cause[4:0]`.
impl Parse for Bits {
    fn parse(input: ParseStream) -> Result<Self> {
        let port = input.parse()?;
        let inside;
        bracketed!(inside in input);
        let first: LitInt = inside.parse()?;
        let high: usize = first.base10_parse()?;
        let lsb = if inside.peek(Token![:]) {
            inside.parse::<Token![:]>()?;
            inside.parse::<LitInt>()?.base10_parse()?
        } else {
            high
        };
        if lsb > high || high > 31 {
            return Err(Error::new_spanned(first, "bits of a register are `[high:low]`, 31 to 0"));
        }
        Ok(Self { port, lsb, width: high - lsb + 1 })
    }
}

/// `#[register("NAME", 0x00c, reset = 4, unset = "why", value = expression, reserved = 0x80, access
/// = ReadWrite)]`.
struct Place {
    name: LitStr,
    offset: LitInt,
    reset: Option<Expr>,
    unset: Option<LitStr>,
    value: Option<Expr>,
    reserved: Option<LitInt>,
    access: Option<Ident>,
}

impl Parse for Place {
    fn parse(input: ParseStream) -> Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![,]>()?;
        let offset = input.parse()?;
        let mut place =
            Self { name, offset, reset: None, unset: None, value: None, reserved: None, access: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "reset" => place.reset = Some(input.parse()?),
                "unset" => place.unset = Some(input.parse()?),
                "value" => place.value = Some(input.parse()?),
                "reserved" => place.reserved = Some(input.parse()?),
                "access" => place.access = Some(input.parse()?),
                _ => {
                    let message = "expected `reset`, `unset`, `value`, `reserved` or `access`";
                    return Err(Error::new_spanned(key, message));
                }
            }
        }
        Ok(place)
    }
}

/// Longest comment of a port in the Verilog that has the description of the register.
const PORT_COMMENT: usize = 80;

/// A register as it is declared.
pub struct Entry {
    /// Name of the field.
    pub field: Ident,
    /// Name in upper case, for software.
    pub name: String,
    pub offset: u32,
    pub kind: Kind,
    /// Implemented bits, from bit 0.
    pub bits: usize,
    /// The value after reset, if it is a number.
    pub reset: u32,
    /// The value after reset, if it follows from `config`, the configuration of the array.
    pub reset_of: Option<Expr>,
    /// Why the register has no value after reset, if it has none.
    pub unset: Option<String>,
    /// Bits of a `ReadWrite` register that are not kept here.
    pub reserved: u32,
    /// Those of them that another block keeps.
    pub beside: u32,
    /// The state of `Access` that says to users how it is used.
    pub access: Ident,
    /// What a `Fixed` register shows; `config` is the configuration of the array.
    pub value: Option<Expr>,
    pub description: String,
    /// The ports: the value, or the events.
    pub ports: Vec<Bits>,
    /// The ports that a `Command` shows when it is read.
    pub state: Vec<Bits>,
    /// The parts of the register that have a name: those of `#[fields(..)]` and `#[state(..)]`.
    pub named: Vec<Bits>,
    /// The port that says that the host reads the register in this cycle.
    pub on_read: Option<Ident>,
}

/// Kind and width of `ReadWrite<5>`.
fn kind(ty: &Type) -> Result<(Kind, usize)> {
    let error = || {
        let message = "expected ReadWrite<N>, ReadOnly<N>, Fixed<N>, WriteOnly<N>, Strobe<N> or Command<N>";
        Error::new_spanned(ty, message)
    };
    let Type::Path(path) = ty else { return Err(error()) };
    let last = path.path.segments.last().ok_or_else(error)?;
    let kind = match last.ident.to_string().as_str() {
        "ReadWrite" => Kind::ReadWrite,
        "ReadOnly" => Kind::ReadOnly,
        "Fixed" => Kind::Fixed,
        "WriteOnly" => Kind::WriteOnly,
        "Strobe" => Kind::Strobe,
        "Command" => Kind::Command,
        _ => return Err(error()),
    };
    let PathArguments::AngleBracketed(list) = &last.arguments else { return Err(error()) };
    let Some(GenericArgument::Const(Expr::Lit(width))) = list.args.first() else { return Err(error()) };
    let syn::Lit::Int(width) = &width.lit else { return Err(error()) };
    let bits: usize = width.base10_parse()?;
    if !(1..=32).contains(&bits) {
        return Err(Error::new_spanned(width, "a register has 1 to 32 bits"));
    }
    Ok((kind, bits))
}

/// The doc comment of a field in one line.
fn doc(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(MetaNameValue {
                path,
                value: Expr::Lit(ExprLit { lit: Lit::Str(text), .. }),
                ..
            }) if path.is_ident("doc") => Some(text.value()),
            _ => None,
        })
        .collect();
    lines.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ")
}

fn list(field: &Field, name: &str) -> Result<Option<Vec<Bits>>> {
    let Some(attribute) = field.attrs.iter().find(|a| a.path().is_ident(name)) else { return Ok(None) };
    let list = attribute.parse_args_with(Punctuated::<Bits, Token![,]>::parse_terminated)?;
    Ok(Some(list.into_iter().collect()))
}

/// Refuses attributes that the macro does not know, and second ones: they would vanish.
fn check_attributes(field: &Field) -> Result<()> {
    let mut seen: Vec<String> = Vec::new();
    for attribute in field.attrs.iter().filter(|a| !a.path().is_ident("doc")) {
        let name = attribute.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if !["register", "fields", "beside", "state", "on_read"].contains(&name.as_str())
            || seen.contains(&name)
        {
            let message = "a register has `#[register(..)]`, `#[fields(..)]`, `#[beside(..)]`, `#[state(..)]`, `#[on_read(..)]`, each once";
            return Err(Error::new_spanned(attribute, message));
        }
        seen.push(name);
    }
    Ok(())
}

impl Entry {
    pub fn read(field: &Field) -> Result<Self> {
        let Some(ident) = field.ident.clone() else {
            return Err(Error::new_spanned(field, "a register is a field with a name"));
        };
        let Some(attribute) = field.attrs.iter().find(|a| a.path().is_ident("register")) else {
            return Err(Error::new_spanned(&ident, "a register needs `#[register(\"NAME\", offset)]`"));
        };
        check_attributes(field)?;
        let place: Place = attribute.parse_args()?;
        let (kind, bits) = kind(&field.ty)?;
        let whole = || match kind {
            Kind::Fixed => Vec::new(),
            Kind::Strobe => vec![Bits { port: ident.clone(), lsb: 0, width: 1 }],
            _ => vec![Bits { port: ident.clone(), lsb: 0, width: bits }],
        };
        let fields = list(field, "fields")?;
        let state = list(field, "state")?.unwrap_or_default();
        let beside = list(field, "beside")?.unwrap_or_default();
        if !beside.is_empty() && (!matches!(kind, Kind::ReadWrite | Kind::ReadOnly) || fields.is_none()) {
            return Err(Error::new_spanned(
                &ident,
                "`#[beside(..)]` is for a ReadWrite or ReadOnly register with fields",
            ));
        }
        let own = fields.iter().flatten().cloned();
        let named: Vec<_> = beside.iter().cloned().chain(own).chain(state.iter().cloned()).collect();
        // The fields of what is no hardware are names for software.
        let ports = fields.filter(|_| kind != Kind::Fixed).unwrap_or_else(whole);
        if !state.is_empty() && !matches!(kind, Kind::Command | Kind::Strobe) {
            return Err(Error::new_spanned(
                &ident,
                "`#[state(..)]` is for a Command or Strobe: other registers show their fields",
            ));
        }
        if place.reserved.is_some() && kind != Kind::ReadWrite {
            return Err(Error::new_spanned(&ident, "`reserved` is for a ReadWrite register"));
        }
        if place.access.is_some() && kind != Kind::Strobe {
            return Err(Error::new_spanned(&ident, "`access` is for a Strobe register"));
        }
        let access = place.access.unwrap_or_else(|| match kind {
            Kind::Strobe if !state.is_empty() => Kind::Command.access(),
            _ => kind.access(),
        });
        if field.attrs.iter().any(|a| a.path().is_ident("fields")) && kind == Kind::Strobe {
            return Err(Error::new_spanned(&ident, "a Strobe register has no `#[fields(..)]`"));
        }
        for list in [&ports, &state, &named[..named.len() - state.len()].to_vec()] {
            let mut taken = 0u64;
            for part in list {
                let bits = ((1u64 << part.width) - 1) << part.lsb;
                if taken & bits != 0 {
                    return Err(Error::new_spanned(&part.port, "these bits are those of another field too"));
                }
                taken |= bits;
            }
        }
        for part in ports.iter().chain(&named) {
            if part.lsb + part.width > bits {
                return Err(Error::new_spanned(
                    &part.port,
                    format!("{} has {bits} bits", place.name.value()),
                ));
            }
        }
        if kind == Kind::Fixed && place.value.is_none() {
            return Err(Error::new_spanned(attribute, "a fixed register needs `value = expression`"));
        }
        let (reset, reset_of) = match place.reset {
            Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. })) => (number.base10_parse()?, None),
            other => (0, other),
        };
        let is_read = !matches!(kind, Kind::Fixed | Kind::WriteOnly) && access != "WriteOnly";
        if (reset != 0 || reset_of.is_some() || place.unset.is_some()) && !is_read {
            let message = "`reset` and `unset` are for a register that is read, and not fixed";
            return Err(Error::new_spanned(&ident, message));
        }
        if place.unset.is_some() && (reset != 0 || reset_of.is_some() || kind == Kind::ReadWrite) {
            let message =
                "a register has `reset` or `unset`, and one that keeps what the host wrote has a value";
            return Err(Error::new_spanned(&ident, message));
        }
        if reset_of.is_some() && kind == Kind::ReadWrite {
            let message = "the reset value of a ReadWrite register is a number";
            return Err(Error::new_spanned(&ident, message));
        }
        let beside = beside
            .iter()
            .fold(0, |mask, Bits { lsb, width, .. }| mask | (((1u64 << width) - 1) << lsb) as u32);
        let reserved: u32 = place.reserved.map(|bits| bits.base10_parse()).transpose()?.unwrap_or(0);
        let on_read = field.attrs.iter().find(|a| a.path().is_ident("on_read"));
        let description = doc(&field.attrs);
        if description.is_empty() {
            return Err(Error::new_spanned(&ident, "say in a doc comment what the register is"));
        }
        Ok(Self {
            field: ident,
            name: place.name.value(),
            offset: place.offset.base10_parse()?,
            kind,
            bits,
            reset,
            reset_of,
            unset: place.unset.map(|why| why.value()),
            reserved: reserved | beside,
            beside,
            access,
            value: place.value,
            description: description.strip_suffix('.').unwrap_or(&description).to_string(),
            ports,
            state,
            named,
            on_read: on_read.map(|a| a.parse_args()).transpose()?,
        })
    }

    /// The constant with the offset.
    pub fn at(&self) -> Ident {
        format_ident!("at_{}", self.field)
    }

    /// The comment of a port.
    pub fn port_doc(&self, bits: &Bits) -> String {
        let Self { name, description, .. } = self;
        let high = bits.lsb + bits.width - 1;
        let place = match bits.width {
            width if width == self.bits => String::new(),
            1 => format!(", bit {}", bits.lsb),
            _ => format!(", bits {high}:{}", bits.lsb),
        };
        match self.kind {
            Kind::WriteOnly | Kind::Command if self.state.iter().all(|s| s.port != bits.port) => {
                format!("A write to {name}{place}, for one cycle.\n\n{description}.")
            }
            Kind::Strobe if self.state.iter().all(|s| s.port != bits.port) => {
                format!("The host writes {name} in this cycle.\n\n{description}.")
            }
            _ if place.is_empty() && name.len() + self.first_sentence().len() <= PORT_COMMENT => {
                format!("{name}: {description}.")
            }
            _ => format!("Register {name}{place}.\n\n{description}."),
        }
    }

    fn first_sentence(&self) -> &str {
        self.description.split(". ").next().unwrap_or_default()
    }
}
