//! The array of these tests, and what they do with it.

use std::sync::OnceLock;

pub use super::grid::{build, smallest_caches};
use hermes_testbench::apps::{App, AppEntry, Inputs};
use hermes_testbench::cosim::{
    run, ArraySetup, CosimError, Device as _, Event, Host, KernelImage, Latency, Layout, MemoryOptions,
    Packet, PacketRecord, RunOptions, RunResult, Simulation,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::slot::SlotPacket;
use hermes_testbench::test_seed;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

/// Bytes of the shared memory.
pub const MEMORY_BYTES: u64 = 16 << 20;
/// Bytes of a ring slot, as a power of two.
pub const SLOT_BYTES_LOG2: u32 = 8;
/// Verdict bits of a fault without its cause.
pub const FAULT: u32 = 0xc000_0000;

/// A random source from `HERMES_SEED`, which is printed, or from 1.
pub fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(test_seed())
}

/// The model of [`smallest_caches`].
pub fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| build(&smallest_caches()))
}

/// A memory that answers after 1 to 60 cycles, in any order.
pub fn memory(seed: u64) -> MemoryOptions {
    MemoryOptions { latency: Latency::Random(1, 60), seed, ..MemoryOptions::default() }
}

/// A kernel from its assembly source.
pub fn assemble(text: &str) -> KernelImage {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.elf");
    build_source("kernel.S", text, RegisterClass::Rv32i, &path).unwrap();
    KernelImage::from(&Kernel::read(&path).unwrap())
}

/// An app without inputs, and its kernel.
pub fn app(name: &str) -> (Box<dyn App>, KernelImage) {
    let entry = AppEntry::find(name).unwrap();
    (entry.load(&Inputs::default()).unwrap(), KernelImage::from(&entry.kernel(false).unwrap()))
}

/// A ring of 32 slots of 256 bytes.
pub fn setup() -> ArraySetup {
    ArraySetup { ring_slots_log2: 5, slot_bytes_log2: SLOT_BYTES_LOG2, ..ArraySetup::default() }
}

/// An array in reset state with this memory.
pub fn simulation(memory: MemoryOptions, bytes: u64) -> Simulation {
    Simulation::new(library().instantiate().unwrap(), bytes, memory).unwrap()
}

/// Resets the array of `host` and takes charge of it anew.
pub fn reset(host: Host<Simulation>) -> Host<Simulation> {
    let mut simulation = host.into_device();
    simulation.reset().unwrap();
    Host::new(simulation).unwrap()
}

/// Loads the kernel and sets the array up.
pub fn prepare(host: &mut Host<Simulation>, kernel: &KernelImage, setup: &ArraySetup) -> Layout {
    host.load_kernel(kernel).unwrap();
    host.configure(setup).unwrap()
}

/// Frames as packets that arrive as fast as the ring takes them.
pub fn arriving(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<Packet> {
    frames.into_iter().map(|frame| Packet { frame, port: 0, flags: 0, arrival: 0 }).collect()
}

/// Runs packets through an array that has been set up; every one is committed in its turn.
pub fn process(
    host: &mut Host<Simulation>,
    setup: &ArraySetup,
    layout: &Layout,
    packets: &[Packet],
) -> Result<RunResult, CosimError> {
    let result = run(host, setup, layout, packets, RunOptions::default(), &mut |_| {})?;
    assert!(result.packets.iter().map(|packet| packet.index).eq(0..packets.len() as u64));
    Ok(result)
}

/// What the golden model of an app says of a packet against what the array made of it.
pub fn check(app: &dyn App, frame: &[u8], got: &PacketRecord, case: &str) {
    let packet = SlotPacket { frame: frame.to_vec(), cut: 0, port: 0 };
    let expected = app.golden(got.index, &packet);
    let number = got.index;
    assert_eq!(got.verdict, expected.verdict.0, "{case}: verdict of packet {number}: {frame:02x?}");
    assert_eq!(got.bytes, expected.frame, "{case}: frame of packet {number}");
}

/// Steps the array until `count` packets are committed in all; they must come in order, each once.
/// `committed` is the number so far.
pub fn await_commits(host: &mut Host<Simulation>, committed: &mut u32, count: u32, patience: u64) {
    let (mut events, mut quiet) = (Vec::new(), 0);
    while *committed < count {
        host.device_mut().step().unwrap();
        host.device_mut().take_events(&mut events);
        quiet = if events.is_empty() { quiet + 1 } else { 0 };
        assert!(quiet < patience, "nothing happens, {committed} of {count} packets are committed");
        for (cycle, event) in events.drain(..) {
            let Event::Commit(_, packets) = event else { continue };
            assert_eq!(packets.first, *committed, "cycle {cycle}");
            *committed += packets.count;
        }
    }
    assert_eq!(*committed, count);
}

/// Writes all that the caches hold to memory and drops it.
pub fn clean_caches(host: &mut Host<Simulation>) {
    host.write("INVALIDATE", 3).unwrap();
    host.clean_caches().unwrap();
}
