//! What is known of a command queue, and what happens to it.

use hermes_hdl::prelude::*;

/// Queues of an array at most.
pub const MOST_QUEUES: usize = 256;

/// Kinds of [`QueueEvent`].
pub mod event {
    /// Nothing but that it may have a command.
    pub const LOOK: u64 = 0;
    /// A hart posted its command: it is under way.
    pub const TAKE: u64 = 1;
    /// A hart ended its command with `code`.
    pub const END: u64 = 2;
    /// A hart gave its command back.
    pub const GIVE_BACK: u64 = 3;
    /// A command that was under way is complete with `code`.
    pub const COMPLETE: u64 = 4;
    /// A line of its ring is here.
    pub const ARRIVE: u64 = 5;
    /// It is switched on or off.
    pub const SWITCH: u64 = 6;
    /// The host looks at it.
    pub const SHOW: u64 = 7;
}

/// A command queue: its ring in memory belongs to a warp slot in a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct QueueRow {
    /// The queue is switched on.
    pub on: Bit,
    /// The command at `head` has a staging buffer.
    pub staged: Bit,
    /// Index of the staging buffer of the command at `head`, if `staged`.
    pub buffer: Bits<4>,
    /// Commands that were posted and are not complete, 0 to 8; at most as many as the configuration
    /// says (`net_queue_entries`).
    pub under_way: Bits<4>,
    /// HEAD: commands that were consumed, modulo 2^32.
    pub head: Bits<32>,
    /// EPOCH of the control line.
    pub epoch: Bits<32>,
    /// DONE of contexts 0 to 3, 16 bits each.
    pub done: Bits<64>,
    /// VALUE of the control line: result of the last command of context 3 that had one.
    pub value: Bits<64>,
    /// ERROR of contexts 0 to 3, 32 bits each.
    pub errors: Bits<128>,
}

/// What happens to a command queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct QueueEvent {
    /// As in [`event`].
    pub kind: Bits<3>,
    /// The queue: domain x rings of an area + warp slot.
    pub queue: Bits<8>,
    /// TAKE, END, GIVE_BACK, ARRIVE: the buffer of its command.
    pub buffer: Bits<4>,
    /// END, COMPLETE: context of the command.
    pub context: Bits<2>,
    /// END, COMPLETE: how it ended, as in [`code`](crate::types::code).
    pub code: Bits<8>,
    /// COMPLETE: HEAD when it was posted, modulo 2^16.
    pub index: Bits<16>,
    /// COMPLETE: it has a result. ARRIVE: the line could not be read. SWITCH: on.
    pub flag: Bit,
    /// COMPLETE: the result. ARRIVE: word 0 of the line. SWITCH on: the epoch.
    pub value: Bits<64>,
}

/// A command that is given to the harts.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct StagedCommand {
    /// Index of the staging buffer with the sixteen words of the command.
    pub buffer: Bits<4>,
    /// Index of the queue.
    pub queue: Bits<8>,
    /// HEAD, modulo 2^16.
    pub index: Bits<16>,
    /// Bits 7:0 of its word 0.
    pub operation: Bits<8>,
    /// Context of the command.
    pub context: Bits<2>,
    /// The node that it is for.
    pub node: Bits<6>,
}

/// A command of a queue that is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct CompletedCommand {
    /// Index of the queue.
    pub queue: Bits<8>,
    /// Context of the command.
    pub context: Bits<2>,
    /// Code of the completion, as in [`code`](crate::types::code).
    pub code: Bits<8>,
    /// HEAD when it was posted, modulo 2^16.
    pub index: Bits<16>,
    /// The command has a result.
    pub has_value: Bit,
    /// Result of the command, if it has one.
    pub value: Bits<64>,
}
