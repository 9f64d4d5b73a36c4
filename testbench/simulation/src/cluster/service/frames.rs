//! What a frame of RoCEv2 is to those who serve commands.

use crate::golden::roce::{opcode, Extended, RoceFrame};

/// Packet sequence numbers have 24 bits.
const SEQUENCE_BITS: u32 = 24;
/// Bits 7:5 of a syndrome (InfiniBand Architecture Specification, volume 1, 9.7.5.2.1).
const ACKNOWLEDGES: u8 = 0;
const NOT_READY: u8 = 1;
const REFUSES: u8 = 3;
/// Packets of a READ that belongs to a longer get, with the window of the reset: the network
/// interface asks for a quarter of its window at a time.
pub const READ_PACKETS: u32 = 8;
/// Longest WRITE that may be the signal of a put, in bytes.
const SIGNAL_BYTES: u32 = 8;
/// Shortest put, in bytes, that may have a signal behind it is one more.
const INLINE_BYTES: u32 = 16;

/// Whether packet `first` was sent before `second`.
pub const fn before(first: u32, second: u32) -> bool {
    let ahead = second.wrapping_sub(first) & ((1 << SEQUENCE_BITS) - 1);
    ahead != 0 && ahead < 1 << (SEQUENCE_BITS - 1)
}

/// The packet `count` behind `sequence`.
pub const fn behind(sequence: u32, count: u32) -> u32 {
    (sequence + count) & ((1 << SEQUENCE_BITS) - 1)
}

/// A frame that a node sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// An answer, or no RoCEv2: nobody serves it.
    Other,
    /// A request of this node.
    Request(Request),
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its peer, which is its queue pair.
    pub peer: [u8; 4],
    /// Packet sequence number.
    pub sequence: u32,
    /// What it is.
    pub kind: Kind,
}

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Begins a put.
    Put {
        /// It is the whole message.
        whole: bool,
        /// It has more bytes than a signal's packet.
        long: bool,
        /// It may be a signal.
        short: bool,
    },
    /// A further packet of a put.
    Further {
        /// The last one.
        last: bool,
    },
    /// A get, or a part of it.
    Read {
        /// Packets of its response.
        packets: u32,
        /// Where it begins at the target.
        address: u64,
        /// Where the rest of a longer get would begin, if it asks for as many whole packets as one
        /// READ may.
        rest: Option<u64>,
    },
    /// An atomic operation.
    Atomic,
}

impl Sent {
    /// A frame of a node whose packets have `mtu` bytes, and whose READs ask for `read_packets` of
    /// them at most.
    pub fn of(bytes: &[u8], mtu: u32, read_packets: u32) -> Self {
        let Ok(frame) = RoceFrame::parse(bytes) else { return Self::Other };
        let (address, length) = match frame.extended {
            Extended::Rdma { address, length, .. } => (address, length),
            _ => (0, 0),
        };
        let put = |whole: bool| Kind::Put {
            whole,
            long: length > INLINE_BYTES,
            short: whole && length == SIGNAL_BYTES,
        };
        let kind = match frame.opcode {
            opcode::WRITE_FIRST => put(false),
            opcode::WRITE_ONLY => put(true),
            opcode::WRITE_MIDDLE => Kind::Further { last: false },
            opcode::WRITE_LAST => Kind::Further { last: true },
            opcode::READ_REQUEST => Kind::Read {
                packets: length.div_ceil(mtu).max(1),
                address,
                rest: (length == read_packets * mtu).then(|| address.wrapping_add(length.into())),
            },
            opcode::COMPARE_SWAP | opcode::FETCH_ADD => Kind::Atomic,
            _ => return Self::Other,
        };
        Self::Request(Request { peer: frame.to_ip, sequence: frame.sequence, kind })
    }
}

/// A frame that comes to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Come {
    /// A request of a peer, or no RoCEv2.
    Other,
    /// An answer to this node.
    Answer {
        /// Who sent it, which is the queue pair.
        peer: [u8; 4],
        /// Its packet sequence number.
        sequence: u32,
        /// What it says.
        says: Says,
    },
}

/// What an answer says of packet p, whose number it has. Each but [`Says::Nothing`] says that the
/// packets before p were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// A syndrome that has no meaning.
    Nothing,
    /// p was taken.
    Taken,
    /// p is missing, the peer is not ready for it, or more responses follow.
    Before,
    /// It is the last response of the READ that ends with p, or that of the atomic operation p.
    Ends,
    /// The peer refuses p: nothing of its queue pair is performed any more.
    Refuses,
}

impl Come {
    /// A frame.
    pub fn of(bytes: &[u8]) -> Self {
        let Ok(frame) = RoceFrame::parse(bytes) else { return Self::Other };
        let class = match frame.extended {
            Extended::Acknowledge { syndrome, .. } | Extended::AtomicAcknowledge { syndrome, .. } => {
                (syndrome >> 5, syndrome & 0x1f)
            }
            _ => (ACKNOWLEDGES, 0),
        };
        let says = match (frame.opcode, class) {
            (opcode::RESPONSE_FIRST | opcode::RESPONSE_MIDDLE, _) => Says::Before,
            (
                opcode::RESPONSE_LAST | opcode::RESPONSE_ONLY | opcode::ATOMIC_ACKNOWLEDGE,
                (ACKNOWLEDGES, _),
            ) => Says::Ends,
            (opcode::RESPONSE_LAST | opcode::RESPONSE_ONLY | opcode::ATOMIC_ACKNOWLEDGE, _) => Says::Nothing,
            (opcode::ACKNOWLEDGE, (ACKNOWLEDGES, _)) => Says::Taken,
            (opcode::ACKNOWLEDGE, (NOT_READY, _) | (REFUSES, 0)) => Says::Before,
            (opcode::ACKNOWLEDGE, (REFUSES, _)) => Says::Refuses,
            (opcode::ACKNOWLEDGE, _) => Says::Nothing,
            _ => return Self::Other,
        };
        Self::Answer { peer: frame.from_ip, sequence: frame.sequence, says }
    }
}
