//! The lookup table of one core: warp slot to DCQ entry (Hermes, section 3.3.1 and Fig. 3).

use hermes_hdl::prelude::*;

/// 32 entries, one for each warp slot, that hold the index of the slot's entry in the delay commit
/// queue.
///
/// 1. `write` stores `write_index` for `write_slot` at this edge.
/// 2. `read_index` is, in the same cycle, what `read_slot` holds; undefined if it was never
///    written.
///
/// The paper's entry has 16 bits: the slot, by which this table is addressed, and the index. With a
/// thread spawner an entry has one bit more: set, the index is the slot of a spawner's job.
#[derive(Clone, LogicBlock)]
#[new(spawns: bool)]
pub struct LookupTable<const A: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// A warp is issued to this core.
    pub write: Signal<In, Bit>,
    /// Slot of the issued warp.
    pub write_slot: Signal<In, Bits<5>>,
    /// Entry of the issued warp in the delay commit queue.
    pub write_index: Signal<In, Bits<A>>,
    /// The slot of a warp that finished.
    pub read_slot: Signal<In, Bits<5>>,
    /// Entry of the finished warp in the delay commit queue.
    pub read_index: Signal<Out, Bits<A>>,
    /// The index is that of a job (only with a thread spawner, as the next).
    #[there(spawns)]
    pub write_spawned: Part<Signal<In, Bit>>,
    /// The index that `read_slot` holds is that of a job.
    #[there(spawns)]
    pub read_spawned: Part<Signal<Out, Bit>>,
    ram: RamAsync<Bits<A>, 5>,
    #[there(spawns)]
    spawned: Part<RamAsync<Bit, 5>>,
}

impl<const A: usize> LookupTable<A> {
    /// A table for packets alone, or for packets and spawned threads (`spawns`).
    pub fn new(spawns: bool) -> Self {
        Self::wired(spawns)
    }
}

impl<const A: usize> Logic for LookupTable<A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.ram.write_enable.next = self.write.val();
        self.ram.write_address.next = self.write_slot.val();
        self.ram.write_data.next = self.write_index.val();
        self.ram.read_address.next = self.read_slot.val();
        self.read_index.next = self.ram.read_data.val();
        if self.write_spawned.is_there() {
            self.spawned.write_enable.next = self.write.val();
            self.spawned.write_address.next = self.write_slot.val();
            self.spawned.write_data.next = self.write_spawned.val();
            self.spawned.read_address.next = self.read_slot.val();
            self.read_spawned.next = self.spawned.read_data.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, settle, tick};
    use rand::Rng;

    #[test]
    fn keeps_the_last_index_of_each_slot() {
        let mut random = random();
        let mut unit = LookupTable::<10>::new(false);
        let mut model = [None; 32];
        for cycle in 0..4_000 {
            let (slot, read) = (random.gen_range(0..32usize), random.gen_range(0..32usize));
            let index = random.gen_range(0..1024u64);
            unit.write.next = random.gen();
            unit.write_slot.next = (slot as u64).into();
            unit.write_index.next = index.into();
            unit.read_slot.next = (read as u64).into();
            settle(&mut unit);
            if let Some(expected) = model[read] {
                assert_eq!(unit.read_index.val().to_u64(), expected, "cycle {cycle}");
            }
            if unit.write.val() {
                model[slot] = Some(index);
            }
            tick!(unit);
        }
    }
}
