//! What the sender knows of a command, and of a queue pair's commands.

use crate::prelude::*;

/// A command that was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WorkEntry {
    /// Where its first byte goes, from the beginning of the window.
    pub offset: Bits<32>,
    /// Its bytes, 1 to 2^30.
    pub bytes: Bits<32>,
    /// They stand in memory, `data` bits 31:0 being the address of the first; else in `data`.
    pub memory: Bit,
    /// See `memory`: the first byte in bits 7:0; what is behind the last is zero.
    pub data: Bits<128>,
    /// The region of its bytes in memory.
    pub region: Bits<4>,
    /// The domain of who posted it.
    pub domain: Bits<4>,
    /// Packets that it takes.
    pub packets: Bits<23>,
}

/// An answer of a peer: ACK or NAK.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PeerAnswer {
    /// Our queue pair.
    pub pair: Bits<4>,
    /// Its packet sequence number.
    pub sequence: Bits<24>,
    /// Its syndrome.
    pub syndrome: Bits<8>,
}

/// A queue pair's commands, in the order of their packets. Packet sequence numbers count modulo 2^24.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct RequestRow {
    /// The oldest packet that is not acknowledged.
    pub oldest: Bits<24>,
    /// The next packet to send.
    pub upcoming: Bits<24>,
    /// Behind the highest packet that was ever sent.
    pub top: Bits<24>,
    /// Commands.
    pub entries: Bits<4>,
    /// The oldest command.
    pub head: Bits<3>,
    /// The command of `upcoming`, if there are `more`.
    pub cursor: Bits<3>,
    /// The last command.
    pub tail: Bits<3>,
    /// A command has packets from `upcoming` on.
    pub more: Bit,
    /// Time-outs since `oldest` moved.
    pub retries: Bits<4>,
    /// A command failed: it ends with `code`, the others with 0x88.
    pub failed: Bit,
    /// That command.
    pub cause: Bits<3>,
    /// See `failed`.
    pub code: Bits<8>,
}
