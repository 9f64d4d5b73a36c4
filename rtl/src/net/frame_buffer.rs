//! Frames that came, until they are judged and their payload is written.

use crate::blocks::QueuePointers;
use crate::stream::KeepCount;
use hermes_hdl::prelude::*;

/// A frame in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct StoredFrame {
    /// Place of the first beat.
    pub first: Bits<9>,
    /// Number of beats of the frame.
    pub beats: Bits<9>,
    /// Number of bytes of the frame.
    pub bytes: Bits<15>,
    /// The frame is marked as damaged, or its beats are not full.
    pub damaged: Bit,
}

/// Beats that may be used: one stays free, so that the count of a frame's beats has nine bits.
const CAPACITY: u64 = 511;

/// Stores whole frames: 512 beats of 64 bytes, 64 frames at most.
///
/// 1. Beats are taken in every cycle: the interface never holds its input back. A frame that finds
///    no room is dropped, with `dropped` high for one cycle at its last beat.
/// 2. A frame is told from the cycle after its last beat on: `stored_valid` with `stored`, the
///    oldest first, until `stored_take`.
/// 3. `read_data` is the beat at `read_beat`, from the edge with `read_enable` on.
/// 4. `free_beats` beats, the oldest ones, are free from the next cycle on, with `free_valid`.
/// 5. A frame whose beats but the last are not full, whose last beat's bytes are not the first
///    ones, or with bit 31 of TUSER set in its last beat is marked as damaged.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct FrameBuffer {
    /// A beat is offered, and taken.
    pub rx_tvalid: Signal<In, Bit>,
    /// Bytes of the beat, the first in bits 7:0.
    pub rx_tdata: Signal<In, Bits<512>>,
    /// Bytes of the beat that count, the first in bit 0.
    pub rx_tkeep: Signal<In, Bits<64>>,
    /// The beat is the last one of its frame.
    pub rx_tlast: Signal<In, Bit>,
    /// Bit 31 in the last beat: the frame is damaged.
    pub rx_tuser: Signal<In, Bits<32>>,
    /// A frame is here.
    pub stored_valid: Signal<Out, Bit>,
    /// The oldest frame in the buffer.
    pub stored: Signal<Out, StoredFrame>,
    /// The frame is taken at this edge.
    pub stored_take: Signal<In, Bit>,
    /// A beat is to be read.
    pub read_enable: Signal<In, Bit>,
    /// Place of the beat.
    pub read_beat: Signal<In, Bits<9>>,
    /// The beat, in the next cycle.
    pub read_data: Signal<Out, Bits<512>>,
    /// Beats are no longer needed.
    pub free_valid: Signal<In, Bit>,
    /// Beats that are free.
    pub free_beats: Signal<In, Bits<9>>,
    /// A frame found no room.
    pub dropped: Signal<Out, Bit>,
    #[init(RamSized::new(9))]
    beats: RamSized<512>,
    order: QueuePointers<6>,
    frames: RamAsync<StoredFrame, 6>,
    count: KeepCount,
    /// Beats in use, those of the frame that comes among them.
    used: Register<Bits<10>>,
    /// Index of the beat that is written next.
    place: Register<Bits<9>>,
    /// Index of the first beat of the frame that comes.
    begin: Register<Bits<9>>,
    /// Beats of the frame that comes which were stored.
    taken: Register<Bits<9>>,
    /// The frame that comes has no room.
    lost: Register<Bit>,
    bad: Register<Bit>,
}

impl Logic for FrameBuffer {
    #[hdl_gen]
    fn update(&mut self) {
        self.count.keep.next = self.rx_tkeep.val();
        let comes = self.rx_tvalid.val();
        let ends = comes && self.rx_tlast.val();
        let full = self.used.q.val() == bits::<10>(CAPACITY);
        let is_lost = self.lost.q.val() || full || self.order.full.val();
        let stores = comes && !is_lost;
        always!(beats_have_room, self.used.q.val() <= bits::<10>(CAPACITY));
        always!(a_stored_frame_has_an_entry, !stores || !self.order.full.val());
        self.beats.write_enable.next = stores;
        self.beats.write_address.next = bit_cast::<16, 9>(self.place.q.val());
        self.beats.write_data.next = self.rx_tdata.val();
        self.beats.read_enable.next = self.read_enable.val();
        self.beats.read_address.next = bit_cast::<16, 9>(self.read_beat.val());
        self.read_data.next = self.beats.read_data.val();

        let mut is_bad = self.bad.q.val();
        if self.rx_tlast.val() {
            is_bad = self.bad.q.val() || !self.count.contiguous.val() || self.rx_tuser.val().get_bit(31);
        } else if !self.rx_tkeep.val().all() {
            is_bad = true;
        }
        let mut back = bits::<9>(0);
        if comes {
            self.bad.d.next = is_bad && !self.rx_tlast.val();
            self.lost.d.next = is_lost && !self.rx_tlast.val();
            self.taken.d.next = self.taken.q.val() + bits::<9>(1);
            if stores {
                self.place.d.next = self.place.q.val() + bits::<9>(1);
            }
            if self.rx_tlast.val() {
                self.taken.d.next = bits::<9>(0);
                self.begin.d.next = self.place.q.val() + bits::<9>(1);
                if is_lost {
                    // What was stored of it is free again.
                    back = self.place.q.val() - self.begin.q.val();
                    self.place.d.next = self.begin.q.val();
                    self.begin.d.next = self.begin.q.val();
                }
            }
        }
        self.dropped.next = ends && is_lost;

        let mut freed = bits::<9>(0);
        if self.free_valid.val() {
            freed = self.free_beats.val();
        }
        let mut more = bits::<10>(0);
        if stores {
            more = bits::<10>(1);
        }
        self.used.d.next = self.used.q.val() + more - bit_cast::<10, 9>(freed) - bit_cast::<10, 9>(back);

        // Frames in their order
        self.frames.write_data.next.first = self.begin.q.val();
        self.frames.write_data.next.beats = self.taken.q.val() + bits::<9>(1);
        self.frames.write_data.next.bytes =
            (bit_cast::<15, 9>(self.taken.q.val()) << 6) + bit_cast::<15, 7>(self.count.bytes.val());
        self.frames.write_data.next.damaged = is_bad;
        self.order.push.next = ends && !is_lost;
        self.order.pop.next = self.stored_take.val();
        self.frames.write_enable.next = ends && !is_lost;
        self.frames.write_address.next = self.order.write_address.val();
        self.frames.read_address.next = self.order.read_address.val();
        self.stored_valid.next = !self.order.empty.val();
        self.stored.next = self.frames.read_data.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{bits_to_line, line_to_bits, random};
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// Frames of random lengths, good and bad, at any speed: what is stored is what came, and what
    /// finds no room is dropped as a whole.
    #[test]
    fn keeps_frames_whole() {
        let mut rng = random("frame_buffer");
        let mut uut = FrameBuffer::default();
        reset!(uut);
        // Frames in the buffer: bytes, whether damaged.
        let mut inside: VecDeque<(Vec<u8>, bool)> = VecDeque::new();
        let mut beats_inside = 0;
        let (mut stored, mut dropped, mut damaged) = (0, 0, 0);
        for turn in 0..700 {
            let slow = turn / 100 % 2 == 0;
            // One frame comes.
            let length = if rng.gen_bool(0.1) { rng.gen_range(1..5_000) } else { rng.gen_range(1..200) };
            let frame: Vec<u8> = (0..length).map(|_| rng.gen()).collect();
            let marked = rng.gen_bool(0.1);
            let beats = frame.chunks(64).count();
            let fits = inside.len() < 64 && beats_inside + beats <= CAPACITY as usize;
            for (index, part) in frame.chunks(64).enumerate() {
                let mut line: [u8; 64] = std::array::from_fn(|_| rng.gen());
                line[..part.len()].copy_from_slice(part);
                uut.rx_tvalid.next = true;
                uut.rx_tdata.next = line_to_bits(&line);
                uut.rx_tkeep.next = (u64::MAX >> (64 - part.len())).into();
                uut.rx_tlast.next = index + 1 == beats;
                uut.rx_tuser.next = (u64::from(marked) << 31).into();
                settle(&mut uut);
                assert_eq!(uut.dropped.val(), index + 1 == beats && !fits, "turn {turn}");
                tick!(uut);
            }
            uut.rx_tvalid.next = false;
            if fits {
                beats_inside += beats;
                inside.push_back((frame, marked));
                stored += 1;
            } else {
                dropped += 1;
            }
            // Some leave.
            let leave = if slow { usize::from(rng.gen_bool(0.2)) } else { rng.gen_range(0..4) };
            for _ in 0..leave.min(inside.len()) {
                let (frame, marked) = inside.pop_front().unwrap();
                settle(&mut uut);
                assert!(uut.stored_valid.val());
                let what = uut.stored.val();
                let count = frame.len().div_ceil(64);
                assert_eq!(
                    (what.beats.index(), what.bytes.index(), what.damaged),
                    (count, frame.len(), marked)
                );
                damaged += usize::from(marked);
                let mut read = Vec::new();
                for beat in 0..count {
                    uut.read_enable.next = true;
                    uut.read_beat.next = ((what.first.to_u64() + beat as u64) & 511).into();
                    tick!(uut);
                    read.extend_from_slice(&bits_to_line(uut.read_data.val()));
                }
                uut.read_enable.next = false;
                assert_eq!(read[..frame.len()], frame);
                uut.stored_take.next = true;
                uut.free_valid.next = true;
                uut.free_beats.next = what.beats;
                tick!(uut);
                uut.stored_take.next = false;
                uut.free_valid.next = false;
                beats_inside -= count;
            }
        }
        assert!(stored > 200 && dropped > 30 && damaged > 10, "{stored} {dropped} {damaged}");
    }

    /// Beats with holes, and a last beat whose bytes are not the first ones.
    #[test]
    fn beats_that_are_not_full_are_damage() {
        for (first, last, damaged) in [
            (u64::MAX, 0xff, false),
            (u64::MAX >> 1, 0xff, true),
            (u64::MAX, 0xf0, true),
            (u64::MAX, 0, true),
        ] {
            let mut uut = FrameBuffer::default();
            reset!(uut);
            for (keep, ends) in [(first, false), (last, true)] {
                uut.rx_tvalid.next = true;
                uut.rx_tkeep.next = keep.into();
                uut.rx_tlast.next = ends;
                tick!(uut);
            }
            uut.rx_tvalid.next = false;
            settle(&mut uut);
            assert!(uut.stored_valid.val());
            assert_eq!(uut.stored.val().damaged, damaged, "{first:#x} {last:#x}");
        }
    }
}
