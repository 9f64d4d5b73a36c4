//! Event counters of a core.

use crate::host::CoreCounters;
use crate::ports::Retired;
use hermes_hdl::prelude::*;

/// The counters of [`CoreCounters`], 32 bits each, modulo 2^32. An event counts two cycles after
/// it: most are known late in a cycle, so that they are registered before they count.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct EventCounters {
    /// A kernel instruction retires.
    pub retired: Retired,
    /// At least one warp is on the core.
    pub occupied: Signal<In, Bit>,
    /// Stage R took an instruction a cycle ago; known so late that it counts in the next cycle.
    pub issued: Signal<In, Bit>,
    /// A cache line fill starts.
    pub fetch_miss: Signal<In, Bit>,
    /// A data line is read from memory.
    pub line_read: Signal<In, Bit>,
    /// A data line is written.
    pub line_write: Signal<In, Bit>,
    /// To the registers.
    pub counters: CoreCounters,
    occupied_q: Register<Bit>,
    fetch_miss_q: Register<Bit>,
    line_read_q: Register<Bit>,
    line_write_q: Register<Bit>,
    retire_q: Register<Bit>,
    retire_lanes_q: Register<Bits<6>>,
    retire_diverged_q: Register<Bit>,
    instructions_q: Register<Bits<32>>,
    lane_instructions_q: Register<Bits<32>>,
    active_cycles_q: Register<Bits<32>>,
    stall_cycles_q: Register<Bits<32>>,
    divergent_q: Register<Bits<32>>,
    fetch_misses_q: Register<Bits<32>>,
    line_reads_q: Register<Bits<32>>,
    line_writes_q: Register<Bits<32>>,
}

impl Logic for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        self.occupied_q.d.next = self.occupied.val();
        self.fetch_miss_q.d.next = self.fetch_miss.val();
        self.line_read_q.d.next = self.line_read.val();
        self.line_write_q.d.next = self.line_write.val();
        self.retire_q.d.next = self.retired.valid.val();
        self.retire_lanes_q.d.next = self.retired.lanes.val();
        self.retire_diverged_q.d.next = self.retired.diverged.val();
        if self.retire_q.q.val() {
            self.instructions_q.d.next = self.instructions_q.q.val() + bits::<32>(1);
            self.lane_instructions_q.d.next =
                self.lane_instructions_q.q.val() + bit_cast::<32, 6>(self.retire_lanes_q.q.val());
            if self.retire_diverged_q.q.val() {
                self.divergent_q.d.next = self.divergent_q.q.val() + bits::<32>(1);
            }
        }
        if self.occupied_q.q.val() {
            self.active_cycles_q.d.next = self.active_cycles_q.q.val() + bits::<32>(1);
            if !self.issued.val() {
                self.stall_cycles_q.d.next = self.stall_cycles_q.q.val() + bits::<32>(1);
            }
        }
        if self.fetch_miss_q.q.val() {
            self.fetch_misses_q.d.next = self.fetch_misses_q.q.val() + bits::<32>(1);
        }
        if self.line_read_q.q.val() {
            self.line_reads_q.d.next = self.line_reads_q.q.val() + bits::<32>(1);
        }
        if self.line_write_q.q.val() {
            self.line_writes_q.d.next = self.line_writes_q.q.val() + bits::<32>(1);
        }
        self.counters.instructions.next = self.instructions_q.q.val();
        self.counters.lane_instructions.next = self.lane_instructions_q.q.val();
        self.counters.active_cycles.next = self.active_cycles_q.q.val();
        self.counters.stall_cycles.next = self.stall_cycles_q.q.val();
        self.counters.divergent.next = self.divergent_q.q.val();
        self.counters.fetch_misses.next = self.fetch_misses_q.q.val();
        self.counters.line_reads.next = self.line_reads_q.q.val();
        self.counters.line_writes.next = self.line_writes_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tick;

    #[test]
    fn events_count_once_a_cycle() {
        let mut unit = EventCounters::default();
        unit.occupied.next = true;
        for cycle in 0..12 {
            unit.retired.valid.next = cycle % 2 == 0;
            unit.retired.lanes.next = (1 + cycle / 2).into();
            // Told a cycle later than the rest
            unit.issued.next = cycle % 3 == 1;
            unit.retired.diverged.next = cycle % 4 == 0;
            unit.line_read.next = cycle == 7;
            tick!(unit);
        }
        unit.occupied.next = false;
        tick!(unit);
        assert_eq!(unit.counters.instructions.val().index(), 6);
        assert_eq!(unit.counters.lane_instructions.val().index(), 1 + 2 + 3 + 4 + 5 + 6);
        assert_eq!(unit.counters.active_cycles.val().index(), 12);
        assert_eq!(unit.counters.stall_cycles.val().index(), 8);
        assert_eq!(unit.counters.divergent.val().index(), 3);
        assert_eq!(unit.counters.line_reads.val().index(), 1);
        assert_eq!(unit.counters.line_writes.val().index(), 0);
    }
}
