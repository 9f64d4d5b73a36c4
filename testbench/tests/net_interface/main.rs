//! The network interface as Verilog against the golden model of RoCEv2 frames: what it sends byte
//! by byte, and how it judges random frames that were changed at random. `HERMES_SEED` repeats a
//! run.

mod interface;
mod target;

use std::collections::BTreeMap;

use hermes_rtl::net::cause;
use hermes_rtl::types::code;
use hermes_testbench::golden::roce::{opcode, Extended, RoceFrame};
use hermes_testbench::test_seed;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use interface::{Interface, Outcome};
use target::{change, Target};

const TOP: &str = "net_interface";
const OUR_MAC: [u8; 6] = [2, 0, 0x11, 0x22, 0x33, 0x44];
const OUR_IP: [u8; 4] = [10, 1, 2, 3];
const PEER_MAC: [u8; 6] = [2, 0, 0x55, 0x66, 0x77, 0x88];
const PEER_IP: [u8; 4] = [10, 1, 2, 200];
const TYPE_OF_SERVICE: u8 = 0x68;
const PAIR: u32 = 5;
const REMOTE: u32 = 0xabcdef;
const KEY: u32 = 0x8765_4321;
/// Key of region 9, which peers may write: all memory but the first line.
const OUR_KEY: u32 = 0x1234_5679;
const REGION: u32 = 64;
/// The domain of all.
const DOMAIN: u32 = 7;
/// The window here, its bytes, and where it begins at the peer.
const WINDOW: u32 = 0x10_0000;
const WINDOW_BYTES: u32 = 0x1000;
const BASE: u64 = 0x7fff_1234_0000;
/// Bytes of the payload of a packet, at most.
const LONGEST: u32 = 4096;
/// Sequence numbers at first.
const SEND: u32 = 0xff_fffe;
const EXPECT: u32 = 0xff_ff00;

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[test]
fn frames_are_judged_as_the_golden_model_does() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut interface = Interface::new(ChaCha8Rng::seed_from_u64(rng.gen()));
    let mut target = Target { sequence: EXPECT, message: None };
    let (mut seen, mut memory) = (BTreeMap::<Outcome, u32>::new(), BTreeMap::new());
    for round in 0..6_000 {
        let mut bytes = target.frame(&mut rng, 200).bytes();
        change(&mut bytes, &mut rng);
        let before = target.sequence;
        let (outcome, written) = target.take(&bytes);
        let got = interface.receive(&bytes);
        assert_eq!(got, outcome, "round {round}: {bytes:02x?}");
        *seen.entry(got).or_default() += 1;
        // A request that is refused when its turn has come takes the queue pair down.
        if outcome == Outcome::Refused && interface.is_down() {
            assert_eq!(number(&bytes[51..54]) as u32, before, "round {round}");
            interface.reopen();
            target.message = None;
        }
        if let Some((address, payload)) = written {
            for (at, byte) in (address..).zip(payload) {
                memory.insert(at, byte);
            }
        }
    }
    let first = memory.iter().find(|(at, byte)| interface.memory.get(at) != Some(byte));
    assert_eq!((first, memory.len()), (None, interface.memory.len()), "what was written");
    let causes = (cause::SHORT..=cause::OPCODE).map(Outcome::Dropped);
    for outcome in causes.chain([
        Outcome::Written,
        Outcome::Refused,
        Outcome::Unknown,
        Outcome::Repeated,
        Outcome::Newer,
        Outcome::Stray,
    ]) {
        assert!(seen.get(&outcome).is_some_and(|count| *count > 10), "{outcome:?} in {seen:?}");
    }
}

/// Frames without a pause between them, damaged ones, some that are too long for the buffer, with a
/// memory that stops now and then, and `enable` low for some of them: what has room is judged as
/// the golden model does, in the order in which it came, and nothing else is written.
#[test]
fn a_stream_of_frames_with_overflows() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut interface = Interface::new(ChaCha8Rng::seed_from_u64(rng.gen()));
    let mut target = Target { sequence: EXPECT, message: None };
    let (mut expects, mut memory) = (Vec::new(), BTreeMap::new());
    let (mut no_room, mut disabled, mut too_long, mut longest) = (0, 0, 0, 0);
    for round in 0..4_000 {
        // Memory is fast, slow, and stops.
        interface.memory_rate = [100, 100, 100, 5, 0][round / 20 % 5];
        let busy = round / 400 % 2 == 0;
        let mut frame = target.frame(&mut rng, 10);
        if target.message.is_none() && rng.gen_bool(0.05) {
            let length = [4_095, 4_096, 4_096, 4_096, 4_097, 8_123, 8_128, 9_000][rng.gen_range(0..8)];
            frame.payload = (0..length).map(|_| rng.gen()).collect();
            frame.opcode = opcode::WRITE_ONLY;
            let address = rng.gen_range(64..0x1_0000);
            frame.extended = Extended::Rdma { address, key: OUR_KEY, length };
        }
        // To the end of the address space, and behind it
        if let (true, Extended::Rdma { address, length, .. }) = (rng.gen_bool(0.05), &mut frame.extended) {
            *address = (1 << 32) - u64::from(*length) + if rng.gen_bool(0.1) { 1 } else { 0 };
        }
        let mut bytes = frame.bytes();
        if rng.gen_bool(0.3) {
            change(&mut bytes, &mut rng);
        }
        // The buffer has 512 beats, of which one stays free.
        if rng.gen_bool(0.01) {
            bytes.resize(64 * rng.gen_range(509..514), 0);
            interface.drain(expects.len());
        }
        // What makes it damaged: the mark, or TKEEP of a beat
        let beats = bytes.chunks(64).count();
        let marked = rng.gen_bool(0.03);
        let hole = rng.gen_bool(0.03).then(|| rng.gen_range(0..beats));
        let before = interface.no_room;
        // Only what `enable` is in the first beat counts.
        let enabled = rng.gen_bool(0.95);
        for (index, part) in bytes.chunks(64).enumerate() {
            while rng.gen_bool(if busy { 0.02 } else { 0.7 }) {
                interface.beat(None);
            }
            let enable = if index == 0 { enabled } else { rng.gen_bool(0.5) };
            interface.set("control_enable", 1, enable.into());
            let last = index + 1 == beats;
            let mut keep = u64::MAX >> (64 - part.len());
            if hole == Some(index) {
                keep &= !(1 << rng.gen_range(0..part.len() - usize::from(last && part.len() > 1)));
            }
            let user: u32 = rng.gen();
            let user = if last { user << 1 >> 1 | u32::from(marked) << 31 } else { user };
            interface.beat(Some((part, keep, last, user)));
        }
        if !enabled {
            disabled += 1;
            assert_eq!(interface.no_room, before);
            continue;
        }
        if interface.no_room > before {
            no_room += 1;
            too_long += usize::from(beats > 511);
            continue;
        }
        longest = longest.max(beats);
        if marked || hole.is_some() {
            expects.push(Outcome::Dropped(cause::SHORT));
            continue;
        }
        let (outcome, written) = target.take(&bytes);
        expects.push(outcome);
        if outcome == Outcome::Refused {
            interface.drain(expects.len());
            if interface.is_down() {
                interface.reopen();
                target.message = None;
            }
        }
        if let Some((address, payload)) = written {
            for (at, byte) in (u64::from(address)..).zip(payload) {
                memory.insert(at as u32, byte);
            }
        }
    }
    interface.drain(expects.len());
    let is_written = |outcome: &Outcome| *outcome == Outcome::Written;
    let written = [&interface.outcomes, &expects].map(|all| all.iter().filter(|one| is_written(one)).count());
    let drops = [&interface.outcomes, &expects]
        .map(|all| all.iter().filter(|one| !is_written(one)).copied().collect::<Vec<_>>());
    let first = drops[0].iter().zip(&drops[1]).position(|(got, expected)| got != expected);
    assert_eq!((first, drops[0].len()), (None, drops[1].len()), "frames that are dropped");
    assert_eq!(written[0], written[1], "frames that are written");
    let first = memory.iter().find(|(at, byte)| interface.memory.get(at) != Some(byte));
    assert_eq!((first, memory.len()), (None, interface.memory.len()), "what was written");
    assert_eq!(longest, 511, "the longest frame that has room");
    let counts = [no_room, disabled, too_long, written[0]];
    assert!(counts.iter().zip([100, 100, 2, 500]).all(|(count, least)| *count > least), "{counts:?}");
}

/// Puts of 16 to 4,096 bytes of one peer to any address, each a frame, as fast as 100 Gbit/s bring
/// them, for longer than the buffer has room: none is lost, and all are written as soon as the last
/// one came.
#[test]
fn frames_at_the_rate_of_the_wire() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut interface = Interface::new(ChaCha8Rng::seed_from_u64(rng.gen()));
    interface.memory_rate = 100;
    let mut target = Target { sequence: EXPECT, message: None };
    // From the beginning of a line on, and from any byte on, where a put takes a line more.
    let puts = [(16, 2_000), (64, 1_000), (128, 600), (500, 300), (1_024, 200), (4_096, 60)];
    for ((length, count), step) in puts.into_iter().flat_map(|put| [(put, 64), (put, 1)]) {
        // Cycles since the first frame began, and when the wire has brought what was given so far
        let (mut cycle, mut wire) = (0u64, 0.0);
        let before = interface.outcomes.len();
        for _ in 0..count {
            let address = rng.gen_range(64 / step..0x1_0000 / step) * step;
            let frame = RoceFrame {
                opcode: opcode::WRITE_ONLY,
                sequence: target.sequence,
                acknowledge: true,
                extended: Extended::Rdma { address, key: OUR_KEY, length },
                payload: (0..length).map(|_| rng.gen()).collect(),
                ..target.frame(&mut rng, 0)
            };
            target.sequence = (target.sequence + 1) & 0xff_ffff;
            let bytes = frame.bytes();
            let beats = bytes.chunks(64).count();
            for (index, part) in bytes.chunks(64).enumerate() {
                wire += part.len() as f64 / 12.5;
                while (cycle as f64) < wire {
                    interface.beat(None);
                    cycle += 1;
                }
                let last = index + 1 == beats;
                interface.beat(Some((part, u64::MAX >> (64 - part.len()), last, 0)));
                cycle += 1;
            }
            wire += 24.0 / 12.5;
        }
        // What is left is the way of the last frames.
        for _ in 0..150 + length / 8 {
            interface.beat(None);
        }
        assert_eq!(interface.no_room, 0, "{length} bytes, at multiples of {step}");
        let written = &interface.outcomes[before..];
        assert_eq!(written.len(), count, "{length} bytes");
        assert!(written.iter().all(|outcome| *outcome == Outcome::Written), "{length} bytes");
    }
}

#[test]
fn frames_that_are_sent_are_those_of_the_golden_model() {
    let mut rng = ChaCha8Rng::seed_from_u64(test_seed());
    let mut interface = Interface::new(ChaCha8Rng::seed_from_u64(rng.gen()));
    for number in 0..500u32 {
        let payload: Vec<u8> = (0..rng.gen_range(1..=16)).map(|_| rng.gen()).collect();
        let offset = rng.gen_range(0..=WINDOW_BYTES - payload.len() as u32);
        let mut stage: [u32; 16] = std::array::from_fn(|_| rng.gen());
        stage[0] = 1 | 1 << 10;
        stage[1] = WINDOW + offset;
        stage[3] = payload.len() as u32;
        for (i, byte) in payload.iter().enumerate() {
            let shift = 8 * (i % 4);
            stage[4 + i / 4] = stage[4 + i / 4] & !(0xff << shift) | u32::from(*byte) << shift;
        }
        let port = interface.model.input("control_stage", 512).unwrap();
        interface.model.set_words(port, &stage);
        interface.set("control_post_pair", 4, PAIR.into());
        interface.set("control_post", 1, 1);
        interface.cycle();
        interface.set("control_post", 1, 0);
        let mut cycles = 0;
        while interface.sent.is_empty() {
            cycles += 1;
            assert!(cycles < 200, "put {number} is not sent");
            interface.cycle();
        }
        let expected = RoceFrame {
            to_mac: PEER_MAC,
            from_mac: OUR_MAC,
            type_of_service: TYPE_OF_SERVICE,
            to_ip: PEER_IP,
            from_ip: OUR_IP,
            source_port: 0xc000 + PAIR as u16,
            opcode: opcode::WRITE_ONLY,
            acknowledge: true,
            queue_pair: REMOTE,
            sequence: (SEND + number) & 0xff_ffff,
            extended: Extended::Rdma {
                address: BASE + u64::from(offset),
                key: KEY,
                length: payload.len() as u32,
            },
            payload,
        };
        assert_eq!(interface.sent.pop().unwrap(), expected.bytes(), "put {number}");
        // The peer acknowledges it.
        let answer = RoceFrame {
            to_mac: OUR_MAC,
            from_mac: PEER_MAC,
            to_ip: OUR_IP,
            from_ip: PEER_IP,
            opcode: opcode::ACKNOWLEDGE,
            acknowledge: false,
            queue_pair: PAIR,
            extended: Extended::Acknowledge { syndrome: 0x1f, message: number + 1 },
            payload: vec![],
            ..expected
        };
        interface.beat(Some((&answer.bytes(), u64::MAX >> (64 - answer.bytes().len()), true, 0)));
        interface.set("rx_tvalid", 1, 0);
        let mut cycles = 0;
        while interface.get("control_completed", 1) == 0 {
            cycles += 1;
            assert!(cycles < 200, "put {number} is not complete");
            interface.cycle();
        }
        assert_eq!(interface.get("control_code", 8), code::DONE);
        interface.cycle();
    }
}
