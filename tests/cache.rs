//! The models that are kept: what is told while one is built, `hermes cache`, and a cache that may
//! only be read.

#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use common::Folder;

const RUN: &str = "run --app dec-ttl --pcap in.pcap --cores 1 --lanes 1 --warps 2";

/// `hermes` with a cache of its own, beside the folder's files.
fn hermes(folder: &Folder, arguments: &str) -> Output {
    folder.hermes_with(arguments, |command| {
        command.env("HERMES_CACHE", folder.path("models"));
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The model in the cache of all tests, put into one of its own: a build takes long.
fn copy_model(folder: &Folder) {
    folder.succeed("gen-trace --kind imix --packets 3 -o in.pcap");
    folder.succeed(RUN);
    let list = folder.succeed("cache list");
    let lines: Vec<_> = list.lines().map(str::trim).collect();
    let at = lines
        .iter()
        .position(|line| line.ends_with("default, cores 1, lanes 1, warps 2"))
        .expect("the model");
    let path = Path::new(lines[at + 1]);
    fs::create_dir(folder.path("models")).unwrap();
    for end in ["", ".sha256", ".about"] {
        let name = format!("{}{end}", path.file_name().unwrap().to_string_lossy());
        fs::copy(path.with_file_name(&name), folder.path("models").join(name)).unwrap();
    }
}

/// The path of the only model in the cache.
fn model(folder: &Folder) -> std::path::PathBuf {
    let entries = fs::read_dir(folder.path("models")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|end| end == "so")).collect::<Vec<_>>().remove(0)
}

#[test]
fn models_are_listed_and_removed() {
    let folder = Folder::for_short_runs();
    copy_model(&folder);
    let list = text(&hermes(&folder, "cache list").stdout);
    assert!(list.contains("default, cores 1, lanes 1, warps 2") && list.contains("\n1 file, "), "{list}");
    let output = hermes(&folder, "cache clean");
    assert!(text(&output.stdout).contains("removed 0 files") && model(&folder).exists());
    // A process that checks or builds the model holds its lock.
    let lock = fs::File::create(format!("{}.lock", model(&folder).display())).unwrap();
    lock.lock().unwrap();
    let told = text(&hermes(&folder, "cache clean --all").stdout);
    assert!(
        told.contains("in use: ") && told.contains("removed 0 files") && model(&folder).exists(),
        "{told}"
    );
    drop(lock);
    let told = text(&hermes(&folder, "cache clean --older-than 0").stdout);
    assert!(told.contains("removed 1 file, "), "{told}");
    assert_eq!(fs::read_dir(folder.path("models")).unwrap().count(), 0);
    assert_eq!(hermes(&folder, "cache clean --all --older-than 3").status.code(), Some(2));
}

#[test]
fn a_build_tells_of_itself_off_a_terminal_and_a_wrong_entry_is_built_again() {
    let folder = Folder::for_short_runs();
    copy_model(&folder);
    // Neither does the compiler mind a space in the path of temporary files.
    let temporary = folder.path("temporary files");
    fs::create_dir(&temporary).unwrap();
    let told = |arguments: &str| {
        let output = folder.hermes_with(arguments, |command| {
            command.env("HERMES_CACHE", folder.path("models")).env("TMPDIR", &temporary);
        });
        let error = text(&output.stderr);
        assert!(output.status.success(), "{error}");
        error
    };
    assert_eq!(told(RUN), "", "the model is there");
    // A file with the right checksum that is no model
    let model = model(&folder);
    fs::write(&model, "").unwrap();
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    fs::write(format!("{}.sha256", model.display()), empty).unwrap();
    let error = told(RUN);
    let parts = [
        "cannot be loaded; building it again",
        "building the model, about ",
        " s, once\n",
        "built the model in ",
    ];
    for part in parts {
        assert!(error.contains(part), "{part} in\n{error}");
    }
    assert_eq!(told(RUN), "");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn who_waits_for_another_build_is_told() {
    let folder = Folder::for_short_runs();
    copy_model(&folder);
    let lock = fs::File::create(format!("{}.lock", model(&folder).display())).unwrap();
    lock.lock().unwrap();
    let mut command = folder.command(RUN);
    command.env("HERMES_CACHE", folder.path("models")).stderr(std::process::Stdio::piped());
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut errors, &mut line).unwrap();
    assert!(line.contains("waiting for another process that builds the same model"), "{line}");
    drop(lock);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_cache_that_may_only_be_read_serves_its_models() {
    let folder = Folder::for_short_runs();
    copy_model(&folder);
    let models = folder.path("models");
    for name in ["", "models"] {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o555)).unwrap();
    }
    // Root may write everywhere.
    let root = is_root();
    let run = |arguments: &str| {
        let mut command = Command::new("sh");
        let hermes = env!("CARGO_BIN_EXE_hermes");
        let call = format!("exec '{hermes}' {arguments}");
        if root {
            command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh"]);
        }
        folder.surround(&mut command);
        command.args(["-c", &call]).env("HERMES_CACHE", &models).output().expect("sh runs")
    };
    let output = run(RUN);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("every packet and verdict agrees"));
    let output = run(&format!("{RUN} --l1-lines 32"));
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("models: has no model of this array, and may not be written"), "{error}");
    assert!(error.contains("expected a folder to write to in HERMES_CACHE"), "{error}");
    assert_eq!(error.matches("os error").count(), 1, "{error}");
    for name in ["models", ""] {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Whether the tests run as root.
fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id runs");
    text(&output.stdout).trim() == "0"
}
