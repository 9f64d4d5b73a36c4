//! A frame, as captures have it and generators make it.

/// An Ethernet frame without preamble and FCS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The captured bytes, from the destination address on.
    pub data: Vec<u8>,
    /// Bytes of the frame on the wire; more than the captured ones when a snap length cut the
    /// frame.
    pub wire_length: u32,
    /// Nanoseconds since 1970.
    pub timestamp: u64,
    /// Input port: the interface of a pcapng file, otherwise 0.
    pub port: u32,
}
