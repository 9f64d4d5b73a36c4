//! Payloads of any length from any address, with a memory that answers in any order.

use super::*;
use crate::memory::testing::{bits_to_line, line_to_bits, random};
use crate::testing::{reset, settle, tick};
use rand::Rng;
use std::collections::VecDeque;

/// A payload: its source, its bytes, and whether one of its lines cannot be read.
struct Payload {
    source: PayloadSource,
    bytes: Vec<u8>,
    fails: bool,
}

/// Byte of the memory at an address.
fn byte(address: u32) -> u8 {
    (address.wrapping_mul(0x9e37_79b1) >> 13) as u8
}

/// Lines that cannot be read.
fn is_broken(line: u32) -> bool {
    line % 61 == 7
}

#[test]
fn payloads_of_any_length() {
    let mut rng = random("payload_reader");
    let mut uut = PayloadReader::default();
    reset!(uut);
    // What was taken, in order; what is given now.
    let mut taken: VecDeque<Payload> = VecDeque::new();
    let mut given: Vec<u8> = vec![];
    let mut told = false;
    let mut offered: Option<Payload> = None;
    let mut reads: Vec<(u64, u32)> = vec![];
    let mut faults = VecDeque::new();
    let (mut done, mut failed, mut sequence, mut full) = (0, 0, 0u64, 0);
    for cycle in 0..4_000 {
        let slow = cycle / 1_000 % 2 == 0;
        let payload = offered.take().unwrap_or_else(|| {
            let memory = rng.gen_bool(0.8);
            let most = if !memory { 16 } else { [70, 300, 4_096][rng.gen_range(0..3)] };
            let bytes = rng.gen_range(1..=most);
            let address: u32 = rng.gen_range(0..0x1_0000) & if rng.gen_bool(0.3) { !63 } else { !0 };
            let data: Vec<u8> =
                (0..bytes).map(|i| if memory { byte(address + i) } else { rng.gen() }).collect();
            let value = match memory {
                true => bits::<128>(u64::from(address) | rng.gen_range(0..1 << 24u64) << 32),
                false => data
                    .iter()
                    .rev()
                    .fold(bits::<128>(0), |all, byte| all << 8 | bits::<128>(u64::from(*byte))),
            };
            sequence += 1;
            let source = PayloadSource {
                memory,
                data: value,
                bytes: u64::from(bytes).into(),
                pair: rng.gen_range(0..16u64).into(),
                sequence: sequence.into(),
                place: rng.gen_range(0..8u64).into(),
                response: rng.gen(),
            };
            let fails = memory && (address / 64..=(address + bytes - 1) / 64).any(is_broken);
            Payload { source, bytes: data, fails }
        });
        uut.source_valid.next = rng.gen_bool(0.7);
        uut.source.next = payload.source;
        uut.line_ready.next = rng.gen_bool(if slow { 0.5 } else { 0.9 });
        uut.read.ready.next = rng.gen_bool(0.8);
        uut.fault_ready.next = rng.gen_bool(0.3);
        let answered = (!reads.is_empty() && rng.gen_bool(if slow { 0.1 } else { 0.9 }))
            .then(|| reads.swap_remove(rng.gen_range(0..reads.len())));
        uut.read.response.valid.next = answered.is_some();
        uut.read.response.tag.next = answered.map_or(rng.gen_range(0..128), |read| read.0).into();
        let line = answered.map_or(0, |read| read.1);
        let data = std::array::from_fn(|i| byte(line * 64 + i as u32));
        uut.read.response.data.next = line_to_bits(&data);
        uut.read.response.error.next = is_broken(line);
        settle(&mut uut);

        // Those that have payloads of memory here, or a fault
        let mut pairs = [0u64; 2];
        for payload in taken.iter().filter(|payload| payload.source.memory) {
            pairs[usize::from(payload.source.response)] |= 1 << payload.source.pair.index();
        }
        for (fault, _) in &faults {
            let fault: &PayloadFault = fault;
            pairs[usize::from(fault.response)] |= 1 << fault.pair.index();
        }
        let seen = [uut.pairs.val(), uut.responding.val()].map(|pairs| pairs.to_u64());
        assert_eq!(seen, pairs, "cycle {cycle}");

        if uut.read.valid.val() && uut.read.ready.val() {
            let tag = uut.read.tag.val().to_u64();
            assert!(tag < 32 && reads.iter().all(|read| read.0 != tag), "a tag that is free");
            reads.push((tag, uut.read.line.val().to_u64() as u32));
            full += u64::from(reads.len() > 24);
        }
        assert_eq!(uut.fault_valid.val(), !faults.is_empty());
        if uut.fault_valid.val() && uut.fault_ready.val() {
            assert_eq!(Some((uut.fault.val(), uut.fault_message.val().to_u64())), faults.pop_front());
        }
        if uut.line_valid.val() && uut.line_ready.val() {
            let what = taken.front().expect("a payload");
            let line = bits_to_line(uut.line_data.val());
            let left = what.bytes.len() - given.len();
            assert!(line.iter().skip(left).all(|byte| *byte == 0), "zeros behind the last byte");
            given.extend_from_slice(&line[..left.min(64)]);
            told |= uut.line_error.val();
            if given.len() == what.bytes.len() {
                let what = taken.pop_front().unwrap();
                assert_eq!(told, what.fails, "payload {}", what.source.sequence.to_u64());
                if what.fails {
                    failed += 1;
                    let PayloadSource { pair, sequence, place, response, .. } = what.source;
                    let message = what.source.data.get_bits::<24>(32).to_u64();
                    faults.push_back((PayloadFault { pair, sequence, place, response }, message));
                } else {
                    assert!(given == what.bytes, "payload {}", what.source.sequence.to_u64());
                    done += 1;
                }
                given.clear();
                told = false;
            }
        }
        if uut.source_valid.val() && uut.source_ready.val() {
            taken.push_back(payload);
        } else {
            offered = Some(payload);
        }
        tick!(uut);
    }
    assert!(done > 50 && failed > 5 && full > 3, "{done} {failed} {full}");
}

/// From memory that answers in a few cycles a line comes each cycle.
#[test]
fn lines_without_pause() {
    let mut uut = PayloadReader::default();
    reset!(uut);
    uut.source.next =
        PayloadSource { memory: true, data: 0x1003.into(), bytes: 1024.into(), ..Default::default() };
    uut.source_valid.next = true;
    uut.line_ready.next = true;
    uut.read.ready.next = true;
    let mut way: VecDeque<Option<(u64, u64)>> = VecDeque::from([None; 4]);
    let mut lines = vec![];
    for cycle in 0..60 {
        let answered = way.pop_front().unwrap();
        uut.read.response.valid.next = answered.is_some();
        uut.read.response.tag.next = answered.unwrap_or((0, 0)).0.into();
        settle(&mut uut);
        way.push_back(
            uut.read.valid.val().then(|| (uut.read.tag.val().to_u64(), uut.read.line.val().to_u64())),
        );
        if uut.line_valid.val() {
            lines.push(cycle);
        }
        tick!(uut);
    }
    assert!(lines.len() >= 33, "two payloads: {lines:?}");
    assert_eq!(lines[15] - lines[0], 15, "{lines:?}");
    assert!(lines[16] - lines[15] <= 6, "{lines:?}");
}
