//! Debugging of the command processor's harts.

use super::{Part, RegisterBlock, RegisterSpec};
use crate::config::Config;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// What the registers and [`CommandDebug`](crate::command::CommandDebug) exchange.
#[derive(Ports)]
pub struct DebugControl {
    /// The selected hart.
    pub select: Signal<In, Bits<3>>,
    /// `value` is written to CP_DATA at this edge.
    pub data_write: Signal<In, Bit>,
    /// The selected hart is to execute `value`, for one cycle.
    pub execute: Signal<In, Bit>,
    /// Value for CP_DATA, or word to execute.
    pub value: Signal<In, Bits<32>>,
    /// Harts that are to execute one instruction, for one cycle.
    pub step: Signal<In, Bits<8>>,
    /// Harts that are to go on, for one cycle.
    pub resume: Signal<In, Bits<8>>,
    /// Harts that are to stop, for one cycle.
    pub stop: Signal<In, Bits<8>>,
    /// CP_DATA.
    pub data: Signal<Out, Bits<32>>,
    /// PC of the selected hart, bits 31:2.
    pub pc: Signal<Out, Bits<30>>,
}

/// The registers of [`DebugControl`].
#[register_block(DebugDecoder, part = CommandProcessor)]
pub struct DebugAccess {
    /// The hart of CP_EXECUTE and CP_PC.
    #[register("CP_SELECT", 0x370)]
    pub select: ReadWrite<3>,
    /// CSR 0x7b2 of the instructions that CP_EXECUTE gives to the harts; illegal for all others.
    #[register("CP_DATA", 0x374, access = ReadWrite)]
    #[state(data[31:0])]
    pub keep: Strobe<32>,
    /// Bits 23:16: hart n stops at the next boundary between two instructions; one that is held
    /// stops before its first. Bits 15:8: hart n, which is stopped, goes on. Bits 7:0: hart n,
    /// which is stopped, executes one instruction, takes no interrupt, and stops again; of an
    /// exception it enters the trap. Of step and resume of one hart the step counts. No effect on a
    /// hart that executes the word of CP_EXECUTE.
    #[register("CP_STEP", 0x378)]
    #[fields(step[7:0], resume[15:8], stop[23:16])]
    pub control: WriteOnly<24>,
    /// The selected hart, which is stopped, executes the instruction that is written, once; its PC
    /// changes by a jump that is taken alone. Bit 31 of CP_STATUS is set meanwhile. An exception,
    /// one of which is an access to a device, enters no trap but sets bit 30 of CP_STATUS. So does
    /// a write while the hart is not stopped, or a word is executed; it has no other effect.
    #[register("CP_EXECUTE", 0x37c)]
    pub execute: Strobe<32>,
    /// PC of the selected hart, whether it runs or not: of the next instruction to retire; 0 for a
    /// hart that is not there.
    #[register("CP_PC", 0x3a8, reset = 0x1_0000)]
    #[fields(pc[31:2])]
    pub place: ReadOnly<32>,
}

/// The unit of these registers. Writes of CP_DATA and CP_EXECUTE reach the hardware in the cycle of
/// the access, those of CP_STEP in the next.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct DebugRegisters {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus, in the same cycle.
    pub answer: RegisterAnswer,
    /// To the command processor.
    pub hardware: Flipped<DebugControl>,
    decoder: DebugDecoder,
}

impl RegisterBlock for DebugControl {
    type Unit = DebugRegisters;
    const PART: Part = DebugAccess::PART;
    const REGISTERS: &'static [RegisterSpec] = DebugAccess::REGISTERS;
    fn unit(_config: &Config) -> DebugRegisters {
        DebugRegisters::default()
    }
}

impl Logic for DebugRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        connect!(self.answer, self.decoder.answer);
        self.hardware.select.next = self.decoder.hardware.select.val();
        self.hardware.data_write.next = self.decoder.hardware.keep.val();
        self.hardware.execute.next = self.decoder.hardware.execute.val();
        // What has no strobe keeps its value, in CP_EXECUTE is 0.
        let written = self.request.data.val() & self.request.mask.val();
        self.hardware.value.next = written;
        if self.decoder.hardware.keep.val() {
            self.hardware.value.next = written | (self.hardware.data.val() & !self.request.mask.val());
        }
        self.hardware.step.next = self.decoder.hardware.step.val();
        self.hardware.resume.next = self.decoder.hardware.resume.val();
        self.hardware.stop.next = self.decoder.hardware.stop.val();
        self.decoder.hardware.data.next = self.hardware.data.val();
        self.decoder.hardware.pc.next = self.hardware.pc.val();
    }
}
