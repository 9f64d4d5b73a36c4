//! The array with packet ports: frames of random sizes in, with random gaps, through the caches and
//! a memory that answers late and out of order, and out again. Order, bytes and ports must be those
//! of the golden model. `HERMES_SEED` repeats a run. 100,000 frames take some minutes:
//! `cargo test -p hermes-testbench --test packet_ports -- --ignored`.

// Of the grid only the array of these tests.
#[allow(dead_code)]
mod grid;

use std::sync::OnceLock;

use hermes_testbench::apps::{App, AppEntry, Inputs};
use hermes_testbench::cosim::{
    run, run_through_ports, ArraySetup, Host, KernelImage, Latency, Layout, MemoryOptions, Packet,
    PortsResult, RunOptions, Simulation, StreamOptions,
};
use hermes_testbench::outcome::check_ports;
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::test_seed;
use hermes_testbench::traffic::{Frame, Generator, Kind, Traffic};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

const SLOT_BYTES_LOG2: u32 = 11;

fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| grid::build(&grid::with_packet_ports()))
}

/// UDP packets of 60 to 1,518 bytes from random ports, a few of them bad.
fn frames(count: usize, seed: u64) -> Vec<Frame> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let frame = |_| {
        let kind = Kind::Fixed(random.gen_range(60..=1518));
        let traffic = Traffic { kind, seed: random.gen(), bad_share: 10.0, rate: 100.0 };
        let frame = Generator::new(traffic).next().expect("generators do not end");
        Frame { port: random.gen_range(0..4), ..frame }
    };
    (0..count).map(frame).collect()
}

fn app(name: &str) -> Box<dyn App> {
    AppEntry::find(name).unwrap().load(&Inputs::default()).unwrap()
}

fn host(name: &str, ring_slots_log2: u32, memory: MemoryOptions) -> (Host<Simulation>, ArraySetup, Layout) {
    let kernel = AppEntry::find(name).unwrap().kernel(false).unwrap();
    let simulation = Simulation::new(library().instantiate().unwrap(), 16 << 20, memory).unwrap();
    let mut host = Host::new(simulation).unwrap();
    host.load_kernel(&KernelImage::from(&kernel)).unwrap();
    let setup = ArraySetup { ring_slots_log2, slot_bytes_log2: SLOT_BYTES_LOG2, ..ArraySetup::default() };
    let layout = host.configure(&setup).unwrap();
    (host, setup, layout)
}

fn memory(latency: Latency, stall_percent: u8, seed: u64) -> MemoryOptions {
    MemoryOptions { latency, stall_percent, seed, failing: Vec::new() }
}

/// Frames through the ports; gives the result with the packets that it was checked against.
fn through(
    name: &str,
    ring_slots_log2: u32,
    memory: MemoryOptions,
    stall_percent: u8,
    frames: &[Frame],
) -> (Vec<SlotPacket>, PortsResult) {
    let seed = memory.seed;
    let (mut host, setup, _) = host(name, ring_slots_log2, memory);
    let slots: Vec<_> = frames.iter().map(|frame| SlotPacket::new(frame, SLOT_BYTES_LOG2)).collect();
    let packet = |f: &Frame| Packet { frame: f.data.clone(), port: f.port, flags: 0, arrival: 0 };
    let packets: Vec<_> = frames.iter().map(packet).collect();
    let streams = StreamOptions { stall_percent, seed, ..StreamOptions::default() };
    let options = RunOptions::default();
    let result = run_through_ports(&mut host, &setup, &packets, streams, options, &mut |_| {}).unwrap();
    (slots, result)
}

fn check(name: &str, ring_slots_log2: u32, memory: MemoryOptions, stall_percent: u8, frames: &[Frame]) {
    let case = format!("{name}, 2^{ring_slots_log2} slots, {memory:?}, {stall_percent} % gaps");
    let (packets, result) = through(name, ring_slots_log2, memory, stall_percent, frames);
    if let Err(error) = check_ports(app(name).as_ref(), &packets, &result) {
        panic!("{case}: {error:#}");
    }
    assert_eq!((result.run.fault_count, result.run.bus_errors), (0, 0), "{case}");
    assert!(result.sent.len() < frames.len() && result.sent.len() > frames.len() / 2, "{case}");
    println!(
        "{case}: {} frames, {} left, {} cycles, {:.0} kHz",
        frames.len(),
        result.sent.len(),
        result.run.cycles,
        result.run.kilohertz()
    );
}

#[test]
fn order_bytes_and_ports_are_kept() {
    let seed = test_seed();
    let frames = frames(250, seed);
    check("dec-ttl", 5, memory(Latency::Random(1, 100), 30, seed), 0, &frames);
    check("dec-ttl", 2, memory(Latency::Fixed(1), 0, seed), 60, &frames);
    check("check-ip-header", 7, memory(Latency::Random(1, 20), 60, seed), 30, &frames);
}

/// What cannot go through the ports is named.
#[test]
fn frames_without_bytes_are_an_error() {
    let (mut host, setup, _) = host("dec-ttl", 3, MemoryOptions::default());
    let empty = [Packet { frame: Vec::new(), port: 0, flags: 0, arrival: 0 }];
    let (streams, options) = (StreamOptions::default(), RunOptions::default());
    let error = run_through_ports(&mut host, &setup, &empty, streams, options, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "packet 0: the frame has no bytes, and cannot go through the packet ports");
}

/// Of frames that a slot does not hold, the array keeps what fits.
#[test]
fn frames_are_cut_to_the_slot() {
    let traffic = Traffic { kind: Kind::Fixed(2100), seed: test_seed(), bad_share: 0.0, rate: 100.0 };
    let frames: Vec<_> = Generator::new(traffic).take(20).collect();
    let (packets, result) = through("dec-ttl", 3, memory(Latency::Fixed(20), 0, 1), 0, &frames);
    check_ports(app("dec-ttl").as_ref(), &packets, &result).unwrap();
    assert_eq!(result.counters.cut_in, 20);
}

/// The ports do not stand in the way of a host that writes to the ring itself.
#[test]
fn the_host_can_feed_an_array_with_ports() {
    let seed = test_seed();
    let frames = frames(100, seed);
    let (mut host, setup, layout) = host("dec-ttl", 5, memory(Latency::Random(1, 50), 20, seed));
    let app = app("dec-ttl");
    let slots: Vec<_> = frames.iter().map(|frame| SlotPacket::new(frame, SLOT_BYTES_LOG2)).collect();
    let packet = |f: &Frame| Packet { frame: f.data.clone(), port: f.port, flags: 0, arrival: 0 };
    let packets: Vec<_> = frames.iter().map(packet).collect();
    let result = run(&mut host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {}).unwrap();
    for (packet, got) in slots.iter().zip(&result.packets) {
        assert_eq!(got.verdict, app.golden(got.index, packet).verdict.0, "packet {}", got.index);
    }
    assert_eq!(result.packets.len(), 100);
    assert_eq!((host.read("PORTS_FRAMES_OUT").unwrap(), host.read("PORTS_BUSY").unwrap()), (0, 0));
}

#[test]
#[ignore = "100,000 frames: some minutes"]
fn a_hundred_thousand_frames() {
    let seed = test_seed();
    let frames = frames(100_000, seed);
    check("dec-ttl", 6, memory(Latency::Random(1, 60), 20, seed), 25, &frames);
}
