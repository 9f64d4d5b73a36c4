//! Task FIFO and delay commit queue, driven to full and to empty; the ring, wrapped around a
//! million times.

use std::time::Instant;

use hermes_rtl::config::Config;
use hermes_rtl::host::registers::Access as RegisterAccess;
use hermes_testbench::cosim::{
    ArraySetup, Device as _, Event, Host, KernelImage, Latency, MemoryOptions, Packet, Simulation,
};
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use rand::Rng as _;

use super::array::*;

/// Entries of the task FIFO and of the delay commit queue.
const ENTRIES: u32 = 1024;

/// Packet 0 never ends, the others return their packetIdx.
fn first_waits() -> KernelImage {
    assemble(include_str!("kernels/first-waits.S"))
}

/// The verdicts in memory are the packetIdx of the last packets, but for those that `faulted`
/// names.
fn check_verdicts(
    host: &mut Host<Simulation>,
    base: u32,
    slots: u32,
    total: u32,
    faulted: impl Fn(u32) -> bool,
) {
    clean_caches(host);
    for packet in total.saturating_sub(slots)..total {
        let verdict = host.device_mut().image().read_u32(base + 4 * (packet % slots)).unwrap();
        let expected = if faulted(packet) { FAULT | 24 } else { packet };
        assert_eq!(verdict, expected, "packet {packet}");
    }
}

/// All warps are held up while the host pushes counts until the FIFO takes no more; a push is
/// refused then and taken when there is room, and every packet gets its turn.
#[test]
fn the_task_fifo_full_and_empty() {
    let mut random = random();
    // Every packet of the first lap of the warp slots waits for the watchdog.
    let kernel = assemble(
        ".text\n.globl kernel\n.type kernel, @function\nkernel: li t0, 32\n1: bltu a0, t0, 1b\nret\n",
    );
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let setup =
        ArraySetup { ring_slots_log2: 13, slot_bytes_log2: 7, watchdog: 40_000, timeout: 16, ..setup() };
    let layout = prepare(&mut host, &kernel, &setup);
    host.start(false).unwrap();
    host.push_tasks(32).unwrap();
    let (mut total, mut pushes, mut committed) = (32, 1, 0);
    while host.read("TASK_LEVEL").unwrap() < ENTRIES {
        // Counts of nothing are no packets, but have their entry.
        let count = if random.gen_bool(0.1) { 0 } else { random.gen_range(1..4) };
        host.push_tasks(count).unwrap();
        (total, pushes) = (total + count, pushes + 1);
    }
    assert!(pushes < ENTRIES + 64, "{pushes} counts went into a FIFO of {ENTRIES}");
    assert_eq!(host.read("COMMITTED_PACKETS").unwrap(), 0);
    // There is no room for one more, and the bus is free.
    assert_eq!(host.task_room().unwrap(), 0);
    for _ in 0..3 {
        assert!(!host.try_push_tasks(5).unwrap());
    }
    assert_eq!(host.read("TASK_LEVEL").unwrap(), ENTRIES);
    // The host tries until there is room; the commits come meanwhile.
    host.push_tasks(5).unwrap();
    total += 5;
    await_commits(&mut host, &mut committed, total, 60_000);
    assert_eq!((host.read("TASK_LEVEL").unwrap(), host.read("PENDING").unwrap()), (0, 0));
    // From empty to a few entries and back, many times.
    for _ in 0..100 {
        let count = random.gen_range(1..9);
        host.push_tasks(count).unwrap();
        total += count;
        if random.gen() {
            await_commits(&mut host, &mut committed, total, 20_000);
            assert_eq!(host.read("TASK_LEVEL").unwrap(), 0);
        }
    }
    await_commits(&mut host, &mut committed, total, 20_000);
    assert_eq!(host.read("COMMITTED_PACKETS").unwrap(), total);
    check_verdicts(&mut host, layout.verdict_base, 1 << 13, total, |packet| packet < 32);
}

/// Before the array runs, the host pushes until it is refused. What it was told of room is true,
/// all other registers can be written and read, and when the array runs every packet that was
/// accepted is committed once, and no other.
#[test]
fn pushes_before_the_array_runs_are_taken_or_refused() {
    let mut random = random();
    let kernel = assemble(".text\n.globl kernel\n.type kernel, @function\nkernel: ret\n");
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let setup = ArraySetup { ring_slots_log2: 13, slot_bytes_log2: 7, timeout: 16, ..setup() };
    let layout = prepare(&mut host, &kernel, &setup);
    let mut room = host.task_room().unwrap();
    assert_eq!(room, ENTRIES);
    let (mut total, mut accepted) = (0, 0);
    loop {
        let count = random.gen_range(1..4);
        if !host.try_push_tasks(count).unwrap() {
            assert_eq!(room, 0, "a push was refused");
            break;
        }
        (total, accepted) = (total + count, accepted + 1);
        assert!(accepted < 2 * ENTRIES, "the FIFO takes everything");
        room = room.saturating_sub(1);
        if accepted % 64 == 0 || room < 4 {
            // The warp former takes counts out of the FIFO.
            let now = host.task_room().unwrap();
            assert!(now >= room, "{now} of {room} entries are free");
            room = now;
        }
    }
    assert_eq!(host.read("TASK_LEVEL").unwrap(), ENTRIES);
    assert!(accepted >= ENTRIES);
    // The bus is as free as ever: the set-up can be read, changed and restored.
    let registers: Vec<_> = host.registers().collect();
    for register in registers.iter().filter(|register| register.access == RegisterAccess::ReadWrite) {
        let name = register.name;
        let before = host.read(name).unwrap();
        if name != "CONTROL" {
            host.write(name, before ^ 1).unwrap();
            assert_eq!(host.read(name).unwrap(), before ^ 1, "{name}");
        }
        host.write(name, before).unwrap();
        assert_eq!(host.read(name).unwrap(), before, "{name}");
        assert!(!host.try_push_tasks(1).unwrap());
    }
    for register in registers.iter().filter(|register| register.access == RegisterAccess::ReadOnly) {
        host.read(register.name).unwrap();
    }
    host.write("WATCHDOG", 50_000).unwrap();
    host.start(false).unwrap();
    let mut committed = 0;
    await_commits(&mut host, &mut committed, total, 20_000);
    host.device_mut().run(5_000).unwrap();
    assert_eq!(host.read("COMMITTED_PACKETS").unwrap(), total, "a count that was refused was pushed");
    assert_eq!((host.task_room().unwrap(), host.read("PENDING").unwrap()), (ENTRIES, 0));
    check_verdicts(&mut host, layout.verdict_base, 1 << 13, total, |_| false);
}

/// Arrivals come in so many pushes that the FIFO is full for most of the run: the session makes
/// them again.
#[test]
fn a_run_goes_on_when_the_task_fifo_is_full() {
    let mut random = random();
    let kernel = assemble(
        ".text\n.globl kernel\n.type kernel, @function\nkernel: li t0, 40\n1: addi t0, t0, -1\nbnez t0, 1b\nret\n",
    );
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let setup = ArraySetup { ring_slots_log2: 13, slot_bytes_log2: 7, mcw: 1, ..setup() };
    let layout = prepare(&mut host, &kernel, &setup);
    let packets: Vec<Packet> = (0..4_000)
        .map(|number| Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 10 * number })
        .collect();
    let result = process(&mut host, &setup, &layout, &packets).unwrap();
    assert!(result.packets.iter().all(|packet| u64::from(packet.verdict) == packet.index));
    let queued = result.packets.iter().map(|packet| packet.times.start - packet.times.arrival).max();
    println!("{} cycles, packets wait for up to {queued:?}", result.cycles);
    assert!(queued > Some(20_000), "the FIFO was never full: {queued:?}");
}

/// The oldest warp does not end while others pass it, until the delay commit queue holds no more
/// warps: then none is issued. Then the watchdog is set, which ends that warp, and all commit in
/// order.
#[test]
fn the_delay_commit_queue_full_and_empty() {
    let mut random = random();
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let setup = ArraySetup { ring_slots_log2: 13, slot_bytes_log2: 7, ..setup() };
    let layout = prepare(&mut host, &first_waits(), &setup);
    host.start(false).unwrap();
    let total = 4 * (ENTRIES + 200) + 2;
    host.push_tasks(total).unwrap();
    let mut patience = 400_000;
    while host.read("ISSUED_WARPS").unwrap() < ENTRIES {
        patience -= 1;
        assert!(patience > 0, "{} warps issued", host.read("ISSUED_WARPS").unwrap());
    }
    // The queue is full: the others finish, none is issued.
    host.device_mut().run(2_000).unwrap();
    let mut events = Vec::new();
    host.device_mut().take_events(&mut events);
    assert!(events.iter().all(|(_, event)| !matches!(event, Event::Commit(..))));
    host.device_mut().run(2_000).unwrap();
    events.clear();
    host.device_mut().take_events(&mut events);
    assert_eq!(events, []);
    assert_eq!((host.read("ISSUED_WARPS").unwrap(), host.read("COMMITTED_WARPS").unwrap()), (ENTRIES, 0));
    host.write("WATCHDOG", 20_000).unwrap();
    let mut committed = 0;
    await_commits(&mut host, &mut committed, total, 20_000);
    assert_eq!(host.read("COMMITTED_WARPS").unwrap(), ENTRIES + 201);
    let (faults, lost) = host.take_faults().unwrap();
    assert_eq!((faults.len(), lost), (1, 0));
    assert_eq!((faults[0].cause, faults[0].threads, faults[0].packet), (24, 1, 0));
    check_verdicts(&mut host, layout.verdict_base, 1 << 13, total, |packet| packet == 0);
}

/// The ring of 64 slots goes round more than 16,384 times.
#[test]
#[ignore = "a million packets take some minutes"]
fn a_million_packets_are_right() {
    let mut random = random();
    let library = build(&Config { trace: false, aes: false, ..smallest_caches() });
    let (app, kernel) = app("dec-ttl");
    let setup = ArraySetup { ring_slots_log2: 6, slot_bytes_log2: 7, ..setup() };
    let memory =
        MemoryOptions { latency: Latency::Random(1, 60), seed: random.gen(), ..MemoryOptions::default() };
    let mut host =
        Host::new(Simulation::new(library.instantiate().unwrap(), MEMORY_BYTES, memory).unwrap()).unwrap();
    let layout = prepare(&mut host, &kernel, &setup);
    let traffic = Traffic { kind: Kind::Fixed(64), seed: random.gen(), bad_share: 10.0, rate: 100.0 };
    let frames: Vec<_> = Generator::new(traffic).take((1 << 20) + 1_000).map(|frame| frame.data).collect();
    let began = Instant::now();
    let result = process(&mut host, &setup, &layout, &arriving(frames.iter().cloned())).unwrap();
    for (frame, got) in frames.iter().zip(&result.packets) {
        check(app.as_ref(), frame, got, "a million");
    }
    assert_eq!((result.fault_count, result.bus_errors), (0, 0));
    println!("{} packets in {} cycles, {:.0} s", frames.len(), result.cycles, began.elapsed().as_secs_f64());
}
