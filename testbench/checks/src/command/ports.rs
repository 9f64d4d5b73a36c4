//! The trace ports of the command processor.

use verilator_sys::{Model, Output, Port};

use super::checker::CommandRetired;

/// Ports `trace_cp_*` of a model.
#[derive(Clone, Copy, Debug)]
pub struct CommandPorts {
    valid: Output,
    hart: Output,
    pc: Output,
    next_pc: Output,
    word: Output,
    rd: Output,
    value: Output,
    address: Output,
    trap: Output,
    intr: Output,
    uli: Output,
}

impl CommandPorts {
    /// Whether a model with these ports has a command processor with a trace.
    #[must_use]
    pub fn present(ports: &[Port]) -> bool {
        ports.iter().any(|port| port.name == "trace_cp_valid")
    }

    /// Finds the ports.
    ///
    /// # Errors
    /// The model does not have one of them, or not with its width.
    pub fn bind(model: &Model) -> Result<Self, verilator_sys::Error> {
        let port = |name: &str, width| model.output(&format!("trace_cp_{name}"), width);
        Ok(Self {
            valid: port("valid", 1)?,
            hart: port("hart", 3)?,
            pc: port("pc_rdata", 32)?,
            next_pc: port("pc_wdata", 32)?,
            word: port("insn", 32)?,
            rd: port("rd", 5)?,
            value: port("rd_wdata", 32)?,
            address: port("mem_addr", 32)?,
            trap: port("trap", 1)?,
            intr: port("intr", 1)?,
            uli: port("uli", 1)?,
        })
    }

    /// What retires in this cycle.
    #[must_use]
    pub fn sample(&self, model: &Model) -> Option<CommandRetired> {
        let word = |port| model.get_u64(port) as u32;
        model.get_bool(self.valid).then(|| CommandRetired {
            hart: word(self.hart),
            pc: word(self.pc),
            next_pc: word(self.next_pc),
            word: word(self.word),
            rd: word(self.rd),
            value: word(self.value),
            address: word(self.address),
            trap: model.get_bool(self.trap),
            intr: model.get_bool(self.intr),
            uli: model.get_bool(self.uli),
        })
    }
}
