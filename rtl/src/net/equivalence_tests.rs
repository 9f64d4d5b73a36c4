//! Units of this folder against their emitted Verilog.

use super::{
    testing, window, Acknowledge, AnswerStep, ByteRotate, CommandCheck, FrameBuffer, FrameBuilder,
    FrameCheck, FrameQueue, FrameTurns, HeaderBytes, Icrc, InterfaceSizes, NetCounters, NetInterface,
    NetWindow, PacketCut, PairCounts, PayloadReader, PayloadWriter, QueuePairs, Receiver, Region,
    RegionCheck, RegionTable, RemoteAtomics, RequestCheck, RequestChoice, Requester, Responder, RetryTimers,
    WorkPosts, WorkTable,
};
use hermes_hdl::prelude::*;
use hermes_hdl::testing::check_with;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

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
        uut.write.written.tag.next = bits(if random() % 4 == 0 { random() % 64 } else { cycle % 64 });
    });
}

#[test]
fn queue_pairs() {
    check_with(QueuePairs::default(), 4_000, |uut, random, _| uut.set_state.next = random() % 8 == 0);
}

#[test]
fn command_check() {
    check_with(CommandCheck::default(), 2_000, |uut, random, _| {
        let mut words = uut.command.next.words;
        if random() % 4 != 0 {
            words.set_bits(0, bits::<32>([0x401, 1, 2, 0x402, 4][random() as usize % 5]));
            words.set_bits(96, bits::<32>(random() % 20));
        }
        uut.command.next.words = words;
        uut.command.next.domain = bits(3);
        uut.region.next.domain = bits(3);
        uut.pair.next.domain = bits(3);
        uut.pair.next.window = bits(0);
        uut.pair.next.up = random() % 8 != 0;
        uut.pair.next.mtu = bits(8 + random() % 5);
    });
}

#[test]
fn packet_cut() {
    check_with(PacketCut::default(), 2_000, |uut, random, _| {
        uut.mtu.next = bits(8 + random() % 5);
        uut.entry.next.packets = bits(1 + random() % 8);
        uut.number.next = bits(random() % 8);
    });
}

#[test]
fn pair_counts() {
    check_with(PairCounts::default(), 1_000, |_, _, _| {});
}

#[test]
fn frame_queue() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    check_with(FrameQueue::default(), 1_000, move |uut, _, _| {
        uut.push.next = testing::random_head(&mut rng, 8);
        // What is taken was written.
        uut.pop_ready.next = uut.pop_valid.val() && uut.pop_ready.next;
    });
}

#[test]
fn region_check() {
    check_with(RegionCheck::default(), 2_000, |uut, random, _| {
        uut.domain.next = bits(1);
        uut.region.next.domain = bits(1);
        uut.region.next.rights = bits(31);
        uut.region.next.valid = random() % 8 != 0;
        uut.region.next.address = bits(random() % 8);
        uut.region.next.bytes = bits(random() % 64);
        uut.address.next = bits(random() % 64);
        uut.bytes.next = bits(random() % 64);
    });
}

#[test]
fn region_table() {
    check_with(RegionTable::default(), 3_000, |uut, random, cycle| {
        // All words are written first.
        uut.table.write.next = cycle < 80 || random() % 4 == 0;
        if cycle < 80 {
            uut.table.pair.next = bits(cycle / 4 % 16);
            uut.table.word.next = bits(cycle % 4);
            uut.sends.next = false;
        }
        uut.table.word.next = bits(uut.table.word.next.to_u64() % 4);
        uut.table.read.next = cycle > 80 && random() % 2 == 0;
    });
}

#[test]
fn payload_reader() {
    let mut open = vec![];
    check_with(PayloadReader::default(), 4_000, move |uut, random, _| {
        if uut.read.valid.val() && uut.read.ready.val() {
            open.push(uut.read.tag.val().to_u64());
        }
        uut.source.next.bytes = bits(1 + random() % 300);
        if !uut.source.next.memory {
            uut.source.next.bytes = bits(1 + random() % 16);
        }
        uut.read.ready.next = random() % 4 != 0;
        let answers = !open.is_empty() && random() % 4 != 0;
        uut.read.response.valid.next = answers;
        if answers {
            uut.read.response.tag.next = bits(open.swap_remove(random() as usize % open.len()));
        }
        uut.read.response.error.next = random() % 32 == 0;
        uut.line_ready.next = random() % 4 != 0;
    });
}

#[test]
fn request_check() {
    check_with(RequestCheck::default(), 3_000, |uut, random, _| {
        uut.pair.next.mtu = bits(8 + random() % 5);
        uut.frame.next.opcode = bits([6, 7, 8, 10, 12][random() as usize % 5]);
        uut.frame.next.bytes = bits([0, 8, 256, 512][random() as usize % 4]);
        uut.message.next.left = bits([8, 256, 512, 600][random() as usize % 4]);
        if random() % 2 == 0 {
            let bytes = uut.frame.next.bytes.to_u64();
            uut.frame.next.extension = bits::<224>(bytes) << 96;
            uut.region.next.key = bits(0);
            uut.region.next.address = bits(0);
            uut.pair.next.domain = uut.region.next.domain;
        }
    });
}

#[test]
fn work_table() {
    let mut written = 0u64;
    check_with(WorkTable::new(1), 3_000, move |uut, random, cycle| {
        // What is read was written; there are two owners.
        let owner = random() % 2;
        uut.entry.next.owner = bits(owner);
        uut.write.next = cycle > 4 && written >> (8 * owner) & 0xff != 0xff && random() % 3 != 0;
        let place = (written >> (8 * owner)).trailing_ones().min(7);
        if uut.write.next {
            written |= 1 << (8 * owner + u64::from(place));
        }
        uut.release.next = false;
        uut.read.next = written == 0xffff && !uut.write.next && random() % 2 == 0;
    });
}

#[test]
fn work_posts() {
    check_with(WorkPosts::default(), 2_000, |_, _, _| {});
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
        uut.mark_valid.next = cycle >= 40 && random() % 3 == 0;
    });
}

/// A region of the first `bytes` bytes, with all rights.
fn first_bytes(bytes: u64, valid: bool) -> Region {
    Region { valid, rights: bits(31), bytes: bits(bytes), ..Region::default() }
}

#[test]
fn requester() {
    check_with(Requester::new(1), 6_000, |uut, random, cycle| {
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
        reply.response = random() % 2 == 0;
        reply.atomic = random() % 8 == 0;
        reply.bytes = bits([8, 256, 44][random() as usize % 3]);
        uut.answer.next = reply;
        uut.post_valid.next = cycle > 100 && random() % 4 == 0;
        uut.completed_ready.next = random() % 4 != 0;
        let mut words = uut.post.next.words;
        words.set_bits(0, bits::<32>([0x401, 1, 2, 0x402, 4][random() as usize % 5]));
        words.set_bits(32, bits::<32>(random() % 2_000));
        words.set_bits(64, bits::<32>(random() % 2_000));
        words.set_bits(96, bits::<32>(1 + random() % if random() % 2 == 0 { 18 } else { 700 }));
        uut.post.next.words = words;
        uut.post.next.domain = bits(2);
        uut.send.next.domain = bits(2);
        uut.send.next.mtu = bits(8);
        uut.region.next =
            Region { domain: bits(2), key: uut.region.next.key, ..first_bytes(5_000, random() % 64 != 0) };
        uut.fault_valid.next = random() % 256 == 0;
        uut.fault.next.sequence = bits(random() % 8);
        uut.moving.next = bits(0);
        uut.send.next.depth = bits(4);
        uut.got_valid.next = random() % 8 == 0;
        uut.got_sequence.next = bits(random() % 8);
        uut.show_pair.next = bits(cycle % 16);
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
    check_with(Receiver::default(), 4_000, |uut, random, cycle| {
        let mut frame = uut.checked.next;
        if random() % 2 == 0 {
            frame.cause = bits(0);
            frame.opcode = bits([0x11, 0x0a, 0x0a, 0x0a, 0x06, 0x07, 0x08, 0x0c][random() as usize % 8]);
            if random() % 8 == 0 {
                frame.opcode = bits([0x0d, 0x0e, 0x0f, 0x10, 0x12, 0x13, 0x14][random() as usize % 7]);
            }
            frame.queue_pair = bits(random() % 16);
            frame.ip = bits(random() % 2);
            frame.sequence = bits(random() % 3);
            frame.extension =
                bits::<224>(random() & 0xffff_ffff) << 160 | bits::<224>(frame.bytes.to_u64()) << 96;
        }
        uut.checked.next = frame;
        uut.receive.next.up = random() % 8 != 0;
        uut.receive.next.ip = bits(random() % 2);
        uut.receive.next.expected = bits(random() % 2);
        uut.receive.next.mtu = bits(8);
        uut.region.next.valid = random() % 8 != 0;
        uut.region.next.key = bits(0);
        uut.region.next.address = bits(0);
        uut.region.next.domain = uut.receive.next.domain;
        uut.ups.next = bits(0xffff & !(1 << (random() % 64)));
        // A message is looked at whose row was written.
        if frame.opcode == bits::<8>(7) || frame.opcode == bits::<8>(8) {
            uut.checked_valid.next = cycle > 2_000;
        }
    });
}

#[test]
fn net_interface() {
    check_with(
        NetInterface::new(InterfaceSizes { harts: 2, banks: 2, rings_log2: 3, areas_log2: 0 }),
        300,
        |uut, random, _| {
            uut.rx.tkeep.next = keep(random);
            uut.rx.tlast.next = random() % 3 == 0;
            uut.control.enable.next = random() % 64 != 0;
        },
    );
}

#[test]
fn answer_step() {
    check_with(AnswerStep::default(), 2_000, |uut, random, _| {
        let mut row = uut.row.next;
        row.oldest = bits(random() % 8);
        row.top = bits(random() % 16);
        row.open = bits(random() % 3);
        uut.row.next = row;
        uut.origin.next = bits(random() % 8);
        uut.first.next = bits(random() % 8);
        uut.entry.next.packets = bits(1 + random() % 8);
        uut.reply.next.sequence = bits(random() % 16);
        uut.reply.next.syndrome = bits([0x1f, 0x60, 0x62, 0x20][random() as usize % 4]);
    });
}

#[test]
fn responder() {
    let mut taken = 0;
    check_with(Responder::default(), 4_000, move |uut, random, cycle| {
        let down = random() % 4_096;
        uut.ups.next = bits(if down < 16 { 0xffff & !(1 << down) } else { 0xffff });
        // Queue pairs whose row was written
        uut.job_valid.next = random() % 4 == 0;
        uut.job.next.pair = bits(taken % 4);
        if uut.job_ready.val() {
            taken += 1;
        }
        uut.job.next.packets = bits(1 + random() % 4);
        uut.job.next.bytes = bits(1 + random() % 1_000);
        uut.job.next.sequence = bits(random() % 32);
        uut.job.next.address = bits(random() % 1_000);
        uut.job.next.back = cycle > 2_000 && random() % 4 == 0;
        uut.job.next.key = bits(0);
        uut.send.next.mtu = bits(8);
        uut.region.next = Region { domain: uut.send.next.domain, ..first_bytes(4_000, random() % 64 != 0) };
        uut.fault_valid.next = random() % 256 == 0;
    });
}

#[test]
fn remote_atomics() {
    check_with(RemoteAtomics::default(), 4_000, |uut, random, cycle| {
        uut.opens.next = cycle < 40;
        uut.opens_pair.next = bits(cycle % 16);
        uut.job_valid.next = cycle > 40 && random() % 8 != 0;
        uut.job.next.pair = bits(0);
        // What is kept is looked at when all was: until then each number stands long enough.
        uut.job.next.sequence = bits(if cycle < 2_600 { cycle / 80 % 32 } else { random() % 32 });
        uut.job.next.back = cycle > 2_600 && random() % 2 == 0;
        uut.error.next = cycle > 2_600 && random() % 4 == 0;
        uut.next_ready.next = random() % 2 == 0;
    });
}

#[test]
fn request_choice() {
    check_with(RequestChoice::default(), 2_000, |uut, random, _| {
        uut.opening.next = bits(random() & random() & random() & random() & 0xffff);
        uut.finishing.next = bits(random() & random() & random() & random() & 0xffff);
    });
}

#[test]
fn net_window() {
    check_with(NetWindow::new(2, 3), 6_000, |uut, random, cycle| {
        // Completions of commands that were posted, or of nobody's.
        let owner = if random() % 2 == 0 { random() % 64 * 16 } else { 1 + random() % 2 };
        let started = !uut.reset.next && cycle > 40;
        uut.posts.completed.next = started && random() % 3 == 0;
        uut.posts.owner.next = bits(owner);
        uut.posts.context.next = bits(random() % 4);
        uut.select.hart.next = bits(random() % 2);
        uut.select.of_window.next = random() % 8 != 0;
        uut.access.valid.next = random() % 8 != 0;
        uut.access.address.next = bits(random() % 33 * 4);
        uut.posts.enable.next = random() % 16 != 0;
        if random() % 4 == 0 {
            uut.access.address.next = bits(window::POST);
            uut.access.write.next = true;
        }
        if random() % 4 != 0 {
            uut.access.data.next = bits(random() & 0xffff_0f0f | 0x1000);
        }
        uut.stage.claim.next = uut.stage.free.val() && random() % 2 == 0;
        uut.stage.staged.next.buffer = bits(random() % 4);
        uut.stage.discard_buffer.next = bits(random() % 4);
        uut.stage.discard.next = random() % 8 == 0;
        uut.stage.drop_buffer.next = bits(random() % 4);
        uut.stage.drop.next = random() % 16 == 0;
        uut.stage.fill_buffer.next = bits(random() % 4);
        uut.select.hold.next = bits(if random() % 16 == 0 { random() % 4 } else { 0 });
        // Memories have no value before they are written.
        if cycle < 8 {
            uut.reset.next = cycle < 2;
            uut.access.valid.next = false;
            uut.stage.fill.next = true;
            uut.stage.fill_buffer.next = bits(cycle % 4);
        }
    });
}
