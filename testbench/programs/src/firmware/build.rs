//! Builds firmware with the stock GNU tools for RISC-V.

use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_artefacts::c_header;
use hermes_rtl::host::registers::REGISTERS;

use super::image::Firmware;
use crate::kernel::{
    dependencies, make_once, pass_rules, read_source, write_file, BuildError, KernelError, PrefixMap,
    Startup, ToolRun, COMPILER,
};
use crate::staging::temporary_folder;

/// Start and end of the firmware.
const CRT0: &str = include_str!("../../../../kernels-asm/firmware/crt0.S");
/// Calls constructors, where there are any.
const CONSTRUCTORS: &str = include_str!("../../../../kernels-asm/firmware/constructors.S");
/// The library's include file.
pub const HERMES_CP_H: &str = include_str!("../../../../kernels-asm/firmware/hermes_cp.h");
/// The library.
const HERMES_CP_C: &str = include_str!("../../../../kernels-asm/firmware/hermes_cp.c");
/// Include file with compare-and-swap, that of kernels.
const HERMES_ATOMIC_H: &str = include_str!("../../../../kernels-asm/include/hermes_atomic.h");
/// Include file of firmware that measures work of the cores.
const HERMES_MEDIA_H: &str = include_str!("../../../../kernels-asm/firmware/hermes_media.h");
const HERMES_PROXY_H: &str = include_str!("../../../../kernels-asm/firmware/hermes_proxy.h");
/// Include file of firmware that uses the network interface.
const HERMES_NET_H: &str = include_str!("../../../../kernels-asm/firmware/hermes_net.h");
/// Where firmware lies in memory.
const LINKER_SCRIPT: &str = include_str!("../../../../kernels-asm/firmware/firmware.ld");

/// The object file of [`CONSTRUCTORS`].
const CONSTRUCTORS_OBJECT: &str = "constructors.o";

/// What the temporary folder is called in debug information.
const FOLDER_NAME: &str = "/hermes-firmware";

/// The Debian package of the compiler.
const PACKAGE: &str = "gcc-riscv64-unknown-elf";
/// The same as the compiler has its own library: asked with other extensions, it names that for 64
/// bits.
const LIBRARY_FLAGS: [&str; 2] = ["-march=rv32im", "-mabi=ilp32"];

/// The register map as C header `hermes_registers.h`: names and offsets.
#[must_use]
pub fn firmware_registers() -> String {
    c_header("hermes_top", REGISTERS)
}

/// How firmware is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmwareOptions {
    /// Folders with include files, searched before those that come with Hermes.
    pub include: Vec<PathBuf>,
    /// Macros: `NAME` or `NAME=VALUE`; 1 without a value.
    pub defines: Vec<String>,
    /// Level of optimization of the compiler: what stands behind its `-O`.
    pub optimization: String,
    /// Whether it may have atomic instructions (A), which the harts of arrays with them execute.
    pub atomics: bool,
    /// Whether it uses registers `x0` to `x15` alone, so that threads of its functions can be of
    /// the register class with 16. Arguments behind the sixth word go to `x16` and `x17` all the
    /// same, and functions of the compiler's library use all registers.
    pub rv32e: bool,
}

impl Default for FirmwareOptions {
    /// Optimized at level 2, without atomic instructions of the compiler's own.
    fn default() -> Self {
        let (include, defines) = (Vec::new(), Vec::new());
        Self { include, defines, optimization: "2".to_string(), atomics: false, rv32e: false }
    }
}

impl FirmwareOptions {
    /// What a hart executes, as flags of the compiler.
    fn target(&self) -> [String; 2] {
        let atomics = if self.atomics { "a" } else { "" };
        [format!("-march=rv32im{atomics}_zicsr_zifencei_zbb"), "-mabi=ilp32".to_string()]
    }
}

/// Builds the firmware in `sources` as [`build_firmware_with`] does, by [`FirmwareOptions`] as they
/// are by default.
///
/// # Errors
/// As [`build_firmware_with`].
pub fn build_firmware(sources: &[PathBuf], output: &Path) -> Result<(), BuildError> {
    build_firmware_with(sources, &FirmwareOptions::default(), output)
}

/// Builds the firmware in `sources`, C (`.c`) or assembly (`.S`, `.s`), with a function `main`, and
/// writes the ELF file `output`. Sources find `hermes_cp.h`, `hermes_media.h`, `hermes_proxy.h`,
/// `hermes_atomic.h`, `hermes_net.h`, and what is beside them.
///
/// # Errors
/// [`BuildError`]; nothing is written then.
pub fn build_firmware_with(
    sources: &[PathBuf],
    options: &FirmwareOptions,
    output: &Path,
) -> Result<(), BuildError> {
    let file = |path: &Path, source| BuildError::File { path: path.to_path_buf(), source };
    let Some(first) = sources.first() else { return Err(BuildError::Language(PathBuf::new())) };
    for source in sources {
        read_source(source)?;
        let known = source.extension().is_some_and(|end| ["c", "S", "s"].iter().any(|known| end == *known));
        if !known {
            return Err(BuildError::Language(source.clone()));
        }
    }
    let folder = temporary_folder("hermes-firmware-").map_err(BuildError::Output)?;
    let path = |name: &str| folder.path().join(name);
    let parts = [
        ("crt0.S", CRT0),
        ("constructors.S", CONSTRUCTORS),
        ("hermes_cp.h", HERMES_CP_H),
        ("hermes_cp.c", HERMES_CP_C),
        ("hermes_atomic.h", HERMES_ATOMIC_H),
        ("hermes_media.h", HERMES_MEDIA_H),
        ("hermes_proxy.h", HERMES_PROXY_H),
        ("hermes_net.h", HERMES_NET_H),
        ("hermes_registers.h", &firmware_registers()),
        ("firmware.ld", LINKER_SCRIPT),
    ];
    for (name, text) in parts {
        write_file(&path(name), text)?;
    }
    let (mut objects, mut read) = (Vec::new(), Vec::new());
    let texts = parts.map(|(_, text)| text);
    let names = PrefixMap::new(folder.path(), FOLDER_NAME);
    for (number, source) in ["crt0.S", "hermes_cp.c"].into_iter().enumerate() {
        let object = path(&format!("library-{number}.o"));
        // The library is always built alike.
        let run = compile(folder.path(), &path(source), &object, &FirmwareOptions::default());
        make_once(vec![run], &texts, "library of firmware", &names, &object)?;
        objects.push(object);
    }
    for (number, source) in sources.iter().enumerate() {
        let object = path(&format!("firmware-{number}.o"));
        compile(folder.path(), source, &object, options).run()?;
        read.extend(["d", "as.d"].iter().flat_map(|end| dependencies::read(&object.with_extension(end))));
        objects.push(object);
    }
    dependencies::keep(output, &read)?;
    let linked = path("firmware.elf");
    link(folder.path(), &objects, &linked, first)?;
    let problem = |problem| KernelError::Format { path: first.clone(), problem };
    let executable = match Firmware::read(&linked) {
        // Its name is that of a temporary file.
        Err(KernelError::Format { problem: text, .. }) => return Err(problem(text).into()),
        read => read?.executable,
    };
    let mut bytes = std::fs::read(&linked).map_err(|error| file(&linked, error))?;
    executable.check_startup(&bytes, Startup::Constructors).map_err(problem)?;
    if executable.check_startup(&bytes, Startup::Nothing).is_err() {
        let object = path(CONSTRUCTORS_OBJECT);
        compile(folder.path(), &path("constructors.S"), &object, &FirmwareOptions::default()).run()?;
        objects.push(object);
        link(folder.path(), &objects, &linked, first)?;
        bytes = std::fs::read(&linked).map_err(|error| file(&linked, error))?;
    }
    crate::output::write(output, &bytes).map_err(BuildError::Output)
}

/// What compiles `source` with `options`; it finds the library in `folder`, which the object does
/// not name.
fn compile(folder: &Path, source: &Path, object: &Path, options: &FirmwareOptions) -> ToolRun {
    let names = PrefixMap::new(folder, FOLDER_NAME);
    let mut command = compiler(options);
    command.arg(format!("-O{}", options.optimization));
    command.args(options.defines.iter().map(|define| format!("-D{define}")));
    if options.rv32e {
        command.arg("-DSPAWN_REGISTERS=16").args((16..32).map(|register| format!("-ffixed-x{register}")));
    }
    for include in &options.include {
        command.arg("-I").arg(include);
    }
    command.args(["-g", "-Wall", "-fno-pic", "-mcmodel=medany", "-msmall-data-limit=0"]);
    command.args(["-mstrict-align", "-mno-relax", "-Wa,-mno-relax"]);
    command.args(["-ffunction-sections", "-fdata-sections", "-fno-tree-loop-distribute-patterns"]);
    // Of a source in assembly the compiler passes on only the second.
    command.args(names.flags("-ffile-prefix-map=")).args(names.flags("-fdebug-prefix-map="));
    command.arg("-I").arg(folder).arg("-MD").arg("-MF").arg(object.with_extension("d"));
    pass_rules(&mut command, object);
    command.arg("-c").arg("-o").arg(object).arg(source);
    ToolRun::new(command, PACKAGE, source)
}

/// Links `objects`; constructors that are among them are called before `main`. `source` is named
/// in errors.
fn link(folder: &Path, objects: &[PathBuf], linked: &Path, source: &Path) -> Result<(), BuildError> {
    let mut command = compiler(&FirmwareOptions::default());
    command.args(["-nostartfiles", "-Wl,-m,elf32lriscv,--no-relax,--fatal-warnings,-z,noexecstack"]);
    command.arg("-Wl,--gc-sections,--undefined=_start").arg("-T").arg(folder.join("firmware.ld"));
    if objects.iter().any(|object| object.ends_with(CONSTRUCTORS_OBJECT)) {
        command.arg("-Wl,--wrap=main");
    }
    command.arg("-o").arg(linked).args(objects).args(compiler_library());
    ToolRun::new(command, PACKAGE, source).run()
}

/// The compiler for what a hart executes, without libraries.
fn compiler(options: &FirmwareOptions) -> Command {
    let mut command = Command::new(COMPILER);
    command.args(options.target()).args(["-ffreestanding", "-nostdlib"]);
    command
}

/// The compiler's library, for divisions of 64 bits and the like, if the installation has one.
fn compiler_library() -> Option<PathBuf> {
    let output = Command::new(COMPILER).args(LIBRARY_FLAGS).arg("-print-libgcc-file-name").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_file().then_some(path)
}
