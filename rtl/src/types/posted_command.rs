//! A command, as it is posted.

use hermes_hdl::prelude::*;

/// A command is not checked, but posted: what else it is posted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PostedCommand {
    /// Its words 0 to 7, word 0 in bits 31:0.
    pub words: Bits<256>,
    /// Its queue pair.
    pub pair: Bits<4>,
    /// The region of its local bytes.
    pub region: Bits<4>,
    /// The domain of who posted it.
    pub domain: Bits<4>,
    /// Who posted it, as in [`WorkEntry`].
    pub owner: Bits<10>,
    /// Its context, for who posted it.
    pub context: Bits<2>,
    /// Its index in its queue, for who posted it.
    pub index: Bits<16>,
}
