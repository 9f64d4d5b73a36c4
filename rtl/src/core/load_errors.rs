//! Lanes whose loads failed.

use crate::ports::{FailedLoad, LaneErrors};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Remembers the lanes of every warp to which a load brought a bus error, until they fault.
///
/// 1. `error.valid` adds `error.lanes` to those of warp `error.slot`, and keeps `error.line` as the
///    line of the warp that failed last.
/// 2. `found` says combinationally whether any lane of `active` is among those of warp `slot`: then
///    the next instruction of the warp is a fault of these lanes.
/// 3. `errors.lanes` are the lanes of warp `write_slot`, and `errors.line` is the line.
///    `clear_valid` takes `clear_lanes` away from them: lanes that faulted, for whatever reason. It
///    does not come together with `error.valid`, since a fault waits for the long-latency results
///    of its warp.
/// 4. Changes show in the next cycle. After reset, the memories are wiped for 32 cycles, in which
///    nothing is found and nothing must change.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct LoadErrors<const LANES: usize> {
    /// From the late results.
    pub error: FailedLoad<LANES>,
    /// Stage D: warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Stage D: lanes that run.
    pub active: Signal<In, Bits<LANES>>,
    /// To stage D: a load of one of them failed.
    pub found: Signal<Out, Bit>,
    /// Stage W: warp slot.
    pub write_slot: Signal<In, Bits<5>>,
    /// Loads of the warp in stage W that failed.
    pub errors: Flipped<LaneErrors<LANES>>,
    /// From stage W: lanes of its warp fault.
    pub clear_valid: Signal<In, Bit>,
    /// Lanes that fault.
    pub clear_lanes: Signal<In, Bits<LANES>>,
    asked: RamAsync<Bits<LANES>, 5>,
    written: RamAsync<Bits<LANES>, 5>,
    changed: RamAsync<Bits<LANES>, 5>,
    lines: RamAsync<LineAddress, 5>,
    wiped: Register<Bits<6>>,
}

impl<const LANES: usize> Logic for LoadErrors<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.asked.read_address.next = self.slot.val();
        self.written.read_address.next = self.write_slot.val();
        self.changed.read_address.next = self.error.slot.val();
        self.lines.read_address.next = self.write_slot.val();
        self.found.next =
            self.wiped.q.val().get_bit(5) & (self.asked.read_data.val() & self.active.val()).any();
        self.errors.lanes.next = self.written.read_data.val();
        self.errors.line.next = self.lines.read_data.val();

        let mut write_enable = self.error.valid.val() | self.clear_valid.val();
        let mut write_address = self.write_slot.val();
        let mut write_row = self.written.read_data.val() & !self.clear_lanes.val();
        if self.error.valid.val() {
            write_address = self.error.slot.val();
            write_row = self.changed.read_data.val() | self.error.lanes.val();
        }
        if !self.wiped.q.val().get_bit(5) {
            self.wiped.d.next = self.wiped.q.val() + bits::<6>(1);
            write_enable = true;
            write_address = self.wiped.q.val().get_bits::<5>(0);
            write_row = bits::<LANES>(0);
        }
        self.asked.write_enable.next = write_enable;
        self.asked.write_address.next = write_address;
        self.asked.write_data.next = write_row;
        self.written.write_enable.next = write_enable;
        self.written.write_address.next = write_address;
        self.written.write_data.next = write_row;
        self.changed.write_enable.next = write_enable;
        self.changed.write_address.next = write_address;
        self.changed.write_data.next = write_row;
        self.lines.write_enable.next = self.error.valid.val();
        self.lines.write_address.next = self.error.slot.val();
        self.lines.write_data.next = self.error.line.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tick;
    use hermes_hdl::prelude::simulate;
    use rand::Rng;

    #[test]
    fn lanes_are_found_until_they_fault() {
        let mut rng = hermes_hdl::testing::random();
        let mut unit = LoadErrors::<4>::default();
        unit.reset.next = true;
        tick!(unit);
        unit.reset.next = false;
        for _ in 0..32 {
            tick!(unit);
        }
        let (mut lanes, mut lines) = ([0u64; 32], [0u64; 32]);
        let mut found = 0;
        for _ in 0..4000 {
            let error = rng.gen_bool(0.2).then(|| (rng.gen_range(0..32usize), rng.gen_range(1..16u64)));
            let clear = (error.is_none() && rng.gen_bool(0.5)).then(|| rng.gen_range(0..16u64));
            let (slot, write_slot) = (rng.gen_range(0..32usize), rng.gen_range(0..32usize));
            let (active, line) = (rng.gen_range(0..16u64), rng.gen_range(0..1 << 26));
            unit.error.valid.next = error.is_some();
            unit.error.slot.next = (error.unwrap_or_default().0 as u64).into();
            unit.error.lanes.next = error.unwrap_or_default().1.into();
            unit.error.line.next = line.into();
            unit.slot.next = (slot as u64).into();
            unit.active.next = active.into();
            unit.write_slot.next = (write_slot as u64).into();
            unit.clear_valid.next = clear.is_some();
            unit.clear_lanes.next = clear.unwrap_or_default().into();
            assert!(simulate(&mut unit, 20));
            assert_eq!(unit.found.val(), lanes[slot] & active != 0);
            assert_eq!(u64::from(unit.errors.lanes.val()), lanes[write_slot]);
            if lanes[write_slot] != 0 {
                assert_eq!(u64::from(unit.errors.line.val()), lines[write_slot]);
                found += 1;
            }
            tick!(unit);
            if let Some((slot, errors)) = error {
                lanes[slot] |= errors;
                lines[slot] = line;
            }
            if let Some(faulted) = clear {
                lanes[write_slot] &= !faulted;
            }
        }
        assert!(found > 300, "{found}");
    }
}
