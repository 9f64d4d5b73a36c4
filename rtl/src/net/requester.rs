//! What sends commands, and repeats what is lost.

use super::{FrameHead, PeerAnswer, PutCheck, RequestRow, RetryTimers, SendPair, WorkTable};
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
}

/// Sends the packets of commands, and repeats those that are lost: go-back-N (InfiniBand Architecture Specification, volume 1, 9.7).
///
/// 1. A command is posted (`post`) while `has_room`, else it has no effect. It is checked ([`PutCheck`]), gets the next packet sequence numbers of its queue pair, and stands at
///    the end of its list.
/// 2. Of the queue pairs whose next packet is within `window` packets of the oldest that is not acknowledged, one in turn sends a packet, when
///    `head_ready` says that a frame can begin: `head_valid` is high for one cycle, with `head`, and the line of its payload follows. `wants`: one waits
///    for that.
/// 3. An answer is taken with `answer_valid` and `answer_ready`. An ACK of a packet that was sent and is not acknowledged acknowledges all up to it; a NAK all
///    before its packet, and that packet is the next to be sent (syndrome 0x60), or its command fails with 0x87 (0x61 to 0x63); other syndromes
///    acknowledge like a NAK. An answer of another packet has no effect (`stray`).
/// 4. A queue pair whose oldest packet stays without an answer for `timeout` cycles, twice as long after each time, sends again from it; after
///    `retries` times its oldest command fails with 0x86.
/// 5. `completed` is high for one cycle for each command, with its `completed_code` ([`code`]): at once if the check finds it wrong, else in the order
///    of its queue pair. One of those that fails takes its queue pair down (`fails`), whose other commands end with 0x88, as when the host takes it
///    down.
/// 6. `opens`: a queue pair goes up, and begins with the sequence number in its row. `listed` has a bit for each that has commands.
/// 7. `sends` with `send_pair`: the row of [`QueuePairs`](super::QueuePairs), one cycle at a time; `send` answers in the same cycle.
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
    /// Its queue pair.
    pub post_pair: Signal<In, Bits<4>>,
    /// Its words 0 to 7.
    pub post_command: Signal<In, Bits<256>>,
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

    /// A frame can begin.
    pub head_ready: Signal<In, Bit>,
    /// A frame is to be sent.
    pub head_valid: Signal<Out, Bit>,
    /// A packet waits to be sent.
    pub wants: Signal<Out, Bit>,
    /// Its headers.
    pub head: Signal<Out, FrameHead>,
    /// Its payload is here.
    pub line_valid: Signal<Out, Bit>,
    /// It is taken at this edge.
    pub line_ready: Signal<In, Bit>,
    /// The line.
    pub line_data: Signal<Out, Bits<512>>,

    /// A packet is sent again.
    pub resent: Signal<Out, Bit>,
    /// A timer expired.
    pub timed_out: Signal<Out, Bit>,
    /// An answer had no effect.
    pub stray: Signal<Out, Bit>,

    check: PutCheck,
    table: WorkTable,
    timers: RetryTimers,
    rows: RamAsync<RequestRow, 4>,
    turns: RoundRobin,
    urgent: PriorityEncoder,
    /// A command waits to be checked.
    posted: Register<Bit>,
    posted_pair: Register<Bits<4>>,
    posted_command: Register<Bits<256>>,
    /// Queue pairs whose row is to be begun.
    opening: Register<Bits<16>>,
    /// Queue pairs that have commands.
    busy: Register<Bits<16>>,
    /// Queue pairs whose next packet may be sent.
    sendable: Register<Bits<16>>,
    /// Its steps: 0 chooses, 1 reads, 2 works.
    step: Register<Bits<2>>,
    what: Register<Bits<3>>,
    pair: Register<Bits<4>>,
    reply: Register<PeerAnswer>,
    row: Register<RequestRow>,
    /// What becomes of it.
    changed: Signal<Local, RequestRow>,
    /// The oldest packet when an answer came, and whether its queue pair was up.
    base: Register<Bits<24>>,
    base_up: Register<Bit>,
    /// The command that was read.
    at: Register<Bits<3>>,
    line: Register<Bits<128>>,
    line_waits: Register<Bit>,
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
        let transmits = works && (self.what.q.val() == bits::<3>(kind::SEND));

        // Posts
        let accepts = !self.posted.q.val() && self.table.has_room.val();
        self.has_room.next = accepts;
        if self.post.val() && accepts {
            self.posted.d.next = true;
            self.posted_pair.d.next = self.post_pair.val();
            self.posted_command.d.next = self.post_command.val();
        }

        // What is next: rows that begin and those in ERROR, answers, time-outs, posts, packets.
        let left = self.busy.q.val() & self.errors.val();
        self.urgent.request.next = bit_cast::<32, 16>(self.opening.q.val() | left);
        self.turns.request.next =
            bit_cast::<32, 16>(self.sendable.q.val() & self.ups.val() & !self.opening.q.val());
        self.wants.next = self.turns.any.val();
        let ready = self.head_ready.val() && !self.line_waits.q.val();
        self.answer_ready.next = chooses && !self.urgent.one_hot.val().any();
        let mut chosen = bits::<4>(0);
        let mut chosen_kind = bits::<3>(kind::OPEN);
        let mut any = true;
        if self.urgent.one_hot.val().any() {
            chosen = self.urgent.index.val().get_bits::<4>(0);
            if !self.opening.q.val().get_bit(chosen.index()) {
                chosen_kind = bits::<3>(kind::FLUSH);
            }
        } else if self.answer_valid.val() {
            chosen = self.answer.val().pair;
            chosen_kind = bits::<3>(kind::ANSWER);
        } else if self.timers.expired.val() {
            chosen = self.timers.expired_pair.val();
            chosen_kind = bits::<3>(kind::EXPIRE);
        } else if self.posted.q.val() {
            chosen = self.posted_pair.q.val();
            chosen_kind = bits::<3>(kind::POST);
        } else if self.turns.any.val() && ready {
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
        }

        // The row, and the command that it is about
        self.rows.read_address.next = self.pair.q.val();
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
        self.changed.next = now;
        let mut ends = works;

        // A queue pair goes up.
        let its = self.send.val();
        self.sends.next = opens_row || posts || transmits;
        self.send_pair.next = self.pair.q.val();
        let mut waiting = self.opening.q.val();
        if opens_row {
            waiting = waiting.replace_bit(self.pair.q.val().index(), false);
            self.changed.next.oldest = its.sequence;
            self.changed.next.upcoming = its.sequence;
            self.changed.next.top = its.sequence;
            self.changed.next.end = its.sequence;
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
        let wrong = self.check.code.val();
        let takes = posts && !wrong.any();
        self.table.write.next = takes;
        self.table.entry.next = self.check.entry.val();
        self.table.first.next = now.end;
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
            if now.upcoming == now.end {
                self.changed.next.cursor = self.table.free.val();
            }
            self.changed.next.tail = self.table.free.val();
            self.changed.next.end = now.end + bit_cast::<24, 23>(self.check.entry.val().packets);
            self.changed.next.entries = now.entries + bits::<4>(1);
        }

        // A packet is sent: RETH with address, key, length.
        let address = its.base + bit_cast::<64, 32>(entry.offset);
        let sent = transmits && self.head_ready.val();
        self.head_valid.next = sent;
        // If an answer took the builder meanwhile, it is still this one's turn.
        self.turns.advance.next = sent;
        self.head.next.queue_pair = bit_cast::<5, 4>(self.pair.q.val());
        self.head.next.mac = its.mac;
        self.head.next.ip = its.ip;
        self.head.next.opcode = bits::<8>(0x0a);
        self.head.next.acknowledge = true;
        self.head.next.remote = its.remote;
        self.head.next.sequence = now.upcoming;
        self.head.next.extension = (bit_cast::<224, 64>(address) << 160)
            | (bit_cast::<224, 32>(its.key) << 128)
            | (bit_cast::<224, 5>(entry.bytes) << 96);
        self.head.next.extension_words = bits::<3>(4);
        self.head.next.bytes = bit_cast::<13, 5>(entry.bytes);
        let follows = now.upcoming + bits::<24>(1);
        self.resent.next = sent && (now.upcoming != now.top);
        if sent {
            self.changed.next.upcoming = follows;
            if now.upcoming == now.top {
                self.changed.next.top = follows;
            }
            if follows == behind {
                self.changed.next.cursor = later;
            }
            self.line.d.next = entry.data;
            self.line_waits.d.next = true;
        }
        self.line_valid.next = self.line_waits.q.val();
        self.line_data.next = bit_cast::<512, 128>(self.line.q.val());
        if self.line_waits.q.val() && self.line_ready.val() {
            self.line_waits.d.next = false;
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
        let gives_up = expires && (now.retries >= bit_cast::<4, 3>(self.retries.val()));
        let breaks = (settles && is_fatal) || gives_up;
        if settles {
            self.changed.next.oldest = target;
            if far.any() {
                self.changed.next.retries = bits::<4>(0);
            }
            if ((now.upcoming - origin) < far) || is_nak {
                self.changed.next.upcoming = target;
                self.changed.next.cursor = self.at.q.val();
            }
        }
        self.timed_out.next = expires;
        if expires && !gives_up {
            self.changed.next.retries = now.retries + bits::<4>(1);
            self.changed.next.upcoming = now.oldest;
            self.changed.next.cursor = now.head;
        }
        self.fails.next = breaks;
        self.fails_pair.next = self.pair.q.val();

        // The oldest command leaves the list.
        let drops = acknowledges || breaks || flushes;
        let removes = drops && now.entries.any();
        if removes {
            self.changed.next.head = later;
            self.changed.next.entries = now.entries - bits::<4>(1);
        }
        self.table.release.next = removes;
        self.completed.next = removes || (posts && wrong.any());
        self.completed_code.next = wrong;
        if acknowledges {
            self.completed_code.next = bits::<8>(code::DONE);
        }
        if settles {
            self.completed_code.next = bits::<8>(code::REMOTE);
        }
        if expires {
            self.completed_code.next = bits::<8>(code::RETRIES);
        }
        if flushes {
            self.completed_code.next = bits::<8>(code::DOWN);
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
        let writes = ends && !(posts && wrong.any()) && (!answers || counts);
        self.rows.write_enable.next = writes;
        self.rows.write_address.next = self.pair.q.val();
        self.rows.write_data.next = self.changed.val();
        let within =
            (self.changed.val().upcoming - self.changed.val().oldest) < bit_cast::<24, 6>(self.window.val());
        if writes {
            self.sendable.d.next = self.sendable.q.val().replace_bit(
                self.pair.q.val().index(),
                (self.changed.val().upcoming != self.changed.val().end) && within,
            );
            self.busy.d.next =
                self.busy.q.val().replace_bit(self.pair.q.val().index(), self.changed.val().entries.any());
        }
        let mut lists = self.busy.q.val() | self.opening.q.val();
        if self.posted.q.val() {
            lists = lists.replace_bit(self.posted_pair.q.val().index(), true);
        }
        self.listed.next = lists;

        // The timer runs while a packet is without an answer.
        let waits = self.changed.val().oldest != self.changed.val().top;
        let moves = settles && far.any();
        let stands = self.timers.runs.val().get_bit(self.pair.q.val().index());
        self.timers.pair.next = self.pair.q.val();
        self.timers.doublings.next = self.changed.val().retries.get_bits::<3>(0);
        let begins = (sent && !stands) || (moves && waits) || (expires && !gives_up);
        self.timers.start.next = begins && !breaks;
        self.timers.stop.next = breaks || flushes || opens_row || (moves && !waits);
    }
}

#[cfg(test)]
#[path = "requester_tests.rs"]
mod tests;
