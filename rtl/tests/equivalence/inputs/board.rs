//! Bytes, frames and requests of the host, as they may come on a serial line.

use super::Random;
use hermes_hdl::prelude::bits;
use hermes_rtl::board::*;

/// What the tested link says that it is.
pub const IDENTITY: BoardIdentity =
    BoardIdentity { hash: 0x0123_4567_89ab_cdef, memory_log2: 12, kilohertz: 40_000 };

/// A trace buffer, and reads of registers that are done once.
pub const LINK_PARTS: LinkParts = LinkParts { trace_buffer: true, reads_once: true };

/// 133 MHz, with a start-up and intervals that are short.
pub const SDRAM_TIMING: SdramTiming =
    SdramTiming { cas_latency: 3, t_rcd: 3, t_rp: 3, t_rfc: 9, close: 3, interval: 70, start: 11 };

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
    for address in [&mut unit.s_axi.araddr, &mut unit.s_axi.awaddr, &mut unit.byte.address] {
        address.next = (random() % (1 << 10)).into();
    }
    if random() % 8 == 0 {
        unit.s_axi.araddr.next = (random() & 0xffff_ffc0).into();
    }
}

/// Addresses within the memory and beyond it, and requests that leave it time to rest.
fn sdram_requests(unit: &mut SdramMemory, random: Random, bytes_log2: usize) {
    for address in [&mut unit.s_axi.araddr, &mut unit.s_axi.awaddr, &mut unit.byte.address] {
        address.next = (random() & ((1 << bytes_log2) - 1) & (random() | 0xfff)).into();
    }
    if random() % 8 == 0 {
        unit.s_axi.awaddr.next = (random() & 0xffff_ffc0).into();
    }
    if random() % 8 == 0 {
        unit.s_axi.araddr.next = (random() & 0xffff_ffc0).into();
    }
    // The start-up takes long.
    unit.reset.next = unit.reset.next && random() % 8 == 0;
}

pub fn sdram_memory_alone(unit: &mut SdramMemory, random: Random, cycle: u64) {
    sdram_requests(unit, random, 26);
    unit.reset.next |= cycle < 2;
}

/// With a chip that finds no fault with it.
pub fn sdram_memory() -> impl FnMut(&mut SdramMemory, Random, u64) {
    let mut chip = SdramChip::new(10_000, 25).with_rows(64);
    move |unit, random, cycle| {
        sdram_requests(unit, random, 25);
        if cycle < 2 {
            unit.reset.next = true;
            return;
        }
        let driven = chip.cycle(SdramPins::of(&unit.sdram));
        assert_eq!(chip.violation(), None);
        if let Some(word) = driven {
            unit.sdram.d_in.next = u64::from(word).into();
        }
        if unit.reset.next {
            chip.controller_reset();
        }
    }
}

pub fn run_timer(unit: &mut RunTimer, random: Random, cycle: u64) {
    let inside = cycle / 64 % 2 == 0;
    unit.issued.next = inside && random() % 3 == 0;
    unit.committed.next = !inside && random() % 3 == 0;
    if let Some(spawned) = unit.spawned.get_mut() {
        spawned.next = random() % 2 == 0;
    }
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
