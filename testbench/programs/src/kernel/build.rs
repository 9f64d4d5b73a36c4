//! Builds kernels with the stock GNU tools for RISC-V.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_rtl::config::{LINE_BYTES, LOCAL_REGION_ADDRESS};
use verilator_sys::newest_program;

use super::elf::{Kernel, KernelError, RegisterClass};
use super::language::Language;
use super::prefix::PrefixMap;
use super::tool::{make_once, write_file, ToolRun};
use super::{dependencies, sources};
use crate::staging::temporary_folder;

pub(super) const ASSEMBLER: &str = "riscv64-unknown-elf-as";
pub(super) const LINKER: &str = "riscv64-unknown-elf-ld";
const ARCHIVER: &str = "riscv64-unknown-elf-ar";
/// The Debian package of these.
pub(super) const BINUTILS: &str = "binutils-riscv64-unknown-elf";
pub(crate) const COMPILER: &str = "riscv64-unknown-elf-gcc";

/// The compiler of kernels in C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compiler {
    /// GCC for RISC-V.
    #[default]
    Gcc,
    /// Clang. GNU as and ld do the rest.
    Clang,
}

impl Compiler {
    /// The program, and the Debian package that brings it. Of several versions of Clang it is the
    /// newest.
    fn program(self) -> (String, &'static str) {
        match self {
            Self::Gcc => (COMPILER.to_string(), "gcc-riscv64-unknown-elf"),
            Self::Clang => (newest_program("clang").unwrap_or_else(|| "clang".to_string()), "clang"),
        }
    }
}

/// How a kernel is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// Registers of a thread.
    pub registers: RegisterClass,
    /// Folders with include files, searched before those that come with Hermes.
    pub include: Vec<PathBuf>,
    /// `NAME` or `NAME=VALUE`: macros in C, symbols in assembly, where the value is a number.
    /// Without a value it is 1.
    pub defines: Vec<String>,
    /// Level of optimization of the compiler: what stands behind its `-O`.
    pub optimization: String,
    /// Whether the kernel may have atomic instructions (A).
    pub atomics: bool,
    /// Whether the kernel may have compare-and-swap (Zacas), and so atomic instructions. Clang
    /// makes it of the forms of C11; GCC 12 does not, and has `hermes_compare_and_swap`.
    pub compare_and_swap: bool,
    /// Whether the kernel may have AES instructions (Zkne, Zknd).
    pub aes: bool,
    /// The compiler of sources in C.
    pub compiler: Compiler,
    /// Stack bytes of a thread above which a function in C gets a warning; `None`: no warnings.
    pub stack_bytes: Option<u32>,
    /// Address of the kernel's first byte, a multiple of 64 within [`KERNEL_ADDRESSES`]; `None`:
    /// where the linker script puts it, 0x1000. Kernels that lie in one memory at a time need
    /// addresses of their own.
    pub address: Option<u32>,
}

/// Bytes that the linker script gives a kernel with its data.
pub const MOST_KERNEL_BYTES: u32 = 60 << 10;
/// Where a kernel may begin: behind the line of the null address, and below what is private to
/// threads and cores, of which a kernel of [`MOST_KERNEL_BYTES`] stays free.
pub const KERNEL_ADDRESSES: RangeInclusive<u32> =
    LINE_BYTES as u32..=LOCAL_REGION_ADDRESS - MOST_KERNEL_BYTES;
/// The symbol by which the linker script knows the address.
const ADDRESS_SYMBOL: &str = "hermes_kernel_address";

impl BuildOptions {
    /// What every array executes, optimized at level 2.
    #[must_use]
    pub fn new(registers: RegisterClass) -> Self {
        Self {
            registers,
            include: Vec::new(),
            defines: Vec::new(),
            optimization: "2".to_string(),
            atomics: false,
            compare_and_swap: false,
            aes: false,
            compiler: Compiler::Gcc,
            stack_bytes: None,
            address: None,
        }
    }

    /// Makes sure that a kernel can be linked to its address.
    fn check_address(&self) -> Result<(), BuildError> {
        match self.address {
            Some(address) if !KERNEL_ADDRESSES.contains(&address) || address % LINE_BYTES as u32 != 0 => {
                Err(BuildError::Address(address))
            }
            _ => Ok(()),
        }
    }

    /// The compiler's and the assembler's flags: registers and extensions.
    fn target(&self, compiler: Compiler) -> [String; 2] {
        let (base, abi) = match self.registers {
            RegisterClass::Rv32e => ("rv32e", "ilp32e"),
            RegisterClass::Rv32i => ("rv32i", "ilp32"),
        };
        let atomics = if self.atomics || self.compare_and_swap { "a" } else { "" };
        let compares = self.compare_and_swap && compiler == Compiler::Clang;
        let zacas = if compares { "_zacas" } else { "" };
        // Clang has the CSR instructions in the base, and knows their extension's name only from
        // version 17 on.
        let csr = if compiler == Compiler::Gcc { "_zicsr" } else { "" };
        let aes = if self.aes { "_zknd_zkne" } else { "" };
        [format!("-march={base}m{atomics}{csr}{zacas}_zbb{aes}"), format!("-mabi={abi}")]
    }
}

impl RegisterClass {
    /// The flags with which the compiler is asked for its library. It is built for few sets of
    /// extensions; asked with another one, the compiler names that for 64 bits. What this one uses
    /// every array executes.
    const fn library_flags(self) -> [&'static str; 2] {
        match self {
            Self::Rv32e => ["-march=rv32em", "-mabi=ilp32e"],
            Self::Rv32i => ["-march=rv32im", "-mabi=ilp32"],
        }
    }
}

/// Why a kernel could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A tool is not installed.
    #[error("{tool} is not installed; install the package {package} (`sudo apt-get install {package}`)")]
    Missing {
        /// The program.
        tool: String,
        /// The Debian package that brings it.
        package: &'static str,
    },
    /// The name of the source says nothing about its language.
    #[error("{}: cannot tell the language; expected a name that ends with .S, .s or .c", .0.display())]
    Language(PathBuf),
    /// A value that assembly cannot have.
    #[error("-D {define}: {}: expected a number, since the source is assembly", source_file.display())]
    Define {
        /// `NAME=VALUE`.
        define: String,
        /// The source.
        source_file: PathBuf,
    },
    /// An address that a kernel cannot be linked to.
    #[error(
        "--at {0:#x}: expected a multiple of {LINE_BYTES}, {first:#x} to {last:#x}",
        first = KERNEL_ADDRESSES.start(),
        last = KERNEL_ADDRESSES.end()
    )]
    Address(u32),
    /// A file could not be read or written.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The output or a temporary folder could not be written; the message names it.
    #[error(transparent)]
    Output(io::Error),
    /// The output is the source, or a file that it includes.
    #[error("-o {}: would overwrite {}, which is read; expected another file", output.display(), read.display())]
    Overwrites {
        /// The file to write.
        output: PathBuf,
        /// The same file, as the tool that has read it calls it.
        read: PathBuf,
    },
    /// The tool found errors.
    #[error("{tool} failed on {}:\n{message}", source_file.display())]
    Tool {
        /// The program.
        tool: String,
        /// The source it worked on.
        source_file: PathBuf,
        /// What it printed.
        message: String,
    },
    /// What came out is not a kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Builds the kernel in `source` (`.S` or `.s`: GNU as; `.c`: C) and writes the ELF file `output`.
/// Assembly finds `packet.inc` and `hermes_shmem.inc`, C finds `hermes.h`, `string.h`,
/// `hermes_shmem.h` and `hermes_collectives.h`, both find what is beside the source, and the
/// library of the latter three.
///
/// # Errors
/// [`BuildError`]; nothing is written then.
pub fn build(source: &Path, registers: RegisterClass, output: &Path) -> Result<(), BuildError> {
    build_with(&[source.to_path_buf()], &BuildOptions::new(registers), output)
}

/// As [`build`], of several sources, of which one has the function `kernel`.
///
/// # Errors
/// As [`build`].
pub fn build_with(sources: &[PathBuf], options: &BuildOptions, output: &Path) -> Result<(), BuildError> {
    build_in(&Work::new(options)?, sources, output)
}

fn build_in(work: &Work, sources: &[PathBuf], output: &Path) -> Result<(), BuildError> {
    let options = work.options;
    options.check_address()?;
    for source in sources {
        sources::read_source(source)?;
        Language::of(source)?;
    }
    let (mut objects, mut read) = (Vec::new(), Vec::new());
    for (number, source) in sources.iter().enumerate() {
        let object = work.path(&format!("kernel-{number}.o"));
        match Language::of(source)? {
            Language::Assembly => work.assembler(source, &object, options)?.run()?,
            Language::C => work.compiler(source, &object, options, &[]).run()?,
        }
        read.extend(RULES.iter().flat_map(|end| dependencies::read(&object.with_extension(end))));
        objects.push(object);
    }
    dependencies::keep(output, &read)?;
    let in_c = sources.iter().any(|source| matches!(Language::of(source), Ok(Language::C)));
    work.link(sources, &objects, in_c, output)
}

/// What the names of the files end with in which a tool writes what it has read for an object: the
/// compiler or the assembler alone, and the assembler behind the compiler (`.incbin` in C).
const RULES: [&str; 2] = ["d", "as.d"];

/// As [`build`], from the text of an assembly source called `name`.
///
/// # Errors
/// As [`build`].
pub fn build_source(
    name: &str,
    text: &str,
    registers: RegisterClass,
    output: &Path,
) -> Result<(), BuildError> {
    build_source_with(name, text, &BuildOptions::new(registers), output)
}

/// As [`build_source`], with these options.
///
/// # Errors
/// As [`build`].
pub fn build_source_with(
    name: &str,
    text: &str,
    options: &BuildOptions,
    output: &Path,
) -> Result<(), BuildError> {
    // In the folder whose name stays: the same source gives the same bytes.
    let work = Work::new(options)?;
    let source = work.path(name);
    write_file(&source, text)?;
    build_in(&work, &[source], output)
}

/// How the names of temporary folders begin.
pub const WORK_FOLDER: &str = "hermes-kernel-";
/// What the temporary folder is called in debug information.
const WORK_NAME: &str = "/hermes-kernel-include";

/// A temporary folder.
pub(super) fn work_folder() -> Result<tempfile::TempDir, BuildError> {
    temporary_folder(WORK_FOLDER).map_err(BuildError::Output)
}

/// A temporary folder with the include files, the library's sources and the linker script.
struct Work<'a> {
    folder: tempfile::TempDir,
    /// What folders are called in debug information.
    names: PrefixMap,
    options: &'a BuildOptions,
}

impl<'a> Work<'a> {
    fn new(options: &'a BuildOptions) -> Result<Self, BuildError> {
        let folder = work_folder()?;
        sources::write_all(folder.path())?;
        let names = PrefixMap::new(folder.path(), WORK_NAME);
        Ok(Self { folder, names, options })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What assembles `source` with `options`.
    fn assembler(&self, source: &Path, object: &Path, options: &BuildOptions) -> Result<ToolRun, BuildError> {
        let mut command = Command::new(ASSEMBLER);
        command.args(options.target(Compiler::Gcc)).arg("-g");
        for map in self.names.flags("") {
            command.arg("--debug-prefix-map").arg(map);
        }
        for folder in options.include.iter().map(PathBuf::as_path) {
            command.arg("-I").arg(folder);
        }
        command.arg("-I").arg(self.folder.path()).arg("-I").arg(folder_of(source));
        for define in &options.defines {
            let (name, value) = define.split_once('=').unwrap_or((define, "1"));
            let digits = value.strip_prefix('-').unwrap_or(value);
            let number = digits.strip_prefix("0x").map_or_else(
                || digits.parse::<u32>().is_ok(),
                |digits| u32::from_str_radix(digits, 16).is_ok(),
            );
            if !number {
                return Err(BuildError::Define { define: define.clone(), source_file: source.to_path_buf() });
            }
            command.arg("--defsym").arg(format!("{name}={value}"));
        }
        command.arg("--MD").arg(object.with_extension(RULES[0]));
        command.arg("-o").arg(object).arg(source);
        Ok(ToolRun::new(command, BINUTILS, source))
    }

    /// What compiles `source` with `options` and further flags.
    fn compiler(&self, source: &Path, object: &Path, options: &BuildOptions, flags: &[&str]) -> ToolRun {
        let (program, package) = options.compiler.program();
        let mut command = Command::new(&program);
        command.args(options.target(options.compiler)).arg(format!("-O{}", options.optimization));
        command.args(["-c", "-g", "-Wall", "-ffreestanding", "-nostdlib"]);
        command.args(["-fno-pic", "-mcmodel=medany", "-msmall-data-limit=0"]).args(flags);
        command.args(self.names.flags("-ffile-prefix-map="));
        let stack_warning = match options.compiler {
            Compiler::Gcc => {
                command.arg("-mstrict-align");
                pass_rules(&mut command, object);
                "-Wstack-usage"
            }
            Compiler::Clang => {
                command.args(["--target=riscv32-unknown-elf", "-mno-relax"]);
                "-Wframe-larger-than"
            }
        };
        command.args(options.stack_bytes.map(|bytes| format!("{stack_warning}={bytes}")));
        command.args(options.defines.iter().map(|define| format!("-D{define}")));
        for folder in options.include.iter().map(PathBuf::as_path).chain([self.folder.path()]) {
            command.arg("-I").arg(folder);
        }
        command.arg("-MD").arg("-MF").arg(object.with_extension(RULES[0]));
        command.arg("-o").arg(object).arg(source);
        ToolRun::new(command, package, source)
    }

    /// The library, of which a kernel gets what it calls; made once for all kernels that are built
    /// alike.
    fn build_library(&self, in_c: bool) -> Result<PathBuf, BuildError> {
        let archive = self.path("libhermes.a");
        let mut command = Command::new(ARCHIVER);
        command.arg("rcs").arg(&archive);
        let (mut runs, mut texts) = (Vec::new(), sources::library_includes());
        let compiler = self.options.compiler;
        let flags: &[&str] = match compiler {
            // The loops of memcpy must not become calls of memcpy; clang leaves them as they are.
            Compiler::Gcc => &["-fno-tree-loop-distribute-patterns"],
            Compiler::Clang => &["-Wno-unknown-attributes", "-Wno-inline-asm"],
        };
        for (name, atomics) in sources::library(in_c) {
            let (source, object) = (self.path(name), self.path(&format!("{name}.o")));
            let options = BuildOptions {
                // `.option arch` in the source does for GCC; clang has it from version 17 on.
                atomics: self.options.atomics || (atomics && compiler == Compiler::Clang),
                compare_and_swap: self.options.compare_and_swap,
                aes: self.options.aes,
                compiler,
                ..BuildOptions::new(self.options.registers)
            };
            runs.push(match Language::of(&source)? {
                Language::Assembly => self.assembler(&source, &object, &options)?,
                Language::C => self.compiler(&source, &object, &options, flags),
            });
            texts.extend(sources::built_in(name));
            command.arg(object);
        }
        runs.push(ToolRun::new(command, BINUTILS, &archive));
        make_once(runs, &texts, "library of kernels", &self.names, &archive)?;
        Ok(archive)
    }

    /// Links `objects`; kernels in C also get the compiler's own library, for divisions and numbers
    /// of 64 bits and the like.
    fn link(
        &self,
        sources: &[PathBuf],
        objects: &[PathBuf],
        in_c: bool,
        output: &Path,
    ) -> Result<(), BuildError> {
        let library = self.build_library(in_c)?;
        let source = sources.first().map_or(Path::new(""), PathBuf::as_path);
        let linked = self.path("kernel.elf");
        let mut command = Command::new(LINKER);
        command.args(["-m", "elf32lriscv", "--no-relax", "--fatal-warnings", "-z", "noexecstack"]);
        command.arg("-T").arg(self.path("kernel.ld"));
        if let Some(address) = self.options.address {
            command.arg("--defsym").arg(format!("{ADDRESS_SYMBOL}={address:#x}"));
        }
        command.arg("-o").arg(&linked).args(objects);
        // Functions of each library use the other one.
        command.arg("--start-group").arg(library);
        if in_c {
            command.args(compiler_library(self.options.registers));
        }
        command.arg("--end-group");
        ToolRun::new(command, BINUTILS, source).run()?;
        Kernel::read(&linked).map_err(|error| match error {
            KernelError::Format { problem, .. } => {
                KernelError::Format { path: source.to_path_buf(), problem }
            }
            other => other,
        })?;
        let bytes = std::fs::read(&linked);
        let bytes = bytes.map_err(|error| BuildError::File { path: linked.clone(), source: error })?;
        crate::output::write(output, &bytes).map_err(BuildError::Output)
    }
}

/// Lets GCC tell the assembler to write what it reads for `object`.
pub(crate) fn pass_rules(command: &mut Command, object: &Path) {
    // Not `-Wa`, which splits at commas.
    command.args(["-Xassembler", "--MD", "-Xassembler"]).arg(object.with_extension(RULES[1]));
}

/// The folder in which `source` lies.
fn folder_of(source: &Path) -> &Path {
    match source.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Where the compiler's library for this register class lies, if the installation has one.
fn compiler_library(registers: RegisterClass) -> Option<PathBuf> {
    let mut command = Command::new(COMPILER);
    let output = command.args(registers.library_flags()).arg("-print-libgcc-file-name").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_file().then_some(path)
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
