//! Random units in a unit, with values that go in and out of them several times: a chain that leads
//! through every element of the child's ports, without a loop for any of them. A simulator must
//! neither be stuck nor stop too early.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogConditional, VerilogExpression as E,
    VerilogStatement as S,
};
use rust_hdl::prelude::AtomKind;
use verilator_sys::Output;

use super::fake::{FakeUnit, Ty};
use super::generator::Generator;
use super::interpreter::{execute, wrap, Values};
use super::{build, input_ports, play_known, port_values, random_values, read, words_of};
use crate::emit::{emit, Direction};
use crate::testing::mutation::{Recording, Step};
use crate::testing::seed;

const BYTE: usize = 8;

fn next(name: &str, value: E) -> S {
    S::Assignment(E::Signal(format!("{name}$next")), value)
}

/// Names of the elements of a vector.
fn elements(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{name}${i}")).collect()
}

/// Assignments in random order, perhaps within an `if` or a few of them. `value` gives what target
/// `i` gets from what it may read.
fn assignments(
    random: &mut ChaCha8Rng,
    targets: &[String],
    may_read: &[Vec<String>],
    switches: &[String],
) -> VerilogBlock {
    let mut order: Vec<usize> = (0..targets.len()).collect();
    let one = |random: &mut ChaCha8Rng, i: usize| {
        let readable = may_read[i].iter().map(|name| (name.clone(), Ty::bits(BYTE))).collect();
        let depth = random.gen_range(1..3);
        next(&targets[i], Generator { random, readable }.expression(Ty::bits(BYTE), depth))
    };
    // Values first, so that every target has one on every path.
    order.shuffle(random);
    let mut block: VerilogBlock = order.iter().map(|i| one(random, *i)).collect();
    for switch in switches {
        if random.gen_bool(0.8) {
            order.shuffle(random);
            let some = random.gen_range(1..=order.len());
            let then = order[..some].iter().map(|i| one(random, *i)).collect();
            let otherwise = if random.gen() {
                VerilogBlockOrConditional::Block(order[some / 2..].iter().map(|i| one(random, *i)).collect())
            } else {
                VerilogBlockOrConditional::None
            };
            block.push(S::If(VerilogConditional { test: E::Signal(switch.clone()), then, otherwise }));
        }
    }
    block
}

/// `depth` units within each other; a unit at the bottom computes output `i` from input `i` and the
/// switches.
fn unit(random: &mut ChaCha8Rng, size: usize, depth: usize) -> FakeUnit {
    let mut unit = FakeUnit::default();
    let (inputs, outputs) = (elements("a", size), elements("y", size));
    let switches = ["s", "t"].map(String::from);
    for switch in &switches {
        unit.add(switch, AtomKind::InputParameter, Ty::bits(1));
    }
    for name in &inputs {
        unit.add(name, AtomKind::InputParameter, Ty::bits(BYTE));
    }
    for name in &outputs {
        unit.add(name, AtomKind::OutputParameter, Ty::bits(BYTE));
    }
    if depth == 0 {
        let own: Vec<Vec<String>> = inputs.iter().map(|name| vec![name.clone()]).collect();
        unit.code = assignments(random, &outputs, &own, &switches);
        return unit;
    }
    // A child with one element more; a chain of all its elements for the first output, one element
    // alone for each other.
    let below = size + 1;
    unit.children.push(("c".to_string(), self::unit(random, below, depth - 1)));
    let child = |name: &str| format!("c${name}");
    for switch in &switches {
        unit.code.push(next(&child(switch), E::Signal(switch.clone())));
    }
    let mut chain: Vec<usize> = (0..below).collect();
    chain.shuffle(random);
    let alone: Vec<usize> = chain.split_off(below - (size - 1));
    let mut may_read = vec![Vec::new(); below];
    let mut source = inputs[0].clone();
    for &element in &chain {
        may_read[element].push(source);
        source = child(&format!("y${element}"));
    }
    let mut result_of = vec![vec![source]];
    for (i, &element) in alone.iter().enumerate() {
        may_read[element].push(inputs[i + 1].clone());
        result_of.push(vec![child(&format!("y${element}"))]);
    }
    let targets: Vec<String> = elements("a", below).iter().map(|name| child(name)).collect();
    unit.code.extend(assignments(random, &targets, &may_read, &switches));
    unit.code.extend(assignments(random, &outputs, &result_of, &switches));
    unit
}

/// The outputs of `unit` for the inputs in `values`; nothing else in `values` stays.
fn settle(unit: &FakeUnit, values: &mut Values) {
    let mut inside: Values = values.clone();
    let Some((_, child)) = unit.children.first() else {
        let all = unit.signals.iter().map(|s| (s.name.clone(), s.ty)).collect();
        execute(&unit.code, &mut inside, &all);
        *values = inside;
        return;
    };
    let mut all: std::collections::HashMap<String, Ty> =
        unit.signals.iter().map(|s| (s.name.clone(), s.ty)).collect();
    for signal in &child.signals {
        all.insert(format!("c${}", signal.name), signal.ty);
        inside.insert(format!("c${}", signal.name), wrap(&0.into(), signal.ty));
    }
    // Each round settles at least one more element of the chain.
    for _ in 0..2 * child.signals.len() {
        execute(&unit.code, &mut inside, &all);
        let inputs = |s: &&super::fake::FakeSignal| s.kind == AtomKind::InputParameter;
        let mut below: Values = child
            .signals
            .iter()
            .filter(inputs)
            .map(|s| (s.name.clone(), inside[&format!("c${}", s.name)].clone()))
            .collect();
        settle(child, &mut below);
        for signal in child.signals.iter().filter(|s| s.kind == AtomKind::OutputParameter) {
            inside.insert(format!("c${}", signal.name), below[&signal.name].clone());
        }
    }
    execute(&unit.code, &mut inside, &all);
    *values = inside;
}

/// One design, in Icarus Verilog and, if asked for, under Verilator.
fn nested(seed: u64, vectors: usize, verilated: bool) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (size, depth) = (random.gen_range(2..5), random.gen_range(1..3));
    let unit = unit(&mut random, size, depth);
    let design = emit(&unit, "random_nested").unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let mut model = verilated.then(|| build(&design));
    let of_kind = |kind: AtomKind| {
        let signals = unit.signals.iter().filter(|s| s.kind == kind);
        signals.map(|s| (s.name.clone(), s.ty)).collect::<Vec<_>>()
    };
    let (inputs, outputs) = (of_kind(AtomKind::InputParameter), of_kind(AtomKind::OutputParameter));
    let ports = |direction| {
        let of = design.ports.iter().filter(|p| p.direction == direction);
        of.map(|p| (p.name.clone(), p.width)).collect::<Vec<_>>()
    };
    let mut recording =
        Recording { inputs: ports(Direction::Input), outputs: ports(Direction::Output), steps: Vec::new() };
    let typed: Vec<(String, Ty)> =
        recording.inputs.iter().map(|(name, width)| (name.clone(), Ty::bits(*width))).collect();
    let handles = model.as_ref().map(|model| {
        let output =
            |(name, width): &(String, usize)| model.output(name, *width).unwrap_or_else(|e| panic!("{e}"));
        (input_ports(model, &typed), recording.outputs.iter().map(output).collect::<Vec<Output>>())
    });
    for vector in 0..vectors {
        let whole = random_values(&mut random, &typed);
        let mut values = Values::new();
        for (name, ty) in &inputs {
            let (base, element) = crate::emit::unit::split_element(name);
            let super::Number::Bits(bits, _) = &whole[base] else { unreachable!("ports have a width") };
            let low = element.unwrap_or_default() * ty.width;
            values.insert(name.clone(), wrap(&(bits.clone() >> low).into(), *ty));
        }
        settle(&unit, &mut values);
        let expected = port_values(&outputs, &values);
        if let (Some(model), Some((inputs, outputs))) = (&mut model, &handles) {
            for ((name, _), handle) in typed.iter().zip(inputs) {
                model.set_words(*handle, &words_of(&whole[name]));
            }
            model.eval().unwrap_or_else(|e| panic!("{e}"));
            let widths = recording.outputs.iter().map(|(_, width)| width);
            let found: Vec<_> =
                outputs.iter().zip(widths).map(|(at, width)| read(model, *at, *width)).collect();
            assert_eq!(found, expected, "seed {seed}, vector {vector}:\n{}", design.verilog());
        }
        recording.steps.push(Step {
            inputs: recording.inputs.iter().map(|(name, _)| words_of(&whole[name])).collect(),
            outputs: Some(expected.iter().map(num_bigint::BigUint::to_u32_digits).collect()),
        });
    }
    play_known(&design, &recording, seed);
}

#[test]
fn values_that_pass_a_unit_several_times() {
    let first = seed();
    for i in 0..6 {
        nested(first.wrapping_add(i), 100, true);
    }
}

#[test]
#[ignore = "minutes: 200 designs"]
fn many_values_that_pass_a_unit_several_times() {
    let first = seed();
    for i in 0..200 {
        nested(first.wrapping_add(100 + i), 50, false);
    }
}
