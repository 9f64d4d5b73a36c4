//! An array with network functions of which only NF 0 is used is the array without them.

use super::grid;
use hermes_rtl::config::Config;
use hermes_testbench::apps::{AppEntry, Inputs};
use hermes_testbench::cosim::{
    run, ArraySetup, Host, KernelImage, MemoryOptions, Packet, RunOptions, RunResult, Simulation,
};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::traffic::{Generator, Kind, Traffic};
use verilator_sys::ModelLibrary;

fn run_on(library: &ModelLibrary, name: &str, packets: &[SlotPacket]) -> RunResult {
    let entry = AppEntry::find(name).unwrap();
    let app = entry.load(&Inputs::default()).unwrap();
    let kernel = entry.kernel(false).unwrap();
    let memory = MemoryOptions::default();
    let simulation = Simulation::new(library.instantiate().unwrap(), 16 << 20, memory).unwrap();
    let mut host = Host::new(simulation).unwrap();
    host.load_kernel(&KernelImage::from(&kernel)).unwrap();
    let setup = ArraySetup { ring_slots_log2: 8, ..ArraySetup::default() };
    let layout = host.configure(&setup).unwrap();
    let packet = |p: &SlotPacket| {
        let [_, port, flags, _] = p.descriptor(0);
        Packet { frame: p.frame.clone(), port, flags, arrival: 0 }
    };
    let arriving: Vec<Packet> = packets.iter().map(packet).collect();
    let result = run(&mut host, &setup, &layout, &arriving, RunOptions::default(), &mut |_| {}).unwrap();
    for (packet, got) in packets.iter().zip(&result.packets) {
        let expected = app.golden(got.index, packet);
        assert_eq!(got.verdict, expected.verdict.0, "{name}: verdict of packet {}", got.index);
        assert_eq!(got.bytes, expected.frame, "{name}: frame of packet {}", got.index);
    }
    result
}

/// The same results in the same cycles.
#[test]
fn takes_the_cycles_of_the_array_without() {
    let plain = grid::two_cores();
    let with = Config { network_functions: 2, ..plain.clone() };
    let libraries = [grid::build(&plain), grid::build_brief(&with)];
    let traffic = Traffic { kind: Kind::Imix, seed: 3, bad_share: 20.0, rate: 100.0 };
    let packets: Vec<_> =
        Generator::new(traffic).take(300).map(|frame| SlotPacket::new(&frame, 11)).collect();
    for name in ["dec-ttl", "check-ip-header"] {
        let [without, with] = libraries.each_ref().map(|library| run_on(library, name, &packets));
        assert_eq!(with.packets.len(), without.packets.len());
        let (before, after) = (without.cycles, with.cycles);
        assert_eq!(after, before, "{name}");
    }
}
