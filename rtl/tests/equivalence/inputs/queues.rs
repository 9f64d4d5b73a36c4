//! Inputs of the command queues: entries are written before they are looked at.

use super::Random;
use hermes_hdl::prelude::*;
use hermes_rtl::queues::*;

/// Line address of the rings, and the size of the area of a hart.
const BASE: u64 = 0x4_0000;
const AREA_LOG2: u64 = 15;

/// Line address of an entry.
fn entry(queue: usize, index: u32) -> u64 {
    BASE + ((queue as u64 / 2) << (AREA_LOG2 - 6)) + (queue as u64 % 2) * 64 + u64::from(index % 64)
}

pub fn look_list(unit: &mut LookList, random: Random, cycle: u64) {
    unit.add.next = cycle > 300 && random() % 4 == 0;
    unit.pop_ready.next = !unit.add.val() && random() % 2 == 0;
}

pub fn queue_step(unit: &mut QueueStep, random: Random, _: u64) {
    // Rows and events that have to do with each other
    unit.row.next.buffer = bits(random() % 2);
    unit.row.next.under_way = bits(random() % 9);
    unit.current_event.next.buffer = bits(random() % 2);
}

pub fn command_queues(unit: &mut CommandQueues, random: Random, cycle: u64) {
    unit.control.base.next = bits(BASE);
    unit.control.area_log2.next = bits(AREA_LOG2);
    unit.control.enable.next = cycle > 300;
    unit.control.switch_queue.next = bits(random() % 5);
    unit.control.switch_valid.next = random() % 4 == 0;
    unit.control.show_queue.next = bits(random() % 4);
    unit.stage.event.next.queue = bits(random() % 4);
    unit.stage.event_valid.next = random() % 8 == 0;
    unit.completed.next.queue = bits(random() % 4);
    unit.completed_valid.next = unit.completed_ready.val() && random() % 8 == 0;
    unit.response_valid.next = random() % 16 == 0;
    for tap in &mut unit.tap {
        // Every entry is written before one is looked at.
        let all = cycle > 300 && cycle < 600;
        tap.valid.next = !tap.hold.val() && (all || cycle > 600 && random() % 4 == 0);
        tap.line.next = bits(match all {
            true => entry(cycle as usize / 64 % 4, cycle as u32 % 64),
            false => entry(random() as usize % 4, random() as u32 % 4),
        });
    }
}

pub fn stage_buffers(unit: &mut StageBuffers, random: Random, cycle: u64) {
    // Every buffer is filled before it is read.
    unit.stage.fill.next = cycle < 32 || random() % 8 == 0;
    unit.stage.fill_buffer.next = bits(if cycle < 32 { cycle % 16 } else { random() % 4 });
    unit.stage.claim.next = unit.stage.free.val() && random() % 2 == 0;
    unit.stage.staged.next.buffer = bits(random() % 4);
    unit.stage.discard_buffer.next = bits(random() % 4);
    unit.stage.discard.next = random() % 8 == 0;
    unit.stage.drop_buffer.next = bits(random() % 4);
    unit.stage.drop.next = random() % 16 == 0;
    unit.hart.next = bits(random() % 2);
    unit.hold.next = bits(if random() % 8 == 0 { random() % 4 } else { 0 });
    unit.take.next = unit.here.val() && random() % 2 == 0;
}

pub fn queue_watch(unit: &mut QueueWatch, random: Random, _: u64) {
    unit.base.next = bits(0x10_0000);
    unit.area_log2.next = bits(19);
    for tap in &mut unit.tap {
        tap.valid.next = !tap.hold.val() && random() % 2 == 0;
        tap.line.next = bits(0x10_0000 + random() % 0x4000);
    }
}
