//! The core description for FuseSoC, and the script of its target without a vendor.

use hermes_hdl::emit::Design;

use super::base_name;

/// A FuseSoC core description (CAPI2) with targets for lint, for synthesis for an ECP5, and for
/// synthesis to Yosys's own cells. `files` has the names of the Verilog files.
#[must_use]
pub fn core(design: &Design, files: &[&str]) -> String {
    let (top, name) = (&design.top, base_name(&design.top));
    let files: String = files.iter().map(|file| format!("      - {file}\n")).collect();
    format!(
        "CAPI=2:\n\
         name: \"::{name}:{version}\"\n\
         description: \"SIMT array for packet processing\"\n\
         filesets:\n  \
           rtl:\n    \
             files:\n\
             {files}    \
             file_type: verilogSource-2005\n  \
           constraints_sdc:\n    \
             files:\n      \
               - {top}.sdc\n    \
             file_type: SDC\n  \
           constraints_xdc:\n    \
             files:\n      \
               - {top}.xdc\n    \
             file_type: xdc\n  \
           yosys_generic:\n    \
             files:\n      \
               - {top}_yosys.tcl:\n          \
                   copyto: {top}_yosys.tcl\n    \
             file_type: user\n\
         targets:\n  \
           default: &default\n    \
             filesets:\n      \
               - rtl\n      \
               - \"tool_vivado? (constraints_xdc)\"\n      \
               - \"tool_quartus? (constraints_sdc)\"\n    \
             toplevel: {top}\n  \
           lint:\n    \
             <<: *default\n    \
             flow: lint\n    \
             flow_options:\n      \
               tool: verilator\n      \
               verilator_options: [-Wall]\n  \
           synth:\n    \
             <<: *default\n    \
             flow: generic\n    \
             flow_options:\n      \
               tool: yosys\n      \
               arch: ecp5\n      \
               output_format: json\n  \
           synth_generic:\n    \
             <<: *default\n    \
             filesets_append:\n      \
               - yosys_generic\n    \
             flow: generic\n    \
             flow_options:\n      \
               tool: yosys\n      \
               arch: generic\n      \
               yosys_template: {top}_yosys.tcl\n      \
               output_format: json\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}

/// What Yosys does for the target `synth_generic`: everything up to cells of words and memories,
/// which no device decides on, and a count of them in `statistics.txt`.
#[must_use]
pub fn yosys_script(design: &Design) -> String {
    let (top, name) = (&design.top, base_name(&design.top));
    format!(
        "yosys -import\n\
         source edalize_yosys_procs.tcl\n\
         read_files\n\
         # Behind `fine` memories would become flip-flops.\n\
         yosys synth -top {top} -run begin:fine\n\
         yosys check -assert\n\
         yosys tee -o statistics.txt stat\n\
         yosys write_json {name}_{version}.json\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}
