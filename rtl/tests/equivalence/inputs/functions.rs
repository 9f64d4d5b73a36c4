//! Inputs that keep the units of network functions busy.

use super::Random;
use hermes_hdl::prelude::bits;
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

/// As [`chain`]; each entry has a first visit before anything else.
pub fn chain_with_branches(unit: &mut Chain<3, 4>, random: Random, cycle: u64) {
    chain(unit, random, cycle);
    if cycle < 16 {
        unit.reset.next = false;
        unit.enter.next = cycle < 8;
        unit.enter_index.next = (cycle % 8).into();
        unit.finish.next = cycle >= 8;
        unit.finish_index.next = (cycle % 8).into();
        unit.waits.take.next = false;
    }
    // Edges of all kinds, and drops that go on now and then.
    let edges = random() % 8;
    unit.edges.ports.next = bits((cycle / 64).wrapping_mul(0x9e37_79b9_7f4a_7c15) * (edges & 1));
    unit.edges.ends.next = bits((cycle / 64).wrapping_mul(0x9e37_79b9_7f4a_7c15) * (edges >> 1 & 1));
}

/// A first visit of each entry, then starts and finishes in any order.
pub fn branch_step(unit: &mut BranchStep<3>, _: Random, cycle: u64) {
    if cycle < 16 {
        unit.start.next = cycle < 8;
        unit.start_index.next = (cycle % 8).into();
        unit.start_new.next = true;
        unit.finish.next = cycle >= 8;
        unit.finish_index.next = (cycle % 8).into();
    }
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
