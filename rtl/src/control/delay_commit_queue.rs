//! The delay commit queue: warps finish in any order and commit in the order of their issue
//! (Hermes, section 3.3.1).

use crate::ports::{CommitEntry, WarpTrace};
use hermes_hdl::prelude::*;

/// Queue of `2^A` issued warps (1,024 in the array: `DelayCommitQueue<10>`).
///
/// 1. An entry is allocated at the tail; `allocate_index` names it in the same cycle.
///    `allocate.ready` is low while the queue is full. In the first `2^A` allocations after reset
///    it is low too while `done_valid` is high, so that both share the write port of the flags.
/// 2. `done_valid` marks the entry `done_index` as finished, at most once for each allocation and
///    not in the cycle of the allocation. It is always accepted.
/// 3. The entry at the head leaves in the first cycle in which it is known as finished, which is at
///    the earliest the cycle after `done_valid`; `commit` reports it in the cycle after
///    that, for one cycle. One entry a cycle leaves while finished ones stand at the head.
/// 4. `commit.packet` sums the counts of all warps committed before, from 0 after reset, modulo
///    2^32.
///
/// A flag is not a plain "done": it holds the lap (odd or even) in which its entry was last
/// finished, and the head compares it with its own lap. Thus allocation need not clear flags, and
/// they fit one RAM with one write and one read port; only in the first lap allocation writes them,
/// as their contents are undefined.
#[clocked("empties the queue")]
#[derive(Clone, LogicBlock)]
#[new]
pub struct DelayCommitQueue<const A: usize> {
    /// From the warp issue.
    pub allocate: CommitEntry,
    /// Packets of the warp.
    pub allocate_count: Signal<In, Bits<6>>,
    /// To the lookup tables: the entry that an allocation in this cycle gets.
    pub allocate_index: Signal<Out, Bits<A>>,
    /// From the finish arbiter: a warp finished.
    pub done_valid: Signal<In, Bit>,
    /// Entry of the warp that finished.
    pub done_index: Signal<In, Bits<A>>,
    /// A warp commits in this cycle. `packet` is always the number of packets committed before this
    /// cycle; core, slot and count are undefined while `valid` is low.
    pub commit: WarpTrace,
    warps: RamSync<Bits<16>, A>,
    flags: RamAsync<Bit, A>,
    head: Register<Bits<A>>,
    head_lap: Register<Bit>,
    tail: Register<Bits<A>>,
    tail_lap: Register<Bit>,
    #[init(Register::new(true))]
    first_lap: Register<Bit>,
    committing: Register<Bit>,
    packets: Register<Bits<32>>,
}

impl<const A: usize> Default for DelayCommitQueue<A> {
    /// An empty queue.
    ///
    /// # Panics
    /// If `A` is zero.
    fn default() -> Self {
        assert!(A >= 1, "DelayCommitQueue: one entry is not enough");
        Self::wired()
    }
}

impl<const A: usize> Logic for DelayCommitQueue<A> {
    #[hdl_gen]
    fn update(&mut self) {
        // Allocate at the tail. The laps differ while the tail has wrapped once more than the head.
        let room = ((self.head.q.val() != self.tail.q.val())
            | (self.head_lap.q.val() == self.tail_lap.q.val()))
            & !(self.first_lap.q.val() & self.done_valid.val());
        self.allocate.ready.next = room;
        self.allocate_index.next = self.tail.q.val();
        let allocates = self.allocate.valid.val() & room;
        if allocates {
            self.tail.d.next = self.tail.q.val() + 1;
            if self.tail.q.val().all() {
                self.tail_lap.d.next = !self.tail_lap.q.val();
                self.first_lap.d.next = false;
            }
        }
        self.warps.write_enable.next = allocates;
        self.warps.write_address.next = self.tail.q.val();
        self.warps.write_data.next = bit_cast::<16, 5>(self.allocate.core.val())
            | (bit_cast::<16, 5>(self.allocate.slot.val()) << 5)
            | (bit_cast::<16, 6>(self.allocate_count.val()) << 10);

        // Entries from the head to the end of the RAM are in the head's lap, those below in the
        // next.
        let done_lap = self.head_lap.q.val() ^ (self.done_index.val() < self.head.q.val());
        self.flags.write_enable.next = self.done_valid.val() | (allocates & self.first_lap.q.val());
        self.flags.write_address.next = self.tail.q.val();
        // The first lap is even: odd means not finished.
        self.flags.write_data.next = true;
        if self.done_valid.val() {
            self.flags.write_address.next = self.done_index.val();
            self.flags.write_data.next = done_lap;
        }

        // Leave at the head.
        self.flags.read_address.next = self.head.q.val();
        let leave = (self.flags.read_data.val() == self.head_lap.q.val())
            & ((self.head.q.val() != self.tail.q.val()) | (self.head_lap.q.val() != self.tail_lap.q.val()));
        if leave {
            self.head.d.next = self.head.q.val() + 1;
            if self.head.q.val().all() {
                self.head_lap.d.next = !self.head_lap.q.val();
            }
        }
        self.warps.read_enable.next = leave;
        self.warps.read_address.next = self.head.q.val();

        // Commit what left.
        self.committing.d.next = leave;
        let warp = self.warps.read_data.val();
        if self.committing.q.val() {
            self.packets.d.next = self.packets.q.val() + bit_cast::<32, 6>(warp.get_bits::<6>(10));
        }
        self.commit.valid.next = self.committing.q.val();
        self.commit.core.next = warp.get_bits::<5>(0);
        self.commit.slot.next = warp.get_bits::<5>(5);
        self.commit.count.next = warp.get_bits::<6>(10);
        self.commit.packet.next = self.packets.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    #[derive(Clone, Copy, Debug)]
    struct Warp {
        index: usize,
        core: u64,
        slot: u64,
        count: u64,
        /// The cycle of its `done_valid`.
        done: Option<u64>,
    }

    /// Random allocations and finishes against a queue; `A` entries wrap many times.
    fn random_run<const A: usize>(cycles: u64) {
        let mut random = random();
        let mut unit = DelayCommitQueue::<A>::default();
        // The flags are undefined at the start: nothing may depend on them.
        for index in 0..1u64 << A {
            unit.flags.write_enable.next = true;
            unit.flags.write_address.next = index.into();
            unit.flags.write_data.next = random.gen();
            unit.flags.update_all();
            unit.flags.clock.next = true.into();
            assert!(simulate(&mut unit.flags, 10));
            unit.flags.clock.next = false.into();
            assert!(simulate(&mut unit.flags, 10));
        }
        reset!(unit);
        let mut queue: VecDeque<Warp> = VecDeque::new();
        let mut leaving: Option<Warp> = None;
        let mut packets = 0u64;
        let (mut allocated, mut committed, mut was_full, mut out_of_order) = (0u64, 0u64, 0, 0);
        for cycle in 0..cycles {
            let (feed, finish) =
                [(0.9, 0.3), (0.3, 0.9), (1.0, 1.0), (0.5, 0.5)][(cycle >> (A + 4)) as usize % 4];
            let (core, slot) = (random.gen_range(0..32u64), random.gen_range(0..32u64));
            let count = random.gen_range(1..=32u64);
            unit.allocate.valid.next = random.gen_bool(feed);
            unit.allocate.core.next = core.into();
            unit.allocate.slot.next = slot.into();
            unit.allocate_count.next = count.into();
            let open: Vec<usize> = (0..queue.len()).filter(|&i| queue[i].done.is_none()).collect();
            let done =
                (!open.is_empty() && random.gen_bool(finish)).then(|| open[random.gen_range(0..open.len())]);
            out_of_order += usize::from(done.is_some_and(|d| d > open[0]));
            unit.done_valid.next = done.is_some();
            unit.done_index.next = match done {
                Some(position) => (queue[position].index as u64).into(),
                None => random.gen_range(0..1u64 << A).into(),
            };
            settle(&mut unit);

            // Commit: in order, exactly once, complete.
            assert_eq!(unit.commit.valid.val(), leaving.is_some(), "cycle {cycle}");
            assert_eq!(unit.commit.packet.val().to_u64(), packets, "cycle {cycle}");
            if let Some(warp) = leaving.take() {
                assert_eq!(unit.commit.core.val().to_u64(), warp.core, "cycle {cycle}");
                assert_eq!(unit.commit.slot.val().to_u64(), warp.slot, "cycle {cycle}");
                assert_eq!(unit.commit.count.val().to_u64(), warp.count, "cycle {cycle}");
                packets = (packets + warp.count) % (1 << 32);
                committed += 1;
            }
            // A queue that is full is not ready; otherwise only the first lap may wait, for a
            // finish.
            let full = queue.len() == 1 << A;
            was_full += usize::from(full);
            let waits = allocated < 1 << A && done.is_some();
            assert_eq!(unit.allocate.ready.val(), !full && !waits, "cycle {cycle}");
            // Not finished before its finish, and at once after it.
            if queue.front().and_then(|w| w.done).is_some_and(|done| done < cycle) {
                leaving = queue.pop_front();
            }
            if let Some(position) = done {
                let index = unit.done_index.val().index();
                queue.iter_mut().find(|w| w.index == index).unwrap().done = Some(cycle);
                assert!(position < 1 << A);
            }
            if unit.allocate.valid.val() && unit.allocate.ready.val() {
                let index = unit.allocate_index.val().index();
                assert_eq!(index as u64, allocated % (1 << A), "cycle {cycle}");
                queue.push_back(Warp { index, core, slot, count, done: None });
                allocated += 1;
            }
            tick!(unit);
        }
        assert!(
            committed > 8 << A && was_full > 0 && (A == 1 || out_of_order > 100),
            "{committed} {was_full}"
        );
    }

    #[test]
    fn tiny_queue_commits_in_order() {
        random_run::<1>(4_000);
        random_run::<2>(20_000);
        random_run::<3>(20_000);
    }

    #[test]
    fn array_queue_commits_in_order() {
        random_run::<10>(80_000);
    }

    #[test]
    fn sustains_one_warp_a_cycle() {
        let mut unit = DelayCommitQueue::<4>::default();
        reset!(unit);
        unit.allocate.valid.next = true;
        unit.allocate_count.next = 32.into();
        settle(&mut unit);
        // Fill the first lap, then finish one entry a cycle while the queue refills.
        for _ in 0..16 {
            assert!(unit.allocate.ready.val());
            tick!(unit);
        }
        assert!(!unit.allocate.ready.val());
        unit.done_valid.next = true;
        let mut commits = 0;
        for cycle in 0..100u64 {
            unit.done_index.next = (cycle % 16).into();
            settle(&mut unit);
            assert_eq!(unit.commit.valid.val(), cycle >= 2, "cycle {cycle}");
            commits += usize::from(unit.commit.valid.val());
            tick!(unit);
        }
        assert_eq!(commits, 98);
        assert_eq!(unit.commit.packet.val().to_u64(), 98 * 32);
    }
}
