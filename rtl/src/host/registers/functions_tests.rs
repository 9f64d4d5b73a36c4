//! Tests of the registers of network functions.

use super::*;
use crate::host::registers::{offset, registers_of};
use crate::testing::{random, reset, settle, tick};
use rand::Rng;

/// Words of the contexts: masked writes reach the hardware in the cycle of the access, but those of
/// NF 0; reads show what the hardware has, in the bits that the register has.
#[test]
fn words_of_contexts_are_the_hardwares() {
    let config = Config { network_functions: 4, ..Config::preset("default").unwrap() };
    let registers = registers_of(&config);
    let mut random = random();
    let mut unit = FunctionRegisters::new(&config);
    reset!(unit);
    let mut select = 0;
    let mut first_flags = 0x1c;
    for cycle in 0..10_000 {
        let register = registers[random.gen_range(0..registers.len())];
        let (write, data): (bool, u32) = (random.gen(), random.gen());
        let (mask, value): (u32, u32) = (random.gen(), random.gen());
        unit.request.address.next = u64::from(register.offset).into();
        unit.request.write.next = write;
        unit.request.read.next = !write;
        unit.request.data.next = u64::from(data).into();
        unit.request.mask.next = u64::from(mask).into();
        unit.hardware.context.value.next = u64::from(value).into();
        settle(&mut unit);
        let context = &unit.hardware.context;
        let is_word = (offset("NF_ENTRY")..=offset("NF_MCW")).contains(&register.offset);
        assert_eq!(context.write.val(), is_word && write && select > 0, "cycle {cycle}");
        let is_known = register.part == Part::NetworkFunctions || register.name == "FAULT_INFO";
        assert_eq!(unit.answer.known.val(), is_known, "cycle {cycle}");
        let first = &unit.hardware.first_guards;
        let guards =
            [&first.guarded, &first.may_load, &first.may_store, &first.may_reserve, &first.keeps_verdict];
        let shown = (1..).zip(guards).map(|(bit, guard)| u32::from(guard.val()) << bit).sum::<u32>();
        assert_eq!(shown, first_flags, "cycle {cycle}");
        if is_word {
            let word = (register.offset - offset("NF_ENTRY")) / 4;
            assert_eq!(context.word.val().to_u64(), u64::from(word), "cycle {cycle}");
            assert_eq!(context.function.val().to_u64(), select, "cycle {cycle}");
            assert_eq!(context.data.val().to_u64() as u32, data, "cycle {cycle}");
            assert_eq!(context.mask.val().to_u64() as u32, mask, "cycle {cycle}");
            let kept = (1u64 << register.bits) as u32;
            let shown = match select {
                0 if register.name == "NF_FLAGS" => first_flags,
                0 => 0,
                _ => value & kept.wrapping_sub(1),
            };
            assert_eq!(unit.answer.value.val().to_u64() as u32, shown, "cycle {cycle}");
        }
        if write && register.name == "NF_FLAGS" && select == 0 {
            first_flags = (first_flags & !mask | data & mask) & 0x3e;
        }
        if write && register.name == "NF_SELECT" {
            select = u64::from(select as u32 & !mask | data & mask) % 8;
        }
        tick!(unit);
    }
}

/// Links lead to higher functions that the array has, whatever is written.
#[test]
fn links_make_no_loop() {
    for functions in [2, 4, 8u64] {
        let plain = Config::preset("default").unwrap();
        let mut unit = FunctionRegisters::new(&Config { network_functions: functions as usize, ..plain });
        reset!(unit);
        let access = |unit: &mut FunctionRegisters, name: &str, write: bool, data: u64| {
            unit.request.address.next = u64::from(offset(name)).into();
            unit.request.write.next = write;
            unit.request.mask.next = 0xffff_ffffu64.into();
            unit.request.data.next = data.into();
            settle(unit);
            let value = unit.answer.value.val().to_u64();
            tick!(*unit);
            unit.request.write.next = false;
            settle(unit);
            value
        };
        for from in 0..8 {
            access(&mut unit, "NF_SELECT", true, from);
            for value in 0..16 {
                access(&mut unit, "NF_NEXT", true, value);
                let to = value & 7;
                let is_link = value > 7 && to > from && to < functions;
                let kept = access(&mut unit, "NF_NEXT", false, 0);
                assert_eq!(kept, if is_link { value } else { 0 }, "{from} to {value} of {functions}");
                let goes_on = unit.hardware.chain.goes_on.val().get_bit(from as usize);
                assert_eq!(goes_on, is_link);
                if is_link {
                    let next = unit.hardware.chain.targets.val().to_u64() >> (3 * from) & 7;
                    assert_eq!(next, to, "{from} to {to} of {functions}");
                }
            }
        }
        // A write of the upper half word alone keeps the link.
        access(&mut unit, "NF_SELECT", true, 0);
        access(&mut unit, "NF_NEXT", true, 9);
        unit.request.address.next = u64::from(offset("NF_NEXT")).into();
        unit.request.write.next = true;
        unit.request.mask.next = 0xffff_0000u64.into();
        unit.request.data.next = 0u64.into();
        settle(&mut unit);
        tick!(unit);
        unit.request.write.next = false;
        assert_eq!(access(&mut unit, "NF_NEXT", false, 0), 9, "{functions}");
    }
}
