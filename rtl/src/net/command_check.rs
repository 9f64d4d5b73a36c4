//! What can be wrong with a command.

use super::{Region, RegionCheck, SendPair, WorkEntry};
use crate::prelude::*;

/// A command is not checked, but posted: what else it is posted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct PostedCommand {
    /// Its words 0 to 7, word 0 in bits 31:0.
    pub words: Bits<256>,
    /// Its queue pair.
    pub pair: Bits<4>,
    /// The region of its local bytes.
    pub region: Bits<4>,
    /// The domain of who posted it.
    pub domain: Bits<4>,
}

/// Checks a command before anything of it is sent, in the same cycle: it is a PUT to a range in the window of its queue pair, which must be up, and of
/// the domain of who posts it. Its bytes stand in it, at most 16 of them, or in a region that may be read.
#[derive(Clone, Debug, LogicBlock)]
pub struct CommandCheck {
    /// The command.
    pub command: Signal<In, PostedCommand>,
    /// Its queue pair.
    pub pair: Signal<In, SendPair>,
    /// Its region.
    pub region: Signal<In, Region>,
    /// What is wrong: 0 nothing, 0x80 no such operation, 0x82 local range, 0x83 remote range, 0x84 length, 0x88 the queue pair is not up, or of another
    /// domain, 0x8a a reserved bit is set.
    pub code: Signal<Out, Bits<8>>,
    /// The command, if nothing is wrong.
    pub entry: Signal<Out, WorkEntry>,
    local: RegionCheck,
    #[init(Constant::new((bits::<128>(u64::MAX) << 64) | bits::<128>(u64::MAX)))]
    all: Constant<Bits<128>>,
}

impl Logic for CommandCheck {
    #[hdl_gen]
    fn update(&mut self) {
        let what = self.command.val().words;
        let remote = what.get_bits::<32>(32);
        let source = what.get_bits::<32>(64);
        let length = what.get_bits::<32>(96);
        let is_inline = what.get_bit(10);
        // The range is compared as an offset in the window.
        let place = remote - self.pair.val().window;
        let behind = bit_cast::<33, 32>(place) + bit_cast::<33, 32>(length);
        let limit = self.pair.val().bytes;
        self.local.region.next = self.region.val();
        self.local.domain.next = self.command.val().domain;
        self.local.rights.next = bits::<5>(8);
        self.local.address.next = source;
        self.local.bytes.next = length;
        self.code.next = bits::<8>(0);
        if !is_inline && !self.local.allowed.val() {
            self.code.next = bits::<8>(0x82);
        }
        if (place >= limit) || (behind > bit_cast::<33, 32>(limit)) {
            self.code.next = bits::<8>(0x83);
        }
        if !self.pair.val().up || (self.pair.val().domain != self.command.val().domain) {
            self.code.next = bits::<8>(0x88);
        }
        let mut most = bits::<32>(1) << 30;
        if is_inline {
            most = bits::<32>(16);
        }
        if !length.any() || (length > most) {
            self.code.next = bits::<8>(0x84);
        }
        if what.get_bits::<8>(0) != bits::<8>(1) {
            self.code.next = bits::<8>(0x80);
        }
        if what.get_bit(11) || what.get_bits::<2>(14).any() || what.get_bits::<4>(28).any() {
            self.code.next = bits::<8>(0x8a);
        }
        // Bytes behind the last one are zero.
        let mut kept = self.all.val();
        if !length.get_bit(4) {
            kept = !(self.all.val() << (bit_cast::<8, 4>(length.get_bits::<4>(0)) << 3));
        }
        self.entry.next.offset = place;
        self.entry.next.bytes = length;
        self.entry.next.memory = !is_inline;
        self.entry.next.data = what.get_bits::<128>(128) & kept;
        if !is_inline {
            self.entry.next.data = bit_cast::<128, 32>(source);
        }
        self.entry.next.region = self.command.val().region;
        self.entry.next.domain = self.command.val().domain;
        let rest = (bits::<32>(1) << self.pair.val().mtu) - bits::<32>(1);
        let packets = (length + rest) >> self.pair.val().mtu;
        self.entry.next.packets = packets.get_bits::<23>(0);
    }
}
