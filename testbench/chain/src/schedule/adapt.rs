//! When cores are given out anew: the paper's scheduler runs when the traffic of a function changes
//! by more than 10 %.

use std::cmp::Reverse;

use super::Demand;

/// Cycles of a window.
pub const WINDOW: u64 = 1 << 16;
/// A change that counts.
const CHANGE: f64 = 0.1;
/// Windows running in which it must be there.
const WINDOWS: u32 = 2;

/// What was counted of a function in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// Packets that came to it.
    pub packets: u64,
    /// Warps that came to it.
    pub warps: u64,
    /// Warps that came to it for each that left the chain.
    pub visits: f64,
    /// Cycles in which its cores had a warp, summed over the cores.
    pub core_cycles: u64,
    /// Warps that wait for it at the end of the window.
    pub queued: u32,
    /// Its warp slots are full then.
    pub full: bool,
}

/// Watches the rates of the functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watch {
    /// Packets of each function in the window that counts as that of the last decision.
    decided: Option<Vec<u64>>,
    /// Windows running in which one was off.
    off: u32,
}

impl Watch {
    /// Takes a window; true if cores are to be given out anew. The first window after a decision is
    /// what later ones are compared with.
    pub fn window(&mut self, counted: &[Counted]) -> bool {
        let now: Vec<_> = counted.iter().map(|counted| counted.packets).collect();
        let Some(decided) = &self.decided else {
            self.decided = Some(now);
            return false;
        };
        let is_off = |(now, then): (&u64, &u64)| now.abs_diff(*then) as f64 > CHANGE * *then as f64;
        self.off = if now.iter().zip(decided).any(is_off) { self.off + 1 } else { 0 };
        if self.off < WINDOWS {
            return false;
        }
        *self = Self::default();
        true
    }
}

/// Scales what is known of the functions to what a window counted on cores with `lanes` lanes.
/// `profiled` are the core-cycles a packet that the profile has for the present split, with whole
/// warps: lanes whose packets were dropped before, or go other ways, cost as much.
///
/// A function whose core-cycles a lane are fewer than in the profile became cheaper: its cost is
/// scaled down. More of them say little, as slots that wait for packets count too; only of the
/// function that holds the others back the cost is scaled up: else a cost that rose is not seen.
/// It is the one for which most warps wait, its slots full. Nobody waits for the first function,
/// whose packets are in the ring: it is that one if its slots are full and no other one's are.
pub fn rescale(demands: &mut [Demand], lanes: u32, profiled: &[f64], counted: &[Counted]) {
    let full = || counted.iter().enumerate().filter(|(_, counted)| counted.full);
    let waits = full().filter(|(_, counted)| counted.queued > 0);
    let fullest = waits.max_by_key(|(number, counted)| (counted.queued, Reverse(*number)));
    let fullest = fullest.or_else(|| full().next().filter(|(number, _)| *number == 0));
    let fullest = fullest.map(|(number, _)| number);
    for (number, ((demand, profiled), counted)) in demands.iter_mut().zip(profiled).zip(counted).enumerate() {
        if counted.warps == 0 || *profiled <= 0.0 {
            continue;
        }
        if counted.visits > 0.0 {
            demand.visits = counted.visits.min(1.0);
        }
        let factor = counted.core_cycles as f64 / (counted.warps * u64::from(lanes)) as f64 / profiled;
        if factor < 1.0 || fullest == Some(number) {
            *demand = demand.scaled(factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{split, Cost, Linear};

    fn demand(name: &str) -> Demand {
        Demand {
            name: name.to_string(),
            cost: Cost::Linear(Linear { k1: 1.0, b1: 32.0, k2: 0.0, b2: 0.0 }, 32),
            visits: 1.0,
            most_warps: 4,
            max_latency: None,
            excess: 0.0,
        }
    }

    fn packets(of: &[u64]) -> Vec<Counted> {
        of.iter().map(|packets| Counted { packets: *packets, ..Counted::default() }).collect()
    }

    #[test]
    fn two_windows_running_decide() {
        let mut watch = Watch::default();
        for (counted, expected) in [
            ([1000, 500], false),
            ([1100, 450], false),
            ([1101, 500], false),
            ([1000, 500], false),
            ([1000, 449], false),
            ([1101, 500], true),
            // What comes next is what it is compared with.
            ([2000, 900], false),
            ([2000, 900], false),
            ([2000, 700], false),
            ([2000, 700], true),
        ] {
            assert_eq!(watch.window(&packets(&counted)), expected, "{counted:?}");
        }
        let mut idle = Watch::default();
        assert!(!idle.window(&packets(&[0])) && !idle.window(&packets(&[0])));
        assert!(!idle.window(&packets(&[1])) && idle.window(&packets(&[1])), "traffic began");
    }

    /// Two functions of the same cost; then that of the second one is five times as high.
    #[test]
    fn a_cost_that_steps_moves_cores() {
        let mut demands = vec![demand("a"), demand("b")];
        let cores = |demands: &[Demand]| -> Vec<usize> {
            split(32, 8, demands, None).unwrap().shares.iter().map(|share| share.cores).collect()
        };
        assert_eq!(cores(&demands), [4, 4]);
        let counted = |warps, core_cycles, queued| Counted {
            packets: 32 * warps,
            warps,
            visits: 1.0,
            core_cycles,
            queued,
            full: queued > 50,
        };
        // The first one waits for packets: its 4 core-cycles a packet tell nothing.
        let window = [counted(100, 12_800, 2), counted(100, 20_000, 90)];
        rescale(&mut demands, 32, &[1.25, 1.25], &window);
        assert_eq!(demands[0].cost, demand("a").cost);
        assert_eq!(demands[1].cost.cycles(1, 1), 5.0 * demand("b").cost.cycles(1, 1));
        assert_eq!(cores(&demands), [2, 6]);
        // The same of the first one, for which nobody waits but in the ring.
        let mut of_entry = vec![demand("a"), demand("b")];
        let first = Counted { full: true, ..counted(100, 20_000, 0) };
        rescale(&mut of_entry, 32, &[1.25, 1.25], &[first, counted(100, 12_800, 2)]);
        assert_eq!(cores(&of_entry), [6, 2]);
        // It falls again, where nothing waits.
        let window = [counted(100, 12_800, 0), counted(100, 4_000, 0)];
        rescale(&mut demands, 32, &[1.25, 6.25], &window);
        assert_eq!(cores(&demands), [4, 4]);
    }

    /// A function to which one packet of eight comes costs what it did; one that half of the warps
    /// reach needs half of the cores.
    #[test]
    fn lanes_that_are_idle_are_no_cost() {
        let all = vec![demand("a"), demand("b")];
        let few =
            Counted { packets: 400, warps: 100, visits: 1.0, core_cycles: 4_000, queued: 90, full: true };
        let first = Counted { packets: 3_200, queued: 0, full: false, ..few };
        let mut demands = all.clone();
        rescale(&mut demands, 32, &[1.25, 1.25], &[first, few]);
        assert_eq!(demands, all);
        let half =
            Counted { packets: 1_600, warps: 50, visits: 0.5, core_cycles: 2_000, queued: 0, full: false };
        rescale(&mut demands, 32, &[1.25, 1.25], &[first, half]);
        let found = split(32, 6, &demands, None).unwrap();
        assert_eq!(found.shares.iter().map(|share| share.cores).collect::<Vec<_>>(), [4, 2]);
    }
}
