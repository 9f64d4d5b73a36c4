//! Reads a rust-hdl block into a plain tree.

use std::collections::BTreeSet;

use num_bigint::{BigInt, Sign};
use rust_hdl::prelude::*;

use super::port_groups::GroupNames;
use super::unit::rust_path;
use super::unit_info::{Description, Primitive};

/// A signal or constant of a unit.
#[derive(Clone, Debug)]
pub struct AtomInfo {
    /// Field name; `field$3` for an element of a `Vec`, `bus$valid` for a field of an interface or
    /// of a port group.
    pub name: String,
    pub kind: AtomKind,
    pub width: usize,
    pub ty: TypeDescriptor,
    /// Present value: the value of a constant.
    pub value: BigInt,
}

impl AtomInfo {
    pub fn signed(&self) -> bool {
        matches!(self.ty.kind, TypeKind::Signed(_))
    }
}

/// A unit with its signals, children and kernel.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Field name in its owner; `lane$0` for an element of a `Vec`.
    pub name: String,
    pub atoms: Vec<AtomInfo>,
    pub children: Vec<Scope>,
    pub code: Verilog,
    pub description: Option<Description>,
    pub primitive: Option<Primitive>,
    /// Its vectors of port groups, by name.
    pub group_vectors: BTreeSet<String>,
}

/// The value of a rust-hdl literal, which only shows it as text.
pub fn literal_value(literal: &VerilogLiteral) -> BigInt {
    let text = format!("{literal:x}");
    let digits = text.split_once("'h").map_or("0", |(_, digits)| digits);
    BigInt::parse_bytes(digits.as_bytes(), 16).unwrap_or_default()
}

/// `value` as an unsigned number of `width` bits (two's complement).
pub fn modulo(value: &BigInt, width: usize) -> num_bigint::BigUint {
    let modulus = BigInt::from(1) << width;
    let rest = value % &modulus;
    let rest = if rest.sign() == Sign::Minus { rest + modulus } else { rest };
    rest.magnitude().clone()
}

#[derive(Default)]
struct Reader {
    open: Vec<(Scope, GroupNames)>,
    root: Option<Scope>,
}

impl Probe for Reader {
    fn visit_start_scope(&mut self, name: &str, node: &dyn Block) {
        let timing = node.timing();
        let primitive = Primitive::from_timing(&timing);
        let has_text = !matches!(primitive, Some(Primitive::Register { .. } | Primitive::Pack));
        let scope = Scope {
            name: name.to_string(),
            atoms: Vec::new(),
            children: Vec::new(),
            code: if has_text { node.hdl() } else { Verilog::Empty },
            description: Description::from_timing(&timing),
            primitive,
            group_vectors: BTreeSet::new(),
        };
        self.open.push((scope, GroupNames::default()));
    }

    fn visit_start_namespace(&mut self, name: &str, node: &dyn Block) {
        let Some((scope, groups)) = self.open.last_mut() else { return };
        groups.start(name, node);
        if let (Some(group), Some(owner)) = (Description::from_timing(&node.timing()), &mut scope.description)
        {
            owner.add_group(&rust_path(&groups.path()), group);
        }
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let Some((scope, groups)) = self.open.last_mut() else { return };
        scope.atoms.push(AtomInfo {
            name: groups.qualified(name),
            kind: signal.kind(),
            width: signal.bits(),
            ty: signal.descriptor(),
            value: literal_value(&signal.verilog()),
        });
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        if let Some((_, groups)) = self.open.last_mut() {
            groups.end();
        }
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        let Some((mut scope, groups)) = self.open.pop() else { return };
        scope.group_vectors = groups.into_vectors();
        let locals = scope.description.iter().flat_map(|d| d.locals.list());
        scope.atoms.extend(locals.map(|local| AtomInfo {
            name: local.name.clone(),
            kind: AtomKind::LocalSignal,
            width: local.width,
            ty: local.descriptor(),
            value: BigInt::default(),
        }));
        match self.open.last_mut() {
            Some((owner, _)) => owner.children.push(scope),
            None => self.root = Some(scope),
        }
    }
}

/// Reads `unit`; `None` if it is not a unit but a single signal.
pub fn read(unit: &dyn Block, name: &str) -> Option<Scope> {
    let mut reader = Reader::default();
    unit.accept(name, &mut reader);
    reader.root
}
