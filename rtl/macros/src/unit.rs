//! The unit that decodes a block of registers.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::Visibility;

use crate::entry::{number, Bits, Entry, Kind};

/// What stands in the struct and in the kernel for one register.
#[derive(Default)]
struct Parts {
    fields: TokenStream,
    /// Before the register is looked up.
    before: TokenStream,
    /// What is read, where its address is known to match.
    read: TokenStream,
    /// What a write does, and what the ports get.
    after: TokenStream,
}

/// Whether the unit keeps something.
fn is_clocked(entries: &[Entry]) -> bool {
    entries.iter().any(|e| matches!(e.kind, Kind::ReadWrite | Kind::WriteOnly | Kind::Command))
}

/// The value of a register from its ports, where it is read.
fn read_ports(ports: &[Bits]) -> TokenStream {
    let wide: Vec<_> = ports
        .iter()
        .filter(|p| p.width > 1)
        .map(|Bits { port, lsb, width }| {
            let (bits, shift) = (number(*width), number(*lsb));
            let value = match width {
                32 => quote!(self.hardware.#port.val()),
                _ => quote!(bit_cast::<32, #bits>(self.hardware.#port.val())),
            };
            match lsb {
                0 => value,
                _ => quote!((#value << bits::<6>(#shift))),
            }
        })
        .collect();
    let single: Vec<_> = ports.iter().filter(|p| p.width == 1).collect();
    let mut text = if wide.is_empty() { TokenStream::new() } else { quote!(value = #(#wide)|*;) };
    for Bits { port, lsb, .. } in &single {
        let one = 1u64 << lsb;
        let others = (ports.len() > 1).then(|| quote!(value |));
        text.extend(quote!(if self.hardware.#port.val() { value = #others bits::<32>(#one); }));
    }
    text
}

/// Some bits of a 32-bit value or of one with `from` bits.
fn slice(value: &TokenStream, from: usize, bits: &Bits) -> TokenStream {
    let (lsb, width) = (number(bits.lsb), number(bits.width));
    match bits.width {
        1 => quote!(#value.get_bit(#lsb)),
        all if all == from => quote!(#value),
        _ => quote!(#value.get_bits::<#width>(#lsb)),
    }
}

fn storage(entry: &Entry, parts: &mut Parts) {
    let (at, bits, reset) = (entry.at(), number(entry.bits), u64::from(entry.reset));
    let kept = format_ident!("{}_value", entry.field);
    parts.fields.extend(quote! {
        #[init(Register::new(#reset.into()))]
        #kept: Register<Bits<#bits>>,
    });
    let (read, written) = if entry.bits == 32 {
        (quote!(self.#kept.q.val()), quote!(written))
    } else if entry.reserved == 0 {
        (quote!(bit_cast::<32, #bits>(self.#kept.q.val())), quote!(bit_cast::<#bits, 32>(written)))
    } else {
        let kept_bits = u64::from(!entry.reserved);
        (
            quote!(bit_cast::<32, #bits>(self.#kept.q.val())),
            quote!(bit_cast::<#bits, 32>(written & bits::<32>(#kept_bits))),
        )
    };
    parts.read.extend(quote!(value = #read;));
    parts.after.extend(quote! {
        if self.request.write.val() && (self.request.address.val() == self.#at.val()) {
            self.#kept.d.next = #written;
        }
    });
    for part in &entry.ports {
        let (port, value) = (&part.port, slice(&quote!(self.#kept.q.val()), entry.bits, part));
        parts.after.extend(quote!(self.hardware.#port.next = #value;));
    }
}

fn events(entry: &Entry, parts: &mut Parts) {
    let at = entry.at();
    let hit = quote!(self.request.write.val() && (self.request.address.val() == self.#at.val()));
    for part in &entry.ports {
        let (port, ty, kept) = (&part.port, part.ty(), format_ident!("{}_event", part.port));
        let value = slice(&quote!(event_data), 32, part);
        parts.fields.extend(quote!(#kept: Register<#ty>,));
        parts.after.extend(if part.width == 1 {
            quote!(self.#kept.d.next = #hit && #value;)
        } else {
            let width = number(part.width);
            quote! {
                self.#kept.d.next = bits::<#width>(0);
                if #hit {
                    self.#kept.d.next = #value;
                }
            }
        });
        parts.after.extend(quote!(self.hardware.#port.next = self.#kept.q.val();));
    }
}

fn parts(entry: &Entry, selected: bool) -> Parts {
    let mut parts = Parts::default();
    let (at, offset, field) = (entry.at(), u64::from(entry.offset), &entry.field);
    parts.fields.extend(quote! {
        #[init(Constant::new(#offset.into()))]
        #at: Constant<Bits<12>>,
    });
    match entry.kind {
        Kind::ReadWrite => storage(entry, &mut parts),
        Kind::ReadOnly if selected => {
            let shown = format_ident!("selected_{field}");
            parts.before.extend(quote!(let mut #shown = bits::<32>(0);));
            parts.read.extend(quote!(value = #shown;));
        }
        Kind::ReadOnly => parts.read.extend(read_ports(&entry.ports)),
        Kind::Fixed => {
            let fixed = format_ident!("{field}_value");
            let (name, bits) = (&entry.name, entry.bits);
            parts.fields.extend(quote! {
                #[init(Constant::new(crate::host::registers::fit(#name, #field, #bits).into()))]
                #fixed: Constant<Bits<32>>,
            });
            parts.read.extend(quote!(value = self.#fixed.val();));
        }
        Kind::WriteOnly => events(entry, &mut parts),
        Kind::Strobe => {
            let port = &entry.field;
            parts.read.extend(read_ports(&entry.state));
            parts.after.extend(quote! {
                self.hardware.#port.next =
                    self.request.write.val() && (self.request.address.val() == self.#at.val());
            });
        }
        Kind::Command => {
            parts.read.extend(read_ports(&entry.state));
            events(entry, &mut parts);
        }
    }
    if let Some(port) = &entry.on_read {
        parts.after.extend(quote! {
            self.hardware.#port.next =
                self.request.read.val() && (self.request.address.val() == self.#at.val());
        });
    }
    parts
}

/// The unit `name` of the block with the port group `group`; `selected` shows the group of one of
/// several, at a time.
pub fn expand(
    name: &Ident,
    group: &Ident,
    visibility: &Visibility,
    entries: &[Entry],
    selected: bool,
) -> TokenStream {
    let parts: Vec<Parts> = entries.iter().map(|entry| parts(entry, selected)).collect();
    let fields = parts.iter().map(|p| &p.fields);
    let before = parts.iter().map(|p| &p.before);
    let after = parts.iter().map(|p| &p.after);
    let lookups = entries.iter().zip(&parts).map(|(entry, Parts { read, .. })| {
        let at = entry.at();
        quote! {
            if self.request.address.val() == self.#at.val() {
                known = true;
                #read
            }
        }
    });
    let clock = is_clocked(entries).then(|| {
        quote! {
            /// Rising-edge clock.
            pub clock: Signal<In, Clock>,
            /// Synchronous reset, active high: every register takes its reset value.
            pub reset: Signal<In, Bit>,
        }
    });
    let arguments: Vec<_> = entries.iter().filter(|e| e.kind == Kind::Fixed).map(|e| &e.field).collect();
    let written = entries.iter().any(|e| e.kind == Kind::ReadWrite).then(|| {
        quote! {
            let written = (value & !self.request.mask.val()) | (self.request.data.val() & self.request.mask.val());
        }
    });
    let event = entries
        .iter()
        .any(|e| matches!(e.kind, Kind::WriteOnly | Kind::Command))
        .then(|| quote!(let event_data = self.request.data.val() & self.request.mask.val();));
    let (new, constructor) = match (selected, arguments.is_empty()) {
        (true, _) => (
            quote!(#[new(count: usize)]),
            quote! {
                /// The registers of `count` groups, of which one is shown.
                pub fn new(count: usize) -> Self {
                    Self::wired(count)
                }
            },
        ),
        (false, false) => (
            quote!(#[new(#(#arguments: u32),*)]),
            quote! {
                /// The registers, with the values of those that are fixed.
                pub fn new(#(#arguments: u32),*) -> Self {
                    Self::wired(#(#arguments),*)
                }
            },
        ),
        (false, true) => (TokenStream::new(), TokenStream::new()),
    };
    let (ports, choice) = if selected {
        let shown = entries.iter().map(|e| format_ident!("selected_{}", e.field));
        let read = entries.iter().map(|e| &e.field);
        (
            quote! {
                /// The group whose registers are shown; those of a group that is not there read as
                /// zero.
                pub select: Signal<In, Bits<5>>,
                /// The hardware.
                #[count(count)]
                pub hardware: Vec<unit_info::Flipped<#group>>,
                #[init(crate::blocks::indices(count))]
                index: Vec<Constant<Bits<5>>>,
                #[init(count)]
                _count: usize,
            },
            quote! {
                for i in 0..self._count {
                    if self.select.val() == self.index[i].val() {
                        #(#shown = self.hardware[i].#read.val();)*
                    }
                }
            },
        )
    } else {
        (
            quote! {
                /// The hardware.
                pub hardware: unit_info::Flipped<#group>,
            },
            TokenStream::new(),
        )
    };
    let text = format!(
        "The registers of `{group}`.\n\n\
         `answer` answers `request` in the same cycle: it is all low if no register of this unit is at the address.\n\
         A write takes effect at the edge; ports of `hardware` for events are high in the cycle behind it."
    );
    quote! {
        #[doc = #text]
        #[derive(Clone, LogicBlock)]
        #new
        #visibility struct #name {
            #clock
            /// From the bus.
            pub request: crate::ports::RegisterRequest,
            /// To the bus.
            pub answer: crate::ports::RegisterAnswer,
            #ports
            #(#fields)*
        }

        impl #name {
            #constructor
        }

        impl Logic for #name {
            #[hdl_gen]
            #[allow(unused_mut)]
            fn update(&mut self) {
                #(#before)*
                #choice
                let mut known = false;
                let mut value = bits::<32>(0);
                #(#lookups)*
                self.answer.known.next = known;
                self.answer.value.next = value;
                self.answer.delay.next = false;
                #written
                #event
                #(#after)*
            }
        }
    }
}
