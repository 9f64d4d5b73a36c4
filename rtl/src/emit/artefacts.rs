//! What a hardware project wants beside the Verilog: file list, FuseSoC core, clock constraints, register map, manifest.
//!
//! Every function returns the text of a file; [`all`] returns them with their names, each with a head that tells licence, generator and
//! configuration. The names follow that of the top module, so that designs with different prefixes do not clash.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Design, Port};
use crate::host::registers::{Access, RegisterSpec};

/// Clock period of the constraint stubs in nanoseconds: 100 MHz, to be changed by whoever uses them.
pub const STUB_PERIOD_NS: f64 = 10.0;

/// The licence of everything emitted, as an SPDX expression.
pub const LICENSE: &str = "MIT OR Apache-2.0";

/// Every file for `design`: name and text. `configuration` goes into the heads and the manifest as it is; `registers` is the map of the
/// design's register file, empty if it has none. `line_directives`: see [`verilog`].
///
/// # Panics
/// As [`manifest`].
#[must_use]
pub fn all<C: Serialize>(
    design: &Design,
    configuration: &C,
    registers: &[RegisterSpec],
    line_directives: bool,
) -> Vec<(String, String)> {
    let (top, name) = (&design.top, base_name(&design.top));
    let hash = head(configuration, "#");
    let slashes = head(configuration, "//");
    // FuseSoC wants its own mark in the first line.
    let core = fusesoc_core(design).replacen('\n', &format!("\n{hash}"), 1);
    let mut files = vec![
        (format!("{top}.v"), verilog(design, configuration, line_directives)),
        (format!("{top}.json"), manifest(design, configuration, registers)),
        (format!("{top}.f"), slashes.clone() + &file_list(design)),
        (format!("{name}.core"), core),
        (format!("{top}.sdc"), hash.clone() + &sdc(STUB_PERIOD_NS)),
        (format!("{top}.xdc"), hash + &xdc(STUB_PERIOD_NS)),
    ];
    if !registers.is_empty() {
        // C knows comments to the end of the line since 1999 only.
        let comment = slashes.lines().fold(String::new(), |text, line| text + "/*" + &line[2..] + " */\n");
        files.push((format!("{top}_registers.h"), comment + &c_header(top, registers)));
        files.push((format!("{top}_registers.rdl"), slashes + &system_rdl(top, registers)));
    }
    files
}

/// `hermes` for the top module `hermes_top`, with the prefix if there is one.
fn base_name(top: &str) -> &str {
    top.strip_suffix("_top").unwrap_or(top)
}

/// What stands at the head of every file, as comments that begin with `mark`.
fn head<C: Serialize>(configuration: &C, mark: &str) -> String {
    let configuration =
        serde_json::to_string(configuration).expect("the configuration can be written as JSON");
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "{mark} SPDX-License-Identifier: {LICENSE}\n\
         {mark} Written by hermes {version}; changes are lost when it writes again.\n\
         {mark} Configuration: {configuration}\n"
    )
}

/// The Verilog with its head, in one file. `line_directives` puts a `` `line `` directive before every module
/// ([`Design::verilog_with_lines`]).
///
/// # Panics
/// As [`manifest`].
#[must_use]
pub fn verilog<C: Serialize>(design: &Design, configuration: &C, line_directives: bool) -> String {
    let head = head(configuration, "//");
    if line_directives {
        return design.verilog_with_lines(&(head + "\n"));
    }
    format!(
        "{head}\n// One file holds all modules, so that its name is not theirs.\n\
         // verilator lint_off DECLFILENAME\n\n{}",
        design.verilog()
    )
}

/// A file list for `verilator -f` and its like, relative to the folder it is in.
#[must_use]
pub fn file_list(design: &Design) -> String {
    format!("{}.v\n", design.top)
}

/// A FuseSoC core description (CAPI2) with targets for lint and synthesis.
#[must_use]
pub fn fusesoc_core(design: &Design) -> String {
    let (top, name) = (&design.top, base_name(&design.top));
    format!(
        "CAPI=2:\n\
         name: \"::{name}:{version}\"\n\
         description: \"SIMT array for packet processing\"\n\
         filesets:\n  \
           rtl:\n    \
             files:\n      \
               - {top}.v\n    \
             file_type: verilogSource-2005\n  \
           constraints_sdc:\n    \
             files:\n      \
               - {top}.sdc\n    \
             file_type: SDC\n  \
           constraints_xdc:\n    \
             files:\n      \
               - {top}.xdc\n    \
             file_type: xdc\n\
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
               output_format: json\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}

/// Clock constraint for tools that read SDC.
#[must_use]
pub fn sdc(period_ns: f64) -> String {
    format!(
        "# The one clock of the design. Set the period that the board gives.\n\
         create_clock -name clk -period {period_ns:.3} [get_ports clk]\n\
         # rst is synchronous to clk: constrain it like any other input.\n"
    )
}

/// Clock constraint for Vivado.
#[must_use]
pub fn xdc(period_ns: f64) -> String {
    let half = period_ns / 2.0;
    format!(
        "# The one clock of the design. Set the period that the board gives.\n\
         create_clock -name clk -period {period_ns:.3} -waveform {{0.000 {half:.3}}} [get_ports clk]\n\
         # rst is synchronous to clk: constrain it like any other input.\n"
    )
}

/// The register map as a C header. The names begin with that of the top module without `_top`, in upper case.
#[must_use]
pub fn c_header(top: &str, registers: &[RegisterSpec]) -> String {
    let prefix = base_name(top).to_ascii_uppercase();
    let mut text = format!(
        "/* Register map of the array: byte offsets from the base of the register file. */\n\
         #ifndef {prefix}_REGISTERS_H\n#define {prefix}_REGISTERS_H\n",
    );
    for r in registers {
        let access = match r.access {
            Access::ReadWrite => "read/write",
            Access::ReadOnly => "read only",
            Access::WriteOnly => "write only",
            Access::Command => "command and state",
        };
        let _ = write!(text, "\n/* {}. {access}, {} bits", r.description, r.bits);
        if r.access == Access::ReadWrite {
            let _ = write!(text, ", {:#x} after reset", r.reset);
        }
        let _ = writeln!(text, ". */\n#define {prefix}_{} 0x{:03x}u", r.name, r.offset);
    }
    text.push_str("\n#endif\n");
    text
}

/// The register map in SystemRDL 2.0.
#[must_use]
pub fn system_rdl(top: &str, registers: &[RegisterSpec]) -> String {
    let mut text = format!(
        "addrmap {top}_registers {{\n    name = \"Register map of the array\";\n    default regwidth = 32;\n    \
         default accesswidth = 32;\n"
    );
    for r in registers {
        let (software, hardware) = match r.access {
            Access::ReadWrite => ("rw", "r"),
            Access::ReadOnly => ("r", "w"),
            Access::WriteOnly => ("w", "r"),
            Access::Command => ("rw", "rw"),
        };
        let reset = if r.access == Access::ReadWrite { format!(" = {:#x}", r.reset) } else { String::new() };
        let description = r.description.replace('"', "'");
        let _ = write!(
            text,
            "\n    reg {{\n        desc = \"{description}\";\n        field {{ sw = {software}; hw = {hardware}; }} \
             value[{}:0]{reset};\n    }} {} @ {:#05x};\n",
            r.bits - 1,
            r.name,
            r.offset
        );
    }
    text.push_str("};\n");
    text
}

#[derive(Serialize)]
struct RegisterEntry<'a> {
    name: &'a str,
    offset: u32,
    access: &'static str,
    bits: usize,
    reset: u32,
    description: &'a str,
}

#[derive(Serialize)]
struct Manifest<'a, C> {
    generator: &'static str,
    license: &'static str,
    version: &'static str,
    configuration: &'a C,
    top: &'a str,
    file: String,
    modules: Vec<&'a str>,
    ports: &'a [Port],
    registers: Vec<RegisterEntry<'a>>,
}

/// The manifest: configuration, modules, ports and registers as JSON.
///
/// # Panics
/// If `configuration` cannot be written as JSON (a map with keys that are no strings).
#[must_use]
pub fn manifest<C: Serialize>(design: &Design, configuration: &C, registers: &[RegisterSpec]) -> String {
    let registers = registers
        .iter()
        .map(|r| RegisterEntry {
            name: r.name,
            offset: r.offset,
            access: match r.access {
                Access::ReadWrite => "rw",
                Access::ReadOnly => "ro",
                Access::WriteOnly => "wo",
                Access::Command => "cmd",
            },
            bits: r.bits,
            reset: r.reset,
            description: r.description,
        })
        .collect();
    let manifest = Manifest {
        generator: "hermes",
        license: LICENSE,
        version: env!("CARGO_PKG_VERSION"),
        configuration,
        top: &design.top,
        file: format!("{}.v", design.top),
        modules: design.modules.iter().map(|m| m.name.as_str()).collect(),
        ports: &design.ports,
        registers,
    };
    serde_json::to_string_pretty(&manifest).expect("the configuration can be written as JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::emit::{Direction, Module};
    use crate::host::registers::{registers_of, REGISTERS};

    fn design() -> Design {
        let port = |name: &str, direction| Port { name: name.to_string(), direction, width: 1 };
        Design {
            top: "hermes_top".to_string(),
            modules: vec![Module {
                name: "hermes_top".to_string(),
                text: "module hermes_top;\nendmodule\n".to_string(),
                ports: Vec::new(),
            }],
            ports: vec![port("clk", Direction::Input), port("done", Direction::Output)],
        }
    }

    #[test]
    fn manifest_holds_configuration_ports_and_registers() {
        let text = manifest(&design(), &vec![1, 2], REGISTERS);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["configuration"], serde_json::json!([1, 2]));
        assert_eq!(
            json["ports"][1],
            serde_json::json!({ "name": "done", "direction": "output", "width": 1 })
        );
        assert_eq!(json["registers"][0]["name"], "ID");
        assert_eq!(json["modules"], serde_json::json!(["hermes_top"]));
    }

    #[test]
    fn header_defines_every_register() {
        let text = c_header("hermes_top", REGISTERS);
        for r in REGISTERS {
            assert!(text.contains(&format!("#define HERMES_{} 0x{:03x}u\n", r.name, r.offset)), "{}", r.name);
            assert!(!r.description.contains("*/"), "{}", r.name);
        }
    }

    /// What is written for an array has its registers, and none of a part that it does not have.
    #[test]
    fn files_of_an_array_have_its_registers_only() {
        for packet_ports in [false, true] {
            let config = Config { packet_ports, ..Config::preset("fpga").unwrap() };
            for (name, text) in all(&design(), &config, &registers_of(&config), false) {
                let has = |register: &str| {
                    text.contains(&format!("{register} ")) || text.contains(&format!("\"{register}\""))
                };
                let is_map =
                    ["_registers.h", "_registers.rdl", ".json"].iter().any(|end| name.ends_with(end));
                assert_eq!(has("COMMITTED_PACKETS"), is_map, "{name}");
                assert_eq!(has("PORTS_FRAMES_IN"), is_map && packet_ports, "{name}");
            }
        }
    }

    #[test]
    fn rdl_names_every_register_and_balances() {
        let text = system_rdl("hermes_top", REGISTERS);
        for r in REGISTERS {
            assert!(text.contains(&format!("}} {} @ {:#05x};", r.name, r.offset)), "{}", r.name);
        }
        assert_eq!(text.matches('{').count(), text.matches('}').count());
        assert!(text.contains("value[31:0];\n    } ID @ 0x000;"));
    }

    #[test]
    fn all_files_have_names_and_end_with_a_newline() {
        let files = all(&design(), &(), REGISTERS, false);
        let names: Vec<&str> = files.iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(
            names,
            [
                "hermes_top.v",
                "hermes_top.json",
                "hermes_top.f",
                "hermes.core",
                "hermes_top.sdc",
                "hermes_top.xdc",
                "hermes_top_registers.h",
                "hermes_top_registers.rdl"
            ]
        );
        assert!(files.iter().all(|(_, text)| text.ends_with('\n')));
    }

    #[test]
    fn all_files_tell_licence_version_and_configuration() {
        for lines in [false, true] {
            for (name, text) in all(&design(), &["the configuration"], REGISTERS, lines) {
                for wanted in [LICENSE, env!("CARGO_PKG_VERSION"), "the configuration"] {
                    let start: String =
                        if name.ends_with(".json") { text.clone() } else { text.lines().take(4).collect() };
                    assert!(start.contains(wanted), "{name}: {wanted}");
                }
            }
        }
    }

    #[test]
    fn line_directives_are_there_on_request_only() {
        assert!(!verilog(&design(), &(), false).contains('`'));
        let text = verilog(&design(), &(), true);
        let at = text.lines().position(|line| line.starts_with("module hermes_top")).unwrap();
        assert_eq!(text.lines().nth(at - 1), Some(&*format!("`line {} \"hermes_top.v\" 0", at + 1)));
    }

    #[test]
    fn names_follow_the_prefix() {
        let prefixed = Design { top: "small_hermes_top".to_string(), ..design() };
        let files = all(&prefixed, &(), REGISTERS, false);
        assert!(files.iter().all(|(name, _)| name.starts_with("small_hermes")), "{files:?}");
        assert!(c_header(&prefixed.top, REGISTERS).contains("#define SMALL_HERMES_ID 0x000u\n"));
    }
}
