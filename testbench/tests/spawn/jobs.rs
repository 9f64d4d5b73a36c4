//! Jobs: every thread once, completion words, rejections, faults, limits.

use hermes_testbench::cosim::{Descriptor, JobCompletion as Completion, Rejection, SpawnEvent};
use rand::Rng as _;

use super::array::*;

/// Every thread of every job runs once, with its number and its job's words; warps start in order;
/// completion comes after all stores.
#[test]
fn every_thread_runs_once() {
    let mut random = random();
    let mut array = Array::new(random.gen());
    array.enable(3, 0);
    let jobs: Vec<Descriptor> = (0..12u32)
        .map(|slot| {
            let threads = [1, 3, 4, 5, 8, 33, 64, 127][slot as usize % 8];
            let job = array.job(if slot % 3 == 0 { "slow" } else { "threads" }, threads, slot + 1);
            Descriptor { cores: slot % 4, acquire: slot % 5 == 0, ..job }
        })
        .collect();
    for (slot, job) in jobs.iter().enumerate() {
        array.host.spawn(slot as u32, job).unwrap();
    }
    array.host.wait_for_jobs(0xffff).unwrap();
    array.host.clean_caches().unwrap();
    for (slot, job) in jobs.iter().enumerate() {
        assert_eq!(
            array.host.completion(job.completion).unwrap(),
            Completion::Done(job.token),
            "slot {slot}"
        );
        for number in 0..job.threads {
            let [value, of_job, core, warp] = array.record(job, number);
            assert_eq!(value, 1000 * job.token + number, "slot {slot}");
            assert_eq!(of_job, 0x8000_0000 | slot as u32, "slot {slot}, thread {number}");
            assert!(
                job.cores == 0 || job.cores >> core & 1 == 1,
                "slot {slot}: core {core} of {}",
                job.cores
            );
            assert!(core < 2 && warp < 8, "slot {slot}: core {core}, warp slot {warp}");
        }
    }

    // In the order of the triggers, thread numbers ascending, and no more warps on a core than
    // SPAWN_MCW.
    let (mut order, mut next, mut on_core) = (vec![], 0, [0; 2]);
    for (cycle, event) in array.spawn_events() {
        match event {
            SpawnEvent::Trigger(job) => order.push(job),
            SpawnEvent::Issue { job, slot, first, count } => {
                if first == 0 {
                    next = 0;
                    assert_eq!(order.remove(0), job, "cycle {cycle}");
                }
                assert_eq!(first, next, "cycle {cycle}: job {job}");
                assert_eq!(
                    count,
                    (jobs[usize::from(job)].threads - first).min(4),
                    "cycle {cycle}: job {job}"
                );
                next += count;
                on_core[usize::from(slot.core)] += 1;
                assert!(on_core[usize::from(slot.core)] <= 3, "cycle {cycle}");
            }
            SpawnEvent::Finish(slot) => on_core[usize::from(slot.core)] -= 1,
            SpawnEvent::Complete(_) => {}
        }
    }
    assert_eq!(on_core, [0; 2]);
    let warps: u32 = jobs.iter().map(|job| job.threads.div_ceil(4)).sum();
    assert_eq!(array.host.read("SPAWNED_WARPS").unwrap(), warps);
    assert_eq!(array.host.read("SPAWN_JOBS").unwrap(), jobs.len() as u32);
    assert_eq!(array.host.read("SPAWN_ERRORS").unwrap(), 0);
    assert_eq!(array.host.read("ISSUED_WARPS").unwrap(), 0, "no packet warp");
}

/// What cannot be started is not, and its completion word says why.
#[test]
fn bad_descriptors_are_rejected() {
    let mut array = Array::new(random().gen());
    array.enable(4, 0);
    let good = array.job("threads", 4, 9);
    let cases = [
        (Descriptor { entry: 0, ..good.clone() }, Rejection::Entry),
        (Descriptor { entry: good.entry + 2, ..good.clone() }, Rejection::Entry),
        (Descriptor { threads: 0, ..good.clone() }, Rejection::Threads),
        (Descriptor { small_registers: true, ..good.clone() }, Rejection::Shape),
        (Descriptor { threads: 4 | 1 << 24, ..good.clone() }, Rejection::Shape),
        (Descriptor { threads: 4 | 1 << 31, ..good.clone() }, Rejection::Shape),
        (Descriptor { token: 1 << 30, ..good.clone() }, Rejection::Shape),
        (Descriptor { cores: 4, ..good.clone() }, Rejection::Cores),
    ];
    let count = cases.len() as u32;
    for (number, (descriptor, reason)) in cases.into_iter().enumerate() {
        array.host.spawn(number as u32, &descriptor).unwrap();
        array.host.wait_for_jobs(0xffff).unwrap();
        array.host.clean_caches().unwrap();
        let completion = array.host.completion(descriptor.completion).unwrap();
        assert_eq!(completion, Completion::Rejected(reason), "{descriptor:x?}");
    }
    assert_eq!(array.record(&good, 0), NOTHING);
    assert_eq!(array.host.read("SPAWN_ERRORS").unwrap(), count << 16);
    assert_eq!(array.host.read("SPAWNED_WARPS").unwrap(), 0);
    // The slots and the spawner are as good as before.
    array.host.spawn(7, &good).unwrap();
    array.host.wait_for_jobs(0xffff).unwrap();
    array.host.clean_caches().unwrap();
    assert_eq!(array.host.completion(good.completion).unwrap(), Completion::Done(9));
}

/// Without a completion word, or with a misaligned one, nothing is stored; the slot becomes free
/// all the same.
#[test]
fn no_completion_word_is_no_store() {
    let mut array = Array::new(random().gen());
    array.enable(4, 0);
    let job = array.job("threads", 5, 3);
    array.host.spawn(0, &Descriptor { completion: 0, ..job.clone() }).unwrap();
    array.host.spawn(1, &Descriptor { completion: job.completion + 2, ..job.clone() }).unwrap();
    array.host.wait_for_jobs(3).unwrap();
    array.host.clean_caches().unwrap();
    assert_eq!(array.record(&job, 4)[0], 3004);
    assert_eq!(array.host.completion(job.completion).unwrap(), Completion::Done(0));
    assert_eq!(array.host.read("SPAWN_ERRORS").unwrap(), 1 << 16);
    assert_eq!(array.host.read("SPAWN_JOBS").unwrap(), 2);
}

/// A thread that faults ends alone, with a record; the completion word of its job has bit 31 set,
/// that of the next one has not.
#[test]
fn faults_are_told_by_record_and_completion_word() {
    let mut array = Array::new(random().gen());
    array.enable(4, 0);
    let (bad, good) = (array.job("faults", 32, 5), array.job("faults", 4, 6));
    let other = array.job("faults", 8, 7);
    array.host.spawn(2, &bad).unwrap();
    array.host.spawn(9, &other).unwrap();
    array.host.spawn(3, &good).unwrap();
    array.host.wait_for_jobs(0xffff).unwrap();
    array.host.clean_caches().unwrap();
    assert_eq!(array.host.completion(bad.completion).unwrap(), Completion::Faulted(5));
    assert_eq!(array.host.completion(good.completion).unwrap(), Completion::Done(6));
    for number in 0..32 {
        let record = array.record(&bad, number);
        assert_eq!(record == NOTHING, number % 16 == 5, "thread {number}: {record:x?}");
    }
    let mut threads = vec![];
    while array.host.read("FAULT_LEVEL").unwrap() & 0xffff != 0 {
        let job = array.host.read("FAULT_JOB").unwrap();
        assert!(matches!(job, 0x12 | 0x19), "{job:#x}");
        assert_eq!(array.host.read("FAULT_INFO").unwrap() & 0xff, 2, "an illegal instruction");
        threads.push((job, array.host.read("FAULT_PACKET").unwrap()));
        array.host.write("FAULT_POP", 1).unwrap();
    }
    threads.sort_unstable();
    assert_eq!(threads, [(0x12, 5), (0x12, 21), (0x19, 5)]);
    assert_eq!(array.host.read("FAULTS").unwrap(), 3);
    assert_eq!(array.host.read("FAULT_JOB").unwrap(), 0);
}

/// In a local window threads of many jobs at once keep what is theirs, and one that stores below
/// its stack faults.
#[test]
fn spawned_threads_have_stacks_of_their_own() {
    let mut array = Array::new(random().gen());
    assert!(array.host.info().local_window);
    array.enable(8, 0);
    let jobs: Vec<_> = (0..6).map(|slot| array.job("stacked", 37, slot + 1)).collect();
    for (slot, job) in jobs.iter().enumerate() {
        array.host.spawn(slot as u32, job).unwrap();
    }
    array.host.wait_for_jobs(0xffff).unwrap();
    array.host.clean_caches().unwrap();
    for job in &jobs {
        assert_eq!(array.host.completion(job.completion).unwrap(), Completion::Faulted(job.token));
        for number in 0..job.threads {
            let record = array.record(job, number);
            if number % 16 == 5 {
                assert_eq!(record, NOTHING, "job {}, thread {number}", job.token);
            } else {
                assert_eq!(record[0], 1000 * job.token + number, "job {}, thread {number}", job.token);
            }
        }
    }
    // Threads 5 and 21 of each job: a store access.
    assert_eq!(array.host.read("FAULTS").unwrap(), 12);
    assert_eq!(array.host.read("FAULT_INFO").unwrap() & 0xff, 7);
}

/// SPAWN_WATCHDOG ends threads that do not end.
#[test]
fn the_watchdog_of_spawned_threads() {
    let mut array = Array::new(random().gen());
    array.enable(4, 5_000);
    array.host.write("WATCHDOG", 50).unwrap();
    let job = array.job("endless", 16, 1);
    let slow = array.job("slow", 16, 2);
    array.host.spawn(0, &job).unwrap();
    array.host.spawn(1, &slow).unwrap();
    array.host.wait_for_jobs(3).unwrap();
    array.host.clean_caches().unwrap();
    assert_eq!(array.host.completion(job.completion).unwrap(), Completion::Faulted(1));
    assert_eq!(
        array.host.completion(slow.completion).unwrap(),
        Completion::Done(2),
        "WATCHDOG is for packets"
    );
    assert_eq!(array.host.read("FAULT_INFO").unwrap() & 0xff, 24);
    assert_eq!(array.record(&job, 3), NOTHING);
}

/// A write to the descriptor of a busy slot changes nothing and is counted; a disabled spawner
/// starts nothing.
#[test]
fn busy_slots_and_a_disabled_spawner() {
    let mut array = Array::new(random().gen());
    array.enable(1, 0);
    let job = array.job("slow", 64, 4);
    array.host.spawn(6, &job).unwrap();
    assert_eq!(array.host.busy_jobs().unwrap(), 1 << 6);
    array.host.spawn(6, &Descriptor { entry: 0, threads: 1, token: 99, ..Descriptor::default() }).unwrap();
    assert_eq!(array.host.read("SPAWN_ERRORS").unwrap(), 8);
    array.host.write("SPAWN_CONTROL", 0).unwrap();
    let other = array.job("threads", 4, 5);
    array.host.spawn(7, &other).unwrap();
    array.host.wait_for_jobs(0xffff).unwrap();
    array.host.clean_caches().unwrap();
    assert_eq!(array.host.completion(job.completion).unwrap(), Completion::Done(4));
    assert_eq!(array.record(&job, 63)[0], 4063);
    assert_eq!(array.record(&other, 0), NOTHING, "the spawner is off");
    assert_eq!(array.host.read("SPAWN_JOBS").unwrap(), 1);
    // The words are there: one write starts it now.
    array.host.write("SPAWN_CONTROL", 1).unwrap();
    array.host.spawn_again(7, other.entry).unwrap();
    array.host.wait_for_jobs(0xffff).unwrap();
    array.host.clean_caches().unwrap();
    assert_eq!(array.host.completion(other.completion).unwrap(), Completion::Done(5));
}

/// A job can be started again and again by one write.
#[test]
fn a_job_is_started_again_by_its_entry_alone() {
    let mut array = Array::new(random().gen());
    array.enable(2, 0);
    let job = array.job("threads", 7, 8);
    array.host.spawn(15, &job).unwrap();
    for _ in 0..20 {
        array.host.wait_for_jobs(1 << 15).unwrap();
        array.host.spawn_again(15, job.entry).unwrap();
    }
    array.host.wait_for_jobs(1 << 15).unwrap();
    assert_eq!(array.host.read("SPAWN_JOBS").unwrap(), 21);
    assert_eq!(array.host.read("SPAWNED_WARPS").unwrap(), 42);
}
