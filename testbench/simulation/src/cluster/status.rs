//! What a user looks for in the network interface: queue pairs, and counters by their names.

use std::fmt;

use hermes_rtl::net::{state, word};
use hermes_rtl::types::{counter, QUEUE_PAIRS};

use crate::cosim::{CosimError, Device, Host};

/// Names of the counters, as docs/network.md explains them.
const COUNTERS: [(u64, &str); 30] = [
    (counter::FRAMES_OUT, "frames sent"),
    (counter::FRAMES_IN, "frames written"),
    (counter::FAILED, "commands failed"),
    (counter::RESENT, "packets sent again"),
    (counter::TIMEOUTS, "time-outs"),
    (counter::NAKS_OUT, "NAKs sent"),
    (counter::NAKS_IN, "NAKs received"),
    (counter::STRAY, "answers nobody waits for"),
    (counter::NO_ROOM, "dropped: no room"),
    (counter::CAUSE_1, "dropped: damaged or short"),
    (counter::CAUSE_1 + 1, "dropped: IPv4 header"),
    (counter::CAUSE_1 + 2, "dropped: not UDP 4791"),
    (counter::CAUSE_1 + 3, "dropped: not for us"),
    (counter::CAUSE_1 + 4, "dropped: version or partition"),
    (counter::CAUSE_1 + 5, "dropped: ICRC"),
    (counter::CAUSE_1 + 6, "dropped: opcode"),
    (counter::UNKNOWN, "dropped: no queue pair"),
    (counter::REFUSED, "dropped: not served"),
    (counter::REPEATED, "packets that came again"),
    (counter::NEWER, "packets too early"),
    (counter::DOWN, "queue pairs down"),
    (counter::FETCHED, "commands fetched from queues"),
    (counter::HART_CYCLES, "cycles of harts at work"),
    (counter::NOT_READY, "RNR NAKs received"),
    (counter::LOCKS_REFUSED, "L2: lines not locked"),
    (counter::LOCKS_EXPIRED, "L2: locks expired"),
    (counter::READ_HITS, "L2: lines read that it had"),
    (counter::READ_MISSES, "L2: lines read from memory"),
    (counter::COMMAND_READ_HITS, "L2: harts' lines that it had"),
    (counter::COMMAND_READ_MISSES, "L2: harts' lines from memory"),
];

/// Name of a counter, as [`counter`] numbers them.
#[must_use]
pub fn counter_name(number: u64) -> String {
    let found = COUNTERS.iter().find(|(counter, _)| *counter == number);
    found.map_or_else(|| format!("counter {number}"), |(_, name)| (*name).to_string())
}

/// A queue pair.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PairStatus {
    /// Its number.
    pub number: u32,
    /// UP, CLOSING or ERROR.
    pub state: String,
    /// The peer's queue pair.
    pub remote: u32,
    /// The peer's IPv4 address.
    pub peer: String,
    /// First packet sequence number that was sent.
    pub first_sent: u32,
    /// Packet sequence number that is expected next.
    pub expected: u32,
}

/// The state of a network interface.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct NetStatus {
    /// Queue pairs that are not in RESET.
    pub pairs: Vec<PairStatus>,
    /// All counters, by their names.
    pub counters: Vec<(String, u32)>,
}

impl NetStatus {
    /// The value of a counter, as [`counter`] numbers them; 0 of one that there is none of.
    #[must_use]
    pub fn counter(&self, number: u64) -> u32 {
        let place = counter::all().position(|one| one == number);
        place.and_then(|place| self.counters.get(place)).map_or(0, |(_, value)| *value)
    }

    /// Reads it.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn read(host: &mut Host<impl Device>) -> Result<Self, CosimError> {
        let mut pairs = Vec::new();
        for number in 0..QUEUE_PAIRS as u32 {
            let state = match u64::from(host.queue_pair_word(number, word::STATE)? & 0xf) {
                state::RESET => continue,
                state::UP => "UP".to_string(),
                state::ERROR => "ERROR".to_string(),
                state::CLOSING => "CLOSING".to_string(),
                other => format!("state {other}"),
            };
            pairs.push(PairStatus {
                number,
                state,
                remote: host.queue_pair_word(number, word::REMOTE)?,
                peer: std::net::Ipv4Addr::from(host.queue_pair_word(number, word::IP)?).to_string(),
                first_sent: host.queue_pair_word(number, word::SEND)?,
                expected: host.queue_pair_word(number, word::EXPECT)?,
            });
        }
        let mut counters = Vec::new();
        for number in counter::all() {
            counters.push((counter_name(number), host.network_counter(number)?));
        }
        Ok(Self { pairs, counters })
    }
}

impl fmt::Display for NetStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "    queue pair  state  peer             remote  first PSN sent  next PSN expected")?;
        for pair in &self.pairs {
            let PairStatus { number, state, remote, peer, first_sent, expected } = pair;
            writeln!(
                f,
                "    {number:>10}  {state:<5}  {peer:<15}  {remote:>6}  {first_sent:>14}  {expected:>17}"
            )?;
        }
        for (name, value) in &self.counters {
            writeln!(f, "    {name:<30} {value:>10}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<String> = counter::all().map(counter_name).collect();
        assert_eq!(names.len(), counter::all().count());
        let nameless: Vec<_> = names.iter().filter(|name| name.starts_with("counter ")).collect();
        assert!(nameless.is_empty(), "{nameless:?}: in COUNTERS, and in docs/network.md");
    }
}
