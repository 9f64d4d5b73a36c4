//! The top for the ULX3S.

use hermes_hdl::prelude::*;

use crate::board::Settings;
use crate::prim::{Ecp5Clock, Ecp5SdramPins};
use crate::system::BoardSystem;

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

    // The SDRAM: one element each if the packet memory is there
    /// Clock.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_clk: Vec<Signal<Out, Bit>>,
    /// Clock enable.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_cke: Vec<Signal<Out, Bit>>,
    /// Chip select, active low.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_csn: Vec<Signal<Out, Bit>>,
    /// Row address strobe, active low.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_rasn: Vec<Signal<Out, Bit>>,
    /// Column address strobe, active low.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_casn: Vec<Signal<Out, Bit>>,
    /// Write enable, active low.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_wen: Vec<Signal<Out, Bit>>,
    /// Bank.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_ba: Vec<Signal<Out, Bits<2>>>,
    /// Row, column or mode.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_a: Vec<Signal<Out, Bits<13>>>,
    /// Byte mask, active high.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_dqm: Vec<Signal<Out, Bits<2>>>,
    /// Data, both ways.
    #[count(settings.packet_memory().sdrams())]
    pub sdram_d: Vec<Signal<Out, Bits<16>>>,

    #[init(Ecp5Clock::new(settings.pll))]
    clocks: Ecp5Clock,
    #[init(BoardSystem::new(settings))]
    system: BoardSystem<LANES>,
    #[init(settings.packet_memory().pins())]
    pins: Vec<Ecp5SdramPins>,
    #[init(settings.packet_memory().sdrams())]
    _sdrams: usize,
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
        for i in 0..self._sdrams {
            self.pins[i].clock.next = self.clocks.clock_out.val();
            connect!(self.system.sdram[i], self.pins[i].bus);
            self.sdram_clk[i].next = self.pins[i].sdram_clk.val();
            self.sdram_cke[i].next = true;
            self.sdram_csn[i].next = self.system.sdram[i].csn.val();
            self.sdram_rasn[i].next = self.system.sdram[i].rasn.val();
            self.sdram_casn[i].next = self.system.sdram[i].casn.val();
            self.sdram_wen[i].next = self.system.sdram[i].wen.val();
            self.sdram_ba[i].next = self.system.sdram[i].ba.val();
            self.sdram_a[i].next = self.system.sdram[i].a.val();
            self.sdram_dqm[i].next = self.system.sdram[i].dqm.val();
            self.sdram_d[i].next = self.pins[i].sdram_d.val();
        }
    }
}
