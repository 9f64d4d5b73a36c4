//! Forms warps from the packets that the host announces (Hermes, section 3.3).

use crate::config::ControlOptions;
use crate::host::{FormerControl, TaskCount};
use crate::ports::{FormedBy, FormedWarp};
use hermes_hdl::prelude::*;

/// Takes packet counts from the task FIFO and forms warps of packets with consecutive packetIdx.
///
/// 1. A warp has `lanes` packets; it is formed as soon as that many wait.
/// 2. A partial warp is formed when the oldest waiting packet has waited `control.timeout` cycles
///    for companions, or at once when `control.eager` and `idle_slot` are high and no formed warp
///    waits for issue. The wait is counted from the first cycle in which the packet is the oldest
///    one of `pending`; a count taken in cycle t by an idle former thus gives its partial warp at
///    the output in cycle t + 2 + `control.timeout`. The count stops at `control.timeout`.
/// 3. Counts are taken while fewer than `2 * lanes` packets wait, whatever their value: no packet
///    is ever lost. A count of 0 has no effect.
/// 4. No warp is formed while `control.run` is low; one that stands at the output stays there.
/// 5. One warp a cycle at most. packetIdx starts at 0 after reset and wraps at 2^32.
/// 6. With network functions no warp crosses the ring's end: one that ends there is formed as soon
///    as its packets wait, as one of `lanes` packets.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(options: ControlOptions, lanes: u64)]
pub struct WarpFormer {
    /// From the task FIFO; `ready` depends on no input.
    pub task: TaskCount,
    /// Registers CONTROL and TIMEOUT.
    pub control: FormerControl,
    /// From the warp issue: some core could take a warp now.
    pub idle_slot: Signal<In, Bit>,
    /// To the warp issue.
    pub warp: FormedWarp,
    /// Packets that wait for a warp, at most 2^32 - 1 shown.
    pub pending: Signal<Out, Bits<32>>,
    /// To the load counters (only with them).
    #[there(options.load_counters)]
    pub formed_by: Part<FormedBy>,
    /// RING_SLOTS_LOG2 register (only with network functions).
    #[there(options.functions())]
    pub ring_slots_log2: Part<Signal<In, Bits<5>>>,
    waiting: Register<Bits<33>>,
    age: Register<Bits<32>>,
    next_packet: Register<Bits<32>>,
    formed: Register<Bit>,
    formed_packet: Register<Bits<32>>,
    formed_count: Register<Bits<6>>,
    #[init(Constant::new(lanes.into()))]
    lanes: Constant<Bits<6>>,
    #[init(Constant::new(lanes.into()))]
    enough: Constant<Bits<33>>,
    #[init(Constant::new((2 * lanes).into()))]
    plenty: Constant<Bits<33>>,
}

impl WarpFormer {
    /// The former of a control path with these options. With network functions warps do not cross
    /// the ring's end.
    ///
    /// # Panics
    /// If there are not 1 to 32 lanes.
    pub fn new(options: ControlOptions) -> Self {
        let lanes = options.lanes;
        assert!((1..=32).contains(&lanes), "WarpFormer: {lanes} lanes, expected 1 to 32");
        Self::wired(options, lanes as u64)
    }
}

impl Logic for WarpFormer {
    #[hdl_gen]
    fn update(&mut self) {
        // The packets that wait: at most 2 * lanes - 1 + (2^32 - 1), which fits 33 bits.
        self.task.ready.next = self.waiting.q.val() < self.plenty.val();
        let take = self.task.valid.val() & (self.waiting.q.val() < self.plenty.val());
        let full = self.waiting.q.val() >= self.enough.val();
        let some = self.waiting.q.val().any();
        let expired = self.age.q.val() >= self.control.timeout.val();
        let at_once = self.control.eager.val() & self.idle_slot.val() & !self.formed.q.val();
        let form = self.control.run.val()
            & (!self.formed.q.val() | self.warp.ready.val())
            & (full | (some & (expired | at_once)));
        let mut packets = bit_cast::<6, 33>(self.waiting.q.val());
        if full {
            packets = self.lanes.val();
        }
        let mut left = self.waiting.q.val();
        if form {
            left = self.waiting.q.val() - bit_cast::<33, 6>(packets);
        }
        self.waiting.d.next = left;
        if take {
            self.waiting.d.next = left + bit_cast::<33, 32>(self.task.count.val());
        }

        // Stopping at the time-out keeps the age from wrapping.
        if form | !some {
            self.age.d.next = bits::<32>(0);
        } else if !expired {
            self.age.d.next = self.age.q.val() + 1;
        }

        // The formed warp.
        if self.warp.ready.val() {
            self.formed.d.next = false;
        }
        if form {
            self.formed.d.next = true;
            self.formed_packet.d.next = self.next_packet.q.val();
            self.formed_count.d.next = packets;
            self.next_packet.d.next = self.next_packet.q.val() + bit_cast::<32, 6>(packets);
        }
        // Enough packets for a warp that ends at the ring's end
        if self.ring_slots_log2.is_there() {
            let slots = (bits::<32>(1) << self.ring_slots_log2.val()) - bits::<32>(1);
            let behind = slots & !self.next_packet.q.val();
            let is_near = bit_cast::<33, 32>(behind) < self.enough.val();
            let reaches = is_near & (self.waiting.q.val() > bit_cast::<33, 32>(behind));
            if self.control.run.val() & (!self.formed.q.val() | self.warp.ready.val()) & reaches {
                self.waiting.d.next = self.waiting.q.val() - bit_cast::<33, 32>(behind) - 1;
                if take {
                    self.waiting.d.next = self.waiting.q.val() - bit_cast::<33, 32>(behind) - 1
                        + bit_cast::<33, 32>(self.task.count.val());
                }
                self.age.d.next = bits::<32>(0);
                self.formed.d.next = true;
                self.formed_packet.d.next = self.next_packet.q.val();
                self.formed_count.d.next = behind.get_bits::<6>(0) + 1;
                self.next_packet.d.next = self.next_packet.q.val() + behind + 1;
            }
        }
        self.warp.valid.next = self.formed.q.val();
        self.warp.packet.next = self.formed_packet.q.val();
        self.warp.count.next = self.formed_count.q.val();

        self.pending.next = bit_cast::<32, 33>(self.waiting.q.val());
        if self.waiting.q.val().get_bit(32) {
            self.pending.next = bits::<32>(0xffff_ffffu64);
        }

        if self.formed_by.is_there() {
            self.formed_by.full.next = form & full;
            self.formed_by.timeout.next = form & !full & expired;
            self.formed_by.eager.next = form & !full & !expired;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    fn former(lanes: usize) -> WarpFormer {
        let mut unit =
            WarpFormer::new(ControlOptions { load_counters: true, ..ControlOptions::of(1, lanes, 8) });
        reset!(unit);
        unit.control.run.next = true;
        unit.control.timeout.next = 1_000.into();
        unit
    }

    /// Offers `count` until it is taken.
    fn push(unit: &mut WarpFormer, count: u32) {
        unit.task.valid.next = true;
        unit.task.count.next = u64::from(count).into();
        settle(unit);
        assert!(unit.task.ready.val());
        tick!(*unit);
        unit.task.valid.next = false;
        settle(unit);
    }

    /// Every warp against a queue of the cycles in which its packets came; `ring`: of a ring of
    /// 2^ring slots, whose end no warp crosses.
    fn random_run(lanes: usize, ring: Option<u32>, cycles: u64) {
        let mut random = random();
        let mut unit = former(lanes);
        if let Some(log2) = ring {
            unit =
                WarpFormer::new(ControlOptions { network_functions: 2, ..ControlOptions::of(1, lanes, 8) });
            reset!(unit);
            unit.ring_slots_log2.next = u64::from(log2).into();
        }
        let mut at_end = 0;
        let mut arrivals: VecDeque<u64> = VecDeque::new();
        let mut offered: VecDeque<u32> = VecDeque::new();
        let mut timeout = 10;
        let mut next = 0u64;
        let mut oldest_since = 0;
        let mut expected: Option<(u64, usize)> = None;
        let (mut full, mut late, mut early) = (0, 0, 0);
        for cycle in 0..cycles {
            if cycle % 256 == 0 {
                timeout = random.gen_range(0..40);
                unit.control.timeout.next = timeout.into();
                unit.control.eager.next = random.gen();
            }
            let (feed, drain) = [(0.9, 0.5), (0.1, 0.9), (0.05, 1.0), (0.5, 0.1)][cycle as usize / 512 % 4];
            if offered.is_empty() && random.gen_bool(feed) {
                let limit = [lanes as u32, 3, 3 * lanes as u32 + 2][random.gen_range(0..3)];
                offered.push_back(random.gen_range(0..=limit));
            }
            unit.task.valid.next = !offered.is_empty();
            unit.task.count.next = u64::from(offered.front().copied().unwrap_or(7)).into();
            unit.warp.ready.next = random.gen_bool(drain);
            unit.idle_slot.next = random.gen();
            unit.control.run.next = random.gen_bool(0.95);
            settle(&mut unit);

            assert_eq!(unit.pending.val().index(), arrivals.len(), "cycle {cycle}");
            assert_eq!(unit.warp.valid.val(), expected.is_some(), "cycle {cycle}");
            if let Some((packet, count)) = expected {
                assert_eq!(unit.warp.packet.val().to_u64(), packet, "cycle {cycle}");
                assert_eq!(unit.warp.count.val().index(), count, "cycle {cycle}");
            }
            // What must happen at this edge.
            let room = expected.is_none() || unit.warp.ready.val();
            let waited = cycle - oldest_since;
            let most = ring.map_or(lanes, |log2| lanes.min((1usize << log2) - next as usize % (1 << log2)));
            let eager = unit.control.eager.val() && unit.idle_slot.val() && expected.is_none();
            let form = unit.control.run.val()
                && room
                && (arrivals.len() >= most || (!arrivals.is_empty() && (waited >= timeout || eager)));
            let is_full = arrivals.len() >= most;
            let causes = [is_full, !is_full && waited >= timeout, !is_full && waited < timeout];
            if unit.formed_by.is_there() {
                let by = &unit.formed_by;
                let told = [by.full.val(), by.timeout.val(), by.eager.val()];
                assert_eq!(told, causes.map(|cause| form && cause), "cycle {cycle}");
            }
            let taken =
                (unit.task.valid.val() && unit.task.ready.val()).then(|| offered.pop_front().unwrap());
            assert!(unit.task.ready.val() || arrivals.len() >= lanes, "cycle {cycle}: starved");
            if room {
                expected = None;
            }
            if form {
                let count = arrivals.len().min(most);
                at_end += usize::from(count == most && most < lanes);
                full += usize::from(count == lanes);
                late += usize::from(count < most && waited >= timeout);
                early += usize::from(count < most && waited < timeout);
                arrivals.drain(..count);
                expected = Some((next, count));
                next += count as u64;
            }
            if form || arrivals.is_empty() {
                oldest_since = cycle + 1;
            }
            arrivals.extend((0..taken.unwrap_or(0)).map(|_| cycle));
            tick!(unit);
            // Changing the time-out may not shorten a count that already stopped: start afresh.
            if cycle % 256 == 255 {
                unit.warp.ready.next = true;
                unit.control.run.next = true;
                unit.control.timeout.next = 0.into();
                unit.task.valid.next = false;
                settle(&mut unit);
                while unit.pending.val().any() || unit.warp.valid.val() {
                    tick!(unit);
                }
                next += arrivals.len() as u64;
                arrivals.clear();
                expected = None;
                oldest_since = cycle + 1;
            }
        }
        if ring.is_some() {
            assert!(at_end > 50, "{at_end}");
            return;
        }
        assert!(full > 50 && (lanes == 1 || (late > 20 && early > 20)), "{full} {late} {early}");
    }

    #[test]
    fn random_counts_become_consecutive_warps() {
        for lanes in [1, 2, 4, 32] {
            random_run(lanes, None, 16_384);
        }
    }

    #[test]
    fn no_warp_crosses_the_end_of_the_ring() {
        for (lanes, ring) in [(4, 3), (4, 5), (32, 4), (32, 6), (8, 0)] {
            random_run(lanes, Some(ring), 16_384);
        }
    }

    #[test]
    fn partial_warp_leaves_after_the_timeout() {
        for timeout in [0, 1, 2, 100] {
            let mut unit = former(32);
            unit.control.timeout.next = timeout.into();
            push(&mut unit, 5);
            // The count was taken in cycle 0; this is cycle 1.
            let mut cycle = 1;
            while !unit.warp.valid.val() {
                assert!(cycle < 1_000);
                tick!(unit);
                cycle += 1;
            }
            assert_eq!(cycle, 2 + timeout);
            assert_eq!(unit.warp.count.val().index(), 5);
        }
    }

    #[test]
    fn remainder_of_a_full_warp_waits_anew() {
        let mut unit = former(4);
        unit.control.timeout.next = 50.into();
        unit.warp.ready.next = true;
        push(&mut unit, 3);
        for _ in 0..40 {
            tick!(unit);
        }
        push(&mut unit, 2);
        tick!(unit);
        assert!(unit.warp.valid.val());
        assert_eq!(unit.warp.count.val().index(), 4);
        for _ in 0..50 {
            tick!(unit);
            assert!(!unit.warp.valid.val());
        }
        tick!(unit);
        assert!(unit.warp.valid.val());
        assert_eq!(unit.warp.packet.val().index(), 4);
        assert_eq!(unit.warp.count.val().index(), 1);
    }

    #[test]
    fn largest_counts_are_kept() {
        let mut unit = former(32);
        push(&mut unit, 31);
        push(&mut unit, u32::MAX);
        assert!(!unit.task.ready.val());
        assert_eq!(unit.pending.val().to_u64(), 0xffff_ffff, "shown saturated");
        tick!(unit);
        // The first warp is formed: 2^32 - 1 + 31 - 32 wait.
        assert_eq!(unit.pending.val().to_u64(), 0xffff_fffe);
        assert!(unit.warp.valid.val());
        assert_eq!(unit.warp.count.val().index(), 32);
    }

    #[test]
    fn nothing_is_formed_while_stopped() {
        let mut unit = former(4);
        unit.control.run.next = false;
        unit.control.timeout.next = 0.into();
        unit.control.eager.next = true;
        unit.idle_slot.next = true;
        push(&mut unit, 3);
        push(&mut unit, 6);
        for _ in 0..20 {
            tick!(unit);
            assert!(!unit.warp.valid.val());
            assert!(!unit.task.ready.val(), "counts wait in the FIFO");
        }
        unit.control.run.next = true;
        tick!(unit);
        assert!(unit.warp.valid.val());
    }

    #[test]
    fn packet_index_wraps() {
        let mut unit = former(32);
        unit.warp.ready.next = true;
        push(&mut unit, 64);
        // Close to the wrap by hand: 2^27 warps would take too long.
        unit.next_packet.q.next = 0xffff_fff0.into();
        settle(&mut unit);
        tick!(unit);
        assert_eq!(unit.warp.packet.val().to_u64(), 0xffff_fff0);
        tick!(unit);
        assert_eq!(unit.warp.packet.val().to_u64(), 0x10);
    }
}
