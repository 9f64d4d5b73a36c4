//! Assertions on the Verilog: a file of SystemVerilog that binds checkers to its modules.

use std::fmt::Write as _;

use hermes_hdl::emit::{Design, Direction, Module, Port, Promise};

/// Valid and ready of a handshake, and what goes with them.
struct Handshake<'a> {
    valid: &'a Port,
    ready: &'a Port,
    payload: Vec<&'a Port>,
}

fn port<'a>(module: &'a Module, name: &str) -> Option<&'a Port> {
    module.ports.iter().find(|port| port.name == name)
}

/// The handshakes of the top: ports `..valid` and `..ready` of one bit with the same begin, and
/// what has that begin. They are the channels of AXI4, AXI4-Lite and AXI4-Stream, of both
/// directions.
fn channels(top: &Module) -> Vec<Handshake<'_>> {
    let single = |name: String| port(top, &name).filter(|port| port.width == 1);
    let prefixes = top.ports.iter().filter_map(|port| port.name.strip_suffix("valid"));
    let handshake = |prefix: &str| {
        let (valid, ready) = (single(format!("{prefix}valid"))?, single(format!("{prefix}ready"))?);
        let goes_with = |other: &&Port| {
            other.name.starts_with(prefix) && other.name != valid.name && other.name != ready.name
        };
        Some(Handshake { valid, ready, payload: top.ports.iter().filter(goes_with).collect() })
    };
    prefixes.filter_map(handshake).filter(|handshake| !handshake.payload.is_empty()).collect()
}

/// The handshakes in which a module inside promises what it gives.
fn promised(module: &Module) -> Vec<Handshake<'_>> {
    let handshake = |promise: &Promise| {
        let Promise::Held { valid, ready, payload } = promise else { return None };
        let (valid, ready) = (port(module, valid)?, port(module, ready)?);
        let payload = payload.iter().filter_map(|name| port(module, name)).collect();
        (valid.direction == Direction::Output).then_some(Handshake { valid, ready, payload })
    };
    module.promises.iter().filter_map(&handshake).collect()
}

/// The checkers of a handshake: one for each element of its ports.
fn bind_handshake(binds: &mut String, top: &str, module: &Module, handshake: &Handshake) {
    let Handshake { valid, ready, payload } = handshake;
    let begin = valid.name.strip_suffix("valid").unwrap_or(&valid.name).trim_end_matches('_');
    let count = valid.width;
    let part = |port: &Port, element: usize| match (count, port.width / count) {
        (1, _) => port.name.clone(),
        (_, 1) => format!("{}[{element}]", port.name),
        (_, width) => format!("{}[{} +: {width}]", port.name, element * width),
    };
    let width: usize = payload.iter().map(|port| port.width / count).sum();
    for element in 0..count {
        let name = if count == 1 { begin.to_string() } else { format!("{begin}_{element}") };
        let parts: Vec<String> = payload.iter().map(|port| part(port, element)).collect();
        let parts = if parts.is_empty() { vec!["1'b0".to_string()] } else { parts };
        let _ = write!(
            binds,
            "bind {} {top}_handshake #(\n    .WIDTH({})\n) check_{name} (\n    .clk(clk),\n    .rst(rst),\n    \
             .valid({}),\n    .ready({}),\n    .payload({{\n        {}\n    }})\n);\n\n",
            module.name,
            width.max(1),
            part(valid, element),
            part(ready, element),
            parts.join(",\n        "),
        );
    }
}

/// The checker of what a module promises of levels in each cycle.
fn bind_levels(binds: &mut String, top: &str, module: &Module, promise: &Promise) {
    match promise {
        Promise::Held { .. } | Promise::Always { .. } => {}
        Promise::OneHot { port: name } => {
            let Some(port) = port(module, name) else { return };
            let _ = write!(
                binds,
                "bind {} {top}_one_hot #(\n    .WIDTH({})\n) check_{name} (\n    .clk(clk),\n    .rst(rst),\n    \
                 .grant({name})\n);\n\n",
                module.name, port.width,
            );
        }
        Promise::Never { first, second } => {
            let _ = write!(
                binds,
                "bind {} {top}_never check_{first}_{second} (\n    .clk(clk),\n    .rst(rst),\n    \
                 .first({first}),\n    .second({second})\n);\n\n",
                module.name,
            );
        }
    }
}

/// The checker of the conditions that always hold in a module: one module with an assertion for
/// each, under its name.
fn bind_conditions(modules: &mut String, binds: &mut String, module: &Module) {
    let conditions: Vec<(&String, &String)> = module
        .promises
        .iter()
        .filter_map(|promise| match promise {
            Promise::Always { name, holds } => Some((name, holds)),
            _ => None,
        })
        .collect();
    if conditions.is_empty() {
        return;
    }
    let checker = format!("{}_conditions", module.name);
    let (mut ports, mut assertions, mut connections) = (String::new(), String::new(), String::new());
    for (name, holds) in conditions {
        let _ = write!(ports, ",\n    input wire {name}");
        let _ = writeln!(
            assertions,
            "            assert_{name}: assert ({name}) else $error(\"%m: {name} does not hold\");"
        );
        let _ = write!(connections, ",\n    .{name}({holds})");
    }
    let _ = write!(
        modules,
        "// What always holds in {}.\nmodule {checker} (\n    input wire clk,\n    input wire rst{ports}\n);\n    \
         always @(posedge clk) begin\n        if (!rst) begin\n{assertions}        end\n    end\nendmodule\n\n",
        module.name,
    );
    let _ = write!(
        binds,
        "bind {} {checker} check_conditions (\n    .clk(clk),\n    .rst(rst){connections}\n);\n\n",
        module.name,
    );
}

/// The assertions for `design`, to be read after its Verilog by a tool that knows `bind`:
///
/// - at each channel of the top (AXI4, AXI4-Lite, AXI4-Stream), and where a module inside gives
///   what its declaration says is held: valid holds until ready, and what goes with it does not
///   change;
/// - the outputs that their declaration says are one-hot, such as the grants of an arbiter, have at
///   most one bit set;
/// - two ports of which the declaration says so are never both high, such as `push` of a queue
///   while it is full;
/// - the conditions that the kernel of a unit states with `always!`.
///
/// They look at each rising edge of the clock at which the reset is low, and report by `$error`.
/// Nothing is driven.
#[must_use]
pub fn checks(design: &Design) -> String {
    let top = &design.top;
    let (mut modules, mut binds) = (String::new(), String::new());
    for module in &design.modules {
        if ["clk", "rst"].iter().any(|name| port(module, name).is_none()) {
            continue;
        }
        let handshakes = if module.name == *top { channels(module) } else { promised(module) };
        for handshake in handshakes {
            bind_handshake(&mut binds, top, module, &handshake);
        }
        for promise in &module.promises {
            bind_levels(&mut binds, top, module, promise);
        }
        bind_conditions(&mut modules, &mut binds, module);
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
                 if (!rst && valid && !ready) begin\n            \
                     was <= payload;\n        \
                 end\n        \
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
         // Two are never both high.\n\
         module {top}_never (\n    \
             input wire clk,\n    \
             input wire rst,\n    \
             input wire first,\n    \
             input wire second\n);\n    \
             always @(posedge clk) begin\n        \
                 if (!rst) begin\n            \
                     not_both: assert (!(first && second)) else $error(\"%m: both are high\");\n        \
                 end\n    \
             end\nendmodule\n\n\
         {modules}{binds}\
         // verilator lint_on DECLFILENAME\n\
         `default_nettype wire\n\
         `end_keywords\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_of_the_top_and_what_is_promised_are_bound() {
        let port = |name: &str, direction, width| Port { name: name.to_string(), direction, width };
        let input = |name: &str, width| port(name, Direction::Input, width);
        let output = |name: &str, width| port(name, Direction::Output, width);
        let held = |valid: &str, ready: &str, payload: &[&str]| Promise::Held {
            valid: valid.to_string(),
            ready: ready.to_string(),
            payload: payload.iter().map(|name| (*name).to_string()).collect(),
        };
        let module = |name: &str, ports: Vec<Port>, promises| Module {
            name: name.to_string(),
            ports: [input("clk", 1), input("rst", 1)].into_iter().chain(ports).collect(),
            promises,
            ..Module::default()
        };
        let axi =
            vec![output("m_awid", 4), output("m_awvalid", 1), input("m_awready", 1), input("seen_valid", 1)];
        let given = vec![
            output("pop_valid", 2),
            input("pop_ready", 2),
            output("pop_data", 64),
            output("pop_last", 2),
        ];
        let taken = vec![input("push_valid", 1), output("push_ready", 1), input("push_data", 32)];
        let modules = vec![
            module("a_giver", given, vec![held("pop_valid", "pop_ready", &["pop_data", "pop_last"])]),
            module("a_taker", taken, vec![held("push_valid", "push_ready", &["push_data"])]),
            module(
                "a_arbiter",
                vec![output("grant", 32)],
                vec![Promise::OneHot { port: "grant".to_string() }],
            ),
            module(
                "a_queue",
                vec![input("push", 1), output("full", 1)],
                vec![Promise::Never { first: "push".to_string(), second: "full".to_string() }],
            ),
            module(
                "a_counter",
                vec![output("count", 4)],
                vec![Promise::Always { name: "below_9".to_string(), holds: "count < 4'd9".to_string() }],
            ),
            module("a_hermes_top", axi, Vec::new()),
        ];
        let design = Design { top: "a_hermes_top".to_string(), modules, ports: Vec::new() };
        let text = checks(&design);
        let binds: Vec<&str> = text.lines().filter(|line| line.starts_with("bind ")).collect();
        assert_eq!(
            binds,
            [
                "bind a_giver a_hermes_top_handshake #(",
                "bind a_giver a_hermes_top_handshake #(",
                "bind a_arbiter a_hermes_top_one_hot #(",
                "bind a_queue a_hermes_top_never check_push_full (",
                "bind a_counter a_counter_conditions check_conditions (",
                "bind a_hermes_top a_hermes_top_handshake #(",
            ]
        );
        for part in [
            ".WIDTH(33)\n) check_pop_1 (",
            ".valid(pop_valid[1]),\n    .ready(pop_ready[1]),\n    .payload({\n        pop_data[32 +: 32],\n        pop_last[1]\n    })",
            "    .rst(rst),\n    .below_9(count < 4'd9)\n);",
            "assert_below_9: assert (below_9) else $error(\"%m: below_9 does not hold\");",
            ".valid(m_awvalid),\n    .ready(m_awready),\n    .payload({\n        m_awid\n    })",
        ] {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
    }
}
