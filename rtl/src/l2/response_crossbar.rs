//! From the banks to the requesters.

use crate::blocks::{indices, RoundRobin};
use crate::host::L2Counters;
use crate::ports::{AtomicAnswer, BankResponse, BankWritten, LineResponse, LineWritten};
use hermes_hdl::prelude::*;

/// Routes the answers of the banks to up to 32 requesters, and counts them.
///
/// 1. Each requester gets one answer of a read and one of a write a cycle at most, which it always
///    accepts; the banks are served round-robin. An answer stands at the requester in the cycle
///    after the bank's port gave it.
/// 2. The counters are modulo 2^32, and count an answer in the cycle in which it stands at the
///    requester: they may lie apart. An atomic operation counts as a write.
/// 3. With `words`, the answer of a write carries a word and an error: those of atomic operations.
/// 4. With a network interface, the answers of its requester carry a second word: the upper half of
///    a value of 64 bits.
#[clocked("no answer stands, the counters are zero")]
#[derive(Clone, LogicBlock)]
#[new(requesters: usize, banks: usize, words: bool, network: usize, wide: bool)]
pub struct ResponseCrossbar {
    /// From each bank: answers of reads.
    #[count(banks)]
    pub bank: Vec<Flipped<BankResponse>>,
    /// From each bank: answers of writes.
    #[count(banks)]
    pub bank_written: Vec<Flipped<BankWritten>>,
    /// From each bank, with the answers of atomic operations (only with words).
    #[there(words)]
    #[count(banks)]
    pub bank_answer: Part<Vec<AtomicAnswer>>,
    /// Upper half of the value of an atomic operation (only with a network interface).
    #[there(wide)]
    #[count(banks)]
    pub bank_written_high: Part<Vec<Signal<In, Bits<32>>>>,

    /// To each requester: the answers of its reads.
    #[count(requesters)]
    pub response: Vec<Flipped<LineResponse>>,
    /// To each requester: the answers of its writes.
    #[count(requesters)]
    pub written: Vec<Flipped<LineWritten>>,
    /// To each requester, with the answers of its atomic operations (only with words).
    #[there(words)]
    #[count(requesters)]
    pub atomic_answer: Part<Vec<Flipped<AtomicAnswer>>>,
    /// To the network interface: the upper half of the value (only with a network interface).
    #[there(wide)]
    pub written_high: Part<Signal<Out, Bits<32>>>,
    /// Of each requester.
    #[count(requesters)]
    pub counters: Vec<L2Counters>,

    #[count(requesters)]
    arbiter: Vec<RoundRobin>,
    #[count(requesters)]
    written_arbiter: Vec<RoundRobin>,
    #[count(requesters)]
    valid: Vec<Register<Bit>>,
    #[count(requesters)]
    tag: Vec<Register<Bits<7>>>,
    #[count(requesters)]
    data: Vec<Register<Bits<512>>>,
    #[count(requesters)]
    error: Vec<Register<Bit>>,
    /// The answer is that of a miss.
    #[count(requesters)]
    missed: Vec<Register<Bit>>,
    #[count(requesters)]
    done: Vec<Register<Bit>>,
    #[count(requesters)]
    done_tag: Vec<Register<Bits<6>>>,
    #[there(words)]
    #[count(requesters)]
    done_word: Part<Vec<Register<Bits<32>>>>,
    #[there(words)]
    #[count(requesters)]
    done_error: Part<Vec<Register<Bit>>>,
    #[there(wide)]
    done_high: Part<Register<Bits<32>>>,
    #[count(requesters)]
    hit_count: Vec<Register<Bits<32>>>,
    #[count(requesters)]
    miss_count: Vec<Register<Bits<32>>>,
    #[count(requesters)]
    write_count: Vec<Register<Bits<32>>>,
    #[init(indices(requesters))]
    number: Vec<Constant<Bits<5>>>,
    #[init(requesters)]
    _requesters: usize,
    #[init(banks)]
    _banks: usize,
    #[init(network)]
    _network: usize,
}

impl ResponseCrossbar {
    /// A crossbar from `banks` banks to `requesters` requesters, with or without words in the
    /// answers of writes. The network interface, if there is one, is requester `network`.
    ///
    /// # Panics
    /// If there are not 1 to 32 requesters and banks, or `network` is not one of the requesters.
    pub fn new(requesters: usize, banks: usize, words: bool, network: Option<usize>) -> Self {
        assert!(
            (1..=32).contains(&requesters),
            "ResponseCrossbar: {requesters} requesters, expected 1 to 32"
        );
        assert!((1..=32).contains(&banks), "ResponseCrossbar: {banks} banks, expected 1 to 32");
        assert!(
            network.is_none_or(|network| network < requesters),
            "ResponseCrossbar: network interface {network:?}, expected one of {requesters} requesters"
        );
        Self::wired(requesters, banks, words, network.unwrap_or(0), network.is_some())
    }
}

impl Logic for ResponseCrossbar {
    #[hdl_gen]
    fn update(&mut self) {
        for b in 0..self._banks {
            self.bank[b].ready.next = false;
            self.bank_written[b].ready.next = false;
        }
        for i in 0..self._requesters {
            // Reads.
            let mut waiting = bits::<32>(0);
            let mut waiting_writes = bits::<32>(0);
            for b in 0..self._banks {
                waiting = waiting.replace_bit(
                    b,
                    self.bank[b].valid.val() && (self.bank[b].requester.val() == self.number[i].val()),
                );
                waiting_writes = waiting_writes.replace_bit(
                    b,
                    self.bank_written[b].valid.val()
                        && (self.bank_written[b].requester.val() == self.number[i].val()),
                );
            }
            self.arbiter[i].request.next = waiting;
            self.arbiter[i].advance.next = self.arbiter[i].any.val();
            self.valid[i].d.next = self.arbiter[i].any.val();
            if self.arbiter[i].any.val() {
                for b in 0..self._banks {
                    if self.arbiter[i].grant.val().get_bit(b) {
                        self.bank[b].ready.next = true;
                        self.tag[i].d.next = self.bank[b].tag.val();
                        self.data[i].d.next = self.bank[b].data.val();
                        self.error[i].d.next = self.bank[b].error.val();
                        self.missed[i].d.next = self.bank[b].missed.val();
                    }
                }
            }
            self.response[i].valid.next = self.valid[i].q.val();
            self.response[i].tag.next = self.tag[i].q.val();
            self.response[i].data.next = self.data[i].q.val();
            self.response[i].error.next = self.error[i].q.val();

            // Writes.
            self.written_arbiter[i].request.next = waiting_writes;
            self.written_arbiter[i].advance.next = self.written_arbiter[i].any.val();
            self.done[i].d.next = self.written_arbiter[i].any.val();
            if self.written_arbiter[i].any.val() {
                for b in 0..self._banks {
                    if self.written_arbiter[i].grant.val().get_bit(b) {
                        self.bank_written[b].ready.next = true;
                        self.done_tag[i].d.next = self.bank_written[b].tag.val();
                    }
                }
            }
            self.written[i].valid.next = self.done[i].q.val();
            self.written[i].tag.next = self.done_tag[i].q.val();
            if self.valid[i].q.val() {
                if self.missed[i].q.val() {
                    self.miss_count[i].d.next = self.miss_count[i].q.val() + 1;
                } else {
                    self.hit_count[i].d.next = self.hit_count[i].q.val() + 1;
                }
            }
            if self.done[i].q.val() {
                self.write_count[i].d.next = self.write_count[i].q.val() + 1;
            }
            self.counters[i].read_hits.next = self.hit_count[i].q.val();
            self.counters[i].read_misses.next = self.miss_count[i].q.val();
            self.counters[i].writes.next = self.write_count[i].q.val();
        }
        if self.atomic_answer.is_there() {
            for i in 0..self._requesters {
                for b in 0..self._banks {
                    if self.written_arbiter[i].grant.val().get_bit(b) {
                        self.done_word[i].d.next = self.bank_answer[b].word.val();
                        self.done_error[i].d.next = self.bank_answer[b].error.val();
                    }
                }
                self.atomic_answer[i].word.next = self.done_word[i].q.val();
                self.atomic_answer[i].error.next = self.done_error[i].q.val();
            }
        }
        if self.written_high.is_there() {
            for b in 0..self._banks {
                if self.written_arbiter[self._network].grant.val().get_bit(b) {
                    self.done_high.d.next = self.bank_written_high[b].val();
                }
            }
            self.written_high.next = self.done_high.q.val();
        }
    }
}
