//! What a command reads and what it writes are different files, and so are two files that it
//! writes; otherwise it fails before it writes anything. Standard output and standard error that
//! cannot be written give an exit code, and no panic.

#![cfg(unix)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};

use common::Folder;

/// A folder with an input of every kind, and other names for each: a symbolic link, a link to it, a
/// hard link.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.succeed("gen-trace --kind imix --packets 3 -o in.pcap");
    folder.succeed("gen-routes --count 5 -o routes");
    folder.succeed("gen-rules --kind acl --count 5 -o rules");
    folder.write("snort", "alert\n");
    folder.write("k.S", ".globl kernel\nkernel: ret\n");
    folder.succeed("kernel build k.S -o k.elf");
    folder.write("f.c", "int main(void) { return 0; }\n");
    folder.succeed("firmware build f.c -o f.elf");
    folder.write("typed", "words\n");
    folder.write("keys", "spi 0x1001\n");
    folder.write("headers", "1 2 3 4 6\n");
    folder.succeed("gen-trace --kind imix --packets 2 -o expected.pcap");
    folder.write("verdicts.csv", "packetIdx,verdict\n");
    folder.write("run.json", "{}");
    folder.write("table.bin", "bytes");
    folder.write("want.bin", "bytes");
    folder.write("chain.toml", "limit = 0\n");
    folder.write("argument.bin", "word");
    folder.write("second.S", "");
    fs::create_dir(folder.path("sub")).unwrap();
    for name in INPUTS {
        symlink(name, folder.path(&format!("{name}.link"))).unwrap();
        symlink(format!("../{name}.link"), folder.path(&format!("sub/{name}.links"))).unwrap();
        fs::hard_link(folder.path(name), folder.path(&format!("{name}.hard"))).unwrap();
    }
    symlink("new", folder.path("new.link")).unwrap();
    folder
}

const INPUTS: [&str; 19] = [
    "in.pcap",
    "routes",
    "rules",
    "snort",
    "k.S",
    "k.elf",
    "f.c",
    "f.elf",
    "typed",
    "keys",
    "headers",
    "expected.pcap",
    "verdicts.csv",
    "table.bin",
    "want.bin",
    "argument.bin",
    "second.S",
    "run.json",
    "chain.toml",
];

/// What a user gives of data and expectations.
const DATA: &[(&str, &str)] = &[
    ("--kernel", "k.elf"),
    ("--pcap", "in.pcap"),
    ("--table name=", "table.bin"),
    ("--argument", "argument.bin"),
    ("--expect-dump name=", "want.bin"),
    ("--expect", "expected.pcap"),
    ("--expect-verdicts", "verdicts.csv"),
];

/// The same for a packet on the reference simulator.
const PACKET: &[(&str, &str)] = &[
    ("--kernel", "k.elf"),
    ("--pcap", "in.pcap"),
    ("--table name=", "table.bin"),
    ("--argument", "argument.bin"),
    ("--expect-dump name=", "want.bin"),
];

/// What apps take.
const INPUTS_OF_APPS: &[(&str, &str)] =
    &[("--pcap", "in.pcap"), ("--rules", "rules"), ("--routes", "routes"), ("--keys", "keys")];

/// A command: itself, its inputs as options and files, its outputs as options.
type Subject = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str]);

/// Every command that writes files.
const COMMANDS: [Subject; 35] = [
    (
        "run --app dec-ttl",
        &[("--pcap", "in.pcap"), ("--kernel", "k.elf")],
        &["--out", "--json", "--verdicts", "--wave", "--trace", "--perfetto"],
    ),
    (
        "run --app router",
        &[("--pcap", "in.pcap"), ("--rules", "rules"), ("--routes", "routes")],
        &["--out", "--json", "--verdicts", "--wave", "--trace", "--perfetto"],
    ),
    ("run --app ipsec", &[("--pcap", "in.pcap"), ("--keys", "keys")], &["--out", "--json", "--perfetto"]),
    (
        "run --app dec-ttl",
        &[("--pcap", "in.pcap"), ("--firmware", "f.elf"), ("--firmware-input", "typed")],
        &["--out", "--json", "--trace"],
    ),
    (
        "profile --app router",
        &[("--pcap", "in.pcap"), ("--rules", "rules"), ("--routes", "routes"), ("--kernel", "k.elf")],
        &["-o", "--json", "--verdicts", "--wave", "--trace", "--perfetto"],
    ),
    (
        "profile --app ipsec",
        &[("--pcap", "in.pcap"), ("--keys", "keys"), ("--firmware", "f.elf"), ("--firmware-input", "typed")],
        &["-o", "--json"],
    ),
    ("profile", DATA, &["-o", "--json", "--dump kernel=", "--dump 0x1000:4="]),
    (
        "fpga run --port none --app router",
        &[("--pcap", "in.pcap"), ("--rules", "rules"), ("--routes", "routes"), ("--kernel", "k.elf")],
        &["--out", "--json", "--verdicts", "--perfetto", "--wave"],
    ),
    ("fpga run --port none --app ipsec", &[("--pcap", "in.pcap"), ("--keys", "keys")], &["--out", "--json"]),
    ("run", DATA, &["--out", "--dump kernel=", "--dump 0x1000:4=", "--print="]),
    ("fpga run --port none", DATA, &["--json", "--dump kernel=", "--dump 0x1000:4=", "--print="]),
    (
        "fpga run --port none --board ulx3s-cp",
        &[
            ("--firmware", "f.elf"),
            ("--firmware-input", "typed"),
            ("--table name=", "table.bin"),
            ("--expect-dump name=", "want.bin"),
        ],
        &["--dump main=", "--dump 0x1000:4="],
    ),
    ("kernel build", &[("", "k.S"), ("", "second.S")], &["-o"]),
    ("chain test", &[("", "chain.toml"), ("--pcap", "in.pcap")], &["--out", "--json"]),
    (
        "chain run --through ports",
        &[("", "chain.toml"), ("--pcap", "in.pcap"), ("--events", "run.json")],
        &["--out", "--json"],
    ),
    (
        "chain run --mode gnet --through ports --adapt",
        &[("", "chain.toml"), ("--pcap", "in.pcap"), ("--plan", "run.json")],
        &["--out", "--json"],
    ),
    ("chain plan", &[("", "chain.toml"), ("--pcap", "in.pcap"), ("--feedback", "run.json")], &["--json"]),
    ("nf test", &[("", "chain.toml"), ("--pcap", "in.pcap")], &["--out", "--json"]),
    ("firmware build", &[("", "f.c")], &["-o"]),
    ("gen-trace --kind imix --packets 1", &[("--headers", "headers")], &["-o"]),
    (
        "gen-trace --kind imix --packets 1",
        &[("--rules", "rules"), ("--routes", "routes"), ("--patterns", "snort")],
        &["-o"],
    ),
    ("gen-routes", &[], &["-o"]),
    ("gen-rules --kind fw", &[], &["-o"]),
    ("gen-media linear", &[], &["-o"]),
    ("gen-media linear -o other", &[], &["--expect", "--blank"]),
    (
        "run --preset fpga",
        &[("--firmware", "f.elf"), ("--table name=", "table.bin"), ("--expect-dump name=", "want.bin")],
        &["--dump name=", "--dump 0x1000:4="],
    ),
    ("fuzz --seeds 0", &[], &["--coverage"]),
    ("bench emit", &[], &["--json"]),
    ("fpga report", &[("--run", "run.json")], &["--json", "--svg"]),
    ("iss", &[("", "k.elf")], &[]),
    ("iss", PACKET, &["--out", "--dump kernel=", "--dump 0x1000:4=", "--print="]),
    ("debug", PACKET, &["--out", "--dump kernel=", "--print="]),
    ("iss --app router", INPUTS_OF_APPS, &["--out"]),
    ("debug --app router", INPUTS_OF_APPS, &["--out"]),
    (
        "cluster --nodes 2 --queues queues",
        &[("--kernel", "k.elf"), ("--pcap", "in.pcap"), ("--firmware", "f.elf")],
        &["--json"],
    ),
];

/// An option with its file: `--out FILE`, but `--dump NAME=FILE`.
fn with(option: &str, file: &str) -> String {
    let space = if option.ends_with('=') { "" } else { " " };
    format!("{option}{space}{file}")
}

/// The command with its inputs and more arguments.
fn arguments(command: &str, inputs: &[(&str, &str)], more: &str) -> String {
    let inputs: Vec<_> = inputs.iter().map(|(option, file)| with(option, file)).collect();
    format!("{command} {} {more}", inputs.join(" "))
}

/// Names and contents of all files.
fn contents(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let files = folder.files().into_iter().filter(|name| folder.path(name).is_file());
    files.map(|name| (name.clone(), folder.read(&name))).collect()
}

/// Each output with each input, by two of its names, which take turns.
#[test]
fn no_output_overwrites_an_input() {
    let folder = folder();
    let before = contents(&folder);
    let mut turn = 0;
    for (command, inputs, outputs) in COMMANDS {
        for (option, input) in inputs {
            for output in outputs {
                let names = [
                    input.to_string(),
                    format!("sub/../{input}"),
                    format!("{input}.link"),
                    format!("sub/{input}.links"),
                    format!("{input}.hard"),
                    folder.path(input).display().to_string(),
                ];
                turn += 1;
                for name in [&names[turn % 6], &names[(turn + 3) % 6]] {
                    let output = with(output, name);
                    let arguments = arguments(command, inputs, &output);
                    let (written, read) = (format!("{output}: would overwrite"), with(option, input));
                    folder.fail(&arguments, &[&written, read.trim()]);
                }
            }
        }
    }
    assert!(contents(&folder) == before, "a file was written");
}

/// What a source includes is read as well: the compiler tells.
#[test]
fn no_output_overwrites_an_included_file() {
    let folder = Folder::new();
    fs::create_dir(folder.path("inc lude")).unwrap();
    folder.write("inc lude/a.h", "#define A 1\n");
    folder.write("a.h", "#define A 1\n");
    folder.write("b.inc", ".set b, 1\n");
    folder.write("k.c", "#include <hermes.h>\n#include \"a.h\"\nuint32_t kernel(void) { return A; }\n");
    folder.write("k.S", ".include \"b.inc\"\n.globl kernel\nkernel: li a0, b\nret\n");
    folder.write("f.c", "#include \"a.h\"\nint main(void) { return A; }\n");
    folder.write("g.S", ".include \"b.inc\"\n.globl main\nmain: li a0, b\nret\n");
    for name in ["a.h", "b.inc"] {
        symlink(name, folder.path(&format!("{name}.link"))).unwrap();
        fs::hard_link(folder.path(name), folder.path(&format!("{name}.hard"))).unwrap();
    }
    let before = contents(&folder);
    for (build, included) in [
        ("kernel build k.c -I .", "a.h"),
        ("kernel build k.S -I .", "b.inc"),
        ("firmware build f.c", "a.h"),
        ("firmware build g.S", "b.inc"),
    ] {
        for name in [included.to_string(), format!("{included}.link"), format!("{included}.hard")] {
            let expected = format!("error: -o {name}: would overwrite ");
            folder.fail(
                &format!("{build} -o {name}"),
                &[&expected, &format!("{included}, which is read; expected another file")],
            );
        }
    }
    let output = folder.hermes_with("kernel build", |command| {
        command.args(["k.c", "-I", "inc lude", "-o", "inc lude/a.h"]);
    });
    // What lies beside the source comes first, so that the other one is not read.
    assert!(output.status.success());
    folder.write("inc lude/a.h", "#define A 1\n");
    fs::remove_file(folder.path("a.h")).unwrap();
    let output = folder.hermes_with("kernel build", |command| {
        command.args(["k.c", "-I", "inc lude", "-o", "inc lude/a.h"]);
    });
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("-o inc lude/a.h: would overwrite inc lude/a.h, which is read"), "{error}");
    assert_eq!(folder.text("inc lude/a.h"), "#define A 1\n");
    folder.write("a.h", "#define A 1\n");
    folder.succeed("kernel build k.c -I . -o new.elf");
    fs::remove_file(folder.path("new.elf")).unwrap();
    fs::remove_file(folder.path("a.h.hard")).unwrap();
    fs::hard_link(folder.path("a.h"), folder.path("a.h.hard")).unwrap();
    assert!(contents(&folder) == before, "a file was written");
}

/// A profile shows the sources that the kernel's file names.
#[test]
fn no_output_of_a_profile_overwrites_a_source() {
    let folder = folder();
    folder.write("p.c", "#include \"p.h\"\nunsigned kernel(unsigned p) { return twice(p); }\n");
    folder.write("p.h", "static inline unsigned twice(unsigned p) { return p * 3 + 1; }\n");
    folder.succeed("kernel build p.c -I . -o p.elf");
    fs::create_dir(folder.path("moved")).unwrap();
    fs::copy(folder.path("p.c"), folder.path("moved/p.c")).unwrap();
    symlink("p.c", folder.path("p.link")).unwrap();
    let before = contents(&folder);
    let moved = folder.text("moved/p.c");
    for output in ["-o", "--json", "--verdicts", "--wave", "--trace", "--perfetto", "--dump kernel="] {
        for (name, more) in [("p.c", ""), ("p.h", ""), ("p.link", ""), ("moved/p.c", "--source moved")] {
            let output = with(output, name);
            let arguments = format!("profile --kernel p.elf --pcap in.pcap {more} {output}");
            let expected = format!("error: {output}: would overwrite the source ");
            folder.fail(&arguments, &[&expected, ", which is read; expected another file"]);
        }
    }
    assert!(contents(&folder) == before && folder.text("moved/p.c") == moved, "a file was written");
}

#[test]
fn no_output_overwrites_another() {
    let folder = folder();
    let before = contents(&folder);
    for (command, inputs, outputs) in COMMANDS {
        for (number, first) in outputs.iter().enumerate() {
            for second in &outputs[number + 1..] {
                for name in ["new", "./new", "sub/../new", "new.link"] {
                    let (first, second) = (with(first, "new"), with(second, name));
                    let arguments = arguments(command, inputs, &format!("{first} {second}"));
                    let same = format!("{second}: the same file as {first}");
                    folder.fail(&arguments, &[&same]);
                }
            }
        }
    }
    assert!(contents(&folder) == before, "a file was written");
}

/// The test above knows every option that names a file to write: those whose help says so.
#[test]
fn every_output_option_is_declared() {
    let folder = Folder::new();
    for (command, subcommand) in [
        ("run", "run"),
        ("profile", "profile"),
        ("fpga run", "fpga run"),
        ("kernel build", "kernel build"),
        ("firmware build", "firmware build"),
        ("gen-trace", "gen-trace"),
        ("gen-routes", "gen-routes"),
        ("gen-rules", "gen-rules"),
        ("gen-media linear", "gen-media"),
        ("fuzz", "fuzz"),
        ("bench emit", "bench"),
        ("fpga report", "fpga report"),
        ("iss", "iss"),
        ("debug", "debug"),
        ("cluster", "cluster"),
    ] {
        let help = folder.succeed(&format!("{command} --help"));
        let known: Vec<&str> = COMMANDS
            .iter()
            .filter(|(name, ..)| name.starts_with(subcommand))
            .flat_map(|(_, inputs, outputs)| {
                inputs.iter().map(|(option, _)| *option).chain(outputs.iter().copied())
            })
            .collect();
        for line in help.lines().map(str::trim).filter(|line| line.starts_with('-')) {
            // `-o, --output <FILE>`, `--json <FILE>`
            let Some((options, value)) = line.split_once(" <") else { continue };
            let is_file =
                ["FILE>", "FILE.", "FILE|", "OUT.", "IN>"].iter().any(|name| value.starts_with(name));
            let is_file = is_file || value.contains("=FILE");
            let declared = options.split(", ").any(|option| {
                known.iter().any(|known| {
                    *known == option || known.strip_prefix(option).is_some_and(|rest| rest.starts_with(' '))
                })
            });
            assert!(!is_file || declared, "hermes {command}: {line} is not in the table");
        }
    }
}

/// As root, too, who may write everywhere.
#[test]
fn a_read_only_file_stays() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    folder.write("old", "old");
    fs::set_permissions(folder.path("old"), fs::Permissions::from_mode(0o444)).unwrap();
    symlink("old", folder.path("link")).unwrap();
    let before = contents(&folder);
    for (command, inputs, outputs) in COMMANDS {
        for output in outputs {
            for name in ["old", "link"] {
                let output = with(output, name);
                let arguments = arguments(command, inputs, &output);
                let read_only = format!("{output}: is read-only; expected a file that may be written");
                folder.fail(&arguments, &[&read_only]);
            }
        }
    }
    folder.succeed("kernel headers -o include");
    fs::set_permissions(folder.path("include/hermes.h"), fs::Permissions::from_mode(0o444)).unwrap();
    let output = folder.hermes("kernel headers -o include");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.ends_with("include/hermes.h: is read-only\n"), "{error}");
    assert_eq!(error.matches("hermes.h").count(), 1, "{error}");
    folder.succeed("emit --preset fpga --lanes 1 -o out");
    let list = folder.path("out/hermes_top.f");
    fs::set_permissions(&list, fs::Permissions::from_mode(0o444)).unwrap();
    folder.fail("emit --preset fpga --lanes 1 -o out", &["hermes_top.f: is read-only"]);
    assert!(contents(&folder) == before, "a file was written");
}

#[test]
fn devices_may_be_written_twice() {
    let folder = folder();
    folder.succeed("run --app dec-ttl --pcap in.pcap --json /dev/null --verdicts /dev/null --cores 1 --lanes 1 --warps 2");
}

/// Runs `hermes` by a shell, which redirects its outputs as `redirection` says.
fn redirected(folder: &Folder, arguments: &str, redirection: &str) -> Output {
    let mut command = Command::new("sh");
    folder.surround(&mut command);
    command.args(["-c", &format!("{} {arguments} {redirection}", env!("CARGO_BIN_EXE_hermes"))]);
    command.stdin(Stdio::null()).output().expect("sh runs")
}

#[test]
fn outputs_that_cannot_be_written_give_an_exit_code() {
    let folder = folder();
    let cases = [
        // An error, a message, a warning, what clap says
        ("run --app dec-ttl --pcap none.pcap", 1),
        ("-v gen-routes -o new", 0),
        ("-vv kernel build k.S -o new.elf", 0),
        ("run --no-such-option", 2),
        ("apps", 0),
        ("", 2),
    ];
    for (arguments, code) in cases {
        for redirection in ["2>/dev/full", "2>&-"] {
            let output = redirected(&folder, arguments, redirection);
            assert_eq!(output.status.code(), Some(code), "hermes {arguments} {redirection}");
        }
    }
    // What is the result of a command must not get lost.
    for arguments in ["apps", "help run", "--version", "kernel info k.elf"] {
        let output = redirected(&folder, arguments, ">/dev/full");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "hermes {arguments}: {error}");
        assert!(error.contains("error: standard output: No space left on device"), "{error}");
        let output = redirected(&folder, arguments, ">/dev/full 2>/dev/full");
        assert_eq!(output.status.code(), Some(1), "hermes {arguments}");
        // Nobody reads it: no error.
        let output = redirected(&folder, arguments, "| true");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
