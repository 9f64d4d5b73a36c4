//! Two interfaces, each other's peers.

use super::super::testing::frame;
use super::super::{region_word, right, state, word, FrameHead, NetIdentity};
use super::*;
use crate::memory::testing::{bits_to_line, line_to_bits, random};
use crate::testing::{reset, settle, tick};
use rand::Rng;
use std::collections::{BTreeMap, VecDeque};

/// Where the window of each node begins, and its bytes.
const WINDOW: [u32; 2] = [0x2_0000, 0x5_0000];
const WINDOW_BYTES: u32 = 0x1000;
/// The queue pairs: node 0 has number 3, node 1 number 12.
const PAIR: [u64; 2] = [3, 12];
/// Region 1: peers may write the window, and commands read it.
const KEY: u32 = 0x1234_0001;
/// The domain of all.
const DOMAIN: u64 = 6;

fn identity(node: usize) -> NetIdentity {
    NetIdentity {
        mac: (0x0200_0000_0010 + node as u64).into(),
        ip: (0x0a00_0001 + node as u64).into(),
        type_of_service: 0.into(),
    }
}

/// A node: the interface, its memory, and writes that were accepted.
struct Node {
    /// In the heap: it is too large for two of them on a stack.
    uut: Box<NetInterface>,
    memory: BTreeMap<u32, u8>,
    outstanding: VecDeque<u64>,
    /// Lines that are being read: tag, line.
    reads: Vec<(u64, u32)>,
    /// Frames that were sent, and the one that is being sent.
    sent: Vec<Vec<u8>>,
    partial: Vec<u8>,
    /// Frames performed, dropped by cause (8: no such queue pair, 9: not served, 10: too early, 11:
    /// again), failed puts by code.
    performed: usize,
    completed: usize,
    dropped: BTreeMap<u64, usize>,
    failed: Vec<u64>,
    /// The link takes nothing.
    stalls: bool,
}

impl Node {
    fn new(node: usize) -> Self {
        let mut uut = NetInterface::new(InterfaceSizes::default());
        reset!(uut);
        let peer = 1 - node;
        uut.control.identity.next = identity(node);
        uut.control.enable.next = true;
        let peers = identity(peer);
        let words = [
            (word::STATE, DOMAIN << 12 | 1 << 16),
            (word::REMOTE, PAIR[peer]),
            (word::MAC_LOW, peers.mac.to_u64() & 0xffff_ffff),
            (word::MAC_HIGH, peers.mac.to_u64() >> 32),
            (word::IP, peers.ip.to_u64()),
            (word::KEY, KEY.into()),
            (word::WINDOW_BASE, WINDOW[node].into()),
            (word::WINDOW_BYTES, WINDOW_BYTES.into()),
            (word::BASE_LOW, WINDOW[peer].into()),
            (word::BASE_HIGH, 0),
            (word::SEND, 0xff_fff0 + node as u64),
            (word::EXPECT, 0xff_fff0 + peer as u64),
        ];
        for (word, value) in words {
            uut.control.table.write.next = true;
            uut.control.table.pair.next = PAIR[node].into();
            uut.control.table.word.next = word.into();
            uut.control.table.value.next = value.into();
            settle(&mut uut);
            assert!(!uut.control.table.waits.val() && !uut.control.table.refused.val());
            tick!(uut);
        }
        uut.control.table.write.next = false;
        let rights = right::REMOTE_WRITE | right::LOCAL_READ;
        let region = [
            (region_word::RIGHTS, 1 | DOMAIN << 4 | u64::from(rights)),
            (region_word::ADDRESS, WINDOW[node].into()),
            (region_word::BYTES, WINDOW_BYTES.into()),
            (region_word::KEY, KEY.into()),
        ];
        for (word, value) in region {
            uut.control.regions.write.next = true;
            uut.control.regions.pair.next = 1.into();
            uut.control.regions.word.next = word.into();
            uut.control.regions.value.next = value.into();
            settle(&mut uut);
            assert!(!uut.control.regions.waits.val() && !uut.control.regions.refused.val());
            tick!(uut);
        }
        uut.control.regions.write.next = false;
        uut.control.set_state.next = true;
        uut.control.state_pair.next = PAIR[node].into();
        uut.control.new_state.next = state::UP.into();
        uut.control.window.next = 32.into();
        uut.control.timeout.next = 600.into();
        uut.control.retries.next = 7.into();
        tick!(uut);
        uut.control.set_state.next = false;
        Self {
            uut: Box::new(uut),
            memory: BTreeMap::new(),
            outstanding: VecDeque::new(),
            reads: vec![],
            sent: vec![],
            partial: vec![],
            performed: 0,
            completed: 0,
            dropped: BTreeMap::new(),
            failed: vec![],
            stalls: false,
        }
    }

    /// A cycle, with this beat at the input; `post` is a command. Gives the beat that was sent.
    fn cycle(
        &mut self,
        beat: Option<Beat>,
        post: Option<[u32; 16]>,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Option<Beat> {
        let uut = &mut *self.uut;
        uut.rx.tvalid.next = beat.is_some();
        let (data, keep, last) =
            beat.unwrap_or_else(|| (std::array::from_fn(|_| rng.gen()), rng.gen(), rng.gen()));
        uut.rx.tdata.next = line_to_bits(&data);
        uut.rx.tkeep.next = keep.into();
        uut.rx.tlast.next = last;
        uut.control.post.next = post.is_some();
        uut.control.post_pair.next = 12.into();
        uut.control.post_region.next = 1.into();
        uut.control.post_domain.next = DOMAIN.into();
        if let Some(words) = post {
            uut.control.post_pair.next = u64::from(words[15]).into();
            uut.control.stage.next =
                words.iter().rev().fold(bits::<512>(0), |all, word| all << 32 | bits::<512>((*word).into()));
        }
        uut.tx.tready.next = !self.stalls && rng.gen_bool(0.7);
        uut.write.ready.next = rng.gen_bool(0.7);
        let done = (!self.outstanding.is_empty() && rng.gen_bool(0.5))
            .then(|| self.outstanding.remove(rng.gen_range(0..self.outstanding.len())).unwrap());
        uut.write.written.valid.next = done.is_some();
        uut.write.written.tag.next = done.unwrap_or(0).into();
        uut.read.ready.next = rng.gen_bool(0.7);
        let answered = (!self.reads.is_empty() && rng.gen_bool(0.5))
            .then(|| self.reads.swap_remove(rng.gen_range(0..self.reads.len())));
        uut.read.response.valid.next = answered.is_some();
        uut.read.response.tag.next = answered.map_or(0, |read| read.0).into();
        let line = answered.map_or(0, |read| read.1);
        let data = std::array::from_fn(|i| source(line * 64 + i as u32));
        uut.read.response.data.next = line_to_bits(&data);
        settle(uut);
        let mut gone = None;
        if uut.tx.tvalid.val() && uut.tx.tready.val() {
            let beat = (bits_to_line(uut.tx.tdata.val()), uut.tx.tkeep.val().to_u64(), uut.tx.tlast.val());
            self.partial.extend_from_slice(&beat.0[..beat.1.count_ones() as usize]);
            if beat.2 {
                self.sent.push(std::mem::take(&mut self.partial));
            }
            gone = Some(beat);
        }
        if uut.write.valid.val() && uut.write.ready.val() {
            let (line, data) = (uut.write.line.val().to_u64() as u32, bits_to_line(uut.write.data.val()));
            for i in (0..64u32).filter(|i| uut.write.strobe.val().get_bit(*i as usize)) {
                self.memory.insert(line * 64 + i, data[i as usize]);
            }
            self.outstanding.push_back(uut.write.tag.val().to_u64());
        }
        if uut.read.valid.val() && uut.read.ready.val() {
            self.reads.push((uut.read.tag.val().to_u64(), uut.read.line.val().to_u64() as u32));
        }
        self.performed += usize::from(uut.writer.performed.val());
        let cause = match uut.receiver.cause.val().to_u64() {
            0 if uut.receiver.unknown.val() => 8,
            0 if uut.receiver.refused.val() => 9,
            0 if uut.receiver.newer.val() => 10,
            0 if uut.receiver.repeated.val() => 11,
            cause => cause,
        };
        if cause != 0 {
            *self.dropped.entry(cause).or_default() += 1;
        }
        if uut.control.completed.val() {
            match uut.control.code.val().to_u64() {
                code::DONE => self.completed += 1,
                code => self.failed.push(code),
            }
        }
        tick!(*self.uut);
        gone
    }

    fn busy(&mut self) -> bool {
        settle(&mut *self.uut);
        self.uut.control.post_refused.val()
    }
}

/// Bytes of memory that commands read: they are not those that peers write.
fn source(address: u32) -> u8 {
    (address.wrapping_mul(0x9e37_79b1) >> 11) as u8
}

/// Data, keep, last.
type Beat = ([u8; 64], u64, bool);

/// A put of `bytes` to `remote`, for queue pair `pair` (told in word 15 of the test).
fn put(remote: u32, bytes: &[u8], pair: u64) -> [u32; 16] {
    let mut words = [0; 16];
    words[0] = 1 | 1 << 10;
    words[1] = remote;
    words[3] = bytes.len() as u32;
    for (i, byte) in bytes.iter().take(16).enumerate() {
        words[4 + i / 4] |= u32::from(*byte) << (8 * (i % 4));
    }
    // What is behind the bytes is not sent.
    for (i, word) in words.iter_mut().enumerate().skip(4).take(4) {
        for byte in 0..4 {
            if 4 * (i - 4) + byte >= bytes.len() {
                *word |= 0xa5 << (8 * byte);
            }
        }
    }
    words[15] = pair as u32;
    words
}

/// Both nodes put bytes into each other's memory, at once: half of the puts bytes of memory, as
/// many as a packet has. Gives the nodes, and the places and payloads of the puts of each. Longer
/// ones, and bad wires, are in the tests of the Verilog: this simulation is slow.
#[allow(clippy::type_complexity)]
fn put_both_ways(puts: usize) -> ([Node; 2], [Vec<(u32, Vec<u8>)>; 2]) {
    let mut rng = random("net_interface");
    let mut nodes = [Node::new(0), Node::new(1)];
    let mut wires: [VecDeque<Beat>; 2] = Default::default();
    let mut open: [Vec<Beat>; 2] = Default::default();
    let mut expected: [BTreeMap<u32, u8>; 2] = Default::default();
    let mut payloads: [Vec<(u32, Vec<u8>)>; 2] = Default::default();
    let mut cycles = 0;
    while nodes.iter().any(|node| node.completed < puts) {
        cycles += 1;
        let state = nodes.each_ref().map(|node| (node.completed, &node.dropped, &node.failed));
        assert!(cycles < 20_000 + 3_000 * puts, "{state:?}");
        for node in 0..2 {
            let peer = 1 - node;
            let mut post = None;
            if payloads[node].len() < puts && !nodes[node].busy() && rng.gen_bool(0.2) {
                let from_memory = rng.gen_bool(0.5);
                let length = rng.gen_range(1..=if from_memory { 256 } else { 16 });
                let local = WINDOW[node] + rng.gen_range(0..=WINDOW_BYTES - length);
                let bytes: Vec<u8> = match from_memory {
                    true => (local..local + length).map(source).collect(),
                    false => (0..length).map(|_| rng.gen()).collect(),
                };
                let offset = rng.gen_range(0..=WINDOW_BYTES - length);
                for (i, byte) in bytes.iter().enumerate() {
                    expected[peer].insert(WINDOW[peer] + offset + i as u32, *byte);
                }
                let mut words = put(WINDOW[node] + offset, &bytes, PAIR[node]);
                if from_memory {
                    [words[0], words[2]] = [1, local];
                }
                post = Some(words);
                payloads[node].push((offset, bytes));
            }
            let beat = if rng.gen_bool(0.6) { wires[node].pop_front() } else { None };
            if let Some(beat) = nodes[node].cycle(beat, post, &mut rng) {
                open[node].push(beat);
                if beat.2 {
                    wires[peer].extend(&open[node]);
                    open[node].clear();
                }
            }
        }
    }
    for node in 0..2 {
        assert_eq!(nodes[node].memory, expected[node]);
        let packets: usize = payloads[node].iter().map(|(_, bytes)| bytes.len().div_ceil(256)).sum();
        assert_eq!(nodes[node].completed, puts);
        assert_eq!(nodes[1 - node].performed, packets, "each packet once");
        assert!(nodes[node].dropped.is_empty() && nodes[node].failed.is_empty(), "{:?}", nodes[node].dropped);
    }
    (nodes, payloads)
}

#[test]
fn puts_arrive() {
    let (nodes, payloads) = put_both_ways(10);
    for node in 0..2 {
        let peer = 1 - node;
        // The frames, byte by byte; the sequence numbers go round.
        let sent = nodes[node].sent.iter().filter(|frame| frame[42] == 0x0a);
        for (number, (sent, (offset, payload))) in sent.zip(&payloads[node]).enumerate() {
            let reth = bits::<224>((WINDOW[peer] + offset).into()) << 160
                | bits::<224>(KEY.into()) << 128
                | bits::<224>(payload.len() as u64) << 96;
            let head = FrameHead {
                queue_pair: PAIR[node].into(),
                mac: identity(peer).mac,
                ip: identity(peer).ip,
                opcode: 0x0a.into(),
                acknowledge: true,
                remote: PAIR[peer].into(),
                sequence: ((0xff_fff0 + (node + number) as u64) & 0xff_ffff).into(),
                extension: reth,
                extension_words: 4.into(),
                bytes: (payload.len() as u64).into(),
            };
            assert_eq!(*sent, frame(&head, &identity(node), payload), "put {number} of node {node}");
        }
        // The answers, each for a packet that came, in order
        let answers = nodes[node].sent.iter().filter(|frame| frame[42] == 0x11);
        let (mut last, mut count) = (0, 0);
        for bytes in answers {
            let sequence = u64::from_be_bytes([0, 0, 0, 0, 0, bytes[51], bytes[52], bytes[53]]);
            let covers = (sequence.wrapping_sub(0xff_fff0 + peer as u64) & 0xff_ffff) + 1;
            assert!(covers > last && covers <= 10, "{covers} behind {last}");
            let head = FrameHead {
                queue_pair: PAIR[node].into(),
                mac: identity(peer).mac,
                ip: identity(peer).ip,
                opcode: 0x11.into(),
                acknowledge: false,
                remote: PAIR[peer].into(),
                sequence: sequence.into(),
                extension: bits::<224>(0x1f << 24 | covers) << 192,
                extension_words: 1.into(),
                bytes: 0.into(),
            };
            assert_eq!(*bytes, frame(&head, &identity(node), &[]));
            (last, count) = (covers, count + 1);
        }
        assert!(last == 10 && count > 2, "{last} {count}");
    }
}

#[test]
fn puts_that_cannot_be() {
    let mut rng = random("net_interface");
    let mut node = Node::new(0);
    let here = WINDOW[0];
    let bytes = [7; 16];
    let cases = [
        (put(here - 1, &bytes, PAIR[0]), 0x83),
        (put(here + WINDOW_BYTES - 15, &bytes, PAIR[0]), 0x83),
        (put(here + WINDOW_BYTES, &bytes[..1], PAIR[0]), 0x83),
        (put(here, &[], PAIR[0]), 0x84),
        (put(here, &[0; 17], PAIR[0]), 0x84),
        (put(here, &bytes, 4), 0x88),
    ];
    let mut codes: Vec<u64> = cases.iter().map(|case| case.1).collect();
    for (words, _) in cases {
        node.cycle(None, Some(words), &mut rng);
        for _ in 0..20 {
            node.cycle(None, None, &mut rng);
        }
    }
    // Operations that are not there, bytes that no region has, and a reserved bit.
    for (command, code) in [(0, 0x80), (3, 0x80), (2, 0x82), (5, 0x84), (1, 0x82), (1 | 1 << 11, 0x8a)] {
        codes.push(code);
        let mut words = put(here, &bytes, PAIR[0]);
        words[0] = command;
        node.cycle(None, Some(words), &mut rng);
        for _ in 0..20 {
            node.cycle(None, None, &mut rng);
        }
    }
    assert_eq!(node.failed, codes);
    assert!(node.sent.is_empty() && node.partial.is_empty());
}

/// Sends frames to a node, and gives it time to judge each.
fn feed(node: &mut Node, bytes: &[u8], rng: &mut rand_chacha::ChaCha8Rng) {
    let beats = bytes.chunks(64).count();
    for (index, part) in bytes.chunks(64).enumerate() {
        let mut data = [0; 64];
        data[..part.len()].copy_from_slice(part);
        node.cycle(Some((data, u64::MAX >> (64 - part.len()), index + 1 == beats)), None, rng);
    }
    // Sixteen bytes are judged in a cycle.
    for _ in 0..90 + bytes.len() / 12 {
        node.cycle(None, None, rng);
    }
}

/// RETH: address, key, length.
fn reth(address: u64, key: u32, length: u32) -> Bits<224> {
    bits::<224>(address) << 160 | bits::<224>(key.into()) << 128 | bits::<224>(length.into()) << 96
}

/// A WRITE of 8 bytes to node 1.
fn write(sequence: u64) -> FrameHead {
    FrameHead {
        queue_pair: PAIR[0].into(),
        mac: identity(1).mac,
        ip: identity(1).ip,
        opcode: 0x0a.into(),
        acknowledge: true,
        remote: PAIR[1].into(),
        sequence: sequence.into(),
        extension: reth(WINDOW[1].into(), KEY, 8),
        extension_words: 4.into(),
        bytes: 8.into(),
    }
}

/// Frames that are not for a queue pair, that it does not expect, or that are broken: nothing is
/// written.
#[test]
fn frames_that_are_dropped() {
    let mut rng = random("net_interface");
    let mut node = Node::new(1);
    let expected = 0xff_fff0;
    let from = |head: FrameHead, who: NetIdentity| frame(&head, &who, b"12345678");
    let good = write(expected);
    let peer = identity(0);
    let mut broken = from(good, peer);
    broken[75] ^= 4;
    let frames = [
        // Too early, and again: no payload is written.
        (10, from(write(expected + 1), peer)),
        (11, from(write(expected - 1), peer)),
        (8, from(FrameHead { remote: PAIR[0].into(), ..good }, peer)),
        (8, from(FrameHead { remote: (PAIR[1] + 16).into(), ..good }, peer)),
        (8, from(good, NetIdentity { ip: 7.into(), ..peer })),
        (4, from(FrameHead { ip: 7.into(), ..good }, peer)),
        (6, broken),
        (0, from(good, peer)),
    ];
    let mut counts = BTreeMap::new();
    for (cause, bytes) in &frames {
        if *cause != 0 {
            *counts.entry(*cause).or_insert(0) += 1;
        }
        assert!(node.memory.is_empty(), "before the good one");
        feed(&mut node, bytes, &mut rng);
    }
    assert_eq!((node.dropped.clone(), node.performed), (counts, 1));
    let written: Vec<u8> = (0..8).map(|i| node.memory[&(WINDOW[1] + i)]).collect();
    assert_eq!((written.as_slice(), node.memory.len()), (&b"12345678"[..], 8));
}

/// `enable` counts in the first beat of a frame: one that falls behind it does not cut the frame,
/// and one that rises behind it does not let the rest of a frame in.
#[test]
fn enable_counts_in_the_first_beat_of_a_frame() {
    let mut rng = random("net_interface");
    for enabled_first in [true, false] {
        let mut node = Node::new(1);
        let bytes = frame(&write(0xff_fff0), &identity(0), b"12345678");
        assert_eq!(bytes.chunks(64).count(), 2);
        for (index, part) in bytes.chunks(64).enumerate() {
            let mut data = [0; 64];
            data[..part.len()].copy_from_slice(part);
            node.uut.control.enable.next = (index == 0) == enabled_first;
            node.cycle(Some((data, u64::MAX >> (64 - part.len()), index == 1)), None, &mut rng);
        }
        for _ in 0..100 {
            node.cycle(None, None, &mut rng);
        }
        assert_eq!((node.performed, node.dropped.len()), (usize::from(enabled_first), 0));
    }
}

/// A message without bytes is taken whatever its key is; a region that goes away in the midst of a
/// message ends it.
#[test]
fn regions_count_for_each_packet() {
    let mut rng = random("net_interface");
    let mut node = Node::new(1);
    let good = write(0xff_fff0);
    let window = u64::from(WINDOW[1]);
    let heads = [
        FrameHead { bytes: 0.into(), extension: reth(7, 7, 0), ..good },
        FrameHead {
            sequence: 0xff_fff1.into(),
            opcode: 6.into(),
            bytes: 256.into(),
            extension: reth(window, KEY, 600),
            ..good
        },
        FrameHead {
            sequence: 0xff_fff2.into(),
            opcode: 7.into(),
            bytes: 256.into(),
            extension: 0.into(),
            extension_words: 0.into(),
            ..good
        },
    ];
    for (number, head) in heads.iter().enumerate() {
        if number == 2 {
            node.uut.control.regions.write.next = true;
            node.uut.control.regions.pair.next = 1.into();
            node.uut.control.regions.word.next = region_word::RIGHTS.into();
            node.uut.control.regions.value.next = (1 | DOMAIN << 4).into();
            node.cycle(None, None, &mut rng);
            node.uut.control.regions.write.next = false;
        }
        feed(&mut node, &frame(head, &identity(0), &vec![0x55; head.bytes.index()]), &mut rng);
    }
    assert_eq!((node.memory.len(), node.performed), (256, 1));
    let answers: Vec<(u8, u8, u8)> =
        node.sent.iter().map(|bytes| (bytes[53], bytes[54], bytes[57])).collect();
    assert_eq!(answers, [(0xf0, 0x1f, 1), (0xf1, 0x1f, 1), (0xf2, 0x62, 1)]);
}

/// While the link takes nothing, with a frame that waits to be sent, puts and answers behind it,
/// the host reads and writes the table.
#[test]
fn the_host_gets_through_while_the_link_stalls() {
    let mut rng = random("net_interface");
    let mut node = Node::new(1);
    node.stalls = true;
    let bytes = |sequence: u64| frame(&write(sequence), &identity(0), b"12345678");
    for sequence in 0..3 {
        let bytes = bytes(0xff_fff0 + sequence);
        let beats = bytes.chunks(64).count();
        for (index, part) in bytes.chunks(64).enumerate() {
            let mut data = [0; 64];
            data[..part.len()].copy_from_slice(part);
            node.cycle(Some((data, u64::MAX >> (64 - part.len()), index + 1 == beats)), None, &mut rng);
        }
        node.cycle(None, Some(put(WINDOW[1], &[1], PAIR[1])), &mut rng);
        for _ in 0..100 {
            node.cycle(None, None, &mut rng);
        }
    }
    assert_eq!((node.performed, node.sent.len()), (3, 0));
    for write in [false, true] {
        node.uut.control.table.read.next = !write;
        node.uut.control.table.write.next = write;
        node.uut.control.table.pair.next = 5.into();
        node.uut.control.table.word.next = word::EXPECT.into();
        let mut waited = 0;
        settle(&mut *node.uut);
        while node.uut.control.table.waits.val() {
            waited += 1;
            assert!(waited < 20, "write: {write}");
            node.cycle(None, None, &mut rng);
            settle(&mut *node.uut);
        }
        node.cycle(None, None, &mut rng);
    }
    node.uut.control.table.write.next = false;
    node.stalls = false;
    for _ in 0..200 {
        node.cycle(None, None, &mut rng);
    }
    assert!(node.sent.len() > 3, "{}", node.sent.len());
}
