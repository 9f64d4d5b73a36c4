//! Random expressions and kernels through the back end and Verilator, against an interpreter on big integers.

pub mod fake;
mod generator;
mod interpreter;

use std::collections::HashMap;

use num_bigint::BigUint;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::ast::{VerilogExpression, VerilogStatement};
use rust_hdl::prelude::AtomKind;
use verilator_sys::{Input, Model, ModelOptions, Output};

use super::emit;
use crate::testing::seed;
use fake::{FakeRegister, FakeUnit, Ty};
use generator::{Generator, Targets, WIDTHS};
use interpreter::{convert, evaluate, execute, wrap, Number, Values};

fn build(unit: &FakeUnit, top: &str) -> Model {
    let design = emit(unit, top).unwrap_or_else(|e| panic!("{top}: {e}"));
    let mut options = ModelOptions::new(top);
    options.jobs = 2;
    options.cxx_flags = vec!["-O1".to_string()];
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

/// Gives every input a random value, in `values` and in the model.
fn drive(
    random: &mut ChaCha8Rng,
    list: &[(String, Ty)],
    values: &mut Values,
    model: &mut Model,
    ports: &[Input],
) {
    for ((name, ty), port) in list.iter().zip(ports) {
        let bits = random_bits(random, ty.width);
        model.set_words(*port, &bits.to_u32_digits());
        values.insert(name.clone(), Number::Bits(bits, *ty));
    }
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
    let mut model = build(&unit, "random_expressions");
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
        for (index, ((ty, expression), port)) in cases.iter().zip(&outputs).enumerate() {
            let expected = convert(evaluate(expression, &values), *ty);
            let found = Number::Bits(read(&model, *port, ty.width), *ty);
            assert_eq!(
                found, expected,
                "seed {seed}, expression {index}, vector {vector}: {expression:?} with {values:?}"
            );
        }
    }
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
    for i in 0..generator.random.gen_range(2..6) {
        targets.signals.push((format!("y{i}"), generator.ty()));
    }
    let outputs = targets.signals.clone();
    for i in 0..generator.random.gen_range(1..6) {
        targets.signals.push((format!("l{i}"), generator.ty()));
    }
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
    let mut model = build(&unit, "random_kernel");
    let ports = input_ports(&model, &list);
    let clock = model.input("clk", 1).unwrap_or_else(|e| panic!("{e}"));
    let reset = model.input("rst", 1).unwrap_or_else(|e| panic!("{e}"));
    let handles: Vec<Output> =
        outputs.iter().map(|(n, t)| model.output(n, t.width).unwrap_or_else(|e| panic!("{e}"))).collect();
    let mut values = Values::new();
    values.insert("clock".to_string(), wrap(&0.into(), Ty::bits(1)));
    let registers = unit.registers.clone();
    for cycle in 0..cycles {
        let in_reset = cycle == 0 || random.gen_bool(0.05);
        model.set_u64(reset, u64::from(in_reset));
        drive(&mut random, &list, &mut values, &mut model, &ports);
        model.fall(clock).unwrap_or_else(|e| panic!("{e}"));
        if cycle > 0 {
            execute(&unit.code, &mut values, &types);
            for ((name, ty), port) in outputs.iter().zip(&handles) {
                let found = Number::Bits(read(&model, *port, ty.width), *ty);
                assert_eq!(
                    found, values[name],
                    "seed {seed}, cycle {cycle}, output {name}: {:#?}",
                    unit.code
                );
            }
        }
        model.rise(clock).unwrap_or_else(|e| panic!("{e}"));
        for register in &registers {
            let next = if in_reset {
                wrap(&register.reset_value.into(), register.ty)
            } else {
                values[&format!("{}$d", register.name)].clone()
            };
            values.insert(format!("{}$q", register.name), next);
        }
    }
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
