//! One AXI4 slave of the memory.

use std::collections::VecDeque;
use std::ops::Range;

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;
use verilator_sys::Model;

use super::super::ports::Axi4Ports;
use super::disturbance::{Disturbance, Path, Pauses};
use super::dram::{Direction, Dram};
use super::responder::{Order, Responder};
use super::rules::{Address, Beat, Outstanding, Rules};
use super::statistics::MOST_ERROR_RESPONSES;
use super::{ChannelStatistics, ErrorResponse, Latency, MemoryOptions, DECERR, OKAY, SLVERR};
use crate::iss::{MemoryImage, LINE};

/// What the channels have in common.
pub(super) struct Shared {
    pub(super) options: MemoryOptions,
    pub(super) disturbance: Disturbance,
    pub(super) random: ChaCha8Rng,
    pub(super) outstanding: Outstanding,
    /// Addresses of the packet ring.
    pub(super) ring: Range<u32>,
}

struct WriteBurst {
    address: Address,
    beats: Vec<Beat>,
}

struct ReadBurst {
    address: Address,
    done: u32,
}

impl ReadBurst {
    /// Address of the line that was given last.
    fn last_line(&self) -> u32 {
        self.address.address.wrapping_add(self.done.wrapping_sub(1).wrapping_mul(LINE as u32))
    }
}

/// Signals of a request channel: AR or AW.
#[derive(Clone, Copy)]
struct RequestPorts {
    id: verilator_sys::Output,
    address: verilator_sys::Output,
    length: verilator_sys::Output,
    size: verilator_sys::Output,
    burst: verilator_sys::Output,
    attributes: [verilator_sys::Output; 4],
}

pub(super) struct Channel {
    number: usize,
    ports: Axi4Ports,
    rules: Rules,
    dram: Option<Dram>,
    pauses: Pauses,
    reads: Responder<Address>,
    reading: Option<ReadBurst>,
    write_addresses: VecDeque<Address>,
    write_data: VecDeque<Beat>,
    writes: Responder<WriteBurst>,
    /// The write whose response is offered.
    written: Option<Address>,
    outstanding: u64,
    // What is driven now.
    arready: bool,
    awready: bool,
    wready: bool,
    rvalid: bool,
    statistics: ChannelStatistics,
    /// The first answers other than OKAY.
    error_responses: Vec<ErrorResponse>,
}

impl Channel {
    /// Channel `number` of `channels`.
    pub(super) fn new(ports: Axi4Ports, number: usize, channels: usize, latency: Latency) -> Self {
        let (order, dram) = match latency {
            Latency::Fixed(_) => (Order::Requests, None),
            Latency::Random(..) => (Order::Random, None),
            Latency::Dram(timing) => (Order::Due, Some(Dram::new(timing, channels as u32))),
        };
        Self {
            number,
            ports,
            rules: Rules::default(),
            dram,
            pauses: Pauses::default(),
            reads: Responder::new(order),
            reading: None,
            write_addresses: VecDeque::new(),
            write_data: VecDeque::new(),
            writes: Responder::new(order),
            written: None,
            outstanding: 0,
            arready: false,
            awready: false,
            wready: false,
            rvalid: false,
            statistics: ChannelStatistics::default(),
            error_responses: Vec::new(),
        }
    }

    pub(super) fn ports(&self) -> Axi4Ports {
        self.ports
    }

    /// Drives the inputs of the design as in a reset.
    pub(super) fn reset(&self, model: &mut Model) {
        let p = &self.ports;
        for input in [p.arready, p.awready, p.wready, p.rvalid, p.bvalid] {
            model.set_u64(input, 0);
        }
    }

    pub(super) fn statistics(&self) -> ChannelStatistics {
        let counts = self.dram.as_ref().map(Dram::counts).unwrap_or_default();
        ChannelStatistics {
            row_hits: counts.row_hits,
            row_misses: counts.row_misses,
            refreshes: counts.refreshes,
            bus_cycles: counts.bus_cycles,
            ..self.statistics
        }
    }

    pub(super) fn error_responses(&self) -> &[ErrorResponse] {
        &self.error_responses
    }

    /// Counts an answer other than OKAY.
    #[cold]
    fn count_error(&mut self, cycle: u64, write: bool, address: u32) {
        self.statistics.errors += 1;
        self.statistics.write_errors += u64::from(write);
        if self.error_responses.len() < MOST_ERROR_RESPONSES {
            self.error_responses.push(ErrorResponse { cycle, write, address });
        }
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    #[inline]
    pub(super) fn violation(&self) -> Option<&str> {
        self.rules.violation()
    }

    #[inline]
    pub(super) fn sample(&mut self, model: &Model, cycle: u64, shared: &mut Shared) {
        let p = self.ports;
        let mut moved = false;
        if self.rvalid && model.get_bool(p.rready) {
            moved = true;
            self.rvalid = false;
            self.statistics.lines_read += 1;
            let line = self.reading.as_ref().map(ReadBurst::last_line);
            self.statistics.ring_lines_read +=
                u64::from(line.is_some_and(|line| shared.ring.contains(&line)));
            if let Some(burst) = self.reading.take_if(|burst| burst.done == burst.address.lines()) {
                self.outstanding -= 1;
                shared.outstanding.answer(self.number, false, &burst.address);
            }
        }
        if self.written.is_some() && model.get_bool(p.bready) {
            if let Some(address) = self.written.take() {
                self.outstanding -= 1;
                shared.outstanding.answer(self.number, true, &address);
            }
        }
        if model.get_bool(p.arvalid) {
            self.sample_read(model, cycle, shared);
        } else {
            self.rules.read_address.idle("ARVALID");
        }
        if model.get_bool(p.awvalid) {
            self.sample_write_address(model, shared);
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
            self.join_write(cycle, shared);
        }
        self.statistics.transfer_cycles += u64::from(moved);
    }

    fn sample_read(&mut self, model: &Model, cycle: u64, shared: &mut Shared) {
        let p = &self.ports;
        let signals = RequestPorts {
            id: p.arid,
            address: p.araddr,
            length: p.arlen,
            size: p.arsize,
            burst: p.arburst,
            attributes: [p.arlock, p.arcache, p.arprot, p.arqos],
        };
        let address = signals.sample(model);
        self.rules.read_address.valid("AR", &address, self.arready);
        if !self.arready {
            self.statistics.stalled_cycles += 1;
            return;
        }
        self.rules.address("AR", &address);
        shared.outstanding.take(self.number, false, &address);
        self.count_outstanding();
        let due = due(cycle, shared);
        let (id, first, lines) = (address.id, address.address, address.lines());
        let token = self.reads.push(due, id, address);
        if let Some(dram) = &mut self.dram {
            dram.push(cycle, Direction::Read, token, id, first, lines);
        }
    }

    fn sample_write_address(&mut self, model: &Model, shared: &mut Shared) {
        let p = &self.ports;
        let signals = RequestPorts {
            id: p.awid,
            address: p.awaddr,
            length: p.awlen,
            size: p.awsize,
            burst: p.awburst,
            attributes: [p.awlock, p.awcache, p.awprot, p.awqos],
        };
        let address = signals.sample(model);
        self.rules.write_address.valid("AW", &address, self.awready);
        if !self.awready {
            self.statistics.stalled_cycles += 1;
            return;
        }
        self.rules.address("AW", &address);
        shared.outstanding.take(self.number, true, &address);
        self.count_outstanding();
        self.write_addresses.push_back(address);
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
    fn join_write(&mut self, cycle: u64, shared: &mut Shared) {
        let Some(address) = self.write_addresses.front() else { return };
        let beats = address.lines() as usize;
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
            let (id, first, lines) = (address.id, address.address, address.lines());
            let token = self.writes.push(due(cycle, shared), id, WriteBurst { address, beats });
            if let Some(dram) = &mut self.dram {
                dram.push(cycle, Direction::Write, token, id, first, lines);
            }
        }
    }

    fn count_outstanding(&mut self) {
        self.outstanding += 1;
        self.statistics.most_outstanding = self.statistics.most_outstanding.max(self.outstanding);
    }

    #[inline]
    pub(super) fn drive(
        &mut self,
        model: &mut Model,
        image: &mut MemoryImage,
        cycle: u64,
        shared: &mut Shared,
    ) {
        if let Some(dram) = &mut self.dram {
            match dram.cycle(cycle) {
                Some((Direction::Read, token, due)) => self.reads.set_due(token, due),
                Some((Direction::Write, token, due)) => self.writes.set_due(token, due),
                None => {}
            }
        }
        self.pauses.cycle(cycle, &shared.disturbance, &mut shared.random);
        if self.outstanding > 0 {
            self.drive_answers(model, image, cycle, shared);
        } else {
            // The last answers were taken at the edge just passed, if any.
            model.set_u64(self.ports.rvalid, 0);
            model.set_u64(self.ports.bvalid, 0);
        }
        let always = shared.options.stall_percent > 0 || self.dram.is_some();
        let disturbed = shared.disturbance.longest_pause > 0;
        if always || disturbed || !(self.arready && self.awready && self.wready) {
            self.drive_ready(model, shared);
        }
    }

    fn drive_ready(&mut self, model: &mut Model, shared: &mut Shared) {
        let stall = u32::from(shared.options.stall_percent.min(90));
        let mut ready = || stall == 0 || shared.random.gen_range(0..100) >= stall;
        let room = |direction| self.dram.as_ref().is_none_or(|dram| dram.has_room(direction));
        // Writes on their way to the controller count as if they were in it.
        let write_room = room(Direction::Write) && (self.dram.is_none() || self.write_addresses.is_empty());
        (self.arready, self.awready, self.wready) =
            (ready() && room(Direction::Read), ready() && write_room, ready());
        self.arready &= !self.pauses.on(Path::ReadAddress);
        self.awready &= !self.pauses.on(Path::WriteAddress);
        self.wready &= !self.pauses.on(Path::WriteData);
        model.set_u64(self.ports.arready, u64::from(self.arready));
        model.set_u64(self.ports.awready, u64::from(self.awready));
        model.set_u64(self.ports.wready, u64::from(self.wready));
    }

    fn drive_answers(&mut self, model: &mut Model, image: &mut MemoryImage, cycle: u64, shared: &mut Shared) {
        let p = self.ports;
        if !self.rvalid && !self.pauses.on(Path::ReadData) {
            if self.reading.is_none() {
                let next = self.reads.pop(cycle, &mut shared.random);
                self.reading = next.map(|(_, address)| ReadBurst { address, done: 0 });
            }
            if let Some(burst) = &mut self.reading {
                let address = burst.address.address.wrapping_add(burst.done * LINE as u32);
                let line = image.read_line(address);
                let mut response = response(&shared.options, address, line.is_some());
                let Shared { disturbance, random, .. } = shared;
                if response == OKAY && disturbance.fails(disturbance.read_errors, address, random) {
                    response = SLVERR;
                }
                burst.done += 1;
                model.set_u64(p.rid, u64::from(burst.address.id));
                model.set_words(p.rdata, &line.filter(|_| response == OKAY).unwrap_or_default());
                model.set_u64(p.rresp, u64::from(response));
                model.set_u64(p.rlast, u64::from(burst.done == burst.address.lines()));
                self.rvalid = true;
                if response != OKAY {
                    self.count_error(cycle, false, address);
                }
            }
        }
        if self.written.is_none() && !self.pauses.on(Path::WriteResponse) {
            if let Some((id, write)) = self.writes.pop(cycle, &mut shared.random) {
                let Shared { options, disturbance, random, .. } = shared;
                let mut worst = OKAY;
                let failed = disturbance.fails(disturbance.write_errors, write.address.address, random);
                for (index, beat) in write.beats.iter().enumerate() {
                    let address = write.address.address.wrapping_add((index * LINE) as u32);
                    let answer = match response(options, address, image.contains(address, LINE)) {
                        OKAY if failed => SLVERR,
                        other => other,
                    };
                    if answer == OKAY {
                        image.write_line(address, &beat.data, beat.strobe);
                        self.statistics.lines_written += 1;
                    }
                    worst = worst.max(answer);
                }
                if worst != OKAY {
                    self.count_error(cycle, true, write.address.address);
                }
                model.set_u64(p.bid, u64::from(id));
                model.set_u64(p.bresp, u64::from(worst));
                self.written = Some(write.address);
            }
        }
        model.set_u64(p.rvalid, u64::from(self.rvalid));
        model.set_u64(p.bvalid, u64::from(self.written.is_some()));
    }
}

impl RequestPorts {
    fn sample(&self, model: &Model) -> Address {
        Address {
            id: model.get_u64(self.id) as u8,
            address: model.get_u64(self.address) as u32,
            length: model.get_u64(self.length) as u8,
            size: model.get_u64(self.size) as u8,
            burst: model.get_u64(self.burst) as u8,
            attributes: self.attributes.map(|a| model.get_u64(a) as u8),
        }
    }
}

/// When a request that is taken in cycle `now` can be answered, if that is known by now.
fn due(now: u64, shared: &mut Shared) -> Option<u64> {
    let cycles = match shared.options.latency {
        Latency::Fixed(cycles) => cycles.max(1),
        Latency::Random(low, high) => shared.random.gen_range(low.max(1)..=high.max(low).max(1)),
        Latency::Dram(_) => return None,
    };
    Some(now + u64::from(cycles))
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
