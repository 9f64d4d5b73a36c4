//! Frames that no honest peer sends, by name: what each of them changes, counts and is answered.
//!
//! The attacker is at the place of a peer: it knows addresses, keys and sequence numbers, and can
//! forge what others send. Each case is played with commands under way on its queue pair and on
//! another one.

mod cases;
mod pairs;
mod victim;

use hermes_rtl::types::{code, counter};

use cases::Case;
use victim::*;

/// Plays a case; what it must not do is what panics.
fn play(victim: &mut Victim, case: &Case) {
    let name = &case.name;
    victim.connect();
    victim.history();
    victim.post_commands();
    let before = victim.counters();
    let mut memory = victim.memory();
    let completed = victim.host.read("NET_COMPLETED").unwrap();
    let errors = victim.host.read("NET_ERROR").unwrap() >> 16;

    let seen = victim.sent.len();
    for (number, frame) in case.frames.iter().enumerate() {
        victim.submit(frame, case.damaged && number + 1 == case.frames.len());
    }
    victim.run_until_sent(seen, case.answers.len(), 1_500);
    victim.run(900);
    let answers = victim.answers(seen);
    assert_eq!(answers, case.answers, "{name}: what is sent");
    let mut counts = case.counts.clone();
    counts.push((counter::FRAMES_OUT, answers.len() as u32));
    counts.push((counter::FRAMES_IN, case.writes.len() as u32));
    if case.closes {
        counts.push((counter::NAKS_OUT, 1));
        counts.push((counter::DOWN, 1));
        counts.push((counter::FAILED, COMMANDS));
    }
    let expected = counter::all().filter(|number| *number < counter::COUNT as u64).map(|number| {
        before[number as usize] + counts.iter().filter(|one| one.0 == number).map(|one| one.1).sum::<u32>()
    });
    assert_eq!(victim.counters(), expected.collect::<Vec<_>>(), "{name}: counters");
    for (address, bytes) in &case.writes {
        put_bytes(&mut memory, *address, bytes);
    }
    victim.compare(&memory, &format!("{name}: memory"));

    // The commands complete: they fail with their queue pair, or as their peer answers.
    if !case.closes {
        victim.answer_commands();
        put_bytes(&mut memory, victim.landing(), &GOT);
    }
    victim.answer_other();
    victim.run_until_completed(completed + COMMANDS + 1, 1_500);
    let (failed, latest) = if case.closes { (COMMANDS, code::DOWN) } else { (0, code::DONE) };
    let now = victim.host.read("NET_ERROR").unwrap();
    assert_eq!(now >> 16, errors + failed, "{name}: commands that fail");
    assert!(failed == 0 || now & 0xff == latest as u32, "{name}: {now:#x}");
    // Each once, the other queue pair's too
    victim.run(700);
    assert_eq!(victim.host.read("NET_COMPLETED").unwrap(), completed + COMMANDS + 1, "{name}");
    if !case.closes {
        assert_eq!(victim.host.network_value().unwrap(), VALUE, "{name}: the atomic operation's result");
    }

    // The next good frame works.
    let mut next = case.next;
    if case.closes {
        victim.connect();
        next = 0;
    }
    let seen = victim.sent.len();
    let bytes = [0x5a; 24];
    victim.submit(&write_only(next, OPEN.address + 0x180, OPEN.key, &bytes).bytes(), false);
    victim.run_until_sent(seen, 1, 600);
    assert_eq!(
        victim.answers(seen),
        [Answer::ack(next).of_message(next + 1)],
        "{name}: the good frame is answered"
    );
    put_bytes(&mut memory, OPEN.address + 0x180, &bytes);
    victim.compare(&memory, &format!("{name}: the good frame"));
}

#[test]
fn hostile_frames() {
    let mut victim = Victim::new();
    let cases = cases::all();
    for (number, case) in cases.iter().enumerate() {
        assert!(cases[..number].iter().all(|other| other.name != case.name), "{}: twice", case.name);
        play(&mut victim, case);
    }
    println!("{} cases", cases.len());
}
