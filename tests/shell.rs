//! Completions, manual pages and help.

mod common;

use std::process::Command;

use common::Folder;

#[test]
fn completions_know_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.succeed(&format!("completions {shell}"));
        for word in ["gen-trace", "line-rate", "compare", "hermes"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        folder.write(shell, script);
    }
    let output = Command::new("bash").arg("-n").arg(folder.path("bash")).output().expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.hermes("completions tcsh").status.code(), Some(2));
}

#[test]
fn every_command_has_a_page() {
    let folder = Folder::new();
    folder.succeed("man -o pages/man1");
    let entries = std::fs::read_dir(folder.path("pages/man1")).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for name in
        ["hermes.1", "hermes-run.1", "hermes-kernel-build.1", "hermes-bench-core.1", "hermes-cache-clean.1"]
    {
        assert!(names.iter().any(|other| other == name), "{name} in {names:?}");
    }
    let page = folder.text("pages/man1/hermes-run.1");
    assert!(page.contains(".TH hermes-run 1") && page.contains("hermes run \\-\\-app dec\\-ttl"), "{page}");
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
}

#[test]
fn help_ends_with_examples() {
    let folder = Folder::new();
    for command in [
        "run",
        "emit",
        "kernel build",
        "fpga build",
        "fpga run",
        "bench",
        "cluster",
        "fuzz",
        "gen-trace",
        "gen-rules",
        "gen-routes",
    ] {
        for option in ["-h", "--help"] {
            let help = folder.succeed(&format!("{command} {option}"));
            let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{help}"));
            assert!(examples.contains(&format!("  hermes {command}")), "{examples}");
        }
    }
}
