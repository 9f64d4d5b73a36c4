//! What the network interface counts.

use crate::prelude::*;

/// Numbers of the counters, for NET_COUNTER_SELECT.
pub mod counter {
    /// Frames that were sent.
    pub const FRAMES_OUT: u64 = 0;
    /// Frames whose payload was written.
    pub const FRAMES_IN: u64 = 1;
    /// Commands that failed.
    pub const FAILED: u64 = 2;
    /// Frames that found no room in the buffer.
    pub const NO_ROOM: u64 = 8;
    /// Frames that were dropped with cause 1, as in [`cause`](crate::net::cause); cause 2 is the next counter, and so on up to cause 7.
    pub const CAUSE_1: u64 = 9;
    /// Frames for no queue pair that is up, or not from its peer.
    pub const UNKNOWN: u64 = 16;
    /// Frames that their queue pair did not expect.
    pub const REFUSED: u64 = 17;
    /// Counters that there are.
    pub const COUNT: usize = 18;
}

/// Counts events, each modulo 2^32.
///
/// Bit `n` of `events` counts in counter `n` ([`counter`]); a number between them that is none reads 0. `value` follows `select` by one cycle.
#[derive(Clone, Debug, LogicBlock)]
pub struct NetCounters {
    /// Rising-edge clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous reset, active high.
    pub reset: Signal<In, Bit>,
    /// The events of this cycle.
    pub events: Signal<In, Bits<18>>,
    /// The counter that is shown.
    pub select: Signal<In, Bits<5>>,
    /// Its value in the cycle before.
    pub value: Signal<Out, Bits<32>>,
    #[count(counter::COUNT)]
    counts: Vec<Register<Bits<32>>>,
    shown: Register<Bits<32>>,
}

impl Logic for NetCounters {
    #[hdl_gen]
    fn update(&mut self) {
        self.shown.d.next = bits::<32>(0);
        for i in 0..18 {
            if self.events.val().get_bit(i) {
                self.counts[i].d.next = self.counts[i].q.val() + bits::<32>(1);
            }
            if self.select.val() == bits::<5>(i as u64) {
                self.shown.d.next = self.counts[i].q.val();
            }
        }
        self.value.next = self.shown.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn every_event_counts_in_its_own() {
        let mut rng = random("net_counters");
        let mut uut = NetCounters::default();
        reset!(uut);
        let mut counts = [0u64; 32];
        let mut before = None;
        for _ in 0..2_000 {
            let (events, select) = (rng.gen::<u32>() & 0x3_ffff, rng.gen_range(0..32usize));
            uut.events.next = u64::from(events).into();
            uut.select.next = (select as u64).into();
            settle(&mut uut);
            if let Some(value) = before {
                assert_eq!(uut.value.val().to_u64(), value);
            }
            before = Some(counts[select]);
            for (index, count) in counts.iter_mut().enumerate() {
                *count += u64::from(events >> index & 1);
            }
            tick!(uut);
        }
        assert!(counts[..18].iter().all(|count| *count > 800));
    }
}
