//! Units made at run time, from a syntax tree instead of a struct.

use rust_hdl::prelude::ast::VerilogBlock;
use rust_hdl::prelude::*;

use crate::emit::unit_info::Primitive;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ty {
    pub width: usize,
    pub signed: bool,
}

impl Ty {
    pub fn bits(width: usize) -> Self {
        Self { width, signed: false }
    }
}

/// A signal of a made-up unit.
#[derive(Clone, Debug)]
pub struct FakeSignal {
    pub name: String,
    pub kind: AtomKind,
    pub ty: Ty,
}

impl Atom for FakeSignal {
    fn bits(&self) -> usize {
        self.ty.width
    }
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        self.kind
    }
    fn descriptor(&self) -> TypeDescriptor {
        let width = self.ty.width;
        let kind = if self.ty.signed { TypeKind::Signed(width) } else { TypeKind::Bits(width) };
        TypeDescriptor { name: "fake".to_string(), kind }
    }
    fn vcd(&self) -> VCDValue {
        VCDValue::String(String::new())
    }
    fn id(&self) -> usize {
        0
    }
    fn verilog(&self) -> VerilogLiteral {
        false.into()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}

/// A register of a made-up unit.
#[derive(Clone, Debug)]
pub struct FakeRegister {
    pub name: String,
    pub ty: Ty,
    pub reset_value: u64,
}

impl Logic for FakeRegister {
    fn update(&mut self) {}
    fn timing(&self) -> Vec<TimingInfo> {
        Primitive::Register { reset_value: format!("{:x}", self.reset_value) }.into_timing()
    }
}

impl Block for FakeRegister {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {}
    fn has_changed(&self) -> bool {
        false
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        let bit = Ty::bits(1);
        let ports = [
            ("clock", AtomKind::InputParameter, bit),
            ("reset", AtomKind::InputParameter, bit),
            ("d", AtomKind::InputParameter, self.ty),
            ("q", AtomKind::OutputParameter, self.ty),
        ];
        for (name, kind, ty) in ports {
            probe.visit_atom(name, &FakeSignal { name: name.to_string(), kind, ty });
        }
        probe.visit_end_scope(name, self);
    }
}

/// A made-up unit.
#[derive(Clone, Debug, Default)]
pub struct FakeUnit {
    pub signals: Vec<FakeSignal>,
    pub registers: Vec<FakeRegister>,
    /// Child units by their names.
    pub children: Vec<(String, FakeUnit)>,
    pub code: VerilogBlock,
}

impl FakeUnit {
    pub fn add(&mut self, name: impl Into<String>, kind: AtomKind, ty: Ty) {
        self.signals.push(FakeSignal { name: name.into(), kind, ty });
    }
}

impl Logic for FakeUnit {
    fn update(&mut self) {}
    fn hdl(&self) -> Verilog {
        Verilog::Combinatorial(self.code.clone())
    }
}

impl Block for FakeUnit {
    fn connect_all(&mut self) {}
    fn update_all(&mut self) {}
    fn has_changed(&self) -> bool {
        false
    }
    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        for signal in &self.signals {
            probe.visit_atom(&signal.name, signal);
        }
        for register in &self.registers {
            register.accept(&register.name, probe);
        }
        for (name, child) in &self.children {
            child.accept(name, probe);
        }
        probe.visit_end_scope(name, self);
    }
}
