//! The array of these tests.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::OnceLock;

use hermes_rtl::config::Config;
use hermes_testbench::cosim::{
    run, ArraySetup, Host, KernelImage, Layout, MemoryOptions, Packet, RunOptions, RunResult, Simulation,
};
use hermes_testbench::kernel::{build_source, Kernel, RegisterClass};
use hermes_testbench::model;
use hermes_testbench::test_seed;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use verilator_sys::ModelLibrary;

use super::observed::Observed;

/// Bytes of the shared memory.
pub const MEMORY_BYTES: u64 = 16 << 20;
pub const CORES: usize = 2;
pub const LANES: usize = 4;
/// Lines of an L1.
pub const L1_LINES: usize = 16;
/// Banks of the L2, lines of a bank, ways.
pub const L2: (usize, usize, usize) = (2, 4096, 4);

/// A random source from `HERMES_SEED`, which is printed, or from 1.
pub fn random() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(test_seed())
}

/// Two cores with the smallest L1, an L2 that holds all that these tests touch, two channels,
/// atomic instructions, packet ports, load counters, and the retire trace.
pub fn config() -> Config {
    let (l2_banks, l2_bank_lines, l2_ways) = L2;
    let default = Config::preset("default").unwrap();
    let caches = Config { l2_banks, l2_bank_lines, l2_ways, l1_lines: L1_LINES, channels: 2, ..default };
    let units = Config { atomics: true, packet_ports: true, load_counters: true, trace: true, ..caches };
    Config { cores: CORES, lanes: LANES, warps: 4, instruction_cache_lines: 16, ..units }
}

/// The model of [`config`].
fn library() -> &'static ModelLibrary {
    static LIBRARY: OnceLock<ModelLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let design = hermes_rtl::top::emit_top(&config()).unwrap();
        model::brief(&design).unwrap()
    })
}

/// A kernel from its assembly source.
pub fn assemble(text: &str) -> Kernel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernel.elf");
    build_source("kernel.S", text, RegisterClass::Rv32i, &path).unwrap();
    Kernel::read(&path).unwrap()
}

/// The address of a symbol.
pub fn symbol(kernel: &Kernel, name: &str) -> u32 {
    kernel.symbol(name).unwrap_or_else(|_| panic!("no symbol {name}")).address
}

/// An array that has been reset, with a kernel and a host that watches it.
pub struct Array {
    pub host: Host<Simulation>,
    pub setup: ArraySetup,
    pub layout: Layout,
    pub observed: Rc<RefCell<Observed>>,
}

/// What a run of packets gave: all that the array counted, and all that was seen.
pub struct Outcome {
    pub result: RunResult,
    pub observed: Observed,
    pub layout: Layout,
    pub host: Host<Simulation>,
}

impl Array {
    /// `setup` may ask `host` for memory.
    pub fn new(
        kernel: &Kernel,
        memory: MemoryOptions,
        setup: impl FnOnce(&mut Host<Simulation>) -> ArraySetup,
    ) -> Self {
        let simulation = Simulation::new(library().instantiate().unwrap(), MEMORY_BYTES, memory).unwrap();
        let mut host = Host::new(simulation).unwrap();
        host.load_kernel(&KernelImage::from(kernel)).unwrap();
        let setup = setup(&mut host);
        let layout = host.configure(&setup).unwrap();
        let observed = Observed::attach(host.device_mut(), CORES, LANES);
        Self { host, setup, layout, observed }
    }

    /// Runs packets that are all there from the start.
    pub fn run(mut self, frames: Vec<Vec<u8>>) -> Outcome {
        let packet = |frame| Packet { frame, port: 0, flags: 0, arrival: 0 };
        let packets: Vec<_> = frames.into_iter().map(packet).collect();
        let options = RunOptions::default();
        let result = run(&mut self.host, &self.setup, &self.layout, &packets, options, &mut |_| {}).unwrap();
        assert_eq!(result.packets.len(), packets.len());
        let observed = std::mem::take(&mut *self.observed.borrow_mut());
        Outcome { result, observed, layout: self.layout, host: self.host }
    }
}
