//! What sends commands, and repeats what is lost.

use super::request_choice::kind;
use super::send_window::MOST_PACKETS;
use super::{
    AnswerStep, CommandCheck, CommandPacket, FrameHead, PacketCut, PayloadFault, PayloadSource, PeerAnswer,
    PostedCommand, Region, RegionCheck, RequestChoice, RequestRow, RetryTimers, RowStep, SendPair,
    SendWindow, WorkTable,
};
use hermes_hdl::prelude::*;

#[path = "requester_parts.rs"]
mod parts;

/// What [`Requester`] does in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum RequestStep {
    /// Chooses a queue pair, and what is to be done with it.
    Choose,
    /// Reads the row and the command.
    Read,
    /// Works; a packet is cut.
    Work,
    /// Sends a packet, or takes a response.
    Transfer,
}

/// Sends the packets of commands, and repeats those that are lost: go-back-N (InfiniBand
/// Architecture Specification, volume 1, 9.7).
///
/// 1. A command is posted with `post_valid` and `post_ready`, by an owner of which fewer than
///    `entries` commands are under way. It is checked ([`CommandCheck`]), and stands at the end of
///    the list of its queue pair. After a reset `ready` tells when the first is taken.
/// 2. Of the queue pairs whose next packet is within their window ([`SendWindow`]), which is
///    `window` packets from the oldest that is not acknowledged at most, and that have less READs
///    and atomic operations under way than their peer takes,
///    one in turn sends a packet ([`PacketCut`]), when `head_ready` says that there is room for a
///    frame: `head_valid` is high for one cycle, with `head`, and with `source_valid` and `source`,
///    where its payload stands, if it has one. `wants`: one waits for that. A command gets its
///    packet sequence numbers when those before it were sent.
/// 3. An answer is taken with `answer_valid` and `answer_ready`. What it acknowledges,
///    [`AnswerStep`] says; an answer of another packet has no effect (`stray`). After a NAK of a
///    lost packet (syndrome 0x60) or a response that was lost, the oldest packet is the next to be
///    sent; after another NAK the command of its packet fails with 0x87. After an RNR NAK nothing
///    is sent for the time that it says, and then from the oldest packet on; that counts as one of
///    the time-outs in a row.
/// 4. A response is judged some cycles after it was taken (`judged`, for one cycle): with `lands`
///    its payload is to be written to `land_address`. `got_valid` tells, until `got_ready`, that
///    this is done. Without `lands` it is dropped: it is not as long as it must be, its opcode is
///    not that of its place in its READ, or its syndrome that of no ACK.
/// 5. A queue pair whose oldest packet stays without an answer for `timeout` cycles, twice as long
///    after each time, sends again from it; after `retries` times its oldest command fails with
///    0x86.
/// 6. Before each packet and each response the region of its payload is checked once more. If it
///    may not be used any more, or `fault` tells that the payload could not be read, the command
///    fails with 0x89.
/// 7. `completed` is high for one cycle for each command, with its owner, context and result and
///    its `completed_code` ([`code`]): at once if the check finds it wrong, else in the order of
///    its queue pair, when all of it is acknowledged and what it got is in memory. None is while
///    `completed_ready` is low. One that fails later takes its queue pair down (`fails`). The
///    commands of a queue pair in ERROR end when none of its payloads is being read or written
///    (`moving`), that one with its code, the others with 0x88.
/// 8. `opens`: a queue pair goes up, and begins with the sequence number in its row. `listed` has a
///    bit for each that has commands.
/// 9. `sends` with `send_pair`: the row of [`QueuePairs`](super::QueuePairs), one cycle at a time;
///    `send` answers in the same cycle, and so does `region` to `looks` with `region_index`, a row
///    of [`RegionTable`](super::RegionTable).
/// 10. `shown` answers `show_pair` in the same cycle unless `show_waits`.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(owners_log2: usize, entries: usize)]
pub struct Requester {
    /// Packets that a queue pair may have sent without an answer: 1 to 32.
    pub window: Signal<In, Bits<6>>,
    /// Cycles without an answer until packets are sent again.
    pub timeout: Signal<In, Bits<24>>,
    /// Time-outs in a row after which a command fails.
    pub retries: Signal<In, Bits<3>>,

    /// Commands are taken.
    pub ready: Signal<Out, Bit>,
    /// A command is posted.
    pub post_valid: Signal<In, Bit>,
    /// The command is taken at this edge.
    pub post_ready: Signal<Out, Bit>,
    /// The command.
    pub post: Signal<In, PostedCommand>,
    /// A command is complete.
    pub completed: Signal<Out, Bit>,
    /// A command may be complete in this cycle.
    pub completed_ready: Signal<In, Bit>,
    /// Result of the command, as in [`code`](super::code).
    pub completed_code: Signal<Out, Bits<8>>,
    /// Owner of the command.
    pub completed_owner: Signal<Out, Bits<10>>,
    /// Context of the command.
    pub completed_context: Signal<Out, Bits<2>>,
    /// Index of the command.
    pub completed_index: Signal<Out, Bits<16>>,
    /// The command has a value.
    pub completed_result: Signal<Out, Bit>,
    /// The value: the first bytes of a GET, or that before an atomic operation.
    pub completed_value: Signal<Out, Bits<64>>,

    /// An answer came.
    pub answer_valid: Signal<In, Bit>,
    /// The answer is taken at this edge.
    pub answer_ready: Signal<Out, Bit>,
    /// The ACK, NAK or response.
    pub answer: Signal<In, PeerAnswer>,
    /// The response that was taken last is judged.
    pub judged: Signal<Out, Bit>,
    /// The payload of the judged response goes to memory.
    pub lands: Signal<Out, Bit>,
    /// Address of the first byte of the payload in memory.
    pub land_address: Signal<Out, Bits<32>>,
    /// The payload of a response is in memory.
    pub got_valid: Signal<In, Bit>,
    /// The response is noted at this edge.
    pub got_ready: Signal<Out, Bit>,
    /// Queue pair of the response.
    pub got_pair: Signal<In, Bits<4>>,
    /// Packet sequence number of the response.
    pub got_sequence: Signal<In, Bits<24>>,

    /// A queue pair goes up.
    pub opens: Signal<In, Bit>,
    /// Queue pair that goes up.
    pub opens_pair: Signal<In, Bits<4>>,
    /// Queue pairs that are up.
    pub ups: Signal<In, Bits<16>>,
    /// Queue pairs in ERROR.
    pub errors: Signal<In, Bits<16>>,
    /// A queue pair fails.
    pub fails: Signal<Out, Bit>,
    /// Queue pair that fails.
    pub fails_pair: Signal<Out, Bits<4>>,
    /// Queue pairs that have commands, or are about to begin.
    pub listed: Signal<Out, Bits<16>>,

    /// The row is looked at.
    pub sends: Signal<Out, Bit>,
    /// Number of the row.
    pub send_pair: Signal<Out, Bits<4>>,
    /// The row.
    pub send: Signal<In, SendPair>,

    /// The region that is looked at.
    pub looks: Signal<Out, Bit>,
    /// Number of the region.
    pub region_index: Signal<Out, Bits<4>>,
    /// The region of `region_index`.
    pub region: Signal<In, Region>,
    /// The host looks at this queue pair.
    pub show_pair: Signal<In, Bits<4>>,
    /// The row cannot be shown in this cycle.
    pub show_waits: Signal<Out, Bit>,
    /// Row of `show_pair`.
    pub shown: Signal<Out, RequestRow>,

    /// There is room for a frame.
    pub head_ready: Signal<In, Bit>,
    /// A frame is to be sent.
    pub head_valid: Signal<Out, Bit>,
    /// A packet waits to be sent.
    pub wants: Signal<Out, Bit>,
    /// Headers of the frame.
    pub head: Signal<Out, FrameHead>,
    /// The frame has a payload.
    pub source_valid: Signal<Out, Bit>,
    /// Place of the payload.
    pub source: Signal<Out, PayloadSource>,
    /// A payload could not be read.
    pub fault_valid: Signal<In, Bit>,
    /// The fault is noted at this edge.
    pub fault_ready: Signal<Out, Bit>,
    /// Packet whose payload could not be read.
    pub fault: Signal<In, PayloadFault>,
    /// Queue pairs of which payloads are being read or written.
    pub moving: Signal<In, Bits<16>>,

    /// A packet is sent again.
    pub resent: Signal<Out, Bit>,
    /// A timer expired.
    pub timed_out: Signal<Out, Bit>,
    /// An answer had no effect.
    pub stray: Signal<Out, Bit>,

    command_check: CommandCheck,
    answer_step: AnswerStep,
    packet_cut: PacketCut,
    region_check: RegionCheck,
    #[init(WorkTable::new(owners_log2, entries))]
    table: WorkTable,
    timers: RetryTimers,
    send_window: SendWindow,
    row_step: RowStep,
    rows: RamAsync<RequestRow, 4>,
    choice: RequestChoice,
    /// A command waits to be checked.
    posted: Register<Bit>,
    posted_command: Register<PostedCommand>,
    /// Queue pairs whose row is to be begun.
    opening: Register<Bits<16>>,
    /// Queue pairs that have commands.
    busy: Register<Bits<16>>,
    /// Queue pairs whose next packet may be sent.
    sendable: Register<Bits<16>>,
    /// Queue pairs whose oldest command may be done.
    finishing: Register<Bits<16>>,
    step: Register<RequestStep>,
    kind: Register<Bits<3>>,
    pair: Register<Bits<4>>,
    reply: Register<PeerAnswer>,
    broken: Register<PayloadFault>,
    arrived: Register<Bits<24>>,
    packet: Register<CommandPacket>,
    row: Register<RequestRow>,
    /// The oldest packet when an answer came, and whether its queue pair was up.
    base: Register<Bits<24>>,
    base_up: Register<Bit>,
    /// The command that was read.
    at: Register<Bits<12>>,
}

impl Requester {
    /// The sender for commands of `2^owners_log2` owners, of each of which `entries` may be under
    /// way.
    ///
    /// # Panics
    /// As [`WorkTable::new`].
    pub fn new(owners_log2: usize, entries: usize) -> Self {
        Self::wired(owners_log2, entries)
    }
}

impl Logic for Requester {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.timeout, self.timers.timeout);
        let reads = self.step.q.val() == RequestStep::Read;
        // A command may complete in this step.
        let works = (self.step.q.val() == RequestStep::Work) && self.completed_ready.val();
        let opens_row = works && (self.kind.q.val() == bits::<3>(kind::OPEN));
        let finishes = works && (self.kind.q.val() == bits::<3>(kind::FINISH));
        let faults = works && (self.kind.q.val() == bits::<3>(kind::FAULT));
        let gets = works && (self.kind.q.val() == bits::<3>(kind::GOT));
        let answers = works && (self.kind.q.val() == bits::<3>(kind::ANSWER));
        let expires = works && (self.kind.q.val() == bits::<3>(kind::EXPIRE));
        let posts = works && (self.kind.q.val() == bits::<3>(kind::POST));
        let cuts = works && (self.kind.q.val() == bits::<3>(kind::SEND));
        let transfers = self.step.q.val() == RequestStep::Transfer;
        let transmits = transfers && (self.kind.q.val() == bits::<3>(kind::SEND));
        let responds = transfers && (self.kind.q.val() == bits::<3>(kind::ANSWER));

        self.accept();
        // What is next
        let ending_pairs = self.busy.q.val() & self.errors.val() & !self.moving.val();
        self.choose(ending_pairs);
        // The row, and the command that it is about
        self.rows.read_address.next = self.show_pair.val();
        if reads {
            self.rows.read_address.next = self.pair.q.val();
        }
        self.show_waits.next = reads;
        self.shown.next = self.rows.read_data.val();
        let stored_row = self.rows.read_data.val();
        let mut entry_place = stored_row.oldest_at;
        if self.kind.q.val() == bits::<3>(kind::SEND) {
            entry_place = stored_row.cursor;
        }
        if self.kind.q.val() == bits::<3>(kind::FINISH) {
            entry_place = stored_row.head;
        }
        if reads {
            self.step.d.next = RequestStep::Work;
            self.row.d.next = stored_row;
            self.base.d.next = stored_row.oldest;
            self.base_up.d.next = self.ups.val().get_bit(self.pair.q.val().index());
            self.at.d.next = entry_place;
        }
        self.table.at.next = self.at.q.val();
        let current_row = self.row.q.val();
        let entry = self.table.found.val();
        let first = self.table.first_found.val();
        let behind = first + bit_cast::<24, 23>(entry.packets);
        let later = self.table.next_place.val();
        let has_later = self.at.q.val() != current_row.tail;
        let is_up = self.ups.val().get_bit(self.pair.q.val().index());
        let send_row = self.send.val();
        self.sends.next = opens_row || posts || cuts || transmits || answers;
        self.send_pair.next = self.pair.q.val();

        // A command is posted.
        self.check_post(posts, transmits, responds, entry, send_row);
        let wrong = self.command_check.code.val();
        let takes = posts && !wrong.any();
        self.table.write.next = takes;
        self.table.entry.next = self.command_check.entry.val();
        // The last command of an empty list is gone, and another list may have its place.
        self.table.link.next = takes && current_row.entries.any();
        self.table.link_from.next = current_row.tail;
        self.table.link_to.next = self.table.free.val();
        if posts {
            self.posted.d.next = false;
        }

        // An answer: commands that it acknowledges are passed one after the other.
        self.answer_step.row.next = current_row;
        self.answer_step.origin.next = self.base.q.val();
        self.answer_step.was_up.next = self.base_up.q.val();
        self.answer_step.reply.next = self.reply.q.val();
        self.answer_step.entry.next = entry;
        self.answer_step.first.next = first;
        let counts = answers && self.answer_step.counts.val();
        let passes = answers && self.answer_step.passes.val();
        let settles = answers && self.answer_step.settles.val();
        let expects = settles && self.answer_step.expects.val() && is_up;
        let moves = settles && self.answer_step.moved.val();
        let is_fatal = settles && self.answer_step.fatal.val();
        let rests = settles && self.answer_step.rests.val() && is_up;

        // A packet is cut: one that is sent, if its payload may still be read, or one whose
        // response came, if that may still be written.
        self.cut_packet(answers, cuts, current_row, entry, first, send_row, expects);
        let prepared_packet = self.packet.q.val();
        let is_put = !entry.operation.any();
        self.allow_packet(entry, prepared_packet, is_put);
        let is_gone = entry.memory && !self.region_check.allowed.val();
        let sent = transmits && self.head_ready.val() && !is_gone && is_up;
        always!(only_packets_and_responses_transfer, !transfers || transmits || responds);
        always!(
            packets_in_flight_stay_in_the_window,
            !sent || (current_row.upcoming - current_row.oldest < bits::<24>(MOST_PACKETS))
        );
        self.head_valid.next = sent;
        // If another frame took the queue meanwhile, it is still this one's turn.
        self.choice.advance.next = sent;
        // The packet that fills the window, or half of it, asks for an ACK.
        let asks = prepared_packet.acknowledge || (is_put && self.send_window.fills.val());
        self.offer(current_row, entry, send_row, prepared_packet, is_put, sent, asks);
        self.resent.next = sent && (current_row.upcoming != current_row.top);

        // A response that is due: as long as it must be, of the right kind, and at its place in its
        // READ, which begins there if it was sent again. All but the middle ones have an AETH.
        let taken_reply = self.reply.q.val();
        let has_place = taken_reply.atomic
            || ((taken_reply.ends == prepared_packet.part_ends)
                && (taken_reply.begins || !prepared_packet.part_begins));
        let is_middle = !taken_reply.atomic && !taken_reply.begins && !taken_reply.ends;
        let is_right = (taken_reply.atomic == entry.operation.get_bit(1))
            && (taken_reply.bytes == prepared_packet.bytes)
            && has_place
            && (is_middle || !taken_reply.syndrome.get_bits::<3>(5).any());
        let takes_it = responds && is_right && is_up && !is_gone;
        self.judged.next = responds || (answers && self.reply.q.val().response && !passes && !expects);
        self.lands.next = takes_it && entry.memory;
        self.land_address.next = prepared_packet.address;
        self.table.keep.next = takes_it && !entry.memory;
        self.table.kept.next = self.answer_step.value.val();
        self.stray.next = (answers && !counts)
            || (settles && self.reply.q.val().response && !expects)
            || (responds && !is_right);

        // What takes its queue pair down: the command that fails is the oldest one, or that of a
        // payload that could not be read, unless it was acknowledged meanwhile.
        let unread_payload = self.broken.q.val();
        let is_under_way =
            (unread_payload.sequence - current_row.oldest) < (current_row.top - current_row.oldest);
        let loses = faults && is_under_way && is_up;
        let gives_up = expires && is_up && (current_row.retries >= bit_cast::<4, 3>(self.retries.val()));
        let repeats = expires && is_up && !gives_up;
        let refuses = is_gone && is_up && (transmits || (responds && is_right));
        let breaks = is_fatal || gives_up || refuses || loses;
        let wakes = self.send_window.is_resting.val();
        self.timed_out.next = expires && is_up && !wakes;
        self.fails.next = breaks;
        self.fails_pair.next = self.pair.q.val();

        // The oldest command leaves the list: it is done, or its queue pair is down.
        let mut is_here = !current_row.lost;
        if entry.memory {
            is_here = !(current_row.got - behind).get_bit(23);
        }
        let is_done = (current_row.entries != current_row.open) && (is_put || is_here);
        let is_down = ending_pairs.get_bit(self.pair.q.val().index());
        let removes = finishes && current_row.entries.any() && (is_done || is_down);
        let is_cause = current_row.failed && (current_row.cause == self.at.q.val());
        self.complete(posts, current_row, entry, wrong, is_put, is_done, removes, is_cause);
        // What becomes of the row
        self.row_step.row.next = current_row;
        self.row_step.pair.next = send_row;
        self.row_step.at.next = self.at.q.val();
        self.row_step.is_put.next = is_put;
        self.row_step.behind.next = behind;
        self.row_step.later.next = later;
        self.row_step.has_later.next = has_later;
        self.row_step.packet.next = prepared_packet;
        self.row_step.opens.next = opens_row;
        self.row_step.takes.next = takes;
        self.row_step.free.next = self.table.free.val();
        self.row_step.sent.next = sent;
        self.row_step.passes.next = passes;
        self.row_step.settles.next = settles;
        self.row_step.oldest.next = self.answer_step.oldest.val();
        self.row_step.origin.next = self.base.q.val();
        self.row_step.moved.next = self.answer_step.moved.val();
        self.row_step.gap.next = self.answer_step.gap.val();
        self.row_step.naks.next = self.answer_step.repeats.val() || self.answer_step.rests.val();
        self.row_step.lands.next = takes_it;
        self.row_step.gets.next = gets;
        self.row_step.arrived.next = self.arrived.q.val();
        self.row_step.repeats.next = repeats;
        self.row_step.breaks.next = breaks;
        self.row_step.is_fatal.next = is_fatal;
        self.row_step.gives_up.next = gives_up;
        self.row_step.loses.next = loses;
        self.row_step.lost_at.next = unread_payload.place;
        self.row_step.removes.next = removes;
        self.row_step.is_done.next = is_done;
        self.row_step.is_cause.next = is_cause;
        let changed = self.row_step.changed.val();
        self.note_opening(opens_row);
        // The window
        let advances = moves || takes_it;
        connect!(self.window, self.send_window.window);
        connect!(self.timers.time, self.send_window.time);
        self.send_window.pair.next = self.pair.q.val();
        self.send_window.mtu.next = send_row.mtu;
        self.send_window.oldest.next = changed.oldest;
        self.send_window.upcoming.next = changed.upcoming;
        self.send_window.top.next = changed.top;
        self.send_window.opens.next = opens_row;
        self.send_window.sent.next = sent;
        self.send_window.number.next = current_row.upcoming;
        self.send_window.fresh.next = current_row.upcoming == current_row.top;
        self.send_window.asks.next = asks || !is_put;
        self.send_window.moves.next = advances;
        self.send_window.loses.next = self.row_step.loses_some.val() && !rests;
        self.send_window.expires.next = repeats && !wakes;
        self.send_window.wakes.next = repeats;
        self.send_window.rests.next = rests;
        self.send_window.under_way.next = current_row.upcoming - current_row.oldest;

        self.number_first(current_row, behind, later, has_later, takes);
        // An answer goes on with the next command, and so does the end of commands; all else ends.
        let continues = passes || removes;
        self.table.read.next = reads || continues;
        self.table.read_place.next = entry_place;
        if continues {
            self.at.d.next = later;
            self.table.read_place.next = later;
        }
        if continues || expects {
            self.row.d.next = changed;
        }
        let ends = (works && !cuts && !continues && !expects) || transfers;
        if ends {
            self.step.d.next = RequestStep::Choose;
        }
        // What had no effect changes no row: that of a queue pair that was never up has none.
        let idles = (answers && !counts) || (faults && !loses) || (expires && !is_up);
        let writes = ends && !(posts && wrong.any()) && !idles;
        self.rows.write_enable.next = writes;
        self.rows.write_address.next = self.pair.q.val();
        always!(
            sequence_numbers_are_in_order,
            !writes || (changed.upcoming - changed.oldest <= changed.top - changed.oldest)
        );
        always!(no_command_leaves_an_empty_list, !removes || current_row.entries.any());
        self.rows.write_data.next = changed;
        let may_send = self.row_step.may_send.val() && self.send_window.may_send.val();
        let mut may_end = self.finishing.q.val();
        if writes {
            self.sendable.d.next = self.sendable.q.val().replace_bit(self.pair.q.val().index(), may_send);
            self.busy.d.next =
                self.busy.q.val().replace_bit(self.pair.q.val().index(), changed.entries.any());
            may_end = may_end.replace_bit(self.pair.q.val().index(), counts || responds || gets);
        }
        self.finishing.d.next = may_end;
        self.list();
        // The timer runs while a packet is without an answer.
        connect!(self.send_window.patience, self.timers.patience);
        self.timers.rest.next = rests;
        self.timers.rest_code.next = taken_reply.syndrome.get_bits::<5>(0);
        let stands = self.timers.runs.val().get_bit(self.pair.q.val().index());
        self.timers.pair.next = self.pair.q.val();
        self.timers.doublings.next = changed.retries.get_bits::<3>(0);
        let begins = (sent && !stands) || (advances && self.row_step.waits.val()) || repeats || rests;
        self.timers.start.next = begins && !breaks;
        self.timers.stop.next = breaks
            || (removes && is_down)
            || opens_row
            || (advances && !self.row_step.waits.val())
            || (expires && !is_up);
    }
}

#[cfg(test)]
#[path = "requester_tests.rs"]
mod tests;
