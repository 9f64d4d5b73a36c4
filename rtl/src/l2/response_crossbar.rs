//! From the banks to the requesters.

use crate::control::{indices, RoundRobin};
use crate::prelude::*;

/// Takes the answers of the banks to up to 32 requesters, and counts them.
///
/// 1. Each requester gets one answer of a read and one of a write a cycle at most, which it always accepts; the banks take
///    turns. An answer stands at the requester in the cycle after the bank's port gave it.
/// 2. The counters are modulo 2^32. An atomic operation counts as a write.
/// 3. With `words`, the answer of a write carries a word and an error: those of atomic operations.
#[derive(Clone, Debug, LogicBlock)]
pub struct ResponseCrossbar {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high: no answer stands, the counters are zero.
    pub reset: Signal<In, Bit>,

    /// The answer of a read is here, of each bank.
    pub bank_valid: Vec<Signal<In, Bit>>,
    /// It is taken at this edge.
    pub bank_ready: Vec<Signal<Out, Bit>>,
    /// Whose it is.
    pub bank_requester: Vec<Signal<In, Bits<5>>>,
    /// Its tag.
    pub bank_tag: Vec<Signal<In, Bits<7>>>,
    /// The line.
    pub bank_data: Vec<Signal<In, Bits<512>>>,
    /// Memory could not read it.
    pub bank_error: Vec<Signal<In, Bit>>,
    /// It came from memory.
    pub bank_missed: Vec<Signal<In, Bit>>,
    /// The answer of a write is here, of each bank.
    pub bank_written_valid: Vec<Signal<In, Bit>>,
    /// It is taken at this edge.
    pub bank_written_ready: Vec<Signal<Out, Bit>>,
    /// Whose it is.
    pub bank_written_requester: Vec<Signal<In, Bits<5>>>,
    /// Its tag.
    pub bank_written_tag: Vec<Signal<In, Bits<6>>>,
    /// Its word; empty without words, as the three other vectors for them.
    pub bank_written_word: Vec<Signal<In, Bits<32>>>,
    /// Its error.
    pub bank_written_error: Vec<Signal<In, Bit>>,

    /// The answer of a read is here, of each requester.
    pub response_valid: Vec<Signal<Out, Bit>>,
    /// Its tag.
    pub response_tag: Vec<Signal<Out, Bits<7>>>,
    /// The line.
    pub response_data: Vec<Signal<Out, Bits<512>>>,
    /// Memory could not read it.
    pub response_error: Vec<Signal<Out, Bit>>,
    /// A write is done.
    pub written_valid: Vec<Signal<Out, Bit>>,
    /// Its tag.
    pub written_tag: Vec<Signal<Out, Bits<6>>>,
    /// Its word.
    pub written_word: Vec<Signal<Out, Bits<32>>>,
    /// Its error.
    pub written_error: Vec<Signal<Out, Bit>>,
    /// Lines read that the L2 had.
    pub read_hits: Vec<Signal<Out, Bits<32>>>,
    /// Lines read that came from memory.
    pub read_misses: Vec<Signal<Out, Bits<32>>>,
    /// Lines written.
    pub writes: Vec<Signal<Out, Bits<32>>>,

    arbiter: Vec<RoundRobin>,
    written_arbiter: Vec<RoundRobin>,
    valid: Vec<Register<Bit>>,
    tag: Vec<Register<Bits<7>>>,
    data: Vec<Register<Bits<512>>>,
    error: Vec<Register<Bit>>,
    done: Vec<Register<Bit>>,
    done_tag: Vec<Register<Bits<6>>>,
    done_word: Vec<Register<Bits<32>>>,
    done_error: Vec<Register<Bit>>,
    hit_count: Vec<Register<Bits<32>>>,
    miss_count: Vec<Register<Bits<32>>>,
    write_count: Vec<Register<Bits<32>>>,
    number: Vec<Constant<Bits<5>>>,
    waiting: Vec<Signal<Local, Bits<32>>>,
    waiting_writes: Vec<Signal<Local, Bits<32>>>,
    _requesters: usize,
    _banks: usize,
    _words: usize,
}

impl ResponseCrossbar {
    /// A crossbar from `banks` banks to `requesters` requesters, with or without words in the answers of writes.
    ///
    /// # Panics
    /// If there are not 1 to 32 requesters and banks.
    pub fn new(requesters: usize, banks: usize, words: bool) -> Self {
        assert!(
            (1..=32).contains(&requesters),
            "ResponseCrossbar: {requesters} requesters, expected 1 to 32"
        );
        assert!((1..=32).contains(&banks), "ResponseCrossbar: {banks} banks, expected 1 to 32");
        let (word_banks, words) = if words { (banks, requesters) } else { (0, 0) };
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            bank_valid: vec![Signal::default(); banks],
            bank_ready: vec![Signal::default(); banks],
            bank_requester: vec![Signal::default(); banks],
            bank_tag: vec![Signal::default(); banks],
            bank_data: vec![Signal::default(); banks],
            bank_error: vec![Signal::default(); banks],
            bank_missed: vec![Signal::default(); banks],
            bank_written_valid: vec![Signal::default(); banks],
            bank_written_ready: vec![Signal::default(); banks],
            bank_written_requester: vec![Signal::default(); banks],
            bank_written_tag: vec![Signal::default(); banks],
            bank_written_word: vec![Signal::default(); word_banks],
            bank_written_error: vec![Signal::default(); word_banks],
            response_valid: vec![Signal::default(); requesters],
            response_tag: vec![Signal::default(); requesters],
            response_data: vec![Signal::default(); requesters],
            response_error: vec![Signal::default(); requesters],
            written_valid: vec![Signal::default(); requesters],
            written_tag: vec![Signal::default(); requesters],
            written_word: vec![Signal::default(); words],
            written_error: vec![Signal::default(); words],
            read_hits: vec![Signal::default(); requesters],
            read_misses: vec![Signal::default(); requesters],
            writes: vec![Signal::default(); requesters],
            arbiter: vec![RoundRobin::default(); requesters],
            written_arbiter: vec![RoundRobin::default(); requesters],
            valid: vec![Register::default(); requesters],
            tag: vec![Register::default(); requesters],
            data: vec![Register::default(); requesters],
            error: vec![Register::default(); requesters],
            done: vec![Register::default(); requesters],
            done_tag: vec![Register::default(); requesters],
            done_word: vec![Register::default(); words],
            done_error: vec![Register::default(); words],
            hit_count: vec![Register::default(); requesters],
            miss_count: vec![Register::default(); requesters],
            write_count: vec![Register::default(); requesters],
            number: indices(requesters),
            waiting: vec![Signal::default(); requesters],
            waiting_writes: vec![Signal::default(); requesters],
            _requesters: requesters,
            _banks: banks,
            _words: words,
        }
    }
}

impl Logic for ResponseCrossbar {
    #[hdl_gen]
    fn update(&mut self) {
        for b in 0..self._banks {
            self.bank_ready[b].next = false;
            self.bank_written_ready[b].next = false;
        }
        for i in 0..self._requesters {
            // Reads.
            self.waiting[i].next = bits::<32>(0);
            self.waiting_writes[i].next = bits::<32>(0);
            for b in 0..self._banks {
                self.waiting[i].next = self.waiting[i].val().replace_bit(
                    b,
                    self.bank_valid[b].val() && (self.bank_requester[b].val() == self.number[i].val()),
                );
                self.waiting_writes[i].next = self.waiting_writes[i].val().replace_bit(
                    b,
                    self.bank_written_valid[b].val()
                        && (self.bank_written_requester[b].val() == self.number[i].val()),
                );
            }
            self.arbiter[i].request.next = self.waiting[i].val();
            self.arbiter[i].advance.next = self.arbiter[i].any.val();
            self.valid[i].d.next = self.arbiter[i].any.val();
            if self.arbiter[i].any.val() {
                for b in 0..self._banks {
                    if self.arbiter[i].grant.val().get_bit(b) {
                        self.bank_ready[b].next = true;
                        self.tag[i].d.next = self.bank_tag[b].val();
                        self.data[i].d.next = self.bank_data[b].val();
                        self.error[i].d.next = self.bank_error[b].val();
                        if self.bank_missed[b].val() {
                            self.miss_count[i].d.next = self.miss_count[i].q.val() + 1;
                        } else {
                            self.hit_count[i].d.next = self.hit_count[i].q.val() + 1;
                        }
                    }
                }
            }
            self.response_valid[i].next = self.valid[i].q.val();
            self.response_tag[i].next = self.tag[i].q.val();
            self.response_data[i].next = self.data[i].q.val();
            self.response_error[i].next = self.error[i].q.val();

            // Writes.
            self.written_arbiter[i].request.next = self.waiting_writes[i].val();
            self.written_arbiter[i].advance.next = self.written_arbiter[i].any.val();
            self.done[i].d.next = self.written_arbiter[i].any.val();
            if self.written_arbiter[i].any.val() {
                self.write_count[i].d.next = self.write_count[i].q.val() + 1;
                for b in 0..self._banks {
                    if self.written_arbiter[i].grant.val().get_bit(b) {
                        self.bank_written_ready[b].next = true;
                        self.done_tag[i].d.next = self.bank_written_tag[b].val();
                    }
                }
            }
            self.written_valid[i].next = self.done[i].q.val();
            self.written_tag[i].next = self.done_tag[i].q.val();
            self.read_hits[i].next = self.hit_count[i].q.val();
            self.read_misses[i].next = self.miss_count[i].q.val();
            self.writes[i].next = self.write_count[i].q.val();
        }
        for i in 0..self._words {
            for b in 0..self._banks {
                if self.written_arbiter[i].grant.val().get_bit(b) {
                    self.done_word[i].d.next = self.bank_written_word[b].val();
                    self.done_error[i].d.next = self.bank_written_error[b].val();
                }
            }
            self.written_word[i].next = self.done_word[i].q.val();
            self.written_error[i].next = self.done_error[i].q.val();
        }
    }
}
