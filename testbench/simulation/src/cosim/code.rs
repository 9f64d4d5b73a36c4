//! The programs of a run: kernel, firmware, or both.

use std::rc::Rc;

use super::memory_map::MemoryMap;
use crate::firmware::Firmware;
use crate::kernel::{Kernel, Place, SourceMap, Symbol};

/// The programs whose instructions the threads of a run execute, for what explains addresses.
#[derive(Clone, Default)]
pub struct Code<'a> {
    kernel: Option<(&'a Kernel, Rc<SourceMap>)>,
    firmware: Option<&'a Firmware>,
}

impl<'a> Code<'a> {
    /// Those of a kernel, of firmware, or of both.
    #[must_use]
    pub fn new(kernel: Option<&'a Kernel>, firmware: Option<&'a Firmware>) -> Self {
        Self { kernel: kernel.map(|kernel| (kernel, Rc::new(kernel.source_map()))), firmware }
    }

    /// Where `pc` lies in the source of one of them.
    #[must_use]
    pub fn place(&self, pc: u32) -> Place {
        let firmware = self.firmware.filter(|firmware| firmware.source_map().contains(pc));
        match (firmware, &self.kernel) {
            (Some(firmware), _) => firmware.place(pc),
            (None, Some((_, source))) => source.place(pc),
            (None, None) => Place { address: pc, ..Place::default() },
        }
    }

    /// The word at `pc` before the run.
    #[must_use]
    pub fn word(&self, pc: u32) -> Option<u32> {
        let kernel = self.kernel.as_ref().and_then(|(kernel, _)| kernel.word(pc));
        kernel.or_else(|| self.firmware.and_then(|firmware| firmware.executable.word(pc)))
    }

    /// The variable at `address`, and the byte in it, if a symbol has it.
    #[must_use]
    pub fn variable(&self, address: u32) -> Option<String> {
        let kernel = self.kernel.as_ref().map(|(kernel, _)| kernel.symbols.as_slice());
        let firmware = self.firmware.map(|firmware| firmware.executable.symbols.as_slice());
        let mut symbols = kernel.into_iter().chain(firmware).flatten();
        let inside = |symbol: &&Symbol| {
            let offset = address.checked_sub(symbol.address);
            !symbol.is_function && offset.is_some_and(|offset| offset < symbol.size)
        };
        symbols.find(inside).map(|symbol| format!("byte {} of {}", address - symbol.address, symbol.name))
    }

    /// What is at `address`, in words: a variable of the firmware, or an area of the run.
    #[must_use]
    pub fn describe(&self, address: u32, memory: &MemoryMap) -> String {
        let own = Self { kernel: None, firmware: self.firmware };
        own.variable(address).unwrap_or_else(|| memory.describe(address))
    }
}
