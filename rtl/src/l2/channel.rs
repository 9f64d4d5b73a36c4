//! One AXI4 channel to memory.

use super::Axi4Master;
use crate::blocks::QueuePointers;
use crate::blocks::RoundRobin;
use crate::ports::{BankFetch, BankFill, BankStore, BankStored};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// The AXI4 master of up to 8 banks.
///
/// 1. Every transfer is one beat of 512 bits (one line). An ID is the number that the bank gave to
///    its fetch or write-back, with the bank above it, so that all outstanding reads and all
///    outstanding writes have IDs of their own and may be answered in any order.
/// 2. One fetch and one write-back are accepted in a cycle while memory accepts them; the banks are
///    served round-robin. An accepted request stands on the bus in the next cycle until it is
///    accepted there; AW and W of a write are accepted in any order.
/// 3. A line that was read waits in a queue of two for its bank; R is held up while both are full.
///    B is always accepted. Both reach the bank in the cycle after the bus.
/// 4. A response other than OKAY, and a read beat without RLAST, is an error. `bus_errors`,
///    `line_read` and `line_written` report what happened in the cycle before.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(banks: usize, numbers: usize, number_mask: u64)]
pub struct MemoryChannel {
    /// From each bank: lines to fetch.
    #[count(banks)]
    pub fetch: Vec<Flipped<BankFetch>>,
    /// To each bank: fetched lines. Number, line and error are the same for all banks.
    #[count(banks)]
    pub fill: Vec<Flipped<BankFill>>,
    /// From each bank: lines to write back.
    #[count(banks)]
    pub store: Vec<Flipped<BankStore>>,
    /// To each bank: write-backs that are done. The number is the same for all banks.
    #[count(banks)]
    pub done: Vec<Flipped<BankStored>>,

    /// Errors in the cycle before.
    pub bus_errors: Signal<Out, Bits<2>>,
    /// A line was read in the cycle before.
    pub line_read: Signal<Out, Bit>,
    /// A line was written in the cycle before.
    pub line_written: Signal<Out, Bit>,
    /// To memory.
    pub m_axi: Axi4Master,

    fetch_arbiter: RoundRobin,
    store_arbiter: RoundRobin,
    ar_valid: Register<Bit>,
    ar_id: Register<Bits<8>>,
    ar_line: Register<LineAddress>,
    ar_code: Register<Bit>,
    aw_valid: Register<Bit>,
    aw_id: Register<Bits<8>>,
    aw_line: Register<LineAddress>,
    w_valid: Register<Bit>,
    w_data: Register<Bits<512>>,
    w_strobe: Register<Bits<64>>,
    fills: QueuePointers<1>,
    fills_id: RamAsync<Bits<8>, 1>,
    fills_data: RamAsync<Bits<512>, 1>,
    fills_error: RamAsync<Bit, 1>,
    b_valid: Register<Bit>,
    b_id: Register<Bits<8>>,
    errors: Register<Bits<2>>,
    read_event: Register<Bit>,
    write_event: Register<Bit>,

    #[init((0..banks as u64).map(|bank| Constant::new((bank << numbers).into())).collect())]
    bank_id: Vec<Constant<Bits<8>>>,
    #[init(Constant::new(number_mask.into()))]
    number_mask: Constant<Bits<8>>,
    #[init(banks)]
    _banks: usize,
}

impl MemoryChannel {
    /// The channel of `banks` banks with up to `2^numbers` fetches and as many write-backs each.
    ///
    /// # Panics
    /// If there are not 1 to 8 banks, or their numbers do not fit an ID of 8 bits.
    pub fn new(banks: usize, numbers: usize) -> Self {
        assert!((1..=8).contains(&banks), "MemoryChannel: {banks} banks, expected 1 to 8");
        assert!(numbers <= 6 && banks << numbers <= 256, "MemoryChannel: {banks} banks of 2^{numbers}");
        let number_mask = (1u64 << numbers) - 1;
        Self::wired(banks, numbers, number_mask)
    }
}

impl Logic for MemoryChannel {
    #[hdl_gen]
    fn update(&mut self) {
        let mut fetches = bits::<32>(0);
        let mut stores = bits::<32>(0);
        for i in 0..self._banks {
            fetches = fetches.replace_bit(i, self.fetch[i].valid.val());
            stores = stores.replace_bit(i, self.store[i].valid.val());
        }

        // Read requests.
        self.fetch_arbiter.request.next = fetches;
        let ar_free = !self.ar_valid.q.val() || self.m_axi.arready.val();
        self.fetch_arbiter.advance.next = ar_free && self.fetch_arbiter.any.val();
        let mut ar_number = bits::<6>(0);
        let mut ar_bank = bits::<8>(0);
        for i in 0..self._banks {
            if self.fetch_arbiter.grant.val().get_bit(i) {
                ar_number = self.fetch[i].number.val();
                ar_bank = self.bank_id[i].val();
            }
        }
        if ar_free {
            self.ar_valid.d.next = self.fetch_arbiter.any.val();
            self.ar_id.d.next = ar_bank | bit_cast::<8, 6>(ar_number);
            for i in 0..self._banks {
                if self.fetch_arbiter.grant.val().get_bit(i) {
                    self.ar_line.d.next = self.fetch[i].line.val();
                    self.ar_code.d.next = self.fetch[i].code.val();
                }
            }
        }

        // Write requests: address and data are accepted together here, apart by the memory.
        self.store_arbiter.request.next = stores;
        let aw_free = (!self.aw_valid.q.val() || self.m_axi.awready.val())
            && (!self.w_valid.q.val() || self.m_axi.wready.val());
        self.store_arbiter.advance.next = aw_free && self.store_arbiter.any.val();
        if self.m_axi.awready.val() {
            self.aw_valid.d.next = false;
        }
        if self.m_axi.wready.val() {
            self.w_valid.d.next = false;
        }
        let mut aw_number = bits::<6>(0);
        let mut aw_bank = bits::<8>(0);
        for i in 0..self._banks {
            if self.store_arbiter.grant.val().get_bit(i) {
                aw_number = self.store[i].number.val();
                aw_bank = self.bank_id[i].val();
            }
        }
        if aw_free && self.store_arbiter.any.val() {
            self.aw_valid.d.next = true;
            self.aw_id.d.next = aw_bank | bit_cast::<8, 6>(aw_number);
            self.w_valid.d.next = true;
            for i in 0..self._banks {
                if self.store_arbiter.grant.val().get_bit(i) {
                    self.aw_line.d.next = self.store[i].line.val();
                    self.w_data.d.next = self.store[i].data.val();
                    self.w_strobe.d.next = self.store[i].strobe.val();
                }
            }
        }
        for i in 0..self._banks {
            self.fetch[i].ready.next = ar_free && self.fetch_arbiter.grant.val().get_bit(i);
            self.store[i].ready.next = aw_free && self.store_arbiter.grant.val().get_bit(i);
        }

        // Lines from memory, through the queue to their banks. An ID of no bank is an error of the
        // memory; it is ignored.
        self.m_axi.rready.next = !self.fills.full.val();
        let r_take = self.m_axi.rvalid.val() && !self.fills.full.val();
        let r_error = self.m_axi.rresp.val().any() || !self.m_axi.rlast.val();
        self.fills.push.next = r_take;
        self.fills_id.write_enable.next = r_take;
        self.fills_id.write_address.next = self.fills.write_address.val();
        self.fills_id.write_data.next = self.m_axi.rid.val();
        self.fills_id.read_address.next = self.fills.read_address.val();
        self.fills_data.write_enable.next = r_take;
        self.fills_data.write_address.next = self.fills.write_address.val();
        self.fills_data.write_data.next = self.m_axi.rdata.val();
        self.fills_data.read_address.next = self.fills.read_address.val();
        self.fills_error.write_enable.next = r_take;
        self.fills_error.write_address.next = self.fills.write_address.val();
        self.fills_error.write_data.next = r_error;
        self.fills_error.read_address.next = self.fills.read_address.val();
        let fill_id = self.fills_id.read_data.val();
        let filled_line = self.fills_data.read_data.val();
        let filled_wrong = self.fills_error.read_data.val();
        let mut fill_taken = true;
        for i in 0..self._banks {
            self.fill[i].valid.next = false;
            self.fill[i].number.next = (fill_id & self.number_mask.val()).get_bits::<6>(0);
            self.fill[i].data.next = filled_line;
            self.fill[i].error.next = filled_wrong;
            if (fill_id & !self.number_mask.val()) == self.bank_id[i].val() {
                self.fill[i].valid.next = !self.fills.empty.val();
                fill_taken = self.fill[i].ready.val();
            }
        }
        self.fills.pop.next = !self.fills.empty.val() && fill_taken;

        // Answers of writes.
        self.m_axi.bready.next = true;
        self.b_valid.d.next = self.m_axi.bvalid.val();
        if self.m_axi.bvalid.val() {
            self.b_id.d.next = self.m_axi.bid.val();
        }
        let b_error = self.m_axi.bvalid.val() && self.m_axi.bresp.val().any();
        for i in 0..self._banks {
            self.done[i].number.next = (self.b_id.q.val() & self.number_mask.val()).get_bits::<6>(0);
            self.done[i].valid.next = self.b_valid.q.val()
                && ((self.b_id.q.val() & !self.number_mask.val()) == self.bank_id[i].val());
        }

        self.errors.d.next = bits::<2>(0);
        if r_take && r_error && b_error {
            self.errors.d.next = bits::<2>(2);
        } else if (r_take && r_error) || b_error {
            self.errors.d.next = bits::<2>(1);
        }
        self.bus_errors.next = self.errors.q.val();
        self.read_event.d.next = r_take;
        self.write_event.d.next = self.m_axi.bvalid.val();
        self.line_read.next = self.read_event.q.val();
        self.line_written.next = self.write_event.q.val();

        self.m_axi.arvalid.next = self.ar_valid.q.val();
        self.m_axi.arid.next = self.ar_id.q.val();
        self.m_axi.araddr.next = bit_cast::<32, 26>(self.ar_line.q.val()) << 6;
        self.m_axi.arlen.next = bits::<8>(0);
        self.m_axi.arsize.next = bits::<3>(6);
        self.m_axi.arburst.next = bits::<2>(1);
        self.m_axi.arlock.next = false;
        self.m_axi.arcache.next = bits::<4>(3);
        self.m_axi.arprot.next = bits::<3>(0);
        if self.ar_code.q.val() {
            self.m_axi.arprot.next = bits::<3>(4);
        }
        self.m_axi.arqos.next = bits::<4>(0);
        self.m_axi.awvalid.next = self.aw_valid.q.val();
        self.m_axi.awid.next = self.aw_id.q.val();
        self.m_axi.awaddr.next = bit_cast::<32, 26>(self.aw_line.q.val()) << 6;
        self.m_axi.awlen.next = bits::<8>(0);
        self.m_axi.awsize.next = bits::<3>(6);
        self.m_axi.awburst.next = bits::<2>(1);
        self.m_axi.awlock.next = false;
        self.m_axi.awcache.next = bits::<4>(3);
        self.m_axi.awprot.next = bits::<3>(0);
        self.m_axi.awqos.next = bits::<4>(0);
        self.m_axi.wvalid.next = self.w_valid.q.val();
        self.m_axi.wdata.next = self.w_data.q.val();
        self.m_axi.wstrb.next = self.w_strobe.q.val();
        self.m_axi.wlast.next = true;
    }
}
