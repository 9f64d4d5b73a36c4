//! The `let`s of a kernel: names, and types as the compiler finds them.
//!
//! `#[hdl_gen]` writes calls to the functions of this module. None of them runs a closure that it
//! is given: it is there for its type.

use std::collections::HashSet;
use std::ops::Range;

use rust_hdl::prelude::{Synth, TypeDescriptor, TypeField, TypeKind};
use serde::{Deserialize, Serialize};

/// What a `let` of a kernel can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no hardware value",
    label = "a `let` of a kernel holds a `Bit`, `Bits<N>`, a struct or an enum",
    note = "say how many bits a number has: `bits::<4>(1)`"
)]
pub trait HardwareValue: Synth {}

impl<T: Synth> HardwareValue for T {}

/// A type as rust-hdl describes it, in a form that can be sent as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Bits(usize),
    Signed(usize),
    Enum(Vec<String>),
    Composite(Vec<(String, Shape)>),
}

/// A named type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Shape {
    name: String,
    kind: Kind,
}

impl From<&TypeDescriptor> for Shape {
    fn from(ty: &TypeDescriptor) -> Self {
        let kind = match &ty.kind {
            TypeKind::Bits(width) => Kind::Bits(*width),
            TypeKind::Signed(width) => Kind::Signed(*width),
            TypeKind::Enum(states) => Kind::Enum(states.clone()),
            TypeKind::Composite(fields) => {
                Kind::Composite(fields.iter().map(|f| (f.fieldname.clone(), Shape::from(&f.kind))).collect())
            }
        };
        Self { name: ty.name.clone(), kind }
    }
}

impl Shape {
    fn descriptor(&self) -> TypeDescriptor {
        let kind = match &self.kind {
            Kind::Bits(width) => TypeKind::Bits(*width),
            Kind::Signed(width) => TypeKind::Signed(*width),
            Kind::Enum(states) => TypeKind::Enum(states.clone()),
            Kind::Composite(fields) => TypeKind::Composite(
                fields
                    .iter()
                    .map(|(name, shape)| {
                        Box::new(TypeField { fieldname: name.clone(), kind: shape.descriptor() })
                    })
                    .collect(),
            ),
        };
        TypeDescriptor { name: self.name.clone(), kind }
    }
}

/// A `let` of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local {
    /// Its name; with `$` and an index for one in a loop.
    pub name: String,
    /// Bits.
    pub width: usize,
    shape: Shape,
}

impl Local {
    /// The type, as rust-hdl describes it.
    #[must_use]
    pub fn descriptor(&self) -> TypeDescriptor {
        self.shape.descriptor()
    }
}

/// The `let`s of a kernel, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locals(Vec<Local>);

impl Locals {
    /// Notes a `let`, one element for each turn of the loops around it (`counts`, the outermost
    /// first), and returns a value of its type.
    pub fn declare<T: HardwareValue>(&mut self, name: &str, counts: &[usize]) -> T {
        self.note(name, counts, T::BITS, T::descriptor);
        T::default()
    }

    #[inline(never)]
    fn note(&mut self, name: &str, counts: &[usize], width: usize, descriptor: fn() -> TypeDescriptor) {
        let mut names = vec![name.to_string()];
        for count in counts {
            names = names.iter().flat_map(|n| (0..*count).map(move |i| format!("{n}${i}"))).collect();
        }
        let shape = Shape::from(&descriptor());
        self.0.extend(names.into_iter().map(|name| Local { name, width, shape: shape.clone() }));
    }

    /// The `let`s.
    #[must_use]
    pub fn list(&self) -> &[Local] {
        &self.0
    }

    /// A name that two of them have.
    pub(super) fn twice(&self) -> Option<&str> {
        let mut names = HashSet::new();
        self.0.iter().map(|local| local.name.as_str()).find(|name| !names.insert(*name))
    }

    /// The form in which they travel: one text for each.
    pub(super) fn to_text(&self) -> Vec<String> {
        let text = |local| serde_json::to_string(local).expect("a local is plain data");
        self.0.iter().map(text).collect()
    }

    /// Reads what [`to_text`](Self::to_text) wrote.
    pub(super) fn from_text(text: &[String]) -> Self {
        let local = |line: &String| serde_json::from_str(line).expect("`to_text` wrote it");
        Self(text.iter().map(local).collect())
    }
}

/// A value of the type of `value`.
pub fn stand_in<T: Default>(_value: impl FnOnce() -> T) -> T {
    T::default()
}

/// The bits of the type of `value`.
pub fn width<T: Synth>(_value: impl FnOnce() -> T) -> usize {
    T::BITS
}

/// The first number of a loop: it has the type of the loop's variable.
pub fn first<T>(range: Range<T>) -> T {
    range.start
}

/// The end of a loop that begins at 0: the number of its turns.
///
/// # Panics
/// If it is negative.
pub fn count<T>(end: T) -> usize
where
    usize: TryFrom<T>,
{
    usize::try_from(end).unwrap_or_else(|_| panic!("a loop of a kernel ends below 0"))
}
