//! Frames of sixteen queue pairs, good and bad ones, against a plain model of what each does.

use super::*;
use crate::memory::testing::random;
use crate::testing::{poke_word, reset, settle, tick};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

const READ: u64 = opcode::RC_RDMA_READ_REQUEST;
const COMPARE_SWAP: u64 = opcode::RC_COMPARE_SWAP;
const ACK: u64 = opcode::RC_ACKNOWLEDGE;
const NUMBERS: u64 = 1 << 24;

/// What the test means by a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Good,
    /// The request is invalid: its payload is as long as none of its kind.
    Invalid,
    /// The region does not permit the request.
    Forbidden,
}

/// A queue pair, as its table and the receiver know it.
#[derive(Clone, Debug, Default)]
struct Pair {
    up: bool,
    expected: u64,
    mtu: u64,
    ip: u64,
    domain: u64,
    /// Message that has begun: address of its next byte, bytes to come, key.
    message: Option<(u64, u64, u64)>,
    /// Messages since it went up.
    messages: u64,
    /// A NAK was sent since its expected packet came.
    told: bool,
}

/// What became of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
struct Fate {
    place: Option<(PayloadPlace, AnswerMark)>,
    mark: Option<AnswerMark>,
    job: Option<ReadJob>,
    answer: Option<PeerAnswer>,
    /// The packet that is expected from then on.
    next: Option<u64>,
    closes: bool,
    cause: u64,
    unknown: bool,
    refused: bool,
    repeated: bool,
    newer: bool,
}

/// A frame, and what its neighbours do about it.
#[derive(Clone, Debug)]
struct Case {
    frame: CheckedFrame,
    means: Means,
    /// The responder has room for a READ of the queue pair.
    room: bool,
    /// Payloads of its queue pair are performed after so many cycles; never, where it must not
    /// wait.
    pending: u64,
    /// The atomic operation fails.
    fails: bool,
    /// Address of the payload of a response, if it is to be written.
    lands: Option<u64>,
    /// The queue pair goes down when the receiver has begun to look at the frame.
    falls: bool,
}

struct Bench {
    uut: Receiver,
    rng: ChaCha8Rng,
    pairs: Vec<Pair>,
    regions: Vec<Region>,
    cycle: u64,
    /// Beats of the frames that left, in their order, that are not free yet.
    held: VecDeque<u64>,
    /// A payload is read for so many cycles more.
    reading: Option<u64>,
}

impl Bench {
    fn new() -> Self {
        let mut rng = random("receiver");
        let mut uut = Receiver::default();
        reset!(uut);
        let regions: Vec<Region> = (0..16u64)
            .map(|number| Region {
                valid: true,
                domain: (number % 5).into(),
                rights: 7.into(),
                address: (number << 24).into(),
                bytes: 0x40_0000.into(),
                key: (rng.gen::<u64>() & 0xffff_fff0 | number).into(),
            })
            .collect();
        let pairs = vec![Pair::default(); 16];
        let mut bench = Self { uut, rng, pairs, regions, cycle: 0, held: VecDeque::new(), reading: None };
        for pair in 0..16 {
            bench.open(pair);
        }
        bench
    }

    /// A queue pair goes up, with a number near a place at which a counter might wrap.
    fn open(&mut self, pair: usize) {
        let edge = [0, 1 << 20, 1 << 23, NUMBERS / 2 - 1][self.rng.gen_range(0..4)];
        let expected = (edge + NUMBERS + self.rng.gen_range(0..12) - 6) % NUMBERS;
        self.pairs[pair] = Pair {
            up: true,
            expected,
            mtu: self.rng.gen_range(8..=12),
            ip: 0x0a00_0000 + pair as u64,
            domain: pair as u64 % 5,
            ..Pair::default()
        };
        self.uut.opens.next = true;
        self.uut.opens_pair.next = (pair as u64).into();
        tick!(self.uut);
        self.uut.opens.next = false;
        settle(&mut self.uut);
    }

    /// The count of messages of a queue pair that has counted one goes to `messages`.
    fn jump(&mut self, pair: usize, messages: u64) {
        if self.pairs[pair].messages > 0 {
            poke_word(&mut self.uut.counts, pair, messages.into());
            self.pairs[pair].messages = messages;
        }
    }

    /// A frame for a queue pair, most of them as it expects them.
    fn draw(&mut self, pair: usize) -> Case {
        let rng = &mut self.rng;
        let known = &self.pairs[pair];
        let mtu = 1u64 << known.mtu;
        let means = if rng.gen_bool(0.85) {
            Means::Good
        } else {
            [Means::Invalid, Means::Forbidden][rng.gen_range(0..2)]
        };
        let region = self.regions[pair];
        let base = region.address.to_u64();
        let mut key = region.key.to_u64();
        let mut frame = CheckedFrame {
            first: rng.gen_range(0..512u64).into(),
            beats: rng.gen_range(1..80u64).into(),
            cause: bits(if rng.gen_bool(0.03) { rng.gen_range(1..8) } else { 0 }),
            acknowledge: rng.gen(),
            queue_pair: (pair as u64 | if rng.gen_bool(0.02) { 16 << rng.gen_range(0..20) } else { 0 })
                .into(),
            sequence: known.expected.into(),
            ip: (known.ip ^ u64::from(rng.gen_bool(0.02))).into(),
            header: rng.gen_range(54..90u64).into(),
            ..CheckedFrame::default()
        };
        if rng.gen_bool(0.3) {
            let away =
                [1, NUMBERS - 1, NUMBERS / 2 - 1, NUMBERS / 2, NUMBERS / 2 + 1, rng.gen_range(1..NUMBERS)];
            frame.sequence = ((known.expected + away[rng.gen_range(0..6)]) % NUMBERS).into();
        }
        let is_new = frame.sequence.to_u64() == known.expected;
        let goes_on = is_new && rng.gen_bool(0.95);
        let kind = rng.gen_range(0..20);
        let (mut address, mut left) = (base + rng.gen_range(0..0x1000) * 8, 0);
        let mut operands = bits::<224>(rng.gen()) << 64 | bits::<224>(rng.gen());
        match (kind, known.message) {
            (0..=1, _) => {
                frame.opcode = bits([0x0d, 0x0e, 0x0f, 0x10, 0x12][rng.gen_range(0..5)]);
                frame.bytes = rng.gen_range(0..=mtu).into();
            }
            (2..=3, _) => frame.opcode = ACK.into(),
            // A message goes on
            (_, Some((at, to_come, its_key))) if goes_on => {
                (address, left, key) = (at, to_come, its_key);
                frame.opcode = bits(if left > mtu { 0x07 } else { 0x08 });
                frame.bytes = left.min(mtu).into();
            }
            (4..=5, _) => frame.opcode = bits([0x04, 0x0b, 0x15, 0x1f][rng.gen_range(0..4)]),
            (6..=8, _) => {
                frame.opcode = READ.into();
                left = rng.gen_range(0..6 * mtu);
            }
            (9..=11, _) => {
                frame.opcode = (COMPARE_SWAP + rng.gen_range(0..2)).into();
                left = 8;
            }
            (12..=14, _) => {
                frame.opcode = bits(0x06);
                frame.bytes = mtu.into();
                left = rng.gen_range(mtu + 1..=4 * mtu);
            }
            _ => {
                frame.opcode = bits(0x0a);
                left = [0, 1, mtu, rng.gen_range(0..=mtu)][rng.gen_range(0..4)];
                frame.bytes = left.into();
            }
        }
        if means == Means::Invalid {
            // One byte more, or a payload where there is none
            frame.bytes = (frame.bytes.to_u64() + 1).into();
        }
        if frame.opcode.to_u64() < COMPARE_SWAP {
            operands = bits::<224>(left) << 96;
        }
        frame.extension = bits::<224>(address) << 160 | bits::<224>(key) << 128 | operands;
        Case {
            frame,
            means,
            room: rng.gen_bool(0.85),
            pending: [0, 0, rng.gen_range(1..30), u64::MAX][rng.gen_range(0..4)],
            fails: rng.gen_bool(0.1),
            lands: rng.gen_bool(0.7).then(|| rng.gen_range(0..1 << 32)),
            falls: rng.gen_bool(0.03),
        }
    }

    /// What becomes of a frame, and whether it waits for the payloads of its queue pair.
    fn model(&mut self, case: &Case) -> (Fate, bool) {
        let frame = case.frame;
        let opcode = frame.opcode.to_u64();
        let mut fate = Fate { cause: frame.cause.to_u64(), ..Fate::default() };
        if fate.cause != 0 {
            return (fate, false);
        }
        let number = frame.queue_pair.to_u64();
        let index = number as usize & 15;
        let pair = &mut self.pairs[index];
        if number > 15 || !pair.up || case.falls || frame.ip.to_u64() != pair.ip {
            pair.up &= !case.falls;
            fate.unknown = true;
            return (fate, false);
        }
        let is_write = [0x06, 0x07, 0x08, 0x0a].contains(&opcode);
        let is_atomic = [0x13, 0x14].contains(&opcode);
        let has_answer = opcode == READ || is_atomic;
        let is_response = [0x0d, 0x0e, 0x0f, 0x10, 0x12].contains(&opcode);
        let begins = [0x06, 0x0a].contains(&opcode) || has_answer;
        let ends = [0x08, 0x0a].contains(&opcode) || has_answer;
        let sequence = frame.sequence.to_u64();
        let ahead = (sequence + NUMBERS - pair.expected) % NUMBERS;
        let is_older = ahead >= NUMBERS / 2;
        let field = |low: usize| frame.extension.get_bits::<32>(low).to_u64();
        let mark = |sequence: u64, nak: u64, messages: u64| AnswerMark {
            pair: (index as u64).into(),
            sequence: sequence.into(),
            answers: true,
            nak: nak.into(),
            payload: false,
            message: messages.into(),
            got: false,
        };
        let place = |address: u64| PayloadPlace {
            first: frame.first,
            header: frame.header,
            bytes: frame.bytes,
            address: address.into(),
        };
        if is_response || opcode == ACK {
            fate.answer = Some(PeerAnswer {
                pair: (index as u64).into(),
                sequence: frame.sequence,
                syndrome: frame.extension.get_bits::<8>(216),
                response: is_response,
                atomic: opcode == 0x12,
                bytes: frame.bytes,
                value: frame.extension.get_bits::<64>(128),
                begins: [0x0d, 0x10].contains(&opcode),
                ends: [0x0f, 0x10].contains(&opcode),
            });
            if let (true, Some(address)) = (is_response, case.lands) {
                let mark = AnswerMark {
                    answers: false,
                    payload: true,
                    got: true,
                    ..mark(sequence, nak::NONE, pair.messages)
                };
                fate.place = Some((place(address), mark));
            }
            return (fate, false);
        }
        if !is_write && !has_answer && is_older {
            fate.refused = true;
            return (fate, false);
        }
        if is_write && is_older {
            fate.mark = Some(mark((pair.expected + NUMBERS - 1) % NUMBERS, nak::DUPLICATE, pair.messages));
            fate.repeated = true;
            return (fate, false);
        }
        let (address, left) = match pair.message {
            Some((address, left, _)) if !begins => (address, left),
            _ => (field(160), if is_atomic { 8 } else { field(96) }),
        };
        // Nothing is forbidden of a message without bytes.
        let means = if case.means == Means::Forbidden && left == 0 { Means::Good } else { case.means };
        let is_invalid = means == Means::Invalid
            || (!is_write && !has_answer)
            || (!is_older && begins == pair.message.is_some());
        let packets = if opcode == READ { left.div_ceil(1 << pair.mtu).max(1) } else { 1 };
        let job = ReadJob {
            pair: (index as u64).into(),
            sequence: frame.sequence,
            packets: packets.into(),
            address: address.into(),
            bytes: left.into(),
            key: frame.extension.get_bits::<32>(128),
            message: pair.messages.into(),
            back: is_older,
            serve: !is_invalid && means == Means::Good,
            atomic: is_atomic,
        };
        if is_older {
            fate.job = Some(job);
            fate.repeated = true;
            return (fate, true);
        }
        let is_due = ahead == 0;
        if !is_due || (!is_invalid && means == Means::Good && has_answer && !case.room) {
            fate.newer = true;
            if !pair.told {
                fate.mark = Some(mark(pair.expected, nak::PSN_SEQUENCE_ERROR, pair.messages));
                pair.told = true;
            }
            return (fate, false);
        }
        let kind = match means {
            _ if is_invalid => nak::INVALID_REQUEST,
            Means::Forbidden => nak::REMOTE_ACCESS_ERROR,
            _ if is_atomic && case.fails => nak::REMOTE_OPERATIONAL_ERROR,
            _ => nak::NONE,
        };
        if kind != nak::NONE {
            fate.mark = Some(mark(pair.expected, kind, pair.messages));
            (fate.closes, fate.refused) = (true, true);
            pair.told = false;
            pair.up = false;
            return (fate, kind == nak::REMOTE_OPERATIONAL_ERROR);
        }
        // It is taken.
        if ends {
            pair.messages = (pair.messages + 1) % NUMBERS;
        }
        let answer =
            AnswerMark { answers: frame.acknowledge, ..mark(pair.expected, nak::NONE, pair.messages) };
        let bytes = frame.bytes.to_u64();
        if has_answer {
            fate.job = Some(ReadJob { message: pair.messages.into(), ..job });
        } else if bytes == 0 {
            fate.mark = Some(answer);
        } else {
            fate.place = Some((place(address), AnswerMark { payload: true, ..answer }));
        }
        let key = match pair.message {
            Some((_, _, key)) if !begins => key,
            _ => field(128),
        };
        pair.message = (!ends).then_some(((address + bytes) & 0xffff_ffff, left - bytes, key));
        pair.told = false;
        pair.expected = (pair.expected + packets) % NUMBERS;
        fate.next = Some(pair.expected);
        (fate, begins)
    }

    /// Gives a frame to the receiver until it is taken; what became of it.
    fn play(&mut self, case: &Case) -> Fate {
        let before = self.pairs.clone();
        let (expected, waits) = self.model(case);
        let index = case.frame.queue_pair.index() & 15;
        let is_response = expected.answer.as_ref().is_some_and(|answer| answer.response);
        let pending = if waits && case.pending == u64::MAX { 40 } else { case.pending };
        // A region that does not permit it, for this frame: in one of four ways
        let mut region = self.regions[before[index].message.map_or(index, |message| message.2 as usize & 15)];
        if case.means == Means::Forbidden {
            match self.rng.gen_range(0..4) {
                0 => region.valid = false,
                1 => region.domain = ((region.domain.to_u64() + 1) % 16).into(),
                2 => region.rights = 0x18.into(),
                _ => region.key = (region.key.to_u64() ^ 0x100).into(),
            }
        }
        let is_atomic = matches!(case.frame.opcode.to_u64(), 0x13 | 0x14);
        let fails = expected.mark.is_some_and(|mark| mark.nak.to_u64() == nak::REMOTE_OPERATIONAL_ERROR);
        let mut fate = Fate::default();
        let (mut begun, mut looked, mut given_on) = (None, false, false);
        // The response was given to the requester, which judges it in so many cycles.
        let mut judged_in = None;
        let (mut tells_failure, mut serve) = (None, None);
        loop {
            let uut = &mut self.uut;
            let age = begun.map_or(0, |begun| self.cycle - begun);
            assert!(age < 400, "cycle {}: nothing becomes of {case:?}, {expected:?}", self.cycle);
            uut.checked_valid.next = true;
            uut.checked.next = case.frame;
            let others: u64 = self.rng.gen();
            let own = 1 << index;
            let with =
                |others: u64, level: bool| bits::<16>((others & !own | if level { own } else { 0 }) & 0xffff);
            // One that is down may go up, too, when its row was read.
            let up = if before[index].up { !(case.falls && looked) } else { self.rng.gen() };
            uut.ups.next = with(others, up);
            uut.pending.next = with(others >> 16, age <= pending);
            uut.job_room.next = with(others >> 32, case.room);
            uut.mark_ready.next = self.rng.gen_bool(0.7);
            uut.answer_ready.next = self.rng.gen_bool(0.4);
            uut.job_ready.next = self.rng.gen_bool(0.3);
            uut.job_failed.next = false;
            uut.judged.next = false;
            uut.lands.next = self.rng.gen();
            uut.place_ready.next = match self.reading {
                Some(left) => left == 0,
                None => self.rng.gen_bool(0.5),
            };
            if judged_in == Some(0) {
                uut.judged.next = true;
                uut.lands.next = case.lands.is_some();
                uut.land_address.next = case.lands.unwrap_or(0).into();
            }
            judged_in = judged_in.and_then(|left: u64| left.checked_sub(1));
            // An operation that is given on may fail, and its region change.
            uut.job_ready.next &= !fails;
            if given_on && fails {
                let left: u64 = tells_failure.unwrap_or_else(|| self.rng.gen_range(0..6));
                uut.job_failed.next = left == 0;
                tells_failure = Some(left.saturating_sub(1));
            }
            uut.receive.next = ReceivePair {
                up: before[index].up,
                domain: before[index].domain.into(),
                mtu: before[index].mtu.into(),
                ip: before[index].ip.into(),
                expected: before[index].expected.into(),
            };
            uut.region.next = region;
            if given_on && is_atomic && !expected.repeated {
                uut.region.next.valid = self.rng.gen_bool(0.5);
            }
            settle(uut);
            let cycle = self.cycle;
            assert_eq!(uut.receive_pair.val().index(), index);
            assert_eq!(uut.held.val().to_u64(), if looked { own } else { 0 }, "cycle {cycle}");
            let given = uut.place_valid.val() && uut.place_ready.next && self.reading.is_none();
            if uut.mark_valid.val() && uut.mark_ready.next {
                assert!(fate.mark.is_none() && fate.place.is_none(), "cycle {cycle}: it is marked twice");
                assert!(!waits || age > pending, "cycle {cycle}: it waits for its payloads");
                if given {
                    fate.place = Some((uut.place.val(), uut.mark.val()));
                } else {
                    fate.mark = Some(uut.mark.val());
                }
            }
            if uut.job_valid.val() {
                assert!(!waits || age > pending, "cycle {cycle}: it waits for its payloads");
                // Of an atomic operation, what its region was when it was given on counts.
                let mut job = uut.job.val();
                if is_atomic && !expected.repeated {
                    job.serve = *serve.get_or_insert(job.serve);
                }
                given_on = true;
                if uut.job_ready.next {
                    assert!(fate.job.is_none(), "cycle {cycle}: it is served twice");
                    fate.job = Some(job);
                }
            }
            if uut.answer_valid.val() && uut.answer_ready.next {
                assert!(fate.answer.is_none(), "cycle {cycle}: it is given twice");
                fate.answer = Some(uut.answer.val());
                judged_in = is_response.then(|| self.rng.gen_range(0..9));
            } else {
                let landing = if is_response && fate.answer.is_some() { own } else { 0 };
                assert_eq!(uut.landing.val().to_u64(), landing, "cycle {cycle}");
            }
            if uut.received.val() {
                assert!(fate.next.is_none(), "cycle {cycle}: it is received twice");
                fate.next = Some(uut.next_expected.val().to_u64());
            }
            let once = |seen: &mut bool, now: bool, what: &str| {
                assert!(!(*seen && now), "cycle {cycle}: {what} twice");
                *seen |= now;
            };
            once(&mut fate.closes, uut.closes.val(), "closes");
            once(&mut fate.unknown, uut.unknown.val(), "unknown");
            once(&mut fate.refused, uut.refused.val(), "refused");
            once(&mut fate.repeated, uut.repeated.val(), "repeated");
            once(&mut fate.newer, uut.newer.val(), "newer");
            let cause = uut.cause.val().to_u64();
            assert!(cause == 0 || fate.cause == 0, "cycle {cycle}: cause twice");
            fate.cause |= cause;
            let takes = uut.checked_take.val();
            if takes {
                self.held.push_back(case.frame.beats.to_u64());
            }
            let frees = uut.free_valid.val().then(|| uut.free_beats.val().to_u64());
            let ends = self.reading == Some(0);
            assert_eq!(frees.is_some(), ends || (takes && !given), "cycle {cycle}: beats are free");
            if let Some(beats) = frees {
                assert_eq!(self.held.pop_front(), Some(beats), "cycle {cycle}");
            }
            self.reading = match self.reading {
                Some(left) => left.checked_sub(1),
                None => given.then(|| self.rng.gen_range(0..20)),
            };
            if uut.receives.val() {
                assert!(!looked && begun.is_none(), "cycle {cycle}: it is looked at twice");
                begun = Some(cycle);
                looked = true;
            }
            tick!(self.uut);
            self.cycle += 1;
            if takes {
                break;
            }
        }
        assert_eq!(fate, expected, "cycle {}: {case:?} of {:?}", self.cycle, before[index]);
        self.uut.checked_valid.next = false;
        self.uut.judged.next = false;
        self.uut.job_failed.next = false;
        self.uut.place_ready.next = false;
        fate
    }
}

/// Frames of all kinds, for queue pairs that go up and down: each has the fate that it must have,
/// and its beats are free once, in their order.
#[test]
fn each_frame_has_its_fate() {
    let mut bench = Bench::new();
    let mut counts = [0; 8];
    for _ in 0..9_000 {
        let pair = bench.rng.gen_range(0..16);
        if !bench.pairs[pair].up && bench.rng.gen_bool(0.7) {
            bench.open(pair);
        } else if bench.rng.gen_bool(0.01) {
            let near = [1 << 20, 1 << 23, NUMBERS][bench.rng.gen_range(0..3)] - bench.rng.gen_range(1..4);
            bench.jump(pair, near);
        }
        let case = bench.draw(pair);
        let fate = bench.play(&case);
        for (count, is_so) in counts.iter_mut().zip([
            fate.place.is_some(),
            fate.mark.is_some(),
            fate.job.is_some(),
            fate.answer.is_some(),
            fate.closes,
            fate.refused,
            fate.repeated,
            fate.newer,
        ]) {
            *count += usize::from(is_so);
        }
    }
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
}
