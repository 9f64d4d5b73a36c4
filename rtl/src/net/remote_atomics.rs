//! Atomic operations of peers.

use super::ReadJob;
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// What an atomic operation of a peer does to its 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct AtomicOperands {
    /// The bits are replaced if they are `compare`; else they are added to.
    pub swap: Bit,
    /// Value that is put there, or added.
    pub operand: Bits<64>,
    /// Value that the bits are compared with, as `swap` says.
    pub compare: Bits<64>,
}

/// The result of an atomic operation, as it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct AtomicReply {
    /// Packet sequence number of the operation.
    pub sequence: Bits<24>,
    /// The value before the operation.
    pub value: Bits<64>,
}

/// Where an atomic operation is.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum RemoteAtomicStep {
    /// There is none.
    Idle,
    /// The operation is offered to memory.
    Offered,
    /// The operation is outstanding at memory.
    AtMemory,
    /// The operation has its result.
    Done,
}

/// Performs atomic operations of peers at the L2, each once, and gives their results to
/// [`Responder`](super::Responder) (InfiniBand Architecture Specification, volume 1, 9.4.5 and
/// 9.7.5.1.3). READs pass in the same cycle.
///
/// 1. An operation stands at `job` with `operands` until `job_ready`; its address is a multiple
///    of 8. It is written with a tag that has bit 5 set, which the L2 takes for an atomic operation
///    ([`L2Atomics`](crate::l2::L2Atomics)); the answer gives what was there. Then it goes on as a
///    job with its result.
/// 2. Results are kept, 32 of each queue pair by the lower bits of their packet sequence number: as
///    many as packets can be under way. An operation that came before (`back`) is not performed: it
///    gets the result that is kept, or is not served.
/// 3. `failed` is high for one cycle instead of `job_ready` if memory could not be read.
/// 4. An operation whose `job_valid` is withdrawn for a cycle, as its queue pair went down, is
///    performed to its end, and its result is dropped.
/// 5. `opens`: nothing is kept of a queue pair that goes up.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct RemoteAtomics {
    /// A READ or an atomic operation is here.
    pub job_valid: Signal<In, Bit>,
    /// The operation is taken at this edge.
    pub job_ready: Signal<Out, Bit>,
    /// The READ or atomic operation.
    pub job: Signal<In, ReadJob>,
    /// Operands of an atomic operation.
    pub operands: Signal<In, AtomicOperands>,
    /// The operation could not be performed.
    pub failed: Signal<Out, Bit>,
    /// A queue pair goes up.
    pub opens: Signal<In, Bit>,
    /// Queue pair that goes up.
    pub opens_pair: Signal<In, Bits<4>>,
    /// A job goes on.
    pub next_valid: Signal<Out, Bit>,
    /// The job is taken at this edge.
    pub next_ready: Signal<In, Bit>,
    /// The job that goes on.
    pub next_job: Signal<Out, ReadJob>,
    /// To memory: an operation is offered.
    pub write_valid: Signal<Out, Bit>,
    /// The operation is accepted at this edge.
    pub write_ready: Signal<In, Bit>,
    /// Line address of the operation.
    pub write_line: Signal<Out, LineAddress>,
    /// Operands of the operation, as the L2 takes them.
    pub write_data: Signal<Out, Bits<512>>,
    /// Bytes of the operation.
    pub write_strobe: Signal<Out, Bits<64>>,
    /// The operation was performed.
    pub written: Signal<In, Bit>,
    /// The value before the operation.
    pub value: Signal<In, Bits<64>>,
    /// The operation was not performed: its line could not be read.
    pub error: Signal<In, Bit>,
    /// The queue pair of the operation that is being performed or waits with its result.
    pub held: Signal<Out, Bits<16>>,
    step: Register<RemoteAtomicStep>,
    atomic_job: Register<ReadJob>,
    atomic_operands: Register<AtomicOperands>,
    result: Register<Bits<64>>,
    /// The operation is answered.
    serves: Register<Bit>,
    /// The job of the operation was withdrawn: its result is dropped.
    withdrawn: Register<Bit>,
    replies: RamSync<AtomicReply, 9>,
    /// Results that are kept of each queue pair.
    kept: RamAsync<Bits<32>, 4>,
    /// Queue pairs of which none was kept since they went up.
    fresh: Register<Bits<16>>,
}

impl Logic for RemoteAtomics {
    #[hdl_gen]
    fn update(&mut self) {
        let new_job = self.job.val();
        let is_atomic = self.job_valid.val() && new_job.atomic;
        let at_rest = self.step.q.val() == RemoteAtomicStep::Idle;
        let is_offered = self.step.q.val() == RemoteAtomicStep::Offered;
        let is_at_memory = self.step.q.val() == RemoteAtomicStep::AtMemory;
        let has_result = self.step.q.val() == RemoteAtomicStep::Done;
        let current_job = self.atomic_job.q.val();
        let is_withdrawn = self.withdrawn.q.val() || !self.job_valid.val();

        // One begins: what is kept of an older one is read.
        let begins = at_rest && is_atomic;
        let reply_place =
            (bit_cast::<9, 4>(new_job.pair) << 5) | bit_cast::<9, 5>(new_job.sequence.get_bits::<5>(0));
        self.replies.read_enable.next = begins;
        self.replies.read_address.next = reply_place;
        if begins {
            self.atomic_job.d.next = new_job;
            self.atomic_operands.d.next = self.operands.val();
            self.withdrawn.d.next = false;
            self.step.d.next = RemoteAtomicStep::Offered;
        } else if !self.job_valid.val() {
            self.withdrawn.d.next = true;
        }
        let found = self.replies.read_data.val();
        let kept_place = (bit_cast::<9, 4>(current_job.pair) << 5)
            | bit_cast::<9, 5>(current_job.sequence.get_bits::<5>(0));
        self.kept.read_address.next = current_job.pair;
        let mut kept_mask = self.kept.read_data.val();
        if self.fresh.q.val().get_bit(current_job.pair.index()) {
            kept_mask = bits::<32>(0);
        }
        let is_kept = kept_mask.get_bit(current_job.sequence.get_bits::<5>(0).index())
            && (found.sequence == current_job.sequence);
        let performs = is_offered && !current_job.back;
        if is_offered && current_job.back {
            self.result.d.next = found.value;
            self.serves.d.next = is_kept && current_job.serve;
            self.step.d.next = RemoteAtomicStep::Done;
        }

        // At memory
        self.write_valid.next = performs;
        self.write_line.next = current_job.address.get_bits::<26>(6);
        let current_operands = self.atomic_operands.q.val();
        let mut number = bits::<5>(0);
        if current_operands.swap {
            number = bits::<5>(5);
        }
        self.write_data.next = bit_cast::<512, 32>(current_operands.operand.get_bits::<32>(0))
            | (bit_cast::<512, 5>(number) << 48)
            | (bit_cast::<512, 4>(current_job.address.get_bits::<4>(2)) << 53)
            | (bit_cast::<512, 32>(current_operands.operand.get_bits::<32>(32)) << 64)
            | (bit_cast::<512, 64>(current_operands.compare) << 96);
        self.write_strobe.next = bits::<64>(0xff) << current_job.address.get_bits::<6>(0);
        if performs && self.write_ready.val() {
            self.step.d.next = RemoteAtomicStep::AtMemory;
        }
        let done = is_at_memory && self.written.val();
        always!(an_answer_of_memory_is_awaited, !self.written.val() || is_at_memory);
        let keeps = done && !self.error.val();
        self.failed.next = done && self.error.val() && !is_withdrawn;
        if done {
            self.result.d.next = self.value.val();
            self.serves.d.next = true;
            self.step.d.next = RemoteAtomicStep::Done;
            if self.error.val() || is_withdrawn {
                self.step.d.next = RemoteAtomicStep::Idle;
            }
        }
        self.replies.write_enable.next = keeps;
        self.replies.write_address.next = kept_place;
        self.replies.write_data.next.sequence = current_job.sequence;
        self.replies.write_data.next.value = self.value.val();
        self.kept.write_enable.next = keeps;
        self.kept.write_address.next = current_job.pair;
        self.kept.write_data.next =
            kept_mask.replace_bit(current_job.sequence.get_bits::<5>(0).index(), true);
        let mut unused = self.fresh.q.val();
        if keeps {
            unused = unused.replace_bit(current_job.pair.index(), false);
        }
        if self.opens.val() {
            unused = unused.replace_bit(self.opens_pair.val().index(), true);
        }
        self.fresh.d.next = unused;

        // It goes on.
        let passes = self.job_valid.val() && !new_job.atomic && at_rest;
        let gives = has_result && !is_withdrawn;
        self.next_valid.next = passes || gives;
        self.next_job.next = new_job;
        if has_result {
            self.next_job.next = current_job;
            self.next_job.next.address = self.result.q.val().get_bits::<32>(0);
            self.next_job.next.bytes = self.result.q.val().get_bits::<32>(32);
            self.next_job.next.serve = self.serves.q.val();
        }
        self.job_ready.next = (passes || gives) && self.next_ready.val();
        if has_result && (is_withdrawn || self.next_ready.val()) {
            self.step.d.next = RemoteAtomicStep::Idle;
        }
        self.held.next = bits::<16>(0);
        if !at_rest {
            self.held.next = bits::<16>(1) << current_job.pair;
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

    /// Random operations and READs of three queue pairs, some again, against a model of 64 words:
    /// each new one is performed once, and one that comes again gets the result that it had.
    #[test]
    fn each_is_performed_once() {
        let mut rng = random("remote_atomics");
        let mut uut = RemoteAtomics::default();
        reset!(uut);
        let mut memory: BTreeMap<u32, u64> = (0..8).map(|word| (0x1000 + 8 * word, rng.gen())).collect();
        // What each packet had as its result, and what is kept of each queue pair, the newest last
        let mut kept: [VecDeque<(u32, u64)>; 3] = Default::default();
        let mut expected = [0xff_ffe0u32, 3, 0x10_0000];
        for pair in 0..3u64 {
            uut.opens.next = true;
            uut.opens_pair.next = pair.into();
            tick!(uut);
        }
        uut.opens.next = false;
        let mut offered: Option<(ReadJob, AtomicOperands)> = None;
        // The operation at memory: when its answer comes, and that.
        let mut at_memory: Option<(u32, u64, bool)> = None;
        // What the unit works at, and whether its queue pair went down
        let mut begun: Option<(ReadJob, AtomicOperands)> = None;
        let mut gone = false;
        let mut performed = None;
        let (mut counts, mut failures, mut withdrawals, mut replayed) = ([0; 3], 0, 0, 0);
        let mut rest = false;
        for cycle in 0..40_000u32 {
            if cycle % 10_000 == 9_999 {
                // A queue pair goes down and up: nothing of it is kept.
                let pair = rng.gen_range(0..3usize);
                rest = offered.take().is_some();
                uut.opens.next = true;
                uut.opens_pair.next = (pair as u64).into();
                kept[pair].clear();
            } else {
                uut.opens.next = false;
            }
            if offered.is_none() && !rest && rng.gen_bool(0.3) {
                let pair = rng.gen_range(0..3usize);
                let atomic = rng.gen_bool(0.8);
                let back = rng.gen_bool(0.3);
                let sequence = match back {
                    true => expected[pair].wrapping_sub(rng.gen_range(1..40)) & 0xff_ffff,
                    false => expected[pair],
                };
                let job = ReadJob {
                    pair: (pair as u64).into(),
                    sequence: u64::from(sequence).into(),
                    packets: 1.into(),
                    address: (0x1000 + 8 * rng.gen_range(0..8u64)).into(),
                    bytes: 8.into(),
                    atomic,
                    back,
                    serve: true,
                    ..ReadJob::default()
                };
                let compare = memory[&(job.address.to_u64() as u32)];
                let operands = AtomicOperands {
                    swap: rng.gen(),
                    operand: rng.gen::<u64>().into(),
                    compare: if rng.gen() { compare } else { rng.gen() }.into(),
                };
                offered = Some((job, operands));
            }
            uut.job_valid.next = offered.is_some();
            let (job, operands) = offered.unwrap_or_default();
            uut.job.next = job;
            uut.operands.next = operands;
            uut.next_ready.next = rng.gen_bool(0.5);
            uut.write_ready.next = rng.gen_bool(0.5);
            let answer = at_memory.filter(|(due, ..)| *due <= cycle);
            uut.written.next = answer.is_some();
            uut.value.next = answer.map_or(rng.gen(), |(_, value, _)| value).into();
            uut.error.next = answer.map_or(rng.gen(), |(.., error)| error);
            settle(&mut uut);
            let idle = !uut.held.val().any();
            if idle && job.atomic && offered.is_some() {
                (begun, gone) = (offered, false);
            }
            gone |= offered.is_none();
            if uut.write_valid.val() && uut.write_ready.val() {
                let (job, operands) = begun.expect("one began");
                assert!(job.atomic && !job.back, "only new ones are performed");
                let address = job.address.to_u64() as u32;
                let data = uut.write_data.val();
                let part = |place: usize| data.get_bits::<32>(place).to_u64();
                assert_eq!(uut.write_line.val().to_u64() as u32, address / 64);
                assert_eq!(uut.write_strobe.val().to_u64(), 0xffu64 << (address % 64));
                assert_eq!(data.get_bits::<4>(53).to_u64() as u32, address / 4 % 16);
                assert_eq!(data.get_bits::<16>(32).to_u64(), 0);
                let (operand, compare) = (part(64) << 32 | part(0), part(128) << 32 | part(96));
                let word = memory.get_mut(&address).unwrap();
                let (before, error) = (*word, rng.gen_bool(0.05));
                let swaps = data.get_bits::<5>(48).to_u64() == 5;
                assert_eq!(swaps, operands.swap);
                assert_eq!(operand, operands.operand.to_u64());
                assert!(!swaps || compare == operands.compare.to_u64());
                if !error {
                    *word = match (swaps, compare == before) {
                        (false, _) => before.wrapping_add(operand),
                        (true, true) => operand,
                        (true, false) => before,
                    };
                }
                at_memory = Some((cycle + rng.gen_range(1..20), before, error));
                performed = Some((job, operands));
            }
            if let Some((_, value, error)) = answer {
                let (job, _): (ReadJob, AtomicOperands) = performed.take().expect("it was performed");
                at_memory = None;
                if error {
                    assert_eq!(uut.failed.val(), !gone);
                    if !gone {
                        failures += 1;
                        offered = None;
                    }
                } else {
                    kept[job.pair.index()].push_back((job.sequence.to_u64() as u32, value));
                }
            } else {
                assert!(!uut.failed.val());
            }
            if uut.next_valid.val() && uut.next_ready.val() {
                assert!(uut.job_ready.val());
                let (job, _) = offered.take().expect("it was offered");
                let (pair, sequence) = (job.pair.index(), job.sequence.to_u64() as u32);
                let given = uut.next_job.val();
                assert_eq!((given.pair, given.sequence, given.back), (job.pair, job.sequence, job.back));
                counts[usize::from(job.atomic) + usize::from(job.back)] += 1;
                if !job.atomic {
                    assert_eq!(given, job);
                } else {
                    // Of packets with the same lower bits the newest is kept.
                    let newest = kept[pair].iter().rev().find(|(kept, _)| kept % 32 == sequence % 32);
                    let value = newest.filter(|(kept, _)| *kept == sequence).map(|(_, value)| *value);
                    assert_eq!(given.serve, value.is_some(), "cycle {cycle}");
                    let got = given.bytes.to_u64() << 32 | given.address.to_u64();
                    assert!(value.is_none_or(|value| value == got));
                    replayed += usize::from(job.back && value.is_some());
                }
                if !job.back {
                    expected[pair] = (expected[pair] + 1) & 0xff_ffff;
                }
            } else if offered.is_some() && !uut.job_ready.val() && rng.gen_bool(0.01) {
                // Its queue pair goes down.
                offered = None;
                withdrawals += 1;
                rest = true;
            } else {
                rest = false;
            }
            if !uut.opens.val() && idle {
                assert!(at_memory.is_none());
            }
            if let (false, Some((job, _))) = (idle, begun) {
                assert_eq!(uut.held.val().to_u64(), 1 << job.pair.index(), "the pair of its operation");
            }
            tick!(uut);
        }
        assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
        assert!(failures > 20 && withdrawals > 50 && replayed > 100, "{failures} {withdrawals} {replayed}");
    }
}
