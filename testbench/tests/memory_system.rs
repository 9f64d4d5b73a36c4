//! The whole array with its caches, on a grid of cache sizes, channels and memory timings: apps
//! give what their golden models say, random programs agree with the reference instruction by
//! instruction, and the litmus tests keep to the memory model. `HERMES_SEED` repeats a run. The
//! whole grid takes long: `cargo test -p hermes-testbench --test memory_system -- --ignored`.

mod grid;

use std::path::Path;
use std::sync::OnceLock;

use grid::{build, memories};
use hermes_rtl::config::Config;
use hermes_testbench::apps::{App, AppEntry, Inputs};
use hermes_testbench::cosim::{
    run, ArraySetup, Host, KernelImage, Latency, Layout, MemoryOptions, Packet, RunOptions, RunResult,
    Simulation,
};
use hermes_testbench::fuzz::{generate, Bench, Features};
use hermes_testbench::golden::Golden;
use hermes_testbench::litmus::{Trial, TESTS};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::tables::generate_routes;
use hermes_testbench::test_seed;
use hermes_testbench::traffic::{Aim, Generator, Kind, Traffic};
use hermes_testbench::verdict::Verdict;
use verilator_sys::ModelLibrary;

const SLOT_BYTES_LOG2: u32 = 11;
/// A small ring, so that its slots are used again often.
const RING_SLOTS: u32 = 32;
/// Room for the table of route-lookup.
const MEMORY_BYTES: u64 = 128 << 20;
/// One that stores to its packets, one that reads a large table, one that writes lists beside the
/// packets.
const APPS: [&str; 3] = ["dec-ttl", "route-lookup", "fragment"];

fn tiny() -> &'static (Config, ModelLibrary) {
    static TINY: OnceLock<(Config, ModelLibrary)> = OnceLock::new();
    TINY.get_or_init(|| {
        let config = grid::smallest_caches();
        let library = build(&config);
        (config, library)
    })
}

/// The inputs of an app, files in `folder`, and what packets for them are aimed at.
fn inputs(name: &str, folder: &Path, seed: u64) -> (Inputs, Aim) {
    let (mut inputs, mut aim) = (Inputs::default(), Aim::default());
    if name == "route-lookup" {
        let table = generate_routes(2000, 32, seed);
        let path = folder.join("routes");
        std::fs::write(&path, table.to_text()).unwrap();
        inputs.routes = Some(path);
        aim.routes = table.routes;
    }
    if name == "fragment" {
        inputs.mtu = Some(300);
    }
    (inputs, aim)
}

fn run_app(
    library: &ModelLibrary,
    name: &str,
    app: &dyn App,
    packets: &[SlotPacket],
    memory: MemoryOptions,
) -> (Layout, RunResult) {
    let kernel = AppEntry::find(name).unwrap().kernel(false).unwrap();
    let simulation = Simulation::new(library.instantiate().unwrap(), MEMORY_BYTES, memory).unwrap();
    let mut host = Host::new(simulation).unwrap();
    host.load_kernel(&KernelImage::from(&kernel)).unwrap();
    let mut setup = ArraySetup {
        ring_slots_log2: RING_SLOTS.ilog2(),
        slot_bytes_log2: SLOT_BYTES_LOG2,
        ..ArraySetup::default()
    };
    host.load_app(app, &mut setup).unwrap();
    let layout = host.configure(&setup).unwrap();
    let packet = |p: &SlotPacket| {
        let [_, port, flags, _] = p.descriptor(0);
        Packet { frame: p.frame.clone(), port, flags, arrival: 0 }
    };
    let packets: Vec<Packet> = packets.iter().map(packet).collect();
    let result = run(&mut host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap();
    (layout, result)
}

/// Runs every app, and random programs in lock-step.
fn check(config: &Config, library: &ModelLibrary, memory: &MemoryOptions, packets: usize, programs: u64) {
    let seed = memory.seed;
    let case = format!("{config:?}, {memory:?}");
    let folder = tempfile::tempdir().unwrap();
    for name in APPS {
        let (inputs, aim) = inputs(name, folder.path(), seed);
        let app = AppEntry::find(name).unwrap().load(&inputs).unwrap();
        let traffic = Traffic { kind: Kind::Imix, seed, bad_share: 10.0, rate: 100.0 };
        let frames = Generator::aimed(traffic, aim).take(packets);
        let packets: Vec<_> = frames.map(|frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2)).collect();
        let (_, result) = run_app(library, name, app.as_ref(), &packets, memory.clone());
        assert_eq!(result.packets.len(), packets.len(), "{case}: {name}");
        assert_eq!((result.fault_count, result.bus_errors), (0, 0), "{case}: {name}");
        for (packet, got) in packets.iter().zip(&result.packets) {
            let golden = Golden { verdict: Verdict(got.verdict), frame: got.bytes.clone() };
            if let Some(difference) = app.check(got.index, packet, golden) {
                panic!("{case}: {name}: {difference}");
            }
            if let Err(error) = app.check_egress(got.index, packet, &got.egress) {
                panic!("{case}: {name}: packet {}: {error:#}", got.index);
            }
        }
    }
    let bench = Bench::new(library.clone(), config.clone(), memory.clone());
    let features = Features { atomics: config.atomics, ..Features::ALL };
    for seed in seed..seed + programs {
        let program = generate(seed, features, config.lanes.ilog2(), 40, Bench::frame_bytes(), 300);
        let outcome = bench.run(&program, seed).unwrap_or_else(|e| panic!("{case}: program {seed}: {e}"));
        assert!(outcome.compared > 300, "{case}: program {seed}");
    }
}

/// A line that cannot be read is a fault of the threads that wanted it, one that cannot be written
/// is counted; nothing hangs.
#[test]
fn bus_errors_fault_or_are_counted() {
    let (_, library) = tiny();
    let seed = test_seed();
    let traffic = Traffic { kind: Kind::Imix, seed, bad_share: 0.0, rate: 100.0 };
    let packets: Vec<_> =
        Generator::new(traffic).take(120).map(|frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2)).collect();
    let app = AppEntry::find("dec-ttl").unwrap().load(&Inputs::default()).unwrap();
    let run = |failing| {
        let memory =
            MemoryOptions { latency: Latency::Random(1, 60), seed, failing, ..MemoryOptions::default() };
        run_app(library, "dec-ttl", app.as_ref(), &packets, memory)
    };
    let (layout, good) = run(Vec::new());
    assert_eq!((good.bus_errors, good.fault_count), (0, 0));

    let line = |address: u32| (address, address + 63);
    let slot = |number: u32| layout.ring_base + (number << SLOT_BYTES_LOG2);
    let (same, result) = run(vec![line(slot(3)), line(slot(9))]);
    assert_eq!(same, layout);
    for (good, got) in good.packets.iter().zip(&result.packets) {
        let failed = matches!(got.index as u32 % RING_SLOTS, 3 | 9);
        // Load access fault.
        let expected = if failed { 0xc000_0005 } else { good.verdict };
        assert_eq!(got.verdict, expected, "packet {}", got.index);
        assert!(failed || got.bytes == good.bytes, "packet {}", got.index);
    }
    assert_eq!(result.fault_count, 8);
    assert!(result.faults.iter().all(|f| f.cause == 5 && matches!(f.packet % RING_SLOTS, 3 | 9)));
    assert!(result.bus_errors > 0);

    let (_, result) = run(vec![line(layout.verdict_base)]);
    assert_eq!((result.packets.len(), result.fault_count), (packets.len(), 0));
    assert!(result.bus_errors > 0);
}

#[test]
fn tiny_caches_give_the_right_results() {
    let (config, library) = tiny();
    for memory in &memories(test_seed())[..2] {
        check(config, library, memory, 120, 2);
    }
}

#[test]
fn litmus_tests_hold_and_need_their_fences() {
    let (config, library) = tiny();
    let memories = memories(test_seed());
    litmus(library, config.cores, 200, &[(memories[0].clone(), 1), (memories[1].clone(), 4)]);
}

/// Runs every litmus test with these memories and warps at once on a core, with and without fences.
/// With several cores the tests that need fences must fail without.
fn litmus(library: &ModelLibrary, cores: usize, instances: usize, trials: &[(MemoryOptions, u32)]) {
    for test in TESTS {
        let (mut broken, mut met) = (0, false);
        for (memory, mcw) in trials {
            let trial = Trial { fences: true, instances, delays: 63, mcw: *mcw, memory: memory.clone() };
            let outcomes = test.run(library, &trial).unwrap();
            println!("{}: {trial:?}: {outcomes:?}", test.name);
            assert_eq!(test.forbidden_in(&outcomes), 0);
            met |= outcomes.len() > 1;
            let outcomes = test.run(library, &Trial { fences: false, ..trial }).unwrap();
            println!("without fences: {outcomes:?}");
            let forbidden = test.forbidden_in(&outcomes);
            assert!(test.needs_fences || forbidden == 0);
            broken += forbidden;
        }
        assert!(met, "{}: its threads never meet, so that it shows nothing", test.name);
        assert!(!test.needs_fences || cores == 1 || broken > 0, "{} never fails without fences", test.name);
    }
}

/// Every array of the grid with every memory.
#[test]
#[ignore = "builds 9 arrays and takes most of an hour"]
fn the_whole_grid_gives_the_right_results() {
    let seed = test_seed();
    for sizes in grid::SIZES {
        println!("{sizes:?}");
        let config = Config { aes: true, ..grid::config(sizes) };
        let library = build(&config);
        for memory in memories(seed) {
            check(&config, &library, &memory, 400, 10);
        }
        litmus(&library, config.cores, 2000, &grid::trials(seed));
    }
}
