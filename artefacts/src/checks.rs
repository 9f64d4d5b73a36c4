//! Assertions on the Verilog: a file of SystemVerilog that binds checkers to its modules.

use std::fmt::Write as _;

use hermes_hdl::emit::{Design, Module, Port};

/// Groups of ports of modules inside the array whose valid holds until ready: begin of the module's
/// name, and of the ports' names.
const HELD: [(&str, &str); 1] = [("sync_fifo", "pop_")];

/// Outputs that are one-hot or zero: begin of the module's name, and the port.
const ONE_HOT: [(&str, &str); 1] = [("round_robin", "grant")];

/// Valid and ready of a group of ports, and what goes with them.
struct Handshake<'a> {
    prefix: &'a str,
    payload: Vec<&'a Port>,
}

/// The handshakes of a module: ports `..valid` and `..ready` of one bit with the same begin.
fn handshakes(module: &Module) -> Vec<Handshake<'_>> {
    let single = |name: &str| module.ports.iter().any(|port| port.name == name && port.width == 1);
    let prefixes = module.ports.iter().filter_map(|port| port.name.strip_suffix("valid"));
    let with_ready = prefixes.filter(|p| single(&format!("{p}valid")) && single(&format!("{p}ready")));
    let handshake = |prefix| {
        let goes_with = |port: &&Port| {
            port.name.strip_prefix(prefix).is_some_and(|rest| rest != "valid" && rest != "ready")
        };
        Handshake { prefix, payload: module.ports.iter().filter(goes_with).collect() }
    };
    with_ready.map(handshake).filter(|handshake| !handshake.payload.is_empty()).collect()
}

/// The assertions for `design`, to be read after its Verilog by a tool that knows `bind`:
///
/// - at each channel of the top (AXI4, AXI4-Lite, AXI4-Stream), and where a FIFO inside gives its
///   words: valid holds until ready, and what goes with it does not change;
/// - the grants of an arbiter are one-hot or zero.
///
/// They look at each rising edge of the clock at which the reset is low, and report by `$error`.
/// Nothing is driven.
#[must_use]
pub fn checks(design: &Design) -> String {
    let top = &design.top;
    let prefix = top.strip_suffix("hermes_top").unwrap_or_default();
    let mut binds = String::new();
    for module in &design.modules {
        let is = |begin: &str| module.name.strip_prefix(prefix).is_some_and(|name| name.starts_with(begin));
        let held = |group: &str| HELD.iter().any(|(begin, ports)| is(begin) && *ports == group);
        for Handshake { prefix, payload } in handshakes(module) {
            if module.name != *top && !held(prefix) {
                continue;
            }
            let width: usize = payload.iter().map(|port| port.width).sum();
            let names: Vec<&str> = payload.iter().map(|port| port.name.as_str()).collect();
            let _ = write!(
                binds,
                "bind {} {top}_handshake #(\n    .WIDTH({width})\n) check_{} (\n    .clk(clk),\n    .rst(rst),\n    \
                 .valid({prefix}valid),\n    .ready({prefix}ready),\n    .payload({{\n        {}\n    }})\n);\n\n",
                module.name,
                prefix.trim_end_matches('_'),
                names.join(",\n        "),
            );
        }
        for port in &module.ports {
            if ONE_HOT.iter().any(|(begin, name)| is(begin) && *name == port.name) {
                let _ = write!(
                    binds,
                    "bind {} {top}_one_hot #(\n    .WIDTH({})\n) check_{} (\n    .clk(clk),\n    .rst(rst),\n    \
                     .grant({})\n);\n\n",
                    module.name, port.width, port.name, port.name,
                );
            }
        }
    }
    format!(
        "`begin_keywords \"1800-2017\"\n\
         `default_nettype none\n\
         // verilator lint_off DECLFILENAME\n\n\
         // Valid holds until ready, and what goes with it does not change.\n\
         module {top}_handshake #(\n    parameter WIDTH = 1\n) (\n    \
             input wire             clk,\n    \
             input wire             rst,\n    \
             input wire             valid,\n    \
             input wire             ready,\n    \
             input wire [WIDTH-1:0] payload\n);\n    \
             reg             waits;\n    \
             reg [WIDTH-1:0] was;\n\n    \
             initial waits = 1'b0;\n\n    \
             always @(posedge clk) begin\n        \
                 waits <= !rst && valid && !ready;\n        \
                 was <= payload;\n        \
                 if (!rst && waits) begin\n            \
                     valid_holds: assert (valid) else $error(\"%m: valid falls before ready\");\n            \
                     payload_holds: assert (payload == was) else $error(\"%m: the payload changes before ready\");\n        \
                 end\n    \
             end\nendmodule\n\n\
         // At most one bit is set.\n\
         module {top}_one_hot #(\n    parameter WIDTH = 1\n) (\n    \
             input wire             clk,\n    \
             input wire             rst,\n    \
             input wire [WIDTH-1:0] grant\n);\n    \
             always @(posedge clk) begin\n        \
                 if (!rst) begin\n            \
                     grants_one: assert ($onehot0(grant)) else $error(\"%m: two are granted\");\n        \
                 end\n    \
             end\nendmodule\n\n\
         {binds}\
         // verilator lint_on DECLFILENAME\n\
         `default_nettype wire\n\
         `end_keywords\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_hdl::emit::Direction;

    #[test]
    fn channels_of_the_top_and_grants_are_bound() {
        let port = |name: &str, width| Port { name: name.to_string(), direction: Direction::Input, width };
        let module = |name: &str, ports| Module { name: name.to_string(), text: String::new(), ports };
        let axi = vec![port("m_awid", 4), port("m_awvalid", 1), port("m_awready", 1), port("seen_valid", 1)];
        let fifo = vec![port("pop_valid", 1), port("pop_ready", 1), port("pop_data", 32)];
        let modules = vec![
            module("a_sync_fifo_32_3_4", fifo.clone()),
            module("a_other", fifo),
            module("a_round_robin", vec![port("grant", 32)]),
            module("a_hermes_top", axi),
        ];
        let design = Design { top: "a_hermes_top".to_string(), modules, ports: Vec::new() };
        let text = checks(&design);
        let binds: Vec<&str> = text.lines().filter(|line| line.starts_with("bind ")).collect();
        assert_eq!(
            binds,
            [
                "bind a_sync_fifo_32_3_4 a_hermes_top_handshake #(",
                "bind a_round_robin a_hermes_top_one_hot #(",
                "bind a_hermes_top a_hermes_top_handshake #(",
            ]
        );
        assert!(text
            .contains(".valid(m_awvalid),\n    .ready(m_awready),\n    .payload({\n        m_awid\n    })"));
    }
}
