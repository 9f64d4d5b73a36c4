//! The register port for values that come late.

use crate::prelude::*;

/// Units that give values late, in the order in which they go: memory, the scratchpad, the division.
pub const LATE_SOURCES: usize = 3;
/// Loads, and atomic operations.
pub const FROM_MEMORY: usize = 0;
/// Loads of the scratchpad.
pub const FROM_SCRATCHPAD: usize = 1;
/// Divisions.
pub const FROM_DIVISION: usize = 2;

/// Lets values that come late to the register port: those of the first unit that has some, in turns with stage W.
///
/// 1. `result_taken` says combinationally whose values are written at this edge, and `write_slot` to `write_last` to which registers; the
///    values themselves the lanes choose by it. A unit whose `result_valid` and `result_ready` are high is such a one.
/// 2. In the cycle after one in which stage W waited for the port (`port_wanted`) nothing is taken. Else a stream of loaded lines would hold
///    up the instructions that ask for more.
#[derive(LogicBlock)]
pub struct LateResults<const LANES: usize> {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// Stage W waits for the register port.
    pub port_wanted: Signal<In, Bit>,
    /// From each unit: values of lanes are here.
    pub result_valid: Vec<Signal<In, Bit>>,
    /// To each unit: they are taken at this edge if they are here.
    pub result_ready: Vec<Signal<Out, Bit>>,
    /// From each unit: warp slot.
    pub result_slot: Vec<Signal<In, Bits<5>>>,
    /// From each unit: destination register.
    pub result_rd: Vec<Signal<In, Bits<5>>>,
    /// From each unit: lanes whose values are here.
    pub result_lanes: Vec<Signal<In, Bits<LANES>>>,
    /// From each unit: the instruction is complete with them.
    pub result_last: Vec<Signal<In, Bit>>,
    /// Values of this unit are written at this edge; one at most.
    pub result_taken: Vec<Signal<Out, Bit>>,
    /// Values of this unit, the last of their instruction, are written at this edge.
    pub result_done: Vec<Signal<Out, Bit>>,
    /// Values are written at this edge.
    pub write_valid: Signal<Out, Bit>,
    /// Warp slot; anything if none are.
    pub write_slot: Signal<Out, Bits<5>>,
    /// Destination register; anything if none are.
    pub write_rd: Signal<Out, Bits<5>>,
    /// Lanes; none if no values are written.
    pub write_lanes: Signal<Out, Bits<LANES>>,
    /// Their instruction is complete.
    pub write_last: Signal<Out, Bit>,
    /// Stage W has the port now.
    waits: Register<Bit>,
    /// Neither stage W nor a unit before this one has the port.
    free: Vec<Signal<Local, Bit>>,
}

impl<const LANES: usize> Default for LateResults<LANES> {
    fn default() -> Self {
        Self {
            clock: Signal::default(),
            reset: Signal::default(),
            port_wanted: Signal::default(),
            result_valid: vec![Signal::default(); LATE_SOURCES],
            result_ready: vec![Signal::default(); LATE_SOURCES],
            result_slot: vec![Signal::default(); LATE_SOURCES],
            result_rd: vec![Signal::default(); LATE_SOURCES],
            result_lanes: vec![Signal::default(); LATE_SOURCES],
            result_last: vec![Signal::default(); LATE_SOURCES],
            result_taken: vec![Signal::default(); LATE_SOURCES],
            result_done: vec![Signal::default(); LATE_SOURCES],
            write_valid: Signal::default(),
            write_slot: Signal::default(),
            write_rd: Signal::default(),
            write_lanes: Signal::default(),
            write_last: Signal::default(),
            waits: Register::default(),
            free: vec![Signal::default(); LATE_SOURCES],
        }
    }
}

impl<const LANES: usize> Logic for LateResults<LANES> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, waits);
        self.waits.d.next = self.port_wanted.val();
        self.write_valid.next = false;
        self.write_slot.next = self.result_slot[0].val();
        self.write_rd.next = self.result_rd[0].val();
        self.write_lanes.next = bits::<LANES>(0);
        self.write_last.next = false;
        for i in 0..LATE_SOURCES {
            self.free[i].next = !self.waits.q.val();
            for j in 0..LATE_SOURCES {
                if (j < i) && self.result_valid[j].val() {
                    self.free[i].next = false;
                }
            }
            self.result_ready[i].next = self.free[i].val();
            self.result_taken[i].next = false;
            self.result_done[i].next = false;
            if self.result_valid[i].val() & self.free[i].val() {
                self.result_taken[i].next = true;
                self.result_done[i].next = self.result_last[i].val();
                self.write_valid.next = true;
                self.write_slot.next = self.result_slot[i].val();
                self.write_rd.next = self.result_rd[i].val();
                self.write_lanes.next = self.result_lanes[i].val();
                self.write_last.next = self.result_last[i].val();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::equivalence::check_with;
    use crate::memory::testing::{reset, settle, tick};
    use rand::Rng;

    /// Every value is written once, the first unit's before those of others, and never in the cycle after stage W waited.
    #[test]
    fn the_first_unit_goes_first_and_stage_w_has_its_turns() {
        let mut rng = crate::testing::random();
        let mut uut = LateResults::<4>::default();
        reset!(uut);
        let (mut waited, mut held, mut second) = (false, 0, 0);
        for _ in 0..2000 {
            let valid: [bool; LATE_SOURCES] = std::array::from_fn(|_| rng.gen_bool(0.4));
            let last: [bool; LATE_SOURCES] = std::array::from_fn(|_| rng.gen_bool(0.5));
            for i in 0..LATE_SOURCES {
                uut.result_valid[i].next = valid[i];
                uut.result_slot[i].next = bits(10 + i as u64);
                uut.result_rd[i].next = bits(20 + i as u64);
                uut.result_lanes[i].next = bits(1 << i);
                uut.result_last[i].next = last[i];
            }
            uut.port_wanted.next = rng.gen_bool(0.3);
            settle(&mut uut);
            let first = valid.iter().position(|valid| *valid).filter(|_| !waited);
            held += u32::from(waited && valid.contains(&true));
            second += u32::from(first > Some(0));
            assert_eq!(uut.write_valid.val(), first.is_some());
            for i in 0..LATE_SOURCES {
                let taken = uut.result_ready[i].val() && valid[i];
                assert_eq!((taken, uut.result_taken[i].val()), (first == Some(i), first == Some(i)));
                assert_eq!(uut.result_done[i].val(), first == Some(i) && last[i]);
            }
            let lanes = first.map_or(0, |i| 1 << i);
            assert_eq!(u64::from(uut.write_lanes.val()), lanes);
            assert_eq!(uut.write_last.val(), first.is_some_and(|i| last[i]));
            if let Some(i) = first {
                assert_eq!(u64::from(uut.write_slot.val()), 10 + i as u64);
                assert_eq!(u64::from(uut.write_rd.val()), 20 + i as u64);
            }
            waited = uut.port_wanted.val();
            tick!(uut);
        }
        assert!(held > 100 && second > 100, "{held} {second}");
    }

    #[test]
    fn equals_its_verilog() {
        check_with(LateResults::<4>::default(), 2_000, |_, _, _| {});
    }
}
