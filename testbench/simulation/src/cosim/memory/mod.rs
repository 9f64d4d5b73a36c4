//! The shared memory behind the AXI4 masters of the array: one byte space, one or more channels
//! with queues of their own.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `channel` | one AXI4 slave: bursts, answers, back-pressure |
//! | `responder` | answers that wait for their time |
//! | `dram` | the timing of a channel of DRAM |
//! | `disturbance` | long pauses and errors at random |
//! | `rules` | what is checked of the design |
//! | `statistics` | what the memory did |
//!
//! Timing: `sample` sees the outputs of the design just before a rising edge, `drive` sets its
//! inputs just after it, so that every answer is registered and no `valid` depends on a `ready` of
//! the same cycle. Reads and writes are independent of each other. A write changes the memory when
//! its answer is given and a read looks then, the latest that AXI4 allows, so that a design that
//! does not wait for its answers is found out.

mod channel;
mod disturbance;
mod dram;
mod responder;
mod rules;
mod statistics;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use verilator_sys::Model;

use super::ports::Axi4Ports;
use crate::iss::MemoryImage;
use channel::{Channel, Shared};
use rules::Outstanding;
use statistics::MOST_ERROR_RESPONSES;

pub use disturbance::Disturbance;
pub use dram::DramTiming;
pub use statistics::{ChannelStatistics, ErrorResponse, MemoryStatistics};

/// AXI response: transfer done.
pub const OKAY: u8 = 0;
/// AXI response: the memory could not do it.
pub const SLVERR: u8 = 2;
/// AXI response: nothing at this address.
pub const DECERR: u8 = 3;

/// Cycles from the edge at which a request is taken to the first edge at which its answer can be
/// taken. Every channel gives one line and one write response a cycle at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// Always so many, at least 1; answers come in the order of the requests.
    Fixed(u32),
    /// Evenly distributed from the first to the second number, both included and at least 1;
    /// answers to different IDs may overtake each other, those of one ID do not.
    Random(u32, u32),
    /// That of a channel of DRAM; answers to different IDs may overtake each other, and there is
    /// less bandwidth.
    Dram(DramTiming),
}

impl fmt::Display for Latency {
    /// As [`FromStr`] takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(cycles) => write!(f, "{cycles}"),
            Self::Random(low, high) => write!(f, "{low}-{high}"),
            Self::Dram(timing) => write!(f, "dram:{timing}"),
        }
    }
}

impl FromStr for Latency {
    type Err = String;

    /// Cycles such as `60`, a range such as `1-60` (1 to 100,000 cycles), or `dram`, also with
    /// [times](DramTiming) such as `dram:banks=8,line=2`.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|n| (1..=100_000).contains(n));
        let timing = match text.split_once(':') {
            Some(("dram", timing)) => Some(timing),
            None if text == "dram" => Some(""),
            _ => None,
        };
        if let Some(timing) = timing {
            return timing.parse().map(Self::Dram);
        }
        let latency = match text.split_once('-') {
            None => number(text).map(Self::Fixed),
            Some((low, high)) => {
                number(low).zip(number(high)).filter(|(l, h)| l <= h).map(|(l, h)| Self::Random(l, h))
            }
        };
        latency.ok_or("expected cycles such as 60, a range such as 1-60 (1 to 100000), or dram".to_string())
    }
}

/// How the memory behaves.
#[derive(Clone, Debug)]
pub struct MemoryOptions {
    /// Latency of reads and writes.
    pub latency: Latency,
    /// Chance in percent that a `ready` is low in a cycle; 0 to 90.
    pub stall_percent: u8,
    /// Seed of the random latencies and stalls.
    pub seed: u64,
    /// Addresses (first, last) that answer SLVERR, to try out how errors are handled.
    pub failing: Vec<(u32, u32)>,
}

impl Default for MemoryOptions {
    /// 100 cycles, no stalls, no failing addresses.
    fn default() -> Self {
        Self { latency: Latency::Fixed(100), stall_percent: 0, seed: 0, failing: Vec::new() }
    }
}

/// The AXI4 slaves of one [`MemoryImage`].
///
/// They take INCR bursts of whole lines, any number outstanding, write data before or after its
/// address.
pub struct Axi4Memory {
    channels: Vec<Channel>,
    shared: Shared,
    /// Cycle at the last reset, and the last one seen.
    cycles: [u64; 2],
}

impl Axi4Memory {
    /// A memory at these ports, one for each channel.
    #[must_use]
    pub fn new(ports: Vec<Axi4Ports>, options: MemoryOptions) -> Self {
        let count = ports.len();
        let channel = |(number, ports)| Channel::new(ports, number, count, options.latency);
        let channels = ports.into_iter().enumerate().map(channel).collect();
        let random = ChaCha8Rng::seed_from_u64(options.seed);
        Self {
            channels,
            shared: Shared {
                options,
                disturbance: Disturbance::default(),
                random,
                outstanding: Outstanding::default(),
                ring: 0..0,
            },
            cycles: [0; 2],
        }
    }

    /// Lets the memory behave like this from now on.
    pub fn disturb(&mut self, disturbance: Disturbance) {
        self.shared.disturbance = disturbance;
    }

    /// Counts the lines that are read from these addresses apart, from now on.
    pub fn count_ring(&mut self, addresses: Range<u32>) {
        self.shared.ring = addresses;
    }

    /// Forgets all requests and the statistics, as at a reset of the bus.
    pub fn reset(&mut self, model: &mut Model) {
        let (count, latency) = (self.channels.len(), self.shared.options.latency);
        for (number, channel) in self.channels.iter_mut().enumerate() {
            *channel = Channel::new(channel.ports(), number, count, latency);
            channel.reset(model);
        }
        self.shared.outstanding = Outstanding::default();
        self.cycles = [0; 2];
    }

    /// What the memory did since the last reset.
    #[must_use]
    pub fn statistics(&self) -> MemoryStatistics {
        let [first, last] = self.cycles;
        let channels = self.channels.iter().map(Channel::statistics).collect();
        let mut error_responses: Vec<_> =
            self.channels.iter().flat_map(|channel| channel.error_responses()).copied().collect();
        error_responses.sort_by_key(|response| response.cycle);
        error_responses.truncate(MOST_ERROR_RESPONSES);
        MemoryStatistics { cycles: last - first, channels, error_responses }
    }

    /// Requests taken and not answered.
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.channels.iter().map(Channel::outstanding).sum()
    }

    /// The first rule that the design broke, as a sentence.
    #[must_use]
    #[inline]
    pub fn violation(&self) -> Option<&str> {
        let shared = self.shared.outstanding.violation();
        self.channels.iter().find_map(Channel::violation).or(shared)
    }

    /// Sees the outputs of the design before the rising edge that ends `cycle`.
    #[inline]
    pub fn sample(&mut self, model: &Model, cycle: u64) {
        self.cycles[1] = cycle + 1;
        for channel in &mut self.channels {
            channel.sample(model, cycle, &mut self.shared);
        }
    }

    /// Sets the inputs of the design for `cycle`, which has just begun.
    #[inline]
    pub fn drive(&mut self, model: &mut Model, image: &mut MemoryImage, cycle: u64) {
        for channel in &mut self.channels {
            channel.drive(model, image, cycle, &mut self.shared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_read_and_printed() {
        let ddr = DramTiming { line: 2, ..DramTiming::default() };
        let cases = [
            ("60", Latency::Fixed(60)),
            ("1-60", Latency::Random(1, 60)),
            ("dram:line=2", Latency::Dram(ddr)),
        ];
        for (text, latency) in cases {
            assert_eq!(text.parse(), Ok(latency));
            assert_eq!(latency.to_string().parse(), Ok(latency));
        }
        assert_eq!("dram".parse(), Ok(Latency::Dram(DramTiming::default())));
        for wrong in ["0", "60-1", "1-", "sram", "", "dramatic", "100001"] {
            assert!(wrong.parse::<Latency>().unwrap_err().starts_with("expected cycles"), "{wrong}");
        }
        assert!("dram:line=0".parse::<Latency>().unwrap_err().starts_with("line: `0`"));
    }
}
