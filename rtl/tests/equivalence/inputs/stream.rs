//! Inputs of the packet ports: frames as they come, rings of several sizes.

use super::Random;
use hermes_hdl::prelude::*;
use hermes_rtl::stream::*;

/// TKEEP that marks the first bytes, all of them, or anything.
fn keep(random: Random) -> Bits<64> {
    match random() % 8 {
        0 => bits(random()),
        1..=3 => bits(u64::MAX >> (random() % 64)),
        _ => bits(u64::MAX),
    }
}

pub fn keep_count(unit: &mut KeepCount, random: Random, _: u64) {
    unit.keep.next = keep(random);
}

pub fn line_builder(unit: &mut LineBuilder, random: Random, cycle: u64) {
    unit.rx.tkeep.next = keep(random);
    unit.rx.tlast.next = random() % 3 == 0;
    unit.rx.tuser.next = bits(random() >> if random() % 4 == 0 { 32 } else { 33 });
    unit.slot_bytes_log2.next = bits(7 + cycle / 256 % 4);
    unit.slot_free.next = random() % 4 != 0;
    unit.next_slot_free.next = random() % 4 != 0;
    unit.line.ready.next = random() % 4 != 0;
}

pub fn write_window<const A: usize>(unit: &mut WriteWindow<A>, random: Random, cycle: u64) {
    // Tags that come back in their order, mostly, at different speeds.
    let slow = cycle / 200 % 2 == 0;
    unit.write.written.valid.next = random() % 8 < if slow { 3 } else { 8 };
    unit.write.written.tag.next =
        bits(if random() % 4 == 0 { random() % (1 << A) } else { cycle % (1 << A) });
}

pub fn verdict_reader(unit: &mut VerdictReader, random: Random, cycle: u64) {
    unit.ring.ring_slots_log2.next = bits(1 + cycle / 512 % 8);
    unit.committed.next = bits(cycle / 2);
    unit.enable.next = random() % 64 != 0;
    unit.follow.next = unit.idle.val() && !unit.enable.next;
}

pub fn slot_reader(unit: &mut SlotReader, random: Random, cycle: u64) {
    unit.ring.ring_slots_log2.next = bits(4);
    unit.ring.slot_bytes_log2.next = bits(7 + cycle / 512 % 4);
    unit.follow.next = random() % 128 == 0 && unit.idle.val();
    unit.verdict.value.next = bits(random() >> if random() % 4 == 0 { 32 } else { 33 });
    unit.head.response.data.next = if random() % 8 == 0 { bits(random()) } else { bits(random() % 300) };
    let head = random() % 2 == 0;
    unit.head.response.valid.next = head;
    unit.body.response.valid.next = !head;
    unit.head.response.error.next = random() % 16 == 0;
    unit.body.response.error.next = random() % 16 == 0;
}

pub fn frame_sender() -> impl FnMut(&mut FrameSender, Random, u64) {
    let mut left = 0;
    move |unit, random, _| {
        // Lines as they come: the number of lines behind line 0 follows from the length.
        if unit.reset.next {
            left = 0;
        }
        unit.line.valid.next = random() % 8 != 0;
        unit.tx.tready.next = random() % 4 != 0;
        unit.line.start.next = left == 0;
        let bytes = 1 + random() % 300;
        unit.line.frame_bytes.next = bits(bytes);
        let behind = (bytes + 17) / 64;
        unit.line.last.next = if left == 0 { behind == 0 } else { left == 1 };
        // Whether it is taken depends on what the unit holds; the model of the test follows
        // roughly, the unit exactly.
        if unit.line.valid.next {
            left = if left == 0 { behind } else { left - 1 };
        }
    }
}

pub fn ingress(unit: &mut Ingress, random: Random, cycle: u64) {
    unit.enable.next = cycle % 512 > 8;
    unit.rx.tkeep.next = keep(random);
    unit.rx.tlast.next = random() % 3 == 0;
    unit.rx.tuser.next = bits(random() >> 33);
    unit.ring.ring_slots_log2.next = bits(1 + cycle / 512 % 4);
    unit.ring.slot_bytes_log2.next = bits(7);
    unit.freed.next = bits(cycle / 4);
    unit.write.written.tag.next = bits(cycle % 64);
}

pub fn drop_when_full(unit: &mut DropWhenFull, random: Random, cycle: u64) {
    unit.on.next = cycle / 64 % 8 != 0 && random() % 32 != 0;
    unit.enable.next = random() % 16 != 0;
    unit.in_flight.next = bits(random() % 8);
    unit.limit.next = bits(4);
}

pub fn ingress_that_drops(unit: &mut Ingress, random: Random, cycle: u64) {
    ingress(unit, random, cycle);
    // Slots become free more slowly than frames come, then for each frame.
    unit.freed.next = bits(if cycle / 1024 % 2 == 0 { cycle / 32 } else { cycle / 4 });
    unit.drop.next = cycle / 256 % 4 != 0 && random() % 32 != 0;
}

pub fn packet_ports_that_drop(unit: &mut PacketPorts, random: Random, cycle: u64) {
    packet_ports(unit, random, cycle);
    unit.committed.next = bits(cycle / 16);
    unit.drops.drop.next = cycle / 128 % 4 != 0;
}

pub fn egress(unit: &mut Egress, random: Random, cycle: u64) {
    unit.enable.next = cycle % 1024 > 8;
    unit.ring.ring_slots_log2.next = bits(4);
    unit.ring.slot_bytes_log2.next = bits(8);
    unit.committed.next = bits(cycle / 2);
    unit.read.response.tag.next = bits(random() % 64);
    unit.read.response.data.next = bits(random() % 200);
    unit.read.response.error.next = random() % 16 == 0;
}

pub fn packet_ports(unit: &mut PacketPorts, random: Random, cycle: u64) {
    unit.control.enable.next = cycle % 1024 > 8;
    unit.ring.ring_slots_log2.next = bits(4);
    unit.ring.slot_bytes_log2.next = bits(8);
    unit.committed.next = bits(cycle / 4);
    unit.rx.tkeep.next = keep(random);
    unit.rx.tuser.next = bits(random() >> 33);
    unit.write.written.tag.next = bits(cycle % 64);
    unit.read.response.tag.next = bits(random() % 64);
    unit.read.response.data.next = bits(random() % 200);
}
