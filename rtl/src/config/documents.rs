//! docs/options.md, from the declarations.

use std::fmt::Write as _;

use super::{ArrayOption, Config, OPTIONS};

const HEAD: &str = "# Options of the array\n\n\
Every command that takes an array takes these options; each changes one thing of the preset that\n\
`--preset` names. A switch has its negation: `--no-atomics`. On the command line what an option needs\n\
comes with it where that is a switch, and what belongs to a part that an option takes away goes with it.\n\
In Rust an option is a field of `hermes_rtl::config::Config`, in a file of an experiment `array.NAME`.\n\
This page is made from the declarations in `rtl/src/config/options.rs`\n\
(`HERMES_UPDATE=1 cargo test -p hermes-rtl --lib config`).\n";

/// The page of options in docs: by subsystem the options with their values and what they are in
/// each preset.
#[must_use]
pub fn options_page() -> String {
    let mut page = HEAD.to_string();
    let mut subsystems: Vec<_> = OPTIONS.iter().map(|option| option.subsystem).collect();
    subsystems.sort_unstable();
    subsystems.dedup();
    for subsystem in subsystems {
        let names = Config::PRESETS.map(|name| format!("`{name}`")).join(" | ");
        let lines = Config::PRESETS.map(|_| "---").join(" | ");
        let _ = write!(page, "\n## {}\n\n", subsystem.title());
        let _ = writeln!(page, "| option | what it is | values | {names} |\n| --- | --- | --- | {lines} |");
        for option in OPTIONS.iter().filter(|option| option.subsystem == subsystem) {
            let flag = option.command_flag().map_or_else(
                || format!("`{}` of `Config`", option.name),
                |flag| {
                    let field = option.name.replace('_', "-");
                    let also = if flag == field {
                        String::new()
                    } else {
                        format!(" (`{}` of `Config`)", option.name)
                    };
                    format!("`--{flag}`{also}")
                },
            );
            let presets = Config::PRESETS.map(|name| option.shown(option.in_preset(name))).join(" | ");
            let conditions = option.conditions(|name| format!("`{}`", flag_of(name)));
            let (doc, values) = (option.doc(), option.values.words());
            let _ = writeln!(page, "| {flag} | {doc} | {values}{conditions} | {presets} |");
        }
    }
    page
}

/// The option of commands of the option called `name`.
fn flag_of(name: &str) -> String {
    let flag = ArrayOption::find(name).and_then(ArrayOption::command_flag);
    flag.map_or_else(|| name.to_string(), |flag| format!("--{flag}"))
}
