//! Bytes, frames and requests of the host, as they may come on a serial line.

use super::Random;
use hermes_hdl::prelude::bits;
use hermes_rtl::board::*;

/// What the tested link says that it is.
pub const IDENTITY: BoardIdentity =
    BoardIdentity { hash: 0x0123_4567_89ab_cdef, memory_log2: 12, kilohertz: 40_000 };

/// A byte of a line, often one that frames are made of.
fn line_byte(random: Random) -> u64 {
    match random() % 4 {
        0 => 0x7e,
        1 => 0x7d,
        _ => random() & 0xff,
    }
}

pub fn uart_receiver(unit: &mut UartReceiver, random: Random, cycle: u64) {
    // Bits of about eight cycles
    unit.rx.next = if cycle % 8 == 0 { random() % 2 == 0 } else { unit.rx.val() };
}

pub fn frame_receiver(unit: &mut FrameReceiver, random: Random, _: u64) {
    unit.data.next = line_byte(random).into();
    unit.error.next = random() % 64 == 0;
    unit.enable.next = random() % 64 != 0;
}

pub fn frame_transmitter(unit: &mut FrameTransmitter, random: Random, _: u64) {
    unit.data.next = line_byte(random).into();
    unit.last.next = random() % 8 == 0;
    unit.abort.next = random() % 64 == 0;
}

pub fn line_memory(unit: &mut LineMemory, random: Random, _: u64) {
    for address in [&mut unit.araddr, &mut unit.awaddr, &mut unit.byte.address] {
        address.next = (random() % (1 << 10)).into();
    }
    if random() % 8 == 0 {
        unit.araddr.next = (random() & 0xffff_ffc0).into();
    }
}

pub fn run_timer(unit: &mut RunTimer, random: Random, cycle: u64) {
    let inside = cycle / 64 % 2 == 0;
    unit.issued.next = inside && random() % 3 == 0;
    unit.committed.next = !inside && random() % 3 == 0;
}

pub fn board_link() -> impl FnMut(&mut BoardLink, Random, u64) {
    let (mut place, mut length) = (0u64, 0u64);
    move |unit, random, _| {
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
    }
}
