//! What happens to the warps of a core: between its stages, the scheduler and the memories.

use crate::types::{LaneMask, LineAddress, ThreadCount, WarpSlot};
use hermes_hdl::prelude::*;

/// Something happens to a warp of the core, for one cycle.
#[derive(Ports)]
#[part_of(Flush)]
pub struct SlotEvent {
    /// The event happens in this cycle.
    pub valid: Signal<In, Bit>,
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
}

/// Operations of warps that complete, each for one cycle. A warp that waits may try again.
#[derive(Ports)]
pub struct Completions {
    /// The last value of a load, an atomic operation or a division is written.
    pub late: SlotEvent,
    /// A store to the scratchpad completes.
    pub scratchpad: SlotEvent,
    /// A store to shared memory completes.
    pub stored: SlotEvent,
    /// The division or an atomic operation completes, or its path has room: any warp may have
    /// waited for it.
    pub any: Signal<In, Bit>,
}

/// What becomes of the instruction that was in stage D a cycle ago, for one cycle. It is in the
/// slot of stage R. No more than one of `miss`, `wait` and `control` is high.
#[derive(Ports)]
pub struct DecodeOutcome {
    /// The instruction missed in the instruction cache.
    pub miss: Signal<In, Bit>,
    /// The instruction is blocked until an operation of its warp completes.
    pub wait: Signal<In, Bit>,
    /// The next path depends on it.
    pub control: Signal<In, Bit>,
    /// The instruction is replayed.
    pub replay: Signal<In, Bit>,
}

/// What the scheduler must know of the instruction that was in stage D.
#[derive(Ports)]
#[part_of(DecodeOutcome)]
pub struct SchedulingOutcome {
    /// The instruction missed in the instruction cache.
    pub miss: Signal<In, Bit>,
    /// The instruction is blocked until an operation of its warp completes.
    pub wait: Signal<In, Bit>,
    /// The next path depends on it.
    pub control: Signal<In, Bit>,
}

/// Whether the instruction that was in stage D is lost, and why.
#[derive(Ports)]
#[part_of(DecodeOutcome)]
pub struct LostInstruction {
    /// The instruction was not in the instruction cache.
    pub miss: Signal<In, Bit>,
    /// The instruction is replayed.
    pub replay: Signal<In, Bit>,
}

/// How the warp of the instruction in stage W goes on.
#[derive(Ports)]
pub struct WarpProgress {
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
    /// The next path is known, or all threads of the warp ended.
    pub resume: Signal<In, Bit>,
    /// All threads of the warp ended.
    pub ended: Signal<In, Bit>,
}

/// The younger instructions of a warp are flushed, for one cycle.
#[derive(Ports)]
pub struct Flush {
    /// The instructions are flushed.
    pub valid: Signal<In, Bit>,
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
    /// With `valid`: the warp resumes at once, with the context that stage W writes; else its next
    /// path is selected.
    pub again: Signal<In, Bit>,
}

/// The selection of the next path of a warp starts.
#[derive(Ports)]
pub struct PathStart<const LANES: usize> {
    /// The selection starts.
    pub valid: Signal<In, Bit>,
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
    /// Lanes to choose from: at least one.
    pub alive: Signal<In, LaneMask<LANES>>,
}

/// An instruction of a kernel retires.
#[derive(Ports)]
pub struct Retired {
    /// The instruction retires.
    pub valid: Signal<In, Bit>,
    /// Active lanes of the instruction.
    pub lanes: Signal<In, ThreadCount>,
    /// Other lanes of its warp wait elsewhere.
    pub diverged: Signal<In, Bit>,
}

/// What a `wrs` that was in stage D a cycle ago does. It is in the slot of stage R.
#[derive(Ports)]
pub struct SleepRequest {
    /// The `wrs` waits: its warp falls asleep, and the instruction is replayed.
    pub valid: Signal<In, Bit>,
    /// With `valid`: the `wrs` is `wrs.sto`.
    pub brief: Signal<In, Bit>,
    /// The `wrs` went on.
    pub pass: Signal<In, Bit>,
}

/// Loads of some lanes failed: memory could not read their line.
#[derive(Ports)]
pub struct FailedLoad<const LANES: usize> {
    /// A load failed.
    pub valid: Signal<In, Bit>,
    /// Slot of the warp.
    pub slot: Signal<In, WarpSlot>,
    /// Lanes of the load that have no value.
    pub lanes: Signal<In, LaneMask<LANES>>,
    /// The line that could not be read.
    pub line: Signal<In, LineAddress>,
}

/// Loads of a warp that failed before.
#[derive(Ports)]
pub struct LaneErrors<const LANES: usize> {
    /// Lanes whose loads failed.
    pub lanes: Signal<In, LaneMask<LANES>>,
    /// The line that the last of them could not read.
    pub line: Signal<In, LineAddress>,
}

/// Memory could not read the line of a result.
#[derive(Ports)]
pub struct LineError {
    /// The line could not be read: the values are whatever the bus carried.
    pub valid: Signal<In, Bit>,
    /// The line that could not be read.
    pub line: Signal<In, LineAddress>,
}
