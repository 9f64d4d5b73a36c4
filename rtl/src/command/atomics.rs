//! Atomic operations of the command processor.

use crate::blocks::BinaryEncoder;
use crate::ports::{AtomicAnswer, LineWrite, ReservationEnd};
use crate::types::riscv::funct5;
use hermes_hdl::prelude::*;

/// Sends the atomic operations of the harts to the L2, one at a time for all harts, on the port for
/// writes that they share with the stores.
///
/// 1. `start_valid` in stage W starts an operation; it must not come while `busy` is high. `busy`
///    is high from the next cycle on until the answer is taken.
/// 2. It is on offer from the next cycle on, unless a store is on offer that was not accepted; then
///    behind that. Stores wait while it is on offer; what is on offer stays. Its tag is 0x20 +
///    hart, and its line is what [`L2Atomics`](crate::l2::L2Atomics) expects, with the hart as warp
///    slot, so each hart has a reservation of its own.
/// 3. From the cycle of `write.written.valid` with its tag on `answer_valid` is high, until the
///    edge with `answer_ready`: `answer_value` is what goes to the register, `answer_error` says
///    that the line could not be read.
/// 4. An operation of a hart that is held is performed all the same; its answer must be taken.
/// 5. The reservation of a hart ends (`end`) when the hart leaves the loop of its `lr.w` (`leaves`)
///    or starts another atomic operation than `sc.w`, as those of a warp do
///    ([`ReservationEnds`](crate::core::ReservationEnds)). `sc.w` of a hart that has none since
///    then has warp slot 31, and fails.
/// 6. With compare-and-swap, `amocas.w` compares with its destination register, which is read in
///    the cycle after the start (`compare_read`); it is on offer two cycles later than others, with
///    that in data bits 127:96.
#[clocked]
#[derive(LogicBlock)]
#[new(compares: bool)]
#[held(answer_valid, answer_ready, answer_hart, answer_value, answer_error)]
pub struct CommandAtomics {
    /// Stage W: an operation starts.
    pub start_valid: Signal<In, Bit>,
    /// Stage W: hart of the operation.
    pub start_hart: Signal<In, Bits<3>>,
    /// Stage W: word of the instruction.
    pub start_word: Signal<In, Bits<32>>,
    /// Stage W: address of the operation, a multiple of 4.
    pub start_address: Signal<In, Bits<32>>,
    /// Stage W: operand of the operation.
    pub start_data: Signal<In, Bits<32>>,
    /// Harts that are held, or that did at this edge what a loop of `lr.w` and `sc.w` does not.
    pub leaves: Signal<In, Bits<8>>,
    /// To the banks of the L2: the reservation of a hart ends.
    pub end: ReservationEnd,
    /// An operation is under way.
    pub busy: Signal<Out, Bit>,
    /// The operation is performed, and its answer is offered.
    pub answer_valid: Signal<Out, Bit>,
    /// The answer is taken at this edge.
    pub answer_ready: Signal<In, Bit>,
    /// Hart of the operation that is performed.
    pub answer_hart: Signal<Out, Bits<3>>,
    /// The word before; of `sc.w` 0 if it stored, else 1.
    pub answer_value: Signal<Out, Bits<32>>,
    /// The line could not be read.
    pub answer_error: Signal<Out, Bit>,
    /// From the store buffer: stores, with bit 5 of the tag low.
    pub store: Flipped<LineWrite>,
    /// To memory: stores and atomic operations, and their answers.
    pub write: LineWrite,
    /// With the answers of atomic operations.
    pub atomic_answer: AtomicAnswer,
    /// An operation is under way, and is to be sent.
    busy_q: Register<Bit>,
    sending: Register<Bit>,
    /// A store is on offer and was not accepted.
    stays: Register<Bit>,
    hart: Register<Bits<3>>,
    address: Register<Bits<32>>,
    operation: Register<Bits<5>>,
    operand: Register<Bits<32>>,
    /// Harts that started `lr.w`, and neither `sc.w` nor anything that ends the reservation since.
    reserves: Register<Bits<8>>,
    /// Harts that started `sc.w` behind that, and did not leave their loop since.
    tried: Register<Bits<8>>,
    /// Harts whose reservation is still to be ended.
    ending: Register<Bits<8>>,
    encoder: BinaryEncoder,
    /// The operation's hart is one of them.
    with_reservation: Register<Bit>,
    /// The destination register is read at this edge (only with compare-and-swap, as the next two).
    #[there(compares)]
    pub compare_read: Part<Signal<Out, Bit>>,
    /// Hart (7:5) and number of the destination register.
    #[there(compares)]
    pub compare_address: Part<Signal<Out, Bits<8>>>,
    /// Value of the destination register, in the cycle after it was read.
    #[there(compares)]
    pub compare_value: Part<Signal<In, Bits<32>>>,
    #[there(compares)]
    rd: Part<Register<Bits<5>>>,
    #[there(compares)]
    compare: Part<Register<Bits<32>>>,
    #[there(compares)]
    reading: Part<Register<Bit>>,
    #[there(compares)]
    arrives: Part<Register<Bit>>,
    /// The answer is here.
    here: Register<Bit>,
    value: Register<Bits<32>>,
    error: Register<Bit>,
}

impl CommandAtomics {
    /// Operations of harts without or with compare-and-swap.
    pub fn new(compares: bool) -> Self {
        Self::wired(compares)
    }
}

impl Logic for CommandAtomics {
    #[hdl_gen]
    fn update(&mut self) {
        let start_operation = self.start_word.val().get_bits::<5>(27);

        // On offer
        let mut offers = self.sending.q.val() & !self.stays.q.val();
        if self.compare_read.is_there() {
            if self.reading.q.val() | self.arrives.q.val() {
                offers = false;
            }
        }
        self.write.valid.next = self.store.valid.val() | offers;
        self.write.line.next = self.store.line.val();
        self.write.data.next = self.store.data.val();
        self.write.strobe.next = self.store.strobe.val();
        self.write.tag.next = self.store.tag.val();
        self.store.ready.next = self.write.ready.val() & !offers;
        let mut slot = bit_cast::<5, 3>(self.hart.q.val());
        if !self.with_reservation.q.val() {
            slot = bits::<5>(31);
        }
        if offers {
            self.write.line.next = self.address.q.val().get_bits::<26>(6);
            self.write.data.next = bit_cast::<512, 32>(self.operand.q.val())
                | (bit_cast::<512, 5>(slot) << bits::<6>(32))
                | (bit_cast::<512, 5>(self.operation.q.val()) << bits::<6>(48))
                | (bit_cast::<512, 4>(self.address.q.val().get_bits::<4>(2)) << bits::<6>(53));
            self.write.strobe.next =
                bits::<64>(15) << (bit_cast::<6, 4>(self.address.q.val().get_bits::<4>(2)) << bits::<3>(2));
            self.write.tag.next = bits::<6>(0x20) | bit_cast::<6, 3>(self.hart.q.val());
        }
        if self.compare_read.is_there() {
            if offers {
                self.write.data.next = bit_cast::<512, 32>(self.operand.q.val())
                    | (bit_cast::<512, 5>(slot) << bits::<7>(32))
                    | (bit_cast::<512, 5>(self.operation.q.val()) << bits::<7>(48))
                    | (bit_cast::<512, 4>(self.address.q.val().get_bits::<4>(2)) << bits::<7>(53))
                    | (bit_cast::<512, 32>(self.compare.q.val()) << bits::<7>(96));
            }
            self.reading.d.next = self.start_valid.val() & (start_operation == bits::<5>(funct5::AMOCAS));
            self.arrives.d.next = self.reading.q.val();
            self.compare_read.next = self.reading.q.val();
            self.compare_address.next =
                (bit_cast::<8, 3>(self.hart.q.val()) << bits::<3>(5)) | bit_cast::<8, 5>(self.rd.q.val());
            if self.start_valid.val() {
                self.rd.d.next = self.start_word.val().get_bits::<5>(7);
            }
            if self.arrives.q.val() {
                self.compare.d.next = self.compare_value.val();
                // x0
                if !self.rd.q.val().any() {
                    self.compare.d.next = bits::<32>(0);
                }
            }
        }
        let reserves_now = start_operation == bits::<5>(funct5::LR);
        self.stays.d.next = self.store.valid.val() & !offers & !self.write.ready.val();
        if self.start_valid.val() {
            self.hart.d.next = self.start_hart.val();
            self.address.d.next = self.start_address.val();
            self.operation.d.next = start_operation;
            self.operand.d.next = self.start_data.val();
            self.with_reservation.d.next =
                reserves_now | self.reserves.q.val().get_bit(self.start_hart.val().index());
        }
        let mut starting = bits::<8>(0);
        if self.start_valid.val() {
            starting = bits::<8>(1) << self.start_hart.val();
        }
        let mut reserving = bits::<8>(0);
        if reserves_now {
            reserving = starting;
        }
        // `sc.w` itself ends the reservation, and `lr.w` behind it stays in the loop.
        let mut ended =
            (self.reserves.q.val() | (self.tried.q.val() & !reserving)) & (self.leaves.val() | starting);
        let mut trying = bits::<8>(0);
        if start_operation == bits::<5>(funct5::SC) {
            ended = (self.reserves.q.val() | self.tried.q.val()) & self.leaves.val() & !starting;
            trying = starting & (self.reserves.q.val() | self.tried.q.val());
        }
        self.reserves.d.next = (self.reserves.q.val() & !(starting | self.leaves.val())) | reserving;
        self.tried.d.next = (self.tried.q.val() & !(starting | self.leaves.val())) | trying;
        // `lr.w` of a hart that left meanwhile
        let comes = self.write.written.valid.val() & self.write.written.tag.val().get_bit(5);
        always!(one_operation_is_under_way, !self.start_valid.val() | !self.busy_q.q.val());
        always!(an_answer_is_awaited, !comes | (self.busy_q.q.val() & !self.sending.q.val()));
        let with_hart = bits::<8>(1) << self.hart.q.val();
        if comes & (self.operation.q.val() == bits::<5>(funct5::LR)) {
            ended = ended | (with_hart & !self.reserves.q.val());
        }
        let chosen = self.ending.q.val() & (!self.ending.q.val() + bits::<8>(1));
        self.ending.d.next = (self.ending.q.val() & !chosen) | ended;
        self.encoder.one_hot.next = bit_cast::<32, 8>(chosen);
        self.end.valid.next = self.ending.q.val().any();
        self.end.left.next = true;
        self.end.slot.next = self.encoder.index.val();
        self.sending.d.next =
            self.start_valid.val() | (self.sending.q.val() & !(offers & self.write.ready.val()));

        // The answer
        self.store.written.valid.next = self.write.written.valid.val();
        self.store.written.tag.next = self.write.written.tag.val();
        let answers = comes | self.here.q.val();
        self.answer_valid.next = answers;
        self.answer_hart.next = self.hart.q.val();
        self.answer_value.next = self.atomic_answer.word.val();
        self.answer_error.next = self.atomic_answer.error.val();
        if self.here.q.val() {
            self.answer_value.next = self.value.q.val();
            self.answer_error.next = self.error.q.val();
        }
        if comes {
            self.value.d.next = self.atomic_answer.word.val();
            self.error.d.next = self.atomic_answer.error.val();
        }
        self.here.d.next = answers & !self.answer_ready.val();
        self.busy_q.d.next =
            self.start_valid.val() | (self.busy_q.q.val() & !(answers & self.answer_ready.val()));
        self.busy.next = self.busy_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    /// Operations and stores at random: each passes once, what is on offer stays, and answers come
    /// back.
    #[test]
    fn operations_pass_between_stores() {
        let mut random = random();
        let mut unit = CommandAtomics::new(true);
        reset!(unit);
        let mut stores: VecDeque<u64> = VecDeque::new();
        let mut next = 0u64;
        // The operation under way: hart, word, address, operand, warp slot; whether it was sent,
        // when it is answered.
        let mut operation: Option<(u64, u64, u64, u64, u64)> = None;
        // Harts with a reservation, and those whose end is still to be told.
        let (mut reserves, mut tried, mut ending, mut ended) = (0u64, 0u64, 0u64, 0);
        let mut sent: Option<(u64, u32, bool)> = None;
        let mut answer: Option<(u32, bool)> = None;
        let mut on_offer: Option<(u64, u64)> = None;
        let (mut operations, mut passed, mut kept, mut lost, mut swaps) = (0, 0, 0, 0, 0);
        // When the operation started, and what the last `amocas.w` compared with.
        let (mut started, mut compare) = (0, 0u32);
        for cycle in 0..20_000u64 {
            if random.gen_bool(0.4) && stores.len() < 4 {
                stores.push_back(next);
                next += 1;
            }
            let starts = operation.is_none() && random.gen_bool(0.3);
            let word = match random.gen_range(0..4) {
                0 => 0x1000_202f,
                1 => 0x1800_202f,
                2 => 0x2800_202f | random.gen_range(0..3) << 7,
                _ => random.gen::<u32>(),
            };
            let hart = random.gen_range(0..8u64);
            let has = word >> 27 == 2 || reserves >> hart & 1 == 1;
            let new = (
                hart,
                u64::from(word),
                u64::from(random.gen::<u32>() & !3),
                u64::from(random.gen::<u32>()),
                if has { hart } else { 31 },
            );
            // A hart that leaves starts nothing.
            let leaves: u64 = if random.gen_bool(0.1) { random.gen_range(0..256) } else { 0 };
            let leaves = if starts { leaves & !(1 << hart) } else { leaves };
            unit.leaves.next = leaves.into();
            unit.start_valid.next = starts;
            unit.start_hart.next = new.0.into();
            unit.start_word.next = new.1.into();
            unit.start_address.next = new.2.into();
            unit.start_data.next = new.3.into();
            unit.store.valid.next = !stores.is_empty();
            unit.store.line.next = stores.front().copied().unwrap_or(0).into();
            unit.store.tag.next = 3.into();
            unit.store.strobe.next = 0xf0.into();
            unit.store.data.next = 0x1234.into();
            unit.write.ready.next = random.gen_bool(0.6);
            // An acknowledgement of a store, or the answer.
            let answers = sent.filter(|s| s.0 <= cycle && random.gen());
            unit.write.written.valid.next = answers.is_some() || random.gen();
            let hart = operation.map_or(0, |o| o.0);
            unit.write.written.tag.next =
                if answers.is_some() { 0x20 + hart } else { random.gen_range(0..32) }.into();
            let (word, error) = answers.map_or((random.gen(), random.gen()), |a| (a.1, a.2));
            unit.atomic_answer.word.next = u64::from(word).into();
            unit.atomic_answer.error.next = error;
            let ready = random.gen_bool(0.7);
            unit.answer_ready.next = ready;
            let value: u32 = random.gen();
            unit.compare_value.next = u64::from(value).into();
            settle(&mut unit);

            // In the cycle after the start the register is read, and then its value is here.
            let swap = operation.filter(|o| o.1 >> 27 == 5);
            let reads = swap.is_some() && cycle == started + 1;
            assert_eq!(unit.compare_read.val(), reads, "cycle {cycle}");
            if let (Some((hart, word, ..)), true) = (swap, reads) {
                assert_eq!(unit.compare_address.val().to_u64(), hart << 5 | word >> 7 & 31);
            }
            let held_back = swap.is_some() && cycle < started + 3;
            if let (Some((_, word, ..)), true) = (swap, cycle == started + 2) {
                compare = if word >> 7 & 31 == 0 { 0 } else { value };
                swaps += 1;
            }

            assert_eq!(unit.busy.val(), operation.is_some(), "cycle {cycle}");
            let offered = unit
                .write
                .valid
                .val()
                .then(|| (unit.write.line.val().to_u64(), unit.write.tag.val().to_u64()));
            if on_offer.is_some() {
                assert_eq!(offered, on_offer, "cycle {cycle}: what is on offer stays");
            }
            on_offer = offered.filter(|_| !unit.write.ready.next);
            let unsent = operation.filter(|_| sent.is_none() && answer.is_none() && !held_back);
            assert_eq!(offered.is_some(), !stores.is_empty() || unsent.is_some(), "cycle {cycle}");
            let taken = offered.filter(|_| unit.write.ready.next);
            let is_operation = taken.is_some_and(|(_, tag)| tag >= 0x20);
            assert_eq!(unit.store.ready.val() && !stores.is_empty(), taken.is_some() && !is_operation);
            // The message of a cycle is one of those that are due.
            assert_eq!(unit.end.valid.val(), ending != 0, "cycle {cycle}");
            if ending != 0 {
                let told = 1u64 << unit.end.slot.val().to_u64();
                assert!(ending & told != 0, "cycle {cycle}");
                ending &= !told;
                ended += 1;
            }
            if let (Some((line, tag)), true) = (taken, is_operation) {
                let (hart, word, address, operand, slot) = unsent.expect("an operation");
                assert_eq!((line, tag), (address >> 6, 0x20 + hart), "cycle {cycle}");
                assert_eq!(unit.write.strobe.val().to_u64(), 15 << (address & 60), "cycle {cycle}");
                let expected = operand | slot << 32 | (word >> 27) << 48 | (address >> 2 & 15) << 53;
                let expected = Bits::<512>::from(expected) | (bits::<512>(compare.into()) << bits::<7>(96));
                assert_eq!(unit.write.data.val(), expected, "cycle {cycle}");
                sent = Some((cycle + random.gen_range(1..20), random.gen(), random.gen_bool(0.1)));
            } else if let Some((line, _)) = taken {
                assert_eq!(Some(line), stores.pop_front());
                assert_eq!(unit.write.data.val(), Bits::<512>::from(0x1234u64));
                passed += 1;
            }
            ending |= (reserves | tried) & leaves;
            if let Some((_, word, error)) = answers {
                answer = Some((word, error));
                sent = None;
                // Its hart left before `lr.w` was performed.
                let (hart, word, ..) = operation.expect("an operation");
                ending |= u64::from(word >> 27 == 2 && reserves >> hart & 1 == 0) << hart;
            }
            assert_eq!(unit.answer_valid.val(), answer.is_some(), "cycle {cycle}");
            if let Some(expected) = answer {
                let found = (unit.answer_value.val().to_u32(), unit.answer_error.val());
                assert_eq!(found, expected, "cycle {cycle}");
                assert_eq!(unit.answer_hart.val().to_u64(), hart);
                kept += usize::from(!ready);
                if ready {
                    answer = None;
                    operation = None;
                    operations += 1;
                }
            }
            if starts {
                operation = Some(new);
                started = cycle;
                lost += usize::from(new.1 >> 27 == 3 && !has);
                let mine = 1 << new.0;
                ending |= match new.1 >> 27 {
                    2 => reserves & mine,
                    3 => 0,
                    _ => (reserves | tried) & mine,
                };
                tried = if new.1 >> 27 == 3 { tried | reserves & mine } else { tried & !mine };
                reserves &= !mine;
            }
            reserves &= !leaves;
            tried &= !leaves;
            if starts && new.1 >> 27 == 2 {
                reserves |= 1 << new.0;
            }
            tick!(unit);
        }
        assert!(
            operations > 500 && passed > 1_000 && kept > 100 && lost > 50 && ended > 50 && swaps > 50,
            "{operations} {passed} {kept} {lost} {ended} {swaps}"
        );
    }
}
