//! Names of addresses: functions and source lines.

use std::collections::HashMap;
use std::rc::Rc;

use hermes_rtl::config::EXIT_ADDRESS;

use crate::iss::BOOT_ADDRESS;
use crate::kernel::{base_name, behind, SourceMap};

/// Name of the instructions that every core runs before a kernel.
pub const BOOT: &str = "(boot)";
/// Name of the instruction with which every thread ends.
pub const EXIT: &str = "(exit)";

/// What an address is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The function or label, [`BOOT`] or [`EXIT`]; the address itself where nothing is known.
    pub function: String,
    /// Bytes behind its beginning.
    pub offset: u32,
    /// Source file, with its folder as the compiler knew it, and line.
    pub line: Option<(String, u32)>,
}

impl Name {
    /// The function with the bytes behind its beginning, such as `kernel+0x10`.
    #[must_use]
    pub fn place(&self) -> String {
        behind(&self.function, self.offset)
    }

    /// File without its folder, and line, such as `nat.c:12`.
    #[must_use]
    pub fn source_line(&self) -> Option<String> {
        let (file, line) = self.line.as_ref()?;
        Some(format!("{}:{line}", base_name(file)))
    }
}

/// Names every address of some programs; each is looked up once.
#[derive(Default)]
pub struct Names {
    maps: Vec<Rc<SourceMap>>,
    known: HashMap<u32, Rc<Name>>,
}

impl Names {
    /// Names in these programs, which lie beside each other.
    #[must_use]
    pub fn new(maps: Vec<Rc<SourceMap>>) -> Self {
        Self { maps, known: HashMap::new() }
    }

    /// What the instruction at `pc` is called.
    pub fn name(&mut self, pc: u32) -> Rc<Name> {
        let Self { maps, known } = self;
        Rc::clone(known.entry(pc).or_insert_with(|| Rc::new(find(maps, pc))))
    }
}

fn find(maps: &[Rc<SourceMap>], pc: u32) -> Name {
    let fixed = |function: &str, offset| Name { function: function.into(), offset, line: None };
    if pc == EXIT_ADDRESS {
        return fixed(EXIT, 0);
    }
    if pc >= BOOT_ADDRESS {
        return fixed(BOOT, pc - BOOT_ADDRESS);
    }
    let found = maps.iter().find(|map| map.contains(pc));
    let (function, offset) =
        found.and_then(|map| map.place(pc).symbol).unwrap_or_else(|| (format!("{pc:#010x}"), 0));
    Name { function, offset, line: found.and_then(|map| map.file_line(pc)) }
}
