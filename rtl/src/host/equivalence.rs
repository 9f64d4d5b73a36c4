//! Host units against their Verilog with inputs that reach the registers.

use super::registers::command::CommandRegisters;
use super::registers::configuration::ConfigurationRegisters;
use super::registers::core_counters::CoreCounterRegisters;
use super::registers::faults::FaultRegisters;
use super::registers::host_link::HostLinkRegisters;
use super::registers::memory::MemoryRegisters;
use super::registers::packet_ports::{PortControlRegisters, PortCounterRegisters};
use super::registers::tasks::TaskRegisters;
use super::registers::time::TimeRegisters;
use super::registers::{offset, CommandInterrupts, Console, HostInterrupts, Mailbox, PacketWatch, REGISTERS};
use super::*;
use crate::config::Config;
use hermes_hdl::prelude::Bits;
use hermes_hdl::testing::{check, check_with};

/// The offset of some register, seldom another address.
fn address(random: &mut dyn FnMut() -> u64) -> Bits<12> {
    let chosen = random();
    match REGISTERS.get(chosen as usize % (REGISTERS.len() + 1)) {
        Some(register) => u64::from(register.offset).into(),
        None => (random() % 4096).into(),
    }
}

#[test]
fn axi_lite_slave() {
    check(AxiLiteSlave::new(0));
}

#[test]
fn configuration_registers() {
    check_with(ConfigurationRegisters::default(), 10_000, |unit, random, _| {
        unit.request.address.next = address(random);
    });
}

#[test]
fn counter_registers() {
    check_with(CoreCounterRegisters::new(3), 10_000, |unit, random, _| {
        unit.request.address.next = address(random);
        unit.select.next = (random() % 4).into();
    });
}

#[test]
fn port_registers() {
    check_with(PortControlRegisters::default(), 4_000, |unit, random, _| {
        unit.request.address.next = address(random);
    });
    check_with(PortCounterRegisters::default(), 4_000, |unit, random, _| {
        unit.request.address.next = address(random);
    });
}

#[test]
fn command_registers() {
    check_with(CommandRegisters::default(), 4_000, |unit, random, _| {
        unit.request.address.next = address(random);
    });
}

#[test]
fn fault_registers() {
    check_with(FaultRegisters::default(), 4_000, |unit, random, _| {
        unit.request.address.next = address(random);
    });
}

#[test]
fn memory_registers() {
    check_with(MemoryRegisters::default(), 4_000, |unit, random, _| {
        unit.request.address.next = address(random);
    });
}

#[test]
fn task_registers() {
    check_with(TaskRegisters::default(), 4_000, |unit, random, _| {
        unit.request.address.next = address(random);
        if random() % 2 == 0 {
            unit.request.address.next = u64::from(offset("TASK_PUSH")).into();
        }
        unit.hardware.level.next = (if random() % 4 == 0 { 1024 } else { random() % 1024 }).into();
    });
}

#[test]
fn time_registers() {
    check_with(TimeRegisters::default(), 4_000, |unit, random, _| {
        unit.request.address.next = address(random);
    });
}

#[test]
fn register_file() {
    check_register_file(Config { cores: 3, ..Config::preset("default").unwrap() });
}

#[test]
fn register_file_with_packet_ports() {
    check_register_file(Config { cores: 3, packet_ports: true, ..Config::preset("default").unwrap() });
}

fn check_register_file(config: Config) {
    check_with(RegisterFile::new(&config), 5_000, |unit, random, _| {
        unit.axil.awaddr.next = address(random);
        unit.axil.araddr.next = address(random);
        // Often a push, often to a full FIFO.
        if random() % 4 == 0 {
            unit.axil.awaddr.next = u64::from(offset("TASK_PUSH")).into();
        }
        unit.tasks.level.next = (if random() % 4 == 0 { 1024 } else { random() % 1024 }).into();
    });
}

#[test]
fn axi_lite_slave_with_hold() {
    check(AxiLiteSlave::new(1));
}

#[test]
fn register_port() {
    check_with(RegisterPort::default(), 10_000, |unit, random, _| {
        unit.access.address.next = address(random);
        if random() % 4 == 0 {
            unit.access.address.next = u64::from(offset("TASK_PUSH")).into();
        }
    });
}

#[test]
fn register_file_with_two_masters() {
    let config = Config::preset("default").unwrap();
    check_register_file(Config {
        cores: 3,
        command_threads: 1,
        spawn_slots: 16,
        atomics: true,
        network: true,
        ..config
    });
}

/// One of the registers from `first` on, `count` of them.
fn near(random: &mut dyn FnMut() -> u64, first: &str, count: u64) -> Bits<12> {
    (u64::from(offset(first)) + 4 * (random() % count)).into()
}

#[test]
fn mailbox() {
    check_with(Mailbox::default(), 10_000, |unit, random, _| {
        unit.request.address.next = near(random, "MAILBOX_IN_0", 9);
        if random() % 8 == 0 {
            unit.request.address.next = u64::from(offset("CP_STATUS")).into();
        }
        unit.free_in.next = random() % 16 == 0;
        unit.free_out.next = random() % 16 == 0;
    });
}

#[test]
fn console() {
    check_with(Console::default(), 20_000, |unit, random, cycle| {
        let name = if random() % 2 == 0 { "CONSOLE" } else { "CONSOLE_IN" };
        unit.request.address.next = u64::from(offset(name)).into();
        unit.request.read.next = random() % 8 > cycle / 500 % 8;
    });
}

#[test]
fn command_interrupts() {
    check_with(CommandInterrupts::new(3), 10_000, |unit, random, _| {
        unit.request.address.next = near(random, "CP_DOORBELL", 14);
    });
}

#[test]
fn host_interrupts() {
    check_with(HostInterrupts::default(), 10_000, |unit, random, _| {
        unit.request.address.next = near(random, "HOST_IRQ_PENDING", 3);
    });
}

#[test]
fn packet_watch() {
    check_with(PacketWatch::default(), 10_000, |unit, random, _| {
        unit.request.address.next = near(random, "COMMIT_WATERMARK", 3);
        // Often around the watermark.
        let near = unit.committed.val().to_u64().wrapping_add(random() % 9).wrapping_sub(4) & 0xffff_ffff;
        unit.request.data.next = near.into();
        unit.committed.next = (random() % 16).into();
    });
}

#[test]
fn host_link_registers() {
    check_with(HostLinkRegisters::new(2), 10_000, |unit, random, _| {
        unit.request.address.next = address(random);
    });
}
