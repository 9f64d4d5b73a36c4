//! Loads a kernel from an ELF file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::elf::{
    FileHeader32, EF_RISCV_RVC, EF_RISCV_RVE, EM_RISCV, ET_EXEC, PF_W, PT_LOAD, SHN_ABS, STB_LOCAL, STB_WEAK,
    STT_FUNC,
};
use object::read::elf::{FileHeader, ProgramHeader, Sym};
use object::LittleEndian;

use super::arch::Arch;
use super::global_pointer;
use super::source_map::SourceMap;
use super::startup::{self, Startup};
use super::symbols::{self, Binding, Symbol, SymbolError};
use crate::input::{self, MOST_PROGRAM_BYTES};

/// The symbol at which every thread starts.
const ENTRY_SYMBOL: &str = "kernel";
/// What builds a kernel.
const BUILDER: &str = "hermes kernel build";

/// To which of its two addresses a segment is written.
#[derive(Clone, Copy)]
enum LoadAt {
    /// `p_vaddr`: nothing moves the parts of the program.
    Run,
    /// `p_paddr`: its own start-up code does.
    Load,
}

/// Registers of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterClass {
    /// 16 registers (RV32E): up to 32 warps a core.
    Rv32e,
    /// 32 registers (RV32I): up to 16 warps a core.
    Rv32i,
}

impl RegisterClass {
    /// Registers of a thread: 16 or 32.
    pub const fn registers(self) -> usize {
        match self {
            Self::Rv32e => 16,
            Self::Rv32i => 32,
        }
    }
}

/// Bytes that the host writes to shared memory before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address to which the host writes the first byte: of a kernel where the program expects it
    /// (`p_vaddr`), of other programs, which move their parts themselves, the load address
    /// (`p_paddr`).
    pub address: u32,
    /// Address of the first byte when the program uses it (`p_vaddr`), that of its symbols.
    pub run_address: u32,
    /// The bytes, with the zeros of `.bss`.
    pub bytes: Vec<u8>,
    /// The program stores there (PF_W).
    pub writable: bool,
}

/// A kernel, ready to be loaded.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Address of the first instruction: the symbol `kernel`.
    pub entry: u32,
    /// What goes to memory, in the order of the addresses; segments do not overlap.
    pub segments: Vec<Segment>,
    /// Registers of a thread.
    pub registers: RegisterClass,
    /// The functions, objects and labels, in the order of the addresses.
    pub symbols: Vec<Symbol>,
    /// The registers and extensions for which it is built, if the file tells.
    pub arch: Option<Arch>,
    /// The ELF file, for what explains the kernel.
    elf: Arc<[u8]>,
}

/// Why a file is not a kernel for the array.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The file could not be read.
    #[error("{}", input::name(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file does not hold what it should.
    #[error("{}: {problem}", input::name(path))]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what was expected.
        problem: String,
    },
}

/// The text that a variable holds, up to its first zero.
fn text_of(segments: &[Segment], symbol: &Symbol) -> Option<String> {
    let bytes = segments.iter().find_map(|segment| {
        let first = symbol.address.checked_sub(segment.address)? as usize;
        segment.bytes.get(first..first + symbol.size as usize)
    });
    let text = bytes.filter(|_| !symbol.is_function)?.split(|byte| *byte == 0).next()?;
    String::from_utf8(text.to_vec()).ok()
}

/// A program for bare metal, as an ELF file holds it.
#[derive(Clone, Debug)]
pub struct Executable {
    /// Address of the first instruction, as the file's header has it.
    pub entry: u32,
    /// What goes to memory, in the order of the addresses; segments do not overlap.
    pub segments: Vec<Segment>,
    /// Registers of a hart.
    pub registers: RegisterClass,
    /// The functions, objects and labels, in the order of the addresses.
    pub symbols: Vec<Symbol>,
    /// The registers and extensions for which it is built, if the file tells.
    pub arch: Option<Arch>,
}

impl Kernel {
    /// Reads the kernel in the ELF file `path`.
    ///
    /// # Errors
    /// [`KernelError`] if the file cannot be read, is no executable for 32-bit RISC-V, has
    /// compressed instructions, needs a start-up code (constructors, thread-local data, `gp`), or
    /// has no symbol `kernel` in a loaded segment.
    pub fn read(path: &Path) -> Result<Self, KernelError> {
        let data = input::read(path, MOST_PROGRAM_BYTES)
            .map_err(|source| KernelError::Read { path: path.to_path_buf(), source })?;
        Self::parse(&data).map_err(|problem| KernelError::Format { path: path.to_path_buf(), problem })
    }

    /// The kernel in the bytes of an ELF file.
    fn parse(data: &[u8]) -> Result<Self, String> {
        let parsed = Executable::parse_for(data, BUILDER, LoadAt::Run)?;
        let entry =
            parsed.symbol(ENTRY_SYMBOL).map(|symbol| symbol.address).map_err(|error| match error {
                SymbolError::Missing { .. } => {
                    format!("{error}; expected the kernel's first instruction there")
                }
                SymbolError::Ambiguous { .. } => error.to_string(),
            })?;
        parsed.check_startup(data, Startup::Nothing)?;
        let Executable { segments, registers, symbols, arch, .. } = parsed;
        if entry % 4 != 0 {
            return Err(format!("symbol `kernel` is at {entry:#010x}; expected a multiple of 4"));
        }
        let inside = |s: &Segment| entry >= s.address && entry - s.address < s.bytes.len() as u32;
        if !segments.iter().any(inside) {
            return Err(format!("symbol `kernel` is at {entry:#010x}, outside every loaded segment"));
        }
        let functions = symbols.iter().filter(|symbol| symbol.is_function).map(|symbol| symbol.address);
        if let Some(pc) = global_pointer::used_unset(entry, functions, |at| word_at(&segments, at)) {
            let place = SourceMap::of(&segments, &symbols, data).place(pc);
            return Err(format!(
                "uses gp at {place}, and nothing sets it; expected a program linked with --no-relax, \
                 or a first instruction `la gp, __global_pointer$`"
            ));
        }
        Ok(Self { entry, segments, registers, symbols, arch, elf: data.into() })
    }

    /// Its functions and lines.
    #[must_use]
    pub fn source_map(&self) -> SourceMap {
        SourceMap::of(&self.segments, &self.symbols, &self.elf)
    }

    /// The symbol that `name` stands for: a global one, otherwise a weak one, otherwise a local one
    /// if it is alone.
    ///
    /// # Errors
    /// There is none, or there are several local ones.
    pub fn symbol(&self, name: &str) -> Result<&Symbol, SymbolError> {
        symbols::find(&self.symbols, name)
    }

    /// The text of a variable, such as the name of the workload for several nodes that it is
    /// (`hermes_workload`); `None` if it has none of that name, or it is no text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        text_of(&self.segments, self.symbol(name).ok()?)
    }

    /// Whether `bytes` bytes from `address` on are part of a loaded segment.
    #[must_use]
    pub fn holds(&self, address: u32, bytes: u32) -> bool {
        let inside = |segment: &Segment| {
            let offset = address.checked_sub(segment.address);
            offset.is_some_and(|offset| u64::from(offset) + u64::from(bytes) <= segment.bytes.len() as u64)
        };
        self.segments.iter().any(inside)
    }

    /// The word at `address` before the run; `None` outside the loaded segments.
    #[must_use]
    pub fn word(&self, address: u32) -> Option<u32> {
        word_at(&self.segments, address)
    }

    /// The byte at `address` before the run; `None` outside the loaded segments.
    #[must_use]
    pub fn byte(&self, address: u32) -> Option<u8> {
        bytes_at(&self.segments, address).map(|[byte]| byte)
    }

    /// Bytes in memory, over all segments.
    pub fn size(&self) -> usize {
        self.segments.iter().map(|segment| segment.bytes.len()).sum()
    }

    /// The address after the last byte.
    pub fn end(&self) -> u32 {
        self.segments.iter().map(|s| s.address + s.bytes.len() as u32).max().unwrap_or(0)
    }
}

impl Executable {
    /// Reads the program in the ELF file `path`.
    ///
    /// # Errors
    /// [`KernelError`] if the file cannot be read, is no executable for 32-bit RISC-V, or has
    /// compressed instructions.
    pub fn read(path: &Path) -> Result<Self, KernelError> {
        let data = input::read(path, MOST_PROGRAM_BYTES)
            .map_err(|source| KernelError::Read { path: path.to_path_buf(), source })?;
        let parsed = Self::parse(&data, BUILDER);
        parsed.map_err(|problem| KernelError::Format { path: path.to_path_buf(), problem })
    }

    /// The symbol that `name` stands for: a global one, otherwise a weak one, otherwise a local one
    /// if it is alone.
    ///
    /// # Errors
    /// There is none, or there are several local ones.
    pub fn symbol(&self, name: &str) -> Result<&Symbol, SymbolError> {
        symbols::find(&self.symbols, name)
    }

    /// The word at `address` before the run; `None` outside the loaded segments.
    #[must_use]
    pub fn word(&self, address: u32) -> Option<u32> {
        word_at(&self.segments, address)
    }

    /// The text of a variable; `None` if it has none of that name, or it is no text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        text_of(&self.segments, self.symbol(name).ok()?)
    }

    /// Makes sure that the program, whose ELF file is `data`, needs no more than `startup` does.
    ///
    /// # Errors
    /// The section and the symbol, and what was expected.
    pub(crate) fn check_startup(&self, data: &[u8], startup: Startup) -> Result<(), String> {
        let header = FileHeader32::<LittleEndian>::parse(data);
        let header = header.map_err(|error| format!("broken ELF file: {error}"))?;
        startup::check(header, data, &self.symbols, startup)
    }

    /// The program in the bytes of an ELF file, at its load addresses. Errors name the command that
    /// builds one.
    pub(crate) fn parse(data: &[u8], builder: &str) -> Result<Self, String> {
        Self::parse_for(data, builder, LoadAt::Load)
    }

    fn parse_for(data: &[u8], builder: &str, load_at: LoadAt) -> Result<Self, String> {
        if !data.starts_with(b"\x7fELF") {
            return Err(format!("not an ELF file; expected one for 32-bit RISC-V, as `{builder}` makes it"));
        }
        match (data.get(4), data.get(5)) {
            (Some(1), Some(1)) => {}
            (Some(2), _) => return Err("a 64-bit ELF file; expected 32-bit RISC-V, little-endian".into()),
            _ => return Err("not a little-endian 32-bit ELF file; expected 32-bit RISC-V".into()),
        }
        let broken = |error: object::Error| format!("broken ELF file: {error}");
        let endian = LittleEndian;
        let header = FileHeader32::<LittleEndian>::parse(data).map_err(broken)?;
        if header.e_machine(endian) != EM_RISCV {
            return Err(format!(
                "an ELF file for machine {}; expected RISC-V ({EM_RISCV})",
                header.e_machine(endian)
            ));
        }
        if header.e_type(endian) != ET_EXEC {
            return Err(format!("not linked: expected an executable; `{builder}` links it"));
        }
        let flags = header.e_flags(endian);
        if flags.contains(EF_RISCV_RVC) {
            return Err("has compressed instructions; build it with -march=rv32im_zicsr_zbb or -march=rv32em_zicsr_zbb".to_string());
        }
        let registers =
            if flags.contains(EF_RISCV_RVE) { RegisterClass::Rv32e } else { RegisterClass::Rv32i };

        let mut segments = Vec::new();
        let mut total = 0;
        for segment in header.program_headers(endian, data).map_err(broken)? {
            if segment.p_type(endian) != PT_LOAD || segment.p_memsz(endian) == 0 {
                continue;
            }
            let run_address = segment.p_vaddr(endian);
            let address = match load_at {
                LoadAt::Run => run_address,
                LoadAt::Load => segment.p_paddr(endian),
            };
            let size = segment.p_memsz(endian);
            let ends = [address, run_address].iter().all(|first| first.checked_add(size).is_some());
            if size > MAX_LOADED_BYTES || !ends {
                return Err(format!(
                    "segment at {address:#010x} has {size} bytes; expected at most {MAX_LOADED_BYTES}"
                ));
            }
            total += size;
            if total > MAX_LOADED_BYTES {
                return Err(format!("its segments have {total} bytes; expected at most {MAX_LOADED_BYTES}"));
            }
            let file =
                segment.data(endian, data).map_err(|()| "a segment ends beyond the file".to_string())?;
            let mut bytes = file.to_vec();
            if bytes.len() > size as usize {
                return Err(format!("segment at {address:#010x} is larger in the file than in memory"));
            }
            bytes.resize(size as usize, 0);
            let writable = segment.p_flags(endian).contains(PF_W);
            segments.push(Segment { address, run_address, bytes, writable });
        }
        segments.sort_by_key(|segment| segment.address);
        for pair in segments.windows(2) {
            if u64::from(pair[0].address) + pair[0].bytes.len() as u64 > u64::from(pair[1].address) {
                return Err(format!("segments overlap at {:#010x}", pair[1].address));
            }
        }

        let sections = header.sections(endian, data).map_err(broken)?;
        let table = sections.symbols(endian, data, object::elf::SHT_SYMTAB).map_err(broken)?;
        let mut symbols = Vec::new();
        for symbol in table.iter() {
            let name = symbol.name(endian, table.strings()).map_err(broken)?;
            if name.len() > MAX_NAME_BYTES {
                let length = name.len();
                return Err(format!("a symbol's name has {length} bytes; expected at most {MAX_NAME_BYTES}"));
            }
            let name = String::from_utf8_lossy(name);
            // Not file or section names, constants of one source or mapping symbols.
            let section = symbol.st_shndx(endian);
            let is_absolute = section == SHN_ABS && symbol.st_bind() != STB_LOCAL;
            let defined = section.index().is_some() || is_absolute;
            if defined && symbol.st_type() <= STT_FUNC && !name.is_empty() && !name.starts_with('$') {
                symbols.push(Symbol {
                    name: name.into_owned(),
                    address: symbol.st_value(endian),
                    size: symbol.st_size(endian),
                    is_function: symbol.st_type() == STT_FUNC,
                    binding: match symbol.st_bind() {
                        STB_LOCAL => Binding::Local,
                        STB_WEAK => Binding::Weak,
                        _ => Binding::Global,
                    },
                    is_absolute,
                });
            }
        }
        symbols.sort_by(|a: &Symbol, b: &Symbol| (a.address, &a.name).cmp(&(b.address, &b.name)));
        let arch = Arch::read(header, data)?;
        Ok(Self { entry: header.e_entry(endian), segments, registers, symbols, arch })
    }
}

/// The word at `address`, if it is in one of the segments.
fn word_at(segments: &[Segment], address: u32) -> Option<u32> {
    bytes_at(segments, address).map(u32::from_le_bytes)
}

/// What the program finds at `address`, if it is in one of the segments.
fn bytes_at<const N: usize>(segments: &[Segment], address: u32) -> Option<[u8; N]> {
    segments.iter().find_map(|segment| {
        let offset = address.checked_sub(segment.run_address)? as usize;
        segment.bytes.get(offset..offset.checked_add(N)?)?.try_into().ok()
    })
}

/// The most bytes that all segments have: far more than a kernel needs, and no burden on the host.
const MAX_LOADED_BYTES: u32 = 16 << 20;

/// The longest name of a symbol. Symbols may share the text of their names, so that a small file
/// could hold very many long ones.
const MAX_NAME_BYTES: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{build_source, StackNeed};

    fn message(data: &[u8]) -> String {
        Kernel::parse(data).unwrap_err()
    }

    #[test]
    fn rejects_what_is_no_kernel() {
        assert!(message(b"").contains("not an ELF file"));
        assert!(message(b"\x7fELF").contains("not a little-endian 32-bit ELF file"));
        assert!(message(b"\x7fELF\x02\x01").contains("64-bit"));
        assert!(message(b"\x7fELF\x01\x01\x01").contains("broken ELF file"));
        let mut arm = vec![0; 52];
        arm[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
        arm[18] = 40;
        assert!(message(&arm).contains("machine 40; expected RISC-V (243)"));
    }

    /// An ELF file with these program headers (address, bytes in memory) and no sections.
    fn with_segments(segments: &[(u32, u32)]) -> Vec<u8> {
        let mut data = b"\x7fELF\x01\x01\x01".to_vec();
        data.resize(16, 0);
        data.extend([2, 0, 243, 0, 1, 0, 0, 0]);
        data.extend([0u32, 52, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
        data.extend([52u16, 32, segments.len() as u16, 40, 0, 0].iter().flat_map(|half| half.to_le_bytes()));
        for (address, size) in segments {
            let words = [1, 0, *address, *address, 0, *size, 5, 4];
            data.extend(words.iter().flat_map(|word: &u32| word.to_le_bytes()));
        }
        data
    }

    #[test]
    fn many_segments_do_not_fill_the_memory() {
        let many = with_segments(&[(0, 16 << 20); 60_000]);
        assert!(message(&many).contains("its segments have 33554432 bytes; expected at most 16777216"));
        let one = with_segments(&[(0x8000_0000, 17 << 20)]);
        assert!(message(&one).contains("segment at 0x80000000 has 17825792 bytes"));
    }

    /// Every prefix of a good file, and every file with one byte changed, gives a kernel or an
    /// error, never a panic; and the kernel's stack can be asked for.
    #[test]
    fn broken_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dec-ttl.elf");
        let text = include_str!("../../../../kernels-asm/dec-ttl.S");
        build_source("dec-ttl.S", text, RegisterClass::Rv32e, &path).unwrap();
        let data = std::fs::read(&path).unwrap();
        let kernel = Kernel::parse(&data).unwrap();
        for position in 0..kernel.segments[0].bytes.len() {
            let mut broken = kernel.clone();
            broken.segments[0].bytes[position] ^= 0x5a;
            let _ = StackNeed::of(&broken);
        }
        for length in (0..data.len()).step_by(7) {
            let _ = Kernel::parse(&data[..length]);
        }
        for position in (0..256).chain(data.len() - 1024..data.len()) {
            for value in [0x00, 0x7f, 0xff] {
                let mut broken = data.clone();
                broken[position] = value;
                let _ = Kernel::parse(&broken).map(|kernel| StackNeed::of(&kernel));
            }
        }
    }

    #[test]
    fn missing_file_is_named() {
        let error = anyhow::Error::from(Kernel::read(Path::new("no/such.elf")).unwrap_err());
        assert!(format!("{error:#}").starts_with("no/such.elf: No such file"), "{error:#}");
    }
}
