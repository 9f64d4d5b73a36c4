//! Inputs that bring the units of the L2 into states that unconstrained ones rarely reach.

use super::Random;
use hermes_hdl::prelude::*;
use hermes_rtl::l2::*;

/// Two requesters, channels and banks.
pub fn sizes(look_up_cycle: bool) -> MemorySizes {
    MemorySizes {
        requesters: 2,
        channels: 2,
        banks: 2,
        bank_lines: 4,
        ways: 2,
        look_up_cycle,
        atomic_requesters: 0,
        compare_and_swap: false,
        threads: 64,
        reservations: 1,
        network: None,
    }
}

/// One bank with a network interface.
pub fn network_sizes() -> MemorySizes {
    MemorySizes {
        requesters: 3,
        channels: 1,
        banks: 1,
        bank_lines: 4,
        ways: 2,
        look_up_cycle: false,
        atomic_requesters: 3,
        compare_and_swap: true,
        threads: 64,
        reservations: 1,
        network: Some(NetworkSizes { requester: 2, cores: 2, rings_log2: 0, areas_log2: 1, queues: false }),
    }
}

/// What the tested locks belong to.
pub const LOCK_SIZES: NetworkSizes =
    NetworkSizes { requester: 5, cores: 3, rings_log2: 0, areas_log2: 0, queues: false };

pub fn answers(unit: &mut L2Answers, random: Random, cycle: u64) {
    let fills = cycle / 100 % 2 == 0;
    unit.push_response.next = random() % 4 < if fills { 3 } else { 1 };
    unit.push_written.next = random() % 4 < if fills { 3 } else { 1 };
    // A RAM holds anything until it is written.
    if cycle < 40 {
        unit.reset.next = cycle < 2;
        unit.push_response.next = cycle < 10;
        unit.push_written.next = cycle < 10;
    }
}

/// First all numbers and places of the queues are used once: a RAM holds anything until it is
/// written.
pub fn fetches(unit: &mut L2Fetches, random: Random, cycle: u64) {
    unit.begin.next = cycle < 12 || random() % 2 == 0;
    unit.end.next = cycle >= 12 && random() % 2 == 0;
    unit.fetch.ready.next = cycle < 12 || random() % 2 == 0;
    unit.fill_number.next = bits(if cycle < 12 { 0 } else { random() % 4 });
}

/// First all numbers and places of the queues are used once: a RAM holds anything until it is
/// written.
pub fn stores(unit: &mut L2Stores, random: Random, cycle: u64) {
    unit.begin.next = cycle < 20 || random() % 2 == 0;
    unit.push.next = cycle < 20 || random() % 2 == 0;
    unit.store.ready.next = cycle < 20 || random() % 2 == 0;
    unit.done.valid.next = cycle >= 20 && random() % 2 == 0;
    unit.done.number.next = bits(if cycle < 20 { 0 } else { random() % 8 });
}

/// Few lines, memory that answers much and memory that answers little.
pub fn bank(unit: &mut L2Bank, random: Random, cycle: u64) {
    let slow = cycle / 200 % 2 == 0;
    unit.request.line.next = bits(random() % 16);
    unit.fetch.ready.next = !slow || random() % 8 == 0;
    unit.fill.valid.next = random() % 8 < if slow { 1 } else { 7 };
    unit.fill.number.next = bits(random() % 4);
    unit.fill.error.next = random() % 16 == 0;
    unit.write_back.ready.next = !slow || random() % 8 == 0;
    unit.done.number.next = bits(random() % 4);
    unit.clean.next = random() % 256 == 0;
    unit.invalidate.next = random() % 256 == 0;
    // Before the reset no state is known: nothing may be written to memories then.
    if cycle < 2 {
        unit.request.valid.next = false;
        unit.fill.valid.next = false;
        unit.done.valid.next = false;
    }
}

pub fn channel(unit: &mut MemoryChannel, random: Random, cycle: u64) {
    unit.m_axi.arready.next = random() % 4 != 0;
    unit.m_axi.awready.next = random() % 4 != 0;
    unit.m_axi.wready.next = random() % 4 != 0;
    unit.m_axi.rvalid.next = cycle < 10 || random() % 2 == 0;
    unit.m_axi.rid.next = bits(random() % 32);
    unit.m_axi.rdata.next =
        (0..8).fold(Bits::<512>::default(), |line, _| (line << 64) | bits::<512>(random()));
    unit.m_axi.rlast.next = random() % 16 != 0;
    unit.m_axi.rresp.next = bits(if random() % 4 == 0 { 2 } else { 0 });
    unit.m_axi.bvalid.next = random() % 2 == 0;
    unit.m_axi.bid.next = bits(random() % 32);
    unit.m_axi.bresp.next = bits(if random() % 4 == 0 { 3 } else { 0 });
}

pub fn way(unit: &mut L2Way, random: Random, cycle: u64) {
    unit.set.next = bits(random() % 2);
    unit.line.next = bits(random() % 8);
    for input in [&mut unit.clear, &mut unit.drop, &mut unit.clean] {
        input.next = random() % 32 == 0;
    }
    if cycle < 2 {
        unit.set.next = bits(cycle);
        unit.clear.next = true;
        unit.fetch.next = true;
    }
}

pub fn response_crossbar(unit: &mut ResponseCrossbar, random: Random, _: u64) {
    for bank in &mut unit.bank {
        bank.requester.next = bits(random() % 4);
    }
    for bank in &mut unit.bank_written {
        bank.requester.next = bits(random() % 4);
    }
}

/// All units together. Outputs are registers, which show nothing of a RAM that was not written;
/// writes are of whole lines for the same reason.
pub fn memory_system(unit: &mut MemorySystem, random: Random, cycle: u64) {
    for read in &mut unit.read {
        read.line.next = bits(random() % 16);
    }
    for write in &mut unit.write {
        write.line.next = bits(random() % 16);
        write.strobe.next = bits(u64::MAX);
    }
    for bus in &mut unit.m_axi {
        bus.arready.next = random() % 4 != 0;
        bus.awready.next = random() % 4 != 0;
        bus.wready.next = random() % 4 != 0;
        bus.rvalid.next = random() % 2 == 0;
        bus.rid.next = bits(random() % 64);
        bus.rdata.next = bits(random());
        bus.rlast.next = true;
        bus.bvalid.next = random() % 2 == 0;
        bus.bid.next = bits(random() % 64);
    }
    unit.maintenance.l2_clean.next = random() % 256 == 0;
    unit.maintenance.l2_invalidate.next = random() % 256 == 0;
    unit.reset.next = cycle < 2;
}

/// The memory system of a network interface: locks and atomic operations of 64 bits.
pub fn memory_system_of_a_network_interface(unit: &mut MemorySystem, random: Random, cycle: u64) {
    memory_system(unit, random, cycle);
    for read in &mut unit.read {
        read.tag.next = bits(random() % 96);
    }
    for write in &mut unit.write {
        // Words of atomic operations are in lines that were read.
        write.tag.next = bits(random() % 64);
    }
    unit.line_lock.base.next = bits(random() % 2);
    unit.line_lock.area_log2.next = bits(12);
}

pub fn write_monitor(unit: &mut WriteMonitor, random: Random, _: u64) {
    unit.observed.strobe.next = (random() & random()).into();
    // The same line, or one that differs in one bit.
    let line = unit.observed.line.next;
    for watched in &mut unit.watched {
        let bit = if random() % 2 == 0 { 1 << (random() % 26) } else { 0u64 };
        watched.line.next = line ^ bit;
    }
}

/// Few enough ends of locks by other causes that misses end some.
pub fn lock(ways: u64) -> impl FnMut(&mut L2Lock, Random, u64) {
    move |unit, random, cycle| {
        unit.set.next = bits(if cycle < 4 { cycle % 2 } else { random() % 2 });
        unit.way.next = bits(1 << (random() % ways));
        // A base and lines that differ in one bit, or in none that count.
        let line = random() % (1 << 26);
        unit.rings.base.next = bits(line);
        unit.rings.mask.next = bits((random() | random()) & 0x3ff_ffff);
        unit.line.next = bits(if random() % 2 == 0 { line } else { line ^ 1 << (random() % 26) });
        unit.requester.next = bits(random() % 8);
        unit.rings.enable.next = random() % 8 != 0;
        unit.phase.next = random() % 8 != 0;
        // Now misses alone, so that they end a lock, now all that there is.
        let quiet = cycle / 256 % 2 == 1;
        unit.missed.next = quiet || random() % 4 == 0;
        unit.written.next = !quiet && random() % 2 == 0;
        unit.read.next = !quiet && random() % 4 == 0;
        unit.drop.next = !quiet && random() % 16 == 0;
        unit.clear.next = cycle < 4 || (!quiet && random() % 64 == 0);
    }
}

pub fn reservation(unit: &mut Reservation, random: Random, cycle: u64) {
    // Few requesters, threads and lines, so that they meet; for some time what ends it is seldom.
    let calm = cycle / 100 % 2 == 1;
    let seldom = move |random: Random| random() % if calm { 64 } else { 4 } == 0;
    unit.operation.requester.next = bits(random() % 4);
    unit.operation.thread.next = bits(random() % 2 * 33);
    unit.operation.line.next = bits(random() % 2);
    unit.passing_line.next = bits(random() % 2);
    unit.leaves.next = seldom(random);
    unit.writes.next = seldom(random);
    unit.passing.next = seldom(random);
    unit.take.next = random() % 8 == 0;
    for port in unit.events.iter_mut() {
        port.valid.next = seldom(random);
        port.requester.next = bits(random() % 4);
        port.thread.next = bits(random() % 2 * 33);
    }
    for port in unit.ends.iter_mut() {
        port.valid.next = seldom(random);
        port.slot.next = bits(random() % 2);
    }
}

pub fn atomics(unit: &mut L2Atomics, random: Random, _: u64) {
    unit.request.write.next = random() % 4 != 0;
    unit.request.requester.next = bits(random() % 4);
    unit.request.line.next = bits(random() % 2);
    // Values of few bits are equal, and operands 0, now and then.
    for port in [&mut unit.request.data, &mut unit.bank_response.data] {
        if random() % 2 == 0 {
            let operation = [0, 5, 8][(random() % 3) as usize] << 16;
            port.next = bits::<512>(operation) << bits::<10>(32);
        }
    }
    // The bank answers what it was asked, as often as chance has it.
    unit.bank_response.requester.next = bits(random() % 4);
    unit.bank_response.tag.next = bits(0x60 | (random() % 32));
    unit.bank_written.requester.next = bits(random() % 4);
    unit.bank.ready.next = random() % 4 != 0;
    for port in unit.events.iter_mut() {
        port.requester.next = bits(random() % 4);
    }
    for port in unit.ends.iter_mut() {
        port.valid.next = random() % 8 == 0;
    }
}
