//! Processes of arrivals against closed forms, and their text.

use super::*;
use crate::test_seed;

const GHZ: Clock = Clock::GIGAHERTZ;

fn frames(items: &[(u32, u64)]) -> Vec<Frame> {
    let frame =
        |&(wire_length, timestamp): &(u32, u64)| Frame { data: vec![], wire_length, timestamp, port: 0 };
    items.iter().map(frame).collect()
}

fn process(text: &str) -> ArrivalProcess {
    text.parse().unwrap()
}

/// Arrivals of `count` frames of 60 bytes, 672 bits each on the wire.
fn small(text: &str, count: usize, seed: u64) -> Vec<u64> {
    process(text).arrivals_of_lengths(&vec![60; count], GHZ, seed)
}

/// Cycles between neighbours.
fn gaps(arrivals: &[u64]) -> Vec<f64> {
    arrivals.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
}

/// Mean and variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count)
}

/// Asserts that `value` is `expected`, give or take a share of it.
fn near(value: f64, expected: f64, share: f64, what: &str) {
    assert!((value - expected).abs() <= share * expected, "{what}: {value}, expected {expected}");
}

#[test]
fn a_constant_rate_counts_every_bit_on_the_wire() {
    // 60 captured bytes are 84 on the wire, 672 bits: 6.72 ns at 100 Gbit/s.
    for text in ["constant:100", "step:100@0"] {
        assert_eq!(small(text, 4, 1), [7, 14, 21, 27], "{text}");
    }
    assert_eq!(process("constant:0.5").arrivals(&frames(&[(101, 0)]), GHZ, 1), [2000]);
    assert_eq!(process("constant:0.5").arrivals_of_lengths(&[101], GHZ, 1), [2000]);
}

#[test]
fn trace_times_start_at_zero_and_never_fall() {
    let frames_of = frames(&[(60, 500), (60, 700), (60, 600), (60, 100), (60, 900)]);
    assert_eq!(process("trace").arrivals(&frames_of, GHZ, 1), [0, 200, 200, 200, 400]);
    assert_eq!(process("trace:4").arrivals(&frames_of, GHZ, 1), [0, 50, 50, 50, 100]);
    assert_eq!(process("trace:0.5").arrivals(&frames_of, GHZ, 1), [0, 400, 400, 400, 800]);
    assert_eq!(process("max").arrivals(&frames_of, GHZ, 1), [0; 5]);
    assert!(process("trace").arrivals(&[], GHZ, 1).is_empty());
    for text in ["trace", "trace:0.001"] {
        let broken = frames(&[(60, 0), (60, u64::MAX)]);
        assert_eq!(process(text).arrivals(&broken, GHZ, 1), [0, LATEST], "{text}");
    }
}

#[test]
fn a_slower_clock_has_fewer_cycles_between_packets() {
    let clock = "250".parse().unwrap();
    let frames = frames(&[(101, 500), (101, 900), (101, 1300)]);
    let arrivals = |text| process(text).arrivals(&frames, clock, 1);
    assert_eq!(arrivals("constant:0.5"), [500, 1000, 1500]);
    assert_eq!(arrivals("trace"), [0, 100, 200]);
    assert_eq!(arrivals("trace:2"), [0, 50, 100]);
    assert_eq!(arrivals("max"), [0, 0, 0]);
    // Steps are at cycles whatever the clock is: 1,000 bits take 250 cycles at 1 Gbit/s.
    assert_eq!(arrivals("step:1@0,2@250"), [250, 375, 500]);
}

/// A frame that is on the line when the rate changes ends at the new rate.
#[test]
fn steps_change_the_rate_within_a_frame() {
    // 672 bits each: 336 cycles at 2 Gbit/s, 168 at 4, 672 at 1.
    let arrivals = small("step:2@100,4@520,1@1000", 6, 1);
    // The second frame has 168 of its bits by 520, the sixth 576 by 1000.
    assert_eq!(arrivals, [436, 646, 814, 982, 1600, 2272]);
    assert_eq!(small("step:2@0,4@100,1@100000000", 3, 1)[0], 100 + (672 - 200) / 4);
    // Steps that pass while nothing ends there.
    assert_eq!(small("step:1@0,2@1,1@2,2@3", 1, 1), [336 + 1]);
}

/// Inverse transform: a gap is minus the logarithm of the next random number.
#[test]
fn the_first_gaps_are_those_of_the_closed_forms() {
    for seed in [1, 7, test_seed()] {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut unit = || ((random.next_u64() >> 11) + 1) as f64 * 2_f64.powi(-53);
        // 672 bits at 1 Gbit/s: a frame each 672 cycles in the mean, 168 on the port.
        let (mut comes, mut free) = (0.0, 0.0_f64);
        for (number, arrival) in small("poisson:1", 1000, seed).into_iter().enumerate() {
            comes -= 672.0 * unit().ln();
            free = free.max(comes) + 168.0;
            assert!((arrival as f64 - free).abs() <= 1.0, "{number} of seed {seed}: {arrival}, {free}");
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut unit = || ((random.next_u64() >> 11) + 1) as f64 * 2_f64.powi(-53);
        // A frame takes 336 cycles at 2 Gbit/s; of 8 x 672 cycles a burst is on for 8 x 336.
        let mut time = 0.0;
        for (number, arrival) in small("onoff:1,peak=2,burst=8", 1000, seed).into_iter().enumerate() {
            time += 336.0;
            assert!((arrival as f64 - time).abs() <= 1.0, "{number} of seed {seed}: {arrival}, {time}");
            if unit() <= 0.125 {
                time -= 8.0 * 336.0 * unit().ln();
            }
        }
    }
}

/// These were computed from the seed by a program in Python with its own ChaCha and its own
/// logarithm: they are the same on every machine.
#[test]
fn the_same_seed_gives_the_same_arrivals_everywhere() {
    assert_eq!(small("poisson:1", 8, 1), [780, 2474, 2821, 3841, 4687, 4917, 5437, 6700]);
    assert_eq!(small("onoff:1,peak=2,burst=3", 8, 1), [336, 672, 1529, 3135, 3471, 3807, 4278, 4614]);
    for text in ["poisson:1", "onoff:1,peak=2,burst=3"] {
        assert!(process(text).is_random());
        assert_eq!(small(text, 1000, 5), small(text, 1000, 5));
        assert_ne!(small(text, 1000, 5), small(text, 1000, 6));
    }
    for text in ["constant:1", "step:1@0", "max", "trace"] {
        assert!(!process(text).is_random());
        assert_eq!(small(text, 100, 5), small(text, 100, 6));
    }
}
#[test]
fn poisson_gaps_are_exponential() {
    // A port so fast that it changes nothing but a cycle here and there.
    let gaps = gaps(&small("poisson:0.1,port=100000", 200_000, test_seed()));
    let (mean, variance) = moments(&gaps);
    near(mean, 6720.0, 0.01, "mean");
    near(variance, 6720.0 * 6720.0, 0.03, "variance");
    for (quantile, share) in [(0.25, 0.25), (0.5, 0.5), (0.9, 0.9), (0.99, 0.99)] {
        let limit = -6720.0 * f64::ln(1.0 - quantile);
        let below = gaps.iter().filter(|gap| **gap <= limit).count() as f64 / gaps.len() as f64;
        near(below, share, 0.02, "share of the gaps below a quantile");
    }
}

/// On a port of four times the rate, the time between arrivals is at least that of a frame, and the
/// wait behind earlier frames is that of an M/D/1 queue: rho / (2 (1 - rho)) frames.
#[test]
fn poisson_frames_wait_for_their_port() {
    let seed = test_seed();
    let (port, alone) = (small("poisson:1", 200_000, seed), small("poisson:1,port=100000", 200_000, seed));
    assert!(gaps(&port).iter().all(|gap| *gap >= 167.0));
    let waits: Vec<_> = port.iter().zip(&alone).map(|(port, alone)| (port - alone) as f64 - 168.0).collect();
    near(moments(&waits).0, 168.0 * 0.25 / (2.0 * 0.75), 0.05, "mean wait");
    near(*port.last().unwrap() as f64, 200_000.0 * 672.0, 0.01, "end");
}

/// Frames of all sizes come at the same mean rate of bits.
#[test]
fn mean_rates_hold_for_frames_of_any_size() {
    let lengths: Vec<u32> = (0..120_000).map(|number| [60, 60, 60, 60, 590, 1514][number % 6]).collect();
    let bits: u64 = lengths.iter().map(|length| (u64::from(*length) + 24) * 8).sum();
    for text in ["constant:10", "poisson:10", "onoff:10,peak=25,burst=4", "step:10@0,10@5000"] {
        let arrivals = process(text).arrivals_of_lengths(&lengths, GHZ, test_seed());
        near(bits as f64 / *arrivals.last().unwrap() as f64, 10.0, 0.03, text);
    }
}

#[test]
fn bursts_are_geometric_and_pauses_exponential() {
    let arrivals = small("onoff:1,peak=2,burst=16", 400_000, test_seed());
    let (mut bursts, mut pauses, mut frames) = (Vec::new(), Vec::new(), 1.0);
    for gap in gaps(&arrivals) {
        // A frame takes 336 cycles, and no pause is so short that it is taken for none.
        if gap > 337.0 {
            bursts.push(frames);
            pauses.push(gap - 336.0);
            frames = 0.0;
        }
        frames += 1.0;
    }
    let (mean, variance) = moments(&bursts);
    near(mean, 16.0, 0.04, "frames of a burst");
    near(variance, 16.0 * 15.0, 0.1, "variance of the frames of a burst");
    let (mean, variance) = moments(&pauses);
    near(mean, 16.0 * 336.0, 0.04, "mean pause");
    near(variance, (16.0_f64 * 336.0).powi(2), 0.1, "variance of the pauses");
    // Bursts of one frame, and no pauses at all.
    assert!(gaps(&small("onoff:1,peak=2,burst=1", 1000, 1)).iter().filter(|gap| **gap > 337.0).count() > 990);
    assert_eq!(small("onoff:100,peak=100,burst=9", 4, 1), [7, 14, 21, 27]);
}

#[test]
fn text_reads_back() {
    for text in [
        "constant:12.5",
        "poisson:10",
        "poisson:10,port=100",
        "poisson:90000",
        "onoff:7,peak=20,burst=2048",
        "onoff:7,peak=7,burst=1.5",
        "step:5@0,20.25@10000,5@20000",
        "trace",
        "trace:0.25",
        "max",
    ] {
        assert_eq!(process(text).to_string(), text);
        assert_eq!(process(text).is_scheduled(), text != "max");
    }
    assert_eq!(process("poisson:10,port=40").to_string(), "poisson:10");
    assert_eq!(process("trace:1").to_string(), "trace");
    assert_eq!(process("onoff:7,burst=4,peak=20"), process("onoff:7,peak=20,burst=4"));
    assert_eq!(process("constant:5").line_rate(), "5 Gbit/s");
    assert_eq!(process("poisson:5").line_rate(), "poisson:5");
}

#[test]
fn a_line_rate_is_a_constant_rate_trace_or_max() {
    assert_eq!(ArrivalProcess::from_line_rate("trace"), Ok(process("trace")));
    assert_eq!(ArrivalProcess::from_line_rate("max"), Ok(process("max")));
    assert_eq!(ArrivalProcess::from_line_rate("12.5"), Ok(process("constant:12.5")));
    for text in ["", "fast", "0", "-1", "nan", "inf", "1e9", "constant:1", "trace:2"] {
        assert!(ArrivalProcess::from_line_rate(text).unwrap_err().contains("expected Gbit/s"), "{text}");
    }
}

#[test]
fn errors_name_the_field_and_what_was_expected() {
    for (text, part) in [
        ("", "``: expected `constant:R`, `poisson:R"),
        ("fast", "`fast`: expected `constant:R`"),
        ("10", "`10`: expected `constant:R`"),
        ("max:1", "`max:1`: expected `constant:R`"),
        ("constant", "`constant`: no rate; expected"),
        ("constant:", "rate ``: expected 0.001 to 100000 Gbit/s"),
        ("constant:0", "rate `0`: expected 0.001 to 100000 Gbit/s"),
        ("constant:-4", "rate `-4`: expected 0.001"),
        ("constant:nan", "rate `nan`: expected 0.001"),
        ("constant:inf", "rate `inf`: expected 0.001"),
        ("constant:1,peak=3", "rate `1,peak=3`: expected 0.001"),
        ("poisson:0", "rate `0`: expected 0.001"),
        ("poisson:10,port=10", "port `10`: expected more than the mean rate, 10 Gbit/s"),
        ("poisson:10,port=nan", "port `nan`: expected 0.001 to 100000 Gbit/s"),
        ("poisson:10,peak=40", "`peak=40`: expected `port=`"),
        ("poisson:10,port=40,port=50", "`port=50`: expected `port=` once"),
        ("poisson:10,", "``: expected `port=`"),
        ("onoff:10", "`onoff:10`: no peak; expected `onoff:R,peak=P,burst=N`"),
        ("onoff:10,peak=20", "`onoff:10,peak=20`: no burst; expected"),
        ("onoff:10,peak=9.9,burst=4", "peak `9.9`: expected at least the mean rate, 10 Gbit/s"),
        ("onoff:10,peak=20,burst=0", "burst `0`: expected 1 to 1000000000 frames in the mean"),
        ("onoff:10,peak=20,burst=nan", "burst `nan`: expected 1"),
        ("onoff:10,20,4", "`20`: expected `peak=` and `burst=`"),
        ("onoff:-1,peak=20,burst=4", "rate `-1`: expected 0.001"),
        ("step:", "step ``: expected RATE@CYCLE"),
        ("step:5", "step `5`: expected RATE@CYCLE"),
        ("step:5@0,", "step ``: expected RATE@CYCLE"),
        ("step:0@0", "step `0@0`: rate `0`: expected 0.001"),
        ("step:5@-1", "step `5@-1`: expected a cycle, 0 to "),
        ("step:5@1.5", "step `5@1.5`: expected a cycle"),
        ("step:5@0,6@0", "step `6@0`: expected a cycle above 0, that of the step before"),
        ("step:5@10,6@9", "step `6@9`: expected a cycle above 10"),
        ("trace:0", "speed-up `0`: expected 0.000001 to 1000000"),
        ("trace:", "speed-up ``: expected"),
        ("trace:nan", "speed-up `nan`: expected"),
    ] {
        let error = text.parse::<ArrivalProcess>().unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}
