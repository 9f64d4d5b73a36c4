//! A link between a node and the switch: its options, and what it does to frames.

use rand::{Rng as _, RngCore as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::error::ClusterError;

/// Picoseconds of a cycle: the clock is 1 GHz.
pub(super) const CYCLE: u64 = 1_000;
/// Bytes of preamble, frame check sequence and gap of a frame (IEEE 802.3).
const OVERHEAD: usize = 24;
/// Longest delay, in cycles, of a frame that is reordered, and of the second copy of one that is
/// duplicated.
const LONGEST_DELAY: u64 = 1_000;
/// Bytes of the Ethernet, IPv4, UDP and base transport headers, and of the ICRC.
const HEADERS: usize = 54;
const ICRC: usize = 4;

/// Where a frame is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Ethernet, IPv4, UDP or base transport header.
    Header,
    /// Between them and the ICRC.
    Payload,
    /// The ICRC.
    Icrc,
}

impl Place {
    /// All places.
    pub const ALL: [Self; 3] = [Self::Header, Self::Payload, Self::Icrc];

    /// Name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Payload => "payload",
            Self::Icrc => "icrc",
        }
    }

    /// The bytes of a frame that belong to the place; all of it if it is too short.
    fn range(self, frame: &[u8]) -> std::ops::Range<usize> {
        // The frame may be filled up behind its IPv4 packet.
        let total =
            frame.get(16..18).map_or(0, |bytes| usize::from(u16::from_be_bytes([bytes[0], bytes[1]])));
        let end = (14 + total).min(frame.len());
        if end < HEADERS + ICRC {
            return 0..frame.len();
        }
        match self {
            Self::Header => 0..HEADERS,
            Self::Payload if end > HEADERS + ICRC => HEADERS..end - ICRC,
            Self::Payload => 0..HEADERS,
            Self::Icrc => end - ICRC..end,
        }
    }
}

/// The link between a node and the switch, in both directions. The faults befall the frames that
/// the node sends, as they come to the switch; so a frame from one node to another, or back to
/// itself, meets them once.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOptions {
    /// Cycles that a bit is on its way, each way: 10 to 100,000.
    pub latency: u32,
    /// Gbit/s, each way: 1 to 1,000.
    pub rate: f64,
    /// Frames that are lost, in percent.
    pub loss: f64,
    /// Frames that come twice, in percent. The second copy comes up to 1,000 cycles later.
    pub duplicate: f64,
    /// Frames that come up to 1,000 cycles later, and so behind others, in percent.
    pub reorder: f64,
    /// Frames of which a byte is changed, in percent. The frame check sequence of Ethernet does not
    /// tell.
    pub corrupt: f64,
    /// Where; `None`: at any of the places.
    pub corrupt_in: Option<Place>,
}

impl Default for LinkOptions {
    /// 100 cycles, 100 Gbit/s, no faults: Table 1 of the ComP-Net paper.
    fn default() -> Self {
        Self {
            latency: 100,
            rate: 100.0,
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            corrupt: 0.0,
            corrupt_in: None,
        }
    }
}

impl LinkOptions {
    /// Sets the option called `name`, as on the command line.
    ///
    /// # Errors
    /// No option has this name, or the value is none; ranges are checked by [`Self::check`].
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || {
            let number: Result<f64, _> = value.parse();
            number.map_err(|_| format!("{name}={value}: expected a number"))
        };
        match name {
            "latency" => {
                let cycles = value.parse();
                self.latency = cycles.map_err(|_| format!("{name}={value}: expected a number of cycles"))?;
            }
            "rate" => self.rate = number()?,
            "loss" => self.loss = number()?,
            "duplicate" => self.duplicate = number()?,
            "reorder" => self.reorder = number()?,
            "corrupt" => self.corrupt = number()?,
            "corrupt-in" => {
                let place = Place::ALL.into_iter().find(|place| place.name() == value);
                let place =
                    place.ok_or_else(|| format!("{name}={value}: expected header, payload or icrc"))?;
                self.corrupt_in = Some(place);
            }
            _ => {
                let names = "latency, rate, loss, duplicate, reorder, corrupt or corrupt-in";
                return Err(format!("{name}: expected {names}"));
            }
        }
        Ok(())
    }

    /// Checks every option against its range.
    ///
    /// # Errors
    /// [`ClusterError::Option`] for the first that is outside.
    pub fn check(&self) -> Result<(), ClusterError> {
        let cycles = (10..=100_000).contains(&self.latency);
        ClusterError::unless(cycles, "latency", self.latency, "10 to 100000 cycles")?;
        let rate = (1.0..=1_000.0).contains(&self.rate);
        ClusterError::unless(rate, "rate", self.rate, "1 to 1000 Gbit/s")?;
        let shares = [
            ("loss", self.loss),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
            ("corrupt", self.corrupt),
        ];
        for (field, percent) in shares {
            let possible = (0.0..=100.0).contains(&percent);
            ClusterError::unless(possible, field, percent, "0 to 100 percent")?;
        }
        Ok(())
    }

    /// Picoseconds that a frame takes the line, with preamble, frame check sequence and gap.
    pub(super) fn time(&self, bytes: usize) -> u64 {
        ((bytes + OVERHEAD) as f64 * 8.0 * CYCLE as f64 / self.rate).round() as u64
    }

    /// Picoseconds that a bit is on its way.
    pub(super) fn flight(&self) -> u64 {
        u64::from(self.latency) * CYCLE
    }
}

/// A frame as it comes to the switch, later than without faults by so many picoseconds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Passed {
    pub late: u64,
    pub bytes: Vec<u8>,
}

/// How often a fault befell a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct FaultCounts {
    /// It was lost.
    pub lost: u64,
    /// It came twice.
    pub duplicated: u64,
    /// It came later.
    pub reordered: u64,
    /// It was damaged.
    pub corrupted: u64,
}

/// The faults of one link; each frame draws the same amount of random numbers, whatever befalls it.
pub(super) struct Faults {
    options: LinkOptions,
    random: ChaCha8Rng,
    pub counts: FaultCounts,
}

impl Faults {
    /// Those of the link of `port`.
    pub fn new(options: LinkOptions, seed: u64, port: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(port as u64);
        Self { options, random, counts: FaultCounts::default() }
    }

    /// What becomes of a frame: nothing, one frame or two.
    pub fn pass(&mut self, mut bytes: Vec<u8>) -> Vec<Passed> {
        let mut befalls = |percent: f64| self.random.gen_range(0.0..100.0) < percent;
        let LinkOptions { loss, duplicate, reorder, corrupt, .. } = self.options;
        let [lost, twice, late, damaged] = [loss, duplicate, reorder, corrupt].map(&mut befalls);
        let delays = [(); 2].map(|()| self.random.gen_range(1..=LONGEST_DELAY) * CYCLE);
        let (place, draw) = (self.random.gen_range(0..3), self.random.next_u64());
        if lost {
            self.counts.lost += 1;
            return Vec::new();
        }
        if damaged && !bytes.is_empty() {
            self.counts.corrupted += 1;
            let range = self.options.corrupt_in.unwrap_or(Place::ALL[place]).range(&bytes);
            let at = range.start + (draw >> 8) as usize % range.len();
            bytes[at] ^= 1 + (draw & 0xff) as u8 % 255;
        }
        self.counts.reordered += u64::from(late);
        let mut passed = vec![Passed { late: if late { delays[0] } else { 0 }, bytes }];
        if twice {
            self.counts.duplicated += 1;
            passed.push(Passed { late: delays[1], bytes: passed[0].bytes.clone() });
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_seed;

    /// A frame of so many bytes whose IPv4 header says that all behind `end` only fills it up.
    fn frame(bytes: usize, end: usize) -> Vec<u8> {
        let mut frame = vec![0x55; bytes];
        frame[16..18].copy_from_slice(&(end as u16 - 14).to_be_bytes());
        frame
    }

    #[test]
    fn faults_befall_as_many_frames_as_they_should() {
        let rates =
            LinkOptions { loss: 5.0, duplicate: 3.0, reorder: 2.0, corrupt: 4.0, ..Default::default() };
        let mut faults = Faults::new(rates, test_seed(), 1);
        let count = 40_000;
        let (mut frames, mut damaged, mut late) = (0, 0, 0);
        for _ in 0..count {
            for passed in faults.pass(frame(100, 100)) {
                frames += 1;
                late += u64::from(passed.late > 0);
                damaged += u64::from(passed.bytes != frame(100, 100));
                assert!(passed.late <= LONGEST_DELAY * CYCLE);
            }
        }
        let FaultCounts { lost, duplicated, reordered, corrupted } = faults.counts;
        assert_eq!(frames, count - lost + duplicated);
        assert!(damaged >= corrupted && damaged - corrupted < 200, "{damaged}");
        assert_eq!(late, reordered + duplicated);
        for (share, found) in [(5, lost), (3, duplicated), (2, reordered), (4, corrupted)] {
            let expected = count * share / 100;
            assert!(found.abs_diff(expected) < expected / 5, "{share} %: {found}");
        }
    }

    #[test]
    fn damage_is_where_it_should_be() {
        for (place, range) in [(Place::Header, 0..54), (Place::Payload, 54..66), (Place::Icrc, 66..70)] {
            let rates = LinkOptions { corrupt: 100.0, corrupt_in: Some(place), ..Default::default() };
            let mut faults = Faults::new(rates, 3, 0);
            let good = frame(74, 70);
            let mut seen = std::collections::BTreeSet::new();
            for _ in 0..2_000 {
                let [passed] = &faults.pass(good.clone())[..] else { panic!() };
                let different: Vec<usize> = (0..74).filter(|i| passed.bytes[*i] != good[*i]).collect();
                assert_eq!(different.len(), 1);
                seen.insert(different[0]);
            }
            assert!(seen.into_iter().eq(range));
        }
        // What is no IPv4 packet is damaged anywhere.
        let rates = LinkOptions { corrupt: 100.0, ..Default::default() };
        assert_eq!(Faults::new(rates, 3, 0).pass(vec![7])[0].bytes.len(), 1);
    }

    #[test]
    fn options_are_set_by_their_names_and_checked() {
        let mut link = LinkOptions::default();
        for (name, value) in
            [("latency", "250"), ("rate", "40"), ("loss", "0.5"), ("corrupt-in", "icrc"), ("corrupt", "1")]
        {
            link.set(name, value).unwrap();
        }
        link.check().unwrap();
        assert_eq!(
            (link.latency, link.rate, link.loss, link.corrupt_in),
            (250, 40.0, 0.5, Some(Place::Icrc))
        );
        assert_eq!(link.set("speed", "1").unwrap_err().split(':').next(), Some("speed"));
        assert_eq!(link.set("loss", "much").unwrap_err(), "loss=much: expected a number");
        assert_eq!(
            link.set("corrupt-in", "tail").unwrap_err(),
            "corrupt-in=tail: expected header, payload or icrc"
        );
        for (name, value, error) in [
            ("loss", "101", "loss: 101 is not possible; expected 0 to 100 percent"),
            ("loss", "NaN", "loss: NaN is not possible; expected 0 to 100 percent"),
            ("reorder", "-1", "reorder: -1 is not possible; expected 0 to 100 percent"),
            ("latency", "9", "latency: 9 is not possible; expected 10 to 100000 cycles"),
            ("rate", "0", "rate: 0 is not possible; expected 1 to 1000 Gbit/s"),
        ] {
            let mut link = LinkOptions::default();
            link.set(name, value).unwrap();
            assert_eq!(link.check().unwrap_err().to_string(), error);
        }
    }
}
