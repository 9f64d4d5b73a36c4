//! What the registers of Verilated arrays read after reset is what their map says: after power-up,
//! and after a reset in the middle of work.

// Of the grid only how an array is built.
#[allow(dead_code)]
mod grid;
// Of the small node only its array.
#[allow(dead_code)]
mod small_node;

use grid::{build, build_brief};
use hermes_rtl::config::Config;
use hermes_rtl::host::registers::{registers_of, Access, RegisterSpec};
use hermes_testbench::cosim::{Device, Latency, MemoryOptions, Simulation};
use verilator_sys::ModelLibrary;

const MEMORY_BYTES: u64 = 1 << 20;

fn simulation(array: &ModelLibrary) -> Simulation {
    let memory = MemoryOptions { latency: Latency::Fixed(20), ..MemoryOptions::default() };
    Simulation::new(array.instantiate().unwrap(), MEMORY_BYTES, memory).unwrap()
}

/// Lets every part of the array work: packets of a kernel that faults, the command processor at an
/// instruction that does not exist, and values in all registers that the host may write.
fn work(array: &mut Simulation, registers: &[RegisterSpec]) {
    let mut write = |name: &str, value: u32| {
        if let Some(register) = registers.iter().find(|r| r.name == name) {
            array.write_register(register.offset, value).unwrap();
        }
    };
    write("CONTROL", 1);
    write("KERNEL_ENTRY", 0x100);
    write("TIMEOUT", 16);
    write("STACK_BASE", 0x1_0000);
    write("RING_BASE", 0x8_0000);
    write("VERDICT_BASE", 0x4_0000);
    write("CP_ENTRY", 0x200);
    write("CP_CONTROL", 1);
    write("SPAWN_CONTROL", 1);
    write("TASK_PUSH", 7);
    array.run(600).unwrap();
    for register in registers.iter().filter(|r| r.access != Access::ReadOnly) {
        // TASK_PUSH may find no room, which is an answer too.
        let _ = array.write_register(register.offset, 0x8765_4321 ^ register.offset);
    }
    array.run(200).unwrap();
}

/// Every register that has a value after reset is read first after a reset.
fn agrees_with_its_map(config: &Config, array: &ModelLibrary) {
    let registers = registers_of(config);
    let mut wrong = Vec::new();
    let mut moved = 0;
    for register in registers.iter().filter(|r| r.has_reset()) {
        let mut simulation = simulation(array);
        let first = simulation.read_register(register.offset).unwrap();
        work(&mut simulation, &registers);
        let worked = simulation.read_register(register.offset).unwrap();
        moved += usize::from(worked != first);
        Device::reset(&mut simulation).unwrap();
        let second = simulation.read_register(register.offset).unwrap();
        let expected = register.reset;
        if (first, second) != (expected, expected) {
            let name = register.name;
            wrong.push(format!(
                "{name}: {first:#x}, after work {worked:#x} and a reset {second:#x}, expected {expected:#x}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A reset that does nothing would be seen by these.
    assert!(
        moved > registers.len() / 3,
        "of {} registers {moved} have another value after work",
        registers.len()
    );
}

/// The preset, in the smallest size that has something of everything.
fn of_preset(name: &str) {
    let preset = Config::preset(name).unwrap();
    let config =
        Config { cores: preset.cores.min(2), lanes: 2, warps: 2, l2_bank_lines: 32, l1_lines: 16, ..preset };
    agrees_with_its_map(&config, &build_brief(&config));
}

#[test]
fn of_paper() {
    of_preset("paper");
}

#[test]
fn of_default_with_packet_ports_and_load_counters() {
    let config = grid::with_packet_ports();
    agrees_with_its_map(&config, &build(&config));
}

#[test]
fn of_pangaea() {
    of_preset("pangaea");
}

#[test]
fn of_a_node() {
    agrees_with_its_map(&small_node::config(), small_node::library());
}
