//! Stage M: a memory operation on its way from stage W to the memory that makes it.

use crate::ports::{AtomicRequest, LaneOperation, MemoryRequest};
use hermes_hdl::prelude::*;

/// Holds one memory operation in registers, so that late signals of stage W do not reach into the
/// memories.
///
/// 1. An operation is taken at the edge at which `request.valid` and `request.ready` are high, and
///    is on the `held_*` ports from the next cycle on.
/// 2. It leaves at the edge at which `held_valid` and the `ready` of its memory are high:
///    `scratchpad_ready` with `held_scratchpad`, else `memory_ready`. The next one may be taken at
///    the same edge.
/// 3. `request.ready` is a register, low in the first cycle after reset: what `ready_next` was a
///    cycle ago. While it is low, an operation that does not leave stays.
#[clocked]
#[derive(LogicBlock)]
#[new(atomics: bool)]
pub struct MemoryStage<const LANES: usize> {
    /// From stage W: an operation.
    pub request: MemoryRequest<LANES>,
    /// Byte address of each lane.
    #[count(LANES)]
    pub request_address: Vec<Signal<In, Bits<32>>>,
    /// Register of each lane to store, or operand of the atomic operation.
    #[count(LANES)]
    pub request_data: Vec<Signal<In, Bits<32>>>,
    /// The operation, if it is an atomic one (only with atomic instructions).
    #[there(atomics)]
    pub request_atomic: Part<AtomicRequest>,

    // To the memories
    /// An operation is here.
    pub held_valid: Signal<Out, Bit>,
    /// The shared memory takes it at this edge, if it is for that.
    pub memory_ready: Signal<In, Bit>,
    /// The scratchpad takes it at this edge, if it is for that.
    pub scratchpad_ready: Signal<In, Bit>,
    /// Whatever may be here in the next cycle will leave then, since its memory will be ready.
    pub ready_next: Signal<In, Bit>,
    /// The operation goes to the scratchpad. This and the following ports are those of the request.
    pub held_scratchpad: Signal<Out, Bit>,
    /// To the memories: the operation.
    pub held: Flipped<LaneOperation<LANES>>,
    /// The operation, if it is an atomic one (only with atomic instructions).
    #[there(atomics)]
    pub held_atomic: Part<Flipped<AtomicRequest>>,

    ready: Register<Bit>,
    valid: Register<Bit>,
    scratchpad: Register<Bit>,
    slot: Register<Bits<5>>,
    store: Register<Bit>,
    size: Register<Bits<2>>,
    signed: Register<Bit>,
    rd: Register<Bits<5>>,
    mask: Register<Bits<LANES>>,
    #[init(LaneRegisters::new(LANES))]
    address: LaneRegisters<32>,
    #[init(LaneRegisters::new(LANES))]
    data: LaneRegisters<32>,
    #[there(atomics)]
    atomic: Part<Register<Bit>>,
    #[there(atomics)]
    operation: Part<Register<Bits<5>>>,
    #[there(atomics)]
    acquire: Part<Register<Bit>>,
}

impl<const LANES: usize> MemoryStage<LANES> {
    /// A stage with or without atomic instructions.
    pub fn new(atomics: bool) -> Self {
        Self::wired(atomics)
    }
}

impl<const LANES: usize> Logic for MemoryStage<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        let mut leaves = self.memory_ready.val();
        if self.scratchpad.q.val() {
            leaves = self.scratchpad_ready.val();
        }
        self.ready.d.next = self.ready_next.val();
        self.request.ready.next = self.ready.q.val();
        self.address.write_enable.next = self.ready.q.val();
        self.data.write_enable.next = self.ready.q.val();
        if leaves {
            self.valid.d.next = false;
        }
        // `request.valid` is known last, so it decides about nothing but the valid bit.
        if self.ready.q.val() {
            self.valid.d.next = self.request.valid.val();
            self.scratchpad.d.next = self.request.scratchpad.val();
            self.slot.d.next = self.request.slot.val();
            self.store.d.next = self.request.store.val();
            self.size.d.next = self.request.size.val();
            self.signed.d.next = self.request.signed.val();
            self.rd.d.next = self.request.rd.val();
            self.mask.d.next = self.request.mask.val();
        }
        self.held_valid.next = self.valid.q.val();
        self.held_scratchpad.next = self.scratchpad.q.val();
        self.held.slot.next = self.slot.q.val();
        self.held.store.next = self.store.q.val();
        self.held.size.next = self.size.q.val();
        self.held.signed.next = self.signed.q.val();
        self.held.rd.next = self.rd.q.val();
        self.held.mask.next = self.mask.q.val();
        for i in 0..LANES {
            self.address.d[i].next = self.request_address[i].val();
            self.data.d[i].next = self.request_data[i].val();
            self.held.address[i].next = self.address.q[i].val();
            self.held.data[i].next = self.data.q[i].val();
        }
        if self.request_atomic.is_there() {
            if self.ready.q.val() {
                self.atomic.d.next = self.request_atomic.valid.val();
                self.operation.d.next = self.request_atomic.operation.val();
                self.acquire.d.next = self.request_atomic.acquire.val();
            }
            self.held_atomic.valid.next = self.atomic.q.val();
            self.held_atomic.operation.next = self.operation.q.val();
            self.held_atomic.acquire.next = self.acquire.q.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// Every operation goes to its memory once, unchanged and in order, in the next cycle at the
    /// earliest; the stage holds one, and another follows it without a gap.
    #[test]
    fn operations_pass_once_and_in_order() {
        for atomics in [false, true] {
            let mut random = hermes_hdl::testing::random();
            let mut uut = MemoryStage::<4>::new(atomics);
            reset!(uut);
            let mut waiting = VecDeque::new();
            let (mut passed, mut followed, mut ready, mut takes) = (0, 0, [false; 2], false);
            for cycle in 0..4_000u64 {
                let scratchpad: bool = random.gen();
                let fields: [u64; 9] = std::array::from_fn(|_| random.gen());
                let offered = random.gen_bool(0.7);
                uut.request.valid.next = offered;
                uut.request.scratchpad.next = scratchpad;
                uut.request.slot.next = bits(fields[0] & 31);
                uut.request.store.next = fields[1] & 1 == 1;
                uut.request.size.next = bits(fields[2] & 3);
                uut.request.signed.next = fields[3] & 1 == 1;
                uut.request.rd.next = bits(fields[4] & 31);
                uut.request.mask.next = bits(fields[5] & 15);
                for lane in 0..4 {
                    uut.request_address[lane].next =
                        bits((fields[6].wrapping_add(lane as u64)) & 0xffff_ffff);
                    uut.request_data[lane].next = bits((fields[7] ^ lane as u64) & 0xffff_ffff);
                }
                if atomics {
                    uut.request_atomic.valid.next = fields[8] & 1 == 1;
                    uut.request_atomic.operation.next = bits(fields[8] >> 1 & 31);
                    uut.request_atomic.acquire.next = fields[8] >> 6 & 1 == 1;
                }
                let coming = [random.gen_bool(0.8), random.gen_bool(0.8)];
                uut.ready_next.next = coming == [true; 2];
                uut.memory_ready.next = ready[0];
                uut.scratchpad_ready.next = ready[1];
                settle(&mut uut);

                assert_eq!(uut.held_valid.val(), !waiting.is_empty(), "cycle {cycle}");
                let mut leaves = false;
                if let Some((to_scratchpad, expected)) = waiting.front() {
                    let held: [u64; 9] = [
                        uut.held.slot.val().to_u64(),
                        uut.held.store.val().into(),
                        uut.held.size.val().to_u64(),
                        uut.held.signed.val().into(),
                        uut.held.rd.val().to_u64(),
                        uut.held.mask.val().to_u64(),
                        uut.held.address[3].val().to_u64(),
                        uut.held.data[2].val().to_u64(),
                        if atomics {
                            u64::from(uut.held_atomic.valid.val())
                                | uut.held_atomic.operation.val().to_u64() << 1
                                | u64::from(uut.held_atomic.acquire.val()) << 6
                        } else {
                            0
                        },
                    ];
                    assert_eq!(
                        (uut.held_scratchpad.val(), held),
                        (*to_scratchpad, *expected),
                        "cycle {cycle}"
                    );
                    leaves = ready[usize::from(*to_scratchpad)];
                }
                assert_eq!(uut.request.ready.val(), takes, "cycle {cycle}");
                followed += usize::from(leaves && offered && takes);
                if leaves {
                    waiting.pop_front();
                    passed += 1;
                }
                if offered && takes {
                    assert!(waiting.is_empty());
                    let expected = [
                        fields[0] & 31,
                        fields[1] & 1,
                        fields[2] & 3,
                        fields[3] & 1,
                        fields[4] & 31,
                        fields[5] & 15,
                        fields[6].wrapping_add(3) & 0xffff_ffff,
                        (fields[7] ^ 2) & 0xffff_ffff,
                        if atomics { fields[8] & 0x7f } else { 0 },
                    ];
                    waiting.push_back((scratchpad, expected));
                }
                (ready, takes) = (coming, coming == [true; 2]);
                tick!(uut);
            }
            assert!(passed > 1_000 && followed > 500, "{passed} {followed}");
        }
    }
}
