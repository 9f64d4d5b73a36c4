//! A command that is interrupted leaves what it has written so far, and nothing else: no temporary
//! files, no lock, no programs.

#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::Folder;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(300);
/// Longer than an end takes.
const SOON: Duration = Duration::from_secs(30);

/// A command with a folder for temporary files, whose name has a space.
struct Interrupted {
    child: Child,
    errors: BufReader<std::process::ChildStderr>,
    temporary: PathBuf,
}

impl Interrupted {
    fn start(folder: &Folder, arguments: &str, change: impl FnOnce(&mut Command)) -> Self {
        let temporary = folder.path("temporary files");
        fs::create_dir_all(&temporary).unwrap();
        // What runs tests in the background may ignore SIGINT, which programs that are started
        // inherit.
        let mut command = Command::new("env");
        command
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_hermes")])
            .args(arguments.split_whitespace());
        folder.surround(&mut command);
        change(&mut command);
        command.env("TMPDIR", &temporary).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("hermes runs");
        let errors = BufReader::new(child.stderr.take().unwrap());
        Self { child, errors, temporary }
    }

    /// Reads what it says until a line has `part`.
    fn wait_for(&mut self, part: &str) {
        let mut all = String::new();
        while !all.contains(part) {
            let count = self.errors.read_line(&mut all).unwrap();
            assert!(count > 0, "expected {part:?} in:\n{all}");
        }
    }

    /// Sends the signal, and checks exit code and message, and that nothing is left.
    fn end(mut self, signal: &str, code: i32) -> String {
        let status = Command::new("kill").args([format!("-{signal}"), self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if began.elapsed() > SOON {
                self.child.kill().unwrap();
                panic!("hermes did not end in {SOON:?}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut said = String::new();
        self.errors.read_to_string(&mut said).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(code), "{said}");
        assert!(said.contains(&format!("error: interrupted by SIG{signal}")), "{said}");
        assert!(!said.contains("panicked"), "{said}");
        let left: Vec<_> =
            fs::read_dir(&self.temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{left:?}");
        wait_until(|| programs_in(&self.temporary) == 0);
        said
    }
}

/// Waits until something is so.
fn wait_until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LONG);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How many programs work in a folder.
fn programs_in(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let inside = |path: PathBuf| fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder));
    entries.filter(|entry| inside(entry.path())).count()
}

#[test]
fn traces_of_a_run_are_closed() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 8 -o in.pcap");
    folder.write("endless.S", ".globl kernel\nkernel: addi a0, a0, 1\nj kernel\n");
    folder.succeed("kernel build endless.S -o endless.elf");
    let files = "--trace trace.txt --perfetto timeline.json --json report.json";
    // The array of the tests of traces
    let run = format!(
        "-v run --kernel endless.elf --pcap in.pcap --commit-limit 0 {files} --cores 2 --lanes 2 --warps 4"
    );
    let mut run = Interrupted::start(&folder, &run, |_| {});
    run.wait_for("model of `hermes_top`");
    std::thread::sleep(Duration::from_secs(1));
    let said = run.end("INT", 130);
    assert!(said.contains("interrupted by SIGINT: the simulation ended at cycle "), "{said}");
    let timeline: serde_json::Value = serde_json::from_str(&folder.text("timeline.json")).expect("closed");
    assert!(!timeline["traceEvents"].as_array().expect("events").is_empty());
    assert!(folder.text("trace.txt").ends_with('\n'));
    assert_eq!(
        folder.files(),
        ["endless.S", "endless.elf", "in.pcap", "temporary files", "timeline.json", "trace.txt"]
    );
}

/// The waveform keeps what was seen so far, and is a whole file.
#[test]
fn a_waveform_is_closed() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 8 -o in.pcap");
    folder.write("endless.S", ".globl kernel\nkernel: addi a0, a0, 1\nj kernel\n");
    folder.succeed("kernel build endless.S -o endless.elf");
    // The array of the tests of waveforms
    let run = "-v run --kernel endless.elf --pcap in.pcap --commit-limit 0 --wave w.fst --cores 1 --lanes 1 --warps 2";
    let mut run = Interrupted::start(&folder, run, |_| {});
    run.wait_for("model of `hermes_top`");
    std::thread::sleep(Duration::from_secs(1));
    let said = run.end("INT", 130);
    assert!(said.contains("interrupted by SIGINT: the simulation ended at cycle "), "{said}");
    // A block of an FST file has a type and a length; the first is the header, which is not 0 only
    // in a file that was closed.
    let wave = folder.read("w.fst");
    let (mut at, mut blocks) = (0, Vec::new());
    while at < wave.len() {
        let length = u64::from_be_bytes(wave[at + 1..at + 9].try_into().expect("8 bytes"));
        blocks.push(wave[at]);
        at += 1 + usize::try_from(length).expect("a size");
    }
    assert!(at == wave.len() && blocks[0] == 0 && blocks.len() > 2, "{blocks:?}");
    assert_eq!(folder.files(), ["endless.S", "endless.elf", "in.pcap", "temporary files", "w.fst"]);
}

#[test]
fn a_build_of_a_model_ends_with_its_programs() {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 1 -o in.pcap");
    let run = "run --app dec-ttl --pcap in.pcap --cores 1 --lanes 1 --warps 2";
    let models = folder.path("models");
    let mut run = Interrupted::start(&folder, run, |command| {
        command.env("HERMES_CACHE", &models);
    });
    run.wait_for("building the model");
    let temporary = run.temporary.clone();
    wait_until(|| programs_in(&temporary) > 0);
    run.end("TERM", 143);
    for entry in fs::read_dir(&models).unwrap() {
        let path = entry.unwrap().path();
        let is_lock = path.extension().is_some_and(|end| end == "lock");
        // What was made before the build of the model began is kept.
        let name = path.file_name().unwrap().to_string_lossy();
        let is_kept = ["tools-", "library-"].iter().any(|kind| name.starts_with(kind));
        assert!(is_lock || is_kept, "{path:?}");
        fs::File::open(&path).unwrap().try_lock().expect("nobody holds it");
    }
}

#[test]
fn a_build_of_a_bitstream_ends_with_its_programs() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    // Yosys may be a script, which starts another program.
    folder.write("yosys", "#!/bin/sh\nsleep 1000 &\necho $! > \"$NUMBER\"\nwait\n");
    fs::set_permissions(folder.path("yosys"), fs::Permissions::from_mode(0o755)).unwrap();
    let number = folder.path("number");
    let build = Interrupted::start(&folder, "fpga build --lanes 1 --warps 1 -o out", |command| {
        command.env("YOSYS", folder.path("yosys")).env("NUMBER", &number);
        command.env("NEXTPNR_ECP5", "/bin/true").env("ECPPACK", "/bin/true");
    });
    wait_until(|| fs::read_to_string(&number).is_ok_and(|text| text.ends_with('\n')));
    let started = fs::read_to_string(&number).unwrap();
    build.end("TERM", 143);
    wait_until(|| !is_running(started.trim()));
    assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0);
}

/// Whether there is a program of this number, which is not merely waiting to be forgotten.
fn is_running(number: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}
