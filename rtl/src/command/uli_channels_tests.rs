//! The channels of a hart against their rules, and the ranges that parameters name.

use super::*;
use crate::testing::{random, reset, settle, tick};
use rand::Rng;

/// A channel as the rules say it.
#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    scenario: u64,
    context: u64,
    handler: u64,
    parameter: u64,
    pending: bool,
    /// The cycle from which on events count.
    from: u64,
}

/// Events, arming, delivery, CSR writes at random, several in a cycle, against the rules, with
/// every number of channels.
#[test]
fn follows_the_rules() {
    for count in [1, 2, 4, 8] {
        follows_the_rules_with(count);
    }
}

fn follows_the_rules_with(count: usize) {
    let mut random = random();
    let mut unit = UliChannels::new(count, true);
    reset!(unit);
    let mut channels = vec![Channel::default(); count];
    let (mut block, mut before, mut context, mut pc, mut cause) = (false, false, 0u64, None, None);
    let (mut deliveries, mut refusals, mut dropped, mut kept) = (0, 0, 0, 0);
    for cycle in 0..15_000u64 {
        let hold = random.gen_bool(0.001);
        let arm = random.gen_bool(0.05);
        let channel = random.gen_range(0..count);
        let scenario = [0, 1, 2, 3, 11][random.gen_range(0..5)];
        let (handler, parameter) = (random.gen_range(0..1u64 << 30), u64::from(random.gen::<u32>()));
        let parameter = if scenario == 1 { parameter & !3 } else { parameter };
        unit.hold.next = hold;
        unit.arm_valid.next = arm;
        unit.arm_channel.next = (channel as u64).into();
        unit.arm_scenario.next = scenario.into();
        unit.arm_handler.next = handler.into();
        unit.arm_parameter.next = parameter.into();
        unit.ask_channel.next = (channel as u64).into();
        let events: Vec<bool> = (0..count).map(|_| random.gen_bool(0.05)).collect();
        for (port, event) in unit.event.iter_mut().zip(&events) {
            port.next = *event;
        }
        let sparse =
            |random: &mut rand_chacha::ChaCha8Rng| (0..5).fold(u32::MAX, |m, _| m & random.gen::<u32>());
        let (freed, raised) = (u64::from(sparse(&mut random) & 0xffff), u64::from(sparse(&mut random)));
        unit.freed.next = freed.into();
        unit.raised.next = raised.into();
        let staged = random.gen_bool(0.05);
        unit.staged.next = staged;
        // Stage W holds one instruction.
        let leave = !arm && random.gen_bool(0.05);
        let write = !arm && !leave && random.gen_bool(0.05);
        let number = random.gen_range(0..5u64);
        let (set, clear) = (random.gen::<u32>(), random.gen::<u32>());
        // Contexts 0 and 1.
        let (set, clear) = if number == 1 { (set & 0x103, clear | 0xfe00) } else { (set, clear) };
        let trap_return = !arm && !leave && !write && random.gen_bool(0.05);
        unit.leave.next = leave;
        unit.trap_return.next = trap_return;
        unit.write_valid.next = write;
        unit.write_number.next = number.into();
        unit.write_set.next = u64::from(set).into();
        unit.write_clear.next = u64::from(clear).into();
        let read = [random.gen_range(0..6u64), random.gen_range(0..64u64)][random.gen_range(0..2)];
        unit.read_number.next = read.into();
        let here = random.gen_range(0..1u64 << 30);
        unit.pc.next = here.into();
        settle(&mut unit);

        // What shows
        let wants = |c: &Channel| c.scenario != 0 && c.pending && c.context == context;
        let lowest = channels.iter().position(wants);
        assert_eq!(unit.deliver.val(), lowest.is_some() && !block, "cycle {cycle}");
        assert_eq!(unit.blocked.val(), block, "cycle {cycle}");
        if let (Some(lowest), true) = (lowest, unit.deliver.val()) {
            assert_eq!(unit.handler.val().to_u64(), channels[lowest].handler, "cycle {cycle}");
        }
        assert_eq!(unit.wake.val(), channels.iter().any(|c| c.scenario != 0 && c.pending), "cycle {cycle}");
        let mask = |f: fn(&Channel) -> bool| {
            channels.iter().enumerate().fold(0, |mask, (i, c)| mask | u64::from(f(c)) << i)
        };
        let of_channel = |c: &Channel| {
            u64::from(c.scenario != 0) << 30 | u64::from(c.pending) << 29 | c.context << 16 | c.scenario << 8
        };
        let named = channels.get((read & 15) as usize).filter(|_| read >= 16);
        let shown = match read {
            0 => pc.map(|pc: u64| pc << 2),
            1 => Some(u64::from(block) | u64::from(before) << 1 | context << 8),
            2 => Some(mask(|c| c.pending)),
            3 => Some(mask(|c| c.scenario != 0)),
            4 => cause,
            _ => Some(named.map_or(0, |c| match read >> 4 {
                1 => c.handler << 2,
                2 => c.parameter,
                _ => of_channel(c),
            })),
        };
        if let Some(value) = shown {
            assert_eq!(unit.read_value.val().to_u64(), value, "cycle {cycle}, CSR {:#x}", 0x800 + read);
        }
        let c = channels[channel];
        let refused = c.scenario != 0 && c.context != context;
        let status = u64::from(refused) << 31 | of_channel(&c);
        assert_eq!(unit.ask_status.val().to_u64(), status, "cycle {cycle}");

        // What changes
        let changes = arm || leave || write || trap_return;
        let take = unit.deliver.val() && !changes && random.gen_bool(0.5);
        unit.take.next = take;
        let trap = !changes && !take && random.gen_bool(0.03);
        unit.trap.next = trap;
        settle(&mut unit);
        for (i, c) in channels.iter_mut().enumerate() {
            let fires = match c.scenario {
                1 => events[i],
                2 => freed & c.parameter & 0xffff != 0,
                3 => raised & c.parameter != 0,
                11 => staged,
                _ => false,
            };
            if fires && cycle < c.from {
                dropped += 1;
            }
            if take && lowest == Some(i) {
                c.pending = false;
                kept += usize::from(fires);
            }
            if write && number == 2 && clear >> i & 1 == 1 {
                c.pending = false;
            }
            if fires && cycle >= c.from || write && number == 2 && set >> i & 1 == 1 {
                c.pending = true;
            }
        }
        if arm {
            refusals += usize::from(refused);
            if !refused {
                channels[channel] =
                    Channel { scenario, context, handler, parameter, pending: false, from: cycle + 3 };
            }
        }
        if write {
            match number {
                0 => pc = pc.map(|pc| (pc & !u64::from(clear >> 2)) | u64::from(set >> 2)),
                1 => {
                    block = block && clear & 1 == 0 || set & 1 == 1;
                    before = before && clear & 2 == 0 || set & 2 == 2;
                    context = (context & !u64::from(clear >> 8 & 0xff)) | u64::from(set >> 8 & 0xff);
                }
                4 => cause = cause.map(|old| ((old & !u64::from(clear)) | u64::from(set)) & 0xf1f),
                _ => {}
            }
        }
        if leave {
            block = false;
        }
        if trap_return {
            block = before;
        }
        if trap {
            (before, block) = (block, true);
        }
        if take {
            deliveries += 1;
            block = true;
            pc = Some(here);
            cause = lowest.map(|i| i as u64 | channels[i].scenario << 8);
        }
        if hold {
            (block, before, context) = (false, false, 0);
            for c in &mut channels {
                (c.scenario, c.pending) = (0, false);
            }
        }
        tick!(unit);
    }
    assert!(
        deliveries > 100 && refusals > 20 && dropped > 5 && kept > 1,
        "{count} channels: {deliveries} {refusals} {dropped} {kept}"
    );
}

/// The bytes that parameters name, as the monitors see them two cycles after the channel is
/// armed.
#[test]
fn parameters_are_ranges() {
    let mut unit = UliChannels::new(1, false);
    reset!(unit);
    for (parameter, first, bytes) in [
        (0x1234u64, 0x1234u64, 4u64),
        (0x1230 | 3, 0x1230, 8),
        (0x1230 | 7, 0x1230, 16),
        (0x1200 | 0x1f, 0x1200, 64),
        (0x1000 | 0x3f, 0x1000, 128),
        (0x4000 | 0x1fff, 0x4000, 0x4000),
        (0x7fff_ffff, 0, 1 << 32),
    ] {
        unit.arm_valid.next = true;
        unit.arm_scenario.next = 1.into();
        unit.arm_parameter.next = parameter.into();
        tick!(unit);
        unit.arm_valid.next = false;
        tick!(unit);
        settle(&mut unit);
        let watched = &unit.watched[0];
        assert!(watched.valid.val());
        for address in (0..0x9000u64).step_by(4).chain([0xffff_fffc]) {
            let line = (address >> 6 ^ watched.line.val().to_u64()) & watched.lines.val().to_u64() == 0;
            let word = watched.words.val().get_bit((address >> 2 & 15) as usize);
            let inside = (first..first + bytes).contains(&address);
            assert_eq!(line && word, inside, "parameter {parameter:#x}, address {address:#x}");
        }
        // Disarmed.
        unit.arm_valid.next = true;
        unit.arm_scenario.next = 0.into();
        tick!(unit);
        unit.arm_valid.next = false;
        tick!(unit);
        settle(&mut unit);
        assert!(!unit.watched[0].valid.val());
    }
}
