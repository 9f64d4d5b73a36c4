//! What the network interface counts.

use hermes_hdl::prelude::*;

/// Numbers of the counters, for NET_COUNTER_SELECT.
pub mod counter {
    /// Frames that were sent.
    pub const FRAMES_OUT: u64 = 0;
    /// Frames whose payload was written.
    pub const FRAMES_IN: u64 = 1;
    /// Commands that failed.
    pub const FAILED: u64 = 2;
    /// Packets that were sent again.
    pub const RESENT: u64 = 3;
    /// Time-outs.
    pub const TIMEOUTS: u64 = 4;
    /// NAKs that were sent.
    pub const NAKS_OUT: u64 = 5;
    /// NAKs that came.
    pub const NAKS_IN: u64 = 6;
    /// ACKs, NAKs and responses that came for no packet that waits for one.
    pub const STRAY: u64 = 7;
    /// Frames that found no room in the buffer.
    pub const NO_ROOM: u64 = 8;
    /// Frames that were dropped with cause 1, as in [`cause`](crate::net::cause); cause 2 is the
    /// next counter, and so on up to cause 7.
    pub const CAUSE_1: u64 = 9;
    /// Frames for no queue pair that is up, or not from its peer.
    pub const UNKNOWN: u64 = 16;
    /// Frames that are no packet that is served.
    pub const REFUSED: u64 = 17;
    /// Packets that came again.
    pub const REPEATED: u64 = 18;
    /// Packets that came too early: one before them is missing.
    pub const NEWER: u64 = 19;
    /// Queue pairs that went to ERROR.
    pub const DOWN: u64 = 20;
    /// Commands that were fetched from the queues of warps, and given to harts.
    pub const FETCHED: u64 = 21;
    /// Events that are counted one by one: the counters up to here.
    pub const EVENTS: usize = 22;
    /// Cycles of harts of the command processor that run and wait neither in NEXT nor in `wfi`: of
    /// each cycle so many.
    pub const HART_CYCLES: u64 = 22;
    /// RNR NAKs that came.
    pub const NOT_READY: u64 = 23;
    /// Counters of the network interface.
    pub const COUNT: usize = 24;

    /// Counters of the L2, which the registers show behind those of the network interface: writes
    /// to a command ring whose line stayed unlocked, since another one of its set was locked.
    pub const LOCKS_REFUSED: u64 = 32;
    /// Locks that ended by 63 misses in their set.
    pub const LOCKS_EXPIRED: u64 = 33;
    /// Lines that the network interface read and the L2 had.
    pub const READ_HITS: u64 = 34;
    /// Lines that it read and that came from memory.
    pub const READ_MISSES: u64 = 35;
    /// Lines that the command processor read and the L2 had.
    pub const COMMAND_READ_HITS: u64 = 36;
    /// Lines that it read and that came from memory.
    pub const COMMAND_READ_MISSES: u64 = 37;

    /// The numbers of all counters.
    pub fn all() -> impl Iterator<Item = u64> {
        (0..COUNT as u64).chain(LOCKS_REFUSED..=COMMAND_READ_MISSES)
    }
}

/// Counts events, each modulo 2^32.
///
/// Bit `n` of `events` counts in counter `n` ([`counter`]), the bits of `awake` in
/// [`counter::HART_CYCLES`], `not_ready` in [`counter::NOT_READY`]; a number between them that is
/// none reads 0. `value` follows `select` by one cycle.
#[derive(Clone, Debug, LogicBlock)]
pub struct NetCounters {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// The events of this cycle.
    pub events: Signal<In, Bits<22>>,
    /// Harts that are at work in this cycle.
    pub awake: Signal<In, Bits<8>>,
    /// An RNR NAK came.
    pub not_ready: Signal<In, Bit>,
    /// The counter that is shown.
    pub select: Signal<In, Bits<5>>,
    /// Its value in the cycle before.
    pub value: Signal<Out, Bits<32>>,
    #[count(counter::EVENTS)]
    counts: Vec<Register<Bits<32>>>,
    hart_cycles: Register<Bits<32>>,
    rests: Register<Bits<32>>,
    shown: Register<Bits<32>>,
}

impl Logic for NetCounters {
    #[hdl_gen]
    fn update(&mut self) {
        self.shown.d.next = bits::<32>(0);
        for i in 0..22 {
            if self.events.val().get_bit(i) {
                self.counts[i].d.next = self.counts[i].q.val() + bits::<32>(1);
            }
            if self.select.val() == bits::<5>(i as u64) {
                self.shown.d.next = self.counts[i].q.val();
            }
        }
        let mut at_work = bits::<4>(0);
        for i in 0..8 {
            if self.awake.val().get_bit(i) {
                at_work = at_work + bits::<4>(1);
            }
        }
        self.hart_cycles.d.next = self.hart_cycles.q.val() + bit_cast::<32, 4>(at_work);
        if self.select.val() == bits::<5>(counter::HART_CYCLES) {
            self.shown.d.next = self.hart_cycles.q.val();
        }
        if self.not_ready.val() {
            self.rests.d.next = self.rests.q.val() + bits::<32>(1);
        }
        if self.select.val() == bits::<5>(counter::NOT_READY) {
            self.shown.d.next = self.rests.q.val();
        }
        self.value.next = self.shown.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    #[test]
    fn every_event_counts_in_its_own() {
        let mut rng = random("net_counters");
        let mut uut = NetCounters::default();
        reset!(uut);
        let mut counts = [0u64; 32];
        let mut before = None;
        for _ in 0..2_000 {
            let (events, select) = (rng.gen::<u32>() & 0x3f_ffff, rng.gen_range(0..32usize));
            let (awake, not_ready) = (rng.gen::<u8>(), rng.gen::<bool>());
            uut.events.next = u64::from(events).into();
            uut.awake.next = u64::from(awake).into();
            uut.not_ready.next = not_ready;
            uut.select.next = (select as u64).into();
            settle(&mut uut);
            if let Some(value) = before {
                assert_eq!(uut.value.val().to_u64(), value);
            }
            before = Some(counts[select]);
            for (index, count) in counts.iter_mut().enumerate() {
                *count += u64::from(events >> index & 1);
            }
            counts[counter::HART_CYCLES as usize] += u64::from(awake.count_ones());
            counts[counter::NOT_READY as usize] += u64::from(not_ready);
            tick!(uut);
        }
        assert!(counts[..counter::COUNT].iter().all(|count| *count > 800));
    }
}
