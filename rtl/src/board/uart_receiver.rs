//! The receiving half of a serial line.

use hermes_hdl::prelude::*;

/// Takes bytes from a serial line: 8 data bits, the least significant first, no parity, one stop
/// bit.
///
/// 1. `rx` may change at any time: it passes two flip-flops first.
/// 2. A falling edge of the idle line begins a byte. Each bit is sampled in its middle; times run
///    from that edge on, in steps of `2^-16` of a bit, so that any rate up to a quarter of the
///    clock will do.
/// 3. `valid` is high for one cycle, in the middle of the stop bit, with the byte, and `error` if
///    the stop bit is low. After that the line has to be high before it can fall again: a line that
///    stays low gives one byte with an error.
/// 4. A start bit that is over by its middle is noise and is ignored.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(step: u64)]
pub struct UartReceiver {
    /// The line, from the pin; high while idle.
    pub rx: Signal<In, Bit>,
    /// A byte has come.
    pub valid: Signal<Out, Bit>,
    /// The byte that has come.
    pub data: Signal<Out, Bits<8>>,
    /// The stop bit of the byte is missing.
    pub error: Signal<Out, Bit>,

    #[init(Register::new(true))]
    met: Register<Bit>,
    #[init(Register::new(true))]
    line: Register<Bit>,
    #[init(Register::new(true))]
    before: Register<Bit>,
    /// Bits that are still to be sampled, start and stop bit included; 0: the line is idle.
    left: Register<Bits<4>>,
    /// Part of a bit that has passed since the last sample.
    phase: Register<Bits<16>>,
    byte: Register<Bits<8>>,
    #[init(Constant::new(step.into()))]
    step: Constant<Bits<16>>,
}

impl UartReceiver {
    /// A receiver that passes `step / 2^16` of a bit in a clock cycle.
    ///
    /// # Panics
    /// If `step` is not 1 to 2^14.
    pub fn new(step: u64) -> Self {
        assert!((1..=1 << 14).contains(&step), "UartReceiver: step {step}, expected 1 to 16384");
        Self::wired(step)
    }
}

impl Logic for UartReceiver {
    #[hdl_gen]
    fn update(&mut self) {
        self.met.d.next = self.rx.val();
        self.line.d.next = self.met.q.val();
        self.before.d.next = self.line.q.val();
        let passed = bit_cast::<17, 16>(self.phase.q.val()) + bit_cast::<17, 16>(self.step.val());
        self.phase.d.next = passed.get_bits::<16>(0);
        let samples = self.left.q.val().any() && passed.get_bit(16);
        self.valid.next = false;
        if !self.left.q.val().any() {
            // The middle of the start bit is half a bit away.
            self.phase.d.next = bits::<16>(0x8000);
            if self.before.q.val() && !self.line.q.val() {
                self.left.d.next = bits::<4>(10);
            }
        }
        if samples {
            self.left.d.next = self.left.q.val() - bits::<4>(1);
            if self.left.q.val() == bits::<4>(10) {
                if self.line.q.val() {
                    self.left.d.next = bits::<4>(0);
                }
            } else {
                if self.left.q.val() == bits::<4>(1) {
                    self.valid.next = true;
                } else {
                    self.byte.d.next = (self.byte.q.val() >> 1).replace_bit(7, self.line.q.val());
                }
            }
        }
        self.data.next = self.byte.q.val();
        self.error.next = !self.line.q.val();
    }
}
