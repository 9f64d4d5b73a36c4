//! Inputs that keep the control units busy and within their contracts.

use super::Random;
use hermes_rtl::control::*;

/// A number below `limit` from 64 random bits.
pub fn below(random: Random, limit: u64) -> u64 {
    random() % limit
}

/// Traffic of several densities and pauses, and bounds that the time-out is seldom at.
pub fn adaptive_timeout() -> impl FnMut(&mut AdaptiveTimeout, Random, u64) {
    let mut warps = 0;
    move |unit, random, cycle| {
        unit.reset.next = cycle < 2 || cycle % 5_000 == 0;
        unit.arrive.next = below(random, 1 + cycle / 500 % 4 * 8) == 0 && cycle % 800 > 90;
        let count = if below(random, 200) == 0 { random() & 0xffff_ffff } else { below(random, 6) };
        unit.packets.next = count.into();
        unit.registers.adaptive.next = below(random, 16) != 0;
        unit.registers.factor.next = (cycle / 300 % 20).into();
        unit.registers.eager.next = (cycle / 200 % 30).into();
        unit.registers.min.next = below(random, 16).into();
        unit.registers.max.next = below(random, 1_024).into();
        unit.fixed.next = (random() >> (54 + cycle / 100 % 10)).into();
        unit.finished.next = warps > 0 && below(random, 3) == 0;
        unit.issued.next = warps < 96 && below(random, 3) == 0;
        warps += i32::from(unit.issued.next) - i32::from(unit.finished.next);
        if unit.reset.next {
            warps = 0;
        }
    }
}

pub fn warp_former(unit: &mut WarpFormer, random: Random, cycle: u64) {
    if let Some(log2) = unit.ring_slots_log2.get_mut() {
        log2.next = (cycle / 1_000 % 6).into();
    }
    // Short time-outs, and now and then a long one that packets without companions wait for.
    let long = cycle / 250 % 4 == 3;
    let quiet = cycle / 100 % 3 == 0;
    let one_in = match (long, quiet) {
        (true, _) => 150,
        (_, true) => 20,
        _ => 2,
    };
    unit.task.valid.next = below(random, one_in) == 0;
    let count = if below(random, 500) == 0 { 0xffff_ffff } else { below(random, 9) };
    unit.task.count.next = count.into();
    unit.control.timeout.next = if long { 140 } else { cycle / 1_000 * 3 }.into();
    if long {
        unit.control.eager.next = false;
    }
    unit.control.run.next = below(random, 20) != 0;
    unit.idle_slot.next = below(random, 8) == 0;
    unit.reset.next = cycle < 2 || cycle % 300 == 0;
}

pub fn warp_issue() -> impl FnMut(&mut WarpIssue, Random, u64) {
    let mut busy = [[false; 32]; 3];
    move |unit, random, cycle| {
        if unit.reset.next {
            busy = [[false; 32]; 3];
        } else if unit.start_any.val() {
            busy[unit.start_core.val().index()][unit.start.slot.val().index()] = true;
        }
        let (core, slot) = (below(random, 3), below(random, 20));
        // The cores fill up to the last slot of the class for some time, then they have room.
        let filling = cycle / 150 % 2 == 0;
        if cycle / 300 % 2 == 0 && filling {
            unit.control.kernel_class.next = true;
            unit.warp.valid.next = true;
            unit.allocate.ready.next = true;
        }
        let chosen = &mut busy[core as usize][slot as usize];
        let free = *chosen && (!filling || below(random, 16) == 0);
        unit.free.valid.next = free;
        *chosen &= !free;
        if cycle / 300 % 3 != 2 {
            unit.control.mcw.next = 63.into();
            unit.control.run.next = true;
        }
        unit.free.core.next = core.into();
        unit.free.slot.next = slot.into();
    }
}

/// As [`warp_issue`], with cores that change hands and warps that wait for some time.
pub fn warp_issue_with_functions() -> impl FnMut(&mut WarpIssue, Random, u64) {
    let mut inputs = warp_issue();
    move |unit, random, cycle| {
        inputs(unit, random, cycle);
        for (i, core) in unit.function_core.iter_mut().enumerate() {
            core.open.next = below(random, 8) != 0;
            core.function.next = (cycle / 64 % 3 * i as u64).into();
            core.mcw.next = if cycle / 300 % 3 != 2 { 63 } else { below(random, 64) }.into();
            core.class.next = cycle / 128 % 2 == i as u64;
        }
        unit.waits.waiting.next = (random() & random() & 0xff).into();
        unit.waits.entry.next = (cycle / 512 % 3).into();
        unit.waits.room.next = below(random, 8) != 0;
    }
}

/// As [`dispatch`]; each of the cores has one of the functions for some time.
pub fn dispatch_with_functions() -> impl FnMut(&mut Dispatch<6, 7>, Random, u64) {
    let mut running = [[false; 32]; 2];
    let mut finishing = [None; 2];
    move |unit, random, cycle| {
        unit.reset.next |= cycle % 1_000 == 0;
        let starts = [unit.trace_issue.valid.val(), unit.trace_hop.valid.val()];
        if unit.reset.next {
            running = [[false; 32]; 2];
            finishing = [None; 2];
        } else {
            if starts.contains(&true) {
                running[unit.trace_issue.core.val().index()][unit.trace_issue.slot.val().index()] = true;
            }
            if unit.trace_finish.valid.val() {
                finishing[unit.trace_finish.core.val().index()] = None;
            }
        }
        for core in 0..2 {
            let slot = below(random, 32) as usize;
            if finishing[core].is_none() && running[core][slot] {
                running[core][slot] = false;
                finishing[core] = Some(slot as u64);
            }
            unit.finish[core].valid.next = finishing[core].is_some();
            unit.finish[core].slot.next = finishing[core].unwrap_or(0).into();
            unit.finished[core].survivors.next = below(random, 16).into();
            unit.function_core[core].open.next = below(random, 16) != 0;
            unit.function_core[core].function.next = ((cycle / 200 + core as u64) % 3).into();
            unit.function_core[core].mcw.next = (1 + cycle / 600 % 40).into();
        }
        unit.control.run.next = below(random, 50) != 0;
        unit.control.timeout.next = below(random, 16).into();
        unit.ring_slots_log2.next = (cycle / 500 % 8).into();
        unit.function_links.limit.next = [0, 0, 5][cycle as usize / 300 % 3].into();
        unit.function_links.entry.next = 0.into();
        unit.function_links.goes_on.next = 3.into();
        unit.function_links.targets.next = (1 | 2 << 3).into();
        unit.task.count.next = below(random, 8).into();
    }
}

pub fn delay_commit_queue() -> impl FnMut(&mut DelayCommitQueue<2>, Random, u64) {
    // Entries that are allocated and not finished; the queue of the unit is followed from outside.
    let mut open: Vec<u64> = vec![];
    let mut allocating = None;
    move |unit, random, _| {
        if unit.reset.next {
            open.clear();
            allocating = None;
        }
        // The tail moved if the last allocation was taken.
        if let Some(index) = allocating.take() {
            if unit.allocate_index.val().to_u64() != index {
                open.push(index);
            }
        }
        let finish = !open.is_empty() && below(random, 2) == 0;
        unit.done_valid.next = finish;
        if finish {
            let chosen = below(random, open.len() as u64) as usize;
            unit.done_index.next = open.swap_remove(chosen).into();
        }
        if unit.allocate.valid.next && !unit.reset.next {
            allocating = Some(unit.allocate_index.val().to_u64());
        }
    }
}

pub fn dispatch() -> impl FnMut(&mut Dispatch<6, 7>, Random, u64) {
    let mut running = [[false; 32]; 2];
    let mut finishing = [None; 2];
    move |unit, random, cycle| {
        unit.reset.next |= cycle % 500 == 0;
        if unit.reset.next {
            running = [[false; 32]; 2];
            finishing = [None; 2];
        } else {
            if unit.trace_issue.valid.val() {
                running[unit.trace_issue.core.val().index()][unit.trace_issue.slot.val().index()] = true;
            }
            if unit.trace_finish.valid.val() {
                finishing[unit.trace_finish.core.val().index()] = None;
            }
        }
        // The cores fill up to the last slot for some time, then they have room.
        let filling = cycle / 300 % 2 == 0;
        for core in 0..2 {
            let slot = below(random, 32) as usize;
            if finishing[core].is_none() && running[core][slot] && (!filling || below(random, 16) == 0) {
                running[core][slot] = false;
                finishing[core] = Some(slot as u64);
            }
            unit.finish[core].valid.next = finishing[core].is_some();
            unit.finish[core].slot.next = finishing[core].unwrap_or(0).into();
        }
        unit.control.run.next = below(random, 50) != 0;
        unit.control.mcw.next = if filling { 63 } else { cycle / 600 % 40 }.into();
        unit.control.kernel_class.next = cycle / 600 % 3 != 0;
        unit.control.timeout.next = below(random, 16).into();
        if let Some(registers) = unit.timeout.get_mut() {
            registers.min.next = (cycle / 700 % 8).into();
            registers.max.next = (8 + below(random, 8)).into();
            registers.factor.next = (cycle / 500 % 12).into();
            registers.eager.next = (cycle / 900 % 12).into();
        }
        // Few packets now and then, so that time-outs count, and seldom very many, which then last
        // to the next reset.
        unit.task.valid.next &= cycle / 1_000 % 4 != 3 || below(random, 8) == 0;
        let count = if below(random, 1 << 9) == 0 { below(random, 1 << 32) } else { below(random, 8) };
        unit.task.count.next = count.into();
    }
}

/// Warps start, finish and commit as in an array, so that the queue fills and drains, and the marks
/// rise step by step after each reset.
pub fn load_counters() -> impl FnMut(&mut LoadCounters<3, 4>, Random, u64) {
    let (mut busy, mut queued) = (0, 0);
    move |unit, random, cycle| {
        unit.reset.next = cycle < 2 || cycle % 600 == 0;
        if unit.reset.next {
            (busy, queued) = (0, 0);
        }
        let fills = cycle / 100 % 2 == 0;
        let spawned = queued == 8 || below(random, 4) == 0;
        let start = busy < 40 && below(random, if fills { 2 } else { 6 }) == 0;
        let finish = busy > 0 && below(random, 4) == 0;
        let commit = queued > 0 && below(random, if fills { 12 } else { 2 }) == 0;
        unit.start.next = start;
        unit.start_spawned.next = spawned;
        unit.finish.next = finish;
        unit.commit.next = commit;
        if !unit.reset.next {
            busy = busy + u64::from(start) - u64::from(finish);
            queued = queued + u64::from(start && !spawned) - u64::from(commit);
        }
        unit.tasks.next = below(random, 1 + cycle % 600 / 64).into();
        unit.ring.next = below(random, 1 << (cycle % 600 / 19)).into();
        unit.core_select.next = below(random, 4).into();
    }
}
