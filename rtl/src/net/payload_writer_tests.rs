//! Payloads of every length to every place in a line.

use super::*;
use crate::memory::testing::{bits_to_line, line_to_bits, random};
use crate::testing::{reset, settle, tick};
use rand::Rng;
use std::collections::{BTreeMap, VecDeque};

/// Writes payloads: header bytes, length, address; with pauses of so many percent. Gives the
/// cycles.
fn write(cases: &[(usize, usize, u32)], pause: u32) -> u64 {
    let mut rng = random("payload_writer");
    let mut uut = PayloadWriter::default();
    reset!(uut);
    let mut buffer = vec![[0u8; 64]; 512];
    let (mut memory, mut expected) = (BTreeMap::new(), BTreeMap::new());
    // Writes that were accepted, and payloads whose last one is among them
    let mut outstanding: VecDeque<u64> = VecDeque::new();
    let (mut next, mut first, mut performed, mut read, mut cycles) = (0, 0usize, 0, None, 0);
    let mut payloads = Vec::new();
    while performed < cases.len() {
        cycles += 1;
        assert!(cycles < 100_000, "{next} of {} taken, {performed} performed", cases.len());
        // The next frame is put into the buffer when the one before was read.
        if next < cases.len() && payloads.len() == next && uut.place_ready.val() {
            let (header, length, address) = cases[next];
            let payload: Vec<u8> = (0..length).map(|_| rng.gen()).collect();
            first = rng.gen_range(0..512);
            let beats = (header + length).div_ceil(64);
            for beat in 0..beats {
                buffer[(first + beat) % 512] = std::array::from_fn(|i| {
                    let at = 64 * beat + i;
                    at.checked_sub(header)
                        .and_then(|at| payload.get(at).copied())
                        .unwrap_or_else(|| rng.gen())
                });
            }
            for (i, byte) in payload.iter().enumerate() {
                expected.insert(address.wrapping_add(i as u32), *byte);
            }
            payloads.push(payload);
        }
        let (header, length, address) = cases[next.min(cases.len() - 1)];
        uut.place_valid.next = next < cases.len() && payloads.len() > next && !rng.gen_ratio(pause, 100);
        uut.place.next = PayloadPlace {
            first: (first as u64).into(),
            header: (header as u64).into(),
            bytes: (length as u64).into(),
            address: u64::from(address).into(),
        };
        // What was not read a cycle ago is anything.
        uut.read_data.next = line_to_bits(&read.take().unwrap_or_else(|| std::array::from_fn(|_| rng.gen())));
        uut.read_ready.next = !rng.gen_ratio(pause, 100);
        uut.write.ready.next = !rng.gen_ratio(pause, 100);
        let done = (!outstanding.is_empty() && !rng.gen_ratio(pause, 100))
            .then(|| outstanding.remove(rng.gen_range(0..outstanding.len())).unwrap());
        uut.write.written.valid.next = done.is_some();
        uut.write.written.tag.next = done.unwrap_or(0).into();
        settle(&mut uut);
        if uut.read_enable.val() && uut.read_ready.val() {
            read = Some(buffer[uut.read_beat.val().index()]);
        }
        if uut.write.valid.val() && uut.write.ready.val() {
            let (line, data) = (uut.write.line.val().to_u64() as u32, bits_to_line(uut.write.data.val()));
            let strobe = uut.write.strobe.val().to_u64();
            assert_ne!(strobe, 0, "a write of nothing");
            for i in (0..64).filter(|i| strobe >> i & 1 == 1) {
                memory.insert(line * 64 + i, data[i as usize]);
            }
            outstanding.push_back(uut.write.tag.val().to_u64());
        }
        performed += usize::from(uut.performed.val());
        next += usize::from(uut.place_valid.val() && uut.place_ready.val());
        tick!(uut);
    }
    for _ in 0..3 {
        uut.write.written.valid.next = false;
        tick!(uut);
    }
    let wrong = expected.iter().find(|(at, byte)| memory.get(at) != Some(byte));
    assert_eq!(wrong, None, "the first byte that is wrong");
    assert_eq!(memory.len(), expected.len(), "bytes beside the payloads were written");
    cycles
}

#[test]
fn every_place_of_a_line() {
    let mut cases = Vec::new();
    let mut address = 0x1000;
    for header in [54, 70] {
        for place in 0..64u32 {
            for length in [1, 8, 64 - place as usize, 65] {
                address = (address & !63) + 64 * 4 + place;
                cases.push((header, length.max(1), address));
            }
        }
    }
    write(&cases, 0);
}

#[test]
fn long_payloads_with_pauses() {
    let mut rng = random("payload_writer");
    let mut address = 0x2_0000;
    let cases: Vec<_> = (0..60)
        .map(|_| {
            let header = [54, 58, 66, 70, 82][rng.gen_range(0..5)];
            let length = if rng.gen_bool(0.1) { 4_096 } else { rng.gen_range(1..600) };
            address += rng.gen_range(1..100);
            let here = address;
            address += length as u32;
            (header, length, here)
        })
        .collect();
    write(&cases, 30);
}

/// A line a cycle, but for the beginning of each payload.
#[test]
fn cycles() {
    let cases: Vec<_> = (0..10).map(|i| (70, 4_096, 0x1_0000 * i + 3)).collect();
    let cycles = write(&cases, 0);
    assert!(cycles < 10 * (65 + 6), "{cycles}");
}
