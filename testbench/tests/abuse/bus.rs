//! A memory that pauses for thousands of cycles, and one that answers with errors.

use hermes_testbench::apps::App;
use hermes_testbench::cosim::{Device as _, Disturbance, Host, Packet, RunResult};
use hermes_testbench::slot::{SlotPacket, FRAME_OFFSET};
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use rand::Rng as _;

use super::array::*;

fn frames(count: usize, seed: u64) -> Vec<Vec<u8>> {
    let traffic = Traffic { kind: Kind::Fixed(128), seed, bad_share: 20.0, rate: 100.0 };
    Generator::new(traffic).take(count).map(|frame| frame.data).collect()
}

/// Runs frames through dec-ttl; `disturbance` gets the first address of the ring.
fn run(seed: u64, frames: &[Vec<u8>], disturbance: impl Fn(u32) -> Disturbance) -> (Box<dyn App>, RunResult) {
    let (app, kernel) = app("dec-ttl");
    let mut host = Host::new(simulation(memory(seed), MEMORY_BYTES)).unwrap();
    let setup = setup();
    let layout = prepare(&mut host, &kernel, &setup);
    host.device_mut().disturb_memory(disturbance(layout.ring_base));
    let packets: Vec<Packet> = arriving(frames.iter().cloned());
    let result = process(&mut host, &setup, &layout, &packets).unwrap();
    (app, result)
}

#[test]
fn long_pauses_change_nothing() {
    let mut random = random();
    let frames = frames(100, random.gen());
    let pauses = Disturbance { longest_pause: 5_000, longest_run: 1_500, ..Disturbance::default() };
    let (app, result) = run(random.gen(), &frames, |_| pauses);
    for (frame, got) in frames.iter().zip(&result.packets) {
        check(app.as_ref(), frame, got, "pauses");
    }
    assert_eq!((result.fault_count, result.bus_errors), (0, 0));
    for channel in &result.memory.channels {
        assert!(channel.stalled_cycles > 5_000, "{channel:?}");
    }
    println!("{} cycles", result.cycles);
}

/// A read that fails is a fault of the threads that wanted the line; all other packets are right.
#[test]
fn random_errors_of_reads_are_faults_of_their_threads() {
    let mut random = random();
    let frames = frames(400, random.gen());
    let errors =
        |ring| Disturbance { read_errors: 60, errors_at: (ring, u32::MAX), ..Disturbance::default() };
    let (app, result) = run(random.gen(), &frames, errors);
    let mut faults = 0;
    for (frame, got) in frames.iter().zip(&result.packets) {
        if got.verdict == FAULT | 5 {
            faults += 1;
        } else {
            check(app.as_ref(), frame, got, "errors of reads");
        }
    }
    assert!((5..300).contains(&faults), "{faults} faults");
    assert_eq!(result.fault_count, faults);
    assert!(result.faults.iter().all(|fault| fault.cause == 5));
    let recorded: u32 = result.faults.iter().map(|fault| u32::from(fault.threads)).sum();
    assert!(recorded == faults || result.lost_faults > 0);
    assert_eq!(u64::from(result.bus_errors), result.memory.total().errors);
}

/// What is not written is lost, but no packet's turn.
#[test]
fn random_errors_of_writes_are_counted() {
    let mut random = random();
    let frames = frames(400, random.gen());
    let errors = |_| Disturbance { write_errors: 100, errors_at: (0, u32::MAX), ..Disturbance::default() };
    let (_, result) = run(random.gen(), &frames, errors);
    assert_eq!(result.fault_count, 0);
    assert!(result.bus_errors > 10, "{}", result.bus_errors);
    assert_eq!(u64::from(result.bus_errors), result.memory.total().errors);
}

/// A line of the kernel that cannot be fetched is a fault of all that come to it, until the host
/// drops the instruction caches.
#[test]
fn errors_of_fetches_are_faults_until_the_caches_are_dropped() {
    let mut random = random();
    let (app, kernel) = app("dec-ttl");
    let frames = frames(24, random.gen());
    for trial in 0..6 {
        let mut host = Host::new(simulation(memory(random.gen()), MEMORY_BYTES)).unwrap();
        let setup = setup();
        let layout = prepare(&mut host, &kernel, &setup);
        let (address, bytes) = &kernel.segments[0];
        let code = (*address, address + bytes.len() as u32 - 1);
        host.device_mut().disturb_memory(Disturbance {
            read_errors: 400,
            errors_at: code,
            ..Disturbance::default()
        });
        host.start(false).unwrap();
        let mut committed = 0;
        let mut faulted = 0;
        for (round, errors) in [true, false].into_iter().enumerate() {
            if !errors {
                host.device_mut().disturb_memory(Disturbance::default());
                clean_caches(&mut host);
            }
            // The second half of the ring is not in the caches.
            let first = 16 * round;
            for (slot, frame) in (first..).zip(&frames[..16]) {
                let address = layout.ring_base + ((slot as u32) << SLOT_BYTES_LOG2);
                let mut bytes = (frame.len() as u32).to_le_bytes().to_vec();
                bytes.resize(FRAME_OFFSET, 0);
                bytes.extend(frame);
                host.device_mut().write_memory(address, &bytes).unwrap();
            }
            host.push_tasks(16).unwrap();
            await_commits(&mut host, &mut committed, 16 * (round as u32 + 1), 100_000);
            clean_caches(&mut host);
            for (slot, frame) in (first..).zip(&frames[..16]) {
                let image = host.device_mut().image();
                let verdict = image.read_u32(layout.verdict_base + 4 * slot as u32).unwrap();
                let packet = SlotPacket { frame: frame.clone(), cut: 0, port: 0 };
                let golden = app.golden(slot as u64, &packet).verdict.0;
                let fault = errors && verdict == FAULT | 1;
                faulted += u32::from(fault);
                assert!(
                    fault || verdict == golden,
                    "trial {trial}, slot {slot}: {verdict:#x}, golden {golden:#x}"
                );
            }
        }
        let counted = host.read("FAULTS").unwrap();
        assert_eq!(counted, faulted, "trial {trial}");
    }
}
