//! Builds programs for the harts of the command processor.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kernel::{write_file, BuildError, Executable, ToolRun, COMPILER};
use crate::staging::temporary_folder;

/// What comes before `main`.
const START: &str = include_str!("../../../../kernels-asm/firmware/start.S");
/// Checks of self-checking programs.
const EXPECT: &str = include_str!("../../../../kernels-asm/firmware/expect.inc");
/// Where a program lies in memory.
const LINKER_SCRIPT: &str = include_str!("../../../../kernels-asm/firmware/program.ld");

/// What a hart executes.
const FLAGS: [&str; 2] = ["-march=rv32i_zifencei_zbb", "-mabi=ilp32"];
/// The same, as the compiler has its own library.
const LIBRARY_FLAGS: [&str; 2] = ["-march=rv32i", "-mabi=ilp32"];

/// Builds the program in `source`: C (`.c`) with a function `main`, or assembly (`.S`) with one.
/// The hart starts at `_start`, which calls it and ends at `ebreak` with its value in `a0`.
/// Assembly finds `expect.inc`.
///
/// # Errors
/// [`BuildError`].
pub fn build_program(source: &Path) -> Result<Executable, BuildError> {
    let folder = temporary_folder("hermes-firmware-").map_err(BuildError::Output)?;
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    for (name, text) in [("start.S", START), ("expect.inc", EXPECT), ("firmware.ld", LINKER_SCRIPT)] {
        write_file(&path(name), text)?;
    }
    let output = path("program.elf");
    let mut command = Command::new(COMPILER);
    command.args(FLAGS).args(["-O2", "-g", "-Wall", "-ffreestanding", "-nostdlib", "-nostartfiles"]);
    command.args(["-fno-pic", "-mcmodel=medany", "-msmall-data-limit=0", "-mstrict-align", "-mno-relax"]);
    command.args(["-Wa,-mno-relax", "-Wl,-m,elf32lriscv,--no-relax,--fatal-warnings,-z,noexecstack"]);
    command.arg("-I").arg(folder.path()).arg("-T").arg(path("firmware.ld"));
    command.arg("-o").arg(&output).arg(path("start.S")).arg(source);
    command.args(compiler_library());
    ToolRun::new(command, "gcc-riscv64-unknown-elf", source).run()?;
    Ok(Executable::read(&output)?)
}

/// The compiler's library, for multiplication and division, if the installation has one.
fn compiler_library() -> Option<PathBuf> {
    let output = Command::new(COMPILER).args(LIBRARY_FLAGS).arg("-print-libgcc-file-name").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_file().then_some(path)
}
