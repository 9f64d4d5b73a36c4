//! The sender against what goes wrong: refusals, commands that cannot be, faults, changes of state
//! at any time.

use super::*;
use crate::testing::{is_raised_by, poke, word, Input};
use crate::types::code;

/// A NAK of the peer that is no loss, also one with a reserved code: the commands before it are
/// done, its own fails, the others end.
#[test]
fn a_refusal_takes_the_queue_pair_down() {
    for (syndrome, before) in [(0x61, 0), (0x62, 1), (0x63, 2), (0x64, 3), (0x7f, 0)] {
        let mut bench = Bench::new("requester_refusal");
        let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1_000_000, silent: None };
        for offset in 0..4 {
            bench.post(1, put(offset, 1, 1), wire);
        }
        for _ in 0..200 {
            bench.cycle(None, wire);
        }
        let sequence = (bench.first[1] + before) & 0xff_ffff;
        let answer = PeerAnswer {
            pair: 1.into(),
            sequence: u64::from(sequence).into(),
            syndrome: syndrome.into(),
            ..PeerAnswer::default()
        };
        bench.answers.push((0, answer));
        for _ in 0..100 {
            bench.cycle(None, wire);
        }
        let mut expected = vec![code::DONE; before as usize];
        expected.push(code::REMOTE);
        expected.resize(4, code::DOWN);
        assert_eq!(bench.completed[1], expected);
        assert_eq!((bench.up >> 1 & 1, bench.errors), (0, 2));
    }
}

/// The region of a put goes away while it is under way, or a line of it cannot be read: it fails
/// when nothing of it is being read, those before it do not, those behind it end.
#[test]
fn payloads_that_cannot_be_read() {
    for by_memory in [false, true] {
        let mut bench = Bench::new("requester_payload");
        let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 300, silent: None };
        let mut place = 0;
        for (number, command) in [put(0, 1, 1), put_from(16, 9_000, 0), put(8, 1, 1)].into_iter().enumerate()
        {
            let before = bench.places.clone();
            bench.post(1, command, wire);
            for _ in 0..20 {
                bench.cycle(None, wire);
            }
            if number == 1 {
                place = *bench.places.difference(&before).next().expect("it was taken");
            }
        }
        while bench.packets.len() < 12 {
            bench.cycle(None, wire);
        }
        bench.reading = 2;
        if by_memory {
            let sequence = (bench.first[1] + 11) & 0xff_ffff;
            bench.fault = Some(PayloadFault {
                pair: 1.into(),
                sequence: u64::from(sequence).into(),
                place: place.into(),
                response: false,
            });
        } else {
            bench.region.valid = false;
        }
        for _ in 0..400 {
            bench.cycle(None, wire);
        }
        assert!(bench.completed[1].is_empty(), "a payload is being read");
        assert_eq!((bench.up >> 1 & 1, bench.errors), (0, 2));
        bench.reading = 0;
        for _ in 0..400 {
            bench.cycle(None, wire);
        }
        // The queue pair went down before the answer of the first came.
        assert_eq!(bench.completed[1], [code::DOWN, code::LOCAL, code::DOWN]);
    }
}

/// A fault of a packet that was acknowledged meanwhile has no effect.
#[test]
fn faults_of_packets_that_are_done() {
    let mut bench = Bench::new("requester_late_fault");
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 50, silent: None };
    bench.cycle(Some((1, put_from(0, 100, 0))), wire);
    bench.posted[1].push_back((0, memory(REGION_BASE, 100)));
    while bench.under_way() > 0 {
        bench.cycle(None, wire);
    }
    let sequence = u64::from(bench.first[1]);
    bench.fault =
        Some(PayloadFault { pair: 1.into(), sequence: sequence.into(), place: 0.into(), response: false });
    for _ in 0..20 {
        bench.cycle(None, wire);
    }
    assert!(bench.fault.is_none());
    assert_eq!((bench.up, bench.errors), (0xffff, 0));
    bench.cycle(Some((1, put(7, 3, 9))), wire);
    bench.posted[1].push_back((7, vec![9; 3]));
    while bench.under_way() > 0 {
        bench.cycle(None, wire);
    }
    assert_eq!(bench.completed[1], [code::DONE; 2]);
}

/// Every code of a command that cannot be.
#[test]
fn commands_that_cannot_be() {
    let mut bench = Bench::new("requester_wrong");
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 20, silent: None };
    let long = put_from(0, 4, 0);
    let at = |place: u32, bytes: u32| put_from(0, bytes, place);
    let with = |bit: usize| PostedCommand { words: long.words.replace_bit(bit, true), ..long };
    let cases = [
        (at(REGION_BYTES - 3, 4), 0x82),
        (at(u32::MAX, 4), 0x82),
        (at(REGION_BYTES, 1), 0x82),
        (at(0u32.wrapping_sub(REGION_BASE), 1 << 30), 0x83),
        (PostedCommand { region: 4.into(), ..long }, 0x82),
        (put_from(WINDOW_BYTES - 3, 4, 0), 0x83),
        (put_from(u32::MAX, 4, 0), 0x83),
        (at(0, 0), 0x84),
        (at(0, (1 << 30) + 1), 0x84),
        (at(0, u32::MAX), 0x84),
        (put(0, 17, 1), 0x84),
        (get(0, 9), 0x84),
        (get(0, 0), 0x84),
        (PostedCommand { region: 4.into(), ..get_to(0, 4, 0) }, 0x82),
        (get_to(WINDOW_BYTES - 3, 4, 0), 0x83),
        (get_to(0, 1 << 30, 0), 0x83),
        (atomic(false, WINDOW_BYTES, 1, 0), 0x83),
        (atomic(true, 4, 1, 0), 0x85),
        (PostedCommand { words: atomic(false, 8, 1, 0).words.replace_bit(98, true), ..long }, 0x84),
        (command([3, WINDOW_BASE, REGION_BASE, 4, 0, 0, 0, 0]), 0x80),
        (PostedCommand { domain: 4.into(), ..long }, 0x88),
        (with(11), 0x8a),
        (with(14), 0x8a),
        (with(31), 0x8a),
    ];
    for (command, _) in cases {
        bench.post(9, command, wire);
        for _ in 0..10 {
            bench.cycle(None, wire);
        }
    }
    assert_eq!(bench.completed[9], cases.map(|case| case.1));
    assert!(bench.packets.is_empty());
}

/// Answers of the future, of the past, and for a queue pair without commands.
#[test]
fn answers_that_nobody_waits_for() {
    let mut bench = Bench::new("requester_stray");
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 600, silent: None };
    bench.uut.timeout.next = 4096.into();
    bench.cycle(Some((4, put(0, 4, 7))), wire);
    bench.posted[4].push_back((0, vec![7; 4]));
    for _ in 0..60 {
        bench.cycle(None, wire);
    }
    for (pair, ahead) in [(4, 1), (4, 0xff_ffff), (4, 0x80_0000), (5, 0), (5, 0xff_ffff)] {
        for syndrome in [0x1fu64, 0x60, 0x62, 0x20] {
            let sequence = (bench.first[pair] + ahead) & 0xff_ffff;
            let answer = PeerAnswer {
                pair: (pair as u64).into(),
                sequence: u64::from(sequence).into(),
                syndrome: syndrome.into(),
                ..PeerAnswer::default()
            };
            bench.answers.push((0, answer));
            for _ in 0..20 {
                bench.cycle(None, wire);
            }
        }
    }
    assert_eq!((bench.stray, bench.under_way(), bench.up), (20, 1, 0xffff));
    while bench.under_way() > 0 {
        bench.cycle(None, wire);
    }
    assert_eq!(bench.completed[4], [code::DONE]);
}

/// The host takes a queue pair down in each cycle around an ACK of several commands: each completes
/// once.
#[test]
fn down_while_an_ack_is_worked_at() {
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1_000_000, silent: None };
    for late in 0..12 {
        let mut bench = Bench::new("requester_down");
        for offset in 0..4 {
            bench.post(1, put(offset, 1, 1), wire);
        }
        for _ in 0..200 {
            bench.cycle(None, wire);
        }
        let sequence = u64::from((bench.first[1] + 3) & 0xff_ffff).into();
        bench.answers.push((
            0,
            PeerAnswer { pair: 1.into(), sequence, syndrome: 0x1f.into(), ..PeerAnswer::default() },
        ));
        for _ in 0..late {
            bench.cycle(None, wire);
        }
        bench.up &= !2;
        bench.errors |= 2;
        for _ in 0..100 {
            bench.cycle(None, wire);
        }
        let done = bench.completed[1].iter().filter(|code| **code == code::DONE).count();
        let flushed = bench.completed[1].iter().filter(|code| **code == code::DOWN).count();
        assert!(done + flushed == 4 && (done == 0 || flushed == 0), "{late}: {:?}", bench.completed[1]);
        assert!(bench.places.is_empty(), "{late}");
    }
}

/// A queue pair goes up in each cycle around a post for it: the command completes, and its place is
/// free again.
#[test]
fn up_while_a_command_is_posted() {
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 5, silent: None };
    for late in 0..8 {
        let mut bench = Bench::new("requester_up");
        bench.up &= !(1 << 3);
        bench.cycle(Some((3, put(0, 1, 1))), wire);
        for _ in 0..late {
            bench.cycle(None, wire);
        }
        bench.uut.opens.next = true;
        bench.uut.opens_pair.next = 3.into();
        bench.cycle(None, wire);
        bench.uut.opens.next = false;
        bench.up |= 1 << 3;
        for _ in 0..100 {
            bench.cycle(None, wire);
        }
        assert_eq!(bench.completed[3], [code::DOWN], "{late}");
        assert!(bench.places.is_empty(), "{late}");
    }
}

/// A command that waits to be checked is one that its queue pair has: the queue pair does not go to
/// RESET.
#[test]
fn a_posted_command_is_listed() {
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 5, silent: None };
    let mut bench = Bench::new("requester_listed");
    bench.cycle(Some((3, put(0, 1, 1))), wire);
    while bench.completed[3].is_empty() {
        settle(&mut bench.uut);
        assert!(bench.uut.listed.val().get_bit(3), "cycle {}", bench.cycle);
        bench.cycle(None, wire);
    }
}

/// Answers take every second frame, each in the cycle in which a packet is chosen: the queue pairs
/// take turns all the same.
#[test]
fn queue_pairs_take_turns_between_answers() {
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1_000_000, silent: None };
    let mut bench = Bench::new("requester_turns");
    bench.uut.timeout.next = 4096.into();
    bench.answers_wait = Some(false);
    bench.busy = 100;
    for number in 0..8 {
        bench.post(if number < 4 { 2 } else { 7 }, put(number, 1, 1), wire);
    }
    for _ in 0..600 {
        bench.cycle(None, wire);
    }
    let pairs: Vec<usize> = bench.packets.iter().map(|packet| packet.pair).collect();
    assert!(pairs == [2, 7, 2, 7, 2, 7, 2, 7] || pairs == [7, 2, 7, 2, 7, 2, 7, 2], "{pairs:?}");
}

/// NET_RETRIES that is lowered below the time-outs that there were: the next one is the last.
#[test]
fn fewer_retries_than_there_were() {
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1_000_000, silent: None };
    let mut bench = Bench::new("requester_retries");
    bench.uut.timeout.next = 50.into();
    bench.cycle(Some((2, put(0, 1, 1))), wire);
    while bench.timed_out < 3 {
        bench.cycle(None, wire);
    }
    bench.uut.retries.next = 1.into();
    while bench.timed_out < 4 {
        bench.cycle(None, wire);
    }
    // The queue pair goes to ERROR, and its commands end.
    for _ in 0..10 {
        bench.cycle(None, wire);
    }
    assert_eq!(bench.completed[2], [code::RETRIES]);
}

/// A NAK that is no loss behind a get whose responses were lost: the get and what it reads there
/// end with 0x88, what was performed there is done.
#[test]
fn a_refusal_behind_a_get() {
    for lost in [get_to(0, 600, 0), get(0, 8), atomic(false, 0, 1, 0)] {
        let mut bench = Bench::new("requester_refusal_get");
        let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1_000_000, silent: None };
        let numbers = if lost.words.get_bits::<32>(96).to_u64() == 600 { 3 } else { 1 };
        for command in [put(0, 1, 1), lost, put(1, 1, 1), put(2, 1, 1), put(3, 1, 1)] {
            bench.post(1, command, wire);
        }
        for _ in 0..300 {
            bench.cycle(None, wire);
        }
        let sequence = (bench.first[1] + 2 + numbers) & 0xff_ffff;
        let answer = PeerAnswer {
            pair: 1.into(),
            sequence: u64::from(sequence).into(),
            syndrome: 0x62.into(),
            ..PeerAnswer::default()
        };
        bench.answers.push((0, answer));
        for _ in 0..100 {
            bench.cycle(None, wire);
        }
        assert_eq!(bench.completed[1], [code::DONE, code::DOWN, code::DONE, code::REMOTE, code::DOWN]);
        assert!(bench.places.is_empty());
    }
}

/// Responses that are too short, of another kind, of another packet or another place in their READ,
/// or whose syndrome is that of no ACK are dropped; the region of a get that goes away ends it with
/// 0x89.
#[test]
fn responses_that_are_not_right() {
    let mut bench = Bench::new("requester_responses");
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1_000_000, silent: None };
    bench.uut.timeout.next = 100_000.into();
    bench.post(1, get_to(0, 300, 0), wire);
    for _ in 0..60 {
        bench.cycle(None, wire);
    }
    let first = u64::from(bench.first[1]);
    let response = |ahead: u64, bytes: u64, atomic| PeerAnswer {
        pair: 1.into(),
        sequence: ((first + ahead) & 0xff_ffff).into(),
        response: true,
        atomic,
        bytes: bytes.into(),
        begins: ahead == 0 && !atomic,
        ends: ahead == 1 && !atomic,
        ..PeerAnswer::default()
    };
    let placed = |begins, ends| PeerAnswer { begins, ends, ..response(0, 256, false) };
    let told = |syndrome: u64| PeerAnswer { syndrome: syndrome.into(), ..response(0, 256, false) };
    let give = |bench: &mut Bench, answer| {
        let before = bench.stray;
        bench.answers.push((0, answer));
        for _ in 0..60 {
            bench.cycle(None, wire);
        }
        bench.stray - before
    };
    let wrongs = [
        response(0, 255, false),
        response(0, 256, true),
        response(0, 0, false),
        response(2, 44, false),
        // Middle, last, only
        placed(false, false),
        placed(false, true),
        placed(true, true),
        // RNR NAK, reserved, NAK, with the reserved bit
        told(0x20),
        told(0x5f),
        told(0x60),
        told(0x80),
    ];
    for wrong in wrongs {
        assert_eq!(give(&mut bench, wrong), 1, "{wrong:?}");
    }
    // Answers whose syndrome has no meaning
    for syndrome in [0x40u64, 0x5f, 0x80, 0xff] {
        let answer =
            PeerAnswer { response: false, begins: false, syndrome: syndrome.into(), ..response(1, 0, false) };
        assert_eq!(give(&mut bench, answer), 1, "{syndrome:#x}");
    }
    assert_eq!(bench.reads, 1);
    assert_eq!(give(&mut bench, response(1, 44, false)), 1);
    assert_eq!(bench.reads, 2, "the first one was lost");
    assert_eq!(give(&mut bench, response(0, 256, false)), 0);
    bench.region.valid = false;
    assert_eq!(give(&mut bench, response(1, 44, false)), 0);
    assert_eq!(bench.completed[1], [code::LOCAL]);
    assert_eq!((bench.up >> 1 & 1, bench.errors), (0, 2));
}

/// An RNR NAK: nothing is sent for the time that it says, then all from its packet on, which is no
/// time-out; an ACK ends the rest at once; a peer that is never ready is given up.
#[test]
fn a_peer_that_is_not_ready() {
    for (code, least, most) in [(1, 10_000, 16_000), (2, 20_000, 21_000), (3, 30_000, 31_000)] {
        let mut bench = Bench::new("requester_not_ready");
        let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1_000_000, silent: None };
        bench.uut.timeout.next = 1_000.into();
        bench.uut.retries.next = 2.into();
        bench.post(1, put(0, 8, 1), wire);
        bench.post(1, put(8, 8, 2), wire);
        for _ in 0..100 {
            bench.cycle(None, wire);
        }
        assert_eq!(bench.packets.len(), 2);
        let first = u64::from(bench.first[1]);
        let answer = |ahead: u64, syndrome: u64| PeerAnswer {
            pair: 1.into(),
            sequence: ((first + ahead) & 0xff_ffff).into(),
            syndrome: syndrome.into(),
            ..PeerAnswer::default()
        };
        // Acknowledges the packet before, too.
        bench.answers.push((0, answer(1, 0x20 | code)));
        let mut since = 0;
        while bench.packets.len() == 2 {
            since += 1;
            assert!(since < 40_000, "not sent again");
            bench.cycle(None, wire);
        }
        assert!((least..most).contains(&since), "{since} cycles, code {code}");
        assert_eq!((bench.completed[1].len(), bench.timed_out, bench.resent), (1, 0, 1));
        // Once more; the ACK of the packet comes before it is over.
        bench.answers.push((0, answer(1, 0x20 | code)));
        for _ in 0..2_000 {
            bench.cycle(None, wire);
        }
        bench.post(1, put(16, 8, 3), wire);
        for _ in 0..2_000 {
            bench.cycle(None, wire);
        }
        assert_eq!(bench.packets.len(), 3, "it rests");
        bench.answers.push((0, answer(1, 0x1f)));
        for _ in 0..100 {
            bench.cycle(None, wire);
        }
        assert_eq!(bench.packets.len(), 4, "it goes on");
        // Not ready for ever, with the shortest rest
        if code > 1 {
            continue;
        }
        for _ in 0..3 {
            bench.answers.push((0, answer(2, 0x20 | code)));
            for _ in 0..most + 9_000 {
                bench.cycle(None, wire);
            }
        }
        let _ = bench.completed[1].pop().filter(|code| *code == code::RETRIES).expect("it is given up");
        assert_eq!(bench.errors, 2);
    }
}

/// A rest is no loss: behind it go as many packets as before it, the window of the queue pair.
#[test]
fn a_rest_keeps_the_window() {
    let mut bench = Bench::new("requester_rests");
    let wire = Wire { loss: 0, repeat: 0, reorder: 0, delay: 1_000_000, silent: None };
    bench.uut.timeout.next = 1_000_000.into();
    bench.uut.retries.next = 2.into();
    bench.post(1, put_from(0, 24 << MTU, 0), wire);
    for _ in 0..3_000 {
        bench.cycle(None, wire);
    }
    let window = bench.packets.len();
    assert!((4..24).contains(&window), "{window} packets without an answer");
    let sequence = u64::from(bench.first[1]).into();
    let not_ready = PeerAnswer { pair: 1.into(), sequence, syndrome: 0x21.into(), ..PeerAnswer::default() };
    bench.answers.push((0, not_ready));
    // Code 1 is a rest of less than 16,000 cycles.
    for _ in 0..20_000 {
        bench.cycle(None, wire);
    }
    assert_eq!((bench.packets.len() - window, bench.timed_out), (window, 0));
}

/// RESET waits for a queue pair that has commands, is about to begin, or of which a command was
/// taken: each of them alone. In ERROR its commands end when nothing of it moves.
#[test]
fn a_queue_pair_is_listed_while_it_has_anything() {
    let mut unit = Requester::new(2, 8);
    let posted = Input::<Requester> {
        name: "posted",
        set: |unit, value| {
            let mut command = unit.posted_command.q.val();
            command.pair = u64::from(value.max(1).trailing_zeros()).into();
            poke(&mut unit.posted.q, value != 0);
            poke(&mut unit.posted_command.q, command);
        },
    };
    let lists = [word!(Requester, busy.q), word!(Requester, opening.q), posted];
    is_raised_by(&mut unit, "listed", PAIRS, |unit| unit.listed.next.to_u64(), &lists);
    poke(&mut unit.busy.q, 0xffff.into());
    let ends = [word!(Requester, finishing.q), word!(Requester, errors)];
    is_raised_by(&mut unit, "finishing", PAIRS, |unit| unit.choice.finishing.next.to_u64(), &ends);
    poke(&mut unit.errors, 0xffff.into());
    for (name, kept) in [("moving", 0x10u64), ("busy", 0x8000)] {
        poke(&mut unit.moving, if name == "moving" { kept } else { 0 }.into());
        poke(&mut unit.busy.q, if name == "busy" { 0xffff & !kept } else { 0xffff }.into());
        unit.update();
        assert_eq!(unit.choice.finishing.next.to_u64(), 0xffff & !kept, "{name}");
    }
}
