//! Port groups: what passes between two units, one file a boundary.
//!
//! A group is declared as the unit has it that it is named after, and stands at the other end as
//! `Flipped<Group>`. Those of the registers are declared with the registers: see
//! [`crate::host::registers`].

mod axi_lite;
mod bank;
mod command_stage;
mod events;
mod fault;
mod functions;
mod line;
mod line_lock;
mod look;
mod memory;
mod memory_axi;
mod memory_byte;
mod monitor;
mod packet_ports;
mod pipeline;
mod queue_control;
mod register_access;
mod registers;
mod retire;
mod sdram;
mod spawn;
mod stream;
mod uli;
mod warp;
mod window_posts;
mod window_select;
mod write_tap;
mod written_line;

pub use axi_lite::AxiLite;
pub use bank::{
    BankFetch, BankFill, BankRequest, BankResponse, BankStore, BankStored, BankWritten, HeldOperation,
    MissedRead, ObservedWrite, PlaceState, ReservationEnd, ReservationEvent,
};
pub use command_stage::CommandStage;
pub use events::{
    Completions, DecodeOutcome, FailedLoad, Flush, LaneErrors, LineError, LostInstruction, PathStart,
    Retired, SchedulingOutcome, SleepRequest, SlotEvent, WarpProgress,
};
pub use fault::{FaultRecord, WarpFault};
pub use functions::{
    FinishedLanes, FunctionContext, FunctionCore, FunctionEvents, FunctionGuards, HopTrace, PacketBounds,
    RowClear, TakenFault, WaitingWarps, WrittenContext,
};
pub use line::{AcceptedWrite, AtomicAnswer, LineRead, LineResponse, LineWrite, LineWritten};
pub use line_lock::{LineLock, LockedRings};
pub use look::Look;
pub use memory::{
    AtomicOperands, AtomicRequest, CacheAnswer, CacheRequest, CoalescedLine, CoalescerRequest, HeldEntry,
    LaneOperation, LaneRequest, LoadStart, RegisterRead, ValuePlace,
};
pub use memory_axi::MemoryAxi;
pub use memory_byte::MemoryByte;
pub use monitor::WatchedRange;
pub use packet_ports::{BuiltLine, FrameLine, TaggedWrite, Verdict, WindowLine};
pub use pipeline::{
    AccessQuery, Arithmetic, ArithmeticRegisters, AtomicInFlight, CheckedValues, ControlRegisters, Controls,
    Counted, DecodedArithmetic, DecodedControls, DivideStart, FetchAddress, FetchAddressRegisters,
    FetchedInstruction, FetchedWord, FormQuery, Forwards, HazardQuery, InFlight, LaneOutcome, LaneValues,
    LateResult, LocalAccess, Lookup, MemoryRequest, OperandRegisters, Operands, PathContext, RegisterUse,
    WarpContext, WarpContextRegisters, WindowDistance, WriteControlRegisters, WriteControls,
};
pub use queue_control::QueueControl;
pub use register_access::RegisterAccess;
pub use registers::{RegisterAnswer, RegisterRequest};
pub use retire::{CoreTrace, LateWrite, Retire, Trace};
pub use sdram::SdramBus;
pub use spawn::{JobArguments, JobStart, LaneTrapControl, SpawnedFinish, SpawnedWarp};
pub use stream::{StreamIn, StreamOut};
pub use uli::{PageMove, StoreTap, UliAccess};
pub use warp::{
    CommitEntry, FormedBy, FormedTrace, FormedWarp, SlotStart, StartingWarp, WarpEvent, WarpFinish,
    WarpStart, WarpTrace,
};
pub use window_posts::WindowPosts;
pub use window_select::WindowSelect;
pub use write_tap::WriteTap;
pub use written_line::WrittenLine;
