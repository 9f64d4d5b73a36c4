//! Delay while packets wait: they arrive faster than the cores finish them.
//!
//! `intervals[i]` is the time from the arrival of warp i at a core to that of the next one. Warps
//! are processed in groups of MCW, each group in MCW x CR cycles (Hermes, section 5.3.1).

/// The delay of a group of warps, counted from 1: the time that it waits for the groups before it,
/// less the time until it arrived, and its service (Hermes, equation 2). All in cycles.
#[must_use]
pub fn group_delay(group: usize, mcw: usize, computing_rate: f64, intervals: &[f64]) -> f64 {
    let before = (group - 1) * mcw;
    let arrived: f64 = intervals.iter().take(before).sum();
    let busy = before as f64 * computing_rate;
    busy - arrived + mcw as f64 * computing_rate
}

/// The mean delay of `groups` groups of warps that arrive evenly, one every `interval` cycles, less
/// than the computing rate (Hermes, equation 3).
#[must_use]
pub fn delay(groups: f64, mcw: usize, computing_rate: f64, interval: f64) -> f64 {
    let service = mcw as f64 * computing_rate;
    service + (groups - 1.0) * mcw as f64 * (computing_rate - interval) / 2.0
}

/// The mean delay of `groups` groups that arrive with these intervals (Hermes, equation 8).
///
/// As printed, equation 8 lacks the waiting for the groups before, and adds the time until a group
/// arrived instead of taking it away; equation 3, which is the same with equal intervals, shows
/// what is meant.
#[must_use]
pub fn delay_of_episode(groups: usize, mcw: usize, computing_rate: f64, intervals: &[f64]) -> f64 {
    let service = mcw as f64 * computing_rate;
    let waiting = (groups as f64 - 1.0) * service / 2.0;
    let arrived: f64 = (0..groups).map(|group| intervals.iter().take(group * mcw).sum::<f64>()).sum();
    service + waiting - arrived / groups as f64
}

/// The number of groups of `warps` warps (Hermes, equation 7).
#[must_use]
pub fn groups(warps: usize, mcw: usize) -> f64 {
    warps as f64 / mcw as f64
}

/// How many warps of a core, from the first one on, arrive before the core has caught up: the burst
/// ends with the warp after which nothing waits (Hermes, equation 6, with a sum for its integral).
/// All of them if it does not catch up.
#[must_use]
pub fn warps_of_burst(computing_rate: f64, intervals: &[f64]) -> usize {
    let mut backlog = 0.0_f64;
    for (warps, interval) in intervals.iter().enumerate() {
        backlog += computing_rate - interval;
        if backlog <= 0.0 {
            return warps + 1;
        }
    }
    intervals.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of two warps, 100 cycles a warp, one arriving every 30: the first group has 200;
    /// the second begins at 200, its first warp came 60 after the first one's, and ends at 400.
    #[test]
    fn by_hand() {
        let intervals = [30.0; 4];
        assert_eq!(group_delay(1, 2, 100.0, &intervals), 200.0);
        assert_eq!(group_delay(2, 2, 100.0, &intervals), 340.0);
        assert_eq!(delay(2.0, 2, 100.0, 30.0), 270.0);
        assert_eq!(delay_of_episode(2, 2, 100.0, &intervals), 270.0);
        // Unequal: groups at 0 and at 10 + 70.
        assert_eq!(delay_of_episode(2, 2, 100.0, &[10.0, 70.0, 5.0, 5.0]), (200.0 + 320.0) / 2.0);
        assert_eq!(groups(4, 2), 2.0);
    }

    /// Equation 8 with equal intervals is equation 3.
    #[test]
    fn the_corrected_equation_is_the_simple_one() {
        for (groups, mcw, rate, interval) in [(1, 4, 90.0, 20.0), (7, 3, 55.0, 54.0), (12, 16, 10.0, 1.0)] {
            let intervals = vec![interval; groups * mcw];
            let [a, b] =
                [delay_of_episode(groups, mcw, rate, &intervals), delay(groups as f64, mcw, rate, interval)];
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }

    /// A queue, group by group: a server has each group of MCW warps for MCW x CR cycles.
    fn simulated(groups: usize, mcw: usize, rate: f64, intervals: &[f64]) -> f64 {
        let (mut free, mut sum) = (0.0_f64, 0.0);
        for group in 0..groups {
            let arrived: f64 = intervals.iter().take(group * mcw).sum();
            let end = free.max(arrived) + mcw as f64 * rate;
            free = end;
            sum += end - arrived;
        }
        sum / groups as f64
    }

    /// While the server never waits, the equations are the queue.
    #[test]
    fn as_a_queue_does() {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(u32::MAX / 2)
        };
        for groups in 1..20 {
            let (mcw, rate) = (1 + groups % 5, 100.0);
            let intervals: Vec<f64> = (0..groups * mcw).map(|_| 90.0 * random()).collect();
            let [a, b] =
                [delay_of_episode(groups, mcw, rate, &intervals), simulated(groups, mcw, rate, &intervals)];
            assert!((a - b).abs() < 1e-6 * b, "{groups} groups: {a}, the queue {b}");
        }
    }

    #[test]
    fn end_of_a_burst() {
        // 100 a warp: after 20, 30 and 250 cycles nothing waits any more.
        assert_eq!(warps_of_burst(100.0, &[20.0, 30.0, 250.0, 500.0]), 3);
        assert_eq!(warps_of_burst(100.0, &[20.0, 30.0]), 2);
        assert_eq!(warps_of_burst(100.0, &[100.0]), 1);
    }
}
