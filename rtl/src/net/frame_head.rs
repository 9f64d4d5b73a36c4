//! What the headers of a frame say.

use hermes_hdl::prelude::*;

/// The headers of a frame of RoCEv2, but for what is the same in all of ours. Numbers are as their
/// value, the first byte on the wire in the most significant bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameHead {
    /// Our queue pair: the UDP source port is 0xc000 + its number.
    pub queue_pair: Bits<5>,
    /// Destination MAC.
    pub mac: Bits<48>,
    /// Destination IPv4 address.
    pub ip: Bits<32>,
    /// Opcode of the base transport header.
    pub opcode: Bits<8>,
    /// The receiver is asked to acknowledge.
    pub acknowledge: Bit,
    /// The receiver's queue pair.
    pub remote: Bits<24>,
    /// Packet sequence number.
    pub sequence: Bits<24>,
    /// The header behind the base transport header, from bit 223 down; the rest is zero.
    pub extension: Bits<224>,
    /// Length of `extension` in words of 32 bits: 0, 1 (AETH), 3 (AETH and the value of an atomic
    /// operation), 4 (RETH) or 7 (AtomicETH).
    pub extension_words: Bits<3>,
    /// Bytes of the payload, at most 4,096.
    pub bytes: Bits<13>,
}
