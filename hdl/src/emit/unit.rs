//! A unit between reading and writing: variables, statements and children.

use std::collections::{BTreeMap, HashMap};

use num_bigint::BigUint;
use rust_hdl::prelude::*;

use super::fields::{fields, Field};
use super::names::snake_case;
use super::node::{Node, VarId};
use super::port_groups::port_of;
use super::scope::{modulo, AtomInfo, Scope};
use super::unit_info::Primitive;
use super::EmitError;

/// What a variable is to its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Input,
    Output,
    Local,
    /// Input port of the child with this index.
    ChildInput(usize),
    /// Output port of the child with this index.
    ChildOutput(usize),
    /// Present value of the register with this index.
    Register(usize),
    /// Next value of the register with this index.
    Next(usize),
    /// Concatenation of the elements of a `Pack`.
    Packed,
    /// Element of a vector that is a variable of its own (see `elements`), with the value that it
    /// has at the end of the kernel.
    Element,
}

impl Role {
    /// A kernel drives it.
    pub fn driven_here(self) -> bool {
        !matches!(self, Role::Input | Role::ChildOutput(_) | Role::Register(_))
    }

    /// Reading it in the kernel gives what was assigned so far; otherwise the value at the end of
    /// the kernel.
    pub fn sequential(self) -> bool {
        matches!(self, Role::Local | Role::Output)
    }
}

/// A signal, or a `Vec` of signals as one vector with element 0 in the lowest bits.
#[derive(Clone, Debug)]
pub struct Var {
    /// Rust path inside the unit: `lane[3].x`.
    pub path: String,
    pub role: Role,
    pub count: usize,
    /// Bits of one element.
    pub width: usize,
    /// The fields of an element that is a struct.
    pub fields: Vec<Field>,
}

impl Var {
    pub fn bits(&self) -> usize {
        self.count * self.width
    }

    /// The path of the element that holds bit `lsb`.
    pub fn element_path(&self, lsb: usize) -> String {
        if self.count == 1 {
            self.path.clone()
        } else {
            format!("{}[{}]", self.path, lsb / self.width)
        }
    }
}

/// A register of the unit.
#[derive(Clone, Debug)]
pub struct Register {
    pub present: VarId,
    pub next: VarId,
    pub reset_value: BigUint,
    pub clock: Option<Node>,
    pub reset: Option<Node>,
}

/// A child instance: index of its module and its ports in the module's order.
#[derive(Clone, Debug)]
pub struct Child {
    /// Field name, with `$` before the index of a `Vec`.
    pub name: String,
    pub module: usize,
    pub ports: Vec<VarId>,
}

/// An assignment to some bits of a variable. `position` orders everything that the kernel executes.
#[derive(Clone, Debug)]
pub struct Assign {
    pub position: usize,
    pub var: VarId,
    pub lsb: usize,
    pub width: usize,
    pub value: Node,
}

/// A statement of a kernel, with loops unrolled.
#[derive(Clone, Debug)]
pub enum Stmt {
    Assign(Assign),
    If { position: usize, condition: Node, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    Case { position: usize, subject: Node, arms: Vec<(Node, Vec<Stmt>)>, default: Vec<Stmt> },
}

/// Where a name of the kernel leads.
#[derive(Clone, Debug)]
pub enum Target {
    Bits { var: VarId, lsb: usize, width: usize, signed: bool },
    Constant { value: BigUint, width: usize, signed: bool, name: Option<String> },
    RegisterClock(usize),
    RegisterReset(usize),
}

/// A unit: its variables by name, registers, children.
#[derive(Debug, Default)]
pub struct Unit {
    /// Path from the top, for messages.
    pub path: String,
    pub vars: Vec<Var>,
    pub registers: Vec<Register>,
    pub children: Vec<Child>,
    pub targets: HashMap<String, Target>,
    /// Constants that may become localparams: name and value.
    pub localparams: BTreeMap<String, (BigUint, usize)>,
    pub statements: Vec<Stmt>,
    /// Comments in front of statements, by their position.
    pub comments: BTreeMap<usize, Vec<String>>,
    /// Conditions that hold at each edge without reset: name, and value of one bit.
    pub always: Vec<(String, Node)>,
}

/// `x$3` is element 3 of `x`; any other name is no element.
pub fn split_element(name: &str) -> (&str, Option<usize>) {
    match name.rsplit_once('$') {
        Some((base, index)) => match index.parse() {
            Ok(index) => (base, Some(index)),
            Err(_) => (name, None),
        },
        None => (name, None),
    }
}

/// The Rust path of a name with `$`: `lane$0$x` is `lane[0].x`.
pub fn rust_path(name: &str) -> String {
    let mut text = String::new();
    for (i, part) in name.split('$').enumerate() {
        if part.parse::<usize>().is_ok() {
            text.push_str(&format!("[{part}]"));
        } else {
            text.push_str(if i == 0 { "" } else { "." });
            text.push_str(part);
        }
    }
    text
}

/// Groups the elements of every `Vec` of signals, and the signals of every `Vec` of port groups:
/// name of the port, and its elements in order.
pub fn group_elements(scope: &Scope) -> Vec<(String, Vec<&AtomInfo>)> {
    let mut groups: Vec<(String, Vec<&AtomInfo>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for atom in &scope.atoms {
        let (base, index) = split_element(&atom.name);
        let port = port_of(&scope.group_vectors, base);
        let is_element = index.is_some() || port != base;
        match known.get(&port) {
            Some(&group) if is_element => groups[group].1.push(atom),
            _ => {
                known.insert(port.clone(), groups.len());
                groups.push((port, vec![atom]));
            }
        }
    }
    groups
}

impl Unit {
    /// The full path of something in this unit.
    pub fn full_path(&self, path: &str) -> String {
        format!("{}.{path}", self.path)
    }

    /// The full path of the element of `var` at `lsb`.
    pub fn var_path(&self, var: VarId, lsb: usize) -> String {
        self.full_path(&self.vars[var].element_path(lsb))
    }

    fn add_var(&mut self, name: &str, elements: &[&AtomInfo], role: Role, prefix: &str) -> VarId {
        let var = self.vars.len();
        let first = elements[0];
        let full = format!("{prefix}{name}");
        // A `Pack` joins its inputs without regard to what they are.
        let fields = if role == Role::Packed { Vec::new() } else { fields(&first.ty) };
        let (path, count, width) = (rust_path(&full), elements.len(), first.width);
        self.vars.push(Var { path, role, count, width, fields });
        for (i, atom) in elements.iter().enumerate() {
            let (lsb, width, signed) = (i * first.width, first.width, first.signed());
            self.targets.insert(format!("{prefix}{}", atom.name), Target::Bits { var, lsb, width, signed });
        }
        var
    }

    fn add_states(&mut self, ty: &TypeDescriptor) {
        match &ty.kind {
            TypeKind::Enum(labels) => {
                let width = clog2(labels.len());
                for (value, label) in labels.iter().enumerate() {
                    let name = label
                        .split("::")
                        .map(|w| snake_case(w).to_ascii_uppercase())
                        .collect::<Vec<_>>()
                        .join("_");
                    let value = BigUint::from(value);
                    let target = Target::Constant { value, width, signed: false, name: Some(name) };
                    self.targets.insert(label.replace("::", "$"), target);
                }
            }
            TypeKind::Composite(fields) => fields.iter().for_each(|f| self.add_states(&f.kind)),
            TypeKind::Bits(_) | TypeKind::Signed(_) => {}
        }
    }

    /// The variables, registers and children of `scope`, without its statements. `module` gives the
    /// index of a child's module.
    pub fn declare(
        scope: &Scope,
        path: &str,
        mut module: impl FnMut(&Scope, &str) -> Result<usize, EmitError>,
    ) -> Result<Self, EmitError> {
        let mut unit = Unit { path: path.to_string(), ..Unit::default() };
        unit.check_lets(scope)?;
        for (name, elements) in group_elements(scope) {
            unit.declare_field(&name, &elements)?;
        }
        for child in &scope.children {
            let prefix = format!("{}$", child.name);
            child.atoms.iter().for_each(|a| unit.add_states(&a.ty));
            match &child.primitive {
                Some(Primitive::Register { reset_value }) => {
                    unit.declare_register(child, &prefix, reset_value)?;
                }
                Some(Primitive::Pack) => unit.declare_pack(child, &prefix),
                _ => {
                    let child_path = unit.full_path(&rust_path(&child.name));
                    let module = module(child, &child_path)?;
                    unit.declare_child(child, &prefix, module)?;
                }
            }
        }
        Ok(unit)
    }

    fn check_width(&self, path: &str, atom: &AtomInfo) -> Result<(), EmitError> {
        if atom.width == 0 {
            return Err(EmitError::unsupported(
                self.full_path(path),
                "has no bits, which Verilog cannot express",
            ));
        }
        Ok(())
    }

    /// Refuses a `let` with the name of a field: its elements would be those of the field.
    fn check_lets(&self, scope: &Scope) -> Result<(), EmitError> {
        let Some(description) = &scope.description else { return Ok(()) };
        for local in description.locals.list() {
            let name = local.name.split('$').next().unwrap_or_default();
            if description.fields.iter().any(|(field, _)| field == name) {
                let what = "is a field and a `let`: give one of them another name";
                return Err(EmitError::unsupported(self.full_path(name), what));
            }
        }
        Ok(())
    }

    fn declare_field(&mut self, name: &str, elements: &[&AtomInfo]) -> Result<(), EmitError> {
        self.check_width(&rust_path(name), elements[0])?;
        self.add_states(&elements[0].ty);
        let role = match elements[0].kind {
            AtomKind::InputParameter => Role::Input,
            AtomKind::OutputParameter => Role::Output,
            AtomKind::LocalSignal => Role::Local,
            AtomKind::Constant => {
                for atom in elements {
                    let target = Target::Constant {
                        value: modulo(&atom.value, atom.width),
                        width: atom.width,
                        signed: atom.signed(),
                        name: Some(atom.name.replace('$', "_").to_ascii_uppercase()),
                    };
                    self.targets.insert(atom.name.clone(), target);
                }
                return Ok(());
            }
            _ => {
                let path = self.full_path(&rust_path(name));
                return Err(EmitError::unsupported(path, "only In, Out and Local signals translate"));
            }
        };
        self.add_var(name, elements, role, "");
        Ok(())
    }

    fn declare_register(&mut self, child: &Scope, prefix: &str, reset_value: &str) -> Result<(), EmitError> {
        let index = self.registers.len();
        let find = |name: &str| child.atoms.iter().find(|a| a.name == name);
        let (Some(d), Some(q)) = (find("d"), find("q")) else {
            return Err(EmitError::NotAUnit { path: self.full_path(&rust_path(&child.name)) });
        };
        self.check_width(&rust_path(&child.name), q)?;
        let present = self.add_var("q", &[q], Role::Register(index), prefix);
        let next = self.add_var("d", &[d], Role::Next(index), prefix);
        self.targets.insert(format!("{prefix}clock"), Target::RegisterClock(index));
        self.targets.insert(format!("{prefix}reset"), Target::RegisterReset(index));
        let reset_value = BigUint::parse_bytes(reset_value.as_bytes(), 16).unwrap_or_default();
        self.registers.push(Register { present, next, reset_value, clock: None, reset: None });
        Ok(())
    }

    fn declare_pack(&mut self, child: &Scope, prefix: &str) {
        let inputs: Vec<&AtomInfo> = child.atoms.iter().filter(|a| a.name != "y").collect();
        if let Some(y) = child.atoms.iter().find(|a| a.name == "y") {
            if inputs.is_empty() {
                return;
            }
            let var = self.add_var("x", &inputs, Role::Packed, prefix);
            let target = Target::Bits { var, lsb: 0, width: y.width, signed: false };
            self.targets.insert(format!("{prefix}y"), target);
        }
    }

    fn declare_child(&mut self, child: &Scope, prefix: &str, module: usize) -> Result<(), EmitError> {
        let index = self.children.len();
        let mut ports = Vec::new();
        for (name, elements) in group_elements(child) {
            let role = match elements[0].kind {
                AtomKind::InputParameter => Role::ChildInput(index),
                AtomKind::OutputParameter => Role::ChildOutput(index),
                AtomKind::LocalSignal | AtomKind::Constant => continue,
                _ => {
                    let path = self.full_path(&rust_path(&format!("{prefix}{name}")));
                    return Err(EmitError::unsupported(path, "only In and Out ports translate"));
                }
            };
            ports.push(self.add_var(&name, &elements, role, prefix));
        }
        self.children.push(Child { name: child.name.clone(), module, ports });
        Ok(())
    }
}
