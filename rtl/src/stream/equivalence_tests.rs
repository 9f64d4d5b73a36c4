//! Units of this folder against their emitted Verilog.

use super::{
    Egress, FrameSender, Ingress, KeepCount, KeepMask, LineBuilder, PacketPorts, RingPosition, SlotReader,
    TaskMerge, VerdictReader, WriteWindow,
};
use hermes_hdl::prelude::*;
use hermes_hdl::testing::{check, check_with};

/// TKEEP that marks the first bytes, all of them, or anything.
fn keep(random: &mut dyn FnMut() -> u64) -> Bits<64> {
    match random() % 8 {
        0 => bits(random()),
        1..=3 => bits(u64::MAX >> (random() % 64)),
        _ => bits(u64::MAX),
    }
}

#[test]
fn keep_count() {
    check_with(KeepCount::default(), 4_000, |uut, random, _| uut.keep.next = keep(random));
}

#[test]
fn keep_mask() {
    check_with(KeepMask::default(), 500, |_, _, _| {});
}

#[test]
fn ring_position() {
    check(RingPosition::default());
}

#[test]
fn task_merge() {
    check(TaskMerge::default());
}

#[test]
fn line_builder() {
    check_with(LineBuilder::default(), 2_000, |uut, random, cycle| {
        uut.rx.tkeep.next = keep(random);
        uut.rx.tlast.next = random() % 3 == 0;
        uut.rx.tuser.next = bits(random() >> if random() % 4 == 0 { 32 } else { 33 });
        uut.slot_bytes_log2.next = bits(7 + cycle / 256 % 4);
        uut.slot_free.next = random() % 4 != 0;
        uut.next_slot_free.next = random() % 4 != 0;
        uut.line.ready.next = random() % 4 != 0;
    });
}

#[test]
fn write_window() {
    check_window::<6>();
    check_window::<5>();
}

fn check_window<const A: usize>() {
    check_with(WriteWindow::<A>::default(), 6_000, |uut, random, cycle| {
        // Tags that come back in their order, mostly, at different speeds.
        let slow = cycle / 200 % 2 == 0;
        uut.write.written.valid.next = random() % 8 < if slow { 3 } else { 8 };
        uut.write.written.tag.next =
            bits(if random() % 4 == 0 { random() % (1 << A) } else { cycle % (1 << A) });
    });
}

#[test]
fn verdict_reader() {
    check_with(VerdictReader::default(), 2_000, |uut, random, cycle| {
        uut.ring.ring_slots_log2.next = bits(1 + cycle / 512 % 8);
        uut.committed.next = bits(cycle / 2);
        uut.enable.next = random() % 64 != 0;
        uut.follow.next = uut.idle.val() && !uut.enable.next;
    });
}

#[test]
fn slot_reader() {
    check_with(SlotReader::default(), 2_000, |uut, random, cycle| {
        uut.ring.ring_slots_log2.next = bits(4);
        uut.ring.slot_bytes_log2.next = bits(7 + cycle / 512 % 4);
        uut.follow.next = random() % 128 == 0 && uut.idle.val();
        uut.verdict.value.next = bits(random() >> if random() % 4 == 0 { 32 } else { 33 });
        uut.head.response.data.next = if random() % 8 == 0 { bits(random()) } else { bits(random() % 300) };
        let head = random() % 2 == 0;
        uut.head.response.valid.next = head;
        uut.body.response.valid.next = !head;
        uut.head.response.error.next = random() % 16 == 0;
        uut.body.response.error.next = random() % 16 == 0;
    });
}

#[test]
fn frame_sender() {
    let mut left = 0;
    check_with(FrameSender::default(), 2_000, move |uut, random, _| {
        // Lines as they come: the number of lines behind line 0 follows from the length.
        if uut.reset.next {
            left = 0;
        }
        uut.line.valid.next = random() % 8 != 0;
        uut.tx.tready.next = random() % 4 != 0;
        uut.line.start.next = left == 0;
        let bytes = 1 + random() % 300;
        uut.line.frame_bytes.next = bits(bytes);
        let behind = (bytes + 17) / 64;
        uut.line.last.next = if left == 0 { behind == 0 } else { left == 1 };
        // Whether it is taken depends on what the unit holds; the model of the test follows
        // roughly, the unit exactly.
        if uut.line.valid.next {
            left = if left == 0 { behind } else { left - 1 };
        }
    });
}

#[test]
fn ingress() {
    check_with(Ingress::default(), 2_000, |uut, random, cycle| {
        uut.enable.next = cycle % 512 > 8;
        uut.rx.tkeep.next = keep(random);
        uut.rx.tlast.next = random() % 3 == 0;
        uut.rx.tuser.next = bits(random() >> 33);
        uut.ring.ring_slots_log2.next = bits(1 + cycle / 512 % 4);
        uut.ring.slot_bytes_log2.next = bits(7);
        uut.freed.next = bits(cycle / 4);
        uut.write.written.tag.next = bits(cycle % 64);
    });
}

#[test]
fn egress() {
    check_with(Egress::default(), 2_000, |uut, random, cycle| {
        uut.enable.next = cycle % 1024 > 8;
        uut.ring.ring_slots_log2.next = bits(4);
        uut.ring.slot_bytes_log2.next = bits(8);
        uut.committed.next = bits(cycle / 2);
        uut.read.response.tag.next = bits(random() % 64);
        uut.read.response.data.next = bits(random() % 200);
        uut.read.response.error.next = random() % 16 == 0;
    });
}

#[test]
fn packet_ports() {
    check_with(PacketPorts::default(), 800, |uut, random, cycle| {
        uut.control.enable.next = cycle % 1024 > 8;
        uut.ring.ring_slots_log2.next = bits(4);
        uut.ring.slot_bytes_log2.next = bits(8);
        uut.committed.next = bits(cycle / 4);
        uut.rx.tkeep.next = keep(random);
        uut.rx.tuser.next = bits(random() >> 33);
        uut.write.written.tag.next = bits(cycle % 64);
        uut.read.response.tag.next = bits(random() % 64);
        uut.read.response.data.next = bits(random() % 200);
    });
}
