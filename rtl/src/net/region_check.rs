//! Whether a range lies in a region.

use super::Region;
use hermes_hdl::prelude::*;

/// Says whether bytes may be used: their region is valid, of the same domain, has the right, and
/// all of them lie in it. It answers in the same cycle.
///
/// No range wraps around: offsets are compared with one bit more than addresses have, and no byte
/// may be used behind the last address, also if the region says that it has some there.
#[derive(Clone, Default, LogicBlock)]
pub struct RegionCheck {
    /// Region that is checked.
    pub region: Signal<In, Region>,
    /// The domain of who asks.
    pub domain: Signal<In, Bits<4>>,
    /// The rights that are needed, as in [`Region`].
    pub rights: Signal<In, Bits<5>>,
    /// Address of the first byte.
    pub address: Signal<In, Bits<32>>,
    /// Bytes of the range.
    pub bytes: Signal<In, Bits<32>>,
    /// The range may be used.
    pub allowed: Signal<Out, Bit>,
}

impl Logic for RegionCheck {
    #[hdl_gen]
    fn update(&mut self) {
        let checked_region = self.region.val();
        let offset = bit_cast::<33, 32>(self.address.val()) - bit_cast::<33, 32>(checked_region.address);
        let behind = bit_cast::<33, 32>(offset.get_bits::<32>(0)) + bit_cast::<33, 32>(self.bytes.val());
        let end = bit_cast::<33, 32>(self.address.val()) + bit_cast::<33, 32>(self.bytes.val());
        let wraps = end.get_bit(32) && end.get_bits::<32>(0).any();
        let inside = !offset.get_bit(32) && (behind <= bit_cast::<33, 32>(checked_region.bytes)) && !wraps;
        let missing = self.rights.val() & !checked_region.rights;
        self.allowed.next =
            checked_region.valid && (checked_region.domain == self.domain.val()) && !missing.any() && inside;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::testing::random;
    use crate::testing::settle;
    use rand::Rng;

    #[test]
    fn every_edge() {
        let mut rng = random("region_check");
        let mut uut = RegionCheck::default();
        let mut counts = [0, 0];
        let number = |rng: &mut rand_chacha::ChaCha8Rng| {
            let near: u32 = [0, 0x100, 0x1_0000, 0x8000_0000, u32::MAX][rng.gen_range(0..5)];
            near.wrapping_add(rng.gen_range(0..9)).wrapping_sub(4)
        };
        for _ in 0..20_000 {
            let (begin, length, address, bytes) =
                (number(&mut rng), number(&mut rng), number(&mut rng), number(&mut rng));
            let (valid, domain) = (rng.gen_bool(0.9), rng.gen_range(0..2u64));
            let (has, needs) = (rng.gen::<u64>() & 31 | 7, 1u64 << rng.gen_range(0..5));
            uut.region.next = Region {
                valid,
                domain: 1.into(),
                rights: has.into(),
                address: u64::from(begin).into(),
                bytes: u64::from(length).into(),
                key: 0.into(),
            };
            uut.domain.next = domain.into();
            uut.rights.next = needs.into();
            uut.address.next = u64::from(address).into();
            uut.bytes.next = u64::from(bytes).into();
            settle(&mut uut);
            let inside = address >= begin
                && u64::from(address) + u64::from(bytes) <= u64::from(begin) + u64::from(length)
                && u64::from(address) + u64::from(bytes) <= 1 << 32;
            let allowed = valid && domain == 1 && has & needs != 0 && inside;
            assert_eq!(uut.allowed.val(), allowed, "{address:#x}+{bytes:#x} in {begin:#x}+{length:#x}");
            counts[usize::from(allowed)] += 1;
        }
        assert!(counts[0] > 1_000 && counts[1] > 500, "{counts:?}");
    }
}
