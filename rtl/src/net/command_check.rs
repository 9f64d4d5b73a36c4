//! What can be wrong with a command.

use super::{
    access, code, command_operation, operation, PostedCommand, Region, RegionCheck, SendPair, WorkEntry,
};
use hermes_hdl::prelude::*;

/// Bytes of an atomic operation.
const ATOMIC_BYTES: u64 = 8;

/// Checks a command before anything of it is sent, in the same cycle. Its range lies in the window
/// of its queue pair, which must be up, and of the domain of who posts it.
///
/// | operation | local bytes |
/// | --- | --- |
/// | 1 PUT | of a region that may be read, or at most 16 in it |
/// | 2 GET | of a region that may be written, or at most 8, which are its result |
/// | 4 FETCH_ADD, 5 COMPARE_SWAP | 8 at a multiple of 8: words 4 and 5 are added or put there, words 6 and 7 compared; the result is what was there |
#[derive(Clone, LogicBlock)]
pub struct CommandCheck {
    /// Command that is checked.
    pub command: Signal<In, PostedCommand>,
    /// Queue pair of the command.
    pub pair: Signal<In, SendPair>,
    /// Region of the command's local bytes.
    pub region: Signal<In, Region>,
    /// Code of the error, as in [`code`]; 0: there is none.
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
        let command_words = self.command.val().words;
        let remote = command_words.get_bits::<32>(32);
        let source = command_words.get_bits::<32>(64);
        let length = command_words.get_bits::<32>(96);
        let number = command_words.get_bits::<8>(0);
        let is_put = number == bits::<8>(command_operation::PUT);
        let is_get = number == bits::<8>(command_operation::GET);
        let is_add = number == bits::<8>(command_operation::FETCH_ADD);
        let is_swap = number == bits::<8>(command_operation::COMPARE_SWAP);
        let is_atomic = is_add || is_swap;
        let is_inline = command_words.get_bit(10) || is_atomic;
        // The range is compared as an offset in the window.
        let remote_offset = remote - self.pair.val().window;
        let behind = bit_cast::<33, 32>(remote_offset) + bit_cast::<33, 32>(length);
        let limit = self.pair.val().bytes;
        self.local.region.next = self.region.val();
        self.local.domain.next = self.command.val().domain;
        self.local.rights.next = bits::<5>(access::LOCAL_READ);
        if is_get {
            self.local.rights.next = bits::<5>(access::LOCAL_WRITE);
        }
        self.local.address.next = source;
        self.local.bytes.next = length;
        self.code.next = bits::<8>(0);
        if !is_inline && !self.local.allowed.val() {
            self.code.next = bits::<8>(code::LOCAL_RANGE);
        }
        if (remote_offset >= limit) || (behind > bit_cast::<33, 32>(limit)) {
            self.code.next = bits::<8>(code::REMOTE_RANGE);
        }
        if !self.pair.val().up || (self.pair.val().domain != self.command.val().domain) {
            self.code.next = bits::<8>(code::DOWN);
        }
        let wire = self.pair.val().base.get_bits::<3>(0) + remote_offset.get_bits::<3>(0);
        if is_atomic && (remote.get_bits::<3>(0).any() || wire.any()) {
            self.code.next = bits::<8>(code::ALIGNMENT);
        }
        let mut most = bits::<32>(1) << 30;
        if is_inline {
            most = bits::<32>(16);
        }
        if is_inline && !is_put {
            most = bits::<32>(8);
        }
        if !length.any() || (length > most) || (is_atomic && (length != bits::<32>(ATOMIC_BYTES))) {
            self.code.next = bits::<8>(code::LENGTH);
        }
        if !is_put && !is_get && !is_atomic {
            self.code.next = bits::<8>(code::OPERATION);
        }
        if command_words.get_bit(11)
            || command_words.get_bits::<2>(14).any()
            || command_words.get_bits::<4>(28).any()
        {
            self.code.next = bits::<8>(code::RESERVED);
        }
        // Bytes behind the last one are zero.
        let mut kept = self.all.val();
        if !length.get_bit(4) && !is_atomic {
            kept = !(self.all.val() << (bit_cast::<8, 4>(length.get_bits::<4>(0)) << 3));
        }
        self.entry.next.operation = bits::<2>(operation::PUT);
        if is_get {
            self.entry.next.operation = bits::<2>(operation::GET);
        }
        if is_add {
            self.entry.next.operation = bits::<2>(operation::ADD);
        }
        if is_swap {
            self.entry.next.operation = bits::<2>(operation::SWAP);
        }
        self.entry.next.offset = remote_offset;
        self.entry.next.bytes = length;
        self.entry.next.memory = !is_inline;
        self.entry.next.data = command_words.get_bits::<128>(128) & kept;
        if !is_inline {
            self.entry.next.data = bit_cast::<128, 32>(source);
        }
        self.entry.next.region = self.command.val().region;
        self.entry.next.domain = self.command.val().domain;
        self.entry.next.owner = self.command.val().owner;
        self.entry.next.context = self.command.val().context;
        self.entry.next.index = self.command.val().index;
        let rest = (bits::<32>(1) << self.pair.val().mtu) - bits::<32>(1);
        let packets = (length + rest) >> self.pair.val().mtu;
        self.entry.next.packets = packets.get_bits::<23>(0);
    }
}
