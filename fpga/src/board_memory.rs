//! The packet memory of a board, wherever it is.

use hermes_hdl::prelude::*;
use hermes_rtl::board::{LineMemory, SdramMemory};
use hermes_rtl::ports::{MemoryAxi, MemoryByte, SdramBus};

use crate::board::PacketMemory;

/// The packet memory in block RAM, or the controller of that in SDRAM. It is wiring.
#[clocked("Block RAM keeps its contents")]
#[derive(LogicBlock)]
#[new(packet_memory: PacketMemory)]
pub struct BoardMemory {
    /// The array.
    pub s_axi: MemoryAxi,
    /// A byte for the host.
    pub byte: MemoryByte,
    /// The SDRAM (only if the packet memory is there).
    #[there(packet_memory.is_sdram())]
    pub sdram: Part<SdramBus>,

    #[init(packet_memory.block_ram())]
    lines: Part<LineMemory>,
    #[init(packet_memory.controller())]
    controller: Part<SdramMemory>,
}

impl BoardMemory {
    /// The memory.
    ///
    /// # Panics
    /// As [`LineMemory::new`] and [`SdramMemory::new`].
    #[must_use]
    pub fn new(packet_memory: PacketMemory) -> Self {
        Self::wired(packet_memory)
    }
}

impl Logic for BoardMemory {
    #[hdl_gen]
    fn update(&mut self) {
        if self.sdram.is_there() {
            connect!(self.s_axi, self.controller.s_axi);
            connect!(self.byte, self.controller.byte);
            connect!(*self.sdram, self.controller.sdram);
        } else {
            connect!(self.s_axi, self.lines.s_axi);
            connect!(self.byte, self.lines.byte);
        }
    }
}
