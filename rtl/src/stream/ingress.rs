//! Frames from an AXI4-Stream to the packet ring and the task FIFO.

use super::{DropWhenFull, LineBuilder, RingPosition, WriteWindow};
use crate::host::{IngressCounters, RingPlaces, TaskCount};
use crate::ports::{LineWrite, StreamIn};
use hermes_hdl::prelude::*;

/// Writes frames to ring slots and reports to the task FIFO when they are there.
///
/// 1. Frames take the slots of consecutive packets; [`LineBuilder`] says how they stand in them,
///    and which are dropped as malformed: those take no slot. `rx.tready` is low while no slot is
///    free: no frame is lost. Of an ingress that drops, such frames pass [`DropWhenFull`] first:
///    while `drop` is high, those that find no slot take none either, and are counted.
/// 2. A frame is counted to the task FIFO once all its lines and those of the frames before are
///    performed. Frames that complete while a count waits for `task.ready` go together into the
///    next count.
/// 3. At most three quarters of the ring are in flight, from the first beat of a frame until egress
///    has freed its slot; and `drop_caches` is high for one cycle when the first frame of a quarter
///    starts. So the caches of the cores invalidate their lines between the last use of a slot by
///    the packet before and the first use by the next.
/// 4. While `enable` is low no frame starts, and the next packet follows the counts that the host
///    pushes. `enable` may fall only while the unit is not `busy` and no frame comes. The ring's
///    place and sizes change, and the host pushes, only while it is low, and in the cycle before it
///    rises no more.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(drops: bool, loads: bool)]
pub struct Ingress {
    // From the registers
    /// Frames are taken.
    pub enable: Signal<In, Bit>,
    /// Cycles since reset, modulo 2^32.
    pub cycle: Signal<In, Bits<32>>,
    /// From the registers.
    pub ring: RingPlaces,

    /// Frames that find no slot are dropped. Only of an ingress that drops, as the next.
    #[there(drops)]
    pub drop: Part<Signal<In, Bit>>,
    /// A frame was dropped: the cycle after the one in which its last beat was taken.
    #[there(drops)]
    pub drop_ended: Part<Signal<Out, Bit>>,
    /// Frames that were dropped since reset, modulo 2^32.
    #[there(drops)]
    pub dropped_full: Part<Signal<Out, Bits<32>>>,

    // Frames
    /// Beats of frames.
    pub rx: StreamIn,

    // To and from memory
    /// Lines of frames; all bytes are written.
    pub write: LineWrite,

    // To the task FIFO, and what the host pushes to it
    /// To the task FIFO.
    pub task: Flipped<TaskCount>,
    /// The host's count enters the task FIFO at this edge.
    pub host_pushed: Signal<In, Bit>,
    /// The host's count.
    pub host_count: Signal<In, Bits<32>>,

    /// From egress: packetIdx of the oldest packet whose slot is in use.
    pub freed: Signal<In, Bits<32>>,
    /// To the cores: the data caches invalidate every line.
    pub drop_caches: Signal<Out, Bit>,

    /// A frame or a packet has its slot, or a frame is on its way there.
    pub busy: Signal<Out, Bit>,

    // Counters since reset, modulo 2^32
    /// To the registers.
    pub counters: IngressCounters,

    /// To the load counters (only with them): slots of packets that entered, or that the host
    /// pushed, and that egress has not freed.
    #[there(loads)]
    pub occupied: Part<Signal<Out, Bits<32>>>,

    #[there(drops)]
    gate: Part<DropWhenFull>,
    builder: LineBuilder,
    window: WriteWindow<6>,
    position: RingPosition,
    index: Register<Bits<32>>,
    ready_frames: Register<Bits<32>>,
    pushing: Register<Bit>,
    push_count: Register<Bits<32>>,
    dropping: Register<Bit>,
    frame_count: Register<Bits<32>>,
    byte_count: Register<Bits<32>>,
    dropped_count: Register<Bits<32>>,
    cut_count: Register<Bits<32>>,
    #[init(Constant::new(u64::MAX.into()))]
    all_bytes: Constant<Bits<64>>,
}

impl Ingress {
    /// The unit; with `drops` it can drop frames that find no slot, with `loads` it has ports for
    /// load counters.
    pub fn new(drops: bool, loads: bool) -> Self {
        Self::wired(drops, loads)
    }
}

impl Logic for Ingress {
    #[hdl_gen]
    fn update(&mut self) {
        // Frames to lines.
        connect!(self.rx, self.builder.rx);
        self.builder.rx.tvalid.next = self.rx.tvalid.val() && self.enable.val();
        self.rx.tready.next = self.builder.rx.tready.val() && self.enable.val();
        self.builder.cycle.next = self.cycle.val();
        self.builder.slot_bytes_log2.next = self.ring.slot_bytes_log2.val();
        self.builder.slot_line.next = self.position.line.val();

        // Slots: three quarters of the ring may be in flight.
        let limit = (bits::<32>(3) << self.ring.ring_slots_log2.val()) >> 2;
        let in_flight = self.index.q.val() - self.freed.val();
        self.builder.slot_free.next = self.enable.val() && (in_flight < limit);
        self.builder.next_slot_free.next = self.enable.val() && ((in_flight + 1) < limit);
        connect!(self.ring, self.position.ring);
        self.position.index.next = self.index.q.val();
        self.position.load.next = !self.enable.val() && self.builder.idle.val();
        self.position.advance.next = self.builder.done.val();
        let mut starts = self.index.q.val();
        if self.builder.done.val() {
            starts = self.index.q.val() + 1;
            self.index.d.next = self.index.q.val() + 1;
        } else if self.host_pushed.val() && !self.enable.val() {
            self.index.d.next = self.index.q.val() + self.host_count.val();
        }

        self.busy.next = in_flight.any() || !self.builder.idle.val();

        // A frame that finds no slot is dropped in front of the builder.
        if self.drop.is_there() {
            self.gate.enable.next = self.enable.val();
            self.gate.on.next = self.drop.val();
            self.gate.in_flight.next = in_flight;
            self.gate.limit.next = limit;
            self.gate.done.next = self.builder.done.val();
            self.gate.malformed.next = self.builder.dropped.val();
            self.gate.rx_valid.next = self.rx.tvalid.val();
            self.gate.rx_last.next = self.rx.tlast.val();
            self.gate.pass_ready.next = self.builder.rx.tready.val();
            self.builder.rx.tvalid.next = self.gate.pass_valid.val();
            self.rx.tready.next = self.gate.rx_ready.val();
            self.busy.next = in_flight.any() || !self.builder.idle.val() || self.gate.dropping.val();
            self.drop_ended.next = self.gate.ended.val();
            self.dropped_full.next = self.gate.dropped.val();
        }

        // Caches: the lowest bits of packetIdx are zero at the start of a quarter.
        let mut quarter = (bits::<32>(1) << self.ring.ring_slots_log2.val()) >> 2;
        if quarter.any() {
            quarter = quarter - 1;
        }
        starts = starts & quarter;
        self.dropping.d.next = self.builder.started.val() && !starts.any();
        self.drop_caches.next = self.dropping.q.val();

        // Lines to memory.
        connect!(self.builder.line, self.window.line);
        connect!(self.write, self.window.write);
        self.write.line.next = self.builder.line.address.val();
        self.write.data.next = self.builder.line.data.val();
        self.write.strobe.next = self.all_bytes.val();

        // Counts to the task FIFO.
        let mut waiting = self.ready_frames.q.val();
        if self.window.completed.val() {
            waiting = waiting + 1;
        }
        self.ready_frames.d.next = waiting;
        if !self.pushing.q.val() || self.task.ready.val() {
            self.pushing.d.next = waiting.any();
            self.push_count.d.next = waiting;
            self.ready_frames.d.next = bits::<32>(0);
        }
        self.task.valid.next = self.pushing.q.val();
        self.task.count.next = self.push_count.q.val();

        if self.builder.done.val() {
            self.frame_count.d.next = self.frame_count.q.val() + 1;
            self.byte_count.d.next =
                self.byte_count.q.val() + bit_cast::<32, 17>(self.builder.done_bytes.val());
            if self.builder.done_cut.val() {
                self.cut_count.d.next = self.cut_count.q.val() + 1;
            }
        }
        if self.builder.dropped.val() {
            self.dropped_count.d.next = self.dropped_count.q.val() + 1;
        }
        self.counters.frames_in.next = self.frame_count.q.val();
        self.counters.bytes_in.next = self.byte_count.q.val();
        self.counters.dropped_in.next = self.dropped_count.q.val();
        self.counters.cut_in.next = self.cut_count.q.val();

        if self.occupied.is_there() {
            self.occupied.next = in_flight;
        }
    }
}

#[cfg(test)]
#[path = "ingress_drop_tests.rs"]
mod drop_tests;
