//! Frames of every kind and length, byte by byte.

use super::super::testing::{frame, random_head};
use super::*;
use crate::memory::testing::{bits_to_line, line_to_bits, random};
use crate::testing::{reset, settle, tick};
use rand::Rng;

fn identity() -> NetIdentity {
    NetIdentity { mac: 0x0200_1234_5601u64.into(), ip: 0xc0a8_fff1u64.into(), type_of_service: 0x88.into() }
}

/// Sends frames with payloads of these lengths, with pauses of so many percent; gives the cycles
/// from each head to its last beat.
fn send(lengths: &[usize], pause: u32, errors: bool) -> Vec<u64> {
    let mut rng = random("frame_builder");
    let mut uut = FrameBuilder::default();
    reset!(uut);
    let mut cycles = Vec::new();
    for &length in lengths {
        let head = random_head(&mut rng, length);
        let payload: Vec<u8> = (0..length).map(|_| rng.gen()).collect();
        let expected = frame(&head, &identity(), &payload);
        let broken = errors && length > 0 && rng.gen_bool(0.5);
        let bad_line = rng.gen_range(0..length.div_ceil(64).max(1));
        let (mut sent, mut line, mut taken, mut ended) = (Vec::new(), 0, None, false);
        for cycle in 0..20_000u64 {
            uut.identity.next = identity();
            uut.head.next = head;
            uut.head_valid.next = taken.is_none();
            let mut bytes = [0; 64];
            let part = &payload[(64 * line).min(length)..(64 * line + 64).min(length)];
            bytes[..part.len()].copy_from_slice(part);
            uut.line_valid.next = !part.is_empty() && taken.is_some() && !rng.gen_ratio(pause, 100);
            uut.line_data.next = line_to_bits(&bytes);
            uut.line_error.next = broken && line == bad_line;
            uut.tx_tready.next = !rng.gen_ratio(pause, 100);
            settle(&mut uut);
            if taken.is_none() && uut.head_ready.val() {
                taken = Some(cycle);
            }
            line += usize::from(uut.line_valid.val() && uut.line_ready.val());
            let beat = uut.tx_tvalid.val() && uut.tx_tready.val();
            if beat {
                let keep = uut.tx_tkeep.val().to_u64();
                let count = keep.trailing_ones() as usize;
                assert!(
                    keep.count_ones() as usize == count && (count == 64 || uut.tx_tlast.val()),
                    "{keep:#x}"
                );
                let data = bits_to_line(uut.tx_tdata.val());
                assert!(data[count..].iter().all(|byte| *byte == 0));
                sent.extend_from_slice(&data[..count]);
                ended = uut.tx_tlast.val();
            }
            tick!(uut);
            if ended {
                cycles.push(cycle - taken.expect("its head"));
                break;
            }
        }
        assert!(ended, "{length} bytes: no last beat");
        assert_eq!(line, length.div_ceil(64), "{length} bytes: lines");
        let end = expected.len() - 4;
        assert_eq!(sent.len(), expected.len(), "{length} bytes");
        assert_eq!(sent[..end], expected[..end], "{length} bytes");
        if broken {
            assert_ne!(sent[end..], expected[end..], "{length} bytes: a line could not be read");
        } else {
            assert_eq!(sent[end..], expected[end..], "{length} bytes: ICRC of {head:?}");
        }
    }
    cycles
}

#[test]
fn frames_of_every_length() {
    let mut lengths: Vec<usize> = (0..70).collect();
    lengths.extend([127, 128, 255, 256, 257, 1_023, 1_024, 4_096]);
    send(&lengths, 0, false);
}

#[test]
fn pauses_everywhere() {
    let lengths: Vec<usize> = (0..50).map(|i| i * 7 % 331).collect();
    send(&lengths, 40, false);
}

#[test]
fn lines_that_cannot_be_read() {
    let lengths: Vec<usize> = (0..30).map(|i| 1 + i * 5 % 200).collect();
    send(&lengths, 20, true);
}

/// Without pauses a frame takes three cycles for its headers, one for each 16 bytes, and three for
/// its ICRC and the last beat.
#[test]
fn cycles() {
    let lengths = [8, 16, 64, 1_024, 4_096];
    for (measured, length) in send(&lengths, 0, false).into_iter().zip(lengths) {
        let chunks = (length as u64 + 82).div_ceil(16);
        assert!(measured <= 6 + chunks, "{length} bytes: {measured} cycles");
    }
}
