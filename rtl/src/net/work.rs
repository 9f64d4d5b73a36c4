//! What the sender knows of a command, and of a queue pair's commands.

use hermes_hdl::prelude::*;

/// Operations of commands, as [`WorkEntry`] has them.
pub mod operation {
    /// Bytes go to the peer.
    pub const PUT: u64 = 0;
    /// Bytes come from the peer.
    pub const GET: u64 = 1;
    /// 64 bits at the peer are added to; their old value comes.
    pub const ADD: u64 = 2;
    /// 64 bits at the peer are replaced if they have a value; their old value comes.
    pub const SWAP: u64 = 3;
}

/// A command that was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WorkEntry {
    /// Operation, as in [`operation`].
    pub operation: Bits<2>,
    /// Offset of its first byte at the peer, from the beginning of the window.
    pub offset: Bits<32>,
    /// Bytes of the command, 1 to 2^30; 8 of an atomic operation.
    pub bytes: Bits<32>,
    /// The bytes stand or go in memory, `data` bits 31:0 being the address of the first; else in
    /// `data`.
    pub memory: Bit,
    /// See `memory`: the first byte in bits 7:0; what is behind the last is zero. Of an atomic
    /// operation: what is added or put there in bits 63:0, what is compared in bits 127:64. The
    /// result stands in bits 63:0 when it came, if it does not go to memory.
    pub data: Bits<128>,
    /// The region of its bytes in memory.
    pub region: Bits<4>,
    /// The domain of who posted it.
    pub domain: Bits<4>,
    /// Packets that it takes; of a GET: packets of its responses.
    pub packets: Bits<23>,
    /// Owner: 0 the host, 1 + h hart h of the command processor, 16 + q queue q.
    pub owner: Bits<10>,
    /// Context of the command, for who posted it.
    pub context: Bits<2>,
    /// Index of the command in its queue, for who posted it.
    pub index: Bits<16>,
}

/// An answer of a peer: ACK, NAK or response.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PeerAnswer {
    /// Our queue pair.
    pub pair: Bits<4>,
    /// Packet sequence number of the answer.
    pub sequence: Bits<24>,
    /// Syndrome of the answer; that of a response of a READ which is neither the first nor the last
    /// of it is anything.
    pub syndrome: Bits<8>,
    /// The answer is a response, of a READ or an atomic operation.
    pub response: Bit,
    /// The answer is the response of an atomic operation.
    pub atomic: Bit,
    /// Bytes of its payload.
    pub bytes: Bits<13>,
    /// The eight bytes behind its AETH, the first one in bits 63:56.
    pub value: Bits<64>,
    /// The answer is the first response of a READ, or the only one.
    pub begins: Bit,
    /// The answer is the last response of a READ, or the only one.
    pub ends: Bit,
}

/// A queue pair's commands, in the order of their packets. Packet sequence numbers count modulo
/// 2^24.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct RequestRow {
    /// The oldest packet that is not acknowledged, or whose response did not come.
    pub oldest: Bits<24>,
    /// The next packet to send.
    pub upcoming: Bits<24>,
    /// Behind the highest packet that was ever sent.
    pub top: Bits<24>,
    /// Behind the last packet whose response is in memory.
    pub got: Bits<24>,
    /// Commands.
    pub entries: Bits<13>,
    /// Commands that are not acknowledged to their end: the last ones.
    pub open: Bits<13>,
    /// The oldest command.
    pub head: Bits<12>,
    /// The command of `oldest`, if one is `open`.
    pub oldest_at: Bits<12>,
    /// The command of `upcoming`, if there are `more`.
    pub cursor: Bits<12>,
    /// The last command.
    pub tail: Bits<12>,
    /// A command has packets from `upcoming` on.
    pub more: Bit,
    /// A response was lost, and since then `oldest` has not moved.
    pub gap: Bit,
    /// A NAK that is no loss passed commands whose answers did not come.
    pub lost: Bit,
    /// READs and atomic operations from `oldest` to `upcoming`.
    pub reads: Bits<5>,
    /// READs and atomic operations that the peer takes at once.
    pub depth: Bits<5>,
    /// Time-outs since `oldest` moved.
    pub retries: Bits<4>,
    /// A command failed: it ends with `code`, the others with 0x88.
    pub failed: Bit,
    /// Place of the command that failed.
    pub cause: Bits<12>,
    /// Code of the command that failed.
    pub code: Bits<8>,
}
