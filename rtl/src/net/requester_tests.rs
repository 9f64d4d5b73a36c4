//! The sender against peers that lose, repeat and reorder.

use super::*;
use crate::memory::testing::{random, reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

const WINDOW_BASE: u32 = 0x4000;
const WINDOW_BYTES: u32 = 0x1_0000;
const PAIRS: usize = 16;
/// Region 3 may be read, region 4 not.
const REGION: u64 = 3;
const REGION_BASE: u32 = 0x1_0000;
const REGION_BYTES: u32 = 0x8000;
/// Packets of 256 bytes.
const MTU: u32 = 8;

/// The row of a queue pair.
fn row(pair: usize, up: bool, sequence: u32) -> SendPair {
    SendPair {
        up,
        domain: 5.into(),
        mtu: u64::from(MTU).into(),
        remote: (0x100 + pair as u64).into(),
        mac: (0x0200_0000_0000 + pair as u64).into(),
        ip: (0x0a00_0000 + pair as u64).into(),
        key: (77 * pair as u64).into(),
        window: u64::from(WINDOW_BASE).into(),
        bytes: u64::from(WINDOW_BYTES).into(),
        base: (0x7_0000_0000u64 + (pair as u64) * 0x10_0000).into(),
        sequence: u64::from(sequence).into(),
    }
}

/// A command of these words.
fn command(words: [u32; 8]) -> PostedCommand {
    PostedCommand {
        words: words.iter().rev().fold(bits::<256>(0), |all, word| all << 32 | bits::<256>((*word).into())),
        pair: 0.into(),
        region: REGION.into(),
        domain: 5.into(),
    }
}

/// A put of `bytes` bytes, all of them `value`, to `offset` of the window.
fn put(offset: u32, bytes: u32, value: u8) -> PostedCommand {
    let [a, b, c, d] = [u32::from_le_bytes([value; 4]); 4];
    command([1 | 1 << 10, WINDOW_BASE + offset, 0, bytes, a, b, c, d])
}

/// A put of `bytes` bytes of the region, from `place` of it on.
fn put_from(offset: u32, bytes: u32, place: u32) -> PostedCommand {
    command([1, WINDOW_BASE.wrapping_add(offset), REGION_BASE.wrapping_add(place), bytes, 0, 0, 0, 0])
}

/// Bytes of memory.
fn memory(address: u32, bytes: u32) -> Vec<u8> {
    (address..address + bytes).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 11) as u8).collect()
}

/// A packet on its way.
#[derive(Clone)]
struct Packet {
    due: u64,
    pair: usize,
    sequence: u32,
    opcode: u64,
    acknowledge: bool,
    /// Offset and length of the message, with its first packet.
    begins: Option<(u32, u32)>,
    bytes: Vec<u8>,
}

/// A peer's end of a queue pair, as the specification has it.
#[derive(Clone, Default)]
struct Peer {
    expected: u32,
    told: bool,
    /// A message that has begun: offset, length, and what came of it.
    message: Option<(u32, u32, Vec<u8>)>,
    /// What it took: offset and bytes.
    taken: Vec<(u32, Vec<u8>)>,
}

impl Peer {
    fn take(&mut self, packet: &Packet) {
        let (offset, length, mut bytes) = match packet.begins {
            Some((offset, length)) => {
                assert!(self.message.is_none() && [6, 10].contains(&packet.opcode));
                (offset, length, vec![])
            }
            None => self.message.take().expect("a message"),
        };
        bytes.extend_from_slice(&packet.bytes);
        let left = length as usize - bytes.len();
        if [8, 10].contains(&packet.opcode) {
            assert!(left == 0 && packet.acknowledge);
            self.taken.push((offset, bytes));
        } else {
            assert!(left > 0 && packet.bytes.len() == 1 << MTU);
            self.message = Some((offset, length, bytes));
        }
    }
}

/// How good the wire is: chances in percent, and whether a queue pair answers.
#[derive(Clone, Copy)]
struct Wire {
    loss: u32,
    repeat: u32,
    reorder: u32,
    delay: u64,
    silent: Option<usize>,
}

struct Bench {
    uut: Requester,
    rng: ChaCha8Rng,
    first: [u32; PAIRS],
    up: u64,
    errors: u64,
    peers: Vec<Peer>,
    /// Offset of what was posted, and what became of it.
    posted: Vec<VecDeque<(u32, Vec<u8>)>>,
    completed: Vec<Vec<u64>>,
    /// The queue pairs of what was completed are known by their order in each list: this is the order of all posts.
    cycle: u64,
    packets: Vec<Packet>,
    answers: Vec<(u64, PeerAnswer)>,
    answer: Option<PeerAnswer>,
    busy: u64,
    region: Region,
    reading: u64,
    fault: Option<PayloadFault>,
    /// An answer always waits for the builder, which it takes in turn with packets: whether it took the last turn.
    answers_wait: Option<bool>,
    resent: u64,
    timed_out: u64,
    /// Bytes of the longest put from memory.
    long: u32,
}

impl Bench {
    fn new(name: &str) -> Self {
        let mut rng = random(name);
        let mut uut = Requester::default();
        reset!(uut);
        uut.window.next = 32.into();
        uut.timeout.next = 400.into();
        uut.retries.next = 7.into();
        let first: [u32; PAIRS] = std::array::from_fn(|_| 0xff_ffff & (0xff_fff8 + rng.gen_range(0..10)));
        let peers = first.iter().map(|first| Peer { expected: *first, ..Peer::default() }).collect();
        let mut bench = Self {
            uut,
            rng,
            first,
            up: 0,
            errors: 0,
            peers,
            posted: vec![VecDeque::new(); PAIRS],
            completed: vec![vec![]; PAIRS],
            cycle: 0,
            packets: vec![],
            answers: vec![],
            answer: None,
            busy: 0,
            region: Region {
                valid: true,
                domain: 5.into(),
                rights: 8.into(),
                address: u64::from(REGION_BASE).into(),
                bytes: u64::from(REGION_BYTES).into(),
                key: 0.into(),
            },
            reading: 0,
            fault: None,
            answers_wait: None,
            resent: 0,
            timed_out: 0,
            long: 2_600,
        };
        let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1, silent: None };
        for pair in 0..PAIRS {
            bench.uut.opens.next = true;
            bench.uut.opens_pair.next = (pair as u64).into();
            bench.cycle(None, wire);
            bench.up |= 1 << pair;
        }
        bench.uut.opens.next = false;
        for _ in 0..100 {
            bench.cycle(None, wire);
        }
        bench
    }

    /// A cycle; gives the code of the command that completed, and its queue pair.
    fn cycle(&mut self, post: Option<(usize, PostedCommand)>, wire: Wire) -> Option<(usize, u64)> {
        let Self { uut, rng, .. } = self;
        uut.post.next = post.is_some();
        if let Some((pair, command)) = post {
            uut.post_command.next = PostedCommand { pair: (pair as u64).into(), ..command };
        }
        uut.ups.next = self.up.into();
        uut.errors.next = self.errors.into();
        if self.answer.is_none() {
            if let Some(index) = self.answers.iter().position(|(due, _)| *due <= self.cycle) {
                self.answer = Some(self.answers.remove(index).1);
            }
        }
        uut.answer_valid.next = self.answer.is_some();
        uut.answer.next = self.answer.unwrap_or_default();
        self.busy = self.busy.saturating_sub(1);
        uut.head_ready.next = self.busy == 0;
        uut.reading.next = self.reading.into();
        uut.fault_valid.next = self.fault.is_some();
        uut.fault.next = self.fault.unwrap_or_default();
        settle(uut);
        if uut.fault_valid.val() && uut.fault_ready.val() {
            self.fault = None;
        }
        if uut.looks.val() {
            uut.region.next = if uut.region_index.val() == REGION { self.region } else { Region::default() };
            settle(uut);
        }
        if uut.sends.val() {
            let pair = uut.send_pair.val().index();
            uut.send.next = row(pair, self.up >> pair & 1 == 1, self.first[pair]);
            settle(uut);
        }
        if uut.head_valid.val() {
            self.busy = if self.answers_wait.is_some() { 20 } else { rng.gen_range(3..12) };
            self.answers_wait = self.answers_wait.map(|_| false);
            let head = uut.head.val();
            let pair = head.queue_pair.index();
            let expected = row(pair, true, self.first[pair]);
            assert_eq!((head.remote, head.mac, head.ip), (expected.remote, expected.mac, expected.ip));
            let opcode = head.opcode.to_u64();
            let begins = [6, 10].contains(&opcode).then(|| {
                assert_eq!(
                    (head.extension_words.to_u64(), head.extension.get_bits::<32>(128)),
                    (4, expected.key)
                );
                let address = head.extension.get_bits::<64>(160).to_u64();
                let length = head.extension.get_bits::<32>(96).to_u64() as u32;
                ((address - expected.base.to_u64()) as u32, length)
            });
            let source = uut.source.val();
            assert_eq!(
                (source.pair.index(), source.sequence, source.bytes),
                (pair, head.sequence, head.bytes)
            );
            let bytes = match source.memory {
                true => memory(source.data.get_bits::<32>(0).to_u64() as u32, source.bytes.to_u64() as u32),
                false => (0..source.bytes.index())
                    .map(|i| source.data.get_bits::<8>(8 * i).to_u64() as u8)
                    .collect(),
            };
            let packet = Packet {
                due: self.cycle + wire.delay,
                pair,
                sequence: head.sequence.to_u64() as u32,
                opcode,
                acknowledge: head.acknowledge,
                begins,
                bytes,
            };
            for _ in 0..if rng.gen_range(0..100) < wire.repeat { 2 } else { 1 } {
                if rng.gen_range(0..100) >= wire.loss && wire.silent != Some(pair) {
                    let late = if rng.gen_range(0..100) < wire.reorder { rng.gen_range(0..100) } else { 0 };
                    self.packets.push(Packet { due: packet.due + late, ..packet.clone() });
                }
            }
        }
        if !uut.head_valid.val() && uut.head_ready.val() && self.answers_wait == Some(false) {
            self.busy = 12;
            self.answers_wait = Some(true);
        }
        if uut.answer_valid.val() && uut.answer_ready.val() {
            self.answer = None;
        }
        self.resent += u64::from(uut.resent.val());
        self.timed_out += u64::from(uut.timed_out.val());
        // A command that is complete is the oldest of the queue pair that is worked at.
        let done = uut.completed.val().then(|| (uut.pair.q.val().index(), uut.completed_code.val().to_u64()));
        if uut.fails.val() {
            let pair = uut.fails_pair.val().index();
            assert!(self.up >> pair & 1 == 1);
            self.up &= !(1 << pair);
            self.errors |= 1 << pair;
        }
        tick!(self.uut);
        self.cycle += 1;
        self.receive(wire);
        if let Some((pair, code)) = done {
            self.completed[pair].push(code);
        }
        done
    }

    /// The peers take packets whose time has come, and answer.
    fn receive(&mut self, wire: Wire) {
        while let Some(index) = self.packets.iter().position(|packet| packet.due <= self.cycle) {
            let packet = self.packets.remove(index);
            let Packet { pair, sequence, .. } = packet;
            let peer = &mut self.peers[pair];
            let distance = sequence.wrapping_sub(peer.expected) & 0xff_ffff;
            let (number, syndrome) = match distance {
                0 => {
                    peer.take(&packet);
                    peer.expected = (peer.expected + 1) & 0xff_ffff;
                    peer.told = false;
                    if !packet.acknowledge {
                        continue;
                    }
                    (sequence, 0x1f)
                }
                older if older >= 1 << 23 => (peer.expected.wrapping_sub(1) & 0xff_ffff, 0x1f),
                _ if peer.told => continue,
                _ => {
                    peer.told = true;
                    (peer.expected, 0x60)
                }
            };
            let answer = PeerAnswer {
                pair: (pair as u64).into(),
                sequence: u64::from(number).into(),
                syndrome: syndrome.into(),
            };
            if self.rng.gen_range(0..100) >= wire.loss {
                let late =
                    if self.rng.gen_range(0..100) < wire.reorder { self.rng.gen_range(0..100) } else { 0 };
                self.answers.push((self.cycle + wire.delay + late, answer));
            }
        }
    }

    /// Posts a put at random for one of the first `pairs` queue pairs, if there is room.
    fn random_post(&mut self, pairs: usize) -> Option<(usize, PostedCommand)> {
        settle(&mut self.uut);
        if !self.uut.has_room.val() || !self.rng.gen_bool(0.2) {
            return None;
        }
        let pair = self.rng.gen_range(0..pairs);
        if self.rng.gen_bool(0.3) {
            let bytes = self.rng.gen_range(1..=self.long);
            let offset = self.rng.gen_range(0..=WINDOW_BYTES - bytes);
            let place = self.rng.gen_range(0..=REGION_BYTES - bytes);
            self.posted[pair].push_back((offset, memory(REGION_BASE + place, bytes)));
            return Some((pair, put_from(offset, bytes, place)));
        }
        let bytes = self.rng.gen_range(1..=16);
        let (offset, value) = (self.rng.gen_range(0..=WINDOW_BYTES - bytes), self.rng.gen());
        self.posted[pair].push_back((offset, vec![value; bytes as usize]));
        Some((pair, put(offset, bytes, value)))
    }

    /// Posts a command as soon as there is room.
    fn post(&mut self, pair: usize, command: PostedCommand, wire: Wire) {
        settle(&mut self.uut);
        while !self.uut.has_room.val() {
            self.cycle(None, wire);
            settle(&mut self.uut);
        }
        self.cycle(Some((pair, command)), wire);
    }

    fn under_way(&self) -> usize {
        (0..PAIRS).map(|pair| self.posted[pair].len() - self.completed[pair].len()).sum()
    }
}

#[path = "requester_failure_tests.rs"]
mod failures;

/// Every command once, in order, whatever the wire does.
fn commands_arrive_once(name: &str, wire: Wire, commands: usize) -> Bench {
    let mut bench = Bench::new(name);
    let mut count = 0;
    while count < commands || bench.under_way() > 0 {
        let post = if count < commands { bench.random_post(5) } else { None };
        count += usize::from(post.is_some());
        bench.cycle(post, wire);
        assert!(bench.cycle < 3_000_000, "{} are under way", bench.under_way());
    }
    for pair in 0..PAIRS {
        assert!(bench.completed[pair].iter().all(|code| *code == code::DONE));
        assert!(bench.posted[pair].iter().eq(&bench.peers[pair].taken), "queue pair {pair}");
    }
    // The row is written behind the last command.
    for _ in 0..5 {
        bench.cycle(None, wire);
    }
    settle(&mut bench.uut);
    assert_eq!(bench.uut.listed.val().to_u64(), 0);
    assert!(!bench.uut.timers.runs.val().any(), "no timer runs");
    bench
}

#[test]
fn commands_arrive_once_without_loss() {
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 40, silent: None };
    let bench = commands_arrive_once("requester", wire, 500);
    assert_eq!((bench.resent, bench.timed_out), (0, 0));
}

#[test]
fn commands_arrive_once_with_loss() {
    let wire = Wire { loss: 15, repeat: 10, reorder: 20, delay: 30, silent: None };
    let bench = commands_arrive_once("requester_loss", wire, 1_500);
    assert!(bench.resent > 300 && bench.timed_out > 50, "{} {}", bench.resent, bench.timed_out);
}

#[test]
fn commands_of_one_queue_pair() {
    let wire = Wire { loss: 5, repeat: 0, reorder: 0, delay: 250, silent: None };
    let mut bench = Bench::new("requester_one");
    bench.uut.timeout.next = 4096.into();
    let mut count = 0;
    while count < 300 || bench.under_way() > 0 {
        let post = if count < 300 { bench.random_post(1) } else { None };
        count += usize::from(post.is_some());
        bench.cycle(post, wire);
        assert!(bench.cycle < 1_000_000, "{} are under way", bench.under_way());
    }
    assert!(bench.posted[0].iter().eq(&bench.peers[0].taken));
}

/// A peer that never answers: its commands end, the oldest with 0x86, the others with 0x88; the other queue pairs go on.
#[test]
fn a_silent_peer_holds_nobody_up() {
    let mut bench = Bench::new("requester_silent");
    bench.uut.timeout.next = 100.into();
    bench.uut.retries.next = 3.into();
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 20, silent: Some(2) };
    for offset in 0..3 {
        while !bench.uut.has_room.val() {
            bench.cycle(None, wire);
        }
        bench.cycle(Some((2, put(offset, 1, 1))), wire);
        bench.posted[2].push_back((offset, vec![1]));
        settle(&mut bench.uut);
    }
    let before = bench.cycle;
    let mut others = 0;
    while bench.completed[2].len() < 3 {
        let post = bench.random_post(2);
        others += u64::from(post.is_some());
        bench.cycle(post, wire);
        assert!(bench.cycle < 100_000);
    }
    // 100 + 200 + 400 + 800 cycles
    let took = bench.cycle - before;
    assert!((1_450..1_700).contains(&took), "{took} cycles");
    assert_eq!(bench.completed[2], [code::RETRIES, code::DOWN, code::DOWN]);
    assert!(others > 30, "{others}");
    // What is posted now fails at once.
    while !bench.uut.has_room.val() {
        bench.cycle(None, wire);
        settle(&mut bench.uut);
    }
    bench.posted[2].push_back((0, vec![1]));
    bench.cycle(Some((2, put(0, 1, 1))), wire);
    while bench.under_way() > 0 {
        bench.cycle(None, wire);
    }
    assert_eq!(bench.completed[2][3], code::DOWN);
    // Up again, with a fresh sequence number
    bench.errors = 0;
    bench.up |= 4;
    bench.first[2] = 0x1234;
    bench.peers[2] = Peer { expected: 0x1234, ..Peer::default() };
    bench.uut.opens.next = true;
    bench.uut.opens_pair.next = 2.into();
    bench.cycle(None, wire);
    bench.uut.opens.next = false;
    bench.posted[2].push_back((5, vec![9; 16]));
    let wire = Wire { silent: None, ..wire };
    bench.cycle(Some((2, put(5, 16, 9))), wire);
    while bench.under_way() > 0 {
        bench.cycle(None, wire);
    }
    assert_eq!(bench.completed[2][4], code::DONE);
    assert_eq!(bench.peers[2].taken, [(5, vec![9; 16])]);
}

/// What is posted without room has no effect.
#[test]
fn posts_without_room() {
    let mut bench = Bench::new("requester_room");
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 500, silent: None };
    let mut taken = 0;
    for offset in 0..200 {
        settle(&mut bench.uut);
        if bench.uut.has_room.val() {
            bench.posted[6].push_back((offset, vec![3; 2]));
            taken += 1;
        }
        bench.cycle(Some((6, put(offset, 2, 3))), wire);
    }
    while bench.under_way() > 0 {
        bench.cycle(None, wire);
        assert!(bench.cycle < 10_000);
    }
    assert_eq!((taken, &bench.completed[6]), (8, &vec![code::DONE; 8]));
    assert!(bench.posted[6].iter().eq(&bench.peers[6].taken));
}
