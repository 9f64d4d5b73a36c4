//! When packets arrive: processes of arrivals, in cycles of the array's clock.
//!
//! Random arrivals are the same on every machine: the random bits are those of ChaCha with eight
//! rounds, the logarithm is that of the crate `libm`, which is computed with sums and products
//! alone, and these are exact to the bit in IEEE 754 arithmetic.

use std::fmt;
use std::str::FromStr;

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Frame;
use crate::clock::Clock;

/// Bytes that a frame takes on the wire besides its captured ones: preamble and start delimiter 8,
/// FCS 4, gap 12 (IEEE 802.3).
pub const WIRE_OVERHEAD_BYTES: u64 = 24;

/// The latest arrival, 146 years after the start: broken timestamps must not bring cycle counts
/// near their end.
const LATEST: u64 = u64::MAX >> 2;

/// Gbit/s that a rate may have.
const RATES: std::ops::RangeInclusive<f64> = 0.001..=100_000.0;
/// How many times as fast as the mean rate the port of Poisson arrivals is unless said.
const PORT_SPEED: f64 = 4.0;
/// The most frames that a burst has in the mean.
const LONGEST_BURST: f64 = 1e9;
/// Limits of how many times as fast as it was a capture comes.
const SPEED_UPS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// Bits that `frame` takes on the wire, gap included: 8 (B + 20) for a frame of B bytes with FCS.
pub fn wire_bits(frame: &Frame) -> u64 {
    (u64::from(frame.wire_length) + WIRE_OVERHEAD_BYTES) * 8
}

/// A rate from a cycle on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateStep {
    /// Gbit/s on the wire.
    pub rate: f64,
    /// The first cycle in which it holds.
    pub from: u64,
}

/// How packets arrive. Rates are Gbit/s on the wire ([`wire_bits`]); a packet arrives with its last
/// bit.
///
/// The text of a process, which [`FromStr`] reads and [`Display`](fmt::Display) writes, is one of
/// `constant:R`, `poisson:R[,port=P]`, `onoff:R,peak=P,burst=N`, `step:R1@T1,R2@T2,..`, `trace[:F]`
/// and `max`.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalProcess {
    /// Back to back on a line of this rate.
    Constant {
        /// Rate of the line.
        rate: f64,
    },
    /// A Poisson process: the gaps between the times at which frames come are exponential, whatever
    /// the frames' lengths are; the frames then leave a port one behind the other.
    Poisson {
        /// Mean rate.
        rate: f64,
        /// Rate of the port, above the mean one; four times the mean one unless said.
        port: f64,
    },
    /// Bursts of a geometric number of frames, back to back, from cycle 0 on, with exponential
    /// pauses between them. The mean pause gives the mean rate.
    OnOff {
        /// Mean rate.
        rate: f64,
        /// Rate within a burst, at least the mean one.
        peak: f64,
        /// Mean number of frames of a burst, at least 1.
        burst: f64,
    },
    /// Back to back on a line whose rate changes at these cycles, which rise. Nothing comes before
    /// the first.
    Step(Vec<RateStep>),
    /// At the times of the capture, from cycle 0 on, so many times as fast.
    Trace {
        /// How many times as fast as the capture; 1 leaves its times as they are.
        speed_up: f64,
    },
    /// All at cycle 0: the array takes them as fast as it can, and no packet has a time at which it
    /// should have come.
    Max,
}

/// What is known of a frame before it arrives.
#[derive(Clone, Copy)]
struct Coming {
    bits: u64,
    timestamp: u64,
}

impl ArrivalProcess {
    /// The cycle of `clock` at which each of `frames` has arrived whole; it never falls from a
    /// frame to the next. `seed` decides what is random; the same seed gives the same cycles on
    /// every machine.
    pub fn arrivals(&self, frames: &[Frame], clock: Clock, seed: u64) -> Vec<u64> {
        let coming = |frame: &Frame| Coming { bits: wire_bits(frame), timestamp: frame.timestamp };
        self.schedule(&frames.iter().map(coming).collect::<Vec<_>>(), clock, seed)
    }

    /// As [`Self::arrivals`], of frames of which only the lengths in bytes without FCS are known:
    /// without times, all of a [`Self::Trace`] arrive at cycle 0.
    pub fn arrivals_of_lengths(&self, lengths: &[u32], clock: Clock, seed: u64) -> Vec<u64> {
        let coming =
            |length: &u32| Coming { bits: (u64::from(*length) + WIRE_OVERHEAD_BYTES) * 8, timestamp: 0 };
        self.schedule(&lengths.iter().map(coming).collect::<Vec<_>>(), clock, seed)
    }

    /// Whether each packet has a time at which it should come, from which its delay counts:
    /// whatever the array does, for all but [`Self::Max`].
    #[must_use]
    pub fn is_scheduled(&self) -> bool {
        !matches!(self, Self::Max)
    }

    /// Whether a seed changes something.
    #[must_use]
    pub fn is_random(&self) -> bool {
        matches!(self, Self::Poisson { .. } | Self::OnOff { .. })
    }

    fn schedule(&self, frames: &[Coming], clock: Clock, seed: u64) -> Vec<u64> {
        // Cycles that a bit takes on a line of 1 Gbit/s.
        let gigahertz = clock.gigahertz();
        let total: u64 = frames.iter().map(|frame| frame.bits).sum();
        let mean_bits = total as f64 / frames.len().max(1) as f64;
        let mut random = Random::new(seed);
        let mut cycles = match self {
            Self::Constant { rate } => steps(frames, &[RateStep { rate: *rate, from: 0 }], gigahertz),
            Self::Step(rates) => steps(frames, rates, gigahertz),
            Self::Poisson { rate, port } => {
                let (mean_gap, mut comes, mut free) = (mean_bits * gigahertz / rate, 0.0, 0.0);
                let arrival = |frame: &Coming| {
                    comes += mean_gap * random.exponential();
                    free = f64::max(comes, free) + frame.bits as f64 * gigahertz / port;
                    free.ceil() as u64
                };
                frames.iter().map(arrival).collect()
            }
            Self::OnOff { rate, peak, burst } => {
                let mean_pause = burst * mean_bits * gigahertz * (1.0 / rate - 1.0 / peak);
                let mut time = 0.0;
                let arrival = |frame: &Coming| {
                    time += frame.bits as f64 * gigahertz / peak;
                    let arrival = time.ceil() as u64;
                    if random.unit() * burst <= 1.0 {
                        time += mean_pause * random.exponential();
                    }
                    arrival
                };
                frames.iter().map(arrival).collect()
            }
            Self::Trace { speed_up } => {
                let first = frames.first().map_or(0, |frame| frame.timestamp);
                let cycles = |nanoseconds: u64| match clock {
                    Clock::GIGAHERTZ if *speed_up == 1.0 => nanoseconds,
                    _ => (nanoseconds as f64 * gigahertz / speed_up) as u64,
                };
                let time = |frame: &Coming| cycles(frame.timestamp.saturating_sub(first));
                frames.iter().map(time).collect()
            }
            Self::Max => vec![0; frames.len()],
        };
        // A capture's times may go backwards: its packets arrive in the order of the file.
        let mut last = 0;
        for cycle in &mut cycles {
            last = last.max((*cycle).min(LATEST));
            *cycle = last;
        }
        cycles
    }

    /// Reads what `hermes run --line-rate` takes: Gbit/s, `trace` or `max`.
    ///
    /// # Errors
    /// It is none of them, in words for the user.
    pub fn from_line_rate(text: &str) -> Result<Self, String> {
        match text {
            "trace" => Ok(Self::Trace { speed_up: 1.0 }),
            "max" => Ok(Self::Max),
            _ => match text.parse() {
                Ok(rate) if RATES.contains(&rate) => Ok(Self::Constant { rate }),
                _ => Err(format!("`{text}`: expected Gbit/s (0.001 to 100000), `trace` or `max`")),
            },
        }
    }

    /// As [`Display`](fmt::Display), but a constant rate is `R Gbit/s`: what is called a line rate.
    #[must_use]
    pub fn line_rate(&self) -> String {
        match self {
            Self::Constant { rate } => format!("{rate} Gbit/s"),
            _ => self.to_string(),
        }
    }
}

/// The arrivals of frames that stand back to back on a line with these rates.
fn steps(frames: &[Coming], rates: &[RateStep], gigahertz: f64) -> Vec<u64> {
    let mut rates = rates.iter().peekable();
    let Some(mut now) = rates.next().copied() else { return vec![0; frames.len()] };
    // Bits that came before `now`.
    let (mut before, mut bits) = (0.0, 0_u64);
    let arrival = |frame: &Coming| {
        bits += frame.bits;
        while let Some(next) = rates.peek() {
            let until = before + (next.from - now.from) as f64 * now.rate / gigahertz;
            if bits as f64 <= until {
                break;
            }
            (before, now) = (until, **next);
            rates.next();
        }
        let cycles = ((bits as f64 - before) * gigahertz / now.rate).ceil() as u64;
        now.from.saturating_add(cycles)
    };
    frames.iter().map(arrival).collect()
}

/// Random numbers that are the same on every machine.
struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Above 0 and up to 1, all multiples of 2^-53 alike.
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponential, of mean 1: at least 0.
    fn exponential(&mut self) -> f64 {
        -libm::log(self.unit())
    }
}

/// What a process is written as, and what its words mean.
const EXPECTED: &str = "expected `constant:R`, `poisson:R[,port=P]`, `onoff:R,peak=P,burst=N`, \
                        `step:R1@T1,R2@T2,..`, `trace[:F]` or `max`";

impl FromStr for ArrivalProcess {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, rest) = match text.split_once(':') {
            Some((word, rest)) => (word, Some(rest)),
            None => (text, None),
        };
        let needed = || rest.ok_or_else(|| format!("`{text}`: no rate; {EXPECTED}"));
        match word {
            "constant" => Ok(Self::Constant { rate: rate("rate", needed()?)? }),
            "poisson" => {
                let [port] = fields(needed()?, ["port"])?;
                let mean = rate("rate", first(needed()?))?;
                let port = match port {
                    Some(port) => rate("port", port)?,
                    None => PORT_SPEED * mean,
                };
                match port > mean {
                    true => Ok(Self::Poisson { rate: mean, port }),
                    false => Err(format!("port `{port}`: expected more than the mean rate, {mean} Gbit/s")),
                }
            }
            "onoff" => {
                let [peak, burst] = fields(needed()?, ["peak", "burst"])?;
                let mean = rate("rate", first(needed()?))?;
                let lacks = |name| format!("`{text}`: no {name}; expected `onoff:R,peak=P,burst=N`");
                let peak = rate("peak", peak.ok_or_else(|| lacks("peak"))?)?;
                if peak < mean {
                    return Err(format!("peak `{peak}`: expected at least the mean rate, {mean} Gbit/s"));
                }
                let burst = number("burst", burst.ok_or_else(|| lacks("burst"))?, &(1.0..=LONGEST_BURST))
                    .map_err(|error| format!("{error} frames in the mean"))?;
                Ok(Self::OnOff { rate: mean, peak, burst })
            }
            "step" => rate_steps(needed()?).map(Self::Step),
            "trace" => {
                let speed_up = rest.map_or(Ok(1.0), |rest| number("speed-up", rest, &SPEED_UPS))?;
                Ok(Self::Trace { speed_up })
            }
            "max" if rest.is_none() => Ok(Self::Max),
            _ => Err(format!("`{text}`: {EXPECTED}")),
        }
    }
}

/// What stands in front of the first comma.
fn first(text: &str) -> &str {
    text.split(',').next().unwrap_or_default()
}

/// The values of the fields with these names, which stand behind the first one, each once at most.
fn fields<'a, const N: usize>(text: &'a str, names: [&str; N]) -> Result<[Option<&'a str>; N], String> {
    let mut values = [None; N];
    for field in text.split(',').skip(1) {
        let known = field.split_once('=').and_then(|(name, value)| {
            names.iter().position(|known| *known == name).map(|place| (place, value))
        });
        let all = names.map(|name| format!("`{name}=`")).join(" and ");
        let Some((place, value)) = known else { return Err(format!("`{field}`: expected {all}")) };
        if values[place].replace(value).is_some() {
            return Err(format!("`{field}`: expected {all} once"));
        }
    }
    Ok(values)
}

/// A number within `range`, called `name`.
fn number(name: &str, text: &str, range: &std::ops::RangeInclusive<f64>) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| range.contains(value));
    value.ok_or_else(|| format!("{name} `{text}`: expected {} to {}", range.start(), range.end()))
}

/// A rate, called `name`.
fn rate(name: &str, text: &str) -> Result<f64, String> {
    number(name, text, &RATES).map_err(|error| format!("{error} Gbit/s"))
}

/// The steps of `step:`.
fn rate_steps(text: &str) -> Result<Vec<RateStep>, String> {
    let mut steps: Vec<RateStep> = Vec::new();
    for step in text.split(',') {
        let (rates, from) =
            step.split_once('@').ok_or_else(|| format!("step `{step}`: expected RATE@CYCLE"))?;
        let rate = rate("rate", rates).map_err(|error| format!("step `{step}`: {error}"))?;
        let from = from.parse().ok().filter(|from| *from <= LATEST);
        let from = from.ok_or_else(|| format!("step `{step}`: expected a cycle, 0 to {LATEST}"))?;
        if let Some(last) = steps.last().filter(|last| last.from >= from) {
            return Err(format!(
                "step `{step}`: expected a cycle above {}, that of the step before",
                last.from
            ));
        }
        steps.push(RateStep { rate, from });
    }
    Ok(steps)
}

impl fmt::Display for ArrivalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { rate } => write!(f, "constant:{rate}"),
            Self::Poisson { rate, port } if *port == PORT_SPEED * rate => write!(f, "poisson:{rate}"),
            Self::Poisson { rate, port } => write!(f, "poisson:{rate},port={port}"),
            Self::OnOff { rate, peak, burst } => write!(f, "onoff:{rate},peak={peak},burst={burst}"),
            Self::Step(steps) => {
                let steps = steps.iter().map(|step| format!("{}@{}", step.rate, step.from));
                write!(f, "step:{}", steps.collect::<Vec<_>>().join(","))
            }
            Self::Trace { speed_up } if *speed_up == 1.0 => f.write_str("trace"),
            Self::Trace { speed_up } => write!(f, "trace:{speed_up}"),
            Self::Max => f.write_str("max"),
        }
    }
}

#[cfg(test)]
#[path = "arrivals_tests.rs"]
mod tests;
