//! The array with the packet memory of a board.

use hermes_hdl::prelude::*;
use hermes_rtl::board::{LineMemory, RunTimer};
use hermes_rtl::config::Config;
use hermes_rtl::ports::{AxiLite, MemoryByte};
use hermes_rtl::top::HermesTop;

/// Half a period of the heartbeat, as a power of two of cycles: a fifth of a second at 40 MHz.
const HEARTBEAT: usize = 23;

/// The array and its memory: what RESET of the link resets. It is wiring.
#[derive(LogicBlock)]
#[new(config: &Config, memory_log2: usize)]
pub struct ArrayOnBoard<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high. The memory keeps its contents.
    pub reset: Signal<In, Bit>,
    /// The registers.
    pub s_axil: AxiLite,
    /// A byte of the packet memory.
    pub byte: MemoryByte,
    /// A byte of the trace buffer (one element if the array has one).
    #[count(usize::from(config.trace_buffer > 0))]
    pub trace: Vec<MemoryByte>,
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
    #[init(LineMemory::new(memory_log2))]
    memory: LineMemory,
    #[init(RunTimer::new(HEARTBEAT))]
    timer: RunTimer,
    #[init(usize::from(config.trace_buffer > 0))]
    _traces: usize,
}

impl<const LANES: usize> ArrayOnBoard<LANES> {
    /// The array of `config` with `2^memory_log2` bytes of memory.
    ///
    /// # Panics
    /// If `config` is not valid, its lanes are not `LANES`, it has other ports than registers, one
    /// memory channel and the fault output, or the size of the memory is not possible.
    pub fn new(config: &Config, memory_log2: usize) -> Self {
        let plain = !config.packet_ports && !config.network && !config.trace && config.command_threads == 0;
        assert!(plain && config.channels == 1 && config.fault_output, "ArrayOnBoard: {config:?}");
        Self::wired(config, memory_log2)
    }
}

impl<const LANES: usize> Logic for ArrayOnBoard<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.s_axil, self.array.s_axil);
        self.fault.next = self.array.fault[0].val();

        self.memory.awid.next = self.array.m_axi[0].awid.val();
        self.memory.awaddr.next = self.array.m_axi[0].awaddr.val();
        self.memory.awvalid.next = self.array.m_axi[0].awvalid.val();
        self.memory.wdata.next = self.array.m_axi[0].wdata.val();
        self.memory.wstrb.next = self.array.m_axi[0].wstrb.val();
        self.memory.wvalid.next = self.array.m_axi[0].wvalid.val();
        self.memory.bready.next = self.array.m_axi[0].bready.val();
        self.memory.arid.next = self.array.m_axi[0].arid.val();
        self.memory.araddr.next = self.array.m_axi[0].araddr.val();
        self.memory.arvalid.next = self.array.m_axi[0].arvalid.val();
        self.memory.rready.next = self.array.m_axi[0].rready.val();
        self.array.m_axi[0].awready.next = self.memory.awready.val();
        self.array.m_axi[0].wready.next = self.memory.wready.val();
        self.array.m_axi[0].bid.next = self.memory.bid.val();
        self.array.m_axi[0].bresp.next = self.memory.bresp.val();
        self.array.m_axi[0].bvalid.next = self.memory.bvalid.val();
        self.array.m_axi[0].arready.next = self.memory.arready.val();
        self.array.m_axi[0].rid.next = self.memory.rid.val();
        self.array.m_axi[0].rdata.next = self.memory.rdata.val();
        self.array.m_axi[0].rresp.next = self.memory.rresp.val();
        self.array.m_axi[0].rlast.next = true;
        self.array.m_axi[0].rvalid.next = self.memory.rvalid.val();

        connect!(self.byte, self.memory.byte);
        for i in 0..self._traces {
            connect!(self.trace[i], self.array.trace_buffer[i]);
        }

        self.timer.issued.next = self.array.trace_issue.valid.val();
        self.timer.committed.next = self.array.trace_commit.valid.val();
        self.busy_cycles.next = self.timer.busy_cycles.val();
        self.busy.next = self.timer.busy.val();
        self.heartbeat.next = self.timer.heartbeat.val();
    }
}
