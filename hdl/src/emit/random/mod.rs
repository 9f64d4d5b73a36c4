//! Random expressions and kernels through the back end, Verilator and Icarus Verilog, against an
//! interpreter on big integers.

pub mod fake;
mod generator;
mod interpreter;
mod nested;

use std::collections::HashMap;

use num_bigint::BigUint;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::ast::{VerilogExpression, VerilogStatement};
use rust_hdl::prelude::AtomKind;
use verilator_sys::{Input, Model, ModelOptions, Output};

use super::unit::split_element;
use super::{emit, Design, Direction};
use crate::testing::event_driven::{play, Played};
use crate::testing::mutation::{Recording, Step};
use crate::testing::seed;
use fake::{FakeRegister, FakeUnit, Ty};
use generator::{Generator, Targets, WIDTHS};
use interpreter::{convert, evaluate, execute, wrap, Number, Values};

fn build(design: &Design) -> Model {
    let top = &design.top;
    let mut options = ModelOptions::new(top);
    options.jobs = 2;
    options.optimize = false;
    let library = Model::build(&design.verilog(), &options).unwrap_or_else(|e| panic!("{top}: {e}"));
    library.instantiate().unwrap_or_else(|e| panic!("{top}: {e}"))
}

fn random_bits(random: &mut ChaCha8Rng, width: usize) -> BigUint {
    let words: Vec<u32> = (0..width.div_ceil(32)).map(|_| random.next_u32()).collect();
    let value = match random.gen_range(0..6) {
        0 => BigUint::default(),
        1 => BigUint::new(vec![u32::MAX; words.len()]),
        2 => BigUint::from(words[0] % 4),
        _ => BigUint::new(words),
    };
    value & super::node::ones(width)
}

/// Inputs of every width.
fn inputs() -> Vec<(String, Ty)> {
    let mut inputs = Vec::new();
    for width in WIDTHS {
        inputs.push((format!("a{width}"), Ty::bits(width)));
        inputs.push((format!("b{width}"), Ty::bits(width)));
        if width > 4 {
            inputs.push((format!("s{width}"), Ty { width, signed: true }));
        }
    }
    inputs
}

/// A random value for every input.
fn random_values(random: &mut ChaCha8Rng, list: &[(String, Ty)]) -> Values {
    list.iter().map(|(name, ty)| (name.clone(), Number::Bits(random_bits(random, ty.width), *ty))).collect()
}

/// Gives every input a random value, in `values` and in the model.
fn drive(
    random: &mut ChaCha8Rng,
    list: &[(String, Ty)],
    values: &mut Values,
    model: &mut Model,
    ports: &[Input],
) {
    let new = random_values(random, list);
    for ((name, _), port) in list.iter().zip(ports) {
        model.set_words(*port, &words_of(&new[name]));
    }
    values.extend(new);
}

/// A number as 32-bit words.
fn words_of(number: &Number) -> Vec<u32> {
    match number {
        Number::Bits(bits, _) => bits.to_u32_digits(),
        _ => unreachable!("ports have a width"),
    }
}

/// Plays the recording in Icarus Verilog, where nothing may be unknown.
fn play_known(design: &Design, recording: &Recording, seed: u64) {
    println!("{}, seed {seed}, in Icarus Verilog", design.top);
    let Played { compared, unknown } = play(design, recording);
    assert!(compared > 0 && unknown == 0, "{}, seed {seed}: {unknown} of {compared} bits are X", design.top);
}

fn input_ports(model: &Model, list: &[(String, Ty)]) -> Vec<Input> {
    list.iter().map(|(n, t)| model.input(n, t.width).unwrap_or_else(|e| panic!("{e}"))).collect()
}

fn read(model: &Model, port: Output, width: usize) -> BigUint {
    let mut words = vec![0; width.div_ceil(32)];
    model.read_words(port, &mut words);
    BigUint::new(words)
}

fn expressions(count: usize, vectors: usize, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let list = inputs();
    let mut unit = FakeUnit::default();
    for (name, ty) in &list {
        unit.add(name, AtomKind::InputParameter, *ty);
    }
    let mut cases: Vec<(Ty, VerilogExpression)> = Vec::new();
    for index in 0..count {
        let mut generator = Generator { random: &mut random, readable: list.clone() };
        let ty = generator.ty();
        let depth = generator.random.gen_range(1..5);
        let expression = generator.expression(ty, depth);
        unit.add(format!("y{index}"), AtomKind::OutputParameter, ty);
        let target = VerilogExpression::Signal(format!("y{index}$next"));
        unit.code.push(VerilogStatement::Assignment(target, expression.clone()));
        cases.push((ty, expression));
    }
    let design = emit(&unit, "random_expressions").unwrap_or_else(|e| panic!("{e}"));
    let mut model = build(&design);
    let mut recording = Recording {
        inputs: list.iter().map(|(name, ty)| (name.clone(), ty.width)).collect(),
        outputs: cases.iter().enumerate().map(|(i, (ty, _))| (format!("y{i}"), ty.width)).collect(),
        steps: Vec::new(),
    };
    let ports = input_ports(&model, &list);
    let outputs: Vec<Output> = cases
        .iter()
        .enumerate()
        .map(|(i, (ty, _))| model.output(&format!("y{i}"), ty.width).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    for vector in 0..vectors {
        let mut values = Values::new();
        drive(&mut random, &list, &mut values, &mut model, &ports);
        model.eval().unwrap_or_else(|e| panic!("{e}"));
        let inputs = list.iter().map(|(name, _)| words_of(&values[name])).collect();
        let mut results = Vec::new();
        for (index, ((ty, expression), port)) in cases.iter().zip(&outputs).enumerate() {
            let expected = convert(evaluate(expression, &values), *ty);
            let found = Number::Bits(read(&model, *port, ty.width), *ty);
            assert_eq!(
                found, expected,
                "seed {seed}, expression {index}, vector {vector}: {expression:?} with {values:?}"
            );
            results.push(words_of(&found));
        }
        recording.steps.push(Step { inputs, outputs: Some(results) });
    }
    play_known(&design, &recording, seed);
}

/// One kernel with registers and locals, run for some cycles.
fn kernel(seed: u64, cycles: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let list: Vec<(String, Ty)> =
        inputs().into_iter().filter(|(_, t)| matches!(t.width, 1 | 2 | 8 | 32 | 33)).collect();
    let mut unit = FakeUnit::default();
    unit.add("clock", AtomKind::InputParameter, Ty::bits(1));
    unit.add("reset", AtomKind::InputParameter, Ty::bits(1));
    for (name, ty) in &list {
        unit.add(name, AtomKind::InputParameter, *ty);
    }
    let mut targets = Targets { signals: Vec::new(), registers: Vec::new() };
    let mut generator = Generator { random: &mut random, readable: list.clone() };
    let count = generator.random.gen_range(2..6);
    targets.signals.extend(generator.signals("y", count));
    let outputs = targets.signals.clone();
    let count = generator.random.gen_range(1..6);
    targets.signals.extend(generator.signals("l", count));
    for i in 0..generator.random.gen_range(1..5) {
        let ty = generator.ty();
        targets.registers.push((format!("r{i}"), ty));
        generator.readable.push((format!("r{i}$q"), ty));
    }
    let code = generator.kernel(&targets);
    unit.code = code;
    for (name, ty) in &targets.signals {
        let kind = if name.starts_with('y') { AtomKind::OutputParameter } else { AtomKind::LocalSignal };
        unit.add(name, kind, *ty);
    }
    for (name, ty) in &targets.registers {
        let reset_value = random.next_u64() >> (64 - ty.width.min(64));
        unit.registers.push(FakeRegister { name: name.clone(), ty: *ty, reset_value });
    }
    let mut types: HashMap<String, Ty> = targets.signals.iter().cloned().collect();
    for (name, ty) in &targets.registers {
        types.insert(format!("{name}$d"), *ty);
        types.insert(format!("{name}$q"), *ty);
        types.insert(format!("{name}$clock"), Ty::bits(1));
    }
    let design = emit(&unit, "random_kernel").unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let mut model = build(&design);
    let ports = input_ports(&model, &list);
    let clock = model.input("clk", 1).unwrap_or_else(|e| panic!("{e}"));
    let reset = model.input("rst", 1).unwrap_or_else(|e| panic!("{e}"));
    let handles: Vec<Output> = design
        .ports
        .iter()
        .filter(|port| port.direction == Direction::Output)
        .map(|port| model.output(&port.name, port.width).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    let mut values = Values::new();
    values.insert("clock".to_string(), wrap(&0.into(), Ty::bits(1)));
    let registers = unit.registers.clone();
    let names = [("clk", 1), ("rst", 1)].map(|(name, width)| (name.to_string(), width));
    let list_ports = list.iter().map(|(name, ty)| (name.clone(), ty.width));
    let mut recording = Recording {
        inputs: names.into_iter().chain(list_ports).collect(),
        outputs: design
            .ports
            .iter()
            .filter(|port| port.direction == Direction::Output)
            .map(|port| (port.name.clone(), port.width))
            .collect(),
        steps: Vec::new(),
    };
    for cycle in 0..cycles {
        let in_reset = cycle == 0 || random.gen_bool(0.05);
        model.set_u64(reset, u64::from(in_reset));
        drive(&mut random, &list, &mut values, &mut model, &ports);
        model.fall(clock).unwrap_or_else(|e| panic!("{e}"));
        let mut inputs = vec![vec![0], vec![u32::from(in_reset)]];
        inputs.extend(list.iter().map(|(name, _)| words_of(&values[name])));
        let mut step = Step { inputs: inputs.clone(), outputs: None };
        if cycle > 0 {
            execute(&unit.code, &mut values, &types);
            let expected = port_values(&outputs, &values);
            let found: Vec<BigUint> = recording
                .outputs
                .iter()
                .zip(&handles)
                .map(|((_, width), port)| read(&model, *port, *width))
                .collect();
            assert_eq!(found, expected, "seed {seed}, cycle {cycle}: {:#?}", unit.code);
            step.outputs = Some(expected.iter().map(BigUint::to_u32_digits).collect());
        }
        recording.steps.push(step);
        model.rise(clock).unwrap_or_else(|e| panic!("{e}"));
        inputs[0] = vec![1];
        recording.steps.push(Step { inputs, outputs: None });
        for register in &registers {
            let next = if in_reset {
                wrap(&register.reset_value.into(), register.ty)
            } else {
                values[&format!("{}$d", register.name)].clone()
            };
            values.insert(format!("{}$q", register.name), next);
        }
    }
    play_known(&design, &recording, seed);
}

/// The values of ports, in their order: signals, or elements of vectors side by side.
fn port_values(signals: &[(String, Ty)], values: &Values) -> Vec<BigUint> {
    let mut ports: Vec<(&str, usize, BigUint)> = Vec::new();
    for (name, ty) in signals {
        let Number::Bits(bits, _) = &values[name] else { unreachable!("signals have a width") };
        let base = split_element(name).0;
        match ports.last_mut() {
            Some((last, width, value)) if *last == base => {
                *value |= bits << *width;
                *width += ty.width;
            }
            _ => ports.push((base, ty.width, bits.clone())),
        }
    }
    ports.into_iter().map(|(_, _, value)| value).collect()
}

#[test]
fn expressions_mean_what_rust_says() {
    expressions(5_000, 25, seed());
}

#[test]
fn kernels_mean_what_rust_says() {
    let first = seed();
    for i in 0..6 {
        kernel(first.wrapping_add(i), 400);
    }
}

/// Far more kernels for a simulator alone: `cargo test -p hermes-hdl --lib random -- --ignored`.
#[test]
#[ignore = "minutes: 100 kernels"]
fn many_kernels_mean_what_rust_says() {
    let first = seed();
    for i in 0..100 {
        kernel(first.wrapping_add(100 + i), 100);
    }
}
