//! Takes the finished warps of all cores, one a cycle.

use crate::blocks::RoundRobin;
use crate::ports::{WarpEvent, WarpFinish};
use hermes_hdl::prelude::*;

/// Round-robin arbiter of the cores' finish ports.
///
/// 1. In each cycle one of the cores that offer a warp is served, round-robin.
/// 2. The event outputs report it in the next cycle, for one cycle. In that cycle the lookup table
///    is read and the slot is freed, so that a new warp cannot overwrite the slot's entry before.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(cores: usize, spawns: bool)]
pub struct FinishArbiter {
    /// From each core; `ready` depends on every `valid`.
    #[count(cores)]
    pub finish: Vec<Flipped<WarpFinish>>,
    /// A warp finished.
    pub event: WarpEvent,
    /// From each core: one of the warp's threads ended with a fault (only with a thread spawner, as
    /// the next).
    #[there(spawns)]
    #[count(cores)]
    pub finish_faulted: Part<Vec<Signal<In, Bit>>>,
    /// The same of the warp that finished.
    #[there(spawns)]
    pub event_faulted: Part<Signal<Out, Bit>>,
    arbiter: RoundRobin,
    valid: Register<Bit>,
    core: Register<Bits<5>>,
    slot: Register<Bits<5>>,
    #[there(spawns)]
    faulted: Part<Register<Bit>>,
    #[init(cores)]
    _cores: usize,
}

impl FinishArbiter {
    /// An arbiter for `cores` cores that run packets alone, or packets and spawned threads
    /// (`spawns`).
    ///
    /// # Panics
    /// If `cores` is not 1 to 32.
    pub fn new(cores: usize, spawns: bool) -> Self {
        assert!((1..=32).contains(&cores), "FinishArbiter: {cores} cores, expected 1 to 32");
        Self::wired(cores, spawns)
    }
}

impl Logic for FinishArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        let mut request = bits::<32>(0);
        for i in 0..self._cores {
            request = request.replace_bit(i, self.finish[i].valid.val());
        }
        self.arbiter.request.next = request;
        self.arbiter.advance.next = self.arbiter.any.val();
        self.valid.d.next = self.arbiter.any.val();
        self.core.d.next = self.arbiter.index.val();
        for i in 0..self._cores {
            self.finish[i].ready.next = self.arbiter.grant.val().get_bit(i);
            if self.arbiter.grant.val().get_bit(i) {
                self.slot.d.next = self.finish[i].slot.val();
            }
        }
        self.event.valid.next = self.valid.q.val();
        self.event.core.next = self.core.q.val();
        self.event.slot.next = self.slot.q.val();
        if self.finish_faulted.is_there() {
            for i in 0..self._cores {
                if self.arbiter.grant.val().get_bit(i) {
                    self.faulted.d.next = self.finish_faulted[i].val();
                }
            }
            self.event_faulted.next = self.faulted.q.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn takes_one_finish_a_cycle_from_each_core_in_turn() {
        let mut random = random();
        for cores in [1, 2, 5, 32] {
            let mut unit = FinishArbiter::new(cores, false);
            reset!(unit);
            let mut waiting: Vec<Option<u64>> = vec![None; cores];
            let mut waited = vec![0; cores];
            let mut event = None;
            let mut events = 0;
            for cycle in 0..3_000 {
                for core in 0..cores {
                    if waiting[core].is_none() && random.gen_bool(0.3) {
                        waiting[core] = Some(random.gen_range(0..32));
                        waited[core] = 0;
                    }
                    unit.finish[core].valid.next = waiting[core].is_some();
                    unit.finish[core].slot.next = waiting[core].unwrap_or(random.gen_range(0..32)).into();
                }
                settle(&mut unit);
                let got = unit
                    .event
                    .valid
                    .val()
                    .then(|| (unit.event.core.val().index(), unit.event.slot.val().to_u64()));
                assert_eq!(got, event, "cycle {cycle}");
                let taken: Vec<usize> = (0..cores).filter(|&c| unit.finish[c].ready.val()).collect();
                assert_eq!(taken.len(), usize::from(waiting.iter().any(Option::is_some)), "cycle {cycle}");
                event = taken.first().map(|&core| (core, waiting[core].expect("only a valid one is taken")));
                events += taken.len();
                for core in 0..cores {
                    waited[core] += 1;
                    assert!(
                        waited[core] <= cores || waiting[core].is_none(),
                        "cycle {cycle}: core {core} starves"
                    );
                }
                if let Some((core, _)) = event {
                    waiting[core] = None;
                }
                tick!(unit);
            }
            assert!(events > 600);
        }
    }
}
