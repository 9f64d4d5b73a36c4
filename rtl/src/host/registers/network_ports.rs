//! What the registers exchange with the network interface.

use crate::ports::{LineLock, QueueControl};
use crate::types::NetIdentity;
use hermes_hdl::prelude::*;

/// An access to a word of a table: that of queue pairs, or that of regions. It stands until it is
/// done.
#[derive(Ports)]
pub struct TableAccess {
    /// The word is written.
    pub write: Signal<In, Bit>,
    /// The word is read: `answer` is its value from the cycle after on.
    pub read: Signal<In, Bit>,
    /// Row of the word.
    pub pair: Signal<In, Bits<4>>,
    /// Number of the word in its row, as in [`word`](crate::net::word) or
    /// [`region_word`](crate::net::region_word).
    pub word: Signal<In, Bits<4>>,
    /// Value to write.
    pub value: Signal<In, Bits<32>>,
    /// The access is not done in this cycle.
    pub waits: Signal<Out, Bit>,
    /// The write has no effect: the queue pair is not in RESET. Regions are always written.
    pub refused: Signal<Out, Bit>,
    /// The word that was read last.
    pub answer: Signal<Out, Bits<32>>,
}

/// What the registers and [`NetInterface`](crate::net::NetInterface) exchange.
#[derive(Ports)]
pub struct NetControl {
    /// Frames are taken; else they are dropped.
    pub enable: Signal<In, Bit>,
    /// Addresses of this node; constant while `enable` is high.
    pub identity: Signal<In, NetIdentity>,
    /// The table of queue pairs.
    pub table: TableAccess,
    /// The table of regions.
    pub regions: TableAccess,
    /// A queue pair is to change its state.
    pub set_state: Signal<In, Bit>,
    /// Queue pair that is to change its state.
    pub state_pair: Signal<In, Bits<4>>,
    /// The state, as in [`state`](crate::net::state).
    pub new_state: Signal<In, Bits<4>>,
    /// The queue pair keeps its state; answers in the same cycle.
    pub state_refused: Signal<Out, Bit>,
    /// Queue pairs that go to ERROR in this cycle.
    pub downs: Signal<Out, Bits<16>>,
    /// Packets that a queue pair may have sent without an answer.
    pub window: Signal<In, Bits<6>>,
    /// Cycles without an answer until packets are sent again.
    pub timeout: Signal<In, Bits<24>>,
    /// Time-outs in a row after which a command fails.
    pub retries: Signal<In, Bits<3>>,
    /// A command is posted, unless `post_refused` answers in the same cycle.
    pub post: Signal<In, Bit>,
    /// Queue pair of the command.
    pub post_pair: Signal<In, Bits<4>>,
    /// The region of its local bytes.
    pub post_region: Signal<In, Bits<4>>,
    /// The domain that it is of.
    pub post_domain: Signal<In, Bits<4>>,
    /// The sixteen words of the command, word 0 in bits 31:0.
    pub stage: Signal<In, Bits<512>>,
    /// Commands are taken.
    pub ready: Signal<Out, Bit>,
    /// There is no room for a command.
    pub post_refused: Signal<Out, Bit>,
    /// A command is complete, for one cycle.
    pub completed: Signal<Out, Bit>,
    /// Code of the result, as in docs/network.md.
    pub code: Signal<Out, Bits<8>>,
    /// The command has a result.
    pub has_result: Signal<Out, Bit>,
    /// Result of the command.
    pub result: Signal<Out, Bits<64>>,
    /// The command queues.
    pub queues: QueueControl,
    /// The counter that is shown, as in [`counter`](crate::types::counter).
    pub counter_select: Signal<In, Bits<5>>,
    /// Value of the counter in the cycle before.
    pub counter: Signal<Out, Bits<32>>,
}

/// What the registers exchange with the network interface, and with the L2 about it.
#[derive(Ports)]
pub struct NetworkControl {
    /// To and from the network interface.
    pub interface: NetControl,
    /// To and from the L2: where the command rings are, and how their lines fare.
    pub lock: LineLock,
    /// From the L2: lines that the network interface read and the L2 had, modulo 2^32.
    pub read_hits: Signal<Out, Bits<32>>,
    /// From the L2: lines that the network interface read from memory, modulo 2^32.
    pub read_misses: Signal<Out, Bits<32>>,
    /// Lines that the command processor read and the L2 had, modulo 2^32; 0 without one, as the
    /// next.
    pub command_read_hits: Signal<Out, Bits<32>>,
    /// Lines that the command processor read from memory, modulo 2^32.
    pub command_read_misses: Signal<Out, Bits<32>>,
}
