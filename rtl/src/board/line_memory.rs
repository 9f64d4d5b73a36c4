//! The packet memory of a board.

use crate::ports::{MemoryAxi, MemoryByte};
use hermes_hdl::prelude::*;

/// What the memory does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum LineAccess {
    /// Nothing, or an access of a byte.
    Idle,
    /// The byte that was read is given.
    Byte,
    /// A line is read, 16 bytes a cycle.
    Read,
    /// The line that was read is offered.
    Answer,
    /// A line is written, 16 bytes a cycle.
    Write,
}

/// A memory of lines of 64 bytes in block RAM: AXI4 for the array, and single bytes for the host.
///
/// The RAM is 16 bytes wide, and one line passes it after the other, so that the wires of 512 bits
/// end here: on an FPGA of modest size they are what cannot be routed.
///
/// 1. RVALID is high 6 cycles after ARVALID, and lines that are read back to back take 7 cycles
///    each; BVALID is high 5 cycles after AWVALID and WVALID, and lines that are written back to
///    back take 6 each. Requests are answered in the order in which they are taken; reads and
///    writes take turns. AWREADY and WREADY are high together, when both are offered.
/// 2. Beyond the memory AXI4 accesses are answered with DECERR and do nothing. The host is not to
///    go there.
/// 3. A byte goes first when the memory is idle. It is written at the edge with `byte.valid` and
///    `byte.ready`; a byte that was read is given with `byte.answer` in the cycle after that.
#[clocked("The contents stay")]
#[derive(Clone, LogicBlock)]
#[new(words: usize)]
pub struct LineMemory {
    /// AXI4, from the array: a line is a burst of one beat.
    pub s_axi: MemoryAxi,

    /// A byte for the host.
    pub byte: MemoryByte,

    /// The four columns of 32 bits.
    #[init((0..4).map(|_| RamBytes::new(words)).collect())]
    column: Vec<RamBytes<16>>,
    state: Register<LineAccess>,
    line: Register<Bits<512>>,
    strobe: Register<Bits<64>>,
    /// Number of the 16 bytes, those of the line in the lowest bits.
    row: Register<Bits<16>>,
    /// Reads: rows that were read and those that were taken.
    step: Register<Bits<3>>,
    id: Register<Bits<8>>,
    outside: Register<Bit>,
    /// The next line is written if there is one of both kinds.
    write_first: Register<Bit>,
    answers: Register<Bit>,
    answer_id: Register<Bits<8>>,
    answer_outside: Register<Bit>,
    /// Index of the byte of a row that the host reads.
    place: Register<Bits<4>>,
    #[init(Constant::new((16 * words as u64).into()))]
    bytes: Constant<Bits<32>>,
}

impl LineMemory {
    /// A memory of `2^bytes_log2` bytes.
    ///
    /// # Panics
    /// If `bytes_log2` is not 10 to 20.
    pub fn new(bytes_log2: usize) -> Self {
        assert!((10..=20).contains(&bytes_log2), "LineMemory: 2^{bytes_log2} bytes, expected 2^10 to 2^20");
        Self::wired(1 << (bytes_log2 - 4))
    }
}

impl Logic for LineMemory {
    #[hdl_gen]
    fn update(&mut self) {
        let idle = self.state.q.val() == LineAccess::Idle;
        let writes = self.s_axi.awvalid.val() && self.s_axi.wvalid.val() && !self.answers.q.val();
        let reads = self.s_axi.arvalid.val();
        let takes_byte = idle && self.byte.valid.val();
        let takes_write = idle && !takes_byte && writes && (self.write_first.q.val() || !reads);
        let takes_read = idle && !takes_byte && reads && !takes_write;
        self.byte.ready.next = takes_byte;
        self.s_axi.awready.next = takes_write;
        self.s_axi.wready.next = takes_write;
        self.s_axi.arready.next = takes_read;

        // What the columns do
        let same = bit_cast::<32, 8>(self.byte.data.val());
        let pair = same | (same << 8);
        let mut at_row = self.row.q.val();
        let mut enables = bits::<16>(0);
        let mut works = self.state.q.val() == LineAccess::Read;
        if self.state.q.val() == LineAccess::Write {
            enables = self.strobe.q.val().get_bits::<16>(0);
            works = !self.outside.q.val();
        }
        if idle {
            works = takes_byte;
            at_row = self.byte.address.val().get_bits::<16>(4);
            if self.byte.write.val() {
                enables = bits::<16>(1) << self.byte.address.val().get_bits::<4>(0);
            }
        }
        for i in 0..4 {
            self.column[i].enable.next = works;
            self.column[i].address.next = at_row;
            self.column[i].write_data.next = self.line.q.val().get_bits::<32>(32 * i);
            if idle {
                self.column[i].write_data.next = pair | (pair << 16);
            }
            self.column[i].write_strobe.next = enables.get_bits::<4>(4 * i);
        }
        let read = (bit_cast::<128, 32>(self.column[3].read_data.val()) << 96)
            | (bit_cast::<128, 32>(self.column[2].read_data.val()) << 64)
            | (bit_cast::<128, 32>(self.column[1].read_data.val()) << 32)
            | bit_cast::<128, 32>(self.column[0].read_data.val());

        // Bytes of the host
        self.byte.answer.next = self.state.q.val() == LineAccess::Byte;
        let turned = read >> (bit_cast::<7, 4>(self.place.q.val()) << 3);
        self.byte.read.next = turned.get_bits::<8>(0);
        self.place.d.next = self.byte.address.val().get_bits::<4>(0);
        if takes_byte && !self.byte.write.val() {
            self.state.d.next = LineAccess::Byte;
        }
        if self.state.q.val() == LineAccess::Byte {
            self.state.d.next = LineAccess::Idle;
        }

        // Lines
        self.step.d.next = self.step.q.val() + bits::<3>(1);
        if idle {
            self.step.d.next = bits::<3>(0);
        }
        if takes_read {
            self.write_first.d.next = true;
            self.state.d.next = LineAccess::Read;
            self.id.d.next = self.s_axi.arid.val();
            self.row.d.next = self.s_axi.araddr.val().get_bits::<16>(4);
            self.outside.d.next = self.s_axi.araddr.val() >= self.bytes.val();
        }
        if takes_write {
            self.write_first.d.next = false;
            self.state.d.next = LineAccess::Write;
            self.id.d.next = self.s_axi.awid.val();
            self.row.d.next = self.s_axi.awaddr.val().get_bits::<16>(4);
            self.outside.d.next = self.s_axi.awaddr.val() >= self.bytes.val();
            self.line.d.next = self.s_axi.wdata.val();
            self.strobe.d.next = self.s_axi.wstrb.val();
        }
        let moves = self.state.q.val() == LineAccess::Read || self.state.q.val() == LineAccess::Write;
        if moves {
            self.row.d.next = self.row.q.val() + bits::<16>(1);
            self.strobe.d.next = self.strobe.q.val() >> 16;
            self.line.d.next = (self.line.q.val() >> 128) | (bit_cast::<512, 128>(read) << 384);
        }
        if self.state.q.val() == LineAccess::Read && self.step.q.val() == bits::<3>(4) {
            self.state.d.next = LineAccess::Answer;
        }
        if self.state.q.val() == LineAccess::Answer && self.s_axi.rready.val() {
            self.state.d.next = LineAccess::Idle;
        }
        self.s_axi.rvalid.next = self.state.q.val() == LineAccess::Answer;
        self.s_axi.rid.next = self.id.q.val();
        self.s_axi.rdata.next = self.line.q.val();
        self.s_axi.rresp.next = bits::<2>(0);
        if self.outside.q.val() {
            self.s_axi.rresp.next = bits::<2>(3);
        }
        if self.s_axi.bready.val() {
            self.answers.d.next = false;
        }
        if self.state.q.val() == LineAccess::Write && self.step.q.val() == bits::<3>(3) {
            self.state.d.next = LineAccess::Idle;
            self.answers.d.next = true;
            self.answer_id.d.next = self.id.q.val();
            self.answer_outside.d.next = self.outside.q.val();
        }
        self.s_axi.bvalid.next = self.answers.q.val();
        self.s_axi.bid.next = self.answer_id.q.val();
        self.s_axi.bresp.next = bits::<2>(0);
        if self.answer_outside.q.val() {
            self.s_axi.bresp.next = bits::<2>(3);
        }
    }
}
