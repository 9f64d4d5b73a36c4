//! Native tests of [`MemoryMaster`](super::MemoryMaster) with a model AXI4 slave.

use super::MemoryMaster;
use crate::memory::testing::{
    bits_to_line, line_to_bits, random, reset, settle, strobe, tick, Line, LineMemory,
};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

/// What one core has under way.
#[derive(Default)]
struct Core {
    read: Option<u32>,
    fetch: Option<u32>,
    write: Option<(u32, Line, u64)>,
    /// Accepted requests in order, whose response is outstanding.
    reads: VecDeque<u32>,
    fetches: VecDeque<u32>,
    writes: usize,
}

struct Bench {
    uut: MemoryMaster,
    cores: Vec<Core>,
    rng: ChaCha8Rng,
    /// Chance of a new request, and of each ready, per cycle.
    traffic: f64,
    pace: f64,
    /// Memory as the AXI4 slave has it, and as the cores wrote it.
    memory: LineMemory,
    golden: LineMemory,
    /// The slave's queues: reads by ID, write addresses and data not yet matched, write responses by ID.
    slave_reads: Vec<VecDeque<u32>>,
    slave_addresses: VecDeque<(usize, u32)>,
    slave_data: VecDeque<(Line, u64)>,
    slave_done: Vec<VecDeque<u32>>,
    responding: Option<usize>,
    completing: Option<usize>,
    /// Offers of the last cycle that were not accepted.
    last_ar: Option<(u64, u64)>,
    last_aw: Option<(u64, u64)>,
    last_w: Option<(Line, u64)>,
    errors: u64,
    expected_errors: u64,
    transfers: [u64; 3],
    per_core: Vec<u64>,
}

fn fails(line: u32) -> bool {
    line % 13 == 4
}

impl Bench {
    fn new(cores: usize, traffic: f64, pace: f64) -> Self {
        let mut uut = MemoryMaster::new(cores);
        reset!(uut);
        Self {
            uut,
            cores: (0..cores).map(|_| Core::default()).collect(),
            rng: random("memory_master"),
            traffic,
            pace,
            memory: LineMemory::default(),
            golden: LineMemory::default(),
            slave_reads: vec![VecDeque::new(); 64],
            slave_addresses: VecDeque::new(),
            slave_data: VecDeque::new(),
            slave_done: vec![VecDeque::new(); 64],
            responding: None,
            completing: None,
            last_ar: None,
            last_aw: None,
            last_w: None,
            errors: 0,
            expected_errors: 0,
            transfers: [0; 3],
            per_core: vec![0; cores],
        }
    }

    fn cycle(&mut self) {
        let (rng, uut) = (&mut self.rng, &mut self.uut);
        // Requests of the cores stay until they are accepted. Cores write lines of their own and read lines
        // that nobody writes.
        for (i, core) in self.cores.iter_mut().enumerate() {
            if core.read.is_none() && rng.gen_bool(self.traffic) {
                core.read = Some(rng.gen_range(0x10_0000..0x10_0100));
            }
            if core.fetch.is_none() && rng.gen_bool(self.traffic) {
                core.fetch = Some(rng.gen_range(0x20_0000..0x20_0100));
            }
            if core.write.is_none() && rng.gen_bool(self.traffic) {
                let line = 0x3ff_0000 + i as u32 * 16 + rng.gen_range(0..16);
                core.write = Some((line, std::array::from_fn(|_| rng.gen()), rng.gen()));
            }
            uut.read_valid[i].next = core.read.is_some();
            uut.read_line[i].next = bits(core.read.unwrap_or(0).into());
            uut.fetch_valid[i].next = core.fetch.is_some();
            uut.fetch_line[i].next = bits(core.fetch.unwrap_or(0).into());
            uut.write_valid[i].next = core.write.is_some();
            if let Some((line, data, strobes)) = &core.write {
                uut.write_line[i].next = bits(u64::from(*line));
                uut.write_data[i].next = line_to_bits(data);
                uut.write_strobe[i].next = bits(*strobes);
            }
            uut.read_response_ready[i].next = rng.gen_bool(self.pace);
        }
        // The slave: responses of different IDs in any order, and they stay until they are accepted.
        if self.responding.is_none() && rng.gen_bool(self.pace) {
            let ready: Vec<usize> = (0..64).filter(|&id| !self.slave_reads[id].is_empty()).collect();
            if !ready.is_empty() {
                self.responding = Some(ready[rng.gen_range(0..ready.len())]);
            }
        }
        uut.m_axi_rvalid.next = self.responding.is_some();
        if let Some(id) = self.responding {
            let line = self.slave_reads[id][0];
            uut.m_axi_rid.next = bits(id as u64);
            uut.m_axi_rdata.next = line_to_bits(&self.memory.read(line));
            uut.m_axi_rresp.next = bits(if fails(line) { 2 } else { 0 });
            uut.m_axi_rlast.next = true;
        }
        if self.completing.is_none() && rng.gen_bool(self.pace) {
            let ready: Vec<usize> = (0..64).filter(|&id| !self.slave_done[id].is_empty()).collect();
            if !ready.is_empty() {
                self.completing = Some(ready[rng.gen_range(0..ready.len())]);
            }
        }
        uut.m_axi_bvalid.next = self.completing.is_some();
        if let Some(id) = self.completing {
            uut.m_axi_bid.next = bits(id as u64);
            uut.m_axi_bresp.next = bits(if fails(self.slave_done[id][0]) { 3 } else { 0 });
        }
        uut.m_axi_arready.next = rng.gen_bool(self.pace);
        uut.m_axi_awready.next = rng.gen_bool(self.pace);
        uut.m_axi_wready.next = rng.gen_bool(self.pace);
        settle(uut);

        self.errors += uut.bus_errors.val().to_u64();
        self.check_address_channels();
        self.check_responses();
        self.accept_requests();
        tick!(self.uut);
    }

    /// AR, AW and W: stable until accepted, constant fields right; moves transfers into the slave's queues.
    fn check_address_channels(&mut self) {
        let uut = &self.uut;
        let ar =
            uut.m_axi_arvalid.val().then(|| (uut.m_axi_arid.val().to_u64(), uut.m_axi_araddr.val().to_u64()));
        let aw =
            uut.m_axi_awvalid.val().then(|| (uut.m_axi_awid.val().to_u64(), uut.m_axi_awaddr.val().to_u64()));
        let w = uut
            .m_axi_wvalid
            .val()
            .then(|| (bits_to_line(uut.m_axi_wdata.val()), strobe(uut.m_axi_wstrb.val())));
        assert!(self.last_ar.is_none() || self.last_ar == ar, "AR changed before ARREADY");
        assert!(self.last_aw.is_none() || self.last_aw == aw, "AW changed before AWREADY");
        assert!(self.last_w.is_none() || self.last_w == w, "W changed before WREADY");
        assert_eq!((uut.m_axi_arlen.val().to_u32(), uut.m_axi_awlen.val().to_u32()), (0, 0));
        assert_eq!((uut.m_axi_arsize.val().to_u32(), uut.m_axi_awsize.val().to_u32()), (6, 6));
        assert_eq!((uut.m_axi_arburst.val().to_u32(), uut.m_axi_awburst.val().to_u32()), (1, 1));
        assert!(uut.m_axi_wlast.val() && uut.m_axi_bready.val());
        self.last_ar = ar.filter(|_| !uut.m_axi_arready.val());
        self.last_aw = aw.filter(|_| !uut.m_axi_awready.val());
        self.last_w = w.filter(|_| !uut.m_axi_wready.val());
        if let Some((id, address)) = ar.filter(|_| uut.m_axi_arready.val()) {
            assert_eq!(address % 64, 0);
            assert_eq!(uut.m_axi_arprot.val().to_u32(), if id >= 32 { 4 } else { 0 });
            self.slave_reads[id as usize].push_back((address >> 6) as u32);
            self.transfers[0] += 1;
            self.per_core[id as usize % 32] += 1;
        }
        if let Some((id, address)) = aw.filter(|_| uut.m_axi_awready.val()) {
            assert_eq!(address % 64, 0);
            self.slave_addresses.push_back((id as usize, (address >> 6) as u32));
            self.transfers[1] += 1;
        }
        if let Some(data) = w.filter(|_| uut.m_axi_wready.val()) {
            self.slave_data.push_back(data);
            self.transfers[2] += 1;
        }
    }

    /// Responses reach the core they are for, with its oldest line, and nobody else.
    fn check_responses(&mut self) {
        let uut = &self.uut;
        for (i, core) in self.cores.iter_mut().enumerate() {
            let valid = (uut.read_response_valid[i].val(), uut.fetch_response_valid[i].val());
            assert_eq!(valid, (self.responding == Some(i), self.responding == Some(i + 32)), "core {i}");
            assert_eq!(uut.write_done[i].val(), self.completing == Some(i), "core {i}");
            if valid.0 || valid.1 {
                let queue = if valid.0 { &mut core.reads } else { &mut core.fetches };
                let line = queue[0];
                assert_eq!(bits_to_line(uut.response_data.val()), self.memory.read(line));
                assert_eq!(uut.response_error.val(), fails(line));
                let accepted = valid.1 || uut.read_response_ready[i].val();
                assert_eq!(uut.m_axi_rready.val(), accepted);
                if accepted {
                    queue.pop_front();
                    self.expected_errors += u64::from(fails(line));
                }
            }
            if uut.write_done[i].val() {
                core.writes -= 1;
            }
        }
        if let Some(id) = self.responding.filter(|_| uut.m_axi_rready.val()) {
            self.slave_reads[id].pop_front();
            self.responding = None;
        }
        if let Some(id) = self.completing.take() {
            let line = self.slave_done[id].pop_front().unwrap();
            self.expected_errors += u64::from(fails(line));
        }
        while !self.slave_addresses.is_empty() && !self.slave_data.is_empty() {
            let (id, line) = self.slave_addresses.pop_front().unwrap();
            let (data, strobes) = self.slave_data.pop_front().unwrap();
            self.memory.write(line, &data, strobes);
            self.slave_done[id].push_back(line);
        }
    }

    fn accept_requests(&mut self) {
        let uut = &self.uut;
        let (mut reads, mut writes) = (0, 0);
        for (i, core) in self.cores.iter_mut().enumerate() {
            if uut.read_valid[i].val() && uut.read_ready[i].val() {
                core.reads.push_back(core.read.take().unwrap());
                reads += 1;
            }
            if uut.fetch_valid[i].val() && uut.fetch_ready[i].val() {
                core.fetches.push_back(core.fetch.take().unwrap());
                reads += 1;
            }
            if uut.write_valid[i].val() && uut.write_ready[i].val() {
                let (line, data, strobes) = core.write.take().unwrap();
                self.golden.write(line, &data, strobes);
                core.writes += 1;
                writes += 1;
            }
        }
        assert!(reads <= 1 && writes <= 1);
    }

    fn finish(&mut self) {
        self.traffic = 0.0;
        let cores = self.cores.len();
        for _ in 0..200 + 3000 * cores {
            let idle = self.cores.iter().all(|c| {
                c.read.is_none()
                    && c.fetch.is_none()
                    && c.write.is_none()
                    && c.writes == 0
                    && c.reads.is_empty()
                    && c.fetches.is_empty()
            });
            if idle {
                self.cycle();
                for core in 0..cores as u32 {
                    for line in (0..16).map(|n| 0x3ff_0000 + core * 16 + n) {
                        assert_eq!(self.memory.read(line), self.golden.read(line), "line {line:#x}");
                    }
                }
                assert_eq!(self.errors, self.expected_errors);
                assert!(self.errors > 0);
                return;
            }
            self.cycle();
        }
        panic!("requests are left");
    }
}

#[test]
fn random_traffic() {
    for (cores, traffic, pace) in
        [(1, 0.9, 0.9), (2, 0.5, 0.5), (5, 0.2, 0.7), (8, 0.8, 0.3), (32, 0.05, 0.8)]
    {
        let mut bench = Bench::new(cores, traffic, pace);
        for _ in 0..if cores == 32 { 400 } else { 1500 } {
            bench.cycle();
        }
        bench.finish();
    }
}

#[test]
fn one_read_and_one_write_a_cycle_shared_evenly() {
    let mut bench = Bench::new(4, 1.0, 1.0);
    for _ in 0..400 {
        bench.cycle();
    }
    assert!(bench.transfers.iter().all(|&n| n >= 398), "{:?}", bench.transfers);
    assert!(bench.per_core.iter().all(|&n| (99..=101).contains(&n)), "{:?}", bench.per_core);
}

#[test]
#[should_panic(expected = "expected 1 to 32")]
fn the_number_of_cores_is_checked() {
    MemoryMaster::new(33);
}
