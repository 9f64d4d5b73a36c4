//! The register write port for long-latency results.

use crate::ports::{FailedLoad, LateResult, LineError, SlotEvent};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Sources of long-latency results, in the order of their priority: the scratchpad, which so knows
/// soon whether it can go on, memory, the division.
pub const LATE_SOURCES: usize = 3;
/// Loads of the scratchpad.
pub const FROM_SCRATCHPAD: usize = 0;
/// Loads, and atomic operations.
pub const FROM_MEMORY: usize = 1;
/// Divisions.
pub const FROM_DIVISION: usize = 2;

/// Out-of-order writeback: lets long-latency results to the register write port, those of the
/// source with the highest priority, alternating with stage W.
///
/// 1. Values of a source are taken at the edge at which its `valid` and `result_ready` are
///    high; of one source at most. What the lanes get from the others in that cycle is 0.
/// 2. In the next cycle the values go to the registers that `write` names;
///    these and all outputs that come with them are registers.
/// 3. `scratchpad_next` and `port_wanted_next` report a cycle ahead whether the scratchpad has
///    values and whether stage W wants the port, so that a register says whether the port is free
///    for the other sources.
/// 4. In a cycle in which stage W waits for the port (while `write.valid` is high) nothing is taken
///    but what comes from the scratchpad. Otherwise a stream of loaded lines would hold up the
///    instructions that request more. The scratchpad never waits, so that it knows soon whether it
///    has room; what it still delivers when stage W begins to wait belongs to a few instructions at
///    most.
/// 5. What comes with `result_error.valid` is no value: `write.lanes` is empty then, and
///    `failed.lanes` has its lanes.
#[clocked]
#[derive(LogicBlock)]
pub struct LateResults<const LANES: usize> {
    /// From stage W: the port is wanted in the next cycle, unless the instruction that wants it is
    /// flushed.
    pub port_wanted_next: Signal<In, Bit>,
    /// From the scratchpad: values of lanes are here in the next cycle.
    pub scratchpad_next: Signal<In, Bit>,
    /// From each source; taken at the edge at which its `result_ready` is high.
    #[count(LATE_SOURCES)]
    pub result: Vec<Flipped<LateResult<LANES>>>,
    /// To each source: the values are taken at this edge, if there are any.
    #[count(LATE_SOURCES)]
    pub result_ready: Vec<Signal<Out, Bit>>,
    /// To memory: the values will be taken in the next cycle.
    pub memory_ready_next: Signal<Out, Bit>,
    /// The values of memory could not be read.
    pub result_error: LineError,
    /// From memory: a load is complete with the values that are taken.
    pub loaded_valid: Signal<In, Bit>,
    /// From memory: an atomic operation is complete with this cycle.
    pub exchanged_valid: Signal<In, Bit>,
    /// To the lanes and whoever waits: values that are written at this edge. Slot and register are
    /// undefined if there are none; `lanes` is empty then, and if their line could not be read.
    pub write: LateResult<LANES>,
    /// A load, an atomic operation or a division writes its last value.
    pub complete: Flipped<SlotEvent>,
    /// Lanes whose values memory could not read; their registers keep their contents.
    pub failed: Flipped<FailedLoad<LANES>>,
    /// A load from shared memory is complete with the values of `write`.
    pub loaded: Signal<Out, Bit>,
    /// A load from the scratchpad is complete with the values of `write`.
    pub scratched: Signal<Out, Bit>,
    /// A division is complete with the values of `write`.
    pub divided: Signal<Out, Bit>,
    /// An atomic operation was complete a cycle ago; if it has values, they are written at this
    /// edge.
    pub exchanged: Signal<Out, Bit>,
    /// Neither the scratchpad nor stage W has the port.
    port_free: Register<Bit>,
    write_valid_q: Register<Bit>,
    write_slot_q: Register<Bits<5>>,
    write_rd_q: Register<Bits<5>>,
    write_lanes_q: Register<Bits<LANES>>,
    write_last_q: Register<Bit>,
    write_error_q: Register<Bit>,
    error_lanes_q: Register<Bits<LANES>>,
    write_line_q: Register<LineAddress>,
    loaded_q: Register<Bit>,
    scratched_q: Register<Bit>,
    divided_q: Register<Bit>,
    exchanged_q: Register<Bit>,
    #[count(LATE_SOURCES)]
    result_taken: Vec<Signal<Local, Bit>>,
}

impl<const LANES: usize> Logic for LateResults<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        let mut some_taken = false;
        self.write_slot_q.d.next = self.result[0].slot.val();
        self.write_rd_q.d.next = self.result[0].rd.val();
        self.write_lanes_q.d.next = bits::<LANES>(0);
        self.write_last_q.d.next = false;
        for i in 0..LATE_SOURCES {
            // Neither stage W nor a source with a higher priority has the port.
            let mut free = self.port_free.q.val();
            if i == FROM_SCRATCHPAD {
                free = true;
            }
            for j in 0..LATE_SOURCES {
                if (j < i) && (j != FROM_SCRATCHPAD) && self.result[j].valid.val() {
                    free = false;
                }
            }
            self.result_ready[i].next = free;
            self.result_taken[i].next = false;
            if self.result[i].valid.val() & free {
                self.result_taken[i].next = true;
                some_taken = true;
                self.write_slot_q.d.next = self.result[i].slot.val();
                self.write_rd_q.d.next = self.result[i].rd.val();
                self.write_lanes_q.d.next = self.result[i].lanes.val();
                self.write_last_q.d.next = self.result[i].last.val();
                if (i == FROM_MEMORY) && self.result_error.valid.val() {
                    self.write_lanes_q.d.next = bits::<LANES>(0);
                }
            }
        }
        self.write_valid_q.d.next = some_taken;
        let free_next = !self.scratchpad_next.val() & !(self.port_wanted_next.val() & some_taken);
        self.port_free.d.next = free_next;
        self.memory_ready_next.next = free_next;
        self.write_error_q.d.next = self.result_taken[FROM_MEMORY].val() & self.result_error.valid.val();
        // These lanes matter with the error only, so they need no selection.
        self.error_lanes_q.d.next = self.result[FROM_MEMORY].lanes.val();
        self.write_line_q.d.next = self.result_error.line.val();
        self.loaded_q.d.next = self.loaded_valid.val();
        self.scratched_q.d.next =
            self.result_taken[FROM_SCRATCHPAD].val() & self.result[FROM_SCRATCHPAD].last.val();
        self.divided_q.d.next =
            self.result_taken[FROM_DIVISION].val() & self.result[FROM_DIVISION].last.val();
        self.exchanged_q.d.next = self.exchanged_valid.val();
        self.write.valid.next = self.write_valid_q.q.val();
        self.write.slot.next = self.write_slot_q.q.val();
        self.write.rd.next = self.write_rd_q.q.val();
        self.write.lanes.next = self.write_lanes_q.q.val();
        self.write.last.next = self.write_last_q.q.val();
        self.complete.valid.next = self.write_last_q.q.val();
        self.complete.slot.next = self.write_slot_q.q.val();
        self.failed.slot.next = self.write_slot_q.q.val();
        self.failed.valid.next = self.write_error_q.q.val();
        self.failed.lanes.next = self.error_lanes_q.q.val();
        self.failed.line.next = self.write_line_q.q.val();
        self.loaded.next = self.loaded_q.q.val();
        self.scratched.next = self.scratched_q.q.val();
        self.divided.next = self.divided_q.q.val();
        self.exchanged.next = self.exchanged_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// Every value is taken once and written in the next cycle, the first unit's before those of
    /// others, and none is taken while stage W waits.
    #[test]
    fn the_first_unit_goes_first_and_stage_w_has_its_turns() {
        let mut rng = hermes_hdl::testing::random();
        let mut uut = LateResults::<4>::default();
        reset!(uut);
        let (mut before, mut held, mut second) = (None, 0, 0);
        // The first cycle after reset is lost.
        tick!(uut);
        let (mut scratchpad, mut wanted_next, mut memory_ready) = (false, false, true);
        for cycle in 0..2000u64 {
            let mut valid: [bool; LATE_SOURCES] = std::array::from_fn(|_| rng.gen_bool(0.4));
            valid[FROM_SCRATCHPAD] = scratchpad;
            scratchpad = rng.gen_bool(0.4);
            uut.scratchpad_next.next = scratchpad;
            let last: [bool; LATE_SOURCES] = std::array::from_fn(|_| rng.gen_bool(0.5));
            for i in 0..LATE_SOURCES {
                uut.result[i].valid.next = valid[i];
                uut.result[i].slot.next = bits(10 + i as u64);
                uut.result[i].rd.next = bits(20 + i as u64);
                uut.result[i].lanes.next = bits(1 << i);
                uut.result[i].last.next = last[i];
            }
            let (error, loaded, exchanged) = (rng.gen_bool(0.5), rng.gen_bool(0.5), rng.gen_bool(0.5));
            uut.result_error.valid.next = error;
            uut.result_error.line.next = bits(cycle);
            uut.loaded_valid.next = loaded;
            uut.exchanged_valid.next = exchanged;
            let wanted = std::mem::replace(&mut wanted_next, rng.gen_bool(0.3));
            uut.port_wanted_next.next = wanted_next;
            settle(&mut uut);

            let waits = before.is_some() && wanted;
            let first = valid.iter().position(|valid| *valid).filter(|i| !waits || *i == FROM_SCRATCHPAD);
            held += u32::from(waits && first.is_none() && valid.contains(&true));
            second += u32::from(first > Some(0));
            for (i, valid) in valid.into_iter().enumerate() {
                if i == FROM_MEMORY {
                    assert_eq!(uut.result_ready[i].val(), memory_ready, "cycle {cycle}");
                }
                let taken = uut.result_ready[i].val() && valid;
                assert_eq!((taken, uut.result_taken[i].val()), (first == Some(i), first == Some(i)));
            }
            assert_eq!(uut.write.valid.val(), before.is_some());
            if let Some((i, ends, error)) = before {
                let failed = i == FROM_MEMORY && error;
                assert_eq!(u64::from(uut.write.lanes.val()), if failed { 0 } else { 1u64 << i });
                assert_eq!(uut.failed.valid.val(), failed);
                assert!(!failed || u64::from(uut.failed.lanes.val()) == 1u64 << i);
                assert_eq!(u64::from(uut.write.slot.val()), 10 + i as u64);
                assert_eq!(u64::from(uut.write.rd.val()), 20 + i as u64);
                assert_eq!(uut.write.last.val(), ends);
                assert_eq!(u64::from(uut.failed.line.val()), cycle - 1);
                assert_eq!(uut.scratched.val(), i == FROM_SCRATCHPAD && ends);
                assert_eq!(uut.divided.val(), i == FROM_DIVISION && ends);
            } else {
                let none = !uut.write.lanes.val().any() && !uut.write.last.val() && !uut.failed.valid.val();
                assert!(none && !uut.scratched.val() && !uut.divided.val());
            }
            memory_ready = uut.memory_ready_next.val();
            before = first.map(|i| (i, last[i], error));
            tick!(uut);
            settle(&mut uut);
            assert_eq!((uut.loaded.val(), uut.exchanged.val()), (loaded, exchanged));
        }
        assert!(held > 100 && second > 100, "{held} {second}");
    }
}
