//! A Vivado project: wrapper, constraints, script.
//!
//! The wrapper has the names that Vivado knows its interfaces by: `aclk`, `aresetn`, and the buses
//! as the array has them.

use std::fmt::Write as _;

use hermes_hdl::emit::{Design, Direction, Port};

/// Name of the wrapper of a top.
#[must_use]
pub fn wrapper_name(top: &str) -> String {
    format!("{top}_axi")
}

fn is_clock_or_reset(port: &Port) -> bool {
    matches!(port.name.as_str(), "clk" | "rst")
}

/// The AXI4, AXI4-Lite and AXI4-Stream buses of a design, by the names of their address or data.
fn buses(design: &Design) -> Vec<&str> {
    let bus = |port: &'_ Port| {
        let ends = ["_awaddr", "_tdata"];
        ends.iter().find_map(|end| port.name.strip_suffix(end).map(str::len))
    };
    design.ports.iter().filter_map(|port| bus(port).map(|length| &port.name[..length])).collect()
}

/// The wrapper: `aclk` for the clock; `aresetn`, active low, which may come at any time and goes
/// with the clock, for the reset; all other ports as they are. The array leaves its reset at the
/// second edge of the clock after `aresetn` has risen.
#[must_use]
pub fn wrapper(design: &Design) -> String {
    let top = &design.top;
    let others = || design.ports.iter().filter(|port| !is_clock_or_reset(port));
    let (mut ports, mut connections) = (String::new(), String::new());
    for Port { name, direction, width } in others() {
        let direction = if *direction == Direction::Input { "input" } else { "output" };
        let range = if *width == 1 { String::new() } else { format!("[{}:0] ", width - 1) };
        let _ = write!(ports, ",\n    {direction} wire {range}{name}");
        let _ = write!(connections, ",\n        .{name}({name})");
    }
    format!(
        "module {wrapper} (\n    \
             (* X_INTERFACE_INFO = \"xilinx.com:signal:clock:1.0 aclk CLK\" *)\n    \
             (* X_INTERFACE_PARAMETER = \"ASSOCIATED_BUSIF {buses}, ASSOCIATED_RESET aresetn\" *)\n    \
             input wire aclk,\n    \
             (* X_INTERFACE_INFO = \"xilinx.com:signal:reset:1.0 aresetn RST\" *)\n    \
             (* X_INTERFACE_PARAMETER = \"POLARITY ACTIVE_LOW\" *)\n    \
             input wire aresetn{ports}\n);\n    \
             // It is set at any time and released with the clock.\n    \
             (* ASYNC_REG = \"TRUE\" *) reg [1:0] reset;\n    \
             always @(posedge aclk or negedge aresetn)\n        \
                 if (!aresetn) reset <= 2'b11;\n        \
                 else reset <= {{reset[0], 1'b0}};\n\n    \
             {top} array (\n        .clk(aclk),\n        .rst(reset[1]){connections}\n    );\n\
         endmodule\n",
        wrapper = wrapper_name(top),
        buses = buses(design).join(":"),
    )
}

/// Constraints of the wrapper.
#[must_use]
pub fn constraints(megahertz: f64) -> String {
    format!(
        "# The one clock of the design: {megahertz} MHz, from `hermes emit --clock MHZ`.\n\
         create_clock -name aclk -period {:.3} [get_ports aclk]\n\
         # The reset may come at any time; it is released through two flip-flops.\n\
         set_false_path -from [get_ports aresetn]\n",
        1e3 / megahertz
    )
}

/// The script that makes the project and synthesizes the wrapper out of context, since it has more
/// ports than devices have pins. `files` has the names of the array's Verilog files.
#[must_use]
pub fn script(design: &Design, files: &[&str]) -> String {
    let (top, wrapper) = (&design.top, wrapper_name(&design.top));
    let files: String = files.iter().map(|file| format!("[file join $folder {file}] ")).collect();
    format!(
        "# vivado -mode batch -source {top}_vivado.tcl -tclargs PART, such as xczu9eg-ffvb1156-2-e\n\
         if {{$argc != 1}} {{\n    \
             error \"expected one argument behind -tclargs: the part, such as xczu9eg-ffvb1156-2-e\"\n\
         }}\n\
         set folder [file dirname [file normalize [info script]]]\n\
         set project [file join [pwd] {top}_vivado]\n\
         create_project {top} $project -part [lindex $argv 0]\n\
         add_files -norecurse [list {files}[file join $folder {wrapper}.v]]\n\
         add_files -fileset constrs_1 -norecurse [list [file join $folder {wrapper}.xdc]]\n\
         set_property top {wrapper} [current_fileset]\n\
         set_property -name {{STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS}} -value {{-mode out_of_context}} \
         -objects [get_runs synth_1]\n\
         launch_runs synth_1\n\
         wait_on_run synth_1\n\
         if {{[get_property PROGRESS [get_runs synth_1]] ne \"100%\"}} {{\n    \
             error \"synthesis failed: see the log of synth_1 in $project\"\n\
         }}\n\
         open_run synth_1\n\
         report_utilization -hierarchical -file [file join $project utilization.txt]\n\
         report_timing_summary -file [file join $project timing.txt]\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_rtl::config::Config;
    use hermes_rtl::top::emit_top;

    /// Each port of the array is a port of the wrapper with its width, and is connected; each bus
    /// belongs to the clock.
    #[test]
    fn wrapper_has_the_ports_of_the_array() {
        for packet_ports in [false, true] {
            let config = Config { packet_ports, lanes: 1, ..Config::preset("fpga").unwrap() };
            let design = emit_top(&config).unwrap();
            let text = wrapper(&design);
            for Port { name, direction, width } in &design.ports {
                let (outer, inner) = match name.as_str() {
                    "clk" => ("aclk", "aclk"),
                    "rst" => ("aresetn", "reset[1]"),
                    name => (name, name),
                };
                let direction = if *direction == Direction::Input { "input" } else { "output" };
                let range = if *width == 1 { String::new() } else { format!("[{}:0] ", width - 1) };
                let line = format!("{direction} wire {range}{outer}");
                let is_port =
                    |text: &str| text.trim().trim_end_matches(',').trim_end_matches(");").trim_end() == line;
                assert_eq!(text.lines().filter(|text| is_port(text)).count(), 1, "{line}: {text}");
                assert_eq!(text.matches(&format!(".{name}({inner})")).count(), 1, "{name}");
            }
            let streams = if packet_ports { ":s_axis_rx:m_axis_tx" } else { "" };
            assert!(text.contains(&format!("\"ASSOCIATED_BUSIF s_axil:m_axi_0{streams}, ")), "{text}");
        }
    }

    #[test]
    fn constraints_are_of_the_wrapper() {
        assert!(constraints(80.0).contains("-period 12.500 [get_ports aclk]\n"));
    }
}
