//! The check sequence of frames on the serial line.

use crate::net::POLYNOMIAL;
use hermes_hdl::prelude::*;

/// The FCS of RFC 1662, 32 bits (appendix C.3), which is the CRC-32 of Ethernet, a byte a cycle.
///
/// `clear` starts a frame at this edge; `take` takes `byte`. `value` is the register behind the
/// bytes that were taken: the FCS is its complement, sent least significant byte first, and behind
/// that the register is [`RESIDUE`](crate::net::RESIDUE).
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct Fcs {
    /// A frame starts; goes before `take`.
    pub clear: Signal<In, Bit>,
    /// A byte is taken.
    pub take: Signal<In, Bit>,
    /// Value of the byte that is taken.
    pub byte: Signal<In, Bits<8>>,
    /// The register.
    pub value: Signal<Out, Bits<32>>,
    #[init(Register::new(bits::<32>(0xffff_ffffu64)))]
    state: Register<Bits<32>>,
}

impl Logic for Fcs {
    #[hdl_gen]
    fn update(&mut self) {
        let mut made = self.state.q.val() ^ bit_cast::<32, 8>(self.byte.val());
        for _i in 0..8 {
            let least = made.get_bit(0);
            made = made >> 1;
            if least {
                made = made ^ bits::<32>(POLYNOMIAL as u64);
            }
        }
        if self.take.val() {
            self.state.d.next = made;
        }
        if self.clear.val() {
            self.state.d.next = bits::<32>(0xffff_ffffu64);
        }
        self.value.next = self.state.q.val();
    }
}
