//! What of a run is told.

use std::str::FromStr;

use crate::cosim::PacketRange;

/// Cycles, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleRange {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

impl CycleRange {
    /// Every cycle.
    pub const ALL: Self = Self { first: 0, last: u64::MAX };

    /// Whether the cycle is one of these.
    pub const fn contains(&self, cycle: u64) -> bool {
        self.first <= cycle && cycle <= self.last
    }
}

impl FromStr for CycleRange {
    type Err = String;

    /// `FROM-TO`, such as `1000-2000`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = range(text).ok_or("expected FROM-TO in cycles, such as 1000-2000")?;
        Ok(Self { first, last })
    }
}

/// Numbers of packets in the order of their arrival, from 0, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketNumbers {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

impl PacketNumbers {
    /// Whether one of `packets` is one of these.
    #[must_use]
    pub const fn overlaps(&self, packets: PacketRange) -> bool {
        let first = packets.first as u64;
        first <= self.last && self.first < first + packets.count as u64
    }
}

impl FromStr for PacketNumbers {
    type Err = String;

    /// `N-M`, such as `10-19`, or one number.
    fn from_str(text: &str) -> Result<Self, String> {
        let one = || text.parse().ok().map(|number| (number, number));
        let (first, last) = range(text)
            .or_else(one)
            .ok_or("expected N-M, numbers of packets from 0, such as 10-19, or one number")?;
        Ok(Self { first, last })
    }
}

/// Two numbers with a dash between, the first not larger than the second.
fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        assert_eq!("20-29".parse(), Ok(CycleRange { first: 20, last: 29 }));
        for wrong in ["", "7", "9-8", "a-9", "1-2-3"] {
            assert!(wrong.parse::<CycleRange>().is_err(), "{wrong}");
        }
        assert_eq!("7".parse(), Ok(PacketNumbers { first: 7, last: 7 }));
        let packets: PacketNumbers = "5-6".parse().unwrap();
        let overlaps = |first, count| packets.overlaps(PacketRange { first, count });
        assert!(overlaps(4, 4) && overlaps(6, 1) && overlaps(2, 4));
        assert!(!overlaps(7, 4) && !overlaps(1, 4));
        for wrong in ["", "-1", "6-5", "x", "1-2-3"] {
            assert!(wrong.parse::<PacketNumbers>().is_err(), "{wrong}");
        }
    }
}
