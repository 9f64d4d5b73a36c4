//! Whether the instruction in stage D may go on, and where its operands come from.

use super::{OutstandingOperations, Scoreboard};
use crate::ports::{AtomicInFlight, Completions, Forwards, HazardQuery, InFlight};
use hermes_hdl::prelude::*;

/// Compares the instruction in stage D with what its warp has in flight.
///
/// An instruction is `blocked` while
///
/// - one of its registers waits for a load or division (in stages R to W, or marked on the
///   [`Scoreboard`]);
/// - it needs a product whose multiplication is in stage R (a product is known at the end of stage
///   W only);
/// - it is a load and a store of its warp is not acknowledged, or the other way round, so that
///   memory sees the accesses of a thread in their order (the scratchpad keeps it by itself); a
///   `fence` waits for both, and EXIT for all values that are still to come;
/// - it is a division (here and in all stages counts of bits are divisions, too), and the divider
///   is busy;
/// - it is an atomic instruction and its warp has a load or store outstanding, or the path of
///   atomic operations is busy or refused to the warp;
/// - it is a load and an atomic operation of its warp is not complete.
///
/// A blocked instruction is replayed: at once, or (`waits`) after a load, store or division of its
/// warp has completed. A completion in the very cycle counts, so that no wake-up is lost. All other
/// results are forwarded, so that the very next instruction can use them. All outputs are
/// combinational; completions and starts show in the next cycle.
#[clocked]
#[derive(LogicBlock, Default)]
pub struct Hazards {
    /// Stage D: warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Stage D: what the instruction needs.
    pub decode: HazardQuery,
    /// The instruction in stage R, as far as hazards go.
    pub read: InFlight,
    /// Stage R: warp slot.
    pub read_slot: Signal<In, Bits<5>>,
    /// Stage R: multiplication.
    pub read_multiply: Signal<In, Bit>,
    /// Stages that hold an atomic instruction.
    pub atomic: AtomicInFlight,
    /// The instruction in stage X, as far as hazards go.
    pub execute: InFlight,
    /// Stage X: warp slot.
    pub execute_slot: Signal<In, Bits<5>>,
    /// The instruction in stage W, as far as hazards go.
    pub write: InFlight,
    /// Stage W: warp slot.
    pub write_slot: Signal<In, Bits<5>>,
    /// Stage M takes the load, store or atomic operation in stage W for shared memory.
    pub memory_start: Signal<In, Bit>,
    /// Stage M takes the load or store in stage W for the scratchpad.
    pub scratchpad_start: Signal<In, Bit>,
    /// The division in stage W starts.
    pub divide_start: Signal<In, Bit>,
    /// A load from the shared memory completes.
    pub loaded_valid: Signal<In, Bit>,
    /// A load from the scratchpad completes.
    pub scratchpad_loaded: Signal<In, Bit>,
    /// Operations that complete.
    pub completions: Completions,
    /// Destination register of the late result whose last value is written (`completions.late`).
    pub late_rd: Signal<In, Bits<5>>,
    /// The divider is busy.
    pub divide_busy: Signal<In, Bit>,
    /// Warp slot of the division.
    pub divide_slot: Signal<In, Bits<5>>,
    /// The path of atomic operations is busy.
    pub atomic_busy: Signal<In, Bit>,
    /// Warp slot of the operation.
    pub atomic_slot: Signal<In, Bits<5>>,
    /// Stage D: other warps come first at that path.
    pub atomic_refused: Signal<In, Bit>,
    /// The instruction in stage D cannot be executed yet.
    pub blocked: Signal<Out, Bit>,
    /// The instruction in stage D waits until an operation of its warp completes.
    pub waits: Signal<Out, Bit>,
    /// To stage D.
    pub forward: Flipped<Forwards>,
    /// Slots with outstanding stores.
    pub stores_busy: Signal<Out, Bits<32>>,
    /// The warp in stage W has long-latency results outstanding. They are those of loads from
    /// either memory, of an atomic operation or of a division.
    pub write_warp_late: Signal<Out, Bit>,
    scoreboard: Scoreboard,
    loads: OutstandingOperations,
    stores: OutstandingOperations,
    scratchpad: OutstandingOperations,
}

impl Logic for Hazards {
    #[hdl_gen]
    fn update(&mut self) {
        self.scoreboard.set_valid.next = (self.divide_start.val()
            | ((self.memory_start.val() | self.scratchpad_start.val()) & self.write.load.val()))
            & self.write.rd.val().any();
        self.scoreboard.set_slot.next = self.write_slot.val();
        self.scoreboard.set_register.next = self.write.rd.val();
        self.scoreboard.clear_valid.next = self.completions.late.valid.val() & self.late_rd.val().any();
        self.scoreboard.clear_slot.next = self.completions.late.slot.val();
        self.scoreboard.clear_register.next = self.late_rd.val();
        self.scoreboard.slot.next = self.slot.val();
        connect!(self.decode, self.scoreboard.uses);
        // Loads complete in order; atomic operations may overtake them.
        self.loads.start_valid.next =
            self.memory_start.val() & self.write.load.val() & !self.atomic.write.val();
        self.loads.start_slot.next = self.write_slot.val();
        self.loads.done.valid.next = self.loaded_valid.val();
        self.loads.done.slot.next = self.completions.late.slot.val();
        self.stores.start_valid.next = self.memory_start.val() & self.write.store.val();
        self.stores.start_slot.next = self.write_slot.val();
        connect!(self.completions.stored, self.stores.done);
        self.scratchpad.start_valid.next = self.scratchpad_start.val() & self.write.load.val();
        self.scratchpad.start_slot.next = self.write_slot.val();
        self.scratchpad.done.valid.next = self.scratchpad_loaded.val();
        self.scratchpad.done.slot.next = self.completions.late.slot.val();
        self.stores_busy.next = self.stores.busy.val();
        self.loads.slot.next = self.slot.val();
        self.loads.other_slot.next = self.write_slot.val();
        self.stores.slot.next = self.slot.val();
        self.stores.other_slot.next = self.write_slot.val();
        self.scratchpad.slot.next = self.slot.val();
        self.scratchpad.other_slot.next = self.write_slot.val();

        // What the warp has in stages R to W
        let read_mine = self.read.valid.val() & (self.read_slot.val() == self.slot.val());
        let execute_mine = self.execute.valid.val() & (self.execute_slot.val() == self.slot.val());
        let write_mine = self.write.valid.val() & (self.write_slot.val() == self.slot.val());
        self.forward.rs1_in_read.next =
            read_mine & self.decode.rs1.val().any() & (self.read.rd.val() == self.decode.rs1.val());
        self.forward.rs2_in_read.next =
            read_mine & self.decode.rs2.val().any() & (self.read.rd.val() == self.decode.rs2.val());
        self.forward.rs1_in_execute.next =
            execute_mine & self.decode.rs1.val().any() & (self.execute.rd.val() == self.decode.rs1.val());
        self.forward.rs2_in_execute.next =
            execute_mine & self.decode.rs2.val().any() & (self.execute.rd.val() == self.decode.rs2.val());
        self.forward.rs1_in_write.next =
            write_mine & self.decode.rs1.val().any() & (self.write.rd.val() == self.decode.rs1.val());
        self.forward.rs2_in_write.next =
            write_mine & self.decode.rs2.val().any() & (self.write.rd.val() == self.decode.rs2.val());
        let uses_read = self.forward.rs1_in_read.val()
            | self.forward.rs2_in_read.val()
            | (read_mine & self.decode.rd.val().any() & (self.read.rd.val() == self.decode.rd.val()));
        let uses_execute = self.forward.rs1_in_execute.val()
            | self.forward.rs2_in_execute.val()
            | (execute_mine & self.decode.rd.val().any() & (self.execute.rd.val() == self.decode.rd.val()));
        let uses_write = self.forward.rs1_in_write.val()
            | self.forward.rs2_in_write.val()
            | (write_mine & self.decode.rd.val().any() & (self.write.rd.val() == self.decode.rd.val()));
        let late = (uses_read & (self.read.load.val() | self.read.divide.val()))
            | (uses_execute & (self.execute.load.val() | self.execute.divide.val()))
            | (uses_write & (self.write.load.val() | self.write.divide.val()));

        // Order of memory accesses, and what must complete before a warp can end
        let exchanging = (self.atomic_busy.val() & (self.atomic_slot.val() == self.slot.val()))
            | (read_mine & self.atomic.read.val())
            | (execute_mine & self.atomic.execute.val())
            | (write_mine & self.atomic.write.val());
        let loading = self.loads.slot_busy.val()
            | exchanging
            | (read_mine & self.read.load.val())
            | (execute_mine & self.execute.load.val())
            | (write_mine & self.write.load.val());
        let storing = self.stores.slot_busy.val()
            | (read_mine & self.read.store.val())
            | (execute_mine & self.execute.store.val())
            | (write_mine & self.write.store.val());
        let dividing = (self.divide_busy.val() & (self.divide_slot.val() == self.slot.val()))
            | (read_mine & self.read.divide.val())
            | (execute_mine & self.execute.divide.val())
            | (write_mine & self.write.divide.val());
        let scratching = self.scratchpad.slot_busy.val();
        let order = ((self.decode.load.val() | self.decode.fence.val()) & storing)
            | ((self.decode.store.val() | self.decode.fence.val() | self.decode.atomic.val()) & loading)
            | (self.decode.load.val() & exchanging)
            | (self.decode.exit.val() & (dividing | scratching));

        // A division or atomic instruction in stages R to W may still be flushed, and then no
        // completion comes.
        let transient = ((self.forward.rs1_in_read.val() | self.forward.rs2_in_read.val())
            & self.read_multiply.val())
            | (self.decode.divide.val()
                & ((self.read.valid.val() & self.read.divide.val())
                    | (self.execute.valid.val() & self.execute.divide.val())
                    | (self.write.valid.val() & self.write.divide.val())))
            | (self.decode.atomic.val()
                & ((self.read.valid.val() & self.atomic.read.val())
                    | (self.execute.valid.val() & self.atomic.execute.val())
                    | (self.write.valid.val() & self.atomic.write.val())));
        let waiting = self.scoreboard.pending.val()
            | late
            | order
            | (self.decode.divide.val() & self.divide_busy.val())
            | (self.decode.atomic.val() & (self.atomic_busy.val() | self.atomic_refused.val()));
        let woken = self.completions.any.val()
            | (self.completions.late.valid.val() & (self.completions.late.slot.val() == self.slot.val()))
            | (self.completions.scratchpad.valid.val()
                & (self.completions.scratchpad.slot.val() == self.slot.val()))
            | (self.completions.stored.valid.val() & (self.completions.stored.slot.val() == self.slot.val()));
        self.blocked.next = waiting | transient;
        self.waits.next = waiting & !transient & !woken;
        self.write_warp_late.next = self.loads.other_busy.val()
            | (self.atomic_busy.val() & (self.atomic_slot.val() == self.write_slot.val()))
            | self.scratchpad.other_busy.val()
            | (self.divide_busy.val() & (self.divide_slot.val() == self.write_slot.val()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tick;
    use hermes_hdl::prelude::simulate;

    fn settled(set: impl Fn(&mut Hazards)) -> Hazards {
        let mut unit = Hazards::default();
        unit.reset.next = true;
        for _ in 0..2 {
            tick!(unit);
            unit.reset.next = false;
        }
        for _ in 0..32 {
            tick!(unit);
        }
        unit.slot.next = 3.into();
        unit.decode.rs1.next = 1.into();
        unit.decode.rs2.next = 2.into();
        unit.decode.rd.next = 4.into();
        set(&mut unit);
        assert!(simulate(&mut unit, 20));
        unit
    }

    #[test]
    fn results_of_the_same_warp_are_forwarded() {
        for (slot, rd, rs1, rs2) in [(3, 1, true, false), (3, 2, false, true), (4, 1, false, false)] {
            let unit = settled(|unit| {
                unit.read.valid.next = true;
                unit.read_slot.next = slot.into();
                unit.read.rd.next = rd.into();
            });
            assert_eq!((unit.forward.rs1_in_read.val(), unit.forward.rs2_in_read.val()), (rs1, rs2));
            assert!(!unit.blocked.val() && !unit.forward.rs1_in_execute.val());
            let unit = settled(|unit| {
                unit.execute.valid.next = true;
                unit.execute_slot.next = slot.into();
                unit.execute.rd.next = rd.into();
            });
            assert_eq!((unit.forward.rs1_in_execute.val(), unit.forward.rs2_in_execute.val()), (rs1, rs2));
            assert!(!unit.blocked.val() && !unit.forward.rs1_in_write.val());
            let unit = settled(|unit| {
                unit.write.valid.next = true;
                unit.write_slot.next = slot.into();
                unit.write.rd.next = rd.into();
            });
            assert_eq!((unit.forward.rs1_in_write.val(), unit.forward.rs2_in_write.val()), (rs1, rs2));
            assert!(!unit.blocked.val());
        }
    }

    #[test]
    fn a_product_of_the_instruction_before_is_fetched_for_again_at_once() {
        for (rd, blocked) in [(1, true), (2, true), (4, false), (7, false)] {
            let unit = settled(|unit| {
                unit.read.valid.next = true;
                unit.read_multiply.next = true;
                unit.read_slot.next = 3.into();
                unit.read.rd.next = rd.into();
            });
            assert_eq!((unit.blocked.val(), unit.waits.val()), (blocked, false));
        }
    }

    #[test]
    fn loads_block_their_registers_until_they_complete() {
        for (rd, slot, blocked) in [(1, 3, true), (2, 3, true), (4, 3, true), (7, 3, false), (1, 2, false)] {
            let mut unit = settled(|unit| {
                unit.write.valid.next = true;
                unit.write.load.next = true;
                unit.write_slot.next = slot.into();
                unit.write.rd.next = u64::into(rd);
                unit.memory_start.next = true;
            });
            assert_eq!((unit.blocked.val(), unit.waits.val()), (blocked, blocked));
            tick!(unit);
            unit.write.valid.next = false;
            unit.memory_start.next = false;
            tick!(unit);
            assert_eq!((unit.blocked.val(), unit.waits.val()), (blocked, blocked));
            assert!(unit.write_warp_late.val());
            // The completion wakes in its own cycle, and the register is free in the next one.
            unit.loaded_valid.next = true;
            unit.completions.late.valid.next = true;
            unit.completions.late.slot.next = slot.into();
            unit.late_rd.next = u64::into(rd);
            assert!(simulate(&mut unit, 20));
            assert_eq!((unit.blocked.val(), unit.waits.val()), (blocked, false));
            tick!(unit);
            unit.loaded_valid.next = false;
            unit.completions.late.valid.next = false;
            assert!(simulate(&mut unit, 20));
            assert!(!unit.blocked.val() && !unit.write_warp_late.val());
        }
    }

    #[test]
    fn memory_accesses_of_a_warp_keep_their_order() {
        // A store is outstanding: loads and fences wait, stores and arithmetic do not.
        let mut unit = settled(|unit| {
            unit.write.valid.next = true;
            unit.write.store.next = true;
            unit.write_slot.next = 3.into();
            unit.memory_start.next = true;
        });
        tick!(unit);
        unit.write.valid.next = false;
        unit.memory_start.next = false;
        for (load, store, fence, blocked) in [
            (true, false, false, true),
            (false, true, false, false),
            (false, false, true, true),
            (false, false, false, false),
        ] {
            unit.decode.load.next = load;
            unit.decode.store.next = store;
            unit.decode.fence.next = fence;
            assert!(simulate(&mut unit, 20));
            assert_eq!((unit.blocked.val(), unit.waits.val()), (blocked, blocked));
        }
        assert_eq!(u64::from(unit.stores_busy.val()), 1 << 3);
    }

    #[test]
    fn atomic_operations_keep_the_order_and_go_one_at_a_time() {
        // Slot 3 is in stage D; an operation of `owner` is in flight. Kinds: atomic, load, store,
        // fence, arithmetic.
        let kinds = [
            (true, true, false, false),
            (false, true, false, false),
            (false, false, true, false),
            (false, false, false, true),
            (false, false, false, false),
        ];
        for (owner, blocked) in
            [(3, [true, true, true, true, false]), (9, [true, false, false, false, false])]
        {
            for ((atomic, load, store, fence), blocked) in kinds.into_iter().zip(blocked) {
                let ask = |unit: &mut Hazards| {
                    unit.decode.atomic.next = atomic;
                    unit.decode.load.next = load;
                    unit.decode.store.next = store;
                    unit.decode.fence.next = fence;
                };
                // On its way through stage X: another atomic instruction tries again at once.
                let unit = settled(|unit| {
                    ask(unit);
                    unit.execute.valid.next = true;
                    unit.execute_slot.next = u64::into(owner);
                    unit.execute.load.next = true;
                    unit.atomic.execute.next = true;
                });
                assert_eq!((unit.blocked.val(), unit.waits.val()), (blocked, blocked && !atomic));
                // In the path; its end wakes.
                for ends in [false, true] {
                    let unit = settled(|unit| {
                        ask(unit);
                        unit.atomic_busy.next = true;
                        unit.atomic_slot.next = u64::into(owner);
                        unit.write_slot.next = u64::into(owner);
                        unit.completions.any.next = ends;
                    });
                    assert_eq!((unit.blocked.val(), unit.waits.val()), (blocked, blocked && !ends));
                    assert!(unit.write_warp_late.val());
                }
            }
        }
        // And an atomic instruction waits for the loads and stores of its warp.
        for load in [false, true] {
            let mut unit = settled(|unit| {
                unit.write.valid.next = true;
                unit.write.load.next = load;
                unit.write.store.next = !load;
                unit.write_slot.next = 3.into();
                unit.memory_start.next = true;
            });
            tick!(unit);
            unit.write.valid.next = false;
            unit.memory_start.next = false;
            unit.decode.atomic.next = true;
            unit.decode.load.next = true;
            assert!(simulate(&mut unit, 20));
            assert_eq!((unit.blocked.val(), unit.waits.val()), (true, true));
        }
    }

    #[test]
    fn one_division_at_a_time() {
        let unit = settled(|unit| {
            unit.decode.divide.next = true;
            unit.execute.valid.next = true;
            unit.execute.divide.next = true;
            unit.execute_slot.next = 9.into();
        });
        assert_eq!((unit.blocked.val(), unit.waits.val()), (true, false));
        let unit = settled(|unit| {
            unit.decode.divide.next = true;
            unit.divide_busy.next = true;
            unit.divide_slot.next = 9.into();
        });
        assert_eq!((unit.blocked.val(), unit.waits.val()), (true, true));
        let unit = settled(|unit| {
            unit.decode.divide.next = true;
            unit.divide_busy.next = true;
            unit.completions.any.next = true;
        });
        assert_eq!((unit.blocked.val(), unit.waits.val()), (true, false));
    }
}
