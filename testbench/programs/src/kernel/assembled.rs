//! Words of programs in assembly, for tests.

use std::collections::BTreeMap;
use std::process::Command;

use super::build::{work_folder, ASSEMBLER, BINUTILS, LINKER};
use super::elf::Executable;
use super::tool::{write_file, ToolRun};

/// The words of a program in assembly that begins at `base`, for all extensions of the command
/// processor, and its labels.
///
/// # Panics
/// If it cannot be built.
#[must_use]
pub fn build_words(text: &str, base: u32) -> (Vec<u32>, BTreeMap<String, u32>) {
    let folder = work_folder().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (source, object, linked) = (path("words.S"), path("words.o"), path("words.elf"));
    write_file(&source, &format!(".globl _start\n_start:\n{text}\n")).unwrap();
    let mut command = Command::new(ASSEMBLER);
    command.args(["-march=rv32ima_zicsr_zifencei_zbb", "-mabi=ilp32", "-mno-relax", "-o"]);
    command.arg(&object).arg(&source);
    ToolRun::new(command, BINUTILS, &source).run().unwrap();
    let mut command = Command::new(LINKER);
    command.args(["-m", "elf32lriscv", "--no-relax", "-N"]).arg(format!("-Ttext={base:#x}"));
    command.arg("-o").arg(&linked).arg(&object);
    ToolRun::new(command, BINUTILS, &source).run().unwrap();
    let program = Executable::read(&linked).unwrap();
    let words = program.segments[0].bytes.chunks_exact(4);
    let words = words.map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect();
    (words, program.symbols.into_iter().map(|symbol| (symbol.name, symbol.address)).collect())
}
