//! The network interface: frames of RoCEv2, and what they do to memory.
//!
//! Sources: InfiniBand Architecture Specification, volume 1 (transport headers, chapter 9; RoCEv2,
//! annex A17); RFC 791, RFC 768.

mod acknowledge;
mod answer_step;
mod byte_rotate;
mod command_check;
mod counters;
mod frame_buffer;
mod frame_builder;
mod frame_check;
mod frame_head;
mod frame_queue;
mod frame_turns;
mod header_bytes;
mod icrc;
mod net_interface;
mod net_window;
mod packet_cut;
mod pair_counts;
mod payload_reader;
mod payload_writer;
mod queue_pairs;
mod receiver;
mod region_check;
mod region_table;
mod remote_atomics;
mod request_check;
mod request_choice;
mod requester;
mod responder;
mod retry_timers;
mod roce;
mod row_step;
mod send_window;
mod work;
mod work_posts;
mod work_table;

pub use crate::types::{
    check_entries, code, command_operation, counter, NetIdentity, PostedCommand, MOST_ENTRIES, QUEUE_PAIRS,
    REGIONS,
};
pub use acknowledge::{Acknowledge, AnswerMark};
pub use answer_step::AnswerStep;
pub use byte_rotate::ByteRotate;
pub use command_check::CommandCheck;
pub use counters::NetCounters;
pub use frame_buffer::{FrameBuffer, StoredFrame};
pub use frame_builder::FrameBuilder;
pub use frame_check::{cause, CheckedFrame, FrameCheck};
pub use frame_head::FrameHead;
pub use frame_queue::FrameQueue;
pub use frame_turns::FrameTurns;
pub use header_bytes::HeaderBytes;
pub use icrc::{Icrc, POLYNOMIAL, RESIDUE};
pub use net_interface::{InterfaceSizes, NetInterface};
pub use net_window::{window, NetWindow};
pub use packet_cut::{CommandPacket, PacketCut};
pub use pair_counts::PairCounts;
pub use payload_reader::{PayloadFault, PayloadReader, PayloadSource};
pub use payload_writer::{PayloadPlace, PayloadWriter};
pub use queue_pairs::{state, word, QueuePairs, ReceivePair, SendPair};
pub use receiver::Receiver;
pub use region_check::RegionCheck;
pub use region_table::{access, region_word, right, Region, RegionTable};
pub use remote_atomics::{AtomicOperands, AtomicReply, RemoteAtomics};
pub use request_check::{MessageRow, RequestCheck};
pub use request_choice::RequestChoice;
pub use requester::Requester;
pub use responder::{JobRow, ReadJob, Responder};
pub use retry_timers::RetryTimers;
pub use roce::{aeth_class, header, header_words, nak, opcode, syndrome, MOST_RESPONSES};
pub use row_step::RowStep;
pub use send_window::{SendWindow, WindowRow};
pub use work::{operation, PeerAnswer, RequestRow, WorkEntry};
pub use work_posts::WorkPosts;
pub use work_table::WorkTable;

#[cfg(test)]
mod testing;
