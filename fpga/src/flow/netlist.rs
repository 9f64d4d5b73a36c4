//! The netlist as Verilog that a simulator takes.

use std::path::Path;

use super::tools::{read, write, FlowError, Tool};

/// Models of the cells for which Yosys ships none.
const CELLS: &str = include_str!("../../yosys/cells.v");

/// What [`synthesize`](super::synthesize) left in `folder` as one module of plain Verilog, each
/// cell replaced by its model: that which Yosys ships for LUTs, carry chains, distributed memories
/// and flip-flops, and that of this project for block RAMs, multipliers, the PLL and buffers of
/// global nets. The PLL makes the clock of the oscillator.
///
/// # Errors
/// Yosys does not start or fails, or a file cannot be written or read.
pub fn simulation_netlist(yosys: &Tool, folder: &Path, top: &str) -> Result<String, FlowError> {
    write(&folder.join("cells.v"), CELLS)?;
    // The models take the place of the black boxes in the netlist, and those here the place of
    // those that Yosys ships.
    let script = format!(
        "read_json netlist.json; read_verilog -overwrite +/ecp5/cells_sim.v; read_verilog -overwrite cells.v; \
         hierarchy -check -top {top}; proc; opt_clean -purge; flatten; opt_expr; opt_clean -purge; write_verilog -noattr netlist.v"
    );
    yosys.run(folder, &["-q", "-p", &script])?;
    read(&folder.join("netlist.v"))
}
