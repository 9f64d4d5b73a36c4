//! Functions that take turns, each with all cores: TemporalShare of the G-NET paper, by a host that
//! writes CORE_NF upon the events of the array.

use hermes_rtl::host::registers::offset;

use crate::cosim::{Access, Event};

/// Cores of a CORE_NF register, the bits of each, and the number of no function.
const CORES_PER_REGISTER: usize = 8;
const CORE_BITS: u32 = 4;
const NO_FUNCTION: u32 = 15;
/// Cycles without a start and without a warp on a core after which a function has no more work.
const QUIET: u64 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Warps of the function start.
    Running,
    /// Its last warps end; no function has cores.
    Draining,
    /// The host starts the next function at this cycle.
    Launching(u64),
}

/// Gives all cores to one function after the other: to the next one when `batch` warps have
/// started, or when none starts any more.
#[derive(Clone, Debug)]
pub struct Turns {
    functions: usize,
    cores: usize,
    batch: u32,
    launch: u64,
    timeout: u64,
    /// Cycles from the write of CORE_NF until all cores have their function, at most.
    change: u64,
    state: State,
    function: usize,
    /// Warps that were started in this turn, and those that are on cores.
    started: u32,
    running: u32,
    /// Warps that are to come to each function, from their start at the one before, as far as the
    /// host knows: one whose packets all end there counts until its next function has no work.
    waiting: Vec<u32>,
    /// When the turn began or a warp last started or finished.
    last: u64,
}

impl Turns {
    /// Of so many functions on so many cores; packets wait for up to `timeout` cycles until their
    /// warp is full.
    #[must_use]
    pub fn new(functions: usize, cores: usize, batch: u32, launch: u64, timeout: u32) -> Self {
        Self {
            functions,
            cores,
            batch: batch.max(1),
            launch,
            timeout: timeout.into(),
            change: 0,
            // The chain was set up with cores for every function.
            state: State::Draining,
            function: functions - 1,
            started: 0,
            running: 0,
            waiting: vec![0; functions + 1],
            last: 0,
        }
    }

    /// Cores take up to so many cycles to change hands when they have drained: no warp starts
    /// meanwhile, though there is work.
    #[must_use]
    pub fn with_change(self, change: u64) -> Self {
        Self { change, ..self }
    }

    /// Takes the events of a cycle, and gives the registers that the host writes.
    pub fn cycle(&mut self, now: u64, events: &[(u64, Event)], accesses: &mut Vec<Access>) {
        for (_, event) in events {
            match event {
                Event::Issue(..) => self.start(0),
                Event::Hop { function, .. } => self.start(usize::from(*function)),
                Event::Finish(_) => self.running = self.running.saturating_sub(1),
                Event::Commit(..) | Event::Spawn(_) => continue,
            }
            self.last = now;
        }
        match self.state {
            State::Running => {
                // Packets of the first function may wait for the rest of their warp.
                let forming = if self.function == 0 { self.timeout.min(4 * QUIET) } else { 0 };
                let changing = if self.started == 0 { self.change } else { 0 };
                let is_quiet = self.running == 0 && now > self.last + QUIET + forming + changing;
                let is_done = self.function > 0 && self.waiting[self.function] == 0;
                if self.started < self.batch && !is_quiet && !is_done {
                    return;
                }
                if is_quiet {
                    self.waiting[self.function] = 0;
                }
                match self.launch {
                    0 => self.start_next(now, accesses),
                    _ => {
                        self.give(NO_FUNCTION, accesses);
                        self.state = State::Draining;
                    }
                }
            }
            State::Draining if self.running == 0 => match self.launch {
                0 => self.start_next(now, accesses),
                launch => self.state = State::Launching(now + launch),
            },
            State::Launching(at) if now >= at => self.start_next(now, accesses),
            State::Draining | State::Launching(_) => {}
        }
    }

    /// A warp starts at a function.
    fn start(&mut self, function: usize) {
        self.started += 1;
        self.running += 1;
        if let Some(waiting) = self.waiting.get_mut(function) {
            *waiting = waiting.saturating_sub(1);
        }
        if let Some(waiting) = self.waiting.get_mut(function + 1) {
            *waiting += 1;
        }
    }

    fn start_next(&mut self, now: u64, accesses: &mut Vec<Access>) {
        self.function = (self.function + 1) % self.functions;
        (self.started, self.last) = (0, now);
        self.state = State::Running;
        self.give(self.function as u32, accesses);
    }

    fn give(&self, function: u32, accesses: &mut Vec<Access>) {
        for register in 0..self.cores.div_ceil(CORES_PER_REGISTER) {
            let here = CORES_PER_REGISTER.min(self.cores - CORES_PER_REGISTER * register);
            let value = (0..here as u32).fold(0, |word, core| word | function << (CORE_BITS * core));
            accesses.push(Access::Write { offset: offset(&format!("CORE_NF_{register}")), value });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::{PacketRange, WarpSlot};

    const SLOT: WarpSlot = WarpSlot { core: 0, slot: 0 };
    const PACKETS: PacketRange = PacketRange { first: 0, count: 4 };
    const NOTHING: [u32; 0] = [];

    fn start(function: u8) -> (u64, Event) {
        let event = match function {
            0 => Event::Issue(SLOT, PACKETS),
            function => Event::Hop { slot: SLOT, packets: PACKETS, lanes: 15, function },
        };
        (0, event)
    }

    /// The functions that are given to three cores in a cycle.
    fn given(turns: &mut Turns, now: u64, events: &[(u64, Event)]) -> Vec<u32> {
        let mut accesses = Vec::new();
        turns.cycle(now, events, &mut accesses);
        let value = |access| match access {
            Access::Write { offset: at, value } if at == offset("CORE_NF_0") => value,
            other => panic!("{other:?}"),
        };
        accesses.into_iter().map(value).collect()
    }

    #[test]
    fn turns_end_by_batch_and_without_work() {
        let finish = (0, Event::Finish(SLOT));
        let mut turns = Turns::new(2, 3, 2, 0, 100);
        assert_eq!(given(&mut turns, 0, &[]), [0x000]);
        assert_eq!(given(&mut turns, 1, &[start(0)]), NOTHING);
        assert_eq!(given(&mut turns, 2, &[start(0)]), [0x111], "two warps are a batch");
        // One of them still runs where it is.
        assert_eq!(given(&mut turns, 9, &[finish, start(1)]), NOTHING);
        assert_eq!(given(&mut turns, 20, &[finish, start(1)]), [0x000], "all that waited has started");
        assert_eq!(given(&mut turns, 40, &[finish, finish]), NOTHING);
        assert_eq!(given(&mut turns, 204, &[]), NOTHING);
        assert_eq!(given(&mut turns, 205, &[]), [0x111], "no packets");
        assert_eq!(given(&mut turns, 206, &[]), [0x000], "none to wait for");
    }

    /// A warp that starts between the end of a batch and the write of the host is not forgotten.
    #[test]
    fn warps_beyond_a_batch_have_their_turn() {
        let finish = (0, Event::Finish(SLOT));
        let mut turns = Turns::new(2, 3, 1, 10, 0);
        assert_eq!(given(&mut turns, 0, &[]), NOTHING);
        assert_eq!(given(&mut turns, 10, &[]), [0x000]);
        assert_eq!(given(&mut turns, 11, &[start(0)]), [0xfff]);
        assert_eq!(given(&mut turns, 12, &[start(0)]), NOTHING, "too late");
        assert_eq!(given(&mut turns, 20, &[finish, finish]), NOTHING);
        assert_eq!(given(&mut turns, 30, &[]), [0x111]);
        assert_eq!(given(&mut turns, 31, &[start(1)]), [0xfff]);
        assert_eq!(given(&mut turns, 32, &[finish]), NOTHING);
        assert_eq!(given(&mut turns, 42, &[]), [0x000]);
        assert_eq!(given(&mut turns, 107, &[]), [0xfff], "no packets");
        assert_eq!(given(&mut turns, 108, &[]), NOTHING);
        assert_eq!(given(&mut turns, 118, &[]), [0x111]);
        assert_eq!(given(&mut turns, 119, &[]), NOTHING, "one waits");
        assert_eq!(given(&mut turns, 120, &[start(1)]), [0xfff]);
    }

    /// Cores that are cleared for 1,000 cycles: no function is without work before.
    #[test]
    fn a_turn_does_not_end_while_cores_change_hands() {
        let finish = (0, Event::Finish(SLOT));
        let mut turns = Turns::new(2, 3, 1, 0, 0).with_change(1_000);
        assert_eq!(given(&mut turns, 0, &[]), [0x000]);
        assert_eq!(given(&mut turns, 900, &[start(0)]), [0x111]);
        assert_eq!(given(&mut turns, 950, &[finish]), NOTHING);
        assert_eq!(given(&mut turns, 1_900, &[]), NOTHING);
        assert_eq!(given(&mut turns, 1_950, &[start(1)]), [0x000], "all that waited has started");
    }

    #[test]
    fn a_launch_waits_for_the_last_warp() {
        let finish = (0, Event::Finish(SLOT));
        let mut turns = Turns::new(2, 3, 1, 1_000, 100);
        assert_eq!(given(&mut turns, 0, &[]), NOTHING);
        assert_eq!(given(&mut turns, 1_000, &[]), [0x000]);
        assert_eq!(given(&mut turns, 1_001, &[start(0)]), [0xfff]);
        assert_eq!(given(&mut turns, 1_500, &[finish]), NOTHING);
        assert_eq!(given(&mut turns, 2_499, &[]), NOTHING);
        assert_eq!(given(&mut turns, 2_500, &[]), [0x111]);
    }
}
