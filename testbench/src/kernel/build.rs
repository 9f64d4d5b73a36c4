//! Builds kernels with the stock GNU tools for RISC-V.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::elf::{Kernel, KernelError, RegisterClass};
use crate::input::{self, MOST_PROGRAM_BYTES};

/// Include file of kernels in assembly.
pub const PACKET_INC: &str = include_str!("../../../kernels-asm/include/packet.inc");
/// Include file of kernels in C.
pub const HERMES_H: &str = include_str!("../../../kernels-asm/include/hermes.h");
/// Files of kernels that use the memories of other nodes: include files in C and in assembly, and the library, a file for each subject, with what it includes.
const LIBRARY: [(&str, &str); 10] = [
    ("hermes_shmem.h", include_str!("../../../kernels-asm/include/hermes_shmem.h")),
    ("hermes_collectives.h", include_str!("../../../kernels-asm/include/hermes_collectives.h")),
    ("hermes_shmem.inc", include_str!("../../../kernels-asm/include/hermes_shmem.inc")),
    ("hermes_context.inc", include_str!("../../../kernels-asm/lib/hermes_context.inc")),
    ("hermes_queue.inc", include_str!("../../../kernels-asm/lib/hermes_queue.inc")),
    ("hermes_shmem.S", include_str!("../../../kernels-asm/lib/hermes_shmem.S")),
    ("hermes_put_value.S", include_str!("../../../kernels-asm/lib/hermes_put_value.S")),
    ("hermes_wait.S", include_str!("../../../kernels-asm/lib/hermes_wait.S")),
    ("hermes_each_lane.S", include_str!("../../../kernels-asm/lib/hermes_each_lane.S")),
    ("hermes_collectives.c", include_str!("../../../kernels-asm/lib/hermes_collectives.c")),
];
/// Include files of the apps' kernels, with their names.
const APP_INCLUDES: [(&str, &str); 5] = [
    ("check.inc", include_str!("../../../kernels-asm/include/check.inc")),
    ("classify.inc", include_str!("../../../kernels-asm/include/classify.inc")),
    ("payload.inc", include_str!("../../../kernels-asm/include/payload.inc")),
    ("route.inc", include_str!("../../../kernels-asm/include/route.inc")),
    ("ttl.inc", include_str!("../../../kernels-asm/include/ttl.inc")),
];
/// Linker script of every kernel.
const LINKER_SCRIPT: &str = include_str!("../../../kernels-asm/kernel.ld");

const ASSEMBLER: &str = "riscv64-unknown-elf-as";
const LINKER: &str = "riscv64-unknown-elf-ld";
const ARCHIVER: &str = "riscv64-unknown-elf-ar";
pub(crate) const COMPILER: &str = "riscv64-unknown-elf-gcc";

impl RegisterClass {
    /// The compiler's and the assembler's flags: what every array executes.
    const fn flags(self) -> [&'static str; 2] {
        match self {
            Self::Rv32e => ["-march=rv32em_zicsr_zbb", "-mabi=ilp32e"],
            Self::Rv32i => ["-march=rv32im_zicsr_zbb", "-mabi=ilp32"],
        }
    }

    /// The flags with which the compiler is asked for its library. It is built for few sets of extensions; asked with another one, the
    /// compiler names that for 64 bits. What this one uses every array executes.
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
        tool: &'static str,
        /// The Debian package that brings it.
        package: &'static str,
    },
    /// The name of the source says nothing about its language.
    #[error("{}: cannot tell the language; expected a name that ends with .S, .s or .c", .0.display())]
    Language(PathBuf),
    /// A file could not be read or written.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The tool found errors.
    #[error("{tool} failed on {}:\n{message}", source_file.display())]
    Tool {
        /// The program.
        tool: &'static str,
        /// The source it worked on.
        source_file: PathBuf,
        /// What it printed.
        message: String,
    },
    /// What came out is not a kernel.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

/// Builds the kernel in `source` (`.S` or `.s`: GNU as; `.c`: C) and writes the ELF file `output`. Assembly finds
/// `packet.inc` and `hermes_shmem.inc`, C finds `hermes.h`, `hermes_shmem.h` and `hermes_collectives.h`, both find what is beside the source, and the library of the latter two.
///
/// # Errors
/// [`BuildError`]; nothing is written then.
pub fn build(source: &Path, registers: RegisterClass, output: &Path) -> Result<(), BuildError> {
    input::read(source, MOST_PROGRAM_BYTES)
        .map_err(|error| BuildError::File { path: source.to_path_buf(), source: error })?;
    let work = Work::new()?;
    let object = work.path("kernel.o");
    match source.extension().and_then(|extension| extension.to_str()) {
        Some("S" | "s") => work.assemble(source, registers, &object)?,
        Some("c") => work.compile(source, registers, &object)?,
        _ => return Err(BuildError::Language(source.to_path_buf())),
    }
    let in_c = source.extension().is_some_and(|extension| extension == "c");
    work.build_library(registers, in_c)?;
    work.link(source, registers, &object, output)
}

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
    let work = Work::new()?;
    let source = work.path(name);
    write_file(&source, text)?;
    build(&source, registers, output)
}

/// A temporary folder with the include files and the linker script.
struct Work {
    folder: tempfile::TempDir,
}

impl Work {
    fn new() -> Result<Self, BuildError> {
        let folder = tempfile::Builder::new().prefix("hermes-kernel-").tempdir();
        let folder = folder.map_err(|source| BuildError::File { path: std::env::temp_dir(), source })?;
        let work = Self { folder };
        write_file(&work.path("packet.inc"), PACKET_INC)?;
        for (name, text) in APP_INCLUDES.into_iter().chain(LIBRARY) {
            write_file(&work.path(name), text)?;
        }
        write_file(&work.path("hermes.h"), HERMES_H)?;
        write_file(&work.path("kernel.ld"), LINKER_SCRIPT)?;
        Ok(work)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn assemble(&self, source: &Path, registers: RegisterClass, object: &Path) -> Result<(), BuildError> {
        let mut command = Command::new(ASSEMBLER);
        command.args(registers.flags()).arg("-g").arg("-I").arg(self.folder.path());
        command.arg("-I").arg(folder_of(source)).arg("-o").arg(object).arg(source);
        run_tool(command, ASSEMBLER, "binutils-riscv64-unknown-elf", source)
    }

    fn compile(&self, source: &Path, registers: RegisterClass, object: &Path) -> Result<(), BuildError> {
        let mut command = Command::new(COMPILER);
        command.args(registers.flags()).args(["-c", "-O2", "-g", "-Wall", "-ffreestanding", "-nostdlib"]);
        command.args(["-fno-pic", "-mcmodel=medany", "-msmall-data-limit=0", "-mstrict-align"]);
        command.arg("-I").arg(self.folder.path()).arg("-o").arg(object).arg(source);
        run_tool(command, COMPILER, "gcc-riscv64-unknown-elf", source)
    }

    /// The library of `hermes_shmem.h` and `hermes_collectives.h`, of which a kernel gets what it calls. Its parts in C are for kernels in C, which need a compiler anyway.
    fn build_library(&self, registers: RegisterClass, in_c: bool) -> Result<(), BuildError> {
        let archive = self.path("libhermes_shmem.a");
        let mut command = Command::new(ARCHIVER);
        command.arg("rcs").arg(&archive);
        for (name, _) in LIBRARY {
            let (source, object) = (self.path(name), self.path(&format!("{name}.o")));
            match Path::new(name).extension().and_then(|extension| extension.to_str()) {
                Some("S") => self.assemble(&source, registers, &object)?,
                Some("c") if in_c => self.compile(&source, registers, &object)?,
                _ => continue,
            }
            command.arg(object);
        }
        run_tool(command, ARCHIVER, "binutils-riscv64-unknown-elf", &archive)
    }

    /// Links `object`; C kernels also get the compiler's own library, for multiplication and division.
    fn link(
        &self,
        source: &Path,
        registers: RegisterClass,
        object: &Path,
        output: &Path,
    ) -> Result<(), BuildError> {
        let linked = self.path("kernel.elf");
        let mut command = Command::new(LINKER);
        command.args(["-m", "elf32lriscv", "--no-relax", "--fatal-warnings", "-z", "noexecstack"]);
        command.arg("-T").arg(self.path("kernel.ld"));
        command.arg("-o").arg(&linked).arg(object).arg(self.path("libhermes_shmem.a"));
        if source.extension().is_some_and(|extension| extension == "c") {
            command.args(compiler_library(registers));
        }
        run_tool(command, LINKER, "binutils-riscv64-unknown-elf", source)?;
        Kernel::read(&linked).map_err(|error| match error {
            KernelError::Format { problem, .. } => {
                KernelError::Format { path: source.to_path_buf(), problem }
            }
            other => other,
        })?;
        let bytes = std::fs::read(&linked);
        let bytes = bytes.map_err(|error| BuildError::File { path: linked.clone(), source: error })?;
        let written = crate::output::OutputFile::create(output).and_then(|mut file| {
            io::Write::write_all(&mut file, &bytes)?;
            file.commit()
        });
        written.map_err(|error| BuildError::File { path: output.to_path_buf(), source: error })
    }
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

/// Writes a source or include file.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), BuildError> {
    std::fs::write(path, text).map_err(|source| BuildError::File { path: path.to_path_buf(), source })
}

/// Runs a tool; its messages are the error's text, or warnings.
pub(crate) fn run_tool(
    mut command: Command,
    tool: &'static str,
    package: &'static str,
    source: &Path,
) -> Result<(), BuildError> {
    log::debug!("{command:?}");
    let Output { status, stdout, stderr } = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => BuildError::Missing { tool, package },
        _ => BuildError::File { path: tool.into(), source: error },
    })?;
    let message = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let message = message.trim().to_string();
    if !status.success() {
        return Err(BuildError::Tool { tool, source_file: source.to_path_buf(), message });
    }
    if !message.is_empty() {
        log::warn!("{message}");
    }
    Ok(())
}

/// The words of a program in assembly that begins at `base`, for all extensions of the command processor, and its labels.
///
/// # Panics
/// If it cannot be built.
#[cfg(test)]
pub(crate) fn build_words(text: &str, base: u32) -> (Vec<u32>, std::collections::BTreeMap<String, u32>) {
    let work = Work::new().unwrap();
    let (source, object, linked) = (work.path("words.S"), work.path("words.o"), work.path("words.elf"));
    write_file(&source, &format!(".globl _start\n_start:\n{text}\n")).unwrap();
    let mut command = Command::new(ASSEMBLER);
    command.args(["-march=rv32ima_zicsr_zifencei_zbb", "-mabi=ilp32", "-mno-relax", "-o"]);
    command.arg(&object).arg(&source);
    run_tool(command, ASSEMBLER, "binutils-riscv64-unknown-elf", &source).unwrap();
    let mut command = Command::new(LINKER);
    command.args(["-m", "elf32lriscv", "--no-relax", "-N"]).arg(format!("-Ttext={base:#x}"));
    command.arg("-o").arg(&linked).arg(&object);
    run_tool(command, LINKER, "binutils-riscv64-unknown-elf", &source).unwrap();
    let program = super::elf::Executable::read(&linked).unwrap();
    let words = program.segments[0].bytes.chunks_exact(4);
    let words = words.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect();
    (words, program.symbols.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assembly_and_its_errors() {
        let folder = tempfile::tempdir().unwrap();
        let (source, output) = (folder.path().join("k.S"), folder.path().join("k.elf"));
        std::fs::write(&source, ".include \"packet.inc\"\n.globl kernel\nkernel: drop 99\n").unwrap();
        build(&source, RegisterClass::Rv32i, &output).unwrap();
        let kernel = Kernel::read(&output).unwrap();
        assert_eq!((kernel.entry, kernel.registers), (0x1000, RegisterClass::Rv32i));
        assert_eq!(kernel.symbols, [("kernel".to_string(), 0x1000)]);

        let fails = |text: &str, expected: &str| {
            let output = folder.path().join("none.elf");
            std::fs::write(&source, text).unwrap();
            let error = build(&source, RegisterClass::Rv32e, &output).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("k.S"), "{error}");
            assert!(!output.exists());
        };
        fails("kernel: no-such-instruction\n", "unrecognized opcode");
        fails("kernel: mv t6, a0\n", "illegal operands");
        fails("start: ret\n", "kernel");
    }

    #[test]
    fn sources_that_cannot_be_built() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("k.elf");
        let source = folder.path().join("k.rs");
        let error = anyhow::Error::from(build(&source, RegisterClass::Rv32i, &output).unwrap_err());
        assert!(format!("{error:#}").contains("k.rs: No such file"), "{error:#}");
        std::fs::write(&source, "").unwrap();
        let error = build(&source, RegisterClass::Rv32i, &output).unwrap_err().to_string();
        assert!(error.contains("expected a name that ends with .S, .s or .c"), "{error}");
    }
}
