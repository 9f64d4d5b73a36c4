//! Inputs that bring the units of the memory path into states that unconstrained ones rarely reach.

use super::Random;
use hermes_hdl::prelude::*;
use hermes_rtl::memory::*;

/// An address in one of a few lines.
fn near(random: u64) -> Bits<32> {
    bits((random & 0x3f) | ((random >> 8 & 3) << 20))
}

pub fn coalescer(unit: &mut Coalescer<4>, random: Random, _: u64) {
    for address in &mut unit.request.address {
        address.next = near(random());
    }
}

pub fn load_path(unit: &mut LoadPath<4>, random: Random, cycle: u64) {
    // Memory that answers much, and memory that answers little, so that the queues run full.
    let slow = cycle / 200 % 2 == 0;
    unit.read.ready.next = !slow || random() % 8 == 0;
    unit.answer.valid.next = random() % 8 < if slow { 1 } else { 7 };
    unit.result_ready.next = random() % 4 != 0;
}

pub fn store_path(unit: &mut StorePath<4>, random: Random, cycle: u64) {
    let slow = cycle / 200 % 2 == 0;
    unit.write.ready.next = !slow || random() % 8 == 0;
    unit.write.written.valid.next = random() % 8 < if slow { 1 } else { 7 };
}

pub fn load_store_unit(unit: &mut LoadStoreUnit<4>, random: Random, cycle: u64) {
    for address in &mut unit.request.address {
        address.next = near(random());
    }
    let slow = cycle / 200 % 2 == 0;
    unit.read.ready.next = !slow || random() % 8 == 0;
    unit.write.ready.next = !slow || random() % 8 == 0;
    unit.answer.valid.next = random() % 8 < if slow { 1 } else { 7 };
    unit.write.written.valid.next = random() % 2 == 0;
    unit.result_ready.next = random() % 8 != 0;
}

pub fn data_cache(unit: &mut DataCache, random: Random, cycle: u64) {
    // Twelve lines at four places; memory that answers much and memory that answers little.
    let slow = cycle / 300 % 2 == 0;
    unit.request.line.next = bits(random() % 12);
    unit.store.line.next = bits(random() % 12);
    unit.drop.next = random() % 256 == 0;
    unit.written.valid.next = random() % 8 == 0;
    unit.read.ready.next = !slow || random() % 8 == 0;
    unit.read.response.valid.next = random() % 8 < if slow { 1 } else { 7 };
    unit.read.response.error.next = random() % 64 == 0;
    unit.answer.ready.next = random() % 4 != 0;
}

pub fn cache_tags(unit: &mut CacheTags, random: Random, cycle: u64) {
    unit.line.next = bits(random() % 16);
    unit.index.next = bits(random() % 8);
    unit.remove_valid.next = random() % 8 == 0;
    unit.remove_index.next = bits(random() % 8);
    unit.drop.next = random() % if cycle % 1000 < 800 { 128 } else { 2 } == 0;
}

pub fn reorder_buffer(unit: &mut ReorderBuffer, random: Random, cycle: u64) {
    let fills = cycle / 200 % 2 == 0;
    unit.allocate.next = random() % 4 < if fills { 3 } else { 1 };
    unit.take.next = random() % 4 < if fills { 1 } else { 3 };
}

pub fn atomic_path(unit: &mut AtomicPath<4>, random: Random, _: u64) {
    if random() % 2 == 0 {
        unit.request_operation.next = bits(5);
    }
    unit.write.written.tag.next = bits(32 + random() % 4);
    unit.load.valid.next = random() % 4 == 0;
}

/// Random operations on a few words, after one store to each of them: a RAM holds anything until it
/// is written.
pub fn scratchpad<const LANES: usize>(unit: &mut Scratchpad<LANES>, random: Random, cycle: u64) {
    let words = 8 * LANES as u64;
    let fills = cycle < 2 * words;
    // Rows are cleared while nothing else goes on.
    if let Some(clear) = unit.clear.get_mut() {
        let pause = if fills { 256 } else { cycle % 256 };
        clear.valid.next = (32..48).contains(&pause) && random() % 2 == 0;
        clear.row.next = bits(random() % 8);
        if pause < 48 {
            unit.request.valid.next = false;
        }
    }
    for (i, address) in unit.request.address.iter_mut().enumerate() {
        let own = random() % words / LANES as u64 * LANES as u64 + i as u64;
        let word = if cycle / 64 % 2 == 0 { own } else { random() % words };
        address.next = bits(4 * if fills { cycle / 16 * LANES as u64 + i as u64 } else { word });
    }
    if fills {
        unit.reset.next = cycle < 2;
        unit.request.valid.next = true;
        unit.request.store.next = true;
        unit.request.size.next = bits(2);
        unit.request.mask.next = bits((1 << LANES) - 1);
    }
}

pub fn instruction_cache(unit: &mut InstructionCache, random: Random, _: u64) {
    // Eight lines in four places or two sets; the slot that missed comes back soon, and
    // flushes are rare.
    unit.lookup.word.next = bits(random() % 128);
    unit.lookup.slot.next = bits(random() % 4);
    unit.lookup.enable.next = random() % 4 != 0;
    unit.stall.next = random() % 4 == 0;
    unit.wanted.next = random() % 8 != 0;
    unit.flush.next = random() % 128 == 0;
    unit.fetch.response.error.next = random() % 8 == 0;
}
