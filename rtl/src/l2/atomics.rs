//! Atomic operations in front of a bank.

use super::{AtomicAlu, Reservation};
use crate::blocks::WordSelect;
use crate::ports::{AtomicAnswer, BankRequest, BankResponse, BankWritten, ReservationEnd, ReservationEvent};
use crate::types::riscv::funct5;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// What the unit does with the operation that it holds.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum AtomicState {
    /// No operation is held.
    Idle,
    /// The line was requested; other requests pass.
    Asked,
    /// The line was requested once more; no other request passes.
    Again,
    /// The word is here; no other request passes.
    Here,
    /// The word is written; the bank's answer is waited for.
    Written,
    /// The answer is on offer.
    Answer,
}

/// Stands between the crossbars and a bank, and turns an atomic operation into a read and a write
/// of the bank that nothing comes between.
///
/// 1. A write of one of the first `cores` requesters whose tag has bit 5 set is an atomic
///    operation. Of its data bits 31:0 are the operand, bits 36:32 the warp slot, 52:48
///    the operation ([`AtomicAlu`]; 2 is `lr.w`, 3 `sc.w`) and 56:53 the index of the word; its
///    strobe marks the bytes of the word. Everything else passes through, in the same cycle.
/// 2. One operation is performed at a time, in the order of the requests: the line is read with the
///    tag 0x60 + the lower five bits of the tag, which no other requester uses. While it comes
///    other requests pass, but not atomic operations; if one of them wrote to the line, the line is
///    read once more and the bank is locked for it. The word is written when nothing more can come
///    between. A hit takes five cycles of the bank; with a cycle
///    for the look-up both of its requests take one more.
/// 3. The answer comes with the tag on the port for writes: `atomic_answer.word` is the word before
///    the operation, of `sc.w` 0 if it stored and 1 if not. `atomic_answer.error`: the line could
///    not be read, and nothing was written.
/// 4. Reservations of `lr.w`: the bank has one or several, each for a line. One belongs to a thread
///    (requester, warp slot, lane) until the thread executes `sc.w`, or `lr.w` on a line of another
///    bank, or anything writes to the line, or its requester ends the reservations of its slot
///    (`ends`), or the bank has performed `patience` operations ([`Reservation`]). Meanwhile `lr.w`
///    of another thread takes neither it nor a second one of its line; so of threads that try at
///    the same time one gets through. `sc.w` stores if its thread has the reservation of the line.
///    The warp of a thread whose `lr.w` took none is owed one: of several the next one behind the
///    warp that was owed one last. When a
///    reservation lapses, that is without `sc.w` and without a write of the line, no other warp
///    takes one until the owed one has, or some `sc.w` stored, or the owed one left its loop
///    (`ends.left`), or `patience` operations were performed: so threads that execute `lr.w` again
///    and again and never `sc.w` keep nobody from getting through. The same holds behind one of 64
///    `sc.w` that store, and then until the owed warp has one whatever else is stored: so threads
///    that succeed again and again on other lines keep nobody from getting through either.
/// 5. `event.valid` notifies the other banks, one cycle after it, that a thread executed `lr.w` or
///    `sc.w`.
/// 6. With a network interface, the operations of its requester are of 64 bits: 0 adds, 5 compares
///    and swaps (any other operation does as 5). The operand is in the data bits 95:64 and 31:0,
///    the value to compare with in bits 159:128 and 127:96, upper half first. The index of the word
///    is even, and the strobe marks the eight bytes. `written_word_high` is the upper half of the
///    value before the operation. A compare that fails writes nothing.
/// 7. With compare-and-swap, operation 5 (`amocas.w` of Zacas) of the other requesters writes the
///    operand if the word equals bits 127:96 of the data. A comparison that fails is answered
///    without a write of the bank: it ends no reservation, and the line does not become dirty.
/// 8. With a network interface, `amoor.w` with operand 0 reads the word at the L2: it is answered
///    without a write of the bank, and the line does not become dirty. Reservations end as by any
///    other write.
#[clocked("nothing is held or reserved")]
#[derive(Clone, LogicBlock)]
#[new(cores: usize, reserving: usize, number: usize, banks: usize, patience: usize, network: usize, networks: bool, compares: bool, values: bool, reservations: usize)]
pub struct L2Atomics {
    // From the request crossbar
    /// Requests of all requesters.
    pub request: Flipped<BankRequest>,

    // To the bank
    /// Requests that pass, and those of atomic operations.
    pub bank: BankRequest,

    // Answers of reads
    /// From the bank.
    pub bank_response: Flipped<BankResponse>,
    /// To the response crossbar: answers of reads that are not for atomic operations.
    pub response: BankResponse,

    // Answers of writes
    /// From the bank.
    pub bank_written: Flipped<BankWritten>,
    /// To the response crossbar: answers of writes and atomic operations.
    pub written: BankWritten,
    /// To the response crossbar, with the answers of atomic operations.
    pub atomic_answer: Flipped<AtomicAnswer>,
    /// Upper half of the value of an atomic operation of 64 bits (only with a network interface).
    #[there(networks)]
    pub written_word_high: Part<Signal<Out, Bits<32>>>,

    // Between the banks
    /// A thread executed `lr.w` or `sc.w` here in the cycle before.
    pub event: ReservationEvent,
    /// From every bank: the same event; that of this one is ignored.
    #[count(banks)]
    pub events: Vec<Flipped<ReservationEvent>>,

    /// From each requester but the network interface: reservations of a slot end at this edge.
    #[count(reserving)]
    pub ends: Vec<Flipped<ReservationEnd>>,

    #[init(Register::new(AtomicState::Idle))]
    state: Register<AtomicState>,
    requester: Register<Bits<5>>,
    tag: Register<Bits<6>>,
    line: Register<LineAddress>,
    strobe: Register<Bits<64>>,
    operand: Register<Bits<32>>,
    slot: Register<Bits<5>>,
    operation: Register<Bits<5>>,
    word_number: Register<Bits<4>>,
    word: Register<Bits<32>>,
    error: Register<Bit>,
    /// The line was written after it was requested.
    stale: Register<Bit>,
    told: Register<Bit>,

    #[init((0..reservations).map(|_| Reservation::new(reserving, number, banks, patience)).collect())]
    reservation: Vec<Reservation>,
    /// A warp is owed a reservation, and which.
    owed: Register<Bit>,
    owed_warp: Register<Bits<10>>,
    /// The warp that was owed one last: those behind it come first.
    last_owed: Register<Bits<10>>,
    /// Nobody else takes one, and also not behind `sc.w` that store; operations performed since.
    owed_first: Register<Bit>,
    owed_stays: Register<Bit>,
    owed_age: Register<Bits<18>>,
    /// `sc.w` that stored since a warp came first behind one of them, 63 at most.
    stored: Register<Bits<6>>,
    #[init(Constant::new((patience as u64).into()))]
    patience: Constant<Bits<18>>,
    #[init((0..reserving as u64).map(|index| Constant::new(index.into())).collect())]
    index: Vec<Constant<Bits<5>>>,

    /// The value to compare with, of 64 bits the lower half.
    #[there(values)]
    compare: Part<Register<Bits<32>>>,

    // Of operations of 64 bits
    #[there(networks)]
    operand_high: Part<Register<Bits<32>>>,
    #[there(networks)]
    compare_high: Part<Register<Bits<32>>>,
    #[there(networks)]
    word_high: Part<Register<Bits<32>>>,
    #[there(networks)]
    select_high: Part<WordSelect>,
    #[init(Part::when(networks, || Constant::new((network as u64).into())))]
    network: Part<Constant<Bits<5>>>,

    select: WordSelect,
    alu: AtomicAlu,
    #[init(Pack::new(16))]
    result: Pack<Bits<32>, 32, 512>,
    #[init(Constant::new((cores as u64).into()))]
    cores: Constant<Bits<6>>,
    #[init(banks)]
    _banks: usize,
    #[init(reserving)]
    _reserving: usize,
    #[init(reservations)]
    _reservations: usize,
    #[init(compares)]
    _compares: bool,
}

impl L2Atomics {
    /// The unit of bank `number` of `banks`, for the atomic operations of the first `cores`
    /// requesters; a reservation of `lr.w` lasts for `patience` operations. The network interface,
    /// if there is one, is requester `network`. `compares`: there is compare-and-swap of 32 bits.
    /// The bank has `reservations` reservations.
    ///
    /// # Panics
    /// If there are more than 32 cores, `network` is not one of them, or `patience` needs more than
    /// 18 bits.
    pub fn new(
        cores: usize,
        number: usize,
        banks: usize,
        patience: usize,
        network: Option<usize>,
        compares: bool,
        reservations: usize,
    ) -> Self {
        assert!(cores <= 32, "L2Atomics: {cores} cores, expected at most 32");
        assert!(patience < 1 << 18, "L2Atomics: patience of {patience}, expected less than 262144");
        assert!(
            network.is_none_or(|network| network < cores),
            "L2Atomics: network interface {network:?}, expected one of {cores} requesters"
        );
        let networks = network.is_some();
        let reserving = cores - usize::from(networks);
        let network = network.unwrap_or(0);
        Self::wired(
            cores,
            reserving,
            number,
            banks,
            patience,
            network,
            networks,
            compares,
            networks || compares,
            reservations,
        )
    }
}

impl L2Atomics {
    /// What goes to the bank: the request at the head, or one of the unit itself.
    #[hdl_gen]
    fn request(&mut self, starts: Bit, locked: Bit, passes: Bit, asks: Bit, writes: Bit) {
        self.bank.valid.next = passes || starts || asks || writes;
        self.bank.write.next = self.request.write.val();
        self.bank.requester.next = self.request.requester.val();
        self.bank.tag.next = self.request.tag.val();
        self.bank.write_tag.next = self.request.write_tag.val();
        self.bank.line.next = self.request.line.val();
        self.bank.data.next = self.request.data.val();
        self.bank.strobe.next = self.request.strobe.val();
        if starts {
            self.bank.write.next = false;
            self.bank.tag.next =
                bits::<7>(0x60) | bit_cast::<7, 5>(self.request.write_tag.val().get_bits::<5>(0));
        }
        if locked {
            self.bank.write.next = writes;
            self.bank.requester.next = self.requester.q.val();
            self.bank.tag.next = bits::<7>(0x60) | bit_cast::<7, 5>(self.tag.q.val().get_bits::<5>(0));
            self.bank.write_tag.next = self.tag.q.val();
            self.bank.line.next = self.line.q.val();
            self.bank.data.next = self.result.y.val();
            self.bank.strobe.next = self.strobe.q.val();
        }
        self.request.ready.next = (passes || starts) && self.bank.ready.val();
    }

    /// The word, and what the operation makes of it.
    #[hdl_gen]
    fn compute(&mut self, wide: Bit) {
        // The word, and what the operation makes of it.
        self.select.enable.next = true;
        self.select.line.next = self.bank_response.data.val();
        self.select.index.next = self.word_number.q.val();
        self.alu.operation.next = self.operation.q.val();
        self.alu.old.next = self.word.q.val();
        self.alu.operand.next = self.operand.q.val();
        for i in 0..16 {
            self.result.x[i].next = self.alu.result.val();
        }
        if self.written_word_high.is_there() {
            self.select_high.enable.next = true;
            self.select_high.line.next = self.bank_response.data.val();
            self.select_high.index.next = self.word_number.q.val().replace_bit(0, true);
            self.written_word_high.next = self.word_high.q.val();
            // The lower half is that of an operation of 32 bits, whose carry is a sum below an
            // addend.
            let mut sum_high = self.word_high.q.val() + self.operand_high.q.val();
            if self.alu.result.val() < self.word.q.val() {
                sum_high = self.word_high.q.val() + self.operand_high.q.val() + bits::<32>(1);
            }
            if self.operation.q.val() != bits::<5>(funct5::AMOADD) {
                sum_high = self.operand_high.q.val();
            }
            if wide {
                for i in 0..8 {
                    self.result.x[2 * i + 1].next = sum_high;
                }
            }
        }
    }
}

impl Logic for L2Atomics {
    #[hdl_gen]
    fn update(&mut self) {
        // The request at the head, and the requests that the unit itself makes.
        let atomic = self.request.valid.val()
            && self.request.write.val()
            && self.request.write_tag.val().get_bit(5)
            && (bit_cast::<6, 5>(self.request.requester.val()) < self.cores.val());
        let starts = atomic && (self.state.q.val() == AtomicState::Idle);
        let locked = (self.state.q.val() == AtomicState::Here) || (self.state.q.val() == AtomicState::Again);
        let passes = self.request.valid.val() && !atomic && !locked;
        let asks = (self.state.q.val() == AtomicState::Here) && self.stale.q.val();
        let mut wide = false;
        let mut keeps = false;
        if self.written_word_high.is_there() {
            wide = self.requester.q.val() == self.network.val();
            // A compare that fails, or an `amoor.w` with operand 0.
            if wide {
                keeps = (self.operation.q.val() != bits::<5>(funct5::AMOADD))
                    && ((self.word.q.val() != self.compare.q.val())
                        || (self.word_high.q.val() != self.compare_high.q.val()));
            } else {
                keeps = (self.operation.q.val() == bits::<5>(funct5::AMOOR)) && !self.operand.q.val().any();
            }
        }
        let mut fails = wide && keeps;
        if self._compares {
            if !wide && (self.operation.q.val() == bits::<5>(funct5::AMOCAS)) {
                keeps = self.word.q.val() != self.compare.q.val();
                fails = keeps;
            }
        }
        let reserves = !wide && (self.operation.q.val() == bits::<5>(funct5::LR));
        let conditional = !wide && (self.operation.q.val() == bits::<5>(funct5::SC));
        let thread = (bit_cast::<10, 5>(self.slot.q.val()) << bits::<4>(5))
            | bit_cast::<10, 5>(self.tag.q.val().get_bits::<5>(0));
        let mut has_reservation = false;
        let mut has_line = false;
        let mut line_reserved = false;
        for r in 0..self._reservations {
            self.reservation[r].operation.requester.next = self.requester.q.val();
            self.reservation[r].operation.thread.next = thread;
            self.reservation[r].operation.line.next = self.line.q.val();
            if self.reservation[r].owner.val() {
                has_reservation = true;
                has_line = self.reservation[r].here.val();
            }
            line_reserved = line_reserved || self.reservation[r].here.val();
        }
        let changes = !self.error.q.val() && !reserves && (!conditional || has_line);
        let stores = changes && !keeps;
        let writes = (self.state.q.val() == AtomicState::Here) && !self.stale.q.val() && stores;

        self.request(starts, locked, passes, asks, writes);
        self.compute(wide);
        // Answers
        self.response.requester.next = self.bank_response.requester.val();
        self.response.tag.next = self.bank_response.tag.val();
        self.response.data.next = self.bank_response.data.val();
        self.response.error.next = self.bank_response.error.val();
        self.response.missed.next = self.bank_response.missed.val();
        let mine = self.bank_response.valid.val()
            && ((self.state.q.val() == AtomicState::Asked) || (self.state.q.val() == AtomicState::Again))
            && (self.bank_response.requester.val() == self.requester.q.val())
            && (self.bank_response.tag.val().get_bits::<2>(5).all());
        self.response.valid.next = self.bank_response.valid.val() && !mine;
        self.bank_response.ready.next = self.response.ready.val() || mine;
        let answered = (self.state.q.val() == AtomicState::Written)
            && self.bank_written.valid.val()
            && self.bank_written.tag.val().get_bit(5)
            && (self.bank_written.requester.val() == self.requester.q.val());
        self.written.valid.next = self.bank_written.valid.val();
        self.bank_written.ready.next = self.written.ready.val();
        self.written.requester.next = self.bank_written.requester.val();
        self.written.tag.next = self.bank_written.tag.val();
        if self.state.q.val() == AtomicState::Answer {
            self.written.valid.next = true;
            self.bank_written.ready.next = false;
            self.written.requester.next = self.requester.q.val();
            self.written.tag.next = self.tag.q.val();
        }
        self.atomic_answer.word.next = self.word.q.val();
        self.atomic_answer.error.next = self.error.q.val();

        // The course of an operation
        let mut performs = false;
        if starts && self.bank.ready.val() {
            self.state.d.next = AtomicState::Asked;
            self.stale.d.next = false;
            self.requester.d.next = self.request.requester.val();
            self.tag.d.next = self.request.write_tag.val();
            self.line.d.next = self.request.line.val();
            self.strobe.d.next = self.request.strobe.val();
            self.operand.d.next = self.request.data.val().get_bits::<32>(0);
            self.slot.d.next = self.request.data.val().get_bits::<5>(32);
            self.operation.d.next = self.request.data.val().get_bits::<5>(48);
            self.word_number.d.next = self.request.data.val().get_bits::<4>(53);
            if self.written_word_high.is_there() {
                self.operand_high.d.next = self.request.data.val().get_bits::<32>(64);
                self.compare_high.d.next = self.request.data.val().get_bits::<32>(128);
            }
            if self.compare.is_there() {
                self.compare.d.next = self.request.data.val().get_bits::<32>(96);
            }
        }
        if passes
            && self.bank.ready.val()
            && self.request.write.val()
            && (self.request.line.val() == self.line.q.val())
            && (self.state.q.val() == AtomicState::Asked)
        {
            self.stale.d.next = true;
        }
        if mine {
            self.state.d.next = AtomicState::Here;
            self.word.d.next = self.select.word.val();
            self.error.d.next = self.bank_response.error.val();
            if self.written_word_high.is_there() {
                self.word_high.d.next = self.select_high.word.val();
            }
        }
        if self.state.q.val() == AtomicState::Here {
            if self.stale.q.val() {
                if self.bank.ready.val() {
                    self.state.d.next = AtomicState::Again;
                    self.stale.d.next = false;
                }
            } else if !stores {
                performs = true;
                self.state.d.next = AtomicState::Answer;
            } else if self.bank.ready.val() {
                performs = true;
                self.state.d.next = AtomicState::Written;
            }
        }
        if performs && conditional {
            self.word.d.next = bits::<32>(1);
            if stores {
                self.word.d.next = bits::<32>(0);
            }
        }
        if (self.state.q.val() == AtomicState::Answer) && self.written.ready.val() {
            self.state.d.next = AtomicState::Idle;
        }
        if answered && self.written.ready.val() {
            self.state.d.next = AtomicState::Idle;
        }

        // The reservation
        self.told.d.next = performs && (conditional || reserves);
        self.event.valid.next = self.told.q.val();
        self.event.requester.next = self.requester.q.val();
        self.event.thread.next = thread;
        // It goes to the reservation that the thread has, else to the first free one, unless
        // another warp is owed it.
        let warp = (bit_cast::<10, 5>(self.requester.q.val()) << bits::<4>(5))
            | bit_cast::<10, 5>(self.slot.q.val());
        let is_owed = self.owed.q.val() && (self.owed_warp.q.val() == warp);
        let gives_way = self.owed.q.val() && self.owed_first.q.val() && !is_owed;
        let mut placed = has_reservation;
        let takes = performs && reserves && !self.error.q.val() && (!line_reserved || has_line) && !gives_way;
        let mut taken = false;
        let mut lapses = false;
        for r in 0..self._reservations {
            self.reservation[r].take.next =
                takes && (self.reservation[r].owner.val() || (self.reservation[r].free.val() && !placed));
            taken = taken
                || (takes
                    && (self.reservation[r].owner.val() || (self.reservation[r].free.val() && !placed)));
            placed = placed || self.reservation[r].free.val();
            self.reservation[r].leaves.next = performs && (conditional || (reserves && !takes));
            self.reservation[r].writes.next = performs && changes && !fails;
            self.reservation[r].performed.next = performs;
            self.reservation[r].passing.next = passes && self.bank.ready.val() && self.request.write.val();
            self.reservation[r].passing_line.next = self.request.line.val();
            lapses = lapses || self.reservation[r].lapses.val();
            for i in 0..self._banks {
                self.reservation[r].events[i].valid.next = self.events[i].valid.val();
                self.reservation[r].events[i].requester.next = self.events[i].requester.val();
                self.reservation[r].events[i].thread.next = self.events[i].thread.val();
            }
            for i in 0..self._reserving {
                connect!(self.ends[i], self.reservation[r].ends[i]);
            }
        }
        if performs && (self.owed_age.q.val() != self.patience.val()) {
            self.owed_age.d.next = self.owed_age.q.val() + bits::<18>(1);
        }
        let succeeds = performs && conditional && stores;
        let many = self.stored.q.val().all();
        let turn = succeeds && many && self.owed.q.val();
        let mut settled = (is_owed && taken)
            || (succeeds && !turn && !self.owed_stays.q.val())
            || (self.owed.q.val() && (self.owed_age.q.val() == self.patience.val()));
        for i in 0..self._reserving {
            if self.owed.q.val()
                && self.ends[i].valid.val()
                && self.ends[i].left.val()
                && (self.owed_warp.q.val().get_bits::<5>(5) == self.index[i].val())
                && (self.owed_warp.q.val().get_bits::<5>(0) == self.ends[i].slot.val())
            {
                settled = true;
            }
        }
        if turn {
            self.stored.d.next = bits::<6>(0);
        } else if succeeds && !many {
            self.stored.d.next = self.stored.q.val() + bits::<6>(1);
        }
        if settled {
            self.owed.d.next = false;
            self.owed_first.d.next = false;
            self.owed_stays.d.next = false;
            if self.owed.q.val() && self.owed_first.q.val() {
                self.last_owed.d.next = self.owed_warp.q.val();
            }
        } else if turn {
            self.owed_first.d.next = true;
            self.owed_stays.d.next = true;
            self.owed_age.d.next = bits::<18>(0);
        } else if lapses && self.owed.q.val() {
            self.owed_first.d.next = true;
        }
        // Of the warps that were denied the one that comes next behind the last.
        let distance = warp - self.last_owed.q.val() - bits::<10>(1);
        let owed_distance = self.owed_warp.q.val() - self.last_owed.q.val() - bits::<10>(1);
        let nearer = !self.owed_first.q.val() && (distance < owed_distance);
        if performs && reserves && !self.error.q.val() && !taken && !settled && (!self.owed.q.val() || nearer)
        {
            self.owed.d.next = true;
            self.owed_first.d.next = lapses;
            self.owed_warp.d.next = warp;
            self.owed_age.d.next = bits::<18>(0);
        }
    }
}
