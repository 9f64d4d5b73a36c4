//! How long packets are in the array of a board.

use hermes_hdl::prelude::*;

/// Counts the cycles in which packets are between the issue of their warp and its commit, and
/// drives the LEDs of a board.
///
/// A warp counts from the cycle behind its issue up to that of its commit. Warps of spawned threads
/// are issued and never committed: they do not count. The LEDs change in the cycle after what they
/// show.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(heartbeat: usize, spawner: bool)]
pub struct RunTimer {
    /// A warp was issued.
    pub issued: Signal<In, Bit>,
    /// The warp that was issued is one of spawned threads (only with a thread spawner).
    #[there(spawner)]
    pub spawned: Part<Signal<In, Bit>>,
    /// A warp was committed.
    pub committed: Signal<In, Bit>,
    /// Cycles with a warp between both, modulo 2^32.
    pub busy_cycles: Signal<Out, Bits<32>>,
    /// Such a warp was there within the last 2^20 cycles: long enough to be seen.
    pub busy: Signal<Out, Bit>,
    /// Changes every `2^heartbeat` cycles, 2^23 or so, as long as there is a clock.
    pub heartbeat: Signal<Out, Bit>,

    inside: Register<Bits<16>>,
    cycles: Register<Bits<32>>,
    seen: Register<Bits<20>>,
    beat: Register<Bits<32>>,
    #[init(heartbeat)]
    _heartbeat: usize,
}

impl RunTimer {
    /// A heartbeat that changes every `2^heartbeat` cycles.
    ///
    /// # Panics
    /// If `heartbeat` is above 31.
    pub fn new(heartbeat: usize) -> Self {
        Self::checked(heartbeat, false)
    }

    /// As [`Self::new`], for an array with a thread spawner.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn with_spawner(heartbeat: usize) -> Self {
        Self::checked(heartbeat, true)
    }

    fn checked(heartbeat: usize, spawner: bool) -> Self {
        assert!(heartbeat <= 31, "RunTimer: heartbeat {heartbeat}, expected 0 to 31");
        Self::wired(heartbeat, spawner)
    }
}

impl Logic for RunTimer {
    #[hdl_gen]
    fn update(&mut self) {
        let mut begins = self.issued.val();
        if self.spawned.is_there() {
            begins = begins && !self.spawned.val();
        }
        if begins && !self.committed.val() {
            self.inside.d.next = self.inside.q.val() + bits::<16>(1);
        }
        if self.committed.val() && !begins {
            self.inside.d.next = self.inside.q.val() - bits::<16>(1);
        }
        if self.seen.q.val().any() {
            self.seen.d.next = self.seen.q.val() - bits::<20>(1);
        }
        if self.inside.q.val().any() {
            self.cycles.d.next = self.cycles.q.val() + bits::<32>(1);
            self.seen.d.next = bits::<20>(0xf_ffff);
        }
        self.busy_cycles.next = self.cycles.q.val();
        self.busy.next = self.seen.q.val().any();
        self.beat.d.next = self.beat.q.val() + bits::<32>(1);
        self.heartbeat.next = self.beat.q.val().get_bit(self._heartbeat);
    }
}
