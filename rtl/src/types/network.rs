//! Sizes, codes and counters of the network interface, which its units and its registers share.

use hermes_hdl::prelude::*;

/// Queue pairs that there are.
pub const QUEUE_PAIRS: usize = 16;

/// Regions that there are.
pub const REGIONS: usize = 16;

/// Commands of an owner that may be under way at most, whatever the configuration.
pub const MOST_ENTRIES: usize = 8;

/// Sees that an owner of `unit` can have so many commands under way.
///
/// # Panics
/// If `entries` is not 1, 2, 4 or 8.
pub fn check_entries(unit: &str, entries: usize) {
    let possible = entries.is_power_of_two() && entries <= MOST_ENTRIES;
    assert!(possible, "{unit}: {entries} commands of an owner, expected 1, 2, 4 or 8");
}

/// Who we are: the same in all frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct NetIdentity {
    /// Our MAC.
    pub mac: Bits<48>,
    /// Our IPv4 address.
    pub ip: Bits<32>,
    /// Type of service of what we send.
    pub type_of_service: Bits<8>,
}

/// Tables that NET_INDEX names in bits 31:28, and their words.
pub mod net_table {
    /// Queue pairs.
    pub const QUEUE_PAIRS: u64 = 0;
    /// Regions.
    pub const REGIONS: u64 = 1;
    /// Command queues.
    pub const QUEUES: u64 = 2;
    /// Words of a queue pair that the host writes; those behind them are only read.
    pub const PAIR_WORDS_WRITTEN: u64 = 12;
    /// Words of a region.
    pub const REGION_WORDS: u64 = 4;
    /// Words of a command queue.
    pub const QUEUE_WORDS: u64 = 3;
}

/// Operations of commands: bits 7:0 of their word 0 (docs/shmem.md).
pub mod command_operation {
    /// Nothing is done.
    pub const NOP: u64 = 0;
    /// Bytes go to the peer.
    pub const PUT: u64 = 1;
    /// Bytes come from the peer.
    pub const GET: u64 = 2;
    /// 64 bits at the peer are added to; their old value comes.
    pub const FETCH_ADD: u64 = 4;
    /// 64 bits at the peer are replaced if they have a value; their old value comes.
    pub const COMPARE_SWAP: u64 = 5;
}

/// Codes of commands that are complete (compnet.md 2.2; docs/network.md).
pub mod code {
    /// It is done: its bytes are visible at the peer.
    pub const DONE: u64 = 0x01;
    /// There is no such operation.
    pub const OPERATION: u64 = 0x80;
    /// There is no such node.
    pub const NODE: u64 = 0x81;
    /// Its local bytes do not lie in their region, or may not be used.
    pub const LOCAL_RANGE: u64 = 0x82;
    /// Its remote bytes do not lie in the window.
    pub const REMOTE_RANGE: u64 = 0x83;
    /// It has no bytes, or too many.
    pub const LENGTH: u64 = 0x84;
    /// An address is no multiple of 8.
    pub const ALIGNMENT: u64 = 0x85;
    /// It timed out too often.
    pub const RETRIES: u64 = 0x86;
    /// The peer refused it.
    pub const REMOTE: u64 = 0x87;
    /// Its queue pair is not up, or was left by an error.
    pub const DOWN: u64 = 0x88;
    /// Its bytes could not be read, or their region is gone.
    pub const LOCAL: u64 = 0x89;
    /// A reserved bit is set.
    pub const RESERVED: u64 = 0x8a;
}

/// Numbers of the counters, for NET_COUNTER_SELECT.
pub mod counter {
    /// Frames that were sent.
    pub const FRAMES_OUT: u64 = 0;
    /// Frames whose payload was written.
    pub const FRAMES_IN: u64 = 1;
    /// Commands that failed.
    pub const FAILED: u64 = 2;
    /// Packets that were sent again.
    pub const RESENT: u64 = 3;
    /// Time-outs.
    pub const TIMEOUTS: u64 = 4;
    /// NAKs that were sent.
    pub const NAKS_OUT: u64 = 5;
    /// NAKs that came.
    pub const NAKS_IN: u64 = 6;
    /// ACKs, NAKs and responses that came for no packet that waits for one.
    pub const STRAY: u64 = 7;
    /// Frames that found no room in the buffer.
    pub const NO_ROOM: u64 = 8;
    /// Frames that were dropped with cause 1, as in [`cause`](crate::net::cause); cause 2 is the
    /// next counter, and so on up to cause 7.
    pub const CAUSE_1: u64 = 9;
    /// Frames for no queue pair that is up, or not from its peer.
    pub const UNKNOWN: u64 = 16;
    /// Frames that are no packet that is served.
    pub const REFUSED: u64 = 17;
    /// Packets that came again.
    pub const REPEATED: u64 = 18;
    /// Packets that came too early: one before them is missing.
    pub const NEWER: u64 = 19;
    /// Queue pairs that went to ERROR.
    pub const DOWN: u64 = 20;
    /// Commands that were fetched from the queues of warps, and given to harts.
    pub const FETCHED: u64 = 21;
    /// Events that are counted one by one: the counters up to here.
    pub const EVENTS: usize = 22;
    /// Cycles of harts of the command processor that run and wait neither in NEXT nor in `wfi`: of
    /// each cycle so many.
    pub const HART_CYCLES: u64 = 22;
    /// RNR NAKs that came.
    pub const NOT_READY: u64 = 23;
    /// Counters of the network interface.
    pub const COUNT: usize = 24;

    /// Counters of the L2, which the registers show behind those of the network interface: writes
    /// to a command ring whose line stayed unlocked, since another one of its set was locked.
    pub const LOCKS_REFUSED: u64 = 32;
    /// Locks that ended by 63 misses in their set.
    pub const LOCKS_EXPIRED: u64 = 33;
    /// Lines that the network interface read and the L2 had.
    pub const READ_HITS: u64 = 34;
    /// Lines that it read and that came from memory.
    pub const READ_MISSES: u64 = 35;
    /// Lines that the command processor read and the L2 had.
    pub const COMMAND_READ_HITS: u64 = 36;
    /// Lines that it read and that came from memory.
    pub const COMMAND_READ_MISSES: u64 = 37;

    /// The numbers of all counters.
    pub fn all() -> impl Iterator<Item = u64> {
        (0..COUNT as u64).chain(LOCKS_REFUSED..=COMMAND_READ_MISSES)
    }
}
