//! Notices what is written into the rings.

use super::MOST_QUEUES;
use crate::blocks::RoundRobin;
use crate::l2::RingWindow;
use crate::ports::WriteTap;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Sees the writes into the rings of all queue areas at the banks of the L2, and keeps a copy of
/// bit 8, the phase, of each entry.
///
/// 1. A write into a ring that a bank accepts is an event: the copy of its entry is what it writes,
///    from the edge on at which the event passes with `event_valid` and `event_ready`. A bank whose
///    events wait holds the next write that could be one (`hold`): none is lost, and those of a
///    bank pass in their order.
/// 2. `look` reads the copy of entry `look_entry` of queue `look_queue`: `phase` from the next
///    cycle on. It is the phase in memory, but for events that have not passed.
/// 3. While `enable` is low no write is an event; `base` and `area_log2` change only then, and two
///    cycles before it rises.
///
/// Copies are undefined until their entry was written.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(banks: usize, rings_log2: usize, areas_log2: usize)]
pub struct QueueWatch {
    /// There are rings.
    pub enable: Signal<In, Bit>,
    /// Line address of the first queue area.
    pub base: Signal<In, LineAddress>,
    /// Bytes of an area, as a power of two.
    pub area_log2: Signal<In, Bits<5>>,
    /// From and to the banks.
    #[count(banks)]
    pub tap: Vec<WriteTap>,
    /// An event passes.
    pub event_valid: Signal<Out, Bit>,
    /// The event passes at this edge.
    pub event_ready: Signal<In, Bit>,
    /// Queue of the event.
    pub event_queue: Signal<Out, Bits<8>>,
    /// A copy is read.
    pub look: Signal<In, Bit>,
    /// Queue of the copy.
    pub look_queue: Signal<In, Bits<8>>,
    /// Entry of the copy.
    pub look_entry: Signal<In, Bits<6>>,
    /// The copy that was read last.
    pub phase: Signal<Out, Bit>,
    #[init(RingWindow::new(rings_log2, areas_log2))]
    rings: RingWindow,
    copies: RamSync<Bit, 14>,
    turns: RoundRobin,
    // Writes of each bank: the older one, and one behind it
    #[count(banks)]
    first: Vec<Register<Bit>>,
    #[count(banks)]
    first_line: Vec<Register<LineAddress>>,
    #[count(banks)]
    first_phase: Vec<Register<Bit>>,
    #[count(banks)]
    second: Vec<Register<Bit>>,
    #[count(banks)]
    second_line: Vec<Register<LineAddress>>,
    #[count(banks)]
    second_phase: Vec<Register<Bit>>,
    #[init(Constant::new((rings_log2 as u64).into()))]
    rings_log2: Constant<Bits<4>>,
    #[init(Constant::new(((1u64 << rings_log2) - 1).into()))]
    slots: Constant<Bits<8>>,
    #[init(Constant::new(((1u64 << areas_log2) - 1).into()))]
    domains: Constant<Bits<8>>,
    #[init(banks)]
    _banks: usize,
}

impl QueueWatch {
    /// For an L2 of `banks` banks, and `2^areas_log2` areas with `2^rings_log2` rings each.
    ///
    /// # Panics
    /// If there are more than 8 banks or more than 256 rings.
    pub fn new(banks: usize, rings_log2: usize, areas_log2: usize) -> Self {
        assert!(banks <= 8, "QueueWatch: {banks} banks, expected at most 8");
        assert!(
            1 << (rings_log2 + areas_log2) <= MOST_QUEUES,
            "QueueWatch: 2^{rings_log2} x 2^{areas_log2} rings, expected at most {MOST_QUEUES}"
        );
        Self::wired(banks, rings_log2, areas_log2)
    }
}

impl Logic for QueueWatch {
    #[hdl_gen]
    fn update(&mut self) {
        connect!(self.area_log2, self.rings.area_log2);
        let mut requests = bits::<32>(0);
        let mut line = bits::<26>(0);
        let mut bit = false;
        for b in 0..self._banks {
            let is_ring = self.enable.val()
                && !((self.first_line[b].q.val() ^ self.base.val()) & self.rings.mask.val()).any();
            requests = requests.replace_bit(b, self.first[b].q.val() && is_ring);
            if self.turns.grant.val().get_bit(b) {
                line = self.first_line[b].q.val();
                bit = self.first_phase[b].q.val();
            }
        }
        self.turns.request.next = requests;
        self.turns.advance.next = requests.any() && self.event_ready.val();
        self.event_valid.next = requests.any();

        // Its queue
        let slot = (line >> 6).get_bits::<8>(0) & self.slots.val();
        let in_area = self.area_log2.val() - bits::<5>(6);
        let domain = (line >> in_area).get_bits::<8>(0) & self.domains.val();
        let number = (domain << self.rings_log2.val()) | slot;
        self.event_queue.next = number;
        self.copies.write_enable.next = requests.any() && self.event_ready.val();
        self.copies.write_address.next =
            (bit_cast::<14, 8>(number) << 6) | bit_cast::<14, 6>(line.get_bits::<6>(0));
        self.copies.write_data.next = bit;
        self.copies.read_enable.next = self.look.val();
        self.copies.read_address.next =
            (bit_cast::<14, 8>(self.look_queue.val()) << 6) | bit_cast::<14, 6>(self.look_entry.val());
        self.phase.next = self.copies.read_data.val();

        // What waits
        for b in 0..self._banks {
            let passes = self.turns.grant.val().get_bit(b) && self.event_ready.val();
            let stays = requests.get_bit(b) && !passes;
            self.tap[b].hold.next = self.second[b].q.val();
            let comes = self.tap[b].valid.val();
            always!(a_held_write_does_not_come, !comes || !self.second[b].q.val());
            always!(the_second_write_is_behind_one, !self.second[b].q.val() || self.first[b].q.val());
            if stays {
                if comes {
                    self.second[b].d.next = true;
                    self.second_line[b].d.next = self.tap[b].line.val();
                    self.second_phase[b].d.next = self.tap[b].phase.val();
                }
            } else {
                self.first[b].d.next = comes || self.second[b].q.val();
                self.second[b].d.next = false;
                self.first_line[b].d.next = self.tap[b].line.val();
                self.first_phase[b].d.next = self.tap[b].phase.val();
                if self.second[b].q.val() {
                    self.first_line[b].d.next = self.second_line[b].q.val();
                    self.first_phase[b].d.next = self.second_phase[b].q.val();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::{BTreeMap, VecDeque};

    /// Writes at four banks, as fast as they may come: each event passes, those of a bank in order,
    /// and copies are what was written.
    #[test]
    fn no_event_is_lost() {
        let mut rng = random("queue_watch");
        let (banks, rings_log2, areas_log2, area_log2) = (4usize, 2u32, 1u32, 17u64);
        let mut uut = QueueWatch::new(banks, 2, 1);
        reset!(uut);
        let base = 0x40_0000u64 >> 6;
        uut.base.next = base.into();
        uut.area_log2.next = area_log2.into();
        tick!(uut);
        tick!(uut);
        uut.enable.next = true;
        let mut waiting: Vec<VecDeque<(u64, u64, bool)>> = vec![VecDeque::new(); banks];
        let mut copies: BTreeMap<(u64, u64), bool> = BTreeMap::new();
        let mut expected = None;
        let (mut passed, mut held, mut looked) = (0, 0, 0);
        for cycle in 0..20_000 {
            let busy = cycle / 2_000 % 2 == 0;
            for (b, waiting) in waiting.iter_mut().enumerate() {
                settle(&mut uut);
                let hold = uut.tap[b].hold.val();
                held += usize::from(hold);
                let comes = !hold && rng.gen_bool(if busy { 0.6 } else { 0.1 });
                // Mostly in a ring: the area has 128 KiB, its rings 16.
                let (area, offset) = (rng.gen_range(0..2u64), rng.gen_range(0..300u64));
                let line = base + (area << (area_log2 - 6)) + offset;
                let line = if rng.gen_bool(0.1) { line ^ 1 << rng.gen_range(16..26) } else { line };
                let phase = rng.gen();
                uut.tap[b].valid.next = comes;
                uut.tap[b].line.next = line.into();
                uut.tap[b].phase.next = phase;
                let inside = line.wrapping_sub(base);
                let in_area = inside & ((1 << (area_log2 - 6)) - 1);
                if comes && inside < 2 << (area_log2 - 6) && in_area < 64 << rings_log2 {
                    let queue = inside >> (area_log2 - 6) << rings_log2 | in_area >> 6;
                    assert!(queue < 1 << (rings_log2 + areas_log2));
                    waiting.push_back((queue, in_area & 63, phase));
                }
            }
            uut.event_ready.next = rng.gen_bool(if busy { 0.9 } else { 0.5 });
            let look = rng.gen_bool(0.5);
            let (queue, entry) = (rng.gen_range(0..8u64), rng.gen_range(0..64u64));
            uut.look.next = look;
            uut.look_queue.next = queue.into();
            uut.look_entry.next = entry.into();
            settle(&mut uut);
            if let Some(expected) = expected {
                assert_eq!(uut.phase.val(), expected, "cycle {cycle}");
                looked += 1;
            }
            if look {
                expected = copies.get(&(queue, entry)).copied();
            }
            if uut.event_valid.val() && uut.event_ready.val() {
                let bank = (0..banks).find(|b| uut.turns.grant.val().get_bit(*b)).expect("one passes");
                let (queue, entry, phase) = waiting[bank].pop_front().expect("a write was there");
                assert_eq!(uut.event_queue.val().to_u64(), queue, "cycle {cycle}");
                copies.insert((queue, entry), phase);
                passed += 1;
            }
            tick!(uut);
        }
        for tap in &mut uut.tap {
            tap.valid.next = false;
        }
        uut.event_ready.next = true;
        for _ in 0..20 {
            settle(&mut uut);
            if uut.event_valid.val() {
                let bank = (0..banks).find(|b| uut.turns.grant.val().get_bit(*b)).expect("one passes");
                waiting[bank].pop_front().expect("a write was there");
            }
            tick!(uut);
        }
        assert!(waiting.iter().all(VecDeque::is_empty), "{waiting:?}");
        assert!(passed > 8_000 && held > 3_000 && looked > 5_000, "{passed} {held} {looked}");
    }
}
