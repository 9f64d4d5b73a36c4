//! Frames through the packet ports, with a model of memory and of the array behind them.

use super::*;
use crate::memory::testing::{bits_to_line, line_to_bits, random};
use crate::stream::testing::{beats, Beat, Memory, FRAME_OFFSET};
use crate::testing::{reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

const RING_BASE: u32 = 0x4_0000;
const VERDICT_BASE: u32 = 0x2_0000;

/// What a test is about.
#[derive(Clone, Copy)]
struct Traffic {
    ring_slots_log2: u32,
    slot_bytes_log2: u32,
    frames: usize,
    sizes: (usize, usize),
    /// Probability that each side goes on in a cycle.
    pace: f64,
    malformed: f64,
    /// Probability that a packet is forwarded; `resize`: that the kernel changes its length then.
    forward: f64,
    resize: f64,
    /// Probability that a line of a forwarded packet cannot be read.
    unreadable: f64,
}

const EASY: Traffic = Traffic {
    ring_slots_log2: 5,
    slot_bytes_log2: 8,
    frames: 60,
    sizes: (60, 200),
    pace: 1.0,
    malformed: 0.0,
    forward: 1.0,
    resize: 0.0,
    unreadable: 0.0,
};

/// A frame that got a slot.
struct Arrival {
    frame: Vec<u8>,
    port: u32,
    accepted: u64,
}

/// A beat that is to enter the unit.
struct Sending {
    beat: Beat,
    /// Bytes and port of the well-formed frame that it ends.
    ends: Option<(Vec<u8>, u32)>,
}

/// The unit and all that is around it.
struct Bench {
    traffic: Traffic,
    rng: ChaCha8Rng,
    uut: PacketPorts,
    memory: Memory,
    cycle: u64,
    // Into the unit
    to_send: VecDeque<Sending>,
    arrived: VecDeque<Arrival>,
    bytes_in: u64,
    cut: u64,
    // The array: packets pushed, processed, committed
    pushed: u64,
    processed: u64,
    committed: u64,
    drops_of_caches: u64,
    committed_at_drop: VecDeque<u64>,
    // Out of the unit
    expected: VecDeque<(u32, Vec<u8>)>,
    receiving: Vec<u8>,
    frames_out: u64,
    bytes_out: u64,
    skipped: u64,
    length_errors: u64,
    /// Forwarded packets whose first line, and whose other lines cannot be read.
    damaged: [u64; 2],
    offered: Option<(Beat, bool)>,
    /// Cycle of each frame's last beat.
    left_at: Vec<u64>,
}

impl Bench {
    fn new(name: &str, traffic: Traffic) -> Self {
        let mut uut = PacketPorts::new(true, true);
        reset!(uut);
        uut.ring.ring_base.next = bits(RING_BASE.into());
        uut.ring.verdict_base.next = bits(VERDICT_BASE.into());
        uut.ring.ring_slots_log2.next = bits(traffic.ring_slots_log2.into());
        uut.ring.slot_bytes_log2.next = bits(traffic.slot_bytes_log2.into());
        tick!(uut);
        Self {
            traffic,
            rng: random(name),
            uut,
            memory: Memory::new(),
            cycle: 0,
            to_send: VecDeque::new(),
            arrived: VecDeque::new(),
            bytes_in: 0,
            cut: 0,
            pushed: 0,
            processed: 0,
            committed: 0,
            drops_of_caches: 0,
            committed_at_drop: VecDeque::new(),
            expected: VecDeque::new(),
            receiving: Vec::new(),
            frames_out: 0,
            bytes_out: 0,
            skipped: 0,
            length_errors: 0,
            damaged: [0; 2],
            offered: None,
            left_at: Vec::new(),
        }
    }

    fn capacity(&self) -> usize {
        (1 << self.traffic.slot_bytes_log2) - FRAME_OFFSET
    }

    fn goes(&mut self) -> bool {
        self.rng.gen_bool(self.traffic.pace)
    }

    fn slot(&self, packet: u64) -> u32 {
        let slot = packet as u32 & ((1 << self.traffic.ring_slots_log2) - 1);
        RING_BASE + (slot << self.traffic.slot_bytes_log2)
    }

    /// Random frames, some of them malformed; gives the number of those.
    fn make_frames(&mut self) -> u64 {
        let mut malformed = 0;
        for _ in 0..self.traffic.frames {
            let size = self.rng.gen_range(self.traffic.sizes.0..=self.traffic.sizes.1);
            let frame: Vec<u8> = (0..size).map(|_| self.rng.gen()).collect();
            let port = self.rng.gen::<u32>() >> 1;
            let mut beats = beats(&frame, port, &mut self.rng);
            let mut arrival = Some((frame, port));
            if self.rng.gen_bool(self.traffic.malformed) {
                let (count, last) = (beats.len(), beats.len() - 1);
                match self.rng.gen_range(0..4) {
                    0 => beats[last].user |= 1 << 31,
                    1 => beats[last].keep = 0,
                    2 if count > 1 => {
                        beats[self.rng.gen_range(0..last)].keep ^= 1 << self.rng.gen_range(0..64)
                    }
                    _ => beats[last].keep &= !1,
                }
                arrival = None;
                malformed += 1;
            }
            for beat in beats {
                let ends = if beat.last { arrival.take() } else { None };
                self.to_send.push_back(Sending { beat, ends });
            }
        }
        malformed
    }

    fn step(&mut self) {
        // Inputs of this cycle
        self.uut.cycle.next = bits(self.cycle);
        if !self.uut.rx.tvalid.val() && !self.to_send.is_empty() && self.goes() {
            let beat = self.to_send[0].beat;
            self.uut.rx.tvalid.next = true;
            self.uut.rx.tdata.next = line_to_bits(&beat.data);
            self.uut.rx.tkeep.next = bits(beat.keep);
            self.uut.rx.tlast.next = beat.last;
            self.uut.rx.tuser.next = bits(beat.user.into());
        }
        self.uut.tx.tready.next = self.goes();
        self.uut.task.ready.next = self.goes();
        self.uut.read.ready.next = self.goes();
        self.uut.write.ready.next = self.goes();
        self.uut.read.response.valid.next = false;
        if self.goes() {
            if let Some((tag, line, fails)) = self.memory.respond(&mut self.rng) {
                self.uut.read.response.error.next = fails;
                self.uut.read.response.valid.next = true;
                self.uut.read.response.tag.next = bits(tag);
                self.uut.read.response.data.next = line_to_bits(&line);
            }
        }
        self.uut.write.written.valid.next = false;
        if self.goes() {
            if let Some(tag) = self.memory.perform(&mut self.rng) {
                self.uut.write.written.valid.next = true;
                self.uut.write.written.tag.next = bits(tag);
            }
        }
        if self.processed < self.pushed && self.goes() {
            self.process();
        }
        if self.rng.gen_bool(0.5) {
            let limit = self.rng.gen_range(1..=8);
            let commits = (self.processed - self.committed).min(limit);
            for packet in self.committed..self.committed + commits {
                self.committed_at_drop.push_back(self.drops_of_caches);
                assert_eq!(self.committed_at_drop.len() as u64, packet + 1);
            }
            self.committed += commits;
        }
        self.uut.committed.next = bits(self.committed);

        settle(&mut self.uut);
        let taken = self.uut.rx.tvalid.val() && self.uut.rx.tready.val();
        self.observe(taken);
        tick!(self.uut);
        if taken {
            self.uut.rx.tvalid.next = false;
            settle(&mut self.uut);
        }
        self.cycle += 1;
    }

    /// What the outputs of this cycle do.
    fn observe(&mut self, beat_accepted: bool) {
        let uut = &mut self.uut;
        if uut.read.valid.val() && uut.read.ready.val() {
            self.memory.read(uut.read.tag.val().to_u64(), uut.read.line.val().to_u32());
        }
        if uut.write.valid.val() && uut.write.ready.val() {
            let (tag, line) = (uut.write.tag.val().to_u64(), uut.write.line.val().to_u32());
            self.memory.write(tag, line, bits_to_line(uut.write.data.val()), uut.write.strobe.val().to_u64());
        }
        let pushes = (uut.task.valid.val() && uut.task.ready.val()).then(|| uut.task.count.val().to_u64());
        let beat = uut.tx.tvalid.val().then(|| Beat {
            data: bits_to_line(uut.tx.tdata.val()),
            keep: uut.tx.tkeep.val().to_u64(),
            last: uut.tx.tlast.val(),
            user: uut.tx.tuser.val().to_u32(),
        });
        let beat_taken = uut.tx.tready.val();
        self.drops_of_caches += u64::from(uut.drop_caches.val());
        // Every packet that is pushed and not committed has a slot, and at most three quarters of
        // the ring are in use.
        let (occupied, most) = (uut.occupied.val().to_u64(), (3 << self.traffic.ring_slots_log2) / 4);
        let least = self.pushed - self.committed;
        assert!((least..=most).contains(&occupied), "{occupied} slots: expected {least} to {most}");
        if let Some((before, false)) = self.offered {
            assert_eq!(beat, Some(before), "a beat that was not taken changed");
        }
        self.offered = beat.map(|beat| (beat, beat_taken));

        if beat_accepted {
            if let Some((frame, port)) = self.to_send.pop_front().and_then(|sending| sending.ends) {
                self.arrived.push_back(Arrival { frame, port, accepted: self.cycle });
            }
        }
        if let Some(count) = pushes {
            for packet in self.pushed..self.pushed + count {
                self.check_slot(packet);
            }
            self.pushed += count;
        }
        if let (Some(beat), true) = (beat, beat_taken) {
            self.receive(beat);
        }
    }

    /// A packet was pushed: its slot is as the host would have written it.
    fn check_slot(&mut self, packet: u64) {
        let arrival = self.arrived.pop_front().expect("a packet was pushed that did not arrive");
        let kept = arrival.frame.len().min(self.capacity());
        let missing = arrival.frame.len() - kept;
        let address = self.slot(packet);
        let descriptor: [u32; 4] = std::array::from_fn(|i| self.memory.word(address + 4 * i as u32));
        assert_eq!(descriptor[..3], [kept as u32, arrival.port, missing as u32], "packet {packet}");
        let arrived = u64::from(descriptor[3]);
        assert!((arrival.accepted..self.cycle).contains(&arrived), "packet {packet}: arrival {arrived}");
        let mut slot = self.memory.load(address + 16, (2 + kept).next_multiple_of(64).max(48));
        slot.truncate((FRAME_OFFSET + kept).next_multiple_of(64) - 16);
        assert_eq!(slot[2..2 + kept], arrival.frame[..kept], "packet {packet}");
        assert!(slot[..2].iter().chain(&slot[2 + kept..]).all(|byte| *byte == 0), "packet {packet}: padding");
        self.bytes_in += kept as u64;
        self.cut += u64::from(missing > 0);
        // Since the commit of the packet that had the slot before, the caches were invalidated.
        if let Some(before) = packet.checked_sub(1 << self.traffic.ring_slots_log2) {
            let at_commit = self.committed_at_drop[before as usize];
            assert!(at_commit < self.drops_of_caches, "packet {packet}: caches may hold the slot");
        }
        assert!(packet - self.committed < (3 << self.traffic.ring_slots_log2) / 4, "more than 3/4 in flight");
    }

    /// The kernel runs for the next packet.
    fn process(&mut self) {
        let packet = self.processed;
        let address = self.slot(packet);
        let mut length = self.memory.word(address);
        let forward = self.rng.gen_bool(self.traffic.forward);
        let verdict = if forward { self.rng.gen::<u32>() >> 1 } else { self.rng.gen::<u32>() | 1 << 31 };
        let stamp: [u8; 4] = self.rng.gen();
        self.memory.store(address + 18 + 10, &stamp);
        if self.rng.gen_bool(self.traffic.resize) {
            length = match self.rng.gen_range(0..8) {
                0 => 0,
                1 => self.rng.gen(),
                _ => self.rng.gen_range(1..=self.capacity() as u32),
            };
            self.memory.store(address, &length.to_le_bytes());
        }
        let slot = packet as u32 & ((1 << self.traffic.ring_slots_log2) - 1);
        self.memory.store(VERDICT_BASE + 4 * slot, &verdict.to_le_bytes());
        self.processed += 1;
        let unreadable = self.memory.failing.contains(&((VERDICT_BASE + 4 * slot) >> 6));
        if !forward || unreadable {
            self.skipped += 1;
            return;
        }
        let sent = (length as usize).min(self.capacity());
        let line = address >> 6;
        let lines = (FRAME_OFFSET + sent).div_ceil(64) as u32;
        self.memory
            .failing
            .retain(|failing| !(line..line + (1 << (self.traffic.slot_bytes_log2 - 6))).contains(failing));
        if self.rng.gen_bool(self.traffic.unreadable) {
            let unreadable = self.rng.gen_range(0..lines);
            self.memory.failing.insert(line + unreadable);
            self.damaged[usize::from(unreadable > 0)] += 1;
            if unreadable == 0 {
                return;
            }
        }
        self.length_errors += u64::from(sent != length as usize || length == 0);
        if sent > 0 {
            let damaged =
                u32::from((line..line + lines).any(|line| self.memory.failing.contains(&line))) << 31;
            self.expected.push_back((verdict | damaged, self.memory.load(address + 18, sent)));
        }
    }

    fn receive(&mut self, beat: Beat) {
        let bytes = beat.keep.count_ones() as usize;
        assert!(beat.keep == u64::MAX >> (64 - bytes) && (beat.last || bytes == 64), "{:#x}", beat.keep);
        self.receiving.extend(&beat.data[..bytes]);
        if beat.last {
            let frame = std::mem::take(&mut self.receiving);
            let (port, expected) = self.expected.pop_front().expect("a frame left that was not forwarded");
            assert_eq!(beat.user, port, "frame {}", self.frames_out);
            assert!(frame == expected, "frame {}: {frame:02x?}\nexpected {expected:02x?}", self.frames_out);
            self.frames_out += 1;
            self.bytes_out += frame.len() as u64;
            self.left_at.push(self.cycle);
        }
    }

    /// Runs all frames of the traffic and compares the counters.
    fn run(mut self) -> Self {
        let malformed = self.make_frames();
        let frames = self.traffic.frames as u64 - malformed;
        self.uut.control.enable.next = true;
        let mut quiet = 0;
        while quiet < 60 {
            let done = self.to_send.is_empty() && self.committed == frames && self.expected.is_empty();
            quiet = if done && self.memory.is_idle() { quiet + 1 } else { 0 };
            self.step();
            assert!(
                self.cycle < 400 * self.traffic.frames as u64 + 5_000,
                "stuck: {} beats to send, {} pushed, {} committed, {} frames to come out",
                self.to_send.len(),
                self.pushed,
                self.committed,
                self.expected.len()
            );
        }
        let uut = &self.uut;
        assert!(!uut.control.busy.val() && !uut.tx.tvalid.val() && self.arrived.is_empty());
        assert!(!uut.occupied.val().any());
        let counters = [
            (uut.counters.frames_in.val(), frames),
            (uut.counters.bytes_in.val(), self.bytes_in),
            (uut.counters.dropped_in.val(), malformed),
            (uut.counters.cut_in.val(), self.cut),
            (uut.counters.frames_out.val(), self.frames_out),
            (uut.counters.bytes_out.val(), self.bytes_out),
            (uut.counters.not_sent.val(), self.skipped),
            (uut.counters.length_errors.val(), self.length_errors),
            (uut.counters.read_errors.val(), self.memory.failed),
        ];
        for (index, (found, expected)) in counters.into_iter().enumerate() {
            assert_eq!(found.to_u64(), expected, "counter {index}");
        }
        self
    }
}

#[test]
fn order_and_bytes_are_kept_with_random_stalls() {
    for pace in [0.35, 0.9] {
        let traffic = Traffic {
            ring_slots_log2: 4,
            slot_bytes_log2: 11,
            frames: 40,
            sizes: (60, 1518),
            pace,
            forward: 0.85,
            ..EASY
        };
        let bench = Bench::new("packet_ports stalls", traffic).run();
        assert!(bench.frames_out > 25 && bench.skipped > 0);
    }
}

#[test]
fn malformed_cut_and_resized_frames() {
    let traffic = Traffic {
        frames: 120,
        sizes: (1, 300),
        pace: 0.7,
        malformed: 0.2,
        forward: 0.7,
        resize: 0.4,
        ..EASY
    };
    let bench = Bench::new("packet_ports malformed", traffic).run();
    assert!(bench.cut > 0 && bench.length_errors > 0);
}

#[test]
fn lines_that_cannot_be_read() {
    // Without its first line a packet is not sent; with another one missing it is marked. The order
    // of the others stays.
    let traffic = Traffic { frames: 100, pace: 0.8, forward: 0.9, unreadable: 0.4, ..EASY };
    let bench = Bench::new("packet_ports unreadable", traffic).run();
    assert!(bench.damaged[0] > 5 && bench.damaged[1] > 5, "{:?}", bench.damaged);
    assert_eq!(bench.frames_out + bench.skipped + bench.damaged[0], 100);
    assert_eq!(bench.memory.failed, bench.damaged[0] + bench.damaged[1]);
}

#[test]
fn verdicts_that_cannot_be_read_are_faults() {
    let mut bench = Bench::new("packet_ports verdicts", Traffic { frames: 40, ..EASY });
    bench.memory.failing.insert(VERDICT_BASE >> 6);
    // Packets 0 to 15 have their verdicts in that line, and 32 to 39 again.
    let bench = bench.run();
    assert_eq!((bench.frames_out, bench.skipped), (16, 24));
    assert!(bench.memory.failed > 0);
}

#[test]
fn smallest_rings() {
    for ring_slots_log2 in [1, 2, 3] {
        let traffic =
            Traffic { ring_slots_log2, slot_bytes_log2: 7, frames: 30, sizes: (60, 128), pace: 0.8, ..EASY };
        Bench::new("packet_ports rings", traffic).run();
    }
}

#[test]
fn two_cycles_for_a_frame_of_two_lines() {
    // 100 bytes are 2 beats and 2 lines, 64 bytes are 1 beat and 2 lines.
    for size in [64, 100] {
        let traffic =
            Traffic { ring_slots_log2: 7, slot_bytes_log2: 7, frames: 120, sizes: (size, size), ..EASY };
        let mut bench = Bench::new("packet_ports rate", traffic);
        bench.memory.in_order = true;
        let bench = bench.run();
        let (all, half) = (bench.left_at[99], bench.left_at[99] - bench.left_at[49]);
        println!("{size} bytes: {all} cycles for 100 frames, {half} for the last 50");
        assert!(all < 320 && half < 150, "{size} bytes: {all} cycles, {half} for the last 50");
    }
}

#[test]
fn host_packets_come_first() {
    let mut bench = Bench::new("packet_ports host", Traffic { pace: 0.8, frames: 30, ..EASY });
    // The host pushes 5 packets, which commit, before the ports are enabled.
    bench.uut.host_task.valid.next = true;
    bench.uut.host_task.count.next = bits(5);
    bench.uut.task.ready.next = true;
    settle(&mut bench.uut);
    assert!(bench.uut.host_task.ready.val() && bench.uut.task.valid.val());
    assert_eq!(bench.uut.task.count.val().to_u64(), 5);
    tick!(bench.uut);
    bench.uut.host_task.valid.next = false;
    tick!(bench.uut);
    assert!(bench.uut.control.busy.val());
    (bench.pushed, bench.processed, bench.committed) = (5, 5, 5);
    bench.committed_at_drop = vec![0; 5].into();
    bench.uut.committed.next = bits(5);
    tick!(bench.uut);
    tick!(bench.uut);
    assert!(!bench.uut.control.busy.val());
    bench.traffic.frames = 30;
    let malformed = bench.make_frames();
    assert_eq!(malformed, 0);
    bench.uut.control.enable.next = true;
    while bench.frames_out < 30 {
        bench.step();
        assert!(bench.cycle < 5_000);
    }
}
