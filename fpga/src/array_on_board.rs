//! The array with the packet memory of a board.

use hermes_hdl::prelude::*;
use hermes_rtl::board::RunTimer;
use hermes_rtl::config::Config;
use hermes_rtl::ports::{AxiLite, MemoryByte, SdramBus};
use hermes_rtl::top::HermesTop;

use crate::board::PacketMemory;
use crate::board_memory::BoardMemory;

/// Half a period of the heartbeat, as a power of two of cycles: a fifth of a second at 40 MHz.
const HEARTBEAT: usize = 23;

/// The array and its memory: what RESET of the link resets. It is wiring.
#[clocked("The memory keeps its contents")]
#[derive(LogicBlock)]
#[new(config: &Config, packet_memory: PacketMemory)]
pub struct ArrayOnBoard<const LANES: usize> {
    /// The registers.
    pub s_axil: AxiLite,
    /// A byte of the packet memory.
    pub byte: MemoryByte,
    /// A byte of the trace buffer (only with one).
    #[there(config.trace_buffer > 0)]
    pub trace: Part<MemoryByte>,
    /// The SDRAM (only if the packet memory is there).
    #[there(packet_memory.is_sdram())]
    pub sdram: Part<SdramBus>,
    /// Cycles with packets in the array, modulo 2^32.
    pub busy_cycles: Signal<Out, Bits<32>>,
    /// Packets are, or were just now, in the array.
    pub busy: Signal<Out, Bit>,
    /// A thread ended with a fault, or memory answered with an error, since the reset.
    pub fault: Signal<Out, Bit>,
    /// Changes every 2^23 cycles.
    pub heartbeat: Signal<Out, Bit>,

    #[init(HermesTop::new(config))]
    array: HermesTop<LANES>,
    #[init(BoardMemory::new(packet_memory))]
    memory: BoardMemory,
    #[init(timer(config))]
    timer: RunTimer,
}

/// What counts the cycles with packets in this array.
fn timer(config: &Config) -> RunTimer {
    if config.spawn_slots > 0 {
        RunTimer::with_spawner(HEARTBEAT)
    } else {
        RunTimer::new(HEARTBEAT)
    }
}

impl<const LANES: usize> ArrayOnBoard<LANES> {
    /// The array of `config` with this packet memory.
    ///
    /// # Panics
    /// If `config` is not valid, its lanes are not `LANES`, it has other ports than registers, one
    /// memory channel, the fault output and the interrupt of the host, which has no pin, or the
    /// size of the memory is not possible.
    pub fn new(config: &Config, packet_memory: PacketMemory) -> Self {
        let plain = !config.packet_ports && !config.network && !config.trace;
        assert!(plain && config.channels == 1 && config.fault_output, "ArrayOnBoard: {config:?}");
        Self::wired(config, packet_memory)
    }
}

impl<const LANES: usize> Logic for ArrayOnBoard<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.s_axil, self.array.s_axil);
        self.fault.next = self.array.fault.val();

        self.memory.s_axi.awid.next = self.array.m_axi[0].awid.val();
        self.memory.s_axi.awaddr.next = self.array.m_axi[0].awaddr.val();
        self.memory.s_axi.awvalid.next = self.array.m_axi[0].awvalid.val();
        self.memory.s_axi.wdata.next = self.array.m_axi[0].wdata.val();
        self.memory.s_axi.wstrb.next = self.array.m_axi[0].wstrb.val();
        self.memory.s_axi.wvalid.next = self.array.m_axi[0].wvalid.val();
        self.memory.s_axi.bready.next = self.array.m_axi[0].bready.val();
        self.memory.s_axi.arid.next = self.array.m_axi[0].arid.val();
        self.memory.s_axi.araddr.next = self.array.m_axi[0].araddr.val();
        self.memory.s_axi.arvalid.next = self.array.m_axi[0].arvalid.val();
        self.memory.s_axi.rready.next = self.array.m_axi[0].rready.val();
        self.array.m_axi[0].awready.next = self.memory.s_axi.awready.val();
        self.array.m_axi[0].wready.next = self.memory.s_axi.wready.val();
        self.array.m_axi[0].bid.next = self.memory.s_axi.bid.val();
        self.array.m_axi[0].bresp.next = self.memory.s_axi.bresp.val();
        self.array.m_axi[0].bvalid.next = self.memory.s_axi.bvalid.val();
        self.array.m_axi[0].arready.next = self.memory.s_axi.arready.val();
        self.array.m_axi[0].rid.next = self.memory.s_axi.rid.val();
        self.array.m_axi[0].rdata.next = self.memory.s_axi.rdata.val();
        self.array.m_axi[0].rresp.next = self.memory.s_axi.rresp.val();
        self.array.m_axi[0].rlast.next = true;
        self.array.m_axi[0].rvalid.next = self.memory.s_axi.rvalid.val();

        connect!(self.byte, self.memory.byte);
        if self.sdram.is_there() {
            connect!(self.sdram, self.memory.sdram);
        }
        if self.trace.is_there() {
            connect!(self.trace, self.array.trace_buffer);
        }

        self.timer.issued.next = self.array.trace_issue.valid.val();
        if self.timer.spawned.is_there() {
            self.timer.spawned.next = self.array.trace_issue_spawned.val();
        }
        self.timer.committed.next = self.array.trace_commit.valid.val();
        self.busy_cycles.next = self.timer.busy_cycles.val();
        self.busy.next = self.timer.busy.val();
        self.heartbeat.next = self.timer.heartbeat.val();
    }
}
