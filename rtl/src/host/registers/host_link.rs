//! Between host and command processor: mailboxes, console, interrupts.

use super::command_interrupts::{CommandInterruptAccess, CommandInterrupts};
use super::console::{Console, ConsoleAccess};
use super::host_interrupts::{HostInterruptAccess, HostInterrupts};
use super::mailbox::{Mailbox, MailboxAccess};
use super::packet_watch::{PacketWatch, PacketWatchAccess};
use super::table::{count, merged};
use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;

/// What the registers between host and command processor exchange with the array.
#[derive(Ports)]
pub struct HostLink {
    /// The access of this cycle is one of the command processor.
    pub by_command: Signal<Out, Bit>,
    /// The fault collector takes a record.
    pub fault: Signal<Out, Bit>,
    /// A job of the thread spawner is complete.
    pub slot_freed: Signal<Out, Bit>,
    /// Errors of the thread spawner: the two low bits of each of its counts.
    pub spawn_errors: Signal<Out, Bits<4>>,
    /// Packets are pushed to the task FIFO.
    pub push: Signal<Out, Bit>,
    /// Number of packets that are pushed.
    pub push_count: Signal<Out, Bits<32>>,
    /// A warp of packets is issued.
    pub issue: Signal<Out, Bit>,
    /// Packets of the warp that is issued.
    pub issue_count: Signal<Out, Bits<6>>,
    /// Packets committed, modulo 2^32.
    pub committed: Signal<Out, Bits<32>>,
    /// A bit for each hart: it is stopped.
    pub stopped: Signal<Out, Bits<8>>,
    /// A bit for each hart: it is locked up.
    pub locked_up: Signal<Out, Bits<8>>,
    /// A bit for each hart: its external interrupt.
    pub external: Signal<In, Bits<8>>,
    /// A bit for each hart: its software interrupt is set, for one cycle.
    pub doorbell: Signal<In, Bits<8>>,
    /// Bits of CP_IRQ_PENDING that were set at the last edge.
    pub events: Signal<In, Bits<32>>,
    /// To the host: interrupt.
    pub irq: Signal<In, Bit>,
    /// For CP_STATUS: MAILBOX_IN is full.
    pub mailbox_in_full: Signal<In, Bit>,
    /// For CP_STATUS: MAILBOX_OUT is full.
    pub mailbox_out_full: Signal<In, Bit>,
}

/// The registers of its units.
const BLOCKS: &[&[RegisterSpec]] = &[
    CommandInterruptAccess::REGISTERS,
    PacketWatchAccess::REGISTERS,
    MailboxAccess::REGISTERS,
    ConsoleAccess::REGISTERS,
    HostInterruptAccess::REGISTERS,
];

impl RegisterBlock for HostLink {
    type Unit = HostLinkRegisters;
    const PART: Part = Part::CommandProcessor;
    const REGISTERS: &'static [RegisterSpec] = &merged::<{ count(BLOCKS) }>(BLOCKS);
    // It is made, and thrown away, for an array without a command processor too.
    fn unit(config: &Config) -> HostLinkRegisters {
        HostLinkRegisters::new(config.command_threads.max(1))
    }
}

/// The registers of [`HostLink`]: [`Mailbox`], [`Console`], [`CommandInterrupts`],
/// [`HostInterrupts`], [`PacketWatch`], and the events that pass between them.
///
/// The event of a fault record comes four cycles after the record was taken, when it can be read;
/// other events come in the cycle of their cause, or the one after. A pending bit shows in the
/// cycle after its event.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(harts: usize)]
pub struct HostLinkRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus.
    pub answer: RegisterAnswer,
    /// The array.
    pub hardware: Flipped<HostLink>,
    mailbox: Mailbox,
    console: Console,
    #[init(CommandInterrupts::new(harts))]
    command: CommandInterrupts,
    host: HostInterrupts,
    packets: PacketWatch,
    faults: Register<Bits<4>>,
    errors: Register<Bits<4>>,
    stopped: Register<Bits<8>>,
    locked_up: Register<Bits<8>>,
}

impl HostLinkRegisters {
    /// With a command processor of `harts` harts.
    ///
    /// # Panics
    /// If `harts` is not 1 to 8.
    pub fn new(harts: usize) -> Self {
        Self::wired(harts)
    }
}

impl Logic for HostLinkRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.mailbox.request);
        connect!(self.request, self.console.request);
        connect!(self.request, self.command.request);
        connect!(self.request, self.host.request);
        connect!(self.request, self.packets.request);
        self.answer.known.next = self.mailbox.answer.known.val()
            || self.console.answer.known.val()
            || self.command.answer.known.val()
            || self.host.answer.known.val()
            || self.packets.answer.known.val();
        self.answer.value.next = self.mailbox.answer.value.val()
            | self.console.answer.value.val()
            | self.command.answer.value.val()
            | self.host.answer.value.val()
            | self.packets.answer.value.val();
        self.answer.delay.next = false;
        self.mailbox.by_command.next = self.hardware.by_command.val();
        self.console.by_command.next = self.hardware.by_command.val();
        self.host.by_command.next = self.hardware.by_command.val();
        connect!(self.hardware.push, self.packets.push);
        connect!(self.hardware.push_count, self.packets.push_count);
        connect!(self.hardware.issue, self.packets.issue);
        connect!(self.hardware.issue_count, self.packets.issue_count);
        connect!(self.hardware.committed, self.packets.committed);

        // Events
        self.faults.d.next = (self.faults.q.val() << bits::<3>(1)).replace_bit(0, self.hardware.fault.val());
        let faulted = self.faults.q.val().get_bit(3);
        self.errors.d.next = self.hardware.spawn_errors.val();
        let spawn_error = self.errors.q.val() != self.hardware.spawn_errors.val();
        self.stopped.d.next = self.hardware.stopped.val();
        let stops = (self.hardware.stopped.val() & !self.stopped.q.val()).any();
        self.locked_up.d.next = self.hardware.locked_up.val();
        let locks_up = (self.hardware.locked_up.val() & !self.locked_up.q.val()).any();
        self.command.set.next = bits::<16>(0)
            .replace_bit(0, faulted)
            .replace_bit(2, self.hardware.slot_freed.val())
            .replace_bit(3, spawn_error)
            .replace_bit(4, self.mailbox.in_filled.val())
            .replace_bit(5, self.packets.reached.val())
            .replace_bit(7, self.console.received.val());
        self.host.set.next = bits::<10>(0)
            .replace_bit(1, faulted)
            .replace_bit(2, locks_up)
            .replace_bit(3, self.mailbox.out_filled.val())
            .replace_bit(4, self.packets.reached.val())
            .replace_bit(5, spawn_error)
            .replace_bit(8, stops)
            .replace_bit(9, self.console.sent.val());
        self.mailbox.free_in.next = self.command.clear.val().get_bit(4);
        self.mailbox.free_out.next = self.host.clear.val().get_bit(3);
        self.hardware.external.next = self.command.external.val();
        self.hardware.doorbell.next = self.command.doorbell.val();
        self.hardware.events.next = self.command.events.val();
        self.hardware.irq.next = self.host.irq.val();
        self.hardware.mailbox_in_full.next = self.mailbox.in_is_full.val();
        self.hardware.mailbox_out_full.next = self.mailbox.out_is_full.val();
    }
}

#[cfg(test)]
#[path = "host_link_tests.rs"]
mod tests;
