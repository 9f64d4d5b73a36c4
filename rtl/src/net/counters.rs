//! What the network interface counts.

use super::counter;
use hermes_hdl::prelude::*;

/// Counts events, each modulo 2^32.
///
/// Bit `n` of `events` counts in counter `n` ([`counter`]), the bits of `awake` in
/// [`counter::HART_CYCLES`], `not_ready` in [`counter::NOT_READY`]; a number between them that is
/// none reads 0. `value` follows `select` by one cycle.
#[clocked]
#[derive(Clone, LogicBlock)]
pub struct NetCounters {
    /// The events of this cycle.
    pub events: Signal<In, Bits<22>>,
    /// Harts that are at work in this cycle.
    pub awake: Signal<In, Bits<8>>,
    /// An RNR NAK came.
    pub not_ready: Signal<In, Bit>,
    /// The counter that is shown.
    pub select: Signal<In, Bits<5>>,
    /// Value of the counter in the cycle before.
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
        let selected = bits::<32>(1) << self.select.val();
        for i in 0..22 {
            if self.events.val().get_bit(i) {
                self.counts[i].d.next = self.counts[i].q.val() + bits::<32>(1);
            }
            if selected.get_bit(i) {
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
        if selected.get_bit(counter::HART_CYCLES as usize) {
            self.shown.d.next = self.hart_cycles.q.val();
        }
        if self.not_ready.val() {
            self.rests.d.next = self.rests.q.val() + bits::<32>(1);
        }
        if selected.get_bit(counter::NOT_READY as usize) {
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
