//! The example in examples/litex: its own tests, SoCs in LiteX's simulator, a SoC for a board.
//! `HERMES_PYTHON` names the Python that has its packages, such as that of a virtual environment.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::Folder;

fn example(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/litex").join(file)
}

/// Runs a program of the example; no compiled Python stays beside it.
fn run(file: &str, arguments: &[&str]) -> Output {
    let python = std::env::var_os("HERMES_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let mut command = Command::new(python);
    command.arg(example(file)).args(arguments).env("PYTHONDONTWRITEBYTECODE", "1");
    command.env("HERMES", env!("CARGO_BIN_EXE_hermes")).output().expect("Python runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn succeeds(file: &str, arguments: &[&str]) -> String {
    let output = run(file, arguments);
    let text = text(&output);
    assert!(output.status.success(), "{file} {arguments:?}: {text}");
    text
}

/// Runs packets through an array in a SoC; gives what the simulation printed.
fn simulates(options: &[&str]) -> String {
    let folder = Folder::new();
    let build = folder.path("build");
    let arguments = [&["--build", build.to_str().expect("UTF-8")], options].concat();
    let text = succeeds("sim.py", &arguments);
    assert!(text.lines().any(|line| line == "PASS"), "{text}");
    text
}

/// Python reads every file of the example, without the packages that they import.
#[test]
fn the_files_are_python() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/litex");
    let entries = folder.read_dir().expect("the example");
    let files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .collect();
    assert!(files.len() >= 6, "{files:?}");
    let program = "import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name).read(), name)";
    let output = Command::new("python3").args(["-c", program]).args(&files).output().expect("Python runs");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
#[ignore = "minutes: needs LiteX and what else examples/litex/requirements.txt names"]
fn the_tests_of_the_example_pass() {
    for (file, tests) in [("test_hermes_litex.py", 5), ("test_one_outstanding.py", 4)] {
        let text = succeeds(file, &[]);
        assert!(text.contains(&format!("Ran {tests} tests")), "{text}");
    }
}

#[test]
#[ignore = "minutes: needs LiteX and what else examples/litex/requirements.txt names"]
fn packets_pass() {
    let text = simulates(&[]);
    assert!(text.contains("packets: 32, interrupts: 0,"), "{text}");
}

#[test]
#[ignore = "minutes: needs LiteX and what else examples/litex/requirements.txt names"]
fn packets_pass_with_two_channels_and_interrupts() {
    let array = "--preset fpga --cores 1 --lanes 4 --warps 4 --channels 2 --l2-banks 2 --command-threads 1 --fault-output";
    let text = simulates(&["--array", array]);
    assert!(text.contains("packets: 32, interrupts: 2,"), "{text}");
}

#[test]
#[ignore = "minutes: needs LiteX and what else examples/litex/requirements.txt names"]
fn a_soc_for_a_board_is_generated() {
    let folder = Folder::new();
    let emitted = folder.hermes("emit --preset fpga --lanes 2 -o rtl");
    assert!(emitted.status.success(), "{}", text(&emitted));
    let (manifest, soc) = (folder.path("rtl/hermes_top.json"), folder.path("soc"));
    let (manifest, output) = (manifest.to_str().expect("UTF-8"), soc.to_str().expect("UTF-8"));
    let settings = ["--set", "device=LFE5U-85F", "--set", "sys_clk_freq=25e6"];
    let arguments = [&["radiona_ulx3s", "--manifest", manifest, "-o", output][..], &settings].concat();
    succeeds("board.py", &arguments);
    let verilog = folder.text("soc/gateware/radiona_ulx3s.v");
    for part in ["hermes_top hermes_top(", ".m_axi_0_rdata", ".s_axil_awaddr"] {
        assert!(verilog.contains(part), "{part} is missing");
    }
    // Yosys finds every module that the SoC names, with every port: LiteX's script, up to the
    // synthesis.
    let script = folder.text("soc/gateware/radiona_ulx3s.ys");
    let reads = script.lines().filter(|line| line.starts_with("read_verilog")).collect::<Vec<_>>().join("\n");
    let cells = "read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v";
    folder.write("soc/gateware/check.ys", format!("{reads}\n{cells}\nhierarchy -check -top radiona_ulx3s\n"));
    let mut yosys = Command::new("yosys");
    let checked = yosys.args(["-q", "-s", "check.ys"]).current_dir(folder.path("soc/gateware")).output();
    let checked = checked.expect("Yosys runs");
    assert!(checked.status.success(), "{}", text(&checked));
}
