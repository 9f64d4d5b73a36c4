//! `hermes emit`: the Verilog and its manifest.

mod common;

use std::process::Command;

use common::Folder;

#[test]
fn verilog_and_manifest() {
    let folder = Folder::new();
    folder.succeed("emit --preset default --cores 1 --lanes 2 -o a/b");
    folder.succeed("emit --preset default --cores 1 --lanes 2 -o c");
    for file in ["hermes_top.v", "hermes_top.json"] {
        assert_eq!(folder.read(&format!("a/b/{file}")), folder.read(&format!("c/{file}")), "{file}");
    }
    let manifest: serde_json::Value = serde_json::from_str(&folder.text("c/hermes_top.json")).expect("JSON");
    assert_eq!(manifest["configuration"]["lanes"], 2);
    assert_eq!(manifest["top"], "hermes_top");
    let version = folder.succeed("--version");
    let commit = manifest["commit"].as_str().map_or(String::new(), |commit| format!(" ({commit})"));
    assert_eq!(version.trim(), format!("hermes {}{commit}", manifest["version"].as_str().expect("a text")));
    let ports = manifest["ports"].as_array().expect("a list");
    let names: Vec<_> = ports.iter().filter_map(|port| port["name"].as_str()).collect();
    for name in ["clk", "rst", "s_axil_awaddr", "m_axi_0_araddr", "trace_commit_valid"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
}

/// The template of the instance stands in a module as it is written; registers have their fields
/// and what they are after reset.
#[test]
fn what_a_design_needs_beside_the_verilog() {
    let folder = Folder::new();
    folder.succeed("emit --preset fpga --lanes 2 --packet-ports --clock 62.5 -o out");
    for name in ["out/hermes_top.sdc", "out/hermes_top.xdc"] {
        let text = folder.text(name);
        assert!(
            text.contains("62.5 MHz") && text.contains("create_clock -name clk -period 16.000 "),
            "{text}"
        );
    }
    let module =
        "module outside (input wire clk, input wire rst);\n`include \"hermes_top_instance.vh\"\nendmodule\n";
    folder.write("out/outside.v", module);
    let mut command = Command::new(std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into()));
    command.current_dir(folder.path("out")).args([
        "--lint-only",
        "--top-module",
        "outside",
        "outside.v",
        "hermes_top.v",
    ]);
    let output = command.output().expect("Verilator runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (header, rdl) =
        (folder.text("out/hermes_top_registers.h"), folder.text("out/hermes_top_registers.rdl"));
    for line in ["#define HERMES_CONTROL_EAGER_MASK 0x00000002u", "#define HERMES_CONTROL_EAGER_SHIFT 1"] {
        assert!(header.lines().any(|other| other == line), "{line}");
    }
    for line in
        ["EAGER[1:1] = 0x0;", "VALUE[31:0] = 0x4845524d;", "LANES[7:0] = 0x2;", "PACKET_PORTS[24:24] = 0x1;"]
    {
        assert!(rdl.lines().any(|other| other.ends_with(line)), "{line}");
    }
}

/// The wrapper of the Vivado project is Verilog that fits the array, and the script names files
/// that are there.
#[test]
fn vivado_project_fits_the_array() {
    let folder = Folder::new();
    folder.succeed("emit --preset fpga --lanes 1 --packet-ports --clock 62.5 --prefix my_ -o out");
    let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
    let files = ["my_hermes_top.v", "my_hermes_top_axi.v"];
    let mut command = Command::new(verilator);
    command.current_dir(folder.path("out")).args([
        "--lint-only",
        "-Wall",
        "--top-module",
        "my_hermes_top_axi",
    ]);
    let output = command.args(files).output().expect("Verilator runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && messages.trim().is_empty(), "{messages}");
    let script = folder.text("out/my_hermes_top_vivado.tcl");
    for name in files.into_iter().chain(["my_hermes_top_axi.xdc"]) {
        assert!(script.contains(&format!("[file join $folder {name}]")), "{name}: {script}");
        assert!(folder.path("out").join(name).is_file(), "{name}");
    }
    assert!(script.contains("set_property top my_hermes_top_axi "), "{script}");
    let constraints = folder.text("out/my_hermes_top_axi.xdc");
    assert!(constraints.contains("-period 16.000 [get_ports aclk]"), "{constraints}");
    let wrapper = folder.text("out/my_hermes_top_axi.v");
    for port in ["aclk", "aresetn"] {
        assert!(constraints.contains(&format!("[get_ports {port}]")), "{constraints}");
        assert!(wrapper.contains(&format!("input wire {port}")), "{wrapper}");
    }
}

/// Every preset is taken by Verilator's lint.
#[test]
fn presets_lint() {
    let folder = Folder::new();
    for preset in ["fpga", "default"] {
        folder.succeed(&format!("emit --preset {preset} -o {preset}"));
        let verilator = std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into());
        let mut command = Command::new(verilator);
        command
            .args(["--lint-only", "-Wall", "--top-module", "hermes_top"])
            .arg(folder.path(preset).join("hermes_top.v"));
        let output = command.output().expect("Verilator runs");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && messages.trim().is_empty(), "{preset}:\n{messages}");
    }
}

/// All names begin with the prefix; a folder holds two arrays.
#[test]
fn prefixes() {
    let folder = Folder::new();
    folder.succeed("emit --preset fpga --lanes 2 -o both");
    folder.succeed("emit --preset fpga --lanes 1 --prefix small_ -o both");
    let manifest: serde_json::Value =
        serde_json::from_str(&folder.text("both/small_hermes_top.json")).expect("JSON");
    let modules = manifest["modules"].as_array().expect("a list");
    let names: Vec<_> = modules.iter().filter_map(|name| name.as_str()).collect();
    assert!(names.len() > 50 && names.iter().all(|name| name.starts_with("small_")), "{names:?}");
    assert_eq!(folder.text("both/hermes_top.v").matches("module small_").count(), 0);
    for prefix in ["1", "a-b", "a/b"] {
        let output = folder.hermes(&format!("emit --prefix {prefix} -o other"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains("expected letters, digits"), "{error}");
    }
    assert_eq!(folder.files(), ["both"], "nothing else was written");
}

/// A file a module, of which two arrays share those that are equal; the list of files is what
/// Verilator lints, without a word about names of files.
#[test]
fn a_file_for_each_module_on_request() {
    let folder = Folder::new();
    folder.succeed("emit --preset fpga --lanes 2 --split -o two");
    folder.succeed("emit --preset fpga --lanes 1 --split -o one");
    let list = folder.text("two/hermes_top.f");
    let names: Vec<&str> = list.lines().filter(|line| !line.starts_with("//")).collect();
    assert!(names.len() > 50 && names.last() == Some(&"hermes_top.v"), "{names:?}");
    let equal = names.iter().filter(|name| {
        let text = folder.text(&format!("two/{name}"));
        let module = name.trim_end_matches(".v");
        assert_eq!(text.lines().filter(|line| line.starts_with("module ")).count(), 1, "{name}");
        assert!(text.contains(&format!("\nmodule {module} ")), "{name}");
        assert!(text.lines().any(|line| line.starts_with("// Source: ") && line.ends_with(".rs")), "{name}");
        let other = folder.path("one").join(name);
        other.is_file() && folder.text(&format!("one/{name}")) == text
    });
    assert!(equal.count() > 30);
    let mut command = Command::new(std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into()));
    command.current_dir(folder.path("two")).args(["--lint-only", "-Wall", "--top-module", "hermes_top"]);
    let output = command.args(["-f", "hermes_top.f"]).output().expect("Verilator runs");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && messages.trim().is_empty(), "{messages}");
    let output = folder.hermes("emit --split --line-directives -o other");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn line_directives_on_request() {
    let folder = Folder::new();
    folder.succeed("emit --preset fpga --lanes 1 -o plain");
    folder.succeed("emit --preset fpga --lanes 1 --line-directives -o lines");
    let (plain, lines) = (folder.text("plain/hermes_top.v"), folder.text("lines/hermes_top.v"));
    let count = |text: &str, start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(count(&plain, "`line "), 0);
    assert_eq!(count(&lines, "`line "), count(&lines, "endmodule"));
    assert!(plain.starts_with("// SPDX-License-Identifier: MIT OR Apache-2.0\n"), "{}", &plain[..200]);
}
