//! When packets passed the stages.

use serde::{Deserialize, Serialize};

use super::distribution::interquartile_range;
use super::Distribution;
use crate::cosim::PacketTimes;

/// When packets passed the stages, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delays {
    /// Whether delays count from the time at which a packet should come. If not (`--arrivals max`)
    /// they count from the cycle in which it found a slot, and tell what a packet does in a full
    /// ring, not what it would wait on a line.
    pub delays_count_from_schedule: bool,
    /// Commit less arrival. With a schedule a packet arrives when that says, even if it finds no
    /// slot free.
    pub delay: Distribution,
    /// Start less arrival: time until the packet's warp was issued.
    pub queuing: Distribution,
    /// Commit less start: time on the core and in the DCQ.
    pub service: Distribution,
    /// Interquartile range of the mean delays of the warps: the delay variance of the paper on
    /// Hermes, whose grain is the warp.
    pub delay_iqr_of_warps: f64,
    /// What delay and latency are made of.
    pub stages: Stages,
    /// First beat at the packet ports less arrival, of the packets that left there (RFC 1242,
    /// store and forward).
    pub latency: Option<Distribution>,
}

/// Differences of neighbours in the times of a packet, in cycles. Those of a packet add up to its
/// delay, and with `egress` to its latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// In the slot less arrival: the wait for a free slot.
    pub ring: Distribution,
    /// Start less in the slot: the wait for the rest of the warp and for a warp slot of a core.
    pub forming_and_issue: Distribution,
    /// Formed less in the slot: the wait for the rest of the warp; seen with a retire trace.
    pub forming: Option<Distribution>,
    /// Start less formed: the wait for a warp slot of a core; seen with a retire trace.
    pub issue: Option<Distribution>,
    /// Finish less start: the warp on the core.
    pub execution: Distribution,
    /// Commit less finish: the wait for earlier packets in the delay commit queue.
    pub dcq: Distribution,
    /// First beat at the packet ports less commit, of the packets that left there.
    pub egress: Option<Distribution>,
}

/// The values of `figure`, where packets have one.
fn of_some(times: &[PacketTimes], figure: impl Fn(&PacketTimes) -> Option<u64>) -> Option<Distribution> {
    let values: Vec<_> = times.iter().filter_map(figure).collect();
    (!values.is_empty()).then(|| Distribution::of(values.into_iter()))
}

impl Stages {
    /// The stages of packets with these times.
    #[must_use]
    pub fn of(times: &[PacketTimes]) -> Self {
        let distribution = |figure: fn(&PacketTimes) -> u64| Distribution::of(times.iter().map(figure));
        Self {
            ring: distribution(|t| t.in_slot - t.arrival),
            forming_and_issue: distribution(|t| t.start - t.in_slot),
            forming: of_some(times, |t| t.formed.map(|formed| formed - t.in_slot)),
            issue: of_some(times, |t| t.formed.map(|formed| t.start - formed)),
            execution: distribution(|t| t.finish - t.start),
            dcq: distribution(|t| t.commit - t.finish),
            egress: of_some(times, |t| t.sent.map(|sent| sent - t.commit)),
        }
    }
}

impl Delays {
    /// The delays of packets with these times, in commit order; whether their arrivals are those of
    /// a schedule.
    #[must_use]
    pub fn of(times: &[PacketTimes], scheduled: bool) -> Self {
        let distribution = |figure: fn(&PacketTimes) -> u64| Distribution::of(times.iter().map(figure));
        let of_warp = |packets: &[PacketTimes]| {
            packets.iter().map(|t| t.commit - t.arrival).sum::<u64>() as f64 / packets.len() as f64
        };
        // One warp is issued in a cycle at most.
        let same = |a: &PacketTimes, b: &PacketTimes| a.start == b.start;
        Self {
            delays_count_from_schedule: scheduled,
            delay: distribution(|t| t.commit - t.arrival),
            queuing: distribution(|t| t.start - t.arrival),
            service: distribution(|t| t.commit - t.start),
            delay_iqr_of_warps: interquartile_range(times.chunk_by(same).map(of_warp)),
            stages: Stages::of(times),
            latency: of_some(times, |t| t.sent.map(|sent| sent - t.arrival)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two warps, of three and one packets.
    fn times() -> Vec<PacketTimes> {
        let first = PacketTimes {
            arrival: 10,
            in_slot: 12,
            formed: Some(17),
            start: 20,
            finish: 50,
            commit: 54,
            sent: Some(60),
            core: 0,
            slot: 3,
        };
        let later = |arrival, sent| PacketTimes { arrival, in_slot: arrival, sent, ..first };
        let other = PacketTimes {
            arrival: 18,
            in_slot: 19,
            formed: None,
            start: 21,
            finish: 90,
            commit: 98,
            sent: None,
            ..first
        };
        vec![first, later(13, None), later(16, Some(61)), other]
    }

    #[test]
    fn stages_add_up_to_delay_and_latency() {
        let times = times();
        for packet in &times {
            let one = Delays::of(&[*packet], true);
            let Stages { ring, forming_and_issue, forming, issue, execution, dcq, egress } = one.stages;
            let (forming, issue) = (forming.unwrap_or_default().max, issue.unwrap_or_default().max);
            assert_eq!(forming + issue, packet.formed.map_or(0, |_| forming_and_issue.max));
            let delay = ring.max + forming_and_issue.max + execution.max + dcq.max;
            assert_eq!(delay, one.delay.max);
            assert_eq!(egress.map(|egress| delay + egress.max), one.latency.map(|latency| latency.max));
            assert_eq!(one.latency.is_some(), packet.sent.is_some());
        }
        let all = Delays::of(&times, true);
        assert_eq!((all.stages.ring.max, all.stages.forming_and_issue.max), (2, 8));
        assert_eq!((all.stages.execution.max, all.stages.dcq.max), (69, 8));
        assert_eq!((all.stages.egress.unwrap().min, all.latency.unwrap().max), (6, 50));
        let whole = all.stages.ring.mean + all.stages.forming_and_issue.mean;
        assert!((whole - all.queuing.mean).abs() < 1e-9);
    }

    #[test]
    fn warps_are_the_grain_of_the_variance() {
        // Mean delays of the warps: (44 + 41 + 38) / 3 = 41, and 80.
        assert!((Delays::of(&times(), false).delay_iqr_of_warps - 39.0).abs() < 1e-9);
        assert_eq!(Delays::of(&times(), false).delay.iqr, 44 - 38);
        assert_eq!(Delays::of(&[], true).delay_iqr_of_warps, 0.0);
    }
}
