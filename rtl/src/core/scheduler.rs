//! Which warp issues next, and what every warp of a core waits for.

use crate::control::PriorityEncoder;
use crate::prelude::*;

/// State of the warp slots of a core and the choice of the warp that issues.
///
/// A slot is *occupied* from start to finish. An occupied slot can issue unless one of these holds:
///
/// - *in flight*: an instruction of the warp is in the pipeline, or the next path is being selected;
/// - *memory*: a load or store of the warp is not complete;
/// - *fetch*: the warp missed in the instruction cache, which has not said yet that it should look up again;
/// - *ended*: all threads of the warp ended.
///
/// Among the slots that can, the choice goes round: the next one above the last chosen. `issue_*` answers the state
/// combinationally and is taken at the edge at which `advance` is high. An ended slot whose last store is complete
/// is offered as `finish_*` and leaves the core when that is accepted.
#[derive(LogicBlock, Default)]
pub struct WarpScheduler {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// From warp issue: a warp starts in a free slot.
    pub start_valid: Signal<In, Bit>,
    /// From warp issue: its slot.
    pub start_slot: Signal<In, Bits<5>>,
    /// The pipeline takes `issue_*` at this edge.
    pub advance: Signal<In, Bit>,
    /// To stage C: a warp issues.
    pub issue_valid: Signal<Out, Bit>,
    /// To stage C: its slot.
    pub issue_slot: Signal<Out, Bits<5>>,
    /// To stage C: it is the first instruction of the warp.
    pub issue_fresh: Signal<Out, Bit>,
    /// From stage D: the instruction missed in the cache.
    pub miss_valid: Signal<In, Bit>,
    /// From stage D: its slot.
    pub miss_slot: Signal<In, Bits<5>>,
    /// From the instruction cache: warps that missed before this cycle look up again.
    pub filled: Signal<In, Bit>,
    /// From stage W: the instruction is done and the next PC is known.
    pub resume_valid: Signal<In, Bit>,
    /// From stage W: its slot.
    pub resume_slot: Signal<In, Bits<5>>,
    /// From stage W: the instruction waits for memory.
    pub memory_valid: Signal<In, Bit>,
    /// From stage W: all threads of the warp ended.
    pub ended_valid: Signal<In, Bit>,
    /// From path selection: the next PC is known.
    pub path_valid: Signal<In, Bit>,
    /// From path selection: the slot.
    pub path_slot: Signal<In, Bits<5>>,
    /// From the load/store unit: a load is complete.
    pub loaded_valid: Signal<In, Bit>,
    /// From the load/store unit: its slot.
    pub loaded_slot: Signal<In, Bits<5>>,
    /// From the load/store unit: a store is complete.
    pub stored_valid: Signal<In, Bit>,
    /// From the load/store unit: its slot.
    pub stored_slot: Signal<In, Bits<5>>,
    /// To the DCQ: a warp finished.
    pub finish_valid: Signal<Out, Bit>,
    /// From the DCQ: the finish is taken.
    pub finish_ready: Signal<In, Bit>,
    /// To the DCQ: slot of the finished warp.
    pub finish_slot: Signal<Out, Bits<5>>,
    /// At least one slot is occupied.
    pub occupied: Signal<Out, Bit>,
    occupied_slots: Register<Bits<32>>,
    fresh: Register<Bits<32>>,
    in_flight: Register<Bits<32>>,
    memory: Register<Bits<32>>,
    fetch: Register<Bits<32>>,
    ended: Register<Bits<32>>,
    above: Register<Bits<32>>,
    finishing: Register<Bit>,
    finishing_slot: Register<Bits<5>>,
    choice: PriorityEncoder,
    finish_choice: PriorityEncoder,
    ready: Signal<Local, Bits<32>>,
    done: Signal<Local, Bits<32>>,
    issued: Signal<Local, Bits<32>>,
    started: Signal<Local, Bits<32>>,
    missed: Signal<Local, Bits<32>>,
    resumed: Signal<Local, Bits<32>>,
    selected: Signal<Local, Bits<32>>,
    to_memory: Signal<Local, Bits<32>>,
    from_memory: Signal<Local, Bits<32>>,
    just_ended: Signal<Local, Bits<32>>,
    left: Signal<Local, Bits<32>>,
}

impl Logic for WarpScheduler {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            occupied_slots,
            fresh,
            in_flight,
            memory,
            fetch,
            ended,
            above,
            finishing,
            finishing_slot
        );
        self.ready.next = self.occupied_slots.q.val()
            & !(self.in_flight.q.val() | self.memory.q.val() | self.fetch.q.val() | self.ended.q.val());
        self.choice.request.next = self.ready.val();
        if (self.ready.val() & self.above.q.val()).any() {
            self.choice.request.next = self.ready.val() & self.above.q.val();
        }
        self.issue_valid.next = self.ready.val().any();
        self.issue_slot.next = self.choice.index.val();
        self.issue_fresh.next = self.fresh.q.val().get_bit(self.choice.index.val().index());
        self.issued.next = bits::<32>(0);
        if self.advance.val() {
            self.issued.next = self.choice.one_hot.val();
            if self.ready.val().any() {
                self.above.d.next = bits::<32>(0xffff_fffe_u64) << self.choice.index.val();
            }
        }

        self.started.next = bits::<32>(0);
        if self.start_valid.val() {
            self.started.next = bits::<32>(1) << self.start_slot.val();
        }
        self.missed.next = bits::<32>(0);
        if self.miss_valid.val() {
            self.missed.next = bits::<32>(1) << self.miss_slot.val();
        }
        self.resumed.next = bits::<32>(0);
        if self.resume_valid.val() {
            self.resumed.next = bits::<32>(1) << self.resume_slot.val();
        }
        self.to_memory.next = bits::<32>(0);
        if self.memory_valid.val() {
            self.to_memory.next = bits::<32>(1) << self.resume_slot.val();
        }
        self.just_ended.next = bits::<32>(0);
        if self.ended_valid.val() {
            self.just_ended.next = bits::<32>(1) << self.resume_slot.val();
        }
        self.selected.next = bits::<32>(0);
        if self.path_valid.val() {
            self.selected.next = bits::<32>(1) << self.path_slot.val();
        }
        self.from_memory.next = bits::<32>(0);
        if self.loaded_valid.val() {
            self.from_memory.next = bits::<32>(1) << self.loaded_slot.val();
        }
        if self.stored_valid.val() {
            self.from_memory.next = self.from_memory.val() | (bits::<32>(1) << self.stored_slot.val());
        }

        // The finish on offer is held in a register, so that it does not change while it waits.
        self.finish_valid.next = self.finishing.q.val();
        self.finish_slot.next = self.finishing_slot.q.val();
        self.left.next = bits::<32>(0);
        if self.finishing.q.val() & self.finish_ready.val() {
            self.finishing.d.next = false;
        }
        self.done.next = self.ended.q.val() & !self.memory.q.val();
        self.finish_choice.request.next = self.done.val();
        if !self.finishing.q.val() {
            self.finishing.d.next = self.done.val().any();
            self.finishing_slot.d.next = self.finish_choice.index.val();
            self.left.next = self.finish_choice.one_hot.val();
        }

        self.occupied_slots.d.next = (self.occupied_slots.q.val() & !self.left.val()) | self.started.val();
        self.fresh.d.next = (self.fresh.q.val() & !self.issued.val()) | self.started.val();
        self.in_flight.d.next = (self.in_flight.q.val()
            & !(self.missed.val() | self.resumed.val() | self.selected.val()))
            | self.issued.val();
        self.memory.d.next = (self.memory.q.val() & !self.from_memory.val()) | self.to_memory.val();
        self.fetch.d.next = self.fetch.q.val() | self.missed.val();
        if self.filled.val() {
            self.fetch.d.next = self.missed.val();
        }
        self.ended.d.next = (self.ended.q.val() & !self.left.val()) | self.just_ended.val();
        self.occupied.next = self.occupied_slots.q.val().any();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use rand_chacha::ChaCha8Rng;
    use rust_hdl::prelude::simulate;

    /// What a warp of the model is doing.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Warp {
        Absent,
        Ready,
        InFlight,
        Memory { path_known: bool },
        Ended { memory: bool },
    }

    #[test]
    fn issues_ready_warps_in_turn_and_finishes_each_once() {
        let mut rng = crate::testing::random();
        let mut unit = WarpScheduler::default();
        unit.connect_all();
        let mut warps = [Warp::Absent; 32];
        let mut passed_over = [0; 32];
        let mut finishing: Option<usize> = None;
        let (mut started, mut finished) = (0, 0);
        for _ in 0..20_000 {
            let choose = |rng: &mut ChaCha8Rng, warps: &[Warp; 32], wanted: fn(Warp) -> bool| {
                let slots: Vec<usize> = (0..32).filter(|&s| wanted(warps[s])).collect();
                (!slots.is_empty() && rng.gen_bool(0.5)).then(|| slots[rng.gen_range(0..slots.len())])
            };
            let mut next = warps;

            let start = choose(&mut rng, &warps, |w| w == Warp::Absent).filter(|&s| finishing != Some(s));
            unit.start_valid.next = start.is_some();
            unit.start_slot.next = (start.unwrap_or(0) as u64).into();
            if let Some(slot) = start {
                next[slot] = Warp::Ready;
                started += 1;
            }

            // Stage W: an instruction in flight resumes, goes to memory (with its path known or not) or ends.
            let resume = choose(&mut rng, &warps, |w| w == Warp::InFlight);
            let what = rng.gen_range(0..4);
            unit.resume_slot.next = (resume.unwrap_or(0) as u64).into();
            unit.resume_valid.next = resume.is_some() && what != 2;
            unit.memory_valid.next = resume.is_some() && what != 0;
            unit.ended_valid.next = resume.is_some() && what == 3;
            if let Some(slot) = resume {
                next[slot] = match what {
                    0 => Warp::Ready,
                    1 => Warp::Memory { path_known: true },
                    2 => Warp::Memory { path_known: false },
                    _ => Warp::Ended { memory: true },
                };
            }

            let path = choose(&mut rng, &warps, |w| w == Warp::Memory { path_known: false });
            unit.path_valid.next = path.is_some();
            unit.path_slot.next = (path.unwrap_or(0) as u64).into();
            if let Some(slot) = path {
                next[slot] = Warp::Memory { path_known: true };
            }
            let done = choose(&mut rng, &warps, |w| {
                w == Warp::Memory { path_known: true } || w == Warp::Ended { memory: true }
            })
            .filter(|&s| Some(s) != path);
            let by_load = rng.gen();
            unit.loaded_valid.next = done.is_some() && by_load;
            unit.stored_valid.next = done.is_some() && !by_load;
            unit.loaded_slot.next = (done.unwrap_or(0) as u64).into();
            unit.stored_slot.next = (done.unwrap_or(0) as u64).into();
            if let Some(slot) = done {
                next[slot] = match warps[slot] {
                    Warp::Ended { .. } => Warp::Ended { memory: false },
                    _ => Warp::Ready,
                };
            }

            unit.advance.next = rng.gen_bool(0.8);
            unit.finish_ready.next = rng.gen_bool(0.3);
            assert!(simulate(&mut unit, 20));

            let any_ready = warps.contains(&Warp::Ready);
            assert_eq!(unit.issue_valid.val(), any_ready);
            if any_ready {
                let slot = unit.issue_slot.val().index();
                assert_eq!(warps[slot], Warp::Ready);
                if unit.advance.val() {
                    next[slot] = Warp::InFlight;
                    for (other, count) in passed_over.iter_mut().enumerate() {
                        *count = if other != slot && warps[other] == Warp::Ready { *count + 1 } else { 0 };
                        assert!(*count < 32, "slot {other} starves");
                    }
                }
            }
            if unit.finish_valid.val() {
                let slot = unit.finish_slot.val().index();
                assert!(finishing.is_none() || finishing == Some(slot), "the finish on offer changed");
                if finishing.is_none() {
                    assert_eq!(warps[slot], Warp::Ended { memory: false });
                    next[slot] = Warp::Absent;
                }
                finishing = Some(slot);
                if unit.finish_ready.val() {
                    finished += 1;
                    finishing = None;
                }
            } else {
                assert!(finishing.is_none());
            }

            unit.clock.next = Clock { clk: true };
            assert!(simulate(&mut unit, 20));
            unit.clock.next = Clock { clk: false };
            warps = next;
        }
        println!("{started} started, {finished} finished");
        assert!(finished > 500 && started - finished <= 33);
    }
}
