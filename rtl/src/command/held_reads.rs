//! Harts that wait for a command.

use hermes_hdl::prelude::*;

/// Harts whose read of the network interface's window is to be repeated: they do not fetch until
/// there is a command, or they are to wake (Pangaea's rules U22 and U27, docs/network.md).
///
/// 1. `held` of a hart is high from the cycle after `parks` on, until the cycle after one in which
///    its bit of `wake` or `gone` is high, or `here` or `soon` is and no hart with a lower number
///    is held: a command frees one hart, and if that comes too late the next one.
/// 2. A hart in `held` stands between two instructions, before its read: an interrupt or a stop
///    comes there, and the read is executed again behind it.
#[clocked]
#[derive(Clone, Default, LogicBlock)]
pub struct HeldReads {
    /// Harts whose read ended without an answer.
    pub parks: Signal<In, Bits<8>>,
    /// There is a command.
    pub here: Signal<In, Bit>,
    /// There will be one soon.
    pub soon: Signal<In, Bit>,
    /// Harts that are to wake.
    pub wake: Signal<In, Bits<8>>,
    /// Harts that go on elsewhere, are stopped or held.
    pub gone: Signal<In, Bits<8>>,
    /// Harts that do not fetch.
    pub held: Signal<Out, Bits<8>>,
    held_q: Register<Bits<8>>,
}

impl Logic for HeldReads {
    #[hdl_gen]
    fn update(&mut self) {
        let mut waits = self.held_q.q.val() & !self.wake.val();
        if self.here.val() || self.soon.val() {
            // Without the lowest one
            waits = waits & (self.held_q.q.val() - bits::<8>(1));
        }
        self.held_q.d.next = (waits | self.parks.val()) & !self.gone.val();
        self.held.next = self.held_q.q.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    #[test]
    fn a_hart_waits_until_something_comes() {
        let mut rng = random("held_reads");
        let mut uut = HeldReads::default();
        reset!(uut);
        let (mut held, mut waits) = (0u8, 0);
        for _ in 0..5_000 {
            let one = |rng: &mut rand_chacha::ChaCha8Rng| 1u8 << rng.gen_range(0..8);
            let parks = if rng.gen_bool(0.4) { one(&mut rng) & !held } else { 0 };
            let wake = if rng.gen_bool(0.2) { one(&mut rng) } else { 0 };
            let gone = if rng.gen_bool(0.2) { one(&mut rng) } else { 0 };
            let (here, soon) = (rng.gen_bool(0.1), rng.gen_bool(0.1));
            uut.parks.next = u64::from(parks).into();
            uut.wake.next = u64::from(wake).into();
            uut.gone.next = u64::from(gone).into();
            uut.here.next = here;
            uut.soon.next = soon;
            settle(&mut uut);
            assert_eq!(uut.held.val().to_u64(), u64::from(held));
            waits += held.count_ones();
            let freed = if here || soon { held & held.wrapping_neg() } else { 0 };
            held = (held & !freed & !wake | parks) & !gone;
            tick!(uut);
        }
        assert!(waits > 2_000, "{waits}");
    }
}
