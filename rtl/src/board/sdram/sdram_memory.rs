//! The packet memory of a board with SDRAM.

use super::SdramTiming;
use crate::ports::{MemoryAxi, MemoryByte, SdramBus};
use hermes_hdl::prelude::*;

/// What the memory does.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SdramState {
    /// The chip is started.
    Start,
    /// All banks are closed, a request is awaited.
    Idle,
    /// The row is opened, or the address is found to be beyond the memory.
    Open,
    /// A word is read or written in each cycle.
    Words,
    /// The row is closed.
    Close,
    /// The line that was read is offered. All banks are closed.
    Answer,
}

/// A memory of lines of 64 bytes in SDRAM of 16 bits: AXI4 for the array, and single bytes for the
/// host.
///
/// The chip has four banks of 8,192 rows with 512 columns (32 MiB) or 1,024 (64 MiB). A line is 32
/// words of one row: the address is, from the highest bit on, row, bank, column, byte. The chip is
/// set to bursts of one word, so each word has its own READ or WRITE, one in each cycle: nothing is
/// to be stopped or masked when only a byte is wanted, and 32 words of 8-word bursts would not be
/// faster. Each access opens its row and closes it again. `docs/sdram.md` has the times.
///
/// The chip takes in the middle of a cycle what the registers of the pins show in it, as its clock
/// is the inverted one. The first word of a READ that is shown in cycle `k` is taken at the rising
/// edge that ends cycle `k + CL - 1`, where CL is the CAS latency. CKE is to be high.
///
/// 1. RVALID is high 34 + tRCD + CL cycles after ARVALID, and lines that are read back to back take
///    one more each; BVALID is high 33 + tRCD cycles after AWVALID and WVALID, and lines that are
///    written back to back take as many and those from the last word to the next row
///    ([`SdramTiming`] counts them, in cycles of its clock). Requests are answered in the order in
///    which they are taken; reads and writes take turns. AWREADY and WREADY are high together, when
///    both are offered.
/// 2. Beyond the memory AXI4 accesses are answered with DECERR and do nothing, 2 cycles after they
///    are offered. The host is not to go there.
/// 3. A byte goes first when the memory is idle, but a line that waits goes before the second byte.
///    It is taken, with `byte.ready`, when it is written, or just before it was read: `byte.answer`
///    is high in the next cycle, 2 + tRCD + CL cycles after `byte.valid`.
/// 4. A refresh goes before any request. It comes at most [`SdramTiming::refresh_wait`] cycles
///    after its interval, also while RREADY or BREADY is low. A request is answered within
///    [`SdramTiming::answer_wait`] cycles while both are high.
/// 5. Behind each reset the chip is started, as after power-on; requests wait
///    [`SdramTiming::start_cycles`] cycles. From the edge of reset on the chip is not selected and
///    the data pins are not driven, so a reset may come at any time. Contents may be lost then.
#[clocked("The chip is started again")]
#[derive(Clone, LogicBlock)]
#[new(timing: SdramTiming, bytes_log2: usize)]
pub struct SdramMemory {
    /// AXI4, from the array: a line is a burst of one beat.
    pub s_axi: MemoryAxi,

    /// A byte for the host.
    pub byte: MemoryByte,

    /// The chip; all outputs are registers.
    pub sdram: SdramBus,

    state: Register<SdramState>,
    /// Cycles until the next command of the access or the next refresh.
    pause: Register<Bits<4>>,
    /// Cycles until the end of the refresh interval.
    #[init(Register::new((timing.interval - 1).into()))]
    timer: Register<Bits<11>>,
    /// Intervals of the start-up that are left.
    #[init(Register::new(timing.start.into()))]
    left: Register<Bits<6>>,
    /// A refresh is to be given.
    due: Register<Bit>,

    /// Line in transfer, 16 bits in or out a cycle; the next word to write stands in the lowest.
    line: Register<Bits<512>>,
    strobe: Register<Bits<64>>,
    /// Number of the line: row, bank, and the higher bits of the column.
    number: Register<Bits<20>>,
    /// The five lower bits of the column.
    word: Register<Bits<5>>,
    is_byte: Register<Bit>,
    is_write: Register<Bit>,
    /// The byte of the host is the upper one of its word.
    upper: Register<Bit>,
    id: Register<Bits<8>>,
    outside: Register<Bit>,
    /// The next line is written if there is one of both kinds.
    write_first: Register<Bit>,
    answers: Register<Bit>,
    answer_id: Register<Bits<8>>,
    answer_outside: Register<Bit>,
    /// The byte that was read is given.
    gives: Register<Bit>,
    /// READs under way, the newest in bit 0: `captured` has the word of bit CL.
    arriving: Register<Bits<4>>,
    captured: Register<Bits<16>>,

    // The registers of the pins
    #[init(Register::new(true))]
    csn: Register<Bit>,
    #[init(Register::new(true))]
    rasn: Register<Bit>,
    #[init(Register::new(true))]
    casn: Register<Bit>,
    #[init(Register::new(true))]
    wen: Register<Bit>,
    bank: Register<Bits<2>>,
    address: Register<Bits<13>>,
    #[init(Register::new(3u64.into()))]
    mask: Register<Bits<2>>,
    data: Register<Bits<16>>,
    drives: Register<Bit>,

    /// The address bits that are 0 within the memory.
    #[init(Constant::new(((1u64 << 32) - (1u64 << bytes_log2)).into()))]
    beyond: Constant<Bits<32>>,
    /// The bits of the column above the five lower ones.
    #[init(Constant::new(((1u64 << (bytes_log2 - 21)) - 1).into()))]
    higher: Constant<Bits<5>>,
    /// Bursts of one word, the CAS latency.
    #[init(Constant::new((timing.cas_latency << 4).into()))]
    mode: Constant<Bits<13>>,
    #[init(Constant::new((timing.interval - 1).into()))]
    interval: Constant<Bits<11>>,
    #[init(Constant::new((timing.t_rcd - 1).into()))]
    opening: Constant<Bits<4>>,
    #[init(Constant::new((timing.close - 1).into()))]
    closing: Constant<Bits<4>>,
    #[init(Constant::new((timing.t_rp - 1).into()))]
    precharge: Constant<Bits<4>>,
    #[init(Constant::new((timing.t_rfc - 1).into()))]
    refresh: Constant<Bits<4>>,
    #[init(bytes_log2 - 21)]
    _bank_at: usize,
    #[init(bytes_log2 - 19)]
    _row_at: usize,
    #[init(timing.cas_latency as usize)]
    _arrived: usize,
    #[init(timing.cas_latency as usize - 1)]
    _arrives: usize,
}

impl SdramMemory {
    /// A memory of `2^bytes_log2` bytes: 25 for a chip of 512 columns, 26 for one of 1,024.
    ///
    /// # Panics
    /// If `bytes_log2` is another one, or if `timing` does not fit the counters, or leaves no time
    /// between refreshes.
    pub fn new(timing: SdramTiming, bytes_log2: usize) -> Self {
        assert!((25..=26).contains(&bytes_log2), "SdramMemory: 2^{bytes_log2} bytes, expected 2^25 or 2^26");
        let pauses = [timing.t_rcd, timing.t_rp, timing.t_rfc, timing.close];
        assert!(
            pauses.iter().all(|pause| (1..=16).contains(pause))
                && (2..=3).contains(&timing.cas_latency)
                && timing.close >= timing.cas_latency
                && (timing.refresh_wait() + timing.t_rfc..=2_048).contains(&timing.interval)
                && (11..=63).contains(&timing.start),
            "SdramMemory: {timing:?}"
        );
        Self::wired(timing, bytes_log2)
    }
}

impl Logic for SdramMemory {
    #[hdl_gen]
    fn update(&mut self) {
        let doing = self.state.q.val();
        let free = !self.pause.q.val().any();
        if !free {
            self.pause.d.next = self.pause.q.val() - bits::<4>(1);
        }

        // Refresh intervals, and the start-up that counts them
        let starts = doing == SdramState::Start;
        let ends = !self.timer.q.val().any();
        self.timer.d.next = self.timer.q.val() - bits::<11>(1);
        if ends {
            self.timer.d.next = self.interval.val();
        }
        let begins = starts && ends;
        let is_last_start = self.left.q.val() == bits::<6>(1);
        let start_mode = begins && is_last_start;
        let start_precharge = begins && self.left.q.val() == bits::<6>(10);
        let start_refresh = begins && self.left.q.val() < bits::<6>(10) && !is_last_start;
        if begins {
            self.left.d.next = self.left.q.val() - bits::<6>(1);
        }
        if start_mode {
            self.state.d.next = SdramState::Idle;
        }
        let closed = doing == SdramState::Idle || doing == SdramState::Answer;
        let refreshes = closed && self.due.q.val() && free;
        if refreshes {
            self.due.d.next = false;
            self.pause.d.next = self.refresh.val();
        }
        if ends && !starts {
            self.due.d.next = true;
        }

        // What is taken
        let idle = doing == SdramState::Idle && !self.due.q.val();
        let writes = self.s_axi.awvalid.val() && self.s_axi.wvalid.val() && !self.answers.q.val();
        let reads = self.s_axi.arvalid.val();
        let takes_byte = idle && self.byte.valid.val() && !(self.is_byte.q.val() && (writes || reads));
        let takes_write = idle && !takes_byte && writes && (self.write_first.q.val() || !reads);
        let takes_read = idle && !takes_byte && reads && !takes_write;
        let takes = takes_byte || takes_write || takes_read;
        self.s_axi.awready.next = takes_write;
        self.s_axi.wready.next = takes_write;
        self.s_axi.arready.next = takes_read;
        if takes {
            self.state.d.next = SdramState::Open;
            self.is_byte.d.next = takes_byte;
            self.is_write.d.next = takes_write || (takes_byte && self.byte.write.val());
            self.upper.d.next = self.byte.address.val().get_bit(0);
            self.word.d.next = bits::<5>(0);
            self.id.d.next = self.s_axi.arid.val();
            self.number.d.next = self.s_axi.araddr.val().get_bits::<20>(6);
            self.outside.d.next = (self.s_axi.araddr.val() & self.beyond.val()).any();
        }
        if takes_read {
            self.write_first.d.next = true;
        }
        if takes_write {
            self.write_first.d.next = false;
            self.id.d.next = self.s_axi.awid.val();
            self.number.d.next = self.s_axi.awaddr.val().get_bits::<20>(6);
            self.outside.d.next = (self.s_axi.awaddr.val() & self.beyond.val()).any();
        }
        if takes_byte {
            self.word.d.next = self.byte.address.val().get_bits::<5>(1);
            self.number.d.next = self.byte.address.val().get_bits::<20>(6);
            self.outside.d.next = false;
        }

        // The commands of an access
        let opens = doing == SdramState::Open && !self.outside.q.val() && free;
        let moves = doing == SdramState::Words && free;
        let writes_word = moves && self.is_write.q.val();
        let reads_word = moves && !self.is_write.q.val();
        let is_last = self.is_byte.q.val() || self.word.q.val().all();
        let closes = doing == SdramState::Close && free;
        if self.s_axi.bready.val() {
            self.answers.d.next = false;
        }
        if opens {
            self.state.d.next = SdramState::Words;
            self.pause.d.next = self.opening.val();
        }
        if moves {
            self.word.d.next = self.word.q.val() + bits::<5>(1);
            if is_last {
                self.state.d.next = SdramState::Close;
                self.pause.d.next = self.closing.val();
            }
        }
        if closes {
            self.state.d.next = SdramState::Idle;
            self.pause.d.next = self.precharge.val();
            if !self.is_byte.q.val() && !self.is_write.q.val() {
                self.state.d.next = SdramState::Answer;
            }
        }
        let is_written = writes_word && is_last && !self.is_byte.q.val();
        let is_refused = doing == SdramState::Open && self.outside.q.val();
        if is_refused {
            self.state.d.next = SdramState::Answer;
            if self.is_write.q.val() {
                self.state.d.next = SdramState::Idle;
            }
        }
        if is_written || (is_refused && self.is_write.q.val()) {
            self.answers.d.next = true;
            self.answer_id.d.next = self.id.q.val();
            self.answer_outside.d.next = self.outside.q.val();
        }

        // The pins
        let precharges = closes || start_precharge;
        let has_row = opens || precharges || refreshes || start_refresh || start_mode;
        let has_column = moves || refreshes || start_refresh || start_mode;
        self.csn.d.next = !(has_row || has_column);
        self.rasn.d.next = !has_row;
        self.casn.d.next = !has_column;
        self.wen.d.next = !(writes_word || precharges || start_mode);
        let above = self.number.q.val().get_bits::<5>(0) & self.higher.val();
        // A10 for PRECHARGE
        let mut at = bits::<13>(0x400);
        if starts && is_last_start {
            at = self.mode.val();
        }
        if doing == SdramState::Open {
            at = self.number.q.val().get_bits::<13>(self._row_at);
        }
        if doing == SdramState::Words {
            at = (bit_cast::<13, 5>(above) << 5) | bit_cast::<13, 5>(self.word.q.val());
        }
        self.address.d.next = at;
        self.bank.d.next = self.number.q.val().get_bits::<2>(self._bank_at);
        self.mask.d.next = bits::<2>(0);
        if starts {
            self.mask.d.next = bits::<2>(3);
        }
        if writes_word {
            self.mask.d.next = !self.strobe.q.val().get_bits::<2>(0);
        }
        self.data.d.next = self.line.q.val().get_bits::<16>(0);
        self.drives.d.next = writes_word;
        self.sdram.csn.next = self.csn.q.val();
        self.sdram.rasn.next = self.rasn.q.val();
        self.sdram.casn.next = self.casn.q.val();
        self.sdram.wen.next = self.wen.q.val();
        self.sdram.ba.next = self.bank.q.val();
        self.sdram.a.next = self.address.q.val();
        self.sdram.dqm.next = self.mask.q.val();
        self.sdram.d_out.next = self.data.q.val();
        self.sdram.d_enable.next = self.drives.q.val();

        // Words move through the line
        self.captured.d.next = self.sdram.d_in.val();
        self.arriving.d.next = (self.arriving.q.val() << 1).replace_bit(0, reads_word);
        let arrived = self.arriving.q.val().get_bit(self._arrived);
        if writes_word || arrived {
            self.strobe.d.next = self.strobe.q.val() >> 2;
            self.line.d.next =
                (self.line.q.val() >> 16) | (bit_cast::<512, 16>(self.captured.q.val()) << 496);
        }
        // A byte of the host stands in both halves of the first word.
        let same = bit_cast::<16, 8>(self.byte.data.val());
        let pair = same | (same << 8);
        let of_upper = self.byte.address.val().get_bit(0);
        let mut loaded = self.s_axi.wdata.val();
        let mut enabled = self.s_axi.wstrb.val();
        if takes_byte {
            loaded = ((self.s_axi.wdata.val() >> 16) << 16) | bit_cast::<512, 16>(pair);
            enabled = self.s_axi.wstrb.val().replace_bit(0, !of_upper).replace_bit(1, of_upper);
        }
        if takes {
            self.line.d.next = loaded;
            self.strobe.d.next = enabled;
        }

        // Bytes of the host
        let byte_arrives = self.is_byte.q.val() && self.arriving.q.val().get_bit(self._arrives);
        self.byte.ready.next = byte_arrives || (self.is_byte.q.val() && writes_word);
        self.gives.d.next = byte_arrives && self.byte.valid.val();
        self.byte.answer.next = self.gives.q.val();
        self.byte.read.next = self.captured.q.val().get_bits::<8>(0);
        if self.upper.q.val() {
            self.byte.read.next = self.captured.q.val().get_bits::<8>(8);
        }

        // Answers
        self.s_axi.rvalid.next = doing == SdramState::Answer && !arrived;
        if doing == SdramState::Answer && !arrived && self.s_axi.rready.val() {
            self.state.d.next = SdramState::Idle;
        }
        self.s_axi.rid.next = self.id.q.val();
        self.s_axi.rdata.next = self.line.q.val();
        self.s_axi.rresp.next = bits::<2>(0);
        if self.outside.q.val() {
            self.s_axi.rresp.next = bits::<2>(3);
        }
        self.s_axi.bvalid.next = self.answers.q.val();
        self.s_axi.bid.next = self.answer_id.q.val();
        self.s_axi.bresp.next = bits::<2>(0);
        if self.answer_outside.q.val() {
            self.s_axi.bresp.next = bits::<2>(3);
        }
    }
}
