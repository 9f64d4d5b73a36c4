//! From AXI4-Stream beats to the lines of ring slots.

use super::{KeepCount, KeepMask};
use crate::ports::{BuiltLine, StreamIn};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// What the line builder does next with the frame in progress.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum BuildPhase {
    /// Takes beats.
    Beats,
    /// Offers the line with the last bytes, which no beat starts.
    Tail,
    /// Offers line 0.
    Head,
}

/// Moves frames behind the head of their slot: 16 bytes of descriptor, 2 bytes of padding, then the
/// frame.
///
/// 1. Byte `n` of a frame goes to byte `18 + n` of its slot, so each line has 18 bytes of one beat
///    and 46 of the next. Line 0 comes last, as the descriptor has the length: `line.end` marks it.
///    The rest of the last line is zeros.
/// 2. A frame of `n` lines takes `n` cycles, with `line.ready` high: the first beat of the frame
///    that follows is taken while line 0 is offered. So 64-byte frames come every other cycle,
///    beats of long frames every cycle.
/// 3. The first beat of a frame waits for `slot_free`, or for `next_slot_free` while line 0 of the
///    frame before is to be offered. One beat is taken before that is known.
/// 4. What a slot cannot hold is cut off and counted in the descriptor, modulo nothing: 65,535
///    stands for that many or more.
/// 5. A frame is malformed if TKEEP marks not all bytes of a beat before the last one, no bytes or
///    not the first ones of the last beat, or if bit 31 of TUSER is set in the last beat. Its line
///    0 is not offered, and `dropped` is high for one cycle.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct LineBuilder {
    // Frames
    /// Beats of frames.
    pub rx: StreamIn,

    // Where they go
    /// Cycles since reset, modulo 2^32.
    pub cycle: Signal<In, Bits<32>>,
    /// Register SLOT_BYTES_LOG2; 7 to 16.
    pub slot_bytes_log2: Signal<In, Bits<5>>,
    /// Line address of the slot of the frame in progress, or of the next one if there is none.
    pub slot_line: Signal<In, LineAddress>,
    /// The slot at `slot_line` is free.
    pub slot_free: Signal<In, Bit>,
    /// The slot that follows is free.
    pub next_slot_free: Signal<In, Bit>,

    // Lines
    /// To the write window.
    pub line: BuiltLine,

    // Events, one cycle each
    /// The first beat of a frame enters its slot.
    pub started: Signal<Out, Bit>,
    /// Line 0 of a frame is built: `slot_line` advances in the next cycle.
    pub done: Signal<Out, Bit>,
    /// Bytes of that frame in its slot.
    pub done_bytes: Signal<Out, Bits<17>>,
    /// The frame was cut.
    pub done_cut: Signal<Out, Bit>,
    /// A malformed frame was dropped.
    pub dropped: Signal<Out, Bit>,
    /// No frame is in progress.
    pub idle: Signal<Out, Bit>,

    held: Register<Bit>,
    held_data: Register<Bits<512>>,
    held_keep: Register<Bits<64>>,
    held_last: Register<Bit>,
    held_user: Register<Bits<32>>,
    phase: Register<BuildPhase>,
    /// Beats taken of the frame in progress; stays at 4,095.
    beats: Register<Bits<12>>,
    head: Register<Bits<368>>,
    carry: Register<Bits<144>>,
    port: Register<Bits<31>>,
    bad: Register<Bit>,
    last_bytes: Register<Bits<7>>,
    arrival: Register<Bits<32>>,
    out_valid: Register<Bit>,
    out_address: Register<LineAddress>,
    out_data: Register<Bits<512>>,
    out_end: Register<Bit>,

    keep_count: KeepCount,
    keep_mask: KeepMask,
}

impl Logic for LineBuilder {
    #[hdl_gen]
    fn update(&mut self) {
        let slot_lines = bits::<12>(1) << (self.slot_bytes_log2.val() - 6);
        self.keep_count.keep.next = self.held_keep.q.val();
        self.keep_mask.keep.next = self.held_keep.q.val();
        self.keep_mask.data.next = self.held_data.q.val();
        let masked = self.keep_mask.masked.val();

        // Which beat is taken.
        let move_on = !self.out_valid.q.val() || self.line.ready.val();
        let emit_head = move_on && (self.phase.q.val() == BuildPhase::Head);
        self.idle.next = (self.phase.q.val() == BuildPhase::Beats) && !self.beats.q.val().any();
        let take_first = self.held.q.val()
            && (((self.phase.q.val() == BuildPhase::Beats)
                && !self.beats.q.val().any()
                && self.slot_free.val())
                || (emit_head && self.next_slot_free.val()));
        let take_more = self.held.q.val()
            && (self.phase.q.val() == BuildPhase::Beats)
            && self.beats.q.val().any()
            && move_on;
        let space = !self.held.q.val() || take_first || take_more;
        self.rx.tready.next = space;
        if space {
            self.held.d.next = self.rx.tvalid.val();
        }
        if space && self.rx.tvalid.val() {
            self.held_data.d.next = self.rx.tdata.val();
            self.held_keep.d.next = self.rx.tkeep.val();
            self.held_last.d.next = self.rx.tlast.val();
            self.held_user.d.next = self.rx.tuser.val();
        }

        // The descriptor of a whole frame, of which `beats` beats were taken.
        let capacity = (bits::<19>(1) << self.slot_bytes_log2.val()) - 18;
        let whole =
            (bit_cast::<19, 12>(self.beats.q.val() - 1) << 6) + bit_cast::<19, 7>(self.last_bytes.q.val());
        let mut kept = whole;
        if whole > capacity {
            kept = capacity;
        }
        let mut missing = whole - kept;
        self.done_cut.next = missing.any();
        self.done_bytes.next = bit_cast::<17, 19>(kept);
        if missing > 0xffff {
            missing = bits::<19>(0xffff);
        }
        let descriptor = bit_cast::<128, 19>(kept)
            | (bit_cast::<128, 31>(self.port.q.val()) << 32)
            | (bit_cast::<128, 19>(missing) << 64)
            | (bit_cast::<128, 32>(self.arrival.q.val()) << 96);

        // Lines.
        if move_on {
            self.out_valid.d.next = false;
        }
        self.done.next = emit_head;
        if emit_head {
            self.out_valid.d.next = true;
            self.out_address.d.next = self.slot_line.val();
            self.out_data.d.next =
                bit_cast::<512, 128>(descriptor) | (bit_cast::<512, 368>(self.head.q.val()) << 144);
            self.out_end.d.next = true;
            self.phase.d.next = BuildPhase::Beats;
            self.beats.d.next = bits::<12>(0);
        }
        if move_on && (self.phase.q.val() == BuildPhase::Tail) {
            self.out_valid.d.next = true;
            self.out_address.d.next = self.slot_line.val() + bit_cast::<26, 12>(self.beats.q.val());
            self.out_data.d.next = bit_cast::<512, 144>(self.carry.q.val());
            self.out_end.d.next = false;
            self.phase.d.next = BuildPhase::Head;
        }
        if take_more && (self.beats.q.val() < slot_lines) && !self.bad.q.val() {
            self.out_valid.d.next = true;
            self.out_address.d.next = self.slot_line.val() + bit_cast::<26, 12>(self.beats.q.val());
            self.out_data.d.next = bit_cast::<512, 144>(self.carry.q.val()) | (masked << 144);
            self.out_end.d.next = false;
        }

        // The frame in progress.
        let mut position = bits::<12>(1);
        let mut broken = false;
        if !take_first {
            broken = self.bad.q.val();
            position = self.beats.q.val();
            if !self.beats.q.val().all() {
                position = self.beats.q.val() + 1;
            }
        }
        if self.held_last.q.val() {
            broken = broken || !self.keep_count.contiguous.val() || self.held_user.q.val().get_bit(31);
        } else {
            broken = broken || !self.held_keep.q.val().all();
        }
        let has_tail = (self.keep_count.bytes.val() > 46) && (position < slot_lines);
        let mut drop = false;
        if take_first {
            self.head.d.next = masked.get_bits::<368>(0);
            self.port.d.next = self.held_user.q.val().get_bits::<31>(0);
        }
        if take_first || take_more {
            self.carry.d.next = masked.get_bits::<144>(368);
            self.beats.d.next = position;
            self.bad.d.next = broken;
            if self.held_last.q.val() {
                self.last_bytes.d.next = self.keep_count.bytes.val();
                self.arrival.d.next = self.cycle.val();
                if broken {
                    drop = true;
                    self.beats.d.next = bits::<12>(0);
                } else if has_tail {
                    self.phase.d.next = BuildPhase::Tail;
                } else {
                    self.phase.d.next = BuildPhase::Head;
                }
            }
        }
        self.started.next = take_first;
        self.dropped.next = drop;

        self.line.valid.next = self.out_valid.q.val();
        self.line.address.next = self.out_address.q.val();
        self.line.data.next = self.out_data.q.val();
        self.line.end.next = self.out_end.q.val();
    }
}

#[cfg(test)]
#[path = "line_builder_tests.rs"]
mod tests;
