//! From the lines of ring slots to AXI4-Stream beats.

use crate::ports::{FrameLine, StreamOut};
use hermes_hdl::prelude::*;

/// Takes the frame out of the lines of its slot, where it begins at byte 18, and sends it.
///
/// 1. Lines come frame by frame, line 0 first. Each beat has 46 bytes of one line and 18 of the
///    next. One line a cycle is taken and one beat a cycle is sent: line 0 of a frame is taken
///    together with the last beat of the frame before.
/// 2. A frame has `ceil(frame_bytes / 64)` beats; all bytes of every beat but the last count.
/// 3. The outputs come from registers and keep their values until they are taken.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct FrameSender {
    /// From the slot reader: the next line.
    pub line: Flipped<FrameLine>,

    /// Beats of frames; the frame is damaged if a line of it could not be read.
    pub tx: StreamOut,

    /// A frame is complete with the beat that is offered from the next cycle on.
    pub sent: Signal<Out, Bit>,
    /// Bytes of the frame.
    pub sent_bytes: Signal<Out, Bits<17>>,
    /// Nothing is inside.
    pub idle: Signal<Out, Bit>,

    /// The upper 46 bytes of the last line taken.
    rest: Register<Bits<368>>,
    /// A frame is in progress.
    open: Register<Bit>,
    /// All its lines were taken.
    flush: Register<Bit>,
    /// Bytes of the frame that were not sent.
    left: Register<Bits<17>>,
    length: Register<Bits<17>>,
    port: Register<Bits<31>>,
    damaged: Register<Bit>,
    out_valid: Register<Bit>,
    out_data: Register<Bits<512>>,
    out_keep: Register<Bits<64>>,
    out_last: Register<Bit>,
    out_user: Register<Bits<32>>,
    #[init(Constant::new(u64::MAX.into()))]
    all: Constant<Bits<64>>,
}

impl Logic for FrameSender {
    #[hdl_gen]
    fn update(&mut self) {
        // Line 0 of a frame makes no beat; it may be taken when no frame is in progress or its last
        // bytes go.
        let move_on = !self.out_valid.q.val() || self.tx.tready.val();
        let ready = move_on || !self.open.q.val();
        self.line.ready.next = ready;
        let take = self.line.valid.val() && ready;
        let beat = move_on && self.open.q.val() && (self.flush.q.val() || self.line.valid.val());
        let last = self.left.q.val() <= 64;
        let mut failed = self.damaged.q.val();
        if !self.flush.q.val() && self.line.error.val() {
            failed = true;
        }

        if move_on {
            self.out_valid.d.next = false;
        }
        if beat {
            self.out_valid.d.next = true;
            self.out_data.d.next = bit_cast::<512, 368>(self.rest.q.val());
            if !self.flush.q.val() {
                self.out_data.d.next = bit_cast::<512, 368>(self.rest.q.val())
                    | (bit_cast::<512, 144>(self.line.data.val().get_bits::<144>(0)) << 368);
            }
            self.out_keep.d.next = self.all.val();
            if last && self.left.q.val().get_bits::<6>(0).any() {
                self.out_keep.d.next = !(self.all.val() << self.left.q.val().get_bits::<6>(0));
            }
            self.out_last.d.next = last;
            self.out_user.d.next = bit_cast::<32, 31>(self.port.q.val());
            if failed {
                self.out_user.d.next = bit_cast::<32, 31>(self.port.q.val()) | 0x8000_0000_u64;
            }
            self.left.d.next = self.left.q.val() - 64;
            self.damaged.d.next = failed;
            if last {
                self.open.d.next = false;
                self.flush.d.next = false;
            } else {
                self.flush.d.next = self.line.last.val();
            }
        }
        self.sent.next = beat && last;
        self.sent_bytes.next = self.length.q.val();

        if take {
            self.rest.d.next = self.line.data.val().get_bits::<368>(144);
            if self.line.start.val() {
                self.open.d.next = true;
                self.flush.d.next = self.line.last.val();
                self.left.d.next = self.line.frame_bytes.val();
                self.length.d.next = self.line.frame_bytes.val();
                self.port.d.next = self.line.frame_port.val();
                self.damaged.d.next = self.line.error.val();
            }
        }
        self.idle.next = !self.open.q.val() && !self.out_valid.q.val();

        self.tx.tvalid.next = self.out_valid.q.val();
        self.tx.tdata.next = self.out_data.q.val();
        self.tx.tkeep.next = self.out_keep.q.val();
        self.tx.tlast.next = self.out_last.q.val();
        self.tx.tuser.next = self.out_user.q.val();
    }
}
