//! From the requesters to the banks.

use crate::blocks::IndexHash;
use crate::blocks::QueuePointers;
use crate::blocks::{indices, RoundRobin};
use crate::ports::BankRequest;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Routes the reads and writes of up to 32 requesters to the banks of the L2.
///
/// 1. The bank of a line is a fold of its address ([`IndexHash`]). Each bank accepts one request a
///    cycle into a queue of four: reads and writes alternate when both wait, and among each the
///    requesters are served round-robin.
/// 2. A requester's reads of one bank stay in order, and so do its writes.
/// 3. `request` shows the oldest request of each bank, from the cycle after its acceptance on.
#[clocked("the queues are empty")]
#[derive(Clone, LogicBlock)]
#[new(requesters: usize, banks: usize)]
pub struct RequestCrossbar {
    /// From each requester: a line is to be read.
    #[count(requesters)]
    pub read_valid: Vec<Signal<In, Bit>>,
    /// Accepted at this edge.
    #[count(requesters)]
    pub read_ready: Vec<Signal<Out, Bit>>,
    /// Line address of the read.
    #[count(requesters)]
    pub read_line: Vec<Signal<In, LineAddress>>,
    /// Tag for the answer.
    #[count(requesters)]
    pub read_tag: Vec<Signal<In, Bits<7>>>,
    /// From each requester: a line is to be written.
    #[count(requesters)]
    pub write_valid: Vec<Signal<In, Bit>>,
    /// Accepted at this edge.
    #[count(requesters)]
    pub write_ready: Vec<Signal<Out, Bit>>,
    /// Line address of the write.
    #[count(requesters)]
    pub write_line: Vec<Signal<In, LineAddress>>,
    /// The line, byte 0 in bits 7:0.
    #[count(requesters)]
    pub write_data: Vec<Signal<In, Bits<512>>>,
    /// Bytes to write.
    #[count(requesters)]
    pub write_strobe: Vec<Signal<In, Bits<64>>>,
    /// Tag for the answer.
    #[count(requesters)]
    pub write_tag: Vec<Signal<In, Bits<6>>>,

    /// To each bank: the oldest request.
    #[count(banks)]
    pub request: Vec<BankRequest>,

    #[init(hashes(requesters, banks))]
    read_bank: Vec<IndexHash>,
    #[init(hashes(requesters, banks))]
    write_bank: Vec<IndexHash>,
    #[count(banks)]
    read_arbiter: Vec<RoundRobin>,
    #[count(banks)]
    write_arbiter: Vec<RoundRobin>,
    #[count(banks)]
    wrote_last: Vec<Register<Bit>>,
    #[count(banks)]
    queue: Vec<QueuePointers<2>>,
    #[count(banks)]
    queue_write: Vec<RamAsync<Bit, 2>>,
    #[count(banks)]
    queue_requester: Vec<RamAsync<Bits<5>, 2>>,
    #[count(banks)]
    queue_tag: Vec<RamAsync<Bits<7>, 2>>,
    #[count(banks)]
    queue_write_tag: Vec<RamAsync<Bits<6>, 2>>,
    #[count(banks)]
    queue_line: Vec<RamAsync<LineAddress, 2>>,
    /// Line of the oldest request: all that the bank looks up depends on it.
    #[count(banks)]
    oldest_line: Vec<Register<LineAddress>>,
    #[count(banks)]
    queue_data: Vec<RamAsync<Bits<512>, 2>>,
    #[count(banks)]
    queue_strobe: Vec<RamAsync<Bits<64>, 2>>,
    #[init(indices(banks))]
    number: Vec<Constant<Bits<5>>>,

    #[init(requesters)]
    _requesters: usize,
    #[init(banks)]
    _banks: usize,
}

/// The bank of a line, for each requester.
fn hashes(requesters: usize, banks: usize) -> Vec<IndexHash> {
    vec![IndexHash::new(banks.ilog2() as usize, 0); requesters]
}

impl RequestCrossbar {
    /// A crossbar from `requesters` requesters to `banks` banks.
    ///
    /// # Panics
    /// If there are not 1 to 32 requesters, or `banks` is not 1, 2, 4 or 8.
    pub fn new(requesters: usize, banks: usize) -> Self {
        assert!((1..=32).contains(&requesters), "RequestCrossbar: {requesters} requesters, expected 1 to 32");
        assert!(matches!(banks, 1 | 2 | 4 | 8), "RequestCrossbar: {banks} banks, expected 1, 2, 4 or 8");
        Self::wired(requesters, banks)
    }
}

impl Logic for RequestCrossbar {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..self._requesters {
            self.read_bank[i].line.next = self.read_line[i].val();
            self.write_bank[i].line.next = self.write_line[i].val();
            self.read_ready[i].next = false;
            self.write_ready[i].next = false;
        }
        for b in 0..self._banks {
            // The requesters of this bank, and the one that it accepts.
            let mut reads = bits::<32>(0);
            let mut writes = bits::<32>(0);
            for i in 0..self._requesters {
                reads = reads.replace_bit(
                    i,
                    self.read_valid[i].val()
                        && (self.read_bank[i].index.val().get_bits::<5>(0) == self.number[b].val()),
                );
                writes = writes.replace_bit(
                    i,
                    self.write_valid[i].val()
                        && (self.write_bank[i].index.val().get_bits::<5>(0) == self.number[b].val()),
                );
            }
            self.read_arbiter[b].request.next = reads;
            self.write_arbiter[b].request.next = writes;
            let space = !self.queue[b].full.val();
            let choose_write = space
                && self.write_arbiter[b].any.val()
                && (!self.read_arbiter[b].any.val() || !self.wrote_last[b].q.val());
            let choose_read = space && self.read_arbiter[b].any.val() && !choose_write;
            self.read_arbiter[b].advance.next = choose_read;
            self.write_arbiter[b].advance.next = choose_write;
            if choose_write || choose_read {
                self.wrote_last[b].d.next = choose_write;
            }

            // The accepted request goes into the queue.
            self.queue[b].push.next = choose_write || choose_read;
            self.queue_write[b].write_enable.next = choose_write || choose_read;
            self.queue_write[b].write_address.next = self.queue[b].write_address.val();
            self.queue_write[b].write_data.next = choose_write;
            self.queue_requester[b].write_enable.next = choose_write || choose_read;
            self.queue_requester[b].write_address.next = self.queue[b].write_address.val();
            self.queue_tag[b].write_enable.next = choose_read;
            self.queue_tag[b].write_address.next = self.queue[b].write_address.val();
            self.queue_write_tag[b].write_enable.next = choose_write;
            self.queue_write_tag[b].write_address.next = self.queue[b].write_address.val();
            self.queue_line[b].write_enable.next = choose_write || choose_read;
            self.queue_line[b].write_address.next = self.queue[b].write_address.val();
            self.queue_data[b].write_enable.next = choose_write;
            self.queue_data[b].write_address.next = self.queue[b].write_address.val();
            self.queue_strobe[b].write_enable.next = choose_write;
            self.queue_strobe[b].write_address.next = self.queue[b].write_address.val();
            self.queue_requester[b].write_data.next = self.read_arbiter[b].index.val();
            self.queue_tag[b].write_data.next = bits::<7>(0);
            self.queue_write_tag[b].write_data.next = bits::<6>(0);
            let mut line = bits::<26>(0);
            self.queue_data[b].write_data.next = bits::<512>(0);
            self.queue_strobe[b].write_data.next = bits::<64>(0);
            if choose_write {
                self.queue_requester[b].write_data.next = self.write_arbiter[b].index.val();
                for i in 0..self._requesters {
                    if self.write_arbiter[b].grant.val().get_bit(i) {
                        self.queue_write_tag[b].write_data.next = self.write_tag[i].val();
                        line = self.write_line[i].val();
                        self.queue_data[b].write_data.next = self.write_data[i].val();
                        self.queue_strobe[b].write_data.next = self.write_strobe[i].val();
                        self.write_ready[i].next = true;
                    }
                }
            } else if choose_read {
                for i in 0..self._requesters {
                    if self.read_arbiter[b].grant.val().get_bit(i) {
                        self.queue_tag[b].write_data.next = self.read_tag[i].val();
                        line = self.read_line[i].val();
                        self.read_ready[i].next = true;
                    }
                }
            }

            self.queue_line[b].write_data.next = line;

            // The oldest request. The line of the next one is looked at, and taken over when its
            // turn comes.
            let next = self.queue[b].read_address.val() + 1;
            let only = (next == self.queue[b].write_address.val()) && !self.queue[b].full.val();
            let pop = !self.queue[b].empty.val() && self.request[b].ready.val();
            if self.queue[b].empty.val() || (pop && only) {
                self.oldest_line[b].d.next = line;
            } else if pop {
                self.oldest_line[b].d.next = self.queue_line[b].read_data.val();
            }
            self.queue[b].pop.next = pop;
            self.queue_write[b].read_address.next = self.queue[b].read_address.val();
            self.queue_requester[b].read_address.next = self.queue[b].read_address.val();
            self.queue_tag[b].read_address.next = self.queue[b].read_address.val();
            self.queue_write_tag[b].read_address.next = self.queue[b].read_address.val();
            self.queue_line[b].read_address.next = next;
            self.queue_data[b].read_address.next = self.queue[b].read_address.val();
            self.queue_strobe[b].read_address.next = self.queue[b].read_address.val();
            self.request[b].valid.next = !self.queue[b].empty.val();
            self.request[b].write.next = self.queue_write[b].read_data.val();
            self.request[b].requester.next = self.queue_requester[b].read_data.val();
            self.request[b].tag.next = self.queue_tag[b].read_data.val();
            self.request[b].write_tag.next = self.queue_write_tag[b].read_data.val();
            self.request[b].line.next = self.oldest_line[b].q.val();
            self.request[b].data.next = self.queue_data[b].read_data.val();
            self.request[b].strobe.next = self.queue_strobe[b].read_data.val();
        }
    }
}
