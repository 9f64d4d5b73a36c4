//! The emitted array through the tools of its users: lint, parse, elaborate, synthesize, and the
//! speed of emission.
//!
//! `VERILATOR` names another Verilator than the one on the search path. The ignored tests need the
//! Python packages `fusesoc` and `systemrdl-compiler`; `HERMES_PYTHON` names the Python that has
//! them, such as that of a virtual environment.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use hermes_artefacts::FileLayout;
use hermes_hdl::emit::Design;
use hermes_rtl::config::Config;
use hermes_rtl::host::registers::registers_of;
use hermes_rtl::top::{emit_top, emit_top_prefixed};

/// Runs a tool; returns what it says.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|e| panic!("cannot run {program}: {e}; it must be installed for this test"));
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}:\n{text}");
    text.into_owned()
}

/// Runs a tool, which must succeed without a word.
fn silent(folder: &Path, program: &str, arguments: &[&str]) {
    let text = run(folder, program, arguments);
    assert!(text.trim().is_empty(), "{program} {arguments:?} says:\n{text}");
}

fn verilator() -> String {
    std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into())
}

fn python() -> String {
    std::env::var("HERMES_PYTHON").unwrap_or_else(|_| "python3".into())
}

/// Emits an array with everything beside it into a new folder.
fn emit_config(config: &Config) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), config, &emit_top(config).unwrap(), FileLayout::OneFile);
    folder
}

fn write(folder: &Path, config: &Config, design: &Design, layout: FileLayout) {
    for (name, text) in hermes_artefacts::all(design, config, &registers_of(config), 50.0, layout, None) {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// Emits a preset with everything beside it into a new folder.
fn emit(preset: &str) -> tempfile::TempDir {
    emit_config(&Config::preset(preset).unwrap())
}

/// Lints the design with its assertions beside it.
fn lint_and_parse(folder: &Path) {
    silent(folder, "iverilog", &["-Wall", "-t", "null", "-g2005", "-s", "hermes_top", "hermes_top.v"]);
    lint(folder, &["--assert", "-f", "hermes_top_checks.f"]);
}

fn lint(folder: &Path, files: &[&str]) {
    let arguments = [&["--lint-only", "-Wall", "--top-module", "hermes_top"], files].concat();
    let said = run(folder, &verilator(), &arguments);
    // Newer Verilators print statistics, in lines that begin with a dash.
    let messages: Vec<&str> = said.lines().filter(|l| !l.starts_with("- ") && !l.trim().is_empty()).collect();
    assert!(messages.is_empty(), "Verilator says with {files:?}:\n{said}");
}

/// Elaborates; no process may hold a latch.
fn elaborate(folder: &Path) {
    let script = "read_verilog hermes_top.v; hierarchy -check -top hermes_top; proc; check -assert; \
                  select -assert-none t:$dlatch t:$adlatch t:$dlatchsr";
    silent(folder, "yosys", &["-q", "-p", script]);
}

/// Synthesizes for an ECP5 up to the mapping of memories and flip-flops: register files (two block
/// RAMs a lane) and the instruction caches are block RAMs, and no memory is left over for
/// flip-flops. Each module is mapped once, since flattening doubles the time.
fn synthesize(folder: &Path, lanes: usize, cores: usize) {
    let script = "read_verilog hermes_top.v; synth_ecp5 -noflatten -top hermes_top -run begin:map_gates; \
                  select -assert-none t:$mem t:$mem_v2 t:$dlatch; tee -q -o statistics.txt stat -top hermes_top";
    silent(folder, "yosys", &["-q", "-p", script]);
    let statistics = std::fs::read_to_string(folder.join("statistics.txt")).unwrap();
    let blocks: usize = statistics
        .lines()
        .filter_map(|line| line.trim().strip_prefix("DP16KD"))
        .map(|count| count.trim().parse::<usize>().unwrap())
        .next_back()
        .expect("the statistics name DP16KD, the block RAM of ECP5");
    assert!(blocks >= cores * (2 * lanes + 2), "{blocks} block RAMs");
}

#[test]
fn default_preset_is_clean() {
    let folder = emit("default");
    lint(folder.path(), &["-f", "hermes_top.f"]);
    lint_and_parse(folder.path());
}

#[test]
#[ignore = "minutes: synthesis of three cores"]
fn presets_synthesize() {
    synthesize(emit("default").path(), 8, 2);
    synthesize(emit("fpga").path(), 8, 1);
}

#[test]
fn fpga_preset_is_clean() {
    lint_and_parse(emit("fpga").path());
}

/// Synthesized are two of its eight lanes.
#[test]
#[ignore = "minutes: synthesis of a core"]
fn fpga_preset_synthesizes() {
    let config = Config { lanes: 2, ..Config::preset("fpga").unwrap() };
    synthesize(emit_config(&config).path(), 2, 1);
}

/// Packet ports and a network interface, each alone and both with two channels and a cycle for
/// look-ups in the L2. The packet ports have load counters beside them.
#[test]
fn packet_ports_and_network_interface_are_clean() {
    for (packet_ports, network) in [(true, false), (false, true), (true, true)] {
        let config = Config {
            cores: 1,
            packet_ports,
            network,
            atomics: network,
            l2_look_up_cycle: packet_ports && network,
            load_counters: packet_ports,
            channels: 2,
            lanes: 2,
            ..Config::preset("default").unwrap()
        };
        lint_and_parse(emit_config(&config).path());
    }
}

/// Command processor, user-level interrupts and thread spawner, alone and together; elaborated is
/// all of it, with a network interface.
#[test]
fn command_processor_and_thread_spawner_are_clean() {
    for (command_threads, uli_channels, spawn_slots) in [(1, 0, 0), (0, 0, 8), (1, 2, 16)] {
        let small =
            Config { cores: 1, lanes: 2, atomics: spawn_slots == 16, ..Config::preset("default").unwrap() };
        let all = uli_channels > 0;
        let small = Config { load_counters: all, network: all, ..small };
        let command_cache_lines = if uli_channels > 0 { 64 } else { 0 };
        let parts = Config { command_threads, command_cache_lines, uli_channels, spawn_slots, ..small };
        let folder = emit_config(&parts);
        lint_and_parse(folder.path());
        if all {
            elaborate(folder.path());
        }
    }
}

/// Two cores, four harts with caches and atomic operations, 16 jobs.
#[test]
fn pangaea_preset_is_clean() {
    lint_and_parse(emit("pangaea").path());
}

/// A core with network interface and atomic operations, four harts with caches.
#[test]
#[ignore = "minutes: its parts are in the other presets"]
fn node_preset_is_clean() {
    let folder = emit("node");
    lint_and_parse(folder.path());
    elaborate(folder.path());
}

/// Network functions on two cores, with packet ports and a cycle for look-ups in the L2, are
/// elaborated; with a `line directive before each module, for which lint tools take each for a file
/// of its own.
#[test]
fn network_functions_and_line_directives_are_clean() {
    let config = Config {
        cores: 2,
        lanes: 2,
        channels: 2,
        l2_look_up_cycle: true,
        atomics: true,
        packet_ports: true,
        local_window: true,
        network_functions: 4,
        ..Config::preset("default").unwrap()
    };
    config.validate().unwrap();
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &config, &emit_top(&config).unwrap(), FileLayout::OneFileWithLines);
    lint_and_parse(folder.path());
    elaborate(folder.path());
}

/// Two arrays with prefixes in one design: every module, file and macro has a name of its own.
#[test]
fn two_configurations_stand_in_one_design() {
    let folder = tempfile::tempdir().unwrap();
    let small = Config { cores: 1, lanes: 4, warps: 4, ..Config::preset("fpga").unwrap() };
    let large = Config { packet_ports: true, lanes: 2, ..Config::preset("default").unwrap() };
    let mut files: Vec<String> = Vec::new();
    for (prefix, config) in [("small_", &small), ("large_", &large)] {
        let design = emit_top_prefixed(config, prefix).unwrap();
        for (name, text) in
            hermes_artefacts::all(&design, config, &registers_of(config), 50.0, FileLayout::OneFile, None)
        {
            assert!(!files.contains(&name), "{name} twice");
            std::fs::write(folder.path().join(&name), text).unwrap();
            files.push(name);
        }
    }
    let both = "module both (input wire clk, input wire rst);\n\
                small_hermes_top one (.clk(clk), .rst(rst));\n\
                large_hermes_top other (.clk(clk), .rst(rst));\nendmodule\n";
    std::fs::write(folder.path().join("both.v"), both).unwrap();
    let sources = ["both.v", "small_hermes_top.v", "large_hermes_top.v"];
    silent(folder.path(), "iverilog", &[&["-g2005", "-s", "both", "-o", "both.vvp"][..], &sources].concat());
    // No `proc` as where a preset is elaborated: names are at stake here.
    let script = format!("read_verilog {}; hierarchy -check -top both", sources.join(" "));
    silent(folder.path(), "yosys", &["-q", "-p", &script]);
    let waived = ["--lint-only", "-Wall", "-Wno-PINMISSING", "-Wno-DECLFILENAME", "--top-module", "both"];
    run(folder.path(), &verilator(), &[&waived[..], &sources].concat());
    let header = "#include \"small_hermes_top_registers.h\"\n#include \"large_hermes_top_registers.h\"\n\
                  int offsets = SMALL_HERMES_COMMITTED_PACKETS + LARGE_HERMES_COMMITTED_PACKETS;\n";
    std::fs::write(folder.path().join("use.c"), header).unwrap();
    silent(folder.path(), "cc", &["-std=c99", "-Wall", "-Wextra", "-pedantic", "-fsyntax-only", "use.c"]);
}

/// The names that a module's `always @*` blocks assign, block by block.
fn assigned(module: &str) -> Vec<BTreeSet<&str>> {
    let blocks =
        module.split("    always @* begin").skip(1).filter_map(|rest| rest.split("\n    end\n").next());
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    // The condition, label or head of a loop may stand on the same line.
    fn target(line: &str) -> &str {
        let is_loop = line.trim_start().starts_with("for (");
        let line = line.split_once(") ").filter(|_| is_loop).map_or(line, |(_, body)| body);
        let (before, _) = line.split_once(" = ").unwrap_or_default();
        let before = before.rsplit_once(") ").map_or(before, |(_, target)| target);
        before
            .split_once(": ")
            .filter(|(label, _)| !label.ends_with('+'))
            .map_or(before, |(_, target)| target)
    }
    blocks
        .map(|block| {
            let parts = block.lines().flat_map(|line| target(line).split(','));
            let name =
                |part| str::trim_start_matches(part, [' ', '{']).split(word).next().unwrap_or_default();
            parts.map(name).filter(|name| !name.is_empty()).collect()
        })
        .collect()
}

/// No variable of a preset is driven by two blocks, which SystemVerilog forbids for `always_comb`.
/// More than two cores have the same modules.
#[test]
fn no_variable_is_driven_by_two_blocks() {
    for preset in Config::PRESETS {
        let usual = Config::preset(preset).unwrap();
        let config = Config {
            cores: usual.cores.min(2),
            packet_ports: true,
            atomics: true,
            command_threads: 1,
            command_cache_lines: 64,
            uli_channels: 2,
            spawn_slots: 16,
            network: true,
            ..usual
        };
        let design = emit_top(&config).unwrap();
        let mut blocks = 0;
        for module in &design.modules {
            let mut seen: BTreeSet<&str> = BTreeSet::new();
            for names in assigned(&module.text) {
                blocks += 1;
                for name in names {
                    assert!(seen.insert(name), "{preset}: {}: {name} is driven by two blocks", module.name);
                }
            }
        }
        assert!(blocks > 100, "{preset}: {blocks} blocks");
    }
}

/// Linted is one of its cores: all have the same modules.
#[test]
fn paper_preset_is_clean_and_small() {
    let config = Config::preset("paper").unwrap();
    let start = std::time::Instant::now();
    let design = emit_top(&config).unwrap();
    println!("paper: {} modules in {:.2?}", design.modules.len(), start.elapsed());
    assert!(design.modules.len() < 200, "{} modules", design.modules.len());
    let again = emit_top(&config).unwrap();
    assert!(design.verilog() == again.verilog(), "two runs differ");
    lint_and_parse(emit_config(&Config { cores: 1, ..config }).path());
}

#[test]
fn header_compiles_as_c() {
    let folder = emit("fpga");
    let source = "#include \"hermes_top_registers.h\"\nint offset = HERMES_COMMITTED_PACKETS;\n";
    std::fs::write(folder.path().join("use.c"), source).unwrap();
    silent(folder.path(), "cc", &["-std=c99", "-Wall", "-Wextra", "-pedantic", "-fsyntax-only", "use.c"]);
}

/// Synthesizes the smallest preset down to the cells of an ECP5-85F, on which it fits with its
/// surroundings.
#[test]
#[ignore = "long: three minutes of synthesis"]
fn fpga_preset_maps_to_cells_of_the_board() {
    let folder = emit("fpga");
    let script =
        "read_verilog hermes_top.v; synth_ecp5 -top hermes_top; select -assert-none t:$* t:TRELLIS_LATCH; \
                  tee -q -o statistics.txt stat";
    silent(folder.path(), "yosys", &["-q", "-p", script]);
    let statistics = std::fs::read_to_string(folder.path().join("statistics.txt")).unwrap();
    let count = |cell: &str| -> usize {
        let mut counts = statistics.lines().filter_map(|line| line.trim().strip_prefix(cell));
        counts.next_back().map_or(0, |count| count.trim().parse().unwrap())
    };
    // Carries take two LUTs each, distributed memories of 16 x 4 bits four.
    let luts = count("LUT4 ") + 2 * count("CCU2C ") + 4 * count("TRELLIS_DPR16X4 ");
    let (flip_flops, blocks) = (count("TRELLIS_FF "), count("DP16KD "));
    println!("{luts} LUTs, {flip_flops} flip-flops, {blocks} block RAMs");
    assert!((1..84_000).contains(&luts), "{luts} LUTs");
    assert!((1..84_000).contains(&flip_flops), "{flip_flops} flip-flops");
    assert!((1..208).contains(&blocks), "{blocks} block RAMs");
}

/// FuseSoC finds the core, lints it, synthesizes it to cells of no device, and makes ready to
/// synthesize it for an ECP5.
#[test]
#[ignore = "needs the Python package fusesoc"]
fn fusesoc_takes_the_core() {
    let folder = emit("fpga");
    let main = ["-c", "from fusesoc.main import main; main()", "--cores-root", "."];
    for (arguments, wanted) in [
        (["run", "--target", "lint", "hermes"].as_slice(), "verilator -f"),
        (&["run", "--target", "synth_generic", "hermes"], "design hierarchy"),
        (&["run", "--target", "synth", "--setup", "hermes"], "Preparing"),
    ] {
        let said = run(folder.path(), &python(), &[&main[..], arguments].concat());
        assert!(said.contains(wanted), "{said}");
        assert!(!said.contains("%Warning") && !said.contains("WARNING"), "{said}");
    }
}

/// A SystemRDL compiler reads from the map what the manifest says.
#[test]
#[ignore = "needs the Python package systemrdl-compiler"]
fn register_map_compiles_as_rdl() {
    let folder = emit("fpga");
    std::fs::write(folder.path().join("compare.py"), include_str!("compare_rdl.py")).unwrap();
    silent(folder.path(), &python(), &["compare.py", "hermes_top_registers.rdl", "hermes_top.json"]);
}
