//! What the sender knows of a command, and of a queue pair's commands.

use crate::prelude::*;

/// A command that was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WorkEntry {
    /// Where its first byte goes, from the beginning of the window.
    pub offset: Bits<32>,
    /// Its bytes.
    pub bytes: Bits<5>,
    /// The bytes, the first in bits 7:0; what is behind them is zero.
    pub data: Bits<128>,
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
    /// Behind the last packet of the last command.
    pub end: Bits<24>,
    /// Commands.
    pub entries: Bits<4>,
    /// The oldest command.
    pub head: Bits<3>,
    /// The command of `upcoming`, unless that is `end`.
    pub cursor: Bits<3>,
    /// The last command.
    pub tail: Bits<3>,
    /// Time-outs since `oldest` moved.
    pub retries: Bits<4>,
}
