//! The warp slots of one core.

use crate::blocks::PriorityEncoder;
use hermes_hdl::prelude::*;

/// Tracks which warp slots of one core are busy.
///
/// 1. `available` and `slot` depend on the state, `limit` and `allowed` alone, in the same cycle.
/// 2. `take` marks the shown slot busy; it is legal only while `available` is high.
/// 3. `free` marks a busy slot idle; the slot can be taken again in the next cycle. Freeing an idle
///    slot is illegal.
/// 4. `limit` may change at any time and holds for the warps to come. It must not exceed the number
///    of bits of `allowed`.
/// 5. With a thread spawner warps of spawned threads count apart: packet warps may be on the core
///    up to `limit`, spawned warps up to `spawn_limit`, each while an allowed slot is idle.
#[clocked("all slots are idle")]
#[derive(Clone, LogicBlock)]
#[new(spawns: bool, counts: bool)]
pub struct CoreSlots {
    /// Warps that may be on the core at a time, 0 to 32.
    pub limit: Signal<In, Bits<6>>,
    /// The slots that may be taken.
    pub allowed: Signal<In, Bits<32>>,
    /// The shown slot is taken at this edge.
    pub take: Signal<In, Bit>,
    /// `free_slot` becomes idle at this edge.
    pub free: Signal<In, Bit>,
    /// The slot to free.
    pub free_slot: Signal<In, Bits<5>>,
    /// The core can take a warp.
    pub available: Signal<Out, Bit>,
    /// The lowest idle slot among the allowed ones.
    pub slot: Signal<Out, Bits<5>>,
    /// Warps of spawned threads that may be on the core at a time, 0 to 32 (only with a thread
    /// spawner, as the other ports of spawned warps).
    #[there(spawns)]
    pub spawn_limit: Part<Signal<In, Bits<6>>>,
    /// The slot that is taken is for a warp of spawned threads.
    #[there(spawns)]
    pub take_spawned: Part<Signal<In, Bit>>,
    /// The core can take a warp of spawned threads.
    #[there(spawns)]
    pub spawn_available: Part<Signal<Out, Bit>>,
    /// Busy slots, 0 to 32 (only with a count).
    #[there(counts)]
    pub busy_slots: Part<Signal<Out, Bits<6>>>,
    busy: Register<Bits<32>>,
    warps: Register<Bits<6>>,
    encoder: PriorityEncoder,
    /// Slots that warps of spawned threads took last, and how many of these run.
    #[there(spawns)]
    spawned: Part<Register<Bits<32>>>,
    #[there(spawns)]
    spawned_warps: Part<Register<Bits<6>>>,
}

impl CoreSlots {
    /// The slots of a core, for packets alone, or for packets and spawned threads (`spawns`).
    pub fn new(spawns: bool) -> Self {
        Self::wired(spawns, false)
    }

    /// As [`Self::new`], with a count of the busy slots, which depends on the state alone.
    pub fn counted(spawns: bool) -> Self {
        Self::wired(spawns, true)
    }
}

impl Logic for CoreSlots {
    #[hdl_gen]
    fn update(&mut self) {
        self.encoder.request.next = self.allowed.val() & !self.busy.q.val();
        self.slot.next = self.encoder.index.val();
        // With fewer than `limit` warps at least one allowed slot is idle.
        self.available.next = self.warps.q.val() < self.limit.val();
        let mut taken = bits::<32>(0);
        if self.take.val() {
            taken = self.encoder.one_hot.val();
        }
        let mut freed = bits::<32>(0);
        if self.free.val() {
            freed = bits::<32>(1) << self.free_slot.val();
        }
        self.busy.d.next = (self.busy.q.val() & !freed) | taken;
        // Each register is assigned in one place: synthesis tools differ on a condition before a
        // plain assignment.
        if !self.spawn_limit.is_there() {
            if self.take.val() & !self.free.val() {
                self.warps.d.next = self.warps.q.val() + 1;
            }
            if self.free.val() & !self.take.val() {
                self.warps.d.next = self.warps.q.val() - 1;
            }
        }

        if self.busy_slots.is_there() {
            self.busy_slots.next = self.warps.q.val();
            if self.spawn_limit.is_there() {
                self.busy_slots.next = self.warps.q.val() + self.spawned_warps.q.val();
            }
        }

        if self.spawn_limit.is_there() {
            let idle = self.encoder.one_hot.val().any();
            let freed_spawned = self.spawned.q.val().get_bit(self.free_slot.val().index());
            let packet_in = self.take.val() & !self.take_spawned.val();
            let packet_out = self.free.val() & !freed_spawned;
            let spawned_in = self.take.val() & self.take_spawned.val();
            let spawned_out = self.free.val() & freed_spawned;
            self.available.next = (self.warps.q.val() < self.limit.val()) & idle;
            self.spawn_available.next = (self.spawned_warps.q.val() < self.spawn_limit.val()) & idle;
            if packet_in & !packet_out {
                self.warps.d.next = self.warps.q.val() + 1;
            }
            if packet_out & !packet_in {
                self.warps.d.next = self.warps.q.val() - 1;
            }
            if spawned_in & !spawned_out {
                self.spawned_warps.d.next = self.spawned_warps.q.val() + 1;
            }
            if spawned_out & !spawned_in {
                self.spawned_warps.d.next = self.spawned_warps.q.val() - 1;
            }
            if self.take.val() {
                self.spawned.d.next = self.spawned.q.val() & !taken;
                if self.take_spawned.val() {
                    self.spawned.d.next = self.spawned.q.val() | taken;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::seq::IteratorRandom;
    use rand::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn follows_a_set_of_slots() {
        let mut random = random();
        let mut unit = CoreSlots::new(false);
        reset!(unit);
        let mut busy = BTreeSet::new();
        let (mut most, mut blocked) = (0, 0);
        for cycle in 0..20_000 {
            if cycle % 64 == 0 {
                let slots = random.gen_range(1..=32);
                unit.allowed.next = ((1u64 << slots) - 1).into();
                unit.limit.next = random.gen_range(0..=slots).into();
            }
            settle(&mut unit);
            let available = busy.len() < unit.limit.val().index();
            assert_eq!(unit.available.val(), available, "cycle {cycle}");
            let lowest = (0..32).find(|s| !busy.contains(s) && unit.allowed.val().get_bit(*s));
            if available {
                assert_eq!(Some(unit.slot.val().index()), lowest, "cycle {cycle}");
            } else {
                blocked += 1;
            }
            let take = available && random.gen_bool(0.8);
            let freed = busy.iter().copied().choose(&mut random).filter(|_| random.gen_bool(0.6));
            unit.take.next = take;
            unit.free.next = freed.is_some();
            unit.free_slot.next = (freed.unwrap_or_else(|| random.gen_range(0..32)) as u64).into();
            tick!(unit);
            if let Some(slot) = freed {
                busy.remove(&slot);
            }
            if take {
                busy.insert(lowest.unwrap());
            }
            most = most.max(busy.len());
        }
        assert!(most > 24 && blocked > 1_000, "{most} {blocked}");
    }

    /// Each kind up to its limit while a slot is idle, whatever the other kind has.
    #[test]
    fn spawned_warps_count_apart() {
        let mut random = random();
        let mut unit = CoreSlots::new(true);
        reset!(unit);
        let (mut packets, mut spawned) = (BTreeSet::new(), BTreeSet::new());
        let (mut full, mut only_one_kind) = (0, 0);
        for cycle in 0..20_000 {
            if cycle % 64 == 0 {
                unit.allowed.next = ((1u64 << [8, 16, 32][cycle / 64 % 3]) - 1).into();
                unit.limit.next = random.gen_range(0..=16).into();
                unit.spawn_limit.next = random.gen_range(0..=16).into();
            }
            settle(&mut unit);
            let idle = |s: &usize| !packets.contains(s) && !spawned.contains(s);
            let lowest = (0..32).filter(idle).find(|s| unit.allowed.val().get_bit(*s));
            let packet = packets.len() < unit.limit.val().index() && lowest.is_some();
            let thread = spawned.len() < unit.spawn_limit.val().index() && lowest.is_some();
            assert_eq!(unit.available.val(), packet, "cycle {cycle}");
            assert_eq!(unit.spawn_available.val(), thread, "cycle {cycle}");
            full += usize::from(lowest.is_none());
            only_one_kind += usize::from(packet != thread);
            let of_thread = thread && (!packet || random.gen());
            let take = (packet || thread) && random.gen_bool(0.8);
            let freed = packets.union(&spawned).copied().choose(&mut random).filter(|_| random.gen_bool(0.6));
            unit.take.next = take;
            unit.take_spawned.next = of_thread;
            unit.free.next = freed.is_some();
            unit.free_slot.next = (freed.unwrap_or_else(|| random.gen_range(0..32)) as u64).into();
            settle(&mut unit);
            assert!(lowest.is_none() || lowest == Some(unit.slot.val().index()), "cycle {cycle}");
            tick!(unit);
            if let Some(slot) = freed {
                packets.remove(&slot);
                spawned.remove(&slot);
            }
            if take {
                if of_thread { &mut spawned } else { &mut packets }.insert(lowest.unwrap());
            }
        }
        assert!(full > 100 && only_one_kind > 1_000, "{full} {only_one_kind}");
    }
}
