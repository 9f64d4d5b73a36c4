//! What became of the packets at each function of a chain.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// A function in a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FunctionReport {
    /// Its name.
    pub name: String,
    /// Packets that came to it.
    pub packets: u64,
    /// Packets that it forwarded.
    pub forwarded: u64,
    /// Packets that it dropped, faults among them.
    pub dropped: u64,
    /// Packets whose threads faulted.
    pub faulted: u64,
    /// Packets by verdict, in words.
    pub verdicts: BTreeMap<String, u64>,
    /// Instructions of the threads of all packets.
    pub instructions: u64,
    /// Most instructions of the thread of a packet.
    pub most_instructions: u64,
}

/// A chain on the reference simulator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainReport {
    /// Packets that came in.
    pub packets: u64,
    /// Packets that the last function forwarded.
    pub forwarded: u64,
    /// The functions, in the order of the visits.
    pub functions: Vec<FunctionReport>,
    /// Functions without a golden model, whose results were compared with nothing.
    pub not_compared: Vec<String>,
}

impl fmt::Display for ChainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} packets in, {} forwarded", self.packets, self.forwarded)?;
        writeln!(f)?;
        write!(
            f,
            "{:<16} {:>9} {:>9} {:>9} {:>9} {:>20} {:>9}",
            "function", "packets", "forwarded", "dropped", "faulted", "instructions/packet", "most"
        )?;
        for function in &self.functions {
            let each = match function.packets {
                0 => "-".to_string(),
                packets => format!("{:.1}", function.instructions as f64 / packets as f64),
            };
            write!(
                f,
                "\n{:<16} {:>9} {:>9} {:>9} {:>9} {each:>20} {:>9}",
                function.name,
                function.packets,
                function.forwarded,
                function.dropped,
                function.faulted,
                function.most_instructions
            )?;
        }
        for function in &self.functions {
            for (name, count) in &function.verdicts {
                write!(f, "\n{:<16} {count:>9} {name}", function.name)?;
            }
        }
        for name in &self.not_compared {
            write!(f, "\n{name}: not compared, since it has no golden model (`app`)")?;
        }
        Ok(())
    }
}
