//! Inputs of the units of the network interface: frames and commands that are mostly right.

use super::Random;
use hermes_hdl::prelude::*;
use hermes_rtl::net::*;

/// The head of a frame with random values, for a payload of `bytes` bytes.
fn head(random: Random, bytes: u64) -> FrameHead {
    let words = [0, 1, 3, 4, 7][random() as usize % 5];
    let mut number = |bits: u32| random() >> (64 - bits);
    FrameHead {
        queue_pair: number(5).into(),
        mac: number(48).into(),
        ip: number(32).into(),
        opcode: number(8).into(),
        acknowledge: number(1) == 1,
        remote: number(24).into(),
        sequence: number(24).into(),
        // The words that count are the upper ones; the others are 0.
        extension: (0..7).fold(bits(0), |value, word| {
            value << 32 | bits::<224>(if word < words { number(32) } else { 0 })
        }),
        extension_words: words.into(),
        bytes: bytes.into(),
    }
}

/// The beats of frames that come, mostly whole ones.
fn keep(random: Random) -> Bits<64> {
    match random() % 8 {
        0 => bits(random()),
        1 => bits(u64::MAX >> (random() % 64)),
        _ => bits(u64::MAX),
    }
}

/// A region of the first `bytes` bytes, with all rights.
fn first_bytes(bytes: u64, valid: bool) -> Region {
    Region { valid, rights: bits(31), bytes: bits(bytes), ..Region::default() }
}

pub fn icrc(unit: &mut Icrc, random: Random, _: u64) {
    unit.bytes.next = bits([2, 6, 10, 14, 16, 16, 16, 16][random() as usize % 8]);
}

pub fn frame_builder(unit: &mut FrameBuilder, random: Random, _: u64) {
    let bytes = random() % 300;
    unit.head.next = head(random, bytes);
    unit.head_valid.next = random() % 4 != 0;
    unit.line_valid.next = random() % 4 != 0;
    unit.line_error.next = random() % 16 == 0;
    unit.tx_tready.next = random() % 4 != 0;
}

pub fn byte_rotate(unit: &mut ByteRotate, random: Random, _: u64) {
    unit.hold.next = random() % 4 == 0;
}

pub fn frame_buffer(unit: &mut FrameBuffer, random: Random, cycle: u64) {
    unit.rx_tkeep.next = keep(random);
    unit.rx_tlast.next = random() % 4 == 0;
    unit.stored_take.next = unit.stored_valid.val() && random() % 4 == 0;
    // Beats are freed after they came, mostly.
    unit.free_valid.next = cycle > 600 && random() % 4 == 0;
    unit.free_beats.next = bits(random() % 4);
}

pub fn frame_check(unit: &mut FrameCheck, random: Random, _: u64) {
    unit.stored.next.beats = bits(1 + random() % 6);
    unit.stored.next.bytes = bits(64 * (1 + random() % 6));
    unit.stored.next.damaged = random() % 16 == 0;
    unit.read_ready.next = random() % 4 != 0;
    // IPv4 headers that are right, now and then; the rest is random.
    if random() % 2 == 0 {
        let mut bytes = unit.read_data.next;
        bytes.set_bits(96, bits::<24>(0x45_0008));
        unit.read_data.next = bytes;
    }
}

pub fn payload_writer(unit: &mut PayloadWriter, random: Random, cycle: u64) {
    unit.place.next.header = bits([54, 58, 66, 70, 82][random() as usize % 5]);
    unit.place.next.bytes = bits(1 + random() % 300);
    unit.read_ready.next = random() % 4 != 0;
    unit.write.ready.next = random() % 4 != 0;
    unit.write.written.tag.next = bits(if random() % 4 == 0 { random() % 64 } else { cycle % 64 });
}

pub fn queue_pairs(unit: &mut QueuePairs, random: Random, _: u64) {
    unit.set_state.next = random() % 8 == 0;
}

pub fn command_check(unit: &mut CommandCheck, random: Random, _: u64) {
    let mut words = unit.command.next.words;
    if random() % 4 != 0 {
        words.set_bits(0, bits::<32>([0x401, 1, 2, 0x402, 4][random() as usize % 5]));
        words.set_bits(96, bits::<32>(random() % 20));
    }
    unit.command.next.words = words;
    unit.command.next.domain = bits(3);
    unit.region.next.domain = bits(3);
    unit.pair.next.domain = bits(3);
    unit.pair.next.window = bits(0);
    unit.pair.next.up = random() % 8 != 0;
    unit.pair.next.mtu = bits(8 + random() % 5);
}

pub fn packet_cut(unit: &mut PacketCut, random: Random, _: u64) {
    unit.mtu.next = bits(8 + random() % 5);
    unit.entry.next.packets = bits(1 + random() % 8);
    unit.number.next = bits(random() % 8);
}

pub fn frame_queue(unit: &mut FrameQueue, random: Random, _: u64) {
    unit.push.next = head(random, 8);
    // What is taken was written.
    unit.pop_ready.next = unit.pop_valid.val() && unit.pop_ready.next;
}

pub fn region_check(unit: &mut RegionCheck, random: Random, _: u64) {
    unit.domain.next = bits(1);
    unit.region.next.domain = bits(1);
    unit.region.next.rights = bits(31);
    unit.region.next.valid = random() % 8 != 0;
    unit.region.next.address = bits(random() % 8);
    unit.region.next.bytes = bits(random() % 64);
    unit.address.next = bits(random() % 64);
    unit.bytes.next = bits(random() % 64);
}

pub fn region_table(unit: &mut RegionTable, random: Random, cycle: u64) {
    // All words are written first.
    unit.table.write.next = cycle < 80 || random() % 4 == 0;
    if cycle < 80 {
        unit.table.pair.next = bits(cycle / 4 % 16);
        unit.table.word.next = bits(cycle % 4);
        unit.sends.next = false;
    }
    unit.table.word.next = bits(unit.table.word.next.to_u64() % 4);
    unit.table.read.next = cycle > 80 && random() % 2 == 0;
}

pub fn payload_reader() -> impl FnMut(&mut PayloadReader, Random, u64) {
    let mut open = vec![];
    move |unit, random, _| {
        if unit.read.valid.val() && unit.read.ready.val() {
            open.push(unit.read.tag.val().to_u64());
        }
        unit.source.next.bytes = bits(1 + random() % 300);
        if !unit.source.next.memory {
            unit.source.next.bytes = bits(1 + random() % 16);
        }
        unit.read.ready.next = random() % 4 != 0;
        let answers = !open.is_empty() && random() % 4 != 0;
        unit.read.response.valid.next = answers;
        if answers {
            unit.read.response.tag.next = bits(open.swap_remove(random() as usize % open.len()));
        }
        unit.read.response.error.next = random() % 32 == 0;
        unit.line_ready.next = random() % 4 != 0;
    }
}

pub fn request_check(unit: &mut RequestCheck, random: Random, _: u64) {
    unit.pair.next.mtu = bits(8 + random() % 5);
    unit.frame.next.opcode = bits([6, 7, 8, 10, 12][random() as usize % 5]);
    unit.frame.next.bytes = bits([0, 8, 256, 512][random() as usize % 4]);
    unit.message.next.left = bits([8, 256, 512, 600][random() as usize % 4]);
    if random() % 2 == 0 {
        let bytes = unit.frame.next.bytes.to_u64();
        unit.frame.next.extension = bits::<224>(bytes) << 96;
        unit.region.next.key = bits(0);
        unit.region.next.address = bits(0);
        unit.pair.next.domain = unit.region.next.domain;
    }
}

pub fn work_table(owners: u64, entries: u64) -> impl FnMut(&mut WorkTable, Random, u64) {
    let mut written = 0u64;
    move |unit, random, cycle| {
        // What is read was written.
        let owner = random() % owners;
        let all = (1 << entries) - 1;
        unit.entry.next.owner = bits(owner);
        unit.write.next = cycle > 4 && written >> (8 * owner) & all != all && random() % 3 != 0;
        let place = (written >> (8 * owner)).trailing_ones().min(7);
        if unit.write.next {
            written |= 1 << (8 * owner + u64::from(place));
        }
        unit.release.next = false;
        unit.read.next = written == (0..owners).fold(0, |whole, _| whole << 8 | all)
            && !unit.write.next
            && random() % 2 == 0;
    }
}

pub fn retry_timers(unit: &mut RetryTimers, random: Random, _: u64) {
    unit.timeout.next = bits(random() % 64);
    unit.patience.next = bits(random() % 96);
    unit.rest.next = random() % 8 == 0;
    unit.doublings.next = bits(random() % 3);
    unit.start.next = random() % 4 == 0;
    unit.stop.next = random() % 8 == 0;
}

pub fn frame_turns(unit: &mut FrameTurns, random: Random, _: u64) {
    unit.request.next = head(random, 8);
    unit.answer.next = head(random, 0);
}

pub fn acknowledge(unit: &mut Acknowledge, random: Random, cycle: u64) {
    unit.ups.next = bits((random() | random()) & 0xffff);
    unit.mark_valid.next = cycle >= 40 && random() % 3 == 0;
}

pub fn requester(unit: &mut Requester, random: Random, cycle: u64) {
    // All rows begin first.
    unit.opens.next = cycle < 40;
    unit.opens_pair.next = bits(cycle % 16);
    unit.ups.next = bits(0xffff);
    unit.errors.next = bits(0);
    if cycle > 3_000 {
        unit.ups.next = bits((random() | random()) & 0xffff);
        unit.errors.next = bits(random() & random() & random() & 0xffff);
    }
    unit.window.next = bits(1 + random() % 32);
    unit.timeout.next = bits(50);
    unit.answer_valid.next = cycle > 100 && random() % 4 == 0;
    let mut reply = unit.answer.next;
    reply.sequence = bits(random() % 8);
    reply.syndrome = bits([0x1f, 0x1f, 0x60, 0x62][random() as usize % 4]);
    reply.response = random() % 2 == 0;
    reply.atomic = random() % 8 == 0;
    reply.bytes = bits([8, 256, 44][random() as usize % 3]);
    unit.answer.next = reply;
    unit.post_valid.next = cycle > 100 && random() % 4 == 0;
    unit.completed_ready.next = random() % 4 != 0;
    let mut words = unit.post.next.words;
    words.set_bits(0, bits::<32>([0x401, 1, 2, 0x402, 4][random() as usize % 5]));
    words.set_bits(32, bits::<32>(random() % 2_000));
    words.set_bits(64, bits::<32>(random() % 2_000));
    words.set_bits(96, bits::<32>(1 + random() % if random() % 2 == 0 { 18 } else { 700 }));
    unit.post.next.words = words;
    unit.post.next.domain = bits(2);
    unit.send.next.domain = bits(2);
    unit.send.next.mtu = bits(8);
    unit.region.next =
        Region { domain: bits(2), key: unit.region.next.key, ..first_bytes(5_000, random() % 64 != 0) };
    unit.fault_valid.next = random() % 256 == 0;
    unit.fault.next.sequence = bits(random() % 8);
    unit.moving.next = bits(0);
    unit.send.next.depth = bits(4);
    unit.got_valid.next = random() % 8 == 0;
    unit.got_sequence.next = bits(random() % 8);
    unit.show_pair.next = bits(cycle % 16);
    unit.send.next.window = bits(0);
    unit.send.next.up = random() % 16 != 0;
    unit.send.next.sequence = bits(0);
    unit.head_ready.next = random() % 4 != 0;
}

pub fn receiver(unit: &mut Receiver, random: Random, cycle: u64) {
    let mut frame = unit.checked.next;
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
    unit.checked.next = frame;
    unit.receive.next.up = random() % 8 != 0;
    unit.receive.next.ip = bits(random() % 2);
    unit.receive.next.expected = bits(random() % 2);
    unit.receive.next.mtu = bits(8);
    unit.region.next.valid = random() % 8 != 0;
    unit.region.next.key = bits(0);
    unit.region.next.address = bits(0);
    unit.region.next.domain = unit.receive.next.domain;
    unit.ups.next = bits(0xffff & !(1 << (random() % 64)));
    // A message is looked at whose row was written.
    if frame.opcode == bits::<8>(7) || frame.opcode == bits::<8>(8) {
        unit.checked_valid.next = cycle > 2_000;
    }
}

pub fn net_interface(unit: &mut NetInterface, random: Random, _: u64) {
    unit.rx.tkeep.next = keep(random);
    unit.rx.tlast.next = random() % 3 == 0;
    unit.control.enable.next = random() % 64 != 0;
}

pub fn answer_step(unit: &mut AnswerStep, random: Random, _: u64) {
    let mut row = unit.row.next;
    row.oldest = bits(random() % 8);
    row.top = bits(random() % 16);
    row.open = bits(random() % 3);
    unit.row.next = row;
    unit.origin.next = bits(random() % 8);
    unit.first.next = bits(random() % 8);
    unit.entry.next.packets = bits(1 + random() % 8);
    unit.reply.next.sequence = bits(random() % 16);
    unit.reply.next.syndrome = bits([0x1f, 0x60, 0x62, 0x20][random() as usize % 4]);
}

/// One step a cycle, with numbers that meet.
pub fn row_step(unit: &mut RowStep, random: Random, _: u64) {
    let mut row = unit.row.next;
    row.oldest = bits(random() % 8);
    row.upcoming = bits(random() % 8);
    row.top = bits(random() % 16);
    row.entries = bits(random() % 3);
    row.open = bits(random() % 3);
    unit.row.next = row;
    unit.behind.next = bits(random() % 8);
    unit.oldest.next = bits(random() % 8);
    unit.origin.next = bits(random() % 8);
    unit.packet.next.numbers = bits(1 + random() % 8);
    let step = random() % 12;
    unit.opens.next = step == 0;
    unit.takes.next = step == 1;
    unit.sent.next = step == 2;
    unit.passes.next = step == 3;
    unit.settles.next = step == 4 || step == 5;
    unit.is_fatal.next = step == 5;
    unit.lands.next = step == 6;
    unit.gets.next = step == 7;
    unit.repeats.next = step == 8;
    unit.gives_up.next = step == 9 && random() % 2 == 0;
    unit.loses.next = step == 9 && !unit.gives_up.next && random() % 2 == 0;
    unit.breaks.next = step == 5 || step == 9;
    unit.removes.next = step == 10;
}

/// All queue pairs go up first; numbers and times meet.
pub fn send_window(unit: &mut SendWindow, random: Random, cycle: u64) {
    unit.opens.next = cycle < 16 || random() % 64 == 0;
    unit.pair.next = bits(if cycle < 16 { cycle } else { random() % 16 });
    unit.mtu.next = bits(8 + random() % 5);
    unit.window.next = bits(1 + random() % 32);
    unit.time.next = bits(random() % 5_000);
    unit.oldest.next = bits(random() % 8);
    unit.upcoming.next = bits(random() % 40);
    unit.number.next = bits(random() % 8);
    unit.under_way.next = bits(random() % 40);
    unit.top.next = bits(random() % 16);
    // All that a step writes is known.
    let step = if cycle < 16 { 0 } else { random() % 8 };
    unit.sent.next = step == 1;
    unit.moves.next = step == 2 || step == 3;
    unit.loses.next = step == 3 || step == 4;
    unit.expires.next = step == 5;
    unit.wakes.next = step == 5;
    unit.rests.next = step == 6;
}

pub fn responder() -> impl FnMut(&mut Responder, Random, u64) {
    let mut taken = 0;
    move |unit, random, cycle| {
        let down = random() % 4_096;
        unit.ups.next = bits(if down < 16 { 0xffff & !(1 << down) } else { 0xffff });
        // Queue pairs whose row was written
        unit.job_valid.next = random() % 4 == 0;
        unit.job.next.pair = bits(taken % 4);
        if unit.job_ready.val() {
            taken += 1;
        }
        unit.job.next.packets = bits(1 + random() % 4);
        unit.job.next.bytes = bits(1 + random() % 1_000);
        unit.job.next.sequence = bits(random() % 32);
        unit.job.next.address = bits(random() % 1_000);
        unit.job.next.back = cycle > 2_000 && random() % 4 == 0;
        unit.job.next.key = bits(0);
        unit.send.next.mtu = bits(8);
        unit.region.next = Region { domain: unit.send.next.domain, ..first_bytes(4_000, random() % 64 != 0) };
        unit.fault_valid.next = random() % 256 == 0;
    }
}

pub fn remote_atomics(unit: &mut RemoteAtomics, random: Random, cycle: u64) {
    unit.opens.next = cycle < 40;
    unit.opens_pair.next = bits(cycle % 16);
    unit.job_valid.next = cycle > 40 && random() % 8 != 0;
    unit.job.next.pair = bits(0);
    // What is kept is looked at when all was: until then each number stands long enough.
    unit.job.next.sequence = bits(if cycle < 2_600 { cycle / 80 % 32 } else { random() % 32 });
    unit.job.next.back = cycle > 2_600 && random() % 2 == 0;
    unit.error.next = cycle > 2_600 && random() % 4 == 0;
    unit.next_ready.next = random() % 2 == 0;
}

pub fn request_choice(unit: &mut RequestChoice, random: Random, _: u64) {
    unit.opening.next = bits(random() & random() & random() & random() & 0xffff);
    unit.finishing.next = bits(random() & random() & random() & random() & 0xffff);
}

pub fn net_window(unit: &mut NetWindow, random: Random, cycle: u64) {
    // Completions of commands that were posted, or of nobody's.
    let owner = if random() % 2 == 0 { random() % 64 * 16 } else { 1 + random() % 2 };
    let started = !unit.reset.next && cycle > 40;
    unit.posts.completed.next = started && random() % 3 == 0;
    unit.posts.owner.next = bits(owner);
    unit.posts.context.next = bits(random() % 4);
    unit.select.hart.next = bits(random() % 2);
    unit.select.of_window.next = random() % 8 != 0;
    unit.access.valid.next = random() % 8 != 0;
    unit.access.address.next = bits(random() % 33 * 4);
    unit.posts.enable.next = random() % 16 != 0;
    if random() % 4 == 0 {
        unit.access.address.next = bits(window::POST);
        unit.access.write.next = true;
    }
    if random() % 4 != 0 {
        unit.access.data.next = bits(random() & 0xffff_0f0f | 0x1000);
    }
    unit.stage.claim.next = unit.stage.free.val() && random() % 2 == 0;
    unit.stage.staged.next.buffer = bits(random() % 4);
    unit.stage.discard_buffer.next = bits(random() % 4);
    unit.stage.discard.next = random() % 8 == 0;
    unit.stage.drop_buffer.next = bits(random() % 4);
    unit.stage.drop.next = random() % 16 == 0;
    unit.stage.fill_buffer.next = bits(random() % 4);
    unit.select.hold.next = bits(if random() % 16 == 0 { random() % 4 } else { 0 });
    // Memories have no value before they are written.
    if cycle < 8 {
        unit.reset.next = cycle < 2;
        unit.access.valid.next = false;
        unit.stage.fill.next = true;
        unit.stage.fill_buffer.next = bits(cycle % 4);
    }
}
