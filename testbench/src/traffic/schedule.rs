//! When packets arrive, in cycles of the array's clock.

use std::str::FromStr;

use super::Frame;
use crate::metrics::Clock;

/// Bytes that a frame takes on the wire besides its captured ones: preamble and start delimiter 8,
/// FCS 4, gap 12 (IEEE 802.3).
pub const WIRE_OVERHEAD_BYTES: u64 = 24;

/// The latest arrival, 146 years after the start: broken timestamps must not bring cycle counts
/// near their end.
const LATEST: u64 = u64::MAX >> 2;

/// How fast packets arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineRate {
    /// Back to back on a line of this many Gbit/s.
    Gbps(f64),
    /// At the capture's own times, from cycle 0 on.
    Trace,
    /// All at cycle 0: the ring takes them as fast as it can.
    Max,
}

/// Bits that `frame` takes on the wire, gap included.
pub fn wire_bits(frame: &Frame) -> u64 {
    (u64::from(frame.wire_length) + WIRE_OVERHEAD_BYTES) * 8
}

impl LineRate {
    /// The cycle of `clock` at which each frame has arrived whole; it never falls from a frame to
    /// the next, so that packets of a capture with times that go backwards arrive in the order of
    /// the file.
    pub fn arrivals(self, frames: &[Frame], clock: Clock) -> Vec<u64> {
        let gigahertz = clock.gigahertz();
        let cycles = |nanoseconds: u64| match clock {
            Clock::GIGAHERTZ => nanoseconds,
            _ => (nanoseconds as f64 * gigahertz) as u64,
        };
        match self {
            Self::Gbps(rate) => frames
                .iter()
                .scan(0_u64, |bits, frame| {
                    *bits += wire_bits(frame);
                    Some((*bits as f64 * gigahertz / rate).ceil() as u64)
                })
                .collect(),
            Self::Trace => {
                let first = frames.first().map_or(0, |frame| frame.timestamp);
                frames
                    .iter()
                    .scan(0_u64, |last, frame| {
                        let time = cycles(frame.timestamp.saturating_sub(first));
                        *last = (*last).max(time.min(LATEST));
                        Some(*last)
                    })
                    .collect()
            }
            Self::Max => vec![0; frames.len()],
        }
    }
}

impl FromStr for LineRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "trace" => Ok(Self::Trace),
            "max" => Ok(Self::Max),
            _ => match text.parse() {
                Ok(rate) if (0.001..=100_000.0).contains(&rate) => Ok(Self::Gbps(rate)),
                _ => Err(format!("`{text}`: expected Gbit/s (0.001 to 100000), `trace` or `max`")),
            },
        }
    }
}

impl std::fmt::Display for LineRate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gbps(rate) => write!(f, "{rate} Gbit/s"),
            Self::Trace => f.write_str("trace"),
            Self::Max => f.write_str("max"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(items: &[(u32, u64)]) -> Vec<Frame> {
        let frame =
            |&(wire_length, timestamp): &(u32, u64)| Frame { data: vec![], wire_length, timestamp, port: 0 };
        items.iter().map(frame).collect()
    }

    #[test]
    fn line_rate_counts_every_bit_on_the_wire() {
        // 60 captured bytes are 84 on the wire, 672 bits: 6.72 ns at 100 Gbit/s.
        let arrivals = LineRate::Gbps(100.0).arrivals(&frames(&[(60, 0); 4]), Clock::GIGAHERTZ);
        assert_eq!(arrivals, [7, 14, 21, 27]);
        assert_eq!(LineRate::Gbps(0.5).arrivals(&frames(&[(101, 0)]), Clock::GIGAHERTZ), [2000]);
    }

    #[test]
    fn trace_times_start_at_zero_and_never_fall() {
        let arrivals = LineRate::Trace
            .arrivals(&frames(&[(60, 500), (60, 700), (60, 600), (60, 100), (60, 900)]), Clock::GIGAHERTZ);
        assert_eq!(arrivals, [0, 200, 200, 200, 400]);
        assert_eq!(LineRate::Max.arrivals(&frames(&[(60, 500), (60, 700)]), Clock::GIGAHERTZ), [0, 0]);
        assert!(LineRate::Trace.arrivals(&[], Clock::GIGAHERTZ).is_empty());
        assert_eq!(
            LineRate::Trace.arrivals(&frames(&[(60, 0), (60, u64::MAX)]), Clock::GIGAHERTZ),
            [0, LATEST]
        );
    }

    #[test]
    fn a_slower_clock_has_fewer_cycles_between_packets() {
        let clock = "250".parse().unwrap();
        let frames = frames(&[(101, 500), (101, 900), (101, 1300)]);
        assert_eq!(LineRate::Gbps(0.5).arrivals(&frames, clock), [500, 1000, 1500]);
        assert_eq!(LineRate::Trace.arrivals(&frames, clock), [0, 100, 200]);
        assert_eq!(LineRate::Max.arrivals(&frames, clock), [0, 0, 0]);
    }

    #[test]
    fn text() {
        assert_eq!("trace".parse(), Ok(LineRate::Trace));
        assert_eq!("max".parse(), Ok(LineRate::Max));
        assert_eq!("12.5".parse(), Ok(LineRate::Gbps(12.5)));
        for text in ["", "fast", "0", "-1", "nan", "inf", "1e9"] {
            assert!(text.parse::<LineRate>().unwrap_err().contains("expected Gbit/s"), "{text}");
        }
    }
}
