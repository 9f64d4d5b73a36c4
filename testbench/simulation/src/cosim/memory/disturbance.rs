//! A memory that is as slow and as faulty as the bus allows.

use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

/// Long pauses and errors at random times, beside what [`MemoryOptions`](super::MemoryOptions) say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbance {
    /// Longest pause in cycles; 0: none. In a pause an AXI channel takes no request, or begins no
    /// answer. The five channels of every memory channel pause by themselves.
    pub longest_pause: u32,
    /// Longest time in cycles from the end of a pause to the next one.
    pub longest_run: u32,
    /// Of 1,000 lines read, about so many are answered SLVERR.
    pub read_errors: u32,
    /// Of 1,000 bursts written, about so many are answered SLVERR and not written.
    pub write_errors: u32,
    /// The errors befall lines at these addresses only: the first and the last.
    pub errors_at: (u32, u32),
}

impl Disturbance {
    /// Whether the transfer at `address` fails; `chance` is in 1,000.
    pub(super) fn fails(&self, chance: u32, address: u32, random: &mut ChaCha8Rng) -> bool {
        let (first, last) = self.errors_at;
        chance > 0 && (first..=last).contains(&address) && random.gen_range(0..1000) < chance
    }
}

/// The AXI channels of a memory channel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path {
    ReadAddress,
    ReadData,
    WriteAddress,
    WriteData,
    WriteResponse,
}

/// Which AXI channels of a memory channel pause.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    paused: [bool; 5],
    until: [u64; 5],
}

impl Pauses {
    /// Goes on to cycle `now`.
    #[inline]
    pub(super) fn cycle(&mut self, now: u64, disturbance: &Disturbance, random: &mut ChaCha8Rng) {
        if disturbance.longest_pause == 0 {
            self.paused = [false; 5];
            return;
        }
        for (paused, until) in self.paused.iter_mut().zip(&mut self.until) {
            if now >= *until {
                *paused = !*paused;
                let longest = if *paused { disturbance.longest_pause } else { disturbance.longest_run };
                *until = now + u64::from(random.gen_range(1..=longest.max(1)));
            }
        }
    }

    #[inline]
    pub(super) fn on(&self, path: Path) -> bool {
        self.paused[path as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn paths_pause_by_themselves_and_stop_pausing() {
        let mut random = ChaCha8Rng::seed_from_u64(crate::test_seed());
        let long = Disturbance { longest_pause: 50, longest_run: 20, ..Disturbance::default() };
        let mut pauses = Pauses::default();
        let (mut both, mut one) = (0, 0);
        let mut lengths = [0; 2];
        let (mut before, mut length) = (false, 0);
        for cycle in 0..20_000 {
            pauses.cycle(cycle, &long, &mut random);
            let [a, b] = [Path::ReadAddress, Path::WriteResponse].map(|path| pauses.on(path));
            both += u32::from(a && b);
            one += u32::from(a != b);
            length = if a == before { length + 1 } else { 1 };
            before = a;
            lengths[usize::from(a)] = lengths[usize::from(a)].max(length);
        }
        assert!(both > 5_000 && one > 5_000, "{both} {one}");
        assert_eq!(lengths, [20, 50]);
        pauses.cycle(20_001, &Disturbance::default(), &mut random);
        assert!(!pauses.on(Path::ReadAddress) && !pauses.on(Path::WriteData));
    }

    #[test]
    fn errors_befall_their_addresses_only() {
        let mut random = ChaCha8Rng::seed_from_u64(crate::test_seed());
        let disturbance = Disturbance { errors_at: (0x1000, 0x1fff), ..Disturbance::default() };
        let mut count =
            |address, chance| (0..10_000).filter(|_| disturbance.fails(chance, address, &mut random)).count();
        assert_eq!(
            [count(0xfff, 1000), count(0x2000, 1000), count(0x1800, 0), count(0x1fff, 1000)],
            [0, 0, 0, 10_000]
        );
        assert!((500..1_500).contains(&count(0x1000, 100)));
    }
}
