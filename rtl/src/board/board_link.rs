//! What the host asks of a board over its serial line.

use crate::ports::{AxiLite, MemoryByte};
use hermes_hdl::prelude::*;

/// What a board says of itself (`docs/fpga-link.md`, "Identity").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardIdentity {
    /// Hash of the configuration of the array.
    pub hash: u64,
    /// Bytes of the packet memory as a power of two: 10 to 26.
    pub memory_log2: usize,
    /// Clock of the array in kHz.
    pub kilohertz: u32,
}

/// First word of the identity: "HRMS".
pub const MAGIC: u32 = u32::from_le_bytes(*b"HRMS");
/// Version of the protocol.
pub const PROTOCOL: u32 = 1;
/// Most bytes of memory that a request reads or writes.
pub const MOST_COUNT: u64 = 1024;
/// Address of the trace buffer: the lowest of 2^25 bytes, most of which are not there.
pub const TRACE_ADDRESS: u32 = 1 << 31;

impl BoardIdentity {
    /// The words of the identity that never change.
    fn words(&self) -> Vec<Constant<Bits<32>>> {
        let (low, high) = (self.hash as u32, (self.hash >> 32) as u32);
        let words = [MAGIC, PROTOCOL, low, high, 1 << self.memory_log2, self.kilohertz];
        words.into_iter().map(|word| Constant::new(u64::from(word).into())).collect()
    }
}

/// What a link has beside the registers and the packet memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkParts {
    /// The array has a trace buffer.
    pub trace_buffer: bool,
    /// A read of a register that is repeated is not done again, as for registers whose reads have
    /// an effect: those of the command processor's console.
    pub reads_once: bool,
}

/// What the link does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum LinkState {
    /// Takes the bytes of a request.
    Receive,
    /// Looks at it.
    Check,
    /// Writes a register.
    WriteRegister,
    /// Reads a register.
    ReadRegister,
    /// Takes a byte of the request from the buffer.
    Fetch,
    /// Writes it to the memory.
    Store,
    /// Holds the array in reset.
    Reset,
    /// Sends the head of the answer, or data other than of the memory.
    Answer,
    /// Asks the memory for a byte.
    Load,
    /// Waits for it.
    Loading,
    /// Sends it.
    Give,
}

/// Does what the frames of the host ask, one after the other, and answers each
/// (`docs/fpga-link.md`).
///
/// 1. `enable` is high while a request is awaited; a frame that comes while another is worked on or
///    answered is lost.
/// 2. A write whose operation and sequence number are those of the last one is not done again.
///    IDENTIFY forgets the last one. With [`LinkParts::reads_once`] a read of a register counts as
///    a write here, and is answered with the same value again.
/// 3. Registers have 65,536 cycles to answer, and so has the memory for the bytes of a write, and
///    for each byte of a read. After that the access is given up, with status 3, or, of a read of
///    memory whose answer has begun, with an abort. The array needs a reset then.
/// 4. Bytes from [`TRACE_ADDRESS`] on are those of the trace buffer, if the array has one.
/// 5. `array_reset` is high during RESET, for 32 cycles, and while `reset` is. Behind it the array
///    has had time to start.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(identity: BoardIdentity, parts: LinkParts)]
pub struct BoardLink {
    // Requests
    /// Frames are taken.
    pub enable: Signal<Out, Bit>,
    /// A byte of a frame.
    pub byte_valid: Signal<In, Bit>,
    /// Value of the byte.
    pub byte: Signal<In, Bits<8>>,
    /// Number of the byte in its frame.
    pub index: Signal<In, Bits<11>>,
    /// A frame ends.
    pub end: Signal<In, Bit>,
    /// The frame is not what was sent.
    pub damaged: Signal<In, Bit>,
    /// Bytes of the frame.
    pub length: Signal<In, Bits<11>>,

    // Answers
    /// A byte of an answer is offered.
    pub answer_valid: Signal<Out, Bit>,
    /// The byte of the answer is taken.
    pub answer_ready: Signal<In, Bit>,
    /// The byte of the answer.
    pub answer_data: Signal<Out, Bits<8>>,
    /// The byte is the last one of the answer.
    pub answer_last: Signal<Out, Bit>,
    /// The rest of the answer does not come.
    pub answer_abort: Signal<Out, Bit>,

    /// The registers of the array.
    pub m_axil: Flipped<AxiLite>,
    /// The array is reset.
    pub array_reset: Signal<Out, Bit>,
    /// Cycles with packets in the array, modulo 2^32.
    pub busy_cycles: Signal<In, Bits<32>>,

    /// The packet memory.
    pub memory: Flipped<MemoryByte>,
    /// The trace buffer (only with one).
    #[there(parts.trace_buffer)]
    pub trace: Part<Flipped<MemoryByte>>,

    state: Register<LinkState>,
    operation: Register<Bits<8>>,
    sequence: Register<Bits<8>>,
    count: Register<Bits<16>>,
    address: Register<Bits<32>>,
    /// Value of a register, to write or read.
    value: Register<Bits<32>>,
    received: Register<Bits<11>>,
    buffer: RamSync<Bits<8>, 11>,
    status: Register<Bits<8>>,
    /// Byte of the data, or of the answer's head.
    place: Register<Bits<11>>,
    /// The data follow, behind the head.
    in_data: Register<Bit>,
    /// Byte of the memory that was read.
    read: Register<Bits<8>>,
    timer: Register<Bits<17>>,
    address_taken: Register<Bit>,
    data_taken: Register<Bit>,
    damages: Register<Bits<32>>,
    // The last write, or read of a register if these are done once
    last_valid: Register<Bit>,
    last_operation: Register<Bits<8>>,
    last_sequence: Register<Bits<8>>,
    last_status: Register<Bits<8>>,
    /// Word that the last read of a register returned (only if reads are done once). Requests that
    /// follow overwrite `value`.
    #[there(parts.reads_once)]
    last_value: Part<Register<Bits<32>>>,
    #[init(identity.words())]
    word: Vec<Constant<Bits<32>>>,
    #[init(identity.words().len())]
    _words: usize,
    #[init(Constant::new((1u64 << identity.memory_log2).into()))]
    memory_bytes: Constant<Bits<33>>,
}

impl BoardLink {
    /// The link of a board that says this of itself.
    ///
    /// # Panics
    /// If the size of the memory is not possible.
    pub fn new(identity: BoardIdentity) -> Self {
        Self::with(identity, LinkParts::default())
    }

    /// As [`Self::new`], with these parts.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn with(identity: BoardIdentity, parts: LinkParts) -> Self {
        let log2 = identity.memory_log2;
        assert!((10..=26).contains(&log2), "BoardLink: 2^{log2} bytes of memory, expected 2^10 to 2^26");
        Self::wired(identity, parts)
    }
}

impl BoardLink {
    /// The request comes in.
    #[hdl_gen]
    fn receive(&mut self) {
        // The request comes in.
        let receives = self.state.q.val() == LinkState::Receive;
        let number = self.index.val();
        let arrives = receives && self.byte_valid.val();
        self.enable.next = receives;
        self.buffer.write_enable.next = arrives;
        self.buffer.write_address.next = number;
        self.buffer.write_data.next = self.byte.val();
        if arrives {
            if number == bits::<11>(0) {
                self.operation.d.next = self.byte.val();
            }
            if number == bits::<11>(1) {
                self.sequence.d.next = self.byte.val();
            }
            if number == bits::<11>(2) || number == bits::<11>(3) {
                self.count.d.next = (self.count.q.val() >> 8) | (bit_cast::<16, 8>(self.byte.val()) << 8);
            }
            if number.get_bits::<9>(2) == bits::<9>(1) {
                self.address.d.next =
                    (self.address.q.val() >> 8) | (bit_cast::<32, 8>(self.byte.val()) << 24);
            }
            if number.get_bits::<9>(2) == bits::<9>(2) {
                self.value.d.next = (self.value.q.val() >> 8) | (bit_cast::<32, 8>(self.byte.val()) << 24);
            }
        }
        if receives && self.end.val() {
            self.received.d.next = self.length.val();
            self.state.d.next = LinkState::Check;
            self.place.d.next = bits::<11>(0);
            self.in_data.d.next = false;
            if self.damaged.val() {
                self.state.d.next = LinkState::Answer;
                self.operation.d.next = bits::<8>(0x7f);
                self.sequence.d.next = bits::<8>(0);
                self.status.d.next = bits::<8>(4);
                self.damages.d.next = self.damages.q.val() + bits::<32>(1);
            }
        }
    }

    /// The answer.
    #[hdl_gen]
    fn answer(
        &mut self,
        is_identify: Bit,
        is_read_register: Bit,
        is_read: Bit,
        byte_ready: Bit,
        byte_answer: Bit,
        byte_read: Bits<8>,
        is_last: Bit,
        memory_hangs: Bit,
    ) {
        // The answer
        let done = !self.status.q.val().any();
        let has_memory = done && is_read;
        let has_more = done && (is_identify || is_read_register || is_read);
        let at = self.place.q.val();
        let mut head = bits::<8>(0);
        if at == bits::<11>(0) {
            head = self.operation.q.val() | bits::<8>(0x80);
        }
        if at == bits::<11>(1) {
            head = self.sequence.q.val();
        }
        if at == bits::<11>(2) {
            head = self.status.q.val();
        }
        let mut shown = self.value.q.val();
        let mut last_byte = bits::<11>(3);
        if is_identify {
            last_byte = bits::<11>(31);
            shown = self.damages.q.val();
            if at.get_bits::<3>(2) == bits::<3>(7) {
                shown = self.value.q.val();
            }
            for i in 0..self._words {
                if at.get_bits::<3>(2) == bits::<3>(i as u64) {
                    shown = self.word[i].val();
                }
            }
        }
        let of_word = shown >> (bit_cast::<5, 2>(at.get_bits::<2>(0)) << 3);
        let mut sent = head;
        let mut ends_answer = at == bits::<11>(3) && !has_more;
        if self.in_data.q.val() {
            sent = of_word.get_bits::<8>(0);
            ends_answer = at == last_byte;
        }
        let gives = self.state.q.val() == LinkState::Give;
        if gives {
            sent = self.read.q.val();
            ends_answer = is_last;
        }
        self.answer_valid.next = self.state.q.val() == LinkState::Answer || gives;
        self.answer_data.next = sent;
        self.answer_last.next = ends_answer;
        if self.state.q.val() == LinkState::Answer && self.answer_ready.val() {
            self.place.d.next = at + bits::<11>(1);
            if at == bits::<11>(3) && !self.in_data.q.val() {
                self.place.d.next = bits::<11>(0);
                self.in_data.d.next = true;
                self.timer.d.next = bits::<17>(0);
                if has_memory {
                    self.state.d.next = LinkState::Load;
                }
            }
            if ends_answer {
                self.state.d.next = LinkState::Receive;
            }
        }
        if self.state.q.val() == LinkState::Load && byte_ready {
            self.state.d.next = LinkState::Loading;
        }
        if self.state.q.val() == LinkState::Loading && byte_answer {
            self.read.d.next = byte_read;
            self.state.d.next = LinkState::Give;
        }
        if gives && self.answer_ready.val() {
            self.place.d.next = at + bits::<11>(1);
            self.timer.d.next = bits::<17>(0);
            self.state.d.next = LinkState::Load;
            if ends_answer {
                self.state.d.next = LinkState::Receive;
            }
        }
        // The head of the answer is gone: only an abort tells that the rest does not come.
        self.answer_abort.next = memory_hangs && self.state.q.val() != LinkState::Store;
        if memory_hangs && self.state.q.val() != LinkState::Store {
            self.state.d.next = LinkState::Receive;
        }
    }
}

impl Logic for BoardLink {
    #[hdl_gen]
    fn update(&mut self) {
        let doing = self.state.q.val();
        let asked = self.operation.q.val();
        let is_identify = asked == bits::<8>(0);
        let is_read_register = asked == bits::<8>(1);
        let is_write_register = asked == bits::<8>(2);
        let is_read = asked == bits::<8>(3);
        let is_write = asked == bits::<8>(4);
        let is_reset = asked == bits::<8>(5);

        self.receive();
        // What it asks
        let amount = self.count.q.val();
        let behind = bit_cast::<33, 32>(self.address.q.val()) + bit_cast::<33, 16>(amount);
        let some = amount.any() && amount <= bits::<16>(MOST_COUNT);
        let mut in_memory = some && behind <= self.memory_bytes.val();
        let of_trace = self.address.q.val().get_bit(31);
        if self.trace.is_there() {
            in_memory = in_memory || (some && of_trace && behind <= bits::<33>(0x8200_0000_u64));
        }
        let in_registers =
            !self.address.q.val().get_bits::<20>(12).any() && !self.address.q.val().get_bits::<2>(0).any();
        let is_head = self.received.q.val() == bits::<11>(8);
        let has_value = self.received.q.val() == bits::<11>(12);
        let has_bytes = bit_cast::<16, 11>(self.received.q.val()) == amount + bits::<16>(8);
        let possible = ((is_identify || is_reset) && is_head)
            || (is_read_register && is_head && in_registers)
            || (is_write_register && has_value && in_registers)
            || (is_read && is_head && in_memory)
            || (is_write && has_bytes && in_memory);
        let mut changes = is_write_register || is_write || is_reset;
        if self.last_value.is_there() {
            changes = changes || is_read_register;
        }
        let again = changes
            && self.last_valid.q.val()
            && asked == self.last_operation.q.val()
            && self.sequence.q.val() == self.last_sequence.q.val();
        let mut ends = false;
        let mut outcome = bits::<8>(0);
        if doing == LinkState::Check {
            self.timer.d.next = bits::<17>(0);
            self.address_taken.d.next = false;
            self.data_taken.d.next = false;
            self.status.d.next = bits::<8>(0);
            self.state.d.next = LinkState::Answer;
            if is_identify && possible {
                self.last_valid.d.next = false;
                // All four bytes are of the same cycle.
                self.value.d.next = self.busy_cycles.val();
            }
            if is_read_register {
                self.state.d.next = LinkState::ReadRegister;
            }
            if is_write_register {
                self.state.d.next = LinkState::WriteRegister;
            }
            if is_write {
                self.state.d.next = LinkState::Fetch;
            }
            if is_reset {
                self.state.d.next = LinkState::Reset;
            }
            if again {
                self.status.d.next = self.last_status.q.val();
                self.state.d.next = LinkState::Answer;
                if self.last_value.is_there() {
                    self.value.d.next = self.last_value.q.val();
                }
            }
            if !possible {
                self.status.d.next = bits::<8>(2);
                self.state.d.next = LinkState::Answer;
            }
        }

        // Registers
        let writes_register = doing == LinkState::WriteRegister;
        let reads_register = doing == LinkState::ReadRegister;
        self.m_axil.awaddr.next = self.address.q.val().get_bits::<12>(0);
        self.m_axil.awprot.next = bits::<3>(0);
        self.m_axil.awvalid.next = writes_register && !self.address_taken.q.val();
        self.m_axil.wdata.next = self.value.q.val();
        self.m_axil.wstrb.next = bits::<4>(15);
        self.m_axil.wvalid.next = writes_register && !self.data_taken.q.val();
        self.m_axil.bready.next = writes_register;
        self.m_axil.araddr.next = self.address.q.val().get_bits::<12>(0);
        self.m_axil.arprot.next = bits::<3>(0);
        self.m_axil.arvalid.next = reads_register && !self.address_taken.q.val();
        self.m_axil.rready.next = reads_register;
        if writes_register {
            self.address_taken.d.next = self.address_taken.q.val() || self.m_axil.awready.val();
            self.data_taken.d.next = self.data_taken.q.val() || self.m_axil.wready.val();
            if self.m_axil.bvalid.val() {
                ends = true;
                outcome = bit_cast::<8, 1>(self.m_axil.bresp.val().get_bits::<1>(1));
            }
        }
        if reads_register {
            self.address_taken.d.next = self.address_taken.q.val() || self.m_axil.arready.val();
            if self.m_axil.rvalid.val() {
                self.value.d.next = self.m_axil.rdata.val();
                if self.last_value.is_there() {
                    self.last_value.d.next = self.m_axil.rdata.val();
                }
                ends = true;
                outcome = bit_cast::<8, 1>(self.m_axil.rresp.val().get_bits::<1>(1));
            }
        }
        if writes_register || reads_register {
            self.timer.d.next = self.timer.q.val() + bits::<17>(1);
            if self.timer.q.val().get_bit(16) && !ends {
                ends = true;
                outcome = bits::<8>(3);
            }
        }

        // Reset
        self.array_reset.next =
            self.reset.val() || (doing == LinkState::Reset && !self.timer.q.val().get_bits::<2>(5).any());
        if doing == LinkState::Reset {
            self.timer.d.next = self.timer.q.val() + bits::<17>(1);
            // As many cycles again behind it.
            ends = self.timer.q.val().get_bit(6);
        }

        // Bytes to the memory
        self.buffer.read_enable.next = doing == LinkState::Fetch;
        self.buffer.read_address.next = self.place.q.val() + bits::<11>(8);
        self.memory.address.next = self.address.q.val() + bit_cast::<32, 11>(self.place.q.val());
        self.memory.data.next = self.buffer.read_data.val();
        self.memory.write.next = doing == LinkState::Store;
        let accesses = doing == LinkState::Store || doing == LinkState::Load;
        self.memory.valid.next = accesses;
        let mut byte_ready = self.memory.ready.val();
        let mut byte_answer = self.memory.answer.val();
        let mut byte_read = self.memory.read.val();
        if self.trace.is_there() {
            self.trace.address.next = self.address.q.val() + bit_cast::<32, 11>(self.place.q.val());
            self.trace.data.next = self.buffer.read_data.val();
            self.trace.write.next = doing == LinkState::Store;
            self.trace.valid.next = accesses && of_trace;
            if of_trace {
                self.memory.valid.next = false;
                byte_ready = self.trace.ready.val();
                byte_answer = self.trace.answer.val();
                byte_read = self.trace.read.val();
            }
        }
        let is_last = bit_cast::<16, 11>(self.place.q.val()) + bits::<16>(1) == amount;
        if doing == LinkState::Fetch {
            self.state.d.next = LinkState::Store;
        }
        if doing == LinkState::Store && byte_ready {
            self.place.d.next = self.place.q.val() + bits::<11>(1);
            self.state.d.next = LinkState::Fetch;
            ends = is_last;
        }
        let waits_for_memory =
            doing == LinkState::Store || doing == LinkState::Load || doing == LinkState::Loading;
        if waits_for_memory {
            self.timer.d.next = self.timer.q.val() + bits::<17>(1);
        }
        let memory_hangs = waits_for_memory && self.timer.q.val().get_bit(16);
        if doing == LinkState::Store && memory_hangs {
            ends = true;
            outcome = bits::<8>(3);
        }

        if ends {
            self.state.d.next = LinkState::Answer;
            self.status.d.next = outcome;
            self.place.d.next = bits::<11>(0);
            if changes {
                self.last_valid.d.next = true;
                self.last_operation.d.next = asked;
                self.last_sequence.d.next = self.sequence.q.val();
                self.last_status.d.next = outcome;
            }
        }

        self.answer(
            is_identify,
            is_read_register,
            is_read,
            byte_ready,
            byte_answer,
            byte_read,
            is_last,
            memory_hangs,
        );
    }
}
