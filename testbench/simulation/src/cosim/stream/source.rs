//! Frames into an AXI4-Stream of the design.

use std::collections::VecDeque;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::Model;

use crate::cosim::ports::{DropTracePorts, StreamInPorts};
use crate::iss::LINE;

/// Bit of TUSER that says in the last beat that the frame is damaged.
const DAMAGED: u32 = 1 << 31;

/// The end of a frame at the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// Cycle in which the design took its last beat.
    pub cycle: u64,
    /// The design dropped it, since it found no slot.
    pub dropped: bool,
}

/// Offers frames beat by beat, as fast as the design takes them or with random gaps.
pub struct StreamSource {
    ports: StreamInPorts,
    /// What TUSER carries, and bytes.
    frames: VecDeque<(u32, Vec<u8>)>,
    /// Bytes of the first frame that the design has taken.
    taken: usize,
    offered: bool,
    stall_percent: u8,
    random: ChaCha8Rng,
    /// Tells one cycle later of a frame that was dropped: of a design that can drop frames.
    drops: Option<DropTracePorts>,
    /// Cycle in which the last beat of a frame was taken that this has not told of.
    ended: Option<u64>,
    entered: Vec<Entered>,
}

impl StreamSource {
    /// A source without frames. `drops` is the port that tells in the cycle after the end of a
    /// frame that it was dropped, if there is one.
    #[must_use]
    pub fn new(ports: StreamInPorts, drops: Option<DropTracePorts>) -> Self {
        Self {
            ports,
            frames: VecDeque::new(),
            taken: 0,
            offered: false,
            stall_percent: 0,
            random: ChaCha8Rng::seed_from_u64(0),
            drops,
            ended: None,
            entered: Vec::new(),
        }
    }

    /// Sets the chance in percent that no beat is offered in a cycle in which one could be, 0 to
    /// 90, and the seed of the gaps.
    pub fn set_stalls(&mut self, stall_percent: u8, seed: u64) {
        self.stall_percent = stall_percent;
        self.random = ChaCha8Rng::seed_from_u64(seed);
    }

    /// Queues a frame of at least one byte that comes from `port` (31 bits).
    pub fn submit(&mut self, port: u32, frame: Vec<u8>) {
        self.frames.push_back((port & !DAMAGED, frame));
    }

    /// As [`Self::submit`], but the last beat says that the frame is damaged.
    pub fn submit_damaged(&mut self, port: u32, frame: Vec<u8>) {
        self.frames.push_back((port | DAMAGED, frame));
    }

    /// Frames that the design has not taken whole.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.frames.len()
    }

    /// Whether the design can drop frames, and says so.
    #[must_use]
    pub fn sees_drops(&self) -> bool {
        self.drops.is_some()
    }

    /// Moves the ends of frames to `into`, in the order of the frames.
    pub fn take_entered(&mut self, into: &mut Vec<Entered>) {
        into.append(&mut self.entered);
    }

    /// Forgets all frames, as the design does when it is reset.
    pub fn reset(&mut self, model: &mut Model) {
        self.frames.clear();
        self.entered.clear();
        (self.taken, self.offered, self.ended) = (0, false, None);
        model.set_u64(self.ports.tvalid, 0);
    }

    /// Looks whether the design takes the beat in `cycle`.
    pub fn sample(&mut self, model: &Model, cycle: u64) {
        if let (Some(cycle), Some(drops)) = (self.ended.take(), self.drops) {
            self.entered.push(Entered { cycle, dropped: model.get_bool(drops.drop) });
        }
        if !self.offered || !model.get_bool(self.ports.tready) {
            return;
        }
        self.offered = false;
        self.taken += LINE;
        if self.frames.front().is_some_and(|(_, frame)| self.taken >= frame.len()) {
            self.frames.pop_front();
            self.taken = 0;
            match self.drops {
                Some(_) => self.ended = Some(cycle),
                None => self.entered.push(Entered { cycle, dropped: false }),
            }
        }
    }

    /// Offers the next beat, unless one is still offered.
    pub fn drive(&mut self, model: &mut Model) {
        if self.offered {
            return;
        }
        model.set_u64(self.ports.tvalid, 0);
        let Some((user, frame)) = self.frames.front() else { return };
        if self.stall_percent > 0 && self.random.gen_range(0..100) < self.stall_percent {
            return;
        }
        let rest = &frame[self.taken.min(frame.len())..];
        let count = rest.len().min(LINE);
        // What does not count is anything.
        let mut beat = [0xa5; LINE];
        beat[..count].copy_from_slice(&rest[..count]);
        let words: [u32; LINE / 4] = std::array::from_fn(|i| {
            u32::from_le_bytes([beat[4 * i], beat[4 * i + 1], beat[4 * i + 2], beat[4 * i + 3]])
        });
        model.set_words(self.ports.tdata, &words);
        model.set_u64(self.ports.tkeep, u64::MAX >> (LINE - count.max(1)));
        let last = rest.len() <= LINE;
        model.set_u64(self.ports.tlast, u64::from(last));
        model.set_u64(self.ports.tuser, u64::from(if last { *user } else { user & !DAMAGED }));
        model.set_u64(self.ports.tvalid, 1);
        self.offered = true;
    }
}
