//! Frames to the bytes of a serial line.

use super::Fcs;
use hermes_hdl::prelude::*;

/// What is sent next.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Sending {
    /// Nothing, or the first flag.
    Flag,
    /// A byte of the frame.
    Byte,
    /// A byte of the FCS.
    Check,
    /// An escape, which with the last flag behind it is an abort.
    Abort,
    /// The last flag.
    Close,
}

/// Sends frames as bytes: asynchronous framing of RFC 1662, FCS of 32 bits.
///
/// 1. A frame is its bytes in their order, with `last` at the last one; a byte is taken with
///    `valid` and `ready`, and does not change between. Between the bytes of a frame `valid` may be
///    low for as long as it likes: the line is idle then.
/// 2. `abort`, high for one cycle between two bytes of a frame while `valid` is low, ends it as one
///    that is not whole.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct FrameTransmitter {
    /// A byte of a frame is offered.
    pub valid: Signal<In, Bit>,
    /// The byte of the frame is taken.
    pub ready: Signal<Out, Bit>,
    /// The byte of the frame that is offered.
    pub data: Signal<In, Bits<8>>,
    /// The byte is the last one of its frame.
    pub last: Signal<In, Bit>,
    /// The rest of the frame does not come.
    pub abort: Signal<In, Bit>,
    /// A byte for the line is offered.
    pub line_valid: Signal<Out, Bit>,
    /// The byte for the line is taken.
    pub line_ready: Signal<In, Bit>,
    /// The byte for the line that is offered.
    pub line_data: Signal<Out, Bits<8>>,

    fcs: Fcs,
    state: Register<Sending>,
    /// The escape of the present byte was sent.
    escaped: Register<Bit>,
    /// Bytes of the FCS that were sent.
    place: Register<Bits<2>>,
}

impl Logic for FrameTransmitter {
    #[hdl_gen]
    fn update(&mut self) {
        let check = !self.fcs.value.val() >> (bit_cast::<5, 2>(self.place.q.val()) << 3);
        let in_check = self.state.q.val() == Sending::Check;
        let mut plain = self.data.val();
        if in_check {
            plain = check.get_bits::<8>(0);
        }
        let is_byte = in_check || self.state.q.val() == Sending::Byte;
        let needs_escape = plain == bits::<8>(0x7e) || plain == bits::<8>(0x7d);
        let escapes = is_byte && needs_escape && !self.escaped.q.val();
        let mut sent = bits::<8>(0x7e);
        if is_byte {
            sent = plain;
            if escapes {
                sent = bits::<8>(0x7d);
            }
            if self.escaped.q.val() {
                sent = plain ^ bits::<8>(0x20);
            }
        }
        if self.state.q.val() == Sending::Abort {
            sent = bits::<8>(0x7d);
        }
        self.line_data.next = sent;
        let waits = self.state.q.val() == Sending::Flag || self.state.q.val() == Sending::Byte;
        let offers = self.valid.val() || !waits;
        self.line_valid.next = offers;
        let goes = offers && self.line_ready.val();
        let whole = goes && !escapes;
        let takes = whole && self.state.q.val() == Sending::Byte;
        self.ready.next = takes;
        self.fcs.byte.next = self.data.val();
        self.fcs.take.next = takes;
        self.fcs.clear.next = goes && self.state.q.val() == Sending::Flag;
        if goes {
            self.escaped.d.next = escapes;
        }
        if whole {
            match self.state.q.val() {
                Sending::Flag => {
                    self.state.d.next = Sending::Byte;
                }
                Sending::Byte => {
                    self.place.d.next = bits::<2>(0);
                    if self.last.val() {
                        self.state.d.next = Sending::Check;
                    }
                }
                Sending::Check => {
                    self.place.d.next = self.place.q.val() + bits::<2>(1);
                    if self.place.q.val() == bits::<2>(3) {
                        self.state.d.next = Sending::Close;
                    }
                }
                Sending::Abort => {
                    self.state.d.next = Sending::Close;
                }
                Sending::Close => {
                    self.state.d.next = Sending::Flag;
                }
            }
        }
        if self.abort.val() && self.state.q.val() == Sending::Byte {
            self.state.d.next = Sending::Abort;
        }
    }
}
