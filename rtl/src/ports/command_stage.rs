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
    /// Number of the buffer that is free.
    pub free_buffer: Signal<In, Bits<4>>,
    /// The buffer is taken for a line that is fetched.
    pub claim: Signal<Out, Bit>,
    /// A line is being read: if the L2 has it, it is here in four cycles.
    pub soon: Signal<Out, Bit>,
    /// A line came, and whether its command is given to the harts is not decided: each is within
    /// some cycles, or when a control line is written, and then given in the cycle after at the
    /// latest. It may stay high while lines come that end without a hart.
    pub coming: Signal<Out, Bit>,
    /// The line is here.
    pub fill: Signal<Out, Bit>,
    /// Buffer for the line.
    pub fill_buffer: Signal<Out, Bits<4>>,
    /// The line, word 0 in bits 31:0.
    pub fill_data: Signal<Out, Bits<512>>,
    /// The command of a buffer is given to the harts.
    pub stage: Signal<Out, Bit>,
    /// The command that is given to the harts.
    pub staged: Signal<Out, StagedCommand>,
    /// A buffer is free again: its command is not given to the harts.
    pub discard: Signal<Out, Bit>,
    /// Buffer that is free again.
    pub discard_buffer: Signal<Out, Bits<4>>,
    /// The queue of a command was switched off.
    pub drop: Signal<Out, Bit>,
    /// The buffer of that command.
    pub drop_buffer: Signal<Out, Bits<4>>,
    /// A hart has done something with its command.
    pub event_valid: Signal<In, Bit>,
    /// The event is noted at this edge.
    pub event_ready: Signal<Out, Bit>,
    /// The hart's command, and what became of it.
    pub event: Signal<In, QueueEvent>,
}
