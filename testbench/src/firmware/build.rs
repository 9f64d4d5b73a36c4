//! Builds firmware with the stock GNU tools for RISC-V.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_artefacts::c_header;
use hermes_rtl::host::registers::REGISTERS;

use super::image::Firmware;
use crate::input::{self, MOST_PROGRAM_BYTES};
use crate::kernel::{run_tool, write_file, BuildError, COMPILER};

/// Start and end of the firmware.
const CRT0: &str = include_str!("../../../kernels-asm/firmware/crt0.S");
/// The library's include file.
pub const HERMES_CP_H: &str = include_str!("../../../kernels-asm/firmware/hermes_cp.h");
/// The library.
const HERMES_CP_C: &str = include_str!("../../../kernels-asm/firmware/hermes_cp.c");
/// Include file of firmware that uses the network interface.
const HERMES_NET_H: &str = include_str!("../../../kernels-asm/firmware/hermes_net.h");
/// Where firmware lies in memory.
const LINKER_SCRIPT: &str = include_str!("../../../kernels-asm/firmware/firmware.ld");

/// What a hart executes.
const FLAGS: [&str; 2] = ["-march=rv32im_zicsr_zifencei_zbb", "-mabi=ilp32"];
/// The same as the compiler has its own library: asked with other extensions, it names that for 64 bits.
const LIBRARY_FLAGS: [&str; 2] = ["-march=rv32im", "-mabi=ilp32"];

/// The register map as C header `hermes_registers.h`: names and offsets.
#[must_use]
pub fn firmware_registers() -> String {
    c_header("hermes_top", REGISTERS)
}

/// Builds the firmware in `sources`, C (`.c`) or assembly (`.S`, `.s`), with a function `main`, and writes the ELF file
/// `output`. Sources find `hermes_cp.h`, `hermes_net.h`, and what is beside them.
///
/// # Errors
/// [`BuildError`]; nothing is written then.
pub fn build_firmware(sources: &[PathBuf], output: &Path) -> Result<(), BuildError> {
    let file = |path: &Path, source| BuildError::File { path: path.to_path_buf(), source };
    let Some(first) = sources.first() else { return Err(BuildError::Language(PathBuf::new())) };
    for source in sources {
        input::read(source, MOST_PROGRAM_BYTES).map_err(|error| file(source, error))?;
        let known = source.extension().is_some_and(|end| ["c", "S", "s"].iter().any(|known| end == *known));
        if !known {
            return Err(BuildError::Language(source.clone()));
        }
    }
    let folder = tempfile::Builder::new().prefix("hermes-firmware-").tempdir();
    let folder = folder.map_err(|error| file(&std::env::temp_dir(), error))?;
    let path = |name: &str| folder.path().join(name);
    let parts = [
        ("crt0.S", CRT0),
        ("hermes_cp.h", HERMES_CP_H),
        ("hermes_cp.c", HERMES_CP_C),
        ("hermes_net.h", HERMES_NET_H),
        ("hermes_registers.h", &firmware_registers()),
        ("firmware.ld", LINKER_SCRIPT),
    ];
    for (name, text) in parts {
        write_file(&path(name), text)?;
    }
    let linked = path("firmware.elf");
    let mut command = Command::new(COMPILER);
    command.args(FLAGS).args(["-O2", "-g", "-Wall", "-ffreestanding", "-nostdlib", "-nostartfiles"]);
    command.args(["-fno-pic", "-mcmodel=medany", "-msmall-data-limit=0", "-mstrict-align", "-mno-relax"]);
    command.args(["-ffunction-sections", "-fdata-sections", "-fno-tree-loop-distribute-patterns"]);
    command.args(["-Wa,-mno-relax", "-Wl,-m,elf32lriscv,--no-relax,--fatal-warnings,-z,noexecstack"]);
    command.arg("-Wl,--gc-sections,--undefined=_start");
    command.arg("-I").arg(folder.path()).arg("-T").arg(path("firmware.ld"));
    command.arg("-o").arg(&linked).arg(path("crt0.S")).arg(path("hermes_cp.c")).args(sources);
    command.args(compiler_library());
    run_tool(command, COMPILER, "gcc-riscv64-unknown-elf", first)?;
    Firmware::read(&linked)?;
    let bytes = std::fs::read(&linked).map_err(|error| file(&linked, error))?;
    let written = crate::output::OutputFile::create(output).and_then(|mut out| {
        io::Write::write_all(&mut out, &bytes)?;
        out.commit()
    });
    written.map_err(|error| file(output, error))
}

/// The compiler's library, for divisions of 64 bits and the like, if the installation has one.
fn compiler_library() -> Option<PathBuf> {
    let output = Command::new(COMPILER).args(LIBRARY_FLAGS).arg("-print-libgcc-file-name").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_file().then_some(path)
}
