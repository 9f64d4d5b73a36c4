//! Host units against their Verilog with inputs that reach the registers.

use super::registers::{offset, REGISTERS};
use super::*;
use crate::config::Config;
use crate::emit::equivalence::{check, check_with};
use rust_hdl::prelude::Bits;

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
    check(AxiLiteSlave::default());
}

#[test]
fn configuration_registers() {
    check_with(ConfigurationRegisters::default(), 10_000, |unit, random, _| {
        unit.address.next = address(random);
    });
}

#[test]
fn counter_registers() {
    check_with(CounterRegisters::new(3), 10_000, |unit, random, _| {
        unit.address.next = address(random);
        unit.select.next = (random() % 4).into();
    });
}

#[test]
fn port_registers() {
    check_with(PortRegisters::default(), 4_000, |unit, random, _| unit.address.next = address(random));
}

#[test]
fn register_file() {
    let config = Config { cores: 3, ..Config::preset("default").unwrap() };
    check_with(RegisterFile::new(&config), 10_000, |unit, random, _| {
        unit.axil_awaddr.next = address(random);
        unit.axil_araddr.next = address(random);
        // Often a push, often to a full FIFO.
        if random() % 4 == 0 {
            unit.axil_awaddr.next = u64::from(offset("TASK_PUSH")).into();
        }
        unit.task_level.next = (if random() % 4 == 0 { 1024 } else { random() % 1024 }).into();
    });
}
