//! Errors name the option of the file that they are about, as it stands on the command line.

mod common;

use std::process::Output;

use common::Folder;

/// A folder with a capture and a kernel.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 3 -o in.pcap");
    folder.write(
        "k.S",
        ".globl kernel\nkernel: ret\n.data\n.globl t\n.type t, @object\n.size t, 4\nt: .word 0\n",
    );
    folder.succeed("kernel build k.S -o k.elf");
    folder
}

/// The only line of the error.
fn error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let errors: Vec<_> = text.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(output.status.code() == Some(1) && errors.len() == 1, "{text}");
    errors[0].to_string()
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_its_option() {
    let folder = folder();
    let before = folder.files();
    for (command, file) in [
        ("run --app dec-ttl", "--pcap nothere"),
        ("run --pcap in.pcap", "--kernel nothere"),
        ("run --pcap in.pcap --app classifier", "--rules nothere"),
        ("run --pcap in.pcap --app route-lookup", "--routes nothere"),
        ("run --pcap in.pcap --app ipsec", "--keys nothere"),
        ("run --pcap in.pcap --app dec-ttl", "--expect nothere"),
        ("run --pcap in.pcap --app dec-ttl", "--expect-verdicts nothere"),
        ("run --pcap in.pcap --kernel k.elf", "--argument nothere"),
        ("run --pcap in.pcap --kernel k.elf", "--table t=nothere"),
        ("run", "--firmware nothere"),
        ("profile --app dec-ttl", "--pcap nothere"),
        ("iss --kernel k.elf --packet 0", "--pcap nothere"),
        ("debug --kernel k.elf --packet 0", "--pcap nothere"),
        ("fpga run --port none --app dec-ttl", "--pcap nothere"),
        ("cluster --nodes 2", "--kernel nothere"),
        ("gen-trace --kind imix --packets 1 -o x.pcap", "--headers nothere"),
        ("gen-trace --kind imix --packets 1 -o x.pcap", "--rules nothere"),
    ] {
        let found = error(&folder.hermes(&format!("{command} {file}")));
        assert!(
            found.starts_with(&format!("error: {file}: No such file or directory")),
            "{command}: {found}"
        );
    }
    // What a file holds, and at which line
    folder.write("bad", "10.0.0.0/99 1\n");
    for (file, problem) in [
        ("--pcap bad --app dec-ttl", "--pcap bad: the file begins with no capture's magic number"),
        ("--pcap in.pcap --kernel bad", "--kernel bad: not an ELF file"),
        ("--pcap in.pcap --app route-lookup --routes bad", "--routes bad:1: `10.0.0.0/99`"),
        ("--pcap in.pcap --app dec-ttl --expect-verdicts bad", "--expect-verdicts bad:1: "),
    ] {
        let found = error(&folder.hermes(&format!("run {file}")));
        assert!(found.starts_with(&format!("error: {problem}")), "{found}");
    }
    std::fs::remove_file(folder.path("bad")).unwrap();
    assert_eq!(folder.files(), before);
}

#[test]
fn a_file_that_cannot_be_written_is_named_with_its_option() {
    let folder = folder();
    let before = folder.files();
    for (command, option) in [
        ("run --app dec-ttl --pcap in.pcap", "--out none/x"),
        ("run --app dec-ttl --pcap in.pcap", "--json none/x"),
        ("run --app dec-ttl --pcap in.pcap", "--verdicts none/x"),
        ("run --app dec-ttl --pcap in.pcap", "--trace none/x"),
        ("run --app dec-ttl --pcap in.pcap", "--perfetto none/x"),
        ("run --app dec-ttl --pcap in.pcap", "--wave none/x"),
        ("run --kernel k.elf --pcap in.pcap", "--dump t=none/x"),
        ("profile --app dec-ttl --pcap in.pcap", "-o none/x"),
        ("profile --app dec-ttl --pcap in.pcap", "--json none/x"),
        ("iss --app dec-ttl --pcap in.pcap --packet 0", "--out none/x"),
        ("gen-trace --kind imix --packets 1", "-o none/x"),
        ("gen-routes", "-o none/x"),
        ("gen-rules --kind fw", "-o none/x"),
        ("gen-media linear", "-o none/x"),
        ("fuzz --seeds 1", "--coverage none/x"),
        ("bench emit", "--json none/x"),
        ("kernel build k.S", "-o none/x"),
    ] {
        let found = error(&folder.hermes(&format!("{command} {option}")));
        let expected = format!("error: {option}: No such file or directory (os error 2)");
        assert_eq!(found, expected, "{command}");
    }
    assert_eq!(folder.files(), before);
}

#[test]
fn values_are_named_with_their_options() {
    let folder = folder();
    for (command, start) in [
        ("cluster --nodes 99 --kernel k.elf", "--nodes: 99 is not possible; expected 2 to 8"),
        ("fpga simulate --board foo", "--board: `foo` is not known; expected one of"),
        ("fpga simulate --clock 1000", "--clock: 1000 MHz is not possible; expected 10 to 120 MHz"),
        (
            "run --kernel k.elf --pcap in.pcap --argument 1,zz",
            "--argument 1,zz: No such file or directory (os error 2); expected a file, or words below 2^32",
        ),
    ] {
        let found = error(&folder.hermes(command));
        assert!(found.starts_with(&format!("error: {start}")), "{command}: {found}");
    }
}

/// Folders that the environment names.
#[test]
fn variables_are_named() {
    let folder = folder();
    let with = |arguments: &str, variable: &str, value: &str| {
        error(&folder.hermes_with(arguments, |command| {
            command.env(variable, value);
        }))
    };
    folder.write("f.c", "int main(void) { return 0; }\n");
    folder.write("file", "");
    let run = "run --app dec-ttl --pcap in.pcap --cores 1 --lanes 1 --warps 2";
    for arguments in
        ["kernel build k.S -o x.elf", "firmware build f.c -o x.elf", run, "bench apps --apps dec-ttl"]
    {
        // Without models, so that the folder is needed for one wherever it is not before.
        let found = error(&folder.hermes_with(arguments, |command| {
            command.env("TMPDIR", "/nowhere").env("HERMES_CACHE", folder.path("models"));
        }));
        assert_eq!(found, "error: TMPDIR=/nowhere: No such file or directory (os error 2)", "{arguments}");
    }
    let found = with(run, "HERMES_CACHE", "file/models");
    assert_eq!(found, "error: HERMES_CACHE=file/models: Not a directory (os error 20)");
}
