//! The Verilog of every preset is the one on record, plain and with all options, and so are the
//! ports of its top.
//!
//! `golden/verilog.txt` has two hashes a configuration: of the text without comments, and of the
//! same with runs of declarations sorted, which tells a new order of declarations from a new
//! circuit. A change is made on purpose and is a line of that file, with its reason:
//!
//!     HERMES_REASON="what changed, and why" cargo test -p hermes-rtl --test golden
//!
//! writes the lines that differ, and the port lists in `golden/ports/`, anew.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/configurations.rs"]
mod configurations;
mod port_comments;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use configurations::configurations;
use hermes_hdl::emit::{Design, Direction};
use hermes_rtl::config::OPTIONS;
use hermes_rtl::top::emit_top;
use sha2::{Digest, Sha256};

const HEAD: &str = "# Configuration, hash of the Verilog without comments, hash with runs of declarations sorted, reason of the last change. \
                    See tests/golden.\n";

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

/// Each part that an array may have is in one of the configurations at least.
#[test]
fn no_part_is_left_out() {
    let configurations = configurations();
    for option in OPTIONS.iter().filter(|option| option.usual == Some(0)) {
        let is_there = configurations.iter().any(|(_, config)| (option.get)(config) != 0);
        assert!(is_there, "{}: is in no configuration on record", option.name);
    }
    for option in OPTIONS {
        for value in option.golden.iter().flatten() {
            let is_there = configurations.iter().any(|(_, config)| (option.get)(config) == *value);
            assert!(is_there, "{}: {value} is in no configuration on record", option.name);
        }
    }
}

/// What the configurations are as Verilog.
fn designs() -> &'static [(String, Design)] {
    static DESIGNS: OnceLock<Vec<(String, Design)>> = OnceLock::new();
    DESIGNS.get_or_init(|| {
        configurations().into_iter().map(|(name, config)| (name, emit_top(&config).unwrap())).collect()
    })
}

/// The lines of the text that are no comments.
fn code(verilog: &str) -> Vec<&str> {
    let without_comment = |line| str::split_once(line, "//").map_or(line, |(code, _)| code).trim_end();
    verilog.lines().map(without_comment).filter(|line| !line.is_empty()).collect()
}

/// The same with the declarations that follow each other in the order of the alphabet.
fn sorted<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let is_declaration = |line: &str| {
        let rest = line.strip_prefix("    wire ").or_else(|| line.strip_prefix("    reg  "));
        rest.is_some_and(|rest| rest.ends_with(';') && !rest.contains('='))
    };
    let mut out: Vec<&str> = Vec::new();
    let mut begin = 0;
    for line in lines {
        if !is_declaration(line) {
            out[begin..].sort_unstable();
            out.push(line);
            begin = out.len();
        } else {
            out.push(line);
        }
    }
    out[begin..].sort_unstable();
    out
}

fn hash(lines: &[&str]) -> String {
    let digest = Sha256::digest(lines.join("\n"));
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn ports(design: &Design) -> String {
    design.ports.iter().fold(String::new(), |mut text, port| {
        let direction = if port.direction == Direction::Input { "input" } else { "output" };
        let _ = writeln!(text, "{direction:6} {:4} {}", port.width, port.name);
        text
    })
}

#[test]
fn verilog_and_ports_are_those_on_record() {
    let reason = std::env::var("HERMES_REASON").ok().filter(|reason| !reason.trim().is_empty());
    let record = fs::read_to_string(golden("verilog.txt")).unwrap_or_default();
    let (mut text, mut differences) = (HEAD.to_string(), Vec::new());
    for (name, design) in designs() {
        let verilog = design.verilog();
        let lines = code(&verilog);
        let hashes = [hash(&lines), hash(&sorted(&lines))];
        let known = record.lines().find(|line| line.split(' ').next() == Some(name)).unwrap_or_default();
        let fields: Vec<&str> = known.splitn(4, ' ').collect();
        if fields.get(1..3) == Some(&[hashes[0].as_str(), hashes[1].as_str()]) {
            let _ = writeln!(text, "{known}");
        } else {
            let same = fields.get(2) == Some(&hashes[1].as_str());
            differences
                .push(format!("{name}: {}", if same { "the order of declarations" } else { "the circuit" }));
            let _ = writeln!(text, "{name} {} {} {}", hashes[0], hashes[1], reason.as_deref().unwrap_or("-"));
        }
        let path = golden(&format!("ports/{name}.txt"));
        let ports = ports(design);
        if fs::read_to_string(&path).unwrap_or_default() != ports {
            differences.push(format!("{name}: the ports"));
            if reason.is_some() {
                fs::create_dir_all(golden("ports")).unwrap();
                fs::write(path, ports).unwrap();
            }
        }
    }
    if reason.is_some() {
        fs::write(golden("verilog.txt"), text).unwrap();
        return;
    }
    assert!(
        differences.is_empty(),
        "the Verilog is not that on record:\n{}\nif that is meant, HERMES_REASON=\"why\" writes it to the record",
        differences.join("\n")
    );
}

/// Loops of kernels up to a number that some array has as 0, and why that is no part that may be
/// absent: such a part is a `Part`, and what is done with it stands in an `if`.
const MAY_BE_EMPTY: [(&str, &str, &str); 8] = [
    ("command_processor", "_channels", "in a branch for processors with channels"),
    ("memory_system", "_watched", "in a branch for memory systems with write monitors"),
    ("memory_system", "_reserving", "in a branch for memory systems with atomic operations"),
    ("index_hash", "_bits", "a memory of one set has no index"),
    ("index_hash", "_groups", "as `_bits`"),
    ("index_hash", "_rest", "the address may be a multiple of the index"),
    ("path_selector", "_late", "few lanes play fewer rounds"),
    ("path_selector", "_late_games", "as `_late`"),
];

/// The numbers up to which the kernels in a source file have loops: `_cores` of
/// `for i in 0..self._cores`, with the type of the unit in snake case.
fn bounds_of_loops(source: &str) -> Vec<(String, String)> {
    let (mut unit, mut bounds) = (String::new(), Vec::new());
    for line in source.lines() {
        if let Some((_, name)) = line.strip_prefix("impl").and_then(|rest| rest.split_once("Logic for ")) {
            let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            unit = snake_case(name);
        }
        if let Some((_, rest)) = line.split_once(" in 0..self._") {
            let name = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
            bounds.push((unit.clone(), format!("_{name}")));
        }
    }
    bounds
}

/// `LineStore` as `line_store`.
fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// What may be absent is a `Part`: no kernel has a loop over none or one, or over none or all.
#[test]
fn no_loop_stands_for_a_part_that_may_be_absent() {
    let mut values: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for module in designs().iter().flat_map(|(_, design)| &design.modules) {
        for (name, value) in &module.numbers {
            values.entry((&module.unit, name)).or_default().insert(value);
        }
    }
    let mut files = Vec::new();
    common::sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let bounds: BTreeSet<(String, String)> =
        files.iter().flat_map(|path| bounds_of_loops(&fs::read_to_string(path).unwrap())).collect();
    let may_be_empty =
        |unit: &str, name: &str| values.get(&(unit, name)).is_some_and(|values| values.contains("0"));
    let found: Vec<&(String, String)> =
        bounds.iter().filter(|(unit, name)| may_be_empty(unit, name)).collect();
    assert!(bounds.len() > 60 && values.len() > 60, "{} loops, {} numbers", bounds.len(), values.len());
    let known = |(unit, name): &(String, String)| {
        MAY_BE_EMPTY.iter().any(|(of, number, _)| of == unit && number == name)
    };
    let new: Vec<_> = found.iter().filter(|bound| !known(bound)).collect();
    assert!(new.is_empty(), "loops over what may be absent: a `Part`, or a reason in MAY_BE_EMPTY: {new:?}");
    for (unit, name, _) in MAY_BE_EMPTY {
        assert!(found.iter().any(|(of, number)| of == unit && number == name), "{unit}.{name}: no such loop");
    }
}

#[test]
fn bounds_of_loops_are_those_of_the_unit() {
    let source = "impl<const A: usize> Logic for LineStore<A> {\n    for i in 0..self._lines {\n for _i in 0..4 {\n}\nimpl Logic for Bank {\n for b in 0..self._ways {";
    let expected = [("line_store", "_lines"), ("bank", "_ways")];
    assert_eq!(bounds_of_loops(source), expected.map(|(unit, name)| (unit.into(), name.into())));
}

/// Names that are another name and a number, as `count_2` beside `count`, unless they are elements
/// of a vector, of which 0 or 1 is there, too.
fn numbered<'a>(names: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let is_numbered = |name: &str| {
        let Some((base, number)) = name.rsplit_once('_') else { return false };
        let is_element = || (0..2).any(|first| names.contains(format!("{base}_{first}").as_str()));
        number.parse::<usize>().is_ok_and(|number| number >= 2) && names.contains(base) && !is_element()
    };
    names.iter().copied().filter(|name| is_numbered(name)).collect()
}

/// The words of a module that are no comments.
fn words(text: &str) -> BTreeSet<&str> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    code(text).iter().flat_map(|line| line.split(|c| !word(c))).collect()
}

/// Whether a word is a localparam with its own width behind its name: one that a kernel uses with
/// several widths, as `HEADER_BYTES_16` with 16 bits.
fn is_of_its_width(text: &str, word: &str) -> bool {
    let Some(width) = word.rsplit_once('_').and_then(|(_, width)| width.parse::<usize>().ok()) else {
        return false;
    };
    let declared = format!("[{}:0] {word} = ", width.saturating_sub(1));
    text.lines().any(|line| line.trim_start().starts_with("localparam") && line.contains(&declared))
}

#[test]
fn no_name_is_a_running_number() {
    for (name, design) in designs() {
        let modules: BTreeSet<&str> = design.modules.iter().map(|module| module.name.as_str()).collect();
        assert_eq!(numbered(&modules), [""; 0], "{name}: modules");
        for module in &design.modules {
            let mut inside = words(&module.text);
            inside.retain(|word| !modules.contains(word) && !is_of_its_width(&module.text, word));
            assert_eq!(numbered(&inside), [""; 0], "{name}: module {}", module.name);
        }
    }
}

#[test]
fn running_numbers_are_told_from_elements() {
    let text = "wire line_0; wire line_1; wire line_2; wire line; wire x_2; reg count; // count_2\n";
    assert_eq!(numbered(&words(text)), [""; 0]);
    assert_eq!(numbered(&words(&text.replace("// ", ""))), ["count_2"]);
    let localparam = "localparam [15:0] BYTES_16 = 16'd14;";
    assert!(is_of_its_width(localparam, "BYTES_16") && !is_of_its_width(localparam, "BYTES_15"));
    assert!(!is_of_its_width(&localparam.replace("15:0", "7:0"), "BYTES_16"));
}

#[test]
fn comments_and_the_order_of_declarations_are_told_from_the_circuit() {
    let one =
        "// a\nmodule m (\n);\n    wire b;  // c\n    reg  [1:0] a;\n\n    assign b = a[0];\nendmodule\n";
    let other = "module m (\n);\n    reg  [1:0] a;\n    wire b;\n    assign b = a[0];\nendmodule\n";
    let changed = other.replace("a[0]", "a[1]");
    assert_ne!(code(one), code(other));
    assert_eq!(sorted(&code(one)), sorted(&code(other)));
    assert_ne!(sorted(&code(one)), sorted(&code(&changed)));
}
