//! The shared memory behind the AXI4 master of the array.
//!
//! Timing: `sample` sees the outputs of the design just before a rising edge, `drive` sets its inputs just after
//! it, so that every answer is registered and no `valid` depends on a `ready` of the same cycle. Reads and writes are
//! independent of each other. A write changes the memory when its answer is given and a read looks then, the latest
//! that AXI4 allows, so that a design that does not wait for its answers is found out.

use std::collections::VecDeque;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::Model;

use super::image::{MemoryImage, LINE};
use super::ports::Axi4Ports;
use super::responder::{Latency, Responder};
use super::rules::{Address, Beat, Rules};

/// AXI response: transfer done.
pub const OKAY: u8 = 0;
/// AXI response: the memory could not do it.
pub const SLVERR: u8 = 2;
/// AXI response: nothing at this address.
pub const DECERR: u8 = 3;

/// How the memory behaves.
#[derive(Clone, Debug)]
pub struct MemoryOptions {
    /// Latency of reads and writes.
    pub latency: Latency,
    /// Chance in percent that a `ready` is low in a cycle; 0 to 90.
    pub stall_percent: u8,
    /// Seed of the random latencies and stalls.
    pub seed: u64,
    /// Addresses (first, last) that answer SLVERR, to try out how errors are handled.
    pub failing: Vec<(u32, u32)>,
}

impl Default for MemoryOptions {
    /// 100 cycles, no stalls, no failing addresses.
    fn default() -> Self {
        Self { latency: Latency::Fixed(100), stall_percent: 0, seed: 0, failing: Vec::new() }
    }
}

/// What the memory did since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MemoryStatistics {
    /// Lines read.
    pub lines_read: u64,
    /// Lines written, wholly or in part.
    pub lines_written: u64,
    /// Cycles in which a line moved over the bus, either way.
    pub transfer_cycles: u64,
    /// Cycles in which the design waited for a `ready` of the memory.
    pub stalled_cycles: u64,
    /// Most requests that were taken and not answered at a time.
    pub most_outstanding: u64,
    /// Answers other than OKAY.
    pub errors: u64,
}

struct WriteBurst {
    address: Address,
    beats: Vec<Beat>,
}

struct ReadBurst {
    id: u8,
    address: Address,
    done: u32,
}

/// An AXI4 slave with a [`MemoryImage`].
///
/// Takes INCR bursts of whole lines, any number outstanding, write data before or after its address. Exclusive
/// accesses are answered OKAY, that is, not as exclusive.
pub struct Axi4Memory {
    ports: Axi4Ports,
    options: MemoryOptions,
    random: ChaCha8Rng,
    rules: Rules,
    reads: Responder<Address>,
    reading: Option<ReadBurst>,
    write_addresses: VecDeque<Address>,
    write_data: VecDeque<Beat>,
    writes: Responder<WriteBurst>,
    outstanding: u64,
    // What is driven now.
    arready: bool,
    awready: bool,
    wready: bool,
    rvalid: bool,
    bvalid: bool,
    statistics: MemoryStatistics,
}

impl Axi4Memory {
    /// A memory at these ports.
    #[must_use]
    pub fn new(ports: Axi4Ports, options: MemoryOptions) -> Self {
        Self {
            ports,
            random: ChaCha8Rng::seed_from_u64(options.seed),
            rules: Rules::default(),
            reads: Responder::new(options.latency),
            reading: None,
            write_addresses: VecDeque::new(),
            write_data: VecDeque::new(),
            writes: Responder::new(options.latency),
            outstanding: 0,
            arready: false,
            awready: false,
            wready: false,
            rvalid: false,
            bvalid: false,
            statistics: MemoryStatistics::default(),
            options,
        }
    }

    /// Forgets all requests and the statistics, as at a reset of the bus.
    pub fn reset(&mut self, model: &mut Model) {
        self.rules = Rules::default();
        self.reads.clear();
        self.reading = None;
        self.write_addresses.clear();
        self.write_data.clear();
        self.writes.clear();
        self.outstanding = 0;
        self.statistics = MemoryStatistics::default();
        (self.arready, self.awready, self.wready, self.rvalid, self.bvalid) =
            (false, false, false, false, false);
        let p = &self.ports;
        for input in [p.arready, p.awready, p.wready, p.rvalid, p.bvalid] {
            model.set_u64(input, 0);
        }
    }

    /// What the memory did since the last reset.
    #[must_use]
    pub fn statistics(&self) -> MemoryStatistics {
        self.statistics
    }

    /// Requests taken and not answered.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// The first rule of AXI4 that the design broke, as a sentence.
    #[must_use]
    #[inline]
    pub fn violation(&self) -> Option<&str> {
        self.rules.violation()
    }

    /// Sees the outputs of the design before the rising edge that ends `cycle`.
    #[inline]
    pub fn sample(&mut self, model: &Model, cycle: u64) {
        let p = self.ports;
        let mut moved = false;
        if self.rvalid && model.get_bool(p.rready) {
            moved = true;
            self.rvalid = false;
            self.statistics.lines_read += 1;
            if self.reading.as_ref().is_some_and(|burst| burst.done > u32::from(burst.address.length)) {
                self.reading = None;
                self.outstanding -= 1;
            }
        }
        if self.bvalid && model.get_bool(p.bready) {
            self.bvalid = false;
            self.outstanding -= 1;
        }
        if model.get_bool(p.arvalid) {
            self.sample_read(model, cycle);
        } else {
            self.rules.read_address.idle("ARVALID");
        }
        if model.get_bool(p.awvalid) {
            self.sample_write_address(model);
        } else {
            self.rules.write_address.idle("AWVALID");
        }
        if model.get_bool(p.wvalid) {
            moved |= self.wready;
            self.sample_write_data(model);
        } else {
            self.rules.write_data.idle("WVALID");
        }
        if !self.write_addresses.is_empty() && !self.write_data.is_empty() {
            self.join_write(cycle);
        }
        self.statistics.transfer_cycles += u64::from(moved);
    }

    fn sample_read(&mut self, model: &Model, cycle: u64) {
        let p = &self.ports;
        let address = Address {
            id: model.get_u64(p.arid) as u8,
            address: model.get_u64(p.araddr) as u32,
            length: model.get_u64(p.arlen) as u8,
            size: model.get_u64(p.arsize) as u8,
            burst: model.get_u64(p.arburst) as u8,
            attributes: [p.arlock, p.arcache, p.arprot, p.arqos].map(|a| model.get_u64(a) as u8),
        };
        self.rules.read_address.valid("AR", &address, self.arready);
        if !self.arready {
            self.statistics.stalled_cycles += 1;
            return;
        }
        self.rules.address("AR", &address);
        self.reads.push(cycle, address.id, address, &mut self.random);
        self.count_outstanding();
    }

    fn sample_write_address(&mut self, model: &Model) {
        let p = &self.ports;
        let address = Address {
            id: model.get_u64(p.awid) as u8,
            address: model.get_u64(p.awaddr) as u32,
            length: model.get_u64(p.awlen) as u8,
            size: model.get_u64(p.awsize) as u8,
            burst: model.get_u64(p.awburst) as u8,
            attributes: [p.awlock, p.awcache, p.awprot, p.awqos].map(|a| model.get_u64(a) as u8),
        };
        self.rules.write_address.valid("AW", &address, self.awready);
        if !self.awready {
            self.statistics.stalled_cycles += 1;
            return;
        }
        self.rules.address("AW", &address);
        self.write_addresses.push_back(address);
        self.count_outstanding();
    }

    fn sample_write_data(&mut self, model: &Model) {
        let p = &self.ports;
        let words = model.get_words(p.wdata);
        let beat = Beat {
            data: std::array::from_fn(|i| words[i]),
            strobe: model.get_u64(p.wstrb),
            last: model.get_bool(p.wlast),
        };
        self.rules.write_data.valid("W", &beat, self.wready);
        if self.wready {
            self.write_data.push_back(beat);
        } else {
            self.statistics.stalled_cycles += 1;
        }
    }

    /// Joins the oldest write address with its data, once that is there.
    fn join_write(&mut self, cycle: u64) {
        let Some(address) = self.write_addresses.front() else { return };
        let beats = usize::from(address.length) + 1;
        let last = self.write_data.iter().take(beats).position(|beat| beat.last);
        let end = match last {
            Some(index) => index + 1,
            None if self.write_data.len() >= beats => beats,
            None => return,
        };
        if last != Some(beats - 1) {
            let place =
                last.map_or_else(|| "is missing".to_string(), |i| format!("came with beat {}", i + 1));
            self.rules
                .broken(format!("WLAST {place} in a write of {beats} beats to {:#010x}", address.address));
        }
        if let Some(address) = self.write_addresses.pop_front() {
            let beats: Vec<Beat> = self.write_data.drain(..end).collect();
            self.writes.push(cycle, address.id, WriteBurst { address, beats }, &mut self.random);
        }
    }

    fn count_outstanding(&mut self) {
        self.outstanding += 1;
        self.statistics.most_outstanding = self.statistics.most_outstanding.max(self.outstanding);
    }

    /// Sets the inputs of the design for `cycle`, which has just begun.
    #[inline]
    pub fn drive(&mut self, model: &mut Model, image: &mut MemoryImage, cycle: u64) {
        if self.outstanding > 0 {
            self.drive_answers(model, image, cycle);
        } else {
            // The last answers were taken at the edge just passed, if any.
            model.set_u64(self.ports.rvalid, 0);
            model.set_u64(self.ports.bvalid, 0);
        }
        if self.options.stall_percent > 0 || !self.arready {
            let stall = u32::from(self.options.stall_percent.min(90));
            let mut ready = || self.random.gen_range(0..100) >= stall;
            (self.arready, self.awready, self.wready) = (ready(), ready(), ready());
            model.set_u64(self.ports.arready, u64::from(self.arready));
            model.set_u64(self.ports.awready, u64::from(self.awready));
            model.set_u64(self.ports.wready, u64::from(self.wready));
        }
    }

    fn drive_answers(&mut self, model: &mut Model, image: &mut MemoryImage, cycle: u64) {
        let p = self.ports;
        if !self.rvalid {
            if self.reading.is_none() {
                let next = self.reads.pop(cycle, &mut self.random);
                self.reading = next.map(|(id, address)| ReadBurst { id, address, done: 0 });
            }
            if let Some(burst) = &mut self.reading {
                let address = burst.address.address.wrapping_add(burst.done * LINE as u32);
                let line = image.read_line(address);
                let response = response(&self.options, address, line.is_some());
                self.statistics.errors += u64::from(response != OKAY);
                model.set_u64(p.rid, u64::from(burst.id));
                model.set_words(p.rdata, &line.filter(|_| response == OKAY).unwrap_or_default());
                model.set_u64(p.rresp, u64::from(response));
                model.set_u64(p.rlast, u64::from(burst.done == u32::from(burst.address.length)));
                burst.done += 1;
                self.rvalid = true;
            }
        }
        if !self.bvalid {
            if let Some((id, write)) = self.writes.pop(cycle, &mut self.random) {
                let mut worst = OKAY;
                for (index, beat) in write.beats.iter().enumerate() {
                    let address = write.address.address.wrapping_add((index * LINE) as u32);
                    let answer = response(&self.options, address, image.contains(address, LINE));
                    if answer == OKAY {
                        image.write_line(address, &beat.data, beat.strobe);
                        self.statistics.lines_written += 1;
                    }
                    worst = worst.max(answer);
                }
                self.statistics.errors += u64::from(worst != OKAY);
                model.set_u64(p.bid, u64::from(id));
                model.set_u64(p.bresp, u64::from(worst));
                self.bvalid = true;
            }
        }
        model.set_u64(p.rvalid, u64::from(self.rvalid));
        model.set_u64(p.bvalid, u64::from(self.bvalid));
    }
}

fn response(options: &MemoryOptions, address: u32, inside: bool) -> u8 {
    if !inside {
        DECERR
    } else if options.failing.iter().any(|&(first, last)| (first..=last).contains(&address)) {
        SLVERR
    } else {
        OKAY
    }
}
