//! The region of a function in the shared memory: its code and constants, then what it may store
//! to, then its tables and its argument block.

use crate::cosim::{Allocator, CosimError, EgressLists, LINE};
use crate::iss::Window;
use crate::kernel::Kernel;

/// A part of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub name: String,
    /// First address, a multiple of 64 but for the code of an ELF file of somebody else.
    pub first: u32,
    /// Its bytes.
    pub bytes: u64,
    /// The function may store to it.
    pub writable: bool,
}

impl Part {
    /// The address behind it.
    pub(super) fn end(&self) -> u64 {
        u64::from(self.first) + self.bytes
    }
}

/// Where everything of a function lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// First address, a multiple of 64.
    pub first: u32,
    /// Its bytes, whole lines.
    pub bytes: u64,
    /// What is in it, by address. Those that the function may store to lie side by side.
    pub parts: Vec<Part>,
}

/// How much a function needs beside its kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Bytes of its state.
    pub state: u64,
    /// Bytes of its egress lists.
    pub egress: u64,
    /// Names and bytes of its tables.
    pub tables: Vec<(String, u64)>,
    /// Bytes of its argument block.
    pub argument: u64,
    /// Bytes of the stubs that it may be bent to.
    pub stubs: u64,
    /// Bytes that are kept for tables to come.
    pub spare: u64,
}

impl Needs {
    /// Bytes of tables and argument block, which come anew.
    pub(super) fn renewed_bytes(&self) -> u64 {
        let tables = self.tables.iter().map(|(_, bytes)| *bytes).chain([self.argument]);
        tables.map(|bytes| bytes.next_multiple_of(LINE as u64)).sum()
    }
}

/// Names of parts that a region has once at most.
/// What the names of tables begin with.
pub(super) const TABLE: &str = "table ";
const CODE: &str = "code";
const DATA: &str = "data";
const STATE: &str = "state";
const EGRESS: &str = "egress lists";
const ARGUMENT: &str = "argument block";
const STUBS: &str = "stubs";
const SPARE: &str = "room for tables";

impl Region {
    /// The region of a function with `kernel`, which lies where it is to.
    ///
    /// # Errors
    /// The data of the kernel does not lie behind its code on lines of its own, or the region ends
    /// beyond the address space.
    pub fn of(kernel: &Kernel, needs: &Needs) -> Result<Self, String> {
        let line = LINE as u64;
        let filled = || kernel.segments.iter().filter(|segment| !segment.bytes.is_empty());
        let end = |writable| {
            let of_kind = filled().filter(move |segment| segment.writable == writable);
            of_kind.map(|segment| u64::from(segment.address) + segment.bytes.len() as u64).max()
        };
        let first =
            |writable| filled().filter(|segment| segment.writable == writable).map(|s| s.address).min();
        let (Some(code), Some(code_end)) = (first(false), end(false)) else {
            return Err(
                "has no code that it cannot store to; expected code and data in segments of their own".into(),
            );
        };
        let base = code & !(LINE as u32 - 1);
        let mut parts =
            vec![Part { name: CODE.into(), first: code, bytes: code_end - u64::from(code), writable: false }];
        if let (Some(data), Some(data_end)) = (first(true), end(true)) {
            if u64::from(data & !(LINE as u32 - 1)) < code_end {
                return Err(format!(
                    "its data at {data:#010x} lies before the end of its code at {code_end:#010x}, or on a line with it; \
                     expected it behind the code, on lines of its own"
                ));
            }
            let bytes = data_end - u64::from(data);
            parts.push(Part { name: DATA.into(), first: data, bytes, writable: true });
        }
        let mut at = code_end.max(end(true).unwrap_or(0)).next_multiple_of(line);
        let tables = needs.tables.iter().map(|(name, bytes)| (format!("{TABLE}{name}"), *bytes, false));
        let optional = [(STATE, needs.state, true), (EGRESS, needs.egress, true)];
        let optional = optional.map(|(name, bytes, writable)| (name.to_string(), bytes, writable));
        let argument = (ARGUMENT.to_string(), needs.argument.max(1), false);
        let others = [(STUBS, needs.stubs), (SPARE, needs.spare)];
        let others = others.map(|(name, bytes)| (name.to_string(), bytes, false));
        for (name, bytes, writable) in optional.into_iter().chain(tables).chain([argument]).chain(others) {
            if bytes == 0 {
                continue;
            }
            let first = u32::try_from(at).map_err(|_| beyond(at))?;
            parts.push(Part { name, first, bytes, writable });
            at = (at + bytes).next_multiple_of(line);
        }
        if at > 1 << 32 {
            return Err(beyond(at));
        }
        Ok(Self { first: base, bytes: at - u64::from(base), parts })
    }

    /// The last address.
    #[must_use]
    pub fn last(&self) -> u64 {
        u64::from(self.first) + self.bytes - 1
    }

    /// Takes it from what is free of the memory; `what` is whose it is.
    ///
    /// # Errors
    /// Something lies there, or it is not all in the memory.
    pub fn reserve(&self, what: &str, memory: &mut Allocator) -> Result<(), CosimError> {
        memory.reserve(what, self.first.into(), self.bytes)
    }

    /// What the function may load from: all of it.
    #[must_use]
    pub fn read_window(&self) -> Window {
        Window { base: self.first, size: self.bytes as u32 }
    }

    /// What the function may store to; closed if that is nothing.
    #[must_use]
    pub fn write_window(&self) -> Window {
        let writable = || self.parts.iter().filter(|part| part.writable);
        let (Some(first), Some(end)) =
            (writable().map(|part| part.first).min(), writable().map(Part::end).max())
        else {
            return Window::default();
        };
        let base = first & !(LINE as u32 - 1);
        Window { base, size: (end.next_multiple_of(LINE as u64) - u64::from(base)) as u32 }
    }

    fn part(&self, name: &str) -> Option<u32> {
        self.parts.iter().find(|part| part.name == name).map(|part| part.first)
    }

    /// The address of its state: 0 without one.
    #[must_use]
    pub fn state(&self) -> u32 {
        self.part(STATE).unwrap_or(0)
    }

    /// The address of its argument block.
    #[must_use]
    pub fn argument(&self) -> u32 {
        self.part(ARGUMENT).unwrap_or(0)
    }

    /// The address of its stubs: 0 without any.
    #[must_use]
    pub fn stubs(&self) -> u32 {
        self.part(STUBS).unwrap_or(0)
    }

    /// The room for tables to come: its address and its bytes, both 0 without any.
    #[must_use]
    pub fn spare(&self) -> (u32, u64) {
        let spare = self.parts.iter().find(|part| part.name == SPARE);
        spare.map_or((0, 0), |part| (part.first, part.bytes.next_multiple_of(LINE as u64)))
    }

    /// Its egress lists, each of `1 << bytes_log2` bytes; at 0 without any.
    #[must_use]
    pub fn egress(&self, bytes_log2: u32) -> EgressLists {
        EgressLists { address: self.part(EGRESS).unwrap_or(0), bytes_log2 }
    }

    /// The address of the table called `name`: 0 without it.
    #[must_use]
    pub fn table(&self, name: &str) -> u32 {
        self.part(&format!("{TABLE}{name}")).unwrap_or(0)
    }
}

fn beyond(end: u64) -> String {
    format!("its region would end at {end:#x}; expected an end up to 0x100000000")
}
