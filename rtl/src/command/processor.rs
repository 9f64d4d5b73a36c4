//! The command processor.

use super::uli_channels::place;
use super::{CommandPipeline, CommandTrace, UliChannels};
use crate::config::CommandOptions;
use crate::host::registers::command::CommandControl;
use crate::host::registers::debug::DebugControl;
use crate::ports::{
    AtomicAnswer, LineRead, LineWrite, PageMove, RegisterAccess, ReservationEnd, WatchedRange, WindowSelect,
};
use hermes_hdl::prelude::*;

/// A small CPU beside the shader cores: [`CommandPipeline`] with the channels of its user-level
/// interrupts.
///
/// 1. To memory it is what a core is; see [`CommandPipeline`].
/// 2. A channel whose event came is delivered at the next boundary between two instructions of its
///    hart: the hart goes on at the handler in the next cycle. In a cycle in which the hart changes
///    its channels or a CSR nothing is delivered; machine interrupts go first.
/// 3. `hit` of a channel is the event of the writes that it watches.
#[clocked("all harts are held")]
#[derive(LogicBlock)]
#[new(options: CommandOptions, harts: usize)]
pub struct CommandProcessor {
    /// From and to the registers of the host.
    pub registers: CommandControl,
    /// From the registers, for CP_STATUS: MAILBOX_IN is full, MAILBOX_OUT is (bit 1).
    pub mailbox_full: Signal<In, Bits<2>>,
    /// From and to the registers for debugging.
    pub debugging: DebugControl,
    /// From the registers: the instruction cache is emptied.
    pub invalidate: Signal<In, Bit>,
    /// From the registers: the data cache is emptied.
    pub invalidate_data: Signal<In, Bit>,
    /// Cycles since reset of the array.
    pub cycle: Signal<In, Bits<64>>,
    /// Harts that have an external interrupt pending.
    pub external: Signal<In, Bits<8>>,
    /// Harts whose software interrupt is set at this edge.
    pub doorbell: Signal<In, Bits<8>>,
    /// To the registers of the array.
    pub access: Flipped<RegisterAccess>,
    /// Whether `access` is to the window of the network interface, and whose it is (only with a
    /// window).
    #[there(options.network)]
    pub window: Part<Flipped<WindowSelect>>,
    /// Harts that run and wait neither in NEXT nor in `wfi` (only with a window).
    #[there(options.network)]
    pub awake: Part<Signal<Out, Bits<8>>>,
    /// To memory: fetches and loads.
    pub read: LineRead,
    /// To memory: stores and atomic operations.
    pub write: LineWrite,
    /// With the answers of atomic operations (only with atomic instructions).
    #[there(options.atomics)]
    pub atomic_answer: Part<AtomicAnswer>,
    /// To the banks of the L2: the reservation of a hart ends (only with atomic instructions).
    #[there(options.atomics)]
    pub reservation_end: Part<ReservationEnd>,
    /// To the write monitors: range that each channel watches, those of hart 0 first (only with
    /// channels, as the next five).
    #[there(options.interrupts())]
    #[count(harts * options.uli_channels)]
    pub watched: Part<Vec<Flipped<WatchedRange>>>,
    /// From the write monitors: the range of a channel was written.
    #[there(options.interrupts())]
    #[count(harts * options.uli_channels)]
    pub hit: Part<Vec<Signal<In, Bit>>>,
    /// From the thread spawner: slots that are busy.
    #[there(options.interrupts())]
    pub busy_jobs: Part<Signal<In, Bits<16>>>,
    /// From the thread spawner: slots that become free, for one cycle.
    #[there(options.interrupts())]
    pub freed_jobs: Part<Signal<In, Bits<16>>>,
    /// From the registers: bits of CP_IRQ_PENDING that were set, for one cycle.
    #[there(options.interrupts())]
    pub raised: Part<Signal<In, Bits<32>>>,
    /// From the command queues: a command is given to the harts, for one cycle (only with channels
    /// and a window).
    #[there(options.interrupts() && options.network)]
    pub staged: Part<Signal<In, Bit>>,
    /// To the thread spawner: SIGNAL.RANGE.
    #[there(options.interrupts())]
    pub page: Part<Flipped<PageMove>>,
    /// The retire trace, if it is there.
    #[there(options.trace)]
    pub trace: Part<CommandTrace>,
    #[init(CommandPipeline::new(options))]
    pipeline: CommandPipeline,
    #[init(Part::when(options.interrupts(), || (0..harts).map(|_| UliChannels::new(options.uli_channels, options.network)).collect()))]
    channels: Part<Vec<UliChannels>>,
    #[init((0..harts as u64).map(|hart| Constant::new(hart.into())).collect())]
    number: Vec<Constant<Bits<3>>>,
    #[init(harts)]
    _harts: usize,
    #[init(options.uli_channels)]
    _channels: usize,
}

impl CommandProcessor {
    /// A command processor with these options.
    ///
    /// # Panics
    /// As [`CommandPipeline::new`], and if it has not 0, 1, 2, 4 or 8 channels.
    pub fn new(options: CommandOptions) -> Self {
        Self::wired(options, options.command_threads)
    }
}

impl Logic for CommandProcessor {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.registers, self.pipeline.registers);
        connect!(self.mailbox_full, self.pipeline.mailbox_full);
        connect!(self.debugging, self.pipeline.debugging);
        connect!(self.invalidate, self.pipeline.invalidate);
        connect!(self.invalidate_data, self.pipeline.invalidate_data);
        connect!(self.cycle, self.pipeline.cycle);
        connect!(self.external, self.pipeline.external);
        connect!(self.doorbell, self.pipeline.doorbell);
        connect!(self.access, self.pipeline.access);
        if self.window.is_there() {
            connect!(self.window, self.pipeline.window);
            self.awake.next = self.pipeline.awake.val();
        }
        connect!(self.read, self.pipeline.read);
        connect!(self.write, self.pipeline.line_write);
        if self.atomic_answer.is_there() {
            connect!(self.atomic_answer, self.pipeline.atomic_answer);
            connect!(self.reservation_end, self.pipeline.reservation_end);
        }
        if self.trace.is_there() {
            connect!(self.trace, self.pipeline.trace);
        }

        // User-level interrupts: at most one hart goes on elsewhere at an edge.
        let mut take = false;
        let mut take_hart = bits::<3>(0);
        let mut take_pc = bits::<30>(0);
        if self.channels.is_there() {
            for h in 0..self._harts {
                if self.channels[h].deliver.val() & self.pipeline.boundary.val().get_bit(h) & !take {
                    take = true;
                    take_hart = self.number[h].val();
                    take_pc = self.channels[h].handler.val();
                }
            }
        }
        self.pipeline.take_valid.next = take;
        self.pipeline.take_hart.next = take_hart;
        self.pipeline.take_pc.next = take_pc;

        if self.page.is_there() {
            let mut value = bits::<32>(0);
            let mut status = bits::<32>(0);
            let mut is_blocked = false;
            let mut interrupted = bits::<30>(0);
            for h in 0..self._harts {
                if self.pipeline.uli.ask_hart.val() == self.number[h].val() {
                    value = self.channels[h].read_value.val();
                    status = self.channels[h].ask_status.val();
                    is_blocked = self.channels[h].blocked.val();
                    interrupted = self.channels[h].interrupted_pc.val();
                }
            }
            if self.pipeline.uli.read_number.val() == bits::<6>(place::SPAWNBUSY) {
                value = bit_cast::<32, 16>(self.busy_jobs.val());
            }
            self.pipeline.uli.read_value.next = value;
            self.pipeline.uli.ask_status.next = status;
            self.pipeline.uli.blocked.next = is_blocked;
            self.pipeline.uli.interrupted_pc.next = interrupted;
            self.page.valid.next = self.pipeline.uli.page_valid.val();
            self.page.address.next = self.pipeline.uli.page.val();
            self.pipeline.uli.page_refused.next = self.page.refused.val();
            let mut wakes = bits::<8>(0);
            for h in 0..self._harts {
                wakes = wakes.replace_bit(h, self.channels[h].wake.val());
                self.channels[h].trap.next = self.pipeline.uli.trap.val().get_bit(h);
                let of_hart = self.pipeline.uli.hart.val() == self.number[h].val();
                self.channels[h].hold.next = !self.registers.run.val().get_bit(h);
                self.channels[h].ask_channel.next = self.pipeline.uli.ask_channel.val();
                self.channels[h].read_number.next = self.pipeline.uli.read_number.val();
                self.channels[h].arm_valid.next = of_hart & self.pipeline.uli.arm_valid.val();
                self.channels[h].arm_channel.next = self.pipeline.uli.arm_channel.val();
                self.channels[h].arm_scenario.next = self.pipeline.uli.arm_scenario.val();
                self.channels[h].arm_handler.next = self.pipeline.uli.arm_handler.val();
                self.channels[h].arm_parameter.next = self.pipeline.uli.arm_parameter.val();
                self.channels[h].leave.next = of_hart & self.pipeline.uli.leave.val();
                self.channels[h].trap_return.next = of_hart & self.pipeline.uli.trap_return.val();
                self.channels[h].write_valid.next = of_hart & self.pipeline.uli.write_valid.val();
                self.channels[h].write_number.next = self.pipeline.uli.write_number.val();
                self.channels[h].write_set.next = self.pipeline.uli.write_set.val();
                self.channels[h].write_clear.next = self.pipeline.uli.write_clear.val();
                self.channels[h].take.next = take & (take_hart == self.number[h].val());
                self.channels[h].freed.next = self.freed_jobs.val();
                self.channels[h].raised.next = self.raised.val();
                if self.staged.is_there() {
                    self.channels[h].staged.next = self.staged.val();
                }
                self.channels[h].pc.next = self.pipeline.boundary_pc.val();
                for c in 0..self._channels {
                    connect!(self.watched[h * self._channels + c], self.channels[h].watched[c]);
                    self.channels[h].event[c].next = self.hit[h * self._channels + c].val();
                }
            }
            self.pipeline.uli.wake.next = wakes;
        }
    }
}
