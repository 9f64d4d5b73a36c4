//! Between the thread spawner, the control path and the cores.

use crate::types::JobSlot;
use hermes_hdl::prelude::*;

/// A warp of spawned threads on its way to a core.
#[derive(Ports)]
#[held]
pub struct SpawnedWarp {
    /// A warp is offered; it stays until it is taken.
    pub valid: Signal<In, Bit>,
    /// The warp is taken at this edge; depends on no port of this group but `cores`.
    pub ready: Signal<Out, Bit>,
    /// The cores that may run it; bits of cores that are not there are ignored.
    pub cores: Signal<In, Bits<32>>,
    /// Slot of its job.
    pub job: Signal<In, JobSlot>,
    /// Number of its first thread.
    pub thread: Signal<In, Bits<32>>,
    /// Threads of the warp, 1 to the lanes of a core.
    pub count: Signal<In, Bits<6>>,
}

/// Where lanes go that fault, instead of to their end.
#[derive(Ports)]
pub struct LaneTrapControl {
    /// Bits 31:12 of the trap entry.
    pub page: Signal<In, Bits<20>>,
    /// Lanes of spawned threads go there.
    pub spawned: Signal<In, Bit>,
    /// Lanes of packets go there.
    pub packets: Signal<In, Bit>,
    /// A bit for each cause of a fault with which they do.
    pub causes: Signal<In, Bits<12>>,
}

/// What the warps of a job start with, in the cycle in which one of them starts.
#[derive(Ports)]
pub struct JobStart {
    /// The warp that starts is one of spawned threads.
    pub spawned: Signal<In, Bit>,
    /// Slot of its job.
    pub job: Signal<In, JobSlot>,
    /// Address of its first instruction, bits 31:2.
    pub entry: Signal<In, Bits<30>>,
    /// `a1` of every thread.
    pub argument_0: Signal<In, Bits<32>>,
    /// `a2` of every thread.
    pub argument_1: Signal<In, Bits<32>>,
}

/// What the CSRs of a thread tell of its job.
#[derive(Ports)]
#[part_of(JobStart)]
pub struct JobArguments {
    /// The warp is one of spawned threads.
    pub spawned: Signal<In, Bit>,
    /// Slot of its job.
    pub job: Signal<In, JobSlot>,
    /// Word ARG0 of its descriptor.
    pub argument_0: Signal<In, Bits<32>>,
    /// Word ARG1 of its descriptor.
    pub argument_1: Signal<In, Bits<32>>,
}

/// A warp of spawned threads finished.
#[derive(Ports)]
pub struct SpawnedFinish {
    /// A warp finished: its threads ended, and all their stores are performed.
    pub valid: Signal<In, Bit>,
    /// Slot of its job.
    pub job: Signal<In, JobSlot>,
    /// One of its threads ended with a fault.
    pub faulted: Signal<In, Bit>,
}
