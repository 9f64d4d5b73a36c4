//! The clock that cycles are told at.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// Clock of the array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    megahertz: f64,
}

impl Clock {
    /// What a simulation is told at if nothing else is said: a cycle is a nanosecond.
    pub const GIGAHERTZ: Self = Self { megahertz: 1000.0 };

    /// A clock of so many kHz.
    #[must_use]
    pub fn from_kilohertz(kilohertz: u32) -> Self {
        Self { megahertz: f64::from(kilohertz) / 1e3 }
    }

    /// In MHz.
    #[must_use]
    pub const fn megahertz(self) -> f64 {
        self.megahertz
    }

    /// In GHz: bits a cycle times this are Gbit/s, nanoseconds times this are cycles.
    #[must_use]
    pub fn gigahertz(self) -> f64 {
        self.megahertz / 1e3
    }

    /// Nanoseconds of a cycle.
    #[must_use]
    pub fn nanoseconds(self) -> f64 {
        1e3 / self.megahertz
    }
}

impl FromStr for Clock {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let megahertz = text.parse().ok().filter(|megahertz| (1.0..=10_000.0).contains(megahertz));
        megahertz.map(|megahertz| Self { megahertz }).ok_or_else(|| "expected MHz, 1 to 10000".to_string())
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::GIGAHERTZ {
            f.write_str("1 GHz")
        } else {
            write!(f, "{} MHz", self.megahertz)
        }
    }
}

impl Serialize for Clock {
    /// As MHz.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.megahertz.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_units() {
        let clock: Clock = "250".parse().unwrap();
        assert_eq!(
            (clock.to_string(), clock.gigahertz(), clock.nanoseconds()),
            ("250 MHz".into(), 0.25, 4.0)
        );
        assert_eq!("1000".parse(), Ok(Clock::GIGAHERTZ));
        assert_eq!(Clock::GIGAHERTZ.to_string(), "1 GHz");
        assert_eq!(Clock::from_kilohertz(12_500).to_string(), "12.5 MHz");
        for text in ["", "0", "-1", "0.9", "10001", "nan", "inf", "fast", "1 GHz"] {
            assert_eq!(text.parse::<Clock>(), Err("expected MHz, 1 to 10000".to_string()), "{text}");
        }
    }
}
