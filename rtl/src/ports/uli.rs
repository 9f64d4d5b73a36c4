//! Between the pipeline of the command processor and the channels of user-level interrupts.

use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// What an instruction of custom-0 or a CSR asks in stage X, and does in stage W.
#[derive(Ports)]
pub struct UliAccess {
    /// Stage X: hart of the instruction.
    pub ask_hart: Signal<Out, Bits<3>>,
    /// Stage X: channel of an EMONITOR.
    pub ask_channel: Signal<Out, Bits<3>>,
    /// Stage X: what EMONITOR returns.
    pub ask_status: Signal<In, Bits<32>>,
    /// Stage X: number of a CSR, bits 5:0.
    pub read_number: Signal<Out, Bits<6>>,
    /// Stage X: value of the CSR.
    pub read_value: Signal<In, Bits<32>>,
    /// Stage X: delivery to the hart is blocked.
    pub blocked: Signal<In, Bit>,
    /// Stage X: PC at which its interrupted program goes on, bits 31:2.
    pub interrupted_pc: Signal<In, Bits<30>>,

    /// Harts that have a channel armed and pending.
    pub wake: Signal<In, Bits<8>>,
    /// Harts for which a trap is entered at this edge.
    pub trap: Signal<Out, Bits<8>>,

    /// Stage W: hart of the instruction.
    pub hart: Signal<Out, Bits<3>>,
    /// Stage W: EMONITOR retires.
    pub arm_valid: Signal<Out, Bit>,
    /// Stage W: channel of the EMONITOR.
    pub arm_channel: Signal<Out, Bits<3>>,
    /// Stage W: scenario of the EMONITOR.
    pub arm_scenario: Signal<Out, Bits<4>>,
    /// Stage W: handler of the EMONITOR, bits 31:2.
    pub arm_handler: Signal<Out, Bits<30>>,
    /// Stage W: parameter of the EMONITOR.
    pub arm_parameter: Signal<Out, Bits<32>>,
    /// Stage W: ERETURN retires.
    pub leave: Signal<Out, Bit>,
    /// Stage W: `mret` retires.
    pub trap_return: Signal<Out, Bit>,
    /// Stage W: a write of a CSR retires.
    pub write_valid: Signal<Out, Bit>,
    /// Stage W: number of the CSR, bits 5:0.
    pub write_number: Signal<Out, Bits<6>>,
    /// Bits to set.
    pub write_set: Signal<Out, Bits<32>>,
    /// Bits to clear; those to set win.
    pub write_clear: Signal<Out, Bits<32>>,
    /// Stage W: SIGNAL.RANGE retires.
    pub page_valid: Signal<Out, Bit>,
    /// Stage W: operand of SIGNAL.RANGE, the address of a page; 0: no page.
    pub page: Signal<Out, Bits<32>>,
    /// The descriptor page cannot be moved there; answers `page` in the same cycle.
    pub page_refused: Signal<In, Bit>,
}

/// The descriptor page, as the command processor moves it.
#[derive(Ports)]
pub struct PageMove {
    /// The page moves, unless it is refused.
    pub valid: Signal<In, Bit>,
    /// Address of the page; 0: there is none.
    pub address: Signal<In, Bits<32>>,
    /// The page cannot be moved there; answers `address` in the same cycle.
    pub refused: Signal<Out, Bit>,
}

/// A store of the command processor that memory accepts at this edge.
#[derive(Ports)]
pub struct StoreTap {
    /// A store is accepted.
    pub valid: Signal<In, Bit>,
    /// Line address of the store.
    pub line: Signal<In, LineAddress>,
    /// Word of the store, which stands in all words of the line.
    pub word: Signal<In, Bits<32>>,
    /// Bytes that it writes.
    pub strobe: Signal<In, Bits<64>>,
}
