//! What a unit tells the back end about itself, beyond its signals and kernel.
//!
//! A `&dyn Block` shows neither type name nor doc comment, so this crate's `LogicBlock` and
//! `hdl_gen` send them through `Logic::timing`, which the units do not use otherwise.

use num_bigint::{BigInt, BigUint};
use rust_hdl::prelude::{
    Atom, AtomKind, Bits, Block, Clock, In, InOut, Out, Probe, Signal, Signed, Synth, TimingInfo,
    VerilogLiteral,
};

use super::scope::{literal_value, modulo};

pub use super::activity::{
    is_first, pass_unit, Activity, AnyChange, Changed, ChangedOutside, Fields, Pass, Poll, Question, Settle,
    Unit, Update,
};
pub use super::connection::{connections, Clocked, Connect, Links};
pub use super::locals::{count, first, stand_in, width, HardwareValue, Local, Locals};
#[cfg(feature = "mutants")]
pub use super::mutants::is_mutant;
pub use super::part::Part;
pub use super::port_groups::{Flipped, PortGroup};
pub use super::tree::Tree;
pub use super::visit::{accept, show};

/// Marks the entries of `Logic::timing` that are not timing.
const DESCRIPTION: &str = "hermes description";
const PRIMITIVE: &str = "hermes primitive";

/// A unit's type, documentation, parameters and the constants that its kernel names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Type name with its path and parameters, as the compiler gives it.
    pub type_name: String,
    /// Doc comment of the struct.
    pub doc: String,
    /// Source file of the struct, from the folder of the workspace or crate on: [`source_path`].
    pub source: String,
    /// Doc comments of its fields, by name.
    pub fields: Vec<(String, String)>,
    /// Values of integer fields that begin with `_` and of const parameters, by name.
    pub parameters: Vec<(String, BigInt)>,
    /// Values of constants named in the kernel.
    pub constants: Vec<(String, BigInt)>,
    /// `let`s of the kernel.
    pub locals: Locals,
    /// Doc comments of the port groups among the fields, by path; the back end adds them.
    pub groups: Vec<(String, String)>,
    /// Handshakes that are held, by path: valid, ready, and what goes with them.
    pub held: Vec<Vec<String>>,
    /// Outputs that are one-hot or zero, by path.
    pub one_hot: Vec<String>,
    /// Pairs of ports that are never both high at an edge.
    pub never: Vec<Vec<String>>,
    /// Names of the parts that may be absent and are there.
    pub parts: Vec<String>,
    /// A group of ports whose elements in a `Vec` have ports of their own.
    pub separate: bool,
}

impl Description {
    /// The description that `say` makes, in the form in which `Logic::timing` carries it.
    #[must_use]
    pub fn timing(say: impl FnOnce(&mut Self)) -> Vec<TimingInfo> {
        let mut description = Self::default();
        say(&mut description);
        description.into_timing()
    }

    /// Notes the struct: its type, its comment, its source file as `file!()` gives it, its fields
    /// with their comments.
    #[inline(never)]
    pub fn unit(&mut self, type_name: &str, doc: &str, file: &str, fields: &[(&str, &str)]) {
        self.type_name = type_name.to_string();
        self.doc = doc.to_string();
        self.source = source_path(file);
        self.fields = fields.iter().map(|(name, doc)| ((*name).to_string(), (*doc).to_string())).collect();
    }

    /// Notes a parameter of the struct.
    pub fn parameter(&mut self, name: &str, value: impl Integer) {
        self.parameters.push((name.to_string(), value.value()));
    }

    /// Notes a constant that the kernel names.
    pub fn constant(&mut self, name: &str, value: impl Integer) {
        self.constants.push((name.to_string(), value.value()));
    }

    /// Notes that the first of `names` stays until the second, and the others with it.
    pub fn held(&mut self, names: &[&str]) {
        self.held.push(names.iter().map(|name| (*name).to_string()).collect());
    }

    /// Notes that at most one bit of an output is set.
    pub fn one_hot(&mut self, name: &str) {
        self.one_hot.push(name.to_string());
    }

    /// Notes that two ports are never both high at an edge.
    pub fn never(&mut self, names: &[&str]) {
        self.never.push(names.iter().map(|name| (*name).to_string()).collect());
    }

    /// Notes a part that is there.
    pub fn part(&mut self, name: &str, is_there: bool) {
        self.parts.extend(is_there.then(|| name.to_string()));
    }

    /// Notes that the elements of a `Vec` of this group have ports of their own.
    pub fn separate(&mut self) {
        self.separate = true;
    }

    /// Adds the comments of the port group at `path` and of its ports, and what it promises.
    pub fn add_group(&mut self, path: &str, group: Self) {
        if self.groups.iter().all(|(known, _)| known != path) {
            self.groups.push((path.to_string(), group.doc));
            let at = |name: String| format!("{path}.{name}");
            self.held.extend(group.held.into_iter().map(|names| names.into_iter().map(at).collect()));
            self.fields.extend(group.fields.into_iter().map(|(name, doc)| (format!("{path}.{name}"), doc)));
        }
    }

    #[inline(never)]
    fn into_timing(self) -> Vec<TimingInfo> {
        let numbers = |list: Vec<(String, BigInt)>| list.into_iter().map(|(n, v)| format!("{n}={v}"));
        let mut inputs = vec![self.doc, self.source];
        inputs.extend(self.fields.into_iter().map(|(name, doc)| format!("{name}={doc}")));
        let mut outputs: Vec<String> = numbers(self.parameters).collect();
        outputs.push(String::new());
        outputs.extend(numbers(self.constants));
        outputs.push(String::new());
        outputs.extend(self.locals.to_text());
        outputs.push(String::new());
        outputs.extend(self.held.iter().map(|names| names.join(" ")));
        outputs.push(String::new());
        outputs.extend(self.one_hot);
        outputs.push(String::new());
        outputs.extend(self.never.iter().map(|names| names.join(" ")));
        outputs.push(String::new());
        outputs.extend(self.parts);
        outputs.push(String::new());
        outputs.extend(self.separate.then(|| "separate".to_string()));
        vec![TimingInfo { name: DESCRIPTION.to_string(), clock: self.type_name, inputs, outputs }]
    }

    /// Finds the description in what `Logic::timing` returned.
    #[must_use]
    pub fn from_timing(timing: &[TimingInfo]) -> Option<Self> {
        let info = timing.iter().find(|t| t.name == DESCRIPTION)?;
        let pair = |s: &String| s.split_once('=').map(|(a, b)| (a.to_string(), b.to_string()));
        let numbers = |list: &[String]| -> Vec<(String, BigInt)> {
            list.iter().filter_map(pair).filter_map(|(n, v)| Some((n, v.parse().ok()?))).collect()
        };
        let mut parts = info.outputs.split(String::is_empty);
        let (parameters, constants, locals) = (parts.next()?, parts.next()?, parts.next()?);
        let (held, one_hot) = (parts.next()?, parts.next()?);
        let (never, there, separate) = (parts.next()?, parts.next()?, parts.next()?);
        let words = |text: &String| text.split(' ').map(str::to_string).collect();
        Some(Self {
            type_name: info.clock.clone(),
            doc: info.inputs.first().cloned().unwrap_or_default(),
            source: info.inputs.get(1).cloned().unwrap_or_default(),
            fields: info.inputs.iter().skip(2).filter_map(pair).collect(),
            parameters: numbers(parameters),
            constants: numbers(constants),
            locals: Locals::from_text(locals),
            groups: Vec::new(),
            held: held.iter().map(words).collect(),
            one_hot: one_hot.to_vec(),
            never: never.iter().map(words).collect(),
            parts: there.to_vec(),
            separate: !separate.is_empty(),
        })
    }
}

/// The path of a source file as it stands in the Verilog, from `file!()`: the one in its workspace;
/// of a crate outside of the workspace, which the compiler knows by its path on this machine, from
/// the crate's folder on; of a generated file, the last folder and the name.
#[must_use]
pub fn source_path(file: &str) -> String {
    let file = file.replace('\\', "/");
    let is_absolute = file.starts_with('/') || file.get(1..3) == Some(":/");
    let mut names: Vec<&str> = Vec::new();
    for name in file.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            name => names.push(name),
        }
    }
    if !is_absolute {
        return names.join("/");
    }
    // Behind `target` stands what is of this machine.
    let source = names.iter().rposition(|name| *name == "src").filter(|at| !names[*at..].contains(&"target"));
    let from = source.unwrap_or(names.len().saturating_sub(1)).saturating_sub(1);
    names[from..].join("/")
}

/// A unit that the back end knows by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// Becomes a `reg` of its owner; the reset value in hexadecimal.
    Register {
        /// Value during and after reset, hexadecimal.
        reset_value: String,
    },
    /// Becomes a concatenation in its owner.
    Pack,
    /// A module with hand-written text, such as a memory.
    HandWritten(HandWritten),
}

/// What the back end knows of a module whose text is written by hand.
///
/// Units that differ in nothing but values of `parameters` become one Verilog module with these
/// parameters: its text must say them by name.
///
/// Ports have their Verilog names here and in the text: port `valid` of a group `order` is
/// `order_valid`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandWritten {
    /// Type name with its path and parameters.
    pub type_name: String,
    /// Header comment of the module.
    pub doc: String,
    /// Source file of the unit, from the folder of the workspace or crate on: [`source_path`].
    pub source: String,
    /// Parameters of the Verilog module, with the values of this unit.
    pub parameters: Vec<(String, usize)>,
    /// Ports whose number of bits depends on parameters, with an expression for it.
    pub widths: Vec<(String, String)>,
    /// Pairs of an output and an input that it follows in the same cycle.
    pub combinational: Vec<(String, String)>,
    /// Outputs that others drive, too.
    pub bidirectional: Vec<String>,
}

impl HandWritten {
    /// A module without parameters; no output follows an input in the same cycle. `file` is its
    /// source, as `file!()` gives it.
    #[must_use]
    pub fn new(type_name: impl Into<String>, doc: impl Into<String>, file: &str) -> Self {
        let (type_name, doc, source) = (type_name.into(), doc.into(), source_path(file));
        Self { type_name, doc, source, ..Self::default() }
    }

    /// Adds a parameter: its Verilog name, and its value in this unit.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: usize) -> Self {
        self.parameters.push((name.to_string(), value));
        self
    }

    /// Says that `ports` have `bits` bits, a Verilog expression of parameters.
    #[must_use]
    pub fn width(mut self, ports: &[&str], bits: &str) -> Self {
        self.widths.extend(ports.iter().map(|port| ((*port).to_string(), bits.to_string())));
        self
    }

    /// Says that `output` follows `input` in the same cycle.
    #[must_use]
    pub fn follows(mut self, output: &str, input: &str) -> Self {
        self.combinational.push((output.to_string(), input.to_string()));
        self
    }

    /// Says that the output `port` is an `inout`, for pins that others drive, too. It must drive an
    /// output of the unit around it, which becomes an `inout` as well.
    #[must_use]
    pub fn bidirectional(mut self, port: &str) -> Self {
        self.bidirectional.push(port.to_string());
        self
    }

    /// The form in which `Logic::timing` carries it.
    #[must_use]
    pub fn into_timing(self) -> Vec<TimingInfo> {
        Primitive::HandWritten(self).into_timing()
    }
}

impl Primitive {
    /// Packs the mark into the form in which `Logic::timing` carries it.
    #[must_use]
    pub fn into_timing(self) -> Vec<TimingInfo> {
        let (clock, inputs, outputs) = match self {
            Self::Register { reset_value } => ("register".to_string(), vec![reset_value], vec![]),
            Self::Pack => ("pack".to_string(), vec![], vec![]),
            Self::HandWritten(module) => {
                let mut inputs = vec![module.type_name, module.doc, module.source];
                inputs.extend(module.parameters.into_iter().map(|(name, value)| format!("{name}={value}")));
                let pairs = |list: Vec<(String, String)>| list.into_iter().flat_map(|(a, b)| [a, b]);
                let mut outputs: Vec<String> = pairs(module.widths).collect();
                outputs.push(String::new());
                outputs.extend(pairs(module.combinational));
                outputs.push(String::new());
                outputs.extend(module.bidirectional);
                ("hand-written".to_string(), inputs, outputs)
            }
        };
        vec![TimingInfo { name: PRIMITIVE.to_string(), clock, inputs, outputs }]
    }

    /// Finds the mark in what `Logic::timing` returned.
    #[must_use]
    pub fn from_timing(timing: &[TimingInfo]) -> Option<Self> {
        let info = timing.iter().find(|t| t.name == PRIMITIVE)?;
        let input = |i: usize| info.inputs.get(i).cloned();
        match info.clock.as_str() {
            "register" => Some(Self::Register { reset_value: input(0)? }),
            "pack" => Some(Self::Pack),
            "hand-written" => {
                let mut lists = info.outputs.split(String::is_empty);
                let pairs = |list: &[String]| list.chunks(2).map(|p| (p[0].clone(), p[1].clone())).collect();
                let parameter = |text: &String| {
                    let (name, value) = text.split_once('=')?;
                    Some((name.to_string(), value.parse().ok()?))
                };
                Some(Self::HandWritten(HandWritten {
                    type_name: input(0)?,
                    doc: input(1)?,
                    source: input(2)?,
                    parameters: info.inputs[3..].iter().filter_map(parameter).collect(),
                    widths: pairs(lists.next()?),
                    combinational: pairs(lists.next()?),
                    bidirectional: lists.next()?.to_vec(),
                }))
            }
            _ => None,
        }
    }
}

/// Types of constants that a kernel may name.
pub trait Integer {
    /// The value.
    fn value(self) -> BigInt;
}

macro_rules! integers {
    ($($ty:ty),*) => { $(impl Integer for $ty { fn value(self) -> BigInt { self.into() } })* };
}
integers!(u8, u16, u32, u64, u128, usize, i32, i64, isize);

impl Integer for bool {
    fn value(self) -> BigInt {
        u8::from(self).into()
    }
}

impl<const N: usize> Integer for Bits<N> {
    fn value(self) -> BigInt {
        literal_value(&self.verilog())
    }
}

/// A list of defaults.
pub fn defaults<T: Default>(count: impl ElementCount) -> Vec<T> {
    let count = count.elements();
    let mut list = Vec::with_capacity(count);
    while list.len() < count {
        list.push(T::default());
    }
    list
}

/// How many elements a `#[count(..)]` asks for: a number, or one if a part is there.
pub trait ElementCount {
    /// The number of elements.
    fn elements(self) -> usize;
}

impl ElementCount for usize {
    fn elements(self) -> usize {
        self
    }
}

impl ElementCount for bool {
    fn elements(self) -> usize {
        self.into()
    }
}

/// Types that a port can have; the derive macros `LogicStruct` and `LogicState` implement it.
pub trait PortValue: Synth {
    /// Appends the value as words of 32 bits, the lowest first: as many as its bits take.
    fn append(self, words: &mut Vec<u32>) {
        append_literal(&self.verilog(), Self::BITS, words);
    }
}

impl PortValue for Clock {}

impl<const N: usize> PortValue for Signed<N> {}

impl PortValue for bool {
    fn append(self, words: &mut Vec<u32>) {
        words.push(self.into());
    }
}

impl<const N: usize> PortValue for Bits<N> {
    fn append(self, words: &mut Vec<u32>) {
        match &self {
            Self::Short(value) => words.push(value.short()),
            Self::Long(value) => words.extend((0..N).step_by(32).map(|low| {
                let bits = low..N.min(low + 32);
                bits.fold(0, |word, bit| word | u32::from(value.get_bit(bit)) << (bit - low))
            })),
        }
    }
}

/// Types that a random input can have; the derive macros `LogicStruct` and `LogicState` implement
/// it.
pub trait RandomValue: PortValue {
    /// A value from 64-bit random numbers: any, but also often all zeros, all ones or few ones.
    fn random(random: &mut dyn FnMut() -> u64) -> Self;
}

impl RandomValue for bool {
    fn random(random: &mut dyn FnMut() -> u64) -> Self {
        random() & 1 == 1
    }
}

impl<const N: usize> RandomValue for Bits<N> {
    fn random(random: &mut dyn FnMut() -> u64) -> Self {
        let kind = random() % 8;
        let mut value = BigUint::default();
        for _ in 0..N.div_ceil(64) {
            let word = match kind {
                0 => 0,
                1 => u64::MAX,
                2 => random() & random() & random() & random(),
                3 => random() | random() | random() | random(),
                4 => random() % 4,
                _ => random(),
            };
            value = (value << 64u32) | BigUint::from(word);
        }
        (value & super::node::ones(N)).into()
    }
}

/// What a test needs to drive any unit; the derive macro `LogicBlock` implements it.
pub trait Drive: Block {
    /// Gives a random value to every input but clock and reset, those of port groups too.
    fn randomize_inputs(&mut self, random: &mut dyn FnMut() -> u64);
    /// Sets the input `reset`, if there is one.
    fn set_reset(&mut self, level: bool);
    /// Sets the input `clock`; false if there is none.
    fn set_clock(&mut self, level: bool) -> bool;
    /// Appends the value of every input and output, those of port groups too, in the order of the
    /// fields: each begins in a word of its own.
    fn read_ports(&self, words: &mut Vec<u32>);
}

/// A port or a port group, or a `Vec` of them, whose values can be read; the derive macro `Ports`
/// implements it.
pub trait ReadPort {
    /// Appends its values, as [`Drive::read_ports`] does.
    fn read(&self, words: &mut Vec<u32>);
}

impl<T: PortValue> ReadPort for Signal<In, T> {
    fn read(&self, words: &mut Vec<u32>) {
        self.val().append(words);
    }
}

impl<T: PortValue> ReadPort for Signal<Out, T> {
    fn read(&self, words: &mut Vec<u32>) {
        self.val().append(words);
    }
}

/// A wire in both directions has no value of its own.
impl<T: Synth> ReadPort for Signal<InOut, T> {
    fn read(&self, _words: &mut Vec<u32>) {}
}

impl<P: ReadPort> ReadPort for Vec<P> {
    fn read(&self, words: &mut Vec<u32>) {
        self.iter().for_each(|port| port.read(words));
    }
}

/// Reads the inputs and outputs of a bundle of signals, which does not show their types.
pub fn read_signals(bundle: &dyn Block, words: &mut Vec<u32>) {
    struct Signals<'a>(&'a mut Vec<u32>);
    impl Probe for Signals<'_> {
        fn visit_atom(&mut self, _name: &str, signal: &dyn Atom) {
            if matches!(signal.kind(), AtomKind::InputParameter | AtomKind::OutputParameter) {
                append_literal(&signal.verilog(), signal.bits(), self.0);
            }
        }
    }
    bundle.accept("bundle", &mut Signals(words));
}

fn append_literal(value: &VerilogLiteral, width: usize, words: &mut Vec<u32>) {
    let end = words.len() + width.div_ceil(32);
    words.extend(modulo(&literal_value(value), width).iter_u32_digits());
    words.resize(end, 0);
}

/// Reads a public field if it is a [`ReadPort`].
pub trait ReadOutside {
    /// Appends its values.
    fn read_outside(self, words: &mut Vec<u32>);
}

/// Leaves out a public field that is a unit. Method lookup comes here if [`ReadOutside`] does not
/// apply, because it has one reference less.
pub trait ReadNothing {
    /// Does nothing.
    fn read_outside(self, words: &mut Vec<u32>);
}

impl<P: ReadPort> ReadOutside for &&P {
    fn read_outside(self, words: &mut Vec<u32>) {
        self.read(words);
    }
}

impl<B: Block> ReadNothing for &B {
    fn read_outside(self, _words: &mut Vec<u32>) {}
}

/// An input or a port group that can have random values, or a `Vec` of them; the derive macro
/// `Ports` implements it.
pub trait RandomPort {
    /// Sets it, of a group the inputs.
    fn set_random(&mut self, random: &mut dyn FnMut() -> u64);
}

impl<T: RandomValue> RandomPort for Signal<In, T> {
    fn set_random(&mut self, random: &mut dyn FnMut() -> u64) {
        self.next = T::random(random);
    }
}

impl<P: RandomPort> RandomPort for Vec<P> {
    fn set_random(&mut self, random: &mut dyn FnMut() -> u64) {
        self.iter_mut().for_each(|port| port.set_random(random));
    }
}

/// Gives a public field random values if it is a [`RandomPort`].
pub trait RandomInput {
    /// Sets it.
    fn randomize(self, random: &mut dyn FnMut() -> u64);
}

/// Leaves a public field as it is that is no port: a unit, or a bundle of rust-hdl. Method lookup
/// comes here if [`RandomInput`] does not apply, because it has one reference less.
pub trait KeepInput {
    /// Does nothing.
    fn randomize(self, random: &mut dyn FnMut() -> u64);
}

impl<P: RandomPort> RandomInput for &mut &mut P {
    fn randomize(self, random: &mut dyn FnMut() -> u64) {
        self.set_random(random);
    }
}

impl<B: Block> KeepInput for &mut B {
    fn randomize(self, _random: &mut dyn FnMut() -> u64) {}
}
