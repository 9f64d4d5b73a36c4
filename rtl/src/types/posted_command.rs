//! A command, as it is posted.

use hermes_hdl::prelude::*;

/// A command is not checked, but posted: what else it is posted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PostedCommand {
    /// Words 0 to 7 of the command, word 0 in bits 31:0.
    pub words: Bits<256>,
    /// Index of the queue pair.
    pub pair: Bits<4>,
    /// The region of its local bytes.
    pub region: Bits<4>,
    /// The domain of who posted it.
    pub domain: Bits<4>,
    /// Owner of the command, as in [`WorkEntry`].
    pub owner: Bits<10>,
    /// Context of the command, for who posted it.
    pub context: Bits<2>,
    /// Index of the command in its queue, for who posted it.
    pub index: Bits<16>,
}
