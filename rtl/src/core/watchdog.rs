//! Which warps have run for too long.

use crate::config::CoreOptions;
use crate::ports::SlotStart;
use hermes_hdl::prelude::*;

/// Notes when every warp started, and reports to stage D a warp that has run longer than `limit`
/// cycles.
///
/// 1. The slots are visited one after the other, one a cycle. A warp that has been on the core for
///    `limit` cycles or more when its slot is visited is *overdue* until its slot starts another
///    warp: that is `limit` to `limit + 34` cycles after its start. The age is taken modulo 2^32,
///    so a warp that has run for longer than that may be noticed up to 2^31 cycles after the limit
///    was set.
/// 2. `limit` 0 makes no warp overdue. A limit that changes holds for the warps that run already.
/// 3. `overdue` is a register: at an edge with `advance` high it takes the state of the warp in
///    `slot`, whose instruction enters stage D at that edge.
/// 4. A slot that never had a warp since power-up may show as overdue while the limit is not 0.
/// 5. With a thread spawner `spawn_limit` holds for warps of spawned threads in place of `limit`.
#[clocked]
#[derive(LogicBlock)]
#[new(options: CoreOptions)]
pub struct Watchdog {
    /// WATCHDOG register: cycles that a warp may run; 0: for ever.
    pub limit: Signal<In, Bits<31>>,
    /// Cycles since reset, modulo 2^32.
    pub cycle: Signal<In, Bits<32>>,
    /// From warp issue.
    pub start: SlotStart,
    /// The stages advance at this edge.
    pub advance: Signal<In, Bit>,
    /// Stage I: warp slot.
    pub slot: Signal<In, Bits<5>>,
    /// Stage D: the warp has run for too long.
    pub overdue: Signal<Out, Bit>,
    /// SPAWN_WATCHDOG register: cycles that a warp of spawned threads may run; 0: for ever (only
    /// with a thread spawner, as the next).
    #[there(options.spawns())]
    pub spawn_limit: Part<Signal<In, Bits<31>>>,
    /// Slots whose warp is one of spawned threads.
    #[there(options.spawns())]
    pub spawned_slots: Part<Signal<In, Bits<32>>>,
    /// Slots of the warps that are overdue (only with a network interface).
    #[there(options.network)]
    pub overdue_slots: Part<Signal<Out, Bits<32>>>,
    starts: RamAsync<Bits<32>, 5>,
    visited: Register<Bits<5>>,
    aged: Register<Bits<5>>,
    age: Register<Bits<32>>,
    late: Register<Bits<32>>,
    overdue_q: Register<Bit>,
}

impl Watchdog {
    /// The watchdog of a core with these options.
    pub fn new(options: CoreOptions) -> Self {
        Self::wired(options)
    }
}

impl Logic for Watchdog {
    #[hdl_gen]
    fn update(&mut self) {
        self.starts.write_enable.next = self.start.valid.val();
        self.starts.write_address.next = self.start.slot.val();
        self.starts.write_data.next = self.cycle.val();

        // The age of the warp in one slot after the other
        self.visited.d.next = self.visited.q.val() + bits::<5>(1);
        self.starts.read_address.next = self.visited.q.val();
        self.aged.d.next = self.visited.q.val();
        self.age.d.next = self.cycle.val() - self.starts.read_data.val();
        if self.start.valid.val() & (self.start.slot.val() == self.visited.q.val()) {
            self.age.d.next = bits::<32>(0);
        }

        let mut started = bits::<32>(0);
        if self.start.valid.val() {
            started = bits::<32>(1) << self.start.slot.val();
        }
        let mut found = bits::<32>(0);
        // Age less limit: negative before the limit. As `>=`, synthesis may add a comparison for
        // equality.
        let beyond = bit_cast::<33, 32>(self.age.q.val()) - bit_cast::<33, 31>(self.limit.val());
        if self.limit.val().any() & !beyond.get_bit(32) {
            found = bits::<32>(1) << self.aged.q.val();
        }
        if self.spawn_limit.is_there() {
            let of_job = bit_cast::<33, 32>(self.age.q.val()) - bit_cast::<33, 31>(self.spawn_limit.val());
            if self.spawned_slots.val().get_bit(self.aged.q.val().index()) {
                found = bits::<32>(0);
                if self.spawn_limit.val().any() & !of_job.get_bit(32) {
                    found = bits::<32>(1) << self.aged.q.val();
                }
            }
        }
        self.late.d.next = (self.late.q.val() | found) & !started;
        if self.overdue_slots.is_there() {
            self.overdue_slots.next = self.late.q.val();
        }

        self.overdue.next = self.overdue_q.q.val();
        if self.advance.val() {
            self.overdue_q.d.next = self.late.q.val().get_bit(self.slot.val().index());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    /// Starts at any time in any slot, limits that change: a warp is overdue when it must be, and
    /// not before it may be.
    #[test]
    fn warps_are_overdue_between_the_limit_and_34_cycles_after_it() {
        let mut random = hermes_hdl::testing::random();
        let mut uut = Watchdog::new(CoreOptions::default());
        reset!(uut);
        let mut starts = [None::<u64>; 32];
        let (mut limit, mut limited_since) = (0, 0);
        // Close to the wrap of the counter.
        let first = 0xffff_fc00u64;
        let (mut early, mut late) = (0, 0);
        for cycle in 0..6_000u64 {
            if cycle % 1_500 == 0 {
                limit = [0, 300, 90, 1][cycle as usize / 1_500];
                limited_since = cycle;
            }
            let slot = random.gen_range(0..32usize);
            let start = (cycle < 32 || random.gen_bool(0.1)).then_some(if cycle < 32 {
                cycle as usize
            } else {
                slot
            });
            let asked = random.gen_range(0..32usize);
            uut.limit.next = bits(limit);
            uut.cycle.next = bits((first + cycle) & 0xffff_ffff);
            uut.start.valid.next = start.is_some();
            uut.start.slot.next = bits(start.unwrap_or(0) as u64);
            uut.advance.next = true;
            uut.slot.next = bits(asked as u64);
            settle(&mut uut);
            tick!(uut);
            let (seen, began) = (uut.overdue.val(), starts[asked]);
            if let Some(age) = began.map(|began| cycle - began) {
                // The answer left the registers at the edge at the end of `cycle`.
                if seen {
                    assert!(limit > 0 && age > limit, "slot {asked}: {age} cycles, limit {limit}");
                    late += 1;
                } else if limit > 0 && cycle - limited_since > 34 {
                    assert!(age <= limit + 34, "slot {asked}: {age} cycles, limit {limit}");
                    early += 1;
                }
            }
            if let Some(slot) = start {
                starts[slot] = Some(cycle);
            }
        }
        assert!(early > 300 && late > 300, "{early} {late}");
    }

    #[test]
    fn the_answer_is_held_while_the_pipeline_stands() {
        let mut uut = Watchdog::new(CoreOptions::default());
        reset!(uut);
        uut.limit.next = bits(10);
        // Cycles, slot in stage C, whether the pipeline moves, whether a warp starts in slot 7,
        // what the answer is then.
        let script = [
            (1, 7, true, true, Some(false)),
            (60, 0, true, false, None),
            (1, 7, true, false, Some(true)),
            (1, 3, false, false, Some(true)),
            // Another warp in the slot is not overdue.
            (1, 7, true, true, None),
            (1, 7, true, false, Some(false)),
        ];
        let mut now = 0;
        for (cycles, slot, advance, start, expected) in script {
            for _ in 0..cycles {
                now += 1;
                uut.cycle.next = bits(now);
                uut.start.valid.next = start;
                uut.start.slot.next = bits(7);
                uut.advance.next = advance;
                uut.slot.next = bits(slot);
                settle(&mut uut);
                tick!(uut);
            }
            assert!(expected.is_none_or(|expected| expected == uut.overdue.val()), "cycle {now}");
        }
    }
}
