//! The top for the ULX3S.

use hermes_hdl::prelude::*;

use crate::board::Settings;
use crate::prim::{Ecp5Clock, Ecp5SdramPins};
use crate::system::BoardSystem;

/// Pins of the SDRAM, an AS4C32M16SB.
#[derive(Ports)]
pub struct SdramPins {
    /// Clock.
    pub clk: Signal<Out, Bit>,
    /// Clock enable.
    pub cke: Signal<Out, Bit>,
    /// Chip select, active low.
    pub csn: Signal<Out, Bit>,
    /// Row address strobe, active low.
    pub rasn: Signal<Out, Bit>,
    /// Column address strobe, active low.
    pub casn: Signal<Out, Bit>,
    /// Write enable, active low.
    pub wen: Signal<Out, Bit>,
    /// Bank.
    pub ba: Signal<Out, Bits<2>>,
    /// Row, column or mode.
    pub a: Signal<Out, Bits<13>>,
    /// Byte mask, active high.
    pub dqm: Signal<Out, Bits<2>>,
    /// Data, both ways.
    pub d: Signal<Out, Bits<16>>,
}

/// Pins of a ULX3S with an LFE5U-85F. Their names are those of the board's schematics.
///
/// LED 0 beats, LED 1 is on while packets are in the array, LED 2 if a thread ended with a fault or
/// memory answered with an error.
#[derive(LogicBlock)]
#[new(settings: &Settings)]
pub struct Ulx3s<const LANES: usize> {
    /// Oscillator of 25 MHz.
    pub clk_25mhz: Signal<In, Clock>,
    /// Serial line from the FT231X.
    pub ftdi_txd: Signal<In, Bit>,
    /// Serial line to the FT231X.
    pub ftdi_rxd: Signal<Out, Bit>,
    /// Button FIRE1: resets everything but the packet memory's contents.
    pub btn_fire1: Signal<In, Bit>,
    /// LEDs.
    pub led: Signal<Out, Bits<8>>,
    /// Keeps the ESP32 from taking the board over: high.
    pub wifi_gpio0: Signal<Out, Bit>,

    /// The SDRAM (only if the packet memory is there).
    #[there(settings.packet_memory().is_sdram())]
    pub sdram: Part<SdramPins>,

    #[init(Ecp5Clock::new(settings.pll))]
    clocks: Ecp5Clock,
    #[init(BoardSystem::new(settings))]
    system: BoardSystem<LANES>,
    #[init(settings.packet_memory().pins())]
    pins: Part<Ecp5SdramPins>,
}

impl<const LANES: usize> Ulx3s<LANES> {
    /// A ULX3S with these settings.
    ///
    /// # Panics
    /// As [`BoardSystem::new`].
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self::wired(settings)
    }
}

impl<const LANES: usize> Logic for Ulx3s<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.clocks.clock_in.next = self.clk_25mhz.val();
        self.clocks.button.next = self.btn_fire1.val();
        self.system.clock.next = self.clocks.clock_out.val();
        self.system.reset.next = self.clocks.reset_out.val();
        self.system.uart_rx.next = self.ftdi_txd.val();
        self.ftdi_rxd.next = self.system.uart_tx.val();
        self.led.next = bits::<8>(0)
            .replace_bit(0, self.system.heartbeat.val())
            .replace_bit(1, self.system.busy.val())
            .replace_bit(2, self.system.fault.val());
        self.wifi_gpio0.next = true;
        if self.sdram.is_there() {
            self.pins.clock.next = self.clocks.clock_out.val();
            connect!(*self.system.sdram, self.pins.bus);
            self.sdram.clk.next = self.pins.sdram_clk.val();
            self.sdram.cke.next = true;
            self.sdram.csn.next = self.system.sdram.csn.val();
            self.sdram.rasn.next = self.system.sdram.rasn.val();
            self.sdram.casn.next = self.system.sdram.casn.val();
            self.sdram.wen.next = self.system.sdram.wen.val();
            self.sdram.ba.next = self.system.sdram.ba.val();
            self.sdram.a.next = self.system.sdram.a.val();
            self.sdram.dqm.next = self.system.sdram.dqm.val();
            self.sdram.d.next = self.pins.sdram_d.val();
        }
    }
}
