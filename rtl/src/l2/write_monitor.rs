//! Tells the command processor of writes to what it watches (Pangaea, section 4.2: address
//! invalidation).

use crate::ports::{ObservedWrite, WatchedRange};
use crate::spawn::COMPLETION_TAG;
use hermes_hdl::prelude::*;

/// Watches the writes that a bank of the L2 accepts.
///
/// 1. `hit` of a channel is high in the cycle after a write was accepted that writes a byte of its
///    range, whoever wrote: a lane, the packet ports, the thread spawner, a hart, an atomic
///    operation.
/// 2. A hart's own stores and atomic operations do not count: those of requester `processor` with
///    write tag bit 5 low and the hart in bits 4:3 (4:2 with eight harts), but for tag 31, the
///    completion words of the thread spawner; or with bit 5 high and the hart in bits 2:0.
/// 3. It taps the port of the bank and holds nothing up.
///
/// The channels of hart 0 come first, `per_hart` of each hart.
#[clocked]
#[derive(Clone, LogicBlock)]
#[new(processor: usize, harts: usize, per_hart: usize, channels: usize)]
pub struct WriteMonitor {
    /// At the port of the bank: a write is accepted at this edge.
    pub write: Signal<In, Bit>,
    /// From the bank: the write that is accepted.
    pub observed: Flipped<ObservedWrite>,
    /// From the channels: range that each watches.
    #[count(channels)]
    pub watched: Vec<WatchedRange>,
    /// To the channels: such a write was accepted a cycle ago.
    #[count(channels)]
    pub hit: Vec<Signal<Out, Bit>>,
    #[count(channels)]
    hit_q: Vec<Register<Bit>>,
    #[init(Constant::new((processor as u64).into()))]
    processor: Constant<Bits<5>>,
    #[init((0..channels).map(|channel| Constant::new(((channel / per_hart.max(1)) as u64).into())).collect())]
    hart: Vec<Constant<Bits<3>>>,
    #[init(Constant::new(harts > 4))]
    eight_harts: Constant<Bit>,
    #[init(channels)]
    _channels: usize,
}

impl WriteMonitor {
    /// A monitor for `harts` harts with `per_hart` channels each, whose requester is `processor`.
    ///
    /// # Panics
    /// If `processor` is not 0 to 31, `harts` not 1 to 8, or `per_hart` is zero.
    pub fn new(processor: usize, harts: usize, per_hart: usize) -> Self {
        assert!(processor < 32, "WriteMonitor: requester {processor}, expected 0 to 31");
        assert!((1..=8).contains(&harts) && per_hart > 0, "WriteMonitor: {harts} harts, {per_hart} channels");
        Self::wired(processor, harts, per_hart, harts * per_hart)
    }
}

impl Logic for WriteMonitor {
    #[hdl_gen]
    fn update(&mut self) {
        // A word is written if one of its bytes is.
        let mut words = bits::<16>(0);
        for w in 0..16 {
            words = words.replace_bit(w, self.observed.strobe.val().get_bits::<4>(w * 4).any());
        }
        let by_processor = self.observed.requester.val() == self.processor.val();
        let completion = self.observed.write_tag.val() == bits::<6>(COMPLETION_TAG as u64);
        for c in 0..self._channels {
            let mut writer = bit_cast::<3, 2>(self.observed.write_tag.val().get_bits::<2>(3));
            if self.eight_harts.val() {
                writer = self.observed.write_tag.val().get_bits::<3>(2);
            }
            if self.observed.write_tag.val().get_bit(5) {
                writer = self.observed.write_tag.val().get_bits::<3>(0);
            }
            let own = by_processor & !completion & (writer == self.hart[c].val());
            let same_line = !((self.observed.line.val() ^ self.watched[c].line.val())
                & self.watched[c].lines.val())
            .any();
            self.hit_q[c].d.next = self.write.val()
                & self.watched[c].valid.val()
                & !own
                & same_line
                & (words & self.watched[c].words.val()).any();
            self.hit[c].next = self.hit_q[c].q.val();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random, reset, settle, tick};
    use rand::Rng;

    #[test]
    fn writes_by_others_to_a_watched_word_hit() {
        for harts in [2, 4, 8] {
            writes_by_others_hit(harts);
        }
    }

    fn writes_by_others_hit(harts: usize) {
        let mut random = random();
        let mut unit = WriteMonitor::new(5, harts, 2);
        let channels = 2 * harts as u64;
        let shift = if harts == 8 { 2 } else { 3 };
        reset!(unit);
        let (mut hits, mut own_writes) = (0, 0);
        for cycle in 0..20_000 {
            for channel in &mut unit.watched {
                if random.gen_bool(0.02) {
                    channel.valid.next = random.gen_bool(0.8);
                    channel.line.next = random.gen_range(0..4).into();
                    channel.lines.next = [0x3ff_ffff, 0x3ff_fffe, 0x3ff_fffc][random.gen_range(0..3)].into();
                    channel.words.next =
                        [1u64 << random.gen_range(0..16), 0xf0, 0xffff][random.gen_range(0..3)].into();
                }
            }
            let strobe: u64 = match random.gen_range(0..3) {
                0 => 1 << random.gen_range(0..64),
                1 => 15 << (4 * random.gen_range(0..16)),
                _ => random.gen::<u64>() & random.gen::<u64>() & random.gen::<u64>(),
            };
            let (requester, tag) = (random.gen_range(4..7u64), random.gen_range(0..64u64));
            let line = random.gen_range(0..6u64);
            unit.write.next = random.gen();
            unit.observed.requester.next = requester.into();
            unit.observed.write_tag.next = tag.into();
            unit.observed.line.next = line.into();
            unit.observed.strobe.next = strobe.into();
            settle(&mut unit);
            let expected: Vec<bool> = (0..channels)
                .map(|channel| {
                    let watched = &unit.watched[channel as usize];
                    let hart = channel / 2;
                    let own = requester == 5
                        && match tag {
                            31 => false,
                            0..=30 => tag >> shift == hart,
                            _ => tag & 7 == hart,
                        };
                    let word = (0..16).any(|w| watched.words.val().get_bit(w) && strobe >> (4 * w) & 15 != 0);
                    let lines = (line ^ watched.line.val().to_u64()) & watched.lines.val().to_u64() == 0;
                    let all = unit.write.val() && watched.valid.val() && word && lines;
                    own_writes += usize::from(all && own);
                    all && !own
                })
                .collect();
            tick!(unit);
            settle(&mut unit);
            for (channel, expected) in expected.into_iter().enumerate() {
                assert_eq!(unit.hit[channel].val(), expected, "cycle {cycle}, channel {channel}");
                hits += usize::from(expected);
            }
        }
        assert!(hits > 500 && own_writes > 50, "{hits} {own_writes}");
    }
}
