//! Litmus tests of the memory model: short programs of two threads that share variables, run many
//! times on the array.
//!
//! The kernels are in `kernels-asm/litmus`; what they forbid follows from the RISC-V memory model
//! with the fences that they have. Without fences the first two must be able to go wrong on an
//! array with several cores, since the L1 caches are not coherent; a test that never does would
//! show nothing.

mod contention;

use std::collections::BTreeMap;

use verilator_sys::ModelLibrary;

use crate::cosim::{
    run, ArraySetup, CosimError, Host, KernelImage, MemoryOptions, Packet, RunOptions, RunResult, Simulation,
};
use crate::kernel::{build_source, BuildError, Kernel, KernelError, RegisterClass};

pub use contention::{Contended, Contention, ContentionTrial, CONTENTIONS, RESERVATION_TIMES};

/// Bytes of the shared memory of a run.
const MEMORY_BYTES: u64 = 16 << 20;
/// Bytes of the variables of an instance: `INSTANCE_LOG2` in `roles.inc`.
const INSTANCE_BYTES: usize = 256;
/// What the kernels share.
const ROLES: &str = include_str!("../../../../kernels-asm/litmus/roles.inc");

/// A litmus test.
#[derive(Clone, Copy, Debug)]
pub struct Litmus {
    /// Name, that of the kernel.
    pub name: &'static str,
    source: &'static str,
    /// Whether the verdicts of the threads 0 and 1 of an instance are forbidden.
    pub forbidden: fn([u32; 2]) -> bool,
    /// Whether the test depends on the fences.
    pub needs_fences: bool,
}

/// All tests.
pub const TESTS: [Litmus; 3] = [
    Litmus {
        name: "message-passing",
        source: include_str!("../../../../kernels-asm/litmus/message-passing.S"),
        forbidden: |[_, consumer]| consumer == 2,
        needs_fences: true,
    },
    Litmus {
        name: "store-buffering",
        source: include_str!("../../../../kernels-asm/litmus/store-buffering.S"),
        forbidden: |seen| seen == [0, 0],
        needs_fences: true,
    },
    Litmus {
        name: "coherence",
        source: include_str!("../../../../kernels-asm/litmus/coherence.S"),
        forbidden: |[writer, reader]| writer != 8 || reader > 8,
        needs_fences: false,
    },
];

/// A test whose flag is written and read by atomic operations; for arrays that have them.
pub const ATOMIC_FLAG: Litmus = Litmus {
    name: "atomic-flag",
    source: include_str!("../../../../kernels-asm/litmus/atomic-flag.S"),
    forbidden: |[_, consumer]| consumer == 2,
    needs_fences: true,
};

/// Why a test could not be run.
#[derive(Debug, thiserror::Error)]
pub enum LitmusError {
    /// The kernel could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The kernel could not be read.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The array could not run it.
    #[error(transparent)]
    Array(#[from] CosimError),
}

/// How a test is run.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Whether the kernel has its fences.
    pub fences: bool,
    /// Instances; rounded up to whole warps.
    pub instances: usize,
    /// Threads wait for 0 to this many turns of a loop, a power of two less 1.
    pub delays: u32,
    /// Warps at once on a core.
    pub mcw: u32,
    /// The memory.
    pub memory: MemoryOptions,
}

/// How often the threads 0 and 1 of an instance gave which verdicts.
pub type Outcomes = BTreeMap<[u32; 2], usize>;

/// The kernel with or without its fences, which may be bits `aq` and `rl`.
fn kernel_of(source: &str, fences: bool) -> Result<Kernel, LitmusError> {
    // One text, since the kernels stand beside their include file.
    let text = source.replace("    .include \"roles.inc\"\n", ROLES);
    let text = format!(".equ FENCES, {}\n{text}", u32::from(fences));
    let folder =
        tempfile::tempdir().map_err(|source| BuildError::File { path: std::env::temp_dir(), source })?;
    let output = folder.path().join("kernel.elf");
    build_source("litmus.S", &text, RegisterClass::Rv32e, &output)?;
    Ok(Kernel::read(&output)?)
}

/// Runs the kernel that is loaded in `threads` threads, each on a packet that says nothing.
fn run_threads(
    host: &mut Host<Simulation>,
    threads: usize,
    mcw: u32,
    argument: Vec<u8>,
) -> Result<RunResult, LitmusError> {
    let setup = ArraySetup {
        ring_slots_log2: threads.next_power_of_two().ilog2(),
        slot_bytes_log2: 7,
        mcw,
        argument,
        ..ArraySetup::default()
    };
    let layout = host.configure(&setup)?;
    let packets = vec![Packet { frame: vec![0; 60], port: 0, flags: 0, arrival: 0 }; threads];
    Ok(run(host, &setup, &layout, &packets, RunOptions::default(), &mut |_| {})?)
}

impl Litmus {
    /// The kernel with or without its fences.
    ///
    /// # Errors
    /// The tools are not installed.
    pub fn kernel(&self, fences: bool) -> Result<Kernel, LitmusError> {
        kernel_of(self.source, fences)
    }

    /// Runs the test on an array that is built in `library`.
    ///
    /// # Errors
    /// The kernel cannot be built, or the array breaks a rule or gets stuck.
    pub fn run(&self, library: &ModelLibrary, trial: &Trial) -> Result<Outcomes, LitmusError> {
        let kernel = self.kernel(trial.fences)?;
        let model = library.instantiate().map_err(CosimError::from)?;
        let mut host = Host::new(Simulation::new(model, MEMORY_BYTES, trial.memory.clone())?)?;
        host.load_kernel(&KernelImage::from(&kernel))?;
        let lanes = host.info().lanes as usize;
        let warps = trial.instances.div_ceil(lanes);
        let variables = host.rmalloc("the variables", warps * lanes * INSTANCE_BYTES)?;
        let threads = 2 * warps * lanes;
        let argument = [variables, lanes.ilog2(), trial.delays];
        let argument = argument.iter().flat_map(|word| word.to_le_bytes()).collect();
        let result = run_threads(&mut host, threads, trial.mcw, argument)?;
        let mut outcomes = Outcomes::new();
        for pair in result.packets.chunks_exact(2 * lanes) {
            let (first, second) = pair.split_at(lanes);
            for (first, second) in first.iter().zip(second) {
                *outcomes.entry([first.verdict, second.verdict]).or_insert(0) += 1;
            }
        }
        Ok(outcomes)
    }

    /// How many of the outcomes are forbidden.
    #[must_use]
    pub fn forbidden_in(&self, outcomes: &Outcomes) -> usize {
        outcomes.iter().filter(|(seen, _)| (self.forbidden)(**seen)).map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_built_with_and_without_fences() {
        for test in TESTS {
            let words = |fences| {
                let kernel = test.kernel(fences).unwrap();
                let bytes: Vec<u8> = kernel.segments.iter().flat_map(|s| s.bytes.clone()).collect();
                let words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
                words.collect::<Vec<_>>()
            };
            // FENCE has the opcode MISC-MEM.
            let fences = |words: &[u32]| words.iter().filter(|word| **word & 0x7f == 0x0f).count();
            assert!((2..=3).contains(&fences(&words(true))), "{}", test.name);
            // The one with which the threads wait for each other.
            assert_eq!(fences(&words(false)), 1, "{}", test.name);
        }
    }

    #[test]
    fn forbidden_outcomes_are_counted() {
        let [passing, buffering, coherence] = TESTS;
        let outcomes = Outcomes::from([([0, 0], 1), ([0, 1], 10), ([0, 2], 100), ([0, 3], 1000)]);
        assert_eq!(passing.forbidden_in(&outcomes), 100);
        assert_eq!(buffering.forbidden_in(&outcomes), 1);
        let outcomes = Outcomes::from([([8, 8], 1), ([8, 0], 10), ([8, 20], 100), ([7, 8], 1000)]);
        assert_eq!(coherence.forbidden_in(&outcomes), 1100);
    }
}
