//! Ingress that drops: frames into a ring whose slots are freed at random or by the test.

use super::*;
use crate::memory::testing::{bits_to_line, line_to_bits, random};
use crate::stream::testing::{beats, Beat, Memory, FRAME_OFFSET};
use crate::testing::{reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, VecDeque};

const SLOTS_LOG2: u32 = 3;
/// Three quarters of the slots.
const LIMIT: u64 = 6;
const SLOT_BYTES_LOG2: u32 = 7;
const CAPACITY: usize = (1 << SLOT_BYTES_LOG2) - FRAME_OFFSET;

/// A beat that is to enter, with the number of its frame.
struct Sending {
    beat: Beat,
    frame: u32,
    first: bool,
}

struct Bench {
    rng: ChaCha8Rng,
    uut: Ingress,
    memory: Memory,
    /// Probability for each of source, memory and task FIFO to go on in a cycle.
    pace: f64,
    to_send: VecDeque<Sending>,
    /// Frames by their numbers, which are their ports; and those that are malformed.
    frames: BTreeMap<u32, Vec<u8>>,
    malformed: Vec<u32>,
    /// Frames that came in, in their order, and packets that were told to the task FIFO.
    came_in: Vec<u32>,
    pushed: u64,
    freed: u64,
    /// Cycles in which a beat was offered and not taken while frames are dropped, of the frame with
    /// that number.
    waited: BTreeMap<u32, u64>,
    /// Whether the ring was full when the first beat of a frame was taken.
    found_full: BTreeMap<u32, bool>,
    /// First beats that were taken in a cycle in which frames were not dropped.
    asked_to_wait: Vec<u32>,
}

impl Bench {
    fn new(name: &str, pace: f64) -> Self {
        let mut uut = Ingress::new(true, false);
        reset!(uut);
        uut.ring.ring_slots_log2.next = bits(SLOTS_LOG2.into());
        uut.ring.slot_bytes_log2.next = bits(SLOT_BYTES_LOG2.into());
        tick!(uut);
        uut.enable.next = true;
        uut.drop.next = true;
        Self {
            rng: random(name),
            uut,
            memory: Memory::new(),
            pace,
            to_send: VecDeque::new(),
            frames: BTreeMap::new(),
            malformed: Vec::new(),
            came_in: Vec::new(),
            pushed: 0,
            freed: 0,
            waited: BTreeMap::new(),
            found_full: BTreeMap::new(),
            asked_to_wait: Vec::new(),
        }
    }

    /// Lets a frame of so many bytes enter; gives its number.
    fn send(&mut self, bytes: usize, damaged: bool) -> u32 {
        let number = self.frames.len() as u32;
        let frame: Vec<u8> = (0..bytes).map(|_| self.rng.gen()).collect();
        let mut beats = beats(&frame, number, &mut self.rng);
        if damaged {
            beats.last_mut().unwrap().user |= 1 << 31;
            self.malformed.push(number);
        }
        for (index, beat) in beats.into_iter().enumerate() {
            self.to_send.push_back(Sending { beat, frame: number, first: index == 0 });
        }
        self.frames.insert(number, frame);
        number
    }

    /// Packets that have a slot, with those on their way there.
    fn in_flight(&self) -> u64 {
        self.came_in.len() as u64 - self.uut.counters.dropped_in.val().to_u64() - self.freed
    }

    fn step(&mut self) {
        let goes = |rng: &mut ChaCha8Rng, pace| rng.gen_bool(pace);
        if !self.uut.rx.tvalid.val() && goes(&mut self.rng, self.pace) {
            if let Some(Sending { beat, .. }) = self.to_send.front() {
                self.uut.rx.tvalid.next = true;
                self.uut.rx.tdata.next = line_to_bits(&beat.data);
                self.uut.rx.tkeep.next = bits(beat.keep);
                self.uut.rx.tlast.next = beat.last;
                self.uut.rx.tuser.next = bits(beat.user.into());
            }
        }
        self.uut.task.ready.next = goes(&mut self.rng, self.pace);
        self.uut.write.ready.next = goes(&mut self.rng, self.pace);
        self.uut.write.written.valid.next = false;
        if goes(&mut self.rng, self.pace) {
            if let Some(tag) = self.memory.perform(&mut self.rng) {
                self.uut.write.written.valid.next = true;
                self.uut.write.written.tag.next = bits(tag);
            }
        }
        self.uut.freed.next = bits(self.freed);
        settle(&mut self.uut);

        let uut = &self.uut;
        if uut.write.valid.val() && uut.write.ready.val() {
            let (tag, line) = (uut.write.tag.val().to_u64(), uut.write.line.val().to_u32());
            self.memory.write(tag, line, bits_to_line(uut.write.data.val()), uut.write.strobe.val().to_u64());
        }
        if uut.task.valid.val() && uut.task.ready.val() {
            self.pushed += uut.task.count.val().to_u64();
        }
        let (offered, taken) = (uut.rx.tvalid.val(), uut.rx.tvalid.val() && uut.rx.tready.val());
        let drops = uut.drop.val();
        if offered {
            let front = &self.to_send[0];
            if !taken && drops {
                *self.waited.entry(front.frame).or_default() += 1;
            } else if taken && front.first {
                self.found_full.insert(front.frame, self.in_flight() >= LIMIT);
                if !drops {
                    self.asked_to_wait.push(front.frame);
                }
            }
        }
        tick!(self.uut);
        if taken {
            self.uut.rx.tvalid.next = false;
            let sent = self.to_send.pop_front().unwrap();
            settle(&mut self.uut);
            let dropped = self.uut.gate.dropped.val().to_u64();
            // The frame that passed its last beat came in, unless it is one of those dropped.
            if sent.beat.last && dropped == self.dropped_before(sent.frame) {
                self.came_in.push(sent.frame);
            }
        }
    }

    /// Frames that were dropped of those before number `frame`.
    fn dropped_before(&self, frame: u32) -> u64 {
        u64::from(frame) - self.came_in.len() as u64
    }

    /// Runs until nothing moves any more; checks every frame and every counter.
    fn finish(mut self) -> Self {
        for _ in 0..20_000 {
            if self.to_send.is_empty() && self.memory.is_idle() && self.freed == self.good().len() as u64 {
                break;
            }
            self.freed = self.pushed.min(self.freed + 1);
            self.step();
        }
        (0..200).for_each(|_| self.step());
        assert!(self.to_send.is_empty() && !self.uut.busy.val(), "{} beats left", self.to_send.len());
        let dropped = self.frames.len() - self.came_in.len();
        let good = self.good();
        let cut = good.iter().filter(|number| self.frames[number].len() > CAPACITY).count();
        let bytes: usize = good.iter().map(|number| self.frames[number].len().min(CAPACITY)).sum();
        let counters = &self.uut.counters;
        for (name, found, expected) in [
            ("dropped", self.uut.dropped_full.val(), dropped),
            ("in", counters.frames_in.val(), good.len()),
            ("bytes", counters.bytes_in.val(), bytes),
            ("malformed", counters.dropped_in.val(), self.came_in.len() - good.len()),
            ("cut", counters.cut_in.val(), cut),
        ] {
            assert_eq!(found.to_u64(), expected as u64, "{name}");
        }
        assert_eq!(self.pushed, good.len() as u64);
        // A frame that was dropped found the ring full, and no beat of it waited; one that passed
        // found a slot, unless frames were to wait then.
        for (number, full) in &self.found_full {
            let waits = self.asked_to_wait.contains(number);
            assert!(!*full || waits || !self.came_in.contains(number), "frame {number} has no slot");
            if !self.came_in.contains(number) {
                assert!(*full && !self.waited.contains_key(number), "frame {number} was dropped");
                assert!(!waits, "frame {number} was to wait");
            }
        }
        self
    }

    /// The frames that took a slot.
    fn good(&self) -> Vec<u32> {
        let good = |number: &&u32| !self.malformed.contains(number);
        self.came_in.iter().filter(good).copied().collect()
    }

    /// The packet is the whole frame with this number.
    fn check_packet(&self, packet: u64, number: u32) {
        let address = (packet as u32 & ((1 << SLOTS_LOG2) - 1)) << SLOT_BYTES_LOG2;
        let (frame, kept) = (&self.frames[&number], self.frames[&number].len().min(CAPACITY));
        let words = [0, 4, 8].map(|at| self.memory.word(address + at));
        assert_eq!(words, [kept as u32, number, (frame.len() - kept) as u32], "packet {packet}");
        assert_eq!(self.memory.load(address + FRAME_OFFSET as u32, kept), frame[..kept], "packet {packet}");
    }

    fn run(&mut self, cycles: usize) {
        (0..cycles).for_each(|_| self.step());
    }
}

/// Frames of any length, damaged ones, a ring that is freed at random, a switch that moves at
/// random: each frame is in its slot, malformed or dropped, and counted once.
#[test]
fn each_frame_is_in_or_dropped_and_counted_once() {
    for (pace, switches) in [(1.0, false), (0.6, false), (0.8, true)] {
        let mut bench = Bench::new("ingress drops", pace);
        let mut checked = 0;
        for _ in 0..400 {
            let bytes = if bench.rng.gen() { 60 } else { bench.rng.gen_range(1..=700) };
            let damaged = bench.rng.gen_bool(0.1);
            bench.send(bytes, damaged);
        }
        while !bench.to_send.is_empty() {
            if switches && bench.rng.gen_bool(0.05) {
                bench.uut.drop.next = bench.rng.gen();
            }
            bench.step();
            let good = bench.good();
            while checked < bench.pushed {
                bench.check_packet(checked, good[checked as usize]);
                checked += 1;
            }
            if bench.freed < bench.pushed && bench.rng.gen_bool(0.08) {
                bench.freed += 1;
            }
        }
        let bench = bench.finish();
        let dropped = bench.uut.dropped_full.val().to_u64();
        assert!((50..350).contains(&dropped) && bench.good().len() > 50, "{dropped} dropped");
        assert!(bench.asked_to_wait.is_empty() != switches);
    }
}

/// The ring fills; then frames of one beat are taken in every cycle.
fn full(name: &str) -> Bench {
    let mut bench = Bench::new(name, 1.0);
    for _ in 0..LIMIT {
        bench.send(60, false);
    }
    bench.run(40);
    assert_eq!((bench.pushed, bench.came_in.len() as u64), (LIMIT, LIMIT));
    bench
}

#[test]
fn frames_of_one_beat_are_dropped_back_to_back() {
    let mut bench = full("ingress one beat");
    (0..50).for_each(|_| {
        bench.send(60, false);
    });
    for _ in 0..50 {
        assert!(bench.uut.rx.tready.val());
        bench.step();
    }
    assert!(bench.to_send.is_empty());
    let bench = bench.finish();
    assert_eq!(bench.uut.dropped_full.val().to_u64(), 50);
}

/// A slot becomes free in the middle of a frame that is dropped: the next frame gets it.
#[test]
fn a_slot_that_becomes_free_is_for_the_next_frame() {
    let mut bench = full("ingress late slot");
    let (long, next, last) = (bench.send(64 * 20, false), bench.send(60, false), bench.send(60, false));
    bench.run(5);
    assert!(bench.uut.busy.val() && bench.uut.gate.dropping.val());
    bench.freed = 1;
    bench.run(40);
    assert_eq!(bench.came_in.last(), Some(&next));
    bench.check_packet(LIMIT, next);
    let bench = bench.finish();
    assert!(!bench.came_in.contains(&long) && !bench.came_in.contains(&last));
    assert_eq!(bench.uut.dropped_full.val().to_u64(), 2);
}

/// A frame that is damaged or longer than a slot is counted as dropped alone, if it found no slot.
#[test]
fn a_dropped_frame_is_counted_in_one_counter() {
    let mut bench = full("ingress one counter");
    bench.send(200, true);
    bench.send(CAPACITY + 1, false);
    bench.send(60, true);
    bench.run(20);
    let bench = bench.finish();
    let counters = &bench.uut.counters;
    assert_eq!(bench.uut.dropped_full.val().to_u64(), 3);
    assert_eq!((counters.dropped_in.val().to_u64(), counters.cut_in.val().to_u64()), (0, 0));
}

/// The switch moves in the middle of a frame: what began to be dropped is, and what waits for its
/// slot gets it.
#[test]
fn the_switch_counts_for_frames_that_did_not_begin() {
    let mut bench = full("ingress switch");
    let dropped = bench.send(64 * 8, false);
    bench.run(3);
    bench.uut.drop.next = false;
    bench.run(20);
    assert_eq!(bench.uut.dropped_full.val().to_u64(), 1);

    // Of a frame that waits, one beat is taken.
    let (waits, behind) = (bench.send(64 * 3, false), bench.send(60, false));
    bench.run(20);
    assert!(!bench.uut.rx.tready.val() && bench.to_send.len() == 3);
    bench.uut.drop.next = true;
    bench.run(20);
    assert!(!bench.uut.rx.tready.val() && bench.to_send.len() == 3, "it waits for its slot");
    bench.freed = 1;
    bench.run(30);
    assert_eq!(bench.came_in.last(), Some(&waits));
    bench.check_packet(LIMIT, waits);
    let bench = bench.finish();
    assert_eq!(bench.uut.dropped_full.val().to_u64(), 2);
    assert!(!bench.came_in.contains(&dropped) && !bench.came_in.contains(&behind));
}
