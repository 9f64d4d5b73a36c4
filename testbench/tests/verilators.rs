//! The same packets with several Verilators: verdicts, bytes and cycle counts must not depend on
//! the simulator, nor on whether its C++ is rewritten.
//!
//! `HERMES_VERILATORS` lists programs, separated by colons; `scripts/verilators` installs some and
//! runs this. `HERMES_SEED` repeats a run.

use hermes_rtl::config::Config;
use hermes_testbench::apps::{AppEntry, Inputs};
use hermes_testbench::cosim::{
    run, ArraySetup, Host, KernelImage, Latency, MemoryOptions, Packet, RunOptions, Simulation,
};
use hermes_testbench::model;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::test_seed;
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use verilator_sys::{Model, ModelLibrary, ModelOptions};

const SLOT_BYTES_LOG2: u32 = 11;
/// The apps that run: one writes to its packets, one reads them only.
const APPS: [&str; 2] = ["dec-ttl", "check-ip-header"];
/// Packets of each.
const PACKETS: usize = 1000;

/// What must be the same.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    verdicts: Vec<u32>,
    bytes: Vec<Vec<u8>>,
    cycles: u64,
    counters: String,
}

/// The outcome of each app, and thousands of cycles a second.
fn outcomes(library: &ModelLibrary, seed: u64) -> (Vec<Outcome>, f64) {
    let traffic = Traffic { kind: Kind::Imix, seed, bad_share: 20.0, rate: 100.0 };
    let slots: Vec<_> =
        Generator::new(traffic).take(PACKETS).map(|frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2)).collect();
    let packet = |p: &SlotPacket| Packet { frame: p.frame.clone(), port: 0, flags: 0, arrival: 0 };
    let packets: Vec<Packet> = slots.iter().map(packet).collect();
    let (mut cycles, mut seconds) = (0, 0.0);
    let mut outcome = |name: &str| {
        let memory = MemoryOptions { latency: Latency::Random(1, 60), seed, ..MemoryOptions::default() };
        let simulation = Simulation::new(library.instantiate().unwrap(), 1 << 30, memory).unwrap();
        let mut host = Host::new(simulation).unwrap();
        let entry = AppEntry::find(name).unwrap();
        let app = entry.load(&Inputs::default()).unwrap();
        host.load_kernel(&KernelImage::from(&entry.kernel(false).unwrap())).unwrap();
        let mut setup =
            ArraySetup { ring_slots_log2: 8, slot_bytes_log2: SLOT_BYTES_LOG2, ..ArraySetup::default() };
        host.load_app(app.as_ref(), &mut setup).unwrap();
        let layout = host.configure(&setup).unwrap();
        let start = std::time::Instant::now();
        let result = run(&mut host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap();
        seconds += start.elapsed().as_secs_f64();
        cycles += result.simulated_cycles;
        assert_eq!(result.packets.len(), PACKETS, "{name}");
        for (packet, got) in slots.iter().zip(&result.packets) {
            assert_eq!(got.verdict, app.golden(got.index, packet).verdict.0, "{name}, packet {}", got.index);
        }
        Outcome {
            verdicts: result.packets.iter().map(|p| p.verdict).collect(),
            bytes: result.packets.iter().map(|p| p.bytes.clone()).collect(),
            cycles: result.cycles,
            counters: format!("{:?}", result.counters),
        }
    };
    let outcomes = APPS.iter().map(|name| outcome(name)).collect();
    (outcomes, cycles as f64 / seconds / 1e3)
}

#[test]
#[ignore = "builds two arrays with every Verilator of HERMES_VERILATORS"]
fn every_verilator_agrees() {
    let seed = test_seed();
    let programs = std::env::var("HERMES_VERILATORS")
        .expect("HERMES_VERILATORS lists Verilator programs, separated by colons");
    let programs: Vec<&str> = programs.split(':').filter(|program| !program.is_empty()).collect();
    assert!(programs.len() > 1, "HERMES_VERILATORS names fewer than two programs: nothing to compare");
    let design = hermes_rtl::top::emit_top(&Config::preset("default").unwrap()).unwrap();
    let mut first: Option<Vec<Outcome>> = None;
    for program in programs {
        for plain in [false, true] {
            let verilator = program.to_string();
            let mut options = ModelOptions { verilator, ..model::options(&design) };
            if plain {
                options.rewriter = None;
            }
            let library = Model::build(&design.verilog(), &options).unwrap();
            let because = &library.report().plain_because;
            // What cannot be rewritten is plain already.
            let how = match (plain, because) {
                (true, _) => "plain".to_string(),
                (false, None) => "rewritten".to_string(),
                (false, Some(because)) => format!("plain, since {because}"),
            };
            let (outcomes, kilohertz) = outcomes(&library, seed);
            let cycles: Vec<u64> = outcomes.iter().map(|outcome| outcome.cycles).collect();
            let build = library.report().elapsed.as_secs_f64();
            println!("{program}, {how}: {cycles:?} cycles, {kilohertz:.0} kHz, there in {build:.0} s");
            let Some(expected) = &first else {
                first = Some(outcomes);
                continue;
            };
            for (name, (expected, found)) in APPS.iter().zip(expected.iter().zip(&outcomes)) {
                assert_eq!(expected.cycles, found.cycles, "{program}, {how}: cycles of {name}");
                assert!(expected == found, "{program}, {how}: verdicts, bytes or counters of {name} differ");
            }
        }
    }
}
