//! Who serves the commands of a node's kernel, as delays between its network interface and the
//! switch: the baselines of ComP-Net's evaluation (PACT 2018, section 5).
//!
//! The node itself works as ever: its hardware serves commands faster than any thread of a host.
//! What such a thread would add is added on the way, by the headers of the frames ([`Served`]
//! commands see it as latency and rate). So a baseline has one shared list, no locks, no cache
//! misses, and a network interface as near to the memory as ours: ratios to it are lower bounds.
//!
//! [`Served`]: crate::cluster::Served

mod costs;
mod frames;
mod messages;
#[cfg(test)]
mod tests;

pub use costs::{CostsError, ServiceCosts};
pub(super) use messages::Service;

use super::error::ClusterError;

/// Longest of the delays, in cycles.
pub const LONGEST: u32 = 1_000_000;
/// Cycles from the store that publishes a command to the last beat of its frame, by the hardware
/// of the node: the delays replace them.
pub const OWN_PATH: u64 = 46;
/// Most threads.
const MOST_THREADS: u32 = 64;
/// Most queues: one for each warp slot of an array.
const MOST_QUEUES: u32 = 1_024;

/// Delays of a service thread, in cycles of 1 ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceDelays {
    /// From the store of a command until the thread can see it.
    pub visible: u32,
    /// A look at one queue.
    pub poll: u32,
    /// A call of the library, and posting the command.
    pub service: u32,
    /// From the thread to the network interface.
    pub doorbell: u32,
    /// From the network interface until the kernel sees that its command is complete.
    pub completion: u32,
}

impl ServiceDelays {
    /// The delays with their names.
    fn named(&self) -> [(&'static str, u32); 5] {
        [
            ("visible", self.visible),
            ("poll", self.poll),
            ("service", self.service),
            ("doorbell", self.doorbell),
            ("completion", self.completion),
        ]
    }
}

/// Who serves the commands of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ServiceOptions {
    /// The delays.
    #[serde(flatten)]
    pub delays: ServiceDelays,
    /// Threads that serve: 1 to 64.
    pub threads: u32,
    /// Queues that they look at: 1 to 1,024.
    pub queues: u32,
}

impl ServiceOptions {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// [`ClusterError::Option`] for the first that is outside.
    pub fn check(&self) -> Result<(), ClusterError> {
        for (name, value) in self.delays.named() {
            let expected = format!("0 to {LONGEST} cycles");
            ClusterError::unless(value <= LONGEST, name, value, &expected)?;
        }
        let Self { threads, queues, .. } = *self;
        let expected = format!("1 to {MOST_THREADS}");
        ClusterError::unless((1..=MOST_THREADS).contains(&threads), "service threads", threads, &expected)?;
        let expected = format!("1 to {MOST_QUEUES}");
        ClusterError::unless((1..=MOST_QUEUES).contains(&queues), "service queues", queues, &expected)
    }
}

/// What the threads did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceCounts {
    /// Messages that they served.
    pub messages: u64,
    /// WRITEs of 8 bytes and atomic operations that were taken for signals of puts before them, and
    /// so for none.
    #[serde(default)]
    pub signals: u64,
    /// Cycles, summed over threads, that they looked for a message that was there, and served it.
    pub busy_cycles: u64,
    /// Cycles, summed over messages, from where a message could be seen until it left.
    pub waiting_cycles: u64,
}
