//! The cycle counter.

use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The time of the array.
#[derive(Ports)]
pub struct Time {
    /// Cycles since reset.
    pub cycle: Signal<In, Bits<64>>,
}

/// The registers in front of the cycle counter.
#[register_block(TimeDecoder)]
pub struct TimeAccess {
    /// Cycles since reset, bits 31:0; reading it latches CYCLE_HIGH.
    #[register("CYCLE_LOW", 0x080, unset = "it counts from the end of the reset on")]
    #[on_read(latch)]
    pub low: ReadOnly<32>,
    /// Cycles since reset, bits 63:32, as of the last read of CYCLE_LOW.
    #[register("CYCLE_HIGH", 0x084)]
    pub high: ReadOnly<32>,
}

/// The cycle counter and its registers: reading the low half keeps the high half for the read that
/// follows.
#[clocked("the counter is 0")]
#[derive(Clone, Default, LogicBlock)]
pub struct TimeRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus.
    pub answer: RegisterAnswer,
    /// To the array.
    pub hardware: Flipped<Time>,
    decoder: TimeDecoder,
    pub(super) low: Register<Bits<32>>,
    pub(super) high: Register<Bits<32>>,
    high_latched: Register<Bits<32>>,
}

impl RegisterBlock for Time {
    type Unit = TimeRegisters;
    const PART: Part = TimeAccess::PART;
    const REGISTERS: &'static [RegisterSpec] = TimeAccess::REGISTERS;
    fn unit(_config: &Config) -> TimeRegisters {
        TimeRegisters::default()
    }
}

impl Logic for TimeRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        connect!(self.answer, self.decoder.answer);
        self.decoder.hardware.low.next = self.low.q.val();
        self.decoder.hardware.high.next = self.high_latched.q.val();
        self.low.d.next = self.low.q.val() + 1;
        if self.low.q.val().all() {
            self.high.d.next = self.high.q.val() + 1;
        }
        if self.decoder.hardware.latch.val() {
            self.high_latched.d.next = self.high.q.val();
        }
        self.hardware.cycle.next =
            (bit_cast::<64, 32>(self.high.q.val()) << bits::<6>(32)) | bit_cast::<64, 32>(self.low.q.val());
    }
}
