//! What can be wrong with a command.

use super::{SendPair, WorkEntry};
use crate::prelude::*;

/// Checks a command before anything of it is sent, in the same cycle: it is a PUT whose bytes stand in it, at most 16 of them, to a range in the
/// window of its queue pair, which must be up.
#[derive(Clone, Debug, LogicBlock)]
pub struct PutCheck {
    /// Words 0 to 7 of the command, word 0 in bits 31:0.
    pub command: Signal<In, Bits<256>>,
    /// Its queue pair.
    pub pair: Signal<In, SendPair>,
    /// What is wrong: 0 nothing, 0x80 no such operation, 0x83 remote range, 0x84 length, 0x88 the queue pair is not up.
    pub code: Signal<Out, Bits<8>>,
    /// The command, if nothing is wrong.
    pub entry: Signal<Out, WorkEntry>,
    #[init(Constant::new((bits::<128>(u64::MAX) << 64) | bits::<128>(u64::MAX)))]
    all: Constant<Bits<128>>,
}

impl Logic for PutCheck {
    #[hdl_gen]
    fn update(&mut self) {
        let what = self.command.val();
        let remote = what.get_bits::<32>(32);
        let length = what.get_bits::<32>(96);
        // The range is compared as an offset in the window.
        let place = remote - self.pair.val().window;
        let behind = bit_cast::<33, 32>(place) + bit_cast::<33, 32>(length);
        let limit = self.pair.val().bytes;
        let is_put = (what.get_bits::<8>(0) == bits::<8>(1)) && what.get_bit(10);
        self.code.next = bits::<8>(0);
        if (place >= limit) || (behind > bit_cast::<33, 32>(limit)) {
            self.code.next = bits::<8>(0x83);
        }
        if !self.pair.val().up {
            self.code.next = bits::<8>(0x88);
        }
        if !length.any() || (length > bits::<32>(16)) {
            self.code.next = bits::<8>(0x84);
        }
        if !is_put {
            self.code.next = bits::<8>(0x80);
        }
        // Bytes behind the last one are zero.
        let mut kept = self.all.val();
        if !length.get_bit(4) {
            kept = !(self.all.val() << (bit_cast::<8, 4>(length.get_bits::<4>(0)) << 3));
        }
        self.entry.next.offset = place;
        self.entry.next.bytes = length.get_bits::<5>(0);
        self.entry.next.data = what.get_bits::<128>(128) & kept;
        self.entry.next.packets = bits::<23>(1);
    }
}
