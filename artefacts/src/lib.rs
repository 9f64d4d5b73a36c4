//! What a hardware project wants beside the Verilog: file list, FuseSoC core, Vivado project, clock
//! constraints, register map, manifest.
//!
//! Every function returns the text of a file; [`all`] returns them with their names, each with a
//! head that tells licence, generator and configuration. The names follow that of the top module,
//! so that designs with different prefixes do not clash.

use std::fmt::Write as _;

use hermes_hdl::emit::{Design, Direction, Port};
use serde::Serialize;

use hermes_rtl::host::registers::{Access, RegisterSpec};

mod checks;
mod fusesoc;
mod register_map;
mod vivado;

pub use checks::checks;
pub use register_map::{c_header, system_rdl};

/// How the modules are divided into files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileLayout {
    /// All in the file of the top.
    #[default]
    OneFile,
    /// All in the file of the top, a `` `line `` directive before each
    /// ([`Design::verilog_with_lines`]).
    OneFileWithLines,
    /// A file each, with the module's name. Its text depends on the module alone, not on the
    /// configuration or the version, so that files of two arrays differ where their modules do.
    FileEach,
}

/// The licence of everything emitted, as an SPDX expression.
pub const LICENSE: &str = "MIT OR Apache-2.0";

/// Every file for `design`: name and text. `configuration` goes into the heads and the manifest as
/// it is; `registers` is the map of the design's register file, empty if it has none. `megahertz`:
/// the clock of the constraints; `layout`: the files of the modules; `commit`: see [`manifest`].
///
/// # Panics
/// As [`manifest`].
#[must_use]
pub fn all<C: Serialize>(
    design: &Design,
    configuration: &C,
    registers: &[RegisterSpec],
    megahertz: f64,
    layout: FileLayout,
    commit: Option<&str>,
) -> Vec<(String, String)> {
    let (top, name) = (&design.top, base_name(&design.top));
    let wrapper = vivado::wrapper_name(top);
    let hash = head(configuration, "#");
    let slashes = head(configuration, "//");
    let modules = module_files(design, configuration, layout);
    let names: Vec<&str> = modules.iter().map(|(name, _)| name.as_str()).collect();
    // FuseSoC wants its own mark in the first line.
    let core = fusesoc::core(design, &names).replacen('\n', &format!("\n{hash}"), 1);
    let list = file_list(&names);
    let mut files = vec![
        (format!("{top}.json"), manifest(design, &names, configuration, registers, commit)),
        (format!("{top}.f"), slashes.clone() + &list),
        (format!("{top}_checks.sv"), slashes.clone() + &checks(design)),
        (format!("{top}_checks.f"), format!("{slashes}{list}{top}_checks.sv\n")),
        (format!("{name}.core"), core),
        (format!("{top}_instance.vh"), slashes.clone() + &instance(design)),
        (format!("{top}.sdc"), hash.clone() + &sdc(megahertz)),
        (format!("{top}.xdc"), hash.clone() + &xdc(megahertz)),
        (format!("{top}_yosys.tcl"), hash.clone() + &fusesoc::yosys_script(design)),
        (format!("{wrapper}.v"), slashes.clone() + &vivado::wrapper(design)),
        (format!("{wrapper}.xdc"), hash.clone() + &vivado::constraints(megahertz)),
        (format!("{top}_vivado.tcl"), hash + &vivado::script(design, &names)),
    ];
    if !registers.is_empty() {
        // C knows comments to the end of the line since 1999 only.
        let comment = slashes.lines().fold(String::new(), |text, line| text + "/*" + &line[2..] + " */\n");
        files.push((format!("{top}_registers.h"), comment + &c_header(top, registers)));
        files.push((format!("{top}_registers.rdl"), slashes + &system_rdl(top, registers)));
    }
    files.splice(0..0, modules);
    files
}

/// `hermes` for the top module `hermes_top`, with the prefix if there is one.
fn base_name(top: &str) -> &str {
    top.strip_suffix("_top").unwrap_or(top)
}

/// What stands at the head of every file, as comments that begin with `mark`; files of single
/// modules have their own.
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

/// The files of the modules with their texts; a module comes after those that it instantiates.
fn module_files<C: Serialize>(
    design: &Design,
    configuration: &C,
    layout: FileLayout,
) -> Vec<(String, String)> {
    let one = |with_lines| vec![(format!("{}.v", design.top), verilog(design, configuration, with_lines))];
    match layout {
        FileLayout::OneFile => one(false),
        FileLayout::OneFileWithLines => one(true),
        FileLayout::FileEach => design.module_files(&format!(
            "// SPDX-License-Identifier: {LICENSE}\n\
             // Written by hermes; changes are lost when it writes again.\n\n"
        )),
    }
}

/// The Verilog with its head, in one file. `line_directives` puts a ``
/// `line `` directive before every module ([`Design::verilog_with_lines`]).
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
fn file_list(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name}\n")).collect()
}

/// Clock constraint for tools that read SDC.
#[must_use]
pub fn sdc(megahertz: f64) -> String {
    let period_ns = 1e3 / megahertz;
    format!(
        "# The one clock of the design: {megahertz} MHz, from `hermes emit --clock MHZ`.\n\
         create_clock -name clk -period {period_ns:.3} [get_ports clk]\n\
         # rst is synchronous to clk: constrain it like any other input.\n"
    )
}

/// Clock constraint for Vivado.
#[must_use]
pub fn xdc(megahertz: f64) -> String {
    let period_ns = 1e3 / megahertz;
    let half = period_ns / 2.0;
    format!(
        "# The one clock of the design: {megahertz} MHz, from `hermes emit --clock MHZ`.\n\
         create_clock -name clk -period {period_ns:.3} -waveform {{0.000 {half:.3}}} [get_ports clk]\n\
         # rst is synchronous to clk: constrain it like any other input.\n"
    )
}

/// A template of the instance, to be included or copied: a wire for each port but clock and reset,
/// and the instance with them. An output of the surrounding design takes the place of a wire that
/// is an input.
#[must_use]
pub fn instance(design: &Design) -> String {
    let width = |port: &Port| match port.width {
        1 => String::new(),
        width => format!("[{}:0] ", width - 1),
    };
    let longest = design.ports.iter().map(|port| port.name.len()).max().unwrap_or(0);
    let (mut wires, mut ports) = (String::new(), Vec::new());
    for port in &design.ports {
        let (name, direction) =
            (&port.name, if port.direction == Direction::Input { "input" } else { "output" });
        if !["clk", "rst"].contains(&name.as_str()) {
            let _ = writeln!(wires, "wire {}{name}; // {direction}", width(port));
        }
        ports.push(format!("    .{name:<longest$} ({name})"));
    }
    let top = &design.top;
    format!("{wires}\n{top} u_{top} (\n{}\n);\n", ports.join(",\n"))
}

#[derive(Serialize)]
struct FieldEntry<'a> {
    name: &'a str,
    lsb: usize,
    width: usize,
}

#[derive(Serialize)]
struct RegisterEntry<'a> {
    name: &'a str,
    offset: u32,
    access: &'static str,
    bits: usize,
    /// None: it has no value after reset, or is written only.
    reset: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_reset: Option<&'static str>,
    fields: Vec<FieldEntry<'a>>,
    description: &'a str,
}

#[derive(Serialize)]
struct Manifest<'a, C> {
    generator: &'static str,
    license: &'static str,
    version: &'static str,
    commit: Option<&'a str>,
    configuration: &'a C,
    top: &'a str,
    files: &'a [&'a str],
    modules: Vec<&'a str>,
    ports: &'a [Port],
    registers: Vec<RegisterEntry<'a>>,
}

/// The manifest: configuration, modules, ports and registers as JSON. `commit` is the commit of
/// this repository that wrote it, if it is known; `files` are those of the modules.
///
/// # Panics
/// If `configuration` cannot be written as JSON (a map with keys that are no strings).
#[must_use]
pub fn manifest<C: Serialize>(
    design: &Design,
    files: &[&str],
    configuration: &C,
    registers: &[RegisterSpec],
    commit: Option<&str>,
) -> String {
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
            reset: r.has_reset().then_some(r.reset),
            no_reset: r.unset,
            fields: r
                .fields
                .iter()
                .map(|f| FieldEntry { name: f.name, lsb: f.lsb, width: f.width })
                .collect(),
            description: r.description,
        })
        .collect();
    let manifest = Manifest {
        generator: "hermes",
        license: LICENSE,
        version: env!("CARGO_PKG_VERSION"),
        commit,
        configuration,
        top: &design.top,
        files,
        modules: design.modules.iter().map(|m| m.name.as_str()).collect(),
        ports: &design.ports,
        registers,
    };
    serde_json::to_string_pretty(&manifest).expect("the configuration can be written as JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::emit::{Direction, Module};
    use hermes_rtl::config::Config;
    use hermes_rtl::host::registers::{registers_of, REGISTERS};

    fn design() -> Design {
        let port = |name: &str, direction| Port { name: name.to_string(), direction, width: 1 };
        Design {
            top: "hermes_top".to_string(),
            modules: vec![Module {
                name: "hermes_top".to_string(),
                text: "module hermes_top;\nendmodule\n".to_string(),
                ..Module::default()
            }],
            ports: vec![port("clk", Direction::Input), port("done", Direction::Output)],
        }
    }

    #[test]
    fn manifest_holds_configuration_ports_and_registers() {
        let text = manifest(&design(), &["hermes_top.v"], &vec![1, 2], REGISTERS, Some("c0ffee"));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["configuration"], serde_json::json!([1, 2]));
        assert_eq!(
            json["ports"][1],
            serde_json::json!({ "name": "done", "direction": "output", "width": 1 })
        );
        assert_eq!(json["registers"][0]["name"], "ID");
        assert_eq!(
            json["registers"][3]["fields"][1],
            serde_json::json!({ "name": "eager", "lsb": 1, "width": 1 })
        );
        assert_eq!(json["commit"], "c0ffee");
        assert_eq!(json["files"], serde_json::json!(["hermes_top.v"]));
        assert_eq!(json["modules"], serde_json::json!(["hermes_top"]));
    }

    /// What is written for an array has its registers, and none of a part that it does not have.
    #[test]
    fn files_of_an_array_have_its_registers_only() {
        for packet_ports in [false, true] {
            let config = Config { packet_ports, ..Config::preset("fpga").unwrap() };
            for (name, text) in
                all(&design(), &config, &registers_of(&config), 50.0, FileLayout::OneFile, None)
            {
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
    fn all_files_have_names_and_end_with_a_newline() {
        let files = all(&design(), &(), REGISTERS, 50.0, FileLayout::OneFile, None);
        let names: Vec<&str> = files.iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(
            names,
            [
                "hermes_top.v",
                "hermes_top.json",
                "hermes_top.f",
                "hermes_top_checks.sv",
                "hermes_top_checks.f",
                "hermes.core",
                "hermes_top_instance.vh",
                "hermes_top.sdc",
                "hermes_top.xdc",
                "hermes_top_yosys.tcl",
                "hermes_top_axi.v",
                "hermes_top_axi.xdc",
                "hermes_top_vivado.tcl",
                "hermes_top_registers.h",
                "hermes_top_registers.rdl"
            ]
        );
        assert!(files.iter().all(|(_, text)| text.ends_with('\n')));
    }

    #[test]
    fn all_files_tell_licence_version_and_configuration() {
        for layout in [FileLayout::OneFile, FileLayout::OneFileWithLines] {
            for (name, text) in all(&design(), &["the configuration"], REGISTERS, 50.0, layout, None) {
                for wanted in [LICENSE, env!("CARGO_PKG_VERSION"), "the configuration"] {
                    let start: String =
                        if name.ends_with(".json") { text.clone() } else { text.lines().take(4).collect() };
                    assert!(start.contains(wanted), "{name}: {wanted}");
                }
            }
        }
    }

    #[test]
    fn constraints_have_the_clock() {
        let text = |name: &str| {
            all(&design(), &(), REGISTERS, 80.0, FileLayout::OneFile, None)
                .into_iter()
                .find(|(file, _)| file == name)
                .unwrap()
                .1
        };
        assert!(text("hermes_top.sdc").contains("create_clock -name clk -period 12.500 [get_ports clk]\n"));
        assert!(text("hermes_top.xdc").contains("-period 12.500 -waveform {0.000 6.250} [get_ports clk]\n"));
        for name in ["hermes_top.sdc", "hermes_top.xdc"] {
            assert!(text(name).contains(": 80 MHz, from"));
        }
    }

    /// Each module has a file, whose text the configuration does not change, and each list of files
    /// names them all, in order.
    #[test]
    fn modules_have_files_of_their_own_on_request() {
        let mut design = design();
        let text = "module inner;\nendmodule\n".to_string();
        design.modules.insert(0, Module { name: "inner".to_string(), text, ..Module::default() });
        let files = |configuration: &str| {
            all(&design, &[configuration], REGISTERS, 50.0, FileLayout::FileEach, Some("c0ffee"))
        };
        let (written, others) = (files("one"), files("other"));
        assert_eq!(written[..2], others[..2]);
        for ((name, text), module) in written.iter().zip(&design.modules) {
            assert_eq!(*name, format!("{}.v", module.name));
            assert!(
                text.starts_with("// SPDX-License-Identifier: ") && text.contains(&module.text),
                "{text}"
            );
            assert_eq!(text.matches("endmodule").count(), 1, "{text}");
            assert!(text.ends_with("\n`default_nettype wire\n"), "{text}");
        }
        let of = |wanted: &str| &written.iter().find(|(name, _)| name == wanted).unwrap().1;
        let lists = |text: &str, first: &str, second: &str| {
            let (first, second) = (text.find(first), text.find(second));
            assert!(first.is_some() && first < second, "{text}");
        };
        for name in ["hermes_top.f", "hermes_top_checks.f"] {
            lists(of(name), "\ninner.v\n", "\nhermes_top.v\n");
        }
        lists(of("hermes.core"), "      - inner.v\n", "      - hermes_top.v\n");
        lists(of("hermes_top_vivado.tcl"), "$folder inner.v]", "$folder hermes_top.v]");
        lists(of("hermes_top.json"), "\"inner.v\"", "\"hermes_top.v\"");
    }

    #[test]
    fn line_directives_are_there_on_request_only() {
        assert!(!verilog(&design(), &(), false).contains("`line"));
        let text = verilog(&design(), &(), true);
        let at = text.lines().position(|line| line.starts_with("module hermes_top")).unwrap();
        assert_eq!(text.lines().nth(at - 1), Some(&*format!("`line {} \"hermes_top.v\" 0", at + 1)));
    }

    #[test]
    fn an_instance_has_every_port() {
        let text = instance(&design());
        assert_eq!(
            text,
            "wire done; // output\n\nhermes_top u_hermes_top (\n    .clk  (clk),\n    .done (done)\n);\n"
        );
    }

    #[test]
    fn names_follow_the_prefix() {
        let prefixed = Design { top: "small_hermes_top".to_string(), ..design() };
        let files = all(&prefixed, &(), REGISTERS, 50.0, FileLayout::OneFile, None);
        assert!(files.iter().all(|(name, _)| name.starts_with("small_hermes")), "{files:?}");
        assert!(c_header(&prefixed.top, REGISTERS).contains("#define SMALL_HERMES_ID 0x000u\n"));
    }
}
