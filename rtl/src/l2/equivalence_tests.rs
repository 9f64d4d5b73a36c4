//! Units of this folder against their emitted Verilog, with inputs that reach states that plain
//! random inputs rarely do.

use super::{
    L2Answers, L2Fetches, L2Stores, L2Way, MemoryChannel, MemorySizes, MemorySystem, NetworkSizes,
    ResponseCrossbar,
};
use hermes_hdl::prelude::*;
use hermes_hdl::testing::check_with;

#[test]
fn answers() {
    check_with(L2Answers::default(), 2_000, |unit, random, cycle| {
        let fills = cycle / 100 % 2 == 0;
        unit.push_response.next = random() % 4 < if fills { 3 } else { 1 };
        unit.push_written.next = random() % 4 < if fills { 3 } else { 1 };
        // A RAM holds anything until it is written.
        if cycle < 40 {
            unit.reset.next = cycle < 2;
            unit.push_response.next = cycle < 10;
            unit.push_written.next = cycle < 10;
        }
    });
}

#[test]
fn fetches_and_stores() {
    // First all numbers and places of the queues are used once: a RAM holds anything until it is
    // written.
    check_with(L2Fetches::new(2), 3_000, |unit, random, cycle| {
        unit.begin.next = cycle < 12 || random() % 2 == 0;
        unit.end.next = cycle >= 12 && random() % 2 == 0;
        unit.fetch.ready.next = cycle < 12 || random() % 2 == 0;
        unit.fill_number.next = bits(if cycle < 12 { 0 } else { random() % 4 });
    });
    check_with(L2Stores::new(3), 1_000, |unit, random, cycle| {
        unit.begin.next = cycle < 20 || random() % 2 == 0;
        unit.push.next = cycle < 20 || random() % 2 == 0;
        unit.store.ready.next = cycle < 20 || random() % 2 == 0;
        unit.done.valid.next = cycle >= 20 && random() % 2 == 0;
        unit.done.number.next = bits(if cycle < 20 { 0 } else { random() % 8 });
    });
}

#[test]
fn way() {
    for look_up_cycles in [0, 1] {
        check_with(L2Way::new(1, look_up_cycles), 5_000, |unit, random, cycle| {
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
        });
    }
}

#[test]
fn channel() {
    check_with(MemoryChannel::new(2, 3), 2_000, |unit, random, cycle| {
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
    });
}

#[test]
fn response_crossbar() {
    for network in [None, Some(1)] {
        check_with(ResponseCrossbar::new(3, 2, true, network), 1_500, |unit, random, _| {
            for bank in &mut unit.bank {
                bank.requester.next = bits(random() % 4);
            }
            for bank in &mut unit.bank_written {
                bank.requester.next = bits(random() % 4);
            }
        });
    }
}

/// The memory system of a network interface: locks and atomic operations of 64 bits.
#[test]
fn memory_system_of_a_network_interface() {
    let sizes = MemorySizes {
        requesters: 3,
        channels: 1,
        banks: 1,
        bank_lines: 4,
        ways: 2,
        look_up_cycle: false,
        atomic_requesters: 3,
        network: Some(NetworkSizes { requester: 2, cores: 2, rings_log2: 0, areas_log2: 1, queues: false }),
    };
    check_with(MemorySystem::new(sizes), 600, |unit, random, cycle| {
        for read in &mut unit.read {
            read.line.next = bits(random() % 16);
            read.tag.next = bits(random() % 96);
        }
        for write in &mut unit.write {
            // Words of atomic operations are in lines that were read.
            write.line.next = bits(random() % 16);
            write.tag.next = bits(random() % 64);
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
        unit.line_lock[0].base.next = bits(random() % 2);
        unit.line_lock[0].area_log2.next = bits(12);
        unit.maintenance.l2_clean.next = random() % 256 == 0;
        unit.maintenance.l2_invalidate.next = random() % 256 == 0;
        unit.reset.next = cycle < 2;
    });
}

/// All units together, banks and request crossbar among them: its outputs are registers, which show
/// nothing of a RAM that was not written. Writes are of whole lines for the same reason.
#[test]
fn memory_system() {
    let sizes = |look_up_cycle| MemorySizes {
        requesters: 2,
        channels: 2,
        banks: 2,
        bank_lines: 4,
        ways: 2,
        look_up_cycle,
        atomic_requesters: 0,
        network: None,
    };
    for look_up_cycle in [false, true] {
        check_with(MemorySystem::new(sizes(look_up_cycle)), 600, |unit, random, cycle| {
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
        });
    }
}
