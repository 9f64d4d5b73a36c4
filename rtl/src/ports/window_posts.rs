//! Between the network interface and the window of the command processor.

use crate::types::PostedCommand;
use hermes_hdl::prelude::*;

/// Commands that harts of the command processor post, and those that are complete. A command is not
/// held until it is taken: it goes with `enable`, and with the access of a hart that is held.
#[derive(Ports)]
pub struct WindowPosts {
    /// NET_CONTROL bit 0.
    pub enable: Signal<Out, Bit>,
    /// A command is posted, of an owner with fewer than eight under way.
    pub valid: Signal<In, Bit>,
    /// The command is taken at this edge.
    pub ready: Signal<Out, Bit>,
    /// The command that is posted.
    pub command: Signal<In, PostedCommand>,
    /// A command is complete, for one cycle; whoever posted it.
    pub completed: Signal<Out, Bit>,
    /// Owner of the command, as in [`WorkEntry`](crate::net::WorkEntry).
    pub owner: Signal<Out, Bits<10>>,
    /// Context of the command.
    pub context: Signal<Out, Bits<2>>,
    /// Code of the result, as in docs/network.md.
    pub code: Signal<Out, Bits<8>>,
}
