//! Units of this folder against their emitted Verilog.

use super::{
    testing, Acknowledge, ByteRotate, FrameBuffer, FrameBuilder, FrameCheck, FrameTurns, HeaderBytes, Icrc,
    NetCounters, NetInterface, PayloadWriter, PutCheck, QueuePairs, Receiver, Requester, RetryTimers,
    WorkTable,
};
use crate::emit::equivalence::check_with;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;

#[test]
fn icrc() {
    check_with(Icrc::default(), 4_000, |uut, random, _| {
        uut.bytes.next = bits([2, 6, 10, 14, 16, 16, 16, 16][random() as usize % 8]);
    });
}

#[test]
fn header_bytes() {
    check_with(HeaderBytes::default(), 500, |_, _, _| {});
}

#[test]
fn frame_builder() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    check_with(FrameBuilder::default(), 1_500, move |uut, random, _| {
        uut.head.next = testing::random_head(&mut rng, random() as usize % 300);
        uut.head_valid.next = random() % 4 != 0;
        uut.line_valid.next = random() % 4 != 0;
        uut.line_error.next = random() % 16 == 0;
        uut.tx_tready.next = random() % 4 != 0;
    });
}

/// The beats of frames that come, mostly whole ones.
fn keep(random: &mut dyn FnMut() -> u64) -> Bits<64> {
    match random() % 8 {
        0 => bits(random()),
        1 => bits(u64::MAX >> (random() % 64)),
        _ => bits(u64::MAX),
    }
}

#[test]
fn byte_rotate() {
    check_with(ByteRotate::default(), 1_000, |uut, random, _| uut.hold.next = random() % 4 == 0);
}

#[test]
fn frame_buffer() {
    check_with(FrameBuffer::default(), 2_000, |uut, random, cycle| {
        uut.rx_tkeep.next = keep(random);
        uut.rx_tlast.next = random() % 4 == 0;
        uut.stored_take.next = uut.stored_valid.val() && random() % 4 == 0;
        // Beats are freed after they came, mostly.
        uut.free_valid.next = cycle > 600 && random() % 4 == 0;
        uut.free_beats.next = bits(random() % 4);
    });
}

#[test]
fn frame_check() {
    check_with(FrameCheck::default(), 3_000, |uut, random, _| {
        uut.stored.next.beats = bits(1 + random() % 6);
        uut.stored.next.bytes = bits(64 * (1 + random() % 6));
        uut.stored.next.damaged = random() % 16 == 0;
        uut.read_ready.next = random() % 4 != 0;
        // IPv4 headers that are right, now and then; the rest is random.
        if random() % 2 == 0 {
            let mut bytes = uut.read_data.next;
            bytes.set_bits(96, bits::<24>(0x45_0008));
            uut.read_data.next = bytes;
        }
    });
}

#[test]
fn payload_writer() {
    check_with(PayloadWriter::default(), 3_000, |uut, random, cycle| {
        uut.place.next.header = bits([54, 58, 66, 70, 82][random() as usize % 5]);
        uut.place.next.bytes = bits(1 + random() % 300);
        uut.read_ready.next = random() % 4 != 0;
        uut.write.ready.next = random() % 4 != 0;
        uut.write.written_tag.next = bits(if random() % 4 == 0 { random() % 64 } else { cycle % 64 });
    });
}

#[test]
fn queue_pairs() {
    check_with(QueuePairs::default(), 4_000, |uut, random, _| uut.set_state.next = random() % 8 == 0);
}

#[test]
fn put_check() {
    check_with(PutCheck::default(), 2_000, |uut, random, _| {
        let mut words = uut.command.next;
        if random() % 4 != 0 {
            words.set_bits(0, bits::<32>(0x401));
            words.set_bits(96, bits::<32>(random() % 20));
        }
        uut.command.next = words;
        uut.pair.next.window = bits(0);
        uut.pair.next.up = random() % 8 != 0;
    });
}

#[test]
fn work_table() {
    let mut written = 0u64;
    check_with(WorkTable::default(), 3_000, move |uut, random, _| {
        // What is read was written.
        uut.write.next = uut.has_room.val() && random() % 3 != 0;
        if uut.write.next {
            written |= 1 << uut.free.val().index();
        }
        uut.read.next = written == 0xff && random() % 2 == 0;
    });
}

#[test]
fn retry_timers() {
    check_with(RetryTimers::default(), 4_000, |uut, random, _| {
        uut.timeout.next = bits(random() % 64);
        uut.doublings.next = bits(random() % 3);
        uut.start.next = random() % 4 == 0;
        uut.stop.next = random() % 8 == 0;
    });
}

#[test]
fn frame_turns() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    check_with(FrameTurns::default(), 1_000, move |uut, _, _| {
        uut.request.next = testing::random_head(&mut rng, 8);
        uut.answer.next = testing::random_head(&mut rng, 0);
    });
}

#[test]
fn acknowledge() {
    check_with(Acknowledge::default(), 4_000, |uut, random, cycle| {
        uut.ups.next = bits((random() | random()) & 0xffff);
        // All messages are counted from the beginning.
        uut.opens.next = cycle < 40;
        uut.opens_pair.next = bits(cycle % 16);
        uut.mark_valid.next = cycle >= 40 && random() % 3 == 0;
    });
}

#[test]
fn requester() {
    check_with(Requester::default(), 6_000, |uut, random, cycle| {
        // All rows begin first.
        uut.opens.next = cycle < 40;
        uut.opens_pair.next = bits(cycle % 16);
        uut.ups.next = bits(0xffff);
        uut.errors.next = bits(0);
        if cycle > 3_000 {
            uut.ups.next = bits((random() | random()) & 0xffff);
            uut.errors.next = bits(random() & random() & random() & 0xffff);
        }
        uut.window.next = bits(1 + random() % 32);
        uut.timeout.next = bits(50);
        uut.answer_valid.next = cycle > 100 && random() % 4 == 0;
        let mut reply = uut.answer.next;
        reply.sequence = bits(random() % 8);
        reply.syndrome = bits([0x1f, 0x1f, 0x60, 0x62][random() as usize % 4]);
        uut.answer.next = reply;
        uut.post.next = cycle > 100 && uut.has_room.val() && random() % 4 == 0;
        let mut words = uut.post_command.next;
        words.set_bits(0, bits::<32>(0x401));
        words.set_bits(96, bits::<32>(1 + random() % 18));
        uut.post_command.next = words;
        uut.send.next.window = bits(0);
        uut.send.next.up = random() % 16 != 0;
        uut.send.next.sequence = bits(0);
        uut.head_ready.next = random() % 4 != 0;
    });
}

#[test]
fn net_counters() {
    check_with(NetCounters::default(), 1_000, |_, _, _| {});
}

#[test]
fn receiver() {
    check_with(Receiver::default(), 4_000, |uut, random, _| {
        let mut frame = uut.checked.next;
        if random() % 2 == 0 {
            frame.cause = bits(0);
            frame.opcode = bits(if random() % 4 == 0 { 0x11 } else { 0x0a });
            frame.queue_pair = bits(random() % 16);
            frame.ip = bits(random() % 2);
            frame.sequence = bits(random() % 3);
            frame.extension =
                bits::<224>(random() & 0xffff_ffff) << 160 | bits::<224>(frame.bytes.to_u64()) << 96;
        }
        uut.checked.next = frame;
        uut.receive_ip.next = bits(random() % 2);
        uut.expected.next = bits(random() % 2);
    });
}

#[test]
fn net_interface() {
    check_with(NetInterface::default(), 1_000, |uut, random, _| {
        uut.rx.tkeep.next = keep(random);
        uut.rx.tlast.next = random() % 3 == 0;
        uut.control.enable.next = random() % 64 != 0;
    });
}
