//! Threads of the whole array that all change one word, each once and by one.

use verilator_sys::ModelLibrary;

use super::{kernel_of, run_threads, LitmusError, MEMORY_BYTES};
use crate::cosim::{CosimError, FaultRecord, Host, KernelImage, MemoryOptions, Simulation};
use crate::kernel::Kernel;

/// A way to add one to a word that others add to. Arrays need the atomic instructions for it.
#[derive(Clone, Copy, Debug)]
pub struct Contention {
    /// Name, that of the kernel.
    pub name: &'static str,
    source: &'static str,
    /// Whether it depends on the bits `aq` and `rl`, if there are several cores.
    pub needs_order: bool,
}

/// All of them.
pub const CONTENTIONS: [Contention; 3] = [
    Contention {
        name: "counter",
        source: include_str!("../../../../kernels-asm/litmus/counter.S"),
        needs_order: false,
    },
    Contention {
        name: "reservation",
        source: include_str!("../../../../kernels-asm/litmus/reservation.S"),
        needs_order: false,
    },
    Contention {
        name: "spin-lock",
        source: include_str!("../../../../kernels-asm/litmus/spin-lock.S"),
        needs_order: true,
    },
];

/// As `reservation`; the threads find the cycle, modulo 2^31, in which each was through.
pub const RESERVATION_TIMES: Contention = Contention {
    name: "reservation-times",
    source: include_str!("../../../../kernels-asm/litmus/reservation-times.S"),
    needs_order: false,
};

/// How it is run.
#[derive(Clone, Debug)]
pub struct ContentionTrial {
    /// Whether the kernel has the bits `aq` and `rl`.
    pub order: bool,
    /// Threads.
    pub threads: usize,
    /// Warps at once on a core.
    pub mcw: u32,
    /// Whether the word and the lock stand where the memory cannot be read, besides the places that
    /// the memory has.
    pub failing: bool,
    /// The memory.
    pub memory: MemoryOptions,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Contended {
    /// The values that the threads found, in the order of the packets.
    pub found: Vec<u32>,
    /// The word at the end.
    pub last: u32,
    /// The faults.
    pub faults: Vec<FaultRecord>,
    /// Cycles.
    pub cycles: u64,
}

impl Contended {
    /// Of [`RESERVATION_TIMES`]: the most cycles from one thread that was through to the next.
    #[must_use]
    pub fn longest_gap(&self) -> u32 {
        let mut times = self.found.clone();
        times.sort_unstable();
        times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// Whether every thread added one: each value from 0 on was found by one thread, and the word
    /// counts them all.
    #[must_use]
    pub fn complete(&self) -> bool {
        let mut found = self.found.clone();
        found.sort_unstable();
        (0..).zip(&found).all(|(expected, value)| *value == expected) && self.last as usize == found.len()
    }
}

impl Contention {
    /// The kernel with or without its bits `aq` and `rl`.
    ///
    /// # Errors
    /// The tools are not installed.
    pub fn kernel(&self, order: bool) -> Result<Kernel, LitmusError> {
        kernel_of(self.source, order)
    }

    /// Runs it on an array that is built in `library`.
    ///
    /// # Errors
    /// The kernel cannot be built, or the array breaks a rule or gets stuck.
    pub fn run(&self, library: &ModelLibrary, trial: &ContentionTrial) -> Result<Contended, LitmusError> {
        let kernel = self.kernel(trial.order)?;
        let model = library.instantiate().map_err(CosimError::from)?;
        let mut memory = trial.memory.clone();
        // Far behind everything that is allocated; kernels may use all of the memory.
        let word = (MEMORY_BYTES / 2) as u32;
        if trial.failing {
            memory.failing.push((word, word + 127));
        }
        let mut host = Host::new(Simulation::new(model, MEMORY_BYTES, memory)?)?;
        host.load_kernel(&KernelImage::from(&kernel))?;
        let result = run_threads(&mut host, trial.threads, trial.mcw, word.to_le_bytes().to_vec())?;
        Ok(Contended {
            found: result.packets.iter().map(|packet| packet.verdict).collect(),
            last: host.device_mut().image().read_u32(word).map_err(CosimError::from)?,
            faults: result.faults,
            cycles: result.simulated_cycles,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_built_with_and_without_order() {
        for contention in CONTENTIONS {
            let ordered = |order| {
                let kernel = contention.kernel(order).unwrap();
                let bytes: Vec<u8> = kernel.segments.iter().flat_map(|s| s.bytes.clone()).collect();
                let words = bytes.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
                // AMO with aq or rl.
                words.filter(|word| word & 0x7f == 0x2f && word >> 25 & 3 != 0).count()
            };
            assert_eq!(ordered(true), if contention.needs_order { 2 } else { 0 }, "{}", contention.name);
            assert_eq!(ordered(false), 0, "{}", contention.name);
        }
    }

    #[test]
    fn lost_additions_are_seen() {
        let outcome = |found: &[u32], last| {
            Contended { found: found.to_vec(), last, faults: Vec::new(), cycles: 0 }.complete()
        };
        assert!(outcome(&[2, 0, 1], 3));
        assert!(!outcome(&[2, 0, 1], 4));
        assert!(!outcome(&[1, 0, 1], 3));
        assert!(!outcome(&[1, 0, 1], 2));
    }
}
