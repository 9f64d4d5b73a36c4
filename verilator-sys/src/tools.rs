//! The programs of a build, and what they say of themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use crate::error::Error;
use crate::kept::kept_in;
use crate::options::ModelOptions;
use crate::run::{first_line, output, run};
use crate::version::{self, Verilator, Version};

/// For code that uses all of the processor that it is compiled on: the first that the compiler
/// accepts. How wide the vectors are is left to the compiler: with the widest that there are,
/// models are slower by a fifth.
const MACHINE_FLAGS: [&str; 2] = ["-march=native", "-mcpu=native"];
/// Variables by which Verilator finds its other program.
const VERILATOR_VARIABLES: [&str; 2] = ["VERILATOR_ROOT", "VERILATOR_BIN"];
/// How the lines of `/proc/cpuinfo` begin that say what a processor is.
const PROCESSOR_LINES: [&str; 8] =
    ["vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU ", "isa"];

/// The programs of the build and what they call themselves.
#[derive(Debug)]
pub(crate) struct Tools {
    pub(crate) verilator: Verilator,
    pub(crate) compiler: String,
    /// Those of [`MACHINE_FLAGS`] that the compiler accepts; none if it accepts none.
    pub(crate) machine_flags: &'static str,
    /// The macros that the compiler defines with them: they tell which instructions it uses.
    pub(crate) machine: String,
    /// The folder with Verilator's run-time library, asked for once.
    root: OnceLock<Option<PathBuf>>,
}

/// What this process was answered already by Verilator, the compiler and make in these files.
static FOUND: Mutex<Vec<([ProgramFile; 3], Arc<Tools>)>> = Mutex::new(Vec::new());

/// The file of a program: another one in its place has another time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramFile {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

impl ProgramFile {
    /// Of a path, or of a name on the search path.
    pub(crate) fn find(program: &str) -> Option<Self> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let mut paths: Vec<PathBuf> =
            std::env::split_paths(&folders).map(|folder| folder.join(program)).collect();
        if program.contains('/') {
            paths = vec![PathBuf::from(program)];
        }
        let found = paths.into_iter().find_map(|path| Some((fs::metadata(&path).ok()?, path)));
        let (data, path) = found.filter(|(data, _)| data.is_file())?;
        Some(Self { path, bytes: data.len(), modified: data.modified().ok()? })
    }

    /// Whether it only starts one of several programs, chosen by folder and environment, as those
    /// in the folders `shims` of pyenv and asdf do: then the file does not say which one.
    pub(crate) fn is_shim(&self) -> bool {
        self.path.iter().any(|folder| folder == "shims")
    }
}

impl Tools {
    /// Asks the programs for their versions. What answered is asked once: the process and the build
    /// cache remember its answers, until there is another file by its name.
    pub(crate) fn find(options: &ModelOptions) -> Result<Arc<Self>, Error> {
        let files = [&options.verilator, &options.compiler, "make"].map(ProgramFile::find);
        let [Some(verilator), Some(compiler), Some(make)] = files else {
            return Self::ask(options).map(Arc::new);
        };
        let files = [verilator, compiler, make];
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tools)) = found.iter().find(|(known, _)| *known == files) {
            return Ok(Arc::clone(tools));
        }
        let processor = processor().filter(|_| !files.iter().any(ProgramFile::is_shim));
        let tools = Arc::new(match processor {
            Some(processor) => Self::remembered(options, &files, &processor)?,
            None => Self::ask(options)?,
        });
        found.push((files, Arc::clone(&tools)));
        Ok(tools)
    }

    /// As the programs in `files` answered on this `processor` before, or answer now.
    fn remembered(options: &ModelOptions, files: &[ProgramFile], processor: &str) -> Result<Self, Error> {
        let variables = VERILATOR_VARIABLES.map(|name| format!("{name}={:?}", std::env::var_os(name)));
        let files = format!("{files:?}");
        let parts: Vec<&str> = [env!("CARGO_PKG_VERSION"), &files, processor]
            .into_iter()
            .chain(variables.iter().map(|v| &**v))
            .collect();
        let ask = || Self::ask(options).map(|tools| tools.to_text().into_bytes());
        let text = kept_in(options.cache.as_deref(), "tools", &parts, "versions of the tools", ask)?;
        match std::str::from_utf8(&text).ok().and_then(Self::parse) {
            Some(tools) => Ok(tools),
            None => Self::ask(options),
        }
    }

    fn ask(options: &ModelOptions) -> Result<Self, Error> {
        let verilator = Verilator::ask(&options.verilator)?;
        let compiler = first_line(&run(Command::new(&options.compiler).arg("--version"), &options.compiler)?);
        run(Command::new("make").arg("--version"), "make")?;
        let (machine_flags, machine) = machine(&options.compiler)?;
        Ok(Self { verilator, compiler, machine_flags, machine, root: OnceLock::new() })
    }

    /// Its answers, a line each; the last has any number of them.
    fn to_text(&self) -> String {
        let Verilator { name, version } = &self.verilator;
        format!("{name}\n{version}\n{}\n{}\n{}", self.compiler, self.machine_flags, self.machine)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.splitn(5, '\n');
        let name = lines.next()?.to_string();
        let (major, minor) = lines.next()?.split_once('.')?;
        let version = Version::new(major.parse().ok()?, minor.parse().ok()?);
        let compiler = lines.next()?.to_string();
        let flags = lines.next()?;
        let machine_flags = MACHINE_FLAGS.into_iter().chain([""]).find(|known| *known == flags)?;
        let machine = lines.next()?.to_string();
        let verilator = Verilator { name, version };
        Some(Self { verilator, compiler, machine_flags, machine, root: OnceLock::new() })
    }

    /// The folder with Verilator's run-time library, if Verilator tells it.
    pub(crate) fn root(&self, options: &ModelOptions) -> Option<&Path> {
        self.root.get_or_init(|| version::root(&options.verilator).ok()).as_deref()
    }

    /// Whether the compiler is Clang.
    pub(crate) fn is_clang(&self) -> bool {
        self.compiler.contains("clang")
    }
}

/// What the processor is, on systems that say it in a file.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let first = text.split("\n\n").next()?;
    let is_one = |line: &&str| PROCESSOR_LINES.iter().any(|start| line.starts_with(start));
    let lines: Vec<&str> = first.lines().filter(is_one).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The flags for this machine that `compiler` accepts, and the macros that it defines with them.
fn machine(compiler: &str) -> Result<(&'static str, String), Error> {
    for flags in MACHINE_FLAGS {
        let mut command = Command::new(compiler);
        command.args(flags.split(' ')).args(["-x", "c++", "-E", "-dM", "-"]);
        let output = output(&mut command, compiler)?;
        if output.status.success() {
            return Ok((flags, String::from_utf8_lossy(&output.stdout).into_owned()));
        }
    }
    Ok(("", String::new()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::run::tests::program;

    pub(crate) fn tools(verilator: &str, machine_flags: &'static str, machine: &str) -> Tools {
        Tools {
            verilator: Verilator { name: verilator.to_string(), version: Version::new(5, 6) },
            compiler: "clang".to_string(),
            machine_flags,
            machine: machine.into(),
            root: OnceLock::new(),
        }
    }

    /// A compiler that answers with its arguments, unless they contain one that it does not know.
    fn compiler(folder: &Path, unknown: &str) -> String {
        program(folder, "compiler", &format!("case \"$*\" in *{unknown}*) exit 1;; esac\necho \"$*\""))
    }

    #[test]
    fn a_program_that_changes_is_asked_again() {
        let folder = tempfile::tempdir().unwrap();
        let name = |version: &str| {
            let script = format!("echo 'Verilator {version} 2023'");
            let verilator = program(folder.path(), "verilator", &script);
            let options = ModelOptions {
                verilator,
                compiler: "true".to_string(),
                cache: Some(folder.path().to_path_buf()),
                ..ModelOptions::new("top")
            };
            Tools::find(&options).unwrap().verilator.name.clone()
        };
        let names = ["5.006", "5.006", "5.030"].map(name);
        assert_eq!(names[0], names[1]);
        assert_ne!(names[1], names[2]);
    }

    #[test]
    fn a_program_in_a_folder_of_shims_is_asked_by_each_process() {
        let folder = tempfile::tempdir().unwrap();
        let shims = folder.path().join("shims");
        fs::create_dir(&shims).unwrap();
        for (inside, is_shim) in [(folder.path(), false), (&*shims, true)] {
            let file = ProgramFile::find(&program(inside, "verilator", "exit 0")).unwrap();
            assert_eq!(file.is_shim(), is_shim);
        }
    }

    /// Another process reads the answers in the cache: the programs are not asked.
    #[test]
    fn a_program_is_asked_once() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("echo asked >> {}/log; echo 'Verilator 5.030 2023'", folder.path().display());
        let verilator = program(folder.path(), "verilator", &script);
        let compiler = compiler(folder.path(), "nothing");
        let cache = Some(folder.path().to_path_buf());
        let options = ModelOptions { verilator, compiler, cache, ..ModelOptions::new("top") };
        let files = [&*options.verilator, &*options.compiler].map(|name| ProgramFile::find(name).unwrap());
        let text = |processor| Tools::remembered(&options, &files, processor).unwrap().to_text();
        let asked = || fs::read_to_string(folder.path().join("log")).unwrap().lines().count();
        let first = text("a processor");
        assert_eq!((text("a processor"), asked()), (first.clone(), 1));
        assert_eq!((text("another one"), asked()), (first.clone(), 2));
        // What cannot be read is asked.
        assert_eq!(Tools::parse(&first).unwrap().to_text(), first);
        for wrong in ["", "Verilator\n5\nclang\n\n", "Verilator\n5.006\nclang\n-mwrong\n", "Verilator\n5.006"]
        {
            assert!(Tools::parse(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn flags_for_the_machine_are_those_that_the_compiler_accepts() {
        let folder = tempfile::tempdir().unwrap();
        let expected = [("nothing", 0), ("-march", 1)];
        for (unknown, place) in expected {
            let (flags, macros) = machine(&compiler(folder.path(), unknown)).unwrap();
            assert_eq!((flags, macros.trim()), (MACHINE_FLAGS[place], &*format!("{flags} -x c++ -E -dM -")));
        }
        assert_eq!(machine(&compiler(folder.path(), "-m")).unwrap(), ("", String::new()));
    }
}
