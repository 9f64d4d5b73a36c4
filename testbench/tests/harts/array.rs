//! The array of these tests, and programs for its harts.

use std::sync::OnceLock;

use hermes_testbench::cosim::{
    ArraySetup, Device as _, Host, KernelImage, Layout, MemoryOptions, Simulation,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::test_seed;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

use super::grid;

/// Bytes of the shared memory.
pub const MEMORY_BYTES: u64 = 4 << 20;
/// Harts of the array.
pub const HARTS: u32 = 4;

/// A random source from `HERMES_SEED`, which is printed, or from 1.
pub fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(test_seed())
}

fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| grid::build(&grid::four_harts()))
}

/// The array with a program in its memory.
pub struct Array {
    pub host: Host<Simulation>,
    pub layout: Layout,
    program: Kernel,
}

impl Array {
    /// With the program in `source`, whose label `kernel` is that of packets; the set-up of packets
    /// is made, nothing runs.
    pub fn new(source: &str, memory: MemoryOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program.elf");
        build_source("program.S", source, RegisterClass::Rv32i, &path).unwrap();
        let program = Kernel::read(&path).unwrap();
        let simulation = Simulation::new(library().instantiate().unwrap(), MEMORY_BYTES, memory).unwrap();
        let mut host = Host::new(simulation).unwrap();
        host.load_kernel(&KernelImage::from(&program)).unwrap();
        let setup = ArraySetup { ring_slots_log2: 12, slot_bytes_log2: 7, mcw: 2, ..ArraySetup::default() };
        let layout = host.configure(&setup).unwrap();
        host.enable_spawner(2, 0).unwrap();
        Self { host, layout, program }
    }

    /// Address of a label.
    pub fn label(&self, name: &str) -> u32 {
        self.program.symbol(name).unwrap_or_else(|_| panic!("no label {name}")).address
    }

    /// The word behind a label; what the L2 has is not seen before [`Host::clean_caches`].
    pub fn word(&mut self, name: &str, index: u32) -> u32 {
        let address = self.label(name) + 4 * index;
        let mut word = [0; 4];
        self.host.device_mut().read_memory(address, &mut word).unwrap();
        u32::from_le_bytes(word)
    }

    pub fn set_word(&mut self, name: &str, index: u32, value: u32) {
        let address = self.label(name) + 4 * index;
        self.host.device_mut().write_memory(address, &value.to_le_bytes()).unwrap();
    }

    pub fn run(&mut self, cycles: u64) {
        self.host.device_mut().run(cycles).unwrap();
    }

    /// Lets the harts in `mask` run; all others are held. `ebreak` stops them.
    pub fn set_harts(&mut self, mask: u32) {
        self.host.write("CP_CONTROL", 0x100 | mask).unwrap();
    }

    /// Harts that are stopped; one that is locked up fails the test.
    pub fn stopped(&mut self) -> u32 {
        let status = self.host.read("CP_STATUS").unwrap();
        assert_eq!(status >> 16 & 0xff, 0, "harts are locked up");
        status & 0xff
    }

    /// Runs until the harts in `mask` are stopped.
    pub fn wait_until_stopped(&mut self, mask: u32, limit: u64) {
        let end = self.host.device_mut().cycle() + limit;
        while self.stopped() & mask != mask {
            assert!(self.host.device_mut().cycle() < end, "harts {mask:#x} do not stop");
            self.run(50);
        }
    }

    /// Holds all harts until they are quiet.
    pub fn hold_all(&mut self) {
        self.set_harts(0);
        self.host.wait_until("CP_QUIET", |quiet| quiet == (1 << HARTS) - 1).unwrap();
    }
}
