//! Atomic operations of a core on their way to the L2.

use crate::config::CoreOptions;
use crate::ports::{AtomicAnswer, AtomicOperands, LateResult, LineError, LineWrite, Look, RegisterRead};
use crate::types::riscv::funct5;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Sends an atomic operation of a warp to the L2, lane by lane, and returns the values.
///
/// 1. An operation is accepted at the edge at which `request_valid` and `request_ready` are high;
///    one is in flight at a time (`busy`, `slot`). The mask is never empty and addresses are
///    multiples of 4.
/// 2. From the next cycle on, each lane of the mask is a request on the port for writes, in
///    ascending order, one a cycle: tag 32 + lane, the strobe of its word, and in the data bits
///    31:0 the operand, 36:32 the warp slot, 52:48 the operation, 56:53 the index of the word in
///    its line. Stores share the port; they wait while lanes are sent, but what is offered stays.
/// 3. The answers come in any order, with the tag. When the last one is here, the values are
///    offered as those of a load, in cycles in which no load has a result: in one cycle for all
///    lanes whose line could be read, and before that each other lane by itself with
///    `result_error.valid`.
/// 4. `done` is high in the cycle of the last of these, and with it `acquire`, if this was
///    requested.
///
/// With compare-and-swap, `amocas.w` (operation 5) has a third operand, the destination register
/// before. It is read by `compare_read` when the operation is accepted, since the pipeline has two
/// read ports: lanes are sent two cycles later at the earliest, with it in data bits 127:96.
///
/// With the answer, the data cache removes the line, as it does for a store.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(options: CoreOptions)]
pub struct AtomicPath<const LANES: usize> {
    // From stage M
    /// An operation is offered.
    pub request_valid: Signal<In, Bit>,
    /// The operation is accepted at this edge; depends on registers only.
    pub request_ready: Signal<Out, Bit>,
    /// From stage M: the operation.
    pub request: AtomicOperands<LANES>,
    /// The operation: `funct5` of the instruction.
    pub request_operation: Signal<In, Bits<5>>,
    /// Later loads of the warp must see what others wrote before.
    pub request_acquire: Signal<In, Bit>,

    // To the hazard check
    /// An operation is in flight.
    pub busy: Signal<Out, Bit>,
    /// Warp slot of the operation.
    pub slot: Signal<Out, Bits<5>>,
    /// The operation is complete with this cycle.
    pub done: Signal<Out, Bit>,
    /// With `done`: the data cache is to be invalidated.
    pub acquire: Signal<Out, Bit>,

    // To and from the registers
    /// The destination register is to be read (only with compare-and-swap).
    #[there(options.compare_and_swap)]
    pub compare_read: Part<RegisterRead>,
    /// Value of the register in each lane, in the cycle after it was read.
    #[there(options.compare_and_swap)]
    #[count(LANES)]
    pub compare_value: Part<Vec<Signal<In, Bits<32>>>>,

    // From the store path
    /// Stores, with tags 0 to 31.
    pub store: Flipped<LineWrite>,

    // To and from memory: stores and atomic operations
    /// To memory: stores and atomic operations, and their answers.
    pub write: LineWrite,
    /// With the answers of atomic operations.
    pub answer: AtomicAnswer,

    /// From the load path: values of loads, which pass.
    pub load: Flipped<LateResult<LANES>>,
    /// Word of each lane, in which the value is; 0 while `load.valid` is low.
    #[count(LANES)]
    pub load_word: Vec<Signal<In, Bits<32>>>,
    /// From the load path: the line of the loads.
    pub load_error: LineError,

    /// To register write-back: values of loads and atomic operations.
    pub result: LateResult<LANES>,
    /// The values are accepted at this edge.
    pub result_ready: Signal<In, Bit>,
    /// Word of each lane: of a load the one that was given, of an atomic operation the value; 0
    /// while `result.valid` or `result_ready` is low.
    #[count(LANES)]
    pub result_word: Vec<Signal<Out, Bits<32>>>,
    /// The line of the values could not be read.
    pub result_error: Flipped<LineError>,
    /// To the warps that wait for writes (only with a network interface).
    #[there(options.network)]
    pub look: Part<Look>,

    under_way: Register<Bit>,
    held_slot: Register<Bits<5>>,
    held_rd: Register<Bits<5>>,
    held_operation: Register<Bits<5>>,
    held_acquire: Register<Bit>,
    /// Lanes that are still to be sent.
    unsent: Register<Bits<LANES>>,
    /// Lanes without an answer.
    unanswered: Register<Bits<LANES>>,
    /// Lanes whose value was not accepted yet.
    remaining: Register<Bits<LANES>>,
    failed: Register<Bits<LANES>>,
    /// Word address of each lane.
    #[count(LANES)]
    address: Vec<Register<Bits<30>>>,
    /// Operand of each lane, then its value.
    #[count(LANES)]
    value: Vec<Register<Bits<32>>>,
    /// Value that each lane compares with.
    #[there(options.compare_and_swap)]
    #[count(LANES)]
    compare: Part<Vec<Register<Bits<32>>>>,
    /// The value to compare with is to be read.
    #[there(options.compare_and_swap)]
    reading: Part<Register<Bit>>,
    /// The value to compare with was read at the last edge.
    #[there(options.compare_and_swap)]
    arrives: Part<Register<Bit>>,
    /// A store was offered and not accepted.
    store_waits: Register<Bit>,
    #[there(options.network)]
    looked: Part<Register<Bit>>,
    #[there(options.network)]
    looked_line: Part<Register<LineAddress>>,
    #[init(Pack::new(16))]
    words: Pack<Bits<32>, 32, 512>,
    #[init((0..LANES as u64).map(|lane| Constant::new((32 + lane).into())).collect())]
    number: Vec<Constant<Bits<6>>>,
}

impl<const LANES: usize> Default for AtomicPath<LANES> {
    /// The path of a core without a network interface and compare-and-swap.
    fn default() -> Self {
        Self::new(CoreOptions::default())
    }
}

impl<const LANES: usize> AtomicPath<LANES> {
    /// The path of a core with these options.
    pub fn new(options: CoreOptions) -> Self {
        Self::wired(options)
    }
}

impl<const LANES: usize> Logic for AtomicPath<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        self.request_ready.next = !self.under_way.q.val();
        self.busy.next = self.under_way.q.val();
        self.slot.next = self.held_slot.q.val();

        // To memory: the lowest lane, or a store.
        let mut sends = self.unsent.q.val().any() && !self.store_waits.q.val();
        if self.compare_read.is_there() {
            if self.reading.q.val() || self.arrives.q.val() {
                sends = false;
            }
        }
        let chosen = self.unsent.q.val() & (!self.unsent.q.val() + 1);
        let mut chosen_address = bits::<30>(0);
        let mut chosen_operand = bits::<32>(0);
        let mut chosen_tag = bits::<6>(0);
        let mut arriving = bits::<LANES>(0);
        for i in 0..LANES {
            if chosen.get_bit(i) {
                chosen_address = chosen_address | self.address[i].q.val();
                chosen_operand = chosen_operand | self.value[i].q.val();
                chosen_tag = chosen_tag | self.number[i].val();
            }
            arriving = arriving.replace_bit(
                i,
                self.write.written.valid.val() && (self.write.written.tag.val() == self.number[i].val()),
            );
        }
        for i in 2..16 {
            self.words.x[i].next = bits::<32>(0);
        }
        self.words.x[0].next = chosen_operand;
        self.words.x[1].next = bit_cast::<32, 5>(self.held_slot.q.val())
            | (bit_cast::<32, 5>(self.held_operation.q.val()) << bits::<5>(16))
            | (bit_cast::<32, 4>(chosen_address.get_bits::<4>(0)) << bits::<5>(21));
        if self.compare_read.is_there() {
            let mut chosen_compare = bits::<32>(0);
            for i in 0..LANES {
                if chosen.get_bit(i) {
                    chosen_compare = chosen_compare | self.compare[i].q.val();
                }
                if self.arrives.q.val() {
                    self.compare[i].d.next = self.compare_value[i].val();
                    // x0
                    if !self.held_rd.q.val().any() {
                        self.compare[i].d.next = bits::<32>(0);
                    }
                }
            }
            self.words.x[3].next = chosen_compare;
            self.compare_read.valid.next = self.reading.q.val();
            self.compare_read.slot.next = self.held_slot.q.val();
            self.compare_read.register.next = self.held_rd.q.val();
            self.arrives.d.next = self.reading.q.val() && self.compare_read.ready.val();
            if self.compare_read.ready.val() {
                self.reading.d.next = false;
            }
        }
        self.write.valid.next = sends || self.store.valid.val();
        self.store.ready.next = self.write.ready.val() && !sends;
        self.store_waits.d.next = self.store.valid.val() && !sends && !self.write.ready.val();
        self.write.line.next = self.store.line.val();
        self.write.data.next = self.store.data.val();
        self.write.strobe.next = self.store.strobe.val();
        self.write.tag.next = self.store.tag.val();
        if sends {
            self.write.line.next = chosen_address.get_bits::<26>(4);
            self.write.data.next = self.words.y.val();
            self.write.strobe.next =
                bits::<64>(15) << (bit_cast::<6, 4>(chosen_address.get_bits::<4>(0)) << bits::<3>(2));
            self.write.tag.next = chosen_tag;
        }
        if sends && self.write.ready.val() {
            self.unsent.d.next = self.unsent.q.val() & !chosen;
        }

        // `amoor.w` with the operand 0. The slot stays as long as the operation.
        if self.look.is_there() {
            self.looked.d.next = sends
                && self.write.ready.val()
                && (self.held_operation.q.val() == bits::<5>(funct5::AMOOR))
                && !chosen_operand.any();
            self.looked_line.d.next = chosen_address.get_bits::<26>(4);
            self.look.valid.next = self.looked.q.val();
            self.look.slot.next = self.held_slot.q.val();
            self.look.line.next = self.looked_line.q.val();
        }

        // Answers
        self.store.written.valid.next =
            self.write.written.valid.val() & !self.write.written.tag.val().get_bit(5);
        self.store.written.tag.next = self.write.written.tag.val();
        self.unanswered.d.next = self.unanswered.q.val() & !arriving;
        if self.answer.error.val() {
            self.failed.d.next = self.failed.q.val() | arriving;
        }

        // Values: first the lanes that failed, one by one, then all others.
        let complete = self.under_way.q.val() && !self.unanswered.q.val().any();
        let hands_on = complete && !self.load.valid.val() && self.result_ready.val();
        let broken = self.remaining.q.val() & self.failed.q.val();
        let mut leaving = self.remaining.q.val();
        if broken.any() {
            leaving = broken & (!broken + 1);
        }
        let mut leaving_line = bits::<26>(0);
        for i in 0..LANES {
            if broken.any() && leaving.get_bit(i) {
                leaving_line = leaving_line | self.address[i].q.val().get_bits::<26>(4);
            }
        }
        let ends = hands_on && (leaving == self.remaining.q.val());
        self.done.next = ends;
        self.acquire.next = ends && self.held_acquire.q.val();
        if hands_on {
            self.remaining.d.next = self.remaining.q.val() & !leaving;
        }
        if ends {
            self.under_way.d.next = false;
        }
        self.result.valid.next = self.load.valid.val() || complete;
        self.result.slot.next = self.held_slot.q.val();
        self.result.rd.next = self.held_rd.q.val();
        self.result.lanes.next = leaving;
        self.result.last.next = ends;
        self.result_error.valid.next = broken.any();
        self.result_error.line.next = leaving_line;
        for i in 0..LANES {
            self.result_word[i].next = self.load_word[i].val();
        }
        if hands_on {
            for i in 0..LANES {
                self.result_word[i].next = self.value[i].q.val();
            }
        }
        if self.load.valid.val() {
            self.result.slot.next = self.load.slot.val();
            self.result.rd.next = self.load.rd.val();
            self.result.lanes.next = self.load.lanes.val();
            self.result.last.next = self.load.last.val();
            self.result_error.valid.next = self.load_error.valid.val();
            self.result_error.line.next = self.load_error.line.val();
        }

        // The next operation
        if self.request_valid.val() && !self.under_way.q.val() {
            self.under_way.d.next = true;
            self.held_slot.d.next = self.request.slot.val();
            self.held_rd.d.next = self.request.rd.val();
            self.held_operation.d.next = self.request_operation.val();
            self.held_acquire.d.next = self.request_acquire.val();
            self.unsent.d.next = self.request.mask.val();
            self.unanswered.d.next = self.request.mask.val();
            self.remaining.d.next = self.request.mask.val();
            self.failed.d.next = bits::<LANES>(0);
            if self.compare_read.is_there() {
                self.reading.d.next = self.request_operation.val() == bits::<5>(funct5::AMOCAS);
            }
        }
        for i in 0..LANES {
            if self.request_valid.val() && !self.under_way.q.val() {
                self.address[i].d.next = self.request.address[i].val().get_bits::<30>(2);
                self.value[i].d.next = self.request.data[i].val();
            }
            if arriving.get_bit(i) {
                self.value[i].d.next = self.answer.word.val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{bits_to_line, random, strobe};
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// What a lane sends.
    fn expected_data(operand: u32, slot: u32, operation: u32, address: u32, compare: u32) -> [u8; 64] {
        let mut line = [0; 64];
        line[12..16].copy_from_slice(&compare.to_le_bytes());
        line[..4].copy_from_slice(&operand.to_le_bytes());
        line[4..8].copy_from_slice(&(slot | operation << 16 | (address >> 2 & 15) << 21).to_le_bytes());
        line
    }

    /// Random operations between stores and loads, with a memory that answers late and out of
    /// order.
    #[test]
    fn operations_are_sent_lane_by_lane_and_return_as_loads() {
        random_operations(false);
    }

    /// The same, with some that compare with their destination register.
    #[test]
    fn what_is_compared_is_read_before_lanes_are_sent() {
        random_operations(true);
    }

    fn random_operations(compares: bool) {
        let mut rng = random("atomic_path");
        let mut uut =
            AtomicPath::<4>::new(CoreOptions { compare_and_swap: compares, ..CoreOptions::default() });
        reset!(uut);
        let (mut failures, mut stores, mut swaps) = (0, 0, 0);
        // What each lane compared with last.
        let mut compare = [0; 4];
        for _ in 0..60 {
            let (slot, rd, mut operation) =
                (rng.gen_range(0..32u32), rng.gen_range(0..8u64), rng.gen_range(0..32u32));
            if compares && rng.gen() {
                operation = 5;
            }
            // It waits for its register, for its values.
            let (mut reads, mut arrives) = (compares && operation == 5, false);
            let (mask, acquire) = (rng.gen_range(1..16u64), rng.gen());
            let address: [u32; 4] = std::array::from_fn(|_| rng.gen::<u32>() & !3);
            let operand: [u32; 4] = rng.gen();
            uut.request_valid.next = true;
            uut.request.slot.next = bits(slot.into());
            uut.request.rd.next = bits(rd);
            uut.request_operation.next = bits(operation.into());
            uut.request_acquire.next = acquire;
            uut.request.mask.next = bits(mask);
            for lane in 0..4 {
                uut.request.address[lane].next = bits(address[lane].into());
                uut.request.data[lane].next = bits(operand[lane].into());
            }
            settle(&mut uut);
            assert!(uut.request_ready.val() && !uut.busy.val());
            tick!(uut);
            uut.request_valid.next = false;

            let mut to_send: Vec<usize> = (0..4).filter(|lane| mask >> lane & 1 == 1).collect();
            let mut unanswered: Vec<usize> = Vec::new();
            let mut answers: [Option<(u32, bool)>; 4] = [None; 4];
            let (mut returned, mut standing) = (0u64, None);
            let mut store: Option<u64> = None;
            for cycle in 0.. {
                assert!(cycle < 500, "the operation does not end");
                store = store.or_else(|| rng.gen_bool(0.3).then(|| rng.gen_range(0..32)));
                uut.store.valid.next = store.is_some();
                uut.store.tag.next = bits(store.unwrap_or(0));
                uut.store.line.next = bits(store.unwrap_or(0) + 100);
                uut.write.ready.next = rng.gen();
                let answer = (!unanswered.is_empty() && rng.gen_bool(0.4))
                    .then(|| unanswered.swap_remove(rng.gen_range(0..unanswered.len())));
                let (word, error) = (rng.gen::<u32>(), rng.gen_bool(0.2));
                // Answers of stores pass without effect.
                uut.write.written.valid.next = answer.is_some() || rng.gen();
                uut.write.written.tag.next =
                    bits(answer.map_or(rng.gen_range(0..32), |lane| 32 + lane as u64));
                uut.answer.word.next = bits(word.into());
                uut.answer.error.next = error;
                let loads = rng.gen_bool(0.3);
                uut.load.valid.next = loads;
                let ready = rng.gen_bool(0.7);
                uut.result_ready.next = ready;
                uut.load_word[1].next = bits(7);
                uut.load.lanes.next = bits(2);
                if compares {
                    uut.compare_read.ready.next = rng.gen();
                    for (port, compare) in uut.compare_value.iter_mut().zip(&mut compare) {
                        let value: u32 = rng.gen();
                        port.next = bits(value.into());
                        if arrives {
                            *compare = if rd == 0 { 0 } else { value };
                        }
                    }
                }
                settle(&mut uut);
                assert!(uut.busy.val() && !uut.request_ready.val());
                assert_eq!(uut.slot.val().to_u32(), slot);
                let held_back = reads || arrives;
                if compares {
                    arrives = reads && uut.compare_read.ready.val();
                    assert_eq!(uut.compare_read.valid.val(), reads);
                    if reads {
                        let read = (&uut.compare_read.slot, &uut.compare_read.register);
                        assert_eq!((read.0.val().to_u32(), read.1.val().to_u64()), (slot, rd));
                    }
                    reads &= !arrives;
                    swaps += u32::from(arrives);
                }

                let offer = uut.write.valid.val().then(|| uut.write.tag.val().to_u64());
                assert!(standing.is_none() || standing == offer, "an offer changed");
                standing = offer.filter(|_| !uut.write.ready.val());
                match offer {
                    Some(tag) if tag >= 32 => {
                        assert!(!held_back);
                        let lane = to_send[0];
                        assert_eq!(tag, 32 + lane as u64);
                        assert_eq!(uut.write.line.val().to_u32(), address[lane] >> 6);
                        assert_eq!(strobe(uut.write.strobe.val()), 15 << (address[lane] & 63));
                        let data =
                            expected_data(operand[lane], slot, operation, address[lane], compare[lane]);
                        assert_eq!(bits_to_line(uut.write.data.val()), data);
                        assert!(!uut.store.ready.val());
                        if uut.write.ready.val() {
                            unanswered.push(to_send.remove(0));
                        }
                    }
                    Some(tag) => {
                        assert_eq!(Some(tag), store);
                        assert_eq!(uut.write.line.val().to_u64(), tag + 100);
                        assert_eq!(uut.store.ready.val(), uut.write.ready.val());
                        if uut.write.ready.val() {
                            store = None;
                            stores += 1;
                        }
                    }
                    None => assert!(store.is_none() && (to_send.is_empty() || held_back)),
                }

                let got = uut.result.lanes.val().to_u64();
                if loads {
                    assert!(uut.result.valid.val() && got == 2 && !uut.done.val());
                    assert_eq!(uut.result_word[1].val().to_u32(), 7);
                } else if uut.result.valid.val() && !ready {
                    assert!(!uut.result.last.val() && !uut.done.val() && !uut.acquire.val());
                } else if uut.result.valid.val() {
                    assert!(returned & got == 0 && got != 0);
                    returned |= got;
                    for lane in (0..4).filter(|lane| got >> lane & 1 == 1) {
                        let (value, error) = answers[lane].expect("an answer");
                        assert_eq!(uut.result_word[lane].val().to_u32(), value);
                        assert_eq!(uut.result_error.valid.val(), error);
                        if error {
                            assert_eq!(got, 1 << lane);
                            assert_eq!(uut.result_error.line.val().to_u32(), address[lane] >> 6);
                            failures += 1;
                        }
                    }
                    let (got_slot, got_rd) = (uut.result.slot.val().to_u32(), uut.result.rd.val().to_u64());
                    assert_eq!((got_slot, got_rd), (slot, rd));
                    assert_eq!(uut.result.last.val(), returned == mask);
                    assert_eq!(uut.done.val(), returned == mask);
                    assert_eq!(uut.acquire.val(), uut.done.val() && acquire);
                }
                if let Some(lane) = answer {
                    answers[lane] = Some((word, error));
                }
                tick!(uut);
                if returned == mask {
                    break;
                }
            }
            uut.store.valid.next = false;
            uut.write.written.valid.next = false;
            uut.load.valid.next = false;
        }
        assert!(failures > 5 && stores > 20, "{failures} failures, {stores} stores");
        assert_eq!(swaps > 10, compares, "{swaps}");
    }
}
