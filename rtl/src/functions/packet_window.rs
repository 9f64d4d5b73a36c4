//! The packets of a warp as a window of memory.

use crate::host::RingPlaces;
use crate::ports::{FunctionGuards, PacketBounds};
use crate::types::{PacketIndex, ThreadCount};
use hermes_hdl::prelude::*;

/// Finds the slots of the packets of a warp, which window 0 of a guarded network function is.
///
/// 1. `packet` and `count` are of the warp whose instruction is in stage I; `bounds` of the one
///    whose instruction is in stage D: registers between them take their values at edges with
///    `advance` high.
/// 2. The window begins with the slot of `packet` and has `count` slots: packets of a warp are in
///    slots one behind the other, and no warp crosses the ring's end (see
///    [`WarpFormer`](crate::control::WarpFormer)). What would lie beyond the address space is no
///    part of it. Slots below 64 bytes, less than a line, make it empty.
/// 3. The registers of the ring and `guards` change only while no warp runs, and stand for two
///    cycles before one starts: what follows from them alone is computed a cycle ahead.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct PacketWindow {
    /// Stages I and D advance at this edge.
    pub advance: Signal<In, Bit>,
    /// From the registers: where packets stand.
    pub ring: RingPlaces,
    /// From the core's context: what its function may do.
    pub guards: Flipped<FunctionGuards>,
    /// Stage I: packetIdx of lane 0.
    pub packet: Signal<In, PacketIndex>,
    /// Stage I: packets with which the warp was formed.
    pub count: Signal<In, ThreadCount>,
    /// Stage D: window 0.
    pub bounds: PacketBounds,
    /// Places of the ring, less one.
    last_place: Register<Bits<26>>,
    /// Logarithm of the lines of a slot.
    slot_lines_log2: Register<Bits<5>>,
    /// Slots have a line or more.
    has_lines: Register<Bit>,
    /// Lines from the ring's begin to the window.
    offset_d: Register<Bits<26>>,
    /// Lines of the window.
    size_d: Register<Bits<26>>,
}

impl Logic for PacketWindow {
    #[hdl_gen]
    fn update(&mut self) {
        self.last_place.d.next =
            ((bits::<32>(1) << self.ring.ring_slots_log2.val()) - bits::<32>(1)).get_bits::<26>(0);
        self.slot_lines_log2.d.next = self.ring.slot_bytes_log2.val() - bits::<5>(6);
        self.has_lines.d.next = self.ring.slot_bytes_log2.val() >= bits::<5>(6);

        // I
        let place = self.packet.val().get_bits::<26>(0) & self.last_place.q.val();
        if self.advance.val() {
            self.offset_d.d.next = place << self.slot_lines_log2.q.val();
            self.size_d.d.next = bits::<26>(0);
            if self.has_lines.q.val() {
                self.size_d.d.next = bit_cast::<26, 6>(self.count.val()) << self.slot_lines_log2.q.val();
            }
        }

        // D
        let first = self.ring.ring_base.val().get_bits::<26>(6) + self.offset_d.q.val();
        self.bounds.guarded.next = self.guards.guarded.val();
        self.bounds.may_load.next = self.guards.may_load.val();
        self.bounds.may_store.next = self.guards.may_store.val();
        self.bounds.first.next = first;
        self.bounds.end.next = bit_cast::<27, 26>(first) + bit_cast::<27, 26>(self.size_d.q.val());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// The slots of a warp, each of whose lines is in the window, and nothing else is; they stand
    /// while the stages do.
    #[test]
    fn the_window_is_the_slots_of_the_warp() {
        let mut random = random();
        let mut unit = PacketWindow::default();
        reset!(unit);
        let mut held = None;
        for _ in 0..20_000 {
            let ring_log2 = random.gen_range(0..=20u32);
            let slot_log2 = random.gen_range(7..=16u32);
            let base = u64::from(random.gen::<u32>() & 0x00ff_ffc0);
            let slots = 1u64 << ring_log2;
            let packet: u32 = random.gen();
            let place = u64::from(packet) % slots;
            let count = random.gen_range(1..=32).min(slots - place);
            unit.ring.ring_base.next = base.into();
            unit.ring.ring_slots_log2.next = u64::from(ring_log2).into();
            unit.ring.slot_bytes_log2.next = u64::from(slot_log2).into();
            unit.packet.next = u64::from(packet).into();
            unit.count.next = count.into();
            unit.advance.next = false;
            tick!(unit);
            let advance = random.gen_bool(0.7);
            unit.advance.next = advance;
            settle(&mut unit);
            tick!(unit);
            if advance {
                held = Some((place << slot_log2, count << slot_log2));
            }
            let Some((offset, size)) = held else { continue };
            let (first, end) = (unit.bounds.first.val().to_u64(), unit.bounds.end.val().to_u64());
            let begin = ((base + offset) & 0xffff_ffff) >> 6;
            assert_eq!(first, begin, "{base:#x} {offset:#x}");
            assert_eq!(end, begin + (size >> 6), "{base:#x} {offset:#x} {size:#x}");
        }
    }

    #[test]
    fn slots_smaller_than_a_line_make_no_window() {
        let mut unit = PacketWindow::default();
        for log2 in 0..8 {
            unit.ring.ring_base.next = 0x4_0000.into();
            unit.ring.ring_slots_log2.next = 8.into();
            unit.ring.slot_bytes_log2.next = u64::from(log2 as u32).into();
            unit.count.next = 4.into();
            unit.packet.next = 2.into();
            unit.advance.next = true;
            tick!(unit);
            tick!(unit);
            let (first, end) = (unit.bounds.first.val().to_u64(), unit.bounds.end.val().to_u64());
            let lines = if log2 < 6 { 0 } else { 4 << (log2 - 6) };
            assert_eq!(end - first, lines, "2^{log2} bytes");
        }
    }
}
