//! The top for the Colorlight i5.

use hermes_rtl::prelude::*;

use crate::board::Settings;
use crate::prim::Ecp5Clock;
use crate::system::BoardSystem;

/// Pins of a Colorlight i5 (LFE5U-25F) on its extension board, whose serial line goes through the programmer.
///
/// The one lamp, low to be on, beats; it stays on if a thread ended with a fault or memory answered with an error.
#[derive(LogicBlock)]
#[new(settings: &Settings)]
pub struct ColorlightI5<const LANES: usize> {
    /// Oscillator of 25 MHz.
    pub clk_25mhz: Signal<In, Clock>,
    /// Serial line from the programmer.
    pub uart_rx: Signal<In, Bit>,
    /// Serial line to the programmer.
    pub uart_tx: Signal<Out, Bit>,
    /// The lamp.
    pub led_n: Signal<Out, Bit>,

    #[init(Ecp5Clock::new(settings.pll))]
    clocks: Ecp5Clock,
    #[init(BoardSystem::new(settings))]
    system: BoardSystem<LANES>,
}

impl<const LANES: usize> ColorlightI5<LANES> {
    /// A Colorlight i5 with these settings.
    ///
    /// # Panics
    /// As [`BoardSystem::new`].
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self::wired(settings)
    }
}

impl<const LANES: usize> Logic for ColorlightI5<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.clocks.clock_in.next = self.clk_25mhz.val();
        self.clocks.button.next = false;
        self.system.clock.next = self.clocks.clock_out.val();
        self.system.reset.next = self.clocks.reset_out.val();
        self.system.uart_rx.next = self.uart_rx.val();
        self.uart_tx.next = self.system.uart_tx.val();
        self.led_n.next = !(self.system.heartbeat.val() || self.system.fault.val());
    }
}
