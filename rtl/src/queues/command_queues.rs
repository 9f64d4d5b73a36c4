//! The command queues of all warps.

use super::{event, CompletedCommand, LookList, QueueEvent, QueueRow, QueueStep, QueueWatch, MOST_QUEUES};
use crate::blocks::ShortFifo;
use crate::ports::{CommandStage, QueueControl, WriteTap};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// What [`CommandQueues`] does with an event in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum EventStep {
    /// Chooses one.
    Choose,
    /// Changes the row of its queue.
    Work,
    /// Reads the copy of the phase of the next entry.
    Look,
    /// Decides whether the next command is fetched.
    Decide,
}

/// A line of a ring, as it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct ArrivedLine {
    /// Index of the staging buffer.
    pub buffer: Bits<4>,
    /// Word 0.
    pub word: Bits<32>,
    /// The line could not be read.
    pub error: Bit,
}

/// Notices commands in the rings, fetches them into staging buffers, counts what becomes of them,
/// and writes the control lines (ComP-Net, section 4.2; docs/shmem.md).
///
/// 1. What a warp writes into a ring is noticed by [`QueueWatch`], and its queue stands in
///    [`LookList`] then. With a buffer free, a queue whose copy of the phase tells of a command,
///    and which has fewer than `entries` under way, gets the buffer, and the line is read from
///    memory: so memory is never read while the warp still writes.
/// 2. A queue has one command in a buffer. It is given to the harts ([`CommandStage`]) if its line
///    is whole; a NOP, an operation that does not exist, a reserved bit, or a node above 63 ends it
///    here, and a line that could not be read switches the queue off.
/// 3. Events come one after the other, each through [`QueueStep`]: what a hart did with its
///    command, lines that are here, commands that are complete (`completed`), switching on and off.
///    One takes two cycles, with a look at the next command four.
/// 4. Each completion writes the control line, all of it, in one write. HEAD is as of then.
/// 5. `ready`: after a reset all queues are off, and 256 cycles later they may be used.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(banks: usize, rings_log2: usize, areas_log2: usize, entries: usize)]
pub struct CommandQueues {
    /// From and to the registers.
    pub control: QueueControl,
    /// From and to the banks of the L2.
    #[count(banks)]
    pub tap: Vec<WriteTap>,
    /// To the buffers, and from the harts.
    pub stage: CommandStage,
    /// Queues may be switched on.
    pub ready: Signal<Out, Bit>,
    /// A command of a queue is complete.
    pub completed_valid: Signal<In, Bit>,
    /// The command is noted at this edge.
    pub completed_ready: Signal<Out, Bit>,
    /// The command that is complete.
    pub completed: Signal<In, CompletedCommand>,
    /// To memory: a line is read.
    pub read_valid: Signal<Out, Bit>,
    /// The read is accepted at this edge.
    pub read_ready: Signal<In, Bit>,
    /// Line address of the read.
    pub read_line: Signal<Out, LineAddress>,
    /// Buffer for the line.
    pub read_buffer: Signal<Out, Bits<4>>,
    /// A line is here.
    pub response_valid: Signal<In, Bit>,
    /// Buffer of the line.
    pub response_buffer: Signal<In, Bits<4>>,
    /// The line.
    pub response_data: Signal<In, Bits<512>>,
    /// The line could not be read.
    pub response_error: Signal<In, Bit>,
    /// To memory: a control line is written.
    pub write_valid: Signal<Out, Bit>,
    /// The write is accepted at this edge.
    pub write_ready: Signal<In, Bit>,
    /// Line address of the control line.
    pub write_line: Signal<Out, LineAddress>,
    /// The control line.
    pub write_data: Signal<Out, Bits<512>>,
    /// A command was fetched.
    pub fetched: Signal<Out, Bit>,

    #[init(QueueWatch::new(banks, rings_log2, areas_log2))]
    watch: QueueWatch,
    list: LookList,
    #[init(QueueStep::new(entries))]
    queue_step: QueueStep,
    rows: RamSync<QueueRow, 8>,
    arrivals: ShortFifo<ArrivedLine, 4>,
    done: ShortFifo<CompletedCommand, 2>,
    /// The queue of each buffer.
    owners: RamAsync<Bits<8>, 4>,
    /// Queues that are on.
    queues_on: Register<Bits<9>>,
    /// Rows that were cleared.
    cleared: Register<Bits<9>>,
    step: Register<EventStep>,
    current_event: Register<QueueEvent>,
    row: Register<QueueRow>,
    // A line that is to be read
    fetching: Register<Bit>,
    fetch_line: Register<LineAddress>,
    fetch_buffer: Register<Bits<4>>,
    // A control line that is to be written
    writing: Register<Bit>,
    written: Register<QueueRow>,
    written_line: Register<LineAddress>,
    refused: Register<Bit>,
    shown: Register<QueueRow>,
    #[init(Constant::new((MOST_QUEUES as u64).into()))]
    all: Constant<Bits<9>>,
    #[init(Constant::new((rings_log2 as u64).into()))]
    rings_log2: Constant<Bits<4>>,
    #[init(Constant::new(((1u64 << rings_log2) - 1).into()))]
    slots: Constant<Bits<8>>,
    /// Queues that there are.
    #[init(Constant::new((1u64 << (rings_log2 + areas_log2)).into()))]
    queues: Constant<Bits<16>>,
    /// Offset of the control lines in an area, in lines.
    #[init(Constant::new((64u64 << rings_log2).into()))]
    control_lines: Constant<LineAddress>,
    #[init(banks)]
    _banks: usize,
}

impl CommandQueues {
    /// The queues of an array whose L2 has `banks` banks: `2^areas_log2` areas with `2^rings_log2`
    /// rings each. Of each queue `entries` commands may be under way.
    ///
    /// # Panics
    /// As [`QueueWatch::new`] and [`QueueStep::new`].
    pub fn new(banks: usize, rings_log2: usize, areas_log2: usize, entries: usize) -> Self {
        Self::wired(banks, rings_log2, areas_log2, entries)
    }
}

impl Logic for CommandQueues {
    #[hdl_gen]
    fn update(&mut self) {
        for b in 0..self._banks {
            connect!(self.tap[b], self.watch.tap[b]);
        }
        self.watch.enable.next = self.control.enable.val();
        self.watch.base.next = self.control.base.val();
        self.watch.area_log2.next = self.control.area_log2.val();
        connect!(self.watch.event_valid, self.list.mark_valid);
        connect!(self.watch.event_queue, self.list.mark);
        connect!(self.list.mark_ready, self.watch.event_ready);

        // After a reset
        let clears = self.cleared.q.val() != self.all.val();
        if clears {
            self.cleared.d.next = self.cleared.q.val() + bits::<9>(1);
        }
        self.ready.next = !clears && self.list.ready.val();

        // Lines that are here
        self.stage.fill.next = self.response_valid.val();
        self.stage.fill_buffer.next = self.response_buffer.val();
        self.stage.fill_data.next = self.response_data.val();
        let decides_arrival = (self.step.q.val() == EventStep::Work)
            && (self.current_event.q.val().kind == bits::<3>(event::ARRIVE));
        self.stage.coming.next =
            self.response_valid.val() || self.arrivals.pop_valid.val() || decides_arrival;
        self.stage.soon.next = self.fetching.q.val() && self.read_ready.val();
        self.arrivals.push_valid.next = self.response_valid.val();
        self.arrivals.push_data.next.buffer = self.response_buffer.val();
        self.arrivals.push_data.next.word = self.response_data.val().get_bits::<32>(0);
        self.arrivals.push_data.next.error = self.response_error.val();
        self.owners.read_address.next = self.arrivals.pop_data.val().buffer;

        always!(arrived_lines_have_room, !self.response_valid.val() || self.arrivals.push_ready.val());

        // Commands that are complete
        connect!(self.completed_valid, self.done.push_valid);
        connect!(self.completed, self.done.push_data);
        connect!(self.completed_ready, self.done.push_ready);

        // The next event
        let chooses = (self.step.q.val() == EventStep::Choose) && !clears && self.list.ready.val();
        let comes = self.stage.event_valid.val();
        let arrives = self.arrivals.pop_valid.val() && !comes;
        let completes = self.done.pop_valid.val() && !comes && !self.arrivals.pop_valid.val();
        let is_idle = !comes && !self.arrivals.pop_valid.val() && !self.done.pop_valid.val();
        let switches = is_idle && self.control.switch_valid.val();
        let shows = is_idle && !self.control.switch_valid.val() && self.control.show_valid.val();
        let can_fetch = self.stage.free.val() && !self.fetching.q.val();
        let looks = is_idle
            && !self.control.switch_valid.val()
            && !self.control.show_valid.val()
            && self.list.pop_valid.val()
            && can_fetch;
        let mut chosen = bits::<8>(0);
        if chooses {
            self.current_event.d.next = self.stage.event.val();
        }
        if comes {
            chosen = self.stage.event.val().queue;
        }
        if arrives {
            chosen = self.owners.read_data.val();
        }
        if chooses && arrives {
            self.current_event.d.next.kind = bits::<3>(event::ARRIVE);
            self.current_event.d.next.buffer = self.arrivals.pop_data.val().buffer;
            self.current_event.d.next.flag = self.arrivals.pop_data.val().error;
            self.current_event.d.next.value = bit_cast::<64, 32>(self.arrivals.pop_data.val().word);
        }
        if completes {
            chosen = self.done.pop_data.val().queue;
        }
        if chooses && completes {
            self.current_event.d.next.kind = bits::<3>(event::COMPLETE);
            self.current_event.d.next.context = self.done.pop_data.val().context;
            self.current_event.d.next.code = self.done.pop_data.val().code;
            self.current_event.d.next.index = self.done.pop_data.val().index;
            self.current_event.d.next.flag = self.done.pop_data.val().has_value;
            self.current_event.d.next.value = self.done.pop_data.val().value;
        }
        if switches {
            chosen = self.control.switch_queue.val().get_bits::<8>(0);
        }
        if chooses && switches {
            self.current_event.d.next.kind = bits::<3>(event::SWITCH);
            self.current_event.d.next.flag = self.control.switch_on.val();
            self.current_event.d.next.value = bit_cast::<64, 32>(self.control.epoch.val());
        }
        if shows {
            chosen = self.control.show_queue.val();
        }
        if chooses && shows {
            self.current_event.d.next.kind = bits::<3>(event::SHOW);
        }
        if looks {
            chosen = self.list.pop.val();
        }
        if chooses && looks {
            self.current_event.d.next.kind = bits::<3>(event::LOOK);
        }
        if chooses {
            self.current_event.d.next.queue = chosen;
        }
        let begins = chooses && (comes || arrives || completes || switches || shows || looks);
        self.stage.event_ready.next = chooses;
        self.arrivals.pop_ready.next = chooses && arrives;
        self.done.pop_ready.next = chooses && completes;
        self.list.pop_ready.next = chooses && looks;
        self.rows.read_enable.next = begins;
        self.rows.read_address.next = chosen;
        if begins {
            self.step.d.next = EventStep::Work;
        }

        // What it does
        let queue_event = self.current_event.q.val();
        let is_switch = queue_event.kind == bits::<3>(event::SWITCH);
        let is_show = queue_event.kind == bits::<3>(event::SHOW);
        // A queue that is not there is never on, and none is switched on before there are rings.
        let is_there = !is_switch
            || ((self.control.switch_queue.val() < self.queues.val())
                && (self.control.enable.val() || !queue_event.flag));
        self.queue_step.row.next = self.rows.read_data.val();
        self.queue_step.current_event.next = queue_event;
        let waits = self.queue_step.line.val() && self.writing.q.val();
        let works = (self.step.q.val() == EventStep::Work) && !waits;
        let looks_next = self.queue_step.looks.val() && is_there;
        let acts = works && is_there;
        if works {
            self.row.d.next = self.queue_step.changed.val();
            self.step.d.next = EventStep::Choose;
            if looks_next {
                self.step.d.next = EventStep::Look;
            }
        }
        let goes_on = acts && self.queue_step.changed.val().on && !self.rows.read_data.val().on;
        let goes_off = acts && !self.queue_step.changed.val().on && self.rows.read_data.val().on;
        if goes_on {
            self.queues_on.d.next = self.queues_on.q.val() + bits::<9>(1);
        }
        if goes_off {
            self.queues_on.d.next = self.queues_on.q.val() - bits::<9>(1);
        }
        always!(no_more_queues_are_on_than_rows, !goes_on || (self.queues_on.q.val() < self.all.val()));
        always!(a_queue_that_goes_off_was_counted, !goes_off || self.queues_on.q.val().any());
        self.control.some_on.next =
            self.queues_on.q.val().any() || ((self.step.q.val() != EventStep::Choose) && is_switch);
        self.stage.stage.next = acts && self.queue_step.stages.val();
        self.stage.staged.next.buffer = queue_event.buffer;
        self.stage.staged.next.queue = queue_event.queue;
        self.stage.staged.next.index = self.rows.read_data.val().head.get_bits::<16>(0);
        self.stage.staged.next.operation = queue_event.value.get_bits::<8>(0);
        self.stage.staged.next.context = queue_event.value.get_bits::<2>(12);
        self.stage.staged.next.node = queue_event.value.get_bits::<6>(16);
        self.fetched.next = acts && self.queue_step.stages.val();
        self.stage.discard.next = acts && self.queue_step.discards.val();
        self.stage.discard_buffer.next = queue_event.buffer;
        self.stage.drop.next = acts && self.queue_step.drops.val();
        self.stage.drop_buffer.next = self.rows.read_data.val().buffer;
        if works && is_switch {
            self.refused.d.next = self.queue_step.refused.val() || !is_there;
        }
        self.control.switch_ready.next = works && is_switch;
        self.control.switch_refused.next = self.refused.q.val();
        if works && is_show {
            self.shown.d.next = self.rows.read_data.val();
        }
        self.control.show_ready.next = works && is_show;
        self.control.shown.next = self.shown.q.val();

        // Its next command
        let number = queue_event.queue;
        let slot = number & self.slots.val();
        let in_area = self.control.area_log2.val() - bits::<5>(6);
        let domain = bit_cast::<26, 8>(number >> self.rings_log2.val()) << in_area;
        let area = self.control.base.val() | domain;
        let next_entry = self.row.q.val().head.get_bits::<6>(0);
        self.watch.look.next = self.step.q.val() == EventStep::Look;
        self.watch.look_queue.next = number;
        self.watch.look_entry.next = next_entry;
        if self.step.q.val() == EventStep::Look {
            self.step.d.next = EventStep::Decide;
        }
        let decides = self.step.q.val() == EventStep::Decide;
        let has_command = self.watch.phase.val() != self.row.q.val().head.get_bit(6);
        // Others that wait go first.
        let is_look = queue_event.kind == bits::<3>(event::LOOK);
        let fetches = decides && has_command && can_fetch && (is_look || !self.list.pop_valid.val());
        always!(one_line_is_read_at_a_time, !fetches || !self.fetching.q.val());
        self.list.add.next = decides && has_command && !fetches;
        self.list.add_queue.next = number;
        if decides {
            self.step.d.next = EventStep::Choose;
        }
        self.stage.claim.next = fetches;
        self.owners.write_enable.next = fetches;
        self.owners.write_address.next = self.stage.free_buffer.val();
        self.owners.write_data.next = number;
        if self.read_ready.val() {
            self.fetching.d.next = false;
        }
        if fetches {
            self.fetching.d.next = true;
            self.fetch_line.d.next = area | (bit_cast::<26, 8>(slot) << 6) | bit_cast::<26, 6>(next_entry);
            self.fetch_buffer.d.next = self.stage.free_buffer.val();
        }
        self.read_valid.next = self.fetching.q.val();
        self.read_line.next = self.fetch_line.q.val();
        self.read_buffer.next = self.fetch_buffer.q.val();

        // The row
        self.rows.write_enable.next = clears || (acts && !is_show && !looks_next) || decides;
        self.rows.write_address.next = number;
        self.rows.write_data.next = self.queue_step.changed.val();
        if decides {
            self.rows.write_data.next = self.row.q.val();
        }
        if fetches {
            self.rows.write_data.next.staged = true;
            self.rows.write_data.next.buffer = self.stage.free_buffer.val();
        }
        if clears {
            self.rows.write_address.next = self.cleared.q.val().get_bits::<8>(0);
            self.rows.write_data.next.on = false;
            self.rows.write_data.next.staged = false;
            self.rows.write_data.next.under_way = bits::<4>(0);
        }

        // The control line
        if self.write_ready.val() {
            self.writing.d.next = false;
        }
        if acts && self.queue_step.line.val() {
            self.writing.d.next = true;
            self.written.d.next = self.queue_step.changed.val();
            self.written_line.d.next = area | self.control_lines.val() | bit_cast::<26, 8>(slot);
        }
        self.write_valid.next = self.writing.q.val();
        self.write_line.next = self.written_line.q.val();
        let mut data = bit_cast::<512, 32>(self.written.q.val().head)
            | (bit_cast::<512, 32>(self.written.q.val().epoch) << 32)
            | (bit_cast::<512, 64>(self.written.q.val().value) << 256)
            | (bit_cast::<512, 128>(self.written.q.val().errors) << 384);
        for i in 0..4 {
            data = data
                | (bit_cast::<512, 16>(self.written.q.val().done.get_bits::<16>(16 * i))
                    << bits::<9>(128 + 32 * i as u64));
        }
        self.write_data.next = data;
    }
}
