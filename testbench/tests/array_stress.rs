//! The real array behind a memory that answers late, out of order and with back-pressure: what
//! comes out must not depend on it. `HERMES_SEED` repeats a run.

// Of the grid only the array of these tests.
#[allow(dead_code)]
mod grid;

use hermes_testbench::apps::{App, AppEntry, Inputs};
use hermes_testbench::cosim::{
    run, ArraySetup, Host, KernelImage, Latency, MemoryOptions, Packet, RunOptions, RunResult, Simulation,
};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::test_seed;
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use verilator_sys::ModelLibrary;

const SLOT_BYTES_LOG2: u32 = 11;

fn library() -> ModelLibrary {
    grid::build(&grid::two_cores())
}

fn packets(count: usize, seed: u64) -> Vec<SlotPacket> {
    let traffic = Traffic { kind: Kind::Imix, seed, bad_share: 20.0, rate: 100.0 };
    Generator::new(traffic).take(count).map(|frame| SlotPacket::new(&frame, SLOT_BYTES_LOG2)).collect()
}

/// The apps of these tests: one that writes to its packets and one that only reads them.
const APPS: [&str; 2] = ["dec-ttl", "check-ip-header"];

fn app(name: &str) -> Box<dyn App> {
    AppEntry::find(name).unwrap().load(&Inputs::default()).unwrap()
}

fn run_app(library: &ModelLibrary, name: &str, packets: &[SlotPacket], memory: MemoryOptions) -> RunResult {
    let kernel = AppEntry::find(name).unwrap().kernel(false).unwrap();
    let simulation = Simulation::new(library.instantiate().unwrap(), 16 << 20, memory).unwrap();
    let mut host = Host::new(simulation).unwrap();
    host.load_kernel(&KernelImage::from(&kernel)).unwrap();
    // A ring smaller than what the cores can hold, so that its slots are reused at once.
    let setup = ArraySetup { ring_slots_log2: 4, slot_bytes_log2: SLOT_BYTES_LOG2, ..ArraySetup::default() };
    let layout = host.configure(&setup).unwrap();
    let packet = |p: &SlotPacket| {
        let [_, port, flags, _] = p.descriptor(0);
        Packet { frame: p.frame.clone(), port, flags, arrival: 0 }
    };
    let packets: Vec<Packet> = packets.iter().map(packet).collect();
    run(&mut host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap()
}

#[test]
fn results_do_not_depend_on_the_memory() {
    let seed = test_seed();
    let library = library();
    let packets = packets(400, seed);
    let cases = [
        (Latency::Fixed(1), 0),
        (Latency::Fixed(200), 0),
        (Latency::Fixed(3), 60),
        (Latency::Random(1, 100), 0),
        (Latency::Random(1, 30), 70),
    ];
    for name in APPS {
        let app = app(name);
        for (latency, stall_percent) in cases {
            let case = format!("{name}, {latency:?}, {stall_percent} % stalls");
            let memory = MemoryOptions { latency, stall_percent, seed, failing: Vec::new() };
            let result = run_app(&library, name, &packets, memory);
            assert_eq!(result.packets.len(), packets.len(), "{case}");
            assert_eq!(
                (result.fault_count, result.bus_errors, result.memory.total().errors),
                (0, 0, 0),
                "{case}"
            );
            for (packet, got) in packets.iter().zip(&result.packets) {
                let expected = app.golden(got.index, packet);
                assert_eq!(got.verdict, expected.verdict.0, "{case}: verdict of packet {}", got.index);
                assert_eq!(got.bytes, expected.frame, "{case}: frame of packet {}", got.index);
            }
        }
    }
}

#[test]
fn two_runs_take_the_same_cycles() {
    let library = library();
    let packets = packets(100, 7);
    let memory =
        MemoryOptions { latency: Latency::Random(1, 50), stall_percent: 30, ..MemoryOptions::default() };
    let [a, b] = [(); 2].map(|()| run_app(&library, APPS[0], &packets, memory.clone()));
    assert_eq!((a.cycles, a.packets), (b.cycles, b.packets));
    assert_eq!((a.memory, a.counters), (b.memory, b.counters));
}
