//! Runs a unit in rust-hdl's simulator and its Verilog under Verilator with the same inputs, and
//! compares all outputs.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verilator_sys::{Input, Model, ModelOptions, Output};

use super::event_driven::{self, Played};
use super::mutation::{self, Recording, Step};
use super::seed;
use crate::emit::unit_info::Drive;
use crate::emit::{
    emit, identifier as word, module_name, port_name, split_element, Design, Direction, GroupNames, Port,
};

/// Lists the ports of the topmost unit.
#[derive(Default)]
struct Ports {
    depth: usize,
    groups: GroupNames,
    inputs: BTreeMap<String, Vec<Element>>,
    outputs: BTreeMap<String, Vec<Element>>,
    /// Words of all that was visited.
    words: usize,
}

/// A signal: a port, or an element of one that is a `Vec`.
#[derive(Clone, Copy)]
struct Element {
    /// The first of its words in what [`Drive::read_ports`] reads.
    word: usize,
    width: usize,
}

impl Probe for Ports {
    fn visit_start_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth += 1;
    }

    fn visit_start_namespace(&mut self, name: &str, node: &dyn Block) {
        self.groups.start(name, node);
    }

    fn visit_end_namespace(&mut self, _name: &str, _node: &dyn Block) {
        self.groups.end();
    }

    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let list = match signal.kind() {
            AtomKind::InputParameter => &mut self.inputs,
            AtomKind::OutputParameter => &mut self.outputs,
            _ => return,
        };
        if self.depth == 1 {
            let base = self.groups.port(&self.groups.qualified(split_element(name).0));
            let width = signal.bits();
            list.entry(base).or_default().push(Element { word: self.words, width });
            self.words += width.div_ceil(32);
        }
    }

    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }
}

impl Ports {
    fn of(unit: &dyn Block) -> Self {
        let mut ports = Self::default();
        unit.accept("unit", &mut ports);
        ports
    }
}

/// The value of a port, 32 bits a word, lowest first, with the elements of a `Vec` side by side,
/// element 0 lowest; `words` are what [`Drive::read_ports`] reads.
fn packed(elements: &[Element], words: &[u32], packed: &mut Vec<u32>) {
    packed.clear();
    let mut low = 0;
    for element in elements {
        for (part, &word) in words[element.word..][..element.width.div_ceil(32)].iter().enumerate() {
            let (place, shift) = ((low + part * 32) / 32, (low + part * 32) % 32);
            packed.resize((place + 2).max(packed.len()), 0);
            packed[place] |= word << shift;
            packed[place + 1] |= u32::try_from(u64::from(word) << shift >> 32).expect("32 bits");
        }
        low += element.width;
    }
    packed.resize(low.div_ceil(32), 0);
}

/// Identifier of the port of a field.
fn identifier(name: &str) -> String {
    word(port_name(name))
}

/// The design inside a module `bench` whose ports are called `io_` and the port's name: some names
/// of ports are also names of functions of every Verilated class.
fn wrapped(design: &Design) -> String {
    let list = |f: &dyn Fn(&Port) -> String| design.ports.iter().map(f).collect::<Vec<_>>().join(", ");
    let ports = list(&|p| {
        let direction = if p.direction == Direction::Input { "input" } else { "output" };
        format!("{direction} wire [{}:0] io_{}", p.width - 1, p.name)
    });
    let connections = list(&|p| format!(".{0}(io_{0})", p.name));
    format!(
        "{}\nmodule bench ({ports});\n{} unit ({connections});\nendmodule\n",
        design.verilog(),
        design.top
    )
}

/// Compares a unit with its Verilog for 10,000 cycles of random inputs.
///
/// # Panics
/// As [`check_with`].
pub fn check<U: Drive>(unit: U) {
    check_with(unit, 10_000, |_, _, _| {});
}

/// Drives `unit` and its Verilated module with the same inputs for `cycles` cycles and compares all
/// outputs: with the clock low after the inputs settled, and again after the rising edge.
///
/// In every cycle the inputs get random values and the reset is high in the first two cycles and
/// rarely afterwards; then `adjust` may change them (it gets the unit, a source of 64 random bits
/// and the cycle). The seed is printed and taken from `HERMES_SEED`. With `HERMES_EVENT_DRIVEN=N`
/// the first `N` evaluations are played to an event-driven simulator too.
///
/// # Panics
/// If they differ, with the cycle, the output and both values; or if the Verilog cannot be made or
/// built.
pub fn check_with<U: Drive>(unit: U, cycles: u64, adjust: impl FnMut(&mut U, &mut dyn FnMut() -> u64, u64)) {
    compare(unit, cycles, &[], event_driven::wanted(), adjust);
}

/// As [`check`], and the first 1,000 evaluations in an event-driven simulator too.
///
/// # Panics
/// As [`check_with`].
pub fn check_events<U: Drive>(unit: U) {
    compare(unit, 10_000, &[], Some(1_000), |_, _, _| {});
}

/// As [`check_with`], and all evaluations in an event-driven simulator too; returns what it
/// compared there.
///
/// # Panics
/// As [`check_with`].
pub fn check_events_with<U: Drive>(
    unit: U,
    cycles: u64,
    adjust: impl FnMut(&mut U, &mut dyn FnMut() -> u64, u64),
) -> Played {
    compare(unit, cycles, &[], Some(usize::MAX), adjust).expect("an event-driven simulation was asked for")
}

/// As [`check_with`], with the text that synthesis tools read: that of some memories differs. It
/// gives anything for a word that is read while it is written.
///
/// # Panics
/// As [`check_with`].
pub fn check_synthesized_with<U: Drive>(
    unit: U,
    cycles: u64,
    adjust: impl FnMut(&mut U, &mut dyn FnMut() -> u64, u64),
) {
    compare(unit, cycles, &["-DSYNTHESIS"], None, adjust);
}

fn compare<U: Drive>(
    mut unit: U,
    cycles: u64,
    verilator_flags: &[&str],
    events: Option<usize>,
    mut adjust: impl FnMut(&mut U, &mut dyn FnMut() -> u64, u64),
) -> Option<Played> {
    let unit = &mut unit;
    let mut generator = ChaCha8Rng::seed_from_u64(seed());
    let top = module_name(std::any::type_name::<U>());
    let design = emit(unit, &top).unwrap_or_else(|e| panic!("{top}: {e}"));
    let mut options = ModelOptions::new("bench");
    options.jobs = 2;
    options.optimize = false;
    options.verilator_flags = verilator_flags.iter().map(|flag| flag.to_string()).collect();
    let library = Model::build(&wrapped(&design), &options).unwrap_or_else(|e| panic!("{top}: {e}"));
    let mut model = library.instantiate().unwrap_or_else(|e| panic!("{top}: {e}"));
    let ports = Ports::of(unit);
    let width = |name: &str| {
        let port = design.ports.iter().find(|p| p.name == identifier(name));
        port.unwrap_or_else(|| panic!("{top}: no port for {name}")).width
    };
    let io = |name: &str| format!("io_{}", identifier(name));
    let inputs: Vec<(&[Element], Input)> = ports
        .inputs
        .iter()
        .map(|(n, list)| (&list[..], model.input(&io(n), width(n)).unwrap_or_else(|e| panic!("{e}"))))
        .collect();
    let outputs: Vec<(&[Element], &String, usize, Output)> = ports
        .outputs
        .iter()
        .map(|(n, list)| {
            let handle = model.output(&io(n), width(n)).unwrap_or_else(|e| panic!("{e}"));
            (&list[..], n, width(n), handle)
        })
        .collect();
    assert_eq!(
        outputs.len(),
        design.ports.iter().filter(|p| p.direction == Direction::Output).count(),
        "{top}: outputs"
    );
    let mutations = mutation::wanted();
    let mut recording = Recording {
        inputs: ports.inputs.keys().map(|n| (identifier(n), width(n))).collect(),
        outputs: ports.outputs.keys().map(|n| (identifier(n), width(n))).collect(),
        steps: vec![],
    };
    let mut changes = 0u64;
    let mut previous: Vec<u32> = Vec::new();
    let (mut words, mut expected, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for cycle in 0..cycles {
        let mut random = || generator.next_u64();
        unit.randomize_inputs(&mut random);
        unit.set_reset(cycle < 2 || random() % 1024 == 0);
        adjust(unit, &mut random, cycle);
        for level in [false, true] {
            let clocked = unit.set_clock(level);
            if level && !clocked {
                break;
            }
            assert!(simulate(unit, 1000), "{top}: cycle {cycle}: the unit does not settle");
            words.clear();
            unit.read_ports(&mut words);
            assert_eq!(words.len(), ports.words, "{top}: words of the ports");
            for (elements, handle) in &inputs {
                packed(elements, &words, &mut expected);
                model.set_words(*handle, &expected);
            }
            model.eval().unwrap_or_else(|e| panic!("{e}"));
            // Before the first edge under reset, registers hold anything in Verilog.
            let known = !(clocked && cycle < 2);
            if mutations.is_some() || events.is_some_and(|count| recording.steps.len() < count) {
                let outputs = known.then(|| words_of(&words, &ports.outputs));
                recording.steps.push(Step { inputs: words_of(&words, &ports.inputs), outputs });
            }
            if !known {
                continue;
            }
            let mut now = Vec::with_capacity(previous.len());
            for (elements, name, bits, handle) in &outputs {
                packed(elements, &words, &mut expected);
                found.resize(bits.div_ceil(32), 0);
                model.read_words(*handle, &mut found);
                if found != expected {
                    let [found, expected] = [&found, &expected].map(|words| BigUint::from_slice(words));
                    panic!(
                        "{top}: cycle {cycle}, clock {level}: output {name}: Verilog gives {found:#x}, \
                         Rust {expected:#x}"
                    );
                }
                now.extend(&expected);
            }
            changes += u64::from(now != previous);
            previous = now;
        }
    }
    assert!(changes > 1 || outputs.is_empty(), "{top}: no output ever changed");
    println!("{top}: {cycles} cycles, outputs changed {changes} times");
    if let Some(count) = mutations {
        mutation::report(&design, &recording, count);
    }
    events.map(|_| {
        let played = event_driven::play(&design, &recording);
        println!("{top}: {played:?} in Icarus Verilog");
        played
    })
}

/// The values of all ports of a kind, as [`packed`], without leading zeros.
fn words_of(words: &[u32], ports: &BTreeMap<String, Vec<Element>>) -> Vec<Vec<u32>> {
    let trimmed = |elements: &Vec<Element>| {
        let mut value = Vec::new();
        packed(elements, words, &mut value);
        while value.last() == Some(&0) {
            value.pop();
        }
        value
    };
    ports.values().map(trimmed).collect()
}
