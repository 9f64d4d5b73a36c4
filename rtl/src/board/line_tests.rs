//! Frames over the serial line: every byte, every rate, noise.

use super::*;
use crate::memory::testing::random;
use crate::testing::{reset, settle, tick};
use rand::Rng;

/// The bytes of a frame on the line, by another way than the hardware's.
pub(super) fn framed(contents: &[u8]) -> Vec<u8> {
    let check = crc32fast::hash(contents).to_le_bytes();
    let escaped = contents.iter().chain(&check).flat_map(|byte| match byte {
        0x7d | 0x7e => vec![0x7d, byte ^ 0x20],
        _ => vec![*byte],
    });
    std::iter::once(0x7e).chain(escaped).chain([0x7e]).collect()
}

/// What the receiver makes of the bytes of a line: contents without FCS, or nothing for a damaged
/// frame. The second of a pair is a missing stop bit.
fn received(line: &[(u8, bool)], rng: &mut impl Rng) -> Vec<Option<Vec<u8>>> {
    let mut uut = FrameReceiver::default();
    reset!(uut);
    uut.enable.next = true;
    let (mut frames, mut frame) = (Vec::new(), Vec::new());
    for (byte, error) in line {
        uut.data.next = u64::from(*byte).into();
        uut.error.next = *error;
        uut.valid.next = true;
        settle(&mut uut);
        if uut.byte_valid.val() {
            assert_eq!(uut.index.val().index(), frame.len());
            frame.push(uut.byte.val().to_u64() as u8);
        }
        if uut.end.val() {
            let good = !uut.damaged.val();
            if good {
                assert_eq!(uut.length.val().index() + 4, frame.len());
                frame.truncate(frame.len() - 4);
            }
            frames.push(good.then(|| frame.clone()));
        }
        if *byte == 0x7e {
            frame.clear();
        }
        tick!(uut);
        uut.valid.next = false;
        for _ in 0..rng.gen_range(0..3) {
            uut.data.next = u64::from(rng.gen::<u8>()).into();
            tick!(uut);
        }
    }
    frames
}

fn without_error(bytes: &[u8]) -> Vec<(u8, bool)> {
    bytes.iter().map(|byte| (*byte, false)).collect()
}

/// A frame of random bytes, many of which are to be escaped.
fn contents(length: usize, rng: &mut impl Rng) -> Vec<u8> {
    let byte = |rng: &mut dyn rand::RngCore| match rng.gen_range(0..4) {
        0 => 0x7e,
        1 => 0x7d,
        _ => rng.gen(),
    };
    (0..length).map(|_| byte(rng)).collect()
}

#[test]
fn frames_of_every_length_arrive_whole() {
    let mut rng = random("frame_receiver");
    let frames: Vec<Vec<u8>> = (0..40).chain([1031, 1032]).map(|length| contents(length, &mut rng)).collect();
    let mut line = Vec::new();
    for frame in &frames {
        line.extend(framed(frame));
        if rng.gen() {
            // The flag that ends a frame may begin the next.
            line.pop();
        }
    }
    line.push(0x7e);
    let got = received(&without_error(&line), &mut rng);
    assert_eq!(got, frames.into_iter().map(Some).collect::<Vec<_>>());
}

#[test]
fn damaged_frames_are_told_and_the_next_one_is_whole() {
    let mut rng = random("frame_receiver, damages");
    for case in 0..120 {
        let length = rng.gen_range(4..60);
        let first = contents(length, &mut rng);
        let good = contents(9, &mut rng);
        let mut line = without_error(&framed(&first));
        let at = rng.gen_range(1..line.len() - 1);
        match case % 4 {
            0 => line[at].1 = true,
            // A bit that makes no flag and no escape of it
            1 => {
                let at = (1..line.len() - 1)
                    .find(|at| !matches!(line[*at].0, 0x7c..=0x7f | 0x5c..=0x5f))
                    .unwrap_or(1);
                line[at].0 ^= 1;
            }
            // Aborted
            2 => line.insert(line.len() - 1, (0x7d, false)),
            // Too long
            _ => line = without_error(&framed(&contents(1033, &mut rng))),
        }
        line.extend(without_error(&framed(&good)));
        let got = received(&line, &mut rng);
        assert_eq!(got, [None, Some(good)], "case {case}: {line:?}");
    }
}

#[test]
fn what_is_no_frame_is_ignored() {
    let mut rng = random("frame_receiver, noise");
    let good = contents(12, &mut rng);
    // Before the first flag, and less than four bytes between flags
    let mut line = vec![1, 2, 3, 4, 5, 6, 0x7d, 7, 0x7e, 0x7e, 1, 2, 3, 0x7e, 0x7e];
    line.extend(framed(&good));
    assert_eq!(received(&without_error(&line), &mut rng), [Some(good)]);
}

#[test]
fn transmitted_frames_are_those_of_the_standard() {
    let mut rng = random("frame_transmitter");
    let mut uut = FrameTransmitter::default();
    reset!(uut);
    for length in (1..30).chain([1028]) {
        let frame = contents(length, &mut rng);
        let (mut sent, mut line) = (0, Vec::new());
        while sent < length || line.len() < framed(&frame).len() {
            uut.valid.next = sent < length && rng.gen_bool(0.7);
            uut.data.next = u64::from(frame.get(sent).copied().unwrap_or(rng.gen())).into();
            uut.last.next = sent + 1 == length;
            uut.line_ready.next = rng.gen_bool(0.5);
            settle(&mut uut);
            if uut.line_valid.val() && uut.line_ready.val() {
                line.push(uut.line_data.val().to_u64() as u8);
            }
            sent += usize::from(uut.valid.val() && uut.ready.val());
            tick!(uut);
        }
        assert_eq!(line, framed(&frame), "{length} bytes");
    }
}

#[test]
fn an_aborted_frame_is_told_and_the_next_one_is_whole() {
    let mut rng = random("frame_transmitter, abort");
    let mut uut = FrameTransmitter::default();
    reset!(uut);
    let mut line = Vec::new();
    let good = [1, 2, 0x7e, 4, 5, 6];
    for (frame, whole) in [(&good[..5], false), (&good[..], true)] {
        let mut sent = 0;
        for _ in 0..60 {
            uut.valid.next = sent < frame.len();
            uut.data.next = u64::from(frame.get(sent).copied().unwrap_or(0)).into();
            uut.last.next = whole && sent + 1 == frame.len();
            uut.line_ready.next = rng.gen();
            settle(&mut uut);
            if uut.line_valid.val() && uut.line_ready.val() {
                line.push(uut.line_data.val().to_u64() as u8);
            }
            sent += usize::from(uut.valid.val() && uut.ready.val());
            tick!(uut);
        }
        uut.abort.next = !whole;
        tick!(uut);
        uut.abort.next = false;
        uut.line_ready.next = true;
        for _ in 0..4 {
            settle(&mut uut);
            if uut.line_valid.val() {
                line.push(uut.line_data.val().to_u64() as u8);
            }
            tick!(uut);
        }
    }
    assert_eq!(received(&without_error(&line), &mut rng), [None, Some(good.to_vec())]);
}

/// Sends bytes at one rate and receives them at another; gives what came, and how many stop bits
/// were missing.
fn over_the_line(bytes: &[u8], sends: u64, receives: u64, rng: &mut impl Rng) -> (Vec<u8>, usize) {
    let (mut sender, mut receiver) = (UartTransmitter::new(sends), UartReceiver::new(receives));
    reset!(sender);
    reset!(receiver);
    let (mut sent, mut got, mut errors, mut pause) = (0, Vec::new(), 0, 0);
    let mut rest = 20 * 65_536 / sends;
    while rest > 0 {
        sender.valid.next = sent < bytes.len() && pause == 0;
        sender.data.next = u64::from(bytes.get(sent).copied().unwrap_or(0)).into();
        pause = pause.max(1) - 1;
        settle(&mut sender);
        if sender.valid.val() && sender.ready.val() {
            sent += 1;
            pause = if rng.gen_ratio(1, 3) { rng.gen_range(0..400) } else { 0 };
        }
        rest -= u64::from(sent == bytes.len());
        receiver.rx.next = sender.tx.val();
        settle(&mut receiver);
        if receiver.valid.val() {
            got.push(receiver.data.val().to_u64() as u8);
            errors += usize::from(receiver.error.val());
        }
        tick!(sender);
        tick!(receiver);
    }
    (got, errors)
}

#[test]
fn bytes_pass_at_every_rate() {
    let mut rng = random("uart");
    for step in [1 << 14, 16_000, 65_536 / 13, 4_915, 1_638, 655] {
        let bytes: Vec<u8> = [0, 0xff, 0x55, 0xaa].into_iter().chain((0..12).map(|_| rng.gen())).collect();
        // Rates that differ by up to 2 %, as those of two oscillators and dividers
        for other in [step, step * 102 / 100, step * 98 / 100] {
            if other <= 1 << 14 {
                let (got, errors) = over_the_line(&bytes, step, other, &mut rng);
                assert_eq!((got, errors), (bytes.clone(), 0), "sent at {step}, received at {other}");
            }
        }
    }
}

/// Gives the receiver one level for so many cycles; gives the bytes that came, with whether their
/// stop bit was missing.
fn levels(levels: &[(bool, u32)]) -> Vec<(u8, bool)> {
    let mut uut = UartReceiver::new(65_536 / 16);
    uut.rx.next = true;
    reset!(uut);
    let mut got = Vec::new();
    for (level, cycles) in levels {
        for _ in 0..*cycles {
            uut.rx.next = *level;
            settle(&mut uut);
            if uut.valid.val() {
                got.push((uut.data.val().to_u64() as u8, uut.error.val()));
            }
            tick!(uut);
        }
    }
    got
}

#[test]
fn noise_and_breaks_on_the_line() {
    // A start bit that does not last is none; a line that stays low is one byte without a stop bit.
    assert_eq!(levels(&[(true, 40), (false, 5), (true, 400)]), []);
    assert_eq!(levels(&[(true, 40), (false, 2_000), (true, 400)]), [(0, true)]);
    assert_eq!(levels(&[(true, 40), (false, 16), (true, 400)]), [(0xff, false)]);
}
