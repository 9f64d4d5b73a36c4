//! The network interface.

use super::{
    aeth_class, code, counter, Acknowledge, FrameBuffer, FrameBuilder, FrameCheck, FrameQueue, FrameTurns,
    NetCounters, PayloadReader, PayloadWriter, QueuePairs, Receiver, RegionTable, RemoteAtomics, Requester,
    Responder, WorkPosts, MOST_ENTRIES,
};
use crate::config::Config;
use crate::host::registers::network::NetControl;
use crate::ports::{
    AtomicAnswer, CommandStage, LineRead, LineWrite, StreamIn, StreamOut, WindowPosts, WriteTap,
};
use crate::queues::CommandQueues;
use hermes_hdl::prelude::*;

/// A network interface for RoCEv2: puts and gets of the host and of the command processor leave as
/// frames, and frames of peers are written to memory, or answered from it.
///
/// 1. It has an AXI4-Stream pair of its own, and takes every beat that is offered: what finds no
///    room is dropped.
/// 2. A put is posted, sent and repeated as [`Requester`] says: its frames wait in [`FrameQueue`],
///    their payloads are read by [`PayloadReader`], and [`FrameBuilder`] builds them.
/// 3. A frame that comes is stored whole ([`FrameBuffer`]), judged ([`FrameCheck`], [`Receiver`]),
///    and its payload written ([`PayloadWriter`]).
/// 4. What came is answered when it is in memory ([`Acknowledge`]); a READ of a peer by its
///    responses ([`Responder`]).
/// 5. Atomic operations of peers are performed at the L2 ([`RemoteAtomics`]).
/// 6. With a command processor, commands of warps are fetched from their queues, and their control
///    lines written ([`CommandQueues`]).
/// 7. To memory it is one requester. Else it writes and reads in regions alone ([`RegionTable`]).
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(sizes: InterfaceSizes, windows: bool, owners_log2: usize)]
pub struct NetInterface {
    /// From and to the registers.
    pub control: NetControl,
    /// Frames of peers.
    pub rx: StreamIn,
    /// Frames for peers.
    pub tx: StreamOut,
    /// From and to the window of the command processor (only with one).
    #[there(windows)]
    pub window: Part<WindowPosts>,
    /// To its staging buffers.
    #[there(windows)]
    pub stage: Part<CommandStage>,
    /// From the banks of the L2 (with a command processor).
    #[there(windows)]
    #[count(sizes.banks)]
    pub tap: Part<Vec<WriteTap>>,
    /// Harts of the command processor that are at work.
    #[there(windows)]
    pub awake: Part<Signal<In, Bits<8>>>,
    /// To memory.
    pub write: LineWrite,
    /// To memory.
    pub read: LineRead,
    /// The answer of an atomic operation: bits 31:0 of the value before it.
    pub atomic_answer: AtomicAnswer,
    /// Bits 63:32 of the value before an atomic operation.
    pub written_high: Signal<In, Bits<32>>,
    /// Events of this cycle, for traces: bit n counts in counter n ([`counter`](super::counter)).
    pub events: Signal<Out, Bits<22>>,
    pairs: QueuePairs,
    regions: RegionTable,
    #[init(WorkPosts::new(sizes.entries))]
    posts: WorkPosts,
    #[init(Requester::new(owners_log2, sizes.entries))]
    requester: Requester,
    atomics: RemoteAtomics,
    responder: Responder,
    acknowledge: Acknowledge,
    turns: FrameTurns,
    queue: FrameQueue,
    reader: PayloadReader,
    builder: FrameBuilder,
    buffer: FrameBuffer,
    check: FrameCheck,
    receiver: Receiver,
    writer: PayloadWriter,
    counters: NetCounters,
    #[init(Part::when(windows, || CommandQueues::new(sizes.banks, sizes.rings_log2, sizes.areas_log2, sizes.entries)))]
    queues: Part<CommandQueues>,
    /// A frame comes that began while `enable` was low: the rest of it is not taken either.
    skips: Register<Bit>,
    /// A frame comes whose first beat was taken.
    inside: Register<Bit>,
    #[init(sizes.banks)]
    _banks: usize,
}

/// What a network interface is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterfaceSizes {
    /// Harts of the command processor; 0: there is none, and no command queues.
    pub harts: usize,
    /// Banks of the L2.
    pub banks: usize,
    /// Command rings of a queue area, as a power of two.
    pub rings_log2: usize,
    /// Queue areas, as a power of two.
    pub areas_log2: usize,
    /// Commands of each queue, of each hart and of the host that may be under way: 1, 2, 4 or 8.
    pub entries: usize,
}

impl Default for InterfaceSizes {
    /// No command processor, and room for as many commands as there can be.
    fn default() -> Self {
        Self { harts: 0, banks: 0, rings_log2: 0, areas_log2: 0, entries: MOST_ENTRIES }
    }
}

impl InterfaceSizes {
    /// Those of an array.
    pub fn of(config: &Config) -> Self {
        Self {
            harts: config.command_threads,
            banks: config.l2_banks,
            rings_log2: config.net_rings_log2(),
            areas_log2: config.net_areas_log2(),
            entries: config.net_queue_entries,
        }
    }
}

impl NetInterface {
    /// The network interface of an array of these sizes.
    ///
    /// # Panics
    /// If there are more than 256 queues or 8 banks, or `entries` is not 1, 2, 4 or 8.
    #[must_use]
    pub fn new(sizes: InterfaceSizes) -> Self {
        if sizes.harts == 0 {
            return Self::wired(sizes, false, 0);
        }
        // Owners: the host, the harts, and from 16 on the queues
        let owners = 16 + (1usize << (sizes.rings_log2 + sizes.areas_log2));
        Self::wired(sizes, true, owners.next_power_of_two().ilog2() as usize)
    }
}

impl NetInterface {
    /// Queue pairs.
    #[hdl_gen]
    fn keep_pairs(&mut self) {
        // Queue pairs
        connect!(self.control.table, self.pairs.table);
        connect!(self.control.set_state, self.pairs.set_state);
        connect!(self.control.state_pair, self.pairs.state_pair);
        connect!(self.control.new_state, self.pairs.new_state);
        connect!(self.control.state_refused, self.pairs.state_refused);
        connect!(self.control.downs, self.pairs.downs);
        connect!(self.pairs.ups, self.requester.ups);
        connect!(self.pairs.answers, self.acknowledge.ups);
        connect!(self.pairs.ups, self.receiver.ups);
        connect!(self.pairs.answers, self.responder.ups);
        connect!(self.pairs.errors, self.requester.errors);
        connect!(self.pairs.opens, self.requester.opens);
        connect!(self.pairs.opens, self.receiver.opens);
        self.requester.opens_pair.next = self.control.state_pair.val();
        self.receiver.opens_pair.next = self.control.state_pair.val();
        connect!(self.requester.fails, self.pairs.fails);
        connect!(self.requester.fails_pair, self.pairs.fails_pair);
        connect!(self.requester.listed, self.pairs.listed);
        always!(one_queue_pair_closes, !(self.receiver.closes.val() && self.responder.closes.val()));
        // Without its NAK a queue pair would stay in CLOSING.
        always!(
            a_closing_queue_pair_has_an_answer_to_send,
            !(self.pairs.answers.val() & !self.pairs.ups.val() & !self.acknowledge.held.val()).any()
        );
        self.pairs.closes.next = self.receiver.closes.val() || self.responder.closes.val();
        self.pairs.closes_pair.next = self.receiver.receive_pair.val();
        if self.responder.closes.val() {
            self.pairs.closes_pair.next = self.responder.closes_pair.val();
        }
        connect!(self.acknowledge.closed, self.pairs.closed);
        self.pairs.closed_pair.next = self.acknowledge.send_pair.val();
        self.requester.show_pair.next = self.control.table.pair.val();
        connect!(self.requester.show_waits, self.pairs.show_waits);
        connect!(self.requester.shown, self.pairs.shown);
    }

    /// Regions, and the rows that others look at.
    #[hdl_gen]
    fn keep_regions(&mut self) {
        // Regions
        connect!(self.control.regions, self.regions.table);
        self.regions.sends.next = self.requester.looks.val() || self.responder.looks.val();
        self.regions.send_index.next = self.responder.region_index.val();
        if self.requester.looks.val() {
            self.regions.send_index.next = self.requester.region_index.val();
        }
        // A response looks at it when a frame can begin: while the link stalls the host may.
        self.responder.region_free.next =
            !self.requester.looks.val() && self.queue.push_ready.val() && self.reader.source_ready.val();
        connect!(self.regions.send, self.requester.region);
        connect!(self.regions.send, self.responder.region);
        connect!(self.receiver.region_index, self.regions.receive_index);
        connect!(self.regions.receive, self.receiver.region);
        // A payload that is written has its mark, until it is performed.
        self.pairs.held.next = self.receiver.held.val()
            | self.acknowledge.held.val()
            | self.atomics.held.val()
            | self.responder.held.val()
            | self.reader.responding.val();

        // The sender's row: the requester goes first, then the responder.
        self.pairs.sends.next =
            self.requester.sends.val() || self.responder.sends.val() || self.acknowledge.sends.val();
        self.pairs.send_pair.next = self.acknowledge.send_pair.val();
        if self.responder.sends.val() {
            self.pairs.send_pair.next = self.responder.send_pair.val();
        }
        if self.requester.sends.val() {
            self.pairs.send_pair.next = self.requester.send_pair.val();
        }
        connect!(self.pairs.send, self.requester.send);
        connect!(self.pairs.send, self.responder.send);
        connect!(self.pairs.send, self.acknowledge.send);
        self.responder.row_free.next = !self.requester.sends.val();
        // An answer looks at it when a frame can begin: while the link stalls the host may.
        self.acknowledge.row_free.next =
            !self.requester.sends.val() && !self.responder.sends.val() && self.queue.push_ready.val();
    }

    /// Frames that are sent.
    #[hdl_gen]
    fn send(&mut self) {
        // Sending
        connect!(self.control.window, self.requester.window);
        connect!(self.control.timeout, self.requester.timeout);
        connect!(self.control.retries, self.requester.retries);
        connect!(self.control.post, self.posts.host_post);
        self.posts.host_command.next.words = self.control.stage.val().get_bits::<256>(0);
        self.posts.host_command.next.pair = self.control.post_pair.val();
        self.posts.host_command.next.region = self.control.post_region.val();
        self.posts.host_command.next.domain = self.control.post_domain.val();
        self.posts.host_command.next.owner = bits::<10>(0);
        self.posts.host_command.next.context = bits::<2>(0);
        self.posts.host_command.next.index = bits::<16>(0);
        self.control.post_refused.next = !self.posts.host_room.val();
        self.control.ready.next = self.requester.ready.val();
        self.posts.window_valid.next = false;
        self.posts.window_command.next.words = bits::<256>(0);
        self.posts.window_command.next.pair = bits::<4>(0);
        self.posts.window_command.next.region = bits::<4>(0);
        self.posts.window_command.next.domain = bits::<4>(0);
        self.posts.window_command.next.owner = bits::<10>(0);
        self.posts.window_command.next.context = bits::<2>(0);
        self.posts.window_command.next.index = bits::<16>(0);
        if self.window.is_there() {
            self.posts.window_valid.next = self.window.valid.val();
            self.posts.window_command.next = self.window.command.val();
            connect!(self.window.ready, self.posts.window_ready);
            self.window.enable.next = self.control.enable.val();
            connect!(self.window.completed, self.requester.completed);
            connect!(self.window.owner, self.requester.completed_owner);
            connect!(self.window.context, self.requester.completed_context);
            connect!(self.window.code, self.requester.completed_code);
        }
        connect!(self.posts.post_valid, self.requester.post_valid);
        connect!(self.posts.post, self.requester.post);
        connect!(self.requester.post_ready, self.posts.post_ready);
        connect!(self.requester.completed, self.posts.completed);
        connect!(self.requester.completed_owner, self.posts.completed_owner);
        self.requester.completed_ready.next = true;
        connect!(self.control.completed, self.posts.host_completed);
        connect!(self.control.code, self.requester.completed_code);
        self.control.has_result.next =
            self.posts.host_completed.val() && self.requester.completed_result.val();
        connect!(self.control.result, self.requester.completed_value);
        connect!(self.requester.wants, self.turns.request_wants);
        connect!(self.turns.request_ready, self.requester.head_ready);
        connect!(self.requester.head_valid, self.turns.request_valid);
        connect!(self.requester.head, self.turns.request);
        connect!(self.responder.head_valid, self.turns.response_valid);
        connect!(self.responder.head, self.turns.response);
        connect!(self.turns.response_taken, self.responder.head_taken);
        connect!(self.acknowledge.head_valid, self.turns.answer_valid);
        connect!(self.acknowledge.head, self.turns.answer);
        connect!(self.turns.answer_taken, self.acknowledge.head_taken);
        connect!(self.turns.head_valid, self.queue.push_valid);
        connect!(self.turns.head, self.queue.push);
        self.turns.head_ready.next = self.queue.push_ready.val();
        connect!(self.reader.source_ready, self.turns.source_ready);
    }

    /// Payloads: a command's, or a response's.
    #[hdl_gen]
    fn read_payloads(&mut self) {
        // Payloads: a command's, or a response's
        let is_response = self.turns.response_taken.val();
        self.reader.source_valid.next =
            self.requester.source_valid.val() || (is_response && self.responder.source_valid.val());
        self.reader.source.next = self.requester.source.val();
        if is_response {
            self.reader.source.next = self.responder.source.val();
        }
        let of_response = self.reader.fault.val().response;
        self.requester.fault_valid.next = self.reader.fault_valid.val() && !of_response;
        self.responder.fault_valid.next = self.reader.fault_valid.val() && of_response;
        self.reader.fault_ready.next = self.requester.fault_ready.val();
        if of_response {
            self.reader.fault_ready.next = self.responder.fault_ready.val();
        }
        connect!(self.reader.fault, self.requester.fault);
        connect!(self.reader.fault, self.responder.fault);
        connect!(self.reader.fault_message, self.responder.fault_message);
        self.requester.moving.next =
            self.reader.pairs.val() | self.receiver.landing.val() | self.acknowledge.pending.val();
        self.read.valid.next = self.reader.read.valid.val();
        self.read.line.next = self.reader.read.line.val();
        self.read.tag.next = self.reader.read.tag.val();
        self.reader.read.ready.next = self.read.ready.val();
        // Commands have tags from 32 on.
        self.reader.read.response.valid.next =
            self.read.response.valid.val() && !self.read.response.tag.val().get_bit(5);
        connect!(self.read.response.tag, self.reader.read.response.tag);
        connect!(self.read.response.data, self.reader.read.response.data);
        connect!(self.read.response.error, self.reader.read.response.error);
        connect!(self.queue.pop_valid, self.builder.head_valid);
        connect!(self.queue.pop, self.builder.head);
        connect!(self.builder.head_ready, self.queue.pop_ready);
        connect!(self.reader.line_valid, self.builder.line_valid);
        connect!(self.reader.line_data, self.builder.line_data);
        connect!(self.reader.line_error, self.builder.line_error);
        connect!(self.builder.line_ready, self.reader.line_ready);
        connect!(self.tx.tvalid, self.builder.tx_tvalid);
        connect!(self.tx.tready, self.builder.tx_tready);
        connect!(self.tx.tdata, self.builder.tx_tdata);
        connect!(self.tx.tkeep, self.builder.tx_tkeep);
        connect!(self.tx.tlast, self.builder.tx_tlast);
        self.tx.tuser.next = bits::<32>(0);
    }

    /// Frames that come: whole ones from `enable` on.
    #[hdl_gen]
    fn receive(&mut self) {
        // Receiving: whole frames from `enable` on
        let takes =
            self.rx.tvalid.val() && !self.skips.q.val() && (self.inside.q.val() || self.control.enable.val());
        if self.rx.tvalid.val() {
            self.inside.d.next = takes && !self.rx.tlast.val();
            self.skips.d.next = !takes && !self.rx.tlast.val();
        }
        self.buffer.rx_tvalid.next = takes;
        connect!(self.rx.tdata, self.buffer.rx_tdata);
        connect!(self.rx.tkeep, self.buffer.rx_tkeep);
        connect!(self.rx.tlast, self.buffer.rx_tlast);
        connect!(self.rx.tuser, self.buffer.rx_tuser);
        self.rx.tready.next = true;
        connect!(self.buffer.stored_valid, self.check.stored_valid);
        connect!(self.buffer.stored, self.check.stored);
        connect!(self.check.stored_take, self.buffer.stored_take);

        // One read port for both: the check goes first, which reads in one of four cycles.
        self.buffer.read_enable.next = self.check.read_enable.val() || self.writer.read_enable.val();
        self.buffer.read_beat.next = self.writer.read_beat.val();
        if self.check.read_enable.val() {
            self.buffer.read_beat.next = self.check.read_beat.val();
        }
        self.check.read_ready.next = true;
        self.writer.read_ready.next = !self.check.read_enable.val();
        connect!(self.buffer.read_data, self.check.read_data);
        connect!(self.buffer.read_data, self.writer.read_data);

        connect!(self.check.checked_valid, self.receiver.checked_valid);
        connect!(self.check.checked, self.receiver.checked);
        connect!(self.receiver.checked_take, self.check.checked_take);
        connect!(self.receiver.receives, self.pairs.receives);
        connect!(self.receiver.receive_pair, self.pairs.receive_pair);
        connect!(self.pairs.receive, self.receiver.receive);
        connect!(self.receiver.received, self.pairs.received);
        connect!(self.receiver.next_expected, self.pairs.next_expected);
        connect!(self.acknowledge.pending, self.receiver.pending);
        connect!(self.receiver.place_valid, self.writer.place_valid);
        connect!(self.receiver.place, self.writer.place);
        connect!(self.writer.place_ready, self.receiver.place_ready);
        connect!(self.receiver.free_valid, self.buffer.free_valid);
        connect!(self.receiver.free_beats, self.buffer.free_beats);
    }

    /// READs and atomic operations of the peers.
    #[hdl_gen]
    fn answer(&mut self) {
        // READs and atomic operations
        connect!(self.receiver.job_valid, self.atomics.job_valid);
        connect!(self.receiver.job, self.atomics.job);
        connect!(self.receiver.operands, self.atomics.operands);
        connect!(self.atomics.job_ready, self.receiver.job_ready);
        connect!(self.atomics.failed, self.receiver.job_failed);
        connect!(self.pairs.opens, self.atomics.opens);
        self.atomics.opens_pair.next = self.control.state_pair.val();
        connect!(self.atomics.next_valid, self.responder.job_valid);
        connect!(self.atomics.next_job, self.responder.job);
        connect!(self.responder.job_ready, self.atomics.next_ready);
        connect!(self.responder.room, self.receiver.job_room);
        connect!(self.responder.pairs, self.acknowledge.responds);
        self.acknowledge.refuse_valid.next = self.responder.refuse_valid.val() && !self.receiver.closes.val();
        connect!(self.responder.refuse, self.acknowledge.refuse);
        self.responder.refuse_ready.next = self.acknowledge.refuse_ready.val() && !self.receiver.closes.val();
        connect!(self.receiver.answer_valid, self.requester.answer_valid);
        connect!(self.receiver.answer, self.requester.answer);
        connect!(self.requester.answer_ready, self.receiver.answer_ready);
    }

    /// The counters.
    #[hdl_gen]
    fn count(&mut self, was_fetched: Bit) {
        // Counters
        let fails =
            self.requester.completed.val() && (self.requester.completed_code.val() != bits::<8>(code::DONE));
        let answer_came = self.receiver.answer_valid.val()
            && !self.receiver.answer.val().response
            && self.requester.answer_ready.val();
        let answer_class = self.receiver.answer.val().syndrome.get_bits::<3>(5);
        let nak_came = answer_came && (answer_class == bits::<3>(aeth_class::NAK));
        self.counters.not_ready.next = answer_came && (answer_class == bits::<3>(aeth_class::RNR_NAK));
        let mut happened = bits::<22>(0)
            .replace_bit(counter::FRAMES_OUT as usize, self.builder.sent.val())
            .replace_bit(counter::FRAMES_IN as usize, self.writer.performed.val())
            .replace_bit(counter::FAILED as usize, fails)
            .replace_bit(counter::RESENT as usize, self.requester.resent.val())
            .replace_bit(counter::TIMEOUTS as usize, self.requester.timed_out.val())
            .replace_bit(counter::NAKS_OUT as usize, self.acknowledge.sent_nak.val())
            .replace_bit(counter::NAKS_IN as usize, nak_came)
            .replace_bit(counter::STRAY as usize, self.requester.stray.val())
            .replace_bit(counter::NO_ROOM as usize, self.buffer.dropped.val())
            .replace_bit(counter::UNKNOWN as usize, self.receiver.unknown.val())
            .replace_bit(counter::REFUSED as usize, self.receiver.refused.val())
            .replace_bit(counter::REPEATED as usize, self.receiver.repeated.val())
            .replace_bit(counter::NEWER as usize, self.receiver.newer.val())
            .replace_bit(counter::DOWN as usize, self.pairs.downs.val().any())
            .replace_bit(counter::FETCHED as usize, was_fetched);
        let dropped_for = bits::<8>(1) << self.receiver.cause.val();
        for i in 0..7 {
            happened = happened.replace_bit(counter::CAUSE_1 as usize + i, dropped_for.get_bit(1 + i));
        }
        self.counters.events.next = happened;
        self.counters.awake.next = bits::<8>(0);
        if self.window.is_there() {
            self.counters.awake.next = self.awake.val();
        }
        self.events.next = happened;
        connect!(self.control.counter_select, self.counters.select);
        connect!(self.control.counter, self.counters.value);
    }
}

impl Logic for NetInterface {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.control.identity, self.builder.identity);
        connect!(self.control.identity, self.check.identity);

        self.keep_pairs();
        self.keep_regions();
        self.send();
        self.read_payloads();
        self.receive();
        // Writes: atomic operations go first, then control lines; both have tags of their own.
        let mut notes = false;
        self.write.line.next = self.writer.write.line.val();
        self.write.data.next = self.writer.write.data.val();
        self.write.strobe.next = self.writer.write.strobe.val();
        self.write.tag.next = self.writer.write.tag.val();
        let operates = self.atomics.write_valid.val();
        if self.window.is_there() {
            notes = self.queues.write_valid.val();
            if notes {
                self.write.line.next = self.queues.write_line.val();
                self.write.data.next = self.queues.write_data.val();
                self.write.strobe.next = bits::<64>(u64::MAX);
                self.write.tag.next = bits::<6>(0x10);
            }
            self.queues.write_ready.next = self.write.ready.val() && !operates;
        }
        self.write.valid.next = operates || notes || self.writer.write.valid.val();
        if operates {
            self.write.line.next = self.atomics.write_line.val();
            self.write.data.next = self.atomics.write_data.val();
            self.write.strobe.next = self.atomics.write_strobe.val();
            self.write.tag.next = bits::<6>(0x20);
        }
        self.atomics.write_ready.next = self.write.ready.val();
        self.writer.write.ready.next = self.write.ready.val() && !operates && !notes;
        let is_result = self.write.written.tag.val().get_bit(5);
        let is_note = self.write.written.tag.val().get_bit(4);
        self.writer.write.written.valid.next = self.write.written.valid.val() && !is_result && !is_note;
        self.writer.write.written.tag.next = self.write.written.tag.val();
        self.atomics.written.next = self.write.written.valid.val() && is_result;
        self.atomics.value.next = (bit_cast::<64, 32>(self.written_high.val()) << 32)
            | bit_cast::<64, 32>(self.atomic_answer.word.val());
        connect!(self.atomic_answer.error, self.atomics.error);
        connect!(self.receiver.mark_valid, self.acknowledge.mark_valid);
        connect!(self.receiver.mark, self.acknowledge.mark);
        connect!(self.acknowledge.mark_ready, self.receiver.mark_ready);
        connect!(self.writer.performed, self.acknowledge.performed);
        connect!(self.acknowledge.got_valid, self.requester.got_valid);
        connect!(self.acknowledge.got_pair, self.requester.got_pair);
        connect!(self.acknowledge.got_sequence, self.requester.got_sequence);
        connect!(self.requester.got_ready, self.acknowledge.got_ready);
        connect!(self.requester.judged, self.receiver.judged);
        connect!(self.requester.lands, self.receiver.lands);
        connect!(self.requester.land_address, self.receiver.land_address);

        self.answer();
        // Command queues
        self.control.queues.switch_ready.next = true;
        self.control.queues.switch_refused.next = true;
        self.control.queues.some_on.next = false;
        self.control.queues.show_ready.next = true;
        self.control.queues.shown.next.on = false;
        self.control.queues.shown.next.staged = false;
        self.control.queues.shown.next.buffer = bits::<4>(0);
        self.control.queues.shown.next.under_way = bits::<4>(0);
        self.control.queues.shown.next.head = bits::<32>(0);
        self.control.queues.shown.next.epoch = bits::<32>(0);
        self.control.queues.shown.next.done = bits::<64>(0);
        self.control.queues.shown.next.value = bits::<64>(0);
        self.control.queues.shown.next.errors = bits::<128>(0);
        let mut was_fetched = false;
        if self.window.is_there() {
            self.queues.control.enable.next = self.control.queues.enable.val();
            self.queues.control.base.next = self.control.queues.base.val();
            self.queues.control.area_log2.next = self.control.queues.area_log2.val();
            self.queues.control.epoch.next = self.control.queues.epoch.val();
            self.queues.control.switch_valid.next = self.control.queues.switch_valid.val();
            self.queues.control.switch_queue.next = self.control.queues.switch_queue.val();
            self.queues.control.switch_on.next = self.control.queues.switch_on.val();
            self.queues.control.show_valid.next = self.control.queues.show_valid.val();
            self.queues.control.show_queue.next = self.control.queues.show_queue.val();
            self.control.queues.switch_ready.next = self.queues.control.switch_ready.val();
            self.control.queues.switch_refused.next = self.queues.control.switch_refused.val();
            self.control.queues.some_on.next = self.queues.control.some_on.val();
            self.control.queues.show_ready.next = self.queues.control.show_ready.val();
            self.control.queues.shown.next = self.queues.control.shown.val();
            self.control.ready.next = self.requester.ready.val() && self.queues.ready.val();
            connect!(*self.stage, self.queues.stage);
            for b in 0..self._banks {
                connect!(self.tap[b], self.queues.tap[b]);
            }
            self.requester.completed_ready.next = self.queues.completed_ready.val();
            let owner = self.requester.completed_owner.val();
            self.queues.completed_valid.next = self.requester.completed.val() && owner.get_bits::<6>(4).any();
            self.queues.completed.next.queue = (owner - bits::<10>(16)).get_bits::<8>(0);
            self.queues.completed.next.context = self.requester.completed_context.val();
            self.queues.completed.next.code = self.requester.completed_code.val();
            self.queues.completed.next.index = self.requester.completed_index.val();
            self.queues.completed.next.has_value = self.requester.completed_result.val();
            self.queues.completed.next.value = self.requester.completed_value.val();
            if self.queues.read_valid.val() {
                self.read.valid.next = true;
                self.read.line.next = self.queues.read_line.val();
                self.read.tag.next = bit_cast::<7, 4>(self.queues.read_buffer.val()) | bits::<7>(0x20);
                self.reader.read.ready.next = false;
            }
            self.queues.read_ready.next = self.read.ready.val();
            self.queues.response_valid.next =
                self.read.response.valid.val() && self.read.response.tag.val().get_bit(5);
            self.queues.response_buffer.next = self.read.response.tag.val().get_bits::<4>(0);
            self.queues.response_data.next = self.read.response.data.val();
            self.queues.response_error.next = self.read.response.error.val();
            was_fetched = self.queues.fetched.val();
        }

        self.count(was_fetched);
    }
}

#[cfg(test)]
#[path = "net_interface_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "net_interface_glue_tests.rs"]
mod glue_tests;
