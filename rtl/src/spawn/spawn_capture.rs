//! Which stores of the command processor are words of descriptors (Pangaea design, D4: capture at
//! the processor's write port).

use crate::ports::{PageMove, StoreTap};
use crate::types::LineAddress;
use hermes_hdl::prelude::*;

/// Sees the stores of the command processor that memory accepts, and picks those to the descriptor
/// page.
///
/// 1. A full-word store to words 0 to 7 of a descriptor is one of `word_valid`, in the cycle in
///    which memory accepts it; a store of less than the word is one of `partial`, and changes no
///    descriptor.
/// 2. `page` moves the page, or takes it away with address 0, unless it is refused; `hold` takes it
///    away. A store of the cycle in which the page moves comes behind the move: it is matched with
///    the new page. So no job of the old one starts with the move or after it, and one that has
///    started shows in `busy`.
/// 3. Without a page nothing is picked. Bytes 32 to 63 of a descriptor are never picked.
#[clocked("there is no page")]
#[derive(Clone, LogicBlock)]
#[new(slots: usize)]
pub struct SpawnCapture {
    /// A store that memory accepts.
    pub store: StoreTap,
    /// SIGNAL.RANGE. Refused is a page that is not aligned to its size or lies outside memory, and
    /// any while a slot is busy.
    pub page: PageMove,
    /// The command processor is held: there is no page from the next cycle on.
    pub hold: Signal<In, Bit>,
    /// Slots that are busy.
    pub busy: Signal<In, Bits<16>>,
    /// First line of the page; 0: there is none.
    pub base: Signal<Out, LineAddress>,
    /// A word of a descriptor is stored.
    pub word_valid: Signal<Out, Bit>,
    /// The slot of the descriptor.
    pub slot: Signal<Out, Bits<5>>,
    /// Number of the word in the descriptor.
    pub word: Signal<Out, Bits<3>>,
    /// Value of the word.
    pub value: Signal<Out, Bits<32>>,
    /// A part of such a word is stored.
    pub partial: Signal<Out, Bit>,
    base_q: Register<LineAddress>,
    /// Bits of the line address that are the slot.
    #[init(Constant::new((slots as u64 - 1).into()))]
    within: Constant<Bits<26>>,
}

impl SpawnCapture {
    /// For a page of `slots` descriptors.
    ///
    /// # Panics
    /// If `slots` is not 8 or 16.
    pub fn new(slots: usize) -> Self {
        assert!(matches!(slots, 8 | 16), "SpawnCapture: {slots} slots, expected 8 or 16");
        Self::wired(slots)
    }
}

impl Logic for SpawnCapture {
    #[hdl_gen]
    fn update(&mut self) {
        let line = self.page.address.val().get_bits::<26>(6);
        let refuses = self.busy.val().any()
            | self.page.address.val().get_bits::<6>(0).any()
            | (line & self.within.val()).any()
            | self.page.address.val().get_bits::<12>(20).all();
        self.page.refused.next = refuses;
        let mut present = self.base_q.q.val();
        if self.page.valid.val() & !refuses {
            present = line;
        }
        self.base_q.d.next = present;
        if self.hold.val() {
            self.base_q.d.next = bits::<26>(0);
        }
        self.base.next = self.base_q.q.val();
        let inside = present.any() & !((self.store.line.val() ^ present) & !self.within.val()).any();
        let low = self.store.strobe.val().get_bits::<32>(0);
        let mut full = false;
        let mut number = bits::<3>(0);
        for w in 0..8 {
            if low.get_bits::<4>(w * 4).all() {
                full = true;
            }
        }
        // One of the words, if any
        if low.get_bits::<16>(16).any() {
            number = bits::<3>(4);
        }
        if low.get_bits::<8>(8).any() | low.get_bits::<8>(24).any() {
            number = number | bits::<3>(2);
        }
        if low.get_bits::<4>(4).any()
            | low.get_bits::<4>(12).any()
            | low.get_bits::<4>(20).any()
            | low.get_bits::<4>(28).any()
        {
            number = number | bits::<3>(1);
        }
        self.word_valid.next = self.store.valid.val() & inside & full;
        self.partial.next = self.store.valid.val() & inside & low.any() & !full;
        self.slot.next = bit_cast::<5, 4>((self.store.line.val() & self.within.val()).get_bits::<4>(0));
        self.word.next = number;
        self.value.next = self.store.word.val();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn full_words_of_the_page_are_picked() {
        let mut random = random();
        for slots in [8u64, 16] {
            let mut unit = SpawnCapture::new(slots as usize);
            reset!(unit);
            let mut base = 0u64;
            let (mut picked, mut partial, mut moved_under) = (0, 0, 0);
            for cycle in 0..6_000 {
                let line = random.gen_range(0..4 * slots);
                let byte = random.gen_range(0..64u64);
                let strobe: u64 = match cycle % 4 {
                    0 => 1 << byte,
                    1 => 3 << (byte & !1),
                    _ => 15 << (byte & !3),
                };
                let data: u32 = random.gen();
                unit.store.valid.next = random.gen_bool(0.9);
                unit.store.line.next = line.into();
                unit.store.word.next = u64::from(data).into();
                unit.store.strobe.next = strobe.into();
                unit.page.valid.next = random.gen_bool(0.1);
                let address = if random.gen_bool(0.95) {
                    64 * slots * random.gen_range(0..4)
                } else {
                    u64::from(random.gen::<u32>() & [!0, !63, !1023][cycle % 3])
                };
                let busy = u64::from(random.gen_bool(0.3)) << 9;
                unit.page.address.next = address.into();
                unit.busy.next = busy.into();
                unit.hold.next = random.gen_bool(0.01);
                settle(&mut unit);
                let refused = address % (64 * slots) != 0 || address >= 0xfff0_0000 || busy != 0;
                assert_eq!(unit.page.refused.val(), refused, "cycle {cycle}: {address:#x}");
                assert_eq!(unit.base.val().to_u64(), base);
                let before = base;
                if unit.page.valid.val() && !refused {
                    base = address / 64;
                }
                let inside = unit.store.valid.val() && base != 0 && line & !(slots - 1) == base && byte < 32;
                let full = inside && cycle % 4 > 1;
                assert_eq!(unit.word_valid.val(), full, "cycle {cycle}");
                assert_eq!(unit.partial.val(), inside && !full, "cycle {cycle}");
                if full {
                    let found =
                        [unit.slot.val().to_u64(), unit.word.val().to_u64(), unit.value.val().to_u64()];
                    assert_eq!(found, [line - base, byte / 4, u64::from(data)], "cycle {cycle}");
                }
                picked += usize::from(full);
                partial += usize::from(inside && !full);
                moved_under += usize::from(full && base != before);
                if unit.hold.val() {
                    base = 0;
                }
                tick!(unit);
            }
            assert!(picked > 100 && partial > 100 && moved_under > 2, "{picked} {partial} {moved_under}");
        }
    }
}
