//! Mailboxes, console and interrupts against a model, with both masters and events in any cycle.

use super::*;
use crate::host::registers::offset;
use crate::testing::{random, reset, settle, tick};
use rand::Rng;
use std::collections::VecDeque;

const HARTS: usize = 2;
/// Bits of CP_IRQ_PENDING and HOST_IRQ_PENDING that have an event.
const COMMAND_BITS: u32 = 0xffff_00bd;
const HOST_BITS: u32 = 0x37f;

/// What the registers hold at the beginning of a cycle.
#[derive(Default)]
struct Model {
    pending: u32,
    host_pending: u32,
    host_enable: u32,
    enable: [u32; HARTS],
    words: [u32; 8],
    full: [bool; 2],
    output: VecDeque<(u64, u8)>,
    input: VecDeque<(u64, u8)>,
    dropped: u32,
    watermark: u32,
    reached: bool,
    fires: bool,
    watermark_written: bool,
    backlog: [u32; 2],
    faults: u32,
    errors: u32,
    stopped: u32,
    locked_up: u32,
    /// CP_DOORBELL, written in the cycle before.
    rung: u32,
    events: u32,
}

/// The oldest byte, if it has been there for two cycles.
fn oldest(queue: &VecDeque<(u64, u8)>, cycle: u64) -> u32 {
    queue.front().filter(|(since, _)| since + 2 <= cycle).map_or(0x8000_0000, |&(_, byte)| byte.into())
}

impl Model {
    fn read(&self, name: &str, by_command: bool, cycle: u64) -> u32 {
        let free = |queue: &VecDeque<_>, size: usize| (size - queue.len()) as u32;
        match name {
            "CP_IRQ_PENDING" => self.pending,
            "COMMIT_WATERMARK" => self.watermark,
            "BACKLOG" => self.backlog[1],
            "CP_IRQ_ENABLE_0" => self.enable[0],
            "CP_IRQ_ENABLE_1" => self.enable[1],
            "HOST_IRQ_PENDING" => self.host_pending,
            "HOST_IRQ_ENABLE" => self.host_enable,
            "CONSOLE" if by_command => free(&self.output, 64) | self.dropped << 16,
            "CONSOLE" => oldest(&self.output, cycle),
            "CONSOLE_IN" if by_command => oldest(&self.input, cycle),
            "CONSOLE_IN" => free(&self.input, 16),
            _ if name.starts_with("MAILBOX") => {
                self.words[(offset(name) - offset("MAILBOX_IN_0")) as usize / 4]
            }
            _ => 0,
        }
    }
}

#[test]
fn follows_the_model() {
    let mut random = random();
    let mut unit = HostLinkRegisters::new(HARTS);
    reset!(unit);
    let mut model = Model { reached: true, ..Model::default() };
    let mut committed = 0u32;
    let (mut stopped, mut locked_up, mut errors) = (0u32, 0u32, 0u32);
    let mut seen = [0; 7];
    for cycle in 0..60_000 {
        // The inputs of the cycle. Phases in which more is written than read, and the other way
        // round.
        let registers: Vec<&str> = HostLink::REGISTERS.iter().map(|r| r.name).collect();
        let favourites = ["CONSOLE", "CONSOLE_IN", "MAILBOX_IN_0", "MAILBOX_OUT_0"];
        let name = match random.gen_range(0..4) {
            0 => "CONSOLE",
            1 => favourites[random.gen_range(0..favourites.len())],
            _ => registers[random.gen_range(0..registers.len())],
        };
        let by_command = random.gen::<bool>();
        let write = random.gen_bool(if cycle / 500 % 2 == 0 { 0.8 } else { 0.2 });
        let read = !write && random.gen_bool(0.8);
        let mut data = random.gen::<u32>();
        let mask = if by_command || random.gen_bool(0.7) { u32::MAX } else { 0xff00_00ff };
        if name == "CONSOLE_IN" && random.gen_bool(0.9) {
            data &= !(1 << 31);
        }
        if name == "COMMIT_WATERMARK" {
            data = committed.wrapping_add(random.gen_range(0..200)).wrapping_sub(20);
        }
        let fault = random.gen_bool(0.05);
        let slot_freed = random.gen_bool(0.05);
        let (push, issue) = (random.gen_bool(0.2), random.gen_bool(0.2));
        let (push_count, issue_count) = (random.gen::<u32>(), random.gen_range(0..33u32));
        if random.gen_bool(0.05) {
            stopped = random.gen_range(0..4);
            locked_up = random.gen_range(0..4);
        }
        if random.gen_bool(0.05) {
            errors = random.gen_range(0..16);
        }
        committed = committed.wrapping_add(random.gen_range(0..5u32) / 4 * 16);
        unit.request.address.next = u64::from(offset(name)).into();
        unit.request.read.next = read;
        unit.request.write.next = write;
        unit.request.data.next = u64::from(data).into();
        unit.request.mask.next = u64::from(mask).into();
        let array = &mut unit.hardware;
        array.by_command.next = by_command;
        array.fault.next = fault;
        array.slot_freed.next = slot_freed;
        array.spawn_errors.next = u64::from(errors).into();
        array.push.next = push;
        array.push_count.next = u64::from(push_count).into();
        array.issue.next = issue;
        array.issue_count.next = u64::from(issue_count).into();
        array.committed.next = u64::from(committed).into();
        array.stopped.next = u64::from(stopped).into();
        array.locked_up.next = u64::from(locked_up).into();
        settle(&mut unit);

        // What shows in this cycle
        assert!(unit.answer.known.val(), "cycle {cycle}: {name}");
        let shown = [unit.hardware.mailbox_in_full.val(), unit.hardware.mailbox_out_full.val()];
        assert_eq!(shown, model.full, "cycle {cycle}");
        let value = unit.answer.value.val().to_u64() as u32;
        assert_eq!(value, model.read(name, by_command, cycle), "cycle {cycle}: {name}, {by_command}");
        let external =
            (0..HARTS).filter(|&h| model.pending & model.enable[h] != 0).map(|h| 1 << h).sum::<u64>();
        assert_eq!(unit.hardware.external.val().to_u64(), external, "cycle {cycle}");
        assert_eq!(unit.hardware.irq.val(), model.host_pending & model.host_enable != 0, "cycle {cycle}");
        assert_eq!(unit.hardware.events.val().to_u64() as u32, model.events, "cycle {cycle}");
        assert_eq!(unit.hardware.doorbell.val().to_u64() as u32, model.rung & 0xff, "cycle {cycle}");

        // What happens at its end
        let value = data & mask;
        let kept = |old: u32| old & !mask | value;
        let (mut set, mut host_set) = (model.rung & 0xffff_0000, 0);
        let (mut clear, mut host_clear) = (0, 0);
        let mut event = |happens: bool, bit: u32, host_bit: u32| {
            set |= u32::from(happens) << bit;
            host_set |= u32::from(happens) << host_bit;
        };
        // 1 of CP_IRQ_PENDING and 7 of HOST_IRQ_PENDING: for events of the other one alone
        event(model.faults >> 3 & 1 == 1, 0, 1);
        event(slot_freed, 2, 7);
        event(model.errors != errors, 3, 5);
        event(model.fires, 5, 4);
        event(stopped & !model.stopped != 0, 1, 8);
        event(locked_up & !model.locked_up != 0, 1, 2);
        seen[0] += usize::from(model.fires);
        model.faults = model.faults << 1 | u32::from(fault);
        (model.errors, model.stopped, model.locked_up) = (errors, stopped, locked_up);
        let reached = committed.wrapping_sub(model.watermark) as i32 >= 0;
        model.fires = reached && (!model.reached || model.watermark_written);
        model.reached = reached;
        model.watermark_written = write && name == "COMMIT_WATERMARK";
        model.rung = 0;
        if write {
            match name {
                "CP_DOORBELL" => model.rung = value,
                "CP_IRQ_PENDING" => clear = value,
                "HOST_IRQ_PENDING" => host_clear = value,
                "COMMIT_WATERMARK" => model.watermark = kept(model.watermark),
                "CP_IRQ_ENABLE_0" => model.enable[0] = kept(model.enable[0]) & COMMAND_BITS,
                "CP_IRQ_ENABLE_1" => model.enable[1] = kept(model.enable[1]) & COMMAND_BITS,
                "HOST_IRQ_ENABLE" => model.host_enable = kept(model.host_enable) & HOST_BITS,
                "HOST_IRQ_RAISE" if by_command => host_set |= value & 0x41,
                "CONSOLE" if by_command && model.output.len() == 64 => {
                    model.dropped = (model.dropped + 1) & 0xffff;
                    seen[1] += 1;
                }
                "CONSOLE" if by_command => {
                    model.output.push_back((cycle, value as u8));
                    host_set |= 1 << 9;
                }
                "CONSOLE_IN" if !by_command && value >> 31 == 1 => {
                    let there = oldest(&model.input, cycle) < 256;
                    model.input.drain(..usize::from(there));
                    seen[6] += usize::from(there);
                }
                "CONSOLE_IN" if !by_command && model.input.len() == 16 => seen[2] += 1,
                "CONSOLE_IN" if !by_command => {
                    model.input.push_back((cycle, value as u8));
                    set |= 1 << 7;
                }
                _ if name.starts_with("MAILBOX") => {
                    let word = (offset(name) - offset("MAILBOX_IN_0")) as usize / 4;
                    let out = word / 4;
                    if by_command == (out == 1) && !model.full[out] {
                        model.words[word] = kept(model.words[word]);
                        if word % 4 == 0 {
                            model.full[out] = true;
                            set |= u32::from(out == 0) << 4;
                            host_set |= u32::from(out == 1) << 3;
                            seen[3 + out] += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        if read && name == "CONSOLE" && !by_command && oldest(&model.output, cycle) < 256 {
            model.output.pop_front();
        }
        if read && name == "CONSOLE_IN" && by_command && oldest(&model.input, cycle) < 256 {
            model.input.pop_front();
            seen[5] += 1;
        }
        model.full[0] &= clear >> 4 & 1 == 0;
        model.full[1] &= host_clear >> 3 & 1 == 0;
        model.events = set & COMMAND_BITS;
        model.pending = model.pending & !clear | model.events;
        model.host_pending = model.host_pending & !host_clear | host_set & HOST_BITS;
        model.backlog[1] = model.backlog[0];
        let issued = if issue { issue_count } else { 0 };
        let pushed = if push { push_count } else { 0 };
        model.backlog[0] = model.backlog[0].wrapping_add(pushed).wrapping_sub(issued);
        tick!(unit);
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}

/// After reset nothing is pending, although the watermark 0 is reached; a watermark that is reached
/// when it is written counts.
#[test]
fn a_watermark_is_reached_once() {
    let mut unit = HostLinkRegisters::new(1);
    reset!(unit);
    let mut events = |committed: u64, watermark: Option<u64>| {
        unit.hardware.committed.next = committed.into();
        unit.request.address.next = u64::from(offset("COMMIT_WATERMARK")).into();
        unit.request.write.next = watermark.is_some();
        unit.request.data.next = watermark.unwrap_or(0).into();
        unit.request.mask.next = 0xffff_ffffu64.into();
        (0..6).fold(0, |count, _| {
            tick!(unit);
            unit.request.write.next = false;
            count + u32::from(unit.hardware.events.val().get_bit(5))
        })
    };
    assert_eq!(events(0, None), 0);
    assert_eq!(events(7, None), 0);
    assert_eq!(events(7, Some(7)), 1);
    assert_eq!(events(7, Some(3)), 1);
    assert_eq!(events(7, Some(10)), 0);
    assert_eq!(events(9, None), 0);
    assert_eq!(events(12, None), 1);
    assert_eq!(events(40, None), 0);
    assert_eq!(events(40, Some(0xffff_fff0)), 1, "behind by 56");
}
