//! The descriptor page is the harts': what others write there starts nothing and changes no
//! descriptor (S15); it moves only while no job is under way. What the harts write there wrongly is
//! counted (S5, S11), and while the spawner is disabled it is plain memory (S10).

use hermes_testbench::cosim::{host_interrupt, Descriptor, Event, Latency, MemoryOptions, SpawnEvent};

use super::array::Array;

const PROGRAM: &str = include_str!("programs/page.S");
const SLOTS: u32 = 15;

#[test]
fn a_hostile_lane_starts_nothing() {
    let memory = MemoryOptions { latency: Latency::Random(1, 30), ..MemoryOptions::default() };
    let mut array = Array::new(PROGRAM, memory);
    let entry = array.label("hart");
    array.host.write("CP_ENTRY", entry).unwrap();
    array.host.enable_interrupts(host_interrupt::RAISED).unwrap();
    array.set_harts(1);
    assert!(array.host.wait_for_interrupt(20_000).unwrap());
    // Two lanes on each of the cores, through the host's slot. The completion word is the ENTRY of
    // a free slot, and what it becomes that of a job.
    const FREE: u32 = 5;
    let (page, job) = (array.label("page"), array.label("job"));
    let hostile = Descriptor {
        entry: array.label("hostile"),
        arguments: [page, job],
        threads: 8,
        completion: page + 64 * FREE,
        token: job,
        ..Descriptor::default()
    };
    array.host.spawn(SLOTS, &hostile).unwrap();
    array.host.wait_for_jobs(1 << SLOTS).unwrap();
    array.host.clean_caches().unwrap();
    assert_eq!(array.word("page", 16 * FREE), job, "the completion");
    assert_eq!(array.host.read("SPAWN_BUSY").unwrap(), 0);
    assert_eq!(array.host.read("SPAWN_JOBS").unwrap(), 1);
    assert_eq!(array.host.read("SPAWN_ERRORS").unwrap(), 0);
    array.host.ring(0, 1 << 16).unwrap();
    array.wait_until_stopped(1, 100_000);
    array.host.clean_caches().unwrap();
    assert_eq!(array.word("found", 0), 0, "a job is under way behind atomic operations of a hart");
    assert_eq!(array.word("found", 1), 1, "jobs behind atomic operations of a hart");
    let mut events = vec![];
    array.host.device_mut().take_events(&mut events);
    let trigger = |(_, event): &&(u64, Event)| matches!(event, Event::Spawn(SpawnEvent::Trigger(_)));
    assert_eq!(events.iter().filter(trigger).count() as u32, 1 + SLOTS);
    for slot in 0..SLOTS {
        // Threads, each adding ARG1; COMPLETION and TOKEN: as the hart wrote them.
        assert_eq!(array.word("counters", 16 * slot), (slot + 1) * (slot + 1), "slot {slot}");
        assert_eq!(array.word("counters", 16 * slot + 8), slot + 1, "slot {slot}");
    }
    assert_eq!(array.host.read("SPAWN_ERRORS").unwrap(), 0);
    assert_eq!(array.host.read("FAULTS").unwrap(), 0);
}

/// One hart moves the page, another starts a job there: either the move is refused and the job
/// runs, or the page moves and the store starts nothing. The distance of the two goes through every
/// cycle.
#[test]
fn the_page_of_a_job_does_not_move() {
    const ROUNDS: u32 = 96;
    let memory = MemoryOptions { latency: Latency::Fixed(8), ..MemoryOptions::default() };
    let mut array = Array::new(include_str!("programs/move.S"), memory);
    let entry = array.label("hart");
    array.host.write("CP_ENTRY", entry).unwrap();
    array.set_harts(3);
    array.wait_until_stopped(3, 200_000);
    array.host.clean_caches().unwrap();
    let (refused, moved) = (1 | 2 | 1 << 8, 0);
    let mut count = [0; 2];
    for round in 0..ROUNDS {
        let found = array.word("results", round);
        assert!(
            found == refused || found == moved,
            "round {round}: move refused {}, page where it was {}, jobs {}",
            found & 1,
            found >> 1 & 1,
            found >> 8
        );
        count[usize::from(found == refused)] += 1;
    }
    println!("moved, refused: {count:?}");
    assert!(count.iter().all(|&rounds| rounds > ROUNDS / 8), "moved, refused: {count:?}");
    assert_eq!(array.host.read("SPAWN_ERRORS").unwrap(), 0);
}

/// S5, S10, S11: stores of a part of a word and writes to a busy slot count and raise the events of
/// both sides, and start nothing; while the spawner is disabled nothing of the page is kept or
/// counted.
#[test]
fn wrong_stores_of_a_hart_are_counted_and_start_nothing() {
    const ERROR: u32 = 1 << 3;
    let mut array = Array::new(include_str!("programs/errors.S"), MemoryOptions::default());
    let entry = array.label("hart");
    array.host.write("CP_ENTRY", entry).unwrap();
    array.set_harts(1);
    array.wait_until_stopped(1, 100_000);
    assert_eq!(array.host.read("HOST_IRQ_PENDING").unwrap() >> 5 & 1, 1, "the event of the host");
    array.host.clean_caches().unwrap();
    // Busy slots, jobs, errors, and the event of errors
    let steps = [
        ("nothing", [0, 0, 0, 0]),
        ("three parts of words", [0, 0, 3, ERROR]),
        ("disabled", [0, 0, 3, 0]),
        ("enabled", [0, 1, 3, 0]),
        ("a busy slot", [1, 1, 5, ERROR]),
        ("free again", [0, 2, 5, 0]),
    ];
    for (step, (name, expected)) in (0..).zip(steps) {
        let [busy, jobs, errors, pending] = [0, 1, 2, 3].map(|word| array.word("found", 8 * step + word));
        assert_eq!([busy, jobs, errors, pending & ERROR], expected, "{name}");
    }
    assert_eq!(array.word("words", 0), 1, "what was written while the spawner was disabled");
    assert_eq!(array.word("words", 32), 0, "the completion of the job that was busy has its own token");
    assert_eq!(array.host.read("FAULTS").unwrap(), 0);
}
