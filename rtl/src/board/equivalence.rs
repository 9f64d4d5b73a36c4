//! Units of a board against their Verilog.

use super::*;
use hermes_hdl::prelude::bits;
use hermes_hdl::testing::{check, check_with};

/// A byte of a line, often one that frames are made of.
fn line_byte(random: &mut dyn FnMut() -> u64) -> u64 {
    match random() % 4 {
        0 => 0x7e,
        1 => 0x7d,
        _ => random() & 0xff,
    }
}

#[test]
fn uarts() {
    check_with(UartReceiver::new(1 << 13), 10_000, |unit, random, cycle| {
        // Bits of about eight cycles
        unit.rx.next = if cycle % 8 == 0 { random() % 2 == 0 } else { unit.rx.val() };
    });
    check(UartTransmitter::new(12_345));
}

#[test]
fn frames() {
    check_with(FrameReceiver::default(), 10_000, |unit, random, _| {
        unit.data.next = line_byte(random).into();
        unit.error.next = random() % 64 == 0;
        unit.enable.next = random() % 64 != 0;
    });
    check_with(FrameTransmitter::default(), 10_000, |unit, random, _| {
        unit.data.next = line_byte(random).into();
        unit.last.next = random() % 8 == 0;
        unit.abort.next = random() % 64 == 0;
    });
    check(Fcs::default());
}

#[test]
fn line_memory() {
    check_with(LineMemory::new(10), 10_000, |unit, random, _| {
        for address in [&mut unit.araddr, &mut unit.awaddr, &mut unit.byte.address] {
            address.next = (random() % (1 << 10)).into();
        }
        if random() % 8 == 0 {
            unit.araddr.next = (random() & 0xffff_ffc0).into();
        }
    });
}

#[test]
fn run_timer() {
    check_with(RunTimer::new(3), 4_000, |unit, random, cycle| {
        let inside = cycle / 64 % 2 == 0;
        unit.issued.next = inside && random() % 3 == 0;
        unit.committed.next = !inside && random() % 3 == 0;
    });
}

#[test]
fn board_link() {
    let identity = BoardIdentity { hash: 0x0123_4567_89ab_cdef, memory_log2: 12, kilohertz: 40_000 };
    let (mut place, mut length) = (0u64, 0u64);
    check_with(BoardLink::new(identity), 20_000, |unit, random, _| {
        // Requests that are often possible
        if place > length {
            (place, length) = (0, [8, 8, 12, 8 + random() % 6][random() as usize % 4]);
        }
        unit.index.next = place.into();
        unit.byte.next = match place {
            0 => (random() % 7).into(),
            2 => (random() % 8).into(),
            3 | 6 | 7 => bits(0),
            5 => (random() % 8).into(),
            _ => (random() & 0xff).into(),
        };
        let receives = unit.enable.val();
        unit.byte_valid.next = receives && place < length && random() % 2 == 0;
        unit.end.next = receives && place == length;
        unit.damaged.next = random() % 8 == 0;
        unit.length.next = if random() % 8 == 0 { (random() & 0x7ff).into() } else { length.into() };
        place += u64::from(unit.byte_valid.next || unit.end.next);
    });
}
