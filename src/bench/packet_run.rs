//! Runs of a kernel on packets that are all there from the start.

use hermes_rtl::config::Config;
use hermes_testbench::cosim::{
    self, ArraySetup, Arrivals, Host, KernelImage, Latency, MemoryOptions, Packet, RunOptions, RunResult,
    Simulation,
};
use hermes_testbench::kernel::Kernel;
use verilator_sys::ModelLibrary;

use crate::array;
use crate::print;

/// Bytes of the shared memory; pages are allocated when they are written.
const MEMORY_BYTES: u64 = 1 << 30;

/// Cycles without a commit after which a run is given up: warps of 1,518-byte packets that are
/// searched or ciphered byte by byte, among 32 of their kind, take a good part of it.
const COMMIT_LIMIT: u64 = 100_000_000;

/// An array to measure on.
pub struct PacketRun {
    pub config: Config,
    library: ModelLibrary,
    quiet: bool,
}

/// What is run, and on what.
pub struct Load<'a> {
    pub kernel: &'a Kernel,
    /// Frames, one for each thread.
    pub frames: Vec<Vec<u8>>,
    /// Bytes of a ring slot, as a power of two.
    pub slot_bytes_log2: u32,
    /// Cycles from a memory request to its response.
    pub latency: u32,
    /// Most warps of a core.
    pub most_warps: u32,
}

impl PacketRun {
    /// Builds the model of `config`, or takes it from the cache.
    pub fn new(config: Config, quiet: bool) -> anyhow::Result<Self> {
        config.validate()?;
        Ok(Self { library: array::library(&config, false, quiet, |_| {})?, config, quiet })
    }

    /// Runs `load`. `prepare` writes to the memory what the kernel needs and sets its argument
    /// block.
    pub fn run(
        &self,
        load: Load,
        prepare: impl FnOnce(&mut Host<Simulation>, &mut ArraySetup) -> anyhow::Result<()>,
    ) -> anyhow::Result<RunResult> {
        let memory = MemoryOptions { latency: Latency::Fixed(load.latency), ..MemoryOptions::default() };
        let mut host = Host::new(Simulation::new(self.library.instantiate()?, MEMORY_BYTES, memory)?)?;
        host.load_kernel(&KernelImage::from(load.kernel))?;
        let mut setup = ArraySetup {
            // A quarter of the ring holds all packets, so that the caches are not cleaned before
            // the end.
            ring_slots_log2: (4 * load.frames.len()).next_power_of_two().ilog2(),
            slot_bytes_log2: load.slot_bytes_log2,
            mcw: host.most_warps().min(load.most_warps),
            ..ArraySetup::default()
        };
        prepare(&mut host, &mut setup)?;
        let layout = host.configure(&setup)?;
        let packet = |frame| Packet { frame, port: 0, flags: 0, arrival: 0 };
        let packets: Vec<_> = load.frames.into_iter().map(packet).collect();
        let bar = print::progress(packets.len() as u64, self.quiet);
        let (commit_limit, arrivals) = (COMMIT_LIMIT, Arrivals::Taken);
        let options = RunOptions { commit_limit, arrivals, ..RunOptions::default() };
        let result = cosim::run(&mut host, &setup, &layout, &packets, options, &mut |progress| {
            bar.set_position(progress.committed);
        });
        bar.finish_and_clear();
        Ok(result?)
    }
}
