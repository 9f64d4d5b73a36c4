//! Kernels that do not end, divide by zero, or overflow their stack.

use hermes_rtl::config::LOCAL_WINDOW_ADDRESS;
use hermes_testbench::cosim::{ArraySetup, Host};
use hermes_testbench::fuzz::{generate, Bench, Features};
use rand::Rng as _;

use super::array::*;
use super::isolation::{close_windows, only_changed_in, ring};

/// Ten kinds of endless loops at once, some lanes of a warp in them and others not: the watchdog
/// ends them, with a fault each, and the packets beside and behind them have their verdicts.
#[test]
fn kernels_that_do_not_end_are_ended() {
    let mut random = random();
    let kernel = assemble(include_str!("kernels/endless.S"));
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let setup = ArraySetup { ring_slots_log2: 7, watchdog: 2_000, ..setup() };
    let layout = prepare(&mut host, &kernel, &setup);
    let packets = arriving((0..320).map(|_| vec![0; 60]));
    let result = process(&mut host, &setup, &layout, &packets).unwrap();
    for packet in &result.packets {
        let expected = if packet.index % 16 < 10 { FAULT | 24 } else { packet.index as u32 };
        assert_eq!(packet.verdict, expected, "packet {}", packet.index);
    }
    assert_eq!(result.fault_count, 320 / 16 * 10);
    assert!(
        !result.faults.is_empty()
            && result.faults.iter().all(|fault| (fault.cause, fault.address) == (24, 0))
    );
    // An end may wait for the loads of its warp, but not for long.
    let longest = result.packets.iter().map(|packet| packet.times.finish - packet.times.start).max().unwrap();
    assert!((2_000..5_000).contains(&longest), "{longest} cycles");
}

/// Random programs that the watchdog ends wherever they are, in lock-step with the reference.
#[test]
fn programs_that_the_watchdog_ends_agree_with_the_reference() {
    programs(24, 2_500);
}

#[test]
#[ignore = "500 programs take some minutes"]
fn many_programs_that_the_watchdog_ends_agree_with_the_reference() {
    programs(500, 2_500);
}

fn programs(count: u64, watchdog: u32) {
    let first = random().gen_range(0..1 << 40);
    let (config, features) = (smallest_caches(), Features { atomics: true, ..Features::ALL });
    let mut bench = Bench::new(library().clone(), config.clone(), memory(0));
    bench.set_watchdog(watchdog);
    let mut ended = 0;
    for seed in first..first + count {
        let program = generate(seed, features, config.lanes.ilog2(), 64, Bench::frame_bytes(), 300);
        let outcome = bench.run(&program, seed).unwrap_or_else(|e| panic!("program {seed}: {e}"));
        ended += u64::from(outcome.coverage.table(&features).contains("(Watchdog)"));
    }
    println!("the watchdog ended warps of {ended} of {count} programs");
    assert!(ended * 2 > count, "{ended} of {count}");
}

#[test]
fn every_division_has_its_result() {
    let mut random = random();
    let kernel = assemble(include_str!("kernels/divisions.S"));
    let edges = [0, 1, 2, -1, -2, i32::MIN, i32::MAX, i32::MIN + 1, 1 << 16];
    let mut pairs: Vec<(i32, i32)> = edges.iter().flat_map(|a| edges.map(|b| (*a, b))).collect();
    pairs.extend((0..80).map(|_| (random.gen(), random.gen::<i32>() >> random.gen_range(0..32))));
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let setup = setup();
    let layout = prepare(&mut host, &kernel, &setup);
    let frame = |(a, b): &(i32, i32)| [&[0; 2], &a.to_le_bytes()[..], &b.to_le_bytes(), &[0; 16]].concat();
    let result = process(&mut host, &setup, &layout, &arriving(pairs.iter().map(frame))).unwrap();
    assert_eq!(result.fault_count, 0);
    for (&(a, b), packet) in pairs.iter().zip(&result.packets) {
        let (ua, ub) = (a as u32, b as u32);
        // By zero: all ones and the dividend. -2^31 / -1: -2^31 and 0.
        let expected = match b {
            0 => [u32::MAX, u32::MAX, ua, ua],
            _ => [a.wrapping_div(b) as u32, ua / ub, a.wrapping_rem(b) as u32, ua % ub],
        };
        let words = packet.bytes[10..26].chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
        assert!(words.eq(expected), "{a} and {b}");
    }
}

/// Threads that recurse for ever leave their stacks at the lower end; nothing else is touched,
/// another stack neither.
#[test]
fn a_stack_that_overflows_ends_in_a_fault() {
    let mut random = random();
    let kernel = assemble(include_str!("kernels/recursion.S"));
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let setup = setup();
    let layout = prepare(&mut host, &kernel, &setup);
    // Every core could have 32 warps of 4 threads.
    let stacks = (layout.stack_base, (2 * 32 * 4) << setup.stack_bytes_log2);
    close_windows(&mut host, stacks);
    let before = host.device_mut().image().clone();
    let packets = arriving((0..48).map(|_| vec![0; 60]));
    let result = process(&mut host, &setup, &layout, &packets).unwrap();
    assert!(result.packets.iter().all(|packet| packet.verdict == FAULT | 7));
    // The fault is the first store below the stack, in its guard.
    assert!(layout.local_window);
    let first = result.faults.iter().map(|fault| LOCAL_WINDOW_ADDRESS - fault.address);
    assert!(first.clone().all(|depth| depth == 64), "{:?}", first.collect::<Vec<_>>());
    let verdicts = (layout.verdict_base, 4 << setup.ring_slots_log2);
    only_changed_in(&mut host, before, &[stacks, ring(&setup, &layout), verdicts], "recursion");
}
