//! Inputs that keep the units of network functions busy.

use super::Random;
use hermes_rtl::functions::*;

/// FIFOs that fill for some time and drain then, and links that stand for some time.
pub fn chain(unit: &mut Chain<3, 4>, random: Random, cycle: u64) {
    unit.reset.next |= cycle % 3_000 == 0;
    let step = cycle / 64;
    unit.control.goes_on.next = (step * 7 % 16).into();
    unit.control.targets.next = (step * 0x1_2345_6789 % (1 << 24)).into();
    unit.control.limit.next = (step % 6).into();
    let fills = cycle / 100 % 2 == 0;
    unit.finish.next = random() % 4 < if fills { 3 } else { 1 };
    unit.waits.take.next = random() % 4 < if fills { 1 } else { 3 };
    unit.enter.next = random() % 4 == 0;
    unit.leave.next = random() % 4 == 0;
}

/// Windows of a few lines, and lines near them.
pub fn fetch_window(unit: &mut FetchWindow, random: Random, _: u64) {
    unit.base.next = (random() % 16).into();
    unit.size.next = (random() % 16).into();
    unit.fetched.pc.next = (random() % (40 << 4)).into();
    unit.fetched.boot.next = random() % 8 == 0;
}

/// The registers, then words of the bus.
pub fn core_context(unit: &mut CoreContext, _: Random, cycle: u64) {
    unit.first.next = cycle / 40 % 2 == 0;
}

/// CORE_NF stands for some time, and now and then a word is written.
pub fn core_owner(unit: &mut CoreOwner, random: Random, cycle: u64) {
    unit.reset.next |= cycle % 4_000 == 0;
    let wanted = (cycle / 30).wrapping_mul(0x9e37_79b9) >> 7 & 0x777;
    unit.assignment.wanted.next = wanted.into();
    unit.written.valid.next = random() % 8 == 0;
    for idle in &mut unit.idle {
        idle.next = random() % 4 != 0;
    }
}
