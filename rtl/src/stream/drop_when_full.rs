//! Drops frames that find no slot.

use hermes_hdl::prelude::*;

/// Passes the beats of frames on, or drops whole frames that would have to wait for a slot.
///
/// 1. With `on` high, a frame of which no beat was taken is dropped unless a slot is free that no
///    frame before takes. All its beats are taken at once, and it is counted with the last of them,
///    whatever is wrong with it and however long it is. Once its first beat is taken a frame is
///    passed on or dropped to its end: neither `on` nor a slot that is freed changes that.
/// 2. With `on` low all beats pass. A frame whose first beat passed without a slot waits for one
///    behind this unit, also if `on` rises then.
/// 3. What passes does so in the same cycle; a beat on offer there stays until it is taken, while
///    `on` keeps its value and `room` is not taken away by other than frames that passed.
/// 4. `rx_ready` is low while `enable` is low, and else only while a beat that passes waits for
///    `pass_ready`.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct DropWhenFull {
    // From the registers
    /// Frames are taken.
    pub enable: Signal<In, Bit>,
    /// Frames that find no slot are dropped.
    pub on: Signal<In, Bit>,

    // Beats of frames
    /// A beat is offered.
    pub rx_valid: Signal<In, Bit>,
    /// The beat is taken at this edge.
    pub rx_ready: Signal<Out, Bit>,
    /// The beat is the last one of its frame.
    pub rx_last: Signal<In, Bit>,
    /// The beat passes on.
    pub pass_valid: Signal<Out, Bit>,
    /// The beat would be taken behind this unit at this edge.
    pub pass_ready: Signal<In, Bit>,

    // Slots
    /// Packets that have a slot.
    pub in_flight: Signal<In, Bits<32>>,
    /// Packets that may have one.
    pub limit: Signal<In, Bits<32>>,
    /// A frame that passed has its slot: `in_flight` counts it from the next cycle on.
    pub done: Signal<In, Bit>,
    /// A frame that passed was malformed and takes no slot.
    pub malformed: Signal<In, Bit>,

    /// A frame is being dropped.
    pub dropping: Signal<Out, Bit>,
    /// A frame was dropped: the cycle after the one in which its last beat was taken.
    pub ended: Signal<Out, Bit>,
    /// Frames dropped since reset, modulo 2^32.
    pub dropped: Signal<Out, Bits<32>>,

    /// The next beat is not the first one of its frame.
    in_frame: Register<Bit>,
    drops: Register<Bit>,
    /// Frames that passed and are neither done nor malformed: that in progress, and the next one.
    under_way: Register<Bits<2>>,
    end: Register<Bit>,
    count: Register<Bits<32>>,
}

impl Logic for DropWhenFull {
    #[hdl_gen]
    fn update(&mut self) {
        let room = (self.in_flight.val() + bit_cast::<32, 2>(self.under_way.q.val())) < self.limit.val();
        let refuses = !self.in_frame.q.val() && self.on.val() && !room;
        let drop = self.drops.q.val() || refuses;
        self.rx_ready.next = self.enable.val() && (drop || self.pass_ready.val());
        self.pass_valid.next = self.enable.val() && self.rx_valid.val() && !drop;

        let taken = self.enable.val() && self.rx_valid.val() && (drop || self.pass_ready.val());
        if taken {
            self.in_frame.d.next = !self.rx_last.val();
            self.drops.d.next = drop && !self.rx_last.val();
        }
        let ends = taken && drop && self.rx_last.val();
        self.end.d.next = ends;
        if ends {
            self.count.d.next = self.count.q.val() + 1;
        }

        let mut left = self.under_way.q.val();
        if taken && !drop && !self.in_frame.q.val() {
            left = left + 1;
        }
        if self.done.val() {
            left = left - 1;
        }
        if self.malformed.val() {
            left = left - 1;
        }
        self.under_way.d.next = left;

        self.dropping.next = self.drops.q.val();
        self.ended.next = self.end.q.val();
        self.dropped.next = self.count.q.val();
    }
}
