//! How many packets of a queue pair may be without an answer.

use hermes_hdl::prelude::*;

/// Packets that a queue pair may have sent without an answer, in the largest window.
pub const MOST_PACKETS: u64 = 32;

/// What the sender knows of the way to a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct WindowRow {
    /// Packets that may be without an answer, 1 to 32.
    pub allowed: Bits<6>,
    /// So many were, since a round trip was measured last.
    pub filled: Bit,
    /// The last packet that was sent asks for an answer.
    pub asks: Bit,
    /// The peer is not ready: nothing is sent until the timer expires.
    pub rests: Bit,
    /// A round trip is measured: that of packet `timed`, which was sent at `since`.
    pub timing: Bit,
    /// Number of that packet.
    pub timed: Bits<24>,
    /// Time at which that packet was sent.
    pub since: Bits<24>,
    /// Cycles of the shortest round trip.
    pub least: Bits<24>,
    /// Cycles of the last round trip.
    pub trip: Bits<24>,
    /// No loss was told so far.
    pub quick: Bit,
    /// The window was halved, and the packets that were sent before are not all answered.
    pub recovers: Bit,
    /// Behind the last one of these.
    pub mark: Bits<24>,
}

/// The congestion window of each queue pair: how many of its packets may be without an answer, from
/// 1 to `window`.
///
/// 1. It begins with 4 KiB of packets of the MTU. A loss halves it (`loses`), but not below 8 KiB,
///    which is what a way of 600 cycles holds, and not a second time until what was sent before is
///    answered; a time-out halves it each time, down to one packet (`expires`).
/// 2. The round trip of one packet at a time is measured, of one that was not sent before and asks
///    for an answer. If it is shorter than 1.5 times the shortest, nothing waits in the network,
///    and the window doubles, or behind the first loss grows by a quarter; up to the shortest and
///    3,072 cycles it grows by one packet; if it is longer it shrinks by a quarter. It grows only
///    if it was filled.
/// 3. `fills`: with a packet behind `under_way` ones it is full or half full, so that packet asks
///    for an ACK: the next ones are sent while that comes. A queue pair whose last packet asks for
///    none may send another one within `window` (`may_send`), so that none waits for an answer that
///    nobody was asked for.
/// 4. `rests`: the peer is not ready; nothing is sent until the timer expires (`wakes`) or a packet
///    is acknowledged (`moves`).
/// 5. `patience`: twice the last round trip, in cycles. A timer should not expire before.
///
/// One queue pair, `pair`, is looked at in a cycle, and changed at the edge. `oldest`, `upcoming`
/// and `top` are its packet sequence numbers behind the step, as in
/// [`RequestRow`](super::RequestRow). Nothing is known of one before it `opens`.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct SendWindow {
    /// The largest window: 1 to 32 packets.
    pub window: Signal<In, Bits<6>>,
    /// Cycles, modulo 2^24.
    pub time: Signal<In, Bits<24>>,
    /// The queue pair.
    pub pair: Signal<In, Bits<4>>,
    /// Logarithm of the bytes of its MTU, with `opens` and `loses`: 8 to 12.
    pub mtu: Signal<In, Bits<4>>,
    /// Oldest packet of the queue pair without an answer.
    pub oldest: Signal<In, Bits<24>>,
    /// Next packet of the queue pair.
    pub upcoming: Signal<In, Bits<24>>,
    /// Behind the highest that was ever sent.
    pub top: Signal<In, Bits<24>>,
    /// The queue pair goes up.
    pub opens: Signal<In, Bit>,
    /// A packet is sent.
    pub sent: Signal<In, Bit>,
    /// Number of the packet.
    pub number: Signal<In, Bits<24>>,
    /// The packet was not sent before.
    pub fresh: Signal<In, Bit>,
    /// The packet asks for an answer.
    pub asks: Signal<In, Bit>,
    /// Packets are acknowledged, or a response came.
    pub moves: Signal<In, Bit>,
    /// An answer tells of a loss.
    pub loses: Signal<In, Bit>,
    /// The timer expired.
    pub expires: Signal<In, Bit>,
    /// The peer is not ready.
    pub rests: Signal<In, Bit>,
    /// The queue pair may send again.
    pub wakes: Signal<In, Bit>,
    /// Packets without an answer before the step.
    pub under_way: Signal<In, Bits<24>>,
    /// The next one fills the window, or half of it.
    pub fills: Signal<Out, Bit>,
    /// Behind the step a packet may be sent, as far as the window is concerned.
    pub may_send: Signal<Out, Bit>,
    /// Nothing is sent since the peer is not ready.
    pub is_resting: Signal<Out, Bit>,
    /// Twice the last round trip.
    pub patience: Signal<Out, Bits<24>>,
    rows: RamAsync<WindowRow, 4>,
}

impl Logic for SendWindow {
    #[hdl_gen]
    fn update(&mut self) {
        self.rows.read_address.next = self.pair.val();
        let current_row = self.rows.read_data.val();
        let most = self.window.val();

        // A round trip
        let is_answered = current_row.timing
            && self.moves.val()
            && !(self.oldest.val() - current_row.timed - bits::<24>(1)).get_bit(23);
        let trip = self.time.val() - current_row.since;
        let mut least = current_row.least;
        if trip < current_row.least {
            least = trip;
        }
        let is_short =
            (bit_cast::<26, 24>(trip) << 1) < ((bit_cast::<26, 24>(least) << 1) + bit_cast::<26, 24>(least));
        let is_long = bit_cast::<26, 24>(trip) > (bit_cast::<26, 24>(least) + bits::<26>(3_072));

        let mut size = current_row.allowed;
        let quarter = current_row.allowed >> 2;
        if is_answered && is_long {
            size = current_row.allowed - quarter;
            if !quarter.any() {
                size = current_row.allowed - bits::<6>(1);
            }
        } else if is_answered && current_row.filled {
            size = current_row.allowed + bits::<6>(1);
            if is_short && quarter.any() {
                size = current_row.allowed + quarter;
            }
            if is_short && current_row.quick {
                size = current_row.allowed << 1;
                if current_row.allowed.get_bit(5) {
                    size = bits::<6>(32);
                }
            }
        }
        let is_over = !(self.oldest.val() - current_row.mark).get_bit(23);
        let recovers = current_row.recovers && !(self.moves.val() && is_over);
        let halves = self.expires.val() || (self.loses.val() && !recovers);
        let first = bits::<6>(16) >> (self.mtu.val() - bits::<4>(8));
        let floor = first << 1;
        let half = current_row.allowed >> 1;
        if halves {
            size = half;
            if !self.expires.val() && (half < floor) {
                size = floor;
                if current_row.allowed < floor {
                    size = current_row.allowed;
                }
            }
        }

        self.rows.write_data.next = current_row;
        if size > most {
            size = most;
        }
        if !size.any() {
            size = bits::<6>(1);
        }
        self.rows.write_data.next.recovers = recovers || halves;
        if halves {
            self.rows.write_data.next.mark = self.top.val();
            self.rows.write_data.next.quick = false;
        }
        if is_answered {
            self.rows.write_data.next.timing = false;
            self.rows.write_data.next.filled = false;
            self.rows.write_data.next.least = least;
            self.rows.write_data.next.trip = trip;
        }
        // A packet that is sent again tells nothing.
        if self.loses.val() || self.expires.val() || self.rests.val() {
            self.rows.write_data.next.timing = false;
        }
        let mut is_stopped = current_row.rests;
        if self.moves.val() || self.wakes.val() {
            is_stopped = false;
        }
        if self.rests.val() {
            is_stopped = true;
        }
        let is_full = self.under_way.val() + bits::<24>(1) >= bit_cast::<24, 6>(current_row.allowed);
        let is_half = self.under_way.val() + bits::<24>(1) == bit_cast::<24, 6>(current_row.allowed >> 1);
        self.fills.next = is_full || is_half;
        let mut asked = current_row.asks;
        if self.sent.val() {
            asked = self.asks.val();
            self.rows.write_data.next.filled = current_row.filled || is_full;
            if self.asks.val() && self.fresh.val() && !current_row.timing {
                self.rows.write_data.next.timing = true;
                self.rows.write_data.next.timed = self.number.val();
                self.rows.write_data.next.since = self.time.val();
            }
        }
        if self.opens.val() {
            size = first;
            if first > most {
                size = most;
            }
            self.rows.write_data.next.filled = false;
            self.rows.write_data.next.quick = true;
            asked = true;
            is_stopped = false;
            self.rows.write_data.next.timing = false;
            self.rows.write_data.next.recovers = false;
            self.rows.write_data.next.timed = self.top.val();
            self.rows.write_data.next.mark = self.top.val();
            self.rows.write_data.next.since = self.time.val();
            self.rows.write_data.next.least = !bits::<24>(0);
            self.rows.write_data.next.trip = bits::<24>(0);
        }
        self.rows.write_enable.next = self.opens.val()
            || self.sent.val()
            || self.moves.val()
            || self.loses.val()
            || self.expires.val()
            || self.rests.val()
            || self.wakes.val();
        self.rows.write_address.next = self.pair.val();
        self.rows.write_data.next.allowed = size;
        self.rows.write_data.next.asks = asked;
        self.rows.write_data.next.rests = is_stopped;

        always!(
            the_window_is_1_to_32_packets,
            !(self.opens.val() || self.sent.val() || self.moves.val())
                || (size.any() && size <= bits::<6>(MOST_PACKETS))
        );

        // What may be sent then: within the window, or the packet that asks for an answer
        let count = self.upcoming.val() - self.oldest.val();
        let is_within = count < bit_cast::<24, 6>(size);
        let is_missing = !asked && count.any();
        let has_room = count < bit_cast::<24, 6>(most);
        self.may_send.next = has_room && (is_within || is_missing) && !is_stopped;
        self.is_resting.next = current_row.rests;
        self.patience.next = current_row.trip << 1;
        if current_row.trip.get_bit(23) {
            self.patience.next = !bits::<24>(0);
        }
    }
}

#[cfg(test)]
#[path = "send_window_tests.rs"]
mod tests;
