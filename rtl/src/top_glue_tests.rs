//! What the wiring of the array decides, an input alone after the other: the kernel by itself, with
//! outputs of its parts that the test sets.

use super::*;
use crate::testing::{bit, is_raised_by, needs, poke, word};

type U = HermesTop<2>;
const CORES: usize = 3;

/// An array with packet ports, thread spawner, command processor and network interface.
fn unit() -> Box<U> {
    let config = Config {
        cores: CORES,
        lanes: 2,
        warps: 2,
        packet_ports: true,
        fault_output: true,
        spawn_slots: 8,
        ..Config::preset("node").unwrap()
    };
    Box::new(HermesTop::new(&config))
}

/// A core drops its lines when the host says so, when packets came to the ring, and when a job that
/// begins on it acquires; of the last, on no other core.
#[test]
fn each_who_drops_lines_is_heard() {
    let mut unit = unit();
    let drops = |unit: &U| {
        unit.core.iter().enumerate().map(|(i, core)| u64::from(core.invalidate_data.next) << i).sum()
    };
    is_raised_by(&mut *unit, "invalidate_data", CORES, drops, &[word!(U, spawner.acquire)]);
    for input in [bit!(U, registers.memory.data), bit!(U, ports.drop_caches)] {
        (input.set)(&mut unit, 1);
        unit.update();
        assert_eq!(drops(&unit), (1 << CORES) - 1, "{}", input.name);
        (input.set)(&mut unit, 0);
    }
}

/// A fault of any core is told to the host and to the command processor; so is an error of the bus.
#[test]
fn each_fault_is_told() {
    let mut unit = unit();
    for core in 0..CORES {
        poke(&mut unit.core[core].fault.valid, true);
        unit.update();
        assert!(unit.registers.host_link.fault.next, "core {core}");
        poke(&mut unit.core[core].fault.valid, false);
        unit.update();
        assert!(!unit.registers.host_link.fault.next);
    }
    let faults = [word!(U, faults.registers.faults), word!(U, bus_errors.q)];
    for input in &faults {
        for bit in [0, 15, 31] {
            (input.set)(&mut unit, 1 << bit);
            unit.update();
            assert!(unit.fault.next, "bit {bit} of {}", input.name);
        }
        (input.set)(&mut unit, 0);
        unit.update();
        assert!(!unit.fault.next);
    }
    // Only its owner removes a record.
    for (firmware, by_command) in [(false, false), (false, true), (true, false), (true, true)] {
        poke(&mut unit.registers.command.firmware_faults, firmware);
        poke(&mut unit.registers.was_by_command, by_command);
        for pop in [false, true] {
            poke(&mut unit.registers.faults.pop, pop);
            unit.update();
            assert_eq!(unit.faults.registers.pop.next, pop && firmware == by_command);
        }
    }
}

/// Events of the command processor: a warp of packets was issued, packets were pushed.
#[test]
fn each_event_of_the_host_link_is_its() {
    let mut unit = unit();
    let issue = [bit!(U, dispatch.trace_issue.valid)];
    let spawned = [bit!(U, dispatch.start_spawned)];
    needs(&mut *unit, "issue", |unit| unit.registers.host_link.issue.next, &issue, &spawned);
    let push = [bit!(U, ports.task.valid), bit!(U, dispatch.task.ready)];
    needs(&mut *unit, "push", |unit| unit.registers.host_link.push.next, &push, &[]);
    let full = [bit!(U, registers.host_link.mailbox_in_full), bit!(U, registers.host_link.mailbox_out_full)];
    for (place, input) in full.iter().enumerate() {
        (input.set)(&mut unit, 1);
        unit.update();
        assert_eq!(unit.command.mailbox_full.next.to_u64(), 1 << place, "{}", input.name);
        (input.set)(&mut unit, 0);
    }
}
