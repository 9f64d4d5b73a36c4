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
#[derive(Clone, Debug, LogicBlock)]
#[new(spawns: usize)]
pub struct LookupTable<const A: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// A warp is issued to this core.
    pub write: Signal<In, Bit>,
    /// Its slot.
    pub write_slot: Signal<In, Bits<5>>,
    /// Its entry in the delay commit queue.
    pub write_index: Signal<In, Bits<A>>,
    /// The slot of a warp that finished.
    pub read_slot: Signal<In, Bits<5>>,
    /// Its entry in the delay commit queue.
    pub read_index: Signal<Out, Bits<A>>,
    /// The index is that of a job (one element with a thread spawner, as the next).
    #[count(spawns)]
    pub write_spawned: Vec<Signal<In, Bit>>,
    /// What `read_slot` holds is the index of a job.
    #[count(spawns)]
    pub read_spawned: Vec<Signal<Out, Bit>>,
    ram: RamAsync<Bits<A>, 5>,
    #[count(spawns)]
    spawned: Vec<RamAsync<Bit, 5>>,
    #[init(spawns)]
    _spawns: usize,
}

impl<const A: usize> LookupTable<A> {
    /// A table for packets alone (`spawns` 0), or for packets and spawned threads (1).
    ///
    /// # Panics
    /// If `spawns` is more than 1.
    pub fn new(spawns: usize) -> Self {
        assert!(spawns <= 1, "LookupTable: {spawns} thread spawners, expected 0 or 1");
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
        for k in 0..self._spawns {
            self.spawned[k].write_enable.next = self.write.val();
            self.spawned[k].write_address.next = self.write_slot.val();
            self.spawned[k].write_data.next = self.write_spawned[k].val();
            self.spawned[k].read_address.next = self.read_slot.val();
            self.read_spawned[k].next = self.spawned[k].read_data.val();
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
        let mut unit = LookupTable::<10>::new(0);
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
