//! The array as a queue: warps are formed, wait for a slot, share a core, and commit in order.
//!
//! The equations of the paper give means of even traffic. This is a discrete-event model of the
//! same machine: it takes the arrival of every packet and gives the distribution of their delays.
//! It is ours; what it knows of the array is in a [`Service`], which is fitted to a few runs.
//!
//! A core with k warps finishes one every `CR(k)` cycles, and its warps share it evenly. Their work
//! differs, or they would finish in order and never wait to commit.

use crate::computing_rate::{between, ComputingRates};

/// What of the array a delay depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Shader cores.
    pub cores: usize,
    /// Packets of a full warp.
    pub lanes: usize,
    /// Maximally allowed concurrent warps of a core.
    pub mcw: usize,
    /// Cycles that the oldest waiting packet waits for a full warp.
    pub timeout: u64,
}

/// Cycles from the packet that fills a warp to its start where slots are free: the task FIFO, the
/// warp former and the issue.
pub const ISSUE_CYCLES: f64 = 10.0;

/// How fast the cores are.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// Cycles between two finished warps of a core with so many active ones, while slots are free.
    pub rates: ComputingRates,
    /// The same with all slots busy, by MCW.
    pub full: ComputingRates,
    /// The part of a full warp's work that a warp lacks for each lane without a packet.
    pub idle_lane: f64,
    /// How much the work of warps differs, by active warps of the core: the shape of a log-logistic
    /// distribution, 0 where all are alike.
    pub spread: Vec<(f64, f64)>,
    /// How many times as much work a warp has in a burst of twice what the array can do.
    pub excess: f64,
    /// The MCW from which on it is that; it grows to it from MCW 1 on.
    pub excess_from: f64,
}

impl Service {
    /// How many times as much work warps have in a burst, with this MCW.
    fn excess_at(&self, mcw: f64) -> f64 {
        if self.excess_from <= 1.0 {
            return self.excess;
        }
        libm::pow(self.excess, (libm::log(mcw) / libm::log(self.excess_from)).min(1.0))
    }

    /// The work of warp `number`, with `packets`, that starts as one of `active` warps; 1 is the
    /// mean of a full one.
    fn work(&self, number: usize, packets: usize, lanes: usize, active: f64) -> f64 {
        let shape = between(&self.spread, active).unwrap_or(0.0);
        let part = 1.0 - self.idle_lane * (lanes - packets) as f64;
        // Numbers that are even over the interval, and far from those before: the same each time.
        let golden = 0.618_033_988_749_894_9;
        let unit = (0.5 + number as f64 * golden).fract().clamp(1e-6, 1.0 - 1e-6);
        part.max(0.05) * if shape > 1e-6 { quantile(unit, shape) } else { 1.0 }
    }
}

/// The value below which a share `unit` of a log-logistic distribution of mean 1 lies.
fn quantile(unit: f64, shape: f64) -> f64 {
    let angle = std::f64::consts::PI * shape;
    libm::pow(unit / (1.0 - unit), shape) * libm::sin(angle) / angle
}

/// Delays that are to be expected, in cycles; those of [`Array`] count from the arrival of a packet
/// to its commit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Mean delay.
    pub mean: f64,
    /// Half of the packets have at most this delay.
    pub p50: f64,
    /// 99 of 100 packets have at most this delay.
    pub p99: f64,
    /// Interquartile range.
    pub iqr: f64,
    /// Mean time until the warp of a packet starts.
    pub forming_and_issue: f64,
    /// Mean time on a core.
    pub execution: f64,
    /// Mean time in the delay commit queue.
    pub commit_queue: f64,
    /// Cycles from the first arrival to the last commit.
    pub cycles: f64,
}

/// A warp: when it is formed, its first packet, and its packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FormedWarp {
    /// The cycle in which it is formed.
    pub formed: f64,
    /// Its first packet.
    pub first: usize,
    /// Its packets.
    pub packets: usize,
}

/// The warps of packets that arrive in these cycles, which do not fall: full ones, and partial ones
/// once the oldest packet has waited `timeout` cycles.
#[must_use]
pub fn form(arrivals: &[u64], lanes: usize, timeout: u64) -> Vec<FormedWarp> {
    let (mut warps, mut first) = (Vec::new(), 0);
    while first < arrivals.len() {
        let end = arrivals[first].saturating_add(timeout);
        let packets = arrivals[first..].iter().take(lanes).take_while(|cycle| **cycle <= end).count();
        let formed = if packets == lanes { arrivals[first + packets - 1] } else { end };
        warps.push(FormedWarp { formed: formed as f64, first, packets });
        first += packets;
    }
    warps
}

/// The intervals between the warps that come to one core if they take turns.
#[must_use]
pub fn intervals(warps: &[FormedWarp], cores: usize) -> Vec<f64> {
    let of_core: Vec<_> = warps.iter().step_by(cores).collect();
    of_core.windows(2).map(|pair| pair[1].formed - pair[0].formed).collect()
}

/// A core that its warps share.
struct Core {
    /// Work that each of its warps would have got by now.
    served: f64,
    /// The cycle of that.
    now: f64,
    /// Its warps: what is served when they finish, and their numbers.
    warps: Vec<(f64, usize)>,
}

impl Core {
    /// Cycles in which each warp gets one unit of work.
    fn pace(&self, rates: &[f64]) -> f64 {
        let active = self.warps.len();
        active as f64 * rates[active]
    }

    fn advance(&mut self, to: f64, rates: &[f64]) {
        if !self.warps.is_empty() {
            self.served += (to - self.now) / self.pace(rates);
        }
        self.now = to;
    }

    /// The cycle in which the next warp finishes, and its place.
    fn next(&self, rates: &[f64]) -> Option<(f64, usize)> {
        let least = self.warps.iter().enumerate().min_by(|a, b| a.1 .0.total_cmp(&b.1 .0))?;
        Some((self.now + (least.1 .0 - self.served) * self.pace(rates), least.0))
    }
}

/// The delays of packets that arrive in these cycles, which do not fall. None if there are none.
#[must_use]
pub fn run(array: &Array, service: &Service, arrivals: &[u64]) -> Option<Predicted> {
    let warps = form(arrivals, array.lanes, array.timeout);
    let times = schedule(array, service, &warps);
    let (mut commit, mut delays) = (0.0_f64, Vec::with_capacity(arrivals.len()));
    let mut sums = Predicted::default();
    for (warp, (start, finish)) in warps.iter().zip(&times) {
        commit = commit.max(*finish);
        for arrival in &arrivals[warp.first..warp.first + warp.packets] {
            sums.forming_and_issue += start - *arrival as f64;
            sums.execution += finish - start;
            sums.commit_queue += commit - finish;
            delays.push(commit - *arrival as f64);
        }
    }
    delays.sort_unstable_by(f64::total_cmp);
    let count = delays.len() as f64;
    // Nearest rank, as of delays that were measured.
    let rank = |share: f64| delays.get(((share * count).ceil() as usize).saturating_sub(1)).copied();
    Some(Predicted {
        mean: delays.iter().sum::<f64>() / count,
        p50: rank(0.5)?,
        p99: rank(0.99)?,
        iqr: rank(0.75)? - rank(0.25)?,
        forming_and_issue: sums.forming_and_issue / count,
        execution: sums.execution / count,
        commit_queue: sums.commit_queue / count,
        cycles: commit - *arrivals.first()? as f64,
    })
}

/// Start and finish of every warp.
fn schedule(array: &Array, service: &Service, warps: &[FormedWarp]) -> Vec<(f64, f64)> {
    let Array { cores: count, lanes, mcw, .. } = *array;
    let mut rates: Vec<f64> = (0..mcw).map(|active| service.rates.at_power(active as f64)).collect();
    rates.push(service.full.at_power(mcw as f64));
    // A core need not use all the warps that it may have.
    let best = rates[1..].iter().copied().fold(f64::INFINITY, f64::min);
    let excess = service.excess_at(mcw as f64) - 1.0;
    let core = || Core { served: 0.0, now: 0.0, warps: Vec::with_capacity(mcw) };
    let mut cores: Vec<Core> = (0..count).map(|_| core()).collect();
    let mut times = vec![(0.0, 0.0); warps.len()];
    // The core whose turn it is, the first cycle in which a warp may start, and the next warp.
    let (mut turn, mut free, mut next) = (0, 0.0_f64, 0);
    loop {
        let finish = cores
            .iter()
            .enumerate()
            .filter_map(|(at, core)| core.next(&rates).map(|(cycle, warp)| (cycle, at, warp)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let place = (0..count).map(|ahead| (turn + ahead) % count).find(|at| cores[*at].warps.len() < mcw);
        let start = warps.get(next).zip(place).map(|(warp, at)| (free.max(warp.formed + ISSUE_CYCLES), at));
        match (start, finish) {
            (Some((cycle, at)), finish) if finish.is_none_or(|finish| cycle <= finish.0) => {
                let packets = warps[next].packets;
                let core = &mut cores[at];
                core.advance(cycle, &rates);
                let active = (core.warps.len() + 1) as f64;
                let burst = overload(warps, next, count, mcw, best);
                let work = service.work(next, packets, lanes, active) * (1.0 + burst * excess);
                core.warps.push((core.served + work, next));
                times[next].0 = cycle;
                (turn, free, next) = ((at + 1) % count, cycle + 1.0, next + 1);
            }
            (_, Some((cycle, at, warp))) => {
                let core = &mut cores[at];
                core.advance(cycle, &rates);
                let (_, number) = core.warps.swap_remove(warp);
                times[number].1 = cycle;
                free = free.max(cycle);
            }
            _ => return times,
        }
    }
}

/// How an overload grows with its rate: fitted to bursts of four apps at 1.1 and 2.0 times their
/// throughput.
const OVERLOAD: f64 = 0.6;

/// How much faster warps came lately than the cores can finish them: 0 if they did not, 1 from
/// twice as fast on. It rises at once, as the slots fill at once.
fn overload(warps: &[FormedWarp], number: usize, cores: usize, mcw: usize, rate: f64) -> f64 {
    let back = number.min(cores * mcw);
    if back == 0 {
        return 0.0;
    }
    let interval = cores as f64 * (warps[number].formed - warps[number - back].formed) / back as f64;
    libm::pow((2.0 * (1.0 - interval / rate)).clamp(0.0, 1.0), OVERLOAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(points: &[(f64, f64)]) -> Service {
        Service {
            rates: ComputingRates::new(points).unwrap(),
            full: ComputingRates::new(points).unwrap(),
            idle_lane: 0.0,
            spread: Vec::new(),
            excess: 1.0,
            excess_from: 16.0,
        }
    }

    const ONE: Array = Array { cores: 1, lanes: 1, mcw: 1, timeout: 100 };

    #[test]
    fn warps_are_full_or_time_out() {
        let warps = form(&[0, 1, 2, 50, 51, 200], 2, 20);
        let seen: Vec<_> = warps.iter().map(|w| (w.formed, w.first, w.packets)).collect();
        assert_eq!(seen, [(1.0, 0, 2), (22.0, 2, 1), (51.0, 3, 2), (220.0, 5, 1)]);
        assert_eq!(intervals(&warps, 2), [50.0]);
        assert_eq!(form(&[], 2, 20), []);
    }

    /// One server with a constant service time: waiting times by Lindley's recursion.
    #[test]
    fn of_one_server() {
        let arrivals = [0, 10, 20, 300, 301];
        let service = service(&[(1.0, 50.0)]);
        let predicted = run(&ONE, &service, &arrivals).unwrap();
        let (mut free, mut sum) = (0.0_f64, 0.0);
        for arrival in arrivals {
            // A start costs a cycle of the issue, which is hidden while the core is busy.
            free = free.max(arrival as f64 + ISSUE_CYCLES) + 50.0;
            sum += free - arrival as f64;
        }
        assert_eq!(predicted.mean, sum / 5.0);
        assert_eq!(predicted.cycles, free);
        assert_eq!(run(&ONE, &service, &[]), None);
    }

    /// Warps that are alike and all there from the start are equation 2's groups.
    #[test]
    fn groups_of_equation_2() {
        let array = Array { mcw: 4, ..ONE };
        let service = service(&[(1.0, 100.0), (4.0, 40.0)]);
        let predicted = run(&array, &service, &[0; 12]).unwrap();
        let groups = crate::burst::delay_of_episode(3, 4, 40.0, &[0.0; 12]);
        // The issue starts one warp a cycle.
        assert!((predicted.mean - ISSUE_CYCLES - groups).abs() < 8.0, "{predicted:?} {groups}");
        assert_eq!(predicted.commit_queue, 0.0);
    }

    /// Little: with even arrivals the cores settle at the warps whose rate is the interval.
    #[test]
    fn settles_at_equation_4() {
        let array = Array { mcw: 16, ..ONE };
        let service = service(&[(1.0, 400.0), (4.0, 100.0), (16.0, 80.0)]);
        let arrivals: Vec<u64> = (0..400).map(|number| number * 150).collect();
        let predicted = run(&array, &service, &arrivals).unwrap();
        let expected = crate::sparse::delay(&service.rates.clone(), 150.0).unwrap();
        let error = (predicted.execution - expected) / expected;
        assert!(error.abs() < 0.25, "{predicted:?} {expected}");
    }

    /// More warps than are good for the memory are allowed, and never there.
    #[test]
    fn warps_that_are_not_there_make_no_overload() {
        let base = service(&[(1.0, 400.0), (4.0, 100.0)]);
        let full = ComputingRates::new(&[(1.0, 400.0), (4.0, 100.0), (16.0, 160.0)]).unwrap();
        let service = Service { full, excess: 2.0, ..base };
        let arrivals: Vec<u64> = (0..400).map(|number| number * 130).collect();
        let of = |mcw| run(&Array { mcw, ..ONE }, &service, &arrivals).unwrap().mean;
        assert_eq!(of(16), of(8));
    }

    #[test]
    fn work_differs_and_has_its_mean() {
        let service = Service { spread: vec![(1.0, 0.1)], idle_lane: 0.01, ..service(&[(1.0, 100.0)]) };
        let works: Vec<f64> = (0..10_000).map(|number| service.work(number, 32, 32, 3.0)).collect();
        let mean = works.iter().sum::<f64>() / 1e4;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!(works.iter().any(|work| *work > 1.3));
        assert!((service.work(0, 22, 32, 1.0) / service.work(0, 32, 32, 1.0) - 0.9).abs() < 1e-12);
        // A warp that waits for one that is slower.
        let array = Array { mcw: 4, ..ONE };
        assert!(run(&array, &service, &[0; 64]).unwrap().commit_queue > 0.0);
    }

    #[test]
    fn bursts_cost_more_the_more_warps_are_allowed() {
        let service = Service { excess: 1.5, excess_from: 16.0, ..service(&[(1.0, 100.0)]) };
        let excess = [1.0, 4.0, 16.0, 32.0].map(|mcw| (service.excess_at(mcw) * 100.0).round());
        assert_eq!(excess, [100.0, 122.0, 150.0, 150.0]);
        let warps = form(&[0, 0, 0, 0], 1, 10);
        let seen = [0, 1, 3].map(|number| overload(&warps, number, 1, 2, 100.0));
        assert_eq!(seen, [0.0, 1.0, 1.0]);
        let even = form(&[0, 90, 180], 1, 10);
        assert!((overload(&even, 2, 1, 2, 100.0) - libm::pow(0.2, OVERLOAD)).abs() < 1e-9);
    }
}
