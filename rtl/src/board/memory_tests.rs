//! The packet memory against a model: random lines and bytes, answers that wait, addresses beyond
//! it; and the run timer.

use super::*;
use crate::memory::testing::{bits_to_line, line_to_bits, random, Line};
use crate::testing::{reset, settle, tick};
use rand::Rng;
use std::collections::VecDeque;

const BYTES_LOG2: usize = 10;
const BYTES: usize = 1 << BYTES_LOG2;

#[test]
fn lines_and_bytes_are_those_that_were_written() {
    let mut rng = random("line_memory");
    let mut uut = LineMemory::new(BYTES_LOG2);
    reset!(uut);
    // The RAM begins with anything; here with zeros.
    let mut model = vec![0u8; BYTES];
    // What is to be answered: ID, and the line that is to be read, or whether a write is inside.
    let mut reads: VecDeque<(u64, Option<Line>)> = VecDeque::new();
    let mut writes: VecDeque<(u64, bool)> = VecDeque::new();
    let mut byte = None;
    let (mut read_lines, mut written_lines, mut bytes, mut errors) = (0, 0, 0, 0);
    // What is offered stays until it is taken.
    let mut ar: Option<(u64, u32)> = None;
    let mut aw: Option<(u64, u32)> = None;
    let mut w: Option<(Line, u64)> = None;
    let mut host: Option<(bool, usize, u8)> = None;
    for cycle in 0..30_000 {
        let address = |rng: &mut rand_chacha::ChaCha8Rng| {
            if rng.gen_ratio(1, 8) {
                rng.gen::<u32>() & !63
            } else {
                rng.gen_range(0..BYTES as u32) & !63
            }
        };
        if ar.is_none() && rng.gen_ratio(1, 8) {
            ar = Some((rng.gen_range(0..256), address(&mut rng)));
        }
        if aw.is_none() && rng.gen_ratio(1, 10) {
            aw = Some((rng.gen_range(0..256), address(&mut rng)));
        }
        if w.is_none() && rng.gen_ratio(1, 10) {
            w = Some((std::array::from_fn(|_| rng.gen()), rng.gen::<u64>() | rng.gen::<u64>()));
        }
        if host.is_none() && rng.gen_ratio(1, 6) {
            host = Some((rng.gen(), rng.gen_range(0..BYTES), rng.gen()));
        }
        uut.s_axi.arvalid.next = ar.is_some();
        uut.s_axi.arid.next = ar.map_or(0, |(id, _)| id).into();
        uut.s_axi.araddr.next = ar.map_or(0, |(_, address)| u64::from(address)).into();
        uut.s_axi.awvalid.next = aw.is_some();
        uut.s_axi.awid.next = aw.map_or(0, |(id, _)| id).into();
        uut.s_axi.awaddr.next = aw.map_or(0, |(_, address)| u64::from(address)).into();
        uut.s_axi.wvalid.next = w.is_some();
        uut.s_axi.wdata.next = w.map_or_else(|| line_to_bits(&[0x55; 64]), |(line, _)| line_to_bits(&line));
        uut.s_axi.wstrb.next = w.map_or(0, |(_, strobe)| strobe).into();
        uut.byte.valid.next = host.is_some();
        uut.byte.write.next = host.is_some_and(|(write, ..)| write);
        uut.byte.address.next = host.map_or(0, |(_, address, _)| address as u64).into();
        uut.byte.data.next = host.map_or(0, |(.., data)| u64::from(data)).into();
        uut.s_axi.rready.next = rng.gen_ratio(3, 4);
        uut.s_axi.bready.next = rng.gen_ratio(3, 4);
        settle(&mut uut);

        assert_eq!(uut.byte.answer.val(), byte.is_some(), "cycle {cycle}");
        if let Some(expected) = byte.take() {
            assert_eq!(uut.byte.read.val().to_u64() as u8, expected, "cycle {cycle}");
        }
        if uut.s_axi.rvalid.val() {
            let (id, line) = reads[0];
            assert_eq!(uut.s_axi.rid.val().to_u64(), id);
            assert_eq!(uut.s_axi.rresp.val().to_u64(), if line.is_some() { 0 } else { 3 });
            if let Some(line) = line {
                assert!(bits_to_line(uut.s_axi.rdata.val()) == line, "cycle {cycle}");
            }
            if uut.s_axi.rready.val() {
                reads.pop_front();
            }
        }
        if uut.s_axi.bvalid.val() {
            let (id, inside) = writes[0];
            assert_eq!(
                (uut.s_axi.bid.val().to_u64(), uut.s_axi.bresp.val().to_u64()),
                (id, if inside { 0 } else { 3 })
            );
            if uut.s_axi.bready.val() {
                writes.pop_front();
            }
        }
        if let (true, Some((id, address))) = (uut.s_axi.arready.val(), ar) {
            let at = address as usize;
            let line = (at < BYTES).then(|| std::array::from_fn(|i| model[at + i]));
            read_lines += 1;
            errors += u32::from(line.is_none());
            reads.push_back((id, line));
            ar = None;
        }
        assert_eq!(uut.s_axi.awready.val(), uut.s_axi.wready.val());
        if uut.s_axi.awready.val() {
            let ((id, address), (line, strobe)) = (aw.take().unwrap(), w.take().unwrap());
            let at = address as usize;
            if at < BYTES {
                let enabled = (0..64).filter(|i| strobe >> i & 1 == 1);
                enabled.for_each(|i| model[at + i] = line[i]);
            }
            written_lines += 1;
            writes.push_back((id, at < BYTES));
        }
        if let (true, Some((write, address, data))) = (uut.byte.ready.val(), host) {
            bytes += 1;
            if write {
                model[address] = data;
            } else {
                byte = Some(model[address]);
            }
            host = None;
        }
        tick!(uut);
    }
    assert!(read_lines > 1_000 && written_lines > 500 && bytes > 1_000 && errors > 50);
}

#[test]
fn a_line_takes_as_long_as_is_said() {
    let mut uut = LineMemory::new(BYTES_LOG2);
    reset!(uut);
    uut.s_axi.rready.next = true;
    uut.s_axi.bready.next = true;
    // Cycles from the offer to the answer, and to the next one, of lines that come back to back.
    let (mut read, mut written) = (Vec::new(), Vec::new());
    for cycle in 0..40 {
        uut.s_axi.arvalid.next = true;
        settle(&mut uut);
        if uut.s_axi.rvalid.val() {
            read.push(cycle);
        }
        tick!(uut);
    }
    assert_eq!(read[..3], [6, 13, 20]);
    uut.s_axi.arvalid.next = false;
    (0..10).for_each(|_| tick!(uut));
    for cycle in 0..40 {
        uut.s_axi.awvalid.next = true;
        uut.s_axi.wvalid.next = true;
        settle(&mut uut);
        if uut.s_axi.bvalid.val() {
            written.push(cycle);
        }
        tick!(uut);
    }
    assert_eq!(written[..3], [5, 11, 17]);
}

#[test]
fn cycles_with_packets_are_counted() {
    let mut rng = random("run_timer");
    let mut uut = RunTimer::new(4);
    reset!(uut);
    let (mut inside, mut expected, mut seen) = (0u32, 0u64, 0);
    for cycle in 0..2_000u64 {
        uut.issued.next = inside < 6 && rng.gen_ratio(1, 9);
        uut.committed.next = inside > 0 && rng.gen_ratio(1, 7);
        settle(&mut uut);
        assert_eq!(uut.busy_cycles.val().to_u64(), expected, "cycle {cycle}");
        assert_eq!(uut.heartbeat.val(), cycle >> 4 & 1 == 1, "cycle {cycle}");
        assert_eq!(uut.busy.val(), seen > 0, "cycle {cycle}");
        expected += u64::from(inside > 0);
        seen = if inside > 0 { 1 } else { seen };
        inside = inside + u32::from(uut.issued.val()) - u32::from(uut.committed.val());
        tick!(uut);
    }
    assert!(expected > 100 && expected < 1_900, "{expected}");
}
