//! How much waits in the array and at its memory, from the handshakes at its ports.

use std::collections::VecDeque;

use hermes_rtl::host::registers::REGISTERS;
use verilator_sys::Model;

use crate::cosim::{Axi4Ports, AxiLitePorts, PortError, StreamInPorts, PACKET_PORTS};

/// Register by which the host pushes tasks.
const TASK_PUSH: &str = "TASK_PUSH";
/// AXI response: done. A push that the task FIFO has no room for gets another.
const OKAY: u64 = 0;

/// What waits in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Tasks (packets) that entered the array so far: pushed by the host, or received through the
    /// packet ports.
    pub entered: u64,
    /// Lines that the memory was asked for, or given, and has not answered.
    pub memory_lines: u64,
}

/// Follows the levels of an array, cycle by cycle.
pub struct LevelPorts {
    registers: AxiLitePorts,
    memory: Vec<Axi4Ports>,
    packets: Option<StreamInPorts>,
    push: u64,
    /// Writes of registers whose answer is not there yet.
    addresses: VecDeque<u64>,
    data: VecDeque<u64>,
    levels: Levels,
}

impl LevelPorts {
    /// The ports of a model.
    ///
    /// # Errors
    /// It does not have those of an array.
    pub fn bind(model: &Model) -> Result<Self, PortError> {
        let prefix = PACKET_PORTS[0];
        let has_packets = model.ports().iter().any(|port| port.name == format!("{prefix}_tvalid"));
        let push = REGISTERS.iter().find(|register| register.name == TASK_PUSH);
        Ok(Self {
            registers: AxiLitePorts::bind(model, "s_axil")?,
            memory: Axi4Ports::bind_channels(model)?,
            packets: has_packets.then(|| StreamInPorts::bind(model, prefix)).transpose()?,
            push: push.map_or(u64::MAX, |register| register.offset.into()),
            addresses: VecDeque::new(),
            data: VecDeque::new(),
            levels: Levels::default(),
        })
    }

    /// The levels behind this cycle.
    pub fn sample(&mut self, model: &Model) -> Levels {
        let levels = &mut self.levels;
        let both = |valid: bool, ready: bool| valid && ready;
        for port in &self.memory {
            let asked = both(model.get_bool(port.arvalid), model.get_bool(port.arready));
            let asked = u64::from(asked) * (model.get_u64(port.arlen) + 1);
            // A write is answered once, whatever its length.
            let given = u64::from(both(model.get_bool(port.awvalid), model.get_bool(port.awready)));
            let read = u64::from(both(model.get_bool(port.rvalid), model.get_bool(port.rready)));
            let written = u64::from(both(model.get_bool(port.bvalid), model.get_bool(port.bready)));
            levels.memory_lines = (levels.memory_lines + asked + given).saturating_sub(read + written);
        }
        let port = &self.registers;
        if both(model.get_bool(port.awvalid), model.get_bool(port.awready)) {
            self.addresses.push_back(model.get_u64(port.awaddr));
        }
        if both(model.get_bool(port.wvalid), model.get_bool(port.wready)) {
            self.data.push_back(model.get_u64(port.wdata));
        }
        if both(model.get_bool(port.bvalid), model.get_bool(port.bready)) {
            let written = self.addresses.pop_front().zip(self.data.pop_front());
            if let Some((address, value)) = written {
                let pushed = address == self.push && model.get_u64(port.bresp) == OKAY;
                levels.entered += if pushed { value } else { 0 };
            }
        }
        if let Some(port) = &self.packets {
            let beat = both(model.get_bool(port.tvalid), model.get_bool(port.tready));
            levels.entered += u64::from(beat && model.get_bool(port.tlast));
        }
        *levels
    }
}
