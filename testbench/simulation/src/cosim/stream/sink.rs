//! Frames out of an AXI4-Stream of the design.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::Model;

use crate::cosim::ports::StreamOutPorts;
use crate::iss::LINE;

/// A frame that left the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFrame {
    /// Output port: bits 30:0 of TUSER.
    pub port: u32,
    /// The array could not read all of it: bit 31 of TUSER in the last beat.
    pub damaged: bool,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Cycle since reset in which its first beat was taken.
    pub first_cycle: u64,
    /// Cycle since reset in which its last beat was taken.
    pub cycle: u64,
}

/// A beat as it stands on the ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Beat {
    words: [u32; LINE / 4],
    keep: u64,
    last: bool,
    user: u32,
}

/// Takes beats, at once or with random gaps, and checks that the design keeps to the protocol: a
/// beat stays until it is taken, TKEEP marks all bytes of a beat but the last, and the first ones
/// of that.
pub struct StreamSink {
    ports: StreamOutPorts,
    ready: bool,
    held: bool,
    stall_percent: u8,
    random: ChaCha8Rng,
    /// A beat that was offered and not taken.
    pending: Option<Beat>,
    open: Vec<u8>,
    /// Cycle of the first beat of the frame that is open.
    opened: u64,
    frames: Vec<SentFrame>,
    violation: Option<String>,
}

impl StreamSink {
    /// A sink that takes every beat at once.
    #[must_use]
    pub fn new(ports: StreamOutPorts) -> Self {
        Self {
            ports,
            ready: false,
            held: false,
            stall_percent: 0,
            random: ChaCha8Rng::seed_from_u64(0),
            pending: None,
            open: Vec::new(),
            opened: 0,
            frames: Vec::new(),
            violation: None,
        }
    }

    /// Sets the chance in percent that no beat is taken in a cycle, 0 to 90, and the seed of the
    /// gaps.
    pub fn set_stalls(&mut self, stall_percent: u8, seed: u64) {
        self.stall_percent = stall_percent;
        self.random = ChaCha8Rng::seed_from_u64(seed);
    }

    /// Takes no beat as long as `held`: what is behind it has no room.
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// The design has a frame of which beats are to be taken.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.pending.is_some() || !self.open.is_empty()
    }

    /// Moves the frames that left since the last call to `into`.
    pub fn take_frames(&mut self, into: &mut Vec<SentFrame>) {
        into.append(&mut self.frames);
    }

    /// The first rule that the design broke.
    #[must_use]
    pub fn violation(&self) -> Option<&str> {
        self.violation.as_deref()
    }

    /// Forgets what it has.
    pub fn reset(&mut self, model: &mut Model) {
        (self.pending, self.violation, self.ready, self.held) = (None, None, false, false);
        self.open.clear();
        self.frames.clear();
        model.set_u64(self.ports.tready, 0);
    }

    /// Takes the beat of `cycle`, if there is one.
    pub fn sample(&mut self, model: &Model, cycle: u64) {
        let p = &self.ports;
        let beat = model.get_bool(p.tvalid).then(|| {
            let mut words = [0; LINE / 4];
            model.read_words(p.tdata, &mut words);
            let (keep, last) = (model.get_u64(p.tkeep), model.get_bool(p.tlast));
            Beat { words, keep, last, user: model.get_u64(p.tuser) as u32 }
        });
        if self.pending.is_some() && self.pending != beat {
            self.violate("a beat that was not taken did not stay on m_axis_tx".to_string());
        }
        self.pending = beat.filter(|_| !self.ready);
        if let (Some(beat), true) = (beat, self.ready) {
            self.take(&beat, cycle);
        }
    }

    fn take(&mut self, beat: &Beat, cycle: u64) {
        let count = beat.keep.trailing_ones() as usize;
        let whole = count == LINE || (beat.last && count > 0 && beat.keep >> count == 0);
        if !whole {
            let place = if beat.last { "the last beat" } else { "a beat before the last" };
            self.violate(format!("TKEEP of {place} is {:#018x}", beat.keep));
        }
        let bytes: Vec<u8> = beat.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        if self.open.is_empty() {
            self.opened = cycle;
        }
        self.open.extend(&bytes[..count]);
        if beat.last {
            let (port, damaged) = (beat.user & 0x7fff_ffff, beat.user >> 31 == 1);
            let (bytes, first_cycle) = (std::mem::take(&mut self.open), self.opened);
            self.frames.push(SentFrame { port, damaged, bytes, first_cycle, cycle });
        }
    }

    fn violate(&mut self, message: String) {
        self.violation.get_or_insert(message);
    }

    /// Decides whether the beat of the next cycle is taken.
    pub fn drive(&mut self, model: &mut Model) {
        self.ready =
            !self.held && (self.stall_percent == 0 || self.random.gen_range(0..100) >= self.stall_percent);
        model.set_u64(self.ports.tready, u64::from(self.ready));
    }
}
