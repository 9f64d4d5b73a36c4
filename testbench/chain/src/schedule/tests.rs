//! Splits by hand, and against all splits.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn demand(name: &str, k1: f64, b1: f64, most_warps: u32) -> Demand {
    let line = Linear { k1, b1, k2: 0.0, b2: 0.0 };
    Demand {
        name: name.to_string(),
        cost: Cost::Linear(line, 32),
        visits: 1.0,
        most_warps,
        max_latency: None,
        excess: 0.0,
    }
}

fn cores(split: &Split) -> Vec<usize> {
    split.shares.iter().map(|share| share.cores).collect()
}

/// Equation 3 in its closed form: threads on a core, for `rate` on `cores` cores.
fn threads(Linear { k1, b1, k2, b2 }: Linear, rate: f64, cores: f64) -> f64 {
    rate * (b1 + b2) / (cores - rate * (k1 + k2 * cores))
}

#[test]
fn equations_3_and_4_by_hand() {
    // L = 2 B + 640 + 0.5 B N. A rate of 0.2 on two cores: B = 0.2 x 640 / (2 - 0.2 x 3) = 91.4,
    // that is 3 warps; L = 192 + 640 + 96.
    let line = Linear { k1: 2.0, b1: 640.0, k2: 0.5, b2: 0.0 };
    let demand = Demand { cost: Cost::Linear(line, 32), ..demand("a", 0.0, 0.0, 8) };
    assert_eq!(threads(line, 0.2, 2.0).ceil(), 92.0);
    assert_eq!(demand.warps(32, 2, 0.2), Some(3));
    assert_eq!(demand.cost.cycles(3, 2), 2.0 * 96.0 + 640.0 + 0.5 * 96.0 * 2.0);
    // The same on one core needs 0.2 x 640 / (1 - 0.2 x 2.5) = 256 threads.
    assert_eq!(demand.warps(32, 1, 0.2), Some(8));
    assert_eq!(demand.share(32, 4, 0.2), Some(Share { cores: 1, warps: 8 }));
    // L = 128 x 5 + 640 = 1,280 there; 1,100 cycles ask for a second core.
    let quick = Demand { max_latency: Some(1_100.0), ..demand.clone() };
    assert_eq!(quick.share(32, 4, 0.2), Some(Share { cores: 2, warps: 3 }));
    // No number of threads reaches 0.4 on one core: 1 - 0.4 x 2.5 = 0.
    assert_eq!(demand.warps(32, 1, 0.4), None);
    // The closed form and the search agree wherever the former has an answer.
    for step in 1..60 {
        let rate = 0.01 * f64::from(step);
        for cores in 1..=4 {
            let asked = threads(line, rate, cores as f64);
            let closed =
                (asked > 0.0).then(|| (asked / 32.0 - 1e-9).ceil() as u32).filter(|warps| *warps <= 8);
            assert_eq!(demand.warps(32, cores, rate), closed, "{rate} {cores}");
        }
    }
}

#[test]
fn cores_go_to_the_slowest() {
    // With all their warps they take 10, 40, 20 and 10 core-cycles a packet.
    let demands =
        [("a", 9.0), ("b", 39.0), ("c", 19.0), ("d", 9.0)].map(|(name, k1)| demand(name, k1, 256.0, 8));
    let got = split(32, 8, &demands, None).unwrap();
    assert_eq!(cores(&got), [1, 4, 2, 1]);
    assert!((got.rate - 0.1).abs() < 1e-9, "{got:?}");
    // The second one is at 63/64 of its best with 5.
    assert!(got.shares[0].warps <= 8 && got.shares[1].warps == 5, "{got:?}");
    let got = split(32, 4, &demands, None).unwrap();
    assert_eq!((cores(&got), got.rate), (vec![1; 4], 0.025));
    // Half of the entries come to the second one.
    let mut half = demands.clone();
    half[1].visits = 0.5;
    let got = split(32, 6, &half, None).unwrap();
    assert_eq!(cores(&got), [1, 2, 2, 1]);
}

#[test]
fn what_cannot_be_is_told() {
    let demands = [demand("a", 9.0, 256.0, 8), demand("b", 39.0, 256.0, 8)];
    let error = |cores, demands: &[Demand], wanted| split(32, cores, demands, wanted).unwrap_err();
    assert_eq!(error(1, &demands, None), Infeasible::Cores { functions: 2, cores: 1 });
    assert_eq!(error(4, &[], None), Infeasible::Cores { functions: 0, cores: 4 });
    // 0.1 packets a cycle need 4 cores for b.
    let told = error(4, &demands, Some(0.1));
    assert_eq!(
        told.to_string(),
        "0.10000 packets a cycle need 5 cores, 4 of them for `b`; 4 are there, and the best that was found is 0.07500"
    );
    assert_eq!(cores(&split(32, 5, &demands, Some(0.1)).unwrap()), [1, 4]);
    let told = error(8, &demands, Some(10.0)).to_string();
    assert!(told.contains("more than 8 cores, more than 32 of them for `a`"), "{told}");
    let mut late = demands.clone();
    late[1].max_latency = Some(1_000.0);
    let told = error(8, &late, None).to_string();
    assert_eq!(told, "`b`: at most 1000 cycles are asked; the least that was found are 1504");
}

/// Of all splits of random chains none is better than the one that is chosen, within the limits.
#[test]
fn no_split_is_better() {
    let mut random = ChaCha8Rng::seed_from_u64(crate::test_seed());
    for round in 0..200 {
        let functions = random.gen_range(1..=4);
        let all = random.gen_range(functions..=8);
        let demands: Vec<_> = (0..functions)
            .map(|number| {
                let mut points = Vec::new();
                let (each, lone) = (random.gen_range(1.0..100.0), random.gen_range(50.0..2_000.0));
                for warps in [1, 2, 4, 8] {
                    let cycles = f64::max(lone, 32.0 * f64::from(warps) * each);
                    points.push(Point { cores: 1, warps, cycles: cycles * random.gen_range(1.0..1.1) });
                }
                let further = points[2].cycles * random.gen_range(1.0..1.4);
                points.push(Point { cores: 4, warps: 4, cycles: further });
                let cost = Cost::Measured(Measured::of(&points).unwrap());
                let visits = random.gen_range(0.3..=1.0);
                let max_latency = random.gen_bool(0.2).then_some(3.0 * lone);
                let name = number.to_string();
                Demand { name, cost, visits, most_warps: 8, max_latency, excess: 0.0 }
            })
            .collect();
        let least = |cores: &Vec<usize>| rates(32, &demands, cores).into_iter().fold(f64::INFINITY, f64::min);
        let best = every_split(functions, all).iter().map(least).fold(0.0, f64::max);
        match split(32, all, &demands, None) {
            Ok(split) => {
                assert!(cores(&split).iter().sum::<usize>() <= all, "round {round}");
                assert!(split.rate > 0.999_999 * best, "round {round}: {split:?}, best {best}");
                let wide = |share: &Share| (1..=8).contains(&share.warps);
                assert!(split.shares.iter().all(wide), "round {round}: {split:?}");
                for (demand, share) in demands.iter().zip(&split.shares) {
                    assert!(demand.is_quick(*share), "round {round}");
                    let carried = demand.rate(32, *share);
                    assert!(carried >= 63.0 / 64.0 * split.rate, "round {round}: {split:?}, {carried}");
                }
            }
            Err(error) => assert_eq!(best, 0.0, "round {round}: {error}"),
        }
    }
}

#[test]
fn splits_are_counted() {
    assert_eq!([(2, 8), (3, 8), (4, 8)].map(|(n, cores)| every_split(n, cores).len()), [7, 21, 35]);
    assert_eq!(every_split(2, 3), [[1, 2], [2, 1]]);
    assert!(every_split(3, 2).is_empty() && every_split(0, 2).is_empty());
    assert_eq!((fair_split(3, 8), fair_split(4, 8)), (vec![3, 3, 2], vec![2; 4]));
}

#[test]
fn cores_keep_their_function() {
    let now = [0, 0, 0, 1, 1, 1].map(Some);
    assert_eq!(place(&now, &[3, 3]), now);
    assert_eq!(place(&now, &[1, 5]), [0, 1, 1, 1, 1, 1].map(Some));
    assert_eq!(place(&now, &[2, 2, 2]), [0, 0, 2, 1, 1, 2].map(Some));
    // None is none, and what is not given out has none.
    assert_eq!(place(&[None, Some(5), Some(0)], &[1, 1]), [Some(1), None, Some(0)]);
}
