//! Between the command queues and the buffers of commands that the harts take.

use crate::types::{QueueEvent, StagedCommand};
use hermes_hdl::prelude::*;

/// How [`CommandQueues`](crate::queues::CommandQueues) fills staging buffers, and learns what
/// became of a command.
///
/// `event` is not held until it is noted: a command that is given back goes before one that waits.
#[derive(Ports)]
pub struct CommandStage {
    /// A buffer is free.
    pub free: Signal<In, Bit>,
    /// Its number.
    pub free_buffer: Signal<In, Bits<4>>,
    /// It is taken for a line that is fetched.
    pub claim: Signal<Out, Bit>,
    /// A line is being read: if the L2 has it, it is here in four cycles.
    pub soon: Signal<Out, Bit>,
    /// A line came, and whether its command is given to the harts is not decided: each is within
    /// some cycles, or when a control line is written, and then given in the cycle after at the
    /// latest. It may stay high while lines come that end without a hart.
    pub coming: Signal<Out, Bit>,
    /// The line is here.
    pub fill: Signal<Out, Bit>,
    /// Its buffer.
    pub fill_buffer: Signal<Out, Bits<4>>,
    /// It.
    pub fill_data: Signal<Out, Bits<512>>,
    /// The command of a buffer is given to the harts.
    pub stage: Signal<Out, Bit>,
    /// It.
    pub staged: Signal<Out, StagedCommand>,
    /// A buffer is free again: its command is not given to the harts.
    pub discard: Signal<Out, Bit>,
    /// It.
    pub discard_buffer: Signal<Out, Bits<4>>,
    /// The queue of a command was switched off.
    pub drop: Signal<Out, Bit>,
    /// The buffer of that command.
    pub drop_buffer: Signal<Out, Bits<4>>,
    /// What a hart did with its command.
    pub event_valid: Signal<In, Bit>,
    /// It is noted at this edge.
    pub event_ready: Signal<Out, Bit>,
    /// It.
    pub event: Signal<In, QueueEvent>,
}
