//! The AXI4 master through which all cores reach memory.

use crate::control::RoundRobin;
use crate::prelude::*;

/// One AXI4 master for the data reads, instruction fetches and writes of up to 32 cores.
///
/// 1. Every transfer is one beat of 512 bits (one line). IDs: bit 5 is 1 for a fetch, bits 4:0 are the core.
/// 2. One read and one write request a cycle are accepted while memory accepts them. Data reads and fetches take turns when both
///    wait; within each kind, and among the writes, the cores take turns. An accepted request stands on `m_axi_` in the next cycle and
///    stays until it is accepted there; AW and W of a write are accepted in any order.
/// 3. Responses pass in the cycle in which they come: `response_data` and `response_error` go to all cores, and one
///    `read_response_valid` or `fetch_response_valid` tells whose they are. Only the core addressed holds up the R channel.
///    B is always accepted.
/// 4. A response other than OKAY, and a read beat without RLAST, is an error. `bus_errors` is the number of
///    errors in the cycle before (0 to 2).
/// 5. Responses with the ID of a core that does not exist are accepted and dropped.
#[derive(Clone, Debug, LogicBlock)]
pub struct MemoryMaster {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    // From the cores
    /// A data line is to be read.
    pub read_valid: Vec<Signal<In, Bit>>,
    /// Accepted at this edge.
    pub read_ready: Vec<Signal<Out, Bit>>,
    /// Its line address.
    pub read_line: Vec<Signal<In, Bits<26>>>,
    /// A line of instructions is to be read.
    pub fetch_valid: Vec<Signal<In, Bit>>,
    /// Accepted at this edge.
    pub fetch_ready: Vec<Signal<Out, Bit>>,
    /// Its line address.
    pub fetch_line: Vec<Signal<In, Bits<26>>>,
    /// A line is to be written.
    pub write_valid: Vec<Signal<In, Bit>>,
    /// Accepted at this edge.
    pub write_ready: Vec<Signal<Out, Bit>>,
    /// Its line address.
    pub write_line: Vec<Signal<In, Bits<26>>>,
    /// The line, byte 0 in bits 7:0.
    pub write_data: Vec<Signal<In, Bits<512>>>,
    /// Bytes to write.
    pub write_strobe: Vec<Signal<In, Bits<64>>>,

    // To the cores
    /// The line of this core's oldest data read is on `response_data`.
    pub read_response_valid: Vec<Signal<Out, Bit>>,
    /// It is accepted at this edge.
    pub read_response_ready: Vec<Signal<In, Bit>>,
    /// The line of this core's oldest fetch is on `response_data` (always accepted).
    pub fetch_response_valid: Vec<Signal<Out, Bit>>,
    /// The line, byte 0 in bits 7:0.
    pub response_data: Signal<Out, Bits<512>>,
    /// The memory could not read it.
    pub response_error: Signal<Out, Bit>,
    /// This core's oldest write is done (one cycle, always accepted).
    pub write_done: Vec<Signal<Out, Bit>>,

    /// Errors in the cycle before.
    pub bus_errors: Signal<Out, Bits<2>>,

    // AXI4 master
    /// Write address: ID.
    pub m_axi_awid: Signal<Out, Bits<6>>,
    /// Write address, 64-byte aligned.
    pub m_axi_awaddr: Signal<Out, Bits<32>>,
    /// Burst length - 1: 0.
    pub m_axi_awlen: Signal<Out, Bits<8>>,
    /// Bytes of a beat as a power of two: 6.
    pub m_axi_awsize: Signal<Out, Bits<3>>,
    /// Burst type: INCR.
    pub m_axi_awburst: Signal<Out, Bits<2>>,
    /// Normal access.
    pub m_axi_awlock: Signal<Out, Bit>,
    /// Memory type: normal, non-cacheable, bufferable.
    pub m_axi_awcache: Signal<Out, Bits<4>>,
    /// Unprivileged secure data access.
    pub m_axi_awprot: Signal<Out, Bits<3>>,
    /// No quality of service.
    pub m_axi_awqos: Signal<Out, Bits<4>>,
    /// Write address valid.
    pub m_axi_awvalid: Signal<Out, Bit>,
    /// Write address ready.
    pub m_axi_awready: Signal<In, Bit>,
    /// Write data.
    pub m_axi_wdata: Signal<Out, Bits<512>>,
    /// Write strobes.
    pub m_axi_wstrb: Signal<Out, Bits<64>>,
    /// Last beat of the burst: always.
    pub m_axi_wlast: Signal<Out, Bit>,
    /// Write data valid.
    pub m_axi_wvalid: Signal<Out, Bit>,
    /// Write data ready.
    pub m_axi_wready: Signal<In, Bit>,
    /// Write response: ID.
    pub m_axi_bid: Signal<In, Bits<6>>,
    /// Write response: 0 is OKAY.
    pub m_axi_bresp: Signal<In, Bits<2>>,
    /// Write response valid.
    pub m_axi_bvalid: Signal<In, Bit>,
    /// Write response ready: always.
    pub m_axi_bready: Signal<Out, Bit>,
    /// Read address: ID.
    pub m_axi_arid: Signal<Out, Bits<6>>,
    /// Read address, 64-byte aligned.
    pub m_axi_araddr: Signal<Out, Bits<32>>,
    /// Burst length - 1: 0.
    pub m_axi_arlen: Signal<Out, Bits<8>>,
    /// Bytes of a beat as a power of two: 6.
    pub m_axi_arsize: Signal<Out, Bits<3>>,
    /// Burst type: INCR.
    pub m_axi_arburst: Signal<Out, Bits<2>>,
    /// Normal access.
    pub m_axi_arlock: Signal<Out, Bit>,
    /// Memory type: normal, non-cacheable, bufferable.
    pub m_axi_arcache: Signal<Out, Bits<4>>,
    /// Unprivileged secure access; bit 2 is 1 for a fetch.
    pub m_axi_arprot: Signal<Out, Bits<3>>,
    /// No quality of service.
    pub m_axi_arqos: Signal<Out, Bits<4>>,
    /// Read address valid.
    pub m_axi_arvalid: Signal<Out, Bit>,
    /// Read address ready.
    pub m_axi_arready: Signal<In, Bit>,
    /// Read data: ID.
    pub m_axi_rid: Signal<In, Bits<6>>,
    /// Read data.
    pub m_axi_rdata: Signal<In, Bits<512>>,
    /// Read response: 0 is OKAY.
    pub m_axi_rresp: Signal<In, Bits<2>>,
    /// Last beat of the burst.
    pub m_axi_rlast: Signal<In, Bit>,
    /// Read data valid.
    pub m_axi_rvalid: Signal<In, Bit>,
    /// Read data ready.
    pub m_axi_rready: Signal<Out, Bit>,

    read_arbiter: RoundRobin,
    fetch_arbiter: RoundRobin,
    write_arbiter: RoundRobin,
    ar_valid: Register<Bit>,
    ar_id: Register<Bits<6>>,
    ar_line: Register<Bits<26>>,
    fetched_last: Register<Bit>,
    aw_valid: Register<Bit>,
    aw_core: Register<Bits<5>>,
    aw_line: Register<Bits<26>>,
    w_valid: Register<Bit>,
    w_data: Register<Bits<512>>,
    w_strobe: Register<Bits<64>>,
    errors: Register<Bits<2>>,

    read_requests: Signal<Local, Bits<32>>,
    fetch_requests: Signal<Local, Bits<32>>,
    write_requests: Signal<Local, Bits<32>>,
    read_free: Signal<Local, Bit>,
    write_free: Signal<Local, Bit>,
    choose_fetch: Signal<Local, Bit>,
    read_target: Signal<Local, Bits<32>>,
    write_target: Signal<Local, Bits<32>>,
    read_accept: Signal<Local, Bit>,
    read_error: Signal<Local, Bit>,
    read_fails: Signal<Local, Bit>,
    write_fails: Signal<Local, Bit>,
    _cores: usize,
}

impl MemoryMaster {
    /// A master for `cores` cores.
    ///
    /// # Panics
    /// If `cores` is not 1 to 32.
    pub fn new(cores: usize) -> Self {
        assert!((1..=32).contains(&cores), "MemoryMaster: {cores} cores, expected 1 to 32");
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            read_valid: (0..cores).map(|_| Signal::default()).collect(),
            read_ready: (0..cores).map(|_| Signal::default()).collect(),
            read_line: (0..cores).map(|_| Signal::default()).collect(),
            fetch_valid: (0..cores).map(|_| Signal::default()).collect(),
            fetch_ready: (0..cores).map(|_| Signal::default()).collect(),
            fetch_line: (0..cores).map(|_| Signal::default()).collect(),
            write_valid: (0..cores).map(|_| Signal::default()).collect(),
            write_ready: (0..cores).map(|_| Signal::default()).collect(),
            write_line: (0..cores).map(|_| Signal::default()).collect(),
            write_data: (0..cores).map(|_| Signal::default()).collect(),
            write_strobe: (0..cores).map(|_| Signal::default()).collect(),
            read_response_valid: (0..cores).map(|_| Signal::default()).collect(),
            read_response_ready: (0..cores).map(|_| Signal::default()).collect(),
            fetch_response_valid: (0..cores).map(|_| Signal::default()).collect(),
            response_data: Signal::default(),
            response_error: Signal::default(),
            write_done: (0..cores).map(|_| Signal::default()).collect(),
            bus_errors: Signal::default(),
            m_axi_awid: Signal::default(),
            m_axi_awaddr: Signal::default(),
            m_axi_awlen: Signal::default(),
            m_axi_awsize: Signal::default(),
            m_axi_awburst: Signal::default(),
            m_axi_awlock: Signal::default(),
            m_axi_awcache: Signal::default(),
            m_axi_awprot: Signal::default(),
            m_axi_awqos: Signal::default(),
            m_axi_awvalid: Signal::default(),
            m_axi_awready: Signal::default(),
            m_axi_wdata: Signal::default(),
            m_axi_wstrb: Signal::default(),
            m_axi_wlast: Signal::default(),
            m_axi_wvalid: Signal::default(),
            m_axi_wready: Signal::default(),
            m_axi_bid: Signal::default(),
            m_axi_bresp: Signal::default(),
            m_axi_bvalid: Signal::default(),
            m_axi_bready: Signal::default(),
            m_axi_arid: Signal::default(),
            m_axi_araddr: Signal::default(),
            m_axi_arlen: Signal::default(),
            m_axi_arsize: Signal::default(),
            m_axi_arburst: Signal::default(),
            m_axi_arlock: Signal::default(),
            m_axi_arcache: Signal::default(),
            m_axi_arprot: Signal::default(),
            m_axi_arqos: Signal::default(),
            m_axi_arvalid: Signal::default(),
            m_axi_arready: Signal::default(),
            m_axi_rid: Signal::default(),
            m_axi_rdata: Signal::default(),
            m_axi_rresp: Signal::default(),
            m_axi_rlast: Signal::default(),
            m_axi_rvalid: Signal::default(),
            m_axi_rready: Signal::default(),
            read_arbiter: RoundRobin::default(),
            fetch_arbiter: RoundRobin::default(),
            write_arbiter: RoundRobin::default(),
            ar_valid: Register::default(),
            ar_id: Register::default(),
            ar_line: Register::default(),
            fetched_last: Register::default(),
            aw_valid: Register::default(),
            aw_core: Register::default(),
            aw_line: Register::default(),
            w_valid: Register::default(),
            w_data: Register::default(),
            w_strobe: Register::default(),
            errors: Register::default(),
            read_requests: Signal::default(),
            fetch_requests: Signal::default(),
            write_requests: Signal::default(),
            read_free: Signal::default(),
            write_free: Signal::default(),
            choose_fetch: Signal::default(),
            read_target: Signal::default(),
            write_target: Signal::default(),
            read_accept: Signal::default(),
            read_error: Signal::default(),
            read_fails: Signal::default(),
            write_fails: Signal::default(),
            _cores: cores,
        }
    }
}

impl Logic for MemoryMaster {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ar_valid, ar_id, ar_line, fetched_last, aw_valid, aw_core, aw_line);
        dff_setup!(self, clock, w_valid, w_data, w_strobe, errors);
        clock!(self, clock, read_arbiter, fetch_arbiter, write_arbiter);

        self.read_requests.next = bits::<32>(0);
        self.fetch_requests.next = bits::<32>(0);
        self.write_requests.next = bits::<32>(0);
        for i in 0..self._cores {
            self.read_requests.next = self.read_requests.val().replace_bit(i, self.read_valid[i].val());
            self.fetch_requests.next = self.fetch_requests.val().replace_bit(i, self.fetch_valid[i].val());
            self.write_requests.next = self.write_requests.val().replace_bit(i, self.write_valid[i].val());
        }
        self.read_arbiter.request.next = self.read_requests.val();
        self.fetch_arbiter.request.next = self.fetch_requests.val();
        self.write_arbiter.request.next = self.write_requests.val();

        // Reads: data and fetches take turns.
        self.read_free.next = !self.ar_valid.q.val() || self.m_axi_arready.val();
        self.choose_fetch.next =
            self.fetch_arbiter.any.val() && (!self.read_arbiter.any.val() || !self.fetched_last.q.val());
        self.fetch_arbiter.advance.next = self.read_free.val() && self.choose_fetch.val();
        self.read_arbiter.advance.next =
            self.read_free.val() && self.read_arbiter.any.val() && !self.choose_fetch.val();
        if self.read_free.val() {
            self.ar_valid.d.next = self.fetch_arbiter.any.val() || self.read_arbiter.any.val();
            if self.choose_fetch.val() {
                self.fetched_last.d.next = true;
                self.ar_id.d.next = bit_cast::<6, 5>(self.fetch_arbiter.index.val()) | 32;
                for i in 0..self._cores {
                    if self.fetch_arbiter.grant.val().get_bit(i) {
                        self.ar_line.d.next = self.fetch_line[i].val();
                    }
                }
            } else if self.read_arbiter.any.val() {
                self.fetched_last.d.next = false;
                self.ar_id.d.next = bit_cast::<6, 5>(self.read_arbiter.index.val());
                for i in 0..self._cores {
                    if self.read_arbiter.grant.val().get_bit(i) {
                        self.ar_line.d.next = self.read_line[i].val();
                    }
                }
            }
        }

        // Writes: address and data are accepted together here, apart by the memory.
        self.write_free.next = (!self.aw_valid.q.val() || self.m_axi_awready.val())
            && (!self.w_valid.q.val() || self.m_axi_wready.val());
        self.write_arbiter.advance.next = self.write_free.val() && self.write_arbiter.any.val();
        if self.m_axi_awready.val() {
            self.aw_valid.d.next = false;
        }
        if self.m_axi_wready.val() {
            self.w_valid.d.next = false;
        }
        if self.write_free.val() && self.write_arbiter.any.val() {
            self.aw_valid.d.next = true;
            self.w_valid.d.next = true;
            self.aw_core.d.next = self.write_arbiter.index.val();
            for i in 0..self._cores {
                if self.write_arbiter.grant.val().get_bit(i) {
                    self.aw_line.d.next = self.write_line[i].val();
                    self.w_data.d.next = self.write_data[i].val();
                    self.w_strobe.d.next = self.write_strobe[i].val();
                }
            }
        }
        for i in 0..self._cores {
            self.read_ready[i].next =
                self.read_free.val() && !self.choose_fetch.val() && self.read_arbiter.grant.val().get_bit(i);
            self.fetch_ready[i].next =
                self.read_free.val() && self.choose_fetch.val() && self.fetch_arbiter.grant.val().get_bit(i);
            self.write_ready[i].next = self.write_free.val() && self.write_arbiter.grant.val().get_bit(i);
        }

        // Responses.
        self.read_target.next = bits::<32>(1) << self.m_axi_rid.val().get_bits::<5>(0);
        self.write_target.next = bits::<32>(1) << self.m_axi_bid.val().get_bits::<5>(0);
        self.read_accept.next = true;
        for i in 0..self._cores {
            self.read_response_valid[i].next = self.m_axi_rvalid.val()
                && !self.m_axi_rid.val().get_bit(5)
                && self.read_target.val().get_bit(i);
            self.fetch_response_valid[i].next = self.m_axi_rvalid.val()
                && self.m_axi_rid.val().get_bit(5)
                && self.read_target.val().get_bit(i);
            self.write_done[i].next = self.m_axi_bvalid.val()
                && !self.m_axi_bid.val().get_bit(5)
                && self.write_target.val().get_bit(i);
            if !self.m_axi_rid.val().get_bit(5) && self.read_target.val().get_bit(i) {
                self.read_accept.next = self.read_response_ready[i].val();
            }
        }
        self.m_axi_rready.next = self.read_accept.val();
        self.m_axi_bready.next = true;
        self.response_data.next = self.m_axi_rdata.val();
        self.read_error.next = self.m_axi_rresp.val().any() || !self.m_axi_rlast.val();
        self.response_error.next = self.read_error.val();
        self.read_fails.next = self.m_axi_rvalid.val() && self.read_accept.val() && self.read_error.val();
        self.write_fails.next = self.m_axi_bvalid.val() && self.m_axi_bresp.val().any();
        self.errors.d.next = bits::<2>(0);
        if self.read_fails.val() && self.write_fails.val() {
            self.errors.d.next = bits::<2>(2);
        } else if self.read_fails.val() || self.write_fails.val() {
            self.errors.d.next = bits::<2>(1);
        }
        self.bus_errors.next = self.errors.q.val();

        self.m_axi_arvalid.next = self.ar_valid.q.val();
        self.m_axi_arid.next = self.ar_id.q.val();
        self.m_axi_araddr.next = bit_cast::<32, 26>(self.ar_line.q.val()) << 6;
        self.m_axi_arlen.next = bits::<8>(0);
        self.m_axi_arsize.next = bits::<3>(6);
        self.m_axi_arburst.next = bits::<2>(1);
        self.m_axi_arlock.next = false;
        self.m_axi_arcache.next = bits::<4>(3);
        self.m_axi_arprot.next = bits::<3>(0);
        if self.ar_id.q.val().get_bit(5) {
            self.m_axi_arprot.next = bits::<3>(4);
        }
        self.m_axi_arqos.next = bits::<4>(0);
        self.m_axi_awvalid.next = self.aw_valid.q.val();
        self.m_axi_awid.next = bit_cast::<6, 5>(self.aw_core.q.val());
        self.m_axi_awaddr.next = bit_cast::<32, 26>(self.aw_line.q.val()) << 6;
        self.m_axi_awlen.next = bits::<8>(0);
        self.m_axi_awsize.next = bits::<3>(6);
        self.m_axi_awburst.next = bits::<2>(1);
        self.m_axi_awlock.next = false;
        self.m_axi_awcache.next = bits::<4>(3);
        self.m_axi_awprot.next = bits::<3>(0);
        self.m_axi_awqos.next = bits::<4>(0);
        self.m_axi_wvalid.next = self.w_valid.q.val();
        self.m_axi_wdata.next = self.w_data.q.val();
        self.m_axi_wstrb.next = self.w_strobe.q.val();
        self.m_axi_wlast.next = true;
    }
}
