//! What can go wrong while the array is simulated, or works on a board.

use super::board_error::BoardError;
use super::fault_record::FaultRecord;
use super::ports::PortError;
use crate::egress::EgressError;
use crate::iss::AddressError;

/// An error of the co-simulation.
#[derive(Debug, thiserror::Error)]
pub enum CosimError {
    /// The model could not be run.
    #[error(transparent)]
    Model(#[from] verilator_sys::Error),
    /// The design lacks ports.
    #[error(transparent)]
    Ports(#[from] PortError),
    /// The process is to end.
    #[error("the simulation ended at cycle {cycle}")]
    Interrupted {
        /// Cycles since reset.
        cycle: u64,
    },
    /// The design broke a rule of a bus protocol.
    #[error("cycle {cycle}: {message}")]
    Protocol {
        /// Cycles since reset.
        cycle: u64,
        /// The rule, the signal and the values.
        message: String,
    },
    /// A register access did not end.
    #[error("the access to register {register} did not end within {cycles} cycles")]
    RegisterTimeout {
        /// Name of the register, or its offset.
        register: String,
        /// Cycles waited.
        cycles: u64,
    },
    /// A register access was answered with an error.
    #[error("the access to register {register} was answered with {response}")]
    RegisterResponse {
        /// Name of the register, or its offset.
        register: String,
        /// The AXI response.
        response: &'static str,
    },
    /// The design is not a Hermes array.
    #[error("register ID reads {found:#010x}; expected {expected:#010x}")]
    Identification {
        /// What was read.
        found: u32,
        /// What a Hermes array answers.
        expected: u32,
    },
    /// An address outside the shared memory.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The shared memory has no room.
    #[error("no room for {what} of {bytes} bytes in the shared memory")]
    OutOfMemory {
        /// What needed room.
        what: String,
        /// Bytes asked for.
        bytes: u64,
    },
    /// Something is to lie where something else does.
    #[error(
        "{what} at {first:#010x} to {last:#010x} overlaps {other} at {other_first:#010x} to {other_last:#010x}"
    )]
    Overlap {
        /// What is to lie there.
        what: String,
        /// Its first address.
        first: u64,
        /// Its last address.
        last: u64,
        /// What lies there.
        other: String,
        /// The first address of that.
        other_first: u64,
        /// The last address of that.
        other_last: u64,
    },
    /// Something was freed that was not allocated.
    #[error("rfree({address:#010x}): nothing is allocated at this address")]
    NotAllocated {
        /// The address.
        address: u32,
    },
    /// An option that the array cannot work with.
    #[error("{field}: {value} is not possible; expected {expected}")]
    Option {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A frame that does not fit into a ring slot.
    #[error("packet {index}: {length} bytes do not fit into a ring slot, which holds {capacity}")]
    FrameTooLarge {
        /// Index of the packet.
        index: usize,
        /// Bytes of its frame.
        length: usize,
        /// Bytes of the largest frame.
        capacity: usize,
    },
    /// A frame that cannot go through the packet ports.
    #[error("packet {index}: the frame has no bytes, and cannot go through the packet ports")]
    EmptyFrame {
        /// Index of the packet.
        index: usize,
    },
    /// The array has no packet ports.
    #[error("the array has no packet ports (s_axis_rx, m_axis_tx)")]
    NoPacketPorts,
    /// Frames are to be dropped by an array that cannot.
    #[error("the packet ports of the array cannot drop frames (drop_when_full)")]
    NoDrops,
    /// The array has no network interface.
    #[error("the array has no network interface (s_axis_net, m_axis_net)")]
    NoNetwork,
    /// A kernel left an egress list that cannot be.
    #[error(transparent)]
    Egress(#[from] EgressError),
    /// The array reported warps in a way that cannot be: an error of the design.
    #[error("cycle {cycle}: {message}")]
    Order {
        /// Cycles since reset.
        cycle: u64,
        /// What was seen and what was expected.
        message: String,
    },
    /// An observer of the simulation found an error.
    #[error("cycle {cycle}: {message}")]
    Observer {
        /// Cycles since reset.
        cycle: u64,
        /// What it found.
        message: String,
    },
    /// What the network interface is connected to ended the simulation.
    #[error("cycle {cycle}: {message}")]
    Wire {
        /// Cycles since reset.
        cycle: u64,
        /// Why.
        message: String,
    },
    /// Nothing went on for long.
    #[error("cycle {cycle}: no instruction was retired for {quiet} cycles; {state}")]
    NoProgress {
        /// Cycles since reset.
        cycle: u64,
        /// Cycles without progress.
        quiet: u64,
        /// Registers and counts that tell what is pending.
        state: String,
    },
    /// Instructions were retired, or could not be counted, but packets did not come to their end
    /// for long.
    #[error("cycle {cycle}: no packet was committed for {quiet} cycles; {state}")]
    NoCommit {
        /// Cycles since reset.
        cycle: u64,
        /// Cycles without a commit.
        quiet: u64,
        /// Registers and counts that tell what is pending.
        state: String,
        /// Where warps were that are on cores, as the watchdog found them.
        at: Vec<FaultRecord>,
    },
    /// Firmware ended when it should not have, or did not answer.
    #[error("the firmware {0}")]
    Firmware(String),
    /// A board, or the way to it, failed.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// A board committed no packet for long.
    #[error("no packet was committed for {seconds:.1} s; {state}")]
    Stalled {
        /// Seconds without a commit.
        seconds: f64,
        /// Registers and counts that tell what is pending.
        state: String,
    },
    /// COMMITTED_PACKETS is not what it can be.
    #[error("COMMITTED_PACKETS is {found}; expected {expected}; {state}")]
    Committed {
        /// What it is.
        found: u32,
        /// What it can be.
        expected: String,
        /// Registers and counts that tell what is pending.
        state: String,
    },
    /// A register does not show that something has ended.
    #[error("{register} does not show an end within {cycles} cycles")]
    StillBusy {
        /// Name of the register.
        register: &'static str,
        /// Cycles waited.
        cycles: u64,
    },
    /// A hart is held, and memory has not answered what it asked for.
    #[error("memory does not answer: hart {hart} was held at PC {pc:#010x}, and an access or a fetch is outstanding after {cycles} cycles")]
    HartBusy {
        /// The hart, the first of them.
        hart: u32,
        /// PC of the instruction that would have been the next to retire.
        pc: u32,
        /// Cycles waited.
        cycles: u64,
    },
    /// The command processor has not taken the message before.
    #[error("MAILBOX_IN is full: the command processor has not taken the message before")]
    MailboxFull,
    /// Jobs of the thread spawner did not end for long.
    #[error(
        "the jobs of the slots in {slots:#06x} are not complete after {cycles} cycles without one that ended"
    )]
    JobsStuck {
        /// A bit for each slot.
        slots: u32,
        /// Cycles waited.
        cycles: u64,
    },
}
