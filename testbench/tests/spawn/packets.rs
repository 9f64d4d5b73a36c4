//! Packets and spawned threads at once.

use hermes_testbench::cosim::{
    run, ArraySetup, Descriptor, Device as _, Event, JobCompletion as Completion, Packet, RunOptions,
};
use rand::Rng as _;

use super::array::*;

/// Packets keep verdicts, order and counts while jobs start, run, fault and end beside them.
#[test]
fn packets_pass_beside_jobs() {
    let mut random = random();
    let mut array = Array::new(random.gen());
    let setup = ArraySetup { ring_slots_log2: 5, slot_bytes_log2: 8, ..ArraySetup::default() };
    let layout = array.host.configure(&setup).unwrap();
    array.host.enable_spawner(4, 0).unwrap();
    let jobs: Vec<Descriptor> =
        (0..8u32).map(|slot| array.job(if slot == 3 { "faults" } else { "slow" }, 200, slot + 1)).collect();
    for (slot, job) in jobs.iter().enumerate() {
        array.host.spawn(slot as u32, job).unwrap();
    }
    let packets: Vec<Packet> = (0..400u64)
        .map(|index| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: index * 4 })
        .collect();
    let result = run(&mut array.host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap();
    let busy = array.host.busy_jobs().unwrap();
    assert!(busy != 0, "the jobs ended too early to mean anything");
    for packet in &result.packets {
        assert_eq!(packet.verdict, packet.index as u32, "a packet's verdict is its packetIdx");
    }
    assert_eq!(array.host.committed().unwrap(), 400);
    array.host.wait_for_jobs(0xffff).unwrap();
    array.host.clean_caches().unwrap();
    for (slot, job) in jobs.iter().enumerate() {
        let expected = if slot == 3 { Completion::Faulted(job.token) } else { Completion::Done(job.token) };
        assert_eq!(array.host.completion(job.completion).unwrap(), expected, "slot {slot}");
        for number in 0..job.threads {
            let record = array.record(job, number);
            if slot == 3 && number % 16 == 5 {
                assert_eq!(record, NOTHING);
            } else {
                assert_eq!(record[0], 1000 * job.token + number, "slot {slot}");
            }
        }
    }
    assert_eq!(array.host.read("SPAWNED_WARPS").unwrap(), 8 * 50);
    let warps = array.host.read("ISSUED_WARPS").unwrap();
    assert_eq!(warps, array.host.read("COMMITTED_WARPS").unwrap());
}

/// With MCW + SPAWN_MCW warps at most the slots of a core, neither kind waits for the other:
/// packets go on while the threads of a job never end, and the job starts while packets fill their
/// share.
#[test]
fn neither_kind_keeps_the_other_out() {
    let mut array = Array::new(random().gen());
    let setup = ArraySetup { ring_slots_log2: 5, slot_bytes_log2: 8, mcw: 4, ..ArraySetup::default() };
    let layout = array.host.configure(&setup).unwrap();
    array.host.enable_spawner(4, 0).unwrap();
    let endless = array.job("endless", 16 * 8, 1);
    array.host.spawn(0, &endless).unwrap();
    array.host.device_mut().run(2_000).unwrap();
    let stuck = array.host.read("SPAWNED_WARPS").unwrap();
    assert!(stuck >= 8, "both cores are full of warps that do not end: {stuck}");
    let packets: Vec<Packet> =
        (0..200).map(|_| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 }).collect();
    let result = run(&mut array.host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap();
    assert!(result.packets.iter().all(|packet| packet.verdict == packet.index as u32));
    // The watchdog frees the cores.
    array.host.write("SPAWN_WATCHDOG", 1_000).unwrap();
    array.host.wait_for_jobs(1).unwrap();
    array.host.clean_caches().unwrap();
    assert_eq!(array.host.completion(endless.completion).unwrap(), Completion::Faulted(1));
    let mut events = vec![];
    array.host.device_mut().take_events(&mut events);
    assert!(events.iter().all(|(_, event)| !matches!(event, Event::Commit(..))), "no commit of a thread");
}
