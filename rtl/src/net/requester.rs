//! What sends commands, and repeats what is lost.

use super::{
    CommandCheck, CommandPacket, FrameHead, PacketCut, PayloadFault, PayloadSource, PeerAnswer,
    PostedCommand, Region, RegionCheck, RequestRow, RetryTimers, SendPair, WorkTable,
};
use crate::control::{PriorityEncoder, RoundRobin};
use crate::prelude::*;

/// What it does with a queue pair: see [`Requester`].
mod kind {
    pub const OPEN: u64 = 0;
    pub const ANSWER: u64 = 1;
    pub const EXPIRE: u64 = 2;
    pub const FLUSH: u64 = 3;
    pub const POST: u64 = 4;
    pub const SEND: u64 = 5;
    pub const FAULT: u64 = 6;
}

/// Codes of commands that are complete (compnet.md 2.2; docs/network.md).
pub mod code {
    /// It is done: its bytes are visible at the peer.
    pub const DONE: u64 = 0x01;
    /// It timed out too often.
    pub const RETRIES: u64 = 0x86;
    /// The peer refused it.
    pub const REMOTE: u64 = 0x87;
    /// Its queue pair is not up, or was left by an error.
    pub const DOWN: u64 = 0x88;
    /// Its bytes could not be read, or their region is gone.
    pub const LOCAL: u64 = 0x89;
}

/// Sends the packets of commands, and repeats those that are lost: go-back-N (InfiniBand Architecture Specification, volume 1, 9.7).
///
/// 1. A command is posted (`post`) while `has_room`, else it has no effect. It is checked ([`CommandCheck`]), and stands at the end of the list of its
///    queue pair.
/// 2. Of the queue pairs whose next packet is within `window` packets of the oldest that is not acknowledged, one in turn sends a packet
///    ([`PacketCut`]), when `head_ready` says that there is room for a frame: `head_valid` is high for one cycle, with `head`, and `source`, where its
///    payload stands. `wants`: one waits for that. A command gets its packet sequence numbers when those before it were sent.
/// 3. An answer is taken with `answer_valid` and `answer_ready`. An ACK of a packet that was sent and is not acknowledged acknowledges all up to it; a NAK all
///    before its packet, and that packet is the next to be sent (syndrome 0x60), or its command fails with 0x87 (0x61 to 0x63); other syndromes
///    acknowledge like a NAK. An answer of another packet has no effect (`stray`).
/// 4. A queue pair whose oldest packet stays without an answer for `timeout` cycles, twice as long after each time, sends again from it; after
///    `retries` times its oldest command fails with 0x86.
/// 5. Before each packet the region of its payload is checked once more. If it may not be read any more, or `fault` tells that the payload could not
///    be read, the command fails with 0x89.
/// 6. `completed` is high for one cycle for each command, with its `completed_code` ([`code`]): at once if the check finds it wrong, else in the order
///    of its queue pair. One that fails later takes its queue pair down (`fails`). The commands of a queue pair in ERROR end when none of its
///    payloads is being read (`reading`), that one with its code, the others with 0x88.
/// 7. `opens`: a queue pair goes up, and begins with the sequence number in its row. `listed` has a bit for each that has commands.
/// 8. `sends` with `send_pair`: the row of [`QueuePairs`](super::QueuePairs), one cycle at a time; `send` answers in the same cycle, and so does
///    `region` to `looks` with `region_index`, a row of [`RegionTable`](super::RegionTable).
/// 9. `shown` answers `show_pair` in the same cycle unless `show_waits`.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct Requester {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Packets that a queue pair may have sent without an answer: 1 to 32.
    pub window: Signal<In, Bits<6>>,
    /// Cycles without an answer until packets are sent again.
    pub timeout: Signal<In, Bits<24>>,
    /// Time-outs in a row after which a command fails.
    pub retries: Signal<In, Bits<3>>,

    /// A command is posted.
    pub post: Signal<In, Bit>,
    /// It.
    pub post_command: Signal<In, PostedCommand>,
    /// There is room for it.
    pub has_room: Signal<Out, Bit>,
    /// A command is complete.
    pub completed: Signal<Out, Bit>,
    /// How.
    pub completed_code: Signal<Out, Bits<8>>,

    /// An answer came.
    pub answer_valid: Signal<In, Bit>,
    /// It is taken at this edge.
    pub answer_ready: Signal<Out, Bit>,
    /// It.
    pub answer: Signal<In, PeerAnswer>,

    /// A queue pair goes up.
    pub opens: Signal<In, Bit>,
    /// Which one.
    pub opens_pair: Signal<In, Bits<4>>,
    /// Queue pairs that are up.
    pub ups: Signal<In, Bits<16>>,
    /// Queue pairs in ERROR.
    pub errors: Signal<In, Bits<16>>,
    /// A queue pair fails.
    pub fails: Signal<Out, Bit>,
    /// Which one.
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
    /// It.
    pub region: Signal<In, Region>,
    /// The host looks at this queue pair.
    pub show_pair: Signal<In, Bits<4>>,
    /// It waits.
    pub show_waits: Signal<Out, Bit>,
    /// What it sees.
    pub shown: Signal<Out, RequestRow>,

    /// There is room for a frame.
    pub head_ready: Signal<In, Bit>,
    /// A frame is to be sent.
    pub head_valid: Signal<Out, Bit>,
    /// A packet waits to be sent.
    pub wants: Signal<Out, Bit>,
    /// Its headers.
    pub head: Signal<Out, FrameHead>,
    /// Where its payload stands.
    pub source: Signal<Out, PayloadSource>,
    /// A payload could not be read.
    pub fault_valid: Signal<In, Bit>,
    /// It is noted at this edge.
    pub fault_ready: Signal<Out, Bit>,
    /// Its packet.
    pub fault: Signal<In, PayloadFault>,
    /// Queue pairs of which payloads are being read.
    pub reading: Signal<In, Bits<16>>,

    /// A packet is sent again.
    pub resent: Signal<Out, Bit>,
    /// A timer expired.
    pub timed_out: Signal<Out, Bit>,
    /// An answer had no effect.
    pub stray: Signal<Out, Bit>,

    check: CommandCheck,
    cut: PacketCut,
    allow: RegionCheck,
    table: WorkTable,
    timers: RetryTimers,
    rows: RamAsync<RequestRow, 4>,
    turns: RoundRobin,
    urgent: PriorityEncoder,
    /// A command waits to be checked.
    posted: Register<Bit>,
    posted_command: Register<PostedCommand>,
    /// Queue pairs whose row is to be begun.
    opening: Register<Bits<16>>,
    /// Queue pairs that have commands.
    busy: Register<Bits<16>>,
    /// Queue pairs whose next packet may be sent.
    sendable: Register<Bits<16>>,
    /// Its steps: 0 chooses, 1 reads, 2 works; a packet is cut in 2, and sent in 3.
    step: Register<Bits<2>>,
    what: Register<Bits<3>>,
    pair: Register<Bits<4>>,
    reply: Register<PeerAnswer>,
    broken: Register<PayloadFault>,
    packet: Register<CommandPacket>,
    row: Register<RequestRow>,
    /// What becomes of it.
    changed: Signal<Local, RequestRow>,
    /// The oldest packet when an answer came, and whether its queue pair was up.
    base: Register<Bits<24>>,
    base_up: Register<Bit>,
    /// The command that was read.
    at: Register<Bits<3>>,
}

impl Logic for Requester {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.timeout, self.timers.timeout);
        let chooses = !self.step.q.val().any();
        let reads = self.step.q.val() == bits::<2>(1);
        let works = self.step.q.val() == bits::<2>(2);
        let opens_row = works && (self.what.q.val() == bits::<3>(kind::OPEN));
        let answers = works && (self.what.q.val() == bits::<3>(kind::ANSWER));
        let expires = works && (self.what.q.val() == bits::<3>(kind::EXPIRE));
        let flushes = works && (self.what.q.val() == bits::<3>(kind::FLUSH));
        let posts = works && (self.what.q.val() == bits::<3>(kind::POST));
        let faults = works && (self.what.q.val() == bits::<3>(kind::FAULT));
        let cuts = works && (self.what.q.val() == bits::<3>(kind::SEND));
        let transmits = self.step.q.val() == bits::<2>(3);

        // Posts
        let accepts = !self.posted.q.val() && self.table.has_room.val();
        self.has_room.next = accepts;
        if self.post.val() && accepts {
            self.posted.d.next = true;
            self.posted_command.d.next = self.post_command.val();
        }

        // What is next: rows that begin and those in ERROR, faults, answers, time-outs, posts, packets.
        let left = self.busy.q.val() & self.errors.val() & !self.reading.val();
        self.urgent.request.next = bit_cast::<32, 16>(self.opening.q.val() | left);
        self.turns.request.next =
            bit_cast::<32, 16>(self.sendable.q.val() & self.ups.val() & !self.opening.q.val());
        self.wants.next = self.turns.any.val();
        self.fault_ready.next = chooses && !self.urgent.one_hot.val().any();
        self.answer_ready.next = chooses && !self.urgent.one_hot.val().any() && !self.fault_valid.val();
        let mut chosen = bits::<4>(0);
        let mut chosen_kind = bits::<3>(kind::OPEN);
        let mut any = true;
        if self.urgent.one_hot.val().any() {
            chosen = self.urgent.index.val().get_bits::<4>(0);
            if !self.opening.q.val().get_bit(chosen.index()) {
                chosen_kind = bits::<3>(kind::FLUSH);
            }
        } else if self.fault_valid.val() {
            chosen = self.fault.val().pair;
            chosen_kind = bits::<3>(kind::FAULT);
        } else if self.answer_valid.val() {
            chosen = self.answer.val().pair;
            chosen_kind = bits::<3>(kind::ANSWER);
        } else if self.timers.expired.val() {
            chosen = self.timers.expired_pair.val();
            chosen_kind = bits::<3>(kind::EXPIRE);
        } else if self.posted.q.val() {
            chosen = self.posted_command.q.val().pair;
            chosen_kind = bits::<3>(kind::POST);
        } else if self.turns.any.val() && self.head_ready.val() {
            chosen = self.turns.index.val().get_bits::<4>(0);
            chosen_kind = bits::<3>(kind::SEND);
        } else {
            any = false;
        }
        if chooses && any {
            self.step.d.next = bits::<2>(1);
            self.what.d.next = chosen_kind;
            self.pair.d.next = chosen;
            self.reply.d.next = self.answer.val();
            self.broken.d.next = self.fault.val();
        }

        // The row, and the command that it is about
        self.rows.read_address.next = self.show_pair.val();
        if reads {
            self.rows.read_address.next = self.pair.q.val();
        }
        self.show_waits.next = reads;
        self.shown.next = self.rows.read_data.val();
        let stored = self.rows.read_data.val();
        let mut place = stored.head;
        if self.what.q.val() == bits::<3>(kind::SEND) {
            place = stored.cursor;
        }
        if reads {
            self.step.d.next = bits::<2>(2);
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
        self.changed.next = now;
        let mut ends = (works && !cuts) || transmits;

        // A queue pair goes up.
        let its = self.send.val();
        self.sends.next = opens_row || posts || cuts || transmits;
        self.send_pair.next = self.pair.q.val();
        let mut waiting = self.opening.q.val();
        if opens_row {
            waiting = waiting.replace_bit(self.pair.q.val().index(), false);
            self.changed.next.oldest = its.sequence;
            self.changed.next.upcoming = its.sequence;
            self.changed.next.top = its.sequence;
            self.changed.next.more = false;
            self.changed.next.failed = false;
            self.changed.next.entries = bits::<4>(0);
            self.changed.next.retries = bits::<4>(0);
        }
        if self.opens.val() {
            waiting = waiting.replace_bit(self.opens_pair.val().index(), true);
        }
        self.opening.d.next = waiting;

        // A command is posted.
        self.check.command.next = self.posted_command.q.val();
        self.check.pair.next = its;
        // One that just goes up has no row yet: the command was posted before.
        self.check.pair.next.up = its.up && !self.opening.q.val().get_bit(self.pair.q.val().index());
        self.check.region.next = self.region.val();
        self.looks.next = posts || transmits;
        self.region_index.next = entry.region;
        if posts {
            self.region_index.next = self.posted_command.q.val().region;
        }
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
        if takes {
            if !now.entries.any() {
                self.changed.next.head = self.table.free.val();
            }
            if !now.more {
                self.changed.next.cursor = self.table.free.val();
            }
            self.changed.next.tail = self.table.free.val();
            self.changed.next.more = true;
            self.changed.next.entries = now.entries + bits::<4>(1);
        }

        // A packet is cut, and sent if its payload may still be read.
        self.cut.entry.next = entry;
        self.cut.number.next = now.upcoming - first;
        self.cut.mtu.next = its.mtu;
        self.cut.base.next = its.base;
        self.cut.key.next = its.key;
        if cuts {
            self.step.d.next = bits::<2>(3);
            self.packet.d.next = self.cut.packet.val();
        }
        let made = self.packet.q.val();
        self.allow.region.next = self.region.val();
        self.allow.domain.next = entry.domain;
        self.allow.rights.next = bits::<5>(8);
        self.allow.address.next = made.address;
        self.allow.bytes.next = bit_cast::<32, 13>(made.bytes);
        let is_gone = entry.memory && !self.allow.allowed.val();
        let is_up = self.ups.val().get_bit(self.pair.q.val().index());
        let refuses = transmits && is_gone && is_up;
        let sent = transmits && self.head_ready.val() && !is_gone && is_up;
        self.head_valid.next = sent;
        // If an answer took the builder meanwhile, it is still this one's turn.
        self.turns.advance.next = sent;
        self.head.next.queue_pair = bit_cast::<5, 4>(self.pair.q.val());
        self.head.next.mac = its.mac;
        self.head.next.ip = its.ip;
        self.head.next.opcode = made.opcode;
        self.head.next.acknowledge = made.acknowledge;
        self.head.next.remote = its.remote;
        self.head.next.sequence = now.upcoming;
        self.head.next.extension = made.extension;
        self.head.next.extension_words = made.extension_words;
        self.head.next.bytes = made.bytes;
        self.source.next.memory = entry.memory;
        self.source.next.data = entry.data;
        if entry.memory {
            self.source.next.data = bit_cast::<128, 32>(made.address);
        }
        self.source.next.bytes = made.bytes;
        self.source.next.pair = self.pair.q.val();
        self.source.next.sequence = now.upcoming;
        self.source.next.place = self.at.q.val();
        let follows = now.upcoming + bits::<24>(1);
        self.resent.next = sent && (now.upcoming != now.top);
        if sent {
            self.changed.next.upcoming = follows;
            if now.upcoming == now.top {
                self.changed.next.top = follows;
            }
            if made.last {
                self.changed.next.cursor = later;
                self.changed.next.more = has_later;
            }
        }

        // An answer: commands that it acknowledges are complete one after the other.
        let said = self.reply.q.val();
        let is_ack = !said.syndrome.get_bits::<3>(5).any();
        let is_nak = said.syndrome.get_bits::<3>(5) == bits::<3>(3);
        let is_fatal = is_nak && said.syndrome.get_bits::<5>(0).any();
        let origin = self.base.q.val();
        let covers = (said.sequence - origin) < (now.top - origin);
        // One that goes down meanwhile does not cut it short: commands of it may be complete.
        let counts = answers && covers && self.base_up.q.val();
        self.stray.next = answers && !counts;
        let mut target = said.sequence;
        if is_ack {
            target = said.sequence + bits::<24>(1);
        }
        let far = target - origin;
        let acknowledges = counts && now.entries.any() && ((behind - origin) <= far);
        let settles = counts && !acknowledges;
        let gives_up = expires && is_up && (now.retries >= bit_cast::<4, 3>(self.retries.val()));
        let repeats = expires && is_up && !gives_up;
        if settles {
            self.changed.next.oldest = target;
            if far.any() {
                self.changed.next.retries = bits::<4>(0);
            }
            if ((now.upcoming - origin) < far) || is_nak {
                self.changed.next.upcoming = target;
                self.changed.next.cursor = self.at.q.val();
                self.changed.next.more = now.entries.any();
            }
        }
        self.timed_out.next = expires && is_up;
        if repeats {
            self.changed.next.retries = now.retries + bits::<4>(1);
            self.changed.next.upcoming = now.oldest;
            self.changed.next.cursor = now.head;
            self.changed.next.more = true;
        }

        // What takes its queue pair down: the command that fails is the oldest one, or that of a payload that could not be read, unless it was
        // acknowledged meanwhile.
        let unread = self.broken.q.val();
        let is_under_way = (unread.sequence - now.oldest) < (now.top - now.oldest);
        let loses = faults && is_under_way && is_up;
        let refused_there = settles && is_fatal;
        let breaks = refused_there || gives_up || refuses || loses;
        self.fails.next = breaks;
        self.fails_pair.next = self.pair.q.val();
        if breaks {
            self.changed.next.failed = true;
            self.changed.next.cause = self.at.q.val();
            self.changed.next.code = bits::<8>(code::LOCAL);
        }
        if loses {
            self.changed.next.cause = unread.place;
        }
        if refused_there {
            self.changed.next.code = bits::<8>(code::REMOTE);
        }
        if gives_up {
            self.changed.next.code = bits::<8>(code::RETRIES);
        }

        // The oldest command leaves the list; the next one begins behind it.
        let removes = (acknowledges || flushes) && now.entries.any();
        let is_cause = now.failed && (now.cause == self.at.q.val());
        if removes {
            self.changed.next.head = later;
            self.changed.next.entries = now.entries - bits::<4>(1);
            if is_cause {
                self.changed.next.failed = false;
            }
        }
        self.table.release.next = removes;
        self.completed.next = removes || (posts && wrong.any());
        self.completed_code.next = wrong;
        if acknowledges {
            self.completed_code.next = bits::<8>(code::DONE);
        }
        if flushes {
            self.completed_code.next = bits::<8>(code::DOWN);
            if is_cause {
                self.completed_code.next = now.code;
            }
        }
        // Its first packet: behind those of the command before, or the next one of all.
        let passes_on = (sent && made.last) || acknowledges;
        self.table.begin.next = (takes && !now.more) || (passes_on && has_later);
        self.table.begin_place.next = later;
        self.table.first.next = behind;
        if takes {
            self.table.begin_place.next = self.table.free.val();
            self.table.first.next = now.upcoming;
        }

        // An answer goes on with the next command; the others end.
        self.table.read.next = reads || acknowledges;
        self.table.read_place.next = place;
        if acknowledges {
            ends = false;
            self.row.d.next = self.changed.val();
            self.at.d.next = later;
            self.table.read_place.next = later;
        }
        if ends {
            self.step.d.next = bits::<2>(0);
        }
        // What had no effect changes no row: that of a queue pair that was never up has none.
        let idles = (answers && !counts) || (faults && !loses) || (expires && !is_up);
        let writes = ends && !(posts && wrong.any()) && !idles;
        self.rows.write_enable.next = writes;
        self.rows.write_address.next = self.pair.q.val();
        self.rows.write_data.next = self.changed.val();
        let within =
            (self.changed.val().upcoming - self.changed.val().oldest) < bit_cast::<24, 6>(self.window.val());
        if writes {
            self.sendable.d.next = self
                .sendable
                .q
                .val()
                .replace_bit(self.pair.q.val().index(), self.changed.val().more && within);
            self.busy.d.next =
                self.busy.q.val().replace_bit(self.pair.q.val().index(), self.changed.val().entries.any());
        }
        let mut lists = self.busy.q.val() | self.opening.q.val();
        if self.posted.q.val() {
            lists = lists.replace_bit(self.posted_command.q.val().pair.index(), true);
        }
        self.listed.next = lists;

        // The timer runs while a packet is without an answer.
        let waits = self.changed.val().oldest != self.changed.val().top;
        let moves = settles && far.any();
        let stands = self.timers.runs.val().get_bit(self.pair.q.val().index());
        self.timers.pair.next = self.pair.q.val();
        self.timers.doublings.next = self.changed.val().retries.get_bits::<3>(0);
        let begins = (sent && !stands) || (moves && waits) || repeats;
        self.timers.start.next = begins && !breaks;
        self.timers.stop.next = breaks || flushes || opens_row || (moves && !waits) || (expires && !is_up);
    }
}

#[cfg(test)]
#[path = "requester_tests.rs"]
mod tests;
