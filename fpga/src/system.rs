//! All of a board but its clock and its pins.

use hermes_hdl::prelude::*;
use hermes_rtl::board::{
    BoardIdentity, BoardLink, FrameReceiver, FrameTransmitter, LinkParts, UartReceiver, UartTransmitter,
};
use hermes_rtl::config::Config;
use hermes_rtl::ports::SdramBus;

use crate::array_on_board::ArrayOnBoard;
use crate::board::{PacketMemory, Settings};
use crate::prim::Ecp5Global;

/// Serial line, link, and the array with its memory: what every board has. It is wiring.
#[clocked]
#[derive(LogicBlock)]
#[new(config: &Config, packet_memory: PacketMemory, identity: BoardIdentity, step: u64)]
pub struct BoardSystem<const LANES: usize> {
    /// Serial line from the host.
    pub uart_rx: Signal<In, Bit>,
    /// Serial line to the host.
    pub uart_tx: Signal<Out, Bit>,
    /// Changes every 2^23 cycles, but not while the array is reset.
    pub heartbeat: Signal<Out, Bit>,
    /// Packets are in the array.
    pub busy: Signal<Out, Bit>,
    /// A thread ended with a fault, or memory answered with an error.
    pub fault: Signal<Out, Bit>,
    /// The SDRAM (only if the packet memory is there).
    #[there(packet_memory.is_sdram())]
    pub sdram: Part<SdramBus>,

    #[init(UartReceiver::new(step))]
    receiver: UartReceiver,
    #[init(UartTransmitter::new(step))]
    transmitter: UartTransmitter,
    frames_in: FrameReceiver,
    frames_out: FrameTransmitter,
    #[init(link(config, identity))]
    link: BoardLink,
    /// The reset of the array: it has 10,000 sinks with 8 lanes.
    array_reset: Ecp5Global,
    #[init(ArrayOnBoard::new(config, packet_memory))]
    board: ArrayOnBoard<LANES>,
}

/// The link of a board with this array.
fn link(config: &Config, identity: BoardIdentity) -> BoardLink {
    let parts = LinkParts {
        trace_buffer: config.trace_buffer > 0,
        // A read of its console takes a byte.
        reads_once: config.command_threads > 0,
    };
    BoardLink::with(identity, parts)
}

impl<const LANES: usize> BoardSystem<LANES> {
    /// The system of a board with these settings.
    ///
    /// # Panics
    /// As [`ArrayOnBoard::new`], or if the rate of the serial line is above a quarter of the clock.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self::wired(&settings.config, settings.packet_memory(), settings.identity(), settings.uart_step())
    }
}

impl<const LANES: usize> Logic for BoardSystem<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.receiver.rx.next = self.uart_rx.val();
        self.uart_tx.next = self.transmitter.tx.val();
        self.frames_in.valid.next = self.receiver.valid.val();
        self.frames_in.data.next = self.receiver.data.val();
        self.frames_in.error.next = self.receiver.error.val();
        self.frames_in.enable.next = self.link.enable.val();
        self.link.byte_valid.next = self.frames_in.byte_valid.val();
        self.link.byte.next = self.frames_in.byte.val();
        self.link.index.next = self.frames_in.index.val();
        self.link.end.next = self.frames_in.end.val();
        self.link.damaged.next = self.frames_in.damaged.val();
        self.link.length.next = self.frames_in.length.val();
        self.frames_out.valid.next = self.link.answer_valid.val();
        self.frames_out.data.next = self.link.answer_data.val();
        self.frames_out.last.next = self.link.answer_last.val();
        self.frames_out.abort.next = self.link.answer_abort.val();
        self.link.answer_ready.next = self.frames_out.ready.val();
        self.transmitter.valid.next = self.frames_out.line_valid.val();
        self.transmitter.data.next = self.frames_out.line_data.val();
        self.frames_out.line_ready.next = self.transmitter.ready.val();

        self.array_reset.signal_in.next = self.link.array_reset.val();
        self.board.reset.next = self.array_reset.signal_out.val();
        connect!(self.link.m_axil, self.board.s_axil);
        self.link.busy_cycles.next = self.board.busy_cycles.val();
        connect!(self.link.memory, self.board.byte);
        if self.board.trace.is_there() {
            connect!(self.link.trace, self.board.trace);
        }
        if self.sdram.is_there() {
            connect!(self.sdram, self.board.sdram);
        }

        self.heartbeat.next = self.board.heartbeat.val();
        self.busy.next = self.board.busy.val();
        self.fault.next = self.board.fault.val();
    }
}
