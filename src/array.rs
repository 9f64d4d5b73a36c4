//! The options that describe an array.

use anyhow::anyhow;
use hermes_hdl::emit::Design;
use hermes_rtl::config::{Config, ConfigError};
use verilator_sys::{BuildStep, Model, ModelLibrary, ModelOptions};

use crate::print;

/// A preset and what differs from it.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Array")]
pub struct ArrayArgs {
    /// Configuration to start from: paper, default, fpga, pangaea or node; if not given, `paper`
    /// for benches, `node` for clusters, `fpga` for boards and `default` otherwise
    #[arg(long)]
    preset: Option<String>,
    /// Shader cores, instead of the preset's: 1 to 32
    #[arg(long)]
    cores: Option<usize>,
    /// Lanes of a core (threads of a warp), instead of the preset's: 1, 2, 4, 8, 16 or 32
    #[arg(long)]
    lanes: Option<usize>,
    /// Warp slots of a core, instead of the preset's: 1 to 32
    #[arg(long)]
    warps: Option<usize>,
    /// AXI4 channels to memory, instead of the preset's: 1, 2 or 4, and not more than banks of the
    /// L2
    #[arg(long)]
    channels: Option<usize>,
    /// Banks of the L2, instead of the preset's: 1, 2, 4 or 8
    #[arg(long)]
    l2_banks: Option<usize>,
    /// Lines of 64 bytes in a bank of the L2, instead of the preset's: a power of two, 16 to 4096
    #[arg(long)]
    l2_lines: Option<usize>,
    /// Ways of the L2, instead of the preset's: 1, 2 or 4
    #[arg(long)]
    l2_ways: Option<usize>,
    /// Reservations of `lr.w` that a bank of the L2 keeps, each of another line, with --atomics,
    /// instead of the preset's: 1, 2, 4 or 8
    #[arg(long, value_name = "NUMBER")]
    l2_reservations: Option<usize>,
    /// A bank of the L2 looks a set up in a cycle of its own: two cycles a request, for a higher
    /// clock
    #[arg(long)]
    l2_look_up_cycle: bool,
    /// Lines of 64 bytes in the L1 data cache of a core, instead of the preset's: a power of two,
    /// 16 to 1024
    #[arg(long)]
    l1_lines: Option<usize>,
    /// Words that a core reads from a line at once, and lanes whose stores to a line it merges in a
    /// cycle, instead of the preset's: 1, 2 or 4
    #[arg(long)]
    line_words: Option<usize>,
    /// Give the array packet ports: frames come and go through AXI4-Stream
    #[arg(long)]
    packet_ports: bool,
    /// Give the packet ports bit 1 of register PORTS, with which they drop frames that find no slot
    #[arg(long)]
    drop_when_full: bool,
    /// Give the array a command processor with so many hardware threads: 1, 2, 4 or 8
    #[arg(long)]
    command_threads: Option<usize>,
    /// Lines of 64 bytes in the data cache of a hart of the command processor: a power of two, 16
    /// to 512; 0: none
    #[arg(long)]
    command_cache_lines: Option<usize>,
    /// Lines of 64 bytes in the instruction cache of the command processor, if not as many as in a
    /// core's: a power of two, 16 to 1024
    #[arg(long)]
    command_instruction_cache_lines: Option<usize>,
    /// Ways of the instruction cache of the command processor, if not as many as in a core's: 1, 2
    /// or 4
    #[arg(long)]
    command_instruction_cache_ways: Option<usize>,
    /// Lines of 64 bytes in the instruction cache of a core, instead of the preset's: a power of
    /// two, 16 to 1024
    #[arg(long)]
    instruction_cache_lines: Option<usize>,
    /// Ways of the instruction cache, instead of the preset's: 1, 2 or 4
    #[arg(long)]
    instruction_cache_ways: Option<usize>,
    /// Whether the cores have a local window, if not as the preset says: the words of stacks lie
    /// beside each other by lane, which makes kernels that use their stack faster, and an access
    /// beyond a stack is a fault
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    local_window: Option<bool>,
    /// Give the cores the AES instructions of RISC-V (Zkne and Zknd)
    #[arg(long)]
    aes: bool,
    /// Give the cores the atomic instructions of RISC-V (A), which the L2 performs
    #[arg(long)]
    atomics: bool,
    /// Give cores and harts the compare-and-swap of RISC-V (`amocas.w` of Zacas), and atomic
    /// instructions, which it needs
    #[arg(long)]
    compare_and_swap: bool,
    /// Channels of user-level interrupts of a hart of the command processor: 1, 2, 4 or 8, at most
    /// 16 of all harts; 0: none
    #[arg(long)]
    uli_channels: Option<usize>,
    /// Slots of the thread spawner, each for one job: 8 or 16; 0: the array has no thread spawner
    #[arg(long)]
    spawn_slots: Option<usize>,
    /// Give the array a network interface (RoCEv2), and atomic instructions, which it needs
    #[arg(long)]
    network: bool,
    /// Queue areas of the network interface, one for each protection domain, instead of one: 1, 2,
    /// 4 or 8
    #[arg(long)]
    net_domains: Option<usize>,
    /// Commands of each queue, of each hart and of the host that the network interface may have
    /// under way, instead of the preset's 8 (`paper`: 4): 1, 2, 4 or 8
    #[arg(long, value_name = "ENTRIES")]
    net_queue_entries: Option<usize>,
    /// Let the time-out of warp forming follow the traffic: registers TIMEOUT_.. of the host
    #[arg(long)]
    adaptive_timeout: bool,
    /// Issue each packet warp to a core with the fewest busy slots, instead of the next one with
    /// room
    #[arg(long)]
    least_occupied_issue: bool,
    /// Give the top an output that tells that a thread ended with a fault or memory answered with
    /// an error
    #[arg(long)]
    fault_output: bool,
    /// Give the array a trace buffer of so many entries, which keeps what happened until the host
    /// of a board reads it: a power of two, 16 to 16384
    #[arg(long, value_name = "ENTRIES")]
    trace_buffer: Option<usize>,
    /// Give the array load counters: why warps are formed, busy warp slots, hits of the L1, and how
    /// full queues and ring became
    #[arg(long)]
    load_counters: bool,
    /// Let so many network functions share the cores: 2, 4 or 8; 0: one kernel runs on all of them
    #[arg(long, value_name = "NUMBER")]
    network_functions: Option<usize>,
    /// Let packets branch by their verdicts from one network function to others
    #[arg(long)]
    function_branches: bool,
    /// Issue the warp that started first of those that can issue, instead of going round
    #[arg(long)]
    oldest_first: bool,
}

impl ArrayArgs {
    /// The AXI4 channels, if the user gave a number.
    pub fn channels(&self) -> Option<usize> {
        self.channels
    }

    /// The harts of the command processor, if the user gave a number.
    pub fn command_threads(&self) -> Option<usize> {
        self.command_threads
    }

    /// Lines of the data cache of a hart, if the user gave a number.
    pub fn command_cache_lines(&self) -> Option<usize> {
        self.command_cache_lines
    }

    /// Channels of user-level interrupts and slots of the thread spawner, if the user gave numbers.
    pub fn uli_channels_and_spawn_slots(&self) -> (Option<usize>, Option<usize>) {
        (self.uli_channels, self.spawn_slots)
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
        config.cores = self.cores.unwrap_or(config.cores);
        config.lanes = self.lanes.unwrap_or(config.lanes);
        config.warps = self.warps.unwrap_or(config.warps);
        config.channels = self.channels.unwrap_or(config.channels);
        config.l2_banks = self.l2_banks.unwrap_or(config.l2_banks);
        config.l2_bank_lines = self.l2_lines.unwrap_or(config.l2_bank_lines);
        config.l2_ways = self.l2_ways.unwrap_or(config.l2_ways);
        config.l2_reservations = self.l2_reservations.unwrap_or(config.l2_reservations);
        config.l2_look_up_cycle |= self.l2_look_up_cycle;
        config.l1_lines = self.l1_lines.unwrap_or(config.l1_lines);
        config.line_words = self.line_words.unwrap_or(config.line_words);
        config.packet_ports |= self.packet_ports;
        config.drop_when_full |= self.drop_when_full;
        config.command_threads = self.command_threads.unwrap_or(config.command_threads);
        if config.command_threads == 0 {
            // What the preset gives a command processor goes with it.
            config.command_cache_lines = 0;
            config.command_instruction_cache_lines = 0;
            config.command_instruction_cache_ways = 0;
            config.uli_channels = 0;
        }
        config.command_cache_lines = self.command_cache_lines.unwrap_or(config.command_cache_lines);
        config.command_instruction_cache_lines =
            self.command_instruction_cache_lines.unwrap_or(config.command_instruction_cache_lines);
        config.command_instruction_cache_ways =
            self.command_instruction_cache_ways.unwrap_or(config.command_instruction_cache_ways);
        config.instruction_cache_lines =
            self.instruction_cache_lines.unwrap_or(config.instruction_cache_lines);
        config.instruction_cache_ways = self.instruction_cache_ways.unwrap_or(config.instruction_cache_ways);
        config.aes |= self.aes;
        config.atomics |= self.atomics | self.network | self.compare_and_swap;
        config.compare_and_swap |= self.compare_and_swap;
        config.oldest_first |= self.oldest_first;
        config.local_window = self.local_window.unwrap_or(config.local_window);
        config.adaptive_timeout |= self.adaptive_timeout;
        config.least_occupied_issue |= self.least_occupied_issue;
        config.fault_output |= self.fault_output;
        config.trace_buffer = self.trace_buffer.unwrap_or(config.trace_buffer);
        config.load_counters |= self.load_counters;
        config.network_functions = self.network_functions.unwrap_or(config.network_functions);
        config.function_branches |= self.function_branches;
        config.uli_channels = self.uli_channels.unwrap_or(config.uli_channels);
        config.spawn_slots = self.spawn_slots.unwrap_or(config.spawn_slots);
        config.network |= self.network;
        config.net_domains = self.net_domains.unwrap_or(config.net_domains);
        config.net_queue_entries = self.net_queue_entries.unwrap_or(config.net_queue_entries);
        config.validate().map_err(by_option)?;
        Ok(config)
    }
}

/// The option that gives a field of the configuration its value.
fn option(field: &str) -> String {
    match field {
        "l2_bank_lines" => "--l2-lines".to_string(),
        _ => format!("--{}", field.replace('_', "-")),
    }
}

/// The options that make `config`: its preset, and all that differs from it. The retire trace has
/// none.
///
/// # Errors
/// If the preset is not known.
pub fn arguments(config: &Config) -> anyhow::Result<String> {
    let mut text = format!("--preset {}", config.preset);
    for (field, value) in differences(config, &Config::preset(&config.preset)?)? {
        let option = option(&field);
        match value {
            _ if field == "trace" => {}
            serde_json::Value::Bool(true) if field != "local_window" => text += &format!(" {option}"),
            serde_json::Value::Bool(on) => text += &format!(" {option}={on}"),
            value => text += &format!(" {option} {value}"),
        }
    }
    Ok(text)
}

/// The fields of `config`, and their values, that `usual` has with another value.
fn differences(config: &Config, usual: &Config) -> anyhow::Result<Vec<(String, serde_json::Value)>> {
    let usual = serde_json::to_value(usual)?;
    let serde_json::Value::Object(fields) = serde_json::to_value(config)? else { return Ok(Vec::new()) };
    Ok(fields.into_iter().filter(|(name, value)| usual[name] != *value).collect())
}

/// What is wrong with a configuration, by the names of the options.
fn by_option(error: ConfigError) -> anyhow::Error {
    match error {
        ConfigError::UnknownPreset(_) => anyhow!("--{error}"),
        ConfigError::Range { field, value, expected } => {
            anyhow!("{}: {value} is not possible; expected {expected}", option(field))
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

/// As [`model`], of which any number of instances can be made; `change` may change how it is built.
pub fn library(
    config: &Config,
    trace: bool,
    quiet: bool,
    change: impl FnOnce(&mut ModelOptions),
) -> anyhow::Result<ModelLibrary> {
    let design = design(config)?;
    let about = about(config)? + if trace { ", waveforms" } else { "" };
    let mut options = ModelOptions { trace, about, ..hermes_testbench::model::options(&design) };
    change(&mut options);
    build(&design, &options, quiet)
}

/// An array in words, for the list of the cache: its preset, and what differs from it.
fn about(config: &Config) -> anyhow::Result<String> {
    let usual = Config::preset(&config.preset).unwrap_or_else(|_| config.clone());
    let text = |(name, value): (String, serde_json::Value)| format!(", {} {value}", name.replace('_', "-"));
    let differences = differences(config, &usual)?.into_iter().map(text);
    Ok(differences.fold(config.preset.clone(), |text, difference| text + &difference))
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
        for text in ["--network --net-queue-entries 3", "--net-queue-entries 2"] {
            let line = Line::try_parse_from(format!("hermes {text}").split_whitespace()).unwrap();
            let error = line.array.config().unwrap_err().to_string();
            assert!(error.starts_with("--net-queue-entries: "), "{error}");
            assert!(error.contains("expected 1, 2, 4 or 8"), "{error}");
        }
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
                // No option takes from a preset what it has.
                let is_on = names[field] == Value::Bool(true) && field != "local_window";
                if ["preset", "trace"].contains(&field.as_str()) || is_on {
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
