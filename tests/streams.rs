//! `-` is standard input and standard output; packed captures; input without end.

#![cfg(unix)]

mod common;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use common::Folder;

const ARRAY: &str = "--cores 1 --lanes 1 --warps 2";

/// Runs `hermes` with these bytes at its standard input.
fn with_input(folder: &Folder, arguments: &str, bytes: &[u8]) -> Output {
    let mut command = folder.command(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("hermes runs");
    // It may have ended before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 5 -o in.pcap");
    folder
}

#[test]
fn a_capture_comes_in_and_one_file_goes_out() {
    let folder = folder();
    let capture = folder.read("in.pcap");
    let run = format!("run --app dec-ttl {ARRAY}");
    let table =
        folder.succeed(&format!("{run} --pcap in.pcap --json a.json --out out.pcap --verdicts a.csv"));
    for (option, file) in [("--json", "a.json"), ("--out", "out.pcap"), ("--verdicts", "a.csv")] {
        let output = with_input(&folder, &format!("{run} --pcap - {option} -"), &capture);
        assert!(output.status.success(), "{}", text(&output.stderr));
        // The report for people is on standard error.
        let told = text(&output.stderr);
        assert!(told.starts_with("dec-ttl on standard input\n"), "{told}");
        let same = |text: &str| text.lines().skip(1).map(str::to_string).collect::<Vec<_>>();
        assert_eq!(same(&told), same(&table));
        if option == "--json" {
            folder.write("b.json", &output.stdout);
            let mut reports = ["a.json", "b.json"].map(|name| folder.report(name));
            assert_eq!(reports[1]["run"]["capture"], "standard input");
            reports.iter_mut().for_each(|report| report["run"]["capture"] = "".into());
            assert_eq!(reports[0], reports[1]);
        } else {
            assert_eq!(output.stdout, folder.read(file), "{option}");
        }
    }
    let packed = packed(&folder, "in.pcap");
    let output = with_input(&folder, &format!("{run} --pcap - --verdicts -"), &packed);
    assert_eq!(output.stdout, folder.read("a.csv"), "{}", text(&output.stderr));
}

#[test]
fn generators_write_to_standard_output() {
    let folder = folder();
    for (command, file) in [
        ("gen-trace --kind imix --packets 5", "in.pcap"),
        ("gen-routes --count 7", "routes"),
        ("gen-rules --kind acl --count 7", "rules"),
    ] {
        folder.succeed(&format!("{command} -o {file}"));
        let output = folder.hermes(&format!("{command} -o -"));
        assert_eq!(output.stdout, folder.read(file), "{command}");
    }
    // Nobody reads to the end.
    let mut command = folder.command("gen-routes --count 100000 -o -");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
    let mut sh = Command::new("sh");
    let hermes = env!("CARGO_BIN_EXE_hermes");
    let output =
        sh.args(["-c", &format!("{hermes} gen-routes --count 100000 -o - >/dev/full")]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("error: standard output: No space left on device"));
}

#[test]
fn each_way_for_one_file() {
    let folder = folder();
    let before = folder.files();
    let run = format!("run --app dec-ttl {ARRAY}");
    for (arguments, part) in [
        (
            format!("{run} --pcap - --kernel -"),
            "--kernel -: standard input is taken by --pcap -; expected a file",
        ),
        (
            format!("{run} --pcap in.pcap --json - --out -"),
            "--json -: standard output is taken by --out -; expected a file",
        ),
        (format!("{run} --pcap in.pcap --wave -"), "--wave -: expected the name of a file"),
        ("compare - -".to_string(), "B.json -: standard input is taken by A.json -"),
        ("kernel build - -o x.elf".to_string(), "SOURCE -: expected the name of a file"),
        ("emit -o -".to_string(), "-o -: expected the name of a folder"),
        ("man -o -".to_string(), "-o -: expected the name of a folder"),
        ("fpga build -o -".to_string(), "-o -: expected the name of a folder"),
    ] {
        folder.fail(&arguments, &[part]);
    }
    assert_eq!(folder.files(), before);
}

/// The file, compressed with gzip.
fn packed(folder: &Folder, name: &str) -> Vec<u8> {
    let output = Command::new("gzip").arg("-c").arg(folder.path(name)).output().expect("gzip runs");
    assert!(output.status.success());
    output.stdout
}

#[test]
fn packed_captures_are_read() {
    let folder = folder();
    let bytes = packed(&folder, "in.pcap");
    // Whatever their names are
    folder.write("packed", &bytes);
    let run = format!("-q run --app dec-ttl {ARRAY}");
    folder.succeed(&format!("{run} --pcap packed --out a.pcap"));
    folder.succeed(&format!("{run} --pcap in.pcap --out b.pcap"));
    assert_eq!(folder.read("a.pcap"), folder.read("b.pcap"));
    folder.write("half.gz", &bytes[..bytes.len() - 12]);
    folder.fail(&format!("{run} --pcap half.gz --out c.pcap"), &["half.gz: damaged gzip file"]);
    assert!(!folder.files().contains(&"c.pcap".to_string()));
}

#[test]
fn input_without_end_ends_at_a_size() {
    let folder = folder();
    folder.write("k.S", ".globl kernel\nkernel: ret\n");
    let large = "/dev/zero: larger than 256 MiB; expected a smaller pipe or device";
    let program = "/dev/zero: larger than 64 MiB; expected a smaller pipe or device";
    for (arguments, part) in [
        ("run --app route-lookup --routes /dev/zero --pcap in.pcap", large),
        ("run --app classifier --rules /dev/zero --pcap in.pcap", large),
        ("run --app ipsec --keys /dev/zero --pcap in.pcap", large),
        ("run --kernel /dev/zero --pcap in.pcap", program),
        ("run --firmware /dev/zero", program),
        ("iss /dev/zero", program),
        ("kernel info /dev/zero", program),
        ("compare /dev/zero /dev/zero", large),
        ("gen-trace --kind imix --packets 1 --headers /dev/zero -o x.pcap", large),
        ("run --app dec-ttl --pcap in.pcap --expect-verdicts /dev/zero", large),
        ("run --app dec-ttl --pcap /dev/zero", "/dev/zero: the file begins with no capture's magic number"),
    ] {
        folder.fail(arguments, &[part]);
    }
    // A capture that does not end, as far as it is wanted
    let capture = folder.read("in.pcap");
    let mut command =
        folder.command(&format!("-q run --app dec-ttl --pcap - --max-packets 3 --verdicts - {ARRAY}"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        input.write_all(&capture[..24]).unwrap();
        while input.write_all(&capture[24..]).is_ok() {}
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(text(&output.stdout).lines().count(), 1 + 3);
}
