//! Delay while no packet waits: warps arrive more slowly than the cores could finish them.

use crate::computing_rate::ComputingRates;

/// The mean number of warps that are active on a core to which one comes every `interval` cycles:
/// that whose computing rate is the interval (Hermes, section 5.3.2). None if even the most warps
/// are too slow. Where one warp alone is faster than the interval, it is alone for a part of the
/// time: below 1.
#[must_use]
pub fn active_warps(rates: &ComputingRates, interval: f64) -> Option<f64> {
    if interval > rates.first() {
        return Some(rates.first() / interval);
    }
    rates.warps_for(interval)
}

/// The mean delay in cycles with one warp every `interval` cycles: the active warps by the interval
/// (Hermes, equation 4; Little). With an interval above what one warp takes alone it is that. None
/// if the cores are too slow.
#[must_use]
pub fn delay(rates: &ComputingRates, interval: f64) -> Option<f64> {
    Some(active_warps(rates, interval)? * interval)
}

/// The mean delay of warps that arrive with these intervals: that of each, as if all were like its
/// own (Hermes, equation 5; from the end of a burst on it is equation 9). None if there are none,
/// or the cores are too slow for one.
///
/// As printed, the equation weights the MCW and C(t), a constant and what is integrated over; the
/// active warps of equation 4 are meant.
#[must_use]
pub fn delay_of_episode(rates: &ComputingRates, intervals: &[f64]) -> Option<f64> {
    let sum: Option<f64> = intervals.iter().map(|interval| delay(rates, *interval)).sum();
    (!intervals.is_empty()).then(|| sum.map(|sum| sum / intervals.len() as f64)).flatten()
}

/// The mean time in cycles that the packets of a warp wait until it is formed, of packets that
/// arrive evenly, one every `interval` cycles, `lanes` to a warp. The array gives up waiting for a
/// full warp when the oldest packet has waited `timeout` cycles. Gives that time, and the packets
/// of a warp. (Ours: the paper leaves forming out.)
#[must_use]
pub fn forming(interval: f64, lanes: u32, timeout: f64) -> (f64, f64) {
    let full = f64::from(lanes) - 1.0;
    if full * interval <= timeout {
        return (full * interval / 2.0, f64::from(lanes));
    }
    let packets = 1.0 + (timeout / interval).floor();
    (timeout - (packets - 1.0) * interval / 2.0, packets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates() -> ComputingRates {
        ComputingRates::new(&[(1.0, 500.0), (2.0, 300.0), (4.0, 200.0)]).unwrap()
    }

    #[test]
    fn by_hand() {
        let rates = rates();
        // At 250 cycles a warp three of them are active: 750 cycles each.
        assert_eq!((active_warps(&rates, 250.0), delay(&rates, 250.0)), (Some(3.0), Some(750.0)));
        // One warp alone takes 500 cycles, however seldom it comes.
        assert_eq!((active_warps(&rates, 1000.0), delay(&rates, 1000.0)), (Some(0.5), Some(500.0)));
        assert_eq!(delay(&rates, 199.0), None);
        assert_eq!(delay_of_episode(&rates, &[250.0, 1000.0]), Some(625.0));
        assert_eq!((delay_of_episode(&rates, &[250.0, 10.0]), delay_of_episode(&rates, &[])), (None, None));
    }

    /// Where the rate is the same whatever the number of warps, the core is a pipeline of one: its
    /// delay is that of one warp, as in a queue with a server and arrivals that never meet.
    #[test]
    fn of_one_server() {
        let one = ComputingRates::new(&[(1.0, 100.0)]).unwrap();
        for interval in [100.0, 150.0, 1e4] {
            assert_eq!(delay(&one, interval), Some(100.0));
        }
    }

    #[test]
    fn warps_are_full_or_time_out() {
        // 32 packets 2 cycles apart: the first waits 62 cycles, the last none.
        assert_eq!(forming(2.0, 32, 256.0), (31.0, 32.0));
        // 100 cycles apart: after 256 cycles the warp has those of 0, 100 and 200.
        assert_eq!(forming(100.0, 32, 256.0), (156.0, 3.0));
        assert_eq!(forming(1000.0, 32, 256.0), (256.0, 1.0));
    }
}
