//! Firmware in an ELF file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::handlers::{self, Caller, NoHandler};
use crate::input::{self, MOST_PROGRAM_BYTES};
use crate::kernel::{Executable, KernelError, Place, RegisterClass, Segment, SourceMap, SymbolError};

/// From here on there is no shared memory.
const OUTSIDE: u64 = 0xfff0_0000;
/// The word in which firmware says how many harts it needs; without one it needs one.
const HARTS: &str = "firmware_harts";

/// Firmware, ready to be loaded.
pub struct Firmware {
    /// The file.
    pub path: PathBuf,
    /// Its program.
    pub executable: Executable,
    /// Harts that it needs.
    pub harts: u32,
    /// Whether a channel of user-level interrupts is armed with a handler that only a run can tell.
    pub has_unknown_handlers: bool,
    source: Rc<SourceMap>,
}

impl fmt::Debug for Firmware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Firmware")
            .field("path", &self.path)
            .field("harts", &self.harts)
            .finish_non_exhaustive()
    }
}

impl Firmware {
    /// Reads the firmware in the ELF file `path`.
    ///
    /// # Errors
    /// [`KernelError`] if the file cannot be read, is no executable for 32-bit RISC-V with 32
    /// registers, has compressed instructions, does not lie in the shared memory, or names a
    /// handler of interrupts that is none.
    pub fn read(path: &Path) -> Result<Self, KernelError> {
        let data = input::read(path, MOST_PROGRAM_BYTES)
            .map_err(|source| KernelError::Read { path: path.to_path_buf(), source })?;
        let format = |problem| KernelError::Format { path: path.to_path_buf(), problem };
        let executable = Executable::parse(&data, "hermes firmware build").map_err(format)?;
        let harts = check(&executable).map_err(format)?;
        let source = Rc::new(SourceMap::new(&executable, &data));
        let mut read =
            Self { path: path.to_path_buf(), executable, harts, has_unknown_handlers: false, source };
        for naming in handlers::namings(&read.executable) {
            let Some(handler) = naming.handler else {
                read.has_unknown_handlers = true;
                continue;
            };
            if let Some(problem) = read.no_handler_for(naming.caller, handler) {
                let place = read.place(naming.pc);
                let what = match naming.caller {
                    Caller::Channel => format!("EMONITOR at {place} arms a channel with"),
                    Caller::Library(name) => format!("{name} at {place} is given"),
                };
                return Err(format(format!("{what} {problem}")));
            }
        }
        Ok(read)
    }

    /// Why what is at `address` is no handler of user-level interrupts, and what was expected;
    /// `None` if it is one, or if that cannot be told.
    #[must_use]
    pub fn no_handler(&self, address: u32) -> Option<String> {
        self.no_handler_for(Caller::Channel, address)
    }

    fn no_handler_for(&self, caller: Caller, address: u32) -> Option<String> {
        let what = match handlers::no_handler(&self.executable, caller, address)? {
            NoHandler::NoCode => format!("{address:#010x}, where the firmware has no instruction"),
            NoHandler::Ends(instruction, pc) => {
                format!("{}, which ends with {instruction} at {}", self.place(address), self.place(pc))
            }
        };
        let expected = match caller {
            Caller::Channel => "a handler that saves the registers that it changes and ends with ERETURN, as `ULI_HANDLER(name)` defines one",
            Caller::Library(_) => "a plain function",
        };
        Some(format!("{what}; expected {expected}"))
    }

    /// Whether the start-up code clears what is at `address`: a variable in `.bss`.
    #[must_use]
    pub fn clears(&self, address: u32) -> bool {
        let place = |name| self.executable.symbol(name).map(|symbol| symbol.address);
        let bss = place("__bss_start").and_then(|start| Ok(start..place("__bss_end")?));
        bss.is_ok_and(|bss| bss.contains(&address))
    }

    /// First address, and the one behind the last, of all segments and what is between them, in
    /// whole lines of 64 bytes.
    #[must_use]
    pub fn extent(&self) -> (u32, u32) {
        let segments = || self.executable.segments.iter().filter(|segment| !segment.bytes.is_empty());
        let first = segments().map(|segment| segment.address).min().unwrap_or(0);
        // Below 0xfff0_0000, as `read` makes sure.
        let end = segments().map(|segment| segment.address + segment.bytes.len() as u32).max().unwrap_or(0);
        (first & !63, end.next_multiple_of(64))
    }

    /// Bytes in memory, over all segments.
    #[must_use]
    pub fn size(&self) -> usize {
        self.executable.segments.iter().map(|segment| segment.bytes.len()).sum()
    }

    /// Where its functions and labels begin, ascending; without those that the compiler made up.
    #[must_use]
    pub fn functions(&self) -> Vec<(u32, String)> {
        self.source.functions().to_vec()
    }

    /// Its functions and lines.
    #[must_use]
    pub fn source_map(&self) -> Rc<SourceMap> {
        Rc::clone(&self.source)
    }

    /// The text of a variable, such as the mode of the command queues that it serves (`net_mode`);
    /// `None` if it has none of that name, or it is no text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.executable.text(name)
    }

    /// Where `address` lies in the source.
    #[must_use]
    pub fn place(&self, address: u32) -> Place {
        self.source.place(address)
    }

    /// Makes sure that the array has the harts and that the memory has room beside `others`: their
    /// name, first address and bytes.
    ///
    /// # Errors
    /// The file, the field, and what was expected.
    pub fn check(&self, harts: u32, memory: u64, others: &[(String, u32, usize)]) -> Result<(), String> {
        let file = self.path.display();
        if harts == 0 {
            return Err(format!(
                "{file}: the array has no command processor; expected --command-threads 1 or more"
            ));
        }
        if self.harts > harts {
            return Err(format!(
                "{file}: {HARTS} is {}, and the array has {harts}; expected --command-threads {} or more",
                self.harts,
                self.harts.next_power_of_two()
            ));
        }
        for Segment { address, bytes, .. } in &self.executable.segments {
            let (first, end) = (u64::from(*address), u64::from(*address) + bytes.len() as u64);
            if end > memory {
                return Err(format!(
                    "{file}: segment {first:#010x} to {:#010x} ends outside the shared memory; expected at most {:#010x}",
                    end - 1,
                    memory - 1
                ));
            }
            for (name, other, length) in others {
                let (other, other_end) = (u64::from(*other), u64::from(*other) + *length as u64);
                if first < other_end && other < end {
                    return Err(format!(
                        "{file}: segment {first:#010x} to {:#010x} overlaps {name} at {other:#010x} to {:#010x}; expected addresses of its own",
                        end - 1,
                        other_end - 1
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Checks what an executable must be to be firmware; gives the harts that it needs.
fn check(executable: &Executable) -> Result<u32, String> {
    if executable.registers == RegisterClass::Rv32e {
        return Err("is for 16 registers (RV32E in e_flags); expected RV32I, -mabi=ilp32".into());
    }
    for Segment { address, bytes, .. } in &executable.segments {
        if u64::from(*address) + bytes.len() as u64 > OUTSIDE {
            return Err(format!("segment at {address:#010x} (p_paddr) is outside the shared memory; expected an end below {OUTSIDE:#010x}"));
        }
    }
    let entry = executable.entry;
    if entry % 4 != 0 || executable.word(entry).is_none() {
        return Err(format!(
            "e_entry is {entry:#010x}; expected the address of an instruction in a loaded segment"
        ));
    }
    let moved = executable.segments.iter().find(|segment| {
        let inside = entry.checked_sub(segment.run_address);
        inside.is_some_and(|offset| (offset as usize) < segment.bytes.len())
            && segment.address != segment.run_address
    });
    if let Some(Segment { address, run_address, .. }) = moved {
        return Err(format!(
            "e_entry is {entry:#010x} in the segment at {run_address:#010x} (p_vaddr), which is loaded to {address:#010x} (p_paddr); expected start-up code at its load address"
        ));
    }
    let harts = match executable.symbol(HARTS) {
        Ok(symbol) => executable.word(symbol.address),
        Err(SymbolError::Missing { .. }) => Some(1),
        Err(error) => return Err(error.to_string()),
    };
    match harts {
        Some(harts @ 1..=8) => Ok(harts),
        Some(harts) => Err(format!("{HARTS} is {harts}; expected 1 to 8")),
        None => Err(format!("{HARTS} is no word of a loaded segment; expected 1 to 8 there")),
    }
}
