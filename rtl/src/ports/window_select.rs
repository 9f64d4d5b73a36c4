//! Between the command processor and the network interface's window.

use hermes_hdl::prelude::*;

/// What the window must know of an access of the command processor beside its
/// [`RegisterAccess`](super::RegisterAccess).
#[derive(Ports)]
pub struct WindowSelect {
    /// The access is to the window, not to the registers of the array.
    pub of_window: Signal<In, Bit>,
    /// The hart that makes it.
    pub hart: Signal<In, Bits<3>>,
    /// The hart is to wake: no read is held.
    pub wake: Signal<In, Bit>,
    /// Harts that are held.
    pub hold: Signal<In, Bits<8>>,
    /// The access is not done: it is withdrawn, and repeated when there is a command.
    pub parks: Signal<Out, Bit>,
    /// There is a command.
    pub here: Signal<Out, Bit>,
    /// There will be one soon: it is worth that a hart fetches again.
    pub soon: Signal<Out, Bit>,
}
