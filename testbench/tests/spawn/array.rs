//! The array of these tests.

use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::cosim::{
    ArraySetup, Descriptor, Device as _, Event, Host, KernelImage, Latency, MemoryOptions, Simulation,
    SpawnEvent,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::model;
use hermes_testbench::test_seed;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

/// Bytes of the shared memory.
pub const MEMORY_BYTES: u64 = 16 << 20;
/// Slots of the thread spawner.
pub const SLOTS: u32 = 16;
/// Bytes that a thread of `threads` stores.
pub const RECORD: usize = 16;

/// A random source from `HERMES_SEED`, which is printed, or from 1.
pub fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(test_seed())
}

/// Two cores with four warps of four lanes each and small caches.
pub fn config() -> Config {
    let default = Config::preset("default").unwrap();
    let caches = Config { l2_banks: 2, l2_bank_lines: 16, l1_lines: 16, ..default };
    Config { cores: 2, lanes: 4, warps: 8, spawn_slots: SLOTS as usize, ..caches }
}

fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let design = hermes_rtl::top::emit_top(&config()).unwrap();
        model::brief(&design).unwrap()
    })
}

/// The array with its kernels loaded and its spawner enabled, and what tests need to know of it.
pub struct Array {
    pub host: Host<Simulation>,
    kernel: Kernel,
    events: Vec<(u64, Event)>,
}

impl Array {
    /// With a memory that answers after 1 to 60 cycles.
    pub fn new(seed: u64) -> Self {
        let memory = MemoryOptions { latency: Latency::Random(1, 60), seed, ..MemoryOptions::default() };
        Self::with_memory(memory)
    }

    pub fn with_memory(memory: MemoryOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.elf");
        let source = include_str!("kernels/threads.S");
        build_source("threads.S", source, RegisterClass::Rv32i, &path).unwrap();
        let kernel = Kernel::read(&path).unwrap();
        let simulation = Simulation::new(library().instantiate().unwrap(), MEMORY_BYTES, memory).unwrap();
        let mut host = Host::new(simulation).unwrap();
        host.load_kernel(&KernelImage::from(&kernel)).unwrap();
        Self { host, kernel, events: Vec::new() }
    }

    /// Sets the ring and the stacks up as packets need them, and enables the spawner.
    pub fn enable(&mut self, mcw: u32, watchdog: u32) {
        self.host
            .configure(&ArraySetup { ring_slots_log2: 5, slot_bytes_log2: 8, ..ArraySetup::default() })
            .unwrap();
        self.host.enable_spawner(mcw, watchdog).unwrap();
    }

    /// Address of a label of the kernel.
    pub fn label(&self, name: &str) -> u32 {
        self.kernel.symbol(name).unwrap().address
    }

    /// A descriptor with room for what its threads store, and a completion word.
    pub fn job(&mut self, entry: &str, threads: u32, token: u32) -> Descriptor {
        let bytes = (threads as usize).max(1) * RECORD;
        let records = self.host.rmalloc("records", bytes).unwrap();
        self.host.device_mut().write_memory(records, &vec![0xee; bytes]).unwrap();
        let completion = self.host.rmalloc("a completion word", 4).unwrap();
        Descriptor {
            entry: self.label(entry),
            arguments: [records, 1000 * token],
            threads,
            completion,
            token,
            ..Descriptor::default()
        }
    }

    /// What thread `number` of a job stored: value, job, core, warp slot; after
    /// [`Host::clean_caches`].
    pub fn record(&mut self, job: &Descriptor, number: u32) -> [u32; 4] {
        let mut bytes = [0; RECORD];
        let address = job.arguments[0] + number * RECORD as u32;
        self.host.device_mut().read_memory(address, &mut bytes).unwrap();
        [0, 4, 8, 12].map(|at| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()))
    }

    /// The events of the thread spawner since the last call.
    pub fn spawn_events(&mut self) -> Vec<(u64, SpawnEvent)> {
        self.host.device_mut().take_events(&mut self.events);
        let events = self.events.drain(..);
        events
            .filter_map(|(cycle, event)| match event {
                Event::Spawn(event) => Some((cycle, event)),
                _ => None,
            })
            .collect()
    }
}

/// What a thread whose store was not made left behind.
pub const NOTHING: [u32; 4] = [0xeeee_eeee; 4];
