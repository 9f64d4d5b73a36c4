//! Resets in the middle of everything.

use hermes_testbench::cosim::{CosimError, Device as _, Host};
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use rand::Rng as _;

use super::array::*;

/// Whatever the array does when the reset comes, after it and a new set-up it processes all that it
/// is given, rightly.
#[test]
fn after_a_reset_at_any_time_the_array_works() {
    resets(120);
}

#[test]
#[ignore = "2,000 resets take some minutes"]
fn after_many_resets_at_any_time_the_array_works() {
    resets(2_000);
}

fn resets(trials: u64) {
    let mut random = random();
    let (app, kernel) = app("dec-ttl");
    let traffic = Traffic { kind: Kind::Fixed(64), seed: random.gen(), bad_share: 20.0, rate: 100.0 };
    let frames: Vec<_> = Generator::new(traffic).take(40).map(|frame| frame.data).collect();
    let packets = arriving(frames.iter().cloned());
    let setup = setup();
    let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
    let mut interrupted = 0;
    for trial in 0..trials {
        // The set-up alone takes 200 cycles, the packets take some thousand.
        let moment = host.device_mut().cycle() + random.gen_range(1..[100, 400, 2_500][trial as usize % 3]);
        host.device_mut().set_observer(Box::new(move |cycle, _, _, _| match cycle < moment {
            true => Ok(()),
            false => Err("time for a reset".to_string()),
        }));
        let outcome = host
            .load_kernel(&kernel)
            .and_then(|()| host.configure(&setup))
            .and_then(|layout| process(&mut host, &setup, &layout, &packets).map(drop));
        match outcome {
            Err(CosimError::Observer { .. }) => interrupted += 1,
            other => other.unwrap(),
        }
        host.device_mut().set_observer(Box::new(|_, _, _, _| Ok(())));
        if trial % 4 == 0 {
            // A second reset, while the array still wipes its memories after the first.
            host = reset(host);
            host.device_mut().run(random.gen_range(0..600)).unwrap();
        }
        host = reset(host);
        let layout = prepare(&mut host, &kernel, &setup);
        let result = process(&mut host, &setup, &layout, &packets).unwrap();
        for (frame, got) in frames.iter().zip(&result.packets) {
            check(app.as_ref(), frame, got, &format!("trial {trial}, reset in cycle {moment}"));
        }
        assert_eq!((result.fault_count, result.bus_errors), (0, 0), "trial {trial}");
        host = reset(host);
    }
    assert!(interrupted * 2 > trials, "{interrupted} of {trials} runs were interrupted");
}
