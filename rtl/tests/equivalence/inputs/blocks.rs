//! Inputs that bring units of no subsystem into states that unconstrained ones rarely reach.

use super::control::below;
use super::Random;
use hermes_rtl::blocks::*;
use hermes_rtl::control::FaultRecord;

/// As many requests are high as there are sets with many and with few bits.
pub fn priority_encoder(unit: &mut PriorityEncoder, random: Random, _: u64) {
    let dropped = below(random, 33);
    unit.request.next = ((random() << dropped) & 0xffff_ffff).into();
}

/// The harness does not know structures.
pub fn fifo_of_records(unit: &mut SyncFifo<FaultRecord, 2, 3>, random: Random, _: u64) {
    unit.push_data.next = FaultRecord {
        cause: below(random, 32).into(),
        core: below(random, 32).into(),
        slot: below(random, 32).into(),
        threads: below(random, 64).into(),
        pc: below(random, 1 << 32).into(),
        address: below(random, 1 << 32).into(),
        packet: below(random, 1 << 32).into(),
    };
}

pub fn task_fifo(unit: &mut TaskFifo<3, 4>, random: Random, _: u64) {
    unit.push_data.next = (random() & 0xffff_ffff).into();
}

pub fn queue_pointers(unit: &mut QueuePointers<5>, random: Random, cycle: u64) {
    // Long enough in one direction to run full and empty.
    let fills = cycle / 100 % 2 == 0;
    unit.push.next = random() % 4 < if fills { 3 } else { 1 };
    unit.pop.next = random() % 4 < if fills { 1 } else { 3 };
}
