//! A window of memory that a kernel may touch.

use crate::prelude::*;

/// Windows for loads and as many for stores.
pub const WINDOWS: usize = 2;

/// The bounds of one read window or of one write window, as line addresses.
///
/// A window that reaches beyond the address space ends with it. Its end is the line after it, so that a window of size 0 ends where it begins and
/// has no line: each of a lane's checks is the sign of a difference (see [`AddressRegion`](super::AddressRegion)). The outputs answer `store` combinationally; a
/// change of a register shows in the next cycle: each core keeps a copy of the registers, so that no path leads from them through its check.
#[derive(LogicBlock, Default)]
pub struct AccessWindow {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// The window for stores is wanted, else that for loads.
    pub store: Signal<In, Bit>,
    /// READ_WINDOW_BASE register, bits 31:6.
    pub read_base: Signal<In, Bits<26>>,
    /// READ_WINDOW_SIZE register, bits 31:6.
    pub read_size: Signal<In, Bits<26>>,
    /// WRITE_WINDOW_BASE register, bits 31:6.
    pub write_base: Signal<In, Bits<26>>,
    /// WRITE_WINDOW_SIZE register, bits 31:6.
    pub write_size: Signal<In, Bits<26>>,
    /// First line of the window.
    pub base: Signal<Out, Bits<26>>,
    /// Line after the window; bit 26 is set if it ends with the address space.
    pub end: Signal<Out, Bits<27>>,
    read_first: Register<Bits<26>>,
    read_end: Register<Bits<27>>,
    write_first: Register<Bits<26>>,
    write_end: Register<Bits<27>>,
}

impl Logic for AccessWindow {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, read_first, read_end, write_first, write_end);
        self.read_first.d.next = self.read_base.val();
        self.write_first.d.next = self.write_base.val();
        self.read_end.d.next =
            bit_cast::<27, 26>(self.read_base.val()) + bit_cast::<27, 26>(self.read_size.val());
        self.write_end.d.next =
            bit_cast::<27, 26>(self.write_base.val()) + bit_cast::<27, 26>(self.write_size.val());
        if self.store.val() {
            self.base.next = self.write_first.q.val();
            self.end.next = self.write_end.q.val();
        } else {
            self.base.next = self.read_first.q.val();
            self.end.next = self.read_end.q.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl::prelude::simulate;

    #[test]
    fn bounds_of_windows() {
        let mut unit = AccessWindow::default();
        unit.connect_all();
        for (base, size, end) in [
            (5, 10, Some(15)),
            (5, 1, Some(6)),
            (0, 0x3ff_ffff, Some(0x3ff_ffff)),
            (0x3ff_ffff, 1, None),
            (0x3ff_ffff, 0x3ff_ffff, None),
            (7, 0, Some(7)),
        ] {
            for store in [false, true] {
                let (ours, other) = ((base, size), (1, 1));
                let (read, write) = if store { (other, ours) } else { (ours, other) };
                unit.store.next = store;
                unit.read_base.next = u64::into(read.0);
                unit.read_size.next = u64::into(read.1);
                unit.write_base.next = u64::into(write.0);
                unit.write_size.next = u64::into(write.1);
                unit.clock.next = Clock { clk: true };
                assert!(simulate(&mut unit, 10));
                unit.clock.next = Clock { clk: false };
                assert!(simulate(&mut unit, 10));
                assert_eq!(u64::from(unit.base.val()), base);
                let bounded = !unit.end.val().get_bit(26);
                assert_eq!(bounded.then(|| u64::from(unit.end.val())), end);
            }
        }
    }
}
