//! Where an address of a program lies in its source.

use std::collections::BTreeSet;
use std::fmt;

use gimli::{EndianRcSlice, RunTimeEndian};
use object::{Object as _, ObjectSection as _};

use super::elf::{Executable, Segment};
use super::symbols::Symbol;

type Lines = addr2line::Context<EndianRcSlice<RunTimeEndian>>;

/// Functions and lines of a program, as its ELF file tells them (symbol table, DWARF).
pub struct SourceMap {
    /// First address and bytes of each segment.
    extents: Vec<(u32, u32)>,
    /// Functions and labels, ascending.
    symbols: Vec<(u32, String)>,
    lines: Option<Lines>,
}

/// Where an address lies in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The address.
    pub address: u32,
    /// Function or label, and bytes behind it.
    pub symbol: Option<(String, u32)>,
    /// Source file and line.
    pub line: Option<(String, u32)>,
}

/// A function or label with the bytes behind its beginning, such as `kernel+0x10`.
#[must_use]
pub fn behind(name: &str, offset: u32) -> String {
    match offset {
        0 => name.to_string(),
        offset => format!("{name}+{offset:#x}"),
    }
}

/// The name of a file without its folder.
#[must_use]
pub fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

impl Place {
    /// The function or label with the bytes behind it, such as `kernel+0x10`.
    #[must_use]
    pub fn function(&self) -> Option<String> {
        let (name, offset) = self.symbol.as_ref()?;
        Some(behind(name, *offset))
    }

    /// File and line, such as `nat.c:12`.
    #[must_use]
    pub fn source_line(&self) -> Option<String> {
        self.line.as_ref().map(|(file, line)| format!("{file}:{line}"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.address)?;
        if let Some(function) = self.function() {
            write!(f, " {function}")?;
        }
        match self.source_line() {
            Some(line) => write!(f, " ({line})"),
            None => Ok(()),
        }
    }
}

impl SourceMap {
    /// The map of the program in the bytes of an ELF file.
    pub(crate) fn new(executable: &Executable, elf: &[u8]) -> Self {
        Self::of(&executable.segments, &executable.symbols, elf)
    }

    /// As [`Self::new`], from the parts of a program.
    pub(crate) fn of(segments: &[Segment], symbols: &[Symbol], elf: &[u8]) -> Self {
        let extents =
            segments.iter().map(|segment| (segment.run_address, segment.bytes.len() as u32)).collect();
        let symbols = symbols.iter().filter(|symbol| symbol.is_place());
        let symbols = symbols.map(|symbol| (symbol.address, symbol.name.clone())).collect();
        Self { extents, symbols, lines: lines(elf) }
    }

    /// Where functions and labels begin, ascending; without those that the compiler made up.
    #[must_use]
    pub fn functions(&self) -> &[(u32, String)] {
        &self.symbols
    }

    /// Where `address` lies in the source; outside of the program neither symbol nor line.
    #[must_use]
    pub fn place(&self, address: u32) -> Place {
        if !self.contains(address) {
            return Place { address, ..Place::default() };
        }
        let symbol = self.symbols.iter().rfind(|(at, _)| *at <= address);
        let without_folder = |(file, line): (String, u32)| (base_name(&file).to_string(), line);
        Place {
            address,
            symbol: symbol.map(|(at, name)| (name.clone(), address - at)),
            line: self.file_line(address).map(without_folder),
        }
    }

    /// Whether `address` is in the program.
    #[must_use]
    pub fn contains(&self, address: u32) -> bool {
        let inside =
            |(first, bytes): &(u32, u32)| address.checked_sub(*first).is_some_and(|offset| offset < *bytes);
        self.extents.iter().any(inside)
    }

    /// The source files of the program, with their folders as the compiler knew them, each once and
    /// in the order of their names.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let Some(lines) = &self.lines else { return Vec::new() };
        let ranges = self.extents.iter().filter_map(|&(first, bytes)| {
            lines.find_location_range(first.into(), u64::from(first) + u64::from(bytes)).ok()
        });
        let files = ranges.flatten().filter_map(|(_, _, location)| location.file.map(str::to_string));
        files.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Source file, with its folder as the compiler knew it, and line of `address`; of what was
    /// inlined there the innermost.
    #[must_use]
    pub fn file_line(&self, address: u32) -> Option<(String, u32)> {
        if !self.contains(address) {
            return None;
        }
        let found = self.lines.as_ref()?.find_location(address.into()).ok()??;
        // Line 0 stands for code without a line.
        Some((found.file?.to_string(), found.line.filter(|line| *line > 0)?))
    }
}

/// The lines of the source, if the file has them.
fn lines(elf: &[u8]) -> Option<Lines> {
    let file = object::File::parse(elf).ok()?;
    let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let bytes = file.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok(EndianRcSlice::new(bytes.unwrap_or_default().into(), RunTimeEndian::Little))
    };
    addr2line::Context::from_dwarf(gimli::Dwarf::load(section).ok()?).ok()
}
