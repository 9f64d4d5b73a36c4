//! A window of memory that a kernel may touch.

use crate::ports::{PacketBounds, WindowDistance};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Windows for loads and as many for stores.
pub const WINDOWS: usize = 2;

/// The bounds of one read window or of one write window, as distances from the immediate of the
/// instruction.
///
/// The address of a lane is the sum of its operand and the immediate; comparing the sum with a
/// bound would take as long as computing it. So stage R subtracts each bound from the immediate,
/// once for all lanes, and in stage X the lanes add their operands to this distance while they
/// compute their addresses; see [`AddressRegion`](super::AddressRegion).
///
/// A window that reaches beyond the address space ends with it. Its end is the byte after it, so
/// that a window of size 0 ends where it begins and has no byte. `store` and `immediate` are those
/// of stage R; the distances are those of stage X, registers that take them at an edge with
/// `advance` high. A change of a configuration register takes effect a cycle later: each core keeps
/// a copy of these registers, so that no path leads from them through its check.
///
/// With network functions the window may be that of the packets of a warp (`packets.guarded`): the
/// copies then take the bounds of the instruction in stage D at the edge with `advance` high, and
/// stand with the stages. Where the network function may not load, or store, it is empty.
#[clocked]
#[derive(LogicBlock)]
#[new(guards: bool)]
pub struct AccessWindow {
    /// Stages R and X advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage R: selects the window for stores, else the one for loads.
    pub store: Signal<In, Bit>,
    /// Stage R: the immediate.
    pub immediate: Signal<In, Bits<32>>,
    /// READ_WINDOW_BASE register, bits 31:6.
    pub read_base: Signal<In, LineAddress>,
    /// READ_WINDOW_SIZE register, bits 31:6.
    pub read_size: Signal<In, Bits<26>>,
    /// WRITE_WINDOW_BASE register, bits 31:6.
    pub write_base: Signal<In, LineAddress>,
    /// WRITE_WINDOW_SIZE register, bits 31:6.
    pub write_size: Signal<In, Bits<26>>,
    /// Stage X: how far the immediate is from the ends of the window.
    pub distance: Flipped<WindowDistance>,
    /// Stage D: the packets of the warp (only in window 0 with network functions).
    #[there(guards)]
    pub packets: Part<Flipped<PacketBounds>>,
    read_first: Register<LineAddress>,
    read_end: Register<Bits<27>>,
    write_first: Register<LineAddress>,
    write_end: Register<Bits<27>>,
    from_base_x: Register<Bits<27>>,
    from_end_x: Register<Bits<27>>,
}

impl Default for AccessWindow {
    /// A window of the registers alone.
    fn default() -> Self {
        Self::new(false)
    }
}

impl AccessWindow {
    /// A window of the registers alone, or one that may be that of a warp's packets (`guards`).
    pub fn new(guards: bool) -> Self {
        Self::wired(guards)
    }
}

impl Logic for AccessWindow {
    #[hdl_gen]
    fn update(&mut self) {
        self.read_first.d.next = self.read_base.val();
        self.write_first.d.next = self.write_base.val();
        self.read_end.d.next =
            bit_cast::<27, 26>(self.read_base.val()) + bit_cast::<27, 26>(self.read_size.val());
        self.write_end.d.next =
            bit_cast::<27, 26>(self.write_base.val()) + bit_cast::<27, 26>(self.write_size.val());
        if self.packets.is_there() {
            if !self.packets.may_load.val() {
                self.read_end.d.next = bit_cast::<27, 26>(self.read_base.val());
            }
            if !self.packets.may_store.val() {
                self.write_end.d.next = bit_cast::<27, 26>(self.write_base.val());
            }
            if self.packets.guarded.val() {
                self.read_first.d.next = self.read_first.q.val();
                self.write_first.d.next = self.write_first.q.val();
                self.read_end.d.next = self.read_end.q.val();
                self.write_end.d.next = self.write_end.q.val();
                if self.advance.val() {
                    self.read_first.d.next = self.packets.first.val();
                    self.write_first.d.next = self.packets.first.val();
                    self.read_end.d.next = bit_cast::<27, 26>(self.packets.first.val());
                    self.write_end.d.next = bit_cast::<27, 26>(self.packets.first.val());
                    if self.packets.may_load.val() {
                        self.read_end.d.next = self.packets.end.val();
                    }
                    if self.packets.may_store.val() {
                        self.write_end.d.next = self.packets.end.val();
                    }
                }
            }
        }
        let mut first = self.read_first.q.val();
        let mut end = self.read_end.q.val();
        if self.store.val() {
            first = self.write_first.q.val();
            end = self.write_end.q.val();
        }
        // The end of the address space
        if end.get_bit(26) {
            end = bits::<27>(0x400_0000);
        }
        if self.advance.val() {
            self.from_base_x.d.next =
                bit_cast::<27, 26>(self.immediate.val().get_bits::<26>(6)) - bit_cast::<27, 26>(first);
            self.from_end_x.d.next = bit_cast::<27, 26>(self.immediate.val().get_bits::<26>(6)) - end;
        }
        self.distance.from_base.next = self.from_base_x.q.val();
        self.distance.from_end.next = self.from_end_x.q.val();
    }
}

/// A bound of a window, a line address up to 2^26, as [`AccessWindow`] gives it for `immediate`.
#[cfg(test)]
pub(crate) fn distance(immediate: u32, line: u64) -> Bits<27> {
    bits((u64::from(immediate).wrapping_sub(line << 6) & 0x1_ffff_ffff) >> 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, tick};
    use rand::Rng;

    #[test]
    fn bounds_of_windows() {
        let mut unit = AccessWindow::default();
        for (base, size, end) in [
            (5, 10, 15),
            (5, 1, 6),
            (0, 0x3ff_ffff, 0x3ff_ffff),
            (0x3ff_ffff, 1, 0x400_0000),
            (0x3ff_ffff, 0x3ff_ffff, 0x400_0000),
            (7, 0, 7),
        ] {
            for (store, immediate) in [(false, 0), (true, 0x7ff), (false, -1), (true, -0x800)] {
                let immediate = immediate as u32;
                let (ours, other) = ((base, size), (1, 1));
                let (read, write) = if store { (other, ours) } else { (ours, other) };
                unit.store.next = store;
                unit.immediate.next = bits(immediate.into());
                unit.read_base.next = u64::into(read.0);
                unit.read_size.next = u64::into(read.1);
                unit.write_base.next = u64::into(write.0);
                unit.write_size.next = u64::into(write.1);
                unit.advance.next = true;
                tick!(unit);
                tick!(unit);
                assert_eq!(unit.distance.from_base.val(), distance(immediate, base));
                assert_eq!(unit.distance.from_end.val(), distance(immediate, end));
                // They stand while the stages stand.
                unit.advance.next = false;
                unit.immediate.next = bits(1);
                tick!(unit);
                assert_eq!(unit.distance.from_base.val(), distance(immediate, base));
            }
        }
    }

    /// Those of the instruction in stage R, whatever is in stage D and however long the stages
    /// stand; closed for loads or stores that are not allowed.
    #[test]
    fn bounds_of_packets_go_along_with_their_instruction() {
        let mut random = random();
        let mut unit = AccessWindow::new(true);
        let mut read: Option<(u64, bool, bool, usize)> = None;
        let mut stood = 0;
        for (base, size) in
            [(&mut unit.read_base, &mut unit.read_size), (&mut unit.write_base, &mut unit.write_size)]
        {
            base.next = bits(1);
            size.next = bits(0x3ff_fff0);
        }
        for round in 0..20_000usize {
            let packets = &mut unit.packets;
            let first: u64 = random.gen_range(0..1 << 26);
            let (may_load, may_store) = (round / 64 % 2 == 0, round / 128 % 2 == 0);
            packets.guarded.next = round / 256 % 4 != 0;
            packets.may_load.next = may_load;
            packets.may_store.next = may_store;
            packets.first.next = bits(first);
            packets.end.next = bits(first + 32);
            let store: bool = random.gen();
            let immediate: u32 = random.gen();
            unit.store.next = store;
            unit.immediate.next = bits(immediate.into());
            let advance = random.gen_bool(0.6);
            unit.advance.next = advance;
            let guarded = unit.packets.guarded.next;
            tick!(unit);
            // The first rounds of a kind have instructions of the one before in their stages.
            if advance {
                if let Some((first, loads, stores, at)) = read.filter(|_| round % 64 > 30) {
                    let is_open = if store { stores } else { loads };
                    let (begin, end) = match (guarded, is_open) {
                        (true, true) => (first, (first + 32).min(1 << 26)),
                        (true, false) => (first, first),
                        (false, true) => (1, 0x3ff_fff1),
                        (false, false) => (1, 1),
                    };
                    assert_eq!(unit.distance.from_base.val(), distance(immediate, begin), "{round}");
                    assert_eq!(unit.distance.from_end.val(), distance(immediate, end), "{round}");
                    stood += usize::from(round - at > 1);
                }
                read = Some((first, may_load, may_store, round));
            }
        }
        assert!(stood > 1_000, "{stood}");
    }
}
