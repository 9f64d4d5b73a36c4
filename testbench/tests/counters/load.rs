//! The load counters: why warps are formed, busy slots, and how full queues and ring became,
//! against the events of every warp. Lines found in the L1 are in `caches`.

use hermes_testbench::cosim::{
    run_through_ports, ArraySetup, Arrivals, Device as _, Host, Latency, LoadCounters, MemoryOptions, Packet,
    RunOptions, Simulation, StreamOptions,
};
use hermes_testbench::kernel::Kernel;
use rand::Rng as _;

use super::array::*;
use super::observed::{Observed, QUEUE_ENTRIES};

/// A thread goes round twice bits 2:0 of its packetIdx, that of packet 0 as often as the argument
/// says.
const KERNEL: &str = "
    .include \"packet.inc\"
    .text
    .globl kernel
    .type kernel, @function
kernel:
    lw      t1, 0(a2)
    beqz    a0, 1f
    andi    t1, a0, 7
    slli    t1, t1, 1
1:  beqz    t1, 2f
    addi    t1, t1, -1
    j       1b
2:  drop    DROP_NO_RULE
";

fn array(rounds: u32, timeout: u32) -> Array {
    let kernel: Kernel = assemble(KERNEL);
    let memory = MemoryOptions { latency: Latency::Fixed(20), ..MemoryOptions::default() };
    Array::new(&kernel, memory, |_| ArraySetup {
        slot_bytes_log2: 7,
        timeout,
        argument: rounds.to_le_bytes().to_vec(),
        ..ArraySetup::default()
    })
}

/// Lets the array work until all packets are committed.
fn finish(host: &mut Host<Simulation>, packets: u32) {
    while host.committed().unwrap() < packets {
        host.device_mut().run(200).unwrap();
        assert!(host.device_mut().cycle() < 2_000_000, "the packets are not committed");
    }
    host.device_mut().run(10).unwrap();
}

/// What is counted of warps against what was seen of them.
fn check(load: &LoadCounters, seen: &Observed) {
    let formed = load.formed_full + load.formed_timeout + load.formed_eager;
    assert_eq!(formed, seen.issued_warps, "all warps were formed for one reason");
    assert_eq!(load.formed_full, seen.full_warps, "FORMED_FULL");
    let busy: u64 = seen.stays.iter().map(|stay| stay.finished - stay.issued).sum();
    assert_eq!(load.slot_cycles, busy, "SLOT_CYCLES");
    assert_eq!(load.high_commit_queue, seen.queue.most, "HIGH_COMMIT_QUEUE");
    assert_eq!(load.commit_queue_full, seen.queue.full_cycles, "COMMIT_QUEUE_FULL");
    assert!(load.high_commit_queue <= QUEUE_ENTRIES && load.high_tasks <= 1024, "{load:?}");
}

/// Random counts of packets with pauses: by time-out alone, for idle slots alone, and both.
#[test]
fn warps_by_cause() {
    let mut random = random();
    for (eager, timeout) in [(false, 100), (true, 1 << 30), (true, 30)] {
        let Array { mut host, observed, .. } = array(3, timeout);
        host.start(eager).unwrap();
        let mut packets = 0;
        for _ in 0..200 {
            let count = random.gen_range(1..=6);
            host.push_tasks(count).unwrap();
            packets += count;
            host.device_mut().run(random.gen_range(0..300)).unwrap();
        }
        finish(&mut host, packets);
        let load = host.load_counters().unwrap().unwrap();
        let issued = host.read("ISSUED_WARPS").unwrap();
        let seen = observed.borrow();
        assert_eq!(issued, seen.issued_warps);
        println!("eager {eager}, time-out {timeout}: {load:?}");
        check(&load, &seen);
        assert_eq!(load.formed_timeout == 0, timeout == 1 << 30, "{load:?}");
        assert_eq!(load.formed_eager == 0, !eager, "{load:?}");
        assert!(load.formed_full > 20 && seen.issued_warps - seen.full_warps > 20, "{load:?}");
    }
}

/// The first warp takes so long that the delay commit queue fills behind it, and the task FIFO
/// behind that.
#[test]
fn queues_that_fill() {
    let Array { mut host, observed, .. } = array(6_000, 20);
    // While the array does not run, the FIFO takes all that it can hold, and what the former has.
    let mut packets = 0;
    while host.task_room().unwrap() > 0 {
        host.push_tasks(LANES as u32).unwrap();
        packets += LANES as u32;
    }
    host.device_mut().run(10).unwrap();
    let load = host.load_counters().unwrap().unwrap();
    assert_eq!((load.high_tasks, load.high_ring), (1024, packets), "nothing leaves");
    host.start(false).unwrap();
    for _ in 0..100 {
        host.push_tasks(LANES as u32).unwrap();
        packets += LANES as u32;
    }
    finish(&mut host, packets);
    let load = host.load_counters().unwrap().unwrap();
    println!("{load:?}");
    check(&load, &observed.borrow());
    assert_eq!((load.high_tasks, load.high_commit_queue), (1024, QUEUE_ENTRIES));
    assert!(load.commit_queue_full > 1_000, "{load:?}");
}

/// A quarter of the ring stays free however many frames come, and few slots are in use when few do.
#[test]
fn slots_of_the_ring() {
    for (distance, most) in [(2, 12), (4_000, 1)] {
        let kernel = assemble(KERNEL);
        let setup = |_: &mut Host<Simulation>| ArraySetup {
            ring_slots_log2: 4,
            slot_bytes_log2: 8,
            timeout: 64,
            argument: 40_u32.to_le_bytes().to_vec(),
            ..ArraySetup::default()
        };
        let Array { mut host, setup, observed, .. } = Array::new(&kernel, MemoryOptions::default(), setup);
        let packet =
            |number: u64| Packet { frame: vec![0; 60], port: 1, flags: 0, arrival: 10 + number * distance };
        let packets: Vec<_> = (0..100).map(packet).collect();
        let options = RunOptions { arrivals: Arrivals::Scheduled, ..RunOptions::default() };
        let streams = StreamOptions::default();
        let result = run_through_ports(&mut host, &setup, &packets, streams, options, &mut |_| {}).unwrap();
        let load = result.run.load.unwrap();
        println!("a frame in {distance} cycles: {load:?}");
        check(&load, &observed.borrow());
        assert_eq!(load.high_ring, most, "HIGH_RING");
    }
}
