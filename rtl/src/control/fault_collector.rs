//! Collects the faults of all cores for the host.

use crate::blocks::{RoundRobin, SyncFifo};
use crate::host::registers::faults::FaultRecords;
use crate::ports::{TakenFault, WarpFault};
use crate::types::{FunctionIndex, WarpJob};
use hermes_hdl::prelude::*;

/// What the host learns about one fault of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, LogicStruct)]
pub struct FaultRecord {
    /// Cause (RISC-V privileged specification, mcause of the exception).
    pub cause: Bits<5>,
    /// Index of the core.
    pub core: Bits<5>,
    /// Index of the warp slot.
    pub slot: Bits<5>,
    /// Threads of the warp that the fault ended, 1 to 32.
    pub threads: Bits<6>,
    /// Address of the instruction.
    pub pc: Bits<32>,
    /// Value that RISC-V writes to mtval for this cause, of the lowest faulting lane.
    pub address: Bits<32>,
    /// packetIdx of the lowest faulting lane.
    pub packet: Bits<32>,
}

/// Collects the cores' fault records, round-robin, in a FIFO of 32 that the host reads.
///
/// 1. In each cycle one of the cores that offer a record is served, round-robin: a core
///    waits for at most one record of each other core, never for the host.
/// 2. A record that finds the FIFO full is dropped and counted in `dropped`; its threads count in
///    `faults` like those of any record, two cycles after the record was taken.
/// 3. `registers` shows the oldest record, zero if there is none; `pop` removes it. A
///    record shows at the earliest four cycles after it was taken.
/// 4. With network functions `taken` reports each record in the cycle after it was taken, with the
///    function that its core had then.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(cores: usize, spawns: bool, functions: bool)]
pub struct FaultCollector {
    /// From each core; `ready` depends on every `valid`.
    #[count(cores)]
    pub fault: Vec<Flipped<WarpFault>>,
    /// The registers: the oldest record, which `pop` removes if there is one, and how many there
    /// were.
    pub registers: FaultRecords,
    /// From each core: job of the warp, its slot in bits 3:0; bit 4: the warp is one of spawned
    /// threads (only with a thread spawner, as the next).
    #[there(spawns)]
    #[count(cores)]
    pub fault_job: Part<Vec<Signal<In, WarpJob>>>,
    /// Of the oldest record: the same.
    #[there(spawns)]
    pub oldest_job: Part<Signal<Out, WarpJob>>,
    /// From the owner of the cores: function of each core (only with network functions, as the
    /// next).
    #[there(functions)]
    #[count(cores)]
    pub core_function: Part<Vec<Signal<In, FunctionIndex>>>,
    /// Function of the oldest record, 0 if there is none.
    #[there(functions)]
    pub oldest_function: Part<Signal<Out, FunctionIndex>>,
    /// To the counters of the functions.
    #[there(functions)]
    pub taken_fault: Part<TakenFault>,
    arbiter: RoundRobin,
    fifo: SyncFifo<FaultRecord, 5, 6>,
    taken: Register<Bit>,
    record: Register<FaultRecord>,
    drops: Register<Bits<16>>,
    threads: Register<Bits<32>>,
    #[there(spawns)]
    job: Part<Register<WarpJob>>,
    /// Beside `fifo`, and as full.
    #[there(spawns)]
    job_fifo: Part<SyncFifo<WarpJob, 5, 6>>,
    #[there(functions)]
    function: Part<Register<FunctionIndex>>,
    /// Beside `fifo`, and as full.
    #[there(functions)]
    function_fifo: Part<SyncFifo<FunctionIndex, 5, 6>>,
    #[init(cores)]
    _cores: usize,
}

impl FaultCollector {
    /// A collector for `cores` cores that run packets, with `spawns` spawned threads too, with
    /// `functions` packets of network functions.
    ///
    /// # Panics
    /// If `cores` is not 1 to 32.
    pub fn new(cores: usize, spawns: bool, functions: bool) -> Self {
        assert!((1..=32).contains(&cores), "FaultCollector: {cores} cores, expected 1 to 32");
        Self::wired(cores, spawns, functions)
    }
}

impl Logic for FaultCollector {
    #[hdl_gen]
    fn update(&mut self) {
        // Take one core's record.
        let mut request = bits::<32>(0);
        for i in 0..self._cores {
            request = request.replace_bit(i, self.fault[i].valid.val());
        }
        self.arbiter.request.next = request;
        self.arbiter.advance.next = self.arbiter.any.val();
        self.taken.d.next = self.arbiter.any.val();
        self.record.d.next.core = self.arbiter.index.val();
        for i in 0..self._cores {
            self.fault[i].ready.next = self.arbiter.grant.val().get_bit(i);
            if self.arbiter.grant.val().get_bit(i) {
                self.record.d.next.cause = self.fault[i].cause.val();
                self.record.d.next.slot = self.fault[i].slot.val();
                self.record.d.next.threads = self.fault[i].threads.val();
                self.record.d.next.pc = self.fault[i].pc.val();
                self.record.d.next.address = self.fault[i].value.val();
                self.record.d.next.packet = self.fault[i].packet.val();
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
        self.registers.faults.next = self.threads.q.val();
        self.registers.dropped.next = self.drops.q.val();

        // Show the oldest.
        self.fifo.pop_ready.next = self.registers.pop.val();
        self.registers.level.next = bit_cast::<16, 6>(self.fifo.level.val());
        self.registers.cause.next = bits::<5>(0);
        self.registers.core.next = bits::<5>(0);
        self.registers.slot.next = bits::<5>(0);
        self.registers.threads.next = bits::<6>(0);
        self.registers.pc.next = bits::<32>(0);
        self.registers.address.next = bits::<32>(0);
        self.registers.packet.next = bits::<32>(0);
        if self.fifo.pop_valid.val() {
            self.registers.cause.next = self.fifo.pop_data.val().cause;
            self.registers.core.next = self.fifo.pop_data.val().core;
            self.registers.slot.next = self.fifo.pop_data.val().slot;
            self.registers.threads.next = self.fifo.pop_data.val().threads;
            self.registers.pc.next = self.fifo.pop_data.val().pc;
            self.registers.address.next = self.fifo.pop_data.val().address;
            self.registers.packet.next = self.fifo.pop_data.val().packet;
        }

        if self.core_function.is_there() {
            for i in 0..self._cores {
                if self.arbiter.grant.val().get_bit(i) {
                    self.function.d.next = self.core_function[i].val();
                }
            }
            self.function_fifo.push_valid.next = self.taken.q.val();
            self.function_fifo.push_data.next = self.function.q.val();
            self.function_fifo.pop_ready.next = self.registers.pop.val();
            self.oldest_function.next = bits::<3>(0);
            if self.function_fifo.pop_valid.val() {
                self.oldest_function.next = self.function_fifo.pop_data.val();
            }
            self.taken_fault.valid.next = self.taken.q.val();
            self.taken_fault.function.next = self.function.q.val();
            self.taken_fault.threads.next = self.record.q.val().threads;
        }

        if self.fault_job.is_there() {
            for i in 0..self._cores {
                if self.arbiter.grant.val().get_bit(i) {
                    self.job.d.next = self.fault_job[i].val();
                }
            }
            self.job_fifo.push_valid.next = self.taken.q.val();
            self.job_fifo.push_data.next = self.job.q.val();
            self.job_fifo.pop_ready.next = self.registers.pop.val();
            self.oldest_job.next = bits::<5>(0);
            if self.job_fifo.pop_valid.val() {
                self.oldest_job.next = self.job_fifo.pop_data.val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;
    use std::collections::VecDeque;

    fn oldest(unit: &FaultCollector) -> FaultRecord {
        FaultRecord {
            cause: unit.registers.cause.val(),
            core: unit.registers.core.val(),
            slot: unit.registers.slot.val(),
            threads: unit.registers.threads.val(),
            pc: unit.registers.pc.val(),
            address: unit.registers.address.val(),
            packet: unit.registers.packet.val(),
        }
    }

    #[test]
    fn keeps_or_counts_every_record() {
        let mut random = random();
        for cores in [1, 3, 32] {
            let mut unit = FaultCollector::new(cores, false, false);
            reset!(unit);
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
                    unit.fault[core].valid.next = slot.is_some();
                    unit.fault[core].cause.next = record.cause;
                    unit.fault[core].slot.next = record.slot;
                    unit.fault[core].threads.next = record.threads;
                    unit.fault[core].pc.next = record.pc;
                    unit.fault[core].value.next = record.address;
                    unit.fault[core].packet.next = record.packet;
                }
                unit.registers.pop.next = random.gen_bool(drain);
                settle(&mut unit);

                assert_eq!(unit.registers.level.val().index(), model.len(), "cycle {cycle}");
                assert_eq!(unit.registers.dropped.val().to_u64(), drops % (1 << 16), "cycle {cycle}");
                assert_eq!(unit.registers.faults.val().to_u64(), threads, "cycle {cycle}");
                let room = model.len() < 32;
                let visible = unit.registers.threads.val().any();
                if visible {
                    assert_eq!(oldest(&unit), model[0], "cycle {cycle}");
                    if unit.registers.pop.val() {
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
                let ready: Vec<usize> = (0..cores).filter(|&c| unit.fault[c].ready.val()).collect();
                assert_eq!(ready.len(), usize::from(waiting.iter().any(Option::is_some)), "cycle {cycle}");
                taken = ready.first().map(|&core| waiting[core].take().expect("only a valid one is taken"));
                tick!(unit);
            }
            assert!(shown > 200 && drops > 20, "{shown} {drops}");
        }
    }
}
