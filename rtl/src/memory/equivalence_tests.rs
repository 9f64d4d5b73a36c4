//! Units of this folder against their emitted Verilog, with inputs that reach the states that plain
//! random inputs (`unit_equivalence`) rarely do.

use super::{
    Coalescer, DataCache, InstructionCache, LoadPath, LoadStoreUnit, QueuePointers, Scratchpad, StorePath,
};
use hermes_hdl::prelude::*;
use hermes_hdl::testing::{check_synthesized_with, check_with};

const CYCLES: u64 = 10_000;

#[test]
fn queue_pointers() {
    check_with(QueuePointers::<5>::default(), CYCLES, |uut, random, cycle| {
        // Long enough in one direction to run full and empty.
        let fills = cycle / 100 % 2 == 0;
        uut.push.next = random() % 4 < if fills { 3 } else { 1 };
        uut.pop.next = random() % 4 < if fills { 1 } else { 3 };
    });
}

/// An address in one of a few lines.
fn near(random: u64) -> Bits<32> {
    bits((random & 0x3f) | ((random >> 8 & 3) << 20))
}

#[test]
fn coalescer() {
    check_with(Coalescer::<4>::default(), CYCLES, |uut, random, _| {
        for address in &mut uut.request.address {
            address.next = near(random());
        }
    });
    check_with(Coalescer::<1>::default(), 2_000, |_, _, _| {});
}

#[test]
fn load_path() {
    check_with(LoadPath::<4>::default(), CYCLES, |uut, random, cycle| {
        // Memory that answers much, and memory that answers little, so that the queues run full.
        let slow = cycle / 200 % 2 == 0;
        uut.read.ready.next = !slow || random() % 8 == 0;
        uut.answer.valid.next = random() % 8 < if slow { 1 } else { 7 };
        uut.result_ready.next = random() % 4 != 0;
    });
}

#[test]
fn store_path() {
    check_with(StorePath::<4>::default(), CYCLES, |uut, random, cycle| {
        let slow = cycle / 200 % 2 == 0;
        uut.write.ready.next = !slow || random() % 8 == 0;
        uut.write.written.valid.next = random() % 8 < if slow { 1 } else { 7 };
    });
}

#[test]
fn load_store_unit() {
    check_with(LoadStoreUnit::<4>::default(), CYCLES, |uut, random, cycle| {
        for address in &mut uut.request.address {
            address.next = near(random());
        }
        let slow = cycle / 200 % 2 == 0;
        uut.read.ready.next = !slow || random() % 8 == 0;
        uut.write.ready.next = !slow || random() % 8 == 0;
        uut.answer.valid.next = random() % 8 < if slow { 1 } else { 7 };
        uut.write.written.valid.next = random() % 2 == 0;
        uut.result_ready.next = random() % 8 != 0;
    });
}

#[test]
fn data_cache() {
    check_with(DataCache::new(2), 6_000, |uut, random, cycle| {
        // Twelve lines at four places; memory that answers much and memory that answers little.
        let slow = cycle / 300 % 2 == 0;
        uut.request.line.next = bits(random() % 12);
        uut.store.line.next = bits(random() % 12);
        uut.drop.next = random() % 256 == 0;
        uut.written.valid.next = random() % 8 == 0;
        uut.read.ready.next = !slow || random() % 8 == 0;
        uut.read.response.valid.next = random() % 8 < if slow { 1 } else { 7 };
        uut.read.response.error.next = random() % 64 == 0;
        uut.answer.ready.next = random() % 4 != 0;
    });
}

/// Random operations on a few words, after one store to each of them: a RAM holds anything until it
/// is written.
fn adjust_scratchpad<const LANES: usize>(
    uut: &mut Scratchpad<LANES>,
    random: &mut dyn FnMut() -> u64,
    cycle: u64,
) {
    let words = 8 * LANES as u64;
    let fills = cycle < 2 * words;
    for (i, address) in uut.request.address.iter_mut().enumerate() {
        let own = random() % words / LANES as u64 * LANES as u64 + i as u64;
        let word = if cycle / 64 % 2 == 0 { own } else { random() % words };
        address.next = bits(4 * if fills { cycle / 16 * LANES as u64 + i as u64 } else { word });
    }
    if fills {
        uut.reset.next = cycle < 2;
        uut.request.valid.next = true;
        uut.request.store.next = true;
        uut.request.size.next = bits(2);
        uut.request.mask.next = bits((1 << LANES) - 1);
    }
}

#[test]
fn scratchpad() {
    check_with(Scratchpad::<1>::default(), CYCLES, adjust_scratchpad);
    check_with(Scratchpad::<4>::default(), CYCLES, adjust_scratchpad);
}

/// Its banks have single-byte writes in the text for synthesis.
#[test]
fn scratchpad_for_synthesis() {
    check_synthesized_with(Scratchpad::<4>::default(), CYCLES, adjust_scratchpad);
}

#[test]
fn instruction_cache() {
    for (lines, ways, cycles) in [(4, 1, 5_000), (8, 4, 5_000)] {
        check_with(InstructionCache::new(lines, ways), cycles, |uut, random, _| {
            // Eight lines in four places or two sets; the slot that missed comes back soon, and
            // flushes are rare.
            uut.lookup.word.next = bits(random() % 128);
            uut.lookup.slot.next = bits(random() % 4);
            uut.lookup.enable.next = random() % 4 != 0;
            uut.stall.next = random() % 4 == 0;
            uut.wanted.next = random() % 8 != 0;
            uut.flush.next = random() % 128 == 0;
            uut.fetch.response.error.next = random() % 8 == 0;
        });
    }
}
