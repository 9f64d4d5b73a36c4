//! Tests of the register file through its AXI4-Lite port.

use super::core_counters::{CoreCounterValues, L2CounterValues, LostCycleValues};
use super::*;
use crate::config::Config;
use crate::testing::{random, reset, settle, tick};
use rand::Rng;

/// With every part that an array can have, or with none.
fn configuration(parts: bool) -> Config {
    let plain = Config { cores: 3, ..Config::preset("default").unwrap() };
    let spawn_slots = if parts { 16 } else { 0 };
    let atomics = parts;
    Config {
        adaptive_timeout: parts,
        packet_ports: parts,
        drop_when_full: parts,
        command_threads: usize::from(parts),
        spawn_slots,
        atomics,
        network: parts,
        load_counters: parts,
        ..plain
    }
}

/// With network functions, beside which an array cannot have all other parts.
fn with_functions() -> Config {
    let plain = configuration(false);
    Config { network_functions: 4, function_branches: true, packet_ports: true, command_threads: 1, ..plain }
}

/// With the parts that an array can have together, with none, with network functions.
fn configurations() -> [Config; 3] {
    [configuration(true), configuration(false), with_functions()]
}

/// The register file of an array that has every part.
fn unit() -> RegisterFile {
    unit_of(&configuration(true))
}

fn unit_of(config: &Config) -> RegisterFile {
    let mut unit = RegisterFile::new(config);
    reset!(unit);
    unit.axil.bready.next = true;
    unit.axil.rready.next = true;
    if let Some(network) = unit.network.get_mut() {
        network.interface.queues.switch_ready.next = true;
        network.interface.queues.show_ready.next = true;
        network.interface.queues.some_on.next = false;
    }
    unit
}

/// Whether a register is one whose value depends on who accesses it and on what came before
/// (`host_link_tests` has these), or is the hardware's (CP_DATA: `block_tests`; QP_COMMAND and
/// NET_DATA: the testbench's `network`).
fn is_shared(name: &str) -> bool {
    let prefixes =
        ["MAILBOX_", "CONSOLE", "CP_IRQ_", "HOST_IRQ_PENDING", "CP_DATA", "QP_COMMAND", "NET_DATA"];
    // A word of a context, or a link: `functions::tests` has these.
    let of_function =
        name.starts_with("NF_") && name != "NF_SELECT" && spec(name).access == Access::ReadWrite;
    of_function || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Starts a write; both requests are taken in this cycle.
fn begin_write(unit: &mut RegisterFile, address: u32, data: u32, strobe: u64) {
    unit.axil.awaddr.next = u64::from(address).into();
    unit.axil.awvalid.next = true;
    unit.axil.wdata.next = u64::from(data).into();
    unit.axil.wstrb.next = strobe.into();
    unit.axil.wvalid.next = true;
    settle(unit);
    assert!(unit.axil.awready.val() && unit.axil.wready.val());
    tick!(*unit);
    unit.axil.awvalid.next = false;
    unit.axil.wvalid.next = false;
    settle(unit);
}

/// Waits for the response of a write.
fn end_write(unit: &mut RegisterFile) -> u64 {
    for _ in 0..10 {
        if unit.axil.bvalid.val() {
            let response = unit.axil.bresp.val().to_u64();
            tick!(*unit);
            return response;
        }
        tick!(*unit);
    }
    panic!("the write gets no response");
}

fn write(unit: &mut RegisterFile, address: u32, data: u32, strobe: u64) -> u64 {
    begin_write(unit, address, data, strobe);
    end_write(unit)
}

fn read(unit: &mut RegisterFile, address: u32) -> (u64, u32) {
    unit.axil.araddr.next = u64::from(address).into();
    unit.axil.arvalid.next = true;
    settle(unit);
    assert!(unit.axil.arready.val());
    tick!(*unit);
    unit.axil.arvalid.next = false;
    settle(unit);
    for _ in 0..10 {
        if unit.axil.rvalid.val() {
            let response = (unit.axil.rresp.val().to_u64(), unit.axil.rdata.val().to_u64() as u32);
            tick!(*unit);
            return response;
        }
        tick!(*unit);
    }
    panic!("the read gets no response");
}

fn get(unit: &mut RegisterFile, name: &str) -> u32 {
    let (response, value) = read(unit, offset(name));
    assert_eq!(response, 0, "{name}");
    value
}

fn set(unit: &mut RegisterFile, name: &str, value: u32) {
    assert_eq!(write(unit, offset(name), value, 15), 0, "{name}");
}

/// Every word of the address space, in an array that has all parts and in one that has none: a
/// register of the array is what the table says, everything else answers SLVERR, reads as zero and
/// takes no write.
#[test]
fn every_word_follows_the_table() {
    for config in configurations() {
        follows_the_table(&config);
    }
}

fn follows_the_table(config: &Config) {
    let mut random = random();
    let mut unit = unit_of(config);
    let registers = registers_of(config);
    unit.tasks.ready.next = true;
    for address in (0..1 << ADDRESS_BITS).step_by(4) {
        let Some(register) = registers.iter().find(|r| r.offset == address) else {
            assert_eq!(read(&mut unit, address), (2, 0), "{address:#x}");
            assert_eq!(write(&mut unit, address, random.gen(), 15), 2, "{address:#x}");
            continue;
        };
        let mask = (1u64 << register.bits) as u32;
        let mask = mask.wrapping_sub(1) & !register.reserved;
        if is_shared(register.name) {
            assert_eq!(read(&mut unit, address).0, 0, "{}", register.name);
            assert_eq!(write(&mut unit, address, random.gen(), 15), 0, "{}", register.name);
            continue;
        }
        match register.access {
            Access::ReadWrite => {
                assert_eq!(read(&mut unit, address), (0, register.reset), "{}", register.name);
                let mut expected = register.reset;
                for _ in 0..10 {
                    let (data, strobe): (u32, u64) = (random.gen(), random.gen_range(0..16));
                    assert_eq!(write(&mut unit, address, data, strobe), 0);
                    for byte in (0..4).filter(|b| strobe >> b & 1 == 1) {
                        let lane = 0xff << (8 * byte);
                        expected = expected & !lane | data & lane;
                    }
                    expected &= mask;
                    assert_eq!(read(&mut unit, address), (0, expected), "{}", register.name);
                }
                // A byte, by its own address, and a half word.
                for (byte, lane, strobe) in [(1, 0xff00, 2), (2, 0xffff_0000, 12), (3, 0xff00_0000, 8)] {
                    let data = random.gen();
                    assert_eq!(write(&mut unit, address + byte, data, strobe), 0, "{}", register.name);
                    expected = (expected & !lane | data & lane) & mask;
                    assert_eq!(read(&mut unit, address + byte), (0, expected), "{}", register.name);
                }
            }
            Access::WriteOnly | Access::Command => {
                assert_eq!(write(&mut unit, address, random.gen(), 15), 0, "{}", register.name);
                assert_eq!(read(&mut unit, address), (0, 0), "{}", register.name);
            }
            Access::ReadOnly => {
                let before = read(&mut unit, address);
                assert_eq!(before.0, 0, "{}", register.name);
                assert_eq!(write(&mut unit, address, !before.1, 15), 0, "{}", register.name);
                if !register.name.starts_with("CYCLE") {
                    assert_eq!(read(&mut unit, address), before, "{}", register.name);
                }
            }
        }
    }
}

/// The parts of an array are what the map of this array has, and no other register is there.
#[test]
fn a_register_is_there_with_its_part_only() {
    let mut seen = std::collections::BTreeSet::new();
    for config in configurations() {
        let mut unit = unit_of(&config);
        let map = registers_of(&config);
        for register in REGISTERS {
            let there = register.part.is_in(&config);
            assert_eq!(map.iter().any(|r| r.offset == register.offset), there, "{}", register.name);
            let (response, value) = read(&mut unit, register.offset);
            assert_eq!(response, if there { 0 } else { 2 }, "{} is read", register.name);
            assert!(there || value == 0, "{}", register.name);
            // Only a write to TASK_PUSH may be refused.
            unit.tasks.ready.next = true;
            let expected = if there { 0 } else { 2 };
            assert_eq!(write(&mut unit, register.offset, 0, 15), expected, "{} is written", register.name);
        }
        seen.extend(map.iter().map(|register| register.offset));
    }
    assert_eq!(seen.len(), REGISTERS.len(), "each register is in one of the arrays");
}

#[test]
fn configuration_reaches_its_outputs() {
    let mut unit = unit();
    assert_eq!(unit.configuration.mcw.val().index(), 4);
    assert_eq!(unit.configuration.ring_slots_log2.val().index(), 10);
    set(&mut unit, "CONTROL", 2);
    assert_eq!((unit.configuration.run.val(), unit.configuration.eager.val()), (false, true));
    set(&mut unit, "CONTROL", 1);
    assert_eq!((unit.configuration.run.val(), unit.configuration.eager.val()), (true, false));
    for (value, name) in [
        "RING_BASE",
        "VERDICT_BASE",
        "KERNEL_ENTRY",
        "ARGUMENT",
        "STACK_BASE",
        "TIMEOUT",
        "SLOT_BYTES_LOG2",
        "STACK_BYTES_LOG2",
        "RING_SLOTS_LOG2",
        "MCW",
        "KERNEL_CLASS",
    ]
    .iter()
    .enumerate()
    {
        set(&mut unit, name, value as u32 + 11);
    }
    let words = [
        unit.configuration.ring_base.val(),
        unit.configuration.verdict_base.val(),
        unit.configuration.kernel_entry.val(),
        unit.configuration.argument.val(),
        unit.configuration.stack_base.val(),
        unit.configuration.timeout.val(),
    ];
    assert_eq!(words.map(|w| w.to_u64()), [11, 12, 13, 14, 15, 16]);
    assert_eq!(unit.configuration.slot_bytes_log2.val().index(), 17);
    assert_eq!(unit.configuration.stack_bytes_log2.val().index(), 18);
    assert_eq!(unit.configuration.ring_slots_log2.val().index(), 19);
    assert_eq!(unit.configuration.mcw.val().index(), 20);
    assert!(unit.configuration.kernel_class.val());
    set(&mut unit, "WATCHDOG", 0xffff_ffff);
    assert_eq!(unit.configuration.watchdog.val().to_u64(), 0x7fff_ffff);
    assert_eq!(unit.windows.read_0_size.val().to_u64(), 0x3ff_ffff);
    assert_eq!(unit.windows.write_1_size.val().to_u64(), 0);
    assert!(!unit.packet_ports.enable.val());
    set(&mut unit, "PORTS", 1);
    assert!(unit.packet_ports.enable.val());
    for (value, name) in
        ["READ_WINDOW_0_BASE", "READ_WINDOW_1_SIZE", "WRITE_WINDOW_1_BASE", "WRITE_WINDOW_0_SIZE"]
            .iter()
            .enumerate()
    {
        set(&mut unit, name, (value as u32 + 1) << 6);
    }
    assert_eq!(unit.windows.read_0_base.val().to_u64(), 1);
    assert_eq!(unit.windows.read_1_size.val().to_u64(), 2);
    assert_eq!(unit.windows.write_1_base.val().to_u64(), 3);
    assert_eq!(unit.windows.write_0_size.val().to_u64(), 4);
}

#[test]
fn status_is_read() {
    let mut unit = unit();
    assert_eq!(get(&mut unit, "ID"), 0x4845_524d);
    assert_eq!(get(&mut unit, "VERSION"), VERSION);
    assert_eq!(get(&mut unit, "CONFIG"), 8 | 3 << 8 | 8 << 16 | 0x77 << 24);
    assert_eq!(get(&mut unit, "QOS"), configuration(true).qos());
    assert_eq!(get(&mut unit_of(&configuration(false)), "CONFIG"), 8 | 3 << 8 | 8 << 16 | 0x20 << 24);
    let mut with_functions = unit_of(&with_functions());
    assert_eq!(get(&mut with_functions, "CONFIG"), 8 | 3 << 8 | 8 << 16 | 0xa3 << 24);
    assert_eq!(get(&mut with_functions, "VERSION"), 0x0001_0004);
    assert_eq!(get(&mut with_functions, "NF_CONFIG"), 0x104);
    unit.tasks.level.next = 1020.into();
    unit.progress.pending.next = 2.into();
    unit.progress.issued_warps.next = 3.into();
    unit.progress.committed_warps.next = 4.into();
    unit.progress.committed_packets.next = 5.into();
    unit.faults.faults.next = 6.into();
    unit.memory.bus_errors.next = 7.into();
    unit.faults.level.next = 8.into();
    unit.faults.dropped.next = 0xfff0.into();
    unit.faults.cause.next = 11.into();
    unit.faults.core.next = 30.into();
    unit.faults.slot.next = 29.into();
    unit.faults.threads.next = 32.into();
    unit.faults.pc.next = 0x8000_0001u64.into();
    unit.faults.address.next = 13.into();
    unit.faults.packet.next = 14.into();
    unit.memory.l2_busy.next = true;
    unit.memory.lines_read.next = 15.into();
    unit.memory.lines_written.next = 16.into();
    unit.packet_ports.busy.next = true;
    unit.port_counters.frames_in.next = 17.into();
    unit.port_counters.bytes_in.next = 18.into();
    unit.port_counters.dropped_in.next = 19.into();
    unit.port_counters.cut_in.next = 20.into();
    unit.port_counters.frames_out.next = 21.into();
    unit.port_counters.bytes_out.next = 22.into();
    unit.port_counters.not_sent.next = 23.into();
    unit.port_counters.length_errors.next = 24.into();
    unit.port_counters.read_errors.next = 25.into();
    unit.spawn.spawner.busy.next = 26.into();
    unit.spawn.spawner.warps.next = 27.into();
    unit.spawn.spawner.jobs.next = 28.into();
    unit.spawn.spawner.overruns.next = 29.into();
    unit.spawn.spawner.rejected.next = 30.into();
    unit.spawn.fault_job.next = 31.into();
    unit.load_counters.formed_full.next = 32.into();
    unit.load_counters.formed_timeout.next = 33.into();
    unit.load_counters.formed_eager.next = 34.into();
    unit.load_counters.slot_cycles.next = (36u64 << 32 | 35).into();
    unit.load_counters.commit_queue_full.next = 37.into();
    unit.load_counters.high_tasks.next = 38.into();
    unit.load_counters.high_commit_queue.next = 39.into();
    unit.load_counters.high_ring.next = 40.into();
    for (name, value) in [
        ("TASK_LEVEL", 1020),
        ("SPAWN_BUSY", 26),
        ("SPAWNED_WARPS", 27),
        ("SPAWN_JOBS", 28),
        ("SPAWN_ERRORS", 29 | 30 << 16),
        ("FAULT_JOB", 31),
        ("TASK_ROOM", 4),
        ("PENDING", 2),
        ("ISSUED_WARPS", 3),
        ("COMMITTED_WARPS", 4),
        ("COMMITTED_PACKETS", 5),
        ("FAULTS", 6),
        ("BUS_ERRORS", 7),
        ("FAULT_LEVEL", 0xfff0_0008),
        ("FAULT_INFO", 11 | 30 << 8 | 29 << 16 | 32 << 24),
        ("FAULT_PC", 0x8000_0001),
        ("FAULT_ADDRESS", 13),
        ("FAULT_PACKET", 14),
        ("L2_MAINTENANCE", 1),
        ("MEMORY_LINES_READ", 15),
        ("MEMORY_LINES_WRITTEN", 16),
        ("PORTS_BUSY", 1),
        ("PORTS_FRAMES_IN", 17),
        ("PORTS_BYTES_IN", 18),
        ("PORTS_DROPPED_IN", 19),
        ("PORTS_CUT_IN", 20),
        ("PORTS_FRAMES_OUT", 21),
        ("PORTS_BYTES_OUT", 22),
        ("PORTS_NOT_SENT", 23),
        ("PORTS_LENGTH_ERRORS", 24),
        ("PORTS_READ_ERRORS", 25),
        ("FORMED_FULL", 32),
        ("FORMED_TIMEOUT", 33),
        ("FORMED_EAGER", 34),
        ("SLOT_CYCLES", 35),
        ("SLOT_CYCLES_HIGH", 36),
        ("COMMIT_QUEUE_FULL", 37),
        ("HIGH_TASKS", 38),
        ("HIGH_COMMIT_QUEUE", 39),
        ("HIGH_RING", 40),
    ] {
        assert_eq!(get(&mut unit, name), value, "{name}");
    }
}

#[test]
fn core_select_picks_the_counters() {
    let mut unit = unit();
    // A number for each counter of each core, by the offset.
    let number =
        |core: u32| move |register: &RegisterSpec| Ok::<_, ()>(0x1000 * (core + 1) + register.offset);
    for core in 0..3 {
        let (at, number) = (core as usize, number(core));
        CoreCounterValues::read(number).unwrap().drive(&mut unit.counters[at]);
        LostCycleValues::read(number).unwrap().drive(&mut unit.lost[at]);
        L2CounterValues::read(number).unwrap().drive(&mut unit.l2[at]);
    }
    // Those of the blocks that choose: CORE_LINE_HITS is chosen by the load counters themselves.
    let others = ["CORE_SELECT", "CORE_LINE_HITS"];
    let is_chosen = |r: &&RegisterSpec| {
        r.name.starts_with("CORE_") && !others.contains(&r.name) && r.part != Part::NetworkFunctions
    };
    let counters = REGISTERS.iter().filter(is_chosen);
    for core in 0..5 {
        set(&mut unit, "CORE_SELECT", core);
        for register in counters.clone() {
            let expected = if core < 3 { number(core)(register).unwrap() } else { 0 };
            assert_eq!(get(&mut unit, register.name), expected, "{} of core {core}", register.name);
        }
    }
    assert!(counters.count() >= 16);
}

/// Cycles from the acceptance of a write to its response, and the response.
fn timed_write(unit: &mut RegisterFile, name: &str, data: u32) -> (u32, u64) {
    begin_write(unit, offset(name), data, 15);
    let mut cycles = 1;
    while !unit.axil.bvalid.val() {
        assert!(cycles < 10, "the write to {name} waits");
        tick!(*unit);
        cycles += 1;
    }
    let response = unit.axil.bresp.val().to_u64();
    tick!(*unit);
    (cycles, response)
}

#[test]
fn task_push_is_taken_or_refused_at_once() {
    let mut unit = unit();
    unit.tasks.ready.next = true;
    for count in [0, 1, u32::MAX] {
        begin_write(&mut unit, offset("TASK_PUSH"), count, 15);
        let mut pushed = vec![];
        for _ in 0..10 {
            if unit.tasks.valid.val() {
                pushed.push(unit.tasks.count.val().to_u64() as u32);
            }
            tick!(unit);
        }
        assert_eq!(pushed, [count]);
    }
    assert_eq!(get(&mut unit, "TASK_ROOM"), 1024);
    assert_eq!(timed_write(&mut unit, "TASK_PUSH", 3), (4, 0));
    // The FIFO is full.
    unit.tasks.ready.next = false;
    unit.tasks.level.next = 1024.into();
    for count in [5, 6] {
        assert_eq!(timed_write(&mut unit, "TASK_PUSH", count), (2, 2), "refused at once");
        assert!(!unit.tasks.valid.val());
    }
    assert_eq!(get(&mut unit, "TASK_ROOM"), 0);
    assert_eq!(get(&mut unit, "TASK_PUSH"), 0, "reads are no pushes");
    // One entry is free, which somebody else takes: what was answered with OKAY waits for the next
    // one.
    unit.tasks.level.next = 1023.into();
    assert_eq!(get(&mut unit, "TASK_ROOM"), 1);
    assert_eq!(timed_write(&mut unit, "TASK_PUSH", 7), (4, 0));
    assert_eq!(get(&mut unit, "TASK_ROOM"), 0);
    for level in [1024u64, 1023] {
        unit.tasks.level.next = level.into();
        assert_eq!(timed_write(&mut unit, "TASK_PUSH", 8), (2, 2), "the one before waits");
    }
    assert!(unit.tasks.valid.val());
    unit.tasks.ready.next = true;
    settle(&mut unit);
    assert_eq!(unit.tasks.count.val().to_u64(), 7);
    tick!(unit);
    assert!(!unit.tasks.valid.val(), "the count is pushed once");
    assert_eq!(timed_write(&mut unit, "TASK_PUSH", 9), (4, 0));
}

/// The FIFO is full and takes nothing, and a count waits for it: every register can be written and
/// read.
#[test]
fn a_full_fifo_does_not_block_the_bus() {
    let mut unit = unit();
    assert_eq!(timed_write(&mut unit, "TASK_PUSH", 1), (4, 0));
    for (waits, level) in [(true, 1024u64), (false, 1024)] {
        unit.tasks.level.next = level.into();
        if !waits {
            unit.tasks.ready.next = true;
            tick!(unit);
            unit.tasks.ready.next = false;
        }
        settle(&mut unit);
        assert_eq!(unit.tasks.valid.val(), waits);
        for register in registers_of(&configuration(true)) {
            let refused = if register.name == "TASK_PUSH" { 2 } else { 0 };
            assert_eq!(timed_write(&mut unit, "TASK_PUSH", 1), (2, 2));
            assert_eq!(timed_write(&mut unit, register.name, 1), (2, refused), "{}", register.name);
            assert_eq!(read(&mut unit, register.offset).0, 0, "{}", register.name);
            if register.access == Access::ReadWrite && !is_shared(register.name) {
                assert_eq!(get(&mut unit, register.name), 1, "{}", register.name);
            }
        }
    }
}

#[test]
fn events_last_one_cycle() {
    let mut unit = unit();
    for (name, data, expected) in [
        ("INVALIDATE", 1, [1, 0, 0, 0, 0]),
        ("FAULT_POP", 1, [0, 0, 0, 0, 1]),
        ("INVALIDATE", 2, [0, 1, 0, 0, 0]),
        ("INVALIDATE", 4, [0, 0, 0, 0, 0]),
        ("L2_MAINTENANCE", 1, [0, 0, 1, 0, 0]),
        ("L2_MAINTENANCE", 2, [0, 0, 0, 1, 0]),
        ("FAULT_POP", 0, [0, 0, 0, 0, 0]),
    ] {
        begin_write(&mut unit, offset(name), data, 15);
        let mut seen = [0; 5];
        for _ in 0..10 {
            seen[0] += usize::from(unit.memory.instructions.val());
            seen[1] += usize::from(unit.memory.data.val());
            seen[2] += usize::from(unit.memory.l2_clean.val());
            seen[3] += usize::from(unit.memory.l2_invalidate.val());
            seen[4] += usize::from(unit.faults.pop.val());
            tick!(unit);
        }
        assert_eq!(seen, expected, "{name}");
    }
}

#[test]
fn cycle_counter_is_read_in_two_halves() {
    let mut unit = unit();
    let first = get(&mut unit, "CYCLE_LOW");
    for _ in 0..100 {
        tick!(unit);
    }
    let second = get(&mut unit, "CYCLE_LOW");
    assert_eq!(second - first, 100 + 3, "a read takes three cycles here");
    let before = unit.time.cycle.val().to_u64();
    tick!(unit);
    assert_eq!(unit.time.cycle.val().to_u64(), before + 1);
    // Close to the carry: the high half is the one of the low half's read.
    unit.time_registers.low.q.next = 0xffff_fffeu64.into();
    settle(&mut unit);
    assert_eq!(get(&mut unit, "CYCLE_LOW"), 0xffff_ffff);
    assert_eq!(unit.time_registers.high.q.val().index(), 1);
    assert_eq!(unit.time.cycle.val().to_u64() >> 32, 1);
    assert_eq!(get(&mut unit, "CYCLE_HIGH"), 0);
    get(&mut unit, "CYCLE_LOW");
    assert_eq!(get(&mut unit, "CYCLE_HIGH"), 1);
}

/// Where the queue areas are, and that there are some, changes while all queues are off; a queue is
/// not switched before that has settled.
#[test]
fn queue_areas_stay_while_a_queue_is_on() {
    let mut unit = unit();
    let shown = |unit: &RegisterFile| {
        let queues = &unit.network.interface.queues;
        (queues.enable.val(), queues.base.val().to_u64(), queues.area_log2.val().to_u64())
    };
    for (name, value) in [("NET_BASE", 0x1000_0000), ("NET_AREA", 24), ("NET_CONTROL", 1)] {
        set(&mut unit, name, value);
    }
    set(&mut unit, "QUEUE_COMMAND", 1 << 31 | 2);
    for _ in 0..3 {
        assert!(!unit.network.interface.queues.switch_valid.val() || shown(&unit).0);
        tick!(unit);
    }
    assert_eq!(shown(&unit), (true, 0x1000_0000 >> 6, 24));
    assert_eq!(get(&mut unit, "NET_STATUS") & 2, 2);
    unit.network.interface.queues.some_on.next = true;
    for (name, value) in [("NET_BASE", 0x2000_0000), ("NET_AREA", 23), ("NET_CONTROL", 0)] {
        set(&mut unit, name, value);
    }
    (0..5).for_each(|_| tick!(unit));
    assert_eq!(shown(&unit), (true, 0x1000_0000 >> 6, 24));
    assert_eq!(get(&mut unit, "NET_STATUS") & 2, 0);
    unit.network.interface.queues.some_on.next = false;
    (0..3).for_each(|_| tick!(unit));
    assert_eq!(shown(&unit), (false, 0x2000_0000 >> 6, 23));
    // Another place is not enabled before it has stood for three cycles.
    set(&mut unit, "NET_CONTROL", 1);
    (0..5).for_each(|_| tick!(unit));
    assert!(shown(&unit).0);
    begin_write(&mut unit, offset("NET_BASE"), 0x3000_0000, 15);
    let mut stood = 0;
    for _ in 0..8 {
        stood = if shown(&unit).1 == 0x3000_0000 >> 6 { stood + 1 } else { 0 };
        assert!(stood == 0 || shown(&unit).0 == (stood > 3), "{stood}");
        tick!(unit);
    }
    assert!(stood > 3);
    // A value that cannot be: the queue is not switched on, but the command does end.
    set(&mut unit, "NET_AREA", 3);
    set(&mut unit, "QUEUE_COMMAND", 1 << 31 | 2);
    (0..3).for_each(|_| tick!(unit));
    assert!(!shown(&unit).0 && get(&mut unit, "QUEUE_COMMAND") >> 31 == 0);
}
