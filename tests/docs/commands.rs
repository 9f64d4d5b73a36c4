//! Commands in blocks of code and in `code`: subcommands and options are those of the manual,
//! numbers of options are allowed, and numbers that pages call the default are it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use hermes_rtl::config::ArrayOption;
use pulldown_cmark::Event;
use toml_edit::DocumentMut;

use super::common::Folder;
use super::{all_pages, assert_none, root, sample, Page};

/// Options of other programs that pages name by themselves, and the programs.
const OF_OTHERS: [(&str, &str); 10] = [
    ("--ignored", "cargo test"),
    ("--test", "cargo test"),
    ("--no-place", "nextpnr"),
    ("--no-relax", "ld"),
    ("--placer-heap-beta", "nextpnr"),
    ("--placer-heap-timingweight", "nextpnr"),
    ("--record", "formal/run"),
    ("--router2-alt-weights", "nextpnr"),
    ("--target", "fusesoc run"),
    ("--write", "nextpnr"),
];

/// The manual page of every command, by its name: "", "run", "kernel build". They have the text of
/// the help, and one process writes them all.
struct Manual(BTreeMap<String, String>);

impl Manual {
    fn read() -> Self {
        let folder = Folder::new();
        folder.succeed("man -o pages");
        let files = fs::read_dir(folder.path("pages")).unwrap();
        let pages = files.map(|file| Self::page(&fs::read_to_string(file.unwrap().path()).unwrap()));
        let pages: BTreeMap<_, _> = pages.collect();
        assert!(pages.len() > 40 && pages.contains_key("kernel build"), "{:?}", pages.keys());
        Self(pages)
    }

    /// Name and text of a page: the synopsis begins with the command.
    fn page(roff: &str) -> (String, String) {
        let text = roff.replace("\\fB", "").replace("\\fI", "").replace("\\fR", "").replace("\\-", "-");
        let synopsis = roff.split_once(".SH SYNOPSIS\n\\fBhermes").map(|(_, rest)| rest);
        let name = synopsis.and_then(|rest| rest.split_once("\\fR")).expect("a synopsis").0;
        (name.replace("\\-", "-").trim().to_string(), text)
    }

    fn has(&self, command: &str, option: &str) -> bool {
        self.0.get(command).is_some_and(|page| has_word(page, option))
    }

    fn any_has(&self, option: &str) -> bool {
        self.0.values().any(|page| has_word(page, option))
    }

    /// What the page of some command says is the default of an option, if it does.
    fn defaults(&self, option: &str) -> Vec<String> {
        let lines = self.0.values().flat_map(|page| page.lines());
        let own = lines.filter(|line| line.starts_with('-') && has_word(line, option));
        let values = own.filter_map(|line| line.split_once("[default: ")?.1.split(']').next());
        values.map(String::from).collect()
    }
}

/// Whether an option stands in a text, and not only as the beginning of a longer one.
fn has_word(text: &str, option: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.match_indices(option).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + option.len()..]);
        !before.ends_with(part) && !behind.starts_with(part)
    })
}

/// The words of a command line up to its end, without quotes and brackets.
fn words(line: &str) -> Vec<String> {
    let ends = |word: &&str| !matches!(*word, "|" | ";" | "&&" | "||" | ">" | "<") && !word.starts_with('#');
    let words = line.split_whitespace().take_while(ends);
    let bare = words.map(|word| word.trim_matches(|c| "\"'`[](),;".contains(c)).to_string());
    bare.filter(|word| !word.is_empty()).collect()
}

/// The option that a word is: `--mcw` of `--mcw=8`.
fn option(word: &str) -> Option<&str> {
    let name = word.trim_start_matches('-');
    let is = word.len() > name.len()
        && word.len() - name.len() < 3
        && name.starts_with(|c: char| c.is_alphabetic());
    is.then(|| word.split('=').next().unwrap_or(word))
}

/// What is wrong with `hermes` and these words behind it.
fn faults(manual: &Manual, words: &[String]) -> Vec<String> {
    let mut command = String::new();
    let mut rest = words;
    while let [word, more @ ..] = rest {
        let longer = format!("{command} {word}").trim().to_string();
        // `hermes help run` is the help of `run`.
        if word != "help" && !manual.0.contains_key(&longer) {
            break;
        }
        if word != "help" {
            command = longer;
        }
        rest = more;
    }
    let group = manual.0[&command].contains(".SH SUBCOMMANDS");
    let mut faults = Vec::new();
    if let Some(word) = rest.first().filter(|_| group) {
        if option(word).is_none() && !word.contains(|c: char| c.is_uppercase() || c == '.' || c == '|') {
            faults.push(format!("hermes {command}: no command {word}"));
        }
    }
    for (number, word) in rest.iter().enumerate() {
        let Some(name) = option(word) else { continue };
        if !manual.has(&command, name) {
            faults.push(format!("hermes {command}: no option {name}"));
        }
        let value = word.split_once('=').map(|(_, value)| value).or(rest.get(number + 1).map(String::as_str));
        let (Some(array_option), Some(value)) =
            (array_option(name), value.and_then(|value| value.parse().ok()))
        else {
            continue;
        };
        if !array_option.values.contain(value) {
            faults.push(format!("{name} {value}: expected {}", array_option.values.words()));
        }
    }
    faults
}

/// The option of the array that has this name on the command line.
fn array_option(name: &str) -> Option<&'static ArrayOption> {
    let name = name.strip_prefix("--")?;
    hermes_rtl::config::OPTIONS.iter().find(|option| option.command_flag().as_deref() == Some(name))
}

/// The lines of a block, those joined that a backslash ends.
fn lines(block: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in block.lines() {
        let text = line.trim_end_matches('\\');
        if open {
            *lines.last_mut().expect("a line") += text;
        } else {
            lines.push(text.to_string());
        }
        open = line.ends_with('\\');
    }
    lines
}

/// What is wrong with a line of a script that tests and scripts of the project run.
fn script_faults(words: &[String]) -> Vec<String> {
    let Some(first) = words.iter().find(|word| !word.contains('=')) else { return Vec::new() };
    let mut faults = Vec::new();
    let script = ["scripts/", "formal/"].iter().any(|folder| first.starts_with(folder));
    // `formal/NAME.sv` stands for any.
    if script && !first.contains(char::is_uppercase) && !root().join(first).exists() {
        faults.push(format!("{first}: no such script"));
    }
    if first == "cargo" {
        let value = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
        let packages = match value("-p") {
            Some(package) => packages().into_iter().filter(|(name, _)| name == package).collect(),
            None if words.iter().any(|word| word == "--workspace") => packages(),
            None => vec![("hermes".to_string(), root().to_path_buf())],
        };
        if packages.is_empty() {
            faults.push(format!("{}: no such package", words.join(" ")));
        } else if let Some(test) = value("--test").filter(|test| !test.chars().all(char::is_uppercase)) {
            let files = [format!("tests/{test}.rs"), format!("tests/{test}/main.rs")];
            let mut paths =
                packages.iter().flat_map(|(_, folder)| files.iter().map(|file| folder.join(file)));
            if !paths.any(|path| path.exists()) {
                faults.push(format!("{}: no such test", words.join(" ")));
            }
        }
    }
    faults
}

/// The packages of the workspace with their folders.
fn packages() -> Vec<(String, PathBuf)> {
    let manifest: DocumentMut = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().expect("members").iter();
    let folders = members.map(|member| member.as_str().expect("a folder")).chain(["."]);
    let package = |folder: &str| {
        let folder = root().join(folder);
        let manifest: DocumentMut = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        (manifest["package"]["name"].as_str().expect("a name").to_string(), folder)
    };
    folders.map(package).collect()
}

/// What is wrong with the commands of a page.
fn page_faults(manual: &Manual, page: &Page) -> Vec<String> {
    let mut found = Vec::new();
    for (language, block, start) in page.code_blocks() {
        if !["", "sh", "bash", "text"].contains(&language.as_str()) {
            continue;
        }
        for line in lines(&block) {
            let words = words(&line);
            let command = words.iter().position(|word| word == "hermes");
            let faults = match command {
                // In Python `hermes = ..` is a variable.
                Some(0) if words.get(1).is_none_or(|word| word != "=") => faults(manual, &words[1..]),
                _ => script_faults(&words),
            };
            found.extend(faults.into_iter().map(|fault| format!("{}: {fault}", page.place(start))));
        }
    }
    let mut last: Option<String> = None;
    for (event, range) in page.events() {
        match event {
            Event::Code(code) => {
                let words = words(&code);
                let faults = match words.first().map(String::as_str) {
                    Some("hermes") => faults(manual, &words[1..]),
                    Some(first) if first.starts_with("--") => words
                        .iter()
                        .filter_map(|word| option(word))
                        .filter(|name| !OF_OTHERS.iter().any(|(other, _)| other == name))
                        .filter(|name| !manual.any_has(name))
                        .map(|name| format!("{name}: no command has this option"))
                        .collect(),
                    _ => script_faults(&words),
                };
                found.extend(faults.into_iter().map(|fault| format!("{}: {fault}", page.place(range.start))));
                last = words.first().and_then(|word| option(word)).map(String::from);
            }
            Event::Text(text) => {
                let default = last.take().and_then(|option| Some((option, default(&text)?)));
                let Some((option, default)) = default else { continue };
                let known = manual.defaults(&option);
                if !known.is_empty() && !known.contains(&default) {
                    let place = page.place(range.start);
                    found.push(format!(
                        "{place}: {option} ({default}): the default is {}",
                        known.join(" or ")
                    ));
                }
            }
            _ => {}
        }
    }
    found
}

/// The number in parentheses with which a text begins: what pages call the default.
fn default(text: &str) -> Option<String> {
    let (inside, _) = text.strip_prefix(" (")?.split_once([')', ';', ':'])?;
    let number = inside.replace(',', "");
    number.chars().all(|c| c.is_ascii_digit()).then_some(number).filter(|number| !number.is_empty())
}

#[test]
fn commands_and_options_exist() {
    let manual = Manual::read();
    let pages = all_pages();
    // The changelog tells of versions before this one.
    let pages = pages.iter().filter(|page| page.name != "CHANGELOG.md");
    assert_none(&pages.flat_map(|page| page_faults(&manual, page)).collect::<Vec<_>>());
}

#[test]
fn which_commands_are_wrong() {
    let run = ".SH SYNOPSIS\n\\fBhermes run\\fR\n.TP\n\\fB\\-\\-mcw\\fR \\fI<N>\\fR [default: 256]\nWarps\n\
               .TP\n\\fB\\-o\\fR, \\fB\\-\\-out\\fR\n.TP\n\\fB\\-\\-lanes\\fR\n";
    let all = ".SH SYNOPSIS\n\\fBhermes\\fR\n.SH SUBCOMMANDS\n.TP\nhermes\\-run(1)\n";
    let manual = Manual([all, run].map(Manual::page).into());
    let check = |text: &str| page_faults(&manual, &sample(text));
    for good in [
        "    hermes run --mcw 8 \\\n        -o out.pcap | jq --raw   # --anything\n",
        "`--mcw N` (256), `hermes help run`, `hermes COMMAND`, `--lanes 32`\n",
        "    hermes run --lanes 8\n    scripts/test\n    cargo test -p hermes-rtl --test golden\n",
    ] {
        assert!(check(good).is_empty(), "{good}: {:?}", check(good));
    }
    for (bad, expected) in [
        ("    hermes walk\n", "docs/sample.md:1: hermes : no command walk"),
        ("    hermes run --mc 8\n", "hermes run: no option --mc"),
        ("`hermes run -x`\n", "hermes run: no option -x"),
        ("`--mcws`\n", "--mcws: no command has this option"),
        ("`--mcw N` (128)\n", "--mcw (128): the default is 256"),
        ("    hermes run --lanes 7\n", "--lanes 7: expected 1, 2, 4, 8, 16 or 32"),
        ("    scripts/nothing\n", "scripts/nothing: no such script"),
        ("    cargo test -p hermes-rtl --test nothing\n", "no such test"),
        ("    cargo test -p nothing\n", "no such package"),
    ] {
        let faults = check(bad);
        assert_eq!(faults.len(), 1, "{bad}: {faults:?}");
        assert!(faults[0].contains(expected), "{faults:?}: {expected}");
    }
}
