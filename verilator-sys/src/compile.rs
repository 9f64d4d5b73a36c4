//! Runs Verilator, make, the C++ compiler and the linker.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::cache::{key, Cache, Entry};
use crate::error::Error;
use crate::header::{self, HeaderPort};
use crate::options::{BuildStep, ModelOptions, Port, SharedModule};
use crate::precompiled;
use crate::rewriter::Rewriter;
use crate::run::{missing, output};
use crate::tools::Tools;
use crate::version;
use crate::wrapper::{self, CLASS, WRAPPER_VERSION};

/// Always given to Verilator: speed over simulated X, and warnings that do not stop the build
/// (linting is another step).
const VERILATOR_FLAGS: &[&str] = &[
    "--cc",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--noassert",
    "-Wno-fatal",
    "+1364-2005ext+v",
];
/// Given to Verilator for shared modules: the variables of its tables have a number in their name,
/// which would make functions of several instances differ.
const SHARING_FLAGS: &[&str] = &["-fno-table"];
/// For all C++ files.
const CXX_FLAGS: &str = "-fPIC -fvisibility=hidden -DVL_USER_FATAL -DVL_USER_STOP -DVL_USER_FINISH";
/// For the code that runs every cycle, with those for the machine.
const FAST_FLAGS: &str = "-O2";
/// For constructors and waveform set-up: run once, but about as large as the rest, so optimising
/// them would double the time of a build.
const SLOW_FLAGS: &str = "-O0";
/// For Verilator's run-time library.
const RUNTIME_FLAGS: &str = "-O2";
/// Name of the file with this crate's own functions.
const WRAPPER: &str = "hermes_wrapper";
/// The archive of Verilator's run-time library.
const RUNTIME: &str = "runtime.a";

/// The flags for the code that runs every cycle.
fn fast_flags(options: &ModelOptions) -> &'static str {
    if options.optimize {
        FAST_FLAGS
    } else {
        SLOW_FLAGS
    }
}

impl Tools {
    /// Name of the cache entry of a model.
    pub(crate) fn model_key(&self, verilog: &str, options: &ModelOptions) -> String {
        let wrapper = WRAPPER_VERSION.to_string();
        let mut parts = vec![wrapper.as_str(), &self.verilator.name, &self.compiler, &options.top, verilog];
        parts.extend([CXX_FLAGS, fast_flags(options), SLOW_FLAGS, RUNTIME_FLAGS]);
        // A model from another machine may have instructions that this one does not know.
        parts.extend([self.machine_flags, &self.machine]);
        parts.push(if options.trace { "trace" } else { "no trace" });
        let rewriter = options.rewriter();
        parts.push(rewriter.map_or("plain", Rewriter::version));
        parts.extend(rewriter.map_or(&[][..], Rewriter::verilator_flags));
        for list in [&options.verilator_flags, &options.cxx_flags] {
            parts.push("list");
            parts.extend(list.iter().map(String::as_str));
        }
        let shared = shared_modules(options);
        parts.push(&shared);
        parts.extend(
            [SHARING_FLAGS, VERILATOR_FLAGS, self.verilator.version.flags(!options.shared.is_empty())]
                .concat(),
        );
        key(parts)
    }

    /// Name of the compiled header of models: `text` is what else it depends on.
    pub(crate) fn header_key(&self, options: &ModelOptions, text: &str) -> String {
        let mut parts = vec![self.verilator.name.as_str(), &self.compiler, CXX_FLAGS, fast_flags(options)];
        parts.extend([self.machine_flags, &self.machine, text]);
        parts.extend(options.cxx_flags.iter().map(String::as_str));
        key(parts)
    }

    fn runtime_key(&self, options: &ModelOptions, classes: &str) -> String {
        let mut parts = vec![self.verilator.name.as_str(), &self.compiler, CXX_FLAGS, RUNTIME_FLAGS];
        // The list of run-time files and the macros they are compiled with depend on Verilator's
        // options.
        let relevant =
            |line: &&str| line.starts_with("VM_T") || line.starts_with("VM_COV") || line.starts_with("VM_SC");
        parts.extend(classes.lines().filter(relevant));
        parts.extend(runtime_sources(classes));
        parts.extend(options.cxx_flags.iter().map(String::as_str));
        key(parts)
    }
}

/// Builds the shared library of a model in the empty folder `work` and returns its path.
///
/// The C++ is rewritten if it can be; where it cannot, or where what comes of it is not accepted by
/// the compiler, the model is built once more as Verilator writes it.
pub(crate) fn build(
    work: &Path,
    verilog: &str,
    options: &ModelOptions,
    tools: &Tools,
    cache: &Cache,
    step: &mut dyn FnMut(BuildStep),
) -> Result<PathBuf, Error> {
    let mut build = Build { work, options, tools, cache, step };
    let source = work.join("design.v");
    fs::write(&source, verilog).map_err(Error::io(&source))?;
    let Some(rewriter) = options.rewriter() else {
        return build.plain("");
    };
    let version = tools.verilator.version;
    if !rewriter.knows(version) {
        return build.plain(&format!("the C++ of Verilator {version} is not known"));
    }
    let objects = build.verilate("rewritten", rewriter.verilator_flags())?;
    let ports = read_ports(&objects, options)?;
    let because = match rewriter.rewrite(&objects, &options.shared, &ports)? {
        Some(because) => because,
        None => match build.compile(&objects, &ports, "") {
            Err(Error::Compiler { stderr, .. }) => {
                log::debug!("the rewritten model of `{}` does not compile:\n{stderr}", options.top);
                "what was made of the C++ does not compile".to_string()
            }
            done => return done,
        },
    };
    build.plain(&because)
}

/// What the steps of a build share.
struct Build<'a> {
    work: &'a Path,
    options: &'a ModelOptions,
    tools: &'a Tools,
    cache: &'a Cache,
    step: &'a mut dyn FnMut(BuildStep),
}

impl Build<'_> {
    /// The model as Verilator writes it; `because` says why, if it was to be rewritten.
    fn plain(&mut self, because: &str) -> Result<PathBuf, Error> {
        let objects = self.verilate("plain", &[])?;
        let ports = read_ports(&objects, self.options)?;
        self.compile(&objects, &ports, because)
    }

    /// Runs Verilator; returns the folder with what it writes, called `name`.
    fn verilate(&mut self, name: &str, flags: &[&str]) -> Result<PathBuf, Error> {
        (self.step)(BuildStep::Verilating);
        let options = self.options;
        let mut command = Command::new(&options.verilator);
        command.current_dir(self.work).args(VERILATOR_FLAGS);
        command.args(self.tools.verilator.version.flags(!options.shared.is_empty()));
        command.args(["--prefix", CLASS, "--top-module", &options.top, "-Mdir", name]);
        command.args(options.trace.then_some("--trace-fst"));
        command.args(&options.verilator_flags);
        if !options.shared.is_empty() {
            let config = self.work.join("shared.vlt");
            fs::write(&config, shared_modules(options)).map_err(Error::io(&config))?;
            command.args(SHARING_FLAGS).args(flags).arg("shared.vlt");
        }
        command.arg("design.v").env_remove("MAKEFLAGS");
        let output = output(&mut command, &options.verilator)?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(Error::Verilator { top: options.top.clone(), stderr });
        }
        if !stderr.is_empty() {
            log::debug!("Verilator on `{}`:\n{stderr}", options.top);
        }
        Ok(self.work.join(name))
    }

    fn compile(&mut self, objects: &Path, ports: &[HeaderPort], because: &str) -> Result<PathBuf, Error> {
        let Self { options, tools, cache, .. } = *self;
        let wrapper = objects.join(format!("{WRAPPER}.cpp"));
        let text = wrapper::generate(ports, options.trace, because);
        fs::write(&wrapper, text).map_err(Error::io(&wrapper))?;
        let header = precompiled::header(objects, options, tools, cache, self.step)?;
        let files = compile_model(objects, options, tools, header.as_deref(), self.step)?;
        let runtime = runtime_library(objects, options, tools, cache, self.step)?;
        (self.step)(BuildStep::Linking);
        link(objects, &files, &runtime, options)
    }
}

/// Verilator's configuration for shared modules. It makes one function of equal functions, and
/// those of a module's instances are equal if they name nothing outside the instance.
fn shared_modules(options: &ModelOptions) -> String {
    let mut text = String::from("`verilator_config\n");
    for SharedModule { name, inputs } in &options.shared {
        let _ = writeln!(text, "no_inline -module \"{name}\"");
        for input in inputs {
            let _ = writeln!(text, "public_flat_rd -module \"{name}\" -var \"{input}\"");
        }
    }
    text
}

fn read_ports(objects: &Path, options: &ModelOptions) -> Result<Vec<HeaderPort>, Error> {
    let path = objects.join(format!("{CLASS}.h"));
    let ports = header::ports(&fs::read_to_string(&path).map_err(Error::io(&path))?);
    let plain: Vec<Port> = ports.iter().map(|p| p.port.clone()).collect();
    header::check(&options.top, &plain, &options.ports)?;
    Ok(ports)
}

/// Compiles the generated files; returns the names of the object files. They are linked as they
/// are: an archive would be written and read for nothing.
fn compile_model(
    objects: &Path,
    options: &ModelOptions,
    tools: &Tools,
    header: Option<&Path>,
    step: &mut dyn FnMut(BuildStep),
) -> Result<Vec<String>, Error> {
    let units = translation_units(objects, options.jobs.max(1))?;
    let files: Vec<String> = units.fast.iter().chain(&units.slow).map(|unit| format!("{unit}.o")).collect();
    if let Some(header) = header {
        let extra = format!("-include-pch '{}'", header.display());
        match make_objects(objects, options, tools, &units, &files, &extra, step) {
            Ok(()) => return Ok(files),
            Err(error) => log::debug!("compiled once more, with its headers: {error}"),
        }
    }
    make_objects(objects, options, tools, &units, &files, "", step)?;
    Ok(files)
}

/// Compiles the files with these `extra` flags.
fn make_objects(
    objects: &Path,
    options: &ModelOptions,
    tools: &Tools,
    units: &TranslationUnits,
    files: &[String],
    extra: &str,
    step: &mut dyn FnMut(BuildStep),
) -> Result<(), Error> {
    let total = files.len();
    let mut command = make(objects, options, tools, extra);
    command.arg("VM_PARALLEL_BUILDS=1");
    command.arg(format!("VM_FAST={}", units.fast.join(" ")));
    command.arg(format!("VM_SLOW={}", units.slow.join(" ")));
    let mut done = 0;
    let mut progress = |line: &str| {
        if line.contains(" -c ") {
            done += 1;
            step(BuildStep::Compiling { done, total: total.max(done) });
        }
    };
    command.args(["-f", &format!("{CLASS}.mk")]).args(files);
    run_make(command, options, &mut progress)
}

/// Names of C++ files, without their ending: those whose code runs every cycle, and the others.
struct TranslationUnits {
    fast: Vec<String>,
    slow: Vec<String>,
}

/// Files of C++ up to which a design is small: in one unit, the slow ones with the others.
const SMALL: usize = 12;

/// Writes files that include those of Verilator and the wrapper, about as much in each: as many as
/// run at once, and one for all that is not to be fast; a small design has one. The headers of a
/// model take the compiler longer than most of its files.
fn translation_units(objects: &Path, jobs: usize) -> Result<TranslationUnits, Error> {
    let path = objects.join(format!("{CLASS}_classes.mk"));
    let classes = fs::read_to_string(&path).map_err(Error::io(&path))?;
    let named = |speed: &str| -> Vec<String> {
        let lists = ["CLASSES", "SUPPORT"].map(|kind| list(&classes, &format!("{kind}_{speed}")));
        lists.into_iter().flatten().map(str::to_string).collect()
    };
    let (mut fast, slow) = (named("FAST"), named("SLOW"));
    fast.push(WRAPPER.to_string());
    let write = |unit: String, names: &[String]| {
        let text: String = names.iter().map(|name| format!("#include \"{name}.cpp\"\n")).collect();
        let path = objects.join(format!("{unit}.cpp"));
        fs::write(&path, text).map_err(Error::io(path))?;
        Ok(unit)
    };
    if fast.len() + slow.len() <= SMALL {
        fast.extend(slow);
        return Ok(TranslationUnits {
            fast: vec![write("hermes_all".to_string(), &fast)?],
            slow: Vec::new(),
        });
    }
    let size = |name: &String| {
        let path = objects.join(format!("{name}.cpp"));
        fs::metadata(&path).map(|data| data.len()).map_err(Error::io(path))
    };
    let sized = fast.into_iter().map(|name| Ok((size(&name)?, name)));
    let mut sized = sized.collect::<Result<Vec<_>, Error>>()?;
    sized.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let mut groups: Vec<(u64, Vec<String>)> = vec![(0, Vec::new()); jobs];
    for (size, name) in sized {
        let least = groups.iter_mut().min_by_key(|(sum, _)| *sum).expect("there is a job");
        least.0 += size;
        least.1.push(name);
    }
    let fast = groups.iter().filter(|(_, names)| !names.is_empty()).enumerate();
    let fast = fast.map(|(number, (_, names))| write(format!("hermes_fast_{number}"), names));
    Ok(TranslationUnits {
        fast: fast.collect::<Result<_, Error>>()?,
        slow: vec![write("hermes_slow".to_string(), &slow)?],
    })
}

/// The values of `VM_NAME` in a makefile of Verilator.
fn list<'a>(classes: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let start = format!("{name} ");
    let part = classes.split("\nVM_").find(move |part| part.starts_with(&start)).unwrap_or_default();
    entries(part)
}

/// The lines of a list, by a tab or, from newer versions, by spaces.
fn entries(part: &str) -> impl Iterator<Item = &str> {
    let lines = part.lines().skip(1).map_while(|line| line.strip_prefix(['\t', ' ']));
    lines.map(|line| line.trim_end_matches('\\').trim()).filter(|name| !name.is_empty())
}

/// Verilator's run-time library, which depends on the tools only and is kept in the cache.
fn runtime_library(
    objects: &Path,
    options: &ModelOptions,
    tools: &Tools,
    cache: &Cache,
    step: &mut dyn FnMut(BuildStep),
) -> Result<PathBuf, Error> {
    let path = objects.join(format!("{CLASS}_classes.mk"));
    let classes = fs::read_to_string(&path).map_err(Error::io(&path))?;
    let name = format!("runtime-{}.a", tools.runtime_key(options, &classes));
    let _lock = cache.lock(&name, || step(BuildStep::Waiting))?;
    if cache.lookup(&name)? == Entry::Good {
        return Ok(cache.path(&name));
    }
    let files: Vec<String> = runtime_sources(&classes).map(|source| format!("{source}.o")).collect();
    let mut command = make(objects, options, tools, "");
    command.args(["-f", &format!("{CLASS}.mk")]).args(&files);
    run_make(command, options, &mut |_| {})?;
    let output = output(Command::new("ar").current_dir(objects).args(["-rcs", RUNTIME]).args(&files), "ar")?;
    check_compiler(&output, options)?;
    cache.publish(&name, &objects.join(RUNTIME))
}

/// The files of Verilator's run-time library that a model needs: the values of two variables of its
/// makefile.
fn runtime_sources(classes: &str) -> impl Iterator<Item = &str> {
    classes.split("\nVM_").filter(|part| part.starts_with("GLOBAL_")).flat_map(entries)
}

/// Make with the compiler and its flags; `extra` are more of them.
pub(crate) fn make(objects: &Path, options: &ModelOptions, tools: &Tools, extra: &str) -> Command {
    let mut command = Command::new("make");
    command.current_dir(objects).env_remove("MAKEFLAGS").env_remove("MFLAGS");
    command.arg(format!("-j{}", options.jobs.max(1)));
    command.arg(format!("CXX={}", options.compiler)).arg(format!("LINK={}", options.compiler));
    // Verilator's makefile refuses folders whose path has a space, but all names in it are
    // relative.
    command.arg("CURDIR=.");
    // Empty: a compiler cache in front of the compiler would only repeat this one.
    command.arg("OBJCACHE=");
    // What packages of Verilator have recorded of the machine that they were made on.
    command.args(["AR=ar", "PERL=perl", "PYTHON3=python3", "CFG_CXXFLAGS_STD=-std=gnu++17"]);
    // A precompiled header is found by the name that is included, by Clang as well as by GCC.
    command.args(["CFG_CXXFLAGS_PCH_I=-include", "CFG_GCH_IF_CLANG="]);
    command.arg(format!("OPT={CXX_FLAGS} {} {extra}", options.cxx_flags.join(" ")));
    command
        .arg(format!("OPT_FAST={} {}", fast_flags(options), tools.machine_flags))
        .arg(format!("OPT_SLOW={SLOW_FLAGS}"));
    command.arg(format!("OPT_GLOBAL={RUNTIME_FLAGS}"));
    command
}

/// Runs make, showing each of its lines to `line`.
pub(crate) fn run_make(
    mut command: Command,
    options: &ModelOptions,
    line: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = hermes_interrupt::spawn(&mut command).map_err(missing("make"))?;
    let mut errors = child.stderr.take().expect("standard error is a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = errors.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    for text in BufReader::new(child.stdout.take().expect("standard output is a pipe")).lines() {
        line(&text.map_err(Error::io("make"))?);
    }
    let status = child.wait().map_err(Error::io("make"))?;
    let stderr = reader.join().unwrap_or_default();
    if status.success() {
        Ok(())
    } else {
        Err(Error::Compiler { top: options.top.clone(), stderr })
    }
}

fn link(objects: &Path, files: &[String], runtime: &Path, options: &ModelOptions) -> Result<PathBuf, Error> {
    let library = objects.join("model.so");
    let mut command = Command::new(&options.compiler);
    command.current_dir(objects).args(&options.cxx_flags).args([
        "-shared",
        "-Wl,-Bsymbolic",
        "-o",
        "model.so",
    ]);
    command.args(files).arg(runtime);
    if options.trace {
        command.arg("-lz");
        // Newer versions write waveforms with another library.
        let include = version::root(&options.verilator)?.join("include");
        command.args(include.join("fstcpp").exists().then_some("-llz4"));
    }
    command.args(["-lpthread", "-Wl,--no-undefined"]);
    // Clang calls libatomic where GCC has the operation inline.
    command.args(["-Wl,--as-needed", "-latomic"]);
    let output = output(&mut command, &options.compiler)?;
    check_compiler(&output, options)?;
    Ok(library)
}

fn check_compiler(output: &Output, options: &ModelOptions) -> Result<(), Error> {
    if output.status.success() {
        Ok(())
    } else {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Error::Compiler { top: options.top.clone(), stderr })
    }
}

#[cfg(test)]
#[path = "compile_tests.rs"]
mod tests;
