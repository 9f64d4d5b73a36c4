//! Turns the memory operation of a warp into a sequence of lines.

use crate::prelude::*;

/// Holds one memory operation of a warp and serves its lanes line by line.
///
/// 1. The operation is accepted at the edge at which `request_valid` and `request_ready` are high.
/// 2. From the next cycle on, `load_valid` or `store_valid` offers the line of the lowest lane not yet served, with
///    `served`: every lane that wants this line. At the edge at which the offer meets its `ready` these lanes are done.
/// 3. `last` marks the line that serves the last lanes. The next operation can be accepted at the edge that takes the last
///    line of a load; after a store it is accepted once `store_idle` is high, because the store path reads `size`,
///    `offset` and `data` in the cycle after the line was taken.
///
/// So a load that touches `n` lines takes `n` cycles, a store one more. `request_mask` must not be empty.
#[derive(Clone, Debug, LogicBlock)]
pub struct Coalescer<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,

    /// An operation is offered.
    pub request_valid: Signal<In, Bit>,
    /// The operation is accepted at this edge if it is offered.
    pub request_ready: Signal<Out, Bit>,
    /// Warp slot of the operation.
    pub request_slot: Signal<In, Bits<5>>,
    /// Store (else load).
    pub request_store: Signal<In, Bit>,
    /// 0 = byte, 1 = half word, 2 = word.
    pub request_size: Signal<In, Bits<2>>,
    /// Lanes that take part; at least one.
    pub request_mask: Signal<In, Bits<LANES>>,
    /// Byte address of each lane, a multiple of the size.
    pub request_address: Vec<Signal<In, Bits<32>>>,
    /// Register of each lane whose lowest bytes a store writes.
    pub request_data: Vec<Signal<In, Bits<32>>>,

    /// A line of a load is offered.
    pub load_valid: Signal<Out, Bit>,
    /// The load path takes it at this edge.
    pub load_ready: Signal<In, Bit>,
    /// A line of a store is offered.
    pub store_valid: Signal<Out, Bit>,
    /// The store path takes it at this edge.
    pub store_ready: Signal<In, Bit>,
    /// The store path does not need `size`, `offset` and `data` after this cycle.
    pub store_idle: Signal<In, Bit>,
    /// Line address of the offer.
    pub line: Signal<Out, Bits<26>>,
    /// Lanes that the line serves.
    pub served: Signal<Out, Bits<LANES>>,
    /// No lane remains after this line.
    pub last: Signal<Out, Bit>,
    /// Warp slot of the operation held.
    pub slot: Signal<Out, Bits<5>>,
    /// Its size.
    pub size: Signal<Out, Bits<2>>,
    /// Byte offset of each lane in its line.
    pub offset: Vec<Signal<Out, Bits<6>>>,
    /// Store data of each lane.
    pub data: Vec<Signal<Out, Bits<32>>>,

    busy: Register<Bit>,
    op_store: Register<Bit>,
    op_slot: Register<Bits<5>>,
    op_size: Register<Bits<2>>,
    pending: Register<Bits<LANES>>,
    lane_address: Vec<Register<Bits<32>>>,
    lane_data: Vec<Register<Bits<32>>>,

    accept: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    first: Signal<Local, Bits<LANES>>,
    leader: Signal<Local, Bits<26>>,
    hits: Signal<Local, Bits<LANES>>,
    rest: Signal<Local, Bits<LANES>>,
    finishes: Signal<Local, Bit>,
}

impl<const LANES: usize> Default for Coalescer<LANES> {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            request_valid: Signal::default(),
            request_ready: Signal::default(),
            request_slot: Signal::default(),
            request_store: Signal::default(),
            request_size: Signal::default(),
            request_mask: Signal::default(),
            request_address: (0..LANES).map(|_| Signal::default()).collect(),
            request_data: (0..LANES).map(|_| Signal::default()).collect(),
            load_valid: Signal::default(),
            load_ready: Signal::default(),
            store_valid: Signal::default(),
            store_ready: Signal::default(),
            store_idle: Signal::default(),
            line: Signal::default(),
            served: Signal::default(),
            last: Signal::default(),
            slot: Signal::default(),
            size: Signal::default(),
            offset: (0..LANES).map(|_| Signal::default()).collect(),
            data: (0..LANES).map(|_| Signal::default()).collect(),
            busy: Register::default(),
            op_store: Register::default(),
            op_slot: Register::default(),
            op_size: Register::default(),
            pending: Register::default(),
            lane_address: (0..LANES).map(|_| Register::default()).collect(),
            lane_data: (0..LANES).map(|_| Register::default()).collect(),
            accept: Signal::default(),
            taken: Signal::default(),
            first: Signal::default(),
            leader: Signal::default(),
            hits: Signal::default(),
            rest: Signal::default(),
            finishes: Signal::default(),
        }
    }
}

impl<const LANES: usize> Logic for Coalescer<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, op_store, op_slot, op_size, pending);
        for i in 0..LANES {
            self.lane_address[i].clock.next = self.clock.val();
            self.lane_address[i].reset.next = self.reset.val();
            self.lane_address[i].d.next = self.lane_address[i].q.val();
            self.lane_data[i].clock.next = self.clock.val();
            self.lane_data[i].reset.next = self.reset.val();
            self.lane_data[i].d.next = self.lane_data[i].q.val();
        }

        // The lowest pending lane leads; every pending lane of its line goes along.
        self.first.next = bits::<LANES>(0);
        self.leader.next = bits::<26>(0);
        self.hits.next = bits::<LANES>(0);
        if self.busy.q.val() {
            self.first.next = self.pending.q.val() & (!self.pending.q.val() + 1);
            for i in 0..LANES {
                if self.first.val().get_bit(i) {
                    self.leader.next = self.leader.val() | self.lane_address[i].q.val().get_bits::<26>(6);
                }
            }
            for i in 0..LANES {
                self.hits.next = self.hits.val().replace_bit(
                    i,
                    self.pending.q.val().get_bit(i)
                        && (self.lane_address[i].q.val().get_bits::<26>(6) == self.leader.val()),
                );
            }
        }
        self.rest.next = self.pending.q.val() & !self.hits.val();
        self.finishes.next = !self.rest.val().any();

        self.load_valid.next = self.busy.q.val() && !self.op_store.q.val();
        self.store_valid.next = self.busy.q.val() && self.op_store.q.val();
        self.line.next = self.leader.val();
        self.served.next = self.hits.val();
        self.last.next = self.finishes.val();
        self.slot.next = self.op_slot.q.val();
        self.size.next = self.op_size.q.val();
        for i in 0..LANES {
            self.offset[i].next = self.lane_address[i].q.val().get_bits::<6>(0);
            self.data[i].next = self.lane_data[i].q.val();
        }

        self.taken.next = self.busy.q.val()
            && ((self.op_store.q.val() && self.store_ready.val())
                || (!self.op_store.q.val() && self.load_ready.val()));
        if self.taken.val() {
            self.pending.d.next = self.rest.val();
            if self.finishes.val() {
                self.busy.d.next = false;
            }
        }

        if self.busy.q.val() {
            self.accept.next = !self.op_store.q.val() && self.load_ready.val() && self.finishes.val();
        } else {
            self.accept.next = self.store_idle.val();
        }
        self.request_ready.next = self.accept.val();
        if self.accept.val() && self.request_valid.val() {
            self.busy.d.next = true;
            self.op_store.d.next = self.request_store.val();
            self.op_slot.d.next = self.request_slot.val();
            self.op_size.d.next = self.request_size.val();
            self.pending.d.next = self.request_mask.val();
            for i in 0..LANES {
                self.lane_address[i].d.next = self.request_address[i].val();
                self.lane_data[i].d.next = self.request_data[i].val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{random, reset, settle, tick};
    use rand::Rng;

    fn serves_every_lane_once<const LANES: usize>() {
        let mut rng = random("coalescer");
        let mut uut = Coalescer::<LANES>::default();
        reset!(uut);
        let all = if LANES == 32 { u32::MAX } else { (1u32 << LANES) - 1 };
        for round in 0..300 {
            // Lines: all lanes the same, all different, or a few.
            let lines = [1, 3, 1 << 20][round % 3];
            let addresses: Vec<u32> =
                (0..LANES).map(|_| rng.gen_range(0..lines) * 64 + 4 * rng.gen_range(0..16)).collect();
            let mask = (rng.gen::<u32>() & all).max(1);
            let store = rng.gen_bool(0.5);
            uut.request_valid.next = true;
            uut.request_store.next = store;
            uut.request_mask.next = bits(mask.into());
            uut.request_slot.next = bits(round as u64 % 32);
            uut.request_size.next = bits(2);
            for (i, &address) in addresses.iter().enumerate() {
                uut.request_address[i].next = bits(address.into());
                uut.request_data[i].next = bits(i as u64 + round as u64);
            }
            uut.store_idle.next = true;
            uut.load_ready.next = false;
            uut.store_ready.next = false;
            settle(&mut uut);
            assert!(uut.request_ready.val());
            tick!(uut);
            uut.request_valid.next = false;
            let mut pending = mask;
            while pending != 0 {
                uut.load_ready.next = rng.gen();
                uut.store_ready.next = rng.gen();
                settle(&mut uut);
                assert_eq!((uut.load_valid.val(), uut.store_valid.val()), (!store, store));
                let line = addresses[pending.trailing_zeros() as usize] >> 6;
                let served = (0..LANES)
                    .filter(|&i| pending >> i & 1 == 1 && addresses[i] >> 6 == line)
                    .fold(0, |m, i| m | 1 << i);
                assert_eq!(uut.line.val().to_u32(), line);
                assert_eq!(uut.served.val().to_u32(), served);
                assert_eq!(uut.last.val(), served == pending);
                assert_eq!(uut.slot.val().to_u32(), round as u32 % 32);
                for (i, address) in addresses.iter().enumerate() {
                    assert_eq!(uut.offset[i].val().to_u32(), address & 63);
                    assert_eq!(uut.data[i].val().to_u32(), (i + round) as u32);
                }
                let taken = if store { uut.store_ready.val() } else { uut.load_ready.val() };
                assert_eq!(uut.request_ready.val(), !store && taken && served == pending);
                if taken {
                    pending &= !served;
                }
                tick!(uut);
            }
            uut.store_idle.next = false;
            settle(&mut uut);
            assert!(!uut.load_valid.val() && !uut.store_valid.val() && !uut.request_ready.val());
        }
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
