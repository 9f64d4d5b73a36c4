//! Random lines and bytes at the packet memory of a board, wherever it is, and a model of what it
//! answers.

use crate::memory::testing::{bits_to_line, line_to_bits, Line};
use crate::ports::{MemoryAxi, MemoryByte};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, VecDeque};

/// What is played: how often each is offered, one in so many cycles; how often an answer is taken.
pub struct Load {
    pub reads: u32,
    pub writes: u32,
    pub bytes: u32,
    pub taken: f64,
}

/// What was taken so far, and the longest wait in cycles: from the offer of a line to its answer.
#[derive(Default)]
pub struct Played {
    pub reads: u64,
    pub writes: u64,
    pub bytes: u64,
    /// Reads and writes of `reads` and `writes` that are beyond the memory.
    pub errors: [u64; 2],
    pub longest: u64,
}

/// Lines by their addresses, and what a line holds before it is written.
struct Model {
    lines: HashMap<u32, Line>,
    first: fn(u32) -> Line,
}

impl Model {
    fn line(&mut self, address: u32) -> &mut Line {
        self.lines.entry(address).or_insert_with(|| (self.first)(address))
    }
}

/// Plays at the ports of a memory: in each cycle [`offer`](Self::offer), then, when the unit has
/// settled, [`check`](Self::check).
pub struct Player {
    rng: ChaCha8Rng,
    load: Load,
    /// Bytes of the memory.
    size: u32,
    /// The address of a line, some of them beyond the memory.
    address: fn(&mut ChaCha8Rng, u32) -> u32,
    model: Model,
    cycle: u64,
    // What is offered stays until it is taken: ID and address with the cycle of the offer, line and
    // strobes with it; whether a byte is written, its address and value.
    ar: Option<(u64, u32, u64)>,
    aw: Option<(u64, u32, u64)>,
    w: Option<(Line, u64, u64)>,
    host: Option<(bool, u32, u8)>,
    // What is to be answered: ID, the line that is read or whether the write is inside, and the
    // cycle of the offer; the byte.
    reads: VecDeque<(u64, Option<Line>, u64)>,
    writes: VecDeque<(u64, bool, u64)>,
    byte: Option<u8>,
    pub played: Played,
}

impl Player {
    /// A player for a memory of `size` bytes.
    pub fn new(
        rng: ChaCha8Rng,
        load: Load,
        size: u32,
        address: fn(&mut ChaCha8Rng, u32) -> u32,
        first: fn(u32) -> Line,
    ) -> Self {
        let (model, cycle, played) = (Model { lines: HashMap::new(), first }, 0, Played::default());
        let (ar, aw, w, host, byte) = (None, None, None, None, None);
        let (reads, writes) = (VecDeque::new(), VecDeque::new());
        Self { rng, load, size, address, model, cycle, ar, aw, w, host, reads, writes, byte, played }
    }

    /// Sets the inputs of a cycle.
    pub fn offer(&mut self, axi: &mut MemoryAxi, port: &mut MemoryByte) {
        let Self { rng, load, cycle, .. } = self;
        if self.ar.is_none() && rng.gen_ratio(1, load.reads) {
            self.ar = Some((rng.gen_range(0..256), (self.address)(rng, self.size), *cycle));
        }
        if self.aw.is_none() && rng.gen_ratio(1, load.writes) {
            self.aw = Some((rng.gen_range(0..256), (self.address)(rng, self.size), *cycle));
        }
        if self.w.is_none() && rng.gen_ratio(1, load.writes) {
            let line = std::array::from_fn(|_| rng.gen());
            self.w = Some((line, rng.gen::<u64>() | rng.gen::<u64>(), *cycle));
        }
        if self.host.is_none() && rng.gen_ratio(1, load.bytes) {
            let at = (self.address)(rng, self.size) % self.size + rng.gen_range(0..64);
            self.host = Some((rng.gen(), at, rng.gen()));
        }
        axi.arvalid.next = self.ar.is_some();
        axi.arid.next = self.ar.map_or(0, |(id, ..)| id).into();
        axi.araddr.next = self.ar.map_or(0, |(_, address, _)| u64::from(address)).into();
        axi.awvalid.next = self.aw.is_some();
        axi.awid.next = self.aw.map_or(0, |(id, ..)| id).into();
        axi.awaddr.next = self.aw.map_or(0, |(_, address, _)| u64::from(address)).into();
        axi.wvalid.next = self.w.is_some();
        axi.wdata.next = line_to_bits(&self.w.map_or([0x55; 64], |(line, ..)| line));
        axi.wstrb.next = self.w.map_or(0, |(_, strobe, _)| strobe).into();
        port.valid.next = self.host.is_some();
        port.write.next = self.host.is_some_and(|(write, ..)| write);
        port.address.next = self.host.map_or(0, |(_, address, _)| u64::from(address)).into();
        port.data.next = self.host.map_or(0, |(.., data)| u64::from(data)).into();
        axi.rready.next = rng.gen_bool(load.taken);
        axi.bready.next = rng.gen_bool(load.taken);
    }

    /// Compares the outputs of the cycle with the model, which then takes what the memory takes.
    pub fn check(&mut self, axi: &MemoryAxi, port: &MemoryByte) {
        let cycle = self.cycle;
        assert_eq!(port.answer.val(), self.byte.is_some(), "cycle {cycle}");
        if let Some(expected) = self.byte.take() {
            assert_eq!(port.read.val().to_u64() as u8, expected, "cycle {cycle}");
        }
        let response = |inside: bool| if inside { 0 } else { 3 };
        if axi.rvalid.val() {
            let (id, line, since) = self.reads[0];
            let answer = (axi.rid.val().to_u64(), axi.rresp.val().to_u64());
            assert_eq!(answer, (id, response(line.is_some())), "cycle {cycle}");
            if let Some(line) = line {
                assert!(bits_to_line(axi.rdata.val()) == line, "cycle {cycle}");
            }
            if axi.rready.val() {
                self.reads.pop_front();
                self.played.longest = self.played.longest.max(cycle - since);
            }
        }
        if axi.bvalid.val() {
            let (id, inside, since) = self.writes[0];
            let answer = (axi.bid.val().to_u64(), axi.bresp.val().to_u64());
            assert_eq!(answer, (id, response(inside)), "cycle {cycle}");
            if axi.bready.val() {
                self.writes.pop_front();
                self.played.longest = self.played.longest.max(cycle - since);
            }
        }
        if axi.arready.val() {
            let (id, address, since) = self.ar.take().unwrap();
            let line = (address < self.size).then(|| *self.model.line(address));
            self.played.reads += 1;
            self.played.errors[0] += u64::from(line.is_none());
            self.reads.push_back((id, line, since));
        }
        assert_eq!(axi.awready.val(), axi.wready.val(), "cycle {cycle}");
        if axi.awready.val() {
            let ((id, address, address_since), (line, strobe, line_since)) =
                (self.aw.take().unwrap(), self.w.take().unwrap());
            let inside = address < self.size;
            if inside {
                let model = self.model.line(address);
                (0..64).filter(|i| strobe >> i & 1 == 1).for_each(|i| model[i] = line[i]);
            }
            self.played.writes += 1;
            self.played.errors[1] += u64::from(!inside);
            self.writes.push_back((id, inside, address_since.max(line_since)));
        }
        if let (true, Some((write, address, data))) = (port.ready.val(), self.host) {
            let place = &mut self.model.line(address & !63)[address as usize & 63];
            if write {
                *place = data;
            } else {
                self.byte = Some(*place);
            }
            self.played.bytes += 1;
            self.host = None;
        }
        self.cycle += 1;
    }
}
