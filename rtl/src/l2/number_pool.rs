//! Numbers for outstanding transfers.

use hermes_hdl::prelude::*;

/// Gives out the lowest of the numbers 0 to `2^bits - 1` that is here; a number is given out again
/// only after it came back.
///
/// 1. While `free` is high `number` can be taken; with `take` it is taken at this edge.
/// 2. With `release`, `released` comes back at this edge; a number that is not out stays as it is.
#[clocked("all numbers are here")]
#[derive(Clone, LogicBlock)]
#[new(absent: u64)]
pub struct NumberPool {
    /// `number` can be taken.
    pub free: Signal<Out, Bit>,
    /// The lowest number that is here.
    pub number: Signal<Out, Bits<6>>,
    /// The number is taken at this edge.
    pub take: Signal<In, Bit>,
    /// `released` comes back at this edge.
    pub release: Signal<In, Bit>,
    /// A number that may be out.
    pub released: Signal<In, Bits<6>>,
    /// `released` is out.
    pub known: Signal<Out, Bit>,
    /// The numbers that are out.
    pub out: Signal<Out, Bits<64>>,
    taken: Register<Bits<64>>,
    #[init(Constant::new(absent.into()))]
    absent: Constant<Bits<64>>,
}

impl NumberPool {
    /// A pool of `2^width` numbers.
    ///
    /// # Panics
    /// If `width` is above 6.
    pub fn new(width: usize) -> Self {
        assert!(width <= 6, "NumberPool: {width} bits, expected at most 6");
        let absent = u64::MAX.checked_shl(1 << width).unwrap_or(0);
        Self::wired(absent)
    }
}

impl Logic for NumberPool {
    #[hdl_gen]
    fn update(&mut self) {
        let used = self.taken.q.val() | self.absent.val();
        let lowest = !used & (used + 1);
        let mut index = bits::<6>(0);
        if (lowest & 0xaaaa_aaaa_aaaa_aaaau64).any() {
            index = index | 1;
        }
        if (lowest & 0xcccc_cccc_cccc_ccccu64).any() {
            index = index | 2;
        }
        if (lowest & 0xf0f0_f0f0_f0f0_f0f0u64).any() {
            index = index | 4;
        }
        if (lowest & 0xff00_ff00_ff00_ff00u64).any() {
            index = index | 8;
        }
        if (lowest & 0xffff_0000_ffff_0000u64).any() {
            index = index | 16;
        }
        if (lowest & 0xffff_ffff_0000_0000u64).any() {
            index = index | 32;
        }
        self.number.next = index;
        self.free.next = !used.all();
        self.known.next = self.taken.q.val().get_bit(self.released.val().index());
        self.out.next = self.taken.q.val();
        let mut set = bits::<64>(0);
        if self.take.val() {
            set = lowest;
        }
        let mut cleared = bits::<64>(0);
        if self.release.val() {
            cleared = bits::<64>(1) << self.released.val();
        }
        self.taken.d.next = (self.taken.q.val() & !cleared) | set;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::{reset, settle, tick};
    use rand::Rng;

    #[test]
    fn numbers_out_are_distinct() {
        let mut rng = random("number_pool");
        for width in [0, 2, 6] {
            let mut unit = NumberPool::new(width);
            reset!(unit);
            let mut out: Vec<u64> = Vec::new();
            let (mut most, mut given) = (0, 0);
            for step in 0..2_000 {
                // Phases that take more than they give back, and the other way round.
                let fills = step / 200 % 2 == 0;
                settle(&mut unit);
                let number = unit.number.val().to_u64();
                let lowest = (0..1u64 << width).find(|n| !out.contains(n));
                assert_eq!(unit.free.val(), lowest.is_some());
                assert!(lowest.is_none() || lowest == Some(number));
                assert_eq!(unit.out.val().to_u64(), out.iter().fold(0, |set, n| set | 1 << n));
                let take = unit.free.val() && rng.gen_bool(if fills { 0.9 } else { 0.2 });
                let back = (!out.is_empty() && rng.gen_bool(if fills { 0.3 } else { 0.9 }))
                    .then(|| out.remove(rng.gen_range(0..out.len())));
                unit.take.next = take;
                unit.release.next = back.is_some();
                unit.released.next = bits(back.unwrap_or(0));
                if let Some(number) = back {
                    settle(&mut unit);
                    assert!(unit.known.val(), "{number} is out");
                    given += 1;
                }
                tick!(unit);
                if take {
                    out.push(number);
                }
                most = most.max(out.len());
            }
            assert!(most == 1 << width && given > 300, "{most} out, {given} came back");
        }
    }
}
