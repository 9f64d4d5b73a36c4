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
    let mut commands = subcommands(&folder, "");
    for group in ["kernel", "firmware", "fpga", "cache"] {
        assert!(commands.iter().any(|command| command == group), "{commands:?}");
        commands.extend(subcommands(&folder, group));
    }
    assert!(commands.len() > 25, "{commands:?}");
    for command in &commands {
        for option in ["-h", "--help"] {
            let help = folder.succeed(&format!("{command} {option}"));
            let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{help}"));
            assert!(examples.contains(&format!("  hermes {command}")), "{examples}");
        }
    }
}

/// What a command is for stands together, and not among the options of all commands.
#[test]
fn options_of_cache_clean_stand_together() {
    let folder = Folder::new();
    let help = folder.succeed("cache clean --help");
    let options = help.lines().filter_map(|line| line.trim().strip_prefix("--"));
    let names: Vec<_> = options.filter_map(|line| line.split([' ', '=']).next()).collect();
    assert_eq!(names, ["older-than", "all"], "{help}");
    let at = |part: &str| help.find(part).unwrap_or_else(|| panic!("{part} in\n{help}"));
    assert!(at("What is removed:") < at("--older-than") && at("--older-than") < at("--all"), "{help}");
    assert!(!(at("--older-than")..at("--all")).contains(&at("--verbose")), "{help}");
}

/// The commands that the help of `hermes COMMAND` lists.
fn subcommands(folder: &Folder, command: &str) -> Vec<String> {
    let help = folder.succeed(&format!("{command} --help"));
    let (_, list) = help.split_once("Commands:\n").unwrap_or_else(|| panic!("{help}"));
    let lines = list.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(|name| format!("{command} {name}").trim().to_string()).collect()
}
