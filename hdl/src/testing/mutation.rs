//! How many single faults in a unit's Verilog its equivalence test notices.
//!
//! With `HERMES_MUTATIONS=N` an equivalence test keeps its inputs and the outputs of rust-hdl's
//! simulation. Afterwards Yosys puts `N` faults into the flattened Verilog, of which the new port
//! `mutsel` chooses one; the inputs are played to each, and a fault is noticed if an output differs
//! from the recorded one, that is, if the test would have failed. What came out is written to the
//! folder `HERMES_MUTATION_REPORT`. `scripts/mutation` runs it for the control units.

use std::fs;
use std::path::Path;
use std::process::Command;

use verilator_sys::{Input, Model, ModelOptions, Output};

use crate::emit::{Design, Direction};

/// Bits of the port that chooses the fault; 0 is none.
const SELECT_BITS: usize = 16;

/// What a test did to the unit, and what the unit answered.
#[derive(Default)]
pub(crate) struct Recording {
    /// Identifier and width of each input.
    pub inputs: Vec<(String, usize)>,
    /// Identifier and width of each output.
    pub outputs: Vec<(String, usize)>,
    /// One entry for each evaluation of the model.
    pub steps: Vec<Step>,
}

/// One evaluation.
pub(crate) struct Step {
    /// Value of each input, 32 bits a word, lowest first.
    pub inputs: Vec<Vec<u32>>,
    /// Value that each output has to have; nothing if it may have any.
    pub outputs: Option<Vec<Vec<u32>>>,
}

/// The number of faults asked for with `HERMES_MUTATIONS`.
pub(crate) fn wanted() -> Option<usize> {
    let text = std::env::var("HERMES_MUTATIONS").ok()?;
    let count = text.parse().ok().filter(|count| (1..1 << SELECT_BITS).contains(count));
    Some(count.unwrap_or_else(|| panic!("HERMES_MUTATIONS: `{text}` is not a number of faults")))
}

/// One fault, and what became of it.
pub(crate) struct Fault {
    /// The arguments of Yosys's `mutate` that make it, but for places in the source. Cells have
    /// names after the wires that they drive or read (Yosys's `autoname`), which stay when other
    /// lines of the unit change.
    pub arguments: String,
    /// Evaluation in which it was noticed.
    pub noticed: Option<usize>,
}

/// Puts `count` faults into `design`, one at a time, and plays the recording to each.
///
/// # Panics
/// If Yosys or Verilator fail, or if the recording does not fit the design without a fault.
pub(crate) fn measure(design: &Design, recording: &Recording, count: usize) -> Vec<Fault> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = faults(design, folder.path(), count);
    let verilog = fs::read_to_string(folder.path().join("mutated.v")).expect("the faulty Verilog");
    let mut options = ModelOptions::new("bench");
    options.jobs = 2;
    // The model serves once.
    options.cache = Some(folder.path().join("cache"));
    let library = Model::build(&wrapped(&verilog, design), &options).unwrap_or_else(|e| panic!("{e}"));
    let played = |number: usize| {
        let mut model = library.instantiate().unwrap_or_else(|e| panic!("{e}"));
        play(&mut model, recording, number)
    };
    assert_eq!(played(0), None, "{}: the Verilog without a fault differs", design.top);
    let judge = |(i, arguments)| Fault { arguments, noticed: played(i + 1) };
    arguments.into_iter().enumerate().map(judge).collect()
}

/// Lets Yosys write `mutated.v` into `folder`; returns how it made each fault, as [`Fault`] says.
/// What has no effect in this unit, such as upper bits that are always 0, is optimized away before,
/// as synthesis would do, so that no fault hits it.
fn faults(design: &Design, folder: &Path, count: usize) -> Vec<String> {
    let yosys = |script: &str| {
        fs::write(folder.join("script.ys"), script).expect("a script for Yosys");
        let output = Command::new("yosys").args(["-q", "script.ys"]).current_dir(folder).output();
        let output = output.unwrap_or_else(|e| panic!("cannot run yosys: {e}; it must be installed"));
        assert!(output.status.success(), "yosys: {}", String::from_utf8_lossy(&output.stderr));
    };
    fs::write(folder.join("unit.v"), design.verilog()).expect("the unit's Verilog");
    // As in simulation, where a RAM gives the inverse of a word that is read while it is written.
    yosys(&format!(
        "read_verilog -nosynthesis unit.v\nhierarchy -check -top {}\nproc\nflatten\nopt -full\nwreduce\nopt -full\n\
         mutate -list {count} -seed 1 -o list.txt\nwrite_rtlil unit.il\n",
        design.top
    ));
    let list = fs::read_to_string(folder.join("list.txt")).expect("Yosys's list of faults");
    let arguments: Vec<String> =
        list.lines().filter_map(|l| l.strip_prefix("mutate ")).map(String::from).collect();
    assert!(!arguments.is_empty(), "{}: Yosys found nothing to break", design.top);
    let mut script = String::from("read_rtlil unit.il\n");
    for (i, fault) in arguments.iter().enumerate() {
        script += &format!("mutate -ctrl mutsel {SELECT_BITS} {} {fault}\n", i + 1);
    }
    yosys(&(script + "write_verilog -noattr mutated.v\n"));

    // The cell of each fault is marked while it has the name that Yosys gave it first.
    let mut script = String::from("read_rtlil unit.il\n");
    for (i, fault) in arguments.iter().enumerate() {
        script += &format!("setattr -set fault_{i} 1 c:{}\n", argument(fault, "-cell"));
    }
    script += "autoname\n";
    for i in 0..arguments.len() {
        script += &format!("tee -a names.txt select -list a:fault_{i}\n");
    }
    yosys(&script);
    let names = fs::read_to_string(folder.join("names.txt")).expect("the names of the cells");
    let names: Vec<&str> =
        names.lines().filter_map(|line| line.split_once('/')).map(|(_, cell)| cell).collect();
    assert_eq!(names.len(), arguments.len(), "{}: names of the cells of its faults", design.top);
    arguments.iter().zip(names).map(|(fault, cell)| named(fault, cell)).collect()
}

/// The value of an argument of `mutate`.
fn argument<'a>(fault: &'a str, option: &str) -> &'a str {
    let mut words = fault.split_whitespace().skip_while(|word| *word != option);
    words.nth(1).unwrap_or_else(|| panic!("{fault}: no {option}"))
}

/// The arguments of `mutate` with another name of the cell, and without places in the source.
fn named(fault: &str, cell: &str) -> String {
    let options = fault.split_whitespace().filter(|word| word.starts_with('-'));
    let kept = options.filter(|option| !matches!(*option, "-src" | "-wire" | "-wirebit"));
    let value = |option| if option == "-cell" { cell } else { argument(fault, option) };
    kept.map(|option| format!("{option} {}", value(option))).collect::<Vec<_>>().join(" ")
}

/// The faulty design in a module whose ports are called `io_` and the port's name, as the
/// equivalence tests have it.
fn wrapped(verilog: &str, design: &Design) -> String {
    let mut ports = vec![format!("input wire [{}:0] io_mutsel", SELECT_BITS - 1)];
    let mut connections = vec![".mutsel(io_mutsel)".to_string()];
    for p in &design.ports {
        let direction = if p.direction == Direction::Input { "input" } else { "output" };
        ports.push(format!("{direction} wire [{}:0] io_{}", p.width - 1, p.name));
        connections.push(format!(".{0}(io_{0})", p.name));
    }
    format!(
        "{verilog}\nmodule bench ({});\n{} unit ({});\nendmodule\n",
        ports.join(", "),
        design.top,
        connections.join(", ")
    )
}

/// Plays the recording to the fault `number`; returns the first evaluation whose outputs differ, or
/// that fails.
fn play(model: &mut Model, recording: &Recording, number: usize) -> Option<usize> {
    let select = model.input("io_mutsel", SELECT_BITS).unwrap_or_else(|e| panic!("{e}"));
    let inputs: Vec<Input> = recording
        .inputs
        .iter()
        .map(|(name, width)| model.input(&format!("io_{name}"), *width).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    let outputs: Vec<(usize, Output)> = recording
        .outputs
        .iter()
        .map(|(name, width)| {
            let output = model.output(&format!("io_{name}"), *width).unwrap_or_else(|e| panic!("{e}"));
            (width.div_ceil(32), output)
        })
        .collect();
    model.set_u64(select, number as u64);
    for (index, step) in recording.steps.iter().enumerate() {
        for (handle, words) in inputs.iter().zip(&step.inputs) {
            model.set_words(*handle, words);
        }
        // A fault may make a combinational loop, which does not settle.
        if model.eval().is_err() {
            return Some(index);
        }
        let Some(expected) = &step.outputs else { continue };
        for ((size, handle), expected) in outputs.iter().zip(expected) {
            let mut words = vec![0; *size];
            model.read_words(*handle, &mut words);
            while words.last() == Some(&0) {
                words.pop();
            }
            if words != *expected {
                return Some(index);
            }
        }
    }
    None
}

/// Measures a recording of a test and writes what came out to the folder `HERMES_MUTATION_REPORT`:
/// a line for each fault, with a mark, the evaluation and the fault.
pub(crate) fn report(design: &Design, recording: &Recording, count: usize) {
    let faults = measure(design, recording, count);
    let noticed = faults.iter().filter(|f| f.noticed.is_some()).count();
    println!("{}: {noticed} of {} faults noticed", design.top, faults.len());
    let Ok(folder) = std::env::var("HERMES_MUTATION_REPORT") else { return };
    let lines: String = faults
        .iter()
        .map(|f| match f.noticed {
            Some(step) => format!("noticed {step} {}\n", f.arguments),
            None => format!("MISSED - {}\n", f.arguments),
        })
        .collect();
    // Tests of the same unit in different sizes have different names.
    let test = std::thread::current().name().unwrap_or(&design.top).replace("::", ".");
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    fs::write(folder.join(format!("{test}.txt")), lines)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::emit;
    use crate::emit::example::Debounce;
    use crate::emit::Port;

    /// The example with a quiet input: its outputs stay 0, as they must, and no fault in what
    /// follows a change of the input is noticed; an input that moves afterwards finds some.
    #[test]
    fn a_poor_test_notices_less() {
        let unit = Debounce::<2>::default();
        let design = emit(&unit, "debounce").unwrap();
        let recording = recorded(&design);
        let faults = measure(&design, &recording, 8);
        let noticed = |steps: usize| {
            faults.iter().filter(|fault| fault.noticed.is_some_and(|step| step < steps)).count()
        };
        let (poor, better) = (noticed(2 * QUIET), noticed(recording.steps.len()));
        println!("{poor} and {better} of 8 noticed");
        assert!(poor < better && better >= 4);
    }

    /// The names of faults do not change with the lines of the unit.
    #[test]
    fn faults_are_named_after_signals() {
        let mut design = emit(&Debounce::<2>::default(), "debounce").unwrap();
        let names = |design: &Design| faults(design, tempfile::tempdir().unwrap().path(), 12);
        let before = names(&design);
        for module in &mut design.modules {
            module.text.insert_str(0, "\n\n// Moved\n");
        }
        assert_eq!(before, names(&design));
        assert!(before.iter().all(|fault| !fault.contains(".v:") && !fault.contains("-src")), "{before:#?}");
        assert!(before.iter().any(|fault| fault.contains("-cell age_")), "{before:#?}");
    }

    /// Cycles in which the input is quiet, and as many in which it moves.
    const QUIET: usize = 200;

    /// A recording of the design without a fault.
    fn recorded(design: &Design) -> Recording {
        let ports = |direction| {
            let of = |p: &&Port| p.direction == direction;
            design.ports.iter().filter(of).map(|p| (p.name.clone(), p.width)).collect::<Vec<_>>()
        };
        let mut recording =
            Recording { inputs: ports(Direction::Input), outputs: ports(Direction::Output), steps: vec![] };
        let mut options = ModelOptions::new(&design.top);
        options.jobs = 2;
        options.optimize = false;
        let mut model = Model::build(&design.verilog(), &options).unwrap().instantiate().unwrap();
        let handles: Vec<Input> =
            recording.inputs.iter().map(|(name, width)| model.input(name, *width).unwrap()).collect();
        let outputs: Vec<Output> =
            recording.outputs.iter().map(|(name, width)| model.output(name, *width).unwrap()).collect();
        for cycle in 0..2 * QUIET {
            for clock in [false, true] {
                let value = |name: &str| match name {
                    "clk" => u32::from(clock),
                    "rst" => u32::from(cycle < 2),
                    _ => u32::from(cycle >= QUIET && cycle / 9 % 2 == 1),
                };
                let inputs: Vec<Vec<u32>> =
                    recording.inputs.iter().map(|(name, _)| vec![value(name)]).collect();
                for (handle, words) in handles.iter().zip(&inputs) {
                    model.set_words(*handle, words);
                }
                model.eval().unwrap();
                let trimmed = |output: &Output| {
                    let mut words = vec![0; 2];
                    model.read_words(*output, &mut words);
                    while words.last() == Some(&0) {
                        words.pop();
                    }
                    words
                };
                let known = (cycle >= 2).then(|| outputs.iter().map(trimmed).collect());
                recording.steps.push(Step { inputs, outputs: known });
            }
        }
        recording
    }
}
