//! One event in each cycle of arming, of delivery, of looks at ulipend and of `wfi` (U1, U8, U17,
//! U25, U27): each is noticed once.

use hermes_testbench::cosim::{host_interrupt, Descriptor, Latency, MemoryOptions, MESSAGE_WORDS};

use super::array::Array;

const PROGRAM: &str = include_str!("programs/events.S");
/// Cycles from the begin of a round to the event, at most.
const MOMENTS: u32 = 330;
/// Words of `parameters` that say how many rounds may begin and have ended.
const MAY_BEGIN: u32 = 8;

/// What makes the event.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cause {
    /// CP_DOORBELL: scenario 3.
    Doorbell,
    /// A message of the host: scenario 3.
    Message,
    /// The completion word of a job: scenario 1.
    Completion,
    /// The slot of a job becomes free: scenario 2.
    FreeSlot,
}

fn rounds(cause: Cause, before_arming: bool) {
    let memory = MemoryOptions { latency: Latency::Fixed(8), ..MemoryOptions::default() };
    let mut array = Array::new(PROGRAM, memory);
    let flag = array.label("flag");
    let bit = |bit: u32| (3, 1u32 << bit, 0xffff_e310u32, 1u32 << bit);
    let (scenario, parameter, look_at, mask) = match cause {
        Cause::Doorbell => bit(16),
        Cause::Message => bit(4),
        Cause::Completion => (1, flag, flag, u32::MAX),
        // A slot that is free: the completion word tells.
        Cause::FreeSlot => (2, 1 << 5, flag, u32::MAX),
    };
    for (word, value) in [parameter, u32::from(before_arming), look_at, mask].into_iter().enumerate() {
        array.set_word("parameters", word as u32, value);
    }
    let entry = array.label(&format!("scenario_{scenario}"));
    array.host.write("CP_ENTRY", entry).unwrap();
    array.host.enable_interrupts(host_interrupt::RAISED).unwrap();
    let job = Descriptor {
        entry: array.label("job"),
        threads: 1,
        completion: flag,
        token: 1,
        ..Descriptor::default()
    };
    if matches!(cause, Cause::Completion | Cause::FreeSlot) {
        // All words but the entry, which starts the job.
        for (word, value) in job.words().into_iter().enumerate().skip(1) {
            array.host.write("SPAWN_SELECT", 5 << 8 | word as u32).unwrap();
            array.host.write("SPAWN_DATA", value).unwrap();
        }
        array.host.write("SPAWN_SELECT", 5 << 8).unwrap();
    }
    let (mut delivered, mut found) = (0, 0);
    for moment in 0..MOMENTS {
        // A program of its own for each moment: the hart starts anew.
        array.hold_all();
        array.host.write("CP_IRQ_PENDING", u32::MAX).unwrap();
        array.host.write("HOST_IRQ_PENDING", u32::MAX).unwrap();
        array.host.clean_caches().unwrap();
        array.set_word("flag", 0, 0);
        array.set_word("results", 0, 0xeeee);
        array.set_word("parameters", MAY_BEGIN, 1);
        array.set_word("parameters", MAY_BEGIN + 1, 0);
        array.host.write("INVALIDATE", 3).unwrap();
        array.set_harts(1);
        assert!(array.host.wait_for_interrupt(5_000).unwrap(), "moment {moment}: the round does not begin");
        array.run(moment.into());
        match cause {
            Cause::Doorbell => array.host.ring(0, 1 << 16).unwrap(),
            Cause::Message => array.host.send_message([1; MESSAGE_WORDS]).unwrap(),
            Cause::Completion | Cause::FreeSlot => array.host.write("SPAWN_DATA", job.entry).unwrap(),
        }
        array.run(1_500);
        array.hold_all();
        array.host.clean_caches().unwrap();
        let [deliveries, others] = [0, 1].map(|word| array.word("results", word));
        let what = format!("{cause:?}, {moment} cycles: {deliveries} deliveries, {others} found");
        assert_eq!(array.word("parameters", MAY_BEGIN + 1), 1, "{what}: the hart waits for ever");
        if before_arming {
            // What came before the arming is found by the look, and may interrupt as well if it
            // came with it.
            assert!((1..=2).contains(&(deliveries + others)) && deliveries <= 1, "{what}");
        } else {
            assert_eq!(deliveries + others, 1, "{what}");
        }
        delivered += deliveries;
        found += others;
    }
    println!("{cause:?}: {delivered} delivered, {found} found");
    assert!(delivered > 50 && found > 10, "{cause:?}: {delivered} delivered, {found} found");
}

#[test]
fn a_doorbell_in_every_cycle() {
    rounds(Cause::Doorbell, false);
    rounds(Cause::Doorbell, true);
}

#[test]
fn a_message_in_every_cycle() {
    rounds(Cause::Message, false);
}

#[test]
fn a_completion_in_every_cycle() {
    rounds(Cause::Completion, false);
    rounds(Cause::Completion, true);
}

#[test]
fn a_free_slot_in_every_cycle() {
    rounds(Cause::FreeSlot, false);
}
