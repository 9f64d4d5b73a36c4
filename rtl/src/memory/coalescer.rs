//! Turns the memory operations of warps into a sequence of lines.

use crate::blocks::QueuePointers;
use crate::ports::{CoalescedLine, CoalescerRequest, HeldEntry};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Operations in the queue of eight from which on it takes no other.
const WITHOUT_ROOM: u64 = 6;

/// Queues up to seven memory operations of warps and serves the lanes of the oldest line by line.
///
/// 1. An operation is accepted at the edge at which `request.valid` and `request.ready` are high.
///    It gets an entry of the queue.
/// 2. When it is the oldest, the line of its lowest lane not yet served is found, with
///    `offered.lanes`: every lane that wants this line. From the second cycle after acceptance on,
///    `load_valid` or `store_valid` offers it; offers are registers. At the edge at which one meets
///    its `ready` the next one takes its place.
/// 3. `offered.last` marks the line that serves the last lanes. The operation leaves the queue as
///    this becomes an offer.
/// 4. `held.size`, `held.address` and `held.data` show the entry `held.entry`, the one of the line
///    that the store path merges. While `held.valid` is high it stays, even if the operation left
///    the queue.
/// 5. `request.ready` is a register: it reflects an operation that leaves a cycle later. It is low
///    in the first cycle after reset.
///
/// So an operation that touches `n` lines takes `n` cycles, and the core stalls only if it has more
/// than six others to offer meanwhile.
/// `request.mask` must not be empty.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct Coalescer<const LANES: usize> {
    /// From stage M: an operation.
    pub request: CoalescerRequest<LANES>,
    /// `request.ready` will be high in the next cycle.
    pub ready_next: Signal<Out, Bit>,

    /// To the load path: a line is offered.
    pub load_valid: Signal<Out, Bit>,
    /// The load path takes it at this edge.
    pub load_ready: Signal<In, Bit>,
    /// To the store path: a line is offered.
    pub store_valid: Signal<Out, Bit>,
    /// The store path takes it at this edge.
    pub store_ready: Signal<In, Bit>,
    /// To load path and store path: the line.
    pub offered: Flipped<CoalescedLine<LANES>>,
    /// Warp slot of the operation offered.
    pub slot: Signal<Out, Bits<5>>,
    /// Entry of the operation in the queue, which it may have left.
    pub entry: Signal<Out, Bits<3>>,

    /// From and to the store path: the entry that it reads.
    pub held: Flipped<HeldEntry<LANES>>,

    queue: QueuePointers<3>,
    entry_store: RamAsync<Bit, 3>,
    entry_slot: RamAsync<Bits<5>, 3>,
    entry_mask: RamAsync<Bits<LANES>, 3>,
    entry_size: RamAsync<Bits<2>, 3>,
    /// Addresses, of which the line address counts: those of the oldest operation can be read.
    #[init(LaneRam::new(LANES))]
    entry_line: LaneRam<32, 3>,
    /// Addresses, of which the place in the line counts: those of the entry that the store path
    /// merges.
    #[init(LaneRam::new(LANES))]
    entry_address: LaneRam<32, 3>,
    #[init(LaneRam::new(LANES))]
    entry_data: LaneRam<32, 3>,
    /// Lanes of the oldest operation that are served.
    done: Register<Bits<LANES>>,
    offer_valid: Register<Bit>,
    offer_store: Register<Bit>,
    offer_line: Register<LineAddress>,
    offer_served: Register<Bits<LANES>>,
    offer_last: Register<Bit>,
    offer_slot: Register<Bits<5>>,
    offer_entry: Register<Bits<3>>,

    /// At most five operations were in the queue a cycle ago, so that there are at most six, and
    /// the next two entries were not held; nor is that of the offer among them then.
    room: Register<Bit>,
}

impl<const LANES: usize> Logic for Coalescer<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        // Operations that come
        let used = self.queue.write_address.val() - self.queue.read_address.val();
        let has_room = (used < bits::<3>(WITHOUT_ROOM))
            && (!self.held.valid.val()
                || ((self.held.entry.val() != self.queue.write_address.val())
                    && (self.held.entry.val() != (self.queue.write_address.val() + 1))));
        self.room.d.next = has_room;
        self.ready_next.next = has_room;
        self.request.ready.next = self.room.q.val();
        let accept = self.request.valid.val() && self.room.q.val();
        self.queue.push.next = accept;
        self.entry_store.write_enable.next = accept;
        self.entry_store.write_address.next = self.queue.write_address.val();
        self.entry_store.write_data.next = self.request.store.val();
        self.entry_slot.write_enable.next = accept;
        self.entry_slot.write_address.next = self.queue.write_address.val();
        self.entry_slot.write_data.next = self.request.slot.val();
        self.entry_mask.write_enable.next = accept;
        self.entry_mask.write_address.next = self.queue.write_address.val();
        self.entry_mask.write_data.next = self.request.mask.val();
        self.entry_size.write_enable.next = accept;
        self.entry_size.write_address.next = self.queue.write_address.val();
        self.entry_size.write_data.next = self.request.size.val();
        self.entry_line.write_enable.next = accept;
        self.entry_line.write_address.next = self.queue.write_address.val();
        self.entry_line.read_address.next = self.queue.read_address.val();
        self.entry_address.write_enable.next = accept;
        self.entry_address.write_address.next = self.queue.write_address.val();
        self.entry_address.read_address.next = self.held.entry.val();
        self.entry_data.write_enable.next = accept;
        self.entry_data.write_address.next = self.queue.write_address.val();
        self.entry_data.read_address.next = self.held.entry.val();
        for i in 0..LANES {
            self.entry_line.write_data[i].next = self.request.address[i].val();
            self.entry_address.write_data[i].next = self.request.address[i].val();
            self.entry_data.write_data[i].next = self.request.data[i].val();
            self.held.address[i].next = self.entry_address.read_data[i].val();
            self.held.data[i].next = self.entry_data.read_data[i].val();
        }
        self.entry_size.read_address.next = self.held.entry.val();
        self.held.size.next = self.entry_size.read_data.val();

        // The oldest: the lowest pending lane leads; every pending lane of its line is served with
        // it.
        self.entry_store.read_address.next = self.queue.read_address.val();
        self.entry_slot.read_address.next = self.queue.read_address.val();
        self.entry_mask.read_address.next = self.queue.read_address.val();
        let busy = !self.queue.empty.val();
        let store = self.entry_store.read_data.val();
        let mut pending = bits::<LANES>(0);
        let mut first = bits::<LANES>(0);
        let mut leader = bits::<26>(0);
        let mut hits = bits::<LANES>(0);
        if busy {
            pending = self.entry_mask.read_data.val() & !self.done.q.val();
            first = pending & (!pending + 1);
            for i in 0..LANES {
                if first.get_bit(i) {
                    leader = leader | self.entry_line.read_data[i].val().get_bits::<26>(6);
                }
            }
            for i in 0..LANES {
                hits = hits.replace_bit(
                    i,
                    pending.get_bit(i) && (self.entry_line.read_data[i].val().get_bits::<26>(6) == leader),
                );
            }
        }
        let rest = pending & !hits;
        let finishes = !rest.any();

        // The offer, and whether the next one takes its place at this edge
        let free = !self.offer_valid.q.val()
            || (self.offer_store.q.val() && self.store_ready.val())
            || (!self.offer_store.q.val() && self.load_ready.val());
        if free {
            self.offer_valid.d.next = busy;
            self.offer_store.d.next = store;
            self.offer_line.d.next = leader;
            self.offer_served.d.next = hits;
            self.offer_last.d.next = finishes;
            self.offer_slot.d.next = self.entry_slot.read_data.val();
            self.offer_entry.d.next = self.queue.read_address.val();
        }
        self.load_valid.next = self.offer_valid.q.val() && !self.offer_store.q.val();
        self.store_valid.next = self.offer_valid.q.val() && self.offer_store.q.val();
        self.offered.line.next = self.offer_line.q.val();
        self.offered.lanes.next = self.offer_served.q.val();
        self.offered.last.next = self.offer_last.q.val();
        self.slot.next = self.offer_slot.q.val();
        self.entry.next = self.offer_entry.q.val();

        let taken = busy && free;
        self.queue.pop.next = taken && finishes;
        if taken {
            self.done.d.next = self.done.q.val() | hits;
            if finishes {
                self.done.d.next = bits::<LANES>(0);
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
    use std::collections::VecDeque;

    /// An operation of the model: mask, addresses, store, number.
    type Operation = (u32, Vec<u32>, bool, u32);

    fn serves_every_lane_once<const LANES: usize>() {
        let mut rng = random("coalescer");
        let mut uut = Coalescer::<LANES>::default();
        reset!(uut);
        let all = if LANES == 32 { u32::MAX } else { (1u32 << LANES) - 1 };
        let mut queue: VecDeque<Operation> = VecDeque::new();
        let mut pending = 0;
        // The entry that the store path holds, and what must stand there.
        let mut held: Option<Operation> = None;
        let (mut offered, mut lines, mut full) = (0u32, 0, 0);
        // The line on offer: its operation, address, lanes, and whether it is the last.
        let mut offer: Option<(Operation, u32, u32, bool)> = None;
        // Operations in the queue a cycle ago, and whether an entry was held.
        let mut before = None;
        for _ in 0..if LANES == 32 { 700 } else { 2500 } {
            // Lines: all lanes the same, all different, or a few.
            let range = [1, 3, 1 << 20][offered as usize % 3];
            let addresses: Vec<u32> =
                (0..LANES).map(|_| rng.gen_range(0..range) * 64 + 4 * rng.gen_range(0..16)).collect();
            let mask = (rng.gen::<u32>() & all).max(1);
            let store = rng.gen_bool(0.5);
            uut.request.valid.next = rng.gen_bool(0.7);
            uut.request.store.next = store;
            uut.request.mask.next = bits(mask.into());
            uut.request.slot.next = bits(u64::from(offered) % 32);
            uut.request.size.next = bits(u64::from(offered) % 4);
            for (i, &address) in addresses.iter().enumerate() {
                uut.request.address[i].next = bits(address.into());
                uut.request.data[i].next = bits(i as u64 + u64::from(offered));
            }
            uut.load_ready.next = rng.gen();
            uut.store_ready.next = rng.gen();
            uut.held.valid.next = held.is_some() && rng.gen();
            settle(&mut uut);
            if let Some((_, addresses, _, number)) = &held {
                assert_eq!(uut.held.size.val().to_u32(), number % 4);
                for (i, address) in addresses.iter().enumerate() {
                    assert_eq!(uut.held.address[i].val().to_u32() & 63, address & 63);
                    assert_eq!(uut.held.data[i].val().to_u32(), i as u32 + number);
                }
            }
            if !uut.held.valid.val() {
                held = None;
            }
            match before {
                Some((level, _)) if level > 5 => assert!(!uut.request.ready.val()),
                Some((_, false)) => assert!(uut.request.ready.val()),
                _ => (),
            }
            assert!(queue.len() < 8);
            before = Some((queue.len(), uut.held.valid.val()));
            full += u32::from(!uut.request.ready.val());
            let takes = uut.request.valid.val() && uut.request.ready.val();
            let loads = offer.as_ref().is_some_and(|offer| !offer.0 .2);
            let stores = offer.as_ref().is_some_and(|offer| offer.0 .2);
            assert_eq!((uut.load_valid.val(), uut.store_valid.val()), (loads, stores));
            let mut entry = None;
            if let Some((operation, line, served, last)) = &offer {
                assert_eq!(uut.offered.line.val().to_u32(), *line);
                assert_eq!(uut.offered.lanes.val().to_u32(), *served);
                assert_eq!(uut.offered.last.val(), *last);
                assert_eq!(uut.slot.val().to_u32(), operation.3 % 32);
                if if stores { uut.store_ready.val() } else { uut.load_ready.val() } {
                    lines += 1;
                    if stores {
                        held = Some(operation.clone());
                        entry = Some(uut.entry.val());
                    }
                    offer = None;
                }
            }
            if let (None, Some(operation)) = (&offer, queue.front().cloned()) {
                let (mask, addresses, ..) = &operation;
                if pending == 0 {
                    pending = *mask;
                }
                let line = addresses[pending.trailing_zeros() as usize] >> 6;
                let served = (0..LANES)
                    .filter(|&i| pending >> i & 1 == 1 && addresses[i] >> 6 == line)
                    .fold(0, |m, i| m | 1 << i);
                pending &= !served;
                if pending == 0 {
                    queue.pop_front();
                }
                offer = Some((operation, line, served, pending == 0));
            }
            if takes {
                queue.push_back((mask, addresses, store, offered));
                offered += 1;
            }
            tick!(uut);
            if let Some(entry) = entry {
                uut.held.entry.next = entry;
            }
        }
        println!("{offered} operations, {lines} lines, {full} cycles full");
        assert!(offered > 30 && lines >= offered / 2 && full > 20);
    }

    #[test]
    fn lanes_1() {
        serves_every_lane_once::<1>();
    }

    #[test]
    fn lanes_4() {
        serves_every_lane_once::<4>();
    }

    #[test]
    fn lanes_32() {
        serves_every_lane_once::<32>();
    }
}
