//! Stage W with a trap entry that takes nothing is the stage without one. Yosys proves it register
//! by register and output by output: stages that agreed for some cycles, whatever their inputs
//! were, agree in the next one. That they agree after a reset is not part of the proof.

use std::path::Path;
use std::process::{Command, Output};

use hermes_hdl::emit::emit;
use hermes_rtl::config::CoreOptions;
use hermes_rtl::core::WriteStage;

/// Proves that the two stages in `folder` are equal while `traps` of the second one is `level`.
fn prove(folder: &Path, level: &str) -> Output {
    let read = |name: &str| {
        format!("read_verilog {name}.v; hierarchy -check -top stage; proc; flatten; memory; opt -full; ")
    };
    let script = read("without")
        + "design -stash without; "
        + &read("with")
        + "delete -port stage/traps stage/of_failed_load; "
        + &format!("connect -set traps {level}; opt -full; clean -purge; design -stash with; ")
        + "design -copy-from without -as without stage; design -copy-from with -as with stage; \
           equiv_make without with equal; hierarchy -top equal; opt_clean; \
           equiv_simple -undef; equiv_induct -undef; equiv_status -assert";
    Command::new("yosys")
        .args(["-q", "-p", &script])
        .current_dir(folder)
        .output()
        .unwrap_or_else(|e| panic!("cannot run yosys: {e}; it must be installed for this test"))
}

#[test]
fn traps_that_are_off_change_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let plain = CoreOptions { local_window: true, ..CoreOptions::default() };
    for (name, options) in [("without", plain), ("with", CoreOptions { spawn_slots: 8, ..plain })] {
        let stage = emit(&WriteStage::<2>::new(options), "stage").unwrap();
        std::fs::write(folder.path().join(format!("{name}.v")), stage.verilog()).unwrap();
    }
    let said = |output: &Output| {
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let off = prove(folder.path(), "1'b0");
    assert!(off.status.success(), "{}", said(&off));
    // The proof can fail: with all faults taken to the trap entry the stages differ.
    let on = prove(folder.path(), "1'b1");
    assert!(!on.status.success() && said(&on).contains("unproven"), "{}", said(&on));
}
