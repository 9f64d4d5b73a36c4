//! Collects the faults of all cores for the host.

use super::{RoundRobin, SyncFifo};
use hermes_hdl::prelude::*;

/// What the host learns about one fault of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct FaultRecord {
    /// Cause (RISC-V privileged specification, mcause of the exception).
    pub cause: Bits<5>,
    /// The core.
    pub core: Bits<5>,
    /// The warp slot.
    pub slot: Bits<5>,
    /// Threads of the warp that the fault ended, 1 to 32.
    pub threads: Bits<6>,
    /// Address of the instruction.
    pub pc: Bits<32>,
    /// What RISC-V writes to mtval for this cause, of the lowest faulting lane.
    pub address: Bits<32>,
    /// packetIdx of the lowest faulting lane.
    pub packet: Bits<32>,
}

/// Collects the cores' fault records, round-robin, in a FIFO of 32 that the host reads.
///
/// 1. In each cycle one of the cores with `fault_valid` gets `fault_ready`, round-robin: a core
///    waits for at most one record of each other core, never for the host.
/// 2. A record that finds the FIFO full is dropped and counted in `dropped`; its threads count in
///    `faults` like those of any record, two cycles after the record was taken.
/// 3. The `oldest_` outputs show the oldest record, zero if there is none; `pop` removes it. A
///    record shows at the earliest four cycles after it was taken.
#[derive(Clone, Debug, LogicBlock)]
#[new(cores: usize, jobs: usize)]
pub struct FaultCollector {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// From each core: threads of a warp faulted.
    #[count(cores)]
    pub fault_valid: Vec<Signal<In, Bit>>,
    /// To each core: the record is taken; depends on every `fault_valid`.
    #[count(cores)]
    pub fault_ready: Vec<Signal<Out, Bit>>,
    /// From each core: cause.
    #[count(cores)]
    pub fault_cause: Vec<Signal<In, Bits<5>>>,
    /// From each core: warp slot.
    #[count(cores)]
    pub fault_slot: Vec<Signal<In, Bits<5>>>,
    /// From each core: threads of the warp that the fault ended.
    #[count(cores)]
    pub fault_threads: Vec<Signal<In, Bits<6>>>,
    /// From each core: address of the instruction.
    #[count(cores)]
    pub fault_pc: Vec<Signal<In, Bits<32>>>,
    /// From each core: what RISC-V writes to mtval.
    #[count(cores)]
    pub fault_address: Vec<Signal<In, Bits<32>>>,
    /// From each core: packetIdx of the lowest faulting lane.
    #[count(cores)]
    pub fault_packet: Vec<Signal<In, Bits<32>>>,
    /// From the host: the oldest record is removed; without effect if there is none.
    pub pop: Signal<In, Bit>,
    /// Records in the FIFO.
    pub level: Signal<Out, Bits<16>>,
    /// Records dropped since reset, modulo 2^16.
    pub dropped: Signal<Out, Bits<16>>,
    /// Threads ended by a fault since reset, modulo 2^32.
    pub faults: Signal<Out, Bits<32>>,
    /// Of the oldest record: cause.
    pub oldest_cause: Signal<Out, Bits<5>>,
    /// Of the oldest record: core.
    pub oldest_core: Signal<Out, Bits<5>>,
    /// Of the oldest record: warp slot.
    pub oldest_slot: Signal<Out, Bits<5>>,
    /// Of the oldest record: threads of the warp that the fault ended.
    pub oldest_threads: Signal<Out, Bits<6>>,
    /// Of the oldest record: address of the instruction.
    pub oldest_pc: Signal<Out, Bits<32>>,
    /// Of the oldest record: what RISC-V writes to mtval.
    pub oldest_address: Signal<Out, Bits<32>>,
    /// Of the oldest record: packetIdx of the lowest faulting lane.
    pub oldest_packet: Signal<Out, Bits<32>>,
    /// From each core: job of the warp, its slot in bits 3:0; bit 4: the warp is one of spawned threads
    /// (only with a thread spawner, as the next).
    #[count(jobs)]
    pub fault_job: Vec<Signal<In, Bits<5>>>,
    /// Of the oldest record: the same.
    #[count(jobs.min(1))]
    pub oldest_job: Vec<Signal<Out, Bits<5>>>,
    arbiter: RoundRobin,
    fifo: SyncFifo<FaultRecord, 5, 6>,
    taken: Register<Bit>,
    record: Register<FaultRecord>,
    drops: Register<Bits<16>>,
    threads: Register<Bits<32>>,
    #[count(jobs.min(1))]
    job: Vec<Register<Bits<5>>>,
    /// Beside `fifo`, and as full.
    #[count(jobs.min(1))]
    job_fifo: Vec<SyncFifo<Bits<5>, 5, 6>>,
    #[init(cores)]
    _cores: usize,
    #[init(jobs.min(1))]
    _spawns: usize,
}

impl FaultCollector {
    /// A collector for `cores` cores that run packets alone (`spawns` 0), or packets and spawned threads (1).
    ///
    /// # Panics
    /// If `cores` is not 1 to 32, or `spawns` more than 1.
    pub fn new(cores: usize, spawns: usize) -> Self {
        assert!(spawns <= 1, "FaultCollector: {spawns} thread spawners, expected 0 or 1");
        assert!((1..=32).contains(&cores), "FaultCollector: {cores} cores, expected 1 to 32");
        Self::wired(cores, cores * spawns)
    }
}

impl Logic for FaultCollector {
    #[hdl_gen]
    fn update(&mut self) {
        // Take one core's record.
        let mut request = bits::<32>(0);
        for i in 0..self._cores {
            request = request.replace_bit(i, self.fault_valid[i].val());
        }
        self.arbiter.request.next = request;
        self.arbiter.advance.next = self.arbiter.any.val();
        self.taken.d.next = self.arbiter.any.val();
        self.record.d.next.core = self.arbiter.index.val();
        for i in 0..self._cores {
            self.fault_ready[i].next = self.arbiter.grant.val().get_bit(i);
            if self.arbiter.grant.val().get_bit(i) {
                self.record.d.next.cause = self.fault_cause[i].val();
                self.record.d.next.slot = self.fault_slot[i].val();
                self.record.d.next.threads = self.fault_threads[i].val();
                self.record.d.next.pc = self.fault_pc[i].val();
                self.record.d.next.address = self.fault_address[i].val();
                self.record.d.next.packet = self.fault_packet[i].val();
            }
        }

        // Keep it, or count it as dropped.
        self.fifo.push_valid.next = self.taken.q.val();
        self.fifo.push_data.next = self.record.q.val();
        if self.taken.q.val() {
            self.threads.d.next = self.threads.q.val() + bit_cast::<32, 6>(self.record.q.val().threads);
            if !self.fifo.push_ready.val() {
                self.drops.d.next = self.drops.q.val() + 1;
            }
        }
        self.faults.next = self.threads.q.val();
        self.dropped.next = self.drops.q.val();

        // Show the oldest.
        self.fifo.pop_ready.next = self.pop.val();
        self.level.next = bit_cast::<16, 6>(self.fifo.level.val());
        self.oldest_cause.next = bits::<5>(0);
        self.oldest_core.next = bits::<5>(0);
        self.oldest_slot.next = bits::<5>(0);
        self.oldest_threads.next = bits::<6>(0);
        self.oldest_pc.next = bits::<32>(0);
        self.oldest_address.next = bits::<32>(0);
        self.oldest_packet.next = bits::<32>(0);
        if self.fifo.pop_valid.val() {
            self.oldest_cause.next = self.fifo.pop_data.val().cause;
            self.oldest_core.next = self.fifo.pop_data.val().core;
            self.oldest_slot.next = self.fifo.pop_data.val().slot;
            self.oldest_threads.next = self.fifo.pop_data.val().threads;
            self.oldest_pc.next = self.fifo.pop_data.val().pc;
            self.oldest_address.next = self.fifo.pop_data.val().address;
            self.oldest_packet.next = self.fifo.pop_data.val().packet;
        }

        for k in 0..self._spawns {
            for i in 0..self._cores {
                if self.arbiter.grant.val().get_bit(i) {
                    self.job[k].d.next = self.fault_job[i].val();
                }
            }
            self.job_fifo[k].push_valid.next = self.taken.q.val();
            self.job_fifo[k].push_data.next = self.job[k].q.val();
            self.job_fifo[k].pop_ready.next = self.pop.val();
            self.oldest_job[k].next = bits::<5>(0);
            if self.job_fifo[k].pop_valid.val() {
                self.oldest_job[k].next = self.job_fifo[k].pop_data.val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{random, settle, start, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    fn oldest(unit: &FaultCollector) -> FaultRecord {
        FaultRecord {
            cause: unit.oldest_cause.val(),
            core: unit.oldest_core.val(),
            slot: unit.oldest_slot.val(),
            threads: unit.oldest_threads.val(),
            pc: unit.oldest_pc.val(),
            address: unit.oldest_address.val(),
            packet: unit.oldest_packet.val(),
        }
    }

    #[test]
    fn keeps_or_counts_every_record() {
        let mut random = random();
        for cores in [1, 3, 32] {
            let mut unit = FaultCollector::new(cores, 0);
            start!(unit);
            let mut waiting: Vec<Option<FaultRecord>> = vec![None; cores];
            let mut taken: Option<FaultRecord> = None;
            let mut model: VecDeque<FaultRecord> = VecDeque::new();
            let (mut drops, mut threads, mut hidden_for, mut shown) = (0u64, 0u64, 0, 0);
            for cycle in 0..6_000 {
                let (feed, drain) = [(0.3, 0.02), (0.01, 0.5), (0.1, 0.2)][cycle / 200 % 3];
                for (core, slot) in waiting.iter_mut().enumerate() {
                    if slot.is_none() && random.gen_bool(feed) {
                        *slot = Some(FaultRecord {
                            cause: random.gen_range(0..32u64).into(),
                            core: (core as u64).into(),
                            slot: random.gen_range(0..32u64).into(),
                            threads: random.gen_range(1..=32u64).into(),
                            pc: u64::from(random.gen::<u32>()).into(),
                            address: u64::from(random.gen::<u32>()).into(),
                            packet: u64::from(random.gen::<u32>()).into(),
                        });
                    }
                    let record = slot.unwrap_or_default();
                    unit.fault_valid[core].next = slot.is_some();
                    unit.fault_cause[core].next = record.cause;
                    unit.fault_slot[core].next = record.slot;
                    unit.fault_threads[core].next = record.threads;
                    unit.fault_pc[core].next = record.pc;
                    unit.fault_address[core].next = record.address;
                    unit.fault_packet[core].next = record.packet;
                }
                unit.pop.next = random.gen_bool(drain);
                settle!(unit);

                assert_eq!(unit.level.val().index(), model.len(), "cycle {cycle}");
                assert_eq!(unit.dropped.val().to_u64(), drops % (1 << 16), "cycle {cycle}");
                assert_eq!(unit.faults.val().to_u64(), threads, "cycle {cycle}");
                let room = model.len() < 32;
                let visible = unit.oldest_threads.val().any();
                if visible {
                    assert_eq!(oldest(&unit), model[0], "cycle {cycle}");
                    if unit.pop.val() {
                        model.pop_front();
                        shown += 1;
                    }
                } else {
                    assert_eq!(oldest(&unit), FaultRecord::default(), "cycle {cycle}");
                }
                hidden_for = if visible || model.is_empty() { 0 } else { hidden_for + 1 };
                assert!(hidden_for <= 1, "cycle {cycle}: a record is hidden");
                if let Some(record) = taken {
                    threads += record.threads.to_u64();
                    if room {
                        model.push_back(record);
                    } else {
                        drops += 1;
                    }
                }
                let ready: Vec<usize> = (0..cores).filter(|&c| unit.fault_ready[c].val()).collect();
                assert_eq!(ready.len(), usize::from(waiting.iter().any(Option::is_some)), "cycle {cycle}");
                taken = ready.first().map(|&core| waiting[core].take().expect("only a valid one is taken"));
                tick!(unit);
            }
            assert!(shown > 200 && drops > 20, "{shown} {drops}");
        }
    }
}
