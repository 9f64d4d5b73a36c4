//! Between the command processor and the network interface's window.

use crate::prelude::*;

/// What the window must know of an access of the command processor beside its [`RegisterAccess`](super::RegisterAccess).
#[derive(Ports)]
pub struct WindowSelect {
    /// It is to the window, not to the registers of the array.
    pub of_window: Signal<In, Bit>,
    /// The hart that makes it.
    pub hart: Signal<In, Bits<3>>,
}
