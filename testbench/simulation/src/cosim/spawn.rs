//! Jobs of the thread spawner: what the host writes to start threads on the cores, and what it
//! reads when they ended.

use super::device::Device;
use super::error::CosimError;
use super::host::Host;

/// A descriptor of the thread spawner, without words that must be zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Address of the threads' first instruction.
    pub entry: u32,
    /// `a1` and `a2` of every thread.
    pub arguments: [u32; 2],
    /// How many threads, 1 to 2^24 - 1; `a0` of each is its number, from 0 on.
    pub threads: u32,
    /// The threads have 16 registers: the same as the kernel of the packets, if there is one.
    pub small_registers: bool,
    /// The cores drop their L1 data caches before the first thread starts.
    pub acquire: bool,
    /// A bit for each core that may run the threads; 0: all.
    pub cores: u32,
    /// Address of the completion word; 0: none.
    pub completion: u32,
    /// What the completion word becomes, below 2^30.
    pub token: u32,
}

impl Descriptor {
    /// Words 0 to 7.
    #[must_use]
    pub fn words(&self) -> [u32; 8] {
        let shape = self.threads | u32::from(self.small_registers) << 25 | u32::from(self.acquire) << 26;
        let [argument_0, argument_1] = self.arguments;
        [self.entry, argument_0, argument_1, shape, 0, self.cores, self.completion, self.token]
    }
}

/// Why the thread spawner rejected a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The entry is 0 or no multiple of 4.
    Entry,
    /// It has no threads.
    Threads,
    /// Bits that must be zero are not, or its register class is not that of KERNEL_CLASS.
    Shape,
    /// It names a core that is not there.
    Cores,
    /// A code that this version does not know.
    Unknown(u32),
}

/// What a completion word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// All threads ended; the token of the descriptor.
    Done(u32),
    /// All threads ended, at least one with a fault; the token of the descriptor.
    Faulted(u32),
    /// No thread was started.
    Rejected(Rejection),
}

impl From<u32> for Completion {
    fn from(word: u32) -> Self {
        let low = word & 0x3fff_ffff;
        match word >> 30 {
            0 | 1 => Self::Done(low),
            2 => Self::Faulted(low),
            _ => Self::Rejected(match low {
                1 => Rejection::Entry,
                2 => Rejection::Threads,
                3 => Rejection::Shape,
                5 => Rejection::Cores,
                code => Rejection::Unknown(code),
            }),
        }
    }
}

/// Reads of SPAWN_BUSY while a job runs, before it is given up, and cycles between two of them.
const WAIT_TRIES: u64 = 20_000;
const WAIT_PAUSE: u64 = 32;
/// SPAWN_SELECT: where the slot stands.
const SLOT_SHIFT: u32 = 8;

impl<D: Device> Host<D> {
    /// Lets a write of a descriptor's word 0 start its threads, at most `mcw` warps on a core at a
    /// time, each for at most `watchdog` cycles (0: any number).
    ///
    /// # Errors
    /// The array has no thread spawner, or a register does not answer.
    pub fn enable_spawner(&mut self, mcw: u32, watchdog: u32) -> Result<(), CosimError> {
        self.write("SPAWN_MCW", mcw)?;
        self.write("SPAWN_WATCHDOG", watchdog)?;
        self.write("SPAWN_CONTROL", 1)
    }

    /// Writes the descriptor of `slot`, the word that starts its threads last.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn spawn(&mut self, slot: u32, descriptor: &Descriptor) -> Result<(), CosimError> {
        for (word, value) in descriptor.words().into_iter().enumerate().rev() {
            self.write("SPAWN_SELECT", slot << SLOT_SHIFT | word as u32)?;
            self.write("SPAWN_DATA", value)?;
        }
        Ok(())
    }

    /// Starts the threads of `slot` again, with the words that it has.
    ///
    /// # Errors
    /// A register does not answer.
    pub fn spawn_again(&mut self, slot: u32, entry: u32) -> Result<(), CosimError> {
        self.write("SPAWN_SELECT", slot << SLOT_SHIFT)?;
        self.write("SPAWN_DATA", entry)
    }

    /// A bit for each slot whose job is not complete.
    ///
    /// # Errors
    /// The register does not answer.
    pub fn busy_jobs(&mut self) -> Result<u32, CosimError> {
        self.read("SPAWN_BUSY")
    }

    /// Waits until the jobs of the slots in `mask` are complete, for at most 640,000 cycles between
    /// two that become so.
    ///
    /// # Errors
    /// [`CosimError::JobsStuck`], or a register does not answer.
    pub fn wait_for_jobs(&mut self, mask: u32) -> Result<(), CosimError> {
        let (mut busy, mut tries) = (mask, 0);
        while busy != 0 {
            let now = self.busy_jobs()? & mask;
            tries = if now == busy { tries + 1 } else { 0 };
            busy = now;
            if tries == WAIT_TRIES {
                return Err(CosimError::JobsStuck { slots: busy, cycles: WAIT_TRIES * WAIT_PAUSE });
            }
            if busy != 0 {
                self.device_mut().run(WAIT_PAUSE)?;
            }
        }
        Ok(())
    }

    /// The completion word at `address`; [`Host::clean_caches`] first.
    ///
    /// # Errors
    /// The address is outside the memory.
    pub fn completion(&mut self, address: u32) -> Result<Completion, CosimError> {
        let mut word = [0; 4];
        self.device_mut().read_memory(address, &mut word)?;
        Ok(Completion::from(u32::from_le_bytes(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_where_the_spawner_takes_them() {
        let descriptor = Descriptor {
            entry: 0x1_0000,
            arguments: [1, 2],
            threads: 33,
            small_registers: true,
            acquire: true,
            cores: 3,
            completion: 0x2_0000,
            token: 7,
        };
        assert_eq!(descriptor.words(), [0x1_0000, 1, 2, 0x0600_0021, 0, 3, 0x2_0000, 7]);
    }

    #[test]
    fn a_completion_word_tells_how_the_job_ended() {
        assert_eq!(Completion::from(5), Completion::Done(5));
        assert_eq!(Completion::from(0x8000_0005), Completion::Faulted(5));
        assert_eq!(Completion::from(0xc000_0003), Completion::Rejected(Rejection::Shape));
        assert_eq!(Completion::from(0xc000_0004), Completion::Rejected(Rejection::Unknown(4)));
    }
}
