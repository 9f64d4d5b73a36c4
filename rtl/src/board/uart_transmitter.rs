//! The sending half of a serial line.

use hermes_hdl::prelude::*;

/// Sends bytes on a serial line: 8 data bits, the least significant first, no parity, one stop bit.
///
/// A byte is taken with `valid` and `ready`, and its start bit begins in the next cycle; `ready` is
/// high again when its stop bit has lasted a whole bit. Times run in steps of `2^-16` of a bit:
/// edges are at most one clock cycle late, and their mean is exact.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(step: u64)]
pub struct UartTransmitter {
    /// A byte is offered.
    pub valid: Signal<In, Bit>,
    /// The byte is taken.
    pub ready: Signal<Out, Bit>,
    /// The byte that is offered.
    pub data: Signal<In, Bits<8>>,
    /// The line, to the pin; high while idle.
    pub tx: Signal<Out, Bit>,

    /// Bits that are still to be sent, the one on the line included.
    left: Register<Bits<4>>,
    phase: Register<Bits<16>>,
    /// The bit on the line, and those behind it.
    #[init(Register::new(bits::<10>(0x3ff)))]
    rest: Register<Bits<10>>,
    #[init(Constant::new(step.into()))]
    step: Constant<Bits<16>>,
}

impl UartTransmitter {
    /// A transmitter that passes `step / 2^16` of a bit in a clock cycle.
    ///
    /// # Panics
    /// If `step` is not 1 to 2^14.
    pub fn new(step: u64) -> Self {
        assert!((1..=1 << 14).contains(&step), "UartTransmitter: step {step}, expected 1 to 16384");
        Self::wired(step)
    }
}

impl Logic for UartTransmitter {
    #[hdl_gen]
    fn update(&mut self) {
        let idle = !self.left.q.val().any();
        self.ready.next = idle;
        self.tx.next = self.rest.q.val().get_bit(0);
        let passed = bit_cast::<17, 16>(self.phase.q.val()) + bit_cast::<17, 16>(self.step.val());
        self.phase.d.next = passed.get_bits::<16>(0);
        if idle {
            self.phase.d.next = bits::<16>(0);
            if self.valid.val() {
                self.left.d.next = bits::<4>(10);
                self.rest.d.next = (bit_cast::<10, 8>(self.data.val()) << 1).replace_bit(9, true);
            }
        } else {
            if passed.get_bit(16) {
                self.left.d.next = self.left.q.val() - bits::<4>(1);
                self.rest.d.next = (self.rest.q.val() >> 1).replace_bit(9, true);
            }
        }
    }
}
