//! Between the network functions' contexts, the control path and the cores.

use crate::types::{CoreIndex, FunctionIndex, LineAddress, PacketIndex, ThreadCount, WarpSlot};
use hermes_hdl::prelude::*;

/// What a core must know of the network function that it runs.
#[derive(Ports)]
pub struct FunctionContext {
    /// Address of the first instruction.
    pub entry: Signal<Out, Bits<32>>,
    /// Address of the argument block.
    pub argument: Signal<Out, Bits<32>>,
    /// The kernel has 16 registers, not 32.
    pub class: Signal<Out, Bit>,
    /// Address of the stack area in bytes.
    pub stack_base: Signal<Out, Bits<32>>,
    /// First line of read window 1.
    pub read_base: Signal<Out, Bits<26>>,
    /// Lines of read window 1.
    pub read_size: Signal<Out, Bits<26>>,
    /// First line of write window 1.
    pub write_base: Signal<Out, Bits<26>>,
    /// Lines of write window 1.
    pub write_size: Signal<Out, Bits<26>>,
    /// Cycles that a warp may be on a core; 0: any number.
    pub watchdog: Signal<Out, Bits<31>>,
    /// Warps on a core at a time.
    pub mcw: Signal<Out, Bits<6>>,
    /// For the core.
    pub guards: FunctionGuards,
}

/// What a network function may do: bits 5:1 of its flags.
#[derive(Ports)]
pub struct FunctionGuards {
    /// Window 0 is the packets of the warp, and instructions come from read window 1.
    pub guarded: Signal<Out, Bit>,
    /// The function may load from window 0.
    pub may_load: Signal<Out, Bit>,
    /// The function may store to window 0.
    pub may_store: Signal<Out, Bit>,
    /// The function may use `lr.w`.
    pub may_reserve: Signal<Out, Bit>,
    /// Threads that forward their packets store no verdict.
    pub keeps_verdict: Signal<Out, Bit>,
}

/// To a core that changes hands: a row of its registers and of its scratchpad becomes zero.
#[derive(Ports)]
pub struct RowClear {
    /// A row is cleared in this cycle; no warp is on the core.
    pub valid: Signal<Out, Bit>,
    /// The row: register file address, and word of each bank of the scratchpad, each modulo their
    /// number.
    pub row: Signal<Out, Bits<12>>,
}

/// Window 0 of a warp, in stage D.
#[derive(Ports)]
pub struct PacketBounds {
    /// Window 0 is the packets of the warp, from `first` to `end`, and not that of the registers.
    pub guarded: Signal<Out, Bit>,
    /// Loads may come there.
    pub may_load: Signal<Out, Bit>,
    /// Stores may come there.
    pub may_store: Signal<Out, Bit>,
    /// First line of the packets.
    pub first: Signal<Out, LineAddress>,
    /// The line behind them.
    pub end: Signal<Out, Bits<27>>,
}

/// A word of a context is written in the table of contexts, for one cycle.
#[derive(Ports)]
pub struct WrittenContext {
    /// A word is written.
    pub valid: Signal<Out, Bit>,
    /// Network function that it belongs to.
    pub function: Signal<Out, FunctionIndex>,
    /// Number of the word in its context.
    pub word: Signal<Out, Bits<4>>,
    /// The whole word as it stands then.
    pub data: Signal<Out, Bits<32>>,
}

/// A core as warp issue must know it, with network functions.
#[derive(Ports)]
pub struct FunctionCore {
    /// Warps may start there.
    pub open: Signal<In, Bit>,
    /// Network function that owns the core.
    pub function: Signal<In, FunctionIndex>,
    /// Warps on the core at a time.
    pub mcw: Signal<In, Bits<6>>,
    /// The kernel has 16 registers, not 32.
    pub class: Signal<In, Bit>,
    /// No warp is on the core: from its choice by warp issue until its finish was reported.
    pub idle: Signal<Out, Bit>,
}

/// Between warp issue and the warps that wait for network functions.
#[derive(Ports)]
pub struct WaitingWarps {
    /// A bit a function: a warp waits for it.
    pub waiting: Signal<Out, Bits<8>>,
    /// Network function that new packets go to.
    pub entry: Signal<Out, FunctionIndex>,
    /// One more warp of new packets may be in flight.
    pub room: Signal<Out, Bit>,
    /// The oldest warp that waits for `function` starts: it is taken at this edge.
    pub take: Signal<In, Bit>,
    /// Function of the warp that is taken.
    pub function: Signal<In, FunctionIndex>,
    /// Core on which the warp starts.
    pub core: Signal<In, CoreIndex>,
    /// Slot in which the warp starts.
    pub slot: Signal<In, WarpSlot>,
    /// In the cycle after `take`: packetIdx of the warp's lane 0.
    pub packet: Signal<Out, PacketIndex>,
    /// In the cycle after `take`: packets with which the warp was formed.
    pub count: Signal<Out, ThreadCount>,
    /// In the cycle after `take`: lanes whose packets were forwarded.
    pub lanes: Signal<Out, Bits<32>>,
}

/// A warp starts at a network function that is not its first.
#[derive(Ports)]
pub struct HopTrace {
    /// The warp starts in this cycle.
    pub valid: Signal<Out, Bit>,
    /// Core of the warp.
    pub core: Signal<Out, CoreIndex>,
    /// Slot of the warp.
    pub slot: Signal<Out, WarpSlot>,
    /// packetIdx of its lane 0.
    pub packet: Signal<Out, PacketIndex>,
    /// Packets with which it was formed.
    pub count: Signal<Out, ThreadCount>,
    /// Lanes that run.
    pub lanes: Signal<Out, Bits<32>>,
    /// The network function.
    pub function: Signal<Out, FunctionIndex>,
}

/// Packets of a finished warp, for one cycle.
#[derive(Ports)]
pub struct FinishedLanes {
    /// Lanes of the warp that forward their packets.
    pub survivors: Signal<Out, Bits<32>>,
    /// Other lanes of the warp.
    pub ended: Signal<Out, Bits<32>>,
}

/// What a network function does, for the counters; each for one cycle.
#[derive(Ports)]
pub struct FunctionEvents {
    /// A warp starts.
    pub start: Signal<In, Bit>,
    /// Function of the warp that starts.
    pub start_function: Signal<In, FunctionIndex>,
    /// Lanes of the warp that starts.
    pub start_lanes: Signal<In, Bits<32>>,
    /// A warp finished.
    pub finish: Signal<In, Bit>,
    /// Function of the warp that finished.
    pub finish_function: Signal<In, FunctionIndex>,
    /// Lanes of the finished warp that forward their packets.
    pub survivors: Signal<In, Bits<32>>,
    /// Other lanes of the finished warp.
    pub ended: Signal<In, Bits<32>>,
}

/// The fault collector took a record, for one cycle.
#[derive(Ports)]
pub struct TakenFault {
    /// A record was taken.
    pub valid: Signal<Out, Bit>,
    /// Network function of its warp.
    pub function: Signal<Out, FunctionIndex>,
    /// Threads that ended.
    pub threads: Signal<Out, ThreadCount>,
}
