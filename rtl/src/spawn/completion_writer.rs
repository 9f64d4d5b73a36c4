//! Tells software that a job has ended.

use super::COMPLETION_TAG;
use crate::blocks::RoundRobin;
use crate::ports::LineWrite;
use hermes_hdl::prelude::*;

/// Writes the completion words of the jobs that have ended, one at a time.
///
/// 1. In a cycle without a job under way one of the `ended` slots is taken, round-robin. In the
///    next cycle its word is offered to the L2, and stays until it is accepted.
/// 2. `freed_valid` is high in the cycle in which the L2 acknowledges the write: from then on every
///    read of any requester sees it. Without a completion word (`completion` is 0, no multiple of
///    4, or 0xfff0_0000 or above) it is high in the cycle after the job was taken.
/// 3. The word is TOKEN; with bit 31 set if one of the threads ended with a fault; 0xc000_0000 +
///    `code` if the descriptor was rejected.
/// 4. Every write has the tag [`COMPLETION_TAG`](super::COMPLETION_TAG); acknowledgements of other
///    tags do not matter.
#[clocked("nothing is under way")]
#[derive(Clone, Default, LogicBlock)]
pub struct CompletionWriter {
    /// Slots of the jobs that have ended.
    pub ended: Signal<In, Bits<16>>,
    /// The job of `end_slot` is taken at this edge.
    pub end_taken: Signal<Out, Bit>,
    /// The slot of the job that comes next, or would.
    pub end_slot: Signal<Out, Bits<4>>,
    /// Of that job: word COMPLETION.
    pub completion: Signal<In, Bits<32>>,
    /// Of that job: word TOKEN.
    pub token: Signal<In, Bits<32>>,
    /// Of that job: why its descriptor was rejected; 0: it was not.
    pub code: Signal<In, Bits<3>>,
    /// Of that job: one of its threads ended with a fault.
    pub faulted: Signal<In, Bit>,
    /// To the L2.
    pub write: LineWrite,
    /// A slot becomes free.
    pub freed_valid: Signal<Out, Bit>,
    /// Slot that becomes free.
    pub freed_slot: Signal<Out, Bits<4>>,
    /// The job that is taken has a completion address that is no multiple of 4, or where there is
    /// no memory.
    pub misaligned: Signal<Out, Bit>,
    arbiter: RoundRobin,
    under_way: Register<Bit>,
    offered: Register<Bit>,
    silent: Register<Bit>,
    slot: Register<Bits<4>>,
    address: Register<Bits<30>>,
    value: Register<Bits<32>>,
}

impl Logic for CompletionWriter {
    #[hdl_gen]
    fn update(&mut self) {
        // Choose a job.
        self.arbiter.request.next = bit_cast::<32, 16>(self.ended.val());
        let take = self.arbiter.any.val() & !self.under_way.q.val();
        self.arbiter.advance.next = take;
        self.end_taken.next = take;
        always!(a_word_on_offer_is_under_way, !self.offered.q.val() | self.under_way.q.val());
        always!(a_silent_completion_writes_nothing, !self.offered.q.val() | !self.silent.q.val());
        self.end_slot.next = self.arbiter.index.val().get_bits::<4>(0);
        let bad_address =
            self.completion.val().get_bits::<2>(0).any() | self.completion.val().get_bits::<12>(20).all();
        self.misaligned.next = take & bad_address;
        if take {
            self.slot.d.next = self.arbiter.index.val().get_bits::<4>(0);
            self.address.d.next = self.completion.val().get_bits::<30>(2);
            self.value.d.next = self.token.val() & bits::<32>(0x3fff_ffff);
            if self.faulted.val() {
                self.value.d.next =
                    bits::<32>(0x8000_0000_u64) | (self.token.val() & bits::<32>(0x3fff_ffff));
            }
            if self.code.val().any() {
                self.value.d.next = bits::<32>(0xc000_0000_u64) | bit_cast::<32, 3>(self.code.val());
            }
            self.under_way.d.next = true;
            self.silent.d.next = bad_address | !self.completion.val().any();
            self.offered.d.next = !bad_address & self.completion.val().any();
        }

        // Write its word.
        self.write.valid.next = self.offered.q.val();
        self.write.line.next = self.address.q.val().get_bits::<26>(4);
        self.write.strobe.next =
            bits::<64>(15) << (bit_cast::<6, 4>(self.address.q.val().get_bits::<4>(0)) << bits::<6>(2));
        let two = (bit_cast::<64, 32>(self.value.q.val()) << bits::<7>(32))
            | bit_cast::<64, 32>(self.value.q.val());
        let four = (bit_cast::<128, 64>(two) << bits::<8>(64)) | bit_cast::<128, 64>(two);
        let eight = (bit_cast::<256, 128>(four) << bits::<9>(128)) | bit_cast::<256, 128>(four);
        self.write.data.next = (bit_cast::<512, 256>(eight) << bits::<10>(256)) | bit_cast::<512, 256>(eight);
        self.write.tag.next = bits::<6>(COMPLETION_TAG as u64);
        if self.offered.q.val() & self.write.ready.val() {
            self.offered.d.next = false;
        }

        // It is there.
        let written = self.write.written.valid.val()
            & (self.write.written.tag.val() == bits::<6>(COMPLETION_TAG as u64));
        let ends = self.under_way.q.val() & (self.silent.q.val() | written);
        always!(a_word_is_there_after_its_write, !ends | !self.offered.q.val());
        self.freed_valid.next = ends;
        self.freed_slot.next = self.slot.q.val();
        if ends {
            self.under_way.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    /// Reports one ended job; gives the cycles from then on in which its slot becomes free, and the
    /// write, if there is one: address and value.
    fn report(
        random: &mut impl Rng,
        unit: &mut CompletionWriter,
        slot: u64,
        [completion, token, code]: [u32; 3],
        faulted: bool,
    ) -> Option<(u32, u32)> {
        unit.ended.next = (1 << slot).into();
        unit.completion.next = u64::from(completion).into();
        unit.token.next = u64::from(token).into();
        unit.code.next = u64::from(code).into();
        unit.faulted.next = faulted;
        settle(unit);
        assert!(unit.end_taken.val());
        assert_eq!(unit.end_slot.val().to_u64(), slot);
        let misplaced = completion % 4 != 0 || completion >= 0xfff0_0000;
        assert_eq!(unit.misaligned.val(), misplaced);
        tick!(*unit);
        // Another job waits, and its words show.
        unit.ended.next = (1 << (15 - slot)).into();
        unit.completion.next = u64::from(random.gen::<u32>()).into();
        unit.token.next = u64::from(random.gen::<u32>()).into();
        settle(unit);
        let silent = completion == 0 || misplaced;
        let mut write = None;
        for cycle in 0.. {
            unit.write.ready.next = random.gen_bool(0.4);
            unit.write.written.valid.next = random.gen();
            let ours = write.is_some() && random.gen();
            unit.write.written.tag.next = if ours { 31 } else { random.gen_range(0..31) }.into();
            settle(unit);
            assert!(!unit.end_taken.val(), "one job at a time");
            assert_eq!(unit.write.valid.val(), !silent && write.is_none(), "cycle {cycle}");
            if unit.write.valid.val() {
                let strobe = unit.write.strobe.val().to_u64();
                assert_eq!(strobe >> strobe.trailing_zeros(), 15);
                let byte = strobe.trailing_zeros();
                let value = unit.write.data.val().get_bits::<32>(byte as usize * 8).to_u32();
                assert_eq!(unit.write.tag.val().to_u64(), 31);
                if unit.write.ready.val() {
                    write = Some((unit.write.line.val().to_u32() * 64 + byte, value));
                }
            }
            let ends = silent || (unit.write.written.valid.val() && ours);
            assert_eq!(unit.freed_valid.val(), ends, "cycle {cycle}");
            assert!(!ends || unit.freed_slot.val().to_u64() == slot);
            tick!(*unit);
            if ends {
                unit.ended.next = 0.into();
                unit.write.written.valid.next = false;
                settle(unit);
                return write;
            }
        }
        unreachable!()
    }

    #[test]
    fn every_job_is_reported_once_with_its_word() {
        let mut random = random();
        let mut unit = CompletionWriter::default();
        reset!(unit);
        for round in 0..400u64 {
            let token = random.gen_range(0..1 << 30);
            let completion = match round % 8 {
                0 => 0,
                1 => random.gen::<u32>() | 1,
                3 => random.gen::<u32>() & !3 | 0xfff0_0000,
                2 => random.gen::<u32>() & !3 | 2,
                _ => random.gen::<u32>() & !3 | 4,
            };
            let code = if round % 3 == 0 { random.gen_range(1..6) } else { 0 };
            let faulted = round % 5 == 0;
            let write = report(&mut random, &mut unit, round % 16, [completion, token, code], faulted);
            let value = match (code, faulted) {
                (0, false) => token,
                (0, true) => 0x8000_0000 | token,
                _ => 0xc000_0000 | code,
            };
            let is_memory = completion != 0 && completion % 4 == 0 && completion < 0xfff0_0000;
            let expected = is_memory.then_some((completion, value));
            assert_eq!(write, expected, "round {round}");
        }
    }
}
