//! What sends commands, and repeats what is lost.

use super::request_choice::kind;
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
    /// Its context.
    pub completed_context: Signal<Out, Bits<2>>,
    /// Its index.
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
    /// Its payload goes to memory.
    pub lands: Signal<Out, Bit>,
    /// Its first byte goes there.
    pub land_address: Signal<Out, Bits<32>>,
    /// The payload of a response is in memory.
    pub got_valid: Signal<In, Bit>,
    /// The response is noted at this edge.
    pub got_ready: Signal<Out, Bit>,
    /// Its queue pair.
    pub got_pair: Signal<In, Bits<4>>,
    /// Its packet sequence number.
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
    /// Its number.
    pub send_pair: Signal<Out, Bits<4>>,
    /// The row.
    pub send: Signal<In, SendPair>,

    /// The region that is looked at.
    pub looks: Signal<Out, Bit>,
    /// Its number.
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
    /// Its headers.
    pub head: Signal<Out, FrameHead>,
    /// The frame has a payload.
    pub source_valid: Signal<Out, Bit>,
    /// Place of the payload.
    pub source: Signal<Out, PayloadSource>,
    /// A payload could not be read.
    pub fault_valid: Signal<In, Bit>,
    /// The fault is noted at this edge.
    pub fault_ready: Signal<Out, Bit>,
    /// Its packet.
    pub fault: Signal<In, PayloadFault>,
    /// Queue pairs of which payloads are being read or written.
    pub moving: Signal<In, Bits<16>>,

    /// A packet is sent again.
    pub resent: Signal<Out, Bit>,
    /// A timer expired.
    pub timed_out: Signal<Out, Bit>,
    /// An answer had no effect.
    pub stray: Signal<Out, Bit>,

    check: CommandCheck,
    say: AnswerStep,
    cut: PacketCut,
    allow: RegionCheck,
    #[init(WorkTable::new(owners_log2, entries))]
    table: WorkTable,
    timers: RetryTimers,
    flow: SendWindow,
    change: RowStep,
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
    what: Register<Bits<3>>,
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
        let opens_row = works && (self.what.q.val() == bits::<3>(kind::OPEN));
        let finishes = works && (self.what.q.val() == bits::<3>(kind::FINISH));
        let faults = works && (self.what.q.val() == bits::<3>(kind::FAULT));
        let gets = works && (self.what.q.val() == bits::<3>(kind::GOT));
        let answers = works && (self.what.q.val() == bits::<3>(kind::ANSWER));
        let expires = works && (self.what.q.val() == bits::<3>(kind::EXPIRE));
        let posts = works && (self.what.q.val() == bits::<3>(kind::POST));
        let cuts = works && (self.what.q.val() == bits::<3>(kind::SEND));
        let third = self.step.q.val() == RequestStep::Transfer;
        let transmits = third && (self.what.q.val() == bits::<3>(kind::SEND));
        let responds = third && (self.what.q.val() == bits::<3>(kind::ANSWER));

        self.accept();
        // What is next
        let left = self.busy.q.val() & self.errors.val() & !self.moving.val();
        self.choose(left);
        // The row, and the command that it is about
        self.rows.read_address.next = self.show_pair.val();
        if reads {
            self.rows.read_address.next = self.pair.q.val();
        }
        self.show_waits.next = reads;
        self.shown.next = self.rows.read_data.val();
        let stored = self.rows.read_data.val();
        let mut place = stored.oldest_at;
        if self.what.q.val() == bits::<3>(kind::SEND) {
            place = stored.cursor;
        }
        if self.what.q.val() == bits::<3>(kind::FINISH) {
            place = stored.head;
        }
        if reads {
            self.step.d.next = RequestStep::Work;
            self.row.d.next = stored;
            self.base.d.next = stored.oldest;
            self.base_up.d.next = self.ups.val().get_bit(self.pair.q.val().index());
            self.at.d.next = place;
        }
        self.table.at.next = self.at.q.val();
        let now = self.row.q.val();
        let entry = self.table.found.val();
        let first = self.table.first_found.val();
        let behind = first + bit_cast::<24, 23>(entry.packets);
        let later = self.table.next_place.val();
        let has_later = self.at.q.val() != now.tail;
        let is_up = self.ups.val().get_bit(self.pair.q.val().index());
        let its = self.send.val();
        self.sends.next = opens_row || posts || cuts || transmits || answers;
        self.send_pair.next = self.pair.q.val();

        // A command is posted.
        self.check_post(posts, transmits, responds, entry, its);
        let wrong = self.check.code.val();
        let takes = posts && !wrong.any();
        self.table.write.next = takes;
        self.table.entry.next = self.check.entry.val();
        // The last command of an empty list is gone, and another list may have its place.
        self.table.link.next = takes && now.entries.any();
        self.table.link_from.next = now.tail;
        self.table.link_to.next = self.table.free.val();
        if posts {
            self.posted.d.next = false;
        }

        // An answer: commands that it acknowledges are passed one after the other.
        self.say.row.next = now;
        self.say.origin.next = self.base.q.val();
        self.say.was_up.next = self.base_up.q.val();
        self.say.reply.next = self.reply.q.val();
        self.say.entry.next = entry;
        self.say.first.next = first;
        let counts = answers && self.say.counts.val();
        let passes = answers && self.say.passes.val();
        let settles = answers && self.say.settles.val();
        let expects = settles && self.say.expects.val() && is_up;
        let moves = settles && self.say.moved.val();
        let is_fatal = settles && self.say.fatal.val();
        let rests = settles && self.say.rests.val() && is_up;

        // A packet is cut: one that is sent, if its payload may still be read, or one whose
        // response came, if that may still be written.
        self.cut_packet(answers, cuts, now, entry, first, its, expects);
        let made = self.packet.q.val();
        let is_put = !entry.operation.any();
        self.allow_packet(entry, made, is_put);
        let is_gone = entry.memory && !self.allow.allowed.val();
        let sent = transmits && self.head_ready.val() && !is_gone && is_up;
        self.head_valid.next = sent;
        // If another frame took the queue meanwhile, it is still this one's turn.
        self.choice.advance.next = sent;
        // The packet that fills the window, or half of it, asks for an ACK.
        let asks = made.acknowledge || (is_put && self.flow.fills.val());
        self.offer(now, entry, its, made, is_put, sent, asks);
        self.resent.next = sent && (now.upcoming != now.top);

        // A response that is due: as long as it must be, of the right kind, and at its place in its
        // READ, which begins there if it was sent again. All but the middle ones have an AETH.
        let said = self.reply.q.val();
        let has_place = said.atomic || ((said.ends == made.part_ends) && (said.begins || !made.part_begins));
        let is_middle = !said.atomic && !said.begins && !said.ends;
        let is_right = (said.atomic == entry.operation.get_bit(1))
            && (said.bytes == made.bytes)
            && has_place
            && (is_middle || !said.syndrome.get_bits::<3>(5).any());
        let takes_it = responds && is_right && is_up && !is_gone;
        self.judged.next = responds || (answers && self.reply.q.val().response && !passes && !expects);
        self.lands.next = takes_it && entry.memory;
        self.land_address.next = made.address;
        self.table.keep.next = takes_it && !entry.memory;
        self.table.kept.next = self.say.value.val();
        self.stray.next = (answers && !counts)
            || (settles && self.reply.q.val().response && !expects)
            || (responds && !is_right);

        // What takes its queue pair down: the command that fails is the oldest one, or that of a
        // payload that could not be read, unless it was acknowledged meanwhile.
        let unread = self.broken.q.val();
        let is_under_way = (unread.sequence - now.oldest) < (now.top - now.oldest);
        let loses = faults && is_under_way && is_up;
        let gives_up = expires && is_up && (now.retries >= bit_cast::<4, 3>(self.retries.val()));
        let repeats = expires && is_up && !gives_up;
        let refuses = is_gone && is_up && (transmits || (responds && is_right));
        let breaks = is_fatal || gives_up || refuses || loses;
        let wakes = self.flow.is_resting.val();
        self.timed_out.next = expires && is_up && !wakes;
        self.fails.next = breaks;
        self.fails_pair.next = self.pair.q.val();

        // The oldest command leaves the list: it is done, or its queue pair is down.
        let mut is_here = !now.lost;
        if entry.memory {
            is_here = !(now.got - behind).get_bit(23);
        }
        let is_done = (now.entries != now.open) && (is_put || is_here);
        let is_down = left.get_bit(self.pair.q.val().index());
        let removes = finishes && now.entries.any() && (is_done || is_down);
        let is_cause = now.failed && (now.cause == self.at.q.val());
        self.complete(posts, now, entry, wrong, is_put, is_done, removes, is_cause);
        // What becomes of the row
        self.change.row.next = now;
        self.change.pair.next = its;
        self.change.at.next = self.at.q.val();
        self.change.is_put.next = is_put;
        self.change.behind.next = behind;
        self.change.later.next = later;
        self.change.has_later.next = has_later;
        self.change.packet.next = made;
        self.change.opens.next = opens_row;
        self.change.takes.next = takes;
        self.change.free.next = self.table.free.val();
        self.change.sent.next = sent;
        self.change.passes.next = passes;
        self.change.settles.next = settles;
        self.change.oldest.next = self.say.oldest.val();
        self.change.origin.next = self.base.q.val();
        self.change.moved.next = self.say.moved.val();
        self.change.gap.next = self.say.gap.val();
        self.change.naks.next = self.say.repeats.val() || self.say.rests.val();
        self.change.lands.next = takes_it;
        self.change.gets.next = gets;
        self.change.arrived.next = self.arrived.q.val();
        self.change.repeats.next = repeats;
        self.change.breaks.next = breaks;
        self.change.is_fatal.next = is_fatal;
        self.change.gives_up.next = gives_up;
        self.change.loses.next = loses;
        self.change.lost_at.next = unread.place;
        self.change.removes.next = removes;
        self.change.is_done.next = is_done;
        self.change.is_cause.next = is_cause;
        let changed = self.change.changed.val();
        self.note_opening(opens_row);
        // The window
        let advances = moves || takes_it;
        connect!(self.window, self.flow.window);
        connect!(self.timers.time, self.flow.time);
        self.flow.pair.next = self.pair.q.val();
        self.flow.mtu.next = its.mtu;
        self.flow.oldest.next = changed.oldest;
        self.flow.upcoming.next = changed.upcoming;
        self.flow.top.next = changed.top;
        self.flow.opens.next = opens_row;
        self.flow.sent.next = sent;
        self.flow.number.next = now.upcoming;
        self.flow.fresh.next = now.upcoming == now.top;
        self.flow.asks.next = asks || !is_put;
        self.flow.moves.next = advances;
        self.flow.loses.next = self.change.loses_some.val() && !rests;
        self.flow.expires.next = repeats && !wakes;
        self.flow.wakes.next = repeats;
        self.flow.rests.next = rests;
        self.flow.under_way.next = now.upcoming - now.oldest;

        self.number_first(now, behind, later, has_later, takes);
        // An answer goes on with the next command, and so does the end of commands; all else ends.
        let continues = passes || removes;
        self.table.read.next = reads || continues;
        self.table.read_place.next = place;
        if continues {
            self.at.d.next = later;
            self.table.read_place.next = later;
        }
        if continues || expects {
            self.row.d.next = changed;
        }
        let ends = (works && !cuts && !continues && !expects) || third;
        if ends {
            self.step.d.next = RequestStep::Choose;
        }
        // What had no effect changes no row: that of a queue pair that was never up has none.
        let idles = (answers && !counts) || (faults && !loses) || (expires && !is_up);
        let writes = ends && !(posts && wrong.any()) && !idles;
        self.rows.write_enable.next = writes;
        self.rows.write_address.next = self.pair.q.val();
        self.rows.write_data.next = changed;
        let may_send = self.change.may_send.val() && self.flow.may_send.val();
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
        connect!(self.flow.patience, self.timers.patience);
        self.timers.rest.next = rests;
        self.timers.rest_code.next = said.syndrome.get_bits::<5>(0);
        let stands = self.timers.runs.val().get_bit(self.pair.q.val().index());
        self.timers.pair.next = self.pair.q.val();
        self.timers.doublings.next = changed.retries.get_bits::<3>(0);
        let begins = (sent && !stands) || (advances && self.change.waits.val()) || repeats || rests;
        self.timers.start.next = begins && !breaks;
        self.timers.stop.next = breaks
            || (removes && is_down)
            || opens_row
            || (advances && !self.change.waits.val())
            || (expires && !is_up);
    }
}

#[cfg(test)]
#[path = "requester_tests.rs"]
mod tests;
