//! A device that only records what its host writes, to be played to a simulator afterwards.

use hermes_rtl::config::Config;
use hermes_rtl::host::registers::{offset, sizes, ID};
use hermes_testbench::cosim::{CosimError, Device};

/// What bytes hold that nobody wrote: no X, so that every X comes from the array.
const UNWRITTEN: u8 = 0xa5;

/// The writes of a host.
pub struct Recorder {
    config: u32,
    /// The shared memory.
    pub memory: Vec<u8>,
    /// Registers written: offset and value.
    pub writes: Vec<(u32, u32)>,
}

impl Recorder {
    /// An array of `config` with `bytes` of shared memory.
    pub fn new(config: &Config, bytes: usize) -> Self {
        Self { config: sizes(config), memory: vec![UNWRITTEN; bytes], writes: Vec::new() }
    }
}

impl Device for Recorder {
    fn write_register(&mut self, offset: u32, value: u32) -> Result<(), CosimError> {
        self.writes.push((offset, value));
        Ok(())
    }

    fn read_register(&mut self, register: u32) -> Result<u32, CosimError> {
        Ok(match register {
            at if at == offset("ID") => ID,
            at if at == offset("CONFIG") => self.config,
            _ => panic!("the set-up reads register {register:#x}, which nobody answers here"),
        })
    }

    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> Result<(), CosimError> {
        self.memory[address as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read_memory(&mut self, address: u32, bytes: &mut [u8]) -> Result<(), CosimError> {
        bytes.copy_from_slice(&self.memory[address as usize..][..bytes.len()]);
        Ok(())
    }

    fn memory_size(&self) -> u64 {
        self.memory.len() as u64
    }

    fn reset(&mut self) -> Result<(), CosimError> {
        Ok(())
    }

    fn run(&mut self, _: u64) -> Result<(), CosimError> {
        Ok(())
    }
}
