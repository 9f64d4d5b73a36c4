//! Inputs of the thread spawner: mostly good descriptors, addresses close to what the units compare
//! with.

use super::Random;
use hermes_rtl::spawn::*;

pub fn spawn_issue(unit: &mut SpawnIssue, random: Random, cycle: u64) {
    // Mostly good descriptors of few warps.
    if random() % 8 != 0 {
        unit.entry.next = (random() & 0xffff_fffc).into();
        unit.shape.next = ((random() % 40) | ((cycle / 100 % 2) << 25) | ((random() & 1) << 26)).into();
        unit.reserved.next = 0.into();
        unit.token.next = (random() & 0x3fff_ffff).into();
        unit.cores.next = (random() % 8).into();
        unit.kernel_class.next = cycle / 100 % 2 == 1;
    }
}

pub fn completion_writer(unit: &mut CompletionWriter, random: Random, _: u64) {
    unit.write.written.tag.next = (30 + random() % 2).into();
    if random() % 4 != 0 {
        unit.completion.next = (random() & 0xffff_fffc).into();
    }
}

pub fn thread_spawner(unit: &mut ThreadSpawner, random: Random, _: u64) {
    unit.write.written.tag.next = 31.into();
    unit.control.slot.next = (random() % 9).into();
    unit.control.word.next = (random() % 8).into();
    unit.control.value.next = match unit.control.word.next.index() {
        3 => random() % 12,
        4 => 0,
        5 => random() % 4,
        _ => random() & 0x3fff_fffc,
    }
    .into();
}

pub fn spawn_capture(unit: &mut SpawnCapture, random: Random, cycle: u64) {
    // A page anywhere, or almost one; lines in it, and lines that differ in one bit. Words, and
    // what is left of them without a byte.
    unit.page.address.next = match random() % 4 {
        0 => (1u64 << (random() % 32)).into(),
        1 => (0xfff0_0000 & !(1u64 << (20 + random() % 14))).into(),
        _ => (1024 * (random() & 0x3f_ffff)).into(),
    };
    unit.page.valid.next = cycle % 10 == 0;
    let other = if random() % 2 == 0 { 1u64 << (random() % 26) } else { 0 };
    unit.store.line.next = (unit.base.val().to_u64() ^ other ^ (random() & 15)).into();
    let word = 15u64 << (4 * (random() % 16));
    unit.store.strobe.next = match random() % 4 {
        0 => (word & !(1u64 << (random() % 64))).into(),
        1 => (1u64 << (random() % 64)).into(),
        2 => (word & random()).into(),
        _ => word.into(),
    };
    unit.hold.next = random() % 64 == 0;
    unit.busy.next = if random() % 2 == 0 { 0.into() } else { (random() % 0x1_0000).into() };
}

pub fn write_merge(unit: &mut WriteMerge, random: Random, _: u64) {
    // The tag of completion words, or one that differs in one bit.
    unit.memory.written.tag.next = (31 ^ [0, 1, 2, 4, 8, 16, 32][random() as usize % 7]).into();
}
