//! The console of the command processor.

use crate::blocks::SyncFifo;
use crate::ports::{RegisterAnswer, RegisterRequest};
use hermes_hdl::prelude::*;
use hermes_rtl_macros::register_block;

/// The registers of [`Console`].
#[register_block(ConsoleDecoder, part = CommandProcessor)]
pub struct ConsoleAccess {
    /// Console output. The command processor writes a byte in bits 7:0, which is dropped while 64
    /// bytes wait; it reads free places in bits 6:0, bytes dropped since reset, modulo 2^16, in
    /// bits 31:16. The host reads the oldest byte in bits 7:0, which is removed; bit 31: there is
    /// none.
    #[register("CONSOLE", 0x360, reset = 0x8000_0000)]
    #[on_read(read_out)]
    #[state(out[31:0])]
    pub write_out: Strobe<32>,
    /// Console input. The host writes a byte in bits 7:0, which is dropped while 16 bytes wait;
    /// with bit 31 set it removes the oldest byte instead. It reads free places in bits 4:0. The
    /// command processor reads the oldest byte in bits 7:0, which is removed; bit 31: there is
    /// none.
    #[register("CONSOLE_IN", 0x3ac, reset = 16)]
    #[on_read(read_in)]
    #[state(into[31:0])]
    pub write_in: Strobe<32>,
}

/// Console of the command processor: a FIFO of 64 bytes to the host, one of 16 bytes from it.
///
/// 1. What an access does depends on who makes it: the writer of a FIFO writes bytes and reads how
///    many places are free, the reader takes bytes. A write of the reader has no effect. A write of
///    the host to CONSOLE_IN with bit 31 set takes back the oldest byte.
/// 2. A byte can be read two cycles after its write. One that finds its FIFO full is dropped; those
///    to the host are counted.
/// 3. `sent`, `received` are high in the cycle in which a byte is put into the FIFO to, from the
///    host.
#[clocked("empties both FIFOs")]
#[derive(Clone, Default, LogicBlock)]
pub struct Console {
    /// From the bus.
    pub request: RegisterRequest,
    /// To the bus, in the same cycle.
    pub answer: RegisterAnswer,
    /// The access is one of the command processor.
    pub by_command: Signal<In, Bit>,
    /// A byte goes to the host.
    pub sent: Signal<Out, Bit>,
    /// A byte comes from the host.
    pub received: Signal<Out, Bit>,
    decoder: ConsoleDecoder,
    output: SyncFifo<Bits<8>, 6, 7>,
    input: SyncFifo<Bits<8>, 4, 5>,
    dropped: Register<Bits<16>>,
}

impl Logic for Console {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.request, self.decoder.request);
        connect!(self.answer, self.decoder.answer);
        let byte = (self.request.data.val() & self.request.mask.val()).get_bits::<8>(0);

        let writes_out = self.decoder.hardware.write_out.val() & self.by_command.val();
        self.output.push_valid.next = writes_out;
        self.output.push_data.next = byte;
        self.output.pop_ready.next = self.decoder.hardware.read_out.val() & !self.by_command.val();
        self.sent.next = writes_out & self.output.push_ready.val();
        if writes_out & !self.output.push_ready.val() {
            self.dropped.d.next = self.dropped.q.val() + 1;
        }

        let removes = (self.request.data.val() & self.request.mask.val()).get_bit(31);
        let host_writes_in = self.decoder.hardware.write_in.val() & !self.by_command.val();
        let writes_in = host_writes_in & !removes;
        self.input.push_valid.next = writes_in;
        self.input.push_data.next = byte;
        self.input.pop_ready.next =
            (self.decoder.hardware.read_in.val() & self.by_command.val()) | (host_writes_in & removes);
        self.received.next = writes_in & self.input.push_ready.val();

        // Bytes for who reads, free places for who writes
        let mut out = bits::<32>(0).replace_bit(31, true);
        if self.output.pop_valid.val() {
            out = bit_cast::<32, 8>(self.output.pop_data.val());
        }
        let mut into = bit_cast::<32, 5>(bits::<5>(16) - self.input.level.val());
        if self.by_command.val() {
            out = bit_cast::<32, 7>(bits::<7>(64) - self.output.level.val())
                | (bit_cast::<32, 16>(self.dropped.q.val()) << bits::<6>(16));
            into = bits::<32>(0).replace_bit(31, true);
            if self.input.pop_valid.val() {
                into = bit_cast::<32, 8>(self.input.pop_data.val());
            }
        }
        self.decoder.hardware.out.next = out;
        self.decoder.hardware.into.next = into;
    }
}
