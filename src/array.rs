//! The options that describe an array.

use std::collections::BTreeMap;

use anyhow::anyhow;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use hermes_hdl::emit::Design;
use hermes_rtl::config::{ArrayOption, Config, ConfigError, OPTIONS};
use verilator_sys::{BuildStep, Model, ModelLibrary, ModelOptions};

use crate::print;

/// A preset and what differs from it.
#[derive(Debug, Default)]
pub struct ArrayArgs {
    preset: Option<String>,
    /// Options of the array, by their names, and the values that the user gave them.
    given: BTreeMap<&'static str, usize>,
}

/// Heading of these options in `--help`.
const HEADING: &str = "Array";

/// What a switch that is given with `--no-` is called among the options of a command.
fn negation(flag: &str) -> String {
    format!("no-{flag}")
}

/// The options of commands that give `option` its value: one, and of a switch its negation.
fn arguments_of(option: &'static ArrayOption) -> Vec<Arg> {
    let Some(flag) = option.command_flag() else { return Vec::new() };
    let doc = option.doc();
    let conditions = option.conditions(|name| format!("--{}", flag_of(name)));
    let argument = Arg::new(option.name).long(flag.clone()).help_heading(HEADING);
    if !option.is_switch() {
        // The values stand behind the first sentence, as that is what the short help shows.
        let (first, more) = doc.split_once(". ").unwrap_or((&doc, ""));
        let (first, none) = first
            .split_once("; 0: ")
            .map_or((first, String::new()), |(first, none)| (first, format!("; 0: {none}")));
        let short = format!("{first}: {}{none}{conditions}", option.values.words());
        let long = if more.is_empty() { short.clone() } else { format!("{short}. {more}") };
        let argument = argument.value_name(option.value_name).value_parser(clap::value_parser!(usize));
        return vec![argument.help(short).long_help(long)];
    }
    let off = negation(&flag);
    let help = format!("{doc}{conditions}. --{off}: it is not so");
    vec![
        argument.action(ArgAction::SetTrue).overrides_with(off.clone()).help(help),
        Arg::new(off.clone())
            .long(off)
            .action(ArgAction::SetTrue)
            .overrides_with(option.name)
            .hide(true)
            .help_heading(HEADING)
            .help(format!("The array is without --{flag}, whatever the preset says")),
    ]
}

impl Args for ArrayArgs {
    fn augment_args(command: Command) -> Command {
        let preset =
            Arg::new("preset").long("preset").value_name("PRESET").help_heading(HEADING).help(format!(
                "Configuration to start from: {}; if not given, `paper` for benches, `node` for clusters, \
                 `fpga` for boards and `default` otherwise. Each of the options below changes one thing of \
                 it; a switch is taken away with --no-, as in --no-atomics",
                Config::PRESETS.join(", ")
            ));
        OPTIONS.iter().flat_map(arguments_of).fold(command.arg(preset), Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ArrayArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.preset = matches.get_one::<String>("preset").cloned();
        for option in OPTIONS {
            let Some(flag) = option.command_flag() else { continue };
            let value = if !option.is_switch() {
                matches.get_one::<usize>(option.name).copied()
            } else if matches.get_flag(option.name) {
                Some(1)
            } else {
                matches.get_flag(&negation(&flag)).then_some(0)
            };
            self.given.extend(value.map(|value| (option.name, value)));
        }
        Ok(())
    }
}

impl ArrayArgs {
    /// The value of the option called `name` as in [`Config`], if the user gave one.
    pub fn given(&self, name: &str) -> Option<usize> {
        assert!(ArrayOption::find(name).is_some(), "{name}");
        self.given.get(name).copied()
    }

    /// The configuration; checked.
    pub fn config(&self) -> anyhow::Result<Config> {
        self.config_or("default")
    }

    /// As [`Self::config`], from another preset if none is named.
    pub fn config_or(&self, preset: &str) -> anyhow::Result<Config> {
        self.config_from(Config::preset(preset)?)
    }

    /// As [`Self::config`], from this configuration if no preset is named.
    pub fn config_from(&self, usual: Config) -> anyhow::Result<Config> {
        let mut config = self.preset.as_deref().map_or(Ok(usual), Config::preset).map_err(by_option)?;
        let before = config.clone();
        // What an option needs comes with it, unless the user took that away.
        for option in OPTIONS.iter().filter(|option| self.given(option.name).is_some_and(|value| value > 0)) {
            if let Some(needs) = option.needs.and_then(ArrayOption::find).filter(|needs| needs.is_switch()) {
                (needs.set)(&mut config, 1);
            }
        }
        for option in OPTIONS {
            if let Some(value) = self.given(option.name) {
                (option.set)(&mut config, value);
            }
        }
        // What the preset gives a part goes with the part.
        for option in OPTIONS.iter().filter(|option| self.given(option.name).is_none()) {
            let is_taken = |part: &&str| {
                let had = ArrayOption::find(part).is_some_and(|part| (part.get)(&before) != 0);
                had && self.given(part) == Some(0)
            };
            if let (Some(_), Some(value)) = (option.of.filter(|part| is_taken(part)), option.usual) {
                (option.set)(&mut config, value);
            }
        }
        config.validate().map_err(by_option)?;
        Ok(config)
    }
}

/// The option of commands that gives a field of the configuration its value, without its dashes.
fn flag_of(field: &str) -> String {
    let flag = ArrayOption::find(field).and_then(ArrayOption::command_flag);
    flag.unwrap_or_else(|| field.replace('_', "-"))
}

/// The same with its dashes.
fn option(field: &str) -> String {
    format!("--{}", flag_of(field))
}

/// The options that make `config`: its preset, and all that differs from it. The retire trace has
/// none.
///
/// # Errors
/// If the preset is not known.
pub fn arguments(config: &Config) -> anyhow::Result<String> {
    let mut text = format!("--preset {}", config.preset);
    for (option, value) in differences(config, &Config::preset(&config.preset)?) {
        let Some(flag) = option.command_flag() else { continue };
        text += &match (option.is_switch(), value) {
            (true, 0) => format!(" --{}", negation(&flag)),
            (true, _) => format!(" --{flag}"),
            (false, value) => format!(" --{flag} {value}"),
        };
    }
    Ok(text)
}

/// The options that `config` has with another value than `usual`, and that value.
fn differences<'a>(
    config: &'a Config,
    usual: &'a Config,
) -> impl Iterator<Item = (&'static ArrayOption, usize)> + 'a {
    let changed = |option: &&ArrayOption| (option.get)(config) != (option.get)(usual);
    OPTIONS.iter().filter(changed).map(|option| (option, (option.get)(config)))
}

/// What is wrong with a configuration, by the names of the options.
pub fn by_option(error: ConfigError) -> anyhow::Error {
    match error {
        ConfigError::UnknownPreset(_) => anyhow!("--{error}"),
        ConfigError::Range { field, value, expected } => {
            anyhow!("{}: {value} is not possible; expected {expected}", option(field))
        }
        ConfigError::Without { field, value, values, part, otherwise } => {
            let (field, part) = (option(field), option(part));
            anyhow!("{field}: {value} is not possible without {part}; expected {values}, and {otherwise} without {part}")
        }
        ConfigError::With { field, value, values, other } => {
            let (field, other) = (option(field), option(other));
            anyhow!("{field}: {value} is not possible with {other}; expected {values}, and 0 with {other}")
        }
        ConfigError::Needs { part, needs } => {
            anyhow!("{}: not possible without {}", option(part), option(needs))
        }
        ConfigError::Excludes { part, other } => {
            anyhow!("{}: not possible together with {}", option(part), option(other))
        }
    }
}

/// The array as Verilog.
pub fn design(config: &Config) -> anyhow::Result<Design> {
    prefixed_design(config, "")
}

/// The array as Verilog, with `prefix` before the names of all modules.
pub fn prefixed_design(config: &Config, prefix: &str) -> anyhow::Result<Design> {
    Ok(hermes_rtl::top::emit_top_prefixed(config, prefix)?)
}

/// A Verilated model of the array, from the cache or built now.
pub fn model(config: &Config, trace: bool, quiet: bool) -> anyhow::Result<Model> {
    Ok(library(config, trace, quiet, |_| {})?.instantiate()?)
}

/// As [`model`], of which any number of instances can be made; `change` may change how it is
/// built.
pub fn library(
    config: &Config,
    trace: bool,
    quiet: bool,
    change: impl FnOnce(&mut ModelOptions),
) -> anyhow::Result<ModelLibrary> {
    let design = design(config)?;
    let about = about(config) + if trace { ", waveforms" } else { "" };
    let mut options = ModelOptions { trace, about, ..hermes_testbench::model::options(&design) };
    change(&mut options);
    build(&design, &options, quiet)
}

/// An array in words, for the list of the cache: its preset, and what differs from it.
fn about(config: &Config) -> String {
    let usual = Config::preset(&config.preset).unwrap_or_else(|_| config.clone());
    let text = |(option, value): (&ArrayOption, usize)| {
        format!(", {} {}", option.name.replace('_', "-"), option.shown(value))
    };
    differences(config, &usual).map(text).fold(config.preset.clone(), |text, difference| text + &difference)
}

/// What a model is of.
fn named(options: &ModelOptions) -> &str {
    if options.about.is_empty() {
        &options.top
    } else {
        &options.about
    }
}

/// A model of a design with these options, from the cache or built now.
pub fn build(design: &Design, options: &ModelOptions, quiet: bool) -> anyhow::Result<ModelLibrary> {
    build_text(&design.verilog(), options, quiet)
}

/// As [`build`], of Verilog from elsewhere.
pub fn build_text(verilog: &str, options: &ModelOptions, quiet: bool) -> anyhow::Result<ModelLibrary> {
    let spinner = print::spinner(quiet);
    let mut estimate = String::new();
    let library = Model::build_with_progress(verilog, options, &mut |step| {
        // A build takes as long as many users wait for nothing: off a terminal it is told as well.
        let is_told =
            !matches!(step, BuildStep::Verilating | BuildStep::Compiling { .. } | BuildStep::Linking);
        if is_told && !quiet && spinner.is_hidden() {
            print::note(format_args!("{}: {step}", named(options)));
        }
        match step {
            BuildStep::Building { .. } => {
                estimate = step.to_string();
                spinner.set_message(estimate.clone());
            }
            _ if estimate.is_empty() => spinner.set_message(step.to_string()),
            _ => spinner.set_message(format!("{estimate}: {step}")),
        }
    });
    spinner.finish_and_clear();
    Ok(library?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;
    use serde_json::Value;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        array: ArrayArgs,
    }

    /// The configuration that options make.
    fn parsed(arguments: &str) -> Config {
        let line = Line::try_parse_from(format!("hermes {arguments}").split_whitespace());
        line.unwrap_or_else(|e| panic!("{e}")).array.config().unwrap()
    }

    /// `config` with another value in one field, if there is one with which it is possible.
    fn changed(config: &Config, field: &str) -> Option<Config> {
        let fields = serde_json::to_value(config).unwrap();
        let candidates = match &fields[field] {
            Value::Bool(on) => vec![Value::Bool(!on)],
            _ => [0, 1, 2, 8, 16, 64].map(Value::from).to_vec(),
        };
        let with = |value: Value| {
            let mut fields = fields.clone();
            fields[field] = value;
            // No preset has what this one needs.
            if field == "drop_when_full" {
                fields["packet_ports"] = Value::Bool(true);
            }
            if field == "function_branches" {
                fields["network_functions"] = Value::from(2);
            }
            serde_json::from_value::<Config>(fields).unwrap()
        };
        candidates.into_iter().map(with).find(|other| other != config && other.validate().is_ok())
    }

    #[test]
    fn queue_entries_are_the_presets_unless_given() {
        for (text, entries) in [
            ("--preset node", 8),
            ("--network", 8),
            ("--preset paper --network", 4),
            ("--preset paper --network --net-queue-entries 2", 2),
            ("--preset node --net-queue-entries 1", 1),
        ] {
            assert_eq!(parsed(text).net_queue_entries, entries, "{text}");
        }
        for (text, expected) in [
            ("--network --net-queue-entries 3", "; expected 1, 2, 4 or 8"),
            ("--net-queue-entries 2", " without --network; expected 1, 2, 4 or 8, and 8 without --network"),
        ] {
            let line = Line::try_parse_from(format!("hermes {text}").split_whitespace()).unwrap();
            let error = line.array.config().unwrap_err().to_string();
            assert!(error.starts_with("--net-queue-entries: ") && error.ends_with(expected), "{error}");
        }
    }

    /// A switch is given and taken away, the last one counts; what a switch needs comes with it,
    /// but not against the user; what the preset gives a part goes with the part.
    #[test]
    fn switches_are_given_and_taken() {
        assert!(!parsed("--preset paper --no-local-window").local_window);
        assert!(parsed("--preset paper --no-local-window --local-window").local_window);
        assert!(!parsed("--aes --no-aes").aes);
        // What the preset has not cannot be taken.
        assert_eq!(parsed("--preset paper --no-network"), Config::preset("paper").unwrap());
        assert!(parsed("--compare-and-swap").atomics);
        assert!(parsed("--preset fpga --network-functions 2").local_window);
        let none = parsed("--preset pangaea --command-threads 0");
        assert_eq!((none.command_cache_lines, none.uli_channels, none.spawn_slots), (0, 0, 16));
        for (text, expected) in [
            ("--network --no-atomics", "--network: not possible without --atomics"),
            ("--preset node --no-atomics", "--network: not possible without --atomics"),
            ("--drop-when-full", "--drop-when-full: not possible without --packet-ports"),
            ("--l2-lines 17", "--l2-lines: 17 is not possible; expected a power of two, 16 to 4096"),
            (
                "--command-cache-lines 64",
                "--command-cache-lines: 64 is not possible without --command-threads; expected 0 or a power of two, 16 to 512, and 0 without --command-threads",
            ),
            (
                "--network-functions 2 --load-counters",
                "--network-functions: 2 is not possible with --load-counters; expected 0, 2, 4 or 8, and 0 with --load-counters",
            ),
        ] {
            let line = Line::try_parse_from(format!("hermes {text}").split_whitespace()).unwrap();
            assert_eq!(line.array.config().unwrap_err().to_string(), expected, "{text}");
        }
    }

    /// What the help says of a number stands behind its first sentence.
    #[test]
    fn help_names_the_values() {
        use clap::CommandFactory as _;
        let help = Line::command().render_long_help().to_string();
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        for expected in [
            "--l2-lines <NUMBER> Lines of 64 bytes in a bank of the L2: a power of two, 16 to 4096",
            "--spawn-slots <NUMBER> Slots of the thread spawner, each for one job: 0, 8 or 16; 0: the array",
            "each of another line: 1, 2, 4 or 8; only with --atomics. More let more lanes through",
            "--network The array has a network interface (RoCEv2): puts of other nodes and to them; needs --atomics; not with --network-functions. --no-network: it is not so",
        ] {
            assert!(words.contains(expected), "{expected}: {words}");
        }
        assert!(words.contains("--no-aes: it is not so"), "{words}");
    }

    /// A configuration that says nothing of them, as one of a former version, has as many as there
    /// can be.
    #[test]
    fn queue_entries_of_a_former_configuration() {
        for name in Config::PRESETS {
            let mut former = serde_json::to_value(Config::preset(name).unwrap()).unwrap();
            former.as_object_mut().unwrap().remove("net_queue_entries");
            let former: Config = serde_json::from_value(former).unwrap();
            assert_eq!(former.net_queue_entries, 8, "{name}");
            former.validate().unwrap();
        }
    }

    #[test]
    fn arguments_make_every_configuration() {
        let mut seen = std::collections::BTreeSet::new();
        let mut fields = Vec::new();
        for preset in Config::PRESETS {
            let plain = Config::preset(preset).unwrap();
            assert_eq!(parsed(&arguments(&plain).unwrap()), plain);
            let names = serde_json::to_value(&plain).unwrap();
            fields = names.as_object().unwrap().keys().cloned().collect();
            for field in &fields {
                if ["preset", "trace"].contains(&field.as_str()) {
                    continue;
                }
                let Some(config) = changed(&plain, field) else { continue };
                let text = arguments(&config).unwrap();
                assert_eq!(parsed(&text), config, "{text}");
                seen.insert(field.clone());
            }
        }
        fields.retain(|field| !["preset", "trace"].contains(&field.as_str()));
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), fields, "a field was never changed");
    }
}
