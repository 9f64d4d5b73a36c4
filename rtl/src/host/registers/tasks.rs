//! The packet counts that the host pushes.

use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::host::TaskPush;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The packet counts of the host, on their way to the task FIFO.
#[derive(Ports)]
#[held]
pub struct TaskOffer {
    /// A count is offered.
    pub valid: Signal<In, Bit>,
    /// The count is taken at this edge.
    pub ready: Signal<Out, Bit>,
    /// The count: so many more packets are in their slots.
    pub count: Signal<In, Bits<32>>,
    /// Entries in the task FIFO, 0 to 1,024.
    pub level: Signal<Out, Bits<11>>,
}

/// The registers in front of [`TaskPush`].
#[register_block(TaskDecoder)]
pub struct TaskAccess {
    /// Pushes a number of ready packets to the task FIFO. If the FIFO is full the write answers
    /// SLVERR at once and pushes nothing; what is answered with OKAY is never lost.
    #[register("TASK_PUSH", 0x040)]
    pub push: Strobe<32>,
    /// Entries in the task FIFO.
    #[register("TASK_LEVEL", 0x044)]
    pub level: ReadOnly<11>,
    /// Writes to TASK_PUSH that the task FIFO has room for: so many are answered with OKAY, if no
    /// frames enter through the packet ports meanwhile.
    #[register("TASK_ROOM", 0x08c, reset = 1024)]
    pub room: ReadOnly<11>,
}

/// The registers of [`TaskOffer`]: TASK_PUSH with its queue of one entry, [`TaskPush`].
///
/// A write to TASK_PUSH is answered with OKAY when its count is offered to the task FIFO, or waits
/// for it; with SLVERR at once, like writes to unknown offsets, if there is no room.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct TaskRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus.
    pub answer: RegisterAnswer,
    /// To the task FIFO.
    pub hardware: Flipped<TaskOffer>,
    decoder: TaskDecoder,
    push: TaskPush,
}

impl RegisterBlock for TaskOffer {
    type Unit = TaskRegisters;
    const PART: Part = TaskAccess::PART;
    const REGISTERS: &'static [RegisterSpec] = TaskAccess::REGISTERS;
    fn unit(_config: &Config) -> TaskRegisters {
        TaskRegisters::default()
    }
}

impl Logic for TaskRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        self.decoder.hardware.level.next = self.hardware.level.val();
        self.decoder.hardware.room.next = self.push.room.val();

        self.push.write.next = self.decoder.hardware.push.val();
        self.push.count.next = self.request.data.val() & self.request.mask.val();
        self.push.level.next = self.hardware.level.val();
        self.push.task_ready.next = self.hardware.ready.val();
        self.hardware.valid.next = self.push.task_valid.val();
        self.hardware.count.next = self.push.task_count.val();

        self.answer.value.next = self.decoder.answer.value.val();
        self.answer.delay.next = self.push.delay.val();
        self.answer.known.next = self.decoder.answer.known.val();
        if self.push.refused.val() {
            self.answer.known.next = false;
        }
    }
}
