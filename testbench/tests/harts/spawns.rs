//! Jobs from four harts and the host at random times, with good and bad descriptors, beside
//! packets, resets of harts, and a memory that pauses and fails.

use hermes_testbench::cosim::{
    Descriptor, Device as _, Disturbance, Event, Latency, MemoryOptions, PacketRange, SpawnEvent,
};
use rand::seq::IteratorRandom as _;
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

use super::array::{random, Array, HARTS};

const PROGRAM: &str = include_str!("programs/spawns.S");
/// Packets of a push: whole warps.
const PUSH: u32 = 4;
/// Words of a hart in `states`.
const STATE: u32 = 16;

/// What is seen of each slot.
#[derive(Default)]
struct Jobs {
    /// The next thread of the job that is under way.
    next: [Option<u32>; 16],
    /// Threads of the host's jobs that are under way.
    threads: [u32; 16],
    triggers: u32,
    completions: u32,
    commits: Vec<PacketRange>,
}

impl Jobs {
    /// Every job completes once, after its threads began in order; nothing begins without a job.
    fn see(&mut self, array: &mut Array) {
        let mut events = vec![];
        array.host.device_mut().take_events(&mut events);
        for (cycle, event) in events {
            match event {
                Event::Spawn(SpawnEvent::Trigger(slot)) => {
                    self.triggers += 1;
                    let before = self.next[usize::from(slot)].replace(0);
                    assert_eq!(before, None, "cycle {cycle}: a trigger of slot {slot} while it is busy");
                }
                Event::Spawn(SpawnEvent::Issue { job, first, count, .. }) => {
                    let next = &mut self.next[usize::from(job)];
                    assert_eq!(*next, Some(first), "cycle {cycle}: threads of slot {job}");
                    *next = Some(first + count);
                }
                Event::Spawn(SpawnEvent::Complete(slot)) => {
                    self.completions += 1;
                    let after = self.next[usize::from(slot)].take();
                    let threads =
                        after.unwrap_or_else(|| panic!("cycle {cycle}: slot {slot} completes twice"));
                    let of_host = slot % 4 == 3;
                    assert!(!of_host || threads == self.threads[usize::from(slot)], "slot {slot}: {threads}");
                }
                Event::Commit(_, range) => self.commits.push(range),
                Event::Spawn(SpawnEvent::Finish(_))
                | Event::Issue(..)
                | Event::Hop { .. }
                | Event::Finish(_) => {}
            }
        }
    }
}

/// A descriptor of the host, good or bad, the threads that it will have, and its completion word.
fn descriptor(array: &Array, random: &mut ChaCha8Rng, slot: u32) -> (Descriptor, u32, u32) {
    let threads = random.gen_range(1..12);
    let words = array.label("words") + 64 * slot;
    let token = random.gen_range(0..1 << 30);
    let good = Descriptor {
        entry: array.label("job"),
        arguments: [words + 32, 0],
        threads,
        acquire: random.gen(),
        cores: random.gen_range(0..4),
        completion: words,
        token,
        ..Descriptor::default()
    };
    match random.gen_range(0..8) {
        0 => (Descriptor { entry: good.entry + 2, ..good }, 0, 0xc000_0001),
        1 => (Descriptor { threads: 0, ..good }, 0, 0xc000_0002),
        2 => (Descriptor { small_registers: true, ..good }, 0, 0xc000_0003),
        3 => (Descriptor { cores: 4, ..good }, 0, 0xc000_0005),
        _ => (good, threads, token),
    }
}

/// What packets show after a run.
#[derive(Debug, PartialEq, Eq)]
struct Packets {
    commits: Vec<PacketRange>,
    counts: [u32; 5],
    verdicts: Vec<u32>,
}

/// Pushes `pushes` times, as the random source says, while the harts start `jobs` jobs each and the
/// host as many; without jobs packets only.
fn play(random: &mut ChaCha8Rng, jobs: u32, resets: bool, pushes: u32, disturbance: Disturbance) -> Packets {
    let memory =
        MemoryOptions { latency: Latency::Random(1, 40), seed: random.gen(), ..MemoryOptions::default() };
    let mut array = Array::new(PROGRAM, memory);
    for hart in 0..HARTS {
        array.set_word("states", STATE * hart, random.gen::<u32>() | 1);
        array.set_word("states", STATE * hart + 1, jobs);
    }
    let poison = array.label("poison");
    let errors_at = (poison, poison + 63);
    array.host.device_mut().disturb_memory(Disturbance { errors_at, ..disturbance });
    let entry = array.label("hart");
    array.host.write("CP_ENTRY", entry).unwrap();
    array.host.start(false).unwrap();
    let all = if jobs > 0 { (1 << HARTS) - 1 } else { 0 };
    array.set_harts(all);
    let mut seen = Jobs::default();
    let (mut left, mut of_host, mut expected, mut added) = (pushes, jobs, [None::<u32>; 16], [0; 16]);
    let (mut held, mut holds, mut refused) = (0u32, 0, 0);
    let limit =
        array.host.device_mut().cycle() + 400_000 + 40_000 * u64::from(jobs) + 200 * u64::from(pushes);
    loop {
        assert!(
            array.host.device_mut().cycle() < limit,
            "{left} pushes, {of_host} jobs of the host are left"
        );
        if left > 0 {
            // Several pushes at once: the task FIFO fills, and the last are refused.
            for _ in 0..random.gen_range(0..12).min(left) {
                let pushed = array.host.try_push_tasks(PUSH).unwrap();
                left -= u32::from(pushed);
                refused += u32::from(!pushed);
            }
        }
        if of_host > 0 && random.gen_bool(0.7) {
            let busy = array.host.busy_jobs().unwrap();
            let slot = (0..4).map(|hart| 4 * hart + 3).choose(random).unwrap();
            let is_free = busy >> slot & 1 == 0;
            let (descriptor, threads, word) = descriptor(&array, random, slot);
            if is_free {
                array.run(1);
                seen.see(&mut array);
                seen.threads[slot as usize] = threads;
                added[slot as usize] += threads;
                expected[slot as usize] = Some(word);
                array.host.spawn(slot, &descriptor).unwrap();
                of_host -= 1;
            } else if random.gen_bool(0.3) {
                // Nothing is written to the descriptor of a job that is under way, unless it ends
                // just now: words that are written again anyway.
                array.host.write("SPAWN_SELECT", slot << 8 | random.gen_range(1..8)).unwrap();
                array.host.write("SPAWN_DATA", random.gen()).unwrap();
            }
        }
        if resets && random.gen_bool(0.3) {
            // Hart 0 always runs: without any hart there is no page. The bit may be clear for one
            // write only.
            held = if held == 0 { 1 << random.gen_range(1..HARTS) } else { 0 };
            array.set_harts(all & !held);
            holds += 1;
        }
        array.run(random.gen_range(1..120));
        seen.see(&mut array);
        if left == 0 && of_host == 0 && held == 0 && array.stopped() == all {
            break;
        }
    }
    array.host.wait_for_jobs(0xffff).unwrap();
    let packets = PUSH * pushes;
    for _ in 0..10_000 {
        if array.host.committed().unwrap() == packets {
            break;
        }
        array.run(100);
    }
    array.host.clean_caches().unwrap();
    seen.see(&mut array);
    for hart in 0..HARTS {
        let failure: Vec<u32> = (2..6).map(|word| array.word("states", STATE * hart + word)).collect();
        assert_eq!(failure, [0; 4], "hart {hart}: check, found, expected, slot");
        assert_eq!(array.word("states", STATE * hart + 1), 0, "hart {hart}: jobs that are left");
    }
    for slot in (3..16).step_by(4) {
        assert_eq!(array.word("words", 16 * slot as u32 + 8), added[slot], "slot {slot}: threads");
        if let Some(word) = expected[slot] {
            assert_eq!(array.word("words", 16 * slot as u32), word, "slot {slot}: completion");
        }
    }
    assert_eq!(seen.triggers, seen.completions);
    assert_eq!(array.host.read("SPAWN_JOBS").unwrap(), seen.completions);
    if jobs > 0 {
        println!("{} jobs, {holds} holds and releases, {refused} pushes refused", seen.triggers);
        let wanted = 4 * jobs + jobs;
        assert!(if resets {
            seen.triggers <= wanted && seen.triggers > 3 * jobs
        } else {
            seen.triggers == wanted
        });
        assert!(!resets || holds > 10, "{holds}");
        assert!(refused > 0 || pushes < 1_000, "the task FIFO was never full");
    }
    let counts = ["COMMITTED_PACKETS", "ISSUED_WARPS", "COMMITTED_WARPS", "PENDING", "BACKLOG"];
    let counts = counts.map(|name| array.host.read(name).unwrap());
    let verdicts = array.layout.verdict_base;
    let verdict = |index: u32| {
        let mut word = [0; 4];
        array.host.device_mut().read_memory(verdicts + 4 * index, &mut word).unwrap();
        u32::from_le_bytes(word)
    };
    Packets { commits: seen.commits, counts, verdicts: (0..packets.min(4096)).map(verdict).collect() }
}

/// Every completion once and as it must be, no packet lost or out of order; and the books of
/// packets are those of a run without jobs (S17).
fn abuse(jobs: u32, pushes: u32) {
    let mut random = random();
    let alone = play(&mut random, 0, false, pushes, Disturbance::default());
    assert_eq!(alone.counts, [PUSH * pushes, PUSH * pushes / 2, PUSH * pushes / 2, 0, 0]);
    let mut next = 0;
    for range in &alone.commits {
        assert_eq!(range.first, next);
        next += range.count;
    }
    let failing = Disturbance { read_errors: 1_000, ..Disturbance::default() };
    let pauses = Disturbance { longest_pause: 800, longest_run: 600, ..failing };
    for (resets, disturbance) in [(false, failing), (true, failing), (true, pauses)] {
        let beside = play(&mut random, jobs, resets, pushes, disturbance);
        assert_eq!(beside.counts, alone.counts, "S17");
        assert_eq!(beside.commits, alone.commits, "S17");
        assert_eq!(beside.verdicts, alone.verdicts, "S17");
    }
}

#[test]
fn jobs_at_random_times() {
    abuse(60, 150);
}

#[test]
#[ignore = "minutes: 30,000 jobs"]
fn many_jobs_at_random_times() {
    abuse(2_000, 6_000);
}
