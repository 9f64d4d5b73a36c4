//! The ports of a module: their names, their comments, and the list of them.

use std::fmt::Write as _;

use super::comment::{self, first_sentence};
use super::text::range;
use super::unit_info::Description;

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Into the module.
    Input,
    /// Out of the module.
    Output,
    /// Both: pins that others drive, too.
    Bidirectional,
}

/// A port of a module.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Port {
    /// Verilog identifier.
    pub name: String,
    /// Direction seen from the module.
    pub direction: Direction,
    /// Bits.
    pub width: usize,
}

/// Port name of a field.
pub fn port_name(field: &str) -> &str {
    match field {
        "clock" => "clk",
        "reset" => "rst",
        other => other,
    }
}

/// A port in the list of a module.
pub struct ListedPort {
    pub port: Port,
    /// Its number of bits where that depends on parameters of the module.
    pub bits: Option<String>,
    /// Driven from an `always` block.
    pub procedural: bool,
    /// Comment behind it.
    pub doc: String,
    /// Comment above the first port of its group.
    pub group: Option<String>,
}

/// The port list of a module.
pub fn header(ports: &[ListedPort]) -> String {
    let columns = ports.iter().map(|p| match &p.bits {
        Some(bits) => format!("[{bits}-1:0] "),
        None => range(p.port.width),
    });
    let columns: Vec<String> = columns.collect();
    let widest = columns.iter().map(String::len).max().unwrap_or(0);
    let longest = ports.iter().map(|p| p.port.name.len()).max().unwrap_or(0) + 1;
    let mut text = String::from("(\n");
    let mut above: &Option<String> = &None;
    for (i, (ListedPort { port, procedural, doc, group, .. }, column)) in
        ports.iter().zip(&columns).enumerate()
    {
        if let (Some(comment), true) = (group, group != above) {
            for line in comment::lines(&format!("{comment}:"), "    ") {
                let _ = writeln!(text, "{line}");
            }
        }
        above = group;
        let direction = match port.direction {
            Direction::Input => "input  wire",
            Direction::Output if *procedural => "output reg ",
            Direction::Output => "output wire",
            Direction::Bidirectional => "inout  wire",
        };
        let name = format!("{}{}", port.name, if i + 1 < ports.len() { "," } else { "" });
        let declaration = format!("    {direction} {column:<widest$}{name:<longest$}");
        for line in comment::beside(&declaration, doc) {
            let _ = writeln!(text, "{line}");
        }
    }
    text.push_str(");\n");
    text
}

/// The comment beside the port of a field.
pub fn field_doc(description: Option<&Description>, path: &str) -> String {
    let find =
        |d: &Description| d.fields.iter().find(|(n, _)| n == path).and_then(|(_, doc)| first_sentence(doc));
    description.and_then(find).unwrap_or_default()
}

/// The comment above the ports of a group: that of the field, then that of the group.
pub fn group_doc(description: &Description, path: &str) -> Option<String> {
    let (group, _) = path.rsplit_once('.')?;
    // The comment of a `Vec` of groups is that of each of its elements.
    let element = group.strip_suffix(']').and_then(|element| element.rsplit_once('['));
    let field = element.map_or(group, |(vector, _)| vector);
    let of = |list: &[(String, String)], group: &str| {
        list.iter().find(|(name, _)| name == group).and_then(|(_, doc)| first_sentence(doc))
    };
    let sentences: Vec<String> =
        [of(&description.fields, field), of(&description.groups, group)].into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(". "))
}
