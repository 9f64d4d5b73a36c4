//! Warp-cycles by reason.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::warp::Wait;

/// What instructions cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Warp-instructions retired, counted as the cores do: without the boot sequence and EXIT.
    pub instructions: u64,
    /// Lanes that executed them, summed.
    pub lane_instructions: u64,
    /// Warp-cycles in which an instruction retired, of the boot sequence and EXIT too.
    pub execute: u64,
    /// Warp-cycles in which the warp waited, in the order of [`Wait::ALL`].
    pub waits: [u64; Wait::ALL.len()],
}

impl Cost {
    /// Names of the reasons, in the order of [`Self::reasons`].
    pub const REASONS: [&'static str; 1 + Wait::ALL.len()] = {
        let mut names = ["execute"; 1 + Wait::ALL.len()];
        let mut index = 0;
        while index < Wait::ALL.len() {
            names[1 + index] = Wait::ALL[index].name();
            index += 1;
        }
        names
    };

    /// All warp-cycles.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.execute + self.waits.iter().sum::<u64>()
    }

    /// Warp-cycles by reason; their sum is [`Self::cycles`].
    #[must_use]
    pub fn reasons(&self) -> [u64; 1 + Wait::ALL.len()] {
        let mut cycles = [self.execute; 1 + Wait::ALL.len()];
        cycles[1..].copy_from_slice(&self.waits);
        cycles
    }

    /// The share of a core's lanes that executed the instructions, 0 to 1; `None` without
    /// instructions.
    #[must_use]
    pub fn simd(&self, lanes: usize) -> Option<f64> {
        let possible = self.instructions * lanes as u64;
        (possible > 0).then(|| self.lane_instructions as f64 / possible as f64)
    }

    /// Adds what others cost.
    pub fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.lane_instructions += other.lane_instructions;
        self.execute += other.execute;
        self.waits.iter_mut().zip(other.waits).for_each(|(sum, cycles)| *sum += cycles);
    }
}

/// `cycles`, `instructions`, `lane_instructions` and `reasons`: every reason with its cycles.
impl Serialize for Cost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Reasons([u64; Cost::REASONS.len()]);
        impl Serialize for Reasons {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(Cost::REASONS.iter().zip(self.0))
            }
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cycles", &self.cycles())?;
        map.serialize_entry("instructions", &self.instructions)?;
        map.serialize_entry("lane_instructions", &self.lane_instructions)?;
        map.serialize_entry("reasons", &Reasons(self.reasons()))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_sums() {
        let mut waits = [0; Wait::ALL.len()];
        waits[Wait::Load as usize] = 30;
        waits[Wait::Finish as usize] = 5;
        let one = Cost { instructions: 4, lane_instructions: 6, execute: 5, waits };
        let mut sum = Cost::default();
        sum.add(&one);
        sum.add(&one);
        assert_eq!((sum.cycles(), sum.instructions, sum.lane_instructions), (80, 8, 12));
        assert_eq!((sum.simd(2), Cost::default().simd(2)), (Some(0.75), None));
        assert_eq!(sum.reasons().iter().sum::<u64>(), 80);
        let json = serde_json::to_value(sum).unwrap();
        assert_eq!((&json["cycles"], &json["reasons"]["execute"]), (&80.into(), &10.into()));
        assert_eq!((&json["reasons"]["load"], &json["reasons"]["finish"]), (&60.into(), &10.into()));
        assert_eq!(Cost::REASONS[1 + Wait::Division as usize], "division");
    }
}
