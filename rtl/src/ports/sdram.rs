//! An SDRAM.

use hermes_hdl::prelude::*;

/// Between the memory controller of a board and an SDRAM of 16 bits; CKE is high. The chip takes in
/// the middle of a cycle what is shown in it.
#[derive(Ports)]
pub struct SdramBus {
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
    /// Row, column or mode; A10 with PRECHARGE means all banks.
    pub a: Signal<Out, Bits<13>>,
    /// Byte mask, active high: bit 0 for data bits 7:0, bit 1 for 15:8.
    pub dqm: Signal<Out, Bits<2>>,
    /// Data to the chip.
    pub d_out: Signal<Out, Bits<16>>,
    /// The data pins are driven, in cycles with WRITE.
    pub d_enable: Signal<Out, Bit>,
    /// Data from the chip, taken by a register first.
    pub d_in: Signal<In, Bits<16>>,
}
