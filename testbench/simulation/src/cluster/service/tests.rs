//! Frames through the threads, against hand-made lists.

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::frames::{before, behind, Sent};
use super::{Service, ServiceDelays, ServiceOptions, OWN_PATH};
use crate::golden::roce::{opcode, Extended, RoceFrame};

const MTU: u32 = 1_024;
const HERE: [u8; 4] = [10, 0, 0, 1];
const PEER: [u8; 4] = [10, 0, 0, 2];

fn frame(from: [u8; 4], to: [u8; 4], opcode: u8, sequence: u32, extended: Extended) -> Vec<u8> {
    let frame = RoceFrame {
        to_mac: [2; 6],
        from_mac: [4; 6],
        type_of_service: 0,
        to_ip: to,
        from_ip: from,
        source_port: 0xc000,
        opcode,
        acknowledge: true,
        queue_pair: 0,
        sequence,
        extended,
        payload: Vec::new(),
    };
    frame.bytes()
}

fn rdma(length: u32) -> Extended {
    Extended::Rdma { address: 0, key: 0, length }
}

fn put(peer: [u8; 4], sequence: u32, length: u32) -> Vec<u8> {
    frame(HERE, peer, opcode::WRITE_ONLY, sequence, rdma(length))
}

fn part(opcode: u8, sequence: u32, length: u32) -> Vec<u8> {
    let extended = if opcode == opcode::WRITE_FIRST { rdma(length) } else { Extended::None };
    frame(HERE, PEER, opcode, sequence, extended)
}

fn get(sequence: u32, address: u64, length: u32) -> Vec<u8> {
    frame(HERE, PEER, opcode::READ_REQUEST, sequence, Extended::Rdma { address, key: 0, length })
}

fn answer(opcode: u8, sequence: u32) -> Vec<u8> {
    syndrome(opcode, sequence, 0)
}

fn syndrome(opcode: u8, sequence: u32, syndrome: u8) -> Vec<u8> {
    frame(PEER, HERE, opcode, sequence, Extended::Acknowledge { syndrome, message: 0 })
}

fn add(sequence: u32) -> Vec<u8> {
    let atomic = Extended::Atomic { address: 0, key: 0, operand: 1, compare: 0 };
    frame(HERE, PEER, opcode::FETCH_ADD, sequence, atomic)
}

const DELAYS: ServiceDelays =
    ServiceDelays { visible: 300, poll: 20, service: 50, doorbell: 200, completion: 600 };

fn service(delays: ServiceDelays, threads: u32, queues: u32) -> Service {
    Service::new(ServiceOptions { delays, threads, queues }, MTU)
}

/// Sends frames in the cycles of their last beats; gives the cycles in which they leave, by their
/// places in the list.
fn leave(service: &mut Service, frames: &[(u64, Vec<u8>)]) -> Vec<u64> {
    let mut left = vec![None; frames.len()];
    let mut waiting = frames.iter().peekable();
    for now in 0..20_000 {
        while let Some((sent, bytes)) = waiting.next_if(|(sent, _)| *sent == now) {
            service.send(*sent, bytes.clone());
        }
        let mut gone = service.cycle(now, &mut Vec::new());
        gone.extend(std::iter::from_fn(|| Some((now, service.release(now, false)?))));
        for (cycle, bytes) in gone {
            assert!(cycle <= now, "not in the future");
            let mut same =
                frames.iter().zip(&mut left).filter(|((_, of), left)| *of == bytes && left.is_none());
            *same.next().expect("a frame that was sent, once").1 = Some(cycle);
        }
    }
    left.into_iter().map(|cycle| cycle.expect("every frame leaves")).collect()
}

/// When a message that is alone leaves, with a look at half of eight queues.
const ALONE: u64 = 300 - OWN_PATH + 20 * 9 / 2 + 50 + 200;

#[test]
fn a_message_alone_is_late_by_the_sum() {
    let mut one = service(DELAYS, 1, 8);
    assert_eq!(leave(&mut one, &[(1_000, put(PEER, 0, 8))]), [1_000 + ALONE]);
    let counts = one.counts();
    assert_eq!((counts.messages, counts.busy_cycles), (1, 90 + 50));
    assert_eq!(leave(&mut service(DELAYS, 2, 8), &[(1_000, put(PEER, 0, 8))]), [1_000 + ALONE - 40]);
}

/// Three that come at once: one thread takes them one by one, the first two without a search; two
/// threads take two at once.
#[test]
fn threads_take_the_oldest() {
    let list = [(1_000, put(PEER, 0, 8)), (1_000, put(PEER, 1, 8)), (1_000, put(PEER, 2, 8))];
    let first = 1_000 + 300 - OWN_PATH + 20 + 50 + 200;
    assert_eq!(leave(&mut service(DELAYS, 1, 8), &list), [first, first + 70, first + 70 + 90 + 50]);
    // Two of them look at half the queues each: (4 + 1) / 2 looks.
    assert_eq!(leave(&mut service(DELAYS, 2, 8), &list), [first, first, first + 50 + 50]);
}

#[test]
fn frames_of_a_message_follow_the_first() {
    let list = [
        (1_000, part(opcode::WRITE_FIRST, 7, 3_000)),
        (1_040, part(opcode::WRITE_MIDDLE, 8, 0)),
        (3_000, part(opcode::WRITE_LAST, 9, 0)),
        (3_001, put(PEER, 10, 100)),
    ];
    let expected = [1_000 + ALONE, 1_000 + ALONE, 3_000, 3_001 + ALONE];
    assert_eq!(leave(&mut service(DELAYS, 1, 8), &list), expected);
}

/// A signal, parts of a long get, and what is sent again are no messages; puts of 8 bytes side by
/// side are.
#[test]
fn what_nobody_serves() {
    let list = [
        (1_000, put(PEER, 0, 64)),
        (1_001, put(PEER, 1, 8)),
        (3_000, put(PEER, 2, 8)),
        (5_000, put(PEER, 3, 64)),
        (5_001, add(4)),
        (7_000, get(5, 0x100, 8 * MTU)),
        (7_001, get(13, 0x100 + 0x2000, 8 * MTU)),
        (7_002, get(21, 0x100 + 0x4000, 100)),
        (9_000, get(22, 0x100, 100)),
        (11_000, get(22, 0x100, 100)),
    ];
    let mut one = service(DELAYS, 1, 8);
    let left = leave(&mut one, &list);
    let late = |place: usize, sent: u64| assert_eq!(left[place], sent + ALONE, "{place}: {left:?}");
    let sent = [1_000, 1_000, 3_000, 5_000, 5_000, 7_000, 7_000, 7_000, 9_000];
    sent.iter().enumerate().for_each(|(place, sent)| late(place, *sent));
    assert_eq!((left[9], one.counts().messages, one.counts().signals), (11_000, 5, 2));
}

/// A put that has no signal lets one of 8 bytes behind it, whenever that is, be taken for one: what
/// is not served is counted (docs/baselines.md).
#[test]
fn puts_without_signals() {
    let list = [(1_000, put(PEER, 0, 64)), (9_000, put(PEER, 1, 8)), (9_001, put(PEER, 2, 8))];
    let mut one = service(DELAYS, 1, 8);
    assert_eq!(leave(&mut one, &list), [1_000 + ALONE, 9_000, 9_001 + ALONE]);
    assert_eq!((one.counts().messages, one.counts().signals), (2, 1));
}

/// With a smaller window a READ asks for fewer packets, and the next one goes on behind these.
#[test]
fn reads_follow_the_window() {
    for (window, packets) in [(1, 1), (7, 1), (8, 2), (15, 2), (16, 4), (31, 4), (32, 8)] {
        let mut one = service(DELAYS, 1, 8);
        one.set_packets(256, window);
        let list = [
            (1_000, get(0, 0, packets * 256)),
            (1_001, get(packets, u64::from(packets) * 256, 100)),
            (5_000, get(packets + 1, 0, 100)),
        ];
        assert_eq!(leave(&mut one, &list), [1_000 + ALONE, 1_000 + ALONE, 5_000 + ALONE], "{window}");
        assert_eq!(one.counts().messages, 2, "{window}");
    }
}

/// A thread that sees commands before their frames come here takes one when it knows what else it
/// saw: the second message waits for the first, and the third was seen before its turn, so that no
/// search is needed.
#[test]
fn messages_that_are_seen_early() {
    let early = ServiceDelays { visible: 6, poll: 20, service: 50, doorbell: 0, completion: 0 };
    let list = [(1_000, put(PEER, 0, 8)), (1_005, put(PEER, 1, 8)), (1_110, put(PEER, 2, 8))];
    // Seen in 960, 965 and 1,070; the thread is busy from 960 to 1,100 and from there on.
    let first = 960 + 90 + 50;
    let expected = [first, first + 20 + 50, first + 70 + 90 + 50];
    assert_eq!(leave(&mut service(early, 1, 8), &list), expected);
    // One cycle later, and it is not seen before the second is taken.
    let late = [list[0].clone(), list[1].clone(), (1_141, put(PEER, 2, 8))];
    assert_eq!(leave(&mut service(early, 1, 8), &late)[1], first + 90 + 50);
    let seen = [list[0].clone(), list[1].clone(), (1_140, put(PEER, 2, 8))];
    assert_eq!(leave(&mut service(early, 1, 8), &seen)[1], first + 20 + 50);
}

/// Frames that were held go on the line one at a time, a queue pair and then the next, and the node
/// has its turn between them; what it sends meanwhile is not held.
#[test]
fn held_frames_take_turns_on_the_line() {
    let other = [10, 0, 0, 3];
    let mut one = service(DELAYS, 4, 8);
    for sequence in 0..4 {
        one.send(1_000, put(PEER, sequence, 64));
        one.send(1_000, put(other, sequence, 64));
    }
    let mut now = 1_000;
    assert!(one.cycle(now, &mut Vec::new()).is_empty() && one.release(now, false).is_none());
    while now < 9_000 {
        now += 1;
        assert!(one.cycle(now, &mut Vec::new()).is_empty(), "they wait for the line");
    }
    let peer = |bytes: Option<Vec<u8>>| match bytes.map(|bytes| Sent::of(&bytes, MTU, 8)) {
        Some(Sent::Request(request)) => (request.peer, request.sequence),
        other => panic!("{other:?}"),
    };
    assert_eq!(peer(one.release(now, false)), (PEER, 0));
    assert_eq!(peer(one.release(now, false)), (other, 0));
    assert_eq!(one.release(now, true), None, "the node has a frame");
    let own = frame(HERE, PEER, opcode::ACKNOWLEDGE, 5, Extended::Acknowledge { syndrome: 0, message: 0 });
    one.send(now, own.clone());
    assert_eq!(one.cycle(now, &mut Vec::new()), [(now, own)]);
    assert_eq!(peer(one.release(now, true)), (PEER, 1), "one of them, though it has another");
    assert_eq!(one.release(now, true), None);
    // What it sends may be held itself.
    one.send(now, put(PEER, 4, 64));
    assert_eq!(peer(one.release(now, true)), (other, 1));
    assert_eq!(one.release(now, true), None);
    assert_eq!(peer(one.release(now, false)), (PEER, 2));
}

/// Gets of eight whole packets, one behind the other, are messages each: a get goes on where the
/// part before it ended, and nowhere else.
#[test]
fn gets_of_whole_packets_are_served_each() {
    let list = [
        (1_000, get(0, 0, 8 * MTU)),
        (5_000, get(8, 0, 8 * MTU)),
        (9_000, get(16, 0x8000, 100)),
        (13_000, put(PEER, 17, 8)),
    ];
    let mut one = service(DELAYS, 1, 8);
    let expected = [1_000, 5_000, 9_000, 13_000].map(|sent| sent + ALONE);
    assert_eq!(leave(&mut one, &list), expected);
    let answers = [(20_000, answer(opcode::RESPONSE_LAST, 7)), (20_700, answer(opcode::RESPONSE_LAST, 15))];
    assert_eq!(given(&mut one, &answers), [20_600, 21_300], "each is complete");
}

/// Answers of this node to others, and frames of others, pass.
#[test]
fn what_others_ask_passes() {
    let list = [
        (1_000, put(PEER, 0, 8)),
        (1_001, frame(HERE, PEER, opcode::ACKNOWLEDGE, 5, Extended::Acknowledge { syndrome: 0, message: 0 })),
        (1_002, vec![0; 60]),
    ];
    let mut one = service(DELAYS, 1, 8);
    assert_eq!(leave(&mut one, &list), [1_000 + ALONE, 1_001, 1_002]);
    let request = frame(PEER, HERE, opcode::WRITE_ONLY, 3, rdma(8));
    assert_eq!(one.receive(5_000, request.clone()), Some(request));
}

/// The cycle in which the node is given each answer of a list of cycles and answers.
fn given(service: &mut Service, answers: &[(u64, Vec<u8>)]) -> Vec<u64> {
    let mut given = Vec::new();
    let mut waiting = answers.iter().peekable();
    for now in 0..40_000 {
        let mut come = Vec::new();
        service.cycle(now, &mut come);
        while let Some((_, bytes)) = waiting.next_if(|(cycle, _)| *cycle == now) {
            come.extend(service.receive(now, bytes.clone()));
        }
        for bytes in come {
            assert_eq!(bytes, answers[given.len()].1, "in order");
            given.push(now);
        }
    }
    given
}

#[test]
fn what_completes_is_held_and_answers_stay_in_order() {
    let mut one = service(DELAYS, 1, 8);
    let requests = [
        (0, put(PEER, 0, 8)),
        (10, part(opcode::WRITE_FIRST, 1, 2_000)),
        (20, part(opcode::WRITE_LAST, 2, 0)),
        (30, get(3, 0, 8 * MTU)),
        (31, get(11, 0x2000, 2 * MTU)),
    ];
    leave(&mut one, &requests);
    let answers = [
        (20_000, answer(opcode::ACKNOWLEDGE, 0)),
        (20_010, answer(opcode::ACKNOWLEDGE, 1)),
        (21_000, answer(opcode::ACKNOWLEDGE, 2)),
        (22_000, answer(opcode::RESPONSE_FIRST, 3)),
        // The end of the first part of a get.
        (22_100, answer(opcode::RESPONSE_LAST, 10)),
        (22_200, answer(opcode::RESPONSE_FIRST, 11)),
        (22_300, answer(opcode::RESPONSE_LAST, 12)),
        // Once more, which completes nothing.
        (24_000, answer(opcode::ACKNOWLEDGE, 12)),
    ];
    let expected = [20_600, 20_600, 21_600, 22_000, 22_100, 22_200, 22_900, 24_000];
    assert_eq!(given(&mut one, &answers), expected);
}

/// A NAK, or a response that is not the last, tells that what was before it is complete.
#[test]
fn answers_complete_what_was_before_them() {
    let puts = [(0, put(PEER, 0, 8)), (10, put(PEER, 1, 8)), (20, get(2, 0, 2 * MTU)), (30, put(PEER, 4, 8))];
    for (bytes, held) in [
        (syndrome(opcode::ACKNOWLEDGE, 1, 0x60), true),
        (syndrome(opcode::ACKNOWLEDGE, 1, 0x21), true),
        (syndrome(opcode::ACKNOWLEDGE, 0, 0x60), false),
        (syndrome(opcode::ACKNOWLEDGE, 0, 0x21), false),
        // A refusal completes what it refuses, and what follows.
        (syndrome(opcode::ACKNOWLEDGE, 0, 0x62), true),
        // Reserved.
        (syndrome(opcode::ACKNOWLEDGE, 1, 0x41), false),
        (answer(opcode::RESPONSE_FIRST, 2), true),
        (frame(PEER, HERE, opcode::RESPONSE_MIDDLE, 3, Extended::None), true),
    ] {
        let mut one = service(DELAYS, 1, 8);
        leave(&mut one, &puts);
        let expected = 20_000 + if held { 600 } else { 0 };
        assert_eq!(given(&mut one, &[(20_000, bytes.clone())]), [expected], "{bytes:x?}");
    }
}

/// A get and an atomic operation are complete by their own answers, and by no ACK of what is behind
/// them.
#[test]
fn gets_and_atomic_operations_have_their_own_answers() {
    let mut one = service(DELAYS, 1, 8);
    leave(&mut one, &[(0, get(0, 0, 2 * MTU)), (10, add(2)), (20, put(PEER, 3, 8))]);
    let atomic = Extended::AtomicAcknowledge { syndrome: 0, message: 0, original: 0 };
    let answers = [
        // The responses were lost: the node asks again.
        (20_000, answer(opcode::ACKNOWLEDGE, 3)),
        (21_000, answer(opcode::RESPONSE_ONLY, 1)),
        (22_000, frame(PEER, HERE, opcode::ATOMIC_ACKNOWLEDGE, 2, atomic)),
        (23_000, answer(opcode::ACKNOWLEDGE, 3)),
        (24_000, answer(opcode::ACKNOWLEDGE, 3)),
    ];
    assert_eq!(given(&mut one, &answers), [20_000, 21_600, 22_600, 23_600, 24_000]);
}

/// With delays of zero every frame leaves when it is sent, and every answer comes when it comes.
#[test]
fn no_delays_change_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut one = service(ServiceDelays::default(), 1, 8);
    let (mut sent, mut sequence, mut frames) = (0, 0xff_fff0, Vec::new());
    for _ in 0..300 {
        sent += random.gen_range(0..30);
        let peer = [10, 0, 0, random.gen_range(2..4)];
        frames.push((sent, put(peer, sequence, random.gen_range(1..100))));
        sequence = behind(sequence, 1);
    }
    let cycles: Vec<_> = frames.iter().map(|(sent, _)| *sent).collect();
    assert_eq!(leave(&mut one, &frames), cycles);
    let bytes = answer(opcode::ACKNOWLEDGE, sequence);
    assert_eq!(one.receive(30_000, bytes.clone()), Some(bytes));
}

/// Frames of a queue pair leave in the order in which they were sent, whatever they are.
#[test]
fn order_in_each_queue_pair() {
    for seed in 0..20 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut one = service(DELAYS, random.gen_range(1..4), random.gen_range(1..33));
        let mut next = [0u32, 1 << 23];
        let (mut now, mut sent, mut left) = (0, [Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut step = |one: &mut Service, now: u64| {
            let mut gone = one.cycle(now, &mut Vec::new());
            gone.extend(std::iter::from_fn(|| Some((now, one.release(now, false)?))));
            for (_, bytes) in gone {
                let frame = RoceFrame::parse(&bytes).unwrap();
                left[usize::from(frame.to_ip[3] - 2)].push(frame.sequence);
            }
        };
        for _ in 0..200 {
            now += random.gen_range(0..100);
            let pair = random.gen_range(0..2);
            let peer = [10, 0, 0, pair as u8 + 2];
            let sequence = next[pair];
            let again = random.gen_bool(0.05) && sequence > 3;
            let sequence = if again { sequence - random.gen_range(1..3) } else { sequence };
            let length = *[8, 16, 64].get(random.gen_range(0..3)).unwrap();
            next[pair] += u32::from(!again);
            sent[pair].push(sequence);
            one.send(now, put(peer, sequence, length));
            step(&mut one, now);
        }
        (now..now + 40_000).for_each(|now| step(&mut one, now));
        assert_eq!(sent, left, "seed {seed}");
    }
}

#[test]
fn sequence_numbers_wrap() {
    assert!(before(0xff_ffff, 0) && !before(0, 0xff_ffff) && !before(5, 5) && before(5, 6));
    assert_eq!(behind(0xff_ffff, 2), 1);
}

#[test]
fn values_are_checked() {
    let good = ServiceOptions { delays: DELAYS, threads: 1, queues: 1 };
    good.check().unwrap();
    let long = ServiceDelays { poll: 1_000_001, ..DELAYS };
    for (options, expected) in [
        (
            ServiceOptions { delays: long, ..good },
            "poll: 1000001 is not possible; expected 0 to 1000000 cycles",
        ),
        (ServiceOptions { threads: 0, ..good }, "service threads: 0 is not possible; expected 1 to 64"),
        (ServiceOptions { queues: 0, ..good }, "service queues: 0 is not possible; expected 1 to 1024"),
    ] {
        assert_eq!(options.check().unwrap_err().to_string(), expected);
    }
}
