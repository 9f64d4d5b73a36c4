//! Comments of ports stand alone in the Verilog: a reader of one port knows what it is.
//!
//! Refused is the comment of a port, or of a group of ports, that
//!
//! - begins with a pronoun, "It is taken at this edge" or "Its slot", also behind a stage or an
//!   end, "Stage W: it retires": what it stands for is in another comment, which may be far above
//!   or in another file;
//! - begins with a word that asks, "Which one" or "Where it begins": it hides the noun, as in
//!   "Index of the warp" or "Address of the window". Behind a stage or an end such a clause names
//!   its thing, "To the scheduler: how the warp goes on", and may stand;
//!
//! and the comment of a port that
//!
//! - only repeats the name, "Load" at `execute_load`;
//! - is that of its group, which stands once, above the first port of the group.
//!
//! Each port of the top has a comment.

#[path = "../common/stands_alone.rs"]
mod stands_alone;

use std::collections::BTreeSet;

use crate::designs;
use stands_alone::{pronoun, repeats};

/// A port of a module with its comment and that of its group; both are empty if there is none. The
/// text does not say where a group ends: a port is in it that begins with the same word as the
/// first.
#[derive(Debug, Default, PartialEq)]
struct Port {
    module: String,
    name: String,
    comment: String,
    group: String,
}

/// The name of the module that begins in this line.
fn module_of(line: &str) -> Option<&str> {
    line.strip_prefix("module ")?.split([' ', '(']).next()
}

/// The name of the port that this line declares, and the comment beside it.
fn port_of(line: &str) -> Option<(&str, &str)> {
    let (declaration, comment) = line.split_once("//").unwrap_or((line, ""));
    let mut words = declaration.split_whitespace();
    let is_port = matches!(words.next(), Some("input" | "output" | "inout"));
    let name = words.next_back()?.trim_end_matches(',');
    is_port.then_some((name, comment.trim()))
}

/// The first word of a name.
fn first_word(name: &str) -> &str {
    name.split('_').next().unwrap_or_default()
}

/// The ports of the modules in the text. A comment stands beside its port and goes on below, or in
/// the lines above it; that of a group stands above its first port and ends with a colon.
fn ports(verilog: &str) -> Vec<Port> {
    let mut found: Vec<Port> = Vec::new();
    let (mut module, mut above, mut group) = (None, Vec::new(), (String::new(), String::new()));
    for line in verilog.lines() {
        if let Some(name) = module_of(line) {
            (module, above, group) = (Some(name), Vec::new(), (String::new(), String::new()));
        } else if line.starts_with(");") {
            module = None;
        }
        let Some(module) = module else { continue };
        if let Some((name, beside)) = port_of(line) {
            let own = above.iter().rposition(|text: &&str| text.ends_with(':')).map_or(0, |last| last + 1);
            let comment = if beside.is_empty() { above[own..].join(" ") } else { beside.to_string() };
            if own > 0 || first_word(name) != group.0 {
                group = (first_word(name).to_string(), above[..own].join(" "));
            }
            above.clear();
            let (module, name, group) = (module.to_string(), name.to_string(), group.1.clone());
            found.push(Port { module, name, comment, group });
        } else if let Some(text) = line.strip_prefix("    // ") {
            above.push(text);
        } else if let (Some(text), Some(port)) = (line.trim_start().strip_prefix("//"), found.last_mut()) {
            port.comment += text;
        }
    }
    found
}

/// What is wrong with the comments of a port, each with its reason.
fn faults(port: &Port, is_top: bool) -> Vec<String> {
    let Port { module, name, comment, group } = port;
    let mut list = Vec::new();
    if let Some(word) = pronoun(comment) {
        list.push(format!("{module}: {name}: `{comment}` begins with `{word}`"));
    }
    if let Some(word) = pronoun(group) {
        list.push(format!("{module}: group `{group}` begins with `{word}`"));
    }
    if repeats(name, comment) {
        list.push(format!("{module}: {name}: `{comment}` only repeats the name"));
    }
    if !comment.is_empty() && group.trim_end_matches(':').split(". ").any(|said| said == comment) {
        list.push(format!("{module}: {name}: `{comment}` is the comment of its group, too"));
    }
    if is_top && comment.is_empty() {
        list.push(format!("{module}: {name}: has no comment"));
    }
    list
}

#[test]
fn comments_of_ports_stand_alone() {
    let (mut found, mut count) = (BTreeSet::new(), 0);
    for (_, design) in designs() {
        for port in ports(&design.verilog()) {
            count += 1;
            found.extend(faults(&port, port.module == design.top));
        }
    }
    println!("{count} ports");
    assert!(count > 50_000, "only {count} ports were read");
    let list: Vec<String> = found.into_iter().collect();
    assert!(
        list.is_empty(),
        "{} comments do not stand alone (docs/writing-units.md):\n{}",
        list.len(),
        list.join("\n")
    );
}

#[test]
fn faults_of_comments_are_found() {
    let verilog = "\
// This module is small.
module first (
    input  wire        clk,       // Rising-edge clock
    // From the host. Where packets go, and where they come from, which is as it is in the host:
    // those of the host:
    input  wire [11:0] in_index,  // Which entry
    input  wire        in_valid,  // From the host
    // Its answer. The answer of a write:
    output reg  [3:0]  out_load,  // The load
    output wire        out_long,  // Whether the answer
                                  // is late
    output wire        busy       // The answer of a write
);
    // It is no port.
    wire a;
endmodule
module top (
    // It has
    // two lines.
    input  wire        rst,
    output wire [7:0]  m_axi_awid,
    output wire        taken,     // Stage W: it is taken
    output wire        next,      // Stage W: what comes next
    inout  wire        pin        // Pin: it is driven by others, too
);
endmodule
";
    let found = ports(verilog);
    let of = |module: &str, name: &str, comment: &str, group: &str| Port {
        module: module.into(),
        name: name.into(),
        comment: comment.into(),
        group: group.into(),
    };
    let host = "From the host. Where packets go, and where they come from, which is as it is in the host: \
                those of the host:";
    let (host, answer) = (host, "Its answer. The answer of a write:");
    let expected = [
        of("first", "clk", "Rising-edge clock", ""),
        of("first", "in_index", "Which entry", host),
        of("first", "in_valid", "From the host", host),
        of("first", "out_load", "The load", answer),
        of("first", "out_long", "Whether the answer is late", answer),
        of("first", "busy", "The answer of a write", ""),
        of("top", "rst", "It has two lines.", ""),
        of("top", "m_axi_awid", "", ""),
        of("top", "taken", "Stage W: it is taken", ""),
        of("top", "next", "Stage W: what comes next", ""),
        of("top", "pin", "Pin: it is driven by others, too", ""),
    ];
    assert_eq!(found, expected);
    let list: Vec<String> = found.iter().flat_map(|port| faults(port, port.module == "top")).collect();
    let expected = [
        "first: in_index: `Which entry` begins with `which`",
        "first: in_valid: `From the host` is the comment of its group, too",
        "first: group `Its answer. The answer of a write:` begins with `its`",
        "first: out_load: `The load` only repeats the name",
        "first: group `Its answer. The answer of a write:` begins with `its`",
        "top: rst: `It has two lines.` begins with `it`",
        "top: m_axi_awid: has no comment",
        "top: taken: `Stage W: it is taken` begins with `it`",
    ];
    assert_eq!(list, expected);
}
