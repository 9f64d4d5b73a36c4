//! What a step of the sender makes of a queue pair's row.

use super::{code, CommandPacket, RequestRow, SendPair};
use hermes_hdl::prelude::*;

/// The row of a queue pair after a step of [`Requester`](super::Requester), in the same cycle.
///
/// 1. The steps are `opens`, `takes`, `sent`, `passes`, `settles`, `lands`, `gets`, `repeats`,
///    `breaks` and `removes`. At most one is high, but that `settles` may come with `breaks`.
///    Without a step the row stays.
/// 2. Packets are sent again from the oldest one on after a time-out (`repeats`), after an answer
///    that is a NAK of a lost packet (`naks`), and after one that tells that a response was lost
///    (`gap`), but not a second time before the oldest packet has moved; and after an RNR NAK,
///    which is one of `naks`, too. If an answer acknowledges
///    packets that are to be sent again, sending goes on behind them.
/// 3. `breaks`: the queue pair fails. The code of the command `at` is that of a time-out with
///    `gives_up`, of a refusal with `is_fatal`, else that of bytes that cannot be read or written;
///    with `loses` it is that of the command `lost_at`.
/// 4. `loses_some`: an answer tells of a loss.
/// 5. `moves_on`: the next packet to send or to be answered is the first one of the next command.
#[derive(Clone, Default, LogicBlock)]
pub struct RowStep {
    /// The row before.
    pub row: Signal<In, RequestRow>,
    /// The queue pair.
    pub pair: Signal<In, SendPair>,
    /// Place of the command that is looked at.
    pub at: Signal<In, Bits<12>>,
    /// The command is a PUT.
    pub is_put: Signal<In, Bit>,
    /// Number of the packet behind its last.
    pub behind: Signal<In, Bits<24>>,
    /// Place of the command behind it.
    pub later: Signal<In, Bits<12>>,
    /// There is such a command.
    pub has_later: Signal<In, Bit>,
    /// The packet of it that is sent, or whose response came.
    pub packet: Signal<In, CommandPacket>,

    /// The queue pair goes up.
    pub opens: Signal<In, Bit>,
    /// A command is added, at the end.
    pub takes: Signal<In, Bit>,
    /// Place of the command that is added.
    pub free: Signal<In, Bits<12>>,
    /// The packet is sent.
    pub sent: Signal<In, Bit>,
    /// The command is acknowledged.
    pub passes: Signal<In, Bit>,
    /// An answer acknowledges what is before `oldest`.
    pub settles: Signal<In, Bit>,
    /// The oldest packet that is not acknowledged then.
    pub oldest: Signal<In, Bits<24>>,
    /// The oldest packet when the answer came.
    pub origin: Signal<In, Bits<24>>,
    /// The two differ.
    pub moved: Signal<In, Bit>,
    /// The answer tells that a response was lost.
    pub gap: Signal<In, Bit>,
    /// The answer is a NAK of a lost packet.
    pub naks: Signal<In, Bit>,
    /// The response of the oldest packet is taken.
    pub lands: Signal<In, Bit>,
    /// A response is in memory.
    pub gets: Signal<In, Bit>,
    /// Packet of the response.
    pub arrived: Signal<In, Bits<24>>,
    /// The timer expired.
    pub repeats: Signal<In, Bit>,
    /// The queue pair fails.
    pub breaks: Signal<In, Bit>,
    /// The peer refused a packet.
    pub is_fatal: Signal<In, Bit>,
    /// The command timed out too often.
    pub gives_up: Signal<In, Bit>,
    /// A payload could not be read.
    pub loses: Signal<In, Bit>,
    /// Place of its command.
    pub lost_at: Signal<In, Bits<12>>,
    /// The oldest command ends.
    pub removes: Signal<In, Bit>,
    /// The command is done.
    pub is_done: Signal<In, Bit>,
    /// The command is the one that failed.
    pub is_cause: Signal<In, Bit>,

    /// The row after.
    pub changed: Signal<Out, RequestRow>,
    /// An answer tells of a loss.
    pub loses_some: Signal<Out, Bit>,
    /// The next packet to send or to be answered is the first one of the next command.
    pub moves_on: Signal<Out, Bit>,
    /// There is a next packet that may be sent, as far as the window permits it.
    pub may_send: Signal<Out, Bit>,
    /// A packet is without an answer.
    pub waits: Signal<Out, Bit>,
    after: Signal<Local, RequestRow>,
}

impl Logic for RowStep {
    #[hdl_gen]
    fn update(&mut self) {
        let current_row = self.row.val();
        let prepared_packet = self.packet.val();
        let start = self.origin.val();
        let moves = self.settles.val() && self.moved.val();
        let is_gap = self.settles.val() && self.gap.val();
        let falls_back = (self.settles.val() && self.naks.val()) || (is_gap && (moves || !current_row.gap));
        let catches_up = self.settles.val() && ((current_row.upcoming - start) < (self.oldest.val() - start));
        let follows = current_row.upcoming + bit_cast::<24, 4>(prepared_packet.numbers);
        let next_oldest = current_row.oldest + bits::<24>(1);
        let is_its_last = next_oldest == self.behind.val();

        self.after.next = current_row;
        if self.opens.val() {
            self.after.next.oldest = self.pair.val().sequence;
            self.after.next.upcoming = self.pair.val().sequence;
            self.after.next.top = self.pair.val().sequence;
            self.after.next.got = self.pair.val().sequence;
            self.after.next.depth = self.pair.val().depth;
            self.after.next.reads = bits::<5>(0);
            self.after.next.gap = false;
            self.after.next.lost = false;
            self.after.next.more = false;
            self.after.next.failed = false;
            self.after.next.entries = bits::<13>(0);
            self.after.next.open = bits::<13>(0);
            self.after.next.retries = bits::<4>(0);
        }
        if self.takes.val() {
            if !current_row.entries.any() {
                self.after.next.head = self.free.val();
            }
            if !current_row.open.any() {
                self.after.next.oldest_at = self.free.val();
            }
            if !current_row.more {
                self.after.next.cursor = self.free.val();
            }
            self.after.next.tail = self.free.val();
            self.after.next.more = true;
            self.after.next.entries = current_row.entries + bits::<13>(1);
            self.after.next.open = current_row.open + bits::<13>(1);
        }
        if self.sent.val() {
            self.after.next.upcoming = follows;
            if current_row.upcoming == current_row.top {
                self.after.next.top = follows;
            }
            if !self.is_put.val() {
                self.after.next.reads = current_row.reads + bits::<5>(1);
            }
            if prepared_packet.last {
                self.after.next.cursor = self.later.val();
                self.after.next.more = self.has_later.val();
            }
        }
        if self.passes.val() {
            self.after.next.oldest = self.behind.val();
            self.after.next.oldest_at = self.later.val();
            self.after.next.open = current_row.open - bits::<13>(1);
            if !self.is_put.val() {
                self.after.next.lost = true;
            }
        }
        if self.settles.val() {
            self.after.next.oldest = self.oldest.val();
        }
        if moves {
            self.after.next.retries = bits::<4>(0);
            self.after.next.gap = false;
        }
        if falls_back || catches_up {
            self.after.next.upcoming = self.oldest.val();
            self.after.next.cursor = self.at.val();
            self.after.next.more = current_row.open.any();
            self.after.next.reads = bits::<5>(0);
        }
        if falls_back && is_gap {
            self.after.next.gap = true;
        }
        if self.lands.val() {
            self.after.next.oldest = next_oldest;
            self.after.next.retries = bits::<4>(0);
            self.after.next.gap = false;
            if is_its_last {
                self.after.next.oldest_at = self.later.val();
                self.after.next.open = current_row.open - bits::<13>(1);
            }
            if current_row.upcoming == current_row.oldest {
                self.after.next.upcoming = next_oldest;
                if is_its_last {
                    self.after.next.cursor = self.later.val();
                    self.after.next.more = self.has_later.val();
                }
            } else if prepared_packet.part_ends && current_row.reads.any() {
                self.after.next.reads = current_row.reads - bits::<5>(1);
            }
        }
        if self.gets.val() {
            self.after.next.got = self.arrived.val() + bits::<24>(1);
        }
        if self.repeats.val() {
            self.after.next.retries = current_row.retries + bits::<4>(1);
            self.after.next.upcoming = current_row.oldest;
            self.after.next.cursor = current_row.oldest_at;
            self.after.next.more = true;
            self.after.next.gap = false;
            self.after.next.reads = bits::<5>(0);
        }
        if self.breaks.val() {
            self.after.next.failed = true;
            self.after.next.cause = self.at.val();
            self.after.next.code = bits::<8>(code::LOCAL);
        }
        if self.loses.val() {
            self.after.next.cause = self.lost_at.val();
        }
        if self.is_fatal.val() {
            self.after.next.code = bits::<8>(code::REMOTE);
        }
        if self.gives_up.val() {
            self.after.next.code = bits::<8>(code::RETRIES);
        }
        if self.removes.val() {
            self.after.next.head = self.later.val();
            self.after.next.entries = current_row.entries - bits::<13>(1);
            if current_row.entries == current_row.open {
                self.after.next.open = current_row.open - bits::<13>(1);
            }
            if self.is_cause.val() {
                self.after.next.failed = false;
            }
            // All before it is in memory.
            if self.is_done.val() && (current_row.got - self.behind.val()).get_bit(23) {
                self.after.next.got = self.behind.val();
            }
        }

        self.loses_some.next = falls_back;
        self.changed.next = self.after.val();
        self.moves_on.next = (self.sent.val() && prepared_packet.last)
            || self.passes.val()
            || (self.lands.val() && is_its_last);
        let has_depth = self.after.val().reads < self.after.val().depth;
        self.may_send.next = self.after.val().more && has_depth;
        self.waits.next = self.after.val().oldest != self.after.val().top;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::settle;
    use rand::Rng;

    /// Commands without responses take `got` along: numbers count modulo 2^24, so that after 2^23
    /// packets of them a response that is not in memory would look like one that is.
    #[test]
    fn what_got_there_follows_commands_without_responses() {
        let mut rng = random("row_step");
        let mut uut = RowStep::default();
        let mut row =
            RequestRow { entries: bits(9), got: bits(rng.gen_range(0..1 << 24)), ..Default::default() };
        let (mut behind, mut packets) = (row.got.to_u64(), 0u64);
        while packets < 1 << 26 {
            let more = rng.gen_range(1..1 << 22);
            packets += more;
            behind = (behind + more) & 0xff_ffff;
            row.entries = bits(9);
            uut.row.next = row;
            uut.behind.next = bits(behind);
            uut.removes.next = true;
            uut.is_done.next = true;
            settle(&mut uut);
            row = uut.changed.val();
            assert_eq!(row.got.to_u64(), behind, "after {packets} packets");
        }
        // One that failed takes it nowhere, nor one whose packets are behind what got there.
        for (is_done, distance) in [(false, 5), (true, 0xff_fff0)] {
            uut.row.next = row;
            uut.behind.next = bits((behind + distance) & 0xff_ffff);
            uut.is_done.next = is_done;
            settle(&mut uut);
            assert_eq!(uut.changed.val().got, row.got);
        }
    }

    /// A response that is in memory is the last one that is, whatever was before.
    #[test]
    fn a_response_takes_got_behind_it() {
        let mut uut = RowStep::default();
        uut.row.next = RequestRow { got: bits(7), ..Default::default() };
        uut.gets.next = true;
        for arrived in [0u64, 7, 0x7f_ffff, 0x80_0000, 0xff_ffff] {
            uut.arrived.next = bits(arrived);
            settle(&mut uut);
            assert_eq!(uut.changed.val().got.to_u64(), (arrived + 1) & 0xff_ffff);
        }
    }
}
