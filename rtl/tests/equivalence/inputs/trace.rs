//! Inputs of the units of the trace buffer: settings that are written, events that trigger.

use super::Random;
use hermes_hdl::prelude::bits;
use hermes_rtl::trace::*;

pub fn trace_ring(unit: &mut TraceRing, random: Random, _: u64) {
    unit.arm.next = random() % 32 == 0;
    unit.stop.next = random() % 64 == 0;
    unit.hit.next = random() % 8 == 0;
    unit.after.next = (random() % 8).into();
}

pub fn trace_trigger(unit: &mut TraceTrigger, random: Random, _: u64) {
    // Few values, so that they are the same now and then
    unit.offset.next = (random() % 20).into();
    unit.data.next = (random() & 0x3f).into();
    for (pc, slot) in unit.pc.iter_mut().zip(&mut unit.slot) {
        pc.next = (random() % 4).into();
        slot.next = (random() % 4).into();
    }
    for packet in [&mut unit.issue_packet, &mut unit.commit_packet] {
        packet.next = (random() & 0x3f3f_3f3f).into();
    }
}

pub fn trace_buffer(unit: &mut TraceBuffer<4>, random: Random, cycle: u64) {
    unit.byte.address.next = match random() % 4 {
        0 => (random() % 48).into(),
        1 => 0.into(),
        _ => (1 << 24 | (random() % 16) << 16 | (random() % 64)).into(),
    };
    // The ring holds anything until it was written once: everything is recorded then, and read
    // behind it.
    let (writes, offset, byte) = match cycle {
        2 => (true, register::GROUPS, 3),
        3 => (true, register::COMMAND, 1),
        24 => (true, register::COMMAND, 2),
        _ => (random() % 2 == 0, random() as u32 % 20, random() & 3),
    };
    if cycle < 25 {
        unit.byte.valid.next = writes && cycle < 4 || cycle == 24;
        unit.byte.write.next = true;
        unit.byte.address.next = u64::from(offset).into();
        unit.byte.data.next = byte.into();
        unit.issue.valid.next = true;
        unit.reset.next = cycle < 2;
    }
    if cycle == 25 {
        unit.byte.valid.next = true;
        unit.byte.write.next = false;
        unit.byte.address.next = bits(1 << 24);
    }
    if cycle > 25 {
        unit.reset.next = false;
    }
}
