//! The event counters of the cores, as registers.

use super::registers::address_of;
use crate::control::indices;
use crate::prelude::*;

/// Shows the counters of one core at a time: the CORE_ registers of
/// [`REGISTERS`](super::registers::REGISTERS).
///
/// `value` answers `address` and `select` in the same cycle; it is zero if no register of this unit is at `address`
/// or there is no core `select`.
#[derive(Clone, Debug, LogicBlock)]
pub struct CounterRegisters {
    /// Byte offset of the access.
    pub address: Signal<In, Bits<12>>,
    /// Register CORE_SELECT.
    pub select: Signal<In, Bits<5>>,
    /// The register at `address`.
    pub value: Signal<Out, Bits<32>>,
    /// Register CORE_INSTRUCTIONS, of each core.
    pub instructions: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LANE_INSTRUCTIONS, of each core.
    pub lane_instructions: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_ACTIVE_CYCLES, of each core.
    pub active_cycles: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_STALL_CYCLES, of each core.
    pub stall_cycles: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_DIVERGENT, of each core.
    pub divergent: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_FETCH_MISSES, of each core.
    pub fetch_misses: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LINE_READS, of each core.
    pub line_reads: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LINE_WRITES, of each core.
    pub line_writes: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_MEMORY, of each core.
    pub lost_memory: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_FETCH, of each core.
    pub lost_fetch: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_DIVERGENCE, of each core.
    pub lost_divergence: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_SCOREBOARD, of each core.
    pub lost_scoreboard: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_LOST_CONFLICT, of each core.
    pub lost_conflict: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_L2_READ_HITS, of each core.
    pub l2_read_hits: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_L2_READ_MISSES, of each core.
    pub l2_read_misses: Vec<Signal<In, Bits<32>>>,
    /// Register CORE_L2_WRITES, of each core.
    pub l2_writes: Vec<Signal<In, Bits<32>>>,
    at_instructions: Constant<Bits<12>>,
    at_lane_instructions: Constant<Bits<12>>,
    at_active_cycles: Constant<Bits<12>>,
    at_stall_cycles: Constant<Bits<12>>,
    at_divergent: Constant<Bits<12>>,
    at_fetch_misses: Constant<Bits<12>>,
    at_line_reads: Constant<Bits<12>>,
    at_line_writes: Constant<Bits<12>>,
    at_lost_memory: Constant<Bits<12>>,
    at_lost_fetch: Constant<Bits<12>>,
    at_lost_divergence: Constant<Bits<12>>,
    at_lost_scoreboard: Constant<Bits<12>>,
    at_lost_conflict: Constant<Bits<12>>,
    at_l2_read_hits: Constant<Bits<12>>,
    at_l2_read_misses: Constant<Bits<12>>,
    at_l2_writes: Constant<Bits<12>>,
    index: Vec<Constant<Bits<5>>>,
    _cores: usize,
}

impl CounterRegisters {
    /// The registers for the counters of `cores` cores.
    ///
    /// # Panics
    /// If `cores` is more than 32.
    pub fn new(cores: usize) -> Self {
        let counter = || vec![Signal::default(); cores];
        Self {
            address: Signal::default(),
            select: Signal::default(),
            value: Signal::default(),
            instructions: counter(),
            lane_instructions: counter(),
            active_cycles: counter(),
            stall_cycles: counter(),
            divergent: counter(),
            fetch_misses: counter(),
            line_reads: counter(),
            line_writes: counter(),
            lost_memory: counter(),
            lost_fetch: counter(),
            lost_divergence: counter(),
            lost_scoreboard: counter(),
            lost_conflict: counter(),
            l2_read_hits: counter(),
            l2_read_misses: counter(),
            l2_writes: counter(),
            at_instructions: address_of("CORE_INSTRUCTIONS", 32),
            at_lane_instructions: address_of("CORE_LANE_INSTRUCTIONS", 32),
            at_active_cycles: address_of("CORE_ACTIVE_CYCLES", 32),
            at_stall_cycles: address_of("CORE_STALL_CYCLES", 32),
            at_divergent: address_of("CORE_DIVERGENT", 32),
            at_fetch_misses: address_of("CORE_FETCH_MISSES", 32),
            at_line_reads: address_of("CORE_LINE_READS", 32),
            at_line_writes: address_of("CORE_LINE_WRITES", 32),
            at_lost_memory: address_of("CORE_LOST_MEMORY", 32),
            at_lost_fetch: address_of("CORE_LOST_FETCH", 32),
            at_lost_divergence: address_of("CORE_LOST_DIVERGENCE", 32),
            at_lost_scoreboard: address_of("CORE_LOST_SCOREBOARD", 32),
            at_lost_conflict: address_of("CORE_LOST_CONFLICT", 32),
            at_l2_read_hits: address_of("CORE_L2_READ_HITS", 32),
            at_l2_read_misses: address_of("CORE_L2_READ_MISSES", 32),
            at_l2_writes: address_of("CORE_L2_WRITES", 32),
            index: indices(cores),
            _cores: cores,
        }
    }
}

impl Logic for CounterRegisters {
    #[hdl_gen]
    fn update(&mut self) {
        let mut selected_instructions = bits::<32>(0);
        let mut selected_lane_instructions = bits::<32>(0);
        let mut selected_active_cycles = bits::<32>(0);
        let mut selected_stall_cycles = bits::<32>(0);
        let mut selected_divergent = bits::<32>(0);
        let mut selected_fetch_misses = bits::<32>(0);
        let mut selected_line_reads = bits::<32>(0);
        let mut selected_line_writes = bits::<32>(0);
        let mut selected_lost_memory = bits::<32>(0);
        let mut selected_lost_fetch = bits::<32>(0);
        let mut selected_lost_divergence = bits::<32>(0);
        let mut selected_lost_scoreboard = bits::<32>(0);
        let mut selected_lost_conflict = bits::<32>(0);
        let mut selected_l2_read_hits = bits::<32>(0);
        let mut selected_l2_read_misses = bits::<32>(0);
        let mut selected_l2_writes = bits::<32>(0);
        for i in 0..self._cores {
            if self.select.val() == self.index[i].val() {
                selected_instructions = self.instructions[i].val();
                selected_lane_instructions = self.lane_instructions[i].val();
                selected_active_cycles = self.active_cycles[i].val();
                selected_stall_cycles = self.stall_cycles[i].val();
                selected_divergent = self.divergent[i].val();
                selected_fetch_misses = self.fetch_misses[i].val();
                selected_line_reads = self.line_reads[i].val();
                selected_line_writes = self.line_writes[i].val();
                selected_lost_memory = self.lost_memory[i].val();
                selected_lost_fetch = self.lost_fetch[i].val();
                selected_lost_divergence = self.lost_divergence[i].val();
                selected_lost_scoreboard = self.lost_scoreboard[i].val();
                selected_lost_conflict = self.lost_conflict[i].val();
                selected_l2_read_hits = self.l2_read_hits[i].val();
                selected_l2_read_misses = self.l2_read_misses[i].val();
                selected_l2_writes = self.l2_writes[i].val();
            }
        }
        self.value.next = bits::<32>(0);
        if self.address.val() == self.at_instructions.val() {
            self.value.next = selected_instructions;
        }
        if self.address.val() == self.at_lane_instructions.val() {
            self.value.next = selected_lane_instructions;
        }
        if self.address.val() == self.at_active_cycles.val() {
            self.value.next = selected_active_cycles;
        }
        if self.address.val() == self.at_stall_cycles.val() {
            self.value.next = selected_stall_cycles;
        }
        if self.address.val() == self.at_divergent.val() {
            self.value.next = selected_divergent;
        }
        if self.address.val() == self.at_fetch_misses.val() {
            self.value.next = selected_fetch_misses;
        }
        if self.address.val() == self.at_line_reads.val() {
            self.value.next = selected_line_reads;
        }
        if self.address.val() == self.at_line_writes.val() {
            self.value.next = selected_line_writes;
        }
        if self.address.val() == self.at_lost_memory.val() {
            self.value.next = selected_lost_memory;
        }
        if self.address.val() == self.at_lost_fetch.val() {
            self.value.next = selected_lost_fetch;
        }
        if self.address.val() == self.at_lost_divergence.val() {
            self.value.next = selected_lost_divergence;
        }
        if self.address.val() == self.at_lost_scoreboard.val() {
            self.value.next = selected_lost_scoreboard;
        }
        if self.address.val() == self.at_lost_conflict.val() {
            self.value.next = selected_lost_conflict;
        }
        if self.address.val() == self.at_l2_read_hits.val() {
            self.value.next = selected_l2_read_hits;
        }
        if self.address.val() == self.at_l2_read_misses.val() {
            self.value.next = selected_l2_read_misses;
        }
        if self.address.val() == self.at_l2_writes.val() {
            self.value.next = selected_l2_writes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::{random, settle};
    use crate::host::registers::REGISTERS;
    use rand::Rng;

    #[test]
    fn show_the_selected_core() {
        let mut random = random();
        let mut unit = CounterRegisters::new(3);
        unit.connect_all();
        for case in 0..4_000 {
            let mut counters = [[0u64; 3]; 16];
            for core in 0..3 {
                for counter in &mut counters {
                    counter[core] = u64::from(random.gen::<u32>());
                }

                unit.instructions[core].next = counters[0][core].into();
                unit.lane_instructions[core].next = counters[1][core].into();
                unit.active_cycles[core].next = counters[2][core].into();
                unit.stall_cycles[core].next = counters[3][core].into();
                unit.divergent[core].next = counters[4][core].into();
                unit.fetch_misses[core].next = counters[5][core].into();
                unit.line_reads[core].next = counters[6][core].into();
                unit.line_writes[core].next = counters[7][core].into();
                unit.lost_memory[core].next = counters[8][core].into();
                unit.lost_fetch[core].next = counters[9][core].into();
                unit.lost_divergence[core].next = counters[10][core].into();
                unit.lost_scoreboard[core].next = counters[11][core].into();
                unit.lost_conflict[core].next = counters[12][core].into();
                unit.l2_read_hits[core].next = counters[13][core].into();
                unit.l2_read_misses[core].next = counters[14][core].into();
                unit.l2_writes[core].next = counters[15][core].into();
            }
            let register = &REGISTERS[random.gen_range(0..REGISTERS.len())];
            let select = random.gen_range(0..5usize);
            unit.address.next = u64::from(register.offset).into();
            unit.select.next = (select as u64).into();
            settle!(unit);
            let expected = match register.name {
                "CORE_INSTRUCTIONS" => counters[0].get(select).copied(),
                "CORE_LANE_INSTRUCTIONS" => counters[1].get(select).copied(),
                "CORE_ACTIVE_CYCLES" => counters[2].get(select).copied(),
                "CORE_STALL_CYCLES" => counters[3].get(select).copied(),
                "CORE_DIVERGENT" => counters[4].get(select).copied(),
                "CORE_FETCH_MISSES" => counters[5].get(select).copied(),
                "CORE_LINE_READS" => counters[6].get(select).copied(),
                "CORE_LINE_WRITES" => counters[7].get(select).copied(),
                "CORE_LOST_MEMORY" => counters[8].get(select).copied(),
                "CORE_LOST_FETCH" => counters[9].get(select).copied(),
                "CORE_LOST_DIVERGENCE" => counters[10].get(select).copied(),
                "CORE_LOST_SCOREBOARD" => counters[11].get(select).copied(),
                "CORE_LOST_CONFLICT" => counters[12].get(select).copied(),
                "CORE_L2_READ_HITS" => counters[13].get(select).copied(),
                "CORE_L2_READ_MISSES" => counters[14].get(select).copied(),
                "CORE_L2_WRITES" => counters[15].get(select).copied(),
                _ => None,
            };
            assert_eq!(unit.value.val().to_u64(), expected.unwrap_or(0), "case {case}: {}", register.name);
        }
    }
}
