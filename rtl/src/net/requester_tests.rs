//! The sender against peers that lose, repeat and reorder.

use super::*;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use crate::types::code;
use rand::seq::SliceRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const WINDOW_BASE: u32 = 0x4000;
const WINDOW_BYTES: u32 = 0x1_0000;
const PAIRS: usize = 16;
/// Region 3 may be read, region 4 not.
const REGION: u64 = 3;
const REGION_BASE: u32 = 0x1_0000;
const REGION_BYTES: u32 = 0x8000;
/// Who posts.
const OWNERS: u64 = 4;
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
        depth: (4 + pair as u64).into(),
    }
}

/// A command of these words.
fn command(words: [u32; 8]) -> PostedCommand {
    PostedCommand {
        words: words.iter().rev().fold(bits::<256>(0), |all, word| all << 32 | bits::<256>((*word).into())),
        pair: 0.into(),
        region: REGION.into(),
        domain: 5.into(),
        owner: 0.into(),
        context: 0.into(),
        index: 0.into(),
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

/// A get of `bytes` bytes of the window to the region, from `place` of it on.
fn get_to(offset: u32, bytes: u32, place: u32) -> PostedCommand {
    command([2, WINDOW_BASE.wrapping_add(offset), REGION_BASE.wrapping_add(place), bytes, 0, 0, 0, 0])
}

/// A get of up to eight bytes, which are its result.
fn get(offset: u32, bytes: u32) -> PostedCommand {
    command([2 | 1 << 10, WINDOW_BASE + offset, 0, bytes, 0, 0, 0, 0])
}

/// An addition or a comparison at a multiple of eight.
fn atomic(swap: bool, offset: u32, value: u64, compare: u64) -> PostedCommand {
    let [a, b] = [value, compare].map(|value| [value as u32, (value >> 32) as u32]);
    command([if swap { 5 } else { 4 }, WINDOW_BASE + offset, 0, 8, a[0], a[1], b[0], b[1]])
}

/// The bytes of the window of a peer, which nothing changes here.
fn remote(offset: u32, bytes: u32) -> Vec<u8> {
    (offset..offset + bytes).map(|at| (at.wrapping_mul(0x85eb_ca6b) >> 13) as u8).collect()
}

/// The result of a short get.
fn value_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
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
    /// Offset and length of the message, with its first packet; of a READ too.
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
    /// Payloads that the peer took: offset and bytes.
    taken: Vec<(u32, Vec<u8>)>,
    /// Results of atomic operations, by their packets.
    results: BTreeMap<u32, u64>,
}

/// What a command under way waits for.
#[derive(Clone, Debug)]
enum Due {
    Acknowledged,
    /// Bytes that are to come to this address, that came, and that are in memory.
    Bytes {
        address: u32,
        bytes: u32,
        came: u32,
        there: u32,
    },
    /// A result.
    Value(u64),
    /// The result of an atomic operation, which the peer decides.
    Atomic,
}

/// A command that was posted: who, in which context, and what it waits for.
#[derive(Clone, Debug)]
struct Posted {
    owner: u64,
    context: u64,
    due: Due,
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

/// One of those with fewer than `entries` commands under way.
fn free_owner(under_way: &[Vec<Posted>], entries: usize, rng: &mut ChaCha8Rng) -> Option<u64> {
    let count = |who: u64| under_way.iter().flatten().filter(|posted| posted.owner == who).count();
    let free: Vec<u64> = (0..OWNERS).filter(|who| count(*who) < entries).collect();
    free.choose(rng).copied()
}

struct Bench {
    uut: Requester,
    rng: ChaCha8Rng,
    /// Commands of an owner that may be under way.
    entries: usize,
    first: [u32; PAIRS],
    up: u64,
    errors: u64,
    peers: Vec<Peer>,
    /// Offset of what was posted, and what became of it.
    posted: Vec<VecDeque<(u32, Vec<u8>)>>,
    completed: Vec<Vec<u64>>,
    /// The queue pairs of what was completed are known by their order in each list: this is the
    /// order of all posts.
    cycle: u64,
    /// The commands of each queue pair that are under way.
    under_way: Vec<Vec<Posted>>,
    /// Results of atomic operations that the peers gave.
    results: Vec<VecDeque<u64>>,
    /// The response that is judged, and the payloads that are being written: when they are there.
    response: Option<PeerAnswer>,
    gots: VecDeque<(u64, usize, u32)>,
    /// READs that were sent.
    reads: u64,
    /// Places that are taken.
    places: BTreeSet<u64>,
    packets: Vec<Packet>,
    answers: Vec<(u64, PeerAnswer)>,
    answer: Option<PeerAnswer>,
    busy: u64,
    region: Region,
    reading: u64,
    fault: Option<PayloadFault>,
    /// An answer always waits for the builder, which it takes in turn with packets: whether it took
    /// the last turn.
    answers_wait: Option<bool>,
    /// Cycle in which the last response of all leaves: they share a link.
    responds_at: u64,
    resent: u64,
    stray: u64,
    timed_out: u64,
    /// Percentage of the packets of puts for which a peer is not ready; `rested` counts these.
    not_ready: u32,
    rested: u64,
    /// Bytes of the longest put from memory.
    long: u32,
}

impl Bench {
    fn new(name: &str) -> Self {
        Self::with_entries(name, 8)
    }

    /// Each owner may have so many commands under way.
    fn with_entries(name: &str, entries: usize) -> Self {
        Self::with_window(name, entries, 32)
    }

    /// At most so many packets of a queue pair are under way.
    fn with_window(name: &str, entries: usize, window: u64) -> Self {
        let mut rng = random(name);
        let mut uut = Requester::new(2, entries);
        reset!(uut);
        uut.window.next = window.into();
        uut.timeout.next = 400.into();
        uut.retries.next = 7.into();
        let first: [u32; PAIRS] = std::array::from_fn(|_| 0xff_ffff & (0xff_fff8 + rng.gen_range(0..10)));
        let peers = first.iter().map(|first| Peer { expected: *first, ..Peer::default() }).collect();
        let mut bench = Self {
            uut,
            rng,
            entries,
            first,
            up: 0,
            errors: 0,
            peers,
            posted: vec![VecDeque::new(); PAIRS],
            completed: vec![vec![]; PAIRS],
            cycle: 0,
            under_way: vec![vec![]; PAIRS],
            results: vec![VecDeque::new(); PAIRS],
            response: None,
            gots: VecDeque::new(),
            reads: 0,
            places: BTreeSet::new(),
            packets: vec![],
            answers: vec![],
            answer: None,
            busy: 0,
            region: Region {
                valid: true,
                domain: 5.into(),
                rights: 0x18.into(),
                address: u64::from(REGION_BASE).into(),
                bytes: u64::from(REGION_BYTES).into(),
                key: 0.into(),
            },
            reading: 0,
            fault: None,
            answers_wait: None,
            responds_at: 0,
            resent: 0,
            stray: 0,
            timed_out: 0,
            not_ready: 0,
            rested: 0,
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
        uut.post_valid.next = post.is_some();
        if let Some((pair, command)) = post {
            let (owner, context) =
                (free_owner(&self.under_way, self.entries, rng).expect("room"), rng.gen_range(0..4u64));
            self.under_way[pair].push(Posted { owner, context, due: due(&command) });
            uut.post.next = PostedCommand {
                pair: (pair as u64).into(),
                owner: owner.into(),
                context: context.into(),
                ..command
            };
        }
        uut.completed_ready.next = rng.gen_bool(0.8);
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
        let got = self.gots.front().copied().filter(|(due, ..)| *due <= self.cycle);
        uut.got_valid.next = got.is_some();
        let (_, got_pair, got_sequence) = got.unwrap_or_default();
        uut.got_pair.next = (got_pair as u64).into();
        uut.got_sequence.next = u64::from(got_sequence).into();
        let writing = self.gots.iter().fold(0, |all, (_, pair, _)| all | 1 << pair)
            | self.response.map_or(0, |response| 1 << response.pair.index());
        uut.moving.next = (self.reading | writing).into();
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
            self.reads += u64::from(opcode == 0x0c);
            let begins = [0x06, 0x0a, 0x0c, 0x13, 0x14].contains(&opcode).then(|| {
                let words = if opcode > 0x10 { 7 } else { 4 };
                assert_eq!(
                    (head.extension_words.to_u64(), head.extension.get_bits::<32>(128)),
                    (words, expected.key)
                );
                let address = head.extension.get_bits::<64>(160).to_u64();
                let length = head.extension.get_bits::<32>(96).to_u64() as u32;
                ((address - expected.base.to_u64()) as u32, length)
            });
            let source = uut.source.val();
            let is_put = opcode < 0x0c;
            assert_eq!(uut.source_valid.val(), is_put);
            assert_eq!((source.pair.index(), source.sequence), (pair, head.sequence));
            assert_eq!(head.bytes.index(), if is_put { source.bytes.index() } else { 0 });
            let bytes = match source.memory {
                _ if !is_put => vec![],
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
        if uut.got_valid.val() && uut.got_ready.val() {
            let (_, pair, _) = self.gots.pop_front().expect("it was offered");
            let bytes = self.under_way[pair].iter_mut().find_map(|posted| match &mut posted.due {
                Due::Bytes { came, there, .. } if *there < *came => Some((came, there)),
                _ => None,
            });
            // The commands of a queue pair that is down end when all of it is there.
            let (came, there) = bytes.expect("a response came");
            *there = (*there + (1 << MTU)).min(*came);
        }
        if uut.judged.val() {
            let response = self.response.take().expect("a response was given");
            let pair = response.pair.index();
            if uut.lands.val() {
                let due = self.under_way[pair].iter_mut().find_map(|posted| match &mut posted.due {
                    Due::Bytes { address, bytes, came, .. } if *came < *bytes => Some((address, bytes, came)),
                    _ => None,
                });
                let (address, bytes, came) = due.expect("bytes are to come");
                let size = (*bytes - *came).min(1 << MTU);
                assert_eq!(uut.land_address.val().to_u64(), u64::from(*address + *came));
                assert_eq!(response.bytes.to_u64(), u64::from(size));
                *came += size;
                let due = self.cycle + rng.gen_range(1..40);
                let due = self.gots.back().map_or(due, |(last, ..)| due.max(*last));
                self.gots.push_back((due, pair, response.sequence.to_u64() as u32));
            }
        }
        if uut.answer_valid.val() && uut.answer_ready.val() {
            if self.answer.is_some_and(|answer| answer.response) {
                assert!(self.response.is_none());
                self.response = self.answer;
            }
            self.answer = None;
        }
        self.resent += u64::from(uut.resent.val());
        self.stray += u64::from(uut.stray.val());
        self.timed_out += u64::from(uut.timed_out.val());
        // A command that is complete is the oldest of the queue pair that is worked at.
        let done = uut.completed.val().then(|| (uut.pair.q.val().index(), uut.completed_code.val().to_u64()));
        if let Some((pair, code)) = done {
            assert!(uut.completed_ready.val());
            let who = (uut.completed_owner.val().to_u64(), uut.completed_context.val().to_u64());
            let under_way = &mut self.under_way[pair];
            let place = under_way.iter().position(|posted| (posted.owner, posted.context) == who);
            let place = place.expect("it was posted");
            let posted = under_way.remove(place);
            if code == code::DONE {
                assert!(place == 0, "commands are done in their order");
                let value = uut.completed_result.val().then(|| uut.completed_value.val().to_u64());
                match posted.due {
                    Due::Acknowledged => assert_eq!(value, None),
                    Due::Bytes { bytes, came, there, .. } => {
                        assert_eq!((came, there, value), (bytes, bytes, None))
                    }
                    Due::Value(due) => assert_eq!(value, Some(due)),
                    Due::Atomic => assert_eq!(value, self.results[pair].pop_front()),
                }
            }
        }
        if uut.table.write.val() {
            let place = uut.table.free.val().to_u64();
            assert!(
                place / self.entries as u64 == uut.table.entry.val().owner.to_u64()
                    && self.places.insert(place)
            );
        }
        if uut.table.release.val() {
            assert!(self.places.remove(&uut.table.at.val().to_u64()));
        }
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

    /// Posts a put, a get or an atomic operation at random for one of the first `pairs` queue
    /// pairs, if there is room.
    fn random_post(&mut self, pairs: usize) -> Option<(usize, PostedCommand)> {
        settle(&mut self.uut);
        if !self.has_room() || !self.rng.gen_bool(0.2) {
            return None;
        }
        let pair = self.rng.gen_range(0..pairs);
        if self.rng.gen_bool(0.4) {
            let bytes = self.rng.gen_range(1..=self.long);
            let (short, place) = (self.rng.gen_range(1..=8), self.rng.gen_range(0..=REGION_BYTES - bytes));
            let offset = self.rng.gen_range(0..=WINDOW_BYTES - bytes.max(8));
            let command = match self.rng.gen_range(0..10) {
                0 => get(offset, short),
                1 => atomic(self.rng.gen(), offset & !7, self.rng.gen(), self.rng.gen()),
                _ => get_to(offset, bytes, place),
            };
            return Some((pair, command));
        }
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
        while !self.has_room() {
            self.cycle(None, wire);
        }
        self.cycle(Some((pair, command)), wire);
    }

    /// A command can be posted: it would be taken, and somebody has room.
    fn has_room(&mut self) -> bool {
        settle(&mut self.uut);
        self.uut.post_ready.val() && free_owner(&self.under_way, self.entries, &mut self.rng).is_some()
    }

    fn under_way(&self) -> usize {
        self.under_way.iter().map(Vec::len).sum()
    }
}

/// What a command waits for.
fn due(command: &PostedCommand) -> Due {
    let word = |index: usize| command.words.get_bits::<32>(32 * index).to_u64() as u32;
    match (word(0) & 0xff, word(0) >> 10 & 1) {
        (2, 0) => Due::Bytes { address: word(2), bytes: word(3), came: 0, there: 0 },
        (2, _) => Due::Value(value_of(&remote(word(1).wrapping_sub(WINDOW_BASE), word(3).min(8)))),
        (4 | 5, _) => Due::Atomic,
        _ => Due::Acknowledged,
    }
}

#[path = "requester_failure_tests.rs"]
mod failure_tests;
#[path = "requester_loss_tests.rs"]
mod loss_tests;
#[path = "requester_peers.rs"]
mod peers;
