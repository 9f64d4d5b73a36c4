//! Each condition that a unit states with `always!` is broken by a mutant of the unit's Verilog.
//!
//! All units are in one model, which chooses the mutant when it runs: in the text of a unit stands
//! `mutant == 3 ? fault : sound` at the place of each. So one build serves for all.

use std::collections::BTreeMap;

use hermes_artefacts::checks;
use hermes_hdl::emit::{Design, Direction, Module, Promise};
use verilator_sys::{Model, ModelLibrary, ModelOptions};

/// A condition, the mutant that breaks it, and what is done to the unit until that is noticed.
pub struct Mutant {
    /// Its name in the unit.
    pub condition: &'static str,
    /// Text of the unit's module, with the expression that is replaced between two backticks.
    pub place: &'static str,
    /// What stands there in the mutant.
    pub fault: &'static str,
    /// The inputs, a cycle after the other, with `;` between them. A cycle has pairs `port=value`;
    /// `port[3]=value` adds bits from bit 3 on. Inputs keep their values; they are 0 in the reset,
    /// which goes before. `*9` are nine such cycles.
    pub inputs: &'static str,
}

/// A unit by itself, and its mutants.
pub struct Case {
    pub design: Design,
    pub mutants: &'static [Mutant],
}

/// What follows may have words of SystemVerilog.
const SYSTEM_VERILOG: &str = "`begin_keywords \"1800-2017\"\n";

/// A number in decimal, or in hexadecimal with `0x`.
fn number(text: &str) -> u64 {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    u64::from_str_radix(digits, radix).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The names of the conditions of these modules.
pub fn conditions(modules: &[Module]) -> Vec<&str> {
    let promises = modules.iter().flat_map(|module| &module.promises);
    let conditions = promises.filter_map(|promise| match promise {
        Promise::Always { name, .. } => Some(name.as_str()),
        _ => None,
    });
    conditions.collect()
}

/// The module of the unit itself.
pub fn top(design: &Design) -> &[Module] {
    &design.modules[design.modules.len() - 1..]
}

/// The cycles of `inputs`, with what is repeated written out.
fn cycles(inputs: &str) -> String {
    let Some((before, rest)) = inputs.split_once('(') else { return inputs.to_string() };
    let (repeated, after) = rest.split_once(')').unwrap_or_else(|| panic!("{inputs}: no closing bracket"));
    let (before, times) = before.rsplit_once([';', ' ', '\n']).unwrap_or(("", before));
    let all = vec![repeated; number(times) as usize].join(";");
    let separator = if before.trim().is_empty() { "" } else { ";" };
    format!("{}{separator}{all}{}", before.trim_end().trim_end_matches(';'), cycles(after))
}

/// The units with all mutants, their assertions, and a top in which they stand side by side.
fn bench(cases: &[Case]) -> String {
    let (mut modules, mut checkers) = (BTreeMap::new(), String::new());
    let mut text = String::from(SYSTEM_VERILOG) + "int mutant;\n`end_keywords\n";
    let (mut ports, mut instances) = (String::from("input wire clk, rst, input int chosen"), String::new());
    let mut count = 0;
    for Case { design, mutants } in cases {
        let (top, children) = design.modules.split_last().expect("a design has a top");
        for module in children {
            let known = modules.insert(module.name.clone(), module.text.clone());
            let is_new = known.is_none();
            assert!(known.is_none_or(|known| known == module.text), "two modules are called {}", module.name);
            if is_new {
                text += &module.text;
            }
        }
        let mut mutated = top.text.clone();
        for Mutant { condition, place, fault, .. } in *mutants {
            count += 1;
            let parts: Vec<&str> = place.split('`').collect();
            let [before, sound, after] = parts[..] else { panic!("{condition}: {place}: no two backticks") };
            let find = [before, sound, after].concat();
            assert_eq!(mutated.matches(&find).count(), 1, "{condition}: {find} in:\n{mutated}");
            let both = format!("{before}(mutant == {count} ? ({fault}) : ({sound})){after}");
            mutated = mutated.replace(&find, &both);
        }
        text += &mutated;
        // As a module inside an array: the handshakes of a top are recognized by names.
        let around = format!("{}_checks", design.top);
        let only = Design { top: around, modules: vec![top.clone()], ports: Vec::new() };
        checkers += &checks(&only);
        let mut connections = String::from(".clk(clk), .rst(rst)");
        for port in design.ports.iter().filter(|port| !matches!(port.name.as_str(), "clk" | "rst")) {
            if port.direction == Direction::Input {
                ports += &format!(", input wire [{}:0] {}_{}", port.width - 1, design.top, port.name);
                connections += &format!(", .{0}({1}_{0})", port.name, design.top);
            } else {
                connections += &format!(", .{}()", port.name);
            }
        }
        instances += &format!("{0} unit_{0} ({connections});\n", design.top);
    }
    format!(
        "{text}{checkers}{SYSTEM_VERILOG}module bench ({ports});\nalways_comb mutant = chosen;\n\
         {instances}endmodule\n`end_keywords\n"
    )
}

/// Plays the inputs of `mutant` with the one that is `chosen`; the line of the assertion that ends
/// it.
fn play(
    library: &ModelLibrary,
    text: &str,
    design: &Design,
    mutant: &Mutant,
    chosen: usize,
) -> Option<String> {
    let mut model: Model = library.instantiate().unwrap();
    let input = |model: &Model, name: &str, width| model.input(name, width).unwrap();
    let (clock, reset) = (input(&model, "clk", 1), input(&model, "rst", 1));
    let which = input(&model, "chosen", 32);
    model.set_u64(which, chosen as u64);
    model.set_u64(reset, 1);
    model.tick(clock).unwrap();
    model.tick(clock).unwrap();
    model.set_u64(reset, 0);
    let mut values: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for cycle in cycles(mutant.inputs).split(';') {
        let mut times = 1;
        for word in cycle.split_whitespace() {
            if let Some(count) = word.strip_prefix('*') {
                times = number(count);
                continue;
            }
            let (port, value) = word.split_once('=').unwrap_or_else(|| panic!("{word}: expected port=value"));
            let (name, lsb) = port.split_once('[').map_or((port, None), |(name, lsb)| {
                (name, Some(number(lsb.strip_suffix(']').unwrap_or(lsb))))
            });
            let of_port = design.ports.iter().find(|port| port.name == name);
            let width = of_port.unwrap_or_else(|| panic!("{}: no port {name}", design.top)).width;
            let words = values.entry(name.to_string()).or_insert_with(|| vec![0; width.div_ceil(32) + 2]);
            if lsb.is_none() {
                words.fill(0);
            }
            let (lsb, value) = (lsb.unwrap_or(0) as usize, u128::from(number(value)));
            for (place, word) in words[lsb / 32..].iter_mut().take(3).enumerate() {
                *word |= (value << (lsb % 32) >> (32 * place)) as u32;
            }
            let handle = input(&model, &format!("{}_{name}", design.top), width);
            model.set_words(handle, &words[..width.div_ceil(32)]);
        }
        for _ in 0..times {
            if let Err(error) = model.tick(clock) {
                let error = error.to_string();
                let place = error.split(':').filter_map(|part| part.trim().parse::<usize>().ok()).next();
                let line = place.and_then(|number| text.lines().nth(number - 1));
                return Some(line.unwrap_or(&error).trim().to_string());
            }
        }
    }
    None
}

/// Every condition has its mutant; each mutant breaks its own condition before any other, and the
/// unit without it none.
pub fn all_are_noticed(cases: &[Case]) {
    let text = bench(cases);
    let options = ModelOptions {
        verilator_flags: vec!["--assert".to_string()],
        optimize: false,
        ..ModelOptions::new("bench")
    };
    let library = Model::build(&text, &options).unwrap_or_else(|error| panic!("{error}"));
    let (mut count, mut wrong) = (0, Vec::new());
    for Case { design, mutants } in cases {
        let mut left = conditions(top(design));
        for mutant in *mutants {
            count += 1;
            let (unit, condition) = (&design.top, mutant.condition);
            left.retain(|name| *name != condition);
            if let Some(line) = play(&library, &text, design, mutant, 0) {
                wrong.push(format!("{unit}, {condition}: without the mutant: {line}"));
            }
            let noticed = play(&library, &text, design, mutant, count);
            let expected = format!("assert_{condition}: ");
            if !noticed.as_deref().is_some_and(|line| line.starts_with(&expected)) {
                wrong.push(format!("{unit}, {condition}: with the mutant: {noticed:?}"));
            }
        }
        wrong.extend(left.iter().map(|name| format!("{}, {name}: no mutant", design.top)));
    }
    println!("{count} mutants");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
