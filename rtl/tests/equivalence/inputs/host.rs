//! Inputs that reach the registers.

use super::Random;
use hermes_hdl::prelude::Bits;
use hermes_rtl::config::Config;
use hermes_rtl::host::registers::branches::BranchRegisters;
use hermes_rtl::host::registers::command::CommandRegisters;
use hermes_rtl::host::registers::configuration::ConfigurationRegisters;
use hermes_rtl::host::registers::core_counters::{
    CoreCounterRegisters, L2CounterRegisters, LostCycleRegisters,
};
use hermes_rtl::host::registers::debug::DebugRegisters;
use hermes_rtl::host::registers::faults::FaultRegisters;
use hermes_rtl::host::registers::functions::FunctionRegisters;
use hermes_rtl::host::registers::host_link::HostLinkRegisters;
use hermes_rtl::host::registers::identity::IdentityRegisters;
use hermes_rtl::host::registers::load_counters::LoadCounterRegisters;
use hermes_rtl::host::registers::memory::MemoryRegisters;
use hermes_rtl::host::registers::network::NetRegisters;
use hermes_rtl::host::registers::packet_ports::{
    PortControlRegisters, PortCounterRegisters, PortDropRegisters,
};
use hermes_rtl::host::registers::progress::ProgressRegisters;
use hermes_rtl::host::registers::qos::QosRegisters;
use hermes_rtl::host::registers::spawn::SpawnRegisters;
use hermes_rtl::host::registers::tasks::TaskRegisters;
use hermes_rtl::host::registers::time::TimeRegisters;
use hermes_rtl::host::registers::timeout::TimeoutRegisters;
use hermes_rtl::host::registers::{
    offset, CommandInterrupts, Console, HostInterrupts, Mailbox, PacketWatch, REGISTERS,
};
use hermes_rtl::host::*;

/// The default preset with three cores.
pub fn three_cores() -> Config {
    Config { cores: 3, ..Config::preset("default").unwrap() }
}

/// With two masters of the registers, and the blocks of most units.
pub fn two_masters() -> Config {
    Config { command_threads: 1, spawn_slots: 16, atomics: true, network: true, ..three_cores() }
}

/// With network functions, and branches.
pub fn with_branches() -> Config {
    Config { function_branches: true, ..with_functions() }
}

/// With network functions.
pub fn with_functions() -> Config {
    Config { network_functions: 4, ..three_cores() }
}

/// The offset of some register, seldom another address.
fn address(random: Random) -> Bits<12> {
    let chosen = random();
    match REGISTERS.get(chosen as usize % (REGISTERS.len() + 1)) {
        Some(register) => u64::from(register.offset).into(),
        None => (random() % 4096).into(),
    }
}

/// One of the registers from `first` on, `count` of them.
fn near(random: Random, first: &str, count: u64) -> Bits<12> {
    (u64::from(offset(first)) + 4 * (random() % count)).into()
}

/// Registers that need an address that is mostly one of theirs, and with `selected` one of the
/// first four cores or banks.
macro_rules! addressed {
    ({ $($name:ident: $unit:ident;)* } selected { $($selected:ident: $other:ident;)* }) => {
        $(pub fn $name(unit: &mut $unit, random: Random, _: u64) {
            unit.request.address.next = address(random);
        })*
        $(pub fn $selected(unit: &mut $other, random: Random, _: u64) {
            unit.request.address.next = address(random);
            unit.select.next = (random() % 4).into();
        })*
    };
}

addressed! {
    {
        configuration_registers: ConfigurationRegisters;
        port_control_registers: PortControlRegisters;
        port_counter_registers: PortCounterRegisters;
        port_drop_registers: PortDropRegisters;
        command_registers: CommandRegisters;
        fault_registers: FaultRegisters;
        memory_registers: MemoryRegisters;
        time_registers: TimeRegisters;
        timeout_registers: TimeoutRegisters;
        host_link_registers: HostLinkRegisters;
        identity_registers: IdentityRegisters;
        progress_registers: ProgressRegisters;
        debug_registers: DebugRegisters;
        net_registers: NetRegisters;
        spawn_registers: SpawnRegisters;
        qos_registers: QosRegisters;
    }
    selected {
        counter_registers: CoreCounterRegisters;
        lost_cycle_registers: LostCycleRegisters;
        l2_counter_registers: L2CounterRegisters;
    }
}

pub fn task_registers(unit: &mut TaskRegisters, random: Random, _: u64) {
    unit.request.address.next = address(random);
    if random() % 2 == 0 {
        unit.request.address.next = u64::from(offset("TASK_PUSH")).into();
    }
    unit.hardware.level.next = (if random() % 4 == 0 { 1024 } else { random() % 1024 }).into();
}

pub fn register_file(unit: &mut RegisterFile, random: Random, _: u64) {
    unit.axil.awaddr.next = address(random);
    unit.axil.araddr.next = address(random);
    // Often a push, often to a full FIFO.
    if random() % 4 == 0 {
        unit.axil.awaddr.next = u64::from(offset("TASK_PUSH")).into();
    }
    unit.tasks.level.next = (if random() % 4 == 0 { 1024 } else { random() % 1024 }).into();
}

pub fn register_port(unit: &mut RegisterPort, random: Random, _: u64) {
    unit.access.address.next = address(random);
    if random() % 4 == 0 {
        unit.access.address.next = u64::from(offset("TASK_PUSH")).into();
    }
}

pub fn branch_registers(unit: &mut BranchRegisters, random: Random, _: u64) {
    unit.request.address.next = near(random, "NF_NEXT", 4);
    unit.hardware.select.next = (random() % 5).into();
}

pub fn function_registers(unit: &mut FunctionRegisters, random: Random, _: u64) {
    unit.request.address.next = near(random, "NF_CONFIG", 32);
}

pub fn load_counter_registers(unit: &mut LoadCounterRegisters, random: Random, _: u64) {
    unit.request.address.next = near(random, "QOS", 12);
}

pub fn mailbox(unit: &mut Mailbox, random: Random, _: u64) {
    unit.request.address.next = near(random, "MAILBOX_IN_0", 9);
    if random() % 8 == 0 {
        unit.request.address.next = u64::from(offset("CP_STATUS")).into();
    }
    unit.free_in.next = random() % 16 == 0;
    unit.free_out.next = random() % 16 == 0;
}

pub fn console(unit: &mut Console, random: Random, cycle: u64) {
    let name = if random() % 2 == 0 { "CONSOLE" } else { "CONSOLE_IN" };
    unit.request.address.next = u64::from(offset(name)).into();
    unit.request.read.next = random() % 8 > cycle / 500 % 8;
}

pub fn command_interrupts(unit: &mut CommandInterrupts, random: Random, _: u64) {
    unit.request.address.next = near(random, "CP_DOORBELL", 14);
}

pub fn host_interrupts(unit: &mut HostInterrupts, random: Random, _: u64) {
    unit.request.address.next = near(random, "HOST_IRQ_PENDING", 3);
}

pub fn packet_watch(unit: &mut PacketWatch, random: Random, _: u64) {
    unit.request.address.next = near(random, "COMMIT_WATERMARK", 3);
    // Often around the watermark.
    let near = unit.committed.val().to_u64().wrapping_add(random() % 9).wrapping_sub(4) & 0xffff_ffff;
    unit.request.data.next = near.into();
    unit.committed.next = (random() % 16).into();
}

pub fn task_push(unit: &mut TaskPush, random: Random, _: u64) {
    unit.level.next = (if random() % 4 == 0 { 1024 } else { 1016 + random() % 9 }).into();
}
