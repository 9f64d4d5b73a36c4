//! What the wiring of the interface decides, an input alone after the other: the kernel by itself,
//! with outputs of its parts that the test sets.

use super::*;
use crate::testing::{bit, is_raised_by, needs, poke, word};

type U = NetInterface;

/// With all that there can be.
fn unit() -> Box<U> {
    let sizes =
        InterfaceSizes { harts: 2, banks: 2, rings_log2: 2, areas_log2: 1, ..InterfaceSizes::default() };
    Box::new(NetInterface::new(sizes))
}

/// RESET is refused to a queue pair of which anything is held; a command that left is not at its
/// end while a payload of its queue pair moves.
#[test]
fn each_holder_of_a_queue_pair_counts() {
    let mut unit = unit();
    let held = [
        word!(U, receiver.held),
        word!(U, acknowledge.held),
        word!(U, atomics.held),
        word!(U, responder.held),
        word!(U, reader.responding),
    ];
    is_raised_by(&mut *unit, "held", 16, |unit| unit.pairs.held.next.to_u64(), &held);
    let moving = [word!(U, reader.pairs), word!(U, receiver.landing), word!(U, acknowledge.pending)];
    is_raised_by(&mut *unit, "moving", 16, |unit| unit.requester.moving.next.to_u64(), &moving);
    let closes = [bit!(U, receiver.closes), bit!(U, responder.closes)];
    is_raised_by(&mut *unit, "closes", 1, |unit| unit.pairs.closes.next.into(), &closes);
}

/// Each who looks at a table looks, and the others wait for who goes first.
#[test]
fn each_who_looks_is_seen() {
    let mut unit = unit();
    let looks = [bit!(U, requester.looks), bit!(U, responder.looks)];
    is_raised_by(&mut *unit, "regions.sends", 1, |unit| unit.regions.sends.next.into(), &looks);
    let sends = [bit!(U, requester.sends), bit!(U, responder.sends), bit!(U, acknowledge.sends)];
    is_raised_by(&mut *unit, "pairs.sends", 1, |unit| unit.pairs.sends.next.into(), &sends);
    let reads = [bit!(U, check.read_enable), bit!(U, writer.read_enable)];
    is_raised_by(&mut *unit, "read_enable", 1, |unit| unit.buffer.read_enable.next.into(), &reads);

    let room = || [bit!(U, queue.push_ready), bit!(U, reader.source_ready)];
    needs(
        &mut *unit,
        "region_free",
        |unit| unit.responder.region_free.next,
        &room(),
        &[bit!(U, requester.looks)],
    );
    needs(&mut *unit, "row_free", |unit| unit.responder.row_free.next, &[], &[bit!(U, requester.sends)]);
    needs(
        &mut *unit,
        "row_free of answers",
        |unit| unit.acknowledge.row_free.next,
        &[bit!(U, queue.push_ready)],
        &[bit!(U, requester.sends), bit!(U, responder.sends)],
    );
    needs(&mut *unit, "read_ready", |unit| unit.writer.read_ready.next, &[], &[bit!(U, check.read_enable)]);
    for (name, sink) in [
        ("refuse_valid", (|unit| unit.acknowledge.refuse_valid.next) as fn(&U) -> bool),
        ("refuse_ready", |unit| unit.responder.refuse_ready.next),
    ] {
        let needed = [bit!(U, responder.refuse_valid), bit!(U, acknowledge.refuse_ready)];
        // Of the other end nothing is needed.
        let needed = if name == "refuse_valid" { &needed[..1] } else { &needed[1..] };
        needs(&mut *unit, name, sink, needed, &[bit!(U, receiver.closes)]);
    }
}

/// Of those who look in the same cycle the first one's number counts: requester, responder,
/// acknowledge; the check of frames before their payloads.
#[test]
fn who_goes_first_is_looked_up() {
    let mut unit = unit();
    poke(&mut unit.requester.send_pair, 1.into());
    poke(&mut unit.responder.send_pair, 2.into());
    poke(&mut unit.acknowledge.send_pair, 4.into());
    poke(&mut unit.requester.region_index, 8.into());
    poke(&mut unit.responder.region_index, 9.into());
    poke(&mut unit.receiver.receive_pair, 10.into());
    poke(&mut unit.responder.closes_pair, 11.into());
    poke(&mut unit.check.read_beat, 100.into());
    poke(&mut unit.writer.read_beat, 200.into());
    for who in 0..8u64 {
        let [first, second, third] = [0, 1, 2].map(|bit| who >> bit & 1 == 1);
        poke(&mut unit.requester.sends, first);
        poke(&mut unit.responder.sends, second);
        poke(&mut unit.acknowledge.sends, third);
        poke(&mut unit.requester.looks, first);
        poke(&mut unit.responder.looks, second);
        poke(&mut unit.receiver.closes, first);
        poke(&mut unit.responder.closes, second);
        poke(&mut unit.check.read_enable, first);
        poke(&mut unit.writer.read_enable, second);
        unit.update();
        if who != 0 {
            assert_eq!(unit.pairs.send_pair.next.to_u64(), who & who.wrapping_neg(), "{who:03b}");
        }
        if first || second {
            assert_eq!(unit.regions.send_index.next.to_u64(), if first { 8 } else { 9 }, "{who:03b}");
            assert_eq!(unit.buffer.read_beat.next.to_u64(), if first { 100 } else { 200 }, "{who:03b}");
            // The responder's: the interface keeps the receiver's from coming at the same time.
            assert_eq!(unit.pairs.closes_pair.next.to_u64(), if second { 11 } else { 10 }, "{who:03b}");
        }
    }
}

/// Writes: atomic operations before control lines before payloads. Reads: commands before payloads.
#[test]
fn who_goes_first_to_memory() {
    let mut unit = unit();
    let writes = [bit!(U, atomics.write_valid), bit!(U, queues.write_valid), bit!(U, writer.write.valid)];
    is_raised_by(&mut *unit, "write.valid", 1, |unit| unit.write.valid.next.into(), &writes);
    let reads = [bit!(U, reader.read.valid), bit!(U, queues.read_valid)];
    is_raised_by(&mut *unit, "read.valid", 1, |unit| unit.read.valid.next.into(), &reads);
    let ready = || [bit!(U, write.ready)];
    let barred = [bit!(U, atomics.write_valid), bit!(U, queues.write_valid)];
    needs(&mut *unit, "ready of payloads", |unit| unit.writer.write.ready.next, &ready(), &barred);
    needs(&mut *unit, "ready of lines", |unit| unit.queues.write_ready.next, &ready(), &barred[..1]);
    needs(&mut *unit, "ready of atomics", |unit| unit.atomics.write_ready.next, &ready(), &[]);
    let ready = || [bit!(U, read.ready)];
    let barred = [bit!(U, queues.read_valid)];
    needs(&mut *unit, "ready of reads", |unit| unit.reader.read.ready.next, &ready(), &barred);
    needs(&mut *unit, "ready of commands", |unit| unit.queues.read_ready.next, &ready(), &[]);

    poke(&mut unit.atomics.write_line, 1.into());
    poke(&mut unit.queues.write_line, 2.into());
    poke(&mut unit.writer.write.line, 4.into());
    poke(&mut unit.writer.write.tag, 5.into());
    poke(&mut unit.reader.read.tag, 6.into());
    poke(&mut unit.queues.read_buffer, 7.into());
    for who in 1..8u64 {
        let [atomic, line, payload] = [0, 1, 2].map(|bit| who >> bit & 1 == 1);
        poke(&mut unit.atomics.write_valid, atomic);
        poke(&mut unit.queues.write_valid, line);
        poke(&mut unit.writer.write.valid, payload);
        poke(&mut unit.queues.read_valid, line);
        unit.update();
        let first = who & who.wrapping_neg();
        let tag = [0, 0x20, 0x10, 0, 5][first as usize];
        let written = (unit.write.line.next.to_u64(), unit.write.tag.next.to_u64());
        assert_eq!(written, (first, tag), "{who:03b}");
        assert_eq!(unit.read.tag.next.to_u64(), if line { 0x27 } else { 6 }, "{who:03b}");
    }
}

/// An answer of memory goes to who asked, by its tag, and to no other.
#[test]
fn answers_of_memory_go_to_who_asked() {
    let mut unit = unit();
    poke(&mut unit.write.written.valid, true);
    for tag in 0..0x40u64 {
        poke(&mut unit.write.written.tag, tag.into());
        unit.update();
        let got = (unit.writer.write.written.valid.next, unit.atomics.written.next);
        assert_eq!(got, (tag & 0x30 == 0, tag & 0x20 != 0), "write {tag:#x}");
    }
    poke(&mut unit.read.response.valid, true);
    for tag in 0..0x40u64 {
        poke(&mut unit.read.response.tag, tag.into());
        unit.update();
        let got = (unit.reader.read.response.valid.next, unit.queues.response_valid.next);
        assert_eq!(got, (tag & 0x20 == 0, tag & 0x20 != 0), "read {tag:#x}");
    }
    let ready = [bit!(U, requester.ready), bit!(U, queues.ready)];
    needs(&mut *unit, "ready", |unit| unit.control.ready.next, &ready, &[]);
    for response in [false, true] {
        let mut fault = unit.reader.fault.val();
        fault.response = response;
        poke(&mut unit.reader.fault, fault);
        let valid = [bit!(U, reader.fault_valid)];
        if response {
            needs(&mut *unit, "fault", |unit| unit.responder.fault_valid.next, &valid, &[]);
            let ready = [bit!(U, responder.fault_ready)];
            needs(&mut *unit, "fault_ready", |unit| unit.reader.fault_ready.next, &ready, &[]);
        } else {
            needs(&mut *unit, "fault", |unit| unit.requester.fault_valid.next, &valid, &[]);
            let ready = [bit!(U, requester.fault_ready)];
            needs(&mut *unit, "fault_ready", |unit| unit.reader.fault_ready.next, &ready, &[]);
        }
    }
}

/// Each event counts in its counter, and in no other.
#[test]
fn each_event_has_its_counter() {
    let mut unit = unit();
    let cases = [
        (counter::FRAMES_OUT, bit!(U, builder.sent)),
        (counter::FRAMES_IN, bit!(U, writer.performed)),
        (counter::RESENT, bit!(U, requester.resent)),
        (counter::TIMEOUTS, bit!(U, requester.timed_out)),
        (counter::NAKS_OUT, bit!(U, acknowledge.sent_nak)),
        (counter::STRAY, bit!(U, requester.stray)),
        (counter::NO_ROOM, bit!(U, buffer.dropped)),
        (counter::UNKNOWN, bit!(U, receiver.unknown)),
        (counter::REFUSED, bit!(U, receiver.refused)),
        (counter::REPEATED, bit!(U, receiver.repeated)),
        (counter::NEWER, bit!(U, receiver.newer)),
        (counter::DOWN, word!(U, pairs.downs)),
        (counter::FETCHED, bit!(U, queues.fetched)),
    ];
    let check = |unit: &mut U, number: Option<u64>, name: &str| {
        unit.update();
        let events = number.map_or(0, |number| 1 << number);
        assert_eq!(unit.counters.events.next.to_u64(), events, "{name}");
        assert_eq!(unit.events.next.to_u64(), events, "{name}");
    };
    for (number, input) in &cases {
        (input.set)(&mut unit, 1);
        check(&mut unit, Some(*number), input.name);
        (input.set)(&mut unit, 0);
        check(&mut unit, None, input.name);
    }
    for cause in 1..8u64 {
        poke(&mut unit.receiver.cause, cause.into());
        check(&mut unit, Some(counter::CAUSE_1 + cause - 1), "cause");
    }
    poke(&mut unit.receiver.cause, 0.into());
    poke(&mut unit.requester.completed, true);
    for (result, number) in [(code::DONE, None), (code::LOCAL, Some(counter::FAILED))] {
        poke(&mut unit.requester.completed_code, result.into());
        check(&mut unit, number, "a command ends");
    }
    poke(&mut unit.requester.completed, false);
    // Answers count when they are taken, those of READs do not.
    let mut answer = unit.receiver.answer.val();
    for (syndrome, response, nak, rest) in [
        (0x62, false, true, false),
        (0x60, true, false, false),
        (0x2c, false, false, true),
        (0x1f, false, false, false),
    ] {
        answer.syndrome = u64::into(syndrome);
        answer.response = response;
        poke(&mut unit.receiver.answer, answer);
        for (valid, ready) in [(true, true), (true, false), (false, true)] {
            poke(&mut unit.receiver.answer_valid, valid);
            poke(&mut unit.requester.answer_ready, ready);
            let taken = valid && ready;
            check(&mut unit, (nak && taken).then_some(counter::NAKS_IN), "an answer");
            assert_eq!(unit.counters.not_ready.next, rest && taken, "{syndrome:#x}");
        }
    }
}

/// What the wiring states is looked at: the message of the first statement that does not hold.
#[test]
fn what_is_stated_is_looked_at() {
    use std::panic::{catch_unwind, AssertUnwindSafe};
    let broken = |sets: fn(&mut U)| {
        let mut unit = unit();
        poke(&mut unit.clock, false.into());
        sets(&mut unit);
        poke(&mut unit.clock, true.into());
        let panic = catch_unwind(AssertUnwindSafe(|| unit.update())).err()?;
        Some(*panic.downcast::<&str>().expect("a message without arguments"))
    };
    assert_eq!(broken(|_| ()), None);
    let closes_twice = broken(|unit| {
        poke(&mut unit.receiver.closes, true);
        poke(&mut unit.responder.closes, true);
    });
    assert_eq!(closes_twice, Some("one_queue_pair_closes does not hold"));
    // Queue pair 3 is closing: with its refusal, and without.
    let closing: [fn(&mut U); 2] = [
        |unit| {
            poke(&mut unit.pairs.answers, 8.into());
            poke(&mut unit.acknowledge.held, 8.into());
        },
        |unit| {
            poke(&mut unit.pairs.answers, 8.into());
            poke(&mut unit.acknowledge.held, 4.into());
        },
    ];
    let [with, without] = closing.map(broken);
    assert_eq!(with, None);
    assert_eq!(without, Some("a_closing_queue_pair_has_an_answer_to_send does not hold"));
}
