//! How many packets of a queue pair may be without an answer.

use hermes_hdl::prelude::*;

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
    /// See `timing`.
    pub timed: Bits<24>,
    /// See `timing`.
    pub since: Bits<24>,
    /// Cycles of the shortest round trip, and of the last one.
    pub least: Bits<24>,
    /// See `least`.
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
///    3,072 cycles it grows by one packet; if it is longer it shrinks by a quarter. It grows only if
///    it was filled.
/// 3. `fills`: with a packet behind `under_way` ones it is full or half full, so that packet asks for
///    an ACK: the next ones are sent while that comes. A queue pair whose last packet asks for none may send another one within `window`
///    (`may_send`), so that none waits for an answer that nobody was asked for.
/// 4. `rests`: the peer is not ready; nothing is sent until the timer expires (`wakes`) or a packet
///    is acknowledged (`moves`).
/// 5. `patience`: twice the last round trip, in cycles. A timer should not expire before.
///
/// One queue pair, `pair`, is looked at in a cycle, and changed at the edge. `oldest`, `upcoming`
/// and `top` are its packet sequence numbers behind the step, as in
/// [`RequestRow`](super::RequestRow). Nothing is known of one before it `opens`.
#[derive(Clone, Debug, Default, LogicBlock)]
pub struct SendWindow {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// The largest window: 1 to 32 packets.
    pub window: Signal<In, Bits<6>>,
    /// Cycles, modulo 2^24.
    pub time: Signal<In, Bits<24>>,
    /// The queue pair.
    pub pair: Signal<In, Bits<4>>,
    /// Logarithm of the bytes of its MTU, with `opens` and `loses`: 8 to 12.
    pub mtu: Signal<In, Bits<4>>,
    /// Its oldest packet without an answer.
    pub oldest: Signal<In, Bits<24>>,
    /// Its next packet.
    pub upcoming: Signal<In, Bits<24>>,
    /// Behind the highest that was ever sent.
    pub top: Signal<In, Bits<24>>,
    /// It goes up.
    pub opens: Signal<In, Bit>,
    /// A packet is sent.
    pub sent: Signal<In, Bit>,
    /// Its number.
    pub number: Signal<In, Bits<24>>,
    /// It was not sent before.
    pub fresh: Signal<In, Bit>,
    /// It asks for an answer.
    pub asks: Signal<In, Bit>,
    /// Packets are acknowledged, or a response came.
    pub moves: Signal<In, Bit>,
    /// An answer tells of a loss.
    pub loses: Signal<In, Bit>,
    /// The timer expired.
    pub expires: Signal<In, Bit>,
    /// The peer is not ready.
    pub rests: Signal<In, Bit>,
    /// It may be again.
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
    after: Signal<Local, WindowRow>,
    size: Signal<Local, Bits<6>>,
}

impl Logic for SendWindow {
    #[hdl_gen]
    fn update(&mut self) {
        self.rows.read_address.next = self.pair.val();
        let now = self.rows.read_data.val();
        let most = self.window.val();

        // A round trip
        let is_answered =
            now.timing && self.moves.val() && !(self.oldest.val() - now.timed - bits::<24>(1)).get_bit(23);
        let trip = self.time.val() - now.since;
        let mut least = now.least;
        if trip < now.least {
            least = trip;
        }
        let is_short =
            (bit_cast::<26, 24>(trip) << 1) < ((bit_cast::<26, 24>(least) << 1) + bit_cast::<26, 24>(least));
        let is_long = bit_cast::<26, 24>(trip) > (bit_cast::<26, 24>(least) + bits::<26>(3_072));

        self.size.next = now.allowed;
        let quarter = now.allowed >> 2;
        if is_answered && is_long {
            self.size.next = now.allowed - quarter;
            if !quarter.any() {
                self.size.next = now.allowed - bits::<6>(1);
            }
        } else if is_answered && now.filled {
            self.size.next = now.allowed + bits::<6>(1);
            if is_short && quarter.any() {
                self.size.next = now.allowed + quarter;
            }
            if is_short && now.quick {
                self.size.next = now.allowed << 1;
                if now.allowed.get_bit(5) {
                    self.size.next = bits::<6>(32);
                }
            }
        }
        let is_over = !(self.oldest.val() - now.mark).get_bit(23);
        let recovers = now.recovers && !(self.moves.val() && is_over);
        let halves = self.expires.val() || (self.loses.val() && !recovers);
        let first = bits::<6>(16) >> (self.mtu.val() - bits::<4>(8));
        let floor = first << 1;
        let half = now.allowed >> 1;
        if halves {
            self.size.next = half;
            if !self.expires.val() && (half < floor) {
                self.size.next = floor;
                if now.allowed < floor {
                    self.size.next = now.allowed;
                }
            }
        }

        self.after.next = now;
        self.after.next.allowed = self.size.val();
        if self.size.val() > most {
            self.after.next.allowed = most;
        }
        if !self.size.val().any() {
            self.after.next.allowed = bits::<6>(1);
        }
        self.after.next.recovers = recovers || halves;
        if halves {
            self.after.next.mark = self.top.val();
            self.after.next.quick = false;
        }
        if is_answered {
            self.after.next.timing = false;
            self.after.next.filled = false;
            self.after.next.least = least;
            self.after.next.trip = trip;
        }
        // A packet that is sent again tells nothing.
        if self.loses.val() || self.expires.val() || self.rests.val() {
            self.after.next.timing = false;
        }
        if self.moves.val() || self.wakes.val() {
            self.after.next.rests = false;
        }
        if self.rests.val() {
            self.after.next.rests = true;
        }
        let is_full = self.under_way.val() + bits::<24>(1) >= bit_cast::<24, 6>(now.allowed);
        let is_half = self.under_way.val() + bits::<24>(1) == bit_cast::<24, 6>(now.allowed >> 1);
        self.fills.next = is_full || is_half;
        if self.sent.val() {
            self.after.next.asks = self.asks.val();
            self.after.next.filled = now.filled || is_full;
            if self.asks.val() && self.fresh.val() && !now.timing {
                self.after.next.timing = true;
                self.after.next.timed = self.number.val();
                self.after.next.since = self.time.val();
            }
        }
        if self.opens.val() {
            self.after.next.allowed = first;
            if first > most {
                self.after.next.allowed = most;
            }
            self.after.next.filled = false;
            self.after.next.quick = true;
            self.after.next.asks = true;
            self.after.next.rests = false;
            self.after.next.timing = false;
            self.after.next.recovers = false;
            self.after.next.timed = self.top.val();
            self.after.next.mark = self.top.val();
            self.after.next.since = self.time.val();
            self.after.next.least = !bits::<24>(0);
            self.after.next.trip = bits::<24>(0);
        }
        self.rows.write_enable.next = self.opens.val()
            || self.sent.val()
            || self.moves.val()
            || self.loses.val()
            || self.expires.val()
            || self.rests.val()
            || self.wakes.val();
        self.rows.write_address.next = self.pair.val();
        self.rows.write_data.next = self.after.val();

        // What may be sent then: within the window, or the packet that asks for an answer
        let count = self.upcoming.val() - self.oldest.val();
        let is_within = count < bit_cast::<24, 6>(self.after.val().allowed);
        let is_missing = !self.after.val().asks && count.any();
        let has_room = count < bit_cast::<24, 6>(most);
        self.may_send.next = has_room && (is_within || is_missing) && !self.after.val().rests;
        self.is_resting.next = now.rests;
        self.patience.next = now.trip << 1;
        if now.trip.get_bit(23) {
            self.patience.next = !bits::<24>(0);
        }
    }
}

#[cfg(test)]
#[path = "send_window_tests.rs"]
mod tests;
