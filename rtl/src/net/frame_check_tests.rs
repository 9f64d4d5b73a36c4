//! Good frames, and frames with one thing wrong.

use super::super::testing::{frame, icrc, random_head};
use super::super::FrameHead;
use super::*;
use crate::memory::testing::{line_to_bits, random};
use crate::testing::{reset, settle, tick};
use rand::Rng;

fn ours() -> NetIdentity {
    NetIdentity { mac: 0x0200_0a0b_0c0du64.into(), ip: 0x0a01_0203u64.into(), type_of_service: 0.into() }
}

fn sender() -> NetIdentity {
    NetIdentity { mac: 0x0200_0000_0001u64.into(), ip: 0x0a01_0204u64.into(), type_of_service: 7.into() }
}

/// A head for us with one of the opcodes that there are.
fn head(rng: &mut rand_chacha::ChaCha8Rng, bytes: usize) -> FrameHead {
    let (opcode, words) = [
        (6, 4),
        (7, 0),
        (8, 0),
        (10, 4),
        (12, 4),
        (13, 1),
        (14, 0),
        (15, 1),
        (16, 1),
        (17, 1),
        (18, 3),
        (19, 7),
        (20, 7),
    ][rng.gen_range(0..13)];
    loop {
        let head = random_head(rng, bytes);
        if head.extension_words == bits(words) {
            return FrameHead { mac: ours().mac, ip: ours().ip, opcode: bits(opcode), ..head };
        }
    }
}

/// Judges frames, each with its damage bit, one after the other; the buffer's port is free in 100 -
/// `pause` of 100 cycles.
fn judge(frames: &[(Vec<u8>, bool)], pause: u32) -> Vec<(CheckedFrame, u64)> {
    let mut rng = random("frame_check");
    let mut uut = FrameCheck::default();
    reset!(uut);
    let mut judged = Vec::new();
    for (frame, damaged) in frames {
        let first = rng.gen_range(0..512usize);
        let beats: Vec<[u8; 64]> = frame
            .chunks(64)
            .map(|part| {
                let mut line: [u8; 64] = std::array::from_fn(|_| rng.gen());
                line[..part.len()].copy_from_slice(part);
                line
            })
            .collect();
        let (mut read, mut taken) = (None, None);
        for cycle in 0..4_000u64 {
            uut.identity.next = ours();
            uut.stored_valid.next = taken.is_none();
            uut.stored.next = StoredFrame {
                first: (first as u64).into(),
                beats: (beats.len() as u64).into(),
                bytes: (frame.len() as u64).into(),
                damaged: *damaged,
            };
            uut.read_ready.next = !rng.gen_ratio(pause, 100);
            uut.read_data.next = line_to_bits(
                &read.take().map_or_else(|| std::array::from_fn(|_| rng.gen()), |beat: usize| beats[beat]),
            );
            uut.checked_take.next = !rng.gen_ratio(pause, 100);
            settle(&mut uut);
            if uut.read_enable.val() && uut.read_ready.val() {
                read = Some((uut.read_beat.val().index() + 512 - first) % 512);
            }
            if uut.stored_take.val() {
                assert!(taken.is_none());
                taken = Some(cycle);
            }
            let done = uut.checked_valid.val() && uut.checked_take.val();
            if done {
                assert_eq!(
                    (uut.checked.val().first.index(), uut.checked.val().beats.index()),
                    (first, beats.len())
                );
                judged.push((uut.checked.val(), cycle - taken.unwrap()));
            }
            tick!(uut);
            if done {
                break;
            }
            assert!(cycle < 3_999, "no verdict");
        }
    }
    judged
}

#[test]
fn good_frames() {
    let mut rng = random("frame_check");
    let mut lengths: Vec<usize> = (0..80).collect();
    lengths.extend([255, 256, 1_023, 1_024, 4_096]);
    let heads: Vec<_> = lengths.iter().map(|&length| head(&mut rng, length)).collect();
    let frames: Vec<_> = heads
        .iter()
        .zip(&lengths)
        .map(|(head, &length)| {
            let payload: Vec<u8> = (0..length).map(|_| rng.gen()).collect();
            let mut bytes = frame(head, &sender(), &payload);
            // Zeros behind a frame that is too short for Ethernet, and more.
            bytes.extend(std::iter::repeat_n(0, rng.gen_range(0..3) * 20));
            (bytes, false)
        })
        .collect();
    for pause in [0, 30] {
        for (((got, cycles), head), &length) in judge(&frames, pause).into_iter().zip(&heads).zip(&lengths) {
            assert_eq!(got.cause, bits(cause::NONE), "{length} bytes, {head:?}");
            assert_eq!((got.opcode, got.acknowledge), (head.opcode, head.acknowledge));
            assert_eq!((got.queue_pair, got.sequence, got.ip), (head.remote, head.sequence, sender().ip));
            assert_eq!(
                (got.header.index(), got.bytes.index()),
                (54 + 4 * head.extension_words.index(), length)
            );
            let unused = 224 - 32 * head.extension_words.to_u64();
            assert_eq!(got.extension >> unused, head.extension >> unused);
            if pause == 0 {
                // Sixteen bytes a cycle from the third cycle on; the verdict two cycles after the
                // last ones
                let chunks = (got.header.index() + length.next_multiple_of(4) + 4).div_ceil(16);
                assert_eq!(cycles, chunks as u64 + 3, "{length} bytes");
            }
        }
    }
}

/// Frames of all lengths without a pause, good, damaged, with a wrong sum or ICRC: each has the
/// verdict that it has alone, in their order; one takes no longer than the wire to bring it, with
/// preamble, check sequence and gap, and a verdict that waits holds back only what is behind it.
#[test]
fn frames_in_a_stream() {
    let mut rng = random("frame_check_stream");
    let mut frames = Vec::new();
    for _ in 0..400 {
        let length = [0, 4, 8, 16, rng.gen_range(0..80), rng.gen_range(0..1_100)][rng.gen_range(0..6)];
        let payload: Vec<u8> = (0..length).map(|_| rng.gen()).collect();
        let mut bytes = frame(&head(&mut rng, length), &sender(), &payload);
        let at = match rng.gen_range(0..6) {
            0 => Some(rng.gen_range(14..34)),
            1 => Some(rng.gen_range(54..bytes.len())),
            _ => None,
        };
        if let Some(at) = at {
            bytes[at] ^= 1 << rng.gen_range(0..8);
        }
        if rng.gen_bool(0.1) {
            bytes.truncate(rng.gen_range(20..bytes.len()));
        }
        frames.push((bytes, rng.gen_bool(0.1)));
    }
    let alone: Vec<_> = judge(&frames, 0).into_iter().map(|(verdict, _)| verdict).collect();
    for pause in [0, 40] {
        let mut uut = FrameCheck::default();
        reset!(uut);
        // Where each frame stands; the beats of the buffer come round.
        let places: Vec<(usize, usize)> = frames
            .iter()
            .scan(0, |place, (frame, _)| {
                let at = *place;
                *place += frame.len().div_ceil(64);
                Some((at, frame.len().div_ceil(64)))
            })
            .collect();
        let (mut taken, mut judged, mut read) = (0, 0, None);
        let (mut since, mut slow) = (0i64, 0);
        for cycle in 0..40_000i64 {
            uut.identity.next = ours();
            uut.stored_valid.next = taken < frames.len() && !rng.gen_ratio(pause, 100);
            if let Some((frame, damaged)) = frames.get(taken) {
                uut.stored.next = StoredFrame {
                    first: (places[taken].0 as u64 % 512).into(),
                    beats: (places[taken].1 as u64).into(),
                    bytes: (frame.len() as u64).into(),
                    damaged: *damaged,
                };
            }
            uut.read_ready.next = !rng.gen_ratio(pause, 100);
            uut.checked_take.next = !rng.gen_ratio(pause, 100);
            let line: [u8; 64] = match read.take() {
                Some((frame, beat)) => {
                    let bytes: &Vec<u8> = &frames[frame as usize].0;
                    std::array::from_fn(|i| bytes.get(beat * 64 + i).copied().unwrap_or(0x5a))
                }
                None => std::array::from_fn(|_| rng.gen()),
            };
            uut.read_data.next = line_to_bits(&line);
            settle(&mut uut);
            if uut.stored_take.val() {
                // The frames of the wire: this one was brought while the one before was judged.
                if pause == 0 && taken > 0 {
                    let (frame, _) = &frames[taken - 1];
                    let wire = (frame.len() as f64 + 24.0) / 12.5;
                    slow += i32::from((cycle - since) as f64 > wire.max(8.0));
                }
                since = cycle;
                taken += 1;
            }
            if uut.read_enable.val() && uut.read_ready.val() {
                let which = taken - 1;
                let beat = (uut.read_beat.val().index() + 5_120 - places[which].0 % 512) % 512;
                assert!(beat < places[which].1, "frame {which}: beat {beat}");
                read = Some((which as i64, beat));
            }
            if uut.checked_valid.val() && uut.checked_take.val() {
                let (got, expected) = (uut.checked.val(), alone[judged]);
                assert_eq!(got.cause, expected.cause, "frame {judged}");
                assert_eq!(got.first.index(), places[judged].0 % 512);
                assert_eq!(got.beats.index(), places[judged].1);
                if !got.cause.any() {
                    let unused = 8 * (82 - got.header.to_u64());
                    assert_eq!(got.extension >> unused, expected.extension >> unused);
                    let what = |frame: CheckedFrame| CheckedFrame {
                        first: 0.into(),
                        beats: 0.into(),
                        extension: 0.into(),
                        ..frame
                    };
                    assert_eq!(what(got), what(expected), "frame {judged}");
                }
                judged += 1;
            }
            tick!(uut);
            if judged == frames.len() {
                break;
            }
        }
        assert_eq!((judged, slow), (frames.len(), 0), "pauses of {pause} %");
    }
}

/// Puts checksum and ICRC right after a change.
fn seal(mut frame: Vec<u8>) -> Vec<u8> {
    frame[24..26].fill(0);
    let sum: u32 = frame[14..34].chunks(2).map(|half| u32::from(half[0]) << 8 | u32::from(half[1])).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    frame[24..26].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
    let end = frame.len() - 4;
    let check = icrc(&frame[..end]);
    frame[end..].copy_from_slice(&check.to_le_bytes());
    frame
}

/// A change of a frame.
type Change = fn(&mut Vec<u8>);

#[test]
fn every_cause() {
    let mut rng = random("frame_check");
    let good = FrameHead { opcode: 10.into(), extension_words: 4.into(), ..head(&mut rng, 20) };
    let payload: Vec<u8> = (0..20).map(|_| rng.gen()).collect();
    let good = frame(&FrameHead { extension: (good.extension >> 96) << 96, ..good }, &sender(), &payload);
    let unsealed: [(u64, Change); 10] = [
        (cause::ICRC, |f| f[80] ^= 1),
        (cause::ICRC, |f| f[34] ^= 0x80),
        (cause::ICRC, |f| *f.last_mut().unwrap() ^= 1),
        (cause::IP, |f| f[25] ^= 1),
        (cause::SHORT, |f| f.truncate(57)),
        (cause::IP, |f| f.truncate(90)),
        (cause::NOT_OURS, |f| f[3] ^= 1),
        // What routers may change, and the sender's MAC
        (cause::NONE, |f| f[46] ^= 0xff),
        (cause::NONE, |f| f[40] ^= 0xff),
        (cause::NONE, |f| f[7] ^= 1),
    ];
    let sealed: [(u64, Change); 22] = [
        (cause::NONE, |f| f[22] = 1),
        (cause::NONE, |f| f[15] = 0xfc),
        (cause::NONE, |f| f[20] ^= 0x40),
        (cause::IP, |f| f[12] = 0x86),
        (cause::IP, |f| f[14] = 0x46),
        (cause::IP, |f| f[14] = 0x65),
        (cause::IP, |f| f[20] |= 0x20),
        (cause::IP, |f| f[21] = 1),
        (cause::IP, |f| f[16] = 0x20),
        (cause::IP, |f| f[16] = 0xff),
        (cause::IP, |f| f[17] += 4),
        (cause::IP, |f| f[17] -= 1),
        (cause::UDP, |f| f[23] = 6),
        (cause::UDP, |f| f[37] = 0xb8),
        (cause::UDP, |f| f[39] -= 4),
        (cause::NOT_OURS, |f| f[33] ^= 0x10),
        (cause::VERSION, |f| f[43] |= 1),
        (cause::VERSION, |f| f[44] = 0x7e),
        (cause::VERSION, |f| f[45] = 0xfe),
        // A limited member of the partition, and a request that is not served: the receiver
        // answers it.
        (cause::NONE, |f| f[44] = 0x7f),
        (cause::NONE, |f| f[42] = 0x04),
        (cause::OPCODE, |f| f[42] = 0x2a),
    ];
    let change = |change: Change| {
        let mut frame = good.clone();
        change(&mut frame);
        frame
    };
    let mut frames: Vec<_> = unsealed.iter().map(|(cause, by)| (*cause, change(*by), false)).collect();
    frames.extend(sealed.iter().map(|(cause, by)| (*cause, seal(change(*by)), false)));
    frames.push((cause::SHORT, good.clone(), true));
    frames.push((cause::NONE, good.clone(), false));
    // An opcode whose header the frame has no room for: fetch-add, in a frame of 62 bytes.
    let mut small = frame(
        &FrameHead { mac: ours().mac, ip: ours().ip, extension_words: 1.into(), ..random_head(&mut rng, 0) },
        &sender(),
        &[],
    );
    small.truncate(62);
    small[42] = 20;
    frames.push((cause::OPCODE, seal(small), false));
    let input: Vec<_> = frames.iter().map(|(_, frame, damaged)| (frame.clone(), *damaged)).collect();
    for (index, ((got, _), (cause, frame, _))) in judge(&input, 20).into_iter().zip(&frames).enumerate() {
        assert_eq!(got.cause.to_u64(), *cause, "{index}: {frame:02x?}");
    }
}
