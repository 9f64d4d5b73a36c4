//! Figures of the middle of a run.

use serde::Serialize;

use super::Delays;
use crate::cosim::PacketTimes;

/// How many times the packets that are on the cores at a time a run must have for a steady state.
const WAVES: u64 = 8;

/// What a run gave between its start, in which all warp slots are filled at once and caches are
/// empty, and its end, at which they become empty: from the end of the first quarter of the
/// finishes to the beginning of the last sixteenth.
///
/// Warps finish as they are done, while commits come in bursts behind a slow warp, so finishes tell
/// the rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteadyState {
    /// Packets that finished in the window.
    pub packets: u64,
    /// Bytes of their frames on the wire, without preamble, FCS and gap.
    pub frame_bytes: u64,
    /// The cycle before the window: that of the finish that ends the first quarter.
    pub from: u64,
    /// The last cycle of the window: that of the finish behind which the last sixteenth comes.
    pub to: u64,
    /// Packets per cycle.
    pub packets_per_cycle: f64,
    /// Bits of the frames per cycle.
    pub bits_per_cycle: f64,
    /// When these packets passed the stages. Without a schedule ([`Delays`]) they tell no delay.
    #[serde(flatten)]
    pub delays: Delays,
}

impl SteadyState {
    /// The fewest packets of a run whose steady state is told, if up to `wave` packets are on the
    /// cores at a time: cores x MCW x lanes.
    #[must_use]
    pub const fn fewest(wave: u64) -> u64 {
        WAVES * wave
    }

    /// The steady state of a run of packets with these `times`, in commit order, whose frames had
    /// `lengths` bytes on the wire; none if they are fewer than [`Self::fewest`], or if all finish
    /// at once. `scheduled` as in [`Delays::of`].
    #[must_use]
    pub fn of(times: &[PacketTimes], lengths: &[u64], wave: u64, scheduled: bool) -> Option<Self> {
        if times.is_empty() || (times.len() as u64) < Self::fewest(wave) {
            return None;
        }
        let mut ends: Vec<_> = times.iter().map(|t| t.finish).collect();
        ends.sort_unstable();
        let of_rank = |rank: usize| ends[rank.max(1) - 1];
        let (from, to) = (of_rank(ends.len() / 4), of_rank(ends.len() - ends.len() / 16));
        let cycles = Some(to - from).filter(|cycles| *cycles > 0)?;
        let within = |t: &PacketTimes| from < t.finish && t.finish <= to;
        let inside: Vec<_> = times.iter().copied().filter(within).collect();
        let bytes = times.iter().zip(lengths).filter(|(t, _)| within(t)).map(|(_, length)| *length);
        let (packets, frame_bytes) = (inside.len() as u64, bytes.sum());
        Some(Self {
            packets,
            frame_bytes,
            from,
            to,
            packets_per_cycle: packets as f64 / cycles as f64,
            bits_per_cycle: 8.0 * frame_bytes as f64 / cycles as f64,
            delays: Delays::of(&inside, scheduled),
        })
    }
}

#[cfg(test)]
#[path = "steady_state_tests.rs"]
mod tests;
