//! A filter with a finite impulse response (FIR): a small design with a port group, memories,
//! registers and a state machine.

use hermes_hdl::prelude::*;

/// A stream of numbers. One moves at each rising edge at which `valid` and `ready` are high.
#[derive(Ports)]
pub struct Samples<const W: usize> {
    /// `value` is there; it stays until it is taken.
    pub valid: Signal<In, Bit>,
    /// Two's complement.
    pub value: Signal<In, Bits<W>>,
    /// The receiver takes it.
    pub ready: Signal<Out, Bit>,
}

/// What the filter does in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum Step {
    /// Waits for a sample.
    Wait,
    /// Adds the product of a tap.
    Add,
    /// Offers the sum.
    Offer,
}

/// FIR filter with `2^A` taps and one multiplier: `y[n] = sum of c[k] * x[n - k]`, exact with up to
/// 256 taps.
///
/// 1. `filtered` offers `y[n]` `2^A + 1` cycles after `x[n]` was taken; the next sample is taken
///    after that.
/// 2. Samples before the first one after reset count as 0.
/// 3. A coefficient must be loaded before it is used, and changes while no sum is under way.
#[clocked("The coefficients stay")]
#[derive(LogicBlock, Default)]
pub struct Fir<const A: usize> {
    /// Loads `coefficient` at this edge.
    pub load: Signal<In, Bit>,
    /// Tap `k` of the coefficient.
    pub tap: Signal<In, Bits<A>>,
    /// Factor of the sample `k` samples ago, two's complement.
    pub coefficient: Signal<In, Bits<16>>,
    /// Input `x`.
    pub samples: Samples<16>,
    /// Output `y`.
    pub filtered: Flipped<Samples<40>>,
    coefficients: RamAsync<Bits<16>, A>,
    history: RamAsync<Bits<16>, A>,
    step: Register<Step>,
    newest: Register<Bits<A>>,
    oldest_tap: Register<Bits<A>>,
    current: Register<Bits<A>>,
    sum: Register<Bits<40>>,
}

impl<const A: usize> Logic for Fir<A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.coefficients.write_enable.next = self.load.val();
        self.coefficients.write_address.next = self.tap.val();
        self.coefficients.write_data.next = self.coefficient.val();
        self.coefficients.read_address.next = self.current.q.val();

        // The history is a ring: the sample `k` samples ago stands `k` places before the newest.
        let taken = self.samples.valid.val() && self.step.q.val() == Step::Wait;
        let place = self.newest.q.val() + 1;
        self.history.write_enable.next = taken;
        self.history.write_address.next = place;
        self.history.write_data.next = self.samples.value.val();
        self.history.read_address.next = self.newest.q.val() - self.current.q.val();

        let sample = signed_cast(self.history.read_data.val());
        let factor = signed_cast(self.coefficients.read_data.val());
        let product = sample * factor;
        let term = signed_bit_cast::<40, 32>(product);
        match self.step.q.val() {
            Step::Wait => {
                self.sum.d.next = bits::<40>(0);
                self.current.d.next = bits::<A>(0);
                if taken {
                    self.newest.d.next = place;
                    self.step.d.next = Step::Add;
                }
            }
            Step::Add => {
                // The ring holds what was there before reset, or nothing, behind the oldest sample.
                if self.current.q.val() <= self.oldest_tap.q.val() {
                    self.sum.d.next = self.sum.q.val() + unsigned_cast(term);
                }
                self.current.d.next = self.current.q.val() + 1;
                if self.current.q.val().all() {
                    self.step.d.next = Step::Offer;
                }
            }
            Step::Offer => {
                if self.filtered.ready.val() {
                    if !self.oldest_tap.q.val().all() {
                        self.oldest_tap.d.next = self.oldest_tap.q.val() + 1;
                    }
                    self.step.d.next = Step::Wait;
                }
            }
        }
        self.samples.ready.next = self.step.q.val() == Step::Wait;
        self.filtered.valid.next = self.step.q.val() == Step::Offer;
        self.filtered.value.next = self.sum.q.val();
    }
}
