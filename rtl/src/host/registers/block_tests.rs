//! Tests of the units that decode the blocks.

use super::command::{CommandControl, CommandRegisters};
use super::configuration::ConfigurationRegisters;
use super::core_counters::{
    CoreCounterRegisters, CoreCounterValues, CoreCounters, L2CounterRegisters, L2CounterValues, L2Counters,
    LostCycleCounters, LostCycleRegisters, LostCycleValues,
};
use super::debug::{DebugControl, DebugRegisters};
use super::packet_ports::{
    PortControl, PortControlRegisters, PortCounterRegisters, PortCounterValues, PortDropRegisters,
};
use super::windows::WindowRegisters;
use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::Rng;

/// A unit keeps what is written to the registers of its block that are read and written, and
/// answers for no others.
macro_rules! keeps_what_was_written {
    ($unit:ident, $group:ty, $check:expr) => {{
        let mut random = random();
        let mut unit = $unit::default();
        reset!(unit);
        let of_block: Vec<&str> = <$group>::REGISTERS.iter().map(|r| r.name).collect();
        let mut model: Vec<u64> = REGISTERS.iter().map(|r| u64::from(r.reset)).collect();
        for cycle in 0..10_000 {
            let chosen = random.gen_range(0..REGISTERS.len());
            let register = &REGISTERS[chosen];
            let (data, mask) = (u64::from(random.gen::<u32>()), u64::from(random.gen::<u32>()));
            unit.request.address.next = u64::from(register.offset).into();
            unit.request.write.next = random.gen();
            unit.request.data.next = data.into();
            unit.request.mask.next = mask.into();
            settle(&mut unit);
            // As the block has it: another one may have further bits.
            let own = <$group>::REGISTERS.iter().find(|r| r.name == register.name);
            let register = own.unwrap_or(register);
            let ours = of_block.contains(&register.name);
            let kept = ours && register.access == Access::ReadWrite;
            let expected = if kept { model[chosen] } else { 0 };
            assert_eq!(unit.answer.known.val(), ours, "cycle {cycle}: {}", register.name);
            assert_eq!(unit.answer.value.val().to_u64(), expected, "cycle {cycle}: {}", register.name);
            assert!(!unit.answer.delay.val());
            if kept && unit.request.write.val() {
                model[chosen] = (model[chosen] & !mask | data & mask)
                    & ((1 << register.bits) - 1)
                    & !u64::from(register.reserved);
            }
            tick!(unit);
            let of = |name: &str| model[REGISTERS.iter().position(|r| r.name == name).unwrap()];
            $check(&unit, &of);
        }
    }};
}

#[test]
fn configuration_keeps_what_was_written() {
    let check = |unit: &ConfigurationRegisters, of: &dyn Fn(&str) -> u64| {
        let ports = &unit.hardware;
        assert_eq!(u64::from(ports.run.val()) | u64::from(ports.eager.val()) << 1, of("CONTROL"));
        assert_eq!(ports.mcw.val().to_u64(), of("MCW"));
        assert_eq!(ports.timeout.val().to_u64(), of("TIMEOUT"));
        assert_eq!(u64::from(ports.kernel_class.val()), of("KERNEL_CLASS"));
        assert_eq!(ports.watchdog.val().to_u64(), of("WATCHDOG"));
        assert_eq!(ports.core_select.val().to_u64(), of("CORE_SELECT"));
    };
    keeps_what_was_written!(ConfigurationRegisters, configuration::Configuration, check);
}

#[test]
fn windows_keep_what_was_written() {
    let check = |unit: &WindowRegisters, of: &dyn Fn(&str) -> u64| {
        let ports = &unit.hardware;
        assert_eq!(ports.read_0_base.val().to_u64(), of("READ_WINDOW_0_BASE") >> 6);
        assert_eq!(ports.read_1_size.val().to_u64(), of("READ_WINDOW_1_SIZE") >> 6);
        assert_eq!(ports.write_1_base.val().to_u64(), of("WRITE_WINDOW_1_BASE") >> 6);
        assert_eq!(ports.write_0_size.val().to_u64(), of("WRITE_WINDOW_0_SIZE") >> 6);
    };
    keeps_what_was_written!(WindowRegisters, windows::Windows, check);
}

#[test]
fn the_command_processor_keeps_what_was_written() {
    let check = |unit: &CommandRegisters, of: &dyn Fn(&str) -> u64| {
        assert_eq!(unit.hardware.run.val().to_u64(), of("CP_CONTROL") & 0xff);
        assert_eq!(u64::from(unit.hardware.breakpoint_stops.val()), of("CP_CONTROL") >> 8 & 1);
        assert_eq!(u64::from(unit.hardware.firmware_faults.val()), of("CP_CONTROL") >> 10);
        assert_eq!(unit.hardware.entry.val().to_u64(), of("CP_ENTRY") >> 2);
    };
    keeps_what_was_written!(CommandRegisters, CommandControl, check);
}

#[test]
fn the_command_processor_shows_its_harts() {
    let mut unit = CommandRegisters::default();
    reset!(unit);
    unit.hardware.stopped.next = 0x5a.into();
    unit.hardware.waiting.next = 0x21.into();
    unit.hardware.locked.next = 0x42.into();
    unit.hardware.harts.next = 3.into();
    unit.hardware.debug_busy.next = true;
    unit.hardware.quiet.next = 0xa5.into();
    for (name, value) in [("CP_STATUS", 0x8342_215a), ("CP_QUIET", 0xa5), ("CP_ENTRY", 0x1_0000)] {
        unit.request.address.next = u64::from(offset(name)).into();
        settle(&mut unit);
        assert_eq!(unit.answer.value.val().to_u64(), value, "{name}");
    }
}

/// Words for the harts and CP_DATA come in the cycle of the write, with their strobes; stop, step
/// and resume in the next.
#[test]
fn debugging_says_what_was_written() {
    let mut unit = DebugRegisters::default();
    reset!(unit);
    unit.hardware.data.next = 0x1234_5678.into();
    unit.hardware.pc.next = (0x1_0040u64 >> 2).into();
    let write = |unit: &mut DebugRegisters, name: &str, value: u64, mask: u64| {
        unit.request.address.next = u64::from(offset(name)).into();
        unit.request.write.next = true;
        unit.request.data.next = value.into();
        unit.request.mask.next = mask.into();
        settle(unit);
    };
    write(&mut unit, "CP_SELECT", 0xfd, 0xffff_ffff);
    tick!(unit);
    assert_eq!(unit.hardware.select.val().to_u64(), 5);
    write(&mut unit, "CP_DATA", 0xaaaa_aaaa, 0x00ff_0000);
    assert!(unit.hardware.data_write.val() && !unit.hardware.execute.val());
    assert_eq!(unit.hardware.value.val().to_u64(), 0x12aa_5678);
    write(&mut unit, "CP_EXECUTE", 0x13, 0xffff_ffff);
    assert!(!unit.hardware.data_write.val() && unit.hardware.execute.val());
    assert_eq!(unit.hardware.value.val().to_u64(), 0x13);
    write(&mut unit, "CP_STEP", 0x84_2110, 0xffff_ffff);
    tick!(unit);
    unit.request.write.next = false;
    settle(&mut unit);
    let bits = |unit: &DebugRegisters| {
        [unit.hardware.stop.val(), unit.hardware.resume.val(), unit.hardware.step.val()].map(|b| b.to_u64())
    };
    assert_eq!(bits(&unit), [0x84, 0x21, 0x10]);
    assert!(!unit.hardware.execute.val());
    tick!(unit);
    assert_eq!(bits(&unit), [0; 3]);
    for (name, value) in [("CP_DATA", 0x1234_5678), ("CP_PC", 0x1_0040), ("CP_SELECT", 5), ("CP_EXECUTE", 0)]
    {
        unit.request.address.next = u64::from(offset(name)).into();
        settle(&mut unit);
        assert!(unit.answer.known.val(), "{name}");
        assert_eq!(unit.answer.value.val().to_u64(), value, "{name}");
    }
    assert_eq!(DebugControl::REGISTERS.len(), 5);
}

#[test]
fn packet_ports_keep_what_was_written() {
    let check = |unit: &PortControlRegisters, of: &dyn Fn(&str) -> u64| {
        assert_eq!(u64::from(unit.hardware.enable.val()), of("PORTS"));
    };
    keeps_what_was_written!(PortControlRegisters, PortControl, check);
}

/// Bit 1 of PORTS is kept here, bit 0 by the block above: an array with both has one register.
#[test]
fn bits_of_a_register_of_two_blocks() {
    let (mut enable, mut drops) = (PortControlRegisters::default(), PortDropRegisters::default());
    reset!(enable);
    reset!(drops);
    let mut random = random();
    let mut model = 0;
    for _ in 0..2_000 {
        let (data, mask, write) = (random.gen_range(0..8u64), random.gen_range(0..8u64), random.gen());
        for request in [&mut enable.request, &mut drops.request] {
            request.address.next = u64::from(offset("PORTS")).into();
            request.write.next = write;
            request.data.next = data.into();
            request.mask.next = mask.into();
        }
        settle(&mut enable);
        settle(&mut drops);
        assert!(enable.answer.known.val() && drops.answer.known.val());
        assert_eq!(enable.answer.value.val().to_u64() | drops.answer.value.val().to_u64(), model);
        assert_eq!(drops.answer.value.val().to_u64() & 1, 0);
        assert_eq!((enable.hardware.enable.val(), drops.hardware.drop.val()), (model & 1 != 0, model > 1));
        if write {
            model = (model & !mask | data & mask) & 3;
        }
        tick!(enable);
        tick!(drops);
    }
    drops.hardware.dropped_full.next = 0xdead_beef_u64.into();
    drops.request.address.next = u64::from(offset("PORTS_DROPPED_FULL")).into();
    settle(&mut drops);
    assert_eq!(drops.answer.value.val().to_u64(), 0xdead_beef);
}

#[test]
fn every_register_of_the_packet_ports_is_at_its_offset() {
    let mut random = random();
    let (mut control, mut counters) = (PortControlRegisters::default(), PortCounterRegisters::default());
    reset!(control);
    control.hardware.busy.next = true;
    let model = PortCounterValues::read(|_| Ok::<_, ()>(random.gen())).unwrap();
    model.drive(&mut counters.hardware);
    for register in REGISTERS {
        control.request.address.next = u64::from(register.offset).into();
        settle(&mut control);
        let expected = u64::from(register.name == "PORTS_BUSY");
        assert_eq!(control.answer.value.val().to_u64(), expected, "{}", register.name);
    }
    let found = PortCounterValues::read(|register| {
        counters.request.address.next = u64::from(register.offset).into();
        settle(&mut counters);
        Ok::<_, ()>(counters.answer.value.val().to_u64() as u32)
    });
    assert_eq!(found, Ok(model));
    control.hardware.busy.next = false;
    control.request.address.next = u64::from(offset("PORTS_BUSY")).into();
    settle(&mut control);
    assert_eq!(control.answer.value.val().to_u64(), 0);
}

/// Random counters of three cores, read by the values of the block, which go by the table.
macro_rules! shows_the_selected_core {
    ($unit:ident, $group:ident, $values:ident) => {{
        let mut random = random();
        let mut unit = $unit::new(3);
        for case in 0..1_000 {
            let counters = [(); 3].map(|()| $values::read(|_| Ok::<_, ()>(random.gen())).unwrap());
            for (values, ports) in counters.iter().zip(&mut unit.hardware) {
                values.drive(ports);
            }
            let select = random.gen_range(0..5usize);
            unit.select.next = (select as u64).into();
            let found = $values::read(|register| {
                unit.request.address.next = u64::from(register.offset).into();
                settle(&mut unit);
                assert!(unit.answer.known.val(), "{}", register.name);
                Ok::<_, ()>(unit.answer.value.val().to_u64() as u32)
            });
            assert_eq!(found.unwrap(), counters.get(select).copied().unwrap_or_default(), "case {case}");
            let register = &REGISTERS[random.gen_range(0..REGISTERS.len())];
            unit.request.address.next = u64::from(register.offset).into();
            settle(&mut unit);
            let ours = $group::REGISTERS.iter().any(|r| r.name == register.name);
            assert_eq!(unit.answer.known.val(), ours, "case {case}: {}", register.name);
            assert!(ours || unit.answer.value.val().to_u64() == 0, "case {case}: {}", register.name);
        }
        assert_eq!($values::default().named().len(), $group::REGISTERS.len());
    }};
}

#[test]
fn core_counters_show_the_selected_core() {
    shows_the_selected_core!(CoreCounterRegisters, CoreCounters, CoreCounterValues);
}

#[test]
fn lost_cycles_show_the_selected_core() {
    shows_the_selected_core!(LostCycleRegisters, LostCycleCounters, LostCycleValues);
}

#[test]
fn l2_counters_show_the_selected_core() {
    shows_the_selected_core!(L2CounterRegisters, L2Counters, L2CounterValues);
}
