//! Between the channels of user-level interrupts and the banks of the L2.

use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// What a channel watches: some words of some lines.
#[derive(Ports)]
pub struct WatchedRange {
    /// The channel watches writes.
    pub valid: Signal<In, Bit>,
    /// Line addresses: those that equal this one in the bits of `lines`.
    pub line: Signal<In, LineAddress>,
    /// Bits of the line address that count.
    pub lines: Signal<In, Bits<26>>,
    /// Words of these lines.
    pub words: Signal<In, Bits<16>>,
}
