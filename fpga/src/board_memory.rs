//! The packet memory of a board, wherever it is.

use hermes_hdl::prelude::*;
use hermes_rtl::board::{LineMemory, SdramMemory};
use hermes_rtl::ports::{MemoryAxi, MemoryByte, SdramBus};

use crate::board::PacketMemory;

/// The packet memory in block RAM, or the controller of that in SDRAM. It is wiring.
#[derive(LogicBlock)]
#[new(packet_memory: PacketMemory)]
pub struct BoardMemory {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high. Block RAM keeps its contents.
    pub reset: Signal<In, Bit>,
    /// The array.
    pub s_axi: MemoryAxi,
    /// A byte for the host.
    pub byte: MemoryByte,
    /// The SDRAM (one element if the packet memory is there).
    #[count(packet_memory.sdrams())]
    pub sdram: Vec<SdramBus>,

    #[init(packet_memory.block_ram())]
    lines: Vec<LineMemory>,
    #[init(packet_memory.controller())]
    controller: Vec<SdramMemory>,
    #[init(1 - packet_memory.sdrams())]
    _block_rams: usize,
    #[init(packet_memory.sdrams())]
    _sdrams: usize,
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
        for i in 0..self._block_rams {
            connect!(self.s_axi, self.lines[i].s_axi);
            connect!(self.byte, self.lines[i].byte);
        }
        for i in 0..self._sdrams {
            connect!(self.s_axi, self.controller[i].s_axi);
            connect!(self.byte, self.controller[i].byte);
            connect!(self.sdram[i], self.controller[i].sdram);
        }
    }
}
