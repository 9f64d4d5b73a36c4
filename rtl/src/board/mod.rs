//! What stands around the array on a board: the serial line to the host, the packet memory, the
//! LEDs.
//!
//! | unit | what it does |
//! | --- | --- |
//! | `UartReceiver`, `UartTransmitter` | bytes on a serial line |
//! | `FrameReceiver`, `FrameTransmitter`, `Fcs` | frames of RFC 1662 in these bytes |
//! | `BoardLink` | what the host asks: registers, memory, reset, identity (`docs/fpga-link.md`) |
//! | `LineMemory` | the packet memory in block RAM, an AXI4 slave |
//! | `SdramMemory` | the same in SDRAM (`docs/sdram.md`); `SdramChip` is a model of the chip |
//! | `RunTimer` | cycles with packets in the array, LEDs |

mod board_link;
mod fcs;
mod frame_receiver;
mod frame_transmitter;
mod line_memory;
#[cfg(test)]
mod line_tests;
#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod memory_player;
#[cfg(test)]
mod memory_tests;
mod run_timer;
mod sdram;
mod uart_receiver;
mod uart_transmitter;

pub use board_link::{BoardIdentity, BoardLink, LinkParts, MAGIC, MOST_COUNT, PROTOCOL, TRACE_ADDRESS};
pub use fcs::Fcs;
pub use frame_receiver::{FrameReceiver, MOST_BYTES};
pub use frame_transmitter::FrameTransmitter;
pub use line_memory::LineMemory;
pub use run_timer::RunTimer;
pub use sdram::{SdramChip, SdramData, SdramMemory, SdramPins, SdramTimes, SdramTiming, SDRAM_TIMES};
pub use uart_receiver::UartReceiver;
pub use uart_transmitter::UartTransmitter;
