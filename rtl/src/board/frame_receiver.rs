//! Frames from the bytes of a serial line.

use super::Fcs;
use crate::net::RESIDUE;
use hermes_hdl::prelude::*;

/// Takes frames out of a stream of bytes: asynchronous framing of RFC 1662, FCS of 32 bits.
///
/// 1. Each byte of a frame, those of the FCS included, is given in the cycle in which its last byte
///    on the line comes (`byte_valid`), with its number in the frame.
/// 2. The flag behind it ends the frame: `end` is high for one cycle, `length` says how many bytes
///    it had without FCS, and `damaged` that its FCS is wrong, a stop bit was missing, it was
///    aborted, or it has more than [`MOST_BYTES`]. Less than four bytes without such an error are
///    no frame: no `end`.
/// 3. While `enable` is low, and behind a reset, bytes are ignored; afterwards up to the next flag,
///    which begins a frame: that of a frame of which only the end was heard.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct FrameReceiver {
    /// Frames are taken.
    pub enable: Signal<In, Bit>,
    /// A byte of the line.
    pub valid: Signal<In, Bit>,
    /// Value of the byte of the line.
    pub data: Signal<In, Bits<8>>,
    /// The stop bit of the byte is missing.
    pub error: Signal<In, Bit>,
    /// A byte of a frame.
    pub byte_valid: Signal<Out, Bit>,
    /// Value of the byte of the frame.
    pub byte: Signal<Out, Bits<8>>,
    /// Number of the byte in its frame.
    pub index: Signal<Out, Bits<11>>,
    /// A frame ends.
    pub end: Signal<Out, Bit>,
    /// The frame is not what was sent.
    pub damaged: Signal<Out, Bit>,
    /// Bytes of the frame, without FCS.
    pub length: Signal<Out, Bits<11>>,

    fcs: Fcs,
    #[init(Register::new(true))]
    hunting: Register<Bit>,
    escaped: Register<Bit>,
    wrong: Register<Bit>,
    count: Register<Bits<11>>,
}

/// Most bytes of a frame, with FCS: a request with 1,024 bytes for the memory.
pub const MOST_BYTES: u64 = 8 + 1024 + 4;

impl Logic for FrameReceiver {
    #[hdl_gen]
    fn update(&mut self) {
        let is_flag = self.data.val() == bits::<8>(0x7e);
        let is_escape = self.data.val() == bits::<8>(0x7d);
        let listens = self.enable.val() && self.valid.val() && !self.hunting.q.val();
        let inside = listens && !self.error.val() && !is_flag;
        let full = self.count.q.val() == bits::<11>(MOST_BYTES);
        let plain = inside && (self.escaped.q.val() || !is_escape);
        let takes = plain && !full;

        let mut plain_byte = self.data.val();
        if self.escaped.q.val() {
            plain_byte = self.data.val() ^ bits::<8>(0x20);
        }
        self.byte.next = plain_byte;
        self.byte_valid.next = takes;
        self.index.next = self.count.q.val();
        self.fcs.byte.next = plain_byte;
        self.fcs.take.next = takes;
        if inside {
            self.escaped.d.next = is_escape && !self.escaped.q.val();
        }
        if takes {
            self.count.d.next = self.count.q.val() + bits::<11>(1);
        }
        if listens && self.error.val() {
            self.wrong.d.next = true;
        }
        if plain && full {
            self.wrong.d.next = true;
        }

        let closes = listens && !self.error.val() && is_flag;
        let aborted = self.escaped.q.val();
        let has_fcs = self.count.q.val() > bits::<11>(3);
        self.end.next = closes && (has_fcs || self.wrong.q.val() || aborted);
        self.damaged.next =
            self.wrong.q.val() || aborted || !has_fcs || self.fcs.value.val() != bits::<32>(RESIDUE as u64);
        self.length.next = self.count.q.val() - bits::<11>(4);

        let found = self.enable.val() && self.valid.val() && !self.error.val() && is_flag;
        self.fcs.clear.next = found;
        if found {
            self.hunting.d.next = false;
            self.escaped.d.next = false;
            self.wrong.d.next = false;
            self.count.d.next = bits::<11>(0);
        }
        if !self.enable.val() {
            self.hunting.d.next = true;
        }
    }
}
